/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an archive returns what was saved, or it is refused; no input crashes the loader, and no failed
 * allocation goes unnoticed. Method: one function saves and loads a structure with a field of each kind. Its
 * archive is truncated at every length, altered in every byte, and filled with random bytes under a valid
 * checksum; every allocation fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/archive.h"
#include "kernel/digest.h"

#include <stdlib.h>
#include <string.h>

#include "../no_memory.h"

#define KIND      77
#define ITEMS_MAX 100

struct item {
    uint64_t a;
    double b;
};

struct thing {
    bool is_set;
    uint8_t u8;
    uint32_t u32, index32;
    uint64_t u64;
    uint64_t packed[5];
    int64_t i64;
    size_t size, index;
    double number;
    unsigned char bytes[3];
    struct item *items;
    size_t item_count;
    char *name, *nothing;
    uint64_t *made; /* allocated one field at a time */
    size_t made_count;
};

static void archive_thing(struct thing *thing, struct sim_archive *archive)
{
    sim_archive_mark(archive, 1);
    sim_archive_bool(archive, &thing->is_set);
    sim_archive_u8(archive, &thing->u8);
    sim_archive_u32(archive, &thing->u32);
    sim_archive_u32_below(archive, &thing->index32, 1000);
    sim_archive_u64(archive, &thing->u64);
    for (size_t i = 0; i < sizeof thing->packed / sizeof *thing->packed; i++)
        sim_archive_packed(archive, &thing->packed[i]);
    sim_archive_i64(archive, &thing->i64);
    sim_archive_size(archive, &thing->size);
    sim_archive_size_below(archive, &thing->index, 1000);
    sim_archive_double(archive, &thing->number);
    sim_archive_bytes(archive, thing->bytes, sizeof thing->bytes);
    thing->items =
        sim_archive_array(archive, thing->items, sizeof *thing->items, &thing->item_count, ITEMS_MAX);
    sim_archive_text(archive, &thing->name);
    sim_archive_text(archive, &thing->nothing);
    sim_archive_size(archive, &thing->made_count);
    if (archive->is_loading)
        thing->made =
            sim_archive_allocate(archive, thing->made_count, sizeof *thing->made, sizeof *thing->made);
    for (size_t i = 0; sim_archive_is_fine(archive) && i < thing->made_count; i++)
        sim_archive_u64(archive, &thing->made[i]);
    sim_archive_mark(archive, 2);
}

static struct thing example(void)
{
    static struct item items[3] = {{1, 0.5}, {UINT64_MAX, -0.0}, {3, 1e300}};
    static uint64_t made[2] = {8, 9};
    return (struct thing){.is_set = true,
                          .u8 = 255,
                          .u32 = UINT32_MAX,
                          .index32 = 999,
                          .u64 = UINT64_MAX,
                          .packed = {0, 127, 128, UINT64_C(1) << 63, UINT64_MAX},
                          .i64 = INT64_MIN,
                          .size = SIZE_MAX,
                          .index = 997,
                          .number = -0.0,
                          .bytes = {1, 2, 3},
                          .items = items,
                          .item_count = 3,
                          .name = (char *)(uintptr_t) "a name",
                          .made = made,
                          .made_count = 2};
}

static void clear_thing(struct thing *thing)
{
    free(thing->items);
    free(thing->name);
    free(thing->nothing);
    free(thing->made);
    memset(thing, 0, sizeof *thing);
}

static unsigned char *save_example(size_t *size)
{
    struct thing thing = example();
    struct sim_archive archive;
    unsigned char *data;
    sim_archive_begin_save(&archive, KIND);
    archive_thing(&thing, &archive);
    assert_true(sim_archive_finish_save(&archive, &data, size, NULL));
    return data;
}

static bool load(const unsigned char *data, size_t size, struct thing *thing, struct sim_error *error)
{
    struct sim_archive archive;
    memset(thing, 0, sizeof *thing);
    if (!sim_archive_begin_load(&archive, data, size, KIND, error))
        return false;
    archive_thing(thing, &archive);
    return sim_archive_finish_load(&archive, error);
}

static bool is_refused_at_once(const unsigned char *data, size_t size, uint64_t kind,
                               enum sim_error_class class, const char *says)
{
    struct sim_archive archive;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    bool is_taken = sim_archive_begin_load(&archive, data, size, kind, &error);
    if (!is_taken && (error.class != class || strstr(error.text, says) == NULL))
        fail_msg("%d '%s' does not say '%s'", error.class, error.text, says);
    return !is_taken;
}

/* These bytes in an archive with a valid checksum. */
static unsigned char *seal(const unsigned char *bytes, size_t length, size_t *size)
{
    struct sim_archive archive;
    unsigned char *sealed;
    sim_archive_begin_save(&archive, KIND);
    sim_archive_bytes(&archive, (void *)(uintptr_t)bytes, length);
    assert_true(sim_archive_finish_save(&archive, &sealed, size, NULL));
    return sealed;
}

