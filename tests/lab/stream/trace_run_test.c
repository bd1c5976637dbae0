/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run of a trace uses exactly the rows in the window of `start` and `duration`, each at its time,
 * with its size and on its key's replicas, and reads each key in proportion to its rows. Method: small
 * traces whose partitions can be counted on paper, and one trace with row counts that a second, plain loop
 * counts. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../workload/trace_file.h"
#include "cassandra/ring.h"
#include "cassandra/token.h"
#include "kernel/time.h"
#include "lab/run.h"

#define SIZES  "timestamp_ms,key,bytes\n"
#define COUNTS "timestamp_ms,key,count\n"
/* One minute of 2026, in milliseconds. */
#define T0 "17672256"

/* Sizes are those of the trace's own column: the payload only. */
static struct lab_scenario *load(const char *path, const char *fields)
{
    static const struct lab_override payload = {.text = "row.format=payload"};
    char text[2048];
    int size = snprintf(text, sizeof text, "name: trace-run\ntrace: {file: \"%s\"}\n%s", path, fields);
    assert_in_range(size, 1, sizeof text - 1);
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_scenario_parse("x.yaml", text, (size_t)size, &payload, 1, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    return scenario;
}

static struct lab_result *run_of(const char *csv, const char *fields)
{
    struct trace_file file = trace_file_plain(csv, strlen(csv));
    struct lab_scenario *scenario = load(file.path, fields);
    struct lab_result *result = NULL;
    struct sim_error error;
    if (!lab_run(scenario, 1, NULL, &result, &error))
        fail_msg("%s", error.text);
    lab_scenario_destroy(scenario);
    trace_file_remove(&file);
    return result;
}

static void assert_fails(const char *csv, const char *fields, const char *ending)
{
    struct trace_file file = trace_file_plain(csv, strlen(csv));
    struct lab_scenario *scenario = load(file.path, fields);
    struct lab_result *result = (struct lab_result *)&file;
    struct sim_error error;
    assert_false(lab_run(scenario, 1, NULL, &result, &error));
    assert_null(result);
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_memory_equal(error.text, file.path, strlen(file.path));
    assert_string_equal(error.text + strlen(file.path), ending);
    lab_scenario_destroy(scenario);
    trace_file_remove(&file);
}

static double metric(const struct lab_result *result, const char *name)
{
    const struct lab_metric *found = lab_result_find(result, name);
    if (found == NULL)
        fail_msg("no %s", name);
    return found->value;
}

static void assert_metric(const struct lab_result *result, const char *name, double expected)
{
    double actual = metric(result, name);
    if (actual != expected)
        fail_msg("%s is %.17g, not %.17g", name, actual, expected);
}

static void test_trace_without_window_is_run_from_first_to_last_row(void **state)
{
    (void)state;
    struct lab_result *result =
        run_of(SIZES "1000,a,5\n1500,b,7\n4000,a,9\n", "strategies: [time: {window: 1s}]");
    assert_int_equal(result->rows, 3);
    assert_int_equal(result->keys, 2);
    assert_int_equal(result->start_ns, 1 * SIM_SECOND);
    assert_int_equal(result->end_ns, 4 * SIM_SECOND);
    assert_string_equal(result->source, "t.csv");
    /* The window of the last row has not ended. */
    assert_metric(result, "time.partitions.total", 3);
    assert_metric(result, "time.partitions.closed", 2);
    assert_metric(result, "time.partitions.all.bytes.max", 9);
    assert_metric(result, "time.partitions.all.bytes.min", 5);
    lab_result_destroy(result);
}

/* The six rows are a second apart. [start, start + duration) includes its first edge and excludes the second.
 */
static const char seconds[] = SIZES T0 "00000,a,1\n" T0 "01000,b,2\n" T0 "02000,a,4\n" T0 "03000,c,8\n" T0
                                       "04000,a,16\n" T0 "05000,b,32\n";

static void test_trace_start_leaves_out_earlier_rows(void **state)
{
    (void)state;
    struct lab_result *result =
        run_of(seconds, "start: 2026-01-01T00:00:02Z\nstrategies: [unbucketed: {}, time: {window: 1s}]");
    assert_int_equal(result->rows, 4);
    assert_int_equal(result->keys, 3);
    assert_int_equal(result->start_ns, INT64_C(1767225602) * SIM_SECOND);
    assert_int_equal(result->end_ns, INT64_C(1767225605) * SIM_SECOND);
    assert_metric(result, "unbucketed.partitions.all.bytes.max", 32);
    assert_metric(result, "unbucketed.partitions.all.bytes.min", 8);
    assert_metric(result, "unbucketed.partitions.all.bytes.p50", 20);
    assert_metric(result, "time.partitions.closed", 3);
    lab_result_destroy(result);
}

static void test_trace_duration_counts_from_start(void **state)
{
    (void)state;
    struct lab_result *result =
        run_of(seconds,
               "start: 2026-01-01T00:00:02Z\nduration: 3s\nstrategies: [unbucketed: {}, time: {window: 1s}]");
    assert_int_equal(result->rows, 3);
    assert_int_equal(result->keys, 2);
    assert_int_equal(result->start_ns, INT64_C(1767225602) * SIM_SECOND);
    assert_int_equal(result->end_ns, INT64_C(1767225605) * SIM_SECOND);
    assert_metric(result, "unbucketed.partitions.all.bytes.max", 20);
    /* The run continues to the window's end and closes the window before it. */
    assert_metric(result, "time.partitions.closed", 3);
    lab_result_destroy(result);
}

static void test_trace_start_before_the_file_counts_from_start(void **state)
{
    (void)state;
    struct lab_result *result =
        run_of(seconds, "start: 2025-12-31T23:59:59Z\nduration: 3s\nstrategies: [unbucketed: {}]");
    assert_int_equal(result->rows, 2);
    assert_int_equal(result->start_ns, INT64_C(1767225599) * SIM_SECOND);
    assert_int_equal(result->end_ns, INT64_C(1767225602) * SIM_SECOND);
    lab_result_destroy(result);
}

static void test_trace_duration_without_start_counts_from_first_row(void **state)
{
    (void)state;
    struct lab_result *result = run_of(seconds, "duration: 2s\nstrategies: [unbucketed: {}]");
    assert_int_equal(result->rows, 2);
    assert_int_equal(result->start_ns, INT64_C(1767225600) * SIM_SECOND);
    assert_int_equal(result->end_ns, INT64_C(1767225602) * SIM_SECOND);
    lab_result_destroy(result);
}

/* The first row is the last to be generated, since its key has no other line. The lines before it generate no
 * row. */
static void test_trace_of_counts_duration_counts_from_first_row(void **state)
{
    (void)state;
    struct lab_result *result =
        run_of(COUNTS "0,z,0\n500,z,0\n1000,late,1\n2000,b,1\n3000,b,1\n4000,b,1\n5000,z,1\n",
               "duration: 3s\nstrategies: [unbucketed: {}]");
    assert_int_equal(result->rows, 3);
    assert_int_equal(result->keys, 2);
    assert_int_equal(result->start_ns, 1 * SIM_SECOND);
    assert_int_equal(result->end_ns, 4 * SIM_SECOND);
    lab_result_destroy(result);
}

static void test_trace_of_counts_times_out_of_order_span_the_run(void **state)
{
    (void)state;
    /* "early" has the first row, but not in the first batch; "b" has the last row, but not in the last batch.
     */
    struct lab_result *result =
        run_of(COUNTS "1000,early,1\n2000,b,2\n4000,c,2\n6000,b,1\n", "strategies: [unbucketed: {}]");
    assert_int_equal(result->start_ns, 1 * SIM_SECOND);
    assert_int_equal(result->end_ns, 6 * SIM_SECOND);
    assert_int_equal(result->rows, 6);
    lab_result_destroy(result);
}

static void test_trace_window_without_rows_is_refused(void **state)
{
    (void)state;
    assert_fails(seconds, "start: 2027-01-01\nstrategies: [unbucketed: {}]",
                 ": no row is between start and start + duration; widen them");
    assert_fails(seconds, "start: 2025-01-01\nduration: 1d\nstrategies: [unbucketed: {}]",
                 ": no row is between start and start + duration; widen them");
}

static void test_trace_of_a_pipe_is_refused_at_once(void **state)
{
    (void)state;
    struct trace_file file = trace_file_name("t.csv");
    assert_int_equal(mkfifo(file.path, 0600), 0);
    struct lab_scenario *scenario = load(file.path, "strategies: [unbucketed: {}]");
    struct lab_result *result;
    struct sim_error error;
    alarm(60); /* the pipe has no writer */
    assert_false(lab_run(scenario, 1, NULL, &result, &error));
    alarm(0);
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_string_equal(error.text + strlen(file.path),
                        ":1: trace is a pipe or a device, and it is read twice; save it as a file");
    lab_scenario_destroy(scenario);
    trace_file_remove(&file);
}

/* Row i of n is at t + floor(i * step / n): 1500 rows in 7 s, then 11 rows in another 7 s. The window and the
 * batches split both lines. */
static void test_trace_of_counts_rows_lie_evenly_in_their_step(void **state)
{
    (void)state;
    enum { FIRST = 1500, SECOND = 11, STEP_MS = 7000, WINDOW_MS = 500, BEGIN_MS = 1200, END_MS = 9000 };
    uint64_t partitions[64] = {0}, rows = 0, total = 0, largest = 0;
    for (int i = 0; i < FIRST + SECOND; i++) {
        int64_t t =
            i < FIRST ? (int64_t)i * STEP_MS / FIRST : STEP_MS + (int64_t)(i - FIRST) * STEP_MS / SECOND;
        if (t < BEGIN_MS || t >= END_MS)
            continue;
        rows++;
        partitions[t / WINDOW_MS]++;
    }
    for (int i = 0; i < 64; i++) {
        total += partitions[i] > 0;
        largest = partitions[i] > largest ? partitions[i] : largest;
    }
    struct lab_result *result =
        run_of(COUNTS T0 "00000,a,1500\n" T0 "07000,a,11\n",
               "start: 2026-01-01T00:00:01.2Z\nduration: 7800ms\nrow: {bytes: 1000}\n"
               "strategies: [unbucketed: {}, time: {window: 500ms}, count: {rows: 100, counter: external}]");
    assert_int_equal(result->rows, rows);
    assert_metric(result, "unbucketed.partitions.all.bytes.max", 1000.0 * (double)rows);
    assert_metric(result, "time.partitions.total", (double)total);
    assert_metric(result, "time.partitions.all.rows.max", (double)largest);
    assert_metric(result, "time.partitions.all.bytes.max", 1000.0 * (double)largest);
    /* Numbers begin at 0 with the first row in the window. */
    assert_metric(result, "count.partitions.total", ceil((double)rows / 100));
    assert_metric(result, "count.partitions.closed.rows.min", 100);
    lab_result_destroy(result);
}

static void test_trace_of_counts_draws_sizes_from_the_distribution(void **state)
{
    (void)state;
    static const char csv[] = COUNTS "0,a,4000\n1000,b,4000\n";
    static const char fields[] = "row: {bytes: {uniform: [100, 300]}}\nstrategies: [unbucketed: {}, count: "
                                 "{rows: 1, counter: external}]";
    struct lab_result *result = run_of(csv, fields), *again = run_of(csv, fields);
    assert_metric(result, "count.partitions.all.bytes.min", 100);
    assert_metric(result, "count.partitions.all.bytes.max", 300);
    /* There are 8000 sizes of standard deviation 58: the mean is within 10 of its standard deviations, 0.65
     * each. */
    assert_true(fabs(metric(result, "count.partitions.all.bytes.mean") - 200) < 6.5);
    /* Each key draws its own size, and always the same size. */
    assert_true(metric(result, "unbucketed.partitions.all.bytes.min") !=
                metric(result, "unbucketed.partitions.all.bytes.max"));
    assert_metric(again, "unbucketed.partitions.all.bytes.min",
                  metric(result, "unbucketed.partitions.all.bytes.min"));
    assert_int_equal(result->digest, again->digest);
    lab_result_destroy(result);
    lab_result_destroy(again);
}

/* Whole seconds by floor on both sides of 1970: {-1500}, {-1000 -999 -1}, {1 999}. */
static void test_trace_peak_is_counted_in_whole_seconds(void **state)
{
    (void)state;
    struct lab_result *result =
        run_of(SIZES "-1500,a,1\n-1000,a,1\n-999,a,1\n-1,a,1\n1,a,1\n999,a,1\n",
               "strategies: [unbucketed: {}, hash: {buckets: 1}, count: {rows: 2, counter: external}]");
    assert_metric(result, "unbucketed.peak.rows_per_second_one_partition", 3);
    assert_metric(result, "hash.peak.rows_per_second_one_partition", 3);
    assert_metric(result, "count.peak.rows_per_second_one_partition", 2);
    lab_result_destroy(result);
}

static void test_trace_peak_is_right_in_the_last_second_of_time(void **state)
{
    (void)state;
    struct lab_result *result = run_of(SIZES "9223372036000,a,1\n9223372036853,a,1\n9223372036854,a,1\n",
                                       "strategies: [unbucketed: {}]");
    assert_metric(result, "unbucketed.peak.rows_per_second_one_partition", 3);
    lab_result_destroy(result);
}

/* The load shares of the fullest and the emptiest node with these partitions on their replicas. */
static void assert_loads(const struct lab_result *result, const char *label, const char *const *keys,
                         const int64_t *buckets, const uint64_t *bytes, int count)
{
    uint64_t loads[5] = {0}, total = 0, most = 0, least = UINT64_MAX;
    struct cass_ring *ring;
    struct sim_error error;
    char name[64];
    assert_true(cass_ring_create(5, &(struct cass_datacenter){"dc", 5, 1, 2}, 1, 8, &ring, &error));
    for (int i = 0; i < count; i++) {
        int64_t token = buckets[i];
        cass_tokens_bucketed(keys[i], strlen(keys[i]), &token, 1);
        const uint32_t *replicas = cass_ring_replicas(ring, token);
        loads[replicas[0]] += bytes[i];
        loads[replicas[1]] += bytes[i];
        total += 2 * bytes[i];
    }
    for (int i = 0; i < 5; i++) {
        most = loads[i] > most ? loads[i] : most;
        least = loads[i] < least ? loads[i] : least;
    }
    snprintf(name, sizeof name, "%s.nodes.load_share_max", label);
    assert_metric(result, name, (double)most / (double)total);
    snprintf(name, sizeof name, "%s.nodes.load_share_min", label);
    assert_metric(result, name, (double)least / (double)total);
    cass_ring_destroy(ring);
}

static void test_trace_loads_the_replicas_of_its_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {"alpha", "beta", "gamma delta", "alpha"};
    static const int64_t buckets[] = {0, 0, 0, 1}, zeros[4] = {0};
    static const uint64_t bytes[] = {60, 70, 30, 40};
    struct lab_result *result = run_of(SIZES "0,alpha,60\n1,beta,70\n2,gamma delta,30\n3,alpha,40\n",
                                       "seed: 5\ncluster: {nodes: 5, replication_factor: 2, num_tokens: 8}\n"
                                       "strategies: [unbucketed: {}, count: {rows: 1, counter: external}]");
    assert_loads(result, "unbucketed", keys, zeros, bytes, 4);
    assert_loads(result, "count", keys, buckets, bytes, 4);
    lab_result_destroy(result);
}

