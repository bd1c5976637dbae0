/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of a cluster run. In: what is stored, the verdict, and events: latencies, and rolls of the
 * busiest key. Kept: histograms, and the agents' views of that key. Out: the tally, metrics, and the result.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
#include "idgen.h"
#include "kernel/digest.h"
#include "kernel/grow.h"
#include "lab/metric.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "oracles.h"

/* --- The observer of latencies. Most are those of writes, which are added to their histogram together. */

static void settle(struct lab_cluster_run *run)
{
    lab_histogram_add_each(&run->latency[LAB_LATENCY_WRITE], run->spent.ns, run->spent.count);
    run->spent.count = 0;
}

/* Of a read, which ended, or of a request other than a put. */
static void add_rare(struct lab_cluster_run *run, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    const int64_t now_ns = sim_queue_now(&run->queue);
    const uint64_t asked = (uint64_t)(now_ns - operation->asked_ns),
                   begun = (uint64_t)(now_ns - operation->begun_ns);
    if (event->kind == CLUSTER_ENDED) {
        enum bk_operation_status status = event->action->status;
        if (!operation->is_read || (status != BK_OPERATION_OK && status != BK_OPERATION_TOO_LONG))
            return;
        lab_histogram_add(&run->latency[LAB_LATENCY_READ], begun, 1, 1);
        if (lab_read_kind_count(run->scenario) > 1)
            lab_histogram_add(&run->read_latency[operation->read], begun, 1, 1);
    } else if (operation->outcome.kind == BK_OUTCOME_APPLIED) {
        if (operation->action == BK_ACT_ADD_COUNTER)
            lab_histogram_add(&run->latency[LAB_LATENCY_COUNTER], asked, 1, 1);
        if (operation->action == BK_ACT_CAS_STATE || operation->action == BK_ACT_CAS_LOCK)
            lab_histogram_add(&run->latency[LAB_LATENCY_LWT], asked, 1, 1);
    }
}

void cluster_latencies_hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    if (SIM_UNLIKELY(event->kind != CLUSTER_ACKNOWLEDGED)) {
        add_rare(run, event);
        return;
    }
    const int64_t waited_ns = lab_agent_waited(run, event->agent, event->key);
    const int64_t spent_ns = sim_queue_now(&run->queue) - event->operation->begun_ns;
    run->spent.ns[run->spent.count++] = (uint64_t)(waited_ns > spent_ns ? waited_ns : spent_ns);
    if (SIM_UNLIKELY(run->spent.count == LAB_SPENT_MAX))
        settle(run);
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    if (run->idgen != NULL || !lab_run_has_latencies(run->context))
        return 0;
    return CLUSTER_WANTS(ACKNOWLEDGED) | CLUSTER_WANTS(HEARD) |
           (run->scenario->reads.present ? CLUSTER_WANTS(ENDED) : 0);
}

const struct cluster_observer cluster_latencies = {
    .name = "latencies", .wants = wants, .on_event = cluster_latencies_hear};

/* --- The observer of the queries of reads, for limits.partition_reads: how many a partition gets in a second
 * of the clock. */

struct queries {
    struct lab_tuples of; /* of the second: (key, bucket) to queries */
    int64_t second;
};

static bool begin_queries(struct lab_cluster_run *run, void **state)
{
    struct queries *queries = *state = calloc(1, sizeof *queries);
    (void)run;
    if (queries != NULL)
        lab_tuples_init(&queries->of, 1);
    return queries != NULL;
}

static void count_queries(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    struct queries *queries = state;
    const int64_t second = sim_queue_now(&run->queue) / SIM_SECOND;
    const struct bk_read_step *step = &event->action->step;
    if (event->action->kind != BK_ACT_READ_ROWS)
        return;
    if (second != queries->second)
        lab_tuples_empty(&queries->of);
    queries->second = second;
    for (int64_t bucket = step->bucket_low; bucket <= step->bucket_high; bucket++) {
        const uint64_t tuple[LAB_TUPLE_WORDS] = {event->key, (uint64_t)bucket};
        uint64_t *count = lab_tuples_get(&queries->of, tuple);
        run->tally.out_of_memory |= count == NULL;
        if (count != NULL && ++*count > run->peak_queries_per_s)
            run->peak_queries_per_s = *count;
    }
}

