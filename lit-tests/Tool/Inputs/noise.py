# SPDX-License-Identifier: Apache-2.0
"""Writes files of noise with names and first bytes of every kind of input: noise.py FOLDER"""
import random
import sys

random.seed(5)
kinds = [(".vir", b""), (".vir", b"program @a {"), (".spv", b""), (".spv", b"\x03\x02\x23\x07"), (".comp", b""), (".comp", b"#version 450\n"),
         (".vir", b"struct @s {"), ("", b"\x07\x23\x02\x03"), (".vir", b"func @f("), ("", b"")]
for number, (end, head) in enumerate(kinds):
    with open(f"{sys.argv[1]}/noise{number}{end}", "wb") as file:
        file.write(head + random.randbytes(number * 97 + 30))
