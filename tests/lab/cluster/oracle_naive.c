/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A naive judge: the oracles' definitions without their shortcuts. */
#include "oracle_naive.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"

static bool walks(const struct naive *naive)
{
    return naive->kind != BK_KIND_HASH;
}

void naive_begin(struct naive *naive)
{
    bool follows_time = naive->kind == BK_KIND_PROBABILISTIC || naive->kind == BK_KIND_TIME ||
                        naive->kind == BK_KIND_UNBUCKETED;
    bool has_threshold = naive->kind == BK_KIND_PROBABILISTIC || naive->kind == BK_KIND_COUNT;
    naive->now_ns = naive->start_ns;
    naive->is_judged[LAB_ORACLE_FINDABLE] = naive->is_judged[LAB_ORACLE_CONSERVED] = true;
    naive->is_judged[LAB_ORACLE_NO_DUPLICATES] = true;
    naive->is_judged[LAB_ORACLE_NEWEST] = walks(naive);
    naive->is_judged[LAB_ORACLE_AGREEMENT] = naive->is_judged[LAB_ORACLE_MONOTONE] = follows_time;
    naive->is_judged[LAB_ORACLE_NO_GAPS] = naive->is_judged[LAB_ORACLE_BOUNDED] = has_threshold;
}

/* Compares the row with each row that was placed before it. */
static void judge_order(struct naive *naive, const struct naive_row *row)
{
    bool disagrees = false, goes_back = false;
    for (const struct naive_row *other = naive->rows; other < row; other++) {
        if (other->key != row->key || other->puts[0] == row->puts[0])
            continue;
        const struct naive_row *low = other->puts[0] < row->puts[0] ? other : row;
        const struct naive_row *high = low == row ? other : row;
        int64_t apart_ns = low->time_ns - high->time_ns;
        goes_back = goes_back || apart_ns >= 0;
        disagrees = disagrees || (apart_ns > naive->tolerance_ns && other->agent != row->agent);
    }
    if (naive->is_judged[LAB_ORACLE_AGREEMENT])
        naive->violations[LAB_ORACLE_AGREEMENT] += disagrees;
    if (naive->is_judged[LAB_ORACLE_MONOTONE])
        naive->violations[LAB_ORACLE_MONOTONE] += goes_back;
}

struct naive_row *naive_place(struct naive *naive, uint32_t key, uint64_t number, int64_t time_ns,
                              int64_t bucket, uint32_t agent)
{
    struct naive_row *row = &naive->rows[naive->row_count++];
    *row = (struct naive_row){.key = key,
                              .agent = agent,
                              .number = number,
                              .time_ns = time_ns,
                              .placed_ns = naive->now_ns,
                              .puts = {bucket},
                              .put_count = 1};
    judge_order(naive, row);
    return row;
}

void naive_move(struct naive_row *row, int64_t bucket)
{
    row->puts[row->put_count++] = bucket;
}

static int by_bucket(const void *a, const void *b)
{
    const struct naive_stored *one = a, *other = b;
    return (one->bucket < other->bucket) - (one->bucket > other->bucket);
}

/* Newest first; at equal times the higher bucket first. */
static int by_time(const void *a, const void *b)
{
    const struct naive_stored *one = a, *other = b;
    int order = (one->row->time_ns < other->row->time_ns) - (one->row->time_ns > other->row->time_ns);
    return order != 0 ? order : by_bucket(a, b);
}

/* The order in which a reader meets rows: the highest bucket first, and in a bucket the newest row first. */
static int by_walk(const void *a, const void *b)
{
    int order = by_bucket(a, b);
    return order != 0 ? order : by_time(a, b);
}

static int64_t state_bucket(const struct naive *naive, uint32_t key)
{
    int64_t bucket = 0;
    for (uint32_t i = 0; i < naive->state_count; i++)
        bucket = naive->states[i].key == key ? naive->states[i].bucket : bucket;
    return bucket;
}

