/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the first event in which two runs differ, and prints both sides of it. */
#define _POSIX_C_SOURCE 200809L
#include "cli/difference.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text between the virtual time and the event in a line. */
#define AFTER_TIME " s  "

struct hearing {
    struct cli_listener listener;
    uint64_t number;
    char *buffer;
    size_t used;
};

bool cli_difference_find(const struct lab_event_log *one, const struct lab_event_log *other,
                         struct cli_difference *out)
{
    uint64_t most = one->events > other->events ? one->events : other->events;
    uint64_t least = one->events < other->events ? one->events : other->events;
    /* The larger of two powers of two is a multiple of the other. */
    uint64_t stride = one->stride > other->stride ? one->stride : other->stride;
    *out = (struct cli_difference){.first = 1, .last = most};
    if (one->stride == 0 || other->stride == 0)
        return one->stride != other->stride;
    uint64_t common = least / stride;
    for (uint64_t i = 1; i <= common; i++) {
        if (one->marks[i * (stride / one->stride) - 1] != other->marks[i * (stride / other->stride) - 1]) {
            *out = (struct cli_difference){(i - 1) * stride + 1, i * stride, true};
            return true;
        }
    }
    if (one->digest == other->digest && one->events == other->events)
        return false;
    if (common * stride < most)
        *out = (struct cli_difference){common * stride + 1, most, true};
    return true;
}

static void note(struct hearing *hearing, const char *separator, const char *text, size_t size)
{
    int length = snprintf(hearing->buffer + hearing->used, CLI_EVENT_SIZE - hearing->used, "%s%.*s",
                          separator, (int)size, text);
    hearing->used += (size_t)length;
    if (hearing->used >= CLI_EVENT_SIZE)
        hearing->used = CLI_EVENT_SIZE - 1;
    for (char *c = hearing->buffer; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    }
}

/* The event's own line has its numbers; the next line, if it is before the next event, has its meaning. */
static void hear(void *context, const char *text)
{
    struct hearing *hearing = context;
    const char *begin = strstr(text, AFTER_TIME), *end = NULL;
    uint64_t number = 0;
    if (begin == NULL || hearing->listener.is_over)
        return;
    begin += strlen(AFTER_TIME);
    if (strncmp(begin, "event ", 6) == 0) {
        char *rest;
        number = strtoull(begin + 6, &rest, 10);
        end = strncmp(rest, ": ", 2) == 0 ? rest + 2 : NULL;
    }
    if (hearing->used > 0) {
        if (end == NULL)
            note(hearing, "; ", begin, strlen(begin));
        hearing->listener.is_over = true;
    } else if (end != NULL && number == hearing->number) {
        text += strspn(text, " ");
        note(hearing, "", text, (size_t)(begin - text) - 2);
        note(hearing, ": ", end, strlen(end));
    }
}

bool cli_difference_tell(const struct lab_scenario *scenario, size_t strategy,
                         const struct cli_difference *difference, bool is_quiet, struct cli_signals *signals,
                         char *buffer, struct sim_error *error)
{
    /* Strategies do not interact, so a strategy that is run alone has the same events. */
    struct lab_scenario alone = *scenario;
    alone.strategies = &scenario->strategies[strategy];
    alone.strategy_count = 1;
    alone.expect_count = 0;
    struct hearing hearing = {.number = difference->first, .buffer = buffer};
    hearing.listener.event_trace = (struct lab_event_trace){
        .context = &hearing, .line = hear, .first = difference->first, .last = difference->first + 1};
    struct lab_result *result;
    int64_t elapsed_ms;
    buffer[0] = '\0';
    bool is_fine =
        cli_execute(&alone, 1, NULL, is_quiet, &hearing.listener, NULL, signals, &result, &elapsed_ms, error);
    lab_result_destroy(result);
    return is_fine || (signals->caught == 0 && buffer[0] != '\0');
}
