/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The special cases, one function per kind of difficulty. */
#include "fixture.h"

#include <assert.h>

#include "kernel/time.h"

static struct bk_strategy probabilistic(uint32_t bits, uint64_t threshold)
{
    struct bk_strategy out;
    assert(bk_strategy_probabilistic(bits, threshold, &out) == BK_OK);
    return out;
}

static struct bk_strategy window(int64_t window_ns)
{
    struct bk_strategy out;
    assert(bk_strategy_time(window_ns, 0, &out) == BK_OK);
    return out;
}

static struct bk_strategy count(uint64_t rows)
{
    struct bk_strategy out;
    assert(bk_strategy_count(rows, &out) == BK_OK);
    return out;
}

static struct bk_strategy hash(uint32_t buckets)
{
    struct bk_strategy out;
    assert(bk_strategy_hash(buckets, &out) == BK_OK);
    return out;
}

static struct bk_strategy none(void)
{
    struct bk_strategy out;
    assert(bk_strategy_unbucketed(&out) == BK_OK);
    return out;
}

static void add_probabilistic(struct lab_result *result, const char *label, uint32_t bits, uint64_t threshold,
                              uint64_t closed, uint64_t open)
{
    struct bk_strategy strategy = probabilistic(bits, threshold);
    struct lab_strategy_result *out = fixture_add(result, label, &strategy);
    double p = 1 / (double)(UINT64_C(1) << bits);
    fixture_distribution(out, p, threshold, closed);
    if (open > 0) {
        fixture_spread(out, true, 1, (double)threshold / p, open);
    }
    fixture_metrics(result, out, 1000 * p, 1.2, 3);
    fixture_spend(out, LAB_LATENCY_WRITE, 2e6 + 1e5 * bits, 1000);
    fixture_spend(out, LAB_LATENCY_READ, 3e6, 300);
}

static void add_five(struct lab_result *result)
{
    struct bk_strategy strategy = none();
    struct lab_strategy_result *out = fixture_add(result, NULL, &strategy);
    fixture_spread(out, true, 30, 9e6, 10000);
    fixture_metrics(result, out, 0, 1, 1);
    strategy = window(10 * SIM_DAY);
    out = fixture_add(result, NULL, &strategy);
    fixture_spread(out, false, 1, 1e6, 80000);
    fixture_spread(out, true, 1, 8e5, 10000);
    fixture_metrics(result, out, 0, 2.3, 9);
    strategy = count(20480);
    out = fixture_add(result, NULL, &strategy);
    fixture_put(out, false, 20480, 70936);
    fixture_spread(out, true, 1, 20480, 10000);
    fixture_metrics(result, out, 1000, 1.01, 2);
    add_probabilistic(result, NULL, 9, 40, 70800, 6000);
    fixture_views(result, &result->strategies[result->strategy_count - 1],
                  &(struct fixture_change){.agents = 3,
                                           .lead_ns = 6 * SIM_SECOND,
                                           .ttl_ns = 9 * SIM_SECOND,
                                           .look_ns = 100 * SIM_MS,
                                           .before_ns = 5 * SIM_SECOND,
                                           .after_ns = 5 * SIM_SECOND});
    strategy = hash(256);
    out = fixture_add(result, NULL, &strategy);
    fixture_spread(out, true, 1, 4e4, 60000);
    fixture_metrics(result, out, 0, 256, 256);
}

struct lab_result *fixture_five(void)
{
    struct lab_result *result = fixture_result("chat-channels", "synthetic");
    add_five(result);
    return result;
}

/* n strategies of all kinds, with distinct labels. */
static struct lab_result *many(const char *name, size_t n)
{
    struct lab_result *result = fixture_result(name, "synthetic");
    for (size_t i = 0; i < n; i++) {
        char label[32];
        snprintf(label, sizeof label, "setting %zu", i + 1);
        add_probabilistic(result, label, (uint32_t)(4 + i % 9), 5 + 7 * (i % 11), 400, i % 3 == 0 ? 12 : 60);
    }
    return result;
}

