/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The twin of `tune`: settings of a search run again one by one, by lab_run(), and what the search says of
 * them follows from these runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers_twin.h"
#include "lab/run.h"
#include "tune/contest.h"

#define NEAR 1e-9

static bool is_near(double one, double other)
{
    return (isnan(one) && isnan(other)) || one == other || fabs(one - other) <= NEAR * fabs(other);
}

static double largest(double one, double other)
{
    return one > other ? one : other;
}

static struct lab_result *run_alone(const struct answer *answer, const struct tune_entrant *entrant,
                                    uint64_t seed)
{
    struct lab_scenario scenario = *answer->scenario;
    struct lab_strategy strategy = entrant->strategy;
    struct lab_result *result;
    struct sim_error error;
    scenario.strategies = &strategy;
    scenario.strategy_count = 1;
    scenario.observed_count = 0;
    scenario.seed = scenario.workload.seed = scenario.network.seed = seed;
    if (!lab_run(&scenario, 1, NULL, &result, &error)) {
        twin_differs(answer, "%s: %s", strategy.label, error.text);
        return NULL;
    }
    return result;
}

/* Whether the search saw of one seed what a run of it shows, apart from reads, whose number it expects. */
static bool check_seen(const struct answer *answer, const struct tune_entrant *entrant, uint32_t index)
{
    const struct tune_seen *seen = &entrant->seen[index];
    struct lab_result *result = run_alone(answer, entrant, answer->scenario->seed + index);
    if (result == NULL)
        return false;
    const struct lab_strategy_result *told = &result->strategies[0];
    const double closed = twin_metric(told, "partitions.closed"),
                 total = twin_metric(told, "partitions.total");
    const double mean = twin_metric(told, "partitions.closed.rows.mean");
    const double tiny = twin_metric(told, "partitions.tiny");
    const struct {
        const char *name;
        double seen, wanted;
    } all[] = {
        {"partitions", (double)seen->facts.partitions, total},
        {"over a limit", (double)seen->facts.over, twin_metric(told, "partitions.over_limit")},
        {"share over a limit", seen->figures[TUNE_OVER], twin_metric(told, "partitions.over_limit") / total},
        {"closed", (double)seen->closed, closed},
        {"CV", seen->figures[TUNE_CV],
         mean > 0 ? twin_metric(told, "partitions.closed.rows.stddev") / mean : (double)NAN},
        {"extra operations", seen->figures[TUNE_OPS], twin_metric(told, "writes.extra_ops_per_1000_rows")},
        {"tiny", seen->figures[TUNE_TINY], closed > 0 ? tiny / closed : (double)NAN},
        {"first over", seen->figures[TUNE_FIRST_OVER], twin_metric(told, "partitions.first_over_days")},
        {"largest in rows", (double)seen->rows_most, twin_metric(told, "partitions.all.rows.max")},
        {"largest in bytes", (double)seen->bytes_most, twin_metric(told, "partitions.all.bytes.max")},
        {"p99 of bytes", seen->figures[TUNE_P99_BYTES], twin_metric(told, "partitions.all.bytes.p99")},
        {"rows", seen->figures[TUNE_ROWS], twin_metric(told, "writes.rows")},
        {"mean rows", seen->figures[TUNE_ROWS_MEAN],
         mean > 0 ? mean : twin_metric(told, "partitions.all.rows.mean")},
    };
    bool is_same = true;
    for (size_t i = 0; is_same && total > 0 && i < sizeof all / sizeof *all; i++)
        is_same = is_near(all[i].seen, all[i].wanted) || (strcmp(all[i].name, "tiny") == 0 && isnan(tiny)) ||
                  twin_differs(answer, "tune: %s, seed %u: %s is %.9g, and %.9g in a run", told->label,
                               (unsigned)index, all[i].name, all[i].seen, all[i].wanted);
    /* A lower bound of the load, where chance does not make it a little less. */
    struct lab_score score = lab_score_of(result, told);
    if (is_same && entrant->load_least > score.candidate.load * (1 + 1e-6) + 0.01 &&
        !bk_kind_fires(entrant->strategy.settings.strategy.kind) && !answer->scenario->reads.present)
        is_same = twin_differs(answer, "tune: %s: a load of at least %.9g, and %.9g in a run", told->label,
                               entrant->load_least, score.candidate.load);
    lab_result_destroy(result);
    return is_same;
}

