/* SPDX-License-Identifier: MIT */
/* Measures, writes and reads a state field by field. Reading validates each field. */
#include "codec.h"

/* Returns the number at the current position: `value` itself when measuring or writing. */
static uint64_t number(struct bk_codec *codec, uint64_t value, unsigned bytes)
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

void bk_codec_u64(struct bk_codec *codec, uint64_t *value)
{
    uint64_t read = number(codec, *value, 8);
    if (bk_codec_is_reading(codec))
        *value = read;
}

void bk_codec_u32(struct bk_codec *codec, uint32_t *value)
{
    uint64_t read = number(codec, *value, 4);
    if (bk_codec_is_reading(codec))
        *value = (uint32_t)read;
}

void bk_codec_i64(struct bk_codec *codec, int64_t *value)
{
    uint64_t read = number(codec, (uint64_t)*value, 8);
    if (bk_codec_is_reading(codec))
        *value = (int64_t)read;
}

void bk_codec_bool(struct bk_codec *codec, bool *value)
{
    uint64_t read = number(codec, *value, 1);
    bk_codec_check(codec, read <= 1);
    if (bk_codec_is_reading(codec))
        *value = !codec->is_wrong && read == 1;
}

unsigned bk_codec_below(struct bk_codec *codec, unsigned value, unsigned limit)
{
    uint64_t read = number(codec, value, 4);
    if (!bk_codec_is_reading(codec))
        return value;
    bk_codec_check(codec, read < limit);
    return codec->is_wrong ? 0 : (unsigned)read;
}

void bk_codec_check(struct bk_codec *codec, bool holds)
{
    codec->is_wrong = codec->is_wrong || (bk_codec_is_reading(codec) && !holds);
}
