/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The naive engine: one row at a time, each routed separately. */
#include "naive.h"

#include <stdlib.h>
#include <string.h>

#include "bucketing/history.h"
#include "kernel/digest.h"
#include "kernel/time.h"
#include "workload/workload.h"

/* The settings in force from a moment on, for a writer that knows no older settings. */
struct regime {
    int64_t from_ns;
    struct bk_history history;
};

/* One strategy applied to one key. */
struct writer {
    const struct lab_scenario *scenario;
    const struct lab_strategy *named;
    int64_t start_ns; /* of the run */
    size_t key_size;
    struct naive_disk disk;
    struct bk_key_state state;
    uint64_t rows_here; /* for put_counting(): rows of the newest bucket */
    struct regime regimes[LAB_CHANGES_MAX + 1];
    uint32_t regime_count, regime;
    struct bk_history_state history_state;
    struct sim_placement placement;
    size_t first; /* the key's first partition */
    int64_t birth_ns;
};

static bool changes(const struct writer *writer)
{
    return writer->named->settings.change_count > 0;
}

static bool counts_again(const struct lab_strategy *named)
{
    return named->settings.source == BK_SOURCE_INCREMENTAL || named->settings.source == BK_SOURCE_SCAN;
}

static const struct bk_history *history_of(const struct writer *writer)
{
    return &writer->regimes[writer->regime].history;
}

static int64_t days_of_month(int64_t month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = 1970 + naive_floor(month, 12), index = month - 12 * naive_floor(month, 12);
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[index] + (index == 1 && is_leap);
}

/* The number of the month, counted from 1970-01. */
static int64_t month_at(int64_t time_ns)
{
    int64_t days = naive_floor(time_ns, SIM_DAY), month = 0;
    for (; days < 0; month--)
        days += days_of_month(month - 1);
    for (; days >= days_of_month(month); month++)
        days -= days_of_month(month);
    return month;
}

int64_t naive_window(const struct bk_strategy *strategy, int64_t time_ns)
{
    switch (strategy->of.time.calendar) {
    case BK_CALENDAR_HOUR:
        return naive_floor(time_ns, SIM_HOUR);
    case BK_CALENDAR_DAY:
        return naive_floor(time_ns, SIM_DAY);
    case BK_CALENDAR_WEEK:
        return naive_floor(time_ns + 3 * SIM_DAY, 7 * SIM_DAY); /* 1970 began on a Thursday */
    case BK_CALENDAR_MONTH:
        return month_at(time_ns);
    case BK_CALENDAR_NONE:
        break;
    }
    return naive_floor(time_ns - strategy->of.time.epoch_ns, strategy->of.time.window_ns);
}

int64_t naive_shards(const struct bk_strategy *strategy)
{
    uint32_t shards = strategy->kind == BK_KIND_TIME ? strategy->of.time.shards : strategy->shards;
    return shards == 0 ? 1 : (int64_t)shards;
}

#define KEPT_MOST 62 /* windows */

struct naive_disk naive_disk_of(const struct naive_input *input, const struct lab_scenario *scenario,
                                const struct bk_strategy *strategy)
{
    int64_t ttl_ns = scenario->row_ttl_ns, kept_ns = ttl_ns + 10 * SIM_DAY, longest_ns = INT64_MAX;
    struct naive_disk disk = {0, 0};
    if (strategy != NULL && strategy->kind == BK_KIND_TIME) {
        int64_t window = naive_window(strategy, input->start_ns), end_ns = input->start_ns;
        for (int64_t step = 400 * SIM_DAY; step > 0; step /= 2)
            end_ns += naive_window(strategy, end_ns + step) == window ? step : 0;
        int64_t begin_ns = input->start_ns;
        for (int64_t step = 400 * SIM_DAY; step > 0; step /= 2)
            begin_ns -= naive_window(strategy, begin_ns - step) == window ? step : 0;
        longest_ns = end_ns + 1 - begin_ns;
    } else if (strategy != NULL && strategy->max_age_ns > 0) {
        longest_ns = strategy->max_age_ns;
    }
    if (ttl_ns <= 0 || input->end_ns - input->start_ns <= kept_ns || longest_ns <= kept_ns)
        return disk;
    disk.kept = kept_ns / (ttl_ns / 25 + 1);
    disk.kept = disk.kept > KEPT_MOST ? KEPT_MOST : disk.kept;
    disk.window_ns = kept_ns / disk.kept + 1;
    return disk;
}

