#version 450
// Each function calls the previous function twice, so that inlining doubles the code at each level.
// SPDX-License-Identifier: Apache-2.0
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data {
  uint data[];
};

uint f0(uint x) { return x * 3u + 1u; }
uint f1(uint x) { return f0(x) ^ f0(x + 1u); }
uint f2(uint x) { return f1(x) ^ f1(x + 2u); }
uint f3(uint x) { return f2(x) ^ f2(x + 3u); }
uint f4(uint x) { return f3(x) ^ f3(x + 4u); }
uint f5(uint x) { return f4(x) ^ f4(x + 5u); }
uint f6(uint x) { return f5(x) ^ f5(x + 6u); }
uint f7(uint x) { return f6(x) ^ f6(x + 7u); }
uint f8(uint x) { return f7(x) ^ f7(x + 8u); }
uint f9(uint x) { return f8(x) ^ f8(x + 9u); }
uint f10(uint x) { return f9(x) ^ f9(x + 10u); }
uint f11(uint x) { return f10(x) ^ f10(x + 11u); }
uint f12(uint x) { return f11(x) ^ f11(x + 12u); }
uint f13(uint x) { return f12(x) ^ f12(x + 13u); }
uint f14(uint x) { return f13(x) ^ f13(x + 14u); }
uint f15(uint x) { return f14(x) ^ f14(x + 15u); }
uint f16(uint x) { return f15(x) ^ f15(x + 16u); }
uint f17(uint x) { return f16(x) ^ f16(x + 17u); }
uint f18(uint x) { return f17(x) ^ f17(x + 18u); }

void main() { data[0] = f18(data[0]); }
