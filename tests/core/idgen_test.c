/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a client of leased identifiers requests the right action at the right time and hands out only
 * identifiers that are certainly its own.
 * Method: traces. Each event that is passed to a client, with its time, is a line of text that ends with
 * the client's next request; whole traces are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bucketing/idgen.h"

struct trace {
    struct bk_idgen idgen;
    char text[8192];
    size_t length;
};

static const struct bk_idgen_config plain = {
    .client_id = 7,
    .batch = 3,
    .stripes = 1,
    .stripe = 1,
    .lock_lasts_ns = 100,
    .lease_ns = 50,
    .backoff_base_ns = 10,
    .retries = 1,
};

static void say(struct trace *trace, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(trace->text + trace->length, sizeof trace->text - trace->length, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < sizeof trace->text - trace->length);
    trace->length += (size_t)length;
}

static void say_columns(struct trace *trace, const struct bk_idgen_action *action)
{
    for (uint32_t i = 0; i < action->column_count; i++)
        say(trace, " %llu:%lld", (unsigned long long)action->columns[i].client,
            (long long)action->columns[i].until_ns);
}

static void say_cas(struct trace *trace, const struct bk_idgen_action *action, int values)
{
    say(trace, action->if_absent ? " if absent" : " if");
    for (int i = 0; i < values && !action->if_absent; i++)
        say(trace, " %lld", (long long)action->expected[i]);
    say(trace, " then");
    for (int i = 0; i < values; i++)
        say(trace, " %lld", (long long)action->set[i]);
}

static void say_action(struct trace *trace, const struct bk_idgen_action *action)
{
    static const char *const names[] = {"write", "read all", "delete", "lock",  "read last",
                                        "store", "store",    "ready",  "failed"};
    say(trace, " %s%s", names[action->kind], action->is_retry ? " again" : "");
    if (trace->idgen.config.stripes > 1)
        say(trace, " at %u", action->stripe);
    say_columns(trace, action);
    if (action->kind == BK_IDGEN_WRITE_LAST)
        say(trace, " %lld", (long long)action->set[0]);
    if (action->kind == BK_IDGEN_CAS_LOCK || action->kind == BK_IDGEN_CAS_LAST)
        say_cas(trace, action, action->kind == BK_IDGEN_CAS_LOCK ? 2 : 1);
    if (action->kind == BK_IDGEN_FAILED)
        say(trace, ": %s", bk_status_text(action->status));
}

static void end_line(struct trace *trace)
{
    struct bk_idgen_action action;
    say(trace, " ->");
    for (int i = 0; bk_idgen_next(&trace->idgen, &action); i++) {
        say(trace, i > 0 ? "," : "");
        say_action(trace, &action);
    }
    int64_t deadline_ns = bk_idgen_deadline(&trace->idgen);
    if (deadline_ns != INT64_MAX)
        say(trace, " until %lld", (long long)deadline_ns);
    say(trace, "\n");
}

static struct trace *begin(const struct bk_idgen_config *config)
{
    struct trace *trace = calloc(1, sizeof *trace);
    assert_non_null(trace);
    assert_int_equal(bk_idgen_init(config, &trace->idgen), BK_OK);
    return trace;
}

static void end(struct trace *trace, const char *expected)
{
    assert_string_equal(trace->text, expected);
    free(trace);
}

static void take(struct trace *trace, int64_t now_ns)
{
    int64_t id;
    enum bk_status status = bk_idgen_take(&trace->idgen, now_ns, &id);
    assert_true(status == BK_OK ? id > 0 : status == BK_ERROR_EMPTY && id == 0);
    say(trace, "%lld take %lld", (long long)now_ns, (long long)id);
    end_line(trace);
}

static void tick(struct trace *trace, int64_t now_ns)
{
    assert_int_equal(bk_idgen_tick(&trace->idgen, now_ns), BK_OK);
    say(trace, "%lld tick", (long long)now_ns);
    end_line(trace);
}

static void tell(struct trace *trace, int64_t now_ns, const char *what,
                 const struct bk_idgen_outcome *outcome)
{
    assert_int_equal(bk_idgen_outcome(&trace->idgen, now_ns, outcome), BK_OK);
    say(trace, "%lld %s", (long long)now_ns, what);
    end_line(trace);
}

static void done(struct trace *trace, int64_t now_ns)
{
    tell(trace, now_ns, "done", &(struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED});
}

static void unknown(struct trace *trace, int64_t now_ns)
{
    tell(trace, now_ns, "unknown", &(struct bk_idgen_outcome){.kind = BK_IDGEN_UNKNOWN});
}

static void refused(struct trace *trace, int64_t now_ns)
{
    tell(trace, now_ns, "refused", &(struct bk_idgen_outcome){.kind = BK_IDGEN_REFUSED});
}

static void nothing(struct trace *trace, int64_t now_ns)
{
    tell(trace, now_ns, "nothing", &(struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED});
}

