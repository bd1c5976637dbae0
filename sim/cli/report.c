/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "contest_pictures.h"
#include "pictures.h"
#include "store/store.h"

static const struct cli_option options[] = {
    CLI_OPTION_DB, CLI_OPTION_OUT, CLI_OPTION_FORMAT, CLI_OPTION_QUIET, {NULL, NULL, NULL}};

static int report(const struct cli_args *args, struct sim_error *error);
static bool draw_answer(const char *answer, struct cli_pictures *pictures, struct sim_error *error);

const struct cli_command cli_report = {
    .name = "report",
    .arguments = "RUN",
    .summary = "the pictures of a stored run again, from the database alone",
    .example = "  bucketlab report last --format svg,pdf --out pictures\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = report,
};

static int report(const struct cli_args *args, struct sim_error *error)
{
    int64_t run;
    struct store *store;
    struct cli_pictures pictures;
    if (!cli_run_number(args, &run, error) || !cli_pictures_read(args, &pictures, error) ||
        !store_open(cli_value(args, "db", "bucketlab.db"), STORE_READ, &store, error))
        return (int)error->class;
    struct lab_result *result;
    struct store_run_info info;
    char *answer = NULL;
    bool is_fine = store_load_run(store, run, &info, &result, error);
    bool has_result = is_fine;
    is_fine = is_fine && store_tune_load(store, info.run, &answer, error);
    store_close(store);
    is_fine =
        is_fine && cli_pictures_write(&pictures, result, error) && draw_answer(answer, &pictures, error);
    if (has_result)
        lab_result_destroy(result);
    free(answer);
    if (is_fine)
        cli_pictures_print(&pictures, "");
    cli_pictures_free(&pictures);
    return is_fine ? 0 : (int)error->class;
}

/* That of `tune`, where the run has one. */
static bool draw_answer(const char *answer, struct cli_pictures *pictures, struct sim_error *error)
{
    json_error_t problem;
    if (answer == NULL)
        return true;
    json_t *object = json_loads(answer, JSON_REJECT_DUPLICATES, &problem);
    if (object == NULL)
        return sim_fail(
            error, SIM_ERROR_ENVIRONMENT,
            "the answer of 'tune' that stands beside the run is damaged: %s; restore the database "
            "from a copy, or tune again",
            problem.text);
    bool is_fine = cli_contest_draw(object, pictures, error);
    json_decref(object);
    return is_fine;
}
