/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which violations break a guarantee, and counts what a campaign saw. */
#include <assert.h>
#include <string.h>

#include "lab/fuzz.h"

_Static_assert((unsigned)LAB_FUZZ_SHARES <= 32 && LAB_PROBE_COUNT <= 64,
               "a mask holds all shares, and all probes");

const char *lab_fuzz_share_name(unsigned share)
{
    static const char *const kept[] = {"kept_below_99", "kept_below_90", "kept_below_50"};
    return share < LAB_ORACLE_COUNT ? lab_oracle_name((enum lab_oracle)share)
                                    : kept[share - LAB_ORACLE_COUNT];
}

/* Whether a strategy is the observed sizes of a real table, to which oracles do not apply. */
static bool is_observed(const struct lab_strategy_result *strategy)
{
    return lab_settings_kind(&strategy->settings) == LAB_KIND_OBSERVED;
}

/* For runs with agents: computes the share of rows that were acknowledged, that is, neither refused nor of
 * unknown outcome. */
static void judge_kept(const struct lab_strategy_result *strategy, uint64_t rows, struct lab_fuzz_run *out)
{
    static const double least[] = {0.99, 0.9, 0.5};
    const struct lab_metric *refused = lab_metrics_find(&strategy->metrics, "writes.refused");
    const struct lab_metric *unresolved = lab_metrics_find(&strategy->metrics, "writes.unresolved");
    if (refused == NULL || unresolved == NULL || rows == 0)
        return;
    double kept = 1 - (refused->value + unresolved->value) / (double)rows;
    for (unsigned i = 0; i < sizeof least / sizeof *least; i++) {
        out->judged |= 1u << (LAB_FUZZ_KEPT_BELOW_99 + i);
        out->violated |= (uint32_t)(kept < least[i]) << (LAB_FUZZ_KEPT_BELOW_99 + i);
    }
}

static void judge(const struct lab_strategy_result *strategy, struct lab_fuzz_run *out)
{
    const struct lab_verdict *verdict = &strategy->verdict;
    enum bk_kind kind = lab_settings_kind(&strategy->settings);
    *out = (struct lab_fuzz_run){
        .kind = kind, .protocol = lab_settings_protocol(&strategy->settings), .rolls = verdict->rolls};
    for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
        bool is_broken = lab_guarantee_is_broken(kind, out->protocol, (enum lab_oracle)oracle, verdict);
        out->judged |= (uint32_t)verdict->is_judged[oracle] << oracle;
        out->violated |= (uint32_t)(verdict->violations[oracle].count > 0) << oracle;
        out->broken |= (uint32_t)is_broken << oracle;
        for (uint32_t set = 0; set < verdict->violations[oracle].excuse_count; set++)
            out->excuses[oracle] |= verdict->violations[oracle].excuses[set];
        out->lapsed[oracle] = verdict->lapsed[oracle];
    }
}

bool lab_breach_find(const struct lab_result *result, struct lab_breach *out)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_fuzz_run run = {0};
        if (!is_observed(&result->strategies[i]))
            judge(&result->strategies[i], &run);
        for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
            if ((run.broken >> oracle & 1) == 0)
                continue;
            *out = (struct lab_breach){i, (enum lab_oracle)oracle};
            return true;
        }
    }
    return false;
}

void lab_fuzz_hold(struct lab_result *result, uint32_t held)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_verdict *verdict = &result->strategies[i].verdict;
        verdict->conditions &= ~held;
        for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
            for (uint32_t set = 0; set < verdict->violations[oracle].excuse_count; set++)
                verdict->violations[oracle].excuses[set] &= ~held;
            verdict->lapsed[oracle] &= ~held;
        }
    }
}

void lab_fuzz_outcome_of(const struct lab_result *result, struct lab_fuzz_outcome *out)
{
    *out = (struct lab_fuzz_outcome){.rows = result->rows};
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_verdict *verdict = &result->strategies[i].verdict;
        if (is_observed(&result->strategies[i]))
            continue;
        judge(&result->strategies[i], &out->runs[out->run_count]);
        judge_kept(&result->strategies[i], result->rows, &out->runs[out->run_count++]);
        for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++)
            out->probes |= (uint64_t)(verdict->probes[probe] > 0) << probe;
    }
}

