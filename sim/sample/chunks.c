/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compresses chunk by chunk, and keeps only the lengths. */
#include "sample/chunks.h"

#include <assert.h>
#include <lz4.h>
#include <stdlib.h>

#define LENGTH_BYTES 4u
#define CRC_BYTES    4u

/* A chunk that does not compress below the limit is stored uncompressed; the last chunk of the file, which
 * may be shorter than the limit, is padded to it. */
static uint64_t stored_bytes(const struct sample_chunks *chunks, uint32_t size, uint32_t compressed)
{
    if (compressed < chunks->most)
        return compressed;
    return size > chunks->most ? size : chunks->most;
}

bool sample_compressed_bytes(const struct sample_chunks *chunks, const uint8_t *bytes, uint64_t size,
                             uint64_t *out)
{
    *out = 0;
    assert(chunks->bytes > 0 && chunks->bytes <= 1u << 30);
    int bound = LZ4_compressBound((int)chunks->bytes);
    char *scratch = malloc((size_t)bound);
    if (scratch == NULL)
        return false;
    for (uint64_t at = 0; at < size; at += chunks->bytes) {
        uint32_t some = size - at < chunks->bytes ? (uint32_t)(size - at) : chunks->bytes;
        int length = LZ4_compress_default((const char *)bytes + at, scratch, (int)some, bound);
        assert(length > 0);
        *out += stored_bytes(chunks, some, LENGTH_BYTES + (uint32_t)length) + CRC_BYTES;
    }
    free(scratch);
    return true;
}
