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
#include <stdlib.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "kernel/number.h"
#include "kernel/time.h"
#include "oracles.h"

#define ODDS_LOG  27.631021115928547 /* log(1e12) */
#define ODDS_ROWS 28                 /* ODDS_LOG, rounded up */
#define CACHE_SET 4                  /* keys that an agent's cache always holds, whichever they are */
#define ROWS_MAX  0x1p53             /* more rows than any partition gets, and exact in binary64 */
#define ROWS_MANY (UINT64_C(1) << 32)
#define HALVINGS  60

/* Whether the key's cache set is shared by more keys than it holds, so that the key may be evicted. */
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
    return run->config.strategy.kind == BK_PROBABILISTIC && run->config.coordination != BK_GUARDED &&
           (run->config.coordination != BK_LOCKED ||
            (partition->overlapping == 0 && run->config.strategy.max_age_ns == 0));
}

/* A change must not be dated more than the lead ahead, by any clock within the bound. */
static void bounded_rolled(struct lab_cluster_run *run, uint32_t key, int64_t change_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    int64_t latest_ns = lab_until(lab_until(now_ns, run->config.lead_ns), run->config.clock_bound_ns);
    if (run->config.coordination == BK_THREE_STATE && run->oracles.verdict.is_judged[LAB_ORACLE_BOUNDED] &&
        change_ns > latest_ns)
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
    bool may_reset =
        run->config.coordination == BK_THREE_STATE || run->keys[operation->key].state[BK_NEXT_CHANGE] != 0;
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
    if (!oracles->verdict.is_judged[LAB_ORACLE_BOUNDED])
        return;
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

/* Returns the greatest (is_most) or the least threshold of the settings that apply to the partition's rows.
 */
static uint64_t threshold_of(const struct lab_cluster_run *run, const struct lab_partition *partition,
                             bool is_most)
{
    uint32_t count = run->strategy->settings.change_count + 1;
    uint64_t found = is_most ? 0 : UINT64_MAX;
    for (uint32_t era = 0; era < count; era++) {
        const struct bk_strategy *settings = lab_era_settings(run, era);
        uint64_t threshold = settings->kind == BK_COUNT ? settings->of.count.rows : bk_threshold(settings);
        bool is_of = may_fill(run, partition, era, is_most);
        if (is_of && (is_most ? threshold > found : threshold < found))
            found = threshold;
    }
    return found;
}

static double firing_chance(const struct bk_strategy *strategy)
{
    uint64_t numerator = strategy->of.probabilistic.chance_numerator;
    uint64_t denominator = strategy->of.probabilistic.chance_denominator;
    if (denominator == 0)
        return 1 / (double)(UINT64_C(1) << strategy->of.probabilistic.bits);
    return (double)numerator / (double)denominator;
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

/* For a partition that spans eras: their highest threshold and their lowest probability that a row fires. */
static uint64_t distribution_of(const struct lab_cluster_run *run, const struct lab_partition *partition,
                                uint64_t lost)
{
    uint64_t threshold = threshold_of(run, partition, true) + lost;
    const struct bk_strategy *rarest = NULL;
    if (run->config.strategy.kind == BK_COUNT)
        return threshold;
    for (uint32_t era = 0; era <= run->strategy->settings.change_count; era++) {
        const struct bk_strategy *settings = lab_era_settings(run, era);
        bool is_of = partition->eras == 0 || (partition->eras >> era & 1) != 0;
        if (is_of && (rarest == NULL || firing_chance(settings) < firing_chance(rarest)))
            rarest = settings;
    }
    return distribution_bound(rarest, threshold);
}

/* Whether the partition's size is exact, without a lag: each row has a number of its own, or its only
 * writer counted each row that it wrote, with no eviction and no failure in between. */
static bool is_exact(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    enum bk_source source = run->config.source;
    if (run->config.strategy.kind != BK_COUNT)
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
    bool is_count = run->config.strategy.kind == BK_COUNT;
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

static void bounded_end(struct lab_cluster_run *run)
{
    const struct lab_oracles *oracles = &run->oracles;
    if (!oracles->verdict.is_judged[LAB_ORACLE_BOUNDED])
        return;
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
            uint64_t lost = run->config.strategy.kind == BK_COUNT ? 0 : lost_of(run, partition);
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
    if (strategy->kind == BK_WEIGHTED)
        return (double)bytes / (double)strategy->of.weighted.bytes;
    return (double)rows * firing_chance(strategy);
}

/* --- live: once all faults have ended, full partitions close. Rows that fire are counted when there has been
 * no fault for the lag. A partition is full when it has got a little more than twice its threshold of them.
 * It may get more for at most the lag, until the next bucket becomes known. If it gets a row that fires after
 * that, as the key's newest partition, it does not close. A run whose faults do not end, or end just before
 * its end, is not judged. */

#define SPARE 16u

static void live_fired(struct lab_cluster_run *run, struct lab_partition *partition)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_key_ledger *ledger = &oracles->keys[partition->key];
    /* Once the state names a later bucket, the key has rolled, even if the date is still to come. */
    if (partition->bucket < ledger->state_bucket || lab_health_well_ns(run) < oracles->lag_ns)
        return;
    if (partition->healthy_stretch != oracles->health.stretch) {
        partition->healthy_stretch = oracles->health.stretch;
        partition->fired_since_healthy = 0;
    }
    int64_t now_ns = sim_queue_now(&run->queue);
    uint64_t full = 2 * threshold_of(run, partition, true) + SPARE;
    if (++partition->fired_since_healthy == full) {
        partition->full_ns = now_ns;
    } else if (partition->fired_since_healthy > full && now_ns - partition->full_ns > oracles->lag_ns) {
        ledger->stuck_stretch = oracles->health.stretch + 1;
        ledger->stuck_bucket = partition->bucket;
    }
}

static void live_end(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    if (!oracles->verdict.is_judged[LAB_ORACLE_LIVE])
        return;
    oracles->verdict.is_judged[LAB_ORACLE_LIVE] = lab_health_well_ns(run) >= oracles->lag_ns;
    if (!oracles->verdict.is_judged[LAB_ORACLE_LIVE])
        return;
    for (uint32_t key = 0; key < oracles->key_count; key++) {
        const struct lab_key_ledger *ledger = &oracles->keys[key];
        if (ledger->stuck_stretch == oracles->health.stretch + 1)
            lab_violate_within(
                run, LAB_ORACLE_LIVE, key, 1, run->start_ns, sim_queue_now(&run->queue),
                "bucket %" PRId64
                " still receives rows that fire, %.1f s after it was full and the cluster was well",
                ledger->stuck_bucket, (double)oracles->lag_ns / 1e9);
    }
}

/* --- filled: no partition closes before its threshold is reached. This is exact: each increment is of a row
 * that fires and is in the partition, so a partition that closes has at least as many of them as the
 * threshold, and a count of rows does not exceed the rows that exist. It is judged when the state names a
 * later bucket, because later rows prove nothing. A partition that ends at a line may close earlier.
 * Partitions of numbered rows are judged at the end, because each number belongs to one row. An increment
 * that was applied twice may replace a row: with guarded in the bucket of the counter, otherwise in any
 * bucket of the key. An operation that counts in the state row while the key rolls may carry its count into
 * the next bucket. That is a condition, which lasts from the roll that may have caused it to the roll that is
 * too early. */

/* Returns whether rows that fire are counted in the state row, or in a counter whose base is in the state
 * row. */
static bool counts_in_state(const struct lab_cluster_run *run)
{
    return lab_rows_fire(run) && run->config.coordination != BK_GUARDED;
}

/* Records the condition for as long as the request may take effect, which is unknown during a fault. */
static void note(struct lab_cluster_run *run, uint32_t key, int64_t from_ns)
{
    int64_t over_ns = lab_until(sim_queue_now(&run->queue), lab_aftermath_ns(run));
    lab_condition_of_key(run, LAB_CONDITION_COUNTED_AT_ROLL, key, from_ns,
                         lab_health_well_ns(run) < 0 ? LAB_OPEN_ENDED : over_ns);
}

static void filled_acknowledged(struct lab_cluster_run *run, const struct lab_partition *partition,
                                const struct lab_host_operation *operation)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    if (!counts_in_state(run))
        return;
    int64_t now_ns = sim_queue_now(&run->queue);
    if (ledger->counting > 0)
        ledger->at_once_ns = now_ns;
    /* A counter column also gets the increments of older buckets, and until the date of a change it counts
     * the old bucket. */
    bool is_of_older = run->config.counter == BK_COUNTER_COLUMN && operation->fires &&
                       partition->bucket < ledger->state_bucket &&
                       run->keys[operation->key].state[BK_NEXT_CHANGE] == 0;
    if (ledger->writes_open > 0 || is_of_older)
        note(run, operation->key, now_ns);
}

void lab_filled_changing(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    /* The operation that changes the state counts a row itself, except for a row at a line, which is not put
     * yet. */
    uint64_t own = operation->is_acknowledged;
    if (counts_in_state(run) && (ledger->counting > own || ledger->at_once_ns >= operation->begun_ns))
        note(run, operation->key, sim_queue_now(&run->queue));
}

void lab_filled_unknown(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    if (counts_in_state(run))
        note(run, operation->key, operation->asked_ns);
}

/* Returns the number of increments of unknown outcome that were applied more than once so far. */
static uint64_t doubled_by_now(const struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    const struct lab_increments *increments = &run->oracles.increments;
    bool is_of_bucket = run->config.coordination == BK_GUARDED;
    uint64_t doubled = 0;
    for (size_t i = 0; i < increments->count; i++) {
        const struct lab_increment *increment = &increments->items[i];
        uint32_t owner;
        int64_t owned;
        if (!increment->is_used || increment->applied < 2)
            continue;
        lab_counter_owner(run, increment->counter, &owner, &owned);
        doubled += owner == key && (!is_of_bucket || owned == bucket) ? increment->applied - 1 : 0;
    }
    return doubled;
}

/* Determines how many rows a closing partition must have, and how many it has. With counts in memory, rows
 * count when they are put. */
static bool is_filled(const struct lab_cluster_run *run, uint32_t key, int64_t bucket, uint64_t *has,
                      uint64_t *wants)
{
    const struct lab_oracles *oracles = &run->oracles;
    uint32_t index = lab_partition_find(oracles, key, bucket);
    const struct lab_partition *partition = index == LAB_NO_PARTITION ? NULL : &oracles->partitions[index];
    *wants = threshold_of(run, partition, false);
    *has = 0;
    if (partition != NULL && run->config.strategy.kind == BK_COUNT)
        *has = run->config.source == BK_SOURCE_MEMORY ? partition->placed : partition->stored;
    else if (partition != NULL)
        *has = partition->fired;
    uint64_t spare = oracles->keys[key].doubled + (partition == NULL ? 0 : partition->doubled);
    return *has + spare >= *wants || *has + spare + doubled_by_now(run, key, bucket) >= *wants;
}

static void filled_rolled(struct lab_cluster_run *run, uint32_t key, int64_t before)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    int64_t now_ns = sim_queue_now(&run->queue);
    enum bk_source source = run->config.source;
    bool is_counted = source >= BK_SOURCE_INCREMENTAL || source == BK_SOURCE_EXTERNAL;
    uint64_t has, wants;
    for (int64_t bucket = before; is_counted && bucket < ledger->state_bucket; bucket++) {
        if (!run->oracles.verdict.is_judged[LAB_ORACLE_FILLED] || is_filled(run, key, bucket, &has, &wants) ||
            lab_is_line(run, run->keys[key].changes[bucket + 1]))
            continue;
        lab_violate_within(run, LAB_ORACLE_FILLED, key, 1, ledger->rolled_ns, now_ns,
                           "bucket %" PRId64 " closes with %" PRIu64 " rows%s, and %" PRIu64
                           " is the threshold",
                           bucket, has, run->config.strategy.kind == BK_COUNT ? "" : " that fire", wants);
    }
    ledger->rolled_ns = now_ns;
    ledger->rolled_at_once = ledger->counting > 1;
}

