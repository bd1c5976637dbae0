/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the charts of a result to files. */
#include "reports/reports.h"

#include <glib.h>
#include <string.h>

#include "reports/format.h"
#include "reports/model.h"
#include "reports/output.h"
#include "reports/render.h"
#include "reports/scene.h"

void report_files_free(struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        g_free(files->paths[i]);
    g_free(files->paths);
    *files = (struct report_files){0};
}

/* The charts of a result, and the front of tune. */
enum { CHARTS = REPORT_KIND_COUNT + 1 };

/* Makes the bytes of one chart, and its path, unless it has nothing to show. */
static bool make_one(const struct lab_result *result, const struct report_front *front, int kind,
                     enum report_format format, const char *folder, struct report_typesetter *typesetter,
                     struct report_arena *arena, struct report_files *out, struct report_bytes *contents,
                     struct sim_error *error)
{
    struct report_scene scene;
    const bool is_front = kind == REPORT_KIND_COUNT;
    if (is_front && front == NULL)
        return true;
    const struct report_chart *chart =
        is_front ? report_front_make(front, arena) : report_chart_make(result, (enum report_kind)kind, arena);
    if (chart->absent != NULL)
        return true;
    report_layout(chart, REPORT_PAGE_WIDTH, typesetter, arena, &scene);
    if (!report_render(&scene, typesetter, format, chart->title, chart->start_ns, &contents[out->count],
                       error))
        return false;
    out->paths[out->count++] =
        report_output_path(folder, result->scenario_name, result->is_tuned && !is_front, chart->name,
                           report_format_extension(format));
    return true;
}

bool report_write(const struct lab_result *result, const struct report_front *front,
                  enum report_format format, const char *folder, struct report_files *out,
                  struct sim_error *error)
{
    struct report_bytes contents[CHARTS] = {{0}};
    *out = (struct report_files){.paths = g_new0(char *, CHARTS)};
    struct report_typesetter *typesetter = report_typesetter_create(error);
    bool ok = typesetter != NULL;
    for (int kind = 0; ok && kind < CHARTS; kind++) {
        struct report_arena arena = {NULL};
        ok = make_one(result, front, kind, format, folder, typesetter, &arena, out, contents, error);
        report_arena_free(&arena);
    }
    report_typesetter_destroy(typesetter);
    ok = ok && (out->count == 0 ||
                report_output((const char *const *)out->paths, contents, out->count, false, error));
    for (size_t i = 0; i < CHARTS; i++)
        report_bytes_free(&contents[i]);
    if (!ok)
        report_files_free(out);
    return ok;
}

void report_left_out(const struct lab_result *result, struct report_files *out)
{
    struct report_arena arena = {NULL};
    *out = (struct report_files){.paths = g_new0(char *, REPORT_KIND_COUNT)};
    for (int kind = 0; kind < REPORT_KIND_COUNT; kind++) {
        const struct report_chart *chart = report_chart_make(result, (enum report_kind)kind, &arena);
        if (chart->absent != NULL)
            out->paths[out->count++] = g_strdup_printf("%s: %s", chart->name, chart->absent);
    }
    report_arena_free(&arena);
}

bool report_sequence_print(const struct report_sequence *sequence, enum report_format format,
                           struct sim_error *error)
{
    const struct report_chart chart = {.form = REPORT_FORM_SEQUENCE,
                                       .title = sequence->title,
                                       .subtitle = sequence->subtitle,
                                       .foot = "",
                                       .sequence = sequence};
    struct report_typesetter *typesetter = report_typesetter_create(error);
    struct report_arena arena = {NULL};
    struct report_scene scene;
    struct report_bytes content = {0};
    if (typesetter == NULL)
        return false;
    report_layout(&chart, REPORT_PAGE_WIDTH, typesetter, &arena, &scene);
    const bool ok = report_render(&scene, typesetter, format, chart.title, 0, &content, error) &&
                    fwrite(content.data, 1, content.size, stdout) == content.size && fflush(stdout) == 0;
    report_bytes_free(&content);
    report_arena_free(&arena);
    report_typesetter_destroy(typesetter);
    return ok;
}
