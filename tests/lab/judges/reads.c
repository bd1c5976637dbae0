/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the steps of a read. core's read.h has the rules, which are implemented here a second time: a
 * read goes down from its newest bucket, queries each bucket once, skips only windows that its agent
 * remembers as empty, requests the rows that it still needs, and ends when it has found enough rows, at its
 * lowest bucket, at its limit, or, for a range, where a bucket has only older rows. Its result is the sum of
 * its steps. */
#include "judges.h"

#include <inttypes.h>

/* The state of a read between two actions. */
struct place {
    struct lab_cluster_run *run;
    uint32_t agent;
    const struct lab_host_operation *operation;
    const struct bk_action *next;
    struct bk_query query;
};

static void demand(const struct place *place, bool is_fine, const char *otherwise)
{
    if (!is_fine)
        judge_violate(place->run, place->operation->key,
                      "agent %" PRIu32 ": a read from bucket %" PRId64 " %s", place->agent,
                      own(place->run, place->operation)->walk.top, otherwise);
}

static int64_t before(int64_t time_ns, int64_t span_ns, int64_t least_ns)
{
    int64_t earlier_ns;
    bool is_early = __builtin_sub_overflow(time_ns, span_ns, &earlier_ns) || earlier_ns < least_ns;
    return is_early ? least_ns : earlier_ns;
}

/* The query that the scenario declares for a read of this kind. */
static struct bk_query declared(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    static const enum bk_query_kind kinds[LAB_READ_KINDS] = {[LAB_READ_LATEST] = BK_QUERY_LATEST,
                                                             [LAB_READ_RANGE] = BK_QUERY_RANGE,
                                                             [LAB_READ_ALL] = BK_QUERY_ALL};
    const struct lab_read *read = &run->scenario->reads.kinds[operation->read];
    const struct lab_reading *set = &run->strategy->settings.reading;
    const struct lab_walk *walk = &own(run, operation)->walk;
    bool is_own = set->plan != BK_PLAN_DEFAULT, is_hash = run->config.strategy.kind == BK_KIND_HASH;
    struct bk_query query = {.kind = kinds[operation->read],
                             .plan = is_own ? set->plan : read->plan,
                             .at_once = is_own ? set->at_once : read->at_once,
                             .rows = read->rows,
                             .partitions_max = run->scenario->reads.limit,
                             .now_ns = walk->now_ns,
                             .birth_ns = walk->birth_ns};
    if (is_hash && (query.plan == BK_PLAN_WALK || query.plan == BK_PLAN_PAIR))
        query.plan = BK_PLAN_DEFAULT;
    query.until_ns = before(query.now_ns, read->age_ns, INT64_MIN + 1);
    query.from_ns = before(query.until_ns, read->span_ns, INT64_MIN);
    return query;
}

/* Returns whether all agents have the same settings during the whole run, so that bucket numbers have no
 * gaps. */
static bool is_plain(const struct place *place)
{
    return place->run->strategy->settings.change_count == 0;
}

static int64_t shards_of(const struct place *place)
{
    return lab_shards(&place->run->config.strategy);
}

/* The first bucket of the window. */
static int64_t window_of(const struct place *place, int64_t time_ns)
{
    const struct bk_strategy *strategy = &place->run->config.strategy;
    struct bk_row row = {.time_ns = time_ns};
    struct bk_placement route;
    return bk_route(strategy, NULL, &row, &route) == BK_OK ? lab_first_shard(strategy, route.bucket) : 0;
}

static int64_t newest_ns(const struct bk_query *query)
{
    bool is_range = query->kind == BK_QUERY_RANGE;
    return is_range && query->until_ns - 1 < query->now_ns ? query->until_ns - 1 : query->now_ns;
}

static int64_t oldest_ns(const struct bk_query *query)
{
    int64_t birth_ns = query->birth_ns < query->now_ns ? query->birth_ns : query->now_ns;
    return query->kind == BK_QUERY_RANGE && query->from_ns > birth_ns ? query->from_ns : birth_ns;
}

/* Judges the windows that are skipped between two steps, above the first step or below the last one. */
static void judge_spared(const struct place *place, int64_t low, int64_t high)
{
    if (place->run->config.remember_keys > 0)
        demand(place, lab_empties_know(place->run, place->agent, place->operation->key, low, high),
               "skips a window that its agent did not find empty after the window's end");
}

static void judge_first(const struct place *place)
{
    const struct bk_strategy *strategy = &place->run->config.strategy;
    int64_t high = place->next->step.bucket_high, due = high;
    if (!is_plain(place))
        return;
    if (strategy->kind == BK_KIND_TIME)
        due = window_of(place, newest_ns(&place->query)) + shards_of(place) - 1;
    else if (strategy->kind == BK_KIND_HASH || strategy->kind == BK_KIND_UNBUCKETED)
        due = strategy->kind == BK_KIND_HASH ? (int64_t)strategy->of.hash.buckets - 1 : 0;
    if (place->run->config.remember_keys == 0)
        demand(place, high == due, "does not begin at its newest bucket");
    else if (high <= due)
        judge_spared(place, high + 1, due);
    else
        demand(place, false, "begins above its newest bucket");
}

