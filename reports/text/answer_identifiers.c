/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of a run of identifier generators. */
#include <stdint.h>

#include "reports/answer.h"
#include "reports/format.h"
#include "reports/strategy.h"

enum { NAMED_MAX = 4 };

/* Returns 0 for a figure that the run does not have. */
static double figure(const struct lab_strategy_result *strategy, const char *name)
{
    double value;
    report_metric(strategy, name, &value);
    return value;
}

/* The fastest strategy among those that gave no identifier twice; NULL: none. */
static const struct lab_strategy_result *fastest_of(const struct lab_result *result)
{
    const struct lab_strategy_result *fastest = NULL;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const double rate = figure(strategy, "ids.per_second");
        if (figure(strategy, "oracle.unique.violations") == 0 && rate > 0 &&
            (fastest == NULL || rate > figure(fastest, "ids.per_second"))) {
            fastest = strategy;
        }
    }
    return fastest;
}

/* Joins a text of each strategy, of the first few by name. */
static const char *each(const struct lab_result *result, struct report_arena *arena,
                        const char *(*tell)(const struct lab_strategy_result *, struct report_arena *))
{
    const char *text = "";
    size_t told = 0, left = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const char *item = tell(strategy, arena);
        if (item[0] == 0) {
            continue;
        }
        if (told == NAMED_MAX) {
            left++;
            continue;
        }
        text = report_text(arena, "%s%s%s: %s", text, told++ == 0 ? "" : "; ",
                           report_clean(arena, strategy->label), item);
    }
    return left == 0 ? text : report_text(arena, "%s; and %zu more", text, left);
}

static const char *tell_rate(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    return report_text(arena, "%s identifiers per second",
                       report_number(arena, figure(strategy, "ids.per_second")));
}

static const char *tell_lost(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    const double lost = figure(strategy, "ids.lost");
    return lost > 0 ? report_grouped(arena, (uint64_t)lost) : "";
}

static const char *tell_wait(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    double wait_ms;
    return report_metric(strategy, "latency.lock.p99", &wait_ms)
               ? report_text(arena, "99%% of its locks within %s", report_time(arena, 1e6 * wait_ms))
               : "no lock";
}

static const char *tell_twice(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    const double twice = figure(strategy, "oracle.unique.violations");
    return twice > 0 ? report_text(arena, "%s identifier%s given twice",
                                   report_grouped(arena, (uint64_t)twice), twice == 1 ? "" : "s")
                     : "";
}

void report_answer_identifiers(const struct lab_result *result, struct report_arena *arena,
                               struct report_answer *out)
{
    const struct lab_strategy_result *fastest = fastest_of(result);
    out->headline =
        fastest != NULL
            ? report_text(arena, "Use %s: it hands out %s%s identifiers per second, and none of them twice.",
                          report_clean(arena, fastest->label), result->strategy_count > 1 ? "the most, " : "",
                          report_number(arena, figure(fastest, "ids.per_second")))
        : each(result, arena, tell_twice)[0] != 0 ? "Use none of these: each gave identifiers twice, or none."
                                                  : "No identifier was handed out.";
    report_answer_add(out, "rate", each(result, arena, tell_rate));
    report_answer_add(out, "wait", each(result, arena, tell_wait));
    report_answer_add(out, "lost", each(result, arena, tell_lost));
    report_answer_add(out, "not", each(result, arena, tell_twice));
}
