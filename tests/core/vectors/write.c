/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the values of the core as JSON. */
#include <inttypes.h>

#include "vectors.h"

#define EXACT (INT64_C(1) << 53)

const char *const vectors_coordinations[] = {"SINGLE", "LOCKED", "THREE_STATE", "GUARDED"};
const char *const vectors_counters[] = {"RMW", "LWT", "NATIVE"};
const char *const vectors_sources[] = {"EXTERNAL",    "COUNTER", "LWT",   "LEASE",
                                       "INCREMENTAL", "SCAN",    "MEMORY"};
const char *const vectors_plans[] = {"DEFAULT", "WALK", "PAIR", "ALL", "LAZY", "PARALLEL"};
const char *const vectors_queries[] = {"LATEST", "RANGE", "ALL"};

const char *vectors_status(enum bk_status status)
{
    static const char *const names[] = {
#define NAME(name, text) #name,
        BK_STATUS_MAP(NAME)
#undef NAME
    };
    return names[status];
}

void vectors_number(FILE *out, int64_t value)
{
    const char *quote = value > EXACT || value < -EXACT ? "\"" : "";
    fprintf(out, "%s%" PRId64 "%s", quote, value, quote);
}

void vectors_unsigned_number(FILE *out, uint64_t value)
{
    const char *quote = value > (uint64_t)EXACT ? "\"" : "";
    fprintf(out, "%s%" PRIu64 "%s", quote, value, quote);
}

void vectors_member(FILE *out, const char *name, int64_t value)
{
    if (value == 0)
        return;
    fprintf(out, ",\"%s\":", name);
    vectors_number(out, value);
}

void vectors_unsigned(FILE *out, const char *name, uint64_t value)
{
    if (value == 0)
        return;
    fprintf(out, ",\"%s\":", name);
    vectors_unsigned_number(out, value);
}

void vectors_text(FILE *out, const char *name, const char *value)
{
    if (value != NULL)
        fprintf(out, ",\"%s\":\"%s\"", name, value);
}

void vectors_array(FILE *out, const char *name, const int64_t *values, size_t count)
{
    fprintf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", out);
        vectors_number(out, values[i]);
    }
    fputs("]", out);
}

void vectors_row(FILE *out, const char *name, const struct bk_row *row)
{
    fprintf(out, ",\"%s\":[", name);
    vectors_number(out, row->time_ns);
    const uint64_t rest[] = {row->sequence, row->id, row->bytes};
    for (size_t i = 0; i < 3; i++) {
        fputs(",", out);
        vectors_unsigned_number(out, rest[i]);
    }
    fputs("]", out);
}

void vectors_strategy(FILE *out, const struct bk_strategy *strategy)
{
    fprintf(out, "{\"kind\":\"%s\"", bk_kind_name(strategy->kind));
    switch (strategy->kind) {
    case BK_KIND_TIME:
        vectors_member(out, "calendar", strategy->of.time.calendar);
        vectors_member(out, "window_ns", strategy->of.time.window_ns);
        vectors_member(out, "epoch_ns", strategy->of.time.epoch_ns);
        vectors_member(out, "shards", strategy->of.time.shards);
        break;
    case BK_KIND_COUNT:
        vectors_unsigned(out, "rows", strategy->of.count.rows);
        break;
    case BK_KIND_PROBABILISTIC:
        vectors_unsigned(out, "bits", strategy->of.probabilistic.bits);
        vectors_unsigned(out, "chance_numerator", strategy->of.probabilistic.chance_numerator);
        vectors_unsigned(out, "chance_denominator", strategy->of.probabilistic.chance_denominator);
        vectors_unsigned(out, "threshold", strategy->of.probabilistic.threshold);
        break;
    case BK_KIND_HASH:
        vectors_unsigned(out, "buckets", strategy->of.hash.buckets);
        break;
    case BK_KIND_WEIGHTED:
        vectors_unsigned(out, "bytes", strategy->of.weighted.bytes);
        vectors_unsigned(out, "threshold", strategy->of.weighted.threshold);
        break;
    default:
        break;
    }
    vectors_member(out, "shards", strategy->shards);
    vectors_member(out, "max_age_ns", strategy->max_age_ns);
    fputs("}", out);
}

void vectors_eras(FILE *out, const char *name, const struct bk_history *history)
{
    fprintf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < history->count; i++) {
        fputs(i > 0 ? ",[" : "[", out);
        vectors_number(out, history->eras[i].from_ns);
        fputs(",", out);
        vectors_strategy(out, &history->eras[i].strategy);
        fputs("]", out);
    }
    fputs("]", out);
}

void vectors_state(FILE *out, const char *name, const struct bk_key_state *state)
{
    fprintf(out, ",\"%s\":[", name);
    vectors_number(out, state->bucket);
    fputs(",", out);
    vectors_unsigned_number(out, state->counter);
    fputs(",", out);
    vectors_number(out, state->last_change_ns);
    fprintf(out, ",%d,", state->is_begun);
    vectors_number(out, state->until_ns);
    fputs(",", out);
    vectors_unsigned_number(out, state->first_sequence);
    fputs("]", out);
}

void vectors_query(FILE *out, const struct bk_query *query)
{
    fprintf(out, ",\"query\":{\"kind\":\"%s\"", vectors_queries[query->kind]);
    vectors_text(out, "plan", vectors_plans[query->plan]);
    vectors_unsigned(out, "at_once", query->at_once);
    vectors_unsigned(out, "rows", query->rows);
    vectors_member(out, "from_ns", query->from_ns);
    vectors_member(out, "until_ns", query->until_ns);
    vectors_member(out, "now_ns", query->now_ns);
    vectors_member(out, "birth_ns", query->birth_ns);
    vectors_unsigned(out, "partitions_max", query->partitions_max);
    fputs("}", out);
    if (query->start_count == 0)
        return;
    fputs(",\"starts\":[", out);
    for (size_t i = 0; i < query->start_count; i++) {
        fputs(i > 0 ? ",[" : "[", out);
        vectors_number(out, query->starts[i].bucket);
        fputs(",", out);
        vectors_number(out, query->starts[i].start_ns);
        fputs("]", out);
    }
    fputs("]", out);
}

/* [low, high, rows, from, until]; time bounds are left out if there are none. */
void vectors_step(FILE *out, const struct bk_read_step *step)
{
    fputs("[", out);
    vectors_number(out, step->bucket_low);
    fputs(",", out);
    vectors_number(out, step->bucket_high);
    fputs(",", out);
    vectors_unsigned_number(out, step->rows);
    if (step->from_ns != INT64_MIN || step->until_ns != INT64_MAX) {
        fputs(",", out);
        vectors_number(out, step->from_ns);
        fputs(",", out);
        vectors_number(out, step->until_ns);
    }
    fputs("]", out);
}
