# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(workload/trace_test LINK sim_workload)
target_link_libraries(workload_trace_test PRIVATE ZLIB::ZLIB)

# Allocation is made to fail under the trace's feet; it has a program of its own so that cmocka's is left alone.
bucketlab_test(workload/trace_memory_test LINK sim_workload)
target_link_libraries(workload_trace_memory_test PRIVATE ZLIB::ZLIB)
target_link_options(workload_trace_memory_test PRIVATE
                    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup)

bucketlab_test(workload/workload_test LINK sim_workload m)
bucketlab_test(workload/rates_test LINK sim_workload m)
