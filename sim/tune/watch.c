/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the strategies of a contest and extracts the figures that it needs from each result. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judgment.h"
#include "lab/runnable.h"
#include "tune/contest.h"

static bool is_own(const struct lab_scenario *scenario, const struct lab_strategy *strategy)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (strcmp(scenario->strategies[i].label, strategy->label) == 0)
            return true;
    }
    return false;
}

bool tune_ends_by_rows(const struct lab_strategy *strategy)
{
    const struct bk_strategy *settings = &strategy->settings.strategy;
    return settings->max_age_ns == 0 && (settings->kind == BK_COUNT || settings->kind == BK_PROBABILISTIC ||
                                         settings->kind == BK_WEIGHTED);
}

/* Says when a run in the cluster engine may stop, since a single violation, or a single partition above the
 * limit where none may be, shows that the setting fails. In the race, the scenario's own settings are shown
 * with their figures, and so is one whose partitions never end. For a margin, partitions above the limit are
 * counted at the lowest rate, and where rates are tried from the lowest up. */
static void stop_early(const struct tune_contest *contest, const struct lab_strategy *strategy, double factor,
                       struct lab_run_context *out)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    const enum bk_kind kind = strategy->settings.strategy.kind;
    const bool is_raced = factor == 1;
    const bool needs_no_sizes =
        is_raced ? lab_kind_ends(kind) : factor > TUNE_MARGIN_LEAST && tune_ends_by_rows(strategy);
    if (!contest->stops_early || !contest->race.drops || (is_raced && is_own(contest->scenario, strategy)))
        return;
    out->stops_at = UINT32_C(1) << LAB_ORACLE_FINDABLE | UINT32_C(1) << LAB_ORACLE_NEWEST;
    if (needs_no_sizes && contest->race.terms.share == 0 && limits->partition_rows != 0)
        out->stops_at_rows = limits->partition_rows + 1;
}

/* Returns whether a later step needs the latencies of a run in the cluster engine: those with the scenario's
 * own seed may be stored, and the search for the lead begins with those of its seeds. */
static bool needs_latencies(const struct tune_contest *contest, const struct lab_strategy *strategy,
                            uint64_t seed, double factor)
{
    const uint64_t seeds = strategy->settings.coordination == BK_THREE_STATE ? TUNE_LEAD_SEEDS : 1;
    return factor == 1 && seed - contest->scenario->seed < seeds;
}

/* Returns whether the table may list the setting: it is the scenario's own, or one seed does not show that it
 * fails. */
static bool may_be_listed(const struct tune_contest *contest, const struct lab_strategy *strategy,
                          const struct tune_seen *seen)
{
    return is_own(contest->scenario, strategy) ||
           (seen->violations == 0 && seen->refused <= LAB_REFUSED_MOST &&
            (contest->race.terms.share > 0 || seen->over == 0));
}

/* Keeps what later steps need of the run of a single setting in the cluster engine, where each run is one of
 * its own. Returns whether it took ownership of the result. */
static bool keep_for_later(const struct tune_contest *contest, const struct lab_strategy *strategy,
                           const struct tune_seen *seen, uint64_t seed, struct lab_result *result)
{
    const struct tune_memory *memory = contest->memory;
    if (memory != NULL && strategy->settings.coordination == BK_THREE_STATE && !tune_is_cut(seen) &&
        needs_latencies(contest, strategy, seed, 1)) {
        struct tune_lead_finding finding;
        tune_lead_see(result, &finding);
        memory->keep(memory->context, tune_lead_job(strategy, strategy->settings.lead_ns, seed), &finding,
                     sizeof finding);
    }
    if (!contest->keeps_results || seed != contest->scenario->seed || !may_be_listed(contest, strategy, seen))
        return false;
    tune_kept_result(contest->kept, tune_memory_job(strategy, seed, 1), result);
    return true;
}

/* Runs these strategies together. `which`: under which factor they are remembered. */
static bool watch(const struct tune_contest *contest, struct lab_strategy *strategies, size_t count,
                  uint64_t seed, double factor, double which, uint32_t threads,
                  const struct lab_run_context *run, struct tune_seen *out, struct sim_error *error)
{
    const struct tune_memory *memory = contest->memory;
    struct lab_scenario scenario;
    struct lab_result *result = NULL;
    tune_scenario_of(contest->scenario, strategies, count, seed, factor, &scenario);
    bool is_fine = lab_run_in(&scenario, threads, run, &result, error);
    for (size_t i = 0; is_fine && i < count; i++)
        is_fine =
            tune_see(&result->strategies[i], &result->prices, contest->race.terms.share, &out[i], error);
    for (size_t i = 0; is_fine && memory != NULL && i < count; i++)
        memory->keep(memory->context, tune_memory_job(&strategies[i], seed, which), &out[i], sizeof *out);
    const bool is_alone = scenario.engine == LAB_ENGINE_CLUSTER && factor == 1;
    assert(count == 1 || !is_alone);
    if (!is_fine || !is_alone || !keep_for_later(contest, strategies, out, seed, result))
        lab_result_destroy(result);
    return is_fine;
}