void naive_on_disk(const struct naive_disk *disk, const struct naive_stored *rows, size_t count,
                   uint64_t *rows_out, uint64_t *bytes_out)
{
    int64_t newest = naive_floor(rows[count - 1].time_ns, disk->window_ns);
    *rows_out = *bytes_out = 0;
    for (size_t i = count; i-- > 0 && naive_floor(rows[i].time_ns, disk->window_ns) >= newest - disk->kept;) {
        ++*rows_out;
        *bytes_out += rows[i].bytes;
    }
}

/* Notes the first time at which some partition is above a limit. */
void naive_watch_limits(const struct lab_scenario *scenario, size_t key_size,
                        const struct naive_partition *partition, int64_t time_ns, struct naive_result *result)
{
    const struct lab_limits *limits = &scenario->limits;
    uint64_t bytes = partition->bytes;
    bytes += lab_partition_bytes(&scenario->row_cost, key_size, partition->rows, bytes);
    if (scenario->deletes.share > 0)
        bytes += partition->gone * lab_tombstone_bytes(&scenario->row_cost, LAB_STAMP_USUAL);
    bool is_over = (limits->partition_rows > 0 && partition->rows > limits->partition_rows) ||
                   (limits->partition_bytes > 0 && bytes > limits->partition_bytes);
    if (is_over && time_ns < result->first_over_ns)
        result->first_over_ns = time_ns;
}

/* The key's partition of a bucket, created if it has no rows yet. */
static struct naive_partition *place(const struct writer *writer, struct naive_result *result,
                                     uint64_t key_index, int64_t bucket, const struct naive_row *row)
{
    struct naive_partition *partition = NULL;
    for (size_t i = result->partition_count; partition == NULL && i > writer->first; i--) {
        if (result->partitions[i - 1].bucket == bucket)
            partition = &result->partitions[i - 1];
    }
    if (partition == NULL) {
        result->partitions = naive_grow(result->partitions, result->partition_count,
                                        &result->partition_capacity, sizeof *result->partitions);
        partition = &result->partitions[result->partition_count++];
        *partition = (struct naive_partition){
            .key_index = key_index, .bucket = bucket, .first_ns = row->time_ns, .second = INT64_MIN};
    }
    int64_t second = naive_floor(row->time_ns, SIM_SECOND);
    if (partition->second != second)
        partition->rows_in_second = 0;
    partition->second = second;
    partition->rows_in_second++;
    if (partition->rows_in_second > result->peak)
        result->peak = partition->rows_in_second;
    partition->written++;
    partition->gone += row->is_deleted || row->is_expired;
    struct naive_partition now = *partition;
    now.rows++;
    now.bytes += row->weight;
    if (writer->disk.window_ns > 0) {
        partition->stored = naive_grow(partition->stored, partition->stored_count,
                                       &partition->stored_capacity, sizeof *partition->stored);
        partition->stored[partition->stored_count++] = (struct naive_stored){row->time_ns, row->weight};
        naive_on_disk(&writer->disk, partition->stored, partition->stored_count, &now.rows, &now.bytes);
    }
    naive_watch_limits(writer->scenario, writer->key_size, &now, row->time_ns, result);
    partition->rows = now.rows > partition->rows ? now.rows : partition->rows;
    partition->bytes = now.bytes > partition->bytes ? now.bytes : partition->bytes;
    return partition;
}

/* --- settings that change */

static void make_regimes(struct writer *writer, int64_t start_ns)
{
    const struct lab_strategy *named = writer->named;
    enum bk_status status = bk_history_begin(&named->settings.strategy, &writer->regimes[0].history);
    writer->regimes[0].from_ns = INT64_MIN;
    writer->regime_count = 1;
    for (uint32_t i = 0; status == BK_OK && i < named->settings.change_count; i++) {
        const struct lab_change *change = &named->settings.changes[i];
        struct regime *last = &writer->regimes[writer->regime_count - 1];
        if (change->keeps_old) {
            status = bk_history_change(&last->history, start_ns + change->at_ns, &change->strategy);
            continue;
        }
        last[1].from_ns = start_ns + change->at_ns;
        status = bk_history_begin(&change->strategy, &last[1].history);
        writer->regime_count++;
    }
    if (status != BK_OK)
        abort();
}