void lab_fuzz_tally_init(struct lab_fuzz_tally *tally)
{
    *tally = (struct lab_fuzz_tally){0};
    lab_histogram_init(&tally->rows);
    lab_histogram_init(&tally->rolls);
}

void lab_fuzz_tally_clear(struct lab_fuzz_tally *tally)
{
    lab_histogram_clear(&tally->rows);
    lab_histogram_clear(&tally->rolls);
}

static void add_run(struct lab_fuzz_tally *tally, const struct lab_fuzz_run *run)
{
    assert((unsigned)run->kind < LAB_FUZZ_KINDS && run->protocol < LAB_PROTOCOL_COUNT);
    tally->runs[run->kind][run->protocol]++;
    lab_histogram_add(&tally->rolls, run->rolls, 1, 1);
    for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
        if ((run->judged >> oracle & 1) == 0)
            continue;
        struct lab_fuzz_cell *cell = &tally->cells[run->kind][run->protocol][oracle];
        const struct lab_guarantee *guarantee =
            lab_guarantee_find(run->kind, run->protocol, (enum lab_oracle)oracle);
        bool is_violated = run->violated >> oracle & 1, is_broken = run->broken >> oracle & 1;
        uint32_t excuses = is_broken ? 0 : run->excuses[oracle];
        cell->judged++;
        cell->violated += is_violated;
        cell->broken += is_broken;
        cell->excused += guarantee != NULL && is_violated && !is_broken;
        cell->guaranteed += guarantee != NULL && run->lapsed[oracle] == 0;
        for (unsigned condition = 0; condition < LAB_CONDITION_COUNT; condition++) {
            cell->excuses[condition] += excuses >> condition & 1;
            cell->lapsed[condition] += run->lapsed[oracle] >> condition & 1;
        }
    }
}

/* Runs of a seed with the same kind and protocol are one observation, which is counted with the last of
 * them. */
static void add_seed(struct lab_fuzz_tally *tally, const struct lab_fuzz_outcome *outcome, size_t index)
{
    const struct lab_fuzz_run *run = &outcome->runs[index];
    uint32_t judged = 0, uncovered = 0;
    for (size_t i = 0; i < outcome->run_count; i++) {
        const struct lab_fuzz_run *other = &outcome->runs[i];
        if (other->kind != run->kind || other->protocol != run->protocol)
            continue;
        if (i > index)
            return;
        judged |= other->judged;
        uncovered |= other->judged & other->violated & ~other->broken;
    }
    for (unsigned share = 0; share < LAB_FUZZ_SHARES; share++) {
        struct lab_fuzz_cell *cell = &tally->cells[run->kind][run->protocol][share];
        cell->seeds_judged += judged >> share & 1;
        cell->seeds_uncovered += uncovered >> share & 1;
    }
}

bool lab_fuzz_tally_add(struct lab_fuzz_tally *tally, const struct lab_fuzz_outcome *outcome)
{
    tally->seeds++;
    for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++)
        tally->probes[probe] += outcome->probes >> probe & 1;
    lab_histogram_add(&tally->rows, outcome->rows, 1, 1);
    for (size_t i = 0; i < outcome->run_count; i++) {
        add_run(tally, &outcome->runs[i]);
        add_seed(tally, outcome, i);
    }
    return !tally->rows.out_of_memory && !tally->rolls.out_of_memory;
}

uint64_t lab_fuzz_median(const struct lab_histogram *histogram)
{
    /* Found by bisection, which needs no memory and cannot fail. */
    uint64_t low = 0, high = histogram->count == 0 ? 0 : histogram->most;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2, below = 0;
        for (size_t i = 0; i < histogram->slot_count; i++)
            below += histogram->slots[i].size <= middle ? histogram->slots[i].count : 0;
        if (2 * below >= histogram->count)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
