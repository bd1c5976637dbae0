/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "naive.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/digest.h"
#include "kernel/time.h"
#include "workload/rows.h"

struct rows {
    int64_t *times, *late;
    uint64_t *ids, *bytes;
    size_t count, capacity;
};

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static void draw_rows(const struct lab_scenario *scenario, uint64_t key_index, struct rows *rows)
{
    struct wl_rows key;
    wl_rows_init(&key, &scenario->workload, key_index);
    size_t count;
    rows->count = 0;
    do {
        if (rows->count + 7 > rows->capacity) {
            rows->capacity = rows->capacity * 2 + 64;
            rows->times = must(realloc(rows->times, rows->capacity * sizeof(int64_t)));
            rows->late = must(realloc(rows->late, rows->capacity * sizeof(int64_t)));
            rows->ids = must(realloc(rows->ids, rows->capacity * sizeof(uint64_t)));
            rows->bytes = must(realloc(rows->bytes, rows->capacity * sizeof(uint64_t)));
        }
        memset(rows->late + rows->count, 0, 7 * sizeof(int64_t));
        const struct wl_columns columns = {
            rows->times + rows->count, rows->ids + rows->count, rows->bytes + rows->count,
            wl_has_late(&scenario->workload) ? rows->late + rows->count : NULL};
        count = wl_rows_next(&key, INT64_MAX, 7, &columns);
        rows->count += count;
    } while (count == 7);
}

/* The key's partition of a bucket, or NULL. `first` is the index of the key's first partition. */
static struct naive_partition *find(struct naive_result *result, size_t first, int64_t bucket)
{
    for (size_t i = first; i < result->partition_count; i++) {
        if (result->partitions[i].bucket == bucket)
            return &result->partitions[i];
    }
    return NULL;
}

static struct naive_partition *place(struct naive_result *result, size_t first, uint64_t key_index,
                                     int64_t bucket, int64_t time_ns, uint64_t bytes)
{
    struct naive_partition *partition = find(result, first, bucket);
    if (partition == NULL) {
        if (result->partition_count == result->partition_capacity) {
            result->partition_capacity = result->partition_capacity * 2 + 64;
            result->partitions =
                must(realloc(result->partitions, result->partition_capacity * sizeof *result->partitions));
        }
        partition = &result->partitions[result->partition_count++];
        *partition = (struct naive_partition){.key_index = key_index, .bucket = bucket, .second = INT64_MIN};
    }
    int64_t second = floor_divide(time_ns, SIM_SECOND);
    if (partition->second != second)
        partition->rows_in_second = 0;
    partition->second = second;
    partition->rows_in_second++;
    if (partition->rows_in_second > result->peak)
        result->peak = partition->rows_in_second;
    partition->rows++;
    partition->bytes += bytes;
    return partition;
}

static int64_t window_at(const struct bk_strategy *strategy, int64_t time_ns)
{
    struct bk_row row = {.time_ns = time_ns};
    struct bk_route route;
    if (bk_route(strategy, NULL, &row, &route) != BK_OK)
        abort();
    return route.bucket;
}

static void read_newest(const struct lab_scenario *scenario, const struct bk_strategy *strategy,
                        struct naive_result *result, size_t first, const struct bk_key_state *state,
                        int64_t now_ns, int64_t birth_ns, uint64_t key_rows)
{
    int64_t newest = 0, oldest = 0, width = scenario->reads.plan == BK_PLAN_PAIR ? 2 : 1;
    if (strategy->kind == BK_TIME) {
        newest = window_at(strategy, now_ns);
        oldest = window_at(strategy, birth_ns);
    } else if (strategy->kind == BK_HASH) {
        newest = (int64_t)strategy->of.hash.buckets - 1;
        width = newest + 1;
    } else if (strategy->kind != BK_NONE) {
        newest = state->bucket;
    }
    struct naive_read read = {0, 0};
    uint64_t found = 0;
    for (int64_t bucket = newest; bucket >= oldest && found < scenario->reads.rows; bucket -= width) {
        for (int64_t asked = bucket; asked > bucket - width && asked >= oldest; asked--) {
            const struct naive_partition *partition = find(result, first, asked);
            read.partitions++;
            read.empties += partition == NULL;
            found += partition == NULL ? 0 : partition->rows;
        }
    }
    result->incomplete += found < (key_rows < scenario->reads.rows ? key_rows : scenario->reads.rows);
    if (result->read_count == result->read_capacity) {
        result->read_capacity = result->read_capacity * 2 + 64;
        result->reads = must(realloc(result->reads, result->read_capacity * sizeof *result->reads));
    }
    result->reads[result->read_count++] = read;
}

