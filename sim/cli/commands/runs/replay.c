/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab replay: runs a stored scenario again and compares the digests. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "cli/commands/runs.h"
#include "cli/difference.h"
#include "cli/execute.h"
#include "cli/json.h"
#include "store/store.h"

static const struct cli_option options[] = {CLI_OPTION_DB,   CLI_OPTION_FILES, CLI_OPTION_JOBS,
                                            CLI_OPTION_JSON, CLI_OPTION_QUIET, {NULL, NULL, NULL}};

struct rerun {
    struct store_run_info info;
    struct lab_scenario *scenario;
    struct lab_result *stored, *again;
    bool is_quiet;
    struct cli_signals signals;
};

static const char *cure_of(const struct store_run_info *info)
{
    return strcmp(info->version, BUCKETLAB_VERSION) == 0
               ? "a trace that changed since, or this is a defect; please report it"
               : "another version stored it";
}

/* Always returns false, with an error that names the first event that differs. To get the text of that event,
 * it runs the strategy once more with an event listener. */
static bool fail_event(struct rerun *rerun, size_t strategy, const struct cli_difference *difference,
                       struct sim_error *error)
{
    const struct lab_strategy_result *one = &rerun->stored->strategies[strategy];
    const struct lab_event_log *now = &rerun->again->strategies[strategy].events;
    int64_t run = rerun->info.run;
    const char *cure = cure_of(&rerun->info);
    char event[CLI_EVENT_SIZE] = "", place[128];
    if (!difference->is_placed)
        return sim_fail(
            error, SIM_ERROR_CHECK,
            "run %" PRId64 ": strategy '%s': the events differ, digest %016" PRIx64 " of %" PRIu64
            " stored and %016" PRIx64 " of %" PRIu64 " now, and the stored marks do not show where; %s",
            run, one->label, one->events.digest, one->events.events, now->digest, now->events, cure);
    if (difference->first == difference->last)
        snprintf(place, sizeof place, "is number %" PRIu64, difference->first);
    else
        snprintf(place, sizeof place, "is between %" PRIu64 " and %" PRIu64 ", the first of these",
                 difference->first, difference->last);
    if (difference->first > now->events)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "run %" PRId64 ": strategy '%s': the first event that differs %s, and now there are "
                        "%" PRIu64 "; %s",
                        run, one->label, place, now->events, cure);
    if (!cli_difference_tell(rerun->scenario, strategy, difference, rerun->is_quiet, &rerun->signals, event,
                             error))
        return false;
    return sim_fail(error, SIM_ERROR_CHECK,
                    "run %" PRId64
                    ": strategy '%s': the first event that differs %s at %s (as it is now); %s",
                    run, one->label, place, event, cure);
}

static bool compare(struct rerun *rerun, struct sim_error *error)
{
    const struct lab_result *stored = rerun->stored, *again = rerun->again;
    const struct store_run_info *info = &rerun->info;
    const char *cure = cure_of(info);
    for (size_t i = 0; i < stored->strategy_count && i < again->strategy_count; i++) {
        const struct lab_strategy_result *one = &stored->strategies[i], *other = &again->strategies[i];
        struct cli_difference difference;
        bool is_same = strcmp(one->label, other->label) == 0;
        if (is_same && cli_difference_find(&one->events, &other->events, &difference))
            return fail_event(rerun, i, &difference, error);
        if (is_same && one->settings.observed != WL_OBSERVED_AUTO &&
            one->placement_digest != other->placement_digest)
            return sim_fail(error, SIM_ERROR_CHECK,
                            "run %" PRId64
                            ": strategy '%s': %s gives other sizes than before, digest %016" PRIx64
                            " then and %016" PRIx64 " now; restore the file, or run it again",
                            info->run, one->label,
                            other->settings.observed_file == NULL ? "it" : other->settings.observed_file,
                            one->placement_digest, other->placement_digest);
        if (!is_same || one->placement_digest != other->placement_digest)
            return sim_fail(error, SIM_ERROR_CHECK,
                            "run %" PRId64 ": strategy '%s' places rows differently, %016" PRIx64
                            " stored (by %s) and %016" PRIx64 " now (%s); %s",
                            info->run, one->label, one->placement_digest, info->version,
                            other->placement_digest, BUCKETLAB_VERSION, cure);
    }
    if (stored->digest == again->digest && stored->strategy_count == again->strategy_count)
        return true;
    return sim_fail(error, SIM_ERROR_CHECK,
                    "run %" PRId64 ": digest %016" PRIx64 " stored (by %s) and %016" PRIx64
                    " now (%s), while "
                    "each strategy's is the same; %s",
                    info->run, stored->digest, info->version, again->digest, BUCKETLAB_VERSION, cure);
}

static bool print_same(const struct cli_args *args, int64_t run, const struct lab_result *again,
                       struct sim_error *error)
{
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, again->digest);
    if (!cli_has(args, "json")) {
        printf("run %" PRId64 ": same digest %s\n", run, digest);
        return true;
    }
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "run", json_integer(run)) &&
                   cli_json_set(object, "same", json_true()) &&
                   cli_json_set(object, "digest", json_string(digest));
    return cli_json_print(cli_json_complete(object, is_fine), error);
}

static int replay(const struct cli_args *args, struct sim_error *error)
{
    int64_t run, elapsed_ms;
    uint32_t jobs;
    struct store *store;
    const char *database = cli_value(args, "db", "bucketlab.db");
    struct rerun rerun = {.is_quiet = cli_has(args, "quiet")};
    if (!cli_run_number(args, &run, error) || !cli_jobs(args, &jobs, error) ||
        !store_open(database, STORE_READ, &store, error))
        return (int)error->class;
    bool is_fine = store_load_run(store, run, &rerun.info, &rerun.stored, error) &&
                   cli_scenario_again(&rerun.info, database, cli_value(args, "files", NULL), NULL,
                                      rerun.stored->seed, &rerun.scenario, error);
    if (is_fine) {
        cli_signals_hold(&rerun.signals);
        is_fine = cli_execute(rerun.scenario, jobs, NULL, rerun.is_quiet, NULL, NULL, &rerun.signals,
                              &rerun.again, &elapsed_ms, error) &&
                  compare(&rerun, error);
        cli_signals_release(&rerun.signals);
    }
    is_fine = is_fine && print_same(args, rerun.info.run, rerun.again, error);
    int code = is_fine ? 0 : cli_exit_code(&rerun.signals, error);
    lab_scenario_destroy(rerun.scenario);
    lab_result_destroy(rerun.stored);
    lab_result_destroy(rerun.again);
    store_close(store);
    return code;
}

const struct cli_command cli_replay = {
    .name = "replay",
    .arguments = "RUN",
    .summary = "run a stored run again, and check that its digest is the same",
    .example = "  bucketlab replay last\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = replay,
};
