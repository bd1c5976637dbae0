/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "private.h"

enum field { FIELD_U32, FIELD_U64, FIELD_I64, FIELD_CALENDAR };

struct setting {
    enum bk_kind kind;
    const char *name;
    enum field field;
    size_t offset;
};

static const struct setting settings[] = {
    {BK_TIME, "calendar", FIELD_CALENDAR, offsetof(struct bk_strategy, of.time.calendar)},
    {BK_TIME, "window_ns", FIELD_I64, offsetof(struct bk_strategy, of.time.window_ns)},
    {BK_TIME, "epoch_ns", FIELD_I64, offsetof(struct bk_strategy, of.time.epoch_ns)},
    {BK_COUNT, "rows", FIELD_U64, offsetof(struct bk_strategy, of.count.rows)},
    {BK_PROBABILISTIC, "bits", FIELD_U32, offsetof(struct bk_strategy, of.probabilistic.bits)},
    {BK_PROBABILISTIC, "chance_numerator", FIELD_U64,
     offsetof(struct bk_strategy, of.probabilistic.chance_numerator)},
    {BK_PROBABILISTIC, "chance_denominator", FIELD_U64,
     offsetof(struct bk_strategy, of.probabilistic.chance_denominator)},
    {BK_PROBABILISTIC, "threshold", FIELD_U64, offsetof(struct bk_strategy, of.probabilistic.threshold)},
    {BK_HASH, "buckets", FIELD_U32, offsetof(struct bk_strategy, of.hash.buckets)},
};
#define SETTING_COUNT (sizeof settings / sizeof *settings)

static const char *const calendars[] = {"none", "hour", "day", "week", "month"};
#define CALENDAR_COUNT (sizeof calendars / sizeof *calendars)

static bool is_written(const struct setting *setting, const struct bk_strategy *strategy);
static void bind_value(struct store_binder *binder, const struct setting *setting,
                       const struct bk_strategy *strategy);
static const struct setting *find_setting(enum bk_kind kind, const char *name);
static void take_value(struct store_row *row, const struct setting *setting, struct bk_strategy *out);
static enum bk_kind find_kind(const char *name);

bool store_settings_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                         const struct bk_strategy *strategy, struct sim_error *error)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (!is_written(&settings[i], strategy))
            continue;
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, settings[i].name);
        bind_value(&binder, &settings[i], strategy);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

bool store_settings_load(struct store *store, int64_t id, const char *kind, struct bk_strategy *out,
                         struct sim_error *error)
{
    memset(out, 0, sizeof *out);
    out->kind = find_kind(kind);
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true,
         fine = store_prepare(store, "SELECT name, value FROM setting WHERE strategy = ?", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_text(&row);
        const struct setting *setting = name == NULL ? NULL : find_setting(out->kind, name);
        if (setting == NULL)
            row.is_damaged = true;
        else
            take_value(&row, setting, out);
        free(name);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    if (fine && bk_strategy_check(out) != BK_OK)
        fine = store_fail_damaged(store, "a strategy that cannot be", error);
    return fine;
}

/* What is 0 says nothing and is left out, but for the bits, where 0 means that every row fires. */
static bool is_written(const struct setting *setting, const struct bk_strategy *strategy)
{
    static const unsigned char zeros[sizeof(uint64_t)];
    if (setting->kind != strategy->kind)
        return false;
    size_t size = setting->field == FIELD_U32        ? sizeof(uint32_t)
                  : setting->field == FIELD_CALENDAR ? sizeof(enum bk_calendar)
                                                     : sizeof(uint64_t);
    if (memcmp((const unsigned char *)strategy + setting->offset, zeros, size) != 0)
        return true;
    return setting->offset == offsetof(struct bk_strategy, of.probabilistic.bits) &&
           strategy->kind == BK_PROBABILISTIC && strategy->of.probabilistic.chance_denominator == 0;
}

static void bind_value(struct store_binder *binder, const struct setting *setting,
                       const struct bk_strategy *strategy)
{
    const void *at = (const unsigned char *)strategy + setting->offset;
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

static void take_value(struct store_row *row, const struct setting *setting, struct bk_strategy *out)
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
    case FIELD_CALENDAR: {
        char *name = store_take_text(row);
        size_t i = 0;
        while (name != NULL && i < CALENDAR_COUNT && strcmp(name, calendars[i]) != 0)
            i++;
        row->is_damaged = row->is_damaged || i == CALENDAR_COUNT;
        *(enum bk_calendar *)at = (enum bk_calendar)i;
        free(name);
        break;
    }
    }
}

static enum bk_kind find_kind(const char *name)
{
    int kind = 0;
    while (kind < (int)BK_KIND_COUNT && strcmp(name, bk_kind_name((enum bk_kind)kind)) != 0)
        kind++;
    return (enum bk_kind)kind;
}
