/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads tests/vectors/vectors.json for the tests of this folder: the file stores 64-bit integers as decimal
 * strings. */
#ifndef TESTS_CASSANDRA_VECTORS_H
#define TESTS_CASSANDRA_VECTORS_H

#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline json_t *vectors_load(void)
{
    /* One user id contains a NUL. */
    json_error_t error;
    const char *path = BUCKETLAB_SOURCE_DIR "/tests/vectors/vectors.json";
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, &error);
    if (root == NULL)
        fail_msg("vectors.json:%d: %s", error.line, error.text);
    return root;
}

static inline json_t *vectors_get(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    if (value == NULL)
        fail_msg("vectors.json has no '%s'", name);
    return value;
}

static inline const char *vectors_string(const json_t *object, const char *name)
{
    const char *text = json_string_value(vectors_get(object, name));
    assert_non_null(text);
    return text;
}

static inline int64_t vectors_int64(const char *decimal)
{
    char *end;
    int64_t value = (int64_t)strtoll(decimal, &end, 10);
    assert_true(*decimal != '\0' && *end == '\0');
    return value;
}

/* The bytes of a string of lower-case hexadecimal digits; the caller frees them. */
static inline uint8_t *vectors_bytes(const char *hex, size_t *size)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = strlen(hex);
    assert_int_equal(length % 2, 0);
    *size = length / 2;
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < *size; i++) {
        const char *high = strchr(digits, hex[2 * i]);
        const char *low = strchr(digits, hex[2 * i + 1]);
        assert_true(high != NULL && low != NULL);
        bytes[i] = (uint8_t)((high - digits) << 4 | (low - digits));
    }
    return bytes;
}

#endif
