/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations at their coordinators, from arrival to answer, and the cost of their requests. */
#include "answers_model.h"

/* --- the cost of a request */

int64_t answers_cost_of_scan(const struct answers *model, const struct known_operation *known,
                             uint32_t replica, uint64_t *tombstones)
{
    const struct cass_cluster_config *config = &model->config;
    const struct cass_statement *read = &model->statements[known->tag];
    uint64_t rows;
    *tombstones = 0;
    if (known->entity == CASS_NONE)
        return 0;
    if (config->keeps_lifetimes) {
        struct found found = answers_find_living(model, read, UINT32_C(1) << replica);
        rows = found.rows + found.saw_older;
        *tombstones = found.tombstones;
        rows += rows + found.tombstones == 0;
    } else {
        *tombstones = answers_find_stored(model, read, known->asked, &rows).tombstones;
        if (read->limit > 0 && read->limit < rows) {
            *tombstones = (uint64_t)((double)*tombstones * (double)read->limit / (double)rows);
            rows = read->limit;
        }
    }
    uint64_t most = config->tombstone_fail, met = *tombstones < most ? *tombstones : most;
    return (int64_t)rows * config->scan_row_ns + (int64_t)met * config->scan_tombstone_ns;
}

int64_t answers_cost_of_named(struct answers *model, uint64_t key, uint32_t replica)
{
    const struct copy *copy = answers_copy_of(model, key, replica);
    int64_t cost_ns = 0;
    for (uint32_t i = 0; i < COLUMNS; i++) {
        const struct cell *cell = &copy->named.cells[i];
        if (cell->timestamp_us != NO_TIME)
            cost_ns +=
                cell->deletion_s == NEVER ? model->config.scan_row_ns : model->config.scan_tombstone_ns;
    }
    return cost_ns;
}

/* The node accepts a request: the server that is free first serves it. Returns false when the request
 * would begin after its timeout. */
bool answers_take_up(struct answers *model, uint32_t node, int64_t cost_ns, int64_t sent_ns,
                     int64_t timeout_ns, struct planned *out)
{
    int64_t now = sim_queue_now(&model->h.queue), *first = &model->free_ns[node][0];
    for (uint32_t i = 1; i < model->config.concurrency; i++)
        first = model->free_ns[node][i] < *first ? &model->free_ns[node][i] : first;
    int64_t start_ns = *first > now ? *first : now;
    out->at_ns = NO_TIME;
    if (start_ns - sent_ns > timeout_ns) {
        model->stats[node].dropped++;
        return false;
    }
    answers_situations[QUEUED].count += start_ns > now;
    cost_ns = (int64_t)((double)cost_ns * model->slow[node]);
    *first = start_ns + cost_ns;
    model->stats[node].busy_ns += cost_ns;
    *out = (struct planned){start_ns + cost_ns, model->frozen_ns[node], model->crashes[node]};
    return true;
}

/* --- operations */

void answers_tell(struct answers *model, struct known_operation *known, enum cass_result result)
{
    struct told *told = &model->told[known->tag];
    if (known->is_answered)
        return;
    known->is_answered = true;
    if (known->is_leader) {
        struct known_operation *parent = &model->operations[known->parent];
        if (!parent->is_open || parent->generation != known->parent_generation)
            return;
        parent->led |= UINT32_C(1) << result;
        if (known->place == known->parent_place) { /* the parent operation, on the same node, receives the
                                                      result immediately */
            answers_tell(model, parent, result);
            parent->is_open = false;
        }
        return;
    }
    if (result != CASS_OK)
        memset(&told->reply, 0, sizeof told->reply);
    told->is_known = true;
    told->reply.result = result;
    told->reply.received = bit_count(known->acked & known->counted);
    told->reply.required = known->required;
}

static void plan(struct answers *model, struct known_operation *known)
{
    known->counted = answers_counted_at(model, known->place, known->position, known->level);
    known->required = answers_required_at(model, known->counted, known->level);
}

