/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of settings: each setting of a strategy has one row with its name in a scenario, its allowed
 * values, its member of struct lab_settings, its name in the database, and how it is displayed.
 *
 * The parser, the writer of YAML, the database, `show`, charts, `tune` and the reference in docs/scenario.md
 * read this table. They mention a setting by name only where it needs a special rule. */
#ifndef LAB_SETTING_H
#define LAB_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/agent.h"
#include "bucketing/bucketing.h"
#include "bucketing/idgen.h"
#include "bucketing/setting.h"
#include "workload/observed.h"

/* --- The settings of one strategy, as a scenario specifies them, a result records them, and the database
 * stores them. A scenario's strategy and a result's have the same struct. */

#define LAB_CHANGES_MAX (BK_ERAS_MAX - 1)
/* The most buckets of hash in a run with `then`, since each era has its own buckets. */
#define LAB_CHANGED_BUCKETS_MAX 4096u

/* A change to other settings of the same kind, from a date on. */
struct lab_change {
    int64_t at_ns;      /* time after the start of the run; above 0, and above at_ns of the previous change */
    int64_t rollout_ns; /* 0: all agents know the date in advance. Otherwise each agent gets the new settings
                           at a different time between at_ns and at_ns + rollout_ns, by its own clock, and
                           uses that time as their date */
    bool keeps_old;     /* false: agents that have the new settings forget all earlier ones */
    struct bk_strategy strategy;
};

/* How a strategy's readers work; where the strategy does not specify it, the scenario's `reads` applies. */
struct lab_reading {
    enum bk_plan plan; /* BK_PLAN_DEFAULT: the plan of the kind of read */
    uint32_t at_once;
    bool remembers_empty; /* BK_KIND_TIME */
    int64_t late_ns;      /* in a result, 0 unless remembers_empty */
};

struct lab_settings {
    struct bk_strategy strategy;       /* BK_KIND_UNBUCKETED, without meaning, for `idgen` and `observed` */
    enum bk_coordination coordination; /* for probabilistic and weighted; else BK_SINGLE */
    enum bk_counter counter;           /* for probabilistic and weighted; default BK_COUNTER_RMW */
    enum bk_source source;             /* for count; else BK_SOURCE_EXTERNAL */
    uint64_t lease_rows;               /* for BK_SOURCE_LEASE, default 100; else 0 */
    uint64_t every_rows;               /* for BK_SOURCE_INCREMENTAL, and for BK_SOURCE_SCAN, default 1 */
    int64_t every_ns;                  /* for the same two sources; 0: not by time */
    int64_t lead_ns;                   /* for BK_THREE_STATE; else 0 */
    int64_t lock_lasts_ns, lock_backoff_ns; /* for BK_LOCKED, default 5s and 100ms; else 0 */
    int64_t grant_ns;                       /* for BK_GUARDED, default 10s; else 0 */
    uint32_t change_count;                  /* 0: the settings apply to the whole run */
    struct lab_change changes[LAB_CHANGES_MAX];
    struct lab_reading reading;
    bool is_idgen;                /* the strategy is idgen, which hands out identifiers */
    struct bk_idgen_config idgen; /* client_id and retries are not set in a scenario */
    /* In a result, if not WL_OBSERVED_AUTO: the sizes are those that a running Cassandra reported, and
     * nothing was run. In a scenario, only `observed` strategies have these three members. */
    enum wl_observed_format observed;
    char *observed_file, *observed_table; /* malloc'ed; the file's name without its folder; "keyspace.table",
                                             or "" when not known */
};

/* Kinds of strategies in addition to those of the core, whose numbers come first. */
#define LAB_KIND_IDGEN    BK_KINDS
#define LAB_KIND_OBSERVED ((enum bk_kind)(BK_KINDS + 1))
#define LAB_KIND_COUNT    (BK_KINDS + 2)

/* One of the core's kinds, or one of those above. */
enum bk_kind lab_settings_kind(const struct lab_settings *settings);
/* "probabilistic" and the like; "idgen", "observed". */
const char *lab_kind_name(enum bk_kind kind);
/* The protocol by which agents agree or rows are counted: an enum bk_source for BK_KIND_COUNT, an enum
 * bk_idgen_lock for LAB_KIND_IDGEN, and an enum bk_coordination for all other kinds. */
unsigned lab_settings_protocol(const struct lab_settings *settings);

/* --- The table of settings */

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
    uint32_t kinds; /* bit k: strategies of kind k (enum bk_kind or LAB_KIND_*) have it */
    enum lab_setting_type type;
    size_t place; /* offset in struct lab_settings; for a setting of a change, the offset in the first change,
                     or the offset in the strategy */
    uint32_t scopes;   /* LAB_OF_* bits; 0 means LAB_OF_STRATEGY */
    uint32_t required; /* LAB_OF_* bits: where it must be given */
    const struct lab_choice *words;
    double least, most;            /* both 0: any value of the type */
    const char *range;             /* as in struct lab_field: NULL where the numbers, or the words, say it */
    double change_most;            /* largest value in a change, when it differs; else 0 */
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

extern const struct lab_choice lab_plan_words[], lab_flag_words[];

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
