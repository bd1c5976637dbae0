/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the rows of a key: their arrivals as a nonhomogeneous Poisson process, their ids, sizes and lateness,
 * and its history. */
#include "workload/workload.h"

#include <assert.h>
#include <string.h>

#include "kernel/number.h"
#include "kernel/time.h"
#include "workload/trace.h"

#define DAILY_STEPS   96
#define DAILY_STEP_NS (SIM_DAY / DAILY_STEPS)
/* Below 2^52 ns (52 days) a double represents every nanosecond exactly. */
#define SEGMENT_NS_MAX (INT64_C(1) << 52)
/* A rate of 0 is replaced by one row in 2^200 ns, so that the rest of a gap is kept until the rate rises
 * again. */
#define RATE_LEAST_PER_NS 0x1p-200
/* Rounds of the permutation that chooses the keys of a spike with keys_count. */
#define FEISTEL_ROUNDS 8u

__extension__ typedef __int128 wide;

/* Formatted by hand, since snprintf() costs as much as drawing ten rows, and there may be millions of
 * keys. */
size_t wl_key_name(uint64_t key_index, char *out)
{
    char digits[20];
    size_t first = sizeof digits, size;
    do {
        digits[--first] = (char)('0' + key_index % 10);
        key_index /= 10;
    } while (key_index > 0);
    memcpy(out, "key-", 4);
    size = sizeof digits - first;
    memcpy(out + 4, digits + first, size);
    out[4 + size] = '\0';
    return 4 + size;
}

/* cos(2 pi j / 96), j = 0 to 24. */
static const double quarter[DAILY_STEPS / 4 + 1] = {0x1.0000000000000p+0,
                                                    0x1.fee75d62a9c46p-1,
                                                    0x1.fb9ea92ec689bp-1,
                                                    0x1.f6297cff75cb0p-1,
                                                    0x1.ee8dd4748bf15p-1,
                                                    0x1.e4d406a38e9abp-1,
                                                    0x1.d906bcf328d46p-1,
                                                    0x1.cb32e76b1d0f4p-1,
                                                    0x1.bb67ae8584caap-1,
                                                    0x1.a9b66290ea1a3p-1,
                                                    0x1.963268b572492p-1,
                                                    0x1.80f125b1e8028p-1,
                                                    0x1.6a09e667f3bcdp-1,
                                                    0x1.5195c65137f0cp-1,
                                                    0x1.37af93f9513eap-1,
                                                    0x1.1c73b39ae68c8p-1,
                                                    0x1.0000000000000p-1,
                                                    0x1.c4e7538f866fcp-2,
                                                    0x1.87de2a6aea963p-2,
                                                    0x1.49276d5c7bb48p-2,
                                                    0x1.0907dc1930690p-2,
                                                    0x1.8f8b83c69a60bp-3,
                                                    0x1.0b5150f6da2d1p-3,
                                                    0x1.0be426d197a8bp-4,
                                                    0.0};

/* One of the steps is centred on the peak, so their mean is 1 wherever the peak is. */
static int64_t daily_step(const struct wl_workload *workload, int64_t time_ns, int64_t *since_ns)
{
    int64_t since_peak = (time_ns - workload->daily_peak_ns + DAILY_STEP_NS / 2) % SIM_DAY;
    if (since_peak < 0)
        since_peak += SIM_DAY;
    *since_ns = since_peak % DAILY_STEP_NS;
    return since_peak / DAILY_STEP_NS;
}

static double step_factor(const struct wl_workload *workload, int64_t step)
{
    const int64_t away = step > DAILY_STEPS / 2 ? DAILY_STEPS - step : step;
    const double cosine = away <= DAILY_STEPS / 4 ? quarter[away] : -quarter[DAILY_STEPS / 2 - away];
    return 1 + workload->daily_amplitude * cosine;
}

static double daily_factor(const struct wl_workload *workload, int64_t time_ns, int64_t *until_ns)
{
    int64_t since_ns, step = daily_step(workload, time_ns, &since_ns);
    if (time_ns + (DAILY_STEP_NS - since_ns) < *until_ns)
        *until_ns = time_ns + (DAILY_STEP_NS - since_ns);
    return step_factor(workload, step);
}

static int64_t day_of(int64_t time_ns)
{
    return time_ns / SIM_DAY - (time_ns % SIM_DAY < 0);
}

static double grown(const struct wl_workload *workload, int64_t day)
{
    const double days = (double)(day - day_of(workload->start_ns));
    return workload->growth > 1 ? sim_exp(sim_log(workload->growth) * days / 365) : 1;
}

