/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lab/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_run.h"
#include "kernel/text.h"
#include "metrics.h"
#include "observed.h"
#include "result_make.h"
#include "ring.h"
#include "scenario_field.h"
#include "stored.h"
#include "stream.h"
#include "tuples.h"

/* Each key under way keeps a cell a bucket. */
#define HASH_BUCKETS_MAX (UINT32_C(1) << 20)
/* Where rows come late, each key under way keeps all of its windows. */
#define WINDOWS_MAX (INT64_C(1) << 22)

static bool check_windows(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                          struct sim_error *error);
static bool run_none(const struct lab_scenario *scenario, struct lab_result **out, struct sim_error *error);
static bool run_stream(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
                       struct lab_result **out, struct sim_error *error);
static bool settle(const struct lab_scenario *scenario, struct lab_stream_result *stream,
                   struct sim_error *error);
static struct lab_result *stream_result(const struct lab_scenario *scenario,
                                        struct lab_stream_result *stream);
static bool judge(const struct lab_scenario *scenario, struct lab_result *result, struct sim_error *error);
static bool fail_metric(const struct lab_scenario *scenario, const struct lab_expect *expect,
                        const struct lab_result *result, struct sim_error *error);

bool lab_run(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
             struct lab_result **out, struct sim_error *error)
{
    return lab_run_told(scenario, jobs, progress, NULL, out, error);
}

bool lab_run_told(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
                  const struct lab_story *story, struct lab_result **out, struct sim_error *error)
{
    assert(jobs >= 1);
    *out = NULL;
    struct lab_result *result;
    struct lab_strategy_result *observed;
    if (!lab_observed_read(scenario, progress, &observed, error))
        return false;
    bool ok = scenario->strategy_count == 0 ? run_none(scenario, &result, error)
              : scenario->engine == LAB_ENGINE_CLUSTER
                  ? lab_cluster_scenario(scenario, jobs, progress, story, &result, error)
                  : run_stream(scenario, jobs, progress, &result, error);
    if (!ok) {
        lab_observed_free(observed, scenario->observed_count);
        return false;
    }
    lab_observed_append(result, observed, scenario->observed_count);
    if (!judge(scenario, result, error)) {
        lab_result_destroy(result);
        return false;
    }
    *out = result;
    return true;
}

/* All strategies are observed. */
static bool run_none(const struct lab_scenario *scenario, struct lab_result **out, struct sim_error *error)
{
    int64_t start_ns = scenario->workload.start_ns;
    *out = lab_result_begin(scenario, 0, 0, start_ns, start_ns);
    return *out != NULL || sim_fail_memory(error);
}

static bool run_stream(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
                       struct lab_result **out, struct sim_error *error)
{
    struct cass_ring *ring;
    if (!lab_run_check(scenario, error) || !lab_ring_create(scenario, &ring, error))
        return false;
    struct lab_stream_result stream;
    bool ok = scenario->trace_path != NULL ? lab_stream_trace(scenario, ring, progress, &stream, error)
                                           : lab_stream_made(scenario, ring, jobs, progress, &stream, error);
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

/* With a table its partitions take the place of those that the strategy alone would make. */
static bool settle(const struct lab_scenario *scenario, struct lab_stream_result *stream,
                   struct sim_error *error)
{
    for (size_t i = 0; scenario->design.is_given && i < scenario->strategy_count; i++) {
        if (!lab_stored_settle(stream->tallies[i].stored, &stream->tallies[i]))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: strategy '%s' gives the table more than %u rows or partitions to "
                            "remember; add an id to its 'clustering', or shorten 'duration'",
                            scenario->path, scenario->strategies[i].line, scenario->strategies[i].column,
                            scenario->strategies[i].label, LAB_TUPLES_MAX);
    }
    return true;
}

bool lab_run_check(const struct lab_scenario *scenario, struct sim_error *error)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        if (strategy->strategy.kind == BK_HASH && strategy->strategy.of.hash.buckets > HASH_BUCKETS_MAX)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: %u hash buckets are more than a run can hold; use at most %u",
                            scenario->path, strategy->line, strategy->column,
                            strategy->strategy.of.hash.buckets, HASH_BUCKETS_MAX);
        if (strategy->strategy.kind == BK_TIME && !check_windows(scenario, strategy, error))
            return false;
    }
    const struct wl_workload *workload = &scenario->workload;
    return scenario->trace_path != NULL ||
           lab_check_walks(scenario, workload->start_ns, workload->start_ns + workload->duration_ns, error);
}

