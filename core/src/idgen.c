/* SPDX-License-Identifier: MIT */
/* A client that leases identifiers: what it has under way, the lock around a lease, as a row of columns or as
 * a row with conditional updates, the waits between attempts, the lease itself, and checkpoints. */
#include <string.h>

#include "bucketing/hash.h"
#include "bucketing/idgen.h"
#include "bucketing/private/lab.h"
#include "codec.h"

/* The action that the client has under way, or will request next. */
enum bk_idgen_step {
    IDGEN_IDLE,
    IDGEN_SLEEP,
    IDGEN_WRITE_COLUMN,
    IDGEN_READ_COLUMNS,
    IDGEN_LOCK, /* compare and set */
    IDGEN_READ_LAST,
    IDGEN_STORE,
    IDGEN_RELEASE
};

/* What the client does after it has released the lock. */
enum bk_idgen_after {
    IDGEN_AFTER_IDLE, /* nothing: it has a batch */
    IDGEN_AFTER_WAIT, /* it waits: the attempt failed */
    IDGEN_AFTER_FAIL
};

/* The state of a client. It is in a struct bk_idgen, whose bytes a caller may copy but does not read. */
struct idgen {
    struct bk_idgen_config config;
    int64_t next;     /* the next identifier to hand out */
    uint64_t in_hand; /* number of identifiers left; consecutive ones differ by config.stripes */
    int step, after;
    uint64_t actions; /* the ticket of the last action that needs an outcome */
    bool is_to_ask, is_waiting, is_wanted, is_ready_due, is_failed_due, is_retry;
    enum bk_status status;
    uint32_t stripe, attempts, tries, races;
    uint64_t draws;
    int64_t begun_ns, until_ns, wake_ns;
    int64_t first_wait_ns;
    bool lock_is_absent, has_last;
    int64_t lock[2];
    int64_t last, stored;
    uint32_t column_count;
    struct bk_idgen_column columns[BK_IDGEN_COLUMNS_MAX];
};
enum {
    IDGEN_FITS = 1 / (sizeof(struct idgen) <= sizeof(struct bk_idgen))
}; /* otherwise it does not compile */

static struct idgen *inside(const struct bk_idgen *client)
{
    return (struct idgen *)(uintptr_t)(const void *)client;
}

/* After losing a free lock to other clients this many times in a row, the client waits before it tries
 * again. */
#define RACES_MAX 8u
/* The purposes of pseudorandom draws. */
enum { DRAW_STRIPE, DRAW_WAIT };

static uint64_t draw(const struct idgen *idgen, uint64_t what)
{
    return bk_murmur3_128_u64(bk_murmur3_128_u64(idgen->config.client_id).h1 ^ (idgen->draws << 1 | what)).h1;
}

static uint32_t choose_stripe(const struct idgen *idgen)
{
    const struct bk_idgen_config *config = &idgen->config;
    if (config->choice == BK_IDGEN_RANDOM)
        return (uint32_t)(draw(idgen, DRAW_STRIPE) % config->stripes) + 1;
    uint64_t turns = config->choice == BK_IDGEN_ROTATE ? idgen->draws : 0;
    return (uint32_t)((config->stripe - 1 + turns % config->stripes) % config->stripes) + 1;
}

/* now_ns + span_ns, saturating at the last valid time. */
static int64_t saturating_add(int64_t now_ns, int64_t span_ns)
{
    return now_ns > INT64_MAX - span_ns ? INT64_MAX : now_ns + span_ns;
}

static void go(struct idgen *idgen, enum bk_idgen_step step)
{
    idgen->step = (int)step;
    idgen->is_to_ask = true;
    idgen->is_retry = false;
    idgen->tries = 0;
}

static void attempt(struct idgen *idgen, int64_t now_ns)
{
    idgen->stripe = choose_stripe(idgen);
    idgen->draws++;
    idgen->attempts += idgen->attempts < UINT32_MAX;
    idgen->races = 0;
    idgen->wake_ns = INT64_MAX;
    idgen->begun_ns = now_ns;
    /* The end of the lock is also the column's timestamp, so it increases with each attempt, whatever the
     * clock does. */
    int64_t until_ns = saturating_add(now_ns, idgen->config.lock_lasts_ns);
    idgen->until_ns = until_ns > idgen->until_ns ? until_ns : saturating_add(idgen->until_ns, 1);
    idgen->lock[0] = idgen->lock[1] = 0;
    idgen->lock_is_absent = false;
    idgen->columns[0] = (struct bk_idgen_column){idgen->config.client_id, idgen->until_ns};
    idgen->column_count = 1;
    go(idgen, idgen->config.lock == BK_IDGEN_LOCK_LWT ? IDGEN_LOCK : IDGEN_WRITE_COLUMN);
}

