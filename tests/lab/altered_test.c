/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: if a field of a state is altered on purpose, with a matching checksum, the state is either refused in
 * one line or accepted; an accepted state is saved again, and must have the same bytes. Otherwise the archive
 * lost a field that is neither checked nor saved. Method: states are taken in the middle of runs of either
 * engine; their bytes are altered at one place after another, and the run is stopped at its first safe point.
 * Argument: the number of places in each state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../share.h"
#include "kernel/random.h"
#include "lab/run.h"
#include "lab/snapshot.h"

static size_t alterations = 300;

#define SMALL "altered-small.csv" /* the first lines of scenarios/traces/small.csv */
#define RING  "cluster: {nodes: 3, replication_factor: 3}\n"

/* The runs, and the number of the state that is altered; in the cluster engine states are this many events
 * apart. */
static const struct {
    const char *name;
    uint64_t nth, events_each;
    const char *text;
} scenarios[] = {
    {"deletes and faults", 2, 1500,
     "duration: 20s\nkeys: {count: 3}\narrivals: {rate: 9/s, late: {share: 20%, by: 3s}, backfill: {before: "
     "10s, "
     "rate: 3/s, lasts: 9s, order: reverse}}\nrow: {bytes: 100}\n"
     "deletes: {share: 60%, after: 2s}\nreads: {latest: {rows: 5, rate: 2/s}, range: {span: 1s, rate: "
     "1/s}}\n" RING "agents: {count: 3, cache_entries: 8, operations: 4, clock: {offset: 1ms}}\nfaults:\n"
     "  - {node_down: {node: 0, at: 1s, lasts: 12s}}\n  - {slow_node: {node: 2, at: 1s, lasts: 12s}}\n"
     "  - {network_partition: {between: [agents, node 1], at: 2s, lasts: 300ms}}\n"
     "  - {network_partition: {between: [agent 1, node 1], at: 1s, lasts: 12s}}\n"
     "  - {agent_crash: {agent: 2, at: 1s, lasts: 12s}}\n"
     "strategies:\n  - probabilistic: {bits: 1, threshold: 3, coordination: locked, counter: counter}\n"},
    {"changes", 2, 700,
     "duration: 20s\nkeys: {count: 3}\narrivals: {rate: 9/s}\n" RING
     "agents: {count: 3, cache_entries: 4, operations: 4}\nstrategies:\n"
     "  - hash: {buckets: 4, then: [{at: 4s, buckets: 8, rollout: 1s}, {at: 15s, buckets: 2, rollout: "
     "2s}]}\n"},
    {"states", 2, 900,
     "duration: 20s\nkeys: {count: 2}\narrivals: {rate: 10/s}\nrow: {ttl: 5s}\n" RING
     "agents: {count: 2, cache_ttl: 2s, cache_entries: 4, operations: 4}\n"
     "reads: {latest: {rows: 20, rate: 1/s}}\nstrategies:\n"
     "  - probabilistic: {bits: 2, threshold: 4, coordination: three-state, lead: 4s}\n"},
    {"a trace", 2, 300,
     "trace: {file: " SMALL "}\nduration: 6h\n" RING
     "agents: {count: 2, cache_entries: 8, operations: 4}\nstrategies: [count: {rows: 9, counter: "
     "external}]\n"},
    {"identifiers", 2, 700,
     "duration: 2s\nidentifiers: {each: 300}\n" RING "agents: {count: 3}\nfaults:\n"
     "  - {agent_crash: {agent: 2, at: 10ms, lasts: 1s}}\nstrategies: [idgen: {batch: 5, stripes: 2}]\n"},
    {"lanes", 9, 0,
     "duration: 2000s\nkeys: {count: 2}\narrivals: {rate: 10/s, late: {share: 10%, by: 20s}}\nengine: exact\n"
     "reads: {latest: {rows: 20, rate: 1/s}}\nstrategies:\n"
     "  - time: {window: 20s}\n  - hash: {buckets: 5}\n  - count: {rows: 50, counter: external, max_age: "
     "60s}\n"},
    {"rolls", 9, 0,
     "duration: 2000s\nkeys: {count: 2}\narrivals: {rate: 10/s}\nengine: exact\nreads: {latest: {rows: 20, "
     "rate: 1/s}, range: {span: 2s, rate: 1/s}, all: {rate: 0.01/s}}\nstrategies:\n"
     "  - probabilistic: {bits: 3, threshold: 4}\n  - weighted: {bytes: 2KB, threshold: 10}\n"
     "  - time: {window: 9s, read: {remember_empty: true}}\n"},
    {"rows that expire", 9, 0,
     "duration: 2000s\nkeys: {count: 2}\narrivals: {rate: 10/s}\nrow: {bytes: 100, ttl: 200s}\n"
     "deletes: {share: 10%, after: 30s}\nstrategies: [time: {window: 9s}, count: {rows: 40, counter: "
     "external}]\n"},
    {"eras", 9, 0,
     "duration: 2000s\nkeys: {count: 2}\narrivals: {rate: 10/s}\nreads: {latest: {rows: 40, rate: 1/s}}\n"
     "strategies:\n  - {label: a, time: {window: 90s, then: [{at: 300s, window: 30s}]}}\n"
     "  - {label: b, hash: {buckets: 4, then: [{at: 300s, buckets: 16, keep_old: false}]}}\n"},
    {"thinned", 5, 0,
     "duration: 1000s\nkeys: {count: 3}\narrivals: {rate: 100/s, bursts: {on: 50s, off: 50s, factor: 3}}\n"
     "engine: thinned\nstrategies:\n  - probabilistic: {bits: 5, threshold: 8}\n  - time: {window: 100s}\n"},
    {"a trace by rows", 2, 0,
     "trace: {file: " SMALL "}\nstrategies:\n  - time: {window: 3h}\n  - hash: {buckets: 4}\n"},
};
#define SCENARIOS (sizeof scenarios / sizeof *scenarios)

