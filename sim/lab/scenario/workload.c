/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the rows of a scenario: `keys`, `arrivals` and `row`, or a `trace`; which of them go, and how they
 * are read. In: the nodes of these sections. Kept: nothing. Out: the workload of the scenario, checked as a
 * whole, and the fate of each row. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/fields.h"
#include "lab/quantity.h"
#include "lab/scenario.h"
#include "workload/workload.h"

#define SPIKES_MAX 500
/* Larger numbers are typing errors; within these limits the engines' sums cannot overflow. */
#define RATE_MIN   1e-9
#define RATE_MAX   1e9
#define FACTOR_MIN 1e-6
#define FACTOR_MAX 1e6
#define BYTES_MAX  0x1p40
#define ROWS_MAX   1e18
#define LATE_MAX   (365.0 * (double)SIM_DAY)

#define POINTS_FORM "[[1, 12000], [20, 300], [370, 1]]: a key's rank and its weight"

static bool read_point(struct lab_reader *reader, const struct lab_node *node, struct sim_zipf *zipf)
{
    struct sim_zipf_point *point = &zipf->points[zipf->point_count];
    const struct lab_node *rank = node->first;
    if (node->kind != LAB_NODE_LIST || node->count != 2 || rank->kind != LAB_NODE_SCALAR ||
        rank->next->kind != LAB_NODE_SCALAR || lab_quantity_whole(rank->text, &point->rank) != NULL ||
        lab_quantity_number(rank->next->text, &point->weight) != NULL ||
        !(point->weight >= 1e-15 && point->weight <= ROWS_MAX))
        return lab_fail_at(&reader->tree, &node->place, "not a point of popularity; write " POINTS_FORM);
    if (zipf->point_count == 0 && point->rank != 1)
        return lab_fail_at(&reader->tree, &node->place,
                           "the first point is that of rank 1; write " POINTS_FORM);
    if (zipf->point_count > 0 && (point->rank <= point[-1].rank || point->weight > point[-1].weight))
        return lab_fail_at(&reader->tree, &node->place,
                           "from point to point ranks rise and weights do not; write " POINTS_FORM);
    zipf->point_count++;
    return true;
}

static bool read_points(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        void *out)
{
    struct sim_zipf *zipf = &((struct lab_scenario *)out)->workload.popularity;
    (void)field;
    if (!lab_check_list(reader, node, 1, SIM_ZIPF_POINTS_MAX, POINTS_FORM))
        return false;
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        if (!read_point(reader, item, zipf))
            return false;
    }
    return true;
}

static const struct lab_table zipf_table = {
    LAB_FIELDS({"points", read_points, LAB_DRAWN(POINTS, 0.06, "[[1, <1..100>], [<keys>, <1..$>]]"),
                .draw.when = "has_keys"},
               {"zipf", lab_read_number, LAB_IN(workload.popularity.s), LAB_FROM(0, 10),
                LAB_DRAWN(ZIPF, 0.5, "<5..20:1>")},
               {"top", lab_read_share, LAB_IN(popularity_top), LAB_FROM(1e-9, 0.99)})};

static bool read_popularity(struct lab_reader *reader, const struct lab_field *field,
                            const struct lab_node *node, void *out)
{
    (void)field;
    if (node->kind != LAB_NODE_SCALAR)
        return lab_table_read(reader, &zipf_table, node, out) &&
               lab_only_field(reader, node, NULL, "popularity", "zipf, top or points") != NULL;
    if (strcmp(node->text, "uniform") != 0)
        return lab_fail_value(
            reader, node,
            "no such popularity; use uniform, {zipf: 1.1}, or {points: [[1, 12000], [370, 1]]}");
    ((struct lab_scenario *)out)->workload.popularity.s = 0;
    return true;
}

const struct lab_table lab_keys_table = {
    LAB_FIELDS({"count", lab_read_whole, LAB_IN(workload.key_count), LAB_REQUIRED, LAB_FROM(1, 4294967295.0),
                LAB_DRAWS("<keys>")},
               {"popularity", read_popularity, .detail = &zipf_table, LAB_DRAWS("{|}")},
               {"zipf", .range = "belongs under 'popularity'; write popularity: {zipf: 1.1}"})};

static const struct lab_table daily_table = {
    LAB_FIELDS({"amplitude", lab_read_number, LAB_IN(workload.daily_amplitude), LAB_REQUIRED, LAB_FROM(0, 1),
                LAB_DRAWN(DAILY, 1, "<1..10:1>"), .draw.skip = 2},
               {"peak", lab_read_duration, LAB_IN(workload.daily_peak_ns), LAB_REQUIRED,
                LAB_FROM(0, (double)(SIM_DAY - 1)),
                .range = "the time since midnight in UTC, from 0s to less than 24h, as in 20h",
                LAB_DRAWS("<0..1439>m")})};

