/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells a comparison: as text, with tables of the figures that differ and the lines of the scenario from
 * the first to the last that differ, and as JSON. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "cli/result.h"
#include "diff.h"
#include "lab/metric.h"
#include "lab/setting.h"

static void print_lines(char sign, char **lines, size_t from, size_t to, size_t *left)
{
    for (; from < to; from++) {
        if (*left == 0)
            continue;
        printf("  %c", sign);
        cli_print_wrapped(lines[from], 3);
        putchar('\n');
        --*left;
    }
}

/* Prints the lines from the first to the last that differ. */
static void print_changes(const char *heading, const char *a, const char *b, size_t most)
{
    g_auto(GStrv) one = cli_lines(a), other = cli_lines(b);
    size_t first = 0, one_end = g_strv_length(one), other_end = g_strv_length(other), left = most;
    if (strcmp(a, b) == 0)
        return;
    printf("\n%s\n", heading);
    while (first < one_end && first < other_end && strcmp(one[first], other[first]) == 0)
        first++;
    while (one_end > first && other_end > first && strcmp(one[one_end - 1], other[other_end - 1]) == 0) {
        one_end--;
        other_end--;
    }
    print_lines('-', one, first, one_end, &left);
    print_lines('+', other, first, other_end, &left);
    if (one_end + other_end - 2 * first > most)
        printf("  and %zu more lines; --all shows them\n", one_end + other_end - 2 * first - most);
}

#define NAME_COLUMNS 34
#define LINES_MOST   40

static void print_side(char name, const struct cli_diff_side *side)
{
    printf("%c  run %" PRId64 ", seed %" PRIu64 ", digest %016" PRIx64 ", bucketlab ", name,
           side->stored.info.run, side->result->seed, side->result->digest);
    cli_print_text(stdout, side->stored.info.version);
    printf("\n  ");
    cli_print_wrapped(side->result->scenario_name, 2);
    if (side->label != NULL) {
        fputs(": ", stdout);
        cli_print_text(stdout, side->label);
    }
    putchar('\n');
}

/* Prints what the values are, and whether they can be significant. */
static void print_ground(const struct cli_diff *diff)
{
    char text[512];
    if (strcmp(diff->a.stored.info.version, diff->b.stored.info.version) != 0)
        cli_print_paragraph("Two versions of bucketlab: a difference may come from the version.");
    if (diff->is_same_digest && !cli_diff_is_any(diff)) {
        cli_print_paragraph("The same run: all decisions are equal.");
        return;
    }
    if (diff->is_same_digest)
        cli_print_paragraph(
            "All decisions are equal; only names, or figures such as sizes and limits, differ.");
    if (!diff->is_same_digest && cli_diff_has_other_rows(diff))
        cli_print_paragraph(
            "The rows differ too, in their number, times, keys or sizes: a seed does not mean the "
            "same rows on both sides.");
    if (diff->test == CLI_DIFF_PAIRED) {
        snprintf(text, sizeof text,
                 "Means over the %zu common seeds. +-: 95 %% confidence interval of b - a.",
                 diff->pair_count);
    } else if (diff->test == CLI_DIFF_WELCH) {
        snprintf(text, sizeof text,
                 "No common seed: means over %zu seeds of a and %zu others of b, by Welch's test. "
                 "+-: 95 %% confidence interval of b - a. Paired seeds show more: --seeds 10.",
                 diff->a.seed_count, diff->b.seed_count);
    } else if (diff->is_one_sample && diff->is_same_choice) {
        snprintf(text, sizeof text, "The two differ only in their seed: the differences are chance.");
    } else {
        snprintf(text, sizeof text,
                 "%s common seed cannot distinguish a difference from chance: --seeds 10 compares ten seeds, "
                 "and runs the missing ones.",
                 diff->pair_count == 0 ? "No" : "One");
    }
    cli_print_paragraph(text);
}

static void print_heading(const struct cli_diff_strategy *strategy)
{
    char a[CLI_SETTINGS_SIZE], b[CLI_SETTINGS_SIZE];
    lab_settings_text(&strategy->a->settings, a, sizeof a);
    lab_settings_text(&strategy->b->settings, b, sizeof b);
    putchar('\n');
    cli_print_text(stdout, strategy->a->label);
    if (strcmp(strategy->a->label, strategy->b->label) != 0) {
        fputs(" | ", stdout);
        cli_print_text(stdout, strategy->b->label);
    }
    putchar('\n');
    if (strcmp(a, b) != 0) {
        printf("  a:");
        cli_print_wrapped(a, 4);
        printf("\n  b:");
        cli_print_wrapped(b, 4);
        putchar('\n');
    }
}

