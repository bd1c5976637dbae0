/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the sizes of real partitions as the tools of Cassandra print them. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/text.h"
#include "trace_parts.h"
#include "workload/observed.h"

/* Cassandra's sizes are Java longs. The largest one, printed as a double, is 2^63. */
#define OBSERVED_SIZE_MAX   (UINT64_C(1) << 63)
#define COUNT(array)        (sizeof(array) / sizeof *(array))
#define OBSERVED_TABLES_MAX 8 /* the most tables that an error message lists */

struct observed_file {
    struct trace_reader reader;
    const char *wanted; /* the requested table; NULL: the file's only one */
    const _Atomic bool *stop;
    struct wl_observed *out;
    struct sim_error *error;
    struct trace_keys tables; /* those found so far */
};

#define FAIL(file, ...) trace_fail((file)->reader.path, (file)->reader.line, (file)->error, __VA_ARGS__)

/* The number of lines between two checks of the caller's stop flag. */
#define LINES_BETWEEN_LOOKS 4096

const char *wl_observed_format_name(enum wl_observed_format format)
{
    static const char *const names[] = {"auto", "sstablepartitions", "tablehistograms", "large_partitions"};
    return names[format];
}

/* A bar, or a comma without a space before it: the output of tablehistograms has spaces before its commas. */
static bool looks_like_csv(struct trace_span line)
{
    const char *comma = memchr(line.begin, ',', (size_t)(line.end - line.begin));
    if (memchr(line.begin, '|', (size_t)(line.end - line.begin)) != NULL)
        return true;
    return comma != NULL && memchr(line.begin, ' ', (size_t)(comma - line.begin)) == NULL;
}

static bool observed_begins(struct trace_span span, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(span.end - span.begin) >= size && memcmp(span.begin, text, size) == 0;
}

static struct trace_shown observed_show(struct trace_span span)
{
    return trace_show(span.begin, (size_t)(span.end - span.begin));
}

/* Reads the next line; *more is false at the end of the file. */
static bool observed_next(struct observed_file *file, struct trace_span *line, bool *more)
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
    *line = (struct trace_span){begin, begin == NULL ? NULL : begin + size};
    if (begin != NULL && memchr(begin, '\0', size) != NULL && !observed_begins(*line, "SQLite format 3"))
        return FAIL(file, "NUL byte; save the file as UTF-8 text");
    return true;
}

static bool intern(struct trace_keys *keys, const char *begin, const char *end, uint32_t *index)
{
    size_t size = (size_t)(end - begin);
    return trace_keys_intern(keys, begin, size, trace_keys_hash(begin, size), index);
}

/* Sets *is_wanted to whether the table is the requested one. When none was requested, a second table is an
 * error. */
static bool observed_table(struct observed_file *file, const char *name, size_t size, bool *is_wanted)
{
    uint32_t index;
    size_t first_size;
    *is_wanted = false;
    if (!intern(&file->tables, name, name + size, &index))
        return sim_fail_memory(file->error);
    *is_wanted = file->wanted == NULL ? index == 0
                                      : strlen(file->wanted) == size && memcmp(file->wanted, name, size) == 0;
    if (*is_wanted || file->wanted != NULL)
        return true;
    const char *first = trace_keys_bytes(&file->tables, 0, &first_size);
    return FAIL(file,
                "a second table, %s; name the one that you want, as in table: %.*s, or --table of import",
                trace_show(name, size).text, (int)first_size, first);
}

/* Fails with the error for a file that does not contain the requested table. */
static bool observed_fail_table(struct observed_file *file)
{
    char list[400] = "";
    size_t used = 0, size;
    for (uint32_t i = 0; i < file->tables.count && i < OBSERVED_TABLES_MAX && used + 64 < sizeof list; i++) {
        const char *name = trace_keys_bytes(&file->tables, i, &size);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i == 0 ? "" : ", ",
                                 size == 0   ? 18
                                 : size < 48 ? (int)size
                                             : 48,
                                 size == 0 ? "one without a name" : name);
    }
    return FAIL(file, "the file ends without table '%s'; it holds %s%s", file->wanted, list,
                file->tables.count >= OBSERVED_TABLES_MAX ? ", ..." : "");
}

/* A command with the prompt before it, or a prompt alone, as they are copied from a terminal. */
static bool observed_is_prompt(struct trace_span line)
{
    static const char *const commands[] = {"nodetool ", "sstablepartitions ", "cqlsh>", "cqlsh:", "```"};
    line = trace_trim(line.begin, line.end);
    for (const char *at = line.begin; at < line.end; at++) {
        for (size_t i = 0; i < COUNT(commands); i++) {
            if (observed_begins((struct trace_span){at, line.end}, commands[i]))
                return true;
        }
    }
    return line.begin < line.end && memchr("$#>%", line.end[-1], 4) != NULL;
}

static bool observed_is(struct trace_span span, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(span.end - span.begin) == size && memcmp(span.begin, text, size) == 0;
}

/* Parses a whole number of digits, at most OBSERVED_SIZE_MAX. The error names the column. */
static bool observed_whole(struct observed_file *file, const char *column, struct trace_span field,
                           uint64_t *out)
{
    if (field.begin == field.end)
        return FAIL(file, "%s is empty; write a whole number", column);
    if (!trace_whole(field, out))
        return FAIL(file, "%s '%s' is not a whole number; write digits alone, without separators", column,
                    observed_show(field).text);
    return *out <= OBSERVED_SIZE_MAX ||
           FAIL(file, "%s %s is above 2^63, which no Cassandra counts to; check the line", column,
                observed_show(field).text);
}

/* Reads what tells the sizes of a table's partitions line by line: the percentiles of tablehistograms, the
 * histograms of cfhistograms before Cassandra 2.1 and of sstablemetadata, whose buckets become the same seven
 * points, and tablestats, which has the largest size alone. */

#define HISTOGRAM_COLUMNS 5
#define FIGURES_SIZE      (HISTOGRAM_COLUMNS + 1)
#define BUCKETS_MAX       200

