/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: both hashes equal those of Guava and Cassandra, bit for bit. Method: known answers from those programs
 * (tests/vectors/vectors.json names each source), SMHasher's own verification value, and a second
 * implementation of Guava's loop in Java's int arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bucketing/hash.h"
#include "bucketing/route.h"

#include <stdio.h>

#include "../cassandra/vectors.h"
#include "draw.h"

#define C1          UINT64_C(0x87c37b91114253d5)
#define C2          UINT64_C(0x4cf5ad432745937f)
#define WALK_FACTOR UINT64_C(2862933555777941757)

static void assert_hash(struct bk_hash128 hash, uint64_t h1, uint64_t h2)
{
    if (hash.h1 != h1 || hash.h2 != h2)
        fail_msg("hash %016" PRIx64 " %016" PRIx64 ", not %016" PRIx64 " %016" PRIx64, hash.h1, hash.h2, h1,
                 h2);
}

static void store64(uint64_t value, uint8_t *out)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static void test_murmur3_seeded_prefixes_match_known_answers(void **state)
{
    (void)state;
    json_t *root = vectors_load(), *section = vectors_get(root, "murmur3_seeded_prefixes");
    json_t *vectors = vectors_get(section, "vectors"), *vector;
    uint64_t seed = (uint64_t)json_integer_value(vectors_get(section, "seed"));
    assert_int_equal(json_array_size(vectors), 30);
    size_t index;
    json_array_foreach(vectors, index, vector)
    {
        char text[64];
        size_t length = (size_t)json_integer_value(vectors_get(vector, "len"));
        assert_true(length < sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)('0' + i % 10);
        uint64_t h1 = strtoull(vectors_string(vector, "h1"), NULL, 10);
        uint64_t h2 = strtoull(vectors_string(vector, "h2"), NULL, 10);
        assert_hash(bk_murmur3_128(text, length, seed), h1, h2);
        assert_hash(bk_murmur3_128_cassandra(text, length, seed), h1, h2);
    }
    json_decref(root);
}

static void test_murmur3_canonical_inputs_match_guava(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    json_t *vectors = vectors_get(vectors_get(root, "canonical_murmur3_x64_128"), "vectors"), *vector;
    assert_int_equal(json_array_size(vectors), 29);
    size_t index, differing = 0;
    json_array_foreach(vectors, index, vector)
    {
        size_t size;
        uint8_t *data = vectors_bytes(vectors_string(vector, "input_hex"), &size);
        uint64_t seed = (uint64_t)json_integer_value(vectors_get(vector, "seed"));
        struct bk_hash128 hash = bk_murmur3_128(data, size, seed);
        assert_hash(hash, strtoull(vectors_string(vector, "h1_hex"), NULL, 16),
                    strtoull(vectors_string(vector, "h2_hex"), NULL, 16));
        assert_int_equal((int64_t)hash.h1, vectors_int64(vectors_string(vector, "as_long")));
        if (json_object_get(vector, "cassandra_token") != NULL) {
            struct bk_hash128 theirs = bk_murmur3_128_cassandra(data, size, seed);
            /* The empty key's token is a separate rule above the hash. */
            if (size > 0)
                assert_int_equal((int64_t)theirs.h1,
                                 vectors_int64(vectors_string(vector, "cassandra_token")));
            differing += theirs.h1 != hash.h1;
        }
        free(data);
    }
    assert_true(differing > 0);
    json_decref(root);
}

static void test_murmur3_cassandra_keys_match_its_tokens(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    json_t *vectors = vectors_get(root, "cassandra_murmur3_token"), *vector;
    assert_int_equal(json_array_size(vectors), 32);
    size_t index, differing = 0;
    json_array_foreach(vectors, index, vector)
    {
        size_t size;
        uint8_t *key = vectors_bytes(vectors_string(vector, "input_hex"), &size);
        int64_t canonical = (int64_t)bk_murmur3_128(key, size, 0).h1;
        int64_t theirs = (int64_t)bk_murmur3_128_cassandra(key, size, 0).h1;
        assert_int_equal(theirs, vectors_int64(vectors_string(vector, "token")));
        assert_int_equal(canonical, vectors_int64(vectors_string(vector, "canonical_h1")));
        bool differs = json_is_true(vectors_get(vector, "differs_from_canonical"));
        assert_int_equal(differs, canonical != theirs);
        differing += differs;
        free(key);
    }
    assert_true(differing > 0);
    /* Keys constructed to have chosen hashes, before the partitioner's own rules. */
    json_array_foreach(vectors_get(root, "token_normalisation"), index, vector)
    {
        size_t size;
        uint8_t *key = vectors_bytes(vectors_string(vector, "input_hex"), &size);
        assert_int_equal((int64_t)bk_murmur3_128_cassandra(key, size, 0).h1,
                         vectors_int64(vectors_string(vector, "raw_h1")));
        free(key);
    }
    json_decref(root);
}

