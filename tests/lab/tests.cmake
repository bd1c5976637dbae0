# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(lab/engine_test LINK sim_lab m SOURCES lab/naive.c)
bucketlab_test(lab/law_test LINK sim_lab sim_tune m)
bucketlab_test(lab/quantity_test LINK sim_lab)
bucketlab_test(lab/expect_test LINK sim_lab)
bucketlab_test(lab/scenario_test LINK sim_lab)
bucketlab_test(lab/scenario_bad_test LINK sim_lab)
bucketlab_test(lab/scenario_memory_test LINK sim_lab)
target_link_options(lab_scenario_memory_test PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc)
