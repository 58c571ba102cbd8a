# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE.c -DINPUTS=a.vir;b.vir -P embed.cmake: writes each text as an array, mega_text_NAME, NUL-terminated.
set(text "/* Generated from the .vir files of runtime/kernel. */\n#include \"source.h\"\n\n")
foreach(input ${INPUTS})
  get_filename_component(name ${input} NAME_WE)
  file(READ ${input} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "const char mega_text_${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
