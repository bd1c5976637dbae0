/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of agents whose host answers almost anything. Each action gets an outcome, in any order: mostly the
 * outcome of a small database, which other agents change meanwhile, but also a refusal, an unknown outcome,
 * or columns of any values. */
#include "vectors.h"

#define OPERATIONS 3u
#define KEYS       6u /* one more than the cache has room for; most cases have 2 */
#define BUCKETS    64

/* The rows of a key. */
struct shelf {
    bool has_state, has_lock, has_start[BUCKETS];
    int64_t state[BK_COLUMNS], lock[2], starts[BUCKETS], totals[BUCKETS];
    uint64_t rows[BUCKETS];
};

struct host {
    FILE *out;
    struct draw *draw;
    struct bk_agent_config config;
    struct bk_agent *agent;
    struct bk_history history;
    struct bk_action waiting[OPERATIONS];
    bool is_waiting[OPERATIONS];
    struct shelf shelves[KEYS];
    int64_t now_ns;
    uint64_t sequence, keys;
    bool is_contested; /* other agents are faster each time */
};

static const char *const actions[] = {"PUT_ROW",      "READ_STATE", "WRITE_STATE", "CAS_STATE", "ADD_COUNTER",
                                      "READ_COUNTER", "READ_START", "WRITE_START", "CAS_LOCK",  "COUNT_ROWS",
                                      "READ_ROWS",    "ACK",        "DONE"};
static const char *const outcomes[] = {"UNKNOWN", "APPLIED", "NOT_APPLIED", "REFUSED"};
static const char *const statuses[] = {NULL, "REFUSED", "UNKNOWN", "TOO_LONG"};

static void write_action(FILE *out, const struct bk_action *action)
{
    fprintf(out, "{\"kind\":\"%s\"", actions[action->kind]);
    vectors_unsigned(out, "operation", action->operation);
    vectors_unsigned(out, "key", action->key);
    vectors_member(out, "bucket", action->bucket);
    if (action->kind == BK_ACT_PUT_ROW)
        vectors_row(out, "row", &action->row);
    vectors_member(out, "is_retry", action->is_retry);
    vectors_member(out, "serial", action->serial);
    vectors_unsigned(out, "if_null_mask", action->if_null_mask);
    vectors_member(out, "amount", action->amount);
    vectors_unsigned(out, "mask", action->mask);
    vectors_unsigned(out, "if_mask", action->if_mask);
    if (action->mask != 0)
        vectors_array(out, "columns", action->columns, BK_COLUMNS);
    if (action->if_mask != 0)
        vectors_array(out, "expected", action->expected, BK_COLUMNS);
    if (action->kind == BK_ACT_READ_ROWS) {
        fputs(",\"step\":", out);
        vectors_step(out, &action->step);
    }
    vectors_text(out, "status", statuses[action->status]);
    vectors_member(out, "fired", action->fired);
    vectors_member(out, "counted", action->counted);
    vectors_unsigned(out, "rows_found", action->rows_found);
    vectors_unsigned(out, "partitions_asked", action->partitions_asked);
    vectors_unsigned(out, "partitions_spared", action->partitions_spared);
    vectors_member(out, "order", action->order);
    fputs("}", out);
}

/* Writes the agent's next actions and its deadline, and ends the event. */
static void end_event(struct host *host)
{
    struct bk_action action;
    const char *before = ",\"actions\":[";
    bool any = false;
    for (; bk_agent_next(host->agent, &action); any = true, before = ",") {
        fputs(before, host->out);
        write_action(host->out, &action);
        if (action.kind != BK_ACT_ACK && action.kind != BK_ACT_DONE) {
            host->waiting[action.operation] = action;
            host->is_waiting[action.operation] = true;
        }
    }
    fputs(any ? "]" : "", host->out);
    if (bk_agent_deadline(host->agent) != INT64_MAX)
        vectors_member(host->out, "deadline", bk_agent_deadline(host->agent));
    fputs("}", host->out);
}

static void begin_event(struct host *host, const char *name)
{
    fprintf(host->out, ",{\"event\":\"%s\"", name);
    vectors_member(host->out, "now", host->now_ns);
}

