/* glslang's headers, without the warnings that their code causes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_LANGUAGES_GLSLANG_API_H
#define VYRE_LANGUAGES_GLSLANG_API_H

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include <glslang/MachineIndependent/localintermediate.h>
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif
