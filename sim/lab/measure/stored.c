/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts what a table stores of the rows that a strategy writes, by the partition key of the table; and draws
 * the values of the table's columns. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/token.h"
#include "kernel/random.h"
#include "kernel/sampler.h"
#include "kernel/time.h"
#include "lab/tally.h"

static void add_column(struct lab_values *values, const struct lab_design *design, uint8_t position)
{
    if (design->columns[position].feed == LAB_FEED_VALUES)
        values->columns[values->count++] =
            (struct lab_value_column){.values = design->columns[position].values, .column = position};
}

bool lab_values_init(struct lab_values *values, const struct lab_design *design, bool of_partition_alone)
{
    memset(values, 0, sizeof *values);
    for (size_t i = 0; i < design->partition_count; i++)
        add_column(values, design, design->partition[i]);
    for (size_t i = 0; !of_partition_alone && i < design->clustering_count; i++)
        add_column(values, design, design->clustering[i]);
    values->partition_combinations = lab_design_values(design, true);
    values->combinations = lab_design_values(design, of_partition_alone);
    size_t size = 0;
    for (size_t i = 0; i < values->count; i++)
        size += design->columns[values->columns[i].column].zipf > 0 ? values->columns[i].values : 0;
    if (size == 0)
        return true;
    values->distributions = malloc(size * sizeof *values->distributions);
    if (values->distributions == NULL)
        return false;
    double *distribution = values->distributions;
    for (size_t i = 0; i < values->count; i++) {
        struct lab_value_column *column = &values->columns[i];
        const struct lab_column *designed = &design->columns[column->column];
        if (designed->zipf == 0)
            continue;
        struct sim_zipf zipf;
        double sum = 0;
        sim_zipf_init(&zipf, designed->zipf, column->values);
        for (uint32_t j = 0; j < column->values; j++)
            distribution[j] = sum += sim_zipf_share(&zipf, j);
        column->up_to = distribution;
        distribution += column->values;
    }
    return true;
}

void lab_values_clear(struct lab_values *values)
{
    free(values->distributions);
    memset(values, 0, sizeof *values);
}

