# SPDX-License-Identifier: GPL-3.0-or-later
bucketlab_test(bench/rivals_test LINK sim_kernel SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/bench/rivals.c)