static void last(struct trace *trace, int64_t now_ns, int64_t value)
{
    char what[48];
    snprintf(what, sizeof what, "last %lld", (long long)value);
    tell(trace, now_ns, what,
         &(struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED, .found = true, .values = {value}});
}

static void not_applied(struct trace *trace, int64_t now_ns, bool found, int64_t first, int64_t second)
{
    char what[96];
    snprintf(what, sizeof what, found ? "no: %lld %lld" : "no: absent", (long long)first, (long long)second);
    tell(trace, now_ns, what,
         &(struct bk_idgen_outcome){.kind = BK_IDGEN_NOT_APPLIED, .found = found, .values = {first, second}});
}

/* The lock row holds column 7 with this end (0: no column) and this column of another client (client 0:
 * none). */
static void columns(struct trace *trace, int64_t now_ns, int64_t own_until_ns, struct bk_idgen_column other)
{
    struct bk_idgen_column list[2];
    struct bk_idgen_outcome outcome = {.kind = BK_IDGEN_APPLIED, .columns = list};
    if (own_until_ns != 0)
        list[outcome.column_count++] = (struct bk_idgen_column){7, own_until_ns};
    if (other.client != 0)
        list[outcome.column_count++] = other;
    tell(trace, now_ns, own_until_ns == 0 ? "lost" : other.client == 0 ? "alone" : "together", &outcome);
}

static const struct bk_idgen_column nobody = {0, 0};

static struct bk_idgen_config with_lwt(void)
{
    struct bk_idgen_config config = plain;
    config.lock = BK_IDGEN_LOCK_LWT;
    return config;
}

static void test_a_batch_is_leased_under_a_lock_of_columns(void **state)
{
    (void)state;
    struct trace *trace = begin(&plain);
    take(trace, 1000);
    done(trace, 1001);
    columns(trace, 1002, 1100, nobody);
    nothing(trace, 1003);
    done(trace, 1004);
    take(trace, 1005); /* while the lock is being released */
    take(trace, 1005);
    take(trace, 1005);
    take(trace, 1005);
    take(trace, 1006);
    done(trace, 1007);
    done(trace, 1008);
    columns(trace, 1009, 1107, nobody);
    last(trace, 1010, 3);
    done(trace, 1011);
    done(trace, 1012);
    take(trace, 1013);
    assert_int_equal(bk_idgen_in_hand(&trace->idgen), 2);
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 done -> read all\n"
               "1002 alone -> read last\n"
               "1003 nothing -> store 3\n"
               "1004 done -> ready, delete 7:1100\n"
               "1005 take 1 ->\n"
               "1005 take 2 ->\n"
               "1005 take 3 ->\n"
               "1005 take 0 ->\n"
               "1006 take 0 ->\n"
               "1007 done -> write 7:1107\n"
               "1008 done -> read all\n"
               "1009 alone -> read last\n"
               "1010 last 3 -> store 6\n"
               "1011 done -> ready, delete 7:1107\n"
               "1012 done ->\n"
               "1013 take 4 ->\n");
}

static void test_contenders_delete_their_columns_and_wait(void **state)
{
    (void)state;
    struct trace *trace = begin(&plain);
    take(trace, 1000);
    done(trace, 1001);
    columns(trace, 1002, 1100, (struct bk_idgen_column){8, 1000}); /* ends exactly now: not stale yet */
    done(trace, 1003);
    tick(trace, 1012);
    tick(trace, 1013);
    done(trace, 1014);
    columns(trace, 1015, 1113, (struct bk_idgen_column){8, 1012}); /* stale: deleted with the client's own */
    last(trace, 1016, 30);
    done(trace, 1017);
    done(trace, 1018);
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 done -> read all\n"
               "1002 together -> delete 7:1100\n"
               "1003 done -> until 1013\n"
               "1012 tick -> until 1013\n"
               "1013 tick -> write 7:1113\n"
               "1014 done -> read all\n"
               "1015 together -> read last\n"
               "1016 last 30 -> store 33\n"
               "1017 done -> ready, delete 7:1113 8:1012\n"
               "1018 done ->\n");
}

/* If the client's own column is missing from the lock row, the client does not hold the lock, even if the row
 * has no other column. */
static void test_lost_column_does_not_hold_the_lock(void **state)
{
    (void)state;
    struct trace *trace = begin(&plain);
    take(trace, 1000);
    done(trace, 1001);
    columns(trace, 1002, 0, nobody);
    done(trace, 1003);
    tick(trace, 1013);
    done(trace, 1014);
    columns(trace, 1015, 2000, nobody); /* another end hides the client's write */
    refused(trace, 1016);
    refused(trace, 1017);
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 done -> read all\n"
               "1002 lost -> delete 7:1100\n"
               "1003 done -> until 1013\n"
               "1013 tick -> write 7:1113\n"
               "1014 done -> read all\n"
               "1015 alone -> delete 7:1113\n"
               "1016 refused -> delete again 7:1113\n"
               "1017 refused -> until 1027\n");
}

