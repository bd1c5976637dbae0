/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories. In: the events of a run, or the lines of a history. Kept: nothing but the run. Out: a line for
 * each input of an agent, for each fault, and for each change of what is stored, from which the actions of
 * agents follow; or the run once more. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_view.h"
#include "events.h"
#include "history.h"
#include "kernel/time.h"
#include "lab/cluster_engine.h"
#include "oracles.h"

#define LINE_SIZE 512

/* In the order of enum bk_action_kind, and of enum bk_outcome_kind. */
static const char *const action_names[] = {"put_row",     "read_state",   "write_state", "cas_state",
                                           "add_counter", "read_counter", "read_start",  "write_start",
                                           "cas_lock",    "count_rows",   "read_rows"};
static const char *const outcome_names[] = {"unknown", "applied", "not_applied", "refused"};

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

void lab_heard_text(const struct lab_heard *heard, char *text, size_t size)
{
    const struct bk_outcome *outcome = heard->outcome;
    size_t used = 0;
#define PUT(...) used += (size_t)snprintf(text + used, size - used, __VA_ARGS__)
    PUT("agent %" PRIu32 " hears %" PRIu32 " %s %s", heard->agent, heard->operation,
        action_names[heard->action], outcome_names[outcome->kind]);
    if (heard->action == BK_ACT_PUT_ROW)
        PUT(" bucket %" PRId64, heard->bucket);
    if (outcome->mask != 0 && !lab_has_failed(outcome->kind))
        PUT(" columns %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, outcome->mask, outcome->columns[0],
            outcome->columns[1], outcome->columns[2], outcome->columns[3]);
    if (outcome->counter != 0)
        PUT(" counter %" PRId64, outcome->counter);
    if (outcome->rows != 0)
        PUT(" rows %" PRIu64, outcome->rows);
    if (heard->action == BK_ACT_READ_ROWS)
        PUT(" older %d empty %" PRIu64 " filled %" PRIu64 " scanned %" PRIu64, outcome->saw_older,
            outcome->empty, heard->filled, heard->scanned);
#undef PUT
}

