/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lab/run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/digest.h"
#include "metrics.h"
#include "stream.h"

/* Each key under way keeps a cell a bucket. */
#define HASH_BUCKETS_MAX (UINT32_C(1) << 20)

static bool check(const struct lab_scenario *scenario, struct sim_error *error);
static struct lab_result *make_result(const struct lab_scenario *scenario, struct lab_stream_result *stream,
                                      uint32_t nodes);
static bool fill_strategy(const struct lab_scenario *scenario, size_t index, struct lab_tally *tally,
                          uint32_t nodes, struct lab_strategy_result *out);
static bool judge(const struct lab_scenario *scenario, struct lab_result *result, struct sim_error *error);
static char *copy_text(const char *text);

bool lab_run(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
             struct lab_result **out, struct sim_error *error)
{
    assert(jobs >= 1);
    *out = NULL;
    struct cass_ring *ring;
    if (!check(scenario, error) ||
        !cass_ring_create(scenario->seed, scenario->cluster.nodes, scenario->cluster.num_tokens,
                          scenario->cluster.replication_factor, &ring, error))
        return false;
    if (progress != NULL && scenario->trace_path == NULL)
        atomic_store(&progress->total, scenario->workload.key_count);
    struct lab_stream_result stream;
    bool ok = scenario->trace_path != NULL ? lab_stream_trace(scenario, ring, progress, &stream, error)
                                           : lab_stream_made(scenario, ring, jobs, progress, &stream, error);
    cass_ring_destroy(ring);
    if (!ok)
        return false;
    struct lab_result *result = make_result(scenario, &stream, scenario->cluster.nodes);
    lab_stream_result_clear(&stream, scenario->strategy_count);
    if (result == NULL)
        return sim_fail_memory(error);
    if (!judge(scenario, result, error)) {
        lab_result_destroy(result);
        return false;
    }
    *out = result;
    return true;
}

/* What only the engine knows to be too much. */
static bool check(const struct lab_scenario *scenario, struct sim_error *error)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        if (strategy->strategy.kind == BK_HASH && strategy->strategy.of.hash.buckets > HASH_BUCKETS_MAX)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: %u hash buckets are more than a run can hold; use at most %u",
                            scenario->path, strategy->line, strategy->column,
                            strategy->strategy.of.hash.buckets, HASH_BUCKETS_MAX);
    }
    const struct wl_workload *workload = &scenario->workload;
    return scenario->trace_path != NULL ||
           lab_check_walks(scenario, workload->start_ns, workload->start_ns + workload->duration_ns, error);
}

static struct lab_result *make_result(const struct lab_scenario *scenario, struct lab_stream_result *stream,
                                      uint32_t nodes)
{
    struct lab_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        return NULL;
    const char *source = scenario->trace_path == NULL ? "made" : strrchr(scenario->trace_path, '/');
    if (source == NULL)
        source = scenario->trace_path;
    else if (*source == '/')
        source++;
    result->scenario_name = copy_text(scenario->name);
    result->about = copy_text(scenario->about);
    result->source = copy_text(source);
    result->seed = scenario->seed;
    result->rows = stream->rows;
    result->keys = stream->keys;
    result->start_ns = stream->start_ns;
    result->end_ns = stream->end_ns;
    result->limits = scenario->limits;
    result->strategies = calloc(scenario->strategy_count, sizeof *result->strategies);
    bool ok = result->scenario_name != NULL && result->about != NULL && result->source != NULL &&
              result->strategies != NULL;
    uint64_t digest = sim_digest_chain(sim_digest_chain(0, stream->rows), stream->keys);
    for (size_t i = 0; ok && i < scenario->strategy_count; i++) {
        result->strategy_count = i + 1;
        ok = fill_strategy(scenario, i, &stream->tallies[i], nodes, &result->strategies[i]);
        digest = sim_digest_chain(digest, stream->tallies[i].placement_digest);
    }
    result->digest = digest;
    if (!ok) {
        lab_result_destroy(result);
        return NULL;
    }
    return result;
}

/* The histograms move from the tally to the result. */
static bool fill_strategy(const struct lab_scenario *scenario, size_t index, struct lab_tally *tally,
                          uint32_t nodes, struct lab_strategy_result *out)
{
    out->label = copy_text(scenario->strategies[index].label);
    out->strategy = scenario->strategies[index].strategy;
    out->placement_digest = tally->placement_digest;
    if (out->label == NULL || tally->out_of_memory || tally->closed_rows.out_of_memory ||
        tally->open_rows.out_of_memory || tally->closed_bytes.out_of_memory ||
        tally->open_bytes.out_of_memory || tally->read_partitions.out_of_memory ||
        !lab_metrics_of_tally(tally, scenario, nodes, &out->metrics))
        return false;
    out->closed_rows = tally->closed_rows;
    out->open_rows = tally->open_rows;
    out->closed_bytes = tally->closed_bytes;
    out->open_bytes = tally->open_bytes;
    out->read_partitions = tally->read_partitions;
    lab_histogram_init(&tally->closed_rows);
    lab_histogram_init(&tally->open_rows);
    lab_histogram_init(&tally->closed_bytes);
    lab_histogram_init(&tally->open_bytes);
    lab_histogram_init(&tally->read_partitions);
    return true;
}

static bool judge(const struct lab_scenario *scenario, struct lab_result *result, struct sim_error *error)
{
    result->expects_hold = true;
    if (scenario->expect_count == 0)
        return true;
    result->expects = calloc(scenario->expect_count, sizeof *result->expects);
    if (result->expects == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < scenario->expect_count; i++) {
        const struct lab_expect *expect = &scenario->expects[i];
        const struct lab_metric *metric = lab_result_find(result, expect->metric);
        if (metric == NULL)
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "%s:%d:%d: this run has no metric '%s'; `bucketlab run --json` shows those that it has",
                scenario->path, expect->line, expect->column, expect->metric);
        struct lab_expect_result *judged = &result->expects[i];
        judged->text = copy_text(expect->text);
        result->expect_count = i + 1;
        if (judged->text == NULL)
            return sim_fail_memory(error);
        judged->actual = metric->value;
        judged->ok = lab_expect_holds(expect, metric->value);
        result->expects_hold = result->expects_hold && judged->ok;
    }
    return true;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}
