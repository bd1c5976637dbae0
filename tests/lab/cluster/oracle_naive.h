/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A judge that keeps every row and compares it with every other row: the oracles' definitions, in the words
 * of lab/oracle.h, without any of their shortcuts. It receives the same events. */
#ifndef TESTS_LAB_ORACLE_NAIVE_H
#define TESTS_LAB_ORACLE_NAIVE_H

#include "cluster_run.h"

#define NAIVE_ROWS 1024u
#define NAIVE_PUTS 4u

enum naive_ending { NAIVE_UNDER_WAY, NAIVE_ACKNOWLEDGED, NAIVE_UNKNOWN, NAIVE_REFUSED };

struct naive_row {
    uint32_t key, agent;
    uint64_t number;
    int64_t time_ns, placed_ns;
    int64_t puts[NAIVE_PUTS]; /* first: where it was placed; last: where it may be acknowledged */
    uint32_t put_count;
    enum naive_ending ending;
    bool fires, is_counted, is_unfindable;
    bool is_tallied; /* among the rows that fired in its partition */
};

struct naive_stored {
    const struct naive_row *row;
    int64_t bucket, stored_ns;
    uint32_t replicas; /* a mask */
};

struct naive_state {
    uint32_t key;
    int64_t bucket, date_ns;
};

struct naive_span {
    int64_t from_ns, until_ns;
};

struct naive_fired {
    uint32_t key;
    int64_t bucket, at_ns;
};

struct naive {
    enum bk_kind kind;
    uint64_t newest, partition_rows,
        threshold; /* partition_rows: by the distribution, without lost increments */
    int64_t start_ns, tolerance_ns, lag_ns, settle_ns, window_ns;
    bool is_dated; /* changes have a date, without any lead */
    uint32_t key_count, factor, read_replicas;
    int64_t now_ns;
    uint64_t unplaced; /* rows that were refused before they had a bucket */
    struct naive_row rows[NAIVE_ROWS];
    struct naive_stored stored[NAIVE_ROWS];
    struct naive_state states[NAIVE_ROWS];
    struct naive_span unhealthy[NAIVE_ROWS], open_unhealthy[8]; /* over, or with a known end; begun */
    struct naive_fired fired[NAIVE_ROWS];
    uint32_t row_count, stored_count, state_count, unhealthy_count, open_unhealthy_count, fired_count;
    int64_t gaps_judged[4]; /* per key */
    uint64_t violations[LAB_ORACLE_COUNT];
    bool is_judged[LAB_ORACLE_COUNT];
};

void naive_begin(struct naive *naive);
struct naive_row *naive_place(struct naive *naive, uint32_t key, uint64_t number, int64_t time_ns,
                              int64_t bucket, uint32_t agent);
/* The row is put into this bucket as well. Called only if the bucket differs from the last one. */
void naive_move(struct naive_row *row, int64_t bucket);
void naive_store(struct naive *naive, const struct naive_row *row, int64_t bucket, uint32_t replicas);
/* The row is acknowledged in the bucket of its last put. */
void naive_acknowledge(struct naive *naive, struct naive_row *row);
/* The row's operation has ended, at the same time. */
void naive_ended(struct naive *naive, struct naive_row *row);
void naive_state(struct naive *naive, uint32_t key, int64_t bucket, int64_t date_ns);
void naive_fault(struct naive *naive, bool begins);
void naive_pulse(struct naive *naive, int64_t until_ns);
void naive_end(struct naive *naive);

#endif
