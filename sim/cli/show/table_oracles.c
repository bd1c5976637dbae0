/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The violations that the oracles found, for each strategy. */
#include <math.h>

#include "cli/table.h"
#include "cli/text.h"

/* In the order of enum lab_oracle. */
static const char *const headings[] = {"find", "newst", "agree", "mono", "gaps",
                                       "dupl", "bound", "consv", "live"};
#define SHOWN_COUNT (sizeof headings / sizeof headings[0])
_Static_assert(SHOWN_COUNT == LAB_ORACLE_UNIQUE, "a heading per oracle, except for that of identifiers");

static void print_cell(double value, bool has_colour)
{
    char number[CLI_NUMBER_SIZE];
    cli_compact(value, 5, number);
    bool is_red = has_colour && value > 0;
    printf(" %s%6s%s", is_red ? CLI_RED : "", number, is_red ? CLI_PLAIN : "");
}

static bool find(const struct lab_strategy_result *strategy, enum lab_oracle oracle, double *out)
{
    char name[LAB_METRIC_NAME_SIZE];
    snprintf(name, sizeof name, "oracle.%s.violations", lab_oracle_name(oracle));
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    if (metric != NULL)
        *out = metric->value;
    return metric != NULL;
}

static bool has_verdict(const struct lab_result *result)
{
    double value;
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (find(&result->strategies[i], LAB_ORACLE_CONSERVED, &value))
            return true;
    }
    return false;
}

/* Whether `live` was not judged for a strategy that rolls. */
static bool lacks_live(const struct lab_result *result)
{
    double value;
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (bk_kind_fires(result->strategies[i].settings.strategy.kind) &&
            !find(&result->strategies[i], LAB_ORACLE_LIVE, &value))
            return true;
    }
    return false;
}

/* Violations of the oracles that have no column, one line per strategy that has some. */
static void print_others(const struct lab_strategy_result *strategy)
{
    const char *join = ": ";
    for (int i = SHOWN_COUNT; i < LAB_ORACLE_COUNT; i++) {
        double value = 0;
        char number[CLI_NUMBER_SIZE];
        if (!find(strategy, (enum lab_oracle)i, &value) || value <= 0)
            continue;
        if (join[0] == ':') {
            printf("other violations of ");
            cli_print_text(stdout, strategy->label);
        }
        cli_grouped((uint64_t)value, number);
        printf("%s%s %s", join, lab_oracle_name((enum lab_oracle)i), number);
        join = ", ";
    }
    if (join[0] == ',')
        putchar('\n');
}

void cli_print_oracles(const struct lab_result *result)
{
    if (!has_verdict(result))
        return;
    bool has_colour = cli_has_colour();
    printf("\nviolations   ");
    for (size_t i = 0; i < SHOWN_COUNT; i++)
        printf(" %6s", headings[i]);
    putchar('\n');
    for (size_t i = 0; i < result->strategy_count; i++) {
        cli_print_label(result->strategies[i].label);
        for (size_t j = 0; j < SHOWN_COUNT; j++) {
            double value = (double)NAN;
            find(&result->strategies[i], (enum lab_oracle)j, &value);
            print_cell(value, has_colour);
        }
        putchar('\n');
    }
    printf("\nby the oracles findable, newest, agreement, monotone, no_gaps, no_duplicates,\n"
           "bounded, conserved, live (docs/oracles.md). newst: stored rows after which\na reader does not "
           "get the newest; gaps: buckets; bound: partitions; consv:\ndifferences; live: keys; the others: "
           "rows. -: not judged for that strategy\n");
    for (size_t i = 0; i < result->strategy_count; i++)
        print_others(&result->strategies[i]);
    if (lacks_live(result))
        printf("live is not judged: settings change, or the run ends too soon after the last fault\n");
}
