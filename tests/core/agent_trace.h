/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces: each event that an agent receives, with its time, is a line of text that ends with the agent's next
 * actions. A0 is operation 0 of agent A. */
#ifndef TESTS_CORE_AGENT_TRACE_H
#define TESTS_CORE_AGENT_TRACE_H

#include <stdio.h>

#include "agent_host.h"

struct trace {
    bool is_guarded; /* columns have the names of guarded */
    char text[16384];
    size_t length;
};

struct actor {
    const char *name;
    struct bk_agent *agent;
    struct trace *trace;
};

static const char *const state_names[] = {"bucket", "counter", "last", "next"};
static const char *const guarded_names[] = {"bucket", "before", "start", "until"};
static const char *const lock_names[] = {"owner", "until"};

static inline void say(struct trace *trace, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(trace->text + trace->length, sizeof trace->text - trace->length, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < sizeof trace->text - trace->length);
    trace->length += (size_t)length;
}

static inline struct actor actor_of(struct trace *trace, const char *name,
                                    const struct bk_agent_config *config)
{
    return (struct actor){name, make_agent(config), trace};
}

static inline const char *const *names_of(const struct trace *trace)
{
    return trace->is_guarded ? guarded_names : state_names;
}

static inline void say_columns(struct trace *trace, const char *const *names, uint32_t mask,
                               const int64_t *columns)
{
    for (unsigned i = 0; i < BK_COLUMN_COUNT; i++) {
        if ((mask & 1u << i) != 0 && columns[i] == INT64_MIN)
            say(trace, " %s=-inf", names[i]);
        else if (mask & 1u << i)
            say(trace, " %s=%lld", names[i], (long long)columns[i]);
    }
}

static inline void say_condition(struct trace *trace, const char *const *names,
                                 const struct bk_action *action)
{
    say(trace, " if");
    if (action->if_mask == 0)
        say(trace, " absent");
    say_columns(trace, names, action->if_mask & ~action->if_null_mask, action->expected);
    for (unsigned i = 0; i < BK_COLUMN_COUNT; i++) {
        if (action->if_null_mask & 1u << i)
            say(trace, " %s=null", names[i]);
    }
}

static inline void say_action(struct trace *trace, const struct bk_action *action)
{
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        say(trace, "put %llu.%lld", (unsigned long long)action->key, (long long)action->bucket);
        break;
    case BK_ACT_READ_STATE:
        say(trace, "read state%s", action->serial ? " serially" : "");
        break;
    case BK_ACT_WRITE_STATE:
        say(trace, "set");
        say_columns(trace, names_of(trace), action->mask, action->columns);
        break;
    case BK_ACT_CAS_STATE:
        say(trace, "set");
        say_columns(trace, names_of(trace), action->mask, action->columns);
        say_condition(trace, names_of(trace), action);
        break;
    case BK_ACT_ADD_COUNTER:
        say(trace, "add 1");
        if (trace->is_guarded)
            say(trace, " to %lld", (long long)action->bucket);
        break;
    case BK_ACT_READ_COUNTER:
        say(trace, "read counter");
        if (trace->is_guarded)
            say(trace, " of %lld", (long long)action->bucket);
        break;
    case BK_ACT_READ_START:
        say(trace, "read start of %lld", (long long)action->bucket);
        break;
    case BK_ACT_WRITE_START:
        say(trace, "set start of %lld to %lld", (long long)action->bucket, (long long)action->columns[0]);
        break;
    case BK_ACT_CAS_LOCK:
        say(trace, "lock");
        say_columns(trace, lock_names, action->mask, action->columns);
        say_condition(trace, lock_names, action);
        break;
    case BK_ACT_COUNT_ROWS:
        say(trace, "count rows of %lld", (long long)action->bucket);
        if (action->mask != 0)
            say(trace, " after %lld.%lld", (long long)action->columns[BK_PLACE_TIME],
                (long long)action->columns[BK_PLACE_ID]);
        break;
    case BK_ACT_READ_ROWS:
        say(trace, "read %llu.%lld..%lld for %llu", (unsigned long long)action->key,
            (long long)action->step.bucket_low, (long long)action->step.bucket_high,
            (unsigned long long)action->step.rows);
        break;
    case BK_ACT_ACK:
        say(trace, "ack %lld", (long long)action->bucket);
        break;
    case BK_ACT_DONE:
        say(trace, "done %s", ((const char *[]){"ok", "refused", "unknown"})[action->status]);
        if (action->fired)
            say(trace, " fired%s", action->counted ? " counted" : "");
        if (action->partitions_asked > 0)
            say(trace, " found %llu in %llu", (unsigned long long)action->rows_found,
                (unsigned long long)action->partitions_asked);
        break;
    }
    say(trace, "%s", action->is_retry ? " again" : "");
}