double wl_week_factor(const struct wl_workload *workload, int64_t day)
{
    const int64_t weekday = ((day + 3) % 7 + 7) % 7; /* 0: Monday */
    const double mean = (5 + 2 * workload->weekend) / 7;
    return !workload->has_weekend ? 1 : weekday >= 5 ? workload->weekend / mean : 1 / mean;
}

static double day_factor(const struct wl_workload *workload, int64_t time_ns, int64_t *until_ns)
{
    const int64_t day = day_of(time_ns);
    if ((day + 1) * SIM_DAY < *until_ns)
        *until_ns = (day + 1) * SIM_DAY;
    return wl_week_factor(workload, day) * grown(workload, day);
}

double wl_days_most(const struct wl_workload *workload, int64_t until_ns)
{
    const double weekend = wl_week_factor(workload, 2), other = wl_week_factor(workload, 0);
    return (weekend > other ? weekend : other) * grown(workload, day_of(until_ns));
}

/* Adds a gap of at least 1 ns, so that time advances; a sum that would overflow is INT64_MAX, which is never
 * reached. */
static int64_t add_gap(int64_t time_ns, double gap_ns)
{
    if (gap_ns >= 0x1p62)
        return INT64_MAX;
    return sim_time_after(time_ns, gap_ns < 1 ? 1 : (int64_t)gap_ns);
}

static double burst_factor(struct wl_key *key, int64_t time_ns, int64_t *until_ns)
{
    const struct wl_workload *workload = key->workload;
    while (key->burst_until_ns <= time_ns) {
        key->burst_is_on = !key->burst_is_on;
        double mean = (double)(key->burst_is_on ? workload->burst_on_ns : workload->burst_off_ns);
        key->burst_until_ns = add_gap(key->burst_until_ns, sim_exponential(&key->bursts) * mean);
    }
    if (key->burst_until_ns < *until_ns)
        *until_ns = key->burst_until_ns;
    return key->burst_is_on ? workload->burst_factor : 1.0;
}

static double spike_factor(const struct wl_key *key, int64_t time_ns, int64_t *until_ns)
{
    const struct wl_workload *workload = key->workload;
    double factor = 1;
    for (size_t i = 0; i < workload->spike_count; i++) {
        int64_t begin_ns = workload->start_ns + workload->spikes[i].at_ns;
        int64_t end_ns = begin_ns + workload->spikes[i].lasts_ns;
        int64_t edge_ns = time_ns < begin_ns ? begin_ns : end_ns;
        if (edge_ns > time_ns && edge_ns < *until_ns)
            *until_ns = edge_ns;
        if (time_ns >= begin_ns && time_ns < end_ns && wl_spike_strikes(workload, i, key->key_index))
            factor *= workload->spikes[i].factor;
    }
    return factor;
}

static double bounded(double rate)
{
    return rate > RATE_LEAST_PER_NS ? rate : RATE_LEAST_PER_NS;
}

static void begin_segment(struct wl_key *key, int64_t begin_ns, double units)
{
    const struct wl_workload *workload = key->workload;
    int64_t end_ns = workload->start_ns + workload->duration_ns;
    int64_t until_ns = end_ns - begin_ns > SEGMENT_NS_MAX ? begin_ns + SEGMENT_NS_MAX : end_ns;
    double rate = key->base_rate_per_ns;
    if (begin_ns < end_ns) {
        if (workload->has_bursts)
            rate *= burst_factor(key, begin_ns, &until_ns);
        if (workload->has_daily)
            rate *= daily_factor(workload, begin_ns, &until_ns);
        if (wl_has_days(workload))
            rate *= day_factor(workload, begin_ns, &until_ns);
        if (workload->spike_count > 0)
            rate *= spike_factor(key, begin_ns, &until_ns);
    }
    key->segment_begin_ns = begin_ns;
    key->segment_end_ns = until_ns;
    key->rate_per_ns = bounded(rate);
    key->gap_ns = 1 / key->rate_per_ns;
    key->next_ns = units * key->gap_ns;
}

double wl_segments(const struct wl_workload *workload)
{
    const double lasts_ns = (double)workload->duration_ns;
    double each = 1 + 2 * (double)workload->spike_count;
    if (workload->has_daily)
        each += lasts_ns / (double)DAILY_STEP_NS;
    if (wl_has_days(workload))
        each += lasts_ns / (double)SIM_DAY;
    if (workload->has_bursts)
        each += 2 * lasts_ns / ((double)workload->burst_on_ns + (double)workload->burst_off_ns);
    return each * (double)workload->key_count;
}

