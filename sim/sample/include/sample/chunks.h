/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The size of a file that Cassandra compresses: chunks of fixed size, each stored as its length in 4 bytes
 * and its LZ4 data, or uncompressed if that is shorter, followed by a CRC of 4 bytes. Sources:
 * apache/cassandra 5.0.4 io/compress/CompressedSequentialWriter.java, LZ4Compressor.java,
 * schema/CompressionParams.java. */
#ifndef SAMPLE_CHUNKS_H
#define SAMPLE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
