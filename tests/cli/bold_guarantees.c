/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instead of the table of guarantees: the author's single writer keeps its buckets in order, however many
 * agents there are. It does not, which `fuzz` is to find. */
#include "lab/oracle.h"

const struct lab_guarantee lab_guarantees[] = {
    {BK_PROBABILISTIC, BK_SINGLE, LAB_ORACLE_MONOTONE, 1u << LAB_CONDITION_WEAK_LEVELS}};
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
