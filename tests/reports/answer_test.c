/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the headline and the lines state the run's findings with their numbers, and nothing else. Method:
 * hand-made results, options and judgments, whose figures occur in the expected texts; every special case
 * gives a headline and at most eight lines. */
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
    told->arena = (struct report_arena){NULL};
    report_answer_run(result, &told->arena, &told->answer);
}

/* The text of a line; "" when there is none. */
static const char *line(const struct told *told, const char *label)
{
    for (size_t i = 0; i < told->answer.line_count; i++) {
        if (strcmp(told->answer.lines[i].label, label) == 0) {
            return told->answer.lines[i].text;
        }
    }
    return "";
}

static void finish(struct told *told, struct lab_result *result)
{
    report_arena_free(&told->arena);
    lab_result_destroy(result);
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

static void test_cheapest_is_recommended_and_the_next_is_an_alternative(void **state)
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
    assert_non_null(
        strstr(told.answer.asked, "chat tries 2 strategies, each on 46,422,562 rows of 10,000 keys, over "));
    assert_non_null(strstr(told.answer.asked, "; a partition may grow to 100,000 rows or 100\u202FMB."));
    assert_string_equal(told.answer.headline,
                        "Use large (count with 2K rows and numbers of a counter column).");
    assert_string_equal(
        line(&told, "size"),
        "2,000 rows on average, CV 0%; none of 1,000 partitions is above 100,000 rows or 100\u202FMB");
    assert_string_equal(line(&told, "cost"), "10 extra operations per 1000 rows");
    assert_non_null(strstr(line(&told, "margin"), "the largest partition has 2,000 rows, 2% of the limit"));
    assert_string_equal(
        line(&told, "else"),
        "small (count with 500 rows and numbers of a counter column): +20 inserts per 1000 rows");
    assert_string_equal(line(&told, "not"), "");
    finish(&told, result);
}

/* Loads within limits.tolerance of each other count as equal, and then the more even one is chosen. */
static void test_alternative_within_the_tolerance_is_as_cheap(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    result->limits.tolerance = 0.005;
    set(add_count(result, "wild", 500, 10), "partitions.closed.rows.stddev", 200);
    set(add_count(result, "tame", 500, 12), "partitions.closed.rows.stddev", 60);
    for (size_t i = 0; i < result->strategy_count; i++)
        assert_int_equal(bk_strategy_calendar(BK_CALENDAR_DAY, &result->strategies[i].settings.strategy),
                         BK_OK);
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 1);
    assert_non_null(strstr(line(&told, "size"), ", CV 12%; "));
    assert_non_null(strstr(line(&told, "else"), ": as cheap, CV 40%"));
    report_arena_free(&told.arena);
    result->limits.tolerance = 0.001;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 0);
    assert_non_null(strstr(line(&told, "else"), ": +2 inserts per 1000 rows"));
    finish(&told, result);
}

/* The few partitions of a run that have closed are short: their distribution tells more. */
static void test_few_partitions_have_the_sizes_of_their_distribution(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    struct lab_strategy_result *strategy = add_count(result, "even", 500, 10);
    struct told told;
    assert_int_equal(bk_strategy_probabilistic(13, 2, &strategy->settings.strategy), BK_OK);
    set(add_count(result, "uneven", 500, 10), "partitions.closed.rows.stddev", 200);
    strategy = &result->strategies[1];
    assert_int_equal(bk_strategy_calendar(BK_CALENDAR_DAY, &strategy->settings.strategy), BK_OK);
    for (double closed = 1; closed <= 100; closed += 99) {
        set(&result->strategies[0], "partitions.closed", closed);
        tell(result, &told);
        assert_int_equal(told.answer.chosen, 1);
        assert_non_null(strstr(line(&told, "else"), ": as cheap, CV 70.7%"));
        report_arena_free(&told.arena);
        result->limits.tolerance = 0;
        set(&result->strategies[1], "writes.extra_ops_per_1000_rows", 11);
        tell(result, &told);
        assert_int_equal(told.answer.chosen, 0);
        assert_non_null(strstr(line(&told, "size"), closed < 100
                                                        ? "16,384 rows on average when full, CV 70.7%; "
                                                        : "500 rows on average, CV 70.7%; "));
        report_arena_free(&told.arena);
        result->limits.tolerance = 0.005;
        set(&result->strategies[1], "writes.extra_ops_per_1000_rows", 10);
    }
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
    assert_null(strstr(told.answer.headline, "Use"));
    assert_non_null(strstr(line(&told, "choice"), "shows the choice by all seeds"));
    finish(&told, result);
}

