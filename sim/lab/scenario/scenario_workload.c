/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the sections `keys`, `arrivals` and `row`, which describe the rows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/quantity.h"
#include "lab/scenario_part.h"

#define SPIKES_MAX 500
/* Larger numbers are typing errors; within these limits the engines' sums cannot overflow. */
#define RATE_MIN   1e-9
#define RATE_MAX   1e9
#define FACTOR_MIN 1e-6
#define FACTOR_MAX 1e6
#define BYTES_MAX  0x1p40
#define ROWS_MAX   1e18
#define LATE_MAX   (365.0 * (double)SIM_DAY)

#define RATE_RANGE   "a rate above 0/s and at most 1000000000/s"
#define FACTOR_RANGE "a number from 0.000001 to 1000000"
#define BYTES_RANGE  "a size from 1B to 1TiB"
#define MEAN_RANGE   "from 1ms to 292y"

#define WORKLOAD(member) offsetof(struct lab_scenario, workload.member)

#define POINTS_FORM "write [[1, 12000], [20, 300], [370, 1]]: a key's rank and its weight"

static bool read_point(struct lab_reader *reader, const struct lab_node *node, struct sim_zipf *zipf)
{
    struct sim_zipf_point *point = &zipf->points[zipf->point_count];
    const struct lab_node *rank = node->first;
    if (node->kind != LAB_NODE_LIST || node->count != 2 || rank->kind != LAB_NODE_SCALAR ||
        rank->next->kind != LAB_NODE_SCALAR || lab_quantity_whole(rank->text, &point->rank) != NULL ||
        lab_quantity_number(rank->next->text, &point->weight) != NULL ||
        !(point->weight >= 1e-15 && point->weight <= ROWS_MAX))
        return lab_fail_at(&reader->tree, &node->place, "not a point of popularity; " POINTS_FORM);
    if (zipf->point_count == 0 && point->rank != 1)
        return lab_fail_at(&reader->tree, &node->place, "the first point is that of rank 1; " POINTS_FORM);
    if (zipf->point_count > 0 && (point->rank <= point[-1].rank || point->weight > point[-1].weight))
        return lab_fail_at(&reader->tree, &node->place,
                           "from point to point ranks rise and weights do not; " POINTS_FORM);
    zipf->point_count++;
    return true;
}

static bool read_points(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        void *out)
{
    struct sim_zipf *zipf = &((struct lab_scenario *)out)->workload.popularity;
    (void)field;
    if (node->kind != LAB_NODE_LIST || node->count == 0 || node->count > SIM_ZIPF_POINTS_MAX)
        return lab_fail_at(&reader->tree, &node->place, "'points' takes a list of 1 to %d; " POINTS_FORM,
                           SIM_ZIPF_POINTS_MAX);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        if (!read_point(reader, item, zipf))
            return false;
    }
    return true;
}

