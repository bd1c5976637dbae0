/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers and counters as replicas store them, and the rules by which one of two cells wins. */
#include <assert.h>
#include <string.h>

#include "cassandra/token.h"
#include "state.h"

#define NO_CELL                                                                                              \
    {                                                                                                        \
        .timestamp_us = NO_TIME, .deletion_s = NEVER                                                         \
    }
const struct image cass_image_none = {.cells = {NO_CELL, NO_CELL, NO_CELL, NO_CELL, NO_CELL, NO_CELL},
                                      .marker_us = NO_TIME,
                                      .marker_until_s = NEVER,
                                      .deleted_us = NO_TIME};
static_assert(CASS_COLUMNS == 6, "one for each column");

/* The key is a bigint. */
uint32_t cass_position(const struct cass_cluster *cluster, uint64_t key)
{
    uint8_t bytes[8];
    for (uint32_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(key >> (56 - 8 * i));
    return (uint32_t)cass_ring_position(cluster->ring, cass_token(bytes, sizeof(bytes)));
}

static uint32_t key_hash(uint64_t key)
{
    return (uint32_t)(sim_mix64(key + UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

uint32_t cass_register_find(const struct cass_cluster *cluster, uint64_t key)
{
    const struct cass_table *table = &cluster->register_table;
    uint32_t hash = key_hash(key);
    for (const struct cass_slot *slot = cass_table_first(table, hash); slot->index != CASS_NONE;
         slot = cass_table_next(table, slot)) {
        if (slot->hash == hash && register_at(cluster, slot->index)->key == key)
            return slot->index;
    }
    return CASS_NONE;
}

void cass_prefetch_register(const struct cass_cluster *cluster, uint64_t key, bool is_entry)
{
    const struct cass_slot *slot = cass_table_first(&cluster->register_table, key_hash(key));
    if (is_entry)
        __builtin_prefetch(register_at(cluster, slot->index));
    else
        __builtin_prefetch(slot);
}

uint32_t cass_register_need(struct cass_cluster *cluster, uint64_t key)
{
    uint32_t found = cass_register_find(cluster, key);
    if (found != CASS_NONE)
        return found;
    uint32_t entry = cass_pool_take(&cluster->registers);
    uint32_t images = cass_pool_take(&cluster->images);
    if (entry == CASS_NONE || images == CASS_NONE)
        return CASS_NONE;
    *register_at(cluster, entry) =
        (struct register_entry){.key = key, .position = cass_position(cluster, key)};
    cass_register_enter(cluster, entry);
    return entry;
}

void cass_register_enter(struct cass_cluster *cluster, uint32_t entry)
{
    cass_table_put(&cluster->register_table, key_hash(register_at(cluster, entry)->key), entry);
}

uint32_t cass_counter_find(const struct cass_cluster *cluster, uint64_t key)
{
    const struct cass_table *table = &cluster->counter_table;
    uint32_t hash = key_hash(key);
    for (const struct cass_slot *slot = cass_table_first(table, hash); slot->index != CASS_NONE;
         slot = cass_table_next(table, slot)) {
        if (slot->hash == hash && counter_at(cluster, slot->index)->key == key)
            return slot->index;
    }
    return CASS_NONE;
}

static void cass_counter_enter(struct cass_cluster *cluster, uint32_t entry)
{
    cass_table_put(&cluster->counter_table, key_hash(counter_at(cluster, entry)->key), entry);
}

/* A shard that was never written has clock 0, which every real clock exceeds. */
uint32_t cass_counter_need(struct cass_cluster *cluster, uint64_t key)
{
    uint32_t found = cass_counter_find(cluster, key);
    if (found != CASS_NONE)
        return found;
    uint32_t entry = cass_pool_take(&cluster->counters);
    uint32_t shards = cass_pool_take(&cluster->shards);
    if (entry == CASS_NONE || shards == CASS_NONE)
        return CASS_NONE;
    *counter_at(cluster, entry) = (struct counter_entry){.key = key, .position = cass_position(cluster, key)};
    cass_counter_enter(cluster, entry);
    return entry;
}

uint32_t cass_body_new(struct cass_cluster *cluster)
{
    uint32_t index = cass_pool_take(&cluster->bodies);
    body_at(cluster, index)->references = 1;
    body_at(cluster, index)->named = CASS_NONE;
    return index;
}

void cass_body_release(struct cass_cluster *cluster, uint32_t index)
{
    if (index == CASS_NONE || --body_at(cluster, index)->references > 0)
        return;
    cass_pool_give(&cluster->named, body_at(cluster, index)->named);
    cass_pool_give(&cluster->bodies, index);
}

void cass_image_clear(struct image *image)
{
    *image = cass_image_none;
}

/* Cells.resolveRegular of Cassandra 4.0 and later: the higher timestamp; on a tie tombstones and expiring
 * cells beat plain ones, a tombstone beats an expiring one, then the later deletion, then the larger value,
 * as unsigned bytes. */
bool cass_cell_wins(const struct cell *left, const struct cell *right)
{
    if (left->timestamp_us != right->timestamp_us)
        return left->timestamp_us > right->timestamp_us;
    bool left_dies = left->deletion_s != NEVER, right_dies = right->deletion_s != NEVER;
    if (left_dies != right_dies)
        return left_dies;
    bool left_tomb = left->deletion_s < 0, right_tomb = right->deletion_s < 0;
    if (left_tomb != right_tomb)
        return left_tomb;
    if (left->deletion_s != right->deletion_s)
        return (left_tomb ? ~left->deletion_s : left->deletion_s) >
               (right_tomb ? ~right->deletion_s : right->deletion_s);
    return !left_tomb && (uint64_t)left->value > (uint64_t)right->value;
}

/* LivenessInfo.supersedes: the higher timestamp; on a tie one that expires, then the later expiry. */
static bool marker_wins(const struct image *left, const struct image *right)
{
    if (left->marker_us != right->marker_us)
        return left->marker_us > right->marker_us;
    bool left_dies = left->marker_until_s != NEVER, right_dies = right->marker_until_s != NEVER;
    return left_dies != right_dies ? left_dies : left->marker_until_s > right->marker_until_s;
}

/* A deletion covers what has its timestamp, too. */
static void drop_deleted(struct image *image)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (image->cells[i].timestamp_us <= image->deleted_us)
            image->cells[i] = cass_image_none.cells[i];
    }
    if (image->marker_us <= image->deleted_us) {
        image->marker_us = NO_TIME;
        image->marker_until_s = NEVER;
    }
}

void cass_image_merge(struct image *into, const struct image *from)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (cass_cell_wins(&from->cells[i], &into->cells[i]))
            into->cells[i] = from->cells[i];
    }
    if (from->marker_us != NO_TIME && marker_wins(from, into)) {
        into->marker_us = from->marker_us;
        into->marker_until_s = from->marker_until_s;
    }
    if (from->deleted_us > into->deleted_us)
        into->deleted_us = from->deleted_us;
    if (into->deleted_us != NO_TIME)
        drop_deleted(into);
}

