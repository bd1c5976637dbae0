/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: coordinators send requests to the right replicas, wait for the right replicas, and send the correct
 * reply to the client at the event at which the result is known; a read returns the contents of the replicas
 * that it queried. Method: a reference model runs alongside the mock and sees the same messages served and
 * delivered. For each write the model keeps the set of replicas that have it. It derives rows, lifetimes,
 * deletions, cells and shards from the statements alone, and the nodes that are down or partitioned from the
 * faults alone. For each operation it follows which replicas have answered. After each event, an operation of
 * the mock must be answered or finished exactly when the model's operation is, and the reply must match the
 * model's in each field. The model has its own, simplest possible version of levels, request costs, replicas
 * of a key, coordinators, leaders and timestamps. The statements are random: every kind except conditional
 * ones (paxos_model_test.c), at each level, in one to three datacenters with racks, with rows on the exact
 * edges of spans, with times to live and deletions, under message loss, duplicated messages, network
 * partitions, crashes, pauses, failing and slow nodes and clock jumps. */
#include "answers_model.h"

#define STEPS 70

struct model_situation answers_situations[SITUATIONS] = {
    [TOLD_OK] = {"an OK", 0},
    [TOLD_UNAVAILABLE] = {"an UNAVAILABLE", 0},
    [TOLD_WRITE_TIMEOUT] = {"a WRITE_TIMEOUT", 0},
    [TOLD_WRITE_FAILURE] = {"a WRITE_FAILURE", 0},
    [TOLD_READ_TIMEOUT] = {"a READ_TIMEOUT", 0},
    [TOLD_READ_FAILURE] = {"a READ_FAILURE", 0},
    [TOLD_INVALID] = {"an INVALID", 0},
    [LOCAL_BESIDE_OTHERS] = {"a write at a local level that another datacenter acknowledged first", 0},
    [ANY_BY_HINTS] = {"a write at ANY that has hints alone", 0},
    [REPAIRED] = {"a read that repaired a replica", 0},
    [EDGE_READ] = {"a row exactly at the start of a span that was read", 0},
    [EXPIRED_SEEN] = {"a read that met an expired row", 0},
    [DELETED_SEEN] = {"a read that met a deleted row", 0},
    [RANGE_SEEN] = {"a read that met the deletion of a range", 0},
    [CUT_AT_LIMIT] = {"a read that ended at its limit", 0},
    [LEADER_ELSEWHERE] = {"an increment led by another node than its coordinator", 0},
    [CLOCK_BACK] = {"a timestamp of a node whose clock has gone back", 0},
    [CAME_TWICE] = {"an answer that came twice", 0},
    [QUEUED] = {"a request that waited for a server", 0},
};

/* --- the actions */

static uint64_t below(struct answers *model, uint64_t n)
{
    return sim_random_below(&model->random, n);
}

static void crash(struct answers *model, uint32_t node)
{
    if (model->is_down[node])
        return;
    cass_set_down(model->h.cluster, node, true);
    model->is_down[node] = true;
    model->crashes[node]++;
    model->paused_until_ns[node] = NO_TIME;
    for (uint32_t i = 0; i < model->config.concurrency; i++)
        model->free_ns[node][i] = NO_TIME;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        if (model->operations[i].place == node)
            model->operations[i].is_open = false;
    }
}

static void pause(struct answers *model, uint32_t node, int64_t lasts_ns)
{
    int64_t now = sim_queue_now(&model->h.queue), until_ns = model->paused_until_ns[node];
    int64_t more_ns = now + lasts_ns - (until_ns > now ? until_ns : now);
    cass_pause(model->h.cluster, node, lasts_ns);
    if (model->is_down[node] || more_ns <= 0)
        return;
    model->paused_until_ns[node] = now + lasts_ns;
    model->frozen_ns[node] += more_ns;
    model->stats[node].gc_pauses++;
    for (uint32_t i = 0; i < model->config.concurrency; i++) {
        if (model->free_ns[node][i] > now)
            model->free_ns[node][i] += more_ns;
    }
}

