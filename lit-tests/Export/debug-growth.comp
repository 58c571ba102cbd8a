// Debug information does not count towards the limit on the growth by inlined calls.
// SPDX-License-Identifier: Apache-2.0
// RUN: rm -rf %t && mkdir %t && cp %s %t/a.comp && %passmgr %t/a.comp -o %t/a.vir && %passmgr -gV %t/a.comp -o %t/b.vir 2>%t/said
// RUN: sed 's/ id(.*//' %t/a.vir >%t/a && sed 's/ id(.*//' %t/b.vir >%t/b && cmp %t/a %t/b
// RUN: FileCheck %s <%t/a.vir
// CHECK: program @main relaxed workgroup(1, 1, 1)
// RUN: %not 1 grep 'written unchanged' %t/said
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer X { uint x[]; };
uint f0(uint v) { uint r = v * 3u;
  r += v; r ^= 5u;
  return r; }
uint f1(uint v) { return f0(v) ^ f0(v + 1u); }
uint f2(uint v) { return f1(v) ^ f1(v + 2u); }
uint f3(uint v) { return f2(v) ^ f2(v + 3u); }
uint f4(uint v) { return f3(v) ^ f3(v + 4u); }
uint f5(uint v) { return f4(v) ^ f4(v + 5u); }
uint f6(uint v) { return f5(v) ^ f5(v + 6u); }
uint f7(uint v) { return f6(v) ^ f6(v + 7u); }
uint f8(uint v) { return f7(v) ^ f7(v + 8u); }
uint f9(uint v) { return f8(v) ^ f8(v + 9u); }
void main() { x[0] = f9(x[0]); }
