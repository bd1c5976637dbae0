/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pictures.h"
#include "store/store.h"

static const struct cli_option options[] = {
    CLI_OPTION_DB, CLI_OPTION_OUT, CLI_OPTION_FORMAT, CLI_OPTION_QUIET, {NULL, NULL, NULL}};

static int report(const struct cli_args *args, struct sim_error *error);

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
    bool is_fine = store_load_run(store, run, NULL, &result, error);
    store_close(store);
    if (is_fine) {
        is_fine = cli_pictures_write(&pictures, result, error);
        lab_result_destroy(result);
    }
    if (is_fine)
        cli_pictures_print(&pictures, "");
    cli_pictures_free(&pictures);
    return is_fine ? 0 : (int)error->class;
}
