/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growing text of CQL. */
#ifndef LAB_CQL_TEXT_H
#define LAB_CQL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The text; zeroed at first. After running out of memory it is not changed any more. */
struct lab_cql_text {
    char *bytes; /* with a final NUL; NULL while empty */
    size_t size, capacity;
    bool out_of_memory;
};

/* Appends a piece of text. */
void lab_cql_add(struct lab_cql_text *text, const char *piece);
/* Appends an identifier of two parts, quoted if CQL requires it. `second` may be "". */
void lab_cql_name(struct lab_cql_text *text, const char *first, const char *second);

#endif