bool cass_image_equal(const struct image *left, const struct image *right)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *a = &left->cells[i], *b = &right->cells[i];
        if (a->timestamp_us != b->timestamp_us || a->value != b->value || a->deletion_s != b->deletion_s)
            return false;
    }
    return left->marker_us == right->marker_us && left->marker_until_s == right->marker_until_s &&
           left->deleted_us == right->deleted_us;
}

static bool is_dead(const struct cell *cell, int64_t now_s)
{
    return cell->deletion_s < 0 || cell->deletion_s <= now_s;
}

uint32_t cass_image_live(const struct image *image, int64_t now, int64_t *columns)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *cell = &image->cells[i];
        bool is_live = cell->timestamp_us != NO_TIME && !is_dead(cell, now / SIM_SECOND);
        columns[i] = is_live ? cell->value : 0;
        mask |= (is_live ? 1u : 0u) << i;
    }
    return mask;
}

bool cass_image_is_found(const struct image *image, int64_t now, uint32_t columns)
{
    return columns != 0 || (image->marker_us != NO_TIME && image->marker_until_s > now / SIM_SECOND);
}

/* PartitionUpdate.Builder.updateAllTimestamp: a deletion is a little older than what is written with it. */
void cass_image_date(struct image *image, int64_t timestamp_us)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (image->cells[i].timestamp_us != NO_TIME)
            image->cells[i].timestamp_us = timestamp_us;
    }
    if (image->marker_us != NO_TIME)
        image->marker_us = timestamp_us;
    if (image->deleted_us != NO_TIME)
        image->deleted_us = timestamp_us - 1;
}

void cass_image_set(struct image *image, const struct cass_statement *statement, int64_t timestamp_us,
                    int64_t now)
{
    int64_t now_s = now / SIM_SECOND, until_s = NEVER;
    uint32_t nulls = statement->kind == CASS_DELETE_COLUMNS ? statement->set_mask : statement->null_mask;
    if (statement->ttl_ns > 0)
        until_s = now_s + (statement->ttl_ns + SIM_SECOND - 1) / SIM_SECOND;
    cass_image_clear(image);
    if (statement->is_whole_row) {
        image->deleted_us = timestamp_us;
        return;
    }
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (statement->set_mask >> i & 1) {
            bool is_null = nulls >> i & 1;
            image->cells[i] = (struct cell){.value = is_null ? 0 : statement->set[i],
                                            .timestamp_us = timestamp_us,
                                            .deletion_s = is_null ? ~now_s : until_s};
        }
    }
    if (statement->is_insert || statement->if_absent) {
        image->marker_us = timestamp_us;
        image->marker_until_s = until_s;
    }
}

