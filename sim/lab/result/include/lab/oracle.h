/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Oracles check a run from the point of view of its readers. Conditions are events of a run that a guarantee
 * may exclude. Guarantees say which strategy satisfies which oracle, except under which conditions. Probes
 * are rare paths that a campaign of runs must reach.
 *
 * Every cluster run reports each oracle that applies to its strategy as the metric oracle.NAME.violations.
 * The checks are exact, and their memory grows with keys and partitions. */
#ifndef LAB_ORACLE_H
#define LAB_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/setting.h"

/* Each oracle's unit of violations is in brackets. */
#define LAB_ORACLE_MAP(X)                                                                                    \
    X(FINDABLE, "findable", "a fresh reader that walks down finds every acknowledged row [rows]")            \
    X(NEWEST, "newest",                                                                                      \
      "a reader of the newest n rows gets the newest n [stored rows after which it does not]")               \
    X(AGREEMENT, "agreement",                                                                                \
      "beyond the clock bound, no agent puts a row into a lower bucket than another agent's older row "      \
      "[rows]")                                                                                              \
    X(MONOTONE, "monotone", "in the order of row times the buckets never go back [rows]")                    \
    X(NO_GAPS, "no_gaps", "no bucket below the current one is empty [buckets]")                              \
    X(NO_DUPLICATES, "no_duplicates", "a retried row is in one bucket only [rows]")                          \
    X(BOUNDED, "bounded",                                                                                    \
      "no partition outgrows its distribution by more than lag x peak rate [partitions]")                    \
    X(CONSERVED, "conserved", "rows and increments add up: none is lost or invented [differences]")          \
    X(LIVE, "live", "once all faults are healed, full partitions close [keys]")                              \
    X(UNIQUE, "unique", "no identifier is given twice [identifiers]")                                        \
    X(AVAILABLE, "available",                                                                                \
      "outside faults every row is acknowledged within a bound, and every operation ends [operations]")      \
    X(FILLED, "filled", "no partition closes before its threshold is reached [partitions]")                  \
    X(RESTORED, "restored",                                                                                  \
      "an agent that resumes from its checkpoint behaves like one that never stopped [agents]")              \
    X(LINES, "lines", "with max_age no bucket has rows from both sides of a line [rows]")

enum lab_oracle {
#define LAB_ORACLE_ENUM(name, text, what) LAB_ORACLE_##name,
    LAB_ORACLE_MAP(LAB_ORACLE_ENUM)
#undef LAB_ORACLE_ENUM
        LAB_ORACLE_COUNT
};
const char *lab_oracle_name(enum lab_oracle oracle);  /* "findable" */
const char *lab_oracle_about(enum lab_oracle oracle); /* one sentence */

/* Events of a run. A guarantee names the conditions under which it does not hold. */
#define LAB_CONDITION_MAP(X)                                                                                 \
    X(MANY_AGENTS, "many_agents", "more than one agent writes")                                              \
    X(CLOCK_JUMP, "clock_jump", "a clock left its declared bound")                                           \
    X(SHORT_LEAD, "short_lead", "the lead does not outlast cache time and clock skew")                       \
    X(SHORT_GRANT, "short_grant",                                                                            \
      "a grant, or a partition, does not outlast a few contended conditional updates")                       \
    X(SHORT_LEASE, "short_lease", "a lease may end later than its lock by another client's clock")           \
    X(CHANGES_AT_ONCE, "changes_at_once", "two operations changed a key's state at once")                    \
    X(LATE_STATE_WRITE, "late_state_write", "a write of the state took longer than the lead leaves for it")  \
    X(LOST_INCREMENT, "lost_increment", "an increment was lost, or may have been lost")                      \
    X(UNKNOWN_WRITE, "unknown_write", "the outcome of a write of the state stayed unknown")                  \
    X(WEAK_LEVELS, "weak_levels", "reads and writes need not overlap in a replica")                          \
    X(REFUSED_ROWS, "refused_rows", "rows were refused, or left unresolved")                                 \
    X(FAULTS, "faults", "anything failed at all")                                                            \
    X(LATE_ROWS, "late_rows", "rows arrived later than their own times")                                     \
    X(ROUTE_AGAIN, "route_again", "retried rows are routed again, and no guarantee covers that")             \
    X(UNEVEN_SETTINGS, "uneven_settings",                                                                    \
      "agents took new settings at different times, or forgot the old ones")                                 \
    X(REMOVED_ROWS, "removed_rows", "rows expired or were deleted")                                          \
    X(SHORT_TIMEOUTS, "short_timeouts",                                                                      \
      "all tries of a request may end within one pause of a node, or one contended update")                  \
    X(EARLY_ROWS, "early_rows", "rows came with times beyond the clock bound")                               \
    X(OLD_CHECKPOINT, "old_checkpoint", "an agent restarted from an old checkpoint")                         \
    X(STATE_LOST, "state_lost", "a key's state row was deleted, or restored from a backup")                  \
    X(PAXOS_LOST, "paxos_lost", "a replica forgot recent Paxos state")                                       \
    X(COUNTED_AT_ROLL, "counted_at_roll",                                                                    \
      "a row was counted while its key rolled, or it is unknown whether it was counted")

