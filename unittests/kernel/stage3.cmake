# SPDX-License-Identifier: Apache-2.0
# Compares the phases of the core passes in the build with those that vyre-kernelc compiles with the passes of the build.  Those in the build
# were compiled with the passes of the first stage.  Usage: cmake -DKERNELC=FILE -DSOURCES=DIR -DMADE=DIR -P stage3.cmake
foreach(name canon cf cid dce limits pm shash simplify)
  execute_process(COMMAND ${KERNELC} -emit=plugin ${SOURCES}/${name}/${name}.vir OUTPUT_VARIABLE text RESULT_VARIABLE code)
  file(READ ${MADE}/vyre_pass_${name}-${name}-phases.c made)
  if(NOT code EQUAL 0 OR NOT text STREQUAL made)
    message(FATAL_ERROR "${name}: vyre-kernelc with the passes of the build compiles other phases than with those of the first stage")
  endif()
endforeach()