/* Rows of named columns: registers with as many columns as the configuration says, which are read together. A
 * read takes all columns of a replica at one moment and merges the columns of the replicas one by one, as
 * Cassandra does with the rows of a partition. */

static struct cell *copy_at(const struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    size_t at = register_at(cluster, entity)->named * cluster->named_copies.item_size;
    return (struct cell *)(void *)(cluster->named_copies.items + at) +
           (size_t)replica * cluster->config.named_columns;
}

static void clear(const struct cass_cluster *cluster, struct cell *cells)
{
    for (uint32_t i = 0; i < cluster->config.named_columns; i++)
        cells[i] = (struct cell){.timestamp_us = NO_TIME, .deletion_s = NEVER};
}

void cass_named_need(struct cass_cluster *cluster, uint32_t entity)
{
    if (register_at(cluster, entity)->named != CASS_NONE)
        return;
    uint32_t copies = cass_pool_take(&cluster->named_copies);
    register_at(cluster, entity)->named = copies;
    for (uint32_t replica = 0; replica < cluster->factor; replica++)
        clear(cluster, copy_at(cluster, entity, replica));
}

static uint32_t fresh(struct cass_cluster *cluster)
{
    uint32_t index = cass_pool_take(&cluster->named);
    clear(cluster, named_at(cluster, index));
    return index;
}

uint32_t cass_named_set(struct cass_cluster *cluster, const struct cass_statement *statement,
                        int64_t timestamp_us)
{
    uint32_t index = fresh(cluster);
    for (uint32_t i = 0; i < statement->named_count; i++) {
        const struct cass_named *named = &statement->named[i];
        bool is_delete = statement->kind == CASS_DELETE_NAMED || named->is_delete;
        const struct cell cell = {
            .value = is_delete ? 0 : named->value,
            .timestamp_us = named->timestamp_us != NO_TIME ? named->timestamp_us : timestamp_us,
            .deletion_s = is_delete ? ~(now_ns(cluster) / SIM_SECOND) : NEVER,
        };
        struct cell *into = &named_at(cluster, index)[named->name];
        if (cass_cell_wins(&cell, into)) /* a batch may name a column twice */
            *into = cell;
    }
    return index;
}

static void merge_named(const struct cass_cluster *cluster, struct cell *into, const struct cell *from)
{
    for (uint32_t i = 0; i < cluster->config.named_columns; i++) {
        if (cass_cell_wins(&from[i], &into[i]))
            into[i] = from[i];
    }
}

uint32_t cass_named_copy(struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    if (register_at(cluster, entity)->named == CASS_NONE)
        return CASS_NONE;
    uint32_t index = fresh(cluster);
    merge_named(cluster, named_at(cluster, index), copy_at(cluster, entity, replica));
    return index;
}

void cass_named_apply(struct cass_cluster *cluster, uint32_t entity, uint32_t replica, uint32_t named)
{
    if (named != CASS_NONE)
        merge_named(cluster, copy_at(cluster, entity, replica), named_at(cluster, named));
}

void cass_named_gather(struct cass_cluster *cluster, uint32_t gathered, uint32_t set)
{
    if (body_at(cluster, body_at(cluster, gathered)->answers[first_bit(set)])->named == CASS_NONE)
        return;
    if (body_at(cluster, gathered)->named == CASS_NONE) {
        uint32_t index = fresh(cluster);
        body_at(cluster, gathered)->named = index;
    }
    const struct body *body = body_at(cluster, gathered);
    clear(cluster, named_at(cluster, body->named));
    for (; set != 0; set &= set - 1) {
        const struct body *answer = body_at(cluster, body->answers[first_bit(set)]);
        merge_named(cluster, named_at(cluster, body->named), named_at(cluster, answer->named));
    }
}

bool cass_named_equal(const struct cass_cluster *cluster, uint32_t left, uint32_t right)
{
    if (left == CASS_NONE || right == CASS_NONE)
        return left == right;
    for (uint32_t i = 0; i < cluster->config.named_columns; i++) {
        const struct cell *a = &named_at(cluster, left)[i], *b = &named_at(cluster, right)[i];
        if (a->timestamp_us != b->timestamp_us || a->value != b->value || a->deletion_s != b->deletion_s)
            return false;
    }
    return true;
}

static uint32_t live(const struct cass_cluster *cluster, const struct cell *cells, struct cass_named *out,
                     uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cluster->config.named_columns; i++) {
        if (cells[i].timestamp_us == NO_TIME || cells[i].deletion_s != NEVER)
            continue;
        if (count < capacity)
            out[count] = (struct cass_named){
                .name = i, .value = cells[i].value, .timestamp_us = cells[i].timestamp_us};
        count++;
    }
    return count;
}