static void end_begun(struct host *host, enum bk_status status, uint32_t operation)
{
    vectors_text(host->out, "status", status == BK_OK ? NULL : vectors_status(status));
    if (status == BK_OK)
        vectors_unsigned(host->out, "operation", operation);
    end_event(host);
}

/* A time in the key's tables, or next to one: protocols differ there first. */
static int64_t edge(struct host *host, uint64_t key)
{
    const struct shelf *shelf = &host->shelves[key];
    uint64_t which = draw_below(host->draw, BK_COLUMNS);
    int64_t edge_ns = one_in(host->draw, 4) ? shelf->starts[which] : shelf->state[which];
    if (edge_ns < host->now_ns - 5000 || edge_ns > host->now_ns + 5000)
        edge_ns = host->now_ns;
    if (one_in(host->draw, 4))
        edge_ns += host->config.lead_ns;
    return edge_ns + (int64_t)draw_below(host->draw, 3) - 1;
}

static void write_row(struct host *host)
{
    struct bk_row row = vectors_draw_row(host->draw, host->now_ns, host->sequence++);
    uint64_t key = draw_below(host->draw, host->keys);
    if (one_in(host->draw, 4))
        row.time_ns = edge(host, key);
    if (host->draw->is_edge && one_in(host->draw, 2))
        row.time_ns = host->shelves[key].state[BK_COLUMN_LAST_CHANGE] - host->config.lead_ns;
    uint32_t operation = 0;
    begin_event(host, "write");
    vectors_unsigned(host->out, "key", key);
    vectors_row(host->out, "row", &row);
    enum bk_status status = bk_agent_write(host->agent, host->now_ns, key, &row, &operation);
    end_begun(host, status, operation);
}

static void read_rows(struct host *host)
{
    struct bk_query query = vectors_draw_query(host->draw, &host->config.strategy, host->now_ns);
    uint64_t key = draw_below(host->draw, host->keys);
    if (one_in(host->draw, 4))
        query.until_ns = edge(host, key);
    uint32_t operation = 0;
    begin_event(host, "read");
    vectors_unsigned(host->out, "key", key);
    vectors_unsigned(host->out, "newest_sequence", host->sequence);
    vectors_query(host->out, &query);
    enum bk_status status = bk_agent_read(host->agent, host->now_ns, key, host->sequence, &query, &operation);
    end_begun(host, status, operation);
}

static int64_t *slot(struct host *host, const struct bk_action *action, int64_t *table)
{
    bool by_bucket = host->config.coordination == BK_GUARDED || action->kind == BK_ACT_READ_START ||
                     action->kind == BK_ACT_WRITE_START;
    return &table[by_bucket ? (uint64_t)action->bucket % BUCKETS : 0];
}

/* Adds to any value, with wrap-around as in a database of 64 bits. */
static void add(int64_t *value, uint64_t more)
{
    *value = (int64_t)((uint64_t)*value + more);
}

static bool compare_and_set(int64_t *row, bool *exists, const struct bk_action *action, unsigned count)
{
    bool holds = action->if_mask == 0 ? !*exists : *exists;
    for (unsigned i = 0; i < count; i++)
        holds = holds && (!(action->if_mask >> i & 1) || row[i] == action->expected[i]);
    for (unsigned i = 0; holds && i < count; i++)
        row[i] = action->mask >> i & 1 ? action->columns[i] : row[i];
    *exists = *exists || holds;
    return holds;
}

static void show(struct bk_outcome *outcome, const int64_t *row, bool exists, unsigned count)
{
    outcome->mask = exists ? (1u << count) - 1 : 0;
    for (unsigned i = 0; exists && i < count; i++)
        outcome->columns[i] = row[i];
}

static void count_rows(struct host *host, const struct shelf *shelf, const struct bk_action *action,
                       struct bk_outcome *outcome)
{
    outcome->rows = shelf->rows[(uint64_t)action->bucket % BUCKETS];
    if (action->mask != 0)
        outcome->rows = draw_below(host->draw, outcome->rows + 1);
    if (outcome->rows > 0) {
        outcome->mask = 3;
        outcome->columns[BK_PLACE_TIME] = host->now_ns - draw_span(host->draw, 50);
        outcome->columns[BK_PLACE_ID] = (int64_t)draw_below(host->draw, 8);
    }
}

