/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes for any data: chooses the unit, both ends and the numbers of a linear or a logarithmic axis. */
#include "axis.h"

#include <math.h>

#include "bins.h"
#include "kernel/time.h"
#include "reports/format.h"

/* U+2212, the minus sign. A hyphen is too short. */
#define MINUS "\xE2\x88\x92"

enum { TICKS_MAX = 200, ROUND_MAX = 160, EXPONENT_MAX = 18 };
/* The least span of a linear axis, relative to its values: smaller variations look flat, and the numbers of
 * the axis still differ within three digits. */
static const double relative_span_min = 0.1;
static const double headroom = 0.04;
static const double steps_max = 7;
/* The greatest spans of a log axis, in decades, that have numbers at 1, 2 and 5; numbers at every digit;
 * strokes between the decades; and a number at every decade. */
static const double decades_fine_max = 2.2;
static const double decades_with_all_numbers_max = 0.85;
static const double decades_with_strokes_max = 6;
static const double decades_with_numbers_max = 13;

/* The values at which a log axis may begin, end and have a number. Long axes use only the coarse ones. */
struct round_numbers {
    struct {
        double value;
        bool is_coarse;
    } items[ROUND_MAX];
    size_t count;
};

const struct report_extremes report_no_extremes = {.least = HUGE_VAL, .most = -HUGE_VAL};

bool report_curves_is_fit(const struct report_curves_axis *axis, double value)
{
    return value >= (axis->scale == REPORT_LOG ? 0 : -REPORT_VALUE_MAX) && value <= REPORT_VALUE_MAX;
}

double report_curves_flush(double value)
{
    return fabs(value) < REPORT_VALUE_LEAST ? 0 : value;
}

void report_extremes_meet(struct report_extremes *extremes, double value)
{
    value = report_curves_flush(value);
    extremes->least = fmin(extremes->least, value);
    extremes->most = fmax(extremes->most, value);
    if (value > 0 && (extremes->positive == 0 || value < extremes->positive)) {
        extremes->positive = value;
    }
    extremes->has_zero |= value == 0;
}

static void add_round(struct round_numbers *numbers, double value, bool is_coarse)
{
    numbers->items[numbers->count].value = value;
    numbers->items[numbers->count++].is_coarse = is_coarse;
}

/* Exact for exponents from 0 to 22. A negative exponent is rounded once. */
static double power_of_ten(int exponent)
{
    double power = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--) {
        power *= 10;
    }
    return exponent < 0 ? 1 / power : power;
}

static void round_fill(bool is_time, struct round_numbers *out)
{
    /* Times above one second do not use powers of ten. */
    static const struct {
        double seconds;
        bool is_coarse;
    } times[] = {{1, true},      {2, false},    {5, false},    {10, true},      {30, false},    {60, true},
                 {120, false},   {300, false},  {600, true},   {1800, false},   {3600, true},   {7200, false},
                 {18000, false}, {36000, true}, {86400, true}, {172800, false}, {432000, false}};
    static const double day = 86400;
    out->count = 0;
    for (int exponent = -EXPONENT_MAX; exponent <= EXPONENT_MAX; exponent++) {
        if (is_time && exponent == 0) {
            for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
                add_round(out, times[i].seconds, times[i].is_coarse);
            }
            continue;
        }
        const double power = power_of_ten(exponent) * (is_time && exponent > 0 ? day : 1);
        add_round(out, power, true);
        add_round(out, 2 * power, false);
        add_round(out, 5 * power, false);
    }
}

static const char *title_of(const struct report_curves_axis *axis, const char *unit, bool is_log,
                            struct report_arena *arena)
{
    const char *title = report_clean(arena, axis->title);
    const char *scale = is_log ? "log scale" : "";
    if (unit[0] == 0 && scale[0] == 0) {
        return title;
    }
    return report_text(arena, "%s (%s%s%s)", title, unit, unit[0] != 0 && scale[0] != 0 ? ", " : "", scale);
}

static void add_tick(struct report_axis *axis, double at, const char *text)
{
    if (axis->tick_count < TICKS_MAX) {
        axis->ticks[axis->tick_count++] = (struct report_tick){.at = at, .text = text};
    }
}

static const char *log_text(const struct report_curves_axis *axis, double value, struct report_arena *arena)
{
    static const double shortest = 1e-9;
    static const double longest = 9e9;
    if (axis->unit == REPORT_UNIT_SECONDS && value >= shortest * 0.999 && value <= longest) {
        return report_duration(arena, (int64_t)floor(value * (double)SIM_SECOND + 0.5));
    }
    const bool is_share = axis->unit == REPORT_UNIT_SHARE;
    const double number = is_share ? 100 * value : value;
    if (axis->unit == REPORT_UNIT_BYTES && number >= 0.00099) {
        return report_size(arena, number, REPORT_BYTES);
    }
    const char *unit = is_share                            ? "%"
                       : axis->unit == REPORT_UNIT_SECONDS ? " s"
                       : axis->unit == REPORT_UNIT_BYTES   ? " B"
                                                           : "";
    if (number >= 0.00099) {
        return report_text(arena, "%s%s", report_number(arena, number), unit);
    }
    int exponent = (int)floor(report_log10(number) + 1e-9);
    int digit = (int)floor(number / power_of_ten(exponent) + 0.5);
    if (digit == 10) {
        digit = 1;
        exponent++;
    }
    const char *factor = digit == 1 ? "" : report_text(arena, "%d·", digit);
    return report_text(arena, "%s10%s%s", factor, report_superscript(arena, exponent), unit);
}

