/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands for a cluster: `cql` prints the tables and statements of strategies in CQL, `token` the Murmur3
 * token of a partition key, and `bucket-of` the bucket of consistent hashing. */
#define _POSIX_C_SOURCE 200809L
#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "bucketing/strategy.h"
#include "cassandra/token.h"
#include "cli/base.h"
#include "kernel/text.h"
#include "lab/scenario.h"
#include "lab/schema.h"

static const struct cli_option token_options[] = {{"type", "T,...",
                                                   "the type of each value (default text): text,\n"
                                                   "blob, int, bigint, uuid, timeuuid, boolean,\n"
                                                   "tinyint, smallint, timestamp, float, double"},
                                                  {NULL, NULL, NULL}};

/* Removes the first name from a comma-separated list. */
static bool next_type(const char **list, enum cass_type *out, struct sim_error *error)
{
    char name[32];
    size_t length = strcspn(*list, ",");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), *list);
    *list += length + ((*list)[length] == ',');
    if (cass_type_parse(name, out) && *out != CASS_COUNTER)
        return true;
    return sim_fail(
        error, SIM_ERROR_INPUT,
        "bucketlab: --type: no type '%s'; the types are text, blob, int, bigint, uuid, timeuuid, boolean, "
        "tinyint, smallint, timestamp, float, double",
        name);
}

static bool read_components(const struct cli_args *args, struct cass_component *components, uint8_t **data,
                            struct sim_error *error)
{
    size_t count = args->count, types = 1;
    const char *list = cli_value(args, "type", NULL);
    for (const char *c = list; c != NULL && *c != '\0'; c++)
        types += *c == ',';
    if (list != NULL && types != count)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --type %s: names %zu type%s for %zu value%s; give one type per value, "
                        "separated by commas",
                        list, types, types == 1 ? "" : "s", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        enum cass_type type = CASS_TEXT;
        if (list != NULL && !next_type(&list, &type, error))
            return false;
        struct sim_error why;
        if (!cass_value_parse(type, cli_argument(args, i), &data[i], &components[i].size, &why)) {
            if (why.class == SIM_ERROR_INPUT)
                return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: value %zu: %s", i + 1, why.text);
            *error = why;
            return false;
        }
        if (components[i].size > CASS_COMPONENT_SIZE_MAX)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: value %zu: %zu bytes; a partition key's part has at most %u", i + 1,
                            components[i].size, CASS_COMPONENT_SIZE_MAX);
        components[i].data = data[i];
    }
    return true;
}

static void print_token(const struct cli_args *args, const struct cass_component *components)
{
    const size_t size = cass_key_size(components, args->count);
    g_autofree uint8_t *key = g_malloc(size + 1);
    GString *hex = g_string_new("");
    cass_key_serialise(components, args->count, key);
    const int64_t value = cass_token(key, size);
    for (size_t i = 0; i < size; i++)
        g_string_append_printf(hex, "%02x", key[i]);
    if (args->is_json)
        cli_json_print(CLI_OBJECT({"token", json_integer(value)}, {"key_hex", json_string(hex->str)}));
    else
        printf("%" PRId64 "\n", value);
    g_string_free(hex, TRUE);
}

static bool token(const struct cli_args *args, struct sim_error *error)
{
    struct cass_component *components = g_new0(struct cass_component, args->count);
    uint8_t **data = g_new0(uint8_t *, args->count);
    bool is_fine = read_components(args, components, data, error);
    if (is_fine)
        print_token(args, components);
    for (size_t i = 0; i < args->count; i++)
        free(data[i]);
    g_free(data);
    g_free(components);
    return is_fine;
}

const struct cli_command cli_token = {
    .name = "token",
    .arguments = "VALUE...",
    .summary = "print Cassandra's token of a partition key",
    .example = "  bucketlab token channel-17\n"
               "  bucketlab token --type text,bigint channel-17 42\n"
               "  bucketlab token --type blob 0xcafe --json\n",
    .options = token_options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = token,
};

static const struct cli_option bucket_options[] = {
    {"buckets", "N", "number of buckets: 1 to 2147483647 (required)"}, {NULL, NULL, NULL}};

/* Guava's HashCode.toString(): the bytes of h1, then of h2, each in little-endian order. */
#define HASH_TEXT_SIZE 33
static void hash_text(struct bk_hash128 hash, char *buffer)
{
    for (int i = 0; i < 16; i++) {
        uint64_t word = i < 8 ? hash.h1 : hash.h2;
        snprintf(buffer + 2 * i, 3, "%02x", (unsigned)(word >> (8 * (i % 8)) & 0xff));
    }
}

