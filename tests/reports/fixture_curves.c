/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made curves. */
#include "fixture.h"

#include <assert.h>

/* Longer than any place for it. */
static const char long_label[] = "очень длинное имя ряда, которое не помещается справа от линии, и потому "
                                 "уходит в ключ над рисунком, где и обрезается посередине, если длиннее "
                                 "строки, как здесь, где ему и трёх строк едва достало бы, а потому и "
                                 "подзаголовок, и название оси, и подвал обрезаются вместе с ним, и ничто "
                                 "не набегает на соседа, сколько бы слов ни стояло в каждом из них; "
                                 "впрочем, и это ещё не всё, что можно было бы здесь написать";

typedef void make_case(struct fixture_curves *out);

/* Five rates that fall to 0, on a log axis. */
static void make_sweep(struct fixture_curves *out)
{
    static const char *const labels[] = {"findable", "newest", "agreement", "no_gaps", "monotone"};
    out->curves.x = (struct report_curves_axis){"lead", REPORT_UNIT_SECONDS, REPORT_LINEAR};
    out->curves.y = (struct report_curves_axis){"violations per million rows", REPORT_UNIT_PLAIN, REPORT_LOG};
    for (int i = 0; i < 5; i++) {
        fixture_curves_add(out, labels[i]);
        for (int lead = 0; lead <= 12; lead++) {
            const double y = lead < 7 - i ? 4000 / (1 + i) / pow(3.1, lead) : 0;
            fixture_curves_point(out, lead, y * 0.8, y, y > 0 ? y * 1.25 : 3.7);
        }
    }
    fixture_curves_rule(out, 6.2, "safe lead by the formula: 6.2 s");
    fixture_curves_rule(out, 5.8, "least lead without a violation: 5.8 s");
}

static void make_one_point(struct fixture_curves *out)
{
    out->curves.y = (struct report_curves_axis){"share of rows", REPORT_UNIT_SHARE, REPORT_LOG};
    fixture_curves_add(out, "only");
    fixture_curves_point(out, 16, 0.2, 0.25, 0.3);
}

static void make_one_zero(struct fixture_curves *out)
{
    out->curves.subtitle = out->curves.foot = NULL;
    fixture_curves_add(out, "");
    fixture_curves_point(out, 0, 0, 0, 0);
}

static void make_all_zero(struct fixture_curves *out)
{
    out->curves.y = (struct report_curves_axis){"violations", REPORT_UNIT_ROWS, REPORT_LOG};
    static const char *const labels[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        fixture_curves_add(out, labels[i]);
        for (int x = 0; x < 5; x++) {
            fixture_curves_point(out, x, 0, 0, 0);
        }
    }
}

/* From 1 to 1e9 on both axes. */
static void make_nine(struct fixture_curves *out)
{
    static const char *const labels[] = {"first", "second",  "third",  "fourth", "fifth",
                                         "sixth", "seventh", "eighth", "ninth"};
    out->curves.x = (struct report_curves_axis){"rate, rows/s", REPORT_UNIT_PLAIN, REPORT_LOG};
    out->curves.y = (struct report_curves_axis){"overshoot", REPORT_UNIT_ROWS, REPORT_LOG};
    for (int i = 0; i < 9; i++) {
        fixture_curves_add(out, labels[i]);
        for (int decade = 0; decade <= 9; decade++) {
            const double y = pow(10, decade * (0.2 + i * 0.1));
            fixture_curves_point(out, pow(10, decade), y, y, y);
        }
    }
    fixture_curves_rule(out, 1, "at the left edge");
    fixture_curves_rule(out, 1e9, "at the right edge, and longer than the room beside it is wide by far");
}

/* The curves lie one above the other everywhere, so that their names fan out. */
static void make_nine_flat(struct fixture_curves *out)
{
    static const char *const labels[] = {"one", "two",   "three", "four", "five",
                                         "six", "seven", "eight", "nine"};
    for (int i = 0; i < 9; i++) {
        fixture_curves_add(out, labels[i]);
        for (int x = 1; x <= 32; x *= 2) {
            fixture_curves_point(out, x, 0, 0, 9);
        }
    }
}

