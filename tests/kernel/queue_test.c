/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the queue pops events in the order of (time, sequence), whatever is pushed, popped and cancelled in
 * between and whichever way events are pushed, and refuses invalid calls. Method: random
 * operations compared with a sorted list, which is too simple to be wrong; then one test for each guarantee
 * of the header. State is set by hand where the test would need 2^40 pushes. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/queue.h"

#if defined(__SANITIZE_ADDRESS__)
#define OPERATIONS 100000
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OPERATIONS 100000
#endif
#endif
#ifndef OPERATIONS
#define OPERATIONS 1000000
#endif

void *__real_aligned_alloc(size_t unit, size_t size);
void *__wrap_aligned_alloc(size_t unit, size_t size);

static long allocations_left = -1; /* negative: unlimited */

void *__wrap_aligned_alloc(size_t unit, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    return __real_aligned_alloc(unit, size);
}

struct known {
    int64_t time_ns;
    uint64_t id;
    uint64_t handle;
};

/* The kind of the events of sources; such an event has the id SOURCE_ID + source. */
#define SOURCE_KIND 3000000000u
#define SOURCE_ID   (UINT64_C(1) << 60)

/* The pending events in the expected order, the first one last. */
struct list {
    struct known items[4096];
    size_t count;
    bool has_event[SIM_QUEUE_SOURCES_MAX]; /* by source */
    uint32_t popped;                       /* the source whose event was popped last */
};

static void list_add(struct list *list, struct known item)
{
    size_t i = list->count++;
    for (; i > 0 && list->items[i - 1].time_ns <= item.time_ns; i--)
        list->items[i] = list->items[i - 1];
    list->items[i] = item;
}

static uint64_t push(struct sim_queue *queue, int64_t time_ns, uint64_t id)
{
    struct sim_event event = {(uint32_t)(id * 7), (uint32_t)(id * 11), id, ~id};
    return sim_queue_push(queue, time_ns, &event);
}

static uint64_t push_later(struct sim_queue *queue, int64_t time_ns, uint64_t id)
{
    struct sim_event event = {(uint32_t)(id * 7), (uint32_t)(id * 11), id, ~id};
    return sim_queue_push_later(queue, time_ns, &event);
}

static uint32_t waiting(const struct sim_queue *queue)
{
    return queue->calendar.overflow_count + queue->calendar.bucketed_count;
}

/* Pops an event, checks it, and returns its id. */
static uint64_t pop(struct sim_queue *queue, int64_t *time_ns)
{
    struct sim_event event = {0};
    assert_true(sim_queue_pop(queue, time_ns, &event));
    uint64_t id = event.a;
    if (event.kind == SOURCE_KIND) {
        assert_true(event.a == 0 && event.b == 0 && event.target < SIM_QUEUE_SOURCES_MAX);
        assert_int_equal(sim_queue_now(queue), *time_ns);
        return SOURCE_ID + event.target;
    }
    assert_int_equal(event.b, ~id);
    assert_int_equal(event.kind, (uint32_t)(id * 7));
    assert_int_equal(event.target, (uint32_t)(id * 11));
    assert_int_equal(sim_queue_now(queue), *time_ns);
    return id;
}

static void list_remove(struct list *list, size_t index)
{
    list->count--;
    memmove(&list->items[index], &list->items[index + 1], (list->count - index) * sizeof *list->items);
}

static uint64_t spent_handle;

static void pop_both(struct sim_queue *queue, struct list *list, bool peeks)
{
    int64_t time;
    if (list->count == 0) {
        struct sim_event event;
        assert_false(sim_queue_peek(queue, &time));
        assert_false(sim_queue_pop(queue, &time, &event));
        return;
    }
    struct known *first = &list->items[--list->count];
    if (peeks) {
        assert_true(sim_queue_peek(queue, &time));
        assert_int_equal(time, first->time_ns);
    }
    assert_int_equal(pop(queue, &time), first->id);
    assert_int_equal(time, first->time_ns);
    spent_handle = first->handle;
    if (first->id >= SOURCE_ID) {
        list->popped = (uint32_t)(first->id - SOURCE_ID);
        list->has_event[list->popped] = false;
    }
}

