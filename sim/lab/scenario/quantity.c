/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses durations, sizes, rates and times with their units. */
#include "lab/quantity.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"

/* Durations and sizes are whole numbers of a small unit, so they are computed in integers: "0.1s" is exactly
 * 100000000 ns. Eighteen digits times the largest unit are far below 2^127. */
__extension__ typedef __int128 wide;

#define DIGITS_MAX   18
#define EXPONENT_MAX 290
#define NUMBER_SIZE  64

struct decimal {
    int64_t mantissa; /* the value is mantissa * 10^exponent */
    int exponent;
    char text[NUMBER_SIZE]; /* the number alone, for strtod() */
};

struct unit {
    const char *name;
    int64_t size;
};

static const char too_long[] = "the number has too many digits; write at most 18";
static const char too_far[] = "the number is too large; write a smaller exponent";
static const char unreadable[] = "";
static const char not_whole[] =
    "not a whole number; write digits alone, as in 20480, or with k M or G, as in 20k";
static const char too_large[] = "the number is beyond 2^64 - 1; make it smaller";
static const char negative[] = "a quantity cannot be negative; remove the sign";

/* Parses digits[.digits][e[+-]digits] without a sign; *rest is the text after it. Returns NULL or one of the
 * texts above, `unreadable` when there is no number. */
static const char *scan(const char *text, struct decimal *out, const char **rest)
{
    *out = (struct decimal){0};
    if (*text == '-' && text[1] >= '0' && text[1] <= '9')
        return negative;
    const char *c = text;
    int digits = 0;
    bool has_point = false;
    for (; (*c >= '0' && *c <= '9') || (*c == '.' && !has_point && c > text); c++) {
        if (*c == '.') {
            if (c[1] < '0' || c[1] > '9')
                return unreadable;
            has_point = true;
            continue;
        }
        if (out->mantissa != 0 || *c != '0')
            digits++;
        if (digits > DIGITS_MAX)
            return too_long;
        out->mantissa = out->mantissa * 10 + (*c - '0');
        out->exponent -= has_point;
    }
    if (c == text)
        return unreadable;
    const char *e = c;
    if (*e == 'e' || *e == 'E') {
        e++;
        bool is_negative = *e == '-';
        e += *e == '-' || *e == '+';
        int power = 0;
        for (; *e >= '0' && *e <= '9'; e++, c = e)
            power = power < 1000 ? power * 10 + (*e - '0') : power;
        out->exponent += is_negative ? -power : power;
    }
    /* With up to eighteen digits, the number is still within the range of a double. */
    if (out->exponent > EXPONENT_MAX || out->exponent < -EXPONENT_MAX)
        return too_far;
    if ((size_t)(c - text) >= sizeof out->text)
        return too_long;
    memcpy(out->text, text, (size_t)(c - text));
    *rest = c;
    return NULL;
}

/* Finds a unit by its name; a space may precede it. */
static const struct unit *find_unit(const struct unit *units, const char *name)
{
    name += strspn(name, " ");
    for (; units->name != NULL; units++) {
        if (strcmp(units->name, name) == 0)
            return units;
    }
    return NULL;
}

/* Computes number * unit as a whole number of at most `most`; false when it is larger or not whole. */
static bool to_whole(const struct decimal *number, int64_t unit, wide most, wide *out, bool *is_fraction)
{
    wide value = (wide)number->mantissa * unit;
    *is_fraction = false;
    for (int i = number->exponent; i < 0 && value != 0; i++) {
        if (value % 10 != 0) {
            *is_fraction = true;
            return false;
        }
        value /= 10;
    }
    for (int i = number->exponent; i > 0 && value != 0 && value <= most; i--)
        value *= 10;
    *out = value;
    return value <= most;
}