static void test_excess_stale_columns_are_kept(void **state)
{
    (void)state;
    struct trace *trace = begin(&plain);
    struct bk_idgen_column list[12] = {{7, 1100}};
    for (uint64_t i = 1; i < 12; i++)
        list[i] = (struct bk_idgen_column){100 + i, 5};
    take(trace, 1000);
    done(trace, 1001);
    tell(trace, 1002, "alone among the dead",
         &(struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED, .columns = list, .column_count = 12});
    nothing(trace, 1003);
    done(trace, 1004);
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 done -> read all\n"
               "1002 alone among the dead -> read last\n"
               "1003 nothing -> store 3\n"
               "1004 done -> ready, delete 7:1100 101:5 102:5 103:5 104:5 105:5 106:5 107:5\n");
}

/* A write of the column with an unknown outcome is repeated unchanged; then the attempt is given up. */
static void test_unknown_outcome_ends_the_attempt(void **state)
{
    (void)state;
    struct trace *trace = begin(&plain);
    take(trace, 1000);
    unknown(trace, 1001);
    unknown(trace, 1002);
    done(trace, 1003);
    tick(trace, 1013);
    refused(trace, 1014);
    done(trace, 1015);
    unknown(trace, 1016);
    unknown(trace, 1017);
    done(trace, 1018);
    tick(trace, 1028);
    done(trace, 1029);
    columns(trace, 1030, 1128, nobody);
    unknown(trace, 1031);
    unknown(trace, 1032);
    done(trace, 1033);
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 unknown -> write again 7:1100\n"
               "1002 unknown -> delete 7:1100\n"
               "1003 done -> until 1013\n"
               "1013 tick -> write 7:1113\n"
               "1014 refused -> write again 7:1113\n"
               "1015 done -> read all\n"
               "1016 unknown -> read all again\n"
               "1017 unknown -> delete 7:1113\n"
               "1018 done -> until 1028\n"
               "1028 tick -> write 7:1128\n"
               "1029 done -> read all\n"
               "1030 alone -> read last\n"
               "1031 unknown -> read last again\n"
               "1032 unknown -> delete 7:1128\n"
               "1033 done -> until 1043\n");
}

static void test_a_store_of_unknown_outcome_hands_out_nothing(void **state)
{
    (void)state;
    struct trace *trace = begin(&plain);
    take(trace, 1000);
    done(trace, 1001);
    columns(trace, 1002, 1100, nobody);
    nothing(trace, 1003);
    unknown(trace, 1004);
    take(trace, 1005);
    unknown(trace, 1006);
    done(trace, 1007);
    take(trace, 1008);
    tick(trace, 1017);
    done(trace, 1018);
    columns(trace, 1019, 1117, nobody);
    last(trace, 1020, 3); /* the store had taken effect after all: 1 to 3 belong to no client */
    not_applied(trace, 1021, true, 9, 0); /* the store named no condition, so this outcome says nothing */
    done(trace, 1022); /* the repeated store is the same store: the identifiers are in hand */
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 done -> read all\n"
               "1002 alone -> read last\n"
               "1003 nothing -> store 3\n"
               "1004 unknown -> store again 3\n"
               "1005 take 0 ->\n"
               "1006 unknown -> delete 7:1100\n"
               "1007 done -> until 1017\n"
               "1008 take 0 -> until 1017\n"
               "1017 tick -> write 7:1117\n"
               "1018 done -> read all\n"
               "1019 alone -> read last\n"
               "1020 last 3 -> store 6\n"
               "1021 no: 9 0 -> store again 6\n"
               "1022 done -> ready, delete 7:1117\n");
}

/* After the lease another client may hold the lock: no later outcome is used, not even the success of a
 * store. */
static void test_nothing_is_in_time_after_the_lease(void **state)
{
    (void)state;
    struct trace *trace = begin(&plain);
    take(trace, 1000);
    done(trace, 1001);
    columns(trace, 1002, 1100, nobody);
    nothing(trace, 1049);
    done(trace, 1050);
    done(trace, 1051);
    tick(trace, 1061);
    done(trace, 1062);
    columns(trace, 1063, 1161, nobody);
    last(trace, 1111, 3);
    done(trace, 1112);
    tick(trace, 1122);
    done(trace, 1123);
    columns(trace, 1124, 1222, nobody);
    unknown(trace, 1172);
    done(trace, 1173);
    tick(trace, 1183);
    done(trace, 1184);
    columns(trace, 1185, 1283, nobody);
    last(trace, 1186, 3);
    done(trace, 1182); /* the clock went back: the lease may have ended */
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 done -> read all\n"
               "1002 alone -> read last\n"
               "1049 nothing -> store 3\n"
               "1050 done -> delete 7:1100\n"
               "1051 done -> until 1061\n"
               "1061 tick -> write 7:1161\n"
               "1062 done -> read all\n"
               "1063 alone -> read last\n"
               "1111 last 3 -> delete 7:1161\n"
               "1112 done -> until 1122\n"
               "1122 tick -> write 7:1222\n"
               "1123 done -> read all\n"
               "1124 alone -> read last\n"
               "1172 unknown -> delete 7:1222\n"
               "1173 done -> until 1183\n"
               "1183 tick -> write 7:1283\n"
               "1184 done -> read all\n"
               "1185 alone -> read last\n"
               "1186 last 3 -> store 6\n"
               "1182 done -> delete 7:1283\n");
}

