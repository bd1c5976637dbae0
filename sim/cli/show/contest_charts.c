/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the charts of tune's comparison. */
#include "cli/contest_charts.h"

#include <stdlib.h>
#include <string.h>

#include "contest_views.h"
#include "reports/reports.h"

/* FOLDER/SCENARIO-tune-CHART.EXT, put behind the others. */
static const char *next_path(const char *scenario, const char *chart, int format, struct cli_charts *charts,
                             struct sim_error *error)
{
    static const char *const endings[REPORT_FORMAT_COUNT] = {"png", "svg", "pdf"};
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    struct report_files *files = &charts->files[format];
    const char *folder = charts->folder;
    size_t folder_size = strlen(folder), size = folder_size + strlen(scenario) + strlen(chart) + 16;
    char **paths = realloc(files->paths, (files->count + 1) * sizeof *paths);
    if (paths != NULL)
        files->paths = paths;
    char *path = malloc(size);
    if (paths == NULL || path == NULL) {
        free(path);
        sim_fail_memory(error);
        return NULL;
    }
    bool has_slash = folder_size > 0 && folder[folder_size - 1] == '/';
    int used = snprintf(path, size, "%s%s", folder, has_slash ? "" : "/");
    snprintf(path + used, size - (size_t)used, "%s-tune-%s.%s", scenario, chart, endings[format]);
    for (char *c = path + used; c < path + used + strlen(scenario); c++) {
        if (strchr(safe, *c) == NULL)
            *c = '-';
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
    return !views->has_heatmap ||
           ((path = next_path(scenario, "thresholds", format, charts, error)) != NULL &&
            report_heatmap_write(&views->heatmap, (enum report_format)format, path, error));
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
