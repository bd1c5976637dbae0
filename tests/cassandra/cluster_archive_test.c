/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an archived cluster is refused when one of its fields contradicts the others, and a cluster that is
 * accepted runs on. Method: a small cluster has statements of every kind under way, a node that is down and
 * hints for it, and locks that are held and waited for. At several moments it is archived with one field of
 * one item altered, and loaded. (The linker wraps the archive's functions with functions of this test, which
 * record the offset at which a field is written.) A field that refers to another item, or that says whether
 * an item exists, has exactly one valid value, so each alteration is refused. Stages, kinds and flags of
 * operations and messages may have other valid values: then the loaded cluster is run to its end, and its
 * assertions must hold. */
#include "../share.h"
#include "state.h"

#include <stdlib.h>

#include "cassandra/archive.h"
#include "cluster_harness.h"
#include "kernel/queue_archive.h"

#define KIND    UINT64_C(0x7465737463617373)
#define CLIENTS 4
#define KEYS    3
#define MOMENTS 80
#define APART   61 /* events between two moments */

struct stand {
    struct sim_queue queue;
    struct cass_cluster *cluster;
    struct cass_cluster_config config;
    struct sim_random random;
    uint64_t events, tags;
    long refused, taken;
};

static struct cass_cluster_config config_of(void)
{
    struct cass_cluster_config config = harness_config();
    config.client_count = CLIENTS;
    config.num_tokens = 2;
    config.named_columns = 4;
    config.keeps_order = config.keeps_lifetimes = true;
    config.paxos = CASS_PAXOS_V2;
    config.concurrency = 2;
    config.coordinate_ns = SIM_MS / 4;
    config.write_ns = config.read_ns = SIM_MS / 2;
    config.gc_every_ns = 50 * SIM_MS;
    config.gc_lasts_ns = 5 * SIM_MS;
    config.hint_retry_ns = 20 * SIM_MS;
    config.loss = 0.02;
    config.duplicate = 0.02;
    return config;
}

static void start(struct stand *stand)
{
    struct sim_error error = {0};
    memset(stand, 0, sizeof *stand);
    stand->config = config_of();
    sim_random_init(&stand->random, 5, SIM_ROW_ID, 0);
    assert_true(sim_queue_create(64, START, &stand->queue));
    assert_true(cass_cluster_create(&stand->config, &stand->queue, &stand->cluster, &error));
}

static void stop(struct stand *stand)
{
    cass_cluster_destroy(stand->cluster);
    sim_queue_destroy(&stand->queue);
}

static void send_any(struct stand *stand)
{
    static const enum cass_consistency levels[] = {CASS_ONE, CASS_QUORUM, CASS_ALL, CASS_SERIAL};
    enum cass_statement_kind kind =
        (enum cass_statement_kind)sim_random_below(&stand->random, CASS_DELETE_PARTITION + 1);
    struct cass_statement statement = statement_of(kind, levels[sim_random_below(&stand->random, 3)],
                                                   sim_random_below(&stand->random, KEYS));
    statement.row_id = stand->tags;
    statement.row_time_ns = sim_queue_now(&stand->queue);
    statement.bytes = 100;
    statement.from_ns = statement.row_time_ns - SIM_SECOND;
    statement.until_ns = statement.row_time_ns;
    statement.ttl_ns = sim_random_below(&stand->random, 3) == 0 && kind == CASS_WRITE_ROW ? SIM_SECOND : 0;
    statement.set_mask = statement.if_mask = 1;
    statement.if_absent = kind == CASS_CAS_COLUMNS && sim_random_below(&stand->random, 2) == 0;
    statement.if_mask = statement.if_absent || kind != CASS_CAS_COLUMNS ? 0 : 1;
    statement.delta = 1;
    statement.limit = kind == CASS_READ_ROWS ? 5 : 0;
    if (kind == CASS_READ_COLUMNS && sim_random_below(&stand->random, 2) == 0)
        statement.consistency = CASS_SERIAL;
    if (kind == CASS_WRITE_NAMED || kind == CASS_DELETE_NAMED) {
        statement.named_count = 1;
        statement.named[0] = (struct cass_named){.name = 1, .value = 7, .timestamp_us = NO_TIME};
        statement.set_mask = 0;
    }
    cass_request(stand->cluster, (uint32_t)sim_random_below(&stand->random, CLIENTS),
                 (uint32_t)sim_random_below(&stand->random, 3), stand->tags++, &statement);
}