/* Each bucket of a hash is queried for the full number of rows, unless the buckets are queried one after the
 * other. */
static bool asks_each(const struct place *place)
{
    return place->run->config.strategy.kind == BK_KIND_HASH && place->query.plan != BK_PLAN_LAZY;
}

/* Returns the number of buckets of a step. */
static uint64_t width_of(const struct place *place)
{
    const struct bk_strategy *strategy = &place->run->config.strategy;
    const uint64_t shards = (uint64_t)shards_of(place);
    const uint64_t at_once = place->query.at_once != 0 ? place->query.at_once : BK_AT_ONCE_DEFAULT;
    switch (place->query.plan) {
    case BK_PLAN_PAIR:
        return 2 * shards;
    case BK_PLAN_PARALLEL: /* whole windows */
        return at_once < shards ? shards : at_once / shards * shards;
    case BK_PLAN_WALK:
    case BK_PLAN_LAZY:
        return shards;
    default:
        return strategy->kind == BK_KIND_HASH ? strategy->of.hash.buckets : shards;
    }
}

/* A step may be narrower at the lowest bucket of the read, which the starts of buckets raise for a range, at
 * a limit, and above a window that is known to be empty. */
static void judge_width(const struct place *place)
{
    const struct bk_read_step *step = &place->next->step;
    uint64_t width = (uint64_t)(step->bucket_high - step->bucket_low) + 1, due = width_of(place);
    bool is_time = place->run->config.strategy.kind == BK_KIND_TIME;
    if (!is_plain(place))
        return;
    demand(place, width <= due, "queries more buckets at once than its plan");
    if (width < due && place->query.kind != BK_QUERY_RANGE && place->run->config.remember_keys == 0 &&
        place->query.partitions_max == 0)
        demand(place, step->bucket_low == (is_time ? window_of(place, oldest_ns(&place->query)) : 0),
               "queries fewer buckets at once than its plan");
}

static void judge_limit(const struct place *place)
{
    uint64_t wanted = UINT64_MAX;
    if (!is_plain(place))
        return;
    if (place->query.kind == BK_QUERY_LATEST)
        wanted = place->query.rows - (asks_each(place) ? 0 : own(place->run, place->operation)->walk.rows);
    demand(place, place->next->step.rows == wanted, "requests a number of rows other than it lacks");
    demand(place,
           place->query.kind != BK_QUERY_RANGE || (place->next->step.from_ns == place->query.from_ns &&
                                                   place->next->step.until_ns == place->query.until_ns),
           "requests times other than its range");
}

/* A client that routes a retry itself may store the row in a bucket that its agent does not know. */
void lab_reads_keep(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation)
{
    of_agent(run, agent)->stored.is_known = !operation->is_moved;
    of_agent(run, agent)->stored.key = operation->key;
    of_agent(run, agent)->stored.bucket = operation->bucket;
    if (of_agent(run, agent)->stored.is_known)
        lab_empties_stored(run, agent, operation);
}

/* Judges that a read does not skip the window of the row that its agent stored last. */
static void judge_stored(const struct place *place)
{
    const struct lab_host_operation *operation = place->operation;
    int64_t bucket = of_agent(place->run, place->agent)->stored.bucket;
    if (!of_agent(place->run, place->agent)->stored.is_known ||
        of_agent(place->run, place->agent)->stored.key != operation->key ||
        bucket < place->next->step.bucket_low)
        return;
    if (operation->action == BK_ACT_READ_ROWS && bucket < operation->step_low)
        demand(place, bucket <= place->next->step.bucket_high,
               "skips a window as empty although its agent has stored a row there");
    if (bucket <= place->next->step.bucket_high)
        of_agent(place->run, place->agent)->stored.is_known =
            false; /* it may learn that the row does not exist any more */
}

static void judge_asked(const struct place *place)
{
    const struct lab_host_operation *operation = place->operation;
    const struct bk_read_step *step = &place->next->step;
    judge_stored(place);
    if (operation->action != BK_ACT_READ_ROWS) {
        judge_first(place);
    } else if (lab_has_failed(operation->outcome.kind)) {
        demand(place, step->bucket_low == operation->step_low, "repeats a step with other buckets");
    } else {
        demand(place, step->bucket_high < operation->step_low, "queries a bucket twice or goes up");
        demand(place,
               step->bucket_high == operation->step_low - 1 || !is_plain(place) ||
                   place->run->config.remember_keys > 0,
               "skips a bucket");
        judge_spared(place, step->bucket_high + 1, operation->step_low - 1);
    }
    judge_limit(place);
    judge_width(place);
}