/* A late row may open any window of the run, and of the time before it that rows still come from. */
static bool check_windows(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                          struct sim_error *error)
{
    const struct wl_workload *workload = &scenario->workload;
    int64_t window_ns = strategy->strategy.of.time.window_ns;
    if (!wl_has_own_times(workload) || window_ns == 0)
        return true;
    int64_t windows = workload->duration_ns / window_ns + wl_late_most_ns(workload) / window_ns;
    /* Nor has a key more of them than rows; bursts and spikes may bring twice the mean. */
    double rows = workload->rate_per_s * (double)workload->duration_ns +
                  workload->backfill_rate_per_s * (double)workload->backfill_before_ns;
    rows *= 2e-9 * sim_zipf_share(&workload->popularity, 0);
    if (windows <= WINDOWS_MAX || rows <= (double)WINDOWS_MAX)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%d:%d: with late rows each key keeps its windows, here up to %" PRId64
                    "; use a longer window, or leave out late, resolution and backfill",
                    scenario->path, strategy->line, strategy->column, windows);
}

static struct lab_result *stream_result(const struct lab_scenario *scenario, struct lab_stream_result *stream)
{
    struct lab_result *result =
        lab_result_begin(scenario, stream->rows, stream->keys, stream->start_ns, stream->end_ns);
    bool ok = result != NULL;
    for (size_t i = 0; ok && i < scenario->strategy_count; i++) {
        struct lab_strategy_result *strategy = lab_result_add(result, scenario, i, &stream->tallies[i]);
        ok = strategy != NULL &&
             lab_metrics_of_tally(&stream->tallies[i], scenario, scenario->cluster.nodes,
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
            return fail_metric(scenario, expect, result, error);
        struct lab_expect_result *judged = &result->expects[i];
        judged->text = lab_text_copy(expect->text);
        result->expect_count = i + 1;
        if (judged->text == NULL)
            return sim_fail_memory(error);
        judged->actual = metric->value;
        judged->ok = lab_expect_holds(expect, metric->value);
        result->expects_hold = result->expects_hold && judged->ok;
    }
    return true;
}

/* A metric may be misspelt; or the run does not have it, as those of closed partitions where none closes. */
static bool fail_metric(const struct lab_scenario *scenario, const struct lab_expect *expect,
                        const struct lab_result *result, struct sim_error *error)
{
    const char *nearest = NULL, *label = "";
    for (size_t i = 0; i < result->strategy_count && nearest == NULL; i++) {
        const struct lab_metrics *metrics = &result->strategies[i].metrics;
        label = result->strategies[i].label;
        size_t size = strlen(label);
        if (strncmp(expect->metric, label, size) != 0 || expect->metric[size] != '.')
            continue;
        const char **names = calloc(metrics->count + 1, sizeof *names);
        if (names == NULL)
            return sim_fail_memory(error);
        for (size_t j = 0; j < metrics->count; j++)
            names[j] = metrics->items[j].name;
        nearest = sim_nearest(expect->metric + size + 1, names, metrics->count);
        free(names);
    }
    const char *place = expect->line == 0 ? "--set expect" : scenario->path;
    char at[32] = "";
    if (expect->line != 0)
        snprintf(at, sizeof at, ":%d:%d", expect->line, expect->column);
    const char *live = strstr(expect->metric, ".oracle.live.violations");
    if (live != NULL && scenario->engine == LAB_ENGINE_CLUSTER)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "%s%s: this run has no metric '%s': too little of it is left after its faults to judge "
            "live; let them end sooner, or run for longer",
            place, at, expect->metric);
    if (nearest != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "%s%s: this run has no metric '%s'; did you mean '%s.%s'?",
                        place, at, expect->metric, label, nearest);
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s%s: this run has no metric '%s'; `bucketlab run --json` shows those that it has",
                    place, at, expect->metric);
}
