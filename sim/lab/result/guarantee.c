/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of guarantees. The fuzzer checks every run against it, and docs/strategies.md and
 * docs/findings.md explain it. `bucketlab fuzz` finds a row that guarantees too much. */
#include "lab/oracle.h"

#define C(name) (1u << LAB_CONDITION_##name)

#define ALWAYS 0u
#define WEAK   C(WEAK_LEVELS)
/* A strategy with a state row depends on the row not being lost. */
#define STATE (WEAK | C(STATE_LOST))
/* A strategy with conditional updates also depends on replicas not losing their Paxos state. */
#define CAS (STATE | C(PAXOS_LOST))
/* Plain writes of the state: two concurrent writes do not see each other, and a write of unknown outcome may
 * arrive late. */
#define PLAIN (CAS | C(CHANGES_AT_ONCE) | C(UNKNOWN_WRITE))
/* When a row arrives after two changes of its key, the state no longer shows the bucket of its time. */
#define LATE C(LATE_ROWS)
/* count(*) counts the rows that are left, and not all rows that the bucket got. */
#define REMOVED C(REMOVED_ROWS)
/* After an old checkpoint an agent assigns numbers again, and counts rows in memory again. */
#define OLD C(OLD_CHECKPOINT)
/* Rows with times beyond the clock bound are not covered. */
#define EARLY C(EARLY_ROWS)
/* Agents cannot agree on settings without a common date, or on forgotten settings. */
#define UNEVEN C(UNEVEN_SETTINGS)
/* A change with a date: every cache must learn it before the date, and clocks must agree. */
#define DATED (CAS | C(CHANGES_AT_ONCE) | C(LATE_STATE_WRITE) | C(SHORT_LEAD) | C(CLOCK_JUMP))

/* A count that was written from the state before a roll, or whose outcome is unknown, may be applied to the
 * next bucket. */
#define COUNTED (PLAIN | C(COUNTED_AT_ROLL) | UNEVEN)

/* A row of the table: a kind, a protocol, an oracle and its exceptions. */
#define ROW(kind, protocol, oracle, except)                                                                  \
    {                                                                                                        \
        BK_KIND_##kind, BK_##protocol, LAB_ORACLE_##oracle, except                                           \
    }
#define STORED_UNLESS(kind, protocol, refused)                                                               \
    ROW(kind, protocol, NO_DUPLICATES, ALWAYS), ROW(kind, protocol, CONSERVED, ALWAYS),                      \
        ROW(kind, protocol, RESTORED, ALWAYS), ROW(kind, protocol, AVAILABLE, C(SHORT_TIMEOUTS) | (refused))
#define STORED(kind, protocol) STORED_UNLESS(kind, protocol, ALWAYS)