static void release(struct idgen *idgen, enum bk_idgen_after after)
{
    idgen->after = (int)after;
    go(idgen, IDGEN_RELEASE);
}

/* This client has the lock if its column is the only one that is not stale. Stale columns are deleted
 * together with this client's column. */
static void look_at_columns(struct idgen *idgen, const struct bk_idgen_outcome *outcome)
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
        go(idgen, IDGEN_READ_LAST);
    else
        release(idgen, IDGEN_AFTER_WAIT);
}

static int64_t times(int64_t span_ns, uint64_t factor)
{
    return factor > (uint64_t)(INT64_MAX / span_ns) ? INT64_MAX : span_ns * (int64_t)factor;
}

static int64_t wait_of(struct idgen *idgen)
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

static void back_off(struct idgen *idgen, int64_t now_ns)
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
    idgen->wake_ns = saturating_add(now_ns, wait_ns);
}

static void lock_denied(struct idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome)
{
    int64_t owner = outcome->found ? outcome->values[0] : 0,
            until_ns = outcome->found ? outcome->values[1] : 0;
    /* This client's own lock of an earlier attempt, whose release was lost, is taken over like an expired
     * one. */
    bool is_own = owner == (int64_t)idgen->config.client_id;
    if (is_own && until_ns == idgen->until_ns) {
        go(idgen, IDGEN_READ_LAST); /* taken by an earlier try whose outcome was unknown */
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
    go(idgen, IDGEN_LOCK);
}

static void released(struct idgen *idgen, int64_t now_ns)
{
    idgen->step = IDGEN_IDLE;
    if (idgen->after == IDGEN_AFTER_WAIT) {
        back_off(idgen, now_ns);
    } else if (idgen->after == IDGEN_AFTER_FAIL) {
        idgen->attempts = 0;
        idgen->is_wanted = false;
        idgen->is_failed_due = true;
    } else if (idgen->is_wanted) {
        attempt(idgen, now_ns);
    }
}

/* Repeats the action; false when no retries are left. */
static bool again(struct idgen *idgen)
{
    if (idgen->tries >= idgen->config.retries)
        return false;
    idgen->tries++;
    idgen->is_retry = idgen->is_to_ask = true;
    return true;
}

static void fail(struct idgen *idgen, enum bk_status status)
{
    idgen->status = status;
    release(idgen, IDGEN_AFTER_FAIL);
}

static void fill_lock(const struct idgen *idgen, struct bk_idgen_action *out)
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

/* The public functions of the client, and the lease of a batch while the lock is held. */

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
    for (size_t i = 0; i < sizeof config->reserved / sizeof *config->reserved; i++) {
        if (config->reserved[i] != 0)
            return BK_ERROR_RESERVED;
    }
    return BK_OK;
}

enum bk_status bk_idgen_init(const struct bk_idgen_config *config, struct bk_idgen *out)
{
    struct idgen *idgen = inside(out);
    enum bk_status status = out == NULL ? BK_ERROR_NULL : bk_idgen_check(config);
    if (status != BK_OK)
        return status;
    memset(out, 0, sizeof *out);
    idgen->config = *config;
    idgen->wake_ns = INT64_MAX;
    idgen->until_ns = INT64_MIN;
    idgen->actions = bk_murmur3_128_u64(config->client_id).h1 >> 1;
    return BK_OK;
}

enum bk_status bk_idgen_take(struct bk_idgen *client, int64_t now_ns, int64_t *id)
{
    struct idgen *idgen = inside(client);
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
        attempt(idgen, now_ns);
    idgen->is_wanted = true;
    return BK_ERROR_EMPTY;
}

/* If the clock was set back since the lock was requested, it is unknown whether the lease still lasts. */
static bool is_in_lease(const struct idgen *idgen, int64_t now_ns)
{
    return now_ns >= idgen->begun_ns && now_ns < saturating_add(idgen->begun_ns, idgen->config.lease_ns);
}

/* Plans the store of the new last identifier, given the one that was read. The last batch of a stripe may be
 * shorter. */
