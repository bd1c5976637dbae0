/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when out of memory, the creation of a ring or a value fails with an environment error, and nothing
 * leaks or stays half made. Method: allocation 1, 2, 3 ... fails until the operation succeeds, under the leak
 * sanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "../no_memory.h"
#include "cassandra/ring.h"
#include "cassandra/token.h"

static bool make_ring(bool is_drawn, struct cass_ring **ring, struct sim_error *error)
{
    static const int64_t tokens[] = {3, 1, 2};
    static const uint32_t nodes[] = {0, 1, 2}, zeros[3], factor = 2;
    const struct cass_datacenter only = {.nodes = 6, .racks = 1, .replication_factor = 3};
    const struct cass_topology topology = {3, zeros, zeros, 1, &factor};
    return is_drawn ? cass_ring_create(1, &only, 1, 16, ring, error)
                    : cass_ring_create_from(tokens, nodes, 3, &topology, ring, error);
}

static void test_ring_without_memory_is_refused_whole(void **state)
{
    (void)state;
    for (int drawn = 0; drawn < 2; drawn++) {
        bool made = false;
        int failures = 0;
        for (; !made && failures < 100; failures += made ? 0 : 1) {
            struct cass_ring *ring = (struct cass_ring *)&made;
            struct sim_error error = {0};
            allocations_left = failures;
            made = make_ring(drawn == 1, &ring, &error);
            allocations_left = ALLOCATIONS_WITHOUT_END;
            assert_int_equal(ring != NULL, made);
            assert_int_equal(error.class, made ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
            cass_ring_destroy(ring);
        }
        assert_in_range(failures, 5, 99);
    }
}

static void test_value_without_memory_is_refused(void **state)
{
    (void)state;
    uint8_t *bytes = (uint8_t *)&state;
    size_t size = 1;
    struct sim_error error = {0};
    allocations_left = 0;
    bool parsed = cass_value_parse(CASS_INT, "1", &bytes, &size, &error);
    allocations_left = ALLOCATIONS_WITHOUT_END;
    assert_false(parsed);
    assert_null(bytes);
    assert_int_equal(size, 0);
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_without_memory_is_refused_whole),
        cmocka_unit_test(test_value_without_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
