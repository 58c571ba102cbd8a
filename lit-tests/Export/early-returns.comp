// Early returns of an inlined function become arms of ifs, without a switch or flags.  Rows after an `if` with an arm that returns
// move into the other arm.  If both arms may continue, or in a loop, the return leaves the function's block.
// SPDX-License-Identifier: Apache-2.0
// RUN: glslangValidator --quiet -V --target-env vulkan1.1 -DARMS %s -o %t.arms.spv
// RUN: %passmgr -passes=no-op -verify-each %t.arms.spv -o %t.arms.no.spv && %spirv-val --target-env vulkan1.1 %t.arms.no.spv
// RUN: %spirv-dis --no-color %t.arms.no.spv | FileCheck %s --check-prefix=ARMS
// RUN: %run %t.arms.spv -buffer Data=iota -size Data=64 -compare %t.arms.no.spv
// RUN: %passmgr -passes=no-op -emit=vir %t.arms.spv | FileCheck %s --check-prefix=TEXT
// RUN: glslangValidator --quiet -V --target-env vulkan1.1 %s -o %t.leaves.spv
// RUN: %passmgr -passes=no-op -verify-each -emit=vir %t.leaves.spv | FileCheck %s --check-prefix=LEAVES
// RUN: %passmgr -passes=no-op %t.leaves.spv -o %t.leaves.no.spv && %spirv-val --target-env vulkan1.1 %t.leaves.no.spv
// RUN: %run %t.leaves.spv -buffer Data=iota -size Data=64 -compare %t.leaves.no.spv

// ARMS:     OpSelectionMerge
// ARMS-NOT: OpSwitch
// ARMS:     OpFunctionEnd

// The third return is in the arm of the second return, which is in the arm of the first.
// TEXT-NOT:  block %
// TEXT:      if %
// TEXT:        set %[[R:.+]], %
// TEXT-NEXT: } else {
// TEXT:        if %
// TEXT:          if %
// TEXT:            set %[[R]], %
// TEXT-NEXT:     } else {
// TEXT:            set %[[R]], %
// TEXT-NEXT:     }
// TEXT:        } else {
// TEXT:        }
// TEXT-NOT:  leave

// LEAVES-COUNT-2: leave %
// LEAVES-NOT:     leave %

#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint data[]; };

#ifdef ARMS
uint wrap(uint i, uint n)
{
    if (i < 3u) {
        return i + n;
    }
    i *= n;
    if (i > 40u) {
        i ^= 5u;
        if (i > 200u) {
            return i - n;
        }
        return i + 7u;
    } else {
        i += 2u;
    }
    return i * 3u;
}
#else
uint wrap(uint i, uint n)
{
    if (i < 20u) { /* both arms may go on */
        if (i < 10u) {
            return i + n;
        }
        i += 9u;
    }
    for (uint k = 0u; k < n; k++) {
        if (k * k > i) {
            return k;
        }
    }
    return i * 3u;
}
#endif

void main()
{
    const uint i = gl_LocalInvocationIndex;
    data[i] = wrap(data[i], i & 7u);
}
