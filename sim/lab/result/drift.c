/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares observed with predicted sizes (Kolmogorov distance with the bound of Dvoretzky, Kiefer, Wolfowitz
 * and Massart; a Pareto tail by Hill's estimator for the largest; Clopper-Pearson intervals for the share
 * over a limit). */
#include "lab/drift.h"

#include <math.h>
#include <stdlib.h>

#include "lab/judgment.h"
#include "lab/known.h"

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

/* What was observed: all sizes, or the points of tablehistograms. */
struct seen {
    struct sizes sizes;
    struct lab_known_step steps[WL_OBSERVED_POINTS];
    bool is_percentiles;
    uint64_t total;
};

/* Finds the largest distance. For an observed size s with cumulative share F there are two candidates: F
 * minus the predicted share of sizes up to s plus tolerance, if that share is too small; and the predicted
 * share of sizes below s minus tolerance, minus the observed share below s, if it is too large. */
static void measure(const struct sizes *observed, const struct sizes *predicted, double tolerance,
                    struct lab_drift *out)
{
    struct cursor up = {.sizes = predicted}, down = {.sizes = predicted};
    uint64_t below = 0;
    for (size_t i = 0; i < observed->count; i++) {
        uint64_t size = observed->bins[i].size, to = below + observed->bins[i].count;
        double share = (double)to / (double)observed->total;
        double expected = share_to(&up, (double)size * (1 + tolerance), true);
        keep_largest(share - expected, size, share, expected, out);
        share = (double)below / (double)observed->total;
        expected = share_to(&down, (double)size / (1 + tolerance), false);
        keep_largest(expected - share, size, share, expected, out);
        below = to;
    }
}

/* The same for percentiles, which bound the share up to the end of a bucket from below, and the share up to
 * its lower end from above. Of equal percentiles the largest says most of the one, and the smallest of the
 * other. */
static void measure_steps(const struct lab_known_step *steps, const struct sizes *predicted, double tolerance,
                          struct lab_drift *out)
{
    struct cursor up = {.sizes = predicted}, down = {.sizes = predicted};
    for (size_t i = 0; i < WL_OBSERVED_POINTS; i++) {
        double expected = share_to(&up, (double)steps[i].size * (1 + tolerance), true);
        keep_largest(steps[i].share - expected, steps[i].size, steps[i].share, expected, out);
        double most = 1 - steps[i].share_above;
        expected = share_to(&down, (double)steps[i].above / (1 + tolerance), true);
        keep_largest(expected - most, steps[i].above, most, expected, out);
    }
}

static double bound(uint64_t count, double chance)
{
    return sqrt(log(2 / chance) / (2 * (double)count));
}

/* The i-th statement about the largest observed partitions: *count of them have at least *size. For sizes,
 * *count is that of the statement before. */
static bool next_largest(const struct seen *seen, size_t i, uint64_t *size, uint64_t *count)
{
    if (i >= (seen->is_percentiles ? WL_OBSERVED_POINTS : seen->sizes.count))
        return false;
    if (!seen->is_percentiles) {
        const struct lab_bin *bin = &seen->sizes.bins[seen->sizes.count - 1 - i];
        *size = bin->size;
        *count += bin->count;
        return true;
    }
    const struct lab_known_step *step = &seen->steps[WL_OBSERVED_POINTS - 1 - i];
    const double least = floor(step->share_above * (double)seen->total);
    *size = step->above + 1;
    *count = least < 1 ? 1 : (uint64_t)least;
    return true;
}

/* At least this many observed partitions are larger than `size`. */
static uint64_t count_above(const struct seen *seen, double size)
{
    uint64_t at, count = 0, found = 0;
    for (size_t i = 0; next_largest(seen, i, &at, &count) && (double)at > size; i++)
        found = count;
    return found;
}

static uint64_t above(const struct sizes *sizes, double limit)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sizes->count; i++)
        count += (double)sizes->bins[i].size > limit ? sizes->bins[i].count : 0;
    return count;
}

/* Judges the largest partitions by themselves; lab/drift.h has the formula. A size is a whole number, so it
 * stands for all up to the next one. */
