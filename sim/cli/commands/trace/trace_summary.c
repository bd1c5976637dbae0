/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summarises a trace: the first pass finds span and keys, the second counts rows in time slots, and a third
 * pass counts rows per week if the trace has enough weeks. */
#include "trace_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/time.h"

#define SLOTS_MAX    (UINT64_C(1) << 23) /* about 16 years of minutes */
#define DAY_HOURS    24
#define CONFIDENCE   0.95 /* the default of tune */
#define HOUR_MINUTES 60u

struct pass {
    struct wl_trace *trace;
    struct trace_summary *out;
    uint64_t *key_rows;
    size_t key_rows_capacity;
    int64_t *key_last_ns;
    size_t key_last_capacity;
    uint64_t *slots;
    uint64_t slot_count;
    int64_t slot_ns, begin_ns;
};

static bool grow_keys(struct pass *pass, uint32_t key)
{
    size_t before = pass->key_rows_capacity;
    if (!sim_grow(&pass->key_rows, &pass->key_rows_capacity, (size_t)key + 1, sizeof *pass->key_rows) ||
        !sim_grow(&pass->key_last_ns, &pass->key_last_capacity, (size_t)key + 1, sizeof *pass->key_last_ns))
        return false;
    if (pass->key_rows_capacity > before)
        memset(pass->key_rows + before, 0, (pass->key_rows_capacity - before) * sizeof *pass->key_rows);
    return true;
}

static bool count_batch(struct pass *pass, const struct wl_trace_batch *batch, struct sim_error *error)
{
    struct trace_summary *out = pass->out;
    if (!grow_keys(pass, batch->key_index))
        return sim_fail_memory(error);
    if (batch->rows == 0)
        return true;
    int64_t last_ns = wl_trace_row_time(batch, batch->rows - 1);
    if (out->rows == 0 || batch->time_ns < out->first_ns)
        out->first_ns = batch->time_ns;
    if (out->rows == 0 || last_ns > out->last_ns)
        out->last_ns = last_ns;
    if (out->has_gaps && pass->key_rows[batch->key_index] > 0)
        lab_histogram_add(&out->gaps_ms,
                          (uint64_t)((batch->time_ns - pass->key_last_ns[batch->key_index]) / SIM_MS), 1, 0);
    if (out->has_sizes) {
        lab_histogram_add(&out->sizes, batch->bytes, batch->rows, 0);
        out->bytes += batch->bytes * batch->rows;
    }
    if (batch->late_ns > 0) {
        lab_histogram_add(&out->late_ms, (uint64_t)(batch->late_ns / SIM_MS), batch->rows, 0);
        out->late_mean_ns += (double)batch->late_ns * (double)batch->rows; /* the sum, divided at the end */
        out->late_rows += batch->rows;
    }
    pass->key_last_ns[batch->key_index] = last_ns;
    pass->key_rows[batch->key_index] += batch->rows;
    out->rows += batch->rows;
    return true;
}

static int descending(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a > b ? -1 : a < b;
}

/* All ranks if they are few; otherwise ranks whose distance grows with the rank. */
static void summarise_ranks(const struct pass *pass)
{
    struct trace_summary *out = pass->out;
    for (uint32_t i = 0; i < TRACE_RANKS_MAX; i++) {
        double part = (double)i / (TRACE_RANKS_MAX - 1);
        uint32_t rank = out->keys <= TRACE_RANKS_MAX ? i + 1 : (uint32_t)lround(pow(out->keys, part));
        if (rank > out->keys || (out->rank_count > 0 && rank <= out->ranks[out->rank_count - 1]))
            continue;
        out->ranks[out->rank_count] = rank;
        out->rank_rows[out->rank_count++] = pass->key_rows[rank - 1];
    }
}

