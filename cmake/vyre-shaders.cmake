# SPDX-License-Identifier: Apache-2.0
# vyre_optimize_shaders(TARGET name SHADERS files... [PASSES pipeline] [INCLUDES folders...] [OPTIONS options of vyre-passmgr...]
#   [FOLDER folder]): optimizes each shader into
# FOLDER/STEM.spv, or NAME.vert.spv of other stages than compute, when it, a file that it includes, or vyre has changed.  TARGET is made, or depends on them if it is there; name_OUTPUTS lists them.
function(vyre_optimize_shaders)
  cmake_parse_arguments(arg "" "TARGET;PASSES;FOLDER" "SHADERS;INCLUDES;OPTIONS" ${ARGN})
  if(NOT arg_TARGET OR NOT arg_SHADERS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "vyre_optimize_shaders takes TARGET name SHADERS files... [PASSES pipeline] [INCLUDES folders...] [OPTIONS options...] [FOLDER folder], not: ${ARGN}")
  endif()
  if(NOT arg_PASSES)
    set(arg_PASSES default<O2>)
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  file(MAKE_DIRECTORY ${arg_FOLDER})
  set(includes) # whole paths: those in a dependency file are as they are given
  foreach(folder ${arg_INCLUDES})
    get_filename_component(path ${folder} ABSOLUTE)
    list(APPEND includes -I${path})
  endforeach()
  set(outputs)
  foreach(shader ${arg_SHADERS})
    get_filename_component(path ${shader} ABSOLUTE)
    get_filename_component(stem ${shader} NAME_WLE)
    if(shader MATCHES "[.](vert|tesc|tese|geom|frag|task|mesh|rgen|rint|rahit|rchit|rmiss|rcall)$") # as -outdir names them
      get_filename_component(stem ${shader} NAME)
    endif()
    set(output ${arg_FOLDER}/${stem}.spv)
    if(output IN_LIST outputs)
      message(FATAL_ERROR "vyre_optimize_shaders: two shaders become ${output}: give one of them another FOLDER")
    endif()
    add_custom_command(OUTPUT ${output} DEPFILE ${output}.d DEPENDS ${path} vyre::passmgr
      COMMAND vyre::passmgr -passes=${arg_PASSES} ${includes} ${arg_OPTIONS} -MD ${path} -o ${output}
      COMMENT "Optimizing ${stem}.spv" VERBATIM)
    list(APPEND outputs ${output})
  endforeach()
  if(TARGET ${arg_TARGET})
    target_sources(${arg_TARGET} PRIVATE ${outputs})
  else()
    add_custom_target(${arg_TARGET} ALL DEPENDS ${outputs})
  endif()
  set(${arg_TARGET}_OUTPUTS ${outputs} PARENT_SCOPE)
endfunction()
