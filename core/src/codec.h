/* SPDX-License-Identifier: MIT */
/* Checkpoints as bytes: one codec that measures, writes and reads the same fields. */
#ifndef BUCKETING_CODEC_H
#define BUCKETING_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Encodes and decodes state: one function per struct visits its fields, and the codec measures, writes or
 * reads them. Numbers are little-endian on every machine. Reading trusts no input: after a number that is
 * missing or invalid, all further numbers are 0. */
enum bk_codec_mode { BK_CODEC_MEASURE, BK_CODEC_WRITE, BK_CODEC_READ };

struct bk_codec {
    enum bk_codec_mode mode;
    bool is_wrong; /* set by the first error, and never cleared */
    size_t at, size;
    unsigned char *out;
    const unsigned char *in;
};

static inline bool bk_codec_is_reading(const struct bk_codec *codec)
{
    return codec->mode == BK_CODEC_READ;
}

/* Returns the number at the current position: `value` itself when measuring or writing. */
static inline uint64_t bk_codec_number(struct bk_codec *codec, uint64_t value, unsigned bytes)
{
    if (codec->mode != BK_CODEC_MEASURE && codec->size - codec->at < bytes)
        codec->is_wrong = true;
    if (codec->is_wrong)
        return 0;
    uint64_t read = 0;
    for (unsigned i = 0; i < bytes && codec->mode != BK_CODEC_MEASURE; i++) {
        if (codec->mode == BK_CODEC_WRITE)
            codec->out[codec->at + i] = (unsigned char)(value >> 8 * i);
        else
            read |= (uint64_t)codec->in[codec->at + i] << 8 * i;
    }
    codec->at += bytes;
    return codec->mode == BK_CODEC_READ ? read : value;
}

static inline void bk_codec_u64(struct bk_codec *codec, uint64_t *value)
{
    uint64_t read = bk_codec_number(codec, *value, 8);
    if (bk_codec_is_reading(codec))
        *value = read;
}

static inline void bk_codec_u32(struct bk_codec *codec, uint32_t *value)
{
    uint64_t read = bk_codec_number(codec, *value, 4);
    if (bk_codec_is_reading(codec))
        *value = (uint32_t)read;
}

static inline void bk_codec_i64(struct bk_codec *codec, int64_t *value)
{
    uint64_t read = bk_codec_number(codec, (uint64_t)*value, 8);
    if (bk_codec_is_reading(codec))
        *value = (int64_t)read;
}

/* A condition on the state that is read; when it is false, reading fails. */
static inline void bk_codec_check(struct bk_codec *codec, bool holds)
{
    codec->is_wrong = codec->is_wrong || (bk_codec_is_reading(codec) && !holds);
}

static inline void bk_codec_bool(struct bk_codec *codec, bool *value)
{
    uint64_t read = bk_codec_number(codec, *value, 1);
    bk_codec_check(codec, read <= 1);
    if (bk_codec_is_reading(codec))
        *value = !codec->is_wrong && read == 1;
}

/* A number below limit, also of an enum, in four bytes. Returns the value. */
static inline unsigned bk_codec_below(struct bk_codec *codec, unsigned value, unsigned limit)
{
    uint64_t read = bk_codec_number(codec, value, 4);
    if (!bk_codec_is_reading(codec))
        return value;
    bk_codec_check(codec, read < limit);
    return codec->is_wrong ? 0 : (unsigned)read;
}

static inline void bk_codec_version(struct bk_codec *codec, uint32_t version)
{
    uint32_t read = version;
    bk_codec_u32(codec, &read);
    bk_codec_check(codec, read == version);
}

/* Writes numbers, or checks that they are what was written. */
static inline void bk_codec_same(struct bk_codec *codec, const uint64_t *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t field = fields[i];
        bk_codec_u64(codec, &field);
        bk_codec_check(codec, field == fields[i]);
    }
}

#endif
