/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of oracles, conditions, probes and protocols. */
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

/* All protocols that a guarantee can name. */
static const struct {
    enum bk_kind kind;
    unsigned protocol;
    const char *name;
} protocols[] = {
    {BK_KIND_UNBUCKETED, BK_SINGLE, "unbucketed"},
    {BK_KIND_TIME, BK_SINGLE, "time"},
    {BK_KIND_HASH, BK_SINGLE, "hash"},
    {BK_KIND_COUNT, BK_SOURCE_EXTERNAL, "count"},
    {BK_KIND_COUNT, BK_SOURCE_COUNTER, "count, counter"},
    {BK_KIND_COUNT, BK_SOURCE_LWT, "count, lwt"},
    {BK_KIND_COUNT, BK_SOURCE_LEASE, "count, lease"},
    {BK_KIND_COUNT, BK_SOURCE_INCREMENTAL, "count, incremental"},
    {BK_KIND_COUNT, BK_SOURCE_SCAN, "count, scan"},
    {BK_KIND_COUNT, BK_SOURCE_MEMORY, "count, memory"},
    {BK_KIND_PROBABILISTIC, BK_SINGLE, "single"},
    {BK_KIND_PROBABILISTIC, BK_LOCKED, "locked"},
    {BK_KIND_PROBABILISTIC, BK_THREE_STATE, "three-state"},
    {BK_KIND_PROBABILISTIC, BK_GUARDED, "guarded"},
    {BK_KIND_WEIGHTED, BK_SINGLE, "weighted, single"},
    {BK_KIND_WEIGHTED, BK_LOCKED, "weighted, locked"},
    {BK_KIND_WEIGHTED, BK_THREE_STATE, "weighted, three-state"},
    {BK_KIND_WEIGHTED, BK_GUARDED, "weighted, guarded"},
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_COLUMNS, "idgen, columns"},
    {LAB_KIND_IDGEN, BK_IDGEN_LOCK_LWT, "idgen, lwt"},
};
#define PROTOCOL_COUNT (sizeof protocols / sizeof *protocols)

const char *lab_protocol_name(enum bk_kind kind, unsigned protocol)
{
    size_t i = 0;
    while (i < PROTOCOL_COUNT && (protocols[i].kind != kind || protocols[i].protocol != protocol))
        i++;
    assert(i < PROTOCOL_COUNT);
    return protocols[i].name;
}
