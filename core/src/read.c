/* SPDX-License-Identifier: MIT */
/* The memory of empty windows: a sorted list of runs. It is searched from the newest end, where readers
 * begin. */
#include <string.h>

#include "bucketing/read.h"
#include "calendar.h"

/* Returns the number of runs that begin at or below the bucket. The last of them may contain the bucket. */
static uint32_t run_at(const struct bk_empties *empties, int64_t bucket)
{
    uint32_t at = empties->count;
    while (at > 0 && empties->runs[at - 1].low > bucket)
        at--;
    return at;
}

static void drop(struct bk_empties *empties, uint32_t at)
{
    empties->count--;
    memmove(&empties->runs[at], &empties->runs[at + 1], (empties->count - at) * sizeof *empties->runs);
}

static uint64_t length(const struct bk_window_run *run)
{
    return (uint64_t)run->high - (uint64_t)run->low;
}

/* If there is no room, the shortest run is dropped, because forgetting it costs the fewest queries. */
static void insert(struct bk_empties *empties, uint32_t at, struct bk_window_run run)
{
    if (empties->count == BK_EMPTY_RUNS_MAX) {
        uint32_t shortest = 0;
        for (uint32_t i = 1; i < empties->count; i++) {
            if (length(&empties->runs[i]) < length(&empties->runs[shortest]))
                shortest = i;
        }
        if (length(&run) <= length(&empties->runs[shortest]))
            return;
        drop(empties, shortest);
        at -= shortest < at;
    }
    memmove(&empties->runs[at + 1], &empties->runs[at], (empties->count - at) * sizeof run);
    empties->runs[at] = run;
    empties->count++;
}

/* Adds a run and merges it with all runs that it overlaps or adjoins. */
static void add(struct bk_empties *empties, int64_t low, int64_t high)
{
    /* high + 1 does not overflow: the window has ended, so there is a later one. */
    uint32_t end = run_at(empties, high + 1), begin = end;
    while (begin > 0 &&
           (empties->runs[begin - 1].high == INT64_MAX || empties->runs[begin - 1].high + 1 >= low))
        begin--;
    struct bk_window_run run = {low, high};
    if (begin < end && empties->runs[begin].low < low)
        run.low = empties->runs[begin].low;
    if (begin < end && empties->runs[end - 1].high > high)
        run.high = empties->runs[end - 1].high;
    for (uint32_t i = begin; i < end; i++)
        drop(empties, begin);
    insert(empties, begin, run);
}