static void end_queries(void *state)
{
    struct queries *queries = state;
    if (queries != NULL)
        lab_tuples_clear(&queries->of);
    free(queries);
}

static uint64_t wants_queries(const struct lab_cluster_run *run)
{
    return run->idgen == NULL && run->scenario->limits.rate[LAB_RATE_READS] > 0 ? CLUSTER_WANTS(REQUEST_SENT)
                                                                                : 0;
}

const struct cluster_observer cluster_queries = {.name = "queries",
                                                 .wants = wants_queries,
                                                 .begin = begin_queries,
                                                 .on_event = count_queries,
                                                 .destroy = end_queries};

/* The rows that were refused, or given up, although no fault explains it. The oracle `available` also counts
 * rows that were stored late. */
static uint64_t unprovoked(const struct lab_cluster_run *run)
{
    const struct lab_verdict *verdict = &run->oracles.verdict;
    const uint64_t lost = run->refused + run->unresolved, others = lost - run->refused_busy;
    const uint64_t violations = verdict->violations[LAB_ORACLE_AVAILABLE].count;
    if ((verdict->conditions >> LAB_CONDITION_FAULTS & 1) == 0)
        return lost;
    return run->refused_busy + (violations < others ? violations : others);
}

static bool add_lost(const struct lab_cluster_run *run, struct lab_metrics *out)
{
    return lab_metrics_add(out, "writes.refused", (double)run->refused) &&
           lab_metrics_add(out, "writes.refused_unprovoked", (double)unprovoked(run)) &&
           lab_metrics_add(out, "writes.unresolved", (double)run->unresolved) &&
           (run->turns.keys == NULL || lab_metrics_add(out, "writes.waiting_most", (double)run->turns.most));
}

static bool add_latencies(const struct lab_cluster_run *run, struct lab_metrics *out)
{
    bool ok = true;
    for (int i = 0; ok && i < LAB_LATENCY_COUNT; i++)
        ok = lab_metrics_of_latency(&run->latency[i], lab_latency_name((enum lab_latency)i), out);
    if (ok && run->turns.keys != NULL)
        ok = lab_metrics_of_latency(&run->turns.waited, "latency.queue", out);
    for (int i = 0; ok && lab_read_kind_count(run->scenario) > 1 && i < LAB_READ_KINDS; i++) {
        char name[32];
        snprintf(name, sizeof name, "reads.%s.latency", lab_read_kind_name((enum lab_read_kind)i));
        ok = lab_metrics_of_latency(&run->read_latency[i], name, out);
    }
    return ok;
}

/* Adds the metrics of the tombstones that reads scanned, and of reads that scanned too many. */
static bool add_tombstones(const struct lab_cluster_run *run, struct lab_metrics *out)
{
    const struct lab_tally *tally = &run->tally;
    uint64_t reads = tally->reads.partitions.count + tally->reads.before + tally->reads_failed;
    bool ok = lab_metrics_add(out, "writes.deletes_lost", (double)tally->deletes_lost);
    if (!run->scenario->reads.present)
        return ok;
    return ok && lab_metrics_add(out, "reads.failed", (double)tally->reads_failed) &&
           lab_metrics_add(out, "tombstones.scanned_per_read",
                           reads == 0 ? 0 : (double)tally->tombstones_read / (double)reads) &&
           lab_metrics_add(out, "tombstones.warnings", (double)tally->tombstone_warnings);
}

/* Adds the number of guarantees of the protocol that the run broke, with nothing to excuse it. */
static bool add_guarantees(const struct lab_cluster_run *run, struct lab_metrics *out)
{
    const struct lab_settings *settings = &run->strategy->settings;
    unsigned broken = 0;
    for (unsigned i = 0; i < LAB_ORACLE_COUNT; i++)
        broken += lab_guarantee_is_broken(lab_settings_kind(settings), lab_settings_protocol(settings),
                                          (enum lab_oracle)i, &run->oracles.verdict);
    return lab_metrics_add(out, "guarantees.broken", broken);
}