/* Consumes "k", "M" or "G", and returns its factor of 10^3, 10^6 or 10^9; 1 when there is none. */
static int64_t take_thousands(const char **rest)
{
    static const struct unit units[] = {
        {"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};
    const char *c = *rest + strspn(*rest, " ");
    const char letter[2] = {*c, '\0'};
    const struct unit *unit = *c == '\0' ? NULL : find_unit(units, letter);
    if (unit == NULL)
        return 1;
    *rest = c + 1;
    return unit->size;
}

const char *lab_quantity_duration(const char *text, int64_t *out_ns)
{
    static const struct unit units[] = {{"ns", 1},
                                        {"us", SIM_US},
                                        {"ms", SIM_MS},
                                        {"s", SIM_SECOND},
                                        {"sec", SIM_SECOND},
                                        {"second", SIM_SECOND},
                                        {"seconds", SIM_SECOND},
                                        {"m", SIM_MINUTE},
                                        {"min", SIM_MINUTE},
                                        {"minute", SIM_MINUTE},
                                        {"minutes", SIM_MINUTE},
                                        {"h", SIM_HOUR},
                                        {"hour", SIM_HOUR},
                                        {"hours", SIM_HOUR},
                                        {"d", SIM_DAY},
                                        {"day", SIM_DAY},
                                        {"days", SIM_DAY},
                                        {"w", 7 * SIM_DAY},
                                        {"week", 7 * SIM_DAY},
                                        {"weeks", 7 * SIM_DAY},
                                        {"y", 365 * SIM_DAY},
                                        {"year", 365 * SIM_DAY},
                                        {"years", 365 * SIM_DAY},
                                        {NULL, 0}};
    struct decimal number;
    const char *rest, *problem = scan(text, &number, &rest);
    *out_ns = 0;
    if (problem != NULL)
        return problem != unreadable ? problem
                                     : "not a duration; write a number with ns us ms s m h d w or y after "
                                       "it, as in 90d";
    if (rest[strspn(rest, " ")] == '\0')
        return "a duration needs a unit; add ns us ms s m h d w or y, as in 90d";
    const struct unit *unit = find_unit(units, rest);
    if (unit == NULL)
        return "no such unit of time; use ns us ms s m h d w or y, as in 90d";
    wide value;
    bool is_fraction;
    if (!to_whole(&number, unit->size, INT64_MAX, &value, &is_fraction))
        return is_fraction ? "finer than a nanosecond; round it to whole nanoseconds"
                           : "the duration is beyond 292 years; make it shorter";
    *out_ns = (int64_t)value;
    return NULL;
}

const char *lab_quantity_signed_duration(const char *text, int64_t *out_ns)
{
    bool is_negative = *text == '-';
    const char *problem = lab_quantity_duration(text + (is_negative || *text == '+'), out_ns);
    if (is_negative)
        *out_ns = -*out_ns;
    return problem;
}

const char *lab_quantity_bytes(const char *text, uint64_t *out)
{
    static const struct unit units[] = {{"B", 1},
                                        {"byte", 1},
                                        {"bytes", 1},
                                        {"KB", 1000},
                                        {"kB", 1000},
                                        {"MB", 1000000},
                                        {"GB", 1000000000},
                                        {"TB", INT64_C(1000000000000)},
                                        {"KiB", INT64_C(1) << 10},
                                        {"MiB", INT64_C(1) << 20},
                                        {"GiB", INT64_C(1) << 30},
                                        {"TiB", INT64_C(1) << 40},
                                        {NULL, 0}};
    struct decimal number;
    const char *rest, *problem = scan(text, &number, &rest);
    *out = 0;
    if (problem != NULL)
        return problem != unreadable
                   ? problem
                   : "not a size; write a number with B KB MB GB TB KiB MiB GiB or TiB after it, as in "
                     "100MB";
    if (rest[strspn(rest, " ")] == '\0')
        return "a size needs a unit; add B KB MB GB TB KiB MiB GiB or TiB, as in 100MB";
    const struct unit *unit = find_unit(units, rest);
    if (unit == NULL)
        return "no such unit of size; use B KB MB GB TB KiB MiB GiB or TiB, as in "
               "100MB";
    wide value;
    bool is_fraction;
    if (!to_whole(&number, unit->size, INT64_MAX, &value, &is_fraction))
        return is_fraction ? "a part of a byte; round it to whole bytes"
                           : "the size is beyond 2^63 bytes; make it smaller";
    *out = (uint64_t)value;
    return NULL;
}

const char *lab_quantity_rate(const char *text, double *out_per_s)
{
    static const struct unit units[] = {{"/s", 1},     {"/sec", 1},     {"/second", 1}, {"/m", 60},
                                        {"/min", 60},  {"/minute", 60}, {"/h", 3600},   {"/hour", 3600},
                                        {"/d", 86400}, {"/day", 86400}, {NULL, 0}};
    struct decimal number;
    const char *rest, *problem = scan(text, &number, &rest);
    *out_per_s = 0;
    if (problem != NULL)
        return problem != unreadable ? problem
                                     : "not a rate; write a number with /s /m /h or /d after it, as in 200/s";
    if (rest[strspn(rest, " ")] == '\0')
        return "a rate needs a unit; add /s /m /h or /d, as in 200/s";
    double thousands = (double)take_thousands(&rest);
    const struct unit *unit = find_unit(units, rest);
    if (unit == NULL)
        return "no such unit of rate; use /s /m /h or /d, as in 200/s";
    *out_per_s = strtod(number.text, NULL) * thousands / (double)unit->size;
    return NULL;
}

/* Parses the part after "1/": "1/1000" is one in a thousand. */
static const char *one_in(const char *text, const char *many, double *out)
{
    uint64_t count;
    if (strncmp(text, "1/", 2) != 0 || lab_quantity_whole(many, &count) != NULL || count == 0)
        return "a fraction must be 1 divided by a whole number, as in 1/1000";
    *out = 1 / (double)count;
    return NULL;
}

const char *lab_quantity_share(const char *text, double *out)
{
    struct decimal number;
    const char *rest, *problem = scan(text, &number, &rest);
    *out = 0;
    if (problem != NULL)
        return problem != unreadable ? problem : "not a share; write a number with % after it, as in 1%";
    if (rest[0] == '/' && rest[1] >= '0' && rest[1] <= '9')
        return one_in(text, rest + 1, out);
    if (rest[strspn(rest, " ")] == '\0')
        return "a share needs its sign; add %, as in 1%";
    if (strcmp(rest + strspn(rest, " "), "%") != 0)
        return "a share is written in %; write the sign after the number, as in 1%";
    double share = strtod(number.text, NULL) / 100;
    if (share > 1)
        return "more than the whole; give at most 100%";
    *out = share;
    return NULL;
}

const char *lab_quantity_drift(const char *text, double *out)
{
    struct decimal number;
    const char *rest, *problem = scan(text, &number, &rest);
    *out = 0;
    if (problem != NULL)
        return problem != unreadable ? problem : "not a drift; write a number with ppm after it, as in 20ppm";
    if (rest[strspn(rest, " ")] == '\0')
        return "a drift needs its unit; add ppm, as in 20ppm";
    if (strcmp(rest + strspn(rest, " "), "ppm") != 0)
        return "a drift is written in ppm; write the unit after the number, as in 20ppm";
    *out = strtod(number.text, NULL) / 1e6;
    return NULL;
}

const char *lab_quantity_number(const char *text, double *out)
{
    static const char none[] = "not a plain number; write digits alone, as in 1.5";
    struct decimal number;
    const char *rest;
    bool is_negative = *text == '-';
    *out = 0;
    const char *problem = scan(text + (is_negative || *text == '+'), &number, &rest);
    if (problem != NULL)
        return problem != unreadable && problem != negative ? problem : none;
    if (*rest != '\0')
        return none;
    double value = strtod(number.text, NULL);
    *out = is_negative ? -value : value;
    return NULL;
}

/* Parses a whole number with a factor: "20k", "1.5M". */
static const char *read_thousands(const char *text, uint64_t *out)
{
    struct decimal number;
    const char *rest;
    wide value;
    bool is_fraction;
    if (scan(text, &number, &rest) != NULL)
        return not_whole;
    int64_t thousands = take_thousands(&rest);
    if (thousands == 1 || *rest != '\0')
        return not_whole;
    if (!to_whole(&number, thousands, UINT64_MAX, &value, &is_fraction))
        return is_fraction ? "not a whole number; write fewer decimals" : too_large;
    *out = (uint64_t)value;
    return NULL;
}

const char *lab_quantity_whole(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    *out = 0;
    if (*text == '-')
        return "a whole number cannot be negative; remove the sign";
    if (*text < '0' || *text > '9')
        return not_whole;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '_' && c[1] >= '0' && c[1] <= '9' && c[-1] != '_')
            continue;
        if (*c < '0' || *c > '9')
            return read_thousands(text, out);
        unsigned digit = (unsigned)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return too_large;
        value = value * 10 + digit;
    }
    *out = value;
    return NULL;
}

void lab_quantity_duration_text(int64_t span_ns, char *buffer, size_t size)
{
    static const struct unit units[] = {{"d", SIM_DAY}, {"h", SIM_HOUR}, {"m", SIM_MINUTE}, {"s", SIM_SECOND},
                                        {"ms", SIM_MS}, {"us", SIM_US},  {"ns", 1}};
    size_t i = span_ns == 0 ? 3 : 0;
    while (span_ns % units[i].size != 0)
        i++;
    snprintf(buffer, size, "%" PRId64 "%s", span_ns / units[i].size, units[i].name);
}

void lab_quantity_bytes_text(uint64_t bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes != 0 && bytes % 1000 == 0 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(buffer, size, "%" PRIu64 "%s", bytes, units[unit]);
}
