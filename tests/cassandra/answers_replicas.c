/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handles the events (what a replica serves, and what arrives), and compares the mock with the model. */
#include "answers_model.h"

/* --- replicas */

static struct known_write *write_of(struct answers *model, const struct row *row)
{
    uint64_t tag = row->row_id;
    if ((row->flags & ROW_KIND) == ROW_DELETE)
        tag = model->writes[tag].deleted_by;
    assert_true(tag < model->h.tags && model->writes[tag].is_row);
    return &model->writes[tag];
}

static void compare_row(struct answers *model, uint32_t index, const struct row *before)
{
    const struct cass_cluster *cluster = model->h.cluster;
    const struct row *row = row_at(cluster, index);
    const struct known_write *write = write_of(model, before);
    uint32_t all = (UINT32_C(1) << cluster->factor) - 1;
    bool is_there = row->row_id == before->row_id && row->flags >> 1 == before->flags >> 1 &&
                    row->partition == before->partition && row->held != 0;
    MODEL_RULE(model->run, is_there ? row->held == write->held : write->held == all, "held",
               "row %" PRIu64 " is on other replicas than those that served it", before->row_id);
}

static void compare_copy(struct answers *model, enum message_kind kind, uint32_t entity, uint32_t replica)
{
    const struct cass_cluster *cluster = model->h.cluster;
    bool is_counter =
        kind == MESSAGE_WRITE_SHARD || kind == MESSAGE_REPAIR_SHARDS || kind == MESSAGE_COUNT_SHARD;
    uint64_t key = is_counter ? counter_at(cluster, entity)->key : register_at(cluster, entity)->key;
    const struct copy *known = answers_copy_of(model, key, replica);
    struct copy own;
    answers_clear_copy(&own);
    if (is_counter) {
        for (uint32_t i = 0; i <= cluster->factor; i++)
            own.shards[i] = *shard_at(cluster, entity, replica, i);
        for (uint32_t i = 0; i < cluster->factor; i++)
            MODEL_RULE(model->run, own.shards[i].count == known->shards[i].count, "shard",
                       "a replica's shard has another count than its leader's had");
    } else {
        own.image = *image_at(cluster, entity, replica);
        const size_t item = cluster->named_copies.item_size;
        uint32_t named = register_at(cluster, entity)->named;
        const struct cell *cells =
            (const struct cell *)(const void *)(cluster->named_copies.items + named * item);
        for (uint32_t i = 0; named != CASS_NONE && i < COLUMNS; i++)
            own.named.cells[i] = cells[replica * COLUMNS + i];
    }
    MODEL_RULE(model->run, answers_is_same_copy(&own, known), "stored",
               "a replica has other cells than it got");
}

/* The leader adds the increment to its shard, and sends the shard to the other replicas. */
static void count(struct answers *model, const struct message *message, uint32_t node)
{
    struct known_operation *known = &model->operations[message->operation];
    if (!known->is_open || known->generation != message->generation || known->phase != COUNTING)
        return;
    if (model->is_failing[node]) {
        answers_tell(model, known, CASS_WRITE_FAILURE);
        known->is_open = false;
        return;
    }
    uint64_t key = counter_at(model->h.cluster, message->entity)->key;
    struct shard *own = &answers_copy_of(model, key, known->leader)->shards[known->leader];
    int64_t clock = answers_clock_us(model, node);
    int64_t deleted = answers_copy_of(model, key, known->leader)->shards[model->h.cluster->factor].clock;
    clock = deleted / 1000 == clock / 1000 ? deleted + 1 : clock;
    own->clock = clock > own->clock ? clock : own->clock + 1;
    own->count += known->delta;
    known->deadline_ns = sim_queue_now(&model->h.queue) + model->config.timeout_write_ns;
    answers_spread(model, message->operation, UINT32_C(1) << known->leader);
    compare_copy(model, MESSAGE_COUNT_SHARD, message->entity, known->leader);
}