/* Ten keys share the reads of one rate: 100000 s at 0.1/s, whichever key is popular. The chance that a
 * Poisson number of mean 10000 is off by 700 is 1e-12; a full read rate for each key would give 100000 reads.
 * A key is read from the run's start on, not only from its own first row. */
static void test_trace_reads_follow_the_rows_of_a_key(void **state)
{
    (void)state;
    char csv[1024] = SIZES;
    for (int i = 0; i < 9; i++)
        snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "0,k%d,1\n", i);
    strcat(csv, "99999999,busy,1\n100000000,busy,1\n100000000,busy,1\n");
    struct lab_result *result =
        run_of(csv, "reads: {latest: {rows: 1, rate: 0.1/s}}\nstrategies: [unbucketed: {}]");
    double reads = metric(result, "unbucketed.reads.count");
    assert_true(reads > 9300 && reads < 10700);
    /* A quarter of the reads are of the busy key, which has no rows until the last second. */
    double empties = metric(result, "unbucketed.reads.empty_partitions_per_read") * reads;
    assert_true(empties > 2100 && empties < 2900);
    assert_metric(result, "unbucketed.reads.incomplete", 0);
    lab_result_destroy(result);
}

/* Reads begin and end with the window, whenever its rows are. */
static void test_trace_reads_last_as_long_as_the_window(void **state)
{
    (void)state;
    static const char fields[] = "start: 1970-01-01\nduration: 10000s\n"
                                 "reads: {latest: {rows: 1, rate: 1/s}}\nstrategies: [unbucketed: {}]";
    struct lab_result *early = run_of(SIZES "0,a,1\n1,a,1\n", fields);
    struct lab_result *late = run_of(SIZES "9999998,a,1\n9999999,a,1\n", fields);
    assert_true(fabs(metric(early, "unbucketed.reads.count") - 10000) < 700);
    assert_true(fabs(metric(late, "unbucketed.reads.count") - 10000) < 700);
    assert_int_equal(early->end_ns, 10000 * SIM_SECOND);
    assert_int_equal(late->end_ns, 10000 * SIM_SECOND);
    lab_result_destroy(early);
    lab_result_destroy(late);
}

