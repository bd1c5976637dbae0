/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives the items of a cluster's pools, field by field. Data that follows from the rest is not archived:
 * positions in the ring, reference counts, and lists, whose links are archived with the items. */
#include "archive_private.h"
#include "data.h"

/* A bound on the shards of a counter, which are summed over leaders and grow by one weight at a time. */
#define COUNT_FAR (INT64_C(1) << 56)
void cass_archive_factor(struct cass_books *books, double *factor);

/* Each field of these structures is archived below. When a field is added, these checks of sizes fail. */
SIM_ARCHIVE_KNOWS(sizeof(struct message) == 64, "messages have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct cass_operation) == 792, "operations have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct body) == 1312, "bodies have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct row) == 72, "rows have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct node) == 256, "nodes have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct register_entry) == 24 && sizeof(struct counter_entry) == 16,
                  "registers or counters have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct partition) == 104, "partitions have changed: archive new fields");

/* Checks that a loaded number is in a range in which sums of a few such numbers do not overflow. The numbers
 * of real runs are. */
static void within(struct cass_books *books, int64_t *value, int64_t least, int64_t limit)
{
    sim_archive_i64(books->archive, value);
    if (books->archive->is_loading)
        sim_archive_check(books->archive, *value >= least && *value < limit);
}

static void span(struct cass_books *books, int64_t *span_ns)
{
    within(books, span_ns, 0, FAR_NS);
}

/* Archives an index, which must be that of an item in use or CASS_NONE. */
static void index_of(struct cass_books *books, const struct cass_pool *pool, uint32_t *index)
{
    sim_archive_u32_below(books->archive, index, pool->used);
    sim_archive_check(books->archive, *index == CASS_NONE || cass_is_used(books, pool, *index));
}

/* Returns NULL if the message's entity is not used any more. */
static const struct cass_pool *entities_of(const struct cass_cluster *cluster, const struct message *message)
{
    switch ((enum message_kind)message->kind) {
    case MESSAGE_WRITE_ROW:
    case MESSAGE_REPAIR_ROWS:
    case MESSAGE_READ_ROWS:
        return &cluster->partitions;
    case MESSAGE_WRITE_CELLS:
    case MESSAGE_READ_CELLS:
    case MESSAGE_PREPARE:
    case MESSAGE_PROPOSE:
    case MESSAGE_COMMIT:
        return &cluster->registers;
    case MESSAGE_WRITE_SHARD:
    case MESSAGE_REPAIR_SHARDS:
    case MESSAGE_READ_SHARDS:
    case MESSAGE_COUNT:
    case MESSAGE_COUNT_SHARD:
        return &cluster->counters;
    default:
        return NULL;
    }
}

void cass_archive_message(struct cass_books *books, struct message *message)
{
    struct sim_archive *archive = books->archive;
    const struct cass_cluster *cluster = books->cluster;
    sim_archive_u8_below(archive, &message->kind, MESSAGE_HINT_ACK + 1);
    sim_archive_u8_below(archive, &message->flags, 2 * MESSAGE_SCANS);
    sim_archive_u16(archive, &message->replica);
    sim_archive_check(archive, message->replica < cluster->factor);
    sim_archive_u32_below(archive, &message->from, cluster->place_count);
    sim_archive_u32_below(archive, &message->to, cluster->node_count);
    sim_archive_check(archive, message->kind == MESSAGE_REQUEST || message->from < cluster->node_count);
    bool is_hint = (message->flags & MESSAGE_HINT) != 0;
    /* In a message that delivers a hint, `operation` is the index of the hint and must not be used as that of
     * an operation. */
    bool may_be_hint = message->kind == MESSAGE_WRITE_ROW || message->kind == MESSAGE_WRITE_CELLS ||
                       message->kind == MESSAGE_WRITE_SHARD || message->kind == MESSAGE_HINT_ACK;
    sim_archive_check(archive, !is_hint || may_be_hint);
    const struct cass_pool *asker = is_hint ? &cluster->hints : &cluster->operations;
    sim_archive_u32_below(archive, &message->operation, is_hint ? UINT32_MAX : asker->used);
    sim_archive_u32(archive, &message->generation);
    sim_archive_u32(archive, &message->round);
    const struct cass_pool *entities = entities_of(cluster, message);
    sim_archive_u32_below(archive, &message->entity, entities == NULL ? UINT32_MAX : entities->used);
    index_of(books, message->kind == MESSAGE_WRITE_ROW ? &cluster->rows : &cluster->bodies, &message->body);
    sim_archive_u32(archive, &message->limit);
    sim_archive_u32(archive, &message->tombstones);
    sim_archive_u32(archive, &message->epoch);
    if (message->kind != MESSAGE_REQUEST) /* the time at which a request was sent is not used */
        cass_archive_past(books, &message->sent_ns);
    span(books, &message->frozen_ns);
    if (message->kind == MESSAGE_WRITE_ROW)
        books->row_holds[message->body]++;
    else
        books->body_holds[message->body]++;
}

