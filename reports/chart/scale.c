/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scales of charts. In: the values that an axis must show, their unit, linear or logarithmic; or the
 * start and the end of a run. Out: the ends of the axis, its title, and the numbers at round values: 1, 2 and
 * 5 times powers of ten, round times, or dates. */
#include "reports/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/number.h"
#include "kernel/time.h"
#include "reports/format.h"

/* U+2212, the minus sign. A hyphen is too short. */
#define MINUS "\xE2\x88\x92"

enum { TICKS_MAX = 200, ROUND_MAX = 160, EXPONENT_MAX = 18, DATES_MAX = 7 };
/* The least span of a linear axis, relative to its values: smaller variations look flat, and the numbers of
 * the axis still differ within three digits. */
static const double relative_span_min = 0.1;
static const double headroom = 0.04;
static const double steps_max = 7;
/* The greatest spans of a log axis, in decades, that have numbers at 1, 2 and 5; numbers at every digit;
 * strokes between the decades; and a number at every decade. */
static const double decades_fine_max = 2.2;
static const double decades_with_all_numbers_max = 0.85;
static const double decades_with_strokes_max = 9;
static const double decades_with_numbers_max = 13;
/* The same of a short upright axis, which has no strokes. */
static const double upright_fine_max = 1.7;
static const double upright_numbers_max = 5;
static const double slack = 1e-9;
static const double log_of_ten = 2.302585092994045684;

/* The values at which a log axis may begin, end and have a number. Long axes use only the coarse ones. */
struct round_numbers {
    struct {
        double value;
        bool is_coarse;
    } items[ROUND_MAX];
    size_t count;
};

const struct report_extremes report_no_extremes = {.least = HUGE_VAL, .most = -HUGE_VAL};

double report_log10(double value)
{
    return sim_log(value) / log_of_ten;
}

double report_exp10(double at)
{
    return sim_exp(at * log_of_ten);
}

double report_at(const struct report_axis *axis, double value)
{
    return !axis->is_log ? value / axis->unit : value > 0 ? report_log10(value) : -HUGE_VAL;
}

double report_value_at(const struct report_axis *axis, double at)
{
    return !axis->is_log ? at : at == -HUGE_VAL ? 0 : report_exp10(at);
}

void report_extremes_meet(struct report_extremes *extremes, double value)
{
    extremes->least = fmin(extremes->least, value);
    extremes->most = fmax(extremes->most, value);
    if (value > 0 && (extremes->positive == 0 || value < extremes->positive))
        extremes->positive = value;
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
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
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
            for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
                add_round(out, times[i].seconds, times[i].is_coarse);
            continue;
        }
        const double power = power_of_ten(exponent) * (is_time && exponent > 0 ? day : 1);
        add_round(out, power, true);
        add_round(out, 2 * power, false);
        add_round(out, 5 * power, false);
    }
}

static void begin(struct report_arena *arena, struct report_axis *out)
{
    out->unit = out->unit == 0 ? 1 : out->unit;
    out->tick_count = 0;
    out->ticks = report_take(arena, TICKS_MAX, sizeof *out->ticks);
}

static void add_tick(struct report_axis *axis, double at, const char *text)
{
    if (axis->tick_count < TICKS_MAX)
        axis->ticks[axis->tick_count++] = (struct report_tick){.at = at, .text = text};
}

/* A value with its unit: "0.21%", "7·10⁻⁸%", "20.5K", "2 min". */
static const char *text_of(enum report_curves_unit unit, double value, struct report_arena *arena)
{
    static const double shortest = 1e-9, longest = 9e9;
    if (value < 0)
        return report_text(arena, MINUS "%s", text_of(unit, -value, arena));
    if (unit == REPORT_UNIT_SECONDS && value >= shortest * 0.999 && value <= longest)
        return report_duration(arena, (int64_t)floor(value * (double)SIM_SECOND + 0.5));
    if (unit == REPORT_UNIT_BYTES)
        return report_size(arena, value, REPORT_BYTES);
    return report_text(arena, "%s%s", report_number(arena, unit == REPORT_UNIT_SHARE ? 100 * value : value),
                       unit == REPORT_UNIT_SHARE     ? "%"
                       : unit == REPORT_UNIT_SECONDS ? " s"
                                                     : "");
}

