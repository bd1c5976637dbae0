/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, what the host asks of the cluster: the statement of each request has the content of the agent's
 * action, and the level that the scenario sets for its kind. The conversion of cluster_view.c is
 * implemented here a second time, field by field. Deletes are requests of clients; they are sent, repeated
 * and given up when the scenario's times say so. */
#include <inttypes.h>
#include <string.h>

#include "../../cassandra/peek.h"
#include "judges.h"
#include "kernel/grow.h"

static bool is_put(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                   const struct bk_action *action, const struct cass_statement *sent)
{
    uint32_t stamp = lab_row_stamp_class(&run->stamps, sim_queue_now(&run->queue));
    uint64_t bytes = lab_row_bytes(&run->scenario->row_cost, action->row.bytes, run->stamps.bytes[stamp]);
    return sent->kind == CASS_WRITE_ROW && sent->consistency == run->scenario->consistency.write &&
           sent->key == operation->key && sent->bucket == action->bucket && sent->row_id == operation->row &&
           sent->row_time_ns == operation->row_time_ns && sent->row_order == (int64_t)operation->row_id &&
           sent->bytes == bytes && sent->ttl_ns == run->scenario->row_ttl_ns;
}

static bool is_read_of_rows(const struct lab_cluster_run *run, const struct bk_action *action,
                            const struct cass_statement *sent)
{
    const struct bk_read_step *step = &action->step;
    bool is_whole = step->from_ns == INT64_MIN && step->until_ns == INT64_MAX;
    return sent->kind == CASS_READ_ROWS && sent->consistency == run->scenario->consistency.read &&
           sent->key == action->key && sent->limit == step->rows && sent->has_span == !is_whole &&
           (is_whole || (sent->from_ns == step->from_ns && sent->until_ns == step->until_ns));
}

static bool is_count_of_rows(const struct lab_cluster_run *run, const struct bk_action *action,
                             const struct cass_statement *sent)
{
    bool is_after = action->mask != 0;
    return sent->kind == CASS_COUNT_ROWS && sent->consistency == run->scenario->consistency.read &&
           sent->key == action->key && sent->bucket == action->bucket && sent->has_after == is_after &&
           (!is_after || (sent->after_time_ns == action->columns[BK_PLACE_TIME] &&
                          sent->after_order == action->columns[BK_PLACE_ID]));
}

/* Requests to counters and plain requests to registers. */
static bool is_plain(const struct lab_cluster_run *run, const struct bk_action *action,
                     const struct cass_statement *sent, enum cass_statement_kind kind, uint64_t key)
{
    const struct lab_consistency *levels = &run->scenario->consistency;
    bool is_serial = action->kind == BK_ACT_READ_STATE && action->serial;
    return sent->kind == kind && sent->key == key &&
           sent->consistency == (is_serial ? levels->serial : levels->state);
}

static bool has_columns(const struct bk_action *action, const struct cass_statement *sent)
{
    return sent->set_mask == action->mask && memcmp(sent->set, action->columns, sizeof action->columns) == 0;
}

static bool is_conditional(const struct lab_cluster_run *run, const struct bk_action *action,
                           const struct cass_statement *sent)
{
    uint32_t key = (uint32_t)action->key;
    uint64_t row = action->kind == BK_ACT_CAS_LOCK ? lab_lock_register(key) : lab_state_register(key);
    return is_plain(run, action, sent, CASS_CAS_COLUMNS, row) && has_columns(action, sent) &&
           sent->serial_consistency == run->scenario->consistency.serial &&
           sent->if_mask == action->if_mask && sent->if_null_mask == action->if_null_mask &&
           sent->if_absent == (action->if_mask == 0) &&
           memcmp(sent->equal, action->expected, sizeof action->expected) == 0;
}