/* Adds the number of violations of every oracle that applies. */
static bool add_oracles(const struct lab_verdict *verdict, struct lab_metrics *out)
{
    bool ok = true;
    for (int i = 0; ok && i < LAB_ORACLE_COUNT; i++) {
        char name[LAB_METRIC_NAME_SIZE];
        snprintf(name, sizeof name, "oracle.%s.violations", lab_oracle_name((enum lab_oracle)i));
        if (verdict->is_judged[i])
            ok = lab_metrics_add(out, name, (double)verdict->violations[i].count);
    }
    return ok;
}

static bool lab_cluster_metrics(const struct lab_cluster_run *run, struct lab_metrics *out)
{
    bool has_rows = run->idgen == NULL;
    if (run->context->only_judges) /* the verdicts include availability */
        return !has_rows || add_lost(run, out);
    if (!has_rows)
        return lab_idgen_metrics(run, out) && add_oracles(&run->oracles.verdict, out);
    bool ok = lab_metrics_of_tally(&run->tally, run->scenario, run->start_ns, run->node_count, out) &&
              lab_metrics_of_capacity(&run->tally, run->scenario, &run->strategy->settings,
                                      (double)(run->end_ns - run->start_ns) / (double)SIM_SECOND, out) &&
              add_lost(run, out) &&
              lab_metrics_add(out, "writes.increments_unresolved", (double)run->unresolved_increments);
    ok = ok && (!lab_run_has_latencies(run->context) || add_latencies(run, out)) &&
         lab_metrics_add(out, "events", (double)run->events.events);
    if (lab_rows_go(run->scenario))
        ok = ok && add_tombstones(run, out);
    const struct lab_verdict *verdict = &run->oracles.verdict;
    if (run->config.source == BK_SOURCE_INCREMENTAL)
        ok = ok && lab_metrics_add(out, "writes.rows_uncounted", (double)run->rows_uncounted);
    if (run->tally.lwt > 0)
        ok = ok && lab_metrics_add(out, "writes.conditions_lost", (double)run->conditions_lost);
    if (lab_adds_to_counters(run))
        ok = ok && lab_metrics_add(out, "writes.increments_lost", (double)verdict->increments_lost) &&
             lab_metrics_add(out, "writes.increments_doubled", (double)verdict->increments_doubled);
    if (run->scenario->limits.rate[LAB_RATE_READS] > 0)
        ok = ok &&
             lab_metrics_add(out, "peak.reads_per_second_one_partition", (double)run->peak_queries_per_s);
    return ok && add_guarantees(run, out) && add_oracles(verdict, out);
}

static bool add_run(struct lab_result *result, const struct lab_scenario *scenario, size_t index,
                    struct lab_cluster_run *run)
{
    struct lab_strategy_result *strategy = lab_result_add(result, scenario, index, &run->tally);
    bool ok = strategy != NULL && lab_cluster_metrics(run, &strategy->metrics) &&
              lab_result_nodes(strategy, scenario, &run->tally);
    if (!ok)
        return false;
    lab_result_take(strategy, &run->tally);
    for (int kind = 0; ok && lab_run_has_latencies(run->context) && kind < LAB_LATENCY_COUNT; kind++)
        ok = lab_histogram_coarse(&run->latency[kind], LAB_LATENCY_BITS, &strategy->latency[kind]);
    if (!ok)
        return false;
    strategy->events = run->events;
    strategy->views = run->views;
    strategy->verdict = run->oracles.verdict;
    run->events.marks = NULL;
    memset(&run->views, 0, sizeof run->views);
    result->digest = sim_digest_chain(result->digest, strategy->events.digest);
    return true;
}

bool lab_cluster_result(const struct lab_scenario *scenario, struct lab_result **each,
                        struct lab_result **out)
{
    struct lab_result *result = NULL;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        struct lab_result *from = each[i];
        if (from == NULL)
            continue;
        if (result == NULL) /* all had the same rows, except histories */
            result = lab_result_begin(scenario, from->rows, from->keys, from->start_ns, from->end_ns);
        if (result == NULL)
            break;
        struct lab_strategy_result *strategy = &result->strategies[i];
        struct lab_strategy_result *last = &from->strategies[from->strategy_count - 1];
        *strategy = *last;
        memset(last, 0, sizeof *last);
        result->strategy_count = i + 1;
        result->digest = sim_digest_chain(result->digest, strategy->placement_digest);
        result->digest = sim_digest_chain(result->digest, strategy->events.digest);
    }
    *out = result;
    return result != NULL;
}

