/* SPDX-License-Identifier: MIT */
/* The lock around a lease, as a row of columns or as a row with conditional updates, and the waits between
 * attempts. */
#include "idgen.h"

#include "bucketing/hash.h"

/* After losing a free lock to other clients this many times in a row, the client waits before it tries
 * again. */
#define RACES_MAX 8u
/* The purposes of pseudorandom draws. */
enum { DRAW_STRIPE, DRAW_WAIT };

static uint64_t draw(const struct bk_idgen *idgen, uint64_t what)
{
    return bk_murmur3_128_u64(bk_murmur3_128_u64(idgen->config.client_id).h1 ^ (idgen->draws << 1 | what)).h1;
}

static uint32_t choose_stripe(const struct bk_idgen *idgen)
{
    const struct bk_idgen_config *config = &idgen->config;
    if (config->choice == BK_IDGEN_RANDOM)
        return (uint32_t)(draw(idgen, DRAW_STRIPE) % config->stripes) + 1;
    uint64_t turns = config->choice == BK_IDGEN_ROTATE ? idgen->draws : 0;
    return (uint32_t)((config->stripe - 1 + turns % config->stripes) % config->stripes) + 1;
}

void bk_idgen_attempt(struct bk_idgen *idgen, int64_t now_ns)
{
    idgen->stripe = choose_stripe(idgen);
    idgen->draws++;
    idgen->attempts += idgen->attempts < UINT32_MAX;
    idgen->races = 0;
    idgen->wake_ns = INT64_MAX;
    idgen->begun_ns = now_ns;
    /* The end of the lock is also the column's timestamp, so it increases with each attempt, whatever the
     * clock does. */
    int64_t until_ns = bk_idgen_saturating_add(now_ns, idgen->config.lock_lasts_ns);
    idgen->until_ns = until_ns > idgen->until_ns ? until_ns : bk_idgen_saturating_add(idgen->until_ns, 1);
    idgen->lock[0] = idgen->lock[1] = 0;
    idgen->lock_is_absent = false;
    idgen->columns[0] = (struct bk_idgen_column){idgen->config.client_id, idgen->until_ns};
    idgen->column_count = 1;
    bk_idgen_go(idgen, idgen->config.lock == BK_IDGEN_LOCK_LWT ? IDGEN_LOCK : IDGEN_WRITE_COLUMN);
}

/* This client has the lock if its column is the only one that is not stale. Stale columns are deleted
 * together with this client's column. */
static void look_at_columns(struct bk_idgen *idgen, const struct bk_idgen_outcome *outcome)
{
    bool is_there = false, is_alone = true;
    for (size_t i = 0; i < outcome->column_count; i++) {
        const struct bk_idgen_column *column = &outcome->columns[i];
        if (column->client == idgen->config.client_id)
            is_there = column->until_ns == idgen->until_ns; /* otherwise an older column has a higher
                                                               timestamp, because the clock was set back */
        else if (column->until_ns >= idgen->begun_ns)
            is_alone = false;
        else if (idgen->column_count < BK_IDGEN_COLUMNS_MAX)
            idgen->columns[idgen->column_count++] = *column;
    }
    if (is_there && is_alone)
        bk_idgen_go(idgen, IDGEN_READ_LAST);
    else
        bk_idgen_release(idgen, IDGEN_AFTER_WAIT);
}

static int64_t times(int64_t span_ns, uint64_t factor)
{
    return factor > (uint64_t)(INT64_MAX / span_ns) ? INT64_MAX : span_ns * (int64_t)factor;
}

static int64_t wait_of(struct bk_idgen *idgen)
{
    const struct bk_idgen_config *config = &idgen->config;
    int64_t base_ns = config->backoff_base_ns, cap_ns = config->backoff_cap_ns;
    if (config->backoff == BK_IDGEN_CONSTANT)
        return base_ns;
    if (config->backoff == BK_IDGEN_RANDOM_TIMES) {
        /* A loaded state may not have a first wait. */
        if (idgen->attempts == 1 || idgen->first_wait_ns == 0)
            idgen->first_wait_ns = 1 + (int64_t)(draw(idgen, DRAW_WAIT) % (uint64_t)base_ns);
        return times(idgen->first_wait_ns, idgen->attempts);
    }
    int64_t wait_ns =
        times(base_ns, idgen->attempts > 62 ? UINT64_C(1) << 62 : UINT64_C(1) << (idgen->attempts - 1));
    return cap_ns != 0 && wait_ns > cap_ns ? cap_ns : wait_ns;
}

static void back_off(struct bk_idgen *idgen, int64_t now_ns)
{
    const struct bk_idgen_config *config = &idgen->config;
    int64_t wait_ns = wait_of(idgen);
    bool is_over = (config->attempts != 0 && idgen->attempts >= config->attempts) ||
                   (config->backoff_limit_ns != 0 && wait_ns > config->backoff_limit_ns);
    if (is_over) {
        idgen->step = IDGEN_IDLE;
        idgen->status = BK_ERROR_CONTENDED;
        idgen->attempts = 0;
        idgen->is_wanted = false;
        idgen->is_failed_due = true;
        return;
    }
    idgen->step = IDGEN_SLEEP;
    idgen->wake_ns = bk_idgen_saturating_add(now_ns, wait_ns);
}

