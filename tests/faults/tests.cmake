# SPDX-License-Identifier: GPL-3.0-or-later
# Runs every command with faults of memory, the disk and the clock. Not with a sanitizer, which replaces the allocator
# itself; the library needs glibc.
if(CMAKE_C_FLAGS MATCHES "-fsanitize" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  return()
endif()
set(faulty_words $<TARGET_FILE:bucketlab> $<TARGET_FILE:bucketlab_bold> $<TARGET_FILE:faulty>)
add_library(faulty MODULE ${CMAKE_CURRENT_LIST_DIR}/faulty.c)
target_link_libraries(faulty PRIVATE bucketlab_flags ${CMAKE_DL_LIBS})
set_target_properties(faulty PROPERTIES PREFIX "" C_EXTENSIONS ON)
function(add_faults name script)
  add_test(NAME faults/${name} COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/${script}.py ${faulty_words} ${ARGN}
           WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
if(CMAKE_C_FLAGS MATCHES "--coverage")
  set(how calls)
endif()
add_faults(test suite ${how})
set_tests_properties(faults/test PROPERTIES TIMEOUT 1800)
foreach(kind memory disk clock)
  add_faults(${kind}_slow ${kind}_test slow)
  set_tests_properties(faults/${kind}_slow PROPERTIES LABELS slow TIMEOUT 5400 COST 50)
endforeach()
add_test(NAME faults/valgrind_slow COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/valgrind_test.py
         ${faulty_words} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(faults/valgrind_slow PROPERTIES LABELS slow TIMEOUT 1800 SKIP_RETURN_CODE 77)
