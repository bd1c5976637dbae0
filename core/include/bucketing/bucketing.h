/* SPDX-License-Identifier: MIT */
/* All of libbucketing: api.h (the version), status.h, hash.h, id.h (random bits of ids); strategy.h
 * (settings), setting.h (settings as a text), route.h (where a row goes), read.h (which partitions a read
 * queries), history.h (settings that change); agent.h (a process that shares its keys), idgen.h
 * (identifiers). It links nothing but libc, allocates nothing, keeps no state of its own, and may be called
 * from any thread as long as two do not share a struct that one of them changes (api.h, which also says which
 * versions read which checkpoints).
 */
#ifndef BUCKETING_BUCKETING_H
#define BUCKETING_BUCKETING_H

#include "bucketing/agent.h"
#include "bucketing/api.h"
#include "bucketing/hash.h"
#include "bucketing/history.h"
#include "bucketing/id.h"
#include "bucketing/idgen.h"
#include "bucketing/read.h"
#include "bucketing/route.h"
#include "bucketing/setting.h"
#include "bucketing/status.h"
#include "bucketing/strategy.h"

#endif