static const struct lab_table bursts_table = {
    LAB_FIELDS({"on", lab_read_duration, LAB_IN(workload.burst_on_ns), LAB_REQUIRED,
                LAB_FROM((double)SIM_MS, 0x1p63), LAB_DRAWS("<run/100..run/10>")},
               {"off", lab_read_duration, LAB_IN(workload.burst_off_ns), LAB_REQUIRED,
                LAB_FROM((double)SIM_MS, 0x1p63), LAB_DRAWS("<run/50..run/4>")},
               {"factor", lab_read_number, LAB_IN(workload.burst_factor), LAB_REQUIRED,
                LAB_FROM(FACTOR_MIN, FACTOR_MAX), LAB_DRAWS("<2..50>")})};

static const struct lab_table late_table = {
    LAB_FIELDS({"share", lab_read_share, LAB_IN(workload.late_share), LAB_REQUIRED, LAB_FROM(1e-12, 1),
                LAB_DRAWS("<1..30>%")},
               {"by", lab_read_duration, LAB_IN(workload.late_mean_ns), LAB_REQUIRED, LAB_FROM(1, LATE_MAX),
                LAB_DRAWS("<100ms..run/5>")})};

static const struct lab_table early_table = {
    LAB_FIELDS({"share", lab_read_share, LAB_IN(workload.early_share), LAB_REQUIRED, LAB_FROM(1e-12, 1),
                LAB_DRAWS("<1..20>%")},
               {"by", lab_read_duration, LAB_IN(workload.early_mean_ns), LAB_REQUIRED, LAB_FROM(1, LATE_MAX),
                LAB_DRAWS("<early/8..4early>")})};

static const struct lab_choice orders[] = {{"forward", WL_FORWARD}, {"reverse", WL_REVERSE}, {NULL, 0}};

static const struct lab_table backfill_table = {
    LAB_FIELDS({"before", lab_read_duration, LAB_IN(workload.backfill_before_ns), LAB_REQUIRED,
                LAB_FROM(1, 100 * LATE_MAX), LAB_DRAWS("<run/20..run/3>")},
               {"lasts", lab_read_duration, LAB_IN(workload.backfill_lasts_ns), LAB_FROM(1, 0x1p63),
                LAB_DRAWN(HISTORY, 0.5, "<run/10..9run/10>"), .draw.when = "is_long"},
               {"rate", lab_read_rate, LAB_IN(workload.backfill_rate_per_s), LAB_FROM(RATE_MIN, RATE_MAX),
                LAB_DRAWN(HISTORY, 0.5, "<history>/s"), .draw.skip = 1, .draw.when = "is_long"},
               {"order", lab_read_choice, LAB_IN(workload.backfill_order), .detail = orders,
                LAB_DRAWS("<50%reverse|forward>")})};

/* Reads the keys of a spike: a share of the keys, or a number of keys. */
static bool read_struck_keys(struct lab_reader *reader, const struct lab_field *field,
                             const struct lab_node *node, void *out)
{
    struct wl_spike *spike = out;
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    if (strchr(text, '%') != NULL)
        return lab_read_share(reader, field, node, &spike->keys_share);
    if (lab_quantity_whole(text, &spike->keys_count) != NULL || spike->keys_count == 0)
        return lab_fail_value(reader, node,
                              "neither a share nor a number of keys; write it as 1%%, or as 50");
    return true;
}

static const struct lab_table spike_table = {LAB_FIELDS(
    {"at", lab_read_duration, LAB_AT(struct wl_spike, at_ns), LAB_REQUIRED},
    {"lasts", lab_read_duration, LAB_AT(struct wl_spike, lasts_ns), LAB_REQUIRED, LAB_FROM(1, 0x1p63)},
    {"factor", lab_read_number, LAB_AT(struct wl_spike, factor), LAB_REQUIRED,
     LAB_FROM(FACTOR_MIN, FACTOR_MAX)},
    {"keys", read_struck_keys, LAB_REQUIRED, LAB_FROM(1e-12, 1),
     .range = "a share of the keys above 0%, or their number"})};

static bool read_spikes(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        void *out)
{
    struct wl_workload *workload = &((struct lab_scenario *)out)->workload;
    (void)field;
    if (!lab_check_list(reader, node, 0, SPIKES_MAX, "[{at: 12d, lasts: 1h, factor: 200, keys: 1%}]"))
        return false;
    if (node->count == 0)
        return true;
    workload->spikes = calloc(node->count, sizeof *workload->spikes);
    if (workload->spikes == NULL)
        return sim_fail_memory(reader->tree.error);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        if (!lab_table_read(reader, &spike_table, item, &workload->spikes[workload->spike_count]))
            return false;
        workload->spike_count++;
    }
    return true;
}

