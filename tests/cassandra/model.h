/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests that compare the mock with a reference model: seeds from the command line, one line of
 * output for a seed that fails, and the situations that a campaign must have met. */
#ifndef TESTS_CASSANDRA_MODEL_H
#define TESTS_CASSANDRA_MODEL_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../share.h"
#include "cluster_harness.h"

/* With at least this many seeds, each situation must have occurred. A part of a campaign has as many. */
#define MODEL_SEEDS_ENOUGH (test_share() > 1 ? UINT64_C(40) : UINT64_C(100))

/* How often a situation occurred in the campaign. */
struct model_situation {
    const char *name;
    uint64_t count;
};

struct model_run {
    uint64_t seed;
    bool is_broken;
    char message[256]; /* "RULE: what is wrong" */
};

#define MODEL_RULE(run, holds, rule, ...)                                                                    \
    do {                                                                                                     \
        if (!(holds) && !(run)->is_broken) {                                                                 \
            int used_ = snprintf((run)->message, sizeof(run)->message, "%s: ", rule);                        \
            snprintf((run)->message + used_, sizeof(run)->message - (size_t)used_, __VA_ARGS__);             \
            (run)->is_broken = true;                                                                         \
        }                                                                                                    \
    } while (0)

/* PROGRAM [--seeds A..B] [--jobs N]; the number of jobs is accepted and ignored. */
static inline int model_main(int argc, char **argv, uint64_t last, void (*check)(struct model_run *run),
                             const struct model_situation *situations, size_t situation_count)
{
    uint64_t first = 1;
    if (last > MODEL_SEEDS_ENOUGH)
        last = test_part(last) > MODEL_SEEDS_ENOUGH ? test_part(last) : MODEL_SEEDS_ENOUGH;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seeds") != 0)
            continue;
        char *end;
        first = last = strtoull(argv[i + 1], &end, 10);
        if (strncmp(end, "..", 2) == 0)
            last = strtoull(end + 2, NULL, 10);
    }
    for (uint64_t seed = first; seed <= last; seed++) {
        struct model_run run = {.seed = seed};
        check(&run);
        if (run.is_broken) {
            printf("seed %" PRIu64 ": %s\n  again: --seeds %" PRIu64 "\n", seed, run.message, seed);
            return 1;
        }
    }
    for (size_t i = 0; i < situation_count; i++) {
        printf("%10" PRIu64 " %s\n", situations[i].count, situations[i].name);
        if (last - first + 1 >= MODEL_SEEDS_ENOUGH && situations[i].count == 0) {
            printf("seed %" PRIu64 ": situation: this never came up: %s\n", last, situations[i].name);
            return 1;
        }
    }
    return 0;
}

#endif
