/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger. In: rows that arrive, are placed, stored and acknowledged, and states as they are stored. Kept:
 * an account of each key and partition. Out: what the oracles judge by, and the violations that they count.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_view.h"
#include "events.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "oracles.h"

#define LAG_OWN_NS (2 * SIM_SECOND) /* a few round trips and a contended update */
#define LAG_TRIPS  20

/* Whether windows have shards, but not the same ones during the whole run. */
static bool changes_shards(const struct lab_cluster_run *run)
{
    const uint32_t changes = run->strategy->settings.change_count;
    bool has_shards = false;
    for (uint32_t era = 0; era <= changes; era++)
        has_shards = has_shards || lab_shards(lab_era_settings(run, era)) > 1;
    return has_shards && changes > 0;
}

/* Links a partition between its neighbours. Usually it is the key's highest one. */
static void link_partition(struct lab_cluster_run *run, uint32_t index)
{
    const struct bk_strategy *strategy = &run->config.strategy;
    struct lab_oracles *oracles = &run->oracles;
    struct lab_partition *partition = &oracles->partitions[index];
    struct lab_key_ledger *ledger = &oracles->keys[partition->key];
    uint32_t lower = ledger->top;
    while (lower != LAB_NO_PARTITION && oracles->partitions[lower].bucket > partition->bucket) {
        partition->higher = lower;
        lower = oracles->partitions[lower].lower;
    }
    partition->lower = lower;
    if (partition->higher != LAB_NO_PARTITION)
        oracles->partitions[partition->higher].lower = index;
    else
        ledger->top = index;
    if (lower == LAB_NO_PARTITION) {
        ledger->bottom = index;
        return;
    }
    oracles->partitions[lower].higher = index;
    /* The rows below are those of lower windows, not of other shards. */
    const struct lab_partition *below = NULL;
    for (; lower != LAB_NO_PARTITION; lower = oracles->partitions[lower].lower) {
        const struct lab_partition *other = &oracles->partitions[lower];
        if (lab_are_of_one_window(strategy, other->bucket, partition->bucket))
            continue;
        if (below != NULL && !lab_are_of_one_window(strategy, other->bucket, below->bucket))
            break;
        partition->below = below == NULL ? other->below : partition->below;
        below = other;
        for (int i = 0; i < 2; i++)
            lab_extreme_add(&partition->below, other->latest.time_ns[i], other->latest.agent[i]);
    }
}

static uint32_t hash_of(uint32_t key, int64_t bucket)
{
    return (uint32_t)(sim_mix64((uint64_t)bucket * UINT64_C(0x9e3779b97f4a7c15) + key) >> 32);
}

SIM_OUT_OF_LINE static uint32_t partition_add(struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    static const struct lab_extreme none = {{-INT64_MAX, -INT64_MAX}, {UINT32_MAX, UINT32_MAX}};
    struct lab_oracles *oracles = &run->oracles;
    if (oracles->partition_count == oracles->partition_capacity) {
        uint32_t capacity = oracles->partition_capacity == 0 ? 64 : oracles->partition_capacity * 2;
        struct lab_partition *grown = sim_memory_grow(
            oracles->partitions, oracles->partition_count * sizeof *grown, capacity * sizeof *grown);
        if (grown != NULL)
            oracles->partitions = grown;
        if (grown == NULL) {
            run->out_of_memory = true;
            return LAB_NO_PARTITION;
        }
        oracles->partition_capacity = capacity;
    }
    uint32_t index = oracles->partition_count++;
    int64_t unhealthy_ns = lab_health_unhealthy_ns(run);
    oracles->partitions[index] = (struct lab_partition){.key = key,
                                                        .bucket = bucket,
                                                        .lower = LAB_NO_PARTITION,
                                                        .higher = LAB_NO_PARTITION,
                                                        .latest = none,
                                                        .earliest = none,
                                                        .below = none,
                                                        .first_ns = sim_queue_now(&run->queue),
                                                        .first_unhealthy_ns = unhealthy_ns,
                                                        .last_unhealthy_ns = unhealthy_ns};
    sim_table_put(&oracles->table, hash_of(key, bucket), index + 1);
    if (oracles->is_linked)
        link_partition(run, index);
    oracles->keys[key].recent = index;
    return index;
}

static uint32_t partition_need(struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    uint32_t found = lab_partition_find(&run->oracles, key, bucket);
    return SIM_LIKELY(found != LAB_NO_PARTITION) ? found : partition_add(run, key, bucket);
}

