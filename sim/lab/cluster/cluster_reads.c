/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers of a cluster run: when they come, which agent they use, and what they found, compared with the
 * rows that were acknowledged before they began. */
#include <assert.h>
#include <stdlib.h>

#include "cluster_agents.h"
#include "cluster_event_trace.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "history.h"
#include "oracles.h"

bool lab_reads_create(struct lab_cluster_run *run)
{
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        if (run->scenario->reads.kinds[kind].rate_per_s <= 0)
            continue;
        run->reads[kind] = calloc(run->key_count, sizeof *run->reads[kind]);
        if (run->reads[kind] == NULL)
            return false;
    }
    if (run->reads[LAB_READ_RANGE] == NULL)
        return true;
    run->acknowledged = calloc(run->key_count, sizeof *run->acknowledged);
    return run->acknowledged != NULL;
}

void lab_reads_destroy(struct lab_cluster_run *run)
{
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        free(run->reads[kind]);
        run->reads[kind] = NULL;
    }
    for (uint32_t i = 0; run->acknowledged != NULL && i < run->key_count; i++)
        sim_times_clear(&run->acknowledged[i]);
    free(run->acknowledged);
    run->acknowledged = NULL;
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

/* Returns the number of rows that were acknowledged before the read began; for a range, those whose times, as
 * given by their agents, are in the range. */
static uint64_t acknowledged_rows(const struct lab_cluster_run *run, uint32_t key, enum lab_read_kind kind,
                                  const struct bk_query *query)
{
    if (kind != LAB_READ_RANGE)
        return run->keys[key].acknowledged;
    const struct sim_times *times = &run->acknowledged[key];
    return sim_times_below(times, query->until_ns) - sim_times_below(times, query->from_ns);
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
    lab_host_reads(run, chosen, key_index, draw, birth_ns, newest);
    lab_read_take(run, chosen, key_index, kind, birth_ns, newest);
    run->arrivals_pending--;
    lab_read_clock_next(clock);
    push_next(run, key_index, kind);
}

void lab_read_take(struct lab_cluster_run *run, uint32_t chosen, uint32_t key_index, enum lab_read_kind kind,
                   int64_t birth_ns, uint64_t newest)
{
    uint32_t number;
    enum bk_status status = BK_ERROR_BUSY;
    struct bk_query query = {0};
    if (chosen != UINT32_MAX) {
        int64_t now_ns = lab_agent_clock(run, chosen);
        lab_read_query(run->scenario, run->strategy, kind, now_ns, birth_ns, &query);
        lab_record_read(run, chosen, key_index, kind, &query, newest);
        status = bk_agent_read(run->agents[chosen].agent, now_ns, key_index, newest, &query, &number);
        lab_twin_read(run, chosen, now_ns, key_index, &query, status, number);
    }
    if (status ==
        BK_ERROR_WALK_TOO_LONG) { /* a clock has jumped so far that there are too many windows to query */
        run->tally.reads_failed++;
        lab_event_trace_add(run, LAB_TOLD(READS, key_index, chosen),
                            "agent %u would have to walk too far, and does not read", chosen);
    } else if (status != BK_ERROR_BUSY) {
        assert(status == BK_OK);
        run->agents[chosen].has_heard = run->agents[chosen].is_paused;
        lab_host_hears(run, chosen);
        struct lab_host_operation *operation = lab_agent_begun(run, chosen, number, key_index);
        operation->is_read = true;
        operation->read = kind;
        operation->row_time_ns = query.from_ns;
        operation->walk.now_ns = query.now_ns;
        operation->walk.birth_ns = query.birth_ns;
        operation->done.due = acknowledged_rows(run, key_index, kind, &query);
        lab_host_due(run, operation, &query);
        lab_findable_begun(run, operation, &query);
        struct lab_told told = LAB_TOLD(READS, key_index, chosen);
        told.phase = LAB_EVENT_BEGINS;
        told.operation = number;
        if (kind == LAB_READ_LATEST)
            lab_event_trace_add(run, told, "agent %u reads the newest %llu rows", chosen,
                                (unsigned long long)query.rows);
        else if (kind == LAB_READ_RANGE)
            lab_event_trace_add(run, told, "agent %u reads the rows from %.6f s to before %.6f s", chosen,
                                lab_seconds(run, query.from_ns), lab_seconds(run, query.until_ns));
        else
            lab_event_trace_add(run, told, "agent %u reads all rows", chosen);
        lab_agent_pump(run, chosen);
        lab_parked_begins(run, chosen, operation);
    }
}

