/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conserved: nothing is lost or invented. The rows that arrived are the sum of acknowledged, refused and
 * unresolved rows. In each partition, the stored rows are those that were acknowledged there and those of
 * unknown outcome that took effect, by number and by a 128-bit sum of hashes, and the cluster reports the
 * same. A counter column has the increments of rows, less lost ones and plus repeated ones, each of them
 * according to the rows that made the requests. A sum of counted rows never exceeds the rows in the bucket
 * (cluster_state.c). After the run all faults end, and the cluster runs on for as long as it may need to
 * deliver pending writes. Then each row that any replica has is on all replicas, unless a node has lost its
 * hints. The oracle itself counts which replica has which row, as copies due less copies made (ledger.c); it
 * does not rely on what the cluster reports about its hints. */
#include <inttypes.h>

#include "cluster_run.h"
#include "evidence.h"
#include "history.h"
#include "lab/scenario.h"
#include "oracles.h"

#define EVENTS_A_LOOK  4096 /* between two checks for a stop of the run */
#define HINTS_A_PAGE   128
#define PAGE_TRIPS     64
#define LOOKS_AT_HINTS 2
#define PAUSES_LONGEST 28  /* times the mean; one in 10^12 is longer */
#define LOSS_DELIVERED 0.3 /* a network that loses more messages need not deliver in time */

/* Rows of unknown outcome that took effect count as acknowledged. */
static void subtract_open(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    const struct lab_open_rows *lists[] = {&oracles->open, &oracles->moved};
    for (int list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            const struct lab_open_row *row = &lists[list]->items[i];
            uint32_t index = lab_partition_find(oracles, row->key, row->bucket);
            bool is_there = (row->is_heard && !row->is_acknowledged) ||
                            cass_row_is_open(run->cluster, row->key, row->bucket, row->row);
            if (index == LAB_NO_PARTITION || !is_there)
                continue;
            oracles->partitions[index].acknowledged++;
            oracles->partitions[index].balance -= sim_mix64(row->row + 1);
        }
    }
}

static void judge_partitions(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    subtract_open(run);
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        if (partition->stored != partition->acknowledged || partition->balance != 0)
            lab_violate(run, LAB_ORACLE_CONSERVED, partition->key, 1,
                        "bucket %" PRId64 " got %" PRIu64 " rows, and %" PRIu64
                        " were acknowledged or open, or the rows differ",
                        partition->bucket, partition->stored, partition->acknowledged);
    }
    uint64_t tombstones = 0;
    for (size_t i = 0; i < cass_partition_count(run->cluster); i++) {
        struct cass_partition_view view;
        cass_partition_at(run->cluster, i, &view);
        uint32_t index = lab_partition_find(oracles, (uint32_t)view.key, view.bucket);
        uint64_t stored = index == LAB_NO_PARTITION ? 0 : oracles->partitions[index].stored;
        tombstones += view.tombstones;
        uint64_t gone = lab_rows_go(run->scenario) ? view.tombstones : 0;
        if (view.written_rows != stored || view.rows + gone != stored)
            lab_violate(run, LAB_ORACLE_CONSERVED, (uint32_t)view.key, 1,
                        "bucket %" PRId64 " got %" PRIu64 " rows, and the cluster holds %" PRIu64
                        " and %" PRIu64 " tombstones",
                        view.bucket, stored, view.rows, view.tombstones);
    }
    const struct lab_deletes_open *deletes = &run->deletes;
    lab_expired_end(run, tombstones);
    if (run->scenario->deletes.share > 0 && (tombstones < deletes->confirmed || tombstones > deletes->asked))
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "%" PRIu64 " deletes were requested and %" PRIu64 " confirmed, but there are %" PRIu64
                    " tombstones",
                    deletes->asked, deletes->confirmed, tombstones);
}

static void judge_counters(struct lab_cluster_run *run)
{
    const struct lab_increments *increments = &run->oracles.increments;
    uint64_t total = cass_counters_total(run->cluster);
    uint64_t wanted = increments->amount_due - increments->amount_lost + increments->amount_doubled;
    if (total != wanted)
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "the counters hold %" PRIu64 ", but %" PRIu64 " increments - %" PRIu64 " lost + %" PRIu64
                    " doubled make %" PRIu64,
                    total, increments->amount_due, increments->amount_lost, increments->amount_doubled,
                    wanted);
}

/* With ANY, a hint is enough to acknowledge a row, and the row may exist only in hints until they are
 * delivered. */
static bool hints_may_hold_rows(const struct lab_cluster_run *run)
{
    return run->scenario->consistency.write == CASS_ANY;
}

