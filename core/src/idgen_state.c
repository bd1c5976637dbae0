/* SPDX-License-Identifier: MIT */
/* Saves a client of identifiers as bytes and loads it. */
#include <string.h>

#include "codec.h"
#include "idgen.h"

/* "bki" and the version of the layout. */
#define STATE_VERSION (UINT32_C(0x626b6900) | BK_IDGEN_LAYOUT)

static void same_config(struct bk_codec *codec, const struct bk_idgen_config *config)
{
    const uint64_t fields[] = {config->client_id, config->batch,  config->stripes,
                               config->stripe,    config->choice, config->lock};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        uint64_t field = fields[i];
        bk_codec_u64(codec, &field);
        bk_codec_check(codec, field == fields[i]);
    }
}

static void lock_of(struct bk_codec *codec, struct bk_idgen *idgen)
{
    int64_t *const numbers[] = {&idgen->begun_ns, &idgen->until_ns, &idgen->wake_ns, &idgen->first_wait_ns,
                                &idgen->lock[0],  &idgen->lock[1],  &idgen->last,    &idgen->stored};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bk_codec_i64(codec, numbers[i]);
    idgen->column_count = bk_codec_below(codec, idgen->column_count, BK_IDGEN_COLUMNS_MAX + 1);
    for (uint32_t i = 0; i < idgen->column_count; i++) {
        bk_codec_u64(codec, &idgen->columns[i].client);
        bk_codec_i64(codec, &idgen->columns[i].until_ns);
    }
}

/* Checks that the identifiers that the client has or is about to lease are in its stripe and at most
 * INT64_MAX. */
static void check(struct bk_codec *codec, const struct bk_idgen *idgen)
{
    int64_t stripes = idgen->config.stripes, stripe = idgen->stripe;
    bool asks = idgen->step != IDGEN_IDLE && idgen->step != IDGEN_SLEEP;
    bk_codec_check(codec, asks == (idgen->is_to_ask || idgen->is_waiting));
    bk_codec_check(codec, !(idgen->is_to_ask && idgen->is_waiting));
    bk_codec_check(codec, stripe <= stripes && (stripe >= 1 || (idgen->draws == 0 && !asks)));
    /* The wait after an attempt depends on the number of attempts. */
    bool may_wait = asks && (idgen->step != IDGEN_RELEASE || idgen->after == IDGEN_AFTER_WAIT);
    bk_codec_check(codec, !may_wait || idgen->attempts > 0);
    bk_codec_check(codec, idgen->first_wait_ns >= 0);
    if (idgen->in_hand > 0)
        bk_codec_check(codec,
                       idgen->next >= 1 && (idgen->next - stripe) % stripes == 0 &&
                           idgen->in_hand - 1 <= (uint64_t)(INT64_MAX - idgen->next) / (uint64_t)stripes);
    if (idgen->step == IDGEN_STORE && !codec->is_wrong) {
        int64_t first = idgen->has_last ? idgen->last : stripe - stripes;
        bk_codec_check(codec, (!idgen->has_last || first >= 1) && idgen->stored > first &&
                                  (idgen->stored - stripe) % stripes == 0);
    }
}

static void whole(struct bk_codec *codec, struct bk_idgen *idgen)
{
    uint32_t version = STATE_VERSION;
    bk_codec_u32(codec, &version);
    bk_codec_check(codec, version == STATE_VERSION);
    same_config(codec, &idgen->config);
    bk_codec_i64(codec, &idgen->next);
    bk_codec_u64(codec, &idgen->in_hand);
    idgen->step = (int)bk_codec_below(codec, (unsigned)idgen->step, IDGEN_RELEASE + 1);
    idgen->after = (int)bk_codec_below(codec, (unsigned)idgen->after, IDGEN_AFTER_FAIL + 1);
    bool *const flags[] = {&idgen->is_to_ask,      &idgen->is_waiting,    &idgen->is_wanted,
                           &idgen->is_ready_due,   &idgen->is_failed_due, &idgen->is_retry,
                           &idgen->lock_is_absent, &idgen->has_last};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        bk_codec_bool(codec, flags[i]);
    idgen->status = (enum bk_status)bk_codec_below(codec, idgen->status, BK_ERROR_CHECKPOINT + 1);
    uint32_t *const counts[] = {&idgen->stripe, &idgen->attempts, &idgen->tries, &idgen->races};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        bk_codec_u32(codec, counts[i]);
    bk_codec_u64(codec, &idgen->draws);
    lock_of(codec, idgen);
    check(codec, idgen);
}

size_t bk_idgen_state_size(const struct bk_idgen *idgen)
{
    if (idgen == NULL)
        return 0;
    struct bk_codec codec = {.mode = BK_CODEC_MEASURE};
    struct bk_idgen copy = *idgen;
    whole(&codec, &copy);
    return codec.at;
}

enum bk_status bk_idgen_save(const struct bk_idgen *idgen, void *state, size_t size)
{
    if (idgen == NULL || state == NULL)
        return BK_ERROR_NULL;
    if (size < bk_idgen_state_size(idgen))
        return BK_ERROR_MEMORY;
    struct bk_codec codec = {.mode = BK_CODEC_WRITE, .out = state, .size = size};
    struct bk_idgen copy = *idgen;
    whole(&codec, &copy);
    return BK_OK;
}

enum bk_status bk_idgen_load(const struct bk_idgen_config *config, const void *state, size_t size,
                             struct bk_idgen *out)
{
    struct bk_idgen loaded;
    if (state == NULL || out == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_idgen_init(config, &loaded);
    if (status != BK_OK)
        return status;
    struct bk_codec codec = {.mode = BK_CODEC_READ, .in = state, .size = size};
    whole(&codec, &loaded);
    if (codec.is_wrong || codec.at != size)
        return BK_ERROR_CHECKPOINT;
    memcpy(out, &loaded, sizeof loaded);
    return BK_OK;
}
