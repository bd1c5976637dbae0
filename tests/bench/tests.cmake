# SPDX-License-Identifier: GPL-3.0-or-later
add_test(NAME bench/bench_test
         COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/bench/bench_test.py
                 $<TARGET_FILE:bucketlab_bench> $<TARGET_FILE:bucketlab>)
add_test(NAME bench/page_test COMMAND ${python} ${PROJECT_SOURCE_DIR}/docs/performance.py --check
                                      --build ${PROJECT_BINARY_DIR})
# Ignores leaks in the drawing libraries.
set_tests_properties(bench/bench_test bench/page_test PROPERTIES TIMEOUT 300
                     ENVIRONMENT "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/cli/leaks.supp:print_suppressions=0")
add_test(NAME bench/plan_test COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/bench/plan.py $<TARGET_FILE:bucketlab>
                                      --keys 400 --days 23)
set_tests_properties(bench/plan_test PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
