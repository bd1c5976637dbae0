/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that a loaded cluster is consistent: each list ends and contains items in use, each once; each
 * message and each reply has its event; each lock has its holder; and each operation is at a stage that its
 * statement can reach. The cluster follows its indices without checks, so this ensures that it never leaves
 * its pools or loops without end. */
#include <string.h>

#include "archive_private.h"
#include "coordination.h"
#include "data.h"
#include "kernel/queue_archive.h"
#include "traffic.h"

static bool holds_fit(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    for (uint32_t i = 1; i < cluster->rows.used; i++)
        row_at(cluster, i)->references = books->row_holds[i];
    for (uint32_t i = 1; i < cluster->bodies.used; i++) {
        body_at(cluster, i)->references = books->body_holds[i];
        if (cass_is_used(books, &cluster->bodies, i) && books->body_holds[i] == 0)
            return false;
    }
    return true;
}

/* Returns true if the item is in use and was not taken before, and marks it as taken. */
static bool take(struct cass_books *books, const struct cass_pool *pool, uint32_t index)
{
    enum { TAKEN = 2 };
    if (!cass_is_used(books, pool, index))
        return false;
    uint8_t *used = &books->used[(size_t)(pool - books->cluster->pools)][index];
    bool is_first = *used != TAKEN;
    *used = TAKEN;
    return is_first;
}

static bool all_taken(const struct cass_books *books, const struct cass_pool *pool)
{
    const uint8_t *used = books->used[(size_t)(pool - books->cluster->pools)];
    for (uint32_t i = 1; i < pool->used; i++) {
        if (used[i] == 1)
            return false;
    }
    return true;
}

/* Checks that each row of named columns belongs to exactly one body or reply. */
static bool named_fit(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    for (uint32_t i = 1; i < cluster->bodies.used; i++) {
        uint32_t named = body_at(cluster, i)->named;
        if (cass_is_used(books, &cluster->bodies, i) && named != CASS_NONE &&
            !take(books, &cluster->named, named))
            return false;
    }
    for (uint32_t i = 1; i < cluster->replies.used; i++) {
        uint32_t named = reply_at(cluster, i)->named;
        if (cass_is_used(books, &cluster->replies, i) && named != CASS_NONE &&
            !take(books, &cluster->named, named))
            return false;
    }
    return all_taken(books, &cluster->named);
}

static bool rows_of_fit(struct cass_books *books, uint32_t partition)
{
    const struct cass_cluster *cluster = books->cluster;
    uint32_t before = CASS_NONE;
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;
         at = row_at(cluster, at)->next) {
        const struct row *row = row_at(cluster, at);
        if (!take(books, &cluster->rows, at) || row->previous != before || row->partition != partition)
            return false;
        before = at;
    }
    return true;
}

static bool expiries_of_fit(struct cass_books *books, const struct partition *partition)
{
    const struct cass_cluster *cluster = books->cluster;
    uint32_t last = CASS_NONE;
    for (uint32_t at = partition->expiry_head; at != CASS_NONE; at = expiry_at(cluster, at)->next) {
        if (!take(books, &cluster->expiries, at))
            return false;
        last = at;
    }
    return last == CASS_NONE || last == partition->expiry_tail;
}

static bool partitions_fit(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    for (uint32_t i = 1; i < cluster->partitions.used; i++) {
        const struct partition *partition = partition_at(cluster, i);
        if (!rows_of_fit(books, i) || !expiries_of_fit(books, partition))
            return false;
        for (uint32_t at = partition->newest; at != CASS_NONE; at = chunk_at(cluster, at)->next) {
            if (!take(books, &cluster->chunks, at))
                return false;
        }
        for (uint32_t at = partition->ranges; at != CASS_NONE; at = range_at(cluster, at)->next) {
            if (!take(books, &cluster->ranges, at))
                return false;
        }
    }
    if (cluster->config.keeps_lifetimes && !cass_lifetimes_are_opened(books->cluster))
        return false;
    return all_taken(books, &cluster->rows) && all_taken(books, &cluster->expiries) &&
           all_taken(books, &cluster->chunks) && all_taken(books, &cluster->ranges);
}

