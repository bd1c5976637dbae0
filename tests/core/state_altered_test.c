/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when one number of a checkpoint is altered, the core enforces each of its bounds exactly: a number
 * beyond the bound is refused, and a number within it is accepted.
 * Method: agents and clients have recognisable numbers. A number is found in the bytes by its value, and
 * its neighbours by the order in which the struct's fields are written. agent_hostile_test alters bytes at
 * random, which rarely hits a bound. */
#include "agent_host.h"
#include "bucketing/idgen.h"

#define FAR       (INT64_C(1) << 62)
#define BYTES_MAX 4096
/* Numbers that occur nowhere else. */
#define TELLING      INT64_C(0x1122334455667788)
#define MICROSECONDS INT64_C(1000)

struct bytes {
    unsigned char at[BYTES_MAX];
    size_t size;
};

static int64_t number_at(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return (int64_t)value;
}

static void set_number(unsigned char *bytes, int64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> 8 * i);
}

/* The position of the number, which must occur exactly once. */
static size_t find(const struct bytes *state, int64_t value)
{
    size_t found = 0, count = 0;
    for (size_t at = 0; at + 8 <= state->size; at++) {
        if (number_at(state->at + at) == value) {
            found = at;
            count++;
        }
    }
    assert_int_equal(count, 1);
    return found;
}

static struct bytes save(const struct bk_agent *agent)
{
    struct bytes state = {.size = bk_agent_state_size(agent)};
    assert_in_range(state.size, 1, sizeof state.at);
    assert_int_equal(bk_agent_save(agent, state.at, sizeof state.at), BK_OK);
    return state;
}

/* The status of a load with another number at this position. */
static enum bk_status load(const struct bk_agent_config *config, const struct bytes *state, size_t at,
                           int64_t value)
{
    struct bytes altered = *state;
    assert_true(at + 8 <= state->size);
    set_number(altered.at + at, value);
    void *memory = malloc(bk_agent_size(config));
    assert_non_null(memory);
    struct bk_agent *agent;
    enum bk_status status =
        bk_agent_load(memory, bk_agent_size(config), config, altered.at, altered.size, &agent);
    assert_ptr_equal(agent, status == BK_OK ? memory : NULL);
    free(memory);
    return status;
}

static struct bk_action next_action(struct bk_agent *agent)
{
    struct bk_action action;
    assert_true(bk_agent_next(agent, &action));
    return action;
}

/* The weight ranges from 0 to the largest number that a counter may have. */
static void test_altered_weight_must_be_possible_for_a_row(void **unused)
{
    (void)unused;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    struct bk_agent *agent = make_agent(&config);
    struct bk_row row = {.time_ns = 1000, .id = 1, .bytes = TELLING};
    uint32_t operation;
    assert_int_equal(bk_agent_write(agent, 1000, 7, &row, &operation), BK_OK);
    struct bytes state = save(agent);
    /* The row's bytes are followed by the query, which has three small numbers and six others, and then by
     * the weight. */
    size_t at = find(&state, TELLING) + 8 + 3 * 4 + 6 * 8;
    assert_int_equal(number_at(state.at + at), 1);
    assert_int_equal(load(&config, &state, at, 0), BK_OK);
    assert_int_equal(load(&config, &state, at, -1), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, at, INT64_MAX - 1), BK_OK);
    assert_int_equal(load(&config, &state, at, INT64_MAX), BK_ERROR_CHECKPOINT);
    free(agent);
}

/* Makes the agent learn this bucket as the key's newest bucket. */
static void learn_bucket(struct bk_agent *agent, uint64_t key, int64_t bucket)
{
    struct bk_row row = row_at(1000, false);
    struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED, .mask = 15, .columns = {bucket, 1, 0, 0}};
    struct bk_action action;
    uint32_t operation;
    assert_int_equal(bk_agent_write(agent, 1000, key, &row, &operation), BK_OK);
    while ((action = next_action(agent)).kind != BK_ACT_DONE) {
        if (action.kind != BK_ACT_ACK)
            assert_int_equal(bk_agent_report(agent, 1000, action.ticket, &outcome), BK_OK);
    }
}

