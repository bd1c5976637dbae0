/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cluster_load SCENARIO: the load of tests/cassandra5/latency.py on the mock that a scenario's `cluster`
 * describes. Keeps a number of requests in flight at node 0, as one client does; each answer triggers the
 * next request. Reads lines "KIND IN_FLIGHT" and prints for each "KIND IN_FLIGHT PER_SECOND P50_US P99_US
 * BUSY_US ...", with the service time that each node spent on an operation. Exit code: 0, or 2 for bad
 * input. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/cluster.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "lab/scenario.h"

#define KEYS           10000u
#define PARTITIONS     50u
#define ROWS           1000u
#define TOMBSTONES     900u
#define IN_FLIGHT_MAX  4096u
#define OPERATIONS_MAX 20000u
#define VALUE_BYTES    500u

struct load {
    struct sim_queue queue;
    struct cass_cluster *cluster;
    struct sim_random draw;
    enum cass_consistency level;
    uint64_t row_id, done, failed;
    int64_t sent_ns[IN_FLIGHT_MAX], latencies[OPERATIONS_MAX];
    int64_t turns[IN_FLIGHT_MAX]; /* conditional updates made by each slot */
};

/* The next operation of a kind; `slot` is the operation's place among those in flight. */
typedef void maker(struct load *load, uint32_t slot, struct cass_statement *out);

static int64_t below(struct load *load, uint64_t limit)
{
    return (int64_t)sim_random_below(&load->draw, limit);
}

static void make_insert(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    load->row_id++;
    out->kind = CASS_WRITE_ROW;
    out->key = 1000000 + load->row_id % 4096;
    out->row_id = load->row_id;
    out->row_time_ns = sim_queue_now(&load->queue);
    out->row_order = (int64_t)load->row_id;
    out->bytes = VALUE_BYTES;
}

static void make_state_write(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    out->kind = CASS_WRITE_COLUMNS;
    out->key = KEYS + (uint64_t)below(load, KEYS);
    out->set_mask = (1u << CASS_COLUMNS) - 1;
}

static void make_state_read(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    out->kind = CASS_READ_COLUMNS;
    out->key = (uint64_t)below(load, KEYS);
}

static void make_serial_read(struct load *load, uint32_t slot, struct cass_statement *out)
{
    make_state_read(load, slot, out);
    out->consistency = CASS_SERIAL;
}

static void make_delete(struct load *load, uint32_t slot, struct cass_statement *out)
{
    make_state_read(load, slot, out);
    out->kind = CASS_DELETE_COLUMNS;
    out->key += (uint64_t)3 * KEYS;
    out->is_whole_row = true;
}

static void make_read(struct load *load, struct cass_statement *out, uint64_t limit)
{
    out->kind = CASS_READ_ROWS;
    out->key = (uint64_t)below(load, PARTITIONS);
    out->limit = limit;
}

static void make_read_1(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    make_read(load, out, 1);
}

static void make_read_100(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    make_read(load, out, 100);
}

static void make_read_1000(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    make_read(load, out, 0);
}

static void make_read_range(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    make_read(load, out, 0);
    out->has_span = true;
    out->from_ns = below(load, ROWS - 100) * SIM_SECOND;
    out->until_ns = out->from_ns + 50 * SIM_SECOND;
}

static void make_count_1000(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    make_read(load, out, 0);
    out->kind = CASS_COUNT_ROWS;
}

static void make_tombstones_900(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    make_read(load, out, 0);
    out->bucket = 1;
}

static void make_counter(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    out->kind = CASS_ADD_COUNTER;
    out->key = (uint64_t)below(load, KEYS);
    out->delta = 1;
}

static void make_counter_read(struct load *load, uint32_t slot, struct cass_statement *out)
{
    make_counter(load, slot, out);
    out->kind = CASS_READ_COUNTER;
}

/* Each slot has twenty separate registers, so that slots do not contend. */
static void make_lwt(struct load *load, uint32_t slot, struct cass_statement *out)
{
    int64_t turn = load->turns[slot]++;
    out->kind = CASS_CAS_COLUMNS;
    out->serial_consistency = CASS_SERIAL;
    out->key = slot * 20 + (uint64_t)turn % 20;
    out->if_mask = out->set_mask = 1;
    out->equal[0] = turn / 20;
    out->set[0] = turn / 20 + 1;
}

static const struct kind {
    const char *name;
    maker *make;
} kinds[] = {{"insert", make_insert},
             {"state_write", make_state_write},
             {"state_read", make_state_read},
             {"read_1", make_read_1},
             {"read_100", make_read_100},
             {"read_1000", make_read_1000},
             {"read_range", make_read_range},
             {"count_1000", make_count_1000},
             {"delete", make_delete},
             {"tombstones_900", make_tombstones_900},
             {"counter", make_counter},
             {"counter_read", make_counter_read},
             {"lwt", make_lwt},
             {"serial_read", make_serial_read}};

static void send(struct load *load, maker *make, uint32_t slot)
{
    struct cass_statement statement = {
        .consistency = load->level, .serial_consistency = CASS_SERIAL, .timestamp_us = INT64_MIN};
    make(load, slot, &statement);
    load->sent_ns[slot] = sim_queue_now(&load->queue);
    cass_request(load->cluster, 0, 0, slot, &statement);
}

