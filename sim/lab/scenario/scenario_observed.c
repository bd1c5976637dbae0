/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the strategy `observed`: the file with its sizes. It places no rows. */
#include <string.h>

#include "lab/scenario_part.h"

const struct lab_node *lab_placing(const struct lab_node *item)
{
    while (item != NULL && lab_node_find(item, "observed") != NULL)
        item = item->next;
    return item;
}

/* Without a strategy that places rows, settings that make or distribute rows are a mistake. */
static bool check_alone(struct lab_reader *reader, const struct lab_node *root)
{
    static const char *const others[] = {"keys",    "arrivals", "trace", "row",      "deletes",
                                         "reads",   "table",    "start", "duration", "engine",
                                         "cluster", "agents",   "faults"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct lab_node *node = lab_node_find(root, others[i]);
        if (node != NULL)
            return lab_fail_at(&reader->tree, &node->name_place,
                               "'%s' is about rows, and 'observed' places none; add a strategy that places "
                               "rows, or remove this",
                               others[i]);
    }
    return true;
}

bool lab_observed_complete(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    if (scenario->observed_count > 0 && lab_node_find(root, "identifiers") != NULL)
        return lab_fail_at(&reader->tree, &lab_node_find(root, "identifiers")->name_place,
                           "'identifiers' make no partitions to compare 'observed' with; remove one of them");
    return scenario->strategy_count > 0 || check_alone(reader, root);
}

bool lab_check_observed(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    const char *table = ((struct lab_strategy *)target)->settings.observed_table;
    if (table == NULL)
        return true;
    const char *point = strchr(table, '.');
    bool is_name = point != NULL && point != table && point[1] != '\0' && strpbrk(table, " \t/\"'") == NULL;
    return is_name || lab_fail_value(reader, lab_node_find(node, "table"),
                                     "not KEYSPACE.TABLE; write it as chat.messages");
}
