# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(tune/odds_test LINK sim_tune)
bucketlab_test(tune/lead_test LINK sim_tune)
bucketlab_test(tune/sample_test LINK sim_tune m)
bucketlab_test(tune/weighted_test LINK sim_tune)
bucketlab_test(tune/search_test LINK sim_tune)
bucketlab_test(tune/race_test LINK sim_tune m)
bucketlab_test(tune/contest_test LINK sim_tune m)
bucketlab_memory_test(tune/contest_memory_test LINK sim_tune m)
