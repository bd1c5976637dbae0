/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Increments of counter columns, which can be neither undone nor safely repeated. Records for each row's
 * increment whether it was applied once, never or twice, and its value. Increments that were certainly
 * applied once are forgotten. */
#include <inttypes.h>
#include <stdlib.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "evidence.h"

static size_t slot_of(const struct lab_increments *increments, uint64_t counter, uint64_t row)
{
    return (size_t)sim_mix64(counter * UINT64_C(0x9e3779b97f4a7c15) ^ sim_mix64(row)) &
           (increments->capacity - 1);
}

/* Returns the slot of an increment, or the free slot where it would be inserted. */
static struct lab_increment *find(struct lab_increments *increments, uint64_t counter, uint64_t row)
{
    size_t at = slot_of(increments, counter, row);
    while (increments->slots[at].is_used &&
           (increments->slots[at].counter != counter || increments->slots[at].row != row))
        at = (at + 1) & (increments->capacity - 1);
    return &increments->slots[at];
}

static bool grow(struct lab_increments *increments)
{
    struct lab_increments old = *increments;
    size_t capacity = old.capacity == 0 ? 64 : old.capacity * 2;
    struct lab_increment *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL)
        return false;
    increments->slots = slots;
    increments->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].is_used)
            *find(increments, old.slots[i].counter, old.slots[i].row) = old.slots[i];
    }
    free(old.slots);
    return true;
}

void lab_increment_asked(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount)
{
    struct lab_increments *increments = &run->oracles.increments;
    if (2 * (increments->used + 1) > increments->capacity && !grow(increments)) {
        run->out_of_memory = true;
        return;
    }
    struct lab_increment *increment = find(increments, counter, row);
    if (!increment->is_used) {
        *increment =
            (struct lab_increment){.counter = counter, .row = row, .amount = amount, .is_used = true};
        increments->used++;
    }
    increment->asked++;
}

/* The sums, per partition with guarded, whose buckets have counters, and otherwise per key. */
struct books {
    uint32_t key;
    uint64_t *doubled, *added; /* NULL: it has no owner */
};

static struct books books_of(struct lab_cluster_run *run, uint64_t counter)
{
    struct lab_oracles *oracles = &run->oracles;
    struct books books = {0};
    int64_t bucket;
    lab_counter_owner(run, counter, &books.key, &bucket);
    if (books.key >= oracles->key_count)
        return books;
    uint32_t index = run->config.coordination == BK_GUARDED ? lab_partition_find(oracles, books.key, bucket)
                                                            : LAB_NO_PARTITION;
    struct lab_key_ledger *ledger = &oracles->keys[books.key];
    books.doubled = index != LAB_NO_PARTITION ? &oracles->partitions[index].doubled : &ledger->doubled;
    books.added = index != LAB_NO_PARTITION ? &oracles->partitions[index].added : &ledger->added;
    return books;
}

void lab_increment_doubled(struct lab_cluster_run *run, uint64_t counter, uint64_t count)
{
    struct books books = books_of(run, counter);
    if (books.doubled != NULL)
        *books.doubled += count;
}

void lab_total_asked(struct lab_cluster_run *run, struct lab_host_operation *operation)
{
    struct books books = books_of(run, operation->counter);
    operation->added = books.added == NULL ? 0 : *books.added;
}

void lab_total_heard(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    struct books books = books_of(run, operation->counter);
    int64_t total = operation->outcome.counter;
    if (books.added == NULL)
        return;
    /* Cassandra acknowledges an increment whose consistency level failed after it had waited for the write
     * timeout. */
    bool is_at_level =
        sim_queue_now(&run->queue) - operation->asked_ns < run->scenario->network.timeout_write_ns;
    if (operation->action == BK_ACT_ADD_COUNTER && is_at_level)
        *books.added += operation->weight > 0 ? operation->weight : 1;
    else if (operation->action == BK_ACT_ADD_COUNTER)
        /* The base of the next bucket may lack it; then it is counted again there. A bucket of guarded has a
         * counter of its own. */
        lab_increment_doubled(run, operation->counter, run->config.coordination != BK_GUARDED);
    else if (!lab_plain_state_is_weak(run) && (total < 0 || (uint64_t)total < operation->added))
        lab_violate_bare(run, LAB_ORACLE_CONSERVED, books.key,
                         "a counter is read as %" PRId64 ", and %" PRIu64
                         " had been added before the read was sent",
                         total, operation->added);
}

void lab_increment_applied(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount)
{
    struct lab_increments *increments = &run->oracles.increments;
    struct lab_increment *increment = increments->capacity == 0 ? NULL : find(increments, counter, row);
    /* A forgotten increment was applied once before: its message arrived twice. */
    if (increment != NULL && increment->is_used) {
        increment->applied++;
    } else {
        increments->doubled++;
        increments->amount_doubled += amount;
        lab_increment_doubled(run, counter, 1);
    }
}

/* Moves later entries up, so that the table needs no markers of removed entries. */
static void forget(struct lab_increments *increments, struct lab_increment *increment)
{
    size_t mask = increments->capacity - 1, hole = (size_t)(increment - increments->slots);
    increments->used--;
    for (size_t at = (hole + 1) & mask; increments->slots[at].is_used; at = (at + 1) & mask) {
        size_t home = slot_of(increments, increments->slots[at].counter, increments->slots[at].row);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            increments->slots[hole] = increments->slots[at];
            hole = at;
        }
    }
    increments->slots[hole] = (struct lab_increment){0};
}

void lab_increment_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         bool is_counted)
{
    struct lab_increments *increments = &run->oracles.increments;
    increments->due++;
    increments->amount_due += operation->weight;
    if (!operation->has_counted) {
        increments->lost++; /* it was never requested */
        increments->amount_lost += operation->weight;
        return;
    }
    struct lab_increment *increment = find(increments, operation->counter, operation->row);
    if (is_counted && increment->asked == 1 && increment->applied == 1)
        forget(increments, increment);
}

/* The remaining increments had an unknown outcome. */
void lab_increments_end(struct lab_cluster_run *run)
{
    struct lab_increments *increments = &run->oracles.increments;
    for (size_t i = 0; i < increments->capacity; i++) {
        const struct lab_increment *increment = &increments->slots[i];
        if (!increment->is_used)
            continue;
        uint64_t lost = increment->applied == 0, doubled = lost > 0 ? 0 : increment->applied - 1;
        increments->lost += lost;
        increments->amount_lost += lost * increment->amount;
        increments->doubled += doubled;
        increments->amount_doubled += doubled * increment->amount;
    }
    run->oracles.verdict.increments_lost = increments->lost;
    run->oracles.verdict.increments_doubled = increments->doubled;
}