/* All requests but puts. */
static bool is_right(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                     const struct bk_action *action, const struct cass_statement *sent)
{
    uint64_t counter = lab_counter_key(run, action->key, action->bucket);
    uint64_t state = lab_state_register((uint32_t)action->key);
    switch (action->kind) {
    case BK_ACT_READ_ROWS:
        return is_read_of_rows(run, action, sent);
    case BK_ACT_COUNT_ROWS:
        return is_count_of_rows(run, action, sent);
    case BK_ACT_ADD_COUNTER:
        return is_plain(run, action, sent, CASS_ADD_COUNTER, counter) && sent->delta == action->amount &&
               sent->row_id == operation->row;
    case BK_ACT_READ_COUNTER:
        return is_plain(run, action, sent, CASS_READ_COUNTER, counter);
    case BK_ACT_READ_STATE:
        return is_plain(run, action, sent, CASS_READ_COLUMNS, state);
    case BK_ACT_WRITE_STATE:
        return is_plain(run, action, sent, CASS_WRITE_COLUMNS, state) && has_columns(action, sent);
    case BK_ACT_READ_START:
    case BK_ACT_WRITE_START: {
        bool is_read = action->kind == BK_ACT_READ_START;
        return is_plain(run, action, sent, is_read ? CASS_READ_COLUMNS : CASS_WRITE_COLUMNS,
                        lab_start_register(action->key, action->bucket)) &&
               (is_read || has_columns(action, sent));
    }
    case BK_ACT_CAS_STATE:
    case BK_ACT_CAS_LOCK:
        return is_conditional(run, action, sent);
    default:
        return false;
    }
}

static void differs(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation)
{
    judge_violate(run, operation->key,
                  "agent %" PRIu32 ": the statement for row %" PRIu64 " differs from what the agent requests",
                  agent, operation->row);
}

void lab_request_sent(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                      const struct bk_action *action, const struct cass_statement *sent)
{
    judge_of(run)->requests[action->kind]++;
    own(run, operation)->rows_told = 0;
    own(run, operation)->answers = 0;
    own(run, operation)->came_ns = 0;
    own(run, operation)->older_told = false;
    bool is_fine = action->kind == BK_ACT_PUT_ROW ? is_put(run, operation, action, sent)
                                                  : is_right(run, operation, action, sent);
    /* The cluster sets the timestamp of every request. */
    if (SIM_UNLIKELY(!is_fine || sent->timestamp_us != INT64_MIN))
        differs(run, agent, operation);
}

/* --- Totals. */

void lab_requests_end(struct lab_cluster_run *run)
{
    const struct judge *judge = judge_of(run);
    const struct lab_tally *tally = &run->tally;
    const uint64_t *sent = judge->requests;
    uint64_t reads = sent[BK_ACT_READ_STATE] + sent[BK_ACT_READ_COUNTER] + sent[BK_ACT_READ_START] +
                     sent[BK_ACT_COUNT_ROWS];
    uint64_t writes = sent[BK_ACT_ADD_COUNTER] + sent[BK_ACT_WRITE_STATE] + sent[BK_ACT_WRITE_START];
    if (tally->lwt != sent[BK_ACT_CAS_STATE] || tally->lock_ops != sent[BK_ACT_CAS_LOCK] ||
        tally->state_reads != reads || tally->counter_increments + tally->state_writes != writes)
        judge_violate(run, LAB_NO_KEY,
                      "%" PRIu64 " reads, %" PRIu64 " writes, %" PRIu64 " conditional updates and %" PRIu64
                      " updates of locks were sent, but the result has %" PRIu64 ", %" PRIu64 ", %" PRIu64
                      " and %" PRIu64,
                      reads, writes, sent[BK_ACT_CAS_STATE], sent[BK_ACT_CAS_LOCK], tally->state_reads,
                      tally->counter_increments + tally->state_writes, tally->lwt, tally->lock_ops);
    if (run->unresolved_increments != judge->uncounted)
        judge_violate(run, LAB_NO_KEY,
                      "the increments of %" PRIu64 " rows are unresolved, but the result has %" PRIu64,
                      judge->uncounted, run->unresolved_increments);
    if (run->scenario->row_ttl_ns > 0 && sim_queue_now(&run->queue) < run->end_ns)
        judge_violate(run, LAB_NO_KEY, "the run ends before its duration, so that some rows do not expire");
    for (int kind = 0; kind < LAB_LATENCY_LOCK; kind++) { /* rounded up to LAB_LATENCY_BITS bits */
        const struct lab_histogram *latency = &run->latency[kind];
        uint64_t least = judge->spent_ns[kind], most = least + (least >> (LAB_LATENCY_BITS - 2)) + 1;
        if (kind == LAB_LATENCY_WRITE && run->scenario->agents.queue > 0)
            most = UINT64_MAX; /* the wait of a row before it begins is part of it */
        if (latency->count != judge->spent[kind] || latency->sum < least || latency->sum > most)
            judge_violate(run, LAB_NO_KEY, "the latencies of the result are not those of its requests");
    }
}

