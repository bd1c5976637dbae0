/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metrics of a strategy: computed from its tally, in the order of the table, and looked up by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/metric.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "lab/tally.h"
#include "workload/workload.h"

const char *lab_metric_unit_name(enum lab_metric_unit unit)
{
#define NAME(symbol, text) text,
    static const char *const names[] = {LAB_METRIC_UNIT_MAP(NAME)};
    return names[unit];
}

/* Sets *member to the next word from *at on, and advances *at past it. Returns the word's length; 0 at the
 * end. */
static size_t next_member(const char **at, const char **member)
{
    *member = *at + strspn(*at, " ");
    size_t length = strcspn(*member, " ");
    *at = *member + length;
    return length;
}

void lab_metric_names(const struct lab_metric_row *row, void (*each)(void *context, const char *name),
                      void *context)
{
    char name[LAB_METRIC_NAME_SIZE];
    const char *at = row->members, *member, *star = strchr(row->name, '*');
    size_t length;
    if (star == NULL)
        each(context, row->name);
    while (star != NULL && (length = next_member(&at, &member)) > 0) {
        snprintf(name, sizeof name, "%.*s%.*s%s", (int)(star - row->name), row->name, (int)length, member,
                 star + 1);
        each(context, name);
    }
}

/* Whether the row has a metric of this name. */
static bool has_name(const struct lab_metric_row *row, const char *name)
{
    const char *at = row->members, *member, *star = strchr(row->name, '*');
    size_t before = star == NULL ? 0 : (size_t)(star - row->name), length;
    if (star == NULL)
        return strcmp(row->name, name) == 0;
    while (strncmp(row->name, name, before) == 0 && (length = next_member(&at, &member)) > 0) {
        if (strncmp(name + before, member, length) == 0 && strcmp(name + before + length, star + 1) == 0)
            return true;
    }
    return false;
}

/* Converts "reads.range.count" to "reads.count" in the buffer; false when the name does not contain a kind of
 * read. */
static bool without_kind(const char *name, char *buffer)
{
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        char prefix[32];
        int length =
            snprintf(prefix, sizeof prefix, "reads.%s.", lab_read_kind_name((enum lab_read_kind)kind));
        if (strncmp(name, prefix, (size_t)length) == 0) {
            snprintf(buffer, LAB_METRIC_NAME_SIZE, "reads.%s", name + length);
            return true;
        }
    }
    return false;
}

const struct lab_metric_row *lab_metric_row_of(const char *name)
{
    char plain[LAB_METRIC_NAME_SIZE];
    bool is_of_kind = without_kind(name, plain);
    for (size_t i = 0; i < lab_metric_row_count; i++) {
        const struct lab_metric_row *row = &lab_metric_table[i];
        if (has_name(row, name) || (is_of_kind && row->is_of_kinds && has_name(row, plain)))
            return row;
    }
    return NULL;
}

/* The number of parts that `longer` has in addition to those of `name`, which must all be in it, in their
 * order; -1: they are not. */
static int parts_more(const char *name, const char *longer)
{
    int more = 0;
    while (*longer != '\0') {
        size_t size = strcspn(longer, ".");
        if (strcspn(name, ".") == size && strncmp(name, longer, size) == 0 && *name != '\0')
            name += size + (name[size] == '.');
        else
            more++;
        longer += size + (longer[size] == '.');
    }
    return *name == '\0' ? more : -1;
}

const char *lab_metric_nearest(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    int least = 0;
    bool is_of_all = false; /* figures of all partitions are preferred to those of the closed ones */
    for (size_t i = 0; i < count && strchr(name, '.') != NULL; i++) {
        int more = parts_more(name, names[i]);
        bool of_all = strstr(names[i], ".all.") != NULL;
        if (more < 0 || (nearest != NULL && (more > least || (more == least && (is_of_all || !of_all)))))
            continue;
        nearest = names[i];
        least = more;
        is_of_all = of_all;
    }
    return nearest != NULL ? nearest : sim_nearest(name, names, count);
}

/* Computes the metrics of a strategy from its tally. */

struct quantile {
    const char *name;
    uint64_t per_mille;
};

static const struct quantile size_quantiles[] = {
    {"p001", 1}, {"p01", 10}, {"p50", 500}, {"p90", 900}, {"p99", 990}, {"p999", 999},
};
static const struct quantile read_quantiles[] = {{"p50", 500}, {"p99", 990}};

