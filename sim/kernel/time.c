/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats and parses times in UTC. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/time.h"

#define DATE_SIZE 10 /* 2026-01-01 */

void sim_time_format(int64_t time_ns, char *buffer)
{
    int64_t fraction = time_ns % SIM_SECOND + (time_ns % SIM_SECOND < 0 ? SIM_SECOND : 0);
    time_t seconds = time_ns / SIM_SECOND - (time_ns % SIM_SECOND < 0);
    struct tm time;
    gmtime_r(&seconds, &time);
    size_t length = strftime(buffer, SIM_TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &time);
    int places = 9;
    for (; fraction != 0 && fraction % 10 == 0; fraction /= 10)
        places--;
    if (fraction != 0)
        length +=
            (size_t)snprintf(buffer + length, SIM_TIME_TEXT_SIZE - length, ".%0*" PRId64, places, fraction);
    snprintf(buffer + length, SIM_TIME_TEXT_SIZE - length, "Z");
}

/* The days from 1970 to a date; Hinnant, chrono-Compatible Low-Level Date Algorithms. timegm() takes ten
 * times as long. */
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

bool sim_time_of(const struct tm *time, int64_t *out_ns)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = time->tm_year + 1900, month = time->tm_mon + 1, day = time->tm_mday;
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1] + (month == 2 && is_leap ? 1 : 0) ||
        time->tm_hour > 23 || time->tm_min > 59 || time->tm_sec > 59)
        return false;
    /* The years that fit completely into an int64 of nanoseconds. */
    if (year < 1678 || year > 2261)
        return false;
    *out_ns = days_from_civil(year, month, day) * SIM_DAY + time->tm_hour * SIM_HOUR +
              time->tm_min * SIM_MINUTE + time->tm_sec * SIM_SECOND;
    return true;
}

/* Parses a date and a time of day without the zone; *text is advanced past them. */
static bool parse_civil(const char **text, int64_t *out_ns, bool *has_time)
{
    struct tm time = {0};
    int64_t fraction_ns = 0;
    const char *c = *text;
    if (!digits(&c, 4, &time.tm_year) || *c++ != '-' || !digits(&c, 2, &time.tm_mon) || *c++ != '-' ||
        !digits(&c, 2, &time.tm_mday))
        return false;
    *has_time = *c == 'T' || *c == ' ';
    if (*has_time) {
        c++;
        if (!digits(&c, 2, &time.tm_hour) || *c++ != ':' || !digits(&c, 2, &time.tm_min))
            return false;
        if (*c == ':') {
            c++;
            if (!digits(&c, 2, &time.tm_sec))
                return false;
            if (*c == '.') {
                c++;
                if (*c < '0' || *c > '9')
                    return false;
                for (int64_t unit = SIM_SECOND / 10; *c >= '0' && *c <= '9'; c++, unit /= 10)
                    fraction_ns += (*c - '0') * unit;
            }
        }
    }
    *text = c;
    time.tm_year -= 1900;
    time.tm_mon--;
    if (!sim_time_of(&time, out_ns))
        return false;
    *out_ns += fraction_ns;
    return true;
}

bool sim_time_zone(const char *c, int64_t *out_ns)
{
    int hours, minutes = 0;
    *out_ns = 0;
    if (strcmp(c, "Z") == 0 || strcmp(c, "z") == 0 || strcmp(c, "UTC") == 0 || strcmp(c, "GMT") == 0)
        return true;
    c += strncmp(c, "UTC", 3) == 0 || strncmp(c, "GMT", 3) == 0 ? 3 : 0;
    if (*c != '+' && *c != '-')
        return false;
    bool is_west = *c++ == '-';
    if (!digits(&c, strspn(c, "0123456789") == 1 ? 1 : 2, &hours))
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
    if (!parse_civil(&c, &time_ns, &has_time))
        return -1;
    c += has_time ? strspn(c, " ") : 0;
    *has_zone = *c != '\0';
    if (*has_zone && (!has_time || !sim_time_zone(c, &zone_ns)))
        return -1;
    *out_ns = time_ns - zone_ns;
    return 0;
}

int sim_time_parse(const char *text, int64_t *out_ns)
{
    size_t size = strlen(text);
    int64_t time_ns;
    bool has_zone;
    if (sim_time_parse_zoned(text, size, &time_ns, &has_zone) != 0 ||
        (size != DATE_SIZE && text[size - 1] != 'Z'))
        return -1;
    *out_ns = time_ns;
    return 0;
}

double sim_span_told(double days, const char **unit)
{
    const double hours = 24 * days;
    *unit = days >= 2 * 365 ? "year" : hours >= 48 ? "day" : hours >= 1 ? "hour" : "minute";
    return days >= 2 * 365 ? days / 365 : hours >= 48 ? days : hours >= 1 ? hours : 60 * hours;
}
