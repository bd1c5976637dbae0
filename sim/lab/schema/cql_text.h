/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growing text of CQL, and its identifiers. */
#ifndef LAB_CQL_TEXT_H
#define LAB_CQL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zeros are an empty text; once memory is out it stays as it is, and says so. */
struct lab_cql_text {
    char *bytes; /* ends with a zero byte; NULL while empty */
    size_t size, capacity;
    bool out_of_memory;
};

void lab_cql_add(struct lab_cql_text *text, const char *piece);
/* An identifier of two parts, in quotes when it would be another one, or none, without them; second may be
 * "". */
void lab_cql_name(struct lab_cql_text *text, const char *first, const char *second);

#endif