static bool add(struct lab_metrics *out, const char *prefix, const char *name, double value)
{
    char full[LAB_METRIC_NAME_SIZE];
    snprintf(full, sizeof full, "%s.%s", prefix, name);
    return lab_metrics_add(out, full, value);
}

/* Repair streams a whole partition for one row that differs: the partition of a random row, or the largest
 * one. */
static bool add_repair(struct lab_metrics *out, const struct lab_histogram *bytes)
{
    if (bytes->weight == 0)
        return true;
    double streamed = (double)bytes->weighted_sum / (double)bytes->weight;
    double row = (double)bytes->sum / (double)bytes->weight;
    return add(out, "repair", "bytes_per_differing_row", streamed) &&
           add(out, "repair", "bytes_max", (double)bytes->most) &&
           (row == 0 || add(out, "repair", "amplification", streamed / row));
}

/* Variance: E[(x - c)^2] - (mean - c)^2, where c is the whole part of the mean, from integer sums, so that
 * nothing cancels. */
static double variance_of(const struct lab_bin *bins, size_t bin_count, const struct lab_histogram *histogram,
                          bool is_weighted)
{
    uint64_t n = is_weighted ? histogram->weight : histogram->count;
    lab_wide sum = is_weighted ? histogram->weighted_sum : histogram->sum;
    lab_wide squares = is_weighted ? histogram->weighted_sum_of_squares : histogram->sum_of_squares;
    uint64_t centre = (uint64_t)(sum / n);
    double offset = (double)(uint64_t)(sum % n) / (double)n, about_centre = 0;
    if (squares != ~(lab_wide)0)
        about_centre =
            (double)(squares - 2 * (lab_wide)centre * sum + (lab_wide)centre * centre * n) / (double)n;
    /* The sum of squares has saturated, so the variance is computed from the bins. */
    for (size_t i = 0; squares == ~(lab_wide)0 && i < bin_count; i++) {
        uint64_t size = bins[i].size;
        double distance = size > centre ? (double)(size - centre) : (double)(centre - size);
        uint64_t weight = is_weighted ? bins[i].weight : bins[i].count;
        about_centre += distance * distance * ((double)weight / (double)n);
    }
    double variance = about_centre - offset * offset;
    return variance > 0 ? variance : 0;
}

/* Adds the mean and the standard deviation. */
static bool add_moments(struct lab_metrics *out, const char *prefix, const struct lab_bin *bins,
                        size_t bin_count, const struct lab_histogram *histogram, bool is_weighted)
{
    const uint64_t n = is_weighted ? histogram->weight : histogram->count;
    const lab_wide sum = is_weighted ? histogram->weighted_sum : histogram->sum;
    const double mean = (double)(uint64_t)(sum / n) + (double)(uint64_t)(sum % n) / (double)n;
    return add(out, prefix, "mean", mean) &&
           add(out, prefix, "stddev", sqrt(variance_of(bins, bin_count, histogram, is_weighted)));
}

/* Of the sizes, `tune` compares the evenness of closed partitions, and takes the rest from the histograms.
 * Squares of rows do not saturate, so the bins are not needed. */
static bool add_evenness(struct lab_metrics *out, const struct lab_histogram *rows)
{
    return rows->count == 0 || add_moments(out, "partitions.closed.rows", NULL, 0, rows, false);
}

/* Without `stored`, no row of the table replaces another. */
static bool add_stored(struct lab_metrics *out, const struct lab_tally *tally)
{
    if (tally->stored == NULL)
        return add(out, "rows", "stored", (double)tally->rows) && add(out, "rows", "overwritten", 0);
    const struct lab_stored_figures *stored = lab_stored_figures(tally->stored);
    double share = stored->minute_rows == 0 ? 0 : (double)stored->minute_most / (double)stored->minute_rows;
    return add(out, "rows", "stored", (double)stored->rows) &&
           add(out, "rows", "overwritten", (double)stored->overwritten) &&
           add(out, "peak", "rows_written_one_partition", (double)stored->most_written) &&
           add(out, "peak", "minute_share_one_partition", share);
}

/* Adds quantiles: the smallest size N with P(size <= N) >= p, but never more than the largest size, which a
 * rounded bin may exceed. */
