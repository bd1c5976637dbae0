/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of delimiters and of formats of times. */
#include "workload/trace_format.h"

#include <stdlib.h>
#include <string.h>

bool wl_trace_format_is_plain(const struct wl_trace_format *format)
{
    const struct wl_trace_columns *columns = &format->columns;
    bool has_columns = columns->time != NULL || columns->key_count > 0 || columns->bytes != NULL ||
                       columns->count != NULL || columns->bytes_of_count > 0 || columns->arrived != NULL;
    return !has_columns && format->layout == WL_LAYOUT_AUTO && format->time == WL_TIME_AUTO &&
           format->escape == WL_ESCAPE_AUTO && format->header == WL_HEADER_AUTO &&
           format->delimiter == '\0' && !format->sort && !format->has_epoch;
}

void wl_trace_format_clear(struct wl_trace_format *format)
{
    struct wl_trace_columns *columns = &format->columns;
    free(columns->time);
    free(columns->time_of_day);
    free(columns->arrived);
    free(columns->bytes);
    free(columns->count);
    for (size_t i = 0; i < columns->key_count; i++)
        free(columns->key[i]);
    for (size_t i = 0; i < columns->bytes_of_count; i++)
        free(columns->bytes_of[i]);
    *format = (struct wl_trace_format){0};
}

static const struct {
    const char *name;
    char delimiter;
} delimiters[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'},
                  {"pipe", '|'},  {"space", ' '},     {"\\t", '\t'}};

const char *wl_trace_delimiter_name(char delimiter)
{
    for (size_t i = 0; i < sizeof delimiters / sizeof *delimiters; i++) {
        if (delimiters[i].delimiter == delimiter)
            return delimiters[i].name;
    }
    return NULL;
}

char wl_trace_delimiter(const char *text)
{
    for (size_t i = 0; i < sizeof delimiters / sizeof *delimiters; i++) {
        if (strcmp(text, delimiters[i].name) == 0)
            return delimiters[i].delimiter;
    }
    bool is_one =
        text[0] != '\0' && text[1] == '\0' && (text[0] == '\t' || (text[0] >= ' ' && text[0] <= '~'));
    return is_one && strchr("\"\\", text[0]) == NULL ? text[0] : '\0';
}

const char *wl_trace_time_name(enum wl_trace_time time)
{
#define NAME(id, option, name) name,
    static const char *const names[] = {WL_TRACE_TIMES(NAME)};
    return names[time];
}

const char *wl_trace_time_option(enum wl_trace_time time)
{
#define OPTION(id, option, name) option,
    static const char *const options[] = {WL_TRACE_TIMES(OPTION)};
    return options[time];
}
