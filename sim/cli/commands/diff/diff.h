/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two stored runs side by side: what was asked, what differs, and whether chance would do the same.
 *
 * A run is one seed. What it stands for is its sample: the stored runs of the same scenario, overrides and
 * version. Where both samples have a seed, the two runs of it are a pair, and the pairs' differences are what
 * is tested. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include <jansson.h>

#include "cli/command.h"
#include "lab/result.h"
#include "store/store.h"
#include "tune/sample.h"

#define CLI_DIFF_CONFIDENCE 0.95

struct cli_signals;

struct cli_diff_side {
    int64_t run;
    char *label; /* the one strategy that was asked for; NULL: all */
    char *version, *path, *text, *overrides;
    struct lab_result *result;
    struct store_seed *seeds; /* its sample, itself included, in order of seeds */
    size_t seed_count;
};

enum cli_diff_test {
    CLI_DIFF_UNTESTED, /* too few seeds: the figures are those of the two runs */
    CLI_DIFF_PAIRED,   /* the figures are means over the pairs */
    CLI_DIFF_WELCH,    /* no pairs: means over all seeds of each */
};

struct cli_diff_pair {
    uint64_t seed;
    int64_t run_a, run_b;
};

struct cli_diff_figure {
    char name[LAB_METRIC_NAME_SIZE];
    bool is_in_a, is_in_b;
    double a, b, difference; /* b less a */
    struct tune_sample sample_a, sample_b, differences;
    bool is_tested;
    struct tune_interval interval; /* of the difference */
    double p;                      /* corrected for all figures that are tested */
};

struct cli_diff_strategy {
    const struct lab_strategy_result *a, *b; /* of the two runs */
    struct cli_diff_figure *figures;
    size_t count;
    bool has_gap, is_gap_of_closed; /* of the partitions' rows; else of all partitions */
    struct lab_gap gap;
};

struct cli_diff {
    struct cli_diff_side a, b;
    bool is_one_sample;  /* both runs belong to the same one: they differ in seed or strategy alone */
    bool is_same_choice; /* strategies are compared with those of the same label */
    bool is_same_digest; /* every row went the same way */
    enum cli_diff_test test;
    struct cli_diff_pair *pairs;
    size_t pair_count;
    struct cli_diff_strategy *strategies; /* those that both have */
    size_t strategy_count, tested;
};

/* --- diff_seeds.c */

/* The samples of both, and their pairs. */
bool cli_diff_pair(struct cli_diff *diff, struct store *store, struct sim_error *error);
/* Runs what is missing to `wanted` pairs, and stores it; then pairs again. An interrupted one keeps what was
 * stored. */
bool cli_diff_run_missing(struct cli_diff *diff, struct store *store, const struct cli_args *args,
                          uint64_t wanted, struct cli_signals *signals, struct sim_error *error);

/* --- diff_figures.c */

/* Matches strategies and compares them. */
bool cli_diff_compare(struct cli_diff *diff, struct store *store, const struct cli_args *args,
                      struct sim_error *error);
bool cli_diff_is_significant(const struct cli_diff_figure *figure);
/* Whether it is worth a line: significant, or by more than 1 %. */
bool cli_diff_is_notable(const struct cli_diff_figure *figure);
/* Whether the two have other rows: false where nothing speaks for it. */
bool cli_diff_has_other_rows(const struct cli_diff *diff);
/* Whether anything differs: significantly, where that can be told. */
bool cli_diff_is_any(const struct cli_diff *diff);
/* Whether the strategy of one side is compared with one of the other. */
bool cli_diff_is_matched(const struct cli_diff *diff, const struct lab_strategy_result *strategy);

/* --- diff_lines.c */

/* Calls line() for each line of either that the other has not, in order; '-' or '+'. False when out of
 * memory. */
bool cli_diff_lines(const char *a, const char *b, void (*line)(void *context, char sign, const char *text),
                    void *context);

/* --- diff_print.c, diff_json.c */

bool cli_diff_print(const struct cli_diff *diff, bool is_all, struct sim_error *error);
json_t *cli_diff_json(const struct cli_diff *diff);

#endif
