/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts a client's action to a Cassandra statement, and Cassandra's reply to its outcome, and counts
 * them. */
#include <assert.h>
#include <string.h>

#include "idgen_private.h"

/* Each stripe has a row with the last identifier and a row for the lock. */
#define LAST_KEY(stripe) ((uint64_t)(stripe)*2)
#define LOCK_KEY(stripe) ((uint64_t)(stripe)*2 + 1)

void lab_idgen_statement(const struct lab_cluster_run *run, const struct bk_idgen_action *action,
                         struct cass_statement *out)
{
    const struct lab_consistency *level = &run->scenario->consistency;
    *out = (struct cass_statement){
        .key = LOCK_KEY(action->stripe), .timestamp_us = INT64_MIN, .consistency = level->state};
    switch (action->kind) {
    case BK_IDGEN_WRITE_COLUMN:
    case BK_IDGEN_DELETE_COLUMNS:
        out->kind = action->kind == BK_IDGEN_WRITE_COLUMN ? CASS_WRITE_NAMED : CASS_DELETE_NAMED;
        out->named_count = action->column_count;
        for (uint32_t i = 0; i < action->column_count; i++)
            out->named[i] = (struct cass_named){.name = (uint32_t)action->columns[i].client,
                                                .value = action->columns[i].until_ns,
                                                .timestamp_us = action->columns[i].until_ns};
        break;
    case BK_IDGEN_READ_COLUMNS:
        out->kind = CASS_READ_NAMED;
        break;
    case BK_IDGEN_READ_LAST:
        out->kind = CASS_READ_COLUMNS;
        out->key = LAST_KEY(action->stripe);
        if (run->idgen->config.lock == BK_IDGEN_LOCK_LWT)
            out->consistency = level->serial;
        break;
    case BK_IDGEN_WRITE_LAST:
        out->kind = CASS_WRITE_COLUMNS;
        out->key = LAST_KEY(action->stripe);
        out->set_mask = 1;
        out->set[0] = out->timestamp_us = action->set[0];
        break;
    default:
        out->kind = CASS_CAS_COLUMNS;
        out->key = action->kind == BK_IDGEN_CAS_LOCK ? LOCK_KEY(action->stripe) : LAST_KEY(action->stripe);
        out->serial_consistency = level->serial;
        out->set_mask = action->kind == BK_IDGEN_CAS_LOCK ? 3 : 1;
        out->if_mask = action->if_absent ? 0 : out->set_mask;
        out->if_absent = action->if_absent;
        memcpy(out->set, action->set, sizeof action->set);
        memcpy(out->equal, action->expected, sizeof action->expected);
    }
}

void lab_idgen_outcome(struct lab_cluster_run *run, enum bk_idgen_action_kind kind, uint64_t slot,
                       struct bk_idgen_outcome *out)
{
    struct lab_idgen *idgen = run->idgen;
    bool is_conditional = kind == BK_IDGEN_CAS_LOCK || kind == BK_IDGEN_CAS_LAST;
    *out = (struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED};
    uint32_t found = cass_reply_named(run->cluster, slot, idgen->named, run->agent_count + 1);
    for (uint32_t i = 0; i < found; i++)
        idgen->columns[i] = (struct bk_idgen_column){idgen->named[i].name, idgen->named[i].value};
    out->columns = idgen->columns;
    out->column_count = found;
    struct cass_reply reply;
    cass_reply_take(run->cluster, slot, &reply);
    assert(reply.result != CASS_INVALID);
    out->found = reply.found;
    memcpy(out->values, reply.columns, sizeof out->values);
    if (reply.result == CASS_OK)
        out->kind = is_conditional && !reply.applied ? BK_IDGEN_NOT_APPLIED : BK_IDGEN_APPLIED;
    else /* Unavailable for a conditional update, whose commit may fail in this way after the value was
            decided. */
        out->kind = reply.result == CASS_UNAVAILABLE && !is_conditional ? BK_IDGEN_REFUSED : BK_IDGEN_UNKNOWN;
}

static void count(struct lab_cluster_run *run, const struct bk_idgen_action *action)
{
    struct lab_tally *tally = &run->tally;
    tally->lock_ops += action->kind <= BK_IDGEN_CAS_LOCK;
    tally->lwt += action->kind == BK_IDGEN_CAS_LOCK || action->kind == BK_IDGEN_CAS_LAST;
    tally->state_reads += action->kind == BK_IDGEN_READ_LAST;
    tally->state_writes += action->kind == BK_IDGEN_WRITE_LAST || action->kind == BK_IDGEN_CAS_LAST;
    run->idgen->leases += action->kind == BK_IDGEN_READY;
    run->idgen->failed += action->kind == BK_IDGEN_FAILED;
}

static bool is_release(const struct bk_idgen_action *action)
{
    return action->kind == BK_IDGEN_DELETE_COLUMNS ||
           (action->kind == BK_IDGEN_CAS_LOCK && action->set[0] == 0);
}

/* An attempt begins with the first request for the lock, and ends with the first action under the lock or
 * with its release. */
static void watch_lock(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *action)
{
    struct lab_idgen *idgen = run->idgen;
    struct lab_id_client *client = &idgen->clients[number];
    int64_t now_ns = sim_queue_now(&run->queue);
    bool asks =
        action->kind == BK_IDGEN_WRITE_COLUMN || (action->kind == BK_IDGEN_CAS_LOCK && !is_release(action));
    bool takes_over =
        asks && action->kind == BK_IDGEN_CAS_LOCK && !action->if_absent && action->expected[0] != 0;
    if (asks && (!client->is_trying || client->idgen.draws != client->attempt)) {
        idgen->busy += client->is_trying;
        client->is_trying = true;
        client->attempt = client->idgen.draws;
        idgen->tried++;
    }
    idgen->stale += takes_over && !action->is_retry;
    if (action->kind == BK_IDGEN_READ_LAST && client->is_trying) {
        client->is_trying = false;
        idgen->acquired++;
        idgen->stale += client->idgen.column_count - 1;
        lab_histogram_add(&run->latency[LAB_LATENCY_LOCK], (uint64_t)(now_ns - client->leased_ns), 1, 1);
    }
    if ((is_release(action) || action->kind == BK_IDGEN_FAILED) && client->is_trying) {
        client->is_trying = false;
        idgen->busy++;
    }
    if (action->kind == BK_IDGEN_READY)
        lab_histogram_add(&run->latency[LAB_LATENCY_LEASE], (uint64_t)(now_ns - client->leased_ns), 1, 1);
}

void lab_idgen_watch(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *action)
{
    count(run, action);
    watch_lock(run, number, action);
}
