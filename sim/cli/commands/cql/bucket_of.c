/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab bucket-of: the bucket that a strategy gives to a key, a time or a row id. */
#include <inttypes.h>
#include <string.h>

#include "bucketing/hash.h"
#include "bucketing/strategy.h"
#include "cli/commands/cql.h"
#include "cli/json.h"
#include "cli/text.h"
#include "kernel/text.h"

static const struct cli_option options[] = {{"buckets", "N", "number of buckets: 1 to 2147483647 (required)"},
                                            CLI_OPTION_JSON,
                                            CLI_OPTION_QUIET,
                                            {NULL, NULL, NULL}};

#define HASH_TEXT_SIZE 33

/* Guava's HashCode.toString(): the bytes of h1, then of h2, each in little-endian order. */
static void hash_text(struct bk_hash128 hash, char *buffer)
{
    for (int i = 0; i < 16; i++) {
        uint64_t word = i < 8 ? hash.h1 : hash.h2;
        snprintf(buffer + 2 * i, 3, "%02x", (unsigned)(word >> (8 * (i % 8)) & 0xff));
    }
}

static json_t *as_json(const char *key, int32_t bucket, const char *hash)
{
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "key", json_string(key)) &&
                   cli_json_set(object, "bucket", json_integer(bucket)) &&
                   cli_json_set(object, "hash", json_string(hash));
    return cli_json_complete(object, is_fine);
}

static int bucket_of(const struct cli_args *args, struct sim_error *error)
{
    uint64_t buckets = 0;
    if (!cli_whole(args, "buckets", 1, BK_BUCKETS_MAX, &buckets, error))
        return (int)error->class;
    if (buckets == 0) {
        sim_fail(error, SIM_ERROR_INPUT, "bucketlab: 'bucket-of' needs --buckets; write --buckets 256");
        return SIM_ERROR_INPUT;
    }
    for (size_t i = 0; i < cli_argument_count(args); i++) {
        const char *key = cli_argument(args, i);
        if (sim_utf8_valid(key, strlen(key)) < strlen(key)) {
            sim_fail(error, SIM_ERROR_INPUT,
                     "bucketlab: key %zu is not UTF-8; give it in the encoding that it is hashed in", i + 1);
            return SIM_ERROR_INPUT;
        }
    }
    bool is_json = cli_has(args, "json");
    json_t *list = is_json ? json_array() : NULL;
    for (size_t i = 0; i < cli_argument_count(args); i++) {
        const char *key = cli_argument(args, i);
        char text[HASH_TEXT_SIZE];
        struct bk_hash128 hash = bk_murmur3_128(key, strlen(key), 0);
        int32_t bucket = bk_consistent_hash(hash.h1, (uint32_t)buckets);
        hash_text(hash, text);
        if (!is_json) {
            printf("%10" PRId32 "  %s  ", bucket, text);
            cli_print_text(stdout, key);
            putchar('\n');
        } else if ((list = cli_json_append(list, as_json(key, bucket, text))) == NULL) {
            sim_fail_memory(error);
            return SIM_ERROR_ENVIRONMENT;
        }
    }
    return !is_json || cli_json_print(list, error) ? 0 : (int)error->class;
}

const struct cli_command cli_bucket_of = {
    .name = "bucket-of",
    .arguments = "KEY...",
    .summary = "print the consistent-hash bucket of a key, as Guava does",
    .example = "  bucketlab bucket-of --buckets 256 user1 user2\n",
    .options = options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = bucket_of,
};
