/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict of a run in sentences: the question, which strategy to choose, and the disqualifiers of the
 * others. */
#include "reports/answer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "reports/format.h"
#include "reports/strategy.h"

/* A list names this many strategies, and counts the others. */
enum { NAMED_MAX = 3 };

/* The data of all sentences. */
struct telling {
    const struct lab_result *result;
    struct report_arena *arena;
    const struct lab_score *scores;
    size_t chosen, eligible; /* eligible: the strategies without disqualifiers and with known cost */
    bool has_reads;
};

/* The judgment as bits beside the disqualifiers. */
enum { OVER_ROWS = 1 << 10, OVER_BYTES = 1 << 11, OVER_OPEN = 1 << 12 };
static unsigned bits_of(const struct lab_score *score)
{
    return score->disqualifiers |
           (score->judgment.within == LAB_EXCEEDS
                ? ((score->judgment.exceeded & 1) != 0 ? OVER_ROWS : 0u) |
                      ((score->judgment.exceeded & 2) != 0 ? OVER_BYTES : 0u)
                : 0u) |
           (score->judgment.within == LAB_NOT_JUDGED && score->judgment.partitions > 0 ? OVER_OPEN : 0u);
}

/* 0 for a figure that the run does not have. */
static double figure(const struct lab_result *result, size_t index, const char *name)
{
    double value = 0;
    report_metric(&result->strategies[index], name, &value);
    return value;
}

/* A number, in words up to nine. */
static const char *counted(struct report_arena *arena, size_t count)
{
    static const char *const words[] = {"no",   "one", "two",   "three", "four",
                                        "five", "six", "seven", "eight", "nine"};
    return count < sizeof words / sizeof words[0] ? words[count] : report_text(arena, "%zu", count);
}

static bool has_limits(const struct lab_result *result)
{
    return result->limits.partition_rows != 0 || result->limits.partition_bytes != 0;
}

static const char *tell_asked(const struct telling *telling)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    const char *name = report_clean(arena, result->scenario_name);
    const char *tried = counted(arena, result->strategy_count);
    const char *end = result->strategy_count == 1 ? "" : "s";
    const char *lasts = report_time(arena, (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns));
    const char *limits = has_limits(result) ? report_text(arena, "a partition may grow to %s",
                                                          report_answer_limits(&result->limits, arena))
                                            : "no limit is set for a partition";
    if (lab_result_is_observed(result)) {
        return report_text(arena,
                           "%s reads the partition sizes that a running Cassandra reported in %s file%s; %s.",
                           name, tried, end, limits);
    }
    if (result->strategy_count > 0 && result->strategies[0].settings.is_idgen) {
        return report_text(arena,
                           "%s tries %s design%s of identifiers for %s; no identifier may be given twice.",
                           name, tried, end, lasts);
    }
    const char *trace = "";
    if (result->source != NULL && strcmp(result->source, "synthetic") != 0) {
        const char *slash = strrchr(result->source, '/');
        trace = report_text(arena, " of the trace %s",
                            report_clean(arena, slash != NULL ? slash + 1 : result->source));
    }
    /* Not "on the same rows": with the thinned engine only their number is the same. */
    return report_text(arena, "%s tries %s strateg%s on %s row%s of %s key%s%s, over %s; %s.", name, tried,
                       result->strategy_count == 1 ? "y" : "ies, each", report_grouped(arena, result->rows),
                       result->rows == 1 ? "" : "s", report_grouped(arena, result->keys),
                       result->keys == 1 ? "" : "s", trace, lasts, limits);
}

static const char *cost_text(const struct telling *telling, double cost)
{
    const char *what = telling->has_reads ? "extra operations and partition reads" : "extra operations";
    if (cost == 0) {
        return report_text(telling->arena, "no %s", what);
    }
    if (!lab_prices_are_equal(&telling->result->prices)) {
        return report_text(telling->arena, "%s inserts per 1000 rows for %s",
                           report_number(telling->arena, cost), what);
    }
    return report_text(telling->arena, "%s %s per 1000 rows", report_number(telling->arena, cost), what);
}