/* Returns whether there was an event. */
static bool step(struct sim_queue *queue, struct cass_cluster *cluster)
{
    int64_t time_ns;
    struct sim_event event;
    struct cass_reply reply;
    if (!sim_queue_pop(queue, &time_ns, &event))
        return false;
    if (event.kind == CASS_EVENT_REPLY)
        cass_reply_take(cluster, event.b, &reply);
    else
        cass_handle(cluster, &event);
    return true;
}

static void go_on(struct stand *stand, int events)
{
    for (int i = 0; i < events; i++) {
        if (stand->events++ % 16 == 0)
            send_any(stand);
        assert_true(step(&stand->queue, stand->cluster));
    }
}

/* The field to alter, and the offset at which it was archived. */
static struct {
    const void *field;
    size_t at;
    bool is_seen;
} watched;

static void look(const struct sim_archive *archive, const void *field)
{
    if (field != watched.field || archive->is_loading)
        return;
    watched.at = archive->size;
    watched.is_seen = true;
}

void __real_sim_archive_bool(struct sim_archive *archive, bool *value);
void __wrap_sim_archive_bool(struct sim_archive *archive, bool *value);
void __wrap_sim_archive_bool(struct sim_archive *archive, bool *value)
{
    look(archive, value);
    __real_sim_archive_bool(archive, value);
}

void __real_sim_archive_u8_below(struct sim_archive *archive, uint8_t *value, uint32_t limit);
void __wrap_sim_archive_u8_below(struct sim_archive *archive, uint8_t *value, uint32_t limit);
void __wrap_sim_archive_u8_below(struct sim_archive *archive, uint8_t *value, uint32_t limit)
{
    look(archive, value);
    __real_sim_archive_u8_below(archive, value, limit);
}

void __real_sim_archive_u32(struct sim_archive *archive, uint32_t *value);
void __wrap_sim_archive_u32(struct sim_archive *archive, uint32_t *value);
void __wrap_sim_archive_u32(struct sim_archive *archive, uint32_t *value)
{
    look(archive, value);
    __real_sim_archive_u32(archive, value);
}

void __real_sim_archive_u32_below(struct sim_archive *archive, uint32_t *value, uint64_t limit);
void __wrap_sim_archive_u32_below(struct sim_archive *archive, uint32_t *value, uint64_t limit);
void __wrap_sim_archive_u32_below(struct sim_archive *archive, uint32_t *value, uint64_t limit)
{
    look(archive, value);
    __real_sim_archive_u32_below(archive, value, limit);
}

void __real_sim_archive_u64(struct sim_archive *archive, uint64_t *value);
void __wrap_sim_archive_u64(struct sim_archive *archive, uint64_t *value);
void __wrap_sim_archive_u64(struct sim_archive *archive, uint64_t *value)
{
    look(archive, value);
    __real_sim_archive_u64(archive, value);
}

/* Archives the cluster, writes these bytes from `before` bytes in front of the field on, and loads the
 * result. When the loading succeeds, the cluster runs for a while. */
static bool is_taken_with(struct stand *stand, const void *field, size_t before, const void *bytes,
                          size_t bytes_size)
{
    struct sim_archive archive;
    struct sim_error error = {0};
    unsigned char *data;
    size_t size;
    watched.field = field;
    watched.is_seen = false;
    sim_archive_begin_save(&archive, KIND);
    sim_queue_archive(&stand->queue, &archive);
    cass_cluster_archive(stand->cluster, &archive);
    watched.field = NULL;
    if (field != NULL && watched.is_seen)
        memcpy(archive.data + watched.at - before, bytes, bytes_size);
    assert_true(sim_archive_finish_save(&archive, &data, &size, &error));
    struct sim_queue queue;
    struct cass_cluster *cluster;
    assert_true(sim_queue_create(64, START, &queue));
    assert_true(cass_cluster_create(&stand->config, &queue, &cluster, &error));
    assert_true(sim_archive_begin_load(&archive, data, size, KIND, &error));
    sim_queue_archive(&queue, &archive);
    cass_cluster_archive(cluster, &archive);
    bool fine = sim_archive_finish_load(&archive, &error);
    assert_int_equal(error.class, fine ? SIM_ERROR_NONE : SIM_ERROR_INPUT);
    for (int i = 0; fine && i < 200; i++)
        step(&queue, cluster);
    assert_true(!fine || cass_cluster_is_sound(cluster));
    stand->taken += fine;
    stand->refused += !fine;
    cass_cluster_destroy(cluster);
    sim_queue_destroy(&queue);
    free(data);
    return fine;
}