static const char *const point_names[WL_OBSERVED_POINTS] = {
    [WL_OBSERVED_MIN] = "Min", [WL_OBSERVED_P50] = "50%", [WL_OBSERVED_P75] = "75%",
    [WL_OBSERVED_P95] = "95%", [WL_OBSERVED_P98] = "98%", [WL_OBSERVED_P99] = "99%",
    [WL_OBSERVED_MAX] = "Max"};

struct figures {
    struct observed_file *file;
    bool is_strict; /* only the output of tablehistograms is expected */
    char keyspace[128];
    bool is_wanted, is_found;
    size_t size_column; /* of percentiles; 0: no headings were read */
    unsigned points;    /* bit p: point p was read */
    int column;         /* of the counts, in a table of buckets; 0: there is none */
    struct {
        uint64_t bound, count;
    } buckets[BUCKETS_MAX];
    size_t bucket_count;
    uint64_t largest;
};

static bool title_of(struct trace_span line, char *name, size_t size, size_t *length)
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

/* Removes the words, and the spaces around them, from the beginning of the line; false when the line does not
 * begin with them. */
static bool take(struct trace_span *line, const char *words)
{
    struct trace_span at = trace_trim(line->begin, line->end);
    if (!observed_begins(at, words))
        return false;
    at.begin += strlen(words);
    *line = at;
    return true;
}

/* Finds the column of the partition sizes by the headings, whose order differs between versions. */
static bool take_headings(struct figures *figures, struct trace_span line)
{
    static const char *const headings[HISTOGRAM_COLUMNS] = {"Partition Size", "SSTables", "Write Latency",
                                                            "Read Latency", "Cell Count"};
    struct trace_span at = line;
    size_t found = 0;
    figures->size_column = 0;
    figures->column = 0;
    take(&at, "Percentile");
    for (size_t i = 1; i <= HISTOGRAM_COLUMNS && found < HISTOGRAM_COLUMNS; i++) {
        for (found = 0; found < HISTOGRAM_COLUMNS && !take(&at, headings[found]); found++)
            ;
        figures->size_column = found == 0 ? i : figures->size_column;
    }
    return figures->size_column > 0 || !figures->is_strict ||
           FAIL(figures->file,
                "'%s' where the headings should be: Percentile, SSTables, Write Latency, Read "
                "Latency, Partition Size, Cell Count; save the output again",
                observed_show(line).text);
}

static size_t split_words(struct trace_span line, struct trace_span *words, size_t most)
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

/* Parses an amount of bytes such as 1234, 1234 bytes, 105.426MiB or 1.2 KiB; what follows is ignored. */
static bool read_amount(struct observed_file *file, struct trace_span text, uint64_t *out)
{
    static const char units[] = "KMGT";
    char copy[64], *end;
    snprintf(copy, sizeof copy, "%.*s", (int)(text.end - text.begin), text.begin);
    for (char *at = copy; *at != '\0'; at++)
        *at = *at == ',' ? '.' : *at;
    double amount = strtod(copy, &end);
    const char *unit = end == copy ? NULL : strchr(units, *(end += strspn(end, " ")) & ~0x20);
    if (unit != NULL && *unit != '\0')
        amount = ldexp(amount, 10 * (int)(unit - units + 1));
    if (end == copy || !(amount >= 0 && amount <= (double)OBSERVED_SIZE_MAX)) /* nan neither */
        return FAIL(file, "'%s' is not a size in bytes; save the output again", observed_show(text).text);
    *out = (uint64_t)amount;
    return true;
}

static bool check_order(struct observed_file *file)
{
    const uint64_t *points = file->out->points;
    for (size_t i = 1; i < WL_OBSERVED_POINTS; i++) {
        if (points[i] < points[i - 1])
            return FAIL(file, "the partition sizes do not rise from Min over 50%% to Max; check the figures");
    }
    return points[WL_OBSERVED_P50] > 0 ||
           FAIL(file, "a median partition size of 0, which is printed for a table without sstables; run "
                      "'nodetool flush' first");
}

/* The numbers of a table that was not requested may be NaN. */
static bool take_point(struct figures *figures, enum wl_observed_point point, const struct trace_span *words,
                       size_t count)
{
    struct observed_file *file = figures->file;
    if (!figures->is_wanted)
        return true;
    if (count != FIGURES_SIZE)
        return FAIL(file, "%zu figures after %s, but %d are needed; save the output again", count - 1,
                    point_names[point], HISTOGRAM_COLUMNS);
    if ((figures->points >> point & 1) != 0)
        return FAIL(file, "the table appears twice; give the output of one node, once");
    if (observed_is(words[figures->size_column], "NaN"))
        return FAIL(file, "the percentiles of the partition size are NaN: the table has no sstable, or "
                          "a partition too large for Cassandra's buckets; use sstablepartitions");
    figures->points |= 1u << point;
    return observed_whole(file, "Partition Size", words[figures->size_column], &file->out->points[point]) &&
           (figures->points != (1u << WL_OBSERVED_POINTS) - 1 || check_order(file));
}

/* Some versions print remarks among the numbers, and people copy their prompts. */
static bool is_remark(struct trace_span line)
{
    return observed_is_prompt(line) || observed_begins(line, "No SSTables exists") ||
           observed_begins(line, "Row sizes are larger than") ||
           observed_begins(line, "Column counts are larger than");
}

static bool take_bucket(struct figures *figures, uint64_t bound, uint64_t count)
{
    size_t at = 0;
    while (at < figures->bucket_count && figures->buckets[at].bound < bound)
        at++;
    if (count == 0 || !figures->is_wanted)
        return true;
    if (bound > OBSERVED_SIZE_MAX || count > OBSERVED_SIZE_MAX / BUCKETS_MAX)
        return FAIL(figures->file, "a number that no Cassandra counts to; check the line");
    if (at == figures->bucket_count || figures->buckets[at].bound != bound) {
        if (figures->bucket_count == BUCKETS_MAX)
            return FAIL(figures->file, "more than %d sizes; save the output again", BUCKETS_MAX);
        memmove(&figures->buckets[at + 1], &figures->buckets[at],
                (figures->bucket_count++ - at) * sizeof figures->buckets[0]);
        figures->buckets[at].bound = bound;
        figures->buckets[at].count = 0;
    }
    figures->buckets[at].count += count;
    return true;
}

