/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario's YAML as a tree of scalars, lists and mappings, with the place of every value.
 *
 * Anchors, aliases, tags, merge keys and further documents are refused, so that a small file cannot make a
 * large tree; depth and number of values are limited. A value may also come from a --set argument, which is
 * then its place. The nodes live as long as the tree. */
#ifndef LAB_SCENARIO_TREE_H
#define LAB_SCENARIO_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"

enum lab_node_kind { LAB_NODE_SCALAR, LAB_NODE_LIST, LAB_NODE_MAPPING };

struct lab_place {
    const char *argument; /* "PATH=VALUE" of a --set; NULL: the file */
    int line, column;     /* from 1; line 0: not known */
};

struct lab_node {
    enum lab_node_kind kind;
    bool is_empty;          /* the value is missing */
    bool is_null;           /* an unquoted null or ~, which means that the field is absent */
    struct lab_place place; /* place of the value */
    struct lab_place name_place;
    const char *name; /* name of the field; for an element, that of its list; "" for the top node */
    const char *text; /* text of a scalar, in UTF-8 */
    size_t count;     /* number of children */
    struct lab_node *first, *last, *next;
};

struct lab_tree {
    const char *path; /* for messages */
    struct sim_error *error;
    struct lab_chunk *chunks;
    size_t node_count;
};

/* Reads one document. `name`: name of the top node. `argument`: as in struct lab_place. The caller must clear
 * the tree even after a failure. */
bool lab_tree_read(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                   const char *name, struct lab_node **out);
/* scenario_plain.c: as lab_tree_read(), for a common subset of YAML. Returns false, without an error, when
 * the text is not within the subset, and true otherwise; when out of memory the error is set and *out is
 * NULL. */
bool lab_tree_read_plain(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                         const char *name, struct lab_node **out);
#define LAB_TREE_DEPTH_MAX  32
#define LAB_TREE_FIELDS_MAX 500 /* fields of a mapping */
/* Counts one more value; false when there are too many. */
bool lab_tree_count(struct lab_tree *tree);
void lab_tree_clear(struct lab_tree *tree);

/* The field with this name; NULL when it is absent or null. */
struct lab_node *lab_node_find(const struct lab_node *mapping, const char *name);
/* Makes an empty mapping; NULL, with the error set, when out of memory. name is not copied. */
struct lab_node *lab_tree_mapping(struct lab_tree *tree, const struct lab_place *place, const char *name);
/* Copies `size` bytes of text to a string that the tree owns; NULL, with the error set, when out of
 * memory. */
const char *lab_tree_text(struct lab_tree *tree, const char *text, size_t size);
void lab_node_append(struct lab_node *parent, struct lab_node *child);

/* Fills the tree's error with "place: text" and returns false. */
bool lab_fail_at(const struct lab_tree *tree, const struct lab_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Formats a place as "line 12" or "--set a=b", for the middle of a message. buffer must have LAB_PLACE_SIZE
 * bytes. */
#define LAB_PLACE_SIZE 64
const char *lab_place_text(const struct lab_place *place, char *buffer);

/* Writes the beginning of a text for a message, truncated between two characters, with control characters
 * replaced by '?'. Returns buffer, which must have LAB_SHOWN_SIZE bytes. */
#define LAB_SHOWN_SIZE 44
const char *lab_show(const char *text, char *buffer);
/* Whether a code point may move a terminal's cursor: C0, DEL, C1, and Unicode's line and paragraph
 * separators. */
bool lab_is_control(unsigned code);
#endif
