/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes a tree and writes it: --set arguments are applied to it, and it becomes YAML again. In: a tree,
 * PATH=VALUE. Out: the changed tree, or its text. PATH is a list of names joined by dots. [i] selects an
 * element of a list; in the list of strategies a label or a kind does so too: strategies.guarded.bits,
 * strategies[3].probabilistic.bits. Missing mappings along the path are created. VALUE is YAML. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "lab/fields.h"
#include "lab/quantity.h"

#define LINE_SIZE 100
#define INDENT    2

static bool reserve(struct lab_writer *writer, size_t size)
{
    if (writer->out_of_memory)
        return false;
    writer->out_of_memory = !sim_grow(&writer->text, &writer->capacity, writer->size + size + 1, 1);
    return !writer->out_of_memory;
}

/* Whether the node in flow style fits into the current line. */
static bool fits(struct lab_writer *writer, const struct lab_node *node)
{
    if (!reserve(writer, 0))
        return true;
    size_t before = writer->size, line = before;
    while (line > 0 && writer->text[line - 1] != '\n')
        line--;
    lab_writer_add_flow(writer, node);
    bool does_fit = writer->size - line < LINE_SIZE;
    if (!writer->out_of_memory)
        writer->text[before] = '\0';
    writer->size = before;
    return does_fit;
}

static void write_value(struct lab_writer *writer, const struct lab_node *node, size_t indent);

/* Whether YAML reads the text as a scalar without quotes, in any position. */
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char others[] = "._/%+-<>=!*";
    bool is_signed = (text[0] == '-' || text[0] == '.' || text[0] == '/') && text[1] != '\0' &&
                     strchr(letters, text[1]) != NULL;
    if (text[0] == '\0' || (strchr(letters, text[0]) == NULL && !is_signed) || strcmp(text, "null") == 0)
        return false;
    for (const char *c = text + 1; *c != '\0'; c++) {
        bool is_inner = c[1] != '\0' && strchr(letters, c[1]) != NULL;
        bool is_blank_fine = *c == ' ' && c[1] != '\0' && c[1] != ' ';
        if (strchr(letters, *c) == NULL && strchr(others, *c) == NULL && !(*c == ':' && is_inner) &&
            !is_blank_fine)
            return false;
    }
    return true;
}

static void write_text(struct lab_writer *writer, const char *text)
{
    if (is_plain(text)) {
        lab_writer_add(writer, "%s", text);
        return;
    }
    lab_writer_add(writer, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n')
            lab_writer_add(writer, "\\n");
        else if (*c == '"' || *c == '\\')
            lab_writer_add(writer, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            lab_writer_add(writer, "\\x%02x", (unsigned char)*c);
        else
            lab_writer_add(writer, "%c", *c);
    }
    lab_writer_add(writer, "\"");
}

/* Writes fields on separate lines; the line of the first one may have begun with the dash of a list. */
static void write_fields(struct lab_writer *writer, const struct lab_node *mapping, size_t indent,
                         bool is_first_placed)
{
    for (const struct lab_node *field = mapping->first; field != NULL; field = field->next) {
        if (!is_first_placed)
            lab_writer_add(writer, "%*s", (int)indent, "");
        is_first_placed = false;
        write_text(writer, field->name);
        lab_writer_add(writer, ":");
        write_value(writer, field, indent);
    }
}

/* Writes the value after "name:", with the end of the line. Lists at the top level are long, and have a line
 * per element. */
static void write_value(struct lab_writer *writer, const struct lab_node *node, size_t indent)
{
    bool is_top_list = node->kind == LAB_NODE_LIST && indent == 0 && node->count > 0;
    if (!is_top_list && (node->kind == LAB_NODE_SCALAR || node->count == 0 || fits(writer, node))) {
        lab_writer_add(writer, " ");
        lab_writer_add_flow(writer, node);
        lab_writer_add(writer, "\n");
        return;
    }
    lab_writer_add(writer, "\n");
    if (node->kind == LAB_NODE_MAPPING) {
        write_fields(writer, node, indent + INDENT, false);
        return;
    }
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        lab_writer_add(writer, "%*s- ", (int)(indent + INDENT), "");
        bool is_single = item->kind == LAB_NODE_MAPPING && item->count == 1;
        if (item->kind == LAB_NODE_MAPPING && item->count > 0 && (is_single || !fits(writer, item))) {
            write_fields(writer, item, indent + 2 * INDENT, true);
        } else {
            lab_writer_add_flow(writer, item);
            lab_writer_add(writer, "\n");
        }
    }
}

char *lab_tree_write(const struct lab_node *root)
{
    struct lab_writer writer = {0};
    write_fields(&writer, root, 0, false);
    return lab_writer_take(&writer);
}

