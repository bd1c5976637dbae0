/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores the outcomes of the finished runs of `tune SCENARIO` in the database, so that the same command
 * continues where it was stopped or killed. */
#ifndef CLI_TUNE_MEMORY_H
#define CLI_TUNE_MEMORY_H

#include <glib.h>
#include <pthread.h>

#include "lab/scenario.h"
#include "store/outcomes.h"
#include "tune/contest.h"

struct cli_tune_memory {
    struct tune_memory memory; /* for the contest */
    const char *database;
    struct store_work work;
    struct store *store;
    struct store_outcome *known; /* outcomes that were stored when it began */
    size_t known_count;
    pthread_mutex_t lock; /* guards the members below, and the store */
    GArray *batch;        /* outcomes that are not stored yet */
    size_t kept_count;
    int64_t batch_ms; /* when storing the last batch succeeded or failed */
};

/* Opens the database and reads the outcomes of a tune with this scenario and these terms. path: the
 * scenario's. The caller must call cli_tune_memory_close() even when it fails. */
bool cli_tune_memory_open(struct cli_tune_memory *memory, const char *database,
                          const struct lab_scenario *scenario, const char *path, const struct lab_tune *terms,
                          struct sim_error *error);
void cli_tune_memory_close(struct cli_tune_memory *memory);
/* Called when the tune was interrupted: stores the remaining outcomes. Returns false, with an error that says
 * how to continue. */
bool cli_tune_memory_stop(struct cli_tune_memory *memory, struct sim_error *error);
/* Called when the tune ended without an answer: removes its outcomes. */
void cli_tune_memory_forget(struct cli_tune_memory *memory);

#endif