/* A copy has a weight of its own for each replica, 1, 3, 5 and so on, so that no other one makes up for it.
 * Those of n replicas are n * n together. When a row is first stored, all its copies but this one are due. */
static void copies_fall_due(struct lab_oracles *oracles, struct lab_partition *partition, uint64_t row,
                            uint32_t replica)
{
    uint64_t replicas = oracles->replicas;
    oracles->copies_due += replicas - 1;
    partition->copies_balance += sim_mix64(row + 1) * (replicas * replicas - (2 * (uint64_t)replica + 1));
}

/* Returns whether no count will include the row, because it is before the last counted row or in a bucket
 * that is full already. */
static bool is_never_counted(const struct lab_cluster_run *run, uint32_t key, int64_t bucket, int64_t time_ns,
                             int64_t order)
{
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
    if (!cass_peek_merged(run->cluster, lab_state_register(key), columns, &mask))
        return false;
    if (bucket != columns[BK_COLUMN_BUCKET])
        return bucket < columns[BK_COLUMN_BUCKET];
    return time_ns != columns[BK_SUM_TIME] ? time_ns < columns[BK_SUM_TIME] : order <= columns[BK_SUM_ID];
}

/* Puts a row on disk, and notes the first partition above a limit: events come in the order of their times.
 */
static void watch_limits(struct lab_cluster_run *run, struct lab_partition *partition, uint64_t bytes)
{
    const struct lab_scenario *scenario = run->scenario;
    const struct lab_limits *limits = &scenario->limits;
    const int64_t now_ns = sim_queue_now(&run->queue);
    struct lab_disk **of_key = &run->oracles.keys[partition->key].disk;
    struct cass_partition whole = {partition->stored, partition->stored_bytes};
    if ((run->disk.window_ns != 0 && !lab_disk_add(&partition->disk, &run->disk, now_ns, 1, bytes)) ||
        (run->key_disk.window_ns != 0 && !lab_disk_add(of_key, &run->key_disk, now_ns, 1, bytes))) {
        run->out_of_memory = true;
        return;
    }
    if (partition->disk != NULL)
        whole = partition->disk->now;
    if (run->tally.first_over_ns != INT64_MAX || !lab_limits_sizes(limits))
        return;
    lab_bytes_add(&whole.bytes,
                  lab_partition_bytes(&scenario->row_cost, lab_rows_key_size(run->rows, partition->key),
                                      whole.rows, whole.bytes));
    if (lab_is_over(limits, &whole))
        lab_tally_over(&run->tally, now_ns);
}

static void stored(struct lab_cluster_run *run, const struct cluster_event *event)
{
    struct lab_oracles *oracles = &run->oracles;
    const uint32_t key = event->key;
    const int64_t bucket = event->bucket, time_ns = event->time_ns;
    const bool is_late = SIM_UNLIKELY(oracles->has_ended);
    if (SIM_UNLIKELY(run->config.source == BK_SOURCE_INCREMENTAL) && !is_late)
        run->rows_uncounted += is_never_counted(run, key, bucket, time_ns, event->value);
    uint32_t index = is_late ? lab_partition_find(oracles, key, bucket) : partition_need(run, key, bucket);
    if (SIM_UNLIKELY(index == LAB_NO_PARTITION))
        return;
    struct lab_partition *partition = &oracles->partitions[index];
    partition->stored++;
    partition->stored_sum += sim_mix64(event->number + 1);
    copies_fall_due(oracles, partition, event->number, event->replica);
    if (is_late)
        return;
    lab_bytes_add(&partition->stored_bytes, event->bytes);
    watch_limits(run, partition, event->bytes);
    if (SIM_UNLIKELY(partition->stored == run->context->stops_at_rows)) {
        run->tally.over_limit = run->tally.over_limit_rows = 1;
        lab_stop_early(run);
    }
    partition->last_unhealthy_ns = lab_health_unhealthy_ns(run);
    partition->last_stored_ns = sim_queue_now(&run->queue);
    if (SIM_UNLIKELY(partition->higher != LAB_NO_PARTITION) && oracles->is_linked)
        oracles->verdict.probes[LAB_PROBE_LATE_ROW]++;
}

