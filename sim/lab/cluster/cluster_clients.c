/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clients of a cluster run. In: the times of reads, and acknowledged rows. Kept: the clock of the readers
 * of each key, and the deletes under way. Out: reads of agents, with what their replies found, and requests
 * that delete rows. */
#include <assert.h>
#include <stdlib.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
#include "lab/scenario.h"

bool lab_reads_create(struct lab_cluster_run *run)
{
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        if (run->scenario->reads.kinds[kind].rate_per_s <= 0)
            continue;
        run->reads[kind] = calloc(run->key_count, sizeof *run->reads[kind]);
        if (run->reads[kind] == NULL)
            return false;
    }
    return true;
}

void lab_reads_destroy(struct lab_cluster_run *run)
{
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        free(run->reads[kind]);
        run->reads[kind] = NULL;
    }
}

static void push_next(struct lab_cluster_run *run, uint32_t key, enum lab_read_kind kind)
{
    int64_t next_ns = run->reads[kind][key].next_ns;
    if (next_ns >= run->end_ns)
        return;
    run->arrivals_pending++;
    lab_push_event(run, next_ns,
                   &(struct sim_event){.kind = LAB_EVENT_READ, .target = key, .a = (uint64_t)kind});
}

void lab_reads_begin(struct lab_cluster_run *run, uint32_t key)
{
    double share = lab_rows_key_share(run->rows, key);
    uint64_t entity = lab_rows_key_entity(run->rows, key);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        if (run->reads[kind] == NULL)
            continue;
        lab_read_clock_begin(&run->reads[kind][key], run->scenario, (enum lab_read_kind)kind, entity, share,
                             run->start_ns);
        push_next(run, key, (enum lab_read_kind)kind);
    }
}

void lab_cluster_read(struct lab_cluster_run *run, uint32_t key_index, enum lab_read_kind kind)
{
    struct lab_cluster_key *key = &run->keys[key_index];
    struct lab_read_clock *clock = &run->reads[kind][key_index];
    uint64_t draw = sim_random_next(&clock->draws);
    uint32_t chosen = lab_choose_agent_of_key(run, key_index, draw);
    int64_t now_ns = chosen == UINT32_MAX ? 0 : lab_agent_clock(run, chosen);
    int64_t birth_ns = key->rows > 0 ? key->birth_ns : now_ns;
    uint64_t newest = key->rows > 0 ? key->rows - 1 : 0;
    cluster_emit(run, READ_CHOSEN, .agent = chosen, .key = key_index, .number = draw, .time_ns = birth_ns,
                 .value = (int64_t)newest);
    lab_read_take(run, chosen, key_index, kind, birth_ns, newest);
    run->arrivals_pending--;
    lab_read_clock_next(clock);
    push_next(run, key_index, kind);
}

void lab_read_take(struct lab_cluster_run *run, uint32_t chosen, uint32_t key_index, enum lab_read_kind kind,
                   int64_t birth_ns, uint64_t newest)
{
    uint32_t number;
    struct bk_query query;
    if (chosen == UINT32_MAX)
        return;
    int64_t now_ns = lab_agent_clock(run, chosen);
    lab_read_query(run->scenario, run->strategy, kind, now_ns, birth_ns, &query);
    enum bk_status status =
        bk_agent_read(run->agents[chosen].agent, now_ns, key_index, newest, &query, &number);
    if (status != BK_OK) {
        /* A clock has jumped so far that there are too many windows to query, or the agent is busy. */
        bool is_too_long = status == BK_ERROR_WALK_TOO_LONG;
        assert(is_too_long || status == BK_ERROR_BUSY);
        run->tally.reads_failed += is_too_long;
        cluster_emit(run, READ_REFUSED, .agent = chosen, .key = key_index, .query = &query, .time_ns = now_ns,
                     .value = (int64_t)newest, .number = kind, .flag = is_too_long);
        return;
    }
    run->agents[chosen].has_heard = run->agents[chosen].is_paused;
    struct lab_host_operation *operation = lab_agent_begun(run, chosen, number, key_index);
    operation->is_read = true;
    operation->read = kind;
    operation->row_time_ns = query.from_ns;
    cluster_emit_of(run, READ_TAKEN, chosen, operation, .query = &query, .time_ns = now_ns,
                    .value = (int64_t)newest);
    lab_agent_pump(run, chosen);
    cluster_emit_of(run, SETTLED, chosen, operation, .number = BK_ACT_DONE);
}

/* --- Clients that delete rows: each row is deleted some time after its acknowledgement, from the bucket that
 * it was put into, by any agent that is up. A delete that is refused or whose outcome is unknown is repeated
 * as often as a row. */

/* Returns LAB_NO_DELETE when out of memory. */
static uint32_t take_slot(struct lab_cluster_run *run)
{
    struct lab_deletes_open *deletes = &run->deletes;
    uint32_t slot = deletes->free - 1;
    if (deletes->free != 0) {
        deletes->free = deletes->items[slot].next;
        return slot;
    }
    if (!sim_grow(&deletes->items, &deletes->capacity, deletes->count + 1, sizeof *deletes->items)) {
        run->out_of_memory = true;
        return LAB_NO_DELETE;
    }
    deletes->items[deletes->count] = (struct lab_delete){0};
    return (uint32_t)deletes->count++;
}

