/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: messages between nodes, and between clients and nodes, are lost, doubled and late as often as a
 * cluster is configured to, and take the latencies of its distributions. Method: a seed is a cluster of two
 * datacenters with a random loss, duplication, lateness and delay. A thousand messages are sent along each
 * kind of route, and what arrives is counted. Each count is a sum of independent draws, so it must be within
 * a bound that it exceeds with a chance of at most 1e-12 (Chernoff, with the binomial distribution's own
 * divergence); each latency must be one that its distribution has, and the mean of all within Hoeffding's
 * bound of its mean. Then the same after all faults have been healed. Across a network partition nothing
 * arrives. */
#include <math.h>

#include "model.h"
#include "state.h"

#define SENT        1000u
#define FALSE_ALARM 1e-12
#define NEAR_LEAST  1e5
#define NEAR_MOST   2e6
#define FAR_LEAST   1e7
#define FAR_MOST    3e7

enum situation {
    NODES_NEAR,
    NODES_FAR,
    REQUESTS,
    REPLIES,
    LOST,
    DOUBLED,
    LATE,
    SEPARATED,
    HEALED,
    SITUATIONS
};
static struct model_situation situations[SITUATIONS] = {
    [NODES_NEAR] = {"a message within a datacenter", 0},
    [NODES_FAR] = {"a message between datacenters", 0},
    [REQUESTS] = {"a request of a client", 0},
    [REPLIES] = {"a reply to a client", 0},
    [LOST] = {"a message that is lost", 0},
    [DOUBLED] = {"a message that comes twice", 0},
    [LATE] = {"a message that is late", 0},
    [SEPARATED] = {"a message into a network partition", 0},
    [HEALED] = {"a message after all faults were healed", 0},
};

struct model {
    struct harness h;
    struct sim_random random;
    struct model_run *run;
    struct cass_disturbance told;
    uint32_t ends[3]; /* two nodes of one datacenter, and one of the other */
};

/* What came of the messages along one route. */
struct counts {
    uint64_t sent, once, twice, copies, late;
    double latency_ns;
};

static bool is_likely(uint64_t hits, uint64_t count, double chance)
{
    double n = (double)count, share = (double)hits / n, other = 1 - share;
    if (chance <= 0 || chance >= 1)
        return hits == (chance <= 0 ? 0 : count);
    double divergence =
        (hits > 0 ? share * log(share / chance) : 0) + (hits < count ? other * log(other / (1 - chance)) : 0);
    return n * divergence <= log(2 / FALSE_ALARM);
}

/* Notes one copy's latency; it is that of its distribution times the factor, plus the lateness. */
static void note_latency(struct model *model, struct counts *counts, bool is_far, int64_t latency_ns)
{
    double factor = model->told.delay, least = (is_far ? FAR_LEAST : NEAR_LEAST) * factor,
           most = (is_far ? FAR_MOST : NEAR_MOST) * factor, took = (double)latency_ns;
    bool is_late = model->told.late > 0 && latency_ns >= model->told.late_ns;
    took -= is_late ? (double)model->told.late_ns : 0;
    MODEL_RULE(model->run, took >= least - 1 && took <= most + 1, "latency",
               "a message takes %.0f us, and not %.0f to %.0f", took / 1000, least / 1000, most / 1000);
    counts->copies++;
    counts->late += is_late;
    counts->latency_ns += (took - least) / (most - least);
}

static void check_counts(const struct model *model, const struct counts *counts, bool may_double)
{
    const struct cass_disturbance *told = &model->told;
    double duplicate = may_double ? told->duplicate : 0;
    uint64_t lost = counts->sent - counts->once - counts->twice;
    situations[LOST].count += lost;
    situations[DOUBLED].count += counts->twice;
    situations[LATE].count += counts->late;
    MODEL_RULE(model->run, is_likely(lost, counts->sent, told->loss), "loss",
               "%" PRIu64 " messages of %" PRIu64 " are lost, at a loss of %.3f", lost, counts->sent,
               told->loss);
    MODEL_RULE(model->run, is_likely(counts->twice, counts->sent, duplicate), "duplicate",
               "%" PRIu64 " messages of %" PRIu64 " come twice, at a duplication of %.3f", counts->twice,
               counts->sent, duplicate);
    MODEL_RULE(model->run, counts->copies == 0 || is_likely(counts->late, counts->copies, told->late), "late",
               "%" PRIu64 " messages of %" PRIu64 " are late, at a chance of %.3f", counts->late,
               counts->copies, told->late);
    double n = (double)counts->copies, off = counts->latency_ns - n / 2; /* uniform latencies */
    MODEL_RULE(model->run, fabs(off) <= sqrt(n * log(2 / FALSE_ALARM) / 2), "mean",
               "the mean latency of %.0f messages is %.3f of its range", n, counts->latency_ns / n);
}

