/* SPDX-License-Identifier: MIT */
/* The lines of a setting's text: each has one row with its name, the kinds that have it, the member of struct
 * bk_setting with its value, and when it applies. The parser and the printer use this table, and a test
 * compares it with the settings of the simulator's scenarios, so that names mean the same in both. */
#ifndef BUCKETING_SETTING_LINES_H
#define BUCKETING_SETTING_LINES_H

#include "bucketing/setting.h"

#define BK_SETTING_FIRST_LINE "bucketing-setting 1"

struct bk_setting_word {
    const char *name; /* NULL ends the list */
    unsigned value;
};

enum bk_setting_type {
    BK_VALUE_CHOICE,
    BK_VALUE_FLAG,
    BK_VALUE_U32,
    BK_VALUE_U64,
    BK_VALUE_DURATION,
    BK_VALUE_BYTES,
    BK_VALUE_CHANCE,
    BK_VALUE_TIME
};

enum bk_setting_name {
    BK_LINE_NONE,
    BK_LINE_CALENDAR,
    BK_LINE_WINDOW,
    BK_LINE_EPOCH,
    BK_LINE_ROWS,
    BK_LINE_SOURCE,
    BK_LINE_BATCH,
    BK_LINE_EVERY_ROWS,
    BK_LINE_EVERY_TIME,
    BK_LINE_CHANCE,
    BK_LINE_BITS,
    BK_LINE_THRESHOLD,
    BK_LINE_BYTES,
    BK_LINE_WEIGHT,
    BK_LINE_COORDINATION,
    BK_LINE_COUNTER,
    BK_LINE_LEAD,
    BK_LINE_LOCK_LASTS,
    BK_LINE_LOCK_BACKOFF,
    BK_LINE_GRANT,
    BK_LINE_BUCKETS,
    BK_LINE_MAX_AGE,
    BK_LINE_PLAN,
    BK_LINE_AT_ONCE,
    BK_LINE_REMEMBER_EMPTY,
    BK_LINE_LATE,
    BK_LINE_COUNT
};

struct bk_setting_line {
    const char *name;
    unsigned kinds; /* bit k: an enum bk_kind */
    enum bk_setting_type type;
    size_t place;
    const struct bk_setting_word *words;
    uint64_t least, most; /* most 0: any */
    bool is_optional;
    enum bk_setting_name unless; /* the line must be absent if that one is set */
    enum bk_setting_name of;     /* the line applies only if that one has one of `values` */
    unsigned values;
};

extern const struct bk_setting_line bk_setting_lines[BK_LINE_COUNT];

/* The value of a line; for a chance, its denominator. */
uint64_t bk_setting_value(const struct bk_setting *setting, const struct bk_setting_line *line);
void bk_setting_put(struct bk_setting *setting, const struct bk_setting_line *line, uint64_t value);
/* The word of a value; NULL: there is none. */
const char *bk_setting_word_of(const struct bk_setting_word *words, uint64_t value);
bool bk_setting_is_of_kind(const struct bk_setting_line *line, const struct bk_setting *setting);
/* Whether the setting `of` has one of the values that the line needs. */
bool bk_setting_is_needed(const struct bk_setting_line *line, const struct bk_setting *setting);
/* Whether the line applies to this setting. */
bool bk_setting_applies(const struct bk_setting_line *line, const struct bk_setting *setting);
/* Whether rows should be counted from time to time, but neither every_rows nor every_time is set. */
bool bk_setting_counts_never(const struct bk_setting *setting);

#endif
