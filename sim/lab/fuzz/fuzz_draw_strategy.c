/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the strategy of a seed, usually one with a coordination. */
#include <inttypes.h>
#include <stdio.h>

#include "bucketing/agent.h"
#include "fuzz_plan.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "lab/scenario.h"
#include "lab/setting.h"

#define GRANT_MAX (20 * SIM_SECOND)
#define SPARE_MAX 10e9
/* Shares of the seeds: with weighted, and with a plan that is not the default. */
/* The shortest run with changes of settings, so that two changes can be at different times. */
#define THEN_LEAST_NS  (10 * SIM_SECOND)
#define WEIGHTED_SHARE 0.1
#define COUNTS         0.08 /* in addition to those in the table below */
#define SMALL_COUNTS   0.6
#define WINDOWS_SHORT  12
#define REMEMBERS      0.8 /* of the seeds with time windows */
#define PLAN_SHARE     0.15
#define AGED_SHARE     0.15
#define CALENDAR       0.4 /* of the seeds with windows that are not remembered */
#define EPOCH          0.2
#define EVERY_TIME     0.3 /* of the seeds that count rows by reads */
#define ONE_BUCKET     0.3 /* of the seeds whose number of hash buckets changes */
#define MIXED          0.5
#define BY_CHANCE      0.15
#define ALIGNED_SHARE  0.5 /* of the seeds with a greatest age and a change */

enum draw_kind {
    DRAW_GUARDED,
    DRAW_THREE_STATE,
    DRAW_LOCKED,
    DRAW_SINGLE,
    DRAW_COUNT,
    DRAW_HASH,
    DRAW_TIME,
    DRAW_UNBUCKETED
};

/* Their shares of the seeds, in percent. */
static const struct {
    enum draw_kind kind;
    uint32_t percent;
} shares[] = {{DRAW_GUARDED, 33}, {DRAW_THREE_STATE, 33}, {DRAW_SINGLE, 11}, {DRAW_LOCKED, 9},
              {DRAW_COUNT, 4},    {DRAW_HASH, 3},         {DRAW_TIME, 5},    {DRAW_UNBUCKETED, 2}};

/* If readers remember empty windows, windows are so short that many are empty. */
static int64_t draw_window(const struct lab_fuzz_plan *plan, struct sim_random *random)
{
    int64_t parts = lab_draw_remembers(plan) ? WINDOWS_SHORT : 1;
    int64_t least_ns = plan->duration_ns / plan->length->windows / parts,
            most_ns = plan->duration_ns / 4 / parts;
    return lab_draw_on_grid(plan, lab_draw_span(random, least_ns, most_ns));
}

/* Some windows begin at an odd time, and some are those of the calendar. */
static void draw_windows(const struct lab_fuzz_plan *plan, struct sim_random *random,
                         struct lab_writer *writer)
{
    static const char *const calendars[] = {"hour", "day", "week", "month"};
    struct sim_random rare;
    char span[LAB_SPAN_SIZE];
    int64_t window_ns = draw_window(plan, random);
    lab_draw_init(&rare, plan, LAB_DRAW_WINDOWS);
    bool has_calendar = lab_draw_chance(&rare, CALENDAR) && !lab_draw_remembers(plan) && !plan->has_then;
    bool has_epoch = lab_draw_chance(&rare, EPOCH);
    uint64_t calendar = lab_draw_whole(&rare, 0, 3), second = lab_draw_whole(&rare, 0, 59);
    if (has_calendar) {
        lab_writer_add(writer, "  - time:\n      calendar: %s\n", calendars[calendar]);
        return;
    }
    lab_writer_add(writer, "  - time:\n      window: %s\n", lab_span_text(window_ns, span));
    if (has_epoch)
        lab_writer_add(writer, "      epoch: 2025-12-31T23:59:%02" PRIu64 "Z\n", second);
}

