/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the scenario of --continue. */
#define _POSIX_C_SOURCE 200809L
#include "cli/continue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "kernel/time.h"
#include "lab/quantity.h"

static bool lengthen(const struct store_run_info *info, const char *database, const char *files,
                     uint64_t seed, int64_t for_ns, struct lab_scenario **out, struct sim_error *error)
{
    struct lab_scenario *before;
    if (!cli_scenario_again(info, database, files, NULL, seed, &before, error))
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
    return cli_scenario_again(info, database, files, &longer, seed, out, error);
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
        is_fine =
            lengthen(&info, database, cli_value(args, "files", NULL), result->seed, for_ns, scenario, error);
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
