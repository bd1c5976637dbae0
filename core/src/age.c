/* SPDX-License-Identifier: MIT */
/* Routes and begins buckets that have a greatest age. */
#include "age.h"

#include "calendar.h"

static struct bk_window span_of(const struct bk_strategy *strategy, int64_t time_ns);
static bool is_over(const struct bk_key_state *state, int64_t time_ns);
static bool is_full(const struct bk_strategy *strategy, const struct bk_key_state *state, uint64_t sequence);
static uint64_t end_of(uint64_t first, uint64_t rows);

void bk_route_aged(const struct bk_strategy *strategy, const struct bk_key_state *state,
                   const struct bk_row *row, struct bk_route *out)
{
    bool over = is_over(state, row->time_ns), full = is_full(strategy, state, row->sequence);
    out->begins = !state->is_begun || over || full;
    out->bucket = state->bucket + (over || full);
    out->until_ns = state->until_ns;
    if (out->begins) {
        struct bk_window span = span_of(strategy, row->time_ns);
        /* The line never goes back, or a late row that is the first after a full bucket would end its own
         * bucket at once. */
        if (!state->is_begun || span.until_ns > state->until_ns)
            out->until_ns = span.until_ns;
        if (over)
            out->from_ns = span.from_ns;
    }
    if (strategy->kind == BK_COUNT) {
        uint64_t rows = strategy->of.count.rows;
        /* Beyond the line a row of any number begins the next bucket; before it, those beyond the last. */
        out->sequence_low = full && !over ? end_of(state->first_sequence, rows) : 0;
        out->sequence_high = end_of(out->begins ? row->sequence : state->first_sequence, rows);
    }
}

void bk_begin_aged(const struct bk_strategy *strategy, struct bk_key_state *state, const struct bk_row *row,
                   struct bk_effect *effect)
{
    struct bk_route route = {.from_ns = INT64_MIN, .sequence_high = UINT64_MAX};
    bk_route_aged(strategy, state, row, &route);
    if (!route.begins)
        return;
    effect->state_writes = 1;
    effect->rolled = route.bucket != state->bucket;
    if (effect->rolled) {
        state->bucket = route.bucket;
        state->counter = 0;
        state->last_change_ns = row->time_ns;
    }
    state->is_begun = true;
    state->until_ns = route.until_ns;
    state->first_sequence = strategy->kind == BK_COUNT ? row->sequence : 0;
}

static struct bk_window span_of(const struct bk_strategy *strategy, int64_t time_ns)
{
    const struct bk_strategy grid = {.kind = BK_TIME, .of.time = {BK_CALENDAR_NONE, strategy->max_age_ns, 0}};
    return bk_window_of(&grid, time_ns);
}

static bool is_over(const struct bk_key_state *state, int64_t time_ns)
{
    return state->is_begun && state->until_ns != INT64_MAX && time_ns >= state->until_ns;
}

static bool is_full(const struct bk_strategy *strategy, const struct bk_key_state *state, uint64_t sequence)
{
    return strategy->kind == BK_COUNT && state->is_begun && sequence >= state->first_sequence &&
           sequence - state->first_sequence >= strategy->of.count.rows;
}

static uint64_t end_of(uint64_t first, uint64_t rows)
{
    return rows > UINT64_MAX - first ? UINT64_MAX : first + rows;
}
