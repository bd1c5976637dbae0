# SPDX-License-Identifier: GPL-3.0-or-later
add_library(cassandra_peek STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/cassandra/peek.c)
target_link_libraries(cassandra_peek PRIVATE bucketlab_flags PUBLIC sim_cassandra)
target_include_directories(cassandra_peek PRIVATE ${PROJECT_SOURCE_DIR}/sim/cassandra)
bucketlab_test(cassandra/token_test LINK sim_cassandra)
bucketlab_test(cassandra/value_test LINK sim_cassandra)
bucketlab_test(cassandra/sstable_test LINK sim_cassandra)
bucketlab_test(cassandra/estimated_histogram_test LINK sim_cassandra)
bucketlab_test(cassandra/ring_test LINK cassandra_peek)
# The test needs the private header, because no ring that is made from a seed ever has equal tokens.
target_include_directories(cassandra_ring_test PRIVATE ${PROJECT_SOURCE_DIR}/sim/cassandra)
bucketlab_test(cassandra/cluster_write_test LINK cassandra_peek)
bucketlab_test(cassandra/cluster_named_test LINK cassandra_peek)
bucketlab_test(cassandra/cluster_paxos_test LINK cassandra_peek)
bucketlab_test(cassandra/cluster_counter_test LINK cassandra_peek)
bucketlab_test(cassandra/cluster_latency_test LINK cassandra_peek)
bucketlab_test(cassandra/cluster_coordinate_test LINK cassandra_peek)
bucketlab_test(cassandra/cluster_place_test LINK cassandra_peek)
bucketlab_test(cassandra/cluster_rows_test LINK cassandra_peek)
bucketlab_test(cassandra/cluster_alone_test LINK cassandra_peek)
bucketlab_test(cassandra/clustering_test LINK cassandra_peek)
bucketlab_test(cassandra/lifetimes_test LINK cassandra_peek)
bucketlab_memory_test(cassandra/cluster_memory_test LINK cassandra_peek)
# These tests compare the internals of a cluster with a separate model; their main() accepts seeds.
set(paxos_model_more ${CMAKE_CURRENT_SOURCE_DIR}/cassandra/paxos_history.c)
set(answers_model_more ${paxos_model_more})
foreach(part places content operations replicas)
  list(APPEND answers_model_more ${CMAKE_CURRENT_SOURCE_DIR}/cassandra/answers_${part}.c)
endforeach()
foreach(model paxos hints answers network)
  bucketlab_test(cassandra/${model}_model_test LINK cassandra_peek m SOURCES ${${model}_model_more})
  target_include_directories(cassandra_${model}_model_test PRIVATE ${PROJECT_SOURCE_DIR}/sim/cassandra)
  add_test(NAME cassandra/${model}_model_5000 COMMAND cassandra_${model}_model_test --seeds 1..5000)
  set_tests_properties(cassandra/${model}_model_5000 PROPERTIES TIMEOUT 1800 LABELS "slow")
endforeach()
# Compares the answers of a real node with those of the mock. The tool has a fixed path, on which scripts depend.
add_executable(cassandra_replay ${CMAKE_CURRENT_SOURCE_DIR}/cassandra/cassandra_replay.c
               ${CMAKE_CURRENT_SOURCE_DIR}/cassandra/replay.c)
target_link_libraries(cassandra_replay PRIVATE bucketlab_flags cassandra_peek)
set_target_properties(cassandra_replay PROPERTIES
                      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cassandra)
add_executable(cassandra_linear_history ${CMAKE_CURRENT_SOURCE_DIR}/cassandra/linear_history.c)
target_link_libraries(cassandra_linear_history PRIVATE bucketlab_flags cassandra_peek PkgConfig::CMOCKA)
add_test(NAME cassandra/linear_histories COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/cassandra5/linear_test.py
         $<TARGET_FILE:cassandra_linear_history> ${CMAKE_CURRENT_SOURCE_DIR}/cassandra5)
add_test(NAME cassandra/million COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/cassandra5/million.py
         $<TARGET_FILE:bucketlab> ${CMAKE_CURRENT_BINARY_DIR}/cassandra_million --recorded)
set_tests_properties(cassandra/million PROPERTIES TIMEOUT 600 LABELS slow)
add_test(NAME cassandra/latency COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/cassandra5/latency_test.py
         $<TARGET_FILE:cluster_load>)
set_tests_properties(cassandra/latency PROPERTIES TIMEOUT 300)
# The program is built together with the tests that run under the sanitizers.
set_tests_properties(cassandra/linear_histories PROPERTIES LABELS sanitized)
set_property(GLOBAL APPEND PROPERTY BUCKETLAB_SANITIZED cassandra_linear_history)
add_test(NAME cassandra/replay_test COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/cassandra5/replay_test.py
         $<TARGET_FILE:cassandra_replay> ${CMAKE_CURRENT_SOURCE_DIR}/cassandra5 ${PROJECT_SOURCE_DIR}/../shared/cassandra5)
