/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second, slow stream engine for tests: every row is routed separately, every partition and every second is
 * kept, and a reader walks its buckets one by one. Routes, windows, hashes, tokens, arrivals, traces, tables,
 * reads and metrics are implemented again, in the plainest way. What it shares with the real engine:
 *  - of the core, the eras of settings that change (bucketing/history.h), and the reader over them;
 *  - the kernel's random streams and samplers, and the placement digest;
 *  - of the workload, the sizes of rows and the keys that a spike strikes;
 *  - the ring;
 *  - of the lab, the sizes of rows and partitions on disk (lab/row_cost.h) and the values of columns. */
#ifndef TESTS_LAB_NAIVE_H
#define TESTS_LAB_NAIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/result.h"
#include "lab/scenario.h"

struct naive_row {
    int64_t time_ns, late_ns, own_ns; /* own: the row's own time */
    uint64_t id, bytes, weight;       /* weight: the row's size on disk, by the scenario's format */
    bool is_deleted, is_expired;      /* at the end of the run */
};

struct naive_key {
    char name[32];
    uint64_t entity; /* the seed of the key's random streams */
    double share;    /* of the rows, and so of the reads */
    struct naive_row *rows;
    size_t count, capacity;
};

/* All rows of a scenario, key by key. */
struct naive_input {
    struct naive_key *keys;
    size_t key_count;
    int64_t start_ns, end_ns;
    uint64_t rows, keys_with_rows;
};

struct naive_partition {
    uint64_t key_index, values;
    int64_t bucket, token;
    uint64_t written, rows, bytes, gone; /* rows, bytes: the most on disk at a time */
    struct naive_stored {
        int64_t time_ns;
        uint64_t bytes;
    } * stored; /* of all rows, if some leave the disk */
    size_t stored_count, stored_capacity;
    int64_t first_ns; /* of its first row */
    int64_t second;
    uint64_t rows_in_second;
    uint32_t regime;   /* changed settings: the last to write here */
    uint64_t last_row; /* the row's number within the key */
    bool is_closed, is_reopened;
};

struct naive_read {
    enum lab_read_kind kind;
    uint64_t partitions, empties, scanned;
    bool is_incomplete, is_out_of_order, is_cut, is_before;
};

struct naive_result {
    struct naive_partition *partitions;
    size_t partition_count, partition_capacity;
    struct naive_read *reads;
    size_t read_count, read_capacity;
    uint64_t counter_increments, state_writes, state_reads, lwt, rows_scanned, peak, digest;
    int64_t first_whole;   /* the first window that the start of the run, or of its history, does not cut */
    int64_t first_over_ns; /* INT64_MAX: no partition exceeds a limit */
    uint64_t late, into_closed, reopened, deleted, expired;
    int64_t *empty; /* windows that readers of the current key remember */
    size_t empty_count, empty_capacity;
    /* With a table: the bucket of each row, key after key, and the bucket that a row at the end would have.
     */
    int64_t *buckets, *currents;
    uint64_t overwritten, most_written, minute_most;
};

/* naive_rows.c. Aborts when out of memory, and if the trace does not exist. */
struct naive_input *naive_input_make(const struct lab_scenario *scenario);
void naive_input_free(struct naive_input *input);
/* The integrals of a synthetic key's rate between `count` + 1 moments of the run. */
void naive_masses(const struct wl_workload *workload, uint64_t key, const int64_t *edges_ns, size_t count,
                  double *out);
int64_t naive_floor(int64_t a, int64_t b);
void *naive_must(void *memory);
/* Makes room for one more item of `size` bytes. */
void *naive_grow(void *items, size_t count, size_t *capacity, size_t size);

/* Rows leave the disk by whole compaction windows of this length, `kept` windows after their own; 0: never.
 */
struct naive_disk {
    int64_t window_ns, kept;
};
/* strategy NULL: of a key in one partition. */
struct naive_disk naive_disk_of(const struct naive_input *input, const struct lab_scenario *scenario,
                                const struct bk_strategy *strategy);
/* Sums up the rows that are on disk when the last of them has arrived. */
void naive_on_disk(const struct naive_disk *disk, const struct naive_stored *rows, size_t count,
                   uint64_t *rows_out, uint64_t *bytes_out);

/* naive.c: one strategy. Aborts when out of memory. */
struct naive_result *naive_run(const struct naive_input *input, const struct lab_scenario *scenario,
                               const struct lab_strategy *strategy);
void naive_watch_limits(const struct lab_scenario *scenario, size_t key_size,
                        const struct naive_partition *partition, int64_t time_ns,
                        struct naive_result *result);
void naive_free(struct naive_result *result);
/* Partitions of a window or bucket. */
int64_t naive_shards(const struct bk_strategy *strategy);
int64_t naive_window(const struct bk_strategy *strategy, int64_t time_ns);

/* naive_route.c: the bucket of the row with this number, with which the state advances. */
int64_t naive_route(const struct bk_strategy *strategy, struct bk_key_state *state, uint64_t number,
                    const struct naive_row *row, struct naive_result *result);
/* The first word of murmur3_128; is_signed: Cassandra's. */
uint64_t naive_hash(const void *data, size_t size, bool is_signed);
struct naive_part {
    const void *bytes;
    size_t size;
};
/* The token of a partition key of one or more components. */
int64_t naive_token(const struct naive_part *parts, size_t count);
void naive_big_endian(int64_t value, uint8_t *out);
/* The bytes of a row's timestamp and expiry. */
uint32_t naive_stamp(const struct lab_row_cost *cost, int64_t start_ns, int64_t time_ns);

/* naive_read.c: the rows of a key at the time of a read, and the buckets that they went to. */
struct naive_sight {
    const struct lab_scenario *scenario;
    const struct lab_strategy *named;
    const struct bk_key_state *state;
    const struct bk_history *history; /* NULL: the settings never change */
    const struct bk_history_state *history_state;
    uint32_t regime;
    const struct naive_row *rows;
    const int64_t *buckets;
    size_t count;
    int64_t start_ns, now_ns, birth_ns; /* start: of the run */
};
void naive_read_key(const struct naive_sight *sight, enum lab_read_kind kind, struct naive_result *result);

/* naive_table.c: with a table, replaces the strategy's partitions by the table's. */
void naive_settle(const struct naive_input *input, const struct lab_scenario *scenario,
                  struct naive_result *result);

/* naive_check.c: whether every metric of the engine equals the naive engine's, to the last bit; if not,
 * `message` describes the first difference. */
bool naive_check(const struct lab_scenario *scenario, const struct lab_result *result, char *message,
                 size_t size);

#endif
