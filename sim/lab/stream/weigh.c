/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes the sizes of the rows of a batch as running sums. Rows come in the order of their times, so a
 * batch has few stretches, usually one, whose timestamps have the same length. In a stretch, rows with the
 * same payload have the same size, so the size of a small row is computed once and then looked up. */
#include "stream.h"

/* The greatest row size that a trace or a scenario may have. Larger draws from the tail of a distribution are
 * limited to it, so that the sums of a batch are far from overflow. */
#define ROW_BYTES_MAX (UINT64_C(1) << 40)

static uint64_t clamped(uint64_t payload)
{
    return payload < ROW_BYTES_MAX ? payload : ROW_BYTES_MAX;
}

/* Computes the sums for rows [from, to), whose timestamps have the same length. before[from] is the sum of
 * the rows before them. */
static uint64_t sum(struct lab_worker *worker, size_t from, size_t to, uint32_t class)
{
    const struct lab_row_cost *cost = &worker->scenario->row_cost;
    uint64_t *before = worker->bytes_before, payload = 0, all = before[from];
    uint16_t *known = worker->small_weights[class];
    for (size_t i = from; i < to; i++) {
        const uint64_t bytes = worker->bytes[i] = clamped(worker->bytes[i]);
        uint64_t weight = bytes < LAB_SMALL_ROW ? known[bytes] : 0;
        if (weight == 0) {
            weight = lab_row_bytes(cost, bytes, worker->stamps.bytes[class]);
            if (bytes < LAB_SMALL_ROW && weight <= UINT16_MAX)
                known[bytes] = (uint16_t)weight;
        }
        payload += bytes;
        before[i + 1] = all += weight;
    }
    return payload;
}

static void fill(struct lab_worker *worker, size_t from, size_t to, uint64_t each)
{
    uint64_t *before = worker->bytes_before;
    for (size_t i = from; i < to; i++)
        before[i + 1] = before[from] + (i + 1 - from) * each;
}

/* Computes the sizes stretch by stretch. Returns the sum of the payloads. */
static uint64_t weigh_stretches(struct lab_worker *worker, const struct lab_batch *batch,
                                uint64_t payload_each)
{
    const struct lab_row_cost *cost = &worker->scenario->row_cost;
    const struct lab_row_stamps *stamps = &worker->stamps;
    uint64_t payload = payload_each * batch->count;
    worker->bytes_before[0] = 0;
    for (size_t from = 0, to; from < batch->count; from = to) {
        const uint32_t class = lab_row_stamp_class(stamps, batch->times_ns[from]);
        to = batch->times_ns[batch->count - 1] < stamps->until_ns[class]
                 ? batch->count
                 : lab_first_at(batch->times_ns, from + 1, batch->count, stamps->until_ns[class]);
        if (payload_each > 0)
            fill(worker, from, to, lab_row_bytes(cost, payload_each, stamps->bytes[class]));
        else
            payload += sum(worker, from, to, class);
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
