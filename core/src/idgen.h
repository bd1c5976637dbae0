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

#endif