/* Two keys have 4000 rows each: equal ids would put the same number of rows into each bucket. */
static void test_trace_keys_have_ids_of_their_own(void **state)
{
    (void)state;
    struct lab_result *result = run_of(COUNTS "0,a,4000\n0,b,4000\n", "strategies: [hash: {buckets: 2}]");
    assert_metric(result, "hash.partitions.total", 4);
    assert_true(metric(result, "hash.partitions.all.rows.p50") >
                metric(result, "hash.partitions.all.rows.min"));
    lab_result_destroy(result);
}

static void test_trace_too_many_bytes_stay_at_the_top(void **state)
{
    (void)state;
    struct lab_result *result =
        run_of(COUNTS "0,a,16777300\n", "row: {bytes: 1TiB}\nlimits: {partition_bytes: 100MB}\n"
                                        "strategies: [unbucketed: {}, hash: {buckets: 1}]");
    assert_metric(result, "unbucketed.partitions.all.bytes.max", (double)UINT64_MAX);
    assert_metric(result, "hash.partitions.all.bytes.max", (double)UINT64_MAX);
    assert_metric(result, "unbucketed.partitions.over_limit_bytes", 1);
    /* Three replicas on six nodes, each with its full share. */
    assert_metric(result, "unbucketed.nodes.load_share_max", 1.0 / 3);
    lab_result_destroy(result);
}

