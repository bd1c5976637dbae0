/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the scenario and the trace of one seed of the stream fuzzer. */
#include "stream_draw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/random.h"
#include "kernel/time.h"

#define DIGITS_18 INT64_C(999999999999999999) /* the longest number that a scenario may have */

/* Append only: these numbers are part of the meaning of a seed. */
enum part {
    PART_SHAPE,
    PART_ARRIVALS,
    PART_ROWS,
    PART_READS,
    PART_TABLE,
    PART_RING,
    PART_TRACE,
    PART_STRATEGY
};

struct draw {
    uint64_t seed;
    uint64_t many; /* how many times the usual keys and rows */
    struct sim_random random;
    char *text;
    size_t used;
    /* What the strategies have to fit. */
    int64_t duration_ns, reach_ns; /* reach: from the oldest own time to the end */
    /* The grid of the rows' times; 0: none. Windows then begin and end on the grid, and changes come on it
     * too. */
    int64_t grid_ns;
    bool has_reads, has_range, has_all, has_table, has_bucket, has_left, is_thin, all_hash, has_then,
        has_expiring;
    const char *start; /* NULL: the scenario has a trace */
    bool is_even;      /* all keys have the same rate */
    bool is_expected;  /* the reads can be expected instead of drawn */
};

static void begin_part(struct draw *draw, enum part part, uint64_t index)
{
    sim_random_init(&draw->random, sim_hash(draw->seed, SIM_FUZZ, part), SIM_FUZZ, index);
}

static uint64_t below(struct draw *draw, uint64_t n)
{
    return sim_random_below(&draw->random, n);
}

static bool chance(struct draw *draw, unsigned percent)
{
    return below(draw, 100) < percent;
}

static uint64_t between(struct draw *draw, uint64_t least, uint64_t most)
{
    return least + below(draw, most - least + 1);
}

/* Each octave has the same probability. */
static uint64_t spread(struct draw *draw, uint64_t least, uint64_t most)
{
    unsigned octaves = 0;
    while (least << (octaves + 1) <= most)
        octaves++;
    uint64_t low = least << below(draw, octaves + 1);
    uint64_t high = low * 2 - 1 < most ? low * 2 - 1 : most;
    return between(draw, low, high);
}

__attribute__((format(printf, 2, 3))) static void say(struct draw *draw, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(draw->text + draw->used, STREAM_TEXT_SIZE - draw->used, format, arguments);
    va_end(arguments);
    if (size < 0 || draw->used + (size_t)size >= STREAM_TEXT_SIZE)
        abort();
    draw->used += (size_t)size;
}

static int64_t part_of(struct draw *draw, int64_t span_ns, unsigned least_in_1000, unsigned most_in_1000)
{
    int64_t part_ns = span_ns / 1000 * (int64_t)between(draw, least_in_1000, most_in_1000);
    return part_ns > 1000 ? part_ns : 1000;
}

/* --- the workload */

static void say_span(struct draw *draw)
{
    static const int64_t spans[] = {20 * SIM_SECOND, 10 * SIM_MINUTE, 6 * SIM_HOUR,
                                    3 * SIM_DAY,     40 * SIM_DAY,    400 * SIM_DAY};
    static const char *const starts[] = {"1970-01-01T00:00:00Z", "2024-02-28T23:59:00Z",
                                         "2025-12-31T12:00:00Z", "2026-01-01T00:00:00Z",
                                         "2100-02-28T22:15:07Z", "1999-12-27T00:00:00Z"};
    size_t index = below(draw, draw->is_thin ? 5 : 6);
    draw->duration_ns = spans[index] + (int64_t)below(draw, 3) * (spans[index] / 7 + 1);
    draw->start = starts[below(draw, 6)];
    draw->duration_ns -= draw->seed % 8 == 3 ? draw->duration_ns % 8 : 0;
    say(draw, "start: %s\nduration: %" PRId64 "ns\n", draw->start, draw->duration_ns);
}