static void keep_hints(struct answers *model, struct known_operation *known, uint32_t set)
{
    for (uint32_t i = 0; i < model->h.cluster->factor; i++) {
        uint32_t node = answers_node_of(model, known->position, i);
        int64_t since = model->gone_since[known->place][node], now = sim_queue_now(&model->h.queue);
        if (!(set >> i & 1) || (since != NEVER && now > since + model->config.hint_window_ns))
            continue;
        known->hinted |= UINT32_C(1) << i;
        model->stats[known->place].hints_stored++;
        model->has_own_hints = model->has_own_hints || node == known->place;
    }
}

/* A leader on another node reports success to the coordinator even when its own write failed: see
 * coordinator_write.c. */
static void tell_failure(struct answers *model, struct known_operation *known, enum cass_result result)
{
    bool is_forwarded = known->is_leader && known->place != known->parent_place;
    answers_tell(model, known, is_forwarded ? CASS_OK : result);
}

/* After an answer, or after an answer can no longer come: is the result of the write known? */
static void look_at_write(struct answers *model, uint32_t index)
{
    struct known_operation *known = &model->operations[index];
    uint32_t waited = known->asked & known->counted, failures = bit_count(known->failed & known->counted);
    bool is_met = known->level == CASS_ANY ? (known->acked | known->hinted) != 0
                                           : answers_is_enough(model, known, known->acked);
    answers_situations[ANY_BY_HINTS].count +=
        known->level == CASS_ANY && known->acked == 0 && known->hinted != 0;
    answers_situations[LOCAL_BESIDE_OTHERS].count +=
        answers_is_local(known->level) && !is_met && (known->acked & ~known->counted) != 0;
    if (is_met)
        answers_tell(model, known, CASS_OK);
    else if (failures > 0 && bit_count(waited) - failures < known->required)
        tell_failure(model, known, CASS_WRITE_FAILURE);
    if ((known->acked | known->failed) != known->asked)
        return;
    tell_failure(model, known, CASS_WRITE_TIMEOUT);
    known->is_open = false;
}

/* Sends the write to all replicas that are not known to be down. */
void answers_spread(struct answers *model, uint32_t index, uint32_t except)
{
    struct known_operation *known = &model->operations[index];
    uint32_t all = (UINT32_C(1) << model->h.cluster->factor) - 1;
    uint32_t alive = answers_alive_to(model, known->place, known->position) & ~except;
    known->phase = WRITING;
    known->asked = alive | except;
    known->acked = except;
    known->failed = known->hinted = 0;
    known->round = operation_at(model->h.cluster, index)->round;
    for (uint32_t i = 0; i < model->h.cluster->factor; i++) {
        known->cost_ns[i] = model->config.write_ns;
        if (alive >> i & 1 && answers_node_of(model, known->position, i) == known->place)
            answers_take_up(model, known->place, known->cost_ns[i], sim_queue_now(&model->h.queue),
                            model->config.timeout_write_ns, &known->own);
    }
    keep_hints(model, known, all & ~known->asked);
    look_at_write(model, index);
}

int64_t answers_clock_us(const struct answers *model, uint32_t node)
{
    int64_t wall_ns = sim_queue_now(&model->h.queue) + model->clock_ns[node];
    return (wall_ns - wall_ns % SIM_MS) / 1000; /* all are after 1970 */
}

static int64_t next_timestamp_us(struct answers *model, uint32_t node)
{
    int64_t *last_us = &model->last_us[node], fresh_us = answers_clock_us(model, node);
    answers_situations[CLOCK_BACK].count += *last_us > fresh_us;
    *last_us = *last_us >= fresh_us ? *last_us + 1 : fresh_us;
    return *last_us;
}

