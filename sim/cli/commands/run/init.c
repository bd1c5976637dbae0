/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab init: a name comes in, and with --table the CREATE TABLE and CREATE TYPE statements of a schema,
 * as DESCRIBE prints them; out goes a scenario, the starter or one with this table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cassandra/token.h"
#include "cli/base.h"
#include "lab/scenario.h"
#include "starter.h"

#define HEAD                                                                                                 \
    "# Every strategy below gets the very same rows.\n"                                                      \
    "#   bucketlab tune THIS-FILE   which strategy, and with which numbers\n"                                \
    "#   bucketlab cql THIS-FILE    the table with its bucket\n"                                             \
    "#   docs/scenario.md           every field, and what it takes\n"
#define WORKLOAD                                                                                             \
    "duration: 30d\n"                                                                                        \
    "keys: {count: 1000, popularity: {zipf: 1}} # a guess\n"                                                 \
    "arrivals: {rate: 10/s} # a guess: the mean of all keys together\n"
#define READS                                                                                                \
    "reads:\n"                                                                                               \
    "  latest: {rows: 50, rate: 1/s} # a guess: the newest rows of a key\n" CLI_SCENARIO_LIMITS              \
    "  - probabilistic: {bits: 9, threshold: 40}\n"                                                          \
    "  - hash: {buckets: 16}\n"

/* As YAML has it between single quotes. */
static char *quoted(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "'", -1);
    g_autofree char *joined = g_strjoinv("''", parts);
    return g_strdup_printf("'%s'", joined);
}

/* Adds what feeds the primary key, which the user may correct. */
static void add_feeds(const struct lab_design *design, GString *out)
{
    static const char *const feeds[] = {
        [LAB_FEED_KEY] = "the key",        [LAB_FEED_BUCKET] = "the bucket", [LAB_FEED_TIME] = "the time",
        [LAB_FEED_ID] = "the id of a row", [LAB_FEED_VALUES] = "one of 10",  [LAB_FEED_DATA] = ""};
    g_string_append(out, "  #");
    for (size_t i = 0; i < design->partition_count + design->clustering_count; i++) {
        const struct lab_column *column =
            &design->columns[i < design->partition_count ? design->partition[i]
                                                         : design->clustering[i - design->partition_count]];
        const bool is_one = column->feed == LAB_FEED_VALUES && column->values == 1;
        g_string_append_printf(out, "%s %s: %s", i == 0 ? "" : ",", column->name,
                               is_one ? "goes with the key" : feeds[column->feed]);
    }
    g_string_append_c(out, '\n');
}

/* Adds the columns whose sizes are guesses. */
static void add_guesses(const struct lab_design *design, GString *out)
{
    bool is_first = true, shares = false;
    for (size_t i = 0; i < design->column_count; i++)
        shares = shares || (design->columns[i].feed == LAB_FEED_DATA && design->columns[i].weight.value == 0);
    if (shares)
        g_string_append(out, "  bytes: 1KB # a guess; columns without a size share it\n");
    for (size_t i = 0; i < design->column_count; i++) {
        const struct lab_column *column = &design->columns[i];
        if (!column->is_guess)
            continue;
        g_autofree char *name = quoted(column->name);
        g_string_append_printf(out, "%s    %s: {bytes: %uB", is_first ? "  columns: # guesses\n" : "", name,
                               cass_type_usual(column->type));
        if (column->type == CASS_NESTED)
            g_string_append_printf(out, ", elements: %u", CASS_ELEMENTS_USUAL);
        g_string_append_printf(out, "} # %s\n", column->type_text);
        is_first = false;
    }
}

/* The scenario of a table; NULL on failure. `path` is the scenario's own, `name` that of its table unless
 * there is only one. */
static char *scenario_of(const char *path, const char *file, const char *name, struct sim_error *error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *absolute = g_canonicalize_filename(file, NULL);
    g_autofree char *shown = quoted(strcmp(folder, ".") == 0 ? file : absolute), *title = quoted(name);
    g_autofree char *trial = g_strdup_printf("name: %s\n" WORKLOAD "row: {schema: %s}\n" READS, title, shown);
    struct lab_scenario *scenario;
    if (!lab_scenario_parse(path, trial, strlen(trial), NULL, 0, NULL, &scenario, error))
        return NULL;
    GString *out = g_string_new(HEAD WORKLOAD);
    g_string_append_printf(out, "row:\n  schema: {file: %s, table: %s}\n", shown, scenario->design.name);
    add_feeds(&scenario->design, out);
    add_guesses(&scenario->design, out);
    g_string_append(out, READS);
    lab_scenario_destroy(scenario);
    return g_string_free(out, FALSE);
}

static const struct cli_option init_options[] = {
    {"table", "FILE", "a scenario of the table in a schema (CREATE TABLE);\nof several, the one named NAME"},
    {NULL, NULL, NULL}};

static bool ends_in_yaml(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static bool init(const struct cli_args *args, struct sim_error *error)
{
    const char *name = args->count > 0 ? cli_argument(args, 0) : "scenario";
    if (name[0] == '\0' || name[strlen(name) - 1] == '/')
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: init '%s': no file name; write 'bucketlab init chat'", name);
    g_autofree char *path = g_strconcat(name, ends_in_yaml(name) ? "" : ".yaml", NULL);
    const char *schema = cli_value(args, "table", NULL);
    g_autofree char *base = g_path_get_basename(path), *text = NULL;
    *strrchr(base, '.') = '\0';
    if (schema != NULL && (text = scenario_of(path, schema, base, error)) == NULL)
        return false;
    const struct report_bytes content =
        schema == NULL ? (struct report_bytes){(unsigned char *)(uintptr_t)cli_starter, cli_starter_size, 0}
                       : (struct report_bytes){(unsigned char *)text, strlen(text), 0};
    if (!report_output((const char *const *)&path, &content, 1, true, error))
        return false;
    if (!args->is_quiet) {
        printf("wrote ");
        cli_print_text(stdout, path);
        cli_print_line(stdout, "; try it: bucketlab run ", path);
    }
    return true;
}

const struct cli_command cli_init = {
    .name = "init",
    .arguments = "[NAME]",
    .summary = "write a commented starter scenario (default scenario.yaml)",
    .example =
        "  bucketlab init chat\n  bucketlab run chat.yaml\n  bucketlab init events --table schema.cql\n",
    .options = init_options,
    .has_no_json = true,
    .least = 0,
    .most = 1,
    .run = init,
};