/* Formats a value as `show` does: sizes in B to EB, times in ms, other values plain. */
static void format(const char *name, double value, char *buffer)
{
    /* A run of another version may have metrics that this version does not know. */
    const struct lab_metric_row *row = lab_metric_row_of(name);
    bool is_time = row != NULL && row->unit == LAB_METRIC_MS;
    if (isinf(value))
        strcpy(buffer, "inf");
    else if (row != NULL && row->unit == LAB_METRIC_BYTES)
        cli_compact_bytes(value, buffer);
    else if (value > 0 && value < 0.01)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.1g", value);
    else
        cli_compact(value, is_time ? 4 : 5, buffer);
    if (is_time && value > 0)
        strcat(buffer, "ms");
}

static void format_signed(const char *name, double value, char *buffer)
{
    buffer[0] = value < 0 ? '-' : '+';
    if (value == 0)
        snprintf(buffer, CLI_NUMBER_SIZE, "0");
    else
        format(name, fabs(value), buffer + 1);
}

static void format_percent(const struct cli_diff_figure *figure, char *buffer)
{
    double percent = 100 * figure->difference / fabs(figure->a);
    if (figure->difference == 0)
        snprintf(buffer, CLI_NUMBER_SIZE, "0");
    else if (figure->a == 0 || isinf(figure->difference))
        snprintf(buffer, CLI_NUMBER_SIZE, "-");
    else if (percent >= 999.5)
        snprintf(buffer, CLI_NUMBER_SIZE, percent < 1e5 ? "x%.0f" : "x%.0g", 1 + percent / 100);
    else
        snprintf(buffer, CLI_NUMBER_SIZE, fabs(percent) < 9.95 ? "%+.1f" : "%+.0f", percent);
}

static const char *stars(const struct cli_diff_figure *figure)
{
    if (!cli_diff_is_significant(figure))
        return "";
    return figure->p < 0.001 ? "***" : figure->p < 0.01 ? "**" : "*";
}

/* The texts of a figure, by the names of columns. */
static json_t *row_of(const struct cli_diff *diff, const struct cli_diff_figure *figure)
{
    char a[CLI_NUMBER_SIZE] = "-", b[CLI_NUMBER_SIZE] = "-", difference[CLI_NUMBER_SIZE] = "",
         half[CLI_NUMBER_SIZE] = "", percent[CLI_NUMBER_SIZE] = "";
    if (figure->is_in_a)
        format(figure->name, figure->a, a);
    if (figure->is_in_b)
        format(figure->name, figure->b, b);
    if (figure->is_in_a && figure->is_in_b) {
        format_signed(figure->name, figure->difference, difference);
        format_percent(figure, percent);
    }
    if (figure->is_tested)
        format(figure->name, (figure->interval.high - figure->interval.low) / 2, half);
    else if (diff->test != CLI_DIFF_UNTESTED && figure->is_in_a && figure->is_in_b)
        snprintf(half, sizeof half, "?");
    return CLI_OBJECT({"name", json_string(figure->name)}, {"a", json_string(a)}, {"b", json_string(b)},
                      {"difference", json_string(difference)}, {"half", json_string(half)},
                      {"percent", json_string(percent)}, {"stars", json_string(stars(figure))});
}

static void print_gap(const struct cli_diff_strategy *strategy)
{
    const struct lab_gap *gap = &strategy->gap;
    char rows[CLI_NUMBER_SIZE], text[256];
    cli_grouped(gap->size, rows);
    snprintf(text, sizeof text,
             "the distributions of sizes differ most at %s row%s: %.1f%% of a's %spartitions have at most "
             "that size, and %.1f%% of b's (Kolmogorov-Smirnov %.3f)",
             rows, gap->size == 1 ? "" : "s", 100 * gap->one, strategy->is_gap_of_closed ? "closed " : "",
             100 * gap->other, gap->distance);
    putchar(' ');
    cli_print_wrapped(text, 1);
    putchar('\n');
}