struct mix {
    unsigned cancels_in_16;
    unsigned later_in_16; /* pushes by push_later() */
    bool is_skewed;       /* most times are near, few are very far */
    unsigned after_in_16; /* pushes by push_later(), with one of twelve delays */
    uint32_t sources;     /* 0: none; if a source has no event, three quarters of the pushes are of sources */
};

/* Returns a source without an event, mostly the one whose event was popped last, or UINT32_MAX. */
static uint32_t choose_source(const struct list *list, uint32_t sources, uint64_t bits)
{
    uint32_t drawn = (uint32_t)(bits >> 4) % sources;
    if ((bits & 3) == 0)
        return UINT32_MAX;
    if (list->has_event[list->popped] || (bits & 12) == 0)
        return list->has_event[drawn] ? UINT32_MAX : drawn;
    return list->popped;
}

/* Random operations: the list's length varies around `aim`, and times are within `spread_ns` of now. */
static void work_mixed(uint64_t seed, size_t aim, uint64_t spread_ns, struct mix mix, long operations)
{
    struct list *list = calloc(1, sizeof *list);
    struct sim_queue queue;
    struct sim_random random;
    assert_non_null(list);
    uint32_t waited = 0;
    assert_true(sim_queue_create(0, -1000, &queue));
    if (mix.sources > 0)
        assert_true(sim_queue_create_sources(&queue, SOURCE_KIND, mix.sources));
    sim_random_init(&random, seed, SIM_ARRIVAL, 0);
    for (long i = 0; i < operations; i++) {
        uint64_t bits = sim_random_next(&random);
        bool wants_more = list->count < aim ? (bits & 15) < 12 : (bits & 15) < 4;
        bits >>= 4;
        if (wants_more && list->count < 4096) {
            uint64_t gap = sim_random_below(&random, spread_ns);
            if (mix.is_skewed)
                gap >>= bits % 48;
            int64_t time = sim_queue_now(&queue) + (int64_t)gap;
            bool is_later = (bits >> 8 & 15) < mix.later_in_16;
            bool is_after = (bits >> 12 & 15) < mix.after_in_16;
            uint32_t source = mix.sources > 0 ? choose_source(list, mix.sources, bits >> 16) : UINT32_MAX;
            if (source != UINT32_MAX) {
                assert_true(sim_queue_push_source(&queue, time, source));
                list->has_event[source] = true;
                list_add(list, (struct known){time, SOURCE_ID + source, 0});
                continue;
            }
            if (is_after)
                time = sim_queue_now(&queue) + (int64_t)((bits >> 16) % 12 * (spread_ns / 12));
            uint64_t handle = is_after || is_later ? push_later(&queue, time, (uint64_t)i)
                                                   : push(&queue, time, (uint64_t)i);
            assert_int_not_equal(handle, 0);
            list_add(list, (struct known){time, (uint64_t)i, handle});
        } else if ((bits & 15) < mix.cancels_in_16 && list->count > 0) {
            /* Sometimes the first event, otherwise a uniformly chosen one. */
            size_t index =
                (bits & 0xf0) == 0 ? list->count - 1 : (size_t)sim_random_below(&random, list->count);
            if (list->items[index].handle == 0)
                continue;
            spent_handle = list->items[index].handle;
            assert_true(sim_queue_cancel(&queue, spent_handle));
            list_remove(list, index);
        } else {
            pop_both(&queue, list, (bits & 0x100) != 0);
        }
        waited = waited > waiting(&queue) ? waited : waiting(&queue);
        assert_int_equal(sim_queue_count(&queue), list->count);
        assert_false(sim_queue_cancel(&queue, spent_handle));
    }
    if (mix.later_in_16 == 16)
        assert_true(waited >= aim / 2);
    while (list->count > 0)
        pop_both(&queue, list, false);
    pop_both(&queue, list, false);
    sim_queue_destroy(&queue);
    free(list);
}

