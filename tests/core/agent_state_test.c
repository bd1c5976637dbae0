/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a checkpoint is exact, small, the same on every machine, and never accepted by another agent.
 * Method: agents and clients of identifiers with little knowledge; each wrong call that the headers list;
 * a checkpoint compared with bytes in this file. The model tests show that an agent continues identically
 * from any state, since they replace agents by their checkpoints all the time; agent_hostile_test shows
 * the effect of altered bytes. */
#include "agent_host.h"
#include "bucketing/idgen.h"

/* The offset of the number of identifiers in hand in a client's state. */
#define IN_HAND (4 + 6 * 8 + 8)

static void put_row(struct bk_agent *agent, uint64_t key)
{
    struct bk_row row = row_at(1000, false);
    uint32_t operation;
    struct bk_action action;
    struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED, .mask = 15, .columns = {7, 1, 0, 0}};
    assert_int_equal(bk_agent_write(agent, 1000, key, &row, &operation), BK_OK);
    while (bk_agent_next(agent, &action)) {
        if (action.kind != BK_ACT_ACK && action.kind != BK_ACT_DONE)
            assert_int_equal(bk_agent_report(agent, 1000, action.ticket, &outcome), BK_OK);
    }
}

/* A checkpoint holds what the agent knows, not what it has room for. */
static void test_size_follows_what_is_known(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    config.cache_entries = 1 << 16;
    config.operations = 1 << 10;
    struct bk_agent *agent = make_agent(&config);
    size_t least = bk_agent_state_size(agent);
    assert_true(least < 5000 && bk_agent_size(&config) > 1000000);
    for (uint64_t key = 0; key < 10; key++)
        put_row(agent, key);
    assert_int_equal(bk_agent_state_size(agent), least + 10 * (4 + 8 + 4 + 4 * 8 + 8));
    free(agent);
}

/* The first eight bytes of the settings are the kind: 3, least significant byte first. */
static void test_bytes_are_the_same_on_every_machine(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    struct bk_agent *agent = make_agent(&config);
    unsigned char bytes[1024];
    put_row(agent, 5);
    size_t size = bk_agent_state_size(agent);
    assert_true(size <= sizeof bytes);
    assert_int_equal(bk_agent_save(agent, bytes, sizeof bytes), BK_OK);
    const unsigned char head[] = {0x04, 0x61, 0x6b, 0x62, 3, 0, 0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(bytes, head, sizeof head);
    /* The last entry of the cache: key, mask, bucket and counter; then no remembered windows. */
    const unsigned char tail[] = {5, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1};
    assert_memory_equal(bytes + size - 8 - 4 * 8 - 12 - 8, tail, sizeof tail);
    free(agent);
}

static void test_an_era_stays_as_it_was_changed(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
    struct bk_history history;
    struct bk_strategy next;
    struct bk_agent *agent = make_agent(&config);
    assert_int_equal(bk_strategy_probabilistic(2, 5, &next), BK_OK);
    assert_int_equal(bk_history_begin(&config.strategy, &history), BK_OK);
    assert_int_equal(bk_history_change(&history, 500, &next), BK_OK);
    assert_int_equal(bk_agent_change(agent, &history), BK_OK);
    agent = reload_agent(agent, &config);
    /* A row of the second era fires with two bits, and not with one. */
    struct bk_row row = {.time_ns = 1000, .id = 1};
    uint32_t operation;
    struct bk_action action;
    assert_int_equal(bk_agent_write(agent, 1000, 1, &row, &operation), BK_OK);
    struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
    bool fired = true;
    while (bk_agent_next(agent, &action)) {
        fired = action.fired;
        if (action.kind != BK_ACT_ACK && action.kind != BK_ACT_DONE)
            assert_int_equal(bk_agent_report(agent, 1000, action.ticket, &outcome), BK_OK);
    }
    assert_int_equal(action.kind, BK_ACT_DONE);
    assert_false(fired);
    free(agent);
}

static void test_clients_of_identifiers_are_kept_too(void **state)
{
    (void)state;
    struct bk_idgen_config config = {.client_id = 3,
                                     .batch = 10,
                                     .stripes = 4,
                                     .stripe = 2,
                                     .lock_lasts_ns = 100,
                                     .lease_ns = 50,
                                     .backoff_base_ns = 5};
    struct bk_idgen_config other = config;
    struct bk_idgen idgen, loaded;
    unsigned char bytes[512];
    int64_t id;
    assert_int_equal(bk_idgen_init(&config, &idgen), BK_OK);
    assert_int_equal(bk_idgen_take(&idgen, 1000, &id), BK_ERROR_EMPTY);
    size_t size = bk_idgen_state_size(&idgen);
    assert_true(size <= sizeof bytes);
    assert_int_equal(bk_idgen_state_size(NULL), 0);
    assert_int_equal(bk_idgen_save(NULL, bytes, size), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_save(&idgen, NULL, size), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_save(&idgen, bytes, size - 1), BK_ERROR_MEMORY);
    assert_int_equal(bk_idgen_save(&idgen, bytes, size), BK_OK);
    assert_int_equal(bk_idgen_load(NULL, bytes, size, &loaded), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_load(&config, NULL, size, &loaded), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_load(&config, bytes, size, NULL), BK_ERROR_NULL);
    other.batch++;
    assert_int_equal(bk_idgen_load(&other, bytes, size, &loaded), BK_ERROR_CHECKPOINT);
    assert_int_equal(bytes[0], BK_IDGEN_LAYOUT);
    bytes[0]++;
    assert_int_equal(bk_idgen_load(&config, bytes, size, &loaded), BK_ERROR_CHECKPOINT);
    bytes[0]--;
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(bk_idgen_load(&config, bytes, cut, &loaded), BK_ERROR_CHECKPOINT);
    assert_int_equal(bk_idgen_load(&config, bytes, size, &loaded), BK_OK);
    /* Numbers at the limits of their range, at every position: for a build that checks arithmetic. */
    for (size_t at = 4; at + 8 <= size; at += 4) {
        static const unsigned char sides[] = {0x7f, 0x80};
        for (size_t side = 0; side < sizeof sides; side++) {
            unsigned char altered[sizeof bytes];
            memcpy(altered, bytes, size);
            altered[IN_HAND] = 1;
            memset(altered + at, sides[side] == 0x7f ? 0xff : 0, 8);
            altered[at + 7] = sides[side];
            enum bk_status status = bk_idgen_load(&config, altered, size, &loaded);
            assert_true(status == BK_OK || status == BK_ERROR_CHECKPOINT);
        }
    }
    struct bk_idgen_action action, expected;
    assert_int_equal(bk_idgen_load(&config, bytes, size, &loaded), BK_OK);
    assert_true(bk_idgen_next(&idgen, &expected) && bk_idgen_next(&loaded, &action));
    assert_int_equal(action.kind, BK_IDGEN_WRITE_COLUMN);
    assert_memory_equal(&action, &expected, sizeof action);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_follows_what_is_known),
        cmocka_unit_test(test_bytes_are_the_same_on_every_machine),
        cmocka_unit_test(test_an_era_stays_as_it_was_changed),
        cmocka_unit_test(test_clients_of_identifiers_are_kept_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
