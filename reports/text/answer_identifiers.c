/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict of a run of identifier generators. */
#include <stdint.h>

#include "reports/answer.h"
#include "reports/format.h"
#include "reports/strategy.h"

enum { NAMED_MAX = 3 };

/* Returns 0 for a figure that the run does not have. */
static double figure(const struct lab_strategy_result *strategy, const char *name)
{
    double value;
    report_metric(strategy, name, &value);
    return value;
}

/* Names the fastest strategy among those that gave no identifier twice. */
static const char *tell_fastest(const struct lab_result *result, struct report_arena *arena)
{
    const struct lab_strategy_result *fastest = NULL, *wrong = NULL;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        double rate = figure(strategy, "ids.per_second");
        if (figure(strategy, "oracle.unique.violations") > 0) {
            wrong = wrong == NULL ? strategy : wrong;
        } else if (rate > 0 && (fastest == NULL || rate > figure(fastest, "ids.per_second"))) {
            fastest = strategy;
        }
    }
    if (fastest != NULL) {
        return report_text(arena, "%s hands out %s%s identifiers a second, and gave none of them twice.",
                           report_clean(arena, fastest->label),
                           result->strategy_count > 1 ? "the most, " : "",
                           report_number(arena, figure(fastest, "ids.per_second")));
    }
    return wrong == NULL ? "No identifier was handed out."
           : result->strategy_count == 1
               ? report_text(arena, "%s cannot be chosen.", report_clean(arena, wrong->label))
               : "None can be chosen.";
}

/* Names every strategy that gave an identifier twice. */
static const char *tell_twice(const struct lab_result *result, struct report_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const double twice = figure(strategy, "oracle.unique.violations");
        if (twice > 0) {
            text = report_text(arena, "%s%s gave %s identifier%s twice; ", text,
                               report_clean(arena, strategy->label), report_grouped(arena, (uint64_t)twice),
                               twice == 1 ? "" : "s");
        }
    }
    return text;
}

static const char *tell_waits(const struct lab_result *result, struct report_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < result->strategy_count && i < NAMED_MAX; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const double lost = figure(strategy, "ids.lost");
        double wait_ms;
        text = report_text(arena, "%s%s%s lost %s identifier%s and ", text, i == 0 ? "" : "; ",
                           report_clean(arena, strategy->label), report_grouped(arena, (uint64_t)lost),
                           lost == 1 ? "" : "s");
        text = report_metric(strategy, "latency.lock.p99", &wait_ms)
                   ? report_text(arena, "%sgot 99%% of its locks within %s", text,
                                 report_time(arena, 1e6 * wait_ms))
                   : report_text(arena, "%sgot no lock", text);
    }
    if (result->strategy_count > NAMED_MAX) {
        const size_t more = result->strategy_count - NAMED_MAX;
        text = report_text(arena, "%s; %zu more %s in the table", text, more, more == 1 ? "is" : "are");
    }
    return text;
}

void report_answer_identifiers(const struct lab_result *result, struct report_arena *arena,
                               struct report_answer *out)
{
    out->verdict = tell_fastest(result, arena);
    out->beware = report_text(arena, "%s%s.", tell_twice(result, arena), tell_waits(result, arena));
}
