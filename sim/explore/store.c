/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The store of one key, as a value. In come requests, which change it and get an answer; out go the
 * guarantees that it breaks. These have the names and meanings of docs/oracles.md. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "world.h"

#define NO_VALUE INT64_C(-77)

/* --- Guarantees. */
/* What is broken, and for one of the guarantees what is wrong; `out` may be NULL. */
struct verdict {
    uint32_t broken;
    struct explore_break *out;
};

static void breaks(struct verdict *verdict, enum lab_oracle oracle, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void breaks(struct verdict *verdict, enum lab_oracle oracle, const char *format, ...)
{
    verdict->broken |= 1u << oracle;
    if (verdict->out == NULL || verdict->out->oracle != oracle)
        return;
    va_list values;
    va_start(values, format);
    vsnprintf(verdict->out->text, sizeof verdict->out->text, format, values);
    va_end(values);
}

/* The lowest and the highest bucket that holds a row; -1: none. */
static int lowest(unsigned buckets)
{
    return buckets == 0 ? -1 : __builtin_ctz(buckets);
}

static int highest(unsigned buckets)
{
    return buckets == 0 ? -1 : 31 - __builtin_clz(buckets);
}

/* Whether a line is after one time and at or before the other. */
static bool is_line_between(const struct rules *rules, int64_t before_ns, int64_t after_ns)
{
    const int64_t age_ns = rules->config.agent.strategy.max_age_ns;
    return age_ns != 0 && before_ns / age_ns < after_ns / age_ns;
}

/* The bucket in which rows of the newest known time are; with three states the state names the next one
 * before. */
static int64_t newest_left(const struct rules *rules, const struct stored *store)
{
    return store->state[BK_COLUMN_BUCKET] - (rules->config.agent.coordination == BK_THREE_STATE);
}

/* Row y is in a lower bucket than row x, and not older. */
static void judge_order(const struct rules *rules, const struct stored *store, unsigned x, unsigned y,
                        struct verdict *verdict)
{
    static const char *const format = "row %u is in bucket %d, and row %u, which is %s, in bucket %d";
    const int top = highest(store->buckets[x]), below = lowest(store->buckets[y]);
    const bool is_later = store->times[y] > store->times[x];
    breaks(verdict, LAB_ORACLE_MONOTONE, format, x, top, y, is_later ? "later" : "of the same time", below);
    if (!is_later)
        return;
    breaks(verdict, LAB_ORACLE_NEWEST, format, x, top, y, "later", below);
    if (verdict->out == NULL || verdict->out->oracle != LAB_ORACLE_NEWEST)
        return;
    /* A reader of as many rows as the higher buckets have does not reach row y. */
    verdict->out->newest = 0;
    for (unsigned r = 0; r < rules->config.rows; r++)
        verdict->out->newest += highest(store->buckets[r]) > below;
}

static void judge_row(const struct rules *rules, const struct stored *store, unsigned x,
                      struct verdict *verdict)
{
    const int low = lowest(store->buckets[x]), top = highest(store->buckets[x]);
    const int newest = (int)store->state[BK_COLUMN_BUCKET];
    const bool is_acknowledged = store->acknowledged >> x & 1;
    if (low != top)
        breaks(verdict, LAB_ORACLE_NO_DUPLICATES, "row %u is in bucket %d and in bucket %d", x, low, top);
    if (rules->reads_are_judged && store->missed >> x & 1)
        breaks(verdict, LAB_ORACLE_FINDABLE,
               "row %u in bucket %d was acknowledged before a read began, which missed it", x, low);
    if (rules->has_state && is_acknowledged && low > newest)
        breaks(verdict, LAB_ORACLE_FINDABLE,
               "row %u is acknowledged in bucket %d, and a reader begins at bucket %d", x, low, newest);
    if (low >= 0 && store->refused >> x & 1)
        breaks(verdict, LAB_ORACLE_CONSERVED, "row %u was refused, and is in bucket %d", x, low);
    if (low < 0 && is_acknowledged)
        breaks(verdict, LAB_ORACLE_CONSERVED, "row %u was acknowledged, and is in no bucket", x);
    for (unsigned y = 0; y < rules->config.rows; y++) {
        const int below = lowest(store->buckets[y]);
        if (store->buckets[x] & store->buckets[y] && (store->overtaken >> x & 1) == 0 &&
            is_line_between(rules, store->times[x], store->times[y]))
            breaks(verdict, LAB_ORACLE_LINES, "rows %u and %u are in bucket %d, and a line is between them",
                   x, y, low);
        if (below >= 0 && below < top && store->times[y] >= store->times[x])
            judge_order(rules, store, x, y, verdict);
    }
}

static void judge_bucket(const struct rules *rules, const struct stored *store, unsigned bucket,
                         struct verdict *verdict)
{
    unsigned rows = 0, counted = 0;
    for (unsigned r = 0; r < rules->config.rows; r++) {
        const unsigned is_here = store->buckets[r] >> bucket & 1u;
        rows += is_here;
        counted += is_here & (rules->is_count || rules->config.fires >> r & 1);
    }
    if (rows == 0 && (int64_t)bucket < newest_left(rules, store))
        breaks(verdict, LAB_ORACLE_NO_GAPS, "bucket %u has no row, and the state names bucket %d", bucket,
               (int)store->state[BK_COLUMN_BUCKET]);
    if (store->left[bucket] > 1)
        breaks(verdict, LAB_ORACLE_FILLED, "bucket %u was left with only %u counted rows", bucket,
               store->left[bucket] - 2u);
    if (counted > rules->most)
        breaks(verdict, LAB_ORACLE_BOUNDED, "bucket %u has %u rows, not %u", bucket, counted, rules->most);
}

uint32_t explore_judge(const struct rules *rules, const struct stored *store, struct explore_break *out)
{
    struct verdict verdict = {0, out};
    unsigned added = 0;
    for (unsigned x = 0; x < rules->config.rows; x++)
        judge_row(rules, store, x, &verdict);
    for (unsigned bucket = 0; bucket < BUCKETS_MAX; bucket++) {
        judge_bucket(rules, store, bucket, &verdict);
        added += store->counters[bucket];
    }
    if (rules->has_column && store->told > added)
        breaks(&verdict, LAB_ORACLE_CONSERVED, "%u increments are known to be stored, and there are %u",
               store->told, added);
    if (store->uncounted != 0)
        breaks(&verdict, LAB_ORACLE_CONSERVED,
               "row %d is not known to be counted, and no outcome was unknown", lowest(store->uncounted));
    if (store->failed)
        breaks(&verdict, LAB_ORACLE_AVAILABLE,
               "an operation failed although its requests may be tried %u times",
               rules->config.agent.retries + 1);
    if (store->stuck)
        breaks(&verdict, LAB_ORACLE_AVAILABLE,
               "an operation never ends: it waits for nothing, or makes more than %u requests", REQUESTS_MAX);
    return verdict.broken & rules->judged;
}

/* --- Effects of requests. */
/* mask: the columns that the row has. */
static bool holds(const int64_t *row, unsigned mask, const struct bk_action *action)
{
    if (action->if_mask == 0 || mask == 0)
        return action->if_mask == 0 && mask == 0;
    for (unsigned i = 0; i < BK_COLUMNS; i++) {
        const bool must_be_null = action->if_null_mask >> i & 1, is_null = (mask >> i & 1) == 0;
        if ((action->if_mask >> i & 1) &&
            (must_be_null != is_null || (!is_null && row[i] != action->expected[i])))
            return false;
    }
    return true;
}

/* The rows that fill a bucket, by the settings of the rows that were taken: none if it has a row from before
 * a line, and one from beyond it was taken. */
static unsigned rows_that_fill(const struct rules *rules, const struct stored *store, unsigned bucket)
{
    const unsigned rows = (unsigned)rules->config.threshold, then = (unsigned)rules->config.then;
    bool is_changed = false, is_empty = true;
    for (unsigned y = 0; y < store->taken; y++) {
        is_changed = is_changed || store->times[y] > EXPLORE_FIRST_NS;
        is_empty = is_empty && (store->buckets[y] >> bucket & 1) == 0;
        for (unsigned x = 0; x < store->taken; x++)
            if (store->buckets[x] >> bucket & 1 && is_line_between(rules, store->times[x], store->times[y]))
                return 0;
    }
    if (is_empty && rules->config.agent.strategy.max_age_ns != 0)
        return 0;
    return is_changed && then != 0 && then < rows ? then : rows;
}

/* The buckets below are left: of count all of their rows count, else the acknowledged ones that fired. */
static void leave(const struct rules *rules, struct stored *store, int64_t below)
{
    for (unsigned b = 0; (int64_t)b < below && b < BUCKETS_MAX; b++) {
        unsigned rows = 0;
        if (store->left[b] != 0)
            continue;
        for (unsigned r = 0; r < rules->config.rows; r++)
            rows += store->buckets[r] >> b &
                    (rules->is_count || ((rules->config.fires & store->acknowledged) >> r & 1));
        store->left[b] = (uint8_t)(rows < rows_that_fill(rules, store, b) ? 2 + rows : 1);
    }
}

static void put_row(const struct rules *rules, struct stored *store, const struct bk_action *action,
                    unsigned bucket)
{
    uint8_t *buckets = &store->buckets[action->row.sequence];
    for (unsigned r = 0; r < store->taken && *buckets == 0; r++)
        if (is_line_between(rules, action->row.time_ns, store->times[r]))
            store->overtaken |= (uint8_t)(1u << action->row.sequence);
    *buckets |= (uint8_t)(1u << bucket);
    if (rules->is_in_turn)
        leave(rules, store, action->bucket);
}

static void write_state(const struct rules *rules, struct stored *store, const struct bk_action *action)
{
    for (unsigned i = 0; i < BK_COLUMNS; i++)
        if (action->mask >> i & 1)
            store->state[i] = action->columns[i];
    store->has_state |= (uint8_t)action->mask;
    /* The state of numbers names the bucket of the last one that was given. */
    if (!rules->is_count || rules->config.agent.source >= BK_SOURCE_INCREMENTAL)
        leave(rules, store, newest_left(rules, store));
}

/* Answers with a row. A column without a value is answered as one that no agent may use. */
static void answer_row(const int64_t *row, unsigned mask, unsigned columns, struct bk_outcome *told)
{
    told->mask = mask;
    for (unsigned i = 0; i < columns; i++)
        told->columns[i] = mask >> i & 1 ? row[i] : NO_VALUE;
}

/* Returns whether the condition held. */
static bool compare_and_set(const struct rules *rules, struct stored *store, const struct bk_action *action,
                            struct bk_outcome *told)
{
    const bool is_lock = action->kind == BK_ACT_CAS_LOCK;
    const unsigned mask = is_lock ? store->has_lock : store->has_state;
    const int64_t *row = is_lock ? store->lock : store->state;
    if (!holds(row, mask, action)) {
        told->kind = BK_OUTCOME_NOT_APPLIED;
        answer_row(row, mask, is_lock ? 2 : BK_COLUMNS, told);
        return false;
    }
    if (is_lock) {
        memcpy(store->lock, action->columns, sizeof store->lock);
        store->has_lock = 3;
    } else {
        write_state(rules, store, action);
    }
    return true;
}

static void read_rows(const struct rules *rules, const struct stored *store, const struct bk_read_step *step,
                      struct answer *answer)
{
    for (int64_t bucket = step->bucket_low; bucket <= step->bucket_high; bucket++) {
        bool is_empty = true;
        for (unsigned r = 0; r < rules->config.rows && bucket < (int64_t)BUCKETS_MAX; r++) {
            if ((store->buckets[r] >> bucket & 1) == 0)
                continue;
            is_empty = false;
            answer->told.saw_older |= store->times[r] < step->from_ns;
            if (store->times[r] < step->from_ns || store->times[r] >= step->until_ns)
                continue;
            answer->told.rows++;
            answer->seen |= UINT64_C(1) << r;
        }
        if (is_empty && bucket - step->bucket_low < 64)
            answer->told.empty |= UINT64_C(1) << (bucket - step->bucket_low);
    }
}

/* Whether a row is after a place in the clustering order, by time and then by id. */
static bool is_after(int64_t time_ns, int64_t id, const int64_t *place)
{
    return time_ns > place[BK_PLACE_TIME] || (time_ns == place[BK_PLACE_TIME] && id > place[BK_PLACE_ID]);
}

static void count_rows(const struct rules *rules, const struct stored *store, const struct bk_action *action,
                       unsigned bucket, struct bk_outcome *told)
{
    for (unsigned r = 0; r < rules->config.rows && action->bucket == (int64_t)bucket; r++) {
        const int64_t time_ns = store->times[r], id = (int64_t)rules->rows[r].id;
        if ((store->buckets[r] >> bucket & 1) == 0 ||
            (action->mask != 0 && !is_after(time_ns, id, action->columns)))
            continue;
        if (told->rows++ == 0 || is_after(time_ns, id, told->columns)) {
            told->columns[BK_PLACE_TIME] = time_ns;
            told->columns[BK_PLACE_ID] = id;
        }
        told->mask = 3;
    }
}

uint32_t explore_perform(const struct rules *rules, struct stored *store, const struct bk_action *action,
                         struct answer *answer)
{
    struct bk_outcome *told = &answer->told;
    const unsigned bucket =
        (uint64_t)action->bucket < BUCKETS_MAX ? (unsigned)action->bucket : BUCKETS_MAX - 1;
    uint8_t *counter = &store->counters[rules->is_guarded ? bucket : 0];
    uint32_t met = 0;
    told->kind = BK_OUTCOME_APPLIED;
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        put_row(rules, store, action, bucket);
        met |= (uint32_t)(bucket > 0) << EXPLORE_PROBE_ROLLED;
        break;
    case BK_ACT_READ_STATE:
        answer_row(store->state, store->has_state, BK_COLUMNS, told);
        break;
    case BK_ACT_WRITE_STATE:
        write_state(rules, store, action);
        break;
    case BK_ACT_CAS_STATE:
    case BK_ACT_CAS_LOCK:
        if (!compare_and_set(rules, store, action, told))
            met |= 1u << EXPLORE_PROBE_RACED;
        break;
    case BK_ACT_ADD_COUNTER:
        *counter += (uint8_t)action->amount;
        break;
    case BK_ACT_READ_COUNTER:
        told->counter = *counter;
        break;
    case BK_ACT_READ_START:
        answer_row(&store->starts[bucket], store->has_start >> bucket & 1, 1, told);
        break;
    case BK_ACT_WRITE_START:
        store->starts[bucket] = action->columns[0];
        store->has_start |= (uint8_t)(1u << bucket);
        break;
    case BK_ACT_COUNT_ROWS:
        count_rows(rules, store, action, bucket, told);
        break;
    case BK_ACT_READ_ROWS:
        read_rows(rules, store, &action->step, answer);
        met |= (uint32_t)(answer->seen != 0) << EXPLORE_PROBE_READ;
        break;
    case BK_ACT_ACK:
    case BK_ACT_DONE:
        break;
    }
    return met | (uint32_t)(store->state[BK_COLUMN_BUCKET] > 0) << EXPLORE_PROBE_ROLLED;
}