static void test_random_work_agrees_with_sorted_list(void **state)
{
    static const struct {
        size_t aim;
        uint64_t spread_ns;
        struct mix mix;
        long share; /* of the operations */
    } works[] = {
        {3, 1000, {.cancels_in_16 = 4}, 4}, /* hardly any events pending */
        {200, 1000000, {.cancels_in_16 = 4}, 4},
        {200, 3, {.cancels_in_16 = 4}, 4},         /* mostly ties */
        {1000, 100000, {.cancels_in_16 = 0}, 8},   /* no cancellations */
        {1000, 100000, {.cancels_in_16 = 16}, 16}, /* only cancellations, and the last events popped */
        {60, 1u << 30, {.cancels_in_16 = 14}, 16},
        /* For later; many skewed. */
        {3, 1000, {4, 8, false, 0, 0}, 8},
        {200, 1000000, {4, 16, false, 0, 0}, 8},
        {200, 3, {4, 8, false, 0, 0}, 8},
        {1000, 100000, {0, 16, false, 0, 0}, 8},
        {1000, 100000, {16, 12, false, 0, 0}, 16},
        {60, UINT64_C(1) << 48, {8, 8, true, 0, 0}, 8},
        {3000, UINT64_C(1) << 48, {4, 14, true, 0, 0}, 8},
        /* After delays; at first with a few events, and somewhat more. */
        {3, 1000, {4, 8, false, 8, 0}, 8},
        {16, 1000000, {4, 4, false, 8, 0}, 8},
        {200, 24, {4, 8, false, 8, 0}, 8},
        {1000, 100000, {12, 4, false, 16, 0}, 8},
        {60, UINT64_C(1) << 48, {8, 8, true, 12, 0}, 8},
        /* Of sources; at last, some times are too distant for the tree. */
        {3, 1000, {.sources = 1, .cancels_in_16 = 4}, 8},
        {3, 1000, {.sources = 2, .cancels_in_16 = 4}, 8},
        {100, 1000000, {.sources = 100}, 8},
        {100, 24, {4, 4, false, 4, 77}, 8},
        {500, 100000, {4, 4, false, 4, SIM_QUEUE_SOURCES_MAX}, 16},
        {60, UINT64_C(1) << 56, {4, 4, true, 4, 50}, 8},
    };
    (void)state;
    spent_handle = 0;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        work_mixed(i + 1, works[i].aim, works[i].spread_ns, works[i].mix, OPERATIONS / works[i].share);
}

/* With too many sources for a tree, their events wait in the calendar. */
static void test_many_sources_have_no_tree(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(8, 0, &queue));
    assert_true(sim_queue_create_sources(&queue, SOURCE_KIND, SIM_QUEUE_SOURCES_MAX + 1));
    for (uint32_t source = 0; source < 10; source++)
        assert_true(sim_queue_push_source(&queue, 1000 - source, source));
    assert_int_equal(waiting(&queue), 10);
    for (uint32_t source = 10; source-- > 0;)
        assert_int_equal(pop(&queue, &time), SOURCE_ID + source);
    sim_queue_destroy(&queue);
}

static void test_sources_need_memory(void **state)
{
    (void)state;
    struct sim_queue queue;
    for (int fail_at = 0; fail_at < 3; fail_at++) {
        assert_true(sim_queue_create(30, 0, &queue));
        allocations_left = fail_at;
        assert_false(sim_queue_create_sources(&queue, SOURCE_KIND, 10));
        allocations_left = -1;
        sim_queue_destroy(&queue);
    }
}

