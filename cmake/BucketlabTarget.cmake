# SPDX-License-Identifier: GPL-3.0-or-later
# bucketlab_library(NAME [LINK ...] [PRIVATE ...]) makes one library of one folder: of every .c below the folder (in
# core/: below src/). It publishes the include/ folder, so only targets that link the library can include its headers.

add_library(bucketlab_flags INTERFACE)
target_compile_options(bucketlab_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-qual -Wwrite-strings
  -Wundef -Wdouble-promotion -Wconversion -Wno-sign-conversion
  # Binary64 as in IEEE 754: a*b+c is rounded twice on every machine.
  -ffp-contract=off)
# Signed overflow is a bug, at which tests under UBSan stop. They could not if it was defined to wrap.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=[a-z,]*undefined")
  target_compile_options(bucketlab_flags INTERFACE -fno-strict-overflow)
endif()
if(BUCKETLAB_WERROR)
  target_compile_options(bucketlab_flags INTERFACE -Werror)
endif()

# For a folder whose programs need not be fast: link-time optimisation of each would take minutes.
macro(bucketlab_without_lto)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
  if(BUCKETLAB_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_link_options(-fno-lto)
  endif()
endmacro()

# For a folder whose code takes little of a run's time: the preset `test` compiles it with less optimisation.
macro(bucketlab_cold)
  add_compile_options(${BUCKETLAB_COLD_FLAGS})
endmacro()

function(bucketlab_library name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR})
  if(IS_DIRECTORY ${folder}/src)
    string(APPEND folder /src)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.c)
  if(NOT sources)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c "extern int ${name}_empty;\n")
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c)
  endif()
  add_library(${name} STATIC ${sources})
  add_library(bucketlab::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:bucketlab_flags> ${ARG_PRIVATE})
endfunction()

# bucketlab_module(FAMILY NAME [LINK ...] [PRIVATE ...]) makes the library FAMILY_NAME of the subfolder NAME, for a
# folder that is too large for one library. A sibling is linked by its short name and must be defined earlier, so that
# there are no cycles.
function(bucketlab_module family name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE" ${ARGN})
  foreach(kind LINK PRIVATE)
    set(${kind}_targets "")
    foreach(target IN LISTS ARG_${kind})
      if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${target})
        if(NOT TARGET ${family}_${target})
          message(FATAL_ERROR "${family}/${name} links ${target}, which comes after it: turn the arrow round")
        endif()
        set(target ${family}_${target})
      endif()
      list(APPEND ${kind}_targets ${target})
    endforeach()
  endforeach()
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.c)
  add_library(${family}_${name} STATIC ${sources})
  target_include_directories(${family}_${name} PUBLIC ${folder}/include)
  target_link_libraries(${family}_${name} PUBLIC ${LINK_targets} PRIVATE bucketlab_flags ${PRIVATE_targets})
endfunction()

# bucketlab_umbrella(FAMILY NAME...) makes the target FAMILY, which links these modules and publishes only their
# headers.
function(bucketlab_umbrella family)
  add_library(${family} INTERFACE)
  add_library(bucketlab::${family} ALIAS ${family})
  list(TRANSFORM ARGN PREPEND ${family}_)
  target_link_libraries(${family} INTERFACE ${ARGN})
endfunction()

# bucketlab_embed(VARIABLE NAME HEADER FILE...) makes a source file that defines the array NAME, declared in HEADER,
# with the bytes of the files. VARIABLE is set to its path.
function(bucketlab_embed variable name header)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  list(JOIN ARGN "|" inputs)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${inputs}" -DNAME=${name} -DHEADER=${header} -DOUTPUT=${output} -P ${script}
    DEPENDS ${ARGN} ${script} VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
