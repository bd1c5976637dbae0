/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounded: no partition exceeds the bound of its distribution by more than its lag explains. A partition that
 * closes at its threshold-th increment holds more than n rows with a probability of at most 10^-12, where n
 * is the least number for which Chernoff's bound on P(Binomial(n, p) < threshold) is that small (a little
 * above the quantile itself). Each increment that was or may have been lost raises the threshold by one. In
 * addition, the partition may grow until the key's roll takes effect: at the key's highest rate during the
 * lag and as long as anything failed. That rate is the greatest number of rows in any whole second; a span of
 * s seconds overlaps s + 1 of them. For protocols that count rows at intervals, the rows that agents have not
 * counted yet are added. */
#include <inttypes.h>

#include "bucketing/private/lab.h"
#include "cluster_view.h"
#include "events.h"
#include "kernel/number.h"
#include "kernel/time.h"
#include "oracles.h"

#define ODDS_LOG  27.631021115928547 /* log(1e12) */
#define ODDS_ROWS 28                 /* ODDS_LOG, rounded up */
#define CACHE_SET 4                  /* keys that an agent's cache always holds, whichever they are */
#define ROWS_MAX  0x1p53             /* more rows than any partition gets, and exact in binary64 */
#define ROWS_MANY (UINT64_C(1) << 32)
#define HALVINGS  60

bool lab_may_be_evicted(const struct lab_cluster_run *run, uint32_t key)
{
    uint32_t sharing = 0;
    uint32_t set = bk_agent_cache_set(&run->config, key);
    for (uint32_t other = 0; other < run->key_count && sharing <= CACHE_SET; other++)
        sharing += bk_agent_cache_set(&run->config, other) == set;
    return sharing > CACHE_SET;
}

/* A bound on the rows of a partition that went uncounted because its key was evicted: every_rows x
 * log(1e12) is exceeded with a probability of 10^-12. Linear in the keys, so callers ask for it last. */
static uint64_t evicted_bound(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    uint64_t every_rows = run->config.every_rows;
    bool is_evicted = every_rows > 0 && run->key_count > CACHE_SET && lab_may_be_evicted(run, partition->key);
    return is_evicted ? every_rows * ODDS_ROWS : 0;
}

/* Whether nothing failed for the partition's whole life and for the lag before it. */
static bool was_well(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    int64_t lived_ns = sim_queue_now(&run->queue) - partition->first_ns;
    int64_t well_ns = lab_health_well_ns(run);
    return well_ns >= run->oracles.lag_ns && well_ns - run->oracles.lag_ns >= lived_ns;
}

/* Returns whether the row that reaches the threshold rolls its key before its operation ends. This is not the
 * case with guarded, which may wait for another operation's request, nor with a lock that other agents
 * request too, or requested before a line began the bucket: such a lock may be unused until it expires. */
static bool rolls_at_once(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    return run->config.strategy.kind == BK_KIND_PROBABILISTIC && run->config.coordination != BK_GUARDED &&
           (run->config.coordination != BK_LOCKED ||
            (partition->overlapping == 0 && run->config.strategy.max_age_ns == 0));
}

/* A change must not be dated more than the lead ahead, by any clock within the bound. */
static void bounded_rolled(struct lab_cluster_run *run, uint32_t key, int64_t change_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    int64_t latest_ns = lab_until(lab_until(now_ns, run->config.lead_ns), run->config.clock_bound_ns);
    if (run->config.coordination == BK_THREE_STATE && change_ns > latest_ns)
        lab_violate(run, LAB_ORACLE_BOUNDED, key, 1,
                    "bucket %" PRId64 " closes in %.3f s; the lead is %.3f s",
                    run->oracles.keys[key].state_bucket - 1, (double)(change_ns - now_ns) / 1e9,
                    (double)run->config.lead_ns / 1e9);
}

static void bounded_at_once(struct lab_cluster_run *run, struct lab_partition *partition,
                            const struct lab_host_operation *operation)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    /* Two operations that count at once may write the same number. One that resets the counter discards
     * what was counted; with three-state any operation may do so, since it may have read the state before
     * another one's reset. */
    bool may_reset = run->config.coordination == BK_THREE_STATE ||
                     run->keys[operation->key].state[BK_COLUMN_NEXT_CHANGE] != 0;
    bool takes = operation->fires || may_reset;
    partition->overlapping += takes;
    /* A late row of the previous bucket may also reset the counter of the newest one. */
    uint32_t newest = lab_partition_find(&run->oracles, operation->key, ledger->state_bucket);
    if (newest != LAB_NO_PARTITION && &run->oracles.partitions[newest] != partition)
        run->oracles.partitions[newest].overlapping += takes;
}