static bool add_quantiles(struct lab_metrics *out, const char *prefix, const struct lab_bin *bins,
                          size_t bin_count, const struct lab_histogram *histogram, bool is_weighted,
                          const struct quantile *quantiles, size_t quantile_count, double unit)
{
    lab_wide n = is_weighted ? histogram->weight : histogram->count, below = 0;
    size_t bin = 0;
    for (size_t i = 0; i < quantile_count; i++) {
        for (; bin < bin_count; bin++) {
            lab_wide upto = below + (is_weighted ? bins[bin].weight : bins[bin].count);
            if (upto * 1000 >= n * quantiles[i].per_mille)
                break;
            below = upto;
        }
        uint64_t size = bin < bin_count ? bins[bin].size : histogram->most;
        if (!add(out, prefix, quantiles[i].name,
                 (double)(size < histogram->most ? size : histogram->most) * unit))
            return false;
    }
    return true;
}

/* Adds the sizes of one unit: bins are sorted. */
static bool add_sizes(struct lab_metrics *out, const char *prefix, const struct lab_bin *bins,
                      size_t bin_count, const struct lab_histogram *histogram, bool is_weighted)
{
    const uint64_t n = is_weighted ? histogram->weight : histogram->count;
    if (n == 0)
        return true;
    return bins != NULL && add_moments(out, prefix, bins, bin_count, histogram, is_weighted) &&
           add(out, prefix, "min", (double)histogram->least) &&
           add_quantiles(out, prefix, bins, bin_count, histogram, is_weighted, size_quantiles,
                         sizeof size_quantiles / sizeof *size_quantiles, 1) &&
           add(out, prefix, "max", (double)histogram->most);
}

static bool add_all_sizes(struct lab_metrics *out, const struct lab_tally *tally)
{
    struct lab_histogram rows, bytes;
    size_t rows_count, bytes_count;
    bool ok = lab_metrics_of_sizes(&tally->closed_rows, "partitions.closed.rows", false, out) &&
              lab_metrics_of_sizes(&tally->closed_bytes, "partitions.closed.bytes", false, out);
    struct lab_bin *of_rows = lab_histogram_both(&tally->closed_rows, &tally->open_rows, &rows, &rows_count);
    struct lab_bin *of_bytes =
        lab_histogram_both(&tally->closed_bytes, &tally->open_bytes, &bytes, &bytes_count);
    ok = ok && !rows.out_of_memory && !bytes.out_of_memory &&
         add_sizes(out, "partitions.all.rows", of_rows, rows_count, &rows, false) &&
         add_sizes(out, "partitions.all.bytes", of_bytes, bytes_count, &bytes, false) &&
         add_sizes(out, "partitions.row_weighted.rows", of_rows, rows_count, &rows, true) &&
         add_sizes(out, "partitions.row_weighted.bytes", of_bytes, bytes_count, &bytes, true) &&
         add_repair(out, &bytes);
    free(of_rows);
    free(of_bytes);
    return ok;
}

static bool add_read_kind(struct lab_metrics *out, const char *prefix, const struct lab_scenario *scenario,
                          const struct lab_read_tally *tally)
{
    const struct lab_histogram *reads = &tally->partitions;
    const double made = (double)(reads->count + tally->before);
    const double unit = scenario->reads.are_expected ? LAB_READ_PARTS : 1;
    bool ok = add(out, prefix, "count", (double)(uint64_t)(made / unit + 0.5));
    if (reads->count > 0) {
        char partitions[48];
        snprintf(partitions, sizeof partitions, "%s.partitions_per_read", prefix);
        size_t bin_count;
        struct lab_bin *bins = lab_histogram_sorted(reads, &bin_count);
        double mean = (double)reads->sum / (double)reads->count;
        ok = ok && bins != NULL && add(out, partitions, "mean", mean) &&
             add_quantiles(out, partitions, bins, bin_count, reads, false, read_quantiles,
                           sizeof read_quantiles / sizeof *read_quantiles, 1) &&
             add(out, partitions, "max", (double)reads->most) &&
             add(out, prefix, "empty_partitions_per_read", (double)tally->empties / (double)reads->count) &&
             add(out, prefix, "rows_scanned_per_read", (double)tally->scanned / (double)reads->count);
        free(bins);
    }
    ok = ok && add(out, prefix, "incomplete", (double)tally->incomplete) &&
         add(out, prefix, "out_of_order", (double)tally->out_of_order);
    return ok && (scenario->reads.limit == 0 || add(out, prefix, "cut_off", (double)tally->cut));
}

