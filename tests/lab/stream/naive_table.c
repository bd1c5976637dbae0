/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The naive engine's tables: all rows are listed with the columns of their keys, and sorted by partition and
 * by primary key; of equal primary keys the latest row is kept. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/tally.h"
#include "naive.h"

struct stored_row {
    uint64_t key; /* these three: the partition key; a column that is not in it is 0 */
    int64_t bucket;
    uint64_t part_values;
    /* The rest of the primary key, with cell_ms and id. */
    uint64_t primary_key, all_values;
    int64_t cell_ms;
    uint64_t id;
    int64_t time_ns;
    uint64_t key_index, number, bytes;
};

struct table {
    const struct lab_design *design;
    struct lab_values values;
    bool has_key, has_bucket, is_unique;
};

#define COMPARE(field)                                                                                       \
    if (a->field != b->field)                                                                                \
    return a->field < b->field ? -1 : 1

static int by_partition(const struct stored_row *a, const struct stored_row *b)
{
    COMPARE(key);
    COMPARE(bucket);
    COMPARE(part_values);
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const struct stored_row *a = left, *b = right;
    int order = by_partition(a, b);
    if (order != 0)
        return order;
    COMPARE(time_ns);
    return 0;
}

static int by_primary_alone(const struct stored_row *a, const struct stored_row *b)
{
    int order = by_partition(a, b);
    if (order != 0)
        return order;
    COMPARE(primary_key);
    COMPARE(all_values);
    COMPARE(cell_ms);
    COMPARE(id);
    return 0;
}

/* Within a primary key the latest row is last; of equal times the row of the higher key, and of one key the
 * later row. */
static int by_primary(const void *left, const void *right)
{
    const struct stored_row *a = left, *b = right;
    int order = by_primary_alone(a, b);
    if (order != 0)
        return order;
    COMPARE(time_ns);
    COMPARE(key_index);
    COMPARE(number);
    return 0;
}

static struct stored_row *list_rows(const struct naive_input *input, const struct lab_scenario *scenario,
                                    struct table *table, const struct naive_result *result)
{
    const struct lab_design *design = table->design;
    struct stored_row *rows = naive_must(calloc(input->rows + 1, sizeof *rows)), *row = rows;
    for (size_t i = 0; i < input->key_count; i++) {
        const struct naive_key *key = &input->keys[i];
        lab_values_begin(&table->values, scenario->seed, naive_hash(key->name, strlen(key->name), false));
        bool primary_has_key = table->has_key || lab_design_clusters_by(design, LAB_FEED_KEY);
        for (size_t j = 0; j < key->count; j++, row++) {
            uint64_t values = lab_values_of_row(&table->values, j);
            *row = (struct stored_row){.key = table->has_key ? i : 0,
                                       .bucket = table->has_bucket ? result->buckets[row - rows] : 0,
                                       .part_values = values % table->values.partition_combinations,
                                       .primary_key = primary_has_key ? i : 0,
                                       .all_values = values,
                                       .time_ns = key->rows[j].time_ns,
                                       .key_index = i,
                                       .number = j,
                                       .bytes = key->rows[j].weight +
                                                lab_key_in_row_bytes(&scenario->row_cost, strlen(key->name))};
            if (lab_design_clusters_by(design, LAB_FEED_TIME))
                row->cell_ms = naive_floor(key->rows[j].own_ns, SIM_MS);
            if (lab_design_clusters_by(design, LAB_FEED_ID))
                row->id = (uint64_t)(row - rows);
        }
    }
    return rows;
}

static int64_t token_of(const struct table *table, const struct naive_input *input,
                        const struct stored_row *row)
{
    const struct lab_design *design = table->design;
    struct naive_part parts[LAB_COLUMNS_MAX];
    char texts[LAB_COLUMNS_MAX][24];
    uint8_t big_endian[8];
    naive_big_endian(row->bucket, big_endian);
    for (size_t i = 0; i < design->partition_count; i++) {
        enum lab_feed feed = design->columns[design->partition[i]].feed;
        const char *name = input->keys[row->key].name;
        uint64_t value = lab_values_of_column(&table->values, row->part_values, design->partition[i]);
        snprintf(texts[i], sizeof texts[i], "%" PRIu64, value);
        parts[i] = (struct naive_part){texts[i], strlen(texts[i])};
        if (feed == LAB_FEED_KEY)
            parts[i] = (struct naive_part){name, strlen(name)};
        if (feed == LAB_FEED_BUCKET)
            parts[i] = (struct naive_part){big_endian, sizeof big_endian};
    }
    return naive_token(parts, design->partition_count);
}

/* Returns the most rows of one partition within a unit of time; the rows are in order of time. */
static uint64_t most_in(const struct stored_row *rows, size_t count, int64_t unit_ns)
{
    uint64_t most = 0, here = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_same =
            i > 0 && naive_floor(rows[i].time_ns, unit_ns) == naive_floor(rows[i - 1].time_ns, unit_ns);
        here = is_same ? here + 1 : 1;
        most = here > most ? here : most;
    }
    return most;
}

