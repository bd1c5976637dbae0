/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a table finds what was put into it and not removed. Method: random changes, few hashes, compared with
 * a list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "kernel/random.h"
#include "kernel/table.h"

#define ITEMS 500u

static bool has(const struct sim_table *table, uint32_t hash, uint32_t index)
{
    const struct sim_slot *slot = sim_table_first(table, hash);
    while (slot->index != 0 && slot->index != index)
        slot = sim_table_next(table, slot);
    return slot->index == index;
}

static void test_random_changes_equal_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_table table;
        struct sim_random random;
        bool is_broken = false, is_in[ITEMS] = {false};
        uint32_t hashes[ITEMS], count = 0;
        sim_random_init(&random, seed, SIM_FUZZ, 0);
        assert_true(sim_table_create(&table, &is_broken));
        for (uint32_t i = 1; i < ITEMS; i++)
            hashes[i] = (uint32_t)sim_random_below(&random, seed % 2 == 0 ? 8 : UINT64_C(1) << 32);
        for (int change = 0; change < 4000; change++) {
            uint32_t i = 1 + (uint32_t)sim_random_below(&random, ITEMS - 1);
            is_in[i] ? sim_table_remove(&table, hashes[i], i) : sim_table_put(&table, hashes[i], i);
            count += is_in[i] ? UINT32_MAX : 1;
            is_in[i] = !is_in[i];
            uint32_t other = 1 + (uint32_t)sim_random_below(&random, ITEMS - 1);
            assert_int_equal(has(&table, hashes[other], other), is_in[other]);
            assert_int_equal(table.count, count);
        }
        assert_false(is_broken);
        free(table.slots);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_changes_equal_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