/* Archives a timestamp in microseconds, which may be ahead of the time by one for each timestamp taken, or is
 * NO_TIME. */
static void stamp(struct cass_books *books, int64_t *micros)
{
    within(books, micros, NO_TIME, 4 * FAR_NS);
}

static void ballot(struct cass_books *books, struct ballot *ballot)
{
    stamp(books, &ballot->micros);
    sim_archive_u32(books->archive, &ballot->node);
}

static void image(struct cass_books *books, struct image *image)
{
    cass_archive_cells(books, image->cells, CASS_COLUMNS);
    sim_archive_i64(books->archive, &image->marker_us);
    sim_archive_i64(books->archive, &image->marker_until_s);
    sim_archive_i64(books->archive, &image->deleted_us);
}

static void proposal(struct cass_books *books, struct proposal *proposal)
{
    ballot(books, &proposal->ballot);
    sim_archive_bool(books->archive, &proposal->is_empty);
    image(books, &proposal->image);
}

static void shards(struct cass_books *books, struct shard *shards, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        stamp(books, &shards[i].clock);
        within(books, &shards[i].count, -COUNT_FAR, COUNT_FAR);
    }
}

/* Only a body that gathers answers has the fields about answers. */
void cass_archive_body(struct cass_books *books, uint32_t index)
{
    struct sim_archive *archive = books->archive;
    const struct cass_cluster *cluster = books->cluster;
    struct body *body = body_at(cluster, index);
    ballot(books, &body->ballot);
    ballot(books, &body->promised);
    sim_archive_bool(archive, &body->has_accepted);
    sim_archive_bool(archive, &body->has_committed);
    proposal(books, &body->accepted);
    proposal(books, &body->committed);
    image(books, &body->image);
    sim_archive_u64(archive, &body->limit);
    sim_archive_u64(archive, &body->row_id);
    within(books, &body->delta, -COUNT_FAR, COUNT_FAR);
    sim_archive_u32_below(archive, &body->leader, cluster->factor + 1);
    shards(books, &body->shard, 1);
    shards(books, body->shards, cluster->factor + 1);
    index_of(books, &cluster->named, &body->named);
    if (books->archive->is_loading)
        body->references = 0;
    for (uint32_t i = 0; i < cluster->factor && books->gathers[index]; i++) {
        index_of(books, &cluster->bodies, &body->answers[i]);
        books->body_holds[body->answers[i]]++;
    }
}

static const struct cass_pool *entities_asked(const struct cass_cluster *cluster,
                                              const struct cass_operation *operation)
{
    switch (operation->statement.kind) {
    case CASS_WRITE_ROW:
    case CASS_DELETE_ROW:
    case CASS_READ_ROWS:
    case CASS_COUNT_ROWS:
    case CASS_DELETE_RANGE:
    case CASS_DELETE_PARTITION:
        return &cluster->partitions;
    case CASS_ADD_COUNTER:
    case CASS_READ_COUNTER:
    case CASS_DELETE_COUNTER:
        return &cluster->counters;
    default:
        return &cluster->registers;
    }
}

static void replicas(struct cass_books *books, uint32_t *set)
{
    sim_archive_u32_below(books->archive, set, (uint64_t)cass_all_replicas(books->cluster) + 1);
}