/* The last state that was put, and the number of states that are still to come. */
struct keeper {
    unsigned char *data;
    size_t size;
    uint64_t left;
    struct lab_progress progress;
    struct lab_snapshots snapshots;
};

static void put(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size)
{
    struct keeper *keeper = context;
    (void)part, (void)parts;
    assert_non_null(data);
    free(keeper->data);
    keeper->data = malloc(size);
    keeper->size = size;
    assert_non_null(keeper->data);
    memcpy(keeper->data, data, size);
    if (keeper->left > 0 && --keeper->left == 0)
        atomic_store(&keeper->progress.stop, true);
    atomic_fetch_add(&keeper->snapshots.wish, 1);
}

/* Stops at the nth state that it puts, and returns false. */
static bool go_on(struct keeper *keeper, const struct lab_scenario *scenario, const struct lab_kept *kept,
                  uint64_t nth, uint64_t events_each, struct sim_error *error)
{
    struct lab_result *result = NULL;
    *keeper = (struct keeper){.left = nth,
                              .snapshots = {.put = put,
                                            .context = keeper,
                                            .kept = kept,
                                            .kept_count = kept != NULL,
                                            .events_each = events_each}};
    const struct lab_run_context context = {.progress = &keeper->progress, .snapshots = &keeper->snapshots};
    atomic_store(&keeper->snapshots.wish, 1);
    /* The stream engine puts a state before it stops. The cluster engine stops before it has read a state,
     * and so does a run over a trace, which reads its rows before the state. */
    bool puts_first = scenario->agents.count == 0 && scenario->trace_path == NULL;
    atomic_store(&keeper->progress.stop, kept != NULL && puts_first);
    *error = (struct sim_error){SIM_ERROR_NONE, ""};
    bool ok = lab_run_in(scenario, 1, &context, &result, error);
    lab_result_destroy(result);
    return ok;
}

/* The size of the header before the fields: a state without fields, less the checksum at its end. */
static size_t head_size(const struct lab_scenario *scenario)
{
    struct sim_archive archive;
    unsigned char *data;
    size_t size;
    lab_snapshot_begin(scenario, &archive);
    assert_true(sim_archive_finish_save(&archive, &data, &size, NULL));
    free(data);
    return size - sizeof(uint64_t);
}

