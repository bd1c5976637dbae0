/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "changes.h"
#include "format.h"
#include "kernel/time.h"

/* U+2212: a hyphen is too short for a minus. */
#define MINUS "\xE2\x88\x92"

static double step_of(double span);

double report_changes_axis(struct report_arena *arena, double low, double high, struct report_axis *out)
{
    enum { TICKS_MAX = 16 };
    static const struct {
        const char *title;
        double ns, most_ns; /* up to this length of the axis */
    } units[] = {{"nanoseconds since the change was stored", 1, 900},
                 {"microseconds since the change was stored", (double)SIM_US, 900 * (double)SIM_US},
                 {"milliseconds since the change was stored", (double)SIM_MS, 900 * (double)SIM_MS},
                 {"seconds since the change was stored", (double)SIM_SECOND, 120 * (double)SIM_SECOND},
                 {"minutes since the change was stored", (double)SIM_MINUTE, 120 * (double)SIM_MINUTE},
                 {"hours since the change was stored", (double)SIM_HOUR, 48 * (double)SIM_HOUR},
                 {"days since the change was stored", (double)SIM_DAY, HUGE_VAL}};
    size_t unit = 0;
    while (high - low > units[unit].most_ns) {
        unit++;
    }
    out->low = low / units[unit].ns;
    out->high = high / units[unit].ns;
    out->title = units[unit].title;
    out->ticks = report_take(arena, TICKS_MAX, sizeof *out->ticks);
    if (out->ticks == NULL) {
        return units[unit].ns;
    }
    const double step = step_of(out->high - out->low);
    for (double i = ceil(out->low / step); i * step <= out->high && out->tick_count < TICKS_MAX; i++) {
        const char *digits = report_number(arena, fabs(i * step));
        out->ticks[out->tick_count++] = (struct report_tick){
            .at = i * step, .text = i < 0 ? report_text(arena, MINUS "%s", digits) : digits};
    }
    return units[unit].ns;
}

/* 1, 2 or 5 times a power of ten, so that it fits four to nine times. */
static double step_of(double span)
{
    double step = 1;
    while (step * 9 < span) {
        step *= 10;
    }
    while (step > span / 9 && step > 1e-12) {
        step /= 10;
    }
    return step * 2 >= span / 9 ? step * 2 : step * 5 >= span / 9 ? step * 5 : step * 10;
}