static void copied(struct lab_cluster_run *run, uint32_t key, int64_t bucket, uint64_t row, uint32_t replica)
{
    struct lab_oracles *oracles = &run->oracles;
    uint32_t index = lab_partition_find(oracles, key, bucket);
    if (SIM_UNLIKELY(index == LAB_NO_PARTITION))
        return;
    oracles->copies_due--;
    oracles->partitions[index].copies_balance -= sim_mix64(row + 1) * (2 * (uint64_t)replica + 1);
}

static bool begin(struct lab_cluster_run *run, void **state)
{
    *state = run;
    struct lab_oracles *oracles = &run->oracles;
    const struct lab_scenario *scenario = run->scenario;
    enum bk_kind kind = run->config.strategy.kind;
    oracles->keys = lab_keys_memory(run, run->key_count * sizeof *oracles->keys);
    if (oracles->keys == NULL || !sim_table_create(&oracles->table, &run->out_of_memory))
        return false;
    oracles->key_count = run->key_count;
    for (uint32_t i = 0; i < run->key_count; i++)
        oracles->keys[i].top = oracles->keys[i].bottom = oracles->keys[i].recent = LAB_NO_PARTITION;
    assert(lab_rows_fire(run) == bk_kind_fires(kind));
    oracles->is_ordered =
        (lab_rows_fire(run) || kind == BK_KIND_TIME || kind == BK_KIND_UNBUCKETED) && !changes_shards(run);
    oracles->is_linked = kind != BK_KIND_HASH;
    /* Of a kind without an order, for those reads that end where they meet an older row. */
    oracles->keeps_times = oracles->is_ordered || scenario->reads.kinds[LAB_READ_RANGE].rate_per_s > 0;
    oracles->newest_rows = 16;
    uint64_t read_rows = scenario->reads.kinds[LAB_READ_LATEST].rows;
    if (read_rows > 0)
        oracles->newest_rows = read_rows < LAB_NEWEST_MAX ? (uint32_t)read_rows : LAB_NEWEST_MAX;
    oracles->tolerance_ns = 2 * scenario->agents.clock_bound_ns;
    oracles->read_replicas = lab_read_replicas(scenario);
    for (uint32_t i = 0; i < scenario->network.datacenter_count; i++)
        oracles->replicas += scenario->network.datacenters[i].replication_factor;
    oracles->lag_ns = LAG_OWN_NS + LAG_TRIPS * lab_longest_trip_ns(scenario) + run->config.lead_ns +
                      run->config.cache_ttl_ns +
                      run->config.grant_ns * (INT64_C(1) << BK_GRANT_DOUBLINGS_MAX) +
                      2 * run->config.lock_lasts_ns;
    bool is_aged = run->config.strategy.max_age_ns != 0;
    /* A change that would be within a lead of a line is made at the line. */
    if (is_aged && run->config.coordination == BK_THREE_STATE)
        oracles->lag_ns = lab_until(oracles->lag_ns, run->config.lead_ns);
    oracles->available_ns = lab_available_bound_ns(run);
    oracles->has_crowds = lab_contends_by_row(run);
    oracles->finds_all =
        oracles->read_replicas >= scenario->cluster.replication_factor && run->config.remember_keys == 0;
    return true;
}

static void finish(struct lab_cluster_run *run, void *state)
{
    (void)state;
    struct lab_oracles *oracles = &run->oracles;
    for (uint32_t i = 0; i < oracles->key_count; i++) {
        struct sim_placement placement = {0};
        if (oracles->keys[i].arrived > 0)
            sim_placement_add(&placement, LAB_UNPLACED, oracles->keys[i].arrived);
        placement.sum += oracles->keys[i].placed_sum;
        run->tally.placement_digest += sim_placement_finish(&placement, i);
    }
}

static void destroy(void *state)
{
    const struct lab_oracles *oracles = &((struct lab_cluster_run *)state)->oracles;
    for (uint32_t i = 0; oracles->keys != NULL && i < oracles->key_count; i++) {
        free(oracles->keys[i].newest);
        free(oracles->keys[i].disk);
    }
    free(oracles->keys);
    for (uint32_t i = 0; oracles->partitions != NULL && i < oracles->partition_count; i++)
        free(oracles->partitions[i].disk);
    free(oracles->partitions);
    free(oracles->table.slots);
    free(oracles->open.items);
    free(oracles->moved.items);
}

