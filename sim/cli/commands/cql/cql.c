/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab cql: the tables and statements of a scenario's strategies in CQL, or a profile for
 * cassandra-stress. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "cli/commands/cql.h"
#include "cli/json.h"
#include "cli/text.h"
#include "kernel/text.h"
#include "lab/scenario.h"
#include "lab/schema.h"
#include "store/store.h"
#include "stress.h"

static const struct cli_option options[] = {
    {"strategy", "LABEL", "only for this strategy (default: for each)"},
    {"set", "PATH=VALUE",
     "change one field of the scenario, as in\n"
     "table.clustering=[at]; repeatable"},
    {"stress", NULL, "print a profile for cassandra-stress instead of CQL"},
    {"run", "N",
     "with --stress: take the rows per partition from this\n"
     "run, a number or 'last' (default: from the exact\n"
     "distribution)"},
    {"db", "FILE", "with --run: the run database (default bucketlab.db)"},
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

static bool load(const struct cli_args *args, struct lab_scenario **out, struct sim_error *error)
{
    size_t count;
    struct lab_override *overrides;
    if (!cli_overrides(args, &overrides, &count, error))
        return false;
    bool is_fine = lab_scenario_load(cli_argument(args, 0), overrides, count, NULL, out, error);
    free(overrides);
    return is_fine;
}

/* Checks everything before the first line is printed. */
static bool check(const struct lab_scenario *scenario, const char *label, struct sim_error *error)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        if (strategy->settings.is_idgen)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: strategy '%s' hands out identifiers, and 'cql' is for rows; "
                            "docs/strategies.md says what it stores",
                            scenario->path, strategy->line, strategy->column, strategy->label);
        const char *problem = lab_statements_problem(scenario, i);
        if (problem != NULL && (label == NULL || strcmp(label, strategy->label) == 0))
            return sim_fail(error, SIM_ERROR_INPUT, "%s:%d:%d: strategy '%s' %s", scenario->path,
                            strategy->line, strategy->column, strategy->label, problem);
    }
    return true;
}

static bool fail_label(const struct lab_scenario *scenario, const char *label, struct sim_error *error)
{
    if (scenario->strategy_count == 0)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "%s: 'observed' is the only strategy, and it writes no rows; add a strategy that writes rows",
            scenario->path);
    const char *labels[LAB_STRATEGIES_MAX];
    for (size_t i = 0; i < scenario->strategy_count; i++)
        labels[i] = scenario->strategies[i].label;
    const char *nearest = sim_nearest(label, labels, scenario->strategy_count);
    return sim_fail(error, SIM_ERROR_INPUT,
                    nearest != NULL
                        ? "bucketlab: --strategy %s: %s has no strategy with this label; did you mean '%s'?"
                        : "bucketlab: --strategy %s: %s has no strategy with this label; give one of its "
                          "labels, as '%s'",
                    label, scenario->path, nearest != NULL ? nearest : labels[0]);
}

/* Prints each line as a CQL comment. */
static void print_note(const char *note)
{
    while (note != NULL && *note != '\0') {
        int size = (int)strcspn(note, "\n");
        printf("-- %.*s\n", size, note);
        note += size + 1;
    }
}

static void print(const struct lab_strategy *strategy, const struct lab_statements *statements)
{
    printf("-- strategy '");
    cli_print_text(stdout, strategy->label);
    printf("' (%s)\n", bk_kind_name(strategy->settings.strategy.kind));
    for (size_t i = 0; i < statements->count; i++) {
        const struct lab_statement *one = &statements->items[i];
        printf("\n-- %s\n", one->when);
        print_note(one->note);
        if (one->serial != NULL)
            printf("-- at %s, commit at %s\n", one->serial, one->level);
        else if (!one->is_table)
            printf("-- at %s\n", one->level);
        printf("%s;\n", one->cql); /* safe, since names in a scenario have no control characters */
    }
}

static json_t *as_json(const struct lab_strategy *strategy, const struct lab_statements *statements)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < statements->count; i++) {
        const struct lab_statement *one = &statements->items[i];
        json_t *object = json_object();
        bool is_fine =
            cli_json_set(object, "table", json_boolean(one->is_table)) &&
            cli_json_set(object, "when", json_string(one->when)) &&
            cli_json_set(object, "level", one->level == NULL ? json_null() : json_string(one->level)) &&
            cli_json_set(object, "serial", one->serial == NULL ? json_null() : json_string(one->serial)) &&
            cli_json_set(object, "cql", json_string(one->cql)) &&
            cli_json_set(object, "note", one->note == NULL ? json_null() : json_string(one->note));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "strategy", json_string(strategy->label)) &&
        cli_json_set(object, "kind", json_string(bk_kind_name(strategy->settings.strategy.kind))) &&
        cli_json_set(object, "statements", list);
    return cli_json_complete(object, is_fine);
}

