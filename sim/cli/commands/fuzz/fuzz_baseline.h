/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A campaign compared with a stored one. Where a protocol guarantees nothing, or is excused, a violation is
 * no failure; but how many seeds have one is a share, and a share may get worse. Each protocol and oracle is
 * a cell: seeds judged, and of these the seeds with a violation that no guarantee covers; or the seeds that
 * kept fewer rows than a share of all. A baseline is a text file of cells; a cell is worse when Fisher's
 * exact test of both shares says so at a level that all cells divide among them. */
#ifndef CLI_FUZZ_BASELINE_H
#define CLI_FUZZ_BASELINE_H

#include <jansson.h>

#include "cli/campaign.h"

/* Of a comparison in which nothing has changed: the chance that any cell is called worse; likewise better. */
#define CLI_FUZZ_FALSE_ALARM 1e-6

struct cli_fuzz_cell {
    uint64_t seeds, violated;
};

struct cli_fuzz_shift {
    enum bk_kind kind;
    unsigned protocol;
    unsigned share; /* enum lab_oracle, or enum lab_fuzz_share */
    struct cli_fuzz_cell before, now;
    double chance; /* of this or more, if nothing has changed */
};

#define CLI_FUZZ_CELLS (LAB_FUZZ_KINDS * LAB_PROTOCOL_COUNT * (unsigned)LAB_FUZZ_SHARES)

struct cli_fuzz_baseline {
    const char *path; /* NULL: there is none */
    bool is_update;
    uint64_t identity; /* of the campaign at hand */
    uint64_t first, last;
    struct cli_fuzz_cell *cells; /* as stored; CLI_FUZZ_CELLS of them */
    size_t compared;
    struct cli_fuzz_shift *worse, *better; /* by chance, the least one first */
    size_t worse_count, better_count;
};

/* Reads the file, unless it is to be made again, and refuses one of another campaign. */
bool cli_fuzz_baseline_read(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_base *base,
                            struct sim_error *error);
/* Fills in what is worse and better. */
bool cli_fuzz_baseline_compare(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_tally *tally,
                               struct sim_error *error);
bool cli_fuzz_baseline_write(const struct cli_fuzz_baseline *baseline, const struct cli_campaign *campaign,
                             struct sim_error *error);
/* For people, of a comparison; and SIM_ERROR_CHECK with the worst of what is worse, if anything is. */
void cli_fuzz_baseline_print(const struct cli_fuzz_baseline *baseline);
bool cli_fuzz_baseline_judge(const struct cli_fuzz_baseline *baseline, struct sim_error *error);
/* The field `baseline`; NULL when out of memory. */
json_t *cli_fuzz_baseline_json(const struct cli_fuzz_baseline *baseline);
void cli_fuzz_baseline_clear(struct cli_fuzz_baseline *baseline);

#endif