/* "at a cost of 2.19 extra operations per 1000 rows" */
static const char *at_cost(const struct telling *telling, double cost)
{
    return report_text(telling->arena, "%s %s", cost == 0 ? "with" : "at a cost of",
                       cost_text(telling, cost));
}

static const char *name_of(const struct telling *telling, size_t index)
{
    return report_clean(telling->arena, telling->result->strategies[index].label);
}

static const char *named_with_settings(const struct telling *telling, size_t index)
{
    return report_text(telling->arena, "%s (%s)", name_of(telling, index),
                       report_settings(telling->arena, &telling->result->strategies[index]));
}

/* Rows that the chosen strategy lost: of several rows with one primary key only the last is left. Empty when
 * it lost none. */
static const char *replaced_text(const struct telling *telling)
{
    const double replaced = figure(telling->result, telling->chosen, "rows.overwritten");
    const double rows = figure(telling->result, telling->chosen, "writes.rows");
    if (!(replaced > 0)) {
        return "";
    }
    return report_text(telling->arena, "%s of %s rows were replaced by later ones with the same primary key",
                       report_grouped(telling->arena, (uint64_t)replaced),
                       report_grouped(telling->arena, (uint64_t)rows));
}

/* Rows that the agents of the chosen strategy did not store; " " first, empty when there are none. */
static const char *refused_text(const struct telling *telling)
{
    const double refused = figure(telling->result, telling->chosen, "writes.refused");
    return refused > 0 ? report_text(telling->arena, " It refused %s of %s rows.",
                                     report_grouped(telling->arena, (uint64_t)refused),
                                     report_grouped(telling->arena, telling->result->rows))
                       : "";
}

/* Whether another strategy within the limits costs as much as the chosen one. */
static bool is_peer(const struct telling *telling, size_t index)
{
    const struct lab_score *other = &telling->scores[index];
    return index != telling->chosen && bits_of(other) == 0 &&
           other->cost <= telling->scores[telling->chosen].cost * 1.01;
}

static bool has_peer(const struct telling *telling)
{
    for (size_t i = 0; i < telling->result->strategy_count; i++) {
        if (is_peer(telling, i)) {
            return true;
        }
    }
    return false;
}

/* Of several strategies with equal cost and evenness the first is chosen. */
static const char *tell_evenness(const struct telling *telling)
{
    const double cv = telling->scores[telling->chosen].candidate.cv;
    bool is_more = false, is_less = false;
    if (isnan(cv)) {
        return "";
    }
    if (cv == 0) {
        return ", and its closed partitions all have the same size";
    }
    for (size_t i = 0; i < telling->result->strategy_count; i++) {
        if (is_peer(telling, i)) {
            is_more |= telling->scores[i].candidate.cv > cv;
            is_less |= telling->scores[i].candidate.cv <= cv;
        }
    }
    return report_text(telling->arena, ", and its closed partitions %s a CV of %s",
                       is_more && !is_less ? "are the most even, with" : "have",
                       report_percent(telling->arena, cv));
}

/* "none allowed", "0.5% allowed" */
static const char *tell_standard(const struct lab_result *result, struct report_arena *arena)
{
    double may = result->limits.over_limit_share;
    return may > 0 ? report_text(arena, "%s allowed", report_percent(arena, may)) : "none allowed";
}

/* "none of its 1,204 partitions exceeds a limit (none allowed; in other seeds at most 0.31%, with 95%
 * confidence)" */
