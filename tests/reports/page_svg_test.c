/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a chart in a page equals the chart: every text and every hint, nothing beyond its sides, the charts'
 * colours in light mode and readable ones in dark mode. Method: the SVG of every case, read back by an XML
 * parser and compared with the scene mark by mark; the style sheet compared with style.c; failing writers;
 * images by librsvg compared with those by Cairo. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include <ctype.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <unistd.h>

#include "../share.h"
#include "reports/render.h"
#include "sheet.h"

static const double slack = 0.02;

static xmlNode *next_of(xmlNode *node, xmlNode *top)
{
    if (node->children != NULL) {
        return node->children;
    }
    while (node != top && node->next == NULL) {
        node = node->parent;
    }
    return node == top ? NULL : node->next;
}

static bool is_named(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

/* The attribute's value, "" when there is none; the caller frees it. */
static char *attribute(xmlNode *node, const char *name)
{
    xmlChar *value = xmlGetProp(node, (const xmlChar *)name);
    char *text = strdup(value != NULL ? (const char *)value : "");
    assert_non_null(text);
    xmlFree(value);
    return text;
}

/* A number of digits, with at most two after the point. */
static double number(const char **at)
{
    const char *begin = *at;
    *at += **at == '-';
    assert_true(isdigit((unsigned char)**at) || **at == '.');
    *at += strspn(*at, "0123456789");
    if (**at == '.') {
        const size_t decimals = strspn(*at + 1, "0123456789");
        assert_in_range(decimals, 1, 2);
        *at += 1 + decimals;
    }
    assert_true(**at != 'e' && **at != 'E');
    return strtod(begin, NULL);
}

static double length(xmlNode *node, const char *name)
{
    char *text = attribute(node, name);
    const char *at = text;
    const double value = number(&at);
    assert_int_equal(*at, 0);
    free(text);
    return value;
}

static void check_place(const struct report_scene *scene, double x, double y)
{
    assert_true(x >= -slack && x <= scene->width + slack && y >= -slack && y <= scene->height + slack);
}

static void check_path(const struct report_scene *scene, const char *path)
{
    double x = 0, y = 0;
    for (const char *at = path; *at != 0;) {
        const char command = *at++;
        double by[7] = {0};
        const size_t count = command == 'z'                     ? 0
                             : command == 'h' || command == 'v' ? 1
                             : command == 'a'                   ? 7
                                                                : 2;
        for (size_t i = 0; i < count; i++) {
            at += *at == ' ';
            by[i] = number(&at);
        }
        switch (command) {
        case 'M':
            x = by[0];
            y = by[1];
            break;
        case 'h':
            x += by[0];
            break;
        case 'v':
            y += by[0];
            break;
        case 'l':
            x += by[0];
            y += by[1];
            break;
        case 'a':
            x += by[5];
            y += by[6];
            break;
        default:
            assert_int_equal(command, 'z');
        }
        check_place(scene, x, y);
    }
    assert_int_equal(path[0], 'M');
}

static void check_places(const struct report_scene *scene, xmlNode *root)
{
    for (xmlNode *node = root; node != NULL; node = next_of(node, root)) {
        if (is_named(node, "rect")) {
            check_place(scene, length(node, "x"), length(node, "y"));
            check_place(scene, length(node, "x") + length(node, "width"),
                        length(node, "y") + length(node, "height"));
        } else if (is_named(node, "path")) {
            char *path = attribute(node, "d");
            check_path(scene, path);
            free(path);
        } else if (is_named(node, "text") && !xmlHasProp(node, (const xmlChar *)"transform")) {
            check_place(scene, length(node, "x"), length(node, "y"));
            check_place(scene, length(node, "x") + length(node, "textLength"), length(node, "y"));
        } else if (is_named(node, "text")) {
            char *text = attribute(node, "transform");
            const char *at = text + strlen("translate(");
            const double x = number(&at);
            assert_int_equal(*at++, ' ');
            const double y = number(&at);
            assert_string_equal(at, ")rotate(-90)");
            check_place(scene, x, y);
            check_place(scene, x, y - length(node, "textLength"));
            free(text);
        }
    }
}

/* Removes the spaces of a text, since line breaks replace some of them. */
static void squeeze(const char *text, char *out)
{
    for (; *text != 0; text++) {
        if (*text != ' ') {
            *out++ = *text;
        }
    }
    *out = 0;
}

/* Whether `told` is the whole text, or its beginning and its end around an ellipsis. */
static bool is_told(const char *whole, const char *told)
{
    const char *cut = strstr(told, "…");
    if (cut == NULL || strcmp(whole, told) == 0) {
        return strcmp(whole, told) == 0;
    }
    const char *rest = cut + strlen("…");
    return strncmp(whole, told, (size_t)(cut - told)) == 0 && strlen(whole) >= strlen(rest) &&
           strcmp(whole + strlen(whole) - strlen(rest), rest) == 0;
}

static xmlNode *next_text(xmlNode *node, xmlNode *root)
{
    do {
        node = next_of(node, root);
    } while (node != NULL && !is_named(node, "text"));
    return node;
}

static void check_texts(const struct report_scene *scene, xmlNode *root)
{
    xmlNode *node = next_text(root, root);
    for (size_t i = 0; i < scene->count; i++) {
        const struct report_mark *mark = &scene->marks[i];
        if (mark->shape != REPORT_SHAPE_TEXT || mark->type.text[0] == 0) {
            continue;
        }
        char *whole = calloc(1, strlen(mark->type.text) + 1), told[8192] = "";
        assert_non_null(whole);
        squeeze(mark->type.text, whole);
        int lines = 0;
        do {
            assert_non_null(node);
            xmlChar *part = xmlNodeGetContent(node);
            assert_true(strlen(told) + strlen((const char *)part) < sizeof told);
            squeeze((const char *)part, told + strlen(told));
            xmlFree(part);
            node = next_text(node, root);
            lines++;
        } while (!is_told(whole, told) && lines < mark->type.lines);
        if (!is_told(whole, told)) {
            fail_msg("'%s' became '%s'", whole, told);
        }
        free(whole);
    }
    assert_null(node);
}

static void check_hints(const struct report_scene *scene, xmlNode *root)
{
    xmlNode *node = root;
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->marks[i].hint == NULL) {
            continue;
        }
        do {
            node = next_of(node, root);
            assert_non_null(node);
        } while (node->type != XML_ELEMENT_NODE || !xmlHasProp(node, (const xmlChar *)"data-hint"));
        char *hint = attribute(node, "data-hint");
        assert_string_equal(hint, scene->marks[i].hint);
        free(hint);
    }
}