static int64_t reader_start(const struct naive *naive, uint32_t key)
{
    uint64_t rows = 0;
    switch (naive->kind) {
    case BK_KIND_PROBABILISTIC:
        return state_bucket(naive, key);
    case BK_KIND_TIME:
        return (naive->now_ns + naive->tolerance_ns - naive->start_ns) / naive->window_ns;
    case BK_KIND_COUNT:
        for (uint32_t i = 0; i < naive->row_count; i++)
            rows += naive->rows[i].key == key;
        return rows == 0 ? 0 : (int64_t)((rows - 1) / naive->partition_rows);
    default:
        return 0;
    }
}

/* The first n rows that a reader meets must be the first n rows by time. */
static void judge_newest(struct naive *naive, uint32_t key)
{
    static struct naive_stored all[NAIVE_ROWS], met[NAIVE_ROWS];
    uint32_t all_count = 0, met_count = 0;
    for (uint32_t i = 0; i < naive->stored_count; i++) {
        if (naive->stored[i].row->key != key)
            continue;
        all[all_count++] = naive->stored[i];
        if (naive->stored[i].bucket <= reader_start(naive, key))
            met[met_count++] = naive->stored[i];
    }
    qsort(met, met_count, sizeof *met, by_walk);
    met_count = met_count < naive->newest ? met_count : (uint32_t)naive->newest;
    qsort(met, met_count, sizeof *met, by_time);
    qsort(all, all_count, sizeof *all, by_time);
    all_count = all_count < naive->newest ? all_count : (uint32_t)naive->newest;
    bool is_missed = met_count < all_count;
    for (uint32_t i = 0; i < all_count && !is_missed; i++)
        is_missed = by_time(&met[i], &all[i]) != 0;
    if (naive->is_judged[LAB_ORACLE_NEWEST])
        naive->violations[LAB_ORACLE_NEWEST] += is_missed;
}

void naive_store(struct naive *naive, const struct naive_row *row, int64_t bucket, uint32_t replicas)
{
    for (uint32_t i = 0; i < naive->stored_count; i++) {
        if (naive->stored[i].row == row && naive->stored[i].bucket == bucket) {
            naive->stored[i].replicas |= replicas;
            return;
        }
    }
    naive->stored[naive->stored_count++] = (struct naive_stored){row, bucket, naive->now_ns, replicas};
    judge_newest(naive, row->key);
}

/* Counts every acknowledged row that readers cannot find now, once per row. */
static void judge_findable(struct naive *naive)
{
    for (uint32_t i = 0; i < naive->row_count && walks(naive); i++) {
        struct naive_row *row = &naive->rows[i];
        if (row->ending == NAIVE_ACKNOWLEDGED && !row->is_unfindable &&
            row->puts[row->put_count - 1] > reader_start(naive, row->key)) {
            row->is_unfindable = true;
            naive->violations[LAB_ORACLE_FINDABLE]++;
        }
    }
}

static const struct naive_stored *find_stored(const struct naive *naive, const struct naive_row *row,
                                              int64_t bucket)
{
    for (uint32_t i = 0; i < naive->stored_count; i++) {
        if (naive->stored[i].row == row && naive->stored[i].bucket == bucket)
            return &naive->stored[i];
    }
    return NULL;
}

/* The end of the last fault and of what it delayed; INT64_MAX during a fault. */
static int64_t well_since(const struct naive *naive)
{
    int64_t since_ns = naive->open_unhealthy_count > 0 ? INT64_MAX : naive->start_ns;
    for (uint32_t i = 0; i < naive->unhealthy_count; i++)
        since_ns = naive->unhealthy[i].until_ns > since_ns ? naive->unhealthy[i].until_ns : since_ns;
    return since_ns;
}

void naive_acknowledge(struct naive *naive, struct naive_row *row)
{
    row->ending = NAIVE_ACKNOWLEDGED;
    int64_t bucket = row->puts[row->put_count - 1];
    judge_findable(naive);
    const struct naive_stored *stored = find_stored(naive, row, bucket);
    uint32_t held = stored == NULL ? naive->factor : (uint32_t)__builtin_popcount(stored->replicas);
    if (!row->is_unfindable && naive->read_replicas > 0 && naive->read_replicas <= naive->factor - held) {
        row->is_unfindable = true;
        naive->violations[LAB_ORACLE_FINDABLE]++;
    }
    int64_t since_ns = well_since(naive);
    bool is_well = since_ns <= naive->now_ns && naive->now_ns - since_ns >= naive->lag_ns;
    if (row->fires && is_well && bucket >= state_bucket(naive, row->key))
        naive->fired[naive->fired_count++] = (struct naive_fired){row->key, bucket, naive->now_ns};
}

