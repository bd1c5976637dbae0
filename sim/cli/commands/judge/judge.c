/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab judge: checks recorded histories, of runs of the lab or of a real service, with the oracles. */
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/execute.h"
#include "cli/result.h"
#include "cli/scenario.h"
#include "cli/table.h"
#include "cli/text.h"
#include "lab/judge.h"
#include "lab/oracle.h"

static const struct cli_option options[] = {
    {"tables", "FILE",
     "the rows, states and counters that were read back\n"
     "at the end"},
    {"set", "PATH=VALUE", "change one field of the scenario; repeatable"},
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

struct job {
    struct lab_scenario *scenario;
    const char **paths, *tables;
    size_t count;
    struct lab_result *result;
};

static bool load(const struct cli_args *args, struct job *job, struct sim_error *error)
{
    job->tables = cli_value(args, "tables", NULL);
    job->count = cli_argument_count(args) - 1;
    job->paths = calloc(job->count, sizeof *job->paths);
    if (job->paths == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < job->count; i++)
        job->paths[i] = cli_argument(args, i + 1);
    return cli_scenario_load(args, cli_argument(args, 0), &job->scenario, error);
}

static bool replay(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct job *job = context;
    return lab_judge(job->scenario, job->paths, job->count, job->tables, progress, &job->result, error);
}

/* The first guarantee that is broken is the error. */
static bool holds(const struct lab_result *result, struct sim_error *error)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        for (int oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
            const struct lab_violation *violation = &strategy->verdict.violations[oracle];
            if (lab_guarantee_is_broken(lab_settings_kind(&strategy->settings),
                                        lab_settings_protocol(&strategy->settings), (enum lab_oracle)oracle,
                                        &strategy->verdict))
                return sim_fail(
                    error, SIM_ERROR_CHECK,
                    "%s breaks its guarantee of %s %" PRIu64 " times; first at %.6f s, key-%" PRIu32 ": %s",
                    strategy->label, lab_oracle_name((enum lab_oracle)oracle), violation->count,
                    (double)(violation->time_ns - result->start_ns) / 1e9, violation->key, violation->text);
        }
    }
    return true;
}

static bool print(const struct lab_result *result, struct sim_error *error)
{
    char rows[CLI_NUMBER_SIZE], keys[CLI_NUMBER_SIZE];
    cli_grouped(result->rows, rows);
    cli_grouped(result->keys, keys);
    printf("%s rows of %s keys, according to their histories\n\n", rows, keys);
    return cli_print_agents(result, error);
}

static int judge(const struct cli_args *args, struct sim_error *error)
{
    struct job job = {0};
    struct cli_signals signals = {0};
    int64_t elapsed_ms;
    bool is_fine = load(args, &job, error);
    int code = (int)error->class;
    if (is_fine) {
        const struct cli_task task = {.name = "judge",
                                      .unit = "rows/s",
                                      .is_quiet = cli_has(args, "quiet"),
                                      .run = replay,
                                      .context = &job};
        cli_signals_hold(&signals);
        is_fine = cli_attend(&task, &signals, &elapsed_ms, error);
        if (!is_fine && signals.caught != 0)
            sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was judged");
        code = is_fine ? 0 : cli_exit_code(&signals, error);
        cli_signals_release(&signals);
    }
    if (is_fine) {
        is_fine = cli_has(args, "json") ? cli_json_print(cli_json_run(0, job.result, json_array()), error)
                                        : print(job.result, error);
        is_fine = is_fine && holds(job.result, error);
        code = is_fine ? 0 : (int)error->class;
    }
    lab_result_destroy(job.result);
    lab_scenario_destroy(job.scenario);
    free(job.paths);
    return code;
}

const struct cli_command cli_judge = {
    .name = "judge",
    .arguments = "SCENARIO HISTORY...",
    .summary = "judge the history of a run or of a real service by the oracles",
    .example = "  bucketlab judge my.yaml agent-*.log driver.log --tables read-back.csv\n"
               "  bucketlab run my.yaml --trace-events run.log --trace-format record\n"
               "  bucketlab judge my.yaml run.log\n",
    .options = options,
    .least = 2,
    .most = CLI_ANY_NUMBER,
    .run = judge,
};
