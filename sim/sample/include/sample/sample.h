/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures the size of a user's rows in an sstable of the scenario's table, and how well that sstable
 * compresses.
 *
 * The rows are a CSV file with a header, as cqlsh's COPY TO writes it WITH HEADER = TRUE. Its columns are
 * those of the table, by name. All columns of the primary key must be present, except for the bucket; without
 * buckets, each key is one partition. An empty field is null. A row's time of writing is its own time, or the
 * time in its id. The rows are sorted by token and clustering columns; of rows with equal primary keys the
 * last one is kept. The whole file is held in memory, plus about 100 bytes per row. */
#ifndef SAMPLE_SAMPLE_H
#define SAMPLE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "lab/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sample_figures {
    uint64_t rows, partitions;
    uint64_t bytes;            /* size of Data.db before compression */
    uint64_t compressed_bytes; /* size of Data.db after compression; the ratio of the two is used for the
                                  whole table */
};

/* Errors: SIM_ERROR_INPUT with file, line and remedy, also for a file without rows. */
bool sample_measure(const struct lab_scenario *scenario, const char *path, struct sample_figures *out,
                    struct sim_error *error);

/* The size of a file that Cassandra compresses: chunks of fixed size, each stored as its length in 4 bytes
 * and its LZ4 data, or uncompressed if that is shorter, followed by a CRC of 4 bytes. Sources:
 * apache/cassandra 5.0.4 io/compress/CompressedSequentialWriter.java, LZ4Compressor.java,
 * schema/CompressionParams.java. */

/* Cassandra's defaults: chunk_length_in_kb 16, min_compress_ratio 0. */
#define SAMPLE_CHUNK_BYTES 16384u
#define SAMPLE_NO_BOUND    INT32_MAX

struct sample_chunks {
    uint32_t bytes; /* size of a chunk, at most 1 GiB */
    uint32_t most;  /* max_compressed_length: a chunk whose compressed length is this or more is stored
                       uncompressed */
};

/* Computes the size of the compressed file of `size` bytes. Returns false when out of memory. */
bool sample_compressed_bytes(const struct sample_chunks *chunks, const uint8_t *bytes, uint64_t size,
                             uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
