# SPDX-License-Identifier: Apache-2.0
# Tests, and the part of them that scripts/test.sh runs.
#
# `scripts/test.sh --all` runs every test in release, those that CMakePresets.json does not exclude under the address and undefined
# behaviour sanitizers, and those that have threads under the thread sanitizer.  Without --all:
#   - the build with sanitizers runs the tests with the label `sanitized` (VYRE_SANITIZED_TESTS): those that read input of users or
#     handle memory by hand;
#   - the release build runs the tests without a label.  It leaves out the unit tests that the other build runs (`sanitized`),
#     and tests that take minutes (`long`, VYRE_LONG_TESTS).

option(VYRE_ALL_TESTS "build the programs of all tests, not only of those that scripts/test.sh runs" ON)

# Only this limit ends a test that hangs: no test depends on the clock otherwise, because a machine may be very slow.
# Each test of lit, and each command of libFuzzer, has a quarter of it.
set(VYRE_TEST_LIMIT 3600 CACHE STRING "seconds after which a test counts as hanging")

# Most of the time of many tests is the compilation of kernels, which are the same in each build: the presets share one folder.
set(VYRE_TEST_CACHE ${PROJECT_BINARY_DIR}/cache CACHE PATH "where tests keep what drivers compiled")

# Regular expressions for whole names.  vyre_check_test_lists refuses an expression that matches no test.
set(VYRE_LONG_TESTS
  windows arm64 release gpu-bundle docs-commands installed packages missing-tools mutants  # builds of their own
  lit-vulkan lit-cuda lit-phases debug-values rewritten page-in-browser                    # thousands of processes
  queue-losses queue-slurm queue-mpirun                                                    # thousands of jobs, and a scheduler
  fuzz-passes-[123] folds-ints8 folds-laws folds-moves unit-folds-checker rules-hold       # more programs, all values of 8 bits, proofs by z3
  unit-.*-ptxas ptxas-examples                                                             # another project's compiler
  unit-vulkan-failure-discrete unit-vulkan-sequence-discrete unit-conformance-vulkan-discrete
  unit-kernel-device-cuda unit-kernel-fit)
set(VYRE_SANITIZED_TESTS
  fuzz-text fuzz-spirv fuzz-vir0 fuzz-pipeline fuzz-plugin fuzz-rules fuzz-foz fuzz-table fuzz-ptx fuzz-megakernel fuzz-passes-0
  unit-ir-.* unit-text-.* unit-vir0-.* unit-verify-.* unit-passmgr-.* unit-spirv-import-.* unit-interp-.* unit-targets-.*
  unit-split unit-rules-parse unit-threads unit-memory
  unit-cuda-driver-.* unit-mega-protocol unit-mega-pump unit-mega-host-cpu unit-mega-recover-cpu unit-c-options)
set(VYRE_COUNTED_TESTS unit-verify-steps unit-spirv-import-growth unit-ir-room) # count steps, or need the speed of release
# No test of these folders runs under sanitizers without --all.
set(VYRE_NOT_SANITIZED)
if(VYRE_SANITIZE AND NOT VYRE_ALL_TESTS)
  set(VYRE_NOT_SANITIZED EXCLUDE_FROM_ALL)
endif()
foreach(list LONG SANITIZED COUNTED)
  list(JOIN VYRE_${list}_TESTS "|" VYRE_${list}_NAMES)
endforeach()

if(VYRE_TESTS OR VYRE_SANITIZE)
  vyre_need(mold find_program VYRE_MOLD mold)
endif()

# Sets `label` to the label of the test, or to nothing.
function(vyre_label_test name label)
  set(${label} "" PARENT_SCOPE)
  if(name MATCHES "^(${VYRE_LONG_NAMES})$")
    set(${label} long PARENT_SCOPE)
  elseif(name MATCHES "^(${VYRE_SANITIZED_NAMES})$" AND NOT name MATCHES "^(${VYRE_COUNTED_NAMES})$" AND (VYRE_SANITIZE OR name MATCHES "^unit-"))
    set(${label} sanitized PARENT_SCOPE)
  endif()
endfunction()

