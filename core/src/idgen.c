/* SPDX-License-Identifier: MIT */
/* The public functions of the client, and the lease of a batch while the lock is held. */
#include "idgen.h"

#include <string.h>

enum bk_status bk_idgen_check(const struct bk_idgen_config *config)
{
    if (config == NULL)
        return BK_ERROR_NULL;
    if (config->client_id == 0)
        return BK_ERROR_CLIENT;
    if (config->batch < 1)
        return BK_ERROR_BATCH;
    if (config->stripes < 1 || config->stripes > BK_IDGEN_STRIPES_MAX ||
        (unsigned)config->choice > BK_IDGEN_RANDOM)
        return BK_ERROR_STRIPE;
    if (config->choice != BK_IDGEN_RANDOM && (config->stripe < 1 || config->stripe > config->stripes))
        return BK_ERROR_STRIPE;
    if ((unsigned)config->lock > BK_IDGEN_LOCK_LWT)
        return BK_ERROR_LOCK;
    if (config->lease_ns <= 0 || config->lease_ns >= config->lock_lasts_ns)
        return BK_ERROR_LEASE;
    int64_t base_ns = config->backoff_base_ns, cap_ns = config->backoff_cap_ns,
            limit_ns = config->backoff_limit_ns;
    if ((unsigned)config->backoff > BK_IDGEN_RANDOM_TIMES || base_ns <= 0 ||
        (cap_ns != 0 && cap_ns < base_ns) || (limit_ns != 0 && limit_ns < base_ns))
        return BK_ERROR_BACKOFF;
    return BK_OK;
}

enum bk_status bk_idgen_init(const struct bk_idgen_config *config, struct bk_idgen *out)
{
    enum bk_status status = out == NULL ? BK_ERROR_NULL : bk_idgen_check(config);
    if (status != BK_OK)
        return status;
    memset(out, 0, sizeof *out);
    out->config = *config;
    out->wake_ns = INT64_MAX;
    out->until_ns = INT64_MIN;
    return BK_OK;
}

enum bk_status bk_idgen_take(struct bk_idgen *idgen, int64_t now_ns, int64_t *id)
{
    if (id != NULL)
        *id = 0;
    if (idgen == NULL || id == NULL)
        return BK_ERROR_NULL;
    if (idgen->in_hand > 0) {
        *id = idgen->next;
        if (--idgen->in_hand > 0) /* otherwise `next` might overflow */
            idgen->next += idgen->config.stripes;
        return BK_OK;
    }
    idgen->is_failed_due = false;
    if (idgen->step == IDGEN_IDLE)
        bk_idgen_attempt(idgen, now_ns);
    idgen->is_wanted = true;
    return BK_ERROR_EMPTY;
}

/* If the clock was set back since the lock was requested, it is unknown whether the lease still lasts. */
static bool is_in_lease(const struct bk_idgen *idgen, int64_t now_ns)
{
    return now_ns >= idgen->begun_ns &&
           now_ns < bk_idgen_saturating_add(idgen->begun_ns, idgen->config.lease_ns);
}

/* Plans the store of the new last identifier, given the one that was read. The last batch of a stripe may be
 * shorter. */
static void plan(struct bk_idgen *idgen, int64_t now_ns)
{
    int64_t stripes = idgen->config.stripes;
    int64_t last = idgen->has_last ? idgen->last : (int64_t)idgen->stripe - stripes;
    if (idgen->has_last && (last < 1 || (last - (int64_t)idgen->stripe) % stripes != 0)) {
        bk_idgen_fail(idgen, BK_ERROR_LAST);
        return;
    }
    /* Without a last identifier, `last` may be negative, and INT64_MAX - last would overflow. */
    int64_t left =
        last < 0 ? (INT64_MAX - (int64_t)idgen->stripe) / stripes + 1 : (INT64_MAX - last) / stripes;
    int64_t batch = left < idgen->config.batch ? left : idgen->config.batch;
    if (batch == 0) {
        bk_idgen_fail(idgen, BK_ERROR_EXHAUSTED);
        return;
    }
    if (!is_in_lease(idgen, now_ns)) {
        bk_idgen_release(idgen, IDGEN_AFTER_WAIT);
        return;
    }
    idgen->stored = last + batch * stripes;
    bk_idgen_go(idgen, IDGEN_STORE);
}

static void read_last(struct bk_idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome)
{
    if (outcome->kind != BK_IDGEN_APPLIED) {
        if (!is_in_lease(idgen, now_ns) || !bk_idgen_again(idgen))
            bk_idgen_release(idgen, IDGEN_AFTER_WAIT);
        return;
    }
    idgen->has_last = outcome->found;
    idgen->last = outcome->values[0];
    plan(idgen, now_ns);
}

static void take_in_hand(struct bk_idgen *idgen)
{
    int64_t stripes = idgen->config.stripes;
    int64_t first = idgen->has_last ? idgen->last + stripes : (int64_t)idgen->stripe;
    idgen->next = first;
    idgen->in_hand = (uint64_t)((idgen->stored - first) / stripes) + 1;
    idgen->attempts = 0;
    idgen->is_wanted = false;
    idgen->is_ready_due = true;
}