enum bk_status bk_empties_learn(struct bk_empties *empties, const struct bk_strategy *strategy,
                                const struct bk_reader *reader, int64_t now_ns, int64_t late_ns, int64_t low,
                                int64_t high)
{
    if (empties == NULL || strategy == NULL || reader == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(strategy);
    if (status != BK_OK)
        return status;
    if (strategy->kind != BK_KIND_TIME)
        return BK_ERROR_KIND;
    if (late_ns < 0)
        return BK_ERROR_RANGE;
    int64_t shards = bk_shards_of(strategy);
    int64_t settled_ns = now_ns < INT64_MIN + late_ns ? INT64_MIN : now_ns - late_ns;
    /* This window and later ones may still get rows. */
    int64_t open = bk_window_of(strategy, settled_ns).index * shards;
    if (high >= open)
        high = open - 1;
    struct bk_window first = bk_window_of(strategy, reader->from_ns);
    struct bk_window last = bk_window_of(strategy, reader->until_ns);
    int64_t low_whole = (first.index + (reader->from_ns > first.from_ns)) * shards;
    low = low < low_whole ? low_whole : low;
    high = reader->until_ns < INT64_MAX && high >= last.index * shards ? last.index * shards - 1 : high;
    if (low > high)
        return BK_OK;
    /* Only windows of which all shards are empty: a step must query all of a window or nothing. */
    low = -bk_floor_divide(-low, shards) * shards;
    high = bk_floor_divide(high + 1, shards) * shards - 1;
    empties->shards = (uint32_t)shards;
    if (low <= high)
        add(empties, low, high);
    return BK_OK;
}

void bk_empties_forget(struct bk_empties *empties, int64_t bucket)
{
    if (empties == NULL)
        return;
    uint32_t at = run_at(empties, bucket);
    if (at == 0 || empties->runs[at - 1].high < bucket)
        return;
    struct bk_window_run *run = &empties->runs[at - 1];
    int64_t shards = empties->shards > 1 ? (int64_t)empties->shards : 1;
    int64_t low = bk_floor_divide(bucket, shards) * shards, high = low + shards - 1;
    struct bk_window_run above = {high + 1, run->high};
    if (run->low == low && run->high == high) {
        drop(empties, at - 1);
    } else if (run->low == low) {
        run->low = high + 1;
    } else if (run->high == high) {
        run->high = low - 1;
    } else {
        run->high = low - 1;
        insert(empties, at, above);
    }
}

int64_t bk_empties_pass(const struct bk_empties *empties, int64_t bucket)
{
    uint32_t at = empties == NULL ? 0 : run_at(empties, bucket);
    if (at == 0 || empties->runs[at - 1].high < bucket)
        return bucket;
    /* Runs have gaps between them, so the window just below a run is not known to be empty. */
    int64_t low = empties->runs[at - 1].low;
    return low == INT64_MIN ? INT64_MIN : low - 1;
}

int64_t bk_empties_top(const struct bk_empties *empties, int64_t bucket)
{
    uint32_t at = empties == NULL ? 0 : run_at(empties, bucket);
    if (at == 0)
        return INT64_MIN;
    return empties->runs[at - 1].high < bucket ? empties->runs[at - 1].high : bucket;
}

/* Plans a read of rows: which buckets to query, in which order, and when to stop. */

static enum bk_status check_query(const struct bk_query *query)
{
    switch (query->kind) {
    case BK_QUERY_LATEST:
        return query->rows > 0 ? BK_OK : BK_ERROR_ROWS;
    case BK_QUERY_RANGE:
        return query->from_ns < query->until_ns ? BK_OK : BK_ERROR_RANGE;
    case BK_QUERY_ALL:
        return BK_OK;
    }
    return BK_ERROR_QUERY;
}

static enum bk_status windows_of(const struct bk_strategy *strategy, const struct bk_query *query,
                                 struct bk_reader *out)
{
    int64_t newest_ns = query->now_ns, oldest_ns = query->birth_ns, shards = bk_shards_of(strategy);
    if (oldest_ns > newest_ns)
        oldest_ns = newest_ns;
    if (query->kind == BK_QUERY_RANGE) {
        newest_ns = query->until_ns - 1 < newest_ns ? query->until_ns - 1 : newest_ns;
        oldest_ns = query->from_ns > oldest_ns ? query->from_ns : oldest_ns;
    }
    if (oldest_ns > newest_ns) { /* the range is before the key's birth or in the future */
        out->next = -1;
        return BK_OK;
    }
    out->next = bk_window_of(strategy, newest_ns).index * shards + (shards - 1);
    out->floor = bk_window_of(strategy, oldest_ns).index * shards;
    return out->next - out->floor > BK_WALK_WINDOWS_MAX ? BK_ERROR_WALK_TOO_LONG : BK_OK;
}

/* The read goes down from the key's newest bucket. Known starts narrow a range at both ends. */
static enum bk_status sequence_of(const struct bk_strategy *strategy, const struct bk_key_state *state,
                                  const struct bk_query *query, struct bk_reader *out)
{
    int64_t shards = bk_shards_of(strategy);
    if (state == NULL)
        return BK_ERROR_NULL;
    if (state->bucket < 0 || state->bucket > bk_last_bucket(strategy))
        return BK_ERROR_STATE;
    out->next = state->bucket * shards + (shards - 1);
    out->ends_at_older = query->kind == BK_QUERY_RANGE;
    if (query->kind != BK_QUERY_RANGE || query->starts == NULL)
        return BK_OK;
    for (size_t i = 0; i < query->start_count; i++) {
        const struct bk_bucket_start *start = &query->starts[i];
        if (start->bucket < 0 || start->bucket > state->bucket ||
            (i > 0 && (start->bucket <= start[-1].bucket || start->start_ns < start[-1].start_ns)))
            return BK_ERROR_STATE;
        if (query->from_ns > start->start_ns)
            out->floor = start->bucket * shards;
        if (query->until_ns <= start->start_ns && start->bucket * shards <= out->next)
            out->next = start->bucket * shards - 1;
    }
    return BK_OK;
}

/* Sets the newest and the oldest bucket that can hold rows of the answer. */
static enum bk_status bounds_of(const struct bk_strategy *strategy, const struct bk_key_state *state,
                                const struct bk_query *query, struct bk_reader *out)
{
    switch (strategy->kind) { /* checked before, so GCOVR_EXCL_BR_LINE */
    case BK_KIND_UNBUCKETED:
        return BK_OK;
    case BK_KIND_TIME:
        return windows_of(strategy, query, out);
    case BK_KIND_COUNT:
    case BK_KIND_PROBABILISTIC:
    case BK_KIND_WEIGHTED:
        return sequence_of(strategy, state, query, out);
    case BK_KIND_HASH:
        out->next = (int64_t)strategy->of.hash.buckets - 1;
        return BK_OK;
    case BK_KINDS:
        break;
    }
    return BK_ERROR_KIND;
}

static enum bk_status plan_of(const struct bk_strategy *strategy, const struct bk_query *query,
                              struct bk_reader *out)
{
    bool is_hash = strategy->kind == BK_KIND_HASH;
    int64_t all = is_hash ? out->next + 1 : 1;
    int64_t shards = bk_shards_of(strategy), at_once = query->at_once;
    out->partitions_max -= out->partitions_max % (uint64_t)shards;
    enum bk_plan plan = query->plan != BK_PLAN_DEFAULT ? query->plan : is_hash ? BK_PLAN_ALL : BK_PLAN_WALK;
    out->asks_all = is_hash && plan != BK_PLAN_LAZY;
    out->order = all * shards == 1      ? BK_ORDER_NEWEST_FIRST
                 : plan == BK_PLAN_LAZY ? BK_ORDER_NONE
                                        : BK_ORDER_MERGED;
    switch (plan) {
    case BK_PLAN_WALK:
    case BK_PLAN_PAIR:
        out->width = plan == BK_PLAN_PAIR ? 2 * shards : shards;
        return is_hash ? BK_ERROR_PLAN : BK_OK;
    case BK_PLAN_ALL:
    case BK_PLAN_LAZY:
        out->width = plan == BK_PLAN_ALL ? all : 1;
        return is_hash ? BK_OK : BK_ERROR_PLAN;
    case BK_PLAN_PARALLEL:
        at_once = at_once != 0 ? at_once : BK_AT_ONCE_DEFAULT;
        out->width = at_once < shards ? shards : at_once - at_once % shards;
        return BK_OK;
    default:
        return BK_ERROR_PLAN;
    }
}

enum bk_status bk_read_begin(const struct bk_strategy *strategy, const struct bk_key_state *state,
                             const struct bk_query *query, struct bk_reader *reader)
{
    if (reader == NULL)
        return BK_ERROR_NULL;
    memset(reader, 0, sizeof *reader);
    if (strategy == NULL || query == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(strategy);
    if (status == BK_OK)
        status = check_query(query);
    struct bk_reader made;
    memset(&made, 0, sizeof made);
    made.kind = query->kind;
    made.rows_wanted = query->kind == BK_QUERY_LATEST ? query->rows : UINT64_MAX;
    made.rows_each = made.rows_wanted;
    made.partitions_max = query->partitions_max != 0 ? query->partitions_max : BK_WALK_PARTITIONS_MAX;
    made.from_ns = query->kind == BK_QUERY_RANGE ? query->from_ns : INT64_MIN;
    made.until_ns = query->kind == BK_QUERY_RANGE ? query->until_ns : INT64_MAX;
    if (status == BK_OK)
        status = bounds_of(strategy, state, query, &made);
    if (status == BK_OK)
        status = plan_of(strategy, query, &made);
    if (status == BK_OK)
        *reader = made;
    return status;
}

struct bk_query bk_query_latest(int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan)
{
    struct bk_query query;
    memset(&query, 0, sizeof query);
    query.kind = BK_QUERY_LATEST;
    query.plan = plan;
    query.rows = rows;
    query.now_ns = now_ns;
    query.birth_ns = birth_ns;
    return query;
}

enum bk_status bk_read_latest(const struct bk_strategy *strategy, const struct bk_key_state *state,
                              int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan,
                              struct bk_reader *reader)
{
    struct bk_query query = bk_query_latest(now_ns, birth_ns, rows, plan);
    return bk_read_begin(strategy, state, &query, reader);
}

bool bk_read_next(struct bk_reader *reader, struct bk_read_step *step)
{
    return bk_read_next_known(reader, NULL, step);
}

static bool is_over(const struct bk_reader *reader)
{
    return reader->next < reader->floor || (!reader->asks_all && reader->rows_found >= reader->rows_wanted);
}

bool bk_read_next_known(struct bk_reader *reader, const struct bk_empties *known, struct bk_read_step *step)
{
    if (reader == NULL || step == NULL || is_over(reader))
        return false;
    if (!reader->step_open) {
        int64_t next = bk_empties_pass(known, reader->next), low;
        if (next < reader->floor)
            next = reader->floor - 1;
        reader->partitions_spared += (uint64_t)reader->next - (uint64_t)next;
        reader->next = next;
        if (next < reader->floor)
            return false;
        if (reader->partitions_asked >= reader->partitions_max) {
            reader->status = BK_ERROR_WALK_TOO_LONG;
            return false;
        }
        uint64_t width = (uint64_t)reader->width, left = reader->partitions_max - reader->partitions_asked;
        uint64_t below = (width < left ? width : left) - 1;
        low = (uint64_t)(next - reader->floor) < below ? reader->floor : next - (int64_t)below;
        /* A step is a run of consecutive buckets, so it ends above the first window that is known to be
         * empty. */
        int64_t empty = bk_empties_top(known, next);
        reader->step_low = empty >= low ? empty + 1 : low;
        reader->step_open = true;
    }
    step->bucket_low = reader->step_low;
    step->bucket_high = reader->next;
    step->rows = reader->rows_wanted;
    if (reader->kind == BK_QUERY_LATEST)
        step->rows = reader->asks_all ? reader->rows_each : reader->rows_wanted - reader->rows_found;
    step->from_ns = reader->from_ns;
    step->until_ns = reader->until_ns;
    return true;
}

void bk_read_found(struct bk_reader *reader, uint64_t rows)
{
    bk_read_found_range(reader, rows, false);
}

void bk_read_found_range(struct bk_reader *reader, uint64_t rows, bool saw_older)
{
    if (reader == NULL || !reader->step_open)
        return;
    reader->partitions_asked += (uint64_t)(reader->next - reader->step_low) + 1;
    reader->rows_found = rows > UINT64_MAX - reader->rows_found ? UINT64_MAX : reader->rows_found + rows;
    reader->next = reader->step_low - 1;
    reader->step_open = false;
    /* All lower buckets have only older rows. If the step also had rows of the range, the read continues,
     * because writers that raced for the change may have put their last rows one bucket lower. */
    if (saw_older && rows == 0 && reader->ends_at_older)
        reader->floor = reader->next + 1;
}

uint64_t bk_read_skip_to(struct bk_reader *reader, int64_t bucket)
{
    if (reader == NULL || reader->width < 1 || is_over(reader) || bucket >= reader->next)
        return 0;
    /* Only whole steps are skipped: a step that contains `bucket` must still be queried, and so must the
     * last, narrower step that the limit of partitions allows. */
    uint64_t width = (uint64_t)reader->width, left = reader->partitions_max - reader->partitions_asked;
    int64_t lowest = bucket < reader->floor ? reader->floor - 1 : bucket;
    uint64_t empty = (uint64_t)reader->next - (uint64_t)lowest;
    uint64_t skipped = lowest < reader->floor ? empty : empty - empty % width;
    if (skipped > left)
        skipped = left - left % width;
    reader->partitions_asked += skipped;
    reader->next = (int64_t)((uint64_t)reader->next - skipped);
    if (skipped > 0)
        reader->step_open = false;
    return skipped;
}
