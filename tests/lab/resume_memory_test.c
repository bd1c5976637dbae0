/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run without enough memory to make or load its state fails with the environment's error, or continues
 * without a state, and leaks nothing. Method: allocation 1, 2, 3 ... fails, in runs that keep their states
 * and in runs that resume from one, until a run succeeds by itself; its digest is then that of an undisturbed
 * run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../no_memory.h"
#include "../share.h"
#include "lab/run.h"
#include "lab/snapshot.h"

/* Everything that grows occurs: hints, locks, increments, deletes, faults, rows of unknown outcome. */
static const char rows[] =
    "name: memory\n"
    "duration: 3s\n"
    "keys: {count: 3}\n"
    "arrivals: {rate: 60/s}\n"
    "row: {bytes: 100}\n"
    "deletes: {share: 50%, after: 500ms}\n"
    "reads: {latest: {rows: 5, rate: 9/s}, range: {span: 1s, rate: 9/s}}\n"
    "cluster: {nodes: 3, replication_factor: 3}\n"
    "agents: {count: 2, cache_entries: 8, operations: 8}\n"
    "faults:\n"
    "  - {node_down: {node: 0, at: 200ms, lasts: 2s}}\n"
    "  - {network_partition: {between: [agents, node 1], at: 800ms, lasts: 300ms}}\n"
    "strategies:\n"
    "  - probabilistic: {bits: 1, threshold: 3, coordination: locked, counter: counter}\n";
static const char identifiers[] = "name: memory\n"
                                  "duration: 2s\n"
                                  "identifiers: {each: 300}\n"
                                  "cluster: {nodes: 3, replication_factor: 3}\n"
                                  "agents: {count: 3}\n"
                                  "strategies:\n"
                                  "  - idgen: {batch: 5, stripes: 2}\n";

/* Each kind of state that a lane, a key or a table can have, rows that are only counted, and a trace. */
static const char lanes[] = "name: memory\n"
                            "engine: exact\n"
                            "duration: 300s\n"
                            "keys: {count: 3}\n"
                            "arrivals: {rate: 3/s}\n"
                            "row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\n"
                            "reads: {latest: {rows: 20, rate: 0.2/s}, range: {span: 9s, rate: 0.1/s}}\n"
                            "strategies:\n"
                            "  - time: {window: 20s, read: {remember_empty: true}}\n"
                            "  - hash: {buckets: 40}\n"
                            "  - count: {rows: 10, counter: external, max_age: 50s}\n"
                            "  - weighted: {bytes: 2KB, threshold: 4}\n";
static const char eras[] = "name: memory\n"
                           "duration: 300s\n"
                           "keys: {count: 3}\n"
                           "arrivals: {rate: 3/s}\n"
                           "reads: {latest: {rows: 40, rate: 0.2/s}}\n"
                           "strategies:\n"
                           "  - {label: a, time: {window: 50s, then: [{at: 100s, window: 20s}]}}\n"
                           "  - {label: b, hash: {buckets: 4, then: [{at: 100s, buckets: 16}]}}\n";
static const char gone[] = "name: memory\n"
                           "duration: 300s\n"
                           "keys: {count: 3}\n"
                           "arrivals: {rate: 3/s, late: {share: 10%, by: 20s}}\n"
                           "row: {ttl: 100s}\n"
                           "deletes: {share: 20%, after: 20s}\n"
                           "strategies: [time: {window: 20s}, count: {rows: 40, counter: external}]\n";
static const char stored[] = "name: memory\n"
                             "duration: 300s\n"
                             "keys: {count: 3}\n"
                             "arrivals: {rate: 3/s}\n"
                             "strategies: [time: {window: 20s}]\n"
                             "table:\n"
                             "  name: t\n"
                             "  columns: {k: key, b: bucket, at: time, v: {values: 3, zipf: 1}}\n"
                             "  partition_key: [b, v]\n"
                             "  clustering: [at]\n";
static const char thinned[] = "name: memory\n"
                              "engine: thinned\n"
                              "duration: 1000s\n"
                              "keys: {count: 3}\n"
                              "arrivals: {rate: 100/s, bursts: {on: 50s, off: 50s, factor: 3}}\n"
                              "strategies:\n"
                              "  - probabilistic: {bits: 5, threshold: 8}\n"
                              "  - time: {window: 100s}\n";
