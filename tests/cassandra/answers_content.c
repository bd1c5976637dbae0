/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the replicas hold, computed from the statements alone, and what a read of some of the replicas
 * returns. */
#include <stdlib.h>

#include "answers_model.h"
#include "paxos_history.h"

/* --- rows: the model's own version */

int64_t answers_now_s(const struct answers *model)
{
    return sim_queue_now(&model->h.queue) / SIM_SECOND;
}

bool answers_is_of(const struct cass_statement *a, const struct cass_statement *b)
{
    return a->key == b->key && a->bucket == b->bucket;
}

static bool is_newer(const struct clustering *a, const struct clustering *b)
{
    return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->order > b->order;
}

/* What these replicas know about one clustering position: 'r' a row, 'x' an expired row, 'd' a deleted row, '
 * ' nothing. */
static char fate_at(const struct answers *model, const struct cass_statement *read, uint32_t replicas,
                    const struct clustering *place)
{
    int64_t written_us = NO_TIME, expires_s = NEVER, deleted_us = NO_TIME, dropped_us = NO_TIME;
    for (uint64_t tag = 0; tag < model->h.tags; tag++) {
        const struct cass_statement *statement = &model->statements[tag];
        const struct known_write *write = &model->writes[tag];
        if (!write->is_row || (write->held & replicas) == 0 || !answers_is_of(statement, read))
            continue;
        bool is_here = statement->row_time_ns == place->time_ns && statement->row_order == place->order;
        bool is_within = statement->kind == CASS_DELETE_PARTITION ||
                         (statement->kind == CASS_DELETE_RANGE && statement->from_ns <= place->time_ns &&
                          place->time_ns < statement->until_ns);
        if (is_within && write->timestamp_us > dropped_us)
            dropped_us = write->timestamp_us;
        if (statement->kind == CASS_DELETE_ROW && is_here && write->timestamp_us > deleted_us)
            deleted_us = write->timestamp_us;
        if (statement->kind != CASS_WRITE_ROW || !is_here)
            continue;
        bool is_tie = write->timestamp_us == written_us;
        bool is_sooner = expires_s == NEVER ? write->expires_s != NEVER
                                            : write->expires_s != NEVER && write->expires_s > expires_s;
        if (write->timestamp_us > written_us || (is_tie && is_sooner)) {
            written_us = write->timestamp_us;
            expires_s = write->expires_s;
        }
    }
    if (written_us != NO_TIME && written_us > deleted_us && written_us > dropped_us)
        return expires_s > answers_now_s(model) ? 'r' : 'x';
    return deleted_us != NO_TIME && deleted_us >= dropped_us ? 'd' : ' ';
}

static int by_place(const void *left, const void *right)
{
    return is_newer(left, right) ? -1 : is_newer(right, left);
}

/* All clustering positions at which a row was ever written or deleted, newest first. */
static size_t places_of(const struct answers *model, const struct cass_statement *read,
                        struct clustering *out)
{
    size_t count = 0, kept = 0;
    for (uint64_t tag = 0; tag < model->h.tags; tag++) {
        const struct cass_statement *statement = &model->statements[tag];
        bool is_one = statement->kind == CASS_WRITE_ROW || statement->kind == CASS_DELETE_ROW;
        if (model->writes[tag].is_row && model->writes[tag].held != 0 && is_one &&
            answers_is_of(statement, read))
            out[count++] = (struct clustering){statement->row_time_ns, statement->row_order};
    }
    qsort(out, count, sizeof *out, by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || is_newer(&out[kept - 1], &out[i]))
            out[kept++] = out[i];
    }
    return kept;
}

static bool is_ranged(const struct answers *model, const struct cass_statement *read, uint32_t replicas,
                      uint64_t tag)
{
    const struct known_write *write = &model->writes[tag];
    enum cass_statement_kind kind = model->statements[tag].kind;
    return write->is_row && (write->held & replicas) != 0 && answers_is_of(&model->statements[tag], read) &&
           (kind == CASS_DELETE_RANGE || kind == CASS_DELETE_PARTITION);
}

/* The tag of the range deletion that is in force at a time, and not hidden by one of the partition;
 * UINT64_MAX: none. */
