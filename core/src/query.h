/* SPDX-License-Identifier: MIT */
#ifndef BUCKETING_QUERY_PRIVATE_H
#define BUCKETING_QUERY_PRIVATE_H

#include <string.h>

#include "bucketing/read.h"

/* For the newest rows, and nothing else asked. */
static inline struct bk_query bk_query_latest(int64_t now_ns, int64_t birth_ns, uint64_t rows,
                                              enum bk_plan plan)
{
    struct bk_query query;
    memset(&query, 0, sizeof query);
    query.kind = BK_QUERY_LATEST;
    query.plan = plan;
    query.rows = rows;
    query.now_ns = now_ns;
    query.birth_ns = birth_ns;
    return query;
}

#endif