static void operation_state(struct cass_books *books, struct cass_operation *operation)
{
    struct sim_archive *archive = books->archive;
    const struct cass_cluster *cluster = books->cluster;
    sim_archive_u8_below(archive, &operation->stage, STAGE_SLEEP + 1);
    bool *const flags[] = {&operation->is_answered,  &operation->is_leader, &operation->is_condition_failed,
                           &operation->has_mismatch, &operation->has_lock,  &operation->is_carrying_row};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        sim_archive_bool(archive, flags[i]);
    sim_archive_check(archive, operation->is_carrying_row == is_row_kind(operation->statement.kind));
    sim_archive_u32(archive, &operation->round);
    sim_archive_u32_below(archive, &operation->place, cluster->node_count);
    sim_archive_u32_below(archive, &operation->client, cluster->config.client_count);
    sim_archive_u64(archive, &operation->tag);
    uint32_t *const sets[] = {&operation->asked,    &operation->acked,   &operation->failed,
                              &operation->hinted,   &operation->counted, &operation->participants,
                              &operation->repairing};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        replicas(books, sets[i]);
    sim_archive_u32(archive, &operation->required);
    SIM_ARCHIVE_ENUM(archive, operation->level, CASS_CONSISTENCY_COUNT);
    if (operation->stage != STAGE_TRAVELLING)
        cass_archive_past(books, &operation->started_ns);
    sim_archive_u64(archive, &operation->timer);
    sim_archive_bool(archive, &operation->has_timer);
    sim_archive_u32_below(archive, &operation->parent, cluster->operations.used);
    sim_archive_u32(archive, &operation->parent_generation);
    sim_archive_u32(archive, &operation->parent_round);
    sim_archive_u32_below(archive, &operation->parent_place, cluster->node_count);
    sim_archive_u32_below(archive, &operation->leader, cluster->factor);
    sim_archive_u32(archive, &operation->contentions);
    sim_archive_u32(archive, &operation->accepted);
    stamp(books, &operation->ballot_least);
    ballot(books, &operation->ballot);
}

static void statement_columns(struct cass_books *books, struct cass_statement *statement)
{
    struct sim_archive *archive = books->archive;
    sim_archive_u32(archive, &statement->set_mask);
    uint32_t *const masks[] = {&statement->null_mask, &statement->if_mask, &statement->if_null_mask,
                               &statement->if_not_mask, &statement->if_in_mask};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        sim_archive_u32(archive, masks[i]);
    bool *const flags[] = {&statement->is_insert, &statement->is_whole_row, &statement->if_absent,
                           &statement->if_exists};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        sim_archive_bool(archive, flags[i]);
    sim_archive_u32_below(archive, &statement->in_count, CASS_IN_MAX + 1);
    for (uint32_t i = 0; i < statement->in_count; i++)
        sim_archive_i64(archive, &statement->in[i]);
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        sim_archive_i64(archive, &statement->set[i]);
        sim_archive_i64(archive, &statement->equal[i]);
    }
    sim_archive_u32_below(archive, &statement->named_count, CASS_NAMED_MAX + 1);
    for (uint32_t i = 0; i < statement->named_count; i++) {
        struct cass_named *named = &statement->named[i];
        sim_archive_u32_below(archive, &named->name, books->cluster->config.named_columns);
        sim_archive_bool(archive, &named->is_delete);
        sim_archive_i64(archive, &named->value);
        sim_archive_i64(archive, &named->timestamp_us);
    }
}

/* Of the statement of a row's write, only the kind and the level are used. */
static void statement(struct cass_books *books, struct cass_statement *statement)
{
    struct sim_archive *archive = books->archive;
    SIM_ARCHIVE_ENUM(archive, statement->kind, CASS_DELETE_PARTITION + 1);
    SIM_ARCHIVE_ENUM(archive, statement->consistency, CASS_CONSISTENCY_COUNT);
    if (is_row_kind(statement->kind))
        return;
    SIM_ARCHIVE_ENUM(archive, statement->serial_consistency, CASS_CONSISTENCY_COUNT);
    sim_archive_u64(archive, &statement->key);
    sim_archive_i64(archive, &statement->bucket);
    sim_archive_u64(archive, &statement->row_id);
    sim_archive_i64(archive, &statement->row_time_ns);
    sim_archive_i64(archive, &statement->row_order);
    sim_archive_bool(archive, &statement->has_after);
    sim_archive_i64(archive, &statement->after_time_ns);
    sim_archive_i64(archive, &statement->after_order);
    sim_archive_u64(archive, &statement->bytes);
    within(books, &statement->ttl_ns, CASS_NO_TTL, FAR_NS);
    sim_archive_u64(archive, &statement->limit);
    sim_archive_bool(archive, &statement->has_span);
    sim_archive_i64(archive, &statement->from_ns);
    sim_archive_i64(archive, &statement->until_ns);
    sim_archive_i64(archive, &statement->timestamp_us);
    within(books, &statement->delta, -COUNT_FAR, COUNT_FAR);
    statement_columns(books, statement);
}