static const char *tell_within(const struct telling *telling, size_t index)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    const struct lab_score *score = &telling->scores[index];
    double total = figure(result, index, "partitions.total");
    const char *all = report_grouped(arena, (uint64_t)total), *standard = tell_standard(result, arena);
    const char *text =
        total == 1 ? report_text(arena, "its one partition exceeds no limit (%s", standard)
        : score->judgment.share > 0
            ? report_text(arena, "%s of its %s partitions exceed a limit (%s",
                          report_percent(arena, score->judgment.share), all, standard)
            : report_text(arena, "none of its %s partitions exceeds a limit (%s", all, standard);
    if (isnan(score->judgment.share_most)) {
        return report_text(arena, "%s)", text);
    }
    return report_text(arena, "%s; in other seeds at most %s, with %s confidence)", text,
                       report_percent(arena, score->judgment.share_most),
                       report_percent(arena, result->limits.confidence));
}

static bool needs(const struct telling *telling, size_t index, enum lab_requirement requirement)
{
    return (lab_requirements(&telling->result->strategies[index].settings) >> requirement & 1) != 0;
}

/* The cheapest other strategy within the limits, among those that need a number in each row or among those
 * that do not; SIZE_MAX: none. */
static size_t next_of(const struct telling *telling, bool has_sequence)
{
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < telling->result->strategy_count; i++) {
        const struct lab_score *other = &telling->scores[i];
        if (i != telling->chosen && bits_of(other) == 0 && !isnan(other->cost) &&
            needs(telling, i, LAB_REQUIRES_SEQUENCE) == has_sequence &&
            (next == SIZE_MAX || other->cost < telling->scores[next].cost)) {
            next = i;
        }
    }
    return next;
}

/* "costs 1.06 times as much" */
static const char *compared(const struct telling *telling, size_t index)
{
    const double mine = telling->scores[telling->chosen].cost, cost = telling->scores[index].cost;
    if (cost <= mine * 1.01 && mine <= cost * 1.01) {
        return "costs as much";
    }
    return mine > 0 ? report_text(telling->arena, "costs %s times as much",
                                  report_number(telling->arena, cost / mine))
                    : report_text(telling->arena, "costs %s", cost_text(telling, cost));
}

/* "a lead with bounded caches and clocks and conditional updates (LWT)"; without the number in each row. */
static const char *needed(const struct telling *telling, size_t index)
{
    const char *list = "";
    for (int i = 0; i < LAB_REQUIREMENT_COUNT; i++) {
        if (i != LAB_REQUIRES_SEQUENCE && needs(telling, index, (enum lab_requirement)i)) {
            list = report_text(telling->arena, "%s%s%s", list, list[0] == 0 ? "" : " and ",
                               lab_requirement_text((enum lab_requirement)i));
        }
    }
    return list;
}

/* The assumptions of the chosen strategy, and what to choose without them. */
static const char *tell_requirements(const struct telling *telling)
{
    static const char numbered[] = "rows already carry a gapless sequence number";
    struct report_arena *arena = telling->arena;
    bool is_numbered = needs(telling, telling->chosen, LAB_REQUIRES_SEQUENCE);
    size_t other = next_of(telling, !is_numbered);
    const char *own = needed(telling, telling->chosen);
    const char *text = own[0] == 0 ? "" : report_text(arena, " It needs %s.", own);
    if (!is_numbered) {
        return other == SIZE_MAX ? text
                                 : report_text(arena, "%s And if %s: %s %s.", text, numbered,
                                               name_of(telling, other), compared(telling, other));
    }
    if (other == SIZE_MAX) {
        const char *alone =
            telling->result->strategy_count == 1 ? "" : "; otherwise none stays within the limits";
        return report_text(arena, "%s This assumes that %s%s.", text, numbered, alone);
    }
    const char *its = needed(telling, other);
    return report_text(arena, "%s This assumes that %s; otherwise choose %s, which %s%s%s.", text, numbered,
                       named_with_settings(telling, other), compared(telling, other),
                       its[0] == 0 ? "" : " and needs ", its);
}

