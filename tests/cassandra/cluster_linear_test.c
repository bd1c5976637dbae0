/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a register that only CAS changes is linearizable under message loss, duplicated messages, network
 * partitions, crashes, pauses and clock jumps, in Paxos v1 and v2; and the same seed gives the same events.
 * Method: three clients read at SERIAL and replace the value that they read by a unique value. After all
 * faults have ended, the test walks the chain of values back from the last one: every applied update is on
 * it, no refused update is, and neither updates nor reads contradict real time. The seeds are fixed, so there
 * is no chance of a false alarm.
 *
 * With --history v1|v2 SEED it prints the clients' requests and replies, for tests/cassandra5/linear.py. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster_harness.h"

#define CLIENTS    3
#define KEY        7
#define LASTS      (60 * SIM_SECOND)
#define GIVEN_UP   (6 * SIM_SECOND)
#define VALUES_MAX REPLIES_MAX

struct cass_operation {
    bool is_read;
    int64_t expected, value; /* of a read: value is the value that it returned */
    int64_t position;        /* in the chain; -1: not in it */
};

struct campaign {
    struct harness h;
    struct sim_random random;
    struct cass_operation operations[REPLIES_MAX]; /* by tag; the value that an update writes is its tag */
    int64_t waiting[CLIENTS];                      /* tag, -1: none */
    int64_t due_ns[CLIENTS];
    int64_t seen[CLIENTS];
    bool is_seen[CLIENTS];
    uint32_t applied, unknown;
};

static void send_next(struct campaign *c, uint32_t client)
{
    struct cass_statement read = statement_of(CASS_READ_COLUMNS, CASS_SERIAL, KEY);
    struct cass_statement cas = cas_column(KEY, c->seen[client], (int64_t)c->h.tags);
    bool is_read = !c->is_seen[client];
    c->operations[c->h.tags] = (struct cass_operation){
        .is_read = is_read, .expected = c->seen[client], .value = (int64_t)c->h.tags, .position = -1};
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
    bool is_ok = c->h.is_answered[tag] && reply->result == CASS_OK;
    c->is_seen[client] = false;
    if (is_ok && c->operations[tag].is_read) {
        c->is_seen[client] = true;
        c->seen[client] = c->operations[tag].value = reply->columns[0];
    } else if (is_ok) {
        c->applied += reply->applied ? 1 : 0;
        c->is_seen[client] = true;
        c->seen[client] = reply->applied ? c->operations[tag].value : reply->columns[0];
    } else if (!c->operations[tag].is_read) {
        c->unknown++;
    }
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

/* Numbers the values in the chain from the first one; false when the chain does not lead back to it. */
static void check_chain(struct campaign *c, int64_t last)
{
    int64_t chain[VALUES_MAX], length = 0;
    for (int64_t at = last; at != 0; at = c->operations[at].expected) {
        assert_true(length < VALUES_MAX && !c->operations[at].is_read);
        chain[length++] = at;
    }
    c->operations[0].position = 0;
    for (int64_t i = 0; i < length; i++)
        c->operations[chain[i]].position = length - i;
    for (uint64_t tag = 1; tag < c->h.tags; tag++) {
        const struct cass_operation *operation = &c->operations[tag];
        const struct cass_reply *reply = &c->h.replies[tag];
        if (operation->is_read || !c->h.is_answered[tag])
            continue;
        bool is_applied = reply->result == CASS_OK && reply->applied;
        bool is_refused = reply->result == CASS_OK && !reply->applied;
        if (is_applied && operation->position < 0)
            fail_msg("update %u was applied and is lost", (unsigned)tag);
        if (is_refused && operation->position >= 0)
            fail_msg("update %u was refused and took place", (unsigned)tag);
    }
}

/* An operation that was answered before another one began precedes it in the chain; a read returns a value
 * that is at least as new. */
static void check_real_time(struct campaign *c)
{
    struct harness *h = &c->h;
    for (uint64_t i = 0; i < h->tags; i++) {
        if (!h->is_answered[i] || h->replies[i].result != CASS_OK ||
            (!c->operations[i].is_read && !h->replies[i].applied))
            continue;
        int64_t first = c->operations[i].is_read ? c->operations[c->operations[i].value].position
                                                 : c->operations[i].position;
        assert_true(first >= 0);
        for (uint64_t j = 0; j < h->tags; j++) {
            bool is_after = h->sent_ns[j] > h->answered_ns[i];
            bool is_ok = h->is_answered[j] && h->replies[j].result == CASS_OK;
            if (!is_after || (c->operations[j].is_read && !is_ok))
                continue;
            int64_t second = c->operations[j].is_read ? c->operations[c->operations[j].value].position
                                                      : c->operations[j].position;
            /* A later update that took effect follows it in the chain, whatever reply its client received. */
            if (c->operations[j].is_read ? second < first : second >= 0 && second <= first)
                fail_msg("operation %u goes back behind %u", (unsigned)j, (unsigned)i);
        }
    }
}

static uint64_t run(uint64_t seed, enum cass_paxos paxos, struct campaign *c)
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
    c->operations[c->h.tags - 1] =
        (struct cass_operation){.is_read = true, .value = reply.columns[0], .position = -1};
    for (uint64_t tag = 0; tag < c->h.tags; tag++) {
        if (c->operations[tag].is_read && c->h.is_answered[tag])
            c->operations[tag].value = c->h.replies[tag].columns[0];
    }
    check_chain(c, reply.columns[0]);
    check_real_time(c);
    uint64_t digest = c->h.digest;
    harness_stop(&c->h);
    return digest;
}

static void check_register(enum cass_paxos paxos)
{
    static struct campaign c;
    uint32_t applied = 0, unknown = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        run(seed, paxos, &c);
        applied += c.applied;
        unknown += c.unknown;
    }
    /* The campaign is meaningful only when many updates succeed and many outcomes stay unknown. */
    assert_true(applied > 500);
    assert_true(unknown > 100);
}

static void test_semantics_6_register_by_cas_is_linearizable_v1(void **state)
{
    (void)state;
    check_register(CASS_PAXOS_V1);
}

static void test_semantics_6_register_by_cas_is_linearizable_v2(void **state)
{
    (void)state;
    check_register(CASS_PAXOS_V2);
}

static void test_campaign_same_seed_same_events(void **state)
{
    (void)state;
    static struct campaign c;
    uint64_t first = run(3, CASS_PAXOS_V1, &c);
    assert_true(run(3, CASS_PAXOS_V1, &c) == first);
    assert_true(run(4, CASS_PAXOS_V1, &c) != first);
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
            printf("CAS %d c0=%" PRId64 " IF c0=%" PRId64 " => ", KEY, operation->value, operation->expected);
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
    if (argc == 4 && strcmp(argv[1], "--history") == 0) {
        run(strtoull(argv[3], NULL, 10), strcmp(argv[2], "v2") == 0 ? CASS_PAXOS_V2 : CASS_PAXOS_V1, &c);
        print_history(&c);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_semantics_6_register_by_cas_is_linearizable_v1),
        cmocka_unit_test(test_semantics_6_register_by_cas_is_linearizable_v2),
        cmocka_unit_test(test_campaign_same_seed_same_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
