/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges the replies to LWTs and SERIAL reads by the order in which values were chosen. */
#include "paxos_history.h"
#include "state.h"

/* --- rows: the model's own version */

int paxos_history_order(struct ballot a, struct ballot b)
{
    if (a.micros != b.micros)
        return a.micros < b.micros ? -1 : 1;
    if (a.micros == NO_TIME)
        return 0;
    return (a.node > b.node) - (a.node < b.node);
}

/* The stronger of two cells with the same timestamp: a tombstone wins over an expiring cell, and that over a
 * plain cell; then the later expiry wins, then the larger value. */
static bool is_stronger(const struct cell *a, const struct cell *b)
{
    int rank_a = a->deletion_s < 0 ? 2 : a->deletion_s != NEVER,
        rank_b = b->deletion_s < 0 ? 2 : b->deletion_s != NEVER;
    if (a->timestamp_us != b->timestamp_us)
        return a->timestamp_us > b->timestamp_us;
    if (rank_a != rank_b)
        return rank_a > rank_b;
    if (rank_a > 0 && a->deletion_s != b->deletion_s)
        return rank_a == 2 ? a->deletion_s < b->deletion_s : a->deletion_s > b->deletion_s;
    return rank_a < 2 && (uint64_t)a->value > (uint64_t)b->value;
}

void paxos_history_merge(struct image *into, const struct image *from)
{
    for (int i = 0; i < CASS_COLUMNS; i++) {
        if (from->cells[i].timestamp_us != NO_TIME && is_stronger(&from->cells[i], &into->cells[i]))
            into->cells[i] = from->cells[i];
    }
    struct cell marker = {.timestamp_us = from->marker_us, .deletion_s = from->marker_until_s};
    struct cell own = {.timestamp_us = into->marker_us, .deletion_s = into->marker_until_s};
    if (from->marker_us != NO_TIME && is_stronger(&marker, &own)) {
        into->marker_us = from->marker_us;
        into->marker_until_s = from->marker_until_s;
    }
    /* The row's deletion also removes cells with the same timestamp. */
    into->deleted_us = from->deleted_us > into->deleted_us ? from->deleted_us : into->deleted_us;
    for (int i = 0; i < CASS_COLUMNS; i++) {
        if (into->cells[i].timestamp_us <= into->deleted_us)
            into->cells[i] = (struct cell){.timestamp_us = NO_TIME, .deletion_s = NEVER};
    }
    if (into->marker_us <= into->deleted_us) {
        into->marker_us = NO_TIME;
        into->marker_until_s = NEVER;
    }
}

struct seen {
    bool is_found;
    uint32_t mask;
    int64_t columns[CASS_COLUMNS];
};

static struct seen row_of(const struct image *image, int64_t second)
{
    struct seen row = {.is_found = image->marker_us != NO_TIME && image->marker_until_s > second};
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *cell = &image->cells[i];
        if (cell->timestamp_us == NO_TIME || cell->deletion_s < 0 || cell->deletion_s <= second)
            continue;
        row.mask |= UINT32_C(1) << i;
        row.columns[i] = cell->value;
        row.is_found = true;
    }
    return row;
}

static bool condition_of(const struct cass_statement *statement, const struct seen *row)
{
    if (statement->if_absent)
        return !row->is_found;
    if (statement->if_exists)
        return row->is_found;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        bool has_value = row->mask >> i & 1, wants_null = statement->if_null_mask >> i & 1;
        bool is_equal = has_value ? !wants_null && row->columns[i] == statement->equal[i] : wants_null;
        if (statement->if_in_mask >> i & 1) {
            is_equal = false;
            for (uint32_t k = 0; k < statement->in_count; k++)
                is_equal = is_equal || (has_value && row->columns[i] == statement->in[k]);
        }
        if (statement->if_mask >> i & 1 && is_equal == (statement->if_not_mask >> i & 1))
            return false;
    }
    return true;
}