/* In a few seeds, draws how rows are read; half of the seeds with time windows remember empty windows. */
static void draw_reading(const struct lab_fuzz_plan *plan, enum draw_kind kind, struct lab_writer *writer)
{
    static const char *const of_hash[] = {"all", "lazy", "parallel"}, *const others[] = {"walk", "pair",
                                                                                         "parallel"};
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    lab_draw_init(&random, plan, LAB_DRAW_PLAN);
    bool remembers = lab_draw_remembers(plan);
    bool has_plan = lab_draw_chance(&random, kind == DRAW_HASH ? 0.6 : PLAN_SHARE);
    uint64_t choice = lab_draw_whole(&random, 0, 2), at_once = lab_draw_whole(&random, 1, 12);
    lab_draw_init(&random, plan, LAB_DRAW_EMPTIES);
    sim_random_unit(&random); /* takes the draw of whether they are remembered */
    int64_t late_ns = lab_draw_span(&random, 100 * SIM_MS, plan->duration_ns / 4);
    if (!has_plan && !remembers)
        return;
    lab_writer_add(writer, "      read: {");
    if (has_plan)
        lab_writer_add(writer, "plan: %s%s", kind == DRAW_HASH ? of_hash[choice] : others[choice],
                       remembers || choice == 2 ? ", " : "");
    if (has_plan && choice == 2)
        lab_writer_add(writer, "at_once: %" PRIu64 "%s", at_once, remembers ? ", " : "");
    if (remembers)
        lab_writer_add(writer, "remember_empty: true, late: %s", lab_span_text(late_ns, span));
    lab_writer_add(writer, "}\n");
}

static bool is_weighted(const struct lab_fuzz_plan *plan)
{
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_WEIGHTED);
    return lab_draw_chance(&random, WEIGHTED_SHARE);
}

static enum bk_source draw_source(const struct lab_fuzz_plan *plan, struct sim_random *random)
{
    lab_draw_init(random, plan, LAB_DRAW_SOURCE);
    return (enum bk_source)lab_draw_whole(random, 0, BK_SOURCE_MEMORY);
}

static bool may_change(const struct lab_fuzz_plan *plan, enum draw_kind kind)
{
    struct sim_random random;
    if (kind == DRAW_COUNT && draw_source(plan, &random) < BK_SOURCE_LWT)
        return false;
    return kind != DRAW_UNBUCKETED && plan->has_duration && plan->duration_ns >= THEN_LEAST_NS;
}

/* In some seeds, a greatest age whose lines a run crosses a few times, or sometimes many times. 0: none. */
static int64_t draw_max_age(const struct lab_fuzz_plan *plan, enum draw_kind kind)
{
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_MAX_AGE);
    if (kind > DRAW_SINGLE || !plan->has_duration || !lab_draw_chance(&random, AGED_SHARE))
        return 0;
    return lab_draw_on_grid(plan, lab_draw_span(&random, plan->duration_ns / 60, plan->duration_ns / 2));
}

/* Moves some dates of changes to the previous line, since users often choose round dates; only if that line
 * is after after_ns. */
static int64_t draw_aligned(const struct lab_fuzz_plan *plan, enum draw_kind kind, int64_t at_ns,
                            int64_t after_ns)
{
    struct sim_random random;
    int64_t age_ns = draw_max_age(plan, kind);
    lab_draw_init(&random, plan, LAB_DRAW_ALIGNED);
    if (age_ns == 0 || !lab_draw_chance(&random, ALIGNED_SHARE))
        return at_ns;
    int64_t line_ns = at_ns - (LAB_START_DEFAULT + at_ns) % age_ns;
    return line_ns > after_ns ? line_ns : at_ns;
}

/* Of changing numbers of buckets, one in some era is 1. */
static uint64_t draw_buckets(const struct lab_fuzz_plan *plan, uint64_t drawn, uint64_t era)
{
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_ONE_BUCKET);
    bool has_one = lab_draw_chance(&random, ONE_BUCKET) && plan->has_then;
    return has_one && lab_draw_whole(&random, 0, 1) == era ? 1 : drawn;
}

/* Draws one or two changes to other settings of the same kind; some of them without a date that is known in
 * advance. */
