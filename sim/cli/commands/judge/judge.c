/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab judge: checks recorded histories, of runs of the lab or of a real service, with the oracles. */
#define _POSIX_C_SOURCE 200809L
#include "cli/base.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/result.h"
#include "cli/run.h"
#include "lab/cluster_engine.h"
#include "lab/fuzz.h"
#include "lab/oracle.h"

static const struct cli_option options[] = {{"tables", "FILE",
                                             "the rows, states and counters that were read back\n"
                                             "at the end"},
                                            {CLI_OPTION_SET},
                                            {NULL, NULL, NULL}};

struct job {
    const struct cli_args *args;
    struct lab_scenario *scenario;
    struct lab_result *result;
};

static bool replay(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct job *job = context;
    return lab_judge(job->scenario, job->args->arguments + 1, job->args->count - 1,
                     cli_value(job->args, "tables", NULL), progress, &job->result, error);
}

/* The first guarantee that is broken is the error. */
static bool holds(const struct lab_result *result, struct sim_error *error)
{
    struct lab_breach breach;
    if (!lab_breach_find(result, &breach))
        return true;
    const struct lab_strategy_result *strategy = &result->strategies[breach.strategy];
    const struct lab_violation *violation = &strategy->verdict.violations[breach.oracle];
    return sim_fail(error, SIM_ERROR_CHECK,
                    "%s breaks its guarantee of %s %" PRIu64 " times; first at %.6f s, key-%" PRIu32 ": %s",
                    strategy->label, lab_oracle_name(breach.oracle), violation->count,
                    (double)(violation->time_ns - result->start_ns) / 1e9, violation->key, violation->text);
}

static bool judge(const struct cli_args *args, struct sim_error *error)
{
    char rows[CLI_NUMBER_SIZE], keys[CLI_NUMBER_SIZE];
    struct job job = {.args = args};
    const struct cli_task task = {
        .name = "judge", .unit = "rows/s", .lost = "nothing was judged", .run = replay, .context = &job};
    bool is_fine = cli_scenario_load(args, cli_argument(args, 0), &job.scenario, error) &&
                   cli_attend(args, &task, NULL, error);
    cli_release(args);
    if (is_fine && args->is_json) {
        cli_json_print(cli_json_run(0, job.result, json_array()));
    } else if (is_fine) {
        cli_grouped(job.result->rows, rows);
        cli_grouped(job.result->keys, keys);
        printf("%s rows of %s keys, according to their histories\n\n", rows, keys);
        cli_print_agents(job.result);
    }
    is_fine = is_fine && holds(job.result, error);
    lab_result_destroy(job.result);
    lab_scenario_destroy(job.scenario);
    return is_fine;
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
