/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of the store: a fresh folder, a made-up result, and a comparison of two results. */
#ifndef TESTS_STORE_SAMPLE_H
#define TESTS_STORE_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "private.h"

#define PATH_SIZE 256

/* Makes the tables of version 10, as the migrations of versions 5 and 7 made them. */
#define SAMPLE_VERSION_10                                                                                    \
    "ALTER TABLE run DROP COLUMN digest_kind;\n"                                                             \
    "DROP TABLE outcome;\n"                                                                                  \
    "CREATE TABLE tune_outcome (\n"                                                                          \
    "  identity TEXT NOT NULL, job TEXT NOT NULL, command TEXT NOT NULL, digest TEXT NOT NULL,\n"            \
    "  outcome BLOB NOT NULL,\n"                                                                             \
    "  PRIMARY KEY (identity, job)\n"                                                                        \
    ") STRICT, WITHOUT ROWID;\n"                                                                             \
    "CREATE TABLE unfinished (\n"                                                                            \
    "  run INTEGER PRIMARY KEY,\n"                                                                           \
    "  attempt INTEGER NOT NULL, state TEXT NOT NULL CHECK (state IN ('running', 'stopped')),\n"             \
    "  scenario TEXT NOT NULL, seed ANY NOT NULL, sources TEXT NOT NULL,\n"                                  \
    "  created_unix_s INTEGER NOT NULL, elapsed_ms INTEGER NOT NULL, version TEXT NOT NULL,\n"               \
    "  scenario_path TEXT NOT NULL, scenario_text TEXT NOT NULL, overrides TEXT NOT NULL\n"                  \
    ") STRICT;\n"                                                                                            \
    "CREATE TABLE snapshot (\n"                                                                              \
    "  run INTEGER NOT NULL REFERENCES unfinished ON DELETE CASCADE,\n"                                      \
    "  part INTEGER NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL,\n"                                \
    "  PRIMARY KEY (run, part, piece)\n"                                                                     \
    ") STRICT;\n"                                                                                            \
    "CREATE VIEW unfinished_runs AS SELECT run, scenario, seed, state, attempt,\n"                           \
    "  strftime('%Y-%m-%dT%H:%M:%SZ', created_unix_s, 'unixepoch') AS created, elapsed_ms, version,\n"       \
    "  (SELECT count(DISTINCT part) FROM snapshot WHERE snapshot.run = unfinished.run) AS parts,\n"          \
    "  (SELECT coalesce(sum(length(bytes)), 0) FROM snapshot WHERE snapshot.run = unfinished.run)\n"         \
    "    AS bytes, scenario_path, overrides FROM unfinished;\n"

/* Makes the bins of a database rows, as in versions before 10. */
#define SAMPLE_BINS_TO_ROWS                                                                                  \
    "CREATE TABLE rows AS SELECT * FROM bin; DROP VIEW bin; CREATE TABLE bin (histogram INTEGER NOT NULL "   \
    "REFERENCES histogram ON DELETE CASCADE, size ANY NOT NULL, count ANY NOT NULL, weight ANY NOT NULL, "   \
    "PRIMARY KEY (histogram, size)) STRICT, WITHOUT ROWID; INSERT INTO bin SELECT * FROM rows; DROP TABLE "  \
    "rows; ALTER TABLE histogram DROP COLUMN bins; "

struct folder {
    char path[PATH_SIZE / 2];
    char db[PATH_SIZE]; /* "FOLDER/runs.db", which does not exist yet */
};

static inline struct folder folder_make(void)
{
    struct folder folder = {"/tmp/bucketlab-store-XXXXXX", ""};
    assert_non_null(mkdtemp(folder.path));
    snprintf(folder.db, sizeof folder.db, "%s/runs.db", folder.path);
    return folder;
}

/* The number of files in the folder; *name, unless name is NULL, is the name of the last one. */
static inline int folder_count(const struct folder *folder, char *name)
{
    DIR *entries = opendir(folder->path);
    assert_non_null(entries);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (name != NULL)
            snprintf(name, PATH_SIZE, "%s", entry->d_name);
    }
    closedir(entries);
    return count;
}

