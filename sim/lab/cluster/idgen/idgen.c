/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host of clients of identifiers. In: events of the queue, and replies of the mock cluster. Kept: the
 * core's bk_idgen of each client, and its request under way. Out: its actions as requests, the identifiers
 * that it hands out, one after the other, and their metrics. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/private/lab.h"
#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
#include "idgen.h"
#include "kernel/grow.h"
#include "lab/metric.h"
#include "oracles.h"

/* A tag consists of the client and a serial number. */
#define TAG(client, serial) ((uint64_t)(client) << 32 | (serial))

bool lab_idgen_create(struct lab_cluster_run *run, struct sim_error *error)
{
    const struct lab_scenario *scenario = run->scenario;
    uint32_t count = scenario->agents.count;
    struct lab_idgen *idgen = calloc(1, sizeof *idgen);
    run->idgen = idgen;
    run->agent_count = count;
    run->agents = sim_memory_zeroed(count * sizeof *run->agents);
    if (idgen == NULL || run->agents == NULL)
        return sim_fail_memory(error);
    idgen->config = run->strategy->settings.idgen;
    idgen->config.retries = scenario->agents.retries;
    idgen->clients = calloc(count, sizeof *idgen->clients);
    idgen->named = calloc(count + 1, sizeof *idgen->named);
    idgen->columns = calloc(count + 1, sizeof *idgen->columns);
    if (idgen->clients == NULL || idgen->named == NULL || idgen->columns == NULL)
        return sim_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        lab_agent_draw_clock(run, i);
    return true;
}

void lab_idgen_destroy(struct lab_cluster_run *run)
{
    struct lab_idgen *idgen = run->idgen;
    if (idgen == NULL)
        return;
    free(idgen->clients);
    free(idgen->named);
    free(idgen->columns);
    free(idgen);
    run->idgen = NULL;
}

/* Schedules that the client takes an identifier at that time, unless it crashes before. */
static void want(struct lab_cluster_run *run, uint32_t number, int64_t after_ns)
{
    struct sim_event event = {LAB_EVENT_TAKE, number, run->idgen->clients[number].serial_of_life, 0};
    lab_push_event(run, lab_until(sim_queue_now(&run->queue), after_ns), &event);
}

/* Starts a client. After a restart it has no knowledge, but the same number. */
static void start(struct lab_cluster_run *run, uint32_t number, bool is_restart)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    struct bk_idgen_config config = lab_idgen_config(run, number);
    enum bk_status status = bk_idgen_init(&config, &client->idgen);
    assert(status == BK_OK);
    (void)status;
    client->is_trying = client->is_leasing = false;
    cluster_emit(run, AGENT_STARTED, .agent = number, .number = is_restart);
    run->agents[number].is_up = true;
    want(run, number, 0);
}

void lab_idgen_begin(struct lab_cluster_run *run)
{
    run->arrivals_pending = 1; /* stays 1 until the end of the run */
    lab_push(run, run->end_ns, LAB_EVENT_IDS_END, 0);
    for (uint32_t i = 0; i < run->agent_count; i++)
        start(run, i, false);
}

/* A client has taken all its identifiers. */
static void finish(struct lab_cluster_run *run)
{
    if (++run->idgen->done < run->agent_count)
        return;
    run->arrivals_pending = 0;
    run->idgen->is_over = true;
}

/* Records consecutive identifiers of one stripe, from first to last. */
static void give(struct lab_cluster_run *run, uint32_t number, int64_t first, int64_t last)
{
    struct lab_idgen *idgen = run->idgen;
    int64_t stripes = idgen->config.stripes;
    idgen->given += (uint64_t)((last - 1) / stripes + 1 - (first - 1) / stripes);
    idgen->last_given_ns = sim_queue_now(&run->queue);
    cluster_emit(run, IDS_GIVEN, .agent = number, .value = first, .time_ns = last);
}

/* --- Converts a client's action to a Cassandra statement, and Cassandra's reply to its outcome, and counts
 * them. */

/* Each stripe has a row with the last identifier and a row for the lock. */
#define LAST_KEY(stripe) ((uint64_t)(stripe)*2)
#define LOCK_KEY(stripe) ((uint64_t)(stripe)*2 + 1)

