/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes are sorted lists, sums are integers of 128 bits, and each figure is rounded once, as docs/metrics.md
 * describes. */
#include "naive_metrics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "workload/workload.h"

/* A size, and its weight. */
struct sized {
    uint64_t size, weight;
};

static void add(struct lab_metrics *out, double value, const char *prefix, const char *name)
{
    char full[LAB_METRIC_NAME_SIZE];
    snprintf(full, sizeof full, "%s.%s", prefix, name);
    if (!lab_metrics_add(out, full, value))
        abort();
}

static int by_size(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    return (a->size > b->size) - (a->size < b->size);
}

static double mean_of(lab_wide sum, lab_wide n)
{
    return (double)(uint64_t)(sum / n) + (double)(uint64_t)(sum % n) / (double)(uint64_t)n;
}

/* The smallest size that at least per_mille of 1000 do not exceed. */
static uint64_t quantile(const struct sized *sizes, size_t count, lab_wide n, uint64_t per_mille)
{
    lab_wide upto = 0;
    for (size_t i = 0; i < count; i++) {
        upto += sizes[i].weight;
        if (upto * 1000 >= n * per_mille)
            return sizes[i].size;
    }
    return sizes[count - 1].size;
}

static void add_sizes(struct lab_metrics *out, const char *prefix, struct sized *sizes, size_t count)
{
    static const struct {
        const char *name;
        uint64_t per_mille;
    } quantiles[] = {{"p001", 1}, {"p01", 10}, {"p50", 500}, {"p90", 900}, {"p99", 990}, {"p999", 999}};
    lab_wide n = 0, sum = 0, squares = 0;
    qsort(sizes, count, sizeof *sizes, by_size);
    for (size_t i = 0; i < count; i++) {
        n += sizes[i].weight;
        sum += (lab_wide)sizes[i].size * sizes[i].weight;
    }
    if (n == 0)
        return;
    /* The squares are taken about the integer part of the mean, so that they are integers. */
    uint64_t centre = (uint64_t)(sum / n);
    for (size_t i = 0; i < count; i++) {
        uint64_t size = sizes[i].size, distance = size > centre ? size - centre : centre - size;
        squares += (lab_wide)distance * distance * sizes[i].weight;
    }
    double offset = (double)(uint64_t)(sum % n) / (double)(uint64_t)n;
    double variance = (double)squares / (double)(uint64_t)n - offset * offset;
    add(out, mean_of(sum, n), prefix, "mean");
    add(out, sqrt(variance > 0 ? variance : 0), prefix, "stddev");
    size_t least = 0;
    while (sizes[least].weight == 0)
        least++;
    add(out, (double)sizes[least].size, prefix, "min");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        add(out, (double)quantile(sizes, count, n, quantiles[i].per_mille), prefix, quantiles[i].name);
    add(out, (double)sizes[count - 1].size, prefix, "max");
}

enum which { CLOSED, ALL, ROW_WEIGHTED };

static void add_partition_sizes(struct lab_metrics *out, const struct naive_result *naive, enum which which,
                                bool in_bytes)
{
    static const char *const names[] = {"closed", "all", "row_weighted"};
    struct sized *sizes = naive_must(calloc(naive->partition_count + 1, sizeof *sizes));
    size_t count = 0;
    for (size_t i = 0; i < naive->partition_count; i++) {
        const struct naive_partition *partition = &naive->partitions[i];
        if (which == CLOSED && !partition->is_closed)
            continue;
        sizes[count++] = (struct sized){in_bytes ? partition->bytes : partition->rows,
                                        which == ROW_WEIGHTED ? partition->rows : 1};
    }
    char prefix[64];
    snprintf(prefix, sizeof prefix, "partitions.%s.%s", names[which], in_bytes ? "bytes" : "rows");
    add_sizes(out, prefix, sizes, count);
    free(sizes);
}

static void add_repair(struct lab_metrics *out, const struct naive_result *naive)
{
    lab_wide weighted = 0, bytes = 0, rows = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < naive->partition_count; i++) {
        const struct naive_partition *partition = &naive->partitions[i];
        weighted += (lab_wide)partition->bytes * partition->rows;
        bytes += partition->bytes;
        rows += partition->rows;
        most = partition->bytes > most ? partition->bytes : most;
    }
    if (rows == 0)
        return;
    double streamed = (double)weighted / (double)(uint64_t)rows, row = (double)bytes / (double)(uint64_t)rows;
    add(out, streamed, "repair", "bytes_per_differing_row");
    add(out, (double)most, "repair", "bytes_max");
    if (row != 0)
        add(out, streamed / row, "repair", "amplification");
}

