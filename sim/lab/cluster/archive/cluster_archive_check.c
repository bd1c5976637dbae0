/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that a loaded run is consistent: each event has an object that waits for it, and counts of pending
 * objects are correct. The run uses these numbers without further checks. */
#include <stdlib.h>

#include "cluster_archive.h"
#include "evidence.h"
#include "idgen_private.h"
#include "kernel/queue_archive.h"

struct tally {
    uint64_t arrivals, ends;
    uint8_t *deletes; /* for each slot: 1 if it is free, 2 if it has an event */
    uint8_t *faults;  /* for each active fault: whether it has an event that ends it */
    uint8_t *deploys; /* for each agent: a bit for each future change */
};

static bool agent_event_fits(const struct lab_cluster_run *run, const struct sim_pending *pending,
                             struct tally *tally)
{
    const struct sim_event *event = &pending->event;
    if (event->target >= run->agent_count)
        return false;
    const struct lab_host_agent *agent = &run->agents[event->target];
    switch (event->kind) {
    case LAB_EVENT_TIMEOUT:
        return run->idgen != NULL || event->a < run->operation_count;
    case LAB_EVENT_TICK:
        return agent->tick == pending->handle;
    case LAB_EVENT_RESTART:
        return !agent->is_up && agent->restart == pending->handle;
    case LAB_EVENT_TAKE:
        return run->idgen != NULL;
    case LAB_EVENT_DEPLOY:
        if (run->idgen != NULL || event->a >= run->strategy->settings.change_count ||
            (tally->deploys[event->target] >> event->a & 1) != 0)
            return false;
        tally->deploys[event->target] |= (uint8_t)(1u << event->a);
        return true;
    default:
        return false;
    }
}

static bool take(uint8_t *marks, size_t at, uint8_t mark)
{
    bool is_first = marks[at] == 0;
    marks[at] = mark;
    return is_first;
}

/* A slot that is not free waits for its time or for an answer. */
static bool delete_event_fits(const struct lab_cluster_run *run, const struct sim_event *event,
                              struct tally *tally)
{
    if (event->target >= run->deletes.capacity)
        return false;
    const struct lab_delete *item = &run->deletes.items[event->target];
    if (event->kind == LAB_EVENT_DELETE_TIMEOUT)
        return true;
    tally->arrivals += item->tries == 0;
    return !item->is_waiting && take(tally->deletes, event->target, 2);
}

static bool event_fits(const struct lab_cluster_run *run, const struct sim_pending *pending,
                       struct tally *tally)
{
    const struct sim_event *event = &pending->event;
    switch (event->kind) {
    case LAB_EVENT_ARRIVAL:
        tally->arrivals++;
        return run->idgen == NULL && event->target < run->key_count;
    case LAB_EVENT_READ:
        tally->arrivals++;
        return run->idgen == NULL && event->target < run->key_count && event->a < LAB_READ_KINDS &&
               run->reads[event->a] != NULL;
    case LAB_EVENT_END:
        tally->arrivals++;
        return run->idgen == NULL && run->scenario->row_ttl_ns > 0;
    case LAB_EVENT_IDS_END:
        tally->ends++;
        return run->idgen != NULL;
    case LAB_EVENT_KEEP:
    case LAB_EVENT_FAULT:
        return event->target < run->scenario->fault_count;
    case LAB_EVENT_FAULT_END:
        return event->target < run->active_count && run->active[event->target].is_used &&
               take(tally->faults, event->target, 1);
    case LAB_EVENT_DELETE:
    case LAB_EVENT_DELETE_TIMEOUT:
        return delete_event_fits(run, event, tally);
    case CASS_EVENT_REPLY:
        return lab_is_possible_tag(run, event->a);
    default:
        return agent_event_fits(run, pending, tally) ||
               (event->kind >= CASS_EVENT_FIRST && event->kind <= CASS_EVENT_LAST);
    }
}

static bool deletes_fit(const struct lab_cluster_run *run, const struct tally *tally, uint64_t *open)
{
    for (uint32_t i = 0; i < run->deletes.capacity; i++) {
        const struct lab_delete *item = &run->deletes.items[i];
        if (item->is_waiting ? tally->deletes[i] != 0 : tally->deletes[i] == 0)
            return false;
        *open += tally->deletes[i] != 1 && item->tries > 0;
    }
    return true;
}

static bool counts_fit(const struct lab_cluster_run *run, const struct tally *tally)
{
    uint64_t operations = 0, failing = run->scenario->network.loss > 0;
    for (uint32_t i = 0; i < run->agent_count; i++) {
        failing += !run->agents[i].is_up;
        operations += run->idgen != NULL && run->idgen->clients[i].is_asking;
        for (uint32_t j = 0; j < run->agents[i].operations_met; j++) {
            const struct lab_host_operation *operation = &run->agents[i].operations[j];
            operations += operation->is_active;
            if (operation->is_active && operation->has_counted && run->oracles.increments.capacity == 0)
                return false;
        }
    }
    for (size_t i = 0; i < run->active_count; i++)
        failing += run->active[i].is_used;
    bool has_arrivals =
        run->idgen != NULL ? run->arrivals_pending <= tally->ends : run->arrivals_pending == tally->arrivals;
    return deletes_fit(run, tally, &operations) && has_arrivals && operations == run->operations_active &&
           failing == run->oracles.health.active;
}

/* Checks that histories have room for the future changes. */
static bool histories_fit(const struct lab_cluster_run *run, const struct tally *tally)
{
    for (uint32_t i = 0; run->idgen == NULL && i < run->agent_count; i++) {
        uint32_t next = 0, count = run->strategy->settings.change_count;
        while (next < count && (tally->deploys[i] >> next & 1) == 0)
            next++;
        if (run->agents[i].history.count + (count - next) > BK_ERAS_MAX)
            return false;
    }
    return true;
}

/* The observers of stored rows look up the keys of partitions, so these must exist. */
static bool partitions_fit(const struct lab_cluster_run *run)
{
    for (size_t i = 0; i < cass_partition_count(run->cluster); i++) {
        struct cass_partition_view view;
        cass_partition_at(run->cluster, i, &view);
        if (view.key >= run->key_count || !lab_is_possible_bucket(run, view.bucket))
            return false;
    }
    return true;
}

bool lab_archive_fits(const struct lab_cluster_run *run, bool *has_memory)
{
    struct tally tally = {.deletes = calloc((size_t)run->deletes.capacity + 1, 1),
                          .faults = calloc(run->active_count + 1, 1),
                          .deploys = calloc((size_t)run->agent_count + 1, 1)};
    struct sim_pending pending;
    *has_memory = tally.deletes != NULL && tally.faults != NULL && tally.deploys != NULL;
    bool ok = *has_memory;
    for (uint32_t i = 0; ok && i < run->deletes.free_count; i++)
        ok = take(tally.deletes, run->deletes.free_slots[i], 1);
    for (size_t at = 0; ok && sim_queue_next_pending(&run->queue, &at, &pending);)
        ok = event_fits(run, &pending, &tally);
    ok = ok && counts_fit(run, &tally) && histories_fit(run, &tally) && partitions_fit(run);
    free(tally.deletes);
    free(tally.faults);
    free(tally.deploys);
    return ok;
}

bool lab_is_possible_tag(const struct lab_cluster_run *run, uint64_t tag)
{
    if (run->idgen != NULL)
        return tag >> 32 < run->agent_count;
    if (tag >> 63 != 0)
        return (tag & UINT32_MAX) < run->deletes.capacity;
    return tag >> 48 < run->agent_count && (tag >> 32 & 0xffff) < run->operation_count;
}