static const struct lab_table zipf_table = {
    .fields = (const struct lab_field[]){
        {"zipf", lab_read_number, WORKLOAD(popularity.s), LAB_OPTIONAL, 0, 10, "a number from 0 to 10", NULL},
        {"points", read_points, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
        {.name = NULL},
    }};

static bool read_popularity(struct lab_reader *reader, const struct lab_field *field,
                            const struct lab_node *node, void *out)
{
    (void)field;
    if (node->kind != LAB_NODE_SCALAR)
        return lab_table_read(reader, &zipf_table, node, out) &&
               ((lab_node_find(node, "zipf") == NULL) != (lab_node_find(node, "points") == NULL) ||
                lab_fail_at(&reader->tree, &node->place,
                            "popularity takes either zipf or points; write {zipf: 1.1}"));
    if (strcmp(node->text, "uniform") != 0)
        return lab_fail_value(
            reader, node,
            "no such popularity; use uniform, {zipf: 1.1}, or {points: [[1, 12000], [370, 1]]}");
    ((struct lab_scenario *)out)->workload.popularity.s = 0;
    return true;
}

const struct lab_table lab_keys_table = {
    .fields = (const struct lab_field[]){
        {"count", lab_read_whole, WORKLOAD(key_count), LAB_REQUIRED, 1, 4294967295.0,
         "a whole number from 1 to 4294967295", NULL},
        {"popularity", read_popularity, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
        {"zipf", NULL, 0, LAB_OPTIONAL, 0, 0, "belongs under 'popularity'; write popularity: {zipf: 1.1}",
         NULL},
        {.name = NULL},
    }};

static const struct lab_table daily_table = {
    .fields = (const struct lab_field[]){
        {"amplitude", lab_read_number, WORKLOAD(daily_amplitude), LAB_REQUIRED, 0, 1, "a number from 0 to 1",
         NULL},
        {"peak", lab_read_duration, WORKLOAD(daily_peak_ns), LAB_REQUIRED, 0, (double)(SIM_DAY - 1),
         "the time since midnight in UTC, from 0s to less than 24h, as in 20h", NULL},
        {.name = NULL},
    }};

static const struct lab_table bursts_table = {
    .fields = (const struct lab_field[]){
        {"on", lab_read_duration, WORKLOAD(burst_on_ns), LAB_REQUIRED, (double)SIM_MS, 0x1p63,
         "a mean duration " MEAN_RANGE, NULL},
        {"off", lab_read_duration, WORKLOAD(burst_off_ns), LAB_REQUIRED, (double)SIM_MS, 0x1p63,
         "a mean duration " MEAN_RANGE, NULL},
        {"factor", lab_read_number, WORKLOAD(burst_factor), LAB_REQUIRED, FACTOR_MIN, FACTOR_MAX,
         FACTOR_RANGE, NULL},
        {.name = NULL},
    }};

static const struct lab_table late_table = {
    .fields = (const struct lab_field[]){
        {"share", lab_read_share, WORKLOAD(late_share), LAB_REQUIRED, 1e-12, 1,
         "a share above 0% and at most 100%", NULL},
        {"by", lab_read_duration, WORKLOAD(late_mean_ns), LAB_REQUIRED, 1, LATE_MAX,
         "a mean duration above 0s and at most 365d", NULL},
        {.name = NULL},
    }};

static const struct lab_table early_table = {
    .fields = (const struct lab_field[]){
        {"share", lab_read_share, WORKLOAD(early_share), LAB_REQUIRED, 1e-12, 1,
         "a share above 0% and at most 100%", NULL},
        {"by", lab_read_duration, WORKLOAD(early_mean_ns), LAB_REQUIRED, 1, LATE_MAX,
         "a mean duration above 0s and at most 365d", NULL},
        {.name = NULL},
    }};

static const struct lab_choice orders[] = {{"forward", WL_FORWARD}, {"reverse", WL_REVERSE}, {NULL, 0}};

static const struct lab_table backfill_table = {
    .fields = (const struct lab_field[]){
        {"before", lab_read_duration, WORKLOAD(backfill_before_ns), LAB_REQUIRED, 1, 100 * LATE_MAX,
         "a duration above 0s and at most 36500d", NULL},
        {"lasts", lab_read_duration, WORKLOAD(backfill_lasts_ns), LAB_OPTIONAL, 1, 0x1p63,
         "a duration above 0s", NULL},
        {"rate", lab_read_rate, WORKLOAD(backfill_rate_per_s), LAB_OPTIONAL, RATE_MIN, RATE_MAX, RATE_RANGE,
         NULL},
        {"order", lab_read_choice, WORKLOAD(backfill_order), LAB_OPTIONAL, 0, 0, NULL, orders},
        {.name = NULL},
    }};

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
        return lab_fail_value(reader, node, "neither a share nor a number of keys; write it as 1%, or as 50");
    return true;
}

static const struct lab_table spike_table = {
    .fields = (const struct lab_field[]){
        {"at", lab_read_duration, offsetof(struct wl_spike, at_ns), LAB_REQUIRED, 0, 0, NULL, NULL},
        {"lasts", lab_read_duration, offsetof(struct wl_spike, lasts_ns), LAB_REQUIRED, 1, 0x1p63,
         "a duration above 0s", NULL},
        {"factor", lab_read_number, offsetof(struct wl_spike, factor), LAB_REQUIRED, FACTOR_MIN, FACTOR_MAX,
         FACTOR_RANGE, NULL},
        {"keys", read_struck_keys, 0, LAB_REQUIRED, 1e-12, 1, "a share above 0% and at most 100%", NULL},
        {.name = NULL},
    }};

static bool read_spikes(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        void *out)
{
    struct wl_workload *workload = &((struct lab_scenario *)out)->workload;
    (void)field;
    if (node->kind != LAB_NODE_LIST)
        return lab_fail_at(
            &reader->tree, &node->place,
            "'spikes' takes a list; write it as [{at: 12d, lasts: 1h, factor: 200, keys: 1%%}]");
    if (node->count > SPIKES_MAX)
        return lab_fail_at(&reader->tree, &node->place, "%zu spikes; give at most %d", node->count,
                           SPIKES_MAX);
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

const struct lab_table lab_arrivals_table = {
    .fields = (const struct lab_field[]){
        {"rate", lab_read_rate, WORKLOAD(rate_per_s), LAB_REQUIRED, RATE_MIN, RATE_MAX, RATE_RANGE, NULL},
        {"daily", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &daily_table},
        {"bursts", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &bursts_table},
        {"spikes", read_spikes, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
        {"late", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &late_table},
        {"early", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &early_table},
        {"resolution", lab_read_duration, WORKLOAD(resolution_ns), LAB_OPTIONAL, 1, (double)SIM_DAY,
         "a duration above 0s and at most 1d", NULL},
        {"backfill", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &backfill_table},
        {.name = NULL},
    }};

static const struct lab_choice row_formats[] = {
    {"nb", LAB_ROW_NB}, {"da", LAB_ROW_DA}, {"payload", LAB_ROW_PAYLOAD}, {NULL, 0}};

/* Columns are read after the table: scenario_row.c. */
static bool read_columns(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    (void)reader, (void)field, (void)node, (void)out;
    return true;
}

static const struct lab_table lognormal_table = {
    .fields = (const struct lab_field[]){
        {"mean", lab_read_size, offsetof(struct sim_size, a), LAB_REQUIRED, 1, BYTES_MAX, BYTES_RANGE, NULL},
        {"sigma", lab_read_number, offsetof(struct sim_size, b), LAB_REQUIRED, 0, 10, "a number from 0 to 10",
         NULL},
        {.name = NULL},
    }};

static const struct lab_table pareto_table = {
    .fields = (const struct lab_field[]){
        {"min", lab_read_size, offsetof(struct sim_size, a), LAB_REQUIRED, 1, BYTES_MAX, BYTES_RANGE, NULL},
        {"alpha", lab_read_number, offsetof(struct sim_size, b), LAB_REQUIRED, 0.01, 1000,
         "a number from 0.01 to 1000", NULL},
        {.name = NULL},
    }};

static bool read_uniform(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    struct sim_size *size = out;
    if (node->kind != LAB_NODE_LIST || node->count != 2)
        return lab_fail_at(&reader->tree, &node->place,
                           "'uniform' takes the least and the most; write it as uniform: [100, 10KB]");
    if (!lab_read_size(reader, field, node->first, &size->a) ||
        !lab_read_size(reader, field, node->last, &size->b))
        return false;
    if (size->a > size->b)
        return lab_fail_at(&reader->tree, &node->place,
                           "'uniform' has its least above its most; swap the two");
    return true;
}

static const struct lab_table row_bytes_table = {
    .fields = (const struct lab_field[]){
        {"uniform", read_uniform, 0, LAB_OPTIONAL, 1, BYTES_MAX, BYTES_RANGE, NULL},
        {"lognormal", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lognormal_table},
        {"pareto", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &pareto_table},
        {.name = NULL},
    }};

static bool read_row_bytes(struct lab_reader *reader, const struct lab_field *field,
                           const struct lab_node *node, void *out)
{
    struct sim_size *size = out;
    *size = (struct sim_size){.kind = SIM_SIZE_CONSTANT};
    if (node->kind == LAB_NODE_SCALAR)
        return lab_read_size(reader, field, node, &size->a);
    if (!lab_table_read(reader, &row_bytes_table, node, size))
        return false;
    const struct lab_node *form =
        lab_only_field(reader, node, NULL, "'bytes'", "uniform, lognormal or pareto");
    if (form == NULL)
        return false;
    size->kind = strcmp(form->name, "uniform") == 0     ? SIM_SIZE_UNIFORM
                 : strcmp(form->name, "lognormal") == 0 ? SIM_SIZE_LOGNORMAL
                                                        : SIM_SIZE_PARETO;
    return true;
}

const struct lab_table lab_row_table = {
    .fields = (const struct lab_field[]){
        {"bytes", read_row_bytes, WORKLOAD(row_bytes), LAB_OPTIONAL, 1, BYTES_MAX, BYTES_RANGE, NULL},
        {"ttl", lab_read_duration, offsetof(struct lab_scenario, row_ttl_ns), LAB_OPTIONAL,
         (double)SIM_SECOND, 20 * LATE_MAX, "a duration from 1s to 20y", NULL},
        {"cells", lab_read_whole, WORKLOAD(row_cells), LAB_OPTIONAL, 1, 2147483647.0,
         "a whole number from 1 to 2147483647", NULL},
        {"columns", read_columns, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
        {"format", lab_read_choice, offsetof(struct lab_scenario, row_format), LAB_OPTIONAL, 0, 0,
         "nb, da or payload", row_formats},
        {"compression", lab_read_number, offsetof(struct lab_scenario, row_compression), LAB_OPTIONAL, 0.001,
         2, "bytes on disk for each byte before compression, a number from 0.001 to 2", NULL},
        {.name = NULL},
    }};

/* Checks that there is either a trace, or keys and arrivals for a duration. */
static bool check_source(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_node *trace = lab_node_find(root, "trace");
    if (lab_node_find(root, "identifiers") != NULL)
        return true; /* identifiers have no rows */
    static const char *const made[] = {"keys", "arrivals", "duration"};
    for (size_t i = 0; i < 3; i++) {
        const struct lab_node *node = lab_node_find(root, made[i]);
        if (trace == NULL && node == NULL)
            return lab_fail_at(&reader->tree, &root->place, "'%s' is missing; add it%s", made[i],
                               i < 2 ? ", or 'trace' instead of keys and arrivals" : ", as in duration: 90d");
        char where[LAB_PLACE_SIZE];
        if (trace != NULL && node != NULL && i < 2)
            return lab_fail_at(&reader->tree, &node->name_place,
                               "'%s' conflicts with 'trace' at %s; remove one of them", made[i],
                               lab_place_text(&trace->name_place, where));
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
                                  "more keys than there are; give at most keys.count, or 100%");
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
    if (zipf->point_count == 0) {
        sim_zipf_init(zipf, zipf->s, workload->key_count);
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
                  (workload->has_daily ? 1 + workload->daily_amplitude : 1);
    if (!(peak <= RATE_MAX))
        return lab_fail_at(&reader->tree, &lab_node_find(arrivals, "rate")->place,
                           "at its peak the busiest key would write %.3g rows/s; lower the rate or the "
                           "factors until it is at most 1000000000/s",
                           peak);
    double rows = workload->rate_per_s * ((double)workload->duration_ns / 1e9) * product;
    if (!(rows <= ROWS_MAX))
        return lab_fail_at(&reader->tree, &lab_node_find(arrivals, "rate")->place,
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
    /* Cannot fail, since the ranges of the fields were checked. */
    if (sim_size_prepare(&workload->row_bytes) != 0)
        return lab_fail_at(
            &reader->tree, &bytes->place,
            "these figures are not a distribution of sizes; write them as in {lognormal: {mean: 350, "
            "sigma: 1.0}}");
    if (!sim_sizes_create(&workload->row_bytes, &workload->sizes))
        return sim_fail_memory(reader->tree.error);
    if (!check_source(reader, root) || !check_end(reader, root))
        return false;
    if (trace != NULL || lab_node_find(root, "identifiers") != NULL)
        return true;
    const struct lab_node *arrivals = lab_node_find(root, "arrivals");
    workload->has_daily = lab_node_find(arrivals, "daily") != NULL;
    workload->has_bursts = lab_node_find(arrivals, "bursts") != NULL;
    return make_popularity(reader, workload, lab_node_find(root, "keys")) &&
           check_spikes(reader, lab_node_find(arrivals, "spikes")) && check_amounts(reader, arrivals) &&
           check_backfill(reader, lab_node_find(arrivals, "backfill"));
}
