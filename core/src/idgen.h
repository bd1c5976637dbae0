/* SPDX-License-Identifier: MIT */
/* Internals of a client that leases identifiers. */
#ifndef BUCKETING_IDGEN_PRIVATE_H
#define BUCKETING_IDGEN_PRIVATE_H

#include "bucketing/idgen.h"

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

void bk_idgen_go(struct bk_idgen *idgen, enum bk_idgen_step step);
/* Repeats the action; false when no retries are left. */
bool bk_idgen_again(struct bk_idgen *idgen);
/* now_ns + span_ns, saturating at the last valid time. */
int64_t bk_idgen_saturating_add(int64_t now_ns, int64_t span_ns);

/* idgen_lock.c: acquiring the lock, and releasing it. */
void bk_idgen_attempt(struct bk_idgen *idgen, int64_t now_ns);
/* Handles the outcome of IDGEN_WRITE_COLUMN, IDGEN_READ_COLUMNS, IDGEN_LOCK and IDGEN_RELEASE. */
void bk_idgen_lock_outcome(struct bk_idgen *idgen, int64_t now_ns, const struct bk_idgen_outcome *outcome);
void bk_idgen_release(struct bk_idgen *idgen, enum bk_idgen_after after);
void bk_idgen_fail(struct bk_idgen *idgen, enum bk_status status);
void bk_idgen_lock_fill(const struct bk_idgen *idgen, struct bk_idgen_action *out);

#endif
