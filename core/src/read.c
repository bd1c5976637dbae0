/* SPDX-License-Identifier: MIT */
#include "bucketing/read.h"

#include <string.h>

#include "calendar.h"

static enum bk_status history_of(const struct bk_strategy *strategy, const struct bk_key_state *state,
                                 int64_t now_ns, int64_t birth_ns, struct bk_reader *out);
static int64_t step_low(const struct bk_reader *reader);

enum bk_status bk_read_latest(const struct bk_strategy *strategy, const struct bk_key_state *state,
                              int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan,
                              struct bk_reader *reader)
{
    if (reader == NULL)
        return BK_ERROR_NULL;
    memset(reader, 0, sizeof *reader);
    if (strategy == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(strategy);
    if (status != BK_OK)
        return status;
    if (rows == 0)
        return BK_ERROR_ROWS;
    struct bk_reader made = {.rows_wanted = rows, .width = 1};
    status = history_of(strategy, state, now_ns, birth_ns, &made);
    if (status != BK_OK)
        return status;
    bool is_hash = strategy->kind == BK_HASH;
    switch (plan) {
    case BK_PLAN_DEFAULT:
        made.width = is_hash ? made.next + 1 : 1;
        break;
    case BK_PLAN_WALK:
    case BK_PLAN_PAIR:
        if (is_hash)
            return BK_ERROR_PLAN;
        made.width = plan == BK_PLAN_PAIR ? 2 : 1;
        break;
    case BK_PLAN_ALL:
        if (!is_hash)
            return BK_ERROR_PLAN;
        made.width = made.next + 1;
        break;
    default:
        return BK_ERROR_PLAN;
    }
    *reader = made;
    return BK_OK;
}

bool bk_read_next(struct bk_reader *reader, struct bk_read_step *step)
{
    if (reader == NULL || step == NULL || reader->next < reader->floor ||
        reader->rows_found >= reader->rows_wanted)
        return false;
    reader->step_open = true;
    step->bucket_low = step_low(reader);
    step->bucket_high = reader->next;
    step->rows = reader->rows_wanted - reader->rows_found;
    return true;
}

void bk_read_found(struct bk_reader *reader, uint64_t rows)
{
    if (reader == NULL || !reader->step_open)
        return;
    int64_t low = step_low(reader);
    reader->partitions_asked += (uint64_t)(reader->next - low) + 1;
    reader->rows_found = rows > UINT64_MAX - reader->rows_found ? UINT64_MAX : reader->rows_found + rows;
    reader->next = low - 1;
    reader->step_open = false;
}

uint64_t bk_read_skip_to(struct bk_reader *reader, int64_t bucket)
{
    if (reader == NULL || reader->width < 1 || reader->rows_found >= reader->rows_wanted ||
        reader->next < reader->floor || bucket >= reader->next)
        return 0;
    /* Whole steps alone are skipped: a pair that holds `bucket` must still be asked. */
    int64_t lowest = bucket < reader->floor ? reader->floor - 1 : bucket;
    uint64_t empty = (uint64_t)reader->next - (uint64_t)lowest;
    uint64_t skipped = lowest < reader->floor ? empty : empty - empty % (uint64_t)reader->width;
    reader->partitions_asked += skipped;
    reader->next -= (int64_t)skipped;
    if (skipped > 0)
        reader->step_open = false;
    return skipped;
}

/* Sets the newest and the oldest bucket that can hold rows. */
static enum bk_status history_of(const struct bk_strategy *strategy, const struct bk_key_state *state,
                                 int64_t now_ns, int64_t birth_ns, struct bk_reader *out)
{
    switch (strategy->kind) {
    case BK_NONE:
        return BK_OK;
    case BK_TIME: {
        int64_t birth = birth_ns < now_ns ? birth_ns : now_ns;
        out->next = bk_window_of(strategy, now_ns).index;
        out->floor = bk_window_of(strategy, birth).index;
        return out->next - out->floor > BK_WALK_WINDOWS_MAX ? BK_ERROR_WALK_TOO_LONG : BK_OK;
    }
    case BK_COUNT:
    case BK_PROBABILISTIC:
        if (state == NULL)
            return BK_ERROR_NULL;
        if (state->bucket < 0)
            return BK_ERROR_STATE;
        out->next = state->bucket;
        return BK_OK;
    case BK_HASH:
        out->next = (int64_t)strategy->of.hash.buckets - 1;
        return BK_OK;
    case BK_KIND_COUNT:
        break;
    }
    return BK_ERROR_KIND;
}

static int64_t step_low(const struct bk_reader *reader)
{
    int64_t below = reader->width - 1;
    return reader->next - reader->floor < below ? reader->floor : reader->next - below;
}
