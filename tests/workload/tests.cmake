# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(workload/trace_test LINK sim_workload)
target_link_libraries(workload_trace_test PRIVATE ZLIB::ZLIB)

bucketlab_test(workload/trace_format_test LINK sim_workload)
target_link_libraries(workload_trace_format_test PRIVATE ZLIB::ZLIB PkgConfig::ZSTD)
target_include_directories(workload_trace_format_test PRIVATE ${PROJECT_SOURCE_DIR}/sim/workload)

bucketlab_test(workload/trace_lines_test LINK sim_workload)

bucketlab_memory_test(workload/trace_memory_test LINK sim_workload ZLIB::ZLIB)

bucketlab_test(workload/workload_test LINK sim_workload m)
bucketlab_test(workload/rates_test LINK sim_workload m)
bucketlab_test(workload/late_test LINK sim_workload m)
bucketlab_test(workload/observed_test LINK sim_workload)
target_link_libraries(workload_observed_test PRIVATE ZLIB::ZLIB)
bucketlab_memory_test(workload/observed_memory_test LINK sim_workload ZLIB::ZLIB)
