/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the scenario of a seed. */
#ifndef LAB_FUZZ_DRAW_H
#define LAB_FUZZ_DRAW_H

#include "lab/fields.h"

/* Draws all parts of a scenario that are not in the user's tree, as YAML. malloc'ed; NULL when out of
 * memory. */
char *lab_fuzz_draw(const struct lab_node *root, uint64_t seed, bool is_named);
/* Rounds a span to two digits, for readability; at least 1 us, and at most the limit of scenarios. */
int64_t lab_draw_rounded(double span_ns);
/* Each leaves *out unchanged, and returns false, when the node is no whole number, or no span; NULL is none.
 */
bool lab_whole_of(const struct lab_node *node, uint64_t *out);
bool lab_span_of(const struct lab_node *node, int64_t *out);

#endif