/* The bounds grow by a fifth, so the smallest partition is above five sixths of its bucket's. */
static void set_points(const struct figures *figures, struct wl_observed *out)
{
    static const double shares[] = {
        [WL_OBSERVED_P50] = 0.5,  [WL_OBSERVED_P75] = 0.75, [WL_OBSERVED_P95] = 0.95,
        [WL_OBSERVED_P98] = 0.98, [WL_OBSERVED_P99] = 0.99, [WL_OBSERVED_MAX] = 1};
    uint64_t all = 0;
    for (size_t i = 0; i < figures->bucket_count; i++)
        all += figures->buckets[i].count;
    out->points[WL_OBSERVED_MIN] = figures->buckets[0].bound - (figures->buckets[0].bound + 5) / 6;
    for (enum wl_observed_point point = WL_OBSERVED_P50; point < WL_OBSERVED_POINTS; point++) {
        uint64_t sum = 0;
        size_t i = 0;
        while ((double)(sum += figures->buckets[i].count) < shares[point] * (double)all)
            i++;
        out->points[point] = figures->buckets[i].bound;
    }
}

static bool begin_table(struct figures *figures, const char *name, size_t size)
{
    figures->column = 0;
    figures->size_column = 0;
    if (!observed_table(figures->file, name, size, &figures->is_wanted))
        return false;
    figures->is_found = figures->is_found || figures->is_wanted;
    return true;
}

/* A line of a table of buckets: bound and counts, with words and signs around them. */
static bool take_row(struct figures *figures, struct trace_span line)
{
    uint64_t numbers[FIGURES_SIZE + 1];
    int count = 0;
    for (const char *at = line.begin; at < line.end && count <= FIGURES_SIZE; at++) {
        struct trace_span digits = {at, at};
        while (digits.end < line.end && *digits.end >= '0' && *digits.end <= '9')
            digits.end++;
        if (*at == '(') /* 35425 (34.6 KiB) | 1 (  0) */
            while (at + 1 < line.end && *at != ')')
                at++;
        else if (digits.end < line.end && *digits.end == '.' && digits.end > at)
            return FAIL(figures->file, "a size or count with decimals; save the output again");
        else if (trace_whole(digits, &numbers[count]))
            count++;
        at = digits.end > at ? digits.end - 1 : at;
    }
    if (count > figures->column)
        return take_bucket(figures, numbers[0], numbers[figures->column]);
    figures->column = 0; /* the table is over */
    return true;
}

static bool fail_begin(const struct figures *figures, struct trace_span line)
{
    return FAIL(figures->file,
                "'%s' where a table should begin; give the output of 'nodetool "
                "tablehistograms', in which this line is 'KEYSPACE/TABLE histograms'%s",
                observed_show(line).text,
                figures->file->tables.count > 0
                    ? ""
                    : ", or of 'sstablepartitions --csv', with commas between columns");
}

static bool take_figure(struct figures *figures, struct trace_span line)
{
    static const char *const tables[] = {"Table: ", "Table (index): ", "Column Family: "};
    static const char *const largest[] = {"Compacted partition maximum bytes: ",
                                          "Compacted row maximum size: "};
    static const struct {
        const char *begin;
        int column; /* of the counts */
    } headings[] = {{"Partition Size", 1}, {"Row Size", 1}, {"Row sizes", 1},
                    {"Size (bytes)", 1},   {"Count ", 1},   {"Offset ", 4}};
    struct trace_span words[FIGURES_SIZE + 1];
    char name[256];
    size_t size;
    uint64_t bytes;
    if (title_of(line, name, sizeof name, &size))
        return begin_table(figures, name, size);
    if (observed_begins(line, "Percentile") && figures->file->tables.count > 0)
        return take_headings(figures, line);
    const size_t count = figures->size_column > 0 ? split_words(line, words, FIGURES_SIZE + 1) : 0;
    for (enum wl_observed_point point = 0; count > 0 && point < WL_OBSERVED_POINTS; point++) {
        if (observed_is(words[0], point_names[point]))
            return take_point(figures, point, words, count);
    }
    if (figures->is_strict)
        return line.begin == line.end || is_remark(line) || *line.begin == '(' || fail_begin(figures, line);
    if (observed_begins(line, "SSTable: ") && figures->file->tables.count == 0)
        return begin_table(figures, "", 0);
    for (size_t i = 0; i < COUNT(tables); i++) {
        struct trace_span rest = line;
        if (take(&rest, tables[i])) {
            rest = trace_trim(rest.begin, rest.end);
            size = (size_t)snprintf(name, sizeof name, "%s.%.*s", figures->keyspace,
                                    (int)(rest.end - rest.begin), rest.begin);
            return begin_table(figures, name, size < sizeof name ? size : sizeof name - 1);
        }
    }
    if (observed_begins(line, "Keyspace")) {
        const char *colon = memchr(line.begin, ':', (size_t)(line.end - line.begin));
        struct trace_span rest = trace_trim(colon == NULL ? line.end : colon + 1, line.end);
        snprintf(figures->keyspace, sizeof figures->keyspace, "%.*s", (int)(rest.end - rest.begin),
                 rest.begin);
    }
    for (size_t i = 0; i < COUNT(largest); i++) {
        struct trace_span rest = line;
        if (!take(&rest, largest[i]))
            continue;
        if (!read_amount(figures->file, trace_trim(rest.begin, rest.end), &bytes))
            return false;
        figures->largest = figures->is_wanted ? bytes : figures->largest;
    }
    for (size_t i = 0; i < COUNT(headings); i++) {
        if (observed_begins(line, headings[i].begin)) {
            figures->column = headings[i].column;
            return true;
        }
    }
    bool is_row = line.begin < line.end && *line.begin >= '0' && *line.begin <= '9';
    if (is_row && figures->column > 0)
        return take_row(figures, line);
    if (!observed_begins(line, "(")) /* the units of the columns */
        figures->column = 0;
    return true;
}

