/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an agent's contents fit its memory, age and make room; a copy of the memory is the same agent; random
 * waits and counts have their means. Method: two copies are run in parallel; many draws are counted. */
#include "agent_host.h"
#include "bucketing/hash.h"
#include "bucketing/private/lab.h"

static void test_config_at_its_limits_is_accepted(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_NATIVE);
    /* Settings of other coordinations are not checked. */
    config.lead_ns = -1;
    config.agent_id = 0;
    config.lock_lasts_ns = config.lock_backoff_ns = -1;
    config.retry_backoff_ns = config.cache_ttl_ns = 0;
    config.retries = config.counter_retries = UINT32_MAX;
    config.cache_entries = 1;
    config.operations = 65535;
    assert_int_equal(bk_agent_check(&config), BK_OK);
    struct bk_agent *agent = make_agent(&config);
    struct bk_row row = row_at(0, false);
    uint32_t operation;
    for (uint32_t i = 0; i < config.operations; i++)
        assert_int_equal(bk_agent_write(agent, 0, i, &row, &operation), BK_OK);
    assert_int_equal(bk_agent_write(agent, 0, 0, &row, &operation), BK_ERROR_BUSY);
    free(agent);
    config = small_config(BK_THREE_STATE, BK_COUNTER_RMW);
    config.lead_ns = 0;
    assert_int_equal(bk_agent_check(&config), BK_OK);
}

static void test_prefetching_a_key_changes_nothing(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    size_t size = bk_agent_size(&config);
    struct bk_agent *agent = make_agent(&config);
    void *before = malloc(size);
    assert_non_null(before);
    memcpy(before, agent, size);
    for (uint64_t key = 0; key < 1000; key++)
        bk_agent_prefetch(agent, key * UINT64_C(0x0123456789abcdef));
    bk_agent_prefetch(agent, UINT64_MAX);
    bk_agent_prefetch(NULL, 7);
    assert_memory_equal(before, agent, size);
    free(before);
    free(agent);
}

static void test_read_that_walks_too_long_is_refused(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    assert_int_equal(bk_strategy_time(1000, 0, &config.strategy), BK_OK);
    struct bk_agent *agent = make_agent(&config);
    uint32_t operation;
    int64_t bucket;
    bool is_changing;
    assert_int_equal(bk_agent_read_latest(agent, INT64_MAX, 7, 0, 0, 1, BK_PLAN_WALK, &operation),
                     BK_ERROR_WALK_TOO_LONG);
    assert_false(bk_agent_view(agent, 0, 7, &bucket, &is_changing)); /* nothing is known */
    free(agent);
}

static void learn(struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t bucket, int64_t next_ns)
{
    struct bk_outcome outcome = {.mask = 15, .columns = {bucket, 0, 0, next_ns}};
    struct bk_row row = row_at(now_ns, false);
    struct bk_action action;
    uint32_t operation;
    assert_int_equal(bk_agent_write(agent, now_ns, key, &row, &operation), BK_OK);
    while (bk_agent_next(agent, &action)) {
        outcome.kind = action.kind == BK_ACT_PUT_ROW ? BK_OUTCOME_UNKNOWN : BK_OUTCOME_APPLIED;
        if (action.kind != BK_ACT_DONE)
            assert_int_equal(bk_agent_report(agent, now_ns, action.ticket, &outcome), BK_OK);
    }
}

static int64_t view(const struct bk_agent *agent, int64_t now_ns, uint64_t key)
{
    int64_t bucket = -1;
    bool is_changing;
    bk_agent_view(agent, now_ns, key, &bucket, &is_changing);
    return bucket;
}

