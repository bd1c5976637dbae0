# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of the whole program: Python scripts (standard library only) that get the program's path.
foreach(name usage refusals prices odds tune_scenario tune_exhaustive keys init run table store stop hostile cluster oracles findings cql warnings meeting migration tune diff why judge origin)
  add_test(NAME cli/${name}_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py
           $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(cli/${name}_test PROPERTIES TIMEOUT 300)
endforeach()
# Each command once, under the sanitizers.
add_test(NAME cli/commands_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/commands_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(cli/commands_test PROPERTIES TIMEOUT 300 LABELS sanitized)
set_property(GLOBAL APPEND PROPERTY BUCKETLAB_SANITIZED bucketlab)
add_test(NAME cli/tune_exhaustive_slow_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/tune_exhaustive_test.py
         $<TARGET_FILE:bucketlab> slow WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(cli/tune_exhaustive_slow_test PROPERTIES TIMEOUT 1800 LABELS slow)
add_test(NAME cli/newcomer_slow_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/newcomer_test.py
         $<TARGET_FILE:bucketlab> slow WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(cli/newcomer_slow_test PROPERTIES TIMEOUT 3000 LABELS slow)
# Tests of input and output files.
foreach(name import export stress page outputs inputs sample trace newcomer)
  add_test(NAME cli/${name}_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py
           $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(cli/${name}_test PROPERTIES TIMEOUT 300)
endforeach()
# A host in Python loads the core, which fails if the core needs a sanitizer's library.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME cli/emit_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/emit_test.py
           $<TARGET_FILE:bucketlab> $<TARGET_FILE:bucketing_shared> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(cli/emit_test PROPERTIES TIMEOUT 300)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  set_tests_properties(cli/page_test PROPERTIES ENVIRONMENT "BUCKETLAB_TIMED=1")
endif()

# The same program with a table that guarantees too much, so that `fuzz` finds violations.
add_executable(bucketlab_bold ${PROJECT_SOURCE_DIR}/sim/cli/main.c ${CMAKE_CURRENT_LIST_DIR}/bold_guarantees.c)
target_link_libraries(bucketlab_bold PRIVATE bucketlab_flags bucketlab_cli)
add_test(NAME cli/fuzz_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/fuzz_test.py
         $<TARGET_FILE:bucketlab> $<TARGET_FILE:bucketlab_bold> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME cli/check_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/check_test.py
         $<TARGET_FILE:bucketlab> $<TARGET_FILE:bucketlab_bold> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME cli/answers_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/answers_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME cli/watch_test COMMAND ${python_with_modules} ${CMAKE_CURRENT_LIST_DIR}/watch_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME cli/workflow_test COMMAND ${python_with_modules} ${CMAKE_CURRENT_LIST_DIR}/workflow_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME cli/node_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/node_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME cli/regress_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/regress_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(cli/fuzz_test cli/check_test cli/watch_test cli/workflow_test cli/regress_test PROPERTIES TIMEOUT 300)

add_test(NAME cli/sweep_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/sweep_test.py
         $<TARGET_FILE:bucketlab> WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME cli/sweep_slow COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/sweep_test.py
         $<TARGET_FILE:bucketlab> slow WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(cli/sweep_test PROPERTIES TIMEOUT 600)
set_tests_properties(cli/sweep_slow PROPERTIES TIMEOUT 900 LABELS slow)

# A library that makes time pass faster, to be preloaded, which sanitizers do not allow.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_library(hasty MODULE ${CMAKE_CURRENT_LIST_DIR}/hasty.c)
  target_link_libraries(hasty PRIVATE bucketlab_flags)
  set_target_properties(hasty PROPERTIES PREFIX "" C_EXTENSIONS ON)
  set(hasty $<TARGET_FILE:hasty>)
endif()
add_test(NAME cli/resume_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/resume_test.py
         $<TARGET_FILE:bucketlab> ${hasty} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(cli/resume_test PROPERTIES TIMEOUT 900)

# Files that the build makes from the tables of commands and options.
foreach(name manual completion)
  add_test(NAME cli/${name}_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py
           $<TARGET_FILE:bucketlab> ${CMAKE_BINARY_DIR}/share WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(cli/${name}_test PROPERTIES TIMEOUT 300)
endforeach()

# Unit tests of output: the line of progress with a simulated clock, the formats of numbers and texts, and the sentences
# of an answer.
foreach(name progress texts sentences stress_distribution)
  add_executable(cli_${name}_test ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(cli_${name}_test PRIVATE bucketlab_flags bucketlab_cli sim_cli_show sim_cli_commands_cql
                                                 PkgConfig::CMOCKA)
  target_include_directories(cli_${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/sim/cli/commands/cql)
  add_test(NAME cli/${name}_test COMMAND cli_${name}_test)
  set_tests_properties(cli/${name}_test PROPERTIES TIMEOUT 60)
endforeach()
# The line of progress on a terminal.
if(NOT TARGET hasty)
  return()
endif()
add_test(NAME cli/bar_test COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/bar_test.py
         $<TARGET_FILE:bucketlab> $<TARGET_FILE:bucketlab_bold> $<TARGET_FILE:hasty>
         WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(cli/bar_test PROPERTIES TIMEOUT 300 LABELS screen)
