/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many sizes of one lognormal or Pareto distribution, at a few nanoseconds each.
 *
 * A size is the inverse distribution function at a random number, which is laid out in advance: probabilities
 * up to 1/2 in octaves, each octave in 64 equal cells, each cell a cubic; and the same from 1 down. The outer
 * 2^-11 on either side are drawn from the tail itself. Source: Lee, Cheung, Villasenor and Luk, "Inversion
 * based noise generation by hierarchical segmentation" (FPL 2006). Before it is rounded to whole bytes, a
 * size is off by less than 3e-10 of itself for a sigma of 1, and by less than 3e-8 for all that are laid out:
 * no test sees that with fewer than 10^15 draws.
 */
#ifndef KERNEL_SIZES_H
#define KERNEL_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/sampler.h"

struct sim_sizes;

/* Of a size that sim_size_prepare() has completed. *out is NULL when it is not laid out: for a constant and a
 * uniform one, for a sigma above 4, an alpha below 1/4, and sizes near 2^62. False when out of memory; some
 * 50 KiB and 150 microseconds. */
bool sim_sizes_create(const struct sim_size *size, struct sim_sizes **out);
/* NULL is fine. */
void sim_sizes_destroy(struct sim_sizes *sizes);
/* `count` sizes into `out`, by sim_size_draw() where `sizes` is NULL. The same draws follow the same
 * distribution either way, and are other numbers. */
void sim_sizes_draw(const struct sim_sizes *sizes, const struct sim_size *size, struct sim_random *random,
                    uint64_t *out, size_t count);

#endif