/* --- proposed and chosen values */

static int64_t now_of(const struct paxos_history *history)
{
    return sim_queue_now(history->cluster->queue);
}

void paxos_history_begin(struct paxos_history *history, struct model_run *run,
                         const struct cass_cluster *cluster)
{
    history->run = run;
    history->cluster = cluster;
    for (uint32_t key = 0; key < HISTORY_KEYS; key++) {
        struct chosen_order *order = &history->keys[key];
        order->values[0].row = cass_image_none;
        order->values[0].ballot.micros = NO_TIME;
    }
}

void paxos_history_sent(struct paxos_history *history, uint64_t tag, uint32_t key, uint32_t node,
                        const struct cass_statement *statement)
{
    assert_true(tag < ASKED_MAX);
    history->asked[tag] = (struct asked){.is_sent = true,
                                         .key = key,
                                         .node = node,
                                         .statement = *statement,
                                         .sent_ns = now_of(history),
                                         .before = history->keys[key].count};
}

/* The cells have the proposal's timestamp, the update's values, and one common expiry. The deletion of a row
 * is a microsecond older than the ballot, so that it does not delete the cells of its own ballot. */
static bool is_as_asked(const struct asked *asked, const struct proposal *proposal)
{
    const struct cass_statement *statement = &asked->statement;
    const struct image *image = &proposal->image;
    int64_t end_s = image->cells[MARK_COLUMN].deletion_s;
    if (image->deleted_us != (statement->is_whole_row ? proposal->ballot.micros - 1 : NO_TIME))
        return false;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *cell = &image->cells[i];
        bool is_set = statement->set_mask >> i & 1, is_null = statement->null_mask >> i & 1;
        if (cell->timestamp_us != (is_set ? proposal->ballot.micros : NO_TIME))
            return false;
        bool is_same =
            is_null ? cell->deletion_s < 0 : cell->value == statement->set[i] && cell->deletion_s == end_s;
        if (is_set && !is_same)
            return false;
    }
    if (statement->if_absent)
        return image->marker_us == proposal->ballot.micros && image->marker_until_s == end_s;
    return image->marker_us == NO_TIME;
}

/* The coordinator's own proposal starts its time to live now; a coordinator that finishes the proposal for it
 * keeps the expiry. */
static bool is_end(const struct paxos_history *history, struct asked *asked, const struct proposal *proposal)
{
    int64_t end_s = proposal->image.cells[MARK_COLUMN].deletion_s;
    int64_t ttl_s = asked->statement.ttl_ns / SIM_SECOND;
    if (ttl_s == 0)
        return end_s == NEVER;
    for (uint32_t i = 0; i < asked->end_count; i++) {
        if (asked->ends[i] == end_s)
            return true;
    }
    assert_true(asked->end_count < ENDS_MAX);
    asked->ends[asked->end_count++] = end_s;
    return proposal->ballot.node == asked->node && end_s >= asked->sent_ns / SIM_SECOND + ttl_s &&
           end_s <= now_of(history) / SIM_SECOND + ttl_s;
}

void paxos_history_proposed(struct paxos_history *history, uint64_t tag, const struct proposal *proposal)
{
    if (proposal->is_empty || history->run->is_broken)
        return;
    struct asked *asked = &history->asked[tag];
    assert_true(asked->is_sent);
    MODEL_RULE(history->run, is_as_asked(asked, proposal), "value",
               "a proposal lacks the value of update %u, or has another timestamp than its own",
               (unsigned)tag);
    MODEL_RULE(history->run, is_end(history, asked, proposal), "ttl",
               "a proposal of update %u ends at another time", (unsigned)tag);
}

/* Whether the condition held at some second between sending and until_ns. */
static bool held(const struct asked *asked, const struct image *image, int64_t until_ns)
{
    for (int64_t second = asked->sent_ns / SIM_SECOND; second <= until_ns / SIM_SECOND; second++) {
        struct seen row = row_of(image, second);
        if (condition_of(&asked->statement, &row))
            return true;
    }
    return false;
}

