/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the unfinished run that --resume or --continue names, and reads its scenario. */
#define _POSIX_C_SOURCE 200809L
#include "cli/resume.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/again.h"
#include "cli/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"
#include "lab/snapshot.h"

static bool find(struct store *store, const char *database, int64_t run, struct store_unfinished *unfinished,
                 bool *is_finished, struct sim_error *error)
{
    bool is_there;
    struct lab_result *result;
    if (!store_unfinished_load(store, run, unfinished, &is_there, error))
        return false;
    if (!is_there && run == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no run is unfinished; `bucketlab runs` lists the finished ones", database);
    if (is_there)
        return true;
    /* A run that does not exist gives the same error as in other commands. */
    if (!store_load_run(store, run, NULL, &result, error))
        return false;
    lab_result_destroy(result);
    unfinished->run = run;
    *is_finished = true;
    return true;
}

static bool check(const struct store_unfinished *unfinished, const struct lab_scenario *scenario,
                  struct sim_error *error)
{
    uint64_t sources;
    if (strcmp(unfinished->version, BUCKETLAB_VERSION) != 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "run %" PRId64 " was begun by bucketlab %s, and this is %s, which cannot resume "
                        "it; resume with that version, or run %s again",
                        unfinished->run, unfinished->version, BUCKETLAB_VERSION, unfinished->scenario_path);
    if (!lab_snapshot_sources(scenario, &sources, error))
        return false;
    return sources == unfinished->sources ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "run %" PRId64 ": %s has changed since the run began; restore it, or run %s again",
                    unfinished->run,
                    scenario->trace_path != NULL ? scenario->trace_path : "a file that the scenario reads",
                    unfinished->scenario_path);
}

/* A resumed run uses the scenario with which it began, which is in the database. */
static void tell_of_file(const struct store_unfinished *unfinished)
{
    char *text;
    size_t size;
    if (!lab_scenario_text(unfinished->scenario_path, &text, &size, NULL))
        return;
    if (size != strlen(unfinished->scenario_text) || memcmp(text, unfinished->scenario_text, size) != 0) {
        fputs("warning: ", stderr);
        cli_print_text(stderr, unfinished->scenario_path);
        fprintf(stderr, " has changed since run %" PRId64 " began; the run continues with the old one\n",
                unfinished->run);
    }
    free(text);
}

bool cli_resume_find(const char *database, const char *run_text, bool is_quiet,
                     struct store_unfinished *unfinished, struct lab_scenario **scenario, bool *is_finished,
                     struct sim_error *error)
{
    struct store *store;
    int64_t run;
    memset(unfinished, 0, sizeof *unfinished);
    *scenario = NULL;
    *is_finished = false;
    /* Opened for writing, so that a database of an older version is migrated; a missing one is not
     * created. */
    enum store_mode mode = access(database, F_OK) == 0 ? STORE_WRITE : STORE_READ;
    if (!cli_run_parse(run_text, &run, error) || !store_open(database, mode, &store, error))
        return false;
    bool is_fine = find(store, database, run, unfinished, is_finished, error);
    store_close(store);
    if (!is_fine || *is_finished)
        return is_fine;
    is_fine = lab_scenario_again(unfinished->scenario_path, unfinished->scenario_text, unfinished->overrides,
                                 NULL, 0, unfinished->seed, scenario, error) &&
              check(unfinished, *scenario, error);
    if (is_fine && !is_quiet)
        tell_of_file(unfinished);
    return is_fine;
}

static bool lengthen(const struct store_run_info *info, uint64_t seed, int64_t for_ns,
                     struct lab_scenario **out, struct sim_error *error)
{
    struct lab_scenario *before;
    if (!cli_scenario_again(info, seed, &before, error))
        return false;
    int64_t duration_ns = before->workload.duration_ns;
    bool is_endless = duration_ns == 0;
    lab_scenario_destroy(before);
    if (is_endless)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "run %" PRId64 " reached the end of its trace, and no rows come after it; "
                        "run %s with a longer trace instead",
                        info->run, info->scenario_path);
    if (for_ns > INT64_MAX - duration_ns)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --for overflows the range of timestamps; make it shorter");
    char text[48];
    snprintf(text, sizeof text, "duration=%" PRId64 "ns", duration_ns + for_ns);
    const struct lab_override longer = {text};
    return lab_scenario_again(info->scenario_path, info->scenario_text, info->overrides, &longer, 1, seed,
                              out, error);
}

bool cli_continue_find(const struct cli_args *args, const char *database, struct lab_scenario **scenario,
                       char **path, struct sim_error *error)
{
    struct store *store;
    struct store_run_info info;
    struct lab_result *result;
    int64_t run, for_ns;
    *scenario = NULL;
    *path = NULL;
    if (!cli_run_parse(cli_value(args, "continue", ""), &run, error) ||
        !cli_duration_option(args, "for", &for_ns, error) || !store_open(database, STORE_READ, &store, error))
        return false;
    bool is_fine = store_load_run(store, run, &info, &result, error);
    if (is_fine) {
        is_fine = lengthen(&info, result->seed, for_ns, scenario, error);
        *path = strdup(info.scenario_path);
        if (is_fine && *path == NULL)
            is_fine = sim_fail_memory(error);
        lab_result_destroy(result);
    }
    store_close(store);
    return is_fine;
}

bool cli_duration_option(const struct cli_args *args, const char *name, int64_t *out_ns,
                         struct sim_error *error)
{
    const char *text = cli_value(args, name, NULL);
    if (text == NULL)
        return true;
    const char *why = lab_quantity_duration(text, out_ns);
    if (why == NULL && *out_ns < SIM_SECOND / 1000)
        why = "too short; give at least 1ms, as in 10s";
    return why == NULL || sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: %s", name, text, why);
}