static void lock_denied(struct bk_idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome)
{
    int64_t owner = outcome->found ? outcome->values[0] : 0,
            until_ns = outcome->found ? outcome->values[1] : 0;
    /* This client's own lock of an earlier attempt, whose release was lost, is taken over like an expired
     * one. */
    bool is_own = owner == (int64_t)idgen->config.client_id;
    if (is_own && until_ns == idgen->until_ns) {
        bk_idgen_go(idgen, IDGEN_READ_LAST); /* taken by an earlier try whose outcome was unknown */
        return;
    }
    bool is_held = owner != 0 && !is_own && until_ns >= idgen->begun_ns;
    if (is_held || ++idgen->races >= RACES_MAX) {
        back_off(idgen, now_ns); /* there is no lock to release */
        return;
    }
    idgen->lock[0] = owner;
    idgen->lock[1] = until_ns;
    idgen->lock_is_absent = !outcome->found;
    bk_idgen_go(idgen, IDGEN_LOCK);
}

static void released(struct bk_idgen *idgen, int64_t now_ns)
{
    idgen->step = IDGEN_IDLE;
    if (idgen->after == IDGEN_AFTER_WAIT) {
        back_off(idgen, now_ns);
    } else if (idgen->after == IDGEN_AFTER_FAIL) {
        idgen->attempts = 0;
        idgen->is_wanted = false;
        idgen->is_failed_due = true;
    } else if (idgen->is_wanted) {
        bk_idgen_attempt(idgen, now_ns);
    }
}

void bk_idgen_lock_outcome(struct bk_idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome)
{
    bool is_applied = outcome->kind == BK_IDGEN_APPLIED;
    switch ((enum bk_idgen_step)idgen->step) {
    case IDGEN_WRITE_COLUMN:
        /* A column that may not have been written does not exclude other clients, so the attempt failed. */
        if (is_applied)
            bk_idgen_go(idgen, IDGEN_READ_COLUMNS);
        else if (!bk_idgen_again(idgen))
            bk_idgen_release(idgen, IDGEN_AFTER_WAIT);
        break;
    case IDGEN_READ_COLUMNS:
        if (is_applied)
            look_at_columns(idgen, outcome);
        else if (!bk_idgen_again(idgen))
            bk_idgen_release(idgen, IDGEN_AFTER_WAIT);
        break;
    case IDGEN_LOCK:
        if (is_applied)
            bk_idgen_go(idgen, IDGEN_READ_LAST);
        else if (outcome->kind == BK_IDGEN_NOT_APPLIED)
            lock_denied(idgen, now_ns, outcome);
        else if (!bk_idgen_again(idgen))
            bk_idgen_release(idgen, IDGEN_AFTER_WAIT);
        break;
    case IDGEN_RELEASE: /* a lock that could not be released expires */
        if (is_applied || outcome->kind == BK_IDGEN_NOT_APPLIED || !bk_idgen_again(idgen))
            released(idgen, now_ns);
        break;
    case IDGEN_IDLE:
    case IDGEN_SLEEP:
    case IDGEN_READ_LAST: /* idgen.c handles these two steps, for which the lock is held */
    case IDGEN_STORE:
        break;
    }
}

void bk_idgen_release(struct bk_idgen *idgen, enum bk_idgen_after after)
{
    idgen->after = (int)after;
    bk_idgen_go(idgen, IDGEN_RELEASE);
}

void bk_idgen_fail(struct bk_idgen *idgen, enum bk_status status)
{
    idgen->status = status;
    bk_idgen_release(idgen, IDGEN_AFTER_FAIL);
}

void bk_idgen_lock_fill(const struct bk_idgen *idgen, struct bk_idgen_action *out)
{
    bool is_release = idgen->step == IDGEN_RELEASE;
    if (idgen->config.lock == BK_IDGEN_LOCK_LWT) {
        int64_t owner = (int64_t)idgen->config.client_id;
        out->kind = BK_IDGEN_CAS_LOCK;
        out->if_absent = !is_release && idgen->lock_is_absent;
        out->expected[0] = is_release ? owner : idgen->lock[0];
        out->expected[1] = is_release ? idgen->until_ns : idgen->lock[1];
        out->set[0] = is_release ? 0 : owner;
        out->set[1] = is_release ? 0 : idgen->until_ns;
        return;
    }
    out->kind = is_release                          ? BK_IDGEN_DELETE_COLUMNS
                : idgen->step == IDGEN_WRITE_COLUMN ? BK_IDGEN_WRITE_COLUMN
                                                    : BK_IDGEN_READ_COLUMNS;
    out->column_count = out->kind == BK_IDGEN_READ_COLUMNS ? 0 : idgen->column_count;
    for (uint32_t i = 0; i < out->column_count; i++)
        out->columns[i] = idgen->columns[i];
}
