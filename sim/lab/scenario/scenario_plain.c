/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a subset of YAML by recursive descent, in which generated scenarios, values of --set and most files
 * are written: block mappings and lists, flow collections within one line, plain scalars of ASCII, comments
 * on separate lines. Everything else, and every error, is left to the YAML library, which reports errors. */
#include <string.h>

#include "lab/scenario_tree.h"

struct plain {
    struct lab_tree *tree;
    const char *argument;
    const char *at, *end, *line_begin;
    int line;
    bool is_out_of_memory;
    int indent; /* column of the line's first character that is not a space; -1: there are no more lines */
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_inner(char c)
{
    return is_letter(c) || c == '.' || c == '_' || c == '/' || c == '%' || c == '+' || c == '-';
}

static char peek(const struct plain *plain)
{
    return plain->at < plain->end ? *plain->at : '\n';
}

static char peek_next(const struct plain *plain)
{
    return plain->at + 1 < plain->end ? plain->at[1] : '\n';
}

static struct lab_place here(const struct plain *plain)
{
    return (struct lab_place){plain->argument, plain->line, (int)(plain->at - plain->line_begin) + 1};
}

/* Advances to the first character of the next line that is not empty or a comment; false for a comment
 * outside of the subset. */
static bool next_line(struct plain *plain)
{
    for (;;) {
        while (peek(plain) == ' ')
            plain->at++;
        plain->indent = plain->at < plain->end ? (int)(plain->at - plain->line_begin) : -1;
        if (plain->indent < 0)
            return true;
        for (bool is_comment = peek(plain) == '#'; is_comment && peek(plain) != '\n'; plain->at++) {
            if (*plain->at < ' ' || *plain->at > '~')
                return false;
        }
        if (peek(plain) != '\n')
            return true;
        plain->at += plain->at < plain->end;
        plain->line_begin = plain->at;
        plain->line++;
    }
}

/* Checks that nothing follows in the line. */
static bool end_line(struct plain *plain)
{
    if (peek(plain) != '\n')
        return false;
    plain->at += plain->at < plain->end;
    plain->line_begin = plain->at;
    plain->line++;
    return next_line(plain);
}

/* Reads a scalar, or the name of a field, which ends before ": " or before a colon at the end of the line. */
static const char *read_text(struct plain *plain, bool is_flow)
{
    const char *begin = plain->at, first = peek(plain);
    bool is_signed = (first == '-' || first == '+' || first == '.') && is_letter(peek_next(plain));
    if (!is_letter(first) && !is_signed)
        return NULL;
    plain->at++;
    for (;; plain->at++) {
        char c = peek(plain);
        bool is_word = is_inner(peek_next(plain));
        if (is_inner(c) || (c == ' ' && is_word) || (c == ',' && !is_flow && peek_next(plain) == ' '))
            continue;
        break;
    }
    const char *text = lab_tree_text(plain->tree, begin, (size_t)(plain->at - begin));
    plain->is_out_of_memory = plain->is_out_of_memory || text == NULL;
    return text;
}

static struct lab_node *new_node(struct plain *plain, const struct lab_place *place, const char *name,
                                 const struct lab_place *name_place)
{
    if (!lab_tree_count(plain->tree))
        return NULL;
    struct lab_node *node = lab_tree_mapping(plain->tree, place, name);
    plain->is_out_of_memory = plain->is_out_of_memory || node == NULL;
    if (node != NULL)
        node->name_place = *name_place;
    return node;
}

static bool make_scalar(struct lab_node *node, const char *text)
{
    node->kind = LAB_NODE_SCALAR;
    node->text = text;
    node->is_null = text != NULL && strcmp(text, "null") == 0;
    return text != NULL;
}

static bool has_field(const struct lab_node *mapping, const char *name)
{
    for (const struct lab_node *field = mapping->first; field != NULL; field = field->next) {
        if (strcmp(field->name, name) == 0)
            return true;
    }
    return mapping->count == LAB_TREE_FIELDS_MAX;
}

static void skip_blanks(struct plain *plain)
{
    while (peek(plain) == ' ')
        plain->at++;
}

static bool read_flow(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                      struct lab_node **out);

static bool read_flow_item(struct plain *plain, struct lab_node *parent, bool is_list, int depth)
{
    struct lab_place place = here(plain);
    const char *name = parent->name;
    struct lab_node *child;
    if (is_list) {
        place = parent->place;
    } else {
        name = read_text(plain, true);
        if (name == NULL || peek(plain) != ':' || peek_next(plain) != ' ' || has_field(parent, name))
            return false;
        plain->at++;
        skip_blanks(plain);
    }
    if (!read_flow(plain, name, &place, depth + 1, &child))
        return false;
    lab_node_append(parent, child);
    return true;
}

/* Reads a flow collection or a scalar, from its first character on. */
static bool read_flow(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                      struct lab_node **out)
{
    struct lab_place place = here(plain);
    bool is_list = peek(plain) == '[';
    struct lab_node *node = depth <= LAB_TREE_DEPTH_MAX ? new_node(plain, &place, name, name_place) : NULL;
    if (node == NULL)
        return false;
    *out = node;
    if (!is_list && peek(plain) != '{')
        return make_scalar(node, read_text(plain, true));
    const char close = is_list ? ']' : '}';
    node->kind = is_list ? LAB_NODE_LIST : LAB_NODE_MAPPING;
    plain->at++;
    skip_blanks(plain);
    while (peek(plain) != close) {
        if (!read_flow_item(plain, node, is_list, depth))
            return false;
        skip_blanks(plain);
        if (peek(plain) != ',')
            break;
        plain->at++;
        skip_blanks(plain);
        if (peek(plain) == close)
            return false;
    }
    bool is_closed = peek(plain) == close;
    plain->at += is_closed;
    return is_closed;
}

static bool read_block(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                       struct lab_node **out);

/* Reads the value after the colon of a name: within the line, or in lines with more indentation than
 * `indent`. */
static bool read_value(struct plain *plain, int indent, const char *name, const struct lab_place *name_place,
                       int depth, struct lab_node **out)
{
    skip_blanks(plain);
    if (peek(plain) == '\n')
        return end_line(plain) && plain->indent > indent && read_block(plain, name, name_place, depth, out);
    if (peek(plain) == '{' || peek(plain) == '[') {
        if (!read_flow(plain, name, name_place, depth, out))
            return false;
    } else {
        struct lab_place place = here(plain);
        struct lab_node *node =
            depth <= LAB_TREE_DEPTH_MAX ? new_node(plain, &place, name, name_place) : NULL;
        *out = node;
        if (node == NULL || !make_scalar(node, read_text(plain, false)))
            return false;
    }
    return end_line(plain) && plain->indent <= indent;
}

/* Reads the fields that begin in the column of the first one. */
static bool read_fields(struct plain *plain, struct lab_node *mapping, int column, int depth)
{
    do {
        struct lab_place place = here(plain);
        const char *name = read_text(plain, false);
        struct lab_node *child;
        bool is_name =
            name != NULL && peek(plain) == ':' && (peek_next(plain) == ' ' || peek_next(plain) == '\n');
        if (!is_name || has_field(mapping, name))
            return false;
        plain->at++;
        if (!read_value(plain, column, name, &place, depth + 1, &child))
            return false;
        lab_node_append(mapping, child);
    } while (plain->indent == column);
    return plain->indent < column;
}

/* Reads the elements after dashes: flow collections, scalars, or mappings whose first field follows the
 * dash. */
static bool read_items(struct plain *plain, struct lab_node *list, int depth)
{
    int column = plain->indent;
    do {
        if (peek(plain) != '-' || peek_next(plain) != ' ')
            return false;
        plain->at++;
        skip_blanks(plain);
        int inner = (int)(plain->at - plain->line_begin);
        const char *begin = plain->at;
        struct lab_place place = here(plain);
        struct lab_node *child;
        const char *name = peek(plain) == '{' || peek(plain) == '[' ? NULL : read_text(plain, false);
        bool has_fields = name != NULL && peek(plain) == ':';
        plain->at = begin;
        if (has_fields) {
            child = depth < LAB_TREE_DEPTH_MAX ? new_node(plain, &place, list->name, &list->place) : NULL;
            if (child == NULL || !read_fields(plain, child, inner, depth + 1))
                return false;
        } else if (!read_value(plain, column, list->name, &list->place, depth + 1, &child)) {
            return false;
        }
        lab_node_append(list, child);
    } while (plain->indent == column);
    return plain->indent < column;
}

/* Reads a block from the first character of its first line on. */
static bool read_block(struct plain *plain, const char *name, const struct lab_place *name_place, int depth,
                       struct lab_node **out)
{
    struct lab_place place = here(plain);
    struct lab_node *node = depth <= LAB_TREE_DEPTH_MAX ? new_node(plain, &place, name, name_place) : NULL;
    if (node == NULL)
        return false;
    *out = node;
    bool is_list = peek(plain) == '-' && peek_next(plain) == ' ';
    node->kind = is_list ? LAB_NODE_LIST : LAB_NODE_MAPPING;
    return is_list ? read_items(plain, node, depth) : read_fields(plain, node, plain->indent, depth);
}

bool lab_tree_read_plain(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                         const char *name, struct lab_node **out)
{
    struct plain plain = {
        .tree = tree, .argument = argument, .at = text, .end = text + size, .line_begin = text, .line = 1};
    const struct lab_place nowhere = {argument, 0, 0};
    size_t node_count = tree->node_count;
    bool is_read = next_line(&plain) && plain.indent == 0;
    if (is_read && (argument != NULL || peek(&plain) == '{'))
        is_read = read_value(&plain, 0, name, &nowhere, 0, out) && plain.indent < 0;
    else
        is_read =
            is_read && peek(&plain) != '-' && read_block(&plain, name, &nowhere, 0, out) && plain.indent < 0;
    if (is_read)
        return true;
    *out = NULL;
    tree->node_count = node_count;
    return plain.is_out_of_memory;
}