void lab_writer_add(struct lab_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = writer->capacity - writer->size;
    int size = vsnprintf(room > 0 ? writer->text + writer->size : NULL, room, format, arguments);
    va_end(arguments);
    if (size >= 0 && (size_t)size < room && !writer->out_of_memory) {
        writer->size += (size_t)size;
        return;
    }
    if (size < 0 || !reserve(writer, (size_t)size))
        return;
    va_start(arguments, format);
    vsnprintf(writer->text + writer->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    writer->size += (size_t)size;
}

static void write_scalar(struct lab_writer *writer, const struct lab_node *node)
{
    if (node->is_null)
        lab_writer_add(writer, "null");
    else if (node->is_empty)
        lab_writer_add(writer, "{}"); /* an empty mapping, as after "unbucketed:" */
    else
        write_text(writer, node->text);
}

void lab_writer_add_flow(struct lab_writer *writer, const struct lab_node *node)
{
    if (node->kind == LAB_NODE_SCALAR) {
        write_scalar(writer, node);
        return;
    }
    bool is_list = node->kind == LAB_NODE_LIST;
    lab_writer_add(writer, is_list ? "[" : "{");
    for (const struct lab_node *child = node->first; child != NULL; child = child->next) {
        if (!is_list) {
            write_text(writer, child->name);
            lab_writer_add(writer, ": ");
        }
        lab_writer_add_flow(writer, child);
        if (child->next != NULL)
            lab_writer_add(writer, ", ");
    }
    lab_writer_add(writer, is_list ? "]" : "}");
}

char *lab_writer_take(struct lab_writer *writer)
{
    lab_writer_add(writer, "%s", "");
    char *text = writer->text;
    if (writer->out_of_memory) {
        free(text);
        text = NULL;
    }
    *writer = (struct lab_writer){0};
    return text;
}

#define INDEX_SIZE 8

struct path {
    struct lab_tree *tree;
    struct lab_place place;
    const char *at, *end; /* the rest of PATH */
};

/* Advances beyond a segment of this size. */
static void advance(struct path *path, size_t size)
{
    path->at += size;
    path->at += path->at < path->end && *path->at == '.';
}

/* The length of the next segment. */
static size_t segment(const struct path *path)
{
    size_t size = 0;
    while (path->at + size < path->end && path->at[size] != '.' && path->at[size] != '[')
        size++;
    return size;
}

static struct lab_node *child_by_name(struct path *path, struct lab_node *mapping)
{
    size_t size = segment(path);
    const char *name = lab_tree_text(path->tree, path->at, size);
    if (name == NULL)
        return NULL;
    if (mapping->kind == LAB_NODE_LIST) {
        lab_fail_at(path->tree, &path->place, "'%s' is a list; name an element, as in %s[0]", mapping->name,
                    mapping->name);
        return NULL;
    }
    if (mapping->kind == LAB_NODE_SCALAR) {
        /* A scalar or a missing value is replaced by a mapping. */
        struct lab_node *next = mapping->next;
        *mapping = (struct lab_node){.kind = LAB_NODE_MAPPING,
                                     .name = mapping->name,
                                     .text = "",
                                     .place = path->place,
                                     .name_place = path->place,
                                     .next = next};
    }
    advance(path, size);
    for (struct lab_node *child = mapping->first; child != NULL; child = child->next) {
        if (strcmp(child->name, name) == 0)
            return child;
    }
    struct lab_node *child = lab_tree_mapping(path->tree, &path->place, name);
    if (child != NULL)
        lab_node_append(mapping, child);
    return child;
}

/* The path is at '['; check_path() made sure that a number and ']' follow. */
static struct lab_node *element_by_index(struct path *path, struct lab_node *list)
{
    char digits[INDEX_SIZE] = "";
    uint64_t index = 0;
    const char *close = memchr(path->at, ']', (size_t)(path->end - path->at));
    memcpy(digits, path->at + 1, (size_t)(close - path->at - 1));
    lab_quantity_whole(digits, &index);
    if (list->kind != LAB_NODE_LIST) {
        lab_fail_at(path->tree, &path->place, "'%s' is not a list; remove [%s]", list->name, digits);
        return NULL;
    }
    if (index >= list->count) {
        lab_fail_at(path->tree, &path->place, "'%s' has %zu elements, counted from 0; there is no [%s]",
                    list->name, list->count, digits);
        return NULL;
    }
    struct lab_node *element = list->first;
    while (index-- > 0)
        element = element->next;
    advance(path, (size_t)(close + 1 - path->at));
    return element;
}

/* The length of the name if it is the next segment of the path; else 0. */
static size_t match(const struct path *path, const char *name)
{
    size_t size = strlen(name), left = (size_t)(path->end - path->at);
    if (size == 0 || size > left || memcmp(path->at, name, size) != 0)
        return 0;
    return size == left || path->at[size] == '.' || path->at[size] == '[' ? size : 0;
}

static struct lab_node *kind_of(const struct lab_node *item)
{
    struct lab_node *child = item->kind == LAB_NODE_MAPPING ? item->first : NULL;
    while (child != NULL && (child->is_null || strcmp(child->name, "label") == 0))
        child = child->next;
    return child;
}

static const char *label_of(const struct lab_node *item)
{
    const struct lab_node *label = lab_node_find(item, "label");
    if (label == NULL)
        label = lab_node_find(kind_of(item), "label");
    return label != NULL && label->kind == LAB_NODE_SCALAR ? label->text : NULL;
}

/* The settings of the strategy whose label is the next part of the path (the longest matching label), or else
 * of the strategy of that kind. */
static struct lab_node *settings_by_label(struct path *path, struct lab_node *list)
{
    struct lab_node *by_label = NULL, *by_kind = NULL;
    size_t label_size = 0, kind_size = 0, kinds = 0;
    for (struct lab_node *item = list->first; item != NULL; item = item->next) {
        const struct lab_node *kind = kind_of(item);
        if (kind == NULL)
            continue;
        const char *label = label_of(item);
        size_t size = match(path, label != NULL ? label : kind->name);
        if (size > label_size) {
            by_label = item;
            label_size = size;
        }
        size = match(path, kind->name);
        if (size > 0) {
            by_kind = item;
            kind_size = size;
            kinds++;
        }
    }
    struct lab_node *item = by_label != NULL ? by_label : by_kind;
    if (item == NULL || (by_label == NULL && kinds > 1)) {
        size_t size = segment(path);
        lab_fail_at(path->tree, &path->place,
                    item == NULL ? "no strategy has the label or kind '%.*s'; name one, or its index, as in "
                                   "strategies[0]"
                                 : "several strategies are of the kind '%.*s'; name one by its label or "
                                   "index, as in strategies[0]",
                    (int)(size < 64 ? size : 64), path->at);
        return NULL;
    }
    advance(path, by_label != NULL ? label_size : kind_size);
    /* A label that is next to the kind is set there. */
    if (match(path, "label") == strlen("label") && lab_node_find(item, "label") != NULL)
        return item;
    return kind_of(item);
}

/* Checks that names are not empty and that indices are whole numbers, so that every step advances. */
static bool check_path(struct path *path)
{
    static const char cure[] =
        "no path; write names joined by dots, as in arrivals.rate or strategies[0].hash";
    bool is_name_due = true;
    for (const char *c = path->at; c < path->end; c++) {
        if (*c == '[') {
            const char *digit = c + 1;
            while (digit < path->end && *digit >= '0' && *digit <= '9')
                digit++;
            bool is_index = digit > c + 1 && digit - c - 1 < INDEX_SIZE && digit < path->end && *digit == ']';
            bool is_over = is_index && (digit + 1 == path->end || digit[1] == '.' || digit[1] == '[');
            if (is_name_due || !is_over)
                return lab_fail_at(path->tree, &path->place, cure);
            c = digit;
        } else if (*c == '.' && is_name_due) {
            return lab_fail_at(path->tree, &path->place, cure);
        } else {
            is_name_due = *c == '.';
        }
    }
    return !is_name_due || lab_fail_at(path->tree, &path->place, cure);
}

bool lab_override_apply(struct lab_tree *tree, struct lab_node *root, const char *argument)
{
    struct path path = {.tree = tree, .place = {argument, 0, 0}, .at = argument};
    const char *equals = strchr(argument, '=');
    if (equals == NULL || equals == argument)
        return lab_fail_at(tree, &path.place, "no PATH=VALUE; write it as in --set arrivals.rate=300/s");
    path.end = equals;
    if (!check_path(&path))
        return false;

    struct lab_node *node = root;
    while (path.at < path.end) {
        if (*path.at == '[')
            node = element_by_index(&path, node);
        else if (node->kind == LAB_NODE_LIST && strcmp(node->name, "strategies") == 0)
            node = settings_by_label(&path, node);
        else
            node = child_by_name(&path, node);
        if (node == NULL)
            return false;
    }
    if (equals[1 + strspn(equals + 1, " ")] == '\0')
        return lab_fail_at(tree, &path.place, "no value; give one, or null to remove the field");
    char quoted[LAB_SHOWN_SIZE]; /* '%d/%m/%Y' without its quotes, which the shell removed */
    const bool is_form = equals[1] == '%' && strlen(equals) + 2 < sizeof quoted;
    if (is_form)
        snprintf(quoted, sizeof quoted, "'%s'", equals + 1);
    const char *text = is_form ? quoted : equals + 1;
    struct lab_node *value;
    if (!lab_tree_read(tree, argument, text, strlen(text), node->name, &value))
        return false;
    /* The node keeps its place in the list of its siblings; everything else comes from the value. */
    struct lab_node *next = node->next;
    *node = *value;
    node->next = next;
    node->place = path.place;
    node->name_place = path.place;
    return true;
}
