/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search: breadth first, level by level, by several threads. It keeps a table of the states that were
 * reached, and the states of the current and the next level. An entry of the table takes 16 bytes: the
 * state's fingerprint, and how it was reached, that is, the place of its parent in the table and the number
 * of the move from there. Of several parents of the same level the one with the lowest fingerprint is kept,
 * so that paths do not depend on the threads. Two states with the same 64-bit fingerprint are taken for one:
 * of n states, the chance that any two have is n^2 / 2^65. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"
#include "kernel/grow.h"
#include "world.h"

#define ROOTS_MAX   32
#define NO_PARENT   ((UINT64_C(1) << 40) - 1)
#define LEVELS_MAX  255
#define BLOCK_NODES 256
#define THREADS_MAX 64u

/* meta: parent's place (40 bits), number of the move (16), level (8). */
struct entry {
    _Atomic uint64_t fingerprint, meta;
};
struct node {
    struct world world;
    uint64_t place;
};
struct level {
    struct node *nodes;
    size_t count, capacity;
};

struct search {
    struct space *space;
    const struct explore_config *config;
    struct entry *table;
    uint64_t mask, limit;
    unsigned level;
    struct level current;
    _Atomic size_t taken; /* nodes of the current level */
    _Atomic uint64_t states, transitions;
    _Atomic bool is_stopped;
    _Atomic bool is_out_of_memory;
    _Atomic uint64_t
        broken[LAB_ORACLE_COUNT]; /* lowest fingerprint of the level at which it broke first; 0: none */
    explore_progress *progress;
    void *context;
};
struct worker {
    pthread_t thread;
    struct search *search;
    struct level next;
    bool is_first;
};

static bool append(struct level *level, const struct world *world, uint64_t place)
{
    if (!sim_grow(&level->nodes, &level->capacity, level->count + 1, sizeof *level->nodes))
        return false;
    level->nodes[level->count++] = (struct node){*world, place};
    return true;
}

static uint64_t parent_of(uint64_t meta)
{
    return meta >> 24;
}

static bool is_better(const struct search *search, uint64_t meta, uint64_t than)
{
    uint64_t parent = parent_of(meta), other = parent_of(than);
    if ((meta & 255) != (than & 255) || other == NO_PARENT)
        return false;
    uint64_t mine = atomic_load_explicit(&search->table[parent].fingerprint, memory_order_relaxed);
    uint64_t its = atomic_load_explicit(&search->table[other].fingerprint, memory_order_relaxed);
    return mine < its || (mine == its && (meta >> 8 & 0xffff) < (than >> 8 & 0xffff));
}

/* Where the search for an entry begins. */
static uint64_t slot_of(const struct search *search, uint64_t fingerprint)
{
    return fingerprint * UINT64_C(0x9e3779b97f4a7c15) >> 16 & search->mask;
}

/* Adds a state. Returns whether it is new; *place is its place. */
static bool reach(struct search *search, uint64_t fingerprint, uint64_t meta, uint64_t *place)
{
    uint64_t at = slot_of(search, fingerprint);
    for (;; at = (at + 1) & search->mask) {
        struct entry *entry = &search->table[at];
        uint64_t found = atomic_load_explicit(&entry->fingerprint, memory_order_acquire);
        if (found == 0 && atomic_compare_exchange_strong(&entry->fingerprint, &found, fingerprint)) {
            uint64_t none = 0;
            *place = at;
            /* Another thread that has seen the fingerprint may have been first. */
            if (!atomic_compare_exchange_strong(&entry->meta, &none, meta))
                while (is_better(search, meta, none) &&
                       !atomic_compare_exchange_weak(&entry->meta, &none, meta)) {
                }
            return true;
        }
        if (found != fingerprint)
            continue;
        uint64_t than = atomic_load(&entry->meta);
        while ((than == 0 || is_better(search, meta, than)) &&
               !atomic_compare_exchange_weak(&entry->meta, &than, meta)) {
        }
        return false;
    }
}

static void note_broken(struct search *search, uint32_t broken, uint64_t fingerprint)
{
    for (unsigned o = 0; broken != 0; o++, broken >>= 1) {
        if ((broken & 1) == 0)
            continue;
        uint64_t first = atomic_load(&search->broken[o]);
        while ((first == 0 || fingerprint < first) &&
               !atomic_compare_exchange_weak(&search->broken[o], &first, fingerprint)) {
        }
    }
}