static struct bk_outcome perform(struct host *host, const struct bk_action *action)
{
    struct shelf *shelf = &host->shelves[action->key];
    struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
    bool is_lock = action->kind == BK_ACT_CAS_LOCK;
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        shelf->rows[(uint64_t)action->bucket % BUCKETS] += !action->is_retry;
        break;
    case BK_ACT_READ_STATE:
        show(&outcome, shelf->state, shelf->has_state, BK_COLUMNS);
        break;
    case BK_ACT_WRITE_STATE:
        for (unsigned i = 0; i < BK_COLUMNS; i++)
            shelf->state[i] = action->mask >> i & 1 ? action->columns[i] : shelf->state[i];
        shelf->has_state = true;
        break;
    case BK_ACT_CAS_STATE:
    case BK_ACT_CAS_LOCK: {
        int64_t *row = is_lock ? shelf->lock : shelf->state;
        bool *exists = is_lock ? &shelf->has_lock : &shelf->has_state;
        unsigned count = is_lock ? 2 : BK_COLUMNS;
        if (!compare_and_set(row, exists, action, count)) {
            outcome.kind = BK_OUTCOME_NOT_APPLIED;
            show(&outcome, row, *exists, count);
        }
        break;
    }
    case BK_ACT_ADD_COUNTER:
        add(slot(host, action, shelf->totals), (uint64_t)action->amount);
        break;
    case BK_ACT_READ_COUNTER:
        outcome.counter = *slot(host, action, shelf->totals);
        break;
    case BK_ACT_READ_START:
        show(&outcome, slot(host, action, shelf->starts),
             shelf->has_start[(uint64_t)action->bucket % BUCKETS], 1);
        break;
    case BK_ACT_WRITE_START:
        *slot(host, action, shelf->starts) = action->columns[0];
        shelf->has_start[(uint64_t)action->bucket % BUCKETS] = true;
        break;
    case BK_ACT_COUNT_ROWS:
        count_rows(host, shelf, action, &outcome);
        break;
    default:
        outcome.rows = draw_below(host->draw, (action->step.rows < 9 ? action->step.rows : 8) + 1);
        outcome.saw_older = one_in(host->draw, 4);
        outcome.empty = outcome.rows == 0 ? UINT64_MAX : draw_below(host->draw, 4);
    }
    return outcome;
}

/* The changes that other agents make to a key. */
static void interfere(struct host *host, struct shelf *shelf, uint64_t which)
{
    struct draw *draw = host->draw;
    int64_t *state = shelf->state;
    uint64_t column;
    bool is_guarded = host->config.coordination == BK_GUARDED;
    switch (which) {
    case 0: /* a roll */
        if (is_guarded) {
            state[BK_GUARDED_BEFORE] = state[BK_GUARDED_START];
            state[BK_GUARDED_START] = state[BK_GUARDED_UNTIL];
            add(&state[BK_GUARDED_UNTIL], 1 + draw_below(draw, 400));
        } else {
            state[BK_COLUMN_COUNTER] = 0;
            state[BK_COLUMN_LAST_CHANGE] = host->now_ns - draw_span(draw, 300);
            state[BK_COLUMN_NEXT_CHANGE] = one_in(draw, 2) ? 0 : host->now_ns + draw_span(draw, 400) - 200;
        }
        add(&state[BK_COLUMN_BUCKET], 1);
        break;
    case 1: /* a count, or a longer grant */
        add(&state[is_guarded ? BK_GUARDED_UNTIL : BK_COLUMN_COUNTER], 1 + draw_below(draw, 3));
        break;
    case 2:
        for (int i = 0; i < 4; i++)
            add(&shelf->totals[i], 1);
        break;
    case 3: /* the lock of another agent, valid for some time or expired */
        shelf->has_lock = true;
        shelf->lock[BK_LOCK_OWNER] = (int64_t)draw_below(draw, 3);
        shelf->lock[BK_LOCK_UNTIL] = host->now_ns + (one_in(draw, 3) ? 0 : draw_span(draw, 400) - 200);
        break;
    case 4:
        shelf->has_state = one_in(draw, 3);
        break;
    case 5:
        shelf->rows[0] += draw_below(draw, 4);
        shelf->rows[1] += draw_below(draw, 4);
        break;
    default:
        column = draw_below(draw, BK_COLUMNS);
        state[column] = one_in(draw, 2) ? draw_time(draw) : (int64_t)draw_below(draw, 5);
    }
}

