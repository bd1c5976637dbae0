/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recognises files that users pass as a trace by mistake. */
#include "trace_foreign.h"

#include <stdbool.h>
#include <string.h>

static bool begins(const char *bytes, size_t size, const char *with, size_t length)
{
    return size >= length && memcmp(bytes, with, length) == 0;
}

/* Whether a line begins with a field that every scenario has. */
static bool is_scenario(const char *bytes, size_t size)
{
    static const char field[] = "strategies:";
    for (size_t at = 0; at < size;) {
        if (begins(bytes + at, size - at, field, sizeof field - 1))
            return true;
        const char *end = memchr(bytes + at, '\n', size - at);
        at = end == NULL ? size : (size_t)(end - bytes) + 1;
    }
    return false;
}

static size_t after_blanks(const char *bytes, size_t size, size_t at)
{
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r'))
        at++;
    return at;
}

const char *trace_foreign(const char *bytes, size_t size)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } kinds[] = {
        {"\xff\xfe", 2, "UTF-16; save the trace as UTF-8 text"},
        {"\xfe\xff", 2, "UTF-16; save the trace as UTF-8 text"},
        {"PK\x03\x04", 4, "a zip archive or a spreadsheet; unpack it, or save it as CSV"},
        {"PAR1", 4, "a Parquet file; write it out as CSV, as DuckDB's COPY does"},
        {"SQLite format 3", 15, "a database; write a table out as CSV, by sqlite3 -csv -header"},
        {"BZh", 3, "bzip2 data; pack it by gzip or zstd"},
        {"\xfd"
         "7zXZ",
         5, "xz data; pack it by gzip or zstd"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (begins(bytes, size, kinds[i].bytes, kinds[i].size))
            return kinds[i].text;
    }
    size_t first = after_blanks(bytes, size, 0), second = after_blanks(bytes, size, first + 1);
    if (first < size && bytes[first] == '[')
        return second >= size || strchr("{[]\"", bytes[second]) != NULL
                   ? "a JSON array; write one object per line, as jq -c '.[]' does"
                   : "a log whose lines begin with a bracket, no JSON; write time and key of each line as "
                     "CSV";
    return is_scenario(bytes, size) ? "a scenario, not a trace; name a file of rows" : NULL;
}