static void add_partitions(struct lab_metrics *out, const struct lab_limits *limits,
                           const struct naive_result *naive, int64_t start_ns)
{
    uint64_t closed = 0, tiny = 0, over_rows = 0, over_bytes = 0, over = 0;
    for (size_t i = 0; i < naive->partition_count; i++) {
        const struct naive_partition *partition = &naive->partitions[i];
        bool is_over_rows = limits->partition_rows > 0 && partition->rows > limits->partition_rows;
        bool is_over_bytes = limits->partition_bytes > 0 && partition->bytes > limits->partition_bytes;
        closed += partition->is_closed;
        tiny += partition->is_closed && partition->rows < limits->tiny_rows;
        over_rows += is_over_rows;
        over_bytes += is_over_bytes;
        over += is_over_rows || is_over_bytes;
    }
    add(out, (double)naive->partition_count, "partitions", "total");
    add(out, (double)closed, "partitions", "closed");
    add(out, (double)(naive->partition_count - closed), "partitions", "open");
    if (limits->partition_rows != 0 || limits->partition_bytes != 0)
        add(out, (double)over, "partitions", "over_limit");
    if (limits->partition_rows != 0)
        add(out, (double)over_rows, "partitions", "over_limit_rows");
    if (limits->partition_bytes != 0)
        add(out, (double)over_bytes, "partitions", "over_limit_bytes");
    if (naive->first_over_ns != INT64_MAX)
        add(out, (double)(naive->first_over_ns - start_ns) / (double)SIM_DAY, "partitions",
            "first_over_days");
    if (limits->tiny_rows != 0)
        add(out, (double)tiny, "partitions", "tiny");
    for (int which = CLOSED; which <= ROW_WEIGHTED; which++) {
        add_partition_sizes(out, naive, (enum which)which, false);
        add_partition_sizes(out, naive, (enum which)which, true);
    }
    add_repair(out, naive);
}

/* The most rows and bytes that a key has on disk at a time, as a single partition. */
static void key_most(const struct naive_key *key, const struct naive_disk *disk, uint64_t *rows,
                     uint64_t *bytes)
{
    struct naive_stored *stored = naive_must(calloc(key->count + 1, sizeof *stored));
    *rows = *bytes = 0;
    for (size_t i = 0; i < key->count; i++) {
        uint64_t now_rows = i + 1, now_bytes = *bytes + key->rows[i].weight;
        stored[i] = (struct naive_stored){key->rows[i].time_ns, key->rows[i].weight};
        if (disk->window_ns > 0)
            naive_on_disk(disk, stored, i + 1, &now_rows, &now_bytes);
        *rows = now_rows > *rows ? now_rows : *rows;
        *bytes = now_bytes > *bytes ? now_bytes : *bytes;
    }
    free(stored);
}

/* The rows of the largest key as a single partition. */
static void add_keys(struct lab_metrics *out, const struct naive_input *input,
                     const struct lab_scenario *scenario)
{
    const struct naive_disk disk = naive_disk_of(input, scenario, NULL);
    uint64_t rows_most = 0, bytes_most = 0;
    for (size_t i = 0; i < input->key_count; i++) {
        const struct naive_key *key = &input->keys[i];
        uint64_t rows, bytes;
        key_most(key, &disk, &rows, &bytes);
        bytes += rows == 0 ? 0 : lab_partition_bytes(&scenario->row_cost, strlen(key->name), rows, bytes);
        rows_most = rows > rows_most ? rows : rows_most;
        bytes_most = bytes > bytes_most ? bytes : bytes_most;
    }
    if (rows_most == 0)
        return;
    add(out, (double)rows_most, "keys", "rows.max");
    add(out, (double)bytes_most, "keys", "bytes.max");
}

