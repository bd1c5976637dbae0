/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a token equals Cassandra's, for single and composite keys. Method: known answers from Cassandra, its
 * drivers and Scylla (tests/vectors/vectors.json names each source). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cassandra/token.h"
#include "vectors.h"

#define COMPONENTS_MAX 8

static void check_tokens(const char *section, size_t at_least)
{
    json_t *root = vectors_load();
    json_t *vectors = vectors_get(root, section);
    assert_true(json_array_size(vectors) >= at_least);
    size_t index;
    json_t *vector;
    json_array_foreach(vectors, index, vector)
    {
        size_t size;
        uint8_t *key = vectors_bytes(vectors_string(vector, "input_hex"), &size);
        int64_t wanted = vectors_int64(vectors_string(vector, "token"));
        int64_t token = cass_token(key, size);
        if (token != wanted)
            fail_msg("%s[%zu]: token %" PRId64 ", not %" PRId64, section, index, token, wanted);
        free(key);
    }
    json_decref(root);
}

static void test_token_known_keys_matches_cassandra(void **state)
{
    (void)state;
    check_tokens("cassandra_murmur3_token", 32);
}

static void test_token_extreme_hashes_are_normalised(void **state)
{
    (void)state;
    check_tokens("token_normalisation", 6);
}

static void test_token_texts_match_cassandra(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    json_t *vectors = vectors_get(vectors_get(root, "guava_user_bucket256"), "vectors");
    assert_true(json_array_size(vectors) >= 100);
    size_t index;
    json_t *vector;
    json_array_foreach(vectors, index, vector)
    {
        size_t size;
        uint8_t *key = vectors_bytes(vectors_string(vector, "utf8_hex"), &size);
        int64_t wanted = vectors_int64(vectors_string(vector, "cassandra_token_of_text"));
        int64_t token = cass_token(key, size);
        if (token != wanted)
            fail_msg("user id %zu: token %" PRId64 ", not %" PRId64, index, token, wanted);
        /* The program parses the key as text, and a text with a NUL cannot be typed. */
        if (memchr(key, '\0', size) == NULL) {
            uint8_t *parsed;
            size_t parsed_size;
            assert_true(
                cass_value_parse(CASS_TEXT, vectors_string(vector, "user_id"), &parsed, &parsed_size, NULL));
            assert_int_equal(parsed_size, size);
            assert_memory_equal(parsed, key, size);
            free(parsed);
        }
        free(key);
    }
    json_decref(root);
}

static void test_key_composite_is_framed_as_cassandra_does(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    json_t *vectors = vectors_get(vectors_get(root, "composite_partition_key"), "vectors");
    assert_true(json_array_size(vectors) >= 5);
    size_t index;
    json_t *vector;
    json_array_foreach(vectors, index, vector)
    {
        json_t *parts = vectors_get(vector, "components");
        size_t count = json_array_size(parts);
        uint8_t *bytes[COMPONENTS_MAX];
        struct cass_component components[COMPONENTS_MAX];
        assert_in_range(count, 2, COMPONENTS_MAX);
        for (size_t i = 0; i < count; i++) {
            const char *hex = vectors_string(json_array_get(parts, i), "hex");
            bytes[i] = vectors_bytes(hex, &components[i].size);
            components[i].data = bytes[i];
        }
        size_t wanted_size;
        uint8_t *wanted = vectors_bytes(vectors_string(vector, "serialized_hex"), &wanted_size);
        assert_int_equal(cass_key_size(components, count), wanted_size);
        uint8_t *serialised = malloc(wanted_size);
        assert_non_null(serialised);
        cass_key_serialise(components, count, serialised);
        assert_memory_equal(serialised, wanted, wanted_size);
        assert_int_equal(cass_token(serialised, wanted_size), vectors_int64(vectors_string(vector, "token")));
        free(serialised);
        free(wanted);
        for (size_t i = 0; i < count; i++)
            free(bytes[i]);
    }
    json_decref(root);
}

static void test_key_single_component_has_no_frame(void **state)
{
    (void)state;
    struct cass_component component = {.data = "123", .size = 3};
    uint8_t serialised[4] = {0, 0, 0, 0x7f};
    assert_int_equal(cass_key_size(&component, 1), 3);
    cass_key_serialise(&component, 1, serialised);
    assert_memory_equal(serialised, "123\x7f", 4);

    struct cass_component empty = {.data = NULL, .size = 0};
    assert_int_equal(cass_key_size(&empty, 1), 0);
    cass_key_serialise(&empty, 1, serialised);
    assert_memory_equal(serialised, "123\x7f", 4);
}

/* The shortcut must give the same token as the serialised composite, including the longest key and negative
 * buckets. */
static void test_token_bucketed_equals_serialised_composite(void **state)
{
    (void)state;
    static const int64_t buckets[] = {0, 1, -1, 255, 256, INT64_MAX, INT64_MIN, 0x0102030405060708};
    static const size_t sizes[] = {0, 1, 7, 255, 256, CASS_COMPONENT_SIZE_MAX};
    char *key = malloc(CASS_COMPONENT_SIZE_MAX);
    uint8_t *serialised = malloc(CASS_COMPONENT_SIZE_MAX + 14);
    assert_true(key != NULL && serialised != NULL);
    for (size_t i = 0; i < CASS_COMPONENT_SIZE_MAX; i++)
        key[i] = (char)(i * 37 % 251);
    for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            uint8_t *bigint;
            size_t bigint_size;
            char decimal[32];
            snprintf(decimal, sizeof(decimal), "%" PRId64, buckets[i]);
            assert_true(cass_value_parse(CASS_BIGINT, decimal, &bigint, &bigint_size, NULL));
            struct cass_component components[] = {{key, sizes[j]}, {bigint, bigint_size}};
            size_t size = cass_key_size(components, 2);
            assert_int_equal(size, sizes[j] + 14);
            cass_key_serialise(components, 2, serialised);
            int64_t token = buckets[i];
            cass_tokens_bucketed(key, sizes[j], &token, 1);
            assert_int_equal(token, cass_token(serialised, size));
            free(bigint);
        }
    }
    free(serialised);
    free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_known_keys_matches_cassandra),
        cmocka_unit_test(test_token_extreme_hashes_are_normalised),
        cmocka_unit_test(test_token_texts_match_cassandra),
        cmocka_unit_test(test_key_composite_is_framed_as_cassandra_does),
        cmocka_unit_test(test_key_single_component_has_no_frame),
        cmocka_unit_test(test_token_bucketed_equals_serialised_composite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