static inline void folder_empty(const struct folder *folder)
{
    char name[PATH_SIZE], path[2 * PATH_SIZE];
    while (folder_count(folder, name) > 0) {
        snprintf(path, sizeof path, "%s/%s", folder->path, name);
        assert_int_equal(remove(path), 0);
    }
}

static inline void folder_remove(const struct folder *folder)
{
    folder_empty(folder);
    assert_int_equal(rmdir(folder->path), 0);
}

/* A test with a folder, which is its *state. */
#define folder_test(name) cmocka_unit_test_setup_teardown(name, folder_begin, folder_end)
static inline int folder_begin(void **state)
{
    struct folder *folder = *state = malloc(sizeof *folder);
    assert_non_null(folder);
    *folder = folder_make();
    return 0;
}

static inline int folder_end(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

static inline char *file_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

static inline void file_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void execute(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

/* All rows as text: columns separated by '|', each row ended by a line break. */
static inline void query(const char *path, const char *sql, char *out, size_t size)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    size_t used = 0;
    int code;
    *out = '\0';
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int columns = sqlite3_column_count(statement);
        for (int i = 0; i < columns; i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);
            used += (size_t)snprintf(out + used, size - used, "%s%c", text == NULL ? "NULL" : text,
                                     i + 1 < columns ? '|' : '\n');
            assert_true(used < size);
        }
    }
    assert_int_equal(code, SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static inline void assert_query(const char *path, const char *sql, const char *expected)
{
    char out[4096];
    query(path, sql, out, sizeof out);
    assert_string_equal(out, expected);
}

static inline char *text_copy(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    memcpy(copy, text, strlen(text) + 1);
    return copy;
}

static inline void sample_fill(struct lab_strategy_result *strategy, uint64_t bins)
{
    for (uint64_t i = 1; i <= bins; i++) {
        lab_histogram_add(&strategy->closed_rows, i * 7, i % 5 + 1, i * 7);
        lab_histogram_add(&strategy->open_rows, i * 3, 1, i * 3);
        lab_histogram_add(&strategy->closed_bytes, i * 7000 + i % 11, i % 5 + 1, i * 7);
        lab_histogram_add(&strategy->open_bytes, i * 3001, 1, i * 3);
    }
    lab_histogram_add(&strategy->read_partitions, 2, 40, 1);
    struct lab_histogram spent = {0};
    for (uint64_t i = 1; i <= 20; i++)
        lab_histogram_add(&spent, i * i * 1000 + i, 2, 1);
    assert_true(lab_histogram_coarse(&spent, LAB_LATENCY_BITS, &strategy->latency[LAB_LATENCY_WRITE]));
    lab_histogram_clear(&spent);
    assert_true(lab_metrics_add(&strategy->metrics, "partitions.closed", (double)bins));
    assert_true(lab_metrics_add(&strategy->metrics, "partitions.closed.rows.mean", 0.1 + (double)bins));
    assert_true(lab_metrics_add(&strategy->metrics, "partitions.closed.rows.p99", (double)bins * 7));
    assert_true(lab_metrics_add(&strategy->metrics, "partitions.over_limit", 1));
    assert_true(lab_metrics_add(&strategy->metrics, "writes.extra_ops_per_1000_rows", 1.0 / 3.0));
}

/* Two slices of closed partitions, one of open ones, and three nodes, with the greatest possible numbers. */
static inline void sample_fill_slices(struct lab_strategy_result *strategy, int64_t start_ns)
{
    strategy->timeline.items = calloc(3, sizeof *strategy->timeline.items);
    strategy->nodes = calloc(3, sizeof *strategy->nodes);
    assert_non_null(strategy->timeline.items);
    assert_non_null(strategy->nodes);
    strategy->timeline.count = strategy->node_count = 3;
    for (size_t i = 0; i < 3; i++) {
        struct lab_slice *slice = &strategy->timeline.items[i];
        slice->state = i < 2 ? LAB_CLOSED : LAB_OPEN;
        slice->start_ns = start_ns + (int64_t)i % 2 * 1000;
        slice->end_ns = slice->start_ns + 1000;
        slice->partitions = i == 0 ? UINT64_MAX : i;
        slice->sizes[LAB_IN_ROWS] = (struct lab_slice_sizes){i, 10 + i, 20 + i, 30 + i, UINT64_MAX};
        slice->sizes[LAB_IN_BYTES] = (struct lab_slice_sizes){0, 100 + i, 200 + i, 300 + i, 400 + i};
        snprintf(strategy->nodes[i].name, sizeof strategy->nodes[i].name, "dc1 node %zu", i);
        strategy->nodes[i].rows = 7 * i;
        strategy->nodes[i].bytes = UINT64_MAX - i;
    }
}

/* The additional data of a cluster run. The last mark precedes the last events. */
static inline void sample_fill_events(struct lab_strategy_result *strategy)
{
    static const uint16_t marks[] = {0xff00, 0x00ff, 0x1234, 0, 0xffff};
    struct lab_event_log *events = &strategy->events;
    *events = (struct lab_event_log){.digest = UINT64_C(0xfedcba9876543210), .events = 23, .stride = 4};
    events->mark_count = sizeof marks / sizeof *marks;
    events->marks = malloc(sizeof marks);
    assert_non_null(events->marks);
    memcpy(events->marks, marks, sizeof marks);
    static const struct lab_view items[] = {{-1, 1, INT64_MIN, false, true},
                                            {1000000000, 0, 7, true, false},
                                            {1000000000, 2, 8, true, true},
                                            {INT64_MAX, 2, INT64_MAX, true, false}};
    struct lab_views *views = &strategy->views;
    *views = (struct lab_views){text_copy("key-3's"), 5000000000, 15000000000, 3, NULL, 4, 4};
    views->items = malloc(sizeof items);
    assert_non_null(views->items);
    memcpy(views->items, items, sizeof items);
}

#define SAMPLE_STRATEGIES 8

static inline struct lab_result *sample_make(uint64_t bins)
{
    static const char *const labels[SAMPLE_STRATEGIES] = {"unbucketed",    "time",      "monthly", "count",
                                                          "probabilistic", "every row", "dice",    "hash"};
    struct lab_result *result = calloc(1, sizeof *result);
    assert_non_null(result);
    result->scenario_name = text_copy("chat-channels");
    result->about = text_copy("Kanäle, 'quoted'\nand two lines");
    result->source = text_copy("synthetic");
    result->seed = 1;
    result->digest = UINT64_C(0x00c0ffee00000001);
    result->rows = 1555200000;
    result->keys = 10000;
    result->start_ns = INT64_C(1767225600000000000);
    result->end_ns = INT64_C(1775001600000000000);
    result->limits = (struct lab_limits){.partition_rows = 100000,
                                         .partition_bytes = 100000000,
                                         .tiny_rows = 24,
                                         .confidence = LAB_TUNE_CONFIDENCE,
                                         .tolerance = LAB_TUNE_TOLERANCE};
    result->strategy_count = SAMPLE_STRATEGIES;
    result->strategies = calloc(SAMPLE_STRATEGIES, sizeof *result->strategies);
    assert_non_null(result->strategies);
    struct lab_strategy_result *s = result->strategies;
    for (size_t i = 0; i < SAMPLE_STRATEGIES; i++) {
        s[i].label = text_copy(labels[i]);
        s[i].placement_digest = sim_mix64(i);
        sample_fill(&s[i], bins);
    }
    bk_strategy_unbucketed(&s[0].settings.strategy);
    bk_strategy_time(INT64_C(864000000000000), INT64_C(-1000000000), &s[1].settings.strategy);
    bk_strategy_calendar(BK_CALENDAR_MONTH, &s[2].settings.strategy);
    bk_strategy_count(20480, &s[3].settings.strategy);
    bk_strategy_probabilistic(9, 40, &s[4].settings.strategy);
    bk_strategy_probabilistic(0, UINT64_MAX, &s[5].settings.strategy);
    bk_strategy_probabilistic_chance(1, 300, 40, &s[6].settings.strategy);
    bk_strategy_hash(256, &s[7].settings.strategy);
    s[3].settings.source = BK_SOURCE_INCREMENTAL;
    s[3].settings.every_rows = 1000;
    s[3].settings.every_ns = 2000000000;
    s[4].settings.coordination = BK_THREE_STATE;
    s[4].settings.lead_ns = 10000000000;
    s[4].events = (struct lab_event_log){.digest = 1, .stride = 1};
    s[4].views.key = text_copy("");
    s[4].largest[LAB_IN_ROWS] = (struct lab_largest){"key-7", 7, 12, 31000};
    s[4].largest[LAB_IN_BYTES] = (struct lab_largest){"Kanal's \xc3\xa4", UINT64_MAX, -3, UINT64_MAX};
    s[5].settings.coordination = BK_LOCKED;
    s[5].settings.counter = BK_COUNTER_NATIVE;
    sample_fill_events(&s[5]);
    sample_fill_slices(&s[5], result->start_ns);
    s[6].settings.counter = BK_COUNTER_LWT;
    result->expect_count = 2;
    result->expects = calloc(2, sizeof *result->expects);
    assert_non_null(result->expects);
    result->expects[0] =
        (struct lab_expect_result){text_copy("unbucketed.partitions.over_limit == 1"), 1, true};
    result->expects[1] = (struct lab_expect_result){text_copy("hash.partitions.closed < 1"), 3.5, false};
    return result;
}

/* Two strategies, so that the second one can fail; the second has digits as text. */
static inline struct lab_result *sample_make_small(void)
{
    struct lab_result *sample = sample_make(2), *rest = calloc(1, sizeof *rest);
    assert_non_null(rest);
    struct lab_strategy_result kept = sample->strategies[5];
    sample->strategies[5] = sample->strategies[1];
    sample->strategies[1] = kept;
    sample->strategy_count = 2;
    rest->strategy_count = SAMPLE_STRATEGIES - 2;
    rest->strategies = calloc(rest->strategy_count, sizeof *rest->strategies);
    assert_non_null(rest->strategies);
    memcpy(rest->strategies, sample->strategies + 2, rest->strategy_count * sizeof *rest->strategies);
    lab_result_destroy(rest);
    return sample;
}

static inline struct store_run_info sample_info(void)
{
    return (struct store_run_info){.scenario_path = "scenarios/chat-channels.yaml",
                                   .scenario_text = "name: chat-channels\nseed: 1\n",
                                   .overrides = "arrivals.rate=300/s\n",
                                   .version = "0.1.0",
                                   .created_unix_s = 1767225600,
                                   .elapsed_ms = 1234};
}

static inline void assert_texts_equal(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL)
        assert_string_equal(a, b);
}