static bool put_largest(struct figures *figures)
{
    struct wl_observed *out = figures->file->out;
    out->format = WL_OBSERVED_LARGEST;
    out->partitions = calloc(1, sizeof *out->partitions);
    if (out->partitions == NULL)
        return sim_fail_memory(figures->file->error);
    out->partitions[out->partition_count++].bytes = figures->largest;
    out->pieces = 1;
    out->largest_bytes = (struct wl_observed_largest){.key = "(not named)", .size = figures->largest};
    return true;
}

static bool observed_figures_read(struct observed_file *file, bool is_strict, struct trace_span first)
{
    struct figures figures = {.file = file, .is_strict = is_strict};
    struct trace_span line = trace_trim(first.begin, first.end);
    for (bool more = true; more;) {
        if (!take_figure(&figures, line) || !observed_next(file, &line, &more))
            return false;
        line = more ? trace_trim(line.begin, line.end) : line;
    }
    file->out->format = WL_OBSERVED_PERCENTILES;
    if (figures.bucket_count > 0) {
        set_points(&figures, file->out);
        return check_order(file);
    }
    for (enum wl_observed_point point = 0; figures.points > 0 && point < WL_OBSERVED_POINTS; point++) {
        if ((figures.points >> point & 1) == 0)
            return FAIL(file, "the line of %s is missing; save the output again", point_names[point]);
    }
    if (figures.points > 0)
        return true;
    if (figures.largest > 0)
        return put_largest(&figures);
    if (file->wanted != NULL && file->tables.count > 0 && !figures.is_found)
        return observed_fail_table(file);
    return FAIL(
        file, file->tables.count > 0
                  ? "no sizes of partitions in it, as of a table without sstables; run 'nodetool flush' first"
                  : "no table in it; give the output of 'nodetool tablehistograms'");
}

/* Reads the CSV of sstablepartitions, or rows of ScyllaDB's system.large_partitions, as CSV or with bars as
 * cqlsh prints them. The header names the columns, and later versions may add some. Only the key is quoted,
 * and its contents are not escaped (a key with a space has a second pair of quotes), so the key ends at the
 * first quote after which the other columns follow. */

#define COLUMNS_MAX    64
#define LOG_WRITING    "Writing large partition "
#define LOG_COMPACTING "Compacting large "
#define LOG_GUARDRAIL  "Guardrail partition_size violated"
#define TABLE_SIZE_MAX 512

enum column {
    KEY,
    KEY_BINARY,
    SIZE,
    ROWS,
    DIRECTORY,
    KEYSPACE,
    TABLE,
    INDEX,
    SNAPSHOT,
    BACKUP,
    GENERATION,
    PLAIN, /* does not tell partitions apart */
    COLUMNS
};
/* The names in sstablepartitions, and in large_partitions. Upper case, spaces and underscores do not matter.
 */
static const char *const column_names[COLUMNS] = {
    [KEY] = "key partition_key",
    [KEY_BINARY] = "keyBinary",
    [SIZE] = "size partition_size",
    [ROWS] = "rowCount rows",
    [DIRECTORY] = "directory",
    [KEYSPACE] = "keyspace keyspace_name",
    [TABLE] = "table table_name",
    [INDEX] = "index",
    [SNAPSHOT] = "snapshot",
    [BACKUP] = "backup",
    [GENERATION] = "generation sstable_name",
    [PLAIN] =
        "live offset cellCount tombstoneCount rowTombstoneCount rangeTombstoneCount complexTombstoneCount "
        "cellTombstoneCount rowTtlExpired cellTtlExpired format version compaction_time range_tombstones "
        "dead_rows"};

struct csv {
    struct observed_file *file;
    size_t column_count;
    int places[COLUMNS];             /* -1: there is none */
    uint64_t foreign;                /* bit j: column j has no name that is known */
    struct trace_shown foreign_name; /* of the first one */
    char delimiter;  /* a comma or a bar; 0: lines of a log, or of sstablepartitions without --csv */
    char title[256]; /* of those: the sstable that is being listed */
    uint64_t all;    /* and the number of all partitions, listed or not */
    bool is_log;
    struct trace_span fields[COLUMNS_MAX];
    struct trace_keys keys, sstables;
    uint32_t *sstable_of; /* the sstable of each partition's last piece */
    size_t partition_capacity, sstable_capacity;
    struct wl_observed_largest largest_any; /* the largest in bytes, including partitions without rows */
    struct trace_keys seen[3];              /* snapshots, backups and places */
};

/* Splits a line at its delimiters, of whose fields the first COLUMNS_MAX are stored, with their quotes. A
 * quote that is not closed, or not before a delimiter, is text. Returns the number of fields. */
static size_t split(struct csv *csv, struct trace_span line)
{
    for (size_t count = 0;; count++) {
        const char *at = line.begin;
        if (csv->delimiter == ',' && at < line.end && *at == '"') {
            do
                at = memchr(at + 1, '"', (size_t)(line.end - at - 1));
            while (at != NULL && at + 1 < line.end && at[1] != ',');
            at = at == NULL ? line.begin : at;
        }
        const char *end = memchr(at, csv->delimiter, (size_t)(line.end - at));
        if (count < COLUMNS_MAX)
            csv->fields[count] = trace_trim(line.begin, end == NULL ? line.end : end);
        if (end == NULL)
            return count + 1;
        line.begin = end + 1;
    }
}