static bool add_reads(struct lab_metrics *out, const struct lab_scenario *scenario,
                      const struct lab_tally *tally)
{
    bool ok = add_read_kind(out, "reads", scenario, &tally->reads);
    for (int kind = 0; ok && lab_read_kind_count(scenario) > 1 && kind < LAB_READ_KINDS; kind++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "reads.%s", lab_read_kind_name((enum lab_read_kind)kind));
        if (scenario->reads.kinds[kind].rate_per_s > 0)
            ok = add_read_kind(out, prefix, scenario, &tally->reads_of[kind]);
    }
    return ok;
}

/* Adds metrics of the live rows, and of the live rows and tombstones per partition. */
static bool add_left(struct lab_metrics *out, const struct lab_tally *tally)
{
    return add(out, "rows", "live", (double)tally->live_rows.sum) &&
           add(out, "rows", "deleted", (double)tally->rows_deleted) &&
           add(out, "rows", "expired", (double)tally->rows_expired) &&
           add(out, "partitions", "emptied", (double)tally->emptied) &&
           lab_metrics_of_sizes(&tally->live_rows, "partitions.live.rows", false, out) &&
           lab_metrics_of_sizes(&tally->tombstones, "tombstones.partition", false, out);
}

/* Adds each node's share of the bytes of all nodes, including replicas; and the bytes on disk, if the
 * compression ratio is known. */
static bool add_load(struct lab_metrics *out, const struct lab_tally *tally,
                     const struct lab_scenario *scenario, uint32_t nodes)
{
    lab_wide total = 0;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        uint64_t bytes = tally->nodes[i].bytes;
        total += bytes;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    if (total == 0)
        return true;
    if (scenario->row_compression > 0 &&
        !(add(out, "disk", "bytes", (double)total) &&
          add(out, "disk", "compressed_bytes", (double)total * scenario->row_compression)))
        return false;
    return add(out, "nodes", "load_share_max", (double)most / (double)total) &&
           add(out, "nodes", "load_share_min", (double)least / (double)total);
}

/* How many replicas a read asks. */
static double asked(const struct lab_scenario *scenario)
{
    const uint32_t all = scenario->cluster.replication_factor, centers = scenario->network.datacenter_count;
    const enum cass_consistency level = scenario->consistency.read;
    const bool is_part = centers > 1 && cass_is_local(level);
    const uint32_t required = cass_required(level, is_part ? (all + centers - 1) / centers : all);
    return required < all ? required : all;
}

/* The partitions that a range of a stream has on average, once it has run for longer; NaN: not known. A key
 * is read as often as it is written, and a partition that ends by its rows lasts the longer the fewer its key
 * has. */
static double range_partitions(const struct lab_tally *tally, const struct lab_scenario *scenario,
                               const struct lab_settings *settings, double seconds)
{
    const struct bk_strategy *strategy = &settings->strategy;
    const struct sim_zipf *popularity = &scenario->workload.popularity;
    const struct bk_row row = {.time_ns = scenario->workload.start_ns};
    struct bk_placement route = {0};
    double rows = (double)INFINITY, lasts_ns = (double)INFINITY, squares = 0;
    if (scenario->trace_path != NULL || settings->change_count > 0 || settings->is_idgen ||
        scenario->reads.limit > 0)
        return (double)NAN;
    for (uint64_t key = 0, step; key < popularity->count; key += step) {
        const double share = sim_zipf_share(popularity, key);
        step = sim_zipf_alike(popularity, key);
        squares += share * share * (double)step;
    }
    if (strategy->kind == BK_KIND_HASH)
        return (double)strategy->of.hash.buckets;
    if (strategy->kind == BK_KIND_TIME && bk_route(strategy, NULL, &row, &route) == BK_OK)
        lasts_ns = strategy->of.time.calendar == BK_CALENDAR_MONTH ? 365.2425 / 12 * (double)SIM_DAY
                                                                   : (double)(route.until_ns - route.from_ns);
    if (strategy->kind == BK_KIND_COUNT)
        rows = (double)strategy->of.count.rows;
    if (strategy->kind == BK_KIND_PROBABILISTIC)
        rows = (double)strategy->of.probabilistic.threshold / lab_chance(strategy);
    if (strategy->kind == BK_KIND_WEIGHTED && tally->payload_bytes > 0)
        rows = (double)strategy->of.weighted.threshold * (double)strategy->of.weighted.bytes *
               (double)tally->rows / (double)tally->payload_bytes;
    if (strategy->max_age_ns > 0)
        lasts_ns = (double)strategy->max_age_ns;
    return (double)lab_shards(strategy) *
           (1 + (double)scenario->reads.kinds[LAB_READ_RANGE].span_ns *
                    (1 / lasts_ns + (double)tally->rows / seconds * 1e-9 * squares / rows));
}

