/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: whatever happens, the oracles count what a judge without any shortcut counts. Method: thousands of
 * short random stories, told to both: few buckets, few times and spans at the very bounds, so that ties, late
 * rows and moments that just suffice are common. */
#include <string.h>

#include "oracle_naive.h"
#include "oracle_stand.h"

#define SEEDS   3000u
#define STEPS   80u
#define KEYS    2u
#define BUCKETS 5u
#define AGENTS  3u

struct story {
    struct stand stand;
    struct naive naive;
    struct sim_random random;
    uint32_t nodes;
    bool is_busy;  /* one key takes rows that fire, and little else happens */
    bool is_frail; /* faults are common */
};

static uint64_t below(struct story *story, uint64_t limit)
{
    return sim_random_below(&story->random, limit);
}

static bool chance(struct story *story, uint64_t one_in)
{
    return below(story, one_in) == 0;
}

static void open_story(struct story *story, uint64_t seed)
{
    static const enum cass_consistency reads[] = {CASS_ONE, CASS_TWO, CASS_LOCAL_QUORUM, CASS_ALL};
    struct bk_strategy strategy;
    struct naive *naive = &story->naive;
    struct stand *stand = &story->stand;
    memset(naive, 0, sizeof *naive);
    sim_random_init(&story->random, seed, SIM_FUZZ, 0);
    naive->kind = chance(story, 3) ? (enum bk_kind)below(story, BK_HASH + 1) : BK_PROBABILISTIC;
    naive->partition_rows = naive->threshold = 1 + below(story, 3);
    naive->window_ns = 3 * SIM_SECOND;
    int64_t start_ns = INT64_C(1767225600) * SIM_SECOND;
    enum bk_status status = BK_OK;
    if (naive->kind == BK_PROBABILISTIC)
        status = bk_strategy_probabilistic(0, naive->threshold, &strategy);
    else if (naive->kind == BK_TIME)
        status = bk_strategy_time(naive->window_ns, start_ns, &strategy);
    else if (naive->kind == BK_COUNT)
        status = bk_strategy_count(naive->partition_rows, &strategy);
    else if (naive->kind == BK_HASH)
        status = bk_strategy_hash(BUCKETS, &strategy);
    else
        status = bk_strategy_unbucketed(&strategy);
    assert_int_equal(status, BK_OK);
    story->is_busy = chance(story, 5);
    story->is_frail = chance(story, 3);
    bool is_dated = naive->is_dated = chance(story, 2);
    stand_prepare(stand, &strategy, is_dated ? BK_THREE_STATE : BK_SINGLE);
    story->nodes = chance(story, 4) ? 3 : 1;
    struct cass_datacenter *datacenter = &stand->scenario.network.datacenters[0];
    datacenter->nodes = datacenter->replication_factor = story->nodes;
    if (story->nodes == 3)
        stand->scenario.consistency.read = reads[below(story, sizeof reads / sizeof *reads)];
    stand->scenario.reads.present = true;
    stand->scenario.reads.kinds[LAB_READ_LATEST].rows = naive->newest = 1 + below(story, 6);
    stand->scenario.agents.clock_bound_ns = (int64_t)below(story, 3) * SIM_SECOND / 2;
    stand->run.key_count = naive->key_count = KEYS;
    stand_open(stand);
    stand->run.oracles.hints_may_be_lost = true; /* what replicas owe each other is judged elsewhere */
    naive->start_ns = stand->run.start_ns;
    naive->tolerance_ns = 2 * stand->scenario.agents.clock_bound_ns;
    naive->lag_ns = stand->run.oracles.lag_ns;
    naive->settle_ns = stand->scenario.agents.timeout_ns;
    naive->factor = story->nodes;
    naive->read_replicas = stand->run.oracles.read_replicas;
    naive_begin(naive);
}

/* --- What can happen. */

