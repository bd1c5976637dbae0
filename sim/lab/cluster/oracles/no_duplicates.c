/* SPDX-License-Identifier: GPL-3.0-or-later */
/* no_duplicates: a retried row is in only one bucket. A row that was put into several buckets is recorded
 * for each of them. It is in the bucket of its acknowledgement, and in each bucket in which a replica has
 * stored it at any time. */
#include <inttypes.h>
#include <stdlib.h>

#include "events.h"
#include "oracles.h"

static bool is_same_row(const struct lab_open_row *one, const struct lab_open_row *other)
{
    return one->key == other->key && one->row == other->row;
}

/* Sorts by row and bucket, and removes duplicates. */
static void sort(struct lab_open_rows *rows)
{
    size_t kept = 0;
    if (rows->count > 0)
        qsort(rows->items, rows->count, sizeof *rows->items, lab_open_compare);
    for (size_t i = 0; i < rows->count; i++) {
        const struct lab_open_row *row = &rows->items[i];
        struct lab_open_row *before = kept > 0 ? &rows->items[kept - 1] : NULL;
        if (before != NULL && is_same_row(before, row) && before->bucket == row->bucket)
            before->is_acknowledged = before->is_acknowledged || row->is_acknowledged;
        else
            rows->items[kept++] = *row;
    }
    rows->count = kept;
}

static void finish(struct lab_cluster_run *run, void *state)
{
    (void)state;
    struct lab_open_rows *moved = &run->oracles.moved;
    sort(moved);
    for (size_t begin = 0, end; begin < moved->count; begin = end) {
        const struct lab_open_row *row = &moved->items[begin], *last = NULL;
        uint32_t buckets = 0;
        for (end = begin; end < moved->count && is_same_row(&moved->items[end], row); end++) {
            const struct lab_open_row *at = &moved->items[end];
            if (at->is_acknowledged || at->is_heard ||
                cass_row_is_open(run->cluster, at->key, at->bucket, at->row)) {
                buckets++;
                last = at;
            }
        }
        if (buckets < 2)
            continue;
        run->tally.duplicated++;
        run->tally.placed -= buckets - 1;
        lab_violate(run, LAB_ORACLE_NO_DUPLICATES, row->key, 1,
                    "row %" PRIu64 " is in %" PRIu32 " buckets, the last of them %" PRId64, row->row, buckets,
                    last->bucket);
    }
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->idgen == NULL ? CLUSTER_WANTS_END : 0;
}

const struct cluster_observer cluster_no_duplicates = {
    .name = "no_duplicates", .wants = wants, .judges = 1u << LAB_ORACLE_NO_DUPLICATES, .finish = finish};