static void check_names(const struct report_chart *chart, xmlNode *root)
{
    char *role = attribute(root, "role"), *by = attribute(root, "aria-labelledby");
    assert_string_equal(role, "img");
    assert_string_equal(by, chart->subtitle[0] != 0 ? "it-t it-d" : "it-t");
    assert_true(is_named(root->children, "title"));
    xmlChar *title = xmlNodeGetContent(root->children);
    assert_string_equal((const char *)title, chart->title);
    xmlFree(title);
    free(role);
    free(by);
}

static void test_chart_of_each_case_is_complete(void **state)
{
    for (size_t i = 0; i < fixture_pages_count(); i += test_share()) {
        struct report_arena arena = {NULL};
        struct report_scene scene;
        struct report_chart *chart = fixture_pages_chart(i, &arena);
        if (chart->absent == NULL) {
            report_layout(chart, REPORT_PAGE_WIDTH, *state, &arena, &scene);
            char *text = fixture_svg_chart(chart, &scene, "it");
            xmlDocPtr document = xmlReadMemory(text, (int)strlen(text), "it.svg", NULL, 0);
            assert_non_null(document);
            xmlNode *root = xmlDocGetRootElement(document);
            check_names(chart, root);
            check_places(&scene, root);
            check_texts(&scene, root);
            check_hints(&scene, root);
            xmlFreeDoc(document);
            free(text);
        }
        report_arena_free(&arena);
    }
}

