/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats figures, settings, names and limits for charts and sentences: how many digits, which unit, which
 * words. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/number.h"
#include "kernel/time.h"
#include "lab/metric.h"
#include "lab/setting.h"
#include "reports/format.h"

/* U+202F, a narrow no-break space, between a number and its unit. */
#define THIN_SPACE "\xE2\x80\xAF"
/* U+2212, the minus sign. A hyphen is too short. */
#define MINUS "\xE2\x88\x92"

static const char *const suffixes[] = {"", "K", "M", "G", "T", "P", "E"};
enum { SUFFIX_COUNT = sizeof suffixes / sizeof suffixes[0] };

const char *report_number(struct report_arena *arena, double value)
{
    return report_size(arena, value, REPORT_ROWS);
}

/* An exponent from -999 to 999. */
static const char *superscript(struct report_arena *arena, int exponent)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const int size = exponent < 0 ? -exponent : exponent;
    return report_text(arena, "%s%s%s%s", exponent < 0 ? "⁻" : "", size >= 100 ? digits[size / 100 % 10] : "",
                       size >= 10 ? digits[size / 10 % 10] : "", digits[size % 10]);
}

static void write_digits(struct report_arena *arena, double value, char *buffer, size_t size)
{
    if (value < 0.001 && value > -0.001 && value != 0) {
        /* "1.2e-05" becomes "1.2·10⁻⁵", "2.0e-05" becomes "2·10⁻⁵", and "1.0e-05" becomes "10⁻⁵". */
        char text[32];
        snprintf(text, sizeof text, "%.1e", value);
        size_t length = strcspn(text, "e");
        const char *power = superscript(arena, (int)strtol(text + length + 1, NULL, 10));
        length -= text[length - 1] == '0' ? 2 : 0;
        snprintf(buffer, size, "%.*s%s10%s", text[0] == '1' && length == 1 ? 0 : (int)length, text,
                 text[0] == '1' && length == 1 ? "" : "·", power);
        return;
    }
    int decimals = value >= 0.9995 ? sim_shortened_decimals(value) : value >= 0.1 ? 3 : 4;
    snprintf(buffer, size, "%.*f", decimals, value);
    if (strchr(buffer, '.') != NULL) {
        size_t length = strlen(buffer);
        while (buffer[length - 1] == '0')
            buffer[--length] = 0;
        if (buffer[length - 1] == '.')
            buffer[length - 1] = 0;
    }
}

static const char *with_unit(struct report_arena *arena, const char *digits, size_t suffix,
                             enum report_unit unit)
{
    if (unit == REPORT_BYTES)
        return report_text(arena, "%s" THIN_SPACE "%sB", digits, suffixes[suffix]);
    return report_text(arena, "%s%s", digits, suffixes[suffix]);
}

const char *report_size(struct report_arena *arena, double value, enum report_unit unit)
{
    const unsigned suffix = sim_shorten(&value, SUFFIX_COUNT - 1);
    char digits[32];
    write_digits(arena, value, digits, sizeof digits);
    return with_unit(arena, digits, suffix, unit);
}

/* Separates the digits before the decimal point into groups of three. */
static const char *group(struct report_arena *arena, const char *digits, const char *separator)
{
    const size_t length = strlen(digits), whole = strcspn(digits, ".");
    char *out = report_take(arena, length + strlen(separator) * (whole / 3 + 1) + 1, 1);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0) {
            memcpy(out + used, separator, strlen(separator));
            used += strlen(separator);
        }
        out[used++] = digits[i];
    }
    return out;
}

const char *report_exact(struct report_arena *arena, uint64_t value, enum report_unit unit)
{
    size_t suffix = 0;
    uint64_t whole = value;
    while (whole >= 1000 && whole % 1000 == 0 && suffix + 1 < SUFFIX_COUNT) {
        whole /= 1000;
        suffix++;
    }
    char digits[64];
    if (whole >= 1000 && whole % 10 == 0 && whole / 10 < 1000 && suffix + 1 < SUFFIX_COUNT) {
        /* The short form of some numbers is exact, as 1.25K for 1250. */
        write_digits(arena, (double)whole / 1000, digits, sizeof digits);
        return with_unit(arena, digits, suffix + 1, unit);
    }
    if (whole < 1000) {
        snprintf(digits, sizeof digits, "%" PRIu64, whole);
        return with_unit(arena, digits, suffix, unit);
    }
    char plain[24];
    snprintf(plain, sizeof plain, "%" PRIu64, value);
    return with_unit(arena, group(arena, plain, ","), 0, unit);
}

