/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a file has the same number of bytes as Cassandra's compressed writer gives it. Method: chunks whose
 * LZ4 block is worked out by hand from the block format, and sizes at the borders of chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sample/sample.h"

#define CHUNK 16384u

static uint64_t compressed(const uint8_t *bytes, uint64_t size)
{
    uint64_t out;
    assert_true(sample_compressed_bytes(bytes, size, &out));
    return out;
}

/* Bytes from a linear congruential generator, which do not repeat. */
static void fill(uint8_t *bytes, size_t size)
{
    uint64_t state = 1;
    for (size_t i = 0; i < size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(state >> 56);
    }
}

/* A block of n literals has a token and the n bytes for n < 15, and one byte more up to 269. The length and
 * the CRC take 4 bytes each. */
static void test_literals_are_unchanged(void **state)
{
    (void)state;
    assert_int_equal(compressed(NULL, 0), 0);
    assert_int_equal(compressed((const uint8_t *)"a", 1), 4 + 1 + 1 + 4);
    assert_int_equal(compressed((const uint8_t *)"hello", 5), 4 + 1 + 5 + 4);
    uint8_t bytes[100];
    fill(bytes, sizeof bytes);
    assert_int_equal(compressed(bytes, 14), 4 + 1 + 14 + 4);
    assert_int_equal(compressed(bytes, 15), 4 + 2 + 15 + 4);
    assert_int_equal(compressed(bytes, 100), 4 + 2 + 100 + 4);
}

/* 16384 zeros: a token and a literal, 2 bytes of offset, a match of 16378 in 65 further bytes, then a token
 * and the last five literals: 75 bytes. */
static void test_zeros_compress_to_one_match_per_chunk(void **state)
{
    (void)state;
    uint8_t *zeros = calloc(1, 4 * CHUNK);
    assert_non_null(zeros);
    const uint64_t chunk = 4 + 1 + 1 + 2 + 65 + 1 + 5 + 4;
    assert_int_equal(compressed(zeros, CHUNK), chunk);
    assert_int_equal(compressed(zeros, CHUNK + 1), chunk + 4 + 1 + 1 + 4);
    assert_int_equal(compressed(zeros, 4 * CHUNK), 4 * chunk);
    free(zeros);
}

/* Repetitions of the former chunk do not help: each chunk is compressed separately. */
static void test_chunks_are_compressed_independently(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(2 * CHUNK);
    assert_non_null(bytes);
    fill(bytes, CHUNK);
    memcpy(bytes + CHUNK, bytes, CHUNK);
    uint64_t one = compressed(bytes, CHUNK);
    assert_true(one > CHUNK && one <= CHUNK + CHUNK / 255 + 16 + 8);
    assert_int_equal(compressed(bytes, 2 * CHUNK), 2 * one);
    assert_int_equal(compressed(bytes, CHUNK + 10), one + 4 + 1 + 10 + 4);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_are_unchanged),
        cmocka_unit_test(test_zeros_compress_to_one_match_per_chunk),
        cmocka_unit_test(test_chunks_are_compressed_independently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
