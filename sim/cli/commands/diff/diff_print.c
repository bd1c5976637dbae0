/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a comparison as a table. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/result.h"
#include "cli/text.h"
#include "diff.h"
#include "lab/metric.h"

#define NAME_COLUMNS 34
#define LINES_MOST   40

/* The changed lines of a text so far. */
struct changes {
    size_t count, most;
};

static void print_side(char name, const struct cli_diff_side *side)
{
    printf("%c  run %" PRId64 ", seed %" PRIu64 ", digest %016" PRIx64 ", bucketlab ", name, side->run,
           side->result->seed, side->result->digest);
    cli_print_text(stdout, side->version);
    printf("\n  ");
    cli_print_wrapped(side->result->scenario_name, 2);
    if (side->label != NULL) {
        fputs(": ", stdout);
        cli_print_text(stdout, side->label);
    }
    putchar('\n');
}

static void print_change(void *context, char sign, const char *text)
{
    struct changes *changes = context;
    if (changes->count++ >= changes->most)
        return;
    printf("  %c", sign);
    cli_print_wrapped(text, 3);
    putchar('\n');
}

static bool print_changes(const char *heading, const char *a, const char *b, size_t most)
{
    struct changes changes = {.most = most};
    if (strcmp(a, b) == 0)
        return true;
    printf("\n%s\n", heading);
    if (!cli_diff_lines(a, b, print_change, &changes))
        return false;
    if (changes.count > most)
        printf("  and %zu more lines; --all shows them\n", changes.count - most);
    return true;
}

static bool print_texts(const struct cli_diff *diff, bool is_all)
{
    size_t most = is_all ? SIZE_MAX : LINES_MOST;
    return print_changes("scenario", diff->a.text, diff->b.text, most) &&
           print_changes("--set", diff->a.overrides, diff->b.overrides, most);
}

static void print_wrapped(const char *text)
{
    size_t length = strcspn(text, " ");
    printf("%.*s", (int)length, text);
    if (text[length] != '\0')
        cli_print_wrapped(text + length + 1, length);
    putchar('\n');
}

/* Prints what the values are, and whether they can be significant. */
static void print_ground(const struct cli_diff *diff)
{
    char text[512];
    if (strcmp(diff->a.version, diff->b.version) != 0)
        print_wrapped("Two versions of bucketlab: a difference may come from the version.");
    if (diff->is_same_digest && !cli_diff_is_any(diff)) {
        print_wrapped("The same run: all decisions are equal.");
        return;
    }
    if (diff->is_same_digest)
        print_wrapped("All decisions are equal; only names, or figures such as sizes and limits, differ.");
    if (!diff->is_same_digest && cli_diff_has_other_rows(diff))
        print_wrapped("The rows differ too, in their number, times, keys or sizes: a seed does not mean the "
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
    print_wrapped(text);
}

static void print_heading(const struct cli_diff *diff, const struct cli_diff_strategy *strategy)
{
    char a[CLI_SETTINGS_SIZE], b[CLI_SETTINGS_SIZE];
    cli_settings(strategy->a, a);
    cli_settings(strategy->b, b);
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
    printf("  %*s %7s %7s %8s %6s %6s\n", NAME_COLUMNS, "", "a", "b", "b - a",
           diff->test == CLI_DIFF_UNTESTED ? "" : "+-", "%");
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

static void print_figure(const struct cli_diff *diff, const struct cli_diff_figure *figure)
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
    printf("  %s", figure->name);
    size_t width = strlen(figure->name);
    if (width > NAME_COLUMNS)
        printf("\n  %*s", NAME_COLUMNS, "");
    else
        printf("%*s", (int)(NAME_COLUMNS - width), "");
    const char *end = stars(figure);
    printf(" %7s %7s %8s %6s %6s%s%s\n", a, b, difference, half, percent, end[0] == '\0' ? "" : " ", end);
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
    bool has_heading = false;
    for (size_t i = 0; i < strategy->count; i++) {
        const struct cli_diff_figure *figure = &strategy->figures[i];
        bool is_shown = figure->is_in_a != figure->is_in_b || cli_diff_is_notable(figure);
        if (!is_shown && !is_all)
            continue;
        if (!has_heading)
            print_heading(diff, strategy);
        has_heading = true;
        print_figure(diff, figure);
    }
    if (has_heading && strategy->has_gap && strategy->gap.distance > 0)
        print_gap(strategy);
}

static void print_alone(const struct cli_diff *diff)
{
    for (int side = 0; side < 2; side++) {
        const struct cli_diff_side *one = side == 0 ? &diff->a : &diff->b;
        bool is_first = true;
        size_t column = strlen("only in a:");
        for (size_t i = 0; i < one->result->strategy_count && one->label == NULL; i++) {
            const struct lab_strategy_result *strategy = &one->result->strategies[i];
            /* If the other side is a single strategy, the other strategies of this side are left out on
             * purpose. */
            if (cli_diff_is_matched(diff, strategy) || (side == 0 ? diff->b.label : diff->a.label) != NULL)
                continue;
            fputs(!is_first ? "," : side == 0 ? "\nonly in a:" : "\nonly in b:", stdout);
            /* With room for a comma after it. */
            size_t after = cli_print_wrapped(strategy->label, column + 1);
            column = after > cli_text_width(strategy->label) ? after : after + 1;
            is_first = false;
        }
        fputs(is_first ? "" : "\n", stdout);
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
        print_wrapped(text);
    } else if (diff->tested > 0) {
        snprintf(text, sizeof text, "None of %zu figures differs more than chance explains.", diff->tested);
        print_wrapped(text);
    }
    if (is_all || equal + small == 0)
        return;
    snprintf(text, sizeof text, "Not shown: %zu equal figure%s, and %zu that differ%s by 1 %% at most.",
             equal, equal == 1 ? "" : "s", small, small == 1 ? "s" : "");
    print_wrapped(text);
}

bool cli_diff_print(const struct cli_diff *diff, bool is_all, struct sim_error *error)
{
    print_side('a', &diff->a);
    print_side('b', &diff->b);
    if (!print_texts(diff, is_all))
        return sim_fail_memory(error);
    putchar('\n');
    print_ground(diff);
    for (size_t i = 0; i < diff->strategy_count; i++)
        print_strategy(diff, &diff->strategies[i], is_all);
    print_alone(diff);
    print_end(diff, is_all);
    return true;
}