const char *report_grouped(struct report_arena *arena, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return group(arena, digits, ",");
}

/* Returns the number of significant digits to write, without trailing zeros: at most 17 for an integer, and
 * otherwise at most 15, because further digits only show the binary representation. */
static int digits_of(double value)
{
    const bool is_whole = value < 1e17 && value == (double)(uint64_t)value;
    int digits = is_whole ? 17 : 15;
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    while (digits > 1 && text[digits] == '0')
        digits--;
    return digits;
}

const char *report_full(struct report_arena *arena, double value)
{
    static const double plain_from = 1e-6;
    if (value < 0)
        return report_text(arena, MINUS "%s", report_full(arena, -value));
    const int digits = digits_of(value);
    char text[400];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    char *e = strchr(text, 'e');
    if (value == 0 || e == NULL)
        return "0";
    const int exponent = (int)strtol(e + 1, NULL, 10);
    if (value < plain_from) {
        *e = 0;
        return report_text(arena, "%s·10%s", text, superscript(arena, exponent));
    }
    snprintf(text, sizeof text, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 0, value);
    return group(arena, text, ",");
}

const char *report_percent(struct report_arena *arena, double share)
{
    char digits[32];
    write_digits(arena, 100 * share, digits, sizeof digits);
    /* A share other than 1 must not be rounded to 100%: 99.97% of the partitions are not all of them, and
     * 100.04% of a limit exceed it. */
    if (share < 1 && strcmp(digits, "100") == 0)
        return report_text(arena, ">99.9%%");
    if (share > 1 && strcmp(digits, "100") == 0)
        return report_text(arena, ">100%%");
    return report_text(arena, "%s%%", digits);
}

/* from_ns: from this time on report_time() uses the unit. */
static const struct {
    const char *name;
    int64_t ns;
    double from_ns;
} units[] = {{"d", SIM_DAY, 2 * (double)SIM_DAY},
             {"h", SIM_HOUR, 2 * (double)SIM_HOUR},
             {"min", SIM_MINUTE, 2 * (double)SIM_MINUTE},
             {"s", SIM_SECOND, 0.9995 * (double)SIM_SECOND},
             {"ms", SIM_MS, 0.9995 * (double)SIM_MS},
             {"µs", SIM_US, 0.9995 * (double)SIM_US},
             {"ns", 1, 0}};

const char *report_duration(struct report_arena *arena, int64_t ns)
{
    size_t i = 0;
    while (ns % units[i].ns != 0 || (ns == 0 && units[i].ns > 1))
        i++;
    return report_text(arena, "%" PRId64 " %s", ns / units[i].ns, units[i].name);
}

const char *report_time(struct report_arena *arena, double ns)
{
    if (ns == 0)
        return "0 s";
    size_t i = 0;
    while (units[i].ns > 1 && ns < units[i].from_ns)
        i++;
    char digits[32];
    write_digits(arena, ns / (double)units[i].ns, digits, sizeof digits);
    return report_text(arena, "%s %s", digits, units[i].name);
}

#define SETTINGS_SIZE 256