/* SMHasher's VerificationTest: the hashes of {}, {0}, {0, 1} ... with seeds 256, 255 ... hashed together. */
static void test_murmur3_smhasher_verification_value_is_met(void **state)
{
    (void)state;
    uint8_t key[256], hashes[256 * 16];
    for (size_t i = 0; i < 256; i++) {
        key[i] = (uint8_t)i;
        struct bk_hash128 hash = bk_murmur3_128(key, i, 256 - i);
        store64(hash.h1, hashes + 16 * i);
        store64(hash.h2, hashes + 16 * i + 8);
    }
    assert_int_equal((uint32_t)bk_murmur3_128(hashes, sizeof hashes, 0).h1, UINT32_C(0x6384ba69));
    /* NULL is the empty input. */
    assert_hash(bk_murmur3_128(NULL, 0, 0), 0, 0);
    assert_hash(bk_murmur3_128_cassandra(NULL, 0, 0), 0, 0);
}

/* x with x * odd = 1 modulo 2^64, by Newton's method; each step doubles the number of correct bits. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

static uint64_t rotr(uint64_t x, int r)
{
    return (x >> r) | (x << (64 - r));
}

/* The steps of one block are rotations among bijections, so the rotations of the vectors can be set at the
 * input and read off the output. */
static uint64_t rotl_as_hashed(uint64_t x, int r)
{
    uint8_t block[16];
    uint64_t k1 = r == 27 ? rotr(x * inverse(C2), 31) * inverse(C1) : 0;
    uint64_t k2 = r == 31 ? rotr(x * inverse(C1), 33) * inverse(C2) : r == 33 ? x * inverse(C2) : 0;
    store64(k1, block);
    store64(k2, block + 8);
    struct bk_hash128 hash = bk_murmur3_128(block, sizeof block, 0);
    uint64_t mixed[2] = {2 * hash.h1 - hash.h2, hash.h2 - hash.h1};
    for (int i = 0; i < 2; i++) {
        uint64_t k = mixed[i];
        k = (k ^ (k >> 33)) * inverse(UINT64_C(0xc4ceb9fe1a85ec53));
        k = (k ^ (k >> 33)) * inverse(UINT64_C(0xff51afd7ed558ccd));
        mixed[i] = k ^ (k >> 33);
    }
    uint64_t h2 = (mixed[1] - mixed[0]) ^ 16, h1 = (mixed[0] - (mixed[1] - mixed[0])) ^ 16;
    if (r == 27)
        return (h1 - 0x52dce729) * inverse(5);
    uint64_t rotated = (h2 - 0x38495ab5) * inverse(5) - h1;
    return r == 31 ? rotated : rotr(rotated, 31) * inverse(C1);
}

static void test_murmur3_components_match_known_answers(void **state)
{
    (void)state;
    json_t *root = vectors_load(), *section = vectors_get(root, "murmur3_components"), *vector;
    assert_int_equal(json_array_size(vectors_get(section, "fmix")), 5);
    assert_int_equal(json_array_size(vectors_get(section, "rotl")), 7);
    size_t index;
    json_array_foreach(vectors_get(section, "fmix"), index, vector)
    {
        /* The hash of no bytes with a seed s: h2 - h1 is fmix(3 s). */
        uint64_t x = (uint64_t)vectors_int64(vectors_string(vector, "x"));
        struct bk_hash128 hash = bk_murmur3_128(NULL, 0, x * inverse(3));
        assert_int_equal((int64_t)(hash.h2 - hash.h1), vectors_int64(vectors_string(vector, "out")));
    }
    json_array_foreach(vectors_get(section, "rotl"), index, vector)
    {
        uint64_t x = (uint64_t)vectors_int64(vectors_string(vector, "x"));
        int r = (int)json_integer_value(vectors_get(vector, "r"));
        assert_true(r == 27 || r == 31 || r == 33);
        assert_int_equal((int64_t)rotl_as_hashed(x, r), vectors_int64(vectors_string(vector, "out")));
    }
    json_decref(root);
}

static void test_murmur3_of_u64_equals_that_of_its_bytes(void **state)
{
    (void)state;
    struct draw draw = {.state = 1};
    for (int i = 0; i < 10000; i++) {
        uint64_t value = i < 64 ? UINT64_C(1) << i : draw_size(&draw);
        uint8_t bytes[8];
        store64(value, bytes);
        struct bk_hash128 hash = bk_murmur3_128(bytes, sizeof bytes, 0);
        assert_hash(bk_murmur3_128_u64(value), hash.h1, hash.h2);
        uint32_t buckets = 1 + (uint32_t)draw_below(&draw, BK_BUCKETS_MAX);
        assert_int_equal(bk_bucket_of_id(value, buckets), bk_consistent_hash(hash.h1, buckets));
    }
}

