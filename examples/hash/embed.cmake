# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=FILE.vir -DOUTPUT=FILE.c -P embed.cmake: the text as the array hash_text, with a zero at its end.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char hash_text[];\nconst char hash_text[] = {${bytes}0};\n")