static void summarise_keys(struct pass *pass)
{
    struct trace_summary *out = pass->out;
    uint64_t sum = 0;
    qsort(pass->key_rows, out->keys, sizeof *pass->key_rows, descending);
    summarise_ranks(pass);
    for (uint32_t i = 0; i < out->keys; i++) {
        lab_histogram_add(&out->key_rows, pass->key_rows[i], 1, 0);
        sum += pass->key_rows[i];
        double share = (double)sum / (double)out->rows;
        if (i == 0)
            out->top_key = share;
        if (i == (out->keys - 1) / 100)
            out->top_1_percent = share;
        if (i == (out->keys - 1) / 10)
            out->top_10_percent = share;
    }
}

/* The beginning of the slot that contains a time, where slots are counted from 1970 on. */
static int64_t begin_of(int64_t time_ns, int64_t slot_ns)
{
    int64_t into_ns = time_ns % slot_ns;
    return time_ns - (into_ns < 0 ? into_ns + slot_ns : into_ns);
}

/* The peak of the whole minutes or hours from that of the first row on. */
static struct trace_peak peak_of(const struct pass *pass, int64_t slot_ns)
{
    struct trace_peak peak = {.slot_ns = slot_ns};
    int64_t begin_ns = begin_of(pass->begin_ns, slot_ns);
    uint64_t of = (uint64_t)(slot_ns / pass->slot_ns), rows = 0, slots = 0, empty = 0;
    uint64_t before = (uint64_t)((pass->begin_ns - begin_ns) / pass->slot_ns);
    for (uint64_t i = 0; i < pass->slot_count; i++) {
        rows += pass->slots[i];
        if ((before + i + 1) % of != 0 && i + 1 < pass->slot_count)
            continue;
        empty += rows == 0;
        if (rows > peak.rows) {
            peak.rows = rows;
            peak.begin_ns = begin_ns + (int64_t)slots * slot_ns;
        }
        slots++;
        rows = 0;
    }
    double span = (double)(pass->out->last_ns - pass->out->first_ns) / (double)peak.slot_ns;
    peak.over_mean = (double)peak.rows / ((double)pass->out->rows / (span > 1 ? span : 1));
    peak.empty = (double)empty / (double)slots;
    return peak;
}

static void summarise_day(const struct pass *pass)
{
    struct trace_summary *out = pass->out;
    double hours[DAY_HOURS] = {0};
    out->has_day = out->last_ns - out->first_ns >= 2 * SIM_DAY;
    for (uint64_t i = 0; out->has_day && i < pass->slot_count; i++) {
        int64_t time_ns = pass->begin_ns + (int64_t)i * pass->slot_ns;
        hours[(time_ns - begin_of(time_ns, SIM_DAY)) / SIM_HOUR] += (double)pass->slots[i];
    }
    for (int hour = 1; hour < DAY_HOURS; hour++) {
        if (hours[hour] > hours[out->busiest_hour])
            out->busiest_hour = hour;
        if (hours[hour] < hours[out->quietest_hour])
            out->quietest_hour = hour;
    }
    out->busiest_over_mean = hours[out->busiest_hour] * DAY_HOURS / (double)out->rows;
    out->quietest_over_mean = hours[out->quietest_hour] * DAY_HOURS / (double)out->rows;
}

static void summarise_slots(const struct pass *pass)
{
    struct trace_summary *out = pass->out;
    uint64_t first = 0, second = 0;
    if (pass->slot_ns == SIM_MINUTE)
        out->minute = peak_of(pass, SIM_MINUTE);
    out->hour = peak_of(pass, SIM_HOUR);
    for (size_t i = 0; i < TRACE_PARTS / 2; i++) {
        first += out->parts[i];
        second += out->parts[TRACE_PARTS / 2 + i];
    }
    out->second_half = first == 0 ? 0 : (double)second / (double)first;
    summarise_day(pass);
}

