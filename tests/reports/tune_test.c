/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: heat maps and fronts show the data, their elements do not overlap, and a file is the same when it is
 * made twice. Method: charts as text; the boxes of every special case, measured by Pango; every allocation
 * fails in turn; files are read back. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include <unistd.h>

#include "../read_file.h"
#include "reports/reports.h"

static struct fixture_heatmap heatmap;
static struct fixture_front front;

/* Cases of both kinds, one after the other. */
enum { CASE_COUNT = FIXTURE_HEATMAP_COUNT + FIXTURE_FRONT_COUNT };

static void fill_case(size_t index, struct report_arena *arena, struct report_chart *chart)
{
    *chart = (struct report_chart){.name = "chart"};
    if (index < FIXTURE_HEATMAP_COUNT) {
        fixture_heatmap(index, &heatmap);
        report_heatmap_fill(&heatmap.heatmap, arena, chart);
    } else {
        fixture_front(index - FIXTURE_HEATMAP_COUNT, &front);
        report_front_fill(&front.front, arena, chart);
    }
}

static void check_dump(const struct report_chart *chart, const char *wanted)
{
    char *text = fixture_text(chart, report_chart_dump);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_heatmap_is_described_tile_by_tile(void **state)
{
    (void)state;
    static const char *const bits[] = {"8", "9"}, *const thresholds[] = {"40", "80", "160"};
    const double nan_value = (double)NAN;
    const struct report_heatmap_cell cells[] = {{0.9, false}, {0.002, true},      {1e-5, true},
                                                {0, false},   {nan_value, false}, {1, false}};
    const struct report_heatmap map = {
        .title = "Risk",
        .x = {"bits", bits, 2},
        .y = {"threshold", thresholds, 3},
        .value = {"risk", REPORT_UNIT_SHARE, REPORT_LOG},
        .least = 1e-4,
        .cells = cells,
        .recommended = "9 bits",
        .recommended_x = 1,
        .recommended_y = 0,
    };
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = "heatmap"};
    report_heatmap_fill(&map, &arena, &chart);
    assert_false(arena.out_of_memory);
    check_dump(&chart, "chart heatmap\ntitle Risk\nsubtitle \nfoot \nstart 0\n"
                       "legend ring recommended: 9 bits\nlegend holds holds (inside the line)\n"
                       "legend zero not tried\n"
                       "scale -4..0 'risk (log scale)' -4='≤ 0.01%' -3='0.1%' -2='1%' -1='10%' 0='100%'\n"
                       "columns 'bits' '8' '9'\nrows 'threshold'\n"
                       "  '40' 0.989='90%' chosen holds 0.325='0.2%'\n"
                       "  '80' holds 0.000='0.001%' 0.000='0%'\n"
                       "  '160' - 1.000='100%'\n");
    report_arena_free(&arena);
}

static void test_front_is_described_point_by_point(void **state)
{
    (void)state;
    fixture_front_begin(&front);
    front.front.foot = NULL;
    fixture_front_add(&front, "expensive", 100, 0.05, true);
    fixture_front_add(&front, "cheap", 0, 0.4, true);
    fixture_front_add(&front, "bad", 100, 0.3, false);
    front.points[2].high = 0.35;
    front.front.has_recommended = true;
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = "front"};
    report_front_fill(&front.front, &arena, &chart);
    assert_false(arena.out_of_memory);
    check_dump(
        &chart,
        "chart front\ntitle What the candidates cost and buy\nsubtitle 24 seeds each\nfoot \nstart 0\n"
        "legend chosen recommended: expensive\nlegend line1 on the front\nlegend pale not on the front\n"
        "x 0, 1.699..2.301 'counter increments per 1000 rows (log scale)' 1.699='50' 1.778='60' "
        "1.845='70' 1.903='80' 1.954='90' 2='100' 2.301='200'\n"
        "y 0..0.416 'spread of rows' 0='0%' 0.1='10%' 0.2='20%' 0.3='30%' 0.4='40%'\n"
        "spot chosen 'expensive' 2,0.05\nspot front 'cheap' -inf,0.4\nspot 'bad' 2,0.3(0.3..0.35)\n");
    report_arena_free(&arena);
}