/* The time at which the first row was put or stored there; INT64_MAX if there was none. */
static int64_t begin_of(const struct naive *naive, uint32_t key, int64_t bucket)
{
    int64_t first_ns = INT64_MAX;
    for (uint32_t i = 0; i < naive->row_count; i++) {
        const struct naive_row *row = &naive->rows[i];
        if (row->key == key && row->puts[0] == bucket && row->placed_ns < first_ns)
            first_ns = row->placed_ns;
    }
    for (uint32_t i = 0; i < naive->stored_count; i++) {
        const struct naive_stored *stored = &naive->stored[i];
        if (stored->row->key == key && stored->bucket == bucket && stored->stored_ns < first_ns)
            first_ns = stored->stored_ns;
    }
    return first_ns;
}

/* If all firing rows of a partition were counted, the threshold-th row must roll its key before its operation
 * ends. */
void naive_ended(struct naive *naive, struct naive_row *row)
{
    int64_t bucket = row->puts[row->put_count - 1], first_ns = begin_of(naive, row->key, bucket);
    uint64_t counted = 0, uncounted = 0;
    row->is_tallied = row->ending == NAIVE_ACKNOWLEDGED && row->fires && first_ns != INT64_MAX;
    if (!row->is_tallied || naive->kind != BK_KIND_PROBABILISTIC)
        return;
    for (uint32_t i = 0; i < naive->row_count; i++) {
        const struct naive_row *other = &naive->rows[i];
        bool is_there =
            other->is_tallied && other->key == row->key && other->puts[other->put_count - 1] == bucket;
        counted += is_there && other->is_counted;
        uncounted += is_there && !other->is_counted;
    }
    int64_t since_ns = well_since(naive);
    bool was_well = since_ns <= naive->now_ns && first_ns >= since_ns + naive->lag_ns;
    naive->violations[LAB_ORACLE_BOUNDED] += row->is_counted && uncounted == 0 &&
                                             counted == naive->threshold && was_well &&
                                             bucket >= state_bucket(naive, row->key);
}

static void judge_gaps(struct naive *naive, uint32_t key, int64_t until)
{
    if (!naive->is_judged[LAB_ORACLE_NO_GAPS])
        return;
    for (int64_t *bucket = &naive->gaps_judged[key]; *bucket < until; ++*bucket) {
        bool is_empty = true;
        for (uint32_t i = 0; i < naive->stored_count; i++)
            is_empty = is_empty && (naive->stored[i].row->key != key || naive->stored[i].bucket != *bucket);
        naive->violations[LAB_ORACLE_NO_GAPS] += is_empty;
    }
}

/* The highest bucket, from the state's bucket down, without a known date in the future. */
static int64_t bucket_now(const struct naive *naive, uint32_t key)
{
    int64_t bucket = state_bucket(naive, key);
    for (; bucket > 0; bucket--) {
        int64_t date_ns = INT64_MIN;
        for (uint32_t i = 0; i < naive->state_count; i++) {
            if (naive->states[i].key == key && naive->states[i].bucket == bucket)
                date_ns = naive->states[i].date_ns;
        }
        if (date_ns <= naive->now_ns)
            break;
    }
    return bucket;
}

void naive_state(struct naive *naive, uint32_t key, int64_t bucket, int64_t date_ns)
{
    naive->violations[LAB_ORACLE_BOUNDED] +=
        naive->is_dated && bucket > state_bucket(naive, key) && date_ns > naive->now_ns;
    naive->states[naive->state_count++] = (struct naive_state){key, bucket, date_ns};
    judge_findable(naive);
    judge_gaps(naive, key, bucket_now(naive, key));
}

