# SPDX-License-Identifier: GPL-3.0-or-later
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME golden/digest_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/digest_test.py
                                           $<TARGET_FILE:bucketlab> ${PROJECT_SOURCE_DIR})
  set_tests_properties(golden/digest_test PROPERTIES TIMEOUT 900 LABELS digest)
endif()