static void test_altered_cached_state_must_be_storable(void **unused)
{
    (void)unused;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    struct bk_agent *agent = make_agent(&config);
    learn_bucket(agent, 7, TELLING);
    struct bytes state = save(agent);
    size_t bucket = find(&state, TELLING), counter = bucket + 8;
    assert_int_equal(load(&config, &state, bucket, 0), BK_OK);
    assert_int_equal(load(&config, &state, bucket, -1), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, bucket, INT64_MAX - 1), BK_OK);
    assert_int_equal(load(&config, &state, bucket, INT64_MAX), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, counter, INT64_MAX - 1), BK_OK);
    assert_int_equal(load(&config, &state, counter, INT64_MAX), BK_ERROR_CHECKPOINT);
    free(agent);
}

/* The numbers of the entries increase, so that no entry occurs twice. */
static void test_cache_entries_are_in_order_of_use(void **unused)
{
    (void)unused;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    config.cache_entries = 4;
    struct bk_agent *agent = make_agent(&config);
    learn_bucket(agent, TELLING, 3);
    learn_bucket(agent, TELLING + 1, 5);
    struct bytes state = save(agent);
    /* The number of an entry is in the four bytes before its key. */
    size_t first = find(&state, TELLING) - 4, second = find(&state, TELLING + 1) - 4;
    size_t later = first < second ? second : first, sooner = first < second ? first : second;
    assert_int_not_equal(state.at[later], state.at[sooner]);
    int64_t key = number_at(state.at + later + 4), taken[4] = {BK_OK, BK_OK, BK_OK, BK_OK};
    for (unsigned char entry = 0; entry < 4; entry++) {
        struct bytes altered = state;
        altered.at[later] = entry;
        taken[entry] = load(&config, &altered, later + 4, key);
    }
    for (unsigned char entry = 0; entry < 4; entry++)
        assert_int_equal(taken[entry], entry > state.at[sooner] ? BK_OK : BK_ERROR_CHECKPOINT);
    struct bytes altered = state;
    altered.at[later] = 4;
    assert_int_equal(load(&config, &altered, later + 4, key), BK_ERROR_CHECKPOINT);
    free(agent);
}

/* An agent in the middle of a read of windows, whose numbers are in the thousands. */
static struct bk_agent *begin_walk(struct bk_agent_config *config, uint32_t shards, enum bk_plan plan,
                                   uint32_t at_once, uint64_t *ticket)
{
    *config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    config->remember_keys = 4;
    assert_int_equal(bk_strategy_time(MICROSECONDS, 0, &config->strategy), BK_OK);
    assert_int_equal(bk_strategy_shards(shards, &config->strategy), BK_OK);
    struct bk_agent *agent = make_agent(config);
    const struct bk_query query = {
        .kind = BK_QUERY_ALL, .plan = plan, .at_once = at_once, .birth_ns = 0x5432 * MICROSECONDS};
    uint32_t operation;
    assert_int_equal(bk_agent_read(agent, 0x6789 * MICROSECONDS, 7, 0, &query, &operation), BK_OK);
    const struct bk_action action = next_action(agent);
    assert_int_equal(action.kind, BK_ACT_READ_ROWS);
    *ticket = action.ticket;
    return agent;
}

static void test_a_walk_stays_within_its_bounds(void **unused)
{
    (void)unused;
    struct bk_agent_config config;
    uint64_t ticket;
    struct bk_agent *agent = begin_walk(&config, 1, BK_PLAN_WALK, 0, &ticket);
    struct bytes state = save(agent);
    size_t floor = find(&state, 0x5432), next = floor - 8, width = floor + 8, low = floor + 16;
    assert_int_equal(number_at(state.at + next), 0x6789);
    assert_int_equal(number_at(state.at + width), 1);
    assert_int_equal(number_at(state.at + low), 0x6789);
    assert_int_equal(load(&config, &state, floor, -FAR + 1), BK_OK);
    assert_int_equal(load(&config, &state, floor, -FAR), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, floor, INT64_MIN), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, floor, 0x6789), BK_OK);
    assert_int_equal(load(&config, &state, floor, 0x678a), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, low, 0x678a), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, low, 0x6788), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, width, 2), BK_OK);
    assert_int_equal(load(&config, &state, width, 0), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, width, INT64_C(1) << 32), BK_ERROR_CHECKPOINT);
    free(agent);
}