/* The partitions that reads query; a read that begins before the stream, as many as others of its kind. Adds
 * what a range has where all begin before it. */
static double queried(const struct lab_tally *tally, const struct lab_scenario *scenario,
                      const struct lab_settings *settings, double seconds, struct lab_metrics *out)
{
    const bool is_one = lab_read_kind_count(scenario) <= 1;
    double sum = 0;
    for (int kind = 0; kind < (is_one ? 1 : LAB_READ_KINDS); kind++) {
        const struct lab_read_tally *reads = is_one ? &tally->reads : &tally->reads_of[kind];
        const double found = (double)reads->partitions.sum, before = (double)reads->before;
        if (reads->partitions.count > 0)
            sum += found + before * (found / (double)reads->partitions.count);
        if (reads->partitions.count > 0 || reads->before == 0)
            continue;
        const double mean = range_partitions(tally, scenario, settings, seconds);
        sum += isnan(mean) ? 0 : before * mean;
        if (!isnan(mean) && !add(out, is_one ? "reads" : "reads.range", "partitions_per_read.mean", mean))
            return -1;
    }
    return sum / (scenario->reads.are_expected ? LAB_READ_PARTS : 1);
}

double lab_growth_times(double per_day, double run_days, double kept_days)
{
    const double run = per_day * run_days, kept = per_day * kept_days;
    return run > 0 ? expm1(kept) / kept / (expm1(run) / run) : 1;
}

bool lab_metrics_of_capacity(const struct lab_tally *tally, const struct lab_scenario *scenario,
                             const struct lab_settings *settings, double seconds, struct lab_metrics *out)
{
    const double ttl_s = (double)scenario->row_ttl_ns / (double)SIM_SECOND;
    const double kept_s =
        ttl_s > 0 ? ttl_s + (double)scenario->gc_grace_ns / (double)SIM_SECOND : LAB_CAPACITY_DAYS * 86400;
    const double copies = (double)scenario->cluster.replication_factor / (double)scenario->cluster.nodes;
    const double rows = (double)(tally->closed_rows.sum + tally->open_rows.sum),
                 bytes = (double)(tally->closed_bytes.sum + tally->open_bytes.sum);
    const double writes = (double)(tally->rows + tally->counter_increments + tally->state_writes +
                                   tally->lwt + tally->lock_ops);
    const double asks = queried(tally, scenario, settings, seconds, out),
                 reads = (double)tally->state_reads + fmax(0, asks);
    const double each = bytes / rows * (scenario->row_compression > 0 ? scenario->row_compression : 1);
    const double per_day = scenario->trace_path == NULL ? log(fmax(1, scenario->workload.growth)) / 365 : 0;
    const double held = (double)tally->rows / seconds * each * kept_s * copies *
                        lab_growth_times(per_day, seconds / 86400, kept_s / 86400);
    const double window_s = (double)scenario->compaction_window_ns / (double)SIM_SECOND,
                 spare = !(ttl_s > 0)   ? 1
                         : window_s > 0 ? window_s / kept_s
                                        : LAB_DISK_SPARE;
    if (asks < 0 || !(rows > 0) || !(seconds > 0) || tally->stored != NULL)
        return asks >= 0;
    return add(out, "capacity", "days", kept_s / 86400) && add(out, "capacity", "bytes_per_node", held) &&
           add(out, "capacity", "disk_per_node", held * (1 + spare)) &&
           add(out, "capacity", "writes_per_node", writes * copies / seconds) &&
           add(out, "capacity", "reads_per_node",
               reads * asked(scenario) / (double)scenario->cluster.nodes / seconds);
}

