/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads. In: operations of their coordinator, and answers of replicas. Kept: the answers so far. Out: what
 * they are together. The coordinator queries as many replicas as the level requires. If their copies differ,
 * it reads all of them in full, merges them, and repairs the outdated ones before it answers. */
#include "state.h"

/* Chooses the replicas to query: the coordinator itself first, then those of its datacenter, then the others,
 * starting with a random one. For EACH_QUORUM, the quorum of each datacenter is taken in turn. */
static uint32_t choose(struct cass_cluster *cluster, uint32_t index, uint32_t alive)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    const uint32_t *replicas = replicas_at(cluster, operation->position);
    uint32_t own = cass_place_datacenter(cluster, operation->place), factor = cluster->factor, set = 0;
    uint32_t start = random_below(&cluster->places[operation->place].choice, factor);
    for (uint32_t pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < factor; i++) {
            uint32_t replica = start + i < factor ? start + i : start + i - factor;
            uint32_t bit = UINT32_C(1) << replica, node = replicas[replica];
            uint32_t datacenter = cluster->nodes[node].datacenter;
            uint32_t distance = node == operation->place ? 0 : datacenter == own ? 1 : 2;
            if (distance != pass || !(alive & operation->counted & bit))
                continue;
            bool is_wanted = bit_count(set) < operation->required;
            if (operation->level == CASS_EACH_QUORUM) {
                uint32_t there =
                    bit_count(set & cass_datacenter_set(cluster, operation->position, datacenter));
                is_wanted = there < cluster->config.datacenters[datacenter].replication_factor / 2 + 1;
            }
            set |= is_wanted ? bit : 0;
        }
    }
    return set;
}

static enum message_kind read_kind(const struct cass_operation *operation)
{
    switch (operation->statement.kind) {
    case CASS_READ_ROWS:
    case CASS_COUNT_ROWS:
        return MESSAGE_READ_ROWS;
    case CASS_READ_COUNTER:
        return MESSAGE_READ_SHARDS;
    default:
        return MESSAGE_READ_CELLS;
    }
}

static void release_answers(struct cass_cluster *cluster, uint32_t gathered)
{
    struct body *body = body_at(cluster, gathered);
    for (uint32_t i = 0; i < cluster->factor; i++) {
        cass_body_release(cluster, body->answers[i]);
        body->answers[i] = CASS_NONE;
    }
}

static void ask(struct cass_cluster *cluster, uint32_t index, enum stage stage)
{
    struct cass_operation *operation = operation_at(cluster, index);
    operation->stage = (uint8_t)stage;
    operation->round++;
    operation->acked = 0;
    release_answers(cluster, operation->gathered);
    cass_operation_send(cluster, index, read_kind(operation), operation->asked, CASS_NONE);
}

void cass_read_begin(struct cass_cluster *cluster, uint32_t index, enum cass_consistency level)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t alive;
    operation->stage = STAGE_READ;
    operation->level = level;
    cass_read_let_go(cluster, index);
    if (!cass_operation_plan(cluster, operation, level, &alive)) {
        cass_operation_unavailable(cluster, index, alive);
        return;
    }
    operation->asked = choose(cluster, index, alive);
    uint32_t gathered = cass_body_new(cluster);
    struct body *body = body_at(cluster, gathered);
    for (uint32_t i = 0; i < cluster->factor; i++)
        body->answers[i] = CASS_NONE;
    operation_at(cluster, index)->gathered = gathered;
    cass_operation_timer(cluster, index, operation->started_ns + cluster->config.timeout_read_ns);
    ask(cluster, index, STAGE_READ);
}

static bool is_of_rows(const struct cass_operation *operation)
{
    return operation->statement.kind == CASS_READ_ROWS || operation->statement.kind == CASS_COUNT_ROWS;
}

/* What these replicas together have seen of the rows. Without lifetimes it is not known which rows a limit
 * left out. */
static struct cass_seen seen_by(const struct cass_cluster *cluster, const struct cass_operation *operation,
                                uint32_t replicas)
{
    struct scan scan = {.seen = {{INT64_MIN, INT64_MIN}, INT64_MAX}};
    if (cluster->config.keeps_lifetimes)
        cass_lifetimes_scan(cluster, operation->entity, &operation->statement, replicas, &scan);
    return scan.seen;
}

/* Whether what a queried replica has seen differs from what another one has: not all rows that differ are
 * within the limit and the span of a read. */
