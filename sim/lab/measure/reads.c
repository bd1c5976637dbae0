/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes when reads occur, and what each of them requests. */
#include "lab/reads.h"

#include <string.h>

#include "kernel/sampler.h"

void lab_read_clock_begin(struct lab_read_clock *clock, const struct lab_scenario *scenario,
                          enum lab_read_kind kind, uint64_t entity, double share, int64_t start_ns)
{
    static const enum sim_purpose purposes[LAB_READ_KINDS] = {SIM_READ, SIM_READ_RANGE, SIM_READ_ALL};
    double rate_per_s = scenario->reads.kinds[kind].rate_per_s * share;
    memset(clock, 0, sizeof *clock);
    clock->next_ns = INT64_MAX;
    if (rate_per_s <= 0 || scenario->reads.are_expected)
        return;
    sim_random_init(&clock->draws, scenario->seed, purposes[kind], entity);
    clock->gap_ns = 1e9 / rate_per_s;
    clock->next_ns = start_ns;
    lab_read_clock_next(clock);
}

void lab_read_clock_next(struct lab_read_clock *clock)
{
    double gap = sim_exponential(&clock->draws) * clock->gap_ns;
    bool is_never = gap >= 0x1p62 || clock->next_ns > INT64_MAX - (INT64_C(1) << 62);
    clock->next_ns = is_never ? INT64_MAX : clock->next_ns + (int64_t)gap;
}

void lab_read_plan(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                   enum lab_read_kind kind, enum bk_plan *plan, uint32_t *at_once)
{
    const struct lab_read *read = &scenario->reads.kinds[kind];
    const struct lab_reading *own = &strategy->settings.reading;
    bool is_own = own->plan != BK_PLAN_DEFAULT;
    *plan = is_own ? own->plan : read->plan;
    *at_once = is_own ? own->at_once : read->at_once;
}

void lab_read_query(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                    enum lab_read_kind kind, int64_t now_ns, int64_t birth_ns, struct bk_query *out)
{
    static const enum bk_query_kind kinds[LAB_READ_KINDS] = {BK_QUERY_LATEST, BK_QUERY_RANGE, BK_QUERY_ALL};
    const struct lab_read *read = &scenario->reads.kinds[kind];
    memset(out, 0, sizeof *out);
    out->kind = kinds[kind];
    lab_read_plan(scenario, strategy, kind, &out->plan, &out->at_once);
    const bool is_of_hash = out->plan == BK_PLAN_ALL || out->plan == BK_PLAN_LAZY;
    const bool is_of_others = out->plan == BK_PLAN_WALK || out->plan == BK_PLAN_PAIR;
    if (strategy->settings.strategy.kind == BK_HASH ? is_of_others : is_of_hash)
        out->plan = BK_PLAN_DEFAULT;
    out->rows = read->rows;
    out->now_ns = now_ns;
    out->birth_ns = birth_ns;
    out->until_ns = lab_before(now_ns, read->age_ns);
    if (out->until_ns == INT64_MIN)
        out->until_ns++; /* there is no row in this range, but a range must not be empty */
    out->from_ns = lab_before(out->until_ns, read->span_ns);
    out->partitions_max = scenario->reads.limit;
}

/* Saturates, since clocks that jump and backfills reach far beyond the dates that a scenario may specify. */
int64_t lab_before(int64_t time_ns, int64_t span_ns)
{
    return time_ns < INT64_MIN + span_ns ? INT64_MIN : time_ns - span_ns;
}

/* Rows that a lazy read found in several buckets are in no order, and the newest rows may be in buckets that
 * it did not query. */
void lab_read_count(struct lab_read_tally *tally, const struct lab_read_done *done, uint64_t times)
{
    if (!done->is_before) {
        lab_histogram_add(&tally->partitions, done->partitions, times, 1);
        tally->empties += done->empties * times;
        tally->scanned += done->scanned * times;
    }
    tally->before += done->is_before ? times : 0;
    tally->incomplete += done->rows < done->due ? times : 0;
    tally->cut += done->is_cut ? times : 0;
    bool is_jumbled = done->order == BK_ORDER_NONE && (done->filled > 1 || done->is_early);
    tally->out_of_order += is_jumbled || done->is_stale ? times : 0;
}

void lab_read_tally_merge(struct lab_read_tally *into, const struct lab_read_tally *from)
{
    lab_histogram_merge(&into->partitions, &from->partitions);
    into->empties += from->empties;
    into->incomplete += from->incomplete;
    into->out_of_order += from->out_of_order;
    into->scanned += from->scanned;
    into->cut += from->cut;
    into->before += from->before;
}

unsigned lab_read_kind_count(const struct lab_scenario *scenario)
{
    unsigned count = 0;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        count += scenario->reads.kinds[kind].rate_per_s > 0;
    return count;
}

const char *lab_read_kind_name(enum lab_read_kind kind)
{
    static const char *const names[LAB_READ_KINDS] = {"latest", "range", "all"};
    return names[kind];
}
