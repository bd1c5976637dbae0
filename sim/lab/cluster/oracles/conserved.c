/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conserved: nothing is lost or invented. The rows that arrived are the sum of acknowledged, refused and
 * unresolved rows. In each partition, the stored rows are those that were acknowledged there and those of
 * unknown outcome that took effect, by number and by a sum of hashes, and the cluster reports the
 * same. A counter column has the increments of rows, less lost ones and plus repeated ones, each of them
 * according to the rows that made the requests. A sum of counted rows never exceeds the rows in the bucket
 * (ledger.c). After the run all faults end, and the cluster runs on for as long as it may need to
 * deliver pending writes. Then each row that any replica has is on all replicas, unless a node has lost its
 * hints. The oracle itself counts which replica has which row, as copies due less copies made (ledger.c); it
 * does not rely on what the cluster reports about its hints. */
#include <inttypes.h>
#include <stdlib.h>

#include "cluster_view.h"
#include "events.h"
#include "history.h"
#include "kernel/grow.h"
#include "lab/scenario.h"
#include "oracles.h"

#define EVENTS_A_LOOK  4096 /* between two checks for a stop of the run */
#define HINTS_A_PAGE   128
#define PAGE_TRIPS     64
#define LOOKS_AT_HINTS 2
#define LOSS_DELIVERED 0.3 /* a network that loses more messages need not deliver in time */

/* Rows of unknown outcome that took effect count as acknowledged. */
static void subtract_open(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    const struct lab_open_rows *lists[] = {&oracles->open, &oracles->moved};
    for (int list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            const struct lab_open_row *row = &lists[list]->items[i];
            uint32_t index = lab_partition_find(oracles, row->key, row->bucket);
            bool is_there = (row->is_heard && !row->is_acknowledged) ||
                            cass_row_is_open(run->cluster, row->key, row->bucket, row->row);
            if (index == LAB_NO_PARTITION || !is_there)
                continue;
            oracles->partitions[index].acknowledged++;
            oracles->partitions[index].acknowledged_sum += sim_mix64(row->row + 1);
        }
    }
}

static void judge_partitions(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    subtract_open(run);
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        if (partition->stored != partition->acknowledged ||
            partition->stored_sum != partition->acknowledged_sum)
            lab_violate(run, LAB_ORACLE_CONSERVED, partition->key, 1,
                        "bucket %" PRId64 " got %" PRIu64 " rows, and %" PRIu64
                        " were acknowledged or open, or the rows differ",
                        partition->bucket, partition->stored, partition->acknowledged);
    }
    uint64_t tombstones = 0;
    for (size_t i = 0; i < cass_partition_count(run->cluster); i++) {
        struct cass_partition_view view;
        cass_partition_at(run->cluster, i, &view);
        uint32_t index = lab_partition_find(oracles, (uint32_t)view.key, view.bucket);
        uint64_t stored = index == LAB_NO_PARTITION ? 0 : oracles->partitions[index].stored;
        tombstones += view.tombstones;
        uint64_t gone = lab_rows_go(run->scenario) ? view.tombstones : 0;
        if (view.written_rows != stored || view.rows + gone != stored)
            lab_violate(run, LAB_ORACLE_CONSERVED, (uint32_t)view.key, 1,
                        "bucket %" PRId64 " got %" PRIu64 " rows, and the cluster holds %" PRIu64
                        " and %" PRIu64 " tombstones",
                        view.bucket, stored, view.rows, view.tombstones);
    }
    const struct lab_deletes_open *deletes = &run->deletes;
    lab_expired_end(run, tombstones);
    if (run->scenario->deletes.share > 0 && (tombstones < deletes->confirmed || tombstones > deletes->asked))
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "%" PRIu64 " deletes were requested and %" PRIu64 " confirmed, but there are %" PRIu64
                    " tombstones",
                    deletes->asked, deletes->confirmed, tombstones);
}

static void judge_counters(struct lab_cluster_run *run)
{
    const struct lab_increments *increments = &run->oracles.increments;
    uint64_t total = cass_counters_total(run->cluster);
    uint64_t wanted = increments->amount_due - increments->amount_lost + increments->amount_doubled;
    if (total != wanted)
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "the counters hold %" PRIu64 ", but %" PRIu64 " increments - %" PRIu64 " lost + %" PRIu64
                    " doubled make %" PRIu64,
                    total, increments->amount_due, increments->amount_lost, increments->amount_doubled,
                    wanted);
}