static bool is_rows_mismatch(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    const struct cass_seen all = {{INT64_MIN, INT64_MIN}, INT64_MAX};
    if (cass_rows_laggards(cluster, operation->entity, operation->asked, operation->asked, &all) == 0)
        return false;
    for (uint32_t left = operation->asked; left != 0; left &= left - 1) {
        uint32_t replica = left & -left;
        const struct cass_seen seen = seen_by(cluster, operation, replica);
        if (cass_rows_laggards(cluster, operation->entity, operation->asked, replica, &seen) != 0)
            return true;
    }
    return false;
}

/* Returns the mask of the queried replicas that lack a part of the merged row. */
static uint32_t laggards(const struct cass_cluster *cluster, uint32_t index)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    const struct body *body = body_at(cluster, operation->gathered);
    uint32_t behind = 0;
    if (is_of_rows(operation)) {
        if (operation->entity == CASS_NONE)
            return 0;
        const struct cass_seen seen = seen_by(cluster, operation, operation->asked);
        return cass_rows_laggards(cluster, operation->entity, operation->asked, operation->asked, &seen);
    }
    for (uint32_t set = operation->asked; set != 0; set &= set - 1) {
        uint32_t replica = first_bit(set);
        const struct body *answer = body_at(cluster, body->answers[replica]);
        bool is_behind;
        if (operation->statement.kind == CASS_READ_COUNTER) {
            is_behind = false;
            for (uint32_t leader = 0; leader <= cluster->factor; leader++)
                is_behind = is_behind || answer->shards[leader].clock != body->shards[leader].clock;
        } else {
            is_behind = !cass_image_equal(&answer->image, &body->image) ||
                        !cass_named_equal(cluster, answer->named, body->named);
        }
        behind |= (is_behind ? UINT32_C(1) : 0) << replica;
    }
    return behind;
}

/* Merges the answers. Returns whether they differ. */
static bool gather(struct cass_cluster *cluster, uint32_t index)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    struct body *body = body_at(cluster, operation->gathered);
    if (is_of_rows(operation))
        return operation->entity != CASS_NONE && is_rows_mismatch(cluster, operation);
    if (operation->statement.kind != CASS_READ_COUNTER && (operation->asked & (operation->asked - 1)) == 0) {
        body->image = body_at(cluster, body->answers[first_bit(operation->asked)])->image;
        cass_named_gather(cluster, operation->gathered, operation->asked);
        return false; /* a single answer has no differences */
    }
    body->image = cass_image_none;
    cass_named_gather(cluster, operation->gathered, operation->asked);
    body = body_at(cluster, operation->gathered);
    for (uint32_t leader = 0; leader <= cluster->factor; leader++)
        body->shards[leader] = (struct shard){0};
    for (uint32_t set = operation->asked; set != 0; set &= set - 1) {
        const struct body *answer = body_at(cluster, body->answers[first_bit(set)]);
        if (operation->statement.kind != CASS_READ_COUNTER) {
            cass_image_merge(&body->image, &answer->image);
            continue;
        }
        for (uint32_t leader = 0; leader <= cluster->factor; leader++) {
            if (answer->shards[leader].clock > body->shards[leader].clock)
                body->shards[leader] = answer->shards[leader];
        }
    }
    return laggards(cluster, index) != 0;
}

static void repair(struct cass_cluster *cluster, uint32_t index, uint32_t set)
{
    struct cass_operation *operation = operation_at(cluster, index);
    enum message_kind kind = MESSAGE_WRITE_CELLS;
    operation->stage = STAGE_REPAIR;
    operation->round++;
    operation->acked = 0;
    operation->repairing = set;
    cluster->nodes[operation->place].stats.read_repairs++;
    uint32_t body = operation->gathered;
    if (operation->statement.kind == CASS_READ_COUNTER)
        kind = MESSAGE_REPAIR_SHARDS;
    if (is_of_rows(operation)) {
        kind = MESSAGE_REPAIR_ROWS;
        body_at(cluster, body)->seen = seen_by(cluster, operation, operation->asked);
    }
    cass_operation_send(cluster, index, kind, set, body);
}

/* Returns the number of live rows of the partition that at least one of the queried replicas has. */
static uint64_t seen_rows(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    uint64_t rows = partition_at(cluster, operation->entity)->rows;
    uint64_t missed = cass_rows_missed(cluster, operation->entity, operation->asked);
    return rows - (missed < rows ? missed : rows);
}

