/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The naive engine's reads, as docs/scenario.md describes them: all rows of the key are scanned, each bucket
 * is queried separately, and a reader's memory is a plain list. If settings change, the core's reader
 * determines which buckets to query. */
#include <stdlib.h>

#include "bucketing/history.h"
#include "kernel/time.h"
#include "naive.h"
#include "workload/workload.h"

struct question {
    enum lab_read_kind kind;
    int64_t newest, oldest, width;
    int64_t from_ns, until_ns;
    uint64_t wanted, most; /* rows; the maximum number of partitions to query */
    bool asks_all, walks_to_older;
};

static enum bk_plan plan_of(const struct naive_sight *sight, enum lab_read_kind kind, uint32_t *at_once)
{
    const struct lab_read *read = &sight->scenario->reads.kinds[kind];
    bool is_own = sight->named->settings.reading.plan != BK_PLAN_DEFAULT;
    *at_once = is_own ? sight->named->settings.reading.at_once : read->at_once;
    return is_own ? sight->named->settings.reading.plan : read->plan;
}

static struct question question_of(const struct naive_sight *sight, enum lab_read_kind kind)
{
    const struct bk_strategy *strategy = &sight->named->settings.strategy;
    const struct lab_read *read = &sight->scenario->reads.kinds[kind];
    uint32_t at_once;
    enum bk_plan plan = plan_of(sight, kind, &at_once);
    struct question question = {.kind = kind, .width = 1, .from_ns = INT64_MIN, .until_ns = INT64_MAX};
    question.most = sight->scenario->reads.limit == 0 ? UINT64_MAX : sight->scenario->reads.limit;
    if (kind == LAB_READ_RANGE) {
        question.until_ns = sight->now_ns - read->age_ns;
        question.from_ns = question.until_ns - read->span_ns;
    }
    if (plan == BK_PLAN_PAIR && strategy->kind != BK_KIND_HASH)
        question.width = 2;
    if (plan == BK_PLAN_PARALLEL)
        question.width = at_once == 0 ? 8 : at_once;
    question.wanted = kind == LAB_READ_LATEST ? read->rows : UINT64_MAX;
    const int64_t shards = naive_shards(strategy);
    if (strategy->kind == BK_KIND_TIME) {
        int64_t last_ns = question.until_ns - 1 < sight->now_ns ? question.until_ns - 1 : sight->now_ns;
        int64_t first_ns = question.from_ns > sight->birth_ns ? question.from_ns : sight->birth_ns;
        question.newest = naive_window(strategy, last_ns) * shards + shards - 1;
        question.oldest =
            first_ns > last_ns ? question.newest + 1 : naive_window(strategy, first_ns) * shards;
    } else if (strategy->kind == BK_KIND_HASH) {
        question.newest = (int64_t)strategy->of.hash.buckets - 1;
        question.asks_all = plan != BK_PLAN_LAZY;
        if (plan != BK_PLAN_LAZY && plan != BK_PLAN_PARALLEL)
            question.width = question.newest + 1;
    } else if (strategy->kind != BK_KIND_UNBUCKETED) {
        question.newest = (sight->state->bucket + 1) * shards - 1;
        question.walks_to_older = kind == LAB_READ_RANGE;
        bool is_dated = bk_kind_fires(strategy->kind) && kind == LAB_READ_RANGE && sight->state->bucket > 0;
        if (is_dated && question.from_ns > sight->state->last_change_ns)
            question.oldest = sight->state->bucket * shards;
        if (is_dated && question.until_ns <= sight->state->last_change_ns)
            question.newest -= shards;
    }
    /* Whole windows or buckets. */
    if (question.most != UINT64_MAX)
        question.most -= question.most % (uint64_t)shards;
    if (plan == BK_PLAN_PARALLEL)
        question.width = question.width < shards ? 1 : question.width / shards;
    question.width *= shards;
    return question;
}

/* Cassandra's times to live are counted in whole seconds. */
static bool is_gone(const struct naive_sight *sight, const struct naive_row *row)
{
    int64_t ttl_ns = sight->scenario->row_ttl_ns;
    return ttl_ns > 0 && naive_floor(sight->now_ns, SIM_SECOND) - naive_floor(row->time_ns, SIM_SECOND) >=
                             (ttl_ns + SIM_SECOND - 1) / SIM_SECOND;
}

