/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster engine: agents, nodes, clocks and faults in one event queue, with a separate run for each
 * strategy. Its rows can be made without a run, and its oracles also judge recorded histories, of runs or of
 * processes that embed the core. */
#ifndef LAB_CLUSTER_ENGINE_H
#define LAB_CLUSTER_ENGINE_H

#include "bucketing/agent.h"
#include "kernel/random.h"
#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "workload/workload.h"

bool lab_cluster_scenario(const struct lab_scenario *scenario, uint32_t jobs,
                          const struct lab_run_context *context, struct lab_result **out,
                          struct sim_error *error);

/* --- The rows, key by key and in time order. */

/* Rows read ahead per key; few, since there may be a million keys. */
#define LAB_ROWS_AHEAD 4u

/* A row that arrives. */
struct lab_arrival {
    int64_t time_ns;
    uint64_t id, bytes;
    int64_t late_ns; /* how far its own time is before the time of its agent's clock */
};

struct lab_rows;
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

/* --- Histories. */

/* What an agent heard of a request. Its line is written by runs and by the explorer. */
struct lab_heard {
    uint32_t agent, operation; /* operation: its number */
    enum bk_action_kind action;
    int64_t bucket; /* of PUT_ROW */
    const struct bk_outcome *outcome;
    uint64_t filled, scanned; /* of READ_ROWS: partitions that had rows, and rows that were read */
};
/* Writes the event of a history: "agent 2 hears 0 put_row applied bucket 4" (docs/live.md). */
void lab_heard_text(const struct lab_heard *heard, char *text, size_t size);

/* scenario: the settings with which the histories were recorded; its rows, reads and faults are not used.
 * paths: files that together are the history of some or all of its strategies. tables: path of the tables as
 * read back after the run; may be NULL. *out has the strategies in the histories, with the metrics and the
 * verdict of a run. progress may be NULL. Errors name file and line. */
bool lab_judge(const struct lab_scenario *scenario, const char *const *paths, size_t count,
               const char *tables, struct lab_progress *progress, struct lab_result **out,
               struct sim_error *error);

#endif
