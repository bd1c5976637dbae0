/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the cluster engine, key by key and in time order. */
#ifndef LAB_CLUSTER_ROWS_H
#define LAB_CLUSTER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/random.h"
#include "lab/scenario.h"
#include "workload/workload.h"

/* Rows read ahead per key; few, since there may be a million keys. */
#define LAB_ROWS_AHEAD 4u

/* A row that arrives. */
struct lab_arrival {
    int64_t time_ns;
    uint64_t id, bytes;
    int64_t late_ns; /* how far its own time is before the time of its agent's clock */
};

/* The rows of all keys, key by key and in time order. */
struct lab_rows;
struct lab_run_context;
/* Makes the rows. context may stop it, and may be NULL. */
bool lab_rows_create(const struct lab_scenario *scenario, const struct lab_run_context *context,
                     struct lab_rows **out, struct sim_error *error);
void lab_rows_destroy(struct lab_rows *rows);
uint32_t lab_rows_key_count(const struct lab_rows *rows);
size_t lab_rows_key_size(const struct lab_rows *rows, uint32_t key);
void lab_rows_key_name(const struct lab_rows *rows, uint32_t key, char *buffer, size_t size);
uint64_t lab_rows_key_entity(const struct lab_rows *rows, uint32_t key);
double lab_rows_key_share(const struct lab_rows *rows, uint32_t key);
/* How far the own time of the key's row with this number is ahead of its agent's clock. */
int64_t lab_rows_early_ns(const struct lab_rows *rows, uint32_t key, uint64_t row);
/* The start and the end of the run. */
void lab_rows_span(const struct lab_rows *rows, int64_t *start_ns, int64_t *end_ns);
/* A cursor over a key's rows, so that several runs can read the same rows; zeroed by its owner at first. */
struct lab_cursor {
    uint32_t ahead_begin, ahead_end;
    struct lab_arrival ahead[LAB_ROWS_AHEAD];
    bool is_open;
    uint64_t next; /* trace: number of the next row within the key */
    struct wl_rows made;
    struct sim_random ids, bytes; /* of a trace */
};
bool lab_rows_next(const struct lab_rows *rows, uint32_t key, struct lab_cursor *cursor,
                   struct lab_arrival *out);

#endif