/* The end is the column's timestamp, so it increases even when the clock has gone back. */
static void test_lock_ends_increase_even_if_the_clock_goes_back(void **state)
{
    (void)state;
    struct trace *trace = begin(&plain);
    take(trace, 1000);
    refused(trace, 1001);
    refused(trace, 1001);
    done(trace, 500);
    tick(trace, 510);
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 refused -> write again 7:1100\n"
               "1001 refused -> delete 7:1100\n"
               "500 done -> until 510\n"
               "510 tick -> write 7:1101\n");
    trace = begin(&plain);
    take(trace, INT64_MAX - 50);
    done(trace, INT64_MAX - 50);
    columns(trace, INT64_MAX - 50, INT64_MAX, nobody);
    nothing(trace, INT64_MAX - 50);
    done(trace, INT64_MAX - 1);
    end(trace, "9223372036854775757 take 0 -> write 7:9223372036854775807\n"
               "9223372036854775757 done -> read all\n"
               "9223372036854775757 alone -> read last\n"
               "9223372036854775757 nothing -> store 3\n"
               "9223372036854775806 done -> ready, delete 7:9223372036854775807\n");
}

static void test_stripes_hand_out_every_nth(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.stripes = 5;
    config.stripe = 4;
    config.choice = BK_IDGEN_ROTATE;
    struct trace *trace = begin(&config);
    int64_t now_ns = 1000;
    for (int round = 0; round < 3; round++) {
        take(trace, now_ns);
        done(trace, now_ns);
        columns(trace, now_ns, now_ns + 100, nobody);
        if (round == 1)
            last(trace, now_ns, 10);
        else
            nothing(trace, now_ns);
        done(trace, now_ns);
        done(trace, now_ns);
        for (int i = 0; i < 3; i++)
            take(trace, now_ns);
        now_ns++;
    }
    end(trace, "1000 take 0 -> write at 4 7:1100\n"
               "1000 done -> read all at 4\n"
               "1000 alone -> read last at 4\n"
               "1000 nothing -> store at 4 14\n"
               "1000 done -> ready at 4, delete at 4 7:1100\n"
               "1000 done ->\n"
               "1000 take 4 ->\n"
               "1000 take 9 ->\n"
               "1000 take 14 ->\n"
               "1001 take 0 -> write at 5 7:1101\n"
               "1001 done -> read all at 5\n"
               "1001 alone -> read last at 5\n"
               "1001 last 10 -> store at 5 25\n"
               "1001 done -> ready at 5, delete at 5 7:1101\n"
               "1001 done ->\n"
               "1001 take 15 ->\n"
               "1001 take 20 ->\n"
               "1001 take 25 ->\n"
               "1002 take 0 -> write at 1 7:1102\n"
               "1002 done -> read all at 1\n"
               "1002 alone -> read last at 1\n"
               "1002 nothing -> store at 1 11\n"
               "1002 done -> ready at 1, delete at 1 7:1102\n"
               "1002 done ->\n"
               "1002 take 1 ->\n"
               "1002 take 6 ->\n"
               "1002 take 11 ->\n");
}

static void test_stripes_at_random_come_about_equally_often(void **state)
{
    (void)state;
    /* 8000 draws over 5 stripes: a count is off by 400 with a chance of 2 Q(400 / sqrt(1280)) < 1e-27. */
    uint32_t counts[5] = {0};
    for (uint64_t client = 1; client <= 8000; client++) {
        struct bk_idgen_config config = plain;
        config.client_id = client;
        config.stripes = 5;
        config.stripe = 0;
        config.choice = BK_IDGEN_RANDOM;
        struct bk_idgen idgen;
        struct bk_idgen_action action;
        int64_t id;
        assert_int_equal(bk_idgen_init(&config, &idgen), BK_OK);
        assert_int_equal(bk_idgen_take(&idgen, 0, &id), BK_ERROR_EMPTY);
        assert_true(bk_idgen_next(&idgen, &action));
        counts[action.stripe - 1]++;
    }
    for (int i = 0; i < 5; i++)
        assert_in_range(counts[i], 1200, 2000);
}

