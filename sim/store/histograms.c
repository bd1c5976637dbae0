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

/* The digits of three numbers of 64 bits, their quotes, commas and brackets. */
#define BIN_TEXT_MAX 72

/* JSON numbers have 63 bits in SQLite; a larger one is a string of digits, as in other columns. */
static char *write_whole(char *at, uint64_t value)
{
    char digits[20], *begin = digits + sizeof digits;
    const bool is_text = value > INT64_MAX;
    do
        *--begin = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    const size_t length = (size_t)(digits + sizeof digits - begin);
    *at = '"';
    memcpy(at + is_text, begin, length);
    at += is_text + length;
    *at = '"';
    return at + is_text;
}

/* Returns the bins as JSON, in order of size: [[size, count, weight], ...]. The caller must free the text.
 * NULL: out of memory. */
static char *write_bins(const struct lab_histogram *histogram, size_t *length)
{
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    char *text = malloc(count * BIN_TEXT_MAX + sizeof "[]"), *at = text;
    if (text == NULL || (bins == NULL && histogram->used > 0)) {
        free(bins);
        free(text);
        return NULL;
    }
    *at++ = '[';
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            *at++ = ',';
        *at++ = '[';
        at = write_whole(at, bins[i].size);
        *at++ = ',';
        at = write_whole(at, bins[i].count);
        *at++ = ',';
        at = write_whole(at, bins[i].weight);
        *at++ = ']';
    }
    free(bins);
    *at++ = ']';
    *length = (size_t)(at - text);
    return text;
}

bool store_histograms_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                           const struct lab_strategy_result *result, struct sim_error *error)
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
        size_t length;
        char *bins = write_bins(histogram, &length);
        if (bins == NULL)
            return sim_fail_memory(error);
        store_bind_long_text(&binder, bins, length);
        const bool is_stored = store_bind_run(store, &binder, error);
        free(bins);
        if (!is_stored)
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

/* Reads a number, with or without quotes, and the character after it. */
static bool read_whole(const char **at, char after, uint64_t *value)
{
    const char *text = *at;
    const bool is_text = *text == '"';
    uint64_t sum = 0;
    text += is_text;
    const char *begin = text;
    for (; *text >= '0' && *text <= '9'; text++) {
        const unsigned digit = (unsigned)(*text - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    if (text == begin || (is_text && *text++ != '"') || *text++ != after)
        return false;
    *at = text;
    *value = sum;
    return true;
}

/* Reads what write_bins() writes. bins: room for as many as the text has closing brackets. */
static bool read_bins(const char *text, struct lab_bin *bins, size_t *count)
{
    *count = 0;
    if (*text++ != '[')
        return false;
    for (bool more = *text != ']'; more; (*count)++) {
        struct lab_bin *bin = &bins[*count];
        if (*text++ != '[' || !read_whole(&text, ',', &bin->size) || !read_whole(&text, ',', &bin->count) ||
            !read_whole(&text, ']', &bin->weight))
            return false;
        more = *text == ',';
        text += more;
    }
    return strcmp(text, "]") == 0;
}

static bool load_bins(struct store *store, const char *text, struct lab_bin **out, size_t *count,
                      struct sim_error *error)
{
    size_t most = 0;
    for (const char *at = text; (at = strchr(at, ']')) != NULL; at++)
        most++;
    *out = calloc(most + 1, sizeof **out);
    if (*out == NULL)
        return sim_fail_memory(error);
    return read_bins(text, *out, count) || store_fail_damaged(store, "bins that no run has", error);
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

static bool load_one(struct store *store, struct store_row *row, struct lab_strategy_result *result,
                     bool *is_latency, struct sim_error *error)
{
    char *state = store_take_text(row), *unit = store_take_text(row);
    struct lab_histogram *histogram =
        state == NULL || unit == NULL ? NULL : find_place(result, state, unit, is_latency);
    struct lab_histogram figures;
    free(state);
    free(unit);
    lab_histogram_init(&figures);
    row->is_damaged = histogram == NULL;
    figures.is_rounded = store_take_integer(row) != 0;
    figures.count = (uint64_t)store_take_whole(row, UINT64_MAX);
    figures.weight = (uint64_t)store_take_whole(row, UINT64_MAX);
    figures.least = (uint64_t)store_take_whole(row, UINT64_MAX);
    figures.most = (uint64_t)store_take_whole(row, UINT64_MAX);
    figures.sum = store_take_whole(row, WIDE_MAX);
    figures.sum_of_squares = store_take_whole(row, WIDE_MAX);
    figures.weighted_sum = store_take_whole(row, WIDE_MAX);
    figures.weighted_sum_of_squares = store_take_whole(row, WIDE_MAX);
    char *text = store_take_name(row);
    struct lab_bin *bins = NULL;
    size_t count = 0;
    bool fine = store_row_check(store, row, error) && load_bins(store, text, &bins, &count, error);
    free(text);
    if (fine && !agree(bins, count, &figures))
        fine = store_fail_damaged(store, "a histogram that does not add up", error);
    if (fine && !lab_histogram_restore(histogram, bins, count, &figures))
        fine = sim_fail_memory(error);
    free(bins);
    return fine;
}

bool store_bins_are_rows(struct store *store, bool *are_rows, struct sim_error *error)
{
    return store_has_table(store, "bin", are_rows, error);
}

bool store_histograms_load(struct store *store, int64_t id, struct lab_strategy_result *result,
                           struct sim_error *error)
{
#define SELECT                                                                                               \
    "SELECT state, unit, is_rounded, count, weight, least, most, sum, sum_of_squares, weighted_sum, "        \
    "weighted_sum_of_squares, "
#define FROM " FROM histogram WHERE strategy = ?"
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool more = true, are_rows,
         fine = store_bins_are_rows(store, &are_rows, error) &&
                store_query(store, are_rows ? SELECT STORE_BINS_OF_ROWS FROM : SELECT "bins" FROM, id,
                            &statement, error);
    size_t loaded = 0;
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        bool is_latency = false;
        fine = load_one(store, &row, result, &is_latency, error);
        loaded += !is_latency;
    }
    sqlite3_finalize(statement);
    if (fine && loaded != ALWAYS_COUNT)
        fine = store_fail_damaged(store, "a strategy without all of its histograms", error);
    return fine;
}