static void heal(struct answers *model)
{
    cass_heal(model->h.cluster);
    for (uint32_t node = 0; node < answers_node_count(model); node++) {
        model->is_down[node] = model->is_failing[node] = false;
        model->slow[node] = 1;
        for (uint32_t place = 0; place < PLACES; place++)
            model->is_cut[place][node] = false;
    }
}

/* An administrator's action: every replica holds these columns from now on, and its former columns are
 * gone. */
static void set_columns(struct answers *model)
{
    uint64_t key = REGISTER + below(model, KEYS);
    uint32_t mask = (uint32_t)below(model, 64);
    int64_t columns[CASS_COLUMNS], now_us = sim_queue_now(&model->h.queue) / 1000;
    struct copy set;
    answers_clear_copy(&set);
    set.image.deleted_us = now_us;
    set.image.marker_us = mask != 0 ? now_us + 1 : NO_TIME;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        columns[i] = (int64_t)(model->h.tags + i);
        if (mask >> i & 1)
            set.image.cells[i] = (struct cell){columns[i], now_us + 1, NEVER};
    }
    cass_set_columns(model->h.cluster, key, columns, mask);
    for (uint32_t i = 0; i < model->h.cluster->factor; i++)
        answers_merge_copy(answers_copy_of(model, key, i), &set);
}

static void disturb(struct answers *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t node = (uint32_t)below(model, answers_node_count(model));
    uint32_t other = (uint32_t)below(model, cass_place_count(cluster));
    switch (below(model, 12)) {
    case 0:
        crash(model, node);
        break;
    case 1:
        cass_set_loss(cluster, sim_random_unit(&model->random) * 0.3, 0.1);
        break;
    case 2:
    case 3:
        if (node == other)
            break;
        separate(&model->h, node, other, true);
        model->is_cut[other][node] = true;
        if (other < answers_node_count(model))
            model->is_cut[node][other] = true;
        break;
    case 4:
        pause(model, node, (int64_t)below(model, 3000) * SIM_MS);
        break;
    case 5:
    case 6:
        cass_set_failing(cluster, node, true);
        model->is_failing[node] = true;
        break;
    case 7:
        model->slow[node] = (double)(1 + below(model, 2000));
        cass_set_slow(cluster, node, model->slow[node]);
        break;
    case 8:
        model->clock_ns[node] = ((int64_t)below(model, 4000) - 2000) * SIM_MS / 3;
        cass_set_clock(cluster, node, model->clock_ns[node]);
        break;
    case 9:
        set_columns(model);
        break;
    default:
        heal(model);
    }
    answers_look_around(model);
}

static enum cass_consistency any_level(struct answers *model)
{
    static const enum cass_consistency levels[] = {
        CASS_ANY,       CASS_ONE,       CASS_ONE,          CASS_TWO,          CASS_THREE,
        CASS_QUORUM,    CASS_QUORUM,    CASS_LOCAL_QUORUM, CASS_LOCAL_QUORUM, CASS_EACH_QUORUM,
        CASS_LOCAL_ONE, CASS_LOCAL_ONE, CASS_ALL};
    enum cass_consistency level = levels[below(model, sizeof levels / sizeof *levels)];
    return model->has_invalid && below(model, 60) == 0 ? CASS_SERIAL : level;
}

/* Rows, and the limits of reads and deletions, coincide to the nanosecond or differ by one nanosecond. */
static int64_t any_time(struct answers *model)
{
    int64_t second_ns = START + (int64_t)below(model, 4) * SIM_SECOND;
    return second_ns + (int64_t)below(model, 3) - 1;
}

/* The draws are separate statements, since compilers differ in the order in which they evaluate arguments. */
static struct cass_statement any_statement(struct answers *model, enum cass_statement_kind kind,
                                           uint64_t first_key)
{
    enum cass_consistency level = any_level(model);
    return statement_of(kind, level, first_key + below(model, KEYS));
}