/* Messages between two nodes. Their kind does not matter; the number of each is where its operation would
 * be. */
static void check_nodes(struct model *model, uint32_t from, uint32_t to, bool is_far)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint8_t arrived[SENT] = {0};
    struct counts counts = {.sent = SENT};
    struct cass_disturbance before, after;
    struct sim_event event;
    int64_t time_ns;
    cass_disturbance(cluster, &before);
    for (uint32_t i = 0; i < SENT; i++) {
        uint32_t index = cass_message_new(cluster, MESSAGE_ACK, from, to);
        message_at(cluster, index)->operation = i;
        cass_message_send(cluster, index);
    }
    while (sim_queue_pop(&model->h.queue, &time_ns, &event)) {
        const struct message *message = message_at(cluster, (uint32_t)event.a);
        MODEL_RULE(model->run,
                   event.kind == EVENT_ARRIVE && event.target == to && message->from == from &&
                       message->to == to && message->operation < SENT,
                   "arrives", "something else arrives than was sent");
        arrived[message->operation]++;
        note_latency(model, &counts, is_far, time_ns - message->sent_ns);
        cass_message_drop(cluster, (uint32_t)event.a);
    }
    cass_disturbance(cluster, &after);
    bool is_delayed = model->told.delay != 1 && counts.copies > 0;
    int64_t last_ns = is_delayed ? sim_queue_now(&model->h.queue) : before.delayed_until_ns;
    MODEL_RULE(model->run, after.delayed_until_ns == last_ns, "delayed",
               "the last delayed message arrives %.3f s later than told",
               (double)(last_ns - after.delayed_until_ns) / 1e9);
    for (uint32_t i = 0; i < SENT; i++) {
        counts.once += arrived[i] == 1;
        counts.twice += arrived[i] == 2;
    }
    situations[is_far ? NODES_FAR : NODES_NEAR].count += counts.copies;
    check_counts(model, &counts, true);
}

/* Requests of a client to a node, and the replies: a driver numbers its requests, so none comes twice. The
 * request is invalid, so that its coordinator answers at once. */
static void check_client(struct model *model, uint32_t node, bool is_far)
{
    struct cass_cluster *cluster = model->h.cluster;
    struct cass_statement statement = statement_of(CASS_READ_COLUMNS, CASS_ANY, 1);
    struct counts requests = {.sent = SENT}, replies = {0};
    int64_t begun_ns = sim_queue_now(&model->h.queue), time_ns;
    int64_t *arrived_ns = calloc(SENT, sizeof *arrived_ns);
    uint8_t told[SENT] = {0};
    struct sim_event event;
    assert_non_null(arrived_ns);
    for (uint32_t i = 0; i < SENT; i++)
        cass_request(cluster, 0, node, i, &statement);
    while (sim_queue_pop(&model->h.queue, &time_ns, &event)) {
        if (event.kind == CASS_EVENT_REPLY) {
            note_latency(model, &replies, is_far, time_ns - arrived_ns[event.a]);
            told[event.a]++;
            cass_reply_discard(cluster, event.b);
            continue;
        }
        const struct message *message = message_at(cluster, (uint32_t)event.a);
        uint64_t tag = operation_at(cluster, message->operation)->tag;
        MODEL_RULE(model->run, event.kind == EVENT_ARRIVE && arrived_ns[tag] == 0, "arrives",
                   "a request arrives twice");
        arrived_ns[tag] = time_ns;
        note_latency(model, &requests, is_far, time_ns - begun_ns);
        requests.once++;
        cass_handle(cluster, &event);
    }
    free(arrived_ns);
    replies.sent = requests.once;
    for (uint32_t i = 0; i < SENT; i++) {
        replies.once += told[i] == 1;
        MODEL_RULE(model->run, told[i] < 2, "arrives", "a reply arrives twice");
    }
    situations[REQUESTS].count += requests.once;
    situations[REPLIES].count += replies.once;
    check_counts(model, &requests, false);
    if (replies.sent > 0)
        check_counts(model, &replies, false);
}