void naive_fault(struct naive *naive, bool begins)
{
    if (begins) {
        naive->open_unhealthy[naive->open_unhealthy_count++] = (struct naive_span){naive->now_ns, INT64_MAX};
        return;
    }
    struct naive_span ended = naive->open_unhealthy[--naive->open_unhealthy_count];
    ended.until_ns = naive->now_ns + naive->settle_ns;
    naive->unhealthy[naive->unhealthy_count++] = ended;
}

void naive_pulse(struct naive *naive, int64_t until_ns)
{
    naive->unhealthy[naive->unhealthy_count++] =
        (struct naive_span){naive->now_ns, until_ns + naive->settle_ns};
}

/* Rows that are stored in two of the buckets that they were put into. */
static void judge_duplicates(struct naive *naive)
{
    for (uint32_t i = 0; i < naive->row_count; i++) {
        const struct naive_row *row = &naive->rows[i];
        bool stands_twice = false;
        for (uint32_t one = 0; one < row->put_count; one++) {
            for (uint32_t other = 0; other < one; other++)
                stands_twice = stands_twice || (row->puts[one] != row->puts[other] &&
                                                find_stored(naive, row, row->puts[one]) != NULL &&
                                                find_stored(naive, row, row->puts[other]) != NULL);
        }
        naive->violations[LAB_ORACLE_NO_DUPLICATES] += stands_twice;
    }
}

/* The largest number of rows of a key that were placed within one whole second. */
static uint64_t peak_of(const struct naive *naive, uint32_t key)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i < naive->row_count; i++) {
        uint64_t rows = 0;
        for (uint32_t j = 0; j < naive->row_count; j++)
            rows += naive->rows[j].key == key && naive->rows[i].key == key &&
                    naive->rows[j].placed_ns / SIM_SECOND == naive->rows[i].placed_ns / SIM_SECOND;
        peak = rows > peak ? rows : peak;
    }
    return peak;
}

/* The unhealthy time before this moment: the union of the spans, cut at all of their ends. */
static int64_t unhealthy_until(const struct naive *naive, int64_t time_ns)
{
    int64_t at_ns = naive->start_ns, sum_ns = 0;
    while (at_ns < time_ns) {
        int64_t next_ns = time_ns;
        bool is_unhealthy = false;
        for (uint32_t i = 0; i < naive->unhealthy_count + naive->open_unhealthy_count; i++) {
            const struct naive_span *span = i < naive->unhealthy_count
                                                ? &naive->unhealthy[i]
                                                : &naive->open_unhealthy[i - naive->unhealthy_count];
            is_unhealthy = is_unhealthy || (span->from_ns <= at_ns && at_ns < span->until_ns);
            if (span->from_ns > at_ns && span->from_ns < next_ns)
                next_ns = span->from_ns;
            if (span->until_ns > at_ns && span->until_ns < next_ns)
                next_ns = span->until_ns;
        }
        sum_ns += is_unhealthy ? next_ns - at_ns : 0;
        at_ns = next_ns;
    }
    return sum_ns;
}

static bool outgrows(const struct naive *naive, uint32_t key, int64_t bucket, uint64_t peak)
{
    uint64_t stored = 0, lost = 0;
    int64_t first_ns = INT64_MAX, last_ns = 0;
    for (uint32_t i = 0; i < naive->stored_count; i++) {
        if (naive->stored[i].row->key != key || naive->stored[i].bucket != bucket)
            continue;
        stored++;
        last_ns = naive->stored[i].stored_ns;
        first_ns = last_ns < first_ns ? last_ns : first_ns;
    }
    for (uint32_t i = 0; i < naive->row_count; i++) {
        const struct naive_row *row = &naive->rows[i];
        if (row->key != key)
            continue;
        if (row->puts[0] == bucket && row->placed_ns < first_ns)
            first_ns = row->placed_ns;
        lost += row->ending == NAIVE_ACKNOWLEDGED && row->fires && !row->is_counted &&
                row->puts[row->put_count - 1] == bucket;
    }
    if (naive->kind == BK_KIND_COUNT)
        return stored > naive->partition_rows;
    int64_t lag_ns = naive->lag_ns + unhealthy_until(naive, last_ns) - unhealthy_until(naive, first_ns);
    uint64_t seconds = (uint64_t)((lag_ns + SIM_SECOND - 1) / SIM_SECOND) + 1;
    return stored > naive->partition_rows + lost + seconds * peak;
}

