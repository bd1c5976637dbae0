/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the output of tablehistograms: for each table a title, two lines of headings and seven lines of
 * numbers. The order of the columns differs between versions of Cassandra, so it is taken from the
 * headings. */
#include <string.h>

#include "observed.h"

#define COLUMNS      5
#define FIGURES_SIZE (COLUMNS + 1)

static const char *const row_names[] = {"50%", "75%", "95%", "98%", "99%", "Min", "Max"};
static const enum wl_observed_point row_points[] = {WL_OBSERVED_P50, WL_OBSERVED_P75, WL_OBSERVED_P95,
                                                    WL_OBSERVED_P98, WL_OBSERVED_P99, WL_OBSERVED_MIN,
                                                    WL_OBSERVED_MAX};
#define ROWS (sizeof row_names / sizeof *row_names)

static bool title_of(struct observed_span line, char *name, size_t size, size_t *length)
{
    static const char end[] = " histograms";
    size_t tail = sizeof end - 1, all = (size_t)(line.end - line.begin);
    *length = all > tail ? all - tail : 0;
    if (*length == 0 || *length >= size || memcmp(line.begin + *length, end, tail) != 0)
        return false;
    memcpy(name, line.begin, *length);
    char *slash = memchr(name, '/', *length);
    if (slash == NULL || slash == name || slash == name + *length - 1 || memchr(name, ' ', *length) != NULL)
        return false;
    *slash = '.';
    return true;
}

static bool next_full(struct observed_file *file, struct observed_span *line, bool *more)
{
    do {
        if (!observed_next(file, line, more))
            return false;
        if (*more)
            *line = observed_trim(*line);
    } while (*more && line->begin == line->end);
    return true;
}

/* Removes the words, and the spaces around them, from the beginning of the line; false when the line does not
 * begin with them. */
static bool take(struct observed_span *line, const char *words)
{
    struct observed_span at = *line;
    while (at.begin < at.end && (*at.begin == ' ' || *at.begin == '\t'))
        at.begin++;
    if (!observed_begins(at, words))
        return false;
    at.begin += strlen(words);
    *line = at;
    return true;
}

/* Sets *size_column to the column of the partition sizes, counted from 1. */
static bool read_headings(struct observed_file *file, size_t *size_column)
{
    static const char *const headings[COLUMNS] = {"SSTables", "Write Latency", "Read Latency",
                                                  "Partition Size", "Cell Count"};
    struct observed_span line, at;
    bool more, is_fine;
    *size_column = 0;
    if (!next_full(file, &line, &more))
        return false;
    at = line;
    if (more && (observed_begins(line, "SSTables per Read") || observed_begins(line, "Offset ")))
        return observed_fail(
            file, "cfhistograms of Cassandra 2.0 or before, which is not read; give percentiles as "
                  "'nodetool cfhistograms' of 2.1 prints them, or a CSV of key,size");
    is_fine = more && take(&at, "Percentile");
    for (size_t i = 1; is_fine && i <= COLUMNS; i++) {
        size_t found = 0;
        while (found < COLUMNS && !take(&at, headings[found]))
            found++;
        is_fine = found < COLUMNS;
        if (is_fine && strcmp(headings[found], "Partition Size") == 0)
            *size_column = i;
    }
    if (!is_fine || *size_column == 0 || at.begin != at.end)
        return observed_fail(file,
                             "'%s' where the headings should be: Percentile, SSTables, Write Latency, Read "
                             "Latency, Partition Size, Cell Count; save the output again",
                             more ? observed_show(line).text : "");
    if (!next_full(file, &line, &more))
        return false;
    at = line;
    is_fine = more;
    while (is_fine && (take(&at, "(micros)") || take(&at, "(bytes)")))
        ;
    return (is_fine && at.begin == at.end) ||
           observed_fail(file,
                         "'%s' where the units should be: (micros), (micros), (bytes); save the output again",
                         more ? observed_show(line).text : "");
}

static size_t split(struct observed_span line, struct observed_span *words, size_t most)
{
    size_t count = 0;
    for (const char *at = line.begin;; count++) {
        while (at < line.end && (*at == ' ' || *at == '\t'))
            at++;
        if (at == line.end || count == most)
            return count;
        words[count].begin = at;
        while (at < line.end && *at != ' ' && *at != '\t')
            at++;
        words[count].end = at;
    }
}

