/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The margin: how much faster may rows come? The recommended setting and the best of each other kind are
 * judged at multiples of the rate; with agents only the recommended one, since each has runs of its own. More
 * rows make no partition smaller, so a setting that is within the limits at one rate is so at every lower
 * one. Rates that the distribution does not decide are halved by runs. */
#include <math.h>
#include <stdlib.h>

#include "tune/contest.h"

static const double factors[TUNE_MARGIN_STEPS] = {1.5, 2, 3, 5, 10};

/* Chooses the recommended setting, and then the best of each other kind. */
static size_t choose(const struct tune_contest *contest, size_t *out)
{
    struct lab_candidate *candidates = calloc(contest->count, sizeof *candidates);
    const unsigned own = tune_group_of(&contest->entrants[contest->recommended]);
    size_t count = 0;
    out[count++] = contest->recommended;
    for (unsigned group = 0; candidates != NULL && group < TUNE_GROUPS; group++) {
        for (size_t i = 0; i < contest->count; i++) {
            const struct tune_entrant *entrant = &contest->entrants[i];
            candidates[i] = tune_candidate_for(contest, entrant);
            candidates[i].is_eligible = candidates[i].is_eligible && entrant->status == TUNE_WITHIN &&
                                        tune_group_of(entrant) == group;
        }
        const size_t best =
            group == own ? SIZE_MAX : lab_choose_from(candidates, contest->count, contest->terms.tolerance);
        if (best != SIZE_MAX)
            out[count++] = best;
    }
    const bool is_fine = candidates != NULL;
    free(candidates);
    return is_fine ? count : 0;
}

static void judge(const struct tune_contest *contest, const struct tune_entrant *entrant, uint32_t seeds,
                  struct tune_margin_step *step)
{
    struct lab_facts known;
    tune_know(contest, &entrant->strategy.settings, step->factor, &known);
    step->within = tune_judge(contest, &entrant->strategy.settings, &step->seen, seeds, &known,
                              &step->judgment, &step->failed);
}

/* Whether the limits are all that a setting must keep, and the distribution shows that it does. */
static bool is_decided(const struct tune_contest *contest, const struct tune_margin_step *step)
{
    const struct lab_tune *terms = &contest->terms;
    const bool has_more =
        contest->scenario->engine == LAB_ENGINE_CLUSTER || terms->tiny >= 0 || terms->partitions_per_read > 0;
    return step->within == LAB_EXCEEDS || (step->within == LAB_WITHIN && !has_more);
}

/* The rates that are not decided are those from *held on and below *failed. */
static bool find_open(const struct tune_margin *margin, size_t *held, size_t *failed)
{
    *held = 0;
    *failed = TUNE_MARGIN_STEPS;
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        if (step->within == LAB_EXCEEDS && i < *failed)
            *failed = i;
        else if (step->within == LAB_WITHIN || step->is_run)
            *held = i + 1;
    }
    return *held < *failed;
}

/* Returns the rate to run next, in the middle of those that are open. TUNE_MARGIN_STEPS: all are decided. */
static size_t next_rate(const struct tune_margin *margin)
{
    size_t held, failed;
    return margin->is_tried && find_open(margin, &held, &failed) ? (held + failed) / 2 : TUNE_MARGIN_STEPS;
}

/* Decides rates by the distribution. */
static void begin(const struct tune_contest *contest, struct tune_margin *margin)
{
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        struct tune_margin_step *step = &margin->steps[i];
        step->factor = factors[i];
        judge(contest, &contest->entrants[margin->entrant], 0, step);
        if (!is_decided(contest, step))
            step->within = LAB_NOT_JUDGED;
    }
}

/* Runs the settings whose next rate this is. */
static bool try_rate(struct tune_contest *contest, size_t rate, uint32_t threads,
                     struct lab_progress *progress, struct sim_error *error)
{
    const struct tune_entrant *entrants[TUNE_GROUPS + 1];
    struct tune_margin_step *steps[TUNE_GROUPS + 1];
    struct tune_seen seen[TUNE_GROUPS + 1];
    const bool is_alone = contest->scenario->engine == LAB_ENGINE_CLUSTER;
    size_t count = 0;
    for (size_t i = 0; i < contest->margin_count; i++) {
        struct tune_margin *margin = &contest->margins[i];
        if (next_rate(margin) != rate)
            continue;
        entrants[count] = &contest->entrants[margin->entrant];
        steps[count++] = &margin->steps[rate];
    }
    for (size_t i = 0; i < count; i += is_alone ? 1 : count) {
        if (!tune_watch(contest, &entrants[i], is_alone ? 1 : count, contest->scenario->seed, factors[rate],
                        threads, progress, &seen[i], NULL, error))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        steps[i]->seen = seen[i];
        steps[i]->is_run = true;
        judge(contest, entrants[i], 1, steps[i]);
    }
    if (progress != NULL)
        progress->done++;
    return !lab_is_stopped(progress) || sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
}

/* What is within the limits at one rate is so at every lower one, and what exceeds them at every higher one.
 */
static void spread(struct tune_margin *margin)
{
    struct tune_margin_step *steps = margin->steps;
    for (size_t i = TUNE_MARGIN_STEPS - 1; i > 0; i--) {
        if (steps[i].within == LAB_WITHIN)
            steps[i - 1].within = LAB_WITHIN;
    }
    for (size_t i = 1; i < TUNE_MARGIN_STEPS; i++) {
        if (steps[i - 1].within == LAB_EXCEEDS)
            steps[i].within = LAB_EXCEEDS;
    }
}

bool tune_margins(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                  struct sim_error *error)
{
    size_t chosen[TUNE_GROUPS + 1];
    const bool has_rate = contest->scenario->trace_path == NULL;
    const bool is_alone = contest->scenario->engine == LAB_ENGINE_CLUSTER;
    const size_t count = choose(contest, chosen);
    contest->margins = calloc(count + 1, sizeof *contest->margins);
    if (contest->margins == NULL || count == 0)
        return sim_fail_memory(error);
    contest->margin_count = count;
    for (size_t i = 0; i < count; i++) {
        contest->margins[i] =
            (struct tune_margin){.entrant = chosen[i], .is_tried = has_rate && (i == 0 || !is_alone)};
        if (contest->margins[i].is_tried)
            begin(contest, &contest->margins[i]);
    }
    for (size_t rate = 0; rate < TUNE_MARGIN_STEPS;) {
        rate = TUNE_MARGIN_STEPS;
        for (size_t i = 0; i < count; i++) {
            const size_t next = next_rate(&contest->margins[i]);
            rate = next < rate ? next : rate;
        }
        if (rate < TUNE_MARGIN_STEPS && !try_rate(contest, rate, threads, progress, error))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        spread(&contest->margins[i]);
    return true;
}
