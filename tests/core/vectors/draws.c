/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws strategies, rows, queries and histories of small numbers for the vectors. No expression has two
 * draws: compilers differ in their order. */
#include "vectors.h"

struct bk_strategy vectors_draw_strategy(struct draw *draw, enum bk_kind kind, bool may_age)
{
    struct bk_strategy strategy;
    uint64_t threshold = 1 + draw_below(draw, 4), numerator = 1 + draw_below(draw, 3);
    bool is_plain = !one_in(draw, 4), is_sharded = kind == VECTORS_SHARDS;
    uint64_t bits_most = one_in(draw, 8) ? BK_BITS_MAX : 2;
    static const enum bk_kind counted[] = {BK_KIND_COUNT, BK_KIND_PROBABILISTIC, BK_KIND_WEIGHTED};
    bool are_counted = (int)kind == VECTORS_COUNTED_SHARDS;
    bk_strategy_unbucketed(&strategy);
    kind = is_sharded ? BK_KIND_TIME : are_counted ? counted[draw_below(draw, 3)] : kind;
    switch (kind) {
    case BK_KIND_TIME: {
        int64_t epoch_ns = is_plain ? 0 : draw_time(draw);
        if (!draw->is_edge && one_in(draw, 2))
            bk_strategy_time(1000 + draw_span(draw, 3000), epoch_ns, &strategy);
        else
            bk_strategy_calendar(
                draw->is_edge ? BK_CALENDAR_MONTH : (enum bk_calendar)(1 + draw_below(draw, 4)), &strategy);
        if (is_sharded)
            bk_strategy_shards(2 + (uint32_t)draw_below(draw, 4), &strategy);
        break;
    }
    case BK_KIND_COUNT:
        bk_strategy_count(one_in(draw, 8) ? 1 + draw_size(draw) / 2 : 1 + draw_below(draw, 6), &strategy);
        break;
    case BK_KIND_PROBABILISTIC:
        if (is_plain)
            bk_strategy_probabilistic(draw->is_edge ? BK_BITS_MAX : (uint32_t)draw_below(draw, bits_most + 1),
                                      threshold, &strategy);
        else
            bk_strategy_probabilistic_chance(numerator, 3 + draw_below(draw, 4), threshold, &strategy);
        break;
    case BK_KIND_HASH:
        bk_strategy_hash(1 + (uint32_t)draw_below(draw, 12), &strategy);
        break;
    case BK_KIND_WEIGHTED:
        bk_strategy_weighted(1 + draw_below(draw, 90), threshold, &strategy);
        break;
    default:
        break;
    }
    if (are_counted)
        bk_strategy_shards(2 + (uint32_t)draw_below(draw, 4), &strategy);
    if (may_age && (kind == BK_KIND_COUNT || bk_kind_fires(kind)))
        bk_strategy_max_age(1000 + draw_span(draw, 3000), &strategy);
    return strategy;
}

/* Mostly rows of the current time; some are late, some ahead, some anywhere. Ids are small where only their
 * low bits matter. */
struct bk_row vectors_draw_row(struct draw *draw, int64_t now_ns, uint64_t sequence)
{
    struct bk_row row = {.time_ns = now_ns, .sequence = sequence, .bytes = draw_below(draw, 200)};
    switch (draw_below(draw, 12)) {
    case 0:
        row.time_ns -= draw_span(draw, one_in(draw, 2) ? 600 : 4000);
        row.sequence -= draw_below(draw, row.sequence / 2 + 1);
        break;
    case 1:
        row.time_ns += draw_span(draw, 400);
        break;
    case 2:
        row.sequence += draw_below(draw, 9);
        break;
    default:
        break;
    }
    row.id = one_in(draw, 3) ? draw_bits(draw) : draw_below(draw, 8);
    uint64_t bit = UINT64_C(1) << draw_below(draw, 34), part = 3 + draw_below(draw, 4);
    if (one_in(draw, 8)) /* exactly some low bits are 1 */
        row.id = (row.id << 8 | (bit - 1)) & ~bit;
    else if (one_in(draw, 8)) /* the first id beyond a chance of 1 / part, or the last one within it */
        row.id = UINT64_MAX / part + (bit & 1);
    return row;
}

struct bk_query vectors_draw_query(struct draw *draw, const struct bk_strategy *strategy, int64_t now_ns)
{
    bool is_hash = strategy->kind == BK_KIND_HASH;
    struct bk_query query = {.kind = (enum bk_query_kind)draw_below(draw, 3), .now_ns = now_ns};
    const enum bk_plan of_hash[] = {BK_PLAN_DEFAULT, BK_PLAN_ALL, BK_PLAN_LAZY, BK_PLAN_PARALLEL};
    const enum bk_plan others[] = {BK_PLAN_DEFAULT, BK_PLAN_WALK, BK_PLAN_PAIR, BK_PLAN_PARALLEL};
    query.plan = (is_hash ? of_hash : others)[draw_below(draw, 4)];
    if (query.plan == BK_PLAN_PARALLEL)
        query.at_once = (uint32_t)draw_below(draw, 5);
    if (one_in(draw, 30))
        query.plan = (enum bk_plan)draw_below(draw, 6);
    query.rows = one_in(draw, 30) ? 0 : 1 + draw_below(draw, 20);
    query.from_ns = now_ns - draw_span(draw, 9000);
    query.until_ns = query.from_ns + (one_in(draw, 30) ? 0 : draw_some(draw, 6000));
    query.birth_ns = now_ns - draw_span(draw, 12000);
    if (one_in(draw, 6))
        query.birth_ns += 5000;
    query.partitions_max = one_in(draw, 5) ? 1 + draw_below(draw, 4) : 0;
    return query;
}

void vectors_draw_eras(struct draw *draw, struct bk_history *history, bool same_kind, int64_t now_ns)
{
    for (uint64_t i = draw_below(draw, 3); i > 0; i--) {
        const struct bk_era *last = &history->eras[history->count - 1];
        enum bk_kind kind = last->strategy.kind;
        bool is_free = kind == BK_KIND_UNBUCKETED || kind == BK_KIND_TIME || kind == BK_KIND_HASH;
        if (is_free && !same_kind)
            kind = (enum bk_kind)draw_below(draw, BK_KINDS);
        if (last->strategy.kind == BK_KIND_TIME && last->strategy.of.time.shards > 1 && one_in(draw, 2))
            kind = VECTORS_SHARDS;
        struct bk_strategy next = vectors_draw_strategy(draw, kind, last->strategy.max_age_ns != 0);
        if (last->strategy.shards > 1 && !one_in(draw, 8))
            bk_strategy_shards(last->strategy.shards, &next);
        int64_t from_ns = (last->from_ns > now_ns ? last->from_ns : now_ns) + draw_some(draw, 3000);
        bk_history_change(history, from_ns, &next);
    }
}