/* A page's section already has the title, so the chart begins with its legend. */
static void test_chart_without_a_title_begins_at_the_top(void **state)
{
    struct report_arena arena = {NULL};
    struct report_scene with, without;
    struct report_chart *chart = fixture_pages_chart(0, &arena), bare = *chart;
    bare.title = bare.subtitle = bare.foot = "";
    report_layout(chart, REPORT_PAGE_WIDTH, *state, &arena, &with);
    report_layout(&bare, REPORT_PAGE_WIDTH, *state, &arena, &without);
    assert_true(without.height < with.height - 50);
    assert_true(without.marks[0].box.y < 30);
    char *text = fixture_svg_chart(chart, &without, "it");
    assert_non_null(strstr(text, chart->title));
    assert_null(strstr(text, "class=\"t-title\""));
    free(text);
    report_arena_free(&arena);
}

static void test_markup_stays_text(void **state)
{
    static const char label[] = "<script>alert('&amp;')</script>\"]]>";
    const struct report_front_point point = {label, 1, 2, 2, 2, true, true};
    const struct report_front front = {.scenario = label, .points = &point, .count = 1};
    struct report_arena arena = {NULL};
    struct report_scene scene;
    const struct report_chart *chart = report_front_make(&front, &arena);
    report_layout(chart, REPORT_PAGE_WIDTH, *state, &arena, &scene);
    char *text = fixture_svg_chart(chart, &scene, "it");
    assert_null(strstr(text, "<script"));
    xmlDocPtr document = xmlReadMemory(text, (int)strlen(text), "it.svg", NULL, 0);
    assert_non_null(document);
    check_texts(&scene, xmlDocGetRootElement(document));
    check_hints(&scene, xmlDocGetRootElement(document));
    xmlFreeDoc(document);
    free(text);
    report_arena_free(&arena);
}

static void test_text_beyond_its_room_is_reported_as_truncated(void **state)
{
    struct report_arena arena = {NULL};
    size_t count;
    const struct report_type whole = {"one two three four", REPORT_FONT_LABEL, 0, 1};
    const struct report_set_line *lines = report_typeset_lines(*state, &whole, &arena, &count);
    assert_int_equal(count, 1);
    assert_string_equal(lines[0].text, "one two three four");
    const double width = lines[0].width, baseline = lines[0].baseline;
    assert_true(width > 80 && baseline > 8 && lines[0].x == 0);
    const struct report_type broken = {"one two three four", REPORT_FONT_LABEL, width - 5, 2};
    lines = report_typeset_lines(*state, &broken, &arena, &count);
    assert_int_equal(count, 2);
    assert_string_equal(lines[0].text, "one two three");
    assert_string_equal(lines[1].text, "four");
    assert_true(lines[1].baseline > lines[0].baseline + 10 && lines[1].width < lines[0].width);
    const struct report_type cut = {"one two three four", REPORT_FONT_LABEL, width - 20, 1};
    lines = report_typeset_lines(*state, &cut, &arena, &count);
    assert_int_equal(count, 1);
    assert_true(strncmp(lines[0].text, "one", 3) == 0 && strstr(lines[0].text, "…") != NULL);
    assert_string_equal(lines[0].text + strlen(lines[0].text) - 4, "four");
    assert_true(lines[0].width <= width - 20);
    const struct report_type ended = {"one two three four five six", REPORT_FONT_LABEL, 60, 2};
    lines = report_typeset_lines(*state, &ended, &arena, &count);
    assert_int_equal(count, 2);
    assert_string_equal(lines[0].text, "one two");
    assert_string_equal(lines[1].text, "three f…");
    report_arena_free(&arena);
}

static struct report_colour variable(const char *style, size_t block, const char *name)
{
    char text[64] = "";
    unsigned red = 0, green = 0, blue = 0;
    if (!fixture_svg_variable(style, block, name, text, sizeof text) ||
        sscanf(text, "#%2x%2x%2x", &red, &green, &blue) != 3 || strlen(text) != 7) {
        fail_msg(
            "charts.css: %s of block %zu is '%s'; every ink of chart.h has a colour in each of the three",
            name, block, text);
    }
    return (struct report_colour){red / 255.0, green / 255.0, blue / 255.0};
}

static void check_colour(const char *style, const char *name, struct report_colour wanted)
{
    const struct report_colour is = variable(style, 0, name);
    if (fabs(is.red - wanted.red) + fabs(is.green - wanted.green) + fabs(is.blue - wanted.blue) > 1e-9) {
        fail_msg("charts.css: %s is not the colour of style.c", name);
    }
}

