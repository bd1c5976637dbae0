/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event trace: passes each requested event of a cluster run to the observer. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cluster_event_trace.h"
#include "cluster_run.h"
#include "kernel/time.h"

#define TEXT_SIZE 256 /* bytes of the columns of a row as text */

static const char *const column_names[BK_COLUMN_COUNT] = {"bucket", "counter", "last_change", "next_change"};
static const char *const guarded_names[BK_COLUMN_COUNT] = {"bucket", "before", "start", "until"};
/* The columns of strategies that count rows: how many were counted, and the place of the last one. */
static const char *const sum_names[BK_COLUMN_COUNT] = {"bucket", "counted", "last_time", "last_id"};
/* The columns of strategies that number rows: how many numbers were given, and the first number of the newest
 * bucket. */
static const char *const number_names[BK_COLUMN_COUNT] = {"bucket", "counter", "first", "next_change"};
static const char *const lock_names[] = {"owner", "until"};

bool lab_event_trace_is_asked(const struct lab_cluster_run *run, uint32_t key)
{
    const struct lab_event_trace *trace = run->context->event_trace;
    if ((trace->line == NULL && trace->event == NULL) || trace->is_record)
        return false;
    return run->traced_key == LAB_NO_KEY || key == LAB_NO_KEY || key == run->traced_key;
}

static bool is_asked_for(const struct lab_event_trace *trace, const struct lab_told *told, int64_t since_ns)
{
    if (told->kind == LAB_EVENT_OF_RUN)
        return true;
    bool is_of_kind = trace->kinds == 0 || (trace->kinds >> told->kind & 1) != 0;
    bool is_of_agent = !trace->is_of_agent || told->agent == LAB_EVENT_NOBODY || told->agent == trace->agent;
    return is_of_kind && is_of_agent && since_ns >= trace->from_ns &&
           (trace->until_ns == 0 || since_ns < trace->until_ns);
}

static void tell_line(const struct lab_event_trace *trace, const struct lab_told_event *event)
{
    char line[1024];
    if (event->text[0] == '\0')
        return;
    snprintf(line, sizeof line, "%6" PRId64 ".%09" PRId64 " s  %s%s%s", event->since_ns / SIM_SECOND,
             event->since_ns % SIM_SECOND, event->key, event->key[0] == '\0' ? "" : ": ", event->text);
    trace->line(trace->context, line);
}