/* Adds a number at every digit. Within less than a decade, 1, 2 and 5 alone might give only two numbers. */
static void fill_between(const struct report_curves_axis *axis, struct report_arena *arena,
                         struct report_axis *out)
{
    static const double slack = 1e-9;
    out->tick_count = 0;
    for (double power = floor(out->low); power <= out->high; power++) {
        for (int digit = 1; digit <= 9; digit++) {
            const double at = power + report_log10(digit);
            if (at >= out->low - slack && at <= out->high + slack) {
                /* A number may differ from an end of the axis by rounding; clamp it to the axis. */
                add_tick(out, fmin(out->high, fmax(out->low, at)),
                         log_text(axis, digit * power_of_ten((int)power), arena));
            }
        }
    }
}

static void add_ticks(const struct report_curves_axis *axis, const struct round_numbers *numbers,
                      bool is_fine, struct report_arena *arena, struct report_axis *out)
{
    static const double slack = 1e-9;
    const double span = out->high - out->low;
    const bool has_strokes =
        !is_fine && span <= decades_with_strokes_max && axis->unit != REPORT_UNIT_SECONDS;
    size_t coarse_count = 0;
    for (size_t i = 0; i < numbers->count; i++) {
        const double value = numbers->items[i].value;
        const bool is_coarse = numbers->items[i].is_coarse;
        const bool is_third = is_coarse && coarse_count++ % 3 == 0;
        const double at = report_log10(value);
        if (!is_coarse && !is_fine) {
            continue;
        }
        const bool has_number = span <= decades_with_numbers_max || is_third;
        if (at >= out->low - slack && at <= out->high + slack) {
            add_tick(out, at, has_number ? log_text(axis, value, arena) : "");
        }
        for (int digit = 2; has_strokes && digit <= 9; digit++) {
            const double stroke = at + report_log10(digit);
            if (stroke >= out->low && stroke <= out->high) {
                add_tick(out, stroke, "");
            }
        }
    }
    if (is_fine && span < decades_with_all_numbers_max && axis->unit != REPORT_UNIT_SECONDS) {
        fill_between(axis, arena, out);
    }
}

static void fill_log(const struct report_curves_axis *axis, const struct report_extremes *extremes,
                     struct report_arena *arena, struct report_axis *out)
{
    static const double slack = 1e-9;
    /* A shorter axis might contain fewer than two round numbers. */
    static const double tight_decades_min = 0.8;
    static const double tight_room = 0.01;
    struct round_numbers numbers;
    round_fill(axis->unit == REPORT_UNIT_SECONDS, &numbers);
    /* If all values are 0, only the strip for 0 is used. */
    const double least = extremes->positive > 0 ? extremes->positive : 1;
    const double most = extremes->positive > 0 ? extremes->most : 10;
    const double span = report_log10(most / least);
    const bool is_fine = span <= decades_fine_max;
    size_t low = 0;
    size_t high = numbers.count - 1;
    for (size_t i = 0; i < numbers.count; i++) {
        if ((is_fine || numbers.items[i].is_coarse) && numbers.items[i].value <= least * (1 + slack)) {
            low = i;
        }
    }
    for (size_t i = numbers.count; i-- > 0;) {
        if ((is_fine || numbers.items[i].is_coarse) && numbers.items[i].value >= most * (1 - slack)) {
            high = i;
        }
    }
    /* A single value is placed in the middle of the axis. */
    if (low == high) {
        low = low > 0 ? low - 1 : low;
        high = high + 1 < numbers.count ? high + 1 : high;
    }
    out->low = report_log10(numbers.items[low].value);
    out->high = report_log10(numbers.items[high].value);
    if (extremes->is_tight && span > tight_decades_min) {
        out->low = report_log10(least) - tight_room * span;
        out->high = report_log10(most) + tight_room * span;
    }
    out->has_zero = extremes->has_zero;
    out->title = title_of(axis, axis->unit == REPORT_UNIT_ROWS ? "rows" : "", true, arena);
    add_ticks(axis, &numbers, is_fine, arena, out);
}

static const char *choose_unit(const struct report_curves_axis *axis, double largest, double *unit)
{
    static const struct {
        const char *name;
        double seconds, most;
    } units[] = {{"ns", 1e-9, 0.9e-6},     {"µs", 1e-6, 0.9e-3},      {"ms", 1e-3, 0.9},
                 {"seconds", 1, 150},      {"minutes", 60, 150 * 60}, {"hours", 3600, 72 * 3600.0},
                 {"days", 86400, HUGE_VAL}};
    *unit = 1;
    if (axis->unit != REPORT_UNIT_SECONDS) {
        return axis->unit == REPORT_UNIT_ROWS ? "rows" : "";
    }
    if (largest == 0) {
        return "seconds";
    }
    size_t i = 0;
    while (largest > units[i].most) {
        i++;
    }
    *unit = units[i].seconds;
    return units[i].name;
}