static struct lab_result *long_labels(void)
{
    struct lab_result *result = fixture_result(
        "a-scenario-with-a-long-name-that-somebody-wrote-to-say-everything-about-it-at-once-and-more",
        "/home/somebody/nab_tweets_events_of_a_whole_long_year_with_a_long_name_for_a_file.csv.gz");
    add_probabilistic(result, "probabilistic with nine bits, threshold forty, for chat channels", 9, 40, 5000,
                      400);
    add_probabilistic(result, "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", 9, 40, 5000,
                      700);
    add_probabilistic(result, "вероятностная, девять бит, порог 40", 8, 80, 50, 7);
    add_probabilistic(result, "<b>&amp;</b> <i> & \"quotes\" %s %n </span>", 10, 20, 2000, 100);
    add_probabilistic(result, "日本語のラベル 😀 مرحبا", 7, 40, 2000, 100);
    add_probabilistic(result, "bad \xff\xfe utf8 \n newline \t tab", 7, 40, 2000, 100);
    struct bk_strategy strategy;
    assert(bk_strategy_probabilistic_chance(1, 300, UINT64_C(12345678901234), &strategy) == BK_OK);
    struct lab_strategy_result *out =
        fixture_add(result, "chance, with a label that leaves no room for its settings on one", &strategy);
    fixture_put(out, true, 70000, 1);
    fixture_metrics(result, out, 3.333333333, 1e6, 2e6);
    return result;
}

static struct lab_result *one_partition(bool is_open, uint64_t rows, const char *name)
{
    struct lab_result *result = fixture_result(name, "synthetic");
    result->rows = rows;
    result->keys = 1;
    struct bk_strategy strategy = none();
    struct lab_strategy_result *out = fixture_add(result, NULL, &strategy);
    fixture_put(out, is_open, rows, 1);
    fixture_metrics(result, out, 0, 0, 0);
    return result;
}

static struct lab_result *wide(void)
{
    struct lab_result *result = fixture_result("sizes-from-1-to-10-12", "synthetic");
    struct bk_strategy strategy = window(SIM_HOUR);
    struct lab_strategy_result *out = fixture_add(result, NULL, &strategy);
    fixture_spread(out, false, 1, 1e12, 5000);
    fixture_metrics(result, out, 0, 12, 2000);
    strategy = none();
    out = fixture_add(result, NULL, &strategy);
    fixture_spread(out, true, 1e6, 1e12, 10);
    fixture_metrics(result, out, 0, 1, 1);
    return result;
}

/* The narrowest distribution (every row fires), and a small one whose bins hold one size each. */
static struct lab_result *narrow_distributions(void)
{
    struct lab_result *result = fixture_result("narrow-distributions", "synthetic");
    add_probabilistic(result, "every row", 0, 40, 1000, 10);
    add_probabilistic(result, "threshold 1", 3, 1, 4000, 10);
    add_probabilistic(result, "small", 1, 4, 4000, 10);
    return result;
}

static struct lab_result *few_closed(void)
{
    struct lab_result *result = fixture_result("few-closed", "nab_tweets_events.csv");
    add_probabilistic(result, "some", 9, 40, 12, 800);
    add_probabilistic(result, "none", 9, 40, 0, 800);
    add_probabilistic(result, "cut", 9, 40, 400, 390);
    struct bk_strategy strategy = probabilistic(9, 40);
    fixture_metrics(result, fixture_add(result, "empty", &strategy), 0, 0, 0);
    return result;
}

static struct lab_result *without_limits(void)
{
    struct lab_result *result = fixture_result("without-limits", "synthetic");
    result->limits = (struct lab_limits){0};
    add_five(result);
    return result;
}

static struct lab_result *far_limit(void)
{
    struct lab_result *result = fixture_result("limit-far-away", "synthetic");
    result->limits = (struct lab_limits){
        .partition_rows = UINT64_C(2000000000), .partition_bytes = UINT64_C(1234567890123), .tiny_rows = 24};
    add_probabilistic(result, NULL, 3, 20, 3000, 30);
    return result;
}

/* Only histograms: all figures and the costs are absent. */
static struct lab_result *without_metrics(void)
{
    struct lab_result *result = fixture_result("without-metrics", "synthetic");
    struct bk_strategy strategy = window(SIM_DAY);
    fixture_spread(fixture_add(result, NULL, &strategy), false, 1, 200, 300);
    return result;
}