/* Removes the quotes around a field, but keeps doubled quotes. */
static void unquote(struct trace_span *field)
{
    bool is_quoted = field->end - field->begin > 1 && *field->begin == '"' && field->end[-1] == '"';
    field->begin += is_quoted;
    field->end -= is_quoted;
}

/* Whether a field is the first word of `name`. */
static bool is_named(struct trace_span field, const char *name)
{
    for (const char *at = field.begin;; at++, name++) {
        while (at < field.end && (*at == '_' || *at == ' '))
            at++;
        name += *name == '_';
        if (at == field.end || *name == '\0' || *name == ' ')
            return at == field.end && (*name == '\0' || *name == ' ');
        if (trace_lower(*at) != trace_lower(*name))
            return false;
    }
}

static enum column column_of(struct trace_span field)
{
    for (enum column column = 0; column < COLUMNS; column++) {
        for (const char *name = column_names[column]; *name != '\0';
             name += strcspn(name, " "), name += *name == ' ') {
            if (is_named(field, name))
                return column;
        }
    }
    return COLUMNS;
}

static bool find_columns(struct csv *csv)
{
    for (size_t i = 0; i < COLUMNS; i++)
        csv->places[i] = -1;
    for (size_t j = 0; j < csv->column_count; j++) {
        const struct trace_span field = csv->fields[j];
        const enum column column = column_of(field);
        if (column == COLUMNS) {
            csv->foreign_name = csv->foreign == 0 ? observed_show(field) : csv->foreign_name;
            csv->foreign |= UINT64_C(1) << j;
        }
        if (column >= PLAIN)
            continue;
        if (csv->places[column] >= 0)
            return FAIL(csv->file, "column '%s' appears twice in the header; remove one of them",
                        observed_show(field).text);
        csv->places[column] = (int)j;
        if (is_named(field, "partition_size") || is_named(field, "sstable_name"))
            csv->file->out->format = WL_OBSERVED_LARGEST;
    }
    return true;
}

static bool read_header(struct csv *csv, struct trace_span header)
{
    struct observed_file *file = csv->file;
    csv->delimiter = memchr(header.begin, '|', (size_t)(header.end - header.begin)) != NULL ? '|' : ',';
    csv->column_count = split(csv, header);
    if (csv->column_count > COLUMNS_MAX)
        return FAIL(file,
                    "%zu columns in the header, where the tool has 23; give the output of "
                    "'sstablepartitions --csv --min-size 0'",
                    csv->column_count);
    for (size_t i = 0; i < csv->column_count; i++)
        unquote(&csv->fields[i]);
    if (!find_columns(csv))
        return false;
    bool has_key = csv->places[KEY] >= 0 || csv->places[KEY_BINARY] >= 0;
    if (csv->column_count > 0 && csv->places[SIZE] >= 0 && has_key)
        return true;
    return FAIL(file,
                "unknown header '%s'; give the output of 'sstablepartitions --csv --min-size "
                "0', which begins with key,keyBinary,live,offset,size",
                observed_show(header).text);
}

static struct trace_span field_of(const struct csv *csv, enum column column)
{
    const struct trace_span none = {"", ""};
    return csv->places[column] < 0 ? none : csv->fields[csv->places[column]];
}

/* Splits a line into the columns of the header. Of the tool's columns only the key is quoted, and its
 * contents are not escaped, so the fields beyond the number of columns belong to a quoted key. */
static bool split_line(struct csv *csv, struct trace_span line)
{
    struct observed_file *file = csv->file;
    struct trace_span *fields = csv->fields;
    const size_t count = csv->column_count, found = split(csv, line);
    const size_t key = (size_t)csv->places[csv->places[KEY] >= 0 ? KEY : KEY_BINARY];
    bool has_binary = csv->places[KEY_BINARY] >= 0,
         is_quoted = key < found && fields[key].begin < fields[key].end && *fields[key].begin == '"';
    if (is_quoted && (found < count || found > COLUMNS_MAX))
        return FAIL(file,
                    "the key is not followed by %zu columns as in the header; leave out a key with a line "
                    "break by sstablepartitions -x",
                    count - 1 - key);
    if (found < count || (found > count && !is_quoted))
        return FAIL(file, "%zu column%s where the header has %zu; check the line, or save the output again",
                    found, found == 1 ? "" : "s", count);
    fields[key].end = fields[key + found - count].end;
    memmove(&fields[key + 1], &fields[key + found - count + 1], (count - key - 1) * sizeof *fields);
    for (size_t i = 0; i < count; i++)
        unquote(&csv->fields[i]);
    if (has_binary && !trace_has_only(field_of(csv, KEY_BINARY), "0123456789abcdefABCDEF"))
        return FAIL(file, "keyBinary '%s' is not hexadecimal; save the output again",
                    observed_show(field_of(csv, KEY_BINARY)).text);
    return true;
}

/* The partitions of an index are treated as those of a separate table. */
static bool check_table(struct csv *csv, bool *is_wanted)
{
    static const enum column parts[] = {KEYSPACE, TABLE, INDEX};
    char name[TABLE_SIZE_MAX];
    size_t used = 0;
    for (size_t i = 0; i < COUNT(parts); i++) {
        const struct trace_span part = field_of(csv, parts[i]);
        if (part.begin < part.end)
            used += (size_t)snprintf(name + used, sizeof name - used, "%s%.*s", used > 0 ? "." : "",
                                     (int)(part.end - part.begin), part.begin);
        if (used >= sizeof name)
            return FAIL(csv->file, "'%s' is too long for the name of a table; check the line",
                        observed_show(part).text);
    }
    return observed_table(csv->file, name, used, is_wanted);
}

/* The part of an sstable's path that tells tables apart: without a table's name the folder, else TABLE-ID,
 * since a table that was dropped and created again leaves sstables of both. Empty: there is none. */