static struct cass_statement row_statement(struct answers *model, uint64_t tag)
{
    enum cass_consistency level = any_level(model);
    struct cass_statement statement = write_row(level, below(model, KEYS), tag);
    statement.bucket = (int64_t)below(model, BUCKETS);
    statement.row_time_ns = any_time(model);
    statement.row_order = (int64_t)below(model, 2);
    statement.bytes = 10 + below(model, 200);
    if (model->has_ttl && below(model, 3) == 0)
        statement.ttl_ns = 1 + (int64_t)below(model, 9) * SIM_SECOND / 2;
    else if (below(model, 4) == 0)
        statement.ttl_ns = CASS_NO_TTL;
    if (model->config.keeps_lifetimes && below(model, 3) == 0)
        statement.timestamp_us = START / 1000 + (int64_t)below(model, 3) * 20000000;
    if (model->has_deletes && below(model, 3) == 0) {
        uint64_t row = below(model, tag + 1);
        const struct cass_statement *written = &model->statements[row];
        if (row < tag && written->kind == CASS_WRITE_ROW && model->writes[row].deleted_by == 0 &&
            model->writes[row].held != 0) {
            statement.kind = CASS_DELETE_ROW;
            statement.key = written->key;
            statement.bucket = written->bucket;
            statement.row_id = row;
            statement.row_time_ns = written->row_time_ns;
            statement.row_order = written->row_order;
            statement.bytes = written->bytes;
            statement.ttl_ns = 0;
        }
    } else if (model->has_deletes && below(model, 5) == 0) {
        statement.kind = below(model, 3) == 0 ? CASS_DELETE_PARTITION : CASS_DELETE_RANGE;
        statement.from_ns = any_time(model);
        statement.until_ns = statement.from_ns + (int64_t)below(model, 6) * SIM_SECOND;
        statement.ttl_ns = 0;
    }
    return statement;
}

static struct cass_statement row_read(struct answers *model)
{
    bool is_count = below(model, 3) == 0;
    struct cass_statement statement = any_statement(model, is_count ? CASS_COUNT_ROWS : CASS_READ_ROWS, 0);
    statement.bucket = (int64_t)below(model, BUCKETS);
    if (is_count && model->config.keeps_lifetimes) {
        statement.has_after = below(model, 3) != 0;
        const struct cass_statement *row = &model->statements[below(model, model->h.tags + 1)];
        statement.after_time_ns = any_time(model);
        statement.after_order = (int64_t)below(model, 3);
        if (row->kind == CASS_WRITE_ROW && below(model, 2) == 0) {
            statement.key = row->key;
            statement.bucket = row->bucket;
            statement.after_time_ns = row->row_time_ns;
            statement.after_order = row->row_order;
        }
    }
    if (is_count)
        return statement;
    statement.limit = below(model, 2) == 0 ? 0 : 1 + below(model, 6);
    if (model->config.keeps_lifetimes && below(model, 3) != 0) {
        statement.has_span = true;
        statement.from_ns = below(model, 6) == 0 ? INT64_MIN : any_time(model) - SIM_SECOND;
        int64_t later_ns = (int64_t)below(model, 2) * SIM_SECOND;
        statement.until_ns = below(model, 6) == 0 ? INT64_MAX : any_time(model) + later_ns;
    }
    return statement;
}

static struct cass_statement cells_statement(struct answers *model, uint64_t tag)
{
    static const enum cass_statement_kind kinds[] = {
        CASS_WRITE_COLUMNS, CASS_WRITE_COLUMNS, CASS_DELETE_COLUMNS, CASS_READ_COLUMNS, CASS_READ_COLUMNS};
    struct cass_statement statement = any_statement(model, kinds[below(model, 5)], REGISTER);
    if (statement.kind == CASS_READ_COLUMNS && statement.consistency == CASS_SERIAL)
        statement.consistency = CASS_ANY; /* Paxos reads belong to paxos_model_test.c */
    statement.set_mask = 1 + (uint32_t)below(model, 63);
    statement.null_mask = below(model, 3) == 0 ? statement.set_mask & (uint32_t)below(model, 64) : 0;
    statement.is_whole_row = statement.kind == CASS_DELETE_COLUMNS && below(model, 2) == 0;
    statement.is_insert = statement.kind == CASS_WRITE_COLUMNS && below(model, 2) == 0;
    for (int i = 0; i < CASS_COLUMNS; i++)
        statement.set[i] = (int64_t)tag * (below(model, 2) == 0 ? -1 : 1);
    if (statement.kind == CASS_WRITE_COLUMNS && below(model, 3) == 0)
        statement.ttl_ns = below(model, 4) == 0 ? CASS_NO_TTL : 1 + (int64_t)below(model, 9) * SIM_SECOND / 2;
    if (below(model, 3) == 0)
        statement.timestamp_us = START / 1000 + (int64_t)below(model, 3) * 20000000;
    return statement;
}

