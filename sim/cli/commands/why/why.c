/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab why: which faults or races caused rows to go wrong. */
#define _POSIX_C_SOURCE 200809L
#include "why.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/commands/why.h"
#include "cli/continue.h"
#include "cli/warnings.h"
#include "kernel/time.h"

#define SLOW_DEFAULT (SIM_SECOND / 10)

static const struct cli_option options[] = {
    {"seed", "N", "use this seed instead of the scenario's"},
    {"set", "PATH=VALUE", "change one field of the scenario; repeatable"},
    {"slow", "DURATION", "rows that took this long or longer are slow (default\n100ms)"},
    CLI_OPTION_JOBS,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

static bool load(const struct cli_args *args, struct lab_scenario **out, struct sim_error *error)
{
    const char *path = cli_argument(args, 0);
    struct lab_override *overrides;
    size_t count;
    uint64_t seed = 0;
    if (!cli_whole(args, "seed", 0, UINT64_MAX, &seed, error) ||
        !cli_overrides(args, &overrides, &count, error))
        return false;
    bool is_fine =
        lab_scenario_load(path, overrides, count, cli_has(args, "seed") ? &seed : NULL, out, error);
    free(overrides);
    if (!is_fine)
        return false;
    if ((*out)->engine != LAB_ENGINE_CLUSTER)
        is_fine = sim_fail(error, SIM_ERROR_INPUT,
                           "%s: 'why' needs agents: without them nothing goes wrong; add, for example, "
                           "'agents: {count: 8}'",
                           path);
    if (is_fine && (*out)->fault_count > WHY_FAULTS_MAX)
        is_fine =
            sim_fail(error, SIM_ERROR_INPUT, "%s: %zu faults; 'why' tries at most %u; remove some with --set",
                     path, (*out)->fault_count, WHY_FAULTS_MAX);
    if (is_fine)
        return true;
    lab_scenario_destroy(*out);
    *out = NULL;
    return false;
}

static int why(const struct cli_args *args, struct sim_error *error)
{
    struct why job = {.slow_ns = SLOW_DEFAULT};
    struct lab_scenario *scenario = NULL;
    struct cli_signals signals = {0};
    bool is_quiet = cli_has(args, "quiet");
    if (!cli_jobs(args, &job.jobs, error) || !cli_duration_option(args, "slow", &job.slow_ns, error) ||
        !load(args, &scenario, error))
        return (int)error->class;
    job.scenario = scenario;
    if (!is_quiet)
        cli_warnings_files(stderr, scenario);
    cli_signals_hold(&signals);
    bool is_fine = why_run(&job, is_quiet, &signals, error);
    if (is_fine && cli_has(args, "json"))
        is_fine = why_print_json(&job, error);
    else if (is_fine)
        why_print(&job);
    int code = is_fine ? 0 : cli_exit_code(&signals, error);
    cli_signals_release(&signals);
    why_free(&job);
    lab_scenario_destroy(scenario);
    return code;
}

const struct cli_command cli_why = {
    .name = "why",
    .arguments = "SCENARIO",
    .summary = "show which faults or races caused misrouted or slow rows",
    .example = "  bucketlab why scenarios/three-state.yaml\n"
               "  bucketlab why my.yaml --seed 7 --slow 50ms --json\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = why,
};