/* --- Rules. */
/* Whether no bucket gets more rows than fill it: with conditional numbers always; with a counter's numbers
 * where one operation follows the other and nothing is unknown; else where nothing fails, too. */
static bool is_bounded(const struct rules *rules, uint32_t may)
{
    const struct bk_agent_config *agent = &rules->config.agent;
    if (rules->is_count && agent->source == BK_SOURCE_COUNTER)
        return rules->config.agents * agent->operations == 1 && (may & ~(1u << EXPLORE_REFUSED)) == 0;
    if (rules->is_in_turn && (rules->is_count || agent->coordination <= BK_LOCKED))
        return true;
    return rules->is_count && (agent->source == BK_SOURCE_LWT || agent->source == BK_SOURCE_LEASE) &&
           rules->config.then == 0 && (may >> EXPLORE_GONE & 1) == 0;
}

/* Each guarantee applies to a protocol if the lab judges it there. */
static uint32_t judged_by(const struct rules *rules)
{
    const struct bk_agent_config *agent = &rules->config.agent;
    uint32_t judged = 1u << LAB_ORACLE_NO_DUPLICATES | 1u << LAB_ORACLE_FINDABLE |
                      1u << LAB_ORACLE_AVAILABLE | 1u << LAB_ORACLE_CONSERVED;
    /* A writer that counts in memory counts a row when it places it, stored or not. */
    const bool is_known = agent->source != BK_SOURCE_MEMORY ||
                          (agent->operations == 1 && rules->config.faults <= agent->retries);
    if (!rules->is_count)
        judged |= 1u << LAB_ORACLE_NEWEST | 1u << LAB_ORACLE_MONOTONE;
    if (!rules->is_count || (agent->source >= BK_SOURCE_INCREMENTAL && is_known))
        judged |= 1u << LAB_ORACLE_FILLED;
    if (agent->strategy.max_age_ns == 0)
        judged |= judged >> LAB_ORACLE_FILLED & 1 ? 1u << LAB_ORACLE_NO_GAPS : 0;
    else if (!rules->is_count || agent->source >= BK_SOURCE_INCREMENTAL)
        judged |= 1u << LAB_ORACLE_LINES;
    return judged | (rules->is_in_turn ? 1u << LAB_ORACLE_FILLED : 0) |
           (rules->most != UINT_MAX ? 1u << LAB_ORACLE_BOUNDED : 0);
}

