# SPDX-License-Identifier: Apache-2.0
# What every target of the project is built with.

option(VYRE_WERROR "warnings are errors" ON)
option(VYRE_PORTABLE "link libraries other than the C library into the programs, and install SPIRV-Cross: scripts/release.sh" OFF)
set(VYRE_SANITIZE "" CACHE STRING "sanitizers, as -fsanitize= takes them")

if(CMAKE_C_BYTE_ORDER STREQUAL BIG_ENDIAN)
  message(FATAL_ERROR "vyre runs on little-endian systems only, and ${CMAKE_SYSTEM_PROCESSOR} is big-endian\nFix: build for x86-64 or arm64")
endif()
if(VYRE_PORTABLE)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
# Whether the build may run the programs that it builds: it is for this system, or has an emulator.
set(VYRE_RUNS_PROGRAMS ON)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(VYRE_RUNS_PROGRAMS OFF)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/vyre-need.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/vyre-tests.cmake)

add_library(vyre_options INTERFACE)
target_compile_definitions(vyre_options INTERFACE _GNU_SOURCE)
target_include_directories(vyre_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
target_compile_options(vyre_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wstrict-prototypes -Wmissing-prototypes>
  $<$<BOOL:${VYRE_WERROR}>:-Werror>
  # The same source gives the same bytes in every folder.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  # Float meaning is IEEE's, operation by operation.
  -ffp-contract=off
  # Combining neighbouring fields in vector registers to store them at once costs small structures more than it gains.
  -fno-tree-slp-vectorize)
if(NOT WIN32 AND NOT VYRE_SANITIZE) # mold would write wrong RELRO segments (vyre-tests.cmake)
  # A plugin maps two segments instead of four, so that the tool, which loads many plugins, starts in less time.
  target_link_options(vyre_options INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:VYRE_MOLD>>>:LINKER:-z,noseparate-code>)
endif()
if(VYRE_SANITIZE)
  target_compile_options(vyre_options INTERFACE -fsanitize=${VYRE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # Their runtime is in C++ programs alone, and ours are C.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function,vptr>)
  target_compile_definitions(vyre_options INTERFACE VYRE_SANITIZED)
  target_link_options(vyre_options INTERFACE -fsanitize=${VYRE_SANITIZE} -fuse-ld=mold)
endif()

# vyre_add_part(NAME SOURCES...): an object library, a part of libvyre, whose version script says what is exported.
function(vyre_add_part name)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET default)
  target_compile_options(${name} PRIVATE -fno-semantic-interposition)
  target_link_libraries(${name} PUBLIC vyre_options)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

# vyre_add_program(NAME [INTERNAL|DEV] [EXPORT NAME] LIBRARIES... SOURCES...): adds a program in build/bin.
#   INTERNAL  is not installed
#   DEV       is installed with the package for developers (vyre-packages.cmake)
#   EXPORT    is the target vyre::NAME in this project, and in projects that find the package
# Manual pages and completions of installed programs are made in build/share, and installed.
function(vyre_add_program name)
  cmake_parse_arguments(arg "INTERNAL;DEV" "EXPORT" "SOURCES;LIBRARIES" ${ARGN})
  set(component tool)
  if(arg_DEV)
    set(component dev)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE vyre_options ${arg_LIBRARIES})
  file(RELATIVE_PATH to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(${name} PROPERTIES BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN/${to_lib}")
  target_compile_definitions(${name} PRIVATE VYRE_VERSION="${PROJECT_VERSION}")
  if(arg_EXPORT)
    add_executable(vyre::${arg_EXPORT} ALIAS ${name})
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${arg_EXPORT})
    install(TARGETS ${name} EXPORT vyreTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  elseif(NOT arg_INTERNAL)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  endif()
  if(arg_INTERNAL OR NOT VYRE_RUNS_PROGRAMS)
    return()
  endif()
  foreach(page man=man/man1/${name}.1 bash=bash-completion/completions/${name} zsh=zsh/site-functions/_${name} fish=fish/vendor_completions.d/${name}.fish)
    string(REGEX MATCH "^[a-z]+" format ${page})
    string(REGEX REPLACE "^[a-z]+=" "" path ${page})
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/${folder})
    add_custom_command(TARGET ${name} POST_BUILD COMMAND ${name} -help=${format} > ${PROJECT_BINARY_DIR}/share/${path} VERBATIM)
    install(FILES ${PROJECT_BINARY_DIR}/share/${path} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT ${component})
  endforeach()
endfunction()

# vyre_add_shared_objects(NAME SOURCES...): what several programs are made of, compiled once; they link NAME.
function(vyre_add_shared_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PUBLIC vyre_options)
endfunction()

# Where libvyre finds the core passes: vyre/passes beside it, in the build tree and installed.
set(VYRE_PASS_OUTPUT ${PROJECT_BINARY_DIR}/lib/vyre/passes)

add_library(vyre_plugin INTERFACE)
add_library(vyre::plugin ALIAS vyre_plugin)
set_target_properties(vyre_plugin PROPERTIES EXPORT_NAME plugin)
target_include_directories(vyre_plugin INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
include(${CMAKE_CURRENT_LIST_DIR}/vyre-plugin.cmake)

# vyre_add_pass(NAME SOURCES... [KERNELS FILES...]): a core pass, vyre/passes/NAME.so beside libvyre; its target is vyre_pass_NAME, all of them the global property
# VYRE_CORE_PASSES.  With STAGE1, a pass that vyre-kernelc itself uses in this build: vyre_stage1_NAME, whose kernels are not optimized.
function(vyre_add_pass name)
  cmake_parse_arguments(pass "STAGE1" "" "" ${ARGN})
  if(pass_STAGE1)
    vyre_add_plugin(vyre_stage1_${name} ${pass_UNPARSED_ARGUMENTS} KERNELC vyre-kernelc-stage1)
    target_link_libraries(vyre_stage1_${name} PRIVATE vyre_options)
    set_target_properties(vyre_stage1_${name} PROPERTIES OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/stage1)
    return()
  endif()
  vyre_add_plugin(vyre_pass_${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY VYRE_CORE_PASSES vyre_pass_${name})
  target_link_libraries(vyre_pass_${name} PRIVATE vyre_options)
  set_target_properties(vyre_pass_${name} PROPERTIES OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${VYRE_PASS_OUTPUT})
  install(TARGETS vyre_pass_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/vyre/passes COMPONENT plugins)
endfunction()
