/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab fuzz: runs many seeds with random faults, and checks them against the table of guarantees. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "breach.h"
#include "cli/campaign.h"
#include "cli/charts.h"
#include "cli/commands/fuzz.h"
#include "cli/continue.h"
#include "cli/json.h"
#include "cli/outputs.h"
#include "cli/warnings.h"
#include "fuzz_baseline.h"
#include "fuzz_report.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"

static const struct cli_option options[] = {
    {"seeds", "A..B", "which seeds (default 1..1000); A.. with --for"},
    {"for", "DURATION", "run seeds for this real time, as in 60s; from seed\n1, or from A with --seeds A.."},
    {"set", "PATH=VALUE",
     "fix one field of every seed's scenario, as in\n"
     "agents.count=4; repeatable"},
    {"hold", "CONDITION",
     "do not accept this condition as an excuse, as in\n"
     "changes_at_once; repeatable (docs/oracles.md)"},
    {"keep-going", NULL, "do not stop at the first failure; shrink none"},
    {"baseline", "FILE",
     "compare the shares of seeds with a violation that\n"
     "no guarantee covers with those of this file"},
    {"update-baseline", NULL, "make the baseline again, if no guarantee is broken"},
    {"print", NULL, "print the scenarios of the seeds, run nothing"},
    {"guarantees", NULL, "print the table of guarantees, run nothing"},
    CLI_OPTION_JOBS,
    {"out", "DIR",
     "folder of the shrunk scenario (default\n"
     "bucketlab-out)"},
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

struct job {
    struct lab_fuzz_base base;
    char *text;
    struct lab_override *overrides;
    struct cli_campaign campaign;
    struct cli_signals signals;
    struct cli_finding finding;
    struct cli_fuzz_baseline baseline;
    const char *folder;
    char *replay; /* command that replays the first failed seed */
    char *rest;   /* command for the seeds that were not run; NULL: none */
    bool is_json;
};

/* A campaign that ended early is not compared, and a campaign that broke a guarantee does not become a
 * baseline. */
static bool use_baseline(struct job *job, struct sim_error *error)
{
    const struct cli_campaign *campaign = &job->campaign;
    bool is_whole = job->signals.caught == 0 && (campaign->breach_count == 0 || campaign->keeps_going);
    if (job->baseline.path == NULL || !is_whole)
        return true;
    if (!job->baseline.is_update)
        return cli_fuzz_baseline_compare(&job->baseline, &campaign->tally, error);
    return campaign->breach_count > 0 || cli_fuzz_baseline_write(&job->baseline, campaign, error);
}

/* The number of seeds from which a campaign without a user's scenario must reach every probe. */
#define PROBED_SEEDS 1000u

/* Fails when no seed has reached a probe, since that path is then not tested. */
static bool fail_probes(const struct job *job, struct sim_error *error)
{
    const struct lab_fuzz_tally *tally = &job->campaign.tally;
    char names[640] = "";
    size_t used = 0;
    if (job->base.path != NULL || job->base.override_count > 0 || tally->seeds < PROBED_SEEDS)
        return true;
    for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++) {
        if (tally->probes[probe] == 0 && probe != LAB_PROBE_OPTIONAL && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : ", ",
                                     lab_probe_name((enum lab_probe)probe));
    }
    return used == 0 ||
           sim_fail(error, SIM_ERROR_CHECK,
                    "none of %" PRIu64 " seeds reached these paths, so they are untested: %s; run "
                    "more seeds, or find out why they cannot be reached",
                    tally->seeds, names);
}

/* The exit code, and the one line that says why it is not 0. */
static int conclude(const struct job *job, struct sim_error *error)
{
    const struct cli_campaign *campaign = &job->campaign;
    if (campaign->breach_count > 0) {
        const struct cli_breach *first = &campaign->breaches[0];
        if (campaign->breach_count > 1)
            sim_fail(error, SIM_ERROR_CHECK,
                     "%zu of %" PRIu64 " seeds break a guarantee, the first of them: %s",
                     campaign->breach_count, campaign->tally.seeds, job->replay);
        else
            sim_fail(error, SIM_ERROR_CHECK, "seed %" PRIu64 ": %s breaks its guarantee '%s'; again: %s",
                     first->seed, first->label, lab_oracle_name(first->oracle), job->replay);
    }
    if (job->signals.caught != 0) {
        if (campaign->breach_count == 0)
            sim_fail(error, SIM_ERROR_CHECK, "interrupted after %" PRIu64 " seeds; what they found is above",
                     campaign->tally.seeds);
        return 128 + job->signals.caught;
    }
    if (campaign->breach_count > 0 || !cli_fuzz_baseline_judge(&job->baseline, error) ||
        !fail_probes(job, error))
        return SIM_ERROR_CHECK;
    return 0;
}

