/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Oracles: what a run is judged by, as a reader would judge it; conditions: what happened in a run that a
 * guarantee may exclude; guarantees: which strategy keeps which oracle under which conditions; probes: rare
 * paths that a campaign of runs must have walked.
 *
 * Every cluster run reports each oracle that means something for its strategy as the metric
 * oracle.NAME.violations. Judging is exact, in memory that grows with keys and partitions. */
#ifndef LAB_ORACLE_H
#define LAB_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/settings.h"

/* What a violation is counted in stands in brackets. */
#define LAB_ORACLE_MAP(X)                                                                                    \
    X(FINDABLE, "findable", "every acknowledged row is met by a fresh reader walking down [rows]")           \
    X(NEWEST, "newest",                                                                                      \
      "the newest n rows that a reader gets are the newest n [stored rows after which not]")                 \
    X(AGREEMENT, "agreement",                                                                                \
      "beyond the clock bound, no agent puts a later time into a lower bucket than "                         \
      "another agent an earlier one [rows]")                                                                 \
    X(MONOTONE, "monotone", "in the order of row times the buckets never go back [rows]")                    \
    X(NO_GAPS, "no_gaps", "no bucket below the current one is empty [buckets]")                              \
    X(NO_DUPLICATES, "no_duplicates", "a retried row is in one bucket only [rows]")                          \
    X(BOUNDED, "bounded",                                                                                    \
      "no partition outgrows its distribution by more than lag x peak rate [partitions]")                    \
    X(CONSERVED, "conserved", "rows and increments add up: none is lost or made [differences]")              \
    X(LIVE, "live", "once all faults are healed, full partitions close [keys]")                              \
    X(UNIQUE, "unique", "no identifier is given twice [identifiers]")                                        \
    X(AVAILABLE, "available",                                                                                \
      "outside faults every row is acknowledged within a bound, and every operation ends [operations]")      \
    X(FILLED, "filled", "no partition closes before its threshold is reached [partitions]")                  \
    X(RESTORED, "restored",                                                                                  \
      "an agent that resumes from its checkpoint asks for what one does that never stopped [agents]")        \
    X(LINES, "lines", "with a greatest age no bucket has rows from both sides of a line [rows]")

enum lab_oracle {
#define LAB_ORACLE_ENUM(name, text, what) LAB_ORACLE_##name,
    LAB_ORACLE_MAP(LAB_ORACLE_ENUM)
#undef LAB_ORACLE_ENUM
        LAB_ORACLE_COUNT
};
const char *lab_oracle_name(enum lab_oracle oracle);  /* "findable" */
const char *lab_oracle_about(enum lab_oracle oracle); /* one sentence */

/* What may have happened in a run. A guarantee names those that it does not survive. */
#define LAB_CONDITION_MAP(X)                                                                                 \
    X(MANY_AGENTS, "many_agents", "more than one agent writes")                                              \
    X(CLOCK_JUMP, "clock_jump", "a clock left its declared bound")                                           \
    X(SHORT_LEAD, "short_lead", "the lead does not outlast cache time and clock skew")                       \
    X(SHORT_GRANT, "short_grant",                                                                            \
      "a grant, or a partition, does not outlast a few contended conditional updates")                       \
    X(SHORT_LEASE, "short_lease", "a lease may end later than its lock by another client's clock")           \
    X(CHANGES_AT_ONCE, "changes_at_once", "two operations changed a key's state at once")                    \
    X(LATE_STATE_WRITE, "late_state_write", "a write of the state took longer than the lead leaves for it")  \
    X(LOST_INCREMENT, "lost_increment", "an increment was lost, or not known")                               \
    X(UNKNOWN_WRITE, "unknown_write", "the outcome of a write of the state stayed unknown")                  \
    X(WEAK_LEVELS, "weak_levels", "reads and writes need not meet in a replica")                             \
    X(REFUSED_ROWS, "refused_rows", "rows were refused, or left unresolved")                                 \
    X(FAULTS, "faults", "anything failed at all")                                                            \
    X(LATE_ROWS, "late_rows", "rows came later than their own time says")                                    \
    X(ROUTE_AGAIN, "route_again", "retried rows are routed again, which no guarantee survives")              \
    X(UNEVEN_SETTINGS, "uneven_settings",                                                                    \
      "agents took new settings at moments of their own, or forgot the old ones")                            \
    X(REMOVED_ROWS, "removed_rows", "rows expired or were deleted")                                          \
    X(SHORT_TIMEOUTS, "short_timeouts",                                                                      \
      "all tries of a request may end within one pause of a node, or one contended update")                  \
    X(EARLY_ROWS, "early_rows", "rows came with times beyond the clock bound")                               \
    X(OLD_CHECKPOINT, "old_checkpoint", "an agent restarted from an old checkpoint")                         \
    X(STATE_LOST, "state_lost", "a key's state row was deleted, or restored from a backup")                  \
    X(PAXOS_LOST, "paxos_lost", "a replica forgot recent Paxos state")                                       \
    X(COUNTED_AT_ROLL, "counted_at_roll",                                                                    \
      "a row was counted while its key rolled, or nobody knows whether it was counted")