static void test_values_are_short_and_only_zero_is_0(void **state)
{
    (void)state;
    static const struct {
        enum report_curves_unit unit;
        double value;
        const char *text;
    } cases[] = {
        {REPORT_UNIT_SHARE, 0.0021, "0.21%"},     {REPORT_UNIT_SHARE, 9.7e-8, "10⁻⁵%"},
        {REPORT_UNIT_SHARE, 7.2e-10, "7·10⁻⁸%"},  {REPORT_UNIT_SHARE, 0, "0%"},
        {REPORT_UNIT_SHARE, 1e-200, "<10⁻¹⁶%"},   {REPORT_UNIT_PLAIN, 20480, "20.5K"},
        {REPORT_UNIT_SECONDS, 0.0123, "12.3 ms"}, {REPORT_UNIT_PLAIN, -0.5, "−0.5"},
    };
    static const char *const label[] = {""};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct report_heatmap_cell cell = {cases[i].value, true};
        const struct report_heatmap map = {.x = {"", label, 1},
                                           .y = {"", label, 1},
                                           .value = {"", cases[i].unit, REPORT_LINEAR},
                                           .cells = &cell};
        struct report_arena arena;
        report_arena_init(&arena);
        struct report_chart chart = {.name = "heatmap"};
        report_heatmap_fill(&map, &arena, &chart);
        assert_string_equal(chart.grid.tiles[0].text, cases[i].text);
        report_arena_free(&arena);
    }
}

static size_t count_texts(const struct report_scene *scene, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < scene->count; i++) {
        const struct report_mark *mark = &scene->marks[i];
        count += mark->shape == REPORT_SHAPE_TEXT && strcmp(mark->type.text, text) == 0;
    }
    return count;
}

static bool is_spot_line(const struct report_mark *mark)
{
    return (mark->shape == REPORT_SHAPE_LINE || mark->shape == REPORT_SHAPE_DASHED) &&
           (mark->ink == REPORT_INK_LINE || mark->ink == REPORT_INK_PALE || mark->ink == REPORT_INK_CHOSEN ||
            mark->ink == REPORT_INK_RING || mark->ink == REPORT_INK_HOLDS);
}

/* The stairs, the ranges, the rings and the outline of the tiles within the limits do not cross a text. */
static void check_lines(const struct report_scene *scene)
{
    for (size_t i = 0; i < scene->count; i++) {
        const struct report_box *text = &scene->marks[i].box;
        for (size_t k = 0; scene->marks[i].shape == REPORT_SHAPE_TEXT && k < scene->count; k++) {
            const struct report_box *line = &scene->marks[k].box;
            if (!is_spot_line(&scene->marks[k])) {
                continue;
            }
            const double left = fmin(line->x, line->x + line->width), right = left + fabs(line->width);
            const double top = fmin(line->y, line->y + line->height), bottom = top + fabs(line->height);
            if (left < text->x + text->width && right > text->x && top < text->y + text->height &&
                bottom > text->y) {
                fail_msg("a line runs through '%s'", scene->marks[i].type.text);
            }
        }
    }
}

static void test_charts_of_each_case_do_not_overlap(void **state)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        struct report_arena arena;
        report_arena_init(&arena);
        struct report_chart chart;
        struct report_scene scene;
        fill_case(i, &arena, &chart);
        assert_true(report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL));
        fixture_check_scene(&scene);
        check_lines(&scene);
        report_arena_free(&arena);
    }
}

/* All tiles have the same text, so either all of them show it, including the recommended one, or none
 * does. */
static void test_number_of_the_recommended_tile_is_inside_its_ring(void **state)
{
    for (size_t columns = 1; columns <= 30; columns++) {
        struct report_heatmap_cell cells[30 * 30];
        char texts[30][8];
        const char *labels[30];
        for (size_t i = 0; i < 30 * 30; i++) {
            cells[i] = (struct report_heatmap_cell){0.0123, true};
        }
        for (size_t i = 0; i < 30; i++) {
            snprintf(texts[i], sizeof texts[i], "%zu", i);
            labels[i] = texts[i];
        }
        const struct report_heatmap map = {.x = {"x", labels, columns},
                                           .y = {"y", labels, 30},
                                           .value = {"t", REPORT_UNIT_SHARE, REPORT_LOG},
                                           .cells = cells,
                                           .recommended = "",
                                           .recommended_x = columns / 2,
                                           .recommended_y = 15};
        struct report_arena arena;
        report_arena_init(&arena);
        struct report_chart chart = {.name = "heatmap"};
        struct report_scene scene;
        report_heatmap_fill(&map, &arena, &chart);
        assert_true(report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL));
        const size_t count = count_texts(&scene, "1.23%");
        assert_true(count == 0 || count == columns * 30);
        check_lines(&scene);
        report_arena_free(&arena);
    }
}

