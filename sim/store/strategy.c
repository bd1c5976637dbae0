/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the figures of a strategy: histograms and latencies, time slices, loads of nodes, the log
 * of events and the views, metrics, and the largest partitions. */
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

/* Stores and loads the sizes of partitions over time, and the load of each node. */

static const char *const states[LAB_STATES] = {[LAB_CLOSED] = "closed", [LAB_OPEN] = "open"};

bool store_slices_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                       const struct lab_timeline *timeline, struct sim_error *error)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const struct lab_slice *slice = &timeline->items[i];
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, states[slice->state]);
        store_bind_integer(&binder, slice->start_ns);
        store_bind_integer(&binder, slice->end_ns);
        store_bind_whole(&binder, slice->partitions);
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            const struct lab_slice_sizes *sizes = &slice->sizes[unit];
            store_bind_whole(&binder, sizes->least);
            store_bind_whole(&binder, sizes->p10);
            store_bind_whole(&binder, sizes->p50);
            store_bind_whole(&binder, sizes->p90);
            store_bind_whole(&binder, sizes->most);
        }
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

static bool count_rows(struct store *store, const char *sql, int64_t id, size_t *count,
                       struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = false, fine = store_prepare(store, sql, &statement, error);
    *count = 0;
    if (fine) {
        sqlite3_bind_int64(statement, 1, id);
        fine = store_next(store, statement, &row, &more, error);
    }
    if (fine)
        *count = (size_t)store_take_integer(&row);
    sqlite3_finalize(statement);
    return fine;
}

static bool is_sound(const struct lab_slice_sizes *sizes)
{
    return sizes->least <= sizes->p10 && sizes->p10 <= sizes->p50 && sizes->p50 <= sizes->p90 &&
           sizes->p90 <= sizes->most;
}

static bool take_slice(struct store_row *row, struct lab_slice *slice)
{
    char *state = store_take_text(row);
    int index = 0;
    while (index < LAB_STATES && state != NULL && strcmp(state, states[index]) != 0)
        index++;
    bool is_known = state != NULL && index < LAB_STATES;
    free(state);
    slice->state = is_known ? (enum lab_partition_state)index : LAB_CLOSED;
    slice->start_ns = store_take_integer(row);
    slice->end_ns = store_take_integer(row);
    slice->partitions = (uint64_t)store_take_whole(row, UINT64_MAX);
    bool is_fine = is_known && slice->start_ns <= slice->end_ns && slice->partitions > 0;
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        struct lab_slice_sizes *sizes = &slice->sizes[unit];
        sizes->least = (uint64_t)store_take_whole(row, UINT64_MAX);
        sizes->p10 = (uint64_t)store_take_whole(row, UINT64_MAX);
        sizes->p50 = (uint64_t)store_take_whole(row, UINT64_MAX);
        sizes->p90 = (uint64_t)store_take_whole(row, UINT64_MAX);
        sizes->most = (uint64_t)store_take_whole(row, UINT64_MAX);
        is_fine = is_fine && is_sound(sizes);
    }
    /* A value that could not be read because memory ran out is not damaged. */
    return is_fine || row->is_out_of_memory;
}