const struct lab_guarantee lab_guarantees[] = {
    STORED(UNBUCKETED, SINGLE),
    ROW(UNBUCKETED, SINGLE, FINDABLE, WEAK),
    ROW(UNBUCKETED, SINGLE, NEWEST, ALWAYS),
    ROW(UNBUCKETED, SINGLE, AGREEMENT, ALWAYS),
    ROW(UNBUCKETED, SINGLE, MONOTONE, ALWAYS),

    STORED(TIME, SINGLE),
    ROW(TIME, SINGLE, FINDABLE, WEAK | C(CLOCK_JUMP) | UNEVEN | EARLY),
    ROW(TIME, SINGLE, NEWEST, C(CLOCK_JUMP) | UNEVEN | EARLY),
    ROW(TIME, SINGLE, AGREEMENT, UNEVEN),
    ROW(TIME, SINGLE, MONOTONE, UNEVEN),

    STORED(COUNT, SOURCE_EXTERNAL),
    ROW(COUNT, SOURCE_EXTERNAL, FINDABLE, WEAK),
    ROW(COUNT, SOURCE_EXTERNAL, NO_GAPS, C(REFUSED_ROWS)),
    ROW(COUNT, SOURCE_EXTERNAL, BOUNDED, ALWAYS),
    ROW(COUNT, SOURCE_EXTERNAL, FILLED, ALWAYS),

    STORED(COUNT, SOURCE_COUNTER),
    ROW(COUNT, SOURCE_COUNTER, FINDABLE, WEAK),
    ROW(COUNT, SOURCE_COUNTER, BOUNDED, WEAK),

    STORED(COUNT, SOURCE_LWT),
    ROW(COUNT, SOURCE_LWT, FINDABLE, CAS),
    ROW(COUNT, SOURCE_LWT, BOUNDED, CAS | UNEVEN),
    ROW(COUNT, SOURCE_LWT, FILLED, CAS | UNEVEN),

    STORED(COUNT, SOURCE_LEASE),
    ROW(COUNT, SOURCE_LEASE, FINDABLE, CAS),
    ROW(COUNT, SOURCE_LEASE, BOUNDED, CAS | OLD | UNEVEN),
    ROW(COUNT, SOURCE_LEASE, FILLED, CAS | OLD | UNEVEN),

    STORED(COUNT, SOURCE_INCREMENTAL),
    ROW(COUNT, SOURCE_INCREMENTAL, FINDABLE, CAS),
    ROW(COUNT, SOURCE_INCREMENTAL, NO_GAPS, CAS),
    ROW(COUNT, SOURCE_INCREMENTAL, FILLED, CAS | UNEVEN),

    STORED(COUNT, SOURCE_SCAN),
    ROW(COUNT, SOURCE_SCAN, FINDABLE, PLAIN),
    ROW(COUNT, SOURCE_SCAN, NO_GAPS, STATE),
    ROW(COUNT, SOURCE_SCAN, BOUNDED, STATE | REMOVED | UNEVEN),
    ROW(COUNT, SOURCE_SCAN, FILLED, STATE | UNEVEN),

    STORED(COUNT, SOURCE_MEMORY),
    ROW(COUNT, SOURCE_MEMORY, FINDABLE, STATE | C(MANY_AGENTS) | C(UNKNOWN_WRITE)),
    ROW(COUNT, SOURCE_MEMORY, BOUNDED, STATE | OLD | C(MANY_AGENTS) | REMOVED | UNEVEN),
    ROW(COUNT, SOURCE_MEMORY, FILLED, STATE | UNEVEN),

    STORED(HASH, SINGLE),
    ROW(HASH, SINGLE, FINDABLE, WEAK),

    STORED(PROBABILISTIC, SINGLE),
    ROW(PROBABILISTIC, SINGLE, FINDABLE, PLAIN),
    ROW(PROBABILISTIC, SINGLE, NO_GAPS, CAS),
    ROW(PROBABILISTIC, SINGLE, BOUNDED, CAS | C(SHORT_TIMEOUTS) | UNEVEN),
    ROW(PROBABILISTIC, SINGLE, LINES, PLAIN | UNEVEN),
    ROW(PROBABILISTIC, SINGLE, FILLED, COUNTED),

    STORED(PROBABILISTIC, LOCKED),
    ROW(PROBABILISTIC, LOCKED, FINDABLE, PLAIN),
    ROW(PROBABILISTIC, LOCKED, NO_GAPS, CAS),
    ROW(PROBABILISTIC, LOCKED, BOUNDED, CAS | C(SHORT_TIMEOUTS) | C(SHORT_LEASE) | UNEVEN),
    ROW(PROBABILISTIC, LOCKED, LINES, PLAIN | UNEVEN),
    ROW(PROBABILISTIC, LOCKED, FILLED, COUNTED),

    /* A row with a time before the last two changes is refused; a clock that jumped may have dated the
     * changes. */
    STORED_UNLESS(PROBABILISTIC, THREE_STATE, LATE | C(CLOCK_JUMP)),
    ROW(PROBABILISTIC, THREE_STATE, FINDABLE, DATED),
    ROW(PROBABILISTIC, THREE_STATE, NEWEST, DATED | LATE | EARLY),
    ROW(PROBABILISTIC, THREE_STATE, AGREEMENT, DATED | LATE | EARLY),
    ROW(PROBABILISTIC, THREE_STATE, MONOTONE, DATED | LATE | EARLY),
    ROW(PROBABILISTIC, THREE_STATE, NO_GAPS, CAS | LATE),
    /* A row with a time ahead of its bucket's date is counted for the old bucket. */
    ROW(PROBABILISTIC, THREE_STATE, BOUNDED, CAS | EARLY | C(SHORT_TIMEOUTS) | C(CLOCK_JUMP) | UNEVEN),
    ROW(PROBABILISTIC, THREE_STATE, LINES, PLAIN | UNEVEN),
    ROW(PROBABILISTIC, THREE_STATE, FILLED, COUNTED),

    /* A row with a time beyond the clock bound is refused, and so is a row whose bucket only the lost state
     * would show. If two grants were committed for the same time, an agent with the longer one finds no state
     * that is consistent with it. */
    STORED_UNLESS(PROBABILISTIC, GUARDED, EARLY | CAS),
    ROW(PROBABILISTIC, GUARDED, FINDABLE, CAS),
    ROW(PROBABILISTIC, GUARDED, NEWEST, CAS),
    ROW(PROBABILISTIC, GUARDED, AGREEMENT, CAS),
    ROW(PROBABILISTIC, GUARDED, MONOTONE, CAS),
    ROW(PROBABILISTIC, GUARDED, NO_GAPS, CAS),
    ROW(PROBABILISTIC, GUARDED, LINES, CAS | UNEVEN),
    ROW(PROBABILISTIC, GUARDED, FILLED, C(STATE_LOST) | UNEVEN),
    ROW(PROBABILISTIC, GUARDED, BOUNDED, CAS | LATE | C(CLOCK_JUMP) | C(SHORT_GRANT) | UNEVEN),
    /* Rolls that make each other time out close no bucket. */
    ROW(PROBABILISTIC, GUARDED, LIVE, CAS | C(CLOCK_JUMP) | C(SHORT_GRANT) | C(SHORT_TIMEOUTS) | UNEVEN),

    /* The end of a column lock depends on clocks; with an LWT lock, the conditional update of the last
     * identifier protects against stale owners. */
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_COLUMNS, LAB_ORACLE_UNIQUE, WEAK | C(CLOCK_JUMP) | C(SHORT_LEASE)},
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_COLUMNS, LAB_ORACLE_AVAILABLE, 0},
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_COLUMNS, LAB_ORACLE_RESTORED, 0},
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_LWT, LAB_ORACLE_UNIQUE, WEAK | C(PAXOS_LOST)},
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_LWT, LAB_ORACLE_AVAILABLE, 0},
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_LWT, LAB_ORACLE_RESTORED, 0},
};
const size_t lab_guarantee_count = sizeof lab_guarantees / sizeof *lab_guarantees;

const struct lab_guarantee *lab_guarantee_find(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle)
{
    /* The two kinds differ only in what a row adds to the counter, which affects no guarantee. */
    if (kind == BK_KIND_WEIGHTED)
        kind = BK_KIND_PROBABILISTIC;
    for (size_t i = 0; i < lab_guarantee_count; i++) {
        const struct lab_guarantee *guarantee = &lab_guarantees[i];
        if (guarantee->kind == kind && guarantee->protocol == protocol && guarantee->oracle == oracle)
            return guarantee;
    }
    return NULL;
}

uint32_t lab_guarantee_excepts(const struct lab_guarantee *guarantee)
{
    return guarantee->except | C(ROUTE_AGAIN); /* a violation of the protocol, so no guarantee covers it */
}

bool lab_guarantee_is_broken(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle,
                             const struct lab_verdict *verdict)
{
    return lab_guarantee_find(kind, protocol, oracle) != NULL && verdict->is_judged[oracle] &&
           lab_violation_is_bare(&verdict->violations[oracle]);
}