/* On the replicas that are up; what was heard of is never written again. */
static void store(struct story *story, const struct naive_row *row, int64_t bucket, bool is_heard)
{
    struct stand *stand = &story->stand;
    uint32_t up = story->nodes == 3 ? 1 + (uint32_t)below(story, 7) : 1;
    for (uint32_t node = 0; node < story->nodes; node++)
        cass_set_down(stand->run.cluster, node, (up >> node & 1) == 0);
    stand_wait_until(stand, ++story->naive.now_ns - story->naive.start_ns); /* too long for hints */
    naive_store(&story->naive, row, bucket, up);
    stand_store(stand, row->key, row->number, row->time_ns - story->naive.start_ns, bucket, is_heard);
    for (uint32_t node = 0; node < story->nodes; node++)
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

static void end_row(struct story *story, struct naive_row *row, enum naive_ending ending)
{
    struct lab_host_operation operation = operation_of(row);
    row->is_counted = !chance(story, 4);
    if (ending == NAIVE_ACKNOWLEDGED) {
        naive_acknowledge(&story->naive, row);
        stand_acknowledge(&story->stand, &operation);
    }
    row->ending = ending;
    story->stand.run.unresolved += ending == NAIVE_UNKNOWN;
    story->stand.run.refused += ending == NAIVE_REFUSED;
    lab_oracles_write_ended(&story->stand.run, &operation, row->is_counted, ending == NAIVE_REFUSED);
    naive_ended(&story->naive, row);
}

/* Mostly as it should: stored, then acknowledged, both in the bucket of its last put. */
static void finish_row(struct story *story, struct naive_row *row)
{
    int64_t bucket = row->puts[row->put_count - 1];
    switch (below(story, 12)) {
    case 0:
        end_row(story, row, NAIVE_UNKNOWN);
        break;
    case 1:
        store(story, row, bucket, false);
        end_row(story, row, NAIVE_UNKNOWN);
        break;
    case 2:
        end_row(story, row, NAIVE_REFUSED);
        break;
    case 3:
        if (chance(story, 4)) { /* stored where it was not put */
            store(story, row, (int64_t)below(story, BUCKETS), row->put_count == 1);
            end_row(story, row, row->put_count > 1 ? NAIVE_UNKNOWN : NAIVE_ACKNOWLEDGED);
            break;
        }
        if (chance(story, 4)) { /* stored though it was refused */
            store(story, row, bucket, false);
            end_row(story, row, NAIVE_REFUSED);
            break;
        }
        /* fall through */
    default:
        store(story, row, bucket, true);
        end_row(story, row, NAIVE_ACKNOWLEDGED);
    }
}

/* Times lie close together, often at one moment, and now and then exactly a tolerance apart. */
static int64_t draw_time(struct story *story)
{
    struct naive *naive = &story->naive;
    int64_t now_ns = naive->start_ns + (naive->now_ns - naive->start_ns) / SIM_SECOND * SIM_SECOND;
    int64_t time_ns = now_ns - (int64_t)below(story, 4) * SIM_SECOND / 2;
    if (chance(story, 4) && naive->row_count > 0) {
        const struct naive_row *other = &naive->rows[below(story, naive->row_count)];
        int64_t apart_ns = naive->tolerance_ns + (int64_t)below(story, 3) - 1;
        time_ns = other->time_ns + (chance(story, 2) ? apart_ns : -apart_ns);
    }
    return time_ns;
}

/* About the state's own, where there is one. */
static int64_t draw_bucket(struct story *story, uint32_t key)
{
    int64_t bucket = story->stand.run.oracles.keys[key].state_bucket;
    return chance(story, 2) ? bucket : (int64_t)below(story, BUCKETS);
}

static struct naive_row *place(struct story *story, uint32_t key, int64_t bucket)
{
    struct lab_cluster_run *run = &story->stand.run;
    uint64_t number = run->keys[key].rows;
    uint32_t agent = (uint32_t)below(story, AGENTS);
    int64_t time_ns = draw_time(story);
    struct naive_row *row = naive_place(&story->naive, key, number, time_ns, bucket, agent);
    row->fires = !chance(story, 3);
    stand_place(&story->stand, key, number, time_ns - story->naive.start_ns, bucket, agent);
    return row;
}

static void move(struct story *story, struct naive_row *row)
{
    int64_t bucket = (int64_t)below(story, BUCKETS);
    if (row->put_count == NAIVE_PUTS || bucket == row->puts[row->put_count - 1])
        return;
    if (chance(story, 2))
        store(story, row, row->puts[row->put_count - 1], false);
    struct lab_host_operation operation = operation_of(row);
    assert_true(lab_open_add(&story->stand.run.oracles.moved, &operation));
    naive_move(row, bucket);
}

static void change_state(struct story *story)
{
    struct naive *naive = &story->naive;
    uint32_t key = (uint32_t)below(story, KEYS);
    int64_t before = story->stand.run.oracles.keys[key].state_bucket, bucket = before + 1;
    if (chance(story, 3))
        bucket = (int64_t)below(story, BUCKETS);
    /* Around now, so that the date often comes with a later change. */
    int64_t date_ns = naive->now_ns + ((int64_t)below(story, 5) - 2) * SIM_SECOND - naive->start_ns;
    bool is_next = naive->is_dated && date_ns != 0 && chance(story, 2);
    const int64_t *old = story->stand.run.keys[key].state;
    if (naive->kind != BK_PROBABILISTIC || bucket >= 60 || date_ns == 0)
        return;
    int64_t columns[] = {bucket, is_next ? 0 : naive->start_ns + date_ns,
                         is_next ? naive->start_ns + date_ns : 0};
    if (old[BK_BUCKET] == columns[0] && old[BK_LAST_CHANGE] == columns[1] &&
        old[BK_NEXT_CHANGE] == columns[2])
        return; /* no change */
    naive_state(naive, key, bucket, naive->start_ns + date_ns + (naive->is_dated ? 0 : 1));
    stand_state(&story->stand, key, bucket, is_next ? 0 : date_ns, is_next ? date_ns : 0);
}

static void change_health(struct story *story)
{
    struct naive *naive = &story->naive;
    struct lab_cluster_run *run = &story->stand.run;
    uint64_t what = below(story, 4);
    if (what == 0 && naive->open_ill_count < 3) {
        naive_fault(naive, true);
        lab_health_fault(run, true);
    } else if (what == 1) {
        int64_t until_ns = naive->now_ns + (int64_t)below(story, 4) * SIM_SECOND;
        naive_pulse(naive, until_ns);
        lab_health_pulse(run, until_ns);
    } else if (naive->open_ill_count > 0) {
        naive_fault(naive, false);
        lab_health_fault(run, false);
    }
}

static void wait(struct story *story, int64_t span_ns)
{
    story->naive.now_ns += span_ns;
    stand_wait_until(&story->stand, story->naive.now_ns - story->naive.start_ns);
}

/* Many rows that fire, at once and again later: full partitions. */
static void burst(struct story *story)
{
    uint32_t key = story->is_busy ? 0 : (uint32_t)below(story, KEYS);
    int64_t bucket = draw_bucket(story, key);
    if (story->is_busy)
        bucket = story->stand.run.oracles.keys[key].state_bucket;
    for (uint64_t rows = below(story, 12); rows > 0; rows--) {
        struct naive_row *row = place(story, key, bucket);
        row->fires = true;
        store(story, row, bucket, true);
        end_row(story, row, NAIVE_ACKNOWLEDGED);
    }
}

static void step(struct story *story, struct naive_row **waiting, uint32_t *waiting_count)
{
    uint64_t what = story->is_busy && !chance(story, 4) ? 2 + below(story, 2) : below(story, 10);
    switch (what) {
    case 0:
        change_state(story);
        break;
    case 1:
        if (story->is_frail || chance(story, 4))
            change_health(story);
        break;
    case 2:
        /* The store of each row has moved the clock by a nanosecond: on to a whole second, or beyond. */
        wait(story, chance(story, 2) ? SIM_SECOND - (story->naive.now_ns - story->naive.start_ns) % SIM_SECOND
                                     : (int64_t)below(story, 4) * SIM_SECOND);
        break;
    case 3:
        burst(story);
        break;
    case 4:
        if (*waiting_count > 0)
            move(story, waiting[below(story, *waiting_count)]);
        break;
    case 5:
    case 6:
        if (*waiting_count > 0) {
            uint64_t which = below(story, *waiting_count);
            finish_row(story, waiting[which]);
            waiting[which] = waiting[--*waiting_count];
        }
        break;
    default: {
        uint32_t key = (uint32_t)below(story, KEYS);
        waiting[(*waiting_count)++] = place(story, key, draw_bucket(story, key));
    }
    }
}

static void test_oracles_count_what_a_naive_judge_counts(void **state)
{
    (void)state;
    static struct story story;
    uint64_t met[LAB_ORACLE_COUNT] = {0}, clean = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct naive_row *waiting[STEPS];
        uint32_t waiting_count = 0;
        open_story(&story, seed);
        for (uint64_t steps = 1 + below(&story, STEPS); steps > 0; steps--)
            step(&story, waiting, &waiting_count);
        while (waiting_count > 0 && !chance(&story, 100))
            finish_row(&story, waiting[--waiting_count]);
        while (story.naive.open_ill_count > 0 && !chance(&story, 10)) {
            naive_fault(&story.naive, false);
            lab_health_fault(&story.stand.run, false);
        }
        wait(&story, (int64_t)below(&story, 8) * SIM_SECOND);
        naive_end(&story.naive);
        stand_end(&story.stand);
        /* The naive judge knows neither operations nor increments, by which the later ones go. */
        for (int i = 0; i <= LAB_ORACLE_UNIQUE; i++) {
            uint64_t counted = stand_violations(&story.stand, (enum lab_oracle)i);
            if (counted != story.naive.violations[i])
                fail_msg("seed %llu: %llu violations of %s, not %llu", (unsigned long long)seed,
                         (unsigned long long)counted, lab_oracle_name((enum lab_oracle)i),
                         (unsigned long long)story.naive.violations[i]);
            if (story.stand.run.oracles.verdict.is_judged[i] != story.naive.is_judged[i])
                fail_msg("seed %llu: %s", (unsigned long long)seed, lab_oracle_name((enum lab_oracle)i));
            met[i] += counted > 0;
        }
        clean += story.naive.violations[LAB_ORACLE_NEWEST] + story.naive.violations[LAB_ORACLE_MONOTONE] == 0;
        stand_close(&story.stand);
    }
    /* Each was met, and not always. */
    for (int i = 0; i < LAB_ORACLE_UNIQUE; i++) {
        if (met[i] < SEEDS / 100 || met[i] > SEEDS * 95 / 100)
            fail_msg("%s was violated in %llu of %u stories", lab_oracle_name((enum lab_oracle)i),
                     (unsigned long long)met[i], SEEDS);
    }
    assert_true(clean > SEEDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracles_count_what_a_naive_judge_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
