/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the front of tune shows the data, and its elements do not overlap; axes of any range have few numbers.
 * Method: charts as text; the boxes of every special case, measured by Pango. */
#include "fixture.h"

static void fill_axis(const struct report_curves_axis *axis, double least, double most,
                      struct report_arena *arena, struct report_chart *chart)
{
    struct report_extremes extremes = report_no_extremes;
    static struct report_panel empty = {.label = "", .y.title = ""};
    *chart = (struct report_chart){.form = REPORT_FORM_CURVES, .name = "axis", .panels = &empty};
    chart->title = chart->subtitle = chart->foot = "";
    extremes.is_tight = true;
    report_extremes_meet(&extremes, least);
    report_extremes_meet(&extremes, most);
    *arena = (struct report_arena){NULL};
    report_scale_fill(axis, &extremes, arena, &chart->x);
}

static void test_axis_of_each_unit_has_its_numbers(void **state)
{
    (void)state;
    static const struct {
        enum report_curves_unit unit;
        enum report_scale scale;
        double least, most;
        const char *says;
    } cases[] = {
        {REPORT_UNIT_PLAIN, REPORT_LINEAR, 0, 0, "x 0..1.04 't' 0='0' 0.2='0.2'"},
        {REPORT_UNIT_PLAIN, REPORT_LINEAR, 7, 7, "x 0..7.28 't' 0='0' 2='2' 4='4' 6='6'\n"},
        {REPORT_UNIT_PLAIN, REPORT_LINEAR, 1000, 1001, "x 946.4..1055 't' 960='960' 980='980' 1000='1K'"},
        {REPORT_UNIT_SHARE, REPORT_LINEAR, 0, 1, "0='0%' 0.2='20%'"},
        {REPORT_UNIT_SECONDS, REPORT_LINEAR, 0, 0.4, "x 0..416 't (ms)' 0='0' 100='100' 200='200'"},
        {REPORT_UNIT_SECONDS, REPORT_LINEAR, 0, 12, "x 0..12.48 't (seconds)' 0='0' 2='2'"},
        {REPORT_UNIT_SECONDS, REPORT_LINEAR, 0, 600, "x 0..10.4 't (minutes)' 0='0' 2='2'"},
        {REPORT_UNIT_SECONDS, REPORT_LINEAR, 0, 864000, "x 0..10.4 't (days)'"},
        {REPORT_UNIT_PLAIN, REPORT_LOG, 0, 0, "x 0, -0.01..1.01 't (log scale)' 0='1' 0.301='2'"},
        {REPORT_UNIT_PLAIN, REPORT_LOG, 5, 5,
         "x 0.301..1 't (log scale)' 0.301='2' 0.4771='3' 0.6021='4' 0.699='5' 0.7782='6' 0.8451='7' "
         "0.9031='8' 0.9542='9' 1='10'\n"},
        {REPORT_UNIT_PLAIN, REPORT_LOG, 1, 1e9,
         "x -0.09..9.09 't (log scale)' 0='1' 1='10' 2='100' 3='1K' 4='10K'"},
        {REPORT_UNIT_PLAIN, REPORT_LOG, 1e-18, 1e18, " -18='10⁻¹⁸' -15='10⁻¹⁵' -12='10⁻¹²'"},
        {REPORT_UNIT_PLAIN, REPORT_LOG, 2e-5, 1e-4,
         " -4.699='2·10⁻⁵' -4.523='3·10⁻⁵' -4.398='4·10⁻⁵' -4.301='5·10⁻⁵'"},
        {REPORT_UNIT_SHARE, REPORT_LOG, 1e-6, 1, " -6='10⁻⁴%' -5='0.001%' -4='0.01%' -3='0.1%' -2='1%'"},
        {REPORT_UNIT_SECONDS, REPORT_LOG, 0.5, 300, "' 0='1 s' 1='10 s' 1.778='1 min'\n"},
        {REPORT_UNIT_SECONDS, REPORT_LOG, 0.01, 0.4, " -2='10 ms' -1.699='20 ms' -1.301='50 ms'"},
        {REPORT_UNIT_SECONDS, REPORT_LOG, 3600, 1e8, " 3.556='1 h' 4.556='10 h' 4.937='1 d' 5.937='10 d'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct report_arena arena;
        struct report_chart chart;
        const struct report_curves_axis axis = {"t", cases[i].unit, cases[i].scale};
        fill_axis(&axis, cases[i].least, cases[i].most, &arena, &chart);
        char *text = fixture_text(&chart, report_chart_dump);
        fixture_says(text, cases[i].says, true);
        free(text);
        report_arena_free(&arena);
    }
}

/* The numbers of an axis are within its range, in order, and distinct. */
static void test_axis_of_any_range_has_few_numbers_that_differ(void **state)
{
    (void)state;
    for (double most = 1e-17; most < 9e17; most *= 3.7) {
        for (int kind = 0; kind < 2 * REPORT_UNIT_COUNT; kind++) {
            const struct report_curves_axis axis = {"t", (enum report_curves_unit)(kind / 2),
                                                    kind % 2 == 0 ? REPORT_LINEAR : REPORT_LOG};
            struct report_arena arena;
            struct report_chart chart;
            fill_axis(&axis, most * 0.83, most, &arena, &chart);
            assert_true(chart.x.tick_count >= 2 && chart.x.tick_count <= 9);
            assert_true(report_at(&chart.x, most * 0.83) >= chart.x.low);
            assert_true(report_at(&chart.x, most) <= chart.x.high);
            for (size_t i = 0; i < chart.x.tick_count; i++) {
                assert_true(chart.x.ticks[i].at >= chart.x.low - 1e-9);
                assert_true(chart.x.ticks[i].at <= chart.x.high + 1e-9);
                if (i > 0 && strcmp(chart.x.ticks[i].text, chart.x.ticks[i - 1].text) == 0) {
                    fail_msg("'%s' twice up to %g, kind %d", chart.x.ticks[i].text, most, kind);
                }
            }
            report_arena_free(&arena);
        }
    }
}

static struct fixture_front front;

static struct report_chart *chart_of_case(size_t index, struct report_arena *arena)
{
    fixture_front(index, &front);
    return report_front_make(&front.front, arena);
}

static void test_front_is_described_point_by_point(void **state)
{
    (void)state;
    fixture_front_begin(&front);
    fixture_front_add(&front, "expensive", 100, 2000, true);
    fixture_front_add(&front, "cheap", 0, 40000, true);
    fixture_front_add(&front, "bad", 100, 3000, false);
    front.points[2].high = 3500;
    front.front.has_recommended = true;
    struct report_arena arena = {NULL};
    char *text = fixture_text(report_front_make(&front.front, &arena), report_chart_dump);
    assert_string_equal(
        text,
        "chart tune-front\ntitle candidates: the settings that stay within the limits\n"
        "subtitle what they cost, and how large their partitions are\n"
        "foot means over seeds with intervals; less is better in both\nstart 0\n"
        "legend chosen recommended: expensive\nlegend line1 on the front\nlegend pale not on the front\n"
        "x 0, 1.699..2.301 'cost in inserts per 1000 rows (log scale)' 1.699='50' 1.778='60' "
        "1.845='70' 1.903='80' 1.954='90' 2='100' 2.301='200'\n"
        "y 3.301..4.699 'bytes of partitions, p99 (log scale)' 3.301='2\u202FKB' 3.699='5\u202FKB' "
        "4='10\u202FKB' "
        "4.301='20\u202FKB' 4.699='50\u202FKB'\n"
        "spot chosen 'expensive' 2,3.301\nspot front 'cheap' -inf,4.602\nspot 'bad' "
        "2,3.477(3.477..3.544)\n");
    free(text);
    report_arena_free(&arena);
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
           (mark->ink == REPORT_INK_LINE || mark->ink == REPORT_INK_PALE || mark->ink == REPORT_INK_CHOSEN);
}

/* The stairs and the ranges do not cross a text. */
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
    static const char *const parties[] = {"agent A", "agent B", "the store", "agent C"};
    static const char *const text =
        "does not hear whether the state is written: bucket 0; that may still happen";
    struct report_message messages[20];
    for (size_t i = 0; i < 20; i++) /* each kind, of each party */
        messages[i] =
            (struct report_message){"1 s", text, (enum report_message_kind)(i / 4), i % 4, i % 3 == 0};
    const struct report_sequence sequence = {"", "", text, parties, 4, 2, messages, 20};
    const struct report_chart diagram = {
        .form = REPORT_FORM_SEQUENCE, .title = "", .subtitle = "", .foot = "", .sequence = &sequence};
    for (size_t i = 0; i <= FIXTURE_FRONT_COUNT; i++) {
        struct report_arena arena = {NULL};
        struct report_scene scene;
        const struct report_chart *chart = i < FIXTURE_FRONT_COUNT ? chart_of_case(i, &arena) : &diagram;
        report_layout(chart, REPORT_PAGE_WIDTH, *state, &arena, &scene);
        fixture_check_scene(&scene);
        check_lines(&scene);
        report_arena_free(&arena);
    }
}

