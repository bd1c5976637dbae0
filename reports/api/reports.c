/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes charts to files: those of a result, and those of plain data, and makes the answer of a result. */
#define _POSIX_C_SOURCE 200809L
#include "reports/reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/answer.h"
#include "reports/format.h"
#include "reports/model.h"
#include "reports/output.h"
#include "reports/render.h"
#include "reports/scene.h"

void report_files_free(struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct report_files){0};
}

/* Makes the bytes of one chart of the result, and its path, unless it has nothing to show. */
static bool make_one(const struct lab_result *result, enum report_kind kind, enum report_format format,
                     const char *folder, struct report_typesetter *typesetter, struct report_arena *arena,
                     struct report_files *out, struct report_bytes *contents, struct sim_error *error)
{
    struct report_scene scene;
    if (report_arena_fails(arena))
        return sim_fail_memory(error);
    const struct report_chart *chart = report_chart_make(result, kind, arena);
    if (chart->absent != NULL)
        return true;
    report_layout(chart, REPORT_PAGE_WIDTH, typesetter, arena, &scene);
    if (!report_render(&scene, typesetter, format, chart->title, chart->start_ns, &contents[out->count],
                       error))
        return false;
    char *path = report_output_path(folder, result->scenario_name, result->is_tuned, chart->name,
                                    report_format_extension(format));
    out->paths[out->count++] = path;
    return path != NULL ? true : sim_fail_memory(error);
}

bool report_write(const struct lab_result *result, enum report_format format, const char *folder,
                  struct report_files *out, struct sim_error *error)
{
    struct report_bytes contents[REPORT_KIND_COUNT] = {{0}};
    *out = (struct report_files){.paths = calloc(REPORT_KIND_COUNT, sizeof *out->paths)};
    struct report_typesetter *typesetter = report_typesetter_create(error);
    bool ok = typesetter != NULL && (out->paths != NULL || sim_fail_memory(error));
    for (int kind = 0; ok && kind < REPORT_KIND_COUNT; kind++) {
        struct report_arena arena;
        report_arena_init(&arena);
        ok = make_one(result, (enum report_kind)kind, format, folder, typesetter, &arena, out, contents,
                      error);
        report_arena_free(&arena);
    }
    report_typesetter_destroy(typesetter);
    ok = ok &&
         (out->count == 0 || report_output((const char *const *)out->paths, contents, out->count, error));
    for (size_t i = 0; i < REPORT_KIND_COUNT; i++)
        report_bytes_free(&contents[i]);
    if (!ok)
        report_files_free(out);
    return ok;
}

static bool list_left_out(const struct lab_result *result, struct report_arena *arena,
                          struct report_files *out, struct sim_error *error)
{
    if (out->paths == NULL || report_arena_fails(arena))
        return sim_fail_memory(error);
    for (int kind = 0; kind < REPORT_KIND_COUNT; kind++) {
        const struct report_chart *chart = report_chart_make(result, (enum report_kind)kind, arena);
        if (chart->absent != NULL) {
            char *line = strdup(report_text(arena, "%s: %s", chart->name, chart->absent));
            out->paths[out->count++] = line;
            if (line == NULL)
                return sim_fail_memory(error);
        }
    }
    return true;
}

bool report_left_out(const struct lab_result *result, struct report_files *out, struct sim_error *error)
{
    struct report_arena arena;
    report_arena_init(&arena);
    *out = (struct report_files){.paths = calloc(REPORT_KIND_COUNT, sizeof *out->paths)};
    const bool ok = list_left_out(result, &arena, out, error);
    report_arena_free(&arena);
    if (!ok)
        report_files_free(out);
    return ok;
}

bool report_write_text(const char *folder, const char *name, const char *text, char **path,
                       struct sim_error *error)
{
    size_t folder_length = strlen(folder);
    const char *slash = folder_length == 0 || folder[folder_length - 1] == '/' ? "" : "/";
    size_t size = folder_length + strlen(name) + 2;
    struct report_bytes content = {.size = strlen(text)};
    *path = malloc(size);
    content.data = (unsigned char *)strdup(text);
    bool ok = *path != NULL && content.data != NULL;
    if (!ok) {
        sim_fail_memory(error);
    } else {
        snprintf(*path, size, "%s%s%s", folder, slash, name);
        ok = report_output((const char *const *)path, &content, 1, error);
    }
    free(content.data);
    if (!ok) {
        free(*path);
        *path = NULL;
    }
    return ok;
}