bool cass_named_is_found(const struct cass_cluster *cluster, uint32_t named)
{
    return named != CASS_NONE && live(cluster, named_at(cluster, named), NULL, 0) > 0;
}

int64_t cass_named_cost(const struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    if (register_at(cluster, entity)->named == CASS_NONE)
        return 0;
    const struct cell *cells = copy_at(cluster, entity, replica);
    int64_t rows = 0, tombstones = 0;
    for (uint32_t i = 0; i < cluster->config.named_columns; i++) {
        rows += cells[i].timestamp_us != NO_TIME && cells[i].deletion_s == NEVER;
        tombstones += cells[i].deletion_s != NEVER;
    }
    return rows * cluster->config.scan_row_ns + tombstones * cluster->config.scan_tombstone_ns;
}

uint32_t cass_reply_named(const struct cass_cluster *cluster, uint64_t slot, struct cass_named *out,
                          uint32_t capacity)
{
    uint32_t named = reply_at(cluster, (uint32_t)slot)->named;
    return named == CASS_NONE ? 0 : live(cluster, named_at(cluster, named), out, capacity);
}

uint32_t cass_peek_named(struct cass_cluster *cluster, uint64_t key, struct cass_named *out,
                         uint32_t capacity)
{
    uint32_t entity = cass_register_find(cluster, key);
    if (entity == CASS_NONE || register_at(cluster, entity)->named == CASS_NONE)
        return 0;
    uint32_t index = fresh(cluster);
    for (uint32_t replica = 0; replica < cluster->factor; replica++)
        merge_named(cluster, named_at(cluster, index), copy_at(cluster, entity, replica));
    uint32_t count = live(cluster, named_at(cluster, index), out, capacity);
    cass_pool_give(&cluster->named, index);
    return count;
}

/* The clustering order of a partition's rows, which a cluster keeps if it is configured to: places in chunks,
 * newest first. Rows arrive nearly in order, so a place is usually added to one of the first chunks, and the
 * number of places newer than a given one is found in a few chunks. */

static const struct lifetime lifetime_none = {
    .written_us = NO_TIME, .expires_s = NEVER, .deleted_us = NO_TIME};

static bool is_before(const struct clustering *a, const struct clustering *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static bool is_full_before(const struct clustering_chunk *chunk, const struct clustering *place,
                           bool is_unique)
{
    const struct clustering *newest = &chunk->places[CLUSTERING_CHUNK - 1];
    return chunk->count == CLUSTERING_CHUNK &&
           (is_unique ? is_before(newest, place) : !is_before(place, newest));
}

/* Returns the position in the chunk at which `place` belongs: after the places that are not newer. */
static uint32_t position_in(const struct clustering_chunk *chunk, const struct clustering *place)
{
    uint32_t at = chunk->count;
    while (at > 0 && is_before(place, &chunk->places[at - 1]))
        at--;
    return at;
}

static bool is_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                      const struct clustering *place)
{
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        if (row->held != 0 && (row->held & replicas) == 0 && !(row->flags & ROW_DELETE) &&
            row->time_ns == place->time_ns && row->order == place->order)
            return true;
        at = row->next;
    }
    return false;
}

/* Takes a chunk from the pool, and the lifetimes of its rows at the same index, the first `count` of which
 * are initialised. */
static uint32_t fresh_chunk(struct cass_cluster *cluster, uint32_t count)
{
    uint32_t chunk = cass_pool_take(&cluster->chunks);
    if (!cluster->config.keeps_lifetimes)
        return chunk;
    uint32_t beside = cass_pool_take(&cluster->lifetimes);
    if (chunk == CASS_NONE || beside == CASS_NONE)
        return CASS_NONE;
    struct chunk_lifetimes *lifetimes = lifetimes_at(cluster, beside);
    *lifetimes = (struct chunk_lifetimes){.special = count};
    for (uint32_t i = 0; i < count; i++)
        lifetimes->items[i] = lifetime_none;
    return chunk;
}

/* Begins a new first chunk, so that rows in order fill their chunks. If no chunk can be taken, the pool is
 * marked as broken, which stops the run. */
static uint32_t begin_newest(struct cass_cluster *cluster, uint32_t partition, const struct clustering *place)
{
    uint32_t fresh = fresh_chunk(cluster, 1);
    if (fresh == CASS_NONE)
        return CASS_NONE;
    *chunk_at(cluster, fresh) = (struct clustering_chunk){
        .next = partition_at(cluster, partition)->newest, .count = 1, .places = {*place}};
    partition_at(cluster, partition)->newest = fresh;
    return fresh;
}

static bool is_plain(const struct chunk_lifetimes *chunk, uint32_t at)
{
    const struct lifetime *item = &chunk->items[at];
    return chunk->open[at] == 0 && item->written_us != NO_TIME && item->expires_s == NEVER &&
           item->deleted_us == NO_TIME;
}

