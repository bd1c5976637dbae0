/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The partial result is one outcome (store/outcomes.h), which the next one replaces. Its job is a digest of
 * the files that the scenario reads, which are only read for it when there is one to store or to find. */
#include "cli/partial.h"

#include <stdio.h>
#include <string.h>

#include "bucketing/hash.h"
#include "cli/clock.h"
#include "cli/text.h"
#include "kernel/digest.h"
#include "lab/context.h"

/* The time between two partial results, and its least multiple of the time to store one. */
#define EVERY_MS    1000
#define STORE_SHARE 10

static uint64_t add_bytes(uint64_t digest, const void *bytes, size_t size)
{
    return sim_digest_chain(digest, bk_murmur3_128(bytes, size, 0).h1);
}

struct store_work cli_work_of(const struct lab_scenario *scenario, const char *path, uint64_t options)
{
    struct store_work work;
    options = sim_digest_chain(options, scenario->seed);
    options = add_bytes(options, scenario->overrides, strlen(scenario->overrides));
    work.command = add_bytes(options, path, strlen(path));
    work.identity = add_bytes(options, BUCKETLAB_VERSION, strlen(BUCKETLAB_VERSION));
    work.identity = add_bytes(work.identity, scenario->text, scenario->text_size);
    return work;
}

static bool need_sources(struct cli_partial *partial, struct sim_error *error)
{
    if (!partial->has_sources && !lab_sources(partial->scenario, &partial->sources, error))
        return false;
    return partial->has_sources = true;
}

static void tell(const struct cli_partial *partial, const char *before, const char *text, const char *after)
{
    if (partial->is_quiet)
        return;
    fputs(before, stderr);
    cli_print_text(stderr, text);
    fprintf(stderr, "%s\n", after);
}

/* Called from a thread of the run. An error is reported once, and the run continues without this partial
 * result. */
static void put(void *context, const unsigned char *data, size_t size)
{
    struct cli_partial *partial = context;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    int64_t begin_ms = cli_now_ms();
    bool is_kept = need_sources(partial, &error);
    const struct store_outcome outcome = {partial->sources, size, (unsigned char *)(uintptr_t)data};
    is_kept = is_kept && store_outcomes_keep(partial->store, &partial->work, &outcome, 1, &error);
    partial->is_kept = partial->is_kept || is_kept;
    if (!is_kept && partial->lost.class == SIM_ERROR_NONE)
        tell(partial, "warning: the run continues, but its partial result could not be stored: ", error.text,
             "");
    partial->lost = error;
    int64_t wait_ms = STORE_SHARE * cli_passed_ms(begin_ms);
    partial->next_ms = cli_passed_ms(partial->begin_ms) + (wait_ms > EVERY_MS ? wait_ms : EVERY_MS);
}

bool cli_partial_open(struct cli_partial *partial, const char *database, const struct lab_scenario *scenario,
                      const char *path, bool is_quiet, struct sim_error *error)
{
    memset(partial, 0, sizeof *partial);
    if (scenario->engine == LAB_ENGINE_CLUSTER)
        return true;
    partial->lab.put = put;
    partial->lab.context = partial;
    partial->database = database;
    partial->scenario = scenario;
    partial->is_quiet = is_quiet;
    partial->work = cli_work_of(scenario, path, 0);
    partial->begin_ms = cli_now_ms();
    partial->next_ms = EVERY_MS;
    if (!store_open(database, STORE_WRITE, &partial->store, error) ||
        !store_outcomes_load(partial->store, &partial->work, &partial->known, &partial->known_count, error))
        return false;
    if (partial->known_count == 0)
        return true;
    if (!need_sources(partial, error))
        return false;
    for (size_t i = 0; i < partial->known_count; i++) {
        if (partial->known[i].job != partial->sources)
            continue;
        partial->lab.kept = partial->known[i].bytes;
        partial->lab.kept_size = partial->known[i].size;
        partial->is_kept = true;
        tell(partial, "the run resumes from its partial result in ", database, "");
        return true;
    }
    tell(partial,
         "warning: ", scenario->trace_path == NULL ? "a file that the scenario reads" : scenario->trace_path,
         " has changed since the run was stopped; the run begins again");
    return true;
}

void cli_partial_close(struct cli_partial *partial)
{
    store_outcomes_free(partial->known, partial->known_count);
    store_close(partial->store);
    memset(partial, 0, sizeof *partial);
}

void cli_partial_tick(struct cli_partial *partial, int64_t elapsed_ms)
{
    if (partial->store == NULL || elapsed_ms < partial->next_ms)
        return;
    partial->next_ms = INT64_MAX; /* until this one is stored */
    atomic_fetch_add_explicit(&partial->lab.wish, 1, memory_order_relaxed);
}

bool cli_partial_stopped(const struct cli_partial *partial, struct sim_error *error)
{
    const struct sim_error lost = partial->lost;
    if (!partial->is_kept && lost.class != SIM_ERROR_NONE)
        return sim_fail(error, lost.class, "interrupted; nothing was stored: %s", lost.text);
    if (!partial->is_kept)
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    return sim_fail(
        error, SIM_ERROR_CHECK,
        "interrupted; the keys that are done are in %s, and the same command resumes with the others",
        partial->database);
}

bool cli_partial_forget(struct cli_partial *partial, struct sim_error *error)
{
    return !partial->is_kept || store_outcomes_forget(partial->store, &partial->work, error);
}