/* Adds a number at every digit. Within less than a decade, 1, 2 and 5 alone might give only two numbers. */
static void fill_between(enum report_curves_unit unit, struct report_arena *arena, struct report_axis *out)
{
    out->tick_count = 0;
    for (double power = floor(out->low); power <= out->high; power++) {
        for (int digit = 1; digit <= 9; digit++) {
            const double at = power + report_log10(digit);
            if (at >= out->low - slack && at <= out->high + slack) {
                /* A number may differ from an end of the axis by rounding; clamp it to the axis. */
                add_tick(out, fmin(out->high, fmax(out->low, at)),
                         text_of(unit, digit * power_of_ten((int)power), arena));
            }
        }
    }
}

void report_scale_log(struct report_arena *arena, enum report_curves_unit unit, bool is_upright,
                      struct report_axis *out)
{
    const bool is_time = unit == REPORT_UNIT_SECONDS;
    const double span = out->high - out->low;
    const double numbers_max = is_upright ? upright_numbers_max : decades_with_numbers_max;
    /* An axis has at least two numbers. */
    const bool is_fine = span <= (is_upright ? upright_fine_max : decades_fine_max) ||
                         floor(out->high + slack) - ceil(out->low - slack) < 1;
    const bool has_strokes = !is_time && !is_upright && span <= decades_with_strokes_max;
    const size_t every = span <= numbers_max ? 1 : is_upright && span <= 1.6 * numbers_max ? 2 : 3;
    struct round_numbers numbers;
    round_fill(is_time, &numbers);
    begin(arena, out);
    out->is_log = true;
    if (span < decades_with_all_numbers_max && !is_time && !is_upright) {
        fill_between(unit, arena, out);
        return;
    }
    size_t coarse = 0;
    for (size_t i = 0; i < numbers.count; i++) {
        const double value = numbers.items[i].value, at = report_log10(value);
        const bool is_coarse = numbers.items[i].is_coarse;
        const bool has_number = is_coarse ? coarse % every == 0 : is_fine;
        coarse += is_coarse;
        if (at >= out->low - slack && at <= out->high + slack && (has_number || is_coarse))
            add_tick(out, at, has_number ? text_of(unit, value, arena) : "");
        for (int digit = 2; is_coarse && has_strokes && digit <= 9; digit++) {
            const double stroke = at + report_log10(digit);
            if (stroke >= out->low && stroke <= out->high && !(is_fine && (digit == 2 || digit == 5)))
                add_tick(out, stroke, "");
        }
    }
}

