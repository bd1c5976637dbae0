/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the three sentences state the run's findings with their numbers, and nothing else. Method: hand-made
 * results, whose figures occur in the expected sentences; every special case gives three sentences, each on
 * one line; every allocation fails in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "kernel/time.h"
#include "reports/answer.h"
#include "reports/format.h"

struct told {
    struct report_arena arena;
    struct report_answer answer;
};

static void tell(const struct lab_result *result, struct told *told)
{
    report_arena_init(&told->arena);
    report_answer(result, &told->arena, &told->answer);
    assert_false(told->arena.out_of_memory);
}

static void set(struct lab_strategy_result *strategy, const char *name, double value)
{
    for (size_t i = 0; i < strategy->metrics.count; i++) {
        if (strcmp(strategy->metrics.items[i].name, name) == 0) {
            strategy->metrics.items[i].value = value;
            return;
        }
    }
    assert_true(lab_metrics_add(&strategy->metrics, name, value));
}

static struct lab_strategy_result *add_count(struct lab_result *result, const char *label, uint64_t rows,
                                             double extra_ops)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(rows, &strategy), BK_OK);
    struct lab_strategy_result *added = fixture_add(result, label, &strategy);
    fixture_put(added, false, rows, 1000);
    fixture_metrics(result, added, extra_ops, 0, 0);
    set(added, "partitions.total", 1000);
    set(added, "partitions.closed.rows.mean", (double)rows);
    set(added, "partitions.closed.rows.stddev", 0);
    set(added, "writes.rows", 1000 * (double)rows);
    added->settings.source = BK_SOURCE_COUNTER;
    return added;
}

static void test_cheapest_is_recommended_by_its_cost_and_the_next_is_named(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    result->rows = 46422562;
    result->keys = 10000;
    add_count(result, "small", 500, 30);
    add_count(result, "large", 2000, 10);
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 1);
    assert_non_null(strstr(told.answer.asked, "chat tries two strategies, each on 46,422,562 rows of 10,000 "
                                              "keys, over "));
    assert_non_null(strstr(told.answer.asked, "; a partition may grow to 100,000 rows or 100\u202FMB."));
    assert_string_equal(
        told.answer.verdict,
        "Choose large (2K rows, numbers of a counter column): at a cost of 10 extra operations per 1000 "
        "rows it is the cheaper of the two that stay within the limits; none of its 1,000 partitions exceeds "
        "a limit (none allowed).");
    assert_string_equal(told.answer.beware,
                        "small, the next that stays within the limits, costs 3 times as much.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_equal_cost_and_lower_cv_is_reported(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    set(add_count(result, "wild", 500, 10), "partitions.closed.rows.stddev", 200);
    set(add_count(result, "tame", 500, 10.05), "partitions.closed.rows.stddev", 60);
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 1);
    assert_non_null(strstr(told.answer.verdict,
                           "it is as cheap as any that stays within the limits, and its closed partitions "
                           "are the most even, with a CV of 12%; "));
    assert_string_equal(told.answer.beware, "wild, the next that stays within the limits, costs as much.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_equally_even_strategies_are_not_called_more_even(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    set(add_count(result, "one", 500, 10), "partitions.closed.rows.stddev", 60);
    set(add_count(result, "twin", 500, 10), "partitions.closed.rows.stddev", 60);
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 0);
    assert_non_null(strstr(told.answer.verdict,
                           "it is as cheap as any that stays within the limits, and its closed partitions "
                           "have a CV of 12%; "));
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

/* A single seed could lead to another choice than all seeds together. */
static void test_choice_of_tune_is_not_repeated(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    add_count(result, "small", 500, 30);
    add_count(result, "large", 2000, 10);
    result->is_tuned = true;
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, SIZE_MAX);
    assert_null(strstr(told.answer.verdict, "Choose"));
    assert_non_null(strstr(told.answer.beware, "Its recommendation is based on all seeds"));
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

