# SPDX-License-Identifier: GPL-3.0-or-later
if(Python3_FOUND)
  add_test(NAME golden/digest_test COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/golden/digest_test.py
                                           $<TARGET_FILE:bucketlab> ${PROJECT_SOURCE_DIR})
  set_tests_properties(golden/digest_test PROPERTIES TIMEOUT 900 LABELS digest COST 60)
  add_test(NAME golden/digest_both_test COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/golden/digest_test.py
                                                $<TARGET_FILE:bucketlab> ${PROJECT_SOURCE_DIR} --both)
  set_tests_properties(golden/digest_both_test PROPERTIES TIMEOUT 900 LABELS "slow;digest")
  # Other machines: a few runs wherever their tools and libraries are, as ./setup.sh machines puts them, in one
  # build, as they are built apart from it; the whole table takes about an hour of one processor.
  set(option_quick --quick)
  foreach(size quick whole)
    set(name golden/machines_${size}_test)
    add_test(NAME ${name} COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/golden/machines.py --jobs 2
                                 ${option_${size}})
    set_tests_properties(${name} PROPERTIES PROCESSORS 2 SKIP_RETURN_CODE 77 RESOURCE_LOCK machines)
  endforeach()
  set_tests_properties(golden/machines_quick_test PROPERTIES TIMEOUT 600 LABELS "slow;repository")
  set_tests_properties(golden/machines_whole_test PROPERTIES TIMEOUT 10800 LABELS "slow;repository")
endif()
