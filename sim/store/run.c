/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves, loads and lists runs. A result goes in, and rows of the tables in schema.c go out, which are checked
 * when they are loaded. Written here is what is no plain column: criteria, settings, the bins of histograms
 * and the marks of an event log. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/setting.h"
#include "private.h"

/* --- Criteria: a row for each that is not the default --- */

#define TERM(member) offsetof(struct lab_result, member)

static const struct term {
    const char *name;
    size_t place; /* offset of a double in the result */
    double missing;
} terms[] = {
    {"over_limit_share", TERM(limits.over_limit_share), 0},
    {"partition_writes", TERM(limits.rate[LAB_RATE_WRITES]), 0},
    {"partition_reads", TERM(limits.rate[LAB_RATE_READS]), 0},
    {"confidence", TERM(limits.confidence), LAB_TUNE_CONFIDENCE},
    {"tolerance", TERM(limits.tolerance), LAB_TUNE_TOLERANCE},
    {"price.counter_increment", TERM(prices.counter_increment), 0},
    {"price.state_read", TERM(prices.state_read), 0},
    {"price.state_write", TERM(prices.state_write), 0},
    {"price.lwt", TERM(prices.lwt), 0},
    {"price.lock", TERM(prices.lock), 0},
    {"price.row_scanned", TERM(prices.row_scanned), 0},
    {"price.partition_read", TERM(prices.partition_read), 0},
};

#define TERM_COUNT (sizeof terms / sizeof *terms)

static double *term_at(struct lab_result *result, size_t i)
{
    return (double *)(void *)((unsigned char *)result + terms[i].place);
}

static bool save_terms(struct store *store, int64_t run, struct lab_result result, struct sim_error *error)
{
    struct store_term_row rows[TERM_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < TERM_COUNT; i++) {
        if (*term_at(&result, i) != terms[i].missing)
            rows[count++] = (struct store_term_row){(char *)(uintptr_t)terms[i].name, *term_at(&result, i)};
    }
    return store_rows_save(store, STORE_TERM, run, rows, count, error);
}

/* Ignores a name that is not known, which a later version of the program wrote. */
static bool load_terms(struct store *store, int64_t run, struct lab_result *result, struct sim_error *error)
{
    struct store_term_row *rows;
    size_t count;
    const bool fine = store_rows_load(store, STORE_TERM, run, &rows, &count, error);
    for (size_t i = 0; fine && i < TERM_COUNT; i++) {
        *term_at(result, i) = terms[i].missing;
        for (size_t j = 0; j < count; j++) {
            if (strcmp(terms[i].name, rows[j].name) == 0)
                *term_at(result, i) = rows[j].value;
        }
    }
    store_rows_free(STORE_TERM, rows, count);
    return fine;
}

/* --- Settings: by the table of settings. Those of the N-th change have the prefix "then.N.", N from 1 --- */

#define NAME_SIZE 48

/* How a setting's value is stored; STORE_BLOB: not as such. */
static enum store_type type_of(const struct lab_setting *setting)
{
    switch (setting->type) {
    case LAB_SETTING_U32:
        return STORE_U32;
    case LAB_SETTING_U64:
    case LAB_SETTING_BYTES:
        return STORE_WHOLE;
    case LAB_SETTING_DURATION:
    case LAB_SETTING_TIME:
        return STORE_INTEGER;
    case LAB_SETTING_FLAG:
        return STORE_FLAG;
    case LAB_SETTING_CHOICE:
        return STORE_WORD;
    case LAB_SETTING_TEXT:
        return STORE_TEXT;
    default:
        return STORE_BLOB;
    }
}