static bool check_chosen(const struct answer *answer, const struct tune_contest *contest)
{
    const struct lab_limits *limits = &answer->scenario->limits;
    struct lab_candidate *all = naive_must(calloc(contest->count + 1, sizeof *all));
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        /* All are compared by the first seed. */
        const struct tune_seen *seen = entrant->seeds > 0 ? &entrant->seen[0] : NULL;
        all[i] = (struct lab_candidate){
            .is_eligible = entrant->seeds > 0 && !entrant->is_endless &&
                           (entrant->status == TUNE_RECOMMENDED || entrant->status == TUNE_WITHIN),
            .requirements = entrant->requirements,
            .load = 1000 + (seen == NULL ? 0 : seen->figures[TUNE_COST]),
            .cv = seen == NULL ? 0 : seen->figures[TUNE_CV]};
        if (seen != NULL && limits->partition_rows > 0)
            all[i].fullness = (double)seen->rows_most / (double)limits->partition_rows;
        if (seen != NULL && limits->partition_bytes > 0)
            all[i].fullness =
                largest(all[i].fullness, (double)seen->bytes_most / (double)limits->partition_bytes);
    }
    size_t wanted = twin_choose(all, contest->count, contest->terms.tolerance);
    free(all);
    return wanted == contest->recommended ||
           twin_differs(answer, "tune: setting %td is recommended, and %td by the twin",
                        (ptrdiff_t)contest->recommended, (ptrdiff_t)wanted);
}

/* A setting whose runs show partitions above a limit although none may is not within the limits, and the
 * distribution excludes none that keeps them. */
static bool check_status(const struct answer *answer, const struct tune_entrant *entrant)
{
    double over = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        over += (double)entrant->seen[i].facts.over;
    if (answer->scenario->limits.over_limit_share > 0)
        return true;
    if (over > 0 && entrant->status != TUNE_EXCEEDS)
        return twin_differs(answer, "tune: %s exceeds a limit in a run, and is %s", entrant->strategy.label,
                            tune_status_name(entrant->status));
    if (over > 0 || entrant->status != TUNE_EXCEEDS || entrant->known.expected_least < 40)
        return true;
    struct lab_result *result = run_alone(answer, entrant, answer->scenario->seed);
    if (result == NULL)
        return false;
    bool is_over = twin_metric(&result->strategies[0], "partitions.over_limit") > 0;
    lab_result_destroy(result);
    return is_over || twin_differs(answer, "tune: %s is excluded, and no partition exceeds a limit",
                                   entrant->strategy.label);
}

/* The search ends when its choice has all seeds, and none that was not run is clearly better: it is not
 * within the limits, or its load is higher. */
static bool check_end(const struct answer *answer, const struct tune_contest *contest)
{
    const struct tune_entrant *best =
        contest->recommended == SIZE_MAX ? NULL : &contest->entrants[contest->recommended];
    if (best != NULL && best->seeds < best->needs)
        return twin_differs(answer, "tune: %s is recommended after %u seeds", best->strategy.label,
                            (unsigned)best->seeds);
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        const char *label = entrant->strategy.label;
        if (entrant->status != TUNE_COSTLY || entrant->is_endless)
            continue;
        if (best == NULL)
            return twin_differs(answer, "tune: nothing is recommended, and %s was not run", label);
    }
    return true;
}

