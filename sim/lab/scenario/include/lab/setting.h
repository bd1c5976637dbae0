/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of settings: each setting of a strategy has one row with its name in a scenario, its allowed
 * values, its member of struct lab_settings, its name in the database, and how it is displayed.
 *
 * The parser, the writer of YAML, the database, `show`, charts, `tune` and the reference in docs/scenario.md
 * read this table. They mention a setting by name only where it needs a special rule. */
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
    LAB_SETTING_CHANCE,   /* two consecutive uint64_t: m and n of m/n */
    /* The following types exist only in scenarios. */
    LAB_SETTING_WAIT,    /* a duration whose name is also a value of the setting `backoff` */
    LAB_SETTING_GROUP,   /* a mapping of the settings whose paths begin with this path */
    LAB_SETTING_CHANGES, /* the list of changes */
    LAB_SETTING_LABEL
};

/* Where a setting may occur, as bits: in a strategy, in a change of `then`. */
#define LAB_OF_STRATEGY 1u
#define LAB_OF_CHANGE   2u

/* When a value of zero is output. Each includes the previous ones: never; by `show`; in a written scenario;
 * in the database. */
enum lab_zero { LAB_ZERO_SILENT, LAB_ZERO_TOLD, LAB_ZERO_WRITTEN, LAB_ZERO_STORED };

/* A condition on the value of another setting of the same strategy, which is named by its path or its name in
 * the database. */
struct lab_setting_rule {
    const char *other; /* NULL: no rule */
    uint32_t values;   /* bit n: the value n satisfies the rule; bit 31: 31 and all larger values do */
};

struct lab_setting {
    const char *path; /* path in a scenario, below the kind: "lock.backoff"; NULL: it is not in scenarios */
    const char *
        stored; /* name in the database, after "then.N." for the N-th change; NULL: not stored under a name */
    uint32_t kinds;    /* bit k: strategies of kind k (enum bk_kind or LAB_KIND_*) have it */
    uint32_t scopes;   /* LAB_OF_* bits; 0 means LAB_OF_STRATEGY */
    uint32_t required; /* LAB_OF_* bits: where it must be given */
    enum lab_setting_type type;
    size_t place; /* offset in struct lab_settings; for a setting of a change, the offset in the first change,
                     or the offset in the strategy */
    const struct lab_choice *words;
    double least, most; /* both 0: any value of the type */
    const char *range;  /* "a duration above 0s"; NULL: the range is the list of `words` */
    double change_most; /* largest value in a change, when it differs; else 0 */
    const char *change_range;
    int64_t standard;              /* the default value, used if `needs` holds */
    struct lab_setting_rule needs; /* if this rule does not hold, the setting must not be given */
    struct lab_setting_rule
        when; /* if this rule does not hold, the setting has no effect, although it may be given */
    enum lab_zero zero;
    bool is_rung;      /* a number that `tune` varies */
    bool needs_agents; /* without agents it has no effect */
    /* How `show` and charts display it: %s is the value, {s} the s of a plural. A comma precedes the text,
     * unless it begins with a space. NULL: it is not displayed. */
    const char *told, *drawn;
    const char *const *drawn_words; /* the words in charts, instead of `words` */
    const char
        *standard_text; /* the default as docs/scenario.md shows it; NULL: `standard`, or none if that is 0 */
    const char *meaning;
};

extern const struct lab_setting lab_setting_table[];
extern const size_t lab_setting_count;

extern const struct lab_choice lab_plan_words[];

/* The offset in struct lab_settings of a strategy's setting (change 0), or of its N-th change's; SIZE_MAX
 * when strategies of that kind, or their changes, have no such setting, or its value is not stored. */
size_t lab_setting_place(const struct lab_setting *setting, enum bk_kind kind, uint32_t change);
/* Finds the row by its path or its name in the database; NULL: there is none. Cost: linear in the table. */
const struct lab_setting *lab_setting_find(enum bk_kind kind, const char *name);
/* The name of a choice's value. */
const char *lab_setting_word(const struct lab_choice *words, int value);
/* The name of a value of the choice at that path, for example "three-state" for "coordination" of
 * probabilistic. */
const char *lab_setting_name(enum bk_kind kind, const char *path, int value);
/* Whether the rule holds for the settings, or for their N-th change. */
bool lab_setting_rule_holds(const struct lab_setting_rule *rule, const struct lab_settings *settings,
                            uint32_t change);
/* Whether the value of a setting of a strategy, or of its N-th change, should be output: its rule `needs`
 * holds (not required in the database), and it is not zero, or its row outputs zeros at the level `zero`. For
 * zeros, and for LAB_ZERO_TOLD, the rule `when` must hold too. */
bool lab_setting_is_said(const struct lab_setting *setting, const struct lab_settings *settings,
                         uint32_t change, enum lab_zero zero);

/* A value as a scenario writes it: "10d", "512KB", "1/300", "true". */
#define LAB_SETTING_TEXT_SIZE 64
void lab_setting_text(const struct lab_setting *setting, const void *value, char *buffer);
/* Writes the settings as in a scenario: "bits: 9, threshold: 40, lock: {lasts: 5s, backoff: 100ms}". Returns
 * the length, which is below size. */
size_t lab_settings_text(const struct lab_settings *settings, char *buffer, size_t size);

/* Converts the settings of one of the core's kinds, without `then`, to the struct that the core reads and
 * writes. */
void lab_settings_core(const struct lab_settings *settings, uint64_t scenario_digest, struct bk_setting *out);

/* A callback that writes the value of a setting for display into `buffer`. */
typedef void lab_setting_teller(void *context, const struct lab_setting *setting, const void *value,
                                char *buffer, size_t size);
/* Writes all settings of a strategy (change 0), or of its N-th change, for display: by `told` or, if
 * is_drawn, by `drawn`. Returns the length, which is below size. */
size_t lab_settings_tell(const struct lab_settings *settings, uint32_t change, bool has_agents, bool is_drawn,
                         lab_setting_teller *teller, void *context, char *buffer, size_t size);

/* Sets the setting to its default, if it has one and its rule `needs` holds. */
void lab_setting_put_standard(const struct lab_setting *setting, struct lab_settings *settings);

#endif