static void test_batch_conversion_equals_single_ones(void **state)
{
    (void)state;
    static const uint32_t some[] = {0, 1, 2, 7, 256, 65536, INT32_MAX, UINT32_C(0x80000000), UINT32_MAX};
    static uint64_t ids[700];
    static int32_t of_inputs[701], of_ids[701];
    struct draw draw = {.state = 4};
    for (size_t i = 0; i < 700; i++)
        ids[i] = draw_bits(&draw);
    for (size_t count = 0; count <= 700; count += count < 20 ? 1 : 68) {
        for (size_t j = 0; j < sizeof some / sizeof *some; j++) {
            of_inputs[count] = of_ids[count] = -7; /* nothing is written after the last */
            bk_consistent_hashes(ids, count, some[j], of_inputs);
            bk_buckets_of_ids(ids, count, some[j], of_ids);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(of_inputs[i], bk_consistent_hash(ids[i], some[j]));
                assert_int_equal(of_ids[i], bk_bucket_of_id(ids[i], some[j]));
            }
            assert_int_equal(of_inputs[count], -7);
            assert_int_equal(of_ids[count], -7);
        }
    }
}

/* Draws of 2^31 overflow in Java: they end a walk whatever its quotient. The generator is run backwards from
 * states with such draws. */
static void test_many_at_once_keep_the_overflow(void **state)
{
    (void)state;
    uint64_t back = inverse(WALK_FACTOR), inputs[64];
    int32_t buckets[64];
    struct draw draw = {.state = 5};
    for (size_t i = 0; i < 64; i++) {
        uint64_t drawn = UINT64_MAX << 33 | draw_bits(&draw) >> 31;
        inputs[i] = (drawn - 1) * back;
        if (i % 2 == 0)
            inputs[i] = (inputs[i] - 1) * back;
    }
    bk_consistent_hashes(inputs, 64, INT32_MAX, buckets);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(buckets[i], bk_consistent_hash(inputs[i], INT32_MAX));
        if (i % 2 == 1)
            assert_int_equal(buckets[i], 0);
    }
}

static void test_murmur3_misaligned_input_hashes_alike(void **state)
{
    (void)state;
    uint8_t data[80];
    struct draw draw = {.state = 2};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)draw_bits(&draw);
    for (size_t size = 0; size <= 64; size++) {
        struct bk_hash128 hash = bk_murmur3_128(data, size, 7);
        for (size_t offset = 1; offset < 16; offset++) {
            uint8_t moved[80];
            memcpy(moved + offset, data, size);
            assert_hash(bk_murmur3_128(moved + offset, size, 7), hash.h1, hash.h2);
        }
    }
}

static void test_consistent_hash_known_inputs_match_guava(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    json_t *vectors = vectors_get(vectors_get(root, "guava_consistent_hash"), "vectors"), *vector;
    assert_int_equal(json_array_size(vectors), 89);
    size_t index, wrapping = 0;
    json_array_foreach(vectors, index, vector)
    {
        uint64_t input = (uint64_t)vectors_int64(vectors_string(vector, "input"));
        uint32_t buckets = (uint32_t)json_integer_value(vectors_get(vector, "buckets"));
        json_int_t wanted = json_integer_value(vectors_get(vector, "bucket"));
        assert_int_equal(bk_consistent_hash(input, buckets), wanted);
        json_t *textbook = json_object_get(vector, "textbook_jump_hash");
        wrapping += textbook != NULL && json_integer_value(textbook) != wanted;
    }
    assert_true(wrapping > 0);
    json_decref(root);
}

/* Guava's loop in Java's arithmetic: int wraps, and a cast of a double to int saturates. */
static int32_t java_consistent_hash(uint64_t state, int32_t buckets)
{
    int32_t candidate = 0;
    for (;;) {
        state = state * UINT64_C(2862933555777941757) + 1;
        int32_t draw = (int32_t)(state >> 33);
        draw = draw == INT32_MAX ? INT32_MIN : draw + 1;
        double quotient = (candidate + 1) / ((double)draw / 0x1.0p31);
        int32_t next = quotient >= INT32_MAX   ? INT32_MAX
                       : quotient <= INT32_MIN ? INT32_MIN
                                               : (int32_t)quotient;
        if (next < 0 || next >= buckets)
            return candidate;
        candidate = next;
    }
}