struct copy answers_copy_of_body(const struct cass_cluster *cluster, enum message_kind kind,
                                 const struct body *body)
{
    struct copy copy;
    answers_clear_copy(&copy);
    copy.seen = body->seen;
    if (kind == MESSAGE_WRITE_SHARD) {
        copy.shards[body->leader] = body->shard;
    } else if (kind == MESSAGE_REPAIR_SHARDS) {
        memcpy(copy.shards, body->shards, (cluster->factor + 1) * sizeof *copy.shards);
    } else {
        copy.image = body->image;
        for (uint32_t i = 0; body->named != CASS_NONE && i < COLUMNS; i++)
            copy.named.cells[i] = named_at(cluster, body->named)[i];
    }
    return copy;
}

static void begin_write(struct answers *model, uint32_t index)
{
    struct known_operation *known = &model->operations[index];
    const struct cass_cluster *cluster = model->h.cluster;
    const struct cass_statement *statement = &model->statements[known->tag];
    uint32_t alive = answers_alive_to(model, known->place, known->position);
    if (known->level != CASS_ANY && !answers_is_enough(model, known, alive)) {
        known->acked = alive;
        answers_tell(model, known, CASS_UNAVAILABLE);
        known->is_open = false;
        return;
    }
    const struct cass_operation *operation = operation_at(cluster, index);
    if (!is_row_kind(statement->kind)) {
        int64_t timestamp_us = statement->timestamp_us;
        if (timestamp_us == NO_TIME)
            timestamp_us = next_timestamp_us(model, known->place);
        known->merged = answers_written_by(model, statement, timestamp_us, cluster->factor);
    }
    known->deadline_ns = known->started_ns + model->config.timeout_write_ns;
    answers_spread(model, index, 0);
    if (is_row_kind(statement->kind) || !known->is_open || operation->generation != known->generation)
        return;
    struct copy sent = answers_copy_of_body(
        cluster, statement->kind == CASS_DELETE_COUNTER ? MESSAGE_WRITE_SHARD : MESSAGE_WRITE_CELLS,
        body_at(cluster, operation->body));
    MODEL_RULE(model->run, answers_is_same_copy(&sent, &known->merged), "content",
               "what a statement of kind %d writes is not what it says", (int)statement->kind);
}

/* The coordinator queries as few replicas as the level requires, beginning with nearby ones. */
static void check_choice(struct answers *model, const struct known_operation *known, uint32_t alive)
{
    uint32_t near =
        answers_replicas_in(model, known->position, answers_datacenter_of(model, known->place)) & alive;
    uint32_t asked = known->asked;
    MODEL_RULE(model->run, (asked & ~(alive & known->counted)) == 0, "asked",
               "a read asks a replica that is gone, or that its level does not count");
    MODEL_RULE(model->run, bit_count(asked) == known->required && answers_is_enough(model, known, asked),
               "asked", "a read at %s asks %u replicas", cass_consistency_name(known->level),
               bit_count(asked));
    if (known->level == CASS_EACH_QUORUM)
        return;
    for (uint32_t i = 0; i < model->h.cluster->factor; i++)
        MODEL_RULE(model->run, answers_node_of(model, known->position, i) != known->place || asked >> i & 1,
                   "asked", "a coordinator does not ask itself");
    MODEL_RULE(model->run, (near & ~asked) == 0 || (asked & ~near) == 0, "asked",
               "a read asks another datacenter though its own has replicas left");
}

static void ask(struct answers *model, uint32_t index, enum phase phase)
{
    struct known_operation *known = &model->operations[index];
    const struct cass_statement *statement = &model->statements[known->tag];
    const struct cass_operation *operation = operation_at(model->h.cluster, index);
    known->phase = phase;
    known->acked = 0;
    MODEL_RULE(model->run, phase == READING || operation->round != known->round, "round",
               "answers of two rounds cannot be told apart");
    known->round = operation->round;
    for (uint32_t i = 0; i < model->h.cluster->factor; i++) {
        known->cost_ns[i] = phase == REPAIRING ? model->config.write_ns : model->config.read_ns;
        known->tombstones[i] = 0;
        bool is_of_rows = statement->kind == CASS_READ_ROWS || statement->kind == CASS_COUNT_ROWS;
        uint32_t set = phase == REPAIRING ? known->repairing : known->asked;
        if (!(set >> i & 1))
            continue;
        if (is_of_rows && phase != REPAIRING)
            known->cost_ns[i] += answers_cost_of_scan(model, known, i, &known->tombstones[i]);
        if (answers_node_of(model, known->position, i) != known->place)
            continue;
        if (!is_of_rows && phase != REPAIRING && statement->kind != CASS_READ_COUNTER)
            known->cost_ns[i] += answers_cost_of_named(model, statement->key, i);
        model->stats[known->place].tombstone_warnings += known->tombstones[i] > model->config.tombstone_warn;
        answers_take_up(model, known->place, known->cost_ns[i], sim_queue_now(&model->h.queue),
                        phase == REPAIRING ? model->config.timeout_write_ns : model->config.timeout_read_ns,
                        &known->own);
    }
}