/* The number of special rows among the first `count` rows of a chunk. */
static uint32_t cass_lifetimes_special(const struct chunk_lifetimes *chunk, uint32_t count)
{
    uint32_t special = 0;
    for (uint32_t i = 0; i < count; i++)
        special += !is_plain(chunk, i);
    return special;
}

static void split_lifetimes(struct cass_cluster *cluster, uint32_t newer_index, uint32_t older_index,
                            uint32_t moved)
{
    struct chunk_lifetimes *newer = lifetimes_at(cluster, newer_index);
    struct chunk_lifetimes *older = lifetimes_at(cluster, older_index);
    uint32_t left = chunk_at(cluster, newer_index)->count;
    memcpy(older->items, newer->items, moved * sizeof *older->items);
    memcpy(older->open, newer->open, moved * sizeof *older->open);
    memmove(newer->items, &newer->items[moved], left * sizeof *newer->items);
    memmove(newer->open, &newer->open[moved], left * sizeof *newer->open);
    older->special = cass_lifetimes_special(older, moved);
    newer->special = cass_lifetimes_special(newer, left);
}

/* Moves the older half of the chunk into a new chunk after it. */
static bool split(struct cass_cluster *cluster, uint32_t chunk)
{
    uint32_t fresh = fresh_chunk(cluster, 0);
    if (fresh == CASS_NONE)
        return false;
    struct clustering_chunk *newer = chunk_at(cluster, chunk), *older = chunk_at(cluster, fresh);
    uint32_t moved = newer->count / 2;
    *older = (struct clustering_chunk){.next = newer->next, .count = moved};
    memcpy(older->places, newer->places, moved * sizeof *older->places);
    newer->count -= moved;
    newer->next = fresh;
    memmove(newer->places, &newer->places[moved], newer->count * sizeof *newer->places);
    if (cluster->config.keeps_lifetimes)
        split_lifetimes(cluster, chunk, fresh, moved);
    return true;
}

static void insert(struct cass_cluster *cluster, uint32_t index, uint32_t at, const struct clustering *place)
{
    struct clustering_chunk *into = chunk_at(cluster, index);
    uint32_t behind = into->count - at;
    memmove(&into->places[at + 1], &into->places[at], behind * sizeof *into->places);
    into->places[at] = *place;
    into->count++;
    if (!cluster->config.keeps_lifetimes)
        return;
    struct chunk_lifetimes *lifetimes = lifetimes_at(cluster, index);
    memmove(&lifetimes->items[at + 1], &lifetimes->items[at], behind * sizeof *lifetimes->items);
    memmove(&lifetimes->open[at + 1], &lifetimes->open[at], behind * sizeof *lifetimes->open);
    lifetimes->items[at] = lifetime_none;
    lifetimes->open[at] = 0;
    lifetimes->special++;
}

/* Adds a place. Returns its chunk and its position there. If the place must be unique, an existing equal
 * place is returned instead. */
static uint32_t add(struct cass_cluster *cluster, uint32_t partition, const struct clustering *place,
                    bool is_unique, uint32_t *position)
{
    uint32_t chunk = partition_at(cluster, partition)->newest;
    *position = 0;
    if (chunk == CASS_NONE || is_full_before(chunk_at(cluster, chunk), place, is_unique))
        return begin_newest(cluster, partition, place);
    /* Finds the first chunk whose oldest place is not newer than `place`; the last chunk if there is none. */
    while (chunk_at(cluster, chunk)->next != CASS_NONE &&
           is_before(place, &chunk_at(cluster, chunk)->places[0]))
        chunk = chunk_at(cluster, chunk)->next;
    uint32_t at = position_in(chunk_at(cluster, chunk), place);
    if (is_unique && at > 0 && !is_before(&chunk_at(cluster, chunk)->places[at - 1], place)) {
        *position = at - 1;
        return chunk;
    }
    if (chunk_at(cluster, chunk)->count == CLUSTERING_CHUNK) {
        if (!split(cluster, chunk))
            return CASS_NONE;
        if (is_before(place, &chunk_at(cluster, chunk)->places[0]))
            chunk = chunk_at(cluster, chunk)->next;
        at = position_in(chunk_at(cluster, chunk), place);
    }
    insert(cluster, chunk, at, place);
    *position = at;
    return chunk;
}

void cass_clustering_add(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns, int64_t order)
{
    uint32_t position;
    add(cluster, partition, &(struct clustering){time_ns, order}, false, &position);
}

/* Finds or makes a place: returns its chunk and sets *position to its index there; CASS_NONE when out of
 * memory. */
static uint32_t cass_clustering_need(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns,
                                     int64_t order, uint32_t *position)
{
    return add(cluster, partition, &(struct clustering){time_ns, order}, true, position);
}

