/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In: the text of a field, a ULID or a time. Keeps the counts of a judge of a column's values. Out: bytes, a
 * time, the format of a time, or the readings that a column of numbers or dates may have. */
#define _XOPEN_SOURCE   700
#define _DEFAULT_SOURCE /* tm_gmtoff */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "kernel/time.h"
#include "trace_parts.h"
#include "workload/trace.h"

#define ULID_TEXT 26u

__extension__ typedef unsigned __int128 wide;

/* The value of a digit; -1 when the character is not a digit. */
static int digit_of(char c)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const char upper = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    const char *at = upper == '\0' ? NULL : strchr(digits, upper);
    return at == NULL ? -1 : (int)(at - digits);
}

/* 26 digits of 5 bits, of which the first has only 3. */
bool wl_ulid_parse(const char *text, size_t size, uint8_t out[WL_ULID_BYTES])
{
    wide value = 0;
    if (size != ULID_TEXT || text[0] > '7')
        return false;
    for (size_t i = 0; i < ULID_TEXT; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0)
            return false;
        value = value << 5 | (unsigned)digit;
    }
    for (size_t i = WL_ULID_BYTES; i > 0; i--, value >>= 8)
        out[i - 1] = (uint8_t)value;
    return true;
}

/* Parses times: ISO 8601, numbers that count units from an origin, digits of a date, and ids that contain a
 * time; and judges which of these a column of numbers has. */

#define UUID_TEXT 36u
#define DATE_SIZE 64u
/* Units of 100 ns from 1582-10-15, the epoch of RFC 9562, to 1970. */
#define GREGORIAN_TO_UNIX INT64_C(0x01B21DD213814000)
/* A whole number below the first of these is in seconds since 1970, below the second in ms, below the third
 * in us. This covers the years 1973 to 5138 in each unit. */
#define SECONDS_BELOW INT64_C(100000000000)
#define MS_BELOW      INT64_C(100000000000000)
#define US_BELOW      INT64_C(100000000000000000)
/* A reading of a number is plausible from 1980 to 2099, or in the first month if it counts from its own
 * start.
 */
#define PLAUSIBLE_FROM  (3652 * SIM_DAY)
#define PLAUSIBLE_UNTIL (47482 * SIM_DAY)
#define FIRST_MONTH_S   (INT64_C(31) * 86400)
#define SNOWFLAKE_BELOW INT64_C(1000000000000000000) /* a larger one is more likely in nanoseconds */

/* The unit that a number counts, and the number's value in 1970. */
static const struct {
    int64_t unit_ns, at_1970;
} counts[WL_TIME_COUNT] = {[WL_TIME_S] = {SIM_SECOND, 0},
                           [WL_TIME_MS] = {SIM_MS, 0},
                           [WL_TIME_US] = {SIM_US, 0},
                           [WL_TIME_NS] = {1, 0},
                           [WL_TIME_EXCEL] = {SIM_DAY, 25569},
                           [WL_TIME_TICKS] = {100, INT64_C(621355968000000000)},
                           [WL_TIME_FILETIME] = {100, INT64_C(116444736000000000)}};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool is_uuid(const char *text, size_t size)
{
    for (size_t i = 0; size == UUID_TEXT && i < size; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text[i] != '-' : hex_digit(text[i]) < 0)
            return false;
    }
    return size == UUID_TEXT;
}

/* Takes the decimals up to the first other character, in units of 10^-9. Returns their end. */
static const char *take_decimals(const char *at, const char *end, int64_t *out)
{
    *out = 0;
    for (int64_t unit = SIM_SECOND / 10; at < end && is_digit(*at); unit /= 10)
        *out += (*at++ - '0') * unit;
    return at;
}

