/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The axes of a timeline: dates and times of day along x, a log axis of sizes along y. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bins.h"
#include "kernel/time.h"
#include "timeline.h"

enum { TICKS_MAX = 40, NUMBERS_MAX = 7 };
/* Up to decades_fine_max decades, there are also numbers at 2 and 5. Up to the second limit there is a number
 * at every decade, and beyond it at every second or third one. */
static const double decades_fine_max = 1.7;
static const double decades_with_numbers_max = 5;
static const double decades_with_seconds_max = 8;

static void add_tick(struct report_axis *axis, double at, const char *text)
{
    axis->ticks[axis->tick_count++] = (struct report_tick){.at = at, .text = text};
}

static void add_short_ticks(struct report_arena *arena, uint64_t span_ns, struct report_axis *out)
{
    uint64_t step_ns = 1;
    for (unsigned i = 0; span_ns / NUMBERS_MAX >= step_ns; i++) {
        step_ns = i % 3 == 1 ? step_ns / 2 * 5 : step_ns * 2;
    }
    for (uint64_t at_ns = 0; at_ns <= span_ns && out->tick_count < TICKS_MAX; at_ns += step_ns) {
        add_tick(out, (double)at_ns * 1e-9, report_time(arena, (double)at_ns));
    }
}

/* "Jan 3". */
static const char *date_of(struct report_arena *arena, int64_t time_ns)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char text[SIM_TIME_TEXT_SIZE];
    sim_time_format(time_ns, text);
    const long month = strtol(text + 5, NULL, 10), day = strtol(text + 8, NULL, 10);
    return report_text(arena, "%s %ld", months[(month + 11) % 12], day);
}

/* Adds ticks at multiples of step_ns; steps of whole days begin at the first midnight. */
static void add_ticks(struct report_arena *arena, int64_t start_ns, int64_t end_ns, uint64_t step_ns,
                      struct report_axis *out)
{
    const uint64_t grid_ns = step_ns < (uint64_t)SIM_DAY ? step_ns : (uint64_t)SIM_DAY;
    const int64_t grid = (int64_t)grid_ns, over_ns = start_ns % grid;
    uint64_t since_ns = over_ns == 0 ? 0 : over_ns > 0 ? (uint64_t)(grid - over_ns) : (uint64_t)-over_ns;
    const uint64_t span_ns = (uint64_t)end_ns - (uint64_t)start_ns;
    for (; since_ns <= span_ns && out->tick_count < TICKS_MAX; since_ns += step_ns) {
        const int64_t at_ns = (int64_t)((uint64_t)start_ns + since_ns);
        char text[SIM_TIME_TEXT_SIZE];
        sim_time_format(at_ns, text);
        const bool is_midnight = at_ns % SIM_DAY == 0;
        add_tick(out, (double)since_ns * 1e-9,
                 is_midnight ? date_of(arena, at_ns)
                             : report_text(arena, "%.*s", step_ns < (uint64_t)SIM_MINUTE ? 8 : 5, text + 11));
    }
}

static uint64_t days_step_ns(uint64_t span_ns)
{
    static const uint64_t days[] = {1, 2, 3, 5, 7, 14};
    size_t i = 0;
    while (span_ns / NUMBERS_MAX >= days[i] * (uint64_t)SIM_DAY) {
        i++;
    }
    return days[i] * (uint64_t)SIM_DAY;
}

/* Adds ticks at the beginnings of months or years, from the first one in the run on. */
static void add_calendar_ticks(struct report_arena *arena, int64_t start_ns, int64_t end_ns,
                               struct report_axis *out)
{
    static const int steps[] = {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200};
    const double months = ((double)end_ns - (double)start_ns) / (30.44 * (double)SIM_DAY);
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof steps[0] && months / NUMBERS_MAX >= steps[i]) {
        i++;
    }
    char text[SIM_TIME_TEXT_SIZE];
    sim_time_format(start_ns, text);
    const int first = (int)strtol(text, NULL, 10) * 12 + (int)strtol(text + 5, NULL, 10) - 1;
    for (int month = (first / steps[i]) * steps[i]; out->tick_count < TICKS_MAX; month += steps[i]) {
        int64_t at_ns;
        const char *begin = report_text(arena, "%04d-%02d-01", month / 12, month % 12 + 1);
        const bool is_a_time = sim_time_parse(begin, &at_ns) == 0;
        /* The first month, rounded down to a step, may be before the earliest time that can be
         * represented. */
        if (is_a_time ? at_ns > end_ns : month > first) {
            return;
        }
        if (is_a_time && at_ns >= start_ns) {
            add_tick(out, (double)((uint64_t)at_ns - (uint64_t)start_ns) * 1e-9,
                     month % 12 == 0 ? report_text(arena, "%d", month / 12)
                                     : report_text(arena, "%.3s", date_of(arena, at_ns)));
        }
    }
}

