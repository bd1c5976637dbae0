/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of the queue for events of sources, of which each has at most one: a tree of losers. An event that
 * is pushed while its source's last one is handled replaces it in one walk from a leaf to the root, and needs
 * no slot. */
#include <assert.h>
#include <stdlib.h>

#include "kernel/memory.h"
#include "kernel/queue.h"

/* How a source is given in the tree, in which "never" is the last time. */
static uint64_t player_of(const struct sim_queue_sources *sources, uint32_t source)
{
    uint64_t since = (uint64_t)sources->times_ns[source] - (uint64_t)sources->base_ns;
    return (since < SIM_QUEUE_SINCE_MAX ? since : SIM_QUEUE_SINCE_MAX) << SIM_QUEUE_SOURCE_BITS | source;
}

static bool is_before(const struct sim_queue_sources *sources, uint64_t left, uint64_t right)
{
    uint32_t other = sim_queue_source_of(right);
    struct sim_queue_item item = {sources->times_ns[other], sources->ties[other]};
    return sim_queue_is_source_before(sources, sim_queue_source_of(left), &item);
}

uint64_t sim_queue_play_ties(struct sim_queue_sources *sources, size_t node, uint64_t player)
{
    for (; node > 0; node /= 2) {
        uint64_t other = sources->losers[node];
        bool is_lost = is_before(sources, other, player);
        sources->losers[node] = is_lost ? player : other;
        player = is_lost ? other : player;
    }
    return player;
}

/* Plays all games below a node, and returns the winner. */
static uint64_t play_below(struct sim_queue_sources *sources, uint32_t node)
{
    if (node >= sources->leaf_count)
        return player_of(sources, node - sources->leaf_count);
    uint64_t left = play_below(sources, 2 * node), right = play_below(sources, 2 * node + 1);
    bool is_left = is_before(sources, left, right);
    sources->losers[node] = is_left ? right : left;
    return is_left ? left : right;
}

void sim_queue_clear_sources(struct sim_queue_sources *sources)
{
    for (uint32_t i = 0; i < sources->leaf_count; i++) {
        sources->times_ns[i] = SIM_QUEUE_NEVER;
        sources->ties[i] = 0;
    }
    sources->open = sources->count > 0 ? SIM_QUEUE_REPLAY : 0;
    sources->first_ns = SIM_QUEUE_NEVER;
}

bool sim_queue_create_sources(struct sim_queue *queue, uint32_t kind, uint32_t count)
{
    struct sim_queue_sources *sources = &queue->sources;
    uint32_t leaf_count = 2;
    assert(sources->count == 0);
    sources->kind = kind;
    if (count > SIM_QUEUE_SOURCES_MAX)
        return true;
    while (leaf_count < count)
        leaf_count *= 2;
    sources->times_ns = sim_memory_take(leaf_count * sizeof *sources->times_ns);
    sources->ties = sim_memory_take(leaf_count * sizeof *sources->ties);
    sources->losers = sim_memory_take(leaf_count * sizeof *sources->losers);
    if (sources->times_ns == NULL || sources->ties == NULL || sources->losers == NULL)
        return false;
    sources->count = count;
    sources->leaf_count = leaf_count;
    sim_queue_clear_sources(sources);
    return true;
}

/* The source whose event was popped has no further one now, or the tree must be played again. */
void sim_queue_close_sources(struct sim_queue *queue)
{
    struct sim_queue_sources *sources = &queue->sources;
    uint32_t open = sources->open;
    if (open == 0)
        return;
    sources->open = 0;
    if (open == SIM_QUEUE_REPLAY) {
        sources->base_ns = queue->now_ns;
        sources->losers[0] = play_below(sources, 1);
        sources->first_ns = sources->times_ns[sim_queue_source_of(sources->losers[0])];
    } else {
        sources->times_ns[open - 1] = SIM_QUEUE_NEVER;
        sim_queue_play(sources, player_of(sources, open - 1));
    }
    sim_queue_note_later(queue);
}

/* For an event of a source whose event was not the last one that was popped from the tree, or for a time that
 * is too distant for the tree. Shuffled ties need the number of a push, which the tree does not have. */
bool sim_queue_push_source_rare(struct sim_queue *queue, int64_t time_ns, uint32_t source)
{
    struct sim_queue_sources *sources = &queue->sources;
    uint64_t since = (uint64_t)time_ns - (uint64_t)queue->now_ns;
    if (sources->count == 0 || queue->is_shuffled || since >= SIM_QUEUE_SINCE_MAX)
        return sim_queue_push_later(queue, time_ns,
                                    &(struct sim_event){.kind = sources->kind, .target = source}) != 0;
    if (!sim_queue_prepare(queue, time_ns))
        return false;
    if (sources->open != SIM_QUEUE_REPLAY)
        sim_queue_close_sources(queue);
    assert(source < sources->count && sources->times_ns[source] == SIM_QUEUE_NEVER);
    sources->times_ns[source] = time_ns;
    sources->ties[source] = queue->next_tie;
    queue->next_tie += SIM_QUEUE_TIE_ONE;
    queue->sequence++;
    queue->count++;
    sources->open = SIM_QUEUE_REPLAY;
    sources->first_ns = queue->now_ns;
    sim_queue_note_later(queue);
    return true;
}

/* Moves all events of sources into the heap. Returns false when out of memory. */
bool sim_queue_gather_sources(struct sim_queue *queue)
{
    struct sim_queue_sources *sources = &queue->sources;
    sim_queue_close_sources(queue);
    for (uint32_t source = 0; source < sources->count; source++) {
        int64_t time_ns = sources->times_ns[source];
        if (time_ns == SIM_QUEUE_NEVER)
            continue;
        if (queue->free_slot == 0 && !sim_queue_make_room(queue)) {
            sim_queue_note_later(queue);
            return false;
        }
        uint32_t slot = queue->free_slot;
        uint64_t since = (queue->next_tie - sources->ties[source]) >> SIM_QUEUE_SLOT_BITS;
        queue->free_slot = (uint32_t)queue->slots[slot].event.a;
        queue->slots[slot] = (struct sim_queue_slot){{.kind = sources->kind, .target = source},
                                                     (queue->sequence - since) << SIM_QUEUE_SLOT_BITS | slot};
        sim_queue_place_item(queue, (struct sim_queue_item){time_ns, sources->ties[source] | slot}, false);
        sources->times_ns[source] = SIM_QUEUE_NEVER;
        sources->open = SIM_QUEUE_REPLAY;
        sources->first_ns = queue->now_ns;
    }
    return true;
}