static const char traced[] = "name: memory\n"
                             "trace: {file: " BUCKETLAB_SOURCE_DIR "/scenarios/traces/small.csv}\n"
                             "strategies: [time: {window: 3h}, hash: {buckets: 4}]\n";

#define PUTS_MOST 6

struct keeper {
    unsigned char data[1 << 20];
    size_t size;
    uint64_t puts, failed, stop_after;
    bool is_spent; /* the allocation was refused */
    struct lab_progress progress;
    struct lab_snapshots snapshots;
};
static struct keeper keeper;

static void put(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size)
{
    (void)context, (void)part, (void)parts;
    keeper.failed += data == NULL;
    if (data != NULL) {
        assert_true(size <= sizeof keeper.data);
        memcpy(keeper.data, data, size);
        keeper.size = size;
    }
    if (++keeper.puts == keeper.stop_after)
        atomic_store(&keeper.progress.stop, true);
    /* The stream engine has a safe point after each batch of rows; a few of these are enough. */
    if (keeper.puts < PUTS_MOST)
        atomic_fetch_add(&keeper.snapshots.wish, 1);
}

/* Resumes from a state, if there is one, with the nth allocation refused. */
static bool attempt(const struct lab_scenario *scenario, const struct lab_kept *kept, uint64_t events_each,
                    long nth, struct lab_result **out, struct sim_error *error)
{
    *error = (struct sim_error){SIM_ERROR_NONE, ""};
    keeper.puts = keeper.failed = 0;
    keeper.snapshots = (struct lab_snapshots){
        .put = put, .kept = kept, .kept_count = kept != NULL, .events_each = events_each};
    atomic_store(&keeper.snapshots.wish, 1);
    const struct lab_run_context context = {.progress = &keeper.progress, .snapshots = &keeper.snapshots};
    atomic_store(&keeper.progress.stop, false);
    allocations_left = nth;
    bool ok = lab_run_in(scenario, 1, &context, out, error);
    keeper.is_spent = allocations_left < 0;
    allocations_left = ALLOCATIONS_WITHOUT_END;
    return ok;
}

static void run_with_refusals(const char *text)
{
    struct sim_error error;
    struct lab_scenario *scenario;
    struct lab_result *result = NULL;
    if (!lab_scenario_parse("memory.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    assert_true(lab_run(scenario, 1, NULL, &result, &error));
    uint64_t digest = result->digest, events = result->strategies[0].events.events;
    lab_result_destroy(result);
    keeper.stop_after = 2;
    assert_false(attempt(scenario, NULL, events / 2, ALLOCATIONS_WITHOUT_END, &result, &error));
    static unsigned char state[sizeof keeper.data];
    memcpy(state, keeper.data, keeper.size);
    const struct lab_kept kept = {0, state, keeper.size};
    keeper.stop_after = 0;
    /* Once from the state, and once from the start. */
    for (int is_new = 0; is_new < 2; is_new++) {
        long nth = 0;
        uint64_t without_state = 0;
        bool is_done = false;
        for (; !is_done; nth += nth < (long)test_part(300) ? 1 : 17) {
            bool ok = attempt(scenario, is_new ? NULL : &kept, events / 4 + 1, nth, &result, &error);
            without_state += keeper.failed > 0;
            is_done = !keeper.is_spent;
            assert_true(ok || !is_done);
            if (!ok)
                assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
            if (!ok)
                continue;
            assert_true(result->digest == digest);
            lab_result_destroy(result);
        }
        assert_true(nth > 30 && without_state > 0);
    }
    lab_scenario_destroy(scenario);
}

static void test_runs_of_rows(void **state)
{
    (void)state;
    run_with_refusals(rows);
}

static void test_runs_of_identifiers(void **state)
{
    (void)state;
    run_with_refusals(identifiers);
}

static void test_runs_of_the_stream_engine(void **state)
{
    const char *const texts[] = {lanes, eras, gone, stored, thinned, traced};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        run_with_refusals(texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_of_rows),
        cmocka_unit_test(test_runs_of_identifiers),
        cmocka_unit_test(test_runs_of_the_stream_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
