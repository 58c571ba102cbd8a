# SPDX-License-Identifier: Apache-2.0
# vyre_add_plugin(NAME SOURCES...): a pass plugin, NAME.so.  It imports nothing of vyre: a symbol that is not its own or libc's fails the link.
function(vyre_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE vyre::plugin)
  set_target_properties(${name} PROPERTIES
    PREFIX ""
    C_STANDARD 17 C_STANDARD_REQUIRED ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Sanitizers leave their own symbols to the program.
  if(NOT VYRE_SANITIZE AND NOT "${CMAKE_C_FLAGS}${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