static int64_t own_time(const struct wl_workload *workload, int64_t time_ns, int64_t late_ns)
{
    int64_t resolution_ns = workload->resolution_ns == 0 ? 1 : workload->resolution_ns;
    return floor_divide(time_ns - late_ns, resolution_ns) * resolution_ns;
}

static void run_key(const struct lab_scenario *scenario, const struct bk_strategy *strategy,
                    uint64_t key_index, const struct rows *rows, struct naive_result *result)
{
    const struct wl_workload *workload = &scenario->workload;
    int64_t end_ns = workload->start_ns + workload->duration_ns;
    size_t first = result->partition_count;
    struct bk_key_state state = {0};
    struct sim_placement placement;
    sim_placement_init(&placement);
    struct sim_random reads;
    sim_random_init(&reads, scenario->seed, SIM_READ, key_index);
    double gap = scenario->reads.present
                     ? 1e9 / (scenario->reads.rate_per_s * sim_zipf_share(&workload->popularity, key_index))
                     : 0;
    int64_t read_ns =
        scenario->reads.present ? workload->start_ns + (int64_t)(sim_exponential(&reads) * gap) : INT64_MAX;
    int64_t birth_ns = INT64_MAX;
    for (size_t i = 0; i <= rows->count; i++) {
        int64_t time_ns = i < rows->count ? rows->times[i] : end_ns;
        for (; read_ns < time_ns; read_ns += (int64_t)(sim_exponential(&reads) * gap))
            read_newest(scenario, strategy, result, first, &state, read_ns, i > 0 ? birth_ns : read_ns, i);
        if (i == rows->count)
            break;
        /* One writer decides by its clock; a window is of the row's own time. */
        int64_t own_ns = own_time(workload, time_ns, rows->late[i]);
        birth_ns = own_ns < birth_ns ? own_ns : birth_ns;
        bool is_timed = strategy->kind == BK_TIME;
        struct bk_row row = {is_timed ? own_ns : time_ns, i, rows->ids[i], rows->bytes[i]};
        struct bk_route route;
        struct bk_effect effect;
        if (bk_route(strategy, &state, &row, &route) != BK_OK)
            abort();
        struct naive_partition *partition = place(result, first, key_index, route.bucket, time_ns, row.bytes);
        result->late += rows->late[i] > 0;
        if (is_timed && route.bucket < window_at(strategy, time_ns)) {
            result->into_closed++;
            result->reopened += !partition->is_reopened;
            partition->is_reopened = true;
        }
        sim_placement_add(&placement, route.bucket, 1);
        if (bk_advance(strategy, &state, &row, &effect) != BK_OK)
            abort();
        result->counter_increments += effect.counter_increments;
        result->state_writes += effect.state_writes;
    }
    result->rows += rows->count;
    result->keys += rows->count > 0;
    result->state_reads += (bk_kind_fires(strategy->kind) || strategy->max_age_ns != 0) && rows->count > 0;
    result->digest += sim_placement_finish(&placement, key_index);
    for (size_t i = first; i < result->partition_count; i++) {
        struct naive_partition *partition = &result->partitions[i];
        int64_t current = strategy->kind == BK_TIME ? window_at(strategy, end_ns) : state.bucket;
        current += state.is_begun && end_ns >= state.until_ns;
        partition->is_closed =
            strategy->kind != BK_HASH && strategy->kind != BK_NONE && current > partition->bucket;
    }
}

struct naive_result *naive_run(const struct lab_scenario *scenario, const struct bk_strategy *strategy)
{
    struct naive_result *result = must(calloc(1, sizeof *result));
    struct rows rows = {0};
    for (uint64_t key = 0; key < scenario->workload.key_count; key++) {
        draw_rows(scenario, key, &rows);
        run_key(scenario, strategy, key, &rows, result);
    }
    free(rows.times);
    free(rows.late);
    free(rows.ids);
    free(rows.bytes);
    return result;
}

void naive_free(struct naive_result *result)
{
    free(result->partitions);
    free(result->reads);
    free(result);
}