static void print_strategy(const struct cli_diff *diff, const struct cli_diff_strategy *strategy, bool is_all)
{
    static const struct cli_column columns[] = {
        {"", "name", CLI_LABEL, .group = NULL},    {"a", "a", CLI_NUMBER, .group = NULL},
        {"b", "b", CLI_NUMBER, .group = NULL},     {"b - a", "difference", CLI_NUMBER, .group = NULL},
        {"+-", "half", CLI_NUMBER, .group = NULL}, {"%", "percent", CLI_NUMBER, .group = NULL},
        {"", "stars", CLI_WORDS, .group = NULL}};
    json_t *rows = json_array();
    for (size_t i = 0; i < strategy->count; i++) {
        const struct cli_diff_figure *figure = &strategy->figures[i];
        if (is_all || figure->is_in_a != figure->is_in_b || cli_diff_is_notable(figure))
            rows = cli_json_append(rows, row_of(diff, figure));
    }
    if (json_array_size(rows) > 0) {
        print_heading(strategy);
        cli_table_print(stdout, &(struct cli_table){.rows = rows,
                                                    .columns = columns,
                                                    .count = 7,
                                                    .lead = "  ",
                                                    .label_least = NAME_COLUMNS,
                                                    .label_most = NAME_COLUMNS});
        if (strategy->has_gap && strategy->gap.distance > 0)
            print_gap(strategy);
    }
    json_decref(rows);
}

/* The strategies of a side that the other side does not have; none if either side is a single strategy. */
static json_t *alone_json(const struct cli_diff *diff, const struct cli_diff_side *side)
{
    const struct cli_diff_side *other = side == &diff->a ? &diff->b : &diff->a;
    json_t *list = json_array();
    for (size_t i = 0; i < side->result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &side->result->strategies[i];
        if (side->label == NULL && other->label == NULL && !cli_diff_is_matched(diff, strategy))
            list = cli_json_append(list, json_string(strategy->label));
    }
    return list;
}

static void print_alone(const struct cli_diff *diff)
{
    for (int side = 0; side < 2; side++) {
        json_t *labels = alone_json(diff, side == 0 ? &diff->a : &diff->b), *label;
        size_t column = strlen("only in a:"), i;
        json_array_foreach(labels, i, label)
        {
            const char *text = json_string_value(label);
            fputs(i > 0 ? "," : side == 0 ? "\nonly in a:" : "\nonly in b:", stdout);
            /* With room for a comma after it. */
            const size_t after = cli_print_wrapped(text, column + 1);
            column = after > cli_text_width(text) ? after : after + 1;
        }
        fputs(json_array_size(labels) == 0 ? "" : "\n", stdout);
        json_decref(labels);
    }
}

static void print_end(const struct cli_diff *diff, bool is_all)
{
    size_t equal = 0, small = 0, significant = 0;
    char text[256];
    for (size_t i = 0; i < diff->strategy_count; i++) {
        for (size_t j = 0; j < diff->strategies[i].count; j++) {
            const struct cli_diff_figure *figure = &diff->strategies[i].figures[j];
            bool is_one_sided = figure->is_in_a != figure->is_in_b;
            equal += !is_one_sided && figure->difference == 0;
            small += !is_one_sided && figure->difference != 0 && !cli_diff_is_notable(figure);
            significant += cli_diff_is_significant(figure);
        }
    }
    putchar('\n');
    if (significant > 0) {
        snprintf(text, sizeof text,
                 "* p < 0.05, ** p < 0.01, *** p < 0.001: after Holm's correction for %zu figures.",
                 diff->tested);
        cli_print_paragraph(text);
    } else if (diff->tested > 0) {
        snprintf(text, sizeof text, "None of %zu figures differs more than chance explains.", diff->tested);
        cli_print_paragraph(text);
    }
    if (is_all || equal + small == 0)
        return;
    snprintf(text, sizeof text, "Not shown: %zu equal figure%s, and %zu that differ%s by 1 %% at most.",
             equal, equal == 1 ? "" : "s", small, small == 1 ? "s" : "");
    cli_print_paragraph(text);
}