/* Returns the distance of ticks: 1, 2 or 5 times a power of ten. */
static double step_of(double span)
{
    double step = 1;
    while (step * steps_max < span) {
        step *= 10;
    }
    while (step / 10 * steps_max >= span) {
        step /= 10;
    }
    return step / 5 * steps_max >= span ? step / 5 : step / 2 * steps_max >= span ? step / 2 : step;
}

static const char *linear_text(const struct report_curves_axis *axis, double value,
                               struct report_arena *arena)
{
    static const double digits_from = 0.1;
    const bool is_share = axis->unit == REPORT_UNIT_SHARE;
    const double size = is_share ? 100 * fabs(value) : fabs(value);
    const enum report_unit unit = axis->unit == REPORT_UNIT_BYTES ? REPORT_BYTES : REPORT_ROWS;
    const char *number =
        size > 0 && size < digits_from ? report_text(arena, "%.3g", size) : report_size(arena, size, unit);
    const char *text = is_share ? report_text(arena, "%s%%", number) : number;
    return value < 0 ? report_text(arena, MINUS "%s", text) : text;
}

/* The axis begins at 0 unless the values are far from it. */
static void fill_linear(const struct report_curves_axis *axis, const struct report_extremes *extremes,
                        struct report_arena *arena, struct report_axis *out, double *unit)
{
    double low = extremes->least;
    double high = extremes->most;
    const double largest = fmax(fabs(low), fabs(high));
    const char *unit_name = choose_unit(axis, largest, unit);
    if (low >= 0 && (low <= high / 2 || low == high)) {
        low = 0;
    } else if (high <= 0 && (high >= low / 2 || low == high)) {
        high = 0;
    }
    high = largest == 0 ? *unit : high;
    const double missing = relative_span_min * largest - (high - low);
    if (missing > 0) {
        low -= missing / 2;
        high += missing / 2;
    }
    const double room = headroom * (high - low);
    out->low = (low == 0 ? 0 : low - room) / *unit;
    out->high = (high == 0 ? 0 : high + room) / *unit;
    out->title = title_of(axis, unit_name, false, arena);
    const double step = step_of(out->high - out->low);
    for (double i = ceil(out->low / step); i * step <= out->high; i++) {
        const double at = i != 0 ? i * step : 0; /* 0 rather than -0 */
        add_tick(out, at, linear_text(axis, at, arena));
    }
}

struct report_mapping report_curves_axis_fill(const struct report_curves_axis *axis,
                                              const struct report_extremes *extremes,
                                              struct report_arena *arena, struct report_axis *out)
{
    struct report_mapping mapping = {.is_log = axis->scale == REPORT_LOG, .unit = 1};
    out->is_log = mapping.is_log;
    out->title = "";
    out->ticks = report_take(arena, TICKS_MAX, sizeof *out->ticks);
    if (out->ticks == NULL) {
        return mapping;
    }
    if (mapping.is_log) {
        fill_log(axis, extremes, arena, out);
    } else {
        fill_linear(axis, extremes, arena, out, &mapping.unit);
    }
    return mapping;
}

double report_curves_map(const struct report_mapping *mapping, double value)
{
    if (!mapping->is_log) {
        return value / mapping->unit;
    }
    return value > 0 ? report_log10(value) : -HUGE_VAL;
}

const char *report_curves_text(enum report_curves_unit unit, double value, struct report_arena *arena)
{
    if (value < 0) {
        return report_text(arena, MINUS "%s", report_curves_text(unit, -value, arena));
    }
    if (unit == REPORT_UNIT_SECONDS) {
        return report_time(arena, value * (double)SIM_SECOND);
    }
    const struct report_curves_axis axis = {.unit = unit};
    if (value == 0) {
        return unit == REPORT_UNIT_SHARE ? "0%" : unit == REPORT_UNIT_BYTES ? "0 B" : "0";
    }
    return log_text(&axis, value, arena);
}

const char *report_curves_full(enum report_curves_unit unit, double value, struct report_arena *arena)
{
    const bool is_share = unit == REPORT_UNIT_SHARE;
    return report_text(arena, "%s%s", report_full(arena, is_share ? 100 * value : value),
                       is_share                      ? "%"
                       : unit == REPORT_UNIT_SECONDS ? " s"
                                                     : "");
}

const char *report_curves_range(enum report_curves_unit unit, double value, double low, double high,
                                struct report_arena *arena)
{
    const char *text = report_curves_full(unit, value, arena);
    if (!(low < high)) {
        return text;
    }
    return report_text(arena, "%s (%s to %s)", text, report_curves_full(unit, low, arena),
                       report_curves_full(unit, high, arena));
}