static bool bucket_of(const struct cli_args *args, struct sim_error *error)
{
    uint64_t buckets = 0;
    if (!cli_whole(args, "buckets", 1, BK_BUCKETS_MAX, &buckets, error))
        return false;
    if (buckets == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'bucket-of' needs --buckets; write --buckets 256");
    for (size_t i = 0; i < args->count; i++) {
        const char *key = cli_argument(args, i);
        if (sim_utf8_valid(key, strlen(key)) < strlen(key))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: key %zu is not UTF-8; give it in the encoding that it is hashed in",
                            i + 1);
    }
    json_t *list = json_array();
    for (size_t i = 0; i < args->count; i++) {
        const char *key = cli_argument(args, i);
        char text[HASH_TEXT_SIZE];
        struct bk_hash128 hash = bk_murmur3_128(key, strlen(key), 0);
        int32_t bucket = bk_consistent_hash(hash.h1, (uint32_t)buckets);
        hash_text(hash, text);
        list = cli_json_append(list, CLI_OBJECT({"key", json_string(key)}, {"bucket", json_integer(bucket)},
                                                {"hash", json_string(text)}));
        if (!args->is_json) {
            printf("%10" PRId32 "  %s", bucket, text);
            cli_print_line(stdout, "  ", key);
        }
    }
    if (args->is_json)
        cli_json_print(json_incref(list));
    json_decref(list);
    return true;
}

const struct cli_command cli_bucket_of = {
    .name = "bucket-of",
    .arguments = "KEY...",
    .summary = "print the consistent-hash bucket of a key, as Guava does",
    .example = "  bucketlab bucket-of --buckets 256 user1 user2\n",
    .options = bucket_options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = bucket_of,
};

static const struct cli_option cql_options[] = {
    {"strategy", "LABEL", "only for this strategy (default: for each)"},
    {CLI_OPTION_SET},
    {NULL, NULL, NULL}};

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
    return cli_fail_label(scenario->path, label, labels, scenario->strategy_count, error);
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
    for (size_t i = 0; i < statements->count; i++) {
        const struct lab_statement *one = &statements->items[i];
        list = cli_json_append(
            list, CLI_OBJECT({"table", json_boolean(one->is_table)}, {"when", json_string(one->when)},
                             {"level", cli_json_words(one->level)}, {"serial", cli_json_words(one->serial)},
                             {"cql", json_string(one->cql)}, {"note", cli_json_words(one->note)}));
    }
    return CLI_OBJECT({"strategy", json_string(strategy->label)},
                      {"kind", json_string(bk_kind_name(strategy->settings.strategy.kind))},
                      {"statements", list});
}

static bool print_all(const struct cli_args *args, const struct lab_scenario *scenario, const char *label,
                      struct sim_error *error)
{
    if (!check(scenario, label, error))
        return false;
    json_t *list = json_array();
    bool is_fine = true, is_first = true;
    for (size_t i = 0; is_fine && i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        struct lab_statements statements;
        if (label != NULL && strcmp(label, strategy->label) != 0)
            continue;
        is_fine = lab_statements_make(scenario, i, &statements);
        if (is_fine)
            list = cli_json_append(list, as_json(strategy, &statements));
        if (is_fine && !args->is_json) {
            fputs(is_first ? "" : "\n", stdout);
            print(strategy, &statements);
        }
        is_first = false;
        lab_statements_clear(&statements);
    }
    if (is_fine && !is_first && args->is_json)
        cli_json_print(json_incref(list));
    json_decref(list);
    return is_fine ? !is_first || fail_label(scenario, label, error) : sim_fail_memory(error);
}

static bool cql(const struct cli_args *args, struct sim_error *error)
{
    struct lab_scenario *scenario;
    if (!cli_scenario_load(args, cli_argument(args, 0), &scenario, error))
        return false;
    bool is_fine = print_all(args, scenario, cli_value(args, "strategy", NULL), error);
    lab_scenario_destroy(scenario);
    return is_fine;
}

const struct cli_command cli_cql = {
    .name = "cql",
    .arguments = "SCENARIO",
    .summary = "print the tables and statements of each strategy, as CQL",
    .example = "  bucketlab cql chat.yaml --strategy probabilistic\n",
    .options = cql_options,
    .least = 1,
    .most = 1,
    .run = cql,
};
