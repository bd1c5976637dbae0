/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "private.h"

enum field {
    FIELD_U32,
    FIELD_U64,
    FIELD_I64,
    FIELD_CALENDAR,
    FIELD_COORDINATION,
    FIELD_COUNTER,
    FIELD_SOURCE,
    FIELD_CHOICE,
    FIELD_LOCK,
    FIELD_BACKOFF,
    FIELD_FORMAT,
    FIELD_TEXT
};

/* Kinds of strategies beside those of the core. */
#define KIND_IDGEN    BK_KIND_COUNT
#define KIND_OBSERVED ((enum bk_kind)(BK_KIND_COUNT + 1))

struct setting {
    enum bk_kind kind;
    const char *name;
    enum field field;
    size_t offset;
};

#define PLACE(member) offsetof(struct lab_strategy_result, member)

static const struct setting settings[] = {
    {BK_TIME, "calendar", FIELD_CALENDAR, PLACE(strategy.of.time.calendar)},
    {BK_TIME, "window_ns", FIELD_I64, PLACE(strategy.of.time.window_ns)},
    {BK_TIME, "epoch_ns", FIELD_I64, PLACE(strategy.of.time.epoch_ns)},
    {BK_COUNT, "rows", FIELD_U64, PLACE(strategy.of.count.rows)},
    {BK_COUNT, "max_age_ns", FIELD_I64, PLACE(strategy.max_age_ns)},
    {BK_COUNT, "counter", FIELD_SOURCE, PLACE(source)},
    {BK_COUNT, "batch", FIELD_U64, PLACE(lease_rows)},
    {BK_COUNT, "every_rows", FIELD_U64, PLACE(every_rows)},
    {BK_COUNT, "every_ns", FIELD_I64, PLACE(every_ns)},
    {BK_PROBABILISTIC, "bits", FIELD_U32, PLACE(strategy.of.probabilistic.bits)},
    {BK_PROBABILISTIC, "chance_numerator", FIELD_U64, PLACE(strategy.of.probabilistic.chance_numerator)},
    {BK_PROBABILISTIC, "chance_denominator", FIELD_U64, PLACE(strategy.of.probabilistic.chance_denominator)},
    {BK_PROBABILISTIC, "threshold", FIELD_U64, PLACE(strategy.of.probabilistic.threshold)},
    {BK_PROBABILISTIC, "max_age_ns", FIELD_I64, PLACE(strategy.max_age_ns)},
    {BK_PROBABILISTIC, "coordination", FIELD_COORDINATION, PLACE(coordination)},
    {BK_PROBABILISTIC, "counter", FIELD_COUNTER, PLACE(counter)},
    {BK_PROBABILISTIC, "lead_ns", FIELD_I64, PLACE(lead_ns)},
    {BK_PROBABILISTIC, "grant_ns", FIELD_I64, PLACE(grant_ns)},
    {BK_HASH, "buckets", FIELD_U32, PLACE(strategy.of.hash.buckets)},
    {BK_WEIGHTED, "bytes", FIELD_U64, PLACE(strategy.of.weighted.bytes)},
    {BK_WEIGHTED, "threshold", FIELD_U64, PLACE(strategy.of.weighted.threshold)},
    {BK_WEIGHTED, "max_age_ns", FIELD_I64, PLACE(strategy.max_age_ns)},
    {BK_WEIGHTED, "coordination", FIELD_COORDINATION, PLACE(coordination)},
    {BK_WEIGHTED, "counter", FIELD_COUNTER, PLACE(counter)},
    {BK_WEIGHTED, "lead_ns", FIELD_I64, PLACE(lead_ns)},
    {BK_WEIGHTED, "grant_ns", FIELD_I64, PLACE(grant_ns)},
    {KIND_IDGEN, "batch", FIELD_U32, PLACE(idgen.batch)},
    {KIND_IDGEN, "stripes", FIELD_U32, PLACE(idgen.stripes)},
    {KIND_IDGEN, "stripe", FIELD_U32, PLACE(idgen.stripe)},
    {KIND_IDGEN, "choice", FIELD_CHOICE, PLACE(idgen.choice)},
    {KIND_IDGEN, "lock", FIELD_LOCK, PLACE(idgen.lock)},
    {KIND_IDGEN, "lock_lasts_ns", FIELD_I64, PLACE(idgen.lock_lasts_ns)},
    {KIND_IDGEN, "lease_ns", FIELD_I64, PLACE(idgen.lease_ns)},
    {KIND_IDGEN, "backoff", FIELD_BACKOFF, PLACE(idgen.backoff)},
    {KIND_IDGEN, "backoff_base_ns", FIELD_I64, PLACE(idgen.backoff_base_ns)},
    {KIND_IDGEN, "backoff_cap_ns", FIELD_I64, PLACE(idgen.backoff_cap_ns)},
    {KIND_IDGEN, "backoff_limit_ns", FIELD_I64, PLACE(idgen.backoff_limit_ns)},
    {KIND_IDGEN, "attempts", FIELD_U32, PLACE(idgen.attempts)},
    {KIND_OBSERVED, "format", FIELD_FORMAT, PLACE(observed)},
    {KIND_OBSERVED, "file", FIELD_TEXT, PLACE(observed_file)},
    {KIND_OBSERVED, "table", FIELD_TEXT, PLACE(observed_table)},
};
#define SETTING_COUNT (sizeof settings / sizeof *settings)