const struct lab_table lab_arrivals_table = {LAB_FIELDS(
    {"rate", lab_read_rate, LAB_IN(workload.rate_per_s), LAB_FROM(RATE_MIN, RATE_MAX), LAB_DRAWS("<rate>/s")},
    {"every", lab_read_duration, LAB_IN(workload.every_ns), LAB_FROM((double)SIM_MS, 100 * LATE_MAX)},
    {"jitter", lab_read_duration, LAB_IN(workload.jitter_ns), LAB_FROM(1, 100 * LATE_MAX)},
    {"daily", lab_read_mapping, .detail = &daily_table, LAB_DRAWN(DAILY, 0.04, NULL)},
    {"weekend", lab_read_number, LAB_IN(workload.weekend), LAB_FROM(0, 100),
     .range = "the rate on Saturdays and Sundays (UTC) for each 1 on other days, a number from 0 to 100"},
    {"growth", lab_read_number, LAB_IN(workload.growth), LAB_FROM(1, 1000),
     .range = "the rate after 365 days for each 1 before, a number from 1 to 1000"},
    {"bursts", lab_read_mapping, .detail = &bursts_table, LAB_DRAWN(BURSTS, 0.3, NULL)},
    {.name = "spikes", .read = read_spikes, LAB_DRAWN(SPIKES, 0.04, "<spikes>"), .draw.when = "is_long"},
    {"late", lab_read_mapping, .detail = &late_table, LAB_DRAWN(LATE, 0.12, NULL)},
    {"early", lab_read_mapping, .detail = &early_table, LAB_DRAWN(EARLY, 0.1, NULL)},
    {"resolution", lab_read_duration, LAB_IN(workload.resolution_ns), LAB_FROM(1, (double)SIM_DAY),
     LAB_DRAWN(RESOLUTION, 0.1, "<1ms|10ms|100ms|1s|5s>")},
    {"backfill", lab_read_mapping, .detail = &backfill_table, LAB_DRAWN(BACKFILL, 0.04, NULL)})};

static const struct lab_choice row_formats[] = {
    {"nb", LAB_ROW_NB}, {"da", LAB_ROW_DA}, {"payload", LAB_ROW_PAYLOAD}, {NULL, 0}};

static const struct lab_choice row_writes[] = {{"insert", 0}, {"update", 1}, {NULL, 0}};
static const struct lab_choice row_absent[] = {{"unset", 0}, {"tombstone", 1}, {NULL, 0}};

static const struct lab_table lognormal_table = {
    LAB_FIELDS({"mean", lab_read_size, LAB_AT(struct sim_size, a), LAB_REQUIRED, LAB_FROM(1, BYTES_MAX)},
               {"sigma", lab_read_number, LAB_AT(struct sim_size, b), LAB_REQUIRED, LAB_FROM(0, 10)})};

static const struct lab_table pareto_table = {
    LAB_FIELDS({"min", lab_read_size, LAB_AT(struct sim_size, a), LAB_REQUIRED, LAB_FROM(1, BYTES_MAX)},
               {"alpha", lab_read_number, LAB_AT(struct sim_size, b), LAB_REQUIRED, LAB_FROM(0.01, 1000)})};

static bool read_uniform(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    return lab_read_uniform(reader, field, node, lab_read_size, "uniform: [100, 10KB]", out);
}

const struct lab_table lab_row_bytes_table = {
    LAB_FIELDS({"uniform", read_uniform, LAB_FROM(1, BYTES_MAX)},
               {"lognormal", lab_read_mapping, .detail = &lognormal_table},
               {"pareto", lab_read_mapping, .detail = &pareto_table})};

static bool read_row_bytes(struct lab_reader *reader, const struct lab_field *field,
                           const struct lab_node *node, void *out)
{
    return lab_read_distribution(reader, field, node, lab_read_size, "uniform, lognormal or pareto", out);
}

static bool check_compaction(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    return ((struct lab_scenario *)target)->compaction_window_ns % SIM_MINUTE == 0 ||
           lab_fail_value(reader, lab_node_find(mapping, "window"),
                          "windows of compaction are whole minutes, hours or days; round it");
}

static const struct lab_table compaction_table = {
    LAB_FIELDS({"window", lab_read_duration, LAB_IN(compaction_window_ns), LAB_REQUIRED,
                LAB_FROM((double)SIM_MINUTE, 3650 * (double)SIM_DAY)}),
    .check = check_compaction};

const struct lab_table lab_row_table = {
    LAB_FIELDS({"bytes", read_row_bytes, LAB_IN(workload.row_bytes), LAB_FROM(1, BYTES_MAX),
                .detail = &lab_row_bytes_table, LAB_DRAWN(SIZES, 0.12, "<bytes>")},
               {"ttl", lab_read_duration, LAB_IN(row_ttl_ns), LAB_FROM((double)SIM_SECOND, 20 * LATE_MAX),
                LAB_DRAWN(TTL, 0.08, "<1s..run/3>"), .draw.when = "may_expire"},
               {"compaction", lab_read_mapping, .detail = &compaction_table},
               {"cells", lab_read_whole, LAB_IN(workload.row_cells), LAB_FROM(1, 2147483647.0),
                LAB_DRAWN(CELLS, 0.05, "<2..12>")},
               {"gc_grace", lab_read_duration, LAB_IN(gc_grace_ns), LAB_FROM(0, 20 * LATE_MAX)},
               {.name = "schema", .read = lab_read_later},  /* after the table: ddl.c */
               {.name = "columns", .read = lab_read_later}, /* after the table: table.c */
               {"format", lab_read_choice, LAB_IN(row_format), .detail = row_formats,
                LAB_DRAWN(FORMAT, 0.06, "<nb|da|payload>")},
               {"writes", lab_read_choice, LAB_IN(row_is_updated), .detail = row_writes},
               {"absent", lab_read_choice, LAB_IN(row_has_nulls), .detail = row_absent},
               {"compression", lab_read_number, LAB_IN(row_compression), LAB_FROM(0.001, 2),
                .range = "bytes on disk for each byte before compression, a number from 0.001 to 2",
                LAB_DRAWN(COMPRESSION, 0.03, "<~.2t:0.05..1.5>")})};

