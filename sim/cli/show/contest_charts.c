/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the charts of tune's comparison. */
#include "cli/contest_charts.h"

#include <stdlib.h>

#include "contest_views.h"
#include "reports/output.h"
#include "reports/reports.h"

/* Appends FOLDER/SCENARIO-tune-CHART.EXT to the paths. */
static const char *next_path(const char *scenario, const char *chart, int format, struct cli_charts *charts,
                             struct sim_error *error)
{
    struct report_files *files = &charts->files[format];
    char **paths = realloc(files->paths, (files->count + 1) * sizeof *paths);
    if (paths != NULL)
        files->paths = paths;
    char *path = report_output_path(charts->folder, scenario, true, chart,
                                    report_format_extension((enum report_format)format));
    if (paths == NULL || path == NULL) {
        free(path);
        sim_fail_memory(error);
        return NULL;
    }
    files->paths[files->count++] = path;
    return path;
}

static bool draw(const struct cli_contest_views *views, const char *scenario, int format,
                 struct cli_charts *charts, struct sim_error *error)
{
    const char *path;
    if (views->has_front && ((path = next_path(scenario, "front", format, charts, error)) == NULL ||
                             !report_front_write(&views->front, (enum report_format)format, path, error)))
        return false;
    if (views->has_heatmap &&
        ((path = next_path(scenario, "thresholds", format, charts, error)) == NULL ||
         !report_heatmap_write(&views->heatmap, (enum report_format)format, path, error)))
        return false;
    return !views->regions.is_shown ||
           ((path = next_path(scenario, "regions", format, charts, error)) != NULL &&
            report_regions_write(&views->regions.data, (enum report_format)format, path, error));
}

bool cli_contest_draw(const json_t *answer, struct cli_charts *charts, struct sim_error *error)
{
    const char *scenario = json_string_value(json_object_get(answer, "scenario"));
    struct cli_contest_views views;
    bool is_fine = cli_contest_views_make(answer, &views, error);
    for (int format = 0; is_fine && format < REPORT_FORMAT_COUNT; format++) {
        if (charts->wanted[format])
            is_fine = draw(&views, scenario != NULL ? scenario : "", format, charts, error);
    }
    cli_contest_views_free(&views);
    return is_fine;
}