static void draw_then(const struct lab_fuzz_plan *plan, enum draw_kind kind, double mean_rows,
                      struct lab_writer *writer)
{
    struct sim_random random, mixed;
    char span[LAB_SPAN_SIZE];
    if (!may_change(plan, kind))
        return;
    lab_draw_init(&random, plan, LAB_DRAW_THEN);
    sim_random_unit(&random); /* takes the draw of whether there are changes */
    uint64_t count = lab_draw_whole(&random, 1, 2);
    bool is_rolled_out = lab_draw_chance(&random, 0.3), forgets = lab_draw_chance(&random, 0.2);
    /* Of two changes, often only one is deployed; the date of the other is known. */
    lab_draw_init(&mixed, plan, LAB_DRAW_MIXED);
    uint64_t only = lab_draw_chance(&mixed, MIXED) ? lab_draw_whole(&mixed, 0, 1) : count;
    int64_t longest_ns = plan->duration_ns / 10, after_ns = 0; /* longest_ns: the longest rollout */
    lab_writer_add(writer, "      then:\n");
    for (uint64_t i = 0; i < count; i++) {
        double share = (0.1 + 0.5 * (double)i) + 0.3 * sim_random_unit(&random);
        int64_t at_ns = lab_draw_on_grid(plan, lab_draw_rounded((double)plan->duration_ns * share));
        at_ns = draw_aligned(plan, kind, at_ns, after_ns);
        lab_writer_add(writer, "        - {at: %s", lab_span_text(at_ns, span));
        if (kind == DRAW_HASH)
            lab_writer_add(writer, ", buckets: %" PRIu64,
                           draw_buckets(plan, lab_draw_whole(&random, 1, 8), i + 1));
        else if (kind == DRAW_COUNT)
            lab_writer_add(writer, ", rows: %" PRIu64, 1 + (uint64_t)lab_draw_log(&random, 2, 2 * mean_rows));
        else if (kind == DRAW_TIME)
            lab_writer_add(writer, ", window: %s", lab_span_text(draw_window(plan, &random), span));
        else if (is_weighted(plan))
            lab_writer_add(writer, ", bytes: %" PRIu64 "B, threshold: %" PRIu64,
                           lab_draw_whole(&random, 250, 4000), lab_draw_whole(&random, 4, 60));
        else
            lab_writer_add(writer, ", bits: %" PRIu64 ", threshold: %" PRIu64, lab_draw_whole(&random, 0, 2),
                           1 + (uint64_t)(mean_rows / (double)lab_draw_whole(&random, 1, 8)));
        bool is_deployed = only == count || only == i;
        if (is_rolled_out && is_deployed)
            lab_writer_add(writer, ", rollout: %s",
                           lab_span_text(lab_draw_span(&random, 10 * SIM_MS, longest_ns), span));
        after_ns = at_ns + longest_ns;
        lab_writer_add(writer, "%s}\n", forgets && is_deployed ? ", keep_old: false" : "");
    }
}

/* Counts come after a number of rows, and some by time too. */
static void draw_every(const struct lab_fuzz_plan *plan, uint64_t every_rows, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    lab_writer_add(writer, "      every_rows: %" PRIu64 "\n", every_rows);
    int64_t shortest_ns = plan->duration_ns / 200 < SIM_DAY ? plan->duration_ns / 200 : SIM_DAY;
    lab_draw_init(&random, plan, LAB_DRAW_EVERY_TIME);
    if (lab_draw_chance(&random, EVERY_TIME) && shortest_ns > 0)
        lab_writer_add(writer, "      every_time: %s\n",
                       lab_span_text(lab_draw_span(&random, shortest_ns, shortest_ns * 50), span));
}

static void draw_count(const struct lab_fuzz_plan *plan, uint64_t rows, struct lab_writer *writer)
{
    struct sim_random random;
    enum bk_source source = draw_source(plan, &random);
    uint64_t batch = lab_draw_whole(&random, 1, 2 * rows), every_rows = lab_draw_whole(&random, 1, rows);
    /* If keys are evicted from caches between two counts, small partitions show whether they are still
     * counted. */
    if (plan->keys > plan->cache_entries && lab_draw_chance(&random, SMALL_COUNTS)) {
        rows = lab_draw_whole(&random, 3, 10);
        every_rows = lab_draw_whole(&random, 1, 4);
    }
    lab_writer_add(writer, "  - count:\n      rows: %" PRIu64 "\n      counter: %s\n", rows,
                   lab_setting_name(BK_COUNT, "counter", (int)source));
    if (source == BK_SOURCE_LEASE)
        lab_writer_add(writer, "      batch: %" PRIu64 "\n", batch);
    if (source == BK_SOURCE_INCREMENTAL || source == BK_SOURCE_SCAN)
        draw_every(plan, every_rows, writer);
}