/* With ANY, a hint is enough to acknowledge a row, and the row may exist only in hints until they are
 * delivered. */
static bool hints_may_hold_rows(const struct lab_cluster_run *run)
{
    return run->scenario->consistency.write == CASS_ANY;
}

/* A request that a slow node has begun takes the longer time even if the node is not slow any more. */
static int64_t served_by_ns(const struct lab_cluster_run *run)
{
    int64_t latest_ns = sim_queue_now(&run->queue);
    for (uint32_t node = 0; node < cass_node_count(run->cluster); node++) {
        int64_t by_ns = cass_node_served_by_ns(run->cluster, node);
        latest_ns = by_ns > latest_ns ? by_ns : latest_ns;
    }
    return latest_ns;
}

/* Returns the time by which all pending writes must be delivered: when current requests have ended and hints
 * have been dispatched, plus the time of a contended message for each page of hints, the service time of each
 * hint, and the pause of a node. If messages are lost, it is the time that a run has to drain. */
static int64_t delivered_by_ns(const struct lab_cluster_run *run)
{
    const struct cass_cluster_config *config = &run->scenario->network;
    int64_t served_ns = served_by_ns(run);
    if (config->loss > 0)
        return lab_until(lab_until(served_ns, LAB_DRAIN_NS), run->oracles.lag_ns);
    uint64_t owed = run->oracles.copies_due;
    owed += hints_may_hold_rows(run) ? run->oracles.acknowledged * run->oracles.replicas : 0;
    int64_t copies = (int64_t)(owed < INT32_MAX ? owed : INT32_MAX);
    int64_t page_ns = lab_times(PAGE_TRIPS, lab_longest_trip_ns(run->scenario));
    int64_t until_ns = lab_until(lab_until(served_ns, run->oracles.lag_ns),
                                 lab_times(LOOKS_AT_HINTS, config->hint_retry_ns));
    until_ns =
        lab_until(until_ns, config->timeout_write_ns + config->timeout_read_ns + config->timeout_counter_ns);
    until_ns = lab_until(until_ns, lab_longest_pause_ns(run->scenario));
    return lab_until(until_ns,
                     lab_times(copies / HINTS_A_PAGE + 1, page_ns) + lab_times(copies, config->write_ns));
}

/* Lets the cluster deliver messages and hints, without faults and agents. Returns false if it was stopped or
 * out of memory. */
static bool deliver(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    int64_t until_ns = delivered_by_ns(run), time_ns;
    struct sim_event event;
    lab_copies_alone(run);
    if (run->replay != NULL)
        return lab_replay_rest(run);
    cass_heal(run->cluster);
    bool waits_for_all = hints_may_hold_rows(run); /* copies are due only for rows that a replica has */
    for (uint64_t i = 1; oracles->copies_due > 0 || waits_for_all; i++) {
        if (!sim_queue_pop(&run->queue, &time_ns, &event) || time_ns > until_ns)
            break;
        if (event.kind >= CASS_EVENT_FIRST && event.kind <= CASS_EVENT_LAST)
            cass_handle(run->cluster, &event);
        if (!cass_cluster_is_sound(run->cluster) ||
            (i % EVENTS_A_LOOK == 0 && lab_run_is_stopped(run->context)))
            return false;
    }
    return true;
}

static void finish_delivered(struct lab_cluster_run *run, void *state)
{
    (void)state;
    const struct lab_oracles *oracles = &run->oracles;
    const struct cass_cluster_config *config = &run->scenario->network;
    int64_t behind_ns = served_by_ns(run) - sim_queue_now(&run->queue);
    /* A node that was down for longer than hints are kept, or whose queue is longer than that, need not get
     * them. */
    if (oracles->hints_may_be_lost ||
        lab_until(lab_health_unhealthy_ns(run), behind_ns) > config->hint_window_ns ||
        config->loss > LOSS_DELIVERED || !deliver(run))
        return;
    if (hints_may_hold_rows(run))
        judge_partitions(run);
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        if (partition->copies_balance != 0)
            lab_violate(
                run, LAB_ORACLE_CONSERVED, partition->key, 1,
                "bucket %" PRId64 " got %" PRIu64
                " rows; long after the end of all faults, some of them are not on every replica exactly once",
                partition->bucket, partition->stored);
    }
    lab_excuses_settle(run, true);
}