/* Runs of empty windows ascend, and between two runs is a window that is not known to be empty. */
static void test_runs_of_empty_windows_are_separate(void **unused)
{
    (void)unused;
    struct bk_agent_config config;
    uint64_t ticket;
    struct bk_agent *agent = begin_walk(&config, 1, BK_PLAN_PARALLEL, 8, &ticket);
    /* Of the windows 0x6782 to 0x6789 the lowest two are empty, and so are the two after the next window. */
    const struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED, .rows = 9, .empty = 0x1b};
    assert_int_equal(bk_agent_report(agent, 0x6799 * MICROSECONDS, ticket, &outcome), BK_OK);
    struct bytes state = save(agent);
    size_t low = find(&state, 0x6782), high = low + 8, next_low = high + 8, next_high = next_low + 8;
    assert_int_equal(number_at(state.at + high), 0x6783);
    assert_int_equal(number_at(state.at + next_low), 0x6785);
    assert_int_equal(number_at(state.at + next_high), 0x6786);
    assert_int_equal(load(&config, &state, high, 0x6784), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, high, 0x6781), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, high, INT64_MAX), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, next_low, 0x6784), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, next_low, 0x6786), BK_OK);
    assert_int_equal(load(&config, &state, next_high, INT64_MAX), BK_OK);
    free(agent);
    /* With two shards the lowest window is empty, and a run has both or neither. */
    agent = begin_walk(&config, 2, BK_PLAN_PARALLEL, 8, &ticket);
    assert_int_equal(bk_agent_report(agent, 0x6799 * MICROSECONDS, ticket, &outcome), BK_OK);
    state = save(agent);
    low = find(&state, 2 * 0x6786), high = low + 8;
    assert_int_equal(number_at(state.at + high), 2 * 0x6786 + 1);
    assert_int_equal(load(&config, &state, low, 2 * 0x6786 - 1), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, low, 2 * 0x6786 - 2), BK_OK);
    assert_int_equal(load(&config, &state, high, 2 * 0x6786 + 2), BK_ERROR_CHECKPOINT);
    assert_int_equal(load(&config, &state, high, 2 * 0x6786 + 3), BK_OK);
    free(agent);
}

/* A query is checked when its read begins. A checkpoint with an invalid query ends the read. */
static void test_checkpoint_with_an_invalid_query_is_refused(void **unused)
{
    (void)unused;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    struct bk_agent *agent = make_agent(&config);
    const struct bk_query query = {.kind = BK_QUERY_LATEST, .rows = TELLING};
    uint32_t operation;
    assert_int_equal(bk_agent_read(agent, 1000, 7, 0, &query, &operation), BK_OK);
    struct bk_action action = next_action(agent);
    assert_int_equal(action.kind, BK_ACT_READ_STATE);
    struct bytes state = save(agent);
    set_number(state.at + find(&state, TELLING), 0);
    assert_int_equal(bk_agent_load(agent, bk_agent_size(&config), &config, state.at, state.size, &agent),
                     BK_OK);
    const struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED, .mask = 15, .columns = {3, 1, 0, 0}};
    assert_int_equal(bk_agent_report(agent, 1000, action.ticket, &outcome), BK_OK);
    action = next_action(agent);
    assert_int_equal(action.kind, BK_ACT_DONE);
    assert_int_equal(action.status, BK_OPERATION_REFUSED);
    free(agent);
}

/* Offsets in a client's checkpoint: version and settings come first; after the identifiers in hand come step
 * and after, the number of actions, and then eight flags of a byte each. */
enum {
    IDGEN_NEXT = 4 + 6 * 8,
    IDGEN_IN_HAND = IDGEN_NEXT + 8,
    IDGEN_STEP = IDGEN_IN_HAND + 8,
    IDGEN_IS_TO_ASK = IDGEN_STEP + 2 * 4 + 8,
    IDGEN_IS_WAITING
};