/* Checks that there is either a trace, or keys and arrivals for a duration. */
static bool check_source(struct lab_reader *reader, const struct lab_node *root)
{
    static const char *const made[] = {"keys", "arrivals", "duration"};
    bool has_rows = lab_node_find(root, "identifiers") == NULL;
    for (size_t i = has_rows ? 0 : 2; lab_node_find(root, "trace") == NULL && i < 3; i++) {
        if (lab_node_find(root, made[i]) == NULL)
            return lab_fail_at(&reader->tree, &root->place, "'%s' is missing; add it%s", made[i],
                               i < 2 ? ", or 'trace' instead of keys and arrivals" : ", as in duration: 90d");
    }
    return true;
}

/* Without `start`, a trace's duration is counted from its first row, which only the engine knows. */
static bool check_end(struct lab_reader *reader, const struct lab_node *root)
{
    const struct wl_workload *workload = &reader->scenario->workload;
    const struct lab_node *duration = lab_node_find(root, "duration");
    if (duration == NULL || workload->duration_ns <= INT64_MAX - workload->start_ns)
        return true;
    return lab_fail_value(reader, duration,
                          "the run would end after the year 2262; make it shorter, or start earlier");
}

static bool check_spikes(struct lab_reader *reader, const struct lab_node *spikes)
{
    const struct wl_workload *workload = &reader->scenario->workload;
    const struct lab_node *item = spikes == NULL ? NULL : spikes->first;
    for (size_t i = 0; i < workload->spike_count; i++, item = item->next) {
        const struct wl_spike *spike = &workload->spikes[i];
        if (spike->at_ns >= workload->duration_ns)
            return lab_fail_value(reader, lab_node_find(item, "at"),
                                  "the spike begins after the run's end; move it, or make duration longer");
        if (spike->lasts_ns > workload->duration_ns - spike->at_ns)
            return lab_fail_value(reader, lab_node_find(item, "lasts"),
                                  "the spike ends after the run; shorten it, or make duration longer");
        if (spike->keys_count > workload->key_count)
            return lab_fail_value(reader, lab_node_find(item, "keys"),
                                  "more keys than there are; give at most keys.count, or 100%%");
    }
    return true;
}

/* Completes a backfill: by default it is as dense as the live stream, and is loaded over the whole run. */
static bool check_backfill(struct lab_reader *reader, const struct lab_node *backfill)
{
    struct wl_workload *workload = &reader->scenario->workload;
    if (backfill == NULL)
        return true;
    if (lab_node_find(backfill, "lasts") == NULL)
        workload->backfill_lasts_ns = workload->duration_ns;
    if (lab_node_find(backfill, "rate") == NULL)
        workload->backfill_rate_per_s = workload->rate_per_s;
    const struct lab_node *before = lab_node_find(backfill, "before");
    if (workload->backfill_lasts_ns > workload->duration_ns)
        return lab_fail_value(reader, lab_node_find(backfill, "lasts"),
                              "longer than the run; shorten it, or make duration longer");
    if (workload->backfill_before_ns > (INT64_C(1) << 62) - workload->backfill_lasts_ns)
        return lab_fail_value(reader, before, "too long together with 'lasts'; shorten one of them");
    double loaded = workload->backfill_rate_per_s * ((double)workload->backfill_before_ns / 1e9);
    double rate = loaded / ((double)workload->backfill_lasts_ns / 1e9);
    if (!(rate * sim_zipf_share(&workload->popularity, 0) <= RATE_MAX))
        return lab_fail_value(reader, before,
                              "the busiest key would load more than 1000000000 rows/s; load a shorter "
                              "history, or raise 'lasts'");
    if (!(loaded <= ROWS_MAX))
        return lab_fail_value(reader, before, "more than 1e18 rows; load a shorter history, or a lower rate");
    return true;
}

