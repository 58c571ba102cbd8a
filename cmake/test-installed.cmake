# SPDX-License-Identifier: Apache-2.0
# The `installed` test: installs into a prefix in the build tree, then works outside the tree.  The example plugin is configured, built and
# loaded from there, the embedding example is built by find_package and by what vyre.pc says and optimizes a shader, and nothing may point
# back into the build tree.
include(${CMAKE_CURRENT_LIST_DIR}/vyre-need.cmake)
set(prefix ${BUILD}/installed/prefix)
set(work ${BUILD}/installed/work)
file(REMOVE_RECURSE ${BUILD}/installed)
file(MAKE_DIRECTORY ${work})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "exit code ${code}: ${command}\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

function(expect_match pattern)
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "'${pattern}' is not in:\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# Moved, to see that it may be.
file(RENAME ${prefix} ${prefix}-moved)
set(prefix ${prefix}-moved)
foreach(path bin/vyre-passmgr bin/vyre-run bin/vyre-fuzz bin/vyre-kernelc bin/vyre-mega bin/vyre-megac bin/vyre-prove ${LIBDIR}/libvyre.so include/vyre/plugin.h include/vyre/ops.def
    ${LIBDIR}/vyre/passes/dce.so
    ${LIBDIR}/cmake/vyre/vyreConfig.cmake ${LIBDIR}/pkgconfig/vyre.pc ${LIBDIR}/vyre/vyre-glsl
    share/man/man1/vyre-passmgr.1 share/bash-completion/completions/vyre-run share/zsh/site-functions/_vyre-kernelc
    share/fish/vendor_completions.d/vyre-prove.fish)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "not installed: ${path}")
  endif()
endforeach()

run(${prefix}/bin/vyre-passmgr -version)
expect_match("^vyre-passmgr ${VERSION} ")
run(${prefix}/bin/vyre-passmgr -list-passes)
expect_match("\ndce ")
run(${prefix}/bin/vyre-fuzz -count=10 -out=${work})
run(${prefix}/bin/vyre-prove -help)

# The plugin, by find_package.
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/plugins -B ${work}/plugin -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_C_COMPILER=${C_COMPILER})
run(${CMAKE_COMMAND} --build ${work}/plugin)
run(nm -D --undefined-only ${work}/plugin/acme.so)
if(output MATCHES "vyre_")
  message(FATAL_ERROR "the plugin imports of vyre:\n${output}")
endif()
run(${prefix}/bin/vyre-passmgr -load ${work}/plugin/acme.so -passes=acme.mul-to-shl -verify-each ${SOURCE}/examples/plugins/scale.vir
  -o ${work}/scale.vir)
file(READ ${work}/scale.vir output)
expect_match("shl %[a-z0-9]+, 3u32")
expect_match("mul %[a-z0-9]+, 24u32")
run(${prefix}/bin/vyre-passmgr -load ${work}/plugin/acme.so -passes=acme.mul-to-shl<max=2> ${SOURCE}/examples/plugins/scale.vir -o -)
expect_match("mul %[a-z0-9]+, 8u32")

# A GPU pass, which vyre-kernelc compiled from there.
run(${prefix}/bin/vyre-passmgr -load ${work}/plugin/half.so -passes=half.enough -verify-each -stats ${SOURCE}/examples/plugins/blend.vir -o -)
expect_match("2 +half.enough: rows marked as relaxed")
expect_match("%product = mul relaxed %v, 3.0f32")
expect_match("%scaled = mul %v, 0.25f32")
run(nm -D --undefined-only ${work}/plugin/half.so)
if(output MATCHES "vyre_")
  message(FATAL_ERROR "the GPU pass imports of vyre:\n${output}")
endif()

# A pass that makes rows; in C++ and Rust, where those are.
run(${prefix}/bin/vyre-passmgr -load ${work}/plugin/unroll.so -passes=acme.unroll -verify-each ${SOURCE}/examples/shaders/matmul.comp -o -)
foreach(plugin names nots)
  if(NOT EXISTS ${work}/plugin/${plugin}.so)
    message(FATAL_ERROR "examples/plugins built no ${plugin}.so")
  endif()
  run(nm -D --undefined-only ${work}/plugin/${plugin}.so)
  if(output MATCHES "vyre_")
    message(FATAL_ERROR "${plugin}.so imports of vyre:\n${output}")
  endif()