/* The last identifiers before 2^63 are handed out too, in a short batch; then the stripe is exhausted. */
static void test_identifiers_end_below_two_to_the_63rd(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.stripes = 10;
    config.stripe = 7;
    struct trace *trace = begin(&config);
    take(trace, 1000);
    done(trace, 1000);
    columns(trace, 1000, 1100, nobody);
    last(trace, 1000, INT64_MAX - 20);
    done(trace, 1000);
    done(trace, 1000);
    take(trace, 1001);
    take(trace, 1001);
    take(trace, 1001);
    done(trace, 1001);
    columns(trace, 1001, 1101, nobody);
    last(trace, 1001, INT64_MAX);
    done(trace, 1001);
    take(trace, 1002);
    end(trace, "1000 take 0 -> write at 7 7:1100\n"
               "1000 done -> read all at 7\n"
               "1000 alone -> read last at 7\n"
               "1000 last 9223372036854775787 -> store at 7 9223372036854775807\n"
               "1000 done -> ready at 7, delete at 7 7:1100\n"
               "1000 done ->\n"
               "1001 take 9223372036854775797 ->\n"
               "1001 take 9223372036854775807 ->\n"
               "1001 take 0 -> write at 7 7:1101\n"
               "1001 done -> read all at 7\n"
               "1001 alone -> read last at 7\n"
               "1001 last 9223372036854775807 -> delete at 7 7:1101\n"
               "1001 done -> failed at 7: the stripe has no identifier below 2^63 left\n"
               "1002 take 0 -> write at 7 7:1102\n");
}

static void test_a_last_identifier_of_another_stripe_is_refused(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.stripes = 5;
    config.stripe = 2;
    static const int64_t wrong[] = {-3, 0, 1, 8, INT64_MIN + 5};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bk_idgen_action action;
        struct trace *trace = begin(&config);
        take(trace, 1000);
        done(trace, 1000);
        columns(trace, 1000, 1100, nobody);
        last(trace, 1000, wrong[i]);
        assert_int_equal(bk_idgen_outcome(&trace->idgen, 1001, &(struct bk_idgen_outcome){0}), BK_OK);
        assert_true(bk_idgen_next(&trace->idgen, &action));
        assert_int_equal(action.kind, BK_IDGEN_FAILED);
        assert_int_equal(action.status, BK_ERROR_LAST);
        free(trace);
    }
}

/* The waits of a client that never finds its column to be the only one. */
static void waits_of(const struct bk_idgen_config *config, int count, const char *expected)
{
    struct trace *trace = begin(config);
    int64_t now_ns = 0, id;
    struct bk_idgen_action action;
    assert_int_equal(bk_idgen_take(&trace->idgen, now_ns, &id), BK_ERROR_EMPTY);
    while (count-- > 0) {
        assert_true(bk_idgen_next(&trace->idgen, &action));
        for (int i = 0; i < 3; i++) {
            const struct bk_idgen_column other = {8, INT64_MAX};
            assert_int_equal(
                bk_idgen_outcome(&trace->idgen, now_ns,
                                 &(struct bk_idgen_outcome){.columns = &other, .column_count = 1}),
                BK_OK);
            if (bk_idgen_next(&trace->idgen, &action) && action.kind == BK_IDGEN_FAILED)
                say(trace, " failed");
        }
        if (bk_idgen_deadline(&trace->idgen) == INT64_MAX)
            break;
        say(trace, " %lld", (long long)(bk_idgen_deadline(&trace->idgen) - now_ns));
        now_ns = bk_idgen_deadline(&trace->idgen);
        assert_int_equal(bk_idgen_tick(&trace->idgen, now_ns), BK_OK);
    }
    end(trace, expected);
}

static void test_back_off_constant_and_exponential(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    waits_of(&config, 4, " 10 10 10 10");
    config.attempts = 3;
    waits_of(&config, 9, " 10 10 failed");
    config.backoff = BK_IDGEN_EXPONENTIAL;
    config.attempts = 0;
    waits_of(&config, 5, " 10 20 40 80 160");
    config.backoff_limit_ns = 50;
    waits_of(&config, 5, " 10 20 40 failed");
    config.backoff_cap_ns = 50;
    waits_of(&config, 6, " 10 20 40 50 50 50");
}

/* A wait that would overflow is infinite; the next attempt then never comes. */
static void test_back_off_does_not_overflow(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.backoff = BK_IDGEN_EXPONENTIAL;
    config.backoff_base_ns = 3;
    struct trace *trace = begin(&config);
    int64_t id;
    struct bk_idgen_action action;
    assert_int_equal(bk_idgen_take(&trace->idgen, 0, &id), BK_ERROR_EMPTY);
    for (int n = 1; n <= 70; n++) {
        assert_true(bk_idgen_next(&trace->idgen, &action));
        for (int i = 0; i < 2; i++) {
            assert_int_equal(
                bk_idgen_outcome(&trace->idgen, -1, &(struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED}),
                BK_OK);
            assert_true(bk_idgen_next(&trace->idgen, &action));
        }
        assert_int_equal(action.kind, BK_IDGEN_DELETE_COLUMNS);
        assert_int_equal(
            bk_idgen_outcome(&trace->idgen, 0, &(struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED}), BK_OK);
        int64_t wait_ns =
            n <= 62 && INT64_C(1) << (n - 1) <= INT64_MAX / 3 ? 3 * (INT64_C(1) << (n - 1)) : INT64_MAX;
        assert_int_equal(bk_idgen_deadline(&trace->idgen), wait_ns);
        assert_int_equal(bk_idgen_tick(&trace->idgen, wait_ns - 1), BK_OK);
        assert_false(bk_idgen_next(&trace->idgen, &action));
        assert_int_equal(bk_idgen_tick(&trace->idgen, INT64_MAX), BK_OK);
    }
    free(trace);
}

