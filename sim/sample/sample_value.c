/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses the fields of a sample, and extracts times from them. */
#include "sample_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/sstable.h"
#include "kernel/time.h"

#define MS_NS          INT64_C(1000000)
#define NUMBER_SIZE    32u
#define UUID_EPOCH_100 INT64_C(0x01B21DD213814000) /* 1970-01-01 in units of 100 ns since 1582-10-15 */

/* Parses the zone "+0100", "+01:00", "Z" or "" to minutes. */
static bool parse_zone(const char *text, int *minutes)
{
    unsigned hours = 0, rest = 0;
    int used = 0;
    *minutes = 0;
    if (*text == '\0' || strcmp(text, "Z") == 0)
        return true;
    if (*text != '+' && *text != '-')
        return false;
    if ((sscanf(text + 1, "%2u:%2u%n", &hours, &rest, &used) != 2 || used != 5) &&
        (sscanf(text + 1, "%2u%2u%n", &hours, &rest, &used) != 2 || used != 4))
        return false;
    *minutes = (int)(hours * 60 + rest) * (*text == '-' ? -1 : 1);
    return text[1 + used] == '\0' && hours < 24 && rest < 60;
}

/* Rewrites the text to the form that sim_time_parse() accepts: a T between date and time, seconds, and a Z at
 * the end. */
bool sample_time_parse(const char *text, int64_t *out_ms)
{
    char plain[64], clock[32] = "00:00:00";
    int minutes = 0;
    int64_t ns;
    size_t date = strcspn(text, " T");
    if (date != 10)
        return false;
    if (text[date] != '\0') {
        const char *time = text + date + 1;
        size_t size = strcspn(time, "Z+-");
        if (size < 5 || size + 4 > sizeof clock || !parse_zone(time + size, &minutes))
            return false;
        snprintf(clock, sizeof clock, "%.*s%s", (int)size, time, size == 5 ? ":00" : "");
    }
    snprintf(plain, sizeof plain, "%.10sT%sZ", text, clock);
    if (sim_time_parse(plain, &ns) != 0)
        return false;
    int64_t ms = ns / MS_NS - (ns % MS_NS < 0);
    *out_ms = ms - minutes * INT64_C(60000);
    return true;
}

int64_t sample_uuid_time_us(const uint8_t *uuid)
{
    static const uint8_t order[] = {6, 7, 4, 5, 0, 1, 2, 3};
    uint64_t ticks = 0;
    for (size_t i = 0; i < sizeof order; i++)
        ticks = ticks << 8 | (i == 0 ? uuid[order[i]] & 0x0fu : uuid[order[i]]);
    return ((int64_t)ticks - UUID_EPOCH_100) / 10;
}

static bool copy(const void *bytes, size_t size, uint8_t **out, size_t *out_size, struct sim_error *error)
{
    *out = malloc(size + 1);
    if (*out == NULL)
        return sim_fail_memory(error);
    memcpy(*out, bytes, size);
    *out_size = size;
    return true;
}

/* Writes one shard: a header with one index, the id of its node, its clock and its count. */
static bool parse_counter(const char *text, uint8_t **out, size_t *size, struct sim_error *error)
{
    static const uint8_t begin[] = {0,    1,    0x80, 0,    0xd1, 0x7e, 0x3a, 0x90, 0x5b, 0xc2,
                                    0x11, 0xee, 0x9a, 0x41, 0x6d, 0xf3, 0x2c, 0x88, 0x05, 0xb7,
                                    0,    0,    0,    0,    0,    0,    0,    1};
    uint8_t *count = NULL, whole[CASS_COUNTER_VALUE_SIZE(1)];
    size_t count_size;
    if (!cass_value_parse(CASS_BIGINT, text, &count, &count_size, error))
        return false;
    memcpy(whole, begin, sizeof begin);
    memcpy(whole + sizeof begin, count, count_size);
    free(count);
    return copy(whole, sizeof whole, out, size, error);
}

bool sample_value_parse(enum cass_type type, const char *text, size_t text_size, uint8_t **out, size_t *size,
                        struct sim_error *error)
{
    char number[NUMBER_SIZE];
    int64_t ms;
    *out = NULL;
    *size = 0;
    if (type == CASS_TEXT)
        return copy(text, text_size, out, size, error);
    if (type == CASS_COUNTER)
        return parse_counter(text, out, size, error);
    if (type == CASS_BOOLEAN && (strcmp(text, "True") == 0 || strcmp(text, "False") == 0))
        return cass_value_parse(type, *text == 'T' ? "true" : "false", out, size, error);
    if (type == CASS_TIMESTAMP && sample_time_parse(text, &ms)) {
        snprintf(number, sizeof number, "%lld", (long long)ms);
        return cass_value_parse(type, number, out, size, error);
    }
    return cass_value_parse(type, text, out, size, error);
}
