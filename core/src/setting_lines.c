/* SPDX-License-Identifier: MIT */
/* The table of the names that the text of a setting may have. */
#include "setting_lines.h"

#include <string.h>

#define FIRES         (KIND(PROBABILISTIC) | KIND(WEIGHTED))
#define ALL           ((1u << BK_KIND_COUNT) - 1)
#define KIND(kind)    (1u << BK_##kind)
#define PLACE(member) offsetof(struct bk_setting, member)

#define WORD(word, value) {word, value},
static const struct bk_setting_word calendars[] = {BK_CALENDAR_WORDS(WORD){NULL, 0}};
static const struct bk_setting_word sources[] = {BK_SOURCE_WORDS(WORD){NULL, 0}};
static const struct bk_setting_word coordinations[] = {BK_COORDINATION_WORDS(WORD){NULL, 0}};
static const struct bk_setting_word counters[] = {BK_COUNTER_WORDS(WORD){NULL, 0}};
static const struct bk_setting_word plans[] = {BK_PLAN_WORDS(WORD){NULL, 0}};
static const struct bk_setting_word flags[] = {{"false", false}, {"true", true}, {NULL, 0}};

const struct bk_setting_line bk_setting_lines[BK_LINE_COUNT] = {
    [BK_LINE_CALENDAR] = {"calendar", KIND(TIME), BK_VALUE_CHOICE, PLACE(strategy.of.time.calendar),
                          calendars, .least = 1, .is_optional = true},
    [BK_LINE_WINDOW] = {"window", KIND(TIME), BK_VALUE_DURATION, PLACE(strategy.of.time.window_ns),
                        .least = 1000, .unless = BK_LINE_CALENDAR},
    [BK_LINE_EPOCH] = {"epoch", KIND(TIME), BK_VALUE_TIME, PLACE(strategy.of.time.epoch_ns),
                       .is_optional = true, .unless = BK_LINE_CALENDAR},
    [BK_LINE_ROWS] = {"rows", KIND(COUNT), BK_VALUE_U64, PLACE(strategy.of.count.rows), .least = 1},
    [BK_LINE_SOURCE] = {"counter", KIND(COUNT), BK_VALUE_CHOICE, PLACE(source), .words = sources},
    [BK_LINE_BATCH] = {"batch", KIND(COUNT), BK_VALUE_U64, PLACE(lease_rows), .least = 1,
                       .of = BK_LINE_SOURCE, .values = 1u << BK_SOURCE_LEASE},
    [BK_LINE_EVERY_ROWS] = {"every_rows", KIND(COUNT), BK_VALUE_U64, PLACE(every_rows), .least = 1,
                            .is_optional = true, .of = BK_LINE_SOURCE,
                            .values = 1u << BK_SOURCE_INCREMENTAL | 1u << BK_SOURCE_SCAN},
    [BK_LINE_EVERY_TIME] = {"every_time", KIND(COUNT), BK_VALUE_DURATION, PLACE(every_ns), .least = 1,
                            .is_optional = true, .of = BK_LINE_SOURCE,
                            .values = 1u << BK_SOURCE_INCREMENTAL | 1u << BK_SOURCE_SCAN},
    [BK_LINE_CHANCE] = {"chance", KIND(PROBABILISTIC), BK_VALUE_CHANCE,
                        PLACE(strategy.of.probabilistic.chance_numerator), .is_optional = true},
    [BK_LINE_BITS] = {"bits", KIND(PROBABILISTIC), BK_VALUE_U32, PLACE(strategy.of.probabilistic.bits),
                      .most = BK_BITS_MAX, .unless = BK_LINE_CHANCE},
    [BK_LINE_THRESHOLD] = {"threshold", KIND(PROBABILISTIC), BK_VALUE_U64,
                           PLACE(strategy.of.probabilistic.threshold), .least = 1},
    [BK_LINE_BYTES] = {"bytes", KIND(WEIGHTED), BK_VALUE_BYTES, PLACE(strategy.of.weighted.bytes),
                       .least = 1},
    [BK_LINE_WEIGHT] = {"threshold", KIND(WEIGHTED), BK_VALUE_U64, PLACE(strategy.of.weighted.threshold),
                        .least = 1},
    [BK_LINE_COORDINATION] = {"coordination", FIRES, BK_VALUE_CHOICE, PLACE(coordination), coordinations,
                              .is_optional = true},
    [BK_LINE_COUNTER] = {"counter", FIRES, BK_VALUE_CHOICE, PLACE(counter), counters, .is_optional = true,
                         .of = BK_LINE_COORDINATION, .values = ~(1u << BK_GUARDED)},
    [BK_LINE_LEAD] = {"lead", FIRES, BK_VALUE_DURATION, PLACE(lead_ns), .of = BK_LINE_COORDINATION,
                      .values = 1u << BK_THREE_STATE},
    [BK_LINE_LOCK_LASTS] = {"lock.lasts", FIRES, BK_VALUE_DURATION, PLACE(lock_lasts_ns), .least = 1,
                            .of = BK_LINE_COORDINATION, .values = 1u << BK_LOCKED},
    [BK_LINE_LOCK_BACKOFF] = {"lock.backoff", FIRES, BK_VALUE_DURATION, PLACE(lock_backoff_ns), .least = 1,
                              .of = BK_LINE_COORDINATION, .values = 1u << BK_LOCKED},
    [BK_LINE_GRANT] = {"grant", FIRES, BK_VALUE_DURATION, PLACE(grant_ns), .least = 1,
                       .of = BK_LINE_COORDINATION, .values = 1u << BK_GUARDED},
    [BK_LINE_BUCKETS] = {"buckets", KIND(HASH), BK_VALUE_U32, PLACE(strategy.of.hash.buckets), .least = 1,
                         .most = BK_BUCKETS_MAX},
    [BK_LINE_MAX_AGE] = {"max_age", KIND(COUNT) | FIRES, BK_VALUE_DURATION, PLACE(strategy.max_age_ns),
                         .least = 1000, .is_optional = true},
    [BK_LINE_PLAN] = {"read.plan", ALL, BK_VALUE_CHOICE, PLACE(read_plan), plans, .least = 1,
                      .is_optional = true},
    [BK_LINE_AT_ONCE] = {"read.at_once", ALL, BK_VALUE_U32, PLACE(read_at_once), .least = 1, .most = 4096,
                         .is_optional = true, .of = BK_LINE_PLAN, .values = 1u << BK_PLAN_PARALLEL},
    [BK_LINE_REMEMBER_EMPTY] = {"read.remember_empty", KIND(TIME), BK_VALUE_FLAG, PLACE(read_remember_empty),
                                flags, .is_optional = true},
    [BK_LINE_LATE] = {"read.late", KIND(TIME), BK_VALUE_DURATION, PLACE(read_late_ns),
                      .of = BK_LINE_REMEMBER_EMPTY, .values = 1u << true},
};