/* Small partitions are no advantage when the table keeps only the last row of each primary key. */
static void test_rows_that_were_replaced_or_refused_are_reported(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("logs", "synthetic");
    struct lab_strategy_result *added = add_count(result, "hour", 500, 10);
    result->rows = 865302;
    struct told told;
    tell(result, &told);
    assert_string_equal(line(&told, "lost"), "");
    report_arena_free(&told.arena);
    set(added, "rows.overwritten", 865254);
    set(added, "writes.refused", 49);
    set(add_count(result, "expensive", 500, 30), "writes.refused", 1);
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 0);
    assert_string_equal(
        line(&told, "lost"),
        "49 of 865,302 rows were refused; 865,254 of 865,302 rows were replaced by later ones "
        "with the same primary key");
    finish(&told, result);
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
    assert_string_equal(
        told.answer.headline,
        "Do not use near (count with 100,040 rows and numbers of a counter column): 1 of 1,000 "
        "partitions (0.1%) is above 100,000 rows.");
    assert_string_equal(line(&told, "margin"), "the largest partition has 100,040 rows, >100% of the limit");
    assert_string_equal(line(&told, "change"),
                        "smaller partitions; 'bucketlab tune' searches for settings within the limits");
    finish(&told, result);
}

static void test_nearest_is_named_when_none_can_be_used(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    result->limits.partition_bytes = 0;
    const double over[] = {120, 4, 300};
    for (size_t i = 0; i < 3; i++) {
        static const char *const labels[] = {"far", "near", "farther"};
        struct lab_strategy_result *added = add_count(result, labels[i], 150000, 10);
        set(added, "partitions.over_limit", over[i]);
        set(added, "partitions.over_limit_rows", over[i]);
        set(added, "partitions.over_limit_bytes", 0);
        set(added, "partitions.all.rows.max", i == 1 ? 150000 : 250000);
    }
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, SIZE_MAX);
    assert_string_equal(told.answer.headline,
                        "Use none of these 3 strategies; nearest is near (count with 150K "
                        "rows and numbers of a counter column).");
    assert_string_equal(line(&told, "nearest"), "near: 4 of 1,000 partitions (0.4%) are above 100,000 rows");
    assert_non_null(strstr(line(&told, "change"), "smaller partitions; "));
    assert_string_equal(line(&told, "not"),
                        "far: 120 of 1,000 partitions (12%) are above 100,000 rows; farther: "
                        "300 of 1,000 partitions (30%) are above 100,000 rows");
    assert_string_equal(told.answer.verdicts[1], "4 of 1,000 partitions (0.4%) are above 100,000 rows");
    finish(&told, result);
}

static void add_observed(struct lab_result *result, const char *label, uint64_t rows)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    struct lab_strategy_result *added = fixture_add(result, label, &strategy);
    fixture_put(added, true, rows, 4);
    fixture_metrics(result, added, 0, 0, 0);
    added->settings.observed = WL_OBSERVED_PARTITIONS;
}

static void test_observed_sizes_are_judged_one_by_one(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("seen", "synthetic");
    add_observed(result, "a", 500);
    add_observed(result, "b", 250000);
    add_observed(result, "c", 20);
    result->limits.partition_bytes = 0;
    struct told told;
    tell(result, &told);
    assert_string_equal(told.answer.headline, "b exceeds the limits; a, c stay within the limits.");
    assert_non_null(strstr(line(&told, "size"), "at most 250,000 rows"));
    assert_non_null(strstr(line(&told, "limits"), "b: 4 of 4 partitions (100%) are above 100,000 rows; "));
    assert_null(strstr(line(&told, "limits"), "seed"));
    report_arena_free(&told.arena);
    result->limits.partition_rows = 0;
    tell(result, &told);
    assert_string_equal(told.answer.headline,
                        "Set limits to have these sizes judged, such as limits: {partition_bytes: 100MB}.");
    finish(&told, result);
}