void lab_delete_plan(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    uint64_t entity = lab_rows_key_entity(run->rows, operation->key);
    int64_t after_ns = lab_deleted_after(run->scenario, entity, operation->row);
    int64_t now_ns = sim_queue_now(&run->queue);
    if (after_ns < 0 || after_ns >= run->end_ns - now_ns)
        return;
    uint32_t slot = take_slot(run);
    if (slot == LAB_NO_DELETE)
        return;
    run->deletes.items[slot] = (struct lab_delete){.key = operation->key,
                                                   .bucket = operation->bucket,
                                                   .row = operation->row,
                                                   .bytes = operation->row_bytes,
                                                   .row_id = operation->row_id,
                                                   .row_time_ns = operation->row_time_ns,
                                                   .serial = run->deletes.items[slot].serial};
    run->arrivals_pending++;
    lab_push(run, now_ns + after_ns, LAB_EVENT_DELETE, slot);
}

/* Frees the slot of a delete. reply: the reply that ended it, or NULL if it was given up. */
static void give_slot(struct lab_cluster_run *run, uint32_t slot, const struct cass_reply *reply)
{
    struct lab_delete *item = &run->deletes.items[slot];
    cluster_emit(run, DELETE_ENDED, .key = item->key, .item = item, .reply = reply);
    item->is_waiting = false;
    item->next = run->deletes.free;
    run->deletes.free = slot + 1;
    run->operations_active--;
}

static void try_again(struct lab_cluster_run *run, uint32_t slot)
{
    struct lab_delete *item = &run->deletes.items[slot];
    item->is_waiting = false;
    if (item->tries <= run->scenario->agents.retries) {
        lab_push(run, sim_queue_now(&run->queue) + run->config.retry_backoff_ns * item->tries,
                 LAB_EVENT_DELETE, slot);
        return;
    }
    run->tally.deletes_lost++;
    give_slot(run, slot, NULL);
}

void lab_delete_send(struct lab_cluster_run *run, uint32_t slot)
{
    struct lab_delete *item = &run->deletes.items[slot];
    if (item->tries == 0) {
        run->arrivals_pending--;
        run->operations_active++;
        run->keys[item->key].deletes_asked++;
        run->deletes.asked++;
    }
    item->tries++;
    item->serial++;
    uint64_t entity = lab_rows_key_entity(run->rows, item->key);
    uint64_t draw = sim_hash(run->scenario->seed ^ entity, SIM_DELETE, item->row);
    uint32_t agent = lab_choose_agent(run, draw);
    cluster_emit(run, DELETE_CHOSEN, .agent = agent, .key = item->key, .number = draw);
    if (agent == UINT32_MAX) {
        cluster_emit(run, DELETE_FAILED, .key = item->key, .item = item);
        try_again(run, slot);
        return;
    }
    item->is_waiting = true;
    const struct cass_statement statement = {.kind = CASS_DELETE_ROW,
                                             .consistency = run->scenario->consistency.write,
                                             .key = item->key,
                                             .bucket = item->bucket,
                                             .row_id = item->row,
                                             .row_time_ns = item->row_time_ns,
                                             .row_order = (int64_t)item->row_id,
                                             .bytes = item->bytes,
                                             .timestamp_us = INT64_MIN};
    cluster_emit(run, DELETE_SENT, .agent = agent, .key = item->key, .item = item, .sent = &statement);
    cass_request(run->cluster, agent, CASS_ANY_NODE, LAB_DELETE_TAG(slot, item->serial), &statement);
    item->timeout = lab_push_event(run, sim_queue_now(&run->queue) + run->scenario->agents.timeout_ns,
                                   &(struct sim_event){LAB_EVENT_DELETE_TIMEOUT, slot, item->serial, 0});
}

void lab_delete_reply(struct lab_cluster_run *run, const struct sim_event *event)
{
    uint32_t slot = (uint32_t)(event->a & UINT32_MAX);
    struct lab_delete *item = &run->deletes.items[slot];
    if (!item->is_waiting || (event->a >> 32 & 0x7fff) != (item->serial & 0x7fff)) {
        cass_reply_discard(run->cluster, event->b);
        return;
    }
    struct cass_reply reply;
    cass_reply_take(run->cluster, event->b, &reply);
    sim_queue_cancel(&run->queue, item->timeout);
    if (reply.result == CASS_OK) {
        run->deletes.confirmed++;
        give_slot(run, slot, &reply);
    } else {
        cluster_emit(run, DELETE_FAILED, .key = item->key, .item = item);
        try_again(run, slot);
    }
}

void lab_delete_timeout(struct lab_cluster_run *run, const struct sim_event *event)
{
    struct lab_delete *item = &run->deletes.items[event->target];
    if (!item->is_waiting || item->serial != (uint32_t)event->a)
        return;
    cluster_emit(run, DELETE_FAILED, .key = item->key, .item = item, .flag = true);
    try_again(run, event->target);
}
