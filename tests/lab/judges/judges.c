/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The observer of the judges: passes each event to those that it concerns. Comes in: the events of a run.
 * Kept: what each judge needs of agents, operations and keys, apart from the engine's own records. Goes out:
 * violations of `available`, which nothing excuses. The table of observers of the programs that run with
 * judges is here, too. */
#include "judges.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void judge_violate(struct lab_cluster_run *run, uint32_t key, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lab_violate_bare(run, LAB_ORACLE_AVAILABLE, key, "judge: %s", text);
}

static bool begin_rows(struct lab_cluster_run *run, struct judge *judge)
{
    const struct lab_agents *agents = &run->scenario->agents;
    judge->operations =
        calloc(run->agent_count * ((size_t)run->operation_count + 1), sizeof *judge->operations);
    judge->draws = calloc(run->key_count, sizeof *judge->draws);
    judge->born_ns = calloc(run->key_count, sizeof *judge->born_ns);
    judge->acknowledged = calloc(run->key_count, sizeof *judge->acknowledged);
    if (judge->operations == NULL || judge->draws == NULL || judge->born_ns == NULL ||
        judge->acknowledged == NULL)
        return false;
    for (uint32_t i = 0; i < run->agent_count; i++) {
        struct lab_host_record *record = &judge->records[i];
        struct sim_random draws;
        sim_random_init(&draws, run->scenario->seed, SIM_CLOCK, i);
        record->offset_ns = (2 * sim_random_unit(&draws) - 1) * (double)agents->clock_offset_ns;
        record->drift = (2 * sim_random_unit(&draws) - 1) * agents->clock_drift;
        record->is_exact = record->offset_ns == 0 && record->drift == 0 && agents->clock_resolution_ns == 0;
        record->down_until_ns = INT64_MIN;
    }
    for (uint32_t i = 0; i < run->key_count; i++)
        judge->draws[i] = run->scenario->seed ^ lab_rows_key_entity(run->rows, i);
    return true;
}

static bool begin(struct lab_cluster_run *run, void **state)
{
    struct judge *judge = calloc(1, sizeof *judge);
    *state = judge;
    if (judge == NULL)
        return false;
    judge->agent_count = run->agent_count;
    judge->agents = calloc(run->agent_count, sizeof *judge->agents);
    judge->records = calloc(run->agent_count, sizeof *judge->records);
    judge->clients = calloc(run->agent_count, sizeof *judge->clients);
    judge->backups = calloc(run->scenario->fault_count + 1, sizeof *judge->backups);
    if (judge->agents == NULL || judge->records == NULL || judge->clients == NULL || judge->backups == NULL)
        return false;
    for (uint32_t i = 0; i < run->agent_count; i++) {
        struct judged_agent *agent = &judge->agents[i];
        agent->jumped_ns = agent->disturbed_ns = agent->deployed_ns = INT64_MIN;
    }
    if (run->idgen != NULL)
        return true;
    if (!begin_rows(run, judge))
        return false;
    lab_settings_begin(run);
    return true;
}

static void destroy(void *state)
{
    struct judge *judge = state;
    if (judge == NULL)
        return;
    for (uint32_t i = 0; judge->agents != NULL && i < judge->agent_count; i++) {
        free(judge->agents[i].uncounted);
        if (judge->agents[i].empties.windows.values > 0)
            lab_tuples_clear(&judge->agents[i].empties.windows);
    }
    free(judge->operations);
    free(judge->agents);
    free(judge->records);
    free(judge->clients);
    free(judge->draws);
    free(judge->born_ns);
    free(judge->acknowledged);
    free(judge->due_ns);
    free(judge->backups);
    free(judge);
}

/* --- Operations. */

static void acted(struct lab_cluster_run *run, const struct cluster_event *event)
{
    struct lab_host_operation *operation = event->operation;
    const struct bk_action *next = event->action;
    const uint32_t agent = event->agent;
    if (own(run, operation)->is_awaited)
        lab_waits_acted(run, agent, operation, next);
    lab_faults_acted(run, agent, event->key);
    lab_steps_acted(run, agent, operation, next);
    lab_parked_acted(run, agent, operation, next->kind);
    lab_lock_acted(run, agent, operation, next);
    lab_copies_judge(run, agent, operation, next);
    lab_route_acted(run, agent, operation, next);
    lab_reads_acted(run, agent, operation, next);
}