static enum draw_kind draw_kind(const struct lab_fuzz_plan *plan)
{
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_STRATEGY);
    uint64_t percent = lab_draw_whole(&random, 0, 99);
    size_t i = 0;
    lab_draw_init(&random, plan, LAB_DRAW_COUNTS);
    if (lab_draw_chance(&random, COUNTS))
        return DRAW_COUNT;
    while (percent >= shares[i].percent)
        percent -= shares[i++].percent;
    return shares[i].kind;
}

static double draw_mean(const struct lab_fuzz_plan *plan, struct sim_random *random)
{
    return lab_draw_log(random, plan->length->partition_rows[0], plan->length->partition_rows[1]);
}

/* Draws the number of rows of a partition. For weighted it applies to rows of 1KB, which is the default; some
 * rows add more than 1. */
static void draw_size(const struct lab_fuzz_plan *plan, double mean_rows, struct lab_writer *writer)
{
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_WEIGHTED);
    if (lab_draw_chance(&random, WEIGHTED_SHARE)) {
        double unit_bytes = lab_draw_log(&random, 250, 16000), threshold = mean_rows * 1000 / unit_bytes;
        lab_writer_add(writer, "  - weighted:\n      bytes: %" PRIu64 "B\n      threshold: %" PRIu64 "\n",
                       (uint64_t)unit_bytes, threshold < 1 ? 1 : (uint64_t)(threshold + 0.5));
        return;
    }
    lab_draw_init(&random, plan, LAB_DRAW_SIZE);
    draw_mean(plan, &random);
    uint64_t bits = lab_draw_whole(&random, 0, 5);
    while (bits > 0 && (double)(UINT64_C(1) << bits) > mean_rows)
        bits--;
    uint64_t threshold = (uint64_t)(mean_rows / (double)(UINT64_C(1) << bits) + 0.5);
    lab_draw_init(&random, plan, LAB_DRAW_CHANCE);
    if (lab_draw_chance(&random, BY_CHANCE) && !plan->has_then) {
        uint64_t rows = lab_draw_whole(&random, 1, (uint64_t)mean_rows + 1),
                 of = rows - lab_draw_whole(&random, 0, rows - 1);
        uint64_t fired = (uint64_t)(mean_rows * (double)of / (double)rows + 0.5);
        lab_writer_add(writer,
                       "  - probabilistic:\n      chance: %" PRIu64 "/%" PRIu64 "\n      threshold: %" PRIu64
                       "\n",
                       of, rows, fired > 0 ? fired : 1);
        return;
    }
    lab_writer_add(writer, "  - probabilistic:\n      bits: %" PRIu64 "\n      threshold: %" PRIu64 "\n",
                   bits, threshold);
}

/* About half of the leads are longer than the time to live of caches plus clock differences, with a margin
 * for a slow request. */
static int64_t draw_lead(const struct lab_fuzz_plan *plan)
{
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_LEAD);
    bool is_safe = lab_draw_chance(&random, 0.75);
    double least_ns = (double)plan->cache_ttl_ns + 2 * (double)plan->clock_bound_ns;
    if (!is_safe)
        return lab_draw_rounded(least_ns * sim_random_unit(&random));
    double spare_ns = lab_draw_log(&random, 0.01, 0.1) * (double)plan->duration_ns;
    spare_ns = spare_ns > SPARE_MAX ? SPARE_MAX : spare_ns;
    return lab_draw_rounded((least_ns + spare_ns) * 1.02);
}

