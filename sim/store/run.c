/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves, loads and lists runs, with their criteria and the settings of their strategies; strategy.c has the
 * rest of each strategy. */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "lab/setting.h"
#include "private.h"

/* Stores and loads the criteria by which a run is judged, with a row for each criterion that is not the
 * default. */

#define TERM(member) offsetof(struct lab_result, member)

static const struct term {
    const char *name;
    size_t place; /* offset of a double in the result */
    double missing;
} terms[] = {
    {"over_limit_share", TERM(limits.over_limit_share), 0},
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

enum insert {
    INSERT_RUN,
    INSERT_STRATEGY,
    INSERT_SETTING,
    INSERT_METRIC,
    INSERT_HISTOGRAM,
    INSERT_EXPECTATION,
    INSERT_EVENT_LOG,
    INSERT_CHANGE,
    INSERT_BELIEF,
    INSERT_LARGEST,
    INSERT_SLICE,
    INSERT_NODE,
    INSERT_TERM,
    INSERT_COUNT
};

static const char *const inserts[INSERT_COUNT] = {
    [INSERT_RUN] = "INSERT INTO run (scenario, about, source, seed, digest, rows, keys, start_ns, end_ns, "
                   "limit_partition_rows, limit_partition_bytes, limit_tiny_rows, created_unix_s, "
                   "elapsed_ms, version, scenario_path, scenario_text, overrides) VALUES (?, ?, ?, ?, ?, ?, "
                   "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_STRATEGY] =
        "INSERT INTO strategy (run, position, label, kind, placement_digest) VALUES (?, ?, ?, ?, ?)",
    [INSERT_SETTING] = "INSERT INTO setting (strategy, name, value) VALUES (?, ?, ?)",
    [INSERT_METRIC] = "INSERT INTO metric (strategy, position, name, value) VALUES (?, ?, ?, ?)",
    [INSERT_HISTOGRAM] = "INSERT INTO histogram (strategy, state, unit, is_rounded, count, weight, least, "
                         "most, sum, sum_of_squares, weighted_sum, weighted_sum_of_squares, bins) VALUES (?, "
                         "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_EXPECTATION] = "INSERT INTO expectation (run, position, text, actual, ok) VALUES (?, ?, ?, ?, ?)",
    [INSERT_EVENT_LOG] =
        "INSERT INTO event_log (strategy, digest, events, stride, marks) VALUES (?, ?, ?, ?, ?)",
    [INSERT_CHANGE] =
        "INSERT INTO change (strategy, key, change_ns, until_ns, agents) VALUES (?, ?, ?, ?, ?)",
    [INSERT_BELIEF] = ("INSERT INTO belief (strategy, position, time_ns, agent, bucket, is_known, "
                       "is_changing) VALUES (?, ?, ?, ?, ?, ?, ?)"),
    [INSERT_LARGEST] =
        "INSERT INTO largest (strategy, unit, key, key_index, bucket, size) VALUES (?, ?, ?, ?, ?, ?)",
    [INSERT_SLICE] =
        "INSERT INTO slice (strategy, state, start_ns, end_ns, partitions, rows_least, rows_p10, "
        "rows_p50, rows_p90, rows_most, bytes_least, bytes_p10, bytes_p50, bytes_p90, "
        "bytes_most) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_TERM] = "INSERT INTO run_term (run, name, value) VALUES (?, ?, ?)",
    [INSERT_NODE] = "INSERT INTO node (strategy, position, name, rows, bytes) VALUES (?, ?, ?, ?, ?)",
};

struct store_saver {
    sqlite3_stmt *statements[INSERT_COUNT];
};

void store_saver_free(struct store_saver *saver)
{
    for (int i = 0; saver != NULL && i < INSERT_COUNT; i++)
        sqlite3_finalize(saver->statements[i]);
    free(saver);
}

bool store_saver_make(struct store *store, struct store_saver **out, struct sim_error *error)
{
    struct store_saver *saver = *out = calloc(1, sizeof *saver);
    bool fine = saver != NULL || sim_fail_memory(error);
    for (int i = 0; fine && i < INSERT_COUNT; i++)
        fine = store_prepare(store, inserts[i], &saver->statements[i], error);
    if (!fine) {
        store_saver_free(saver);
        *out = NULL;
    }
    return fine;
}

static bool save_head(struct store *store, sqlite3_stmt *statement, const struct store_run_info *info,
                      const struct lab_result *result, struct sim_error *error)
{
    struct store_binder binder = {.statement = statement};
    store_bind_text(&binder, result->scenario_name);
    store_bind_text(&binder, result->about);
    store_bind_text(&binder, result->source);
    store_bind_whole(&binder, result->seed);
    store_bind_digest(&binder, result->digest);
    store_bind_whole(&binder, result->rows);
    store_bind_whole(&binder, result->keys);
    store_bind_integer(&binder, result->start_ns);
    store_bind_integer(&binder, result->end_ns);
    store_bind_whole(&binder, result->limits.partition_rows);
    store_bind_whole(&binder, result->limits.partition_bytes);
    store_bind_whole(&binder, result->limits.tiny_rows);
    store_bind_integer(&binder, info->created_unix_s);
    store_bind_integer(&binder, info->elapsed_ms);
    store_bind_text(&binder, info->version);
    store_bind_text(&binder, info->scenario_path);
    store_bind_text(&binder, info->scenario_text);
    store_bind_text(&binder, info->overrides);
    return store_bind_run(store, &binder, error);
}

#define TERM_COUNT (sizeof terms / sizeof *terms)

static bool store_terms_save(struct store *store, sqlite3_stmt *statement, int64_t run,
                             const struct lab_result *result, struct sim_error *error)
{
    for (size_t i = 0; i < TERM_COUNT; i++) {
        double value;
        memcpy(&value, (const unsigned char *)result + terms[i].place, sizeof value);
        if (value == terms[i].missing)
            continue;
        struct store_binder binder = {.statement = statement};
        store_bind_integer(&binder, run);
        store_bind_text(&binder, terms[i].name);
        store_bind_real(&binder, value);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

/* Stores and loads a strategy's settings, by the table of settings. The names of the settings of its N-th
 * change have the prefix "then.N.", with N from 1. */

#define NAME_SIZE 48

static void bind_value(struct store_binder *binder, const struct lab_setting *setting, const void *at)
{
    switch (setting->type) {
    case LAB_SETTING_U32:
        store_bind_whole(binder, *(const uint32_t *)at);
        break;
    case LAB_SETTING_U64:
    case LAB_SETTING_BYTES:
        store_bind_whole(binder, *(const uint64_t *)at);
        break;
    case LAB_SETTING_DURATION:
    case LAB_SETTING_TIME:
        store_bind_integer(binder, *(const int64_t *)at);
        break;
    case LAB_SETTING_FLAG:
        store_bind_integer(binder, *(const bool *)at);
        break;
    case LAB_SETTING_CHOICE:
        store_bind_text(binder, lab_setting_word(setting->words, *(const int *)at));
        break;
    case LAB_SETTING_TEXT:
        store_bind_text(binder, *(char *const *)at);
        break;
    case LAB_SETTING_CHANCE:
    case LAB_SETTING_WAIT:
    case LAB_SETTING_GROUP:
    case LAB_SETTING_CHANGES:
    case LAB_SETTING_LABEL:
        break; /* not kept as such */
    }
}

/* Saves the settings of the strategy, or of one of its changes. */
static bool save_some(struct store *store, sqlite3_stmt *insert, int64_t id, uint32_t change,
                      const struct lab_settings *settings, struct sim_error *error)
{
    enum bk_kind kind = lab_settings_kind(settings);
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        char name[NAME_SIZE] = "";
        if (setting->stored == NULL || !lab_setting_is_said(setting, settings, change, LAB_ZERO_STORED))
            continue;
        if (change > 0)
            snprintf(name, sizeof name, "then.%" PRIu32 ".%s", change, setting->stored);
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, change > 0 ? name : setting->stored);
        bind_value(&binder, setting,
                   (const unsigned char *)settings + lab_setting_place(setting, kind, change));
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

static bool store_settings_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                                const struct lab_strategy_result *result, struct sim_error *error)
{
    for (uint32_t change = 0; change <= result->settings.change_count; change++) {
        if (!save_some(store, insert, id, change, &result->settings, error))
            return false;
    }
    return true;
}

static bool save_strategy(struct store *store, sqlite3_stmt **statements, int64_t run, size_t position,
                          const struct lab_strategy_result *result, struct sim_error *error)
{
    struct store_binder binder = {.statement = statements[INSERT_STRATEGY]};
    store_bind_integer(&binder, run);
    store_bind_integer(&binder, (int64_t)position);
    store_bind_text(&binder, result->label);
    store_bind_text(&binder, lab_result_kind(result));
    store_bind_digest(&binder, result->placement_digest);
    if (!store_bind_run(store, &binder, error))
        return false;
    int64_t id = sqlite3_last_insert_rowid(store->db);
    if (!store_settings_save(store, statements[INSERT_SETTING], id, result, error))
        return false;
    for (size_t i = 0; i < result->metrics.count; i++) {
        binder = (struct store_binder){.statement = statements[INSERT_METRIC]};
        store_bind_integer(&binder, id);
        store_bind_integer(&binder, (int64_t)i);
        store_bind_text(&binder, result->metrics.items[i].name);
        store_bind_real(&binder, result->metrics.items[i].value);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return store_histograms_save(store, statements[INSERT_HISTOGRAM], id, result, error) &&
           store_largest_save(store, statements[INSERT_LARGEST], id, result->largest, error) &&
           store_slices_save(store, statements[INSERT_SLICE], id, &result->timeline, error) &&
           store_nodes_save(store, statements[INSERT_NODE], id, result, error) &&
           store_events_save(store, statements[INSERT_EVENT_LOG], id, &result->events, error) &&
           store_views_save(store, statements[INSERT_CHANGE], statements[INSERT_BELIEF], id, &result->views,
                            error);
}

static bool save_expectations(struct store *store, sqlite3_stmt *statement, int64_t run,
                              const struct lab_result *result, struct sim_error *error)
{
    for (size_t i = 0; i < result->expect_count; i++) {
        struct store_binder binder = {.statement = statement};
        store_bind_integer(&binder, run);
        store_bind_integer(&binder, (int64_t)i);
        store_bind_text(&binder, result->expects[i].text);
        store_bind_real(&binder, result->expects[i].actual);
        store_bind_integer(&binder, result->expects[i].ok);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

static bool save_all(struct store *store, sqlite3_stmt **statements, const struct store_run_info *info,
                     const struct lab_result *result, int64_t *run, struct sim_error *error)
{
    if (!save_head(store, statements[INSERT_RUN], info, result, error))
        return false;
    *run = sqlite3_last_insert_rowid(store->db);
    if (!store_terms_save(store, statements[INSERT_TERM], *run, result, error))
        return false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (!save_strategy(store, statements, *run, i, &result->strategies[i], error))
            return false;
    }
    return save_expectations(store, statements[INSERT_EXPECTATION], *run, result, error);
}

bool store_saver_add(struct store *store, struct store_saver *saver, const struct store_run_info *info,
                     const struct lab_result *result, int64_t *run, struct sim_error *error)
{
    return save_all(store, saver->statements, info, result, run, error);
}

bool store_save_within(struct store *store, const struct store_run_info *info,
                       const struct lab_result *result, int64_t *run, struct sim_error *error)
{
    assert(store->mode == STORE_WRITE);
    struct store_saver *saver;
    bool fine =
        store_saver_make(store, &saver, error) && store_saver_add(store, saver, info, result, run, error);
    store_saver_free(saver);
    return fine;
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

/* Lists the runs of a database. */

static bool take_row(struct store *store, struct store_row *row, struct store_run_row *out,
                     struct sim_error *error)
{
    out->run = store_take_integer(row);
    out->scenario_name = store_take_name(row);
    out->seed = (uint64_t)store_take_whole(row, UINT64_MAX);
    out->digest = store_take_digest(row);
    out->rows = (uint64_t)store_take_whole(row, UINT64_MAX);
    out->created_unix_s = store_take_integer(row);
    out->elapsed_ms = (int64_t)store_take_whole(row, INT64_MAX / 2);
    out->strategy_count = store_take_integer(row);
    out->expects = store_take_integer(row);
    out->expects_failed = store_take_integer(row);
    out->version = store_take_text(row);
    out->sweep = store_take_integer(row);
    out->sweep_runs = store_take_integer(row);
    return store_row_check(store, row, error);
}

void store_runs_free(struct store_run_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(rows[i].scenario_name);
        free(rows[i].version);
    }
    free(rows);
}

/* Lists runs, with the number of their sweep and its number of runs; folds_sweeps: with only the newest run
 * of each sweep. */
static bool list(struct store *store, int folds_sweeps, struct store_run_row **out, size_t *count,
                 struct sim_error *error)
{
    static const char sql[] =
        "SELECT run, scenario, seed, digest, rows, created_unix_s, elapsed_ms, (SELECT count(*) FROM "
        "strategy "
        "WHERE strategy.run = run.run), (SELECT count(*) FROM expectation WHERE expectation.run = run.run), "
        "(SELECT count(*) FROM expectation WHERE expectation.run = run.run AND NOT ok), version, "
        "coalesce(sweep, 0), coalesce(runs, 0) FROM run LEFT JOIN sweep_job USING (run) LEFT JOIN (SELECT "
        "sweep, count(*) AS runs, max(run) AS newest FROM sweep_job GROUP BY sweep) USING (sweep) WHERE ?1 = "
        "0 OR newest IS NULL OR run = newest ORDER BY run DESC";
    *out = NULL;
    *count = 0;
    if (store->db == NULL)
        return true;
    sqlite3_stmt *statement;
    struct store_row row;
    struct store_run_row *rows = NULL;
    size_t used = 0, capacity = 0;
    bool more = true, fine = store_prepare(store, sql, &statement, error);
    if (fine)
        sqlite3_bind_int(statement, 1, folds_sweeps);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        if (!sim_grow(&rows, &capacity, used + 1, sizeof *rows))
            fine = sim_fail_memory(error);
        else
            fine = take_row(store, &row, &rows[used++], error);
    }
    sqlite3_finalize(statement);
    if (!fine) {
        store_runs_free(rows, used);
        return false;
    }
    *out = rows;
    *count = used;
    return true;
}

/* Loads a run. */

/* Lists the numbers of the runs, such as "1 to 5, 8, 10 to 12", as far as they fit into a line. */
static bool list_runs(struct store *store, char *list, size_t size, struct sim_error *error)
{
    static const char sql[] = "SELECT min(run), max(run) FROM (SELECT run, run - row_number() OVER (ORDER BY "
                              "run) AS island FROM run) GROUP BY island ORDER BY 1";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool more = store->db != NULL, fine = !more || store_prepare(store, sql, &statement, error);
    size_t used = 0;
    list[0] = '\0';
    while (more && fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        long long first = (long long)store_take_integer(&row), last = (long long)store_take_integer(&row);
        const char *comma = used == 0 ? "" : ", ";
        if (used > size - 64) {
            used += (size_t)snprintf(list + used, size - used, ", ...");
            break;
        }
        if (first == last)
            used += (size_t)snprintf(list + used, size - used, "%s%lld", comma, first);
        else
            used += (size_t)snprintf(list + used, size - used, "%s%lld to %lld", comma, first, last);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool fail_missing(struct store *store, int64_t run, struct sim_error *error)
{
    char list[256];
    if (!list_runs(store, list, sizeof list, error))
        return false;
    if (list[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: has no run yet; run a scenario first, or name another with --db", store->path);
    return sim_fail(error, SIM_ERROR_INPUT, "%s: no run %lld; it has run%s %s", store->path, (long long)run,
                    strpbrk(list, " ,") == NULL ? "" : "s", list);
}

static void take_head(struct store *store, struct store_row *row, struct store_run_info *info,
                      struct lab_result *result)
{
    memset(info, 0, sizeof *info);
    info->run = store_take_integer(row);
    info->created_unix_s = store_take_integer(row);
    info->elapsed_ms = (int64_t)store_take_whole(row, INT64_MAX / 2);
    for (int i = 0; i < STORE_INFO_TEXTS; i++) {
        free(store->texts[i]);
        store->texts[i] = store_take_text(row);
    }
    info->version = store->texts[0];
    info->scenario_path = store->texts[1];
    info->scenario_text = store->texts[2];
    info->overrides = store->texts[3];
    result->scenario_name = store_take_name(row);
    result->about = store_take_text(row);
    result->source = store_take_text(row);
    result->seed = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->digest = store_take_digest(row);
    result->rows = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->keys = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->start_ns = store_take_integer(row);
    result->end_ns = store_take_integer(row);
    result->limits.partition_rows = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->limits.partition_bytes = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->limits.tiny_rows = (uint64_t)store_take_whole(row, UINT64_MAX);
}

static bool load_head(struct store *store, int64_t run, struct store_run_info *info,
                      struct lab_result *result, bool *is_there, struct sim_error *error)
{
    /* Strategies are counted in their table and found through its index: if one of the two is damaged, the
     * results differ. */
    static const char sql[] =
        "SELECT run, created_unix_s, elapsed_ms, version, scenario_path, scenario_text, overrides, scenario, "
        "about, CASE source WHEN 'made' THEN 'synthetic' ELSE source END, seed, digest, rows, keys, "
        "start_ns, end_ns, limit_partition_rows, "
        "limit_partition_bytes, limit_tiny_rows, (SELECT count(*) FROM strategy NOT INDEXED WHERE "
        "strategy.run = run.run), (SELECT count(*) FROM expectation WHERE expectation.run = run.run), "
        "EXISTS (SELECT 1 FROM tune WHERE tune.run = run.run) FROM run WHERE ?1 IN (run, 0) ORDER BY run "
        "DESC LIMIT 1";
    sqlite3_stmt *statement;
    struct store_row row;
    *is_there = false;
    bool fine = store_query(store, sql, run, &statement, error) &&
                store_next(store, statement, &row, is_there, error);
    if (fine && *is_there) {
        take_head(store, &row, info, result);
        size_t strategies = (size_t)store_take_whole(&row, INT64_MAX);
        size_t expects = (size_t)store_take_whole(&row, INT64_MAX);
        result->is_tuned = store_take_whole(&row, 1) != 0;
        result->strategies = calloc(strategies > 0 ? strategies : 1, sizeof *result->strategies);
        result->expects = calloc(expects > 0 ? expects : 1, sizeof *result->expects);
        if (result->strategies == NULL || result->expects == NULL) {
            row.is_out_of_memory = true;
        } else {
            result->strategy_count = strategies;
            result->expect_count = expects;
        }
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

/* Ignores a name that is not known, which a later version of the program wrote. */
static void take(struct lab_result *result, const char *name, double value)
{
    for (size_t i = 0; i < TERM_COUNT; i++) {
        if (name != NULL && strcmp(terms[i].name, name) == 0)
            memcpy((unsigned char *)result + terms[i].place, &value, sizeof value);
    }
}

static bool store_terms_load(struct store *store, int64_t run, struct lab_result *result,
                             struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool is_there = false, more = true;
    for (size_t i = 0; i < TERM_COUNT; i++)
        take(result, terms[i].name, terms[i].missing);
    if (!store_has_table(store, "run_term", &is_there, error))
        return false;
    if (!is_there)
        return true;
    bool fine = store_prepare(store, "SELECT name, value FROM run_term WHERE run = ?", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, run);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_name(&row);
        take(result, name, store_take_real(&row));
        fine = store_row_check(store, &row, error);
        free(name);
    }
    sqlite3_finalize(statement);
    return fine;
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

static void take_value(struct store_row *row, const struct lab_setting *setting, void *at)
{
    switch (setting->type) {
    case LAB_SETTING_U32:
        *(uint32_t *)at = (uint32_t)store_take_whole(row, UINT32_MAX);
        break;
    case LAB_SETTING_U64:
    case LAB_SETTING_BYTES:
        *(uint64_t *)at = (uint64_t)store_take_whole(row, UINT64_MAX);
        break;
    case LAB_SETTING_DURATION:
    case LAB_SETTING_TIME:
        *(int64_t *)at = store_take_integer(row);
        break;
    case LAB_SETTING_FLAG:
        *(bool *)at = store_take_whole(row, 1) != 0;
        break;
    case LAB_SETTING_CHOICE:
        *(int *)at = take_choice(row, setting->words);
        break;
    case LAB_SETTING_TEXT:
        free(*(char **)at);
        *(char **)at = store_take_text(row);
        break;
    case LAB_SETTING_CHANCE:
    case LAB_SETTING_WAIT:
    case LAB_SETTING_GROUP:
    case LAB_SETTING_CHANGES:
    case LAB_SETTING_LABEL:
        break; /* not kept as such */
    }
}

/* Loads one row of the table; false when strategies of this kind have no such setting. */
static bool take_setting(struct store_row *row, enum bk_kind kind, const char *name, struct lab_settings *out)
{
    uint32_t change = 0;
    if (strncmp(name, "then.", 5) == 0) {
        char *end;
        unsigned long number = strtoul(name + 5, &end, 10);
        bool is_digit = name[5] >= '1' && name[5] <= '9';
        if (!is_digit || number > LAB_CHANGES_MAX || *end != '.' || kind >= BK_KIND_COUNT)
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
        take_value(row, setting, (unsigned char *)out + place);
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
static bool store_settings_load(struct store *store, int64_t id, const char *kind,
                                struct lab_strategy_result *out, struct sim_error *error)
{
    memset(&out->settings.strategy, 0, sizeof out->settings.strategy);
    enum bk_kind known = find_kind(kind);
    out->settings.is_idgen = known == LAB_KIND_IDGEN;
    out->settings.strategy.kind =
        out->settings.is_idgen || known == LAB_KIND_OBSERVED ? BK_UNBUCKETED : known;
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true,
         fine = store_prepare(store, "SELECT name, value FROM setting WHERE strategy = ?", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
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

static bool load_strategy(struct store *store, struct store_row *row, struct lab_strategy_result *out,
                          struct sim_error *error)
{
    int64_t id = store_take_integer(row);
    out->label = store_take_name(row);
    char *kind = store_take_name(row);
    out->placement_digest = store_take_digest(row);
    bool fine =
        store_row_check(store, row, error) && store_settings_load(store, id, kind, out, error) &&
        store_metrics_load(store, id, &out->metrics, error) && store_histograms_load(store, id, out, error) &&
        store_largest_load(store, id, out->largest, error) &&
        store_slices_load(store, id, &out->timeline, error) && store_nodes_load(store, id, out, error) &&
        store_events_load(store, id, &out->events, error) && store_views_load(store, id, &out->views, error);
    free(kind);
    return fine;
}

static bool load_strategies(struct store *store, int64_t run, struct lab_result *result,
                            struct sim_error *error)
{
    /* Version 8 renamed one kind. */
    static const char sql[] =
        "SELECT strategy, label, CASE kind WHEN 'none' THEN 'unbucketed' ELSE kind END, "
        "placement_digest FROM strategy WHERE run = ? ORDER BY position";
    sqlite3_stmt *statement;
    struct store_row row;
    bool more, fine = store_query(store, sql, run, &statement, error);
    for (size_t i = 0; fine && i < result->strategy_count; i++) {
        fine = store_next(store, statement, &row, &more, error);
        if (fine && !more)
            fine = store_fail_damaged(store, "fewer strategies than were counted", error);
        fine = fine && load_strategy(store, &row, &result->strategies[i], error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool load_expectations(struct store *store, int64_t run, struct lab_result *result,
                              struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more,
        fine = store_query(store, "SELECT text, actual, ok FROM expectation WHERE run = ? ORDER BY position",
                           run, &statement, error);
    result->expects_hold = true;
    for (size_t i = 0; fine && i < result->expect_count; i++) {
        fine = store_next(store, statement, &row, &more, error);
        if (fine && !more)
            fine = store_fail_damaged(store, "fewer expectations than were counted", error);
        if (!fine)
            break;
        struct lab_expect_result *expect = &result->expects[i];
        expect->text = store_take_name(&row);
        expect->actual = store_take_real(&row);
        expect->ok = store_take_integer(&row) != 0;
        if (!expect->ok)
            result->expects_hold = false;
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool load_all(struct store *store, int64_t run, struct store_run_info *info, struct lab_result *result,
                     struct sim_error *error)
{
    struct store_run_info found;
    bool is_there;
    if (!load_head(store, run, &found, result, &is_there, error))
        return false;
    if (!is_there)
        return fail_missing(store, run, error);
    if (!store_terms_load(store, found.run, result, error) ||
        !load_strategies(store, found.run, result, error) ||
        !load_expectations(store, found.run, result, error))
        return false;
    *info = found;
    return true;
}

bool store_load_within(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                       struct sim_error *error)
{
    struct store_run_info ignored;
    struct lab_result *result = calloc(1, sizeof *result);
    *out = NULL;
    if (result == NULL)
        return sim_fail_memory(error);
    if (!load_all(store, run, info == NULL ? &ignored : info, result, error)) {
        lab_result_destroy(result);
        return false;
    }
    *out = result;
    return true;
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

bool store_list_runs(struct store *store, struct store_run_row **out, size_t *count, struct sim_error *error)
{
    return list(store, 0, out, count, error);
}

bool store_list_folded(struct store *store, struct store_run_row **out, size_t *count,
                       struct sim_error *error)
{
    return list(store, 1, out, count, error);
}
