# SPDX-License-Identifier: GPL-3.0-or-later
# Tests the HTML page in a headless Chromium. It is a single test, so that Chromium is started only once.
add_test(NAME page/page_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/suite.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(page/page_test PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 LABELS screen)
