/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says what the limits are, whether buckets are needed at all, and for how long they are not. */
#include "reports/horizon_text.h"

#include <math.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/metric.h"
#include "reports/format.h"
#include "reports/strategy.h"

const char *report_limits(const struct lab_limits *limits, struct report_arena *arena)
{
    const char *text = "";
    if (limits->partition_rows != 0)
        report_append(arena, &text, "", "%s rows", report_grouped(arena, limits->partition_rows));
    if (limits->partition_bytes != 0)
        report_append(arena, &text, " or ", "%s", report_exact(arena, limits->partition_bytes, REPORT_BYTES));
    return text;
}

const char *report_days(struct report_arena *arena, double days)
{
    if (days * (double)SIM_DAY < (double)SIM_MINUTE) {
        return report_time(arena, days * (double)SIM_DAY);
    }
    const char *unit, *number = report_number(arena, sim_span_told(days, &unit));
    return report_text(arena, "%s %s%s", number, unit, strcmp(number, "1") == 0 ? "" : "s");
}

/* Names the assumption of a horizon: "rate", "trace's mean rate", "trace's growth (its rate doubles every 8.2
 * months)". */
static const char *pace(const struct report_horizon *horizon, struct report_arena *arena)
{
    if (isfinite(horizon->doubles_days)) {
        return report_text(arena, "trace's growth (its rate doubles every %s)",
                           report_days(arena, horizon->doubles_days));
    }
    return horizon->is_trace ? "trace's mean rate" : "rate";
}

const char *report_no_buckets(const struct report_horizon *horizon, struct report_arena *arena)
{
    return !(horizon->days_left >= REPORT_ENOUGH_DAYS)
               ? ""
               : report_text(
                     arena,
                     "You need no buckets yet: unbucketed is within the limits for %s more at this %s.",
                     isinf(horizon->days_left) ? "ever" : report_days(arena, horizon->days_left),
                     pace(horizon, arena));
}

const char *report_half_limit(const struct report_horizon *horizon, struct report_arena *arena)
{
    const double rows = horizon->limit_rows == 0 ? 0 : horizon->rows_most / (double)horizon->limit_rows;
    const double bytes = horizon->limit_bytes == 0 ? 0 : horizon->bytes_most / (double)horizon->limit_bytes;
    const struct lab_limits half = {.partition_rows = bytes >= rows ? 0 : horizon->limit_rows / 2,
                                    .partition_bytes = bytes >= rows ? horizon->limit_bytes / 2 : 0};
    return report_text(arena, "%s, half the limit%s", report_limits(&half, arena),
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