enum lab_condition {
#define LAB_CONDITION_ENUM(name, text, what) LAB_CONDITION_##name,
    LAB_CONDITION_MAP(LAB_CONDITION_ENUM)
#undef LAB_CONDITION_ENUM
        LAB_CONDITION_COUNT
};
const char *lab_condition_name(enum lab_condition condition);
const char *lab_condition_about(enum lab_condition condition);

/* Rare paths. The first fifteen: a fault of this kind (in the order of enum lab_fault_kind) began or was
 * active during a roll. A roll lasts from the request of its write until its outcome is known and its date is
 * reached. */
#define LAB_PROBE_MAP(X)                                                                                     \
    X(ROLL_NODE_DOWN, "roll_during_node_down")                                                               \
    X(ROLL_SLOW_NODE, "roll_during_slow_node")                                                               \
    X(ROLL_GC_STORM, "roll_during_gc_storm")                                                                 \
    X(ROLL_NETWORK_PARTITION, "roll_during_network_partition")                                               \
    X(ROLL_LOST_MESSAGE, "roll_during_lost_message")                                                         \
    X(ROLL_DUPLICATE_MESSAGE, "roll_during_duplicate_message")                                               \
    X(ROLL_DELAY, "roll_during_delay")                                                                       \
    X(ROLL_HINT_LOSS, "roll_during_hint_loss")                                                               \
    X(ROLL_AGENT_CRASH, "roll_during_agent_crash")                                                           \
    X(ROLL_CLOCK_JUMP, "roll_during_clock_jump")                                                             \
    X(ROLL_AGENT_PAUSE, "roll_during_agent_pause")                                                           \
    X(ROLL_LATE_MESSAGE, "roll_during_late_message")                                                         \
    X(ROLL_STATE_LOST, "roll_during_state_lost")                                                             \
    X(ROLL_STATE_RESTORED, "roll_during_state_restored")                                                     \
    X(ROLL_PAXOS_LOSS, "roll_during_paxos_loss")                                                             \
    X(LATE_PAXOS, "late_paxos_commit")                                                                       \
    X(LATE_RESET, "reset_after_another")                                                                     \
    X(CRASH_UNCOUNTED, "crash_between_insert_and_increment")                                                 \
    X(UNKNOWN_PUT, "row_put_again_after_unknown")                                                            \
    X(UNKNOWN_ROLL, "roll_of_unknown_outcome")                                                               \
    X(LOST_RACE, "roll_lost_to_another")                                                                     \
    X(CHANGES_AT_ONCE, "changes_at_once")                                                                    \
    X(STALE_CACHE, "row_placed_by_a_stale_cache")                                                            \
    X(LATE_ROW, "row_stored_below_the_newest_bucket")                                                        \
    X(OLD_START, "start_of_an_old_bucket_read")                                                              \
    X(LOCK_TAKEN_OVER, "lock_taken_over")                                                                    \
    X(HINT_DELIVERED, "hint_delivered")                                                                      \
    X(READ_REPAIRED, "read_repaired")                                                                        \
    X(COUNTER_UNKNOWN, "counter_update_unknown")                                                             \
    X(PAUSED_ACT, "action_after_a_pause")                                                                    \
    X(CHECKPOINT, "restart_from_a_checkpoint")                                                               \
    X(EVICTION, "key_evicted_from_a_cache")                                                                  \
    X(RANGE_READ, "range_read_over_several_buckets")                                                         \
    X(ON_EDGE, "row_on_the_edge_of_a_bucket")                                                                \
    X(REMEMBERED, "read_with_remembered_empty_windows")                                                      \
    X(EXPIRED, "rows_expired")                                                                               \
    X(IDENTIFIERS, "identifiers_leased")                                                                     \
    X(RESTORED, "twin_restored_from_a_checkpoint")                                                           \
    X(DOUBTS_FULL, "more_doubts_than_are_kept")

