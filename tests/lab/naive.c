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
        *partition = (struct naive_partition){
            .key_index = key_index, .bucket = bucket, .first_ns = time_ns, .second = INT64_MIN};
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

/* What a read asks, as docs/scenario.md says it. */
struct question {
    enum lab_read_kind kind;
    int64_t newest, oldest, width;
    int64_t from_ns, until_ns;
    uint64_t wanted;
    bool asks_all, walks_to_older;
};

static struct question question_of(const struct lab_scenario *scenario, const struct lab_strategy *named,
                                   enum lab_read_kind kind, const struct bk_key_state *state, int64_t now_ns,
                                   int64_t birth_ns)
{
    const struct bk_strategy *strategy = &named->strategy;
    const struct lab_read *read = &scenario->reads.kinds[kind];
    enum bk_plan plan = named->reading.plan != BK_PLAN_DEFAULT ? named->reading.plan : read->plan;
    uint32_t at_once = named->reading.plan != BK_PLAN_DEFAULT ? named->reading.at_once : read->at_once;
    struct question question = {.kind = kind, .width = 1, .from_ns = INT64_MIN, .until_ns = INT64_MAX};
    if (kind == LAB_READ_RANGE) {
        question.until_ns = now_ns - read->age_ns;
        question.from_ns = question.until_ns - read->span_ns;
    }
    if (plan == BK_PLAN_PAIR && strategy->kind != BK_HASH)
        question.width = 2;
    if (plan == BK_PLAN_PARALLEL)
        question.width = at_once == 0 ? 8 : at_once;
    question.wanted = kind == LAB_READ_LATEST ? read->rows : UINT64_MAX;
    if (strategy->kind == BK_TIME) {
        int64_t last_ns = question.until_ns - 1 < now_ns ? question.until_ns - 1 : now_ns;
        int64_t first_ns = question.from_ns > birth_ns ? question.from_ns : birth_ns;
        question.newest = window_at(strategy, last_ns);
        question.oldest = first_ns > last_ns ? question.newest + 1 : window_at(strategy, first_ns);
    } else if (strategy->kind == BK_HASH) {
        question.newest = (int64_t)strategy->of.hash.buckets - 1;
        question.asks_all = plan != BK_PLAN_LAZY;
        if (plan != BK_PLAN_LAZY && plan != BK_PLAN_PARALLEL)
            question.width = question.newest + 1;
    } else if (strategy->kind != BK_NONE) {
        question.newest = state->bucket;
        question.walks_to_older = kind == LAB_READ_RANGE;
        bool is_dated = bk_kind_fires(strategy->kind) && kind == LAB_READ_RANGE && state->bucket > 0;
        if (is_dated && question.from_ns > state->last_change_ns)
            question.oldest = state->bucket;
        if (is_dated && question.until_ns <= state->last_change_ns)
            question.newest--;
    }
    return question;
}

/* Of each bucket that may be asked, the rows of the question's times, and those that are older. */
struct answers {
    uint64_t *wanted, *older, due;
};

static struct answers answer(const struct question *question, const struct rows *rows, const int64_t *buckets,
                             size_t count)
{
    size_t asked =
        question->newest < question->oldest ? 0 : (size_t)(question->newest - question->oldest) + 1;
    struct answers answers = {must(calloc(asked + 1, sizeof(uint64_t))),
                              must(calloc(asked + 1, sizeof(uint64_t))), 0};
    for (size_t i = 0; i < count; i++) {
        bool is_older = rows->times[i] < question->from_ns;
        bool is_wanted = !is_older && rows->times[i] < question->until_ns;
        answers.due += is_wanted;
        if (buckets[i] < question->oldest || buckets[i] > question->newest)
            continue;
        answers.wanted[buckets[i] - question->oldest] += is_wanted;
        answers.older[buckets[i] - question->oldest] += is_older;
    }
    return answers;
}

/* What the reader remembers of the windows is a plain list of them. */
static bool is_remembered(struct naive_result *result, int64_t bucket)
{
    for (size_t i = 0; i < result->empty_count; i++) {
        if (result->empty[i] == bucket)
            return true;
    }
    return false;
}

static void remember(struct naive_result *result, const struct lab_strategy *named, int64_t bucket,
                     int64_t now_ns)
{
    if (!named->reading.remembers_empty ||
        window_at(&named->strategy, now_ns - named->reading.late_ns) <= bucket)
        return;
    if (result->empty_count == result->empty_capacity) {
        result->empty_capacity = result->empty_capacity * 2 + 64;
        result->empty = must(realloc(result->empty, result->empty_capacity * sizeof *result->empty));
    }
    result->empty[result->empty_count++] = bucket;
}