/* Parses [-]digits[.digits]: the whole part, and the decimals in units of 10^-9. */
static bool read_number(const char *text, size_t size, int64_t *whole, int64_t *decimals, bool *is_negative)
{
    size_t i = size > 0 && text[0] == '-';
    *is_negative = i == 1;
    *whole = *decimals = 0;
    if (i == size || !is_digit(text[i]))
        return false;
    for (; i < size && is_digit(text[i]); i++) {
        if (*whole > (INT64_MAX - 9) / 10)
            return false;
        *whole = *whole * 10 + (text[i] - '0');
    }
    if (i == size)
        return true;
    return text[i++] == '.' && i < size && take_decimals(text + i, text + size, decimals) == text + size;
}

/* The ways to write a date, for strptime(): the part before the time of day, and that after it. A dash means
 * any signs between words. */
static const struct {
    enum wl_trace_time kind;
    const char *before, *after;
} forms[] = {
    {WL_TIME_ISO, "%Y-%m-%d", ""},                                   /* also 2026/1/31 9:05 and 2026.01.31 */
    {WL_TIME_ISO, "%Y%m%d", ""},                                     /* 20260131T090500Z */
    {WL_TIME_ISO, "%Y-%m", ""},      {WL_TIME_WORDS, "%b-%Y", ""},   /* a month */
    {WL_TIME_WORDS, "%d-%b-%Y", ""},                                 /* RFC 2822, the logs of web servers */
    {WL_TIME_WORDS, "%b-%d-%Y", ""}, {WL_TIME_WORDS, "%b-%d", "%Y"}, /* C's asctime() */
    {WL_TIME_WORDS, "%Y-%m-%d", ""},                                 /* with AM or PM */
    {WL_TIME_DMY, "%d-%m-%Y", ""},   {WL_TIME_DMY, "%d-%m-%y", ""},  {WL_TIME_MDY, "%m-%d-%Y", ""},
    {WL_TIME_MDY, "%m-%d-%y", ""},   {WL_TIME_MDY, "%m-%d", "%Y"},   {WL_TIME_MDY, "%m%d", "%Y"},
    {WL_TIME_YMD, "%y-%m-%d", ""},   {WL_TIME_YMD, "%y%m%d", ""},
};

/* Copies a date for strptime(), with a dash for the signs up to the time of day, and without quotes,
 * brackets, and the zone's name after the zone. */
static bool copy_date(const char *text, size_t size, char copy[DATE_SIZE])
{
    bool is_date = true;
    size_t used = 0;
    if (size >= DATE_SIZE || memchr(text, '\0', size) != NULL)
        return false;
    for (size_t i = 0; i < size && text[i] != '('; i++) {
        bool is_t = text[i] == 'T' && i > 0 && is_digit(text[i - 1]);
        bool is_sign = is_date && (is_t || strchr(" \t/.,-", text[i]) != NULL);
        if (strchr("[]\"", text[i]) == NULL && !(is_sign && (used == 0 || copy[used - 1] == '-')))
            copy[used++] = is_sign ? '-' : text[i];
        is_date = is_date && text[i] != ':' && !is_t;
    }
    while (used > 0 && (copy[used - 1] == ' ' || copy[used - 1] == '-'))
        used--;
    copy[used] = '\0';
    return true;
}

/* Takes a time of day, if there is one, such as 9:05, 23:59:59.5, 090500 or, with `has_halves`, 9 PM. Returns
 * the end, or NULL. */
static const char *take_clock(const char *text, bool has_halves, struct tm *time, int64_t *fraction_ns)
{
    static const char *const clocks[] = {"%H:%M:%S", "%H:%M", "%H%M%S", "%H%M", "%H"};
    const size_t count = sizeof clocks / sizeof *clocks;
    const char *begin = text + strspn(text, " :-"), *end = NULL;
    size_t clock = 0;
    *fraction_ns = 0;
    if (!is_digit(*begin))
        return text;
    while (clock < count && (end = strptime(begin, clocks[clock], time)) == NULL)
        clock++;
    if (end == NULL)
        return NULL;
    const size_t ms_digits = *end == ':' ? strspn(end + 1, "0123456789") : 0; /* 22:15:29:606 */
    if (ms_digits >= 1 && ms_digits <= 3) {
        *fraction_ns = strtol(end + 1, NULL, 10) * SIM_MS;
        end += 1 + ms_digits;
    } else if ((*end == '.' || *end == ',') && is_digit(end[1])) {
        end = take_decimals(end + 1, strchr(end, '\0'), fraction_ns);
    }
    end += strspn(end, " ");
    if (!has_halves || (strncasecmp(end, "am", 2) != 0 && strncasecmp(end, "pm", 2) != 0))
        return clock + 1 < count ? end : NULL;
    bool is_fine = time->tm_hour >= 1 && time->tm_hour <= 12;
    time->tm_hour = time->tm_hour % 12 + ((*end | 0x20) == 'p' ? 12 : 0);
    return is_fine ? end + 2 : NULL;
}