static bool expand(struct worker *worker, const struct node *node, uint32_t wanted, struct move *moves)
{
    struct search *search = worker->search;
    size_t count = explore_moves(search->space, &node->world, moves);
    if (count == SIZE_MAX)
        return false;
    /* The table is much larger than a processor's cache, so its lines are requested before they are needed.
     */
    uint64_t fingerprints[MOVES_MAX];
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = explore_fingerprint(search->space, &moves[i].to);
        __builtin_prefetch(&search->table[slot_of(search, fingerprints[i])]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct world *to = &moves[i].to;
        uint64_t fingerprint = fingerprints[i], place;
        uint64_t meta = node->place << 24 | (uint64_t)i << 8 | (search->level + 1);
        if (!reach(search, fingerprint, meta, &place))
            continue;
        if (!append(&worker->next, to, place)) {
            atomic_store(&search->is_out_of_memory, true);
            return false;
        }
        note_broken(search, explore_broken(search->space, to) & wanted, fingerprint);
    }
    atomic_fetch_add_explicit(&search->transitions, count, memory_order_relaxed);
    return true;
}

static bool has_stopped(const struct search *search)
{
    return atomic_load_explicit(&search->is_stopped, memory_order_relaxed) ||
           atomic_load_explicit(&search->is_out_of_memory, memory_order_relaxed);
}

/* Guarantees that no earlier level broke. */
static uint32_t wanted_of(const struct search *search)
{
    uint32_t wanted = 0;
    for (unsigned o = 0; o < LAB_ORACLE_COUNT; o++)
        wanted |= atomic_load(&search->broken[o]) == 0 ? 1u << o : 0;
    return wanted;
}

static void tell_progress(struct search *search)
{
    struct explore_result so_far = {.states = atomic_load(&search->states),
                                    .transitions = atomic_load(&search->transitions),
                                    .depth = search->level};
    if (search->progress != NULL && !search->progress(search->context, &so_far))
        atomic_store(&search->is_stopped, true);
}

/* The threads that expand levels. */
static unsigned threads_of(const struct search *search)
{
    unsigned threads = search->config->threads;
    return threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct search *search = worker->search;
    struct move *moves = malloc(MOVES_MAX * sizeof *moves);
    uint32_t wanted = wanted_of(search);
    if (moves == NULL)
        atomic_store(&search->is_out_of_memory, true);
    while (moves != NULL && !has_stopped(search)) {
        size_t begin = atomic_fetch_add(&search->taken, BLOCK_NODES), end = begin + BLOCK_NODES;
        if (begin >= search->current.count)
            break;
        for (size_t i = begin; i < end && i < search->current.count && !has_stopped(search); i++) {
            const size_t before = worker->next.count;
            if (!expand(worker, &search->current.nodes[i], wanted, moves))
                atomic_store(&search->is_stopped, true);
            /* Counted after each state, so that the table never fills up: the free entries suffice for the
             * moves of one state in each thread. */
            const size_t added = worker->next.count - before;
            if (atomic_fetch_add_explicit(&search->states, added, memory_order_relaxed) + added >=
                search->limit)
                atomic_store(&search->is_stopped, true);
        }
        if (worker->is_first)
            tell_progress(search);
    }
    free(moves);
    return NULL;
}

/* Expands the current level. Returns false when the search is to stop. */
static bool expand_level(struct search *search)
{
    struct worker workers[THREADS_MAX];
    unsigned count = search->current.count < BLOCK_NODES ? 1 : threads_of(search);
    atomic_store(&search->taken, 0);
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){.search = search, .is_first = i == 0};
        if (i > 0 && sim_thread_start(&workers[i].thread, work, &workers[i]) != 0)
            count = i;
    }
    work(&workers[0]);
    struct level next = workers[0].next;
    for (unsigned i = 1; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        for (size_t j = 0; j < workers[i].next.count; j++)
            if (!append(&next, &workers[i].next.nodes[j].world, workers[i].next.nodes[j].place))
                atomic_store(&search->is_out_of_memory, true);
        free(workers[i].next.nodes);
    }
    bool is_whole = !has_stopped(search);
    if (is_whole) {
        free(search->current.nodes);
        search->current = next;
        search->level++;
    } else {
        free(next.nodes);
    }
    return is_whole && search->current.count > 0 && search->level < LEVELS_MAX;
}

/* --- Paths. */
static uint64_t place_of(const struct search *search, uint64_t fingerprint)
{
    uint64_t at = slot_of(search, fingerprint);
    while (atomic_load(&search->table[at].fingerprint) != fingerprint)
        at = (at + 1) & search->mask;
    return at;
}

