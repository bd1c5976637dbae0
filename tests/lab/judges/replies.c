/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the outcome that an agent gets: it follows from what the cluster answered. Only a reply that is
 * sure may end as a definite outcome. Unavailable is not sure for a conditional update, whose commit can say
 * so after the value was decided. The replies to the requests of one action are added up here a second time.
 */
#include "judges.h"

#include <inttypes.h>
#include <string.h>

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