/* Takes a zone: +02:00, a name of RFC 2822 or of central Europe, or both, as in +0200 CEST. */
static bool take_zone(char *text, int64_t *out_ns)
{
    static const struct {
        const char *name;
        int hours;
    } zones[] = {{"EST", -5}, {"EDT", -4}, {"CST", -6}, {"CDT", -5}, {"MST", -7}, {"MDT", -6},
                 {"PST", -8}, {"PDT", -7}, {"CET", 1},  {"CEST", 2}, {"UTC", 0},  {"GMT", 0}};
    const size_t size = strcspn(text, " ");
    const bool is_alone = text[size] == '\0';
    const char *name = is_alone ? text : text + size + 1;
    bool is_known = false;
    *out_ns = 0;
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        if (strcmp(name, zones[i].name) == 0) {
            is_known = true;
            *out_ns = zones[i].hours * SIM_HOUR;
        }
    }
    text[size] = '\0';
    return is_alone == is_known ? is_known : sim_time_zone(text, out_ns);
}

static bool parse_date(enum wl_trace_time kind, const char *text, size_t size, int64_t *out_ns,
                       bool *has_zone)
{
    enum { YEAR_DIGITS = 4, TWO_DIGITS_UNTIL = 150 }; /* years of two digits are from 1950 to 2049 */
    char copy[DATE_SIZE], zone[DATE_SIZE];
    struct tm day;
    if (kind == WL_TIME_ISO && sim_time_parse_zoned(text, size, out_ns, has_zone) == 0)
        return true;
    if (!copy_date(text, size, copy) || (kind == WL_TIME_ISO && strspn(copy, "0123456789") < YEAR_DIGITS))
        return false;
    const char *begin = strptime(copy, "%a-", &day);
    begin = begin == NULL ? copy : begin;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm time = {.tm_mday = 1};
        int64_t fraction_ns, zone_ns = 0;
        const char *at = forms[i].kind == kind ? strptime(begin, forms[i].before, &time) : NULL;
        const bool is_clock = at != NULL && *at == ':' && strstr(forms[i].before, "%y") != NULL;
        if (at == NULL || is_clock || (at = take_clock(at, kind != WL_TIME_ISO, &time, &fraction_ns)) == NULL)
            continue;
        time.tm_year -= time.tm_year >= TWO_DIGITS_UNTIL && strstr(forms[i].before, "%y") != NULL ? 100 : 0;
        at += strspn(at, " ");
        size_t left = strlen(at), last = forms[i].after[0] == '\0' ? 0 : 4;
        if (left < last || (last > 0 && strptime(at + left - last, forms[i].after, &time) == NULL))
            continue;
        left -= last;
        while (left > 0 && at[left - 1] == ' ')
            left--;
        snprintf(zone, sizeof zone, "%.*s", (int)left, at);
        *has_zone = zone[0] != '\0';
        if ((!*has_zone || take_zone(zone, &zone_ns)) && sim_time_of(&time, out_ns)) {
            *out_ns += fraction_ns - zone_ns;
            return true;
        }
    }
    return false;
}