static struct trace_span place_of(const struct csv *csv)
{
    struct trace_span path = field_of(csv, DIRECTORY), table = field_of(csv, TABLE);
    size_t size = (size_t)(table.end - table.begin);
    const char *from = path.begin;
    for (const char *at = path.begin; at < path.end; at++) {
        if (*at != '/')
            continue;
        if (size > 0 && (size_t)(at - from) > size && memcmp(from, table.begin, size) == 0 &&
            from[size] == '-')
            return (struct trace_span){from, at};
        from = at + 1;
    }
    return (struct trace_span){path.begin, size == 0 && from > path.begin ? from - 1 : path.begin};
}

/* Refuses sstables of two tables, and a mixture of live sstables, snapshots and backups: these are copies,
 * whose sizes would be counted twice. */
static bool check_place(struct csv *csv)
{
    static const enum column columns[] = {SNAPSHOT, BACKUP, COLUMNS};
    for (size_t i = 0; i < COUNT(columns); i++) {
        struct trace_span text = columns[i] == COLUMNS ? place_of(csv) : field_of(csv, columns[i]);
        uint32_t index;
        size_t size;
        if (!intern(&csv->seen[i], text.begin, text.end, &index))
            return sim_fail_memory(csv->file->error);
        if (index > 0 && columns[i] != COLUMNS)
            return FAIL(csv->file,
                        "sstables of a snapshot or backup are copies of others in this input; give "
                        "only one of the two");
        const char *first = trace_keys_bytes(&csv->seen[i], 0, &size);
        if (index > 0)
            return FAIL(csv->file,
                        "an sstable of %s, after those of %s: these may be two tables; give the sstables of "
                        "one folder",
                        observed_show(text).text, trace_show(first, size).text);
    }
    return true;
}

/* Writes the key to `text` without the second pair of quotes that a key with a space has. Returns the number
 * of bytes. */
static size_t key_text(const struct csv *csv, char *text, size_t size)
{
    struct trace_span key = field_of(csv, KEY), binary = field_of(csv, KEY_BINARY);
    size_t used = 0, all = (size_t)(key.end - key.begin);
    if (all == 0 || sim_utf8_valid(key.begin, all) < all) {
        used = (size_t)snprintf(text, size, "0x%.*s", (int)(binary.end - binary.begin), binary.begin);
        return used < size ? used : size - 1;
    }
    bool is_quoted = all >= 2 && *key.begin == '"' && key.end[-1] == '"';
    const char *end = is_quoted ? key.end - 1 : key.end;
    for (const char *at = is_quoted ? key.begin + 1 : key.begin; at < end && used < size; at++) {
        text[used++] = *at;
        if (is_quoted && *at == '"' && at + 1 < end && at[1] == '"')
            at++;
    }
    return sim_utf8_valid(text, used);
}

/* Updates *largest. Sums never decrease, so the largest partition is found when its last piece is added. */
static void keep_largest(const struct csv *csv, size_t partition, uint64_t size,
                         struct wl_observed_largest *largest)
{
    bool is_larger = size > largest->size || (size == largest->size && partition < largest->partition);
    if (size == 0 || !is_larger)
        return;
    largest->size = size;
    largest->partition = partition;
    largest->key[key_text(csv, largest->key, sizeof largest->key - 1)] = '\0';
}

/* Writes what tells apart the pieces of a partition: the name of the sstable without its folder, since a node
 * gives a number only once; without a column for it the columns whose meaning is not known. Returns the
 * number of bytes. */
static size_t piece_of(const struct csv *csv, char *text, size_t size)
{
    int from = csv->places[DIRECTORY], to = csv->places[GENERATION];
    uint64_t columns = to < 0 ? csv->foreign : UINT64_C(1) << to;
    size_t used = 0;
    if (to >= 0 && from >= 0)
        columns |= UINT64_C(1) << from;
    for (size_t j = 0; j < csv->column_count; j++) {
        struct trace_span field = csv->fields[j];
        for (const char *at = field.begin; (int)j == from && at < field.end; at++)
            field.begin = *at == '/' ? at + 1 : field.begin;
        if ((columns >> j & 1) != 0)
            used += (size_t)snprintf(text + used, size - used, "%.*s,", (int)(field.end - field.begin),
                                     field.begin);
        used = used < size ? used : size - 1;
    }
    return used;
}

/* Fails when an sstable has a partition twice, which means that an sstable was listed twice, or that sstables
 * of several replicas are mixed; and when lines with the same key differ in a column whose meaning is not
 * known, which may be the table. */
static bool check_twice(struct csv *csv, uint32_t partition, bool is_new)
{
    char piece[TABLE_SIZE_MAX];
    const size_t size = piece_of(csv, piece, sizeof piece);
    const bool has_sstable = csv->places[GENERATION] >= 0;
    uint32_t number;
    if (!intern(&csv->sstables, piece, piece + size, &number))
        return sim_fail_memory(csv->file->error);
    const bool is_same = !is_new && csv->sstable_of[partition] == number;
    csv->file->out->merged += is_same && !has_sstable;
    csv->sstable_of[partition] = number;
    if (is_same && has_sstable)
        return FAIL(csv->file, "this partition was in the same sstable before; give each sstable "
                               "once, and only those of one node, because replicas hold the same partitions");
    if (is_new || is_same || has_sstable)
        return true;
    return FAIL(csv->file,
                "the key of a line before, but another '%s', which has no meaning here; name this "
                "column 'table' or 'generation' (the sstable), or remove it to add the sizes up",
                csv->foreign_name.text);
}

/* Lines that name a partition: of sstablepartitions, and of the logs of Cassandra and ScyllaDB. */
static const char *const line_forms[] = {
    "Partition: '{key}' ({keyBinary}) {live}, size: {size}, rows: {rowCount}, {version}",
    "Partition: '{key}' ({keyBinary}) {live}, size: {size}",
    "{live}" LOG_WRITING "{keyspace}/{table}:{key} ({size}) to {generation}",
    "{live}" LOG_WRITING "{keyspace}/{table}:{key} ({size} to {generation}",
    "{live}" LOG_WRITING "{keyspace}/{table}:{key} ({size})",
    "{live}" LOG_WRITING "{keyspace}/{table}: ({size}) to {generation}",
    "{live}" LOG_COMPACTING "{version} {keyspace}/{table}:{key} ({size}) incrementally",
    "{live}" LOG_COMPACTING "{version} {keyspace}/{table}:{key} ({size})",
    "{live}" LOG_GUARDRAIL
    ": Partition {keyspace}.{table}:{key} on sstable {generation} has size {size}, {version}"};

