/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of one strategy: what a scenario asks for, what a result was made with, and what the database
 * keeps of it. A scenario's strategy and a result's hold the same struct. */
#ifndef LAB_SETTINGS_H
#define LAB_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "bucketing/agent.h"
#include "bucketing/bucketing.h"
#include "workload/observed.h"

#define LAB_CHANGES_MAX (BK_ERAS_MAX - 1)
/* What a run with `then` can hold of hash: each era has buckets of its own. */
#define LAB_CHANGED_BUCKETS_MAX 4096u

/* Other settings of the same kind, from a date on. */
struct lab_change {
    int64_t at_ns; /* after the start of the run; above 0, and above that of the change before */
    int64_t
        rollout_ns; /* 0: all agents know the date in advance; else each takes the new settings at a
                       moment of its own between at and at + rollout, by its own clock, and dates them so */
    bool keeps_old; /* false: who takes them knows no other settings any more */
    struct bk_strategy strategy;
};

/* How a strategy's readers go about it; the scenario's `reads` where the strategy says nothing. */
struct lab_reading {
    enum bk_plan plan; /* BK_PLAN_DEFAULT: as the kind of read says */
    uint32_t at_once;
    bool remembers_empty; /* BK_TIME */
    int64_t late_ns;      /* in a result 0 where empty windows are not remembered */
};

struct lab_settings {
    struct bk_strategy strategy;       /* BK_UNBUCKETED, and without meaning, of `idgen` and `observed` */
    enum bk_coordination coordination; /* of probabilistic and weighted; else BK_SINGLE */
    enum bk_counter counter;           /* of the same; default BK_COUNTER_RMW */
    enum bk_source source;             /* of count; else BK_SOURCE_EXTERNAL */
    uint64_t lease_rows;               /* of BK_SOURCE_LEASE: default 100; else 0 */
    uint64_t every_rows;               /* of BK_SOURCE_INCREMENTAL and, default 1, BK_SOURCE_SCAN */
    int64_t every_ns;                  /* of the same; 0: not by time */
    int64_t lead_ns;                   /* of BK_THREE_STATE; else 0 */
    int64_t lock_lasts_ns, lock_backoff_ns; /* of BK_LOCKED: default 5s and 100ms; else 0 */
    int64_t grant_ns;                       /* of BK_GUARDED: default 10s; else 0 */
    uint32_t change_count;                  /* 0: the settings hold throughout */
    struct lab_change changes[LAB_CHANGES_MAX];
    struct lab_reading reading;
    bool is_idgen;                /* it hands out identifiers */
    struct bk_idgen_config idgen; /* in a scenario without client_id and retries */
    /* Not AUTO: a running Cassandra told its sizes, and nothing was run. In a scenario such strategies are
     * struct lab_observed, and these three are not set. */
    enum wl_observed_format observed;
    char *observed_file, *observed_table; /* malloc'ed; without folder; "keyspace.table", "" where not told */
};

/* Kinds of strategies in addition to those of the core, whose own come first. */
#define LAB_KIND_IDGEN    BK_KIND_COUNT
#define LAB_KIND_OBSERVED ((enum bk_kind)(BK_KIND_COUNT + 1))
#define LAB_KIND_COUNT    (BK_KIND_COUNT + 2)

/* One of the core's kinds, or one of those above. */
enum bk_kind lab_settings_kind(const struct lab_settings *settings);
/* "probabilistic" and the like; "idgen", "observed". */
const char *lab_kind_name(enum bk_kind kind);
/* The protocol by which agents agree or rows are counted: an enum bk_coordination, of BK_COUNT an enum
 * bk_source, of LAB_KIND_IDGEN an enum bk_idgen_lock. */
unsigned lab_settings_protocol(const struct lab_settings *settings);

#endif