static void alter(unsigned char *fields, size_t size, size_t number)
{
    size_t at = number * size / alterations, word = size - at < 8 ? size - at : 8;
    switch (number % 6) {
    case 0:
        fields[at]++;
        break;
    case 1:
        fields[at] ^= 0x80;
        break;
    case 2:
        memset(fields + at, 0xff, word);
        break;
    case 3:
        memset(fields + at, 0, word);
        break;
    case 4:
        fields[at]--;
        break;
    default:
        memset(fields + at, 0xff, word / 2);
        break;
    }
}

static bool is_stopped(const struct sim_error *error)
{
    return strstr(error->text, "stopped before the end") != NULL;
}

/* A worker that resumes from its own state also puts the state that it has begun. In the stream engine the
 * bytes may therefore differ, but they must be accepted again. */
static void check_kept_again(const struct lab_scenario *scenario, const struct lab_kept *kept,
                             const struct keeper *keeper)
{
    struct keeper again;
    struct sim_error error;
    const struct lab_kept other = {0, keeper->data, keeper->size};
    if (scenario->agents.count > 0) {
        assert_int_equal(keeper->size, kept->size);
        assert_memory_equal(keeper->data, kept->data, kept->size);
        return;
    }
    if (!go_on(&again, scenario, &other, 1, 0, &error) && !is_stopped(&error))
        fail_msg("%s", error.text);
    free(again.data);
}

static bool is_taken(const struct lab_scenario *scenario, const unsigned char *fields, size_t size)
{
    struct sim_archive archive;
    struct sim_error error;
    struct keeper keeper;
    struct lab_kept kept = {0};
    unsigned char *whole;
    lab_snapshot_begin(scenario, &archive);
    sim_archive_bytes(&archive, (void *)(uintptr_t)fields, size);
    assert_true(sim_archive_finish_save(&archive, &whole, &kept.size, &error));
    kept.data = whole;
    bool is_over = go_on(&keeper, scenario, &kept, 1, 0, &error), is_kept = !is_over && is_stopped(&error);
    if (is_kept)
        check_kept_again(scenario, &kept, &keeper);
    else if (!is_over && strstr(error.text, "; ") == NULL)
        fail_msg("'%s' names no cure", error.text);
    free(keeper.data);
    free(whole);
    return is_over || is_kept;
}

static void test_altered_field_is_refused_or_saved_unchanged(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENARIOS; i++) {
        struct lab_scenario *scenario;
        struct sim_error error;
        struct keeper keeper;
        if (!lab_scenario_parse("x.yaml", scenarios[i].text, strlen(scenarios[i].text), NULL, 0, NULL,
                                &scenario, &error))
            fail_msg("%s: %s", scenarios[i].name, error.text);
        assert_false(go_on(&keeper, scenario, NULL, scenarios[i].nth, scenarios[i].events_each, &error));
        size_t head = head_size(scenario), size = keeper.size - head - sizeof(uint64_t), refused = 0;
        unsigned char *fields = malloc(size);
        assert_non_null(fields);
        assert_true(is_taken(scenario, keeper.data + head, size));
        for (size_t number = 0; number < alterations; number++) {
            memcpy(fields, keeper.data + head, size);
            alter(fields, size, number);
            refused += !is_taken(scenario, fields, size);
        }
        print_message("%s: %zu bytes, %zu refused\n", scenarios[i].name, size, refused);
        assert_true(refused > alterations / 20 && refused < alterations);
        free(fields);
        free(keeper.data);
        lab_scenario_destroy(scenario);
    }
}

static void write_small_trace(void)
{
    char line[256];
    FILE *from = fopen(BUCKETLAB_SOURCE_DIR "/scenarios/traces/small.csv", "r"), *to = fopen(SMALL, "w");
    assert_true(from != NULL && to != NULL);
    for (int i = 0; i < 1000 && fgets(line, sizeof line, from) != NULL; i++)
        fputs(line, to);
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

int main(int count, char **arguments)
{
    write_small_trace();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_altered_field_is_refused_or_saved_unchanged),
    };
    alterations = count > 1 ? strtoull(arguments[1], NULL, 10) : test_part(alterations);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