static void say_keys(struct draw *draw)
{
    uint64_t keys = chance(draw, 25) ? 1 : spread(draw, 1, draw->is_thin ? 4 : 24);
    keys *= draw->many;
    say(draw, "keys: {count: %" PRIu64, keys);
    draw->is_even = !chance(draw, 40);
    if (!draw->is_even)
        say(draw, ", popularity: {zipf: %s}", chance(draw, 50) ? "1.1" : "0.4");
    say(draw, "}\n");
}

static void say_spikes(struct draw *draw)
{
    static const char *const factors[] = {"0.000001", "0.2", "5", "40"};
    static const char *const shares[] = {"1%", "35%", "50%", "100%"};
    uint64_t count = between(draw, 1, 3);
    say(draw, "  spikes:\n");
    for (uint64_t i = 0; i < count; i++) {
        int64_t at_ns = draw->duration_ns / 100 * (int64_t)below(draw, 80);
        int64_t lasts_ns = part_of(draw, draw->duration_ns - at_ns, 1, 1000);
        say(draw, "    - {at: %" PRId64 "ns, lasts: %" PRId64 "ns, factor: %s, keys: %s}\n", at_ns, lasts_ns,
            factors[below(draw, 4)], shares[below(draw, 4)]);
    }
}

static void say_own_times(struct draw *draw, double rate_per_d)
{
    if (chance(draw, 60)) {
        int64_t by_ns = part_of(draw, draw->duration_ns, 1, 300);
        say(draw, "  late: {share: %u%%, by: %" PRId64 "ns}\n", (unsigned)between(draw, 1, 60), by_ns);
        draw->reach_ns += 64 * by_ns;
    }
    if (chance(draw, 50)) {
        int64_t resolution_ns = part_of(draw, draw->duration_ns, 1, 50);
        resolution_ns = resolution_ns > SIM_DAY ? SIM_DAY : resolution_ns;
        say(draw, "  resolution: %" PRId64 "ns\n", resolution_ns);
        draw->reach_ns += resolution_ns;
        draw->grid_ns = resolution_ns;
    }
    if (chance(draw, 40)) {
        int64_t before_ns = part_of(draw, draw->duration_ns, 100, 3000);
        int64_t lasts_ns = chance(draw, 50) ? draw->duration_ns : part_of(draw, draw->duration_ns, 50, 900);
        say(draw, "  backfill: {before: %" PRId64 "ns, lasts: %" PRId64 "ns, rate: %.6f/d, order: %s}\n",
            before_ns, lasts_ns, rate_per_d / 4, chance(draw, 50) ? "forward" : "reverse");
        draw->reach_ns += before_ns + draw->duration_ns;
    }
}

static void say_arrivals(struct draw *draw)
{
    begin_part(draw, PART_ARRIVALS, 0);
    double rows = (double)spread(draw, draw->is_thin ? 64 : 1, draw->is_thin ? 400 : 2500);
    double rate_per_d = rows * (double)draw->many / ((double)draw->duration_ns / (double)SIM_DAY);
    if (draw->is_even && !draw->is_thin && !draw->is_expected && chance(draw, 25)) {
        int64_t every_ns = part_of(draw, draw->duration_ns, 1, 300) + 1000000;
        say(draw, "arrivals:\n  every: %" PRId64 "ns\n", every_ns);
        if (chance(draw, 60))
            say(draw, "  jitter: %" PRId64 "ns\n", 1 + (int64_t)below(draw, (uint64_t)every_ns));
        draw->reach_ns = draw->duration_ns;
        if (chance(draw, 30))
            say_own_times(draw, rate_per_d);
        return;
    }
    say(draw, "arrivals:\n  rate: %.6f/d\n", rate_per_d);
    if (chance(draw, 40))
        say(draw, "  daily: {amplitude: %s, peak: %um}\n", chance(draw, 50) ? "1" : "0.7",
            (unsigned)below(draw, 1440));
    if (!draw->is_thin && !draw->is_expected && chance(draw, 25)) {
        say(draw, "  weekend: %s\n", chance(draw, 50) ? "0.3" : "2.5");
        if (chance(draw, 50))
            say(draw, "  growth: 10\n");
    }
    if (chance(draw, 50)) {
        static const char *const factors[] = {"0.000001", "0.1", "8", "200"};
        say(draw, "  bursts: {on: %" PRId64 "us, off: %" PRId64 "us, factor: %s}\n",
            part_of(draw, draw->duration_ns, 10, 400) / 1000 + 1000,
            part_of(draw, draw->duration_ns, 10, 400) / 1000 + 1000, factors[below(draw, 4)]);
    }
    if (chance(draw, 40))
        say_spikes(draw);
    draw->reach_ns = draw->duration_ns;
    if (!draw->is_thin && !draw->is_expected && chance(draw, 30))
        say_own_times(draw, rate_per_d);
}

