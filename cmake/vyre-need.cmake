# SPDX-License-Identifier: Apache-2.0
# vyre_need(PACKAGE COMMAND VARIABLE ...): what find_path, find_library, find_program or find_package does not find stops the configuration,
# with the Debian package that has it: tests and parts must not vanish.
macro(vyre_need package command variable)
  cmake_language(CALL ${command} ${variable} ${ARGN})
  if(NOT ${variable} AND NOT ${variable}_FOUND)
    message(FATAL_ERROR "${variable} is not found: ${command}(${variable} ${ARGN})\n"
      "Fix: install the package ${package} (scripts/install-packages.sh tests installs all that vyre is built and tested with)")
  endif()
endmacro()
