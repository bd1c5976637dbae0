/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares observed with predicted sizes (Kolmogorov distance with the bound of Dvoretzky, Kiefer, Wolfowitz
 * and Massart; Clopper-Pearson intervals for the share over a limit). */
#include "lab/drift.h"

#include <math.h>
#include <stdlib.h>

#include "cassandra/estimated_histogram.h"
#include "lab/judgment.h"

/* The sorted sizes of all partitions, closed and open. */
struct sizes {
    struct lab_bin *bins;
    size_t count;
    uint64_t total;
};

static bool sizes_of(const struct lab_strategy_result *strategy, enum lab_size_unit unit, struct sizes *out)
{
    struct lab_histogram all;
    lab_histogram_init(&all);
    lab_histogram_merge(&all, unit == LAB_IN_ROWS ? &strategy->closed_rows : &strategy->closed_bytes);
    lab_histogram_merge(&all, unit == LAB_IN_ROWS ? &strategy->open_rows : &strategy->open_bytes);
    out->bins = all.out_of_memory ? NULL : lab_histogram_sorted(&all, &out->count);
    out->total = all.count;
    lab_histogram_clear(&all);
    return out->bins != NULL;
}

/* Computes the share of the sizes that are at most `size`, or below it. `size` must ascend from call to
 * call. */
struct cursor {
    const struct sizes *sizes;
    size_t at;
    uint64_t below;
};

static double share_to(struct cursor *cursor, double size, bool includes)
{
    const struct sizes *sizes = cursor->sizes;
    for (; cursor->at < sizes->count; cursor->at++) {
        double here = (double)sizes->bins[cursor->at].size;
        if (includes ? here > size : here >= size)
            break;
        cursor->below += sizes->bins[cursor->at].count;
    }
    return (double)cursor->below / (double)sizes->total;
}

static void keep_largest(double distance, uint64_t size, double observed, double predicted,
                         struct lab_drift *out)
{
    if (distance <= out->distance)
        return;
    out->distance = distance;
    out->size = size;
    out->observed = observed;
    out->predicted = predicted;
}

/* Finds the largest distance. For an observed size s with cumulative share F there are two candidates: F
 * minus the predicted share of sizes up to s plus tolerance, if that share is too small; and the predicted
 * share of sizes below s minus tolerance, minus the observed share below s, if it is too large. If s is a
 * percentile, it is the upper end of a bucket of the histogram, and the observed share below that bucket is
 * only known to be less than F. */
static void measure(const struct sizes *observed, const struct sizes *predicted, bool is_percentiles,
                    double tolerance, struct lab_drift *out)
{
    struct cursor up = {.sizes = predicted}, down = {.sizes = predicted};
    uint64_t below = 0;
    for (size_t i = 0; i < observed->count; i++) {
        uint64_t size = observed->bins[i].size, to = below + observed->bins[i].count;
        double share = (double)to / (double)observed->total;
        double expected = share_to(&up, (double)size * (1 + tolerance), true);
        keep_largest(share - expected, size, share, expected, out);
        uint64_t from = is_percentiles ? cass_histogram_above(size) : size;
        share = is_percentiles ? share : (double)below / (double)observed->total;
        expected = share_to(&down, (double)from / (1 + tolerance), is_percentiles);
        keep_largest(expected - share, from, share, expected, out);
        below = to;
    }
}

static double bound(uint64_t count, double chance)
{
    return sqrt(log(2 / chance) / (2 * (double)count));
}

static uint64_t above(const struct sizes *sizes, double limit)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sizes->count; i++)
        count += (double)sizes->bins[i].size > limit ? sizes->bins[i].count : 0;
    return count;
}

static void judge(const struct lab_drift_question *question, const struct sizes *observed,
                  const struct sizes *predicted, struct lab_drift *out)
{
    bool is_percentiles = question->observed->settings.observed == WL_OBSERVED_PERCENTILES;
    double look = (double)question->look, chance = question->false_alarm / (look * (look + 1));
    out->has_limit = question->limit > 0 && !is_percentiles;
    /* The error budget is divided among all bounds that may fail: two for distributions, two for shares. */
    chance /= out->has_limit ? 4 : 2;
    out->observed_count = is_percentiles ? question->partitions : observed->total;
    out->predicted_count = predicted->total;
    measure(observed, predicted, is_percentiles, question->tolerance, out);
    out->allowed = bound(out->observed_count, chance) + bound(out->predicted_count, chance);
    if (is_percentiles) /* Cassandra rounds the rank of a percentile to a whole partition. */
        out->allowed += 1 / (double)out->observed_count;
    out->is_far = out->distance > out->allowed;
    if (!out->has_limit)
        return;
    uint64_t over = above(observed, (double)question->limit * (1 + question->tolerance));
    uint64_t expected = above(predicted, (double)question->limit);
    out->over = (double)over / (double)observed->total;
    out->over_least = lab_share_least(over, observed->total, 1 - chance);
    out->over_most = lab_share_most(expected, predicted->total, 1 - chance);
    out->is_over = out->over_least > out->over_most;
}

bool lab_drift_judge(const struct lab_drift_question *question, struct lab_drift *out)
{
    struct sizes observed = {0}, predicted = {0};
    *out = (struct lab_drift){0};
    bool is_fine = sizes_of(question->observed, question->unit, &observed) &&
                   sizes_of(question->predicted, question->unit, &predicted);
    if (is_fine)
        judge(question, &observed, &predicted, out);
    free(observed.bins);
    free(predicted.bins);
    return is_fine;
}

bool lab_drift_metrics(const struct lab_drift *drift, int64_t run, uint64_t look, struct lab_metrics *out)
{
    bool ok = lab_metrics_add(out, "drift.run", (double)run) &&
              lab_metrics_add(out, "drift.look", (double)look) &&
              lab_metrics_add(out, "drift.distance", drift->distance) &&
              lab_metrics_add(out, "drift.allowed", drift->allowed);
    return ok && (!drift->has_limit || (lab_metrics_add(out, "drift.over_least", drift->over_least) &&
                                        lab_metrics_add(out, "drift.over_most", drift->over_most)));
}