static uint64_t range_at_time(const struct answers *model, const struct cass_statement *read,
                              uint32_t replicas, int64_t time_ns)
{
    uint64_t newest = UINT64_MAX;
    int64_t hidden_us = NO_TIME;
    for (uint64_t tag = 0; tag < model->h.tags; tag++) {
        const struct cass_statement *range = &model->statements[tag];
        const struct known_write *write = &model->writes[tag];
        if (!is_ranged(model, read, replicas, tag))
            continue;
        if (range->kind == CASS_DELETE_PARTITION)
            hidden_us = write->timestamp_us > hidden_us ? write->timestamp_us : hidden_us;
        else if (range->from_ns <= time_ns && time_ns < range->until_ns &&
                 (newest == UINT64_MAX || write->timestamp_us > model->writes[newest].timestamp_us))
            newest = tag; /* of equally new ones the first */
    }
    return newest == UINT64_MAX || model->writes[newest].timestamp_us > hidden_us ? newest : UINT64_MAX;
}

static bool is_another(const struct answers *model, uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX || b == UINT64_MAX)
        return a != b;
    return model->writes[a].timestamp_us != model->writes[b].timestamp_us ||
           model->writes[a].sent_s != model->writes[b].sent_s;
}

/* A marker for each time at which another deletion begins to be in force, and where the read enters one or
 * leaves one. */
static uint64_t markers_of(const struct answers *model, const struct cass_statement *read, uint32_t replicas,
                           int64_t until_ns, int64_t end_ns, bool is_cut)
{
    int64_t bounds[2 * TAGS];
    size_t count = 0;
    uint64_t markers = range_at_time(model, read, replicas, until_ns - 1) != UINT64_MAX;
    for (uint64_t tag = 0; tag < 2 * model->h.tags; tag++) {
        const struct cass_statement *range = &model->statements[tag / 2];
        int64_t bound = tag % 2 == 0 ? range->from_ns : range->until_ns;
        if (!is_ranged(model, read, replicas, tag / 2) || range->kind == CASS_DELETE_PARTITION ||
            bound <= end_ns || bound >= until_ns)
            continue;
        size_t same = 0;
        while (same < count && bounds[same] != bound)
            same++;
        bounds[same] = bound;
        if (same < count)
            continue;
        count++;
        markers += is_another(model, range_at_time(model, read, replicas, bound - 1),
                              range_at_time(model, read, replicas, bound));
    }
    return markers + (!is_cut && range_at_time(model, read, replicas, end_ns) != UINT64_MAX);
}

/* The result of a read when the cluster keeps lifetimes. */
struct found answers_find_living(const struct answers *model, const struct cass_statement *read,
                                 uint32_t replicas)
{
    struct clustering places[TAGS], low = {INT64_MIN, INT64_MIN}, cut = low;
    struct found found = {.seen = {low, INT64_MAX}};
    uint64_t limit = read->kind == CASS_READ_ROWS && read->limit > 0 ? read->limit : UINT64_MAX;
    bool is_count = read->kind == CASS_COUNT_ROWS;
    bool has_low = is_count ? read->has_after : read->has_span && read->from_ns != INT64_MIN;
    int64_t until_ns = !is_count && read->has_span ? read->until_ns : INT64_MAX;
    found.seen.until_ns = until_ns;
    if (has_low)
        low = is_count ? (struct clustering){read->after_time_ns, read->after_order}
                       : (struct clustering){read->from_ns - 1, INT64_MAX};
    size_t count = places_of(model, read, places);
    for (size_t i = 0; i < count && found.rows < limit; i++) {
        if (until_ns != INT64_MAX && places[i].time_ns >= until_ns)
            continue;
        char fate = fate_at(model, read, replicas, &places[i]);
        if (has_low && !is_newer(&places[i], &low)) {
            if (is_count || fate == 'r') {
                found.saw_older = !is_count;
                break;
            }
            continue;
        }
        answers_situations[EDGE_READ].count +=
            fate == 'r' && read->has_span && places[i].time_ns == read->from_ns;
        answers_situations[EXPIRED_SEEN].count += fate == 'x';
        answers_situations[DELETED_SEEN].count += fate == 'd';
        found.tombstones += fate == 'd' ? 1 : fate == 'x' ? model->config.row_cells : 0;
        if (fate == 'r' && found.rows++ == 0)
            found.last = places[i];
        cut = places[i];
    }
    answers_situations[CUT_AT_LIMIT].count += found.rows == limit;
    int64_t end_ns = !has_low ? INT64_MIN : is_count ? low.time_ns : read->from_ns;
    if (has_low)
        found.seen.oldest = is_count ? (struct clustering){low.time_ns, low.order + 1}
                                     : (struct clustering){read->from_ns, INT64_MIN};
    if (found.rows == limit) {
        found.seen.oldest = cut;
        end_ns = cut.time_ns;
    }
    uint64_t markers = markers_of(model, read, replicas, until_ns, end_ns, found.rows == limit);
    answers_situations[RANGE_SEEN].count += markers > 0;
    found.tombstones += markers;
    return found;
}