static void add_writes(struct lab_metrics *out, const struct naive_input *input,
                       const struct naive_result *naive)
{
    uint64_t extra = naive->counter_increments + naive->state_reads + naive->state_writes + naive->lwt;
    uint64_t payload = 0, placed = 0;
    for (size_t i = 0; i < naive->partition_count; i++)
        placed += naive->partitions[i].written;
    for (size_t i = 0; i < input->key_count; i++) {
        for (size_t j = 0; j < input->keys[i].count; j++)
            payload += input->keys[i].rows[j].bytes;
    }
    add(out, (double)input->rows, "writes", "rows");
    add(out, (double)placed, "writes", "placed");
    add(out, (double)payload, "writes", "payload_bytes");
    add(out, (double)naive->counter_increments, "writes", "counter_increments");
    add(out, (double)naive->state_reads, "writes", "state_reads");
    add(out, (double)naive->state_writes, "writes", "state_writes");
    add(out, (double)naive->lwt, "writes", "lwt");
    add(out, 0, "writes", "lock_ops");
    add(out, (double)naive->rows_scanned, "writes", "rows_scanned");
    add(out, input->rows == 0 ? 0 : 1000.0 * (double)extra / (double)input->rows, "writes",
        "extra_ops_per_1000_rows");
    add(out, 0, "writes", "retried");
    add(out, 0, "writes", "duplicated");
    add(out, 0, "writes", "misrouted");
}

/* An expired row is a tombstone for each of its cells; if rows are deleted too, each expired or deleted row
 * is one tombstone. */
static void add_left(struct lab_metrics *out, const struct lab_scenario *scenario,
                     const struct naive_result *naive)
{
    uint64_t each = scenario->deletes.share > 0 ? 1 : scenario->workload.row_cells;
    struct sized *live = naive_must(calloc(naive->partition_count + 1, sizeof *live));
    struct sized *gone = naive_must(calloc(naive->partition_count + 1, sizeof *gone));
    uint64_t rows = 0;
    size_t emptied = 0, count = naive->partition_count;
    for (size_t i = 0; i < count; i++) {
        const struct naive_partition *partition = &naive->partitions[i];
        uint64_t left = partition->written - partition->gone;
        gone[i] = (struct sized){partition->gone * each, 1};
        if (left > 0)
            live[i - emptied] = (struct sized){left, 1};
        emptied += left == 0;
        rows += left;
    }
    add(out, (double)rows, "rows", "live");
    add(out, (double)naive->deleted, "rows", "deleted");
    add(out, (double)naive->expired, "rows", "expired");
    add(out, (double)emptied, "partitions", "emptied");
    add_sizes(out, "partitions.live.rows", live, count - emptied);
    add_sizes(out, "tombstones.partition", gone, count);
    free(live);
    free(gone);
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* kind: LAB_READ_KINDS means all kinds together. */
static void add_read_kind(struct lab_metrics *out, const struct lab_scenario *scenario,
                          const struct naive_result *naive, const char *prefix, int kind)
{
    uint64_t *partitions = naive_must(calloc(naive->read_count + 1, sizeof *partitions)), sum = 0;
    uint64_t empties = 0, scanned = 0, incomplete = 0, out_of_order = 0, cut = 0;
    size_t n = 0, before = 0;
    for (size_t i = 0; i < naive->read_count; i++) {
        const struct naive_read *read = &naive->reads[i];
        if (kind != LAB_READ_KINDS && (int)read->kind != kind)
            continue;
        before += read->is_before;
        if (!read->is_before) {
            partitions[n++] = read->partitions;
            sum += read->partitions;
            empties += read->empties;
            scanned += read->scanned;
        }
        incomplete += read->is_incomplete;
        out_of_order += read->is_out_of_order;
        cut += read->is_cut;
    }
    add(out, (double)(n + before), prefix, "count");
    if (n > 0) {
        qsort(partitions, n, sizeof *partitions, by_number);
        add(out, (double)sum / (double)n, prefix, "partitions_per_read.mean");
        add(out, (double)partitions[(n * 500 + 999) / 1000 - 1], prefix, "partitions_per_read.p50");
        add(out, (double)partitions[(n * 990 + 999) / 1000 - 1], prefix, "partitions_per_read.p99");
        add(out, (double)partitions[n - 1], prefix, "partitions_per_read.max");
        add(out, (double)empties / (double)n, prefix, "empty_partitions_per_read");
        add(out, (double)scanned / (double)n, prefix, "rows_scanned_per_read");
    }
    add(out, (double)incomplete, prefix, "incomplete");
    add(out, (double)out_of_order, prefix, "out_of_order");
    if (scenario->reads.limit != 0)
        add(out, (double)cut, prefix, "cut_off");
    free(partitions);
}

static void add_reads(struct lab_metrics *out, const struct lab_scenario *scenario,
                      const struct naive_result *naive)
{
    static const char *const prefixes[] = {"reads.latest", "reads.range", "reads.all"};
    int kinds = 0;
    add_read_kind(out, scenario, naive, "reads", LAB_READ_KINDS);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        kinds += scenario->reads.kinds[kind].rate_per_s > 0;
    for (int kind = 0; kinds > 1 && kind < LAB_READ_KINDS; kind++) {
        if (scenario->reads.kinds[kind].rate_per_s > 0)
            add_read_kind(out, scenario, naive, prefixes[kind], kind);
    }
}

static void add_table(struct lab_metrics *out, const struct naive_input *input,
                      const struct naive_result *naive)
{
    add(out, (double)(input->rows - naive->overwritten), "rows", "stored");
    add(out, (double)naive->overwritten, "rows", "overwritten");
    add(out, (double)naive->most_written, "peak", "rows_written_one_partition");
    add(out, input->rows == 0 ? 0 : (double)naive->minute_most / (double)input->rows, "peak",
        "minute_share_one_partition");
}

static void add_loads(struct lab_metrics *out, const struct naive_load *loads, uint32_t nodes)
{
    lab_wide total = 0;
    uint64_t most = 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < nodes; i++) {
        total += loads[i].bytes;
        most = loads[i].bytes > most ? loads[i].bytes : most;
        least = loads[i].bytes < least ? loads[i].bytes : least;
    }
    if (total == 0)
        return;
    add(out, (double)most / (double)total, "nodes", "load_share_max");
    add(out, (double)least / (double)total, "nodes", "load_share_min");
}

