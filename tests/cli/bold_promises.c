/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In place of the table of promises: the author's single writer keeps its buckets in order, however many
 * agents there are. It does not, which `fuzz` is to find. */
#include "lab/oracle.h"

const struct lab_promise lab_promises[] = {
    {BK_PROBABILISTIC, BK_SINGLE, LAB_ORACLE_MONOTONE, 1u << LAB_CONDITION_WEAK_LEVELS}};
const size_t lab_promise_count = 1;

const struct lab_promise *lab_promise_find(enum bk_kind kind, unsigned way, enum lab_oracle oracle)
{
    bool is_it = kind == lab_promises->kind && way == lab_promises->way && oracle == lab_promises->oracle;
    return is_it ? lab_promises : NULL;
}

uint32_t lab_promise_excepts(const struct lab_promise *promise)
{
    return promise->except;
}

bool lab_promise_is_broken(enum bk_kind kind, unsigned way, enum lab_oracle oracle,
                           const struct lab_verdict *verdict)
{
    return lab_promise_find(kind, way, oracle) != NULL && verdict->is_judged[oracle] &&
           lab_violation_is_bare(&verdict->violations[oracle]);
}