bool lab_metrics_of_tally(const struct lab_tally *tally, const struct lab_scenario *scenario,
                          int64_t start_ns, uint32_t nodes, struct lab_metrics *out)
{
    uint64_t closed = tally->closed_rows.count, open = tally->open_rows.count;
    uint64_t extra =
        tally->counter_increments + tally->state_reads + tally->state_writes + tally->lwt + tally->lock_ops;
    double per_1000 = tally->rows == 0 ? 0 : 1000.0 * (double)extra / (double)tally->rows;
    bool ok = add(out, "partitions", "total", (double)(closed + open)) &&
              add(out, "partitions", "closed", (double)closed) &&
              add(out, "partitions", "open", (double)open);
    if (lab_limits_sizes(&scenario->limits))
        ok = ok && add(out, "partitions", "over_limit", (double)tally->over_limit);
    if (scenario->limits.partition_rows != 0)
        ok = ok && add(out, "partitions", "over_limit_rows", (double)tally->over_limit_rows);
    if (scenario->limits.partition_bytes != 0)
        ok = ok && add(out, "partitions", "over_limit_bytes", (double)tally->over_limit_bytes);
    if (tally->first_over_ns != INT64_MAX)
        ok = ok && add(out, "partitions", "first_over_days",
                       (double)(tally->first_over_ns - start_ns) / (double)SIM_DAY);
    if (scenario->limits.tiny_rows != 0)
        ok = ok && add(out, "partitions", "tiny", (double)tally->tiny);
    ok = ok && (scenario->is_raced ? add_evenness(out, &tally->closed_rows) : add_all_sizes(out, tally));
    if (tally->key_most.rows > 0)
        ok = ok && add(out, "keys", "rows.max", (double)tally->key_most.rows) &&
             add(out, "keys", "bytes.max", (double)tally->key_most.bytes);
    ok = ok && add(out, "writes", "rows", (double)tally->rows) &&
         add(out, "writes", "placed", (double)tally->placed) &&
         add(out, "writes", "payload_bytes", (double)tally->payload_bytes) &&
         add(out, "writes", "counter_increments", (double)tally->counter_increments) &&
         add(out, "writes", "state_reads", (double)tally->state_reads) &&
         add(out, "writes", "state_writes", (double)tally->state_writes) &&
         add(out, "writes", "lwt", (double)tally->lwt) &&
         add(out, "writes", "lock_ops", (double)tally->lock_ops) &&
         add(out, "writes", "rows_scanned", (double)tally->rows_scanned) &&
         add(out, "writes", "extra_ops_per_1000_rows", per_1000) &&
         add(out, "writes", "retried", (double)tally->retried) &&
         add(out, "writes", "duplicated", (double)tally->duplicated) &&
         add(out, "writes", "misrouted", (double)tally->misrouted);
    if (lab_rows_go(scenario))
        ok = ok && add_left(out, tally);
    if (wl_has_own_times(&scenario->workload))
        ok = ok && add(out, "writes", "late", (double)tally->late_rows) &&
             add(out, "writes", "into_closed", (double)tally->rows_into_closed) &&
             add(out, "partitions", "reopened", (double)tally->reopened);
    if (scenario->design.is_given && scenario->engine != LAB_ENGINE_CLUSTER)
        ok = ok && add_stored(out, tally);
    if (scenario->reads.present)
        ok = ok && add_reads(out, scenario, tally);
    if (scenario->engine != LAB_ENGINE_THINNED)
        ok = ok && add(out, "peak", "rows_per_second_one_partition", (double)tally->peak_rows_per_s);
    return ok && add_load(out, tally, scenario, nodes);
}

bool lab_metrics_of_latency(const struct lab_histogram *histogram, const char *prefix,
                            struct lab_metrics *out)
{
    static const struct quantile quantiles[] = {{"p50", 500}, {"p99", 990}, {"p999", 999}};
    if (histogram->out_of_memory)
        return false;
    if (histogram->count == 0)
        return true;
    size_t bin_count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &bin_count);
    bool ok = bins != NULL && add_quantiles(out, prefix, bins, bin_count, histogram, false, quantiles,
                                            sizeof quantiles / sizeof *quantiles, 1e-6);
    free(bins);
    return ok;
}

bool lab_metrics_of_sizes(const struct lab_histogram *histogram, const char *prefix, bool is_weighted,
                          struct lab_metrics *out)
{
    size_t bin_count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &bin_count);
    const bool ok = add_sizes(out, prefix, bins, bin_count, histogram, is_weighted);
    free(bins);
    return ok;
}