/* A replica has served a request; `message` is the request as it was before. */
static void serve(struct answers *model, uint32_t slot, const struct message *message,
                  const struct copy *brought, const struct row *row)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t node = message->to, replica = message->replica;
    struct cass_node_stats *stats = &model->stats[node];
    bool has_failed = model->is_failing[node], is_own = message->from == node;
    bool is_hint = message->flags & MESSAGE_HINT;
    struct copy snapshot;
    answers_clear_copy(&snapshot);
    uint32_t answer = message_at(cluster, slot)->body;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_COUNT_SHARD:
        stats->counters++;
        count(model, message, node);
        return;
    case MESSAGE_READ_ROWS:
    case MESSAGE_READ_CELLS:
    case MESSAGE_READ_SHARDS:
        stats->reads++;
        stats->slow_queries +=
            sim_queue_now(&model->h.queue) > message->sent_ns + model->config.slow_query_ns;
        if (message->kind == MESSAGE_READ_CELLS)
            snapshot = *answers_copy_of(model, register_at(cluster, message->entity)->key, replica);
        if (message->kind == MESSAGE_READ_SHARDS)
            snapshot = *answers_copy_of(model, counter_at(cluster, message->entity)->key, replica);
        has_failed = has_failed || (message->flags & MESSAGE_FAILED) != 0;
        break;
    case MESSAGE_WRITE_ROW:
        stats->writes++;
        if (has_failed)
            break;
        if (!(row->flags & ROW_DELETE) && !(write_of(model, row)->held >> replica & 1)) {
            stats->rows++;
            stats->bytes += row->bytes;
        }
        write_of(model, row)->held |= UINT32_C(1) << replica;
        compare_row(model, message->body, row);
        break;
    case MESSAGE_REPAIR_ROWS:
        stats->writes++;
        for (uint64_t tag = 0; !has_failed && tag < model->h.tags; tag++) {
            struct known_write *write = &model->writes[tag];
            const struct partition *partition = partition_at(cluster, message->entity);
            const struct cass_statement *statement = &model->statements[tag];
            if (!write->is_row || (write->held & message->limit) == 0 || write->held >> replica & 1 ||
                statement->key != partition->key || statement->bucket != partition->bucket ||
                !answers_is_seen(&brought->seen, statement))
                continue;
            write->held |= UINT32_C(1) << replica;
            stats->rows += statement->kind == CASS_WRITE_ROW;
            stats->bytes += statement->kind == CASS_WRITE_ROW ? statement->bytes : 0;
        }
        break;
    default: {
        stats->writes++;
        if (has_failed)
            break;
        bool is_counter = message->kind == MESSAGE_WRITE_SHARD || message->kind == MESSAGE_REPAIR_SHARDS;
        uint64_t key = is_counter ? counter_at(cluster, message->entity)->key
                                  : register_at(cluster, message->entity)->key;
        answers_merge_copy(answers_copy_of(model, key, replica), brought);
        compare_copy(model, (enum message_kind)message->kind, message->entity, replica);
    }
    }
    if (is_hint)
        return;
    if (is_own) {
        answers_take_answer(model, message, has_failed, &snapshot);
        return;
    }
    MODEL_RULE(model->run, ((message_at(cluster, slot)->flags & MESSAGE_FAILED) != 0) == has_failed, "failed",
               "a replica that fails says that it does not, or the other way round");
    if (answer != CASS_NONE && !has_failed && message->kind != MESSAGE_READ_ROWS &&
        message_at(cluster, slot)->kind == MESSAGE_ANSWER) {
        assert_true(answer < BODIES);
        model->snapshots[answer] = snapshot;
    }
}

/* A request has arrived at a replica. */
static void receive(struct answers *model, uint32_t slot, const struct message *message)
{
    const struct cass_cluster_config *config = &model->config;
    const struct known_operation *known = &model->operations[message->operation];
    uint32_t node = message->to;
    int64_t cost_ns = config->write_ns, timeout_ns = config->timeout_write_ns;
    bool is_read_of_rows = message->kind == MESSAGE_READ_ROWS;
    uint64_t tombstones = 0;
    if (is_read_of_rows || message->kind == MESSAGE_READ_CELLS || message->kind == MESSAGE_READ_SHARDS) {
        cost_ns = config->read_ns;
        timeout_ns = config->timeout_read_ns;
    }
    bool is_current = known->generation == message->generation && known->round == message->round;
    if (message->kind == MESSAGE_READ_CELLS)
        cost_ns += answers_cost_of_named(model, register_at(model->h.cluster, message->entity)->key,
                                         message->replica);
    if (is_read_of_rows && config->keeps_lifetimes && is_current) {
        cost_ns = known->cost_ns[message->replica]; /* computed when the request was sent */
        tombstones = known->tombstones[message->replica];
    } else if (is_read_of_rows && is_current) {
        cost_ns += answers_cost_of_scan(model, known, message->replica, &tombstones);
    } else if (is_read_of_rows) {
        model->has_own_hints = true; /* the operation that knew the scan's cost is over */
    }
    if (message->flags & MESSAGE_HINT)
        timeout_ns = INT64_MAX;
    assert_true(slot < MESSAGES);
    answers_take_up(model, node, cost_ns, message->sent_ns, timeout_ns, &model->planned[slot]);
    bool fails = (message_at(model->h.cluster, slot)->flags & MESSAGE_FAILED) != 0;
    model->stats[node].tombstone_warnings += tombstones > config->tombstone_warn;
    MODEL_RULE(model->run, !is_read_of_rows || !is_current || fails == (tombstones > config->tombstone_fail),
               "failed", "a read over %" PRIu64 " tombstones fails, or does not", tombstones);
}

