# SPDX-License-Identifier: GPL-3.0-or-later
function(bucketlab_store_test name)
  bucketlab_test(store/${name} LINK sim_store PkgConfig::SQLITE)
  target_include_directories(store_${name} PRIVATE ${PROJECT_SOURCE_DIR}/sim/store)
endfunction()

bucketlab_store_test(store_test)
bucketlab_store_test(refusal_test)
bucketlab_store_test(fault_test)
bucketlab_store_test(document_test)

# Allocation is made to fail under the store's feet; it has a program of its own so that cmocka's is left alone.
bucketlab_store_test(memory_test)
target_link_options(store_memory_test PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
