/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads a strategy's settings, by the table of settings. The names of the settings of its N-th
 * change have the prefix "then.N.", with N from 1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/setting.h"
#include "private.h"

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

/* Returns LAB_KIND_COUNT when there is no such kind. */
static enum bk_kind find_kind(const char *name)
{
    int kind = 0;
    while (kind < (int)LAB_KIND_COUNT && strcmp(name, lab_kind_name((enum bk_kind)kind)) != 0)
        kind++;
    return (enum bk_kind)kind;
}

bool store_settings_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                         const struct lab_strategy_result *result, struct sim_error *error)
{
    for (uint32_t change = 0; change <= result->settings.change_count; change++) {
        if (!save_some(store, insert, id, change, &result->settings, error))
            return false;
    }
    return true;
}

bool store_settings_load(struct store *store, int64_t id, const char *kind, struct lab_strategy_result *out,
                         struct sim_error *error)
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