bool lab_cluster_result_of(const struct lab_scenario *scenario, size_t index, struct lab_cluster_run *run,
                           struct lab_result **out)
{
    struct lab_result *result =
        lab_result_begin(scenario, run->tally.rows, run->keys_met, run->start_ns, run->end_ns);
    if (result == NULL || !add_run(result, scenario, index, run)) {
        lab_result_destroy(result);
        return false;
    }
    *out = result;
    return true;
}

/* Returns the size of a partition: its rows, its overhead, and a tombstone for each deleted row. */
static struct cass_partition weigh(const struct lab_cluster_run *run, const struct cass_partition_view *view,
                                   const struct lab_disk *disk)
{
    const struct lab_row_cost *cost = &run->scenario->row_cost;
    struct cass_partition partition = {view->written_rows, view->written_bytes};
    if (disk != NULL)
        partition = disk->most;
    size_t key_size = lab_rows_key_size(run->rows, (uint32_t)view->key);
    lab_bytes_add(&partition.bytes, lab_partition_bytes(cost, key_size, partition.rows, partition.bytes));
    if (run->scenario->deletes.share > 0)
        lab_bytes_add(&partition.bytes, view->tombstones * lab_tombstone_bytes(cost, LAB_STAMP_USUAL));
    return partition;
}

static void tally_partitions(struct lab_cluster_run *run)
{
    struct lab_tally *tally = &run->tally;
    const struct lab_limits *limits = &run->scenario->limits;
    const int64_t first_whole =
        lab_first_whole(run->scenario, &run->strategy->settings.strategy, run->start_ns);
    struct cass_partition *keys =
        calloc(run->key_count, sizeof *keys); /* the rows of each key in all partitions */
    for (size_t i = 0; i < cass_partition_count(run->cluster); i++) {
        struct cass_partition_view view;
        cass_partition_at(run->cluster, i, &view);
        if (view.written_rows == 0)
            continue;
        if (keys != NULL) {
            keys[view.key].rows += view.written_rows;
            lab_bytes_add(&keys[view.key].bytes, view.written_bytes);
        }
        if (lab_rows_go(run->scenario)) {
            bool is_ttl = run->scenario->row_ttl_ns > 0;
            *(is_ttl ? &tally->rows_expired : &tally->rows_deleted) += view.tombstones;
            lab_tally_left(tally, view.rows, lab_tombstones_of(run->scenario, view.tombstones));
        }
        bool is_closed = view.bucket >= first_whole &&
                         view.bucket < lab_current_bucket(run, (uint32_t)view.key, run->end_ns);
        uint32_t index = lab_partition_find(&run->oracles, (uint32_t)view.key, view.bucket);
        const struct lab_disk *disk = index == LAB_NO_PARTITION ? NULL : run->oracles.partitions[index].disk;
        const struct cass_partition partition = weigh(run, &view, disk);
        int64_t first_ns = index == LAB_NO_PARTITION ? run->end_ns : run->oracles.partitions[index].first_ns;
        tally->placed += view.written_rows;
        lab_tally_partition(tally, limits, &partition, first_ns, is_closed);
        const struct lab_key_name key = {"", 0, (uint64_t)view.key};
        lab_tally_largest(tally, &key, view.bucket, &partition);
    }
    for (uint32_t key = 0; keys != NULL && key < run->key_count; key++) {
        const struct cass_partition_view view = {
            .key = key, .written_rows = keys[key].rows, .written_bytes = keys[key].bytes};
        const struct cass_partition whole = weigh(run, &view, run->oracles.keys[key].disk);
        if (view.written_rows > 0)
            lab_tally_key(tally, &whole);
    }
    if (tally->over_limit > 0 && tally->first_over_ns == INT64_MAX)
        tally->first_over_ns = run->end_ns; /* by tombstones, since some time before */
    tally->out_of_memory = tally->out_of_memory || (keys == NULL && run->key_count > 0);
    free(keys);
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        struct lab_largest *largest = &tally->largest[unit];
        if (largest->size > 0)
            lab_rows_key_name(run->rows, (uint32_t)largest->key_index, largest->key, sizeof largest->key);
    }
}

