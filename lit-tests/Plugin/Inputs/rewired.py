# SPDX-License-Identifier: Apache-2.0
"""Prints a program in which the first user of %s has many rows under it, and the others two.

usage: rewired.py
"""
print("program @rewired {\n  buffer %x : u32[] storage rw set(0) binding(0)")
print("  %s = load %x[0]\n  %t = load %x[1]\n  %deep0 = add %t, 3u32")
for i in range(1, 100):
    print(f"  %deep{i} = xor %deep{i - 1}, {i}u32")
print("  %first = sub %s, %deep99")
for i in range(9000):
    print(f"  %user{i} = sub relaxed %s, %t")
print("  store %x[0], %first\n}")