/* For each bucket that may be queried, the number of rows in the query's times, and of older rows. */
struct answers {
    uint64_t *wanted, *older, due;
};

static struct answers answer(const struct question *question, const struct naive_sight *sight)
{
    size_t asked =
        question->newest < question->oldest ? 0 : (size_t)(question->newest - question->oldest) + 1;
    struct answers answers = {naive_must(calloc(asked + 1, sizeof(uint64_t))),
                              naive_must(calloc(asked + 1, sizeof(uint64_t))), 0};
    for (size_t i = 0; i < sight->count; i++) {
        if (is_gone(sight, &sight->rows[i]))
            continue;
        bool is_older = sight->rows[i].time_ns < question->from_ns;
        bool is_wanted = !is_older && sight->rows[i].time_ns < question->until_ns;
        answers.due += is_wanted;
        if (sight->buckets[i] < question->oldest || sight->buckets[i] > question->newest)
            continue;
        answers.wanted[sight->buckets[i] - question->oldest] += is_wanted;
        answers.older[sight->buckets[i] - question->oldest] += is_older;
    }
    return answers;
}

/* A reader's memory of the windows is a plain list of them. */
static bool is_remembered(const struct naive_result *result, int64_t bucket)
{
    for (size_t i = 0; i < result->empty_count; i++) {
        if (result->empty[i] == bucket)
            return true;
    }
    return false;
}

/* A window that a range covers in part may hold other rows, and a window that ended recently may still get
 * rows. */
static void remember(struct naive_result *result, const struct naive_sight *sight,
                     const struct question *question, int64_t window)
{
    const struct lab_strategy *named = sight->named;
    int64_t shards = naive_shards(&named->settings.strategy);
    if (!named->settings.reading.remembers_empty ||
        naive_window(&named->settings.strategy, sight->now_ns - named->settings.reading.late_ns) <= window)
        return;
    if (question->kind == LAB_READ_RANGE &&
        (naive_window(&named->settings.strategy, question->from_ns - 1) >= window ||
         naive_window(&named->settings.strategy, question->until_ns) <= window))
        return;
    for (int64_t bucket = window * shards; bucket < (window + 1) * shards; bucket++) {
        result->empty =
            naive_grow(result->empty, result->empty_count, &result->empty_capacity, sizeof *result->empty);
        result->empty[result->empty_count++] = bucket;
    }
}

static void add_read(struct naive_result *result, struct naive_read read)
{
    result->reads =
        naive_grow(result->reads, result->read_count, &result->read_capacity, sizeof *result->reads);
    result->reads[result->read_count++] = read;
}

/* Whether the range began before the stream. */
static bool is_before(const struct naive_sight *sight, enum lab_read_kind kind)
{
    const struct lab_read *range = &sight->scenario->reads.kinds[LAB_READ_RANGE];
    return kind == LAB_READ_RANGE && sight->now_ns - sight->start_ns - range->age_ns < range->span_ns;
}

