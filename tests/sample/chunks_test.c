/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a file has the same number of bytes as Cassandra's compressed writer gives it. Method: chunks whose
 * LZ4 block is worked out by hand from the block format, sizes at the borders of chunks, and incompressible
 * bytes under every bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sample/sample.h"

#define CHUNK 16384u

static const struct sample_chunks usual = {CHUNK, SAMPLE_NO_BOUND};

static uint64_t compressed(const struct sample_chunks *chunks, const uint8_t *bytes, uint64_t size)
{
    uint64_t out;
    assert_true(sample_compressed_bytes(chunks, bytes, size, &out));
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
    assert_int_equal(compressed(&usual, NULL, 0), 0);
    assert_int_equal(compressed(&usual, (const uint8_t *)"a", 1), 4 + 1 + 1 + 4);
    assert_int_equal(compressed(&usual, (const uint8_t *)"hello", 5), 4 + 1 + 5 + 4);
    uint8_t bytes[100];
    fill(bytes, sizeof bytes);
    assert_int_equal(compressed(&usual, bytes, 14), 4 + 1 + 14 + 4);
    assert_int_equal(compressed(&usual, bytes, 15), 4 + 2 + 15 + 4);
    assert_int_equal(compressed(&usual, bytes, 100), 4 + 2 + 100 + 4);
}

/* 16384 zeros: a token and a literal, 2 bytes of offset, a match of 16378 in 65 further bytes, then a token
 * and the last five literals: 75 bytes. */
static void test_zeros_compress_to_one_match_per_chunk(void **state)
{
    (void)state;
    uint8_t *zeros = calloc(1, 4 * CHUNK);
    assert_non_null(zeros);
    const uint64_t chunk = 4 + 1 + 1 + 2 + 65 + 1 + 5 + 4;
    assert_int_equal(compressed(&usual, zeros, CHUNK), chunk);
    assert_int_equal(compressed(&usual, zeros, CHUNK + 1), chunk + 4 + 1 + 1 + 4);
    assert_int_equal(compressed(&usual, zeros, 4 * CHUNK), 4 * chunk);
    const struct sample_chunks large = {4 * CHUNK, SAMPLE_NO_BOUND};
    assert_int_equal(compressed(&large, zeros, 4 * CHUNK), 4 + 1 + 1 + 2 + 257 + 1 + 5 + 4);
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
    uint64_t one = compressed(&usual, bytes, CHUNK);
    assert_true(one > CHUNK && one <= CHUNK + CHUNK / 255 + 16 + 8);
    assert_int_equal(compressed(&usual, bytes, 2 * CHUNK), 2 * one);
    assert_int_equal(compressed(&usual, bytes, CHUNK + 10), one + 4 + 1 + 10 + 4);
    free(bytes);
}

/* A bound of 16384 corresponds to min_compress_ratio 1; a last chunk shorter than the bound is padded to
 * it. */
static void test_incompressible_chunk_is_stored_uncompressed(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(CHUNK + 100);
    assert_non_null(bytes);
    fill(bytes, CHUNK + 100);
    const struct sample_chunks bounded = {CHUNK, CHUNK}, strict = {CHUNK, 50}, narrow = {CHUNK, 106};
    assert_int_equal(compressed(&bounded, bytes, CHUNK), CHUNK + 4);
    assert_int_equal(compressed(&strict, bytes, 100), 100 + 4);
    /* 4 + 2 + 100 are 106 bytes, which equals the bound. */
    assert_int_equal(compressed(&narrow, bytes, 100), 106 + 4);
    const struct sample_chunks wide = {CHUNK, 107};
    assert_int_equal(compressed(&wide, bytes, 100), 4 + 2 + 100 + 4);
    const struct sample_chunks padded = {CHUNK, 103};
    assert_int_equal(compressed(&padded, bytes, 100), 103 + 4);
    assert_int_equal(compressed(&bounded, bytes, CHUNK + 100), CHUNK + 4 + 4 + 2 + 100 + 4);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_are_unchanged),
        cmocka_unit_test(test_zeros_compress_to_one_match_per_chunk),
        cmocka_unit_test(test_chunks_are_compressed_independently),
        cmocka_unit_test(test_incompressible_chunk_is_stored_uncompressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
