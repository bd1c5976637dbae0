/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads a cluster. What follows from the configuration is created again by the constructor. The
 * archive has the rest: which items of each pool are in use, the order in which the free ones will be taken,
 * the items, and the arrays. */
#include "cassandra/archive.h"
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#include "archive_private.h"
#include "kernel/memory.h"

#define POOLS (sizeof(((struct cass_cluster *)0)->pools) / sizeof(struct cass_pool))
/* The least number of bytes of an item in an archive: a free item is stored as its index. */
#define BYTES_EACH 4u

SIM_ARCHIVE_KNOWS(sizeof(struct cass_cluster) - sizeof(struct cass_cluster_config) == 1624,
                  "a cluster has changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct hint_list) == 32 && sizeof(struct lock) == 28 &&
                      sizeof(struct expiry) == 24 && sizeof(struct range) == 32 &&
                      sizeof(struct chunk_lifetimes) == 816,
                  "hints, locks, expiries or lifetimes have changed: archive new fields");

/* Visits the items of a pool that are in use until one fails. */
#define EACH_USED(books, pool, index)                                                                        \
    for (uint32_t index = 1; index < (books)->cluster->pool.used && sim_archive_is_fine((books)->archive);   \
         index++)                                                                                            \
        if ((books)->used[CASS_POOL_NUMBER((books)->cluster, pool)][index])

static bool geometry(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    const uint32_t fields[] = {cluster->node_count, cluster->place_count, cluster->factor,
                               cluster->config.concurrency, cluster->config.named_columns};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        uint32_t field = fields[i];
        sim_archive_u32(books->archive, &field);
        sim_archive_check(books->archive, field == fields[i]);
    }
    return sim_archive_is_fine(books->archive);
}

static void network(struct cass_books *books)
{
    struct cass_cluster *cluster = books->cluster;
    struct sim_archive *archive = books->archive;
    size_t pairs = (size_t)cluster->place_count * cluster->node_count;
    sim_archive_double(archive, &cluster->loss);
    sim_archive_double(archive, &cluster->duplicate);
    cass_archive_factor(books, &cluster->delay);
    sim_archive_double(archive, &cluster->late);
    sim_archive_i64(archive, &cluster->late_ns);
    sim_archive_i64(archive, &cluster->delayed_until_ns);
    if (archive->is_loading)
        sim_archive_check(archive, cluster->late_ns >= 0 && cluster->late_ns <= SPAN_MAX);
    sim_archive_u64(archive, &cluster->events_handled);
    sim_archive_size(archive, &cluster->separated_count);
    cass_network_settle(cluster);
    sim_archive_bytes(archive, cluster->separated, (pairs / 64 + 1) * sizeof *cluster->separated);
    cluster->gone_count = 0;
    for (size_t i = 0; i < pairs; i++) {
        bool is_gone = cluster->gone_since[i] != NEVER;
        sim_archive_bool(archive, &is_gone);
        cluster->gone_count += is_gone;
        if (is_gone)
            cass_archive_past(books, &cluster->gone_since[i]);
        else
            cluster->gone_since[i] = NEVER;
    }
    for (uint32_t i = 0; i < cluster->place_count; i++) {
        struct place *place = &cluster->places[i];
        cass_latency_settle(place);
        sim_archive_bytes(archive, &place->latency, sizeof place->latency);
        sim_archive_bytes(archive, &place->loss, sizeof place->loss);
        sim_archive_bytes(archive, &place->choice, sizeof place->choice);
    }
}

static void nodes(struct cass_books *books)
{
    struct cass_cluster *cluster = books->cluster;
    for (uint32_t i = 0; i < cluster->node_count; i++)
        cass_archive_node(books, &cluster->nodes[i]);
    for (size_t i = 0; i < (size_t)cluster->node_count * cluster->config.concurrency; i++)
        cass_archive_near(books, &cluster->free_at[i]);
}

/* Fills a pool with zeroed items that are all in use. */
static bool make_room(struct cass_books *books, struct cass_pool *pool, uint32_t used, size_t number)
{
    struct cass_pool fresh = *pool;
    uint32_t capacity = used > pool->capacity ? used : pool->capacity;
    books->used[number] = sim_archive_allocate(books->archive, used, 1, BYTES_EACH);
    if (books->used[number] == NULL)
        return false;
    fresh.items = sim_memory_zeroed(capacity * pool->item_size);
    if (fresh.items == NULL) {
        sim_archive_fail_memory(books->archive);
        return false;
    }
    fresh.used = used;
    fresh.capacity = capacity;
    fresh.free_head = CASS_NONE;
    cass_pool_destroy(pool);
    *pool = fresh;
    return true;
}

