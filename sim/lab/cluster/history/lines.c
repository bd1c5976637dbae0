/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges the lines of several files in the order of their times. A line ends with a full stop. A process that
 * was killed may leave an incomplete line, which is skipped if the next line of its file says that an agent
 * is back, or if there is no next line. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "kernel/file.h"
#include "kernel/time.h"

struct file {
    FILE *stream;
    char *text;
    size_t room;
    struct lab_history_line line;
    uint64_t torn; /* number of an incomplete line, after which an agent must be back; 0 if there is none */
    bool has_line;
};

struct lab_history {
    size_t count;
    struct file *taken; /* the file whose line was returned last, and from which the next line must be read;
                           NULL if none */
    struct file files[];
};

bool lab_history_fail(const struct lab_history_line *line, struct sim_error *error, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s", line->path, line->number, text);
}

bool lab_history_word(const char **at, const char *word)
{
    size_t size = strlen(word);
    if (strncmp(*at, word, size) != 0 || ((*at)[size] != ' ' && (*at)[size] != '\0'))
        return false;
    *at += size + ((*at)[size] == ' ');
    return true;
}

bool lab_history_number(const char **at, int64_t *out)
{
    const char *next = *at;
    bool is_negative = *next == '-';
    uint64_t value = 0, most = is_negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    next += is_negative;
    const char *first = next;
    for (; *next >= '0' && *next <= '9'; next++) {
        uint64_t digit = (uint64_t)(*next - '0');
        if (value > (most - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    if (next == first || (*next != ' ' && *next != '\0'))
        return false;
    *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    *at = next + (*next == ' ');
    return true;
}

/* Parses " 12.000000345 s ". */
static bool read_time(const char **at, int64_t *out_ns)
{
    const char *next = *at + strspn(*at, " ");
    size_t whole = strspn(next, "0123456789");
    if (whole == 0 || whole > 10 || next[whole] != '.' || strspn(next + whole + 1, "0123456789") != 9 ||
        strncmp(next + whole + 10, " s  ", 4) != 0)
        return false;
    int64_t time_ns = 0;
    for (size_t i = 0; i < whole + 10; i++) {
        if (time_ns > SIM_QUEUE_TIME_MAX / 10 - 1)
            return false;
        if (i != whole)
            time_ns = 10 * time_ns + (next[i] - '0');
    }
    *out_ns = time_ns;
    *at = next + whole + 14;
    return true;
}

/* Parses "key-12: ". */
static bool read_key(const char **at, struct lab_history_line *line)
{
    const char *next = *at;
    line->has_key = strncmp(next, "key-", 4) == 0;
    if (!line->has_key)
        return true;
    size_t size = strspn(next + 4, "0123456789");
    if (size == 0 || size > 9 || strncmp(next + 4 + size, ": ", 2) != 0)
        return false;
    line->key = 0;
    for (size_t i = 0; i < size; i++)
        line->key = 10 * line->key + (uint32_t)(next[4 + i] - '0');
    *at = next + size + 6;
    return true;
}

static bool is_of_agent_back(const char *text)
{
    int64_t agent;
    return lab_history_word(&text, "agent") && lab_history_number(&text, &agent) &&
           strncmp(text, "is back", 7) == 0;
}

static bool split(struct file *file, struct sim_error *error)
{
    struct lab_history_line *line = &file->line;
    int64_t before_ns = line->since_ns;
    const char *at = file->text;
    if (!read_time(&at, &line->since_ns) || !read_key(&at, line))
        return lab_history_fail(line, error,
                                "not a line of a history; each is a time, perhaps a key, and an event, as in "
                                "'12.000000345 s  key-3: agent 2 wakes.' (docs/live.md)");
    line->text = at;
    if (line->since_ns < before_ns && strncmp(at, "strategy ", 9) != 0)
        return lab_history_fail(line, error, "%.9f s comes after %.9f s; a file's lines are in order of time",
                                (double)line->since_ns / 1e9, (double)before_ns / 1e9);
    if (file->torn != 0 && !is_of_agent_back(at)) {
        line->number = file->torn;
        return lab_history_fail(line, error,
                                "the line does not end with a full stop; only one that was cut off when its "
                                "process was killed may, and then 'agent N is back' follows");
    }
    file->torn = 0;
    return true;
}

/* Reads the next complete line of the file. */
static bool advance(struct file *file, struct sim_error *error)
{
    ssize_t size;
    file->has_line = false;
    while ((size = getline(&file->text, &file->room, file->stream)) > 0) {
        file->line.number++;
        size -= file->text[size - 1] == '\n';
        if (size == 0)
            continue;
        if (file->text[size - 1] != '.') {
            file->torn = file->line.number;
            continue;
        }
        file->text[size - 1] = '\0';
        file->has_line = true;
        return split(file, error);
    }
    return !ferror(file->stream) ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s: cannot be read", file->line.path);
}

static bool open_file(const char *path, struct file *file, struct sim_error *error)
{
    int reason;
    char buffer[SIM_REASON_SIZE];
    file->line.path = path;
    file->line.since_ns = INT64_MIN;
    file->stream = sim_input_stream(path, &reason);
    if (file->stream == NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "%s: %s; name a history", path,
                        sim_input_reason(reason, buffer, sizeof buffer));
    return advance(file, error);
}

bool lab_history_open(const char *const *paths, size_t count, struct lab_history **out,
                      struct sim_error *error)
{
    struct lab_history *history = calloc(1, sizeof *history + count * sizeof *history->files);
    *out = history;
    if (history == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        history->count++;
        if (!open_file(paths[i], &history->files[i], error))
            return false;
    }
    return true;
}

void lab_history_close(struct lab_history *history)
{
    for (size_t i = 0; history != NULL && i < history->count; i++) {
        if (history->files[i].stream != NULL)
            fclose(history->files[i].stream);
        free(history->files[i].text);
    }
    free(history);
}

bool lab_history_next(struct lab_history *history, const struct lab_history_line **out,
                      struct sim_error *error)
{
    struct file *first = NULL;
    if (history->taken != NULL && !advance(history->taken, error))
        return false;
    for (size_t i = 0; i < history->count; i++) {
        struct file *file = &history->files[i];
        if (file->has_line && (first == NULL || file->line.since_ns < first->line.since_ns))
            first = file;
    }
    history->taken = first;
    if (first != NULL)
        *out = &first->line;
    return first != NULL;
}

void lab_history_again(struct lab_history *history)
{
    history->taken = NULL;
}
