/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section `sweep` as nodes of the tree, before its points are made. */
#ifndef LAB_SCENARIO_SWEEP_H
#define LAB_SCENARIO_SWEEP_H

#include "lab/scenario_part.h"

#define LAB_SWEEP_JOBS_MAX   1000000u
#define LAB_SWEEP_POINTS_MAX 10000u

/* `seeds`: a list, or a number of consecutive seeds. */
struct lab_sweep_seeds {
    uint64_t count;
    bool has_first;
    uint64_t first;
    uint64_t *items; /* NULL: first, first + 1, ... */
};

struct lab_sweep_section {
    struct lab_sweep_seeds seeds; /* count 0: not given; the caller must free items */
    const struct lab_node *grid;  /* a mapping of lists that are not empty; or NULL */
    const struct lab_node *list;  /* a list of mappings; or NULL */
};

/* Reads the section. On failure there is nothing to free. */
bool lab_sweep_section_read(struct lab_reader *reader, const struct lab_node *node,
                            struct lab_sweep_section *out);

#endif
