/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the histograms of a run. */
#include <stdlib.h>
#include <string.h>

#include "private.h"

#define WIDE_MAX (~(lab_wide)0)

static const struct {
    const char *state, *unit;
    size_t offset;
} places[] = {
    {"closed", "rows", offsetof(struct lab_strategy_result, closed_rows)},
    {"open", "rows", offsetof(struct lab_strategy_result, open_rows)},
    {"closed", "bytes", offsetof(struct lab_strategy_result, closed_bytes)},
    {"open", "bytes", offsetof(struct lab_strategy_result, open_bytes)},
    {"read", "partitions", offsetof(struct lab_strategy_result, read_partitions)},
    /* These histograms are stored when they are not empty. */
    {"latency.write", "ns", offsetof(struct lab_strategy_result, latency[LAB_LATENCY_WRITE])},
    {"latency.read", "ns", offsetof(struct lab_strategy_result, latency[LAB_LATENCY_READ])},
    {"latency.counter", "ns", offsetof(struct lab_strategy_result, latency[LAB_LATENCY_COUNTER])},
    {"latency.lwt", "ns", offsetof(struct lab_strategy_result, latency[LAB_LATENCY_LWT])},
    {"latency.lock", "ns", offsetof(struct lab_strategy_result, latency[LAB_LATENCY_LOCK])},
    {"latency.lease", "ns", offsetof(struct lab_strategy_result, latency[LAB_LATENCY_LEASE])},
};
#define ALWAYS_COUNT 5
#define PLACE_COUNT  (sizeof places / sizeof *places)

/* insert_many: inserts STORE_BINS_AT_ONCE bins, which costs less than as many statements. */
static bool save_bins(struct store *store, sqlite3_stmt *insert, sqlite3_stmt *insert_many,
                      const struct lab_histogram *histogram, struct sim_error *error)
{
    int64_t id = sqlite3_last_insert_rowid(store->db);
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    if (bins == NULL && histogram->used > 0)
        return sim_fail_memory(error);
    bool fine = true;
    for (size_t i = 0; fine && i < count;) {
        const bool is_many = count - i >= STORE_BINS_AT_ONCE;
        struct store_binder binder = {.statement = is_many ? insert_many : insert};
        for (const size_t end = i + (is_many ? STORE_BINS_AT_ONCE : 1); i < end; i++) {
            store_bind_integer(&binder, id);
            store_bind_whole(&binder, bins[i].size);
            store_bind_whole(&binder, bins[i].count);
            store_bind_whole(&binder, bins[i].weight);
        }
        fine = store_bind_run(store, &binder, error);
    }
    free(bins);
    return fine;
}

bool store_histograms_save(struct store *store, sqlite3_stmt *insert, sqlite3_stmt *insert_bin,
                           sqlite3_stmt *insert_bins, int64_t id, const struct lab_strategy_result *result,
                           struct sim_error *error)
{
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        const struct lab_histogram *histogram =
            (const struct lab_histogram *)(const void *)((const char *)result + places[i].offset);
        if (histogram->out_of_memory)
            return sim_fail_memory(error);
        if (i >= ALWAYS_COUNT && histogram->count == 0)
            continue;
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, places[i].state);
        store_bind_text(&binder, places[i].unit);
        store_bind_integer(&binder, histogram->is_rounded);
        store_bind_whole(&binder, histogram->count);
        store_bind_whole(&binder, histogram->weight);
        store_bind_whole(&binder, histogram->least);
        store_bind_whole(&binder, histogram->most);
        store_bind_whole(&binder, histogram->sum);
        store_bind_whole(&binder, histogram->sum_of_squares);
        store_bind_whole(&binder, histogram->weighted_sum);
        store_bind_whole(&binder, histogram->weighted_sum_of_squares);
        if (!store_bind_run(store, &binder, error) ||
            !save_bins(store, insert_bin, insert_bins, histogram, error))
            return false;
    }
    return true;
}

static struct lab_histogram *find_place(struct lab_strategy_result *result, const char *state,
                                        const char *unit, bool *is_latency)
{
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        *is_latency = i >= ALWAYS_COUNT;
        if (strcmp(state, places[i].state) == 0 && strcmp(unit, places[i].unit) == 0)
            return (struct lab_histogram *)(void *)((char *)result + places[i].offset);
    }
    return NULL;
}

static bool load_bins(struct store *store, sqlite3_stmt *statement, struct lab_bin *bins, size_t count,
                      struct sim_error *error)
{
    struct store_row row;
    bool more;
    for (size_t i = 0; i < count; i++) {
        if (!store_next(store, statement, &row, &more, error))
            return false;
        if (!more)
            return store_fail_damaged(store, "fewer bins than were counted", error);
        bins[i].size = (uint64_t)store_take_whole(&row, UINT64_MAX);
        bins[i].count = (uint64_t)store_take_whole(&row, UINT64_MAX);
        bins[i].weight = (uint64_t)store_take_whole(&row, UINT64_MAX);
        if (!store_row_check(store, &row, error))
            return false;
    }
    return true;
}

