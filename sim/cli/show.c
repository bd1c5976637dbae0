/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "kernel/time.h"
#include "store/store.h"
#include "table.h"

static const struct cli_option options[] = {
    CLI_OPTION_DB, CLI_OPTION_JSON, CLI_OPTION_QUIET, {NULL, NULL, NULL}};

static int show(const struct cli_args *args, struct sim_error *error);

const struct cli_command cli_show = {
    .name = "show",
    .arguments = "RUN",
    .summary = "a stored run again; RUN is a number or 'last'",
    .example = "  bucketlab show last\n  bucketlab show 3 --json\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = show,
};

static void print_run(const struct store_run_info *info, const struct lab_result *result,
                      const char *database);
static void print_overrides(const char *overrides);

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
    if (is_fine && cli_has(args, "json"))
        is_fine = cli_json_print(cli_json_run(info.run, result), error);
    else if (is_fine)
        print_run(&info, result, database);
    if (is_fine)
        lab_result_destroy(result);
    store_close(store);
    return is_fine ? 0 : (int)error->class;
}

static void print_run(const struct store_run_info *info, const struct lab_result *result,
                      const char *database)
{
    char created[SIM_TIME_TEXT_SIZE];
    sim_time_format(info->created_unix_s * SIM_SECOND, created);
    cli_print_result(result);
    printf("\nsettings\n");
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        char settings[CLI_SETTINGS_SIZE];
        size_t width = cli_text_width(strategy->label);
        cli_settings(strategy, settings);
        printf("  ");
        cli_print_text(stdout, strategy->label);
        printf("%*s  %s: %s\n", width < 13 ? (int)(13 - width) : 0, "", bk_kind_name(strategy->strategy.kind),
               settings);
    }
    printf("\nrun %" PRId64 ", seed %" PRIu64 ", digest %016" PRIx64 "\nscenario ", info->run, result->seed,
           result->digest);
    cli_print_text(stdout, info->scenario_path);
    print_overrides(info->overrides);
    printf("\nstored %s by bucketlab %s, took %.1f s\nagain: bucketlab replay %" PRId64 " --db ", created,
           info->version, (double)info->elapsed_ms / 1000, info->run);
    cli_print_text(stdout, database);
    putchar('\n');
}

static void print_overrides(const char *overrides)
{
    while (*overrides != '\0') {
        size_t length = strcspn(overrides, "\n");
        printf("\n  --set '%.*s'", (int)length, overrides);
        overrides += length + (overrides[length] == '\n');
    }
}
