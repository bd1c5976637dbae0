/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the queues that the benchmark compares with sim_queue do the same work. Method: one stream of random
 * pushes, pops and cancellations, of pending, former and unknown handles, is applied to sim_queue and to each
 * of them; the results must be the same each time. The gaps between events are uniform, exponential,
 * heavy-tailed or mostly 0, and the queue grows and shrinks a hundredfold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "kernel/sampler.h"
#include "rival_binary.h"
#include "rival_calendar.h"
#include "rival_ladder.h"
#include "rival_pairing.h"

enum { OPERATIONS = 300000, SWELL = 30000, KNOWN = 65536 };
enum gaps { GAPS_EVEN, GAPS_EXPONENTIAL, GAPS_HEAVY, GAPS_TIED, GAPS_KINDS };

static const char *const gap_names[GAPS_KINDS] = {"even", "exponential", "heavy-tailed", "tied"};

static int64_t gap_ns(struct sim_random *random, enum gaps gaps)
{
    const double unit = sim_random_unit(random);
    switch (gaps) {
    case GAPS_EVEN:
        return (int64_t)(unit * 1e6);
    case GAPS_EXPONENTIAL:
        return (int64_t)(sim_exponential(random) * 1e9);
    case GAPS_HEAVY: /* Pareto, alpha 1/2: from a microsecond to a month and more */
        return (int64_t)(1e3 / ((unit + 1e-6) * (unit + 1e-6)));
    default:
        return unit < 0.9 ? 0 : 5;
    }
}

/* The handles of the last pushes, in both queues. */
struct known {
    uint64_t ours[KNOWN], theirs[KNOWN];
    uint64_t count;
};

static void push(struct sim_queue *ours, const struct rival *rival, void *theirs, struct known *known,
                 int64_t time_ns)
{
    const struct sim_event event = {7, 8, known->count, ~known->count};
    known->ours[known->count % KNOWN] = sim_queue_push(ours, time_ns, &event);
    known->theirs[known->count % KNOWN] = rival->push(theirs, time_ns, &event);
    known->count++;
}

static void pop(struct sim_queue *ours, const struct rival *rival, void *theirs)
{
    int64_t our_time = 0, their_time = 0;
    struct sim_event our_event = {0}, their_event = {0};
    const bool is_there = sim_queue_pop(ours, &our_time, &our_event);
    assert_int_equal(rival->pop(theirs, &their_time, &their_event), is_there);
    if (is_there) {
        assert_int_equal(their_time, our_time);
        assert_int_equal(their_event.a, our_event.a);
        assert_int_equal(their_event.b, ~our_event.a);
        assert_int_equal(their_event.kind, 7);
        assert_int_equal(their_event.target, 8);
    }
}

static void work(const struct rival *rival, enum gaps gaps)
{
    print_message("%s, %s gaps\n", rival->name, gap_names[gaps]);
    struct sim_queue ours;
    assert_true(sim_queue_create(16, 0, &ours));
    void *theirs = malloc(rival->bytes);
    struct known *known = calloc(1, sizeof *known);
    assert_true(theirs != NULL && known != NULL);
    rival->create(theirs);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, gaps);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const bool grows = i / SWELL % 2 == 0;
        const uint64_t dice = sim_random_below(&random, 100);
        if (dice < (grows ? 60 : 25)) {
            push(&ours, rival, theirs, known, sim_queue_now(&ours) + gap_ns(&random, gaps));
        } else if (dice < 85 || known->count == 0) {
            pop(&ours, rival, theirs);
        } else {
            const uint64_t reach = known->count < KNOWN ? known->count : KNOWN;
            const uint64_t which = (known->count - 1 - sim_random_below(&random, reach)) % KNOWN;
            assert_int_equal(rival->cancel(theirs, known->theirs[which]),
                             sim_queue_cancel(&ours, known->ours[which]));
        }
    }
    assert_false(rival->cancel(theirs, 0));
    assert_false(rival->cancel(theirs, rival_handle(known->count + 1, 5)));
    while (sim_queue_count(&ours) > 0)
        pop(&ours, rival, theirs);
    pop(&ours, rival, theirs);
    rival->destroy(theirs);
    sim_queue_destroy(&ours);
    free(theirs);
    free(known);
}

static void all_work(const struct rival *rival)
{
    for (enum gaps gaps = 0; gaps < GAPS_KINDS; gaps++)
        work(rival, gaps);
}

static void test_binary_heap_any_work_same_events(void **state)
{
    (void)state;
    all_work(&rival_binary);
}

static void test_pairing_heap_any_work_same_events(void **state)
{
    (void)state;
    all_work(&rival_pairing);
}

static void test_calendar_queue_any_work_same_events(void **state)
{
    (void)state;
    all_work(&rival_calendar);
}

static void test_ladder_queue_any_work_same_events(void **state)
{
    (void)state;
    all_work(&rival_ladder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary_heap_any_work_same_events),
        cmocka_unit_test(test_pairing_heap_any_work_same_events),
        cmocka_unit_test(test_calendar_queue_any_work_same_events),
        cmocka_unit_test(test_ladder_queue_any_work_same_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