static void test_consistent_hash_random_inputs_follow_javas_arithmetic(void **state)
{
    (void)state;
    struct draw draw = {.state = 3};
    uint64_t back = inverse(WALK_FACTOR);
    for (int i = 0; i < 20000; i++) {
        uint32_t buckets = i % 100 == 0 ? BK_BUCKETS_MAX - (uint32_t)(i / 100 % 3)
                                        : 1 + (uint32_t)(draw_bits(&draw) >> (33 + draw_below(&draw, 31)));
        buckets = buckets > BK_BUCKETS_MAX ? BK_BUCKETS_MAX : buckets;
        uint64_t input = draw_bits(&draw);
        /* One input in four is constructed to overflow at its first, second or third step. */
        if (i % 4 == 0) {
            input |= UINT64_C(0x7fffffff) << 33;
            for (int step = 0; step <= i / 4 % 3; step++)
                input = (input - 1) * back;
        }
        int32_t bucket = bk_consistent_hash(input, buckets);
        assert_in_range(bucket, 0, buckets - 1);
        assert_int_equal(bucket, java_consistent_hash(input, (int32_t)buckets));
    }
}

static void test_consistent_hash_one_more_bucket_moves_rows_there_only(void **state)
{
    (void)state;
    struct draw draw = {.state = 4};
    for (int i = 0; i < 2000; i++) {
        uint64_t input = draw_bits(&draw);
        for (uint32_t buckets = 1; buckets < 40; buckets++) {
            int32_t before = bk_consistent_hash(input, buckets),
                    after = bk_consistent_hash(input, buckets + 1);
            assert_true(after == before || after == (int32_t)buckets);
        }
    }
}

static void test_user_bucket_known_users_match_guava(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    json_t *vectors = vectors_get(vectors_get(root, "guava_user_bucket256"), "vectors"), *vector;
    assert_int_equal(json_array_size(vectors), 100);
    size_t index;
    json_array_foreach(vectors, index, vector)
    {
        size_t size, hash_size;
        uint8_t *user = vectors_bytes(vectors_string(vector, "utf8_hex"), &size);
        uint8_t *wanted = vectors_bytes(vectors_string(vector, "murmur3_128_hex"), &hash_size), printed[16];
        struct bk_hash128 hash = bk_murmur3_128(user, size, 0);
        store64(hash.h1, printed);
        store64(hash.h2, printed + 8);
        assert_int_equal(hash_size, sizeof printed);
        assert_memory_equal(printed, wanted, sizeof printed);
        assert_int_equal((int64_t)hash.h1, vectors_int64(vectors_string(vector, "as_long")));
        assert_int_equal(bk_consistent_hash(hash.h1, 256),
                         json_integer_value(vectors_get(vector, "bucket256")));
        free(user);
        free(wanted);
    }
    json_decref(root);
}

static void test_user_bucket_many_users_spread_as_guavas(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    json_t *check = vectors_get(vectors_get(root, "guava_user_bucket256"), "spread_check");
    json_t *first = vectors_get(check, "first_10");
    int counts[256] = {0}, least = INT32_MAX, most = 0;
    int64_t sum = 0;
    for (int i = 0; i < 20000; i++) {
        char user[32];
        int length = snprintf(user, sizeof user, "user-%d", i);
        int32_t bucket = bk_consistent_hash(bk_murmur3_128(user, (size_t)length, 0).h1, 256);
        assert_in_range(bucket, 0, 255);
        if (i < 10)
            assert_int_equal(bucket, json_integer_value(json_array_get(first, (size_t)i)));
        counts[bucket]++;
        sum += bucket;
    }
    for (int i = 0; i < 256; i++) {
        least = counts[i] < least ? counts[i] : least;
        most = counts[i] > most ? counts[i] : most;
    }
    assert_int_equal(least, json_integer_value(vectors_get(check, "min_per_bucket")));
    assert_int_equal(most, json_integer_value(vectors_get(check, "max_per_bucket")));
    assert_int_equal(sum, json_integer_value(vectors_get(check, "sum_of_buckets")));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_murmur3_seeded_prefixes_match_known_answers),
        cmocka_unit_test(test_murmur3_canonical_inputs_match_guava),
        cmocka_unit_test(test_murmur3_cassandra_keys_match_its_tokens),
        cmocka_unit_test(test_murmur3_smhasher_verification_value_is_met),
        cmocka_unit_test(test_murmur3_components_match_known_answers),
        cmocka_unit_test(test_murmur3_of_u64_equals_that_of_its_bytes),
        cmocka_unit_test(test_murmur3_misaligned_input_hashes_alike),
        cmocka_unit_test(test_batch_conversion_equals_single_ones),
        cmocka_unit_test(test_many_at_once_keep_the_overflow),
        cmocka_unit_test(test_consistent_hash_known_inputs_match_guava),
        cmocka_unit_test(test_consistent_hash_random_inputs_follow_javas_arithmetic),
        cmocka_unit_test(test_consistent_hash_one_more_bucket_moves_rows_there_only),
        cmocka_unit_test(test_user_bucket_known_users_match_guava),
        cmocka_unit_test(test_user_bucket_many_users_spread_as_guavas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
