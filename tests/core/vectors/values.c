/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of pure calls: hashes, bits of ids, routes, read plans, histories. */
#include "vectors.h"

static void write_bytes(FILE *out, const unsigned char *bytes, size_t size)
{
    fputs("\"", out);
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%02x", bytes[i]);
    fputs("\"", out);
}

void vectors_hash(FILE *out, struct draw *draw, int which)
{
    (void)which;
    unsigned char bytes[40] = {0};
    size_t size = draw_below(draw, sizeof bytes);
    uint64_t seed = one_in(draw, 2) ? 0 : draw_bits(draw), input = draw_bits(draw);
    uint32_t buckets = 1 + (uint32_t)(draw_size(draw) % BK_BUCKETS_MAX);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(draw->is_coarse ? 0x7e + draw_below(draw, 4) : draw_bits(draw));
    struct bk_hash128 plain = bk_murmur3_128(bytes, size, seed);
    struct bk_hash128 cassandra = bk_murmur3_128_cassandra(bytes, size, seed);
    fputs("{\"bytes\":", out);
    write_bytes(out, bytes, size);
    vectors_unsigned(out, "seed", seed);
    vectors_unsigned(out, "h1", plain.h1);
    vectors_unsigned(out, "h2", plain.h2);
    vectors_unsigned(out, "cassandra_h1", cassandra.h1);
    vectors_unsigned(out, "cassandra_h2", cassandra.h2);
    vectors_unsigned(out, "input", input);
    vectors_unsigned(out, "buckets", buckets);
    vectors_member(out, "consistent_hash", bk_consistent_hash(input, buckets));
    vectors_unsigned(out, "u64_h1", bk_murmur3_128_u64(input).h1);
    vectors_member(out, "bucket_of_id", bk_bucket_of_id(input, buckets));
    fputs("}", out);
}

void vectors_id(FILE *out, struct draw *draw, int which)
{
    (void)which;
    enum bk_id_kind kind = (enum bk_id_kind)draw_below(draw, BK_ID_KINDS);
    unsigned char bytes[24];
    size_t size = kind == BK_ID_SNOWFLAKE ? 8 : kind == BK_ID_BYTES ? draw_below(draw, sizeof bytes) : 16;
    if (one_in(draw, 8))
        size = draw_below(draw, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)draw_bits(draw);
    static const unsigned char versions[BK_ID_KINDS] = {0x10, 0x40, 0x70};
    if (versions[kind] != 0 && !one_in(draw, 8))
        bytes[6] = versions[kind] | (bytes[6] & 15);
    if (!one_in(draw, 8))
        bytes[8] = 0x80 | (bytes[8] & 0x3f);
    uint64_t bits;
    enum bk_status status = bk_id_bits(kind, bytes, size, &bits);
    fprintf(out, "{\"kind\":\"%s\",\"bytes\":", bk_id_kind_name(kind));
    write_bytes(out, bytes, size);
    vectors_text(out, "status", vectors_status(status));
    vectors_unsigned(out, "bits", bits);
    fputs("}", out);
}

static void write_route(FILE *out, const struct bk_row *row, enum bk_status status,
                        const struct bk_placement *route)
{
    fprintf(out, "{\"status\":\"%s\"", vectors_status(status));
    vectors_row(out, "row", row);
    const int64_t numbers[] = {route->bucket, route->scope, route->begins, route->from_ns, route->until_ns};
    vectors_array(out, "route", numbers, 5);
    fputs(",\"sequences\":[", out);
    vectors_unsigned_number(out, route->sequence_low);
    fputs(",", out);
    vectors_unsigned_number(out, route->sequence_high);
    fputs("]", out);
}

static void write_effect(FILE *out, const struct bk_effect *effect)
{
    const int64_t numbers[] = {effect->counter_increments, effect->state_writes, effect->rolled};
    vectors_array(out, "effect", numbers, 3);
}

/* Also within ten years of 2100, where a leap day is missing. */
static int64_t draw_begin(struct draw *draw)
{
    uint64_t years = draw->is_edge ? 1 : one_in(draw, 8) ? 20 : 0;
    if (years > 0)
        return INT64_C(86400000000000) * (47482 + (int64_t)draw_below(draw, 365 * years) - 3650);
    return one_in(draw, 4) ? draw_time(draw) / 2 : 1000000 + draw_span(draw, 1000);
}