/* How many partitions a range has in the long run: as many as ends of partitions come in its time, and one.
 */
static double range_mean(const struct naive_input *input, const struct lab_scenario *scenario,
                         const struct lab_settings *settings, double payload)
{
    const struct bk_strategy *core = &settings->strategy;
    const double seconds = (double)((uint64_t)input->end_ns - (uint64_t)input->start_ns) * 1e-9,
                 chances = (double)core->of.probabilistic.chance_denominator /
                           (double)core->of.probabilistic.chance_numerator,
                 days[] = {0, 1.0 / 24, 1, 7, 365.2425 / 12};
    double lasts_ns = (double)INFINITY, each = (double)INFINITY, squares = 0;
    for (uint64_t key = 0; key < scenario->workload.key_count; key++)
        squares += pow(sim_zipf_share(&scenario->workload.popularity, key), 2);
    if (core->kind == BK_KIND_HASH)
        return (double)core->of.hash.buckets;
    if (core->kind == BK_KIND_TIME)
        lasts_ns = core->of.time.calendar == BK_CALENDAR_NONE ? (double)core->of.time.window_ns
                                                              : days[core->of.time.calendar] * 86400e9;
    if (core->kind == BK_KIND_COUNT)
        each = (double)core->of.count.rows;
    if (core->kind == BK_KIND_PROBABILISTIC)
        each = (double)core->of.probabilistic.threshold *
               (isnan(chances) ? (double)(UINT64_C(1) << core->of.probabilistic.bits) : chances);
    if (core->kind == BK_KIND_WEIGHTED && input->rows > 0)
        each = (double)core->of.weighted.threshold * (double)core->of.weighted.bytes * (double)input->rows /
               payload;
    if (core->max_age_ns > 0)
        lasts_ns = (double)core->max_age_ns;
    return (double)naive_shards(core) *
           (1 + (double)scenario->reads.kinds[LAB_READ_RANGE].span_ns *
                    (1 / lasts_ns + (double)input->rows / seconds * 1e-9 * squares / each));
}

/* A read that begins before the stream counts as the mean of the others of its kind. */
static double queried(const struct naive_input *input, const struct lab_scenario *scenario,
                      const struct naive_result *naive, const struct lab_settings *settings,
                      struct lab_metrics *out)
{
    const double payload = lab_metrics_find(out, "writes.payload_bytes")->value;
    double sum = 0;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        uint64_t found = 0, n = 0, before = 0;
        for (size_t i = 0; i < naive->read_count; i++) {
            const struct naive_read *read = &naive->reads[i];
            if ((int)read->kind != kind)
                continue;
            before += read->is_before;
            n += !read->is_before;
            found += read->is_before ? 0 : read->partitions;
        }
        if (n > 0)
            sum += (double)found + (double)before * ((double)found / (double)n);
        if (n > 0 || before == 0 || scenario->trace_path != NULL || settings->change_count > 0 ||
            scenario->reads.limit > 0)
            continue;
        const double mean = range_mean(input, scenario, settings, payload);
        sum += (double)before * mean;
        add(out, mean, before == naive->read_count ? "reads" : "reads.range", "partitions_per_read.mean");
    }
    return sum;
}