/* Ends the event's line. `about`: the operation that the event concerns; actions of other operations are
 * named. */
static inline void say_actions(const struct actor *actor, int64_t about)
{
    struct bk_action action;
    for (const char *before = ": "; bk_agent_next(actor->agent, &action); before = ", ") {
        say(actor->trace, "%s", before);
        if (action.operation != about)
            say(actor->trace, "%s%u ", actor->name, action.operation);
        say_action(actor->trace, &action);
    }
    say(actor->trace, "\n");
}

static inline uint32_t write_row(const struct actor *actor, int64_t now_ns, uint64_t key, bool fires)
{
    struct bk_row row = row_at(now_ns, fires);
    uint32_t operation;
    assert_int_equal(bk_agent_write(actor->agent, now_ns, key, &row, &operation), BK_OK);
    say(actor->trace, "%lld %s%u %s %llu", (long long)now_ns, actor->name, operation,
        fires ? "fires" : "writes", (unsigned long long)key);
    say_actions(actor, operation);
    return operation;
}

/* Writes a row of another time than the agent's clock shows. */
static inline uint32_t write_at(const struct actor *actor, int64_t now_ns, int64_t time_ns, bool fires)
{
    struct bk_row row = row_at(time_ns, fires);
    uint32_t operation;
    assert_int_equal(bk_agent_write(actor->agent, now_ns, 7, &row, &operation), BK_OK);
    say(actor->trace, "%lld %s%u %s 7 at %lld", (long long)now_ns, actor->name, operation,
        fires ? "fires" : "writes", (long long)time_ns);
    say_actions(actor, operation);
    return operation;
}

static inline uint32_t read_rows(const struct actor *actor, int64_t now_ns, uint64_t rows, enum bk_plan plan)
{
    uint32_t operation;
    assert_int_equal(bk_agent_read_latest(actor->agent, now_ns, 7, 0, 25, rows, plan, &operation), BK_OK);
    say(actor->trace, "%lld %s%u reads %llu", (long long)now_ns, actor->name, operation,
        (unsigned long long)rows);
    say_actions(actor, operation);
    return operation;
}

/* Passes an outcome, with the text `words`. */
static inline void tell(const struct actor *actor, int64_t now_ns, uint32_t operation, const char *words,
                        const struct bk_outcome *outcome)
{
    say(actor->trace, "%lld %s%u %s", (long long)now_ns, actor->name, operation, words);
    assert_int_equal(bk_agent_outcome(actor->agent, now_ns, operation, outcome), BK_OK);
    say_actions(actor, operation);
}

static inline void applied(const struct actor *actor, int64_t now_ns, uint32_t operation)
{
    tell(actor, now_ns, operation, "applied", &(struct bk_outcome){.kind = BK_OUTCOME_APPLIED});
}

static inline void refused(const struct actor *actor, int64_t now_ns, uint32_t operation)
{
    tell(actor, now_ns, operation, "refused", &(struct bk_outcome){.kind = BK_OUTCOME_REFUSED});
}

static inline void unknown(const struct actor *actor, int64_t now_ns, uint32_t operation)
{
    tell(actor, now_ns, operation, "unknown", &(struct bk_outcome){.kind = BK_OUTCOME_UNKNOWN});
}

static inline void tell_columns(const struct actor *actor, int64_t now_ns, uint32_t operation,
                                enum bk_outcome_kind kind, const char *const *names, uint32_t mask,
                                const int64_t *columns)
{
    struct bk_outcome outcome = {.kind = kind, .mask = mask};
    struct trace words = {.length = 0};
    say(&words, kind == BK_OUTCOME_APPLIED ? "is" : "not applied,");
    if (mask == 0)
        say(&words, " absent");
    say_columns(&words, names, mask, columns);
    for (unsigned i = 0; i < BK_COLUMN_COUNT; i++)
        outcome.columns[i] = mask & 1u << i ? columns[i] : 77; /* columns without a value must not be used */
    tell(actor, now_ns, operation, words.text, &outcome);
}

static inline void is_absent(const struct actor *actor, int64_t now_ns, uint32_t operation)
{
    tell_columns(actor, now_ns, operation, BK_OUTCOME_APPLIED, names_of(actor->trace), 0, (int64_t[4]){0});
}