static const struct bk_idgen_config client_config = {.client_id = 3,
                                                     .batch = 10,
                                                     .stripes = 4,
                                                     .stripe = 2,
                                                     .lock = BK_IDGEN_LOCK_LWT,
                                                     .lock_lasts_ns = 100,
                                                     .lease_ns = 50,
                                                     .backoff_base_ns = 5};

static struct bytes save_client(const struct bk_idgen *idgen)
{
    struct bytes state = {.size = bk_idgen_state_size(idgen)};
    assert_in_range(state.size, 1, sizeof state.at);
    assert_int_equal(bk_idgen_save(idgen, state.at, sizeof state.at), BK_OK);
    return state;
}

static enum bk_status load_client(const struct bytes *state, size_t at, int64_t value)
{
    struct bytes altered = *state;
    struct bk_idgen idgen, untouched;
    memset(&idgen, 0xa5, sizeof idgen);
    memset(&untouched, 0xa5, sizeof untouched);
    set_number(altered.at + at, value);
    enum bk_status status = bk_idgen_load(&client_config, altered.at, altered.size, &idgen);
    if (status != BK_OK)
        assert_memory_equal(&idgen, &untouched, sizeof idgen);
    return status;
}

/* A client that has read `last` as the last identifier and is about to store another. */
static struct bk_idgen client_that_stores(int64_t last)
{
    struct bk_idgen idgen;
    struct bk_idgen_action action;
    int64_t id;
    assert_int_equal(bk_idgen_init(&client_config, &idgen), BK_OK);
    assert_int_equal(bk_idgen_take(&idgen, 1000, &id), BK_ERROR_EMPTY);
    for (int i = 0; i < 2; i++) {
        const struct bk_idgen_outcome outcome = {.kind = BK_IDGEN_APPLIED, .found = i == 1, .values = {last}};
        assert_true(bk_idgen_next(&idgen, &action));
        assert_int_equal(action.kind, i == 0 ? BK_IDGEN_CAS_LOCK : BK_IDGEN_READ_LAST);
        assert_int_equal(bk_idgen_report(&idgen, 1000, action.ticket, &outcome), BK_OK);
    }
    return idgen;
}

/* Extra bytes after a checkpoint are refused. */
static void test_a_checkpoint_that_is_too_long_is_refused(void **unused)
{
    (void)unused;
    struct bk_idgen idgen = client_that_stores(TELLING + 2), loaded;
    struct bytes state = save_client(&idgen);
    assert_int_equal(bk_idgen_load(&client_config, state.at, state.size, &loaded), BK_OK);
    assert_int_equal(bk_idgen_load(&client_config, state.at, state.size + 1, &loaded), BK_ERROR_CHECKPOINT);
}

static void test_a_client_requests_or_waits_and_not_both(void **unused)
{
    (void)unused;
    struct bk_idgen idgen = client_that_stores(TELLING + 2);
    struct bytes state = save_client(&idgen);
    assert_int_equal(state.at[IDGEN_IS_TO_ASK], 1);
    assert_int_equal(state.at[IDGEN_IS_WAITING], 0);
    for (unsigned char asks = 0; asks <= 1; asks++) {
        for (unsigned char waits = 0; waits <= 1; waits++) {
            struct bk_idgen loaded;
            state.at[IDGEN_IS_TO_ASK] = asks;
            state.at[IDGEN_IS_WAITING] = waits;
            assert_int_equal(bk_idgen_load(&client_config, state.at, state.size, &loaded),
                             asks != waits ? BK_OK : BK_ERROR_CHECKPOINT);
        }
    }
}

/* A random wait is drawn at a lease's first attempt. A checkpoint may say that there were more attempts but
 * no draw. */
static void test_a_random_wait_that_a_client_lacks_is_drawn(void **unused)
{
    (void)unused;
    struct bk_idgen_config config = client_config;
    struct bk_idgen idgen, loaded;
    struct bk_idgen_action action;
    int64_t id;
    config.backoff = BK_IDGEN_RANDOM_TIMES;
    assert_int_equal(bk_idgen_init(&config, &idgen), BK_OK);
    assert_int_equal(bk_idgen_take(&idgen, 1000, &id), BK_ERROR_EMPTY);
    assert_true(bk_idgen_next(&idgen, &action));
    struct bytes state = save_client(&idgen);
    assert_int_equal(state.at[100], 1); /* attempts */
    state.at[100] = 2;
    assert_int_equal(bk_idgen_load(&config, state.at, state.size, &loaded), BK_OK);
    const struct bk_idgen_outcome held = {
        .kind = BK_IDGEN_NOT_APPLIED, .found = true, .values = {8, INT64_MAX}};
    assert_int_equal(bk_idgen_report(&loaded, 1000, action.ticket, &held), BK_OK);
    assert_in_range(bk_idgen_deadline(&loaded), 1000 + 2, 1000 + 2 * config.backoff_base_ns);
}