static void read_key(const struct lab_scenario *scenario, const struct lab_strategy *named,
                     enum lab_read_kind kind, struct naive_result *result, const struct bk_key_state *state,
                     const struct rows *rows, const int64_t *buckets, size_t count, int64_t now_ns,
                     int64_t birth_ns)
{
    struct question question = question_of(scenario, named, kind, state, now_ns, birth_ns);
    struct naive_read read = {.kind = kind};
    struct answers answers = answer(&question, rows, buckets, count);
    uint64_t found = 0, filled = 0;
    bool is_over = false;
    int64_t bucket = question.newest;
    while (bucket >= question.oldest && !is_over && (question.asks_all || found < question.wanted)) {
        uint64_t limit = question.asks_all ? question.wanted : question.wanted - found, in_step = 0;
        bool saw_older = false;
        if (is_remembered(result, bucket)) {
            bucket--;
            continue;
        }
        for (int64_t i = 0; i < question.width && bucket >= question.oldest && !is_remembered(result, bucket);
             i++, bucket--) {
            uint64_t wanted = answers.wanted[bucket - question.oldest];
            uint64_t older = answers.older[bucket - question.oldest];
            read.partitions++;
            read.empties += wanted == 0;
            filled += wanted > 0;
            read.scanned += wanted < limit ? wanted : limit;
            read.scanned += question.walks_to_older && older > 0;
            saw_older = saw_older || older > 0;
            in_step += wanted;
            /* A window that the range covers in part may hold other rows. */
            if (wanted == 0 && named->reading.remembers_empty &&
                (kind != LAB_READ_RANGE || (window_at(&named->strategy, question.from_ns - 1) < bucket &&
                                            window_at(&named->strategy, question.until_ns) > bucket)))
                remember(result, named, bucket, now_ns);
        }
        found += in_step;
        is_over = question.walks_to_older && in_step == 0 && saw_older;
    }
    read.is_incomplete = found < (answers.due < question.wanted ? answers.due : question.wanted);
    free(answers.wanted);
    free(answers.older);
    read.is_out_of_order = named->strategy.kind == BK_HASH && !question.asks_all &&
                           named->strategy.of.hash.buckets > 1 && (filled > 1 || bucket >= question.oldest);
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

static void run_key(const struct lab_scenario *scenario, const struct lab_strategy *named, uint64_t key_index,
                    const struct rows *rows, struct naive_result *result)
{
    static const enum sim_purpose purposes[LAB_READ_KINDS] = {SIM_READ, SIM_READ_RANGE, SIM_READ_ALL};
    const struct bk_strategy *strategy = &named->strategy;
    const struct wl_workload *workload = &scenario->workload;
    int64_t end_ns = workload->start_ns + workload->duration_ns;
    size_t first = result->partition_count;
    struct bk_key_state state = {0};
    struct sim_placement placement;
    sim_placement_init(&placement);
    int64_t *buckets = must(malloc((rows->count + 1) * sizeof *buckets)), read_ns[LAB_READ_KINDS];
    struct sim_random reads[LAB_READ_KINDS];
    double gap[LAB_READ_KINDS];
    result->empty_count = 0;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        double rate = scenario->reads.kinds[kind].rate_per_s;
        sim_random_init(&reads[kind], scenario->seed, purposes[kind], key_index);
        gap[kind] = 1e9 / (rate * sim_zipf_share(&workload->popularity, key_index));
        read_ns[kind] =
            rate > 0 ? workload->start_ns + (int64_t)(sim_exponential(&reads[kind]) * gap[kind]) : INT64_MAX;
    }
    int64_t birth_ns = INT64_MAX;
    for (size_t i = 0; i <= rows->count; i++) {
        int64_t time_ns = i < rows->count ? rows->times[i] : end_ns;
        for (;;) {
            int kind = 0;
            for (int other = 1; other < LAB_READ_KINDS; other++)
                kind = read_ns[other] < read_ns[kind] ? other : kind;
            if (read_ns[kind] >= time_ns)
                break;
            read_key(scenario, named, (enum lab_read_kind)kind, result, &state, rows, buckets, i,
                     read_ns[kind], i > 0 ? birth_ns : read_ns[kind]);
            read_ns[kind] += (int64_t)(sim_exponential(&reads[kind]) * gap[kind]);
        }
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
        buckets[i] = route.bucket;
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
    free(buckets);
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

struct naive_result *naive_run(const struct lab_scenario *scenario, const struct lab_strategy *strategy)
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
    free(result->empty);
    free(result);
}