/* Saves the settings of the strategy, or of one of its changes. */
static bool save_some(struct store *store, int64_t id, uint32_t change, const struct lab_settings *settings,
                      struct sim_error *error)
{
    enum bk_kind kind = lab_settings_kind(settings);
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        char name[NAME_SIZE] = "";
        if (setting->stored == NULL || !lab_setting_is_said(setting, settings, change, LAB_ZERO_STORED))
            continue;
        if (change > 0)
            snprintf(name, sizeof name, "then.%" PRIu32 ".%s", change, setting->stored);
        struct store_binder binder;
        if (!store_bind_begin(store, STORE_SETTING, id, &binder, error))
            return false;
        store_bind_text(&binder, change > 0 ? name : setting->stored);
        const struct store_column column = {.type = type_of(setting),
                                            .offset = lab_setting_place(setting, kind, change)};
        if (column.type == STORE_WORD)
            store_bind_text(&binder,
                            lab_setting_word(setting->words,
                                             *(const int *)(const void *)((const unsigned char *)settings +
                                                                          column.offset)));
        else
            store_bind_column(&binder, &column, settings);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

/* Returns LAB_KIND_COUNT when there is no such kind. */
static enum bk_kind find_kind(const char *name)
{
    int kind = 0;
    while (kind < (int)LAB_KIND_COUNT && strcmp(name, lab_kind_name((enum bk_kind)kind)) != 0)
        kind++;
    return (enum bk_kind)kind;
}

static int take_choice(struct store_row *row, const struct lab_choice *words)
{
    char *name = store_take_text(row);
    while (name != NULL && words->name != NULL && strcmp(name, words->name) != 0)
        words++;
    free(name);
    row->is_damaged = row->is_damaged || words->name == NULL;
    return words->value;
}

/* Loads one row of the table; false when strategies of this kind have no such setting. */
static bool take_setting(struct store_row *row, enum bk_kind kind, const char *name, struct lab_settings *out)
{
    uint32_t change = 0;
    if (strncmp(name, "then.", 5) == 0) {
        char *end;
        unsigned long number = strtoul(name + 5, &end, 10);
        bool is_digit = name[5] >= '1' && name[5] <= '9';
        if (!is_digit || number > LAB_CHANGES_MAX || *end != '.' || kind >= BK_KINDS)
            return false;
        name = end + 1;
        change = (uint32_t)number;
        if (change > out->change_count)
            out->change_count = change;
        out->changes[change - 1].strategy.kind = kind;
    }
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        size_t place = lab_setting_place(setting, kind, change);
        if (place == SIZE_MAX || setting->stored == NULL || strcmp(setting->stored, name) != 0)
            continue;
        const struct store_column column = {.type = type_of(setting), .offset = place};
        if (column.type == STORE_TEXT)
            free(*(char **)(void *)((unsigned char *)out + place));
        if (column.type == STORE_WORD)
            *(int *)(void *)((unsigned char *)out + place) = take_choice(row, setting->words);
        else
            store_take_column(row, &column, out);
        return true;
    }
    return false;
}

/* Whether a scenario can have these settings; otherwise the database is damaged. */
static bool can_be(const struct lab_settings *settings, enum bk_kind kind)
{
    const struct lab_change *changes = settings->changes;
    for (uint32_t i = 0; i < settings->change_count; i++) {
        if (bk_strategy_check(&changes[i].strategy) != BK_OK || changes[i].rollout_ns < 0 ||
            changes[i].at_ns <= (i == 0 ? 0 : changes[i - 1].at_ns))
            return false;
    }
    if (kind == LAB_KIND_IDGEN && bk_idgen_check(&settings->idgen) != BK_OK)
        return false;
    if (kind == LAB_KIND_OBSERVED && (settings->observed == WL_OBSERVED_AUTO ||
                                      settings->observed_file == NULL || settings->observed_table == NULL))
        return false;
    for (size_t i = 0; i < lab_setting_count; i++) {
        size_t place = lab_setting_place(&lab_setting_table[i], kind, 0);
        bool is_span = lab_setting_table[i].type == LAB_SETTING_DURATION && place != SIZE_MAX;
        if (is_span && *(const int64_t *)(const void *)((const unsigned char *)settings + place) < 0)
            return false;
    }
    return bk_strategy_check(&settings->strategy) == BK_OK;
}