/* The probe that a campaign need not reach: only with a broken guarantee, or when very much becomes known
 * late, are there more uncertain violations than a run stores. */
#define LAB_PROBE_OPTIONAL LAB_PROBE_DOUBTS_FULL

enum lab_probe {
#define LAB_PROBE_ENUM(name, text) LAB_PROBE_##name,
    LAB_PROBE_MAP(LAB_PROBE_ENUM)
#undef LAB_PROBE_ENUM
        LAB_PROBE_COUNT
};
const char *lab_probe_name(enum lab_probe probe);

/* The most sets of excuses that a run stores per oracle. */
#define LAB_EXCUSES_MAX 6u

/* The violations of an oracle in a run, with details of the first violation that is not excused, or else of
 * the first one. */
struct lab_violation {
    uint64_t count;  /* the number of violations */
    uint32_t key;    /* key of the detailed violation; UINT32_MAX: the whole cluster */
    int64_t time_ns; /* time of the detailed violation */
    char text[160];  /* text of the detailed violation */
    bool is_excused; /* the detailed violation is excused */
    /* The sets of conditions that excuse violations; bit c of a set: condition c. Each violation has a set;
     * supersets of another set are left out. The set 0 represents violations that are not excused. */
    uint32_t excuse_count;
    uint32_t excuses[LAB_EXCUSES_MAX];
};

/* The verdict on one strategy's run. */
struct lab_verdict {
    bool is_judged[LAB_ORACLE_COUNT]; /* false: the oracle does not apply, or (live) there was never a long
                                         enough time without faults */
    struct lab_violation violations[LAB_ORACLE_COUNT];
    uint32_t conditions; /* bit c: condition c occurred for some key at some time */
    /* For each oracle, those conditions that occurred and that its guarantee excepts; 0 without a
     * guarantee. */
    uint32_t lapsed[LAB_ORACLE_COUNT];
    uint64_t probes[LAB_PROBE_COUNT];
    uint64_t increments_lost,
        increments_doubled; /* increments that the database lacks, and that it has twice */
    uint64_t rolls;
};

/* The number of values of lab_settings_protocol(). */
#define LAB_PROTOCOL_COUNT ((unsigned)BK_SOURCE_MEMORY + 1)
_Static_assert(BK_GUARDED < LAB_PROTOCOL_COUNT, "LAB_PROTOCOL_COUNT is the larger");

/* The name of a protocol of a kind of strategy in guarantees, campaigns and baselines: "three-state",
 * "weighted, three-state", "count, lease", "idgen, lwt". */
const char *lab_protocol_name(enum bk_kind kind, unsigned protocol);

/* A guarantee: this protocol of this kind satisfies the oracle, except for keys and times that one of the
 * conditions in `except` may have affected. A combination without a row has no guarantee. */
struct lab_guarantee {
    enum bk_kind kind; /* or LAB_KIND_IDGEN */
    unsigned protocol; /* a row of BK_KIND_PROBABILISTIC applies to BK_KIND_WEIGHTED too */
    enum lab_oracle oracle;
    uint32_t except; /* bit c: LAB_CONDITION_c */
};
extern const struct lab_guarantee lab_guarantees[];
extern const size_t lab_guarantee_count;
/* Finds a guarantee; NULL when there is none. */
const struct lab_guarantee *lab_guarantee_find(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle);
/* The guarantee's conditions, and those that every guarantee excepts. */
uint32_t lab_guarantee_excepts(const struct lab_guarantee *guarantee);
/* Whether there is a violation that is not excused. */
bool lab_violation_is_bare(const struct lab_violation *violation);
/* Whether the oracle is guaranteed and has a violation that is not excused. */
bool lab_guarantee_is_broken(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle,
                             const struct lab_verdict *verdict);

#endif
