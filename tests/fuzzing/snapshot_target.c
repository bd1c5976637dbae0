/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loaders of snapshots. An input says how a real state is altered: a byte chooses the scenario, a byte
 * the moment, and two bytes the length to which it is truncated; then four bytes for each change, two for its
 * place and two for the new bytes. The checksum is recomputed, so that the checks of the fields themselves
 * are tested: either the state is loaded, and saved again at the first safe point, where the run stops, or
 * loading ends with one line of error. An altered state with a valid checksum can still cause a run that
 * never ends, since its clocks and rates are accepted as they are. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzzing.h"
#include "lab/run.h"
#include "lab/snapshot.h"

#define MOMENTS 16

static const char trace_text[] =
    "trace: {file: %s}\nreads: {latest: {rows: 20, rate: 1/s}}\n"
    "strategies: [{probabilistic: {bits: 2, threshold: 4}}, {time: {window: 20s}}, {hash: {buckets: 5}}]\n";
static const char *const texts[] = {
    "duration: 200s\nkeys: {count: 3, popularity: {zipf: 1}}\narrivals: {rate: 10/s}\nengine: exact\n"
    "reads: {latest: {rows: 20, rate: 1/s}}\nstrategies:\n  - probabilistic: {bits: 3, threshold: 4}\n"
    "  - time: {window: 20s}\n  - hash: {buckets: 5}\n  - count: {rows: 50, counter: external}\n",
    "duration: 200s\nkeys: {count: 3}\narrivals: {rate: 20/s, bursts: {on: 5s, off: 20s, factor: 10}}\n"
    "row: {bytes: {lognormal: {mean: 300, sigma: 1.0}}}\nengine: exact\n"
    "reads: {range: {rate: 1/s, age: 10s, span: 5s}}\nstrategies:\n"
    "  - weighted: {bytes: 2KB, threshold: 10}\n  - unbucketed: {}\n",
    "duration: 1000s\nkeys: {count: 3}\narrivals: {rate: 100/s}\nengine: thinned\n"
    "reads: {latest: {rows: 20, rate: 1/s}}\nstrategies:\n  - probabilistic: {bits: 5, threshold: 8}\n"
    "  - time: {window: 100s}\n  - count: {rows: 500, counter: external}\n",
    "duration: 20s\nkeys: {count: 2}\narrivals: {rate: 10/s}\ncluster: {nodes: 3, replication_factor: 3}\n"
    "agents: {count: 2, cache_ttl: 2s}\nreads: {latest: {rows: 20, rate: 1/s}}\nstrategies:\n"
    "  - probabilistic: {bits: 2, threshold: 4, coordination: three-state, lead: 4s}\n"
    "  - probabilistic: {bits: 2, threshold: 4, coordination: guarded, grant: 3s}\n    label: guarded\n"
    "  - count: {rows: 50, counter: lwt}\n",
    trace_text,
    "duration: 200s\nkeys: {count: 3}\narrivals: {rate: 10/s, late: {share: 5%, by: 2s}}\nengine: exact\n"
    "reads: {latest: {rows: 20, rate: 1/s}}\nstrategies:\n"
    "  - time: {window: 20s, then: [{at: 100s, window: 40s}]}\n"
    "  - hash: {buckets: 4, then: [{at: 50s, buckets: 8}, {at: 100s, buckets: 2, keep_old: false}]}\n"
    "  - count: {rows: 50, counter: external, then: [{at: 100s, rows: 80}]}\n"
    "  - probabilistic: {bits: 3, threshold: 4, then: [{at: 100s, bits: 2, threshold: 4}]}\n",
};
#define SCENARIOS (sizeof texts / sizeof *texts)

/* The last states that an undisturbed run saved. */
struct known {
    struct lab_scenario *scenario;
    size_t count;
    struct state {
        uint32_t part;
        unsigned char *data;
        size_t size;
    } states[MOMENTS];
    size_t puts;
    struct lab_progress progress;
    struct lab_snapshots snapshots;
};

/* A file with some keys' rows, which is unlinked and stays open as long as the program runs. */
static const char *trace_file(void)
{
    static char path[32];
    char name[] = "/tmp/bucketlab-fuzz-XXXXXX";
    int file = mkstemp(name);
    fuzzing_require(file >= 0 && unlink(name) == 0, "a file can be made in /tmp");
    dprintf(file, "timestamp_ms,key,bytes\n");
    for (int i = 0; i < 2000; i++)
        dprintf(file, "%d,key %d,%d\n", i * 100, i * i % 7, 100 + i % 9);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}