static void test_cache_entry_lives_its_time_and_not_before_it(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_THREE_STATE, BK_COUNTER_RMW);
    struct bk_agent *agent = make_agent(&config);
    int64_t bucket;
    bool is_changing;
    learn(agent, 1000, 7, 3, 0);
    assert_true(view(agent, 1000, 7) == 3 && view(agent, 1099, 7) == 3);
    assert_true(view(agent, 1100, 7) == -1 && view(agent, INT64_MAX, 7) == -1);
    assert_true(view(agent, 999, 7) == -1); /* the clock was set back */
    learn(agent, 1200, 7, 4, 1250);
    assert_true(bk_agent_view(agent, 1249, 7, &bucket, &is_changing));
    assert_true(bucket == 3 && is_changing);
    assert_true(bk_agent_view(agent, 1250, 7, &bucket, &is_changing));
    assert_true(bucket == 4 && !is_changing);
    learn(agent, 1300, 7, 4, 0);
    assert_true(bk_agent_view(agent, 1300, 7, &bucket, &is_changing));
    assert_true(bucket == 4 && !is_changing);
    learn(agent, INT64_MIN, 8, 5, 0);
    assert_true(view(agent, INT64_MAX, 8) == -1); /* an age that overflows int64 */
    learn(agent, INT64_MAX, 9, 5, 0);
    assert_true(view(agent, INT64_MAX, 9) == 5 && view(agent, INT64_MIN, 9) == -1);
    free(agent);
    config.cache_ttl_ns = 0;
    agent = make_agent(&config);
    learn(agent, 1000, 7, 3, 0);
    assert_true(view(agent, 1000, 7) == -1);
    free(agent);
}

/* One set of four, so that evictions are easy to follow. */
static void test_cache_full_drops_the_oldest_and_what_cannot_be_found(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    config.cache_entries = 4;
    config.cache_ttl_ns = INT64_MAX;
    struct bk_agent *agent = make_agent(&config);
    for (int key = 0; key < 4; key++)
        learn(agent, 1000 + (key + 2) % 4, (uint64_t)key, key, 0);
    learn(agent, 1010, 4, 4, 0); /* key 2 was the oldest entry */
    assert_true(view(agent, 1010, 2) == -1);
    for (int key = 0; key <= 4; key++)
        assert_true(key == 2 || view(agent, 1010, (uint64_t)key) == key);
    /* The clock is set back: the existing entries could not be found for a long time, and are evicted first.
     */
    for (int key = 10; key < 14; key++)
        learn(agent, 500 + key, (uint64_t)key, key, 0);
    for (int key = 10; key < 14; key++)
        assert_true(view(agent, 600, (uint64_t)key) == key);
    free(agent);
    config.cache_entries = 1000;
    config.operations = 1;
    agent = make_agent(&config);
    int64_t found = 0;
    for (int key = 0; key < 100000; key++)
        learn(agent, key, (uint64_t)key * 7919, key, 0);
    for (int key = 0; key < 100000; key++)
        found += view(agent, 100000, (uint64_t)key * 7919) == key;
    assert_true(found > 900 && found <= 1000);
    free(agent);
}

/* Answers the agent's actions like a single host, or not at all, by the drawn bits. */
static void drive(struct bk_agent *agent, uint64_t bits, int64_t now_ns)
{
    struct bk_action action;
    uint32_t operation;
    struct bk_row row = {.time_ns = now_ns, .id = bits};
    if (bits % 3 == 0)
        bk_agent_write(agent, now_ns, bits / 3 % 4, &row, &operation);
    bk_agent_tick(agent, now_ns);
    if (bk_agent_next(agent, &action) && action.kind != BK_ACT_DONE && action.kind != BK_ACT_ACK) {
        struct bk_outcome outcome = {.kind = (enum bk_outcome_kind)(bits >> 8 & 3), .mask = 15};
        outcome.columns[BK_COLUMN_BUCKET] = (int64_t)(bits >> 16 & 7);
        outcome.columns[BK_COLUMN_COUNTER] = outcome.counter = (int64_t)(bits >> 20 & 3);
        outcome.columns[BK_COLUMN_NEXT_CHANGE] =
            bits >> 24 & 1 ? now_ns + (int64_t)(bits >> 28 & 63) - 32 : 0;
        bk_agent_report(agent, now_ns, action.ticket, &outcome);
    }
}