/* Passes segments without a row that are whole steps of the daily curve, as begin_segment() would: a quiet
 * key has many of them. Passes none that ends after until_ns. */
static void pass_quiet_steps(struct wl_key *key, int64_t until_ns)
{
    const struct wl_workload *workload = key->workload;
    int64_t end_ns = key->segment_end_ns, since_ns;
    double next = key->next_ns, rate = key->rate_per_ns, base = key->base_rate_per_ns;
    if (end_ns - key->segment_begin_ns != DAILY_STEP_NS || next < DAILY_STEP_NS ||
        end_ns + DAILY_STEP_NS > until_ns)
        return;
    int64_t limit_ns = until_ns, step = daily_step(workload, key->segment_begin_ns, &since_ns);
    if (workload->has_bursts)
        base *= burst_factor(key, key->segment_begin_ns, &limit_ns);
    const double day = wl_has_days(workload) ? day_factor(workload, key->segment_begin_ns, &limit_ns) : 1;
    const bool is_spike =
        workload->spike_count > 0 && spike_factor(key, key->segment_begin_ns, &limit_ns) != 1;
    while (!is_spike && next >= DAILY_STEP_NS && end_ns + DAILY_STEP_NS <= limit_ns) {
        const double units = (next - DAILY_STEP_NS) * rate;
        step = step + 1 < DAILY_STEPS ? step + 1 : 0;
        end_ns += DAILY_STEP_NS;
        rate = bounded(base * step_factor(workload, step) * day);
        next = units * (1 / rate);
    }
    key->segment_begin_ns = end_ns - DAILY_STEP_NS;
    key->segment_end_ns = end_ns;
    key->rate_per_ns = rate;
    key->gap_ns = 1 / rate;
    key->next_ns = next;
}

/* Sets the time of the row that is due. */
static void take_step(struct wl_key *key, int64_t due_ns)
{
    const int64_t most = key->workload->jitter_ns;
    const double jitter = (double)(most < key->step_ns ? most : key->step_ns);
    key->segment_begin_ns = due_ns;
    key->segment_end_ns =
        sim_time_after(due_ns, jitter > 0 ? (int64_t)(sim_random_unit(&key->arrivals) * jitter) : 0);
}

/* The step is as given, unless `tune` tries another rate. */
static void begin_steps(struct wl_key *key)
{
    const struct wl_workload *workload = key->workload;
    const double every = (double)workload->every_ns,
                 faster = workload->rate_per_s / ((double)workload->key_count / (every * 1e-9));
    key->step_ns = faster == 1 ? workload->every_ns : (int64_t)(every / faster + 0.5);
    take_step(key, sim_time_after(workload->start_ns,
                                  (int64_t)(sim_random_unit(&key->arrivals) * (double)key->step_ns)));
}

static size_t rows_by_step(struct wl_key *key, int64_t until_ns, size_t most, int64_t *times_ns)
{
    size_t count = 0;
    while (count < most && key->segment_end_ns < until_ns) {
        times_ns[count++] = key->segment_end_ns;
        take_step(key, sim_time_after(key->segment_begin_ns, key->step_ns));
    }
    return count;
}

/* Assigned member by member: clearing the whole struct first would cost more than drawing a row. */
void wl_key_init(struct wl_key *key, const struct wl_workload *workload, uint64_t key_index)
{
    assert(key_index < workload->key_count);
    key->workload = workload;
    key->key_index = key_index;
    key->burst_is_on = false;
    key->bytes = key->bursts = (struct sim_random){{0}};
    sim_random_init(&key->arrivals, workload->seed, SIM_ARRIVAL, key_index);
    sim_random_init(&key->ids, workload->seed, SIM_ROW_ID, key_index);
    if (workload->row_bytes.kind != SIM_SIZE_CONSTANT)
        sim_random_init(&key->bytes, workload->seed, SIM_ROW_BYTES, key_index);
    key->base_rate_per_ns = workload->rate_per_s * sim_zipf_share(&workload->popularity, key_index) * 1e-9;
    key->burst_until_ns = INT64_MAX;
    if (workload->has_bursts) {
        sim_random_init(&key->bursts, workload->seed, SIM_BURST, key_index);
        key->base_rate_per_ns /= wl_burst_mean(workload);
        key->burst_is_on = sim_random_unit(&key->bursts) < wl_burst_share(workload);
        double mean = (double)(key->burst_is_on ? workload->burst_on_ns : workload->burst_off_ns);
        key->burst_until_ns = add_gap(workload->start_ns, sim_exponential(&key->bursts) * mean);
    }
    key->step_ns = 0;
    if (workload->every_ns > 0)
        begin_steps(key);
    else
        begin_segment(key, workload->start_ns, sim_exponential(&key->arrivals));
}

