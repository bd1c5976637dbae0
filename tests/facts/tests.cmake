# SPDX-License-Identifier: GPL-3.0-or-later
# Checks the claims in docs/findings.md, the costs in README.md, and the scenarios from which they are computed.
foreach(name claims costs tutorial charts)
  add_test(NAME facts/${name}_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py
           $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  # Ignores leaks in the drawing libraries.
  set_tests_properties(facts/${name}_test PROPERTIES TIMEOUT 600
                       ENVIRONMENT "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/cli/leaks.supp:print_suppressions=0")
endforeach()
