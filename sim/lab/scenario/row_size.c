/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes the sizes of rows and partitions of a checked scenario, from its table and its columns. In: the
 * scenario. Out: struct lab_row_cost, and what differs between rows. If columns are missing in some rows, it
 * is not drawn which: the bytes in addition to a row's values (flags, lengths, the bits that say which
 * columns are present) are estimated from its payload by least squares, whose coefficients follow from the
 * columns' sizes and shares. For counters the estimate is exact, since the payload determines how many there
 * are. */
#include <string.h>

#include "kernel/time.h"
#include "lab/fields.h"
#include "lab/row_cost.h"

static bool shares_payload(const struct lab_column *column)
{
    return column->feed == LAB_FEED_DATA && column->weight.value == 0;
}

static void add_columns(struct lab_row_cost *out, const struct lab_scenario *scenario)
{
    const struct lab_design *design = &scenario->design;
    for (size_t i = 0; i < design->column_count; i++) {
        const struct lab_column *column = &design->columns[i];
        if (lab_design_is_in_key(design, i) || column->is_static)
            continue;
        out->is_counter = out->is_counter || column->type == CASS_COUNTER;
        out->is_estimated =
            out->is_estimated || out->is_counter || column->missing > 0 || column->spread.a > 0;
        out->deletions += column->weight.is_complex ? 1 - column->missing : 0;
        out->dated++;
        if (column->spread.a > 0) {
            out->element = column->weight.element;
            out->element_cells = column->weight.element_cells;
        } else if (shares_payload(column)) {
            out->shares++;
            out->shares_present += 1 - column->missing;
        } else {
            out->own_cells += column->weight.cells;
            out->own_values += column->feed == LAB_FEED_DATA ? column->weight.value : 0;
        }
    }
    /* Without row.columns, the table has as many columns as row.cells. */
    if (!scenario->has_row_columns && scenario->workload.row_cells > out->shares)
        out->shares = (uint32_t)scenario->workload.row_cells;
    if (!scenario->has_row_columns && out->shares == 0)
        out->shares = 1;
    if (!scenario->row_is_updated && !out->is_counter)
        out->dated = 1;
    else if (out->dated < out->shares)
        out->dated = out->shares;
}

/* Lists the columns of a kind in the order of an sstable, by name; returns their number. */
static size_t sort_columns(const struct lab_design *design, bool is_static, const struct lab_column **out)
{
    size_t count = 0;
    for (size_t i = 0; i < design->column_count; i++) {
        const struct lab_column *column = &design->columns[i];
        if (lab_design_is_in_key(design, i) || column->is_static != is_static)
            continue;
        size_t at = count++;
        for (; at > 0 && strcmp(out[at - 1]->name, column->name) > 0; at--)
            out[at] = out[at - 1];
        out[at] = column;
    }
    return count;
}

/* Means over rows, and the covariances with the payload. */
struct moments {
    double payload, variance;
    double beside, beside_payload;
    double cells, cells_payload;
    double deletions;
};

/* Adds a column's contribution to the payload, and to the overhead of its cell. Columns that share the row's
 * bytes are added later. */
static void add_cell(struct moments *out, const struct lab_column *column)
{
    double present = 1 - column->missing, spread = present * column->missing;
    double value = column->feed == LAB_FEED_DATA ? (double)column->weight.value : 0;
    double beside = shares_payload(column) ? 0 : (double)column->weight.cells - value;
    out->payload += present * value;
    out->variance += spread * value * value;
    out->beside += present * beside;
    out->beside_payload += spread * value * beside;
    out->cells += present * (double)column->weight.count;
    out->cells_payload += spread * value * (double)column->weight.count;
    out->deletions += column->weight.is_complex ? present : 0;
}

/* The bitmap of missing columns has a bit per column, and is left out when no column is missing; the last
 * missing column determines its number of bytes. */
static void add_bits(struct moments *out, const struct lab_column *const *columns, size_t count)
{
    double above_present = 1, above = 0, below = 0, mean = 0, product = 0;
    for (size_t i = 0; i < count; i++)
        below += columns[i]->feed == LAB_FEED_DATA
                     ? (1 - columns[i]->missing) * (double)columns[i]->weight.value
                     : 0;
    for (size_t i = count; i-- > 0;) {
        double value = columns[i]->feed == LAB_FEED_DATA ? (double)columns[i]->weight.value : 0;
        double chance = above_present * columns[i]->missing, bytes = (double)cass_vint_size(UINT64_C(1) << i);
        below -= (1 - columns[i]->missing) * value;
        mean += chance * bytes;
        product += chance * bytes * (above + below);
        above += value;
        above_present *= 1 - columns[i]->missing;
    }
    out->beside += mean;
    out->beside_payload += product - mean * out->payload;
}