static void keep(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size)
{
    struct known *known = context;
    (void)parts;
    fuzzing_require(data != NULL, "memory can be had");
    atomic_fetch_add(&known->snapshots.wish, 1);
    struct state *state = &known->states[known->puts % MOMENTS];
    known->puts++;
    if (known->count < MOMENTS)
        known->count++;
    free(state->data);
    *state = (struct state){part, malloc(size), size};
    fuzzing_require(state->data != NULL, "memory can be had");
    memcpy(state->data, data, size);
}

static struct known *known_of(size_t index)
{
    static struct known known[SCENARIOS];
    struct known *mine = &known[index];
    if (mine->scenario != NULL)
        return mine;
    struct sim_error error = {0};
    struct lab_result *result;
    char text[1024];
    const char *trace = strstr(texts[index], "%s");
    int size = trace == NULL ? snprintf(text, sizeof text, "%s", texts[index])
                             : snprintf(text, sizeof text, "%.*s%s%s", (int)(trace - texts[index]),
                                        texts[index], trace_file(), trace + strlen("%s"));
    fuzzing_require(size < (int)sizeof text, "a scenario is longer than its place");
    bool is_fine = lab_scenario_parse("x.yaml", text, strlen(text), NULL, 0, NULL, &mine->scenario, &error);
    fuzzing_require(is_fine, error.text);
    mine->snapshots.put = keep;
    mine->snapshots.context = mine;
    mine->snapshots.wish = 1;
    const struct lab_run_context context = {.progress = &mine->progress, .snapshots = &mine->snapshots};
    fuzzing_require(lab_run_in(mine->scenario, 1, &context, &result, &error), error.text);
    lab_result_destroy(result);
    fuzzing_require(mine->count > 0, "each run has put a state");
    return mine;
}

/* The size of the parts around the fields: the header and a trailing word. */
static size_t frame_size(const struct lab_scenario *scenario)
{
    struct sim_archive archive;
    struct sim_error error;
    unsigned char *data;
    size_t size;
    lab_snapshot_begin(scenario, &archive);
    fuzzing_require(sim_archive_finish_save(&archive, &data, &size, &error), "memory can be had");
    free(data);
    return size;
}

static void ignore(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size)
{
    (void)context;
    (void)part;
    (void)parts;
    (void)data;
    (void)size;
}

static void go_on(const struct known *known, uint32_t part, const unsigned char *data, size_t size)
{
    const struct lab_kept kept = {part, data, size};
    struct lab_snapshots snapshots = {.put = ignore, .kept = &kept, .kept_count = 1};
    struct lab_progress progress = {.stop = true};
    const struct lab_run_context context = {.progress = &progress, .snapshots = &snapshots};
    struct lab_result *result;
    struct sim_error error = {0};
    if (lab_run_in(known->scenario, 1, &context, &result, &error))
        lab_result_destroy(result);
    else
        fuzzing_require_error(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    struct known *known = known_of(data[0] % SCENARIOS);
    const struct state *state = &known->states[data[1] % known->count];
    size_t head = frame_size(known->scenario) - sizeof(uint64_t);
    size_t fields = state->size - head - sizeof(uint64_t), cut = (size_t)data[2] | (size_t)data[3] << 8;
    if (cut != 0 && cut < fields)
        fields = cut;
    unsigned char *altered = malloc(fields + 1);
    fuzzing_require(altered != NULL, "memory can be had");
    memcpy(altered, state->data + head, fields);
    for (size_t i = 4; i + 4 <= size && fields >= 2; i += 4) {
        size_t at = ((size_t)data[i] | (size_t)data[i + 1] << 8) % (fields - 1);
        altered[at] ^= data[i + 2];
        altered[at + 1] ^= data[i + 3];
    }
    struct sim_archive archive;
    struct sim_error error;
    unsigned char *whole;
    size_t whole_size;
    lab_snapshot_begin(known->scenario, &archive);
    sim_archive_bytes(&archive, altered, fields);
    fuzzing_require(sim_archive_finish_save(&archive, &whole, &whole_size, &error), "memory can be had");
    go_on(known, state->part, whole, whole_size);
    free(whole);
    free(altered);
    return 0;
}
