# SPDX-License-Identifier: GPL-3.0-or-later
# Seeded bugs, built from a copy of the sources; one build is enough. Each test first runs the campaign that must
# find nothing.
set(mutants ${python} ${CMAKE_CURRENT_SOURCE_DIR}/mutants/run.py ${PROJECT_SOURCE_DIR})
add_test(NAME mutants/apply COMMAND ${mutants} --apply)
set_tests_properties(mutants/apply PROPERTIES TIMEOUT 120 LABELS repository)
add_test(NAME mutants/quick COMMAND ${mutants} ${CMAKE_CURRENT_BINARY_DIR}/mutants_quick --quick)
set_tests_properties(mutants/quick PROPERTIES TIMEOUT 600 LABELS "slow;repository")
add_test(NAME mutants/all COMMAND ${mutants} ${CMAKE_CURRENT_BINARY_DIR}/mutants)
set_tests_properties(mutants/all PROPERTIES TIMEOUT 3600 LABELS "slow;repository")
# All protocols together: the rows of a run go to any agent, or those of a key to one agent.
foreach(routing any key)
  set(protocols bucketlab_judged fuzz ${CMAKE_CURRENT_SOURCE_DIR}/mutants/protocols.yaml --set agents.routing=${routing} --quiet)
  add_test(NAME mutants/protocols_${routing} COMMAND ${protocols} --seeds 1..40 --out mutants_protocols_${routing})
  set_tests_properties(mutants/protocols_${routing} PROPERTIES TIMEOUT 600 LABELS repository)
  add_test(NAME mutants/protocols_${routing}_campaign COMMAND ${protocols} --seeds 1..10000 --out mutants_protocols_${routing})
  set_tests_properties(mutants/protocols_${routing}_campaign PROPERTIES TIMEOUT 7200 LABELS "slow;repository")
endforeach()
# More keys than a cache holds.
set(evict bucketlab_judged fuzz ${CMAKE_CURRENT_SOURCE_DIR}/mutants/evict.yaml --quiet --out mutants_evict)
add_test(NAME mutants/evict COMMAND ${evict} --seeds 1..12)
add_test(NAME mutants/evict_campaign COMMAND ${evict} --seeds 1..2000)
set_tests_properties(mutants/evict PROPERTIES TIMEOUT 600 LABELS repository)
set_tests_properties(mutants/evict_campaign PROPERTIES TIMEOUT 7200 LABELS "slow;repository")
# Rows are routed by key, and agents crash all the time.
set(crash bucketlab_judged fuzz ${CMAKE_CURRENT_SOURCE_DIR}/mutants/crash.yaml --quiet --out mutants_crash)
add_test(NAME mutants/crash COMMAND ${crash} --seeds 1..40)
add_test(NAME mutants/crash_campaign COMMAND ${crash} --seeds 1..4000)
set_tests_properties(mutants/crash PROPERTIES TIMEOUT 600 LABELS repository)
set_tests_properties(mutants/crash_campaign PROPERTIES TIMEOUT 7200 LABELS "slow;repository")
# Short and long locks, with each counter under a lock.
set(lock bucketlab_judged fuzz ${CMAKE_CURRENT_SOURCE_DIR}/mutants/lock.yaml --quiet --out mutants_lock)
add_test(NAME mutants/lock COMMAND ${lock} --seeds 1..40)
add_test(NAME mutants/lock_campaign COMMAND ${lock} --seeds 1..4000)
set_tests_properties(mutants/lock PROPERTIES TIMEOUT 600 LABELS repository)
set_tests_properties(mutants/lock_campaign PROPERTIES TIMEOUT 7200 LABELS "slow;repository")
# Buckets with a greatest age.
set(lines bucketlab_judged fuzz ${CMAKE_CURRENT_SOURCE_DIR}/mutants/lines.yaml --quiet --out mutants_lines)
add_test(NAME mutants/lines COMMAND ${lines} --seeds 1..40)
add_test(NAME mutants/lines_campaign COMMAND ${lines} --seeds 1..20000)
set_tests_properties(mutants/lines PROPERTIES TIMEOUT 600 LABELS repository)
set_tests_properties(mutants/lines_campaign PROPERTIES TIMEOUT 7200 LABELS "slow;repository")
set(spans bucketlab_judged fuzz ${CMAKE_CURRENT_SOURCE_DIR}/mutants/spans.yaml --quiet --out mutants_spans)
add_test(NAME mutants/spans COMMAND ${spans} --seeds 1..15)
add_test(NAME mutants/spans_campaign COMMAND ${spans} --seeds 1..20000)
set_tests_properties(mutants/spans PROPERTIES TIMEOUT 600 LABELS repository)
set_tests_properties(mutants/spans_campaign PROPERTIES TIMEOUT 7200 LABELS "slow;repository")
# Paxos state is lost all the time: violations are excused if the loss explains them, and not otherwise.
set(paxos bucketlab_judged fuzz ${CMAKE_CURRENT_SOURCE_DIR}/mutants/paxos.yaml --quiet --out mutants_paxos)
add_test(NAME mutants/paxos COMMAND ${paxos} --seeds 1..40)
add_test(NAME mutants/paxos_campaign COMMAND ${paxos} --seeds 1..4000)
set_tests_properties(mutants/paxos PROPERTIES TIMEOUT 600 LABELS repository)
set_tests_properties(mutants/paxos_campaign PROPERTIES TIMEOUT 7200 LABELS "slow;repository")
# Each setting that a user can type is drawn, or the test says why not.
add_test(NAME mutants/draws COMMAND ${python_with_modules} ${CMAKE_CURRENT_SOURCE_DIR}/mutants/draws.py
         $<TARGET_FILE:bucketlab> ${PROJECT_SOURCE_DIR}/docs/scenario.md)
set_tests_properties(mutants/draws PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS repository)
# The rows that each protocol keeps during a fault, as the document states.
add_test(NAME mutants/kept COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/mutants/kept.py
         $<TARGET_FILE:bucketlab> ${PROJECT_SOURCE_DIR}/docs/oracles.md)
set_tests_properties(mutants/kept PROPERTIES TIMEOUT 300 LABELS repository)
# Violations that no guarantee covers, compared with the shares of 2,000 seeds.
set(shares ${python} ${CMAKE_CURRENT_SOURCE_DIR}/mutants/shares.py $<TARGET_FILE:bucketlab>)
add_test(NAME mutants/protocols_shares COMMAND ${shares} 1..60)
set_tests_properties(mutants/protocols_shares PROPERTIES TIMEOUT 600 LABELS repository)
add_test(NAME mutants/protocols_shares_campaign COMMAND ${shares} 1..2000)
set_tests_properties(mutants/protocols_shares_campaign PROPERTIES TIMEOUT 7200 LABELS "slow;repository")
add_test(NAME mutants/campaign COMMAND bucketlab_judged fuzz --seeds 1..20000 --quiet --out mutants_campaign)
set_tests_properties(mutants/campaign PROPERTIES TIMEOUT 1800 LABELS "slow;repository")
