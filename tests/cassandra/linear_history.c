/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linear_history v1|v2 SEED: prints the requests and replies of three clients of one register, for
 * tests/cassandra5/linear.py. The clients read at SERIAL and replace the value that they read by a unique
 * value, under message loss, duplicated messages, network partitions, crashes, pauses and clock jumps; after
 * all faults have ended, a last read is made. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster_harness.h"

#define CLIENTS  3
#define KEY      7
#define LASTS    (60 * SIM_SECOND)
#define GIVEN_UP (6 * SIM_SECOND)

struct cass_operation {
    bool is_read;
    int64_t expected; /* by an update */
};

struct campaign {
    struct harness h;
    struct sim_random random;
    struct cass_operation operations[REPLIES_MAX]; /* by tag; the value that an update writes is its tag */
    int64_t waiting[CLIENTS];                      /* tag, -1: none */
    int64_t due_ns[CLIENTS];
    int64_t seen[CLIENTS];
    bool is_seen[CLIENTS];
};

static void send_next(struct campaign *c, uint32_t client)
{
    struct cass_statement read = statement_of(CASS_READ_COLUMNS, CASS_SERIAL, KEY);
    struct cass_statement cas = cas_column(KEY, c->seen[client], (int64_t)c->h.tags);
    bool is_read = !c->is_seen[client];
    c->operations[c->h.tags] = (struct cass_operation){.is_read = is_read, .expected = c->seen[client]};
    uint32_t node = (uint32_t)sim_random_below(&c->random, 3);
    c->waiting[client] = (int64_t)harness_send(&c->h, client, node, is_read ? &read : &cas);
    c->due_ns[client] = sim_queue_now(&c->h.queue) + GIVEN_UP;
}

/* A client's next step when its operation has ended or has taken too long. */
static void look(struct campaign *c, uint32_t client)
{
    int64_t tag = c->waiting[client];
    bool is_over = sim_queue_now(&c->h.queue) >= c->due_ns[client];
    if (!c->h.is_answered[tag] && !is_over)
        return;
    const struct cass_reply *reply = &c->h.replies[tag];
    c->is_seen[client] = c->h.is_answered[tag] && reply->result == CASS_OK;
    bool is_own = !c->operations[tag].is_read && reply->applied;
    c->seen[client] = is_own ? tag : reply->columns[0];
    send_next(c, client);
}

static void disturb(struct campaign *c)
{
    struct cass_cluster *cluster = c->h.cluster;
    uint32_t node = (uint32_t)sim_random_below(&c->random, 3);
    uint32_t other = (uint32_t)sim_random_below(&c->random, 6);
    uint64_t kind = sim_random_below(&c->random, 8);
    if (kind == 0)
        cass_set_down(cluster, node, true);
    else if (kind == 1)
        cass_set_loss(cluster, sim_random_unit(&c->random) * 0.3, 0.1);
    else if (kind == 2 && node != other)
        separate(&c->h, node, other, true);
    else if (kind == 3)
        cass_pause(cluster, node, (int64_t)sim_random_below(&c->random, 900) * SIM_MS);
    else if (kind == 4)
        cass_set_clock(cluster, node, ((int64_t)sim_random_below(&c->random, 4000) - 2000) * SIM_MS);
    else if (kind == 5)
        cass_set_slow(cluster, node, 1 + sim_random_unit(&c->random) * 50);
    else
        cass_heal(cluster);
}

static void run(uint64_t seed, enum cass_paxos paxos, struct campaign *c)
{
    struct cass_cluster_config config = harness_config();
    config.seed = seed;
    config.paxos = paxos;
    config.client_count = CLIENTS;
    config.latency_ns = (struct sim_size){.kind = SIM_SIZE_LOGNORMAL, .a = 2e6, .b = 1};
    config.write_ns = config.read_ns = 100 * SIM_US;
    config.detect_ns = 500 * SIM_MS;
    memset(c, 0, sizeof(*c));
    harness_start(&c->h, &config);
    sim_random_init(&c->random, seed, SIM_READ, 99);
    struct cass_statement first = cas_column(KEY, 0, 0);
    first.if_absent = true;
    assert_true(harness_do(&c->h, 0, &first).applied);
    for (uint32_t client = 0; client < CLIENTS; client++)
        send_next(c, client);
    for (int64_t t = 0; t < LASTS && c->h.tags < REPLIES_MAX - CLIENTS - 1; t += 20 * SIM_MS) {
        harness_run_for(&c->h, 20 * SIM_MS);
        for (uint32_t client = 0; client < CLIENTS; client++)
            look(c, client);
        if (t % (300 * SIM_MS) == 0)
            disturb(c);
    }
    cass_heal(c->h.cluster);
    harness_run_for(&c->h, SIM_MINUTE);
    struct cass_statement read = statement_of(CASS_READ_COLUMNS, CASS_SERIAL, KEY);
    struct cass_reply reply = harness_do(&c->h, 1, &read);
    assert_int_equal(reply.result, CASS_OK);
    c->operations[c->h.tags - 1].is_read = true;
    harness_stop(&c->h);
}

static void print_history(const struct campaign *c)
{
    for (uint64_t tag = 0; tag < c->h.tags; tag++) {
        const struct cass_operation *operation = &c->operations[tag];
        const struct cass_reply *reply = &c->h.replies[tag];
        bool is_known = c->h.is_answered[tag] && reply->result == CASS_OK;
        printf("0 %" PRId64 " ", c->h.sent_ns[tag] - START);
        if (is_known)
            printf("%" PRId64 " ", c->h.answered_ns[tag] - START);
        else
            printf("- ");
        if (operation->is_read)
            printf("GET %d cl=SERIAL => ", KEY);
        else if (tag == 0)
            printf("NX %d c0=0 => ", KEY);
        else
            printf("CAS %d c0=%" PRIu64 " IF c0=%" PRId64 " => ", KEY, tag, operation->expected);
        if (!is_known)
            printf("?\n");
        else if (!operation->is_read && reply->applied)
            printf("applied\n");
        else if (!reply->found)
            printf("%snone\n", operation->is_read ? "" : "refused ");
        else
            printf("%srow c0=%" PRId64 "\n", operation->is_read ? "" : "refused ", reply->columns[0]);
    }
}

int main(int argc, char **argv)
{
    static struct campaign c;
    if (argc != 3)
        return 2;
    run(strtoull(argv[2], NULL, 10), strcmp(argv[1], "v2") == 0 ? CASS_PAXOS_V2 : CASS_PAXOS_V1, &c);
    print_history(&c);
    return 0;
}