static void test_line_around_good_cells_may_have_a_weaker_caption(void **state)
{
    (void)state;
    static const char *const labels[] = {"a", "b"};
    const struct report_heatmap_cell cells[] = {{1, true}, {2, false}};
    struct report_heatmap map = {.x = {"x", labels, 2},
                                 .y = {"y", labels, 1},
                                 .value = {"t", REPORT_UNIT_PLAIN, REPORT_LOG},
                                 .cells = cells,
                                 .inside = "was not seen to fail",
                                 .outside = "failed"};
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = "heatmap"};
    report_heatmap_fill(&map, &arena, &chart);
    assert_string_equal(chart.legend[0].text, "was not seen to fail (inside the line)");
    assert_string_equal(chart.grid.tiles[0].hint, "x: a; y: a; t: 1; was not seen to fail");
    assert_string_equal(chart.grid.tiles[1].hint, "x: b; y: a; t: 2; failed");
    report_arena_free(&arena);
}

static void test_regions_are_named_and_separated(void **state)
{
    enum { SIDE = 9 };
    static const char *const names[] = {"count", "probabilistic", "time"};
    double values[SIDE];
    unsigned owners[SIDE * SIDE];
    for (unsigned i = 0; i < SIDE; i++) {
        values[i] = ldexp(0.0625, (int)i);
    }
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        owners[i] = i % SIDE < 3 ? 0 : i / SIDE < 3 ? 2 : 1;
    }
    const struct report_regions regions = {.title = "t",
                                           .x = {"price", REPORT_UNIT_PLAIN, REPORT_LOG},
                                           .y = {"reads", REPORT_UNIT_PLAIN, REPORT_LOG},
                                           .columns = values,
                                           .rows = values,
                                           .column_count = SIDE,
                                           .row_count = SIDE,
                                           .names = names,
                                           .name_count = 3,
                                           .owners = owners,
                                           .now = "now",
                                           .now_x = 1,
                                           .now_y = 1};
    for (int turn = 0; turn < 2; turn++) {
        struct report_arena arena;
        report_arena_init(&arena);
        struct report_chart chart = {.name = "regions"};
        struct report_scene scene;
        report_regions_fill(&regions, &arena, &chart);
        assert_int_equal(chart.area_count, 2 * SIDE);
        assert_string_equal(chart.areas[0].hint, "price: 0.0625 to 0.25; reads: 0.0625; count");
        assert_true(report_layout(&chart, turn == 0 ? REPORT_PAGE_WIDTH : 390, *state, &arena, &scene, NULL));
        fixture_check_scene(&scene);
        double upright = 0, level = 0;
        for (size_t i = 0; i < scene.count; i++) {
            const struct report_mark *mark = &scene.marks[i];
            if (mark->shape == REPORT_SHAPE_LINE && mark->stroke == 1.2) {
                upright += mark->box.height;
                level += mark->box.width;
            }
        }
        /* The outline covers the whole height between count and the others, and two thirds of the width
         * between these. */
        assert_true(upright > 290 && upright < 310);
        assert_true(level > 0.4 * scene.width && level < 0.7 * scene.width);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(count_texts(&scene, names[i]), 1);
        }
        report_arena_free(&arena);
    }
}

/* The recommended spot, the best one of each kind, and each spot that no spot on the front beats in both
 * figures. */
static bool is_to_be_named(const struct report_chart *chart, size_t index)
{
    const struct report_spot *spot = &chart->spots[index];
    bool is_beaten = !spot->is_on_front;
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *other = &chart->spots[i];
        const bool is_same = other->x == spot->x && other->y == spot->y;
        is_beaten |= i != index && (other->is_on_front || other->is_chosen) && other->x <= spot->x &&
                     other->y <= spot->y && (!is_same || i < index);
    }
    return spot->label[0] != 0 && (spot->is_chosen || spot->is_best || !is_beaten);
}