endforeach()
run(${prefix}/bin/vyre-passmgr -load ${work}/plugin/names.so -load ${work}/plugin/nots.so -passes=names.loads,rusty.nots -verify-each
  -emit=vir ${SOURCE}/examples/shaders/saxpy.comp -o -)
expect_match("%X_value = load %X")

# Shaders of a project: made once, and again when what they include has changed; by CMake and by make.
file(WRITE ${work}/project/blur.comp "#version 450\n#include \"b.glsl\"\nlayout(binding = 0) buffer Y { uint y[]; };\nvoid main() { y[0] = B + 1; }\n")
file(WRITE ${work}/project/include/b.glsl "#define B 2\n")
file(WRITE ${work}/project/main.c "int main(void) { return 0; }\n")
file(WRITE ${work}/project/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(p C)\nfind_package(vyre REQUIRED)\n"
  "vyre_optimize_shaders(TARGET shaders SHADERS blur.comp INCLUDES include)\nadd_executable(there main.c)\n"
  "vyre_optimize_shaders(TARGET there SHADERS blur.comp PASSES no-op INCLUDES include OPTIONS -g FOLDER \${CMAKE_BINARY_DIR}/sub)\n"
  "if(NOT shaders_OUTPUTS STREQUAL \"\${CMAKE_CURRENT_BINARY_DIR}/blur.spv\")\n  message(FATAL_ERROR \"\${shaders_OUTPUTS}\")\nendif()\n")
