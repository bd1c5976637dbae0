/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the CSV of sstablepartitions, or rows of ScyllaDB's system.large_partitions, as CSV or with bars as
 * cqlsh prints them. The header names the columns, and later versions may add some. Only the key is quoted,
 * and its contents are not escaped (a key with a space has a second pair of quotes), so the key ends at the
 * first quote after which the other columns follow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/text.h"
#include "observed.h"
#include "trace_keys.h"

#define COLUMNS_MAX    64
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
    COLUMNS
};
/* The names in sstablepartitions, and in large_partitions. Upper case, spaces and underscores do not matter.
 */
static const char *const column_names[COLUMNS][2] = {{"key", "partition_key"},
                                                     {"keyBinary"},
                                                     {"size", "partition_size"},
                                                     {"rowCount", "rows"},
                                                     {"directory"},
                                                     {"keyspace", "keyspace_name"},
                                                     {"table", "table_name"},
                                                     {"index"},
                                                     {"snapshot"},
                                                     {"backup"},
                                                     {"generation", "sstable_name"}};
/* Other columns of both, which do not tell partitions apart. */
static const char *const plain_names[] = {"live",
                                          "offset",
                                          "cellCount",
                                          "tombstoneCount",
                                          "rowTombstoneCount",
                                          "rangeTombstoneCount",
                                          "complexTombstoneCount",
                                          "cellTombstoneCount",
                                          "rowTtlExpired",
                                          "cellTtlExpired",
                                          "format",
                                          "version",
                                          "compaction_time",
                                          "range_tombstones",
                                          "dead_rows"};

struct csv {
    struct observed_file *file;
    char *header_bytes; /* a copy, since the reader's buffer changes */
    struct observed_span header;
    size_t column_count;
    int places[COLUMNS];               /* -1: there is none */
    uint64_t foreign;                  /* bit j: column j is in neither */
    struct observed_span foreign_name; /* of the first one */
    bool has_bars;                     /* columns are separated by bars */
    struct observed_span fields[COLUMNS_MAX];
    struct trace_keys keys, sstables;
    uint32_t *sstable_of; /* the sstable of each partition's last piece */
    size_t partition_capacity, sstable_capacity;
    struct wl_observed_largest largest_any; /* the largest in bytes, including partitions without rows */
    char *snapshot, *backup, *place;        /* of the first piece */
};

/* Splits a line at commas outside of quotes. The outer quotes are removed, but doubled quotes are kept.
 * Returns the number of fields, of which the first `most` are stored; 0 when a quote is not closed. */
static size_t split(struct observed_span line, struct observed_span *fields, size_t most)
{
    const char *at = line.begin;
    for (size_t count = 0;; at++) {
        struct observed_span field = {at, at};
        bool is_quoted = at < line.end && *at == '"';
        if (is_quoted) {
            field.begin = ++at;
            while (at < line.end && (*at != '"' || (at + 1 < line.end && at[1] == '"' && ++at < line.end)))
                at++;
            if (at == line.end)
                return 0;
            field.end = at++;
            if (at < line.end && *at != ',')
                return 0;
        } else {
            const char *comma = memchr(at, ',', (size_t)(line.end - at));
            at = field.end = comma == NULL ? line.end : comma;
        }
        if (count < most)
            fields[count] = field;
        count++;
        if (at == line.end)
            return count;
    }
}

