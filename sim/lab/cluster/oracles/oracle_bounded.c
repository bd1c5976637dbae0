/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounded: no partition outgrows its law by more than its lag explains. A partition that closes at its
 * threshold-th increment holds n rows or fewer but for one in 10^12, where P(Binomial(n, p) < threshold) is
 * at most that by Chernoff's bound (a little above the quantile itself); increments that were lost, or may
 * be, raise the threshold. Beyond that it may grow while the key's next bucket is on its way: for the lag
 * when all is well, and for as long as anything was failing, at the key's highest rate: that is the most rows
 * in a whole second, and a span of time meets one more of those than it is long. Who counts rows now and then
 * is as late as its agents have rows that they have not counted. */
#include <inttypes.h>

#include "cluster_run.h"
#include "kernel/number.h"
#include "kernel/time.h"

#define ODDS_LOG  27.631021115928547 /* log(1e12) */
#define ODDS_ROWS 28                 /* the same, rounded up */
#define CACHE_SET 4                  /* keys that an agent's cache holds whichever they are */
#define ROWS_MAX  0x1p53             /* more than any partition gets, and exact in binary64 */
#define ROWS_MANY (UINT64_C(1) << 32)

static double firing_chance(const struct bk_strategy *strategy);
static uint64_t law_bound(const struct bk_strategy *strategy, uint64_t threshold);
static double exponent(double rows, double threshold, double p);

/* Whether more keys share the key's set of a cache than the set holds, so that one is pushed out. */
static bool may_be_evicted(const struct lab_cluster_run *run, uint32_t key)
{
    uint32_t sharing = 0;
    uint32_t set = bk_agent_cache_set(&run->config, key);
    for (uint32_t other = 0; other < run->key_count && sharing <= CACHE_SET; other++)
        sharing += bk_agent_cache_set(&run->config, other) == set;
    return sharing > CACHE_SET;
}

/* Rows of a partition that no agent has counted since its key was evicted: every_rows x log(1e12), which one
 * in 10^12 exceeds. It looks at every key, so it is asked last. */
static uint64_t evicted_bound(const struct lab_cluster_run *run, uint32_t key)
{
    uint64_t every_rows = run->config.every_rows;
    bool is_evicted = every_rows > 0 && run->key_count > CACHE_SET && may_be_evicted(run, key);
    return is_evicted ? every_rows * ODDS_ROWS : 0;
}

/* All was well for the partition's whole life, and for the lag before it. */
static bool was_well(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    int64_t lived_ns = sim_queue_now(&run->queue) - partition->first_ns;
    int64_t well_ns = lab_health_well_ns(run);
    return well_ns >= run->oracles.lag_ns && well_ns - run->oracles.lag_ns >= lived_ns;
}

/* Where the last row of a threshold rolls its key before its operation ends. Guarded asks for the rest of a
 * grant, and others may be about it; a lock that others ask for too may be held by nobody until it runs out.
 */
static bool rolls_at_once(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    return run->config.strategy.kind == BK_PROBABILISTIC && run->config.coordination != BK_GUARDED &&
           (run->config.coordination != BK_LOCKED || partition->overlapping == 0);
}

/* By no right clock the date of a change lies further ahead than the lead. */
void lab_bounded_rolled(struct lab_cluster_run *run, uint32_t key, int64_t change_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    int64_t latest_ns = lab_until(lab_until(now_ns, run->config.lead_ns), run->config.clock_bound_ns);
    if (run->config.coordination == BK_THREE_STATE && run->oracles.verdict.is_judged[LAB_ORACLE_BOUNDED] &&
        change_ns > latest_ns)
        lab_violate(run, LAB_ORACLE_BOUNDED, key, 1,
                    "bucket %" PRId64 " closes in %.3f s, and %.3f s is the lead",
                    run->oracles.keys[key].state_bucket - 1, (double)(change_ns - now_ns) / 1e9,
                    (double)run->config.lead_ns / 1e9);
}

void lab_bounded_acknowledged(struct lab_cluster_run *run, struct lab_partition *partition,
                              const struct lab_host_operation *operation)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    if (ledger->counting++ == 0)
        return;
    /* Two that count at once may write the same number. One that resets the counter takes what was counted;
     * with three-state it may have read the state before another one's reset, so any of them may. */
    bool may_reset =
        run->config.coordination == BK_THREE_STATE || run->keys[operation->key].state[BK_NEXT_CHANGE] != 0;
    partition->overlapping += operation->fires || may_reset;
}

