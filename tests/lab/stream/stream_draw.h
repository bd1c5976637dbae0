/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The meaning of a seed of the stream fuzzer: a scenario of the stream engine, as YAML, and the trace that it
 * names. Each part of a scenario has its own random stream, so that a part that draws more in future leaves
 * the others unchanged. */
#ifndef TESTS_LAB_STREAM_DRAW_H
#define TESTS_LAB_STREAM_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_TEXT_SIZE 16384u

/* For the naive engine: everything that an exact run may have. `trace` is the trace's file name; *csv is its
 * content, malloc'ed, or NULL. `text` holds STREAM_TEXT_SIZE. */
void stream_draw(uint64_t seed, const char *trace, char *text, char **csv);
/* For the comparison of distributions: a small scenario that the thinned mode supports, without `engine` and
 * `seed`; with `many` times the keys and rows of a small one. */
void stream_draw_distribution(uint64_t seed, uint64_t many, char *text);
/* For expected reads: an exact run with many reads of the newest rows. */
void stream_draw_expected(uint64_t seed, char *text);
/* For the distribution of one strategy's partitions: about `wanted` partitions of one key, from a bounded
 * number of rows. */
struct stream_single {
    bool is_weighted;
    double chance; /* of probabilistic */
    uint64_t threshold, unit_bytes, row_bytes;
};
void stream_draw_single(uint64_t seed, double wanted, double rows_most, char *text,
                        struct stream_single *out);
/* For the Poisson process itself: many keys of one constant rate, whose rows fall into windows, or into hash
 * buckets, of a mean number of rows. */
struct stream_poisson {
    bool is_hash;
    int64_t window_ns;
    double mean;
};
void stream_draw_poisson(uint64_t seed, char *text, struct stream_poisson *out);

#endif