/* What is within the limits at a rate is so at each lower rate; a run decides as its partitions do. */
static bool check_margin(const struct answer *answer, const struct tune_contest *contest,
                         const struct tune_margin *margin)
{
    static const double factors[TUNE_MARGIN_STEPS] = {1.5, 2, 3, 5, 10};
    const char *label = contest->entrants[margin->entrant].strategy.label;
    for (size_t i = 0; i < TUNE_MARGIN_STEPS && margin->is_tried; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        const bool shows =
            step->is_run && answer->scenario->limits.over_limit_share == 0 && step->seen.facts.over > 0;
        if (step->factor != factors[i] || (shows && step->within != LAB_EXCEEDS) ||
            (i > 0 && step->within == LAB_WITHIN && step[-1].within != LAB_WITHIN) ||
            (i > 0 && step[-1].within == LAB_EXCEEDS && step->within != LAB_EXCEEDS))
            return twin_differs(answer, "tune: %s: the margin at %.3g times the rate differs", label,
                                step->factor);
        if (step->is_run &&
            fabs(step->seen.figures[TUNE_ROWS] / factors[i] / (double)contest->rows.rows - 1) > 0.5 &&
            contest->rows.rows > 1000)
            return twin_differs(answer, "tune: %s: the rows at %.3g times the rate differ", label,
                                step->factor);
    }
    return true;
}

/* The margins are those of the recommended setting, and of the best of each other kind. */
static bool check_rivals(const struct answer *answer, const struct tune_contest *contest)
{
    bool is_met[TUNE_GROUPS] = {false};
    size_t wanted = contest->recommended != SIZE_MAX;
    if (wanted)
        is_met[tune_group_of(&contest->entrants[contest->recommended])] = true;
    for (size_t i = 0; wanted > 0 && i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        const bool is_new =
            entrant->status == TUNE_WITHIN && !entrant->is_endless && !is_met[tune_group_of(entrant)];
        is_met[tune_group_of(entrant)] |= is_new;
        wanted += is_new;
    }
    for (size_t i = 0; i < contest->margin_count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[contest->margins[i].entrant];
        const bool is_own = contest->margins[i].entrant == contest->recommended;
        const unsigned group = tune_group_of(entrant);
        if (is_own != (i == 0) || !is_met[group] || (!is_own && entrant->status != TUNE_WITHIN))
            return twin_differs(answer, "tune: there is a margin of %s", entrant->strategy.label);
        is_met[group] = false; /* one of each */
    }
    return wanted == contest->margin_count ||
           twin_differs(answer, "tune: %zu margins, and %zu by the twin", contest->margin_count, wanted);
}

static bool check_rows(const struct answer *answer, const struct tune_contest *contest)
{
    const struct lab_strategy_result *first = &answer->result->strategies[0];
    const struct tune_rows *rows = &contest->rows;
    const int64_t lasts_ns = answer->input->end_ns - answer->input->start_ns;
    const bool has_more = answer->scenario->deletes.share > 0; /* bytes of tombstones */
    return (rows->rows == answer->input->rows && rows->keys == answer->input->keys_with_rows &&
            rows->lasts_ns == (lasts_ns > 0 ? lasts_ns : 1) &&
            (double)rows->busiest_rows == twin_metric(first, "keys.rows.max") &&
            (has_more || (double)rows->busiest_bytes == twin_metric(first, "keys.bytes.max"))) ||
           twin_differs(answer, "tune: the pilot's totals differ");
}

static bool check_contest(const struct answer *answer, const struct tune_contest *contest)
{
    bool is_fine = check_rows(answer, contest) && check_chosen(answer, contest) &&
                   check_end(answer, contest) && check_rivals(answer, contest);
    for (size_t i = 0; is_fine && i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        bool is_looked_at = i == contest->recommended || sim_random_below(answer->random, contest->count) < 6;
        if (!is_looked_at)
            continue;
        is_fine = check_status(answer, entrant);
        for (uint32_t seed = 0; is_fine && seed < entrant->seeds; seed++)
            is_fine = check_seen(answer, entrant, seed);
    }
    for (size_t i = 0; is_fine && i < contest->margin_count; i++)
        is_fine = check_margin(answer, contest, &contest->margins[i]);
    return is_fine;
}

bool twin_tune(const struct answer *answer)
{
    struct lab_tune terms = answer->scenario->tune;
    struct tune_contest contest;
    struct sim_error error;
    terms.seeds = 2;
    if (!tune_contest_begin(&contest, answer->scenario, &terms, 1, NULL, &error))
        return twin_differs(answer, "tune: %s", error.text);
    bool is_fine =
        tune_contest_run(&contest, 1, NULL, &error) || twin_differs(answer, "tune: %s", error.text);
    is_fine = is_fine && check_contest(answer, &contest);
    tune_contest_clear(&contest);
    return is_fine;
}
