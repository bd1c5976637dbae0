/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of oracles, conditions and probes. */
#include "lab/oracle.h"

#include <assert.h>

const char *lab_oracle_name(enum lab_oracle oracle)
{
#define NAME(symbol, text, what) text,
    static const char *const names[] = {LAB_ORACLE_MAP(NAME)};
    assert((unsigned)oracle < LAB_ORACLE_COUNT);
    return names[oracle];
}

const char *lab_oracle_about(enum lab_oracle oracle)
{
#define ABOUT(symbol, text, what) what,
    static const char *const abouts[] = {LAB_ORACLE_MAP(ABOUT)};
    assert((unsigned)oracle < LAB_ORACLE_COUNT);
    return abouts[oracle];
}

const char *lab_condition_name(enum lab_condition condition)
{
    static const char *const names[] = {LAB_CONDITION_MAP(NAME)};
    assert((unsigned)condition < LAB_CONDITION_COUNT);
    return names[condition];
}

const char *lab_condition_about(enum lab_condition condition)
{
    static const char *const abouts[] = {LAB_CONDITION_MAP(ABOUT)};
    assert((unsigned)condition < LAB_CONDITION_COUNT);
    return abouts[condition];
}

bool lab_violation_is_bare(const struct lab_violation *violation)
{
    bool is_bare = violation->excuse_count == 0;
    for (uint32_t i = 0; i < violation->excuse_count; i++)
        is_bare = is_bare || violation->excuses[i] == 0;
    return violation->count > 0 && is_bare;
}

const char *lab_probe_name(enum lab_probe probe)
{
#define PROBE(symbol, text) text,
    static const char *const names[] = {LAB_PROBE_MAP(PROBE)};
    assert((unsigned)probe < LAB_PROBE_COUNT);
    return names[probe];
}