/* Whether a text of no known format is a time once a year follows it. */
static bool is_time_with_year(const char *text, size_t size)
{
    char dated[DATE_SIZE];
    const int bytes = snprintf(dated, sizeof dated, "%.*s 2000", (int)size, text);
    if (size >= sizeof dated / 2 || memchr(text, ':', size) == NULL)
        return false;
    const enum wl_trace_time kind = trace_time_kind(dated, (size_t)bytes);
    return kind == WL_TIME_WORDS || kind == WL_TIME_MDY;
}

bool trace_time_lacks_year(const char *text, size_t size)
{
    return trace_time_kind(text, size) == WL_TIME_AUTO && is_time_with_year(text, size);
}

bool wl_trace_pattern_is(const char *text)
{
    const char *at = strchr(text, '%');
    for (; at != NULL; at = strchr(at + 2, '%')) {
        if (at[1] == '\0' || strchr("aAbBdefHIjklmMnpRStTyYDFhz%", at[1]) == NULL)
            return false;
    }
    return strchr(text, '%') != NULL;
}

/* strptime() has no letter for decimals of a second: they are cut out of both texts. */
bool trace_time_match(const char *pattern, const char *text, size_t size, int64_t *out_ns, bool *has_zone)
{
    char form[2 * DATE_SIZE], copy[DATE_SIZE];
    struct tm time = {.tm_mday = 1}, ignored = time;
    int64_t fraction_ns = 0;
    if (size >= sizeof copy || strlen(pattern) >= sizeof form || memchr(text, '\0', size) != NULL)
        return false;
    snprintf(form, sizeof form, "%s", pattern);
    snprintf(copy, sizeof copy, "%.*s", (int)size, text);
    char *decimals = strstr(form, "%f");
    if (decimals != NULL) {
        *decimals = '\0';
        char *from = strptime(copy, form, &ignored);
        if (from == NULL || !is_digit(*from))
            return false;
        const char *to = take_decimals(from, strchr(from, '\0'), &fraction_ns);
        memmove(from, to, strlen(to) + 1);
        strcpy(decimals, pattern + (decimals - form) + 2);
    }
    const char *end = strptime(copy, form, &time);
    const int64_t zone_ns = time.tm_gmtoff * SIM_SECOND;
    *has_zone = strstr(form, "%z") != NULL;
    time.tm_gmtoff = 0;
    if (end == NULL || end[strspn(end, " ")] != '\0' || !sim_time_of(&time, out_ns))
        return false;
    *out_ns += fraction_ns - zone_ns;
    return true;
}

enum wl_trace_time trace_time_kind(const char *text, size_t size)
{
    int64_t whole, decimals, time_ns;
    bool flag;
    if (is_uuid(text, size))
        return text[14] == '1' ? WL_TIME_TIMEUUID : text[14] == '7' ? WL_TIME_UUID7 : WL_TIME_AUTO;
    if (read_number(text, size, &whole, &decimals, &flag))
        return whole < SECONDS_BELOW ? WL_TIME_S
               : whole < MS_BELOW    ? WL_TIME_MS
               : whole < US_BELOW    ? WL_TIME_US
                                     : WL_TIME_NS;
    uint8_t ulid[WL_ULID_BYTES];
    if (wl_ulid_parse(text, size, ulid))
        return WL_TIME_ULID;
    static const enum wl_trace_time dates[] = {WL_TIME_ISO, WL_TIME_WORDS, WL_TIME_DMY, WL_TIME_MDY,
                                               WL_TIME_YMD};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        if (parse_date(dates[i], text, size, &time_ns, &flag))
            return dates[i];
    }
    return WL_TIME_AUTO;
}

static uint64_t hex(const char *text, size_t digits)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits; i++)
        value = value << 4 | (unsigned)hex_digit(text[i]);
    return value;
}

/* Sets *out_ns to epoch_ns + count * unit_ns; false when that overflows. */
static bool from_units(int64_t count, int64_t unit_ns, int64_t epoch_ns, int64_t *out_ns)
{
    return !__builtin_mul_overflow(count, unit_ns, out_ns) &&
           !__builtin_add_overflow(*out_ns, epoch_ns, out_ns);
}

