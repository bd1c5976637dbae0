/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small synthetic workloads for the tests of this folder, and functions that draw all rows of one key. */
#ifndef TESTS_WORKLOAD_MADE_H
#define TESTS_WORKLOAD_MADE_H

#include <math.h>
#include <stdlib.h>

#include "kernel/time.h"
#include "workload/workload.h"

#define YEAR_2026 INT64_C(1767225600000000000)

/* Identical keys, rows of 100 bytes, and a constant rate. */
static inline struct wl_workload made_plain(uint64_t key_count, double rate_per_s, int64_t duration_ns)
{
    struct wl_workload made = {.seed = 1,
                               .start_ns = YEAR_2026,
                               .duration_ns = duration_ns,
                               .key_count = key_count,
                               .rate_per_s = rate_per_s,
                               .row_bytes = {.kind = SIM_SIZE_CONSTANT, .a = 100},
                               .row_cells = 6};
    sim_zipf_init(&made.popularity, 0, key_count);
    return made;
}

struct made_rows {
    size_t count, room;
    int64_t *times_ns;
    uint64_t *ids;
    uint64_t *bytes; /* NULL unless sizes vary */
};

static inline void made_rows_free(struct made_rows *rows)
{
    free(rows->times_ns);
    free(rows->ids);
    free(rows->bytes);
}

/* Draws at most `most` further rows of the key before until_ns and appends them; returns the number drawn. */
static inline size_t made_more(struct made_rows *rows, struct wl_key *key, int64_t until_ns, size_t most)
{
    if (rows->room - rows->count < most) {
        rows->room = 2 * rows->room + most;
        rows->times_ns = realloc(rows->times_ns, rows->room * sizeof *rows->times_ns);
        rows->ids = realloc(rows->ids, rows->room * sizeof *rows->ids);
        rows->bytes = realloc(rows->bytes, rows->room * sizeof *rows->bytes);
        assert_true(rows->times_ns != NULL && rows->ids != NULL && rows->bytes != NULL);
    }
    bool varies = key->workload->row_bytes.kind != SIM_SIZE_CONSTANT;
    size_t count = wl_key_rows(key, until_ns, most, rows->times_ns + rows->count, rows->ids + rows->count,
                               varies ? rows->bytes + rows->count : NULL);
    assert_true(count <= most);
    rows->count += count;
    return count;
}

/* All rows of one key; checks that they are sorted and within the duration. */
static inline struct made_rows made_all(const struct wl_workload *workload, uint64_t key_index)
{
    enum { MOST = 1024 };
    struct made_rows rows = {0};
    struct wl_key key;
    wl_key_init(&key, workload, key_index);
    int64_t end_ns = workload->start_ns + workload->duration_ns;
    while (made_more(&rows, &key, INT64_MAX, MOST) == MOST) {
    }
    for (size_t i = 0; i < rows.count; i++) {
        assert_true(rows.times_ns[i] >= (i == 0 ? workload->start_ns : rows.times_ns[i - 1]));
        assert_true(rows.times_ns[i] < end_ns);
    }
    assert_int_equal(made_more(&rows, &key, INT64_MAX, MOST), 0);
    return rows;
}

/* The number of rows of all keys with a time in [from, until). */
static inline double made_count(const struct wl_workload *workload, int64_t from_ns, int64_t until_ns)
{
    double count = 0;
    for (uint64_t key = 0; key < workload->key_count; key++) {
        struct made_rows rows = made_all(workload, key);
        for (size_t i = 0; i < rows.count; i++)
            count += rows.times_ns[i] >= from_ns && rows.times_ns[i] < until_ns;
        made_rows_free(&rows);
    }
    return count;
}

/* For a sum of many small independent parts: 7 sigma, a false alarm below 1e-11. */
static inline void assert_near(double got, double wanted, double variance)
{
    if (!(fabs(got - wanted) <= 7 * sqrt(variance)))
        fail_msg("%.9g, not %.9g +- %.3g", got, wanted, sqrt(variance));
}

#endif