static void say_bytes(struct draw *draw)
{
    switch (draw->is_thin ? 0 : below(draw, 5)) {
    case 0:
        say(draw, "bytes: %" PRIu64 "B", spread(draw, 1, 4000));
        break;
    case 1:
        say(draw, "bytes: {uniform: [%" PRIu64 "B, %" PRIu64 "B]}", spread(draw, 1, 200),
            spread(draw, 200, 4000));
        break;
    case 2:
        say(draw, "bytes: {lognormal: {mean: %" PRIu64 "B, sigma: %s}}", spread(draw, 10, 2000),
            chance(draw, 50) ? "0.5" : "2");
        break;
    case 3:
        say(draw, "bytes: {pareto: {min: %" PRIu64 "B, alpha: %s}}", spread(draw, 10, 2000),
            chance(draw, 50) ? "0.4" : "1.5");
        break;
    default:
        say(draw, "cells: 3");
    }
}

static void say_rows(struct draw *draw)
{
    begin_part(draw, PART_ROWS, 0);
    say(draw, "row: {");
    say_bytes(draw);
    bool may_go = draw->has_left;
    if ((may_go && (draw->is_thin || chance(draw, 60))) ||
        (draw->has_expiring && draw->reach_ns == draw->duration_ns)) {
        int64_t ttl_ns = part_of(draw, draw->duration_ns, 1, 1100);
        ttl_ns = ttl_ns < SIM_SECOND ? SIM_SECOND : ttl_ns;
        say(draw, ", ttl: %" PRId64 "ns", ttl_ns);
    }
    say(draw, "}\n");
    if (may_go && !draw->is_thin && chance(draw, 60))
        say(draw, "deletes: {share: %u%%, after: %" PRId64 "ns}\n", (unsigned)between(draw, 1, 90),
            part_of(draw, draw->duration_ns, 1, 500));
}

/* --- reads */

static void say_plan(struct draw *draw)
{
    static const char *const plans[] = {"walk", "pair", "parallel", "parallel"};
    static const char *const of_hash[] = {"all", "lazy", "parallel", "walk"};
    if (chance(draw, 40))
        return;
    uint64_t plan = below(draw, 4);
    const char *name = draw->all_hash ? of_hash[plan] : plans[plan];
    say(draw, ", plan: %s", name);
    if (strcmp(name, "parallel") == 0 && chance(draw, 70))
        say(draw, ", at_once: %" PRIu64, spread(draw, 1, 12));
}

static void say_reads(struct draw *draw, bool may_range)
{
    begin_part(draw, PART_READS, 0);
    double days = (double)draw->duration_ns / (double)SIM_DAY;
    bool is_latest = chance(draw, 70);
    draw->has_range = may_range && chance(draw, 50);
    draw->has_all = chance(draw, 40) || (!is_latest && !draw->has_range);
    say(draw, "reads:\n");
    if (is_latest) {
        say(draw, "  latest: {rows: %" PRIu64 ", rate: %.6f/d", spread(draw, 1, 150),
            (double)spread(draw, 4, 60) / days);
        say_plan(draw);
        say(draw, "}\n");
    }
    if (draw->has_range) {
        say(draw, "  range: {span: %" PRId64 "ns, ", part_of(draw, draw->duration_ns, 1, 600));
        if (chance(draw, 60))
            say(draw, "age: %" PRId64 "ns, ", part_of(draw, draw->duration_ns, 1, 500));
        say(draw, "rate: %.6f/d", (double)spread(draw, 4, 60) / days);
        say_plan(draw);
        say(draw, "}\n");
    }
    if (draw->has_all) {
        say(draw, "  all: {rate: %.6f/d", (double)spread(draw, 2, 20) / days);
        say_plan(draw);
        say(draw, "}\n");
    }
    if (chance(draw, 30))
        say(draw, "  limit: %" PRIu64 "\n", spread(draw, 1, 40));
}