/* Gives each row an id with which it fires or does not, as the settings ask. */
static void draw_rows(struct rules *rules)
{
    const struct bk_strategy *strategy = &rules->config.agent.strategy;
    for (unsigned r = 0; r < rules->config.rows; r++) {
        struct bk_row *row = &rules->rows[r];
        const bool fires = rules->config.fires >> r & 1 && !rules->is_count;
        const uint64_t own = (r + 1) * UINT64_C(0x100000000), ids[] = {own, own + 1, own | UINT64_C(1) << 63};
        *row = (struct bk_row){.sequence = r, .bytes = 1, .id = own};
        for (size_t i = 1; i < sizeof ids / sizeof *ids && bk_fires(strategy, row) != fires; i++)
            row->id = ids[i];
    }
}

/* Rows from the first second on follow another threshold. */
static bool change_settings(struct explore_config *config, struct sim_error *error)
{
    struct bk_agent_config *agent = &config->agent;
    struct bk_strategy next = agent->strategy;
    if (next.kind == BK_KIND_WEIGHTED)
        return sim_fail(error, SIM_ERROR_INPUT, "--then: not with `weighted`");
    *(next.kind == BK_KIND_COUNT ? &next.of.count.rows : &next.of.probabilistic.threshold) = config->then;
    enum bk_status status = bk_history_begin(&agent->strategy, &agent->history);
    if (status == BK_OK)
        status = bk_history_change(&agent->history, EXPLORE_FIRST_NS + EXPLORE_TICK_NS, &next);
    if (status == BK_OK)
        status = bk_agent_check(agent);
    return status == BK_OK || sim_fail(error, SIM_ERROR_INPUT, "--then: %s", bk_status_text(status));
}