static bool print_all(const struct lab_scenario *scenario, const char *label, bool is_json,
                      struct sim_error *error)
{
    if (!check(scenario, label, error))
        return false;
    json_t *list = is_json ? json_array() : NULL;
    bool is_fine = true, is_first = true;
    for (size_t i = 0; is_fine && i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        struct lab_statements statements;
        if (label != NULL && strcmp(label, strategy->label) != 0)
            continue;
        is_fine = lab_statements_make(scenario, i, &statements);
        if (is_fine && is_json) {
            list = cli_json_append(list, as_json(strategy, &statements));
            is_fine = list != NULL;
        } else if (is_fine) {
            fputs(is_first ? "" : "\n", stdout);
            print(strategy, &statements);
        }
        is_first = false;
        lab_statements_clear(&statements);
    }
    if (is_first || !is_fine) {
        json_decref(list);
        return is_fine ? fail_label(scenario, label, error) : sim_fail_memory(error);
    }
    return !is_json || cli_json_print(list, error);
}

static bool check_options(const struct cli_args *args, struct sim_error *error)
{
    bool is_stress = cli_has(args, "stress");
    if (!is_stress && (cli_has(args, "run") || cli_has(args, "db")))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --%s applies only with --stress; add --stress, or leave the option out",
                        cli_has(args, "run") ? "run" : "db");
    return true;
}

static bool stress_text(const struct cli_args *args, const struct lab_scenario *scenario, size_t strategy,
                        char **text, struct sim_error *error)
{
    struct lab_result *result = NULL;
    *text = NULL;
    if (cli_has(args, "run")) {
        struct store *store;
        int64_t run;
        if (!cli_run_parse(cli_value(args, "run", ""), &run, error) ||
            !store_open(cli_value(args, "db", "bucketlab.db"), STORE_READ, &store, error))
            return false;
        bool is_loaded = store_load_run(store, run, NULL, &result, error);
        store_close(store);
        if (!is_loaded)
            return false;
    }
    size_t size;
    FILE *stream = open_memstream(text, &size);
    bool is_fine =
        stream != NULL ? cli_stress_write(stream, scenario, strategy, result, error) : sim_fail_memory(error);
    if (stream != NULL && fclose(stream) != 0 && is_fine)
        is_fine = sim_fail_memory(error);
    lab_result_destroy(result);
    if (!is_fine) {
        free(*text);
        *text = NULL;
    }
    return is_fine;
}

static bool print_stress(const struct cli_args *args, const struct lab_scenario *scenario, const char *label,
                         struct sim_error *error)
{
    size_t index = 0;
    while (label != NULL && index < scenario->strategy_count &&
           strcmp(label, scenario->strategies[index].label) != 0)
        index++;
    if (scenario->strategy_count == 0 || index == scenario->strategy_count)
        return fail_label(scenario, label, error);
    if (label == NULL && scenario->strategy_count > 1)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --stress takes one strategy, and %s has %zu; choose one, as in --strategy '%s'",
            scenario->path, scenario->strategy_count, scenario->strategies[0].label);
    char *text;
    if (!check(scenario, scenario->strategies[index].label, error) ||
        !stress_text(args, scenario, index, &text, error))
        return false;
    bool is_fine = true;
    if (cli_has(args, "json")) {
        json_t *object = json_object();
        bool is_set = cli_json_set(object, "strategy", json_string(scenario->strategies[index].label)) &&
                      cli_json_set(object, "profile", json_string(text));
        is_fine = cli_json_print(cli_json_complete(object, is_set), error);
    } else {
        fputs(text, stdout);
    }
    free(text);
    return is_fine;
}

static int cql(const struct cli_args *args, struct sim_error *error)
{
    struct lab_scenario *scenario;
    if (!load(args, &scenario, error))
        return (int)error->class;
    const char *label = cli_value(args, "strategy", NULL);
    bool is_fine = check_options(args, error) &&
                   (cli_has(args, "stress") ? print_stress(args, scenario, label, error)
                                            : print_all(scenario, label, cli_has(args, "json"), error));
    lab_scenario_destroy(scenario);
    return is_fine ? 0 : (int)error->class;
}

const struct cli_command cli_cql = {
    .name = "cql",
    .arguments = "SCENARIO",
    .summary = "print the tables and statements of each strategy, as CQL",
    .example = "  bucketlab cql chat.yaml --strategy probabilistic\n"
               "  bucketlab cql chat.yaml --strategy hash --stress --run last > stress.yaml\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = cql,
};