void lab_oracles_prefetch_partition(const struct lab_cluster_run *run, uint32_t key)
{
    const struct lab_oracles *oracles = &run->oracles;
    const struct lab_key_ledger *ledger = &oracles->keys[key];
    if (ledger->newest != NULL)
        __builtin_prefetch(lab_newest_next(oracles, ledger));
    if (ledger->recent == LAB_NO_PARTITION)
        return;
    const char *lines = (const char *)&oracles->partitions[ledger->recent];
    for (size_t i = 0; i < sizeof *oracles->partitions; i += SIM_LINE_BYTES)
        __builtin_prefetch(lines + i);
}

/* Returns whether the row's time is the first of its window. */
SIM_OUT_OF_LINE static bool begins_window(const struct lab_cluster_run *run, int64_t time_ns)
{
    struct bk_row row = {.time_ns = time_ns};
    struct bk_placement route;
    bk_history_route(lab_settings_at(run, time_ns), NULL, &row, &route);
    return route.from_ns == time_ns;
}

/* Returns whether the row's time is the first of its bucket or the first beyond a grant. */
static bool is_on_edge(const struct lab_cluster_run *run, uint32_t key_index, int64_t time_ns, int64_t bucket)
{
    const struct lab_cluster_key *key = &run->keys[key_index];
    if (SIM_UNLIKELY(run->config.coordination == BK_GUARDED) && time_ns == key->state[BK_GUARDED_UNTIL])
        return true;
    if (lab_keeps_state(run))
        return bucket > 0 && (size_t)bucket < key->change_count && time_ns == key->changes[bucket];
    return run->config.strategy.kind == BK_KIND_TIME && begins_window(run, time_ns);
}

static void watch_second(struct lab_cluster_run *run, struct lab_key_ledger *ledger,
                         struct lab_partition *partition)
{
    const int64_t now_ns = sim_queue_now(&run->queue),
                  second = now_ns / SIM_SECOND - (now_ns % SIM_SECOND < 0);
    if (SIM_UNLIKELY(partition->second != second || partition->placed == 1)) {
        partition->second = second;
        partition->rows_in_second = 0;
    }
    if (SIM_UNLIKELY(++partition->rows_in_second > run->tally.peak_rows_per_s))
        run->tally.peak_rows_per_s = partition->rows_in_second;
    if (SIM_UNLIKELY(ledger->second != second)) {
        ledger->second = second;
        ledger->rows_in_second = 0;
    }
    if (SIM_UNLIKELY(++ledger->rows_in_second > ledger->peak_rows_per_s))
        ledger->peak_rows_per_s = ledger->rows_in_second;
}

/* Returns whether the row is in the highest bucket and newer than all rows of lower buckets, as most are. */
static bool is_in_order(const struct lab_partition *partition, int64_t time_ns)
{
    return partition->higher == LAB_NO_PARTITION && partition->below.time_ns[0] < time_ns;
}

/* A row with a time of its own may come into a bucket that is closed. */
SIM_OUT_OF_LINE static void watch_closed(struct lab_cluster_run *run, struct lab_partition *partition)
{
    if (partition->bucket >= lab_current_bucket(run, partition->key, sim_queue_now(&run->queue)))
        return;
    run->tally.rows_into_closed++;
    run->tally.reopened += !partition->is_reopened;
    partition->is_reopened = true;
}

/* A row's first put; with the bucket LAB_UNPLACED it will not be put. */
static void placed(struct lab_cluster_run *run, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket,
                   uint32_t agent)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_key_ledger *ledger = &oracles->keys[key];
    if (SIM_UNLIKELY(bucket == LAB_UNPLACED)) {
        ledger->missed++;
        return;
    }
    ledger->placed_sum += sim_placement_moved(row, LAB_UNPLACED, bucket);
    uint32_t index = partition_need(run, key, bucket);
    if (SIM_UNLIKELY(index == LAB_NO_PARTITION))
        return;
    struct lab_partition *partition = &oracles->partitions[index];
    partition->placed++;
    bool is_steady = run->strategy->settings.change_count == 0;
    partition->eras |= SIM_LIKELY(is_steady) ? 1 : (uint8_t)(1u << lab_era_at(run, time_ns));
    watch_second(run, ledger, partition);
    if (SIM_UNLIKELY(run->has_own_times))
        watch_closed(run, partition);
    bool is_odd = !is_in_order(partition, time_ns);
    if (SIM_UNLIKELY(is_odd || run->config.strategy.max_age_ns != 0))
        cluster_emit(run, ROW_ENTERED, .agent = agent, .key = key, .number = row, .time_ns = time_ns,
                     .partition = partition, .flag = is_odd);
    if (oracles->keeps_times) {
        lab_extreme_add(&partition->latest, time_ns, agent);
        lab_extreme_add(&partition->earliest, -time_ns, agent);
    }
    oracles->verdict.probes[LAB_PROBE_ON_EDGE] += is_on_edge(run, key, time_ns, bucket);
    if (SIM_UNLIKELY(!lab_rows_fire(run))) {
        run->tally.misrouted += lab_is_misplaced(run, time_ns, bucket);
    } else if (SIM_UNLIKELY(bucket != lab_state_bucket_at(run, key, time_ns))) {
        run->tally.misrouted++;
        oracles->verdict.probes[LAB_PROBE_STALE_CACHE] += bucket < ledger->state_bucket;
    }
}

