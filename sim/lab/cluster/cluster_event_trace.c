/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event trace. In: the events of a run. Kept: nothing. Out: sentences, or structs with them, for a
 * listener that asked for it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "cluster_run.h"
#include "events.h"
#include "kernel/time.h"

#define TEXT_SIZE 256 /* bytes of the columns of a row as text */

static const char *const column_names[BK_COLUMNS] = {"bucket", "counter", "last_change", "next_change"};
static const char *const guarded_names[BK_COLUMNS] = {"bucket", "before", "start", "until"};
/* The columns of strategies that count rows: how many were counted, and the place of the last one. */
static const char *const sum_names[BK_COLUMNS] = {"bucket", "counted", "last_time", "last_id"};
/* The columns of strategies that number rows: how many numbers were given, and the first number of the newest
 * bucket. */
static const char *const number_names[BK_COLUMNS] = {"bucket", "counter", "first", "next_change"};
static const char *const lock_names[] = {"owner", "until"};

struct lab_told {
    enum lab_event_kind kind;
    uint32_t key, agent, node, operation;
    enum lab_event_phase phase;
};
/* An instant event of an agent, or of LAB_EVENT_NOBODY. */
#define LAB_TOLD(kind, key, agent)                                                                           \
    ((struct lab_told){LAB_EVENT_OF_##kind, key, agent, LAB_EVENT_NOBODY, 0, LAB_EVENT_MOMENT})

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

static void add(const struct lab_cluster_run *run, struct lab_told told, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(const struct lab_cluster_run *run, struct lab_told told, const char *format, ...)
{
    const struct lab_event_trace *trace = run->context->event_trace;
    int64_t since_ns = sim_queue_now(&run->queue) - run->start_ns;
    bool is_of_key = run->traced_key == LAB_NO_KEY || told.key == LAB_NO_KEY || told.key == run->traced_key;
    if (!is_of_key || !is_asked_for(trace, &told, since_ns))
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

static uint32_t number_of(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    return (uint32_t)(event->operation - run->agents[event->agent].operations);
}

/* An event that begins or ends something that has a span. */
static struct lab_told span_of(const struct lab_cluster_run *run, const struct cluster_event *event,
                               enum lab_event_kind kind, enum lab_event_phase phase)
{
    return (struct lab_told){kind, event->key, event->agent, LAB_EVENT_NOBODY, number_of(run, event), phase};
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
    for (unsigned i = 0; i < (is_lock ? 2u : (unsigned)BK_COLUMNS); i++) {
        if ((mask >> i & 1) == 0)
            continue;
        bool is_time = is_lock      ? i == BK_LOCK_UNTIL
                       : is_guarded ? i != BK_GUARDED_BUCKET
                       : is_sum     ? i == BK_SUM_TIME
                       : is_number  ? false
                                    : i == BK_COLUMN_LAST_CHANGE || i == BK_COLUMN_NEXT_CHANGE;
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

static void tell_action(const struct lab_cluster_run *run, uint32_t agent, const struct bk_action *action)
{
    const struct lab_told told = told_of(&run->agents[agent].operations[action->operation], agent, action);
    const char *again = action->is_retry ? ", again" : "";
    char columns[TEXT_SIZE], expected[TEXT_SIZE];
    const bool is_lock = action->kind == BK_ACT_CAS_LOCK;
    columns_text(run, is_lock, action->columns, action->mask, 0, columns);
    columns_text(run, is_lock, action->expected, action->if_mask, action->if_null_mask, expected);
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        add(run, told, "agent %u puts row %" PRIu64 " into bucket %" PRId64 "%s", agent, action->row.sequence,
            action->bucket, again);
        break;
    case BK_ACT_READ_STATE:
        add(run, told, "agent %u reads the state%s%s", agent, action->serial ? " at SERIAL" : "", again);
        break;
    case BK_ACT_WRITE_STATE:
        add(run, told, "agent %u writes %s%s", agent, columns, again);
        break;
    case BK_ACT_CAS_STATE:
        add(run, told, "agent %u sets %s if %s%s", agent, columns,
            action->if_mask == 0 ? "there is no state" : expected, again);
        break;
    case BK_ACT_CAS_LOCK:
        if (action->columns[BK_LOCK_OWNER] == 0)
            add(run, told, "agent %u frees the lock if %s%s", agent, expected, again);
        else
            add(run, told, "agent %u takes the lock if %s: %s%s", agent,
                action->if_mask == 0 ? "there is none" : expected, columns, again);
        break;
    case BK_ACT_ADD_COUNTER:
        add(run, told, "agent %u adds %" PRId64 " to the counter%s", agent, action->amount, again);
        break;
    case BK_ACT_READ_COUNTER:
        add(run, told, "agent %u reads the counter%s", agent, again);
        break;
    case BK_ACT_READ_START:
        add(run, told, "agent %u reads the start of bucket %" PRId64 "%s", agent, action->bucket, again);
        break;
    case BK_ACT_WRITE_START:
        add(run, told, "agent %u writes the start of bucket %" PRId64 "%s", agent, action->bucket, again);
        break;
    case BK_ACT_COUNT_ROWS:
        add(run, told, "agent %u counts the %s of bucket %" PRId64 "%s", agent,
            action->mask == 0 ? "rows" : "new rows", action->bucket, again);
        break;
    case BK_ACT_READ_ROWS:
        if (action->step.bucket_low == action->step.bucket_high)
            add(run, told, "agent %u asks bucket %" PRId64 " for %" PRIu64 " rows%s", agent,
                action->step.bucket_low, action->step.rows, again);
        else
            add(run, told, "agent %u asks buckets %" PRId64 " to %" PRId64 " for %" PRIu64 " rows%s", agent,
                action->step.bucket_low, action->step.bucket_high, action->step.rows, again);
        break;
    case BK_ACT_ACK:
        add(run, told, "agent %u acknowledges row %" PRIu64, agent, action->row.sequence);
        break;
    case BK_ACT_DONE:
        if (action->status != BK_OPERATION_OK)
            add(run, told, "agent %u gives up: %s", agent,
                action->status == BK_OPERATION_REFUSED ? "refused" : "outcome unknown");
        else if (action->fired && !action->counted)
            add(run, told, "agent %u gives up counting: the increment is lost, or unknown", agent);
        else
            add(run, told, "%s", "");
    }
}

static void tell_start(const struct lab_cluster_run *run, uint32_t agent, struct lab_told told,
                       const struct bk_outcome *outcome)
{
    if (outcome->mask == 0)
        add(run, told, "agent %u reads no start", agent);
    else
        add(run, told, "agent %u reads start = %.6f s", agent, lab_seconds(run, outcome->columns[0]));
}

static void tell_outcome(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    static const char *const kinds[] = {"nothing for certain", "applied", "not applied", "refused"};
    const struct lab_host_operation *operation = event->operation;
    const struct bk_outcome *outcome = &operation->outcome;
    const uint32_t agent = event->agent;
    struct lab_told told = span_of(run, event, LAB_EVENT_OF_REQUESTS, LAB_EVENT_ENDS);
    char columns[TEXT_SIZE] = "";
    bool is_read = operation->action == BK_ACT_READ_STATE;
    if (is_read || outcome->kind == BK_OUTCOME_NOT_APPLIED)
        columns_text(run, operation->action == BK_ACT_CAS_LOCK, outcome->columns, outcome->mask, 0, columns);
    if (operation->action == BK_ACT_READ_ROWS && outcome->kind == BK_OUTCOME_APPLIED)
        add(run, told, "agent %u finds %" PRIu64 " rows", agent, outcome->rows);
    else if (operation->action == BK_ACT_COUNT_ROWS && outcome->kind == BK_OUTCOME_APPLIED)
        add(run, told, "agent %u counts %" PRIu64, agent, outcome->rows);
    else if (operation->action == BK_ACT_READ_COUNTER && outcome->kind == BK_OUTCOME_APPLIED)
        add(run, told, "agent %u reads a count of %" PRId64, agent, outcome->counter);
    else if (operation->action == BK_ACT_READ_START && outcome->kind == BK_OUTCOME_APPLIED)
        tell_start(run, agent, told, outcome);
    else if (is_read && outcome->kind == BK_OUTCOME_APPLIED)
        add(run, told, "agent %u reads %s", agent, columns[0] == '\0' ? "no state" : columns);
    else
        add(run, told, "agent %u hears: %s%s%s", agent, kinds[outcome->kind],
            columns[0] == '\0' ? "" : ", since ", columns);
}

/* Writes a group as in the scenario. */
static void group_text(const struct lab_cluster_run *run, const struct lab_group *group, char *buffer,
                       size_t size)
{
    if (group->kind == LAB_GROUP_AGENTS)
        snprintf(buffer, size, "agents");
    else if (group->kind == LAB_GROUP_DATACENTER)
        snprintf(buffer, size, "%s", run->scenario->network.datacenters[group->index].name);
    else
        snprintf(buffer, size, "%s %u", group->kind == LAB_GROUP_AGENT ? "agent" : "node", group->index);
}

static void tell_fault(const struct lab_cluster_run *run, const struct lab_active_fault *fault,
                       enum lab_event_phase phase)
{
    const char *what = phase == LAB_EVENT_BEGINS ? "begins" : "ends";
    bool is_of_agent = lab_fault_is_of_agent(fault->kind);
    bool is_global = fault->kind == LAB_FAULT_LOST_MESSAGE || fault->kind == LAB_FAULT_DUPLICATE_MESSAGE ||
                     fault->kind == LAB_FAULT_DELAY || fault->kind == LAB_FAULT_LATE_MESSAGE;
    bool is_of_key = fault->kind == LAB_FAULT_STATE_LOST || fault->kind == LAB_FAULT_STATE_RESTORED;
    const char *name = lab_fault_kind_name(fault->kind);
    struct lab_told told = LAB_TOLD(FAULTS, is_of_key ? fault->target : LAB_NO_KEY, LAB_EVENT_NOBODY);
    char sides[2][64];
    told.phase = phase;
    told.agent = is_of_agent ? fault->target : LAB_EVENT_NOBODY;
    told.node = is_global || is_of_key || is_of_agent || fault->kind == LAB_FAULT_NETWORK_PARTITION
                    ? LAB_EVENT_NOBODY
                    : fault->target;
    if (fault->kind == LAB_FAULT_NETWORK_PARTITION) {
        for (int i = 0; i < 2; i++)
            group_text(run, &fault->between[i], sides[i], sizeof sides[i]);
        add(run, told, "fault: network partition between %s and %s %s", sides[0], sides[1], what);
    } else if (is_global || is_of_key) {
        add(run, told, "fault: %s %s", name, what);
    } else {
        add(run, told, "fault: %s at %s %u %s", name, is_of_agent ? "agent" : "node", fault->target, what);
    }
}

static const char *event_name(uint32_t kind)
{
    static const char *const names[] = {[LAB_EVENT_ARRIVAL] = "a row arrives",
                                        [LAB_EVENT_READ] = "a reader comes",
                                        [LAB_EVENT_TIMEOUT] = "a client gives up",
                                        [LAB_EVENT_TICK] = "an agent wakes",
                                        [LAB_EVENT_RESTART] = "an agent is back",
                                        [LAB_EVENT_FAULT] = "a fault begins",
                                        [LAB_EVENT_FAULT_END] = "a fault ends",
                                        [LAB_EVENT_DELETE] = "a row is deleted",
                                        [LAB_EVENT_DELETE_TIMEOUT] = "a client gives up a delete",
                                        [LAB_EVENT_TAKE] = "a client wants an identifier",
                                        [LAB_EVENT_IDS_END] = "the last moment",
                                        [LAB_EVENT_DEPLOY] = "an agent is given new settings",
                                        [LAB_EVENT_END] = "the last moment",
                                        [LAB_EVENT_KEEP] = "something is kept for a fault",
                                        [LAB_EVENT_TURN] = "the next row of a queue begins"};
    const char *name = kind < sizeof names / sizeof *names ? names[kind] : cass_event_name(kind);
    return name != NULL ? name : "unknown";
}

static void tell_row(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    bool is_told_to_fire = operation->fires && run->config.source == BK_SOURCE_EXTERNAL;
    add(run, span_of(run, event, LAB_EVENT_OF_ROWS, LAB_EVENT_BEGINS), "agent %u takes row %llu%s",
        event->agent, (unsigned long long)operation->row, is_told_to_fire ? ", which fires" : "");
}

static void tell_read(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    const struct lab_told told = span_of(run, event, LAB_EVENT_OF_READS, LAB_EVENT_BEGINS);
    if (event->operation->read == LAB_READ_LATEST)
        add(run, told, "agent %u reads the newest %llu rows", event->agent,
            (unsigned long long)event->query->rows);
    else if (event->operation->read == LAB_READ_RANGE)
        add(run, told, "agent %u reads the rows from %.6f s to before %.6f s", event->agent,
            lab_seconds(run, event->query->from_ns), lab_seconds(run, event->query->until_ns));
    else
        add(run, told, "agent %u reads all rows", event->agent);
}

/* Rows and reads that no agent takes, and clients that do not wait any longer. */
static void tell_refusal(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    const uint32_t agent = event->agent;
    if (event->kind == CLUSTER_GAVE_UP)
        add(run, LAB_TOLD(REQUESTS, event->key, agent), "agent %u gives up waiting", agent);
    else if (event->kind == CLUSTER_ID_REPLIED && !event->flag)
        add(run, LAB_TOLD(REQUESTS, LAB_NO_KEY, agent), "client %u gives up waiting", agent);
    else if (event->kind == CLUSTER_READ_REFUSED && event->flag)
        add(run, LAB_TOLD(READS, event->key, agent), "agent %u would have to walk too far, and does not read",
            agent);
    else if (event->kind == CLUSTER_ROW_REFUSED && agent == LAB_EVENT_NOBODY)
        add(run, LAB_TOLD(ROWS, event->key, agent), "no agent takes a row");
    else if (event->kind == CLUSTER_ROW_REFUSED)
        add(run, LAB_TOLD(ROWS, event->key, agent), "agent %u is busy and refuses a row", agent);
}

static void tell_agent(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    const uint32_t agent = event->agent;
    if (event->kind == CLUSTER_AGENT_DEPLOYED)
        add(run, LAB_TOLD(STATE, LAB_NO_KEY, agent), "agent %u is given new settings", agent);
    if (event->kind == CLUSTER_AGENT_STARTED && event->number > 0)
        add(run, LAB_TOLD(FAULTS, LAB_NO_KEY, agent), "agent %u is back", agent);
    if (event->kind == CLUSTER_AGENT_STARTED && event->flag)
        add(run, LAB_TOLD(FAULTS, LAB_NO_KEY, agent), "agent %u resumes from its checkpoint", agent);
}

static void tell_roll(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    const struct lab_told told = LAB_TOLD(STATE, event->key, LAB_EVENT_NOBODY);
    if (event->bucket < event->value)
        add(run, told, "the state goes back to bucket %" PRId64, event->bucket);
    else
        add(run, told, "the key rolls to bucket %" PRId64 "%s", event->bucket,
            event->time_ns > sim_queue_now(&run->queue) ? ", from its date on" : "");
}

static void tell_id_action(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    static const char *const texts[] = {
        "writes its column into the lock row", "reads the lock row",    "deletes columns of the lock row",
        "compares and sets the lock",          "reads the last number", "stores the last number",
        "compares and sets the last number",   "has a batch",           "has failed to lease",
    };
    const struct bk_idgen_action *action = event->id_action;
    struct lab_told told = LAB_TOLD(REQUESTS, LAB_NO_KEY, event->agent);
    if (action->kind != BK_IDGEN_READY && action->kind != BK_IDGEN_FAILED)
        told.phase = LAB_EVENT_BEGINS;
    add(run, told, "client %u %s of stripe %u%s", event->agent, texts[action->kind], action->stripe,
        action->is_retry ? ", again" : "");
}

static void tell_id_outcome(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    static const char *const texts[] = {"unknown", "done", "not applied", "refused"};
    const struct bk_idgen_outcome *outcome = event->id_outcome;
    enum bk_idgen_action_kind asked = (enum bk_idgen_action_kind)event->number;
    struct lab_told told = LAB_TOLD(REQUESTS, LAB_NO_KEY, event->agent);
    told.phase = LAB_EVENT_ENDS;
    if (outcome->kind == BK_IDGEN_APPLIED && asked == BK_IDGEN_READ_COLUMNS)
        add(run, told, "client %u finds %zu columns", event->agent, outcome->column_count);
    else if (outcome->kind == BK_IDGEN_APPLIED && asked == BK_IDGEN_READ_LAST)
        add(run, told, "client %u finds %lld", event->agent,
            outcome->found ? (long long)outcome->values[0] : 0);
    else
        add(run, told, "client %u: %s", event->agent, texts[outcome->kind]);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    switch (event->kind) {
    case CLUSTER_RUN_BEGINS:
        add(run, LAB_TOLD(RUN, LAB_NO_KEY, LAB_EVENT_NOBODY), "strategy %s begins", run->strategy->label);
        break;
    case CLUSTER_NUMBERED:
        add(run, LAB_TOLD(RUN, LAB_NO_KEY, LAB_EVENT_NOBODY), "event %llu: %s, for %u (%llx %llx)",
            (unsigned long long)event->number, event_name(event->sim->kind), event->sim->target,
            (unsigned long long)event->sim->a, (unsigned long long)event->sim->b);
        break;
    case CLUSTER_ROW_TAKEN:
        tell_row(run, event);
        break;
    case CLUSTER_READ_TAKEN:
        tell_read(run, event);
        break;
    case CLUSTER_ACTED:
        tell_action(run, event->agent, event->action);
        break;
    case CLUSTER_PUT_HEARD:
    case CLUSTER_HEARD:
        tell_outcome(run, event);
        break;
    case CLUSTER_LOST:
        add(run,
            span_of(run, event, event->operation->is_read ? LAB_EVENT_OF_READS : LAB_EVENT_OF_ROWS,
                    LAB_EVENT_ENDS),
            "%s", "");
        break;
    case CLUSTER_FAULT_BEGINS:
    case CLUSTER_FAULT_ENDS:
        tell_fault(run, event->fault,
                   event->kind == CLUSTER_FAULT_BEGINS ? LAB_EVENT_BEGINS : LAB_EVENT_ENDS);
        break;
    case CLUSTER_DELETE_SENT:
        add(run, LAB_TOLD(ROWS, event->key, event->agent), "agent %u deletes row %llu from bucket %lld",
            event->agent, (unsigned long long)event->item->row, (long long)event->item->bucket);
        break;
    case CLUSTER_STATE_CHANGED:
        if (event->bucket != event->value)
            tell_roll(run, event);
        break;
    case CLUSTER_VIOLATED:
        add(run, LAB_TOLD(VIOLATIONS, event->key, LAB_EVENT_NOBODY), "VIOLATION of %s: %s",
            lab_oracle_name((enum lab_oracle)event->number), event->text);
        break;
    case CLUSTER_ID_ACTED:
        tell_id_action(run, event);
        break;
    case CLUSTER_ID_HEARD:
        tell_id_outcome(run, event);
        break;
    case CLUSTER_AGENT_STARTED:
    case CLUSTER_AGENT_DEPLOYED:
        tell_agent(run, event);
        break;
    default:
        tell_refusal(run, event);
    }
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    const struct lab_event_trace *trace = run->context->event_trace;
    return trace == NULL || trace->is_record || (trace->line == NULL && trace->event == NULL)
               ? 0
               : CLUSTER_WANTS_ALL;
}

const struct cluster_observer cluster_event_trace = {.name = "event trace", .wants = wants, .on_event = hear};