static void test_archive_every_field_is_restored(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = save_example(&size);
    struct thing a = example(), b;
    assert_true(load(data, size, &b, NULL));
    assert_true(b.is_set && a.u8 == b.u8 && a.u32 == b.u32);
    assert_true(a.index32 == b.index32 && a.u64 == b.u64);
    assert_true(a.i64 == b.i64 && a.size == b.size && a.index == b.index);
    assert_memory_equal(a.packed, b.packed, sizeof a.packed);
    assert_memory_equal(&a.number, &b.number, sizeof a.number);
    assert_memory_equal(a.bytes, b.bytes, sizeof a.bytes);
    assert_int_equal(b.item_count, 3);
    assert_memory_equal(a.items, b.items, 3 * sizeof *a.items);
    assert_string_equal(b.name, "a name");
    assert_null(b.nothing);
    assert_int_equal(b.made_count, 2);
    assert_memory_equal(a.made, b.made, 2 * sizeof *a.made);
    clear_thing(&b);
    free(data);
}

static void test_archive_loading_replaces_old_contents(void **state)
{
    (void)state;
    struct thing thing = example(), old = {.item_count = 5};
    thing.items = NULL; /* an empty array replaces a full one */
    thing.item_count = 0;
    struct sim_archive archive;
    unsigned char *data;
    size_t size;
    sim_archive_begin_save(&archive, KIND);
    archive_thing(&thing, &archive);
    assert_true(sim_archive_finish_save(&archive, &data, &size, NULL));
    old.items = calloc(5, sizeof *old.items);
    old.nothing = calloc(1, 20);
    assert_true(sim_archive_begin_load(&archive, data, size, KIND, NULL));
    archive_thing(&old, &archive);
    assert_true(sim_archive_finish_load(&archive, NULL));
    assert_true(old.items == NULL && old.item_count == 0 && old.nothing == NULL);
    clear_thing(&old);
    free(data);
}

static void test_archive_truncated_or_altered_is_refused(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = save_example(&size);
    for (size_t cut = 0; cut < size; cut++) {
        /* A separate block, so that a sanitizer detects a read past the end. */
        unsigned char *part = malloc(cut + 1);
        memcpy(part, data, cut);
        assert_true(is_refused_at_once(part, cut, KIND, SIM_ERROR_ENVIRONMENT, "cut short"));
        free(part);
    }
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            data[at] ^= (unsigned char)(1 << bit);
            assert_true(is_refused_at_once(data, size, KIND, SIM_ERROR_ENVIRONMENT, "altered"));
            data[at] ^= (unsigned char)(1 << bit);
        }
    }
    assert_false(is_refused_at_once(data, size, KIND, SIM_ERROR_NONE, ""));
    free(data);
}

static void test_archive_of_another_run_is_refused(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = save_example(&size);
    assert_true(is_refused_at_once(data, size, KIND + 1, SIM_ERROR_INPUT, "of another run"));
    assert_false(is_refused_at_once(data, size, KIND, SIM_ERROR_NONE, ""));
    free(data);
}

/* Whatever the bytes under a valid checksum, the load ends, frees its memory and stays within all limits. */
static void test_archive_of_random_bytes_never_crashes(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = save_example(&size);
    const size_t begin = 24, inner = size - begin - 8;
    struct sim_random random;
    sim_random_init(&random, 1, SIM_FUZZ, 0);
    int taken = 0;
    for (int run = 0; run < 50000; run++) {
        unsigned char bytes[1024];
        size_t length = run % 2 == 0 ? inner : sim_random_below(&random, inner + 20);
        assert_true(length <= sizeof bytes);
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes, data + begin, length < inner ? length : inner);
        for (uint64_t change = sim_random_below(&random, 3); change > 0 && length > 0; change--)
            bytes[sim_random_below(&random, length)] = (unsigned char)sim_random_next(&random);
        size_t sealed_size;
        unsigned char *sealed = seal(bytes, length, &sealed_size);
        struct thing thing;
        struct sim_error error = {SIM_ERROR_NONE, ""};
        if (load(sealed, sealed_size, &thing, &error))
            taken++;
        else
            assert_int_equal(error.class, SIM_ERROR_INPUT);
        assert_true(thing.index32 < 1000 && thing.index < 1000);
        assert_true(thing.item_count <= ITEMS_MAX);
        clear_thing(&thing);
        free(sealed);
    }
    assert_true(taken > 5000 && taken < 49000);
    free(data);
}

static void test_archive_count_beyond_the_bytes_takes_no_memory(void **state)
{
    (void)state;
    const size_t counts[] = {4, ITEMS_MAX + 1, (size_t)1 << 60, SIZE_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct sim_archive archive;
        uint64_t item_size = sizeof(struct item), zeros[6] = {0};
        size_t count = counts[i], size;
        unsigned char *data;
        sim_archive_begin_save(&archive, KIND);
        sim_archive_u64(&archive, &item_size);
        sim_archive_size(&archive, &count);
        sim_archive_bytes(&archive, zeros, sizeof zeros); /* three items */
        assert_true(sim_archive_finish_save(&archive, &data, &size, NULL));
        assert_true(sim_archive_begin_load(&archive, data, size, KIND, NULL));
        atomic_store(&allocations_left, 0);
        assert_null(sim_archive_array(&archive, NULL, sizeof(struct item), &count, SIZE_MAX));
        assert_true(atomic_load(&allocations_left) == 0 && count == 0);
        atomic_store(&allocations_left, ALLOCATIONS_WITHOUT_END);
        assert_false(sim_archive_finish_load(&archive, NULL));
        free(data);
    }
}