# The longest tests begin first, so that none runs alone at the end: about the seconds that they take.
set(VYRE_TEST_COSTS windows 300 lit 200 lit-vulkan 200 lit-cuda 200 unit-kernel-device 100 unit-kernel-device-cuda 90 rules-hold 60 docs-commands 50 unit-c 40
  folds-ints8 35 unit-spirv-export-ops 35 unit-vulkan-failure 25 unit-vulkan-failure-discrete 25 unit-glsl-ops 20 installed 20 lit-phases 20
  bench-shapes 15 unit-kernel-phases 20 unit-kernel-fit 20 unit-folds-checker 20 fuzz-passes-0 20 fuzz-text 20 unit-vir0-damage 20)

# vyre_add_test(NAME COMMAND...): a test under ctest.
# Sanitizers cannot check drivers and the validation layer, but make them slow, because these share the allocator.  So in sanitized
# builds lavapipe has no threads of its own, and unit tests run without the validation layer.  The release build uses both.
function(vyre_add_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_property(GLOBAL APPEND PROPERTY VYRE_TEST_NAMES ${name})
  math(EXPR part "${VYRE_TEST_LIMIT} / 4")
  set(environment VYRE_COMMAND_LIMIT=${part} XDG_CACHE_HOME=${VYRE_TEST_CACHE} MESA_SHADER_CACHE_DIR=${VYRE_TEST_CACHE})
  if(VYRE_SANITIZE AND name MATCHES "^unit-")
    list(APPEND environment VYRE_NO_VALIDATION=1)
  endif()
  if(VYRE_SANITIZE MATCHES "address") # its own exit code is 1, as that of an expected error
    list(APPEND environment LP_NUM_THREADS=0 ASAN_OPTIONS=exitcode=99)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${VYRE_TEST_LIMIT} ENVIRONMENT "${environment}")
  vyre_label_test(${name} label)
  set_tests_properties(${name} PROPERTIES LABELS "${label}")
  list(FIND VYRE_TEST_COSTS ${name} at)
  if(NOT at EQUAL -1)
    math(EXPR at "${at} + 1")
    list(GET VYRE_TEST_COSTS ${at} cost)
    set_tests_properties(${name} PROPERTIES COST ${cost})
  endif()
endfunction()

# vyre_add_unittest(NAME SOURCES ... LIBRARIES ...): a cmocka program under ctest; it links parts, not libvyre, so that it sees internals.
# mold links them, because there are two hundred: ld takes seconds for each with sanitizers, and lld twice as long as mold.  Without
# separate-code, mold 1.10 sometimes writes a RELRO segment that begins before its page, and such a program does not start.
function(vyre_add_unittest name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE vyre_options ${arg_LIBRARIES} vyre_test cmocka m)
  if(NOT CMAKE_CROSSCOMPILING)
    target_link_options(${name} PRIVATE -fuse-ld=mold -Wl,-z,separate-code)
    set_target_properties(${name} PROPERTIES VYRE_MOLD ON)
  endif()
  target_compile_options(${name} PRIVATE -O0) # the time to optimize a test is longer than the test
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  vyre_add_test(${name} ${name})
  vyre_label_test(${name} label)
  if(NOT VYRE_ALL_TESTS AND (VYRE_SANITIZE AND NOT label STREQUAL sanitized OR NOT VYRE_SANITIZE AND label))
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# Refuses a name in the lists above or in CMakePresets.json that no test has: a renamed test would otherwise lose its label.
# Tests that need -DVYRE_FUZZ=ON, ptxas or a git repository may be absent, and builds with sanitizers lack tests with builds of their own.
function(vyre_check_test_lists)
  get_property(tests GLOBAL PROPERTY VYRE_TEST_NAMES)
  file(READ ${PROJECT_SOURCE_DIR}/CMakePresets.json presets)
  string(REGEX MATCHALL "(unit|lit)-[a-z0-9-]+" named "${presets}")
  foreach(name ${VYRE_LONG_TESTS} ${VYRE_SANITIZED_TESTS} ${VYRE_COUNTED_TESTS} ${named})
    set(found ${tests})
    list(FILTER found INCLUDE REGEX "^${name}$")
    if(NOT found AND NOT name MATCHES "^fuzz-|ptxas|^(mutants|release|arm64)$")
      message(FATAL_ERROR "${name} of cmake/vyre-tests.cmake or CMakePresets.json names no test")
    endif()
  endforeach()
endfunction()
