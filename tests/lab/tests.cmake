# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(lab/engine_test LINK sim_lab m SOURCES lab/naive.c)
bucketlab_test(lab/law_test LINK sim_lab sim_tune m)