static void bounded_counted(struct lab_cluster_run *run, struct lab_partition *partition,
                            const struct lab_host_operation *operation, bool is_counted)
{
    const struct lab_oracles *oracles = &run->oracles;
    uint32_t era = lab_era_at(run, operation->row_time_ns);
    uint64_t threshold = bk_threshold(lab_era_settings(run, era));
    /* It is unknown when this write will take effect, and which increments it will overwrite. */
    partition->overlapping += is_counted ? 0 : ROWS_MANY;
    partition->counted += is_counted;
    /* Where settings change, a lower threshold may have been passed before it came. */
    bool is_steady = run->strategy->settings.change_count == 0;
    uint64_t due = threshold + partition->overlapping;
    /* A lock whose release failed is held until it expires. */
    if (!is_counted || partition->is_late || operation->is_locked_out || !rolls_at_once(run, partition) ||
        (is_steady ? partition->counted != due : partition->counted < due) ||
        partition->bucket < oracles->keys[partition->key].state_bucket ||
        oracles->keys[partition->key].rolled_at_once || !was_well(run, partition) ||
        lab_line_is_near(run, partition->key))
        return;
    partition->is_late = true;
    lab_violate_within(run, LAB_ORACLE_BOUNDED, partition->key, 1, partition->first_ns,
                       sim_queue_now(&run->queue),
                       "bucket %" PRId64 " is not closed although row %" PRIu64 " was number %" PRIu64
                       " of its counted rows; the threshold is %" PRIu64,
                       partition->bucket, operation->row, partition->counted, threshold);
}

/* Whether settings may decide that the partition is full: the settings of its rows, of the row that took the
 * lease of its numbers, and of the row that found it full and went to the next partition. */
static bool may_fill(const struct lab_cluster_run *run, const struct lab_partition *partition, uint32_t era,
                     bool is_most)
{
    enum bk_source source = run->config.source;
    bool is_lease = source == BK_SOURCE_LEASE;
    bool goes_on = is_lease || source == BK_SOURCE_LWT || source == BK_SOURCE_MEMORY;
    return (is_most ? is_lease : goes_on) || partition == NULL || partition->eras == 0 ||
           (partition->eras >> era & 1) != 0;
}

uint64_t lab_threshold_of(const struct lab_cluster_run *run, const struct lab_partition *partition,
                          bool is_most)
{
    uint32_t count = run->strategy->settings.change_count + 1;
    uint64_t found = is_most ? 0 : UINT64_MAX;
    for (uint32_t era = 0; era < count; era++) {
        const struct bk_strategy *settings = lab_era_settings(run, era);
        uint64_t threshold =
            settings->kind == BK_KIND_COUNT ? settings->of.count.rows : bk_threshold(settings);
        bool is_of = may_fill(run, partition, era, is_most);
        if (is_of && (is_most ? threshold > found : threshold < found))
            found = threshold;
    }
    return found;
}

/* The exponent of Chernoff's bound on the probability that at most threshold - 1 of `rows` rows fire. */
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

/* The smallest n with n x KL((threshold - 1) / n, p) >= log(1e12). */
static uint64_t distribution_bound(const struct bk_strategy *strategy, uint64_t threshold)
{
    double p = lab_chance(strategy);
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

/* For a partition that spans eras: their highest threshold and their lowest probability that a row fires. */
static uint64_t distribution_of(const struct lab_cluster_run *run, const struct lab_partition *partition,
                                uint64_t lost)
{
    uint64_t threshold = lab_threshold_of(run, partition, true) + lost;
    const struct bk_strategy *rarest = NULL;
    if (run->config.strategy.kind == BK_KIND_COUNT)
        return threshold;
    for (uint32_t era = 0; era <= run->strategy->settings.change_count; era++) {
        const struct bk_strategy *settings = lab_era_settings(run, era);
        bool is_of = partition->eras == 0 || (partition->eras >> era & 1) != 0;
        if (is_of && (rarest == NULL || lab_chance(settings) < lab_chance(rarest)))
            rarest = settings;
    }
    return distribution_bound(rarest, threshold);
}

/* Whether the partition's size is exact, without a lag: each row has a number of its own, or its only
 * writer counted each row that it wrote, with no eviction and no failure in between. */
static bool is_exact(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    enum bk_source source = run->config.source;
    if (run->config.strategy.kind != BK_KIND_COUNT)
        return false;
    if (source == BK_SOURCE_EXTERNAL || source == BK_SOURCE_LWT || source == BK_SOURCE_LEASE)
        return true;
    return source == BK_SOURCE_MEMORY && !lab_may_be_evicted(run, partition->key) &&
           partition->last_unhealthy_ns == partition->first_unhealthy_ns;
}

/* Rows beyond the distribution: those that arrive until the roll takes effect, and those not counted yet. */
static uint64_t late_bound(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    const struct lab_oracles *oracles = &run->oracles;
    bool is_count = run->config.strategy.kind == BK_KIND_COUNT;
    int64_t lag_ns = oracles->lag_ns + partition->last_unhealthy_ns - partition->first_unhealthy_ns;
    lag_ns += is_count && run->config.every_rows == 0 ? run->config.every_ns : 0;
    uint64_t seconds = (uint64_t)(lag_ns / SIM_SECOND) + (lag_ns % SIM_SECOND != 0) + 1;
    uint64_t uncounted =
        is_count ? (uint64_t)run->config.every_rows * run->agent_count + partition->increments_lost : 0;
    return uncounted + seconds * oracles->keys[partition->key].peak_rows_per_s;
}

/* The rows beyond all other bounds, of partitions whose keys were evicted, so that these rows were not
 * counted. */
struct evicted {
    uint64_t partitions, rows;
};

static void add_evicted(const struct lab_cluster_run *run, const struct lab_partition *partition,
                        uint64_t bound, struct evicted *all)
{
    /* After a crash an agent begins its count again. */
    bound += run->config.every_rows * run->oracles.crashes;
    if (lab_excuses_of(run, LAB_ORACLE_BOUNDED, partition->key, INT64_MIN, INT64_MAX) != 0)
        return;
    all->partitions++;
    all->rows += partition->stored > bound ? partition->stored - bound : 0;
}

/* A value that the sum of `partitions` exponential variables of this mean exceeds with a probability of at
 * most 10^-12, by Chernoff's bound: y with y - n - n log(y / n) = log(1e12), times the mean. */
static double evicted_sum_bound(double partitions, double mean)
{
    double low = partitions, high = 2 * partitions + 4 * ODDS_LOG;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        bool is_below = middle - partitions - partitions * sim_log(middle / partitions) < ODDS_LOG;
        low = is_below ? middle : low;
        high = is_below ? high : middle;
    }
    return high * mean;
}