static bool registers_fit(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    for (uint32_t i = 1; i < cluster->registers.used; i++) {
        const struct register_entry *entry = register_at(cluster, i);
        if ((entry->paxos != CASS_NONE && !take(books, &cluster->paxos, entry->paxos)) ||
            (entry->named != CASS_NONE && !take(books, &cluster->named_copies, entry->named)))
            return false;
    }
    return all_taken(books, &cluster->paxos) && all_taken(books, &cluster->named_copies);
}

static bool hints_fit(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    for (size_t i = 0; i < (size_t)cluster->node_count * cluster->node_count; i++) {
        const struct hint_list *list = &cluster->hints_for[i];
        uint32_t last = CASS_NONE;
        for (uint32_t at = list->head; at != CASS_NONE; at = hint_at(cluster, at)->next) {
            const struct hint *hint = hint_at(cluster, at);
            if (!take(books, &cluster->hints, at) || hint->body == CASS_NONE || hint->entity == CASS_NONE)
                return false;
            last = at;
        }
        if (last != CASS_NONE && last != list->tail)
            return false;
    }
    return all_taken(books, &cluster->hints);
}

/* Checks that the data that a stage needs is there, and that the statement can reach the stage. */
static bool stage_fits(const struct cass_operation *operation)
{
    enum cass_statement_kind kind = operation->statement.kind;
    bool is_row = operation->is_carrying_row, has_body = operation->body != CASS_NONE;
    bool is_of_paxos = kind == CASS_CAS_COLUMNS || kind == CASS_READ_COLUMNS;
    bool reads_rows = kind == CASS_READ_ROWS || kind == CASS_COUNT_ROWS;
    bool is_plain = kind == CASS_WRITE_COLUMNS || kind == CASS_DELETE_COLUMNS || kind == CASS_WRITE_NAMED ||
                    kind == CASS_DELETE_NAMED || kind == CASS_DELETE_COUNTER;
    if ((operation->entity == CASS_NONE && !reads_rows) || (operation->is_leader && kind != CASS_ADD_COUNTER))
        return false;
    switch ((enum stage)operation->stage) {
    case STAGE_TRAVELLING:
        return !operation->has_timer && !operation->has_lock && !operation->is_leader && is_row == has_body &&
               operation->gathered == CASS_NONE && cass_statement_is_valid(&operation->statement);
    case STAGE_WRITE:
        return has_body && (is_row || is_plain || operation->is_leader);
    case STAGE_READ:
    case STAGE_READ_AGAIN:
    case STAGE_REPAIR:
        return operation->gathered != CASS_NONE &&
               (reads_rows || is_of_paxos || kind == CASS_READ_NAMED || kind == CASS_READ_COUNTER);
    case STAGE_LOCK_WAIT:
        return !operation->has_lock && (operation->is_leader || is_of_paxos);
    case STAGE_COUNT:
        return operation->is_leader && operation->has_lock;
    case STAGE_LEADER:
        return kind == CASS_ADD_COUNTER && !operation->is_leader;
    case STAGE_PREPARE:
        return is_of_paxos && operation->gathered != CASS_NONE;
    case STAGE_PROPOSE:
    case STAGE_PROPOSE_REPAIR:
    case STAGE_COMMIT:
        return is_of_paxos && has_body;
    default: /* STAGE_COMMIT_REPAIR, STAGE_SLEEP */
        return is_of_paxos;
    }
}

static bool operations_fit(const struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        struct cass_operation *operation = operation_at(cluster, i);
        if (!cass_is_used(books, &cluster->operations, i))
            continue;
        if (!stage_fits(operation))
            return false;
        operation->position = cass_archive_position(cluster, operation);
    }
    return true;
}

