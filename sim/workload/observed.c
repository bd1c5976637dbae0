/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the sizes of real partitions as the tools of Cassandra print them. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observed.h"

/* The number of lines between two checks of the caller's stop flag. */
#define LINES_BETWEEN_LOOKS 4096

const char *wl_observed_format_name(enum wl_observed_format format)
{
    static const char *const names[] = {"auto", "sstablepartitions", "tablehistograms", "large_partitions"};
    return names[format];
}

/* A bar, or a comma without a space before it: the output of tablehistograms has spaces before its commas. */
static bool looks_like_csv(struct observed_span line)
{
    const char *comma = memchr(line.begin, ',', (size_t)(line.end - line.begin));
    if (memchr(line.begin, '|', (size_t)(line.end - line.begin)) != NULL)
        return true;
    return comma != NULL && memchr(line.begin, ' ', (size_t)(comma - line.begin)) == NULL;
}

/* Reads the first line that is neither empty (the output of tablehistograms may begin with an empty line) nor
 * a command. */
static bool first_line(struct observed_file *file, struct observed_span *line)
{
    bool more = true;
    do {
        if (!observed_next(file, line, &more))
            return false;
    } while (more && (line->begin == line->end || observed_is_prompt(*line)));
    if (more)
        return true;
    file->reader.line = 1;
    return observed_fail(file, "nothing in it; save the output of 'sstablepartitions --csv --min-size 0', or "
                               "of 'nodetool tablehistograms', into it");
}

/* Recognises files that users may pass by mistake. */
static const char *foreign(struct observed_span line)
{
    static const struct {
        const char *begin, *what;
    } others[] = {
        {"timestamp_ms,", "a trace of rows, which goes under 'trace'"},
        {"label,state,unit,", "what 'bucketlab export' writes"},
        {"label,metric,", "what 'bucketlab export --metrics' writes"},
        {"Processing ", "sstablepartitions without --csv"},
        {"Total number of tables", "nodetool tablestats"},
        {"Keyspace", "nodetool tablestats"},
        {"proxy histograms", "nodetool proxyhistograms"},
        {"SSTable:", "sstablemetadata"},
        {"name:", "a scenario"},
        {"SQLite format 3", "a database"},
        {"{", "JSON"},
        {"[", "JSON"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (observed_begins(line, others[i].begin))
            return others[i].what;
    }
    return NULL;
}

static bool check_foreign(struct observed_file *file, struct observed_span line)
{
    const char *what = foreign(line);
    return what == NULL ||
           observed_fail(file,
                         "this is %s; give the output of 'sstablepartitions --csv --min-size 0', or of "
                         "'nodetool tablehistograms'",
                         what);
}

static bool read_file(struct observed_file *file, enum wl_observed_format format)
{
    struct observed_span line;
    if (!first_line(file, &line) || !check_foreign(file, line))
        return false;
    if (format == WL_OBSERVED_AUTO)
        format = looks_like_csv(line) ? WL_OBSERVED_PARTITIONS : WL_OBSERVED_PERCENTILES;
    file->out->format = format;
    return format == WL_OBSERVED_PERCENTILES ? observed_percentiles_read(file, line)
                                             : observed_partitions_read(file, line);
}

bool wl_observed_read(const char *path, enum wl_observed_format format, const char *table,
                      const _Atomic bool *stop, struct wl_observed *out, struct sim_error *error)
{
    struct observed_file file = {.wanted = table, .stop = stop, .out = out, .error = error};
    *out = (struct wl_observed){0};
    bool is_fine = trace_reader_open_as(path, "file", &file.reader, error) && read_file(&file, format);
    trace_reader_close(&file.reader);
    if (is_fine) {
        const char *name = file.wanted != NULL ? file.wanted : file.tables[0];
        out->table = strdup(name);
        is_fine = out->table != NULL || sim_fail_memory(error);
    }
    for (size_t i = 0; i < file.table_count; i++)
        free(file.tables[i]);
    if (!is_fine)
        wl_observed_clear(out);
    return is_fine;
}

void wl_observed_clear(struct wl_observed *observed)
{
    free(observed->table);
    free(observed->partitions);
    *observed = (struct wl_observed){0};
}

bool observed_next(struct observed_file *file, struct observed_span *line, bool *more)
{
    char *begin;
    size_t size;
    *more = false;
    if (file->reader.line % LINES_BETWEEN_LOOKS == 0 && file->stop != NULL &&
        atomic_load_explicit(file->stop, memory_order_relaxed))
        return sim_fail(file->error, SIM_ERROR_CHECK, "stopped before its end");
    if (!trace_reader_next(&file->reader, &begin, &size, file->error))
        return false;
    *more = begin != NULL;
    *line = (struct observed_span){begin, begin == NULL ? NULL : begin + size};
    if (begin != NULL && memchr(begin, '\0', size) != NULL && !observed_begins(*line, "SQLite format 3"))
        return observed_fail(file, "NUL byte; save the file as UTF-8 text");
    return true;
}

bool observed_fail(struct observed_file *file, const char *format, ...)
{
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sim_fail(file->error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s", file->reader.path, file->reader.line,
                    text);
}

/* Sets *index to the table's index in file->tables, or to OBSERVED_TABLES_MAX when there is no room for it.
 * The search begins with the table found last, which is the most likely one. */
static bool remember(struct observed_file *file, const char *name, size_t size, size_t *index)
{
    for (size_t i = file->table_count; i > 0; i--) {
        const char *known = file->tables[i - 1];
        *index = i - 1;
        if (strlen(known) == size && memcmp(known, name, size) == 0)
            return true;
    }
    *index = file->table_count;
    if (file->table_count == OBSERVED_TABLES_MAX)
        return true;
    char *copy = malloc(size + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, name, size);
    copy[size] = '\0';
    file->tables[file->table_count++] = copy;
    return true;
}

bool observed_table(struct observed_file *file, const char *name, size_t size, bool *is_wanted)
{
    size_t index;
    *is_wanted = false;
    if (!remember(file, name, size, &index))
        return sim_fail_memory(file->error);
    if (file->wanted != NULL) {
        *is_wanted = strlen(file->wanted) == size && memcmp(file->wanted, name, size) == 0;
        return true;
    }
    *is_wanted = index == 0;
    if (index == 0)
        return true;
    return observed_fail(
        file, "a second table, %s; name the one that you want, as in table: %s, or --table of import",
        observed_show((struct observed_span){name, name + size}).text, file->tables[0]);
}

static void list_tables(const struct observed_file *file, char *list, size_t size)
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < file->table_count && used + 64 < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%.48s", i == 0 ? "" : ", ",
                                 file->tables[i][0] == '\0' ? "one without a name" : file->tables[i]);
    if (used < size && file->table_count == OBSERVED_TABLES_MAX)
        snprintf(list + used, size - used, ", ...");
}

