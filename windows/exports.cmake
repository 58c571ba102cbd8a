# SPDX-License-Identifier: Apache-2.0
# What libvyre.dll exports, as passmgr/libvyre.map says it for other systems: all that begins with vyre_ in its objects.
# -DNM=PROGRAM "-DOBJECTS=a|b" -DOUTPUT=FILE
string(REPLACE "|" ";" OBJECTS "${OBJECTS}")
execute_process(COMMAND ${NM} --extern-only --defined-only --format=posix ${OBJECTS} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "vyre_[A-Za-z0-9_]+ [A-Z] " symbols "${symbols}")
list(SORT symbols)
list(REMOVE_DUPLICATES symbols)
set(text "EXPORTS\n")
foreach(symbol IN LISTS symbols)
  string(REGEX REPLACE " T $" "\n" symbol "${symbol}")
  string(REGEX REPLACE " [A-Z] $" " DATA\n" symbol "${symbol}")
  string(APPEND text "${symbol}")
endforeach()
file(WRITE ${OUTPUT} "${text}")
