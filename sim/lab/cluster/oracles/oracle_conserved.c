/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conserved: nothing is lost or made. Rows that came = acknowledged + refused + unresolved; in each partition
 * the rows stored are those acknowledged there and those of unknown outcome that took effect, by number and
 * by a 128-bit sum of hashes, and the cluster says the same; and counter columns hold what rows added - lost
 * + doubled, each told by the rows that asked for it; a sum of rows counted is never more than the bucket
 * holds (cluster_state.c). When all has been well for long enough, and no node has forgotten what it owed,
 * each acknowledged row is on all of its replicas, or a hint of it waits: an overloaded cluster delivers
 * late. */
#include <inttypes.h>

#include "cluster_run.h"
#include "lab/gone.h"

#define DELIVERY_RETRIES 8 /* of hints, until all that waited are delivered */

static void subtract_open(struct lab_cluster_run *run);
static bool is_fresh(const struct lab_cluster_run *run, uint32_t partition);
static void judge_counters(struct lab_cluster_run *run);

void lab_conserved_end(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    uint64_t told = oracles->acknowledged + run->refused + run->unresolved;
    if (run->tally.rows != told)
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "%" PRIu64 " rows came, and %" PRIu64 " were acknowledged, refused or left unresolved",
                    run->tally.rows, told);
    subtract_open(run);
    for (uint32_t i = 0; i < oracles->partition_count; i++) {
        const struct lab_partition *partition = &oracles->partitions[i];
        if (partition->stored != partition->acknowledged || partition->balance[0] != 0 ||
            partition->balance[1] != 0)
            lab_violate(run, LAB_ORACLE_CONSERVED, partition->key, 1,
                        "bucket %" PRId64 " got %" PRIu64 " rows, and %" PRIu64
                        " were acknowledged or open, or they are others",
                        partition->bucket, partition->stored, partition->acknowledged);
    }
    const struct cass_cluster_config *config = &run->scenario->network;
    bool is_spread =
        !oracles->hints_may_be_lost &&
        lab_health_well_ns(run) > oracles->lag_ns + config->timeout_write_ns + 2 * config->hint_retry_ns;
    bool is_delivered = is_spread && lab_health_well_ns(run) >
                                         lab_until(oracles->lag_ns, DELIVERY_RETRIES * config->hint_retry_ns);
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
        if (is_spread && view.owed_rows > 0 && !is_fresh(run, index))
            lab_violate(run, LAB_ORACLE_CONSERVED, (uint32_t)view.key, 1,
                        "bucket %" PRId64 ": %" PRIu64
                        " acknowledged rows are not on all replicas, long after "
                        "the last fault, nor do hints of them wait",
                        view.bucket, view.owed_rows);
        /* Whatever the cluster says of its hints: by now all of them are due. */
        else if (is_delivered && view.unspread_rows > 0 && !is_fresh(run, index))
            lab_violate(run, LAB_ORACLE_CONSERVED, (uint32_t)view.key, 1,
                        "bucket %" PRId64 ": %" PRIu64
                        " acknowledged rows are not on all replicas, so long after the last fault that "
                        "no hint can be under way",
                        view.bucket, view.unspread_rows);
    }
    const struct lab_deletes_open *deletes = &run->deletes;
    if (run->scenario->deletes.share > 0 && (tombstones < deletes->confirmed || tombstones > deletes->asked))
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "%" PRIu64 " deletes were asked and %" PRIu64 " confirmed, and there are %" PRIu64
                    " tombstones",
                    deletes->asked, deletes->confirmed, tombstones);
    if (lab_adds_to_counters(run))
        judge_counters(run);
}

/* Rows of unknown outcome that did take effect count as if they had been acknowledged. */
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
            oracles->partitions[index].balance[0] -= sim_mix64(row->row + 1);
            oracles->partitions[index].balance[1] -= sim_mix64(~row->row);
        }
    }
}

/* Its newest rows may still be on their way: to a replica, or as a hint. */
static bool is_fresh(const struct lab_cluster_run *run, uint32_t partition)
{
    const struct cass_cluster_config *config = &run->scenario->network;
    return partition != LAB_NO_PARTITION &&
           sim_queue_now(&run->queue) - run->oracles.partitions[partition].last_stored_ns <
               config->timeout_write_ns + 2 * config->hint_retry_ns + run->scenario->agents.timeout_ns;
}

static void judge_counters(struct lab_cluster_run *run)
{
    const struct lab_increments *increments = &run->oracles.increments;
    uint64_t total = cass_counters_total(run->cluster);
    uint64_t wanted = increments->amount_due - increments->amount_lost + increments->amount_doubled;
    if (total != wanted)
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "the counters hold %" PRIu64 ", and increments of %" PRIu64 " - %" PRIu64
                    " lost + %" PRIu64 " doubled make %" PRIu64,
                    total, increments->amount_due, increments->amount_lost, increments->amount_doubled,
                    wanted);
}