static bool is_taken_as_byte(struct stand *stand, const void *field, uint8_t value)
{
    return is_taken_with(stand, field, 0, &value, sizeof value);
}

static bool is_taken_as_u32(struct stand *stand, const void *field, uint32_t value)
{
    return is_taken_with(stand, field, 0, &value, sizeof value);
}

static bool is_taken_as_u64(struct stand *stand, const void *field, uint64_t value)
{
    return is_taken_with(stand, field, 0, &value, sizeof value);
}

/* A byte per item: 1 when the item is in use. */
static uint8_t *used_of(const struct cass_pool *pool)
{
    uint8_t *used = malloc(pool->used);
    assert_non_null(used);
    memset(used, 1, pool->used);
    used[CASS_NONE] = 0;
    uint32_t unused = pool->used - 1 - pool->live;
    for (uint32_t at = pool->free_head; unused > 0; unused--) {
        used[at] = 0;
        memcpy(&at, pool->items + at * pool->item_size, sizeof at);
    }
    return used;
}

/* A field of an item whose present value is the only valid one. */
struct link {
    const char *name;
    size_t pool, offset, size;
    size_t unless; /* offset of a field that, when it is 0, makes this field unused; SIZE_MAX: none */
};
#define POOL(name) (offsetof(struct cass_cluster, name) - offsetof(struct cass_cluster, pools))
#define ALWAYS     SIZE_MAX
#define LINK(type, p, field)                                                                                 \
    {                                                                                                        \
#type "." #field, POOL(p) / sizeof(struct cass_pool), offsetof(struct type, field),                  \
            sizeof(((struct type *)0)->field), ALWAYS                                                        \
    }
#define LINK_UNLESS(type, p, field, other)                                                                   \
    {                                                                                                        \
#type "." #field, POOL(p) / sizeof(struct cass_pool), offsetof(struct type, field),                  \
            sizeof(((struct type *)0)->field), offsetof(struct type, other)                                  \
    }

static const struct link links[] = {
    LINK(row, rows, next),
    LINK(row, rows, previous),
    LINK(row, rows, partition),
    LINK(partition, partitions, unresolved),
    LINK(partition, partitions, expiry_head),
    LINK_UNLESS(partition, partitions, expiry_tail, expiry_head),
    LINK(partition, partitions, newest),
    LINK(expiry, expiries, next),
    LINK(clustering_chunk, chunks, next),
    LINK(hint, hints, next),
    LINK(register_entry, registers, paxos),
    LINK(register_entry, registers, named),
    LINK(lock, locks, node),
    LINK(lock, locks, entity),
    LINK(lock, locks, is_counter),
    LINK(lock, locks, holder),
    LINK(lock, locks, head),
    LINK_UNLESS(lock, locks, tail, head),
    LINK(cass_operation, operations, has_timer),
    LINK(cass_operation, operations, has_lock),
    LINK(body, bodies, named),
    LINK(reply_slot, replies, named),
    LINK(message, messages, to),
};

