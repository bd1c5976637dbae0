/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The naive engine's rows. For a synthetic workload, a key's rate is computed separately for each interval
 * between two moments at which anything may change, and the rows are generated one by one. A trace is read
 * whole, in the form in which its generator wrote it (no quotes, no compression). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/number.h"
#include "kernel/time.h"
#include "naive.h"

#define PIECE_NS_MAX  (INT64_C(1) << 52) /* above this a double skips nanoseconds */
#define ROW_BYTES_MAX (UINT64_C(1) << 40)
#define STEP_NS       (15 * SIM_MINUTE) /* of the daily curve */

void *naive_must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

void *naive_grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity * 2 + 64;
    return naive_must(realloc(items, *capacity * size));
}

int64_t naive_floor(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static struct naive_row *add_row(struct naive_key *key, struct naive_row row)
{
    key->rows = naive_grow(key->rows, key->count, &key->capacity, sizeof *key->rows);
    key->rows[key->count] = row;
    return &key->rows[key->count++];
}

/* --- arrivals */

static double daily_at(const struct wl_workload *workload, int64_t time_ns)
{
    int64_t since_peak = time_ns - workload->daily_peak_ns + STEP_NS / 2;
    int64_t step = naive_floor(since_peak - naive_floor(since_peak, SIM_DAY) * SIM_DAY, STEP_NS);
    /* The curve is symmetric about its peak, to the last bit. */
    step = step > 48 ? 96 - step : step;
    bool is_below = step > 24;
    step = is_below ? 48 - step : step;
    const long double turn = 6.283185307179586476925286766559005768L;
    double cosine = step == 24 ? 0 : (double)cosl(turn * (long double)step / 96);
    return 1 + workload->daily_amplitude * (is_below ? -cosine : cosine);
}

/* The times at which the key's burst state switches, and the state before the first switch. */
struct bursts {
    int64_t *switches;
    size_t count, capacity;
    bool begins_on;
};

static void draw_bursts(const struct wl_workload *workload, uint64_t key, struct bursts *out)
{
    int64_t end_ns = workload->start_ns + workload->duration_ns, time_ns = workload->start_ns;
    double on = (double)workload->burst_on_ns, off = (double)workload->burst_off_ns;
    struct sim_random draws;
    sim_random_init(&draws, workload->seed, SIM_BURST, key);
    *out = (struct bursts){.begins_on = sim_random_unit(&draws) < on / (on + off)};
    for (bool is_on = out->begins_on; time_ns < end_ns; is_on = !is_on) {
        double gap = sim_exponential(&draws) * (is_on ? on : off);
        if (gap >= 0x1p62)
            break;
        time_ns += gap < 1 ? 1 : (int64_t)gap;
        out->switches = naive_grow(out->switches, out->count, &out->capacity, sizeof *out->switches);
        out->switches[out->count++] = time_ns;
    }
}

/* The number of switches up to this moment. */
static size_t switched_at(const struct bursts *bursts, int64_t time_ns)
{
    size_t low = 0, high = bursts->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (bursts->switches[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double rate_at(const struct wl_workload *workload, const struct bursts *bursts, uint64_t key,
                      int64_t time_ns)
{
    double rate = workload->rate_per_s * sim_zipf_share(&workload->popularity, key) * 1e-9;
    if (workload->has_bursts) {
        double on = (double)workload->burst_on_ns, off = (double)workload->burst_off_ns;
        rate /= 1 + on / (on + off) * (workload->burst_factor - 1);
        bool is_on = bursts->begins_on != (switched_at(bursts, time_ns) % 2 == 1);
        rate *= is_on ? workload->burst_factor : 1.0;
    }
    if (workload->has_daily)
        rate *= daily_at(workload, time_ns);
    int64_t day = naive_floor(time_ns, SIM_DAY), weekday = day + 3 - naive_floor(day + 3, 7) * 7;
    double days = (double)(day - naive_floor(workload->start_ns, SIM_DAY));
    if (workload->has_weekend || workload->growth > 1) {
        double weekly = !workload->has_weekend ? 1 : weekday >= 5 ? workload->weekend : 1;
        weekly = workload->has_weekend ? weekly / ((5 + 2 * workload->weekend) / 7) : 1;
        double grown = workload->growth > 1 ? sim_exp(sim_log(workload->growth) * days / 365) : 1;
        rate *= weekly * grown;
    }
    double spikes = 1;
    for (size_t i = 0; i < workload->spike_count; i++) {
        const struct wl_spike *spike = &workload->spikes[i];
        struct sim_random draw;
        sim_random_init(&draw, sim_hash(workload->seed, SIM_SPIKE, i), SIM_SPIKE, key);
        int64_t into_ns = time_ns - workload->start_ns - spike->at_ns;
        bool is_struck = spike->keys_count > 0 ? wl_spike_strikes(workload, i, key)
                                               : sim_random_unit(&draw) < spike->keys_share;
        if (is_struck && into_ns >= 0 && into_ns < spike->lasts_ns)
            spikes *= spike->factor;
    }
    rate *= spikes;
    return rate > 0x1p-200 ? rate : 0x1p-200;
}

static int64_t nearer(int64_t edge_ns, int64_t after_ns, int64_t than_ns)
{
    return edge_ns > after_ns && edge_ns < than_ns ? edge_ns : than_ns;
}

/* The next moment at which the rate may change. */
static int64_t piece_end(const struct wl_workload *workload, const struct bursts *bursts, int64_t time_ns)
{
    int64_t end_ns = workload->start_ns + workload->duration_ns;
    end_ns = end_ns - time_ns > PIECE_NS_MAX ? time_ns + PIECE_NS_MAX : end_ns;
    size_t next = switched_at(bursts, time_ns);
    if (next < bursts->count)
        end_ns = nearer(bursts->switches[next], time_ns, end_ns);
    if (workload->has_daily) {
        int64_t grid_ns = workload->daily_peak_ns - STEP_NS / 2; /* steps are centred on the peak */
        end_ns = nearer(grid_ns + (naive_floor(time_ns - grid_ns, STEP_NS) + 1) * STEP_NS, time_ns, end_ns);
    }
    if (workload->has_weekend || workload->growth > 1)
        end_ns = nearer((naive_floor(time_ns, SIM_DAY) + 1) * SIM_DAY, time_ns, end_ns);
    for (size_t i = 0; i < workload->spike_count; i++) {
        int64_t at_ns = workload->start_ns + workload->spikes[i].at_ns;
        end_ns = nearer(at_ns, time_ns, end_ns);
        end_ns = nearer(at_ns + workload->spikes[i].lasts_ns, time_ns, end_ns);
    }
    return end_ns;
}

void naive_masses(const struct wl_workload *workload, uint64_t key, const int64_t *edges_ns, size_t count,
                  double *out)
{
    struct bursts bursts = {0};
    if (workload->has_bursts)
        draw_bursts(workload, key, &bursts);
    for (size_t i = 0; i < count; i++) {
        out[i] = 0;
        for (int64_t from_ns = edges_ns[i]; from_ns < edges_ns[i + 1];) {
            int64_t to_ns = piece_end(workload, &bursts, from_ns);
            to_ns = to_ns < edges_ns[i + 1] ? to_ns : edges_ns[i + 1];
            out[i] += (double)(to_ns - from_ns) * rate_at(workload, &bursts, key, from_ns);
            from_ns = to_ns;
        }
    }
    free(bursts.switches);
}

/* A row of each key in equal steps from a phase on, each with its jitter. */
static void draw_steps(const struct wl_workload *workload, uint64_t index, struct naive_key *key)
{
    const double every = (double)workload->every_ns,
                 faster = workload->rate_per_s / ((double)workload->key_count / (every * 1e-9));
    const int64_t step_ns = faster == 1 ? workload->every_ns : (int64_t)(every / faster + 0.5);
    struct sim_random arrivals, ids, bytes, lateness;
    sim_random_init(&arrivals, workload->seed, SIM_ARRIVAL, index);
    sim_random_init(&ids, workload->seed, SIM_ROW_ID, index);
    sim_random_init(&bytes, workload->seed, SIM_ROW_BYTES, index);
    sim_random_init(&lateness, workload->seed, SIM_LATE, index);
    int64_t first_ns = workload->start_ns + (int64_t)(sim_random_unit(&arrivals) * (double)step_ns);
    for (int64_t k = 0;; k++) {
        struct naive_row row = {.time_ns = first_ns + k * step_ns};
        if (workload->jitter_ns > 0)
            row.time_ns +=
                (int64_t)(sim_random_unit(&arrivals) * fmin((double)workload->jitter_ns, (double)step_ns));
        if (row.time_ns >= workload->start_ns + workload->duration_ns)
            return;
        row.id = sim_random_next(&ids);
        wl_row_sizes(workload, &bytes, &row.bytes, 1);
        if (workload->late_share > 0 && sim_random_unit(&lateness) < workload->late_share) {
            double means = sim_exponential(&lateness);
            row.late_ns = (int64_t)((means < 64 ? means : 64) * (double)workload->late_mean_ns);
        }
        add_row(key, row);
    }
}

static void draw_live(const struct wl_workload *workload, uint64_t index, struct naive_key *key)
{
    int64_t end_ns = workload->start_ns + workload->duration_ns;
    struct bursts bursts = {0};
    struct sim_random arrivals, ids, bytes, lateness;
    if (workload->has_bursts)
        draw_bursts(workload, index, &bursts);
    sim_random_init(&arrivals, workload->seed, SIM_ARRIVAL, index);
    sim_random_init(&ids, workload->seed, SIM_ROW_ID, index);
    sim_random_init(&bytes, workload->seed, SIM_ROW_BYTES, index);
    sim_random_init(&lateness, workload->seed, SIM_LATE, index);
    double units = sim_exponential(&arrivals); /* until the next row, in mean gaps */
    for (int64_t from_ns = workload->start_ns; from_ns < end_ns;) {
        int64_t to_ns = piece_end(workload, &bursts, from_ns);
        double rate = rate_at(workload, &bursts, index, from_ns), gap = 1 / rate, next = units * gap;
        for (; next < (double)(to_ns - from_ns); next += sim_exponential(&arrivals) * gap) {
            struct naive_row row = {.time_ns = from_ns + (int64_t)next};
            row.id = sim_random_next(&ids);
            wl_row_sizes(workload, &bytes, &row.bytes, 1);
            if (workload->late_share > 0 && sim_random_unit(&lateness) < workload->late_share) {
                double means = sim_exponential(&lateness);
                row.late_ns = (int64_t)((means < 64 ? means : 64) * (double)workload->late_mean_ns);
            }
            add_row(key, row);
        }
        units = (next - (double)(to_ns - from_ns)) * rate;
        from_ns = to_ns;
    }
    free(bursts.switches);
}

static void draw_history(const struct wl_workload *workload, uint64_t index, struct naive_key *key)
{
    __extension__ typedef __int128 wide;
    uint64_t seed = sim_hash(workload->seed, SIM_BACKFILL, index);
    struct sim_random arrivals, ids, bytes;
    sim_random_init(&arrivals, seed, SIM_ARRIVAL, index);
    sim_random_init(&ids, seed, SIM_ROW_ID, index);
    sim_random_init(&bytes, seed, SIM_ROW_BYTES, index);
    int64_t before_ns = workload->backfill_before_ns, lasts_ns = workload->backfill_lasts_ns, into_ns = 0;
    double faster = (double)before_ns / (double)lasts_ns;
    double share = sim_zipf_share(&workload->popularity, index);
    double gap = 1 / (workload->backfill_rate_per_s * share * faster * 1e-9);
    for (;;) {
        double step = sim_exponential(&arrivals) * gap;
        if (step >= (double)(lasts_ns - into_ns))
            return;
        into_ns += (int64_t)step;
        /* The own times of backfilled rows advance in proportion from the beginning of the history, or go
         * back from its end. */
        int64_t part_ns = (int64_t)((wide)into_ns * before_ns / lasts_ns);
        bool is_reverse = workload->backfill_order == WL_REVERSE;
        int64_t own_ns = is_reverse ? -part_ns - 1 : part_ns - before_ns;
        struct naive_row row = {.time_ns = workload->start_ns + into_ns, .late_ns = into_ns - own_ns};
        row.id = sim_random_next(&ids);
        wl_row_sizes(workload, &bytes, &row.bytes, 1);
        add_row(key, row);
    }
}

/* Both parts are in order of time; at equal times the live rows come first. */
static void merge(struct naive_key *key, size_t live)
{
    struct naive_row *rows = naive_must(calloc(key->count + 1, sizeof *rows));
    for (size_t i = 0, a = 0, b = live; i < key->count; i++) {
        bool takes_live = b == key->count || (a < live && key->rows[a].time_ns < key->rows[b].time_ns);
        rows[i] = key->rows[takes_live ? a++ : b++];
    }
    free(key->rows);
    key->rows = rows;
    key->capacity = key->count + 1;
}

static void make_keys(const struct lab_scenario *scenario, struct naive_input *input)
{
    const struct wl_workload *workload = &scenario->workload;
    input->start_ns = workload->start_ns;
    input->end_ns = workload->start_ns + workload->duration_ns;
    input->key_count = workload->key_count;
    input->keys = naive_must(calloc(input->key_count, sizeof *input->keys));
    for (uint64_t i = 0; i < workload->key_count; i++) {
        struct naive_key *key = &input->keys[i];
        snprintf(key->name, sizeof key->name, "key-%" PRIu64, i);
        key->entity = i;
        key->share = sim_zipf_share(&workload->popularity, i);
        (workload->every_ns > 0 ? draw_steps : draw_live)(workload, i, key);
        size_t live = key->count;
        if (workload->backfill_before_ns > 0)
            draw_history(workload, i, key);
        if (key->count > live)
            merge(key, live);
    }
}

/* --- traces */

struct line {
    int64_t time_ms;
    size_t key;
    uint64_t figure; /* bytes, or the number of rows */
};

static size_t key_of(struct naive_input *input, size_t *capacity, const char *name)
{
    for (size_t i = 0; i < input->key_count; i++) {
        if (strcmp(input->keys[i].name, name) == 0)
            return i;
    }
    input->keys = naive_grow(input->keys, input->key_count, capacity, sizeof *input->keys);
    struct naive_key *key = &input->keys[input->key_count];
    *key = (struct naive_key){.entity = naive_hash(name, strlen(name), false)};
    snprintf(key->name, sizeof key->name, "%s", name);
    return input->key_count++;
}

static struct line *read_lines(struct naive_input *input, const char *path, bool *has_counts, size_t *count)
{
    FILE *file = naive_must(fopen(path, "r"));
    char text[128];
    struct line *lines = NULL;
    size_t capacity = 0, key_capacity = 0;
    *count = 0;
    *has_counts = fgets(text, sizeof text, file) != NULL && strstr(text, "count") != NULL;
    while (fgets(text, sizeof text, file) != NULL) {
        struct line line;
        char name[32];
        if (sscanf(text, "%" SCNd64 ",%31[^,],%" SCNu64, &line.time_ms, name, &line.figure) != 3)
            abort();
        line.key = key_of(input, &key_capacity, name);
        lines = naive_grow(lines, *count, &capacity, sizeof *lines);
        lines[(*count)++] = line;
    }
    fclose(file);
    return lines;
}

/* The time from one line of a key to its next line. The rows of the last line are as far apart as those of
 * the line before. */
static int64_t step_ms(const struct line *lines, size_t count, size_t at)
{
    for (size_t i = at + 1; i < count; i++) {
        if (lines[i].key == lines[at].key)
            return lines[i].time_ms - lines[at].time_ms;
    }
    for (size_t i = at; i-- > 0;) {
        if (lines[i].key == lines[at].key)
            return lines[at].time_ms - lines[i].time_ms;
    }
    return 0;
}

static void spread(struct naive_input *input, const struct line *lines, size_t count, bool has_counts)
{
    __extension__ typedef unsigned __int128 wide;
    for (size_t i = 0; i < count; i++) {
        uint64_t rows = has_counts ? lines[i].figure : 1;
        uint64_t step = has_counts ? (uint64_t)step_ms(lines, count, i) : 0;
        for (uint64_t j = 0; j < rows; j++) {
            int64_t into_ms = (int64_t)((wide)j * step / rows);
            add_row(&input->keys[lines[i].key],
                    (struct naive_row){.time_ns = (lines[i].time_ms + into_ms) * SIM_MS,
                                       .bytes = has_counts ? 0 : lines[i].figure});
        }
    }
}

/* Keeps the rows of the scenario's window, and gives them ids, and sizes if they have none. */
static void narrow(const struct lab_scenario *scenario, struct naive_input *input, bool has_counts)
{
    const struct wl_workload *workload = &scenario->workload;
    int64_t from_ns = INT64_MIN, until_ns = INT64_MAX, first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = 0; i < input->key_count; i++) {
        for (size_t j = 0; j < input->keys[i].count; j++) {
            int64_t time_ns = input->keys[i].rows[j].time_ns;
            first_ns = time_ns < first_ns ? time_ns : first_ns;
        }
    }
    if (scenario->has_start)
        from_ns = workload->start_ns;
    if (workload->duration_ns > 0)
        until_ns = (scenario->has_start ? from_ns : first_ns) + workload->duration_ns;
    first_ns = INT64_MAX;
    for (size_t i = 0; i < input->key_count; i++) {
        struct naive_key *key = &input->keys[i];
        struct sim_random ids, bytes;
        sim_random_init(&ids, scenario->seed, SIM_ROW_ID, key->entity);
        sim_random_init(&bytes, scenario->seed, SIM_ROW_BYTES, key->entity);
        size_t kept = 0;
        for (size_t j = 0; j < key->count; j++) {
            struct naive_row row = key->rows[j];
            if (row.time_ns < from_ns || row.time_ns >= until_ns)
                continue;
            first_ns = row.time_ns < first_ns ? row.time_ns : first_ns;
            last_ns = row.time_ns > last_ns ? row.time_ns : last_ns;
            row.id = sim_random_next(&ids);
            if (has_counts)
                wl_row_sizes(workload, &bytes, &row.bytes, 1);
            key->rows[kept++] = row;
        }
        key->count = kept;
    }
    input->start_ns = scenario->has_start ? from_ns : first_ns;
    input->end_ns = until_ns < INT64_MAX ? until_ns : last_ns;
}

static void read_keys(const struct lab_scenario *scenario, struct naive_input *input)
{
    bool has_counts;
    size_t count;
    struct line *lines = read_lines(input, scenario->trace_path, &has_counts, &count);
    spread(input, lines, count, has_counts);
    free(lines);
    narrow(scenario, input, has_counts);
    uint64_t rows = 0;
    for (size_t i = 0; i < input->key_count; i++)
        rows += input->keys[i].count;
    for (size_t i = 0; i < input->key_count; i++)
        input->keys[i].share = (double)input->keys[i].count / (double)rows;
}

/* --- */

/* Times to live are rounded up to whole seconds, and the times that they are compared with are rounded down.
 */
static bool is_expired(const struct lab_scenario *scenario, int64_t written_ns, int64_t now_ns)
{
    int64_t ttl_s = (scenario->row_ttl_ns + SIM_SECOND - 1) / SIM_SECOND;
    return scenario->row_ttl_ns > 0 &&
           naive_floor(now_ns, SIM_SECOND) - naive_floor(written_ns, SIM_SECOND) >= ttl_s;
}

static void finish_row(const struct lab_scenario *scenario, int64_t end_ns, uint64_t entity, uint64_t number,
                       struct naive_row *row)
{
    const struct wl_workload *workload = &scenario->workload;
    int64_t resolution_ns = workload->resolution_ns == 0 ? 1 : workload->resolution_ns;
    row->own_ns = naive_floor(row->time_ns - row->late_ns, resolution_ns) * resolution_ns;
    row->bytes = row->bytes > ROW_BYTES_MAX ? ROW_BYTES_MAX : row->bytes;
    if (scenario->deletes.share > 0) {
        struct sim_random draws;
        sim_random_init(&draws, scenario->seed ^ entity, SIM_DELETE, number);
        bool is_chosen = sim_random_unit(&draws) < scenario->deletes.share;
        double means = sim_exponential(&draws);
        int64_t at_ns =
            row->time_ns + (int64_t)((means < 64 ? means : 64) * (double)scenario->deletes.after_ns);
        row->is_deleted = is_chosen && at_ns < end_ns && !is_expired(scenario, row->time_ns, at_ns);
    }
    row->is_expired = !row->is_deleted && is_expired(scenario, row->time_ns, end_ns);
}

struct naive_input *naive_input_make(const struct lab_scenario *scenario)
{
    struct naive_input *input = naive_must(calloc(1, sizeof *input));
    if (scenario->trace_path == NULL)
        make_keys(scenario, input);
    else
        read_keys(scenario, input);
    for (size_t i = 0; i < input->key_count; i++) {
        struct naive_key *key = &input->keys[i];
        for (size_t j = 0; j < key->count; j++)
            finish_row(scenario, input->end_ns, key->entity, j, &key->rows[j]);
        input->rows += key->count;
        input->keys_with_rows += key->count > 0;
    }
    for (size_t i = 0; i < input->key_count; i++) {
        for (size_t j = 0; j < input->keys[i].count; j++) {
            struct naive_row *row = &input->keys[i].rows[j];
            row->weight = lab_row_bytes(&scenario->row_cost, row->bytes,
                                        naive_stamp(&scenario->row_cost, input->start_ns, row->time_ns));
        }
    }
    return input;
}

void naive_input_free(struct naive_input *input)
{
    for (size_t i = 0; i < input->key_count; i++)
        free(input->keys[i].rows);
    free(input->keys);
    free(input);
}
