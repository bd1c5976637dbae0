# SPDX-License-Identifier: GPL-3.0-or-later
add_test(NAME golden/digest_test COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/golden/digest_test.py
                                         $<TARGET_FILE:bucketlab> ${PROJECT_SOURCE_DIR})
set_tests_properties(golden/digest_test PROPERTIES TIMEOUT 900 LABELS digest)
add_test(NAME golden/digest_both_test COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/golden/digest_test.py
                                              $<TARGET_FILE:bucketlab> ${PROJECT_SOURCE_DIR} --both)
set_tests_properties(golden/digest_both_test PROPERTIES TIMEOUT 900 LABELS "slow;digest")
# Tests of other machines: a few runs, if `./setup.sh machines` has installed the tools and libraries. The programs
# are built separately, so one build runs these tests. The whole table takes about an hour of one processor.
set(option_quick --quick)
foreach(size quick whole)
  set(name golden/machines_${size}_test)
  add_test(NAME ${name} COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/golden/machines.py --jobs 2
                               ${option_${size}})
  set_tests_properties(${name} PROPERTIES PROCESSORS 2 SKIP_RETURN_CODE 77 RESOURCE_LOCK machines)
endforeach()
set_tests_properties(golden/machines_quick_test PROPERTIES TIMEOUT 600 LABELS "slow;repository")
set_tests_properties(golden/machines_whole_test PROPERTIES TIMEOUT 10800 LABELS "slow;repository")