static bool make_popularity(struct lab_reader *reader, struct wl_workload *workload,
                            const struct lab_node *keys)
{
    struct sim_zipf *zipf = &workload->popularity;
    const double top = reader->scenario->popularity_top;
    if (top > 0 && top * (double)workload->key_count < 1)
        return lab_fail_at(&reader->tree, &lab_node_find(keys, "popularity")->place,
                           "the busiest of %" PRIu64
                           " keys has at least a share of %.4g%%; give that, or more",
                           workload->key_count, 100 / (double)workload->key_count);
    if (zipf->point_count == 0) {
        sim_zipf_init(zipf, zipf->s, workload->key_count);
        /* The exponent of a given share of the busiest key, by bisection. */
        for (double low = 0, high = 10; top > 0 && high - low > 1e-9;) {
            sim_zipf_init(zipf, (low + high) / 2, workload->key_count);
            *(sim_zipf_share(zipf, 0) < top ? &low : &high) = zipf->s;
        }
        return true;
    }
    uint64_t last = zipf->points[zipf->point_count - 1].rank;
    if (last != workload->key_count)
        return lab_fail_at(&reader->tree, &lab_node_find(keys, "popularity")->place,
                           "the last point of popularity is rank %" PRIu64 " and there are %" PRIu64
                           " keys; make it the rank of the last key",
                           last, workload->key_count);
    sim_zipf_init_points(zipf, workload->key_count);
    return true;
}

/* Rows come at a rate, or every key sends one in equal steps, which nothing else changes. */
static bool complete_every(struct lab_reader *reader, struct wl_workload *workload,
                           const struct lab_node *keys, const struct lab_node *arrivals)
{
    static const char *const others[] = {"rate", "daily", "weekend", "growth", "bursts", "spikes"};
    const struct lab_node *every = lab_node_find(arrivals, "every"),
                          *jitter = lab_node_find(arrivals, "jitter"),
                          *popularity = lab_node_find(keys, "popularity");
    if (every == NULL && lab_node_find(arrivals, "rate") == NULL)
        return lab_fail_at(&reader->tree, &arrivals->place,
                           "'rate' is missing under 'arrivals'; add it, as in 200/s, or 'every', as in 10s");
    if (jitter != NULL && (every == NULL || workload->jitter_ns > workload->every_ns))
        return lab_fail_value(reader, jitter, "longer than 'every', or without it; give at most its length");
    for (size_t i = 0; every != NULL && i < sizeof others / sizeof *others; i++) {
        const struct lab_node *other = lab_node_find(arrivals, others[i]);
        if (other != NULL)
            return lab_fail_at(&reader->tree, &other->name_place,
                               "'%s' conflicts with 'every'; remove one of the two", others[i]);
    }
    if (every != NULL && sim_zipf_share(&workload->popularity, 0) !=
                             sim_zipf_share(&workload->popularity, workload->key_count - 1))
        return lab_fail_at(&reader->tree, &popularity->name_place,
                           "'popularity' conflicts with 'every', by which all keys send equally many rows; "
                           "remove one of the two");
    if (every != NULL)
        workload->rate_per_s = (double)workload->key_count / ((double)workload->every_ns * 1e-9);
    return true;
}

/* The largest product of the factors of overlapping spikes, as if they affected the same key. */
static double spikes_product(const struct wl_workload *workload, int64_t at_ns)
{
    double product = 1;
    for (size_t i = 0; i < workload->spike_count; i++) {
        const struct wl_spike *spike = &workload->spikes[i];
        if (at_ns >= spike->at_ns && at_ns - spike->at_ns < spike->lasts_ns && spike->factor > 1)
            product *= spike->factor;
    }
    return product;
}

/* Checks that a key's rows are at least a nanosecond apart on average, and that the number of rows of a run
 * does not overflow. */
static bool check_amounts(struct lab_reader *reader, const struct lab_node *arrivals)
{
    const struct wl_workload *workload = &reader->scenario->workload;
    double product = 1, burst = 1;
    for (size_t i = 0; i < workload->spike_count; i++) {
        double here = spikes_product(workload, workload->spikes[i].at_ns);
        product = here > product ? here : product;
    }
    if (workload->has_bursts) {
        double on = (double)workload->burst_on_ns, off = (double)workload->burst_off_ns;
        double highest = workload->burst_factor < 1 ? 1 : workload->burst_factor;
        burst = highest * (on + off) / (workload->burst_factor * on + off);
    }
    double peak = workload->rate_per_s * sim_zipf_share(&workload->popularity, 0) * burst * product *
                  (workload->has_daily ? 1 + workload->daily_amplitude : 1) *
                  wl_days_most(workload, workload->start_ns + workload->duration_ns);
    if (!(peak <= RATE_MAX))
        return lab_fail_at(&reader->tree,
                           &lab_node_find(arrivals, workload->every_ns > 0 ? "every" : "rate")->place,
                           "at its peak the busiest key would write %.3g rows/s; lower the rate or the "
                           "factors until it is at most 1000000000/s",
                           peak);
    double rows = workload->rate_per_s * ((double)workload->duration_ns / 1e9) * product *
                  wl_days_most(workload, workload->start_ns + workload->duration_ns);
    if (!(rows <= ROWS_MAX))
        return lab_fail_at(&reader->tree,
                           &lab_node_find(arrivals, workload->every_ns > 0 ? "every" : "rate")->place,
                           "the run could have %.3g rows; lower the rate, the factors or the duration", rows);
    return true;
}