static void make_long_labels(struct fixture_curves *out)
{
    out->curves.title = long_label;
    out->curves.subtitle = long_label;
    out->curves.foot = long_label;
    out->curves.x = (struct report_curves_axis){long_label, REPORT_UNIT_SECONDS, REPORT_LOG};
    out->curves.y = (struct report_curves_axis){long_label, REPORT_UNIT_SHARE, REPORT_LINEAR};
    for (int i = 0; i < 5; i++) {
        fixture_curves_add(out, i == 2 ? "коротко" : long_label);
        for (int k = 0; k < 7; k++) {
            const double y = 0.01 * k * (i + 1);
            fixture_curves_point(out, 0.01 * pow(2, k), y, y, y);
        }
    }
    fixture_curves_rule(out, 0.1, long_label);
}

static void make_markup(struct fixture_curves *out)
{
    out->curves.title = "<b>title</b> & \"more\"";
    out->curves.subtitle = "a line\nbreak, a \xFF byte, &amp;";
    out->curves.x.title = "<i>x</i>";
    fixture_curves_add(out, "<u>under</u> & over");
    fixture_curves_point(out, 1, 1, 1, 1);
    fixture_curves_point(out, 2, 3, 3, 3);
    fixture_curves_rule(out, 1.5, "<big>rule</big>");
}

static void make_many_points(struct fixture_curves *out)
{
    out->curves.x = (struct report_curves_axis){"time", REPORT_UNIT_SECONDS, REPORT_LINEAR};
    out->curves.y = (struct report_curves_axis){"drift", REPORT_UNIT_SHARE, REPORT_LINEAR};
    static const char *const labels[] = {"0 retries", "1 retry", "2 retries", "3 retries", "4 retries"};
    for (int i = 0; i < 5; i++) {
        fixture_curves_add(out, labels[i]);
        for (int k = 0; k < FIXTURE_POINTS_MAX; k++) {
            const double y = 0.2 * sin(k / 90.0 + i) - 0.05 * i;
            fixture_curves_point(out, 7.2 * k, y - 0.02, y, y + 0.02);
        }
    }
}

static void make_zero_on_both_axes(struct fixture_curves *out)
{
    static const double lags[] = {0, 0.01, 0.04, 0.1, 0.4};
    out->curves.x = (struct report_curves_axis){"lag", REPORT_UNIT_SECONDS, REPORT_LOG};
    out->curves.y = (struct report_curves_axis){"overshoot", REPORT_UNIT_ROWS, REPORT_LOG};
    static const char *const labels[] = {"5000 rows/s", "50000 rows/s", "none"};
    static const double rates[] = {5000, 50000, 0};
    for (int i = 0; i < 3; i++) {
        fixture_curves_add(out, labels[i]);
        for (int k = 0; k < 5; k++) {
            const double y = lags[k] * rates[i];
            fixture_curves_point(out, lags[k], 0, y, 3 * y + 1);
        }
    }
    fixture_curves_rule(out, 0, "no lag");
}

static void make_ends_apart(struct fixture_curves *out)
{
    fixture_curves_add(out, "short");
    fixture_curves_point(out, 8, 964, 964, 964);
    fixture_curves_point(out, 1, 901, 901, 901);
    fixture_curves_add(out, "long");
    fixture_curves_point(out, 1, 989, 989, 989);
    fixture_curves_point(out, 32, 958, 958, 958);
}

static void make_tiny(struct fixture_curves *out)
{
    out->curves.x = (struct report_curves_axis){"chance", REPORT_UNIT_SHARE, REPORT_LOG};
    out->curves.y = (struct report_curves_axis){"chance", REPORT_UNIT_PLAIN, REPORT_LOG};
    fixture_curves_add(out, "falling");
    for (int k = 1; k <= 8; k++) {
        const double y = pow(10, -2 * k);
        fixture_curves_point(out, pow(10, -k), y, y, y);
    }
    fixture_curves_add(out, "flat");
    fixture_curves_point(out, 1, 5e17, 5e17, REPORT_VALUE_MAX);
    fixture_curves_point(out, 1e-19, 0, 1e-19, 1);
}