static bool parse_count(enum wl_trace_time kind, const char *text, size_t size, int64_t *out_ns)
{
    int64_t whole, decimals, unit_ns = counts[kind].unit_ns;
    bool is_negative;
    if (!read_number(text, size, &whole, &decimals, &is_negative))
        return false;
    int64_t part_ns =
        unit_ns > SIM_SECOND ? decimals * (unit_ns / SIM_SECOND) : decimals / (SIM_SECOND / unit_ns);
    if (kind == WL_TIME_EXCEL) /* nine decimals of a day are good for a millisecond */
        part_ns = (part_ns + SIM_MS / 2) / SIM_MS * SIM_MS;
    whole = is_negative ? -whole : whole;
    return !__builtin_sub_overflow(whole, counts[kind].at_1970, &whole) &&
           from_units(whole, unit_ns, is_negative ? -part_ns : part_ns, out_ns);
}

/* The number of digits, if the text consists of digits, and of decimals that are 0; otherwise 0. */
static size_t digit_count(const char *text, size_t size)
{
    size_t count = 0, i;
    while (count < size && is_digit(text[count]))
        count++;
    for (i = count + 1; i < size && text[i] == '0'; i++)
        ;
    return count == size || (text[count] == '.' && i == size) ? count : 0;
}

int trace_time_likely(const char *text, size_t size)
{
    enum { DATE_DIGITS = 8, DATE_LEAST = 6 };
    static const int64_t from_ns = 7305 * SIM_DAY;
    const enum wl_trace_time kind = trace_time_kind(text, size);
    const bool ends_with_year =
        kind == WL_TIME_MDY && size > 5 && text[size - 5] == ' ' && digit_count(text + size - 4, 4) == 4;
    int64_t time_ns;
    bool has_zone;
    if (size == 0 || strchr(" -,;:", text[size - 1]) != NULL || ends_with_year)
        return 0;
    if (kind > WL_TIME_WORDS && kind <= WL_TIME_YMD && size < DATE_LEAST + 2 &&
        memchr(text, '.', size) != NULL)
        return 0; /* a version */
    if ((kind == WL_TIME_ISO || (kind >= WL_TIME_WORDS && kind <= WL_TIME_YMD)) && size >= DATE_LEAST)
        return 3;
    if (kind == WL_TIME_AUTO || (kind >= WL_TIME_ISO && kind < WL_TIME_S) || kind >= WL_TIME_WORDS)
        return kind >= WL_TIME_TIMEUUID ? 1 : 3 * (kind == WL_TIME_AUTO && is_time_with_year(text, size));
    if (size == DATE_DIGITS && trace_time_parse(WL_TIME_YYYYMMDD, 0, text, size, &time_ns, &has_zone))
        return 2;
    return trace_time_parse(kind, 0, text, size, &time_ns, &has_zone) && time_ns >= from_ns &&
                   time_ns < PLAUSIBLE_UNTIL
               ? 2
               : 0;
}

static int to_number(const char *text, size_t digits)
{
    int value = 0;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (text[i] - '0');
    return value;
}

/* Parses a year of four or two digits, and after it as many pairs of digits as there are: month, day, hour,
 * minute, second; at last three digits of milliseconds. */
static bool parse_digits(enum wl_trace_time kind, const char *text, size_t size, int64_t *out_ns)
{
    struct tm time = {.tm_mday = 1};
    int month = 1, *const fields[] = {&month, &time.tm_mday, &time.tm_hour, &time.tm_min, &time.tm_sec};
    size_t digits = digit_count(text, size), at = kind == WL_TIME_YYMMDD ? 2 : 4;
    if (digits < (at == 2 ? 6 : at))
        return false;
    time.tm_year = to_number(text, at) - (at == 4 ? 1900 : 0);
    time.tm_year += at == 2 && time.tm_year < 70 ? 100 : 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && digits - at >= 2; i++, at += 2)
        *fields[i] = to_number(text + at, 2);
    time.tm_mon = month - 1;
    bool has_ms = at >= 12 && digits - at == 3;
    if ((digits != at && !has_ms) || !sim_time_of(&time, out_ns))
        return false;
    *out_ns += has_ms ? to_number(text + at, 3) * SIM_MS : 0;
    return true;
}

