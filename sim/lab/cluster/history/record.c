/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a history: a line for each input of an agent, for each fault, and for each change of what is stored.
 * The actions of agents follow from these. */
#include "cluster_view.h"
#include "history.h"
#include "observers.h"

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

static void begin_run(const struct lab_cluster_run *run)
{
    add(run, LAB_NO_KEY, "strategy %s begins at %" PRId64, run->strategy->label, run->start_ns);
    for (uint32_t i = 0; i < run->agent_count; i++)
        add(run, LAB_NO_KEY, "agent %" PRIu32 " begins, offset %" PRId64 " drift %" PRId64, i,
            run->agents[i].offset_ns, run->agents[i].drift_ppb);
}

static void add_row(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    const struct bk_row *row = event->row;
    char who[32] = "nobody";
    if (event->agent != LAB_EVENT_NOBODY)
        snprintf(who, sizeof who, "agent %" PRIu32, event->agent);
    add(run, event->key, "%s takes row %" PRIu64 " time %" PRId64 " id %" PRId64 " bytes %" PRIu64, who,
        row->sequence, row->time_ns, (int64_t)row->id, row->bytes);
}

static void add_read(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    enum lab_read_kind kind =
        event->operation != NULL ? event->operation->read : (enum lab_read_kind)event->number;
    add(run, event->key, "agent %" PRIu32 " reads %s birth %" PRId64 " newest %" PRIu64, event->agent,
        lab_read_kind_name(kind), event->query->birth_ns, (uint64_t)event->value);
}

static void add_outcome(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    const uint32_t agent = event->agent, number = (uint32_t)(operation - run->agents[agent].operations);
    const struct bk_outcome *outcome = &operation->outcome;
    char text[LINE_SIZE];
    int used = 0;
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

static void add_fault_end(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    if (event->fault->kind == LAB_FAULT_DELAY)
        add(run, LAB_NO_KEY, "fault ends, number %" PRIu64 " by %" PRId64, event->number,
            event->fault->by_ns);
    else
        add(run, LAB_NO_KEY, "fault ends, number %" PRIu64, event->number);
}

static void add_state(const struct lab_cluster_run *run, uint32_t key)
{
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
    if (!cass_peek_merged(run->cluster, lab_state_register(key), columns, &mask))
        mask = 0;
    if (mask == 0)
        add(run, key, "no state is stored");
    else
        add(run, key, "state is stored, columns %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, mask,
            columns[0], columns[1], columns[2], columns[3]);
}

static void add_addition(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    uint32_t key;
    int64_t bucket;
    lab_counter_owner(run, event->bytes, &key, &bucket);
    add(run, key, "row %" PRIu64 " is counted in bucket %" PRId64 " amount %" PRId64, event->number, bucket,
        event->value);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    switch (event->kind) {
    case CLUSTER_RUN_BEGINS:
        begin_run(run);
        break;
    case CLUSTER_RUN_ENDS:
        add(run, LAB_NO_KEY, "strategy %s ends%s", run->strategy->label,
            sim_queue_count(&run->queue) == 0 ? ", and nothing more would happen" : "");
        break;
    case CLUSTER_ROW_TAKEN:
    case CLUSTER_ROW_REFUSED:
        add_row(run, event);
        break;
    case CLUSTER_READ_TAKEN:
    case CLUSTER_READ_REFUSED:
        add_read(run, event);
        break;
    case CLUSTER_PUT_HEARD:
    case CLUSTER_HEARD:
        add_outcome(run, event);
        break;
    case CLUSTER_AGENT_WAKES:
        add(run, LAB_NO_KEY, "agent %" PRIu32 " wakes", event->agent);
        break;
    case CLUSTER_AGENT_STARTED:
        if (event->number > 0)
            add(run, LAB_NO_KEY, "agent %" PRIu32 " is back", event->agent);
        break;
    case CLUSTER_AGENT_DEPLOYED:
        add(run, LAB_NO_KEY, "agent %" PRIu32 " takes settings %" PRIu64, event->agent, event->number);
        break;
    case CLUSTER_FAULT_BEGINS:
        add(run, LAB_NO_KEY, "fault %s begins, target %" PRIu32 " lasts %" PRId64 " by %" PRId64,
            lab_fault_kind_name(event->fault->kind), event->fault->target, event->time_ns,
            event->fault->by_ns);
        break;
    case CLUSTER_FAULT_ENDS:
        add_fault_end(run, event);
        break;
    case CLUSTER_PAXOS_LOST:
        add(run, event->key, "a replica forgets what Paxos knew");
        break;
    case CLUSTER_ROW_STORED:
    case CLUSTER_ROW_COPIED:
        add(run, event->key,
            "row %" PRIu64 " is stored in bucket %" PRId64 " time %" PRId64 " id %" PRId64
            " replica %" PRIu32,
            event->number, event->bucket, event->time_ns, event->value, event->replica);
        break;
    case CLUSTER_STATE_WRITTEN:
        add_state(run, event->key);
        break;
    case CLUSTER_COUNTER_ADDED:
        add_addition(run, event);
        break;
    default:
        break;
    }
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    const struct lab_event_trace *trace = run->context->event_trace;
    return trace != NULL && trace->is_record && run->replay == NULL ? CLUSTER_WANTS_ALL : 0;
}

const struct cluster_observer cluster_history = {.name = "history", .wants = wants, .on_event = hear};