static void fill_log(const struct report_curves_axis *axis, const struct report_extremes *extremes,
                     struct report_arena *arena, struct report_axis *out)
{
    /* A shorter axis might contain fewer than two round numbers. */
    static const double tight_decades_min = 0.8;
    static const double tight_room = 0.01;
    struct round_numbers numbers;
    round_fill(axis->unit == REPORT_UNIT_SECONDS, &numbers);
    /* If all values are 0, only the strip for 0 is used. */
    const double least = extremes->positive > 0 ? extremes->positive : 1;
    const double most = extremes->positive > 0 ? extremes->most : 10;
    const double span = report_log10(most / least);
    size_t low = 0, high = numbers.count - 1;
    for (size_t i = 0; i < numbers.count; i++) {
        const bool is_usable = span <= decades_fine_max || numbers.items[i].is_coarse;
        low = is_usable && numbers.items[i].value <= least * (1 + slack) ? i : low;
        high =
            is_usable && numbers.items[i].value >= most * (1 - slack) && high == numbers.count - 1 ? i : high;
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
    out->title = report_text(arena, "%s (log%s)", axis->title, extremes->is_upright ? "" : " scale");
    report_scale_log(arena, axis->unit, extremes->is_upright, out);
}

/* Returns the name of the unit of time for an axis of this length, and stores its seconds. */
static const char *time_unit(double largest, double *unit)
{
    static const struct {
        const char *name;
        double seconds, most;
    } units[] = {{"ns", 1e-9, 0.9e-6},     {"µs", 1e-6, 0.9e-3},      {"ms", 1e-3, 0.9},
                 {"seconds", 1, 150},      {"minutes", 60, 150 * 60}, {"hours", 3600, 72 * 3600.0},
                 {"days", 86400, HUGE_VAL}};
    size_t i = largest == 0 ? 3 : 0;
    while (largest > units[i].most)
        i++;
    *unit = units[i].seconds;
    return units[i].name;
}

/* Neighbouring numbers below 0.1 differ in their third digit. */
static const char *linear_text(enum report_curves_unit unit, double value, struct report_arena *arena)
{
    const double size = fabs(unit == REPORT_UNIT_SHARE ? 100 * value : value);
    return size == 0 || size >= 0.1 ? text_of(unit, value, arena)
                                    : report_text(arena, "%s%.3g%s", value < 0 ? MINUS : "", size,
                                                  unit == REPORT_UNIT_SHARE ? "%" : "");
}

void report_scale_linear(struct report_arena *arena, enum report_curves_unit unit, double most_steps,
                         double step_min, struct report_axis *out)
{
    const double span = out->high - out->low;
    double step = 1;
    while (step * most_steps < span)
        step *= 10;
    while (step / 10 * most_steps >= span && step > step_min)
        step /= 10;
    step = step > step_min && step / 5 * most_steps >= span   ? step / 5
           : step > step_min && step / 2 * most_steps >= span ? step / 2
                                                              : step;
    begin(arena, out);
    for (double i = ceil(out->low / step); i * step <= out->high; i++) {
        const double at = i != 0 ? i * step : 0; /* 0 rather than -0 */
        add_tick(out, at, linear_text(unit == REPORT_UNIT_SECONDS ? REPORT_UNIT_PLAIN : unit, at, arena));
    }
}

/* The axis begins at 0 unless the values are far from it. */
static void fill_linear(const struct report_curves_axis *axis, const struct report_extremes *extremes,
                        struct report_arena *arena, struct report_axis *out)
{
    double low = extremes->least, high = extremes->most;
    const double largest = high;
    const char *name = "";
    out->unit = 1;
    if (axis->unit == REPORT_UNIT_SECONDS)
        name = time_unit(largest, &out->unit);
    if (low <= high / 2 || low == high)
        low = 0;
    high = largest == 0 ? out->unit : high;
    const double missing = relative_span_min * largest - (high - low);
    if (missing > 0) {
        low -= missing / 2;
        high += missing / 2;
    }
    const double room = headroom * (high - low);
    out->low = (low == 0 ? 0 : low - room) / out->unit;
    out->high = (high + room) / out->unit;
    out->title = report_text(arena, name[0] == 0 ? "%s" : "%s (%s)", axis->title, name);
    report_scale_linear(arena, axis->unit, steps_max, 0, out);
}

void report_scale_fill(const struct report_curves_axis *axis, const struct report_extremes *extremes,
                       struct report_arena *arena, struct report_axis *out)
{
    out->is_log = axis->scale == REPORT_LOG;
    if (out->is_log)
        fill_log(axis, extremes, arena, out);
    else
        fill_linear(axis, extremes, arena, out);
}

void report_scale_span(struct report_arena *arena, double low, double high, const char *since,
                       struct report_axis *out)
{
    out->title = report_text(arena, "%s %s", time_unit(high - low, &out->unit), since);
    out->low = low / out->unit;
    out->high = high / out->unit;
    report_scale_linear(arena, REPORT_UNIT_PLAIN, steps_max, 0, out);
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
static void add_dates(struct report_arena *arena, int64_t start_ns, int64_t end_ns, uint64_t step_ns,
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

/* Adds ticks at the beginnings of months or years, from the first one in the run on. */
static void add_calendar_ticks(struct report_arena *arena, int64_t start_ns, int64_t end_ns,
                               struct report_axis *out)
{
    static const int steps[] = {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200};
    const double months = ((double)end_ns - (double)start_ns) / (30.44 * (double)SIM_DAY);
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof steps[0] && months / DATES_MAX >= steps[i])
        i++;
    char text[SIM_TIME_TEXT_SIZE];
    sim_time_format(start_ns, text);
    const int first = (int)strtol(text, NULL, 10) * 12 + (int)strtol(text + 5, NULL, 10) - 1;
    for (int month = (first / steps[i]) * steps[i]; out->tick_count < TICKS_MAX; month += steps[i]) {
        int64_t at_ns;
        const char *begin = report_text(arena, "%04d-%02d-01", month / 12, month % 12 + 1);
        const bool is_a_time = sim_time_parse(begin, &at_ns) == 0;
        /* The first month, rounded down to a step, may be before the earliest time that can be
         * represented. */
        if (is_a_time ? at_ns > end_ns : month > first)
            return;
        if (is_a_time && at_ns >= start_ns)
            add_tick(out, (double)((uint64_t)at_ns - (uint64_t)start_ns) * 1e-9,
                     month % 12 == 0 ? report_text(arena, "%d", month / 12)
                                     : report_text(arena, "%.3s", date_of(arena, at_ns)));
    }
}

/* Steps of months and years follow the calendar, because their lengths differ. Times are not written as a
 * time of day if steps are shorter than a few seconds. */
void report_scale_dates(struct report_arena *arena, int64_t start_ns, int64_t end_ns, struct report_axis *out)
{
    static const uint64_t seconds[] = {1,     2,     5,      10,     15,     30,     60,     120,
                                       300,   600,   900,    1800,   3600,   7200,   10800,  21600,
                                       43200, 86400, 172800, 259200, 432000, 604800, 1209600};
    enum { STEPS = sizeof seconds / sizeof seconds[0] };
    const uint64_t span_ns = start_ns < end_ns ? (uint64_t)end_ns - (uint64_t)start_ns : 1;
    char start[SIM_TIME_TEXT_SIZE], end[SIM_TIME_TEXT_SIZE];
    sim_time_format(start_ns, start);
    sim_time_format(end_ns, end);
    out->low = 0;
    out->high = (double)span_ns * 1e-9;
    out->title = "";
    begin(arena, out);
    if (span_ns < 4 * (uint64_t)SIM_SECOND) {
        const char *since = report_text(arena, "from %.10s %.8s UTC to the first row", start, start + 11);
        report_scale_span(arena, 0, out->high, since, out);
        return;
    }
    const bool is_one_year = strncmp(start, end, 4) == 0;
    out->title = report_text(arena, "first row written (UTC, %.4s%s%.4s)", start, is_one_year ? "" : " to ",
                             is_one_year ? "" : end);
    for (size_t i = 0; i < STEPS; i++) {
        if (span_ns / DATES_MAX < seconds[i] * (uint64_t)SIM_SECOND) {
            add_dates(arena, start_ns, end_ns, seconds[i] * (uint64_t)SIM_SECOND, out);
            return;
        }
    }
    add_calendar_ticks(arena, start_ns, end_ns, out);
}

const char *report_interval(struct report_arena *arena, int64_t start_ns, int64_t end_ns)
{
    char texts[2][SIM_TIME_TEXT_SIZE];
    const int64_t times[] = {start_ns, end_ns};
    const bool are_days = start_ns % SIM_DAY == 0 && end_ns % SIM_DAY == 0 && start_ns != end_ns;
    for (int i = 0; i < 2; i++) {
        sim_time_format(times[i], texts[i]);
        size_t length = strlen(texts[i]);
        texts[i][10] = ' ';
        texts[i][length - 1] = 0; /* the Z */
        if (times[i] % SIM_MINUTE == 0)
            texts[i][16] = 0;
        if (are_days)
            texts[i][10] = 0;
    }
    const bool is_one_day = !are_days && strncmp(texts[0], texts[1], 10) == 0;
    return report_text(arena, "%s to %s UTC", texts[0], is_one_day ? texts[1] + 11 : texts[1]);
}
