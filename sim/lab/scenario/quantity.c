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
    const char *names; /* words; the first one is also written */
    int64_t size;
};

/* A kind of quantity: its units, and what is wrong with a text that is none. */
struct quantity {
    const struct unit *units; /* up to one without names */
    const char *not_one, *no_unit, *other_unit;
    const char *too_fine, *too_large; /* if it is a whole number of the smallest unit */
};
#define TEXTS(noun, of, names, example)                                                                      \
    "not " noun "; write a number with " names " after it, as in " example,                                  \
        noun " needs a unit; add " names ", as in " example,                                                 \
        "no such unit of " of "; use " names ", as in " example

static const struct unit times[] = {{"y year years", 365 * SIM_DAY},
                                    {"w week weeks", 7 * SIM_DAY},
                                    {"d day days", SIM_DAY},
                                    {"h hour hours", SIM_HOUR},
                                    {"m min minute minutes", SIM_MINUTE},
                                    {"s sec second seconds", SIM_SECOND},
                                    {"ms", SIM_MS},
                                    {"us", SIM_US},
                                    {"ns", 1},
                                    {NULL, 0}};
static const struct quantity durations = {times,
                                          TEXTS("a duration", "time", "ns us ms s m h d w or y", "90d"),
                                          "finer than a nanosecond; round it to whole nanoseconds",
                                          "the duration is beyond 292 years; make it shorter"};
static const struct quantity sizes = {(const struct unit[]){{"B byte bytes", 1},
                                                            {"KB kB", 1000},
                                                            {"MB", 1000000},
                                                            {"GB", 1000000000},
                                                            {"TB", INT64_C(1000000000000)},
                                                            {"KiB", INT64_C(1) << 10},
                                                            {"MiB", INT64_C(1) << 20},
                                                            {"GiB", INT64_C(1) << 30},
                                                            {"TiB", INT64_C(1) << 40},
                                                            {NULL, 0}},
                                      TEXTS("a size", "size", "B KB MB GB TB KiB MiB GiB or TiB", "100MB"),
                                      "a part of a byte; round it to whole bytes",
                                      "the size is beyond 2^63 bytes; make it smaller"};
/* The numbers of these are divided by the size of the unit. */
static const struct quantity rates = {
    (const struct unit[]){
        {"/s /sec /second", 1}, {"/m /min /minute", 60}, {"/h /hour", 3600}, {"/d /day", 86400}, {NULL, 0}},
    TEXTS("a rate", "rate", "/s /m /h or /d", "200/s"), NULL, NULL};
static const struct quantity shares = {(const struct unit[]){{"%", 100}, {NULL, 0}},
                                       TEXTS("a share", "share", "%", "1%"), NULL, NULL};
static const struct quantity drifts = {(const struct unit[]){{"ppm", 1000000}, {NULL, 0}},
                                       TEXTS("a drift", "drift", "ppm", "20ppm"), NULL, NULL};

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

static bool is_one_of(const char *word, const char *names)
{
    for (size_t size = strlen(word); *names != '\0'; names += *names == ' ') {
        size_t length = strcspn(names, " ");
        if (size == length && memcmp(word, names, size) == 0)
            return true;
        names += length;
    }
    return false;
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
    static const char letters[] = "kKMG";
    static const int64_t factors[] = {1000, 1000, 1000000, 1000000000};
    const char *c = *rest + strspn(*rest, " "), *letter = *c == '\0' ? NULL : strchr(letters, *c);
    if (letter == NULL)
        return 1;
    *rest = c + 1;
    return factors[letter - letters];
}

/* Parses a number, a factor unless `thousands` is NULL, and a unit. */
static const char *scan_quantity(const char *text, const struct quantity *quantity, struct decimal *number,
                                 int64_t *thousands, int64_t *size)
{
    const char *rest, *problem = scan(text, number, &rest);
    if (problem != NULL)
        return problem != unreadable ? problem : quantity->not_one;
    if (rest[strspn(rest, " ")] == '\0')
        return quantity->no_unit;
    if (thousands != NULL)
        *thousands = take_thousands(&rest);
    rest += strspn(rest, " ");
    const struct unit *unit = quantity->units;
    while (unit->names != NULL && !is_one_of(rest, unit->names))
        unit++;
    *size = unit->size;
    return unit->names == NULL ? quantity->other_unit : NULL;
}

static const char *read_units(const char *text, const struct quantity *quantity, int64_t *out)
{
    struct decimal number;
    int64_t size;
    wide value;
    bool is_fraction;
    const char *problem = scan_quantity(text, quantity, &number, NULL, &size);
    *out = 0;
    if (problem != NULL)
        return problem;
    if (!to_whole(&number, size, INT64_MAX, &value, &is_fraction))
        return is_fraction ? quantity->too_fine : quantity->too_large;
    *out = (int64_t)value;
    return NULL;
}

static const char *read_ratio(const char *text, const struct quantity *quantity, double *out)
{
    struct decimal number;
    int64_t thousands = 1, size;
    const char *problem =
        scan_quantity(text, quantity, &number, quantity == &rates ? &thousands : NULL, &size);
    *out = problem != NULL ? 0 : strtod(number.text, NULL) * (double)thousands / (double)size;
    return problem;
}

const char *lab_quantity_duration(const char *text, int64_t *out_ns)
{
    return read_units(text, &durations, out_ns);
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
    int64_t bytes;
    const char *problem = read_units(text, &sizes, &bytes);
    *out = (uint64_t)bytes;
    return problem;
}

const char *lab_quantity_rate(const char *text, double *out_per_s)
{
    return read_ratio(text, &rates, out_per_s);
}

const char *lab_quantity_share(const char *text, double *out)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t count;
    *out = 0;
    if (digits > 0 && text[digits] == '/' && text[digits + 1] >= '0' && text[digits + 1] <= '9') {
        if (strncmp(text, "1/", 2) != 0 || lab_quantity_whole(text + 2, &count) != NULL || count == 0)
            return "a fraction must be 1 divided by a whole number, as in 1/1000";
        *out = 1 / (double)count;
        return NULL;
    }
    const char *problem = read_ratio(text, &shares, out);
    if (problem != NULL || *out <= 1)
        return problem;
    *out = 0;
    return "more than the whole; give at most 100%";
}

const char *lab_quantity_drift(const char *text, double *out)
{
    return read_ratio(text, &drifts, out);
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
    const struct unit *unit = span_ns == 0 ? times + 5 : times + 2; /* from seconds, or from days on */
    while (span_ns % unit->size != 0)
        unit++;
    snprintf(buffer, size, "%" PRId64 "%.*s", span_ns / unit->size, (int)strcspn(unit->names, " "),
             unit->names);
}

void lab_quantity_bytes_text(uint64_t bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes != 0 && bytes % 1000 == 0 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(buffer, size, "%" PRIu64 "%s", bytes, units[unit]);
}
