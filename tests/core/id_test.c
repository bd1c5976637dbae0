/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: bk_id_bits() takes the same bits as an independent murmur3 (Python's mmh3), and the random bits of a
 * UUID v4 unchanged; two ids that differ in one random bit never give the same bits.
 * Method: known answers; each bit of a UUID v4 is flipped. Misuse is tested in misuse_test.c, and bits of
 * real ids in tests/ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bucketing/id.h"

static const uint8_t uuid4[16] = {0x01, 0x91, 0xab, 0x34, 0xcd, 0x56, 0x4f, 0x78,
                                  0x90, 0x12, 0x34, 0x56, 0x78, 0xab, 0xcd, 0xef};

static void test_bits_are_those_of_murmur3(void **state)
{
    static const struct {
        enum bk_id_kind kind;
        size_t size;
        uint8_t id[17];
        uint64_t bits;
    } rows[] = {
        {BK_ID_TIMEUUID, 16, "\x7d\x41\xbc\x20\xe7\x61\x11\xf1\xb2\xb8\x41\xe1\xf5\x87\xf6\x02",
         0xda0f26164144e48c},
        {BK_ID_UUID7, 16, "\x01\x9a\xb1\xc2\x7e\x3f\x7a\xbc\x8d\xef\x01\x23\x45\x67\x89\xab",
         0xd08c8960651fc720},
        {BK_ID_ULID, 16, "\x01\x91\xab\x34\xcd\x56\xef\x78\x90\x12\x34\x56\x78\xab\xcd\xef",
         0x7fe33d8dbeac904e},
        {BK_ID_SNOWFLAKE, 8, "\x14\x03\x73\xa4\xac\x2a\xdf\x79", 0x9e6641d4cc2a449a},
        {BK_ID_BYTES, 8, "order-17", 0xe5a6bf344520013a},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bits;
        assert_int_equal(bk_id_bits(rows[i].kind, rows[i].id, rows[i].size, &bits), BK_OK);
        assert_true(bits == rows[i].bits);
    }
}

static void test_bits_of_a_uuid4_are_its_random_ones(void **state)
{
    uint64_t bits, other;
    uint64_t seen = 0;
    (void)state;
    assert_int_equal(bk_id_bits(BK_ID_UUID4, uuid4, sizeof uuid4, &bits), BK_OK);
    assert_true(bits == UINT64_C(0x4048d159e2af37bc));
    for (int bit = 0; bit < 128; bit++) {
        uint8_t turned[16];
        memcpy(turned, uuid4, sizeof turned);
        turned[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        bool is_fixed = (bit >= 48 && bit < 52) || bit == 64 || bit == 65; /* version and variant */
        assert_int_equal(bk_id_bits(BK_ID_UUID4, turned, sizeof turned, &other),
                         is_fixed ? BK_ERROR_ID : BK_OK);
        if (is_fixed)
            assert_true(other == 0);
        else if (other != bits) {
            uint64_t changed = other ^ bits;
            assert_true((changed & (changed - 1)) == 0 && (changed & seen) == 0);
            seen |= changed;
        }
    }
    assert_true(seen == UINT64_MAX); /* each of the 64 bits is one bit of the id, and another one */
}

static void test_kinds_have_names(void **state)
{
    (void)state;
    for (int kind = 0; kind < BK_ID_KINDS; kind++)
        assert_non_null(bk_id_kind_name((enum bk_id_kind)kind));
    assert_null(bk_id_kind_name(BK_ID_KINDS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_are_those_of_murmur3),
        cmocka_unit_test(test_bits_of_a_uuid4_are_its_random_ones),
        cmocka_unit_test(test_kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
