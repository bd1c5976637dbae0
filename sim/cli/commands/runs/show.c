/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab show: prints a stored run as `run` printed it. */
#include <inttypes.h>
#include <string.h>

#include "cli/again.h"
#include "cli/commands/runs.h"
#include "cli/json.h"
#include "cli/result.h"
#include "cli/text.h"
#include "cli/warnings.h"
#include "kernel/time.h"
#include "show.h"
#include "store/store.h"

static const struct cli_option options[] = {
    CLI_OPTION_DB, CLI_OPTION_JSON, CLI_OPTION_QUIET, {NULL, NULL, NULL}};

static int show(const struct cli_args *args, struct sim_error *error)
{
    const char *database = cli_value(args, "db", "bucketlab.db");
    int64_t run;
    struct store *store;
    if (!cli_run_number(args, &run, error) || !store_open(database, STORE_READ, &store, error))
        return (int)error->class;
    struct store_run_info info;
    struct lab_result *result;
    bool is_fine = store_load_run(store, run, &info, &result, error);
    if (is_fine) {
        /* This version may refuse the scenario of another version; the stored results are printed anyway. */
        struct lab_scenario *scenario = NULL;
        struct sim_error refused = {0};
        cli_scenario_again(&info, database, NULL, NULL, result->seed, &scenario, &refused);
        if (cli_has(args, "json"))
            is_fine = cli_json_print(
                cli_json_run(info.run, result, scenario == NULL ? json_array() : cli_warnings_json(scenario)),
                error);
        else
            is_fine = cli_show_run(&info, result, scenario, database, error);
        lab_scenario_destroy(scenario);
        lab_result_destroy(result);
    }
    store_close(store);
    return is_fine ? 0 : (int)error->class;
}

const struct cli_command cli_show = {
    .name = "show",
    .arguments = "RUN",
    .summary = "print a stored run again; RUN is a number or 'last'",
    .example = "  bucketlab show last\n  bucketlab show 3 --json\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = show,
};

static void print_overrides(const char *overrides)
{
    while (*overrides != '\0') {
        size_t length = strcspn(overrides, "\n");
        printf("\n  --set '%.*s'", (int)length, overrides);
        overrides += length + (overrides[length] == '\n');
    }
}

bool cli_show_run(const struct store_run_info *info, const struct lab_result *result,
                  const struct lab_scenario *scenario, const char *database, struct sim_error *error)
{
    char created[SIM_TIME_TEXT_SIZE];
    sim_time_format(info->created_unix_s * SIM_SECOND, created);
    if (!cli_print_result(result, error))
        return false;
    cli_print_settings(result, scenario);
    if (scenario != NULL && !cli_warnings_print(stdout, scenario, error))
        return false;
    printf("\nrun %" PRId64 ", seed %" PRIu64 ", digest %016" PRIx64 "\nscenario ", info->run, result->seed,
           result->digest);
    cli_print_text(stdout, info->scenario_path);
    print_overrides(info->overrides);
    printf("\nstored %s by bucketlab %s, took %.1f s\nagain: bucketlab replay %" PRId64 " --db ", created,
           info->version, (double)info->elapsed_ms / 1000, info->run);
    cli_print_text(stdout, database);
    putchar('\n');
    return true;
}