static bool open_add(struct lab_open_rows *rows, const struct lab_host_operation *operation)
{
    if (!sim_grow(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items))
        return false;
    rows->items[rows->count++] = (struct lab_open_row){.key = operation->key,
                                                       .is_heard = operation->is_heard,
                                                       .is_acknowledged = operation->is_acknowledged,
                                                       .row = operation->row,
                                                       .bucket = operation->bucket};
    return true;
}

/* Each put of a row. The first one decides its bucket; one into another bucket may store it twice. */
static void put(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                int64_t bucket)
{
    struct lab_oracles *oracles = &run->oracles;
    if (SIM_LIKELY(operation->bucket == LAB_UNPLACED))
        placed(run, operation->key, operation->row, operation->row_time_ns, bucket, agent);
    else if (operation->bucket != bucket && !open_add(&oracles->moved, operation))
        run->out_of_memory = true;
    oracles->verdict.probes[LAB_PROBE_UNKNOWN_PUT] += operation->was_unknown;
}

/* A reader begins high enough and queries all replicas, and each acknowledged row of the partition is stored,
 * so on at least one of them. */
static inline bool is_surely_found(const struct lab_cluster_run *run, const struct lab_partition *partition)
{
    return run->oracles.finds_all && partition->stored_sum == partition->acknowledged_sum &&
           lab_keeps_state(run) && partition->bucket <= run->oracles.keys[partition->key].state_bucket;
}

/* No other row of the key is being counted, and its state has not changed and does not change. */
static inline bool is_counted_alone(const struct lab_key_ledger *ledger,
                                    const struct lab_partition *partition)
{
    return ledger->counting == 0 && ledger->writes_open == 0 && partition->bucket >= ledger->state_bucket;
}

static void acknowledged(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation)
{
    struct lab_oracles *oracles = &run->oracles;
    uint32_t key = operation->key, index = lab_partition_find(oracles, key, operation->bucket);
    const struct lab_key_ledger *ledger = &oracles->keys[key];
    if (SIM_UNLIKELY(index == LAB_NO_PARTITION))
        return;
    struct lab_partition *partition = &oracles->partitions[index];
    oracles->acknowledged++;
    partition->acknowledged++;
    partition->acknowledged_sum += sim_mix64(operation->row + 1);
    partition->fired += operation->fires;
    bool is_usual = !operation->fires && is_surely_found(run, partition) &&
                    is_counted_alone(ledger, partition) &&
                    sim_queue_now(&run->queue) - operation->begun_ns <= oracles->available_ns;
    if (SIM_UNLIKELY(!is_usual))
        cluster_emit_of(run, ROW_UNUSUAL, agent, operation, .partition = partition);
    oracles->keys[key].counting++;
}

