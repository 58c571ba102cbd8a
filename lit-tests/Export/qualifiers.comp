#version 450
// Buffers keep the qualifiers and names of the shader.
// SPDX-License-Identifier: Apache-2.0
// RUN: %passmgr -passes=no-op %s -emit=vir -o - | FileCheck %s
// CHECK-DAG: struct @A block { a : u32[] ro }
// CHECK-DAG: struct @B block { b : u32[] wo }
// CHECK-DAG: struct @C block { c : u32[] coherent }
// CHECK-DAG: struct @D block { d : u32[] coherent volatile restrict }
// CHECK-DAG: struct @Pair { first : u32, second : u32 }
// CHECK:     program @main relaxed
// CHECK-DAG: buffer %A : @A storage ro set(1) binding(2)
// CHECK-DAG: buffer %B : @B storage wo set(1) binding(3)
// CHECK-DAG: buffer %C : @C storage rw set(1) binding(4)
// CHECK-DAG: buffer %D : @D storage rw set(1) binding(5)
// CHECK-DAG: buffer %all : @Pairs storage rw set(0) binding(2)
// CHECK:     var %kept : u32
// CHECK:     load %A.a[%0]
// CHECK:     load volatile coherent %D.d[%0]
// CHECK:     store %B.b[%0],
// CHECK:     store coherent %C.c[%0],
layout(local_size_x = 1) in;
struct Pair { uint first; uint second; };
layout(set = 1, binding = 2) readonly buffer A { uint a[]; };
layout(set = 1, binding = 3) writeonly buffer B { uint b[]; };
layout(set = 1, binding = 4) coherent buffer C { uint c[]; };
layout(set = 1, binding = 5) volatile restrict buffer D { uint d[]; };
layout(set = 0, binding = 2) buffer Pairs { Pair pairs[]; } all;
void main() {
  uint i = gl_GlobalInvocationID.x, kept = 0u;
  for (uint k = 0u; k < a[i]; k++)
    kept += all.pairs[k].second;
  b[i] = kept + d[i];
  c[i] = uint(a.length());
}