static void heard(struct lab_cluster_run *run, const struct cluster_event *event)
{
    struct lab_host_operation *operation = event->operation;
    own(run, operation)->is_awaited = true;
    own(run, operation)->failures +=
        lab_request_failed(run, operation) || operation->action == BK_ACT_READ_START;
    if (operation->action == BK_ACT_CAS_STATE && operation->outcome.kind == BK_OUTCOME_NOT_APPLIED &&
        !lab_request_failed(run, operation))
        own(run, operation)->lost++;
    if (operation->action == BK_ACT_READ_COUNTER && operation->outcome.kind == BK_OUTCOME_APPLIED)
        own(run, operation)->lost = 0;
    lab_host_answered(run, event->agent, operation);
    lab_lock_heard(run, event->agent, operation);
    lab_copies_heard(run, event->agent, operation);
    lab_empties_heard(run, event->agent, operation);
    judge_of(run)->known = lab_known_bucket(run, event->agent, operation);
}

static void began(struct lab_cluster_run *run, const struct cluster_event *event)
{
    struct judged_operation *judged = own(run, event->operation);
    *judged = (struct judged_operation){.is_awaited = true};
    lab_host_hears(run, event->agent);
    if (event->kind != CLUSTER_READ_TAKEN)
        return;
    judged->walk.now_ns = event->query->now_ns;
    judged->walk.birth_ns = event->query->birth_ns;
    lab_host_due(run, event->operation, event->query);
}

static void settled(struct lab_cluster_run *run, const struct cluster_event *event)
{
    enum bk_action_kind told = (enum bk_action_kind)event->number;
    lab_parked_begins(run, event->agent, event->operation);
    if (told != BK_ACT_DONE)
        lab_parked_heard(run, event->agent, event->key, told);
}

static void acknowledged(struct lab_cluster_run *run, const struct cluster_event *event)
{
    if (run->config.remember_keys > 0)
        lab_reads_keep(run, event->agent, event->operation);
    lab_request_spent(run, LAB_LATENCY_WRITE, event->operation->begun_ns);
}

static void ended(struct lab_cluster_run *run, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    bool is_counted = event->kind == CLUSTER_ENDED && event->action->counted;
    if (operation->is_read)
        return;
    if (event->kind == CLUSTER_ENDED)
        lab_steps_ended(run, operation, event->action->status);
    judge_of(run)->uncounted += operation->is_acknowledged && operation->fires && !is_counted;
}

static bool of_operation(struct lab_cluster_run *run, const struct cluster_event *event)
{
    switch (event->kind) {
    case CLUSTER_ROW_TAKEN:
    case CLUSTER_READ_TAKEN:
        began(run, event);
        return true;
    case CLUSTER_ACTED:
        acted(run, event);
        return true;
    case CLUSTER_PUT_SENT:
    case CLUSTER_REQUEST_SENT:
        lab_request_sent(run, event->agent, event->operation, event->action, event->statement);
        return true;
    case CLUSTER_REPLIED:
        own(run, event->operation)->answers++;
        lab_reply_judge(run, event->agent, event->operation, event->reply);
        return true;
    case CLUSTER_PUT_HEARD:
    case CLUSTER_HEARD:
        heard(run, event);
        return true;
    case CLUSTER_TOLD:
        lab_known_heard(run, event->agent, event->operation, &judge_of(run)->known);
        return true;
    case CLUSTER_SETTLED:
        settled(run, event);
        return true;
    case CLUSTER_ACKNOWLEDGED:
        judge_of(run)->acknowledged[event->key]++;
        acknowledged(run, event);
        return true;
    case CLUSTER_ENDED:
    case CLUSTER_LOST:
        ended(run, event);
        return true;
    default:
        return false;
    }
}

/* --- Agents. */

static void stopped(struct lab_cluster_run *run, uint32_t agent)
{
    struct judged_agent *judged = of_agent(run, agent);
    judged->parked = 0;
    free(judged->uncounted); /* a restarted agent begins to count again */
    judged->uncounted = NULL;
    judged->stored.is_known = false;
    lab_copies_forgotten(run, agent);
    lab_empties_forgotten(run, agent, true);
}

static void started(struct lab_cluster_run *run, const struct cluster_event *event)
{
    if (run->idgen != NULL) {
        lab_id_begins(run, event->agent);
        return;
    }
    if (event->flag)
        lab_empties_forgotten(run, event->agent, false);
    if (event->number == 0)
        return;
    lab_settings_restarted(run, event->agent, &run->agents[event->agent].history);
    lab_host_restarted(run, event->agent, event->flag);
}