static void test_copies_of_an_agent_behave_equally(void **state)
{
    (void)state;
    for (int form = 0; form < 9 + BK_SOURCE_MEMORY; form++) {
        bool is_counted = form >= 9;
        struct bk_agent_config config =
            small_config(is_counted ? BK_SINGLE : (enum bk_coordination)(form / 3),
                         is_counted ? BK_COUNTER_RMW : (enum bk_counter)(form % 3));
        config.operations = 5;
        if (is_counted) {
            assert_int_equal(bk_strategy_count(3, &config.strategy), BK_OK);
            config.source = (enum bk_source)(form - 9 + BK_SOURCE_COUNTER);
            config.lease_rows = config.every_rows = 2;
        }
        size_t size = bk_agent_size(&config);
        struct bk_agent *agent = make_agent(&config), *copy = NULL;
        uint64_t bits = 1 + (uint64_t)form;
        for (int64_t i = 0; i < 2000; i++) {
            if (i == 1000) {
                copy = malloc(size);
                assert_non_null(copy);
                memcpy(copy, agent, size);
            }
            bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            drive(agent, bits >> 13, i * 3);
            if (copy == NULL)
                continue;
            copy = move_agent(copy, size);
            drive(copy, bits >> 13, i * 3);
            assert_memory_equal(copy, agent, size);
        }
        free(agent);
        free(copy);
    }
}

/* Buckets of three rows, leases of four, a count after every second row. */
static struct bk_agent_config source_config(enum bk_source source)
{
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    assert_int_equal(bk_strategy_count(3, &config.strategy), BK_OK);
    config.source = source;
    config.lease_rows = 4;
    config.every_rows = 2;
    config.cache_entries = 4; /* one set, so that the fifth key replaces the first */
    config.operations = 4;
    return config;
}

/* How long an agent waits at time 0 for a lock that another agent never releases. */
static int64_t first_wait_ns(uint64_t agent_id, int64_t mean_ns)
{
    struct bk_agent_config config = small_config(BK_LOCKED, BK_COUNTER_NATIVE);
    config.agent_id = agent_id;
    config.lock_backoff_ns = mean_ns;
    struct bk_agent *agent = make_agent(&config);
    const struct bk_row row = row_at(0, true);
    struct bk_action action;
    uint32_t operation;
    assert_int_equal(bk_agent_write(agent, 0, 7, &row, &operation), BK_OK);
    while (bk_agent_next(agent, &action)) {
        struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED, .counter = THRESHOLD};
        if (action.kind == BK_ACT_CAS_LOCK)
            outcome =
                (struct bk_outcome){.kind = BK_OUTCOME_NOT_APPLIED, .mask = 3, .columns = {99, INT64_MAX}};
        if (action.kind != BK_ACT_ACK && action.kind != BK_ACT_DONE)
            assert_int_equal(bk_agent_report(agent, 0, action.ticket, &outcome), BK_OK);
    }
    int64_t wait_ns = bk_agent_deadline(agent);
    free(agent);
    return wait_ns;
}

static void test_lock_back_off_is_about_its_mean_and_differs(void **state)
{
    (void)state;
    const int64_t mean_ns = INT64_C(20000000000);
    int64_t sum_ns = 0, waits[64];
    for (int i = 0; i < 64; i++) {
        waits[i] = first_wait_ns((uint64_t)i + 1, mean_ns);
        assert_true(waits[i] >= mean_ns / 2 && waits[i] <= mean_ns / 2 * 3);
        for (int j = 0; j < i; j++)
            assert_true(waits[i] != waits[j]);
        sum_ns += waits[i] / 64;
        int64_t longest_ns = first_wait_ns((uint64_t)i + 1, INT64_MAX);
        assert_true(longest_ns >= INT64_MAX / 2 && longest_ns < INT64_MAX);
    }
    /* The mean of 64 has a standard deviation of 0.72 s. */
    assert_true(sum_ns > INT64_C(17000000000) && sum_ns < INT64_C(23000000000));
}