/* Returns the count of numbers below the key's newest one that may not have been given to a row. */
static uint64_t numbers_missed(const struct lab_cluster_run *run, uint32_t key)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[key];
    uint64_t missed = ledger->missed + ledger->numbers_lost;
    if (run->config.source == BK_SOURCE_LEASE)
        missed += run->config.lease_rows * (run->agent_count + run->oracles.crashes);
    return missed;
}

/* Returns whether all numbers of the bucket have been given. */
static bool is_numbered(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    uint64_t rows = run->config.strategy.of.count.rows;
    if (run->config.source != BK_SOURCE_EXTERNAL)
        return partition->bucket < run->oracles.keys[partition->key].state_bucket;
    return (uint64_t)partition->bucket < run->keys[partition->key].rows / rows;
}

static void filled_end(struct lab_cluster_run *run)
{
    const struct lab_oracles *oracles = &run->oracles;
    enum bk_source source = run->config.source;
    bool has_numbers = run->config.strategy.kind == BK_COUNT && source <= BK_SOURCE_LEASE;
    if (!oracles->verdict.is_judged[LAB_ORACLE_FILLED] || !has_numbers)
        return;
    uint64_t *missing = calloc(run->key_count, sizeof *missing); /* per key, in all its partitions so far */
    if (missing == NULL) {
        run->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        uint32_t key = partition->key;
        uint64_t rows = threshold_of(run, partition, false);
        if (!is_numbered(run, partition) || partition->placed >= rows)
            continue;
        missing[key] += rows - partition->placed;
        if (missing[key] <= numbers_missed(run, key) ||
            (source == BK_SOURCE_LEASE && lab_may_be_evicted(run, key)))
            continue;
        lab_violate_within(run, LAB_ORACLE_FILLED, key, 1, partition->first_ns, sim_queue_now(&run->queue),
                           "bucket %" PRId64 " got %" PRIu64 " rows of %" PRIu64
                           "; the buckets of the key up to this one lack %" PRIu64 " rows",
                           partition->bucket, partition->placed, rows, missing[key]);
    }
    free(missing);
}