static const char *tell_chosen(const struct telling *telling)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    const struct lab_score *score = &telling->scores[telling->chosen];
    const char *cost = cost_text(telling, score->cost), *at = at_cost(telling, score->cost);
    const char *named = named_with_settings(telling, telling->chosen);
    const char *within = tell_within(telling, telling->chosen);
    if (result->strategy_count == 1) {
        const char *replaced = replaced_text(telling);
        return replaced[0] == 0
                   ? report_text(arena, "%s stays within the limits: %s, and it costs %s.", named, within,
                                 cost)
                   : report_text(arena, "%s stays within the limits %s, but %s.", named, at, replaced);
    }
    if (telling->eligible == 1) {
        return report_text(
            arena,
            "Choose %s: it is the only one of the %s that stays within the limits; %s, and it costs %s.",
            named, counted(arena, result->strategy_count), within, cost);
    }
    if (has_peer(telling)) {
        return report_text(arena, "Choose %s: %s it is as cheap as any that stays within the limits%s; %s.",
                           named, at, tell_evenness(telling), within);
    }
    const char *place = telling->eligible == 2
                            ? "the cheaper of the two"
                            : report_text(arena, "the cheapest of the %s", counted(arena, telling->eligible));
    return report_text(arena, "Choose %s: %s it is %s that stay within the limits; %s.", named, at, place,
                       within);
}

static const char *joined(struct report_arena *arena, const char *list, const char *item, size_t index,
                          size_t count)
{
    const char *join = index == 0 ? "" : index + 1 == count ? " and " : ", ";
    return report_text(arena, "%s%s%s", list, join, item);
}

/* The strategies with one of `disqualifiers` and none of `without`, in the order of the scenario. */
static const char *list_disqualified(const struct telling *telling, unsigned disqualifiers, unsigned without,
                                     bool has_share, size_t *count)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    const char *list = "";
    size_t at = 0;
    *count = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        *count += (bits_of(&telling->scores[i]) & disqualifiers) != 0 &&
                  (bits_of(&telling->scores[i]) & without) == 0;
    }
    size_t shown = *count <= NAMED_MAX + 1 ? *count : NAMED_MAX;
    size_t items = shown + (shown < *count);
    for (size_t i = 0; i < result->strategy_count && at < shown; i++) {
        const struct lab_score *score = &telling->scores[i];
        if ((bits_of(score) & disqualifiers) == 0 || (bits_of(score) & without) != 0) {
            continue;
        }
        const char *item = name_of(telling, i);
        if (has_share && !isnan(score->judgment.share)) {
            item = report_text(arena, "%s (%s%s)", item, report_percent(arena, score->judgment.share),
                               at == 0 ? " of its partitions" : "");
        }
        list = joined(arena, list, item, at++, items);
    }
    if (shown < *count) {
        list = joined(arena, list, report_text(arena, "%zu others", *count - shown), at, items);
    }
    return list;
}

#define LOSES_ROWS (LAB_DISQUALIFIER_HIDDEN | LAB_DISQUALIFIER_REFUSED)

/* "unbucketed (0.48% of its partitions) and time (0.054%) exceed a limit; hash never closes a partition" */
static const char *disqualified_clauses(const struct telling *telling)
{
    static const struct {
        unsigned disqualifiers, without;
        const char *one, *more;
    } clauses[] = {
        {OVER_ROWS | OVER_BYTES, 0, "exceeds a limit", "exceed a limit"},
        {OVER_OPEN, 0, "exceeds a limit more often than allowed, but with too few partitions to be sure",
         "exceed a limit more often than allowed, but with too few partitions to be sure"},
        {LAB_DISQUALIFIER_HIDDEN, (OVER_ROWS | OVER_BYTES | OVER_OPEN), "hid rows from readers",
         "hid rows from readers"},
        {LAB_DISQUALIFIER_REFUSED, (OVER_ROWS | OVER_BYTES | OVER_OPEN) | LAB_DISQUALIFIER_HIDDEN,
         "refused rows although nothing had failed", "refused rows although nothing had failed"},
        {LAB_DISQUALIFIER_ENDLESS, (OVER_ROWS | OVER_BYTES | OVER_OPEN) | LOSES_ROWS,
         "never closes a partition", "never close a partition"},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof clauses / sizeof clauses[0]; i++) {
        size_t count;
        const char *list =
            list_disqualified(telling, clauses[i].disqualifiers, clauses[i].without, i < 2, &count);
        if (count > 0) {
            text = report_text(telling->arena, "%s%s%s %s", text, text[0] == 0 ? "" : "; ", list,
                               count == 1 ? clauses[i].one : clauses[i].more);
        }
    }
    return text;
}