bool explore_rules(const struct explore_config *config, struct rules *out, struct sim_error *error)
{
    const struct bk_agent_config *agent = &config->agent;
    const enum bk_status status = bk_agent_check(agent);
    if (status != BK_OK)
        return sim_fail(error, SIM_ERROR_INPUT, "the agents' settings: %s", bk_status_text(status));
    if (config->agents < 1 || config->agents > EXPLORE_AGENTS_MAX || config->rows < 1 ||
        config->rows > EXPLORE_ROWS_MAX || config->reads > EXPLORE_READS_MAX ||
        config->ticks > EXPLORE_TICKS_MAX || config->faults > EXPLORE_FAULTS_MAX ||
        agent->operations > OPERATIONS_MAX)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "a world has 1 to %u agents with 1 to %u operations each, 1 to %u rows, up to %u reads, "
            "up to %u ticks and up to %u faults",
            EXPLORE_AGENTS_MAX, OPERATIONS_MAX, EXPLORE_ROWS_MAX, EXPLORE_READS_MAX, EXPLORE_TICKS_MAX,
            EXPLORE_FAULTS_MAX);
    const uint32_t may = config->faults > 0 ? config->may : 0;
    *out = (struct rules){.config = *config,
                          .is_guarded = agent->coordination == BK_GUARDED,
                          .is_count = agent->strategy.kind == BK_KIND_COUNT,
                          .is_in_turn = config->agents * agent->operations == 1 && config->faults == 0,
                          .most = UINT_MAX};
    out->reads_are_judged = out->is_guarded || out->is_count;
    out->has_state = !out->is_count || agent->source >= BK_SOURCE_LWT;
    out->has_column =
        out->is_count ? agent->source == BK_SOURCE_COUNTER : agent->counter == BK_COUNTER_NATIVE;
    out->is_certain =
        out->is_guarded && (may & (1u << EXPLORE_LOST | 1u << EXPLORE_LATE | 1u << EXPLORE_UNKNOWN)) == 0;
    if (is_bounded(out, may))
        out->most = (unsigned)(config->then > config->threshold ? config->then : config->threshold);
    out->judged = judged_by(out);
    draw_rows(out);
    return config->then == 0 || change_settings(&out->config, error);
}
