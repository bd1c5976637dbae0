/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the fields of a mapping by a table of names, types and ranges. */
#include "lab/scenario_field.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "kernel/text.h"

#define LISTING_SIZE 512
#define UNDER_SIZE   64

const struct lab_field *lab_table_fields(const struct lab_table *table, struct lab_field *made)
{
    if (table->fields != NULL)
        return table->fields;
    lab_setting_fields(table, made);
    return made;
}

static const struct lab_field *find_field(const struct lab_field *fields, const char *name)
{
    for (const struct lab_field *field = fields; field->name != NULL; field++) {
        if (strcmp(field->name, name) == 0)
            return field;
    }
    return NULL;
}

static bool fail_unknown(struct lab_reader *reader, const struct lab_field *fields,
                         const struct lab_node *mapping, const struct lab_node *node)
{
    const char *names[LAB_FIELDS_MAX];
    char shown[LAB_SHOWN_SIZE];
    char listing[LISTING_SIZE] = "", under[UNDER_SIZE] = "";
    size_t count = 0, used = 0;
    for (const struct lab_field *field = fields; field->name != NULL; field++) {
        if (field->read == NULL)
            continue;
        assert(count < LAB_FIELDS_MAX);
        names[count++] = field->name;
        used += (size_t)snprintf(listing + used, sizeof listing - used, "%s%s", used == 0 ? "" : ", ",
                                 field->name);
        assert(used < sizeof listing);
    }
    if (mapping->name[0] != '\0')
        snprintf(under, sizeof under, " under '%s'", mapping->name);
    const char *nearest = sim_nearest(node->name, names, count);
    if (nearest != NULL)
        return lab_fail_at(&reader->tree, &node->name_place, "unknown field '%s'%s; did you mean '%s'?",
                           lab_show(node->name, shown), under, nearest);
    return lab_fail_at(&reader->tree, &node->name_place, "unknown field '%s'%s; the %s %s",
                       lab_show(node->name, shown), under, count == 1 ? "one field is" : "fields are",
                       listing);
}

static bool read_field(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *target)
{
    if (field->read == NULL)
        return lab_fail_at(&reader->tree, &node->name_place, "'%s' %s", field->name,
                           field->range != NULL ? field->range : "is not in this version yet; remove it");
    if (node->is_null)
        return true;
    const struct lab_table *table = field->read == lab_read_mapping ? field->detail : NULL;
    if (node->is_empty && table != NULL && table->may_be_empty) {
        struct lab_node nothing = *node;
        nothing.kind = LAB_NODE_MAPPING;
        return field->read(reader, field, &nothing, (char *)target + field->offset);
    }
    if (node->is_empty)
        return lab_fail_at(&reader->tree, &node->name_place, "'%s' has no value; give it one, or remove it",
                           field->name);
    return field->read(reader, field, node, (char *)target + field->offset);
}

static bool fail_missing(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *mapping)
{
    const char *give = field->range != NULL ? "; add it: " : "; add it";
    const char *range = field->range != NULL ? field->range : "";
    if (mapping->name[0] == '\0')
        return lab_fail_at(&reader->tree, &mapping->place, "'%s' is missing%s%s", field->name, give, range);
    return lab_fail_at(&reader->tree, &mapping->place, "'%s' is missing under '%s'%s%s", field->name,
                       mapping->name, give, range);
}

bool lab_table_read(struct lab_reader *reader, const struct lab_table *table, const struct lab_node *mapping,
                    void *target)
{
    if (mapping->kind != LAB_NODE_MAPPING)
        return lab_fail_at(&reader->tree, &mapping->place,
                           "'%s' takes fields and their values; write it as 'field: value' lines below it, "
                           "or in braces",
                           mapping->name);
    struct lab_field made[LAB_FIELDS_MAX];
    const struct lab_field *fields = lab_table_fields(table, made);
    for (const struct lab_node *node = mapping->first; node != NULL; node = node->next) {
        const struct lab_field *field = find_field(fields, node->name);
        if (field == NULL)
            return fail_unknown(reader, fields, mapping, node);
        if (!read_field(reader, field, node, target))
            return false;
    }
    for (const struct lab_field *field = fields; field->name != NULL; field++) {
        if (field->presence == LAB_REQUIRED && lab_node_find(mapping, field->name) == NULL)
            return fail_missing(reader, field, mapping);
    }
    return table->check == NULL || table->check(reader, mapping, target);
}

const struct lab_node *lab_only_field(struct lab_reader *reader, const struct lab_node *mapping,
                                      const char *except, const char *what, const char *choices)
{
    const struct lab_node *found = NULL;
    size_t count = 0;
    for (const struct lab_node *node = mapping->first; node != NULL; node = node->next) {
        if (node->is_null || (except != NULL && strcmp(node->name, except) == 0))
            continue;
        found = node;
        count++;
    }
    if (count == 1)
        return found;
    lab_fail_at(&reader->tree, count > 1 ? &found->name_place : &mapping->place,
                "%s takes exactly one of %s; %s", what, choices,
                count > 1 ? "remove this one or the other" : "add one");
    return NULL;
}
