/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The states of a run on their way into the run database, and back. */
#ifndef CLI_SNAPSHOTS_H
#define CLI_SNAPSHOTS_H

#include <pthread.h>

#include "lab/snapshot.h"
#include "store/unfinished.h"

struct cli_snapshots {
    struct lab_snapshots lab;
    const char *database;
    const struct lab_scenario *scenario;
    const char *path; /* of the scenario, absolute */
    bool is_quiet;
    int64_t every_ms; /* from one state to the next; 0: none but when the run is stopped */
    int64_t next_ms, begin_ms, before_ms;
    int64_t put_us;                /* what the states since the last wish took to write; under the lock */
    bool was_put, is_stretched;    /* a state was written since the last tick; under the lock */
    struct lab_progress *progress; /* of the run; set while it runs */
    pthread_mutex_t lock;          /* of all below */
    struct store *store;           /* NULL as long as there was nothing to write */
    struct store_unfinished unfinished; /* run 0: not in the database yet */
    uint64_t put_count;
    bool has_complained;
    bool is_resumed;
    bool is_ours;           /* in the database: until it is noted there that it was stopped, or is finished */
    struct sim_error taken; /* another program took the run over: it ends by that */
    struct sim_error lost;  /* the last state that could not be kept */
    uint64_t lost_parts;    /* bit p % 64: the newest state of part p was lost */
    struct store_snapshot *states; /* that the run goes on from */
    struct lab_kept *kept;
    size_t state_count;
};

/* Nothing is written until the first state, or, with every_ms above 0, until cli_snapshots_open(). */
void cli_snapshots_init(struct cli_snapshots *snapshots, const char *database,
                        const struct lab_scenario *scenario, const char *path, int64_t every_ms,
                        bool is_quiet);
/* A run that is neither finished nor stopped has failed: nobody is at work on it any more, and it can be
 * resumed when anything of it was kept. */
void cli_snapshots_free(struct cli_snapshots *snapshots);
/* Before the run. */
bool cli_snapshots_open(struct cli_snapshots *snapshots, struct sim_error *error);
/* The run is that which `unfinished` tells of, and goes on from its states; those that are damaged are told
 * of and left out. Takes the run over. */
bool cli_snapshots_resume(struct cli_snapshots *snapshots, const struct store_unfinished *unfinished,
                          struct sim_error *error);
/* Now and then, while the run runs; elapsed_ms: since it began. */
void cli_snapshots_tick(struct cli_snapshots *snapshots, int64_t elapsed_ms);
/* The run has ended, and *elapsed_ms, of this attempt, becomes that of all. */
void cli_snapshots_over(struct cli_snapshots *snapshots, int64_t *elapsed_ms);
/* The run was stopped: what can be done about it, as the error. Returns false. */
bool cli_snapshots_stopped(struct cli_snapshots *snapshots, struct sim_error *error);
/* The finished run could not be stored, for the reason in *error, to which the line that resumes is added
 * where a state was kept. Returns false. */
bool cli_snapshots_unstored(const struct cli_snapshots *snapshots, struct sim_error *error);
/* Stores the finished run, under its number when it has one. */
bool cli_snapshots_store(struct cli_snapshots *snapshots, struct store *store, struct store_run_info *info,
                         const struct lab_result *result, struct sim_error *error);

#endif