static struct bk_outcome answer(struct host *host, const struct bk_action *action)
{
    struct bk_outcome outcome = {.kind = BK_OUTCOME_UNKNOWN};
    bool is_lock = action->kind == BK_ACT_CAS_LOCK, is_cas = is_lock || action->kind == BK_ACT_CAS_STATE;
    if (is_cas && (host->is_contested || one_in(host->draw, 8)))
        interfere(host, &host->shelves[action->key], is_lock ? 3 : 1);
    else if (one_in(host->draw, 6))
        interfere(host, &host->shelves[action->key], draw_below(host->draw, 7));
    switch (host->is_contested ? UINT64_MAX : draw_below(host->draw, 20)) {
    case 0:
    case 1:
        outcome.kind = BK_OUTCOME_REFUSED;
        break;
    case 2:
        break;
    case 3:
        perform(host, action);
        break;
    case 4:
        outcome.kind = BK_OUTCOME_NOT_APPLIED;
        show(&outcome, host->shelves[action->key].state, one_in(host->draw, 2), BK_COLUMNS);
        break;
    default:
        outcome = perform(host, action);
        if (one_in(host->draw, 40)) {
            uint64_t column = draw_below(host->draw, BK_COLUMNS);
            outcome.columns[column] = draw_time(host->draw);
        }
        if (one_in(host->draw, 30))
            outcome.mask &= (uint32_t)draw_below(host->draw, 16);
        if (one_in(host->draw, 60))
            outcome.counter = draw_time(host->draw);
    }
    return outcome;
}

static void tell_outcome(struct host *host, uint32_t operation)
{
    if (!host->is_waiting[operation])
        return;
    struct bk_outcome outcome = answer(host, &host->waiting[operation]);
    host->is_waiting[operation] = false;
    begin_event(host, "outcome");
    vectors_unsigned(host->out, "operation", operation);
    vectors_text(host->out, "outcome", outcomes[outcome.kind]);
    vectors_unsigned(host->out, "mask", outcome.mask);
    if (outcome.mask != 0)
        vectors_array(host->out, "columns", outcome.columns, BK_COLUMNS);
    vectors_member(host->out, "counter", outcome.counter);
    vectors_unsigned(host->out, "rows", outcome.rows);
    vectors_member(host->out, "saw_older", outcome.saw_older);
    vectors_unsigned(host->out, "empty", outcome.empty);
    bk_agent_report(host->agent, host->now_ns, host->waiting[operation].ticket, &outcome);
    end_event(host);
}

static void change(struct host *host)
{
    vectors_draw_eras(host->draw, &host->history, true, host->now_ns);
    begin_event(host, "change");
    vectors_eras(host->out, "history", &host->history);
    enum bk_status status = bk_agent_change(host->agent, &host->history);
    vectors_text(host->out, "status", status == BK_OK ? NULL : vectors_status(status));
    end_event(host);
}

static void view(struct host *host)
{
    int64_t bucket;
    bool is_changing;
    uint64_t key = draw_below(host->draw, host->keys);
    begin_event(host, "view");
    vectors_unsigned(host->out, "key", key);
    if (bk_agent_view(host->agent, host->now_ns, key, &bucket, &is_changing)) {
        const int64_t known[] = {bucket, is_changing};
        vectors_array(host->out, "known", known, 2);
    }
    end_event(host);
}

static void tick(struct host *host)
{
    int64_t deadline_ns = bk_agent_deadline(host->agent);
    if (deadline_ns == INT64_MAX)
        return;
    if (!one_in(host->draw, 8) && deadline_ns > host->now_ns && deadline_ns - host->now_ns < 1000000)
        host->now_ns = deadline_ns;
    begin_event(host, "tick");
    bk_agent_tick(host->agent, host->now_ns);
    end_event(host);
}

