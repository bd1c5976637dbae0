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

struct sample_figures {
    uint64_t rows, partitions;
    uint64_t bytes;            /* size of Data.db before compression */
    uint64_t compressed_bytes; /* size of Data.db after compression; the ratio of the two is used for the
                                  whole table */
};

/* Errors: SIM_ERROR_INPUT with file, line and remedy, also for a file without rows. */
bool sample_measure(const struct lab_scenario *scenario, const char *path, struct sample_figures *out,
                    struct sim_error *error);

/* The size of a file of `size` bytes that Cassandra compresses with its defaults (chunk_length_in_kb 16,
 * min_compress_ratio 0): chunks, each stored as its length in 4 bytes, its LZ4 data, and a CRC of 4 bytes.
 * Sources: apache/cassandra 5.0.4 io/compress/CompressedSequentialWriter.java, LZ4Compressor.java,
 * schema/CompressionParams.java. Returns false when out of memory. */
#define SAMPLE_CHUNK_BYTES 16384
bool sample_compressed_bytes(const uint8_t *bytes, uint64_t size, uint64_t *out);

#endif