/* Coordinators that finish a chosen value choose it again, until the next value is chosen. */
static void check_again(struct paxos_history *history, struct chosen_order *order, const struct asked *asked,
                        uint64_t tag, const struct proposal *proposal)
{
    bool is_last = asked->position == order->count;
    if (is_last)
        paxos_history_merge(&order->values[order->count].row, &proposal->image);
    MODEL_RULE(history->run,
               is_last ||
                   paxos_history_order(proposal->ballot, order->values[asked->position + 1].ballot) < 0,
               "twice", "the value of update %u is chosen again, after the next one", (unsigned)tag);
}

void paxos_history_chosen(struct paxos_history *history, uint32_t key, uint64_t tag,
                          const struct proposal *proposal)
{
    struct chosen_order *order = &history->keys[key];
    if (!order->is_linear || history->run->is_broken)
        return;
    struct asked *asked = &history->asked[tag];
    if (asked->position != 0) {
        check_again(history, order, asked, tag, proposal);
        return;
    }
    const struct image *before = &order->values[order->count].row;
    MODEL_RULE(history->run, !asked->is_surely_not, "refused",
               "update %u was reported as not applied, but takes effect", (unsigned)tag);
    MODEL_RULE(history->run, held(asked, before, now_of(history)), "condition",
               "update %u takes place, and its condition does not hold", (unsigned)tag);
    asked->position = ++order->count;
    struct chosen *chosen = &order->values[order->count];
    *chosen = (struct chosen){tag, proposal->ballot, now_of(history), *before};
    paxos_history_merge(&chosen->row, &proposal->image);
    history->unknown_later += asked->is_told;
}

void paxos_history_doubled(struct paxos_history *history, uint64_t tag)
{
    history->asked[tag].is_doubled = true;
}

/* --- the replies */

void paxos_history_stored(struct paxos_history *history, uint64_t tag, uint32_t replica)
{
    if (tag < ASKED_MAX)
        history->asked[tag].has_it |= UINT32_C(1) << replica;
}

void paxos_history_answered(struct paxos_history *history, uint64_t tag)
{
    struct asked *asked = &history->asked[tag];
    if (!asked->is_answered)
        asked->had_it = asked->has_it;
    asked->is_answered = true;
}

bool paxos_history_is_enough(const struct paxos_history *history, uint64_t tag, uint32_t set)
{
    const struct asked *asked = &history->asked[tag];
    const struct cass_cluster *cluster = history->cluster;
    const uint32_t *replicas = replicas_at(cluster, history->keys[asked->key].position);
    uint32_t own = cluster->nodes[asked->node].datacenter, found = 0, local = 0, all = 0, all_local = 0;
    uint32_t there[CASS_DATACENTERS_MAX] = {0}, of[CASS_DATACENTERS_MAX] = {0};
    for (uint32_t i = 0; i < cluster->factor; i++) {
        uint32_t datacenter = cluster->nodes[replicas[i]].datacenter, has = set >> i & 1;
        all++;
        found += has;
        all_local += datacenter == own;
        local += datacenter == own ? has : 0;
        of[datacenter]++;
        there[datacenter] += has;
    }
    switch (asked->statement.consistency) {
    case CASS_ANY:
        return true;
    case CASS_ONE:
        return found >= 1;
    case CASS_TWO:
        return found >= 2;
    case CASS_LOCAL_ONE:
        return local >= 1;
    case CASS_QUORUM:
        return found > all / 2;
    case CASS_LOCAL_QUORUM:
        return local > all_local / 2;
    case CASS_ALL:
        return found == all;
    default:
        break;
    }
    for (uint32_t i = 0; i < cluster->config.datacenter_count; i++) { /* EACH_QUORUM */
        if (of[i] > 0 && there[i] <= of[i] / 2)
            return false;
    }
    return true;
}