static void test_only_the_best_of_each_kind_is_named_among_many(void **state)
{
    enum { CROWD = 60, BEST = 40 };
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = "front"};
    struct report_scene scene;
    fixture_front_begin(&front);
    for (int i = 0; i < CROWD; i++) {
        char label[32];
        snprintf(label, sizeof label, "candidate-%d", i);
        fixture_front_add(&front, label, 100 + i % 8, 0.5 + 0.001 * i, true);
    }
    fixture_front_add(&front, "far", 9000, 0.1, true);
    front.points[BEST].is_best = true;
    report_front_fill(&front.front, &arena, &chart);
    assert_true(report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL));
    fixture_check_scene(&scene);
    assert_int_equal(count_texts(&scene, "candidate-40"), 1);
    assert_int_equal(count_texts(&scene, "candidate-41"), 0);
    assert_int_equal(count_texts(&scene, "far"), 1);
    report_arena_free(&arena);
}

static void test_heatmap_of_equal_values_says_so_and_has_no_scale(void **state)
{
    static const char *const names[] = {"a", "b"};
    struct report_heatmap_cell cells[] = {{2.5, true}, {2.5, true}, {2.5, false}, {(double)NAN, false}};
    struct report_heatmap map = {.title = "t",
                                 .x = {"x", names, 2},
                                 .y = {"y", names, 2},
                                 .value = {"cost", REPORT_UNIT_PLAIN, REPORT_LOG},
                                 .cells = cells};
    for (int turn = 0; turn < 2; turn++) {
        struct report_arena arena;
        report_arena_init(&arena);
        struct report_chart chart = {.name = "heatmap"};
        struct report_scene scene;
        cells[0].value = turn == 0 ? 2.5 : 3;
        report_heatmap_fill(&map, &arena, &chart);
        assert_true(report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL));
        size_t tiles = 0;
        for (size_t i = 0; i < scene.count; i++) {
            tiles += scene.marks[i].shape == REPORT_SHAPE_TILE;
        }
        if (turn == 0) {
            assert_string_equal(chart.note, "All 3 values are equal, 2.5: cost.");
            assert_int_equal(tiles, 3);
        } else {
            assert_null(chart.note);
            assert_true(tiles > 30);
        }
        report_arena_free(&arena);
    }
}

static void test_names_of_a_front_are_shown_or_counted(void **state)
{
    for (size_t i = 0; i < FIXTURE_FRONT_COUNT; i++) {
        struct report_arena arena;
        report_arena_init(&arena);
        struct report_chart chart;
        struct report_scene scene;
        fill_case(FIXTURE_HEATMAP_COUNT + i, &arena, &chart);
        assert_true(report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL));
        size_t wanted = 0, placed = 0, left_out = 0;
        for (size_t k = 0; k < chart.spot_count; k++) {
            wanted += is_to_be_named(&chart, k);
        }
        for (size_t k = 0; k < scene.count; k++) {
            const struct report_mark *mark = &scene.marks[k];
            for (size_t n = 0; mark->shape == REPORT_SHAPE_TEXT && n < chart.spot_count; n++) {
                /* The address identifies the spot, since several spots may have equal texts. */
                placed += mark->type.text == chart.spots[n].label && chart.spots[n].label[0] != 0;
            }
            if (mark->shape == REPORT_SHAPE_TEXT && strstr(mark->type.text, "hidden") != NULL) {
                left_out = strtoul(mark->type.text, NULL, 10);
            }
        }
        assert_int_equal(placed + left_out, wanted);
        assert_true(placed > 0 || wanted == 0);
        if (front.front.has_recommended) {
            const char *name = chart.spots[front.front.recommended].label;
            bool stands = name[0] == 0;
            for (size_t k = 0; k < scene.count; k++) {
                stands |= scene.marks[k].shape == REPORT_SHAPE_TEXT && scene.marks[k].type.text == name;
            }
            assert_true(stands);
            char entry[256];
            snprintf(entry, sizeof entry, name[0] != 0 ? "recommended: %s" : "recommended%s", name);
            assert_int_equal(count_texts(&scene, entry), 1);
        }
        report_arena_free(&arena);
    }
}