void lab_cluster_tally(struct lab_cluster_run *run)
{
    if (run->idgen != NULL) {
        lab_idgen_tally(run);
        cluster_observers_finish(run);
        return;
    }
    settle(run);
    lab_slices_begin(&run->tally.slices, run->start_ns, run->end_ns);
    for (uint32_t i = 0; i < run->key_count; i++)
        lab_bytes_add(&run->tally.payload_bytes, run->keys[i].bytes);
    tally_partitions(run);
    for (uint32_t node = 0; node < run->node_count; node++) {
        struct cass_node_stats stats;
        cass_node_stats(run->cluster, node, &stats);
        run->tally.nodes[node] = (struct cass_node_load){stats.rows, stats.bytes};
        run->tally.tombstone_warnings += stats.tombstone_warnings;
    }
    cluster_emit(run, RESULT, .key = LAB_NO_KEY);
    cluster_observers_finish(run);
}

/* --- Records what the agents believe to be one key's current bucket around its first change. They are
 * observed at intervals, without affecting them, until the change is over. The observations before the change
 * are kept in the same list, which is thinned out when it grows. */

#define LOOKS_BEFORE 40u
#define LOOKS_AFTER  120u
#define VIEWS_AGENTS 64u /* more do not fit a chart */

static bool add_view(struct lab_cluster_run *run, const struct lab_view *view)
{
    struct lab_views *views = &run->views;
    if (!sim_grow(&views->items, &views->capacity, views->count + 1, sizeof *views->items)) {
        run->out_of_memory = true;
        return false;
    }
    views->items[views->count++] = *view;
    return true;
}

void lab_views_sample(struct lab_cluster_run *run, int64_t now_ns)
{
    struct lab_views *views = &run->views;
    if (run->views_done || run->key_count == 0 || now_ns < run->views_next_ns)
        return;
    run->views_next_ns = now_ns + run->views_period_ns;
    views->agents = run->agent_count < VIEWS_AGENTS ? run->agent_count : VIEWS_AGENTS;
    for (uint32_t i = 0; i < views->agents; i++) {
        struct lab_view view = {.time_ns = now_ns, .agent = i};
        view.is_known =
            run->agents[i].is_up && bk_agent_view(run->agents[i].agent, lab_agent_clock(run, i),
                                                  run->views_key, &view.bucket, &view.is_changing);
        if (!add_view(run, &view))
            return;
    }
    if (views->key == NULL && views->count >= 2 * (size_t)LOOKS_BEFORE * views->agents) {
        size_t dropped = (size_t)LOOKS_BEFORE * views->agents;
        memmove(views->items, views->items + dropped, (views->count - dropped) * sizeof *views->items);
        views->count -= dropped;
    }
    run->views_done = views->key != NULL && now_ns >= run->views_until_ns;
}

static void hear_of_roll(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    struct lab_views *views = &run->views;
    const uint32_t key = event->key;
    (void)state;
    if (views->key != NULL || key != run->views_key || event->bucket <= event->value)
        return;
    char name[256];
    lab_rows_key_name(run->rows, key, name, sizeof name);
    views->key = strdup(name);
    if (views->key == NULL) {
        run->out_of_memory = true;
        return;
    }
    const int64_t now_ns = sim_queue_now(&run->queue), until_ns = run->keys[key].changes[event->bucket];
    views->change_ns = now_ns;
    views->until_ns = until_ns;
    int64_t over_ns = until_ns > now_ns ? until_ns : now_ns;
    run->views_until_ns = over_ns + (int64_t)LOOKS_AFTER / 3 * run->views_period_ns;
}

static uint64_t wants_rolls(const struct lab_cluster_run *run)
{
    return run->idgen == NULL && lab_rows_fire(run) ? CLUSTER_WANTS(STATE_CHANGED) : 0;
}

const struct cluster_observer cluster_views = {
    .name = "views", .wants = wants_rolls, .on_event = hear_of_roll};
