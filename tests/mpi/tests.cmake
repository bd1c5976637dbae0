# SPDX-License-Identifier: GPL-3.0-or-later
# Tests with several processes. Each test uses all processors, so no two of them run at once.
if(TARGET sim_ranks_mpi)
  # The program, and the one that guarantees too much, with MPI.
  add_executable(bucketlab_mpi ${PROJECT_SOURCE_DIR}/sim/cli/main.c)
  add_executable(bucketlab_mpi_bold ${PROJECT_SOURCE_DIR}/sim/cli/main.c ${CMAKE_CURRENT_LIST_DIR}/../cli/bold_guarantees.c)
  foreach(program bucketlab_mpi bucketlab_mpi_bold)
    target_link_libraries(${program} PRIVATE bucketlab_flags bucketlab_cli)
  endforeach()
  add_executable(mpi_ranks_probe ${CMAKE_CURRENT_LIST_DIR}/ranks_probe.c)
  target_link_libraries(mpi_ranks_probe PRIVATE bucketlab_flags sim_ranks Threads::Threads)
  set_target_properties(bucketlab_mpi bucketlab_mpi_bold mpi_ranks_probe PROPERTIES BUCKETLAB_RANKS_MPI ON)
  foreach(name ranks same killed hosts hosts_slow killed_slow)
    string(REGEX MATCH "slow" slow ${name})
    string(REPLACE "_slow" "" script ${name})
    add_test(NAME mpi/${name}_test
             COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/${script}_test.py $<TARGET_FILE:bucketlab_mpi>
                     $<TARGET_FILE:bucketlab_mpi_bold> $<TARGET_FILE:mpi_ranks_probe> $<TARGET_FILE:hasty> ${slow}
             WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    set_tests_properties(mpi/${name}_test PROPERTIES TIMEOUT 300 LABELS "mpi;${slow}" RESOURCE_LOCK mpirun)
  endforeach()
  # All golden digests, with three processes.
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/three_ranks
       "#!/bin/sh\nexec mpirun -q --allow-run-as-root --oversubscribe -n 3 ${CMAKE_CURRENT_BINARY_DIR}/bucketlab_mpi \"$@\"\n")
  file(CHMOD ${CMAKE_CURRENT_BINARY_DIR}/three_ranks PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  add_test(NAME mpi/golden_slow_test
           COMMAND ${python} ${PROJECT_SOURCE_DIR}/tests/golden/digest_test.py
                   ${CMAKE_CURRENT_BINARY_DIR}/three_ranks ${PROJECT_SOURCE_DIR})
  set_tests_properties(mpi/golden_slow_test PROPERTIES TIMEOUT 1800 LABELS "mpi;slow" RESOURCE_LOCK mpirun)
  add_custom_target(bench-ranks
    COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/speed.py $<TARGET_FILE:bucketlab_mpi>
            --json ${CMAKE_BINARY_DIR}/bench-ranks.json
    DEPENDS bucketlab_mpi USES_TERMINAL)
endif()
if(NOT BUCKETLAB_MPI)
  add_test(NAME mpi/alone_test
           COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/alone_test.py $<TARGET_FILE:bucketlab>
           WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(mpi/alone_test PROPERTIES TIMEOUT 60)
endif()
