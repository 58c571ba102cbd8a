// A variable of a function is unset at each call, so a loop around the call does not carry its value to the next iteration.
// SPDX-License-Identifier: Apache-2.0
// RUN: %passmgr -passes=no-op %s -emit=vir -o - | FileCheck %s
// RUN: %passmgr -O %s -o %t.spv && %spirv-val --target-env vulkan1.2 %t.spv && %spirv-dis --no-color %t.spv | FileCheck %s --check-prefix=SPIRV
// RUN: %run %s -compare %t.spv -buffer X=iota
#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer X { uint n; uint x[31]; };

// No branch sets the color for other kinds than 1 and 2.
uint shade(uint kind)
{
  uint color;
  uvec3 more;
  if (kind == 1u) {
    color = kind * 7u;
    more = uvec3(kind, 2u, 3u);
  } else if (kind == 2u)
    color = kind * 9u;
  return kind == 1u ? color + more.y : kind == 2u ? color : 0u;
}

// The vars of the color and of the lanes of the vector get the value of a var that is never set.
// CHECK:      var %[[NEVER:[0-9]+]] : u32 unset
// CHECK:      %[[UNSET:[0-9]+]] = get %[[NEVER]]
// CHECK-NOT:  set %[[NEVER]],
// CHECK:      loop {
// CHECK:        set %more, %[[UNSET]]
// CHECK-NEXT:   set %more_1, %[[UNSET]]
// CHECK-NEXT:   set %more_2, %[[UNSET]]
// CHECK-NEXT:   if
// CHECK:        set %color, %[[UNSET]]
//
// The loop carries its index and the sum alone.
// SPIRV:       OpUndef
// SPIRV:       OpPhi %uint
// SPIRV-NEXT:  OpPhi %uint
// SPIRV-NOT:   OpPhi
// SPIRV:       OpLoopMerge
void main()
{
  uint sum = 0u;
  for (uint i = 0u; i < n; i++)
    sum += shade(x[i] & 3u);
  x[gl_LocalInvocationIndex] = sum;
}
