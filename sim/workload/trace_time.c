/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses times: ISO 8601, times since 1970 in four units, and ids that contain a time. */
#include "trace_time.h"

#include "kernel/time.h"
#include "workload/ulid.h"

#define UUID_TEXT 36u
/* Units of 100 ns from 1582-10-15, the epoch of RFC 9562, to 1970. */
#define GREGORIAN_TO_UNIX INT64_C(0x01B21DD213814000)
/* A whole number below the first of these is in seconds since 1970, below the second in ms, below the third
 * in us. This covers the years 1973 to 5138 in each unit. */
#define SECONDS_BELOW INT64_C(100000000000)
#define MS_BELOW      INT64_C(100000000000000)
#define US_BELOW      INT64_C(100000000000000000)

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
    if (text[i++] != '.' || i == size)
        return false;
    for (int64_t unit = SIM_SECOND / 10; i < size; i++, unit /= 10) {
        if (!is_digit(text[i]))
            return false;
        *decimals += (text[i] - '0') * unit;
    }
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
    return sim_time_parse_zoned(text, size, &time_ns, &flag) == 0 ? WL_TIME_ISO : WL_TIME_AUTO;
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

static bool parse_epoch(const char *text, size_t size, int64_t unit_ns, int64_t *out_ns)
{
    int64_t whole, decimals;
    bool is_negative;
    if (!read_number(text, size, &whole, &decimals, &is_negative))
        return false;
    int64_t part_ns = decimals / (SIM_SECOND / unit_ns);
    return from_units(is_negative ? -whole : whole, unit_ns, is_negative ? -part_ns : part_ns, out_ns);
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
    case WL_TIME_ISO:
        return sim_time_parse_zoned(text, size, out_ns, has_zone) == 0;
    case WL_TIME_S:
        return parse_epoch(text, size, SIM_SECOND, out_ns);
    case WL_TIME_MS:
        return parse_epoch(text, size, SIM_MS, out_ns);
    case WL_TIME_US:
        return parse_epoch(text, size, SIM_US, out_ns);
    case WL_TIME_NS:
        return parse_epoch(text, size, 1, out_ns);
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
        break;
    }
    return false;
}