/* The core's reader over the eras, one step at a time. */
static void read_history(const struct naive_sight *sight, enum lab_read_kind kind,
                         struct naive_result *result)
{
    static const enum bk_query_kind kinds[] = {BK_QUERY_LATEST, BK_QUERY_RANGE, BK_QUERY_ALL};
    const struct question question = question_of(sight, kind);
    struct bk_query query = {.kind = kinds[kind],
                             .rows = question.wanted,
                             .from_ns = question.from_ns,
                             .until_ns = question.until_ns,
                             .now_ns = sight->now_ns,
                             .birth_ns = sight->birth_ns,
                             .partitions_max = sight->scenario->reads.limit};
    query.plan = plan_of(sight, kind, &query.at_once);
    if (sight->named->settings.strategy.kind == BK_KIND_HASH &&
        (query.plan == BK_PLAN_WALK || query.plan == BK_PLAN_PAIR))
        query.plan = BK_PLAN_DEFAULT;
    struct bk_history_reader reader;
    struct bk_read_step step;
    struct naive_read read = {.kind = kind, .is_before = is_before(sight, kind)};
    if (bk_history_read_begin(sight->history, sight->history_state, &query, &reader) != BK_OK)
        abort();
    uint64_t due = 0, filled = 0;
    for (size_t i = 0; i < sight->count; i++)
        due += sight->rows[i].time_ns >= question.from_ns && sight->rows[i].time_ns < question.until_ns;
    due = due < question.wanted ? due : question.wanted;
    bool *is_asked = naive_must(calloc(sight->count + 1, sizeof *is_asked));
    while (bk_history_read_next(sight->history, &reader, &step)) {
        uint64_t in_step = 0;
        bool saw_older = false;
        for (int64_t bucket = step.bucket_high; bucket >= step.bucket_low; bucket--) {
            uint64_t rows = 0, older = 0;
            for (size_t i = 0; i < sight->count; i++) {
                if (sight->buckets[i] != bucket)
                    continue;
                older += sight->rows[i].time_ns < question.from_ns;
                rows +=
                    sight->rows[i].time_ns >= question.from_ns && sight->rows[i].time_ns < question.until_ns;
                is_asked[i] = true;
            }
            filled += rows > 0;
            read.scanned += rows < step.rows ? rows : step.rows;
            read.scanned += question.walks_to_older && older > 0;
            saw_older = saw_older || older > 0;
            in_step += rows;
        }
        bk_read_found_range(&reader.reader, in_step, saw_older);
    }
    read.partitions = bk_history_partitions_asked(&reader);
    read.empties = read.partitions - filled;
    read.is_incomplete = bk_history_rows_found(&reader) < due;
    read.is_cut = reader.reader.status == BK_ERROR_WALK_TOO_LONG;
    read.is_out_of_order =
        reader.reader.order == BK_ORDER_NONE && (filled > 1 || reader.reader.next >= reader.reader.floor);
    /* Enough rows, but not the newest: one of these is in a bucket that forgotten settings made. */
    bool is_ordered = !wl_has_own_times(&sight->scenario->workload);
    for (size_t i = sight->count - due;
         kind == LAB_READ_LATEST && !read.is_incomplete && sight->regime > 0 && i < sight->count; i++)
        read.is_out_of_order = read.is_out_of_order || (is_ordered && !is_asked[i]);
    free(is_asked);
    add_read(result, read);
}

void naive_read_key(const struct naive_sight *sight, enum lab_read_kind kind, struct naive_result *result)
{
    if (sight->history != NULL) {
        read_history(sight, kind, result);
        return;
    }
    const struct bk_strategy *strategy = &sight->named->settings.strategy;
    struct question question = question_of(sight, kind);
    struct naive_read read = {.kind = kind, .is_before = is_before(sight, kind)};
    struct answers answers = answer(&question, sight);
    uint64_t found = 0, filled = 0, in_window = 0;
    int64_t shards = naive_shards(strategy);
    bool is_over = false;
    int64_t bucket = question.newest;
    while (bucket >= question.oldest && !is_over && (question.asks_all || found < question.wanted)) {
        uint64_t limit = question.asks_all ? question.wanted : question.wanted - found, in_step = 0;
        bool saw_older = false;
        if (is_remembered(result, bucket)) {
            bucket--;
            continue;
        }
        if (read.partitions == question.most) {
            read.is_cut = true;
            break;
        }
        for (int64_t i = 0; i < question.width && bucket >= question.oldest &&
                            read.partitions < question.most && !is_remembered(result, bucket);
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
            in_window += wanted;
            if (naive_floor(bucket - 1, shards) == naive_floor(bucket, shards))
                continue;
            if (in_window == 0)
                remember(result, sight, &question, naive_floor(bucket, shards));
            in_window = 0;
        }
        found += in_step;
        is_over = question.walks_to_older && in_step == 0 && saw_older;
    }
    read.is_incomplete = found < (answers.due < question.wanted ? answers.due : question.wanted);
    free(answers.wanted);
    free(answers.older);
    read.is_out_of_order = strategy->kind == BK_KIND_HASH && !question.asks_all &&
                           strategy->of.hash.buckets > 1 && (filled > 1 || bucket >= question.oldest);
    add_read(result, read);
}