/* Formats the value of a setting for charts. */
static void tell(void *context, const struct lab_setting *setting, const void *value, char *buffer,
                 size_t size)
{
    struct report_arena *arena = context;
    const uint64_t *chance = value;
    const char *text;
    switch (setting->type) {
    case LAB_SETTING_DURATION:
        text = report_duration(arena, *(const int64_t *)value);
        break;
    case LAB_SETTING_BYTES:
        text = report_exact(arena, *(const uint64_t *)value, REPORT_BYTES);
        break;
    case LAB_SETTING_U32:
        text = report_exact(arena, *(const uint32_t *)value, REPORT_ROWS);
        break;
    case LAB_SETTING_U64:
        text = report_exact(arena, *(const uint64_t *)value, REPORT_ROWS);
        break;
    case LAB_SETTING_CHANCE:
        text = report_text(arena, "%s/%s", report_exact(arena, chance[0], REPORT_ROWS),
                           report_exact(arena, chance[1], REPORT_ROWS));
        break;
    default:
        lab_setting_text(setting, value, buffer);
        return;
    }
    snprintf(buffer, size, "%s", text);
}

const char *report_settings(struct report_arena *arena, const struct lab_settings *given)
{
    struct lab_settings settings = *given;
    char told[SETTINGS_SIZE];
    if (settings.observed != WL_OBSERVED_AUTO)
        return report_text(arena, "%s of %s%s%s", wl_observed_format_name(settings.observed),
                           report_clean(arena, settings.observed_table),
                           settings.observed_table[0] == 0 ? "" : " in ",
                           report_clean(arena, settings.observed_file));
    if (settings.every_rows > 0) {
        settings.every_ns = 0; /* one of the two intervals is enough */
    }
    if (lab_settings_tell(&settings, 0, false, true, tell, arena, told, sizeof told) == 0)
        return "one partition per key";
    return report_text(arena, "%s", told);
}

bool report_metric(const struct lab_strategy_result *strategy, const char *name, double *out)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    assert(metric != NULL || lab_metric_row_of(name) != NULL);
    *out = metric != NULL ? metric->value : 0;
    return metric != NULL;
}

void report_strategy_name(struct report_arena *arena, const struct lab_strategy_result *strategy,
                          const char **label, const char **detail)
{
    const char *kind = lab_result_kind(strategy);
    *label = report_clean(arena, strategy->label);
    *detail = report_settings(arena, &strategy->settings);
    if (strategy->label != NULL && strcmp(strategy->label, kind) != 0)
        *detail = report_text(arena, "%s: %s", kind, *detail);
}

const char *report_limits(const struct lab_limits *limits, struct report_arena *arena)
{
    const char *text = "";
    if (limits->partition_rows != 0)
        report_append(arena, &text, "", "%s rows", report_grouped(arena, limits->partition_rows));
    if (limits->partition_bytes != 0)
        report_append(arena, &text, " or ", "%s", report_exact(arena, limits->partition_bytes, REPORT_BYTES));
    for (int i = 0; i < LAB_RATES; i++) {
        const double rate = limits->rate[i];
        if (rate > 0)
            report_append(arena, &text, " or ", "%s %s/s",
                          rate < 1 ? report_number(arena, rate) : report_grouped(arena, (uint64_t)rate),
                          lab_rate_name((enum lab_rate)i));
    }
    return text;
}

const char *report_days(struct report_arena *arena, double days)
{
    if (days * (double)SIM_DAY < (double)SIM_MINUTE)
        return report_time(arena, days * (double)SIM_DAY);
    const char *unit, *number = report_number(arena, sim_span_told(days, &unit));
    return report_text(arena, "%s %s%s", number, unit, strcmp(number, "1") == 0 ? "" : "s");
}

/* Names the assumption of a horizon: "rate", "trace's mean rate", "trace's growth (its rate doubles every 8.2
 * months)". */
static const char *pace(const struct report_horizon *horizon, struct report_arena *arena)
{
    if (isfinite(horizon->doubles_days))
        return report_text(arena, "%sgrowth (its rate doubles every %s)", horizon->is_trace ? "trace's " : "",
                           report_days(arena, horizon->doubles_days));
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
    if (report_metric(first, "horizon.unbucketed_days", &days))
        horizon.days_left = days >= LAB_DAYS_MOST ? (double)INFINITY : days - lasts;
    if (report_metric(first, "horizon.doubles_days", &days))
        horizon.doubles_days = days;
    report_metric(first, "keys.rows.max", &horizon.rows_most);
    report_metric(first, "keys.bytes.max", &horizon.bytes_most);
    return horizon;
}
