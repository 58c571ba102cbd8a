// -gV: a DebugValue is where the variable gets the value, wherever the instruction that computes the value is.
// SPDX-License-Identifier: Apache-2.0
// RUN: %passmgr -gV -D LEFT -passes=no-op %s -o %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefix=LEFT
// RUN: %passmgr -gV -D COPIED -passes=no-op %s -o %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefix=COPIED
// RUN: %passmgr -gV -D HOISTED -passes=no-op %s -o %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefix=STANDS
// RUN: %passmgr -gV -D HOISTED -passes=licm %s -o %t.spv && %spirv-dis %t.spv | FileCheck %s --check-prefix=HOISTED
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer X { int x[]; };
void main() {
#ifdef LEFT
  // The assigned value was read before the loop's test, which may end the loop.
  // LEFT:      [[NAME:%[0-9]+]] = OpString "last"
  // LEFT:      [[LAST:%[0-9]+]] = OpExtInst %void %1 DebugLocalVariable [[NAME]]
  // LEFT:      OpLoopMerge
  // LEFT-NOT:  DebugValue [[LAST]]
  // LEFT:      OpBranchConditional
  // LEFT:      DebugValue [[LAST]]
  int last = x[0], i = 1;
  while (i < x[1]) {
    int now = i;
    i += x[3];
    last = now;
  }
  x[2] = last;
#endif
#ifdef COPIED
  // `tried` has another value in each iteration, `kept` has not.
  // COPIED:     [[NAME:%[0-9]+]] = OpString "kept"
  // COPIED:     [[KEPT:%[0-9]+]] = OpExtInst %void %1 DebugLocalVariable [[NAME]]
  // COPIED:     [[TRIED:%[0-9]+]] = OpIMul %int {{.*}} %int_3
  // COPIED-NOT: DebugValue [[KEPT]]
  int kept;
  for (int i = 0; i < x[1]; i++) {
    int tried = i * 3;
    x[4 + i] = tried;
    if (tried == x[2]) {
      kept = tried;
      x[3] = kept;
    }
  }
#endif
#ifdef HOISTED
  // A DebugValue at the hoisted instruction would precede the first iteration, and the assignment is at the end of each iteration.
  // STANDS:      [[NAME:%[0-9]+]] = OpString "value"
  // STANDS:      [[VALUE:%[0-9]+]] = OpExtInst %void %1 DebugLocalVariable [[NAME]]
  // STANDS:      OpLoopMerge
  // STANDS:      [[HOIST:%[0-9]+]] = OpIMul %int {{.*}} %int_5
  // STANDS-NEXT: DebugValue [[VALUE]] [[HOIST]]
  // HOISTED:     [[NAME:%[0-9]+]] = OpString "value"
  // HOISTED:     [[VALUE:%[0-9]+]] = OpExtInst %void %1 DebugLocalVariable [[NAME]]
  // HOISTED:     OpIMul %int {{.*}} %int_5
  // HOISTED-NOT: DebugValue [[VALUE]]
  // HOISTED:     OpLoopMerge
  int value = x[0], base = x[3];
  for (int i = 1; i < x[1]; i++) {
    value = x[1 + i] + i;
    x[4 + i] = value;
    value = base * 5;
  }
  x[2] = value;
#endif
}