static void reply_fields(struct cass_books *books, struct cass_reply *reply)
{
    struct sim_archive *archive = books->archive;
    SIM_ARCHIVE_ENUM(archive, reply->result,
                     CASS_INVALID); /* the last result, which no statement of a run has */
    sim_archive_bool(archive, &reply->applied);
    sim_archive_bool(archive, &reply->found);
    sim_archive_u32(archive, &reply->columns_mask);
    for (uint32_t i = 0; i < CASS_COLUMNS; i++)
        sim_archive_i64(archive, &reply->columns[i]);
    within(books, &reply->counter, -FAR_NS * 4, FAR_NS * 4);
    sim_archive_u64(archive, &reply->rows);
    sim_archive_u64(archive, &reply->tombstones);
    sim_archive_u64(archive, &reply->scanned);
    sim_archive_i64(archive, &reply->bucket);
    sim_archive_bool(archive, &reply->saw_older);
    sim_archive_u32(archive, &reply->contentions);
    sim_archive_u32(archive, &reply->received);
    sim_archive_u32(archive, &reply->required);
}

void cass_archive_operation(struct cass_books *books, struct cass_operation *operation)
{
    struct sim_archive *archive = books->archive;
    const struct cass_cluster *cluster = books->cluster;
    statement(books, &operation->statement);
    operation_state(books, operation);
    sim_archive_u32_below(archive, &operation->entity, entities_asked(cluster, operation)->used);
    index_of(books, operation->is_carrying_row ? &cluster->rows : &cluster->bodies, &operation->body);
    index_of(books, &cluster->bodies, &operation->gathered);
    if (!operation->is_carrying_row)
        reply_fields(books, &operation->reply);
    if (operation->is_carrying_row)
        books->row_holds[operation->body]++;
    else
        books->body_holds[operation->body]++;
    books->body_holds[operation->gathered]++;
    books->gathers[operation->gathered] = operation->gathered != CASS_NONE;
}

void cass_archive_row(struct cass_books *books, struct row *row)
{
    struct sim_archive *archive = books->archive;
    const struct cass_cluster *cluster = books->cluster;
    sim_archive_u32_below(archive, &row->next, cluster->rows.used);
    sim_archive_u32_below(archive, &row->previous, cluster->rows.used);
    sim_archive_u32_below(archive, &row->partition, cluster->partitions.used);
    replicas(books, &row->held);
    sim_archive_u32_below(archive, &row->flags, 2 * ROW_ALL);
    bool is_range = row->flags & ROW_RANGE;
    sim_archive_check(archive, !is_range || (row->flags & ROW_DELETE && cluster->config.keeps_lifetimes));
    sim_archive_check(archive, is_range || (row->flags & ROW_ALL) == 0);
    sim_archive_u64(archive, &row->row_id);
    sim_archive_u64(archive, &row->bytes);
    sim_archive_i64(archive, &row->time_ns);
    sim_archive_i64(archive, &row->order);
    sim_archive_i64(archive, &row->expires_s);
    sim_archive_i64(archive, &row->timestamp_us);
}

void cass_archive_reply(struct cass_books *books, struct reply_slot *reply)
{
    const struct cass_cluster *cluster = books->cluster;
    index_of(books, &cluster->rows, &reply->row);
    index_of(books, &cluster->named, &reply->named);
    reply_fields(books, &reply->reply);
    books->row_holds[reply->row]++;
}