static void make_statement(const struct lab_cluster_run *run, const struct bk_idgen_action *action,
                           struct cass_statement *out)
{
    const struct lab_consistency *level = &run->scenario->consistency;
    *out = (struct cass_statement){
        .key = LOCK_KEY(action->stripe), .timestamp_us = INT64_MIN, .consistency = level->state};
    switch (action->kind) {
    case BK_IDGEN_WRITE_COLUMN:
    case BK_IDGEN_DELETE_COLUMNS:
        out->kind = action->kind == BK_IDGEN_WRITE_COLUMN ? CASS_WRITE_NAMED : CASS_DELETE_NAMED;
        out->named_count = action->column_count;
        for (uint32_t i = 0; i < action->column_count; i++)
            out->named[i] = (struct cass_named){.name = (uint32_t)action->columns[i].client,
                                                .value = action->columns[i].until_ns,
                                                .timestamp_us = action->columns[i].until_ns};
        break;
    case BK_IDGEN_READ_COLUMNS:
        out->kind = CASS_READ_NAMED;
        break;
    case BK_IDGEN_READ_LAST:
        out->kind = CASS_READ_COLUMNS;
        out->key = LAST_KEY(action->stripe);
        if (run->idgen->config.lock == BK_IDGEN_LOCK_LWT)
            out->consistency = level->serial;
        break;
    case BK_IDGEN_WRITE_LAST:
        out->kind = CASS_WRITE_COLUMNS;
        out->key = LAST_KEY(action->stripe);
        out->set_mask = 1;
        out->set[0] = out->timestamp_us = action->set[0];
        break;
    default:
        out->kind = CASS_CAS_COLUMNS;
        out->key = action->kind == BK_IDGEN_CAS_LOCK ? LOCK_KEY(action->stripe) : LAST_KEY(action->stripe);
        out->serial_consistency = level->serial;
        out->set_mask = action->kind == BK_IDGEN_CAS_LOCK ? 3 : 1;
        out->if_mask = action->if_absent ? 0 : out->set_mask;
        out->if_absent = action->if_absent;
        memcpy(out->set, action->set, sizeof action->set);
        memcpy(out->equal, action->expected, sizeof action->expected);
    }
}

static void take_outcome(struct lab_cluster_run *run, enum bk_idgen_action_kind kind, uint64_t slot,
                         struct bk_idgen_outcome *out)
{
    struct lab_idgen *idgen = run->idgen;
    bool is_conditional = kind == BK_IDGEN_CAS_LOCK || kind == BK_IDGEN_CAS_LAST;
    *out = (struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED};
    uint32_t found = cass_reply_named(run->cluster, slot, idgen->named, run->agent_count + 1);
    for (uint32_t i = 0; i < found; i++)
        idgen->columns[i] = (struct bk_idgen_column){idgen->named[i].name, idgen->named[i].value};
    out->columns = idgen->columns;
    out->column_count = found;
    struct cass_reply reply;
    cass_reply_take(run->cluster, slot, &reply);
    assert(reply.result != CASS_INVALID);
    out->found = reply.found;
    memcpy(out->values, reply.columns, sizeof out->values);
    if (reply.result == CASS_OK)
        out->kind = is_conditional && !reply.applied ? BK_IDGEN_NOT_APPLIED : BK_IDGEN_APPLIED;
    else /* Unavailable for a conditional update, whose commit may fail in this way after the value was
            decided. */
        out->kind = reply.result == CASS_UNAVAILABLE && !is_conditional ? BK_IDGEN_REFUSED : BK_IDGEN_UNKNOWN;
}

static void count(struct lab_cluster_run *run, const struct bk_idgen_action *action)
{
    struct lab_tally *tally = &run->tally;
    tally->lock_ops += action->kind <= BK_IDGEN_CAS_LOCK;
    tally->lwt += action->kind == BK_IDGEN_CAS_LOCK || action->kind == BK_IDGEN_CAS_LAST;
    tally->state_reads += action->kind == BK_IDGEN_READ_LAST;
    tally->state_writes += action->kind == BK_IDGEN_WRITE_LAST || action->kind == BK_IDGEN_CAS_LAST;
    run->idgen->failed += action->kind == BK_IDGEN_FAILED;
}

static bool is_release(const struct bk_idgen_action *action)
{
    return action->kind == BK_IDGEN_DELETE_COLUMNS ||
           (action->kind == BK_IDGEN_CAS_LOCK && action->set[0] == 0);
}

/* An attempt begins with the first request for the lock, and ends with the first action under the lock or
 * with its release. */