uint64_t cass_clustering_newer(const struct cass_cluster *cluster, uint32_t partition,
                               const struct cass_statement *statement)
{
    const struct clustering after = {statement->after_time_ns, statement->after_order};
    uint64_t newer = 0;
    for (uint32_t at = partition_at(cluster, partition)->newest; at != CASS_NONE;) {
        const struct clustering_chunk *chunk = chunk_at(cluster, at);
        uint32_t low = 0, high = chunk->count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (is_before(&after, &chunk->places[middle]))
                high = middle;
            else
                low = middle + 1;
        }
        newer += chunk->count - low;
        if (low > 0)
            break;
        at = chunk->next;
    }
    return newer;
}

uint64_t cass_clustering_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                                const struct cass_statement *statement)
{
    const struct clustering after = {statement->after_time_ns, statement->after_order};
    uint64_t missed = 0;
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        const struct clustering place = {row->time_ns, row->order};
        missed += row->held != 0 && (row->held & replicas) == 0 && !(row->flags & ROW_DELETE) &&
                  is_before(&after, &place);
        at = row->next;
    }
    return missed;
}

bool cass_clustering_last(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                          struct clustering *out)
{
    for (uint32_t at = partition_at(cluster, partition)->newest; at != CASS_NONE;) {
        const struct clustering_chunk *chunk = chunk_at(cluster, at);
        for (uint32_t i = chunk->count; i > 0; i--) {
            if (is_missed(cluster, partition, replicas, &chunk->places[i - 1]))
                continue;
            *out = chunk->places[i - 1];
            return true;
        }
        at = chunk->next;
    }
    return false;
}

uint64_t cass_span_rows(const struct cass_cluster *cluster, uint32_t partition, int64_t from_ns,
                        int64_t until_ns, uint32_t replicas)
{
    const int64_t bounds[2] = {from_ns, until_ns};
    uint64_t newer[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        struct cass_statement last = {.after_time_ns = bounds[i] - (bounds[i] != INT64_MIN),
                                      .after_order = bounds[i] != INT64_MIN ? INT64_MAX : INT64_MIN};
        newer[i] = cass_clustering_newer(cluster, partition, &last) -
                   cass_clustering_missed(cluster, partition, replicas, &last);
    }
    return newer[0] > newer[1] ? newer[0] - newer[1] : 0;
}

uint64_t cass_span_scanned(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    const struct cass_statement *statement = &operation->statement;
    if (operation->entity == CASS_NONE)
        return 1;
    uint64_t rows =
        cass_span_rows(cluster, operation->entity, statement->from_ns, statement->until_ns, operation->asked);
    return (statement->limit > 0 && statement->limit < rows ? statement->limit : rows) + 1;
}

/* The lifetimes of a partition's rows, which a cluster keeps if it is configured to: each chunk of places has
 * a chunk of write times, expiries and deletions. These are what all replicas have. What some replicas miss
 * stays in the records of rows, and a reader adds the records that its replicas have, so each set of replicas
 * finds its own rows. A read goes down from the newest place and counts what Cassandra's replicas scan, which
 * is rows and tombstones, until it has enough rows. Source: apache/cassandra db/ReadCommand.java
 * (MetricRecording). */

enum fate { FATE_ABSENT, FATE_LIVE, FATE_DELETED, FATE_EXPIRED };

struct walk {
    const struct cass_cluster *cluster;
    const struct partition *partition;
    uint32_t replicas;
    int64_t now_s;
    bool has_ranges;
};

/* Merges a row's write into its lifetime: the newer write wins; if both have the same timestamp, the one that
 * expires, then the later expiry. */
static void merge(struct lifetime *into, const struct row *row)
{
    if (row->flags & ROW_DELETE) {
        into->deleted_us = at_least(into->deleted_us, row->timestamp_us);
        return;
    }
    bool is_tie = row->timestamp_us == into->written_us;
    bool expires = row->expires_s != NEVER, did_expire = into->expires_s != NEVER;
    if (row->timestamp_us < into->written_us || (is_tie && did_expire && !expires) ||
        (is_tie && did_expire == expires && row->expires_s < into->expires_s))
        return;
    into->written_us = row->timestamp_us;
    into->expires_s = row->expires_s;
}

static void range_add(struct cass_cluster *cluster, const struct row *row)
{
    uint32_t fresh = cass_pool_take(&cluster->ranges);
    struct partition *partition = partition_at(cluster, row->partition);
    if (fresh == CASS_NONE)
        return;
    *range_at(cluster, fresh) = (struct range){.next = partition->ranges,
                                               .from_ns = row->time_ns,
                                               .until_ns = row->order,
                                               .deleted_us = row->timestamp_us};
    partition->ranges = fresh;
}

