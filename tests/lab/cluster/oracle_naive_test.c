/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: in all circumstances the oracles count what a judge without any shortcuts counts. Method: thousands of
 * short random trials, reported to both: few buckets, few times, and spans exactly at the bounds, so that
 * ties, late rows and moments that just suffice are common. */
#include <string.h>

#include "events.h"
#include "oracle_naive.h"
#include "oracle_stand.h"
#include "oracles.h"

#define SEEDS   3000u
#define STEPS   80u
#define KEYS    2u
#define BUCKETS 5u
#define AGENTS  3u

struct trial {
    struct stand stand;
    struct naive naive;
    struct sim_random random;
    uint32_t nodes;
    bool is_busy;  /* one key takes rows that fire, and little else happens */
    bool is_frail; /* faults are common */
};

static uint64_t below(struct trial *trial, uint64_t limit)
{
    return sim_random_below(&trial->random, limit);
}

static bool chance(struct trial *trial, uint64_t one_in)
{
    return below(trial, one_in) == 0;
}

static void open_trial(struct trial *trial, uint64_t seed)
{
    static const enum cass_consistency reads[] = {CASS_ONE, CASS_TWO, CASS_LOCAL_QUORUM, CASS_ALL};
    struct bk_strategy strategy;
    struct naive *naive = &trial->naive;
    struct stand *stand = &trial->stand;
    memset(naive, 0, sizeof *naive);
    sim_random_init(&trial->random, seed, SIM_FUZZ, 0);
    naive->kind = chance(trial, 3) ? (enum bk_kind)below(trial, BK_KIND_HASH + 1) : BK_KIND_PROBABILISTIC;
    naive->partition_rows = naive->threshold = 1 + below(trial, 3);
    naive->window_ns = 3 * SIM_SECOND;
    int64_t start_ns = INT64_C(1767225600) * SIM_SECOND;
    enum bk_status status = BK_OK;
    if (naive->kind == BK_KIND_PROBABILISTIC)
        status = bk_strategy_probabilistic(0, naive->threshold, &strategy);
    else if (naive->kind == BK_KIND_TIME)
        status = bk_strategy_time(naive->window_ns, start_ns, &strategy);
    else if (naive->kind == BK_KIND_COUNT)
        status = bk_strategy_count(naive->partition_rows, &strategy);
    else if (naive->kind == BK_KIND_HASH)
        status = bk_strategy_hash(BUCKETS, &strategy);
    else
        status = bk_strategy_unbucketed(&strategy);
    assert_int_equal(status, BK_OK);
    trial->is_busy = chance(trial, 5);
    trial->is_frail = chance(trial, 3);
    bool is_dated = naive->is_dated = chance(trial, 2);
    stand_prepare(stand, &strategy, is_dated ? BK_THREE_STATE : BK_SINGLE);
    trial->nodes = chance(trial, 4) ? 3 : 1;
    struct cass_datacenter *datacenter = &stand->scenario.network.datacenters[0];
    datacenter->nodes = datacenter->replication_factor = trial->nodes;
    if (trial->nodes == 3)
        stand->scenario.consistency.read = reads[below(trial, sizeof reads / sizeof *reads)];
    stand->scenario.reads.present = true;
    stand->scenario.reads.kinds[LAB_READ_LATEST].rows = naive->newest = 1 + below(trial, 6);
    stand->scenario.agents.clock_bound_ns = (int64_t)below(trial, 3) * SIM_SECOND / 2;
    stand->run.key_count = naive->key_count = KEYS;
    stand_open(stand);
    stand->run.oracles.hints_may_be_lost = true; /* missing replicas are judged elsewhere */
    naive->start_ns = stand->run.start_ns;
    naive->tolerance_ns = 2 * stand->scenario.agents.clock_bound_ns;
    naive->lag_ns = stand->run.oracles.lag_ns;
    naive->settle_ns = stand->scenario.agents.timeout_ns;
    naive->factor = trial->nodes;
    naive->read_replicas = stand->run.oracles.read_replicas;
    naive_begin(naive);
}