static bool take_named(void *target, struct trace_span name, struct trace_span field)
{
    struct csv *csv = target;
    enum column column = column_of(name);
    if (column < PLAIN)
        csv->fields[column] = field;
    return true;
}

/* Sets the fields, and which of them there are, from a line; *is_row is false when it names no partition. */
static bool read_form(struct csv *csv, struct trace_span line, bool *is_row)
{
    struct trace_span words[3];
    size_t i = 0;
    line = trace_trim(line.begin, line.end);
    *is_row = false;
    if (take(&line, "Processing ")) {
        snprintf(csv->title, sizeof csv->title, "%.*s", (int)(line.end - line.begin), line.begin);
        return true;
    }
    if (split_words(line, words, 3) == 2 && observed_is(words[0], "count")) {
        uint64_t count;
        csv->all += trace_whole(words[1], &count) ? count : 0;
        return true;
    }
    for (; i < COUNT(line_forms) && !*is_row; i++) {
        memset(csv->fields, 0, COLUMNS * sizeof *csv->fields);
        *is_row = csv_split_line(line_forms[i], line.begin, line.end, take_named, csv);
    }
    if (!*is_row)
        return true;
    csv->is_log = csv->fields[KEY_BINARY].begin == NULL;
    csv->column_count = COLUMNS;
    if (csv->is_log) {
        if (csv->fields[KEY].begin == csv->fields[KEY].end)
            csv->fields[KEY] = csv->fields[GENERATION];
        csv->file->out->format = WL_OBSERVED_LARGEST;
    } else {
        const size_t point = strcspn(csv->title, "."), table = strcspn(csv->title + point, "- ");
        const bool is_named = csv->title[point] == '.';
        csv->fields[GENERATION] = (struct trace_span){csv->title, csv->title + strlen(csv->title)};
        csv->fields[KEYSPACE] = (struct trace_span){csv->title, csv->title + (is_named ? point : 0)};
        csv->fields[TABLE] =
            (struct trace_span){csv->title + point + is_named, csv->title + point + (is_named ? table : 0)};
    }
    for (enum column column = 0; column < COLUMNS; column++)
        csv->places[column] = csv->fields[column].begin == NULL ? -1 : (int)column;
    return true;
}

static bool add_piece(struct csv *csv, uint64_t bytes, uint64_t rows)
{
    struct wl_observed *out = csv->file->out;
    struct trace_span key = field_of(csv, csv->places[KEY_BINARY] >= 0 ? KEY_BINARY : KEY);
    const size_t count = out->partition_count + 1;
    uint32_t partition;
    if (!sim_grow(&out->partitions, &csv->partition_capacity, count, sizeof *out->partitions) ||
        !sim_grow(&csv->sstable_of, &csv->sstable_capacity, count, sizeof *csv->sstable_of) ||
        !intern(&csv->keys, key.begin, key.end, &partition))
        return sim_fail_memory(csv->file->error);
    bool is_new = partition == out->partition_count;
    if (is_new)
        out->partitions[out->partition_count++] = (struct wl_observed_partition){0};
    if (!csv->is_log && !check_twice(csv, partition, is_new))
        return false;
    struct wl_observed_partition *sum = &out->partitions[partition];
    if (csv->is_log) /* each compaction writes a partition again: its size is the largest of them */
        bytes = bytes > sum->bytes ? bytes - sum->bytes : 0;
    if (bytes > OBSERVED_SIZE_MAX - sum->bytes || rows > OBSERVED_SIZE_MAX - sum->rows)
        return FAIL(csv->file, "the pieces of this partition add up to more than 2^63; check the line");
    sum->bytes += bytes;
    sum->rows += rows;
    keep_largest(csv, partition, sum->bytes, &csv->largest_any);
    keep_largest(csv, partition, sum->rows, &out->largest_rows);
    if (sum->rows > 0)
        keep_largest(csv, partition, sum->bytes, &out->largest_bytes);
    out->pieces++;
    out->has_rows = out->has_rows || rows > 0;
    return true;
}

/* Splits a line below a header; *is_row is false between the rows of cqlsh and after them, where it prints a
 * rule, empty lines, "(2 rows)", "---MORE---", and its prompt. */
static bool read_columns(struct csv *csv, struct trace_span line, bool *is_row)
{
    const size_t size = (size_t)(line.end - line.begin);
    *is_row = csv->delimiter != '|' || memchr(line.begin, '|', size) != NULL;
    if (!*is_row)
        return true;
    return size == 0 ? FAIL(csv->file, "empty line; remove it") : split_line(csv, line);
}

/* A log's line has a size with a unit, as sstablepartitions prints it without --csv. */
static bool read_line(struct csv *csv, struct trace_span line)
{
    struct observed_file *file = csv->file;
    const bool is_form = csv->delimiter == '\0';
    uint64_t bytes, rows = 0;
    bool is_wanted, is_row;
    if (!(is_form ? read_form : read_columns)(csv, line, &is_row))
        return false;
    if (!is_row)
        return true;
    const struct trace_span size = field_of(csv, SIZE);
    if (size.begin<size.end && * size.begin> '9' && column_of(size) == SIZE)
        return FAIL(file, "a second header; remove it when joining outputs, and join only those of "
                          "one node, because replicas hold the same partitions");
    if (!check_table(csv, &is_wanted))
        return false;
    if (!is_wanted)
        return true;
    if (!check_place(csv) ||
        !(is_form ? read_amount(file, size, &bytes) : observed_whole(file, "size", size, &bytes)))
        return false;
    if (csv->places[ROWS] >= 0 &&
        !observed_whole(file, is_form ? "rows" : "rowCount", field_of(csv, ROWS), &rows))
        return false;
    if (bytes == 0)
        return FAIL(file, "size is 0, and a partition takes at least a byte; check the line");
    return add_piece(csv, bytes, rows);
}

