/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs settings in the lab, and takes the figures that a contest needs from the results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "kernel/digest.h"
#include "lab/metric.h"
#include "lab/scenario.h"
#include "tune/contest.h"

enum lab_engine tune_engine(const struct lab_scenario *scenario, double factor)
{
    const double rows =
        scenario->workload.rate_per_s * factor * 1e-9 * (double)scenario->workload.duration_ns;
    const bool is_long = (factor != 1 || rows >= LAB_THINNED_ROWS) && lab_thin_is_faster(scenario, rows);
    return scenario->engine != LAB_ENGINE_CLUSTER && is_long && lab_thin_refusal(scenario) == NULL
               ? LAB_ENGINE_THINNED
               : scenario->engine;
}

void tune_scenario_of(const struct lab_scenario *scenario, struct lab_strategy *strategies, size_t count,
                      uint64_t seed, double factor, struct lab_scenario *out)
{
    *out = *scenario;
    out->strategies = strategies;
    out->strategy_count = count;
    out->observed_count = 0;
    out->expects = NULL;
    out->expect_count = 0;
    out->seed = out->workload.seed = out->network.seed = seed;
    out->workload.rate_per_s *= factor;
    /* This is determined by the scenario's own strategies, so that the figures of a setting do not depend on
     * the others in the same run. */
    out->reads.are_expected = lab_reads_can_be_expected(scenario);
    out->engine = tune_engine(scenario, factor);
    out->is_raced = out->engine != LAB_ENGINE_CLUSTER;
}

const char *const tune_figure_names[TUNE_FIGURE_COUNT] = {
    [TUNE_COST] = "cost_per_1000_rows",
    [TUNE_COST_WRITE] = "cost_of_writes_per_1000_rows",
    [TUNE_CV] = "partitions.closed.rows.cv",
    [TUNE_PER_READ] = "reads.partitions_per_read.mean",
    [TUNE_PER_READ_P99] = "reads.partitions_per_read.p99",
    [TUNE_P99_BYTES] = "partitions.all.bytes.p99",
    [TUNE_OVER] = "partitions.over_limit.share",
    [TUNE_TINY] = "partitions.tiny.share",
    [TUNE_OPS] = "writes.extra_ops_per_1000_rows",
    [TUNE_INCREMENTS] = "writes.counter_increments_per_1000_rows",
    [TUNE_ROWS_MEAN] = "partitions.rows.mean",
    [TUNE_BYTES_MEAN] = "partitions.bytes.mean",
    [TUNE_FIRST_OVER] = "partitions.first_over_days",
    [TUNE_ROWS] = "writes.rows",
    [TUNE_REFUSED] = "writes.refused",
    [TUNE_REPLACED] = "rows.overwritten",
    [TUNE_MISROUTED] = "writes.misrouted",
    [TUNE_READS] = "reads.count",
    [TUNE_READS_FAILED] = "reads.failed",
    [TUNE_WRITE_P999] = "latency.write.p999",
    [TUNE_NODE_DAYS] = "capacity.days",
    [TUNE_NODE_BYTES] = "capacity.bytes_per_node",
    [TUNE_NODE_DISK] = "capacity.disk_per_node",
    [TUNE_NODE_WRITES] = "capacity.writes_per_node",
    [TUNE_NODE_READS] = "capacity.reads_per_node",
};

/* The number that identifies the run of a setting at `factor` times the scenario's rate: a digest of
 * everything that it depends on, except for the scenario. */
static uint64_t job_of(const struct lab_strategy *strategy, uint64_t seed, double factor)
{
    char text[TUNE_STRATEGY_TEXT_SIZE];
    uint64_t bits;
    tune_strategy_text(strategy, text);
    memcpy(&bits, &factor, sizeof bits);
    return sim_digest_chain(sim_digest_chain(seed, bits), bk_murmur3_128(text, strlen(text), 0).h1);
}

static double figure(const struct lab_metrics *metrics, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(metrics, name);
    return metric == NULL ? (double)NAN : metric->value;
}

static double share(double part, double all)
{
    return all > 0 ? part / all : (double)NAN;
}

/* The 99th percentile of the partitions' bytes; NaN if there is none. False: out of memory. */
static bool find_p99(const struct lab_strategy_result *result, double *out)
{
    const struct lab_histogram *closed = &result->closed_bytes, *open = &result->open_bytes;
    const uint64_t count = closed->count + open->count, rank = count / 100 + 1;
    const struct lab_sizes *sizes = &result->sizes[LAB_IN_BYTES];
    struct lab_sizes binned = {.small_count = 0};
    uint64_t found;
    *out = (double)NAN;
    if (count == 0)
        return true;
    if (closed->used + open->used > 0) {
        lab_histogram_merge(&binned.rest, closed);
        lab_histogram_merge(&binned.rest, open);
        sizes = &binned;
    }
    const bool is_found = lab_sizes_find(sizes, &rank, 1, &found);
    if (is_found)
        *out = (double)found;
    lab_sizes_clear(&binned);
    return is_found;
}

