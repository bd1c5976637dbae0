/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of CREATE TABLE for rows that expire, and notes about them. */
#ifndef LAB_RETENTION_H
#define LAB_RETENTION_H

#include "cql_text.h"
#include "lab/scenario.h"

/* For a scenario with row.ttl: adds " AND default_time_to_live = ...", or WITH instead of AND when
 * is_first. */
void lab_retention_add(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                       bool is_first, struct lab_cql_text *text);
/* Adds notes as lines of at most 110 columns, each with its line break; nothing without row.ttl. */
void lab_retention_tell(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                        struct lab_cql_text *text);

#endif
