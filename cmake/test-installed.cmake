# SPDX-License-Identifier: Apache-2.0
# The `installed` test: installs into a prefix in the build tree, then stands outside.  The example plugin is configured, built and
# loaded from there, a program is compiled with what vyre.pc says, and nothing may point back into the build tree.
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
foreach(path bin/vyre-passmgr bin/vyre-run ${LIBDIR}/libvyre.so include/vyre/plugin.h include/vyre/ops.def lib/vyre/passes/dce.so
    ${LIBDIR}/cmake/vyre/vyreConfig.cmake ${LIBDIR}/pkgconfig/vyre.pc ${LIBDIR}/vyre-glsl.so)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "not installed: ${path}")
  endif()
endforeach()

run(${prefix}/bin/vyre-passmgr -version)
expect_match("^vyre-passmgr ${VERSION} ")
run(${prefix}/bin/vyre-passmgr -list-passes)
expect_match("\ndce ")

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

# What is exported and imported.
run(nm -D --defined-only ${prefix}/${LIBDIR}/libvyre.so)
string(REGEX MATCHALL "[^\n]+" lines "${output}")
foreach(line ${lines})
  if(NOT line MATCHES " (vyre_|VYRE_0)" AND NOT line MATCHES " (__asan|__ubsan|__sanitizer|__odr)")
    message(FATAL_ERROR "libvyre exports: ${line}")
  endif()
endforeach()
file(GLOB passes ${prefix}/lib/vyre/passes/*.so)
foreach(pass ${passes})
  run(nm -D --undefined-only ${pass})
  if(output MATCHES "vyre_")
    message(FATAL_ERROR "${pass} imports of vyre:\n${output}")
  endif()
endforeach()

# Each header stands alone, in C and C++.
file(GLOB headers RELATIVE ${prefix}/include ${prefix}/include/vyre/*.h)
foreach(header ${headers})
  file(WRITE ${work}/header.c "#include <${header}>\n")
  run(${C_COMPILER} -std=c17 -Wall -Wextra -Wpedantic -Werror -I${prefix}/include -fsyntax-only ${work}/header.c)
  run(${C_COMPILER} -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I${prefix}/include -fsyntax-only ${work}/header.c)
endforeach()

# The library, by pkg-config.
vyre_need(pkg-config find_program pkg_config pkg-config)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(${pkg_config} --cflags --libs vyre)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
set(sanitize)
if(SANITIZE)
  set(sanitize -fsanitize=${SANITIZE})
endif()
run(${C_COMPILER} -std=c17 -Wall -Wextra -Werror ${sanitize} ${SOURCE}/examples/embed/embed.c ${flags} -Wl,-rpath,${prefix}/${LIBDIR}
  -o ${work}/embed)
run(${work}/embed)
expect_match("program @hello")
