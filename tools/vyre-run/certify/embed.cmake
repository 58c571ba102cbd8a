# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE.c -DINPUT=suite.vir -P embed.cmake: writes the text as the array certify_suite, NUL-terminated.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "/* Generated from suite.vir. */\nextern const char certify_suite[];\nconst char certify_suite[] = {${bytes}0};\n")
