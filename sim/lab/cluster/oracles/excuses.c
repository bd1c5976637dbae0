/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Excuses: which violations a guarantee does not cover. A condition is recorded with its key and the span of
 * time in which it may have an effect. A violation has a key and a span, too: from the earliest time of its
 * cause until it was detected. It is excused by those conditions on its guarantee's list that were recorded
 * for the same key, or for all keys, and whose spans overlap its own.
 *
 * Some conditions become known only after their effect. For example, a write may have an effect long before
 * its client times out, and only then is its outcome recorded as unknown. So a violation without an excuse
 * remains in doubt and is judged again at the end.
 *
 * Memory is bounded per key. A key has a few spans of each condition. Further spans are merged with their
 * neighbours, which may excuse more but never less. The number of doubts is bounded, too, and violations
 * beyond that number are not judged again. This hides a broken guarantee only if all recorded doubts are
 * excused in the end; otherwise the run has broken a guarantee in any case. */

#include "cluster_run.h"
#include "evidence.h"
#include "kernel/grow.h"

#define SPANS_MAX  8u /* of a key, before two spans of one condition are merged */
#define DOUBTS_MAX 1024u

static uint32_t *first_of(struct lab_oracles *oracles, uint32_t key)
{
    return key == LAB_NO_KEY ? &oracles->spans_of_all : &oracles->keys[key].spans;
}

void lab_condition_set(struct lab_cluster_run *run, enum lab_condition condition)
{
    run->oracles.verdict.conditions |= 1u << condition;
    run->oracles.whole_run |= 1u << condition;
}

void lab_condition_of_key(struct lab_cluster_run *run, enum lab_condition condition, uint32_t key,
                          int64_t from_ns, int64_t until_ns)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_spans *spans = &oracles->spans;
    uint32_t *first = first_of(oracles, key), count = 0;
    int64_t now_ns = sim_queue_now(&run->queue);
    struct lab_span *same = NULL;
    oracles->verdict.conditions |= 1u << condition;
    for (uint32_t i = *first; i != 0; i = spans->items[i - 1].next, count++) {
        if (same == NULL && spans->items[i - 1].condition == condition)
            same = &spans->items[i - 1];
    }
    bool overlaps = same != NULL && from_ns <= same->until_ns && until_ns >= same->from_ns;
    if (same != NULL && (count >= SPANS_MAX || overlaps)) {
        same->from_ns = from_ns < same->from_ns ? from_ns : same->from_ns;
        same->until_ns = until_ns > same->until_ns ? until_ns : same->until_ns;
        same->noted_ns = now_ns;
        return;
    }
    if (!sim_grow(&spans->items, &spans->capacity, (size_t)spans->count + 1, sizeof *spans->items)) {
        run->out_of_memory = true;
        return;
    }
    spans->items[spans->count] = (struct lab_span){condition, *first, from_ns, until_ns, now_ns};
    *first = ++spans->count;
}

void lab_condition_closes(struct lab_cluster_run *run, enum lab_condition condition, uint32_t key,
                          int64_t asked_ns, int64_t until_ns)
{
    struct lab_oracles *oracles = &run->oracles;
    for (uint32_t i = *first_of(oracles, key); i != 0; i = oracles->spans.items[i - 1].next) {
        struct lab_span *span = &oracles->spans.items[i - 1];
        if (span->condition == condition && span->until_ns == LAB_OPEN_ENDED && span->noted_ns <= asked_ns)
            span->until_ns = until_ns;
    }
}

/* Returns the conditions of a list's spans that overlap the given span. */
static uint32_t overlapping(const struct lab_spans *spans, uint32_t first, int64_t from_ns, int64_t to_ns)
{
    uint32_t mask = 0;
    for (uint32_t i = first; i != 0; i = spans->items[i - 1].next) {
        const struct lab_span *span = &spans->items[i - 1];
        if (span->from_ns <= to_ns && span->until_ns >= from_ns)
            mask |= 1u << span->condition;
    }
    return mask;
}

