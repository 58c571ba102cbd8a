// -gV: a variable has no DebugValue where a debugger would show a value that the variable does not have.
// SPDX-License-Identifier: Apache-2.0
// RUN: %passmgr -gV -D AROUND -passes=no-op %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,NOT
// RUN: %passmgr -gV -D START -passes=no-op %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,NOT
// RUN: %passmgr -gV -D BUILTIN -passes=no-op %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,NOT
// RUN: %passmgr -gV -D LATE -passes=no-op %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,NOT
// RUN: %passmgr -gV -D ONEWAY -passes=no-op %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,NOT
// RUN: %passmgr -gV -D LANES -passes='default<O2>' %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,NOT
// RUN: %passmgr -gV -D ARRAY -passes=no-op %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,MEMORY
// RUN: %passmgr -gV -D ARRAY -passes=dse %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,NOT
// RUN: %passmgr -gV -D LITERAL -passes=pm %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,LITERAL
// RUN: %passmgr -gV -D SILENT -passes=no-op %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,SILENT
// RUN: %passmgr -gV -D IMAGE -passes=no-op %s -o %t.spv && %spirv-val %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefixes=NAME,TOLD
// NAME:        [[NAME:%[0-9]+]] = OpString "v"
// NAME:        [[V:%[0-9]+]] = OpExtInst %void %1 DebugLocalVariable [[NAME]]
// NOT-NOT:     Debug{{Value|Declare}} [[V]]
// MEMORY:      DebugDeclare [[V]] %v
// LITERAL:     DebugValue [[V]] [[FIRST:%[0-9]+]]
// LITERAL:     OpStore {{%[0-9]+}} [[FIRST]]
// LITERAL:     DebugValue [[V]] %uint_0
// LITERAL:     OpStore {{%[0-9]+}} %uint_0
// SILENT:      [[NONE:%[0-9]+]] = OpUndef %uint
// SILENT:      OpSelectionMerge
// SILENT-NOT:  DebugValue [[V]] %uint_7
// SILENT:      DebugValue [[V]] [[NONE]]
// TOLD:        DebugValue [[V]]
#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer X { uint x[]; };
layout(set = 0, binding = 1, r32ui) uniform uimage2D image;
void main() {
  uint n = x[40];
#ifdef AROUND /* holds the previous iteration's value until the loaded value is assigned */
  uint v;
  for (uint i = 0; i < n; i++) { uint t = x[i]; x[i + 50] = t - v; v = t; }
#endif
#ifdef START /* a constant has no position of its own */
  uvec2 v = uvec2(n, x[1]); x[2] = v.x + v.y;
  v = uvec2(1, 2); x[3] = v.x * x[4] + v.y;
#endif
#ifdef BUILTIN
  uint v = n; x[2] = v * 3;
  v = gl_LocalInvocationIndex; x[3] = v;
#endif
#ifdef LATE /* the assigned constant is used before the branch */
  uint v = x[0]; x[1] = v;
  v = 5; x[2] = v; x[3] = x[4];
  if (n > 7) v = x[9];
  x[5] = v;
#endif
#ifdef ONEWAY /* the value is used only after the loop's exit */
  uint k = x[5], v = x[6];
  for (uint i = 0; i < n; i++) {
    v = x[i]; x[i + 50] = v; bool ends = v == 7;
    v = k;
    if (ends) break;
    x[i + 60] = v; v = x[i + 2]; x[i + 61] = v; }
  x[7] = v;
#endif
#ifdef LANES /* the first vector no longer exists as a whole */
  uvec2 v = uvec2(x[1], x[2]); uint sum = 0;
  for (uint i = 0; i < n; i++) { v = v.yx + uvec2(i, 1); sum += v.x; v = uvec2(sum, x[i]); }
  x[3] = sum + v.x * v.y;
#endif
#ifdef ARRAY /* dead stores are removed */
  uint v[4]; v[n & 3] = 5; x[1] = v[x[2] & 3];
  v[0] = 7; v[1] = 7; v[2] = 7; v[3] = 7; x[3] = n;
#endif
#ifdef LITERAL /* a value that becomes a literal is reported where it was computed */
  uint v = x[0]; x[1] = v;
  v = n & 0; x[2] = v; x[3] = x[4];
#endif
#ifdef SILENT /* the arm has no block, and its value is never used */
  uint v = x[0]; x[1] = v;
  if (n > 3) v = 7; else x[9] = 1;
  x[2] = n; v = x[12];
  if (n > 9) v = 8; else x[11] = 1;
  x[3] = v;
#endif
#ifdef IMAGE
  uint v = imageLoad(image, ivec2(n)).x * 3; x[1] = v;
#endif
}