SIM_OUT_OF_LINE static void unusual_ended(struct lab_cluster_run *run, uint32_t agent,
                                          struct lab_host_operation *operation, bool is_counted,
                                          bool is_refused)
{
    struct lab_oracles *oracles = &run->oracles;
    if (operation->bucket == LAB_UNPLACED) {
        placed(run, operation->key, operation->row, 0, LAB_UNPLACED, 0);
        return;
    }
    oracles->keys[operation->key].missed += !operation->is_acknowledged;
    bool ok = true;
    if (operation->is_moved)
        ok = open_add(&oracles->moved, operation);
    else if (!operation->is_acknowledged && !is_refused)
        ok = open_add(&oracles->open, operation);
    run->out_of_memory = run->out_of_memory || !ok;
    struct lab_key_ledger *ledger = &oracles->keys[operation->key];
    ledger->counting -= operation->is_acknowledged && ledger->counting > 0;
    if (!operation->is_acknowledged || !operation->fires)
        return;
    uint32_t index = lab_partition_find(oracles, operation->key, operation->bucket);
    if (index == LAB_NO_PARTITION)
        return;
    cluster_emit_of(run, ROW_COUNTED, agent, operation, .partition = &oracles->partitions[index],
                    .flag = is_counted);
    if (is_counted)
        return;
    oracles->partitions[index].increments_lost++;
    lab_condition_of_key(run, LAB_CONDITION_LOST_INCREMENT, operation->key, sim_queue_now(&run->queue),
                         LAB_OPEN_ENDED);
}

/* The write has ended, or its agent has crashed. Most rows were acknowledged, are in one bucket and do not
 * count. */
static void ended(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                  bool is_counted, bool is_refused)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    bool is_usual = operation->is_acknowledged && operation->bucket != LAB_UNPLACED &&
                    !(operation->is_moved || operation->fires || operation->has_counted);
    if (SIM_LIKELY(is_usual))
        ledger->counting -= ledger->counting > 0;
    else
        unusual_ended(run, agent, operation, is_counted, is_refused);
}

uint32_t lab_partition_search(const struct lab_oracles *oracles, uint32_t key, int64_t bucket)
{
    const struct sim_table *table = &oracles->table;
    for (const struct sim_slot *slot = sim_table_first(table, hash_of(key, bucket)); slot->index != 0;
         slot = sim_table_next(table, slot)) {
        const struct lab_partition *partition = &oracles->partitions[slot->index - 1];
        if (partition->key == key && partition->bucket == bucket)
            return oracles->keys[key].recent = slot->index - 1;
    }
    return LAB_NO_PARTITION;
}

/* Where keys roll, each bucket but the first took an event, or a number of those that were leased at once.
 * This is checked for histories, because loops go over these buckets. */
bool lab_is_possible_bucket(const struct lab_cluster_run *run, int64_t bucket)
{
    if (!lab_keeps_state(run) && run->config.strategy.kind != BK_KIND_COUNT)
        return true;
    /* A history may have several events at one time; they are one event of the queue. */
    uint64_t most = sim_queue_pushed(&run->queue) + 64, each = lab_numbers_at_once(run);
    most = most > UINT64_MAX / each ? UINT64_MAX : most * each;
    return bucket >= 0 && (uint64_t)bucket <= most;
}

int64_t lab_aftermath_ns(const struct lab_cluster_run *run)
{
    return lab_until(run->oracles.lag_ns, run->scenario->agents.timeout_ns);
}

int lab_open_compare(const void *a, const void *b)
{
    const struct lab_open_row *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    if (one->row != other->row)
        return one->row < other->row ? -1 : 1;
    return (one->bucket > other->bucket) - (one->bucket < other->bucket);
}

void lab_copies_alone(struct lab_cluster_run *run)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < run->listener_count; i++)
        own |= (uint32_t)(run->listeners[i].observer == &cluster_ledger) << i;
    for (int kind = 0; kind < CLUSTER_EVENT_KINDS; kind++) {
        if (kind != CLUSTER_VIOLATED)
            run->heard_by[kind] = kind == CLUSTER_ROW_STORED || kind == CLUSTER_ROW_COPIED ? own : 0;
    }
    run->oracles.has_ended = true;
}

/* --- A key's state as it is stored: what a read of all replicas would find. It is updated when replicas
 * change. From it the run knows which bucket is current, since when rows belong to it, and whether a row was
 * put into a wrong bucket. */

/* Judges that no row is counted twice, and only rows that are stored. */
static void judge_sum(struct lab_cluster_run *run, uint32_t key, const int64_t *columns)
{
    uint32_t index = lab_partition_find(&run->oracles, key, columns[BK_COLUMN_BUCKET]);
    uint64_t stored = index == LAB_NO_PARTITION ? 0 : run->oracles.partitions[index].stored;
    if (columns[BK_COLUMN_COUNTER] > 0 && (uint64_t)columns[BK_COLUMN_COUNTER] > stored)
        lab_violate(run, LAB_ORACLE_CONSERVED, key, 1,
                    "bucket %" PRId64 ": %" PRId64 " rows are counted, and it holds %" PRIu64,
                    columns[BK_COLUMN_BUCKET], columns[BK_COLUMN_COUNTER], stored);
}