/* --- Increments of counter columns, which can be neither undone nor safely repeated. Records for each row's
 * increment whether it was applied once, never or twice, and its value. Increments that were certainly
 * applied once are forgotten. */

static uint32_t hash_of(uint64_t counter, uint64_t row)
{
    return (uint32_t)sim_mix64(counter * UINT64_C(0x9e3779b97f4a7c15) ^ sim_mix64(row));
}

/* Returns NULL for an increment that is not known. */
static struct lab_increment *find(const struct lab_increments *increments, uint64_t counter, uint64_t row)
{
    const struct sim_table *table = &increments->table;
    for (const struct sim_slot *slot = sim_table_first(table, hash_of(counter, row)); slot->index != 0;
         slot = sim_table_next(table, slot)) {
        struct lab_increment *increment = &increments->items[slot->index];
        if (increment->counter == counter && increment->row == row)
            return increment;
    }
    return NULL;
}

static struct lab_increment *add_increment(struct lab_cluster_run *run, uint64_t counter, uint64_t row)
{
    struct lab_increments *increments = &run->oracles.increments;
    uint32_t index = increments->free;
    if (index != 0) {
        increments->free = increments->items[index].next;
    } else {
        index = increments->count == 0 ? 1 : (uint32_t)increments->count;
        if (!sim_grow(&increments->items, &increments->capacity, (size_t)index + 1,
                      sizeof *increments->items)) {
            run->out_of_memory = true;
            return NULL;
        }
        increments->items[0] = (struct lab_increment){0};
        increments->count = (size_t)index + 1;
    }
    increments->items[index] = (struct lab_increment){.counter = counter, .row = row, .is_used = true};
    increments->used++;
    sim_table_put(&increments->table, hash_of(counter, row), index);
    return &increments->items[index];
}

static void increment_asked(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount)
{
    struct lab_increment *increment = find(&run->oracles.increments, counter, row);
    if (increment == NULL && (increment = add_increment(run, counter, row)) == NULL)
        return;
    increment->amount = increment->asked == 0 ? amount : increment->amount;
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

/* Called when `count` increments were applied that were not requested. */
static void add_doubled(struct lab_cluster_run *run, uint64_t counter, uint64_t count)
{
    struct books books = books_of(run, counter);
    if (books.doubled != NULL)
        *books.doubled += count;
}

static void total_asked(struct lab_cluster_run *run, struct lab_host_operation *operation)
{
    struct books books = books_of(run, operation->counter);
    operation->added = books.added == NULL ? 0 : *books.added;
}

static void total_heard(struct lab_cluster_run *run, const struct lab_host_operation *operation)
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
        add_doubled(run, operation->counter, run->config.coordination != BK_GUARDED);
    else if (!lab_plain_state_is_weak(run) && (total < 0 || (uint64_t)total < operation->added))
        lab_violate_bare(run, LAB_ORACLE_CONSERVED, books.key,
                         "a counter is read as %" PRId64 ", and %" PRIu64
                         " had been added before the read was sent",
                         total, operation->added);
}

static void increment_applied(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount)
{
    struct lab_increments *increments = &run->oracles.increments;
    struct lab_increment *increment = find(increments, counter, row);
    /* A forgotten increment was applied once before: its message arrived twice. */
    if (increment != NULL) {
        increment->applied++;
    } else {
        increments->doubled++;
        increments->amount_doubled += amount;
        add_doubled(run, counter, 1);
    }
}

