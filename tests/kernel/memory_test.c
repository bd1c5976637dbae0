/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: memory begins at a cache line and is zeroed where that is guaranteed, for small and large sizes;
 * growing keeps the contents, even when it fails. Method: sizes around that of a large page; and a size that
 * cannot be allocated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

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
        cmocka_unit_test(test_fresh_memory_is_zeros),
        cmocka_unit_test(test_growing_keeps_the_old_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