static inline void is_state(const struct actor *actor, int64_t now_ns, uint32_t operation, int64_t bucket,
                            int64_t counter, int64_t last_ns, int64_t next_ns)
{
    tell_columns(actor, now_ns, operation, BK_OUTCOME_APPLIED, names_of(actor->trace), 15,
                 (int64_t[]){bucket, counter, last_ns, next_ns});
}

static inline void but_state(const struct actor *actor, int64_t now_ns, uint32_t operation, int64_t bucket,
                             int64_t counter, int64_t last_ns, int64_t next_ns)
{
    tell_columns(actor, now_ns, operation, BK_OUTCOME_NOT_APPLIED, names_of(actor->trace), 15,
                 (int64_t[]){bucket, counter, last_ns, next_ns});
}

/* The state lacks the columns that are not in the mask. */
static inline void but_columns(const struct actor *actor, int64_t now_ns, uint32_t operation, uint32_t mask,
                               const int64_t *columns)
{
    tell_columns(actor, now_ns, operation, BK_OUTCOME_NOT_APPLIED, names_of(actor->trace), mask, columns);
}

static inline void but_lock(const struct actor *actor, int64_t now_ns, uint32_t operation, int64_t owner,
                            int64_t until_ns)
{
    tell_columns(actor, now_ns, operation, BK_OUTCOME_NOT_APPLIED, lock_names, 3,
                 (int64_t[4]){owner, until_ns});
}

static inline void is_total(const struct actor *actor, int64_t now_ns, uint32_t operation, int64_t total)
{
    char words[64];
    snprintf(words, sizeof words, "is %lld", (long long)total);
    tell(actor, now_ns, operation, words, &(struct bk_outcome){.kind = BK_OUTCOME_APPLIED, .counter = total});
}

static inline void found_rows(const struct actor *actor, int64_t now_ns, uint32_t operation, uint64_t rows)
{
    char words[64];
    snprintf(words, sizeof words, "found %llu", (unsigned long long)rows);
    tell(actor, now_ns, operation, words, &(struct bk_outcome){.kind = BK_OUTCOME_APPLIED, .rows = rows});
}

/* The number of rows counted, and the place of the last of them. */
static inline void counts(const struct actor *actor, int64_t now_ns, uint32_t operation, uint64_t rows,
                          int64_t last_ns, int64_t last_id)
{
    struct bk_outcome outcome = {
        .kind = BK_OUTCOME_APPLIED, .mask = 3, .rows = rows, .columns = {last_ns, last_id}};
    struct trace words = {.length = 0};
    say(&words, "counts %llu to %lld.%lld", (unsigned long long)rows, (long long)last_ns, (long long)last_id);
    tell(actor, now_ns, operation, words.text, &outcome);
}

static inline void tick(const struct actor *actor, int64_t now_ns)
{
    int64_t deadline_ns = bk_agent_deadline(actor->agent);
    if (deadline_ns == INT64_MAX)
        say(actor->trace, "%lld %s ticks", (long long)now_ns, actor->name);
    else
        say(actor->trace, "%lld %s ticks, due at %lld", (long long)now_ns, actor->name,
            (long long)deadline_ns);
    assert_int_equal(bk_agent_tick(actor->agent, now_ns), BK_OK);
    say_actions(actor, -1);
}

/* Compares the whole trace word for word, and asserts that the agent has nothing left to do. */
static inline void ends(const struct actor *actor, const char *expected)
{
    assert_string_equal(actor->trace->text, expected);
    assert_true(bk_agent_deadline(actor->agent) == INT64_MAX);
    free(actor->agent);
}

static inline struct actor lone(struct trace *trace, enum bk_coordination coordination,
                                enum bk_counter counter)
{
    struct bk_agent_config config = small_config(coordination, counter);
    return actor_of(trace, "A", &config);
}

/* Fills the cache, so that a trace may begin at its main event. */
static inline void knows(const struct actor *actor, int64_t now_ns, int64_t bucket, int64_t counter,
                         int64_t last_ns, int64_t next_ns)
{
    uint32_t a = write_row(actor, now_ns, 7, false);
    is_state(actor, now_ns, a, bucket, counter, last_ns, next_ns);
    refused(actor, now_ns, a);
    tick(actor, now_ns + 5);
    refused(actor, now_ns + 5, a);
    tick(actor, now_ns + 15);
    refused(actor, now_ns + 15, a);
    actor->trace->length = 0;
    actor->trace->text[0] = '\0';
}

#endif
