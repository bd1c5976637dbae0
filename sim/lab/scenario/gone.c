/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides when a row expires or is deleted. */
#include "lab/gone.h"

#include "kernel/time.h"

/* The largest draw, as a multiple of the mean; larger ones have a probability of e^-64. */
#define MEANS_MAX 64

/* Rounded down, also before 1970, where a trace may begin. */
static int64_t whole_seconds(int64_t time_ns)
{
    return time_ns / SIM_SECOND - (time_ns % SIM_SECOND < 0);
}

static int64_t ttl_seconds(int64_t ttl_ns)
{
    return ttl_ns / SIM_SECOND + (ttl_ns % SIM_SECOND != 0);
}

static bool is_expired(int64_t ttl_ns, int64_t written_ns, int64_t now_ns)
{
    return whole_seconds(now_ns) - whole_seconds(written_ns) >= ttl_seconds(ttl_ns);
}

int64_t lab_live_since(const struct lab_scenario *scenario, int64_t now_ns)
{
    int64_t second = whole_seconds(now_ns) - ttl_seconds(scenario->row_ttl_ns) + 1;
    return second < INT64_MIN / SIM_SECOND ? INT64_MIN : second * SIM_SECOND;
}

int64_t lab_deleted_after(const struct lab_scenario *scenario, uint64_t entity, uint64_t row)
{
    if (scenario->deletes.share == 0)
        return -1;
    struct sim_random draws;
    sim_random_init(&draws, scenario->seed ^ entity, SIM_DELETE, row);
    if (sim_random_unit(&draws) >= scenario->deletes.share)
        return -1;
    double means = sim_exponential(&draws);
    return (int64_t)((means < MEANS_MAX ? means : MEANS_MAX) * (double)scenario->deletes.after_ns);
}

enum lab_fate lab_row_fate(const struct lab_scenario *scenario, uint64_t entity, uint64_t row,
                           int64_t written_ns, int64_t end_ns)
{
    int64_t after_ns = lab_deleted_after(scenario, entity, row), ttl_ns = scenario->row_ttl_ns;
    if (after_ns >= 0 && written_ns < end_ns &&
        (uint64_t)after_ns < (uint64_t)end_ns - (uint64_t)written_ns &&
        !(ttl_ns > 0 && is_expired(ttl_ns, written_ns, written_ns + after_ns)))
        return LAB_FATE_DELETED;
    return ttl_ns > 0 && is_expired(ttl_ns, written_ns, end_ns) ? LAB_FATE_EXPIRED : LAB_FATE_LIVE;
}