static void draw_probabilistic(const struct lab_fuzz_plan *plan, enum draw_kind kind, double mean_rows,
                               struct lab_writer *writer)
{
    static const char *const coordinations[] = {[DRAW_GUARDED] = "guarded",
                                                [DRAW_THREE_STATE] = "three-state",
                                                [DRAW_LOCKED] = "locked",
                                                [DRAW_SINGLE] = "single"};
    /* With conditional rolls, two rolls cannot be stored concurrently, and more is guaranteed. */
    static const char *const counters[] = {"rmw", "lwt", "lwt", "counter"};
    struct sim_random random;
    char span[LAB_SPAN_SIZE], other[LAB_SPAN_SIZE];
    int64_t longest_grant_ns = plan->duration_ns / 8 < GRANT_MAX ? plan->duration_ns / 8 : GRANT_MAX;
    draw_size(plan, mean_rows, writer);
    lab_writer_add(writer, "      coordination: %s\n      label: %s\n", coordinations[kind],
                   coordinations[kind]);
    lab_draw_init(&random, plan, LAB_DRAW_COUNTER);
    if (kind != DRAW_GUARDED)
        lab_writer_add(writer, "      counter: %s\n", counters[lab_draw_whole(&random, 0, 3)]);
    lab_draw_init(&random, plan, LAB_DRAW_GRANT);
    if (kind == DRAW_GUARDED)
        lab_writer_add(
            writer, "      grant: %s\n",
            lab_span_text(lab_draw_on_grid(plan, lab_draw_span(&random, 200 * SIM_MS, longest_grant_ns)),
                          span));
    if (kind == DRAW_THREE_STATE)
        lab_writer_add(writer, "      lead: %s\n",
                       lab_span_text(lab_draw_on_grid(plan, draw_lead(plan)), span));
    lab_draw_init(&random, plan, LAB_DRAW_LOCK);
    int64_t lasts_ns = lab_draw_span(&random, 100 * SIM_MS, 10 * SIM_SECOND);
    int64_t backoff_ns = lab_draw_span(&random, 10 * SIM_MS, SIM_SECOND);
    if (kind == DRAW_LOCKED)
        lab_writer_add(writer, "      lock: {lasts: %s, backoff: %s}\n", lab_span_text(lasts_ns, span),
                       lab_span_text(backoff_ns, other));
}

void lab_fuzz_draw_strategy(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    enum draw_kind kind = draw_kind(plan);
    lab_draw_init(&random, plan, LAB_DRAW_SIZE);
    double mean_rows = draw_mean(plan, &random);
    lab_writer_add(writer, "strategies:\n");
    switch (kind) {
    case DRAW_GUARDED:
    case DRAW_THREE_STATE:
    case DRAW_LOCKED:
    case DRAW_SINGLE:
        draw_probabilistic(plan, kind, mean_rows, writer);
        break;
    case DRAW_COUNT:
        draw_count(plan, (uint64_t)mean_rows, writer);
        break;
    case DRAW_HASH:
        lab_writer_add(writer, "  - hash:\n      buckets: %" PRIu64 "\n",
                       draw_buckets(plan, lab_draw_whole(&random, 1, 8), 0));
        break;
    case DRAW_TIME:
        draw_windows(plan, &random, writer);
        break;
    case DRAW_UNBUCKETED:
        lab_writer_add(writer, "  - unbucketed:\n      label: unbucketed\n");
        break;
    }
    int64_t age_ns = draw_max_age(plan, kind);
    if (age_ns > 0)
        lab_writer_add(writer, "      max_age: %s\n", lab_span_text(age_ns, span));
    if (plan->has_then)
        draw_then(plan, kind, mean_rows, writer);
    else
        draw_reading(plan, kind, writer);
}

bool lab_draw_counts(const struct lab_fuzz_plan *plan)
{
    return !plan->has_strategies && draw_kind(plan) == DRAW_COUNT;
}

bool lab_draw_remembers(const struct lab_fuzz_plan *plan)
{
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_EMPTIES);
    return !plan->has_strategies && !plan->has_then && draw_kind(plan) == DRAW_TIME &&
           lab_draw_chance(&random, REMEMBERS);
}