/* Small partitions are no advantage when the table keeps only the last row of each primary key. */
static void test_rows_that_were_replaced_are_reported(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("logs", "synthetic");
    struct lab_strategy_result *added = add_count(result, "hour", 500, 10);
    set(added, "rows.overwritten", 865254);
    set(added, "writes.rows", 865302);
    struct told told;
    tell(result, &told);
    assert_string_equal(
        told.answer.verdict,
        "hour (500 rows, numbers of a counter column) stays within the limits at a cost of 10 extra "
        "operations per 1000 rows, but 865,254 of 865,302 rows were replaced by later ones "
        "with the same primary key.");
    report_arena_free(&told.arena);
    add_count(result, "expensive", 500, 30);
    tell(result, &told);
    assert_string_equal(told.answer.beware, "expensive, the next that stays within the limits, costs 3 times "
                                            "as much; of hour 865,254 of 865,302 rows "
                                            "were replaced by later ones with the same primary key.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

/* The cheapest strategy within the limits may have refused rows. */
static void test_rows_that_were_refused_are_reported(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("sensors", "synthetic");
    result->rows = 86760;
    set(add_count(result, "dated", 500, 10), "writes.refused", 49);
    set(add_count(result, "expensive", 500, 30), "writes.refused", 1);
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 0);
    assert_string_equal(told.answer.beware,
                        "It refused 49 of 86,760 rows. expensive, the next that stays within "
                        "the limits, costs 3 times as much.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_limit_exceeded_slightly_is_exceeded(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    struct lab_strategy_result *added = add_count(result, "near", 100040, 10);
    result->limits.partition_bytes = 0;
    set(added, "partitions.over_limit", 1);
    set(added, "partitions.over_limit_rows", 1);
    struct told told;
    tell(result, &told);
    assert_string_equal(told.answer.beware,
                        "The largest partition of near has 100,040 rows, >100% of the limit.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_passed_limits_are_named_with_their_shares(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    result->limits.partition_bytes = 0;
    const double over[] = {120, 4};
    for (size_t i = 0; i < 2; i++) {
        struct lab_strategy_result *added = add_count(result, i == 0 ? "far" : "near", 150000, 10);
        set(added, "partitions.over_limit", over[i]);
        set(added, "partitions.over_limit_rows", over[i]);
        set(added, "partitions.over_limit_bytes", 0);
        set(added, "partitions.all.rows.max", 250000 - 100000 * (double)i);
    }
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, SIZE_MAX);
    assert_string_equal(told.answer.verdict,
                        "Neither of the two can be chosen: far (12% of its partitions) and "
                        "near (0.4%) exceed a limit.");
    assert_string_equal(told.answer.beware,
                        "Nearest is near: its largest partition has 150,000 rows, 150% of the limit.");
    assert_string_equal(
        report_answer_against(result, &result->strategies[1], &told.answer.scores[1], &told.arena),
        "4 of 1,000 partitions (0.4%) above 100,000 rows (none allowed)");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_nearest_of_observed_ones_that_hold_is_nearest_to_the_limit(void **state)
{
    (void)state;
    static const double rows[] = {500, 95000, 20};
    struct lab_result *result = fixture_result("seen", "synthetic");
    for (size_t i = 0; i < 3; i++) {
        static const char *const labels[] = {"a", "b", "c"};
        struct lab_strategy_result *added = add_count(result, labels[i], 500, 10);
        added->settings.observed = WL_OBSERVED_PARTITIONS;
        set(added, "partitions.all.rows.max", rows[i]);
    }
    result->limits.partition_bytes = 0;
    struct told told;
    tell(result, &told);
    assert_string_equal(told.answer.verdict, "None of their partitions exceeds a limit.");
    assert_string_equal(told.answer.beware,
                        "Nearest is b: its largest partition has 95,000 rows, 95% of the limit.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_hidden_and_unbounded_partitions_are_warned_of_and_counted(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    static const char *const labels[] = {"a", "b", "c", "d", "e", "f"};
    add_count(result, "good", 500, 10)->settings.source = BK_SOURCE_EXTERNAL;
    for (size_t i = 0; i < 6; i++) {
        set(add_count(result, labels[i], 500, 1), "oracle.findable.violations", 3);
    }
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_hash(16, &strategy), BK_OK);
    struct lab_strategy_result *hash = fixture_add(result, NULL, &strategy);
    fixture_put(hash, true, 300, 10);
    fixture_metrics(result, hash, 0, 0, 0);
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 0);
    assert_non_null(
        strstr(told.answer.verdict, "it is the only one of the eight that stays within the limits; "));
    assert_string_equal(
        told.answer.beware,
        "This assumes that rows already carry a gapless sequence number; otherwise none stays within the "
        "limits. a, b, c and 3 others hid rows from readers; hash never closes a partition.");
    report_arena_free(&told.arena);
    for (size_t i = 1; i < 7; i++) {
        set(&result->strategies[i], "oracle.findable.violations", 0);
        set(&result->strategies[i], "oracle.available.violations", 501);
        set(&result->strategies[i], "writes.refused", 501);
    }
    tell(result, &told);
    assert_non_null(strstr(told.answer.beware,
                           " a, b, c and 3 others refused rows although nothing had failed; "
                           "hash never closes a partition."));
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

/* Sequence numbers in the rows are a requirement on the user: the answer names the strategy that has it and
 * the best one without it, with the requirements of each. */
static void test_choice_and_runner_up_are_reported_with_their_requirements(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    add_count(result, "numbered", 500, 10)->settings.source = BK_SOURCE_EXTERNAL;
    add_count(result, "leased", 500, 25)->settings.source = BK_SOURCE_LEASE;
    add_count(result, "plain", 500, 30);
    struct told told;
    tell(result, &told);
    assert_non_null(
        strstr(told.answer.beware,
               "This assumes that rows already carry a gapless sequence number; otherwise choose leased (500 "
               "rows, numbers leased), which costs 2.5 times as much and needs conditional updates "
               "(LWT). "));
    assert_null(strstr(told.answer.beware, "the next"));
    report_arena_free(&told.arena);
    set(&result->strategies[0], "writes.extra_ops_per_1000_rows", 50);
    tell(result, &told);
    assert_non_null(strstr(told.answer.beware,
                           "It needs conditional updates (LWT). And if rows already carry a "
                           "gapless sequence number: numbered costs 2 times as much."));
    assert_non_null(strstr(told.answer.beware, "plain, the next that stays within the limits, "));
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_without_limits_none_is_chosen(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    memset(&result->limits, 0, sizeof result->limits);
    add_count(result, "small", 500, 30);
    set(add_count(result, "large", 2000, 10), "partitions.closed.rows.stddev", 1);
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, SIZE_MAX);
    assert_non_null(strstr(told.answer.asked, "; no limit is set for a partition."));
    assert_string_equal(
        told.answer.verdict,
        "Without a limit no strategy is chosen; large (2K rows, numbers of a counter column) costs "
        "least, 10 extra operations per 1000 rows, and the closed partitions of small are "
        "most even, with a CV of 0%.");
    assert_string_equal(told.answer.beware,
                        "The largest partition of small has 500 rows, fewer than that of any other; set "
                        "limits (partition_rows, partition_bytes) to get a recommendation.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_without_limits_no_false_statement_is_made(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    memset(&result->limits, 0, sizeof result->limits);
    struct lab_strategy_result *first = add_count(result, "one", 500, 30);
    struct lab_strategy_result *second = add_count(result, "twin", 500, 30);
    struct told told;
    tell(result, &told);
    assert_non_null(
        strstr(told.answer.beware,
               "The largest partition of one has 500 rows, and no other strategy has a smaller one; "));
    report_arena_free(&told.arena);
    set(first, "partitions.all.rows.max", 400);
    set(first, "oracle.findable.violations", 1);
    tell(result, &told);
    assert_non_null(strstr(told.answer.beware, "one hid rows from readers; the largest partition of twin has "
                                               "500 rows, the fewest of the strategies that hid no rows; "));
    report_arena_free(&told.arena);
    set(first, "oracle.findable.violations", 0);
    set(first, "oracle.available.violations", 15000);
    set(first, "writes.refused", 15000);
    tell(result, &told);
    assert_non_null(
        strstr(told.answer.beware,
               "one refused rows although nothing had failed; the largest partition of twin has 500 "
               "rows, the fewest of the strategies that lost no rows; "));
    report_arena_free(&told.arena);
    set(first, "oracle.available.violations", 0);
    set(first, "writes.rows", 0);
    set(second, "writes.rows", 0);
    tell(result, &told);
    assert_string_equal(told.answer.verdict, "None can be chosen: no row was written.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_identifiers_are_judged_by_rate_and_uniqueness(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("ids", "synthetic");
    memset(&result->limits, 0, sizeof result->limits);
    const double rates[] = {9000, 500};
    for (size_t i = 0; i < 2; i++) {
        struct bk_strategy strategy;
        assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
        struct lab_strategy_result *added = fixture_add(result, i == 0 ? "quick" : "sound", &strategy);
        added->settings.is_idgen = true;
        set(added, "ids.per_second", rates[i]);
        set(added, "ids.lost", 20);
        set(added, "latency.lock.p99", 25);
        set(added, "oracle.unique.violations", i == 0 ? 7 : 0);
    }
    struct told told;
    tell(result, &told);
    assert_non_null(strstr(told.answer.asked, "ids tries two designs of identifiers for "));
    assert_string_equal(told.answer.verdict,
                        "sound hands out the most, 500 identifiers a second, and gave none of them twice.");
    assert_string_equal(told.answer.beware, "quick gave 7 identifiers twice; quick lost 20 identifiers and "
                                            "got 99% of its locks within 25 ms; sound lost 20 "
                                            "identifiers and got 99% of its locks within 25 ms.");
    report_arena_free(&told.arena);
    set(&result->strategies[1], "oracle.unique.violations", 1);
    tell(result, &told);
    assert_string_equal(told.answer.verdict, "None can be chosen.");
    assert_non_null(strstr(told.answer.beware,
                           "quick gave 7 identifiers twice; sound gave 1 identifier twice; quick lost "));
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

static void test_one_protocol_that_is_not_named_is_in_the_table(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("ids", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    for (size_t i = 0; i < 5; i++) {
        fixture_add(result, "way", &strategy)->settings.is_idgen = true;
        struct told told;
        tell(result, &told);
        const bool is_one = strstr(told.answer.beware, "; 1 more is in the table.") != NULL;
        const bool is_two = strstr(told.answer.beware, "; 2 more are in the table.") != NULL;
        assert_int_equal(is_one, i == 3);
        assert_int_equal(is_two, i == 4);
        report_arena_free(&told.arena);
    }
    lab_result_destroy(result);
}

static void test_one_protocol_of_identifiers_is_compared_with_none(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("ids", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    struct lab_strategy_result *added = fixture_add(result, "only", &strategy);
    added->settings.is_idgen = true;
    set(added, "ids.per_second", 500);
    set(added, "ids.lost", 1);
    struct told told;
    tell(result, &told);
    assert_string_equal(told.answer.verdict,
                        "only hands out 500 identifiers a second, and gave none of them twice.");
    assert_string_equal(told.answer.beware, "only lost 1 identifier and got no lock.");
    report_arena_free(&told.arena);
    set(added, "oracle.unique.violations", 2);
    tell(result, &told);
    assert_string_equal(told.answer.verdict, "only cannot be chosen.");
    report_arena_free(&told.arena);
    lab_result_destroy(result);
}

/* Each text is a sentence on one line; when out of memory it is empty, never half a sentence. */
static void test_every_case_has_three_sentences_or_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        struct lab_result *result = fixture_case(i);
        bool is_whole = false;
        for (size_t allowed = 0; !is_whole; allowed++) {
            struct report_arena arena;
            struct report_answer answer;
            report_arena_init(&arena);
            arena.allowance = allowed;
            report_answer(result, &arena, &answer);
            is_whole = !arena.out_of_memory;
            const char *const texts[] = {answer.asked, answer.verdict, answer.beware};
            for (size_t j = 0; j < 3; j++) {
                assert_non_null(texts[j]);
                size_t length = strlen(texts[j]);
                assert_true(!is_whole || (length > 10 && texts[j][length - 1] == '.'));
                assert_null(strchr(texts[j], '\n'));
            }
            assert_true(!is_whole || answer.chosen == SIZE_MAX ||
                        answer.scores[answer.chosen].disqualifiers == 0);
            report_arena_free(&arena);
        }
        lab_result_destroy(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheapest_is_recommended_by_its_cost_and_the_next_is_named),
        cmocka_unit_test(test_equal_cost_and_lower_cv_is_reported),
        cmocka_unit_test(test_equally_even_strategies_are_not_called_more_even),
        cmocka_unit_test(test_choice_of_tune_is_not_repeated),
        cmocka_unit_test(test_rows_that_were_replaced_are_reported),
        cmocka_unit_test(test_rows_that_were_refused_are_reported),
        cmocka_unit_test(test_limit_exceeded_slightly_is_exceeded),
        cmocka_unit_test(test_passed_limits_are_named_with_their_shares),
        cmocka_unit_test(test_nearest_of_observed_ones_that_hold_is_nearest_to_the_limit),
        cmocka_unit_test(test_hidden_and_unbounded_partitions_are_warned_of_and_counted),
        cmocka_unit_test(test_choice_and_runner_up_are_reported_with_their_requirements),
        cmocka_unit_test(test_without_limits_none_is_chosen),
        cmocka_unit_test(test_without_limits_no_false_statement_is_made),
        cmocka_unit_test(test_identifiers_are_judged_by_rate_and_uniqueness),
        cmocka_unit_test(test_one_protocol_that_is_not_named_is_in_the_table),
        cmocka_unit_test(test_one_protocol_of_identifiers_is_compared_with_none),
        cmocka_unit_test(test_every_case_has_three_sentences_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
