/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of one cluster: each begins with the usual configuration, changes it, and starts the cluster,
 * which is stopped after it. */
#ifndef TESTS_CASSANDRA_FIXTURE_H
#define TESTS_CASSANDRA_FIXTURE_H

#include "cluster_harness.h"

static struct harness h;
static struct cass_cluster_config config;

static int harness_setup(void **state)
{
    (void)state;
    config = harness_config();
    return 0;
}

static inline int harness_setup_started(void **state)
{
    harness_setup(state);
    harness_start(&h, &config);
    return 0;
}

static int harness_teardown(void **state)
{
    (void)state;
    harness_stop(&h);
    return 0;
}

#define harness_test(test) cmocka_unit_test_setup_teardown(test, harness_setup, harness_teardown)
/* The configuration is the usual one. */
#define started_test(test) cmocka_unit_test_setup_teardown(test, harness_setup_started, harness_teardown)

#endif