static void test_later_ties_keep_the_order_of_pushes(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(8, 0, &queue));
    for (uint64_t id = 0; id < 5000; id++) {
        int64_t at = 10 * (1 + (int64_t)(id % 3));
        assert_int_not_equal(id / 3 % 2 == 0 ? push(&queue, at, id) : push_later(&queue, at, id), 0);
    }
    for (uint64_t rest = 0; rest < 3; rest++) {
        for (uint64_t id = rest; id < 5000; id += 3)
            assert_int_equal(pop(&queue, &time), id);
    }
    assert_int_equal(sim_queue_count(&queue), 0);
    assert_int_equal(sim_queue_pushed(&queue), 5000);
    sim_queue_destroy(&queue);
}

struct told {
    uint32_t days[2000]; /* the last value reported for each event; 9: none */
    uint64_t times, popped;
};

static void tell(void *context, const struct sim_event *event, uint32_t days)
{
    struct told *told = context;
    assert_in_range(event->a, told->popped, 1999);
    assert_int_equal(event->b, ~event->a);
    assert_true(days < told->days[event->a]);
    told->days[event->a] = days;
    told->times++;
}

/* Each event waits, about one per bucket. Most are reported three times, in descending order, and before they
 * are popped. */
static void test_waiting_events_are_announced_in_advance(void **state)
{
    (void)state;
    struct sim_queue queue;
    struct told told = {.times = 0};
    int64_t time;
    for (size_t i = 0; i < 2000; i++)
        told.days[i] = 9;
    assert_true(sim_queue_create(8, 0, &queue));
    sim_queue_tell_soon(&queue, tell, &told);
    for (uint64_t id = 0; id < 1999; id++)
        push_later(&queue, (int64_t)id * 1000, id);
    push(&queue, 2000000, 1999);
    for (; told.popped < 2000; told.popped++) {
        assert_int_equal(pop(&queue, &time), told.popped);
        assert_int_equal(told.days[told.popped], told.popped < 1999 ? 0 : 9);
    }
    assert_in_range(told.times, 2000 * 2, 1999 * 3);
    sim_queue_destroy(&queue);
}

/* A timeout that is pushed and cancelled reuses one slot, and never enters the heap. */
static void test_cancelled_later_event_frees_its_slot(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(16, 0, &queue));
    for (uint64_t id = 0; id < 100000; id++) {
        push(&queue, (int64_t)id * 10, id);
        uint64_t handle = push_later(&queue, (int64_t)id * 10 + 5000, id);
        assert_int_equal(pop(&queue, &time), id);
        assert_true(sim_queue_cancel(&queue, handle));
        assert_false(sim_queue_cancel(&queue, handle));
    }
    assert_int_equal(queue.stale, 0);
    assert_int_equal(queue.slots_used, 2);
    sim_queue_destroy(&queue);
}

static void test_first_and_last_later_times_are_times(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(1, INT64_MIN + 1, &queue));
    for (uint64_t id = 0; id < 30; id++)
        push_later(&queue, id % 3 == 0 ? SIM_QUEUE_TIME_MAX : id % 3 == 1 ? INT64_MIN + 1 : (int64_t)id, id);
    for (uint64_t rest = 1; rest <= 3; rest++) {
        for (uint64_t id = rest % 3; id < 30; id += 3)
            assert_int_equal(pop(&queue, &time), id);
    }
    assert_true(time == SIM_QUEUE_TIME_MAX);
    sim_queue_destroy(&queue);
}

