# SPDX-License-Identifier: GPL-3.0-or-later
add_test(NAME ids/ids_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/ids_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(ids/ids_test PROPERTIES TIMEOUT 120)
