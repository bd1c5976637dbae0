/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cluster run leaves behind: partitions as they are stored, loads, and where every row went. */
#include <stdlib.h>
#include <string.h>

#include "cluster_run.h"
#include "kernel/digest.h"
#include "kernel/time.h"
#include "metrics.h"
#include "result_make.h"

/* Rows of one partition within the second at hand. */
struct second_cell {
    int64_t bucket, second;
    uint64_t rows;
};

static void tally_partitions(struct lab_cluster_run *run);
static int64_t current_bucket(const struct lab_cluster_run *run, uint32_t key);
static void tally_key(struct lab_cluster_run *run, uint32_t key);
static bool is_misrouted(const struct lab_cluster_key *key, const struct lab_logged *row);
static void watch_second(struct lab_cluster_run *run, struct second_cell *cells, size_t count,
                         const struct lab_logged *row);

bool lab_cluster_result(const struct lab_scenario *scenario, struct lab_cluster_run **runs,
                        struct lab_result **out)
{
    /* All runs saw the same rows. */
    struct lab_result *result = lab_result_begin(scenario, runs[0]->tally.rows, runs[0]->keys_met,
                                                 runs[0]->start_ns, runs[0]->end_ns);
    bool ok = result != NULL;
    for (size_t i = 0; ok && i < scenario->strategy_count; i++) {
        struct lab_cluster_run *run = runs[i];
        struct lab_strategy_result *strategy = lab_result_add(result, scenario, i, &run->tally);
        ok = strategy != NULL && lab_cluster_metrics(run, &strategy->metrics);
        if (!ok)
            break;
        lab_result_take(strategy, &run->tally);
        strategy->events = run->events;
        strategy->views = run->views;
        run->events.marks = NULL;
        memset(&run->views, 0, sizeof run->views);
        result->digest = sim_digest_chain(result->digest, strategy->events.digest);
    }
    if (!ok) {
        lab_result_destroy(result);
        return false;
    }
    *out = result;
    return true;
}

void lab_cluster_tally(struct lab_cluster_run *run)
{
    tally_partitions(run);
    for (uint32_t key = 0; key < run->key_count; key++)
        tally_key(run, key);
    for (uint32_t node = 0; node < run->node_count; node++) {
        struct cass_node_stats stats;
        cass_node_stats(run->cluster, node, &stats);
        run->tally.nodes[node] = (struct cass_node_load){stats.rows, stats.bytes};
    }
}

bool lab_cluster_metrics(const struct lab_cluster_run *run, struct lab_metrics *out)
{
    static const char *const names[LAB_LATENCY_COUNT] = {"write", "read", "counter", "lwt"};
    bool ok = lab_metrics_of_tally(&run->tally, run->scenario, run->node_count, out);
    ok = ok && lab_metrics_add(out, "writes.refused", (double)run->refused) &&
         lab_metrics_add(out, "writes.unresolved", (double)run->unresolved) &&
         lab_metrics_add(out, "writes.increments_unresolved", (double)run->unresolved_increments);
    for (int i = 0; ok && i < LAB_LATENCY_COUNT; i++)
        ok = lab_metrics_of_latency(&run->latency[i], names[i], out);
    return ok && lab_metrics_add(out, "events", (double)run->events.events);
}

static void tally_partitions(struct lab_cluster_run *run)
{
    struct lab_tally *tally = &run->tally;
    const struct lab_limits *limits = &run->scenario->limits;
    for (size_t i = 0; i < cass_partition_count(run->cluster); i++) {
        struct cass_partition_view view;
        cass_partition_at(run->cluster, i, &view);
        if (view.rows == 0)
            continue;
        bool is_closed = view.bucket < current_bucket(run, (uint32_t)view.key);
        bool over_rows = limits->partition_rows != 0 && view.rows > limits->partition_rows;
        bool over_bytes = limits->partition_bytes != 0 && view.bytes > limits->partition_bytes;
        tally->over_limit_rows += over_rows;
        tally->over_limit_bytes += over_bytes;
        tally->over_limit += over_rows || over_bytes;
        tally->tiny += is_closed && view.rows < limits->tiny_rows;
        lab_histogram_add(is_closed ? &tally->closed_rows : &tally->open_rows, view.rows, 1, view.rows);
        lab_histogram_add(is_closed ? &tally->closed_bytes : &tally->open_bytes, view.bytes, 1, view.rows);
    }
}

/* The bucket that a row would belong to at the end of the run: partitions below it are closed. */
static int64_t current_bucket(const struct lab_cluster_run *run, uint32_t key_index)
{
    const struct lab_cluster_key *key = &run->keys[key_index];
    struct bk_row now = {.time_ns = run->end_ns, .sequence = key->log_count > 0 ? key->log_count - 1 : 0};
    struct bk_route route;
    switch (run->config.strategy.kind) {
    case BK_TIME:
    case BK_COUNT:
        bk_route(&run->config.strategy, NULL, &now, &route);
        return route.bucket;
    case BK_PROBABILISTIC:
        if (key->committed_bucket > 0 && key->changes[key->committed_bucket] > run->end_ns)
            return key->committed_bucket - 1;
        return key->committed_bucket;
    default:
        return INT64_MIN; /* none and hash: all are open */
    }
}

static void tally_key(struct lab_cluster_run *run, uint32_t key_index)
{
    const struct lab_cluster_key *key = &run->keys[key_index];
    struct sim_placement placement;
    struct second_cell cells[16] = {{0, 0, 0}};
    sim_placement_init(&placement);
    for (size_t i = 0; i < key->log_count; i++) {
        const struct lab_logged *row = &key->log[i];
        sim_placement_add(&placement, row->bucket, 1);
        if (row->bucket == LAB_UNPLACED)
            continue;
        watch_second(run, cells, sizeof cells / sizeof *cells, row);
        run->tally.misrouted += run->config.strategy.kind == BK_PROBABILISTIC && is_misrouted(key, row);
    }
    run->tally.rows += key->log_count;
    run->keys_met += key->log_count > 0;
    run->tally.placement_digest += sim_placement_finish(&placement, key_index);
}

/* The committed change times say otherwise: the row is older than its bucket, or the next one had begun. */
static bool is_misrouted(const struct lab_cluster_key *key, const struct lab_logged *row)
{
    if (row->bucket < 0)
        return true;
    size_t bucket = (size_t)row->bucket;
    bool is_early =
        bucket < key->change_count && key->changes[bucket] != 0 && row->time_ns < key->changes[bucket];
    bool is_late = bucket + 1 < key->change_count && key->changes[bucket + 1] != 0 &&
                   row->time_ns >= key->changes[bucket + 1];
    return is_early || is_late;
}

/* Rows come in order of arrival; those of many buckets at once share the cells, the oldest making room. */
static void watch_second(struct lab_cluster_run *run, struct second_cell *cells, size_t count,
                         const struct lab_logged *row)
{
    int64_t second = row->arrival_ns / SIM_SECOND - (row->arrival_ns % SIM_SECOND < 0);
    struct second_cell *cell = &cells[(uint64_t)row->bucket % count];
    if (cell->bucket != row->bucket || cell->second != second)
        *cell = (struct second_cell){row->bucket, second, 0};
    if (++cell->rows > run->tally.peak_rows_per_s)
        run->tally.peak_rows_per_s = cell->rows;
}