static inline bool wide_equal(lab_wide a, lab_wide b)
{
    return a == b;
}

static inline void assert_histograms_equal(const struct lab_histogram *a, const struct lab_histogram *b)
{
    assert_int_equal(a->used, b->used);
    assert_int_equal(a->is_rounded, b->is_rounded);
    assert_int_equal(a->out_of_memory, b->out_of_memory);
    assert_true(a->count == b->count && a->weight == b->weight);
    assert_true(a->least == b->least && a->most == b->most);
    assert_true(wide_equal(a->sum, b->sum) && wide_equal(a->sum_of_squares, b->sum_of_squares));
    assert_true(wide_equal(a->weighted_sum, b->weighted_sum));
    assert_true(wide_equal(a->weighted_sum_of_squares, b->weighted_sum_of_squares));
    size_t count_a, count_b;
    struct lab_bin *bins_a = lab_histogram_sorted(a, &count_a), *bins_b = lab_histogram_sorted(b, &count_b);
    assert_int_equal(count_a, count_b);
    if (count_a > 0)
        assert_memory_equal(bins_a, bins_b, count_a * sizeof *bins_a);
    free(bins_a);
    free(bins_b);
}

/* Compares field by field, since the unused bytes of a union may differ. */
static inline void assert_strategies_equal(const struct bk_strategy *a, const struct bk_strategy *b)
{
    assert_int_equal(a->kind, b->kind);
    switch (a->kind) {
    case BK_KIND_TIME:
        assert_int_equal(a->of.time.calendar, b->of.time.calendar);
        assert_true(a->of.time.window_ns == b->of.time.window_ns);
        assert_true(a->of.time.epoch_ns == b->of.time.epoch_ns);
        break;
    case BK_KIND_COUNT:
        assert_true(a->of.count.rows == b->of.count.rows);
        break;
    case BK_KIND_PROBABILISTIC:
        assert_int_equal(a->of.probabilistic.bits, b->of.probabilistic.bits);
        assert_true(a->of.probabilistic.chance_numerator == b->of.probabilistic.chance_numerator);
        assert_true(a->of.probabilistic.chance_denominator == b->of.probabilistic.chance_denominator);
        assert_true(a->of.probabilistic.threshold == b->of.probabilistic.threshold);
        break;
    case BK_KIND_WEIGHTED:
        assert_true(a->of.weighted.bytes == b->of.weighted.bytes);
        assert_true(a->of.weighted.threshold == b->of.weighted.threshold);
        break;
    case BK_KIND_HASH:
        assert_int_equal(a->of.hash.buckets, b->of.hash.buckets);
        break;
    default:
        break;
    }
}

