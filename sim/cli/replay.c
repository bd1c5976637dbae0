/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "execute.h"
#include "json.h"
#include "store/store.h"

static const struct cli_option options[] = {
    CLI_OPTION_DB, CLI_OPTION_JOBS, CLI_OPTION_JSON, CLI_OPTION_QUIET, {NULL, NULL, NULL}};

static int replay(const struct cli_args *args, struct sim_error *error);

const struct cli_command cli_replay = {
    .name = "replay",
    .arguments = "RUN",
    .summary = "run a stored run again, and prove that its digest is the same",
    .example = "  bucketlab replay last\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = replay,
};

static bool parse_stored(const struct store_run_info *info, uint64_t seed, struct lab_scenario **out,
                         struct sim_error *error);
static struct lab_override *split_lines(char *text, size_t *count);
static bool compare(const struct store_run_info *info, const struct lab_result *stored,
                    const struct lab_result *again, struct sim_error *error);
static bool print_same(const struct cli_args *args, int64_t run, const struct lab_result *again,
                       struct sim_error *error);

static int replay(const struct cli_args *args, struct sim_error *error)
{
    int64_t run, elapsed_ms;
    uint32_t jobs;
    struct store *store;
    struct store_run_info info;
    struct lab_result *stored = NULL, *again = NULL;
    struct lab_scenario *scenario = NULL;
    struct cli_signals signals = {.caught = 0};
    if (!cli_run_number(args, &run, error) || !cli_jobs(args, &jobs, error) ||
        !store_open(cli_value(args, "db", "bucketlab.db"), STORE_READ, &store, error))
        return (int)error->class;
    bool is_fine = store_load_run(store, run, &info, &stored, error) &&
                   parse_stored(&info, stored->seed, &scenario, error);
    if (is_fine) {
        cli_signals_hold(&signals);
        is_fine =
            cli_execute(scenario, jobs, cli_has(args, "quiet"), NULL, &signals, &again, &elapsed_ms, error);
        cli_signals_release(&signals);
    }
    is_fine = is_fine && compare(&info, stored, again, error) && print_same(args, info.run, again, error);
    int code = is_fine ? 0 : cli_exit_code(&signals, error);
    lab_scenario_destroy(scenario);
    lab_result_destroy(stored);
    lab_result_destroy(again);
    store_close(store);
    return code;
}

static bool parse_stored(const struct store_run_info *info, uint64_t seed, struct lab_scenario **out,
                         struct sim_error *error)
{
    size_t count = 0;
    char *text = strdup(info->overrides);
    struct lab_override *overrides = text == NULL ? NULL : split_lines(text, &count);
    bool is_fine = overrides == NULL
                       ? sim_fail_memory(error)
                       : lab_scenario_parse(info->scenario_path, info->scenario_text,
                                            strlen(info->scenario_text), overrides, count, &seed, out, error);
    free(overrides);
    free(text);
    return is_fine;
}

/* Ends each line of text in place and points at it. */
static struct lab_override *split_lines(char *text, size_t *count)
{
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++)
        most += *c == '\n';
    struct lab_override *lines = calloc(most, sizeof *lines);
    *count = 0;
    while (lines != NULL && *text != '\0') {
        lines[(*count)++].text = text;
        text += strcspn(text, "\n");
        if (*text == '\n')
            *text++ = '\0';
    }
    return lines;
}

static bool compare(const struct store_run_info *info, const struct lab_result *stored,
                    const struct lab_result *again, struct sim_error *error)
{
    const char *cure = strcmp(info->version, BUCKETLAB_VERSION) == 0
                           ? "a trace that changed since, or a defect worth a report"
                           : "another version stored it";
    for (size_t i = 0; i < stored->strategy_count && i < again->strategy_count; i++) {
        const struct lab_strategy_result *one = &stored->strategies[i], *other = &again->strategies[i];
        if (strcmp(one->label, other->label) != 0 || one->placement_digest != other->placement_digest)
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
    if (!cli_json_set(object, "run", json_integer(run)) || !cli_json_set(object, "same", json_true()) ||
        !cli_json_set(object, "digest", json_string(digest))) {
        json_decref(object);
        object = NULL;
    }
    return cli_json_print(object, error);
}