/* The recommended spot, the best one of each kind, and each spot that no spot on the front beats in both
 * figures. */
static bool is_to_be_named(const struct report_chart *chart, size_t index)
{
    const struct report_spot *spot = &chart->panels[0].spots[index];
    bool is_beaten = !spot->is_on_front;
    for (size_t i = 0; i < chart->panels[0].spot_count; i++) {
        const struct report_spot *other = &chart->panels[0].spots[i];
        const bool is_same = other->x == spot->x && other->y == spot->y;
        is_beaten |= i != index && (other->is_on_front || other->is_chosen) && other->x <= spot->x &&
                     other->y <= spot->y && (!is_same || i < index);
    }
    return spot->label[0] != 0 && (spot->is_chosen || spot->is_best || !is_beaten);
}

static void test_only_the_best_of_each_kind_is_named_among_many(void **state)
{
    enum { CROWD = 60, BEST = CROWD - 1 }; /* there is room above it */
    struct report_arena arena = {NULL};
    struct report_scene scene;
    fixture_front_begin(&front);
    for (int i = 0; i < CROWD; i++) {
        char label[32];
        snprintf(label, sizeof label, "candidate-%d", i);
        fixture_front_add(&front, label, 100 + i % 8, 5000 + 40 * i, true);
    }
    fixture_front_add(&front, "far", 2000, 1500, true);
    front.points[BEST].is_best = true;
    report_layout(report_front_make(&front.front, &arena), REPORT_PAGE_WIDTH, *state, &arena, &scene);
    fixture_check_scene(&scene);
    assert_int_equal(count_texts(&scene, "candidate-59"), 1);
    assert_int_equal(count_texts(&scene, "candidate-58"), 0);
    assert_int_equal(count_texts(&scene, "far"), 1);
    report_arena_free(&arena);
}

