/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers of a cluster run: when they come, which agent they use, and what they found, compared with the
 * rows that were acknowledged before they began. */
#include <assert.h>
#include <stdlib.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"

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