uint32_t lab_conditions_at(const struct lab_cluster_run *run, uint32_t key, int64_t from_ns, int64_t to_ns)
{
    const struct lab_oracles *oracles = &run->oracles;
    uint32_t mask = oracles->whole_run | overlapping(&oracles->spans, oracles->spans_of_all, from_ns, to_ns);
    if (key < oracles->key_count)
        mask |= overlapping(&oracles->spans, oracles->keys[key].spans, from_ns, to_ns);
    return mask;
}

uint32_t lab_conditions_met(const struct lab_cluster_run *run, uint32_t key)
{
    return lab_conditions_at(run, key, INT64_MIN, sim_queue_now(&run->queue));
}

/* If one set of excuses contains another, only the smaller one is kept, because it is the stronger
 * statement. */
static void add_set(struct lab_violation *violation, uint32_t set)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < violation->excuse_count; i++) {
        uint32_t other = violation->excuses[i];
        if ((other & set) == other)
            return;
        if ((other & set) != set)
            violation->excuses[kept++] = other;
    }
    violation->excuse_count = kept;
    if (kept < LAB_EXCUSES_MAX)
        violation->excuses[violation->excuse_count++] = set;
}

void lab_excuse_nothing(struct lab_cluster_run *run, enum lab_oracle oracle)
{
    add_set(&run->oracles.verdict.violations[oracle], 0);
}

uint32_t lab_excuses_of(const struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key,
                        int64_t from_ns, int64_t to_ns)
{
    return run->oracles.except[oracle] & lab_conditions_at(run, key, from_ns, to_ns);
}

uint32_t lab_excuse(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, int64_t from_ns,
                    int64_t to_ns)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_doubts *doubts = &oracles->doubts;
    uint32_t excuses = lab_excuses_of(run, oracle, key, from_ns, to_ns);
    struct lab_doubt doubt = {oracle, key, from_ns, to_ns};
    if (excuses != 0) {
        add_set(&oracles->verdict.violations[oracle], excuses);
        return excuses;
    }
    const struct lab_doubt *last = doubts->count > 0 ? &doubts->items[doubts->count - 1] : NULL;
    bool is_same = last != NULL && last->oracle == doubt.oracle && last->key == key &&
                   last->from_ns == from_ns && last->to_ns == to_ns;
    if (is_same || !oracles->is_guaranteed[oracle])
        return 0;
    if (doubts->count == DOUBTS_MAX)
        lab_excuses_settle(run, false);
    if (doubts->count == DOUBTS_MAX) {
        oracles->verdict.probes[LAB_PROBE_DOUBTS_FULL]++;
        return 0;
    }
    if (!sim_grow(&doubts->items, &doubts->capacity, (size_t)doubts->count + 1, sizeof *doubts->items)) {
        run->out_of_memory = true;
        return 0;
    }
    doubts->items[doubts->count++] = doubt;
    return 0;
}

void lab_excuses_settle(struct lab_cluster_run *run, bool is_end)
{
    struct lab_doubts *doubts = &run->oracles.doubts;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < doubts->count; i++) {
        struct lab_doubt doubt = doubts->items[i];
        enum lab_oracle oracle = (enum lab_oracle)doubt.oracle;
        uint32_t excuses = lab_excuses_of(run, oracle, doubt.key, doubt.from_ns, doubt.to_ns);
        if (is_end || excuses != 0)
            add_set(&run->oracles.verdict.violations[oracle], excuses);
        else
            doubts->items[kept++] = doubt;
    }
    doubts->count = kept;
}

void lab_excuses_begin(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    enum bk_kind kind = lab_settings_kind(&run->strategy->settings);
    unsigned protocol = lab_settings_protocol(&run->strategy->settings);
    oracles->jumps_until_ns = INT64_MIN;
    for (int i = 0; i < LAB_ORACLE_COUNT; i++) {
        const struct lab_guarantee *guarantee = lab_guarantee_find(kind, protocol, (enum lab_oracle)i);
        oracles->is_guaranteed[i] = guarantee != NULL;
        oracles->except[i] = guarantee == NULL ? 0 : lab_guarantee_excepts(guarantee);
    }
}