static bool parse_snowflake(const char *text, size_t size, int64_t epoch_ns, int64_t *out_ns)
{
    int64_t whole, decimals;
    bool is_negative;
    return read_number(text, size, &whole, &decimals, &is_negative) && decimals == 0 && !is_negative &&
           from_units(whole >> 22, SIM_MS, epoch_ns, out_ns);
}

static bool parse_ulid(const char *text, size_t size, int64_t *out_ns)
{
    uint8_t bytes[WL_ULID_BYTES];
    int64_t value = 0;
    if (!wl_ulid_parse(text, size, bytes))
        return false;
    for (size_t i = 0; i < 6; i++)
        value = value << 8 | bytes[i];
    return from_units(value, SIM_MS, 0, out_ns);
}

/* The time is time_low, time_mid and 12 bits of time_hi, in units of 100 ns. */
static bool parse_timeuuid(const char *text, size_t size, int64_t *out_ns)
{
    if (!is_uuid(text, size) || text[14] != '1')
        return false;
    uint64_t ticks = hex(text + 15, 3) << 48 | hex(text + 9, 4) << 32 | hex(text, 8);
    return from_units((int64_t)ticks - GREGORIAN_TO_UNIX, 100, 0, out_ns);
}

bool trace_time_parse(enum wl_trace_time kind, int64_t epoch_ns, const char *text, size_t size,
                      int64_t *out_ns, bool *has_zone)
{
    *out_ns = 0;
    *has_zone = true;
    switch (kind) {
    case WL_TIME_S:
    case WL_TIME_MS:
    case WL_TIME_US:
    case WL_TIME_NS:
    case WL_TIME_TICKS:
    case WL_TIME_FILETIME:
        return parse_count(kind, text, size, out_ns);
    case WL_TIME_EXCEL:
        *has_zone = false;
        return parse_count(kind, text, size, out_ns);
    case WL_TIME_YYYYMMDD:
    case WL_TIME_YYMMDD:
        *has_zone = false;
        return parse_digits(kind, text, size, out_ns);
    case WL_TIME_ISO:
    case WL_TIME_WORDS:
    case WL_TIME_DMY:
    case WL_TIME_MDY:
    case WL_TIME_YMD:
        return parse_date(kind, text, size, out_ns, has_zone);
    case WL_TIME_TIMEUUID:
        return parse_timeuuid(text, size, out_ns);
    case WL_TIME_UUID7:
        return is_uuid(text, size) && text[14] == '7' &&
               from_units((int64_t)(hex(text, 8) << 16 | hex(text + 9, 4)), SIM_MS, 0, out_ns);
    case WL_TIME_ULID:
        return parse_ulid(text, size, out_ns);
    case WL_TIME_SNOWFLAKE:
        return parse_snowflake(text, size, epoch_ns, out_ns);
    case WL_TIME_AUTO:
    case WL_TIME_COUNT:
        break;
    }
    return false;
}

bool trace_time_is_of_day(const char *text, size_t size)
{
    const char *colon = size > 0 ? memchr(text, ':', size) : NULL;
    const bool has_half = size > 3 && text[size - 3] == ' ' && strchr("AaPp", text[size - 2]) != NULL &&
                          (text[size - 1] | 0x20) == 'm';
    size -= has_half ? 3 : 0;
    bool is_of_day = colon != NULL && colon > text && colon - text <= 2;
    for (size_t i = 0; is_of_day && i < size; i++)
        is_of_day = is_digit(text[i]) || (i > 0 && strchr(":.,", text[i]) != NULL);
    return is_of_day;
}

/* A date of digits gets the digits of the time of day; hours get a leading 0, and minutes if they are alone.
 */