/* kind: the name of the strategy's kind, as stored. */
static bool load_settings(struct store *store, int64_t id, const char *kind, struct lab_strategy_result *out,
                          struct sim_error *error)
{
    memset(&out->settings.strategy, 0, sizeof out->settings.strategy);
    enum bk_kind known = find_kind(kind);
    out->settings.is_idgen = known == LAB_KIND_IDGEN;
    out->settings.strategy.kind =
        out->settings.is_idgen || known == LAB_KIND_OBSERVED ? BK_KIND_UNBUCKETED : known;
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool more = true, fine = store_query(store, "SELECT name, value FROM setting WHERE strategy = ?", id,
                                         NULL, &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_text(&row);
        if (name == NULL || !take_setting(&row, known, name, &out->settings))
            row.is_damaged = true;
        free(name);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    out->settings.idgen.client_id =
        out->settings.is_idgen ? 1 : 0; /* not stored: each client of a run has its own */
    if (fine && !can_be(&out->settings, known))
        fine = store_fail_damaged(store, "a strategy that cannot be", error);
    return fine;
}

/* --- Histograms, and their latencies --- */

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

/* JSON numbers have 63 bits in SQLite; a larger one is a string of digits, as in other columns. */
static void put_whole(GString *text, uint64_t value, char after)
{
    const char *quote = value > INT64_MAX ? "\"" : "";
    g_string_append_printf(text, "%s%" PRIu64 "%s%c", quote, value, quote, after);
}

/* Returns the bins as JSON, in order of size: [[size, count, weight], ...]. NULL: out of memory. */
static char *write_bins(const struct lab_histogram *histogram)
{
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    if (bins == NULL && histogram->used > 0)
        return NULL;
    GString *text = g_string_new("[");
    for (size_t i = 0; i < count; i++) {
        g_string_append(text, i > 0 ? ",[" : "[");
        put_whole(text, bins[i].size, ',');
        put_whole(text, bins[i].count, ',');
        put_whole(text, bins[i].weight, ']');
    }
    free(bins);
    return g_string_free(g_string_append_c(text, ']'), FALSE);
}

static bool save_histograms(struct store *store, int64_t id, const struct lab_strategy_result *result,
                            struct sim_error *error)
{
    bool fine = true;
    for (size_t i = 0; fine && i < PLACE_COUNT; i++) {
        struct store_histogram_row row = {.state = (char *)(uintptr_t)places[i].state,
                                          .unit = (char *)(uintptr_t)places[i].unit};
        memcpy(&row.figures, (const char *)result + places[i].offset, sizeof row.figures);
        if (i >= ALWAYS_COUNT && row.figures.count == 0)
            continue;
        row.bins = row.figures.out_of_memory ? NULL : write_bins(&row.figures);
        fine = row.bins != NULL ? store_rows_save(store, STORE_HISTOGRAM, id, &row, 1, error)
                                : sim_fail_memory(error);
        free(row.bins);
    }
    return fine;
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
    const bool is_text = **at == '"';
    const char *begin = *at + is_text;
    char *end;
    errno = 0;
    *value = g_ascii_strtoull(begin, &end, 10);
    if (!g_ascii_isdigit(*begin) || errno != 0 || (is_text && *end++ != '"') || *end++ != after)
        return false;
    *at = end;
    return true;
}

/* Reads what write_bins() writes. bins: of struct lab_bin. */
static bool read_bins(const char *text, GArray *bins)
{
    if (*text++ != '[')
        return false;
    for (bool more = *text != ']'; more; text += more) {
        struct lab_bin bin;
        if (*text++ != '[' || !read_whole(&text, ',', &bin.size) || !read_whole(&text, ',', &bin.count) ||
            !read_whole(&text, ']', &bin.weight))
            return false;
        g_array_append_val(bins, bin);
        more = *text == ',';
    }
    return strcmp(text, "]") == 0;
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

static bool load_histogram(struct store *store, const struct store_histogram_row *row,
                           struct lab_strategy_result *result, size_t *loaded, struct sim_error *error)
{
    bool is_latency;
    struct lab_histogram *histogram = find_place(result, row->state, row->unit, &is_latency);
    GArray *bins = g_array_new(FALSE, FALSE, sizeof(struct lab_bin));
    struct lab_bin *first;
    bool fine = (histogram != NULL || store_fail_damaged(store, "an unknown histogram", error)) &&
                (read_bins(row->bins, bins) || store_fail_damaged(store, "bins that no run has", error));
    first = (struct lab_bin *)(void *)bins->data;
    if (fine && !agree(first, bins->len, &row->figures))
        fine = store_fail_damaged(store, "a histogram that does not add up", error);
    if (fine && !lab_histogram_restore(histogram, first, bins->len, &row->figures))
        fine = sim_fail_memory(error);
    *loaded += fine && !is_latency;
    g_array_free(bins, TRUE);
    return fine;
}

static bool load_histograms(struct store *store, int64_t id, struct lab_strategy_result *result,
                            struct sim_error *error)
{
    struct store_histogram_row *rows;
    size_t count, loaded = 0;
    bool fine = store_rows_load(store, STORE_HISTOGRAM, id, &rows, &count, error);
    for (size_t i = 0; fine && i < count; i++)
        fine = load_histogram(store, &rows[i], result, &loaded, error);
    store_rows_free(STORE_HISTOGRAM, rows, count);
    return fine && (loaded == ALWAYS_COUNT ||
                    store_fail_damaged(store, "a strategy without all of its histograms", error));
}

/* --- Event logs and views of cluster runs --- */

#define MARK_BYTES 2

static bool save_events(struct store *store, int64_t id, const struct lab_event_log *events,
                        struct sim_error *error)
{
    if (events->stride == 0)
        return true;
    /* Written in little-endian order on every machine. */
    struct store_event_row row = {.log = *events, .marks.size = events->mark_count * MARK_BYTES};
    row.marks.bytes = g_malloc(row.marks.size + 1);
    for (size_t i = 0; i < row.marks.size; i++)
        row.marks.bytes[i] = (unsigned char)(events->marks[i / MARK_BYTES] >> (8 * (i % MARK_BYTES)) & 0xff);
    const bool fine = store_rows_save(store, STORE_EVENT_LOG, id, &row, 1, error);
    free(row.marks.bytes);
    return fine;
}

static bool is_log_sound(const struct lab_event_log *events, size_t bytes)
{
    bool is_power = events->stride != 0 && (events->stride & (events->stride - 1)) == 0;
    return is_power && bytes % MARK_BYTES == 0 && bytes / MARK_BYTES <= LAB_EVENT_MARKS_MAX &&
           bytes / MARK_BYTES == events->events / events->stride;
}

static void take_marks(struct lab_event_log *events, const unsigned char *bytes, size_t size)
{
    events->mark_count = size / MARK_BYTES;
    events->marks = g_new0(uint16_t, events->mark_count);
    for (size_t i = 0; i < events->mark_count; i++)
        events->marks[i] = (uint16_t)(bytes[MARK_BYTES * i] | bytes[MARK_BYTES * i + 1] << 8);
}

static bool load_events(struct store *store, int64_t id, struct lab_event_log *out, struct sim_error *error)
{
    struct store_event_row *row;
    size_t count;
    bool fine = store_rows_load(store, STORE_EVENT_LOG, id, &row, &count, error);
    if (fine && count > 0) {
        *out = row->log;
        fine = is_log_sound(out, row->marks.size) ||
               store_fail_damaged(store, "marks that do not fit their events", error);
        if (fine)
            take_marks(out, row->marks.bytes, row->marks.size);
    }
    store_rows_free(STORE_EVENT_LOG, row, count);
    return fine;
}

static bool load_views(struct store *store, int64_t id, struct lab_views *out, struct sim_error *error)
{
    struct lab_views *change;
    size_t count;
    bool fine = store_rows_load(store, STORE_CHANGE, id, &change, &count, error);
    if (count > 0) {
        *out = *change;
        fine = fine && store_rows_load(store, STORE_BELIEF, id, &out->items, &out->count, error);
        out->capacity = out->count;
    }
    free(change);
    for (size_t i = 0; fine && i < out->count; i++) {
        if (out->items[i].agent >= out->agents)
            fine = store_fail_damaged(store, "a belief of no agent", error);
    }
    return fine;
}

/* --- Slices and largest partitions --- */

static bool is_sound(const struct lab_slice_sizes *sizes)
{
    return sizes->least <= sizes->p10 && sizes->p10 <= sizes->p50 && sizes->p50 <= sizes->p90 &&
           sizes->p90 <= sizes->most;
}

static bool load_slices(struct store *store, int64_t id, struct lab_timeline *out, struct sim_error *error)
{
    bool fine = store_rows_load(store, STORE_SLICE, id, &out->items, &out->count, error);
    for (size_t i = 0; fine && i < out->count; i++) {
        const struct lab_slice *slice = &out->items[i];
        if (slice->start_ns > slice->end_ns || slice->partitions == 0 ||
            !is_sound(&slice->sizes[LAB_IN_ROWS]) || !is_sound(&slice->sizes[LAB_IN_BYTES]))
            fine = store_fail_damaged(store, "a slice that no run has", error);
    }
    return fine;
}

static bool save_largest(struct store *store, int64_t id, const struct lab_largest *largest,
                         struct sim_error *error)
{
    bool fine = true;
    for (int unit = 0; fine && unit < LAB_SIZE_UNITS; unit++) {
        const struct store_largest_row row = {(enum lab_size_unit)unit, largest[unit]};
        fine = row.largest.size == 0 || store_rows_save(store, STORE_LARGEST, id, &row, 1, error);
    }
    return fine;
}

static bool load_largest(struct store *store, int64_t id, struct lab_largest *out, struct sim_error *error)
{
    struct store_largest_row *rows;
    size_t count;
    const bool fine = store_rows_load(store, STORE_LARGEST, id, &rows, &count, error);
    for (size_t i = 0; fine && i < count; i++)
        out[rows[i].unit] = rows[i].largest;
    free(rows);
    return fine;
}

/* --- A run --- */

static bool save_strategy(struct store *store, int64_t run, size_t position,
                          const struct lab_strategy_result *result, struct sim_error *error)
{
    const struct store_strategy_row row = {.position = (int64_t)position,
                                           .label = result->label,
                                           .kind = (char *)(uintptr_t)lab_result_kind(result),
                                           .placement_digest = result->placement_digest};
    const struct lab_views *views = &result->views;
    if (!store_rows_save(store, STORE_STRATEGY, run, &row, 1, error))
        return false;
    const int64_t id = sqlite3_last_insert_rowid(store->db);
    for (uint32_t change = 0; change <= result->settings.change_count; change++) {
        if (!save_some(store, id, change, &result->settings, error))
            return false;
    }
    return store_rows_save(store, STORE_METRIC, id, result->metrics.items, result->metrics.count, error) &&
           save_histograms(store, id, result, error) && save_largest(store, id, result->largest, error) &&
           store_rows_save(store, STORE_SLICE, id, result->timeline.items, result->timeline.count, error) &&
           store_rows_save(store, STORE_NODE, id, result->nodes, result->node_count, error) &&
           save_events(store, id, &result->events, error) &&
           store_rows_save(store, STORE_CHANGE, id, views, views->key != NULL, error) &&
           store_rows_save(store, STORE_BELIEF, id, views->items, views->count, error);
}

bool store_save_within(struct store *store, const struct store_run_info *info,
                       const struct lab_result *result, int64_t *run, struct sim_error *error)
{
    assert(store->mode == STORE_WRITE);
    const struct store_head head = {.info = *info, .result = *result, .digest_kind = STORE_DIGEST_KIND};
    bool fine = store_rows_save(store, STORE_RUN, 0, &head, 1, error);
    *run = fine ? sqlite3_last_insert_rowid(store->db) : 0;
    fine = fine && save_terms(store, *run, *result, error);
    for (size_t i = 0; fine && i < result->strategy_count; i++)
        fine = save_strategy(store, *run, i, &result->strategies[i], error);
    return fine &&
           store_rows_save(store, STORE_EXPECTATION, *run, result->expects, result->expect_count, error);
}

bool store_save_run(struct store *store, struct store_run_info *info, const struct lab_result *result,
                    struct sim_error *error)
{
    bool is_new, fine = store_begin(store, &is_new, error);
    int64_t run = 0;
    fine =
        fine && store_save_within(store, info, result, &run, error) && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    if (fine)
        info->run = run;
    return fine;
}

#define RUNS_LISTED 200 /* bytes */

/* The error lists the numbers of the runs, such as "1 to 5, 8, 10 to 12", as far as they fit into a line. */
static bool fail_missing(struct store *store, int64_t run, struct sim_error *error)
{
    static const char sql[] =
        "SELECT group_concat(CASE first WHEN last THEN first ELSE first || ' to ' || last END, ', ') FROM "
        "(SELECT min(run) AS first, max(run) AS last FROM (SELECT run, run - row_number() OVER (ORDER BY "
        "run) AS island FROM run) GROUP BY island ORDER BY 1)";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool more = false, fine = store->db == NULL || (store_query(store, sql, 0, NULL, &statement, error) &&
                                                    store_next(store, statement, &row, &more, error));
    g_autofree char *list = more ? store_take_text(&row) : NULL;
    sqlite3_finalize(statement);
    if (!fine)
        return false;
    if (list == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: has no run yet; run a scenario first, or name another with --db", store->path);
    const bool is_long = strlen(list) > RUNS_LISTED, is_one = strpbrk(list, " ,") == NULL;
    if (is_long) {
        list[RUNS_LISTED] = '\0';
        *strrchr(list, ',') = '\0';
    }
    return sim_fail(error, SIM_ERROR_INPUT, "%s: no run %lld; it has run%s %s%s", store->path, (long long)run,
                    is_one ? "" : "s", list, is_long ? ", ..." : "");
}

void store_info_clear(struct store *store)
{
    free((char *)(uintptr_t)store->info.version);
    free((char *)(uintptr_t)store->info.scenario_path);
    free((char *)(uintptr_t)store->info.scenario_text);
    free((char *)(uintptr_t)store->info.overrides);
    store->info = (struct store_run_info){0};
}

/* Loads what a run's row has; 0: the newest run. */
static bool load_head(struct store *store, int64_t run, struct lab_result *result, size_t *strategies,
                      struct sim_error *error)
{
    struct store_head *head;
    size_t count;
    bool fine = store_rows_find(store, STORE_RUN, "?1 IN (run, 0) ORDER BY run DESC LIMIT 1", run, NULL,
                                &head, &count, error);
    if (count > 0) {
        store_info_clear(store);
        *result = head->result;
        store->info = head->info;
        store->info.has_earlier_digest = head->digest_kind < STORE_DIGEST_KIND;
        *strategies = (size_t)head->strategies;
    }
    free(head);
    if (fine && count == 0)
        return fail_missing(store, run, error);
    return fine;
}

static bool load_strategy(struct store *store, struct store_strategy_row *row,
                          struct lab_strategy_result *out, struct sim_error *error)
{
    const int64_t id = row->id;
    out->label = row->label;
    row->label = NULL;
    out->placement_digest = row->placement_digest;
    bool fine = load_settings(store, id, row->kind, out, error) &&
                store_rows_load(store, STORE_METRIC, id, &out->metrics.items, &out->metrics.count, error);
    out->metrics.capacity = out->metrics.count;
    return fine && load_histograms(store, id, out, error) && load_largest(store, id, out->largest, error) &&
           load_slices(store, id, &out->timeline, error) &&
           store_rows_load(store, STORE_NODE, id, &out->nodes, &out->node_count, error) &&
           load_events(store, id, &out->events, error) && load_views(store, id, &out->views, error);
}

static bool load_strategies(struct store *store, int64_t run, size_t counted, struct lab_result *result,
                            struct sim_error *error)
{
    struct store_strategy_row *rows;
    size_t count;
    bool fine = store_rows_load(store, STORE_STRATEGY, run, &rows, &count, error) &&
                (count == counted || store_fail_damaged(store, "other strategies than were counted", error));
    result->strategies = g_new0(struct lab_strategy_result, count);
    for (size_t i = 0; fine && i < count; i++)
        fine = load_strategy(store, &rows[i], &result->strategies[result->strategy_count++], error);
    store_rows_free(STORE_STRATEGY, rows, count);
    return fine;
}

bool store_load_within(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                       struct sim_error *error)
{
    struct lab_result *result = *out = g_new0(struct lab_result, 1);
    size_t strategies = 0;
    bool fine = load_head(store, run, result, &strategies, error);
    run = store->info.run;
    fine = fine && load_terms(store, run, result, error) &&
           load_strategies(store, run, strategies, result, error) &&
           store_rows_load(store, STORE_EXPECTATION, run, &result->expects, &result->expect_count, error);
    result->expects_hold = true;
    for (size_t i = 0; i < result->expect_count; i++)
        result->expects_hold = result->expects_hold && result->expects[i].ok;
    if (!fine) {
        lab_result_destroy(result);
        *out = NULL;
    } else if (info != NULL) {
        *info = store->info;
    }
    return fine;
}

bool store_load_run(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                    struct sim_error *error)
{
    *out = NULL;
    if (store->db == NULL)
        return fail_missing(store, run, error);
    /* One transaction, so that all queries see the same state. */
    bool fine = store_execute(store, "BEGIN", error) && store_load_within(store, run, info, out, error);
    store_rollback(store);
    return fine;
}

bool store_load_metrics(struct store *store, int64_t run, const char *label, struct lab_metrics *out,
                        struct sim_error *error)
{
    bool fine = store->db == NULL ||
                store_rows_find(store, STORE_METRIC,
                                "strategy = (SELECT strategy FROM strategy WHERE run = ?1 AND label = ?2) "
                                "ORDER BY position",
                                run, label, &out->items, &out->count, error);
    out->capacity = out->count;
    return fine;
}

bool store_count_looks(struct store *store, int64_t run, const char *label, uint64_t *out,
                       struct sim_error *error)
{
    int64_t count;
    const bool fine = store_number(store,
                                   "SELECT count(*) FROM metric JOIN strategy USING (strategy) WHERE name = "
                                   "'drift.run' AND value = ?1 AND label = ?2",
                                   run, label, &count, NULL, error);
    *out = (uint64_t)count;
    return fine;
}

/* --- Lists of runs --- */

void store_runs_free(struct store_run_row *rows, size_t count)
{
    store_rows_free(STORE_RUN_LIST, rows, count);
}

bool store_list_runs(struct store *store, bool folds_sweeps, struct store_run_row **out, size_t *count,
                     struct sim_error *error)
{
    *out = NULL;
    *count = 0;
    if (store->db == NULL ||
        store_rows_find(store, STORE_RUN_LIST, "?1 = 0 OR newest IS NULL OR run = newest ORDER BY run DESC",
                        folds_sweeps, NULL, out, count, error))
        return true;
    store_runs_free(*out, *count);
    *out = NULL;
    *count = 0;
    return false;
}
