/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says how long strategies stay within the limits, and whether buckets are needed at all. */
#include "reports/horizon_text.h"

#include <math.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/metric.h"
#include "reports/answer.h"
#include "reports/format.h"
#include "reports/strategy.h"

/* The greatest number of strategies that are named. */
enum { NAMED_MAX = 6 };

/* "9.31 years" */
static const char *span(struct report_arena *arena, double days)
{
    const char *unit, *number = report_number(arena, sim_span_told(days, &unit));
    return report_text(arena, "%s %s%s", number, unit, strcmp(number, "1") == 0 ? "" : "s");
}

/* Names the assumption of a horizon: "rate", "trace's mean rate", "trace's growth (its rate doubles every 8.2
 * months)". */
static const char *pace(const struct report_horizon *horizon, struct report_arena *arena)
{
    if (isfinite(horizon->doubles_days)) {
        return report_text(arena, "trace's growth (its rate doubles every %s)",
                           span(arena, horizon->doubles_days));
    }
    return horizon->is_trace ? "trace's mean rate" : "rate";
}

const char *report_no_buckets(const struct report_horizon *horizon, struct report_arena *arena)
{
    if (!(horizon->days_left >= REPORT_ENOUGH_DAYS)) {
        return "";
    }
    const double rows = horizon->limit_rows == 0 ? 0 : horizon->rows_most / (double)horizon->limit_rows;
    const double bytes = horizon->limit_bytes == 0 ? 0 : horizon->bytes_most / (double)horizon->limit_bytes;
    const struct lab_limits half = {.partition_rows = bytes >= rows ? 0 : horizon->limit_rows / 2,
                                    .partition_bytes = bytes >= rows ? horizon->limit_bytes / 2 : 0};
    return report_text(arena,
                       "You need no buckets yet: unbucketed is within the limits for %s more at this %s. "
                       "Run tune again when the largest partition has %s, half the limit%s.",
                       isinf(horizon->days_left) ? "ever" : span(arena, horizon->days_left),
                       pace(horizon, arena), report_answer_limits(&half, arena),
                       rows <= 0.5 && bytes <= 0.5 ? "" : ", which is now");
}

/* The horizon is that of the first strategy; its figures for an unbucketed table are the same in all
 * strategies. */
struct report_horizon report_horizon_of(const struct lab_result *result)
{
    const struct lab_strategy_result *first = &result->strategies[0];
    const double lasts = (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns) / (double)SIM_DAY;
    struct report_horizon horizon = {.days_left = (double)NAN,
                                     .doubles_days = (double)INFINITY,
                                     .is_trace =
                                         result->source != NULL && strcmp(result->source, "synthetic") != 0,
                                     .limit_rows = result->limits.partition_rows,
                                     .limit_bytes = result->limits.partition_bytes};
    double days;
    if (report_metric(first, "horizon.unbucketed_days", &days)) {
        horizon.days_left = days >= LAB_DAYS_MOST ? (double)INFINITY : days - lasts;
    }
    if (report_metric(first, "horizon.doubles_days", &days)) {
        horizon.doubles_days = days;
    }
    report_metric(first, "keys.rows.max", &horizon.rows_most);
    report_metric(first, "keys.bytes.max", &horizon.bytes_most);
    return horizon;
}

/* Returns whether the horizon is worth a sentence. A lower bound is not: the run itself, in which no
 * partition exceeded a limit, shows more. */
static bool is_told(const struct lab_strategy_result *strategy, double *days)
{
    return report_metric(strategy, "horizon.days", days);
}

const char *report_horizons(const struct lab_result *result, struct report_arena *arena)
{
    if (result->strategy_count == 0) {
        return "";
    }
    const struct report_horizon horizon = report_horizon_of(result);
    const char *text = report_no_buckets(&horizon, arena), *list = "";
    size_t told = 0, left = 0;
    double days;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        if (!is_told(strategy, &days)) {
            continue;
        }
        if (told == NAMED_MAX) {
            left++;
            continue;
        }
        list = report_text(arena, "%s%s%s %s%s", list, told++ == 0 ? "" : ", ",
                           report_clean(arena, strategy->label), days >= LAB_DAYS_MOST ? "never" : "after ",
                           days >= LAB_DAYS_MOST ? "" : span(arena, days));
    }
    if (told == 0) {
        return text;
    }
    const char *at = text[0] == 0 ? report_text(arena, " at this %s", pace(&horizon, arena)) : "";
    return report_text(arena, "%s%sFirst partition over a limit%s: %s%s.", text, text[0] == 0 ? "" : " ", at,
                       list, left == 0 ? "" : report_text(arena, ", and %zu more", left));
}