static void begin_read(struct answers *model, uint32_t index)
{
    struct known_operation *known = &model->operations[index];
    uint32_t alive = answers_alive_to(model, known->place, known->position);
    if (!answers_is_enough(model, known, alive)) {
        known->acked = alive;
        answers_tell(model, known, CASS_UNAVAILABLE);
        known->is_open = false;
        return;
    }
    known->deadline_ns = known->started_ns + model->config.timeout_read_ns;
    known->asked = operation_at(model->h.cluster, index)->asked;
    known->failed = 0;
    check_choice(model, known, alive);
    ask(model, index, READING);
}

static void begin_increment(struct answers *model, uint32_t index)
{
    struct known_operation *known = &model->operations[index];
    const struct cass_operation *operation = operation_at(model->h.cluster, index);
    uint32_t alive = answers_alive_to(model, known->place, known->position);
    if (alive == 0 || !answers_is_enough(model, known, alive)) {
        known->acked = alive;
        answers_tell(model, known, CASS_UNAVAILABLE);
        known->is_open = false;
        return;
    }
    uint32_t near =
        alive & answers_replicas_in(model, known->position, answers_datacenter_of(model, known->place));
    uint32_t leader = body_at(model->h.cluster, operation->body)->leader;
    known->leader = leader;
    known->phase = LEADING;
    known->round = operation->round;
    known->deadline_ns = known->started_ns + model->config.timeout_counter_ns;
    answers_situations[LEADER_ELSEWHERE].count +=
        answers_node_of(model, known->position, leader) != known->place;
    MODEL_RULE(model->run, (near != 0 ? near : alive) >> leader & 1, "leader",
               "an increment is led by a replica that is gone, or in another datacenter than need be");
}

void answers_begin_operation(struct answers *model, uint32_t index, uint32_t generation, uint32_t node)
{
    struct known_operation *known = &model->operations[index];
    const struct cass_operation *operation = operation_at(model->h.cluster, index);
    const struct cass_statement *statement = &model->statements[operation->tag];
    *known = (struct known_operation){.is_open = true,
                                      .generation = generation,
                                      .place = node,
                                      .position = operation->position,
                                      .entity = operation->entity,
                                      .tag = operation->tag,
                                      .level = statement->consistency,
                                      .started_ns = sim_queue_now(&model->h.queue)};
    model->stats[node].coordinated++;
    answers_clear_copy(&known->merged);
    MODEL_RULE(model->run, known->position == answers_position_of(model, statement), "position",
               "a key has other replicas than its token says");
    MODEL_RULE(model->run,
               model->coordinators[known->tag] == 0 || model->coordinators[known->tag] >> node & 1,
               "coordinator", "a driver chooses node %u, which is far away, gone, or no replica", node);
    if (!answers_is_allowed(statement)) {
        answers_tell(model, known, CASS_INVALID);
        known->is_open = false;
        return;
    }
    if (answers_is_nothing(statement)) {
        model->told[known->tag].reply.bucket = statement->kind == CASS_READ_ROWS ? statement->bucket : 0;
        answers_tell(model, known, CASS_OK);
        known->is_open = false;
        return;
    }
    plan(model, known);
    if (answers_is_read(statement->kind))
        begin_read(model, index);
    else if (statement->kind == CASS_ADD_COUNTER)
        begin_increment(model, index);
    else
        begin_write(model, index);
}