size_t trace_time_join(const char *date, size_t date_size, const char *text, size_t size, char *out)
{
    bool is_of_digits = date_size > 0 && digit_count(date, date_size) == date_size;
    size_t used = date_size, digits = digit_count(text, size);
    memcpy(out, date, date_size);
    if (!is_of_digits)
        out[used++] = ' ';
    const bool are_hours = !is_of_digits && digits == size && size > 0 && size <= 2;
    if (digits == 3 || digits == 5 || (size > 1 && text[1] == ':') || (are_hours && size == 1))
        out[used++] = '0';
    for (size_t i = 0; i < size; i++) {
        if (!is_of_digits || text[i] != ':')
            out[used++] = text[i];
    }
    memcpy(out + used, ":00", 3);
    return used + (are_hours ? 3 : 0);
}

/* Hours, minutes and seconds; a spreadsheet drops a leading 0. */
static bool is_time_of_day(const char *text, size_t size, int64_t whole)
{
    size_t digits = digit_count(text, size);
    return (digits == 5 || digits == 6) && whole / 10000 < 24 && whole / 100 % 100 < 60 && whole % 100 < 60;
}

static bool is_plausible(enum wl_trace_time kind, const char *text, size_t size)
{
    int64_t time_ns;
    bool has_zone;
    return trace_time_parse(kind, WL_SNOWFLAKE_EPOCH_NS, text, size, &time_ns, &has_zone) &&
           time_ns >= PLAUSIBLE_FROM && time_ns < PLAUSIBLE_UNTIL;
}

static void remember(struct trace_time_judge *judge, const char *text, size_t size, uint64_t line)
{
    snprintf(judge->value, sizeof judge->value, "%.*s", (int)size, text);
    judge->line = line;
}

void trace_time_take(struct trace_time_judge *judge, const char *text, size_t size, uint64_t line)
{
    enum wl_trace_time kind = trace_time_kind(text, size);
    int64_t whole, decimals;
    bool is_negative;
    judge->first = judge->first == WL_TIME_AUTO ? kind : judge->first;
    if (kind >= WL_TIME_DMY && kind <= WL_TIME_YMD) { /* a day beyond the 12th decides */
        int64_t time_ns;
        const long part = strtol(text, NULL, 10);
        const char *end = memchr(text, ' ', size);
        const size_t date_size = end == NULL ? size : (size_t)(end - text);
        judge->is_short = judge->is_short || kind == WL_TIME_YMD ||
                          (date_size > 2 && date_size <= 8 && memchr(text, '/', date_size) != NULL &&
                           !is_digit(text[date_size - 3]));
        const long last = date_size < 2 ? 0 : strtol(text + date_size - 2, NULL, 10);
        judge->is_constant = judge->dates == 0 || (judge->is_constant && part == judge->part);
        judge->has_days = judge->has_days || (judge->dates > 0 && last != judge->last);
        judge->part = part;
        judge->last = last;
        for (enum wl_trace_time form = WL_TIME_DMY; form <= WL_TIME_YMD; form++)
            judge->fits[form] += parse_date(form, text, size, &time_ns, &is_negative);
        judge->kinds[WL_TIME_DMY]++;
        if (judge->dates++ == 0)
            remember(judge, text, size, line);
        return;
    }
    if (kind < WL_TIME_S || kind > WL_TIME_NS || !read_number(text, size, &whole, &decimals, &is_negative)) {
        judge->kinds[kind]++;
        return;
    }
    if (whole == 0 && decimals == 0)
        return;
    judge->kinds[kind]++;
    if (judge->numbers++ == 0 && judge->dates == 0)
        remember(judge, text, size, line);
    judge->since_start += kind == WL_TIME_S && whole < FIRST_MONTH_S;
    judge->times_of_day += is_time_of_day(text, size, whole);
    judge->fits[kind] += is_plausible(kind, text, size);
    for (enum wl_trace_time other = WL_TIME_EXCEL; other <= WL_TIME_YYMMDD; other++)
        judge->fits[other] += is_plausible(other, text, size);
    judge->fits[WL_TIME_SNOWFLAKE] += kind == WL_TIME_NS && whole < SNOWFLAKE_BELOW;
}

