/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the rows of a seed: their arrivals, their own times, their expiry, and the reads. Most seeds have no
 * rare features; a few have several. */
#include <inttypes.h>

#include "fuzz_plan.h"
#include "kernel/random.h"
#include "kernel/time.h"

/* Shares of the seeds. */
#define BURSTS           0.3
#define LATE             0.12
#define EARLY            0.1
#define LATE_REMEMBERED  0.8 /* of the seeds whose readers remember empty windows */
#define READS_REMEMBERED 5   /* factor of the number of reads */
#define RESOLUTION       0.1
#define BACKFILL         0.04
#define TTL              0.08
#define DELETES          0.08
#define LATEST           0.8
#define RANGE            0.15
#define ALL              0.08

#define SPAN_MAX (365 * SIM_DAY)

/* At most a year, the limit of scenarios. */
static int64_t draw_span(struct sim_random *random, int64_t least_ns, int64_t most_ns)
{
    most_ns = most_ns < SPAN_MAX ? most_ns : SPAN_MAX;
    return lab_draw_span(random, least_ns < SPAN_MAX ? least_ns : SPAN_MAX, most_ns);
}

/* At least 1 ms, the limit of scenarios. */
static int64_t draw_burst(struct sim_random *random, int64_t least_ns, int64_t most_ns)
{
    return lab_draw_span(random, least_ns < SIM_MS ? SIM_MS : least_ns, most_ns);
}

/* In half of the backfills, how fast the history is loaded, and its rate. */
static void draw_history(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    lab_draw_init(&random, plan, LAB_DRAW_HISTORY);
    if (!lab_draw_chance(&random, 0.5) || plan->duration_ns < SIM_SECOND)
        return;
    int64_t lasts_ns = lab_draw_span(&random, plan->duration_ns / 10, plan->duration_ns * 9 / 10);
    lab_writer_add(writer, ", lasts: %s, rate: %.4g/s", lab_span_text(lasts_ns, span),
                   plan->rate_per_s * lab_draw_log(&random, 0.2, 2));
}

/* Draws `share` and `by` of rows whose own times differ from their agents' clocks. */
static void draw_own_times(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    int64_t bound_ns = plan->clock_bound_ns > 0 ? plan->clock_bound_ns : SIM_SECOND;
    lab_draw_init(&random, plan, LAB_DRAW_LATE);
    if (lab_draw_chance(&random, lab_draw_remembers(plan) ? LATE_REMEMBERED : LATE)) {
        uint64_t share = lab_draw_whole(&random, 1, 30);
        int64_t by_ns = draw_span(&random, 100 * SIM_MS, plan->duration_ns / 5);
        lab_writer_add(writer, "  late: {share: %" PRIu64 "%%, by: %s}\n", share, lab_span_text(by_ns, span));
    }
    /* Some are within the clock bound and some beyond it. */
    lab_draw_init(&random, plan, LAB_DRAW_EARLY);
    if (lab_draw_chance(&random, EARLY)) {
        uint64_t share = lab_draw_whole(&random, 1, 20);
        int64_t by_ns = draw_span(&random, bound_ns / 8, 4 * bound_ns);
        lab_writer_add(writer, "  early: {share: %" PRIu64 "%%, by: %s}\n", share,
                       lab_span_text(by_ns, span));
    }
    lab_draw_init(&random, plan, LAB_DRAW_RESOLUTION);
    static const char *const steps[] = {"1ms", "10ms", "100ms", "1s", "5s"};
    if (lab_draw_chance(&random, RESOLUTION))
        lab_writer_add(writer, "  resolution: %s\n", steps[lab_draw_whole(&random, 0, 4)]);
    lab_draw_init(&random, plan, LAB_DRAW_BACKFILL);
    if (lab_draw_chance(&random, BACKFILL)) {
        int64_t before_ns = lab_draw_span(&random, plan->duration_ns / 20, plan->duration_ns / 3);
        bool is_reverse = lab_draw_chance(&random, 0.5);
        lab_writer_add(writer, "  backfill: {before: %s, order: %s", lab_span_text(before_ns, span),
                       is_reverse ? "reverse" : "forward");
        draw_history(plan, writer);
        lab_writer_add(writer, "}\n");
    }
}