/* If columns share the payload, the payload depends on their sizes, and not on how many are present. */
static void add_estimate(struct lab_row_cost *out, const struct lab_design *design)
{
    const struct lab_column *columns[LAB_COLUMNS_MAX];
    size_t count = sort_columns(design, false, columns);
    struct moments moments = {0};
    for (size_t i = 0; i < count; i++)
        add_cell(&moments, columns[i]);
    if (out->has_nulls) { /* every row has all columns, and a null has flags and times */
        for (size_t i = 0; i < count; i++)
            out->nulls += columns[i]->missing;
        moments.beside += out->nulls;
        moments.beside_payload -= moments.cells_payload;
    } else {
        add_bits(&moments, columns, count);
    }
    bool tells = out->shares == 0 && moments.variance > 0;
    out->payload_mean = moments.payload;
    out->beside = moments.beside;
    out->cells = moments.cells;
    out->beside_slope = tells ? moments.beside_payload / moments.variance : 0;
    out->cells_slope = tells ? moments.cells_payload / moments.variance : 0;
    out->cells_most = (double)count;
}

/* Every partition of a table with static columns has a static row: two bytes of flags, two sizes, and in each
 * cell the time of its write, since the row was not written by INSERT; 6 bytes last for 50 days. A deletion
 * also has 4 bytes of seconds. */