static void add_outcome(const struct lab_cluster_run *run, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    const uint32_t number = (uint32_t)(operation - run->agents[event->agent].operations);
    char text[LINE_SIZE];
    lab_heard_text(&(const struct lab_heard){event->agent, number, operation->action, operation->bucket,
                                             &operation->outcome, operation->step_filled,
                                             operation->step_scanned},
                   text, sizeof text);
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

static void record(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
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

const struct cluster_observer cluster_history = {.name = "history", .wants = wants, .on_event = record};

/* --- Repeats a run from its history: its agents get the recorded inputs and therefore act as they did, and
 * the recorded changes of stored data are applied. There are no random draws, and no cluster answers. For the
 * oracles there is no difference to a run.
 *
 * A history that was written by processes may lack an effect, if its author was killed right after it or
 * never got the outcome. The effect on a state or a counter is found when the next agent reads it; that on
 * rows, in the tables that are read back (judge.c, judge.c). */

struct event {
    struct lab_cluster_run *run;
    const struct lab_history_line *line;
    const char *at;
    struct sim_error *error;
};

static bool fail(const struct event *event)
{
    return lab_history_fail(event->line, event->error, "'%s' is not an event of a history (docs/live.md)",
                            event->line->text);
}

static bool word(struct event *event, const char *text)
{
    return lab_history_word(&event->at, text);
}

static bool number(struct event *event, const char *name, int64_t *out)
{
    return word(event, name) && lab_history_number(&event->at, out);
}

/* Parses a number from 0 to count - 1. */
static bool index_of(struct event *event, const char *name, uint32_t count, uint32_t *out)
{
    int64_t value;
    if (!number(event, name, &value))
        return fail(event);
    *out = (uint32_t)value;
    return (value >= 0 && value < count) ||
           lab_history_fail(event->line, event->error, "%s %" PRId64 ": the scenario has %" PRIu32, name,
                            value, count);
}

static bool ends(const struct event *event)
{
    return *event->at == '\0' || fail(event);
}

static bool name_of(struct event *event, const char *const *names, uint32_t count, uint32_t *out)
{
    for (*out = 0; *out < count; ++*out) {
        if (word(event, names[*out]))
            return true;
    }
    return false;
}

/* Parses the rest of "columns MASK C0 C1 C2 C3" after "columns". */
static bool read_columns(struct event *event, uint32_t *mask, int64_t *columns)
{
    int64_t value;
    if (!lab_history_number(&event->at, &value) || value < 0 || value >= 1 << BK_COLUMNS)
        return false;
    *mask = (uint32_t)value;
    for (int i = 0; i < BK_COLUMNS; i++) {
        if (!lab_history_number(&event->at, &columns[i]))
            return false;
    }
    return true;
}

static bool is_up(const struct event *event, uint32_t agent)
{
    return event->run->agents[agent].is_up ||
           lab_history_fail(event->line, event->error,
                            "agent %" PRIu32 " is down; 'agent %" PRIu32 " is back' is missing", agent,
                            agent);
}

/* --- The inputs of agents. */

/* Handles the arrival of a row. Rows that no agent accepted leave gaps in the row numbers. */
static void arrive(struct lab_cluster_run *run, uint32_t key_index, uint64_t row, uint64_t bytes)
{
    struct lab_cluster_key *key = &run->keys[key_index];
    run->keys_met += key->rows == 0;
    for (; key->rows <= row; key->rows++)
        cluster_emit(run, ROW_ARRIVES, .agent = LAB_EVENT_NOBODY, .key = key_index, .number = key->rows);
    run->tally.rows++;
    lab_bytes_add(&key->bytes, bytes);
}

#define ROWS_AHEAD (INT64_C(1) << 24)

static bool take_row(struct event *event, uint32_t agent)
{
    struct lab_cluster_run *run = event->run;
    uint32_t key = event->line->key;
    int64_t row, time_ns, id, bytes;
    if (!lab_history_number(&event->at, &row) || !number(event, "time", &time_ns) ||
        !number(event, "id", &id) || !number(event, "bytes", &bytes) || row < 0 || bytes < 0)
        return fail(event);
    if ((uint64_t)row > run->keys[key].rows + ROWS_AHEAD)
        return lab_history_fail(event->line, event->error,
                                "row %" PRId64 " comes after row %" PRId64 "; number the rows of a key", row,
                                (int64_t)run->keys[key].rows - 1);
    arrive(run, key, (uint64_t)row, (uint64_t)bytes);
    lab_agent_take(run, agent, key, &(struct bk_row){time_ns, (uint64_t)row, (uint64_t)id, (uint64_t)bytes});
    return ends(event);
}

static bool take_read(struct event *event, uint32_t agent)
{
    const char *names[LAB_READ_KINDS];
    uint32_t kind;
    int64_t birth_ns, newest;
    for (int i = 0; i < LAB_READ_KINDS; i++)
        names[i] = lab_read_kind_name((enum lab_read_kind)i);
    if (!name_of(event, names, LAB_READ_KINDS, &kind) || !number(event, "birth", &birth_ns) ||
        !number(event, "newest", &newest))
        return fail(event);
    if (event->run->scenario->reads.kinds[kind].rows == 0 && kind == LAB_READ_LATEST)
        return lab_history_fail(event->line, event->error, "the scenario has no reads of this kind");
    lab_read_take(event->run, agent, event->line->key, (enum lab_read_kind)kind, birth_ns, (uint64_t)newest);
    return ends(event);
}

/* Applies a state that an agent read, if it is later than the one known to be stored. */
static void learn_state(struct lab_cluster_run *run, uint32_t key, const struct lab_host_operation *operation)
{
    const struct bk_outcome *outcome = &operation->outcome;
    const int64_t *known = run->keys[key].state, *told = outcome->columns;
    bool tells = (operation->action == BK_ACT_READ_STATE && outcome->kind == BK_OUTCOME_APPLIED) ||
                 (operation->action == BK_ACT_CAS_STATE && outcome->kind == BK_OUTCOME_NOT_APPLIED);
    bool is_later =
        told[0] > known[0] ||
        (told[0] == known[0] && (told[2] > known[2] || (told[2] == known[2] && told[3] > known[3])));
    int64_t columns[CASS_COLUMNS] = {told[0], told[1], told[2], told[3]};
    if (run->replay->is_observed && tells && outcome->mask != 0 && is_later)
        cass_record_columns(run->cluster, lab_state_register(key), columns, outcome->mask);
}

/* Applies the value of a counter that an agent read, if it exceeds the known additions. */
static void learn_counter(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    if (run->replay->is_observed && operation->action == BK_ACT_READ_COUNTER &&
        operation->outcome.kind == BK_OUTCOME_APPLIED)
        lab_untold_increments(run, lab_counter_key(run, operation->key, operation->step_low),
                              operation->outcome.counter);
}

static bool read_outcome(struct event *event, struct lab_host_operation *operation)
{
    struct bk_outcome *outcome = &operation->outcome;
    int64_t rows = 0, older = 0, empty = 0, filled = 0, scanned = 0;
    struct {
        const char *name;
        int64_t *place;
    } const figures[] = {{"counter", &outcome->counter},
                         {"rows", &rows},
                         {"older", &older},
                         {"empty", &empty},
                         {"filled", &filled},
                         {"scanned", &scanned}};
    const size_t count = sizeof figures / sizeof *figures;
    while (*event->at != '\0') {
        size_t i = 0;
        if (word(event, "columns")) {
            if (!read_columns(event, &outcome->mask, outcome->columns))
                return fail(event);
            continue;
        }
        while (i < count && !number(event, figures[i].name, figures[i].place))
            i++;
        if (i == count)
            return fail(event);
    }
    outcome->rows = operation->rows = (uint64_t)rows;
    outcome->saw_older = older != 0;
    outcome->empty = (uint64_t)empty;
    operation->step_filled = (uint64_t)filled;
    operation->step_scanned = (uint64_t)scanned;
    return true;
}

/* Returns whether the agent, with its inputs so far, has made the request of the event. */
static bool is_asked(const struct event *event, const struct lab_host_operation *operation, uint32_t action,
                     int64_t bucket)
{
    bool is_open = operation->is_active && operation->outstanding > 0;
    bool is_same = is_open && operation->action == action && operation->key == event->line->key;
    if (is_same && (action != BK_ACT_PUT_ROW || operation->bucket == bucket))
        return true;
    if (is_same)
        return lab_history_fail(event->line, event->error,
                                "the row went to bucket %" PRId64
                                ", but by the answers that its agent got it belongs to bucket %" PRId64
                                "; the history is incomplete, or the scenario has other settings",
                                bucket, operation->bucket);
    return lab_history_fail(event->line, event->error,
                            "the outcome is of %s, but by the answers that its agent got it asked %s; the "
                            "history is incomplete, or the scenario has other settings",
                            action_names[action], is_open ? action_names[operation->action] : "nothing");
}

static bool hear(struct event *event, uint32_t agent)
{
    struct lab_cluster_run *run = event->run;
    int64_t operation_number, bucket = 0;
    uint32_t action, outcome;
    if (!lab_history_number(&event->at, &operation_number) || operation_number < 0 ||
        operation_number >= run->operation_count ||
        !name_of(event, action_names, sizeof action_names / sizeof *action_names, &action) ||
        !name_of(event, outcome_names, sizeof outcome_names / sizeof *outcome_names, &outcome))
        return fail(event);
    struct lab_host_operation *operation = &run->agents[agent].operations[operation_number];
    if (action == BK_ACT_PUT_ROW && !number(event, "bucket", &bucket))
        return fail(event);
    if (!is_asked(event, operation, action, bucket))
        return false;
    operation->outcome = (struct bk_outcome){.kind = (enum bk_outcome_kind)outcome};
    operation->step_filled = operation->step_scanned = 0;
    if (!read_outcome(event, operation))
        return false;
    operation->outstanding = 0;
    if (action == BK_ACT_PUT_ROW && outcome == BK_OUTCOME_APPLIED)
        cass_record_answer(run->cluster, operation->key, operation->bucket, operation->row);
    learn_state(run, operation->key, operation);
    learn_counter(run, operation);
    lab_agent_hear(run, agent, (uint32_t)operation_number);
    return true;
}

/* Handles ", offset N drift N". This may be a new process of an agent whose earlier one ended without a line
 * in the history. */
static bool begin_agent(struct event *event, uint32_t agent, bool is_back)
{
    struct lab_cluster_run *run = event->run;
    struct lab_host_agent *host = &run->agents[agent];
    int64_t offset_ns, drift_ppb;
    if (*event->at != '\0') {
        if (!number(event, "offset", &offset_ns) || !number(event, "drift", &drift_ppb))
            return fail(event);
        host->offset_ns = offset_ns;
        host->drift_ppb = drift_ppb;
    }
    if (!is_back)
        return ends(event);
    if (host->is_up)
        lab_agent_crash(run, agent, INT64_MAX, false);
    lab_agent_restart(run, agent);
    return ends(event);
}

static bool of_agent(struct event *event)
{
    struct lab_cluster_run *run = event->run;
    uint32_t agent = 0;
    int64_t change;
    if (!index_of(event, "agent", run->agent_count, &agent))
        return false;
    if (word(event, "begins,"))
        return begin_agent(event, agent, false);
    if (word(event, "is"))
        return (word(event, "back") || word(event, "back,")) ? begin_agent(event, agent, true) : fail(event);
    if (word(event, "takes") && word(event, "settings")) {
        if (!lab_history_number(&event->at, &change) || change < 0 ||
            change >= run->strategy->settings.change_count)
            return fail(event);
        lab_deploy(run, agent, (uint32_t)change);
        return ends(event);
    }
    if (!is_up(event, agent))
        return false;
    if (word(event, "wakes")) {
        run->agents[agent].tick = 0;
        lab_agent_wake(run, agent);
        return ends(event);
    }
    if (!event->line->has_key)
        return fail(event);
    if (word(event, "row"))
        return take_row(event, agent);
    if (word(event, "hears"))
        return hear(event, agent);
    return word(event, "reads") ? take_read(event, agent) : fail(event);
}

/* --- Faults. */

static bool of_fault(struct event *event)
{
    struct lab_cluster_run *run = event->run;
    struct lab_active_fault made = {.is_used = true, .factor = 1};
    const char *names[LAB_FAULT_KIND_COUNT];
    uint32_t kind, place;
    int64_t target, lasts_ns;
    if (word(event, "ends,")) {
        if (!index_of(event, "number", (uint32_t)run->active_count, &place))
            return false;
        if (!run->active[place].is_used)
            return fail(event);
        if (word(event, "by") &&
            (!lab_history_number(&event->at, &run->active[place].by_ns) || run->active[place].by_ns < 0))
            return fail(event);
        lab_fault_end(run, place);
        return ends(event);
    }
    for (int i = 0; i < LAB_FAULT_KIND_COUNT; i++)
        names[i] = lab_fault_kind_name((enum lab_fault_kind)i);
    if (!name_of(event, names, LAB_FAULT_KIND_COUNT, &kind) || !word(event, "begins,") ||
        !number(event, "target", &target) || !number(event, "lasts", &lasts_ns) ||
        !number(event, "by", &made.by_ns) || lasts_ns < 0)
        return fail(event);
    bool is_of_agent = lab_fault_is_of_agent((enum lab_fault_kind)kind);
    bool is_of_key = kind == LAB_FAULT_STATE_LOST || kind == LAB_FAULT_STATE_RESTORED;
    uint32_t count = is_of_agent ? run->agent_count : is_of_key ? run->key_count : UINT32_MAX;
    if (target < 0 || target > UINT32_MAX || (count != UINT32_MAX && target >= count))
        return fail(event);
    made.kind = (enum lab_fault_kind)kind;
    made.target = (uint32_t)target;
    lab_fault_begins(run, &made, lasts_ns, false);
    return ends(event);
}

/* --- Stored effects. */

void lab_replay_store(struct lab_cluster_run *run, uint32_t key, int64_t bucket, uint64_t row,
                      int64_t time_ns, int64_t order, uint32_t replica)
{
    const struct cass_statement statement = {.kind = CASS_WRITE_ROW,
                                             .key = key,
                                             .bucket = bucket,
                                             .row_id = row,
                                             .row_time_ns = time_ns,
                                             .row_order = order,
                                             .timestamp_us = INT64_MIN};
    cass_record_row(run->cluster, &statement, replica);
}

static bool of_row(struct event *event)
{
    struct lab_cluster_run *run = event->run;
    uint32_t key = event->line->key, replica = CASS_EVERY_REPLICA;
    int64_t row, bucket, time_ns, id, amount;
    if (!number(event, "row", &row) || !word(event, "is") || row < 0)
        return fail(event);
    bool is_count = word(event, "counted");
    if (!is_count && !word(event, "stored"))
        return fail(event);
    if (!word(event, "in") || !number(event, "bucket", &bucket) || !lab_is_possible_bucket(run, bucket))
        return fail(event);
    if (is_count) {
        if (!number(event, "amount", &amount))
            return fail(event);
        cass_record_addition(run->cluster, lab_counter_key(run, key, bucket), (uint64_t)row, amount);
        return ends(event);
    }
    if (!number(event, "time", &time_ns) || !number(event, "id", &id))
        return fail(event);
    if (*event->at != '\0' && !index_of(event, "replica", run->oracles.replicas, &replica))
        return false;
    lab_replay_store(run, key, bucket, (uint64_t)row, time_ns, id, replica);
    return ends(event);
}

/* "is stored, columns MASK C0 C1 C2 C3": the whole row; "is written": only those columns. */
static bool of_state(struct event *event)
{
    int64_t columns[CASS_COLUMNS] = {0}, told[BK_COLUMNS];
    uint32_t known = 0, mask = 0;
    struct lab_cluster_run *run = event->run;
    uint64_t place = lab_state_register(event->line->key);
    bool is_whole = word(event, "stored,");
    if ((!is_whole && !word(event, "written,")) || !word(event, "columns") ||
        !read_columns(event, &mask, told))
        return fail(event);
    if (!is_whole && !cass_peek_merged(run->cluster, place, columns, &known))
        known = 0;
    for (int i = 0; i < BK_COLUMNS; i++) {
        if (is_whole || (mask >> i & 1) != 0)
            columns[i] = told[i];
    }
    cass_record_columns(run->cluster, place, columns, known | mask);
    return ends(event);
}

static bool of_no_state(struct event *event)
{
    const int64_t none[CASS_COLUMNS] = {0};
    if (!word(event, "state") || !word(event, "is") || !word(event, "stored"))
        return fail(event);
    cass_record_columns(event->run->cluster, lab_state_register(event->line->key), none, 0);
    return ends(event);
}

/* --- The lines. */

static bool of_key(struct event *event)
{
    if (event->line->key >= event->run->key_count)
        return lab_history_fail(event->line, event->error,
                                "key-%" PRIu32 ": the scenario has %" PRIu32 " keys", event->line->key,
                                event->run->key_count);
    if (word(event, "nobody"))
        return word(event, "takes") && word(event, "row") ? take_row(event, UINT32_MAX) : fail(event);
    if (word(event, "state"))
        return word(event, "is") ? of_state(event) : fail(event);
    if (word(event, "no"))
        return of_no_state(event);
    if (strcmp(event->at, "a replica forgets what Paxos knew") == 0) {
        cluster_emit(event->run, PAXOS_LOST, .key = event->line->key);
        return true;
    }
    return strncmp(event->at, "row ", 4) == 0 ? of_row(event) : of_agent(event);
}

/* Cluster and oracles take the time from the queue. Events of the cluster itself do not happen. */
static bool set_time(struct event *event)
{
    struct lab_cluster_run *run = event->run;
    int64_t now_ns = lab_until(run->start_ns, event->line->since_ns), time_ns;
    struct sim_event popped = {0};
    if (event->line->since_ns < 0 || now_ns < sim_queue_now(&run->queue))
        return lab_history_fail(event->line, event->error, "the time is before that of the run's beginning");
    if (now_ns == sim_queue_now(&run->queue))
        return true;
    if (sim_queue_push(&run->queue, now_ns, &(struct sim_event){.kind = LAB_EVENT_END}) == 0)
        return sim_fail_memory(event->error);
    while (popped.kind != LAB_EVENT_END)
        sim_queue_pop(&run->queue, &time_ns, &popped);
    return true;
}

/* Handles "strategy LABEL ends", or the beginning of a strategy in a further file. *is_over: the run, or its
 * history, ends. */
static bool of_strategy(struct event *event, bool *is_over)
{
    struct lab_replay *replay = event->run->replay;
    const char *label = event->run->strategy->label;
    struct lab_replay_head head;
    if (lab_replay_head(event->line, &head)) {
        bool is_same =
            strcmp(head.label, label) == 0 && head.start_ns == replay->start_ns && head.is_observed;
        *is_over = !is_same;
        if (!is_same)
            lab_history_again(replay->history);
        return true;
    }
    event->at += strlen("strategy ");
    if (strncmp(event->at, label, strlen(label)) != 0)
        return fail(event);
    event->at += strlen(label);
    *is_over = replay->has_ended = strncmp(event->at, " ends", 5) == 0;
    replay->is_exhausted = strcmp(event->at, " ends, and nothing more would happen") == 0;
    return *is_over || fail(event);
}

static bool happen(struct event *event, bool *is_over)
{
    bool is_of_strategy = strncmp(event->at, "strategy ", 9) == 0;
    if (is_of_strategy)
        return of_strategy(event, is_over) && (*is_over || set_time(event));
    if (!set_time(event))
        return false;
    if (event->line->has_key)
        return of_key(event);
    return word(event, "fault") ? of_fault(event) : of_agent(event);
}

static bool read_lines(struct lab_cluster_run *run, struct sim_error *error)
{
    const struct lab_history_line *line;
    bool is_over = false;
    while (!is_over && lab_history_next(run->replay->history, &line, error)) {
        struct event event = {run, line, line->text, error};
        run->events.events++;
        if (!happen(&event, &is_over))
            return false;
        if (run->out_of_memory || !cass_cluster_is_sound(run->cluster))
            return sim_fail_memory(error);
        if (lab_run_is_stopped(run->context))
            return lab_fail_stopped(error);
    }
    return error->class == SIM_ERROR_NONE;
}

bool lab_replay_events(struct lab_cluster_run *run, struct sim_error *error)
{
    run->replay->error = error;
    if (!read_lines(run, error))
        return false;
    lab_agents_leave(run);
    return run->replay->tables == NULL || lab_tables_settle(run, error);
}

bool lab_replay_rest(struct lab_cluster_run *run)
{
    return !run->replay->has_ended || read_lines(run, run->replay->error);
}