void cass_lifetime_open(struct cass_cluster *cluster, uint32_t index)
{
    const struct row *row = row_at(cluster, index);
    struct partition *partition = partition_at(cluster, row->partition);
    if (row->flags & ROW_RANGE) {
        partition->open_ranges++;
        return;
    }
    uint32_t at, chunk = cass_clustering_need(cluster, row->partition, row->time_ns, row->order, &at);
    if (chunk == CASS_NONE)
        return;
    struct chunk_lifetimes *lifetimes = lifetimes_at(cluster, chunk);
    lifetimes->special += is_plain(lifetimes, at);
    lifetimes->open[at]++;
}

void cass_lifetime_settle(struct cass_cluster *cluster, uint32_t index)
{
    const struct row *row = row_at(cluster, index);
    if (row->flags & ROW_RANGE) {
        partition_at(cluster, row->partition)->open_ranges--;
        range_add(cluster, row);
        return;
    }
    uint32_t at, chunk = cass_clustering_need(cluster, row->partition, row->time_ns, row->order, &at);
    if (chunk == CASS_NONE)
        return;
    struct chunk_lifetimes *lifetimes = lifetimes_at(cluster, chunk);
    lifetimes->open[at]--;
    merge(&lifetimes->items[at], row);
    lifetimes->special -= is_plain(lifetimes, at);
}

/* Returns whether some replicas lack the record and one of the reader's replicas has it. */
static bool is_seen(const struct walk *walk, const struct row *row)
{
    return (row->held & walk->replicas) != 0 && row->held != all_replicas(walk->cluster);
}

static bool is_after(const struct clustering *place, const struct clustering *low)
{
    return place->time_ns != low->time_ns ? place->time_ns > low->time_ns : place->order > low->order;
}

/* Adds the records that the reader's replicas have to a chunk's lifetimes. It goes through the records once
 * for all rows of the chunk, because there may be many of both. */
static void add_records(const struct walk *walk, uint32_t index, struct lifetime *items)
{
    const struct clustering_chunk *chunk = chunk_at(walk->cluster, index);
    const struct chunk_lifetimes *lifetimes = lifetimes_at(walk->cluster, index);
    for (uint32_t at = walk->partition->unresolved; at != CASS_NONE; at = row_at(walk->cluster, at)->next) {
        const struct row *row = row_at(walk->cluster, at);
        const struct clustering place = {row->time_ns, row->order};
        uint32_t low = 0, high = chunk->count;
        if (row->flags & ROW_RANGE || !is_seen(walk, row) || is_after(&place, &chunk->places[high - 1]))
            continue;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (is_after(&place, &chunk->places[middle]))
                low = middle + 1;
            else
                high = middle;
        }
        if (lifetimes->open[low] > 0 && !is_after(&chunk->places[low], &place))
            merge(&items[low], row);
    }
}

