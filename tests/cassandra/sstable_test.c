/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a partition's size in bytes equals its size in an sstable of a real Cassandra 5.0.4. Method: the rows
 * that tests/cassandra5/bytes.py recorded, in seven tables of different designs and both formats: text,
 * bigint, timeuuid, many small cells of which some are missing, static columns, counters, and deletes,
 * ranges, times to live. Each partition is serialised again and its size is compared. Then one partition is
 * compared byte by byte with a result worked out by hand from Cassandra's sources. With a folder as argument,
 * the test uses the recordings in that folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/sstable.h"

#define COLUMNS   64
#define LINE_SIZE 65536

static const char *folder = BUCKETLAB_SOURCE_DIR "/tests/cassandra5/bytes";

struct recording {
    struct cass_sstable sstable;
    enum cass_type types[3][COLUMNS]; /* clustering, regular, static */
    char names[3][COLUMNS][32];
    struct cass_sstable_writer writer;
    bool is_open, has_static;
    uint64_t wanted;
    size_t partitions;
    const char *file;
    size_t line;
};

static const char *word_after(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    return at == NULL ? NULL : at + strlen(name);
}

static size_t read_columns(struct recording *recording, const char *line, const char *kind, int which)
{
    const char *at = word_after(line, kind);
    size_t count = 0;
    assert_non_null(at);
    while (*at != ' ' && *at != '\0') {
        char type[32];
        int length;
        assert_int_equal(sscanf(at, "%31[^:]:%31[^, ]%n", recording->names[which][count], type, &length), 2);
        assert_true(cass_type_parse(type, &recording->types[which][count]));
        count++;
        at += length + (at[length] == ',');
    }
    return count;
}

static void read_table(struct recording *recording, const char *line)
{
    struct cass_sstable *sstable = &recording->sstable;
    sstable->format = strstr(line, " da ") != NULL ? CASS_SSTABLE_DA : CASS_SSTABLE_NB;
    sstable->clustering =
        (struct cass_type_list){recording->types[0], read_columns(recording, line, " clustering=", 0)};
    sstable->regular =
        (struct cass_type_list){recording->types[1], read_columns(recording, line, " regular=", 1)};
    sstable->statics =
        (struct cass_type_list){recording->types[2], read_columns(recording, line, " statics=", 2)};
    sstable->timestamp_us_min = strtoll(word_after(line, " ts="), NULL, 10);
    sstable->deletion_s_min = strtoll(word_after(line, " del="), NULL, 10);
    sstable->ttl_s_min = (uint32_t)strtoul(word_after(line, " ttl="), NULL, 10);
    recording->writer.sstable = sstable;
}

static bool read_deletion(const char *line, struct cass_deletion *out)
{
    const char *at = word_after(line, " del=");
    if (at != NULL)
        assert_int_equal(sscanf(at, "%ld:%ld", &out->timestamp_us, &out->local_s), 2);
    return at != NULL;
}

static size_t read_sizes(const char *at, struct cass_bytes *out)
{
    size_t count = 0;
    while (*at >= '0' && *at <= '9') {
        char *end;
        out[count++].size = strtoul(at, &end, 10);
        at = end + (*end == ',');
    }
    return count;
}

static void read_cells(const struct recording *recording, int which, size_t count, const char *line,
                       struct cass_stored_cell *cells)
{
    for (size_t i = 0; i < count; i++) {
        char name[40];
        snprintf(name, sizeof name, " %s=", recording->names[which][i]);
        const char *at = word_after(line, name);
        if (at == NULL)
            continue;
        struct cass_stored_cell *cell = &cells[i];
        cell->is_present = true;
        cell->is_deleted = *at == 'x';
        cell->value.size = cell->is_deleted ? 0 : strtoul(at, NULL, 10);
        assert_true(
            sscanf(strchr(at, '@'), "@%ld:%u:%ld", &cell->timestamp_us, &cell->ttl_s, &cell->expires_s) >= 1);
    }
}

static void put_row(struct recording *recording, const char *line)
{
    struct cass_bytes clustering[COLUMNS] = {0};
    struct cass_stored_cell cells[COLUMNS] = {0};
    struct cass_deletion deletion;
    bool is_static = *line == 'S';
    struct cass_stored_row row = {.is_static = is_static, .clustering = clustering, .cells = cells};
    if (!is_static)
        assert_int_equal(read_sizes(line + 2, clustering), recording->sstable.clustering.count);
    const char *live = word_after(line, " live=");
    row.has_liveness = live != NULL;
    if (live != NULL)
        assert_true(sscanf(live, "%ld:%u:%ld", &row.timestamp_us, &row.ttl_s, &row.expires_s) >= 1);
    if (read_deletion(line, &deletion))
        row.deletion = &deletion;
    const struct cass_type_list *columns =
        is_static ? &recording->sstable.statics : &recording->sstable.regular;
    read_cells(recording, is_static ? 2 : 1, columns->count, line, cells);
    cass_sstable_row(&recording->writer, &row);
}