static void test_light_colours_and_fonts_are_those_of_the_charts(void **state)
{
    (void)state;
    char *style = fixture_svg_style(), name[64], rule[256];
    for (int i = 0; i < REPORT_INK_COUNT; i++) {
        const enum report_ink ink = (enum report_ink)i;
        snprintf(name, sizeof name, "--ink-%s", report_inks[ink].name);
        check_colour(style, name, report_inks[ink].colour);
        snprintf(rule, sizeof rule, ".i-%s { color: var(%s); }", report_inks[ink].name, name);
        assert_non_null(strstr(style, rule));
        if (report_inks[ink].strokes == 0) {
            continue;
        }
        snprintf(name, sizeof name, "--ink-%s-fill", report_inks[ink].name);
        check_colour(style, name, report_inks[ink].fill);
        snprintf(name, sizeof name, "--ink-%s-flat", report_inks[ink].name);
        check_colour(style, name, report_inks[ink].flat);
        snprintf(rule, sizeof rule, ".g-%s { fill: var(--ink-%s-fill); }", report_inks[ink].name,
                 report_inks[ink].name);
        assert_non_null(strstr(style, rule));
    }
    for (int i = 0; i < REPORT_FONT_COUNT; i++) {
        const struct report_font_style *font = &report_fonts[(enum report_font)i];
        snprintf(rule, sizeof rule, ".t-%s { font: %s%s%gpx \"%s\", ", report_fonts[(enum report_font)i].name,
                 font->is_italic ? "italic " : "", font->is_bold ? "bold " : "", font->size,
                 REPORT_FONT_FAMILY);
        if (strstr(style, rule) == NULL) {
            fail_msg("no rule '%s'", rule);
        }
        snprintf(name, sizeof name, "fill: var(--ink-%s); }", report_inks[font->ink].name);
        const char *at = strstr(strstr(style, rule), "fill: ");
        assert_memory_equal(at, name, strlen(name));
    }
    free(style);
}