/* Makes a chart of plain data, one of the two, in the arena, and writes it. */
static bool write_plain(const struct report_curves *curves, const struct report_front *front,
                        struct report_typesetter *typesetter, struct report_arena *arena,
                        enum report_format format, const char *path, struct sim_error *error)
{
    struct report_chart chart = {.name = ""};
    struct report_scene scene;
    struct report_bytes content;
    if (report_arena_fails(arena))
        return sim_fail_memory(error);
    if (curves != NULL)
        report_curves_fill(curves, arena, &chart);
    else
        report_front_fill(front, arena, &chart);
    report_layout(&chart, REPORT_PAGE_WIDTH, typesetter, arena, &scene);
    if (!report_render(&scene, typesetter, format, chart.title, chart.start_ns, &content, error))
        return false;
    const bool ok = report_output(&path, &content, 1, error);
    report_bytes_free(&content);
    return ok;
}

static bool write_chart(const struct report_curves *curves, const struct report_front *front,
                        enum report_format format, const char *path, struct sim_error *error)
{
    struct report_typesetter *typesetter = report_typesetter_create(error);
    struct report_arena arena;
    report_arena_init(&arena);
    const bool ok = typesetter != NULL && write_plain(curves, front, typesetter, &arena, format, path, error);
    report_arena_free(&arena);
    report_typesetter_destroy(typesetter);
    return ok;
}

bool report_curves_write(const struct report_curves *curves, enum report_format format, const char *path,
                         struct sim_error *error)
{
    return write_chart(curves, NULL, format, path, error);
}

bool report_front_write(const struct report_front *front, enum report_format format, const char *path,
                        struct sim_error *error)
{
    return write_chart(NULL, front, format, path, error);
}

/* An answer and the memory of its texts. */
struct kept_answer {
    struct report_answer answer; /* first, so that a pointer to it is one to both */
    struct report_arena arena;
};

void report_answer_free(struct report_answer *answer)
{
    if (answer != NULL) {
        struct kept_answer *kept = (struct kept_answer *)(void *)answer;
        report_arena_free(&kept->arena);
        free(kept);
    }
}

static bool try_answer(const struct lab_result *result, const struct report_option *options, size_t count,
                       size_t chosen, const struct report_terms *terms, struct kept_answer *out)
{
    if (report_arena_fails(&out->arena))
        return false;
    if (result != NULL)
        report_answer_run(result, &out->arena, &out->answer);
    else
        report_answer_of(options, count, chosen, terms, &out->arena, &out->answer);
    return true;
}

/* The answer of a run, or that of options if there is no result. */
static struct report_answer *answer_of(const struct lab_result *result, const struct report_option *options,
                                       size_t count, size_t chosen, const struct report_terms *terms)
{
    struct kept_answer *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return NULL;
    report_arena_init(&kept->arena);
    if (!try_answer(result, options, count, chosen, terms, kept)) {
        report_answer_free(&kept->answer);
        return NULL;
    }
    return &kept->answer;
}

struct report_answer *report_run_answer(const struct lab_result *result)
{
    return answer_of(result, NULL, 0, SIZE_MAX, NULL);
}

struct report_answer *report_options_answer(const struct report_option *options, size_t count, size_t chosen,
                                            const struct report_terms *terms)
{
    return answer_of(NULL, options, count, chosen, terms);
}

static char *try_no_buckets(const struct report_horizon *horizon, struct report_arena *arena)
{
    if (report_arena_fails(arena))
        return NULL;
    const char *text = report_no_buckets(horizon, arena);
    return strdup(text[0] == 0 ? ""
                               : report_text(arena, "%s Run tune again when the largest partition has %s.",
                                             text, report_half_limit(horizon, arena)));
}

char *report_no_buckets_told(const struct report_horizon *horizon)
{
    struct report_arena arena;
    report_arena_init(&arena);
    char *told = try_no_buckets(horizon, &arena);
    report_arena_free(&arena);
    return told;
}