static void judge_evicted(struct lab_cluster_run *run, const struct evicted *all)
{
    if (all->partitions == 0 || (run->oracles.whole_run >> LAB_CONDITION_SHORT_TIMEOUTS & 1) != 0)
        return; /* a failed count is repeated with a later row */
    double bound = evicted_sum_bound((double)all->partitions, (double)run->config.every_rows);
    if ((double)all->rows > bound)
        lab_violate_within(run, LAB_ORACLE_BOUNDED, LAB_NO_KEY, 1, run->start_ns, sim_queue_now(&run->queue),
                           "%" PRIu64 " partitions of keys that the cache evicts hold %" PRIu64
                           " rows too many together; the bound is %.0f",
                           all->partitions, all->rows, bound);
}

/* Increments that were or may have been lost. Where agents read and then write the count, each of those that
 * overlapped may have overwritten another one. */
static uint64_t lost_of(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    bool overwrites = run->config.counter == BK_COUNTER_RMW;
    return partition->increments_lost + (overwrites ? partition->overlapping % ROWS_MANY : 0);
}

static void finish(struct lab_cluster_run *run, void *state)
{
    const struct lab_oracles *oracles = &run->oracles;
    (void)state;
    uint64_t distributions[1u << BK_ERAS_MAX] = {0}; /* by set of eras; 0 if not computed yet */
    struct evicted evicted = {0, 0};
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        uint64_t *distribution = &distributions[partition->eras];
        if (*distribution == 0)
            *distribution = distribution_of(run, partition, 0);
        if (partition->stored <= *distribution)
            continue;
        uint64_t bound = *distribution, more = 0;
        if (!is_exact(run, partition)) {
            uint64_t lost = run->config.strategy.kind == BK_KIND_COUNT ? 0 : lost_of(run, partition);
            if (lost > 0)
                bound = distribution_of(run, partition, lost);
            bound += late_bound(run, partition);
            more = evicted_bound(run, partition);
            if (more > 0)
                add_evicted(run, partition, bound, &evicted);
        }
        if (partition->stored > bound + more)
            lab_violate_within(run, LAB_ORACLE_BOUNDED, partition->key, 1, partition->first_ns,
                               partition->last_stored_ns,
                               "bucket %" PRId64 " holds %" PRIu64 " rows; the bound is %" PRIu64,
                               partition->bucket, partition->stored, bound + more);
    }
    judge_evicted(run, &evicted);
}

double lab_mean_weight(const struct bk_strategy *strategy, uint64_t rows, uint64_t bytes)
{
    if (strategy->kind == BK_KIND_WEIGHTED)
        return (double)bytes / (double)strategy->of.weighted.bytes;
    return (double)rows * lab_chance(strategy);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    if (event->kind == CLUSTER_ROW_COUNTED)
        bounded_counted(run, event->partition, event->operation, event->flag);
    else if (event->kind == CLUSTER_ROW_UNUSUAL && run->oracles.keys[event->key].counting > 0)
        bounded_at_once(run, event->partition, event->operation);
    else if (event->kind == CLUSTER_STATE_CHANGED && event->bucket > event->value)
        bounded_rolled(run, event->key, event->time_ns);
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return lab_counts_rows(run) && run->config.strategy.kind != BK_KIND_WEIGHTED
               ? CLUSTER_WANTS(ROW_COUNTED) | CLUSTER_WANTS(ROW_UNUSUAL) | CLUSTER_WANTS(STATE_CHANGED)
               : 0;
}

const struct cluster_observer cluster_bounded = {.name = "bounded",
                                                 .wants = wants,
                                                 .judges = 1u << LAB_ORACLE_BOUNDED,
                                                 .on_event = hear,
                                                 .finish = finish};
