# SPDX-License-Identifier: GPL-3.0-or-later
# What docs/findings.md says of the claims, and the scenarios that it stands on.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME facts/claims_test COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/claims_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(facts/claims_test PROPERTIES TIMEOUT 600)
