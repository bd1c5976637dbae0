/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file as Cassandra compresses it: chunks of fixed size, each compressed by LZ4 after its length in 4
 * bytes, or uncompressed if that is shorter, and followed by a CRC of 4 bytes. Sources: apache/cassandra
 * 5.0.4 io/compress/CompressedSequentialWriter.java, LZ4Compressor.java, schema/CompressionParams.java. */
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
    uint32_t bytes; /* of a chunk, at most 1 GiB */
    uint32_t most;  /* max_compressed_length: a chunk of this length or more is stored uncompressed */
};

/* The bytes of the file. False when out of memory. */
bool sample_compressed_bytes(const struct sample_chunks *chunks, const uint8_t *bytes, uint64_t size,
                             uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
