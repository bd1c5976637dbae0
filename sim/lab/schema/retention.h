/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a table keeps rows that expire: the options of its CREATE TABLE, and what to know of them. */
#ifndef LAB_RETENTION_H
#define LAB_RETENTION_H

#include "cql_text.h"
#include "lab/scenario.h"

/* Adds " AND default_time_to_live = ..." (or WITH, where nothing stands before) of a scenario with row.ttl.
 */
void lab_retention_add(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                       bool is_first, struct lab_cql_text *text);
/* Lines of at most 110 columns, each ended; empty without row.ttl. */
void lab_retention_tell(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                        struct lab_cql_text *text);

#endif