static struct lab_result *huge_limit(void)
{
    struct lab_result *result = fixture_result("all-over-the-limit", "synthetic");
    result->limits = (struct lab_limits){.partition_rows = 10, .partition_bytes = 1000, .tiny_rows = 5};
    struct bk_strategy strategy = none();
    struct lab_strategy_result *out = fixture_add(result, NULL, &strategy);
    fixture_spread(out, true, 5e6, 9e6, 100);
    fixture_metrics(result, out, 0, 0, 0);
    return result;
}

/* Labels of two letters, of one letter, and with the name of another kind; and nine lines so close together
 * that few labels fit. */
static struct lab_result *short_labels(void)
{
    static const char *const labels[] = {"ab", "q", "count", "none", "hash", "Щы", "日本", "x1", "x2"};
    struct lab_result *result = fixture_result("short-labels", "synthetic");
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        add_probabilistic(result, labels[i], 6, 100 + 3 * i, 5000, 10);
    }
    return result;
}

/* Each strategy `count` has partitions of a single size: their CV is 0, and lines coincide. */
static struct lab_result *one_size_each(void)
{
    struct lab_result *result = fixture_result("one-size-each", "synthetic");
    const uint64_t sizes[] = {20480, 20480, 20481, 1, 1000000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char label[32];
        snprintf(label, sizeof label, "all have %u", (unsigned)sizes[i]);
        struct bk_strategy strategy = count(sizes[i]);
        struct lab_strategy_result *out = fixture_add(result, label, &strategy);
        fixture_put(out, false, sizes[i], 7000);
        fixture_metrics(result, out, 1000, 1, 1);
    }
    return result;
}

/* Up to 10^15 bytes and a billion partitions, and limits that are not round numbers. */
static struct lab_result *petabytes(void)
{
    struct lab_result *result = fixture_result("petabytes", "synthetic");
    result->limits = (struct lab_limits){
        .partition_rows = 1234567891, .partition_bytes = UINT64_C(999999999999), .tiny_rows = 5000};
    struct bk_strategy strategy = window(SIM_HOUR);
    struct lab_strategy_result *out = fixture_add(result, "large and many", &strategy);
    fixture_spread(out, false, 1e3, 2857142857142, 4000);
    fixture_put(out, false, 2000, 1000000000);
    fixture_metrics(result, out, 0.000012345, 1000000, 1e9);
    strategy = hash(4096);
    out = fixture_add(result, "hash", &strategy);
    fixture_put(out, true, 2857142857142, 3);
    fixture_metrics(result, out, 0, 4096, 4096);
    return result;
}

/* The reads queried no partitions, and the only writes are rows. */
static struct lab_result *nothing_read(void)
{
    struct lab_result *result = fixture_result("nothing-read", "synthetic");
    for (size_t i = 0; i < 2; i++) {
        struct bk_strategy strategy = i == 0 ? none() : window(SIM_DAY);
        struct lab_strategy_result *out = fixture_add(result, NULL, &strategy);
        fixture_spread(out, i == 0, 1, 5, 4);
        fixture_metrics(result, out, 0, 0, 0);
        assert(lab_metrics_add(&out->metrics, "reads.count", 0));
        assert(lab_metrics_add(&out->metrics, "reads.partitions_per_read.mean", 0));
        assert(lab_metrics_add(&out->metrics, "reads.partitions_per_read.p99", 0));
    }
    return result;
}

struct lab_result *fixture_case(size_t index)
{
    switch (index) {
    case 0:
        return fixture_five();
    case 1:
        return many("one-strategy", 1);
    case 2:
        return many("nine-strategies", 9);
    case 3:
        return many("sixty-four-strategies", 64);
    case 4:
        return long_labels();
    case 5:
        return one_partition(true, 1, "one-partition-of-one-row");
    case 6:
        return one_partition(false, 123456, "one-partition");
    case 7:
        return fixture_result("no-strategies", "synthetic");
    case 8:
        return wide();
    case 9:
        return narrow_distributions();
    case 10:
        return few_closed();
    case 11:
        return without_limits();
    case 12:
        return far_limit();
    case 13:
        return without_metrics();
    case 14:
        return huge_limit();
    case 15:
        return many("two-strategies", 2);
    case 16:
        return many("three-strategies", 3);
    case 17:
        return short_labels();
    case 18:
        return one_size_each();
    case 19:
        return petabytes();
    case 20:
        return nothing_read();
    default:
        return fixture_views_case(index - 21);
    }
}
