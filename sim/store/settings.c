/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy's settings, by one table of names and places. The settings of its Nth change stand under the
 * same names behind "then.N.", N from 1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

enum field {
    FIELD_U32,
    FIELD_U64,
    FIELD_I64,
    FIELD_BOOL,
    FIELD_CALENDAR,
    FIELD_COORDINATION,
    FIELD_COUNTER,
    FIELD_SOURCE,
    FIELD_PLAN,
    FIELD_CHOICE,
    FIELD_LOCK,
    FIELD_BACKOFF,
    FIELD_FORMAT,
    FIELD_TEXT
};

/* Kinds of strategies beside those of the core. */
#define KIND_IDGEN    BK_KIND_COUNT
#define KIND_OBSERVED ((enum bk_kind)(BK_KIND_COUNT + 1))
/* Of those of the core any; and of a change of any. */
#define KIND_CORE   ((enum bk_kind)(BK_KIND_COUNT + 2))
#define KIND_CHANGE ((enum bk_kind)(BK_KIND_COUNT + 3))

#define NAME_SIZE 48

struct setting {
    enum bk_kind kind;
    const char *name;
    enum field field;
    size_t offset;
};

#define PLACE(member) offsetof(struct lab_settings, member)

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
    {BK_PROBABILISTIC, "lock_lasts_ns", FIELD_I64, PLACE(lock_lasts_ns)},
    {BK_PROBABILISTIC, "lock_backoff_ns", FIELD_I64, PLACE(lock_backoff_ns)},
    {BK_HASH, "buckets", FIELD_U32, PLACE(strategy.of.hash.buckets)},
    {BK_WEIGHTED, "bytes", FIELD_U64, PLACE(strategy.of.weighted.bytes)},
    {BK_WEIGHTED, "threshold", FIELD_U64, PLACE(strategy.of.weighted.threshold)},
    {BK_WEIGHTED, "max_age_ns", FIELD_I64, PLACE(strategy.max_age_ns)},
    {BK_WEIGHTED, "coordination", FIELD_COORDINATION, PLACE(coordination)},
    {BK_WEIGHTED, "counter", FIELD_COUNTER, PLACE(counter)},
    {BK_WEIGHTED, "lead_ns", FIELD_I64, PLACE(lead_ns)},
    {BK_WEIGHTED, "grant_ns", FIELD_I64, PLACE(grant_ns)},
    {BK_WEIGHTED, "lock_lasts_ns", FIELD_I64, PLACE(lock_lasts_ns)},
    {BK_WEIGHTED, "lock_backoff_ns", FIELD_I64, PLACE(lock_backoff_ns)},
    {KIND_CORE, "read_plan", FIELD_PLAN, PLACE(reading.plan)},
    {KIND_CORE, "read_at_once", FIELD_U32, PLACE(reading.at_once)},
    {KIND_CORE, "remember_empty", FIELD_BOOL, PLACE(reading.remembers_empty)},
    {KIND_CORE, "read_late_ns", FIELD_I64, PLACE(reading.late_ns)},
    {KIND_CHANGE, "at_ns", FIELD_I64, PLACE(changes[0].at_ns)},
    {KIND_CHANGE, "rollout_ns", FIELD_I64, PLACE(changes[0].rollout_ns)},
    {KIND_CHANGE, "keep_old", FIELD_BOOL, PLACE(changes[0].keeps_old)},
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
static const char *const plans[] = {"default", "walk", "pair", "all", "lazy", "parallel", NULL};
static const char *const choices[] = {"fixed", "rotate", "random", NULL};
static const char *const locks[] = {"columns", "lwt", NULL};
static const char *const backoffs[] = {"constant", "exponential", "random", NULL};
static const char *const formats[] = {"auto", "sstablepartitions", "tablehistograms", NULL};

/* Where in the settings the setting is held: of change 0 in themselves, of change N in their Nth change.
 * SIZE_MAX where a strategy of that kind does not have it. */
static size_t place_of(const struct setting *setting, enum bk_kind kind, uint32_t change)
{
    bool is_of_kind = setting->kind == kind;
    if (change == 0)
        return is_of_kind || (setting->kind == KIND_CORE && kind < BK_KIND_COUNT) ? setting->offset
                                                                                  : SIZE_MAX;
    size_t of = PLACE(changes) + (change - 1) * sizeof(struct lab_change);
    if (setting->kind == KIND_CHANGE)
        return of + (setting->offset - PLACE(changes));
    if (is_of_kind && setting->offset - PLACE(strategy) < sizeof(struct bk_strategy))
        return of + offsetof(struct lab_change, strategy) + (setting->offset - PLACE(strategy));
    return SIZE_MAX;
}

/* What is 0 says nothing and is left out, but for the bits, where 0 means that every row fires. */
static bool is_written(const struct setting *setting, const void *at, const struct bk_strategy *strategy)
{
    static const unsigned char zeros[sizeof(uint64_t)];
    enum field field = setting->field;
    size_t size = field == FIELD_TEXT                        ? sizeof(char *)
                  : field == FIELD_BOOL                      ? sizeof(bool)
                  : field == FIELD_U32                       ? sizeof(uint32_t)
                  : field == FIELD_U64 || field == FIELD_I64 ? sizeof(uint64_t)
                                                             : sizeof(enum bk_calendar);
    if (memcmp(at, zeros, size) != 0)
        return true;
    return setting->offset == PLACE(strategy.of.probabilistic.bits) && strategy->kind == BK_PROBABILISTIC &&
           strategy->of.probabilistic.chance_denominator == 0;
}