/* --- no_gaps: no bucket below the current one is empty, so that a reader may stop at an empty one. For a
 * counted key this is judged at each change of its state: a bucket whose times have all passed must have a
 * row. With external counts it is judged at the end of the run. */

static bool is_empty(const struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    uint32_t partition = lab_partition_find(&run->oracles, key, bucket);
    return partition == LAB_NO_PARTITION || run->oracles.partitions[partition].stored == 0;
}

static void no_gaps_changed(struct lab_cluster_run *run, uint32_t key)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    int64_t current = lab_state_bucket_at(run, key, sim_queue_now(&run->queue));
    for (; ledger->gaps_judged < current; ledger->gaps_judged++) {
        if (is_empty(run, key, ledger->gaps_judged))
            lab_violate(run, LAB_ORACLE_NO_GAPS, key, 1,
                        "the key moves to bucket %" PRId64 ", but bucket %" PRId64 " is empty", current,
                        ledger->gaps_judged);
    }
}

static void no_gaps_end(struct lab_cluster_run *run)
{
    const struct lab_oracles *oracles = &run->oracles;
    for (uint32_t key = 0; lab_rows_fire(run) && key < oracles->key_count; key++)
        no_gaps_changed(run, key);
    if (run->config.strategy.kind != BK_COUNT)
        return;
    for (uint32_t key = 0; key < oracles->key_count; key++) {
        uint32_t top = oracles->keys[key].top;
        int64_t newest = top == LAB_NO_PARTITION ? 0 : oracles->partitions[top].bucket;
        uint64_t empty = 0;
        for (int64_t bucket = 0; bucket < newest; bucket++) {
            if (!is_empty(run, key, bucket))
                continue;
            empty++;
            lab_violate(run, LAB_ORACLE_NO_GAPS, key, 1,
                        "the key ends in bucket %" PRId64 ", but bucket %" PRId64 " is empty", newest,
                        bucket);
        }
        /* A bucket is empty if all its rows were refused, so it is excused only by as many refused rows. */
        uint64_t each = run->strategy->settings.change_count == 0 ? run->config.strategy.of.count.rows : 1;
        if (empty > 0 && oracles->keys[key].missed / each >= empty)
            lab_condition_of_key(run, LAB_CONDITION_REFUSED_ROWS, key, INT64_MIN, LAB_OPEN_ENDED);
    }
}

