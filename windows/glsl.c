/* Refuses to read and write GLSL, HLSL and other languages.  glslang and SPIRV-Cross run in a separate program, which limits their
 * memory and time by system calls that Windows does not have.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/cross.h"
#include "vyre/glsl.h"

vyre_status
vyre_spirv_tools_run(const void *data, size_t size, const char *path, const char *const *flags, uint32_t flag_count,
                     const vyre_glsl_options *limits, vyre_diagnostics diagnostics, vyre_bytes *out)
{
  (void)data, (void)size, (void)flags, (void)flag_count, (void)limits, (void)diagnostics, (void)out;
  return VYRE_ERROR(VYRE_CODE_USAGE, "%s: SPIRV-Tools does not run within vyre on Windows\nFix: use spirv-opt before vyre", path);
}

vyre_status
vyre_glsl_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options, vyre_diagnostics diagnostics,
                  vyre_bytes *out)
{
  (void)text, (void)length, (void)options, (void)diagnostics, (void)out;
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "%s: GLSL, HLSL and the assembly of SPIR-V are not read on Windows\n"
                    "Fix: compile it to SPIR-V (glslc, glslangValidator -V, dxc -spirv, spirv-as), and pass the SPIR-V",
                    path);
}

vyre_status
vyre_cross_write(const void *spirv, size_t size, const char *path, const vyre_cross_options *options, vyre_bytes *out)
{
  (void)spirv, (void)size, (void)options, (void)out;
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "%s: GLSL, HLSL and MSL are not written on Windows\n"
                    "Fix: write SPIR-V, and convert it with spirv-cross",
                    path);
}

static vyre_status
refuse(const char *path)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "%s: glslang and SPIRV-Tools do not run on Windows\nFix: use vyre on Linux, or glslc", path);
}

vyre_status
vyre_glsl_preprocess(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                     vyre_diagnostics diagnostics, vyre_bytes *out)
{
  (void)text, (void)length, (void)options, (void)diagnostics, (void)out;
  return refuse(path);
}

vyre_status
vyre_assembly_write(const void *data, size_t size, const char *path, bool as_listing, vyre_diagnostics diagnostics, vyre_bytes *out)
{
  (void)data, (void)size, (void)as_listing, (void)diagnostics, (void)out;
  return refuse(path);
}

vyre_status
vyre_glsl_limits(const vyre_glsl_options *options, vyre_bytes *out)
{
  (void)options, (void)out;
  return refuse("limits");
}

vyre_status
vyre_glsl_versions(vyre_bytes *out)
{
  (void)out;
  return refuse("versions");
}