static bool of_agents(struct lab_cluster_run *run, const struct cluster_event *event)
{
    struct judged_agent *agent = event->agent < run->agent_count ? of_agent(run, event->agent) : NULL;
    switch (event->kind) {
    case CLUSTER_AGENT_STARTED:
        started(run, event);
        return true;
    case CLUSTER_AGENT_STOPPED:
        stopped(run, event->agent);
        return true;
    case CLUSTER_AGENT_WAKES:
    case CLUSTER_AGENT_HANDLES:
        if (run->idgen == NULL)
            lab_host_hears(run, event->agent);
        return true;
    case CLUSTER_AGENT_WAITS:
        if (run->idgen == NULL)
            lab_host_waits(run, event->agent);
        return true;
    case CLUSTER_AGENT_RESUMED:
        agent->disturbed_ns = sim_queue_now(&run->queue);
        return true;
    case CLUSTER_AGENT_KEPT:
        lab_host_saved(run, event->agent);
        return true;
    case CLUSTER_AGENT_DEPLOYED:
        agent->deployed_ns = sim_queue_now(&run->queue);
        lab_settings_deployed(run, event->agent, (uint32_t)event->number);
        return true;
    case CLUSTER_CLOCK_JUMPED:
        agent->jumped_ns = agent->disturbed_ns = sim_queue_now(&run->queue);
        return true;
    case CLUSTER_REPLY_CAME:
        if (run->idgen != NULL)
            lab_id_came(run, event->sim);
        else
            lab_host_came(run, event->sim);
        return true;
    default:
        return false;
    }
}

/* --- Everything else. */

static bool of_world(struct lab_cluster_run *run, const struct cluster_event *event)
{
    switch (event->kind) {
    case CLUSTER_ROW_ARRIVES:
        lab_host_writes(run, event->agent, event->key, event->number, event->arrival, event->time_ns);
        return true;
    case CLUSTER_READ_CHOSEN:
        lab_host_reads(run, event->agent, event->key, event->number, event->time_ns, (uint64_t)event->value);
        return true;
    case CLUSTER_DELETE_CHOSEN:
        lab_host_chosen(run, event->key, event->agent, event->number);
        return true;
    case CLUSTER_DELETE_SENT:
        lab_delete_sent(run, event->item, event->sent);
        return true;
    case CLUSTER_DELETE_FAILED:
        lab_delete_failed(run, event->item, event->flag);
        return true;
    case CLUSTER_DELETE_ENDED:
        lab_delete_ended(run, event->item, event->reply);
        return true;
    case CLUSTER_FAULT_BEGINS:
        lab_faults_begun(run, event->fault, event->time_ns);
        return true;
    case CLUSTER_FAULT_STRUCK:
        lab_faults_changed(run, event->fault, event->time_ns);
        return true;
    case CLUSTER_FAULT_ENDED:
        lab_faults_ended(run, event->fault);
        return true;
    case CLUSTER_FAULT_KEPT:
        lab_host_kept(run, (uint32_t)event->number, event->flag);
        return true;
    case CLUSTER_RESULT:
        lab_settings_end(run);
        lab_requests_end(run);
        lab_replicas_end(run);
        return true;
    default:
        return false;
    }
}

static void of_client(struct lab_cluster_run *run, const struct cluster_event *event)
{
    switch (event->kind) {
    case CLUSTER_ID_ACTED:
        lab_id_acted(run, event->agent, event->id_action);
        lab_faults_acted(run, event->agent, LAB_NO_KEY);
        break;
    case CLUSTER_ID_REPLIED:
        lab_id_answered(run, event->agent, event->flag);
        break;
    case CLUSTER_ID_HEARD:
        lab_id_heard(run, event->agent, event->id_outcome);
        break;
    case CLUSTER_IDS_GIVEN:
        lab_id_given(run, event->agent, event->value, event->time_ns);
        break;
    case CLUSTER_IDS_END:
        lab_id_ends(run, event->agent, event->number);
        break;
    default:
        break;
    }
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    if (!of_operation(run, event) && !of_agents(run, event) && !of_world(run, event))
        of_client(run, event);
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->replay == NULL ? CLUSTER_WANTS_ALL : 0;
}

const struct cluster_observer cluster_judges = {
    .name = "judges", .wants = wants, .begin = begin, .on_event = hear, .destroy = destroy};

/* The latencies are judged in runs that report none, too. */
static uint64_t wants_latencies(const struct lab_cluster_run *run)
{
    return run->idgen != NULL || lab_run_has_latencies(run->context)
               ? 0
               : CLUSTER_WANTS(ACKNOWLEDGED) | CLUSTER_WANTS(HEARD) | CLUSTER_WANTS(ENDED);
}
static const struct cluster_observer latencies = {
    .name = "latencies", .wants = wants_latencies, .on_event = cluster_latencies_hear};

const struct cluster_observer *const cluster_observers[] = {
    CLUSTER_OBSERVER_MAP(CLUSTER_OBSERVER_ROW) & cluster_judges, &latencies, NULL};
