/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the table of metrics has exactly the figures that a run can have, docs/metrics.md agrees with it, and
 * protocols are named as scenarios name them. Method: runs of all kinds are made; their figures are looked up
 * in the table, and the table's names among the figures. With UPDATE_DOCS set the rows are written into the
 * reference. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../reference.h"
#include "lab/metric.h"
#include "lab/run.h"
#include "lab/scenario.h"
#include "lab/setting.h"

#define ROWS_SIZE 32768
/* A family of more members is shown with a star. */
#define MEMBERS_TOLD 6

struct cell {
    char text[256];
    unsigned count;
};

static void add_member(void *context, const char *name)
{
    (void)name;
    ((struct cell *)context)->count++;
}

/* "partitions.total", "latency.write.{p50,p99,p999}", "oracle.*.violations". */
static void tell_name(const struct lab_metric_row *row, struct cell *cell)
{
    const char *star = strchr(row->name, '*');
    lab_metric_names(row, add_member, cell);
    snprintf(cell->text, sizeof cell->text, "%s", row->name);
    if (star == NULL || cell->count > MEMBERS_TOLD)
        return;
    char members[128];
    snprintf(members, sizeof members, "%s", row->members);
    for (char *blank; (blank = strchr(members, ' ')) != NULL;)
        *blank = ',';
    snprintf(cell->text, sizeof cell->text, "%.*s{%s}%s", (int)(star - row->name), row->name, members,
             star + 1);
}

static void rows_of(const char *section, char *out)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < lab_metric_row_count; i++) {
        const struct lab_metric_row *row = &lab_metric_table[i];
        struct cell cell = {.count = 0};
        if (strcmp(row->section, section) != 0)
            continue;
        tell_name(row, &cell);
        used += (size_t)snprintf(out + used, ROWS_SIZE - used, "| `%s` | %s | %s | %s%s|\n", cell.text,
                                 lab_metric_unit_name(row->unit), row->meaning,
                                 row->absent == NULL ? "" : row->absent, row->absent == NULL ? "" : " ");
        assert_true(used < ROWS_SIZE);
    }
}

static void test_the_reference_has_the_rows_of_the_table(void **state)
{
    static struct reference reference = {
        .name = "metrics.md", .table = "lab_metric_table", .program = "tests/lab_metric_test"};
    static char rows[ROWS_SIZE];
    (void)state;
    reference_begin(&reference);
    for (size_t i = 0; i < lab_metric_row_count; i++) {
        const char *section = lab_metric_table[i].section;
        char heading[64];
        if (i > 0 && strcmp(section, lab_metric_table[i - 1].section) == 0)
            continue;
        snprintf(heading, sizeof heading, "## %s", section);
        rows_of(section, rows);
        reference_table(&reference, heading, "| Metric | Unit | Meaning | Absent |\n|---|---|---|---|\n",
                        rows);
    }
    reference_end(&reference);
}

#define LIMITS "limits: {partition_rows: 50, partition_bytes: 5KB, partition_reads: 9/s, tiny_rows: 3}\n"
#define READS                                                                                                \
    "reads: {latest: {rows: 5, rate: 1/m}, range: {span: 1h, age: 1m, rate: 1/m}, all: {rate: 1/h}, "        \
    "limit: 100}\n"
#define ALL_PROTOCOLS                                                                                        \
    "strategies:\n  - probabilistic: {bits: 2, threshold: 4, coordination: three-state, counter: counter, "  \
    "lead: 10s}\n  - probabilistic: {label: b, bits: 2, threshold: 4, counter: lwt}\n"                       \
    "  - probabilistic: {label: d, bits: 2, threshold: 4, coordination: guarded, max_age: 1h}\n"             \
    "  - count: {rows: 20, counter: incremental, every_rows: 4}\n"
/* Together these runs have every figure. */
static const char *const runs[] = {
    "duration: 6h\nkeys: {count: 5}\narrivals: {rate: 10/m, late: {share: 10%, by: 1m}}\n"
    "row: {ttl: 1h, compression: 0.5}\n" LIMITS
    "strategies: [{count: {rows: 20, counter: external}}, unbucketed: {}]\n",
    "duration: 6h\nkeys: {count: 5}\narrivals: {rate: 10/m}\nagents: {count: 3}\nrow: {ttl: 1h}\n" LIMITS
        READS ALL_PROTOCOLS,
    "duration: 6h\nkeys: {count: 5}\narrivals: {rate: 10/m}\nagents: {count: 3, twin: 10%, queue: "
    "5}\n" ALL_PROTOCOLS,
    ("duration: 1m\nagents: {count: 3}\nidentifiers: {think: 50ms}\nstrategies: [{idgen: {batch: 10, lock: "
     "lwt}}]\n"),
};
#define RUN_COUNT (sizeof runs / sizeof *runs)