_Static_assert(sizeof(enum bk_kind) == sizeof(unsigned) && sizeof(enum bk_calendar) == sizeof(unsigned) &&
                   sizeof(enum bk_plan) == sizeof(unsigned),
               "an enum is read and written as an unsigned");

uint64_t bk_setting_value(const struct bk_setting *setting, const struct bk_setting_line *line)
{
    const unsigned char *place = (const unsigned char *)setting + line->place;
    uint64_t wide = 0;
    unsigned narrow = 0;
    bool flag = false;
    if (line->type == BK_VALUE_FLAG)
        return memcpy(&flag, place, sizeof flag), (uint64_t)flag;
    if (line->type == BK_VALUE_CHOICE || line->type == BK_VALUE_U32)
        return memcpy(&narrow, place, sizeof narrow), (uint64_t)narrow;
    memcpy(&wide, place + (line->type == BK_VALUE_CHANCE ? sizeof wide : 0), sizeof wide);
    return wide;
}

void bk_setting_put(struct bk_setting *setting, const struct bk_setting_line *line, uint64_t value)
{
    unsigned char *place = (unsigned char *)setting + line->place;
    unsigned narrow = (unsigned)value;
    bool flag = value != 0;
    if (line->type == BK_VALUE_FLAG)
        memcpy(place, &flag, sizeof flag);
    else if (line->type == BK_VALUE_CHOICE || line->type == BK_VALUE_U32)
        memcpy(place, &narrow, sizeof narrow);
    else
        memcpy(place, &value, sizeof value);
}

const char *bk_setting_word_of(const struct bk_setting_word *words, uint64_t value)
{
    while (words->name != NULL && words->value != value)
        words++;
    return words->name;
}

bool bk_setting_is_of_kind(const struct bk_setting_line *line, const struct bk_setting *setting)
{
    return (unsigned)setting->strategy.kind < BK_KIND_COUNT &&
           (line->kinds >> setting->strategy.kind & 1) != 0;
}

bool bk_setting_is_needed(const struct bk_setting_line *line, const struct bk_setting *setting)
{
    if (line->of == BK_LINE_NONE)
        return true;
    uint64_t value = bk_setting_value(setting, &bk_setting_lines[line->of]);
    return value < 32 && (line->values >> value & 1) != 0;
}

bool bk_setting_applies(const struct bk_setting_line *line, const struct bk_setting *setting)
{
    return line->name != NULL && bk_setting_is_of_kind(line, setting) &&
           bk_setting_is_needed(line, setting) &&
           (line->unless == BK_LINE_NONE || bk_setting_value(setting, &bk_setting_lines[line->unless]) == 0);
}

bool bk_setting_counts_never(const struct bk_setting *setting)
{
    return setting->strategy.kind == BK_COUNT && setting->every_rows == 0 && setting->every_ns == 0 &&
           bk_setting_is_needed(&bk_setting_lines[BK_LINE_EVERY_ROWS], setting);
}