/* Archives the indices of the free items in the order in which they will be taken. The first four bytes of a
 * free item are the index of the next one. */
static void free_list(struct cass_books *books, struct cass_pool *pool, uint32_t count, uint8_t *used)
{
    uint32_t index = pool->free_head;
    uint8_t *link = NULL;
    for (uint32_t i = 0; i < count; i++) {
        sim_archive_u32_below(books->archive, &index, pool->used);
        sim_archive_check(books->archive, used[index] == 1);
        if (!sim_archive_is_fine(books->archive))
            return;
        used[index] = 0;
        if (books->archive->is_loading && link == NULL)
            pool->free_head = index;
        else if (books->archive->is_loading)
            memcpy(link, &index, sizeof index);
        link = pool->items + index * pool->item_size;
        if (!books->archive->is_loading)
            memcpy(&index, link, sizeof index);
    }
}

static void pool_of(struct cass_books *books, size_t number)
{
    struct cass_pool *pool = &books->cluster->pools[number];
    uint32_t used = pool->used, unused = used - 1 - pool->live;
    sim_archive_u32_below(books->archive, &used, UINT32_MAX / 3 * 2);
    sim_archive_check(books->archive, used >= 1 || !sim_archive_is_fine(books->archive));
    sim_archive_u32_below(books->archive, &unused, used > 0 ? used : 1);
    if (!sim_archive_is_fine(books->archive))
        return;
    if (books->archive->is_loading && !make_room(books, pool, used, number))
        return;
    if (!books->archive->is_loading)
        books->used[number] = malloc(used);
    if (books->used[number] == NULL) {
        sim_archive_fail_memory(books->archive);
        return;
    }
    memset(books->used[number], 1, used);
    books->used[number][CASS_NONE] = 0;
    free_list(books, pool, unused, books->used[number]);
    pool->live = used - 1 - unused;
}

/* Marks the items in use of all pools, so that each index can be checked against them. */
static bool pools(struct cass_books *books)
{
    for (size_t i = 0; i < POOLS && sim_archive_is_fine(books->archive); i++)
        pool_of(books, i);
    const struct cass_cluster *cluster = books->cluster;
    sim_archive_check(books->archive, cluster->images.used == cluster->registers.used);
    sim_archive_check(books->archive, cluster->shards.used == cluster->counters.used);
    sim_archive_check(books->archive, cluster->lifetimes.used ==
                                          (cluster->config.keeps_lifetimes ? cluster->chunks.used : 1));
    return sim_archive_is_fine(books->archive);
}

static bool open_books(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    books->row_holds = calloc(cluster->rows.used, sizeof *books->row_holds);
    books->body_holds = calloc(cluster->bodies.used, sizeof *books->body_holds);
    books->gathers = calloc(cluster->bodies.used, 1);
    if (books->row_holds == NULL || books->body_holds == NULL || books->gathers == NULL)
        sim_archive_fail_memory(books->archive);
    return sim_archive_is_fine(books->archive);
}

static void close_books(struct cass_books *books)
{
    for (size_t i = 0; i < POOLS; i++)
        free(books->used[i]);
    free(books->row_holds);
    free(books->body_holds);
    free(books->gathers);
}

/* The generation of an item is odd while it is in use. It is kept while the item is free, so that late
 * answers are recognised. */
static void generations(struct cass_books *books)
{
    const struct cass_cluster *cluster = books->cluster;
    const uint8_t *used = books->used[CASS_POOL_NUMBER(cluster, operations)];
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        struct cass_operation *operation = operation_at(cluster, i);
        sim_archive_u32(books->archive, &operation->generation);
        sim_archive_check(books->archive, operation->generation % 2 == used[i]);
        if (!sim_archive_is_fine(books->archive))
            return;
    }
}