void lab_reads_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    if (run->acknowledged == NULL)
        return;
    const struct lab_read *range = &run->scenario->reads.kinds[LAB_READ_RANGE];
    struct sim_times *times = &run->acknowledged[operation->key];
    /* A clock is behind by at most its bound, except after a jump. After a jump, readers need to find fewer
     * rows. */
    int64_t oldest_ns = lab_before(lab_before(sim_queue_now(&run->queue), range->age_ns), range->span_ns);
    oldest_ns = lab_before(oldest_ns, 2 * run->scenario->agents.clock_bound_ns);
    sim_times_drop(times, oldest_ns);
    run->out_of_memory = !sim_times_add(times, operation->row_time_ns) || run->out_of_memory;
}

void lab_read_reply(struct lab_host_operation *operation, const struct cass_reply *reply)
{
    uint64_t place = (uint64_t)(reply->bucket - operation->step_low);
    operation->step_filled += reply->rows > 0;
    operation->step_scanned += reply->scanned;
    operation->outcome.saw_older = operation->outcome.saw_older || reply->saw_older;
    if (reply->rows == 0 && place < 64)
        operation->outcome.empty |= UINT64_C(1) << place;
}

void lab_read_step_done(struct lab_host_operation *operation)
{
    operation->done.filled += operation->step_filled;
    operation->done.scanned += operation->step_scanned;
}

/* Returns the number of these rows that the read must find: without those that a client has started to delete
 * by now. The times of deleted and expired rows are not recorded. */
static uint64_t left_of(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                        uint64_t excused)
{
    uint64_t rows = operation->done.due, deleted = run->keys[operation->key].deletes_asked;
    uint64_t wanted = run->scenario->reads.kinds[LAB_READ_LATEST].rows;
    bool goes = run->scenario->row_ttl_ns > 0;
    if (operation->read == LAB_READ_RANGE && (goes || deleted > 0))
        return 0;
    if (goes) {
        uint64_t since = run->keys[operation->key].acknowledged - rows,
                 left = lab_lives_left(run, operation->key);
        rows = left > since ? left - since : 0;
    }
    return lab_findable_due(rows, deleted + excused, operation->read == LAB_READ_LATEST ? wanted : rows);
}

void lab_read_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                    const struct bk_action *action)
{
    if (action->status != BK_OPERATION_OK && action->status != BK_OPERATION_TOO_LONG) {
        run->tally.reads_failed++;
        return;
    }
    struct lab_read_done *done = &operation->done;
    uint64_t judged = left_of(run, operation, operation->beyond);
    done->due = run->scenario->row_ttl_ns > 0 ? 0 : left_of(run, operation, 0);
    const struct bk_strategy *strategy = &run->config.strategy;
    done->kind = operation->read;
    done->order = action->order;
    done->partitions = action->partitions_asked;
    done->empties = done->partitions - done->filled;
    done->rows = action->rows_found;
    done->is_early = action->order == BK_ORDER_NONE && done->partitions < (uint64_t)strategy->of.hash.buckets;
    done->is_cut = action->status == BK_OPERATION_TOO_LONG;
    done->is_before = done->kind == LAB_READ_RANGE &&
                      lab_range_is_before(run->scenario, operation->row_time_ns, run->start_ns);
    uint64_t *probes = run->oracles.verdict.probes;
    probes[LAB_PROBE_RANGE_READ] += done->kind == LAB_READ_RANGE && done->partitions > 1;
    probes[LAB_PROBE_REMEMBERED] += action->partitions_spared > 0;
    lab_read_count(&run->tally.reads, done, 1);
    if (done->rows < judged && !done->is_cut)
        lab_findable_read(run, operation, judged);
    lab_expired_read(run, operation);
    uint64_t spent = (uint64_t)(sim_queue_now(&run->queue) - operation->begun_ns);
    lab_spent_add(run, &run->latency[LAB_LATENCY_READ], spent);
    if (lab_read_kind_count(run->scenario) > 1) {
        lab_read_count(&run->tally.reads_of[done->kind], done, 1);
        lab_spent_add(run, &run->read_latency[done->kind], spent);
    }
}
