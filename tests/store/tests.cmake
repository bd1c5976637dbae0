# SPDX-License-Identifier: GPL-3.0-or-later
function(bucketlab_store_test name)
  bucketlab_test(store/${name} LINK sim_store PkgConfig::SQLITE)
  target_include_directories(store_${name} PRIVATE ${PROJECT_SOURCE_DIR}/sim/store)
endfunction()

bucketlab_store_test(store_test)
bucketlab_store_test(refusal_test)
bucketlab_store_test(fault_test)
bucketlab_store_test(document_test)
bucketlab_store_test(seeds_test)
bucketlab_store_test(unfinished_test)
bucketlab_store_test(sweep_test)
bucketlab_store_test(baseline_test)
bucketlab_store_test(merge_test)

bucketlab_memory_test(store/memory_test LINK sim_store PkgConfig::SQLITE)
target_include_directories(store_memory_test PRIVATE ${PROJECT_SOURCE_DIR}/sim/store)
