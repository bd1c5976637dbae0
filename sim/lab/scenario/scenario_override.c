/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applies one --set argument, PATH=VALUE, to the tree before it is checked. PATH is a list of names joined by
 * dots. [i] selects an element of a list; in the list of strategies a label or a kind does so too:
 * strategies.guarded.bits, strategies[3].probabilistic.bits. Missing mappings along the path are created.
 * VALUE is YAML. */
#include <stdint.h>
#include <string.h>

#include "lab/quantity.h"
#include "lab/scenario_part.h"

#define INDEX_SIZE 8

struct path {
    struct lab_tree *tree;
    struct lab_place place;
    const char *at, *end; /* the rest of PATH */
};

static struct lab_node *child_by_name(struct path *path, struct lab_node *mapping)
{
    size_t size = 0;
    while (path->at + size < path->end && path->at[size] != '.' && path->at[size] != '[')
        size++;
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
    path->at += size;
    path->at += path->at < path->end && *path->at == '.';
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
    path->at = close + 1;
    path->at += path->at < path->end && *path->at == '.';
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

static const struct lab_node *kind_of(const struct lab_node *item)
{
    if (item->kind != LAB_NODE_MAPPING)
        return NULL;
    for (const struct lab_node *child = item->first; child != NULL; child = child->next) {
        if (!child->is_null && strcmp(child->name, "label") != 0)
            return child;
    }
    return NULL;
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
        size_t size = 0;
        while (path->at + size < path->end && path->at[size] != '.' && path->at[size] != '[')
            size++;
        lab_fail_at(path->tree, &path->place,
                    item == NULL ? "no strategy has the label or kind '%.*s'; name one, or its index, as in "
                                   "strategies[0]"
                                 : "several strategies are of the kind '%.*s'; name one by its label or "
                                   "index, as in strategies[0]",
                    (int)(size < 64 ? size : 64), path->at);
        return NULL;
    }
    path->at += by_label != NULL ? label_size : kind_size;
    path->at += path->at < path->end && *path->at == '.';
    /* A label that is next to the kind is set there. */
    if (match(path, "label") == strlen("label") && lab_node_find(item, "label") != NULL)
        return item;
    for (struct lab_node *child = item->first; child != NULL; child = child->next) {
        if (child == kind_of(item))
            return child;
    }
    return item;
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
    struct lab_node *value;
    if (!lab_tree_read(tree, argument, equals + 1, strlen(equals + 1), node->name, &value))
        return false;
    /* The node keeps its place in the list of its siblings; everything else comes from the value. */
    struct lab_node *next = node->next;
    *node = *value;
    node->next = next;
    node->place = path.place;
    node->name_place = path.place;
    return true;
}