static void test_archive_packed_takes_a_byte_for_seven_bits(void **state)
{
    (void)state;
    unsigned char bytes[11];
    for (size_t length = 1; length <= sizeof bytes; length++) {
        struct sim_archive archive;
        uint64_t value, most = length < 10 ? (UINT64_C(1) << 7 * length) - 1 : UINT64_MAX;
        size_t size, empty_size;
        memset(bytes, 255, sizeof bytes);
        bytes[length - 1] = length < 10 ? 127 : 1;
        unsigned char *data = seal(bytes, length, &size);
        free(seal(bytes, 0, &empty_size));
        assert_true(sim_archive_begin_load(&archive, data, size, KIND, NULL));
        sim_archive_packed(&archive, &value);
        assert_true(sim_archive_is_fine(&archive) == (length <= 10));
        free(data);
        if (length > 10)
            break;
        assert_int_equal(value, most);
        sim_archive_begin_save(&archive, KIND);
        sim_archive_packed(&archive, &most);
        assert_true(sim_archive_finish_save(&archive, &data, &size, NULL));
        assert_int_equal(size, empty_size + length);
        free(data);
    }
    bytes[9] = 2; /* 65 bits */
    size_t size;
    struct sim_archive archive;
    uint64_t value;
    unsigned char *data = seal(bytes, 10, &size);
    assert_true(sim_archive_begin_load(&archive, data, size, KIND, NULL));
    sim_archive_packed(&archive, &value);
    assert_false(sim_archive_is_fine(&archive));
    free(data);
}

static void test_archive_field_of_one_direction_is_found(void **state)
{
    (void)state;
    struct sim_archive archive;
    unsigned char *data;
    size_t size;
    uint32_t a = 1, b = 2;
    sim_archive_begin_save(&archive, KIND);
    sim_archive_u32(&archive, &a);
    sim_archive_u32(&archive, &b);
    sim_archive_mark(&archive, 9);
    assert_true(sim_archive_finish_save(&archive, &data, &size, NULL));
    assert_true(sim_archive_begin_load(&archive, data, size, KIND, NULL));
    sim_archive_u32(&archive, &a);
    sim_archive_mark(&archive, 9);
    assert_false(sim_archive_is_fine(&archive));
    assert_false(sim_archive_finish_load(&archive, NULL));
    /* Unread bytes are refused too. */
    assert_true(sim_archive_begin_load(&archive, data, size, KIND, NULL));
    sim_archive_u32(&archive, &a);
    sim_archive_u32(&archive, &b);
    assert_true(sim_archive_is_fine(&archive));
    assert_false(sim_archive_finish_load(&archive, NULL));
    free(data);
}

static void test_archive_reports_each_failed_allocation(void **state)
{
    (void)state;
    struct thing thing = example();
    struct sim_archive archive;
    struct sim_error error;
    unsigned char *data = NULL;
    size_t size;
    bool ok = false;
    int tries = 0;
    for (; !ok; tries++) {
        atomic_store(&allocations_left, tries);
        sim_archive_begin_save(&archive, KIND);
        archive_thing(&thing, &archive);
        ok = sim_archive_finish_save(&archive, &data, &size, &error);
        atomic_store(&allocations_left, ALLOCATIONS_WITHOUT_END);
        assert_true(ok || (error.class == SIM_ERROR_ENVIRONMENT && data == NULL && size == 0));
    }
    assert_true(tries > 1);
    ok = false;
    for (tries = 0; !ok; tries++) {
        struct thing loaded;
        atomic_store(&allocations_left, tries);
        ok = load(data, size, &loaded, &error);
        atomic_store(&allocations_left, ALLOCATIONS_WITHOUT_END);
        assert_true(ok || error.class == SIM_ERROR_ENVIRONMENT);
        clear_thing(&loaded);
    }
    assert_true(tries > 3);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_archive_every_field_is_restored),
        cmocka_unit_test(test_archive_loading_replaces_old_contents),
        cmocka_unit_test(test_archive_truncated_or_altered_is_refused),
        cmocka_unit_test(test_archive_of_another_run_is_refused),
        cmocka_unit_test(test_archive_of_random_bytes_never_crashes),
        cmocka_unit_test(test_archive_count_beyond_the_bytes_takes_no_memory),
        cmocka_unit_test(test_archive_packed_takes_a_byte_for_seven_bits),
        cmocka_unit_test(test_archive_field_of_one_direction_is_found),
        cmocka_unit_test(test_archive_reports_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
