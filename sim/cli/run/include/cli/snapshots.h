/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores the states of a run in the run database, and loads them to resume the run. */
#ifndef CLI_SNAPSHOTS_H
#define CLI_SNAPSHOTS_H

#include <pthread.h>

#include "lab/snapshot.h"
#include "store/unfinished.h"

struct cli_snapshots {
    struct lab_snapshots lab;
    const char *database;
    const struct lab_scenario *scenario;
    const char *path; /* absolute path of the scenario */
    bool is_quiet;
    int64_t every_ms; /* time between two states; 0: states are stored only when the run is stopped */
    int64_t next_ms, begin_ms, before_ms;
    int64_t put_us; /* time that writing the states since the last request took; guarded by the lock */
    bool was_put, is_stretched;    /* was_put: a state was written since the last tick; guarded by the lock */
    struct lab_progress *progress; /* progress of the run, while it runs */
    pthread_mutex_t lock;          /* guards the members below */
    struct store *store;           /* NULL until there is something to write */
    struct store_unfinished unfinished; /* if its run is 0, it is not in the database yet */
    uint64_t put_count;
    bool has_complained;
    bool is_resumed;
    bool is_ours;                  /* the run in the database is marked as in progress by this process */
    struct sim_error taken;        /* the error when another process has resumed the run, which ends it */
    struct sim_error lost;         /* the error of the last state that could not be stored */
    uint64_t lost_parts;           /* bit p % 64: the newest state of part p could not be stored */
    struct store_snapshot *states; /* states from which the run resumes */
    struct lab_kept *kept;
    size_t state_count;
};

/* Initialises the struct. Nothing is written before the first state or, with every_ms above 0, before
 * cli_snapshots_open(). */
void cli_snapshots_init(struct cli_snapshots *snapshots, const char *database,
                        const struct lab_scenario *scenario, const char *path, int64_t every_ms,
                        bool is_quiet);
/* Frees the memory. A run that is neither finished nor stopped has failed; it is marked as not in progress,
 * and can be resumed if any of its states was stored. */
void cli_snapshots_free(struct cli_snapshots *snapshots);
/* Must be called before the run. */
bool cli_snapshots_open(struct cli_snapshots *snapshots, struct sim_error *error);
/* Resumes the run `unfinished`: begins a new attempt and loads its states. Damaged states are reported and
 * ignored. */
bool cli_snapshots_resume(struct cli_snapshots *snapshots, const struct store_unfinished *unfinished,
                          struct sim_error *error);
/* Must be called periodically during the run; elapsed_ms: time since it began. */
void cli_snapshots_tick(struct cli_snapshots *snapshots, int64_t elapsed_ms);
/* Must be called when the run has ended. Changes *elapsed_ms from the time of this attempt to that of all
 * attempts. */
void cli_snapshots_over(struct cli_snapshots *snapshots, int64_t *elapsed_ms);
/* Called when the run was stopped. Sets the error, which says how to resume; returns false. */
bool cli_snapshots_stopped(struct cli_snapshots *snapshots, struct sim_error *error);
/* Called when the finished run could not be stored, for the reason in *error. If a state was stored, appends
 * to the error how to resume. Returns false. */
bool cli_snapshots_unstored(const struct cli_snapshots *snapshots, struct sim_error *error);
/* Stores the finished run, with its reserved number if it has one. */
bool cli_snapshots_store(struct cli_snapshots *snapshots, struct store *store, struct store_run_info *info,
                         const struct lab_result *result, struct sim_error *error);

#endif
