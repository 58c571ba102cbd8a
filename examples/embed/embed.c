/* vyre in a program of one's own: optimizes a shader (GLSL, HLSL, SPIR-V or .vir text) and writes it as SPIR-V.
 *
 *   embed shader.comp shader.spv
 *
 * CMakeLists.txt builds it by find_package(vyre); with pkg-config it is
 *
 *   cc -std=c17 embed.c $(pkg-config --cflags --libs vyre) -Wl,-rpath,$(pkg-config --variable=libdir vyre) -o embed
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <vyre/vyre.h>

int
main(int argc, char **argv)
{
  vyre_bytes in = {0}, out = {0};
  const vyre_optimize_options options = {.struct_size = sizeof options, .path = argv[1], .passes = "default<O2>"};
  if (argc != 3)
    return fprintf(stderr, "usage: embed SHADER OUTPUT.spv\n"), 2;
  vyre_status status = vyre_file_read(argv[1], &in);
  if (!status)
    status = vyre_optimize(&options, in.data, in.size, &out);
  if (!status)
    status = vyre_file_write(argv[2], out.data, out.size);
  if (status)
    fprintf(stderr, "embed: %s\n", vyre_status_text(status));
  const int code = (int)vyre_status_code(status);
  vyre_status_free(status);
  vyre_bytes_free(&in);
  vyre_bytes_free(&out);
  return code;
}