/* Steps of months and years follow the calendar, because their lengths differ. Times are not written as a
 * time of day if steps are shorter than a few seconds. */
void report_timeline_time_axis(struct report_arena *arena, int64_t start_ns, int64_t end_ns,
                               struct report_axis *out)
{
    static const uint64_t seconds[] = {1,   2,   5,    10,   15,   30,    60,    120,  300,
                                       600, 900, 1800, 3600, 7200, 10800, 21600, 43200};
    enum { STEPS = sizeof seconds / sizeof seconds[0] };
    const uint64_t span_ns = start_ns < end_ns ? (uint64_t)end_ns - (uint64_t)start_ns : 1;
    char start[SIM_TIME_TEXT_SIZE], end[SIM_TIME_TEXT_SIZE];
    sim_time_format(start_ns, start);
    sim_time_format(end_ns, end);
    out->low = 0;
    out->high = (double)span_ns * 1e-9;
    out->ticks = report_take(arena, TICKS_MAX, sizeof *out->ticks);
    out->title = "";
    if (out->ticks == NULL) {
        return;
    }
    if (span_ns < 4 * (uint64_t)SIM_SECOND) {
        add_short_ticks(arena, span_ns, out);
        out->title = report_text(arena, "first row written, after %.10s %.8s UTC", start, start + 11);
        return;
    }
    const bool is_one_year = strncmp(start, end, 4) == 0;
    out->title = report_text(arena, "first row written (UTC, %.4s%s%.4s)", start, is_one_year ? "" : " to ",
                             is_one_year ? "" : end);
    for (size_t i = 0; i < STEPS; i++) {
        if (span_ns / NUMBERS_MAX < seconds[i] * (uint64_t)SIM_SECOND) {
            add_ticks(arena, start_ns, end_ns, seconds[i] * (uint64_t)SIM_SECOND, out);
            return;
        }
    }
    if (span_ns / NUMBERS_MAX < 14 * (uint64_t)SIM_DAY) {
        add_ticks(arena, start_ns, end_ns, days_step_ns(span_ns), out);
        return;
    }
    add_calendar_ticks(arena, start_ns, end_ns, out);
}

/* 1, 2 or 5 times a power of ten. */
static double round_size(double size, bool is_up)
{
    double power = 1;
    while (power * 10 <= size) {
        power *= 10;
    }
    const double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 3; i++) {
        if (size < power * steps[i + 1]) {
            return is_up && size > power * steps[i] ? power * steps[i + 1] : power * steps[i];
        }
    }
    return power;
}

void report_timeline_size_axis(struct report_arena *arena, uint64_t least, uint64_t most,
                               enum report_unit unit, struct report_axis *out)
{
    double low = round_size((double)least, false), high = round_size((double)most, true);
    if (high < 10 * low) {
        low = low > 1 ? round_size(low / 2.5, false) : 1;
        high = high < 10 * low ? round_size(10 * low, true) : high;
    }
    out->is_log = true;
    out->low = report_log10(low);
    out->high = report_log10(high);
    out->title = unit == REPORT_BYTES ? "bytes (log)" : "rows (log)";
    out->ticks = report_take(arena, TICKS_MAX, sizeof *out->ticks);
    if (out->ticks == NULL) {
        return;
    }
    const double span = out->high - out->low;
    const int every = span <= decades_with_numbers_max ? 1 : span <= decades_with_seconds_max ? 2 : 3;
    double power = 1;
    for (int decade = 0; decade < 20; decade++, power *= 10) {
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
            const double at = (double)decade + report_log10(digit);
            const bool is_wanted = digit == 1 ? decade % every == 0 : span <= decades_fine_max;
            if (is_wanted && at > out->low - 1e-9 && at < out->high + 1e-9) {
                add_tick(out, at, report_size(arena, power * digit, unit));
            }
        }
    }
}

const char *report_timeline_stretch(struct report_arena *arena, int64_t start_ns, int64_t end_ns)
{
    char texts[2][SIM_TIME_TEXT_SIZE];
    const int64_t times[] = {start_ns, end_ns};
    const bool are_days = start_ns % SIM_DAY == 0 && end_ns % SIM_DAY == 0 && start_ns != end_ns;
    for (int i = 0; i < 2; i++) {
        sim_time_format(times[i], texts[i]);
        size_t length = strlen(texts[i]);
        texts[i][10] = ' ';
        texts[i][length - 1] = 0; /* the Z */
        if (times[i] % SIM_MINUTE == 0) {
            texts[i][16] = 0;
        }
        if (are_days) {
            texts[i][10] = 0;
        }
    }
    const bool is_one_day = !are_days && strncmp(texts[0], texts[1], 10) == 0;
    return report_text(arena, "%s to %s UTC", texts[0], is_one_day ? texts[1] + 11 : texts[1]);
}
