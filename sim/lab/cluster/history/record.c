/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a history: a line for each input of an agent, for each fault, and for each change of what is stored.
 * The actions of agents follow from these. */
#include "cluster_view.h"
#include "history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "kernel/time.h"

#define LINE_SIZE 512

static const char *const action_names[] = {LAB_ACTION_NAMES};
static const char *const outcome_names[] = {LAB_OUTCOME_NAMES};

static void add(const struct lab_cluster_run *run, uint32_t key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(const struct lab_cluster_run *run, uint32_t key, const char *format, ...)
{
    const struct lab_event_trace *trace = run->context->event_trace;
    int64_t since_ns = sim_queue_now(&run->queue) - run->start_ns;
    char text[LINE_SIZE], line[2 * LINE_SIZE], name[32] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (key != LAB_NO_KEY)
        snprintf(name, sizeof name, "key-%" PRIu32 ": ", key);
    snprintf(line, sizeof line, "%6" PRId64 ".%09" PRId64 " s  %s%s.", since_ns / SIM_SECOND,
             since_ns % SIM_SECOND, name, text);
    trace->line(trace->context, line);
}

void lab_record_begins(struct lab_cluster_run *run)
{
    if (!lab_record_wants(run))
        return;
    add(run, LAB_NO_KEY, "strategy %s begins at %" PRId64, run->strategy->label, run->start_ns);
    for (uint32_t i = 0; i < run->agent_count; i++)
        add(run, LAB_NO_KEY, "agent %" PRIu32 " begins, offset %" PRId64 " drift %" PRId64, i,
            run->agents[i].offset_ns, run->agents[i].drift_ppb);
}

void lab_record_ends(struct lab_cluster_run *run)
{
    if (lab_record_wants(run))
        add(run, LAB_NO_KEY, "strategy %s ends%s", run->strategy->label,
            sim_queue_count(&run->queue) == 0 ? ", and nothing more would happen" : "");
}

void lab_record_row(struct lab_cluster_run *run, uint32_t agent, uint32_t key, uint64_t number,
                    const struct bk_row *row)
{
    char who[32] = "nobody";
    if (!lab_record_wants(run))
        return;
    if (agent != UINT32_MAX)
        snprintf(who, sizeof who, "agent %" PRIu32, agent);
    add(run, key, "%s takes row %" PRIu64 " time %" PRId64 " id %" PRId64 " bytes %" PRIu64, who, number,
        row->time_ns, (int64_t)row->id, row->bytes);
}

void lab_record_read(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum lab_read_kind kind,
                     const struct bk_query *query, uint64_t newest)
{
    if (lab_record_wants(run))
        add(run, key, "agent %" PRIu32 " reads %s birth %" PRId64 " newest %" PRIu64, agent,
            lab_read_kind_name(kind), query->birth_ns, newest);
}

void lab_record_outcome(struct lab_cluster_run *run, uint32_t agent, uint32_t number)
{
    const struct lab_host_operation *operation = &run->agents[agent].operations[number];
    const struct bk_outcome *outcome = &operation->outcome;
    char text[LINE_SIZE];
    int used = 0;
    if (!lab_record_wants(run))
        return;
#define PUT(...) used += snprintf(text + used, sizeof text - (size_t)used, __VA_ARGS__)
    PUT("agent %" PRIu32 " hears %" PRIu32 " %s %s", agent, number, action_names[operation->action],
        outcome_names[outcome->kind]);
    if (operation->action == BK_ACT_PUT_ROW)
        PUT(" bucket %" PRId64, operation->bucket);
    if (outcome->mask != 0 && !lab_has_failed(outcome->kind))
        PUT(" columns %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, outcome->mask, outcome->columns[0],
            outcome->columns[1], outcome->columns[2], outcome->columns[3]);
    if (outcome->counter != 0)
        PUT(" counter %" PRId64, outcome->counter);
    if (outcome->rows != 0)
        PUT(" rows %" PRIu64, outcome->rows);
    if (operation->action == BK_ACT_READ_ROWS)
        PUT(" older %d empty %" PRIu64 " filled %" PRIu64 " scanned %" PRIu64, outcome->saw_older,
            outcome->empty, operation->step_filled, operation->step_scanned);
#undef PUT
    add(run, operation->key, "%s", text);
}

void lab_record_agent(struct lab_cluster_run *run, uint32_t agent, const char *what)
{
    if (lab_record_wants(run))
        add(run, LAB_NO_KEY, "agent %" PRIu32 " %s", agent, what);
}

void lab_record_settings(struct lab_cluster_run *run, uint32_t agent, uint32_t change)
{
    if (lab_record_wants(run))
        add(run, LAB_NO_KEY, "agent %" PRIu32 " takes settings %" PRIu32, agent, change);
}

void lab_record_fault(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns)
{
    if (lab_record_wants(run))
        add(run, LAB_NO_KEY, "fault %s begins, target %" PRIu32 " lasts %" PRId64 " by %" PRId64,
            lab_fault_kind_name(fault->kind), fault->target, lasts_ns, fault->by_ns);
}

void lab_record_fault_end(struct lab_cluster_run *run, uint32_t place, const struct lab_active_fault *fault)
{
    if (!lab_record_wants(run))
        return;
    if (fault->kind == LAB_FAULT_DELAY)
        add(run, LAB_NO_KEY, "fault ends, number %" PRIu32 " by %" PRId64, place, fault->by_ns);
    else
        add(run, LAB_NO_KEY, "fault ends, number %" PRIu32, place);
}

void lab_record_paxos_loss(struct lab_cluster_run *run, uint32_t key)
{
    if (lab_record_wants(run))
        add(run, key, "a replica forgets what Paxos knew");
}

void lab_record_stored(struct lab_cluster_run *run, uint32_t key, int64_t bucket, uint64_t row,
                       int64_t time_ns, int64_t order, uint32_t replica)
{
    if (lab_record_wants(run))
        add(run, key,
            "row %" PRIu64 " is stored in bucket %" PRId64 " time %" PRId64 " id %" PRId64
            " replica %" PRIu32,
            row, bucket, time_ns, order, replica);
}

void lab_record_state(struct lab_cluster_run *run, uint32_t key)
{
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
    if (!lab_record_wants(run))
        return;
    if (!cass_peek_merged(run->cluster, lab_state_register(key), columns, &mask))
        mask = 0;
    if (mask == 0)
        add(run, key, "no state is stored");
    else
        add(run, key, "state is stored, columns %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, mask,
            columns[0], columns[1], columns[2], columns[3]);
}

void lab_record_addition(struct lab_cluster_run *run, uint64_t counter, uint64_t row, int64_t delta)
{
    uint32_t key;
    int64_t bucket;
    if (!lab_record_wants(run))
        return;
    lab_counter_owner(run, counter, &key, &bucket);
    add(run, key, "row %" PRIu64 " is counted in bucket %" PRId64 " amount %" PRId64, row, bucket, delta);
}