static void test_back_off_random_is_drawn_once_a_lease_and_multiplied(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.backoff = BK_IDGEN_RANDOM_TIMES;
    config.backoff_base_ns = 1000;
    config.backoff_limit_ns = 2000;
    waits_of(&config, 20, " 420 840 1260 1680 failed");
    config.client_id = 9; /* another client draws another wait */
    waits_of(&config, 20, " 594 1188 1782 failed");
}

static void test_a_batch_is_leased_by_conditional_updates(void **state)
{
    (void)state;
    struct bk_idgen_config config = with_lwt();
    struct trace *trace = begin(&config);
    take(trace, 1000);
    not_applied(trace, 1001, false, 0, 0); /* there is no lock row yet */
    done(trace, 1002);
    nothing(trace, 1003);
    done(trace, 1004);
    done(trace, 1005);
    for (int i = 0; i < 4; i++)
        take(trace, 1006);
    not_applied(trace, 1007, true, 8, 1105); /* held */
    tick(trace, 1017);
    not_applied(trace, 1018, true, 8, 1016); /* stale */
    done(trace, 1019);
    last(trace, 1020, 3);
    done(trace, 1021);
    not_applied(trace, 1022, true, 9, 2000); /* taken over meanwhile: nothing to release */
    end(trace, "1000 take 0 -> lock if 0 0 then 7 1100\n"
               "1001 no: absent -> lock if absent then 7 1100\n"
               "1002 done -> read last\n"
               "1003 nothing -> store if absent then 3\n"
               "1004 done -> ready, lock if 7 1100 then 0 0\n"
               "1005 done ->\n"
               "1006 take 1 ->\n"
               "1006 take 2 ->\n"
               "1006 take 3 ->\n"
               "1006 take 0 -> lock if 0 0 then 7 1106\n"
               "1007 no: 8 1105 -> until 1017\n"
               "1017 tick -> lock if 0 0 then 7 1117\n"
               "1018 no: 8 1016 -> lock if 8 1016 then 7 1117\n"
               "1019 done -> read last\n"
               "1020 last 3 -> store if 3 then 6\n"
               "1021 done -> ready, lock if 7 1117 then 0 0\n"
               "1022 no: 9 2000 ->\n");
}

/* The conditional store is the fence: its outcome says whether it came first, whatever happened to the lock
 * and however late it is. */
static void test_conditional_stores_exclude_old_clients(void **state)
{
    (void)state;
    struct bk_idgen_config config = with_lwt();
    struct trace *trace = begin(&config);
    take(trace, 1000);
    done(trace, 1001);
    last(trace, 1002, 3);
    not_applied(trace, 1003, true, 9, 0);
    unknown(trace, 1004);
    last(trace, 1005, 12); /* by this store or by another client's: the identifiers are lost either way */
    done(trace, 1060);     /* late, but the identifiers are its own */
    refused(trace, 1061);
    unknown(trace, 1062);
    take(trace, 1063);
    end(trace, "1000 take 0 -> lock if 0 0 then 7 1100\n"
               "1001 done -> read last\n"
               "1002 last 3 -> store if 3 then 6\n"
               "1003 no: 9 0 -> store if 9 then 12\n"
               "1004 unknown -> read last\n"
               "1005 last 12 -> store if 12 then 15\n"
               "1060 done -> ready, lock if 7 1100 then 0 0\n"
               "1061 refused -> lock again if 7 1100 then 0 0\n"
               "1062 unknown ->\n"
               "1063 take 13 ->\n");
    trace = begin(&config);
    take(trace, 1000);
    done(trace, 1001);
    last(trace, 1002, 3);
    not_applied(trace, 1050, true, 9, 0); /* lease over: others are not kept waiting */
    done(trace, 1051);
    tick(trace, 1061);
    done(trace, 1062);
    last(trace, 1063, 9);
    refused(trace, 1064);
    refused(trace, 1065);
    end(trace, "1000 take 0 -> lock if 0 0 then 7 1100\n"
               "1001 done -> read last\n"
               "1002 last 3 -> store if 3 then 6\n"
               "1050 no: 9 0 -> lock if 7 1100 then 0 0\n"
               "1051 done -> until 1061\n"
               "1061 tick -> lock if 0 0 then 7 1161\n"
               "1062 done -> read last\n"
               "1063 last 9 -> store if 9 then 12\n"
               "1064 refused -> store again if 9 then 12\n"
               "1065 refused -> lock if 7 1161 then 0 0\n");
}

