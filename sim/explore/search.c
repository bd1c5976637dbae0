/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search: breadth first, level by level, by several threads. A state is a few numbers, so it fits whole
 * into the 16 bytes of its entry in the table, with its level; no two states are taken for one. The table is
 * all that is kept: the states of a level are met by going through it, and a path is found backwards, by
 * expanding the level before until a move leads to the state. Of several parents the one with the lowest
 * fingerprint is taken, so that paths do not depend on the threads. When the table is crowded, it is made
 * larger, and the level begins again: what was reached before is there already. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"
#include "kernel/grow.h"
#include "kernel/random.h"
#include "world.h"

#define ROOTS_MAX     15
#define LEVELS_MAX    254
#define BLOCK_ENTRIES 4096
#define THREADS_MAX   64u
#define ENTRIES_MIN   (UINT64_C(1) << 12)
/* A larger table is made in its full size, since the one before is kept until it is filled. */
#define ENTRIES_LARGE (UINT64_C(1) << 27)
#define LEVEL_SHIFT   56

/* A state as one number: its parts, each in as many bits as it may need, and a 1 at the end, so that no
 * `low` in use is 0. The highest 8 bits of the table's entries are the level + 1. */
__extension__ typedef unsigned __int128 wide;
struct packed {
    uint64_t low, high;
};
struct entry {
    _Atomic uint64_t low, high; /* high is set last */
};
enum { TICK_BITS = 4, READS_BITS = 2, FAULTS_BITS = 4 };

struct search {
    struct space *space;
    const struct explore_config *config;
    struct entry *table;
    uint64_t mask, largest; /* entries of the table now and at most, less 1 */
    bool is_whole;          /* without the reduction by partial order */
    unsigned level;
    uint64_t current;       /* states of the level */
    _Atomic uint64_t taken; /* entries of the table that were gone through for this level */
    _Atomic uint64_t states, transitions;
    _Atomic bool is_stopped, is_crowded, is_out_of_memory;
    /* Of the states that break a guarantee, the least level and in it the least fingerprint, below the
     * level's 8 bits; UINT64_MAX: none. */
    _Atomic uint64_t broken[LAB_ORACLE_COUNT];
    explore_progress *progress;
    void *context;
};
/* The moves of one state. */
struct batch {
    size_t count;
    struct packed packed[MOVES_MAX];
    struct move moves[MOVES_MAX];
};

/* --- Entries. */
static struct packed pack(const struct search *search, const struct world *world)
{
    const unsigned agents = search->config->agents;
    wide bits = world->store;
    for (unsigned i = 0; i < agents; i++)
        bits = bits << AGENT_BITS(agents) | world->agents[i];
    bits = bits << LATE_BITS | world->late;
    bits = bits << TICK_BITS | world->tick;
    bits = bits << READS_BITS | world->reads;
    bits = bits << FAULTS_BITS | world->faults;
    bits = bits << 1 | 1;
    return (struct packed){(uint64_t)bits, (uint64_t)(bits >> 64)};
}

/* Takes the last bits. */
static uint32_t take(wide *bits, unsigned count)
{
    const uint32_t value = (uint32_t)*bits & ((1u << count) - 1);
    *bits >>= count;
    return value;
}

static struct world unpack(const struct search *search, struct packed packed)
{
    const unsigned agents = search->config->agents;
    wide bits = ((wide)packed.high << 64 | packed.low) >> 1;
    struct world world = {0};
    world.faults = (uint8_t)take(&bits, FAULTS_BITS);
    world.reads = (uint8_t)take(&bits, READS_BITS);
    world.tick = (uint8_t)take(&bits, TICK_BITS);
    world.late = take(&bits, LATE_BITS);
    for (unsigned i = agents; i-- > 0;)
        world.agents[i] = take(&bits, AGENT_BITS(agents));
    world.store = take(&bits, STORE_BITS);
    return world;
}

/* Where the search for an entry begins. */
static uint64_t slot_of(const struct search *search, const struct packed *packed)
{
    return sim_mix64(packed->low ^ sim_mix64(packed->high)) & search->mask;
}

/* Adds a state, if it is new. */
static bool reach(struct search *search, const struct packed *packed, uint64_t level)
{
    const uint64_t high = packed->high | (level + 1) << LEVEL_SHIFT;
    for (uint64_t at = slot_of(search, packed);; at = (at + 1) & search->mask) {
        struct entry *entry = &search->table[at];
        uint64_t found = atomic_load_explicit(&entry->low, memory_order_relaxed), there;
        if (found == 0 && atomic_compare_exchange_strong(&entry->low, &found, packed->low)) {
            atomic_store_explicit(&entry->high, high, memory_order_release);
            return true;
        }
        if (found != packed->low)
            continue;
        /* Another thread may be about to set it. */
        while ((there = atomic_load_explicit(&entry->high, memory_order_acquire)) == 0) {
        }
        if (((there ^ high) << (64 - LEVEL_SHIFT)) == 0)
            return false;
    }
}