bool lab_workload_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    struct wl_workload *workload = &scenario->workload;
    const struct lab_node *trace = lab_node_find(root, "trace");
    const struct lab_node *row = lab_node_find(root, "row");
    scenario->has_start = lab_node_find(root, "start") != NULL;
    const struct lab_node *bytes = lab_node_find(row, "bytes");
    scenario->has_row_bytes = bytes != NULL;
    if (bytes != NULL) {
        scenario->row_bytes_line = bytes->name_place.line;
        scenario->row_bytes_column = bytes->name_place.column;
    }
    sim_size_prepare(&workload->row_bytes); /* cannot fail, since the ranges of the fields were checked */
    if (!sim_sizes_create(&workload->row_bytes, &workload->sizes))
        return sim_fail_memory(reader->tree.error);
    if (!check_source(reader, root) || !check_end(reader, root))
        return false;
    if (trace != NULL || lab_node_find(root, "identifiers") != NULL)
        return true;
    const struct lab_node *arrivals = lab_node_find(root, "arrivals");
    workload->has_daily = lab_node_find(arrivals, "daily") != NULL;
    workload->has_weekend = lab_node_find(arrivals, "weekend") != NULL;
    workload->has_bursts = lab_node_find(arrivals, "bursts") != NULL;
    const struct lab_node *keys = lab_node_find(root, "keys");
    return make_popularity(reader, workload, keys) && complete_every(reader, workload, keys, arrivals) &&
           check_spikes(reader, lab_node_find(arrivals, "spikes")) && check_amounts(reader, arrivals) &&
           check_backfill(reader, lab_node_find(arrivals, "backfill"));
}

#define NAME_BYTES_MAX    256
#define PATTERN_BYTES_MAX 64

#define COLUMN_RANGE "the name of a column, or its number from 1"

/* Reads one name, or a list of at most `most` names. */
static bool read_names(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       size_t most, char **names, size_t *count)
{
    if (node->kind != LAB_NODE_LIST) {
        *count = 1;
        return lab_read_text(reader, field, node, &names[0]);
    }
    if (node->count == 0 || node->count > most)
        return lab_fail_at(&reader->tree, &node->place, "'%s' names %zu columns; name 1 to %zu", node->name,
                           node->count, most);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next, ++*count) {
        if (!lab_read_text(reader, field, item, &names[*count]))
            return false;
    }
    return true;
}

static bool read_time(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    struct wl_trace_columns *columns = out;
    char *names[2] = {NULL};
    size_t count = 0;
    bool ok = read_names(reader, field, node, 2, names, &count);
    columns->time = names[0];
    columns->time_of_day = names[1];
    return ok;
}

/* The parts of `key`, or of `bytes_of`. */
static bool read_parts(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    struct wl_trace_columns *columns = out;
    bool is_key = strcmp(field->name, "key") == 0;
    return read_names(reader, field, node, WL_TRACE_PARTS_MAX, is_key ? columns->key : columns->bytes_of,
                      is_key ? &columns->key_count : &columns->bytes_of_count);
}

static bool check_columns(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    const struct wl_trace_columns *columns = target;
    int values = (columns->bytes != NULL) + (columns->count != NULL) + (columns->bytes_of_count > 0);
    reader->scenario->workload.is_late_trace = columns->arrived != NULL;
    if (columns->arrived != NULL && columns->count != NULL)
        return lab_fail_at(&reader->tree, &mapping->place,
                           "'arrived' applies to single rows and conflicts with 'count'; remove one of them");
    return values <= 1 || lab_fail_at(&reader->tree, &mapping->place,
                                      "'columns' takes one of bytes, count and bytes_of; remove the others");
}

static const struct lab_table columns_table = {
    LAB_FIELDS({"time", read_time, LAB_FROM(0, NAME_BYTES_MAX), .range = COLUMN_RANGE},
               {"arrived", lab_read_text, LAB_AT(struct wl_trace_columns, arrived),
                LAB_FROM(0, NAME_BYTES_MAX), .range = COLUMN_RANGE},
               {"key", read_parts, LAB_FROM(0, NAME_BYTES_MAX), .range = COLUMN_RANGE},
               {"bytes", lab_read_text, LAB_AT(struct wl_trace_columns, bytes), LAB_FROM(0, NAME_BYTES_MAX),
                .range = COLUMN_RANGE},
               {"count", lab_read_text, LAB_AT(struct wl_trace_columns, count), LAB_FROM(0, NAME_BYTES_MAX),
                .range = COLUMN_RANGE},
               {"bytes_of", read_parts, LAB_FROM(0, NAME_BYTES_MAX), .range = COLUMN_RANGE}),
    .check = check_columns};

static bool read_delimiter(struct lab_reader *reader, const struct lab_field *field,
                           const struct lab_node *node, void *out)
{
    (void)field;
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    char delimiter = wl_trace_delimiter(text);
    if (delimiter == '\0' && strcmp(text, "auto") != 0)
        return lab_fail_value(reader, node,
                              "not a delimiter; use comma, semicolon, tab, pipe, space or one character");
    ((struct lab_scenario *)out)->trace_format.delimiter = delimiter;
    return true;
}