run(${CMAKE_COMMAND} -S ${work}/project -B ${work}/project/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${C_COMPILER})
run(${CMAKE_COMMAND} --build ${work}/project/build)
expect_match("Optimizing blur.spv")
run(${prefix}/bin/vyre-passmgr -emit=vir ${work}/project/build/blur.spv)
expect_match("store %Y.y.0., 3u32")
run(${prefix}/bin/vyre-passmgr -emit=vir ${work}/project/build/sub/blur.spv)
expect_match("store ")
run(${CMAKE_COMMAND} --build ${work}/project/build)
if(output MATCHES "Optimizing")
  message(FATAL_ERROR "shaders are made again, and nothing has changed:\n${output}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1)
file(WRITE ${work}/project/include/b.glsl "#define B 6\n")
run(${CMAKE_COMMAND} --build ${work}/project/build)
expect_match("Optimizing blur.spv")
run(${prefix}/bin/vyre-passmgr -emit=vir ${work}/project/build/blur.spv)
expect_match("store %Y.y.0., 7u32")

vyre_need(make find_program make make)
file(COPY ${SOURCE}/examples/shaders/ DESTINATION ${work}/make/shaders)
file(COPY ${SOURCE}/examples/make/Makefile DESTINATION ${work}/make)
run(${make} -C ${work}/make VYRE=${prefix}/bin/vyre-passmgr SHADERS=shaders)
run(${prefix}/bin/vyre-run ${work}/make/shaders/saxpy.comp -compare ${work}/make/out/saxpy.spv)
expect_match("equal: ")
run(${make} -C ${work}/make VYRE=${prefix}/bin/vyre-passmgr SHADERS=shaders)
expect_match("Nothing to be done")

# What is exported and imported.
run(nm -D --defined-only ${prefix}/${LIBDIR}/libvyre.so)
string(REGEX MATCHALL "[^\n]+" lines "${output}")
foreach(line ${lines})
  if(NOT line MATCHES " (vyre_|VYRE_0)" AND NOT line MATCHES " (__asan|__ubsan|__sanitizer|__odr)")
    message(FATAL_ERROR "libvyre exports: ${line}")
  endif()
endforeach()
file(GLOB passes ${prefix}/${LIBDIR}/vyre/passes/*.so)
foreach(pass ${passes})
  run(nm -D --undefined-only ${pass})
  if(output MATCHES "vyre_")
    message(FATAL_ERROR "${pass} imports of vyre:\n${output}")
  endif()
endforeach()

# Each header is self-contained, in C and C++.
file(GLOB headers RELATIVE ${prefix}/include ${prefix}/include/vyre/*.h)
foreach(header ${headers})
  file(WRITE ${work}/header.c "#include <${header}>\n")
  run(${C_COMPILER} -std=c17 -Wall -Wextra -Wpedantic -Werror -I${prefix}/include -fsyntax-only ${work}/header.c)
  run(${C_COMPILER} -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I${prefix}/include -fsyntax-only ${work}/header.c)
endforeach()

# A program that embeds the library, built elsewhere, by CMake and by pkg-config, finds and runs the passes.
set(sanitize)
if(SANITIZE)
  set(sanitize -fsanitize=${SANITIZE})
endif()
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/embed -B ${work}/embed-cmake -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_C_FLAGS=${sanitize})
expect_match("core passes are in ${prefix}/${LIBDIR}/vyre/passes")
run(${CMAKE_COMMAND} --build ${work}/embed-cmake)

vyre_need(pkg-config find_program pkg_config pkg-config)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(${pkg_config} --variable=passdir vyre)
string(STRIP "${output}" passdir)
if(NOT EXISTS ${passdir}/dce.so)
  message(FATAL_ERROR "vyre.pc has a passdir without passes: ${passdir}")
endif()
run(${pkg_config} --cflags --libs vyre)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
file(MAKE_DIRECTORY ${work}/embed-pkg-config)
run(${C_COMPILER} -std=c17 -Wall -Wextra -Werror ${sanitize} ${SOURCE}/examples/embed/embed.c ${flags} -Wl,-rpath,${prefix}/${LIBDIR}
  -o ${work}/embed-pkg-config/embed)

set(shader ${SOURCE}/examples/shaders/sha256.comp)
run(${prefix}/bin/vyre-passmgr -passes=default<O2> ${shader} -o ${work}/expected.spv)
foreach(way cmake pkg-config)
  run(${work}/embed-${way}/embed ${shader} ${work}/${way}.spv)
  run(${CMAKE_COMMAND} -E compare_files ${work}/expected.spv ${work}/${way}.spv)
  run(${prefix}/bin/vyre-run ${shader} -compare ${work}/${way}.spv)
  expect_match("equal: ")
endforeach()

# Without its passes the library says so.
file(RENAME ${prefix}/${LIBDIR}/vyre/passes ${prefix}/${LIBDIR}/vyre/gone)
execute_process(COMMAND ${work}/embed-cmake/embed ${shader} ${work}/none.spv RESULT_VARIABLE code ERROR_VARIABLE output)
file(RENAME ${prefix}/${LIBDIR}/vyre/gone ${prefix}/${LIBDIR}/vyre/passes)
if(NOT code EQUAL 2 OR EXISTS ${work}/none.spv)
  message(FATAL_ERROR "without passes embed ends with ${code}:\n${output}")
endif()
expect_match("embed: the core passes are not there: no folder '${prefix}/${LIBDIR}/vyre/passes'")

# vyre.pc names existing files however many folders LIBDIR has.
include(${CMAKE_CURRENT_LIST_DIR}/vyre-pc.cmake)
set(PROJECT_VERSION ${VERSION})
set(CMAKE_INSTALL_INCLUDEDIR include)
foreach(CMAKE_INSTALL_PREFIX /usr /usr/local /opt/vyre)
  foreach(CMAKE_INSTALL_LIBDIR lib lib/x86_64-linux-gnu ${CMAKE_INSTALL_PREFIX}/lib64)
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE libdir)
    file(MAKE_DIRECTORY ${work}/root${libdir}/vyre/passes ${work}/root${libdir}/pkgconfig ${work}/root${CMAKE_INSTALL_PREFIX}/include)
    vyre_make_pc(${work}/root${libdir}/pkgconfig/vyre.pc)
    set(ENV{PKG_CONFIG_PATH} ${work}/root${libdir}/pkgconfig)
    foreach(pair libdir=${libdir} passdir=${libdir}/vyre/passes includedir=${CMAKE_INSTALL_PREFIX}/include)
      string(REGEX MATCH "^([a-z]+)=(.*)$" pair ${pair})
      set(wanted ${work}/root${CMAKE_MATCH_2})
      run(${pkg_config} --variable=${CMAKE_MATCH_1} vyre)
      string(STRIP "${output}" output)
      file(REAL_PATH ${output} output)
      if(NOT output STREQUAL wanted)
        message(FATAL_ERROR "vyre.pc for ${CMAKE_INSTALL_PREFIX} and ${CMAKE_INSTALL_LIBDIR} says ${output}, not ${wanted}")
      endif()
    endforeach()
  endforeach()
endforeach()
