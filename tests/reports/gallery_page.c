/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes every chart, both in its form for pages and as a chart file, into an existing folder, for
 * inspection: report_gallery_page FOLDER [dark]. */
#include "fixture.h"

#include "reports/render.h"

static void write_file(const char *folder, size_t index, const char *extension, const void *data, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/page-%03zu.%s", folder, index, extension);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
    puts(path);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    const bool is_dark = argc > 2 && strcmp(argv[2], "dark") == 0;
    struct report_typesetter *typesetter = report_typesetter_create(NULL);
    assert_non_null(typesetter);
    for (size_t i = 0; i < fixture_pages_count(); i++) {
        struct report_arena arena = {NULL};
        struct report_scene scene;
        const struct report_chart *chart = fixture_pages_chart(i, &arena);
        if (chart->absent == NULL) {
            struct report_bytes png;
            report_layout(chart, REPORT_PAGE_WIDTH, typesetter, &arena, &scene);
            char *svg = fixture_svg_file(chart, &scene, is_dark);
            write_file(folder, i, "svg", svg, strlen(svg));
            free(svg);
            assert_true(report_render(&scene, typesetter, REPORT_PNG, chart->title, 0, &png, NULL));
            write_file(folder, i, "png", png.data, png.size);
            report_bytes_free(&png);
        }
        report_arena_free(&arena);
    }
    report_typesetter_destroy(typesetter);
    return 0;
}