/* The costs of the next strategies within the limits, and the disqualifiers of the others. */
static const char *tell_rivals(const struct telling *telling)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    const char *text = "";
    /* A strategy of the other kind (with or without a number in each row) is the other half of the
     * verdict. */
    size_t next = next_of(telling, needs(telling, telling->chosen, LAB_REQUIRES_SEQUENCE));
    if (next != SIZE_MAX) {
        text = report_text(arena, "%s, the next that stays within the limits, %s", name_of(telling, next),
                           compared(telling, next));
    }
    const char *disqualified = disqualified_clauses(telling);
    text = report_text(arena, "%s%s%s", text, text[0] != 0 && disqualified[0] != 0 ? "; " : "", disqualified);
    const char *replaced = result->strategy_count == 1 ? "" : replaced_text(telling);
    if (replaced[0] != 0) {
        text = report_text(arena, "%s%sof %s %s", text, text[0] != 0 ? "; " : "",
                           name_of(telling, telling->chosen), replaced);
    }
    if (text[0] == 0) {
        text = "This is one run with one seed; 'bucketlab tune' tries more seeds and shows the margin";
    }
    return report_text(arena, "%s.", text);
}

/* No strategy can be chosen: why. */
static const char *tell_refused(const struct telling *telling)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    if (result->strategy_count == 1) {
        const char *against =
            report_answer_against(result, &result->strategies[0], &telling->scores[0], arena);
        if (against[0] != 0) {
            const bool is_within =
                (bits_of(&telling->scores[0]) & (OVER_ROWS | OVER_BYTES | OVER_OPEN)) == 0 &&
                (bits_of(&telling->scores[0]) & LAB_DISQUALIFIER_REFUSED) != 0;
            return report_text(arena, "%s %s: %s.", named_with_settings(telling, 0),
                               is_within ? "cannot be chosen" : "does not stay within the limits", against);
        }
        return report_text(arena, "%s stays within the limits: %s.", named_with_settings(telling, 0),
                           tell_within(telling, 0));
    }
    const char *disqualified = disqualified_clauses(telling);
    if (lab_result_is_observed(result)) {
        return disqualified[0] == 0 ? "None of their partitions exceeds a limit."
                                    : report_text(arena, "Not all stay within the limits: %s.", disqualified);
    }
    return disqualified[0] == 0 ? "None was run, so none can be chosen."
           : result->strategy_count == 2
               ? report_text(arena, "Neither of the two can be chosen: %s.", disqualified)
               : report_text(arena, "None of the %s can be chosen: %s.",
                             counted(arena, result->strategy_count), disqualified);
}

/* The largest partition as a share of the limit; 0 without a limit. */
static double share_of_limit(const struct telling *telling, size_t index, bool is_bytes)
{
    const struct lab_limits *limits = &telling->result->limits;
    const uint64_t limit = is_bytes ? limits->partition_bytes : limits->partition_rows;
    const char *name = is_bytes ? "partitions.all.bytes.max" : "partitions.all.rows.max";
    return limit != 0 ? figure(telling->result, index, name) / (double)limit : 0;
}

/* The largest partition as a share of the limit that it is nearest to. */
static double largest_share(const struct telling *telling, size_t index)
{
    return fmax(share_of_limit(telling, index, false), share_of_limit(telling, index, true));
}

/* The strategy with the least share above a limit; among equals the first, but among observed ones within all
 * limits the one whose largest partition is nearest to it. */