static struct cass_statement named_statement(struct answers *model, uint64_t tag)
{
    static const enum cass_statement_kind kinds[] = {CASS_WRITE_NAMED, CASS_WRITE_NAMED, CASS_DELETE_NAMED,
                                                     CASS_READ_NAMED, CASS_READ_NAMED};
    struct cass_statement statement = any_statement(model, kinds[below(model, 5)], NAMED);
    if (statement.kind == CASS_READ_NAMED)
        return statement;
    if (statement.kind == CASS_WRITE_NAMED && below(model, 3) == 0) {
        statement.set_mask = 1 + (uint32_t)below(model, 7);
        statement.set[0] = statement.set[1] = statement.set[2] = (int64_t)tag;
    }
    statement.named_count = 1 + (uint32_t)below(model, 3);
    for (uint32_t i = 0; i < statement.named_count; i++) {
        bool has_own = below(model, 4) == 0;
        statement.named[i] = (struct cass_named){
            .name = (uint32_t)below(model, COLUMNS),
            .is_delete = below(model, 4) == 0,
            .value = (int64_t)(tag + i),
            .timestamp_us = has_own ? START / 1000 + (int64_t)below(model, 3) * 20000000 : NO_TIME};
    }
    return statement;
}

static struct cass_statement counter_statement(struct answers *model)
{
    static const enum cass_statement_kind kinds[] = {CASS_ADD_COUNTER, CASS_ADD_COUNTER, CASS_ADD_COUNTER,
                                                     CASS_READ_COUNTER, CASS_READ_COUNTER};
    struct cass_statement statement = any_statement(model, kinds[below(model, 5)], COUNTER);
    statement.delta = (int64_t)below(model, 9) - 3;
    if (statement.kind == CASS_ADD_COUNTER && below(model, 12) == 0)
        statement.kind = CASS_DELETE_COUNTER;
    if (below(model, 40) == 0)
        statement.timestamp_us = START / 1000;
    return statement;
}

/* The nodes that a driver may choose: the replicas of its datacenter that it believes up; if there are none,
 * the nodes of its datacenter that it believes up; otherwise any node of its datacenter. */
static uint32_t coordinators_of(const struct answers *model, uint32_t client, uint32_t position)
{
    uint32_t place = answers_node_count(model) + client, sets[3] = {0, 0, 0};
    uint32_t replicas = 0;
    for (uint32_t i = 0; i < model->h.cluster->factor; i++)
        replicas |= UINT32_C(1) << answers_node_of(model, position, i);
    for (uint32_t node = 0; node < answers_node_count(model); node++) {
        if (answers_datacenter_of(model, node) != answers_datacenter_of(model, place))
            continue;
        sets[2] |= UINT32_C(1) << node;
        if (answers_is_up_to(model, place, node))
            sets[1] |= UINT32_C(1) << node;
    }
    sets[0] = sets[1] & replicas;
    return sets[0] != 0 ? sets[0] : sets[1] != 0 ? sets[1] : sets[2];
}

