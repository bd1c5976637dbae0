/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks names up in the table of metrics. */
#include "lab/metric.h"

#include <stdio.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/reads.h"
#include "lab/result.h"

const char *lab_metric_unit_name(enum lab_metric_unit unit)
{
#define NAME(symbol, text) text,
    static const char *const names[] = {LAB_METRIC_UNIT_MAP(NAME)};
    return names[unit];
}

/* Sets *member to the next word from *at on, and advances *at past it. Returns the word's length; 0 at the
 * end. */
static size_t next_member(const char **at, const char **member)
{
    *member = *at + strspn(*at, " ");
    size_t length = strcspn(*member, " ");
    *at = *member + length;
    return length;
}

void lab_metric_names(const struct lab_metric_row *row, void (*each)(void *context, const char *name),
                      void *context)
{
    char name[LAB_METRIC_NAME_SIZE];
    const char *at = row->members, *member, *star = strchr(row->name, '*');
    size_t length;
    if (star == NULL)
        each(context, row->name);
    while (star != NULL && (length = next_member(&at, &member)) > 0) {
        snprintf(name, sizeof name, "%.*s%.*s%s", (int)(star - row->name), row->name, (int)length, member,
                 star + 1);
        each(context, name);
    }
}

/* Whether the row has a metric of this name. */
static bool has_name(const struct lab_metric_row *row, const char *name)
{
    const char *at = row->members, *member, *star = strchr(row->name, '*');
    size_t before = star == NULL ? 0 : (size_t)(star - row->name), length;
    if (star == NULL)
        return strcmp(row->name, name) == 0;
    while (strncmp(row->name, name, before) == 0 && (length = next_member(&at, &member)) > 0) {
        if (strncmp(name + before, member, length) == 0 && strcmp(name + before + length, star + 1) == 0)
            return true;
    }
    return false;
}

/* Converts "reads.range.count" to "reads.count" in the buffer; false when the name does not contain a kind of
 * read. */
static bool without_kind(const char *name, char *buffer)
{
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        char prefix[32];
        int length =
            snprintf(prefix, sizeof prefix, "reads.%s.", lab_read_kind_name((enum lab_read_kind)kind));
        if (strncmp(name, prefix, (size_t)length) == 0) {
            snprintf(buffer, LAB_METRIC_NAME_SIZE, "reads.%s", name + length);
            return true;
        }
    }
    return false;
}

const struct lab_metric_row *lab_metric_row_of(const char *name)
{
    char plain[LAB_METRIC_NAME_SIZE];
    bool is_of_kind = without_kind(name, plain);
    for (size_t i = 0; i < lab_metric_row_count; i++) {
        const struct lab_metric_row *row = &lab_metric_table[i];
        if (has_name(row, name) || (is_of_kind && row->is_of_kinds && has_name(row, plain)))
            return row;
    }
    return NULL;
}

/* The number of parts that `longer` has in addition to those of `name`, which must all be in it, in their
 * order; -1: they are not. */
static int parts_more(const char *name, const char *longer)
{
    int more = 0;
    while (*longer != '\0') {
        size_t size = strcspn(longer, ".");
        if (strcspn(name, ".") == size && strncmp(name, longer, size) == 0 && *name != '\0')
            name += size + (name[size] == '.');
        else
            more++;
        longer += size + (longer[size] == '.');
    }
    return *name == '\0' ? more : -1;
}

const char *lab_metric_nearest(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    int least = 0;
    bool is_of_all = false; /* figures of all partitions are preferred to those of the closed ones */
    for (size_t i = 0; i < count && strchr(name, '.') != NULL; i++) {
        int more = parts_more(name, names[i]);
        bool of_all = strstr(names[i], ".all.") != NULL;
        if (more < 0 || (nearest != NULL && (more > least || (more == least && (is_of_all || !of_all)))))
            continue;
        nearest = names[i];
        least = more;
        is_of_all = of_all;
    }
    return nearest != NULL ? nearest : sim_nearest(name, names, count);
}