static size_t nearest(const struct telling *telling)
{
    const bool is_observed = lab_result_is_observed(telling->result);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < telling->result->strategy_count; i++) {
        double over = telling->scores[i].judgment.share;
        if (isnan(over)) {
            continue;
        }
        if (best == SIZE_MAX || over < telling->scores[best].judgment.share ||
            (is_observed && over == 0 && telling->scores[best].judgment.share == 0 &&
             largest_share(telling, i) > largest_share(telling, best))) {
            best = i;
        }
    }
    return best;
}

/* How far off the nearest strategy is, by its largest partition. */
static const char *tell_nearest(const struct telling *telling)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    size_t index = nearest(telling);
    if (index == SIZE_MAX) {
        return "There are no partitions to judge.";
    }
    const char *name = name_of(telling, index);
    unsigned disqualifiers = bits_of(&telling->scores[index]);
    double rows = figure(result, index, "partitions.all.rows.max");
    double bytes = figure(result, index, "partitions.all.bytes.max");
    double share_of_rows = share_of_limit(telling, index, false);
    double share_of_bytes = share_of_limit(telling, index, true);
    if ((disqualifiers & (OVER_ROWS | OVER_BYTES | OVER_OPEN)) == 0 &&
        (disqualifiers & (LOSES_ROWS | LAB_DISQUALIFIER_ENDLESS)) != 0) {
        const char *why = (disqualifiers & LAB_DISQUALIFIER_HIDDEN) != 0 ? "it hid rows from readers"
                          : (disqualifiers & LAB_DISQUALIFIER_REFUSED) != 0
                              ? "it refused rows although nothing had failed"
                              : "nothing ends them";
        return result->strategy_count == 1
                   ? "Its partitions stay within the limits."
                   : report_text(arena, "Nearest is %s: its partitions stay within the limits, but %s.", name,
                                 why);
    }
    if (share_of_rows == 0 && share_of_bytes == 0) {
        return report_text(arena, "Nearest is %s.", name);
    }
    bool is_rows = share_of_rows >= share_of_bytes;
    double share = is_rows ? share_of_rows : share_of_bytes;
    const char *size = is_rows ? report_text(arena, "%s rows", report_grouped(arena, (uint64_t)rows))
                               : report_size(arena, bytes, REPORT_BYTES);
    return report_text(
        arena, "%s %s has %s, %s the limit.",
        result->strategy_count == 1 ? "The largest partition of" : "Nearest is",
        result->strategy_count == 1 ? name : report_text(arena, "%s: its largest partition", name), size,
        share >= 2 ? report_text(arena, "%s times", report_number(arena, share))
                   : report_text(arena, "%s of", report_percent(arena, share)));
}

/* Without limits: which strategy costs least, and whose partitions are most even. A strategy that hides or
 * refuses rows is still no choice. */
static const char *tell_extremes(const struct telling *telling)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    size_t cheapest = SIZE_MAX, evenest = SIZE_MAX, hidden = 0, lost = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_score *score = &telling->scores[i];
        hidden += (bits_of(score) & LAB_DISQUALIFIER_HIDDEN) != 0;
        lost += (bits_of(score) & LOSES_ROWS) != 0;
        if ((bits_of(score) & LOSES_ROWS) != 0 && result->strategy_count > 1) {
            continue;
        }
        if (!isnan(score->cost) && (cheapest == SIZE_MAX || score->cost < telling->scores[cheapest].cost)) {
            cheapest = i;
        }
        if (!isnan(score->candidate.cv) &&
            (evenest == SIZE_MAX || score->candidate.cv < telling->scores[evenest].candidate.cv)) {
            evenest = i;
        }
    }
    if (cheapest == SIZE_MAX) {
        return lab_result_is_observed(result)     ? "Nothing was run, and no limit was set."
               : hidden == result->strategy_count ? "None can be chosen: all hid rows from readers."
               : lost == result->strategy_count   ? "None can be chosen: all hid or refused rows."
                                                  : "None can be chosen: no row was written.";
    }
    const char *cost = cost_text(telling, telling->scores[cheapest].cost);
    const char *text = result->strategy_count == 1
                           ? report_text(arena, "%s costs %s", named_with_settings(telling, 0), cost)
                           : report_text(arena, "Without a limit no strategy is chosen; %s costs least, %s",
                                         named_with_settings(telling, cheapest), cost);
    if (evenest == SIZE_MAX) {
        return report_text(arena, "%s, and no partition has closed.", text);
    }
    const char *cv = report_percent(arena, telling->scores[evenest].candidate.cv);
    if (evenest == cheapest) {
        return report_text(arena, "%s, and the rows of its closed partitions have a CV of %s.", text, cv);
    }
    return report_text(arena, "%s, and the closed partitions of %s are most even, with a CV of %s.", text,
                       name_of(telling, evenest), cv);
}