/* --- comparison with the mock */

static void compare_operations(struct answers *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    assert_true(cluster->operations.used <= OPERATIONS);
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        struct known_operation *known = &model->operations[i];
        const struct cass_operation *operation = operation_at(cluster, i);
        bool is_busy = operation->generation % 2 == 1 && operation->stage != STAGE_TRAVELLING;
        bool is_known = known->is_open && known->generation == operation->generation;
        const struct cass_statement *statement = &model->statements[known->tag];
        MODEL_RULE(model->run, is_busy || !known->is_open, "ended",
                   "a coordinator ends a statement of kind %d at %s too early", (int)statement->kind,
                   cass_consistency_name(known->level));
        MODEL_RULE(model->run, !is_busy || is_known, "ended",
                   "a coordinator continues with a statement of kind %d at %s that is over",
                   (int)statement->kind, cass_consistency_name(known->level));
        MODEL_RULE(model->run, !is_busy || operation->is_answered == known->is_answered, "told",
                   "a statement of kind %d at %s is answered too %s", (int)statement->kind,
                   cass_consistency_name(known->level), operation->is_answered ? "early" : "late");
    }
}

static void compare_busy(struct answers *model)
{
    for (uint32_t node = 0; node < answers_node_count(model) && !model->has_own_hints; node++)
        MODEL_RULE(model->run, model->h.cluster->nodes[node].stats.busy_ns == model->stats[node].busy_ns,
                   "cost", "node %u has worked for %" PRId64 " ns, and not for %" PRId64, node,
                   model->h.cluster->nodes[node].stats.busy_ns, model->stats[node].busy_ns);
}

static void check_travel(struct answers *model, const struct message *message)
{
    int64_t took_ns = sim_queue_now(&model->h.queue) - message->sent_ns;
    bool is_near = answers_datacenter_of(model, message->from) == answers_datacenter_of(model, message->to);
    const struct sim_size *latency = is_near ? &model->config.latency_ns : &model->config.latency_between_ns;
    if (latency->kind != SIM_SIZE_CONSTANT || message->kind == MESSAGE_REQUEST)
        return;
    MODEL_RULE(model->run, took_ns == (int64_t)latency->a, "latency", "a message takes %" PRId64 " ns",
               took_ns);
}

static void arrive(struct answers *model, uint32_t slot, const struct message *message, uint32_t generation)
{
    uint32_t node = message->to;
    bool was_put_off = model->is_put_off[slot];
    model->is_put_off[slot] =
        !model->is_down[node] && sim_queue_now(&model->h.queue) < model->paused_until_ns[node];
    if (model->is_down[node] || model->is_put_off[slot])
        return;
    if (!was_put_off)
        check_travel(model, message);
    switch ((enum message_kind)message->kind) {
    case MESSAGE_REQUEST:
        if (model->config.coordinate_ns == 0)
            answers_begin_operation(model, message->operation, generation, node);
        else
            answers_take_up(model, node, model->config.coordinate_ns, sim_queue_now(&model->h.queue),
                            INT64_MAX, &model->planned[slot]);
        break;
    case MESSAGE_COUNT:
    case MESSAGE_HINT_ACK:
        break;
    case MESSAGE_ACK:
    case MESSAGE_ANSWER:
        answers_take_answer(model, message, (message->flags & MESSAGE_FAILED) != 0,
                            message->body != CASS_NONE ? &model->snapshots[message->body] : NULL);
        break;
    default:
        receive(model, slot, message);
    }
}

