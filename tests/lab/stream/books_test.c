/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run whose figures do not account for every row fails. Method: the results of runs of both engines,
 * all of which balance, lose a row in one of their figures; each loss must be noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../scenario_of.h"
#include "lab/result.h"
#include "lab/run.h"

#define WORKLOAD "duration: 1h\nkeys: {count: 5}\narrivals: {rate: 1/s}\n"
#define TWO      "strategies:\n  - time: {window: 10m}\n  - hash: {buckets: 4}\n"
#define AGENTS   "agents: {count: 2}\nfaults:\n  - {node_down: {node: 0, at: 10m, lasts: 10m}}\n"
static const char *const texts[] = {
    WORKLOAD TWO,
    WORKLOAD "engine: thinned\nrow: {bytes: 100B, ttl: 20m}\n" TWO,
    WORKLOAD "row: {ttl: 30m}\ndeletes: {share: 20%, after: 5m}\n" TWO,
    (WORKLOAD
     "table: {name: t, columns: {k: key, b: bucket, s: {values: 3}, d: data}, partition_key: [k, b], "
     "clustering: [s]}\n" TWO),
    WORKLOAD AGENTS "cluster: {nodes: 3, replication_factor: 2}\n" TWO,
    WORKLOAD AGENTS "cluster: {nodes: 3, replication_factor: 2, consistency: {write: ANY}}\n" TWO,
    WORKLOAD "agents: {count: 2}\nrow: {ttl: 20m}\n" TWO,
};

static void lose(struct lab_result *result, const char *name)
{
    struct lab_metrics *metrics = &result->strategies[1].metrics;
    for (size_t i = 0; i < metrics->count; i++)
        metrics->items[i].value -= strcmp(metrics->items[i].name, name) == 0;
}

static void assert_noticed(const struct lab_scenario *scenario, const struct lab_result *result)
{
    struct sim_error error;
    assert_false(lab_books_check(scenario, result, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_non_null(strstr(error.text, "strategy 'hash' does not account for all rows"));
    assert_null(strchr(error.text, '\n'));
}

static void test_run_that_loses_a_row_in_a_figure_fails(void **state)
{
    (void)state;
    static const char *const names[] = {"writes.rows", "writes.placed", "rows.live", "rows.overwritten"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lab_scenario *scenario = scenario_of("", texts[i]);
        struct lab_result *result;
        struct sim_error error;
        if (!lab_run(scenario, 1, NULL, &result, &error))
            fail_msg("%s", error.text);
        assert_true(lab_books_check(scenario, result, &error));
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            if (lab_metrics_find(&result->strategies[1].metrics, names[j]) == NULL)
                continue;
            lose(result, names[j]);
            assert_noticed(scenario, result);
            lab_result_destroy(result);
            assert_true(lab_run(scenario, 1, NULL, &result, &error));
        }
        result->strategies[1].open_rows.sum--;
        assert_noticed(scenario, result);
        result->strategies[1].open_rows.sum++;
        result->rows++;
        assert_false(lab_books_check(scenario, result, &error));
        lab_result_destroy(result);
        lab_scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_run_that_loses_a_row_in_a_figure_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
