/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small cluster under test: a queue, a clock that runs until a given time, and the replies in the order of
 * their arrival. */
#ifndef TESTS_CASSANDRA_HARNESS_H
#define TESTS_CASSANDRA_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cassandra/cluster.h"
#include "kernel/digest.h"
#include "kernel/time.h"
#include "peek.h"

#define START       (INT64_C(1767225600) * SIM_SECOND)
#define REPLIES_MAX 4096

struct harness {
    struct sim_queue queue;
    struct cass_cluster *cluster;
    struct cass_reply replies[REPLIES_MAX]; /* by tag */
    bool is_answered[REPLIES_MAX];
    int64_t answered_ns[REPLIES_MAX], sent_ns[REPLIES_MAX];
    uint64_t tags, digest, events;
};

/* Three nodes that each hold everything: no latency, no pauses, and no service times except those that a test
 * sets. */
static inline struct cass_cluster_config harness_config(void)
{
    struct cass_cluster_config config;
    cass_cluster_config_default(&config);
    config.seed = 1;
    config.datacenters[0].nodes = 3;
    config.datacenters[0].racks = 1;
    config.latency_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = 1e6};
    config.latency_between_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = 20e6};
    config.write_ns = config.read_ns = config.scan_row_ns = config.scan_tombstone_ns = 0;
    config.gc_every_ns = 0;
    config.detect_ns = 0;
    config.client_count = 2;
    return config;
}

static inline void harness_start(struct harness *harness, const struct cass_cluster_config *config)
{
    struct sim_error error = {0};
    memset(harness, 0, sizeof(*harness));
    assert_true(sim_queue_create(64, START, &harness->queue));
    if (!cass_cluster_create(config, &harness->queue, &harness->cluster, &error))
        fail_msg("%s", error.text);
}

static inline void harness_stop(struct harness *harness)
{
    assert_true(cass_cluster_is_sound(harness->cluster));
    cass_cluster_destroy(harness->cluster);
    sim_queue_destroy(&harness->queue);
}

/* Returns whether there was an event. */
static inline bool harness_step(struct harness *harness)
{
    int64_t time;
    struct sim_event event;
    if (!sim_queue_pop(&harness->queue, &time, &event))
        return false;
    harness->events++;
    harness->digest = sim_digest_chain(harness->digest, (uint64_t)time);
    harness->digest = sim_digest_chain(harness->digest, (uint64_t)event.kind << 32 | event.target);
    harness->digest = sim_digest_chain(harness->digest, event.a);
    if (event.kind == 1)
        return true;
    if (event.kind != CASS_EVENT_REPLY) {
        cass_handle(harness->cluster, &event);
        return true;
    }
    struct cass_reply reply;
    cass_reply_take(harness->cluster, event.b, &reply);
    if (!harness->is_answered[event.a % REPLIES_MAX]) {
        harness->replies[event.a % REPLIES_MAX] = reply;
        harness->answered_ns[event.a % REPLIES_MAX] = time;
    }
    harness->is_answered[event.a % REPLIES_MAX] = true;
    harness->digest = sim_digest_chain(harness->digest, (uint64_t)reply.result);
    return true;
}

/* Runs the events of the next lasts_ns; a marker event of the test leaves the clock at the end of that
 * time. */
static inline void harness_run_for(struct harness *harness, int64_t lasts_ns)
{
    struct sim_event marker = {.kind = 1};
    int64_t end = sim_queue_now(&harness->queue) + lasts_ns;
    sim_queue_push(&harness->queue, end, &marker);
    while (sim_queue_now(&harness->queue) < end)
        assert_true(harness_step(harness));
}

static inline uint64_t harness_send(struct harness *harness, uint32_t client, uint32_t coordinator,
                                    const struct cass_statement *statement)
{
    uint64_t tag = harness->tags++;
    harness->is_answered[tag % REPLIES_MAX] = false;
    harness->sent_ns[tag % REPLIES_MAX] = sim_queue_now(&harness->queue);
    cass_request(harness->cluster, client, coordinator, tag, statement);
    return tag;
}

/* Sends a statement and runs until its answer arrives, for at most a minute. */
static inline struct cass_reply harness_do(struct harness *harness, uint32_t coordinator,
                                           const struct cass_statement *statement)
{
    uint64_t tag = harness_send(harness, 0, coordinator, statement);
    int64_t end = sim_queue_now(&harness->queue) + SIM_MINUTE;
    int64_t time;
    while (!harness->is_answered[tag % REPLIES_MAX] && sim_queue_peek(&harness->queue, &time) && time < end)
        harness_step(harness);
    if (!harness->is_answered[tag % REPLIES_MAX])
        fail_msg("no answer");
    return harness->replies[tag % REPLIES_MAX];
}

static inline struct cass_statement statement_of(enum cass_statement_kind kind,
                                                 enum cass_consistency consistency, uint64_t key)
{
    return (struct cass_statement){.kind = kind,
                                   .consistency = consistency,
                                   .serial_consistency = CASS_SERIAL,
                                   .key = key,
                                   .timestamp_us = INT64_MIN};
}

static inline struct cass_statement set_column(enum cass_consistency consistency, uint64_t key,
                                               uint32_t column, int64_t value)
{
    struct cass_statement statement = statement_of(CASS_WRITE_COLUMNS, consistency, key);
    statement.set_mask = 1u << column;
    statement.set[column] = value;
    return statement;
}

static inline struct cass_statement write_row(enum cass_consistency consistency, uint64_t key,
                                              uint64_t row_id)
{
    struct cass_statement statement = statement_of(CASS_WRITE_ROW, consistency, key);
    statement.row_id = row_id;
    statement.row_time_ns = START;
    statement.bytes = 100;
    return statement;
}

static inline struct cass_statement cas_column(uint64_t key, int64_t expected, int64_t value)
{
    struct cass_statement statement = statement_of(CASS_CAS_COLUMNS, CASS_QUORUM, key);
    statement.if_mask = statement.set_mask = 1;
    statement.equal[0] = expected;
    statement.set[0] = value;
    return statement;
}

/* The column's value in a node's own copy; -1: none. */
static inline int64_t peek(const struct harness *harness, uint32_t node, uint64_t key, uint32_t column)
{
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
    cass_peek_columns(harness->cluster, node, key, columns, &mask);
    return mask >> column & 1 ? columns[column] : -1;
}

static inline void separate(struct harness *harness, uint32_t a, uint32_t b, bool is_separated)
{
    uint8_t left[64] = {0}, right[64] = {0};
    assert_true(cass_place_count(harness->cluster) <= 64);
    left[a] = right[b] = 1;
    cass_set_network_partition(harness->cluster, left, right, is_separated);
}

#endif