static void watch_lock(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *action)
{
    struct lab_idgen *idgen = run->idgen;
    struct lab_id_client *client = &idgen->clients[number];
    int64_t now_ns = sim_queue_now(&run->queue);
    bool asks =
        action->kind == BK_IDGEN_WRITE_COLUMN || (action->kind == BK_IDGEN_CAS_LOCK && !is_release(action));
    bool takes_over =
        asks && action->kind == BK_IDGEN_CAS_LOCK && !action->if_absent && action->expected[0] != 0;
    if (asks && (!client->is_trying || bk_idgen_attempts(&client->idgen) != client->attempt)) {
        idgen->busy += client->is_trying;
        client->is_trying = true;
        client->attempt = bk_idgen_attempts(&client->idgen);
        idgen->tried++;
    }
    idgen->stale += takes_over && !action->is_retry;
    if (action->kind == BK_IDGEN_READ_LAST && client->is_trying) {
        client->is_trying = false;
        idgen->acquired++;
        idgen->stale += bk_idgen_stale_columns(&client->idgen);
        lab_histogram_add(&run->latency[LAB_LATENCY_LOCK], (uint64_t)(now_ns - client->leased_ns), 1, 1);
    }
    if ((is_release(action) || action->kind == BK_IDGEN_FAILED) && client->is_trying) {
        client->is_trying = false;
        idgen->busy++;
    }
    if (action->kind == BK_IDGEN_READY)
        lab_histogram_add(&run->latency[LAB_LATENCY_LEASE], (uint64_t)(now_ns - client->leased_ns), 1, 1);
}

/* --- Events. */

static void ask(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *action)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    struct cass_statement statement;
    make_statement(run, action, &statement);
    client->serial++;
    client->is_asking = true;
    client->action = action->kind;
    client->ticket = action->ticket;
    client->asked_ns = sim_queue_now(&run->queue);
    run->operations_active++;
    cass_request(run->cluster, number, CASS_ANY_NODE, TAG(number, client->serial), &statement);
    struct sim_event event = {LAB_EVENT_TIMEOUT, number, 0, client->serial};
    client->timeout =
        lab_push_event(run, lab_until(client->asked_ns, run->scenario->agents.timeout_ns), &event);
}

/* After the end no client begins a new operation. Current operations continue until they have received every
 * reply. */
static void set_tick(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    int64_t deadline_ns = bk_idgen_deadline(&run->idgen->clients[number].idgen);
    if (deadline_ns == INT64_MAX || run->arrivals_pending == 0)
        return;
    if (agent->tick != 0)
        return;
    int64_t now_ns = sim_queue_now(&run->queue), clock_ns = lab_agent_clock(run, number);
    int64_t due_ns = deadline_ns <= clock_ns ? now_ns
                     : clock_ns < 0 && deadline_ns > INT64_MAX + clock_ns
                         ? SIM_QUEUE_TIME_MAX
                         : lab_until(now_ns, deadline_ns - clock_ns);
    agent->tick = lab_push(run, due_ns, LAB_EVENT_TICK, number);
}

void lab_idgen_resume(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_idgen *idgen = run->idgen;
    struct lab_id_client *client = &idgen->clients[number];
    struct bk_idgen_action action;
    bool is_ready = false;
    if (run->agents[number].is_paused)
        return;
    while (bk_idgen_next(&client->idgen, &action)) {
        cluster_emit(run, ID_ACTED, .agent = number, .id_action = &action);
        count(run, &action);
        watch_lock(run, number, &action);
        if (action.kind == BK_IDGEN_READY || action.kind == BK_IDGEN_FAILED)
            is_ready = true;
        else
            ask(run, number, &action);
    }
    set_tick(run, number);
    if (is_ready) {
        client->is_leasing = false;
        want(run, number, 0);
    }
    cluster_emit(run, AGENT_RESTS, .agent = number);
}

/* Takes the next identifier after the last one was used. If identifiers are used in no time, takes all that
 * the client has, which are of one stripe. */
