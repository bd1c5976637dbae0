/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart of a page as a separate SVG file, with the style sheet's variables filled in. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include "sheet.h"

static const char block_end[] = "}";

char *fixture_svg_style(void)
{
    FILE *file = fopen(REPORTS_SOURCE_DIR "/page/charts.css", "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_in_range(fread(text, 1, (1 << 16) - 1, file), 1000, (1 << 16) - 2);
    fclose(file);
    return text;
}

bool fixture_svg_variable(const char *style, size_t block, const char *name, char *out, size_t size)
{
    const char *at = strstr(style, ":root");
    for (size_t i = 0; i < block && at != NULL; i++) {
        at = strstr(at + 1, ":root");
        /* ":root:not(" contains ":root" only once */
    }
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s: ", name);
    const char *end = at != NULL ? strstr(at, block_end) : NULL;
    const char *found = at != NULL ? strstr(at, wanted) : NULL;
    if (found == NULL || found > end) {
        return false;
    }
    found += strlen(wanted);
    snprintf(out, size, "%.*s", (int)strcspn(found, ";"), found);
    return true;
}

static char *written(xmlTextWriterPtr writer, xmlBufferPtr buffer)
{
    xmlFreeTextWriter(writer);
    char *text = strdup((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    assert_non_null(text);
    return text;
}

char *fixture_svg_chart(const struct report_chart *chart, const struct report_scene *scene, const char *id)
{
    xmlBufferPtr buffer = xmlBufferCreate();
    xmlTextWriterPtr writer = xmlNewTextWriterMemory(buffer, 0);
    struct report_sheet sheet = {.writer = writer, .arena = scene->arena};
    report_page_svg(&sheet, chart, scene, id);
    return written(writer, buffer);
}

char *fixture_svg_patterns(void)
{
    struct report_arena arena = {NULL};
    xmlBufferPtr buffer = xmlBufferCreate();
    xmlTextWriterPtr writer = xmlNewTextWriterMemory(buffer, 0);
    struct report_sheet sheet = {.writer = writer, .arena = &arena};
    report_page_svg_patterns(&sheet);
    report_arena_free(&arena);
    return written(writer, buffer);
}

/* The rules after the variables, with the values of the variables filled in. */
static void write_rules(const char *style, bool is_dark, FILE *out)
{
    static const char use[] = "var(";
    const char *at = strstr(style, "\n.chart-svg");
    assert_non_null(at);
    for (const char *next; (next = strstr(at, use)) != NULL;) {
        char name[64], value[64];
        fwrite(at, 1, (size_t)(next - at), out);
        next += sizeof use - 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(next, ")"), next);
        assert_true(fixture_svg_variable(style, is_dark ? 1 : 0, name, value, sizeof value));
        fputs(value, out);
        at = next + strlen(name) + 1;
    }
    fputs(at, out);
}

char *fixture_svg_file(const struct report_chart *chart, const struct report_scene *scene, bool is_dark)
{
    char *style = fixture_svg_style(), *patterns = fixture_svg_patterns();
    char *body = fixture_svg_chart(chart, scene, "chart");
    char paper[64], *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(fixture_svg_variable(style, is_dark ? 1 : 0, "--ink-halo", paper, sizeof paper));
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"%.0f\" "
            "height=\"%.0f\"><style><![CDATA[",
            scene->width, scene->height);
    write_rules(style, is_dark, out);
    fprintf(out, "]]></style><rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>%s%s</svg>\n", paper,
            patterns, body);
    fclose(out);
    free(body);
    free(patterns);
    free(style);
    return text;
}