/* Follows the parents to a root, then repeats the moves from there. */
static bool find_path(struct search *search, enum lab_oracle oracle, struct explore_break *out)
{
    uint64_t place = place_of(search, atomic_load(&search->broken[oracle]));
    uint16_t moves[LEVELS_MAX + 1];
    unsigned steps = (unsigned)(atomic_load(&search->table[place].meta) & 255);
    for (unsigned i = steps; i > 0; i--) {
        uint64_t meta = atomic_load(&search->table[place].meta);
        moves[i - 1] = (uint16_t)(meta >> 8 & 0xffff);
        place = parent_of(meta);
    }
    struct world roots[ROOTS_MAX], world;
    uint64_t root = atomic_load(&search->table[place].fingerprint);
    size_t count = explore_roots(search->space, roots, ROOTS_MAX), r = 0;
    while (r + 1 < count && explore_fingerprint(search->space, &roots[r]) != root)
        r++;
    world = roots[r];
    *out = (struct explore_break){
        .oracle = oracle, .steps = steps, .path = calloc(steps + 1, sizeof *out->path)};
    struct move *found = malloc(MOVES_MAX * sizeof *found);
    uint8_t names[EXPLORE_AGENTS_MAX] = {0, 1, 2, 3};
    bool is_made = out->path != NULL && found != NULL;
    for (unsigned i = 0; i < steps && is_made; i++) {
        explore_moves(search->space, &world, found);
        explore_tell(search->space, &world, &found[moves[i]], names, &out->path[i]);
        world = found[moves[i]].to;
    }
    if (is_made)
        explore_explain(search->space, &world, out);
    free(found);
    return is_made;
}

static bool fill_result(struct search *search, struct explore_result *out, struct sim_error *error)
{
    out->states = atomic_load(&search->states);
    out->transitions = atomic_load(&search->transitions);
    out->depth = search->level;
    out->frontier = search->current.count;
    out->is_complete = search->current.count == 0;
    explore_fill(search->space, out);
    for (unsigned o = 0; o < LAB_ORACLE_COUNT; o++) {
        if (atomic_load(&search->broken[o]) == 0)
            continue;
        if (!find_path(search, (enum lab_oracle)o, &out->broken[out->broken_count++]))
            return sim_fail_memory(error);
    }
    return true;
}

static bool begin(struct search *search, struct sim_error *error)
{
    uint64_t entries = 1024;
    while (entries / 8 < (uint64_t)MOVES_MAX * threads_of(search) ||
           2 * entries * sizeof(struct entry) <= search->config->memory_bytes)
        entries *= 2;
    search->mask = entries - 1;
    search->limit = entries / 8 * 7;
    if (search->config->states_max < search->limit)
        search->limit = search->config->states_max;
    search->table = sim_memory_zeroed(entries * sizeof *search->table);
    if (search->table == NULL)
        return sim_fail_memory(error);
    struct world roots[ROOTS_MAX];
    size_t count = explore_roots(search->space, roots, ROOTS_MAX);
    for (size_t i = 0; i < count; i++) {
        uint64_t place;
        if (!reach(search, explore_fingerprint(search->space, &roots[i]), NO_PARENT << 24, &place))
            continue;
        if (!append(&search->current, &roots[i], place))
            return sim_fail_memory(error);
    }
    atomic_store(&search->states, search->current.count);
    return true;
}

bool explore_run(const struct explore_config *config, explore_progress *progress, void *context,
                 struct explore_result *out, struct sim_error *error)
{
    struct search search = {.config = config, .progress = progress, .context = context};
    memset(out, 0, sizeof *out);
    search.space = explore_space(config, error);
    if (search.space == NULL)
        return false;
    bool is_right = begin(&search, error);
    while (is_right && expand_level(&search)) {
    }
    is_right = is_right && !explore_failed(search.space, error);
    if (is_right && atomic_load(&search.is_out_of_memory))
        is_right = sim_fail_memory(error);
    is_right = is_right && fill_result(&search, out, error);
    free(search.current.nodes);
    free(search.table);
    explore_space_free(search.space);
    if (!is_right)
        explore_result_free(out);
    return is_right;
}

void explore_result_free(struct explore_result *result)
{
    for (uint32_t i = 0; i < result->broken_count; i++)
        free(result->broken[i].path);
    result->broken_count = 0;
}