/* A campaign that was ended by the time limit or a signal has fewer seeds, and prints how to continue. */
static bool end_early(struct job *job, struct sim_error *error)
{
    struct cli_campaign *campaign = &job->campaign;
    uint64_t tried = campaign->tally.seeds;
    if ((!campaign->is_out_of_time && job->signals.caught == 0) ||
        (campaign->breach_count > 0 && !campaign->keeps_going) || tried > campaign->last - campaign->first)
        return true;
    job->rest = cli_fuzz_rest(campaign);
    if (campaign->is_out_of_time)
        campaign->last = campaign->first + tried - 1;
    return job->rest != NULL || sim_fail_memory(error);
}

static int fuzz(struct job *job, struct sim_error *error)
{
    struct cli_campaign *campaign = &job->campaign;
    cli_signals_hold(&job->signals);
    bool is_fine = cli_campaign_run(campaign, &job->signals, error);
    if (is_fine && campaign->breach_count > 0) {
        job->replay = cli_fuzz_replay(&job->base, campaign->breaches[0].seed);
        is_fine = job->replay != NULL || sim_fail_memory(error);
        if (is_fine && !campaign->keeps_going && job->signals.caught == 0)
            is_fine = cli_finding_make(&job->base, &campaign->breaches[0], job->replay, job->folder,
                                       campaign->is_quiet, &job->signals, &job->finding, error);
    }
    is_fine = is_fine && end_early(job, error) && use_baseline(job, error);
    if (is_fine && job->is_json)
        is_fine = cli_json_print(
            cli_fuzz_json(campaign, &job->base, &job->finding, cli_fuzz_baseline_json(&job->baseline)),
            error);
    else if (is_fine)
        cli_fuzz_print(campaign, job->replay, job->rest, &job->finding);
    if (is_fine && !job->is_json && job->baseline.worse != NULL)
        cli_fuzz_baseline_print(&job->baseline);
    int code = is_fine ? conclude(job, error) : (int)error->class;
    cli_signals_release(&job->signals);
    return code;
}

static bool read_held(const struct cli_args *args, uint32_t *held, struct sim_error *error)
{
    const char *names[LAB_CONDITION_COUNT], *name;
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++)
        names[i] = lab_condition_name((enum lab_condition)i);
    for (size_t nth = 0; (name = cli_value_at(args, "hold", nth)) != NULL; nth++) {
        unsigned condition = 0;
        while (condition < LAB_CONDITION_COUNT && strcmp(names[condition], name) != 0)
            condition++;
        if (condition == LAB_CONDITION_COUNT) {
            const char *nearest = sim_nearest(name, names, LAB_CONDITION_COUNT);
            return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --hold %s: no such condition; %s%s%s", name,
                            nearest == NULL ? "docs/oracles.md lists them" : "did you mean '",
                            nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
        }
        *held |= 1u << condition;
    }
    return true;
}