/* A writer that forgets the old settings keeps the contents of the database: the number of rows, from which
 * the bucket of a count follows, or the key's state, whose count stays below the new threshold. */
static void enter(struct writer *writer, int64_t now_ns, uint64_t rows)
{
    while (writer->regime + 1 < writer->regime_count &&
           now_ns >= writer->regimes[writer->regime + 1].from_ns) {
        writer->regime++;
        const struct bk_strategy *strategy = &history_of(writer)->eras[0].strategy;
        struct bk_history_state fresh = {.key = writer->history_state.key};
        if (strategy->kind == BK_KIND_COUNT && rows > 0) {
            fresh.key.bucket = (int64_t)((rows - 1) / strategy->of.count.rows);
            fresh.has_rows = true;
        }
        if (bk_kind_fires(strategy->kind) && fresh.key.counter > bk_threshold(strategy) - 1)
            fresh.key.counter = bk_threshold(strategy) - 1;
        writer->history_state = fresh;
    }
}

/* Whether the key's rows at that time go to a later partition; for buckets of forgotten settings, whether no
 * row goes to them any more. */
static bool is_left(const struct writer *writer, const struct naive_partition *partition, int64_t now_ns)
{
    const struct bk_history *history = history_of(writer);
    const struct bk_era *era = &history->eras[bk_history_era_at(history, now_ns)];
    if (era->strategy.kind == BK_KIND_HASH)
        return partition->bucket < era->shift ||
               partition->bucket >= era->shift + (int64_t)era->strategy.of.hash.buckets;
    if (partition->regime < writer->regime && !bk_kind_fires(era->strategy.kind))
        return true;
    if (era->strategy.kind != BK_KIND_TIME)
        return partition->bucket <
               era->shift + writer->history_state.key.bucket * naive_shards(&era->strategy);
    return naive_floor(partition->bucket - era->shift, naive_shards(&era->strategy)) <
           naive_window(&era->strategy, now_ns);
}

static int64_t put_by_history(struct writer *writer, struct naive_result *result, uint64_t key_index,
                              uint64_t number, const struct naive_row *row)
{
    enter(writer, row->time_ns, number);
    struct bk_row told = {row->own_ns, number, row->id, row->bytes};
    struct bk_placement route;
    struct bk_effect effect;
    if (bk_history_route(history_of(writer), &writer->history_state, &told, &route) != BK_OK)
        abort();
    struct naive_partition *partition = place(writer, result, key_index, route.bucket, row);
    partition->regime = writer->regime;
    partition->last_row = number;
    if (wl_has_own_times(&writer->scenario->workload) && is_left(writer, partition, row->time_ns)) {
        result->into_closed++;
        result->reopened += !partition->is_reopened;
        partition->is_reopened = true;
    }
    if (bk_history_advance(history_of(writer), &writer->history_state, &told, &effect) != BK_OK)
        abort();
    result->counter_increments += effect.counter_increments;
    result->state_writes += effect.state_writes;
    return route.bucket;
}

/* --- settings that hold throughout */

/* A writer that counts the rows of its bucket after every n-th row, and closes the bucket once there are
 * enough. */
static int64_t put_counting(struct writer *writer, struct naive_result *result, uint64_t key_index,
                            const struct naive_row *row)
{
    const struct lab_strategy *named = writer->named;
    int64_t bucket = writer->state.bucket;
    place(writer, result, key_index, bucket, row);
    if (++writer->rows_here % named->settings.every_rows != 0)
        return bucket;
    bool scans = named->settings.source == BK_SOURCE_SCAN,
         is_full = writer->rows_here >= named->settings.strategy.of.count.rows;
    result->state_reads++;
    result->rows_scanned += scans ? writer->rows_here : named->settings.every_rows;
    result->lwt += !scans;
    if (!is_full)
        return bucket;
    writer->state.bucket++;
    writer->rows_here = 0;
    /* A roll reads the state again before it writes the state. */
    result->state_reads += scans;
    result->state_writes += scans;
    return bucket;
}