/* --- the table */

static void say_table(struct draw *draw)
{
    begin_part(draw, PART_TABLE, 0);
    bool is_key_first = chance(draw, 70), has_key = is_key_first || chance(draw, 70);
    bool is_value_first = chance(draw, 40);
    bool has_second = chance(draw, 40), has_time = chance(draw, 60), has_id = chance(draw, 40);
    draw->has_bucket = chance(draw, 80) || (!is_key_first && !is_value_first);
    say(draw, "table:\n  name: t\n  columns: {");
    say(draw, "%s%s", has_key ? "k: key, " : "", draw->has_bucket ? "b: bucket, " : "");
    if (is_value_first)
        say(draw, "v: {values: %" PRIu64 "%s}, ", spread(draw, 1, 8), chance(draw, 50) ? ", zipf: 1.3" : "");
    if (has_second)
        say(draw, "w: {values: %" PRIu64 "}, ", spread(draw, 1, 40));
    say(draw, "%s%sd: data}\n  partition_key: [", has_time ? "at: time, " : "", has_id ? "i: id, " : "");
    const char *comma = "";
    if (draw->has_bucket) {
        say(draw, "b");
        comma = ", ";
    }
    if (is_value_first) {
        say(draw, "%sv", comma);
        comma = ", ";
    }
    say(draw, "%s]\n", is_key_first ? (*comma == '\0' ? "k" : ", k") : "");
    comma = "";
    if (!has_second && !has_time && !has_id && (is_key_first || !has_key))
        return;
    say(draw, "  clustering: [");
    const struct {
        bool is_there;
        const char *name;
    } columns[] = {
        {has_key && !is_key_first, "k"}, {has_second, "w"}, {has_time, "at"}, {has_id, "{i: desc}"}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (columns[i].is_there) {
            say(draw, "%s%s", comma, columns[i].name);
            comma = ", ";
        }
    }
    say(draw, "]\n");
}

/* --- strategies */

static void say_then(struct draw *draw, const char *kind)
{
    uint64_t count = between(draw, 1, 3);
    int64_t at_ns = 0;
    say(draw, ", then: [");
    for (uint64_t i = 0; i < count; i++) {
        int64_t before_ns = at_ns;
        at_ns += part_of(draw, draw->duration_ns / 4, 10, 1000);
        if (draw->grid_ns > 0 && at_ns > before_ns + draw->grid_ns) /* a change then comes with a row */
            at_ns -= at_ns % draw->grid_ns;
        say(draw, "%s{at: %" PRId64 "ns, ", i > 0 ? ", " : "", at_ns);
        if (chance(draw, 40))
            say(draw, "keep_old: false, ");
        if (strcmp(kind, "time") == 0)
            say(draw, "window: %" PRId64 "ns, shards: %" PRIu64, part_of(draw, draw->reach_ns, 3, 400),
                draw->seed % 4 == 2 ? 1 + draw->seed / 4 % 7 : 1);
        else if (strcmp(kind, "count") == 0)
            say(draw, "rows: %" PRIu64, spread(draw, 1, 100));
        else if (strcmp(kind, "hash") == 0)
            say(draw, "buckets: %" PRIu64, spread(draw, 1, 40));
        else if (strcmp(kind, "weighted") == 0)
            say(draw, "bytes: %" PRIu64 "B, threshold: %" PRIu64, spread(draw, 1, 4000), spread(draw, 1, 20));
        else
            say(draw, "bits: %" PRIu64 ", threshold: %" PRIu64, below(draw, 4), spread(draw, 1, 20));
        say(draw, "}");
    }
    say(draw, "]");
}

/* Settings that any strategy may have: either `then` or `read`, and max_age. A count has max_age only without
 * `then`. */