static bool read_base(const struct cli_args *args, struct job *job, struct sim_error *error)
{
    size_t count = 0;
    while (cli_value_at(args, "set", count) != NULL)
        count++;
    job->overrides = calloc(count + 1, sizeof *job->overrides);
    if (job->overrides == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        job->overrides[i].text = cli_value_at(args, "set", i);
    job->base.overrides = job->overrides;
    job->base.override_count = count;
    if (!read_held(args, &job->base.held, error))
        return false;
    job->base.path = cli_argument_count(args) > 0 ? cli_argument(args, 0) : NULL;
    if (job->base.path == NULL)
        return true;
    if (!lab_scenario_text(job->base.path, &job->text, &job->base.size, error))
        return false;
    job->base.text = job->text;
    return true;
}

static bool read_seeds(const struct cli_args *args, struct cli_campaign *campaign, struct sim_error *error)
{
    const char *text = cli_value(args, "seeds", campaign->for_ms > 0 ? "1.." : "1..1000");
    const char *dots = strstr(text, "..");
    char first[24] = "";
    bool is_open = dots != NULL && dots[2] == '\0' && campaign->for_ms > 0;
    campaign->last = INT64_MAX;
    if (dots != NULL && (size_t)(dots - text) < sizeof first)
        snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
    if (dots == NULL || lab_quantity_whole(first, &campaign->first) != NULL ||
        (!is_open && lab_quantity_whole(dots + 2, &campaign->last) != NULL))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds %s: not a range; give two whole numbers, as in --seeds 1..1000",
                        text);
    if (campaign->last < campaign->first && !is_open)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds %s: ends before it begins; write the smaller number first", text);
    if (campaign->last > INT64_MAX || campaign->first > INT64_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds %s: out of range; seeds are 0 to %" PRId64, text, INT64_MAX);
    return true;
}

static bool read_time(const struct cli_args *args, struct cli_campaign *campaign, struct sim_error *error)
{
    int64_t for_ns = 0;
    if (cli_has(args, "for") && cli_has(args, "print"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --for and --print exclude each other: nothing is run; leave --for out");
    if (!cli_duration_option(args, "for", &for_ns, error))
        return false;
    campaign->for_ms = for_ns / (SIM_SECOND / 1000);
    return true;
}

static bool read_job(const struct cli_args *args, struct job *job, struct sim_error *error)
{
    struct cli_campaign *campaign = &job->campaign;
    campaign->base = &job->base;
    campaign->is_quiet = cli_has(args, "quiet");
    campaign->keeps_going = cli_has(args, "keep-going");
    job->folder = cli_value(args, "out", "bucketlab-out");
    if (!cli_jobs(args, &campaign->jobs, error) || !cli_team(args, &campaign->team, error) ||
        !read_time(args, campaign, error) || !read_seeds(args, campaign, error) ||
        !read_base(args, job, error) || !cli_folder_check(job->folder, error))
        return false;
    job->baseline.path = cli_value(args, "baseline", NULL);
    job->baseline.is_update = cli_has(args, "update-baseline");
    if (job->baseline.path == NULL && job->baseline.is_update)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --update-baseline needs a file; add --baseline FILE, as in --baseline shares.json");
    /* Errors in the user's file are found before any thread is started. */
    struct lab_scenario *scenario;
    if (!lab_fuzz_scenario(&job->base, campaign->first, &scenario, error))
        return false;
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    struct cli_outputs outputs = {0};
    if (job->base.path != NULL)
        cli_outputs_scenario(&outputs, scenario);
    char name[CLI_FINDING_NAME_SIZE];
    cli_finding_stem(&job->base, name);
    cli_outputs_finding(&outputs, job->folder, name);
    if (job->baseline.is_update)
        cli_outputs_file(&outputs, "baseline", job->baseline.path);
    else
        cli_outputs_input(&outputs, "the baseline", job->baseline.path);
    bool is_apart = cli_outputs_check(&outputs, error);
    if (is_apart && !campaign->is_quiet)
        cli_warnings_files(stderr, scenario);
    lab_scenario_destroy(scenario);
    if (!is_apart || !cli_fuzz_baseline_read(&job->baseline, &job->base, error))
        return false;
    return is_cluster || sim_fail(error, SIM_ERROR_INPUT,
                                  "%s: no agents, and without them nothing can go wrong; leave 'agents' out "
                                  "to have them drawn",
                                  job->base.path);
}

static bool print_scenarios(const struct job *job, struct sim_error *error)
{
    for (uint64_t seed = job->campaign.first; seed <= job->campaign.last; seed++) {
        struct lab_scenario *scenario;
        if (!lab_fuzz_scenario(&job->base, seed, &scenario, error))
            return false;
        if (seed > job->campaign.first)
            puts("---");
        fputs(scenario->text, stdout);
        lab_scenario_destroy(scenario);
        if (ferror(stdout))
            break;
    }
    return true;
}

static void free_job(struct job *job)
{
    cli_campaign_clear(&job->campaign);
    cli_finding_clear(&job->finding);
    cli_fuzz_baseline_clear(&job->baseline);
    free(job->replay);
    free(job->rest);
    free(job->overrides);
    free(job->text);
}

static int run(const struct cli_args *args, struct sim_error *error)
{
    struct job job = {.is_json = cli_has(args, "json")};
    int code = 0;
    if (cli_has(args, "guarantees")) {
        cli_guarantees_print();
        return 0;
    }
    if (!read_job(args, &job, error))
        code = (int)error->class;
    else if (cli_has(args, "print"))
        code = print_scenarios(&job, error) ? 0 : (int)error->class;
    else
        code = fuzz(&job, error);
    free_job(&job);
    return code;
}

const struct cli_command cli_fuzz = {
    .name = "fuzz",
    .arguments = "[SCENARIO]",
    .summary = "try many seeds with random faults; shrink the first that fails",
    .example = "  bucketlab fuzz --seeds 1..10000\n"
               "  bucketlab fuzz my.yaml --seeds 1..500 --jobs 2\n"
               "  bucketlab fuzz my.yaml --seeds 1..500 --baseline shares.json\n"
               "  bucketlab fuzz --for 60s\n"
               "  bucketlab fuzz --seeds 17..17 --print\n",
    .options = options,
    .least = 0,
    .most = 1,
    .run = run,
};