static void go_on(struct host *host)
{
    host->now_ns += one_in(host->draw, 5) ? draw_span(host->draw, 600) : draw_span(host->draw, 12);
    if (one_in(host->draw, 30))
        host->now_ns -= draw_span(host->draw, 300);
    if (one_in(host->draw, 8)) {
        int64_t edge_ns = edge(host, draw_below(host->draw, host->keys));
        host->now_ns = edge_ns > host->now_ns ? edge_ns : host->now_ns;
    }
    switch (host->is_contested && !one_in(host->draw, 8) ? 16 : draw_below(host->draw, 16)) {
    case 0:
        read_rows(host);
        break;
    case 1:
        view(host);
        break;
    case 2:
        tick(host);
        break;
    case 3:
        if (one_in(host->draw, 3))
            change(host);
        break;
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
        write_row(host);
        break;
    default:
        tell_outcome(host, (uint32_t)draw_below(host->draw, OPERATIONS));
    }
}

/* The configuration of a family's number: the four coordinations with the three counters, the sources, the
 * kinds without either, and some of the first with a greatest age. */
static void draw_config(struct host *host, int number)
{
    static const int aged[] = {9, 0, 1, 2, 6, 7, 8, 3, 4, 5};
    bool is_aged = number >= 20 && number < 30;
    struct draw *draw = host->draw;
    int which = is_aged ? aged[number - 20] : number == 31 ? (int)draw_below(draw, 14) : number;
    struct bk_agent_config *config = &host->config;
    enum bk_kind kind = one_in(draw, 3) ? BK_KIND_WEIGHTED : BK_KIND_PROBABILISTIC;
    static const enum bk_kind plain[] = {BK_KIND_UNBUCKETED, BK_KIND_TIME, BK_KIND_HASH};
    if (which == 30)
        kind = VECTORS_SHARDS;
    else if (which >= 17)
        kind = plain[which - 17];
    else if (which >= 10)
        kind = BK_KIND_COUNT;
    struct bk_strategy strategy = vectors_draw_strategy(draw, kind, is_aged);
    if (number == 31)
        bk_strategy_shards(2 + (uint32_t)draw_below(draw, 4), &strategy);
    *config = bk_agent_config_default(&strategy);
    if (which < 10) {
        config->coordination = (enum bk_coordination)(which / 3);
        config->counter = which == 9 ? BK_COUNTER_NATIVE : (enum bk_counter)(which % 3);
    } else if (which < 17) {
        config->source = (enum bk_source)(which - 10);
    }
    config->lead_ns = draw_span(draw, 300);
    config->cache_ttl_ns = one_in(draw, 5) ? 0 : draw_span(draw, 300);
    config->cache_entries = 4;
    config->operations = OPERATIONS - one_in(draw, 4);
    config->retries = (uint32_t)draw_below(draw, 4);
    config->counter_retries = (uint32_t)draw_below(draw, 3);
    config->retry_backoff_ns = one_in(draw, 3) ? 0 : draw_some(draw, 20);
    config->lock_lasts_ns = draw_some(draw, 300);
    config->lock_backoff_ns = draw_some(draw, 50);
    config->grant_ns = draw_some(draw, 200);
    config->lease_rows = 1 + draw_below(draw, 4);
    config->every_rows = draw_below(draw, 4);
    config->every_ns = config->every_rows == 0 || one_in(draw, 2) ? draw_some(draw, 100) : 0;
    config->remember_keys = strategy.kind == BK_KIND_TIME && !one_in(draw, 3) ? 4 : 0;
    config->late_ns = draw_span(draw, 2000);
    config->clock_bound_ns = draw_span(draw, 60);
    config->agent_id = 1 + draw_below(draw, 2);
    bk_history_begin(&strategy, &host->history);
    if (one_in(draw, 3)) {
        if (kind != BK_KIND_COUNT)
            vectors_draw_eras(draw, &host->history, true, host->now_ns);
        config->history = host->history;
    }
}