/* --- What can happen. */

/* Stores the row on the replicas that are up. A row whose answer was received is never written again. */
static void store(struct trial *trial, const struct naive_row *row, int64_t bucket, bool is_heard)
{
    struct stand *stand = &trial->stand;
    uint32_t up = trial->nodes == 3 ? 1 + (uint32_t)below(trial, 7) : 1;
    for (uint32_t node = 0; node < trial->nodes; node++)
        cass_set_down(stand->run.cluster, node, (up >> node & 1) == 0);
    stand_wait_until(stand, ++trial->naive.now_ns - trial->naive.start_ns); /* too long for hints */
    naive_store(&trial->naive, row, bucket, up);
    stand_store(stand, row->key, row->number, row->time_ns - trial->naive.start_ns, bucket, is_heard);
    for (uint32_t node = 0; node < trial->nodes; node++)
        cass_set_down(stand->run.cluster, node, false);
}

static struct lab_host_operation operation_of(const struct naive_row *row)
{
    struct lab_host_operation operation =
        stand_operation(row->key, row->number, row->puts[row->put_count - 1]);
    operation.fires = row->fires;
    operation.is_moved = row->put_count > 1;
    return operation;
}

static void end_row(struct trial *trial, struct naive_row *row, enum naive_ending ending)
{
    struct lab_host_operation operation = operation_of(row);
    row->is_counted = !chance(trial, 4);
    if (ending == NAIVE_ACKNOWLEDGED) {
        naive_acknowledge(&trial->naive, row);
        stand_acknowledge(&trial->stand, &operation);
    }
    row->ending = ending;
    trial->stand.run.unresolved += ending == NAIVE_UNKNOWN;
    trial->stand.run.refused += ending == NAIVE_REFUSED;
    stand_finish(&trial->stand, &operation, row->is_counted, ending == NAIVE_REFUSED);
    naive_ended(&trial->naive, row);
}

/* Mostly as usual: the row is stored and then acknowledged, both in the bucket of its last put. */
static void finish_row(struct trial *trial, struct naive_row *row)
{
    int64_t bucket = row->puts[row->put_count - 1];
    switch (below(trial, 12)) {
    case 0:
        end_row(trial, row, NAIVE_UNKNOWN);
        break;
    case 1:
        store(trial, row, bucket, false);
        end_row(trial, row, NAIVE_UNKNOWN);
        break;
    case 2:
        end_row(trial, row, NAIVE_REFUSED);
        break;
    case 3:
        if (chance(trial, 4)) { /* stored where it was not put */
            store(trial, row, (int64_t)below(trial, BUCKETS), row->put_count == 1);
            end_row(trial, row, row->put_count > 1 ? NAIVE_UNKNOWN : NAIVE_ACKNOWLEDGED);
            break;
        }
        if (chance(trial, 4)) { /* stored though it was refused */
            store(trial, row, bucket, false);
            end_row(trial, row, NAIVE_REFUSED);
            break;
        }
        /* fall through */
    default:
        store(trial, row, bucket, true);
        end_row(trial, row, NAIVE_ACKNOWLEDGED);
    }
}

/* Times are close together, often equal, and now and then about a tolerance apart. */
static int64_t draw_time(struct trial *trial)
{
    struct naive *naive = &trial->naive;
    int64_t now_ns = naive->start_ns + (naive->now_ns - naive->start_ns) / SIM_SECOND * SIM_SECOND;
    int64_t time_ns = now_ns - (int64_t)below(trial, 4) * SIM_SECOND / 2;
    if (chance(trial, 4) && naive->row_count > 0) {
        const struct naive_row *other = &naive->rows[below(trial, naive->row_count)];
        int64_t apart_ns = naive->tolerance_ns + (int64_t)below(trial, 3) - 1;
        time_ns = other->time_ns + (chance(trial, 2) ? apart_ns : -apart_ns);
    }
    return time_ns;
}