/* The stairs go right and then down, only through spots on the front. */
static void test_front_line_joins_undominated_points(void **state)
{
    fixture_front_begin(&front);
    fixture_front_add(&front, "", 1, 0.4, true);
    fixture_front_add(&front, "", 100, 0.1, true);
    fixture_front_add(&front, "", 10, 0.2, true);
    fixture_front_add(&front, "", 20, 0.3, true); /* better in another figure */
    fixture_front_add(&front, "", 1000, 0.05, false);
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = "front"};
    struct report_scene scene;
    report_front_fill(&front.front, &arena, &chart);
    assert_true(report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL));
    double x = -1, y = -1;
    size_t steps = 0, spots = 0;
    for (size_t i = 0; i < scene.count; i++) {
        const struct report_mark *mark = &scene.marks[i];
        spots += mark->shape == REPORT_SHAPE_MARKER;
        /* The line in the key is left of the plot. */
        if (mark->ink != REPORT_INK_LINE || mark->shape != REPORT_SHAPE_LINE || mark->stroke != 1.2) {
            continue;
        }
        assert_true(steps % 2 == 0 ? mark->box.height == 0 && mark->box.width > 0
                                   : mark->box.width == 0 && mark->box.height > 0);
        assert_true(steps == 0 || (mark->box.x == x && mark->box.y == y));
        x = mark->box.x + mark->box.width;
        y = mark->box.y + mark->box.height;
        steps++;
    }
    assert_int_equal(steps, 4);
    assert_int_equal(spots, 5 + 2); /* two are in the key */
    report_arena_free(&arena);
}

/* At 0 the axis is broken, and so is the step. */
static void test_front_line_from_the_zero_strip_is_dashed(void **state)
{
    fixture_front_begin(&front);
    front.front.y.scale = REPORT_LOG;
    fixture_front_add(&front, "", 0, 0.4, true);
    fixture_front_add(&front, "", 10, 0.2, true);
    fixture_front_add(&front, "", 100, 0, true);
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = "front"};
    struct report_scene scene;
    report_front_fill(&front.front, &arena, &chart);
    assert_true(report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL));
    static const enum report_shape wanted[] = {REPORT_SHAPE_DASHED, REPORT_SHAPE_LINE, REPORT_SHAPE_LINE,
                                               REPORT_SHAPE_DASHED};
    size_t steps = 0;
    for (size_t i = 0; i < scene.count; i++) {
        if (scene.marks[i].ink == REPORT_INK_LINE && scene.marks[i].stroke == 1.2) {
            assert_true(steps < 4);
            assert_int_equal(scene.marks[i].shape, wanted[steps++]);
        }
    }
    assert_int_equal(steps, 4);
    report_arena_free(&arena);
}

/* Three tiles of a square are within the limits, so their outline has eight sides, two of them within the
 * square. The key has four more, and the ring has four in the chart and four in the key. */
static void test_line_runs_around_the_good_cells(void **state)
{
    static const char *const labels[] = {"1", "2"};
    const struct report_heatmap_cell cells[] = {{1, true}, {1, true}, {1, true}, {2, false}};
    const struct report_heatmap map = {.x = {"", labels, 2},
                                       .y = {"", labels, 2},
                                       .value = {"", REPORT_UNIT_PLAIN, REPORT_LINEAR},
                                       .cells = cells,
                                       .recommended = "it",
                                       .recommended_x = 0,
                                       .recommended_y = 1};
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart chart = {.name = "heatmap"};
    struct report_scene scene;
    report_heatmap_fill(&map, &arena, &chart);
    assert_true(report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL));
    struct report_box tiles[4];
    size_t tile_count = 0, ring = 0, sides = 0, inner = 0;
    for (size_t i = 0; i < scene.count; i++) {
        if (scene.marks[i].shape == REPORT_SHAPE_TILE && scene.marks[i].box.height > 20) {
            tiles[tile_count++] = scene.marks[i].box;
        }
    }
    assert_int_equal(tile_count, 4);
    for (size_t i = 0; i < scene.count; i++) {
        const struct report_mark *mark = &scene.marks[i];
        ring += mark->ink == REPORT_INK_RING;
        if (mark->ink == REPORT_INK_HOLDS) {
            sides++;
            inner += (mark->box.width == 0 && mark->box.x == tiles[3].x && mark->box.y < tiles[0].y) ||
                     (mark->box.height == 0 && mark->box.y == tiles[0].y && mark->box.x > tiles[0].x);
        }
    }
    assert_int_equal(sides, 4 + 8);
    assert_int_equal(ring, 4 + 4);
    assert_int_equal(inner, 2);
    report_arena_free(&arena);
}

