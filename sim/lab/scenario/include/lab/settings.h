/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of one strategy, as a scenario specifies them, a result records them, and the database stores
 * them. A scenario's strategy and a result's have the same struct. */
#ifndef LAB_SETTINGS_H
#define LAB_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "bucketing/agent.h"
#include "bucketing/bucketing.h"
#include "workload/observed.h"

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
    bool remembers_empty; /* BK_TIME */
    int64_t late_ns;      /* in a result, 0 unless remembers_empty */
};

struct lab_settings {
    struct bk_strategy strategy;            /* BK_UNBUCKETED, without meaning, for `idgen` and `observed` */
    enum bk_coordination coordination;      /* for probabilistic and weighted; else BK_SINGLE */
    enum bk_counter counter;                /* for probabilistic and weighted; default BK_COUNTER_RMW */
    enum bk_source source;                  /* for count; else BK_SOURCE_EXTERNAL */
    uint64_t lease_rows;                    /* for BK_SOURCE_LEASE, default 100; else 0 */
    uint64_t every_rows;                    /* for BK_SOURCE_INCREMENTAL, and for BK_SOURCE_SCAN, default 1 */
    int64_t every_ns;                       /* for the same two sources; 0: not by time */
    int64_t lead_ns;                        /* for BK_THREE_STATE; else 0 */
    int64_t lock_lasts_ns, lock_backoff_ns; /* for BK_LOCKED, default 5s and 100ms; else 0 */
    int64_t grant_ns;                       /* for BK_GUARDED, default 10s; else 0 */
    uint32_t change_count;                  /* 0: the settings apply to the whole run */
    struct lab_change changes[LAB_CHANGES_MAX];
    struct lab_reading reading;
    bool is_idgen;                /* the strategy is idgen, which hands out identifiers */
    struct bk_idgen_config idgen; /* client_id and retries are not set in a scenario */
    /* Not WL_OBSERVED_AUTO: the sizes are those that a running Cassandra reported, and nothing was run. In a
     * scenario such strategies are struct lab_observed, and these three members are not set. */
    enum wl_observed_format observed;
    char *observed_file, *observed_table; /* malloc'ed; the file's name without its folder; "keyspace.table",
                                             or "" when not known */
};

/* Kinds of strategies in addition to those of the core, whose numbers come first. */
#define LAB_KIND_IDGEN    BK_KIND_COUNT
#define LAB_KIND_OBSERVED ((enum bk_kind)(BK_KIND_COUNT + 1))
#define LAB_KIND_COUNT    (BK_KIND_COUNT + 2)

/* One of the core's kinds, or one of those above. */
enum bk_kind lab_settings_kind(const struct lab_settings *settings);
/* "probabilistic" and the like; "idgen", "observed". */
const char *lab_kind_name(enum bk_kind kind);
/* The protocol by which agents agree or rows are counted: an enum bk_source for BK_COUNT, an enum
 * bk_idgen_lock for LAB_KIND_IDGEN, and an enum bk_coordination for all other kinds. */
unsigned lab_settings_protocol(const struct lab_settings *settings);

#endif
