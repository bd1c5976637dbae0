/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A test stand for the oracles. */
#include "oracle_stand.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
#include "oracles.h"

#include <stdlib.h>
#include <string.h>

#define START  (INT64_C(1767225600) * SIM_SECOND)
#define MARKER 1u

static struct stand *opened;

void stand_close(void)
{
    if (opened == NULL)
        return;
    struct lab_cluster_run *run = &opened->run;
    opened = NULL;
    cluster_observers_end(run);
    for (uint32_t i = 0; i < run->key_count; i++)
        free(run->keys[i].changes);
    free(run->keys);
    lab_tally_clear(&run->tally);
    for (int i = 0; i < LAB_LATENCY_COUNT; i++)
        lab_histogram_clear(&run->latency[i]);
    assert_true(cass_cluster_is_sound(run->cluster));
    cass_cluster_destroy(run->cluster);
    sim_queue_destroy(&run->queue);
}

int stand_teardown(void **state)
{
    (void)state;
    stand_close();
    return 0;
}

void stand_prepare(struct stand *stand, const struct bk_strategy *strategy, enum bk_coordination coordination)
{
    stand_close();
    memset(stand, 0, sizeof *stand);
    struct lab_scenario *scenario = &stand->scenario;
    struct cass_cluster_config *network = &scenario->network;
    cass_cluster_config_default(network);
    network->datacenters[0].nodes = network->datacenters[0].racks = 1;
    network->datacenters[0].replication_factor = 1;
    network->num_tokens = 1;
    network->latency_ns = network->latency_between_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT};
    network->write_ns = network->read_ns = network->scan_row_ns = 0;
    network->gc_every_ns = network->detect_ns = network->hint_window_ns = 0;
    scenario->consistency =
        (struct lab_consistency){CASS_LOCAL_QUORUM, CASS_LOCAL_QUORUM, CASS_LOCAL_QUORUM, CASS_LOCAL_SERIAL};
    scenario->agents.count = 1;
    scenario->agents.timeout_ns = SIM_SECOND;
    stand->strategy.settings.strategy = stand->run.config.strategy = *strategy;
    static const struct lab_run_context alone; /* no observer */
    stand->run.strategy = &stand->strategy;
    stand->run.context = &alone;
    assert_true(lab_regimes_make(&stand->strategy, 0, &stand->run.regimes));
    stand->run.config.coordination = stand->strategy.settings.coordination = coordination;
    stand->run.key_count = 1;
}

void stand_prepare_probabilistic(struct stand *stand, enum bk_coordination coordination)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(3, 4, &strategy), BK_OK);
    stand_prepare(stand, &strategy, coordination);
}

void stand_open(struct stand *stand)
{
    struct lab_cluster_run *run = &stand->run;
    struct sim_error error = {0};
    struct lab_cluster *cluster = &stand->scenario.cluster;
    cluster->nodes = cluster->replication_factor = 0;
    for (uint32_t i = 0; i < stand->scenario.network.datacenter_count; i++) {
        cluster->nodes += stand->scenario.network.datacenters[i].nodes;
        cluster->replication_factor += stand->scenario.network.datacenters[i].replication_factor;
    }
    run->scenario = &stand->scenario;
    run->start_ns = START;
    run->end_ns = START + SIM_DAY;
    run->views_key = LAB_NO_KEY;
    run->keys = calloc(run->key_count, sizeof *run->keys);
    assert_non_null(run->keys);
    assert_true(sim_queue_create(64, START, &run->queue));
    if (!cass_cluster_create(&stand->scenario.network, &run->queue, &run->cluster, &error))
        fail_msg("%s", error.text);
    run->node_count = cass_node_count(run->cluster);
    assert_true(lab_tally_init(&run->tally, run->node_count));
    assert_true(lab_cluster_observe(run));
    opened = stand;
}

void stand_open_probabilistic(struct stand *stand, enum bk_coordination coordination)
{
    stand_prepare_probabilistic(stand, coordination);
    stand_open(stand);
}

void stand_end(struct stand *stand)
{
    struct lab_cluster_run *run = &stand->run;
    for (uint32_t i = 0; i < run->listener_count; i++) {
        const struct cluster_observer *observer = run->listeners[i].observer;
        if (observer->finish != NULL && observer != &cluster_delivered)
            observer->finish(run, run->listeners[i].state);
    }
    assert_false(stand->run.out_of_memory);
}

/* Processes all events of the cluster before that time. Of the events at exactly that time it processes those
 * that follow from earlier requests. */
void stand_wait_until(struct stand *stand, int64_t time_ns)
{
    struct sim_queue *queue = &stand->run.queue;
    struct sim_event event, marker = {.kind = MARKER};
    int64_t at_ns;
    if (START + time_ns > sim_queue_now(queue))
        assert_true(sim_queue_push(queue, START + time_ns, &marker) != 0);
    while (sim_queue_peek(queue, &at_ns) && at_ns <= START + time_ns) {
        assert_true(sim_queue_pop(queue, &at_ns, &event));
        if (event.kind == CASS_EVENT_REPLY) {
            stand->reply = event.b;
            stand->is_answered = true;
        } else if (event.kind != MARKER) {
            cass_handle(stand->run.cluster, &event);
        }
    }
}