/* sRGB to linear light, as WCAG 2.2 defines it. */
static double channel(double value)
{
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static void test_colours_become_steadily_lighter(void **state)
{
    (void)state;
    double last = 0;
    for (int i = 0; i <= 100; i++) {
        const struct report_colour colour = report_style_scale(i / 100.0);
        const double light =
            0.2126 * channel(colour.red) + 0.7152 * channel(colour.green) + 0.0722 * channel(colour.blue);
        assert_true(light > last);
        last = light;
        /* A white or black text on the colour has a contrast of at least 4.5 to 1. */
        const double contrast = report_style_scale_font(i / 100.0) == REPORT_FONT_TILE_LIGHT
                                    ? 1.05 / (light + 0.05)
                                    : (light + 0.05) / 0.05;
        assert_true(contrast >= 4.5);
    }
    const struct report_colour dark = report_style_colour(report_style_font(REPORT_FONT_TILE_DARK)->ink);
    assert_true(dark.red == 0 && dark.green == 0 && dark.blue == 0);
}

static void test_chart_without_memory_reports_the_failure(void **state)
{
    for (size_t i = 0; i < CASE_COUNT; i += 4) {
        bool ok = false;
        for (size_t allowed = 0; !ok; allowed += 1 + allowed / 16) {
            struct report_arena arena;
            report_arena_init(&arena);
            arena.allowance = allowed;
            struct report_chart chart;
            fill_case(i, &arena, &chart);
            struct report_scene scene;
            ok = !arena.out_of_memory &&
                 report_layout(&chart, REPORT_PAGE_WIDTH, *state, &arena, &scene, NULL);
            assert_true(ok || arena.out_of_memory);
            assert_true(allowed < 20000);
            report_arena_free(&arena);
        }
    }
}

static void test_file_written_twice_has_the_same_bytes(void **state)
{
    (void)state;
    char folder[] = "report_tune_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/here", folder);
    fixture_heatmap(0, &heatmap);
    fixture_front(0, &front);
    for (int i = 0; i < 2 * REPORT_FORMAT_COUNT; i++) {
        const enum report_format format = (enum report_format)(i / 2);
        char *data[2];
        size_t sizes[2];
        for (size_t turn = 0; turn < 2; turn++) {
            assert_true(i % 2 == 0 ? report_heatmap_write(&heatmap.heatmap, format, path, NULL)
                                   : report_front_write(&front.front, format, path, NULL));
            data[turn] = read_file(path, &sizes[turn]);
            assert_int_equal(remove(path), 0);
        }
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(data[0], data[1], sizes[0]);
        assert_true(sizes[0] > 5000);
        free(data[0]);
        free(data[1]);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heatmap_is_described_tile_by_tile),
        cmocka_unit_test(test_front_is_described_point_by_point),
        cmocka_unit_test(test_values_are_short_and_only_zero_is_0),
        cmocka_unit_test(test_charts_of_each_case_do_not_overlap),
        cmocka_unit_test(test_number_of_the_recommended_tile_is_inside_its_ring),
        cmocka_unit_test(test_line_around_good_cells_may_have_a_weaker_caption),
        cmocka_unit_test(test_regions_are_named_and_separated),
        cmocka_unit_test(test_only_the_best_of_each_kind_is_named_among_many),
        cmocka_unit_test(test_heatmap_of_equal_values_says_so_and_has_no_scale),
        cmocka_unit_test(test_names_of_a_front_are_shown_or_counted),
        cmocka_unit_test(test_front_line_joins_undominated_points),
        cmocka_unit_test(test_front_line_from_the_zero_strip_is_dashed),
        cmocka_unit_test(test_line_runs_around_the_good_cells),
        cmocka_unit_test(test_colours_become_steadily_lighter),
        cmocka_unit_test(test_chart_without_memory_reports_the_failure),
        cmocka_unit_test(test_file_written_twice_has_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, fixture_typesetter_begin, fixture_typesetter_end);
}
