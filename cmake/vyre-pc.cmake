# SPDX-License-Identifier: Apache-2.0
# vyre_make_pc(FILE): what pkg-config reads, by CMAKE_INSTALL_PREFIX, _LIBDIR and _INCLUDEDIR.  It names folders relative to itself, as an installed
# tree may be moved: LIBDIR may be of several folders (lib/x86_64-linux-gnu).
function(vyre_make_pc file)
  foreach(dir LIBDIR INCLUDEDIR)
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_${dir} BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} NORMALIZE OUTPUT_VARIABLE full_${dir})
  endforeach()
  file(RELATIVE_PATH VYRE_PC_PREFIX ${full_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" VYRE_PC_PREFIX ${VYRE_PC_PREFIX})
  file(RELATIVE_PATH VYRE_PC_LIBDIR ${CMAKE_INSTALL_PREFIX} ${full_LIBDIR})
  file(RELATIVE_PATH VYRE_PC_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${full_INCLUDEDIR})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/vyre.pc.in ${file} @ONLY)
endfunction()
