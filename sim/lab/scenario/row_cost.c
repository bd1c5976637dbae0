/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of the size of rows and partitions that differs between them. */
#include "lab/row_cost.h"

#include "kernel/time.h"

#define VINTS 9 /* possible sizes of a vint in bytes */
#define US    INT64_C(1000)

static int64_t later_or_end(int64_t start_ns, uint64_t after, int64_t unit_ns)
{
    int64_t sum, product;
    if (after > INT64_MAX || __builtin_mul_overflow((int64_t)after, unit_ns, &product) ||
        __builtin_add_overflow(start_ns, product, &sum))
        return INT64_MAX;
    return sum;
}

/* Merges two sequences of times at which a vint grows: that of the timestamp in microseconds and, with a time
 * to live, that of the expiry in seconds. */
void lab_row_stamps_init(struct lab_row_stamps *out, const struct lab_row_cost *cost, int64_t start_ns)
{
    int64_t start_us_ns = start_ns - ((start_ns % US) + US) % US;
    int64_t start_s_ns = start_ns - ((start_ns % SIM_SECOND) + SIM_SECOND) % SIM_SECOND;
    uint32_t of_time = 1, of_expiry = cost->ttl_ns > 0 ? 1 : 0;
    *out = (struct lab_row_stamps){0};
    for (;;) {
        int64_t time_until = later_or_end(start_us_ns, UINT64_C(1) << 7 * of_time, US);
        int64_t expiry_until =
            of_expiry == 0 ? INT64_MAX : later_or_end(start_s_ns, UINT64_C(1) << 7 * of_expiry, SIM_SECOND);
        int64_t until = time_until < expiry_until ? time_until : expiry_until;
        uint32_t ttl = of_expiry == 0 ? 0 : 1;
        out->until_ns[out->count] = until;
        out->bytes[out->count] = of_time + of_expiry + ttl;
        out->count++;
        if (until == INT64_MAX || out->count == LAB_ROW_STAMPS_MAX)
            break;
        of_time += until == time_until;
        of_expiry += until == expiry_until && of_expiry > 0;
        if (of_time >= VINTS || of_expiry >= VINTS)
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

static double size_of_vint(double value)
{
    return (double)cass_vint_size((uint64_t)value);
}

uint64_t lab_estimated_row_bytes(const struct lab_row_cost *cost, uint64_t payload, uint32_t stamp)
{
    const double most = 0x1p62; /* more than any row */
    double value = (double)payload < most ? (double)payload : most, apart = value - cost->payload_mean;
    double cells = on_line(cost->cells, cost->cells_slope, apart, 0, cost->cells_most);
    double beside = on_line(cost->beside, cost->beside_slope, apart, cells, most);
    if (cost->shares_present > 0) {
        double rest = apart > 0 ? apart : 0, each = rest / cost->shares_present;
        value = cost->payload_mean + rest;
        beside += cost->shares_present * (1 + (each < 1 ? 0 : size_of_vint(each)));
    }
    double stamps = cost->is_counter ? cells * stamp : stamp;
    uint64_t body = (uint64_t)(value + beside + stamps + 0.5);
    uint32_t before = cass_vint_size(cost->head + body + 2);
    return cost->head + cass_vint_size(body + before) + before + body;
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
    return header + cass_vint_size(header - 1) - cass_vint_size(bytes / rows);
}