static inline bool real_equal(double a, double b)
{
    return a == b || (a != a && b != b);
}

static inline void assert_events_equal(const struct lab_event_log *a, const struct lab_event_log *b)
{
    assert_true(a->digest == b->digest && a->events == b->events && a->stride == b->stride);
    assert_int_equal(a->mark_count, b->mark_count);
    if (a->mark_count > 0)
        assert_memory_equal(a->marks, b->marks, a->mark_count * sizeof *a->marks);
}

static inline void assert_slices_equal(const struct lab_strategy_result *a,
                                       const struct lab_strategy_result *b)
{
    assert_int_equal(a->timeline.count, b->timeline.count);
    for (size_t i = 0; i < a->timeline.count; i++) {
        const struct lab_slice *x = &a->timeline.items[i], *y = &b->timeline.items[i];
        assert_int_equal(x->state, y->state);
        assert_true(x->start_ns == y->start_ns && x->end_ns == y->end_ns && x->partitions == y->partitions);
        assert_memory_equal(x->sizes, y->sizes, sizeof x->sizes);
    }
    assert_int_equal(a->node_count, b->node_count);
    for (size_t i = 0; i < a->node_count; i++) {
        assert_string_equal(a->nodes[i].name, b->nodes[i].name);
        assert_true(a->nodes[i].rows == b->nodes[i].rows && a->nodes[i].bytes == b->nodes[i].bytes);
    }
}