int64_t stand_time(const struct stand *stand, int64_t time_ns)
{
    return stand->run.start_ns + time_ns;
}

static int64_t now(const struct stand *stand)
{
    return sim_queue_now(&stand->run.queue) - START;
}

static void ask(struct stand *stand, const struct cass_statement *statement, bool is_heard)
{
    struct cass_reply reply;
    stand->is_answered = false;
    cass_request(stand->run.cluster, 0, CASS_ANY_NODE, 0, statement);
    stand_wait_until(stand, now(stand));
    assert_true(stand->is_answered);
    if (!is_heard) {
        cass_reply_discard(stand->run.cluster, stand->reply);
        return;
    }
    cass_reply_take(stand->run.cluster, stand->reply, &reply);
    assert_int_equal(reply.result, CASS_OK);
}

void stand_arrive(struct stand *stand, uint32_t key, uint64_t row)
{
    struct lab_cluster_run *run = &stand->run;
    for (; run->keys[key].rows <= row; run->keys[key].rows++) {
        run->tally.rows++;
        cluster_emit(run, ROW_ARRIVES, .key = key);
    }
}

struct lab_host_operation stand_operation(uint32_t key, uint64_t row, int64_t bucket)
{
    return (struct lab_host_operation){.key = key, .row = row, .bucket = bucket, .is_active = true};
}

void stand_place(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket,
                 uint32_t agent)
{
    stand_arrive(stand, key, row);
    struct lab_host_operation operation = stand_operation(key, row, LAB_UNPLACED);
    operation.row_time_ns = START + time_ns;
    cluster_emit_of(&stand->run, PLACED, agent, &operation, .bucket = bucket);
}

void stand_store(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket,
                 bool is_heard)
{
    struct cass_statement statement = {.kind = CASS_WRITE_ROW,
                                       .consistency = CASS_ONE,
                                       .key = key,
                                       .bucket = bucket,
                                       .row_id = row,
                                       .row_time_ns = START + time_ns,
                                       .bytes = 100,
                                       .timestamp_us = INT64_MIN};
    ask(stand, &statement, is_heard);
}

void stand_acknowledge(struct stand *stand, struct lab_host_operation *operation)
{
    operation->is_acknowledged = true;
    stand->run.keys[operation->key].acknowledged++;
    cluster_emit_of(&stand->run, ACKNOWLEDGED, 0, operation, .flag = false);
}

void stand_finish(struct stand *stand, struct lab_host_operation *operation, bool is_counted, bool is_refused)
{
    const struct bk_action action = {.kind = BK_ACT_DONE,
                                     .status = is_refused ? BK_OPERATION_REFUSED : BK_OPERATION_OK,
                                     .counted = is_counted};
    cluster_emit_of(&stand->run, ENDED, 0, operation, .action = &action);
}

void stand_write(struct stand *stand, uint32_t key, uint64_t row, int64_t time_ns, int64_t bucket)
{
    struct lab_host_operation operation = stand_operation(key, row, bucket);
    stand_place(stand, key, row, time_ns, bucket, 0);
    stand_store(stand, key, row, time_ns, bucket, true);
    stand_acknowledge(stand, &operation);
    stand_finish(stand, &operation, false, false);
}

void stand_state(struct stand *stand, uint32_t key, int64_t bucket, int64_t last_change_ns,
                 int64_t next_change_ns)
{
    struct cass_statement statement = {.kind = CASS_WRITE_COLUMNS,
                                       .consistency = CASS_ALL,
                                       .key = lab_state_register(key),
                                       .timestamp_us = ++stand->written_us,
                                       .set_mask = (1u << BK_COLUMNS) - 1};
    statement.set[BK_COLUMN_BUCKET] = bucket;
    statement.set[BK_COLUMN_LAST_CHANGE] = last_change_ns == 0 ? 0 : START + last_change_ns;
    statement.set[BK_COLUMN_NEXT_CHANGE] = next_change_ns == 0 ? 0 : START + next_change_ns;
    ask(stand, &statement, true);
}

uint64_t stand_violations(const struct stand *stand, enum lab_oracle oracle)
{
    return stand->run.oracles.verdict.violations[oracle].count;
}

void assert_violations(const struct stand *stand, enum lab_oracle oracle, uint64_t expected)
{
    const struct lab_violation *violation = &stand->run.oracles.verdict.violations[oracle];
    if (violation->count != expected)
        fail_msg("%s: %llu violations, not %llu%s%s", lab_oracle_name(oracle),
                 (unsigned long long)violation->count, (unsigned long long)expected,
                 violation->count > 0 ? "; the first: " : "", violation->text);
}