/* The strategy with the smallest largest partition, without those that hide or refuse rows. */
static size_t smallest(const struct telling *telling)
{
    const char *name = "partitions.all.rows.max";
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < telling->result->strategy_count; i++) {
        double value = figure(telling->result, i, name);
        bool is_out = (bits_of(&telling->scores[i]) & LOSES_ROWS) != 0 && telling->result->strategy_count > 1;
        if (!is_out && value > 0 && (best == SIZE_MAX || value < figure(telling->result, best, name))) {
            best = i;
        }
    }
    return best;
}

static const char *tell_largest(const struct telling *telling)
{
    const struct lab_result *result = telling->result;
    struct report_arena *arena = telling->arena;
    const char *cure = "set limits (partition_rows, partition_bytes) to get a recommendation";
    size_t hidden, refused, index = smallest(telling);
    const char *list = list_disqualified(telling, LAB_DISQUALIFIER_HIDDEN, 0, false, &hidden);
    const char *text = hidden > 0 ? report_text(arena, "%s hid rows from readers; ", list) : "";
    list = list_disqualified(telling, LAB_DISQUALIFIER_REFUSED, LAB_DISQUALIFIER_HIDDEN, false, &refused);
    if (refused > 0) {
        text = report_text(arena, "%s%s refused rows although nothing had failed; ", text, list);
    }
    if (index == SIZE_MAX) {
        return report_text(arena, "%s%so get a recommendation, %s.", text, text[0] == 0 ? "T" : "t", cure);
    }
    const double most = figure(result, index, "partitions.all.rows.max");
    const char *rows = report_grouped(arena, (uint64_t)most);
    bool is_tied = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        is_tied |= i != index && figure(result, i, "partitions.all.rows.max") == most;
    }
    if (result->strategy_count == 1) {
        return report_text(arena, "%s%sts largest partition has %s rows; %s.", text, text[0] == 0 ? "I" : "i",
                           rows, cure);
    }
    const char *than = refused > 0  ? "the fewest of the strategies that lost no rows"
                       : hidden > 0 ? "the fewest of the strategies that hid no rows"
                       : is_tied    ? "and no other strategy has a smaller one"
                                    : "fewer than that of any other";
    return report_text(arena, "%s%she largest partition of %s has %s rows, %s; %s.", text,
                       text[0] == 0 ? "T" : "t", name_of(telling, index), rows, than, cure);
}