static void test_a_lock_of_unknown_outcome_is_requested_again(void **state)
{
    (void)state;
    struct bk_idgen_config config = with_lwt();
    struct trace *trace = begin(&config);
    take(trace, 1000);
    unknown(trace, 1001);
    not_applied(trace, 1002, true, 7, 1100); /* the lock was taken */
    last(trace, 1003, 3);
    done(trace, 1004);
    end(trace, "1000 take 0 -> lock if 0 0 then 7 1100\n"
               "1001 unknown -> lock again if 0 0 then 7 1100\n"
               "1002 no: 7 1100 -> read last\n"
               "1003 last 3 -> store if 3 then 6\n"
               "1004 done -> ready, lock if 7 1100 then 0 0\n");
    trace = begin(&config);
    take(trace, 1000);
    unknown(trace, 1001);
    unknown(trace, 1002);
    done(trace, 1003);
    tick(trace, 1013);
    not_applied(trace, 1014, true, 7, 1100); /* the client's own earlier lock, which has not ended */
    end(trace, "1000 take 0 -> lock if 0 0 then 7 1100\n"
               "1001 unknown -> lock again if 0 0 then 7 1100\n"
               "1002 unknown -> lock if 7 1100 then 0 0\n"
               "1003 done -> until 1013\n"
               "1013 tick -> lock if 0 0 then 7 1113\n"
               "1014 no: 7 1100 -> lock if 7 1100 then 7 1113\n");
}

static void test_a_free_lock_that_others_take_first_stays_theirs(void **state)
{
    (void)state;
    struct bk_idgen_config config = with_lwt();
    struct trace *trace = begin(&config);
    take(trace, 1000);
    for (int i = 0; i < 7; i++)
        not_applied(trace, 1000, true, 0, 0);
    not_applied(trace, 1000, true, 0, 0);
    assert_non_null(strstr(trace->text, "until 1010"));
    assert_int_equal(bk_idgen_deadline(&trace->idgen), 1010);
    free(trace);
}

static void test_misuse_changes_nothing(void **state)
{
    (void)state;
    struct bk_idgen idgen;
    struct bk_idgen_action action;
    struct bk_idgen_outcome outcome = {.kind = BK_IDGEN_APPLIED};
    int64_t id = 5;
    assert_int_equal(bk_idgen_init(&plain, NULL), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_init(NULL, &idgen), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_init(&plain, &idgen), BK_OK);
    assert_int_equal(bk_idgen_take(NULL, 0, &id), BK_ERROR_NULL);
    assert_int_equal(id, 0);
    assert_int_equal(bk_idgen_take(&idgen, 0, NULL), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_outcome(NULL, 0, &outcome), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_outcome(&idgen, 0, NULL), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_outcome(&idgen, 0, &outcome), BK_ERROR_OPERATION);
    assert_false(bk_idgen_next(NULL, &action));
    assert_false(bk_idgen_next(&idgen, NULL));
    assert_false(bk_idgen_next(&idgen, &action));
    assert_int_equal(bk_idgen_deadline(NULL), INT64_MAX);
    assert_int_equal(bk_idgen_tick(NULL, 0), BK_ERROR_NULL);
    assert_int_equal(bk_idgen_tick(&idgen, 0), BK_OK);
    assert_int_equal(bk_idgen_in_hand(NULL), 0);
    assert_int_equal(bk_idgen_take(&idgen, 0, &id), BK_ERROR_EMPTY);
    assert_int_equal(bk_idgen_outcome(&idgen, 0, &outcome), BK_ERROR_OPERATION); /* not yet requested */
    assert_true(bk_idgen_next(&idgen, &action));
    assert_false(bk_idgen_next(&idgen, &action));
    /* An action without a condition cannot fail a condition. */
    outcome.kind = BK_IDGEN_NOT_APPLIED;
    assert_int_equal(bk_idgen_outcome(&idgen, 0, &outcome), BK_OK);
    assert_true(bk_idgen_next(&idgen, &action) && action.kind == BK_IDGEN_WRITE_COLUMN && action.is_retry);
}

/* A failure that the host did not fetch ends with the next take. */
static void test_a_take_after_a_failure_begins_anew(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.attempts = 1;
    struct trace *trace = begin(&config);
    take(trace, 1000);
    done(trace, 1001);
    columns(trace, 1002, 0, nobody);
    assert_int_equal(bk_idgen_outcome(&trace->idgen, 1003, &(struct bk_idgen_outcome){0}), BK_OK);
    take(trace, 1004);
    end(trace, "1000 take 0 -> write 7:1100\n"
               "1001 done -> read all\n"
               "1002 lost -> delete 7:1100\n"
               "1004 take 0 -> write 7:1104\n");
}

