/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of promises. The fuzzer holds every run against it, and docs/guarded.md and docs/findings.md
 * explain it; a row that says too much is found by `bucketlab fuzz`. */
#include "lab/oracle.h"

#define C(name) (1u << LAB_CONDITION_##name)

/* A clock that jumps only moves when things happen where nobody else's clock is compared with it. */
#define ALWAYS 0u
/* The author's protocol, as safe as it can be made: plain writes, a date, caches. */
#define THREE_STATE                                                                                          \
    (C(CLOCK_JUMP) | C(SHORT_LEAD) | C(CHANGES_AT_ONCE) | C(LATE_STATE_WRITE) | C(WEAK_LEVELS))

const struct lab_promise lab_promises[] = {
    {BK_NONE, BK_SINGLE, LAB_ORACLE_FINDABLE, ALWAYS},
    {BK_NONE, BK_SINGLE, LAB_ORACLE_CONSERVED, ALWAYS},
    {BK_PROBABILISTIC, BK_THREE_STATE, LAB_ORACLE_FINDABLE, THREE_STATE},
};
const size_t lab_promise_count = sizeof lab_promises / sizeof *lab_promises;

const struct lab_promise *lab_promise_find(enum bk_kind kind, enum bk_coordination coordination,
                                           enum lab_oracle oracle)
{
    for (size_t i = 0; i < lab_promise_count; i++) {
        const struct lab_promise *promise = &lab_promises[i];
        if (promise->kind == kind && promise->coordination == coordination && promise->oracle == oracle)
            return promise;
    }
    return NULL;
}

bool lab_promise_is_broken(enum bk_kind kind, enum bk_coordination coordination, enum lab_oracle oracle,
                           const struct lab_verdict *verdict)
{
    const struct lab_promise *promise = lab_promise_find(kind, coordination, oracle);
    return promise != NULL && verdict->is_judged[oracle] && (verdict->conditions & promise->except) == 0 &&
           verdict->violations[oracle].count > 0;
}