/* Latencies have a decimal point, or the decimal comma of the machine's locale. */
static bool is_number(struct observed_span word)
{
    if (observed_is(word, "NaN"))
        return true;
    size_t digits = 0, points = 0;
    for (const char *at = word.begin; at < word.end; at++) {
        digits += *at >= '0' && *at <= '9';
        points += *at == '.' || *at == ',';
    }
    return digits > 0 && points <= 1 && digits + points == (size_t)(word.end - word.begin);
}

static bool read_row(struct observed_file *file, size_t row, size_t size_column)
{
    struct observed_span line, words[FIGURES_SIZE + 1];
    bool more;
    if (!next_full(file, &line, &more))
        return false;
    size_t count = more ? split(line, words, FIGURES_SIZE + 1) : 0;
    if (count == 0 || !observed_is(words[0], row_names[row]))
        return observed_fail(file, "'%s' where the line of %s should be; save the output again",
                             more ? observed_show(line).text : "", row_names[row]);
    if (count != FIGURES_SIZE)
        return observed_fail(file, "%zu figures after %s, but %d are needed; save the output again",
                             count - 1, row_names[row], COLUMNS);
    for (size_t i = 1; i < count; i++) {
        if (!is_number(words[i]))
            return observed_fail(file, "'%s' is not a figure; save the output again",
                                 observed_show(words[i]).text);
    }
    if (size_column == 0)
        return true;
    if (observed_is(words[size_column], "NaN"))
        return observed_fail(file,
                             "the percentiles of the partition size are NaN: the table has no sstable, or "
                             "a partition too large for Cassandra's buckets; use sstablepartitions");
    return observed_whole(file, "Partition Size", words[size_column], &file->out->points[row_points[row]]);
}

static bool check_order(struct observed_file *file)
{
    const uint64_t *points = file->out->points;
    for (size_t i = 1; i < WL_OBSERVED_POINTS; i++) {
        if (points[i] < points[i - 1])
            return observed_fail(
                file, "the partition sizes do not rise from Min over 50%% to Max; check the figures");
    }
    return points[WL_OBSERVED_P50] > 0 ||
           observed_fail(file,
                         "a median partition size of 0, which is printed for a table without sstables; run "
                         "'nodetool flush' first");
}

/* Reads "keyspace/table histograms" and the lines after it. The numbers of a table that was not requested may
 * be NaN. */
static bool read_table(struct observed_file *file, struct observed_span title, bool *is_wanted)
{
    char name[256];
    size_t length, size_column;
    if (!title_of(title, name, sizeof name, &length))
        return observed_fail(
            file,
            "'%s' where a table should begin; give the output of 'nodetool "
            "tablehistograms', in which this line is 'KEYSPACE/TABLE histograms'%s",
            observed_show(title).text,
            file->table_count > 0 ? "" : ", or of 'sstablepartitions --csv', with commas between columns");
    if (!observed_table(file, name, length, is_wanted) || !read_headings(file, &size_column))
        return false;
    for (size_t i = 0; i < ROWS; i++) {
        if (!read_row(file, i, *is_wanted ? size_column : 0))
            return false;
    }
    return !*is_wanted || check_order(file);
}

/* Some versions print remarks among the numbers, and people copy their prompts. */
static bool is_remark(struct observed_span line)
{
    return observed_is_prompt(line) || observed_begins(line, "No SSTables exists") ||
           observed_begins(line, "Row sizes are larger than") ||
           observed_begins(line, "Column counts are larger than");
}

bool observed_percentiles_read(struct observed_file *file, struct observed_span first)
{
    struct observed_span line = first;
    bool more = true, is_found = false, is_wanted = false;
    line = observed_trim(line);
    while (is_remark(line) && more) {
        if (!next_full(file, &line, &more))
            return false;
    }
    while (more) {
        uint64_t points[WL_OBSERVED_POINTS];
        memcpy(points, file->out->points, sizeof points);
        if (!read_table(file, line, &is_wanted))
            return false;
        if (is_wanted && is_found)
            return observed_fail(file, "the table appears twice; give the output of one node, once");
        if (!is_wanted)
            memcpy(file->out->points, points, sizeof points);
        is_found = is_found || is_wanted;
        do {
            if (!next_full(file, &line, &more))
                return false;
        } while (more && is_remark(line));
    }
    if (is_found)
        return true;
    return file->table_count > 0
               ? observed_fail_table(file)
               : observed_fail(file, "no table in it; give the output of 'nodetool tablehistograms'");
}