static void say_rest(struct draw *draw, const char *kind, bool may_age, bool may_change, uint64_t index)
{
    bool is_time = strcmp(kind, "time") == 0, is_hash = strcmp(kind, "hash") == 0;
    if (may_change && draw->has_then && chance(draw, 60)) {
        say_then(draw, kind);
        /* Every other strategy gets max_age here. This uses no draw, so that other draws stay as they are. */
        if (may_age && strcmp(kind, "count") != 0 && index % 2 == 0)
            say(draw, ", max_age: %" PRId64 "ns", 1000 + draw->reach_ns / (int64_t)(5 + 9 * index));
    } else {
        if (may_age && chance(draw, 30))
            say(draw, ", max_age: %" PRId64 "ns", part_of(draw, draw->reach_ns, 3, 700));
        if (draw->has_reads && !draw->has_then && chance(draw, 40)) {
            bool remembers = is_time && chance(draw, 60) && !draw->is_expected;
            static const char *const plans[] = {"walk", "pair", "parallel", "parallel"};
            static const char *const of_hash[] = {"all", "lazy", "lazy", "parallel"};
            uint64_t plan = below(draw, 4);
            bool is_lazy = is_hash && (plan == 1 || plan == 2);
            plan = is_lazy && draw->is_expected ? 0 : plan;
            say(draw, ", read: {plan: %s", is_hash ? of_hash[plan] : plans[plan]);
            if (remembers)
                say(draw, ", remember_empty: true, late: %" PRId64 "ns",
                    chance(draw, 40) ? 0 : part_of(draw, draw->duration_ns, 1, 300));
            say(draw, "}");
        }
    }
    say(draw, ", label: s%" PRIu64 "}\n", index);
}

/* Of counted buckets, in some seeds without a draw, so that other draws stay as they are. */
static void say_shards(struct draw *draw, uint64_t index)
{
    if (draw->seed % 4 == 3 && !draw->is_thin && !draw->is_expected)
        say(draw, ", shards: %" PRIu64, 1 + (draw->seed / 4 + index) % (draw->has_reads ? 9 : 64));
}

/* Few windows, so that readers never have more than 32 runs of empty windows to remember. */
static void say_time(struct draw *draw, uint64_t index)
{
    static const char *const calendars[] = {"hour", "day", "week", "month"};
    int64_t shortest_ns =
        draw->reach_ns / (draw->has_reads || draw->reach_ns > draw->duration_ns ? 60 : 3000);
    shortest_ns = shortest_ns < 1000 ? 1000 : shortest_ns;
    int64_t window_ns = shortest_ns * (int64_t)spread(draw, 1, 64) + (int64_t)below(draw, 999);
    window_ns = window_ns < DIGITS_18 ? window_ns : DIGITS_18;
    if (draw->grid_ns > 0 && window_ns > draw->grid_ns)
        window_ns = window_ns / draw->grid_ns * draw->grid_ns;
    if (draw->reach_ns < 60 * SIM_DAY && draw->reach_ns > SIM_HOUR && chance(draw, 35)) {
        uint64_t first = draw->reach_ns > 60 * SIM_HOUR ? 1 : 0;
        say(draw, "  - time: {calendar: %s", calendars[first + below(draw, 4 - first)]);
        say_rest(draw, "time", false, false, index);
        return;
    }
    if (draw->reach_ns >= 60 * SIM_DAY && chance(draw, 35)) {
        say(draw, "  - time: {calendar: month");
        say_rest(draw, "time", false, false, index);
        return;
    }
    /* In some seeds the run ends with a window. This uses no draw, so that other draws stay as they are. */
    if (draw->seed % 8 == 3 && index % 2 == 1 && draw->start != NULL) {
        say(draw, "  - time: {window: %" PRId64 "ns, epoch: %s", draw->duration_ns / 8, draw->start);
        say_rest(draw, "time", false, true, index);
        return;
    }
    say(draw, "  - time: {window: %" PRId64 "ns", window_ns);
    if (draw->seed % 4 == 1) /* without a draw, as above */
        say(draw, ", shards: %" PRIu64, 1 + (draw->seed / 4 + index) % (draw->has_reads ? 9 : 64));
    if (chance(draw, 30))
        say(draw, ", epoch: %s", chance(draw, 50) ? "2015-01-01T00:00:07Z" : "2150-06-01T03:00:00Z");
    say_rest(draw, "time", false, true, index);
}

