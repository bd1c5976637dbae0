# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(explore/explore_test LINK sim_explore)