static void test_later_without_memory_nothing_is_lost(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(100, 0, &queue));
    /* When the calendar cannot be allocated, events go directly to the heap. */
    for (int fail_at = 0; fail_at < 4; fail_at++) {
        allocations_left = fail_at > 0; /* another part of the calendar each time */
        assert_int_not_equal(push_later(&queue, 2000 + fail_at, 2000), 0);
        assert_int_equal(waiting(&queue), 0);
    }
    allocations_left = -1;
    uint64_t count = 4;
    for (int fail_at = 0; fail_at < 5; fail_at++) {
        while (push_later(&queue, (int64_t)(1000 - count), count) != 0) {
            count++;
            if (count == 100)
                allocations_left = fail_at;
        }
        assert_int_equal(count, 100);
        assert_int_equal(sim_queue_count(&queue), 100);
        allocations_left = fail_at + 1;
    }
    allocations_left = -1;
    assert_int_not_equal(push_later(&queue, 900, 100), 0);
    for (uint64_t id = 101; id-- > 4;)
        assert_int_equal(pop(&queue, &time), id);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pop(&queue, &time), 2000);
    sim_queue_destroy(&queue);
}

static void test_ties_keep_the_order_of_pushes(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(8, 0, &queue));
    for (uint64_t id = 0; id < 5000; id++)
        assert_int_not_equal(push(&queue, id % 3 == 0 ? 10 : 20, id), 0);
    for (uint64_t id = 0; id < 5000; id += 3)
        assert_int_equal(pop(&queue, &time), id);
    assert_int_equal(time, 10);
    /* An event that is pushed for the time of pending events comes after them. */
    push(&queue, 20, 5000);
    for (uint64_t id = 0; id <= 5000; id++) {
        if (id % 3 != 0 || id == 5000)
            assert_int_equal(pop(&queue, &time), id);
    }
    assert_int_equal(sim_queue_count(&queue), 0);
    assert_int_equal(sim_queue_pushed(&queue), 5001);
    sim_queue_destroy(&queue);
}

#define TIES 500

enum kind { NOW, LATER, BY_SOURCE };

static void shuffled(uint64_t seed, enum kind kind, uint64_t *ids)
{
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(8, 0, &queue));
    sim_queue_shuffle_ties(&queue, seed);
    assert_true(sim_queue_create_sources(&queue, SOURCE_KIND, 2 * TIES));
    for (uint64_t id = 0; id < 2 * TIES; id++)
        kind == BY_SOURCE ? sim_queue_push_source(&queue, (int64_t)(id % 2), (uint32_t)id)
        : kind == LATER   ? push_later(&queue, (int64_t)(id % 2), id)
                          : push(&queue, (int64_t)(id % 2), id);
    for (uint64_t i = 0; i < 2 * TIES; i++) {
        ids[i] = pop(&queue, &time) % SOURCE_ID;
        /* Times are still in order, and each event comes at its own time. */
        assert_int_equal(time, i / TIES);
        assert_int_equal(ids[i] % 2, (uint64_t)time);
    }
    sim_queue_destroy(&queue);
}

/* The number of descents: in a random order about TIES / 2 ids are followed by a smaller one. */
static size_t descents(const uint64_t *ids, size_t count)
{
    size_t found = 0;
    for (size_t i = 1; i < count; i++)
        found += ids[i] < ids[i - 1];
    return found;
}

static void test_shuffled_ties_are_the_seeds_only(void **state)
{
    (void)state;
    uint64_t first[2 * TIES], again[2 * TIES], other[2 * TIES];
    shuffled(7, NOW, first);
    shuffled(7, NOW, again);
    shuffled(8, NOW, other);
    assert_memory_equal(first, again, sizeof first);
    shuffled(7, LATER, again);
    assert_memory_equal(first, again, sizeof first);
    shuffled(7, BY_SOURCE, again);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    assert_memory_not_equal(first, other, sizeof first / 2);
    /* The standard deviation of the descents is sqrt(TIES / 12) = 6.5. */
    assert_in_range(descents(first, TIES), TIES / 2 - 45, TIES / 2 + 45);
    assert_in_range(descents(other + TIES, TIES), TIES / 2 - 45, TIES / 2 + 45);
}

