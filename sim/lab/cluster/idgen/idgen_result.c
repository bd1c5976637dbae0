/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metrics of a run of identifiers. */
#include <stdio.h>

#include "cluster_result.h"
#include "events.h"
#include "idgen.h"
#include "idgen_private.h"
#include "lab/metrics.h"

/* Uses what a read of all replicas finds: leased identifiers that no client has or took are lost. */
void lab_idgen_tally(struct lab_cluster_run *run)
{
    struct lab_idgen *idgen = run->idgen;
    uint64_t in_hand = 0;
    for (uint32_t stripe = 1; stripe <= idgen->config.stripes; stripe++) {
        int64_t columns[CASS_COLUMNS];
        uint32_t mask;
        if (cass_peek_merged(run->cluster, (uint64_t)stripe * 2, columns, &mask))
            idgen->leased += (uint64_t)(columns[0] - (int64_t)stripe) / idgen->config.stripes + 1;
    }
    for (uint32_t i = 0; i < run->agent_count; i++) {
        uint64_t left = run->agents[i].is_up ? bk_idgen_in_hand(&idgen->clients[i].idgen) : 0;
        if (run->agents[i].is_up)
            cluster_emit(run, IDS_END, .agent = i, .number = left);
        in_hand += left;
    }
    idgen->in_hand = in_hand;
    run->oracles.verdict.probes[LAB_PROBE_IDENTIFIERS] += idgen->leased;
}

bool lab_idgen_metrics(const struct lab_cluster_run *run, struct lab_metrics *out)
{
    const struct lab_idgen *idgen = run->idgen;
    const struct lab_violation *twice = &run->oracles.verdict.violations[LAB_ORACLE_UNIQUE];
    int64_t span_ns = (idgen->is_over ? idgen->last_given_ns : run->end_ns) - run->start_ns;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < run->agent_count; i++) {
        uint64_t given = idgen->clients[i].given;
        least = given < least ? given : least;
        most = given > most ? given : most;
    }
    uint64_t accounted = idgen->given - twice->count + idgen->in_hand;
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"ids.given", (double)idgen->given},
        {"ids.per_second", span_ns > 0 ? (double)idgen->given * 1e9 / (double)span_ns : 0},
        {"ids.client_least", (double)least},
        {"ids.client_most", (double)most},
        {"ids.leased", (double)idgen->leased},
        {"ids.in_hand", (double)idgen->in_hand},
        {"ids.lost", (double)(idgen->leased > accounted ? idgen->leased - accounted : 0)},
        {"ids.failed", (double)idgen->failed},
        {"locks.tried", (double)idgen->tried},
        {"locks.acquired", (double)idgen->acquired},
        {"locks.busy", (double)idgen->busy},
        {"locks.stale", (double)idgen->stale},
        {"writes.state_reads", (double)run->tally.state_reads},
        {"writes.state_writes", (double)run->tally.state_writes},
        {"writes.lwt", (double)run->tally.lwt},
        {"writes.lock_ops", (double)run->tally.lock_ops},
    };
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof figures / sizeof *figures; i++)
        ok = lab_metrics_add(out, figures[i].name, figures[i].value);
    static const enum lab_latency timed[] = {LAB_LATENCY_LOCK, LAB_LATENCY_LEASE, LAB_LATENCY_LWT};
    for (size_t i = 0; ok && i < sizeof timed / sizeof *timed; i++)
        ok = lab_metrics_of_latency(&run->latency[timed[i]], lab_latency_name(timed[i]), out);
    return ok && lab_metrics_add(out, "events", (double)run->events.events) &&
           lab_metrics_of_oracles(&run->oracles.verdict, out);
}