/* --- Deletes. */

static void demand(struct lab_cluster_run *run, const struct lab_delete *item, bool is_fine, const char *what)
{
    if (!is_fine)
        judge_violate(run, item->key, "the delete of row %" PRIu64 " %s", item->row, what);
}

/* When the delete is repeated, or given up. */
static int64_t *due_of(const struct lab_cluster_run *run, const struct lab_delete *item)
{
    struct judge *judge = judge_of(run);
    size_t slot = (size_t)(item - run->deletes.items);
    bool is_grown = sim_grow(&judge->due_ns, &judge->due_count, slot + 1, sizeof *judge->due_ns);
    assert(is_grown);
    (void)is_grown;
    return &judge->due_ns[slot];
}

void lab_delete_sent(struct lab_cluster_run *run, struct lab_delete *item, const struct cass_statement *sent)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    demand(run, item, item->tries == 1 || now_ns == *due_of(run, item), "is not repeated after its back-off");
    demand(run, item,
           sent->kind == CASS_DELETE_ROW && sent->consistency == run->scenario->consistency.write &&
               sent->key == item->key && sent->bucket == item->bucket && sent->row_id == item->row &&
               sent->row_time_ns == item->row_time_ns && sent->row_order == (int64_t)item->row_id,
           "is sent for another row, or at another level");
    *due_of(run, item) = now_ns + run->scenario->agents.timeout_ns;
}

void lab_delete_failed(struct lab_cluster_run *run, struct lab_delete *item, bool is_timeout)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    /* If no agent is up, it was not sent. */
    demand(run, item,
           !item->is_waiting || (is_timeout ? now_ns == *due_of(run, item) : now_ns <= *due_of(run, item)),
           "does not end at its time-out");
    *due_of(run, item) = now_ns + run->config.retry_backoff_ns * item->tries;
}

/* --- available, the outcome that an agent gets: it follows from what the cluster answered. Only a reply that
 * is sure may end as a definite outcome. Unavailable is not sure for a conditional update, whose commit can
 * say so after the value was decided. The replies to the requests of one action are added up here a second
 * time.
 */

/* The outcome is that of all requests of the action so far. */
static bool is_due(const struct cass_reply *reply, bool is_conditional, enum bk_outcome_kind heard)
{
    switch (reply->result) {
    case CASS_OK:
        return !is_conditional || heard == (reply->applied ? BK_OUTCOME_APPLIED : BK_OUTCOME_NOT_APPLIED);
    case CASS_UNAVAILABLE:
        return heard == BK_OUTCOME_UNKNOWN || (heard == BK_OUTCOME_REFUSED && !is_conditional);
    default:
        return heard == BK_OUTCOME_UNKNOWN;
    }
}