void cass_archive_hint(struct cass_books *books, struct hint *hint)
{
    struct sim_archive *archive = books->archive;
    const struct cass_cluster *cluster = books->cluster;
    sim_archive_u32_below(archive, &hint->next, cluster->hints.used);
    sim_archive_u8_below(archive, &hint->kind, MESSAGE_HINT_ACK + 1);
    bool is_row = hint->kind == MESSAGE_WRITE_ROW, is_cells = hint->kind == MESSAGE_WRITE_CELLS;
    sim_archive_check(archive, is_row || is_cells || hint->kind == MESSAGE_WRITE_SHARD);
    if (!sim_archive_is_fine(archive)) /* other kinds of messages have no entity */
        return;
    sim_archive_u16(archive, &hint->replica);
    sim_archive_check(archive, hint->replica < cluster->factor);
    index_of(books, is_row ? &cluster->rows : &cluster->bodies, &hint->body);
    const struct message like = {.kind = hint->kind};
    sim_archive_u32_below(archive, &hint->entity, entities_of(cluster, &like)->used);
    if (is_row)
        books->row_holds[hint->body]++;
    else
        books->body_holds[hint->body]++;
}

void cass_archive_partition(struct cass_books *books, struct partition *partition)
{
    struct sim_archive *archive = books->archive;
    const struct cass_cluster *cluster = books->cluster;
    uint64_t rows_most = sim_queue_pushed(cluster->queue); /* each row takes at least one event */
    sim_archive_u64(archive, &partition->key);
    sim_archive_i64(archive, &partition->bucket);
    sim_archive_u64_below(archive, &partition->rows, rows_most + 1);
    sim_archive_u64(archive, &partition->bytes);
    sim_archive_u64_below(archive, &partition->written_rows, rows_most + 1);
    sim_archive_u64(archive, &partition->written_bytes);
    sim_archive_i64(archive, &partition->first_row_ns);
    sim_archive_i64(archive, &partition->last_row_ns);
    sim_archive_u32(archive, &partition->tombstones);
    sim_archive_u32_below(archive, &partition->unresolved, cluster->rows.used);
    sim_archive_u32_below(archive, &partition->expiry_head, cluster->expiries.used);
    sim_archive_u32_below(archive, &partition->expiry_tail, cluster->expiries.used);
    sim_archive_u32_below(archive, &partition->newest, cluster->chunks.used);
    sim_archive_u32_below(archive, &partition->ranges, cluster->ranges.used);
    if (archive->is_loading)
        partition->position = cass_partition_position(cluster, partition->key, partition->bucket);
}

/* Archives a register with its written copies, which have the same index, and with its Paxos states and named
 * columns, if it has any. */
void cass_archive_register(struct cass_books *books, uint32_t index)
{
    struct sim_archive *archive = books->archive;
    const struct cass_cluster *cluster = books->cluster;
    struct register_entry *entry = register_at(cluster, index);
    sim_archive_u64(archive, &entry->key);
    sim_archive_u32_below(archive, &entry->paxos, cluster->paxos.used);
    sim_archive_u32_below(archive, &entry->named, cluster->named_copies.used);
    if (archive->is_loading)
        entry->position = cass_position(cluster, entry->key);
    replicas(books, &entry->written);
    for (uint32_t set = entry->written; set != 0; set &= set - 1)
        image(books, image_place(cluster, index, first_bit(set)));
    struct paxos_state *states =
        (struct paxos_state *)(void *)(cluster->paxos.items + entry->paxos * cluster->paxos.item_size);
    for (uint32_t replica = 0; replica < cluster->factor && entry->paxos != CASS_NONE; replica++) {
        ballot(books, &states[replica].promised);
        proposal(books, &states[replica].accepted);
        proposal(books, &states[replica].committed);
    }
    struct cell *cells =
        (struct cell *)(void *)(cluster->named_copies.items + entry->named * cluster->named_copies.item_size);
    if (entry->named != CASS_NONE)
        cass_archive_cells(books, cells, cluster->factor * cluster->config.named_columns);
}

void cass_archive_counter(struct cass_books *books, uint32_t index)
{
    const struct cass_cluster *cluster = books->cluster;
    struct counter_entry *entry = counter_at(cluster, index);
    sim_archive_u64(books->archive, &entry->key);
    if (books->archive->is_loading)
        entry->position = cass_position(cluster, entry->key);
    shards(books, shard_at(cluster, index, 0, 0), cluster->factor * (cluster->factor + 1));
}