static void increment_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                            bool is_counted)
{
    struct lab_increments *increments = &run->oracles.increments;
    increments->amount_due += operation->weight;
    if (!operation->has_counted) {
        increments->lost++; /* it was never requested */
        increments->amount_lost += operation->weight;
        return;
    }
    struct lab_increment *increment = find(increments, operation->counter, operation->row);
    if (increment == NULL || !is_counted || increment->asked != 1 || increment->applied != 1)
        return;
    uint32_t index = (uint32_t)(increment - increments->items);
    sim_table_remove(&increments->table, hash_of(increment->counter, increment->row), index);
    *increment = (struct lab_increment){.next = increments->free};
    increments->free = index;
    increments->used--;
}

/* The remaining increments had an unknown outcome. */
static void end_increments(struct lab_cluster_run *run)
{
    struct lab_increments *increments = &run->oracles.increments;
    for (size_t i = 0; i < increments->count; i++) {
        const struct lab_increment *increment = &increments->items[i];
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

static void finish(struct lab_cluster_run *run, void *state)
{
    (void)state;
    end_increments(run);
    uint64_t told = run->oracles.acknowledged + run->refused + run->unresolved;
    if (run->tally.rows != told)
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "%" PRIu64 " rows arrived, but %" PRIu64 " were acknowledged, refused or left unresolved",
                    run->tally.rows, told);
    if (!hints_may_hold_rows(run))
        judge_partitions(run);
    if (lab_adds_to_counters(run))
        judge_counters(run);
}

/* The row's operation has ended. A number is taken before the row is put, whether the row is stored or not;
 * any other increment is of an acknowledged row that fires. */
static void ended(struct lab_cluster_run *run, const struct lab_host_operation *operation, bool is_counted)
{
    bool is_number = run->config.source == BK_SOURCE_COUNTER;
    bool is_due = is_number ? operation->has_counted : operation->is_acknowledged && operation->fires;
    if (is_due && !operation->is_read)
        increment_ended(run, operation, is_counted);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    struct lab_host_operation *operation = event->operation;
    (void)state;
    switch (event->kind) {
    case CLUSTER_REQUEST_SENT:
        if (event->action->kind != BK_ACT_ADD_COUNTER && event->action->kind != BK_ACT_READ_COUNTER)
            break;
        operation->counter = event->statement->key;
        if (event->action->kind == BK_ACT_READ_COUNTER)
            total_asked(run, operation);
        else
            increment_asked(run, operation->counter, operation->row, (uint64_t)event->action->amount);
        break;
    case CLUSTER_HEARD:
        if (operation->outcome.kind == BK_OUTCOME_APPLIED &&
            (operation->action == BK_ACT_READ_COUNTER || operation->action == BK_ACT_ADD_COUNTER))
            total_heard(run, operation);
        break;
    case CLUSTER_COUNTER_ADDED:
        increment_applied(run, event->bytes, event->number, (uint64_t)event->value);
        break;
    case CLUSTER_ENDED:
        ended(run, operation, event->action->counted);
        break;
    default: /* CLUSTER_LOST */
        ended(run, operation, false);
    }
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    if (run->idgen != NULL)
        return 0;
    return CLUSTER_WANTS_END | CLUSTER_WANTS(REQUEST_SENT) | CLUSTER_WANTS(HEARD) |
           CLUSTER_WANTS(COUNTER_ADDED) |
           (lab_adds_to_counters(run) ? CLUSTER_WANTS(ENDED) | CLUSTER_WANTS(LOST) : 0);
}

static bool begin(struct lab_cluster_run *run, void **state)
{
    *state = run;
    return sim_table_create(&run->oracles.increments.table, &run->out_of_memory);
}

static void destroy(void *state)
{
    struct lab_increments *increments = &((struct lab_cluster_run *)state)->oracles.increments;
    free(increments->table.slots);
    free(increments->items);
}

const struct cluster_observer cluster_conserved = {.name = "conserved",
                                                   .wants = wants,
                                                   .judges = 1u << LAB_ORACLE_CONSERVED,
                                                   .begin = begin,
                                                   .on_event = hear,
                                                   .finish = finish,
                                                   .destroy = destroy};

static uint64_t wants_delivered(const struct lab_cluster_run *run)
{
    return run->idgen == NULL ? CLUSTER_WANTS_END : 0;
}

/* The last of all, since it heals the cluster, and lets it deliver what is still due. */
const struct cluster_observer cluster_delivered = {
    .name = "delivered", .wants = wants_delivered, .finish = finish_delivered};