/* --- What the ledger tells all of them. */

void lab_counts_acknowledged(struct lab_cluster_run *run, struct lab_partition *partition,
                             const struct lab_host_operation *operation)
{
    filled_acknowledged(run, partition, operation);
    if (run->oracles.keys[operation->key].counting > 0)
        bounded_at_once(run, partition, operation);
    if (!operation->fires)
        return;
    partition->fired++;
    live_fired(run, partition);
}

void lab_counts_ended(struct lab_cluster_run *run, struct lab_partition *partition,
                      const struct lab_host_operation *operation, bool is_counted)
{
    bounded_counted(run, partition, operation, is_counted);
    if (is_counted)
        return;
    lab_filled_unknown(run, operation);
    partition->increments_lost++;
    lab_condition_of_key(run, LAB_CONDITION_LOST_INCREMENT, operation->key, sim_queue_now(&run->queue),
                         LAB_OPEN_ENDED);
}

void lab_counts_changed(struct lab_cluster_run *run, uint32_t key, int64_t before, int64_t change_ns)
{
    no_gaps_changed(run, key);
    if (run->oracles.keys[key].state_bucket <= before)
        return;
    bounded_rolled(run, key, change_ns);
    filled_rolled(run, key, before);
}

void lab_counts_end(struct lab_cluster_run *run)
{
    no_gaps_end(run);
    bounded_end(run);
    filled_end(run);
    live_end(run);
}
