/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the outcome that an agent gets: it follows from what the cluster answered. Only a reply that is
 * sure may end as a definite outcome. Unavailable is not sure for a conditional update, whose commit can say
 * so after the value was decided. */
#include <inttypes.h>

#include "cluster_run.h"
#include "evidence.h"
#include "oracles.h"

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

void lab_reply_heard(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct cass_reply *reply)
{
    bool is_conditional = operation->action == BK_ACT_CAS_STATE || operation->action == BK_ACT_CAS_LOCK;
    if (!is_due(reply, is_conditional, operation->outcome.kind))
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, operation->key,
                         "agent %" PRIu32 " gets another outcome for row %" PRIu64
                         " than the cluster's answer, %s",
                         agent, operation->row, cass_result_name(reply->result));
}
