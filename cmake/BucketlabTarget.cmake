# SPDX-License-Identifier: GPL-3.0-or-later
# One folder, one library: bucketlab_library(NAME [LINK ...] [PRIVATE ...]) takes every .c below the folder and
# publishes its include/ folder, so that a header can be included only by those that link the library.

add_library(bucketlab_flags INTERFACE)
target_compile_options(bucketlab_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-qual -Wwrite-strings
  -Wundef -Wdouble-promotion -Wconversion -Wno-sign-conversion
  # Binary64 as IEEE 754 has it: a*b+c is two roundings on every machine.
  -ffp-contract=off)
# Signed overflow is an error of ours: tests under UBSan stop at it, which they cannot where it is defined to wrap.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=[a-z,]*undefined")
  target_compile_options(bucketlab_flags INTERFACE -fno-strict-overflow)
endif()
if(BUCKETLAB_WERROR)
  target_compile_options(bucketlab_flags INTERFACE -Werror)
endif()

function(bucketlab_library name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  if(NOT sources)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c "extern int ${name}_empty;\n")
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c)
  endif()
  add_library(${name} STATIC ${sources})
  add_library(bucketlab::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE bucketlab_flags ${ARG_PRIVATE})
endfunction()

# bucketlab_embed(VARIABLE NAME HEADER FILE...): a source file, named in VARIABLE, with the bytes of the files as
# the array NAME that HEADER declares.
function(bucketlab_embed variable name header)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  list(JOIN ARGN "|" inputs)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${inputs}" -DNAME=${name} -DHEADER=${header} -DOUTPUT=${output} -P ${script}
    DEPENDS ${ARGN} ${script} VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
