/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A key's state as it is stored: what a read of all replicas would find. It is updated when replicas change.
 * From it the run knows which bucket is current, since when rows belong to it, and whether a row was put into
 * a wrong bucket. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "cluster_watch.h"
#include "events.h"
#include "evidence.h"
#include "oracles.h"

/* Judges that no row is counted twice, and only rows that are stored. */
static void judge_sum(struct lab_cluster_run *run, uint32_t key, const int64_t *columns)
{
    uint32_t index = lab_partition_find(&run->oracles, key, columns[BK_BUCKET]);
    uint64_t stored = index == LAB_NO_PARTITION ? 0 : run->oracles.partitions[index].stored;
    if (columns[BK_COUNTER] > 0 && (uint64_t)columns[BK_COUNTER] > stored)
        lab_violate(run, LAB_ORACLE_CONSERVED, key, 1,
                    "bucket %" PRId64 ": %" PRId64 " rows are counted, and it holds %" PRIu64,
                    columns[BK_BUCKET], columns[BK_COUNTER], stored);
}

int64_t lab_state_start(const struct lab_cluster_run *run, const int64_t *columns)
{
    bool is_dated = run->config.coordination == BK_THREE_STATE && columns[BK_NEXT_CHANGE] != 0;
    return columns[is_dated ? BK_NEXT_CHANGE : BK_LAST_CHANGE];
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
    size_t bucket = (size_t)columns[BK_BUCKET];
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
        key->changes[bucket - 1] = columns[BK_LAST_CHANGE];
    return true;
}

void lab_state_changed(struct lab_cluster_run *run, uint32_t key_index)
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
        columns[BK_COUNTER] = 0;
    if (memcmp(columns, key->state, sizeof key->state) == 0)
        return;
    memcpy(key->state, columns, sizeof key->state);
    ledger->state_version++;
    ledger->state_bucket = columns[BK_BUCKET];
    if (ledger->writes_open == 0 || columns[BK_BUCKET] < before)
        lab_watch_late_effect(run, key_index);
    if (columns[BK_BUCKET] > 0 && !keep_change(run, key_index, columns))
        return;
    int64_t change_ns = change_of(run, columns);
    if (columns[BK_BUCKET] != before)
        cluster_emit(run, ROLLED, .key = key_index, .bucket = columns[BK_BUCKET], .value = before,
                     .time_ns = change_ns);
    if (columns[BK_BUCKET] < before)
        lab_findable_lowered(run, key_index);
    else
        run->oracles.verdict.rolls += (uint64_t)(columns[BK_BUCKET] - before);
    lab_no_gaps_changed(run, key_index);
    if (columns[BK_BUCKET] > before) {
        lab_bounded_rolled(run, key_index, change_ns);
        lab_filled_rolled(run, key_index, before);
    }
    if (columns[BK_BUCKET] > before && change_ns > run->oracles.rolls_until_ns)
        run->oracles.rolls_until_ns = change_ns;
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
    struct bk_route route;
    switch (run->config.strategy.kind) {
    case BK_TIME:
    case BK_COUNT:
        bk_history_route(lab_settings_at(run, time_ns), NULL, &now, &route);
        return route.bucket;
    case BK_PROBABILISTIC:
    case BK_WEIGHTED:
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
    struct bk_route route;
    bk_history_route(lab_settings_at(run, sim_queue_now(&run->queue)), NULL, &newest, &route);
    return route.bucket;
}