static bool lock_fits(struct cass_books *books, const struct lock *lock, uint32_t *waiting)
{
    const struct cass_cluster *cluster = books->cluster;
    uint32_t last = CASS_NONE;
    for (uint32_t at = lock->holder; at != CASS_NONE;
         at = at == lock->holder ? lock->head : operation_at(cluster, at)->next) {
        const struct cass_operation *operation = operation_at(cluster, at);
        bool is_holder = at == lock->holder;
        if (!take(books, &cluster->operations, at) || operation->place != lock->node ||
            operation->entity != lock->entity || operation->is_leader != (lock->is_counter != 0) ||
            operation->has_lock != is_holder || (!is_holder && operation->stage != STAGE_LOCK_WAIT))
            return false;
        *waiting += !is_holder;
        last = at;
    }
    return lock->holder != CASS_NONE && (lock->head == CASS_NONE || last == lock->tail);
}

/* Checks that each lock is held by one operation, and that all waiting operations are in the list of their
 * lock. */
static bool locks_fit(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    uint32_t waiting = 0, holding = 0;
    for (uint32_t i = 1; i < cluster->locks.used; i++) {
        if (cass_is_used(books, &cluster->locks, i) && !lock_fits(books, lock_at(cluster, i), &waiting))
            return false;
    }
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        if (!cass_is_used(books, &cluster->operations, i))
            continue;
        holding += operation_at(cluster, i)->has_lock;
        waiting -= operation_at(cluster, i)->stage == STAGE_LOCK_WAIT;
    }
    return waiting == 0 && holding == cluster->locks.live;
}

static bool message_fits(const struct cass_cluster *cluster, const struct message *message)
{
    bool has_body = message->body != CASS_NONE, has_entity = message->entity != CASS_NONE;
    const struct cass_operation *operation;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_WRITE_ROW:
    case MESSAGE_WRITE_CELLS:
    case MESSAGE_WRITE_SHARD:
    case MESSAGE_REPAIR_SHARDS:
    case MESSAGE_COUNT:
    case MESSAGE_PREPARE:
    case MESSAGE_PROPOSE:
    case MESSAGE_COMMIT:
        return has_body && has_entity;
    case MESSAGE_REPAIR_ROWS:
    case MESSAGE_READ_CELLS:
    case MESSAGE_READ_SHARDS:
    case MESSAGE_COUNT_SHARD:
        return !has_body && has_entity;
    case MESSAGE_ANSWER:
        /* The answer of a leader is the result of the operation. */
        operation = operation_at(cluster, message->operation);
        return operation->stage != STAGE_LEADER || operation->generation != message->generation ||
               message->limit < CASS_INVALID;
    default: /* MESSAGE_REQUEST, MESSAGE_READ_ROWS, MESSAGE_ACK, MESSAGE_HINT_ACK */
        return !has_body;
    }
}

static bool messages_fit(const struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    for (uint32_t i = 1; i < cluster->messages.used; i++) {
        if (cass_is_used(books, &cluster->messages, i) && !message_fits(cluster, message_at(cluster, i)))
            return false;
    }
    return true;
}

/* Takes the operation that a request carries. Only requests, if their service takes time, and messages to a
 * replica are served by a node. */
static bool message_event_fits(struct cass_books *books, const struct sim_event *event)
{
    const struct cass_cluster *cluster = books->cluster;
    if (event->a > UINT32_MAX || !take(books, &cluster->messages, (uint32_t)event->a))
        return false;
    const struct message *message = message_at(cluster, (uint32_t)event->a);
    if (message->to != event->target)
        return false;
    if (event->kind == EVENT_SERVED && message->kind == MESSAGE_REQUEST && cluster->config.coordinate_ns == 0)
        return false;
    if (event->kind == EVENT_SERVED && message->kind != MESSAGE_REQUEST)
        return message->kind != MESSAGE_COUNT && message->kind < MESSAGE_ACK;
    return message->kind != MESSAGE_REQUEST ||
           (operation_at(cluster, message->operation)->stage == STAGE_TRAVELLING &&
            take(books, &cluster->operations, message->operation));
}