static void test_handle_of_recycled_slot_is_refused(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(1, 0, &queue));
    uint64_t old[100];
    for (uint64_t id = 0; id < 100; id++) {
        old[id] = push(&queue, (int64_t)id, id);
        if (id % 2 == 0) {
            pop(&queue, &time);
        } else {
            assert_true(sim_queue_cancel(&queue, old[id]));
            assert_false(sim_queue_peek(&queue, &time));
        }
    }
    /* All of them used one slot; the handle of the next event in it differs from theirs. */
    uint64_t handle = push(&queue, 100, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(old[i] & SIM_QUEUE_SLOT_MASK, handle & SIM_QUEUE_SLOT_MASK);
        assert_false(sim_queue_cancel(&queue, old[i]));
    }
    assert_false(sim_queue_cancel(&queue, 0));
    assert_false(sim_queue_cancel(&queue, UINT64_MAX));
    assert_false(sim_queue_cancel(&queue, handle + 1));
    assert_int_equal(sim_queue_count(&queue), 1);
    assert_true(sim_queue_cancel(&queue, handle));
    assert_false(sim_queue_cancel(&queue, handle));
    assert_int_equal(sim_queue_count(&queue), 0);
    sim_queue_destroy(&queue);
}

static void test_cancelled_items_do_not_pile_up(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(1000, 0, &queue));
    for (uint64_t id = 0; id < 100; id++)
        push(&queue, INT64_C(1000000000) + (int64_t)id, id);
    /* Without a purge, each cancelled item would stay in the heap until all other events had been popped. */
    for (uint64_t id = 0; id < 100000; id++)
        assert_true(sim_queue_cancel(&queue, push(&queue, SIM_QUEUE_TIME_MAX, id)));
    assert_int_equal(queue.capacity, 1000);
    assert_in_range(queue.end, 100, 400);
    for (uint64_t id = 0; id < 100; id++)
        assert_int_equal(pop(&queue, &time), id);
    assert_int_equal(sim_queue_count(&queue), 0);
    sim_queue_destroy(&queue);
}

static void test_growth_keeps_every_event_and_handle(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct sim_queue queue;
    int64_t time, last = 0;
    uint64_t *handles = calloc(COUNT, sizeof *handles), sum = 0;
    assert_non_null(handles);
    assert_true(sim_queue_create(1, 0, &queue));
    for (uint64_t id = 0; id < COUNT; id++)
        handles[id] = push(&queue, (int64_t)(sim_mix64(id) >> 32), id);
    assert_in_range(queue.capacity, COUNT, 2 * COUNT);
    for (uint64_t id = 0; id < COUNT; id += 10)
        assert_true(sim_queue_cancel(&queue, handles[id]));
    while (sim_queue_count(&queue) > 0) {
        uint64_t id = pop(&queue, &time);
        assert_int_not_equal(id % 10, 0);
        assert_int_equal(time, sim_mix64(id) >> 32);
        assert_true(time >= last);
        last = time;
        sum++;
    }
    assert_int_equal(sum, COUNT - COUNT / 10);
    free(handles);
    sim_queue_destroy(&queue);
}

static void test_without_memory_nothing_is_lost(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    for (int fail_at = 0; fail_at < 2; fail_at++) {
        allocations_left = fail_at;
        assert_false(sim_queue_create(100, 0, &queue));
        assert_null(queue.heap);
    }
    allocations_left = -1;
    assert_true(sim_queue_create(100, 0, &queue));
    uint64_t count = 0;
    uint64_t handles[200];
    for (int fail_at = 0; fail_at < 2; fail_at++) {
        allocations_left = fail_at;
        while ((handles[count] = push(&queue, (int64_t)(1000 - count), count)) != 0)
            count++;
        assert_int_equal(count, 100);
        assert_int_equal(sim_queue_count(&queue), 100);
        assert_int_equal(sim_queue_pushed(&queue), 100);
    }
    /* The slot of a cancelled event is sufficient. */
    assert_true(sim_queue_cancel(&queue, handles[40]));
    assert_int_not_equal(push(&queue, 960, 40), 0);
    assert_int_equal(push(&queue, 960, 40), 0);
    allocations_left = -1;
    assert_int_not_equal(push(&queue, 900, 100), 0);
    for (uint64_t id = 101; id-- > 0;)
        assert_int_equal(pop(&queue, &time), id);
    sim_queue_destroy(&queue);
    sim_queue_destroy(NULL);
}

