# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE.h -DINPUTS=a.vir;b.vir -P vyre-constants.cmake: the constants of kernel files for C, VIR_CODE_ROW for
# `constant @code.row`.
set(text "/* Made of kernel files by vyre-constants.cmake. */\n#pragma once\nenum {\n")
foreach(input ${INPUTS})
  file(STRINGS ${input} lines REGEX "^constant @")
  foreach(line ${lines})
    string(REGEX MATCH "^constant @([a-z_.]+) = (0x[0-9a-f]+|[0-9]+)" line "${line}")
    string(TOUPPER "VIR_${CMAKE_MATCH_1}" name)
    string(REPLACE . _ name ${name})
    string(APPEND text "  ${name} = ${CMAKE_MATCH_2},\n")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "${text}};\n")