/* Often the bucket of the key's state. */
static int64_t draw_bucket(struct trial *trial, uint32_t key)
{
    int64_t bucket = trial->stand.run.oracles.keys[key].state_bucket;
    return chance(trial, 2) ? bucket : (int64_t)below(trial, BUCKETS);
}

static struct naive_row *place(struct trial *trial, uint32_t key, int64_t bucket)
{
    struct lab_cluster_run *run = &trial->stand.run;
    uint64_t number = run->keys[key].rows;
    uint32_t agent = (uint32_t)below(trial, AGENTS);
    int64_t time_ns = draw_time(trial);
    struct naive_row *row = naive_place(&trial->naive, key, number, time_ns, bucket, agent);
    row->fires = !chance(trial, 3);
    stand_place(&trial->stand, key, number, time_ns - trial->naive.start_ns, bucket, agent);
    return row;
}

static void move(struct trial *trial, struct naive_row *row)
{
    int64_t bucket = (int64_t)below(trial, BUCKETS);
    if (row->put_count == NAIVE_PUTS || bucket == row->puts[row->put_count - 1])
        return;
    if (chance(trial, 2))
        store(trial, row, row->puts[row->put_count - 1], false);
    struct lab_host_operation operation = operation_of(row);
    cluster_emit_of(&trial->stand.run, PLACED, 0, &operation, .bucket = bucket);
    naive_move(row, bucket);
}

static void change_state(struct trial *trial)
{
    struct naive *naive = &trial->naive;
    uint32_t key = (uint32_t)below(trial, KEYS);
    int64_t before = trial->stand.run.oracles.keys[key].state_bucket, bucket = before + 1;
    if (chance(trial, 3))
        bucket = (int64_t)below(trial, BUCKETS);
    /* Dates are around the current time, so that a later change often finds the date reached. */
    int64_t date_ns = naive->now_ns + ((int64_t)below(trial, 5) - 2) * SIM_SECOND - naive->start_ns;
    bool is_next = naive->is_dated && date_ns != 0 && chance(trial, 2);
    const int64_t *old = trial->stand.run.keys[key].state;
    if (naive->kind != BK_KIND_PROBABILISTIC || bucket >= 60 || date_ns == 0)
        return;
    int64_t columns[] = {bucket, is_next ? 0 : naive->start_ns + date_ns,
                         is_next ? naive->start_ns + date_ns : 0};
    if (old[BK_COLUMN_BUCKET] == columns[0] && old[BK_COLUMN_LAST_CHANGE] == columns[1] &&
        old[BK_COLUMN_NEXT_CHANGE] == columns[2])
        return; /* no change */
    naive_state(naive, key, bucket, naive->start_ns + date_ns + (naive->is_dated ? 0 : 1));
    stand_state(&trial->stand, key, bucket, is_next ? 0 : date_ns, is_next ? date_ns : 0);
}

static void change_health(struct trial *trial)
{
    struct naive *naive = &trial->naive;
    struct lab_cluster_run *run = &trial->stand.run;
    uint64_t what = below(trial, 4);
    if (what == 0 && naive->open_unhealthy_count < 3) {
        naive_fault(naive, true);
        lab_health_fault(run, true);
    } else if (what == 1) {
        int64_t until_ns = naive->now_ns + (int64_t)below(trial, 4) * SIM_SECOND;
        naive_pulse(naive, until_ns);
        lab_health_pulse(run, until_ns);
    } else if (naive->open_unhealthy_count > 0) {
        naive_fault(naive, false);
        lab_health_fault(run, false);
    }
}

static void wait(struct trial *trial, int64_t span_ns)
{
    trial->naive.now_ns += span_ns;
    stand_wait_until(&trial->stand, trial->naive.now_ns - trial->naive.start_ns);
}

/* Many rows that fire, now and again later, so that partitions become full. */
static void burst(struct trial *trial)
{
    uint32_t key = trial->is_busy ? 0 : (uint32_t)below(trial, KEYS);
    int64_t bucket = draw_bucket(trial, key);
    if (trial->is_busy)
        bucket = trial->stand.run.oracles.keys[key].state_bucket;
    for (uint64_t rows = below(trial, 12); rows > 0; rows--) {
        struct naive_row *row = place(trial, key, bucket);
        row->fires = true;
        store(trial, row, bucket, true);
        end_row(trial, row, NAIVE_ACKNOWLEDGED);
    }
}

