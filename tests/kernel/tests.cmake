# SPDX-License-Identifier: GPL-3.0-or-later
# The tests hold the kernel against libm; the kernel itself does not link it.
bucketlab_test(kernel/number_test LINK sim_kernel m)
bucketlab_test(kernel/random_test LINK sim_kernel m)
bucketlab_test(kernel/sampler_test LINK sim_kernel m)
bucketlab_test(kernel/zipf_test LINK sim_kernel m)
bucketlab_test(kernel/digest_test LINK sim_kernel)
bucketlab_test(kernel/error_test LINK sim_kernel)
bucketlab_test(kernel/time_test LINK sim_kernel)
bucketlab_test(kernel/queue_test LINK sim_kernel)
target_link_options(kernel_queue_test PRIVATE -Wl,--wrap=aligned_alloc)
bucketlab_test(kernel/mm1_test LINK sim_kernel)
add_test(NAME kernel/mm1_long_test COMMAND kernel_mm1_test long WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(kernel/mm1_long_test PROPERTIES TIMEOUT 300 LABELS slow)