/* A strategy that loses rows or reads is no choice, however cheap it is, and says so. */
static void test_each_disqualifier_is_named_with_its_figure(void **state)
{
    (void)state;
    static const struct {
        const char *metric;
        double value;
        const char *text;
    } cases[] = {
        {"oracle.findable.violations", 3, "bad: readers miss rows"},
        {"writes.refused_unprovoked", 494000, "bad: 98.8% of the rows are refused"},
        {"reads.failed", 159, "bad: 159 of 235 reads fail"},
        {"writes.misrouted", 12, "bad: 12 rows are in a wrong bucket"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lab_result *result = fixture_result("chat", "synthetic");
        struct lab_strategy_result *bad = add_count(result, "bad", 500, 1);
        add_count(result, "good", 500, 10);
        set(bad, "reads.count", 235 - 159 * (i == 2));
        set(bad, "writes.refused", i == 1 ? cases[i].value : 0);
        set(bad, cases[i].metric, cases[i].value);
        struct told told;
        tell(result, &told);
        assert_int_equal(told.answer.chosen, 1);
        assert_string_equal(line(&told, "not"), cases[i].text);
        assert_string_equal(line(&told, "else"), "");
        assert_string_equal(told.answer.verdicts[0], cases[i].text + strlen("bad: "));
        finish(&told, result);
    }
}

static void test_many_disqualified_strategies_are_counted(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    static const char *const labels[] = {"a", "b", "c", "d", "e", "f"};
    add_count(result, "good", 500, 10)->settings.source = BK_SOURCE_EXTERNAL;
    for (size_t i = 0; i < 6; i++)
        set(add_count(result, labels[i], 500, 1), "oracle.findable.violations", 3);
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 0);
    assert_string_equal(line(&told, "needs"), "a gapless number in each row");
    assert_string_equal(line(&told, "not"),
                        "a: readers miss rows; b: readers miss rows; c: readers miss rows; "
                        "d: readers miss rows; and 2 more");
    finish(&told, result);
}

/* One statement: what is within the limits now, and why it is no choice. */
static void test_partitions_without_end_are_no_choice(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_hash(16, &strategy), BK_OK);
    struct lab_strategy_result *hash = fixture_add(result, NULL, &strategy);
    fixture_put(hash, true, 300, 10);
    fixture_metrics(result, hash, 0, 0, 0);
    set(hash, "partitions.growing", 1);
    set(hash, "horizon.days", 39.7);
    struct told told;
    tell(result, &told);
    assert_string_equal(told.answer.headline,
                        "Do not use hash with 16 buckets: its partitions never end, the first "
                        "exceeds a limit after 39.7 days.");
    assert_non_null(strstr(line(&told, "change"), "a strategy whose partitions end"));
    report_arena_free(&told.arena);
    set(hash, "horizon.days", 5.0 / 86400);
    tell(result, &told);
    assert_string_equal(told.answer.verdicts[0],
                        "its partitions never end, the first exceeds a limit after 5 s");
    finish(&told, result);
}

/* Sequence numbers in the rows are a requirement on the user, so that a strategy without them is chosen. */
static void test_needs_of_the_choice_and_of_the_alternatives_are_reported(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    add_count(result, "numbered", 500, 10)->settings.source = BK_SOURCE_EXTERNAL;
    add_count(result, "leased", 500, 25)->settings.source = BK_SOURCE_LEASE;
    struct told told;
    tell(result, &told);
    assert_int_equal(told.answer.chosen, 1);
    assert_string_equal(line(&told, "needs"), "conditional updates (LWT)");
    assert_string_equal(
        line(&told, "else"),
        "numbered (count with 500 rows): −15 inserts per 1000 rows, needs a gapless number in each row");
    finish(&told, result);
}

static void test_without_limits_cheapest_and_most_even_are_named(void **state)
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
    assert_string_equal(told.answer.headline,
                        "Set limits to get a recommendation, such as limits: {partition_bytes: 100MB}.");
    assert_string_equal(line(&told, "cheapest"),
                        "large (count with 2K rows and numbers of a counter column): 10 "
                        "extra operations per 1000 rows");
    assert_string_equal(line(&told, "most even"),
                        "small (count with 500 rows and numbers of a counter column): CV 0%");
    assert_non_null(strstr(line(&told, "smallest"),
                           "small (count with 500 rows and numbers of a counter column): "
                           "no partition has more than 500 rows"));
    report_arena_free(&told.arena);
    set(&result->strategies[0], "reads.failed", 1);
    set(&result->strategies[0], "reads.count", 2);
    tell(result, &told);
    assert_non_null(strstr(line(&told, "most even"), "large ("));
    assert_string_equal(line(&told, "not"), "small: 1 of 3 reads fail");
    finish(&told, result);
}

