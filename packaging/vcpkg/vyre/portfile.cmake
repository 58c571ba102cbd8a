# SPDX-License-Identifier: Apache-2.0
# An overlay port: vcpkg install vyre --overlay-ports=packaging/vcpkg.  It builds the tree that it is in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DVYRE_TESTS=OFF -DVYRE_REDIS=OFF -DCMAKE_INSTALL_LIBDIR=lib)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME vyre CONFIG_PATH share/cmake/vyre)
vcpkg_copy_tools(TOOL_NAMES vyre-passmgr vyre-run vyre-wrap AUTO_CLEAN)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
