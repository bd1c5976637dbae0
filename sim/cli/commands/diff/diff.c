/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab diff: compares two scenarios, runs or strategies over the same seeds. */
#define _POSIX_C_SOURCE 200809L
#include "diff.h"

#include <stdlib.h>
#include <string.h>

#include "cli/again.h"
#include "cli/execute.h"
#include "cli/json.h"
#include "cli/text.h"
#include "kernel/text.h"

static const struct cli_option options[] = {
    {"seeds", "N", "compare over N common seeds; runs the missing ones"},
    {"metric", "NAME", "only this figure, or all below NAME; repeatable"},
    {"all", NULL, "show every figure, even equal ones"},
    {"exit-code", NULL, "exit code 1 when the two differ"},
    CLI_OPTION_DB,
    CLI_OPTION_FILES,
    CLI_OPTION_JOBS,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

/* Parses "3", "last" or "3:LABEL". */
static bool read_side(const struct cli_args *args, size_t index, struct cli_diff_side *side,
                      struct sim_error *error)
{
    const char *text = cli_argument(args, index), *colon = strchr(text, ':');
    char number[CLI_NUMBER_SIZE] = "";
    uint64_t run = 0;
    size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
    if (length < sizeof number)
        memcpy(number, text, length);
    if (strcmp(number, "last") != 0 && !cli_whole_parse("run", number, 1, INT64_MAX, &run, error))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%.*s' is not a run; give a number that 'bucketlab runs' lists, or "
                        "'last', and RUN:LABEL for one strategy of it",
                        (int)length, text);
    side->run = (int64_t)run;
    if (colon != NULL && (side->label = strdup(colon + 1)) == NULL)
        return sim_fail_memory(error);
    return true;
}

static bool find_label(const struct cli_diff_side *side, struct sim_error *error)
{
    const struct lab_result *result = side->result;
    const char **labels = calloc(result->strategy_count + 1, sizeof *labels);
    char list[256] = "";
    size_t used = 0;
    if (labels == NULL)
        return sim_fail_memory(error);
    bool is_there = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        labels[i] = result->strategies[i].label;
        is_there = is_there || strcmp(labels[i], side->label) == 0;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", labels[i]);
    }
    /* The list is truncated after a complete label. */
    if (used >= sizeof list) {
        list[sizeof list - sizeof ", ..."] = '\0';
        char *end = strrchr(list, ',');
        strcpy(end == NULL ? list : end, ", ...");
    }
    const char *near = sim_nearest(side->label, labels, result->strategy_count);
    free(labels);
    if (is_there)
        return true;
    if (near != NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: run %lld has no strategy '%s'; did you mean '%s'?", (long long)side->run,
                        side->label, near);
    return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: run %lld has no strategy '%s'; it has: %s",
                    (long long)side->run, side->label, list);
}

static bool load_side(struct store *store, struct cli_diff_side *side, struct sim_error *error)
{
    struct store_run_info info;
    if (!store_load_run(store, side->run, &info, &side->result, error))
        return false;
    side->run = info.run;
    side->version = strdup(info.version == NULL ? "" : info.version);
    side->path = strdup(info.scenario_path == NULL ? "" : info.scenario_path);
    side->text = strdup(info.scenario_text == NULL ? "" : info.scenario_text);
    side->overrides = strdup(info.overrides == NULL ? "" : info.overrides);
    if (side->version == NULL || side->path == NULL || side->text == NULL || side->overrides == NULL)
        return sim_fail_memory(error);
    return side->label == NULL || find_label(side, error);
}

/* Whether a strategy is compared with itself. */
static bool is_same_choice(const struct cli_diff *diff)
{
    const char *a = diff->a.label, *b = diff->b.label;
    return a == NULL || b == NULL || strcmp(a, b) == 0;
}

static bool compare(const struct cli_args *args, struct cli_diff *diff, struct cli_signals *signals,
                    struct sim_error *error)
{
    uint64_t wanted = 0;
    struct store *store;
    if (!cli_whole(args, "seeds", 2, 1000000, &wanted, error) || !read_side(args, 0, &diff->a, error) ||
        !read_side(args, 1, &diff->b, error) ||
        !store_open(cli_value(args, "db", "bucketlab.db"), wanted > 0 ? STORE_WRITE : STORE_READ, &store,
                    error))
        return false;
    bool is_fine = load_side(store, &diff->a, error) && load_side(store, &diff->b, error) &&
                   cli_diff_pair(diff, store, error);
    if (is_fine) {
        diff->is_same_choice = is_same_choice(diff);
        diff->is_same_digest = diff->is_same_choice && diff->a.result->digest == diff->b.result->digest;
        is_fine =
            (wanted <= diff->pair_count || cli_diff_run_missing(diff, store, args, wanted, signals, error)) &&
            cli_diff_compare(diff, store, args, error);
    }
    store_close(store);
    return is_fine;
}

static void free_side(struct cli_diff_side *side)
{
    free(side->label);
    free(side->version);
    free(side->path);
    free(side->text);
    free(side->overrides);
    lab_result_destroy(side->result);
    free(side->seeds);
}

static int run(const struct cli_args *args, struct sim_error *error)
{
    struct cli_diff diff = {.strategies = NULL};
    struct cli_signals signals = {.caught = 0};
    bool is_fine = compare(args, &diff, &signals, error);
    if (is_fine)
        is_fine = cli_has(args, "json") ? cli_json_print(cli_diff_json(&diff), error)
                                        : cli_diff_print(&diff, cli_has(args, "all"), error);
    int code =
        !is_fine ? cli_exit_code(&signals, error) : cli_has(args, "exit-code") && cli_diff_is_any(&diff);
    for (size_t i = 0; i < diff.strategy_count; i++)
        free(diff.strategies[i].figures);
    free(diff.strategies);
    free(diff.pairs);
    free_side(&diff.a);
    free_side(&diff.b);
    return code;
}

const struct cli_command cli_diff = {
    .name = "diff",
    .arguments = "RUN[:LABEL] RUN[:LABEL]",
    .summary = "compare two stored runs, and test the differences for chance",
    .example = "  bucketlab diff 3 last\n  bucketlab diff 3 4 --seeds 10\n"
               "  bucketlab diff 3:hash 3:probabilistic\n",
    .options = options,
    .least = 2,
    .most = 2,
    .run = run,
};