struct cass_seen answers_seen_by(const struct answers *model, const struct cass_statement *read,
                                 uint32_t replicas)
{
    const struct cass_seen all = {{INT64_MIN, INT64_MIN}, INT64_MAX};
    return model->config.keeps_lifetimes ? answers_find_living(model, read, replicas).seen : all;
}

bool answers_is_seen(const struct cass_seen *seen, const struct cass_statement *written)
{
    const struct clustering place = {written->row_time_ns, written->row_order};
    if (written->kind == CASS_DELETE_PARTITION)
        return true;
    if (written->kind == CASS_DELETE_RANGE)
        return written->until_ns > seen->oldest.time_ns && written->from_ns < seen->until_ns;
    return !is_newer(&seen->oldest, &place) &&
           (place.time_ns < seen->until_ns || seen->until_ns == INT64_MAX);
}

/* The result of a read without lifetimes: the stored rows, live or not. Expired rows are counted
 * separately. */
struct found answers_find_stored(const struct answers *model, const struct cass_statement *read,
                                 uint32_t replicas, uint64_t *stored)
{
    struct found found = {0};
    *stored = 0;
    for (uint64_t tag = 0; tag < model->h.tags; tag++) {
        const struct known_write *write = &model->writes[tag];
        if (!write->is_row || write->held == 0 || !answers_is_of(&model->statements[tag], read))
            continue;
        if (write->expires_s <= answers_now_s(model)) {
            found.tombstones++;
            continue;
        }
        ++*stored;
        found.rows += (write->held & replicas) != 0;
    }
    return found;
}

void answers_expect_rows(const struct answers *model, const struct cass_statement *read, bool exists,
                         uint32_t asked, struct cass_reply *out)
{
    struct found found = {0};
    uint64_t stored = 0;
    out->bucket = read->bucket;
    if (!exists)
        return;
    if (model->config.keeps_lifetimes) {
        found = answers_find_living(model, read, asked);
    } else {
        found = answers_find_stored(model, read, asked, &stored);
        uint64_t limit = read->limit > 0 ? read->limit : UINT64_MAX;
        if (limit < found.rows) {
            answers_situations[CUT_AT_LIMIT].count++;
            found.tombstones = (uint64_t)((double)found.tombstones * (double)limit / (double)stored);
            found.rows = limit;
        }
    }
    out->rows = found.rows;
    out->tombstones = found.tombstones;
    out->saw_older = found.saw_older;
    out->scanned = found.rows + found.saw_older + found.tombstones;
    out->found = found.rows > 0;
    if (read->kind == CASS_COUNT_ROWS && model->config.keeps_lifetimes && out->found) {
        out->columns[0] = found.last.time_ns;
        out->columns[1] = found.last.order;
        out->columns_mask = 3;
    }
}

/* --- cells and shards: the model's own version */

static struct cell no_cell(void)
{
    return (struct cell){.timestamp_us = NO_TIME, .deletion_s = NEVER};
}

void answers_clear_copy(struct copy *copy)
{
    memset(copy, 0, sizeof *copy);
    for (int i = 0; i < CASS_COLUMNS; i++)
        copy->image.cells[i] = copy->named.cells[i] = no_cell();
    copy->image.marker_us = copy->image.deleted_us = copy->named.marker_us = copy->named.deleted_us = NO_TIME;
    copy->image.marker_until_s = copy->named.marker_until_s = NEVER;
}

void answers_merge_copy(struct copy *into, const struct copy *from)
{
    paxos_history_merge(&into->image, &from->image);
    paxos_history_merge(&into->named, &from->named);
    for (uint32_t i = 0; i <= CASS_CLUSTER_REPLICAS_MAX; i++) {
        if (from->shards[i].clock > into->shards[i].clock)
            into->shards[i] = from->shards[i];
    }
}

