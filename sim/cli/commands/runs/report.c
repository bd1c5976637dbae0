/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab report: draws the charts or the page of a stored run. */
#include <stdlib.h>

#include "cli/charts.h"
#include "cli/contest_charts.h"
#include "cli/outputs.h"
#include "cli/page.h"
#include "cli/text.h"
#include "store/store.h"

static const struct cli_option options[] = {
    CLI_OPTION_DB, CLI_OPTION_OUT, CLI_OPTION_FORMAT, CLI_OPTION_QUIET, {NULL, NULL, NULL}};

static bool check_outputs(const struct cli_charts *charts, const char *database,
                          const struct lab_result *result, struct sim_error *error)
{
    struct cli_outputs outputs = {0};
    cli_outputs_charts(&outputs, charts, result->scenario_name);
    cli_outputs_database(&outputs, "db", database, false);
    return cli_outputs_check(&outputs, error);
}

/* The answer of `tune`, if the run has one. */
static bool load_answer(struct store *store, int64_t run, json_t **out, struct sim_error *error)
{
    char *text;
    if (!store_tune_load(store, run, &text, error))
        return false;
    if (text == NULL)
        return true;
    json_error_t problem;
    *out = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
    free(text);
    return *out != NULL ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "the answer of 'tune' that is stored with the run is damaged: %s; restore the database "
                    "from a copy, or tune again",
                    problem.text);
}

/* Printed on stderr, since stdout lists the files. */
static bool tell_left_out(const struct lab_result *result, struct sim_error *error)
{
    struct report_files lines;
    if (!report_left_out(result, &lines, error))
        return false;
    for (size_t i = 0; i < lines.count; i++) {
        fputs("left out: ", stderr);
        cli_print_text(stderr, lines.paths[i]);
        fputc('\n', stderr);
    }
    report_files_free(&lines);
    return true;
}

static int report(const struct cli_args *args, struct sim_error *error)
{
    int64_t run;
    struct store *store;
    struct cli_charts charts;
    const char *database = cli_value(args, "db", "bucketlab.db");
    if (!cli_run_number(args, &run, error) || !cli_charts_read(args, &charts, error) ||
        !store_open(database, STORE_READ, &store, error))
        return (int)error->class;
    struct lab_result *result = NULL;
    struct store_run_info info;
    json_t *answer = NULL;
    bool is_fine = store_load_run(store, run, &info, &result, error) &&
                   check_outputs(&charts, database, result, error) &&
                   load_answer(store, info.run, &answer, error) && cli_charts_write(&charts, result, error) &&
                   (answer == NULL || cli_contest_draw(answer, &charts, error));
    if (is_fine) {
        const struct cli_page page = {result, &info, database, answer};
        is_fine = cli_page_write(&charts, &page, error);
    }
    is_fine = is_fine && (cli_has(args, "quiet") || tell_left_out(result, error));
    store_close(store);
    lab_result_destroy(result);
    json_decref(answer);
    if (is_fine)
        cli_charts_print(&charts, "");
    cli_charts_free(&charts);
    return is_fine ? 0 : (int)error->class;
}

const struct cli_command cli_report = {
    .name = "report",
    .arguments = "RUN",
    .summary = "draw the charts, or the page, of a stored run",
    .example = "  bucketlab report last --format html\n"
               "  bucketlab report 3 --format svg,pdf --out charts\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = report,
};
