/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a scenario with the engine that it specifies. */
#include "lab/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/cluster_engine.h"
#include "lab/drift.h"
#include "lab/expects.h"
#include "lab/fields.h"
#include "lab/metric.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "lab/stored.h"
#include "lab/stream.h"
#include "lab/tuples.h"

bool lab_run(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
             struct lab_result **out, struct sim_error *error)
{
    return lab_run_in(scenario, jobs, &(const struct lab_run_context){.progress = progress}, out, error);
}

/* Makes the result of a scenario whose strategies are all observed. */
static bool run_none(const struct lab_scenario *scenario, struct lab_result **out, struct sim_error *error)
{
    int64_t start_ns = scenario->workload.start_ns;
    *out = lab_result_begin(scenario, 0, 0, start_ns, start_ns);
    return *out != NULL || sim_fail_memory(error);
}

/* With a table, the table's partitions replace the strategy's partitions (key, bucket). */
static bool settle(const struct lab_scenario *scenario, struct lab_stream_result *stream,
                   struct sim_error *error)
{
    for (size_t i = 0; LAB_KEEPS_STORED(scenario) && i < scenario->strategy_count; i++) {
        if (!lab_stored_settle(stream->tallies[i].stored, &stream->tallies[i]))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: strategy '%s' gives the table more than %u rows or partitions to "
                            "remember; add an id to its 'clustering', or shorten 'duration'",
                            scenario->path, scenario->strategies[i].line, scenario->strategies[i].column,
                            scenario->strategies[i].label, LAB_TUPLES_MAX);
    }
    return true;
}

static struct lab_result *stream_result(const struct lab_scenario *scenario, struct lab_stream_result *stream)
{
    struct lab_result *result =
        lab_result_begin(scenario, stream->rows, stream->keys, stream->start_ns, stream->end_ns);
    bool ok = result != NULL;
    if (ok) {
        result->weeks = stream->weeks;
        result->week_count = stream->week_count;
        stream->weeks = NULL;
    }
    for (size_t i = 0; ok && i < scenario->strategy_count; i++) {
        struct lab_strategy_result *strategy = lab_result_add(result, scenario, i, &stream->tallies[i]);
        ok = strategy != NULL &&
             lab_metrics_of_tally(&stream->tallies[i], scenario, stream->start_ns, scenario->cluster.nodes,
                                  &strategy->metrics) &&
             lab_result_nodes(strategy, scenario, &stream->tallies[i]);
        if (ok)
            lab_result_take(strategy, &stream->tallies[i]);
    }
    if (!ok) {
        lab_result_destroy(result);
        return NULL;
    }
    return result;
}

static bool run_stream(const struct lab_scenario *scenario, uint32_t jobs,
                       const struct lab_run_context *context, struct lab_result **out,
                       struct sim_error *error)
{
    struct cass_ring *ring;
    if (!lab_run_check(scenario, error) || !lab_ring_create(scenario, &ring, error))
        return false;
    struct lab_stream_result stream;
    bool ok = scenario->trace_path != NULL
                  ? lab_stream_trace(scenario, ring, context, &stream, error)
                  : lab_stream_synthetic(scenario, ring, jobs, context, &stream, error);
    if (!ok) {
        cass_ring_destroy(ring);
        return false;
    }
    ok = settle(scenario, &stream, error);
    cass_ring_destroy(ring);
    *out = ok ? stream_result(scenario, &stream) : NULL;
    lab_stream_result_clear(&stream, scenario->strategy_count);
    return *out != NULL || (ok && sim_fail_memory(error));
}

bool lab_run_in(const struct lab_scenario *scenario, uint32_t jobs, const struct lab_run_context *context,
                struct lab_result **out, struct sim_error *error)
{
    assert(jobs >= 1);
    *out = NULL;
    struct lab_result *result;
    struct lab_strategy_result *observed;
    if (!lab_expects_check(scenario, error) ||
        !lab_observed_read(scenario, context->progress, &observed, error))
        return false;
    bool ok = scenario->strategy_count == 0 ? run_none(scenario, &result, error)
              : scenario->engine == LAB_ENGINE_CLUSTER
                  ? lab_cluster_scenario(scenario, jobs, context, &result, error)
                  : run_stream(scenario, jobs, context, &result, error);
    if (!ok) {
        lab_observed_free(observed, scenario->observed_count);
        return false;
    }
    /* A run that only judges, or stops early, does not count all rows. */
    const bool is_whole = !context->only_judges && context->stops_at == 0 && context->stops_at_rows == 0;
    if (is_whole && !lab_books_check(scenario, result, error)) {
        lab_observed_free(observed, scenario->observed_count);
        lab_result_destroy(result);
        return false;
    }
    lab_observed_append(result, observed, scenario->observed_count);
    if (!lab_expects_judge(scenario, result, error)) {
        lab_result_destroy(result);
        return false;
    }
    *out = result;
    return true;
}
