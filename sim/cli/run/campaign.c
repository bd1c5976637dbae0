/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fuzz campaign over threads and ranks, with progress on stderr. */
#define _POSIX_C_SOURCE 200809L
#include "cli/campaign.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernel/archive.h"
#include "kernel/grow.h"
#include "lab/crew.h"
#include "lab/run.h"

/* The outcome of a seed, kept until all smaller seeds have been summed up. */
struct outcome {
    bool has_breach;
    struct lab_fuzz_outcome of_run;
    struct cli_breach breach;
};

static bool judge_seed(const struct lab_fuzz_base *base, uint64_t seed, struct lab_progress *progress,
                       struct outcome *outcome, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    struct lab_result *result = NULL;
    struct lab_breach breach;
    const struct lab_run_context context = {.progress = progress, .only_judges = true};
    bool is_fine =
        lab_fuzz_case(base, seed, &scenario, error) && lab_run_in(scenario, 1, &context, &result, error);
    if (is_fine) {
        lab_fuzz_hold(result, base->held);
        lab_fuzz_outcome_of(result, &outcome->of_run);
        outcome->has_breach = lab_breach_find(result, &breach);
        is_fine =
            !outcome->has_breach || cli_breach_describe(scenario, result, &breach, &outcome->breach, error);
    }
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return is_fine;
}

static bool run_seed(void *context, uint64_t job, struct lab_progress *progress, void **made,
                     struct sim_error *error)
{
    const struct cli_campaign *campaign = context;
    struct outcome *outcome = calloc(1, sizeof *outcome);
    *made = outcome;
    return outcome == NULL ? sim_fail_memory(error)
                           : judge_seed(campaign->base, campaign->first + job, progress, outcome, error);
}

/* What another rank needs to run the seeds. Loading fills a zeroed base. */
static void archive_base(void *context, struct sim_archive *archive)
{
    struct cli_campaign *campaign = context;
    struct lab_fuzz_base *base = &campaign->own;
    /* Removing const is safe: saving writes to no field, and a loaded base owns its texts. */
    char *path = (char *)(uintptr_t)base->path, *text = (char *)(uintptr_t)base->text;
    sim_archive_u64(archive, &campaign->first);
    sim_archive_u64(archive, &campaign->last);
    sim_archive_text(archive, &path);
    base->path = path;
    base->text = sim_archive_array(archive, text, 1, &base->size, SIZE_MAX);
    sim_archive_u32(archive, &base->held);
    sim_archive_size(archive, &base->override_count);
    struct lab_override *overrides = (struct lab_override *)(uintptr_t)base->overrides;
    if (archive->is_loading)
        base->overrides = overrides =
            sim_archive_allocate(archive, base->override_count, sizeof *overrides, 1);
    if (overrides == NULL)
        base->override_count = 0;
    for (size_t i = 0; i < base->override_count; i++) {
        char *line = (char *)(uintptr_t)overrides[i].text;
        sim_archive_text(archive, &line);
        overrides[i].text = line;
    }
}

static void archive_outcome(void *context, void **made, struct sim_archive *archive)
{
    (void)context;
    if (archive->is_loading)
        *made = sim_archive_allocate(archive, 1, sizeof(struct outcome), 1);
    if (*made != NULL)
        sim_archive_bytes(archive, *made, sizeof(struct outcome));
}

static bool keep_breach(struct cli_campaign *campaign, const struct cli_breach *breach)
{
    if (!sim_grow(&campaign->breaches, &campaign->breach_capacity, campaign->breach_count + 1,
                  sizeof *campaign->breaches))
        return false;
    campaign->breaches[campaign->breach_count++] = *breach;
    return true;
}

static bool sum_up(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    (void)job;
    struct cli_campaign *campaign = context;
    struct outcome *outcome = made;
    bool is_fine = (lab_fuzz_tally_add(&campaign->tally, &outcome->of_run) &&
                    (!outcome->has_breach || keep_breach(campaign, &outcome->breach))) ||
                   sim_fail_memory(error);
    campaign->is_out_of_time = campaign->for_ms > 0 && cli_passed_ms(campaign->begin_ms) >= campaign->for_ms;
    *is_enough = (outcome->has_breach && !campaign->keeps_going) || campaign->is_out_of_time;
    free(outcome);
    return is_fine;
}

static bool run(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct cli_campaign *campaign = context;
    struct lab_order order = {.service = LAB_SERVICE_SEEDS};
    const struct lab_crew crew = {.context = campaign,
                                  .count = campaign->last - campaign->first + 1,
                                  .is_open = campaign->for_ms > 0,
                                  .work = run_seed,
                                  .take = sum_up,
                                  .drop = free,
                                  .team = &campaign->team,
                                  .order = &order,
                                  .more = archive_base,
                                  .archive = archive_outcome};
    uint64_t taken;
    campaign->own = *campaign->base;
    return lab_crew_run(&crew, campaign->jobs, progress, &taken, error);
}

bool cli_campaign_run(struct cli_campaign *campaign, struct cli_signals *signals, struct sim_error *error)
{
    const struct cli_task task = {
        .name = "fuzz", .unit = "seeds/s", .is_quiet = campaign->is_quiet, .run = run, .context = campaign};
    lab_fuzz_tally_init(&campaign->tally);
    campaign->begin_ms = cli_now_ms();
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

bool cli_campaign_serve(const struct lab_team *team, const struct lab_order *order,
                        struct sim_archive *archive, struct sim_error *error)
{
    struct cli_campaign campaign = {.team = *team};
    (void)order;
    archive_base(&campaign, archive);
    struct lab_fuzz_base base = campaign.own;
    campaign.base = &base;
    campaign.jobs = lab_team_threads(team, ranks_own(team->ranks));
    bool is_fine = sim_archive_finish_load(archive, error) && run(&campaign, NULL, error);
    for (size_t i = 0; i < base.override_count; i++)
        free((char *)(uintptr_t)base.overrides[i].text);
    free((struct lab_override *)(uintptr_t)base.overrides);
    free((char *)(uintptr_t)base.path);
    free((char *)(uintptr_t)base.text);
    return is_fine;
}