void lab_bounded_counted(struct lab_cluster_run *run, struct lab_partition *partition,
                         const struct lab_host_operation *operation, bool is_counted)
{
    const struct lab_oracles *oracles = &run->oracles;
    if (!oracles->verdict.is_judged[LAB_ORACLE_BOUNDED])
        return;
    uint64_t threshold = bk_threshold(&run->config.strategy);
    /* Nobody knows when it will be written, or what it then takes away. */
    partition->overlapping += is_counted ? 0 : ROWS_MANY;
    partition->counted += is_counted;
    if (!is_counted || !rolls_at_once(run, partition) ||
        partition->counted != threshold + partition->overlapping ||
        partition->bucket < oracles->keys[partition->key].state_bucket || !was_well(run, partition))
        return;
    lab_violate_within(run, LAB_ORACLE_BOUNDED, partition->key, 1, partition->first_ns,
                       sim_queue_now(&run->queue),
                       "bucket %" PRId64 " is not closed, though row %" PRIu64 " was number %" PRIu64
                       " that fires and was counted, and %" PRIu64 " is the threshold",
                       partition->bucket, operation->row, partition->counted, threshold);
}

void lab_bounded_end(struct lab_cluster_run *run)
{
    const struct lab_oracles *oracles = &run->oracles;
    const struct bk_strategy *strategy = &run->config.strategy;
    if (!oracles->verdict.is_judged[LAB_ORACLE_BOUNDED])
        return;
    bool is_count = strategy->kind == BK_COUNT;
    uint64_t threshold = is_count ? strategy->of.count.rows : strategy->of.probabilistic.threshold;
    /* With a number of its own for each row nothing can be late. */
    enum bk_source source = run->config.source;
    bool is_exact =
        is_count && (source == BK_SOURCE_EXTERNAL || source == BK_SOURCE_LWT || source == BK_SOURCE_LEASE);
    uint64_t law = is_count ? threshold : law_bound(strategy, threshold);
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        if (partition->stored <= law)
            continue;
        uint64_t bound = law;
        if (!is_exact) {
            if (partition->increments_lost > 0 && !is_count)
                bound = law_bound(strategy, threshold + partition->increments_lost);
            int64_t lag_ns = oracles->lag_ns + partition->last_unhealthy_ns - partition->first_unhealthy_ns;
            lag_ns += is_count && run->config.every_rows == 0 ? run->config.every_ns : 0;
            uint64_t seconds = (uint64_t)(lag_ns / SIM_SECOND) + (lag_ns % SIM_SECOND != 0) + 1;
            bound += is_count
                         ? (uint64_t)run->config.every_rows * run->agent_count + partition->increments_lost
                         : 0;
            bound += seconds * oracles->keys[partition->key].peak_rows_per_s;
            if (is_count && partition->stored > bound)
                bound += evicted_bound(run, partition->key);
        }
        if (partition->stored > bound)
            lab_violate_within(run, LAB_ORACLE_BOUNDED, partition->key, 1, partition->first_ns,
                               partition->last_stored_ns,
                               "bucket %" PRId64 " holds %" PRIu64 " rows, and %" PRIu64 " is the bound",
                               partition->bucket, partition->stored, bound);
    }
}

double lab_mean_weight(const struct bk_strategy *strategy, uint64_t rows, uint64_t bytes)
{
    if (strategy->kind == BK_WEIGHTED)
        return (double)bytes / (double)strategy->of.weighted.bytes;
    return (double)rows * firing_chance(strategy);
}

static double firing_chance(const struct bk_strategy *strategy)
{
    uint64_t numerator = strategy->of.probabilistic.chance_numerator;
    uint64_t denominator = strategy->of.probabilistic.chance_denominator;
    if (denominator == 0)
        return 1 / (double)(UINT64_C(1) << strategy->of.probabilistic.bits);
    return (double)numerator / (double)denominator;
}

/* The smallest n with n x KL((threshold - 1) / n, p) >= log(1e12). */
static uint64_t law_bound(const struct bk_strategy *strategy, uint64_t threshold)
{
    double p = firing_chance(strategy);
    if (p >= 1)
        return threshold;
    if ((double)threshold / p >= ROWS_MAX)
        return (uint64_t)ROWS_MAX;
    uint64_t low = (uint64_t)((double)threshold / p), high = low + 1;
    while (exponent((double)high, (double)threshold, p) < ODDS_LOG)
        high *= 2;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (exponent((double)middle, (double)threshold, p) < ODDS_LOG)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Of Chernoff's bound on at most threshold - 1 of so many rows that fire. */
static double exponent(double rows, double threshold, double p)
{
    double a = (threshold - 1) / rows;
    if (a >= p)
        return 0;
    double sum = (1 - a) * sim_log((1 - a) / (1 - p));
    if (a > 0)
        sum += a * sim_log(a / p);
    return rows * sum;
}