/* Sums of whole numbers are exact, and the rest is in the order of the definition, so it is equal to the last
 * bit. Reads ask a quorum. */
static void add_capacity(struct lab_metrics *out, const struct naive_input *input,
                         const struct lab_scenario *scenario, const struct naive_result *naive,
                         const struct lab_settings *settings)
{
    static const char *const writes[] = {"writes.rows", "writes.counter_increments", "writes.state_writes",
                                         "writes.lwt", "writes.lock_ops"};
    const double seconds = (double)((uint64_t)input->end_ns - (uint64_t)input->start_ns) * 1e-9;
    const double days =
        scenario->row_ttl_ns > 0 ? (double)scenario->row_ttl_ns / 1e9 + 864000 : 365.0 * 86400;
    const uint32_t nodes = scenario->cluster.nodes, copies = scenario->cluster.replication_factor;
    lab_wide rows = 0, bytes = 0;
    double written = 0, read = lab_metrics_find(out, "writes.state_reads")->value;
    for (size_t i = 0; i < naive->partition_count; i++) {
        rows += naive->partitions[i].rows;
        bytes += naive->partitions[i].bytes;
    }
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        written += lab_metrics_find(out, writes[i])->value;
    read += queried(input, scenario, naive, settings, out);
    if (rows == 0 || !(seconds > 0) || scenario->design.is_given)
        return;
    /* The integral of e^(gt) over these days, for each of the run, whose mean rate is that of its rows. */
    const double g = scenario->trace_path == NULL && scenario->workload.growth > 1
                         ? log(scenario->workload.growth) / 365
                         : 0,
                 run = g * (seconds / 86400), kept = g * (days / 86400);
    const double held = (double)input->rows / seconds * ((double)bytes / (double)rows) * days *
                        ((double)copies / (double)nodes) *
                        (g > 0 ? expm1(kept) / kept / (expm1(run) / run) : 1);
    add(out, days / 86400, "capacity", "days");
    add(out, held, "capacity", "bytes_per_node");
    add(out, held * (scenario->row_ttl_ns > 0 ? 1.04 : 2), "capacity", "disk_per_node");
    add(out, written * ((double)copies / (double)nodes) / seconds, "capacity", "writes_per_node");
    add(out, read * (copies / 2 + 1) / (double)nodes / seconds, "capacity", "reads_per_node");
}

void naive_loads(const struct naive_input *input, const struct naive_result *naive,
                 const struct cass_ring *ring, bool is_table, struct naive_load *loads)
{
    memset(loads, 0, cass_ring_node_count(ring) * sizeof *loads);
    for (size_t i = 0; i < naive->partition_count; i++) {
        const struct naive_partition *partition = &naive->partitions[i];
        const char *name = input->keys[partition->key_index].name;
        uint8_t bucket[8];
        naive_big_endian(partition->bucket, bucket);
        const struct naive_part parts[] = {{name, strlen(name)}, {bucket, sizeof bucket}};
        int64_t token = is_table ? partition->token : naive_token(parts, 2);
        const uint32_t *replicas = cass_ring_replicas(ring, token);
        for (uint32_t j = 0; j < cass_ring_replication_factor(ring); j++) {
            loads[replicas[j]].rows += partition->rows;
            loads[replicas[j]].bytes += partition->bytes;
        }
    }
}

void naive_metrics(const struct naive_input *input, const struct lab_scenario *scenario,
                   const struct naive_result *naive, const struct naive_load *loads,
                   const struct lab_settings *settings, struct lab_metrics *out)
{
    add_partitions(out, &scenario->limits, naive, input->start_ns);
    add_keys(out, input, scenario);
    add_writes(out, input, naive);
    if (scenario->row_ttl_ns > 0 || scenario->deletes.share > 0)
        add_left(out, scenario, naive);
    if (wl_has_own_times(&scenario->workload)) {
        add(out, (double)naive->late, "writes", "late");
        add(out, (double)naive->into_closed, "writes", "into_closed");
        add(out, (double)naive->reopened, "partitions", "reopened");
    }
    if (scenario->design.is_given)
        add_table(out, input, naive);
    if (scenario->reads.present)
        add_reads(out, scenario, naive);
    add(out, (double)naive->peak, "peak", "rows_per_second_one_partition");
    add_loads(out, loads, scenario->cluster.nodes);
    add_capacity(out, input, scenario, naive, settings);
}