void lab_event_trace_add(struct lab_cluster_run *run, struct lab_told told, const char *format, ...)
{
    const struct lab_event_trace *trace = run->context->event_trace;
    int64_t since_ns = sim_queue_now(&run->queue) - run->start_ns;
    if (!lab_event_trace_wants(run, told.key) || !is_asked_for(trace, &told, since_ns))
        return;
    char text[640], name[128] = "";
    if (told.key != LAB_NO_KEY)
        lab_rows_key_name(run->rows, told.key, name, sizeof name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct lab_told_event event = {since_ns,  told.kind,      told.phase, told.agent,
                                         told.node, told.operation, name,       text};
    if (trace->event != NULL)
        trace->event(trace->context, &event);
    else
        tell_line(trace, &event);
}

void lab_event_trace_lost(struct lab_cluster_run *run, uint32_t agent, uint32_t number)
{
    const struct lab_host_operation *operation = &run->agents[agent].operations[number];
    lab_event_trace_add(run,
                        (struct lab_told){operation->is_read ? LAB_EVENT_OF_READS : LAB_EVENT_OF_ROWS,
                                          operation->key, agent, LAB_EVENT_NOBODY, number, LAB_EVENT_ENDS},
                        "%s", "");
}

/* Writes "bucket = 3, next_change = 12.5 s" or "owner = agent 4". Times are since the start of the run,
 * agents are numbered as elsewhere, and 0 means none. A column of null_mask is null. */
static void columns_text(const struct lab_cluster_run *run, bool is_lock, const int64_t *columns,
                         uint32_t mask, uint32_t null_mask, char buffer[TEXT_SIZE])
{
    const size_t size = TEXT_SIZE;
    size_t used = 0;
    bool is_guarded = !is_lock && run->config.coordination == BK_GUARDED;
    bool is_sum = !is_lock && run->config.source == BK_SOURCE_INCREMENTAL;
    bool is_number = !is_lock && lab_takes_numbers(run);
    buffer[0] = '\0';
    for (unsigned i = 0; i < (is_lock ? 2u : (unsigned)BK_COLUMN_COUNT); i++) {
        if ((mask >> i & 1) == 0)
            continue;
        bool is_time = is_lock      ? i == BK_LOCK_UNTIL
                       : is_guarded ? i != BK_GUARDED_BUCKET
                       : is_sum     ? i == BK_SUM_TIME
                       : is_number  ? false
                                    : i == BK_LAST_CHANGE || i == BK_NEXT_CHANGE;
        const char *const *names = is_lock      ? lock_names
                                   : is_guarded ? guarded_names
                                   : is_sum     ? sum_names
                                   : is_number  ? number_names
                                                : column_names;
        const char *name = names[i], *comma = used > 0 ? ", " : "";
        int length;
        if (null_mask >> i & 1)
            length = snprintf(buffer + used, size - used, "%s%s = null", comma, name);
        else if (is_guarded && is_time && columns[i] == INT64_MIN)
            length = snprintf(buffer + used, size - used, "%s%s = the beginning", comma, name);
        else if (is_sum && i >= BK_SUM_TIME && columns[i] == INT64_MIN)
            length = snprintf(buffer + used, size - used, "%s%s = none", comma, name);
        else if (is_time && (is_guarded || is_sum || columns[i] != 0))
            length = snprintf(buffer + used, size - used, "%s%s = %.6f s", comma, name,
                              lab_seconds(run, columns[i]));
        else if (is_lock && i == BK_LOCK_OWNER)
            length = columns[i] == 0 ? snprintf(buffer + used, size - used, "%s%s = nobody", comma, name)
                                     : snprintf(buffer + used, size - used, "%s%s = agent %" PRId64, comma,
                                                name, columns[i] - 1);
        else
            length = snprintf(buffer + used, size - used, "%s%s = %" PRId64, comma, name, columns[i]);
        if (length < 0 || (size_t)length >= size - used)
            return;
        used += (size_t)length;
    }
}

/* Describes an action. It is the beginning of a request unless the agent only acknowledges a row or ends an
 * operation. */
static struct lab_told told_of(const struct lab_host_operation *operation, uint32_t agent,
                               const struct bk_action *action)
{
    struct lab_told told = LAB_TOLD(REQUESTS, operation->key, agent);
    told.operation = action->operation;
    told.phase = LAB_EVENT_BEGINS;
    if (action->kind == BK_ACT_ACK || action->kind == BK_ACT_DONE) {
        told.kind = operation->is_read ? LAB_EVENT_OF_READS : LAB_EVENT_OF_ROWS;
        told.phase = action->kind == BK_ACT_DONE ? LAB_EVENT_ENDS : LAB_EVENT_MOMENT;
    }
    return told;
}

void lab_event_trace_action(struct lab_cluster_run *run, uint32_t agent, const struct bk_action *action)
{
    const struct lab_told told = told_of(&run->agents[agent].operations[action->operation], agent, action);
    const char *again = action->is_retry ? ", again" : "";
    char columns[TEXT_SIZE], expected[TEXT_SIZE];
    const bool is_lock = action->kind == BK_ACT_CAS_LOCK;
    columns_text(run, is_lock, action->columns, action->mask, 0, columns);
    columns_text(run, is_lock, action->expected, action->if_mask, action->if_null_mask, expected);
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        lab_event_trace_add(run, told, "agent %u puts row %" PRIu64 " into bucket %" PRId64 "%s", agent,
                            action->row.sequence, action->bucket, again);
        break;
    case BK_ACT_READ_STATE:
        lab_event_trace_add(run, told, "agent %u reads the state%s%s", agent,
                            action->serial ? " at SERIAL" : "", again);
        break;
    case BK_ACT_WRITE_STATE:
        lab_event_trace_add(run, told, "agent %u writes %s%s", agent, columns, again);
        break;
    case BK_ACT_CAS_STATE:
        lab_event_trace_add(run, told, "agent %u sets %s if %s%s", agent, columns,
                            action->if_mask == 0 ? "there is no state" : expected, again);
        break;
    case BK_ACT_CAS_LOCK:
        if (action->columns[BK_LOCK_OWNER] == 0)
            lab_event_trace_add(run, told, "agent %u frees the lock if %s%s", agent, expected, again);
        else
            lab_event_trace_add(run, told, "agent %u takes the lock if %s: %s%s", agent,
                                action->if_mask == 0 ? "there is none" : expected, columns, again);
        break;
    case BK_ACT_ADD_COUNTER:
        lab_event_trace_add(run, told, "agent %u adds %" PRId64 " to the counter%s", agent, action->amount,
                            again);
        break;
    case BK_ACT_READ_COUNTER:
        lab_event_trace_add(run, told, "agent %u reads the counter%s", agent, again);
        break;
    case BK_ACT_READ_START:
        lab_event_trace_add(run, told, "agent %u reads the start of bucket %" PRId64 "%s", agent,
                            action->bucket, again);
        break;
    case BK_ACT_WRITE_START:
        lab_event_trace_add(run, told, "agent %u writes the start of bucket %" PRId64 "%s", agent,
                            action->bucket, again);
        break;
    case BK_ACT_COUNT_ROWS:
        lab_event_trace_add(run, told, "agent %u counts the %s of bucket %" PRId64 "%s", agent,
                            action->mask == 0 ? "rows" : "new rows", action->bucket, again);
        break;
    case BK_ACT_READ_ROWS:
        if (action->step.bucket_low == action->step.bucket_high)
            lab_event_trace_add(run, told, "agent %u asks bucket %" PRId64 " for %" PRIu64 " rows%s", agent,
                                action->step.bucket_low, action->step.rows, again);
        else
            lab_event_trace_add(
                run, told, "agent %u asks buckets %" PRId64 " to %" PRId64 " for %" PRIu64 " rows%s", agent,
                action->step.bucket_low, action->step.bucket_high, action->step.rows, again);
        break;
    case BK_ACT_ACK:
        lab_event_trace_add(run, told, "agent %u acknowledges row %" PRIu64, agent, action->row.sequence);
        break;
    case BK_ACT_DONE:
        if (action->status != BK_OPERATION_OK)
            lab_event_trace_add(run, told, "agent %u gives up: %s", agent,
                                action->status == BK_OPERATION_REFUSED ? "refused" : "outcome unknown");
        else if (action->fired && !action->counted)
            lab_event_trace_add(run, told, "agent %u gives up counting: the increment is lost, or unknown",
                                agent);
        else
            lab_event_trace_add(run, told, "%s", "");
    }
}