static bool read_epoch(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    struct lab_scenario *scenario = out;
    scenario->trace_format.has_epoch = true;
    return lab_read_time(reader, field, node, &scenario->trace_format.epoch_ns);
}

static bool read_pattern(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    struct wl_trace_format *format = &((struct lab_scenario *)out)->trace_format;
    return lab_read_text(reader, field, node, &format->pattern) &&
           (wl_trace_pattern_is(format->pattern) ||
            lab_fail_value(reader, node, "%s", "not a form of times; write one such as '%d/%m/%Y %H:%M:%S'"));
}

static bool read_line(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    struct wl_trace_format *format = &((struct lab_scenario *)out)->trace_format;
    return lab_read_text(reader, field, node, &format->line) &&
           (wl_trace_line_is(format->line) ||
            lab_fail_value(reader, node,
                           "not the form of a line; write one such as '[{time}] {host} {message}'"));
}

static bool read_zone(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    (void)field;
    const char *text = lab_scalar(reader, node);
    return text != NULL &&
           (sim_time_zone(text, &((struct lab_scenario *)out)->trace_format.zone_ns) ||
            lab_fail_value(reader, node, "not a zone; write its distance from UTC, as in '+02:00'"));
}

static const struct lab_choice layouts[] = {
    {"auto", WL_LAYOUT_AUTO}, {"csv", WL_LAYOUT_CSV}, {"json", WL_LAYOUT_JSON}, {NULL, 0}};
#define CHOICE(id, option, name) {option, WL_TIME_##id},
static const struct lab_choice times[] = {WL_TRACE_TIMES(CHOICE){NULL, 0}};
static const struct lab_choice headers[] = {
    {"auto", WL_HEADER_AUTO}, {"true", WL_HEADER_YES}, {"false", WL_HEADER_NO}, {NULL, 0}};
static const struct lab_choice escapes[] = {
    {"auto", WL_ESCAPE_AUTO}, {"doubled", WL_ESCAPE_DOUBLED}, {"backslash", WL_ESCAPE_BACKSLASH}, {NULL, 0}};

const struct lab_table lab_trace_table = {
    LAB_FIELDS({"file", lab_read_text, LAB_IN(trace_path), LAB_REQUIRED, LAB_FROM(0, 4096),
                .range = "the name of a file of rows, or of a folder of them"},
               {"columns", lab_read_mapping, LAB_IN(trace_format.columns), .detail = &columns_table},
               {"format", lab_read_choice, LAB_IN(trace_format.layout), .detail = layouts},
               {"time", lab_read_choice, LAB_IN(trace_format.time), .detail = times},
               {"time_format", read_pattern, LAB_FROM(0, PATTERN_BYTES_MAX),
                .range = "how times are written, in the letters of strptime()"},
               {"line", read_line, LAB_FROM(0, NAME_BYTES_MAX),
                .range = "the form of a log's lines, with the names of its fields in braces"},
               {"year", lab_read_whole32, LAB_IN(trace_format.year), LAB_FROM(1970, 2261)},
               {.name = "timezone", .read = read_zone}, {.name = "epoch", .read = read_epoch},
               {.name = "delimiter", .read = read_delimiter},
               {"escape", lab_read_choice, LAB_IN(trace_format.escape), .detail = escapes},
               {"header", lab_read_choice, LAB_IN(trace_format.header), .detail = headers},
               {"sort", lab_read_flag, LAB_IN(trace_format.sort)})};

#define AT_ONCE_MAX 4096

#define SPAN_MAX (36500.0 * (double)SIM_DAY)

#define READ_FIELDS                                                                                          \
    {"rate", lab_read_rate, LAB_AT(struct lab_read, rate_per_s), LAB_REQUIRED, LAB_FROM(1e-9, 1e9)},         \
        {"plan", lab_read_choice, LAB_AT(struct lab_read, plan), .detail = lab_plan_words},                  \
    {                                                                                                        \
        "at_once", lab_read_whole32, LAB_AT(struct lab_read, at_once), LAB_FROM(1, AT_ONCE_MAX)              \
    }
/* The target of these tables is a struct lab_read. */
static const struct lab_table latest_table = {LAB_FIELDS(
    {"rows", lab_read_whole, LAB_AT(struct lab_read, rows), LAB_REQUIRED, LAB_FROM(1, 1e9)}, READ_FIELDS)};
static const struct lab_table range_table = {LAB_FIELDS(
    {"span", lab_read_duration, LAB_AT(struct lab_read, span_ns), LAB_REQUIRED, LAB_FROM(1, SPAN_MAX)},
    {"age", lab_read_duration, LAB_AT(struct lab_read, age_ns), LAB_FROM(0, SPAN_MAX)}, READ_FIELDS)};
static const struct lab_table all_table = {LAB_FIELDS(READ_FIELDS)};

static bool check_reads(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    (void)target;
    if (lab_node_find(node, "latest") != NULL || lab_node_find(node, "range") != NULL ||
        lab_node_find(node, "all") != NULL)
        return true;
    return lab_fail_at(&reader->tree, &node->place,
                       "no reads under 'reads'; add some, as in latest: {rows: 50, rate: 1/s}");
}

