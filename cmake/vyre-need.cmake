# SPDX-License-Identifier: Apache-2.0
# vyre_need(PACKAGE COMMAND VARIABLE ...): runs find_path, find_library, find_program or find_package.  If that fails, the configuration
# fails, too, and names the Debian package to install, so that no test or part is left out silently.
macro(vyre_need package command variable)
  cmake_language(CALL ${command} ${variable} ${ARGN})
  if(NOT ${variable} AND NOT ${variable}_FOUND)
    message(FATAL_ERROR "${variable} is not found: ${command}(${variable} ${ARGN})\n"
      "Fix: install the package ${package} (scripts/install-packages.sh tests installs all that vyre is built and tested with)")
  endif()
endmacro()