static bool read_lines(struct csv *csv)
{
    struct observed_file *file = csv->file;
    struct wl_observed *out = file->out;
    struct trace_span line;
    bool more = true, is_fine = true;
    while (is_fine && (is_fine = observed_next(file, &line, &more)) && more)
        is_fine = read_line(csv, line);
    if (!is_fine)
        return false;
    if (!out->has_rows)
        out->largest_bytes = csv->largest_any;
    if (csv->all > out->pieces) /* only those above a threshold are listed */
        out->format = WL_OBSERVED_LARGEST;
    if (out->partition_count > 0)
        return true;
    if (file->wanted != NULL && file->tables.count > 0)
        return observed_fail_table(file);
    return FAIL(file, "no partition below the header; sstablepartitions prints only partitions "
                      "above a threshold, so give it --min-size 0");
}

/* Each takes the first line that is not empty, which has been read, and reads the rest of the file. */
static bool observed_partitions_read(struct observed_file *file, bool is_form, struct trace_span header)
{
    struct csv csv = {.file = file};
    bool is_fine = (is_form ? read_line : read_header)(&csv, header) && read_lines(&csv);
    trace_keys_free(&csv.keys);
    trace_keys_free(&csv.sstables);
    free(csv.sstable_of);
    for (size_t i = 0; i < 3; i++)
        trace_keys_free(&csv.seen[i]);
    return is_fine;
}

/* Reads the first line that is neither empty (the output of tablehistograms may begin with an empty line) nor
 * a command. */
static bool first_line(struct observed_file *file, struct trace_span *line)
{
    bool more = true;
    do {
        if (!observed_next(file, line, &more))
            return false;
    } while (more && (line->begin == line->end || observed_is_prompt(*line)));
    if (more)
        return true;
    file->reader.line = 1;
    return FAIL(file, "nothing in it; save the output of 'sstablepartitions --csv --min-size 0', or "
                      "of 'nodetool tablehistograms', into it");
}

/* Refuses files that users may pass by mistake. */
static bool check_foreign(struct observed_file *file, struct trace_span line)
{
    static const struct {
        const char *begin, *what;
    } others[] = {
        {"timestamp_ms,", "a trace of rows, which goes under 'trace'"},
        {"label,state,unit,", "what 'bucketlab export' writes"},
        {"label,metric,", "what 'bucketlab export --metrics' writes"},
        {"proxy histograms", "nodetool proxyhistograms"},
        {"name:", "a scenario"},
        {"SQLite format 3", "a database"},
        {"@ Row ", "what cqlsh prints after EXPAND ON, so enter EXPAND OFF"},
        {"{", "JSON"},
        {"[", "JSON"},
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        if (observed_begins(line, others[i].begin))
            return FAIL(file,
                        "this is %s; give the output of 'sstablepartitions --csv --min-size 0', or of "
                        "'nodetool tablehistograms'",
                        others[i].what);
    }
    return true;
}

/* Whether the first part of the file has one of these texts. */
static bool has_text(struct observed_file *file, const char *const *texts, size_t count)
{
    size_t size;
    const char *bytes = trace_reader_peek(&file->reader, &size);
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(texts[i]);
        const char *at = bytes;
        while ((at = memchr(at, texts[i][0], (size_t)(bytes + size - at))) != NULL &&
               (size_t)(bytes + size - at) >= length) {
            if (memcmp(at++, texts[i], length) == 0)
                return true;
        }
    }
    return false;
}

static bool read_file(struct observed_file *file, enum wl_observed_format format)
{
    static const char *const logs[] = {LOG_WRITING, LOG_COMPACTING "row ", LOG_COMPACTING "partition ",
                                       LOG_GUARDRAIL};
    static const char *const figures[] = {"Compacted partition maximum bytes", "Compacted row maximum size",
                                          "\nSSTables per Read", "\nOffset "};
    struct trace_span line;
    bool is_form = format != WL_OBSERVED_PERCENTILES && has_text(file, logs, COUNT(logs));
    bool has_figures =
        format != WL_OBSERVED_PARTITIONS && !is_form && has_text(file, figures, COUNT(figures));
    if (!first_line(file, &line))
        return false;
    is_form = is_form || (format != WL_OBSERVED_PERCENTILES && observed_begins(line, "Processing "));
    has_figures = has_figures || observed_begins(line, "SSTable: ");
    if (!is_form && !has_figures && !check_foreign(file, line))
        return false;
    const bool is_csv = is_form || looks_like_csv(line);
    has_figures = has_figures && !looks_like_csv(line);
    if (has_figures || format == WL_OBSERVED_PERCENTILES || (format == WL_OBSERVED_AUTO && !is_csv))
        return observed_figures_read(file, !has_figures, line);
    file->out->format = format == WL_OBSERVED_AUTO ? WL_OBSERVED_PARTITIONS : format;
    return observed_partitions_read(file, is_form, line);
}

bool wl_observed_read(const char *path, enum wl_observed_format format, const char *table,
                      const _Atomic bool *stop, struct wl_observed *out, struct sim_error *error)
{
    struct observed_file file = {.wanted = table, .stop = stop, .out = out, .error = error};
    *out = (struct wl_observed){0};
    bool is_fine = trace_reader_open(path, "file", &file.reader, error) && read_file(&file, format);
    trace_reader_close(&file.reader);
    if (is_fine) {
        size_t size;
        const char *name = trace_keys_bytes(&file.tables, 0, &size);
        out->table = file.wanted != NULL ? strdup(file.wanted) : strndup(name, size);
        is_fine = out->table != NULL || sim_fail_memory(error);
    }
    trace_keys_free(&file.tables);
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