static void judge_bounded(struct naive *naive)
{
    for (uint32_t key = 0; key < naive->key_count && naive->is_judged[LAB_ORACLE_BOUNDED]; key++) {
        uint64_t peak = peak_of(naive, key);
        for (int64_t bucket = 0; bucket < 64; bucket++)
            naive->violations[LAB_ORACLE_BOUNDED] += outgrows(naive, key, bucket, peak);
    }
}

/* Compares the stored rows of each partition with those that should be there. A row of unknown outcome may be
 * stored wherever it was put, and so may a row that was put into several buckets. */
static void judge_conserved(struct naive *naive)
{
    uint64_t under_way = naive->unplaced;
    for (uint32_t i = 0; i < naive->row_count; i++)
        under_way += naive->rows[i].ending == NAIVE_UNDER_WAY;
    naive->violations[LAB_ORACLE_CONSERVED] += under_way > 0;
    for (uint32_t key = 0; key < naive->key_count; key++) {
        for (int64_t bucket = 0; bucket < 64; bucket++) {
            bool differs = false;
            for (uint32_t i = 0; i < naive->row_count; i++) {
                const struct naive_row *row = &naive->rows[i];
                bool was_put = false, stands = find_stored(naive, row, bucket) != NULL;
                for (uint32_t put = 0; put < row->put_count; put++)
                    was_put = was_put || row->puts[put] == bucket;
                bool is_told = row->ending == NAIVE_ACKNOWLEDGED && row->puts[row->put_count - 1] == bucket;
                bool may_stand = was_put && (row->ending == NAIVE_UNKNOWN || row->put_count > 1);
                differs = differs ||
                          (row->key == key && ((is_told && !stands) || (stands && !is_told && !may_stand)));
            }
            naive->violations[LAB_ORACLE_CONSERVED] += differs;
        }
    }
}

static bool is_stuck(const struct naive *naive, uint32_t key, int64_t bucket, int64_t from_ns)
{
    uint64_t fired = 0;
    int64_t full_ns = 0;
    for (uint32_t i = 0; i < naive->fired_count; i++) {
        const struct naive_fired *at = &naive->fired[i];
        if (at->key != key || at->bucket != bucket || at->at_ns < from_ns)
            continue;
        if (++fired == 2 * naive->threshold + 16)
            full_ns = at->at_ns;
        if (fired > 2 * naive->threshold + 16 && at->at_ns > full_ns + naive->lag_ns)
            return true;
    }
    return false;
}

static void judge_live(struct naive *naive)
{
    int64_t since_ns = well_since(naive);
    naive->is_judged[LAB_ORACLE_LIVE] = naive->kind == BK_KIND_PROBABILISTIC && since_ns <= naive->now_ns &&
                                        naive->now_ns - since_ns >= naive->lag_ns;
    for (uint32_t key = 0; key < naive->key_count && naive->is_judged[LAB_ORACLE_LIVE]; key++) {
        bool is_any = false;
        for (int64_t bucket = 0; bucket < 64; bucket++)
            is_any = is_any || is_stuck(naive, key, bucket, since_ns + naive->lag_ns);
        naive->violations[LAB_ORACLE_LIVE] += is_any;
    }
}

void naive_end(struct naive *naive)
{
    for (uint32_t key = 0; key < naive->key_count; key++) {
        int64_t highest = 0;
        for (uint32_t i = 0; i < naive->row_count; i++) {
            if (naive->rows[i].key == key && naive->rows[i].puts[0] > highest)
                highest = naive->rows[i].puts[0];
        }
        for (uint32_t i = 0; i < naive->stored_count; i++) {
            if (naive->stored[i].row->key == key && naive->stored[i].bucket > highest)
                highest = naive->stored[i].bucket;
        }
        if (naive->kind == BK_KIND_PROBABILISTIC)
            judge_gaps(naive, key, bucket_now(naive, key));
        else if (naive->kind == BK_KIND_COUNT)
            judge_gaps(naive, key, highest);
    }
    judge_duplicates(naive);
    judge_bounded(naive);
    judge_conserved(naive);
    judge_live(naive);
}