static void say_count(struct draw *draw, uint64_t index)
{
    static const char *const sources[] = {"external", "counter",     "lwt", "lease",
                                          "memory",   "incremental", "scan"};
    /* Sources that count the stored rows need agents if rows expire or are deleted. */
    uint64_t source =
        draw->has_then || chance(draw, 40) ? 0 : below(draw, draw->has_left || draw->has_expiring ? 5 : 7);
    say(draw, "  - count: {rows: %" PRIu64 ", counter: %s", spread(draw, 1, 150), sources[source]);
    if (strcmp(sources[source], "lease") == 0)
        say(draw, ", batch: %" PRIu64, spread(draw, 1, 40));
    if (source >= 5)
        say(draw, ", every_rows: %" PRIu64, spread(draw, 1, 40));
    if (source < 4)
        say_shards(draw, index);
    say_rest(draw, "count", source == 0, source == 0, index);
}

static void say_strategy(struct draw *draw, uint64_t index)
{
    begin_part(draw, PART_STRATEGY, index);
    uint64_t kind = draw->all_hash ? 5 : draw->has_table && !draw->has_bucket ? 0 : below(draw, 8);
    switch (kind) {
    case 0:
        say(draw, "  - unbucketed: {read: {plan: %s}", chance(draw, 50) ? "walk" : "pair");
        say(draw, ", label: s%" PRIu64 "}\n", index);
        break;
    case 1:
    case 2:
        say_time(draw, index);
        break;
    case 3:
        say_count(draw, index);
        break;
    case 4:
    case 6:
        if (chance(draw, 30))
            say(draw, "  - probabilistic: {chance: %" PRIu64 "/%" PRIu64, spread(draw, 1, 5),
                spread(draw, 5, 40));
        else
            say(draw, "  - probabilistic: {bits: %" PRIu64, below(draw, 5));
        say(draw, ", threshold: %" PRIu64, spread(draw, 1, 20));
        say_shards(draw, index);
        say_rest(draw, "probabilistic", true, true, index);
        break;
    case 5:
        say(draw, "  - hash: {buckets: %" PRIu64, spread(draw, 1, chance(draw, 30) ? 600 : 12));
        say_rest(draw, "hash", false, true, index);
        break;
    default:
        say(draw, "  - weighted: {bytes: %" PRIu64 "B, threshold: %" PRIu64, spread(draw, 1, 4000),
            spread(draw, 1, 20));
        say_shards(draw, index);
        say_rest(draw, "weighted", true, true, index);
    }
}

static void say_end(struct draw *draw, uint64_t strategies)
{
    begin_part(draw, PART_RING, 0);
    say(draw,
        "limits: {partition_rows: %" PRIu64 ", partition_bytes: %" PRIu64 "B, tiny_rows: %" PRIu64 "}\n",
        spread(draw, 1, 200), spread(draw, 100, 200000), spread(draw, 1, 60));
    uint64_t nodes = draw->is_thin ? 1 : spread(draw, 1, 9);
    say(draw, "cluster: {nodes: %" PRIu64 ", replication_factor: %" PRIu64 ", num_tokens: %" PRIu64 "}\n",
        nodes, between(draw, 1, nodes), draw->is_thin ? 1 : spread(draw, 1, 16));
    say(draw, "strategies:\n");
    for (uint64_t i = 0; i < strategies; i++)
        say_strategy(draw, i);
}

/* --- a trace: lines in order of time, of events (with bytes) or of counts */