int64_t lab_state_start(const struct lab_cluster_run *run, const int64_t *columns)
{
    bool is_dated = run->config.coordination == BK_THREE_STATE && columns[BK_COLUMN_NEXT_CHANGE] != 0;
    return columns[is_dated ? BK_COLUMN_NEXT_CHANGE : BK_COLUMN_LAST_CHANGE];
}

/* Returns the first time that belongs to the state's bucket. */
static int64_t change_of(const struct lab_cluster_run *run, const int64_t *columns)
{
    if (run->config.coordination == BK_GUARDED)
        return columns[BK_GUARDED_START];
    int64_t start_ns = lab_state_start(run, columns);
    /* A row that rolls a key immediately still belongs to the old bucket, except at a line. */
    return start_ns + (run->config.coordination != BK_THREE_STATE && !lab_is_line(run, start_ns));
}

static bool keep_change(struct lab_cluster_run *run, uint32_t key_index, const int64_t *columns)
{
    struct lab_cluster_key *key = &run->keys[key_index];
    size_t bucket = (size_t)columns[BK_COLUMN_BUCKET];
    if (bucket >= key->change_count) {
        int64_t *changes = realloc(key->changes, (bucket + 1) * sizeof *changes);
        if (changes == NULL) {
            run->out_of_memory = true;
            return false;
        }
        memset(changes + key->change_count, 0, (bucket + 1 - key->change_count) * sizeof *changes);
        key->changes = changes;
        key->change_count = bucket + 1;
    }
    key->changes[bucket] = change_of(run, columns);
    /* A row beyond more than one line begins two buckets. */
    if (run->oracles.verdict.is_judged[LAB_ORACLE_LINES] && run->config.coordination == BK_THREE_STATE &&
        bucket > 1 && key->changes[bucket - 1] == 0)
        key->changes[bucket - 1] = columns[BK_COLUMN_LAST_CHANGE];
    return true;
}

static void state_written(struct lab_cluster_run *run, uint32_t key_index)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key_index];
    struct lab_cluster_key *key = &run->keys[key_index];
    int64_t columns[CASS_COLUMNS], before = ledger->state_bucket;
    uint32_t mask;
    if (!cass_peek_merged(run->cluster, lab_state_register(key_index), columns, &mask))
        memset(columns, 0, sizeof columns);
    if (run->config.source == BK_SOURCE_INCREMENTAL) {
        judge_sum(run, key_index, columns);
        columns[BK_SUM_TIME] = columns[BK_SUM_ID] = 0;
    }
    if (run->config.coordination != BK_GUARDED)
        columns[BK_COLUMN_COUNTER] = 0;
    if (memcmp(columns, key->state, sizeof key->state) == 0)
        return;
    memcpy(key->state, columns, sizeof key->state);
    ledger->state_version++;
    ledger->state_bucket = columns[BK_COLUMN_BUCKET];
    if (ledger->writes_open == 0 || columns[BK_COLUMN_BUCKET] < before)
        lab_watch_late_effect(run, key_index);
    if (columns[BK_COLUMN_BUCKET] > 0 && !keep_change(run, key_index, columns))
        return;
    int64_t change_ns = change_of(run, columns);
    cluster_emit(run, STATE_CHANGED, .key = key_index, .bucket = columns[BK_COLUMN_BUCKET], .value = before,
                 .time_ns = change_ns);
    if (columns[BK_COLUMN_BUCKET] > before)
        run->oracles.verdict.rolls += (uint64_t)(columns[BK_COLUMN_BUCKET] - before);
    if (columns[BK_COLUMN_BUCKET] > before && change_ns > run->oracles.rolls_until_ns)
        run->oracles.rolls_until_ns = change_ns;
}

/* The bucket of a row by the settings as of `time_ns`: the last or the first shard of its window. */
static int64_t routed_bucket(const struct lab_cluster_run *run, int64_t time_ns, const struct bk_row *row,
                             bool is_last)
{
    const struct bk_history *history = lab_settings_at(run, time_ns);
    const struct bk_era *era = &history->eras[bk_history_era_at(history, row->time_ns)];
    struct bk_placement route;
    bk_history_route(history, NULL, row, &route);
    return era->shift + lab_first_shard(&era->strategy, route.bucket - era->shift) +
           (is_last ? lab_shards(&era->strategy) - 1 : 0);
}