static bool event_fits(struct cass_books *books, const struct sim_pending *pending)
{
    const struct cass_cluster *cluster = books->cluster;
    const struct sim_event *event = &pending->event;
    const struct cass_operation *operation;
    const struct hint_list *list;
    switch (event->kind) {
    case EVENT_ARRIVE:
    case EVENT_SERVED:
        return message_event_fits(books, event);
    case EVENT_TIMER:
        if (event->a > UINT32_MAX || !cass_is_used(books, &cluster->operations, (uint32_t)event->a))
            return false;
        operation = operation_at(cluster, (uint32_t)event->a);
        return operation->has_timer && operation->timer == pending->handle &&
               operation->generation == event->b;
    case EVENT_PAUSE:
        return event->target < cluster->node_count;
    case EVENT_HINTS:
        if (event->target >= cluster->node_count || event->a >= cluster->node_count)
            return false;
        list = &cluster->hints_for[(size_t)event->target * cluster->node_count + event->a];
        return list->has_event && list->event == pending->handle;
    case CASS_EVENT_REPLY:
        return event->target < cluster->config.client_count && event->b <= UINT32_MAX &&
               take(books, &cluster->replies, (uint32_t)event->b);
    default: /* events of the host */
        return event->kind < CASS_EVENT_FIRST;
    }
}

/* Checks that every timer, hint list, message and reply that needs an event has exactly one, and that there
 * are no others. */
static bool events_fit(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    struct sim_pending pending;
    uint32_t timers = 0, looks = 0;
    for (size_t at = 0; sim_queue_next_pending(cluster->queue, &at, &pending);) {
        if (!event_fits(books, &pending))
            return false;
        timers += pending.event.kind == EVENT_TIMER;
        looks += pending.event.kind == EVENT_HINTS;
    }
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        if (!cass_is_used(books, &cluster->operations, i))
            continue;
        timers -= operation->has_timer;
        /* The request that carries the operation took it. */
        if (operation->stage == STAGE_TRAVELLING && take(books, &cluster->operations, i))
            return false;
    }
    for (size_t i = 0; i < (size_t)cluster->node_count * cluster->node_count; i++)
        looks -= cluster->hints_for[i].has_event;
    return timers == 0 && looks == 0 && all_taken(books, &cluster->messages) &&
           all_taken(books, &cluster->replies);
}

static bool tables_are_made(struct cass_cluster *cluster, struct cass_books *books)
{
    bool ok = true;
    memset(cluster->written, 0, sizeof cluster->written);
    for (size_t i = 0; i < sizeof cluster->tables / sizeof *cluster->tables; i++) {
        cass_table_destroy(&cluster->tables[i]);
        ok = cass_table_create(&cluster->tables[i], &cluster->is_broken) && ok;
    }
    for (uint32_t i = 1; ok && i < cluster->partitions.used; i++) {
        cass_partition_enter(cluster, i);
        cass_rows_enter(cluster, i);
    }
    for (uint32_t i = 1; ok && i < cluster->registers.used; i++)
        cass_register_enter(cluster, i);
    for (uint32_t i = 1; ok && i < cluster->counters.used; i++)
        cass_counter_enter(cluster, i);
    for (uint32_t i = 1; ok && i < cluster->locks.used; i++) {
        if (cass_is_used(books, &cluster->locks, i))
            cass_lock_enter(cluster, i);
    }
    if (!ok || !cass_cluster_is_sound(cluster))
        sim_archive_fail_memory(books->archive);
    return true;
}

bool cass_archive_fits(struct cass_books *books)
{
    return holds_fit(books) && named_fit(books) && partitions_fit(books) && registers_fit(books) &&
           hints_fit(books) && operations_fit(books) && locks_fit(books) && messages_fit(books) &&
           events_fit(books) && tables_are_made(books->cluster, books);
}
