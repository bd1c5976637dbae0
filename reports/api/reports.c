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

/* The state of one call that writes several charts. */
struct batch {
    struct report_bytes contents[REPORT_KIND_COUNT];
    char *paths[REPORT_KIND_COUNT];
    size_t count;
};

void report_files_free(struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->paths[i]);
    }
    free(files->paths);
    *files = (struct report_files){0};
}

static bool make_one(const struct lab_result *result, enum report_kind kind, enum report_format format,
                     const char *folder, struct report_typesetter *typesetter, struct batch *batch,
                     struct sim_error *error)
{
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart *chart;
    struct report_scene scene;
    bool ok = report_chart_make(result, kind, &arena, &chart, error);
    if (ok && chart->absent == NULL) {
        ok = report_layout(chart, REPORT_PAGE_WIDTH, typesetter, &arena, &scene, error) &&
             report_render(&scene, typesetter, format, chart->title, chart->start_ns,
                           &batch->contents[batch->count], error);
        if (ok) {
            char *path = report_output_path(folder, result->scenario_name, result->is_tuned, chart->name,
                                            report_format_extension(format));
            batch->paths[batch->count] = path;
            ok = path != NULL ? true : sim_fail_memory(error);
            batch->count++;
        }
    }
    report_arena_free(&arena);
    return ok;
}

static bool make_all(const struct lab_result *result, enum report_format format, const char *folder,
                     struct batch *batch, struct sim_error *error)
{
    struct report_typesetter *typesetter = report_typesetter_create(error);
    bool ok = typesetter != NULL;
    for (int kind = 0; ok && kind < REPORT_KIND_COUNT; kind++) {
        ok = make_one(result, (enum report_kind)kind, format, folder, typesetter, batch, error);
    }
    report_typesetter_destroy(typesetter);
    return ok;
}

static bool hand_over(struct batch *batch, struct report_files *out, struct sim_error *error)
{
    out->paths = calloc(batch->count, sizeof *out->paths);
    if (out->paths == NULL) {
        return sim_fail_memory(error);
    }
    for (size_t i = 0; i < batch->count; i++) {
        out->paths[i] = batch->paths[i];
        batch->paths[i] = NULL;
    }
    out->count = batch->count;
    return true;
}

bool report_write(const struct lab_result *result, enum report_format format, const char *folder,
                  struct report_files *out, struct sim_error *error)
{
    *out = (struct report_files){0};
    struct batch batch = {0};
    bool ok = make_all(result, format, folder, &batch, error);
    if (ok && batch.count > 0) {
        ok = hand_over(&batch, out, error) &&
             report_output(folder, out->paths, batch.contents, out->count, error);
    }
    for (size_t i = 0; i < REPORT_KIND_COUNT; i++) {
        report_bytes_free(&batch.contents[i]);
        free(batch.paths[i]);
    }
    if (!ok) {
        report_files_free(out);
    }
    return ok;
}

bool report_left_out(const struct lab_result *result, struct report_files *out, struct sim_error *error)
{
    *out = (struct report_files){.paths = calloc(REPORT_KIND_COUNT, sizeof *out->paths)};
    bool ok = out->paths != NULL ? true : sim_fail_memory(error);
    for (int kind = 0; ok && kind < REPORT_KIND_COUNT; kind++) {
        struct report_arena arena;
        report_arena_init(&arena);
        struct report_chart *chart;
        ok = report_chart_make(result, (enum report_kind)kind, &arena, &chart, error);
        if (ok && chart->absent != NULL) {
            char *line = strdup(report_text(&arena, "%s: %s", chart->name, chart->absent));
            out->paths[out->count++] = line;
            ok = line != NULL && !arena.out_of_memory ? true : sim_fail_memory(error);
        }
        report_arena_free(&arena);
    }
    if (!ok) {
        report_files_free(out);
    }
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
        ok = report_output(folder, path, &content, 1, error);
    }
    free(content.data);
    if (!ok) {
        free(*path);
        *path = NULL;
    }
    return ok;
}

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

/* Writes a chart that was made in the arena, which is freed. */
static bool write_chart(struct report_arena *arena, const struct report_chart *chart,
                        enum report_format format, const char *path, struct sim_error *error)
{
    struct report_typesetter *typesetter = report_typesetter_create(error);
    struct report_scene scene;
    struct report_bytes content = {0};
    bool ok = typesetter != NULL && (!arena->out_of_memory || sim_fail_memory(error));
    ok = ok && report_layout(chart, REPORT_PAGE_WIDTH, typesetter, arena, &scene, error) &&
         report_render(&scene, typesetter, format, chart->title, chart->start_ns, &content, error) &&
         write_file(path, &content, error);
    report_bytes_free(&content);
    report_arena_free(arena);
    report_typesetter_destroy(typesetter);
    return ok;
}

bool report_curves_write(const struct report_curves *curves, enum report_format format, const char *path,
                         struct sim_error *error)
{
    struct report_arena arena;
    struct report_chart chart = {.name = "curves"};
    report_arena_init(&arena);
    report_curves_fill(curves, &arena, &chart);
    return write_chart(&arena, &chart, format, path, error);
}

bool report_front_write(const struct report_front *front, enum report_format format, const char *path,
                        struct sim_error *error)
{
    struct report_arena arena;
    struct report_chart chart = {.name = "front"};
    report_arena_init(&arena);
    report_front_fill(front, &arena, &chart);
    return write_chart(&arena, &chart, format, path, error);
}

/* Copies `text` into `arena`, so that it outlives the arena that it comes from. */
static char *keep(struct report_arena *arena, const char *text)
{
    char *kept = strdup(text);
    if (arena->out_of_memory) {
        free(kept);
        kept = NULL;
    }
    report_arena_free(arena);
    return kept;
}

/* An answer and the memory of its texts. */
struct kept_answer {
    struct report_answer answer; /* first, so that a pointer to it is one to both */
    struct report_arena arena;
};

static struct report_answer *keep_answer(struct kept_answer *kept)
{
    if (kept->arena.out_of_memory) {
        report_answer_free(&kept->answer);
        return NULL;
    }
    return &kept->answer;
}

struct report_answer *report_run_answer(const struct lab_result *result)
{
    struct kept_answer *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        return NULL;
    }
    report_arena_init(&kept->arena);
    report_answer_run(result, &kept->arena, &kept->answer);
    return keep_answer(kept);
}

struct report_answer *report_options_answer(const struct report_option *options, size_t count, size_t chosen,
                                            const struct report_terms *terms)
{
    struct kept_answer *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        return NULL;
    }
    report_arena_init(&kept->arena);
    report_answer_of(options, count, chosen, terms, &kept->arena, &kept->answer);
    return keep_answer(kept);
}

void report_answer_free(struct report_answer *answer)
{
    if (answer != NULL) {
        struct kept_answer *kept = (struct kept_answer *)(void *)answer;
        report_arena_free(&kept->arena);
        free(kept);
    }
}

struct report_horizon report_run_horizon(const struct lab_result *result)
{
    return report_horizon_of(result);
}

char *report_no_buckets_told(const struct report_horizon *horizon)
{
    struct report_arena arena;
    report_arena_init(&arena);
    const char *text = report_no_buckets(horizon, &arena);
    if (text[0] != 0) {
        text = report_text(&arena, "%s Run tune again when the largest partition has %s.", text,
                           report_half_limit(horizon, &arena));
    }
    return keep(&arena, text);
}
