# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(sample/chunks_test LINK sim_sample)
bucketlab_test(sample/sample_test LINK sim_sample)
bucketlab_memory_test(sample/sample_memory_test LINK sim_sample)