static char *draw_trace(struct draw *draw, const char *name)
{
    begin_part(draw, PART_TRACE, 0);
    bool has_counts = chance(draw, 50), is_old = chance(draw, 15);
    uint64_t lines = spread(draw, 1, 300), keys = spread(draw, 1, 12), gap_ms = spread(draw, 1, 4000000);
    size_t size = lines * 64 + 64, used = 0;
    char *csv = malloc(size);
    if (csv == NULL)
        abort();
    uint64_t grid_ms = chance(draw, 40) ? gap_ms / 4 + 1 : 1;
    int64_t first_ms = is_old ? -(int64_t)(lines * gap_ms / 2 / grid_ms * grid_ms)
                              : (int64_t)(UINT64_C(1767225600000) / grid_ms * grid_ms),
            time_ms = first_ms;
    used += (size_t)snprintf(csv, size, "timestamp_ms,key,%s\n", has_counts ? "count" : "bytes");
    for (uint64_t i = 0; i < lines; i++) {
        used += (size_t)snprintf(csv + used, size - used, "%" PRId64 ",k%" PRIu64 ",%" PRIu64 "\n", time_ms,
                                 below(draw, keys), below(draw, has_counts ? 12 : 3000) + (i == 0));
        if (chance(draw, 80))
            time_ms += (int64_t)(below(draw, 2 * gap_ms) / grid_ms * grid_ms);
    }
    draw->grid_ns = (int64_t)grid_ms * SIM_MS;
    draw->duration_ns = (time_ms - first_ms + 1000) * SIM_MS;
    draw->reach_ns = draw->duration_ns; /* includes what a shorter duration leaves out */
    say(draw, "trace: {file: %s}\n", name);
    if (has_counts && chance(draw, 70)) {
        say(draw, "row: {");
        say_bytes(draw);
        say(draw, "}\n");
    } else if (draw->has_left || draw->has_expiring) {
        int64_t ttl_ns = part_of(draw, draw->duration_ns, 1, 1100);
        say(draw, "row: {ttl: %" PRId64 "ns}\n", ttl_ns < SIM_SECOND ? SIM_SECOND : ttl_ns);
    }
    if (chance(draw, 30) && !is_old) { /* the first row is kept */
        draw->duration_ns = part_of(draw, draw->duration_ns, 100, 1500);
        say(draw, "duration: %" PRId64 "ns\n", draw->duration_ns);
    }
    return csv;
}

void stream_draw(uint64_t seed, const char *trace, char *text, char **csv)
{
    struct draw draw = {.seed = seed, .text = text, .many = 1};
    *csv = NULL;
    begin_part(&draw, PART_SHAPE, 0);
    bool is_trace = chance(&draw, 20);
    uint64_t shape = below(&draw, 10), strategies = between(&draw, 1, 5);
    draw.has_table = shape < 2;
    draw.has_left = shape == 2 || shape == 3;
    draw.has_reads = shape >= 4 && shape <= 8;
    draw.has_then = !draw.has_table && chance(&draw, 35);
    draw.all_hash = !draw.has_table && chance(&draw, 10);
    draw.has_bucket = true;
    /* Reads of a workload whose rows expire. */
    draw.has_expiring = draw.has_reads && !draw.has_then && chance(&draw, 40);
    say(&draw, "engine: exact\nseed: %" PRIu64 "\n", seed);
    if (is_trace) {
        *csv = draw_trace(&draw, trace);
    } else {
        say_span(&draw);
        say_keys(&draw);
        say_arrivals(&draw);
        say_rows(&draw);
    }
    bool has_own_times = draw.reach_ns > draw.duration_ns;
    if (draw.has_reads)
        say_reads(&draw, !has_own_times);
    if (draw.has_table)
        say_table(&draw);
    say_end(&draw, strategies);
}

void stream_draw_distribution(uint64_t seed, uint64_t many, char *text)
{
    struct draw draw = {.seed = seed, .text = text, .is_thin = true, .many = many};
    begin_part(&draw, PART_SHAPE, 1);
    uint64_t shape = below(&draw, 3);
    draw.has_left = shape == 0;
    draw.has_reads = shape == 1;
    draw.has_bucket = true;
    say_span(&draw);
    say_keys(&draw);
    say_arrivals(&draw);
    say_rows(&draw);
    if (draw.has_reads)
        say_reads(&draw, false);
    say_end(&draw, 3);
}

