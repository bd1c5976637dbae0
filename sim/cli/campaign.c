/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "campaign.h"

#include <stdio.h>
#include <stdlib.h>

#include "lab/crew.h"

/* What became of a seed, until its turn has come to be summed up. */
struct outcome {
    bool has_breach;
    struct lab_fuzz_outcome of_run;
    struct cli_breach breach;
};

static bool run(void *context, struct lab_progress *progress, struct sim_error *error);
static bool run_seed(void *context, uint64_t job, struct lab_progress *progress, void **made,
                     struct sim_error *error);
static bool sum_up(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error);
static bool keep_breach(struct cli_campaign *campaign, const struct cli_breach *breach);

bool cli_campaign_run(struct cli_campaign *campaign, struct cli_signals *signals, struct sim_error *error)
{
    const struct cli_task task = {
        .name = "fuzz", .unit = "seeds/s", .is_quiet = campaign->is_quiet, .run = run, .context = campaign};
    lab_fuzz_tally_init(&campaign->tally);
    return cli_attend(&task, signals, &campaign->elapsed_ms, error);
}

void cli_campaign_clear(struct cli_campaign *campaign)
{
    lab_fuzz_tally_clear(&campaign->tally);
    free(campaign->breaches);
    campaign->breaches = NULL;
}

bool cli_breach_describe(const struct lab_scenario *scenario, const struct lab_result *result,
                         const struct lab_breach *breach, struct cli_breach *out, struct sim_error *error)
{
    const struct lab_strategy_result *strategy = &result->strategies[breach->strategy];
    *out = (struct cli_breach){.seed = result->seed,
                               .oracle = breach->oracle,
                               .violation = strategy->verdict.violations[breach->oracle]};
    out->since_ns = out->violation.time_ns - result->start_ns;
    snprintf(out->label, sizeof out->label, "%s", strategy->label);
    return lab_fuzz_key_name(scenario, out->violation.key, out->key, error);
}

static bool run(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct cli_campaign *campaign = context;
    const struct lab_crew crew = {.context = campaign,
                                  .count = campaign->last - campaign->first + 1,
                                  .work = run_seed,
                                  .take = sum_up,
                                  .drop = free};
    uint64_t taken;
    return lab_crew_run(&crew, campaign->jobs, progress, &taken, error);
}

static bool run_seed(void *context, uint64_t job, struct lab_progress *progress, void **made,
                     struct sim_error *error)
{
    const struct cli_campaign *campaign = context;
    struct lab_scenario *scenario = NULL;
    struct lab_result *result = NULL;
    struct lab_breach breach;
    struct outcome *outcome = calloc(1, sizeof *outcome);
    *made = outcome;
    bool is_fine = (outcome != NULL || sim_fail_memory(error)) &&
                   lab_fuzz_scenario(campaign->base, campaign->first + job, &scenario, error) &&
                   lab_run(scenario, 1, progress, &result, error);
    if (is_fine) {
        lab_fuzz_hold(result, campaign->base->held);
        lab_fuzz_outcome_of(result, &outcome->of_run);
        outcome->has_breach = lab_breach_find(result, &breach);
        is_fine =
            !outcome->has_breach || cli_breach_describe(scenario, result, &breach, &outcome->breach, error);
    }
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return is_fine;
}

static bool sum_up(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    (void)job;
    struct cli_campaign *campaign = context;
    struct outcome *outcome = made;
    bool is_fine = (lab_fuzz_tally_add(&campaign->tally, &outcome->of_run) &&
                    (!outcome->has_breach || keep_breach(campaign, &outcome->breach))) ||
                   sim_fail_memory(error);
    *is_enough = outcome->has_breach && !campaign->keeps_going;
    free(outcome);
    return is_fine;
}

static bool keep_breach(struct cli_campaign *campaign, const struct cli_breach *breach)
{
    if (campaign->breach_count == campaign->breach_capacity) {
        size_t capacity = campaign->breach_capacity == 0 ? 4 : 2 * campaign->breach_capacity;
        struct cli_breach *larger = realloc(campaign->breaches, capacity * sizeof *larger);
        if (larger == NULL)
            return false;
        campaign->breaches = larger;
        campaign->breach_capacity = capacity;
    }
    campaign->breaches[campaign->breach_count++] = *breach;
    return true;
}