/* Slots are whole minutes, or whole hours in a long trace, from that of the first row on. */
static bool make_slots(struct pass *pass, struct sim_error *error)
{
    const struct trace_summary *out = pass->out;
    uint64_t minutes = ((uint64_t)out->last_ns - (uint64_t)out->first_ns) / (uint64_t)SIM_MINUTE;
    pass->slot_ns = minutes >= SLOTS_MAX ? SIM_HOUR : SIM_MINUTE;
    pass->begin_ns = begin_of(out->first_ns, pass->slot_ns);
    pass->slot_count = ((uint64_t)out->last_ns - (uint64_t)pass->begin_ns) / (uint64_t)pass->slot_ns + 1;
    pass->slots = calloc(pass->slot_count, sizeof *pass->slots);
    return pass->slots != NULL || sim_fail_memory(error);
}

static bool read_twice(struct pass *pass, struct sim_error *error)
{
    struct trace_summary *out = pass->out;
    struct wl_trace_batch batch;
    int64_t part_ns;
    bool more = true;
    while (more) {
        if (!wl_trace_next(pass->trace, &batch, &more, error) || (more && !count_batch(pass, &batch, error)))
            return false;
    }
    out->keys = wl_trace_key_count(pass->trace);
    snprintf(out->read_as, sizeof out->read_as, "%s", wl_trace_text(pass->trace));
    out->late_mean_ns /= out->late_rows == 0 ? 1 : (double)out->late_rows;
    summarise_keys(pass);
    if (!make_slots(pass, error) || !wl_trace_rewind(&pass->trace, error))
        return false;
    part_ns = (int64_t)(((uint64_t)out->last_ns - (uint64_t)out->first_ns) / TRACE_PARTS) + 1;
    for (more = true; more;) {
        if (!wl_trace_next(pass->trace, &batch, &more, error))
            return false;
        if (more) {
            wl_trace_slot_rows(&batch, pass->begin_ns, pass->slot_ns, pass->slots, pass->slot_count);
            wl_trace_slot_rows(&batch, out->first_ns, part_ns, out->parts, TRACE_PARTS);
        }
    }
    summarise_slots(pass);
    return !(out->key_rows.out_of_memory || out->sizes.out_of_memory || out->gaps_ms.out_of_memory ||
             out->late_ms.out_of_memory) ||
           sim_fail_memory(error);
}

bool trace_summary_make(const struct lab_scenario *scenario, struct trace_summary *out,
                        struct sim_error *error)
{
    struct pass pass = {.out = out};
    *out = (struct trace_summary){.rows = 0};
    lab_histogram_init(&out->key_rows);
    lab_histogram_init(&out->sizes);
    lab_histogram_init(&out->gaps_ms);
    lab_histogram_init(&out->late_ms);
    out->has_arrivals = scenario->workload.is_late_trace;
    bool ok = wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &pass.trace, error);
    if (ok) {
        out->has_sizes = wl_trace_has_sizes(pass.trace);
        out->has_gaps = !wl_trace_has_counts(pass.trace);
        ok = read_twice(&pass, error);
    }
    wl_trace_close(pass.trace);
    ok = ok && tune_growth_read(scenario, out->first_ns, out->last_ns, CONFIDENCE, &out->growth, error);
    free(pass.key_rows);
    free(pass.key_last_ns);
    free(pass.slots);
    if (!ok)
        trace_summary_clear(out);
    return ok;
}

uint64_t trace_summary_quantile(const struct lab_histogram *histogram, double share)
{
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    uint64_t seen = 0, size = 0;
    double wanted = ceil(share * (double)histogram->count);
    for (size_t i = 0; bins != NULL && i < count && (double)seen < wanted; i++) {
        seen += bins[i].count;
        size = bins[i].size;
    }
    free(bins);
    return size;
}

void trace_summary_clear(struct trace_summary *summary)
{
    lab_histogram_clear(&summary->key_rows);
    lab_histogram_clear(&summary->sizes);
    lab_histogram_clear(&summary->gaps_ms);
    lab_histogram_clear(&summary->late_ms);
}