static void step(struct trial *trial, struct naive_row **waiting, uint32_t *waiting_count)
{
    uint64_t what = trial->is_busy && !chance(trial, 4) ? 2 + below(trial, 2) : below(trial, 10);
    switch (what) {
    case 0:
        change_state(trial);
        break;
    case 1:
        if (trial->is_frail || chance(trial, 4))
            change_health(trial);
        break;
    case 2:
        /* The store of each row has advanced the clock by a nanosecond. The wait ends at a whole second, or
         * later. */
        wait(trial, chance(trial, 2) ? SIM_SECOND - (trial->naive.now_ns - trial->naive.start_ns) % SIM_SECOND
                                     : (int64_t)below(trial, 4) * SIM_SECOND);
        break;
    case 3:
        burst(trial);
        break;
    case 4:
        if (*waiting_count > 0)
            move(trial, waiting[below(trial, *waiting_count)]);
        break;
    case 5:
    case 6:
        if (*waiting_count > 0) {
            uint64_t which = below(trial, *waiting_count);
            finish_row(trial, waiting[which]);
            waiting[which] = waiting[--*waiting_count];
        }
        break;
    default: {
        uint32_t key = (uint32_t)below(trial, KEYS);
        waiting[(*waiting_count)++] = place(trial, key, draw_bucket(trial, key));
    }
    }
}

static void test_oracles_equal_a_naive_judge(void **state)
{
    (void)state;
    static struct trial trial;
    uint64_t met[LAB_ORACLE_COUNT] = {0}, clean = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct naive_row *waiting[STEPS];
        uint32_t waiting_count = 0;
        open_trial(&trial, seed);
        for (uint64_t steps = 1 + below(&trial, STEPS); steps > 0; steps--)
            step(&trial, waiting, &waiting_count);
        while (waiting_count > 0 && !chance(&trial, 100))
            finish_row(&trial, waiting[--waiting_count]);
        while (trial.naive.open_unhealthy_count > 0 && !chance(&trial, 10)) {
            naive_fault(&trial.naive, false);
            lab_health_fault(&trial.stand.run, false);
        }
        wait(&trial, (int64_t)below(&trial, 8) * SIM_SECOND);
        naive_end(&trial.naive);
        stand_end(&trial.stand);
        /* The naive judge knows neither operations nor increments, on which the remaining oracles depend. */
        for (int i = 0; i <= LAB_ORACLE_UNIQUE; i++) {
            uint64_t counted = stand_violations(&trial.stand, (enum lab_oracle)i);
            if (counted != trial.naive.violations[i])
                fail_msg("seed %llu: %llu violations of %s, not %llu", (unsigned long long)seed,
                         (unsigned long long)counted, lab_oracle_name((enum lab_oracle)i),
                         (unsigned long long)trial.naive.violations[i]);
            if (trial.stand.run.oracles.verdict.is_judged[i] != trial.naive.is_judged[i])
                fail_msg("seed %llu: %s", (unsigned long long)seed, lab_oracle_name((enum lab_oracle)i));
            met[i] += counted > 0;
        }
        clean += trial.naive.violations[LAB_ORACLE_NEWEST] + trial.naive.violations[LAB_ORACLE_MONOTONE] == 0;
    }
    /* Each was violated in some seeds, and not in all. */
    for (int i = 0; i < LAB_ORACLE_UNIQUE; i++) {
        if (met[i] < SEEDS / 100 || met[i] > SEEDS * 95 / 100)
            fail_msg("%s was violated in %llu of %u trials", lab_oracle_name((enum lab_oracle)i),
                     (unsigned long long)met[i], SEEDS);
    }
    assert_true(clean > SEEDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracles_equal_a_naive_judge),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
