/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes, runs and stores a scenario of one strategy, `observed`, so every command that reads runs can read
 * it.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands/runs.h"
#include "cli/execute.h"
#include "cli/json.h"
#include "cli/observed.h"
#include "cli/outputs.h"
#include "cli/result.h"
#include "cli/warnings.h"
#include "kernel/file.h"
#include "show.h"
#include "store/store.h"

static const struct cli_option options[] = {
    {"label", "L", "the strategy's label (default observed)"},
    {"table", "KS.TABLE", "which table, if the file has several (default: the only\none)"},
    {"format", "F",
     "sstablepartitions, tablehistograms or large_partitions\n"
     "(default: detected)"},
    {"set", "PATH=VALUE", "add to the scenario, as in\nlimits.partition_bytes=100MB; repeatable"},
    CLI_OPTION_DB,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

struct order {
    char *path; /* absolute, so that the stored run can be repeated from any folder */
    struct lab_scenario *scenario;
    struct lab_result *result;
    struct store *store;
    struct store_run_info info;
    struct cli_signals signals;
    bool is_json, is_quiet;
};

static bool load(const struct cli_args *args, const char *text, struct order *order, struct sim_error *error)
{
    size_t count;
    struct lab_override *overrides;
    if (!cli_overrides(args, &overrides, &count, error))
        return false;
    bool is_fine =
        lab_scenario_parse(order->path, text, strlen(text), overrides, count, NULL, &order->scenario, error);
    free(overrides);
    return is_fine;
}

static bool read_order(const struct cli_args *args, struct order *order, struct sim_error *error)
{
    const char *name = cli_argument(args, 0), *database = cli_value(args, "db", "bucketlab.db");
    if (database[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --db: no file named; write --db bucketlab.db");
    if (strcmp(name, SIM_STANDARD_INPUT) == 0)
        name = "/dev/stdin";
    order->path = sim_input_is_descriptor(name) ? NULL : realpath(name, NULL);
    if (order->path == NULL) /* reading the file reports the error */
        order->path = strdup(name);
    char *text =
        order->path == NULL
            ? NULL
            : cli_observed_scenario(args, NULL, NULL, cli_value(args, "label", "observed"), order->path);
    if (text == NULL)
        return sim_fail_memory(error);
    struct cli_outputs outputs = {0};
    cli_outputs_database(&outputs, "db", database, true);
    cli_outputs_input(&outputs, "the input", order->path);
    bool is_fine = cli_outputs_check(&outputs, error) && load(args, text, order, error) &&
                   store_open(database, STORE_WRITE, &order->store, error);
    free(text);
    if (is_fine && !order->is_quiet)
        cli_warnings_files(stderr, order->scenario);
    return is_fine;
}

static bool execute(struct order *order, struct sim_error *error)
{
    struct store_run_info *info = &order->info;
    if (!cli_execute(order->scenario, 1, NULL, order->is_quiet, NULL, NULL, &order->signals, &order->result,
                     &info->elapsed_ms, error))
        return false;
    info->scenario_path = order->path;
    info->scenario_text = order->scenario->text;
    info->overrides = order->scenario->overrides;
    info->version = BUCKETLAB_VERSION;
    info->created_unix_s = (int64_t)time(NULL);
    return store_save_run(order->store, info, order->result, error);
}

/* Without the sstable such lines may be of another table, or the same line twice. */
static void tell_merged(const struct order *order)
{
    const struct lab_strategy_result *observed = &order->result->strategies[0];
    const struct lab_metric *merged = lab_metrics_find(&observed->metrics, "partitions.merged");
    if (merged != NULL && !order->is_quiet)
        fprintf(stderr,
                "%.0f of the lines have the key of a line before, and were added to it, as pieces of a "
                "partition in "
                "several sstables; to tell them apart, add a column 'generation' (the sstable)\n",
                merged->value);
}

static bool print(const struct cli_args *args, const struct order *order, struct sim_error *error)
{
    bool is_fine =
        order->is_json
            ? cli_json_print(cli_json_run(order->info.run, order->result, cli_warnings_json(order->scenario)),
                             error)
            : cli_show_run(&order->info, order->result, order->scenario,
                           cli_value(args, "db", "bucketlab.db"), error);
    tell_merged(order);
    return is_fine && cli_expects_hold(order->result, error);
}

static int import(const struct cli_args *args, struct sim_error *error)
{
    struct order order = {.is_json = cli_has(args, "json"), .is_quiet = cli_has(args, "quiet")};
    bool is_fine = cli_observed_check(args, error) && read_order(args, &order, error);
    int code = (int)error->class;
    if (is_fine) {
        cli_signals_hold(&order.signals);
        is_fine = execute(&order, error);
        code = is_fine ? 0 : cli_exit_code(&order.signals, error);
        cli_signals_release(&order.signals);
    }
    if (is_fine && !print(args, &order, error))
        code = (int)error->class;
    store_close(order.store);
    lab_scenario_destroy(order.scenario);
    lab_result_destroy(order.result);
    free(order.path);
    return code;
}

const struct cli_command cli_import = {
    .name = "import",
    .arguments = "FILE",
    .summary = "store sizes that Cassandra's tools printed, as a run",
    .example = "  bucketlab import messages.csv --set limits.partition_bytes=100MB\n"
               "where messages.csv is the output of sstablepartitions --csv --min-size 0\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = import,
};