static void plan(struct idgen *idgen, int64_t now_ns)
{
    int64_t stripes = idgen->config.stripes;
    int64_t last = idgen->has_last ? idgen->last : (int64_t)idgen->stripe - stripes;
    if (idgen->has_last && (last < 1 || (last - (int64_t)idgen->stripe) % stripes != 0)) {
        fail(idgen, BK_ERROR_LAST);
        return;
    }
    /* Without a last identifier, `last` may be negative, and INT64_MAX - last would overflow. */
    int64_t left =
        last < 0 ? (INT64_MAX - (int64_t)idgen->stripe) / stripes + 1 : (INT64_MAX - last) / stripes;
    int64_t batch = left < idgen->config.batch ? left : idgen->config.batch;
    if (batch == 0) {
        fail(idgen, BK_ERROR_EXHAUSTED);
        return;
    }
    if (!is_in_lease(idgen, now_ns)) {
        release(idgen, IDGEN_AFTER_WAIT);
        return;
    }
    idgen->stored = last + batch * stripes;
    go(idgen, IDGEN_STORE);
}

static void read_last(struct idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome)
{
    if (outcome->kind != BK_IDGEN_APPLIED) {
        if (!is_in_lease(idgen, now_ns) || !again(idgen))
            release(idgen, IDGEN_AFTER_WAIT);
        return;
    }
    idgen->has_last = outcome->found;
    idgen->last = outcome->values[0];
    plan(idgen, now_ns);
}

static void take_in_hand(struct idgen *idgen)
{
    int64_t stripes = idgen->config.stripes;
    int64_t first = idgen->has_last ? idgen->last + stripes : (int64_t)idgen->stripe;
    idgen->next = first;
    idgen->in_hand = (uint64_t)((idgen->stored - first) / stripes) + 1;
    idgen->attempts = 0;
    idgen->is_wanted = false;
    idgen->is_ready_due = true;
}

static void last_stored(struct idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome)
{
    bool is_fenced = idgen->config.lock == BK_IDGEN_LOCK_LWT;
    if (outcome->kind == BK_IDGEN_APPLIED && (is_fenced || is_in_lease(idgen, now_ns))) {
        take_in_hand(idgen);
        release(idgen, IDGEN_AFTER_IDLE);
    } else if (outcome->kind == BK_IDGEN_NOT_APPLIED && is_fenced) {
        /* Another client, or an earlier try of this one, stored it. In either case this client does not have
         * those identifiers. */
        idgen->has_last = outcome->found;
        idgen->last = outcome->values[0];
        plan(idgen, now_ns);
    } else if (!is_in_lease(idgen, now_ns)) {
        /* The acknowledgement came too late: another client may hold the lock and may have read the last
         * identifier before this one was stored. */
        release(idgen, IDGEN_AFTER_WAIT);
    } else if (is_fenced && outcome->kind == BK_IDGEN_UNKNOWN) {
        go(idgen, IDGEN_READ_LAST);
    } else if (!again(idgen)) {
        release(idgen, IDGEN_AFTER_WAIT);
    }
}

static void take_outcome(struct idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome)
{
    bool is_applied = outcome->kind == BK_IDGEN_APPLIED;
    switch ((enum bk_idgen_step)idgen->step) {
    case IDGEN_WRITE_COLUMN:
        /* A column that may not have been written does not exclude other clients, so the attempt failed. */
        if (is_applied)
            go(idgen, IDGEN_READ_COLUMNS);
        else if (!again(idgen))
            release(idgen, IDGEN_AFTER_WAIT);
        break;
    case IDGEN_READ_COLUMNS:
        if (is_applied)
            look_at_columns(idgen, outcome);
        else if (!again(idgen))
            release(idgen, IDGEN_AFTER_WAIT);
        break;
    case IDGEN_LOCK:
        if (is_applied)
            go(idgen, IDGEN_READ_LAST);
        else if (outcome->kind == BK_IDGEN_NOT_APPLIED)
            lock_denied(idgen, now_ns, outcome);
        else if (!again(idgen))
            release(idgen, IDGEN_AFTER_WAIT);
        break;
    case IDGEN_READ_LAST:
        read_last(idgen, now_ns, outcome);
        break;
    case IDGEN_STORE:
        last_stored(idgen, now_ns, outcome);
        break;
    case IDGEN_RELEASE: /* a lock that could not be released expires */
        if (is_applied || outcome->kind == BK_IDGEN_NOT_APPLIED || !again(idgen))
            released(idgen, now_ns);
        break;
    case IDGEN_IDLE:
    case IDGEN_SLEEP:
        break;
    }
}

enum bk_status bk_idgen_report(struct bk_idgen *client, int64_t now_ns, uint64_t ticket,
                               const struct bk_idgen_outcome *outcome)
{
    struct idgen *idgen = inside(client);
    if (idgen == NULL || outcome == NULL)
        return BK_ERROR_NULL;
    if (!idgen->is_waiting || ticket != idgen->actions)
        return BK_ERROR_OPERATION;
    if ((unsigned)outcome->kind > BK_IDGEN_REFUSED)
        return BK_ERROR_OUTCOME;
    idgen->is_waiting = false;
    take_outcome(idgen, now_ns, outcome);
    return BK_OK;
}