/* Writes a row of the key, answers the agent's actions, and returns whether the agent counted. */
static bool write_and_answer(struct bk_agent *agent, int64_t now_ns, uint64_t key)
{
    const struct bk_row row = {.time_ns = now_ns, .id = bk_murmur3_128_u64((uint64_t)now_ns).h2};
    struct bk_action action;
    uint32_t operation;
    bool has_counted = false;
    assert_int_equal(bk_agent_write(agent, now_ns, key, &row, &operation), BK_OK);
    while (bk_agent_next(agent, &action)) {
        struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
        has_counted = has_counted || action.kind == BK_ACT_COUNT_ROWS;
        if (action.kind != BK_ACT_ACK && action.kind != BK_ACT_DONE)
            assert_int_equal(bk_agent_report(agent, now_ns, action.ticket, &outcome), BK_OK);
    }
    return has_counted;
}

/* Eight keys take turns of `stay` rows in a cache of four, so each turn begins without the knowledge of the
 * last one. Each row is then counted with a chance of 1 in 10: of 20000 rows fewer than 1700 or more than
 * 2300 are counted at most once in 10^9, and 28 times 10 rows pass without a count at 20000 / 10^12. The seed
 * is fixed. */
static void test_key_that_the_cache_evicts_is_counted_as_often(void **state)
{
    (void)state;
    static const enum bk_source sources[] = {BK_SOURCE_SCAN, BK_SOURCE_INCREMENTAL};
    for (uint64_t stay = 1; stay <= 7; stay += 3) {
        for (int i = 0; i < 2; i++) {
            struct bk_agent_config config = source_config(sources[i]);
            config.every_rows = 10;
            assert_int_equal(bk_strategy_count(1000000, &config.strategy), BK_OK);
            struct bk_agent *agent = make_agent(&config);
            uint64_t counts = 0, since[8] = {0};
            for (uint64_t row = 0; row < 20000; row++) {
                uint64_t key = row / stay % 8;
                bool has_counted = write_and_answer(agent, 1000 + (int64_t)row, key);
                counts += has_counted;
                since[key] = has_counted ? 0 : since[key] + 1;
                assert_true(since[key] < 280);
            }
            assert_in_range(counts, 1700, 2300);
            free(agent);
        }
    }
}

/* With counts by time, the first row of an evicted key is counted; rows of a key that stays are not. */
static void test_key_that_the_cache_evicts_is_counted_at_once_by_time(void **state)
{
    (void)state;
    struct bk_agent_config config = source_config(BK_SOURCE_SCAN);
    config.every_rows = 0;
    config.every_ns = 1000000;
    struct bk_agent *agent = make_agent(&config);
    for (uint64_t key = 0; key < 4; key++)
        assert_false(write_and_answer(agent, 1000 + (int64_t)key, key));
    for (uint64_t row = 4; row < 100; row++) {
        int64_t now_ns = 1000 + 2 * (int64_t)row;
        assert_true(write_and_answer(agent, now_ns, row % 5));
        assert_false(write_and_answer(agent, now_ns + 1, row % 5));
    }
    free(agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_at_its_limits_is_accepted),
        cmocka_unit_test(test_prefetching_a_key_changes_nothing),
        cmocka_unit_test(test_read_that_walks_too_long_is_refused),
        cmocka_unit_test(test_cache_entry_lives_its_time_and_not_before_it),
        cmocka_unit_test(test_cache_full_drops_the_oldest_and_what_cannot_be_found),
        cmocka_unit_test(test_copies_of_an_agent_behave_equally),
        cmocka_unit_test(test_lock_back_off_is_about_its_mean_and_differs),
        cmocka_unit_test(test_key_that_the_cache_evicts_is_counted_as_often),
        cmocka_unit_test(test_key_that_the_cache_evicts_is_counted_at_once_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