/* Keeps in_flight requests under way until `count` are answered. Returns the time that this took. */
static int64_t keep_busy(struct load *load, maker *make, uint32_t in_flight, uint64_t count)
{
    int64_t begin = sim_queue_now(&load->queue), now = begin;
    uint64_t sent = 0;
    struct sim_event event;
    load->done = load->failed = 0;
    for (; sent < in_flight && sent < count; sent++)
        send(load, make, (uint32_t)sent);
    while (load->done < count && sim_queue_pop(&load->queue, &now, &event)) {
        if (event.kind != CASS_EVENT_REPLY) {
            cass_handle(load->cluster, &event);
            continue;
        }
        struct cass_reply reply;
        uint32_t slot = (uint32_t)event.a;
        cass_reply_take(load->cluster, event.b, &reply);
        load->failed += reply.result != CASS_OK || (make == make_lwt && !reply.applied) ? 1 : 0;
        load->latencies[load->done++ % OPERATIONS_MAX] = now - load->sent_ns[slot];
        if (sent++ < count)
            send(load, make, slot);
    }
    return now - begin;
}

/* The contents of the tables before the first load, as in latency.py. */
static uint64_t fill_number;

static void fill_state(struct load *load, uint32_t slot, struct cass_statement *out)
{
    make_state_write(load, slot, out);
    out->key = fill_number++;
}

static void fill_row(struct load *load, uint32_t slot, struct cass_statement *out)
{
    make_insert(load, slot, out);
    out->key = fill_number / ROWS;
    out->row_time_ns = (int64_t)(fill_number++ % ROWS) * SIM_SECOND;
    out->row_order = 0;
}

static void fill_dead(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    uint64_t at = fill_number++ % (TOMBSTONES + 1);
    make_insert(load, slot, out);
    out->key = (fill_number - 1) / (TOMBSTONES + 1);
    out->bucket = 1;
    out->row_time_ns = (int64_t)at * SIM_SECOND;
    out->row_order = 0;
}

static void fill_delete(struct load *load, uint32_t slot, struct cass_statement *out)
{
    (void)slot;
    out->kind = CASS_DELETE_ROW;
    out->key = fill_number / TOMBSTONES;
    out->row_id = ++load->row_id;
    out->bucket = 1;
    out->row_time_ns = (int64_t)(fill_number++ % TOMBSTONES + 1) * SIM_SECOND;
    out->bytes = VALUE_BYTES;
}

static void fill(struct load *load)
{
    static const struct {
        maker *make;
        uint64_t count;
    } steps[] = {{fill_state, KEYS},
                 {fill_row, (uint64_t)PARTITIONS * ROWS},
                 {fill_dead, (uint64_t)PARTITIONS * (TOMBSTONES + 1)},
                 {fill_delete, (uint64_t)PARTITIONS * TOMBSTONES}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        fill_number = 0;
        keep_busy(load, steps[i].make, 64, steps[i].count);
    }
}

static int by_size(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void report(struct load *load, const char *name, uint32_t in_flight, maker *make)
{
    uint64_t count = in_flight == 1 ? OPERATIONS_MAX / 10 : OPERATIONS_MAX;
    uint32_t nodes = cass_node_count(load->cluster);
    struct cass_node_stats before[CASS_CLUSTER_NODES_MAX], after;
    for (uint32_t i = 0; i < nodes; i++)
        cass_node_stats(load->cluster, i, &before[i]);
    int64_t lasted = keep_busy(load, make, in_flight, count);
    qsort(load->latencies, count, sizeof load->latencies[0], by_size);
    printf("%s %" PRIu32 " %.1f %.1f %.1f", name, in_flight,
           (double)count * (double)SIM_SECOND / (double)(lasted > 0 ? lasted : 1),
           (double)load->latencies[count / 2 - 1] / 1e3, (double)load->latencies[count * 99 / 100 - 1] / 1e3);
    for (uint32_t i = 0; i < nodes; i++) {
        cass_node_stats(load->cluster, i, &after);
        printf(" %.1f", (double)(after.busy_ns - before[i].busy_ns) / 1e3 / (double)count);
    }
    printf("%s\n", load->failed > 0 ? " failed" : "");
}

static int run_lines(struct load *load)
{
    char name[32];
    uint32_t in_flight;
    while (scanf("%31s %" SCNu32, name, &in_flight) == 2) {
        maker *make = NULL;
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            make = strcmp(kinds[i].name, name) == 0 ? kinds[i].make : make;
        if (make == NULL || in_flight < 1 || in_flight > IN_FLIGHT_MAX) {
            fprintf(stderr, "cluster_load: '%s %" PRIu32 "' is no load; see the kinds of latency.py\n", name,
                    in_flight);
            return 2;
        }
        report(load, name, in_flight, make);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct sim_error error = {0};
    struct lab_scenario *scenario = NULL;
    struct load *load = calloc(1, sizeof *load);
    if (argc != 2 || load == NULL || !lab_scenario_load(argv[1], NULL, 0, NULL, &scenario, &error)) {
        fprintf(stderr, "%s\n", argc != 2 ? "usage: cluster_load SCENARIO" : error.text);
        free(load);
        return 2;
    }
    struct cass_cluster_config config = scenario->network;
    config.seed = scenario->seed;
    config.client_count = 1;
    config.keeps_lifetimes = true;
    load->level = scenario->consistency.write;
    sim_random_init(&load->draw, scenario->seed, SIM_AGENT, 0);
    int status = 2;
    if (sim_queue_create(64, INT64_C(1767225600) * SIM_SECOND, &load->queue) &&
        cass_cluster_create(&config, &load->queue, &load->cluster, &error)) {
        fill(load);
        status = run_lines(load);
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    cass_cluster_destroy(load->cluster);
    sim_queue_destroy(&load->queue);
    lab_scenario_destroy(scenario);
    free(load);
    return status;
}
