/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab runs: lists the runs of a database. */
#include <inttypes.h>
#include <string.h>

#include "cli/commands/runs.h"
#include "cli/json.h"
#include "cli/text.h"
#include "kernel/time.h"
#include "store/store.h"

static const struct cli_option options[] = {CLI_OPTION_DB,
                                            {"all", NULL, "list each run of a sweep, too"},
                                            CLI_OPTION_JSON,
                                            CLI_OPTION_QUIET,
                                            {NULL, NULL, NULL}};

static json_t *row_as_json(const struct store_run_row *row)
{
    char created[SIM_TIME_TEXT_SIZE], digest[17];
    sim_time_format(row->created_unix_s * SIM_SECOND, created);
    snprintf(digest, sizeof digest, "%016" PRIx64, row->digest);
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "run", json_integer(row->run)) &&
                   cli_json_set(object, "scenario", json_string(row->scenario_name)) &&
                   cli_json_set(object, "seed", cli_json_whole(row->seed)) &&
                   cli_json_set(object, "digest", json_string(digest)) &&
                   cli_json_set(object, "rows", cli_json_whole(row->rows)) &&
                   cli_json_set(object, "strategies", json_integer(row->strategy_count)) &&
                   cli_json_set(object, "expects", json_integer(row->expects)) &&
                   cli_json_set(object, "expects_failed", json_integer(row->expects_failed)) &&
                   cli_json_set(object, "created", json_string(created)) &&
                   cli_json_set(object, "elapsed_ms", json_integer(row->elapsed_ms)) &&
                   cli_json_set(object, "version", json_string(row->version));
    if (row->sweep != 0)
        is_fine = is_fine && cli_json_set(object, "sweep", json_integer(row->sweep)) &&
                  cli_json_set(object, "sweep_runs", json_integer(row->sweep_runs));
    return cli_json_complete(object, is_fine);
}

static json_t *as_json(const struct store_run_row *rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < count; i++)
        list = cli_json_append(list, row_as_json(&rows[i]));
    return list;
}

/* The column of names is as wide as the longest name, if a row then fits into 80 columns. */
#define NAME_COLUMNS_LEAST 8
#define NAME_COLUMNS_MOST  27

static int name_columns(const struct store_run_row *rows, size_t count)
{
    size_t most = NAME_COLUMNS_LEAST;
    for (size_t i = 0; i < count; i++) {
        size_t width = cli_text_width(rows[i].scenario_name);
        most = width > most && width <= NAME_COLUMNS_MOST ? width : most;
    }
    return (int)most;
}

/* A name that is wider than the column gets a separate line. */
static void print_name(const char *name, int columns)
{
    size_t width = cli_text_width(name);
    cli_print_text(stdout, name);
    if (width > (size_t)columns)
        printf("\n%*s", 6 + columns, "");
    else
        printf("%*s", columns - (int)width, "");
}

static void print_table(const struct store_run_row *rows, size_t count, bool is_all)
{
    int columns = name_columns(rows, count);
    printf("%4s  %-*s  %6s  %5s  %-8s  %s\n", "run", columns, "scenario", "seed", "rows", "expected",
           "stored");
    for (size_t i = 0; i < count; i++) {
        const struct store_run_row *row = &rows[i];
        char created[SIM_TIME_TEXT_SIZE], size[CLI_NUMBER_SIZE], expected[2 * CLI_NUMBER_SIZE + 8] = "-";
        sim_time_format(row->created_unix_s * SIM_SECOND, created);
        cli_compact((double)row->rows, 5, size);
        if (row->expects > 0 && row->expects_failed == 0)
            snprintf(expected, sizeof expected, "ok");
        else if (row->expects > 0)
            snprintf(expected, sizeof expected, "%" PRId64 " FAILED", row->expects_failed);
        printf("%4" PRId64 "  ", row->run);
        print_name(row->scenario_name, columns);
        printf("  %6" PRIu64 "  %5s  %-8s  %s\n", row->seed, size, expected, created);
        if (row->sweep != 0 && !is_all && row->sweep_runs > 1) {
            cli_grouped((uint64_t)row->sweep_runs, size);
            printf("      the newest of %s runs of sweep %" PRId64 "; --all lists them\n", size, row->sweep);
        }
    }
}

static int runs(const struct cli_args *args, struct sim_error *error)
{
    struct store *store;
    struct store_run_row *rows = NULL;
    size_t count = 0;
    if (!store_open(cli_value(args, "db", "bucketlab.db"), STORE_READ, &store, error))
        return (int)error->class;
    bool is_all = cli_has(args, "all");
    bool is_fine = is_all ? store_list_runs(store, &rows, &count, error)
                          : store_list_folded(store, &rows, &count, error);
    if (is_fine && cli_has(args, "json")) {
        is_fine = cli_json_print(as_json(rows, count), error);
    } else if (is_fine) {
        print_table(rows, count, is_all);
    }
    store_runs_free(rows, count);
    store_close(store);
    return is_fine ? 0 : (int)error->class;
}

const struct cli_command cli_runs = {
    .name = "runs",
    .arguments = "",
    .summary = "list the runs of the database, newest first",
    .example = "  bucketlab runs --db chat.db\n",
    .options = options,
    .least = 0,
    .most = 0,
    .run = runs,
};