static void take(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    int64_t now_ns = sim_queue_now(&run->queue), think_ns = run->scenario->identifiers.think_ns;
    int64_t id, first = 0, last = 0;
    uint64_t each = run->scenario->identifiers.each;
    if (now_ns >= run->end_ns || (each != 0 && client->given >= each))
        return;
    enum bk_status status;
    int64_t clock_ns = lab_agent_clock(run, number);
    while ((status = bk_idgen_take(&client->idgen, clock_ns, &id)) == BK_OK) {
        cluster_emit(run, ID_TOOK, .agent = number, .time_ns = clock_ns, .number = status, .value = id);
        first = first == 0 ? id : first;
        last = id;
        client->given++;
        if (client->given == each) {
            give(run, number, first, last);
            finish(run);
            return;
        }
        if (think_ns == 0)
            continue;
        give(run, number, first, last);
        want(run, number, think_ns);
        return;
    }
    assert(status == BK_ERROR_EMPTY);
    cluster_emit(run, ID_TOOK, .agent = number, .time_ns = clock_ns, .number = status, .value = id);
    if (first != 0)
        give(run, number, first, last);
    client->is_leasing = true;
    client->leased_ns = now_ns;
    lab_idgen_resume(run, number);
}

static void conclude(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_outcome *outcome)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    client->is_asking = false;
    run->operations_active--;
    cluster_emit(run, ID_HEARD, .agent = number, .id_outcome = outcome, .number = client->action);
    if ((client->action == BK_IDGEN_CAS_LOCK || client->action == BK_IDGEN_CAS_LAST) &&
        outcome->kind == BK_IDGEN_APPLIED)
        lab_histogram_add(&run->latency[LAB_LATENCY_LWT],
                          (uint64_t)(sim_queue_now(&run->queue) - client->asked_ns), 1, 1);
    int64_t clock_ns = lab_agent_clock(run, number);
    bk_idgen_report(&client->idgen, clock_ns, client->ticket, outcome);
    cluster_emit(run, ID_TOLD, .agent = number, .id_outcome = outcome, .time_ns = clock_ns);
    lab_idgen_resume(run, number);
}

static void reply(struct lab_cluster_run *run, const struct sim_event *event)
{
    uint32_t number = (uint32_t)(event->a >> 32);
    struct lab_id_client *client = &run->idgen->clients[number];
    if (client->serial != (uint32_t)event->a || !client->is_asking) {
        cass_reply_discard(run->cluster, event->b);
        return;
    }
    struct bk_idgen_outcome outcome;
    cluster_emit(run, ID_REPLIED, .agent = number, .flag = true);
    take_outcome(run, client->action, event->b, &outcome);
    sim_queue_cancel(&run->queue, client->timeout);
    conclude(run, number, &outcome);
}

static void time_out(struct lab_cluster_run *run, const struct sim_event *event)
{
    const struct lab_id_client *client = &run->idgen->clients[event->target];
    if (client->serial != (uint32_t)event->b || !client->is_asking)
        return;
    cluster_emit(run, ID_REPLIED, .agent = event->target);
    conclude(run, event->target, &(struct bk_idgen_outcome){.kind = BK_IDGEN_UNKNOWN});
}

static void tick(struct lab_cluster_run *run, uint32_t number)
{
    int64_t clock_ns = lab_agent_clock(run, number);
    run->agents[number].tick = 0;
    bk_idgen_tick(&run->idgen->clients[number].idgen, clock_ns);
    cluster_emit(run, AGENT_TICKED, .agent = number, .time_ns = clock_ns);
    lab_idgen_resume(run, number);
}

bool lab_idgen_dispatch(struct lab_cluster_run *run, const struct sim_event *event)
{
    bool is_client = event->kind == LAB_EVENT_TAKE || event->kind == LAB_EVENT_TICK ||
                     event->kind == LAB_EVENT_TIMEOUT || event->kind == CASS_EVENT_REPLY;
    if (event->kind == CASS_EVENT_REPLY && run->agents[event->target].is_paused)
        cluster_emit(run, REPLY_CAME, .agent = event->target, .sim = event);
    if (is_client && lab_agent_waits(run, event))
        return true;
    switch (event->kind) {
    case LAB_EVENT_TAKE:
        if (run->idgen->clients[event->target].serial_of_life == event->a)
            take(run, event->target);
        return true;
    case LAB_EVENT_IDS_END:
        run->arrivals_pending = 0;
        return true;
    case LAB_EVENT_TICK:
        tick(run, event->target);
        return true;
    case LAB_EVENT_TIMEOUT:
        time_out(run, event);
        return true;
    case CASS_EVENT_REPLY:
        reply(run, event);
        return true;
    default:
        return false;
    }
}

/* The client crashed, so its reply will be ignored. */
static void orphan(struct lab_cluster_run *run, struct lab_id_client *client)
{
    if (!client->is_asking)
        return;
    sim_queue_cancel(&run->queue, client->timeout);
    client->serial++;
    client->is_asking = false;
    run->operations_active--;
}

