# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(explore/explore_test LINK sim_explore)
# The small worlds of docs/proof.md in ./test.sh, all of them in the slow test; and the faults that `explore` finds alone.
add_test(NAME explore/worlds COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/worlds.py $<TARGET_FILE:bucketlab>)
add_test(NAME explore/worlds_all COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/worlds.py $<TARGET_FILE:bucketlab> --all)
set_tests_properties(explore/worlds PROPERTIES TIMEOUT 300)
set_tests_properties(explore/worlds_all PROPERTIES TIMEOUT 3600 LABELS slow)