/* As a scenario writes them; the first one of each is 0. */
static const char *const calendars[] = {"none", "hour", "day", "week", "month", NULL};
static const char *const coordinations[] = {"single", "locked", "three-state", "guarded", NULL};
static const char *const counters[] = {"rmw", "lwt", "counter", NULL};
static const char *const sources[] = {"external",    "counter", "lwt",    "lease",
                                      "incremental", "scan",    "memory", NULL};
static const char *const choices[] = {"fixed", "rotate", "random", NULL};
static const char *const locks[] = {"columns", "lwt", NULL};
static const char *const backoffs[] = {"constant", "exponential", "random", NULL};
static const char *const formats[] = {"auto", "sstablepartitions", "tablehistograms", NULL};

static bool is_written(const struct setting *setting, const struct lab_strategy_result *result);
static void bind_value(struct store_binder *binder, const struct setting *setting,
                       const struct lab_strategy_result *result);
static size_t take_choice(struct store_row *row, const char *const *names);
static const struct setting *find_setting(enum bk_kind kind, const char *name);
static void take_value(struct store_row *row, const struct setting *setting, struct lab_strategy_result *out);
static enum bk_kind find_kind(const char *name);

bool store_settings_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                         const struct lab_strategy_result *result, struct sim_error *error)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (!is_written(&settings[i], result))
            continue;
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, settings[i].name);
        bind_value(&binder, &settings[i], result);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

bool store_settings_load(struct store *store, int64_t id, const char *kind, struct lab_strategy_result *out,
                         struct sim_error *error)
{
    memset(&out->strategy, 0, sizeof out->strategy);
    enum bk_kind known = find_kind(kind);
    bool is_observed = known == KIND_OBSERVED;
    out->is_idgen = strcmp(kind, "idgen") == 0;
    out->strategy.kind = out->is_idgen || is_observed ? BK_NONE : known;
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true,
         fine = store_prepare(store, "SELECT name, value FROM setting WHERE strategy = ?", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_text(&row);
        const struct setting *setting = name == NULL ? NULL : find_setting(known, name);
        if (setting == NULL)
            row.is_damaged = true;
        else
            take_value(&row, setting, out);
        free(name);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    out->idgen.client_id = out->is_idgen ? 1 : 0; /* each client of a run has its own */
    bool is_wrong = (out->is_idgen && bk_idgen_check(&out->idgen) != BK_OK) ||
                    (is_observed && (out->observed == WL_OBSERVED_AUTO || out->observed_file == NULL ||
                                     out->observed_table == NULL));
    if (fine && (bk_strategy_check(&out->strategy) != BK_OK || out->lead_ns < 0 || out->grant_ns < 0 ||
                 out->every_ns < 0 || is_wrong))
        fine = store_fail_damaged(store, "a strategy that cannot be", error);
    return fine;
}

/* What is 0 says nothing and is left out, but for the bits, where 0 means that every row fires. */
static bool is_written(const struct setting *setting, const struct lab_strategy_result *result)
{
    static const unsigned char zeros[sizeof(uint64_t)];
    const struct bk_strategy *strategy = &result->strategy;
    enum bk_kind kind = result->observed != WL_OBSERVED_AUTO ? KIND_OBSERVED
                        : result->is_idgen                   ? KIND_IDGEN
                                                             : strategy->kind;
    if (setting->kind != kind)
        return false;
    size_t size = setting->field == FIELD_TEXT                                 ? sizeof(char *)
                  : setting->field == FIELD_U32                                ? sizeof(uint32_t)
                  : setting->field == FIELD_U64 || setting->field == FIELD_I64 ? sizeof(uint64_t)
                                                                               : sizeof(enum bk_calendar);
    if (memcmp((const unsigned char *)result + setting->offset, zeros, size) != 0)
        return true;
    return setting->offset == PLACE(strategy.of.probabilistic.bits) && strategy->kind == BK_PROBABILISTIC &&
           strategy->of.probabilistic.chance_denominator == 0;
}

static void bind_value(struct store_binder *binder, const struct setting *setting,
                       const struct lab_strategy_result *result)
{
    const void *at = (const unsigned char *)result + setting->offset;
    switch (setting->field) {
    case FIELD_U32:
        store_bind_whole(binder, *(const uint32_t *)at);
        break;
    case FIELD_U64:
        store_bind_whole(binder, *(const uint64_t *)at);
        break;
    case FIELD_I64:
        store_bind_integer(binder, *(const int64_t *)at);
        break;
    case FIELD_CALENDAR:
        store_bind_text(binder, calendars[*(const enum bk_calendar *)at]);
        break;
    case FIELD_COORDINATION:
        store_bind_text(binder, coordinations[*(const enum bk_coordination *)at]);
        break;
    case FIELD_COUNTER:
        store_bind_text(binder, counters[*(const enum bk_counter *)at]);
        break;
    case FIELD_SOURCE:
        store_bind_text(binder, sources[*(const enum bk_source *)at]);
        break;
    case FIELD_CHOICE:
        store_bind_text(binder, choices[*(const enum bk_idgen_choice *)at]);
        break;
    case FIELD_LOCK:
        store_bind_text(binder, locks[*(const enum bk_idgen_lock *)at]);
        break;
    case FIELD_BACKOFF:
        store_bind_text(binder, backoffs[*(const enum bk_idgen_backoff *)at]);
        break;
    case FIELD_FORMAT:
        store_bind_text(binder, formats[*(const enum wl_observed_format *)at]);
        break;
    case FIELD_TEXT:
        store_bind_text(binder, *(char *const *)at);
        break;
    }
}

static const struct setting *find_setting(enum bk_kind kind, const char *name)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (settings[i].kind == kind && strcmp(settings[i].name, name) == 0)
            return &settings[i];
    }
    return NULL;
}