static void tell_start(struct lab_cluster_run *run, uint32_t agent, struct lab_told told,
                       const struct bk_outcome *outcome)
{
    if (outcome->mask == 0)
        lab_event_trace_add(run, told, "agent %u reads no start", agent);
    else
        lab_event_trace_add(run, told, "agent %u reads start = %.6f s", agent,
                            lab_seconds(run, outcome->columns[0]));
}

void lab_event_trace_outcome(struct lab_cluster_run *run, uint32_t agent,
                             const struct lab_host_operation *operation, uint32_t number,
                             const struct bk_outcome *outcome)
{
    static const char *const kinds[] = {"applied", "not applied", "refused", "nothing for certain"};
    struct lab_told told = LAB_TOLD(REQUESTS, operation->key, agent);
    told.operation = number;
    told.phase = LAB_EVENT_ENDS;
    char columns[TEXT_SIZE] = "";
    bool is_read = operation->action == BK_ACT_READ_STATE;
    if (is_read || outcome->kind == BK_OUTCOME_NOT_APPLIED)
        columns_text(run, operation->action == BK_ACT_CAS_LOCK, outcome->columns, outcome->mask, 0, columns);
    if (operation->action == BK_ACT_READ_ROWS && outcome->kind == BK_OUTCOME_APPLIED)
        lab_event_trace_add(run, told, "agent %u finds %" PRIu64 " rows", agent, outcome->rows);
    else if (operation->action == BK_ACT_COUNT_ROWS && outcome->kind == BK_OUTCOME_APPLIED)
        lab_event_trace_add(run, told, "agent %u counts %" PRIu64, agent, outcome->rows);
    else if (operation->action == BK_ACT_READ_COUNTER && outcome->kind == BK_OUTCOME_APPLIED)
        lab_event_trace_add(run, told, "agent %u reads a count of %" PRId64, agent, outcome->counter);
    else if (operation->action == BK_ACT_READ_START && outcome->kind == BK_OUTCOME_APPLIED)
        tell_start(run, agent, told, outcome);
    else if (is_read && outcome->kind == BK_OUTCOME_APPLIED)
        lab_event_trace_add(run, told, "agent %u reads %s", agent, columns[0] == '\0' ? "no state" : columns);
    else
        lab_event_trace_add(run, told, "agent %u hears: %s%s%s", agent, kinds[outcome->kind],
                            columns[0] == '\0' ? "" : ", since ", columns);
}