size_t wl_key_rows(struct wl_key *key, int64_t until_ns, size_t most, int64_t *times_ns, uint64_t *ids,
                   uint64_t *bytes)
{
    const struct wl_workload *workload = key->workload;
    int64_t end_ns = workload->start_ns + workload->duration_ns;
    if (until_ns > end_ns)
        until_ns = end_ns;
    size_t count = key->step_ns > 0 ? rows_by_step(key, until_ns, most, times_ns) : 0;
    while (key->step_ns == 0 && count < most && key->segment_begin_ns < until_ns) {
        int64_t begin = key->segment_begin_ns, length = key->segment_end_ns - begin;
        double stop = until_ns < key->segment_end_ns ? (double)(until_ns - begin) : (double)length;
        struct sim_random arrivals = key->arrivals;
        double next = key->next_ns, gap = key->gap_ns;
        while (next < stop && count < most) {
            times_ns[count++] = begin + (int64_t)next;
            next += sim_exponential(&arrivals) * gap;
        }
        key->arrivals = arrivals;
        key->next_ns = next;
        if (next < stop || until_ns < key->segment_end_ns)
            break;
        /* The rest of the gap, in units of its mean, continues at the next segment's rate. */
        begin_segment(key, key->segment_end_ns, (next - (double)length) * key->rate_per_ns);
        if (workload->has_daily)
            pass_quiet_steps(key, until_ns);
    }
    struct sim_random stream = key->ids;
    for (size_t i = 0; ids != NULL && i < count; i++)
        ids[i] = sim_random_next(&stream);
    key->ids = stream;
    if (bytes != NULL)
        wl_row_sizes(workload, &key->bytes, bytes, count);
    return count;
}

bool wl_key_stretch(struct wl_key *key, struct wl_stretch *out)
{
    *out = (struct wl_stretch){key->segment_begin_ns, key->segment_end_ns, key->rate_per_ns};
    if (out->begin_ns >= key->workload->start_ns + key->workload->duration_ns)
        return false;
    begin_segment(key, key->segment_end_ns, 0);
    return true;
}

bool wl_key_pace(struct wl_key *key, size_t pieces, double rows, struct wl_pace *out)
{
    struct wl_stretch stretch = {0, 0, 0};
    struct wl_edge *edge = out->edges;
    out->count = 0;
    while (out->count < pieces && (out->count == 0 || edge->rows < rows) && wl_key_stretch(key, &stretch)) {
        if (out->count++ == 0)
            *edge = (struct wl_edge){stretch.begin_ns, 0, 0};
        const double length = (double)(stretch.end_ns - stretch.begin_ns),
                     more = length * stretch.rate_per_ns,
                     since = (double)(stretch.begin_ns - out->edges[0].time_ns);
        edge[1] =
            (struct wl_edge){stretch.end_ns, edge->rows + more, edge->moment + more * (since + length / 2)};
        edge++;
    }
    return out->count > 0;
}

/* The last piece that begins at or before a time. The binary search has no branches. */
static const struct wl_edge *piece_of(const struct wl_pace *pace, int64_t time_ns)
{
    const struct wl_edge *edge = pace->edges;
    for (size_t left = pace->count; left > 1; left -= left / 2)
        edge += left / 2 & -(size_t)(edge[left / 2].time_ns <= time_ns);
    return edge;
}

double wl_pace_rows(const struct wl_pace *pace, int64_t time_ns)
{
    const struct wl_edge *edge = piece_of(pace, time_ns);
    return edge->rows + (edge[1].rows - edge->rows) *
                            ((double)(time_ns - edge->time_ns) / (double)(edge[1].time_ns - edge->time_ns));
}

int64_t wl_pace_at(const struct wl_pace *pace, double rows)
{
    const struct wl_edge *edge = pace->edges;
    for (size_t left = pace->count; left > 1; left -= left / 2)
        edge += left / 2 & -(size_t)(edge[left / 2].rows <= rows);
    const double some = rows - edge->rows, all = edge[1].rows - edge->rows;
    return edge->time_ns +
           (int64_t)((double)(edge[1].time_ns - edge->time_ns) * (some < all ? some / all : 1));
}