bool observed_fail_table(struct observed_file *file)
{
    char list[400];
    list_tables(file, list, sizeof list);
    return observed_fail(file, "the file ends without table '%s'; it holds %s", file->wanted, list);
}

struct observed_span observed_trim(struct observed_span span)
{
    while (span.begin < span.end && (*span.begin == ' ' || *span.begin == '\t'))
        span.begin++;
    while (span.begin < span.end && (span.end[-1] == ' ' || span.end[-1] == '\t'))
        span.end--;
    return span;
}

bool observed_is_prompt(struct observed_span line)
{
    static const char *const commands[] = {"nodetool ", "sstablepartitions ", "cqlsh>", "cqlsh:"};
    line = observed_trim(line);
    for (const char *at = line.begin; at < line.end; at++) {
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            if (observed_begins((struct observed_span){at, line.end}, commands[i]))
                return true;
        }
    }
    return line.begin < line.end && memchr("$#>%", line.end[-1], 4) != NULL;
}

bool observed_is(struct observed_span span, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(span.end - span.begin) == size && memcmp(span.begin, text, size) == 0;
}

bool observed_begins(struct observed_span span, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(span.end - span.begin) >= size && memcmp(span.begin, text, size) == 0;
}

struct observed_shown observed_show(struct observed_span span)
{
    enum { MOST = 40 };
    struct observed_shown shown = {{0}};
    size_t size = (size_t)(span.end - span.begin), bytes = size > MOST ? MOST : size;
    for (size_t i = 0; i < bytes; i++)
        shown.text[i] = span.begin[i] >= ' ' && span.begin[i] <= '~' ? span.begin[i] : '?';
    if (size > MOST)
        memcpy(shown.text + MOST, "...", 3);
    return shown;
}

bool observed_whole(struct observed_file *file, const char *column, struct observed_span field, uint64_t *out)
{
    uint64_t value = 0;
    *out = 0;
    if (field.begin == field.end)
        return observed_fail(file, "%s is empty; write a whole number", column);
    for (const char *at = field.begin; at < field.end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9)
            return observed_fail(file,
                                 "%s '%s' is not a whole number; write digits alone, without separators",
                                 column, observed_show(field).text);
        if (value > (OBSERVED_SIZE_MAX - digit) / 10)
            return observed_fail(file, "%s %s is above 2^63, which no Cassandra counts to; check the line",
                                 column, observed_show(field).text);
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}
