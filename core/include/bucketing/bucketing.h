/* SPDX-License-Identifier: MIT */
/* All of libbucketing. */
#ifndef BUCKETING_BUCKETING_H
#define BUCKETING_BUCKETING_H

#include "bucketing/agent.h"
#include "bucketing/hash.h"
#include "bucketing/history.h"
#include "bucketing/idgen.h"
#include "bucketing/read.h"
#include "bucketing/route.h"
#include "bucketing/status.h"
#include "bucketing/strategy.h"

#endif
