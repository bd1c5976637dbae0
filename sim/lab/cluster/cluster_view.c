/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queries of a run: an agent's clock and strategy, the settings that apply at the scenario's dates, and the
 * registers and counters of a key. */
#include <assert.h>

#include "cluster_view.h"
#include "kernel/time.h"
#include "lab/scenario.h"

/* A limit on clocks, so that leads and times to live can be added to their readings without overflow, however
 * often they jump. */
#define CLOCK_MAX (INT64_MAX / 8 * 7)
/* With guarded, the start of each bucket is a register, and each bucket has a counter; (key, bucket) is
 * packed into one number. No run has enough rows for 2^40 buckets. */
#define BUCKET_BITS 40
#define START_BIT   (UINT64_C(1) << 63)
static_assert(LAB_CLUSTER_KEYS_MAX <= UINT64_C(1) << (62 - BUCKET_BITS), "a key and a bucket fit");

/* Offset and drift are limited so that the reading, rounded down, stays within the bound. Only a jump exceeds
 * it. */
int64_t lab_agent_shows_at(const struct lab_cluster_run *run, uint32_t number, int64_t now_ns)
{
    __extension__ typedef __int128 wide;
    const struct lab_host_agent *agent = &run->agents[number];
    int64_t bound_ns = run->scenario->agents.clock_bound_ns;
    int64_t since_ns = now_ns - run->start_ns, drifted = 0;
    /* The product is computed for whole seconds and for the remainder, so that no 128-bit division is
     * needed. */
    if (agent->drift_ppb != 0)
        drifted =
            since_ns / SIM_SECOND * agent->drift_ppb + since_ns % SIM_SECOND * agent->drift_ppb / 1000000000;
    int64_t off = agent->offset_ns + drifted;
    int64_t step_ns = run->scenario->agents.clock_resolution_ns, least_ns = step_ns - bound_ns;
    off = off > bound_ns ? bound_ns : off < least_ns ? least_ns : off;
    wide clock_ns = (wide)now_ns + off + agent->jump_ns;
    int64_t shown_ns = (int64_t)(clock_ns > CLOCK_MAX    ? CLOCK_MAX
                                 : clock_ns < -CLOCK_MAX ? -CLOCK_MAX
                                                         : clock_ns);
    return step_ns > 0 ? shown_ns - (shown_ns % step_ns + step_ns) % step_ns : shown_ns;
}

int64_t lab_agent_late_ns(const struct lab_cluster_run *run, uint32_t agent, int64_t wait_ns)
{
    const struct lab_host_agent *host = &run->agents[agent];
    int64_t step_ns = run->scenario->agents.clock_resolution_ns;
    double drift = (double)(host->drift_ppb < 0 ? -host->drift_ppb : host->drift_ppb) / 1e9;
    return step_ns + 2 + (int64_t)(drift * (double)lab_until(wait_ns, step_ns));
}

const struct bk_history *lab_settings_at(const struct lab_cluster_run *run, int64_t time_ns)
{
    return &run->regimes.items[lab_regime_at(&run->regimes, time_ns)].history;
}

uint32_t lab_era_at(const struct lab_cluster_run *run, int64_t time_ns)
{
    const struct lab_settings *settings = &run->strategy->settings;
    uint32_t era = 0;
    while (era < settings->change_count && time_ns >= lab_until(run->start_ns, settings->changes[era].at_ns))
        era++;
    return era;
}

const struct bk_strategy *lab_era_settings(const struct lab_cluster_run *run, uint32_t era)
{
    const struct lab_settings *settings = &run->strategy->settings;
    return era == 0 ? &settings->strategy : &settings->changes[era - 1].strategy;
}

bool lab_is_misplaced(const struct lab_cluster_run *run, int64_t time_ns, int64_t bucket)
{
    /* With BK_COUNT, only the key's state determines this. */
    if (run->strategy->settings.change_count == 0 || run->config.strategy.kind == BK_COUNT)
        return false;
    const struct bk_history *history = lab_settings_at(run, time_ns);
    const struct bk_era *era = &history->eras[bk_history_era_at(history, time_ns)];
    if (era->strategy.kind == BK_HASH)
        return bucket < era->shift || bucket - era->shift >= (int64_t)era->strategy.of.hash.buckets;
    struct bk_row row = {.time_ns = time_ns};
    struct bk_route route;
    return bk_history_route(history, NULL, &row, &route) != BK_OK || route.bucket != bucket;
}

/* The state row and the lock row of a key are two registers. */
uint64_t lab_state_register(uint32_t key)
{
    return (uint64_t)key * 2;
}

uint64_t lab_lock_register(uint32_t key)
{
    return (uint64_t)key * 2 + 1;
}

bool lab_register_is_state(uint64_t key, uint32_t *out)
{
    *out = (uint32_t)(key / 2);
    return key % 2 == 0 && key / 2 <= UINT32_MAX;
}

static uint64_t pack(uint64_t key, int64_t bucket)
{
    assert(key < LAB_CLUSTER_KEYS_MAX && bucket >= 0 && bucket < INT64_C(1) << BUCKET_BITS);
    return key << BUCKET_BITS | (uint64_t)bucket;
}

uint64_t lab_start_register(uint64_t key, int64_t bucket)
{
    return START_BIT | pack(key, bucket);
}

bool lab_has_start(const struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
    return cass_peek_merged(run->cluster, lab_start_register(key, bucket), columns, &mask) && (mask & 1) != 0;
}

uint64_t lab_counter_key(const struct lab_cluster_run *run, uint64_t key, int64_t bucket)
{
    return run->config.coordination == BK_GUARDED ? pack(key, bucket) : key;
}

void lab_counter_owner(const struct lab_cluster_run *run, uint64_t counter, uint32_t *key, int64_t *bucket)
{
    bool is_packed = run->config.coordination == BK_GUARDED;
    *key = (uint32_t)(is_packed ? counter >> BUCKET_BITS : counter);
    *bucket = is_packed ? (int64_t)(counter & ((UINT64_C(1) << BUCKET_BITS) - 1)) : 0;
}