/* Finds the leaders that have accepted an increment. */
static void look_for_leaders(struct answers *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        struct known_operation *known = &model->operations[i];
        if (operation->generation % 2 == 0 || !operation->is_leader)
            continue;
        if (!known->is_open || known->generation != operation->generation)
            answers_begin_leader(model, i);
    }
}

/* An increment that waits for a counter's stripe waits for another increment that holds it, and the stripe is
 * granted in the order of arrival. */
static void check_stripe(struct answers *model, uint32_t index)
{
    const struct known_operation *known = &model->operations[index];
    bool is_held = false;
    for (uint32_t i = 1; i < model->h.cluster->operations.used; i++) {
        const struct known_operation *other = &model->operations[i];
        if (i == index || !other->is_open || other->phase != COUNTING || other->place != known->place ||
            other->entity != known->entity)
            continue;
        is_held = is_held || other->asked != 0;
        MODEL_RULE(model->run,
                   known->asked == 0 || other->asked != 0 || other->started_ns >= known->started_ns, "stripe",
                   "an increment is counted before one that came earlier");
    }
    MODEL_RULE(model->run, (known->asked == 0) == is_held, "stripe",
               "an increment waits for nobody, or is counted beside another");
}

/* Finds the increments that now hold their counter's stripe, and so send the request to their own node. */
static void look_for_counts(struct answers *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        struct known_operation *known = &model->operations[i];
        if (!known->is_open || known->phase != COUNTING || operation->stage != STAGE_COUNT ||
            known->asked != 0)
            continue;
        known->asked = UINT32_C(1) << known->leader;
        answers_take_up(model, known->place, model->config.read_ns + model->config.write_ns,
                        sim_queue_now(&model->h.queue), model->config.timeout_counter_ns, &known->own);
    }
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        if (model->operations[i].is_open && model->operations[i].phase == COUNTING)
            check_stripe(model, i);
    }
}

static bool is_served(const struct cass_cluster *cluster, const struct message *message)
{
    const struct node *node = &cluster->nodes[message->to];
    return message->epoch == node->epoch && node->frozen_ns <= message->frozen_ns;
}

static void check_moment(struct answers *model, uint32_t slot, const struct message *message)
{
    const struct known_operation *known = &model->operations[message->operation];
    bool is_own = message->from == message->to;
    if (model->has_own_hints || (is_own && (known->generation != message->generation ||
                                            (known->round != message->round && known->phase != COUNTING))))
        return;
    const struct planned *planned = is_own ? &known->own : &model->planned[slot];
    MODEL_RULE(model->run, planned->crashes == model->crashes[message->to], "served",
               "node %u serves what it took up before it crashed", message->to);
    int64_t due_ns = planned->at_ns + model->frozen_ns[message->to] - planned->frozen_ns;
    MODEL_RULE(model->run, sim_queue_now(&model->h.queue) == due_ns, "served",
               "node %u serves a request of kind %d %" PRId64 " ns late", message->to, (int)message->kind,
               sim_queue_now(&model->h.queue) - due_ns);
}

static void handle(struct answers *model, const struct sim_event *event)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t slot = (uint32_t)event->a, generation = 0;
    struct message message = {0};
    struct copy brought;
    struct row row = {0};
    bool is_taken = false;
    if (event->kind == EVENT_ARRIVE || event->kind == EVENT_SERVED) {
        message = *message_at(cluster, slot);
        is_taken = event->kind == EVENT_SERVED && is_served(cluster, &message);
        if (message.kind == MESSAGE_REQUEST)
            generation = operation_at(cluster, message.operation)->generation;
        if (message.kind == MESSAGE_WRITE_ROW)
            row = *row_at(cluster, message.body);
        else if (is_taken && message.body != CASS_NONE)
            brought = answers_copy_of_body(cluster, (enum message_kind)message.kind,
                                           body_at(cluster, message.body));
    }
    if (event->kind == EVENT_TIMER)
        generation = (uint32_t)event->b;
    if (is_taken)
        check_moment(model, slot, &message);
    cass_handle(cluster, event);
    if (event->kind == EVENT_ARRIVE)
        arrive(model, slot, &message, generation);
    if (is_taken && message.kind == MESSAGE_REQUEST)
        answers_begin_operation(model, message.operation, generation, message.to);
    else if (is_taken)
        serve(model, slot, &message, &brought, &row);
    if (event->kind == EVENT_TIMER)
        answers_time_out(model, slot);
    if (event->kind == EVENT_HINTS && event->target == event->a)
        model->has_own_hints = true;
    look_for_leaders(model);
    look_for_counts(model);
    compare_operations(model);
    compare_busy(model);
}

