# SPDX-License-Identifier: GPL-3.0-or-later
# A test of a module's internals may include the private headers next to the module's sources.
set(lab ${PROJECT_SOURCE_DIR}/sim/lab)
# The second, slow stream engine, which uses the lab's draws of column values.
add_library(lab_naive STATIC EXCLUDE_FROM_ALL lab/stream/naive.c lab/stream/naive_route.c lab/stream/naive_rows.c lab/stream/naive_read.c lab/stream/naive_table.c
            lab/stream/naive_metrics.c lab/stream/naive_check.c)
target_link_libraries(lab_naive PRIVATE bucketlab_flags PUBLIC sim_lab m)
target_include_directories(lab_naive PRIVATE ${lab}/measure)
bucketlab_test(lab/stream/engine_test LINK lab_naive)
# The fuzzer of answers, and of the stream engine alone.
bucketlab_test(lab/stream/answers_fuzz LINK lab_naive sim_tune ZLIB::ZLIB PkgConfig::ZSTD m Threads::Threads
               SOURCES lab/stream/answers_twin.c lab/stream/answers_judge.c lab/stream/answers_contest.c lab/stream/stream_draw.c
               lab/stream/stream_distribution.c lab/stream/stream_histogram.c lab/stream/same.c)
add_test(NAME lab/answers_fuzz_10000 COMMAND lab_answers_fuzz --seeds 1..10000 --keep-going)
add_test(NAME lab/stream_fuzz COMMAND lab_answers_fuzz --engine)
add_test(NAME lab/stream_fuzz_20000 COMMAND lab_answers_fuzz --engine --seeds 1..20000 --jobs 2 --keep-going)
set_tests_properties(lab/answers_fuzz_10000 lab/stream_fuzz_20000 PROPERTIES TIMEOUT 3600 LABELS "slow")
bucketlab_test(lab/stream/partial_test LINK sim_lab Threads::Threads SOURCES lab/stream/same.c)
bucketlab_test(lab/cluster/cluster_test LINK sim_lab m)
bucketlab_test(lab/cluster/cluster_fault_test LINK sim_lab m)
bucketlab_memory_test(lab/engine/run_memory_test LINK sim_lab)
bucketlab_memory_test(lab/team/team_test LINK sim_lab Threads::Threads SOURCES lab/stream/same.c)
bucketlab_test(lab/stream/thin_test LINK sim_lab sim_tune m)
bucketlab_test(lab/stream/read_expect_test LINK sim_lab sim_tune m)
bucketlab_test(lab/stream/gone_test LINK sim_lab m)
bucketlab_test(lab/stream/books_test LINK sim_lab m)
bucketlab_test(lab/fuzz/fuzz_test LINK sim_lab)
bucketlab_test(lab/cluster/latencies_test LINK sim_lab)
# The judges of the engine, a table of observers with them, and the program with this table: its `fuzz` finds what the
# engine or the core does wrong although no guarantee is broken.
file(GLOB judges CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/lab/judges/*.c)
add_executable(bucketlab_judged ${PROJECT_SOURCE_DIR}/sim/cli/main.c ${judges})
target_link_libraries(bucketlab_judged PRIVATE bucketlab_flags bucketlab_cli cassandra_peek sim_lab_cluster m)
target_include_directories(bucketlab_judged PRIVATE ${lab}/cluster ${lab}/cluster/idgen ${lab}/cluster/oracles
                           ${lab}/cluster/history)
bucketlab_test(lab/stream/distribution_test LINK sim_lab sim_tune m)
bucketlab_test(lab/measure/histogram_test LINK sim_lab)
bucketlab_test(lab/measure/histogram_gap_test LINK sim_lab)
bucketlab_test(lab/measure/sizes_test LINK sim_lab)
bucketlab_test(lab/result/drift_test LINK sim_lab)
bucketlab_test(lab/result/known_test LINK sim_lab)
bucketlab_test(lab/measure/slices_test LINK sim_lab)
bucketlab_test(lab/measure/metrics_test LINK sim_lab m)
bucketlab_test(lab/result/judgment_test LINK sim_lab)
bucketlab_test(lab/stream/change_test LINK sim_lab m)
bucketlab_test(lab/stream/key_test LINK sim_lab)
target_link_libraries(lab_key_test PRIVATE sim_lab_stream)
target_include_directories(lab_key_test PRIVATE ${lab}/stream)
foreach(oracle order reader count live store increments conditions excuses available sizes naive)
  bucketlab_test(lab/cluster/oracle_${oracle}_test LINK sim_lab m SOURCES lab/cluster/oracle_stand.c)
  target_link_libraries(lab_oracle_${oracle}_test PRIVATE sim_lab_cluster)
  target_include_directories(lab_oracle_${oracle}_test PRIVATE ${lab}/cluster ${lab}/cluster/idgen ${lab}/cluster/oracles)
endforeach()
target_sources(lab_oracle_naive_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/lab/cluster/oracle_naive.c)
bucketlab_test(lab/cluster/twin_test LINK sim_lab m SOURCES lab/cluster/oracle_stand.c)
target_link_libraries(lab_twin_test PRIVATE sim_lab_cluster)
target_include_directories(lab_twin_test PRIVATE ${lab}/cluster ${lab}/cluster/idgen ${lab}/cluster/oracles)
bucketlab_test(lab/cluster/idgen_test LINK sim_lab)
target_link_libraries(lab_idgen_test PRIVATE sim_lab_cluster)
target_include_directories(lab_idgen_test PRIVATE ${lab}/cluster ${lab}/cluster/idgen ${lab}/cluster/oracles)
bucketlab_test(lab/cluster/idgen_campaign_test LINK sim_lab)
add_test(NAME lab/idgen_campaign_10000 COMMAND lab_idgen_campaign_test 10000)
set_tests_properties(lab/idgen_campaign_10000 PROPERTIES TIMEOUT 1800 LABELS "slow")
bucketlab_test(lab/stream/trace_run_test LINK sim_lab m ZLIB::ZLIB Threads::Threads)

bucketlab_test(lab/scenario/row_cost_test LINK sim_lab)
bucketlab_test(lab/measure/stored_test LINK sim_lab m)
target_include_directories(lab_stored_test PRIVATE ${lab}/measure)
bucketlab_test(lab/scenario/lint_test LINK sim_lab m)
bucketlab_test(lab/team/crew_test LINK sim_lab Threads::Threads LABELS threads)
bucketlab_test(lab/scenario/sweep_test LINK sim_lab LABELS threads)
bucketlab_test(lab/scenario/quantity_test LINK sim_lab)
bucketlab_test(lab/scenario/setting_test LINK sim_lab)
bucketlab_test(lab/result/metric_test LINK sim_lab)
bucketlab_test(lab/result/expect_test LINK sim_lab)
bucketlab_test(lab/scenario/scenario_test LINK sim_lab)
bucketlab_test(lab/scenario/scenario_cluster_test LINK sim_lab)
bucketlab_test(lab/scenario/scenario_node_test LINK sim_lab)
bucketlab_test(lab/scenario/scenario_plain_test LINK sim_lab)
# The load of tests/cassandra5/latency.py on the mock. The tool has a fixed path, on which users may depend.
add_executable(cluster_load ${CMAKE_CURRENT_SOURCE_DIR}/lab/cluster/cluster_load.c)
target_link_libraries(cluster_load PRIVATE bucketlab_flags sim_lab)
set_target_properties(cluster_load PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lab)
bucketlab_test(lab/scenario/scenario_bad_test LINK sim_lab)
bucketlab_memory_test(lab/scenario/scenario_memory_test LINK sim_lab)

# Counts the partitions of traces separately: always of the small trace, and of the real ones if they exist.
foreach(trace scenarios/traces/small.csv ../shared/traces/nab_tweets_events.csv ../shared/traces/helium_lorawan.csv
              ../shared/traces/git_tigerbeetle.csv ../shared/traces/azure_llm_2023.csv)
  get_filename_component(name ${trace} NAME_WE)
  add_test(NAME lab/trace_partitions_${name}
           COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/lab/stream/trace_partitions.py
                   $<TARGET_FILE:bucketlab> ${PROJECT_SOURCE_DIR}/${trace} 3600 500)
  set_tests_properties(lab/trace_partitions_${name} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()
# Drawn values have the declared frequencies.
add_test(NAME lab/rates_test COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/lab/cluster/rates_test.py $<TARGET_FILE:bucketlab>)
set_tests_properties(lab/rates_test PROPERTIES TIMEOUT 300 LABELS repository)
# Sanitizers use additional memory, so the test runs in one build only.
add_test(NAME lab/memory_test COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/lab/stream/memory_test.py
                                      $<TARGET_FILE:bucketlab> 3e7)
set_tests_properties(lab/memory_test PROPERTIES TIMEOUT 120 LABELS repository)
add_test(NAME lab/cluster_memory_test
         COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/lab/cluster/cluster_memory_test.py
                 $<TARGET_FILE:bucketlab>)
set_tests_properties(lab/cluster_memory_test PROPERTIES TIMEOUT 120 LABELS repository)
add_test(NAME lab/trace_keys_memory_test
         COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/lab/stream/trace_keys_memory_test.py
                 $<TARGET_FILE:bucketlab>)
set_tests_properties(lab/trace_keys_memory_test PROPERTIES TIMEOUT 120 LABELS repository)
add_test(NAME lab/memory_1e9_test COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/lab/stream/memory_test.py
                                          $<TARGET_FILE:bucketlab> 1e9)
set_tests_properties(lab/memory_1e9_test PROPERTIES TIMEOUT 600 LABELS "slow;repository")
