/* SPDX-License-Identifier: MIT */
/* The headers of libbucketing: api.h (the version), status.h, hash.h, id.h (random bits of ids); strategy.h
 * (settings), setting.h (settings as text), route.h (the bucket of a row), read.h (the partitions that a read
 * queries), history.h (settings that change); agent.h (a process that shares its keys with others). idgen.h
 * (identifiers) is a library of its own. The library links nothing but libc, allocates nothing and has no
 * global state. It may be called from any thread as long as no two threads share a struct that one of them
 * changes (see api.h, which also says which versions load which checkpoints). */
#ifndef BUCKETING_BUCKETING_H
#define BUCKETING_BUCKETING_H

#include "bucketing/agent.h"
#include "bucketing/api.h"
#include "bucketing/hash.h"
#include "bucketing/history.h"
#include "bucketing/id.h"
#include "bucketing/read.h"
#include "bucketing/route.h"
#include "bucketing/setting.h"
#include "bucketing/status.h"
#include "bucketing/strategy.h"

#endif