/* The state at a place of the table, if it is of the level. */
static bool is_of_level(const struct search *search, uint64_t at, uint64_t level, struct world *out)
{
    struct packed packed = {0, atomic_load_explicit(&search->table[at].high, memory_order_acquire)};
    if (packed.high >> LEVEL_SHIFT != level + 1)
        return false;
    packed.low = atomic_load_explicit(&search->table[at].low, memory_order_relaxed);
    packed.high &= (UINT64_C(1) << LEVEL_SHIFT) - 1;
    *out = unpack(search, packed);
    return true;
}

/* Makes a table of this many entries with the states so far. */
static bool make_table(struct search *search, uint64_t entries)
{
    struct entry *before = search->table, *table = sim_memory_zeroed(entries * sizeof *table);
    const uint64_t count = before == NULL ? 0 : search->mask + 1;
    if (table == NULL)
        return false;
    search->table = table;
    search->mask = entries - 1;
    for (uint64_t i = 0; i < count; i++) {
        struct packed packed = {atomic_load(&before[i].low), atomic_load(&before[i].high)};
        const uint64_t level = (packed.high >> LEVEL_SHIFT) - 1;
        packed.high &= (UINT64_C(1) << LEVEL_SHIFT) - 1;
        if (packed.low != 0)
            reach(search, &packed, level);
    }
    free(before);
    return true;
}

/* --- Levels. */
static void note_broken(struct search *search, uint32_t broken, const struct world *world)
{
    const uint64_t level = (uint64_t)search->level + 1;
    for (unsigned o = 0; broken != 0; o++, broken >>= 1) {
        uint64_t first = atomic_load_explicit(&search->broken[o], memory_order_relaxed);
        if ((broken & 1) == 0 || first >> LEVEL_SHIFT < level)
            continue;
        const uint64_t own = level << LEVEL_SHIFT | explore_fingerprint(search->space, world);
        while (own < first && !atomic_compare_exchange_weak(&search->broken[o], &first, own)) {
        }
    }
}

/* The guarantees that some state breaks. */
static uint32_t broken_by(const struct search *search)
{
    uint32_t broken = 0;
    for (unsigned o = 0; o < LAB_ORACLE_COUNT; o++)
        broken |= (uint32_t)(atomic_load(&search->broken[o]) != UINT64_MAX) << o;
    return broken;
}

/* Whether the free entries suffice for no more than the moves of two states in each thread. */
static bool is_table_crowded(const struct search *search)
{
    return atomic_load_explicit(&search->states, memory_order_relaxed) >= (search->mask + 1) / 16 * 15;
}

static bool has_stopped(const struct search *search)
{
    return atomic_load_explicit(&search->is_stopped, memory_order_relaxed) ||
           atomic_load_explicit(&search->is_crowded, memory_order_relaxed);
}

/* The moves of a state. The table is much larger than a processor's cache, so its lines are requested before
 * they are needed. */
static void expand(struct search *search, const struct world *world, struct batch *batch)
{
    batch->count = explore_moves(search->space, world, search->is_whole, batch->moves);
    if (batch->count == SIZE_MAX) {
        atomic_store(&search->is_crowded, true); /* or a pool is full, which explore_failed() tells */
        batch->count = 0;
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->packed[i] = pack(search, &batch->moves[i].to);
        __builtin_prefetch(&search->table[slot_of(search, &batch->packed[i])]);
    }
}

static void enter(struct search *search, struct batch *batch)
{
    uint64_t added = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const struct world *to = &batch->moves[i].to;
        if (!reach(search, &batch->packed[i], search->level + 1))
            continue;
        added++;
        note_broken(search, explore_broken(search->space, to, NULL), to);
    }
    atomic_fetch_add_explicit(&search->transitions, batch->count, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&search->states, added, memory_order_relaxed) + added >=
        search->config->states_max)
        atomic_store(&search->is_stopped, true);
    if (is_table_crowded(search))
        atomic_store(&search->is_crowded, true);
    batch->count = 0;
}

static void tell_progress(struct search *search)
{
    struct explore_result so_far = {.states = atomic_load(&search->states),
                                    .transitions = atomic_load(&search->transitions),
                                    .depth = search->level};
    if (search->progress != NULL && !search->progress(search->context, &so_far))
        atomic_store(&search->is_stopped, true);
}