void vectors_route(FILE *out, struct draw *draw, int which)
{
    struct bk_strategy strategy = vectors_draw_strategy(draw, (enum bk_kind)which, one_in(draw, 2));
    struct bk_key_state state = {0};
    int64_t now_ns = draw_begin(draw);
    uint64_t sequence = one_in(draw, 5) ? UINT64_MAX - draw_below(draw, 9) : draw_below(draw, 3);
    if (one_in(draw, 8) && bk_kind_fires(strategy.kind))
        state.bucket = INT64_MAX - (int64_t)draw_below(draw, 4);
    fputs("{\"strategy\":", out);
    vectors_strategy(out, &strategy);
    vectors_state(out, "state", &state);
    fputs(",\"rows\":[", out);
    for (int i = 0; i < 12; i++) {
        struct bk_row row = vectors_draw_row(draw, now_ns, sequence);
        struct bk_placement route;
        struct bk_effect effect;
        if (i == 11)
            row.time_ns = draw_time(draw);
        enum bk_status status = bk_route(&strategy, &state, &row, &route);
        fputs(i > 0 ? "," : "", out);
        write_route(out, &row, status, &route);
        vectors_unsigned(out, "weight", bk_weight(&strategy, &row));
        bk_advance(&strategy, &state, &row, &effect);
        write_effect(out, &effect);
        vectors_state(out, "state", &state);
        fputs("}", out);
        if ((draw->is_edge || one_in(draw, 3)) && route.until_ns > now_ns &&
            route.until_ns < INT64_MAX) /* at the end of its time */
            now_ns = route.until_ns - 1 + (int64_t)draw_below(draw, 2);
        else
            now_ns = (int64_t)((uint64_t)now_ns + (uint64_t)draw_span(draw, 900));
        sequence += draw_below(draw, 2) + (sequence < 1000);
    }
    fputs("]}", out);
}

/* A reader's steps, each with its outcome, until the end. */
static void read_on(FILE *out, struct draw *draw, struct bk_reader *reader, struct bk_empties *known,
                    const struct bk_strategy *strategy, int64_t now_ns)
{
    struct bk_read_step step;
    const char *comma = "";
    fputs(",\"steps\":[", out);
    for (int i = 0; i < 30 && bk_read_next_known(reader, known, &step); i++, comma = ",") {
        uint64_t rows = one_in(draw, 3) ? 0 : draw_below(draw, step.rows < 9 ? step.rows + 1 : 9);
        bool saw_older = one_in(draw, 3);
        fprintf(out, "%s{\"step\":", comma);
        vectors_step(out, &step);
        if (reader->kind == BK_QUERY_RANGE) {
            bk_read_found_range(reader, rows, saw_older);
            vectors_member(out, "saw_older", saw_older);
        } else {
            bk_read_found(reader, rows);
        }
        vectors_unsigned(out, "rows", rows);
        if (strategy->kind == BK_KIND_TIME && rows == 0) {
            int64_t late_ns = draw_span(draw, 3000);
            bk_empties_learn(known, strategy, reader, now_ns, late_ns, step.bucket_low, step.bucket_high);
            vectors_array(out, "learn", &late_ns, 1);
        }
        if (one_in(draw, 8)) {
            int64_t skip[2] = {reader->next - (int64_t)draw_below(draw, 4)};
            skip[1] = (int64_t)bk_read_skip_to(reader, skip[0]);
            vectors_array(out, "skip", skip, 2);
        }
        if (one_in(draw, 8)) {
            int64_t forget = step.bucket_low + (int64_t)draw_below(draw, 5);
            bk_empties_forget(known, forget);
            vectors_array(out, "forget", &forget, 1);
        }
        fputs("}", out);
    }
    fputs("]", out);
}

static void write_reader(FILE *out, const struct bk_reader *reader)
{
    const int64_t end[] = {(int64_t)reader->rows_found, (int64_t)reader->partitions_asked,
                           (int64_t)reader->partitions_spared, reader->order};
    vectors_array(out, "end", end, 4);
    vectors_text(out, "ended", vectors_status(reader->status));
}

static void write_empties(FILE *out, const struct bk_empties *known)
{
    int64_t runs[2 * BK_EMPTY_RUNS_MAX];
    for (uint32_t i = 0; i < known->count; i++) {
        runs[2 * i] = known->runs[i].low;
        runs[2 * i + 1] = known->runs[i].high;
    }
    vectors_array(out, "empties", runs, 2 * (size_t)known->count);
}

/* Several reads, one after another, that share their knowledge of empty windows. */
void vectors_read(FILE *out, struct draw *draw, int which)
{
    struct bk_strategy strategy = vectors_draw_strategy(draw, (enum bk_kind)which, false);
    struct bk_key_state state = {.bucket = one_in(draw, 10) ? -1 : draw_span(draw, 12)};
    struct bk_empties known = {0};
    int64_t now_ns = draw_begin(draw), base = (int64_t)draw_below(draw, 3);
    bool has_many = strategy.kind == BK_KIND_TIME && one_in(draw, 4);
    fputs("{\"strategy\":", out);
    vectors_strategy(out, &strategy);
    vectors_state(out, "state", &state);
    fputs(",\"reads\":[", out);
    for (int i = 0; i < 4; i++) {
        struct bk_query query = vectors_draw_query(draw, &strategy, now_ns);
        struct bk_bucket_start starts[3];
        struct bk_reader reader;
        if (has_many)
            query.birth_ns = now_ns - 200000;
        query.starts = starts;
        query.start_count =
            strategy.kind == BK_KIND_TIME || strategy.kind == BK_KIND_HASH ? 0 : draw_below(draw, 4);
        for (size_t j = 0; j < query.start_count; j++)
            starts[j] = (struct bk_bucket_start){base + (int64_t)j * 2 - one_in(draw, 20) * 9,
                                                 now_ns - 9000 + (int64_t)j * 3000};
        enum bk_status status = bk_read_begin(&strategy, &state, &query, &reader);
        fprintf(out, "%s{\"status\":\"%s\"", i > 0 ? "," : "", vectors_status(status));
        vectors_query(out, &query);
        read_on(out, draw, &reader, &known, &strategy, now_ns);
        write_reader(out, &reader);
        int64_t probe[3] = {reader.next + (int64_t)draw_below(draw, 9)};
        probe[1] = bk_empties_pass(&known, probe[0]);
        probe[2] = bk_empties_top(&known, probe[0]);
        vectors_array(out, "pass_top", probe, 3);
        write_empties(out, &known);
        fputs("}", out);
        now_ns = (int64_t)((uint64_t)now_ns + draw_below(draw, 4000));
    }
    fputs("]}", out);
}