/* The identifiers in hand end at INT64_MAX at the latest. */
static void test_identifiers_in_hand_belong_to_the_stripe(void **unused)
{
    (void)unused;
    struct bk_idgen idgen = client_that_stores(TELLING + 2);
    struct bk_idgen_action action;
    const struct bk_idgen_outcome stored = {.kind = BK_IDGEN_APPLIED};
    assert_true(bk_idgen_next(&idgen, &action));
    assert_int_equal(action.kind, BK_IDGEN_CAS_LAST);
    assert_int_equal(bk_idgen_report(&idgen, 1000, action.ticket, &stored), BK_OK);
    struct bytes state = save_client(&idgen);
    int64_t next = TELLING + 2 + 4;
    assert_int_equal(number_at(state.at + IDGEN_NEXT), next);
    assert_int_equal(number_at(state.at + IDGEN_IN_HAND), 10);
    assert_int_equal(load_client(&state, IDGEN_NEXT, 2), BK_OK);
    assert_int_equal(load_client(&state, IDGEN_NEXT, 3), BK_ERROR_CHECKPOINT);
    assert_int_equal(load_client(&state, IDGEN_NEXT, -2), BK_ERROR_CHECKPOINT);
    assert_int_equal(load_client(&state, IDGEN_IN_HAND, (INT64_MAX - next) / 4 + 1), BK_OK);
    assert_int_equal(load_client(&state, IDGEN_IN_HAND, (INT64_MAX - next) / 4 + 2), BK_ERROR_CHECKPOINT);
    assert_int_equal(load_client(&state, IDGEN_IN_HAND, -1), BK_ERROR_CHECKPOINT);
}

/* The identifier to be stored is above the last one, which must itself be an identifier. */
static void test_a_client_stores_an_identifier_of_its_stripe(void **unused)
{
    (void)unused;
    int64_t last = TELLING + 2;
    struct bk_idgen idgen = client_that_stores(last);
    struct bytes state = save_client(&idgen);
    size_t at_last = find(&state, last), at_stored = find(&state, last + 40);
    assert_int_equal(load_client(&state, at_last, 1), BK_OK);
    assert_int_equal(load_client(&state, at_last, 0), BK_ERROR_CHECKPOINT);
    assert_int_equal(load_client(&state, at_last, INT64_MIN), BK_ERROR_CHECKPOINT);
    assert_int_equal(load_client(&state, at_stored, last + 4), BK_OK);
    assert_int_equal(load_client(&state, at_stored, last + 3), BK_ERROR_CHECKPOINT);
    assert_int_equal(load_client(&state, at_stored, last), BK_ERROR_CHECKPOINT);
    assert_int_equal(load_client(&state, at_stored, last - 4), BK_ERROR_CHECKPOINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_altered_weight_must_be_possible_for_a_row),
        cmocka_unit_test(test_altered_cached_state_must_be_storable),
        cmocka_unit_test(test_cache_entries_are_in_order_of_use),
        cmocka_unit_test(test_a_walk_stays_within_its_bounds),
        cmocka_unit_test(test_runs_of_empty_windows_are_separate),
        cmocka_unit_test(test_checkpoint_with_an_invalid_query_is_refused),
        cmocka_unit_test(test_a_checkpoint_that_is_too_long_is_refused),
        cmocka_unit_test(test_a_client_requests_or_waits_and_not_both),
        cmocka_unit_test(test_a_random_wait_that_a_client_lacks_is_drawn),
        cmocka_unit_test(test_identifiers_in_hand_belong_to_the_stripe),
        cmocka_unit_test(test_a_client_stores_an_identifier_of_its_stripe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