void cass_archive_chunk(struct cass_books *books, struct clustering_chunk *chunk)
{
    sim_archive_u32_below(books->archive, &chunk->next, books->cluster->chunks.used);
    sim_archive_u32_below(books->archive, &chunk->count, CLUSTERING_CHUNK + 1);
    sim_archive_check(books->archive, chunk->count > 0);
    sim_archive_bytes(books->archive, chunk->places, chunk->count * sizeof *chunk->places);
}

void cass_archive_lifetimes(struct cass_books *books, uint32_t index)
{
    struct chunk_lifetimes *lifetimes = lifetimes_at(books->cluster, index);
    sim_archive_bytes(books->archive, lifetimes->items,
                      chunk_at(books->cluster, index)->count * sizeof *lifetimes->items);
}

void cass_archive_range(struct cass_books *books, struct range *range)
{
    sim_archive_u32_below(books->archive, &range->next, books->cluster->ranges.used);
    sim_archive_i64(books->archive, &range->from_ns);
    sim_archive_i64(books->archive, &range->until_ns);
    sim_archive_i64(books->archive, &range->deleted_us);
}

void cass_archive_cells(struct cass_books *books, struct cell *cells, uint32_t count)
{
    sim_archive_bytes(books->archive, cells, count * sizeof *cells);
}

static void stats(struct cass_books *books, struct cass_node_stats *stats)
{
    uint64_t *const counts[] = {&stats->rows,          &stats->bytes,
                                &stats->writes,        &stats->reads,
                                &stats->paxos,         &stats->counters,
                                &stats->coordinated,   &stats->hints_stored,
                                &stats->hints_sent,    &stats->read_repairs,
                                &stats->slow_queries,  &stats->gc_pauses,
                                &stats->dropped,       &stats->tombstone_warnings,
                                &stats->paxos_finished};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sim_archive_u64(books->archive, counts[i]);
    within(books, &stats->busy_ns, 0, 4 * FAR_NS);
}

void cass_archive_node(struct cass_books *books, struct node *node)
{
    struct sim_archive *archive = books->archive;
    sim_archive_bool(archive, &node->is_down);
    sim_archive_bool(archive, &node->is_failing);
    sim_archive_u32(archive, &node->epoch);
    cass_archive_near(books, &node->paused_until_ns);
    span(books, &node->frozen_ns);
    cass_archive_factor(books, &node->slow);
    within(books, &node->clock_offset_ns, -FAR_NS, FAR_NS);
    stamp(books, &node->last_timestamp_us);
    span(books, &node->paxos_mean_ns);
    sim_archive_bytes(archive, &node->pause, sizeof node->pause);
    sim_archive_bytes(archive, &node->backoff, sizeof node->backoff);
    stats(books, &node->stats);
}

/* Archives a time that must not be in the future. */
void cass_archive_past(struct cass_books *books, int64_t *time_ns)
{
    int64_t now = now_ns(books->cluster);
    within(books, time_ns, now > INT64_MIN + FAR_NS ? now - FAR_NS : INT64_MIN, now + 1);
}

/* Archives a time that may be in the past or in the future, or NO_TIME. */
void cass_archive_near(struct cass_books *books, int64_t *time_ns)
{
    int64_t now = now_ns(books->cluster);
    within(books, time_ns, NO_TIME, now < SIM_QUEUE_TIME_MAX - 2 * FAR_NS ? now + FAR_NS : now + 1);
}

/* A read may be of a partition that does not exist yet. */
uint32_t cass_archive_position(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    const struct cass_statement *statement = &operation->statement;
    if (operation->is_carrying_row)
        return partition_at(cluster, operation->entity)->position;
    if (statement->kind == CASS_READ_ROWS || statement->kind == CASS_COUNT_ROWS)
        return cass_partition_position(cluster, statement->key, statement->bucket);
    return cass_position(cluster, statement->key);
}

void cass_archive_factor(struct cass_books *books, double *factor)
{
    sim_archive_double(books->archive, factor);
    if (books->archive->is_loading)
        sim_archive_check(books->archive, *factor > 0 && *factor <= 1e9);
}
