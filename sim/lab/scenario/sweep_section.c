/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the section `sweep`. Every command checks its form; only `sweep` makes points from it. In: the node.
 * Out: its seeds, its grid and its list. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fields.h"
#include "lab/quantity.h"

struct range {
    uint64_t first, count;
};

static const struct lab_field seed_field = {.name = "seed", .read = lab_read_whole};

static bool check_value(struct lab_reader *reader, const struct lab_node *node)
{
    char shown[LAB_SHOWN_SIZE];
    return !node->is_empty || lab_fail_at(&reader->tree, &node->place,
                                          "'%s' has no value; give it one, or null to remove the field",
                                          lab_show(node->name, shown));
}

static bool read_seed_list(struct lab_reader *reader, const struct lab_node *node,
                           struct lab_sweep_seeds *out)
{
    if (!lab_check_list(reader, node, 1, SIZE_MAX, "seeds: 20, or as in [1, 2, 3]"))
        return false;
    out->items = calloc(node->count, sizeof *out->items);
    if (out->items == NULL)
        return sim_fail_memory(reader->tree.error);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        uint64_t *seed = &out->items[out->count];
        if (!check_value(reader, item) || !lab_read_whole(reader, &seed_field, item, seed))
            return false;
        for (uint64_t i = 0; i < out->count; i++) {
            if (out->items[i] == *seed)
                return lab_fail_at(&reader->tree, &item->place, "seed %s appears twice; remove one",
                                   item->text);
        }
        out->count++;
    }
    return true;
}

static const struct lab_table range_table = {LAB_FIELDS(
    {"from", lab_read_whole, LAB_AT(struct range, first)},
    {"count", lab_read_whole, LAB_AT(struct range, count), LAB_REQUIRED, LAB_FROM(1, LAB_SWEEP_JOBS_MAX)})};

static bool read_seed_range(struct lab_reader *reader, const struct lab_node *node,
                            struct lab_sweep_seeds *out)
{
    struct range range = {0, 0};
    if (!lab_table_read(reader, &range_table, node, &range))
        return false;
    *out = (struct lab_sweep_seeds){
        .count = range.count, .has_first = lab_node_find(node, "from") != NULL, .first = range.first};
    return true;
}

static bool read_seeds(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    struct lab_sweep_seeds *seeds = out;
    if (node->kind == LAB_NODE_LIST)
        return read_seed_list(reader, node, seeds);
    if (node->kind == LAB_NODE_MAPPING)
        return read_seed_range(reader, node, seeds);
    return lab_read_whole(reader, field, node, &seeds->count);
}

/* Other errors in a path are found when it is applied. */
static bool check_path(struct lab_reader *reader, const struct lab_node *node)
{
    const char *name = node->name;
    char shown[LAB_SHOWN_SIZE];
    if (strpbrk(name, "=\n\r") != NULL)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "'%s' is not a path; write names joined by dots, as in arrivals.rate",
                           lab_show(name, shown));
    size_t size = strcspn(name, ".[");
    if (size == strlen("sweep") && strncmp(name, "sweep", size) == 0)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "a sweep cannot change 'sweep'; name another field of the scenario");
    return true;
}

static bool read_grid(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    (void)field;
    if (node->kind != LAB_NODE_MAPPING || node->count == 0)
        return lab_fail_at(&reader->tree, &node->place,
                           "'grid' takes paths, each with a list of values; write them as 'arrivals.rate: "
                           "[100/s, 200/s]' lines below it");
    for (const struct lab_node *axis = node->first; axis != NULL; axis = axis->next) {
        if (!check_path(reader, axis))
            return false;
        if (strcmp(axis->name, "seed") == 0)
            return lab_fail_at(&reader->tree, &axis->name_place,
                               "seeds are not an axis of the grid; list them under 'sweep: seeds'");
        if (!lab_check_list(reader, axis, 1, SIZE_MAX, "[1, 2]"))
            return false;
        for (const struct lab_node *value = axis->first; value != NULL; value = value->next) {
            if (!check_value(reader, value))
                return false;
        }
    }
    *(const struct lab_node **)out = node;
    return true;
}

static bool read_list(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    (void)field;
    if (!lab_check_list(reader, node, 1, SIZE_MAX, "'- {arrivals.rate: 100/s}' lines"))
        return false;
    for (const struct lab_node *point = node->first; point != NULL; point = point->next) {
        if (point->kind != LAB_NODE_MAPPING)
            return lab_fail_at(&reader->tree, &point->place,
                               "a point of 'list' is a mapping of paths to values; write it as in "
                               "'- {arrivals.rate: 100/s}'");
        for (const struct lab_node *value = point->first; value != NULL; value = value->next) {
            uint64_t seed;
            if (!check_path(reader, value) || !check_value(reader, value) ||
                (strcmp(value->name, "seed") == 0 && !lab_read_whole(reader, &seed_field, value, &seed)))
                return false;
        }
    }
    *(const struct lab_node **)out = node;
    return true;
}

static const struct lab_table section_table = {LAB_FIELDS(
    {"seeds", read_seeds, LAB_AT(struct lab_sweep_section, seeds), LAB_FROM(1, LAB_SWEEP_JOBS_MAX)},
    {"grid", read_grid, LAB_AT(struct lab_sweep_section, grid)},
    {"list", read_list, LAB_AT(struct lab_sweep_section, list)})};

bool lab_read_sweep(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                    void *out)
{
    (void)field;
    (void)out;
    struct lab_sweep_section section;
    if (!lab_sweep_section_read(reader, node, &section))
        return false;
    free(section.seeds.items);
    return true;
}

bool lab_sweep_section_read(struct lab_reader *reader, const struct lab_node *node,
                            struct lab_sweep_section *out)
{
    *out = (struct lab_sweep_section){.grid = NULL};
    if (lab_table_read(reader, &section_table, node, out))
        return true;
    free(out->seeds.items);
    out->seeds.items = NULL;
    return false;
}