/* Half of the draws of this distribution are above 2^62. */
static void test_trace_sizes_beyond_a_terabyte_are_cut(void **state)
{
    (void)state;
    struct lab_result *result =
        run_of(COUNTS "0,a,600\n", "row: {bytes: {pareto: {min: 1B, alpha: 0.01}}}\n"
                                   "strategies: [unbucketed: {}, count: {rows: 1, counter: external}]");
    assert_metric(result, "count.partitions.all.bytes.max", 0x1p40);
    assert_true(metric(result, "unbucketed.partitions.all.bytes.max") > 300 * 0x1p40);
    assert_true(metric(result, "unbucketed.partitions.all.bytes.max") < 600 * 0x1p40);
    lab_result_destroy(result);
}

static void *stop_soon(void *progress)
{
    struct timespec pause = {.tv_nsec = 100000000};
    nanosleep(&pause, NULL);
    atomic_store(&((struct lab_progress *)progress)->stop, true);
    return NULL;
}

/* None of these runs would end within days. */
static void test_run_that_is_stopped_ends_soon(void **state)
{
    (void)state;
    static const struct {
        const char *csv, *fields;
    } cases[] = {
        {COUNTS "0,a,1000000000000\n", "strategies: [unbucketed: {}]"},
        {SIZES "0,a,1\n400000000000,a,1\n",
         "reads: {limit: 9, latest: {rows: 1, rate: 1000000/s}}\nstrategies: [unbucketed: {}]"},
        {SIZES "0,a,1\n", "start: 1970-01-01\nduration: 200y\n"
                          "reads: {limit: 9, latest: {rows: 1, rate: 1000000/s}}\n"
                          "strategies: [unbucketed: {}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace_file file = trace_file_plain(cases[i].csv, strlen(cases[i].csv));
        struct lab_scenario *scenario = load(file.path, cases[i].fields);
        struct lab_progress progress = {.stop = false};
        struct lab_result *result;
        struct sim_error error;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, &progress), 0);
        alarm(60);
        assert_false(lab_run(scenario, 1, &progress, &result, &error));
        alarm(0);
        pthread_join(thread, NULL);
        assert_null(result);
        assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
        assert_string_equal(error.text, "stopped before the end; nothing was stored");
        lab_scenario_destroy(scenario);
        trace_file_remove(&file);
    }
}

