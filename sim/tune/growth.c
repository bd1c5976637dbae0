/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The growth of a trace's rate, and the time at which it has a given number of rows. */
#include "tune/growth.h"

#include <math.h>
#include <stdlib.h>

#include "kernel/time.h"
#include "tune/sample.h"
#include "workload/trace.h"

#define DAYS_OF_WEEK 7

struct tune_growth tune_growth_of(const uint64_t *weeks, uint64_t count, double confidence)
{
    struct tune_growth growth = {.weeks = count};
    struct tune_sample ratios = {.count = 0};
    uint64_t half = count / 2;
    if (count < TUNE_GROWTH_WEEKS)
        return growth;
    for (uint64_t i = count - 2 * half; i < count - half; i++)
        tune_sample_add(&ratios, log(((double)weeks[i + half] + 0.5) / ((double)weeks[i] + 0.5)));
    if (tune_sample_mean_interval(&ratios, confidence).low > 0)
        growth.per_day = ratios.mean / (double)(DAYS_OF_WEEK * half);
    return growth;
}

bool tune_growth_read(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                      double confidence, struct tune_growth *out, struct sim_error *error)
{
    struct wl_trace *trace = NULL;
    struct wl_trace_batch batch;
    uint64_t count = ((uint64_t)end_ns - (uint64_t)start_ns) / (uint64_t)SIM_WEEK;
    *out = (struct tune_growth){.weeks = count};
    if (count < TUNE_GROWTH_WEEKS)
        return true;
    uint64_t *weeks = calloc(count, sizeof *weeks);
    bool is_fine = weeks != NULL || sim_fail_memory(error);
    is_fine = is_fine && wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &trace, error);
    for (bool more = is_fine; more;) {
        is_fine = wl_trace_next(trace, &batch, &more, error);
        more = more && is_fine;
        if (more)
            wl_trace_slot_rows(&batch, end_ns - (int64_t)count * SIM_WEEK, SIM_WEEK, weeks, count);
    }
    if (is_fine)
        *out = tune_growth_of(weeks, count, confidence);
    wl_trace_close(trace);
    free(weeks);
    return is_fine;
}

bool tune_growth_of_run(const struct lab_scenario *scenario, const struct lab_result *result,
                        double confidence, struct tune_growth *out, struct sim_error *error)
{
    if (result->week_count == 0)
        return tune_growth_read(scenario, result->start_ns, result->end_ns, confidence, out, error);
    *out = tune_growth_of(result->weeks, result->week_count, confidence);
    return true;
}

double tune_growth_doubles(const struct tune_growth *growth)
{
    return growth->per_day > 0 ? log(2) / growth->per_day : (double)INFINITY;
}

double tune_growth_rows_at(const struct tune_growth *growth, double days, double times)
{
    if (growth->per_day == 0)
        return days * times;
    return log1p(times * expm1(growth->per_day * days)) / growth->per_day;
}

double tune_growth_rate_at(const struct tune_growth *growth, double days, double times)
{
    double grown = growth->per_day * days;
    if (grown == 0)
        return times >= 1 ? (double)INFINITY : 0;
    return log(times * expm1(grown) / grown) / growth->per_day;
}
