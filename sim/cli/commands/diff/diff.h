/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares two stored runs: their scenarios, their results, and whether the differences are significant.
 *
 * A run has one seed. The sample of a run is all stored runs of the same scenario, overrides and version. If
 * both samples have the same seed, the two runs with that seed are a pair, and the differences of pairs are
 * tested. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "cli/base.h"
#include "lab/result.h"
#include "tune/sample.h"

#define CLI_DIFF_CONFIDENCE 0.95

struct cli_diff_side {
    const char *label; /* label of the requested strategy; NULL: all */
    struct cli_stored stored;
    const struct lab_result *result; /* of stored */
    struct store_seed *seeds;        /* its sample, including the run itself, in order of seeds */
    size_t seed_count;
};

enum cli_diff_test {
    CLI_DIFF_UNTESTED, /* too few seeds: the values are those of the two runs */
    CLI_DIFF_PAIRED,   /* the values are means over the pairs */
    CLI_DIFF_WELCH,    /* no pairs: the values are means over all seeds of each sample */
};

struct cli_diff_pair {
    uint64_t seed;
    int64_t run_a, run_b;
};

struct cli_diff_figure {
    char name[LAB_METRIC_NAME_SIZE];
    bool is_in_a, is_in_b;
    double a, b, difference; /* b - a */
    struct tune_sample sample_a, sample_b, differences;
    bool is_infinite; /* at some seed; so it is not tested */
    bool is_tested;
    struct tune_interval interval; /* confidence interval of the difference */
    double p;                      /* p-value, corrected for the number of tested metrics */
};

struct cli_diff_strategy {
    const struct lab_strategy_result *a, *b; /* of the two runs */
    struct cli_diff_figure *figures;
    size_t count;
    bool has_gap, is_gap_of_closed; /* has_gap: `gap` is set, for rows of partitions; is_gap_of_closed: of
                                       closed partitions; otherwise of all */
    struct lab_gap gap;
};

struct cli_diff {
    struct cli_diff_side a, b;
    bool is_one_sample;  /* both runs belong to the same sample: they differ only in seed or strategy */
    bool is_same_choice; /* strategies are compared with those of the same label */
    bool is_same_digest; /* every row has the same bucket */
    enum cli_diff_test test;
    struct cli_diff_pair *pairs;
    size_t pair_count;
    struct cli_diff_strategy *strategies; /* strategies that both runs have */
    size_t strategy_count, tested;
};

/* --- diff.c */

bool cli_diff_is_significant(const struct cli_diff_figure *figure);
/* Whether the difference is worth a line: it is significant, or more than 1 %. */
bool cli_diff_is_notable(const struct cli_diff_figure *figure);
/* Whether the two runs have different rows; false when there is no evidence for it. */
bool cli_diff_has_other_rows(const struct cli_diff *diff);
/* Whether anything differs; significantly, if it was tested. */
bool cli_diff_is_any(const struct cli_diff *diff);
/* Whether the strategy is compared with a strategy of the other run. */
bool cli_diff_is_matched(const struct cli_diff *diff, const struct lab_strategy_result *strategy);

/* --- diff_print.c */

void cli_diff_print(const struct cli_diff *diff, bool is_all);
json_t *cli_diff_json(const struct cli_diff *diff);

#endif
