/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab runs: lists the runs of a database. */
#include <inttypes.h>

#include "cli/commands/runs.h"
#include "cli/table.h"
#include "cli/text.h"
#include "kernel/time.h"
#include "store/store.h"

static const struct cli_option options[] = {CLI_OPTION_DB,
                                            {"all", NULL, "list each run of a sweep, too"},
                                            CLI_OPTION_JSON,
                                            CLI_OPTION_QUIET,
                                            {NULL, NULL, NULL}};

static json_t *as_json(const struct store_run_row *rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct store_run_row *row = &rows[i];
        char created[SIM_TIME_TEXT_SIZE];
        sim_time_format(row->created_unix_s * SIM_SECOND, created);
        json_t *object = CLI_OBJECT(
            {"run", json_integer(row->run)}, {"scenario", json_string(row->scenario_name)},
            {"seed", cli_json_whole(row->seed)}, {"digest", cli_json_digest(row->digest)},
            {"rows", cli_json_whole(row->rows)}, {"strategies", json_integer(row->strategy_count)},
            {"expects", json_integer(row->expects)}, {"expects_failed", json_integer(row->expects_failed)},
            {"created", json_string(created)}, {"elapsed_ms", json_integer(row->elapsed_ms)},
            {"version", json_string(row->version)});
        if (row->sweep != 0) {
            object = cli_json_with(object, "sweep", json_integer(row->sweep));
            object = cli_json_with(object, "sweep_runs", json_integer(row->sweep_runs));
        }
        list = cli_json_append(list, object);
    }
    return list;
}

/* Prints how many runs of a sweep are not listed. */
static void print_folded(const void *is_all, const json_t *row)
{
    const json_int_t runs = json_integer_value(json_object_get(row, "sweep_runs"));
    char count[CLI_NUMBER_SIZE];
    if (*(const bool *)is_all || runs <= 1)
        return;
    cli_grouped((uint64_t)runs, count);
    printf("      the newest of %s runs of sweep %" JSON_INTEGER_FORMAT "; --all lists them\n", count,
           json_integer_value(json_object_get(row, "sweep")));
}

static void print_table(json_t *rows, bool is_all)
{
    static const struct cli_column columns[] = {
        {"run", "run", CLI_EXACT, .group = NULL},        {"scenario", "scenario", CLI_LABEL, .group = NULL},
        {"seed", "seed", CLI_EXACT, .group = NULL},      {"rows", "rows", CLI_NUMBER, .group = NULL},
        {"expected", "state", CLI_WORDS, .group = NULL}, {"stored", "created", CLI_WORDS, .group = NULL}};
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        const json_int_t failed = json_integer_value(json_object_get(row, "expects_failed"));
        const bool has_some = json_integer_value(json_object_get(row, "expects")) > 0;
        json_object_set_new(row, "state",
                            has_some && failed > 0 ? json_sprintf("%" JSON_INTEGER_FORMAT " FAILED", failed)
                                                   : json_string(has_some ? "ok" : "-"));
    }
    cli_table_print(stdout, &(struct cli_table){.rows = rows,
                                                .columns = columns,
                                                .count = 6,
                                                .gap = 2,
                                                .label_least = 8,
                                                .label_most = 27,
                                                .below = print_folded,
                                                .context = &is_all});
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
    json_t *list = is_fine ? as_json(rows, count) : NULL;
    if (is_fine && cli_has(args, "json")) {
        is_fine = cli_json_print(list, error);
    } else if (is_fine) {
        is_fine = list != NULL || sim_fail_memory(error);
        print_table(list, is_all);
        json_decref(list);
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