static void check_routes(struct model *model)
{
    check_nodes(model, model->ends[0], model->ends[1], false);
    check_nodes(model, model->ends[1], model->ends[2], true);
    check_client(model, model->ends[0], false);
    check_client(model, model->ends[2], true);
}

static void check_partition(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t a = model->ends[0], b = model->ends[1 + sim_random_below(&model->random, 2)];
    separate(&model->h, a, b, true);
    MODEL_RULE(model->run,
               cass_places_are_separated(cluster, a, b) && cass_places_are_separated(cluster, b, a),
               "separated", "a network partition separates in one direction only");
    for (uint32_t i = 0; i < 2 * SENT; i++) {
        uint32_t from = i % 2 == 0 ? a : b, to = i % 2 == 0 ? b : a;
        cass_message_send(cluster, cass_message_new(cluster, MESSAGE_ACK, from, to));
        situations[SEPARATED].count++;
    }
    int64_t time_ns;
    MODEL_RULE(model->run, !sim_queue_peek(&model->h.queue, &time_ns), "separated",
               "a message arrives across a network partition");
}

static struct sim_size uniform(double least, double most)
{
    struct sim_size size = {.kind = SIM_SIZE_UNIFORM, .a = least, .b = most};
    sim_size_prepare(&size);
    return size;
}

static void begin(struct model *model)
{
    struct cass_cluster_config config = harness_config();
    config.seed = model->run->seed;
    config.datacenter_count = 2;
    config.datacenters[1] = config.datacenters[0];
    config.datacenters[1].name[0] = 'x';
    config.latency_ns = uniform(NEAR_LEAST, NEAR_MOST);
    config.latency_between_ns = uniform(FAR_LEAST, FAR_MOST);
    if (sim_random_below(&model->random, 2) == 0)
        config.loss = sim_random_unit(&model->random) * 0.2;
    harness_start(&model->h, &config);
    uint32_t first = (uint32_t)sim_random_below(&model->random, 3);
    model->ends[0] = first;
    model->ends[1] = (first + 1) % 3;
    model->ends[2] = 3 + (uint32_t)sim_random_below(&model->random, 3);
}

static void disturb(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    double loss = sim_random_below(&model->random, 3) == 0 ? 0 : sim_random_unit(&model->random) * 0.6;
    double duplicate = sim_random_below(&model->random, 3) == 0 ? 0 : sim_random_unit(&model->random) * 0.4;
    double late = sim_random_below(&model->random, 3) == 0 ? 0 : sim_random_unit(&model->random);
    double delay = sim_random_below(&model->random, 3) == 0 ? 1 : 0.5 + sim_random_unit(&model->random) * 9;
    model->told = (struct cass_disturbance){
        .loss = loss, .duplicate = duplicate, .late = late, .delay = delay, .late_ns = SIM_SECOND};
    cass_set_loss(cluster, loss, duplicate);
    cass_set_late(cluster, late, model->told.late_ns);
    cass_set_delay(cluster, delay);
}

static void check_seed(struct model_run *run)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->run = run;
    sim_random_init(&model->random, run->seed, SIM_FUZZ, 0);
    begin(model);
    disturb(model);
    check_routes(model);
    if (!run->is_broken)
        check_partition(model);
    cass_heal(model->h.cluster);
    model->told = (struct cass_disturbance){.loss = model->h.cluster->config.loss, .delay = 1};
    uint64_t before = situations[NODES_NEAR].count;
    if (!run->is_broken)
        check_routes(model);
    situations[HEALED].count += situations[NODES_NEAR].count - before;
    harness_stop(&model->h);
    free(model);
}

int main(int argc, char **argv)
{
    return model_main(argc, argv, 60, check_seed, situations, SITUATIONS);
}
