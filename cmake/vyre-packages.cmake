# SPDX-License-Identifier: Apache-2.0
# Debian packages of the tree that is installed in /usr, by cpack.  scripts/packages.sh makes them, and the `packages` test checks them.
# The COMPONENT of each install() chooses the package, and project() has the version.  The copyright file has the copyright of vyre, then
# those of packages whose code is linked in.
set(copyright ${PROJECT_BINARY_DIR}/copyright)
file(READ ${CMAKE_CURRENT_LIST_DIR}/copyright text)
foreach(package glslang-dev libvulkan-dev libvulkan-volk-dev libxxhash-dev spirv-headers spirv-tools uthash-dev)
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(READ /usr/share/doc/${package}/copyright part)
    string(APPEND text "\n==== Built in, of the package ${package}:\n\n${part}")
  endif()
endforeach()
file(WRITE ${copyright} "${text}")

set(names tool=vyre libraries=libvyre${PROJECT_VERSION_MAJOR} plugins=vyre-passes dev=libvyre-dev compat=vyre-tools-compat python=python3-vyre)
foreach(name ${names})
  string(REGEX MATCH "^([a-z]+)=(.*)$" name ${name})
  set(component ${CMAKE_MATCH_1})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${CMAKE_MATCH_2})
  install(FILES ${copyright} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CMAKE_MATCH_2} COMPONENT ${component})
endforeach()
# Readable where they are: README.md names documents and examples by folders beside it.
set(doc ${CMAKE_INSTALL_DATADIR}/doc/vyre)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${doc} COMPONENT tool)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${doc} COMPONENT tool FILES_MATCHING PATTERN *.md)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${doc} COMPONENT dev
  PATTERN examples/CMakeLists.txt EXCLUDE PATTERN expected.c EXCLUDE PATTERN run-example.sh EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vyre)
set(CPACK_PACKAGE_VENDOR vyre)
set(CPACK_PACKAGE_CONTACT "the vyre maintainers <maintainers@vyre.invalid>" CACHE STRING "who maintains packages that are made here")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL tool libraries plugins dev compat python)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}) # libvyre is in none of the packages of this machine
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON) # of the same version
set(CPACK_COMPONENT_TOOL_DEPENDS libraries)
set(CPACK_COMPONENT_LIBRARIES_DEPENDS plugins)
set(CPACK_COMPONENT_DEV_DEPENDS libraries tool)
set(CPACK_COMPONENT_COMPAT_DEPENDS tool)
set(CPACK_COMPONENT_PYTHON_DEPENDS libraries)

set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "libvyre-dev, mesa-vulkan-drivers")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_DEPENDS libspirv-cross-c-shared0) # vyre-glsl opens it
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_RECOMMENDS libvulkan1) # opened where a device is asked for
set(CPACK_DEBIAN_PLUGINS_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_COMPAT_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9)")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "cmake, gcc, libc6-dev, make | ninja-build")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS z3) # vyre-prove
set(what "vyre optimizes GPU compute shaders (GLSL, SPIR-V) by passes that are plugins.")
set(CPACK_COMPONENT_TOOL_DESCRIPTION "optimizer for GPU compute shaders\n${what}\nThese are its programs: vyre-passmgr optimizes, vyre-run runs and compares.")
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION "optimizer for GPU compute shaders, as a library\n${what}\nThis is the library, and the program that reads GLSL for it.")
set(CPACK_COMPONENT_PLUGINS_DESCRIPTION "optimizer for GPU compute shaders, its core passes\n${what}\nThese are the passes that come with it.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "optimizer for GPU compute shaders, to write passes and to embed it\n${what}\nThese are headers, CMake and pkg-config files, and what compiles GPU passes.")
set(CPACK_COMPONENT_COMPAT_DESCRIPTION "optimizer for GPU compute shaders, under the names of other tools\n${what}\nThese are links with the names of shader tools, in a folder that is not in PATH.")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "optimizer for GPU compute shaders, for Python\n${what}\nThis is the module vyre, which calls the library.")
include(CPack)

if(VYRE_TESTS AND NOT VYRE_SANITIZE)
  vyre_need(dpkg-dev find_program VYRE_SHLIBDEPS dpkg-shlibdeps)
  vyre_need(dpkg find_program VYRE_DPKG_DEB dpkg-deb)
  vyre_need(file find_program VYRE_FILE file)
  vyre_add_test(packages ${CMAKE_CURRENT_LIST_DIR}/test-packages.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_VERSION} ${CMAKE_CPACK_COMMAND})
endif()