static double channel(double value)
{
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* The contrast as WCAG 2.2 defines it. */
static double contrast(struct report_colour a, struct report_colour b)
{
    const double la = 0.2126 * channel(a.red) + 0.7152 * channel(a.green) + 0.0722 * channel(a.blue);
    const double lb = 0.2126 * channel(b.red) + 0.7152 * channel(b.green) + 0.0722 * channel(b.blue);
    return (fmax(la, lb) + 0.05) / (fmin(la, lb) + 0.05);
}

static void test_dark_colours_are_complete_and_readable(void **state)
{
    (void)state;
    char *style = fixture_svg_style(), name[64];
    for (size_t block = 0; block < 3; block++) {
        const struct report_colour paper = variable(style, block, "--ink-halo");
        for (int i = 0; i < REPORT_FONT_COUNT - 2; i++) {
            const struct report_font_style *font = &report_fonts[(enum report_font)i];
            snprintf(name, sizeof name, "--ink-%s", report_inks[font->ink].name);
            assert_true(contrast(variable(style, block, name), paper) >= 4.5);
        }
        for (int i = 0; i < REPORT_INK_COUNT; i++) {
            snprintf(name, sizeof name, "--ink-%s", report_inks[(enum report_ink)i].name);
            const struct report_colour ink = variable(style, block, name);
            const struct report_colour twin = variable(style, block == 2 ? 1 : block, name);
            assert_true(contrast(ink, twin) == 1);
            const bool is_ground = i == REPORT_INK_OVER || i == REPORT_INK_TINY || i == REPORT_INK_SPLIT ||
                                   i == REPORT_INK_GRID || i == REPORT_INK_HALO || i == REPORT_INK_ZERO;
            /* Light mode is exempt: no background gives Okabe and Ito's yellow and orange more contrast. */
            if (!is_ground && block > 0 && contrast(ink, paper) < 3) {
                fail_msg("%s stands out too little in the dark", name);
            }
        }
    }
    free(style);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

/* The largest difference, from 0 to 255, between the mean colours of corresponding squares: letters and edges
 * may differ by their anti-aliasing, but missing or displaced elements are detected. */
static double worst_square(cairo_surface_t *one, cairo_surface_t *two)
{
    enum { SIDE = 16 };
    const int width = cairo_image_surface_get_width(one), height = cairo_image_surface_get_height(one);
    assert_int_equal(width, cairo_image_surface_get_width(two));
    assert_int_equal(height, cairo_image_surface_get_height(two));
    double worst = 0;
    for (int top = 0; top + SIDE <= height; top += SIDE) {
        for (int left = 0; left + SIDE <= width; left += SIDE) {
            for (int channel_at = 0; channel_at < 3; channel_at++) {
                double difference = 0;
                for (int y = top; y < top + SIDE; y++) {
                    const unsigned char *a =
                        cairo_image_surface_get_data(one) + y * cairo_image_surface_get_stride(one);
                    const unsigned char *b =
                        cairo_image_surface_get_data(two) + y * cairo_image_surface_get_stride(two);
                    for (int x = left; x < left + SIDE; x++) {
                        difference += a[4 * x + channel_at] - b[4 * x + channel_at];
                    }
                }
                worst = fmax(worst, fabs(difference) / (SIDE * SIDE));
            }
        }
    }
    return worst;
}

static double compare(size_t index, struct report_typesetter *typesetter)
{
    struct report_arena arena = {NULL};
    struct report_scene scene;
    const struct report_chart *chart = fixture_pages_chart(index, &arena);
    if (chart->absent != NULL) {
        report_arena_free(&arena);
        return 0;
    }
    char folder[] = "report_svg_XXXXXX", svg[64], png[64], made[64], command[256];
    assert_non_null(mkdtemp(folder));
    snprintf(svg, sizeof svg, "%s/it.svg", folder);
    snprintf(png, sizeof png, "%s/it.png", folder);
    snprintf(made, sizeof made, "%s/made.png", folder);
    report_layout(chart, REPORT_PAGE_WIDTH, typesetter, &arena, &scene);
    char *text = fixture_svg_file(chart, &scene, false);
    struct report_bytes bytes;
    assert_true(report_render(&scene, typesetter, REPORT_PNG, chart->title, 0, &bytes, NULL));
    write_file(svg, text, strlen(text));
    write_file(png, bytes.data, bytes.size);
    snprintf(command, sizeof command, "rsvg-convert --zoom 2 --output %s %s", made, svg);
    assert_int_equal(system(command), 0);
    cairo_surface_t *one = cairo_image_surface_create_from_png(png);
    cairo_surface_t *two = cairo_image_surface_create_from_png(made);
    const double worst = worst_square(one, two);
    cairo_surface_destroy(one);
    cairo_surface_destroy(two);
    remove(svg);
    remove(png);
    remove(made);
    rmdir(folder);
    report_bytes_free(&bytes);
    free(text);
    report_arena_free(&arena);
    return worst;
}

static void test_chart_on_the_page_looks_like_its_file(void **state)
{
    if (system("rsvg-convert --version > /dev/null 2>&1") != 0) {
        print_message("there is no rsvg-convert\n");
        skip();
    }
    /* Every case on request; otherwise a few of each form. */
    const size_t step = getenv("BUCKETLAB_ALL_CASES") != NULL ? 1 : test_share() > 1 ? 67 : 23;
    for (size_t i = 0; i < fixture_pages_count(); i += step) {
        const double worst = compare(i, *state);
        if (step == 1) {
            print_message("%zu %.1f\n", i, worst);
        }
        assert_true(worst < 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chart_of_each_case_is_complete),
        cmocka_unit_test(test_chart_without_a_title_begins_at_the_top),
        cmocka_unit_test(test_markup_stays_text),
        cmocka_unit_test(test_text_beyond_its_room_is_reported_as_truncated),
        cmocka_unit_test(test_light_colours_and_fonts_are_those_of_the_charts),
        cmocka_unit_test(test_dark_colours_are_complete_and_readable),
        cmocka_unit_test(test_chart_on_the_page_looks_like_its_file),
    };
    return cmocka_run_group_tests(tests, fixture_typesetter_begin, fixture_typesetter_end);
}