static void test_rows_of_whole_weeks_are_counted_from_the_end(void **state)
{
    (void)state;
    /* The last row is the end of the run, so it is in no week before the end. */
    static const int days[] = {0, 1, 8, 9, 10, 15};
    char csv[512];
    size_t size = (size_t)snprintf(csv, sizeof csv, SIZES);
    for (size_t i = 0; i < sizeof days / sizeof *days; i++)
        size += (size_t)snprintf(csv + size, sizeof csv - size, "%lld,k%zu,1\n", days[i] * 86400000LL, i % 2);
    struct lab_result *result = run_of(csv, "strategies: [unbucketed: {}]\n");
    assert_int_equal(result->week_count, 2);
    assert_int_equal(result->weeks[0], 1);
    assert_int_equal(result->weeks[1], 3);
    lab_result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_without_window_is_run_from_first_to_last_row),
        cmocka_unit_test(test_trace_start_leaves_out_earlier_rows),
        cmocka_unit_test(test_trace_duration_counts_from_start),
        cmocka_unit_test(test_trace_start_before_the_file_counts_from_start),
        cmocka_unit_test(test_trace_duration_without_start_counts_from_first_row),
        cmocka_unit_test(test_trace_of_counts_duration_counts_from_first_row),
        cmocka_unit_test(test_trace_of_counts_times_out_of_order_span_the_run),
        cmocka_unit_test(test_trace_window_without_rows_is_refused),
        cmocka_unit_test(test_trace_of_a_pipe_is_refused_at_once),
        cmocka_unit_test(test_trace_of_counts_rows_lie_evenly_in_their_step),
        cmocka_unit_test(test_trace_of_counts_draws_sizes_from_the_distribution),
        cmocka_unit_test(test_trace_peak_is_counted_in_whole_seconds),
        cmocka_unit_test(test_trace_peak_is_right_in_the_last_second_of_time),
        cmocka_unit_test(test_trace_loads_the_replicas_of_its_keys),
        cmocka_unit_test(test_trace_reads_follow_the_rows_of_a_key),
        cmocka_unit_test(test_trace_reads_last_as_long_as_the_window),
        cmocka_unit_test(test_trace_keys_have_ids_of_their_own),
        cmocka_unit_test(test_trace_too_many_bytes_stay_at_the_top),
        cmocka_unit_test(test_trace_sizes_beyond_a_terabyte_are_cut),
        cmocka_unit_test(test_run_that_is_stopped_ends_soon),
        cmocka_unit_test(test_rows_of_whole_weeks_are_counted_from_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