double wl_pace_share(const struct wl_pace *pace, int64_t begin_ns, int64_t line_ns, int64_t end_ns)
{
    if (pace->count > 1) {
        const double before = wl_pace_rows(pace, begin_ns), all = wl_pace_rows(pace, end_ns) - before;
        const double share = (wl_pace_rows(pace, line_ns) - before) / all;
        if (share >= 0 && share <= 1)
            return share;
    }
    return (double)(line_ns - begin_ns) / (double)(end_ns - begin_ns);
}

int64_t wl_pace_place(const struct wl_pace *pace, int64_t begin_ns, int64_t end_ns, double share)
{
    if (pace->count > 1) {
        const double before = wl_pace_rows(pace, begin_ns);
        const int64_t time_ns = wl_pace_at(pace, before + (wl_pace_rows(pace, end_ns) - before) * share);
        return time_ns < begin_ns ? begin_ns : time_ns < end_ns ? time_ns : end_ns;
    }
    return begin_ns + (int64_t)((double)(end_ns - begin_ns) * share);
}

bool wl_pace_is_level(const struct wl_pace *pace, int64_t begin_ns, int64_t end_ns)
{
    return pace->count == 1 || end_ns <= piece_of(pace, begin_ns)[1].time_ns;
}

/* The sum of the times of the rows expected before a time. */
static double moment_at(const struct wl_pace *pace, int64_t time_ns)
{
    const struct wl_edge *edge = piece_of(pace, time_ns);
    const double rows = wl_pace_rows(pace, time_ns) - edge->rows;
    const int64_t start_ns = pace->edges[0].time_ns;
    return edge->moment + rows * ((double)(edge->time_ns - start_ns) + (double)(time_ns - start_ns)) / 2;
}

double wl_pace_mean_ns(const struct wl_pace *pace, int64_t begin_ns, int64_t end_ns)
{
    const double length = (double)(end_ns - begin_ns),
                 rows = wl_pace_rows(pace, end_ns) - wl_pace_rows(pace, begin_ns);
    if (pace->count == 1 || rows <= 0)
        return length / 2;
    const double mean = (moment_at(pace, end_ns) - moment_at(pace, begin_ns)) / rows -
                        (double)(begin_ns - pace->edges[0].time_ns);
    return mean < 0 ? 0 : mean < length ? mean : length;
}

/* A random permutation of [0, count), one number at a time: a Feistel network over the next even power of
 * two, walked until it is back within the range (Black and Rogaway, "Ciphers with arbitrary finite domains").
 */
static uint64_t permuted(uint64_t seed, uint64_t number, uint64_t count)
{
    unsigned half = 1;
    while (half < 32 && count > UINT64_C(1) << 2 * half)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = number >> half, right = number & mask;
        for (uint64_t round = 0; round < FEISTEL_ROUNDS; round++) {
            uint64_t next = left ^ (sim_mix64(seed ^ sim_mix64(right + (round << 32))) & mask);
            left = right;
            right = next;
        }
        number = left << half | right;
    } while (number >= count);
    return number;
}

bool wl_spike_strikes(const struct wl_workload *workload, size_t spike_index, uint64_t key_index)
{
    const struct wl_spike *spike = &workload->spikes[spike_index];
    uint64_t seed = sim_hash(workload->seed, SIM_SPIKE, spike_index);
    if (spike->keys_count > 0)
        return permuted(seed, key_index, workload->key_count) < spike->keys_count;
    struct sim_random draw;
    sim_random_init(&draw, seed, SIM_SPIKE, key_index);
    return sim_random_unit(&draw) < spike->keys_share;
}

/* The rows of a key: those of its stream, and its history, with their lateness. */

int64_t wl_late_most_ns(const struct wl_workload *workload)
{
    int64_t late_ns = workload->late_share > 0 ? WL_LATE_MEANS_MAX * workload->late_mean_ns : 0;
    int64_t history_ns =
        workload->backfill_before_ns > 0 ? workload->backfill_before_ns + workload->backfill_lasts_ns : 0;
    if (workload->is_late_trace)
        return WL_TRACE_LATE_MAX + workload->resolution_ns;
    return (late_ns > history_ns ? late_ns : history_ns) + workload->resolution_ns;
}