static struct lab_result *made[RUN_COUNT];

static int make_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUN_COUNT; i++) {
        struct lab_scenario *scenario;
        struct sim_error error;
        if (!lab_scenario_parse("m.yaml", runs[i], strlen(runs[i]), NULL, 0, NULL, &scenario, &error) ||
            !lab_run(scenario, 1, NULL, &made[i], &error)) {
            print_error("run %zu: %s\n", i, error.text);
            return 1;
        }
        lab_scenario_destroy(scenario);
    }
    return 0;
}

static int clear_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUN_COUNT; i++)
        lab_result_destroy(made[i]);
    return 0;
}

static void check_figures(const struct lab_metrics *metrics)
{
    assert_true(metrics->count > 0);
    for (size_t i = 0; i < metrics->count; i++) {
        if (lab_metric_row_of(metrics->items[i].name) == NULL)
            fail_msg("lab_metric_table has no row for '%s'", metrics->items[i].name);
    }
}

static void test_every_figure_has_a_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUN_COUNT; i++) {
        for (size_t j = 0; j < made[i]->strategy_count; j++)
            check_figures(&made[i]->strategies[j].metrics);
    }
    static const char *const none[] = {"",
                                       "partitions",
                                       "partitions.closed.rows",
                                       "partitions.closed.rows.p98",
                                       "partitions.closed.rows.p99.x",
                                       "reads.range.failed",
                                       "reads.none.count",
                                       "oracle..violations"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(lab_metric_row_of(none[i]));
    assert_ptr_equal(lab_metric_row_of("reads.range.count"), lab_metric_row_of("reads.count"));
}

