# SPDX-License-Identifier: Apache-2.0
# The settings of builds for Windows (docs/windows.md).  windows/posix precedes the system's headers, and programs need only Windows.
# A cross build uses headers of the host system, and programs that generate sources from a native build in VYRE_NATIVE_BUILD.
target_include_directories(vyre_options BEFORE INTERFACE ${PROJECT_SOURCE_DIR}/windows/instead) # of headers by the same name
target_include_directories(vyre_options SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/windows/posix)
target_compile_definitions(vyre_options INTERFACE __USE_MINGW_ANSI_STDIO=1 OPTION_ABSENT=OPTION_POSIX)
# Suppresses warnings about the type-generic <math.h> of MinGW, and about formats of printf that differ from Microsoft's.
target_compile_options(vyre_options INTERFACE -Wno-float-conversion -Wno-format)
add_link_options(-static)
set(ZLIB_USE_STATIC_LIBS ON)

if(CMAKE_CROSSCOMPILING)
  set(VYRE_NATIVE_BUILD ${PROJECT_SOURCE_DIR}/build CACHE PATH "a build of this source for the system that this is built on")
  foreach(program words_generate cost_generate vyre-rules vyre-kernelc-stage1 vyre-kernelc embed_kernels)
    if(NOT EXISTS ${VYRE_NATIVE_BUILD}/bin/${program})
      message(FATAL_ERROR "${VYRE_NATIVE_BUILD}/bin/${program} is not there, which makes sources\n"
        "Fix: build vyre for this system first (cmake --preset release && cmake --build build), or say where: -DVYRE_NATIVE_BUILD=DIR")
    endif()
    add_executable(${program} IMPORTED GLOBAL)
    set_target_properties(${program} PROPERTIES IMPORTED_LOCATION ${VYRE_NATIVE_BUILD}/bin/${program})
  endforeach()
  add_executable(vyre::kernelc ALIAS vyre-kernelc)
  # Not their folder, in which there is all else of that system.
  foreach(need spirv-headers=spirv uthash-dev=uthash.h libxxhash-dev=xxhash.h)
    string(REGEX MATCH "^(.*)=(.*)$" need ${need})
    set(name ${CMAKE_MATCH_2})
    vyre_need(${CMAKE_MATCH_1} find_path native_${name} ${name} PATHS /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
    file(CREATE_LINK ${native_${name}}/${name} ${PROJECT_BINARY_DIR}/headers/${name} SYMBOLIC)
  endforeach()
  foreach(name VYRE_SPIRV_HEADERS VYRE_UTHASH VYRE_XXHASH)
    set(${name} ${PROJECT_BINARY_DIR}/headers CACHE PATH "of the system that this is built on")
  endforeach()
  target_include_directories(vyre_options SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/headers)
endif()
