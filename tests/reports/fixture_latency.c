/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made results with latencies. */
#include "fixture.h"

#include <assert.h>

#include "kernel/number.h"

static double percentile(const struct lab_histogram *histogram, uint64_t per_mille)
{
    size_t count, i = 0;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    assert(bins != NULL);
    uint64_t seen = 0;
    while ((seen += bins[i].count) * 1000 < per_mille * histogram->count) {
        i++;
    }
    double size = (double)bins[i].size;
    free(bins);
    return size;
}

void fixture_spend_each(struct lab_strategy_result *strategy, enum lab_latency latency, uint64_t ns,
                        uint64_t count)
{
    lab_histogram_add(&strategy->latency[latency], ns, count, 1);
}

void fixture_spent(struct lab_strategy_result *strategy, enum lab_latency latency)
{
    static const struct {
        const char *name;
        uint64_t per_mille;
    } quantiles[] = {{"p50", 500}, {"p99", 990}, {"p999", 999}};
    struct lab_histogram all = strategy->latency[latency];
    for (size_t i = 0; i < 3; i++) {
        char name[LAB_METRIC_NAME_SIZE];
        snprintf(name, sizeof name, "%s.%s", lab_latency_name(latency), quantiles[i].name);
        assert(lab_metrics_add(&strategy->metrics, name, percentile(&all, quantiles[i].per_mille) / 1e6));
    }
    assert(lab_histogram_coarse(&all, LAB_LATENCY_BITS, &strategy->latency[latency]));
    lab_histogram_clear(&all);
    strategy->events.stride = 1;
}

void fixture_spend(struct lab_strategy_result *strategy, enum lab_latency latency, double median_ns,
                   uint64_t count)
{
    static const double growth = 0.4;
    for (uint64_t i = 0; i < count; i++) {
        double left = ((double)(count - i) - 0.5) / (double)count;
        fixture_spend_each(strategy, latency, (uint64_t)(median_ns * sim_exp(-growth * sim_log(2 * left))),
                           1);
    }
    fixture_spent(strategy, latency);
}

static struct lab_strategy_result *add(struct lab_result *result, const char *label)
{
    struct bk_strategy strategy;
    assert(bk_strategy_probabilistic(5, 20, &strategy) == BK_OK);
    return fixture_add(result, label, &strategy);
}

static struct lab_result *one_write(void)
{
    struct lab_result *result = fixture_result("one-write", "synthetic");
    struct lab_strategy_result *out = add(result, NULL);
    fixture_spend_each(out, LAB_LATENCY_WRITE, 1234567, 1);
    fixture_spent(out, LAB_LATENCY_WRITE);
    return result;
}

/* A case with a linear axis. */
static struct lab_result *all_alike(void)
{
    struct lab_result *result = fixture_result("all-alike", "synthetic");
    struct lab_strategy_result *out = add(result, "forty");
    fixture_spend_each(out, LAB_LATENCY_WRITE, 40000000, 1000);
    fixture_spent(out, LAB_LATENCY_WRITE);
    out = add(result, "forty to sixty");
    for (uint64_t i = 0; i <= 20; i++) {
        fixture_spend_each(out, LAB_LATENCY_WRITE, (40 + i) * 1000000, i < 20 ? 50 : 1);
    }
    fixture_spent(out, LAB_LATENCY_WRITE);
    return result;
}

static struct lab_result *no_time(void)
{
    struct lab_result *result = fixture_result("no-time", "synthetic");
    struct lab_strategy_result *out = add(result, "nothing takes time");
    fixture_spend_each(out, LAB_LATENCY_WRITE, 0, 500);
    fixture_spent(out, LAB_LATENCY_WRITE);
    fixture_spend_each(out, LAB_LATENCY_READ, 0, 90);
    fixture_spend_each(out, LAB_LATENCY_READ, 20000000, 10);
    fixture_spent(out, LAB_LATENCY_READ);
    return result;
}

static struct lab_result *wide(void)
{
    struct lab_result *result = fixture_result("latency-of-1-ns-to-10-9-s", "synthetic");
    struct lab_strategy_result *out = add(result, "от наносекунды до многих лет");
    for (uint64_t i = 1; i < UINT64_C(1000000000000000000); i *= 3) {
        fixture_spend_each(out, LAB_LATENCY_WRITE, i, UINT64_C(1000000000000000000) / i);
    }
    fixture_spent(out, LAB_LATENCY_WRITE);
    out = add(result, "a few");
    fixture_spend(out, LAB_LATENCY_WRITE, 1e6, 20);
    fixture_spend(out, LAB_LATENCY_READ, 1e6, 3);
    return result;
}

/* Each operation has a different count, so that lines end early. */
static struct lab_result *many(const char *name, size_t count)
{
    struct lab_result *result = fixture_result(name, "synthetic");
    for (size_t i = 0; i < count; i++) {
        char label[32];
        snprintf(label, sizeof label, "setting %zu", i + 1);
        struct lab_strategy_result *out = add(result, label);
        double median = 1e6 * (1 + (double)(i % 4));
        fixture_spend(out, LAB_LATENCY_WRITE, median, 20000);
        fixture_spend(out, LAB_LATENCY_READ, 3 * median, 2000 + 10 * i);
        if (i % 2 == 0) {
            fixture_spend(out, LAB_LATENCY_COUNTER, median, 600);
        }
        if (i % 3 == 0) {
            fixture_spend(out, LAB_LATENCY_LWT, 4 * median, i == 0 ? 9000 : 40);
        }
    }
    return result;
}

static struct lab_result *failed(void)
{
    struct lab_result *result = fixture_result("latency-with-failures", "synthetic");
    struct lab_strategy_result *out = add(result, "single");
    fixture_spend(out, LAB_LATENCY_WRITE, 2e6, 5000);
    assert(lab_metrics_add(&out->metrics, "writes.unresolved", 21));
    out =
        add(result, "a label too long for its place beside the line, which therefore goes to the key above");
    fixture_spend(out, LAB_LATENCY_WRITE, 3e6, 5000);
    fixture_spend(out, LAB_LATENCY_READ, 3e6, 700);
    assert(lab_metrics_add(&out->metrics, "writes.unresolved", 1234));
    assert(lab_metrics_add(&out->metrics, "reads.failed", 5));
    /* No operation was answered. */
    out = add(result, "lost");
    assert(lab_metrics_add(&out->metrics, "writes.unresolved", 5021));
    return result;
}

static struct lab_result *locks(void)
{
    struct lab_result *result = fixture_result("latency-of-locks", "synthetic");
    for (size_t i = 0; i < 2; i++) {
        struct lab_strategy_result *out = add(result, i == 0 ? "constant" : "random");
        out->settings.is_idgen = true;
        fixture_spend(out, LAB_LATENCY_LOCK, i == 0 ? 9e6 : 4e6, 800);
        fixture_spend(out, LAB_LATENCY_LEASE, i == 0 ? 12e6 : 7e6, 790);
    }
    return result;
}

struct lab_result *fixture_latency_case(size_t index)
{
    switch (index) {
    case 0:
        return one_write();
    case 1:
        return all_alike();
    case 2:
        return no_time();
    case 3:
        return wide();
    case 4:
        return many("latency-of-nine", 9);
    case 5:
        return many("latency-of-twelve", 12);
    case 6:
        return failed();
    default:
        return locks();
    }
}