/* Operations that wait for a lock are linked by `next`. */
static void locks(struct cass_books *books)
{
    struct cass_cluster *cluster = books->cluster;
    struct sim_archive *archive = books->archive;
    uint32_t operations = cluster->operations.used;
    EACH_USED(books, locks, i)
    {
        struct lock *lock = lock_at(cluster, i);
        sim_archive_u32_below(archive, &lock->node, cluster->node_count);
        sim_archive_u32(archive, &lock->entity);
        sim_archive_u32_below(archive, &lock->is_counter, 2);
        sim_archive_u32_below(archive, &lock->holder, operations);
        sim_archive_u32_below(archive, &lock->head, operations);
        sim_archive_u32_below(archive, &lock->tail, operations);
    }
    EACH_USED(books, operations, i)
    {
        struct cass_operation *operation = operation_at(cluster, i);
        if (operation->stage == STAGE_LOCK_WAIT)
            sim_archive_u32_below(archive, &operation->next, operations);
    }
}

/* Operations come first, because they determine which bodies gather answers. */
static void under_way(struct cass_books *books)
{
    struct cass_cluster *cluster = books->cluster;
    generations(books);
    EACH_USED(books, operations, i)
    cass_archive_operation(books, operation_at(cluster, i));
    sim_archive_mark(books->archive, 1);
    EACH_USED(books, messages, i)
    cass_archive_message(books, message_at(cluster, i));
    sim_archive_mark(books->archive, 2);
    EACH_USED(books, bodies, i)
    cass_archive_body(books, i);
    sim_archive_mark(books->archive, 3);
    EACH_USED(books, named, i)
    cass_archive_cells(books, named_at(cluster, i), cluster->config.named_columns);
    EACH_USED(books, replies, i)
    cass_archive_reply(books, reply_at(cluster, i));
    sim_archive_mark(books->archive, 4);
    locks(books);
}

static void stored(struct cass_books *books)
{
    struct cass_cluster *cluster = books->cluster;
    EACH_USED(books, partitions, i)
    cass_archive_partition(books, partition_at(cluster, i));
    EACH_USED(books, rows, i)
    cass_archive_row(books, row_at(cluster, i));
    EACH_USED(books, hints, i)
    cass_archive_hint(books, hint_at(cluster, i));
    sim_archive_mark(books->archive, 5);
    EACH_USED(books, expiries, i)
    {
        struct expiry *expiry = expiry_at(cluster, i);
        sim_archive_u32_below(books->archive, &expiry->next, cluster->expiries.used);
        sim_archive_u32(books->archive, &expiry->rows);
        sim_archive_i64(books->archive, &expiry->second);
        sim_archive_u64(books->archive, &expiry->bytes);
    }
    EACH_USED(books, chunks, i)
    cass_archive_chunk(books, chunk_at(cluster, i));
    EACH_USED(books, lifetimes, i)
    cass_archive_lifetimes(books, i);
    EACH_USED(books, ranges, i)
    cass_archive_range(books, range_at(cluster, i));
    sim_archive_mark(books->archive, 6);
    EACH_USED(books, registers, i)
    cass_archive_register(books, i);
    EACH_USED(books, counters, i)
    cass_archive_counter(books, i);
    sim_archive_mark(books->archive, 7);
}

static void hint_lists(struct cass_books *books)
{
    struct cass_cluster *cluster = books->cluster;
    struct sim_archive *archive = books->archive;
    for (size_t i = 0; i < (size_t)cluster->node_count * cluster->node_count; i++) {
        struct hint_list *list = &cluster->hints_for[i];
        sim_archive_u32_below(archive, &list->head, cluster->hints.used);
        sim_archive_u32_below(archive, &list->tail, cluster->hints.used);
        sim_archive_u32(archive, &list->in_flight);
        sim_archive_u32(archive, &list->page);
        sim_archive_u64(archive, &list->event);
        sim_archive_bool(archive, &list->has_event);
    }
}

void cass_cluster_archive(struct cass_cluster *cluster, struct sim_archive *archive)
{
    struct cass_books books = {.cluster = cluster, .archive = archive};
    sim_archive_mark(archive, 0x63617373);
    if (geometry(&books) && pools(&books) && open_books(&books)) {
        network(&books);
        nodes(&books);
        under_way(&books);
        stored(&books);
        hint_lists(&books);
        if (archive->is_loading && sim_archive_is_fine(archive))
            sim_archive_check(archive, cass_archive_fits(&books));
    }
    close_books(&books);
}
