/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps in the database what the finished runs of `tune SCENARIO` came to, so that the same command goes on
 * where it was stopped or killed. */
#ifndef CLI_TUNE_MEMORY_H
#define CLI_TUNE_MEMORY_H

#include <pthread.h>

#include "lab/tune.h"
#include "store/outcomes.h"
#include "tune/memory.h"

struct cli_tune_memory {
    struct tune_memory memory; /* for the contest */
    const char *database;
    struct store_tune tune;
    struct store *store;
    struct store_outcome *known; /* when it began */
    size_t known_count;
    pthread_mutex_t lock;        /* of all below, and of the store */
    struct store_outcome *batch; /* finished, and not stored yet */
    size_t batch_count, batch_capacity, kept_count;
    int64_t batch_ms; /* when the last batch was stored, or could not be */
};

/* Opens the database and reads what is kept of a tune with this scenario and these terms. path: the
 * scenario's. cli_tune_memory_close() is due even when this fails. */
bool cli_tune_memory_open(struct cli_tune_memory *memory, const char *database,
                          const struct lab_scenario *scenario, const char *path, const struct lab_tune *terms,
                          struct sim_error *error);
void cli_tune_memory_close(struct cli_tune_memory *memory);
/* The tune was interrupted: keeps what is finished. False, with the line that says how to go on. */
bool cli_tune_memory_stop(struct cli_tune_memory *memory, struct sim_error *error);
/* The tune ended without an answer: nothing is of use any more. */
void cli_tune_memory_forget(struct cli_tune_memory *memory);

#endif
