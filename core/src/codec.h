/* SPDX-License-Identifier: MIT */
/* Encodes and decodes state: one function per struct visits its fields, and the codec measures, writes or
 * reads them. Numbers are little-endian on every machine. Reading trusts no input: after a number that is
 * missing or invalid, all further numbers are 0. */
#ifndef BUCKETING_CODEC_H
#define BUCKETING_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bk_codec_mode { BK_CODEC_MEASURE, BK_CODEC_WRITE, BK_CODEC_READ };

struct bk_codec {
    enum bk_codec_mode mode;
    bool is_wrong; /* set by the first error, and never cleared */
    size_t at, size;
    unsigned char *out;
    const unsigned char *in;
};

void bk_codec_u64(struct bk_codec *codec, uint64_t *value);
void bk_codec_u32(struct bk_codec *codec, uint32_t *value);
void bk_codec_i64(struct bk_codec *codec, int64_t *value);
void bk_codec_bool(struct bk_codec *codec, bool *value);
/* A number below limit, also of an enum, in four bytes. Returns the value. */
unsigned bk_codec_below(struct bk_codec *codec, unsigned value, unsigned limit);
/* A condition on the state that is read; when it is false, reading fails. */
void bk_codec_check(struct bk_codec *codec, bool holds);

static inline bool bk_codec_is_reading(const struct bk_codec *codec)
{
    return codec->mode == BK_CODEC_READ;
}

#endif