static bool is_closed(const struct naive_input *input, const struct table *table,
                      const struct naive_result *result, const struct stored_row *row)
{
    int64_t current = INT64_MAX;
    for (size_t i = 0; i < input->key_count; i++) {
        bool may_write = table->has_key ? i == row->key : input->keys[i].count > 0;
        if (may_write && result->currents[i] < current)
            current = result->currents[i];
    }
    return table->has_bucket && row->bucket < current && row->bucket >= result->first_whole;
}

/* The largest number of rows of one partition in each minute. */
static void sum_minutes(const struct stored_row *rows, size_t count, struct naive_result *result)
{
    struct minute {
        int64_t minute;
        uint64_t most;
    } *minutes = NULL;
    size_t minute_count = 0, capacity = 0;
    for (size_t i = 0, next; i < count; i = next) {
        int64_t minute = naive_floor(rows[i].time_ns, SIM_MINUTE);
        for (next = i + 1; next < count && by_partition(&rows[i], &rows[next]) == 0 &&
                           naive_floor(rows[next].time_ns, SIM_MINUTE) == minute;
             next++) {
        }
        size_t at = 0;
        while (at < minute_count && minutes[at].minute != minute)
            at++;
        if (at == minute_count) {
            minutes = naive_grow(minutes, minute_count, &capacity, sizeof *minutes);
            minutes[minute_count++] = (struct minute){minute, 0};
        }
        minutes[at].most = next - i > minutes[at].most ? next - i : minutes[at].most;
    }
    for (size_t i = 0; i < minute_count; i++)
        result->minute_most += minutes[i].most;
    free(minutes);
}

static void add_partition(const struct naive_input *input, const struct lab_scenario *scenario,
                          const struct table *table, const struct stored_row *rows, size_t count,
                          struct naive_result *result)
{
    struct naive_partition partition = {.key_index = rows->key,
                                        .bucket = rows->bucket,
                                        .values = rows->part_values,
                                        .token = token_of(table, input, rows),
                                        .written = count,
                                        .first_ns = rows->time_ns,
                                        .is_closed = is_closed(input, table, result, rows)};
    for (size_t i = 0; table->is_unique && i < count; i++) {
        partition.bytes += rows[i].bytes;
        partition.rows = i + 1;
        if (table->has_key)
            naive_watch_limits(scenario, strlen(input->keys[rows->key].name), &partition, rows[i].time_ns,
                               result);
    }
    partition.rows = table->is_unique ? count : 0;
    uint64_t peak = most_in(rows, count, SIM_SECOND);
    result->peak = peak > result->peak ? peak : result->peak;
    result->most_written = count > result->most_written ? count : result->most_written;
    result->partitions = naive_grow(result->partitions, result->partition_count, &result->partition_capacity,
                                    sizeof *result->partitions);
    result->partitions[result->partition_count++] = partition;
}

/* Both lists are in order of partitions. */
static void keep_latest(struct stored_row *rows, size_t count, struct naive_result *result)
{
    qsort(rows, count, sizeof *rows, by_primary);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_partition(&rows[i - 1], &rows[i]) != 0)
            at++;
        if (i + 1 < count && by_primary_alone(&rows[i], &rows[i + 1]) == 0)
            continue;
        result->partitions[at].rows++;
        result->partitions[at].bytes += rows[i].bytes;
    }
}

void naive_settle(const struct naive_input *input, const struct lab_scenario *scenario,
                  struct naive_result *result)
{
    const struct lab_design *design = &scenario->design;
    struct table table = {.design = design,
                          .has_key = lab_design_partitions_by(design, LAB_FEED_KEY),
                          .has_bucket = lab_design_column(design, LAB_FEED_BUCKET) != NULL,
                          .is_unique = lab_design_clusters_by(design, LAB_FEED_ID)};
    if (!lab_values_init(&table.values, design, false))
        abort();
    struct stored_row *rows = list_rows(input, scenario, &table, result);
    size_t count = input->rows;
    for (size_t i = 0; i < result->partition_count; i++)
        free(result->partitions[i].stored);
    result->partition_count = 0;
    result->first_over_ns = INT64_MAX;
    result->peak = 0;
    qsort(rows, count, sizeof *rows, by_time);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && by_partition(&rows[i], &rows[next]) == 0; next++) {
        }
        add_partition(input, scenario, &table, rows + i, next - i, result);
    }
    sum_minutes(rows, count, result);
    if (!table.is_unique)
        keep_latest(rows, count, result);
    for (size_t i = 0; i < result->partition_count; i++) {
        struct naive_partition *partition = &result->partitions[i];
        result->overwritten += partition->written - partition->rows;
        partition->bytes +=
            lab_partition_bytes(&scenario->row_cost, strlen(input->keys[partition->key_index].name),
                                partition->rows, partition->bytes);
    }
    free(rows);
    lab_values_clear(&table.values);
}