/* With the lifetimes of rows: the result is what the queried replicas have together. */
static void finish_scan(struct cass_cluster *cluster, struct cass_operation *operation)
{
    struct cass_reply *reply = &operation->reply;
    struct scan scan;
    cass_lifetimes_scan(cluster, operation->entity, &operation->statement, operation->asked, &scan);
    reply->rows = scan.rows;
    reply->tombstones = scan.tombstones;
    reply->saw_older = scan.saw_older;
    reply->scanned = scan.rows + scan.saw_older + scan.tombstones;
    reply->found = scan.rows > 0;
    if (operation->statement.kind != CASS_COUNT_ROWS || !reply->found)
        return;
    reply->columns[0] = scan.last.time_ns;
    reply->columns[1] = scan.last.order;
    reply->columns_mask = 3;
}

static void finish_rows(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    struct cass_reply *reply = &operation->reply;
    reply->bucket = operation->statement.bucket;
    if (operation->entity == CASS_NONE)
        return;
    cass_partition_expire(cluster, operation->entity);
    if (cluster->config.keeps_lifetimes) {
        finish_scan(cluster, operation);
        return;
    }
    assert(!operation->statement.has_span && !operation->statement.has_after);
    const struct partition *partition = partition_at(cluster, operation->entity);
    uint64_t limit = operation->statement.limit > 0 ? operation->statement.limit : UINT64_MAX;
    uint64_t seen = seen_rows(cluster, operation);
    reply->tombstones = partition->tombstones;
    if (limit < seen) {
        reply->tombstones =
            (uint64_t)((double)partition->tombstones * (double)limit / (double)partition->rows);
        seen = limit;
    }
    reply->rows = seen;
    reply->scanned = seen + reply->tombstones;
    reply->found = seen > 0;
}

void cass_reply_gathered(const struct cass_cluster *cluster, struct cass_operation *operation)
{
    struct cass_reply *reply = &operation->reply;
    const struct image *image = &body_at(cluster, operation->gathered)->image;
    reply->columns_mask = cass_image_live(image, now_ns(cluster), reply->columns);
    uint32_t named = body_at(cluster, operation->gathered)->named;
    reply->found = named == CASS_NONE ? cass_image_is_found(image, now_ns(cluster), reply->columns_mask)
                                      : reply->columns_mask != 0 || cass_named_is_found(cluster, named);
}

static void finish_counter(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    const struct body *body = body_at(cluster, operation->gathered);
    operation->reply.found = cass_count_is_found(body->shards, cluster->factor);
    for (uint32_t leader = 0; leader < cluster->factor && operation->reply.found; leader++)
        operation->reply.counter = cass_count_sum(operation->reply.counter, body->shards[leader].count);
}

static void finish(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    cass_operation_no_timer(cluster, index);
    switch (operation->statement.kind) {
    case CASS_READ_ROWS:
    case CASS_COUNT_ROWS:
        finish_rows(cluster, index);
        break;
    case CASS_READ_COUNTER:
        finish_counter(cluster, index);
        break;
    default:
        cass_reply_gathered(cluster, operation);
        if (operation->ballot.micros != 0) { /* of an LWT or a SERIAL read */
            cass_cas_read_done(cluster, index);
            return;
        }
    }
    operation->acked = operation->asked;
    cass_operation_refuse(cluster, index, CASS_OK);
}

void cass_read_answer(struct cass_cluster *cluster, uint32_t index, const struct message *message)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t bit = UINT32_C(1) << message->replica;
    if (message->flags & MESSAGE_FAILED) {
        operation->failed |= bit;
        if (operation->stage == STAGE_REPAIR)
            return; /* the client then waits for the timeout */
        cass_operation_refuse(cluster, index, CASS_READ_FAILURE);
        return;
    }
    if (operation->acked & bit)
        return;
    operation->acked |= bit;
    if (operation->stage != STAGE_REPAIR && message->body != CASS_NONE) {
        body_at(cluster, operation->gathered)->answers[message->replica] = message->body;
        body_at(cluster, message->body)->references++;
    }
    uint32_t wanted = operation->stage == STAGE_REPAIR ? operation->repairing : operation->asked;
    if (operation->acked != wanted)
        return;
    if (operation->stage == STAGE_REPAIR) {
        finish(cluster, index);
        return;
    }
    bool is_mismatch = gather(cluster, index);
    uint32_t behind = operation->stage == STAGE_READ_AGAIN ? laggards(cluster, index) : 0;
    if (behind != 0)
        repair(cluster, index, behind);
    else if (is_mismatch && operation->stage == STAGE_READ)
        ask(cluster, index, STAGE_READ_AGAIN);
    else
        finish(cluster, index);
}

void cass_read_let_go(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (operation->gathered == CASS_NONE)
        return;
    release_answers(cluster, operation->gathered);
    cass_body_release(cluster, operation->gathered);
    operation->gathered = CASS_NONE;
}
