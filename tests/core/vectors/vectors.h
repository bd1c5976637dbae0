/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vectors: inputs of the core with their expected outputs, as JSON. A case is drawn from a family and a seed,
 * and is one object on one line. docs/porting.md describes its contents. */
#ifndef TESTS_CORE_VECTORS_H
#define TESTS_CORE_VECTORS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../draw.h"
#include "bucketing/bucketing.h"
#include "bucketing/idgen.h"

/* Draws a case and writes its object; `which` is the family's own number. */
typedef void vectors_case(FILE *out, struct draw *draw, int which);

vectors_case vectors_hash, vectors_id, vectors_route, vectors_read, vectors_history, vectors_agent,
    vectors_idgen;

/* Names as in the headers, without their prefix. */
extern const char *const vectors_coordinations[], *const vectors_counters[], *const vectors_sources[];
extern const char *const vectors_plans[], *const vectors_queries[];
const char *vectors_status(enum bk_status status);

/* "name":value, members of an object: a comma precedes each member, so an object begins with a member that is
 * always present. A number of 0 and a text of NULL are left out; numbers beyond 2^53 are texts, since some
 * readers keep only 53 bits. */
void vectors_member(FILE *out, const char *name, int64_t value);
void vectors_unsigned(FILE *out, const char *name, uint64_t value);
void vectors_text(FILE *out, const char *name, const char *value);
void vectors_array(FILE *out, const char *name, const int64_t *values, size_t count);
void vectors_number(FILE *out, int64_t value);
void vectors_unsigned_number(FILE *out, uint64_t value);
void vectors_row(FILE *out, const char *name, const struct bk_row *row);
void vectors_strategy(FILE *out, const struct bk_strategy *strategy);
void vectors_eras(FILE *out, const char *name, const struct bk_history *history);
void vectors_state(FILE *out, const char *name, const struct bk_key_state *state);
void vectors_query(FILE *out, const struct bk_query *query);
void vectors_step(FILE *out, const struct bk_read_step *step);

/* Small numbers, so that thresholds, windows and ages meet often. */
/* Of time, and of a kind that counts, with shards. */
#define VECTORS_SHARDS         BK_KINDS
#define VECTORS_COUNTED_SHARDS (BK_KINDS + 1)
struct bk_strategy vectors_draw_strategy(struct draw *draw, enum bk_kind kind, bool may_age);
struct bk_row vectors_draw_row(struct draw *draw, int64_t now_ns, uint64_t sequence);
struct bk_query vectors_draw_query(struct draw *draw, const struct bk_strategy *strategy, int64_t now_ns);
/* Changes the history once or twice, with settings of the same kind or of a kind that may follow. */
void vectors_draw_eras(struct draw *draw, struct bk_history *history, bool same_kind, int64_t now_ns);

/* The distance of two times of a span below n. */
static inline int64_t grid_of(const struct draw *draw, uint64_t n)
{
    return !draw->is_coarse ? 1 : n >= 900 ? 500 : n >= 200 ? 50 : 10;
}

/* A span of time below n, in a coarse case a round one. */
static inline int64_t draw_span(struct draw *draw, uint64_t n)
{
    int64_t span = (int64_t)draw_below(draw, n);
    return span - span % grid_of(draw, n);
}

/* The same, above 0. */
static inline int64_t draw_some(struct draw *draw, uint64_t n)
{
    return draw_span(draw, n) + grid_of(draw, n);
}

static inline bool one_in(struct draw *draw, uint64_t n)
{
    return draw_below(draw, n) == 0;
}

#endif
