/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a tree as YAML, and a growing text buffer for it. */
#ifndef LAB_SCENARIO_WRITE_H
#define LAB_SCENARIO_WRITE_H

#include "lab/scenario_tree.h"

/* A growing text; zeroed at first. After running out of memory nothing more is added. */
struct lab_writer {
    char *text; /* with a final NUL; NULL if nothing was added yet */
    size_t size, capacity;
    bool out_of_memory;
};

void lab_writer_add(struct lab_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a value in flow style: on one line, with lists and mappings in brackets. */
void lab_writer_add_flow(struct lab_writer *writer, const struct lab_node *node);
/* Returns the text, which the caller must free, and empties the writer; NULL when out of memory. */
char *lab_writer_take(struct lab_writer *writer);

/* Writes the top node, a mapping, with one line per field or element of a list if it fits into the line.
 * Parsing the text gives the same tree, except for places. The caller must free the text; NULL when out of
 * memory. */
char *lab_tree_write(const struct lab_node *root);

#endif
