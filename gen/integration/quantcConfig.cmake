# find_package(quantc) gives
#
#   quantc_generate(TARGET t CONFIG quant.cfg [MODEL m.onnx | LAYERS f]
#                   [RECORD r.txt] [PREFIX quant] [OPTIONS ...])
#
# adds the generated tables to target t, with the runtime it needs. The tables
# are made again when any input changes.
#
#   quantc::quantc    the program
#   quantc::runtime   libquantrt, compiled by this project's own compiler, so
#                     that a toolchain file for a device is all it takes
cmake_minimum_required(VERSION 3.20)

get_filename_component(_quantc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET quantc::quantc)
  add_executable(quantc::quantc IMPORTED)
  set_target_properties(quantc::quantc PROPERTIES
    IMPORTED_LOCATION "${_quantc_prefix}/bin/quantc")
endif()

if(NOT TARGET quantc_runtime)
  file(GLOB _quantc_sources CONFIGURE_DEPENDS "${_quantc_prefix}/share/quantc/runtime/*.c")
  list(FILTER _quantc_sources EXCLUDE REGEX "_f32\\.c$")
  add_library(quantc_runtime STATIC EXCLUDE_FROM_ALL ${_quantc_sources})
  add_library(quantc::runtime ALIAS quantc_runtime)
  target_include_directories(quantc_runtime PUBLIC "${_quantc_prefix}/include/quantc"
                                            PRIVATE "${_quantc_prefix}/share/quantc/runtime")
  target_compile_definitions(quantc_runtime PUBLIC QRT_OFFLOAD=0)
  set_target_properties(quantc_runtime PROPERTIES C_STANDARD 99)
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(quantc_runtime PRIVATE -ffreestanding -ffunction-sections -fdata-sections)
  endif()
endif()

function(quantc_generate)
  cmake_parse_arguments(Q "" "TARGET;CONFIG;MODEL;LAYERS;RECORD;PREFIX" "OPTIONS" ${ARGN})
  if(NOT Q_TARGET OR NOT Q_CONFIG)
    message(FATAL_ERROR "quantc_generate needs TARGET and CONFIG")
  endif()
  if(Q_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "quantc_generate does not know: ${Q_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT Q_PREFIX)
    set(Q_PREFIX quant)
  endif()
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${Q_PREFIX}_quantc")
  file(MAKE_DIRECTORY "${out}")
  get_filename_component(config "${Q_CONFIG}" ABSOLUTE)
  set(command compile "${config}" --prefix ${Q_PREFIX} -o "${out}" ${Q_OPTIONS})
  set(inputs "${config}")
  foreach(kind MODEL LAYERS RECORD)
    if(Q_${kind})
      get_filename_component(file "${Q_${kind}}" ABSOLUTE)
      string(TOLOWER "--${kind}" option)
      list(APPEND command ${option} "${file}")
      list(APPEND inputs "${file}")
    endif()
  endforeach()
  add_custom_command(
    OUTPUT "${out}/${Q_PREFIX}_tables.c" "${out}/${Q_PREFIX}_tables.h"
    COMMAND quantc::quantc ${command}
    # Make compares time stamps, and quantc keeps those of equal tables.
    COMMAND "${CMAKE_COMMAND}" -E touch "${out}/${Q_PREFIX}_tables.c" "${out}/${Q_PREFIX}_tables.h"
    DEPENDS ${inputs} quantc::quantc
    DEPFILE "${out}/${Q_PREFIX}_tables.d"
    VERBATIM)
  target_sources(${Q_TARGET} PRIVATE "${out}/${Q_PREFIX}_tables.c" "${out}/${Q_PREFIX}_tables.h")
  target_include_directories(${Q_TARGET} PRIVATE "${out}")
  target_link_libraries(${Q_TARGET} PRIVATE quantc_runtime)
endfunction()
