/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws many sizes of one lognormal or Pareto distribution, in a few nanoseconds each.
 *
 * A size is the inverse distribution function of a random number. A precomputed table approximates the
 * function: probabilities from 0 to 1/2 are divided into octaves, and each octave into 64 equal cells, each
 * with a cubic polynomial; probabilities from 1 down to 1/2 likewise. The outer 2^-11 on either side are
 * drawn directly from the tail of the distribution. Source: Lee, Cheung, Villasenor and Luk, "Inversion based
 * noise generation by hierarchical segmentation" (FPL 2006). Before a size is rounded to whole bytes, its
 * relative error is below 3e-10 for a sigma of 1, and below 3e-8 for every distribution that has a table: a
 * statistical test would need 10^15 draws to detect it. */
#ifndef KERNEL_SIZES_H
#define KERNEL_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/sampler.h"

struct sim_sizes;

/* Makes the table of a distribution that has passed sim_size_prepare(). *out is NULL for a distribution
 * without a table: a constant or uniform one, a sigma above 4, an alpha below 1/4, or sizes near 2^62.
 * Returns false when out of memory. The table takes about 50 KiB and 150 microseconds. */
bool sim_sizes_create(const struct sim_size *size, struct sim_sizes **out);
/* sizes may be NULL. */
void sim_sizes_destroy(struct sim_sizes *sizes);
/* Draws `count` sizes into `out`, with sim_size_draw() when `sizes` is NULL. The distribution is the same
 * either way, but the same stream yields different sizes. */
void sim_sizes_draw(const struct sim_sizes *sizes, const struct sim_size *size, struct sim_random *random,
                    uint64_t *out, size_t count);

#endif