static void check_reply(struct answers *model, uint64_t tag, uint64_t slot)
{
    struct cass_named named[COLUMNS];
    struct cass_reply reply;
    const struct told *told = &model->told[tag];
    const struct cass_reply *due = &told->reply;
    const struct cass_statement *statement = &model->statements[tag];
    uint32_t count = cass_reply_named(model->h.cluster, slot, named, COLUMNS), mask = 0;
    cass_reply_take(model->h.cluster, slot, &reply);
    model->h.is_answered[tag] = true;
    model->h.replies[tag] = reply;
    const char *name = cass_consistency_name(statement->consistency);
    MODEL_RULE(model->run, told->is_known && reply.result == due->result, "result",
               "a statement of kind %d at %s is told %s, and not %s", (int)statement->kind, name,
               cass_result_name(reply.result), told->is_known ? cass_result_name(due->result) : "nothing");
    MODEL_RULE(model->run, reply.received == due->received && reply.required == due->required, "counts",
               "a statement of kind %d at %s is told %u of %u answers, and not %u of %u",
               (int)statement->kind, name, reply.received, reply.required, due->received, due->required);
    static const enum situation of_result[] = {
        [CASS_OK] = TOLD_OK,
        [CASS_UNAVAILABLE] = TOLD_UNAVAILABLE,
        [CASS_WRITE_TIMEOUT] = TOLD_WRITE_TIMEOUT,
        [CASS_WRITE_FAILURE] = TOLD_WRITE_FAILURE,
        [CASS_READ_TIMEOUT] = TOLD_READ_TIMEOUT,
        [CASS_READ_FAILURE] = TOLD_READ_FAILURE,
        [CASS_INVALID] = TOLD_INVALID,
        [CASS_CAS_UNKNOWN] = TOLD_INVALID,
    };
    answers_situations[of_result[reply.result]].count++;
    if (reply.result != CASS_OK)
        return;
    MODEL_RULE(model->run, reply.rows == due->rows && reply.found == due->found, "rows",
               "a read of kind %d at %s finds %" PRIu64 " rows, and not %" PRIu64, (int)statement->kind, name,
               reply.rows, due->rows);
    MODEL_RULE(model->run, reply.tombstones == due->tombstones && reply.scanned == due->scanned, "scanned",
               "a read scans %" PRIu64 ", %" PRIu64 " tombstones, and not %" PRIu64 ", %" PRIu64,
               reply.scanned, reply.tombstones, due->scanned, due->tombstones);
    MODEL_RULE(model->run, reply.saw_older == due->saw_older && reply.bucket == due->bucket, "older",
               "a read saw an older row, or saw none");
    MODEL_RULE(model->run, reply.counter == due->counter, "counter",
               "a counter is reported as %" PRId64 ", and not %" PRId64, reply.counter, due->counter);
    MODEL_RULE(model->run, reply.columns_mask == due->columns_mask, "columns", "a read finds other columns");
    for (uint32_t i = 0; i < CASS_COLUMNS; i++)
        MODEL_RULE(model->run, !(due->columns_mask >> i & 1) || reply.columns[i] == due->columns[i],
                   "columns", "a read finds another value");
    for (uint32_t i = 0; i < count; i++) {
        mask |= UINT32_C(1) << named[i].name;
        MODEL_RULE(model->run, told->named[named[i].name] == named[i].value, "columns",
                   "a read finds another value of a named column");
    }
    MODEL_RULE(model->run, mask == told->named_mask, "columns", "a read finds other named columns");
}

void answers_run_for(struct answers *model, int64_t lasts_ns)
{
    struct harness *h = &model->h;
    struct sim_event marker = {.kind = 1}, event;
    int64_t end_ns = sim_queue_now(&h->queue) + lasts_ns, time_ns;
    sim_queue_push(&h->queue, end_ns, &marker);
    while (!model->run->is_broken && sim_queue_pop(&h->queue, &time_ns, &event) && event.kind != 1) {
        if (event.kind == CASS_EVENT_REPLY)
            check_reply(model, event.a, event.b);
        else
            handle(model, &event);
    }
}