static void take_value(struct store_row *row, const struct setting *setting, struct lab_strategy_result *out)
{
    void *at = (unsigned char *)out + setting->offset;
    switch (setting->field) {
    case FIELD_U32:
        *(uint32_t *)at = (uint32_t)store_take_whole(row, UINT32_MAX);
        break;
    case FIELD_U64:
        *(uint64_t *)at = (uint64_t)store_take_whole(row, UINT64_MAX);
        break;
    case FIELD_I64:
        *(int64_t *)at = store_take_integer(row);
        break;
    case FIELD_CALENDAR:
        *(enum bk_calendar *)at = (enum bk_calendar)take_choice(row, calendars);
        break;
    case FIELD_COORDINATION:
        *(enum bk_coordination *)at = (enum bk_coordination)take_choice(row, coordinations);
        break;
    case FIELD_COUNTER:
        *(enum bk_counter *)at = (enum bk_counter)take_choice(row, counters);
        break;
    case FIELD_SOURCE:
        *(enum bk_source *)at = (enum bk_source)take_choice(row, sources);
        break;
    case FIELD_CHOICE:
        *(enum bk_idgen_choice *)at = (enum bk_idgen_choice)take_choice(row, choices);
        break;
    case FIELD_LOCK:
        *(enum bk_idgen_lock *)at = (enum bk_idgen_lock)take_choice(row, locks);
        break;
    case FIELD_BACKOFF:
        *(enum bk_idgen_backoff *)at = (enum bk_idgen_backoff)take_choice(row, backoffs);
        break;
    case FIELD_FORMAT:
        *(enum wl_observed_format *)at = (enum wl_observed_format)take_choice(row, formats);
        break;
    case FIELD_TEXT:
        free(*(char **)at);
        *(char **)at = store_take_text(row);
        break;
    }
}

static size_t take_choice(struct store_row *row, const char *const *names)
{
    char *name = store_take_text(row);
    size_t i = 0;
    while (name != NULL && names[i] != NULL && strcmp(name, names[i]) != 0)
        i++;
    free(name);
    if (names[i] != NULL)
        return i;
    row->is_damaged = true;
    return 0;
}

static enum bk_kind find_kind(const char *name)
{
    if (strcmp(name, "observed") == 0)
        return KIND_OBSERVED;
    int kind = 0;
    while (kind < (int)BK_KIND_COUNT && strcmp(name, bk_kind_name((enum bk_kind)kind)) != 0)
        kind++;
    return (enum bk_kind)kind;
}