static void test_pushes_have_a_limit(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(1, 0, &queue));
    assert_true(sim_queue_create_sources(&queue, SOURCE_KIND, 4));
    queue.sequence = SIM_QUEUE_PUSHES_MAX - 3;
    for (uint64_t id = 0; id < 3; id++)
        assert_int_not_equal(id < 2 ? push(&queue, 7, id) : push_later(&queue, 7, id), 0);
    assert_int_equal(push(&queue, 7, 3), 0);
    assert_int_equal(push_later(&queue, 7, 3), 0);
    assert_false(sim_queue_push_source(&queue, 7, 1));
    for (uint64_t id = 0; id < 3; id++)
        assert_int_equal(pop(&queue, &time), id);
    assert_int_equal(sim_queue_count(&queue), 0);
    sim_queue_destroy(&queue);
}

/* Runs in a child process, whose output on stderr is discarded. */
static void assert_aborts(int64_t now_ns, int64_t time_ns)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sim_queue queue;
        struct sim_event event = {0};
        signal(SIGABRT, SIG_DFL);
        if (freopen("/dev/null", "w", stderr) == NULL || !sim_queue_create(1, 0, &queue))
            _exit(1);
        sim_queue_push(&queue, now_ns, &event);
        sim_queue_pop(&queue, &now_ns, &event);
        sim_queue_push(&queue, time_ns, &event);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void test_push_outside_of_time_aborts(void **state)
{
    (void)state;
    assert_aborts(5, 4);
    assert_aborts(5, INT64_MIN);
    assert_aborts(5, INT64_MAX);
    assert_aborts(5, SIM_QUEUE_TIME_MAX + 1);
}

static void test_first_and_last_times_are_times(void **state)
{
    (void)state;
    struct sim_queue queue;
    int64_t time;
    assert_true(sim_queue_create(1, INT64_MIN + 1, &queue));
    for (uint64_t id = 0; id < 30; id++)
        push(&queue, id % 2 == 0 ? SIM_QUEUE_TIME_MAX : INT64_MIN + 1, id);
    for (uint64_t id = 1; id < 30; id += 2) {
        assert_int_equal(pop(&queue, &time), id);
        assert_true(time == INT64_MIN + 1);
    }
    for (uint64_t id = 0; id < 30; id += 2)
        assert_int_equal(pop(&queue, &time), id);
    assert_true(time == SIM_QUEUE_TIME_MAX);
    sim_queue_destroy(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_work_agrees_with_sorted_list),
        cmocka_unit_test(test_ties_keep_the_order_of_pushes),
        cmocka_unit_test(test_shuffled_ties_are_the_seeds_only),
        cmocka_unit_test(test_handle_of_recycled_slot_is_refused),
        cmocka_unit_test(test_cancelled_items_do_not_pile_up),
        cmocka_unit_test(test_growth_keeps_every_event_and_handle),
        cmocka_unit_test(test_without_memory_nothing_is_lost),
        cmocka_unit_test(test_pushes_have_a_limit),
        cmocka_unit_test(test_push_outside_of_time_aborts),
        cmocka_unit_test(test_first_and_last_times_are_times),
        cmocka_unit_test(test_many_sources_have_no_tree),
        cmocka_unit_test(test_sources_need_memory),
        cmocka_unit_test(test_later_ties_keep_the_order_of_pushes),
        cmocka_unit_test(test_cancelled_later_event_frees_its_slot),
        cmocka_unit_test(test_waiting_events_are_announced_in_advance),
        cmocka_unit_test(test_first_and_last_later_times_are_times),
        cmocka_unit_test(test_later_without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