void cli_diff_print(const struct cli_diff *diff, bool is_all)
{
    const struct store_run_info *a = &diff->a.stored.info, *b = &diff->b.stored.info;
    const size_t most = is_all ? SIZE_MAX : LINES_MOST;
    print_side('a', &diff->a);
    print_side('b', &diff->b);
    print_changes("scenario", a->scenario_text, b->scenario_text, most);
    print_changes("--set", a->overrides, b->overrides, most);
    putchar('\n');
    print_ground(diff);
    for (size_t i = 0; i < diff->strategy_count; i++)
        print_strategy(diff, &diff->strategies[i], is_all);
    print_alone(diff);
    print_end(diff, is_all);
}

static json_t *side_json(const struct cli_diff_side *side)
{
    return CLI_OBJECT(
        {"run", json_integer(side->stored.info.run)}, {"scenario", json_string(side->result->scenario_name)},
        {"seed", cli_json_whole(side->result->seed)}, {"digest", cli_json_digest(side->result->digest)},
        {"version", json_string(side->stored.info.version)},
        {"overrides", json_string(side->stored.info.overrides)},
        {"seeds", json_integer((json_int_t)side->seed_count)});
}

static json_t *figure_json(const struct cli_diff_figure *figure)
{
    bool is_tested = figure->is_tested;
    return CLI_OBJECT({"a", cli_json_number(figure->a)}, {"b", cli_json_number(figure->b)},
                      {"difference", cli_json_number(figure->difference)},
                      {"low", is_tested ? cli_json_number(figure->interval.low) : json_null()},
                      {"high", is_tested ? cli_json_number(figure->interval.high) : json_null()},
                      {"p", is_tested ? cli_json_number(figure->p) : json_null()},
                      {"significant", json_boolean(cli_diff_is_significant(figure))});
}

static json_t *metrics_json(const struct cli_diff_strategy *strategy)
{
    json_t *object = json_object();
    for (size_t i = 0; i < strategy->count; i++) {
        const struct cli_diff_figure *figure = &strategy->figures[i];
        if (figure->is_in_a && figure->is_in_b)
            object = cli_json_with(object, figure->name, figure_json(figure));
    }
    return object;
}

static json_t *names_json(const struct cli_diff_strategy *strategy, bool is_of_a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < strategy->count; i++) {
        const struct cli_diff_figure *figure = &strategy->figures[i];
        if (figure->is_in_a == is_of_a && figure->is_in_b != is_of_a)
            list = cli_json_append(list, json_string(figure->name));
    }
    return list;
}

static json_t *gap_json(const struct cli_diff_strategy *strategy)
{
    const struct lab_gap *gap = &strategy->gap;
    if (!strategy->has_gap)
        return json_null();
    return CLI_OBJECT({"of", json_string(strategy->is_gap_of_closed ? "closed" : "all")},
                      {"distance", cli_json_number(gap->distance)}, {"rows", cli_json_whole(gap->size)},
                      {"share_a", cli_json_number(gap->one)}, {"share_b", cli_json_number(gap->other)});
}

static json_t *strategies_json(const struct cli_diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diff->strategy_count; i++) {
        const struct cli_diff_strategy *strategy = &diff->strategies[i];
        list = cli_json_append(
            list, CLI_OBJECT({"label_a", json_string(strategy->a->label)},
                             {"label_b", json_string(strategy->b->label)},
                             {"metrics", metrics_json(strategy)}, {"only_in_a", names_json(strategy, true)},
                             {"only_in_b", names_json(strategy, false)}, {"sizes", gap_json(strategy)}));
    }
    return list;
}

json_t *cli_diff_json(const struct cli_diff *diff)
{
    static const char *const tests[] = {NULL, "paired", "welch"};
    json_t *pairs = json_array();
    for (size_t i = 0; i < diff->pair_count; i++)
        pairs = cli_json_append(pairs, cli_json_whole(diff->pairs[i].seed));
    return CLI_OBJECT({"a", side_json(&diff->a)}, {"b", side_json(&diff->b)},
                      {"same", json_boolean(diff->is_same_digest && !cli_diff_is_any(diff))},
                      {"test", cli_json_words(tests[diff->test])}, {"pairs", pairs},
                      {"strategies", strategies_json(diff)}, {"only_in_a", alone_json(diff, &diff->a)},
                      {"only_in_b", alone_json(diff, &diff->b)});
}