void stream_draw_expected(uint64_t seed, char *text)
{
    struct draw draw = {
        .seed = seed, .text = text, .many = 1, .has_reads = true, .has_bucket = true, .is_expected = true};
    begin_part(&draw, PART_SHAPE, 3);
    uint64_t strategies = between(&draw, 2, 5);
    say_span(&draw);
    say_keys(&draw);
    say_arrivals(&draw);
    begin_part(&draw, PART_READS, 1);
    double days = (double)draw.duration_ns / (double)SIM_DAY;
    say(&draw, "reads:\n  latest: {rows: %" PRIu64 ", rate: %.6f/d", spread(&draw, 1, 150),
        (double)spread(&draw, 1000, 100000) / days);
    say_plan(&draw);
    say(&draw, "}\n");
    if (chance(&draw, 30))
        say(&draw, "  all: {rate: %.6f/d}\n", (double)spread(&draw, 1000, 100000) / days);
    say_end(&draw, strategies);
}

void stream_draw_single(uint64_t seed, double wanted, double rows_most, char *text, struct stream_single *out)
{
    struct draw draw = {.seed = seed, .text = text, .many = 1};
    begin_part(&draw, PART_SHAPE, 2);
    *out = (struct stream_single){.is_weighted = chance(&draw, 40), .threshold = spread(&draw, 1, 20)};
    double rows_each;
    out->row_bytes = spread(&draw, 1, 300);
    char strategy[128];
    if (out->is_weighted) {
        /* Mostly near the row's own size, so that a row counts once, twice, or only now and then. */
        uint64_t near_bytes = out->row_bytes < 4 ? 1 : out->row_bytes / 4;
        out->unit_bytes =
            chance(&draw, 60) ? spread(&draw, near_bytes, 4 * out->row_bytes) : spread(&draw, 1, 4000);
        rows_each = (double)out->threshold * (double)out->unit_bytes / (double)out->row_bytes;
        rows_each = rows_each < 1 ? 1 : rows_each;
        snprintf(strategy, sizeof strategy, "weighted: {bytes: %" PRIu64 "B", out->unit_bytes);
    } else if (chance(&draw, 50)) {
        uint64_t part = spread(&draw, 1, 5), whole = spread(&draw, 5, 40);
        out->chance = (double)part / (double)whole;
        snprintf(strategy, sizeof strategy, "probabilistic: {chance: %" PRIu64 "/%" PRIu64, part, whole);
        rows_each = (double)out->threshold / out->chance;
    } else {
        unsigned bits = (unsigned)below(&draw, 5);
        out->chance = 1 / (double)(1u << bits);
        snprintf(strategy, sizeof strategy, "probabilistic: {bits: %u", bits);
        rows_each = (double)out->threshold / out->chance;
    }
    say(&draw,
        "duration: 1d\nkeys: {count: 1}\narrivals: {rate: %.6f/d}\nrow: {bytes: %" PRIu64
        "B, format: payload}\n"
        "cluster: {nodes: 1, replication_factor: 1, num_tokens: 1}\n"
        "strategies:\n  - %s, threshold: %" PRIu64 "}\n",
        rows_each * wanted < rows_most ? rows_each * wanted : rows_most, out->row_bytes, strategy,
        out->threshold);
}

void stream_draw_poisson(uint64_t seed, char *text, struct stream_poisson *out)
{
    static const unsigned parts_of_time[] = {2, 3, 4, 5, 6, 8, 10, 12, 15, 16};
    const unsigned seconds = 28800, keys = 12000;
    struct draw draw = {.seed = seed, .text = text, .many = 1};
    begin_part(&draw, PART_SHAPE, 4);
    out->is_hash = chance(&draw, 50);
    unsigned parts = out->is_hash ? (unsigned)between(&draw, 2, 12) : parts_of_time[below(&draw, 10)];
    out->mean = (double)spread(&draw, 3, 47) / 10;
    out->window_ns = (int64_t)(seconds / parts) * SIM_SECOND;
    say(&draw,
        "start: 2026-01-01T00:00:00Z\nduration: %us\nkeys: {count: %u}\narrivals: {rate: %.9f/s}\n"
        "row: {bytes: 100B, format: payload}\n"
        "cluster: {nodes: 1, replication_factor: 1, num_tokens: 1}\nstrategies:\n  - ",
        seconds, keys, out->mean * parts * keys / seconds);
    if (out->is_hash)
        say(&draw, "hash: {buckets: %u}\n", parts);
    else
        say(&draw, "time: {window: %us}\n", seconds / parts);
}
