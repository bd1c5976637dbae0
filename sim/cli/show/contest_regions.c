/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the data of the chart of regions from the JSON of an answer of tune. */
#include "contest_regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cli_contest_plane {
    double columns[REPORT_REGIONS_SIDE_MAX], rows[REPORT_REGIONS_SIDE_MAX];
    const char *names[REPORT_REGIONS_MAX];
    unsigned owners[REPORT_REGIONS_SIDE_MAX * REPORT_REGIONS_SIDE_MAX];
};

/* Reads a list of numbers above 0; returns 0 when there is anything else. */
static size_t take_values(const json_t *list, double *out)
{
    size_t index, count = json_array_size(list);
    const json_t *value;
    if (count > REPORT_REGIONS_SIDE_MAX)
        return 0;
    json_array_foreach(list, index, value)
    {
        out[index] = json_number_value(value);
        if (!(out[index] > 0 && out[index] <= REPORT_VALUE_MAX))
            return 0;
    }
    return count;
}

/* The index of a kind's name, which is added if it is new; REPORT_REGIONS_MAX when there is no room. */
static unsigned owner_of(const char *kind, struct cli_contest_plane *plane, size_t *name_count)
{
    for (size_t i = 0; i < *name_count; i++) {
        if (strcmp(plane->names[i], kind) == 0)
            return (unsigned)i;
    }
    if (kind[0] == 0 || *name_count == REPORT_REGIONS_MAX)
        return REPORT_REGIONS_MAX;
    plane->names[*name_count] = kind;
    return (unsigned)(*name_count)++;
}

static bool take_owners(const json_t *rows, const struct report_regions *regions,
                        struct cli_contest_plane *plane, size_t *name_count)
{
    size_t used = 0, row, column;
    const json_t *list, *kind;
    json_array_foreach(rows, row, list)
    {
        if (row >= regions->row_count || json_array_size(list) != regions->column_count)
            return false;
        json_array_foreach(list, column, kind)
        {
            const char *name = json_string_value(kind);
            plane->owners[used] = owner_of(name != NULL ? name : "", plane, name_count);
            if (plane->owners[used++] == REPORT_REGIONS_MAX)
                return false;
        }
    }
    return used == regions->row_count * regions->column_count;
}

bool cli_contest_regions_make(const json_t *answer, struct cli_contest_regions *out, struct sim_error *error)
{
    const json_t *data = json_object_get(answer, "regions");
    const char *scenario = json_string_value(json_object_get(answer, "scenario"));
    if (data == NULL)
        return true;
    struct cli_contest_plane *plane = out->plane = calloc(1, sizeof *plane);
    if (plane == NULL)
        return sim_fail_memory(error);
    snprintf(out->title, sizeof out->title, "%s: which kind is the cheapest",
             scenario != NULL ? scenario : "");
    out->data = (struct report_regions){
        .title = out->title,
        .subtitle = "of the settings within the limits, at other prices and rates of reads",
        .foot = "all other prices as in the scenario; means over seeds",
        .x = {"price of a counter update, in inserts", REPORT_UNIT_PLAIN, REPORT_LOG},
        .y = {"reads, as a multiple of the scenario's", REPORT_UNIT_PLAIN, REPORT_LOG},
        .columns = plane->columns,
        .rows = plane->rows,
        .column_count = take_values(json_object_get(data, "counter_increment"), plane->columns),
        .row_count = take_values(json_object_get(data, "reads"), plane->rows),
        .names = plane->names,
        .owners = plane->owners,
        .now = "the scenario",
        .now_y = 1,
    };
    struct report_regions *regions = &out->data;
    if (regions->column_count < 2 || regions->row_count < 2 ||
        !take_owners(json_object_get(data, "cheapest"), regions, plane, &regions->name_count))
        return true;
    regions->now_x = plane->columns[regions->column_count / 2];
    out->is_shown = regions->name_count > 1;
    return true;
}

void cli_contest_regions_free(struct cli_contest_regions *regions)
{
    free(regions->plane);
    *regions = (struct cli_contest_regions){.is_shown = false};
}