/* A thread of a level. The moves of a state are entered after those of the next one are known. */
static void *work(void *argument)
{
    struct search *search = argument;
    struct batch *batches = calloc(2, sizeof *batches);
    struct world world;
    unsigned turn = 0;
    if (batches == NULL) {
        atomic_store(&search->is_out_of_memory, true);
        atomic_store(&search->is_stopped, true);
        return NULL;
    }
    while (!has_stopped(search)) {
        const uint64_t begin = atomic_fetch_add(&search->taken, BLOCK_ENTRIES), end = begin + BLOCK_ENTRIES;
        if (begin > search->mask)
            break;
        for (uint64_t at = begin; at < end && at <= search->mask && !has_stopped(search); at++)
            if (is_of_level(search, at, search->level, &world)) {
                expand(search, &world, &batches[turn]);
                turn = 1 - turn;
                enter(search, &batches[turn]);
            }
        tell_progress(search);
    }
    enter(search, &batches[1 - turn]);
    free(batches);
    return NULL;
}

/* The threads that expand levels. */
static unsigned threads_of(const struct search *search)
{
    const unsigned threads = search->config->threads;
    return threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
}

static void work_together(struct search *search)
{
    pthread_t threads[THREADS_MAX];
    unsigned count = search->current < BLOCK_ENTRIES / 16 ? 1 : threads_of(search);
    atomic_store(&search->taken, 0);
    for (unsigned i = 1; i < count; i++)
        if (sim_thread_start(&threads[i], work, search) != 0)
            count = i;
    work(search);
    for (unsigned i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Makes the memo and the table larger, if they are crowded. Returns false when they cannot be. */
static bool make_room(struct search *search)
{
    const uint64_t larger = 16 * (search->mask + 1), largest = search->largest + 1;
    const bool has_room = explore_make_room(search->space);
    if (!is_table_crowded(search))
        return has_room;
    return search->mask < search->largest &&
           make_table(search, larger < ENTRIES_LARGE && larger < largest ? larger : largest);
}

/* Expands the current level. Returns false when the search is to stop. */
static bool expand_level(struct search *search)
{
    const uint64_t states = atomic_load(&search->states), transitions = atomic_load(&search->transitions);
    work_together(search);
    while (atomic_load(&search->is_crowded) && !atomic_load(&search->is_stopped) && make_room(search)) {
        atomic_store(&search->is_crowded, false);
        atomic_store(&search->transitions, transitions);
        work_together(search);
    }
    if (has_stopped(search))
        return false;
    search->current = atomic_load(&search->states) - states;
    search->level++;
    return search->current > 0 && search->level < LEVELS_MAX;
}

/* --- Paths. */
/* The moves of a state, which may not have been expanded. */
static size_t moves_of(struct search *search, const struct world *world, struct move *moves)
{
    size_t count;
    do
        count = explore_moves(search->space, world, search->is_whole, moves);
    while (count == SIZE_MAX && explore_make_room(search->space));
    return count == SIZE_MAX ? 0 : count;
}

/* Finds a state of the level, and its move, that lead to the state with this fingerprint. */
static bool find_parent(struct search *search, unsigned level, uint64_t *fingerprint, uint8_t *move,
                        struct move *moves)
{
    struct world world;
    uint64_t lowest = UINT64_MAX;
    for (uint64_t at = 0; at <= search->mask; at++) {
        if (!is_of_level(search, at, level, &world))
            continue;
        const uint64_t parent = explore_fingerprint(search->space, &world);
        const size_t count = parent < lowest ? moves_of(search, &world, moves) : 0;
        for (size_t i = 0; i < count; i++)
            if (explore_fingerprint(search->space, &moves[i].to) == *fingerprint) {
                lowest = parent;
                *move = (uint8_t)i;
                break;
            }
    }
    *fingerprint = lowest;
    return lowest != UINT64_MAX;
}

static bool find_path(struct search *search, struct explore_break *out)
{
    uint8_t turns[LEVELS_MAX + 1], names[EXPLORE_AGENTS_MAX] = {0, 1, 2, 3};
    const uint64_t first = atomic_load(&search->broken[out->oracle]);
    uint64_t fingerprint = first & ((UINT64_C(1) << LEVEL_SHIFT) - 1);
    struct world worlds[ROOTS_MAX];
    struct move *moves = malloc(MOVES_MAX * sizeof *moves);
    out->steps = (uint32_t)(first >> LEVEL_SHIFT);
    out->newest = 1;
    out->path = calloc(out->steps + 1, sizeof *out->path);
    bool is_made = out->path != NULL && moves != NULL;
    for (unsigned i = out->steps; i > 0 && is_made; i--)
        is_made = find_parent(search, i - 1, &fingerprint, &turns[i - 1], moves);
    size_t root = explore_roots(search->space, worlds);
    while (--root > 0 && explore_fingerprint(search->space, &worlds[root]) != fingerprint) {
    }
    struct world *world = &worlds[root];
    for (unsigned i = 0; i < out->steps && is_made; i++) {
        moves_of(search, world, moves);
        explore_tell(search->space, world, &moves[turns[i]], names, &out->path[i]);
        *world = moves[turns[i]].to;
    }
    if (is_made)
        explore_broken(search->space, world, out);
    free(moves);
    return is_made;
}

static bool fill_result(struct search *search, struct explore_result *out, struct sim_error *error)
{
    out->states = atomic_load(&search->states);
    out->transitions = atomic_load(&search->transitions);
    out->depth = search->level;
    out->frontier = search->current;
    out->is_complete = search->current == 0;
    explore_fill(search->space, out);
    for (unsigned o = 0; o < LAB_ORACLE_COUNT; o++) {
        if ((broken_by(search) >> o & 1) == 0)
            continue;
        struct explore_break *broken = &out->broken[out->broken_count++];
        broken->oracle = (enum lab_oracle)o;
        if (!find_path(search, broken))
            return sim_fail_memory(error);
    }
    return true;
}

static bool begin(struct search *search, struct sim_error *error)
{
    uint64_t least = ENTRIES_MIN;
    while (least / 16 < 2 * (uint64_t)MOVES_MAX * threads_of(search))
        least *= 2;
    search->largest = least;
    while (2 * search->largest * sizeof(struct entry) <= search->config->memory_bytes)
        search->largest *= 2;
    if (!make_table(search, 16 * least < search->largest ? 16 * least : search->largest))
        return sim_fail_memory(error);
    search->largest--;
    struct world roots[ROOTS_MAX];
    const size_t count = explore_roots(search->space, roots);
    for (size_t i = 0; i < count; i++) {
        const struct packed packed = pack(search, &roots[i]);
        search->current += reach(search, &packed, 0);
    }
    atomic_store(&search->states, search->current);
    return true;
}

/* One search. wanted: it ends when all of these guarantees are broken; 0: it ends when all states are
 * expanded. */
static bool run(const struct explore_config *config, bool is_whole, uint32_t wanted,
                explore_progress *progress, void *context, struct explore_result *out,
                struct sim_error *error)
{
    struct search search = {.config = config, .is_whole = is_whole, .progress = progress, .context = context};
    memset(out, 0, sizeof *out);
    for (unsigned o = 0; o < LAB_ORACLE_COUNT; o++)
        atomic_init(&search.broken[o], UINT64_MAX);
    search.space = explore_space(config, error);
    if (search.space == NULL)
        return false;
    bool is_right = begin(&search, error);
    while (is_right && (wanted == 0 || (wanted & ~broken_by(&search)) != 0) && expand_level(&search)) {
    }
    is_right = is_right && !explore_failed(search.space, error);
    if (is_right && atomic_load(&search.is_out_of_memory))
        is_right = sim_fail_memory(error);
    is_right = is_right && fill_result(&search, out, error);
    free(search.table);
    explore_space_free(search.space);
    if (!is_right)
        explore_result_free(out);
    return is_right;
}

/* Of the paths to a break, those that the reduction keeps may hear an answer or two more than the shortest,
 * so the breaks that it finds are searched for again without it. */
bool explore_run(const struct explore_config *config, explore_progress *progress, void *context,
                 struct explore_result *out, struct sim_error *error)
{
    struct explore_result whole;
    uint32_t broken = 0;
    if (!run(config, config->is_whole, 0, progress, context, out, error))
        return false;
    for (uint32_t i = 0; i < out->broken_count; i++)
        broken |= 1u << out->broken[i].oracle;
    if (broken == 0 || config->is_whole)
        return true;
    const bool is_right = run(config, true, broken, progress, context, &whole, error);
    for (uint32_t i = 0; is_right && i < out->broken_count; i++)
        for (uint32_t j = 0; j < whole.broken_count; j++) {
            struct explore_break found = whole.broken[j];
            if (found.oracle != out->broken[i].oracle)
                continue;
            whole.broken[j] = out->broken[i];
            out->broken[i] = found;
        }
    explore_result_free(is_right ? &whole : out);
    return is_right;
}

void explore_result_free(struct explore_result *result)
{
    for (uint32_t i = 0; i < result->broken_count; i++)
        free(result->broken[i].path);
    result->broken_count = 0;
}