static uint64_t most_of(const struct lab_histogram *closed, const struct lab_histogram *open)
{
    return closed->most > open->most ? closed->most : open->most;
}

/* Of the closed partitions, or of all if none has closed. A run of a race has no such metric of all. */
static double mean_of(const struct lab_histogram *closed, const struct lab_histogram *open)
{
    const struct lab_histogram *some = closed->count > 0 ? closed : open;
    return share((double)some->sum, (double)some->count);
}

static bool see(const struct lab_result *run, const struct lab_strategy_result *result, struct tune_seen *out,
                struct sim_error *error)
{
    const struct lab_metrics *metrics = &result->metrics;
    const struct lab_histogram *rows = &result->closed_rows, *open_rows = &result->open_rows,
                               *bytes = &result->closed_bytes, *open_bytes = &result->open_bytes;
    const struct lab_score score = lab_score_of(run, result);
    const double closed = figure(metrics, "partitions.closed");
    double *figures = out->figures;
    double p99_bytes;
    *out = (struct tune_seen){.seed = run->seed,
                              .facts = lab_facts_of(run, result),
                              .disqualifiers = score.disqualifiers,
                              .refused = lab_refused_share(result),
                              .closed = isnan(closed) ? 0 : (uint64_t)closed,
                              .rows_most = most_of(rows, open_rows),
                              .bytes_most = most_of(bytes, open_bytes),
                              .candidate = score.candidate};
    if (!find_p99(result, &p99_bytes))
        return sim_fail_memory(error);
    for (unsigned i = 0; i < TUNE_FIGURE_COUNT; i++)
        figures[i] = figure(metrics, tune_figure_names[i]);
    figures[TUNE_COST] = score.cost;
    figures[TUNE_COST_WRITE] = lab_cost_of(&run->prices, result).write;
    figures[TUNE_CV] = share(figure(metrics, "partitions.closed.rows.stddev"),
                             figure(metrics, "partitions.closed.rows.mean"));
    figures[TUNE_P99_BYTES] = p99_bytes;
    figures[TUNE_OVER] = share(figure(metrics, "partitions.over_limit"), figure(metrics, "partitions.total"));
    figures[TUNE_TINY] = share(figure(metrics, "partitions.tiny"), closed);
    figures[TUNE_INCREMENTS] = share(1000 * figure(metrics, "writes.counter_increments"), figures[TUNE_ROWS]);
    figures[TUNE_ROWS_MEAN] = mean_of(rows, open_rows);
    figures[TUNE_BYTES_MEAN] = mean_of(bytes, open_bytes);
    /* A run of a race has no metric of all partitions. */
    const double rows_limit = (double)run->limits.partition_rows,
                 bytes_limit = (double)run->limits.partition_bytes;
    out->candidate.fullness = fmax(rows_limit > 0 ? (double)out->rows_most / rows_limit : 0,
                                   bytes_limit > 0 ? (double)out->bytes_most / bytes_limit : 0);
    return true;
}

bool tune_watch(const struct tune_contest *contest, const size_t *list, size_t count, uint64_t seed,
                double factor, uint32_t threads, struct lab_progress *progress, struct tune_seen *out,
                struct lab_result **kept, struct sim_error *error)
{
    const struct tune_memory *memory = contest->memory;
    struct lab_progress inner = {.parent = progress};
    const struct lab_run_context context = {.progress = &inner, .no_latencies = kept == NULL};
    struct lab_strategy *unknown = calloc(count, sizeof *unknown);
    size_t *places = calloc(count, sizeof *places), left = 0;
    struct lab_scenario scenario;
    struct lab_result *result = NULL;
    bool is_fine = (unknown != NULL && places != NULL) || sim_fail_memory(error);
    for (size_t i = 0; is_fine && i < count; i++) {
        const struct lab_strategy *strategy = &contest->entrants[list[i]].strategy;
        if (memory != NULL &&
            memory->recall(memory->context, job_of(strategy, seed, factor), &out[i], sizeof *out))
            continue;
        unknown[left] = *strategy;
        places[left++] = i;
    }
    if (is_fine && left > 0) {
        tune_scenario_of(contest->scenario, unknown, left, seed, factor, &scenario);
        is_fine = lab_run_in(&scenario, threads, &context, &result, error);
    } else if (is_fine && progress != NULL) {
        lab_recalled(progress);
    }
    for (size_t i = 0; is_fine && i < left; i++) {
        double *figures = out[places[i]].figures;
        is_fine = see(result, &result->strategies[i], &out[places[i]], error);
        if (is_fine && scenario.trace_path != NULL) {
            const double times = lab_growth_times(contest->outlook.growth.per_day, contest->outlook.days,
                                                  figures[TUNE_NODE_DAYS]);
            figures[TUNE_NODE_BYTES] *= times;
            figures[TUNE_NODE_DISK] *= times;
        }
        if (is_fine && memory != NULL)
            memory->keep(memory->context, job_of(&unknown[i], seed, factor), &out[places[i]], sizeof *out);
    }
    if (is_fine && kept != NULL)
        *kept = result;
    else
        lab_result_destroy(result);
    free(unknown);
    free(places);
    return is_fine;
}