bool store_slices_load(struct store *store, int64_t id, struct lab_timeline *out, struct sim_error *error)
{
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    size_t count;
    bool more = true;
    if (!count_rows(store, "SELECT count(*) FROM slice WHERE strategy = ?", id, &count, error))
        return false;
    if (count == 0)
        return true;
    out->items = calloc(count, sizeof *out->items);
    if (out->items == NULL)
        return sim_fail_memory(error);
    /* "closed" comes before "open". */
    bool fine = store_prepare(store,
                              "SELECT state, start_ns, end_ns, partitions, rows_least, rows_p10, rows_p50, "
                              "rows_p90, rows_most, bytes_least, bytes_p10, bytes_p50, bytes_p90, bytes_most "
                              "FROM slice WHERE strategy = ? ORDER BY state, start_ns",
                              &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        bool is_fine = out->count < count && take_slice(&row, &out->items[out->count]);
        row.is_damaged = row.is_damaged || !is_fine;
        out->count += out->count < count;
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_nodes_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                      const struct lab_strategy_result *result, struct sim_error *error)
{
    for (size_t i = 0; i < result->node_count; i++) {
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_integer(&binder, (int64_t)i);
        store_bind_text(&binder, result->nodes[i].name);
        store_bind_whole(&binder, result->nodes[i].rows);
        store_bind_whole(&binder, result->nodes[i].bytes);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

static void take_node(struct store_row *row, struct lab_node_load *node)
{
    char *name = store_take_text(row);
    if (name != NULL && strlen(name) < sizeof node->name)
        strcpy(node->name, name);
    else
        row->is_damaged = !row->is_out_of_memory;
    free(name);
    node->rows = (uint64_t)store_take_whole(row, UINT64_MAX);
    node->bytes = (uint64_t)store_take_whole(row, UINT64_MAX);
}

bool store_nodes_load(struct store *store, int64_t id, struct lab_strategy_result *out,
                      struct sim_error *error)
{
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    size_t count;
    bool more = true;
    if (!count_rows(store, "SELECT count(*) FROM node WHERE strategy = ?", id, &count, error))
        return false;
    if (count == 0)
        return true;
    out->nodes = calloc(count, sizeof *out->nodes);
    if (out->nodes == NULL)
        return sim_fail_memory(error);
    bool fine = store_prepare(
        store, "SELECT name, rows, bytes FROM node WHERE strategy = ? ORDER BY position", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        if (out->node_count == count)
            row.is_damaged = true;
        else
            take_node(&row, &out->nodes[out->node_count++]);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

/* Stores and loads the event log of a run, and the views of its agents. */

#define MARK_BYTES 2

bool store_events_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                       const struct lab_event_log *events, struct sim_error *error)
{
    if (events->stride == 0)
        return true;
    /* Written in little-endian order on every machine. */
    size_t size = events->mark_count * MARK_BYTES;
    unsigned char *bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(events->marks[i / MARK_BYTES] >> (8 * (i % MARK_BYTES)) & 0xff);
    struct store_binder binder = {.statement = insert};
    store_bind_integer(&binder, id);
    store_bind_digest(&binder, events->digest);
    store_bind_whole(&binder, events->events);
    store_bind_whole(&binder, events->stride);
    store_bind_blob(&binder, bytes, size);
    bool fine = store_bind_run(store, &binder, error);
    free(bytes);
    return fine;
}

static bool is_log_sound(const struct lab_event_log *events, size_t bytes)
{
    bool is_power = events->stride != 0 && (events->stride & (events->stride - 1)) == 0;
    return is_power && bytes % MARK_BYTES == 0 && bytes / MARK_BYTES <= LAB_EVENT_MARKS_MAX &&
           bytes / MARK_BYTES == events->events / events->stride;
}

static bool take_marks(struct lab_event_log *events, const unsigned char *bytes, size_t size)
{
    events->marks = calloc(size > 0 ? size / MARK_BYTES : 1, sizeof *events->marks);
    if (events->marks == NULL)
        return false;
    events->mark_count = size / MARK_BYTES;
    for (size_t i = 0; i < events->mark_count; i++)
        events->marks[i] = (uint16_t)(bytes[MARK_BYTES * i] | bytes[MARK_BYTES * i + 1] << 8);
    return true;
}

bool store_events_load(struct store *store, int64_t id, struct lab_event_log *out, struct sim_error *error)
{
    static const char sql[] = "SELECT digest, events, stride, marks FROM event_log WHERE strategy = ?";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool is_there = false, fine = store_query(store, sql, id, &statement, error) &&
                                  store_next(store, statement, &row, &is_there, error);
    if (fine && is_there) {
        size_t size;
        out->digest = store_take_digest(&row);
        out->events = (uint64_t)store_take_whole(&row, UINT64_MAX);
        out->stride = (uint64_t)store_take_whole(&row, UINT64_MAX);
        const unsigned char *bytes = store_take_blob(&row, &size);
        fine = store_row_check(store, &row, error);
        if (fine && !is_log_sound(out, size))
            fine = store_fail_damaged(store, "marks that do not fit their events", error);
        if (fine && !take_marks(out, bytes, size))
            fine = sim_fail_memory(error);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_views_save(struct store *store, sqlite3_stmt *insert_change, sqlite3_stmt *insert_belief,
                      int64_t id, const struct lab_views *views, struct sim_error *error)
{
    if (views->key == NULL)
        return true;
    struct store_binder binder = {.statement = insert_change};
    store_bind_integer(&binder, id);
    store_bind_text(&binder, views->key);
    store_bind_integer(&binder, views->change_ns);
    store_bind_integer(&binder, views->until_ns);
    store_bind_whole(&binder, views->agents);
    bool fine = store_bind_run(store, &binder, error);
    for (size_t i = 0; fine && i < views->count; i++) {
        const struct lab_view *view = &views->items[i];
        binder = (struct store_binder){.statement = insert_belief};
        store_bind_integer(&binder, id);
        store_bind_integer(&binder, (int64_t)i);
        store_bind_integer(&binder, view->time_ns);
        store_bind_whole(&binder, view->agent);
        store_bind_integer(&binder, view->bucket);
        store_bind_integer(&binder, view->is_known);
        store_bind_integer(&binder, view->is_changing);
        fine = store_bind_run(store, &binder, error);
    }
    return fine;
}

/* Returns the number of beliefs. */
static size_t take_change(struct store_row *row, struct lab_views *out)
{
    out->key = store_take_name(row);
    out->change_ns = store_take_integer(row);
    out->until_ns = store_take_integer(row);
    out->agents = (uint32_t)store_take_whole(row, UINT32_MAX);
    return (size_t)store_take_whole(row, INT64_MAX);
}

static bool load_beliefs(struct store *store, int64_t id, struct lab_views *out, size_t count,
                         struct sim_error *error)
{
    static const char sql[] = "SELECT time_ns, agent, bucket, is_known, is_changing FROM belief WHERE "
                              "strategy = ? ORDER BY position";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    out->items = calloc(count > 0 ? count : 1, sizeof *out->items);
    if (out->items == NULL)
        return sim_fail_memory(error);
    out->capacity = count > 0 ? count : 1;
    bool more, fine = store_query(store, sql, id, &statement, error);
    while (fine && out->count < count) {
        fine = store_next(store, statement, &row, &more, error);
        if (fine && !more)
            fine = store_fail_damaged(store, "fewer beliefs than were counted", error);
        if (!fine)
            break;
        struct lab_view *view = &out->items[out->count++];
        view->time_ns = store_take_integer(&row);
        view->agent = (uint32_t)store_take_whole(&row, UINT32_MAX);
        view->bucket = store_take_integer(&row);
        view->is_known = store_take_integer(&row) != 0;
        view->is_changing = store_take_integer(&row) != 0;
        row.is_damaged = row.is_damaged || view->agent >= out->agents;
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_views_load(struct store *store, int64_t id, struct lab_views *out, struct sim_error *error)
{
    static const char sql[] = "SELECT key, change_ns, until_ns, agents, (SELECT count(*) FROM belief WHERE "
                              "belief.strategy = change.strategy) FROM change WHERE strategy = ?";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool is_there = false, fine = store_query(store, sql, id, &statement, error) &&
                                  store_next(store, statement, &row, &is_there, error);
    if (fine && is_there) {
        size_t count = take_change(&row, out);
        fine = store_row_check(store, &row, error) && load_beliefs(store, id, out, count, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

/* Loads the metrics of a run, and counts runs by them. */

bool store_metrics_load(struct store *store, int64_t id, struct lab_metrics *out, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true;
    bool fine = store_prepare(store, "SELECT name, value FROM metric WHERE strategy = ? ORDER BY position",
                              &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_name(&row);
        double value = store_take_real(&row);
        fine = store_row_check(store, &row, error);
        if (fine && !lab_metrics_add(out, name, value))
            fine = sim_fail_memory(error);
        free(name);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_load_metrics(struct store *store, int64_t run, const char *label, struct lab_metrics *out,
                        struct sim_error *error)
{
    static const char sql[] = "SELECT strategy FROM strategy WHERE run = ? AND label = ?";
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = false;
    int64_t id = 0;
    if (store->db == NULL)
        return true;
    bool fine = store_prepare(store, sql, &statement, error);
    if (fine) {
        sqlite3_bind_int64(statement, 1, run);
        sqlite3_bind_text(statement, 2, label, -1, SQLITE_STATIC);
        fine = store_next(store, statement, &row, &more, error);
    }
    if (fine && more)
        id = store_take_integer(&row);
    sqlite3_finalize(statement);
    return fine && (!more || store_metrics_load(store, id, out, error));
}

bool store_count_looks(struct store *store, int64_t run, const char *label, uint64_t *out,
                       struct sim_error *error)
{
    static const char sql[] = "SELECT count(*) FROM metric JOIN strategy USING (strategy) WHERE name = "
                              "'drift.run' AND value = ? AND label = ?";
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = false;
    *out = 0;
    bool fine = store_prepare(store, sql, &statement, error);
    if (fine) {
        sqlite3_bind_double(statement, 1, (double)run);
        sqlite3_bind_text(statement, 2, label, -1, SQLITE_STATIC);
        fine = store_next(store, statement, &row, &more, error);
    }
    if (fine && more)
        *out = (uint64_t)store_take_whole(&row, INT64_MAX);
    sqlite3_finalize(statement);
    return fine;
}

/* Stores and loads the largest partitions of a run. */

static const char *const units[LAB_SIZE_UNITS] = {[LAB_IN_ROWS] = "rows", [LAB_IN_BYTES] = "bytes"};

bool store_largest_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                        const struct lab_largest *largest, struct sim_error *error)
{
    bool fine = true;
    for (int unit = 0; fine && unit < LAB_SIZE_UNITS; unit++) {
        if (largest[unit].size == 0)
            continue;
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, units[unit]);
        store_bind_text(&binder, largest[unit].key);
        store_bind_whole(&binder, largest[unit].key_index);
        store_bind_integer(&binder, largest[unit].bucket);
        store_bind_whole(&binder, largest[unit].size);
        fine = store_bind_run(store, &binder, error);
    }
    return fine;
}

static void take_largest(struct store_row *row, struct lab_largest *largest)
{
    char *key = store_take_text(row);
    if (key == NULL || strlen(key) >= sizeof largest->key)
        row->is_damaged = true;
    else
        strcpy(largest->key, key);
    free(key);
    largest->key_index = (uint64_t)store_take_whole(row, UINT64_MAX);
    largest->bucket = store_take_integer(row);
    largest->size = (uint64_t)store_take_whole(row, UINT64_MAX);
}

bool store_largest_load(struct store *store, int64_t id, struct lab_largest *out, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true, fine = store_prepare(store,
                                           "SELECT unit, key, key_index, bucket, size FROM largest WHERE "
                                           "strategy = ?",
                                           &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *unit = store_take_text(&row);
        int index = 0;
        while (index < LAB_SIZE_UNITS && unit != NULL && strcmp(unit, units[index]) != 0)
            index++;
        if (index == LAB_SIZE_UNITS)
            row.is_damaged = !row.is_out_of_memory;
        else
            take_largest(&row, &out[index]);
        fine = store_row_check(store, &row, error);
        free(unit);
    }
    sqlite3_finalize(statement);
    return fine;
}