static void make_crowded_rules(struct fixture_curves *out)
{
    static const char *const labels[] = {"the first of six", "b", "the third, a long one", "d", "e",
                                         "the last"};
    fixture_curves_add(out, "line");
    fixture_curves_point(out, 0, 1, 1, 1);
    fixture_curves_point(out, 10, 2, 2, 2);
    for (int i = 5; i >= 0; i--) {
        fixture_curves_rule(out, 4.8 + 0.1 * i, labels[i]);
    }
}

/* Names that do not fit above the plot. */
static void make_hidden_rules(struct fixture_curves *out)
{
    fixture_curves_add(out, "line");
    fixture_curves_point(out, 0, 1, 1, 1);
    fixture_curves_point(out, 10, 2, 2, 2);
    fixture_curves_rule(out, 5,
                        "a rule whose name is so long that it has room neither left of its line nor "
                        "right of it, and so has to go to the key");
    fixture_curves_rule(out, 5, "the same place");
    fixture_curves_rule(out, 7, "");
}

static void make_negative(struct fixture_curves *out)
{
    out->curves.x = (struct report_curves_axis){"skew", REPORT_UNIT_SECONDS, REPORT_LINEAR};
    fixture_curves_add(out, "below");
    for (int k = -5; k <= 0; k++) {
        fixture_curves_point(out, k * 1e-3, -1e6 - 1e5, -1e6, -1e6 + 1e5);
    }
}

static void make_times(struct fixture_curves *out)
{
    out->curves.x = (struct report_curves_axis){"grant", REPORT_UNIT_SECONDS, REPORT_LOG};
    out->curves.y = (struct report_curves_axis){"wait", REPORT_UNIT_SECONDS, REPORT_LOG};
    fixture_curves_add(out, "wait");
    for (int k = 0; k <= 12; k++) {
        fixture_curves_point(out, 1e-6 * pow(10, k), 1e-3, 0.5 * pow(10, k / 6.0), 600);
    }
}

void fixture_curves(size_t index, struct fixture_curves *out)
{
    static make_case *const cases[FIXTURE_CURVES_COUNT] = {
        make_sweep,         make_one_point,         make_one_zero,    make_all_zero,
        make_nine,          make_nine_flat,         make_long_labels, make_markup,
        make_many_points,   make_zero_on_both_axes, make_ends_apart,  make_tiny,
        make_crowded_rules, make_hidden_rules,      make_negative,    make_times};
    assert(index < FIXTURE_CURVES_COUNT);
    fixture_curves_begin(out);
    cases[index](out);
}

void fixture_curves_begin(struct fixture_curves *out)
{
    out->curves = (struct report_curves){.title = "A figure over a setting",
                                         .subtitle = "16 agents, 20 seeds a point",
                                         .foot = "bars: 95 % confidence",
                                         .x = {"agents", REPORT_UNIT_PLAIN, REPORT_LINEAR},
                                         .y = {"rows", REPORT_UNIT_PLAIN, REPORT_LINEAR},
                                         .curves = out->series,
                                         .rules = out->rules};
}

void fixture_curves_add(struct fixture_curves *fixture, const char *label)
{
    const size_t index = fixture->curves.curve_count++;
    assert(index < REPORT_CURVES_MAX);
    fixture->series[index] = (struct report_curve){.label = label, .points = fixture->points[index]};
}

void fixture_curves_point(struct fixture_curves *fixture, double x, double low, double y, double high)
{
    const size_t index = fixture->curves.curve_count - 1;
    assert(fixture->series[index].count < FIXTURE_POINTS_MAX);
    fixture->points[index][fixture->series[index].count++] =
        (struct report_curves_point){.x = x, .y = y, .low = low, .high = high};
}

void fixture_curves_rule(struct fixture_curves *fixture, double at, const char *label)
{
    assert(fixture->curves.rule_count < REPORT_RULES_MAX);
    fixture->rules[fixture->curves.rule_count++] = (struct report_rule){.at = at, .label = label};
}