bool tune_watch_at(const struct tune_contest *contest, struct lab_strategy *strategies, size_t count,
                   uint64_t seed, double factor, uint32_t threads, struct lab_progress *progress,
                   struct tune_seen *out, struct sim_error *error)
{
    const struct tune_memory *memory = contest->memory;
    struct lab_progress inner = {.parent = progress};
    struct lab_run_context run = {.progress = &inner};
    if (tune_engine(contest->scenario, factor) == LAB_ENGINE_CLUSTER) {
        stop_early(contest, strategies, factor, &run);
        run.no_latencies = !needs_latencies(contest, strategies, seed, factor);
    }
    const double which = run.stops_at != 0 ? TUNE_STOPS_EARLY * factor : factor;
    struct lab_strategy *unknown = calloc(count, sizeof *unknown);
    struct tune_seen *seen = calloc(count, sizeof *seen);
    size_t *places = calloc(count, sizeof *places), left = 0;
    bool is_fine = (unknown != NULL && seen != NULL && places != NULL) || sim_fail_memory(error);
    for (size_t i = 0; is_fine && i < count; i++) {
        if (memory != NULL && memory->recall(memory->context, tune_memory_job(&strategies[i], seed, which),
                                             &out[i], sizeof *out))
            continue;
        unknown[left] = strategies[i];
        places[left++] = i;
    }
    if (is_fine && left > 0)
        is_fine = watch(contest, unknown, left, seed, factor, which, threads, &run, seen, error);
    if (is_fine && left == 0 && progress != NULL)
        lab_recalled(progress);
    for (size_t i = 0; is_fine && i < left; i++)
        out[places[i]] = seen[i];
    free(unknown);
    free(seen);
    free(places);
    return is_fine;
}

bool tune_watch_lab(void *context, const struct tune_entrant *const *entrants, size_t count,
                    uint32_t seed_index, uint32_t threads, struct lab_progress *progress,
                    struct tune_seen *out, struct sim_error *error)
{
    const struct tune_contest *contest = context;
    struct lab_strategy *strategies = calloc(count, sizeof *strategies);
    if (strategies == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        strategies[i] = entrants[i]->strategy;
    bool is_fine = tune_watch_at(contest, strategies, count, contest->scenario->seed + seed_index, 1, threads,
                                 progress, out, error);
    free(strategies);
    return is_fine;
}

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

static double figure(const struct lab_metrics *metrics, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(metrics, name);
    return metric == NULL ? (double)NAN : metric->value;
}

/* Returns a metric as an integer; 0 if it does not exist. */
static uint64_t whole(const struct lab_metrics *metrics, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(metrics, name);
    return metric == NULL ? 0 : (uint64_t)metric->value;
}

static double share(double part, double all)
{
    return all > 0 ? part / all : (double)NAN;
}

/* Finds the least size that at most the share `risk` of the partitions exceeds, the largest one, and the one
 * of partitions.all.bytes.p99, which is NaN if there is no partition. */
static bool see_sizes(const struct lab_sizes *sizes, const struct lab_histogram *closed,
                      const struct lab_histogram *open, double risk, uint64_t *at_risk, uint64_t *most,
                      double *p99)
{
    const uint64_t count = closed->count + open->count, above = (uint64_t)(risk * (double)count);
    const uint64_t ranks[] = {(above < count ? above : count - 1) + 1, count / 100 + 1};
    struct lab_sizes binned = {.small_count = 0};
    uint64_t found[] = {0, 0};
    if (closed->used + open->used > 0) {
        lab_histogram_merge(&binned.rest, closed);
        lab_histogram_merge(&binned.rest, open);
        sizes = &binned;
    }
    const bool is_found = count == 0 || lab_sizes_find(sizes, ranks, 2, found);
    lab_sizes_clear(&binned);
    *most = closed->most > open->most ? closed->most : open->most;
    *at_risk = found[0];
    *p99 = count > 0 ? (double)found[1] : (double)NAN;
    return is_found;
}

bool tune_see(const struct lab_strategy_result *result, const struct lab_prices *prices, double risk,
              struct tune_seen *out, struct sim_error *error)
{
    const struct lab_metrics *metrics = &result->metrics;
    *out = (struct tune_seen){
        .partitions = whole(metrics, "partitions.total"),
        .closed = whole(metrics, "partitions.closed"),
        .over = whole(metrics, "partitions.over_limit"),
        .over_rows = whole(metrics, "partitions.over_limit_rows"),
        .over_bytes = whole(metrics, "partitions.over_limit_bytes"),
        .tiny = whole(metrics, "partitions.tiny"),
        .violations =
            whole(metrics, "oracle.findable.violations") + whole(metrics, "oracle.newest.violations"),
        .refused = lab_refused_share(result),
    };
    double *figures = out->figures;
    figures[TUNE_OPS] = figure(metrics, "writes.extra_ops_per_1000_rows");
    figures[TUNE_CV] = share(figure(metrics, "partitions.closed.rows.stddev"),
                             figure(metrics, "partitions.closed.rows.mean"));
    figures[TUNE_PER_READ] = figure(metrics, "reads.partitions_per_read.mean");
    figures[TUNE_PER_READ_P99] = figure(metrics, "reads.partitions_per_read.p99");
    figures[TUNE_OVER] = share((double)out->over, (double)out->partitions);
    figures[TUNE_TINY] = share((double)out->tiny, (double)out->closed);
    const struct lab_cost cost = lab_cost_of(prices, result);
    double rows = figure(metrics, "writes.rows");
    figures[TUNE_COST_WRITE] = cost.write;
    figures[TUNE_COST] = cost.write + cost.read;
    figures[TUNE_INCREMENTS] = share(1000 * figure(metrics, "writes.counter_increments"), rows);
    out->cost_so_far = figures[TUNE_COST];
    for (int i = 0; tune_is_cut(out) && i < TUNE_FIGURE_COUNT; i++)
        figures[i] = (double)NAN;
    double p99_rows;
    return (see_sizes(&result->sizes[LAB_IN_ROWS], &result->closed_rows, &result->open_rows, risk,
                      &out->rows_at_risk, &out->rows_most, &p99_rows) &&
            see_sizes(&result->sizes[LAB_IN_BYTES], &result->closed_bytes, &result->open_bytes, risk,
                      &out->bytes_at_risk, &out->bytes_most, &figures[TUNE_P99_BYTES])) ||
           sim_fail_memory(error);
}
