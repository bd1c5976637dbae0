# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(cassandra/token_test LINK sim_cassandra)
bucketlab_test(cassandra/value_test LINK sim_cassandra)
bucketlab_test(cassandra/ring_test LINK sim_cassandra)
# The order of draws is private; no ring that a seed makes would ever meet a token twice.
target_include_directories(cassandra_ring_test PRIVATE ${PROJECT_SOURCE_DIR}/sim/cassandra)
bucketlab_test(cassandra/memory_test LINK sim_cassandra)
target_link_options(cassandra_memory_test PRIVATE -Wl,--wrap=malloc,--wrap=calloc)
bucketlab_test(cassandra/cluster_write_test LINK sim_cassandra)
bucketlab_test(cassandra/cluster_linear_test LINK sim_cassandra)
bucketlab_test(cassandra/cluster_paxos_test LINK sim_cassandra)
