/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fuzz campaign over threads and ranks, with progress on stderr. */
#define _POSIX_C_SOURCE 200809L
#include "cli/campaign.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernel/archive.h"
#include "kernel/grow.h"
#include "lab/crew.h"

#define SEED_KIND UINT64_C(0x73656564) /* kind of the archive of a request */

/* The outcome of a seed, kept until all smaller seeds have been summed up. */
struct outcome {
    bool has_breach;
    struct lab_fuzz_outcome of_run;
    struct cli_breach breach;
};

/* A request that another rank run a seed. */
struct request {
    char *path; /* NULL: there is none, and no text */
    char *text;
    size_t size, override_count;
    char **overrides;
    uint32_t held;
    uint64_t seed;
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

static void archive_seed(struct request *request, struct sim_archive *archive)
{
    sim_archive_text(archive, &request->path);
    request->text = sim_archive_array(archive, request->text, 1, &request->size, SIZE_MAX);
    sim_archive_size(archive, &request->override_count);
    if (archive->is_loading)
        request->overrides =
            sim_archive_allocate(archive, request->override_count, sizeof *request->overrides, 1);
    if (request->overrides == NULL)
        request->override_count = 0;
    for (size_t i = 0; i < request->override_count; i++)
        sim_archive_text(archive, &request->overrides[i]);
    sim_archive_u32(archive, &request->held);
    sim_archive_u64(archive, &request->seed);
}

static bool run_seed_far(void *context, uint64_t job, uint32_t rank, struct lab_progress *progress,
                         void **made, struct sim_error *error)
{
    const struct cli_campaign *campaign = context;
    const struct lab_fuzz_base *base = campaign->base;
    struct lab_team_call call = {.rank = rank, .service = CLI_SERVICE_SEED};
    struct ranks_bytes answer = {0};
    struct sim_archive archive;
    /* Removing const is safe, since saving does not write to the fields. */
    struct request request = {.path = (char *)(uintptr_t)base->path,
                              .text = (char *)(uintptr_t)base->text,
                              .size = base->size,
                              .override_count = base->override_count,
                              .held = base->held,
                              .seed = campaign->first + job};
    struct outcome *outcome = calloc(1, sizeof *outcome);
    request.overrides = calloc(base->override_count + 1, sizeof *request.overrides);
    *made = outcome;
    bool is_fine = (outcome != NULL && request.overrides != NULL) || sim_fail_memory(error);
    for (size_t i = 0; is_fine && i < base->override_count; i++)
        request.overrides[i] = (char *)(uintptr_t)base->overrides[i].text;
    if (is_fine) {
        sim_archive_begin_save(&archive, SEED_KIND);
        archive_seed(&request, &archive);
        is_fine = sim_archive_finish_save(&archive, &call.request.data, &call.request.size, error) &&
                  lab_team_ask(&campaign->team, &call, progress, &answer, error) &&
                  lab_answer_begin_load(&archive, &answer, error);
    }
    if (is_fine) {
        sim_archive_bytes(&archive, outcome, sizeof *outcome);
        is_fine = lab_answer_finish_load(&archive, error);
    }
    free(request.overrides);
    free(call.request.data);
    free(answer.data);
    return is_fine;
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
    const struct lab_crew crew = {.context = campaign,
                                  .count = campaign->last - campaign->first + 1,
                                  .is_open = campaign->for_ms > 0,
                                  .work = run_seed,
                                  .take = sum_up,
                                  .drop = free,
                                  .team = &campaign->team,
                                  .work_far = run_seed_far};
    uint64_t taken;
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

bool cli_campaign_serve(struct ranks_task *task, const struct ranks_bytes *bytes, struct ranks_bytes *answer,
                        struct sim_error *error)
{
    struct lab_progress progress = {0};
    struct request request = {0};
    struct outcome outcome = {0};
    struct sim_archive archive;
    if (!sim_archive_begin_load(&archive, bytes->data, bytes->size, SEED_KIND, error))
        return false;
    archive_seed(&request, &archive);
    bool is_fine = sim_archive_finish_load(&archive, error);
    struct lab_override *overrides = calloc(request.override_count + 1, sizeof *overrides);
    if (overrides == NULL)
        is_fine = sim_fail_memory(error);
    for (size_t i = 0; overrides != NULL && i < request.override_count; i++)
        overrides[i].text = request.overrides[i];
    const struct lab_fuzz_base base = {.path = request.path,
                                       .text = request.text,
                                       .size = request.size,
                                       .overrides = overrides,
                                       .override_count = request.override_count,
                                       .held = request.held};
    lab_team_attend(task, &progress);
    is_fine = is_fine && judge_seed(&base, request.seed, &progress, &outcome, error);
    lab_team_done(task);
    if (is_fine) {
        sim_archive_begin_save(&archive, LAB_ANSWER_KIND);
        sim_archive_bytes(&archive, &outcome, sizeof outcome);
        is_fine = sim_archive_finish_save(&archive, &answer->data, &answer->size, error);
    }
    for (size_t i = 0; i < request.override_count; i++)
        free(request.overrides[i]);
    free(request.overrides);
    free(request.path);
    free(request.text);
    free(overrides);
    return is_fine;
}
