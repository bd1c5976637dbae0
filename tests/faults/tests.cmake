# SPDX-License-Identifier: GPL-3.0-or-later
# Every command, with memory, the disk and the clock failing on its way. Where a sanitizer has the allocator for
# itself nothing can be put in front of it, and the library needs glibc.
if(CMAKE_C_FLAGS MATCHES "-fsanitize" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  return()
endif()
set(faulty_words $<TARGET_FILE:bucketlab> $<TARGET_FILE:bucketlab_bold> $<TARGET_FILE:faulty>)
add_library(faulty MODULE ${CMAKE_CURRENT_LIST_DIR}/faulty.c)
target_link_libraries(faulty PRIVATE bucketlab_flags ${CMAKE_DL_LIBS})
set_target_properties(faulty PROPERTIES PREFIX "" C_EXTENSIONS ON)
foreach(kind memory disk clock)
  foreach(speed test slow)
    string(REGEX MATCH "slow" slow ${speed})
    set(how ${slow})
    if(NOT slow AND CMAKE_C_FLAGS MATCHES "--coverage")
      set(how calls)
    endif()
    add_test(NAME faults/${kind}_${speed} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${kind}_test.py
             ${faulty_words} ${how} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    set_tests_properties(faults/${kind}_${speed} PROPERTIES LABELS "${slow}" TIMEOUT 1800 COST 50)
  endforeach()
  set_tests_properties(faults/${kind}_slow PROPERTIES TIMEOUT 5400)
endforeach()
add_test(NAME faults/valgrind_slow COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/valgrind_test.py
         ${faulty_words} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(faults/valgrind_slow PROPERTIES LABELS slow TIMEOUT 1800 SKIP_RETURN_CODE 77)
