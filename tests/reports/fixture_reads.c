/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made results with reads. */
#include "fixture.h"

#include <assert.h>

#include "kernel/time.h"

static uint64_t percentile(const struct lab_histogram *histogram, double share)
{
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    assert(bins != NULL);
    uint64_t seen = 0, size = 0;
    for (size_t i = 0; i < count && (double)seen < share * (double)histogram->count; i++) {
        seen += bins[i].count;
        size = bins[i].size;
    }
    free(bins);
    return size;
}

static void add(struct lab_strategy_result *strategy, const char *name, double value)
{
    assert(lab_metrics_add(&strategy->metrics, name, value));
}

void fixture_read(struct lab_strategy_result *strategy, uint64_t partitions, uint64_t count)
{
    lab_histogram_add(&strategy->read_partitions, partitions, count, 1);
}

void fixture_read_metrics(struct lab_strategy_result *strategy, double empties)
{
    const struct lab_histogram *reads = &strategy->read_partitions;
    add(strategy, "reads.count", (double)reads->count);
    if (reads->count > 0) {
        add(strategy, "reads.partitions_per_read.mean", (double)reads->sum / (double)reads->count);
        add(strategy, "reads.partitions_per_read.p99", (double)percentile(reads, 0.99));
        add(strategy, "reads.partitions_per_read.max", (double)reads->most);
        add(strategy, "reads.empty_partitions_per_read", empties);
    }
}

static struct lab_strategy_result *add_window(struct lab_result *result, const char *label)
{
    struct bk_strategy strategy;
    assert(bk_strategy_time(SIM_DAY, 0, &strategy) == BK_OK);
    return fixture_add(result, label, &strategy);
}

static struct lab_strategy_result *add_hash(struct lab_result *result, const char *label, uint32_t buckets)
{
    struct bk_strategy strategy;
    assert(bk_strategy_hash(buckets, &strategy) == BK_OK);
    return fixture_add(result, label, &strategy);
}

static struct lab_result *one_read(void)
{
    struct lab_result *result = fixture_result("one-read", "synthetic");
    struct lab_strategy_result *out = add_window(result, NULL);
    fixture_read(out, 1, 1);
    fixture_read_metrics(out, 0);
    return result;
}

/* A case with a linear axis and every problem that reads can have. */
static struct lab_result *alarms(void)
{
    struct lab_result *result = fixture_result("reads-with-alarms", "synthetic");
    struct lab_strategy_result *out = add_hash(result, NULL, 12);
    for (uint64_t i = 1; i <= 12; i++) {
        fixture_read(out, i, 600 / i);
    }
    fixture_read_metrics(out, 0.4);
    add(out, "reads.failed", 3);
    add(out, "reads.incomplete", 17);
    add(out, "reads.out_of_order", 1405);
    add(out, "reads.cut_off", 50);
    out = add_window(result, NULL);
    fixture_read(out, 0, 40);
    fixture_read(out, 2, 1800);
    fixture_read_metrics(out, 0);
    add(out, "reads.incomplete", 0);
    add(out, "reads.cut_off", 0);
    return result;
}

/* From 0 to 10^9, where the histogram rounds its values. */
static struct lab_result *wide_reads(void)
{
    struct lab_result *result = fixture_result("reads-of-0-to-10-9", "synthetic");
    struct lab_strategy_result *out = add_window(result, "окна по одному дню");
    fixture_read(out, 0, 20);
    for (uint64_t i = 1; i <= UINT64_C(1000000000); i = i * 3 / 2 + 1) {
        fixture_read(out, i, 100);
    }
    out->read_partitions.is_rounded = true;
    fixture_read(out, 999999999, 500);
    fixture_read_metrics(out, 7);
    out = add_hash(result, "256 buckets, and a label that says so at some length for want of a better one",
                   256);
    fixture_read(out, 256, 3900);
    fixture_read_metrics(out, 200);
    add_window(result, "without reads");
    return result;
}

static struct lab_result *nine(void)
{
    struct lab_result *result = fixture_result("reads-of-nine", "synthetic");
    for (uint32_t i = 0; i < 9; i++) {
        struct lab_strategy_result *out = add_hash(result, NULL, 100);
        for (uint64_t k = 1; k <= 100; k += 1 + i) {
            fixture_read(out, k, 1 + 5000 / (k * k));
        }
        fixture_read_metrics(out, 0.001);
    }
    return result;
}

/* One value too many for a linear axis. */
static struct lab_result *just_log(void)
{
    struct lab_result *result = fixture_result("reads-of-101", "synthetic");
    struct lab_strategy_result *out = add_hash(result, NULL, 101);
    for (uint64_t k = 1; k <= 101; k++) {
        fixture_read(out, k, k == 101 ? 900 : 10);
    }
    fixture_read_metrics(out, 10);
    return result;
}

/* The scenario has reads, but none was answered. */
static struct lab_result *unanswered(void)
{
    struct lab_result *result = fixture_result("reads-unanswered", "synthetic");
    fixture_read_metrics(add_window(result, NULL), 0);
    return result;
}

struct lab_result *fixture_reads_case(size_t index)
{
    struct lab_result *(*const cases[FIXTURE_READS_COUNT])(void) = {one_read, alarms,   wide_reads,
                                                                    nine,     just_log, unanswered};
    return cases[index]();
}