static void draw_arrivals(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE], other[LAB_SPAN_SIZE];
    lab_writer_add(writer, "duration: %s\n", lab_span_text(plan->duration_ns, span));
    lab_writer_add(writer, "keys: {count: %" PRIu64, plan->keys);
    lab_draw_init(&random, plan, LAB_DRAW_ZIPF);
    if (!lab_draw_points(plan, writer) && lab_draw_chance(&random, 0.5))
        lab_writer_add(writer, ", popularity: {zipf: %.1f}", (double)lab_draw_whole(&random, 5, 20) / 10);
    lab_writer_add(
        writer, plan->rate_per_s < 1e-2 ? "}\narrivals:\n  rate: %.3g/s\n" : "}\narrivals:\n  rate: %.3f/s\n",
        plan->rate_per_s);
    lab_draw_init(&random, plan, LAB_DRAW_BURSTS);
    if (lab_draw_chance(&random, BURSTS)) {
        int64_t on_ns = draw_burst(&random, plan->duration_ns / 100, plan->duration_ns / 10);
        int64_t off_ns = draw_burst(&random, plan->duration_ns / 50, plan->duration_ns / 4);
        lab_writer_add(writer, "  bursts: {on: %s, off: %s, factor: %" PRIu64 "}\n",
                       lab_span_text(on_ns, span), lab_span_text(off_ns, other),
                       lab_draw_whole(&random, 2, 50));
    }
    lab_draw_rare_arrivals(plan, writer);
    draw_own_times(plan, writer);
}

/* Rows expire or are deleted, but not both. */
static void draw_ends(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    lab_draw_init(&random, plan, LAB_DRAW_TTL);
    bool has_ttl = plan->may_expire && lab_draw_chance(&random, TTL);
    lab_draw_row(plan, has_ttl ? draw_span(&random, SIM_SECOND, plan->duration_ns / 3) : 0, writer);
    lab_draw_init(&random, plan, LAB_DRAW_DELETES);
    if (!has_ttl && plan->may_delete && lab_draw_chance(&random, DELETES)) {
        uint64_t share = lab_draw_whole(&random, 1, 40);
        int64_t after_ns = draw_span(&random, 100 * SIM_MS, plan->duration_ns / 4);
        lab_writer_add(writer, "deletes: {share: %" PRIu64 "%%, after: %s}\n", share,
                       lab_span_text(after_ns, span));
    }
}

static double rate_of_reads(const struct lab_fuzz_plan *plan, struct sim_random *random, double most)
{
    /* If readers remember empty windows, they read often enough to read a window before and after a late
     * row. */
    if (lab_draw_remembers(plan))
        most *= READS_REMEMBERED;
    double rate = plan->rate_per_s * lab_draw_log(random, most / 10, most);
    return rate < 1e-3 ? 1e-3 : rate;
}

/* If settings change, only the newest rows are read. */
static void draw_reads(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    const struct lab_fuzz_length *length = plan->length;
    struct sim_random latest, range, all;
    char span[LAB_SPAN_SIZE], age[LAB_SPAN_SIZE];
    lab_draw_init(&latest, plan, LAB_DRAW_READS);
    lab_draw_init(&range, plan, LAB_DRAW_RANGE);
    lab_draw_init(&all, plan, LAB_DRAW_ALL);
    bool has_latest = lab_draw_chance(&latest, LATEST);
    bool has_range = lab_draw_chance(&range, RANGE) && !plan->has_then;
    bool has_all = lab_draw_chance(&all, ALL) && !plan->has_then;
    if (!has_latest && !has_range && !has_all)
        return;
    lab_writer_add(writer, "reads:\n");
    if (has_latest) {
        uint64_t rows = lab_draw_whole(&latest, length->latest_rows[0], length->latest_rows[1]);
        double rate = rate_of_reads(plan, &latest, length->latest);
        lab_writer_add(writer, "  latest: {rows: %" PRIu64 ", rate: %.4f/s", rows, rate);
        if (lab_draw_chance(&latest, 0.3))
            lab_writer_add(writer, ", plan: pair");
        else
            lab_draw_read_plan(plan, 0, writer);
        lab_writer_add(writer, "}\n");
    }
    if (has_range) {
        int64_t span_ns = lab_draw_span(&range, plan->duration_ns / 200, plan->duration_ns / 8);
        int64_t age_ns = lab_draw_chance(&range, 0.5)
                             ? 0
                             : lab_draw_span(&range, plan->duration_ns / 500, plan->duration_ns / 8);
        double rate = rate_of_reads(plan, &range, length->ranges);
        lab_writer_add(writer, "  range: {span: %s, age: %s, rate: %.4f/s", lab_span_text(span_ns, span),
                       lab_span_text(age_ns, age), rate);
        lab_draw_read_plan(plan, 1, writer);
        lab_writer_add(writer, "}\n");
    }
    if (has_all) {
        lab_writer_add(writer, "  all: {rate: %.4f/s", rate_of_reads(plan, &all, 0.03));
        lab_draw_read_plan(plan, 2, writer);
        lab_writer_add(writer, "}\n");
    }
    lab_draw_read_limit(plan, writer);
}

void lab_fuzz_draw_workload(const struct lab_fuzz_plan *plan, bool is_trace, struct lab_writer *writer)
{
    if (!is_trace)
        draw_arrivals(plan, writer);
    draw_ends(plan, writer);
    draw_reads(plan, writer);
}