void answers_begin_leader(struct answers *model, uint32_t index)
{
    struct known_operation *known = &model->operations[index];
    const struct cass_operation *operation = operation_at(model->h.cluster, index);
    const struct known_operation *parent = &model->operations[operation->parent];
    *known = (struct known_operation){.is_open = true,
                                      .is_leader = true,
                                      .phase = COUNTING,
                                      .generation = operation->generation,
                                      .place = operation->place,
                                      .position = operation->position,
                                      .entity = operation->entity,
                                      .tag = parent->tag,
                                      .level = operation->level,
                                      .delta = operation->statement.delta,
                                      .leader = operation->leader,
                                      .parent = operation->parent,
                                      .parent_generation = operation->parent_generation,
                                      .parent_place = operation->parent_place,
                                      .started_ns = sim_queue_now(&model->h.queue)};
    plan(model, known);
    known->deadline_ns = known->started_ns + model->config.timeout_counter_ns;
    MODEL_RULE(model->run, answers_node_of(model, known->position, known->leader) == known->place, "leader",
               "an increment is led by a node that is not its leader");
    MODEL_RULE(model->run,
               answers_is_enough(model, known, answers_alive_to(model, known->place, known->position)),
               "leader", "a leader takes up an increment whose level it cannot meet");
    MODEL_RULE(model->run,
               parent->generation != operation->parent_generation ||
                   (known->level == parent->level && known->delta == model->statements[parent->tag].delta),
               "leader", "a leader is told another increment than its client asked for");
}

/* The queried replicas that lack what these replicas have and have seen. */
static uint32_t behind_rows(const struct answers *model, const struct known_operation *known, uint32_t where)
{
    const struct cass_statement *read = &model->statements[known->tag];
    const struct cass_seen seen = answers_seen_by(model, read, where);
    uint32_t behind = 0;
    for (uint64_t tag = 0; tag < model->h.tags; tag++) {
        const struct known_write *write = &model->writes[tag];
        if (write->is_row && answers_is_of(&model->statements[tag], read) && (write->held & where) != 0 &&
            answers_is_seen(&seen, &model->statements[tag]))
            behind |= known->asked & ~write->held;
    }
    return behind;
}

static uint32_t behind_merge(struct answers *model, struct known_operation *known, bool *is_mismatch)
{
    const struct cass_statement *read = &model->statements[known->tag];
    uint32_t behind = 0;
    if (read->kind == CASS_READ_ROWS || read->kind == CASS_COUNT_ROWS) {
        /* When the partition did not exist at the time of sending, the model counts no rows. */
        if (known->entity != CASS_NONE && known->phase != READING)
            behind = behind_rows(model, known, known->asked);
        for (uint32_t i = 0; known->entity != CASS_NONE && i < model->h.cluster->factor; i++) {
            if (known->phase == READING && known->asked >> i & 1)
                behind |= behind_rows(model, known, UINT32_C(1) << i);
        }
    } else {
        answers_clear_copy(&known->merged);
        for (uint32_t i = 0; i < model->h.cluster->factor; i++) {
            if (known->asked >> i & 1)
                answers_merge_copy(&known->merged, &known->answers[i]);
        }
        for (uint32_t i = 0; i < model->h.cluster->factor; i++) {
            if (known->asked >> i & 1 && !answers_is_same_copy(&known->answers[i], &known->merged))
                behind |= UINT32_C(1) << i;
        }
    }
    *is_mismatch = behind != 0;
    return behind;
}

static void finish_read(struct answers *model, uint32_t index)
{
    struct known_operation *known = &model->operations[index];
    const struct cass_statement *read = &model->statements[known->tag];
    struct told *told = &model->told[known->tag];
    if (read->kind == CASS_READ_ROWS || read->kind == CASS_COUNT_ROWS)
        answers_expect_rows(model, read, known->entity != CASS_NONE, known->asked, &told->reply);
    else if (read->kind == CASS_READ_COUNTER)
        answers_expect_counter(model, &known->merged, &told->reply);
    else
        answers_expect_cells(model, &known->merged, told);
    known->acked = known->asked;
    answers_tell(model, known, CASS_OK);
    known->is_open = false;
}