/* Of a reply that is sure: rows found, rows older than a range, windows without rows, columns, a counter. */
static bool is_told_whole(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                          const struct cass_reply *reply)
{
    const struct bk_outcome *outcome = &operation->outcome;
    uint64_t place = (uint64_t)(reply->bucket - operation->step_low);
    switch (operation->action) {
    case BK_ACT_READ_ROWS:
        return outcome->rows == own(run, operation)->rows_told &&
               outcome->saw_older == own(run, operation)->older_told &&
               (place >= 64 || (outcome->empty >> place & 1) == (reply->rows == 0));
    case BK_ACT_READ_COUNTER:
        return outcome->counter == reply->counter;
    case BK_ACT_READ_STATE:
    case BK_ACT_READ_START:
    case BK_ACT_CAS_STATE:
    case BK_ACT_CAS_LOCK:
        return outcome->mask == (reply->found ? reply->columns_mask : 0) &&
               memcmp(outcome->columns, reply->columns, sizeof outcome->columns) == 0;
    default:
        return true;
    }
}

void lab_reply_judge(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct cass_reply *reply)
{
    bool is_sure = reply->result == CASS_OK;
    own(run, operation)->rows_told += is_sure ? reply->rows : 0;
    own(run, operation)->older_told = own(run, operation)->older_told || (is_sure && reply->saw_older);
    bool is_conditional = operation->action == BK_ACT_CAS_STATE || operation->action == BK_ACT_CAS_LOCK;
    if (!is_due(reply, is_conditional, operation->outcome.kind) ||
        (is_sure && !is_told_whole(run, operation, reply)))
        judge_violate(run, operation->key,
                      "agent %" PRIu32 " gets another outcome for row %" PRIu64
                      " than the cluster's answer, %s",
                      agent, operation->row, cass_result_name(reply->result));
}

/* --- conserved, the places of replicas: the replicas of a partition are on different nodes; each datacenter
 * has as many of them as its replication factor, or as its nodes if it has fewer; and they are in as many
 * racks as possible. Source: Cassandra's NetworkTopologyStrategy. The nodes of a datacenter are assigned to
 * its racks in turn. */

/* Judges one datacenter, whose nodes begin at `first`. */
static bool are_right(const struct cass_datacenter *datacenter, uint32_t first, const uint32_t *replicas,
                      uint32_t count)
{
    uint32_t racks = datacenter->racks < datacenter->nodes ? datacenter->racks : datacenter->nodes;
    uint32_t wanted = datacenter->replication_factor < datacenter->nodes ? datacenter->replication_factor
                                                                         : datacenter->nodes;
    uint32_t found = 0, racks_found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rack = (replicas[i] - first) % datacenter->racks;
        bool is_new_rack = true;
        if (replicas[i] < first || replicas[i] - first >= datacenter->nodes)
            continue;
        for (uint32_t j = 0; j < i; j++) {
            if (replicas[j] == replicas[i])
                return false;
            bool is_here = replicas[j] >= first && replicas[j] - first < datacenter->nodes;
            is_new_rack = is_new_rack && !(is_here && (replicas[j] - first) % datacenter->racks == rack);
        }
        found++;
        racks_found += is_new_rack;
    }
    return found == wanted && racks_found == (wanted < racks ? wanted : racks);
}

void lab_replicas_end(struct lab_cluster_run *run)
{
    const struct cass_cluster_config *config = &run->scenario->network;
    uint32_t replicas[CASS_CLUSTER_REPLICAS_MAX];
    for (uint32_t i = 0; i < run->oracles.partition_count; i++) {
        const struct lab_partition *partition = &run->oracles.partitions[i];
        uint32_t count = cass_partition_replicas(run->cluster, partition->key, partition->bucket, replicas);
        for (uint32_t j = 0, first = 0; j < config->datacenter_count;
             first += config->datacenters[j++].nodes) {
            if (!are_right(&config->datacenters[j], first, replicas, count))
                judge_violate(run, partition->key,
                              "the replicas of bucket %" PRId64 " in %s are on the wrong nodes",
                              partition->bucket, config->datacenters[j].name);
        }
    }
}