enum lab_condition {
#define LAB_CONDITION_ENUM(name, text, what) LAB_CONDITION_##name,
    LAB_CONDITION_MAP(LAB_CONDITION_ENUM)
#undef LAB_CONDITION_ENUM
        LAB_CONDITION_COUNT
};
const char *lab_condition_name(enum lab_condition condition);
const char *lab_condition_about(enum lab_condition condition);

/* Rare paths. The first fifteen: a fault of that kind (in the order of enum lab_fault_kind) struck or was
 * under protocol during a roll, that is from when its write was asked until it was known, and until its date
 * has come.
 */
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

/* A path that is worth counting, and that a campaign need not walk: more violations in doubt than a run keeps
 * come of a broken guarantee, or of a run that is told late of very much. */
#define LAB_PROBE_OPTIONAL LAB_PROBE_DOUBTS_FULL

enum lab_probe {
#define LAB_PROBE_ENUM(name, text) LAB_PROBE_##name,
    LAB_PROBE_MAP(LAB_PROBE_ENUM)
#undef LAB_PROBE_ENUM
        LAB_PROBE_COUNT
};
const char *lab_probe_name(enum lab_probe probe);

/* Sets of excuses that are kept for an oracle of a run. */
#define LAB_EXCUSES_MAX 6u

/* The violations of an oracle in a run, and the first of them that nothing excuses, or else the first. */
struct lab_violation {
    uint64_t count;  /* of all */
    uint32_t key;    /* of that one; UINT32_MAX: of the cluster as a whole */
    int64_t time_ns; /* of that one */
    char text[160];  /* what it was, in words */
    bool is_excused; /* that one */
    /* Which conditions excuse them. Bit c of a set: LAB_CONDITION_c. Each violation has a set, and those that
     * hold another one are left out: 0 stands for violations that nothing excuses. */
    uint32_t excuse_count;
    uint32_t excuses[LAB_EXCUSES_MAX];
};

/* The judgement of one strategy's run. */
struct lab_verdict {
    bool is_judged[LAB_ORACLE_COUNT]; /* false: means nothing here, or (live) faults never ended for long */
    struct lab_violation violations[LAB_ORACLE_COUNT];
    uint32_t conditions; /* bit c: LAB_CONDITION_c held for some key at some time */
    /* Of a run that has ended, those of them that the oracle's guarantee excepts; 0 without a guarantee. */
    uint32_t lapsed[LAB_ORACLE_COUNT];
    uint64_t probes[LAB_PROBE_COUNT];
    uint64_t increments_lost, increments_doubled; /* of those that were due, as told by the database */
    uint64_t rolls;
};

/* As lab_settings_protocol() tells them. */
#define LAB_PROTOCOL_COUNT ((unsigned)BK_SOURCE_MEMORY + 1)
_Static_assert(BK_GUARDED < LAB_PROTOCOL_COUNT, "LAB_PROTOCOL_COUNT is the larger");

/* "three-state", "weighted, three-state", "count, lease", "idgen, lwt": a protocol of a kind of strategy, as
 * guarantees, campaigns and baselines name it. */
const char *lab_protocol_name(enum bk_kind kind, unsigned protocol);

/* A guarantee: this protocol of this kind keeps the oracle, but for violations of keys and times on which one
 * of the conditions in `except` can have had an effect. What stands in no row is not guaranteed. */
struct lab_guarantee {
    enum bk_kind kind; /* or LAB_KIND_IDGEN */
    unsigned protocol; /* BK_PROBABILISTIC stands for BK_WEIGHTED too */
    enum lab_oracle oracle;
    uint32_t except; /* bit c: LAB_CONDITION_c */
};
extern const struct lab_guarantee lab_guarantees[];
extern const size_t lab_guarantee_count;
/* The guarantee that stands, or NULL. */
const struct lab_guarantee *lab_guarantee_find(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle);
/* Its conditions, and those that no guarantee survives. */
uint32_t lab_guarantee_excepts(const struct lab_guarantee *guarantee);
/* Whether there is a violation that nothing excuses. */
bool lab_violation_is_bare(const struct lab_violation *violation);
/* Whether the oracle is guaranteed, and was violated where nothing excuses it. */
bool lab_guarantee_is_broken(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle,
                             const struct lab_verdict *verdict);

#endif
