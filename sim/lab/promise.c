/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of promises. The fuzzer holds every run against it, and docs/guarded.md and docs/findings.md
 * explain it; a row that says too much is found by `bucketlab fuzz`. */
#include "lab/oracle.h"

#define C(name) (1u << LAB_CONDITION_##name)

#define ALWAYS 0u
#define WEAK   C(WEAK_LEVELS)
/* Plain writes of the state: two at once do not know of each other, and one of unknown outcome may come late.
 */
#define PLAIN (WEAK | C(CHANGES_AT_ONCE) | C(UNKNOWN_WRITE))
/* The author's protocol: a date that every cache learns before it comes, as long as clocks agree on it. */
/* Of a row that comes after two changes of its key, nobody remembers where its time belongs. */
#define LATE C(LATE_ROWS)
/* What was dated by nobody, or forgotten, is agreed on by nobody. */
#define UNEVEN C(UNEVEN_SETTINGS)
#define DATED  (WEAK | C(CHANGES_AT_ONCE) | C(LATE_STATE_WRITE) | C(SHORT_LEAD) | C(CLOCK_JUMP))

/* Rows of a kind, of a way, of an oracle. */
#define ROW(kind, way, oracle, except)                                                                       \
    {                                                                                                        \
        BK_##kind, BK_##way, LAB_ORACLE_##oracle, except                                                     \
    }
#define STORED(kind, way) ROW(kind, way, NO_DUPLICATES, ALWAYS), ROW(kind, way, CONSERVED, ALWAYS)

const struct lab_promise lab_promises[] = {
    STORED(NONE, SINGLE),
    ROW(NONE, SINGLE, FINDABLE, WEAK),
    ROW(NONE, SINGLE, NEWEST, ALWAYS),
    ROW(NONE, SINGLE, AGREEMENT, ALWAYS),
    ROW(NONE, SINGLE, MONOTONE, ALWAYS),

    STORED(TIME, SINGLE),
    ROW(TIME, SINGLE, FINDABLE, WEAK | C(CLOCK_JUMP) | UNEVEN),
    ROW(TIME, SINGLE, NEWEST, C(CLOCK_JUMP) | UNEVEN),
    ROW(TIME, SINGLE, AGREEMENT, UNEVEN),
    ROW(TIME, SINGLE, MONOTONE, UNEVEN),

    STORED(COUNT, SOURCE_EXTERNAL),
    ROW(COUNT, SOURCE_EXTERNAL, FINDABLE, WEAK),
    ROW(COUNT, SOURCE_EXTERNAL, NO_GAPS, C(REFUSED_ROWS)),
    ROW(COUNT, SOURCE_EXTERNAL, BOUNDED, ALWAYS),

    STORED(COUNT, SOURCE_COUNTER),
    ROW(COUNT, SOURCE_COUNTER, FINDABLE, WEAK),
    ROW(COUNT, SOURCE_COUNTER, BOUNDED, WEAK),

    STORED(COUNT, SOURCE_LWT),
    ROW(COUNT, SOURCE_LWT, FINDABLE, WEAK),
    ROW(COUNT, SOURCE_LWT, BOUNDED, WEAK),

    STORED(COUNT, SOURCE_LEASE),
    ROW(COUNT, SOURCE_LEASE, FINDABLE, WEAK),
    ROW(COUNT, SOURCE_LEASE, BOUNDED, WEAK),

    STORED(COUNT, SOURCE_INCREMENTAL),
    ROW(COUNT, SOURCE_INCREMENTAL, FINDABLE, WEAK),
    ROW(COUNT, SOURCE_INCREMENTAL, NO_GAPS, WEAK),

    STORED(COUNT, SOURCE_SCAN),
    ROW(COUNT, SOURCE_SCAN, FINDABLE, PLAIN),
    ROW(COUNT, SOURCE_SCAN, NO_GAPS, WEAK),
    ROW(COUNT, SOURCE_SCAN, BOUNDED, WEAK),

    STORED(COUNT, SOURCE_MEMORY),
    ROW(COUNT, SOURCE_MEMORY, FINDABLE, WEAK | C(MANY_AGENTS) | C(UNKNOWN_WRITE)),
    ROW(COUNT, SOURCE_MEMORY, BOUNDED, WEAK | C(MANY_AGENTS)),

    STORED(HASH, SINGLE),
    ROW(HASH, SINGLE, FINDABLE, WEAK),

    STORED(PROBABILISTIC, SINGLE),
    ROW(PROBABILISTIC, SINGLE, FINDABLE, PLAIN),
    ROW(PROBABILISTIC, SINGLE, NO_GAPS, WEAK),

    STORED(PROBABILISTIC, LOCKED),
    ROW(PROBABILISTIC, LOCKED, FINDABLE, PLAIN),
    ROW(PROBABILISTIC, LOCKED, NO_GAPS, WEAK),

    STORED(PROBABILISTIC, THREE_STATE),
    ROW(PROBABILISTIC, THREE_STATE, FINDABLE, DATED),
    ROW(PROBABILISTIC, THREE_STATE, NEWEST, DATED | LATE),
    ROW(PROBABILISTIC, THREE_STATE, AGREEMENT, DATED | LATE),
    ROW(PROBABILISTIC, THREE_STATE, MONOTONE, DATED | LATE),
    ROW(PROBABILISTIC, THREE_STATE, NO_GAPS, WEAK | LATE),

    STORED(PROBABILISTIC, GUARDED),
    ROW(PROBABILISTIC, GUARDED, FINDABLE, WEAK),
    ROW(PROBABILISTIC, GUARDED, NEWEST, WEAK),
    ROW(PROBABILISTIC, GUARDED, AGREEMENT, WEAK),
    ROW(PROBABILISTIC, GUARDED, MONOTONE, WEAK),
    ROW(PROBABILISTIC, GUARDED, NO_GAPS, WEAK),
    ROW(PROBABILISTIC, GUARDED, BOUNDED, WEAK | LATE | C(CLOCK_JUMP) | C(SHORT_GRANT)),
    ROW(PROBABILISTIC, GUARDED, LIVE, WEAK | C(CLOCK_JUMP) | C(SHORT_GRANT)),

    /* A lock of columns ends by clocks; one of conditional updates is fenced by the store. */
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_COLUMNS, LAB_ORACLE_UNIQUE, WEAK | C(CLOCK_JUMP) | C(SHORT_LEASE)},
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_LWT, LAB_ORACLE_UNIQUE, WEAK},
};
const size_t lab_promise_count = sizeof lab_promises / sizeof *lab_promises;

const struct lab_promise *lab_promise_find(enum bk_kind kind, unsigned way, enum lab_oracle oracle)
{
    /* They differ in what a row adds to the counter, and in nothing that a promise goes by. */
    if (kind == BK_WEIGHTED)
        kind = BK_PROBABILISTIC;
    for (size_t i = 0; i < lab_promise_count; i++) {
        const struct lab_promise *promise = &lab_promises[i];
        if (promise->kind == kind && promise->way == way && promise->oracle == oracle)
            return promise;
    }
    return NULL;
}

bool lab_promise_is_broken(enum bk_kind kind, unsigned way, enum lab_oracle oracle,
                           const struct lab_verdict *verdict)
{
    const struct lab_promise *promise = lab_promise_find(kind, way, oracle);
    uint32_t excused = promise == NULL ? 0 : promise->except | C(ROUTE_AGAIN); /* which breaks the rules */
    return promise != NULL && verdict->is_judged[oracle] && (verdict->conditions & excused) == 0 &&
           verdict->violations[oracle].count > 0;
}