static void test_nearest_name_has_all_parts_or_is_nearly_spelt(void **state)
{
    static const char *const names[] = {"partitions.total", "partitions.closed.bytes.mean",
                                        "partitions.all.bytes.mean", "partitions.all.bytes.max",
                                        "writes.rows"};
    static const char *const cases[][2] = {{"partitions.bytes", "partitions.all.bytes.mean"},
                                           {"partitions.bytes.max", "partitions.all.bytes.max"},
                                           {"partitions.closed.bytes", "partitions.closed.bytes.mean"},
                                           {"partitions.all.byte.max", "partitions.all.bytes.max"},
                                           {"bytes.closed", NULL},
                                           {"write.rows", "writes.rows"},
                                           {"", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *nearest = lab_metric_nearest(cases[i][0], names, sizeof names / sizeof *names);
        if (nearest == NULL || cases[i][1] == NULL)
            assert_ptr_equal(nearest, cases[i][1]);
        else
            assert_string_equal(nearest, cases[i][1]);
    }
}

/* The number of runs in which a strategy has the figure. */
static unsigned count_runs(const char *name)
{
    unsigned count = 0;
    for (size_t i = 0; i < RUN_COUNT; i++) {
        bool is_in = false;
        for (size_t j = 0; j < made[i]->strategy_count; j++)
            is_in = is_in || lab_metrics_find(&made[i]->strategies[j].metrics, name) != NULL;
        count += is_in;
    }
    return count;
}

/* For every strategy the rows of the largest key are the largest partition of unbucketed. */
static void test_the_largest_key_is_that_of_unbucketed(void **state)
{
#define BOTH "strategies: [unbucketed: {}, time: {window: 1h}]\n"
#define KEYS "keys: {count: 5, popularity: {zipf: 1}}\n"
    static const struct {
        const char *text;
        /* In the thinned mode the number of a key's rows with a write time of each size is an expected
         * number. */
        double tolerance;
    } cases[] = {
        {"duration: 1d\n" KEYS
         "arrivals: {rate: 10/m}\nrow: {bytes: {lognormal: {mean: 300, sigma: 1}}}\n" BOTH,
         0},
        {"duration: 1d\n" KEYS "arrivals: {rate: 100/m}\nengine: thinned\nrow: {bytes: 300}\n" BOTH, 0.001},
        {"duration: 1h\n" KEYS "arrivals: {rate: 10/m}\nagents: {count: 2}\n" BOTH, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab_scenario *scenario;
        struct lab_result *result;
        struct sim_error error;
        assert_true(lab_scenario_parse("m.yaml", cases[i].text, strlen(cases[i].text), NULL, 0, NULL,
                                       &scenario, &error));
        assert_true(lab_run(scenario, 1, NULL, &result, &error));
        double rows = lab_result_find(result, "unbucketed.partitions.all.rows.max")->value;
        double bytes = lab_result_find(result, "unbucketed.partitions.all.bytes.max")->value;
        assert_true(rows > lab_result_find(result, "time.partitions.all.rows.max")->value || i == 2);
        for (size_t j = 0; j < 2; j++) {
            const struct lab_metrics *metrics = &result->strategies[j].metrics;
            assert_true(lab_metrics_find(metrics, "keys.rows.max")->value == rows);
            assert_true(fabs(lab_metrics_find(metrics, "keys.bytes.max")->value / bytes - 1) <=
                        cases[i].tolerance);
        }
        lab_result_destroy(result);
        lab_scenario_destroy(scenario);
    }
}

static void look_for(void *context, const char *name)
{
    /* Figures of observed or watched files, of the commands run and check, of a table, and of faults that
     * end: other tests cover these. */
    static const char *const elsewhere[] = {"drift.run",
                                            "drift.look",
                                            "drift.distance",
                                            "drift.allowed",
                                            "drift.beyond",
                                            "drift.over_least",
                                            "drift.over_most",
                                            "expected.over_limit",
                                            "expected.over_limit_least",
                                            "expected.share",
                                            "expected.full_share",
                                            "horizon.days",
                                            "horizon.unbucketed_days",
                                            "horizon.doubles_days",
                                            "partitions.merged",
                                            "partitions.all.bytes.p75",
                                            "partitions.all.bytes.p95",
                                            "partitions.all.bytes.p98",
                                            "rows.stored",
                                            "rows.overwritten",
                                            "peak.rows_written_one_partition",
                                            "peak.minute_share_one_partition"};
    const struct lab_metric_row *row = context;
    unsigned count = count_runs(name);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (strcmp(name, elsewhere[i]) == 0 || strncmp(name, "rates.", 6) == 0)
            return;
    }
    if (count == 0)
        fail_msg("no run has '%s', which lab_metric_table names", name);
    if (row->absent == NULL && count < RUN_COUNT)
        fail_msg("'%s' is absent from some runs, and lab_metric_table does not say when", name);
}

static void test_every_row_has_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < lab_metric_row_count; i++) {
        const struct lab_metric_row *row = &lab_metric_table[i];
        assert_true(strlen(row->meaning) > 0);
        lab_metric_names(row, look_for, (void *)(uintptr_t)row);
    }
}

static void test_protocols_are_named_as_in_scenarios(void **state)
{
    (void)state;
    for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
        char name[64];
        snprintf(name, sizeof name, "count, %s", lab_setting_name(BK_KIND_COUNT, "counter", (int)protocol));
        assert_string_equal(lab_protocol_name(BK_KIND_COUNT, protocol),
                            protocol == BK_SOURCE_EXTERNAL ? "count" : name);
        if (protocol > BK_GUARDED)
            continue;
        const char *word = lab_setting_name(BK_KIND_PROBABILISTIC, "coordination", (int)protocol);
        assert_string_equal(lab_protocol_name(BK_KIND_PROBABILISTIC, protocol), word);
        snprintf(name, sizeof name, "weighted, %s", word);
        assert_string_equal(lab_protocol_name(BK_KIND_WEIGHTED, protocol), name);
    }
    assert_string_equal(lab_protocol_name(BK_KIND_UNBUCKETED, BK_SINGLE), bk_kind_name(BK_KIND_UNBUCKETED));
    for (size_t i = 0; i < lab_guarantee_count; i++)
        assert_non_null(lab_protocol_name(lab_guarantees[i].kind, lab_guarantees[i].protocol));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_reference_has_the_rows_of_the_table),
        cmocka_unit_test(test_every_figure_has_a_row),
        cmocka_unit_test(test_nearest_name_has_all_parts_or_is_nearly_spelt),
        cmocka_unit_test(test_every_row_has_figures),
        cmocka_unit_test(test_the_largest_key_is_that_of_unbucketed),
        cmocka_unit_test(test_protocols_are_named_as_in_scenarios),
    };
    return cmocka_run_group_tests(tests, make_runs, clear_runs);
}
