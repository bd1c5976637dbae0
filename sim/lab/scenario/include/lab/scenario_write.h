/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tree as YAML again, and the growing text that it is written to. */
#ifndef LAB_SCENARIO_WRITE_H
#define LAB_SCENARIO_WRITE_H

#include "lab/scenario_tree.h"

/* Zeroed at first. Once memory is out nothing is added any more. */
struct lab_writer {
    char *text; /* terminated, unless nothing was added yet */
    size_t size, capacity;
    bool out_of_memory;
};

void lab_writer_add(struct lab_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A value on one line, lists and mappings in brackets. */
void lab_writer_add_flow(struct lab_writer *writer, const struct lab_node *node);
/* The text, the caller's; NULL when out of memory. The writer is empty again. */
char *lab_writer_take(struct lab_writer *writer);

/* The top node, a mapping: a line per field, or an element of its lists, as long as it fits. What is read
 * back is the same tree, except for places. malloc'ed; NULL when out of memory. */
char *lab_tree_write(const struct lab_node *root);

#endif
