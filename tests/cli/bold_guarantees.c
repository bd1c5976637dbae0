/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replaces the table of guarantees by one that guarantees too much: that `single` keeps its buckets in order
 * with any number of agents. It does not, and `fuzz` must find this. */
#include "lab/oracle.h"

const struct lab_guarantee lab_guarantees[] = {
    {BK_KIND_PROBABILISTIC, BK_SINGLE, LAB_ORACLE_MONOTONE, 1u << LAB_CONDITION_WEAK_LEVELS}};
const size_t lab_guarantee_count = 1;

const struct lab_guarantee *lab_guarantee_find(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle)
{
    bool is_it = kind == lab_guarantees->kind && protocol == lab_guarantees->protocol &&
                 oracle == lab_guarantees->oracle;
    return is_it ? lab_guarantees : NULL;
}

uint32_t lab_guarantee_excepts(const struct lab_guarantee *guarantee)
{
    return guarantee->except;
}

bool lab_guarantee_is_broken(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle,
                             const struct lab_verdict *verdict)
{
    return lab_guarantee_find(kind, protocol, oracle) != NULL && verdict->is_judged[oracle] &&
           lab_violation_is_bare(&verdict->violations[oracle]);
}