static void test_names_of_a_front_are_shown_or_counted(void **state)
{
    for (size_t i = 0; i < FIXTURE_FRONT_COUNT; i++) {
        struct report_arena arena = {NULL};
        struct report_scene scene;
        const struct report_chart *chart = chart_of_case(i, &arena);
        report_layout(chart, REPORT_PAGE_WIDTH, *state, &arena, &scene);
        size_t wanted = 0, placed = 0, left_out = 0;
        for (size_t k = 0; k < chart->panels[0].spot_count; k++) {
            wanted += is_to_be_named(chart, k);
        }
        for (size_t k = 0; k < scene.count; k++) {
            const struct report_mark *mark = &scene.marks[k];
            for (size_t n = 0; mark->shape == REPORT_SHAPE_TEXT && n < chart->panels[0].spot_count; n++) {
                /* The address identifies the spot, since several spots may have equal texts. */
                placed += mark->type.text == chart->panels[0].spots[n].label &&
                          chart->panels[0].spots[n].label[0] != 0;
            }
            if (mark->shape == REPORT_SHAPE_TEXT && strstr(mark->type.text, "hidden") != NULL) {
                left_out = strtoul(mark->type.text, NULL, 10);
            }
        }
        assert_int_equal(placed + left_out, wanted);
        assert_true(placed > 0 || wanted == 0);
        if (front.front.has_recommended) {
            char entry[256];
            snprintf(entry, sizeof entry, "recommended: %s", chart->panels[0].spots[0].label);
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
    struct report_arena arena = {NULL};
    struct report_scene scene;
    report_layout(report_front_make(&front.front, &arena), REPORT_PAGE_WIDTH, *state, &arena, &scene);
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
    fixture_front_add(&front, "", 0, 0.4, true);
    fixture_front_add(&front, "", 10, 0.2, true);
    fixture_front_add(&front, "", 100, 0, true);
    struct report_arena arena = {NULL};
    struct report_scene scene;
    report_layout(report_front_make(&front.front, &arena), REPORT_PAGE_WIDTH, *state, &arena, &scene);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis_of_each_unit_has_its_numbers),
        cmocka_unit_test(test_axis_of_any_range_has_few_numbers_that_differ),
        cmocka_unit_test(test_front_is_described_point_by_point),
        cmocka_unit_test(test_charts_of_each_case_do_not_overlap),
        cmocka_unit_test(test_only_the_best_of_each_kind_is_named_among_many),
        cmocka_unit_test(test_names_of_a_front_are_shown_or_counted),
        cmocka_unit_test(test_front_line_joins_undominated_points),
        cmocka_unit_test(test_front_line_from_the_zero_strip_is_dashed),
    };
    return cmocka_run_group_tests(tests, fixture_typesetter_begin, fixture_typesetter_end);
}