void lab_conserved_end(struct lab_cluster_run *run)
{
    uint64_t told = run->oracles.acknowledged + run->refused + run->unresolved;
    if (run->tally.rows != told)
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "%" PRIu64 " rows arrived, but %" PRIu64 " were acknowledged, refused or left unresolved",
                    run->tally.rows, told);
    if (!hints_may_hold_rows(run))
        judge_partitions(run);
    if (lab_adds_to_counters(run))
        judge_counters(run);
}

/* A request that a slow node has begun takes the longer time even if the node is not slow any more. */
static int64_t served_by_ns(const struct lab_cluster_run *run)
{
    int64_t latest_ns = sim_queue_now(&run->queue);
    for (uint32_t node = 0; node < cass_node_count(run->cluster); node++) {
        int64_t by_ns = cass_node_served_by_ns(run->cluster, node);
        latest_ns = by_ns > latest_ns ? by_ns : latest_ns;
    }
    return latest_ns;
}

/* Returns the time by which all pending writes must be delivered: when current requests have ended and hints
 * have been dispatched, plus the time of a contended message for each page of hints, the service time of each
 * hint, and the pause of a node. If messages are lost, it is the time that a run has to drain. */
static int64_t delivered_by_ns(const struct lab_cluster_run *run)
{
    const struct cass_cluster_config *config = &run->scenario->network;
    int64_t served_ns = served_by_ns(run);
    if (config->loss > 0)
        return lab_until(lab_until(served_ns, LAB_DRAIN_NS), run->oracles.lag_ns);
    uint64_t owed = run->oracles.copies_due;
    owed += hints_may_hold_rows(run) ? run->oracles.acknowledged * run->oracles.replicas : 0;
    int64_t copies = (int64_t)(owed < INT32_MAX ? owed : INT32_MAX);
    int64_t page_ns = lab_times(PAGE_TRIPS, lab_longest_trip_ns(run->scenario));
    int64_t until_ns = lab_until(lab_until(served_ns, run->oracles.lag_ns),
                                 lab_times(LOOKS_AT_HINTS, config->hint_retry_ns));
    until_ns =
        lab_until(until_ns, config->timeout_write_ns + config->timeout_read_ns + config->timeout_counter_ns);
    until_ns =
        lab_until(until_ns, lab_times(PAUSES_LONGEST, config->gc_every_ns > 0 ? config->gc_lasts_ns : 0));
    return lab_until(until_ns,
                     lab_times(copies / HINTS_A_PAGE + 1, page_ns) + lab_times(copies, config->write_ns));
}

/* Lets the cluster deliver messages and hints, without faults and agents. Returns false if it was stopped or
 * out of memory. */
static bool deliver(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    int64_t until_ns = delivered_by_ns(run), time_ns;
    struct sim_event event;
    lab_copies_alone(run);
    if (run->replay != NULL)
        return lab_replay_rest(run);
    cass_heal(run->cluster);
    bool waits_for_all = hints_may_hold_rows(run); /* copies are due only for rows that a replica has */
    for (uint64_t i = 1; oracles->copies_due > 0 || waits_for_all; i++) {
        if (!sim_queue_pop(&run->queue, &time_ns, &event) || time_ns > until_ns)
            break;
        if (event.kind >= CASS_EVENT_FIRST && event.kind <= CASS_EVENT_LAST)
            cass_handle(run->cluster, &event);
        if (!cass_cluster_is_sound(run->cluster) ||
            (i % EVENTS_A_LOOK == 0 && lab_run_is_stopped(run->context)))
            return false;
    }
    return true;
}

void lab_conserved_delivered(struct lab_cluster_run *run)
{
    const struct lab_oracles *oracles = &run->oracles;
    const struct cass_cluster_config *config = &run->scenario->network;
    int64_t behind_ns = served_by_ns(run) - sim_queue_now(&run->queue);
    /* A node that was down for longer than hints are kept, or whose queue is longer than that, need not get
     * them. */
    if (oracles->hints_may_be_lost ||
        lab_until(lab_health_unhealthy_ns(run), behind_ns) > config->hint_window_ns ||
        config->loss > LOSS_DELIVERED || !deliver(run))
        return;
    if (hints_may_hold_rows(run))
        judge_partitions(run);
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        if (partition->copies_balance != 0)
            lab_violate(
                run, LAB_ORACLE_CONSERVED, partition->key, 1,
                "bucket %" PRId64 " got %" PRIu64
                " rows; long after the end of all faults, some of them are not on every replica exactly once",
                partition->bucket, partition->stored);
    }
    lab_excuses_settle(run, true);
}