static uint64_t draw_value(const struct lab_value_column *column, uint64_t bits)
{
    if (column->up_to == NULL)
        return (bits >> 32) * column->values >> 32;
    double unit = (double)(int64_t)(bits >> 11) * 0x1p-53;
    uint32_t low = 0, high = column->values - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (column->up_to[middle] <= unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A stream of splitmix64 for each (key, column), of which a row takes the draw_value with its number: so a
 * row's values depend neither on the caller nor on the order of calls. */
void lab_values_begin(struct lab_values *values, uint64_t seed, uint64_t key_hash)
{
    for (size_t i = 0; i < values->count; i++) {
        struct lab_value_column *column = &values->columns[i];
        column->begin = sim_hash(seed, SIM_COLUMN, sim_mix64(key_hash + column->column));
    }
}

uint64_t lab_values_of_row(const struct lab_values *values, uint64_t row)
{
    uint64_t combination = 0, unit = 1;
    for (size_t i = 0; i < values->count; i++) {
        const struct lab_value_column *column = &values->columns[i];
        uint64_t bits = sim_mix64(column->begin + (row + 1) * UINT64_C(0x9e3779b97f4a7c15));
        combination += draw_value(column, bits) * unit;
        unit *= column->values;
    }
    return combination;
}

uint64_t lab_values_of_column(const struct lab_values *values, uint64_t combination, uint32_t column)
{
    for (size_t i = 0; i < values->count; i++) {
        if (values->columns[i].column == column)
            return combination % values->columns[i].values;
        combination /= values->columns[i].values;
    }
    return 0;
}

/* Counts what a table stores of the rows that a strategy writes, by the partition key of the table. */

#define KEY_SIZE_MAX 8192u
#define SEEN_MOST    64u /* bits of a set of combinations */

/* The words of a tuple: a primary key, or a partition with a time of its rows. A word that is not part of the
 * table's key is 0. WORD_VALUES is a combination of stored_values.h; for a partition, only that of the
 * partition key's columns. */
enum word { WORD_KEY, WORD_BUCKET, WORD_TIME, WORD_VALUES };
/* The values stored for a partition. Second and minute are the latest ones, if only one key writes to the
 * partition. */
enum of_partition {
    PART_TOKEN,
    PART_WRITTEN,
    PART_WRITTEN_BYTES,
    PART_ROWS,
    PART_BYTES,
    PART_SECOND,
    PART_IN_SECOND,
    PART_MINUTE,
    PART_IN_MINUTE,
    PART_FIRST, /* time of its first row */
    PART_KEY_SIZE,
    PART_COUNT
};
/* The values stored for a primary key: its latest row. Of rows with equal times it is the row of the higher
 * key, and of these the later one. */
enum of_row { ROW_TIME, ROW_KEY, ROW_NUMBER, ROW_BYTES, ROW_COUNT };
enum of_minute { MINUTE_ROWS, MINUTE_MOST, MINUTE_COUNT };

enum table {
    PARTITIONS,
    ROWS,
    SECONDS, /* rows per (partition, second), if partitions have rows of several keys */
    MINUTES,
    ENDS, /* current bucket of each key that has ended, if has_key */
    TABLE_COUNT
};

struct lab_stored {
    const struct lab_scenario *scenario;
    const struct lab_design *design;
    const struct cass_ring *ring;
    bool has_key;    /* the key is in the partition key, so each partition has rows of only one key */
    bool has_bucket; /* there is a bucket column */
    bool is_unique;  /* no row replaces another */
    bool is_raced;   /* neither seconds nor minutes are counted */
    bool primary_has_key, primary_has_time;
    struct lab_values values; /* without clustering columns, if is_unique */
    uint64_t drawn;           /* index of the key of `values`; UINT64_MAX: none yet */
    struct lab_tuples tables[TABLE_COUNT];
    int64_t least_current;  /* the smallest current bucket of all keys that have ended */
    int64_t first_whole;    /* see lab_first_whole() */
    struct lab_tally found; /* finished partitions, limits, load, peak */
    struct lab_stored_figures figures;
};

struct lab_stored *lab_stored_create(const struct lab_scenario *scenario, const struct cass_ring *ring)
{
    struct lab_stored *stored = calloc(1, sizeof *stored);
    const struct lab_design *design = &scenario->design;
    if (stored == NULL)
        return NULL;
    stored->scenario = scenario;
    stored->design = design;
    stored->ring = ring;
    stored->has_key = lab_design_partitions_by(design, LAB_FEED_KEY);
    stored->has_bucket = lab_design_column(design, LAB_FEED_BUCKET) != NULL;
    stored->is_unique = lab_design_is_unique(design);
    stored->is_raced = !lab_counts_seconds(scenario);
    stored->primary_has_key = stored->has_key || lab_design_clusters_by(design, LAB_FEED_KEY);
    stored->primary_has_time = lab_design_clusters_by(design, LAB_FEED_TIME);
    stored->least_current = INT64_MAX;
    stored->first_whole = INT64_MIN;
    stored->drawn = UINT64_MAX;
    static const uint32_t values[TABLE_COUNT] = {PART_COUNT, ROW_COUNT, 1, MINUTE_COUNT, 1};
    for (int i = 0; i < TABLE_COUNT; i++)
        lab_tuples_init(&stored->tables[i], values[i]);
    if (lab_values_init(&stored->values, design, stored->is_unique) &&
        lab_tally_init(&stored->found, cass_ring_node_count(ring)))
        return stored;
    lab_stored_destroy(stored);
    return NULL;
}

void lab_stored_destroy(struct lab_stored *stored)
{
    if (stored == NULL)
        return;
    lab_values_clear(&stored->values);
    for (int i = 0; i < TABLE_COUNT; i++)
        lab_tuples_clear(&stored->tables[i]);
    lab_tally_clear(&stored->found);
    free(stored);
}

void lab_stored_begin(struct lab_stored *stored, int64_t start_ns, int64_t end_ns)
{
    lab_slices_begin(&stored->found.slices, start_ns, end_ns);
}

static int64_t token_of(const struct lab_stored *stored, const struct lab_key_name *key, int64_t bucket,
                        uint64_t values)
{
    const struct lab_design *design = stored->design;
    struct cass_component components[LAB_COLUMNS_MAX];
    char texts[LAB_COLUMNS_MAX][24];
    uint8_t number[8], serialised[KEY_SIZE_MAX];
    for (int i = 0; i < 8; i++)
        number[i] = (uint8_t)((uint64_t)bucket >> (8 * (7 - i)));
    for (size_t i = 0; i < design->partition_count; i++) {
        uint8_t column = design->partition[i];
        switch (design->columns[column].feed) {
        case LAB_FEED_KEY:
            components[i] = (struct cass_component){key->text, key->size};
            break;
        case LAB_FEED_BUCKET:
            components[i] = (struct cass_component){number, sizeof number};
            break;
        default: {
            int size = snprintf(texts[i], sizeof texts[i], "%" PRIu64,
                                lab_values_of_column(&stored->values, values, column));
            components[i] = (struct cass_component){texts[i], (size_t)size};
        }
        }
    }
    size_t size = cass_key_size(components, design->partition_count);
    assert(size <= sizeof serialised);
    cass_key_serialise(components, design->partition_count, serialised);
    return cass_token(serialised, size);
}

static uint64_t *partition_of(struct lab_stored *stored, const struct lab_key_name *key, int64_t bucket,
                              uint64_t values)
{
    const uint64_t tuple[LAB_TUPLE_WORDS] = {[WORD_KEY] = stored->has_key ? key->index : 0,
                                             [WORD_BUCKET] = (uint64_t)bucket,
                                             [WORD_VALUES] = values};
    uint64_t *partition = lab_tuples_get(&stored->tables[PARTITIONS], tuple);
    if (partition != NULL && partition[PART_WRITTEN] == 0) {
        partition[PART_TOKEN] = (uint64_t)token_of(stored, key, bucket, values);
        partition[PART_FIRST] = (uint64_t)INT64_MAX;
        partition[PART_KEY_SIZE] = key->size;
    }
    return partition;
}

static void note_minute(struct lab_stored *stored, uint64_t minute, uint64_t rows, uint64_t most)
{
    if (rows == 0 && most == 0)
        return;
    const uint64_t tuple[LAB_TUPLE_WORDS] = {[WORD_TIME] = minute};
    uint64_t *noted = lab_tuples_get(&stored->tables[MINUTES], tuple);
    if (noted == NULL)
        return;
    noted[MINUTE_ROWS] += rows;
    if (most > noted[MINUTE_MOST])
        noted[MINUTE_MOST] = most;
}

static int64_t floor_div(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/* The rows of a partition with one key arrive in order; if several keys share a partition, its rows per
 * second are known only at the end. */
static void add_time(struct lab_stored *stored, uint64_t *partition, int64_t bucket, uint64_t values,
                     int64_t time_ns)
{
    uint64_t second = (uint64_t)floor_div(time_ns, SIM_SECOND),
             minute = (uint64_t)floor_div(time_ns, 60 * SIM_SECOND);
    if (!stored->has_key) {
        const uint64_t tuple[LAB_TUPLE_WORDS] = {
            [WORD_BUCKET] = (uint64_t)bucket, [WORD_TIME] = second, [WORD_VALUES] = values};
        uint64_t *rows = lab_tuples_get(&stored->tables[SECONDS], tuple);
        if (rows != NULL)
            ++*rows;
        return;
    }
    if (partition[PART_SECOND] != second)
        partition[PART_IN_SECOND] = 0;
    partition[PART_SECOND] = second;
    if (++partition[PART_IN_SECOND] > stored->found.peak_rows_per_s)
        stored->found.peak_rows_per_s = partition[PART_IN_SECOND];
    if (partition[PART_MINUTE] != minute) {
        note_minute(stored, partition[PART_MINUTE], 0, partition[PART_IN_MINUTE]);
        partition[PART_IN_MINUTE] = 0;
    }
    partition[PART_MINUTE] = minute;
    partition[PART_IN_MINUTE]++;
}

static bool is_later(const uint64_t *row, const uint64_t *than)
{
    if (row[ROW_TIME] != than[ROW_TIME])
        return (int64_t)row[ROW_TIME] > (int64_t)than[ROW_TIME];
    if (row[ROW_KEY] != than[ROW_KEY])
        return row[ROW_KEY] > than[ROW_KEY];
    return row[ROW_NUMBER] > than[ROW_NUMBER];
}

/* Of rows with one primary key the last is the latest, so the rows are examined from the last one on, until
 * each combination of clustering values was seen. */
static void keep_latest(struct lab_stored *stored, const struct lab_key_name *key,
                        const struct lab_batch *batch, size_t from, size_t to, int64_t bucket)
{
    const int64_t *own_ns = batch->own_ns == NULL ? batch->times_ns : batch->own_ns;
    const uint64_t parts = stored->values.partition_combinations;
    const uint64_t combinations = stored->values.combinations / parts;
    const bool is_noted = !stored->primary_has_time && combinations <= SEEN_MOST;
    const uint64_t all = is_noted ? UINT64_MAX >> (SEEN_MOST - combinations) : 0;
    uint64_t seen = 0;
    for (size_t i = to; i-- > from && (!is_noted || seen != all);) {
        const uint64_t values = lab_values_of_row(&stored->values, batch->first_row + i);
        if (is_noted) {
            const uint64_t bit = UINT64_C(1) << (values / parts);
            if ((seen & bit) != 0)
                continue;
            seen |= bit;
        }
        const uint64_t tuple[LAB_TUPLE_WORDS] = {
            [WORD_KEY] = stored->primary_has_key ? key->index : 0,
            [WORD_BUCKET] = (uint64_t)bucket,
            [WORD_TIME] =
                stored->primary_has_time ? (uint64_t)floor_div(own_ns[i], LAB_DESIGN_CELL_TIME_NS) : 0,
            [WORD_VALUES] = values};
        const uint64_t written[ROW_COUNT] = {
            (uint64_t)batch->times_ns[i], key->index, batch->first_row + i,
            lab_batch_bytes(batch, i, i + 1) + lab_key_in_row_bytes(&stored->scenario->row_cost, key->size)};
        const uint32_t count = stored->tables[ROWS].count;
        uint64_t *latest = lab_tuples_get(&stored->tables[ROWS], tuple);
        if (latest != NULL && (stored->tables[ROWS].count > count || is_later(written, latest)))
            memcpy(latest, written, sizeof written);
    }
}

/* Notes when a partition exceeded a limit, if it did so by one of the rows [from, to), its newest. */
static void watch_limits(struct lab_stored *stored, const struct lab_key_name *key,
                         const struct lab_batch *batch, size_t from, size_t to, const uint64_t *partition)
{
    const struct lab_row_cost *cost = &stored->scenario->row_cost;
    for (size_t i = to, left = 0; i-- > from; left++) {
        struct cass_partition whole = {partition[PART_WRITTEN] - left,
                                       partition[PART_WRITTEN_BYTES] - lab_batch_bytes(batch, i + 1, to) -
                                           left * lab_key_in_row_bytes(cost, key->size)};
        lab_bytes_add(&whole.bytes, lab_partition_bytes(cost, key->size, whole.rows, whole.bytes));
        if (!lab_is_over(&stored->scenario->limits, &whole))
            return;
        lab_tally_over(&stored->found, batch->times_ns[i]);
    }
}

/* Adds the rows [from, to), all of one partition. */
static void add_rows(struct lab_stored *stored, const struct lab_key_name *key, const struct lab_batch *batch,
                     size_t from, size_t to, int64_t bucket, uint64_t values)
{
    uint64_t *partition = partition_of(stored, key, bucket, values);
    if (partition == NULL)
        return;
    partition[PART_WRITTEN] += to - from;
    if (batch->times_ns[from] < (int64_t)partition[PART_FIRST])
        partition[PART_FIRST] = (uint64_t)batch->times_ns[from];
    lab_bytes_add(&partition[PART_WRITTEN_BYTES], lab_batch_bytes(batch, from, to));
    lab_bytes_add(&partition[PART_WRITTEN_BYTES],
                  (to - from) * lab_key_in_row_bytes(&stored->scenario->row_cost, key->size));
    if (stored->has_key && stored->is_unique && batch->times_ns[from] < stored->found.first_over_ns)
        watch_limits(stored, key, batch, from, to, partition);
    for (size_t i = from; !stored->is_raced && i < to; i++)
        add_time(stored, partition, bucket, values, batch->times_ns[i]);
    if (!stored->is_unique)
        keep_latest(stored, key, batch, from, to, bucket);
}

static void add_minutes(struct lab_stored *stored, const int64_t *times_ns, size_t count)
{
    for (size_t i = 0, next; i < count; i = next) {
        int64_t minute = floor_div(times_ns[i], 60 * SIM_SECOND);
        next = i + 1;
        while (next < count && floor_div(times_ns[next], 60 * SIM_SECOND) == minute)
            next++;
        note_minute(stored, (uint64_t)minute, next - i, 0);
    }
}

void lab_stored_rows(struct lab_stored *stored, const struct lab_key_name *key, const struct lab_batch *batch,
                     size_t from, size_t to, int64_t bucket)
{
    if (!stored->has_bucket)
        bucket = 0;
    if (stored->values.count > 0 && stored->drawn != key->index) {
        lab_values_begin(&stored->values, stored->scenario->seed, bk_murmur3_128(key->text, key->size, 0).h1);
        stored->drawn = key->index;
    }
    if (!stored->is_raced)
        add_minutes(stored, batch->times_ns + from, to - from);
    const uint64_t parts = stored->values.partition_combinations;
    for (size_t next; from < to; from = next) {
        const uint64_t part = lab_values_of_row(&stored->values, batch->first_row + from) % parts;
        next = parts == 1 ? to : from + 1;
        while (next < to && lab_values_of_row(&stored->values, batch->first_row + next) % parts == part)
            next++;
        add_rows(stored, key, batch, from, next, bucket, part);
    }
}

/* Whether no key can write to the partition any more. */
static bool is_closed(const struct lab_stored *stored, const uint64_t *tuple)
{
    int64_t current = stored->least_current;
    if (!stored->has_bucket)
        return false;
    if (stored->has_key) {
        const uint64_t key[LAB_TUPLE_WORDS] = {tuple[WORD_KEY]};
        const uint64_t *end = lab_tuples_find(&stored->tables[ENDS], key);
        current = end == NULL ? INT64_MIN : (int64_t)*end;
    }
    return (int64_t)tuple[WORD_BUCKET] < current && (int64_t)tuple[WORD_BUCKET] >= stored->first_whole;
}

static void finish_partition(struct lab_stored *stored, const uint64_t *tuple, const uint64_t *partition)
{
    struct lab_tally *found = &stored->found;
    uint64_t rows = partition[PART_ROWS], bytes = partition[PART_BYTES];
    lab_bytes_add(&bytes,
                  lab_partition_bytes(&stored->scenario->row_cost, partition[PART_KEY_SIZE], rows, bytes));
    const struct cass_partition size = {rows, bytes};
    lab_tally_partition(found, &stored->scenario->limits, &size, (int64_t)partition[PART_FIRST],
                        is_closed(stored, tuple));
    const uint32_t *replicas = cass_ring_replicas(stored->ring, (int64_t)partition[PART_TOKEN]);
    for (uint32_t i = 0; i < cass_ring_replication_factor(stored->ring); i++) {
        found->nodes[replicas[i]].rows += rows;
        lab_bytes_add(&found->nodes[replicas[i]].bytes, bytes);
    }
    if (stored->has_key)
        note_minute(stored, partition[PART_MINUTE], 0, partition[PART_IN_MINUTE]);
    found->placed += partition[PART_WRITTEN];
    stored->figures.rows += rows;
    stored->figures.overwritten += partition[PART_WRITTEN] - rows;
    if (partition[PART_WRITTEN] > stored->figures.most_written)
        stored->figures.most_written = partition[PART_WRITTEN];
}

/* Finishes the partitions of all rows added so far, and removes them. */
static void finish_partitions(struct lab_stored *stored)
{
    struct lab_tuples *partitions = &stored->tables[PARTITIONS];
    for (uint32_t i = 0; i < stored->tables[ROWS].count; i++) {
        const uint64_t *row = lab_tuples_at(&stored->tables[ROWS], i);
        const uint64_t tuple[LAB_TUPLE_WORDS] = {[WORD_KEY] = stored->has_key ? row[WORD_KEY] : 0,
                                                 [WORD_BUCKET] = row[WORD_BUCKET],
                                                 [WORD_VALUES] = row[WORD_VALUES] %
                                                                 stored->values.partition_combinations};
        uint64_t *partition = lab_tuples_find(partitions, tuple);
        if (partition == NULL)
            continue; /* lost when out of memory, which is reported to the run */
        partition[PART_ROWS]++;
        lab_bytes_add(&partition[PART_BYTES], row[LAB_TUPLE_WORDS + ROW_BYTES]);
    }
    for (uint32_t i = 0; i < partitions->count; i++) {
        uint64_t *tuple = lab_tuples_at(partitions, i), *partition = tuple + LAB_TUPLE_WORDS;
        if (stored->is_unique) {
            partition[PART_ROWS] = partition[PART_WRITTEN];
            partition[PART_BYTES] = partition[PART_WRITTEN_BYTES];
        }
        finish_partition(stored, tuple, partition);
    }
    lab_tuples_empty(partitions);
    lab_tuples_empty(&stored->tables[ROWS]);
    lab_tuples_empty(&stored->tables[ENDS]);
}

void lab_stored_key_end(struct lab_stored *stored, const struct lab_key_name *key, int64_t first_whole,
                        int64_t current)
{
    stored->first_whole = first_whole;
    if (current < stored->least_current)
        stored->least_current = current;
    if (!stored->has_key)
        return;
    const uint64_t tuple[LAB_TUPLE_WORDS] = {key->index};
    uint64_t *end = lab_tuples_get(&stored->tables[ENDS], tuple);
    if (end != NULL)
        *end = (uint64_t)current;
    finish_partitions(stored);
}

void lab_stored_merge(struct lab_stored *into, const struct lab_stored *from)
{
    for (uint32_t i = 0; i < from->tables[PARTITIONS].count; i++) {
        const uint64_t *tuple = lab_tuples_at(&from->tables[PARTITIONS], i), *part = tuple + LAB_TUPLE_WORDS;
        uint64_t *sum = lab_tuples_get(&into->tables[PARTITIONS], tuple);
        if (sum == NULL)
            break;
        if (sum[PART_WRITTEN] == 0 || (int64_t)part[PART_FIRST] < (int64_t)sum[PART_FIRST])
            sum[PART_FIRST] = part[PART_FIRST];
        sum[PART_TOKEN] = part[PART_TOKEN];
        sum[PART_KEY_SIZE] = part[PART_KEY_SIZE];
        sum[PART_WRITTEN] += part[PART_WRITTEN];
        lab_bytes_add(&sum[PART_WRITTEN_BYTES], part[PART_WRITTEN_BYTES]);
    }
    for (uint32_t i = 0; i < from->tables[ROWS].count; i++) {
        const uint64_t *tuple = lab_tuples_at(&from->tables[ROWS], i), *row = tuple + LAB_TUPLE_WORDS;
        bool is_new = lab_tuples_find(&into->tables[ROWS], tuple) == NULL;
        uint64_t *latest = lab_tuples_get(&into->tables[ROWS], tuple);
        if (latest == NULL)
            break;
        if (is_new || is_later(row, latest))
            memcpy(latest, row, ROW_COUNT * sizeof *row);
    }
    for (uint32_t i = 0; i < from->tables[SECONDS].count; i++) {
        const uint64_t *tuple = lab_tuples_at(&from->tables[SECONDS], i);
        uint64_t *rows = lab_tuples_get(&into->tables[SECONDS], tuple);
        if (rows != NULL)
            *rows += tuple[LAB_TUPLE_WORDS];
    }
    for (uint32_t i = 0; i < from->tables[MINUTES].count; i++) {
        const uint64_t *tuple = lab_tuples_at(&from->tables[MINUTES], i), *minute = tuple + LAB_TUPLE_WORDS;
        note_minute(into, tuple[WORD_TIME], minute[MINUTE_ROWS], minute[MINUTE_MOST]);
    }
    if (from->least_current < into->least_current)
        into->least_current = from->least_current;
    if (from->first_whole > into->first_whole)
        into->first_whole = from->first_whole;
    into->figures.rows += from->figures.rows;
    into->figures.overwritten += from->figures.overwritten;
    if (from->figures.most_written > into->figures.most_written)
        into->figures.most_written = from->figures.most_written;
    lab_tally_merge(&into->found, &from->found, cass_ring_node_count(into->ring));
    for (int i = 0; i < TABLE_COUNT; i++) {
        into->tables[i].out_of_memory |= from->tables[i].out_of_memory;
        into->tables[i].is_full |= from->tables[i].is_full;
    }
}

void lab_stored_archive(struct lab_stored *stored, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x53544f52);
    for (int i = 0; i < TABLE_COUNT; i++)
        lab_tuples_archive(&stored->tables[i], archive);
    sim_archive_i64(archive, &stored->least_current);
    sim_archive_i64(archive, &stored->first_whole);
    lab_tally_archive(&stored->found, archive, cass_ring_node_count(stored->ring));
    sim_archive_u64(archive, &stored->figures.rows);
    sim_archive_u64(archive, &stored->figures.overwritten);
    sim_archive_u64(archive, &stored->figures.most_written);
    sim_archive_u64(archive, &stored->figures.minute_rows);
    sim_archive_u64(archive, &stored->figures.minute_most);
}

/* For partitions with several keys: the busiest second of a partition, and the busiest partition of each
 * minute. */
static void finish_seconds(struct lab_stored *stored)
{
    struct lab_tuples in_minute;
    lab_tuples_init(&in_minute, 1);
    for (uint32_t i = 0; i < stored->tables[SECONDS].count; i++) {
        const uint64_t *second = lab_tuples_at(&stored->tables[SECONDS], i);
        uint64_t rows = second[LAB_TUPLE_WORDS], tuple[LAB_TUPLE_WORDS];
        if (rows > stored->found.peak_rows_per_s)
            stored->found.peak_rows_per_s = rows;
        memcpy(tuple, second, sizeof tuple);
        tuple[WORD_TIME] = (uint64_t)floor_div((int64_t)second[WORD_TIME], 60);
        uint64_t *sum = lab_tuples_get(&in_minute, tuple);
        if (sum != NULL)
            *sum += rows;
    }
    for (uint32_t i = 0; i < in_minute.count; i++) {
        const uint64_t *minute = lab_tuples_at(&in_minute, i);
        note_minute(stored, minute[WORD_TIME], 0, minute[LAB_TUPLE_WORDS]);
    }
    stored->tables[SECONDS].out_of_memory = stored->tables[SECONDS].out_of_memory || in_minute.out_of_memory;
    lab_tuples_clear(&in_minute);
}

bool lab_stored_settle(struct lab_stored *stored, struct lab_tally *tally)
{
    finish_partitions(stored);
    finish_seconds(stored);
    for (uint32_t i = 0; i < stored->tables[MINUTES].count; i++) {
        const uint64_t *minute = lab_tuples_at(&stored->tables[MINUTES], i) + LAB_TUPLE_WORDS;
        stored->figures.minute_rows += minute[MINUTE_ROWS];
        stored->figures.minute_most += minute[MINUTE_MOST];
    }
    /* The partitions (key, bucket) that the lane has tallied are not those of the table. */
    lab_tally_take_partitions(tally, &stored->found);
    bool is_full = false;
    for (int i = 0; i < TABLE_COUNT; i++) {
        tally->out_of_memory |= stored->tables[i].out_of_memory;
        is_full |= stored->tables[i].is_full;
    }
    return !is_full;
}

const struct lab_stored_figures *lab_stored_figures(const struct lab_stored *stored)
{
    return &stored->figures;
}