/* Whether nearly all numbers are counted; a few others are errors, which their own lines report. */
static bool are_most(const struct trace_time_judge *judge, size_t count)
{
    return count > 0 && 4 * count >= 3 * judge->numbers;
}

/* Appends "s (1970-01-03T18:41:55Z)". */
static size_t list_reading(const struct trace_time_judge *judge, enum wl_trace_time kind, char *out,
                           size_t used)
{
    char text[SIM_TIME_TEXT_SIZE] = "";
    int64_t time_ns;
    bool has_zone;
    if (trace_time_parse(kind, WL_SNOWFLAKE_EPOCH_NS, judge->value, strlen(judge->value), &time_ns,
                         &has_zone))
        sim_time_format(time_ns, text);
    return used + (size_t)snprintf(out + used, TRACE_READINGS_SIZE - used, "%s%s (%s)", used == 0 ? "" : ", ",
                                   wl_trace_time_option(kind), text);
}

enum wl_trace_time trace_time_verdict(const struct trace_time_judge *judge, char *readings)
{
    enum wl_trace_time base = judge->first, other = WL_TIME_AUTO;
    size_t used = 0, others = 0;
    int64_t time_ns;
    bool has_zone;
    readings[0] = '\0';
    for (enum wl_trace_time kind = WL_TIME_ISO; kind < WL_TIME_COUNT; kind++)
        base = judge->kinds[kind] > (base == WL_TIME_AUTO ? 0 : judge->kinds[base]) ? kind : base;
    if (base == WL_TIME_DMY) {
        /* 17/06/09 may be 2017-06-09, as programs in Java write it, if all dates begin with the same number.
         * If they end with different ones, it is. */
        const bool may_begin_with_year = judge->is_short && judge->is_constant;
        for (enum wl_trace_time kind = WL_TIME_DMY; kind <= WL_TIME_YMD; kind++) {
            const bool is_only = others == 0 && judge->dates > judge->fits[WL_TIME_MDY];
            if (judge->fits[kind] < judge->dates ||
                (kind == WL_TIME_YMD ? !may_begin_with_year && !is_only
                                     : may_begin_with_year && judge->has_days))
                continue;
            used = list_reading(judge, kind, readings, used);
            other = kind;
            others++;
        }
        if (others == 0) {
            used = list_reading(judge, WL_TIME_DMY, readings, used);
            list_reading(judge, WL_TIME_MDY, readings, used);
        }
        if (others == 1)
            readings[0] = '\0';
        return others == 1 ? other : WL_TIME_AUTO;
    }
    if (base < WL_TIME_S || base > WL_TIME_NS)
        return base;
    bool is_epoch = are_most(judge, judge->fits[base]) || are_most(judge, judge->since_start);
    if (is_epoch)
        used = list_reading(judge, base, readings, used);
    for (enum wl_trace_time kind = WL_TIME_EXCEL; kind < WL_TIME_COUNT; kind++) {
        if (!are_most(judge, judge->fits[kind]))
            continue;
        used = list_reading(judge, kind, readings, used);
        other = kind;
        others++;
    }
    bool is_of_day = are_most(judge, judge->times_of_day);
    if (is_of_day)
        snprintf(readings + used, TRACE_READINGS_SIZE - used, ", a time of day without its date");
    if (others + is_of_day > 0 && (is_epoch || others + is_of_day > 1 || other == WL_TIME_SNOWFLAKE))
        return WL_TIME_AUTO;
    /* A time in the seventies is more often a number of another unit. */
    if (others == 0 && !is_epoch && judge->numbers > 0 && judge->fits[base] == 0 &&
        trace_time_parse(base, 0, judge->value, strlen(judge->value), &time_ns, &has_zone)) {
        list_reading(judge, base, readings, used);
        return WL_TIME_AUTO;
    }
    readings[0] = '\0';
    return others > 0 ? other : base;
}
