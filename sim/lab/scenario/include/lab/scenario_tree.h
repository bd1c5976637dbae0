/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario's YAML as a tree that keeps the place of every value: plain scalars, lists and mappings alone.
 *
 * Anchors, aliases, tags, merge keys and further documents are refused, so that a small file is a small tree;
 * depth and number of values are bounded. A value may also come from a --set argument; its place is then that
 * argument. The nodes live as long as the tree. */
#ifndef LAB_SCENARIO_TREE_H
#define LAB_SCENARIO_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"

enum lab_node_kind { LAB_NODE_SCALAR, LAB_NODE_LIST, LAB_NODE_MAPPING };

struct lab_place {
    const char *argument; /* "PATH=VALUE" of a --set; NULL: the file */
    int line, column;     /* from 1; line 0: none is known */
};

struct lab_node {
    enum lab_node_kind kind;
    bool is_empty;          /* nothing is written where a value belongs */
    bool is_null;           /* an unquoted null or ~: as if the field were left out */
    struct lab_place place; /* of the value */
    struct lab_place name_place;
    const char *name; /* of the field; of a list's elements the list's; "" at the top */
    const char *text; /* of a scalar, UTF-8 */
    size_t count;     /* of children */
    struct lab_node *first, *last, *next;
};

struct lab_tree {
    const char *path; /* for messages */
    struct sim_error *error;
    struct lab_chunk *chunks;
    size_t node_count;
};

/* Reads one document; `name` is the top node's. `argument` as in lab_place. On failure the tree may hold
 * stray nodes, and must still be cleared. */
bool lab_tree_read(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                   const char *name, struct lab_node **out);
/* scenario_plain.c: the same of what is plain. False, with no error and nothing read, of anything else; true
 * when out of memory, with the error set and *out NULL. */
bool lab_tree_read_plain(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                         const char *name, struct lab_node **out);
#define LAB_TREE_DEPTH_MAX  32
#define LAB_TREE_FIELDS_MAX 500 /* of a mapping */
/* One more value is read; false when there are too many. */
bool lab_tree_count(struct lab_tree *tree);
void lab_tree_clear(struct lab_tree *tree);

/* The field of that name, or NULL; also NULL when it is null. */
struct lab_node *lab_node_find(const struct lab_node *mapping, const char *name);
/* New empty mapping; NULL (and the error set) when out of memory. name is kept, not copied. */
struct lab_node *lab_tree_mapping(struct lab_tree *tree, const struct lab_place *place, const char *name);
/* size bytes of text as a string of the tree's; NULL (and the error set) when out of memory. */
const char *lab_tree_text(struct lab_tree *tree, const char *text, size_t size);
void lab_node_append(struct lab_node *parent, struct lab_node *child);

/* Fills the tree's error with "place: text" and returns false. */
bool lab_fail_at(const struct lab_tree *tree, const struct lab_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "line 12" or "--set a=b", for a second place within a text. buffer holds LAB_PLACE_SIZE. */
#define LAB_PLACE_SIZE 64
const char *lab_place_text(const struct lab_place *place, char *buffer);

/* The beginning of a text for a message, cut between characters, control characters as '?'; returns buffer,
 * which holds LAB_SHOWN_SIZE. */
#define LAB_SHOWN_SIZE 44
const char *lab_show(const char *text, char *buffer);
/* What may move a terminal's cursor: C0, DEL, C1, and the two separators of Unicode. */
bool lab_is_control(unsigned code);
#endif
