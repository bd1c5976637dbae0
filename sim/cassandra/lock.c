/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks of a key on one node, granted in the order of the requests: the lock of a counter at its leader, and
 * the lock that Paxos v2 takes at its coordinator. */
#include "coordination.h"
#include "state.h"
#include "traffic.h"

static uint32_t lock_hash(uint32_t node, uint32_t entity, bool is_counter)
{
    uint64_t name = (uint64_t)node << 33 | (uint64_t)entity << 1 | (is_counter ? 1 : 0);
    return (uint32_t)(sim_mix64(name) >> 32);
}

static uint32_t lock_find(const struct cass_cluster *cluster, uint32_t node, uint32_t entity, bool is_counter)
{
    const struct cass_table *table = &cluster->lock_table;
    uint32_t hash = lock_hash(node, entity, is_counter);
    for (const struct cass_slot *slot = cass_table_first(table, hash); slot->index != CASS_NONE;
         slot = cass_table_next(table, slot)) {
        const struct lock *lock = lock_at(cluster, slot->index);
        if (lock->node == node && lock->entity == entity && (lock->is_counter != 0) == is_counter)
            return slot->index;
    }
    return CASS_NONE;
}

bool cass_lock_take(struct cass_cluster *cluster, uint32_t index, bool is_counter)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t found = lock_find(cluster, operation->place, operation->entity, is_counter);
    if (found == CASS_NONE) {
        uint32_t fresh = cass_pool_take(&cluster->locks);
        *lock_at(cluster, fresh) = (struct lock){
            .node = operation->place, .entity = operation->entity, .is_counter = is_counter, .holder = index};
        cass_lock_enter(cluster, fresh);
        operation->has_lock = true;
        return true;
    }
    struct lock *lock = lock_at(cluster, found);
    operation->next = CASS_NONE;
    if (lock->head == CASS_NONE)
        lock->head = index;
    else
        operation_at(cluster, lock->tail)->next = index;
    lock->tail = index;
    return false;
}

void cass_lock_enter(struct cass_cluster *cluster, uint32_t index)
{
    const struct lock *lock = lock_at(cluster, index);
    cass_table_put(&cluster->lock_table, lock_hash(lock->node, lock->entity, lock->is_counter != 0), index);
}

void cass_lock_release(struct cass_cluster *cluster, uint32_t index, bool is_counter)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t found = lock_find(cluster, operation->place, operation->entity, is_counter);
    operation->has_lock = false;
    struct lock *lock = lock_at(cluster, found);
    uint32_t next = lock->head;
    if (next == CASS_NONE) {
        cass_table_remove(&cluster->lock_table, lock_hash(operation->place, operation->entity, is_counter),
                          found);
        cass_pool_give(&cluster->locks, found);
        return;
    }
    lock->head = operation_at(cluster, next)->next;
    lock->holder = next;
    operation_at(cluster, next)->has_lock = true;
    if (is_counter)
        cass_count_locked(cluster, next);
    else
        cass_cas_locked(cluster, next);
}

void cass_lock_forget(struct cass_cluster *cluster, uint32_t index, bool is_counter)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    struct lock *lock = lock_at(cluster, lock_find(cluster, operation->place, operation->entity, is_counter));
    uint32_t before = CASS_NONE, at = lock->head;
    while (at != index && at != CASS_NONE) {
        before = at;
        at = operation_at(cluster, at)->next;
    }
    if (at == CASS_NONE)
        return;
    if (before == CASS_NONE)
        lock->head = operation->next;
    else
        operation_at(cluster, before)->next = operation->next;
    if (lock->tail == index)
        lock->tail = before;
}