/* An attempt whose lock is denied has nothing to release, and so ends without another action. */
static void test_a_take_after_a_denied_lock_begins_anew(void **state)
{
    (void)state;
    struct bk_idgen_config config = with_lwt();
    config.attempts = 1;
    struct trace *trace = begin(&config);
    take(trace, 1000);
    not_applied(trace, 1001, true, 8, 1500);
    take(trace, 1002);
    end(trace, "1000 take 0 -> lock if 0 0 then 7 1100\n"
               "1001 no: 8 1500 -> failed: the lock was not acquired within the limits of its back-off\n"
               "1002 take 0 -> lock if 0 0 then 7 1102\n");
}

static void test_impossible_configs_are_refused(void **state)
{
    (void)state;
#define REFUSED(member, value, status)                                                                       \
    {                                                                                                        \
        struct bk_idgen_config config = plain;                                                               \
        config.member = value;                                                                               \
        struct bk_idgen idgen;                                                                               \
        memset(&idgen, 0x5a, sizeof idgen);                                                                  \
        struct bk_idgen before = idgen;                                                                      \
        assert_int_equal(bk_idgen_check(&config), status);                                                   \
        assert_int_equal(bk_idgen_init(&config, &idgen), status);                                            \
        assert_memory_equal(&idgen, &before, sizeof idgen);                                                  \
    }
    REFUSED(client_id, 0, BK_ERROR_CLIENT)
    REFUSED(batch, 0, BK_ERROR_BATCH)
    REFUSED(stripes, 0, BK_ERROR_STRIPE)
    REFUSED(stripes, BK_IDGEN_STRIPES_MAX + 1, BK_ERROR_STRIPE)
    REFUSED(stripe, 0, BK_ERROR_STRIPE)
    REFUSED(stripe, 2, BK_ERROR_STRIPE)
    REFUSED(choice, (enum bk_idgen_choice)3, BK_ERROR_STRIPE)
    REFUSED(lock, (enum bk_idgen_lock)2, BK_ERROR_LOCK)
    REFUSED(lease_ns, 0, BK_ERROR_LEASE)
    REFUSED(lease_ns, 100, BK_ERROR_LEASE)
    REFUSED(lock_lasts_ns, 0, BK_ERROR_LEASE)
    REFUSED(backoff, (enum bk_idgen_backoff)3, BK_ERROR_BACKOFF)
    REFUSED(backoff_base_ns, 0, BK_ERROR_BACKOFF)
    REFUSED(backoff_cap_ns, 9, BK_ERROR_BACKOFF)
    REFUSED(backoff_limit_ns, 9, BK_ERROR_BACKOFF)
#undef REFUSED
    assert_int_equal(bk_idgen_check(NULL), BK_ERROR_NULL);
    struct bk_idgen_config config = plain;
    config.choice = BK_IDGEN_RANDOM;
    config.stripe = 0;
    config.stripes = BK_IDGEN_STRIPES_MAX;
    config.batch = UINT32_MAX;
    config.backoff_cap_ns = config.backoff_limit_ns = 10;
    assert_int_equal(bk_idgen_check(&config), BK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_batch_is_leased_under_a_lock_of_columns),
        cmocka_unit_test(test_contenders_delete_their_columns_and_wait),
        cmocka_unit_test(test_lost_column_does_not_hold_the_lock),
        cmocka_unit_test(test_excess_stale_columns_are_kept),
        cmocka_unit_test(test_unknown_outcome_ends_the_attempt),
        cmocka_unit_test(test_a_store_of_unknown_outcome_hands_out_nothing),
        cmocka_unit_test(test_nothing_is_in_time_after_the_lease),
        cmocka_unit_test(test_lock_ends_increase_even_if_the_clock_goes_back),
        cmocka_unit_test(test_stripes_hand_out_every_nth),
        cmocka_unit_test(test_stripes_at_random_come_about_equally_often),
        cmocka_unit_test(test_identifiers_end_below_two_to_the_63rd),
        cmocka_unit_test(test_a_last_identifier_of_another_stripe_is_refused),
        cmocka_unit_test(test_back_off_constant_and_exponential),
        cmocka_unit_test(test_back_off_does_not_overflow),
        cmocka_unit_test(test_back_off_random_is_drawn_once_a_lease_and_multiplied),
        cmocka_unit_test(test_a_batch_is_leased_by_conditional_updates),
        cmocka_unit_test(test_conditional_stores_exclude_old_clients),
        cmocka_unit_test(test_a_lock_of_unknown_outcome_is_requested_again),
        cmocka_unit_test(test_a_free_lock_that_others_take_first_stays_theirs),
        cmocka_unit_test(test_misuse_changes_nothing),
        cmocka_unit_test(test_a_take_after_a_failure_begins_anew),
        cmocka_unit_test(test_a_take_after_a_denied_lock_begins_anew),
        cmocka_unit_test(test_impossible_configs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