static void test_judgment_says_how_it_is_known(void **state)
{
    (void)state;
    const struct lab_limits limits = {.partition_rows = 1000, .partition_bytes = 2000000, .confidence = 0.95};
    static const struct {
        struct lab_judgment judgment;
        const char *text;
    } cases[] = {
        {{.within = LAB_NOT_JUDGED, .missing = "there are no partitions"},
         "not judged: there are no partitions"},
        {{.within = LAB_WITHIN,
          .by = LAB_BY_CERTAINTY,
          .partitions = 9,
          .share = 0,
          .share_most = (double)NAN},
         "none of 9 partitions is above 1,000 rows or 2\u202FMB"},
        {{.within = LAB_WITHIN, .by = LAB_BY_CERTAINTY, .partitions = 9, .share = 0, .share_most = 0},
         "no partition can be above 1,000 rows or 2\u202FMB, in any seed"},
        {{.within = LAB_WITHIN, .by = LAB_BY_DISTRIBUTION, .partitions = 9, .share = 0, .share_most = 2e-131},
         "none of 9 partitions is above 1,000 rows or 2\u202FMB; at these rates at most 1 in "
         "10^130, by its distribution"},
        {{.within = LAB_WITHIN, .by = LAB_BY_DISTRIBUTION, .partitions = 9, .share = 0, .share_most = 2e-307},
         "none of 9 partitions is above 1,000 rows or 2\u202FMB; at these rates less than 1 in "
         "10^300, by its distribution"},
        {{.within = LAB_WITHIN, .by = LAB_BY_DISTRIBUTION, .partitions = 9, .share = 0, .share_most = 3e-5},
         "none of 9 partitions is above 1,000 rows or 2\u202FMB; at these rates at most 1 in "
         "33,333, by its distribution"},
        {{.within = LAB_WITHIN, .by = LAB_BY_PERCENTILES, .share = 0, .share_most = 0.01},
         "at most 1% of the partitions in sstables are above 1,000 rows or 2\u202FMB"},
        {{.within = LAB_WITHIN, .by = LAB_BY_SAMPLE, .partitions = 9, .share = 0, .share_most = 0.34},
         "none of 9 partitions is above 1,000 rows or 2\u202FMB; in other seeds at most 34%, with 95% "
         "confidence"},
        {{.within = LAB_EXCEEDS,
          .by = LAB_BY_SAMPLE,
          .partitions = 8,
          .over = 1,
          .exceeded = 2,
          .share = 0.125},
         "1 of 8 partitions (12.5%) is above 2\u202FMB"},
        {{.within = LAB_EXCEEDS, .by = LAB_BY_DISTRIBUTION, .partitions = 1, .share = 0, .share_most = 0.5},
         "the only partition is not above 1,000 rows or 2\u202FMB, but a whole one is with a probability of "
         "50%, by its distribution"},
        {{.within = LAB_EXCEEDS, .by = LAB_BY_DISTRIBUTION, .expected = 2.49, .expected_days = 365},
         "2.49 partitions above 1,000 rows or 2\u202FMB are to be expected in 365 days"},
        {{.within = LAB_EXCEEDS, .by = LAB_BY_PERCENTILES, .exceeded = 2, .share = 0.02},
         "at least 2% of the partitions in sstables are above 2\u202FMB"},
        {{.within = LAB_EXCEEDS, .by = LAB_BY_PERCENTILES, .exceeded = 2, .share = 1},
         "all partitions in sstables are above 2\u202FMB"},
        {{.within = LAB_EXCEEDS, .by = LAB_BY_PERCENTILES, .exceeded = 2, .share = 0},
         "the largest partition is above 2\u202FMB"},
        {{.within = LAB_WITHIN, .by = LAB_BY_PERCENTILES, .share = 0, .share_most = 0},
         "no partition in an sstable is above 1,000 rows or 2\u202FMB"},
    };
    struct report_arena arena = {NULL};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(report_judged(&cases[i].judgment, &limits, &arena), cases[i].text);
    report_arena_free(&arena);
}

/* Where an unbucketed table is enough for a year, that is the answer, and the choice is for later. */
static void test_table_that_needs_no_buckets_yet_is_the_headline(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    set(add_count(result, "small", 500, 30), "horizon.unbucketed_days", 90 + 730);
    result->limits.partition_bytes = 0;
    set(&result->strategies[0], "keys.rows.max", 20000);
    struct told told;
    tell(result, &told);
    assert_string_equal(
        told.answer.headline,
        "You need no buckets yet: unbucketed is within the limits for 2 years more at this rate.");
    assert_string_equal(line(&told, "later"),
                        "when the largest partition without buckets has 50,000 rows, half the limit: small "
                        "(count with 500 rows and numbers of a counter column)");
    report_arena_free(&told.arena);
    set(&result->strategies[0], "horizon.unbucketed_days", 90 + 364);
    tell(result, &told);
    assert_string_equal(told.answer.headline,
                        "Use small (count with 500 rows and numbers of a counter column).");
    finish(&told, result);
}

