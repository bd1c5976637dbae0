# SPDX-License-Identifier: GPL-3.0-or-later
# Every build runs each target over the inputs in its corpus, an archive; with the preset `fuzz`, libFuzzer runs it (fuzz.py).
set(FUZZING ${CMAKE_CURRENT_SOURCE_DIR}/fuzzing)
string(FIND "${CMAKE_C_FLAGS}" "-fsanitize=fuzzer" BUCKETLAB_FUZZER)
# bucketlab_fuzz_target(trace sim_workload [SEEDS further folders])
function(bucketlab_fuzz_target name library)
  cmake_parse_arguments(ARG "" "" "SEEDS" ${ARGN})
  add_executable(fuzz_${name} ${FUZZING}/${name}_target.c ${FUZZING}/fuzzing.c)
  target_link_libraries(fuzz_${name} PRIVATE bucketlab_flags ${library})
  set(corpus ${CMAKE_CURRENT_BINARY_DIR}/corpus/${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FUZZING}/corpus/${name}.tar)
  if(${FUZZING}/corpus/${name}.tar IS_NEWER_THAN ${corpus})
    file(REMOVE_RECURSE ${corpus})
    file(ARCHIVE_EXTRACT INPUT ${FUZZING}/corpus/${name}.tar DESTINATION ${corpus})
  endif()
  if(BUCKETLAB_FUZZER EQUAL -1)
    target_sources(fuzz_${name} PRIVATE ${FUZZING}/replay.c)
    add_test(NAME fuzzing/${name} COMMAND fuzz_${name} ${corpus} ${ARG_SEEDS})
  else()
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzzing/${name} COMMAND fuzz_${name} -runs=0 ${corpus} ${ARG_SEEDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY BUCKETLAB_SANITIZED fuzz_${name})
  set_tests_properties(fuzzing/${name} PROPERTIES LABELS sanitized
                       ENVIRONMENT "LSAN_OPTIONS=suppressions=${FUZZING}/leaks.supp:print_suppressions=0")
endfunction()

bucketlab_fuzz_target(scenario sim_lab SEEDS ${PROJECT_SOURCE_DIR}/scenarios)
bucketlab_fuzz_target(trace sim_workload)
bucketlab_fuzz_target(observed sim_workload)
bucketlab_fuzz_target(expect sim_lab)

# Searches for new inputs, in a separate build.
if(BUCKETLAB_FUZZER EQUAL -1)
  add_test(NAME fuzzing/campaign COMMAND ${python} ${FUZZING}/fuzz.py
           ${PROJECT_BINARY_DIR}/fuzz --build --runs 300000)
  set_tests_properties(fuzzing/campaign PROPERTIES TIMEOUT 3600 LABELS "slow;repository" SKIP_RETURN_CODE 77)
endif()