static void send(struct answers *model)
{
    uint64_t tag = model->h.tags;
    if (tag + 1 >= TAGS)
        return;
    struct cass_statement statement;
    switch (below(model, 8)) {
    case 0:
        statement = cells_statement(model, tag);
        break;
    case 1:
        statement = named_statement(model, tag);
        break;
    case 2:
        statement = counter_statement(model);
        break;
    case 3:
    case 4:
        statement = row_read(model);
        break;
    default:
        statement = row_statement(model, tag);
    }
    int64_t now = sim_queue_now(&model->h.queue);
    struct known_write *write = &model->writes[tag];
    int64_t ttl_ns = statement.ttl_ns == 0 ? model->config.default_ttl_ns : statement.ttl_ns;
    model->statements[tag] = statement;
    *write = (struct known_write){
        .is_row = is_row_kind(statement.kind), .expires_s = NEVER, .sent_s = now / SIM_SECOND};
    if (ttl_ns > 0 && statement.kind == CASS_WRITE_ROW)
        write->expires_s = now / SIM_SECOND + ttl_ns / SIM_SECOND + (ttl_ns % SIM_SECOND != 0);
    write->timestamp_us = statement.timestamp_us != NO_TIME ? statement.timestamp_us : now / 1000;
    if (statement.kind == CASS_DELETE_ROW)
        model->writes[statement.row_id].deleted_by = tag;
    uint32_t client = (uint32_t)below(model, model->config.client_count), node = CASS_ANY_NODE;
    if (below(model, 2) == 0)
        node = (uint32_t)below(model, answers_node_count(model));
    model->coordinators[tag] = node != CASS_ANY_NODE
                                   ? UINT32_C(1) << node
                                   : coordinators_of(model, client, answers_position_of(model, &statement));
    if (!model->has_invalid && !answers_is_allowed(&statement)) { /* an archive has none */
        statement.consistency = CASS_ONE;
        statement.timestamp_us = is_row_kind(statement.kind) ? statement.timestamp_us : NO_TIME;
    }
    model->statements[tag] = statement;
    harness_send(&model->h, client, node, &statement);
}

static struct cass_cluster_config draw_config(struct answers *model)
{
    struct cass_cluster_config config = harness_config();
    config.seed = model->run->seed;
    config.client_count = 3;
    config.named_columns = COLUMNS;
    config.num_tokens = 1 + (uint32_t)below(model, 4);
    config.datacenter_count = 1 + (uint32_t)below(model, 3);
    for (uint32_t i = 0; i < config.datacenter_count; i++) {
        struct cass_datacenter *datacenter = &config.datacenters[i];
        snprintf(datacenter->name, sizeof datacenter->name, "dc%u", (unsigned)i);
        datacenter->replication_factor = (uint32_t)(i == 0 ? 1 + below(model, 3) : below(model, 4));
        datacenter->nodes = datacenter->replication_factor + (uint32_t)below(model, 2);
        datacenter->nodes += datacenter->nodes == 0;
        datacenter->racks = 1 + (uint32_t)below(model, 3);
    }
    if (below(model, 3) == 0) {
        config.latency_ns = (struct sim_size){.kind = SIM_SIZE_UNIFORM, .a = 1e5, .b = 3e8};
        sim_size_prepare(&config.latency_ns);
        config.latency_between_ns = config.latency_ns;
    }
    model->is_on_grid = below(model, 3) == 0;
    if (model->is_on_grid) { /* messages arrive at the same instant as other events */
        config.latency_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = 100e6};
        config.latency_between_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = 200e6};
    }
    config.timeout_write_ns = (int64_t)(2 + below(model, 19)) * 100 * SIM_MS;
    config.timeout_read_ns = (int64_t)(2 + below(model, 49)) * 100 * SIM_MS;
    config.timeout_counter_ns = (int64_t)(2 + below(model, 49)) * 100 * SIM_MS;
    config.slow_query_ns = (int64_t)(1 + below(model, 5)) * 100 * SIM_MS;
    config.detect_ns = (int64_t)below(model, 2) * 2 * SIM_SECOND;
    config.hint_window_ns = below(model, 2) == 0 ? 6 * SIM_SECOND : 3 * SIM_HOUR;
    config.concurrency = below(model, 2) == 0 ? SERVERS_MOST : 1 + (uint32_t)below(model, 3);
    config.coordinate_ns = (int64_t)below(model, 3) / 2 * 70 * SIM_US;
    config.write_ns = 80 * SIM_US;
    config.read_ns = 180 * SIM_US;
    config.scan_row_ns = 3 * SIM_US;
    config.scan_tombstone_ns = 2 * SIM_US;
    config.row_cells = 1 + (uint32_t)below(model, 3);
    config.tombstone_warn = 2;
    config.tombstone_fail = below(model, 3) == 0 ? 5 : 100;
    config.default_ttl_ns = 0;
    config.keeps_lifetimes = below(model, 4) < 3;
    model->has_deletes = below(model, 3) != 0 && config.keeps_lifetimes;
    model->has_invalid = below(model, 3) == 0;
    model->has_ttl = below(model, 3) != 0;
    if (model->has_ttl && below(model, 3) == 0)
        config.default_ttl_ns = 7 * SIM_SECOND;
    return config;
}