static void stored(struct bk_idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome)
{
    bool is_fenced = idgen->config.lock == BK_IDGEN_LOCK_LWT;
    if (outcome->kind == BK_IDGEN_APPLIED && (is_fenced || is_in_lease(idgen, now_ns))) {
        take_in_hand(idgen);
        bk_idgen_release(idgen, IDGEN_AFTER_IDLE);
    } else if (outcome->kind == BK_IDGEN_NOT_APPLIED && is_fenced) {
        /* Another client, or an earlier try of this one, stored it. In either case this client does not have
         * those identifiers. */
        idgen->has_last = outcome->found;
        idgen->last = outcome->values[0];
        plan(idgen, now_ns);
    } else if (!is_in_lease(idgen, now_ns)) {
        /* The acknowledgement came too late: another client may hold the lock and may have read the last
         * identifier before this one was stored. */
        bk_idgen_release(idgen, IDGEN_AFTER_WAIT);
    } else if (is_fenced && outcome->kind == BK_IDGEN_UNKNOWN) {
        bk_idgen_go(idgen, IDGEN_READ_LAST);
    } else if (!bk_idgen_again(idgen)) {
        bk_idgen_release(idgen, IDGEN_AFTER_WAIT);
    }
}

enum bk_status bk_idgen_outcome(struct bk_idgen *idgen, int64_t now_ns,
                                const struct bk_idgen_outcome *outcome)
{
    if (idgen == NULL || outcome == NULL)
        return BK_ERROR_NULL;
    if (!idgen->is_waiting)
        return BK_ERROR_OPERATION;
    idgen->is_waiting = false;
    switch ((enum bk_idgen_step)idgen->step) {
    case IDGEN_READ_LAST:
        read_last(idgen, now_ns, outcome);
        break;
    case IDGEN_STORE:
        stored(idgen, now_ns, outcome);
        break;
    case IDGEN_IDLE:
    case IDGEN_SLEEP:
    case IDGEN_WRITE_COLUMN:
    case IDGEN_READ_COLUMNS:
    case IDGEN_LOCK:
    case IDGEN_RELEASE:
        bk_idgen_lock_outcome(idgen, now_ns, outcome);
        break;
    }
    return BK_OK;
}

bool bk_idgen_next(struct bk_idgen *idgen, struct bk_idgen_action *out)
{
    if (idgen == NULL || out == NULL || !(idgen->is_ready_due || idgen->is_failed_due || idgen->is_to_ask))
        return false;
    memset(out, 0, sizeof *out);
    out->stripe = idgen->stripe;
    if (idgen->is_ready_due || idgen->is_failed_due) {
        out->kind = idgen->is_ready_due ? BK_IDGEN_READY : BK_IDGEN_FAILED;
        out->status = idgen->is_ready_due ? BK_OK : idgen->status;
        idgen->is_ready_due = idgen->is_failed_due = false;
        return true;
    }
    idgen->is_to_ask = false;
    idgen->is_waiting = true;
    out->is_retry = idgen->is_retry;
    if (idgen->step == IDGEN_READ_LAST) {
        out->kind = BK_IDGEN_READ_LAST;
    } else if (idgen->step == IDGEN_STORE) {
        out->kind = idgen->config.lock == BK_IDGEN_LOCK_LWT ? BK_IDGEN_CAS_LAST : BK_IDGEN_WRITE_LAST;
        out->if_absent = out->kind == BK_IDGEN_CAS_LAST && !idgen->has_last;
        out->expected[0] = idgen->has_last ? idgen->last : 0;
        out->set[0] = idgen->stored;
    } else {
        bk_idgen_lock_fill(idgen, out);
    }
    return true;
}

int64_t bk_idgen_deadline(const struct bk_idgen *idgen)
{
    return idgen == NULL ? INT64_MAX : idgen->wake_ns;
}

enum bk_status bk_idgen_tick(struct bk_idgen *idgen, int64_t now_ns)
{
    if (idgen == NULL)
        return BK_ERROR_NULL;
    if (idgen->step == IDGEN_SLEEP && now_ns >= idgen->wake_ns)
        bk_idgen_attempt(idgen, now_ns);
    return BK_OK;
}

uint64_t bk_idgen_in_hand(const struct bk_idgen *idgen)
{
    return idgen == NULL ? 0 : idgen->in_hand;
}

void bk_idgen_go(struct bk_idgen *idgen, enum bk_idgen_step step)
{
    idgen->step = (int)step;
    idgen->is_to_ask = true;
    idgen->is_retry = false;
    idgen->tries = 0;
}

bool bk_idgen_again(struct bk_idgen *idgen)
{
    if (idgen->tries >= idgen->config.retries)
        return false;
    idgen->tries++;
    idgen->is_retry = idgen->is_to_ask = true;
    return true;
}

int64_t bk_idgen_saturating_add(int64_t now_ns, int64_t span_ns)
{
    return now_ns > INT64_MAX - span_ns ? INT64_MAX : now_ns + span_ns;
}
