/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: every public function of the core answers every misuse that its header lists with the status that the
 * header names, and changes nothing.
 * Method: a table for each header, with one line per misuse, in the header's order; the arguments of the
 * calls are compared with a copy made before. Functions that return a value report "nothing" with the
 * value that their header names. */
#include "agent_host.h"
#include "bucketing/bucketing.h"
#include "bucketing/hash.h"
#include "bucketing/idgen.h"
#include "bucketing/private/lab.h"

#define DAY_NS INT64_C(86400000000000)

struct misuse {
    const char *call;
    int64_t answered, expected;
};

/* The initialisers of a table are calls in an unspecified order, which is fine for calls that change nothing.
 */
#define REFUSED(call, status)                                                                                \
    {                                                                                                        \
#call, (int64_t)(call), (status)                                                                     \
    }
/* The same for a call that must zero its output. */
#define ZEROED(call, object, status)                                                                         \
    {                                                                                                        \
#call, zeroed((memset(object, 0xa5, sizeof *(object)), (call)), object, sizeof *(object)), (status)  \
    }

static int64_t zeroed(enum bk_status status, const void *object, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (((const unsigned char *)object)[i] != 0)
            return -1;
    }
    return status;
}

static void check(const struct misuse *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (table[i].answered != table[i].expected)
            fail_msg("%s: %lld, not %lld", table[i].call, (long long)table[i].answered,
                     (long long)table[i].expected);
    }
}
#define CHECK(table) check(table, sizeof(table) / sizeof *(table))

static void test_misuse_of_status_and_hash(void **unused)
{
    (void)unused;
    int32_t none[2], likewise[2];
    const uint64_t inputs[2] = {1, 2};
    bk_consistent_hashes(inputs, 2, 0, none);
    bk_buckets_of_ids(inputs, 2, UINT32_C(1) << 31, likewise);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(none[i], -1);
        assert_int_equal(likewise[i], -1);
    }
    /* Zero bytes are no misuse, whatever the pointer. */
    const struct bk_hash128 plain = bk_murmur3_128(NULL, 0, 7), at = bk_murmur3_128(inputs, 0, 7),
                            tail = bk_murmur3_128_cassandra(NULL, 0, 7);
    assert_true(plain.h1 == at.h1 && plain.h2 == at.h2);
    assert_true(plain.h1 == tail.h1 && plain.h2 == tail.h2);
    const struct misuse table[] = {
        REFUSED(strcmp(bk_status_text((enum bk_status)(-1)), "unknown status"), 0),
        REFUSED(strcmp(bk_status_text((enum bk_status)1000), "unknown status"), 0),
        REFUSED(bk_consistent_hash(7, 0), -1),
        REFUSED(bk_consistent_hash(7, UINT32_C(1) << 31), -1),
        REFUSED(bk_bucket_of_id(7, 0), -1),
    };
    CHECK(table);
}

