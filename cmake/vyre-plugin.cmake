# SPDX-License-Identifier: Apache-2.0
# vyre_add_plugin(NAME SOURCES... [KERNELS FILES.vir...]): a pass plugin, NAME.so, on Windows NAME.dll.  It imports nothing of vyre: a symbol that is not its own or libc's
# fails the link.  Each kernel file K.vir gives it a `const vyre_phases K_phases`, of the phases that are in it (vyre/phases.h).
# KERNELC is the compiler of these files, if it is not vyre-kernelc.
function(vyre_add_plugin name)
  cmake_parse_arguments(arg "" "KERNELC" "KERNELS" ${ARGN})
  set(passes)
  if(NOT arg_KERNELC)
    set(arg_KERNELC vyre::kernelc)
    get_property(passes GLOBAL PROPERTY VYRE_KERNELC_PASSES) # in the build of vyre, which has no installed passes
  endif()
  list(TRANSFORM passes REPLACE "(.+)" "-load=$<TARGET_FILE:\\1>" OUTPUT_VARIABLE loads)
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  foreach(kernel ${arg_KERNELS})
    get_filename_component(stem ${kernel} NAME_WE)
    get_filename_component(path ${kernel} ABSOLUTE)
    set(phases ${CMAKE_CURRENT_BINARY_DIR}/${name}-${stem}-phases.c)
    add_custom_command(OUTPUT ${phases} DEPFILE ${phases}.d DEPENDS ${path} ${arg_KERNELC} ${passes}
      COMMAND ${arg_KERNELC} -emit=plugin ${loads} -depfile=${phases}.d ${path} -o ${phases} VERBATIM)
    target_sources(${name} PRIVATE ${phases})
    set_source_files_properties(${phases} PROPERTIES COMPILE_OPTIONS -Wno-unused) # lanes that nothing reads: docs/c.md

  endforeach()
  target_link_libraries(${name} PRIVATE vyre::plugin)
  set_target_properties(${name} PROPERTIES
    PREFIX ""
    C_STANDARD 17 C_STANDARD_REQUIRED ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Sanitizers leave their own symbols to the program; a .dll has none that are missing.
  if(NOT WIN32 AND NOT VYRE_SANITIZE AND NOT "${CMAKE_C_FLAGS}${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