static void alter_links(struct stand *stand)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        const struct link *link = &links[i];
        const struct cass_pool *pool = &stand->cluster->pools[link->pool];
        uint8_t *used = used_of(pool);
        uint32_t tried = 0;
        for (uint32_t item = 1; item < pool->used && tried < 2; item++) {
            unsigned char *at = pool->items + item * pool->item_size;
            uint32_t was = 0, unless = 1;
            memcpy(&was, at + link->offset, link->size);
            if (link->unless != ALWAYS)
                memcpy(&unless, at + link->unless, sizeof unless);
            if (!used[item] || unless == 0)
                continue;
            const uint32_t values[] = {0, 1, was + 1, was - 1};
            for (size_t j = 0; j < (link->size == 1 ? 2 : 4); j++) {
                const void *field = at + link->offset;
                bool fine = values[j] == was || (link->size == 1 ? is_taken_as_byte(stand, field, !was)
                                                                 : is_taken_as_u32(stand, field, values[j]));
                if (values[j] != was && fine)
                    fail_msg("%s %u: %u is taken in place of %u", link->name, item, values[j], was);
            }
            tried++;
        }
        free(used);
    }
}

/* Alters fields that have several valid values; the loaded cluster must run without harm. */
static void alter_stages(struct stand *stand)
{
    struct cass_cluster *cluster = stand->cluster;
    uint8_t *used = used_of(&cluster->operations);
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        struct cass_operation *operation = operation_at(cluster, i);
        if (!used[i])
            continue;
        for (uint8_t stage = 0; stage <= STAGE_SLEEP; stage++)
            is_taken_as_byte(stand, &operation->stage, stage);
        /* The kind and the two levels precede the key in the archive. */
        for (uint32_t kind = 0; kind <= CASS_READ_COUNTER; kind++)
            is_taken_with(stand, &operation->statement.key, 3 * sizeof kind, &kind, sizeof kind);
        is_taken_as_byte(stand, &operation->is_leader, !operation->is_leader);
        is_taken_as_u32(stand, &operation->entity, 0);
        is_taken_as_u32(stand, &operation->body, 0);
        is_taken_as_u32(stand, &operation->gathered, 0);
        is_taken_as_u64(stand, &operation->timer, operation->timer + 1);
        is_taken_as_u32(stand, &operation->generation, operation->generation + 1);
        is_taken_as_u32(stand, &operation->generation, operation->generation + 2);
    }
    free(used);
    used = used_of(&cluster->messages);
    for (uint32_t i = 1; i < cluster->messages.used; i++) {
        struct message *message = message_at(cluster, i);
        if (!used[i])
            continue;
        for (uint8_t kind = 0; kind <= MESSAGE_HINT_ACK; kind++)
            is_taken_as_byte(stand, &message->kind, kind);
        is_taken_as_u32(stand, &message->entity, 0);
        is_taken_as_u32(stand, &message->body, 0);
        is_taken_as_u32(stand, &message->limit, CASS_INVALID);
    }
    free(used);
}

static void alter_hint_lists(struct stand *stand)
{
    struct cass_cluster *cluster = stand->cluster;
    for (size_t i = 0; i < (size_t)cluster->node_count * cluster->node_count; i++) {
        struct hint_list *list = &cluster->hints_for[i];
        assert_false(is_taken_as_byte(stand, &list->has_event, !list->has_event));
        if (list->has_event)
            assert_false(is_taken_as_u64(stand, &list->event, list->event + 1));
        if (list->head == CASS_NONE)
            continue;
        assert_false(is_taken_as_u32(stand, &list->head, 0));
        assert_false(is_taken_as_u32(stand, &list->tail, list->tail + 1));
    }
}

static void test_no_altered_cluster_does_harm(void **unused)
{
    (void)unused;
    struct stand stand;
    start(&stand);
    go_on(&stand, 600);
    cass_set_down(stand.cluster, 2, true);
    int moments = (int)test_part(MOMENTS);
    for (int moment = 0; moment < moments; moment++) {
        go_on(&stand, APART);
        if (moment == moments / 2)
            cass_set_down(stand.cluster, 2, false);
        assert_true(is_taken_with(&stand, NULL, 0, NULL, 0));
        alter_links(&stand);
        alter_hint_lists(&stand);
        if (moment % 4 == 1)
            alter_stages(&stand);
    }
    print_message("%ld altered clusters refused, %ld taken\n", stand.refused, stand.taken);
    assert_true(stand.refused > (long)test_part(1000) && stand.taken > (long)test_part(100));
    stop(&stand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_altered_cluster_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