static inline void assert_views_equal(const struct lab_views *a, const struct lab_views *b)
{
    assert_texts_equal(a->key, b->key);
    assert_true(a->change_ns == b->change_ns && a->until_ns == b->until_ns && a->agents == b->agents);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct lab_view *x = &a->items[i], *y = &b->items[i];
        assert_true(x->time_ns == y->time_ns && x->agent == y->agent && x->bucket == y->bucket);
        assert_true(x->is_known == y->is_known && x->is_changing == y->is_changing);
    }
}

static inline void assert_largest_equal(const struct lab_largest *a, const struct lab_largest *b)
{
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        assert_string_equal(a[unit].key, b[unit].key);
        assert_true(a[unit].key_index == b[unit].key_index && a[unit].bucket == b[unit].bucket);
        assert_true(a[unit].size == b[unit].size);
    }
}

static inline void assert_results_equal(const struct lab_result *a, const struct lab_result *b)
{
    assert_texts_equal(a->scenario_name, b->scenario_name);
    assert_texts_equal(a->about, b->about);
    assert_texts_equal(a->source, b->source);
    assert_true(a->seed == b->seed && a->digest == b->digest && a->rows == b->rows && a->keys == b->keys);
    assert_true(a->start_ns == b->start_ns && a->end_ns == b->end_ns);
    assert_memory_equal(&a->limits, &b->limits, sizeof a->limits);
    assert_int_equal(a->strategy_count, b->strategy_count);
    for (size_t i = 0; i < a->strategy_count; i++) {
        const struct lab_strategy_result *x = &a->strategies[i], *y = &b->strategies[i];
        assert_texts_equal(x->label, y->label);
        assert_strategies_equal(&x->settings.strategy, &y->settings.strategy);
        assert_int_equal(x->settings.coordination, y->settings.coordination);
        assert_int_equal(x->settings.counter, y->settings.counter);
        assert_int_equal(x->settings.source, y->settings.source);
        assert_true(x->settings.lease_rows == y->settings.lease_rows &&
                    x->settings.every_rows == y->settings.every_rows);
        assert_true(x->settings.every_ns == y->settings.every_ns);
        assert_true(x->settings.lead_ns == y->settings.lead_ns &&
                    x->settings.grant_ns == y->settings.grant_ns);
        assert_true(x->settings.lock_lasts_ns == y->settings.lock_lasts_ns &&
                    x->settings.lock_backoff_ns == y->settings.lock_backoff_ns);
        assert_int_equal(x->settings.change_count, y->settings.change_count);
        assert_true(x->placement_digest == y->placement_digest);
        assert_largest_equal(x->largest, y->largest);
        assert_events_equal(&x->events, &y->events);
        assert_views_equal(&x->views, &y->views);
        assert_slices_equal(x, y);
        assert_histograms_equal(&x->closed_rows, &y->closed_rows);
        assert_histograms_equal(&x->open_rows, &y->open_rows);
        assert_histograms_equal(&x->closed_bytes, &y->closed_bytes);
        assert_histograms_equal(&x->open_bytes, &y->open_bytes);
        assert_histograms_equal(&x->read_partitions, &y->read_partitions);
        for (int k = 0; k < LAB_LATENCY_COUNT; k++)
            assert_histograms_equal(&x->latency[k], &y->latency[k]);
        assert_int_equal(x->metrics.count, y->metrics.count);
        for (size_t j = 0; j < x->metrics.count; j++) {
            assert_string_equal(x->metrics.items[j].name, y->metrics.items[j].name);
            assert_true(real_equal(x->metrics.items[j].value, y->metrics.items[j].value));
        }
    }
    assert_int_equal(a->expect_count, b->expect_count);
    for (size_t i = 0; i < a->expect_count; i++) {
        assert_texts_equal(a->expects[i].text, b->expects[i].text);
        assert_true(real_equal(a->expects[i].actual, b->expects[i].actual));
        assert_int_equal(a->expects[i].ok, b->expects[i].ok);
    }
    assert_int_equal(a->expects_hold, b->expects_hold);
}

static inline struct store *store_must_open(const char *path, enum store_mode mode)
{
    struct store *store;
    struct sim_error error = {0};
    if (!store_open(path, mode, &store, &error))
        fail_msg("%s", error.text);
    return store;
}

static inline int64_t store_must_save(const char *path, const struct lab_result *result)
{
    struct store *store = store_must_open(path, STORE_WRITE);
    struct store_run_info info = sample_info();
    struct sim_error error = {0};
    if (!store_save_run(store, &info, result, &error))
        fail_msg("%s", error.text);
    store_close(store);
    return info.run;
}

static inline int64_t store_must_save_sample(const char *path, uint64_t bins)
{
    struct lab_result *result = sample_make(bins);
    int64_t run = store_must_save(path, result);
    lab_result_destroy(result);
    return run;
}

#endif