int64_t wl_own_time(const struct wl_workload *workload, int64_t clock_ns, int64_t late_ns)
{
    int64_t time_ns = clock_ns - late_ns;
    if (workload->resolution_ns == 0)
        return time_ns;
    int64_t into_ns = time_ns % workload->resolution_ns;
    return time_ns - (into_ns < 0 ? into_ns + workload->resolution_ns : into_ns);
}

static void history_go_on(struct wl_history *history)
{
    double gap_ns = sim_exponential(&history->arrivals) * history->gap_ns;
    if (gap_ns < (double)(history->until_ns - history->next_ns))
        history->next_ns += (int64_t)gap_ns;
    else
        history->next_ns = INT64_MAX;
}

/* The number of the history's rows follows from its rate and its length; they are loaded at a constant
 * rate. */
static void history_begin(struct wl_history *history, const struct wl_workload *workload, uint64_t key_index)
{
    uint64_t seed = sim_hash(workload->seed, SIM_BACKFILL, key_index);
    sim_random_init(&history->arrivals, seed, SIM_ARRIVAL, key_index);
    sim_random_init(&history->ids, seed, SIM_ROW_ID, key_index);
    sim_random_init(&history->bytes, seed, SIM_ROW_BYTES, key_index);
    double share = sim_zipf_share(&workload->popularity, key_index);
    double faster = (double)workload->backfill_before_ns / (double)workload->backfill_lasts_ns;
    history->gap_ns = 1 / (workload->backfill_rate_per_s * share * faster * 1e-9);
    history->next_ns = workload->start_ns;
    history->until_ns = workload->start_ns + workload->backfill_lasts_ns;
    history_go_on(history);
}

void wl_rows_init(struct wl_rows *rows, const struct wl_workload *workload, uint64_t key_index)
{
    wl_key_init(&rows->live, workload, key_index);
    rows->lateness = (struct sim_random){{0}};
    if (workload->late_share > 0)
        sim_random_init(&rows->lateness, workload->seed, SIM_LATE, key_index);
    rows->history = (struct wl_history){.next_ns = INT64_MAX};
    if (workload->backfill_before_ns > 0)
        history_begin(&rows->history, workload, key_index);
}

static size_t take_live(struct wl_rows *rows, int64_t until_ns, size_t most, const struct wl_columns *out,
                        size_t at)
{
    const struct wl_workload *workload = rows->live.workload;
    size_t count =
        wl_key_rows(&rows->live, until_ns, most, out->times_ns + at, out->ids == NULL ? NULL : out->ids + at,
                    out->bytes == NULL ? NULL : out->bytes + at);
    if (out->late_ns == NULL)
        return count;
    double mean_ns = (double)workload->late_mean_ns;
    for (size_t i = at; i < at + count; i++) {
        out->late_ns[i] = 0;
        if (workload->late_share == 0 || sim_random_unit(&rows->lateness) >= workload->late_share)
            continue;
        double means = sim_exponential(&rows->lateness);
        out->late_ns[i] = (int64_t)((means < WL_LATE_MEANS_MAX ? means : WL_LATE_MEANS_MAX) * mean_ns);
    }
    return count;
}

/* The share of the loading time that has passed is the share of the history that was loaded, from either of
 * its ends. */
static int64_t history_late_ns(const struct wl_workload *workload, int64_t time_ns)
{
    int64_t since_ns = time_ns - workload->start_ns;
    int64_t into_ns = (int64_t)((wide)since_ns * workload->backfill_before_ns / workload->backfill_lasts_ns);
    bool is_reverse = workload->backfill_order == WL_REVERSE;
    return since_ns + (is_reverse ? into_ns + 1 : workload->backfill_before_ns - into_ns);
}

static void take_history(struct wl_rows *rows, const struct wl_columns *out, size_t at)
{
    const struct wl_workload *workload = rows->live.workload;
    struct wl_history *history = &rows->history;
    out->times_ns[at] = history->next_ns;
    if (out->ids != NULL)
        out->ids[at] = sim_random_next(&history->ids);
    if (out->bytes != NULL)
        wl_row_sizes(workload, &history->bytes, &out->bytes[at], 1);
    out->late_ns[at] = history_late_ns(workload, history->next_ns);
    history_go_on(history);
}

size_t wl_rows_next(struct wl_rows *rows, int64_t until_ns, size_t most, const struct wl_columns *out)
{
    size_t count = 0;
    for (;;) {
        int64_t history_ns = rows->history.next_ns;
        count += take_live(rows, history_ns < until_ns ? history_ns : until_ns, most - count, out, count);
        if (count == most || history_ns >= until_ns)
            return count;
        take_history(rows, out, count++);
    }
}
