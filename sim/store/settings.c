/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "private.h"

enum field { FIELD_U32, FIELD_U64, FIELD_I64, FIELD_CALENDAR, FIELD_COORDINATION, FIELD_COUNTER };

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
};
#define SETTING_COUNT (sizeof settings / sizeof *settings)

/* As a scenario writes them; the first one of each is 0. */
static const char *const calendars[] = {"none", "hour", "day", "week", "month", NULL};
static const char *const coordinations[] = {"single", "locked", "three-state", "guarded", NULL};
static const char *const counters[] = {"rmw", "lwt", "counter", NULL};

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
    out->strategy.kind = find_kind(kind);
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true,
         fine = store_prepare(store, "SELECT name, value FROM setting WHERE strategy = ?", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_text(&row);
        const struct setting *setting = name == NULL ? NULL : find_setting(out->strategy.kind, name);
        if (setting == NULL)
            row.is_damaged = true;
        else
            take_value(&row, setting, out);
        free(name);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    if (fine && (bk_strategy_check(&out->strategy) != BK_OK || out->lead_ns < 0 || out->grant_ns < 0))
        fine = store_fail_damaged(store, "a strategy that cannot be", error);
    return fine;
}

/* What is 0 says nothing and is left out, but for the bits, where 0 means that every row fires. */
static bool is_written(const struct setting *setting, const struct lab_strategy_result *result)
{
    static const unsigned char zeros[sizeof(uint64_t)];
    const struct bk_strategy *strategy = &result->strategy;
    if (setting->kind != strategy->kind)
        return false;
    size_t size = setting->field == FIELD_U32                                  ? sizeof(uint32_t)
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
    int kind = 0;
    while (kind < (int)BK_KIND_COUNT && strcmp(name, bk_kind_name((enum bk_kind)kind)) != 0)
        kind++;
    return (enum bk_kind)kind;
}