/* The cost of the number of a row of BK_KIND_COUNT. */
static void pay_number(const struct lab_strategy *named, uint64_t number, bool is_first_of_bucket,
                       struct naive_result *result)
{
    bool is_first = number == 0;
    result->state_reads += is_first && named->settings.source >= BK_SOURCE_LWT;
    if (named->settings.source == BK_SOURCE_COUNTER) {
        result->counter_increments++;
        result->state_reads++;
    }
    result->lwt += named->settings.source == BK_SOURCE_LWT;
    result->lwt += named->settings.source == BK_SOURCE_LEASE && number % named->settings.lease_rows == 0;
    result->state_reads += named->settings.source == BK_SOURCE_MEMORY && is_first;
    result->state_writes += named->settings.source == BK_SOURCE_MEMORY && is_first_of_bucket && !is_first;
}

static int64_t put(struct writer *writer, struct naive_result *result, uint64_t key_index, uint64_t number,
                   const struct naive_row *row)
{
    const struct bk_strategy *strategy = &writer->named->settings.strategy;
    bool is_timed = strategy->kind == BK_KIND_TIME;
    int64_t bucket = naive_route(strategy, &writer->state, number, row, result);
    struct naive_partition *partition = place(writer, result, key_index, bucket, row);
    if (strategy->kind == BK_KIND_COUNT)
        pay_number(writer->named, number, partition->written == 1, result);
    if (is_timed && bucket < naive_window(strategy, row->time_ns) * naive_shards(strategy)) {
        result->into_closed++;
        result->reopened += !partition->is_reopened;
        partition->is_reopened = true;
    }
    return bucket;
}

/* The bucket of a row at the end of the run; 0 for kinds that never leave a bucket. */
static int64_t current_bucket(const struct writer *writer, int64_t end_ns)
{
    const struct bk_strategy *strategy = &writer->named->settings.strategy;
    if (strategy->kind == BK_KIND_HASH || strategy->kind == BK_KIND_UNBUCKETED)
        return 0;
    if (strategy->kind == BK_KIND_TIME)
        return naive_window(strategy, end_ns) * naive_shards(strategy);
    return (writer->state.bucket + (writer->state.is_begun && end_ns >= writer->state.until_ns)) *
           naive_shards(strategy);
}

/* --- */

static void look(const struct writer *writer, const struct naive_key *key, const int64_t *buckets,
                 size_t count, enum lab_read_kind kind, int64_t now_ns, struct naive_result *result)
{
    const struct naive_sight sight = {.scenario = writer->scenario,
                                      .named = writer->named,
                                      .state = &writer->state,
                                      .history = changes(writer) ? history_of(writer) : NULL,
                                      .history_state = &writer->history_state,
                                      .regime = writer->regime,
                                      .rows = key->rows,
                                      .buckets = buckets,
                                      .count = count,
                                      .start_ns = writer->start_ns,
                                      .now_ns = now_ns,
                                      .birth_ns = count > 0 ? writer->birth_ns : now_ns};
    naive_read_key(&sight, kind, result);
}

static int64_t after(int64_t time_ns, double gap_ns)
{
    return gap_ns >= 0x1p62 ? INT64_MAX : time_ns + (int64_t)gap_ns;
}