static void judge_largest(const struct seen *seen, const struct sizes *predicted, double tolerance,
                          double chance, struct lab_drift *out)
{
    const double from = floor(sqrt((double)predicted->total)), total = (double)predicted->total;
    double threshold = 0, logs = 0, choices = 0, taken = 0;
    size_t bin = predicted->count;
    for (double left = from + 1; left > 0 && bin > 0; left -= (double)predicted->bins[bin].count)
        threshold = (double)predicted->bins[--bin].size;
    for (bin = predicted->count; bin > 0 && taken < from; bin--) {
        const double all = (double)predicted->bins[bin - 1].count, left = from - taken;
        const double count = all < left ? all : left;
        logs += count * log(((double)predicted->bins[bin - 1].size + 1) / threshold);
        taken += count;
    }
    out->largest_predicted = predicted->bins[predicted->count - 1].size;
    uint64_t size, count = 0, number = 0;
    for (size_t i = 0; total > from && next_largest(seen, i, &size, &count) && count <= LAB_DRIFT_LARGEST;
         i++) {
        const double excess = log((double)size / (1 + tolerance) / threshold);
        for (; number < count; number++)
            choices += log((double)(seen->total - number) / (double)(number + 1) *
                           (from + 1 + (double)number) / (total + 1 + (double)number));
        const double each = (double)number * (double)(number + 1);
        if (excess > 0 && choices - from * log1p((double)number * excess / logs) <= log(chance / each)) {
            out->beyond = number;
            out->beyond_size = size;
        }
    }
}

static void judge(const struct lab_drift_question *question, const struct seen *seen,
                  const struct sizes *predicted, struct lab_drift *out)
{
    double look = (double)question->look, chance = question->false_alarm / (look * (look + 1));
    out->has_limit = question->limit > 0;
    /* The error budget is divided among all bounds that may fail: two for distributions, one for the largest,
     * two for shares. */
    chance /= out->has_limit ? 5 : 3;
    out->observed_count = seen->total;
    out->predicted_count = predicted->total;
    if (seen->is_percentiles)
        measure_steps(seen->steps, predicted, question->tolerance, out);
    else
        measure(&seen->sizes, predicted, question->tolerance, out);
    out->allowed = bound(out->observed_count, chance) + bound(out->predicted_count, chance);
    if (seen->is_percentiles) /* Cassandra rounds the rank of a percentile to a whole partition. */
        out->allowed += 1 / (double)out->observed_count;
    out->is_far = out->distance > out->allowed;
    judge_largest(seen, predicted, question->tolerance, chance, out);
    if (out->has_limit) {
        uint64_t over = count_above(seen, (double)question->limit * (1 + question->tolerance));
        uint64_t expected = above(predicted, (double)question->limit);
        out->over = (double)over / (double)seen->total;
        out->over_least = lab_share_least(over, seen->total, 1 - chance);
        out->over_most = lab_share_most(expected, predicted->total, 1 - chance);
        out->is_over = out->over_least > out->over_most;
    }
    out->is_drift = out->is_far || out->is_over || out->beyond > 0;
}

bool lab_drift_judge(const struct lab_drift_question *question, struct lab_drift *out)
{
    struct seen seen = {.is_percentiles = false};
    struct sizes predicted = {0};
    *out = (struct lab_drift){0};
    seen.is_percentiles = lab_known_steps(question->observed, seen.steps);
    bool is_fine = (seen.is_percentiles || sizes_of(question->observed, question->unit, &seen.sizes)) &&
                   sizes_of(question->predicted, question->unit, &predicted);
    seen.total = seen.is_percentiles ? question->partitions : seen.sizes.total;
    if (is_fine)
        judge(question, &seen, &predicted, out);
    free(seen.sizes.bins);
    free(predicted.bins);
    return is_fine;
}

bool lab_drift_metrics(const struct lab_drift *drift, int64_t run, uint64_t look, struct lab_metrics *out)
{
    bool ok = lab_metrics_add(out, "drift.run", (double)run) &&
              lab_metrics_add(out, "drift.look", (double)look) &&
              lab_metrics_add(out, "drift.distance", drift->distance) &&
              lab_metrics_add(out, "drift.allowed", drift->allowed) &&
              lab_metrics_add(out, "drift.beyond", (double)drift->beyond);
    return ok && (!drift->has_limit || (lab_metrics_add(out, "drift.over_least", drift->over_least) &&
                                        lab_metrics_add(out, "drift.over_most", drift->over_most)));
}
