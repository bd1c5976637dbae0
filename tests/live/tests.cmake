# SPDX-License-Identifier: GPL-3.0-or-later
# Short tests of real processes that embed the core, use a SQLite file, and are killed and stopped: three protocols.
# ./test.sh --live runs all protocols, for longer, and also uses real Cassandra nodes.
add_executable(live_host ${CMAKE_CURRENT_LIST_DIR}/host.c ${CMAKE_CURRENT_LIST_DIR}/store.c)
target_link_libraries(live_host PRIVATE bucketlab_flags bucketing PkgConfig::SQLITE)
add_test(NAME live/sqlite_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/sqlite.py $<TARGET_FILE:live_host>
         $<TARGET_FILE:bucketlab> --protocols guarded,unsafe,lease --rows 3000 --kills 6
         WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(live/sqlite_test PROPERTIES TIMEOUT 300)
# The page shows the stored figures.
add_test(NAME live/page_test COMMAND ${python} ${PROJECT_SOURCE_DIR}/docs/live.py --check)