static bool is_same_image(const struct image *a, const struct image *b)
{
    bool is_same = a->marker_us == b->marker_us && a->deleted_us == b->deleted_us &&
                   (a->marker_us == NO_TIME || a->marker_until_s == b->marker_until_s);
    for (int i = 0; i < CASS_COLUMNS; i++)
        is_same = is_same && a->cells[i].timestamp_us == b->cells[i].timestamp_us &&
                  (a->cells[i].timestamp_us == NO_TIME || (a->cells[i].value == b->cells[i].value &&
                                                           a->cells[i].deletion_s == b->cells[i].deletion_s));
    return is_same;
}

bool answers_is_same_copy(const struct copy *a, const struct copy *b)
{
    bool is_same = is_same_image(&a->image, &b->image) && is_same_image(&a->named, &b->named);
    for (uint32_t i = 0; i <= CASS_CLUSTER_REPLICAS_MAX; i++)
        is_same = is_same && a->shards[i].clock == b->shards[i].clock;
    return is_same;
}

struct copy *answers_copy_of(struct answers *model, uint64_t key, uint32_t replica)
{
    uint64_t kind = key / 100 - 1, number = key % 100;
    assert_true(kind < 3 && number < KEYS);
    return &model->copies[kind * KEYS + number][replica];
}

/* The cells that a statement writes. */
struct copy answers_written_by(const struct answers *model, const struct cass_statement *statement,
                               int64_t timestamp_us, uint32_t factor)
{
    struct copy copy;
    answers_clear_copy(&copy);
    int64_t until_s = NEVER, second = answers_now_s(model), ttl_ns = statement->ttl_ns;
    if (ttl_ns == 0 && statement->kind == CASS_WRITE_COLUMNS)
        ttl_ns = model->config.default_ttl_ns;
    for (int64_t left_ns = ttl_ns; left_ns > 0; left_ns -= SIM_SECOND)
        until_s = until_s == NEVER ? second + 1 : until_s + 1;
    if (statement->kind == CASS_DELETE_COUNTER) {
        copy.shards[factor].clock = timestamp_us;
        return copy;
    }
    if (statement->is_whole_row) {
        copy.image.deleted_us = timestamp_us;
        return copy;
    }
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        bool is_null = statement->kind == CASS_DELETE_COLUMNS || statement->null_mask >> i & 1;
        if (statement->set_mask >> i & 1)
            copy.image.cells[i] =
                (struct cell){is_null ? 0 : statement->set[i], timestamp_us, is_null ? -1 - second : until_s};
    }
    if (statement->is_insert) {
        copy.image.marker_us = timestamp_us;
        copy.image.marker_until_s = until_s;
    }
    for (uint32_t i = 0; i < statement->named_count; i++) {
        const struct cass_named *named = &statement->named[i];
        bool is_null = named->is_delete || statement->kind == CASS_DELETE_NAMED;
        struct copy one;
        answers_clear_copy(&one);
        one.named.cells[named->name] = (struct cell){
            is_null ? 0 : named->value, named->timestamp_us == NO_TIME ? timestamp_us : named->timestamp_us,
            is_null ? -1 - second : NEVER};
        answers_merge_copy(&copy, &one);
    }
    return copy;
}

void answers_expect_cells(const struct answers *model, const struct copy *copy, struct told *out)
{
    struct cass_reply *reply = &out->reply;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *cell = &copy->image.cells[i];
        if (cell->timestamp_us == NO_TIME || cell->deletion_s < 0 || cell->deletion_s <= answers_now_s(model))
            continue;
        reply->columns_mask |= UINT32_C(1) << i;
        reply->columns[i] = cell->value;
    }
    reply->found = reply->columns_mask != 0 ||
                   (copy->image.marker_us != NO_TIME && copy->image.marker_until_s > answers_now_s(model));
    for (uint32_t i = 0; i < COLUMNS; i++) {
        const struct cell *cell = &copy->named.cells[i];
        if (cell->timestamp_us == NO_TIME || cell->deletion_s < 0)
            continue;
        out->named_mask |= UINT32_C(1) << i;
        out->named[i] = cell->value;
        reply->found = true;
    }
}

void answers_expect_counter(const struct answers *model, const struct copy *copy, struct cass_reply *reply)
{
    uint32_t factor = model->h.cluster->factor;
    int64_t sum = 0;
    for (uint32_t i = 0; i < factor; i++) {
        reply->found = reply->found ||
                       (copy->shards[i].clock != 0 && copy->shards[i].clock > copy->shards[factor].clock);
        sum += copy->shards[i].count;
    }
    reply->counter = reply->found ? sum : 0;
}