bool bk_idgen_next(struct bk_idgen *client, struct bk_idgen_action *out)
{
    struct idgen *idgen = inside(client);
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
    out->ticket = ++idgen->actions;
    out->is_retry = idgen->is_retry;
    if (idgen->step == IDGEN_READ_LAST) {
        out->kind = BK_IDGEN_READ_LAST;
    } else if (idgen->step == IDGEN_STORE) {
        out->kind = idgen->config.lock == BK_IDGEN_LOCK_LWT ? BK_IDGEN_CAS_LAST : BK_IDGEN_WRITE_LAST;
        out->if_absent = out->kind == BK_IDGEN_CAS_LAST && !idgen->has_last;
        out->expected[0] = idgen->has_last ? idgen->last : 0;
        out->set[0] = idgen->stored;
    } else {
        fill_lock(idgen, out);
    }
    return true;
}

int64_t bk_idgen_deadline(const struct bk_idgen *client)
{
    const struct idgen *idgen = inside(client);
    return idgen == NULL ? INT64_MAX : idgen->wake_ns;
}

enum bk_status bk_idgen_tick(struct bk_idgen *client, int64_t now_ns)
{
    struct idgen *idgen = inside(client);
    if (idgen == NULL)
        return BK_ERROR_NULL;
    if (idgen->step == IDGEN_SLEEP && now_ns >= idgen->wake_ns)
        attempt(idgen, now_ns);
    return BK_OK;
}

uint64_t bk_idgen_in_hand(const struct bk_idgen *client)
{
    const struct idgen *idgen = inside(client);
    return idgen == NULL ? 0 : idgen->in_hand;
}

uint64_t bk_idgen_attempts(const struct bk_idgen *client)
{
    return inside(client)->draws;
}

uint32_t bk_idgen_stale_columns(const struct bk_idgen *client)
{
    return inside(client)->column_count - 1;
}

/* Saves a client of identifiers as bytes and loads it. */

/* "bki" and the version of the layout. */
#define IDGEN_VERSION (UINT32_C(0x626b6900) | BK_IDGEN_LAYOUT)

static void same_idgen_config(struct bk_codec *codec, const struct bk_idgen_config *config)
{
    const uint64_t fields[] = {config->client_id, config->batch,  config->stripes,
                               config->stripe,    config->choice, config->lock};
    bk_codec_same(codec, fields, sizeof fields / sizeof *fields);
}

static void lock_of(struct bk_codec *codec, struct idgen *idgen)
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
static void check(struct bk_codec *codec, const struct idgen *idgen)
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

static void whole_idgen(struct bk_codec *codec, struct idgen *idgen)
{
    bk_codec_version(codec, IDGEN_VERSION);
    same_idgen_config(codec, &idgen->config);
    bk_codec_i64(codec, &idgen->next);
    bk_codec_u64(codec, &idgen->in_hand);
    idgen->step = (int)bk_codec_below(codec, (unsigned)idgen->step, IDGEN_RELEASE + 1);
    idgen->after = (int)bk_codec_below(codec, (unsigned)idgen->after, IDGEN_AFTER_FAIL + 1);
    bk_codec_u64(codec, &idgen->actions);
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

size_t bk_idgen_state_size(const struct bk_idgen *client)
{
    const struct idgen *idgen = inside(client);
    if (idgen == NULL)
        return 0;
    struct bk_codec codec = {.mode = BK_CODEC_MEASURE};
    struct idgen copy = *idgen;
    whole_idgen(&codec, &copy);
    return codec.at;
}

enum bk_status bk_idgen_save(const struct bk_idgen *client, void *state, size_t size)
{
    const struct idgen *idgen = inside(client);
    if (idgen == NULL || state == NULL)
        return BK_ERROR_NULL;
    if (size < bk_idgen_state_size(client))
        return BK_ERROR_MEMORY;
    struct bk_codec codec = {.mode = BK_CODEC_WRITE, .out = state, .size = size};
    struct idgen copy = *idgen;
    whole_idgen(&codec, &copy);
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
    whole_idgen(&codec, inside(&loaded));
    if (codec.is_wrong || codec.at != size)
        return BK_ERROR_CHECKPOINT;
    memcpy(out, &loaded, sizeof loaded);
    return BK_OK;
}