/* Each datacenter has its replicas, on as many different racks as possible. */
static void check_ring(struct answers *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    for (uint32_t position = 0; position < cluster->ring->token_count; position++) {
        uint32_t nodes = 0;
        for (uint32_t i = 0; i < cluster->factor; i++)
            nodes |= UINT32_C(1) << answers_node_of(model, position, i);
        MODEL_RULE(model->run, bit_count(nodes) == cluster->factor, "ring",
                   "a node has two replicas of a row");
        for (uint32_t i = 0; i < model->config.datacenter_count; i++) {
            const struct cass_datacenter *datacenter = &model->config.datacenters[i];
            uint32_t set = answers_replicas_in(model, position, i), racks = 0, first = 0;
            for (uint32_t k = 0; k < i; k++)
                first += model->config.datacenters[k].nodes;
            for (; set != 0; set &= set - 1)
                racks |= UINT32_C(1) << (answers_node_of(model, position, first_bit(set)) - first) %
                                            datacenter->racks;
            uint32_t most = datacenter->racks < datacenter->nodes ? datacenter->racks : datacenter->nodes;
            most = most < datacenter->replication_factor ? most : datacenter->replication_factor;
            MODEL_RULE(model->run,
                       bit_count(answers_replicas_in(model, position, i)) == datacenter->replication_factor,
                       "ring", "a datacenter has too few or too many replicas");
            MODEL_RULE(model->run, bit_count(racks) == most, "ring", "replicas share a rack that need not");
        }
    }
}

static void begin(struct answers *model)
{
    model->config = draw_config(model);
    harness_start(&model->h, &model->config);
    for (uint32_t i = 0; i < 3 * KEYS; i++) {
        for (uint32_t k = 0; k < CASS_CLUSTER_REPLICAS_MAX; k++)
            answers_clear_copy(&model->copies[i][k]);
    }
    for (uint32_t node = 0; node < NODES_MOST; node++) {
        model->slow[node] = 1;
        model->last_us[node] = model->paused_until_ns[node] = NO_TIME;
        for (uint32_t place = 0; place < PLACES; place++)
            model->gone_since[place][node] = NEVER;
        for (uint32_t i = 0; i < SERVERS_MOST; i++)
            model->free_ns[node][i] = NO_TIME;
    }
    check_ring(model);
}

static void compare_views(struct answers *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t all = (UINT32_C(1) << cluster->factor) - 1;
    for (size_t i = 0; i < cass_partition_count(cluster) && !model->run->is_broken; i++) {
        struct cass_partition_view view, own = {0};
        cass_partition_at(cluster, i, &view);
        uint64_t missing = 0;
        for (uint64_t tag = 0; tag < model->h.tags; tag++) {
            const struct cass_statement *row = &model->statements[tag];
            const struct known_write *write = &model->writes[tag];
            if (!write->is_row || write->held == 0 || row->kind != CASS_WRITE_ROW || row->key != view.key ||
                row->bucket != view.bucket)
                continue;
            bool has_expired = write->expires_s <= answers_now_s(model);
            own.written_rows++;
            own.written_bytes += row->bytes;
            own.tombstones += has_expired;
            own.rows += !has_expired;
            own.bytes += has_expired ? 0 : row->bytes;
            missing += !has_expired && write->held != all;
        }
        bool is_same = view.written_rows == own.written_rows && view.written_bytes == own.written_bytes &&
                       cass_missing_rows(cluster, i) == missing;
        bool is_alike = model->has_deletes || (view.rows == own.rows && view.bytes == own.bytes &&
                                               view.tombstones == own.tombstones);
        MODEL_RULE(model->run, is_same && is_alike, "view",
                   "a partition is shown with other rows than it has");
    }
}

