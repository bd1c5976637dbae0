/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of settings: one row for each setting of a strategy says how a scenario names it, which values it
 * takes, where struct lab_settings holds it, under which name the database keeps it, and how it is told.
 *
 * The parser, the writer of YAML, the database, `show`, charts, `tune` and the reference in docs/scenario.md
 * read this table, and none of them names a setting that needs no rule of its own. */
#ifndef LAB_SETTING_H
#define LAB_SETTING_H

#include <stddef.h>

#include "bucketing/setting.h"
#include "lab/settings.h"

struct lab_choice {
    const char *name; /* NULL ends the list */
    int value;
};

enum lab_setting_type {
    LAB_SETTING_U32,
    LAB_SETTING_U64,
    LAB_SETTING_DURATION, /* int64_t, ns */
    LAB_SETTING_TIME,     /* int64_t, ns since 1970 */
    LAB_SETTING_BYTES,    /* uint64_t */
    LAB_SETTING_CHOICE,   /* an enum, by `words` */
    LAB_SETTING_FLAG,     /* bool */
    LAB_SETTING_TEXT,     /* char *, malloc'ed */
    LAB_SETTING_CHANCE,   /* two uint64_t, one behind the other: m/n */
    /* The following are of a scenario alone. */
    LAB_SETTING_WAIT,    /* a duration whose name is a word of the setting `backoff` */
    LAB_SETTING_GROUP,   /* a mapping of the settings whose paths begin with this one's */
    LAB_SETTING_CHANGES, /* the list of changes */
    LAB_SETTING_LABEL
};

/* Where a setting may stand, as bits: in a strategy, in a change of `then`. */
#define LAB_OF_STRATEGY 1u
#define LAB_OF_CHANGE   2u

/* What a zero means, each including those before it: nothing; a value that `show` tells, that a scenario
 * writes, that the database keeps. */
enum lab_zero { LAB_ZERO_SILENT, LAB_ZERO_TOLD, LAB_ZERO_WRITTEN, LAB_ZERO_STORED };

/* The value of another setting of the same strategy, by its path or the name in the database. */
struct lab_setting_rule {
    const char *other; /* NULL: no rule */
    uint32_t values;   /* bit n: n is fine; bit 31 also stands for all above */
};

struct lab_setting {
    const char *path;   /* in a scenario, below the kind: "lock.backoff"; NULL: no scenario names it */
    const char *stored; /* in the database, behind "then.N." for the Nth change; NULL: not kept as such */
    uint32_t kinds;     /* bit k: an enum bk_kind or LAB_KIND_*, whose strategies have it */
    uint32_t scopes;    /* LAB_OF_*; 0 stands for LAB_OF_STRATEGY */
    uint32_t required;  /* the same: where it must be given */
    enum lab_setting_type type;
    size_t place; /* in struct lab_settings; of a change in its first change, or its strategy's place */
    const struct lab_choice *words;
    double least, most; /* both 0: any value of the type */
    const char *range;  /* "a duration above 0s"; NULL: the words say it */
    double change_most; /* of a change, when that is another one; else 0 */
    const char *change_range;
    int64_t standard;              /* stands in place of a value that was not given, where `needs` holds */
    struct lab_setting_rule needs; /* else it may not be given */
    struct lab_setting_rule when;  /* else it says nothing, although it may be given */
    enum lab_zero zero;
    bool is_rung;      /* a number that `tune` turns */
    bool needs_agents; /* without them it says nothing */
    /* How `show`, and how charts tell it: %s is the value, {s} the s of a plural. Behind a comma unless it
     * begins with a space; NULL: not at all. */
    const char *told, *drawn;
    const char *const *drawn_words; /* in place of `words` */
    const char *standard_text;      /* in docs/scenario.md; NULL: `standard`, or else none */
    const char *meaning;
};

extern const struct lab_setting lab_setting_table[];
extern const size_t lab_setting_count;

extern const struct lab_choice lab_plan_words[];

/* The place in struct lab_settings of a strategy's setting (change 0) or its Nth change's; SIZE_MAX where a
 * strategy of that kind, or its change, has no such setting, or nothing is held. */
size_t lab_setting_place(const struct lab_setting *setting, enum bk_kind kind, uint32_t change);
/* The row of that path, or of that name in the database; NULL: none. Linear in the table. */
const struct lab_setting *lab_setting_find(enum bk_kind kind, const char *name);
/* The name of a choice's value. */
const char *lab_setting_word(const struct lab_choice *words, int value);
/* The name of a value of the choice at that path, as "three-state" of probabilistic's "coordination". */
const char *lab_setting_name(enum bk_kind kind, const char *path, int value);
/* Whether the rule holds for the settings, or the Nth change of them. */
bool lab_setting_rule_holds(const struct lab_setting_rule *rule, const struct lab_settings *settings,
                            uint32_t change);
/* Whether the setting of a strategy, or of its Nth change, has a value worth telling, to whom a zero means
 * something from `zero` on. */
bool lab_setting_is_said(const struct lab_setting *setting, const struct lab_settings *settings,
                         uint32_t change, enum lab_zero zero);

/* A value as a scenario writes it: "10d", "512KB", "1/300", "true". */
#define LAB_SETTING_TEXT_SIZE 64
void lab_setting_text(const struct lab_setting *setting, const void *value, char *buffer);
/* The settings as a scenario writes them, "bits: 9, threshold: 40, lock: {lasts: 5s, backoff: 100ms}".
 * Returns the length, which is below size. */
size_t lab_settings_text(const struct lab_settings *settings, char *buffer, size_t size);

/* The settings of one of the core's kinds, without `then`, as the core reads and writes them. */
void lab_settings_core(const struct lab_settings *settings, uint64_t scenario_digest, struct bk_setting *out);

/* Puts a value of a setting in words into `buffer`. */
typedef void lab_setting_teller(void *context, const struct lab_setting *setting, const void *value,
                                char *buffer, size_t size);
/* All that there is to tell of a strategy (change 0) or of its Nth change, by `told` or by `drawn`. Returns
 * the length, which is below size. */
size_t lab_settings_tell(const struct lab_settings *settings, uint32_t change, bool has_agents, bool is_drawn,
                         lab_setting_teller *teller, void *context, char *buffer, size_t size);

/* Gives the setting its standard, where it has one and its `needs` hold. */
void lab_setting_put_standard(const struct lab_setting *setting, struct lab_settings *settings);

#endif
