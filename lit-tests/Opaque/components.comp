#version 460
// Components of cooperative matrices are accessed by pointers into variables: a pointer is computed directly before each access,
// and rows around the accesses are optimized.
// SPDX-License-Identifier: Apache-2.0
// RUN: %passmgr -O -target-env=vulkan1.3 %s -o %t.spv 2>&1 | FileCheck %s --allow-empty --check-prefix=REMARK
// RUN: %spirv-val --target-env vulkan1.3 %t.spv
// RUN: %passmgr -O -target-env=vulkan1.3 %s -emit=vir | FileCheck %s
// RUN: %passmgr -passes=no-op %t.spv -emit=vir | FileCheck %s
// REMARK-NOT: remark
// CHECK:      buffer [[D:%[a-z0-9_]+]] : spirv TypeCooperativeMatrixNV(type f16, const 3u32, const 16u32, const 8u32) private unset
// CHECK:      store [[D]], %{{[0-9]+}}
// CHECK-NEXT: [[P:%[0-9]+]] = opaque AccessChain([[D]], 0i32) : spirv TypePointer(7, type f16)
// CHECK-NEXT: opaque Store([[P]], 7.0f16)
// CHECK-NEXT: [[Q:%[0-9]+]] = opaque AccessChain([[D]], 1i32) : spirv TypePointer(7, type f16)
// CHECK-NEXT: [[X:%[0-9]+]] = opaque Load([[Q]]) : f16
// CHECK-NEXT: [[R:%[0-9]+]] = opaque AccessChain([[D]], 0i32) : spirv TypePointer(7, type f16)
// CHECK-NEXT: [[Y:%[0-9]+]] = opaque Load([[R]]) : f16
// CHECK-NEXT: [[S:%[0-9]+]] = add [[Y]], [[X]]
// CHECK-NEXT: [[T:%[0-9]+]] = opaque AccessChain([[D]], 0i32) : spirv TypePointer(7, type f16)
// CHECK-NEXT: opaque Store([[T]], [[S]])
// CHECK:      opaque AccessChain(%{{[a-z0-9_]+}}[%{{[0-9]+}}], 1i32) : spirv TypePointer(7, type f16)
// CHECK:      opaque AccessChain(%{{[a-z0-9_]+}}[1], 1i32) : spirv TypePointer(7, type f16)
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer B { float16_t b[]; };
void main()
{
  fcoopmatNV<16, gl_ScopeSubgroup, 16, 8> a, c[2];
  coopMatLoadNV(a, b, 0, 16, false);
  fcoopmatNV<16, gl_ScopeSubgroup, 16, 8> d = a;
  d[0] = float16_t(7);
  d[0] += d[1];
  b[500] = d[0];
  c[0] = d;
  c[1] = a;
  c[gl_WorkGroupID.x & 1][1] = float16_t(3);
  b[502] = c[1][1];
  coopMatStoreNV(c[0], b, 256, 16, false);
}
