/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a growing array keeps its items, grows seldom, and is unchanged when an allocation fails; memory
 * begins at a cache line and is zeroed where that is guaranteed. Method: arrays of items of several sizes,
 * filled one by one and in one step; sizes around that of a large page; failing allocations; counts and sizes
 * that no memory can hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../no_memory.h"
#include "kernel/grow.h"

struct large {
    char bytes[500];
};

static void test_array_filled_one_by_one_keeps_its_items_and_grows_rarely(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    uint32_t *items = NULL;
    size_t capacity = 0, times = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        size_t before = capacity;
        assert_true(sim_grow(&items, &capacity, i + 1, sizeof *items));
        assert_true(capacity > i);
        times += capacity != before;
        items[i] = i;
    }
    assert_in_range(times, 1, 16);
    assert_in_range(capacity, COUNT, 2 * COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(items[i], i);
    free(items);
}

static void test_first_allocation_is_small(void **state)
{
    (void)state;
    char *text = NULL;
    struct large *items = NULL;
    size_t text_capacity = 0, capacity = 0;
    assert_true(sim_grow(&text, &text_capacity, 1, sizeof *text));
    assert_true(sim_grow(&items, &capacity, 1, sizeof *items));
    assert_int_equal(text_capacity, 64);
    assert_int_equal(capacity, 1);
    free(text);
    free(items);
}

static void test_array_takes_many_items_at_once(void **state)
{
    (void)state;
    char *text = NULL;
    size_t capacity = 0;
    assert_true(sim_grow(&text, &capacity, 0, sizeof *text));
    assert_null(text);
    assert_true(sim_grow(&text, &capacity, 1000, sizeof *text));
    assert_int_equal(capacity, 1000);
    text[999] = 'x';
    assert_true(sim_grow(&text, &capacity, 900, sizeof *text));
    assert_int_equal(capacity, 1000);
    assert_true(sim_grow(&text, &capacity, 1001, sizeof *text));
    assert_int_equal(capacity, 2000);
    assert_int_equal(text[999], 'x');
    free(text);
}

static void test_array_is_unchanged_if_memory_is_short(void **state)
{
    (void)state;
    int *items = NULL;
    size_t capacity = 0;
    atomic_store(&allocations_left, 0);
    assert_false(sim_grow(&items, &capacity, 1, sizeof *items));
    assert_null(items);
    assert_int_equal(capacity, 0);
    assert_true(sim_grow(&items, &capacity, 16, sizeof *items));
    int *before = items;
    items[15] = 15;
    atomic_store(&allocations_left, 0);
    assert_false(sim_grow(&items, &capacity, 17, sizeof *items));
    atomic_store(&allocations_left, ALLOCATIONS_WITHOUT_END);
    /* More bytes than a size_t can count. */
    assert_false(sim_grow(&items, &capacity, SIZE_MAX / sizeof *items + 1, sizeof *items));
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, 16);
    assert_int_equal(items[15], 15);
    free(items);
}

#define LARGE ((size_t)2 << 20)

static bool is_all(const unsigned char *bytes, size_t from, size_t until, unsigned char value)
{
    for (size_t i = from; i < until; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

static void test_fresh_memory_is_zeros(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 1000, LARGE - 1, LARGE, LARGE + 1, 3 * LARGE + 5};
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *memory = sim_memory_zeroed(sizes[i]);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % SIM_LINE_BYTES, 0);
            assert_true(is_all(memory, 0, sizes[i], 0));
            memset(memory, 7, sizes[i]); /* the next round may get the same memory again */
            free(memory);
        }
    }
    void *memory = sim_memory_take(LARGE);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % LARGE, 0);
    free(memory);
}

static void test_growing_keeps_the_old_contents(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 700, LARGE - 1, LARGE + 1, 3 * LARGE};
    unsigned char *memory = NULL;
    size_t before = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memory = sim_memory_grow(memory, before, sizes[i]);
        assert_non_null(memory);
        assert_true(is_all(memory, 0, before, 9));
        assert_true(is_all(memory, before, sizes[i], 0));
        memset(memory, 9, sizes[i]);
        before = sizes[i];
    }
    assert_null(sim_memory_grow(memory, before, SIZE_MAX - 5));
    assert_null(sim_memory_take(SIZE_MAX - 5));
    assert_true(is_all(memory, 0, before, 9));
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_array_filled_one_by_one_keeps_its_items_and_grows_rarely),
        cmocka_unit_test(test_first_allocation_is_small),
        cmocka_unit_test(test_array_takes_many_items_at_once),
        cmocka_unit_test(test_array_is_unchanged_if_memory_is_short),
        cmocka_unit_test(test_fresh_memory_is_zeros),
        cmocka_unit_test(test_growing_keeps_the_old_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