static void write_config(FILE *out, const struct bk_agent_config *config)
{
    fputs("{\"config\":{\"strategy\":", out);
    vectors_strategy(out, &config->strategy);
    vectors_text(out, "coordination", vectors_coordinations[config->coordination]);
    vectors_text(out, "counter", vectors_counters[config->counter]);
    vectors_text(out, "source", vectors_sources[config->source]);
    if (config->history.count > 0)
        vectors_eras(out, "history", &config->history);
#define MEMBER(name) vectors_member(out, #name, (int64_t)config->name)
    MEMBER(lease_rows);
    MEMBER(every_rows);
    MEMBER(every_ns);
    MEMBER(lead_ns);
    MEMBER(cache_ttl_ns);
    MEMBER(cache_entries);
    MEMBER(operations);
    MEMBER(retries);
    MEMBER(counter_retries);
    MEMBER(retry_backoff_ns);
    MEMBER(lock_lasts_ns);
    MEMBER(lock_backoff_ns);
    MEMBER(grant_ns);
    MEMBER(remember_keys);
    MEMBER(late_ns);
    MEMBER(clock_bound_ns);
    MEMBER(agent_id);
#undef MEMBER
    fputs("}", out);
}

/* The contents of the tables when the agent begins. */
static void draw_state(struct host *host, struct shelf *shelf)
{
    int64_t *state = shelf->state;
    shelf->has_state = one_in(host->draw, 2);
    if (host->config.coordination != BK_GUARDED) {
        if (one_in(host->draw, 12))
            state[BK_COLUMN_BUCKET] = INT64_MAX - (int64_t)draw_below(host->draw, 3);
        if (one_in(host->draw, 2))
            state[BK_COLUMN_NEXT_CHANGE] = host->now_ns + draw_span(host->draw, 400) - 100;
        if (host->config.strategy.max_age_ns != 0) /* within three greatest ages */
            state[BK_COLUMN_LAST_CHANGE] =
                host->now_ns - draw_span(host->draw, 3 * (uint64_t)host->config.strategy.max_age_ns);
        return;
    }
    int64_t bucket = (int64_t)draw_below(host->draw, 6);
    state[BK_GUARDED_BUCKET] = bucket;
    state[BK_GUARDED_BEFORE] = bucket > 1 ? host->now_ns - 600 : INT64_MIN;
    state[BK_GUARDED_START] = bucket > 0 ? host->now_ns - 300 : INT64_MIN;
    state[BK_GUARDED_UNTIL] = host->now_ns - 100 + draw_span(host->draw, 300);
    for (int64_t older = bucket - 2; older > 0; older--) {
        shelf->has_start[older] = !one_in(host->draw, 6);
        shelf->starts[older] = state[BK_GUARDED_BEFORE] - (300 * (bucket - 1 - older));
        if (one_in(host->draw, 8))
            shelf->starts[older] = one_in(host->draw, 2) ? host->now_ns : state[BK_GUARDED_BEFORE];
    }
}

static void write_stats(FILE *out, const struct bk_agent *agent, int64_t now_ns)
{
    struct bk_agent_stats stats;
    bk_agent_get_stats(agent, now_ns, &stats);
#define MEMBER(name) (int64_t) stats.name
    const int64_t numbers[] = {MEMBER(rows_stored),    MEMBER(rows_refused),     MEMBER(rows_unknown),
                               MEMBER(reads_complete), MEMBER(reads_incomplete), MEMBER(cache_hits),
                               MEMBER(rolls),          MEMBER(retries),          MEMBER(unknown),
                               MEMBER(under_way),      MEMBER(parked),           MEMBER(asleep),
                               MEMBER(oldest_ns)};
#undef MEMBER
    vectors_member(out, "now", now_ns);
    vectors_array(out, "stats", numbers, sizeof numbers / sizeof *numbers);
}

void vectors_agent(FILE *out, struct draw *draw, int which)
{
    struct host host = {.out = out, .draw = draw, .now_ns = 1000000};
    host.is_contested = one_in(draw, 20);
    host.keys = host.is_contested ? 1 : one_in(draw, 8) ? KEYS : 2;
    draw_config(&host, which);
    size_t size = bk_agent_size(&host.config);
    void *memory = malloc(size);
    if (memory == NULL || bk_agent_init(memory, size, &host.config, &host.agent) != BK_OK)
        abort();
    for (unsigned i = 0; i < KEYS; i++)
        draw_state(&host, &host.shelves[i]);
    write_config(out, &host.config);
    fputs(",\"events\":[{\"event\":\"none\"}", out);
    for (uint64_t i = host.is_contested ? 150 : 20 + draw_below(draw, 30); i > 0; i--)
        go_on(&host);
    fputs("]", out);
    write_stats(out, host.agent, host.now_ns);
    fputs("}", out);
    free(memory);
}