/* Splits a line of cqlsh at its bars, and removes the spaces around each field. */
static size_t split_bars(struct observed_span line, struct observed_span *fields, size_t most)
{
    size_t count = 0;
    for (const char *at = line.begin;; at++) {
        const char *bar = memchr(at, '|', (size_t)(line.end - at));
        struct observed_span field = {at, bar == NULL ? line.end : bar};
        if (count < most)
            fields[count] = observed_trim(field);
        count++;
        if (bar == NULL)
            return count;
        at = bar;
    }
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool is_named(struct observed_span field, const char *name)
{
    for (const char *at = field.begin;; at++, name++) {
        while (at < field.end && (*at == '_' || *at == ' '))
            at++;
        name += *name == '_';
        if (at == field.end || *name == '\0')
            return at == field.end && *name == '\0';
        if (lower(*at) != lower(*name))
            return false;
    }
}

static enum column column_of(struct observed_span field)
{
    size_t i = 0;
    while (i < COLUMNS && !is_named(field, column_names[i][0]) &&
           (column_names[i][1] == NULL || !is_named(field, column_names[i][1])))
        i++;
    return (enum column)i;
}

static bool is_plain(struct observed_span field)
{
    size_t i = 0;
    while (i < sizeof plain_names / sizeof *plain_names && !is_named(field, plain_names[i]))
        i++;
    return i < sizeof plain_names / sizeof *plain_names;
}

static bool find_columns(struct csv *csv)
{
    for (size_t i = 0; i < COLUMNS; i++)
        csv->places[i] = -1;
    for (size_t j = 0; j < csv->column_count; j++) {
        enum column column = column_of(csv->fields[j]);
        if (column == COLUMNS && !is_plain(csv->fields[j])) {
            csv->foreign_name = csv->foreign == 0 ? csv->fields[j] : csv->foreign_name;
            csv->foreign |= UINT64_C(1) << j;
        }
        if (column == COLUMNS)
            continue;
        if (csv->places[column] >= 0)
            return observed_fail(csv->file, "column '%s' appears twice in the header; remove one of them",
                                 observed_show(csv->fields[j]).text);
        csv->places[column] = (int)j;
        /* Only large_partitions has these names. */
        if ((column == SIZE || column == GENERATION) && is_named(csv->fields[j], column_names[column][1]))
            csv->file->out->format = WL_OBSERVED_LARGEST;
    }
    return true;
}

static bool read_header(struct csv *csv, struct observed_span header)
{
    struct observed_file *file = csv->file;
    size_t size = (size_t)(header.end - header.begin);
    csv->header_bytes = malloc(size + 1);
    if (csv->header_bytes == NULL)
        return sim_fail_memory(file->error);
    memcpy(csv->header_bytes, header.begin, size);
    csv->header = (struct observed_span){csv->header_bytes, csv->header_bytes + size};
    csv->has_bars = memchr(header.begin, '|', size) != NULL;
    csv->column_count = (csv->has_bars ? split_bars : split)(csv->header, csv->fields, COLUMNS_MAX);
    if (csv->column_count > COLUMNS_MAX)
        return observed_fail(file,
                             "%zu columns in the header, where the tool has 23; give the output of "
                             "'sstablepartitions --csv --min-size 0'",
                             csv->column_count);
    if (!find_columns(csv))
        return false;
    bool has_key = csv->places[KEY] >= 0 || csv->places[KEY_BINARY] >= 0;
    if (csv->column_count > 0 && csv->places[SIZE] >= 0 && has_key)
        return true;
    return observed_fail(file,
                         "unknown header '%s'; give the output of 'sstablepartitions --csv --min-size "
                         "0', which begins with key,keyBinary,live,offset,size",
                         observed_show(header).text);
}

static bool is_hex(struct observed_span span)
{
    for (const char *at = span.begin; at < span.end; at++) {
        bool is_digit =
            (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f') || (*at >= 'A' && *at <= 'F');
        if (!is_digit)
            return false;
    }
    return span.begin < span.end;
}

static struct observed_span field_of(const struct csv *csv, enum column column)
{
    const struct observed_span none = {"", ""};
    return csv->places[column] < 0 ? none : csv->fields[csv->places[column]];
}

static bool split_line(struct csv *csv, struct observed_span line)
{
    struct observed_file *file = csv->file;
    size_t count = csv->column_count, found = 0;
    bool has_binary = csv->places[KEY_BINARY] >= 0;
    if (csv->places[KEY] != 0 || csv->has_bars || *line.begin != '"') {
        found = (csv->has_bars ? split_bars : split)(line, csv->fields, COLUMNS_MAX);
    } else {
        const char *quote = line.begin;
        csv->fields[0].begin = line.begin + 1;
        while (found != count && (quote = memchr(quote + 1, '"', (size_t)(line.end - quote - 1))) != NULL) {
            const struct observed_span rest = {quote + 2, line.end};
            if (quote + 1 == line.end || quote[1] != ',')
                continue;
            csv->fields[0].end = quote;
            found = 1 + split(rest, csv->fields + 1, COLUMNS_MAX - 1);
            if (found == count && has_binary && !is_hex(field_of(csv, KEY_BINARY)))
                found = 0;
        }
        if (found != count)
            return observed_fail(file,
                                 "the key is not followed by %zu columns as in the header; leave out a key "
                                 "with a line break by sstablepartitions -x",
                                 count - 1);
    }
    if (found != count)
        return observed_fail(file,
                             "%zu column%s where the header has %zu; check the line, or save the output "
                             "again",
                             found, found == 1 ? "" : "s", count);
    if (has_binary && !is_hex(field_of(csv, KEY_BINARY)))
        return observed_fail(file, "keyBinary '%s' is not hexadecimal; save the output again",
                             observed_show(field_of(csv, KEY_BINARY)).text);
    return true;
}

/* The partitions of an index are treated as those of a separate table. */
static bool check_table(struct csv *csv, bool *is_wanted)
{
    static const enum column parts[] = {KEYSPACE, TABLE, INDEX};
    char name[TABLE_SIZE_MAX];
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct observed_span part = field_of(csv, parts[i]);
        size_t size = (size_t)(part.end - part.begin);
        if (size == 0)
            continue;
        if (used + size + 1 > sizeof name)
            return observed_fail(csv->file, "%s '%s' is too long for a name; check the line",
                                 column_names[parts[i]][0], observed_show(part).text);
        if (used > 0)
            name[used++] = '.';
        memcpy(name + used, part.begin, size);
        used += size;
    }
    return observed_table(csv->file, name, used, is_wanted);
}

/* Keeps the first text, and sets *is_same to whether another is equal to it. */
static bool compare_first(struct csv *csv, char **first, struct observed_span text, bool *is_same)
{
    size_t size = (size_t)(text.end - text.begin);
    *is_same = false;
    if (*first == NULL) {
        *first = malloc(size + 1);
        if (*first == NULL)
            return sim_fail_memory(csv->file->error);
        memcpy(*first, text.begin, size);
        (*first)[size] = '\0';
    }
    *is_same = observed_is(text, *first);
    return true;
}

/* The part of an sstable's path that tells tables apart: without a table's name the folder, else TABLE-ID,
 * since a table that was dropped and created again leaves sstables of both. Empty: there is none. */
static struct observed_span place_of(const struct csv *csv)
{
    struct observed_span path = field_of(csv, DIRECTORY), table = field_of(csv, TABLE);
    size_t size = (size_t)(table.end - table.begin);
    const char *from = path.begin;
    for (const char *at = path.begin; at < path.end; at++) {
        if (*at != '/')
            continue;
        if (size > 0 && (size_t)(at - from) > size && memcmp(from, table.begin, size) == 0 &&
            from[size] == '-')
            return (struct observed_span){from, at};
        from = at + 1;
    }
    return (struct observed_span){path.begin, size == 0 && from > path.begin ? from - 1 : path.begin};
}

/* Refuses sstables of two tables, and a mixture of live sstables, snapshots and backups: these are copies,
 * whose sizes would be counted twice. */
static bool check_place(struct csv *csv)
{
    bool is_snapshot, is_backup, is_place;
    struct observed_span place = place_of(csv);
    if (!compare_first(csv, &csv->snapshot, field_of(csv, SNAPSHOT), &is_snapshot) ||
        !compare_first(csv, &csv->backup, field_of(csv, BACKUP), &is_backup) ||
        !compare_first(csv, &csv->place, place, &is_place))
        return false;
    if (!is_snapshot || !is_backup)
        return observed_fail(csv->file,
                             "sstables of a snapshot or backup are copies of others in this input; "
                             "give only one of the two");
    if (is_place)
        return true;
    const struct observed_span first = {csv->place, csv->place + strlen(csv->place)};
    return observed_fail(
        csv->file,
        "an sstable of %s, after those of %s: these may be two tables; give the sstables of one "
        "folder",
        observed_show(place).text, observed_show(first).text);
}

/* Writes the key to `text` without the second pair of quotes that a key with a space has. Returns the number
 * of bytes. */
static size_t key_text(const struct csv *csv, char *text, size_t size)
{
    struct observed_span key = field_of(csv, KEY), binary = field_of(csv, KEY_BINARY);
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

static bool intern(struct trace_keys *keys, const char *begin, const char *end, uint32_t *index)
{
    size_t size = (size_t)(end - begin);
    return trace_keys_intern(keys, begin, size, trace_keys_hash(begin, size), index);
}

static bool reserve(struct csv *csv)
{
    struct wl_observed *out = csv->file->out;
    size_t count = out->partition_count + 1;
    return sim_grow(&out->partitions, &csv->partition_capacity, count, sizeof *out->partitions) &&
           sim_grow(&csv->sstable_of, &csv->sstable_capacity, count, sizeof *csv->sstable_of);
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
        struct observed_span field = csv->fields[j];
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
        return observed_fail(csv->file,
                             "this partition was in the same sstable before; give each sstable "
                             "once, and only those of one node, because replicas hold the same partitions");
    if (is_new || is_same || has_sstable)
        return true;
    return observed_fail(csv->file,
                         "the key of a line before, but another '%s', which has no meaning here; name this "
                         "column 'table' or 'generation' (the sstable), or remove it to add the sizes up",
                         observed_show(csv->foreign_name).text);
}

static bool add_piece(struct csv *csv, uint64_t bytes, uint64_t rows)
{
    struct wl_observed *out = csv->file->out;
    struct observed_span key = field_of(csv, csv->places[KEY_BINARY] >= 0 ? KEY_BINARY : KEY);
    uint32_t partition;
    if (!reserve(csv) || !intern(&csv->keys, key.begin, key.end, &partition))
        return sim_fail_memory(csv->file->error);
    bool is_new = partition == out->partition_count;
    if (is_new)
        out->partitions[out->partition_count++] = (struct wl_observed_partition){0};
    if (!check_twice(csv, partition, is_new))
        return false;
    struct wl_observed_partition *sum = &out->partitions[partition];
    if (bytes > OBSERVED_SIZE_MAX - sum->bytes || rows > OBSERVED_SIZE_MAX - sum->rows)
        return observed_fail(csv->file,
                             "the pieces of this partition add up to more than 2^63; check the line");
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

/* What cqlsh prints between rows and after them: a rule, empty lines, "(2 rows)", "---MORE---", and its
 * prompt. */
static bool is_frame(struct observed_span line)
{
    return memchr(line.begin, '|', (size_t)(line.end - line.begin)) == NULL;
}

static bool read_line(struct csv *csv, struct observed_span line)
{
    struct observed_file *file = csv->file;
    size_t header_size = (size_t)(csv->header.end - csv->header.begin);
    uint64_t bytes, rows = 0;
    bool is_wanted;
    if (csv->has_bars && is_frame(line))
        return true;
    if (line.begin == line.end)
        return observed_fail(file, "empty line; remove it");
    if ((size_t)(line.end - line.begin) == header_size &&
        memcmp(line.begin, csv->header.begin, header_size) == 0)
        return observed_fail(file, "a second header; remove it when joining outputs, and join only those of "
                                   "one node, because replicas hold the same partitions");
    if (!split_line(csv, line) || !check_table(csv, &is_wanted))
        return false;
    if (!is_wanted)
        return true;
    if (!check_place(csv) || !observed_whole(file, "size", field_of(csv, SIZE), &bytes))
        return false;
    if (csv->places[ROWS] >= 0 && !observed_whole(file, "rowCount", field_of(csv, ROWS), &rows))
        return false;
    if (bytes == 0)
        return observed_fail(file, "size is 0, and a partition takes at least a byte; check the line");
    return add_piece(csv, bytes, rows);
}

static bool read_lines(struct csv *csv)
{
    struct observed_file *file = csv->file;
    struct wl_observed *out = file->out;
    struct observed_span line;
    bool more = true, is_fine = true;
    while (is_fine && (is_fine = observed_next(file, &line, &more)) && more)
        is_fine = read_line(csv, line);
    if (!is_fine)
        return false;
    if (!out->has_rows)
        out->largest_bytes = csv->largest_any;
    if (out->partition_count > 0)
        return true;
    if (file->wanted != NULL && file->table_count > 0)
        return observed_fail_table(file);
    return observed_fail(file, "no partition below the header; sstablepartitions prints only partitions "
                               "above a threshold, so give it --min-size 0");
}

bool observed_partitions_read(struct observed_file *file, struct observed_span header)
{
    struct csv csv = {.file = file};
    bool is_fine = read_header(&csv, header) && read_lines(&csv);
    trace_keys_free(&csv.keys);
    trace_keys_free(&csv.sstables);
    free(csv.sstable_of);
    free(csv.snapshot);
    free(csv.backup);
    free(csv.place);
    free(csv.header_bytes);
    return is_fine;
}