/* The dump omits a static row without cells, so this adds it. */
static void put_item(struct recording *recording, const char *line)
{
    if (recording->sstable.statics.count > 0 && !recording->has_static && *line != 'S') {
        put_row(recording, "S");
    }
    recording->has_static = true;
    if (*line != 'B') {
        put_row(recording, line);
        return;
    }
    struct cass_bytes clustering[COLUMNS] = {0};
    struct cass_deletion deletion;
    char side[16], kind[16];
    int length;
    assert_int_equal(sscanf(line, "B %15s %15s %n", side, kind, &length), 2);
    bool is_at = strcmp(kind, "inclusive") == 0, begins = strcmp(side, "start") == 0;
    assert_true(read_deletion(line, &deletion));
    size_t size = read_sizes(line + length, clustering);
    cass_sstable_bound(&recording->writer,
                       begins ? (is_at ? CASS_BOUND_BEGIN_AT : CASS_BOUND_BEGIN_AFTER)
                              : (is_at ? CASS_BOUND_END_AT : CASS_BOUND_END_BEFORE),
                       clustering, size, &deletion);
}

static void end_partition(struct recording *recording)
{
    if (!recording->is_open)
        return;
    uint64_t bytes = cass_sstable_end(&recording->writer);
    if (bytes != recording->wanted)
        fail_msg("%s, the partition before line %zu: %lu bytes; the node has %lu", recording->file,
                 recording->line, (unsigned long)bytes, (unsigned long)recording->wanted);
    recording->partitions++;
}

static void begin_partition(struct recording *recording, const char *line)
{
    struct cass_deletion deletion;
    bool is_deleted = read_deletion(line, &deletion);
    end_partition(recording);
    recording->is_open = true;
    recording->has_static = false;
    recording->wanted = strtoull(word_after(line, "=> "), NULL, 10);
    cass_sstable_begin(&recording->writer, NULL, strtoul(line + 2, NULL, 10), is_deleted ? &deletion : NULL);
}

static size_t check_file(const char *path)
{
    static char line[LINE_SIZE];
    struct recording *recording = calloc(1, sizeof *recording);
    FILE *file = fopen(path, "r");
    assert_non_null(recording);
    assert_non_null(file);
    recording->file = path;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        recording->line++;
        if (*line == 'T')
            read_table(recording, line);
        else if (*line == 'P')
            begin_partition(recording, line);
        else
            put_item(recording, line);
    }
    recording->line++;
    end_partition(recording);
    size_t partitions = recording->partitions;
    fclose(file);
    free(recording);
    return partitions;
}

static void test_sstable_sizes_are_those_of_a_node(void **state)
{
    (void)state;
    DIR *entries = opendir(folder);
    size_t files = 0, partitions = 0;
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[1024];
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || strcmp(end, ".txt") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        partitions += check_file(path);
        files++;
    }
    closedir(entries);
    print_message("%zu partitions of %zu tables\n", partitions, files);
    assert_true(files >= 7 && partitions >= 100);
}

/* Key (text 'k', bigint 1), clustering int: one row by INSERT at 1000 us with text 'ab', one by UPDATE at
 * 2000 us that sets only an empty text. */
static void test_sstable_bytes_are_as_worked_out(void **state)
{
    (void)state;
    static const uint8_t wanted[] = {
        0x00, 15,   0x00, 1,    'k',  0, 0x00, 8,  0,    0,    0,    0,   0,   0, 0, 1, 0, /* key */
        0x7f, 0xff, 0xff, 0xff, 0x80, 0, 0,    0,  0,    0,    0,    0,                    /* not deleted */
        0x24, 0x00, 0,    0,    0,    7, 6,    29, 0,    0x08, 2,    'a', 'b',             /* the first row */
        0x20, 0x00, 0,    0,    0,    8, 4,    13, 0x04, 0x83, 0xe8, /* the second row */
        0x01};
    static const uint8_t key[] = {0, 1, 'k', 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0}, seven[] = {0, 0, 0, 7},
                         eight[] = {0, 0, 0, 8};
    static const enum cass_type number[] = {CASS_INT}, text[] = {CASS_TEXT};
    const struct cass_sstable sstable = {
        .clustering = {number, 1}, .regular = {text, 1}, .timestamp_us_min = 1000};
    struct cass_sstable_writer writer = {.sstable = &sstable, .keeps = true};
    cass_sstable_begin(&writer, key, sizeof key, NULL);
    const struct cass_stored_cell ab = {.is_present = true, .value = {"ab", 2}, .timestamp_us = 1000},
                                  empty = {.is_present = true, .timestamp_us = 2000};
    cass_sstable_row(&writer, &(struct cass_stored_row){.clustering = &(struct cass_bytes){seven, 4},
                                                        .has_liveness = true,
                                                        .timestamp_us = 1000,
                                                        .cells = &ab});
    cass_sstable_row(
        &writer, &(struct cass_stored_row){.clustering = &(struct cass_bytes){eight, 4}, .cells = &empty});
    assert_int_equal(cass_sstable_end(&writer), sizeof wanted);
    assert_memory_equal(writer.out, wanted, sizeof wanted);
    cass_sstable_clear(&writer);
}

static void test_sstable_vints_grow_by_seven_bits(void **state)
{
    (void)state;
    assert_int_equal(cass_vint_size(0), 1);
    for (uint32_t size = 1; size < 9; size++) {
        assert_int_equal(cass_vint_size((UINT64_C(1) << 7 * size) - 1), size);
        assert_int_equal(cass_vint_size(UINT64_C(1) << 7 * size), size + 1);
    }
    assert_int_equal(cass_vint_size(UINT64_MAX), 9);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sstable_sizes_are_those_of_a_node),
        cmocka_unit_test(test_sstable_bytes_are_as_worked_out),
        cmocka_unit_test(test_sstable_vints_grow_by_seven_bits),
    };
    if (argc > 1)
        folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
