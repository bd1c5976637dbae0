/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab token: the Murmur3 token of a partition key. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/token.h"
#include "cli/commands/cql.h"
#include "cli/json.h"

static const struct cli_option options[] = {{"type", "T,...",
                                             "the type of each value (default text): text,\n"
                                             "blob, int, bigint, uuid, timeuuid, boolean,\n"
                                             "tinyint, smallint, timestamp, float, double"},
                                            CLI_OPTION_JSON,
                                            CLI_OPTION_QUIET,
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
    size_t count = cli_argument_count(args), types = 1;
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

static bool print_json(int64_t value, const uint8_t *key, size_t size, struct sim_error *error)
{
    char *hex = malloc(2 * size + 1);
    if (hex == NULL)
        return sim_fail_memory(error);
    hex[0] = '\0';
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", key[i]);
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "token", json_integer(value)) &&
                   cli_json_set(object, "key_hex", json_string(hex));
    free(hex);
    return cli_json_print(cli_json_complete(object, is_fine), error);
}

static int token(const struct cli_args *args, struct sim_error *error)
{
    size_t count = cli_argument_count(args);
    struct cass_component *components = calloc(count, sizeof *components);
    uint8_t **data = calloc(count, sizeof *data), *key = NULL;
    bool is_fine = components != NULL && data != NULL;
    if (!is_fine)
        sim_fail_memory(error);
    is_fine = is_fine && read_components(args, components, data, error);
    if (is_fine) {
        size_t size = cass_key_size(components, count);
        key = malloc(size + 1);
        is_fine = key != NULL || sim_fail_memory(error);
        if (is_fine) {
            cass_key_serialise(components, count, key);
            int64_t value = cass_token(key, size);
            if (cli_has(args, "json"))
                is_fine = print_json(value, key, size, error);
            else
                printf("%" PRId64 "\n", value);
        }
    }
    for (size_t i = 0; data != NULL && i < count; i++)
        free(data[i]);
    free(data);
    free(components);
    free(key);
    return is_fine ? 0 : (int)error->class;
}

const struct cli_command cli_token = {
    .name = "token",
    .arguments = "VALUE...",
    .summary = "print Cassandra's token of a partition key",
    .example = "  bucketlab token channel-17\n"
               "  bucketlab token --type text,bigint channel-17 42\n"
               "  bucketlab token --type blob 0xcafe --json\n",
    .options = options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = token,
};
