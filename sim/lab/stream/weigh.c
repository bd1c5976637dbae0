/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rows of a batch weigh, as running sums. Rows come in order of time, so a batch is few stretches of
 * one class of times, mostly one, and in a stretch rows of one payload weigh the same.
 *
 * Of the usual table, in which one column has the whole payload, rows of at most 8 KiB are weighed without
 * the logarithm of a vint: below 2^14 a vint has one byte, and a second from 128 on. */
#include "stream.h"

/* The largest size that a trace or a scenario may name. What the tail of a distribution draws beyond it is
 * cut, so that the sums of a batch stay far from overflow. */
#define ROW_BYTES_MAX (UINT64_C(1) << 40)
#define SECOND_BYTE   128u /* vints of so much and more have a second byte */
#define SMALL_BITS    13
#define HEAD_MOST     125u /* of head and of other cells, so that a small row stays below 2^14 in all */

static uint64_t clamped(uint64_t payload)
{
    return payload < ROW_BYTES_MAX ? payload : ROW_BYTES_MAX;
}

static bool is_usual(const struct lab_row_cost *cost)
{
    return !cost->is_payload && !cost->is_estimated && cost->shares == 1 && cost->own_values == 0 &&
           cost->own_cells <= HEAD_MOST && cost->head <= HEAD_MOST;
}

/* Rows [from, to), all of one class of times; before[from] is known. */
static uint64_t sum_any(struct lab_worker *worker, size_t from, size_t to, uint32_t stamp)
{
    const struct lab_row_cost *cost = &worker->scenario->row_cost;
    uint64_t *before = worker->bytes_before, payload = 0;
    for (size_t i = from; i < to; i++) {
        worker->bytes[i] = clamped(worker->bytes[i]);
        payload += worker->bytes[i];
        before[i + 1] = before[i] + lab_row_bytes(cost, worker->bytes[i], stamp);
    }
    return payload;
}

/* 1 where bytes >= from, without a comparison, so that the compiler does several rows at once. */
static uint64_t reaches(uint64_t bytes, uint64_t from)
{
    return (from - 1 - bytes) >> 63;
}

/* Each row's weight as if it were small and not empty; where the second bytes begin, in bytes of payload,
 * says `second`. Returns the sum of the payloads, and in *others whether there are rows that are not so. */
static uint64_t weigh_small(const uint64_t *restrict bytes, uint64_t *restrict weights, size_t count,
                            uint64_t least, const uint64_t second[2], bool *others)
{
    const uint64_t neighbour = second[0], size = second[1];
    uint64_t payload = 0, found = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t row = bytes[i];
        payload += row;
        found |= row - 1;
        weights[i] = least + row + reaches(row, SECOND_BYTE) + reaches(row, neighbour) + reaches(row, size);
    }
    *others = found >> SMALL_BITS != 0;
    return payload;
}

/* The same of the usual table. A row is its head, its size in a vint, that of its neighbour in another, and
 * its body; the size is of the body and the neighbour's vint, which has a second byte first. */
static uint64_t sum_usual(struct lab_worker *worker, size_t from, size_t to, uint32_t stamp)
{
    const struct lab_row_cost *cost = &worker->scenario->row_cost;
    const uint64_t body = stamp + cost->own_cells + 2, neighbour = SECOND_BYTE - 2 - cost->head;
    const uint64_t second[2] = {neighbour > body ? neighbour - body : 0,
                                SECOND_BYTE - 2 > body ? SECOND_BYTE - 2 - body : 0};
    uint64_t *bytes = worker->bytes, *before = worker->bytes_before;
    bool others;
    uint64_t payload =
        weigh_small(bytes + from, before + from + 1, to - from, cost->head + 2 + body, second, &others);
    for (size_t i = from; others && i < to; i++) {
        if ((bytes[i] - 1) >> SMALL_BITS == 0)
            continue;
        payload -= bytes[i];
        bytes[i] = clamped(bytes[i]);
        payload += bytes[i];
        before[i + 1] = lab_row_bytes(cost, bytes[i], stamp);
    }
    for (size_t i = from; i < to; i++)
        before[i + 1] += before[i];
    return payload;
}

static void fill(struct lab_worker *worker, size_t from, size_t to, uint64_t each)
{
    uint64_t *before = worker->bytes_before;
    for (size_t i = from; i < to; i++)
        before[i + 1] = before[from] + (i + 1 - from) * each;
}

/* Stretch by stretch; returns the payload. */
static uint64_t weigh_stretches(struct lab_worker *worker, const struct lab_batch *batch,
                                uint64_t payload_each)
{
    const struct lab_row_cost *cost = &worker->scenario->row_cost;
    const struct lab_row_stamps *stamps = &worker->stamps;
    const bool usual = is_usual(cost);
    uint64_t payload = payload_each * batch->count;
    worker->bytes_before[0] = 0;
    for (size_t from = 0, to; from < batch->count; from = to) {
        uint32_t class = lab_row_stamp_class(stamps, batch->times_ns[from]), stamp = stamps->bytes[class];
        to = batch->times_ns[batch->count - 1] < stamps->until_ns[class]
                 ? batch->count
                 : lab_first_at(batch->times_ns, from + 1, batch->count, stamps->until_ns[class]);
        if (payload_each > 0)
            fill(worker, from, to, lab_row_bytes(cost, payload_each, stamp));
        else
            payload += usual ? sum_usual(worker, from, to, stamp) : sum_any(worker, from, to, stamp);
    }
    return payload;
}

void lab_weigh_rows(struct lab_worker *worker, struct lab_batch *batch, uint64_t payload_each)
{
    const struct lab_row_stamps *stamps = &worker->stamps;
    uint32_t first = lab_row_stamp_class(stamps, batch->times_ns[0]);
    uint64_t payload = payload_each * batch->count;
    for (size_t i = 0; payload_each > 0 && worker->wants_bytes && i < batch->count; i++)
        worker->bytes[i] = payload_each;
    if (payload_each > 0 && batch->times_ns[batch->count - 1] < stamps->until_ns[first]) {
        batch->bytes_each = lab_row_bytes(&worker->scenario->row_cost, payload_each, stamps->bytes[first]);
    } else {
        payload = weigh_stretches(worker, batch, payload_each);
        batch->bytes_before = worker->bytes_before;
    }
    for (size_t i = 0; i < worker->lane_count; i++)
        lab_bytes_add(&worker->tallies[i].payload_bytes, payload);
}
