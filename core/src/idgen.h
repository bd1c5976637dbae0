/* SPDX-License-Identifier: MIT */
/* The inside of a client that leases identifiers. */
#ifndef BUCKETING_IDGEN_PRIVATE_H
#define BUCKETING_IDGEN_PRIVATE_H

#include "bucketing/idgen.h"

/* What the client waits for, or is about to ask. */
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

/* What comes when the lock has been given back. */
enum bk_idgen_after {
    IDGEN_AFTER_IDLE, /* the batch is in hand */
    IDGEN_AFTER_WAIT, /* the attempt was in vain */
    IDGEN_AFTER_FAIL
};

void bk_idgen_go(struct bk_idgen *idgen, enum bk_idgen_step step);
/* The same action once more, unless it was tried often enough: then false. */
bool bk_idgen_again(struct bk_idgen *idgen);
/* now + span, or the last time that is one. */
int64_t bk_idgen_saturating_add(int64_t now_ns, int64_t span_ns);

/* idgen_lock.c: from an attempt at the lock until it is held, and its release. */
void bk_idgen_attempt(struct bk_idgen *idgen, int64_t now_ns);
/* The outcome of IDGEN_WRITE_COLUMN, IDGEN_READ_COLUMNS, IDGEN_LOCK and IDGEN_RELEASE. */
void bk_idgen_lock_outcome(struct bk_idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome);
void bk_idgen_release(struct bk_idgen *idgen, enum bk_idgen_after after);
void bk_idgen_fail(struct bk_idgen *idgen, enum bk_status status);
void bk_idgen_lock_fill(const struct bk_idgen *idgen, struct bk_idgen_action *out);

#endif