static void bind_value(struct store_binder *binder, enum field field, const void *at)
{
    switch (field) {
    case FIELD_U32:
        store_bind_whole(binder, *(const uint32_t *)at);
        break;
    case FIELD_U64:
        store_bind_whole(binder, *(const uint64_t *)at);
        break;
    case FIELD_I64:
        store_bind_integer(binder, *(const int64_t *)at);
        break;
    case FIELD_BOOL:
        store_bind_integer(binder, *(const bool *)at);
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
    case FIELD_PLAN:
        store_bind_text(binder, plans[*(const enum bk_plan *)at]);
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

/* Those of the result itself, or of one of its changes. */
static bool save_some(struct store *store, sqlite3_stmt *insert, int64_t id, uint32_t change,
                      const struct lab_strategy_result *result, struct sim_error *error)
{
    enum bk_kind kind = lab_settings_kind(&result->settings);
    const struct bk_strategy *strategy =
        change == 0 ? &result->settings.strategy : &result->settings.changes[change - 1].strategy;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        size_t place = place_of(&settings[i], kind, change);
        if (place == SIZE_MAX)
            continue;
        const void *at = (const unsigned char *)&result->settings + place;
        if (!is_written(&settings[i], at, strategy))
            continue;
        char name[NAME_SIZE] = "";
        if (change > 0)
            snprintf(name, sizeof name, "then.%" PRIu32 ".%s", change, settings[i].name);
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, change > 0 ? name : settings[i].name);
        bind_value(&binder, settings[i].field, at);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
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

static void take_value(struct store_row *row, enum field field, void *at)
{
    switch (field) {
    case FIELD_U32:
        *(uint32_t *)at = (uint32_t)store_take_whole(row, UINT32_MAX);
        break;
    case FIELD_U64:
        *(uint64_t *)at = (uint64_t)store_take_whole(row, UINT64_MAX);
        break;
    case FIELD_I64:
        *(int64_t *)at = store_take_integer(row);
        break;
    case FIELD_BOOL:
        *(bool *)at = store_take_whole(row, 1) != 0;
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
    case FIELD_PLAN:
        *(enum bk_plan *)at = (enum bk_plan)take_choice(row, plans);
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

/* One row of the table; false when no strategy of that kind has such a setting. */
static bool take_setting(struct store_row *row, enum bk_kind kind, const char *name,
                         struct lab_strategy_result *out)
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
        if (change > out->settings.change_count)
            out->settings.change_count = change;
        out->settings.changes[change - 1].strategy.kind = kind;
    }
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        size_t place = place_of(&settings[i], kind, change);
        if (place == SIZE_MAX || strcmp(settings[i].name, name) != 0)
            continue;
        take_value(row, settings[i].field, (unsigned char *)&out->settings + place);
        return true;
    }
    return false;
}

static bool can_be(const struct lab_strategy_result *result, bool is_observed)
{
    const struct lab_change *changes = result->settings.changes;
    for (uint32_t i = 0; i < result->settings.change_count; i++) {
        if (bk_strategy_check(&changes[i].strategy) != BK_OK || changes[i].rollout_ns < 0 ||
            changes[i].at_ns <= (i == 0 ? 0 : changes[i - 1].at_ns))
            return false;
    }
    if (result->settings.is_idgen && bk_idgen_check(&result->settings.idgen) != BK_OK)
        return false;
    if (is_observed && (result->settings.observed == WL_OBSERVED_AUTO ||
                        result->settings.observed_file == NULL || result->settings.observed_table == NULL))
        return false;
    return bk_strategy_check(&result->settings.strategy) == BK_OK && result->settings.lead_ns >= 0 &&
           result->settings.grant_ns >= 0 && result->settings.lock_lasts_ns >= 0 &&
           result->settings.lock_backoff_ns >= 0 && result->settings.every_ns >= 0 &&
           result->settings.reading.late_ns >= 0;
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

bool store_settings_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                         const struct lab_strategy_result *result, struct sim_error *error)
{
    for (uint32_t change = 0; change <= result->settings.change_count; change++) {
        if (!save_some(store, insert, id, change, result, error))
            return false;
    }
    return true;
}

bool store_settings_load(struct store *store, int64_t id, const char *kind, struct lab_strategy_result *out,
                         struct sim_error *error)
{
    memset(&out->settings.strategy, 0, sizeof out->settings.strategy);
    enum bk_kind known = find_kind(kind);
    bool is_observed = known == KIND_OBSERVED;
    out->settings.is_idgen = strcmp(kind, "idgen") == 0;
    out->settings.strategy.kind = out->settings.is_idgen || is_observed ? BK_NONE : known;
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true,
         fine = store_prepare(store, "SELECT name, value FROM setting WHERE strategy = ?", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_text(&row);
        if (name == NULL || !take_setting(&row, known, name, out))
            row.is_damaged = true;
        free(name);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    out->settings.idgen.client_id = out->settings.is_idgen ? 1 : 0; /* each client of a run has its own */
    if (fine && !can_be(out, is_observed))
        fine = store_fail_damaged(store, "a strategy that cannot be", error);
    return fine;
}
