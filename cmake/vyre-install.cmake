# SPDX-License-Identifier: Apache-2.0
# Installs libvyre, headers, the CMake package and vyre.pc.  The package has vyre::vyre for embedding, and vyre::plugin and
# vyre_add_plugin for passes.  The `installed` test uses all of these outside of the tree.
include(CMakePackageConfigHelpers)
# In share/, because a project without languages does not search the folder of an architecture.  The build tree keeps its copies in a folder
# that no search finds: with build/bin in PATH, find_package would take them for an installed package.
set(VYRE_CMAKE_DIR ${CMAKE_INSTALL_DATADIR}/cmake/vyre)
set(config ${PROJECT_BINARY_DIR}/package/vyreConfig.cmake)
set(version ${PROJECT_BINARY_DIR}/package/vyreConfigVersion.cmake)

install(TARGETS vyre vyre_plugin EXPORT vyreTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/vyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT vyreTargets NAMESPACE vyre:: DESTINATION ${VYRE_CMAKE_DIR} COMPONENT dev)
set(VYRE_PASS_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR}/vyre/passes)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/vyreConfig.cmake.in ${config}
  INSTALL_DESTINATION ${VYRE_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_BINDIR VYRE_PASS_INSTALL_DIR)
write_basic_package_version_file(${version} COMPATIBILITY SameMinorVersion)
install(FILES ${config} ${version}
  ${CMAKE_CURRENT_LIST_DIR}/vyre-plugin.cmake ${CMAKE_CURRENT_LIST_DIR}/vyre-shaders.cmake DESTINATION ${VYRE_CMAKE_DIR} COMPONENT dev)
include(${CMAKE_CURRENT_LIST_DIR}/vyre-pc.cmake)
vyre_make_pc(${PROJECT_BINARY_DIR}/vyre.pc)
install(FILES ${PROJECT_BINARY_DIR}/vyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# Vim looks there by itself; the folder of VS Code is to be linked into ~/.vscode/extensions.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/editors/vim/ DESTINATION ${CMAKE_INSTALL_DATADIR}/vim/vimfiles COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/editors/vscode DESTINATION ${CMAKE_INSTALL_DATADIR}/vyre COMPONENT dev)

# Links with the names of other tools, in a folder that is not in PATH (docs/drop-in.md).  The names are those of cli/personality.
set(VYRE_COMPAT_NAMES spirv-opt glslc glslangValidator glslang)
set(VYRE_COMPAT_DIR ${CMAKE_INSTALL_LIBDIR}/vyre/compat)
file(RELATIVE_PATH to_bin ${CMAKE_INSTALL_FULL_LIBDIR}/vyre/compat ${CMAKE_INSTALL_FULL_BINDIR})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/compat ${PROJECT_BINARY_DIR}/lib/vyre/compat)
foreach(name ${VYRE_COMPAT_NAMES})
  file(CREATE_LINK ${to_bin}/vyre-passmgr ${PROJECT_BINARY_DIR}/compat/${name} SYMBOLIC)
  file(CREATE_LINK ../../../bin/vyre-passmgr ${PROJECT_BINARY_DIR}/lib/vyre/compat/${name} SYMBOLIC) # for the build tree
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/compat/ DESTINATION ${VYRE_COMPAT_DIR} COMPONENT compat)

if(VYRE_TESTS)
  vyre_add_test(installed ${CMAKE_COMMAND}
    -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR} -DLIBDIR=${CMAKE_INSTALL_LIBDIR} -DC_COMPILER=${CMAKE_C_COMPILER}
    -DSANITIZE=${VYRE_SANITIZE} -DGENERATOR=${CMAKE_GENERATOR} -DVERSION=${PROJECT_VERSION}
    -P ${CMAKE_CURRENT_LIST_DIR}/test-installed.cmake)
endif()