static void test_misuse_of_ids(void **unused)
{
    (void)unused;
    static const uint8_t id[16] = {[6] = 0x40, [8] = 0x80}, other[16] = {[6] = 0x40};
    uint64_t out;
    const struct misuse table[] = {
        REFUSED(bk_id_bits(BK_ID_BYTES, id, 1, NULL), BK_ERROR_NULL),
        ZEROED(bk_id_bits(BK_ID_BYTES, NULL, 1, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_id_bits(BK_ID_BYTES, id, 0, &out), &out, BK_ERROR_ID),
        ZEROED(bk_id_bits(BK_ID_UUID4, id, 15, &out), &out, BK_ERROR_ID),
        ZEROED(bk_id_bits(BK_ID_UUID7, id, 16, &out), &out, BK_ERROR_ID),
        ZEROED(bk_id_bits(BK_ID_TIMEUUID, id, 16, &out), &out, BK_ERROR_ID),
        ZEROED(bk_id_bits(BK_ID_UUID4, other, 16, &out), &out, BK_ERROR_ID),
        ZEROED(bk_id_bits(BK_ID_ULID, id, 8, &out), &out, BK_ERROR_ID),
        ZEROED(bk_id_bits(BK_ID_SNOWFLAKE, id, 16, &out), &out, BK_ERROR_ID),
        ZEROED(bk_id_bits(BK_ID_KINDS, id, 16, &out), &out, BK_ERROR_ID),
    };
    CHECK(table);
}

static void test_misuse_of_strategy(void **unused)
{
    (void)unused;
    struct bk_strategy out;
    const struct misuse table[] = {
        REFUSED(bk_strategy_unbucketed(NULL), BK_ERROR_NULL),
        REFUSED(bk_strategy_time(1000, 0, NULL), BK_ERROR_NULL),
        ZEROED(bk_strategy_time(999, 0, &out), &out, BK_ERROR_WINDOW),
        ZEROED(bk_strategy_time(-DAY_NS, 0, &out), &out, BK_ERROR_WINDOW),
        REFUSED(bk_strategy_calendar(BK_CALENDAR_DAY, NULL), BK_ERROR_NULL),
        REFUSED(bk_strategy_calendar(BK_CALENDAR_NONE, NULL), BK_ERROR_NULL),
        ZEROED(bk_strategy_calendar(BK_CALENDAR_NONE, &out), &out, BK_ERROR_CALENDAR),
        ZEROED(bk_strategy_calendar((enum bk_calendar)5, &out), &out, BK_ERROR_CALENDAR),
        ZEROED(bk_strategy_calendar((enum bk_calendar)(-1), &out), &out, BK_ERROR_CALENDAR),
        REFUSED(bk_strategy_count(1, NULL), BK_ERROR_NULL),
        ZEROED(bk_strategy_count(0, &out), &out, BK_ERROR_ROWS),
        REFUSED(bk_strategy_probabilistic(1, 1, NULL), BK_ERROR_NULL),
        ZEROED(bk_strategy_probabilistic(33, 1, &out), &out, BK_ERROR_BITS),
        ZEROED(bk_strategy_probabilistic(32, 0, &out), &out, BK_ERROR_THRESHOLD),
        REFUSED(bk_strategy_probabilistic_chance(1, 2, 1, NULL), BK_ERROR_NULL),
        REFUSED(bk_strategy_probabilistic_chance(1, 0, 1, NULL), BK_ERROR_NULL),
        ZEROED(bk_strategy_probabilistic_chance(0, 1, 1, &out), &out, BK_ERROR_CHANCE),
        ZEROED(bk_strategy_probabilistic_chance(0, 0, 1, &out), &out, BK_ERROR_CHANCE),
        ZEROED(bk_strategy_probabilistic_chance(3, 2, 1, &out), &out, BK_ERROR_CHANCE),
        ZEROED(bk_strategy_probabilistic_chance(1, 2, 0, &out), &out, BK_ERROR_THRESHOLD),
        REFUSED(bk_strategy_hash(1, NULL), BK_ERROR_NULL),
        ZEROED(bk_strategy_hash(0, &out), &out, BK_ERROR_BUCKETS),
        ZEROED(bk_strategy_hash(BK_BUCKETS_MAX + 1, &out), &out, BK_ERROR_BUCKETS),
        REFUSED(bk_strategy_weighted(1, 1, NULL), BK_ERROR_NULL),
        ZEROED(bk_strategy_weighted(0, 1, &out), &out, BK_ERROR_BYTES),
        ZEROED(bk_strategy_weighted(1, 0, &out), &out, BK_ERROR_THRESHOLD),
        REFUSED(bk_strategy_check(NULL), BK_ERROR_NULL),
        REFUSED(bk_strategy_check(&(struct bk_strategy){.kind = BK_KINDS}), BK_ERROR_KIND),
        REFUSED(bk_strategy_check(&(struct bk_strategy){.kind = (enum bk_kind)99}), BK_ERROR_KIND),
        REFUSED(strcmp(bk_kind_name(BK_KINDS), "unknown"), 0),
        REFUSED(bk_threshold(NULL), 0),
        REFUSED(bk_kind_fires((enum bk_kind)99), false),
    };
    CHECK(table);
}

static void test_misuse_of_settings(void **unused)
{
    (void)unused;
    struct bk_setting setting = {.strategy.kind = BK_KIND_UNBUCKETED},
                      unsound = {.strategy.kind = BK_KIND_HASH}, made;
    struct bk_setting lease = {.strategy = {BK_KIND_COUNT, .of.count = {1}}, .source = BK_SOURCE_LEASE};
    struct bk_setting_error error;
    char text[BK_SETTING_TEXT_SIZE];
    const struct misuse table[] = {
        REFUSED(bk_strategy_parse("", 0, NULL, &error), BK_ERROR_NULL),
        ZEROED(bk_strategy_parse(NULL, 1, &made, &error), &made, BK_ERROR_NULL),
        ZEROED(bk_strategy_parse(NULL, 0, &made, &error), &made, BK_ERROR_SETTING),
        ZEROED(bk_strategy_parse("x", 1, &made, NULL), &made, BK_ERROR_SETTING),
        REFUSED(bk_strategy_print(NULL, text, sizeof text, NULL), BK_ERROR_NULL),
        REFUSED(bk_strategy_print(&setting, NULL, 0, NULL), BK_ERROR_NULL),
        REFUSED(bk_strategy_print(&setting, text, 0, NULL), BK_ERROR_MEMORY),
        REFUSED(bk_strategy_print(&unsound, text, sizeof text, NULL), BK_ERROR_BUCKETS),
        REFUSED(bk_strategy_print(&lease, text, sizeof text, NULL), BK_ERROR_SETTING),
        REFUSED(bk_setting_agent_config(NULL).strategy.kind, BK_KIND_UNBUCKETED),
    };
    CHECK(table);
}

static void test_misuse_of_greatest_ages(void **unused)
{
    (void)unused;
    struct bk_strategy count, hash, hour, wrong = {.kind = BK_KIND_COUNT}, copies[4];
    bk_strategy_count(5, &count);
    bk_strategy_hash(5, &hash);
    bk_strategy_calendar(BK_CALENDAR_HOUR, &hour);
    copies[0] = count, copies[1] = hash, copies[2] = hour, copies[3] = wrong;
    const struct misuse table[] = {
        REFUSED(bk_strategy_max_age(DAY_NS, NULL), BK_ERROR_NULL),
        REFUSED(bk_strategy_max_age(999, &count), BK_ERROR_AGE),
        REFUSED(bk_strategy_max_age(-1, &count), BK_ERROR_AGE),
        REFUSED(bk_strategy_max_age(DAY_NS, &hash), BK_ERROR_AGE),
        REFUSED(bk_strategy_max_age(DAY_NS, &hour), BK_ERROR_AGE),
        REFUSED(bk_strategy_max_age(DAY_NS, &wrong), BK_ERROR_ROWS),
        REFUSED(bk_strategy_max_age(0, &wrong), BK_ERROR_ROWS),
        REFUSED(bk_strategy_shards(2, NULL), BK_ERROR_NULL),
        REFUSED(bk_strategy_shards(0, &hour), BK_ERROR_SHARDS),
        REFUSED(bk_strategy_shards(BK_SHARDS_MAX + 1, &hour), BK_ERROR_SHARDS),
        REFUSED(bk_strategy_shards(2, &hash), BK_ERROR_SHARDS),
        REFUSED(bk_strategy_shards(BK_SHARDS_MAX + 1, &count), BK_ERROR_SHARDS),
        REFUSED(bk_strategy_shards(2, &wrong), BK_ERROR_ROWS),
    };
    CHECK(table);
    assert_memory_equal(&count, &copies[0], sizeof count);
    assert_memory_equal(&hash, &copies[1], sizeof hash);
    assert_memory_equal(&hour, &copies[2], sizeof hour);
    assert_memory_equal(&wrong, &copies[3], sizeof wrong);
}

static void test_misuse_of_route(void **unused)
{
    (void)unused;
    struct bk_strategy bits, aged, wrong = {.kind = BK_KIND_HASH};
    bk_strategy_probabilistic(0, 3, &bits);
    bk_strategy_count(3, &aged);
    bk_strategy_max_age(DAY_NS, &aged);
    struct bk_key_state state = {.bucket = 1}, full = {.counter = 3}, below = {.bucket = -1};
    const struct bk_key_state last = {.bucket = INT64_MAX - 1}, beyond = {.bucket = INT64_MAX};
    const struct bk_key_state copies[3] = {state, full, below};
    const struct bk_row row = {.time_ns = 1, .id = 1};
    const uint64_t ids[2] = {1, 1};
    struct bk_placement out;
    struct bk_effect effect;
    struct bk_strategy window, count, heavy, hash;
    bk_strategy_time(DAY_NS, 0, &window);
    bk_strategy_count(3, &count);
    bk_strategy_weighted(3, 3, &heavy);
    bk_strategy_hash(3, &hash);
    const struct bk_rows none = {NULL, NULL, NULL, NULL}, rows = {.ids = ids}, numbers = {.sequences = ids};
    int64_t buckets[2];
    const struct misuse table[] = {
        REFUSED(bk_route(&bits, &state, &row, NULL), BK_ERROR_NULL),
        ZEROED(bk_route(NULL, &state, &row, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_route(&bits, NULL, &row, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_route(&bits, &state, NULL, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_route(&aged, NULL, &row, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_route(&wrong, &state, &row, &out), &out, BK_ERROR_BUCKETS),
        ZEROED(bk_route(&bits, &full, &row, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_route(&bits, &below, &row, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_route(&aged, &below, &row, &out), &out, BK_ERROR_STATE),
        REFUSED(bk_route(&bits, &last, &row, &out), BK_OK),
        ZEROED(bk_route(&bits, &beyond, &row, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_route(&heavy, &beyond, &row, &out), &out, BK_ERROR_STATE),
        REFUSED(bk_weight(NULL, &row), 0),
        REFUSED(bk_weight(&bits, NULL), 0),
        REFUSED(bk_weight(&wrong, &row), 0),
        REFUSED(bk_fires(NULL, &row), false),
        REFUSED(bk_fires(&bits, NULL), false),
        REFUSED(bk_first_firing(NULL, ids, NULL, 0, 2), 2),
        REFUSED(bk_first_firing(&bits, NULL, NULL, 0, 2), 2),
        REFUSED(bk_first_firing(&wrong, ids, NULL, 0, 2), 2),
        REFUSED(bk_advance(NULL, &state, &row, &effect), BK_ERROR_NULL),
        REFUSED(bk_advance(&bits, NULL, &row, &effect), BK_ERROR_NULL),
        REFUSED(bk_advance(&bits, &state, NULL, &effect), BK_ERROR_NULL),
        REFUSED(bk_advance(&wrong, &state, &row, &effect), BK_ERROR_BUCKETS),
        REFUSED(bk_advance(&bits, &full, &row, &effect), BK_ERROR_STATE),
        REFUSED(bk_advance(&bits, &below, &row, &effect), BK_ERROR_STATE),
        REFUSED(bk_advance(&aged, &below, &row, &effect), BK_ERROR_STATE),
        REFUSED(bk_advance(&bits, &full, &row, NULL), BK_ERROR_STATE),
        REFUSED(bk_route_batch(NULL, &state, &rows, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&bits, NULL, &rows, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&count, NULL, &numbers, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&bits, &state, NULL, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&bits, &state, &rows, 2, NULL), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&bits, &state, &none, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&heavy, &state, &rows, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&hash, &state, &none, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&count, &state, &rows, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&window, &state, &rows, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&aged, &state, &numbers, 2, buckets), BK_ERROR_NULL),
        REFUSED(bk_route_batch(&wrong, &state, &rows, 2, buckets), BK_ERROR_BUCKETS),
        REFUSED(bk_route_batch(&bits, &full, &rows, 2, buckets), BK_ERROR_STATE),
        REFUSED(bk_route_batch(&bits, &below, &rows, 2, buckets), BK_ERROR_STATE),
    };
    CHECK(table);
    assert_memory_equal(&state, &copies[0], sizeof state);
    assert_memory_equal(&full, &copies[1], sizeof full);
    assert_memory_equal(&below, &copies[2], sizeof below);
}

static void test_misuse_of_read(void **unused)
{
    (void)unused;
    struct bk_strategy bits, day, hash, micro, wrong = {.kind = BK_KIND_COUNT};
    bk_strategy_probabilistic(0, 3, &bits);
    bk_strategy_time(DAY_NS, 0, &day);
    bk_strategy_time(1000, 0, &micro);
    bk_strategy_hash(4, &hash);
    const struct bk_key_state state = {.bucket = 1}, below = {.bucket = -1};
    const struct bk_query latest = {.kind = BK_QUERY_LATEST, .rows = 1}, no_rows = {.kind = BK_QUERY_LATEST},
                          no_kind = {.kind = (enum bk_query_kind)7},
                          backward = {.kind = BK_QUERY_RANGE, .from_ns = 5, .until_ns = 5},
                          no_plan = {.kind = BK_QUERY_ALL, .plan = (enum bk_plan)9},
                          negative_plan = {.kind = BK_QUERY_ALL, .plan = (enum bk_plan)(-1)},
                          walk = {.kind = BK_QUERY_ALL, .plan = BK_PLAN_WALK},
                          pair = {.kind = BK_QUERY_ALL, .plan = BK_PLAN_PAIR},
                          all = {.kind = BK_QUERY_ALL, .plan = BK_PLAN_ALL},
                          lazy = {.kind = BK_QUERY_ALL, .plan = BK_PLAN_LAZY},
                          ages = {.kind = BK_QUERY_ALL, .now_ns = 1000 * DAY_NS};
    const struct bk_bucket_start starts[3][2] = {{{1, 5}, {1, 6}}, {{0, 5}, {1, 4}}, {{-1, 1}, {0, 2}}},
                                 beyond[1] = {{2, 5}};
    struct bk_query range = {.kind = BK_QUERY_RANGE, .from_ns = 0, .until_ns = 9, .start_count = 2};
    struct bk_query ranges[4] = {range, range, range, range};
    for (size_t i = 0; i < 3; i++)
        ranges[i].starts = starts[i];
    ranges[3].starts = beyond;
    ranges[3].start_count = 1;
    struct bk_reader out;
    const struct misuse table[] = {
        REFUSED(bk_read_begin(&bits, &state, &latest, NULL), BK_ERROR_NULL),
        ZEROED(bk_read_begin(NULL, &state, &latest, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_read_begin(&bits, &state, NULL, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_read_begin(&bits, NULL, &latest, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_read_begin(&wrong, &state, &latest, &out), &out, BK_ERROR_ROWS),
        ZEROED(bk_read_begin(&bits, &state, &no_rows, &out), &out, BK_ERROR_ROWS),
        ZEROED(bk_read_begin(&bits, &state, &backward, &out), &out, BK_ERROR_RANGE),
        ZEROED(bk_read_begin(&bits, &state, &no_kind, &out), &out, BK_ERROR_QUERY),
        ZEROED(bk_read_begin(&bits, &state, &no_plan, &out), &out, BK_ERROR_PLAN),
        ZEROED(bk_read_begin(&bits, &state, &negative_plan, &out), &out, BK_ERROR_PLAN),
        ZEROED(bk_read_begin(&hash, NULL, &walk, &out), &out, BK_ERROR_PLAN),
        ZEROED(bk_read_begin(&hash, NULL, &pair, &out), &out, BK_ERROR_PLAN),
        ZEROED(bk_read_begin(&day, NULL, &all, &out), &out, BK_ERROR_PLAN),
        ZEROED(bk_read_begin(&bits, &state, &lazy, &out), &out, BK_ERROR_PLAN),
        ZEROED(bk_read_begin(&bits, &below, &latest, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_read_begin(&bits, &state, &ranges[0], &out), &out, BK_ERROR_STATE),
        ZEROED(bk_read_begin(&bits, &state, &ranges[1], &out), &out, BK_ERROR_STATE),
        ZEROED(bk_read_begin(&bits, &state, &ranges[2], &out), &out, BK_ERROR_STATE),
        ZEROED(bk_read_begin(&bits, &state, &ranges[3], &out), &out, BK_ERROR_STATE),
        ZEROED(bk_read_begin(&micro, NULL, &ages, &out), &out, BK_ERROR_WALK_TOO_LONG),
        REFUSED(bk_read_latest(&bits, &state, 0, 0, 1, BK_PLAN_DEFAULT, NULL), BK_ERROR_NULL),
        ZEROED(bk_read_latest(&bits, &state, 0, 0, 0, BK_PLAN_DEFAULT, &out), &out, BK_ERROR_ROWS),
    };
    CHECK(table);
}

static void test_misuse_of_a_reader_and_of_empty_windows(void **unused)
{
    (void)unused;
    struct bk_strategy bits, day, wrong = {.kind = BK_KIND_TIME};
    bk_strategy_probabilistic(0, 3, &bits);
    bk_strategy_time(DAY_NS, 0, &day);
    const struct bk_key_state state = {.bucket = 1};
    struct bk_reader reader, none = {0}, copy;
    struct bk_read_step step;
    struct bk_empties empties = {.count = 1, .runs = {{2, 3}}};
    const struct bk_empties known = empties;
    assert_int_equal(bk_read_latest(&bits, &state, 0, 0, 1, BK_PLAN_DEFAULT, &reader), BK_OK);
    copy = reader;
    bk_read_found(NULL, 1);
    bk_read_found_range(NULL, 1, true);
    bk_read_found(&reader, 1); /* no step is open */
    bk_read_found_range(&reader, 1, true);
    bk_empties_forget(NULL, 1);
    const struct misuse table[] = {
        REFUSED(bk_read_next(NULL, &step), false),
        REFUSED(bk_read_next(&reader, NULL), false),
        REFUSED(bk_read_next_known(NULL, NULL, &step), false),
        REFUSED(bk_read_next_known(&reader, NULL, NULL), false),
        REFUSED(bk_read_skip_to(NULL, 0), 0),
        REFUSED(bk_read_skip_to(&none, 0), 0),
        REFUSED(bk_read_skip_to(&reader, 1), 0),
        REFUSED(bk_empties_learn(NULL, &day, &reader, 9 * DAY_NS, 0, 0, 1), BK_ERROR_NULL),
        REFUSED(bk_empties_learn(&empties, NULL, &reader, 9 * DAY_NS, 0, 0, 1), BK_ERROR_NULL),
        REFUSED(bk_empties_learn(&empties, &day, NULL, 9 * DAY_NS, 0, 0, 1), BK_ERROR_NULL),
        REFUSED(bk_empties_learn(&empties, &wrong, &reader, 9 * DAY_NS, 0, 0, 1), BK_ERROR_WINDOW),
        REFUSED(bk_empties_learn(&empties, &bits, &reader, 9 * DAY_NS, 0, 0, 1), BK_ERROR_KIND),
        REFUSED(bk_empties_learn(&empties, &day, &reader, 9 * DAY_NS, -1, 0, 1), BK_ERROR_RANGE),
        REFUSED(bk_empties_learn(&empties, &day, &reader, 9 * DAY_NS, 0, 1, 0), BK_OK),
        REFUSED(bk_empties_pass(NULL, 5), 5),
        REFUSED(bk_empties_top(NULL, 5), INT64_MIN),
    };
    CHECK(table);
    assert_memory_equal(&reader, &copy, sizeof reader);
    assert_memory_equal(&empties, &known, sizeof empties);
}

/* A history from elsewhere with one wrong field. */
static struct bk_history broken(const struct bk_history *history, uint32_t count, int64_t from_ns,
                                int64_t shift, const struct bk_strategy *second)
{
    struct bk_history copy = *history;
    copy.count = count;
    copy.eras[1].from_ns = from_ns;
    copy.eras[1].shift = shift;
    copy.eras[1].strategy = *second;
    return copy;
}

static void test_misuse_of_histories(void **unused)
{
    (void)unused;
    struct bk_strategy day, ten, bits, aged, wrong = {.kind = BK_KIND_COUNT};
    bk_strategy_time(DAY_NS, 0, &day);
    bk_strategy_count(10, &ten);
    bk_strategy_probabilistic(9, 40, &bits);
    bk_strategy_count(10, &aged);
    bk_strategy_max_age(DAY_NS, &aged);
    struct bk_history out, history, full, windows;
    assert_int_equal(bk_history_begin(&bits, &history), BK_OK);
    assert_int_equal(bk_history_change(&history, 1, &bits), BK_OK);
    assert_int_equal(bk_history_begin(&day, &windows), BK_OK);
    full = history;
    for (int64_t i = 2; i < BK_ERAS_MAX; i++)
        assert_int_equal(bk_history_change(&full, i, &bits), BK_OK);
    struct bk_history none = broken(&history, 0, 1, 0, &bits), many = broken(&history, 9, 1, 0, &bits),
                      early = broken(&history, 2, INT64_MIN, 0, &bits),
                      shifted = broken(&history, 2, 1, 7, &bits), kinds = broken(&history, 2, 1, 0, &ten),
                      unfit = broken(&history, 2, 1, 0, &wrong), late = history;
    late.eras[0].from_ns = 0;
    const struct bk_history copies[] = {history, full, none, windows};
    const struct misuse table[] = {
        REFUSED(bk_history_begin(&day, NULL), BK_ERROR_NULL),
        ZEROED(bk_history_begin(NULL, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_history_begin(&wrong, &out), &out, BK_ERROR_ROWS),
        ZEROED(bk_history_begin(&aged, &out), &out, BK_ERROR_AGE),
        REFUSED(bk_history_change(NULL, 2, &bits), BK_ERROR_NULL),
        REFUSED(bk_history_change(&none, 2, &bits), BK_ERROR_ERAS),
        REFUSED(bk_history_change(&history, 2, NULL), BK_ERROR_NULL),
        REFUSED(bk_history_change(&history, 2, &wrong), BK_ERROR_ROWS),
        REFUSED(bk_history_change(&windows, 2, &aged), BK_ERROR_AGE),
        REFUSED(bk_history_change(&history, 1, &bits), BK_ERROR_ERA_TIME),
        REFUSED(bk_history_change(&history, 2, &day), BK_ERROR_ERA_KIND),
        REFUSED(bk_history_change(&history, 2, &ten), BK_ERROR_ERA_KIND),
        REFUSED(bk_history_change(&full, 99, &bits), BK_ERROR_ERAS),
        REFUSED(bk_history_check(NULL), BK_ERROR_NULL),
        REFUSED(bk_history_check(&none), BK_ERROR_ERAS),
        REFUSED(bk_history_check(&many), BK_ERROR_ERAS),
        REFUSED(bk_history_check(&early), BK_ERROR_ERA_TIME),
        REFUSED(bk_history_check(&late), BK_ERROR_ERA_TIME),
        REFUSED(bk_history_check(&shifted), BK_ERROR_BUCKET),
        REFUSED(bk_history_check(&kinds), BK_ERROR_ERA_KIND),
        REFUSED(bk_history_check(&unfit), BK_ERROR_ROWS),
        REFUSED(bk_history_era_at(NULL, 5), 0),
        REFUSED(bk_history_era_at(&many, 5), 0),
    };
    CHECK(table);
    assert_memory_equal(&history, &copies[0], sizeof history);
    assert_memory_equal(&full, &copies[1], sizeof full);
    assert_memory_equal(&none, &copies[2], sizeof none);
    assert_memory_equal(&windows, &copies[3], sizeof windows);
}

static void test_misuse_of_routes_of_histories(void **unused)
{
    (void)unused;
    struct bk_strategy bits, ten, wrong = {.kind = BK_KIND_PROBABILISTIC}, rows = {.kind = BK_KIND_COUNT};
    struct bk_history fires, counts, none = {.count = 0}, unfit, empty, unfit_before;
    bk_strategy_probabilistic(0, 3, &bits);
    bk_strategy_count(10, &ten);
    bk_history_begin(&bits, &fires);
    bk_history_begin(&ten, &counts);
    bk_history_change(&counts, 5, &ten);
    unfit = broken(&fires, 2, 5, 0, &wrong);
    empty = broken(&counts, 2, 5, 0, &rows);
    unfit_before = counts;
    unfit_before.eras[0].strategy = rows;
    struct bk_history_state state, full, below, beyond, unplaced;
    memset(&state, 0, sizeof state);
    full = below = beyond = unplaced = state;
    full.key.counter = 3;
    below.key.bucket = -1;
    beyond.opened = 2;
    unplaced.opened = 1;
    unplaced.starts[1].bucket = -1;
    const struct bk_history_state copies[] = {state, full, below, beyond, unplaced};
    const struct bk_row row = {.time_ns = 1, .id = 1}, next = {.time_ns = 5, .sequence = 20, .id = 1};
    struct bk_placement out;
    const struct misuse table[] = {
        REFUSED(bk_history_route(&fires, &state, &row, NULL), BK_ERROR_NULL),
        ZEROED(bk_history_route(NULL, &state, &row, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_history_route(&fires, &state, NULL, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_history_route(&fires, NULL, &row, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_history_route(&counts, NULL, &row, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_history_route(&none, &state, &row, &out), &out, BK_ERROR_ERAS),
        ZEROED(bk_history_route(&unfit, &state, &next, &out), &out, BK_ERROR_THRESHOLD),
        ZEROED(bk_history_route(&empty, &state, &next, &out), &out, BK_ERROR_ROWS),
        ZEROED(bk_history_route(&unfit_before, &state, &next, &out), &out, BK_ERROR_ROWS),
        ZEROED(bk_history_route(&fires, &full, &row, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_history_route(&fires, &below, &row, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_history_route(&counts, &beyond, &row, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_history_route(&counts, &unplaced, &next, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_history_route(&counts, &below, &next, &out), &out, BK_ERROR_STATE),
        REFUSED(bk_history_fires(NULL, &state, &row), false),
        REFUSED(bk_history_fires(&fires, &state, NULL), false),
        REFUSED(bk_history_fires(&none, &state, &row), false),
        REFUSED(bk_history_fires(&empty, &state, &next), false),
        REFUSED(bk_history_fires(&counts, &below, &next), false),
        REFUSED(bk_history_fires(&counts, NULL, &next), false),
        REFUSED(bk_history_advance(NULL, &state, &row, NULL), BK_ERROR_NULL),
        REFUSED(bk_history_advance(&fires, NULL, &row, NULL), BK_ERROR_NULL),
        REFUSED(bk_history_advance(&fires, &state, NULL, NULL), BK_ERROR_NULL),
        REFUSED(bk_history_advance(&none, &state, &row, NULL), BK_ERROR_ERAS),
        REFUSED(bk_history_advance(&unfit, &state, &next, NULL), BK_ERROR_THRESHOLD),
        REFUSED(bk_history_advance(&empty, &state, &next, NULL), BK_ERROR_ROWS),
        REFUSED(bk_history_advance(&fires, &full, &row, NULL), BK_ERROR_STATE),
        REFUSED(bk_history_advance(&fires, &below, &row, NULL), BK_ERROR_STATE),
        REFUSED(bk_history_advance(&counts, &beyond, &row, NULL), BK_ERROR_STATE),
    };
    CHECK(table);
    assert_memory_equal(&state, &copies[0], sizeof state);
    assert_memory_equal(&full, &copies[1], sizeof full);
    assert_memory_equal(&below, &copies[2], sizeof below);
    assert_memory_equal(&beyond, &copies[3], sizeof beyond);
    assert_memory_equal(&unplaced, &copies[4], sizeof unplaced);
}

static void test_misuse_of_reads_of_histories(void **unused)
{
    (void)unused;
    struct bk_strategy bits, hash;
    struct bk_history fires, hashes, none = {.count = 0};
    bk_strategy_probabilistic(0, 3, &bits);
    bk_strategy_hash(4, &hash);
    bk_history_begin(&bits, &fires);
    bk_history_begin(&hash, &hashes);
    bk_history_change(&hashes, 5, &bits);
    struct bk_history_state state, below;
    memset(&state, 0, sizeof state);
    below = state;
    below.key.bucket = -1;
    const struct bk_query latest = {.kind = BK_QUERY_LATEST, .rows = 1}, no_rows = {.kind = BK_QUERY_LATEST},
                          walk = {.kind = BK_QUERY_ALL, .plan = BK_PLAN_WALK, .now_ns = 9};
    struct bk_history_reader out, reader, copy;
    struct bk_read_step step;
    assert_int_equal(bk_history_read_begin(&fires, &state, &latest, &reader), BK_OK);
    copy = reader;
    struct bk_history_reader beyond = reader, ended = reader;
    beyond.era = 1;
    ended.reader.status = BK_ERROR_WALK_TOO_LONG;
    ended.reader.next = -1;
    const struct misuse table[] = {
        REFUSED(bk_history_read_begin(&fires, &state, &latest, NULL), BK_ERROR_NULL),
        ZEROED(bk_history_read_begin(NULL, &state, &latest, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_history_read_begin(&fires, &state, NULL, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_history_read_begin(&fires, NULL, &latest, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_history_read_begin(&none, &state, &latest, &out), &out, BK_ERROR_ERAS),
        ZEROED(bk_history_read_begin(&fires, &state, &no_rows, &out), &out, BK_ERROR_ROWS),
        ZEROED(bk_history_read_begin(&fires, &below, &latest, &out), &out, BK_ERROR_STATE),
        ZEROED(bk_history_read_begin(&hashes, &state, &walk, &out), &out, BK_ERROR_PLAN),
        REFUSED(bk_history_read_latest(&fires, &state, 0, 0, 1, BK_PLAN_WALK, NULL), BK_ERROR_NULL),
        ZEROED(bk_history_read_latest(&fires, &state, 0, 0, 0, BK_PLAN_WALK, &out), &out, BK_ERROR_ROWS),
        REFUSED(bk_history_read_next(NULL, &reader, &step), false),
        REFUSED(bk_history_read_next(&none, &reader, &step), false),
        REFUSED(bk_history_read_next(&fires, NULL, &step), false),
        REFUSED(bk_history_read_next(&fires, &reader, NULL), false),
        REFUSED(bk_history_read_next(&fires, &beyond, &step), false),
        REFUSED(bk_history_read_next(&fires, &ended, &step), false),
        REFUSED(bk_history_rows_found(NULL), 0),
        REFUSED(bk_history_partitions_asked(NULL), 0),
    };
    CHECK(table);
    assert_memory_equal(&reader, &copy, sizeof reader);
    reader.reader.rows_found = UINT64_MAX;
    reader.rows_before = 2;
    assert_true(bk_history_rows_found(&reader) == UINT64_MAX);
}

static void test_misuse_of_agent_settings(void **unused)
{
    (void)unused;
    struct bk_strategy ten, day;
    bk_strategy_count(10, &ten);
    bk_strategy_time(DAY_NS, 0, &day);
    const struct bk_agent_config fires = small_config(BK_SINGLE, BK_COUNTER_RMW);
    struct bk_agent_config counts = fires;
    counts.strategy = ten;
    enum { FIRES, COUNTS, LOCKED, THREE, GUARDED };
    const struct bk_agent_config fine[] = {fires, counts, small_config(BK_LOCKED, BK_COUNTER_RMW),
                                           small_config(BK_THREE_STATE, BK_COUNTER_LWT),
                                           small_config(BK_GUARDED, BK_COUNTER_NATIVE)};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        assert_int_equal(bk_agent_check(&fine[i]), BK_OK);
        /* The base configuration, its wrong field, and the status. */
#define WITH(base, change, status)                                                                           \
    {                                                                                                        \
        struct bk_agent_config wrong = fine[base];                                                           \
        change;                                                                                              \
        if (bk_agent_check(&wrong) != (status) || bk_agent_size(&wrong) != 0)                                \
            fail_msg("%s: %d", #change, (int)bk_agent_check(&wrong));                                        \
    }
    WITH(FIRES, wrong.strategy.kind = BK_KINDS, BK_ERROR_KIND)
    WITH(FIRES, wrong.strategy.of.probabilistic.threshold = 0, BK_ERROR_THRESHOLD)
    WITH(COUNTS, wrong.strategy.max_age_ns = DAY_NS, BK_ERROR_AGE)
    WITH(FIRES, wrong.coordination = (enum bk_coordination)4, BK_ERROR_COORDINATION)
    WITH(FIRES, wrong.coordination = (enum bk_coordination)(-1), BK_ERROR_COORDINATION)
    WITH(FIRES, wrong.counter = (enum bk_counter)3, BK_ERROR_COORDINATION)
    WITH(COUNTS, wrong.coordination = BK_LOCKED, BK_ERROR_COORDINATION)
    WITH(FIRES, wrong.history.count = BK_ERAS_MAX + 1, BK_ERROR_ERAS)
    WITH(FIRES, bk_history_begin(&ten, &wrong.history), BK_ERROR_ERA_KIND)
    WITH(COUNTS, bk_history_begin(&ten, &wrong.history);
         bk_history_change(&wrong.history, 5, &ten), BK_ERROR_ERA_KIND)
    WITH(FIRES, wrong.source = BK_SOURCE_COUNTER, BK_ERROR_SOURCE)
    WITH(COUNTS, wrong.source = (enum bk_source)7, BK_ERROR_SOURCE)
    WITH(COUNTS, wrong.source = BK_SOURCE_LEASE, BK_ERROR_SOURCE)
    WITH(COUNTS, wrong.source = BK_SOURCE_LEASE; wrong.lease_rows = INT64_MAX, BK_ERROR_SOURCE)
    WITH(COUNTS, wrong.source = BK_SOURCE_INCREMENTAL, BK_ERROR_SOURCE)
    WITH(COUNTS, wrong.source = BK_SOURCE_SCAN, BK_ERROR_SOURCE)
    WITH(COUNTS, wrong.source = BK_SOURCE_SCAN; wrong.every_rows = 1; wrong.every_ns = -1, BK_ERROR_SOURCE)
    WITH(THREE, wrong.lead_ns = -1, BK_ERROR_LEAD)
    WITH(FIRES, wrong.cache_entries = 0, BK_ERROR_CACHE)
    WITH(FIRES, wrong.cache_ttl_ns = -1, BK_ERROR_CACHE)
    WITH(FIRES, wrong.operations = 0, BK_ERROR_OPERATIONS)
    WITH(FIRES, wrong.operations = 65536, BK_ERROR_OPERATIONS)
    WITH(LOCKED, wrong.agent_id = 0, BK_ERROR_LOCK)
    WITH(LOCKED, wrong.lock_lasts_ns = 0, BK_ERROR_LOCK)
    WITH(LOCKED, wrong.lock_backoff_ns = 0, BK_ERROR_LOCK)
    WITH(GUARDED, wrong.grant_ns = 0, BK_ERROR_GRANT)
    WITH(GUARDED, wrong.clock_bound_ns = -1, BK_ERROR_GRANT)
    WITH(GUARDED, wrong.counter = BK_COUNTER_LWT, BK_ERROR_GRANT)
    WITH(FIRES, wrong.late_ns = -1, BK_ERROR_RANGE)
    WITH(FIRES, wrong.retry_backoff_ns = -1, BK_ERROR_BACKOFF)
    WITH(FIRES, wrong.reserved[7] = 1, BK_ERROR_RESERVED)
#undef WITH
    /* A setting just within its rule, with an answer of 7 and clocks of 2, and then just outside. */
#define WARNS(base, change, member, warning)                                                                 \
    {                                                                                                        \
        struct bk_agent_config config = fine[base];                                                          \
        config.clock_bound_ns = 2, config.cache_ttl_ns = 5, config.lead_ns = 16, config.grant_ns = 8;        \
        change;                                                                                              \
        assert_int_equal(bk_agent_warnings(&config, 7), 0);                                                  \
        config.member--;                                                                                     \
        assert_int_equal(bk_agent_warnings(&config, 7), 1u << (warning));                                    \
    }
    WARNS(THREE, config.lead_ns = 5 + 2 * 2 + 7, lead_ns, BK_WARNING_LEAD)
    WARNS(THREE, config.strategy.max_age_ns = 16 + 2 * 2, strategy.max_age_ns, BK_WARNING_LEAD_AGE)
    WARNS(LOCKED, config.lock_lasts_ns = 8, lock_lasts_ns, BK_WARNING_LOCK)
    WARNS(GUARDED, config.grant_ns = 7, grant_ns, BK_WARNING_GRANT)
    WARNS(GUARDED, config.strategy.max_age_ns = 7, strategy.max_age_ns, BK_WARNING_GRANT_AGE)
    WARNS(GUARDED, config.clock_bound_ns = 4; config.grant_ns = 9, grant_ns, BK_WARNING_GRANT_CLOCK)
    WARNS(COUNTS, config.strategy = day; config.remember_keys = 1;
          config.late_ns = 11, late_ns, BK_WARNING_LATE)
#undef WARNS
    assert_int_equal(bk_agent_warnings(NULL, 7), 0);
    assert_memory_equal(bk_warning_text(BK_WARNING_LATE), "late_ns", 7);
    assert_string_equal(bk_warning_text(BK_WARNING_LATE + 1), "unknown warning");
    struct bk_agent_config lease = fine[COUNTS];
    lease.source = BK_SOURCE_LEASE;
    lease.lease_rows = INT64_MAX - 1;
    assert_int_equal(bk_agent_check(&lease), BK_OK);
}

static void test_misuse_of_agents(void **unused)
{
    (void)unused;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW), wrong = config;
    wrong.operations = 0;
    size_t size = bk_agent_size(&config);
    char *memory = malloc(size + 1), *copy = malloc(size), state[4096];
    assert_non_null(memory);
    assert_non_null(copy);
    struct bk_agent *out, *agent;
    assert_int_equal(bk_agent_init(memory, size, &config, &agent), BK_OK);
    const struct bk_row row = {.time_ns = 5, .id = 1};
    const struct bk_query latest = {.kind = BK_QUERY_LATEST, .rows = 1}, no_rows = {.kind = BK_QUERY_LATEST},
                          no_kind = {.kind = (enum bk_query_kind)7},
                          backward = {.kind = BK_QUERY_RANGE, .from_ns = 5, .until_ns = 5};
    struct bk_strategy ten;
    struct bk_history tens;
    bk_strategy_count(10, &ten);
    bk_history_begin(&ten, &tens);
    const struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
    struct bk_action action;
    uint32_t first, second, number;
    int64_t bucket;
    bool is_changing;
    /* Both of the agent's operations are taken; neither waits for an outcome before its action is taken. */
    assert_int_equal(bk_agent_write(agent, 0, 7, &row, &first), BK_OK);
    assert_int_equal(bk_agent_write(agent, 0, 8, &row, &second), BK_OK);
    size_t state_size = bk_agent_state_size(agent);
    assert_in_range(state_size, 1, sizeof state);
    assert_int_equal(bk_agent_save(agent, state, sizeof state), BK_OK);
    memcpy(copy, memory, size);
    char spare[64] = {0};
    bk_agent_prefetch(NULL, 7);
    bk_agent_prefetch(agent, 7);
    const struct misuse table[] = {
        REFUSED(bk_agent_size(NULL), 0),
        REFUSED(bk_agent_check(NULL), BK_ERROR_NULL),
        REFUSED(bk_agent_init(memory, size, &config, NULL), BK_ERROR_NULL),
        ZEROED(bk_agent_init(NULL, size, &config, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_agent_init(memory, size, NULL, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_agent_init(memory, size, &wrong, &out), &out, BK_ERROR_OPERATIONS),
        ZEROED(bk_agent_init(memory, size - 1, &config, &out), &out, BK_ERROR_MEMORY),
        ZEROED(bk_agent_init(memory + 1, size, &config, &out), &out, BK_ERROR_MEMORY),
        REFUSED(bk_agent_write(NULL, 0, 9, &row, &number), BK_ERROR_NULL),
        REFUSED(bk_agent_write(agent, 0, 9, NULL, &number), BK_ERROR_NULL),
        REFUSED(bk_agent_write(agent, 0, 9, &row, NULL), BK_ERROR_NULL),
        REFUSED(bk_agent_write(agent, 0, 9, &row, &number), BK_ERROR_BUSY),
        REFUSED(bk_agent_read_latest(NULL, 0, 9, 0, 0, 1, BK_PLAN_WALK, &number), BK_ERROR_NULL),
        REFUSED(bk_agent_read_latest(agent, 0, 9, 0, 0, 1, BK_PLAN_WALK, NULL), BK_ERROR_NULL),
        REFUSED(bk_agent_read_latest(agent, 0, 9, 0, 0, 0, BK_PLAN_WALK, &number), BK_ERROR_ROWS),
        REFUSED(bk_agent_read_latest(agent, 0, 9, 0, 0, 1, BK_PLAN_ALL, &number), BK_ERROR_PLAN),
        REFUSED(bk_agent_read_latest(agent, 0, 9, 0, 0, 1, BK_PLAN_WALK, &number), BK_ERROR_BUSY),
        REFUSED(bk_agent_read(NULL, 0, 9, 0, &latest, &number), BK_ERROR_NULL),
        REFUSED(bk_agent_read(agent, 0, 9, 0, NULL, &number), BK_ERROR_NULL),
        REFUSED(bk_agent_read(agent, 0, 9, 0, &latest, NULL), BK_ERROR_NULL),
        REFUSED(bk_agent_read(agent, 0, 9, 0, &no_rows, &number), BK_ERROR_ROWS),
        REFUSED(bk_agent_read(agent, 0, 9, 0, &no_kind, &number), BK_ERROR_QUERY),
        REFUSED(bk_agent_read(agent, 0, 9, 0, &backward, &number), BK_ERROR_RANGE),
        REFUSED(bk_agent_read(agent, 0, 9, 0, &latest, &number), BK_ERROR_BUSY),
        REFUSED(bk_agent_change(NULL, &config.history), BK_ERROR_NULL),
        REFUSED(bk_agent_change(agent, NULL), BK_ERROR_NULL),
        REFUSED(bk_agent_change(agent, &config.history), BK_ERROR_ERAS),
        REFUSED(bk_agent_change(agent, &tens), BK_ERROR_ERA_KIND),
        REFUSED(bk_agent_report(NULL, 0, 1, &outcome), BK_ERROR_NULL),
        REFUSED(bk_agent_report(agent, 0, 1, NULL), BK_ERROR_NULL),
        REFUSED(bk_agent_report(agent, 0, 0, &outcome), BK_ERROR_OPERATION),
        REFUSED(bk_agent_report(agent, 0, 1, &outcome), BK_ERROR_OPERATION),
        REFUSED(bk_agent_report(agent, 0, UINT64_MAX, &outcome), BK_ERROR_OPERATION),
        REFUSED(bk_agent_next(NULL, &action), false),
        REFUSED(bk_agent_next(agent, NULL), false),
        REFUSED(bk_agent_deadline(NULL), INT64_MAX),
        REFUSED(bk_agent_tick(NULL, 0), BK_ERROR_NULL),
        REFUSED(bk_agent_view(NULL, 0, 7, &bucket, &is_changing), false),
        REFUSED(bk_agent_view(agent, 0, 7, NULL, &is_changing), false),
        REFUSED(bk_agent_view(agent, 0, 7, &bucket, NULL), false),
        REFUSED(bk_agent_state_size(NULL), 0),
        REFUSED(bk_agent_save(NULL, state, sizeof state), BK_ERROR_NULL),
        REFUSED(bk_agent_save(agent, NULL, sizeof state), BK_ERROR_NULL),
        REFUSED(bk_agent_save(agent, spare, state_size - 1), BK_ERROR_MEMORY),
        REFUSED(bk_agent_load(memory, size, &config, state, state_size, NULL), BK_ERROR_NULL),
        ZEROED(bk_agent_load(NULL, size, &config, state, state_size, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_agent_load(memory, size, NULL, state, state_size, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_agent_load(memory, size, &config, NULL, state_size, &out), &out, BK_ERROR_NULL),
        ZEROED(bk_agent_load(memory, size, &wrong, state, state_size, &out), &out, BK_ERROR_OPERATIONS),
        ZEROED(bk_agent_load(memory, size - 1, &config, state, state_size, &out), &out, BK_ERROR_MEMORY),
        ZEROED(bk_agent_load(memory + 1, size, &config, state, state_size, &out), &out, BK_ERROR_MEMORY),
    };
    CHECK(table);
    for (size_t i = 0; i < sizeof spare; i++)
        assert_int_equal(spare[i], 0);
    assert_memory_equal(memory, copy, size);
    /* Bytes that are no state are detected during loading: these calls leave the memory in disorder. */
    const struct misuse last[] = {
        ZEROED(bk_agent_load(memory, size, &config, state, state_size - 1, &out), &out, BK_ERROR_CHECKPOINT),
        ZEROED(bk_agent_load(memory, size, &config, state, state_size + 1, &out), &out, BK_ERROR_CHECKPOINT),
        ZEROED(bk_agent_load(memory, size, &config, spare, sizeof spare, &out), &out, BK_ERROR_CHECKPOINT),
    };
    CHECK(last);
    free(memory);
    free(copy);
}

static void test_misuse_of_idgen(void **unused)
{
    (void)unused;
    const struct bk_idgen_config fine = {.client_id = 1,
                                         .batch = 1,
                                         .stripes = 2,
                                         .stripe = 1,
                                         .lease_ns = 1,
                                         .lock_lasts_ns = 2,
                                         .backoff_base_ns = 5};
    struct bk_idgen_config wrong[20];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        wrong[i] = fine;
    wrong[0].client_id = 0, wrong[1].batch = 0, wrong[2].stripes = 0, wrong[2].stripe = 0;
    wrong[3].stripes = BK_IDGEN_STRIPES_MAX + 1, wrong[4].stripe = 0, wrong[5].stripe = 3;
    wrong[6].choice = (enum bk_idgen_choice)3, wrong[7].lock = (enum bk_idgen_lock)2;
    wrong[8].lease_ns = 0, wrong[9].lease_ns = 2, wrong[10].backoff = (enum bk_idgen_backoff)3;
    wrong[11].backoff_base_ns = 0, wrong[12].backoff_base_ns = -1, wrong[13].backoff_cap_ns = 4;
    wrong[14].backoff_limit_ns = 4, wrong[15].backoff_cap_ns = -1, wrong[16].backoff_limit_ns = -1;
    wrong[17].lock_lasts_ns = 0, wrong[18].lease_ns = -1, wrong[19].reserved[3] = 1;
    struct bk_idgen idgen, other, copy;
    struct bk_idgen_action action;
    const struct bk_idgen_outcome outcome = {.kind = BK_IDGEN_APPLIED};
    int64_t id;
    assert_int_equal(bk_idgen_init(&fine, &idgen), BK_OK);
    unsigned char state[512], spare[512] = {0};
    size_t size = bk_idgen_state_size(&idgen);
    assert_in_range(size, 1, sizeof state - 1);
    assert_int_equal(bk_idgen_save(&idgen, state, sizeof state), BK_OK);
    struct bk_idgen_config another = fine;
    another.client_id++;
    memset(&other, 0xa5, sizeof other);
    copy = other;
    const struct bk_idgen before = idgen;
    const struct misuse table[] = {
        REFUSED(bk_idgen_check(NULL), BK_ERROR_NULL),
        REFUSED(bk_idgen_check(&wrong[0]), BK_ERROR_CLIENT),
        REFUSED(bk_idgen_check(&wrong[1]), BK_ERROR_BATCH),
        REFUSED(bk_idgen_check(&wrong[2]), BK_ERROR_STRIPE),
        REFUSED(bk_idgen_check(&wrong[3]), BK_ERROR_STRIPE),
        REFUSED(bk_idgen_check(&wrong[4]), BK_ERROR_STRIPE),
        REFUSED(bk_idgen_check(&wrong[5]), BK_ERROR_STRIPE),
        REFUSED(bk_idgen_check(&wrong[6]), BK_ERROR_STRIPE),
        REFUSED(bk_idgen_check(&wrong[7]), BK_ERROR_LOCK),
        REFUSED(bk_idgen_check(&wrong[8]), BK_ERROR_LEASE),
        REFUSED(bk_idgen_check(&wrong[9]), BK_ERROR_LEASE),
        REFUSED(bk_idgen_check(&wrong[17]), BK_ERROR_LEASE),
        REFUSED(bk_idgen_check(&wrong[18]), BK_ERROR_LEASE),
        REFUSED(bk_idgen_check(&wrong[10]), BK_ERROR_BACKOFF),
        REFUSED(bk_idgen_check(&wrong[11]), BK_ERROR_BACKOFF),
        REFUSED(bk_idgen_check(&wrong[12]), BK_ERROR_BACKOFF),
        REFUSED(bk_idgen_check(&wrong[13]), BK_ERROR_BACKOFF),
        REFUSED(bk_idgen_check(&wrong[14]), BK_ERROR_BACKOFF),
        REFUSED(bk_idgen_check(&wrong[15]), BK_ERROR_BACKOFF),
        REFUSED(bk_idgen_check(&wrong[16]), BK_ERROR_BACKOFF),
        REFUSED(bk_idgen_check(&wrong[19]), BK_ERROR_RESERVED),
        REFUSED(bk_idgen_init(NULL, &other), BK_ERROR_NULL),
        REFUSED(bk_idgen_init(&fine, NULL), BK_ERROR_NULL),
        REFUSED(bk_idgen_init(&wrong[0], &other), BK_ERROR_CLIENT),
        ZEROED(bk_idgen_take(NULL, 0, &id), &id, BK_ERROR_NULL),
        REFUSED(bk_idgen_take(&idgen, 0, NULL), BK_ERROR_NULL),
        REFUSED(bk_idgen_report(NULL, 0, 1, &outcome), BK_ERROR_NULL),
        REFUSED(bk_idgen_report(&idgen, 0, 1, NULL), BK_ERROR_NULL),
        REFUSED(bk_idgen_report(&idgen, 0, 0, &outcome), BK_ERROR_OPERATION),
        REFUSED(bk_idgen_next(NULL, &action), false),
        REFUSED(bk_idgen_next(&idgen, NULL), false),
        REFUSED(bk_idgen_next(&idgen, &action), false),
        REFUSED(bk_idgen_deadline(NULL), INT64_MAX),
        REFUSED(bk_idgen_tick(NULL, 0), BK_ERROR_NULL),
        REFUSED(bk_idgen_in_hand(NULL), 0),
        REFUSED(bk_idgen_state_size(NULL), 0),
        REFUSED(bk_idgen_save(NULL, spare, sizeof spare), BK_ERROR_NULL),
        REFUSED(bk_idgen_save(&idgen, NULL, size), BK_ERROR_NULL),
        REFUSED(bk_idgen_save(&idgen, spare, size - 1), BK_ERROR_MEMORY),
        REFUSED(bk_idgen_load(NULL, state, size, &other), BK_ERROR_NULL),
        REFUSED(bk_idgen_load(&fine, NULL, size, &other), BK_ERROR_NULL),
        REFUSED(bk_idgen_load(&fine, state, size, NULL), BK_ERROR_NULL),
        REFUSED(bk_idgen_load(&wrong[0], state, size, &other), BK_ERROR_CLIENT),
        REFUSED(bk_idgen_load(&wrong[17], state, size, &other), BK_ERROR_LEASE),
        REFUSED(bk_idgen_load(&another, state, size, &other), BK_ERROR_CHECKPOINT),
        REFUSED(bk_idgen_load(&fine, state, size - 1, &other), BK_ERROR_CHECKPOINT),
        REFUSED(bk_idgen_load(&fine, state, size + 1, &other), BK_ERROR_CHECKPOINT),
        REFUSED(bk_idgen_load(&fine, spare, size, &other), BK_ERROR_CHECKPOINT),
    };
    CHECK(table);
    for (size_t i = 0; i < sizeof spare; i++)
        assert_int_equal(spare[i], 0);
    assert_memory_equal(&idgen, &before, sizeof idgen);
    assert_memory_equal(&other, &copy, sizeof other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse_of_status_and_hash),
        cmocka_unit_test(test_misuse_of_ids),
        cmocka_unit_test(test_misuse_of_strategy),
        cmocka_unit_test(test_misuse_of_settings),
        cmocka_unit_test(test_misuse_of_greatest_ages),
        cmocka_unit_test(test_misuse_of_route),
        cmocka_unit_test(test_misuse_of_read),
        cmocka_unit_test(test_misuse_of_a_reader_and_of_empty_windows),
        cmocka_unit_test(test_misuse_of_histories),
        cmocka_unit_test(test_misuse_of_routes_of_histories),
        cmocka_unit_test(test_misuse_of_reads_of_histories),
        cmocka_unit_test(test_misuse_of_agent_settings),
        cmocka_unit_test(test_misuse_of_agents),
        cmocka_unit_test(test_misuse_of_idgen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