/* The returned row is one of those that were current between the request and the reply; for an update that
 * was not applied, the condition fails for that row. */
static bool fits(const struct paxos_history *history, const struct asked *asked)
{
    const struct chosen_order *order = &history->keys[asked->key];
    const struct cass_statement *statement = &asked->statement;
    const struct cass_reply *reply = &asked->reply;
    bool is_read = statement->kind == CASS_READ_COLUMNS;
    uint32_t shown = is_read || statement->if_absent ? UINT32_MAX : statement->if_mask;
    for (size_t at = asked->before; at <= order->count; at++) {
        for (int64_t s = asked->sent_ns / SIM_SECOND; s <= now_of(history) / SIM_SECOND; s++) {
            struct seen row = row_of(&order->values[at].row, s);
            bool is_same = row.is_found == reply->found && (row.mask & shown) == reply->columns_mask;
            for (uint32_t i = 0; i < CASS_COLUMNS; i++)
                is_same = is_same && (!(reply->columns_mask >> i & 1) || row.columns[i] == reply->columns[i]);
            if (is_same && (is_read || !condition_of(statement, &row)))
                return true;
        }
    }
    return false;
}

static void told_update(struct paxos_history *history, struct asked *asked, uint64_t tag)
{
    bool is_linear = history->keys[asked->key].is_linear, is_ok = asked->reply.result == CASS_OK;
    bool is_v2 = history->cluster->config.paxos == CASS_PAXOS_V2;
    if (is_ok && asked->reply.applied) {
        history->applied++;
        MODEL_RULE(history->run, !is_linear || asked->position != 0, "applied",
                   "update %u was reported as applied, but was not chosen", (unsigned)tag);
        MODEL_RULE(history->run, paxos_history_is_enough(history, tag, asked->had_it), "level",
                   "update %u was reported as applied at %s, but only replicas %#x have it", (unsigned)tag,
                   cass_consistency_name(asked->statement.consistency), (unsigned)asked->had_it);
    } else if (is_ok) {
        history->refused++;
        MODEL_RULE(history->run, !is_linear || asked->is_doubled || asked->position == 0, "refused",
                   "update %u was reported as not applied, but took effect", (unsigned)tag);
        MODEL_RULE(history->run, !is_linear || asked->is_doubled || fits(history, asked), "row",
                   "update %u was refused by a row that was not current then", (unsigned)tag);
        asked->is_surely_not = !asked->is_doubled;
    } else if (asked->reply.result == CASS_UNAVAILABLE) {
        MODEL_RULE(history->run, !is_v2 || asked->position == 0, "unavailable",
                   "update %u was reported as unavailable, but took effect", (unsigned)tag);
        asked->is_surely_not = asked->position == 0 && !asked->is_doubled;
    }
}

void paxos_history_told(struct paxos_history *history, uint64_t tag, const struct cass_reply *reply)
{
    struct asked *asked = &history->asked[tag];
    if (history->run->is_broken)
        return;
    asked->reply = *reply;
    asked->is_told = true;
    if (asked->statement.kind == CASS_CAS_COLUMNS) {
        told_update(history, asked, tag);
    } else if (reply->result == CASS_OK) {
        history->read++;
        MODEL_RULE(history->run, !history->keys[asked->key].is_linear || fits(history, asked), "read",
                   "read %u found a row that was not current then", (unsigned)tag);
    }
}

void paxos_history_end(struct paxos_history *history)
{
    for (uint64_t tag = 0; tag < ASKED_MAX; tag++) {
        const struct asked *asked = &history->asked[tag];
        bool is_unknown = asked->is_sent && asked->statement.kind == CASS_CAS_COLUMNS &&
                          (!asked->is_told || asked->reply.result != CASS_OK);
        history->unknown_chosen += is_unknown && asked->position != 0;
        history->unknown_not += is_unknown && asked->position == 0 && history->keys[asked->key].is_linear;
    }
}