void lab_idgen_crash(struct lab_cluster_run *run, uint32_t number)
{
    orphan(run, &run->idgen->clients[number]);
    run->idgen->clients[number].serial_of_life++;
}

void lab_idgen_restart(struct lab_cluster_run *run, uint32_t number)
{
    run->agents[number].restart = 0;
    start(run, number, true);
}

void lab_idgen_waits(struct lab_cluster_run *run, const struct sim_event *timeout, uint64_t handle)
{
    struct lab_id_client *client = &run->idgen->clients[timeout->target];
    if (client->serial == (uint32_t)timeout->b && client->is_asking)
        client->timeout = handle;
}

void lab_idgen_leave(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; i < run->agent_count; i++)
        orphan(run, &run->idgen->clients[i]);
}

struct bk_idgen_config lab_idgen_config(const struct lab_cluster_run *run, uint32_t number)
{
    struct bk_idgen_config config = run->idgen->config;
    config.client_id = (uint64_t)number + 1;
    if (config.choice == BK_IDGEN_ROTATE)
        config.stripe = (config.stripe - 1 + number) % config.stripes + 1;
    return config;
}

/* --- The metrics of a run of identifiers. */

/* Uses what a read of all replicas finds: leased identifiers that no client has or took are lost. */
void lab_idgen_tally(struct lab_cluster_run *run)
{
    struct lab_idgen *idgen = run->idgen;
    uint64_t in_hand = 0;
    for (uint32_t stripe = 1; stripe <= idgen->config.stripes; stripe++) {
        int64_t columns[CASS_COLUMNS];
        uint32_t mask;
        if (cass_peek_merged(run->cluster, (uint64_t)stripe * 2, columns, &mask))
            idgen->leased += (uint64_t)(columns[0] - (int64_t)stripe) / idgen->config.stripes + 1;
    }
    for (uint32_t i = 0; i < run->agent_count; i++) {
        uint64_t left = run->agents[i].is_up ? bk_idgen_in_hand(&idgen->clients[i].idgen) : 0;
        if (run->agents[i].is_up)
            cluster_emit(run, IDS_END, .agent = i, .number = left);
        in_hand += left;
    }
    idgen->in_hand = in_hand;
    run->oracles.verdict.probes[LAB_PROBE_IDENTIFIERS] += idgen->leased;
}

bool lab_idgen_metrics(const struct lab_cluster_run *run, struct lab_metrics *out)
{
    const struct lab_idgen *idgen = run->idgen;
    const struct lab_violation *twice = &run->oracles.verdict.violations[LAB_ORACLE_UNIQUE];
    int64_t span_ns = (idgen->is_over ? idgen->last_given_ns : run->end_ns) - run->start_ns;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < run->agent_count; i++) {
        uint64_t given = idgen->clients[i].given;
        least = given < least ? given : least;
        most = given > most ? given : most;
    }
    uint64_t accounted = idgen->given - twice->count + idgen->in_hand;
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"ids.given", (double)idgen->given},
        {"ids.per_second", span_ns > 0 ? (double)idgen->given * 1e9 / (double)span_ns : 0},
        {"ids.client_least", (double)least},
        {"ids.client_most", (double)most},
        {"ids.leased", (double)idgen->leased},
        {"ids.in_hand", (double)idgen->in_hand},
        {"ids.lost", (double)(idgen->leased > accounted ? idgen->leased - accounted : 0)},
        {"ids.failed", (double)idgen->failed},
        {"locks.tried", (double)idgen->tried},
        {"locks.acquired", (double)idgen->acquired},
        {"locks.busy", (double)idgen->busy},
        {"locks.stale", (double)idgen->stale},
        {"writes.state_reads", (double)run->tally.state_reads},
        {"writes.state_writes", (double)run->tally.state_writes},
        {"writes.lwt", (double)run->tally.lwt},
        {"writes.lock_ops", (double)run->tally.lock_ops},
    };
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof figures / sizeof *figures; i++)
        ok = lab_metrics_add(out, figures[i].name, figures[i].value);
    static const enum lab_latency timed[] = {LAB_LATENCY_LOCK, LAB_LATENCY_LEASE, LAB_LATENCY_LWT};
    for (size_t i = 0; ok && i < sizeof timed / sizeof *timed; i++)
        ok = lab_metrics_of_latency(&run->latency[timed[i]], lab_latency_name(timed[i]), out);
    return ok && lab_metrics_add(out, "events", (double)run->events.events);
}
