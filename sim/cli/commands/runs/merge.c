/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab merge: puts the runs of several databases into one. */
#define _POSIX_C_SOURCE 200809L
#include "store/merge.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/commands/runs.h"
#include "cli/execute.h"
#include "cli/json.h"
#include "cli/outputs.h"
#include "cli/text.h"

static const struct cli_option options[] = {
    {"db", "FILE", "the database that receives them (default: the first)"},
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

struct merging {
    const char *target;
    struct store *into;
    struct store **sources;
    size_t source_count;
    struct store_merged merged;
    struct store_sweep_row *sweeps;
    size_t sweep_count;
    struct cli_signals signals;
};

/* The sources are opened first, so that the target is unchanged, and not even migrated, when a source is
 * refused. */
static bool open_all(const struct cli_args *args, struct merging *merging, struct sim_error *error)
{
    size_t count = cli_argument_count(args), first = merging->target == NULL;
    if (merging->target == NULL)
        merging->target = cli_argument(args, 0);
    if (merging->target[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --db: no file named; write --db all.db");
    if (first == count)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'merge' has nothing to merge %s with; name a second database, or --db",
                        merging->target);
    struct cli_outputs outputs = {0};
    cli_outputs_database(&outputs, "db", merging->target, true);
    for (size_t i = first; i < count; i++)
        cli_outputs_database(&outputs, "db", cli_argument(args, i), false);
    if (!cli_outputs_check(&outputs, error))
        return false;
    merging->sources = calloc(count, sizeof *merging->sources);
    if (merging->sources == NULL)
        return sim_fail_memory(error);
    for (size_t i = first; i < count; i++) {
        if (!store_open(cli_argument(args, i), STORE_READ, &merging->sources[merging->source_count], error))
            return false;
        merging->source_count++;
    }
    /* Without --db the first database is the target, which must exist. */
    struct store *there = NULL;
    if (first == 1 && !store_open(merging->target, STORE_READ, &there, error))
        return false;
    store_close(there);
    return store_open(merging->target, STORE_WRITE, &merging->into, error);
}

static bool merge_all(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct merging *merging = context;
    return store_merge(merging->into, merging->sources, merging->source_count, progress, &merging->merged,
                       error);
}

static void print_merged(const struct merging *merging)
{
    char added[CLI_NUMBER_SIZE], found[CLI_NUMBER_SIZE], done[CLI_NUMBER_SIZE], jobs[CLI_NUMBER_SIZE];
    cli_grouped(merging->merged.added, added);
    cli_grouped(merging->merged.found, found);
    cli_print_text(stdout, merging->target);
    printf(": %s run%s added, %s %s there already\n", added, merging->merged.added == 1 ? "" : "s", found,
           merging->merged.found == 1 ? "was" : "were");
    for (size_t i = 0; i < merging->sweep_count; i++) {
        const struct store_sweep_row *sweep = &merging->sweeps[i];
        cli_grouped(sweep->done, done);
        cli_grouped(sweep->jobs, jobs);
        printf("sweep %" PRId64 " of ", sweep->sweep);
        cli_print_text(stdout, sweep->scenario_name);
        printf(": %s of %s runs done, digest %016" PRIx64 "\n", done, jobs, sweep->digest);
    }
}

static json_t *as_json(const struct merging *merging)
{
    json_t *list = json_array(), *object = json_object();
    for (size_t i = 0; list != NULL && i < merging->sweep_count; i++) {
        const struct store_sweep_row *sweep = &merging->sweeps[i];
        char identity[17], digest[17];
        snprintf(identity, sizeof identity, "%016" PRIx64, sweep->identity);
        snprintf(digest, sizeof digest, "%016" PRIx64, sweep->digest);
        json_t *one = json_object();
        bool is_fine = cli_json_set(one, "sweep", json_integer(sweep->sweep)) &&
                       cli_json_set(one, "scenario", json_string(sweep->scenario_name)) &&
                       cli_json_set(one, "identity", json_string(identity)) &&
                       cli_json_set(one, "digest", json_string(digest)) &&
                       cli_json_set(one, "jobs", cli_json_whole(sweep->jobs)) &&
                       cli_json_set(one, "done", cli_json_whole(sweep->done));
        list = cli_json_append(list, cli_json_complete(one, is_fine));
    }
    bool is_fine = cli_json_set(object, "db", json_string(merging->target)) &&
                   cli_json_set(object, "added", cli_json_whole(merging->merged.added)) &&
                   cli_json_set(object, "found", cli_json_whole(merging->merged.found));
    is_fine = cli_json_set(object, "sweeps", list) && is_fine;
    return cli_json_complete(object, is_fine);
}

static int merge(const struct cli_args *args, struct sim_error *error)
{
    struct merging merging = {.target = cli_value(args, "db", NULL)};
    int64_t elapsed_ms;
    bool is_fine = open_all(args, &merging, error);
    int code = 0;
    if (is_fine) {
        const struct cli_task task = {.name = "merge",
                                      .unit = "runs/s",
                                      .is_quiet = cli_has(args, "quiet"),
                                      .run = merge_all,
                                      .context = &merging};
        cli_signals_hold(&merging.signals);
        is_fine = cli_attend(&task, &merging.signals, &elapsed_ms, error);
        code = is_fine ? 0 : cli_exit_code(&merging.signals, error);
        cli_signals_release(&merging.signals);
    }
    is_fine = is_fine && store_list_sweeps(merging.into, &merging.sweeps, &merging.sweep_count, error);
    if (is_fine && cli_has(args, "json"))
        is_fine = cli_json_print(as_json(&merging), error);
    else if (is_fine)
        print_merged(&merging);
    for (size_t i = 0; i < merging.source_count; i++)
        store_close(merging.sources[i]);
    free(merging.sources);
    store_close(merging.into);
    store_sweeps_free(merging.sweeps, merging.sweep_count);
    return is_fine || code != 0 ? code : (int)error->class;
}

const struct cli_command cli_merge = {
    .name = "merge",
    .arguments = "FILE.db...",
    .summary = "combine run databases and parts of sweeps; keep each run once",
    .example = "  bucketlab merge part-1.db part-2.db --db all.db\n",
    .options = options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = merge,
};