const struct lab_table lab_reads_table = {
    LAB_FIELDS({"latest", lab_read_mapping, LAB_IN(reads.kinds[LAB_READ_LATEST]), .detail = &latest_table},
               {"range", lab_read_mapping, LAB_IN(reads.kinds[LAB_READ_RANGE]), .detail = &range_table},
               {"all", lab_read_mapping, LAB_IN(reads.kinds[LAB_READ_ALL]), .detail = &all_table},
               {"limit", lab_read_whole, LAB_IN(reads.limit), LAB_FROM(1, BK_WALK_PARTITIONS_MAX)}),
    .check = check_reads};

/* Checks that the plan fits every strategy that does not specify its own plan. */
static bool check_plan(struct lab_reader *reader, const struct lab_node *read, const struct lab_read *asked)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *at_once = lab_node_find(read, "at_once");
    if (at_once != NULL && asked->plan != BK_PLAN_PARALLEL)
        return lab_fail_at(&reader->tree, &at_once->name_place,
                           "'at_once' applies only to plan: parallel; add that, or remove 'at_once'");
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_settings *settings = &scenario->strategies[i].settings;
        if ((asked->plan == BK_PLAN_ALL || asked->plan == BK_PLAN_LAZY) &&
            settings->strategy.kind != BK_KIND_HASH && settings->reading.plan == BK_PLAN_DEFAULT)
            return lab_fail_value(
                reader, lab_node_find(read, "plan"),
                "only hash can be read this way; give it under hash, as in read: {plan: lazy}, and use "
                "walk, pair or parallel for the others");
    }
    return true;
}

bool lab_reads_complete(struct lab_reader *reader, const struct lab_node *root)
{
    static const char *const paths[LAB_READ_KINDS] = {"reads.latest", "reads.range", "reads.all"};
    struct lab_reads *reads = &reader->scenario->reads;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        const struct lab_node *read = lab_node_at(root, paths[kind]);
        reads->present = reads->present || read != NULL;
        if (read != NULL && !check_plan(reader, read, &reads->kinds[kind]))
            return false;
    }
    return true;
}

const struct lab_table lab_deletes_table = {LAB_FIELDS(
    {"share", lab_read_share, LAB_IN(deletes.share), LAB_REQUIRED, LAB_FROM(1e-12, 1), LAB_DRAWS("<1..40>%")},
    {"after", lab_read_duration, LAB_IN(deletes.after_ns), LAB_REQUIRED, LAB_FROM(1, 365.0 * (double)SIM_DAY),
     LAB_DRAWS("<100ms..run/4>")})};

/* The largest draw, as a multiple of the mean; larger ones have a probability of e^-64. */
#define MEANS_MAX 64

/* Rounded down, also before 1970, where a trace may begin. */
static int64_t whole_seconds(int64_t time_ns)
{
    return time_ns / SIM_SECOND - (time_ns % SIM_SECOND < 0);
}

static int64_t ttl_seconds(int64_t ttl_ns)
{
    return ttl_ns / SIM_SECOND + (ttl_ns % SIM_SECOND != 0);
}

static bool is_expired(int64_t ttl_ns, int64_t written_ns, int64_t now_ns)
{
    return whole_seconds(now_ns) - whole_seconds(written_ns) >= ttl_seconds(ttl_ns);
}

int64_t lab_live_since(const struct lab_scenario *scenario, int64_t now_ns)
{
    int64_t second = whole_seconds(now_ns) - ttl_seconds(scenario->row_ttl_ns) + 1;
    return second < INT64_MIN / SIM_SECOND ? INT64_MIN : second * SIM_SECOND;
}

int64_t lab_deleted_after(const struct lab_scenario *scenario, uint64_t entity, uint64_t row)
{
    if (scenario->deletes.share == 0)
        return -1;
    struct sim_random draws;
    sim_random_init(&draws, scenario->seed ^ entity, SIM_DELETE, row);
    if (sim_random_unit(&draws) >= scenario->deletes.share)
        return -1;
    double means = sim_exponential(&draws);
    return (int64_t)((means < MEANS_MAX ? means : MEANS_MAX) * (double)scenario->deletes.after_ns);
}

enum lab_fate lab_row_fate(const struct lab_scenario *scenario, uint64_t entity, uint64_t row,
                           int64_t written_ns, int64_t end_ns)
{
    int64_t after_ns = lab_deleted_after(scenario, entity, row), ttl_ns = scenario->row_ttl_ns;
    if (after_ns >= 0 && written_ns < end_ns &&
        (uint64_t)after_ns < (uint64_t)end_ns - (uint64_t)written_ns &&
        !(ttl_ns > 0 && is_expired(ttl_ns, written_ns, written_ns + after_ns)))
        return LAB_FATE_DELETED;
    return ttl_ns > 0 && is_expired(ttl_ns, written_ns, end_ns) ? LAB_FATE_EXPIRED : LAB_FATE_LIVE;
}