/* Detects flipped bits, which SQLite does not: the statistics that were stored must follow from the bins,
 * exactly or, for a rounded histogram, up to the rounding. */
static bool agree(const struct lab_bin *bins, size_t count, const struct lab_histogram *figures)
{
    struct lab_histogram seen;
    lab_histogram_init(&seen);
    for (size_t i = 0; i < count; i++) {
        if (bins[i].count == 0)
            return false;
        if (i == 0 || bins[i].size < seen.least)
            seen.least = bins[i].size;
        if (bins[i].size > seen.most)
            seen.most = bins[i].size;
        seen.count += bins[i].count;
        seen.weight += bins[i].weight;
        seen.sum += (lab_wide)bins[i].size * bins[i].count;
        seen.weighted_sum += (lab_wide)bins[i].size * bins[i].weight;
    }
    if (seen.count != figures->count || seen.weight != figures->weight)
        return false;
    if (figures->is_rounded)
        return seen.least >= figures->least && seen.most >= figures->most && seen.sum >= figures->sum;
    return seen.least == figures->least && seen.most == figures->most && seen.sum == figures->sum &&
           seen.weighted_sum == figures->weighted_sum;
}

static bool load_one(struct store *store, struct store_row *row, sqlite3_stmt *bins_statement,
                     struct lab_strategy_result *result, bool *is_latency, struct sim_error *error)
{
    char *state = store_take_text(row), *unit = store_take_text(row);
    struct lab_histogram *histogram =
        state == NULL || unit == NULL ? NULL : find_place(result, state, unit, is_latency);
    struct lab_histogram figures;
    free(state);
    free(unit);
    lab_histogram_init(&figures);
    row->is_damaged = histogram == NULL;
    sqlite3_reset(bins_statement);
    sqlite3_bind_int64(bins_statement, 1, store_take_integer(row));
    figures.is_rounded = store_take_integer(row) != 0;
    figures.count = (uint64_t)store_take_whole(row, UINT64_MAX);
    figures.weight = (uint64_t)store_take_whole(row, UINT64_MAX);
    figures.least = (uint64_t)store_take_whole(row, UINT64_MAX);
    figures.most = (uint64_t)store_take_whole(row, UINT64_MAX);
    figures.sum = store_take_whole(row, WIDE_MAX);
    figures.sum_of_squares = store_take_whole(row, WIDE_MAX);
    figures.weighted_sum = store_take_whole(row, WIDE_MAX);
    figures.weighted_sum_of_squares = store_take_whole(row, WIDE_MAX);
    size_t count = (size_t)store_take_whole(row, INT64_MAX);
    if (!store_row_check(store, row, error))
        return false;
    struct lab_bin *bins = calloc(count > 0 ? count : 1, sizeof *bins);
    if (bins == NULL)
        return sim_fail_memory(error);
    bool fine = load_bins(store, bins_statement, bins, count, error);
    if (fine && !agree(bins, count, &figures))
        fine = store_fail_damaged(store, "a histogram that does not add up", error);
    if (fine && !lab_histogram_restore(histogram, bins, count, &figures))
        fine = sim_fail_memory(error);
    free(bins);
    return fine;
}

bool store_histograms_load(struct store *store, int64_t id, struct lab_strategy_result *result,
                           struct sim_error *error)
{
    static const char sql[] = "SELECT state, unit, histogram, is_rounded, count, weight, least, most, sum, "
                              "sum_of_squares, weighted_sum, weighted_sum_of_squares, (SELECT count(*) FROM "
                              "bin WHERE bin.histogram = histogram.histogram) FROM histogram WHERE strategy "
                              "= ?";
    static const char bins_sql[] = "SELECT size, count, weight FROM bin WHERE histogram = ? ORDER BY size";
    sqlite3_stmt *statement = NULL, *bins = NULL;
    struct store_row row;
    bool more = true,
         fine = store_prepare(store, sql, &statement, error) && store_prepare(store, bins_sql, &bins, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    size_t loaded = 0;
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        bool is_latency = false;
        fine = load_one(store, &row, bins, result, &is_latency, error);
        loaded += !is_latency;
    }
    sqlite3_finalize(statement);
    sqlite3_finalize(bins);
    if (fine && loaded != ALWAYS_COUNT)
        fine = store_fail_damaged(store, "a strategy without all of its histograms", error);
    return fine;
}