static void write_history_state(FILE *out, const struct bk_history_state *state)
{
    vectors_state(out, "state", &state->key);
    const int64_t more[] = {state->has_rows, state->opened};
    vectors_array(out, "opened", more, 2);
    fputs(",\"starts\":[", out);
    for (uint32_t i = 1; i <= state->opened && i < BK_ERAS_MAX; i++) {
        fputs(i > 1 ? "," : "", out);
        vectors_unsigned_number(out, state->starts[i].sequence);
        fputs(",", out);
        vectors_number(out, state->starts[i].bucket);
    }
    fputs("]", out);
}

static void read_history(FILE *out, struct draw *draw, const struct bk_history *history,
                         const struct bk_history_state *state, int64_t now_ns)
{
    struct bk_history_reader reader;
    struct bk_read_step step;
    const char *comma = "";
    struct bk_query query = vectors_draw_query(draw, &history->eras[history->count - 1].strategy, now_ns);
    if (one_in(draw, 2))
        query.plan = BK_PLAN_DEFAULT;
    if (one_in(draw, 4))
        query.birth_ns = INT64_MIN;
    const struct bk_bucket_start start = {1, now_ns - 3000};
    query.starts = &start;
    query.start_count = one_in(draw, 3);
    enum bk_status status = bk_history_read_begin(history, state, &query, &reader);
    fprintf(out, ",\"read\":{\"status\":\"%s\"", vectors_status(status));
    vectors_query(out, &query);
    fputs(",\"steps\":[", out);
    for (int i = 0; i < 30 && bk_history_read_next(history, &reader, &step); i++, comma = ",") {
        uint64_t rows = one_in(draw, 2) ? 0 : draw_below(draw, step.rows < 9 ? step.rows + 1 : 9);
        bool saw_older = one_in(draw, 4);
        fprintf(out, "%s{\"step\":", comma);
        vectors_step(out, &step);
        if (query.kind == BK_QUERY_RANGE) {
            bk_read_found_range(&reader.reader, rows, saw_older);
            vectors_member(out, "saw_older", saw_older);
        } else {
            bk_read_found(&reader.reader, rows);
        }
        vectors_unsigned(out, "rows", rows);
        fputs("}", out);
    }
    const int64_t end[] = {(int64_t)bk_history_rows_found(&reader),
                           (int64_t)bk_history_partitions_asked(&reader), reader.reader.order};
    fputs("]", out);
    vectors_array(out, "end", end, 3);
    fputs("}", out);
}

void vectors_history(FILE *out, struct draw *draw, int which)
{
    struct bk_strategy first =
        vectors_draw_strategy(draw, (enum bk_kind)which, bk_kind_fires((enum bk_kind)which));
    struct bk_history history;
    struct bk_history_state state;
    int64_t now_ns = draw_begin(draw);
    uint64_t sequence = 0;
    memset(&state, 0, sizeof state);
    bk_history_begin(&first, &history);
    vectors_draw_eras(draw, &history, false, now_ns);
    if (draw->is_edge) {
        int64_t from_ns = history.eras[history.count - 1].from_ns;
        now_ns = from_ns > now_ns ? from_ns : now_ns;
        sequence = draw_below(draw, 3);
    }
    fputs("{\"eras_of\":\"a key\"", out);
    vectors_eras(out, "history", &history);
    fputs(",\"rows\":[", out);
    for (int i = 0; i < 12; i++) {
        struct bk_row row = vectors_draw_row(draw, now_ns, sequence++);
        struct bk_placement route;
        struct bk_effect effect;
        enum bk_status status = bk_history_route(&history, &state, &row, &route);
        fputs(i > 0 ? "," : "", out);
        write_route(out, &row, status, &route);
        vectors_member(out, "era", bk_history_era_at(&history, row.time_ns));
        vectors_member(out, "fires", bk_history_fires(&history, &state, &row));
        bk_history_advance(&history, &state, &row, &effect);
        write_effect(out, &effect);
        write_history_state(out, &state);
        if (one_in(draw, 4))
            read_history(out, draw, &history, &state, now_ns);
        fputs("}", out);
        now_ns = (int64_t)((uint64_t)now_ns + (uint64_t)draw_span(draw, 900));
    }
    fputs("]}", out);
}