/* Compares the values of registers and counters that the oracles read. */
static void compare_peeks(struct answers *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    for (uint64_t i = 0; i < KEYS; i++) {
        struct told row = {0}, named = {0}, counter = {0};
        struct copy merged[3];
        for (int kind = 0; kind < 3; kind++) {
            answers_clear_copy(&merged[kind]);
            for (uint32_t k = 0; k < cluster->factor; k++)
                answers_merge_copy(&merged[kind],
                                   answers_copy_of(model, REGISTER * (uint64_t)(kind + 1) + i, k));
        }
        answers_expect_cells(model, &merged[0], &row);
        answers_expect_cells(model, &merged[1], &named);
        answers_expect_counter(model, &merged[2], &counter.reply);
        int64_t columns[CASS_COLUMNS], total = 0;
        uint32_t mask;
        struct cass_named cells[COLUMNS];
        bool is_found = cass_peek_merged(cluster, REGISTER + i, columns, &mask);
        bool is_same = is_found == row.reply.found && mask == row.reply.columns_mask;
        for (int k = 0; k < CASS_COLUMNS; k++)
            is_same = is_same && (!(mask >> k & 1) || columns[k] == row.reply.columns[k]);
        MODEL_RULE(model->run, is_same, "peek", "a register is shown as it is not");
        MODEL_RULE(model->run,
                   cass_peek_named(cluster, NAMED + i, cells, COLUMNS) == bit_count(named.named_mask), "peek",
                   "named columns are shown as they are not");
        for (uint32_t k = 0; k < cluster->factor; k++)
            total += answers_copy_of(model, COUNTER + i, k)->shards[k].count;
        MODEL_RULE(model->run, cass_counter_total(cluster, COUNTER + i) == total, "peek",
                   "a counter is shown as it is not");
    }
}

static void compare_stats(struct answers *model)
{
    for (uint32_t node = 0; node < answers_node_count(model) && !model->has_own_hints; node++) {
        struct cass_node_stats has;
        const struct cass_node_stats *due = &model->stats[node];
        cass_node_stats(model->h.cluster, node, &has);
        const struct {
            const char *name;
            uint64_t has, due;
        } figures[] = {
            {"rows", has.rows, due->rows},
            {"bytes", has.bytes, due->bytes},
            {"writes", has.writes, due->writes},
            {"reads", has.reads, due->reads},
            {"counters", has.counters, due->counters},
            {"coordinated", has.coordinated, due->coordinated},
            {"hints", has.hints_stored, due->hints_stored},
            {"repairs", has.read_repairs, due->read_repairs},
            {"slow queries", has.slow_queries, due->slow_queries},
            {"pauses", has.gc_pauses, due->gc_pauses},
            {"dropped", has.dropped, due->dropped},
            {"warnings", has.tombstone_warnings, due->tombstone_warnings},
        };
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            MODEL_RULE(model->run, figures[i].has == figures[i].due, "stats",
                       "node %u counts %" PRIu64 " %s, and not %" PRIu64, node, figures[i].has,
                       figures[i].name, figures[i].due);
    }
}

static void settle(struct answers *model)
{
    heal(model);
    answers_look_around(model);
    answers_run_for(model, SIM_MINUTE);
    for (uint32_t i = 0; i < OPERATIONS; i++)
        MODEL_RULE(model->run, !model->operations[i].is_open, "live",
                   "a minute after the last fault a statement is not over");
}

static void check_seed(struct model_run *run)
{
    struct answers *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->run = run;
    sim_random_init(&model->random, run->seed, SIM_FUZZ, 2);
    begin(model);
    uint64_t calm = below(model, 4);
    for (int step = 0; step < STEPS && !run->is_broken; step++) {
        uint64_t together = 1 + below(model, 5);
        for (uint64_t i = 0; i < together; i++)
            send(model);
        if (calm != 0 && below(model, 4) == 0)
            disturb(model);
        int64_t lasts_ns = (int64_t)(1 + below(model, 1500)) * SIM_MS;
        answers_run_for(model,
                        model->is_on_grid ? (1 + lasts_ns / (100 * SIM_MS)) * 100 * SIM_MS : lasts_ns + 1);
        compare_views(model);
        compare_peeks(model);
    }
    if (!run->is_broken)
        settle(model);
    compare_stats(model);
    harness_stop(&model->h);
    free(model);
}

int main(int argc, char **argv)
{
    return model_main(argc, argv, 100, check_seed, answers_situations, SITUATIONS);
}
