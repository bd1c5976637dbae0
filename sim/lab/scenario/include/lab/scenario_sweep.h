/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section `sweep` as nodes of the tree: what it says, before anything is made of it. */
#ifndef LAB_SCENARIO_SWEEP_H
#define LAB_SCENARIO_SWEEP_H

#include "lab/scenario_part.h"

#define LAB_SWEEP_JOBS_MAX   1000000u
#define LAB_SWEEP_POINTS_MAX 10000u

/* `seeds`: a list, or so many from one on. */
struct lab_sweep_seeds {
    uint64_t count;
    bool has_first;
    uint64_t first;
    uint64_t *items; /* NULL: first, first + 1, ... */
};

struct lab_sweep_section {
    struct lab_sweep_seeds seeds; /* count 0: not given; items are the caller's */
    const struct lab_node *grid;  /* a mapping of lists that hold something; or NULL */
    const struct lab_node *list;  /* of mappings; or NULL */
};

/* On failure nothing is to be freed. */
bool lab_sweep_section_read(struct lab_reader *reader, const struct lab_node *node,
                            struct lab_sweep_section *out);

#endif
