/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats and parses times in UTC; sorted lists of times. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/time.h"

static void civil_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * from_march + 2) / 5 + 1);
    *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

void sim_time_format(int64_t time_ns, char *buffer)
{
    int64_t days = time_ns / SIM_DAY - (time_ns % SIM_DAY < 0);
    int64_t rest = time_ns % SIM_DAY + (time_ns % SIM_DAY < 0 ? SIM_DAY : 0), year;
    int month, day;
    civil_from_days(days, &year, &month, &day);
    int length =
        snprintf(buffer, SIM_TIME_TEXT_SIZE, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d", year, month, day,
                 (int)(rest / SIM_HOUR), (int)(rest / SIM_MINUTE % 60), (int)(rest / SIM_SECOND % 60));
    int64_t fraction = rest % SIM_SECOND;
    if (fraction != 0) {
        int places = 9;
        for (; fraction % 10 == 0; fraction /= 10)
            places--;
        length +=
            snprintf(buffer + length, (size_t)(SIM_TIME_TEXT_SIZE - length), ".%0*" PRId64, places, fraction);
    }
    snprintf(buffer + length, (size_t)(SIM_TIME_TEXT_SIZE - length), "Z");
}

/* Converts between days since 1970 and civil dates; Hinnant, chrono-Compatible Low-Level Date Algorithms. */
static int64_t days_from_civil(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static bool digits(const char **text, int count, int *out)
{
    *out = 0;
    for (int i = 0; i < count; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return false;
        *out = *out * 10 + (**text - '0');
    }
    return true;
}

/* Parses a date and a time of day without the zone; *text is advanced past them. */
static int parse_civil(const char **text, int64_t *out_ns, bool *has_time)
{
    int year, month, day, hour = 0, minute = 0, second = 0;
    int64_t fraction = 0;
    const char *c = *text;
    if (!digits(&c, 4, &year) || *c++ != '-' || !digits(&c, 2, &month) || *c++ != '-' || !digits(&c, 2, &day))
        return -1;
    *has_time = *c == 'T' || *c == ' ';
    if (*has_time) {
        c++;
        if (!digits(&c, 2, &hour) || *c++ != ':' || !digits(&c, 2, &minute))
            return -1;
        if (*c == ':') {
            c++;
            if (!digits(&c, 2, &second))
                return -1;
            if (*c == '.') {
                c++;
                int64_t unit = SIM_SECOND / 10;
                if (*c < '0' || *c > '9')
                    return -1;
                for (; *c >= '0' && *c <= '9'; c++, unit /= 10)
                    fraction += (*c - '0') * unit;
            }
        }
    }
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1] + (month == 2 && is_leap ? 1 : 0) ||
        hour > 23 || minute > 59 || second > 59)
        return -1;
    /* The years that fit completely into an int64 of nanoseconds. */
    if (year < 1678 || year > 2261)
        return -1;
    *out_ns = days_from_civil(year, month, day) * SIM_DAY + hour * SIM_HOUR + minute * SIM_MINUTE +
              second * SIM_SECOND + fraction;
    *text = c;
    return 0;
}

int sim_time_parse(const char *text, int64_t *out_ns)
{
    int64_t time_ns;
    bool has_time;
    if (parse_civil(&text, &time_ns, &has_time) != 0 || (has_time && *text++ != 'Z') || *text != '\0')
        return -1;
    *out_ns = time_ns;
    return 0;
}

/* Parses "Z", "UTC", "+02:00", "+0200" or "+02", with nothing after it. */
static bool parse_zone(const char *c, int64_t *out_ns)
{
    int hours, minutes = 0;
    *out_ns = 0;
    if (strcmp(c, "Z") == 0 || strcmp(c, "z") == 0 || strcmp(c, "UTC") == 0 || strcmp(c, "GMT") == 0)
        return true;
    if (*c != '+' && *c != '-')
        return false;
    bool is_west = *c++ == '-';
    if (!digits(&c, 2, &hours))
        return false;
    c += *c == ':';
    if (*c != '\0' && !digits(&c, 2, &minutes))
        return false;
    *out_ns = (hours * SIM_HOUR + minutes * SIM_MINUTE) * (is_west ? -1 : 1);
    return *c == '\0' && hours <= 18 && minutes <= 59;
}

int sim_time_parse_zoned(const char *text, size_t size, int64_t *out_ns, bool *has_zone)
{
    char copy[48];
    const char *c = copy;
    int64_t time_ns, zone_ns = 0;
    bool has_time;
    *has_zone = false;
    if (size >= sizeof copy || memchr(text, '\0', size) != NULL)
        return -1;
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (parse_civil(&c, &time_ns, &has_time) != 0)
        return -1;
    c += has_time ? strspn(c, " ") : 0;
    *has_zone = *c != '\0';
    if (*has_zone && (!has_time || !parse_zone(c, &zone_ns)))
        return -1;
    *out_ns = time_ns - zone_ns;
    return 0;
}

double sim_span_told(double days, const char **unit)
{
    const double hours = 24 * days;
    *unit = days >= 2 * 365 ? "year" : hours >= 48 ? "day" : hours >= 1 ? "hour" : "minute";
    return days >= 2 * 365 ? days / 365 : hours >= 48 ? days : hours >= 1 ? hours : 60 * hours;
}

/* A sorted list of times that counts how many of them are below a given time. */

static bool make_room(struct sim_times *times)
{
    size_t kept = times->end - times->begin;
    if ((kept > times->capacity / 2 || times->capacity == 0) &&
        !sim_grow(&times->items, &times->capacity, times->capacity + 1, sizeof *times->items))
        return false;
    if (times->begin > 0)
        memmove(times->items, times->items + times->begin, kept * sizeof *times->items);
    times->begin = 0;
    times->end = kept;
    return true;
}

bool sim_times_add(struct sim_times *times, int64_t time_ns)
{
    if (times->end == times->capacity && !make_room(times))
        return false;
    size_t at = times->end++;
    for (; at > times->begin && times->items[at - 1] > time_ns; at--)
        times->items[at] = times->items[at - 1];
    times->items[at] = time_ns;
    return true;
}

uint64_t sim_times_below(const struct sim_times *times, int64_t time_ns)
{
    size_t low = times->begin, high = times->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times->items[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low - times->begin;
}

void sim_times_drop(struct sim_times *times, int64_t time_ns)
{
    times->begin += (size_t)sim_times_below(times, time_ns);
}

void sim_times_clear(struct sim_times *times)
{
    free(times->items);
    memset(times, 0, sizeof *times);
}