static uint64_t static_row_bytes(const struct lab_design *design)
{
    const struct lab_column *columns[LAB_COLUMNS_MAX];
    size_t count = sort_columns(design, true, columns);
    struct moments moments = {0};
    if (count == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        add_cell(&moments, columns[i]);
    add_bits(&moments, columns, count);
    uint64_t body = (uint64_t)(moments.payload + moments.beside + moments.cells * LAB_STAMP_USUAL +
                               moments.deletions * (LAB_STAMP_USUAL + 4) + 0.5);
    return 2 + cass_vint_size(body + 1) + 1 + body;
}

/* If the key is one of several components, it has two bytes of length and one byte at its end. */
static uint64_t partition_key_bytes(const struct lab_design *design)
{
    uint64_t bytes = 0, each = design->partition_count > 1 ? 3 : 0;
    for (size_t i = 0; i < design->partition_count; i++) {
        const struct lab_column *column = &design->columns[design->partition[i]];
        bytes += each + column->weight.value;
    }
    return bytes;
}

void lab_row_cost_make(const struct lab_scenario *scenario, struct lab_row_cost *out)
{
    const struct lab_design *design = &scenario->design;
    *out = (struct lab_row_cost){.is_payload = scenario->row_format == LAB_ROW_PAYLOAD,
                                 .ttl_ns = scenario->row_ttl_ns,
                                 .has_nulls = scenario->row_has_nulls};
    const struct lab_column *key = lab_design_column(design, LAB_FEED_KEY);
    bool has_length = key != NULL && key->weight.value == 0;
    out->partitions_by_key = has_length && lab_design_partitions_by(design, LAB_FEED_KEY);
    out->clusters_by_key = has_length && lab_design_clusters_by(design, LAB_FEED_KEY);
    add_columns(out, scenario);
    if (out->is_estimated)
        add_estimate(out, design);
    out->head = 1 + (design->clustering_count > 0);
    for (size_t i = 0; i < design->clustering_count; i++) { /* a value as in a cell, without its flags */
        const struct cass_weight *weight = &design->columns[design->clustering[i]].weight;
        out->head += weight->value == 0 ? 0 : weight->cells - 1;
    }
    out->partition = 2 + partition_key_bytes(design) + (scenario->row_format == LAB_ROW_DA ? 1 : 12) + 1;
    out->partition += static_row_bytes(design);
}

#define NULL_BITS 8 /* see struct lab_row_stamps */
#define VINTS     9 /* possible sizes of a vint in bytes */
#define US        INT64_C(1000)

static int64_t later_or_end(int64_t start_ns, uint64_t after, int64_t unit_ns)
{
    int64_t sum, product;
    if (after > INT64_MAX || __builtin_mul_overflow((int64_t)after, unit_ns, &product) ||
        __builtin_add_overflow(start_ns, product, &sum))
        return INT64_MAX;
    return sum;
}

/* Merges the sequences of times at which a vint grows: that of the timestamp in microseconds, that of the
 * seconds of a deletion, which complex columns and nulls have, and, with a time to live, that of the expiry
 * in seconds; the last two are counted from the smaller one. */
void lab_row_stamps_init(struct lab_row_stamps *out, const struct lab_row_cost *cost, int64_t start_ns)
{
    int64_t start_us_ns = start_ns - ((start_ns % US) + US) % US;
    int64_t start_s_ns = start_ns - ((start_ns % SIM_SECOND) + SIM_SECOND) % SIM_SECOND;
    const bool expires = cost->ttl_ns > 0; /* then all have one time to live, in 1 byte */
    const bool deletes = cost->deletions > 0 || cost->has_nulls;
    const uint64_t apart = deletes ? (uint64_t)(cost->ttl_ns / SIM_SECOND) : 0;
    uint32_t of_time = 1, of_deletion = 1, of_expiry = cass_vint_size(apart);
    *out = (struct lab_row_stamps){0};
    for (;;) {
        int64_t until = later_or_end(start_us_ns, UINT64_C(1) << 7 * of_time, US), time_until = until;
        int64_t deletion_until = later_or_end(start_s_ns, UINT64_C(1) << 7 * of_deletion, SIM_SECOND);
        int64_t expiry_until = later_or_end(start_s_ns, (UINT64_C(1) << 7 * of_expiry) - apart, SIM_SECOND);
        until = deletes && deletion_until < until ? deletion_until : until;
        until = expires && expiry_until < until ? expiry_until : until;
        out->until_ns[out->count] = until;
        out->bytes[out->count] = of_time + (expires ? of_expiry + 1 : 0) +
                                 (uint32_t)(cost->deletions * (of_time + of_deletion) + 0.5);
        out->bytes[out->count] |= cost->has_nulls ? of_deletion << NULL_BITS : 0;
        out->count++;
        if (until == INT64_MAX || out->count == LAB_ROW_STAMPS_MAX)
            break;
        of_time += until == time_until;
        of_deletion += until == deletion_until;
        of_expiry += until == expiry_until;
        if (of_time >= VINTS || of_deletion >= VINTS || of_expiry >= VINTS)
            break;
    }
    out->until_ns[out->count - 1] = INT64_MAX;
}

/* The value of the regression line, limited to the possible range. */
static double on_line(double mean, double slope, double apart, double least, double most)
{
    double value = mean + slope * apart;
    return value < least ? least : value > most ? most : value;
}

static uint64_t with_sizes(const struct lab_row_cost *cost, uint64_t body)
{
    uint32_t before = cass_vint_size(cost->head + body + 2);
    return cost->head + cass_vint_size(body + before) + before + body;
}

uint64_t lab_estimated_row_bytes(const struct lab_row_cost *cost, uint64_t payload, uint32_t stamp)
{
    const uint32_t dated = stamp & ((UINT32_C(1) << NULL_BITS) - 1);
    if (cost->element > 0) {
        uint64_t elements = payload < cost->element ? 1 : (payload + cost->element / 2) / cost->element;
        return with_sizes(cost, dated + cost->own_cells + cass_vint_size(elements) +
                                    elements * cost->element_cells);
    }
    const double most = 0x1p62; /* more than any row */
    double value = (double)payload < most ? (double)payload : most, apart = value - cost->payload_mean;
    double cells = on_line(cost->cells, cost->cells_slope, apart, 0, cost->cells_most);
    double beside = on_line(cost->beside, cost->beside_slope, apart, cells, most);
    if (cost->shares_present > 0) {
        double rest = apart > 0 ? apart : 0, each = rest / cost->shares_present;
        value = cost->payload_mean + rest;
        beside += cost->shares_present * (1 + (each < 1 ? 0 : (double)cass_vint_size((uint64_t)each)));
    }
    double nulls = cost->has_nulls ? on_line(cost->nulls, 1, cost->cells - cells, 0, cost->cells_most) : 0;
    double stamps = cost->is_counter || cost->dated > 1 ? (cells + nulls) * dated : dated;
    stamps += nulls * (stamp >> NULL_BITS);
    return with_sizes(cost, (uint64_t)(value + beside + stamps + 0.5));
}

void lab_row_last_set(const struct lab_row_cost *cost, const struct lab_row_stamps *stamps, uint64_t payload,
                      int64_t time_ns, struct lab_row_last *last)
{
    uint32_t class = lab_row_stamp_class(stamps, time_ns);
    *last = (struct lab_row_last){payload, lab_row_bytes(cost, payload, stamps->bytes[class]),
                                  stamps->until_ns[class]};
}

/* Assumes that the row was written and deleted within the same class of times; the deletion time in seconds
 * takes as many bytes as that of a time to live. */
uint64_t lab_tombstone_bytes(const struct lab_row_cost *cost, uint32_t stamp)
{
    return cost->is_payload ? 0 : cost->head + 2 + stamp + 4;
}

/* Each row stores the size of the preceding one: the first row stores the size of the partition's header, and
 * the size of the last row is not stored. */
uint64_t lab_partition_bytes(const struct lab_row_cost *cost, size_t key_size, uint64_t rows, uint64_t bytes)
{
    if (cost->is_payload)
        return 0;
    uint64_t header = cost->partition + (cost->partitions_by_key ? key_size : 0);
    if (rows == 0)
        return header;
    uint32_t last = 1; /* cass_vint_size(bytes / rows), without a division */
    while (last < 9 && bytes >> 7 * last >= rows)
        last++;
    return header + cass_vint_size(header - 1) - last;
}