/* Returns the conditions under which a bucket may have two dates: a state that went back is written again, or
 * two operations plan a date with three states concurrently, or the planned date is not the stored one. */
static uint32_t may_date_anew(const struct lab_cluster_run *run)
{
    uint32_t causes = lab_may_go_back(run);
    if (run->config.coordination == BK_THREE_STATE)
        causes |= UINT32_C(1) << LAB_CONDITION_WEAK_LEVELS | UINT32_C(1) << LAB_CONDITION_PAXOS_LOST |
                  UINT32_C(1) << LAB_CONDITION_CHANGES_AT_ONCE | UINT32_C(1) << LAB_CONDITION_UNKNOWN_WRITE |
                  UINT32_C(1) << LAB_CONDITION_LATE_STATE_WRITE;
    return causes;
}

/* Returns whether the known start of the last queried bucket shows that all rows of lower buckets are older
 * than the range. */
static bool starts_before_range(const struct place *place, int64_t bucket)
{
    const struct lab_cluster_run *run = place->run;
    uint32_t key = place->operation->key;
    const struct lab_cluster_key *state = &run->keys[key];
    bool is_dated = run->config.coordination == BK_GUARDED || run->config.coordination == BK_THREE_STATE;
    if ((lab_conditions_met(run, key) & may_date_anew(run)) != 0)
        return true;
    return is_dated && (size_t)bucket < state->change_count && state->changes[bucket] != 0 &&
           state->changes[bucket] < place->query.from_ns;
}

static bool may_end(const struct place *place)
{
    const struct lab_host_operation *operation = place->operation;
    const struct bk_outcome *heard = &operation->outcome;
    enum bk_kind kind = place->run->config.strategy.kind;
    bool is_range = place->query.kind == BK_QUERY_RANGE;
    if (place->query.kind == BK_QUERY_LATEST && !asks_each(place) &&
        own(place->run, operation)->walk.rows >= place->query.rows)
        return true;
    if (kind == BK_KIND_TIME) {
        int64_t floor = window_of(place, oldest_ns(&place->query));
        judge_spared(place, floor, operation->step_low - 1);
        return place->run->config.remember_keys > 0 || operation->step_low == floor;
    }
    bool is_in_time_order = kind != BK_KIND_HASH && is_range;
    return operation->step_low == 0 ||
           (is_in_time_order &&
            ((heard->rows == 0 && heard->saw_older) || starts_before_range(place, operation->step_low)));
}

static void judge_end(const struct place *place)
{
    const struct lab_host_operation *operation = place->operation;
    const struct lab_walk *walk = &own(place->run, operation)->walk;
    const struct bk_action *next = place->next;
    const struct lab_settings *settings = &place->run->strategy->settings;
    uint64_t limit = place->query.partitions_max, shards = (uint64_t)shards_of(place);
    for (size_t i = 0; i < settings->change_count; i++)
        if ((uint64_t)lab_shards(&settings->changes[i].strategy) > shards)
            shards = (uint64_t)lab_shards(&settings->changes[i].strategy);
    if (operation->action != BK_ACT_READ_ROWS || lab_has_failed(operation->outcome.kind))
        return;
    demand(place, next->rows_found == walk->rows, "reports a number of rows other than it found");
    demand(place, next->partitions_asked == walk->partitions,
           "reports a number of partitions other than it queried");
    if (next->status == BK_OPERATION_TOO_LONG)
        demand(place, limit > 0 && walk->partitions + shards > limit, /* whole windows of an era */
               "stops at a limit that it has not reached");
    else
        demand(place, next->status == BK_OPERATION_OK && (!is_plain(place) || may_end(place)),
               "ends before it has found enough rows although buckets are left");
}

void lab_reads_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next)
{
    if (!operation->is_read)
        return;
    struct place place = {run, agent, operation, next, declared(run, operation)};
    struct lab_walk *walk = &own(run, operation)->walk;
    if (operation->action == BK_ACT_READ_ROWS && !lab_has_failed(operation->outcome.kind)) {
        walk->rows += operation->outcome.rows;
        walk->partitions += walk->width;
    }
    if (next->kind == BK_ACT_DONE)
        judge_end(&place);
    if (next->kind == BK_ACT_DONE &&
        (next->status == BK_OPERATION_OK || next->status == BK_OPERATION_TOO_LONG))
        lab_request_spent(run, LAB_LATENCY_READ, operation->begun_ns);
    if (next->kind != BK_ACT_READ_ROWS)
        return;
    if (operation->action != BK_ACT_READ_ROWS) {
        walk->top = next->step.bucket_high;
        walk->rows = walk->partitions = 0;
    }
    judge_asked(&place);
    demand(&place,
           place.query.partitions_max == 0 ||
               walk->partitions + (uint64_t)(next->step.bucket_high - next->step.bucket_low) <
                   place.query.partitions_max,
           "queries more partitions than its limit");
    walk->width = (uint64_t)(next->step.bucket_high - next->step.bucket_low) + 1;
}