int64_t lab_current_bucket(const struct lab_cluster_run *run, uint32_t key_index, int64_t time_ns)
{
    const struct lab_cluster_key *key = &run->keys[key_index];
    uint32_t top = run->oracles.keys[key_index].top;
    /* The numbers of a lease may be far beyond those of any row, so the bucket of the newest row is used. */
    if (run->config.source == BK_SOURCE_LEASE && top != LAB_NO_PARTITION)
        return run->oracles.partitions[top].bucket;
    if (run->config.source != BK_SOURCE_EXTERNAL)
        return lab_state_newest(run, key_index);
    struct bk_row now = {.time_ns = time_ns, .sequence = key->rows > 0 ? key->rows - 1 : 0};
    switch (run->config.strategy.kind) {
    case BK_KIND_TIME:
    case BK_KIND_COUNT:
        return routed_bucket(run, time_ns, &now, false);
    case BK_KIND_PROBABILISTIC:
    case BK_KIND_WEIGHTED:
        return lab_state_bucket_at(run, key_index, time_ns);
    default: {
        /* unbucketed and hash: all buckets of an era are open until the next era */
        const struct bk_history *history = lab_settings_at(run, time_ns);
        return run->strategy->settings.change_count == 0
                   ? INT64_MIN
                   : history->eras[bk_history_era_at(history, time_ns)].shift;
    }
    }
}

int64_t lab_routed_newest(const struct lab_cluster_run *run, uint32_t key)
{
    uint64_t rows = run->keys[key].rows;
    if (run->config.source == BK_SOURCE_COUNTER)
        rows = (uint64_t)cass_counter_total(run->cluster, key);
    /* A row's time may be ahead of the reader's by as much as their clocks differ. */
    struct bk_row newest = {.time_ns = lab_until(sim_queue_now(&run->queue), run->oracles.tolerance_ns),
                            .sequence = rows > 0 ? rows - 1 : 0};
    return routed_bucket(run, sim_queue_now(&run->queue), &newest, true);
}

/* --- What the ledger hears. */

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    switch (event->kind) {
    case CLUSTER_ROW_ARRIVES:
        run->oracles.keys[event->key].arrived++;
        if (SIM_UNLIKELY(run->oracles.has_crowds))
            lab_condition_crowd(run, event->key);
        break;
    case CLUSTER_ROW_REFUSED:
        placed(run, event->key, event->row->sequence, 0, LAB_UNPLACED, 0);
        break;
    case CLUSTER_PLACED:
        put(run, event->agent, event->operation, event->bucket);
        break;
    case CLUSTER_ROW_STORED:
        stored(run, event);
        break;
    case CLUSTER_ROW_COPIED:
        copied(run, event->key, event->bucket, event->number, event->replica);
        break;
    case CLUSTER_STATE_WRITTEN:
        state_written(run, event->key);
        break;
    case CLUSTER_ACKNOWLEDGED:
        acknowledged(run, event->agent, event->operation);
        break;
    default: { /* CLUSTER_ENDED, CLUSTER_LOST */
        struct lab_host_operation *operation = event->operation;
        bool is_end = event->kind == CLUSTER_ENDED;
        bool is_refused = is_end && event->action->status == BK_OPERATION_REFUSED;
        if (SIM_UNLIKELY(operation->is_read))
            break;
        if (SIM_UNLIKELY(is_end && !operation->is_acknowledged))
            cluster_emit_of(run, ROW_FAILED, event->agent, operation, .flag = is_refused);
        ended(run, event->agent, operation, is_end && event->action->counted, is_refused);
    }
    }
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    if (run->idgen != NULL)
        return 0;
    return CLUSTER_WANTS(ROW_ARRIVES) | CLUSTER_WANTS(ROW_REFUSED) | CLUSTER_WANTS(PLACED) |
           CLUSTER_WANTS(ROW_STORED) | CLUSTER_WANTS(ROW_COPIED) | CLUSTER_WANTS(STATE_WRITTEN) |
           CLUSTER_WANTS(ACKNOWLEDGED) | CLUSTER_WANTS(ENDED) | CLUSTER_WANTS(LOST);
}

const struct cluster_observer cluster_ledger = {
    .name = "ledger", .wants = wants, .begin = begin, .on_event = hear, .finish = finish, .destroy = destroy};
