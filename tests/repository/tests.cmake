# SPDX-License-Identifier: GPL-3.0-or-later
# Checks of the repository itself. They need only compile_commands.json of a build, and return 77 if a tool is missing.
# test.sh runs them in one build only, by their label.

function(bucketlab_check name)
  add_test(NAME repository/${name}
           COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/repository/${name}.py ${ARGN}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(repository/${name} PROPERTIES TIMEOUT 300 LABELS repository SKIP_RETURN_CODE 77
                       ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endfunction()

bucketlab_check(format)
bucketlab_check(cppcheck ${PROJECT_BINARY_DIR})
bucketlab_check(licences)
bucketlab_check(headers ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
bucketlab_check(arrows ${PROJECT_BINARY_DIR})
bucketlab_check(symbols ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
bucketlab_check(abi ${CMAKE_C_COMPILER})
bucketlab_check(lengths)
bucketlab_check(modules)
bucketlab_check(modules_test)
bucketlab_check(words)
bucketlab_check(words_test)
bucketlab_check(install ${PROJECT_BINARY_DIR})
set_tests_properties(repository/cppcheck PROPERTIES LABELS "slow;repository")
add_test(NAME repository/install_built COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/repository/install.py
         ${PROJECT_BINARY_DIR} --build)
set_tests_properties(repository/install_built PROPERTIES TIMEOUT 1800 LABELS "slow;repository")
add_test(NAME repository/abi_breaks COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/repository/abi.py
         ${CMAKE_C_COMPILER} --try)
set_tests_properties(repository/abi_breaks PROPERTIES LABELS "slow;repository" SKIP_RETURN_CODE 77)
bucketlab_check(packages ${CMAKE_BINARY_DIR})
set_tests_properties(repository/packages PROPERTIES TIMEOUT 5400 LABELS "slow;repository" RUN_SERIAL TRUE)
# Uses a separate build, and runs all tests except the checks of the repository.
add_test(NAME repository/coverage COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/coverage.py)
set_tests_properties(repository/coverage PROPERTIES TIMEOUT 7200 LABELS "slow;repository" SKIP_RETURN_CODE 77
                     RUN_SERIAL TRUE)