static void fill_lifetimes(const struct walk *walk, uint32_t index, struct lifetime *items)
{
    const struct chunk_lifetimes *lifetimes = lifetimes_at(walk->cluster, index);
    uint32_t count = chunk_at(walk->cluster, index)->count, open = 0;
    memcpy(items, lifetimes->items, count * sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        open += lifetimes->open[i];
    if (open > 0)
        add_records(walk, index, items);
}

/* Returns the latest deletion of a range that contains the time; NO_TIME if there is none. */
static int64_t range_deleted_us(const struct walk *walk, int64_t time_ns)
{
    int64_t deleted_us = NO_TIME;
    for (uint32_t at = walk->partition->ranges; at != CASS_NONE; at = range_at(walk->cluster, at)->next) {
        const struct range *range = range_at(walk->cluster, at);
        if (range->from_ns <= time_ns && time_ns <= range->until_ns)
            deleted_us = at_least(deleted_us, range->deleted_us);
    }
    for (uint32_t at = walk->partition->unresolved; at != CASS_NONE; at = row_at(walk->cluster, at)->next) {
        const struct row *row = row_at(walk->cluster, at);
        if (row->flags & ROW_RANGE && is_seen(walk, row) && row->time_ns <= time_ns && time_ns <= row->order)
            deleted_us = at_least(deleted_us, row->timestamp_us);
    }
    return deleted_us;
}

static enum fate fate_of(const struct walk *walk, const struct lifetime *lifetime, int64_t time_ns)
{
    /* The deletion of a range also supersedes the row's own deletion unless that is newer. */
    int64_t dropped_us = walk->has_ranges ? range_deleted_us(walk, time_ns) : NO_TIME;
    if (lifetime->written_us > at_least(dropped_us, lifetime->deleted_us))
        return lifetime->expires_s > walk->now_s ? FATE_LIVE : FATE_EXPIRED;
    return lifetime->deleted_us > dropped_us ? FATE_DELETED : FATE_ABSENT;
}

/* Counts both markers of each range tombstone that overlaps the scanned range. The deletion of a whole
 * partition has no markers. */
static uint64_t range_markers(const struct walk *walk, int64_t from_ns, int64_t until_ns)
{
    uint64_t markers = 0;
    for (uint32_t at = walk->partition->ranges; at != CASS_NONE; at = range_at(walk->cluster, at)->next) {
        const struct range *range = range_at(walk->cluster, at);
        bool is_all = range->from_ns == INT64_MIN && range->until_ns == INT64_MAX;
        markers += !is_all && range->from_ns < until_ns && range->until_ns >= from_ns ? 2 : 0;
    }
    for (uint32_t at = walk->partition->unresolved; at != CASS_NONE; at = row_at(walk->cluster, at)->next) {
        const struct row *row = row_at(walk->cluster, at);
        bool is_range = row->flags & ROW_RANGE && !(row->flags & ROW_ALL) && is_seen(walk, row);
        markers += is_range && row->time_ns < until_ns && row->order >= from_ns ? 2 : 0;
    }
    return markers;
}

/* The bounds of a scan: places after `low`, if has_low, and with times before until_ns. A read of a time span
 * continues to the row below it (goes_below), a count does not. */
struct bounds {
    bool has_low, goes_below;
    struct clustering low;
    int64_t until_ns;
    uint64_t limit;
};

static struct bounds bounds_of(const struct cass_statement *statement)
{
    struct bounds bounds = {.until_ns = INT64_MAX,
                            .limit = statement->limit > 0 ? statement->limit : UINT64_MAX};
    if (statement->kind == CASS_COUNT_ROWS) {
        bounds.has_low = statement->has_after;
        bounds.low = (struct clustering){statement->after_time_ns, statement->after_order};
        bounds.limit = UINT64_MAX;
    } else if (statement->has_span) {
        bounds.has_low = bounds.goes_below = statement->from_ns != INT64_MIN;
        bounds.low = (struct clustering){statement->from_ns - bounds.has_low, INT64_MAX};
        bounds.until_ns = statement->until_ns;
    }
    return bounds;
}

/* Counts the rows of one chunk. Returns whether the read continues after it. */
static bool scan_chunk(const struct walk *walk, uint32_t index, const struct bounds *bounds, struct scan *out)
{
    const struct clustering_chunk *chunk = chunk_at(walk->cluster, index);
    bool is_plain_chunk = lifetimes_at(walk->cluster, index)->special == 0 && !walk->has_ranges;
    if (chunk->places[0].time_ns >= bounds->until_ns && bounds->until_ns != INT64_MAX)
        return true;
    if (is_plain_chunk && (!bounds->has_low || is_after(&chunk->places[0], &bounds->low)) &&
        (bounds->until_ns == INT64_MAX || chunk->places[chunk->count - 1].time_ns < bounds->until_ns)) {
        if (out->rows == 0)
            out->last = chunk->places[chunk->count - 1];
        out->rows += chunk->count;
        out->rows = out->rows < bounds->limit ? out->rows : bounds->limit;
        return out->rows < bounds->limit;
    }
    struct lifetime items[CLUSTERING_CHUNK];
    if (!is_plain_chunk)
        fill_lifetimes(walk, index, items);
    for (uint32_t i = chunk->count; i-- > 0;) {
        const struct clustering *place = &chunk->places[i];
        if (place->time_ns >= bounds->until_ns && bounds->until_ns != INT64_MAX)
            continue;
        enum fate fate = is_plain_chunk ? FATE_LIVE : fate_of(walk, &items[i], place->time_ns);
        if (bounds->has_low && !is_after(place, &bounds->low)) {
            out->saw_older = fate == FATE_LIVE && bounds->goes_below;
            if (out->saw_older || !bounds->goes_below)
                return false;
            continue;
        }
        out->tombstones += fate == FATE_DELETED   ? 1
                           : fate == FATE_EXPIRED ? walk->cluster->config.row_cells
                                                  : 0;
        if (fate != FATE_LIVE)
            continue;
        if (out->rows == 0)
            out->last = *place;
        if (++out->rows == bounds->limit)
            return false;
    }
    return true;
}

void cass_lifetimes_scan(const struct cass_cluster *cluster, uint32_t partition,
                         const struct cass_statement *statement, uint32_t replicas, struct scan *out)
{
    const struct walk walk = {.cluster = cluster,
                              .partition = partition_at(cluster, partition),
                              .replicas = replicas,
                              .now_s = now_ns(cluster) / SIM_SECOND,
                              .has_ranges = partition_at(cluster, partition)->ranges != CASS_NONE ||
                                            partition_at(cluster, partition)->open_ranges > 0};
    const struct bounds bounds = bounds_of(statement);
    int64_t oldest_ns = bounds.has_low ? bounds.low.time_ns : INT64_MIN;
    *out = (struct scan){0};
    for (uint32_t at = walk.partition->newest; at != CASS_NONE; at = chunk_at(cluster, at)->next) {
        if (!scan_chunk(&walk, at, &bounds, out))
            break;
    }
    if (walk.has_ranges)
        out->tombstones += range_markers(&walk, oldest_ns, bounds.until_ns);
}