static void test_rates_that_were_tried_are_the_margin(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("chat", "synthetic");
    add_count(result, "small", 500, 30);
    add_count(result, "large", 2000, 10);
    result->limits.partition_bytes = 0;
    struct report_option options[2];
    for (size_t i = 0; i < 2; i++) {
        report_option_of(result, i, &options[i]);
        options[i].holds_at = 10 - 9 * (double)i;
        options[i].fails_at = 20 - 18.5 * (double)i;
        options[i].seeds = 8;
    }
    const struct report_terms terms = {
        .limits = &result->limits, .prices = &result->prices, .horizon.days_left = (double)NAN};
    struct told told;
    told.arena = (struct report_arena){NULL};
    report_answer_of(options, 2, 0, &terms, &told.arena, &told.answer);
    assert_string_equal(
        line(&told, "margin"),
        "the largest partition of 8 seeds has 500 rows, 0.5% of the limit; with the first seed within the "
        "limits at 10 times this rate; exceeds them at 20 times this rate");
    assert_non_null(
        strstr(line(&told, "else"), ": −20 inserts per 1000 rows, exceeds a limit at 1.5 times this rate"));
    finish(&told, result);
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
        if (i == 0)
            set(added, "latency.lock.p99", 25);
        set(added, "oracle.unique.violations", i == 0 ? 7 : 0);
    }
    struct told told;
    tell(result, &told);
    assert_non_null(strstr(told.answer.asked, "ids tries 2 designs of identifiers for "));
    assert_string_equal(
        told.answer.headline,
        "Use sound: it hands out the most, 500 identifiers per second, and none of them twice.");
    assert_string_equal(line(&told, "wait"), "quick: 99% of its locks within 25 ms; sound: no lock");
    assert_string_equal(line(&told, "lost"), "quick: 20; sound: 20");
    assert_string_equal(line(&told, "not"), "quick: 7 identifiers given twice");
    report_arena_free(&told.arena);
    set(&result->strategies[1], "oracle.unique.violations", 1);
    tell(result, &told);
    assert_string_equal(told.answer.headline, "Use none of these: each gave identifiers twice, or none.");
    assert_non_null(strstr(line(&told, "not"), "sound: 1 identifier given twice"));
    finish(&told, result);
}

static void test_every_case_has_a_headline_and_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        struct lab_result *result = fixture_case(i);
        struct told told;
        tell(result, &told);
        const struct report_answer *answer = &told.answer;
        const char *const texts[] = {answer->asked, answer->headline};
        for (size_t j = 0; j < 2; j++) {
            const size_t length = strlen(texts[j]);
            assert_true(length > 10 && texts[j][length - 1] == '.');
            assert_null(strchr(texts[j], '\n'));
        }
        for (size_t j = 0; j < answer->line_count; j++)
            assert_true(answer->lines[j].text[0] != 0 && strchr(answer->lines[j].text, '\n') == NULL);
        assert_true(answer->chosen == SIZE_MAX || answer->scores[answer->chosen].candidate.is_eligible);
        finish(&told, result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheapest_is_recommended_and_the_next_is_an_alternative),
        cmocka_unit_test(test_alternative_within_the_tolerance_is_as_cheap),
        cmocka_unit_test(test_few_partitions_have_the_sizes_of_their_distribution),
        cmocka_unit_test(test_choice_of_tune_is_not_repeated),
        cmocka_unit_test(test_rows_that_were_replaced_or_refused_are_reported),
        cmocka_unit_test(test_limit_exceeded_slightly_is_exceeded),
        cmocka_unit_test(test_nearest_is_named_when_none_can_be_used),
        cmocka_unit_test(test_observed_sizes_are_judged_one_by_one),
        cmocka_unit_test(test_each_disqualifier_is_named_with_its_figure),
        cmocka_unit_test(test_many_disqualified_strategies_are_counted),
        cmocka_unit_test(test_partitions_without_end_are_no_choice),
        cmocka_unit_test(test_needs_of_the_choice_and_of_the_alternatives_are_reported),
        cmocka_unit_test(test_without_limits_cheapest_and_most_even_are_named),
        cmocka_unit_test(test_judgment_says_how_it_is_known),
        cmocka_unit_test(test_table_that_needs_no_buckets_yet_is_the_headline),
        cmocka_unit_test(test_rates_that_were_tried_are_the_margin),
        cmocka_unit_test(test_identifiers_are_judged_by_rate_and_uniqueness),
        cmocka_unit_test(test_every_case_has_a_headline_and_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