static void run_key(const struct naive_input *input, uint64_t key_index, struct writer *writer,
                    int64_t *buckets, struct naive_result *result)
{
    static const enum sim_purpose purposes[LAB_READ_KINDS] = {SIM_READ, SIM_READ_RANGE, SIM_READ_ALL};
    const struct naive_key *key = &input->keys[key_index];
    const struct lab_strategy *named = writer->named;
    int64_t read_ns[LAB_READ_KINDS];
    struct sim_random reads[LAB_READ_KINDS];
    double gap[LAB_READ_KINDS];
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        double rate = writer->scenario->reads.kinds[kind].rate_per_s * key->share;
        sim_random_init(&reads[kind], writer->scenario->seed, purposes[kind], key->entity);
        gap[kind] = 1e9 / rate;
        read_ns[kind] =
            rate > 0 ? after(input->start_ns, sim_exponential(&reads[kind]) * gap[kind]) : INT64_MAX;
    }
    for (size_t i = 0; i <= key->count; i++) {
        int64_t time_ns = i < key->count ? key->rows[i].time_ns : input->end_ns;
        for (;;) {
            int kind = 0;
            for (int other = 1; other < LAB_READ_KINDS; other++)
                kind = read_ns[other] < read_ns[kind] ? other : kind;
            if (read_ns[kind] >= time_ns)
                break;
            if (changes(writer))
                enter(writer, read_ns[kind], i);
            look(writer, key, buckets, i, (enum lab_read_kind)kind, read_ns[kind], result);
            read_ns[kind] = after(read_ns[kind], sim_exponential(&reads[kind]) * gap[kind]);
        }
        if (i == key->count)
            break;
        const struct naive_row *row = &key->rows[i];
        writer->birth_ns = row->own_ns < writer->birth_ns ? row->own_ns : writer->birth_ns;
        if (changes(writer)) {
            buckets[i] = put_by_history(writer, result, key_index, i, row);
        } else if (counts_again(named)) {
            result->state_reads += i == 0; /* the first row reads the state */
            buckets[i] = put_counting(writer, result, key_index, row);
        } else {
            buckets[i] = put(writer, result, key_index, i, row);
        }
        sim_placement_add(&writer->placement, buckets[i], 1);
        result->late += row->late_ns > 0;
        result->deleted += row->is_deleted;
        result->expired += row->is_expired;
    }
    bool keeps_state =
        bk_kind_fires(named->settings.strategy.kind) || named->settings.strategy.max_age_ns != 0;
    result->state_reads += keeps_state && key->count > 0;
    result->digest += sim_placement_finish(&writer->placement, key_index);
}

static void close_key(struct writer *writer, int64_t end_ns, uint64_t rows, struct naive_result *result)
{
    if (changes(writer))
        enter(writer, end_ns, rows);
    for (size_t i = writer->first; i < result->partition_count; i++) {
        struct naive_partition *partition = &result->partitions[i];
        partition->is_closed = (changes(writer) ? is_left(writer, partition, end_ns)
                                                : partition->bucket < current_bucket(writer, end_ns)) &&
                               partition->bucket >= result->first_whole;
    }
}

struct naive_result *naive_run(const struct naive_input *input, const struct lab_scenario *scenario,
                               const struct lab_strategy *strategy)
{
    struct naive_result *result = naive_must(calloc(1, sizeof *result));
    result->buckets = naive_must(calloc(input->rows + 1, sizeof *result->buckets));
    result->currents = naive_must(calloc(input->key_count + 1, sizeof *result->currents));
    int64_t *buckets = result->buckets;
    result->first_over_ns = INT64_MAX;
    result->first_whole = INT64_MIN;
    if (strategy->settings.strategy.kind == BK_KIND_TIME)
        result->first_whole = (naive_window(&strategy->settings.strategy,
                                            input->start_ns - scenario->workload.backfill_before_ns - 1) +
                               1) *
                              naive_shards(&strategy->settings.strategy);
    for (uint64_t i = 0; i < input->key_count; i++) {
        struct writer writer = {.scenario = scenario,
                                .named = strategy,
                                .start_ns = input->start_ns,
                                .key_size = strlen(input->keys[i].name),
                                .first = result->partition_count,
                                .birth_ns = INT64_MAX};
        if (strategy->settings.change_count == 0)
            writer.disk = naive_disk_of(input, scenario, &strategy->settings.strategy);
        else
            writer.disk = naive_disk_of(input, scenario, NULL);
        if (changes(&writer))
            make_regimes(&writer, input->start_ns);
        result->empty_count = 0;
        run_key(input, i, &writer, buckets, result);
        close_key(&writer, input->end_ns, input->keys[i].count, result);
        result->currents[i] = current_bucket(&writer, input->end_ns);
        buckets += input->keys[i].count;
    }
    for (size_t i = 0; i < result->partition_count; i++) {
        struct naive_partition *partition = &result->partitions[i];
        const struct lab_row_cost *cost = &scenario->row_cost;
        partition->bytes += lab_partition_bytes(cost, strlen(input->keys[partition->key_index].name),
                                                partition->rows, partition->bytes);
        if (scenario->deletes.share > 0)
            partition->bytes += partition->gone * lab_tombstone_bytes(cost, LAB_STAMP_USUAL);
    }
    return result;
}

void naive_free(struct naive_result *result)
{
    for (size_t i = 0; i < result->partition_count; i++)
        free(result->partitions[i].stored);
    free(result->partitions);
    free(result->reads);
    free(result->empty);
    free(result->buckets);
    free(result->currents);
    free(result);
}
