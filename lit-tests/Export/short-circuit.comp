// `a || b` is a branch on !a, and a phi of true and b.
// SPDX-License-Identifier: Apache-2.0
// RUN: %passmgr -passes=no-op %s -o %t.spv && %spirv-val --target-env vulkan1.2 %t.spv
// RUN: %passmgr %s -passes='default<O2>' -o %t.o2.spv && %spirv-val --target-env vulkan1.2 %t.o2.spv
// RUN: %spirv-dis --no-color %t.o2.spv | FileCheck %s
// RUN: %run %t.o2.spv -compare %s -target=vulkan -groups 2 -buffer push=values:1,3 | FileCheck %s --check-prefix=EQUAL
// CHECK:      [[A:%[0-9]+]] = OpSLessThanEqual %bool
// CHECK:      [[NOT:%[0-9]+]] = OpLogicalNot %bool [[A]]
// CHECK-NEXT: OpSelectionMerge [[MERGE:%[0-9]+]] None
// CHECK-NEXT: OpBranchConditional [[NOT]] [[RIGHT:%[0-9]+]] [[MERGE]]
// CHECK-NEXT: [[RIGHT]] = OpLabel
// CHECK:      [[B:%[0-9]+]] = OpSLessThanEqual %bool
// CHECK:      [[MERGE]] = OpLabel
// CHECK-NEXT: [[EITHER:%[0-9]+]] = OpPhi %bool {{.*}}%true
// CHECK:      OpFunctionEnd
// EQUAL:      equal:
#version 450
layout(local_size_x = 4, local_size_y = 2) in;
layout(push_constant) uniform Push { int w; int h; } p;
layout(set = 0, binding = 0) buffer Out { float x[]; };
void main()
{
  int at = int(gl_GlobalInvocationID.x), line = int(gl_GlobalInvocationID.y);
  if (at >= p.w || line >= p.h)
    return;
  x[line * p.w + at] += 1.0;
}
