/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes charts of a caller's plain data, one file per chart. */
#define _POSIX_C_SOURCE 200809L

#include "reports/reports.h"

#include <stdlib.h>
#include <string.h>

#include "reports/model.h"
#include "reports/output.h"
#include "reports/render.h"
#include "reports/scene.h"

/* Fills `chart` from `data`. The arena records a failure. */
typedef void fill_chart(const void *data, struct report_arena *arena, struct report_chart *chart);

static bool write_file(const char *path, const struct report_bytes *content, struct sim_error *error)
{
    char *copy = strdup(path);
    if (copy == NULL) {
        return sim_fail_memory(error);
    }
    char *slash = strrchr(copy, '/');
    const char *folder = slash == NULL ? "." : slash == copy ? "/" : copy;
    if (slash != NULL && slash != copy) {
        *slash = 0;
    }
    char *paths[] = {strdup(path)};
    bool ok = paths[0] != NULL ? report_output(folder, paths, content, 1, error) : sim_fail_memory(error);
    free(paths[0]);
    free(copy);
    return ok;
}

static bool write_chart(fill_chart *fill, const void *data, const char *name, enum report_format format,
                        const char *path, struct sim_error *error)
{
    struct report_typesetter *typesetter = report_typesetter_create(error);
    if (typesetter == NULL) {
        return false;
    }
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = name};
    fill(data, &arena, &chart);
    struct report_scene scene;
    struct report_bytes content = {0};
    bool ok = arena.out_of_memory ? sim_fail_memory(error) : true;
    ok = ok && report_layout(&chart, REPORT_PAGE_WIDTH, typesetter, &arena, &scene, error) &&
         report_render(&scene, typesetter, format, chart.title, chart.start_ns, &content, error) &&
         write_file(path, &content, error);
    report_bytes_free(&content);
    report_arena_free(&arena);
    report_typesetter_destroy(typesetter);
    return ok;
}

static void fill_curves(const void *data, struct report_arena *arena, struct report_chart *chart)
{
    report_curves_fill(data, arena, chart);
}

bool report_curves_write(const struct report_curves *curves, enum report_format format, const char *path,
                         struct sim_error *error)
{
    return write_chart(fill_curves, curves, "curves", format, path, error);
}

static void fill_front(const void *data, struct report_arena *arena, struct report_chart *chart)
{
    report_front_fill(data, arena, chart);
}

bool report_front_write(const struct report_front *front, enum report_format format, const char *path,
                        struct sim_error *error)
{
    return write_chart(fill_front, front, "front", format, path, error);
}

static void fill_heatmap(const void *data, struct report_arena *arena, struct report_chart *chart)
{
    report_heatmap_fill(data, arena, chart);
}

bool report_heatmap_write(const struct report_heatmap *heatmap, enum report_format format, const char *path,
                          struct sim_error *error)
{
    return write_chart(fill_heatmap, heatmap, "heatmap", format, path, error);
}

static void fill_regions(const void *data, struct report_arena *arena, struct report_chart *chart)
{
    report_regions_fill(data, arena, chart);
}

bool report_regions_write(const struct report_regions *regions, enum report_format format, const char *path,
                          struct sim_error *error)
{
    return write_chart(fill_regions, regions, "regions", format, path, error);
}