void report_answer(const struct lab_result *result, struct report_arena *arena, struct report_answer *out)
{
    *out = (struct report_answer){.asked = "", .verdict = "", .beware = "", .chosen = SIZE_MAX};
    struct lab_score *scores = report_take(arena, result->strategy_count, sizeof *scores);
    if (scores == NULL) {
        return;
    }
    struct telling telling = {.result = result, .arena = arena, .scores = scores};
    telling.chosen = out->chosen = lab_choose(result, scores);
    out->scores = scores;
    for (size_t i = 0; i < result->strategy_count; i++) {
        telling.eligible += bits_of(&scores[i]) == 0 && !isnan(scores[i].cost);
        telling.has_reads |= figure(result, i, "reads.count") > 0;
    }
    out->asked = tell_asked(&telling);
    if (result->strategy_count > 0 && result->strategies[0].settings.is_idgen) {
        report_answer_identifiers(result, arena, out);
    } else if (result->is_tuned) {
        out->verdict = "These are the settings that tune ran with the most seeds, shown here for one seed.";
        out->beware = "Its recommendation is based on all seeds: bucketlab report RUN --format html.";
    } else if (out->chosen != SIZE_MAX) {
        out->verdict = tell_chosen(&telling);
        const char *text = report_text(arena, "%s%s", refused_text(&telling), tell_requirements(&telling));
        out->beware = text[0] == 0 ? tell_rivals(&telling)
                                   : report_text(arena, "%s %s", text + 1, tell_rivals(&telling));
    } else if (has_limits(result)) {
        out->verdict = tell_refused(&telling);
        out->beware = tell_nearest(&telling);
    } else {
        out->verdict = tell_extremes(&telling);
        out->beware = tell_largest(&telling);
    }
}

static const char *over_text(const struct lab_result *result, const struct lab_strategy_result *strategy,
                             unsigned disqualifiers, struct report_arena *arena)
{
    double over = 0, total = 0;
    report_metric(strategy, "partitions.over_limit", &over);
    report_metric(strategy, "partitions.total", &total);
    struct lab_limits passed = result->limits;
    bool is_open = (disqualifiers & OVER_OPEN) != 0;
    bool has_rows = is_open || (disqualifiers & OVER_ROWS) != 0;
    bool has_bytes = is_open || (disqualifiers & OVER_BYTES) != 0;
    passed.partition_rows = has_rows ? passed.partition_rows : 0;
    passed.partition_bytes = has_bytes ? passed.partition_bytes : 0;
    return report_text(arena, "%s of %s partition%s (%s) above %s (%s)%s",
                       report_grouped(arena, (uint64_t)over), report_grouped(arena, (uint64_t)total),
                       total == 1 ? "" : "s", report_percent(arena, total > 0 ? over / total : 0),
                       report_answer_limits(&passed, arena), tell_standard(result, arena),
                       is_open ? ", but with too few partitions to be sure" : "");
}

const char *report_answer_against(const struct lab_result *result, const struct lab_strategy_result *strategy,
                                  const struct lab_score *score, struct report_arena *arena)
{
    const char *text = "";
    if ((bits_of(score) & (OVER_ROWS | OVER_BYTES | OVER_OPEN)) != 0) {
        text = over_text(result, strategy, bits_of(score), arena);
    }
    if ((bits_of(score) & LAB_DISQUALIFIER_HIDDEN) != 0) {
        text = report_text(arena, "%s%srows hidden from readers", text, text[0] == 0 ? "" : "; ");
    }
    if ((bits_of(score) & LAB_DISQUALIFIER_REFUSED) != 0) {
        text = report_text(arena, "%s%s%s of the rows refused although nothing had failed", text,
                           text[0] == 0 ? "" : "; ", report_percent(arena, lab_refused_share(strategy)));
    }
    if ((bits_of(score) & LAB_DISQUALIFIER_ENDLESS) != 0) {
        text = report_text(arena, "%s%sits partitions never close", text, text[0] == 0 ? "" : "; ");
    }
    return text;
}

const char *report_answer_limits(const struct lab_limits *limits, struct report_arena *arena)
{
    const char *rows = limits->partition_rows == 0
                           ? ""
                           : report_text(arena, "%s rows", report_grouped(arena, limits->partition_rows));
    const char *bytes =
        limits->partition_bytes == 0 ? "" : report_exact(arena, limits->partition_bytes, REPORT_BYTES);
    return report_text(arena, "%s%s%s", rows, rows[0] != 0 && bytes[0] != 0 ? " or " : "", bytes);
}