static void take_read_answer(struct answers *model, uint32_t index, uint32_t replica, bool has_failed,
                             const struct copy *snapshot)
{
    struct known_operation *known = &model->operations[index];
    const struct cass_operation *operation = operation_at(model->h.cluster, index);
    uint32_t bit = UINT32_C(1) << replica;
    if (has_failed && known->phase != REPAIRING) {
        answers_tell(model, known, CASS_READ_FAILURE);
        known->is_open = false;
    }
    answers_situations[CAME_TWICE].count += (known->acked & bit) != 0;
    if (has_failed || (known->acked & bit) != 0)
        return;
    known->acked |= bit;
    if (known->phase == REPAIRING) {
        if (known->acked == known->repairing)
            finish_read(model, index);
        return;
    }
    if (snapshot != NULL)
        known->answers[replica] = *snapshot;
    if (known->acked != known->asked)
        return;
    bool is_mismatch;
    uint32_t behind = behind_merge(model, known, &is_mismatch);
    if (!is_mismatch) {
        finish_read(model, index);
    } else if (known->phase == READING) {
        MODEL_RULE(model->run, operation->asked == known->asked, "asked",
                   "after a mismatch a read asks other replicas than before");
        ask(model, index, READING_AGAIN);
    } else {
        answers_situations[REPAIRED].count++;
        model->stats[known->place].read_repairs++;
        known->repairing = behind;
        MODEL_RULE(model->run, operation->repairing == behind, "repaired",
                   "a read repairs other replicas than those that lack something");
        ask(model, index, REPAIRING);
    }
}

void answers_take_answer(struct answers *model, const struct message *message, bool has_failed,
                         const struct copy *snapshot)
{
    uint32_t index = message->operation;
    struct known_operation *known = &model->operations[index];
    if (!known->is_open || known->generation != message->generation || known->round != message->round)
        return;
    if (known->phase == LEADING) {
        /* A leader that refused immediately left no trace here; a duplicated message has two leaders. */
        uint32_t led = known->led == 0 ? UINT32_C(1) << CASS_UNAVAILABLE : known->led;
        MODEL_RULE(model->run, led >> message->limit & 1, "leader",
                   "a coordinator hears something else than its leader tells");
        answers_tell(model, known, (enum cass_result)message->limit);
        known->is_open = false;
    } else if (known->phase == WRITING) {
        uint32_t bit = UINT32_C(1) << message->replica;
        if (has_failed) {
            known->failed |= bit & ~known->acked;
            keep_hints(model, known, bit & ~known->acked);
        } else {
            known->acked |= bit;
        }
        look_at_write(model, index);
    } else if (known->phase != COUNTING) {
        take_read_answer(model, index, message->replica, has_failed, snapshot);
    }
}

void answers_time_out(struct answers *model, uint32_t index)
{
    struct known_operation *known = &model->operations[index];
    int64_t until_ns = model->paused_until_ns[known->place];
    if (sim_queue_now(&model->h.queue) < until_ns) {
        known->deadline_ns = until_ns;
        return;
    }
    MODEL_RULE(model->run, sim_queue_now(&model->h.queue) == known->deadline_ns, "deadline",
               "a coordinator waits for %" PRId64 " ns more or less than it should",
               sim_queue_now(&model->h.queue) - known->deadline_ns);
    switch (known->phase) {
    case WRITING:
        keep_hints(model, known, known->asked & ~known->acked & ~known->failed);
        tell_failure(model, known, CASS_WRITE_TIMEOUT);
        break;
    case LEADING:
    case COUNTING:
        answers_tell(model, known, CASS_WRITE_TIMEOUT);
        break;
    default:
        answers_tell(model, known, CASS_READ_TIMEOUT);
    }
    known->is_open = false;
}
