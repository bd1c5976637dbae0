/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A user's own rows, as an sstable of the scenario's table holds them, and how well that compresses.
 *
 * The rows are a CSV file with a header, as cqlsh's COPY TO writes it WITH HEADER = TRUE. Its columns are
 * those of the table by name; those of the primary key are all there but the bucket, and without one a key is
 * one partition. An empty field is null. A row's time of writing is its own time, or that of its id. The rows
 * are put in order of token and clustering, of equal primary keys the last one stays, and the whole file is
 * held in memory, with some 100 bytes more for each row. */
#ifndef SAMPLE_SAMPLE_H
#define SAMPLE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/error.h"
#include "lab/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sample_figures {
    uint64_t rows, partitions;
    uint64_t bytes;            /* of Data.db before compression */
    uint64_t compressed_bytes; /* of Data.db; by the ratio of the two a whole table is judged */
};

/* Errors: SIM_ERROR_INPUT with file, line and cure; of a file without rows too. */
bool sample_measure(const struct lab_scenario *scenario, const char *path, struct sample_figures *out,
                    struct sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
