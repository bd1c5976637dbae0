/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The conditions under which guarantees need not hold, as far as they follow from the scenario or from the
 * whole run. Conditions that occur at one moment are recorded where they occur. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_view.h"
#include "events.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "oracles.h"

/* Paxos sleeps up to 99 ms between the rounds of a contended update, each of which takes eight trips. */
#define UPDATE_LEAST_NS SIM_SECOND
#define UPDATE_TRIPS    64
#define PAUSES_LONGEST  28

/* Returns the number of replicas that a read queries; 0 if there are several datacenters, because the queried
 * replicas then depend on the place of the reader. */
uint32_t lab_read_replicas(const struct lab_scenario *scenario)
{
    if (scenario->network.datacenter_count > 1)
        return 0;
    return cass_required(scenario->consistency.read, scenario->cluster.replication_factor);
}

/* With several datacenters, levels that count the replicas of only one of them may have no replica in
 * common. */
static bool is_of_one_of_several(const struct lab_scenario *scenario, enum cass_consistency level)
{
    uint32_t with_replicas = 0;
    for (uint32_t i = 0; i < scenario->network.datacenter_count; i++)
        with_replicas += scenario->network.datacenters[i].replication_factor > 0;
    return with_replicas > 1 && cass_is_local(level);
}

/* Those of rows; identifiers have none. */
static bool row_levels_are_weak(const struct lab_cluster_run *run)
{
    const struct lab_scenario *scenario = run->scenario;
    const struct lab_consistency *levels = &scenario->consistency;
    const uint32_t factor = scenario->cluster.replication_factor;
    bool is_weak = is_of_one_of_several(scenario, levels->write) ||
                   is_of_one_of_several(scenario, levels->read) ||
                   cass_required(levels->write, factor) + cass_required(levels->read, factor) <= factor;
    return run->idgen == NULL && is_weak;
}

bool lab_plain_state_is_weak(const struct lab_cluster_run *run)
{
    enum cass_consistency level = run->scenario->consistency.state;
    const uint32_t factor = run->scenario->cluster.replication_factor;
    return is_of_one_of_several(run->scenario, level) || 2 * cass_required(level, factor) <= factor;
}

/* Those of what decides where rows go, or whose an identifier is: plain requests, and conditional ones.
 * Numbers of rows, and identifiers under a lock by LWT, are requested only by conditional updates and SERIAL
 * reads, and some strategies make no such requests. */
static bool state_levels_are_weak(const struct lab_cluster_run *run)
{
    const struct lab_scenario *scenario = run->scenario;
    const struct lab_consistency *levels = &scenario->consistency;
    enum bk_source source = run->config.source;
    bool is_idgen = run->idgen != NULL, is_lwt = run->strategy->settings.idgen.lock == BK_IDGEN_LOCK_LWT;
    bool has_numbers = lab_takes_numbers(run);
    bool has_state = lab_keeps_state(run) || source == BK_SOURCE_COUNTER;
    bool is_plain = is_idgen ? !is_lwt : has_state && !has_numbers;
    bool is_serial = is_idgen ? is_lwt : has_state && source != BK_SOURCE_COUNTER;
    return (is_plain && lab_plain_state_is_weak(run)) ||
           (is_serial && is_of_one_of_several(scenario, levels->serial));
}

/* Unless rows are counted by reads, only readers of rows depend on the consistency levels of rows. If rows
 * have numbers, they also depend on the level of the state, from which a reader finds the newest bucket. */
static void note_levels(struct lab_cluster_run *run)
{
    enum bk_source source = run->config.source;
    bool counts_rows =
        source == BK_SOURCE_INCREMENTAL || source == BK_SOURCE_SCAN || source == BK_SOURCE_MEMORY;
    bool is_state_weak = state_levels_are_weak(run);
    if (is_state_weak || row_levels_are_weak(run) || (lab_takes_numbers(run) && lab_plain_state_is_weak(run)))
        lab_condition_set(run, LAB_CONDITION_WEAK_LEVELS);
    /* With ANY, a bucket may have rows only in hints. */
    bool is_any = run->scenario->consistency.write == CASS_ANY;
    for (int i = 0; i < LAB_ORACLE_COUNT && !is_state_weak && !counts_rows; i++) {
        if (i != LAB_ORACLE_FINDABLE && !(is_any && i == LAB_ORACLE_NO_GAPS))
            run->oracles.except[i] &= ~(1u << LAB_CONDITION_WEAK_LEVELS);
    }
}

/* The lengths of a node's pauses are exponential, so one in 10^12 exceeds this multiple of the mean. */
int64_t lab_longest_pause_ns(const struct lab_scenario *scenario)
{
    const struct cass_cluster_config *network = &scenario->network;
    return network->gc_every_ns == 0 ? 0 : lab_times(PAUSES_LONGEST, network->gc_lasts_ns);
}

/* A few contended conditional updates take this long at most. */
static int64_t contended_ns(const struct lab_cluster_run *run)
{
    return UPDATE_LEAST_NS + UPDATE_TRIPS * lab_longest_trip_ns(run->scenario);
}

bool lab_contends_by_row(const struct lab_cluster_run *run)
{
    bool has_lines = run->config.strategy.max_age_ns != 0 && run->config.coordination != BK_GUARDED;
    return run->config.source == BK_SOURCE_LWT || (has_lines && run->config.counter == BK_COUNTER_LWT);
}

/* Returns whether all tries of a row's request may end while a node pauses and the updates of other rows or
 * agents take this long. */
static bool timeouts_are_short(const struct lab_cluster_run *run, int64_t takes_ns)
{
    const struct cass_cluster_config *network = &run->scenario->network;
    const struct lab_agents *agents = &run->scenario->agents;
    bool contends = lab_contends_for_rows(run) || lab_contends_by_row(run);
    int64_t least_ns = agents->timeout_ns;
    const int64_t timeouts[] = {network->timeout_write_ns, network->timeout_read_ns,
                                run->config.source == BK_SOURCE_COUNTER ? network->timeout_counter_ns
                                                                        : INT64_MAX,
                                contends ? network->timeout_cas_ns : INT64_MAX};
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++)
        least_ns = timeouts[i] < least_ns ? timeouts[i] : least_ns;
    return lab_times((int64_t)agents->retries + 1, least_ns) <=
           lab_until(lab_longest_pause_ns(run->scenario), takes_ns);
}

/* The updates of a key's rows, one after the other, each of which takes the longest time of a contended one:
 * a row has waited for all others by the end of the crowd in which it arrives, in whatever order they win.
 */
void lab_condition_crowd(struct lab_cluster_run *run, uint32_t key)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    int64_t now_ns = sim_queue_now(&run->queue);
    if (ledger->arrived == 1 || now_ns >= ledger->crowd_until_ns)
        ledger->crowd_from_ns = ledger->crowd_until_ns = now_ns;
    ledger->crowd_until_ns = lab_until(ledger->crowd_until_ns, contended_ns(run));
    if (timeouts_are_short(run, ledger->crowd_until_ns - ledger->crowd_from_ns))
        lab_condition_of_key(run, LAB_CONDITION_SHORT_TIMEOUTS, key, ledger->crowd_from_ns,
                             ledger->crowd_until_ns);
}

/* Which violations are excused by conditions. */
static void excuses_begin(struct lab_cluster_run *run)
{
    struct lab_oracles *oracles = &run->oracles;
    enum bk_kind kind = lab_settings_kind(&run->strategy->settings);
    unsigned protocol = lab_settings_protocol(&run->strategy->settings);
    oracles->jumps_until_ns = INT64_MIN;
    for (int i = 0; i < LAB_ORACLE_COUNT; i++) {
        const struct lab_guarantee *guarantee = lab_guarantee_find(kind, protocol, (enum lab_oracle)i);
        oracles->is_guaranteed[i] = guarantee != NULL;
        oracles->except[i] = guarantee == NULL ? 0 : lab_guarantee_excepts(guarantee);
    }
}

static void begin_conditions(struct lab_cluster_run *run)
{
    /* If agents contend for an update that a row needs, each of the others may be first. */
    int64_t contenders =
        lab_contends_for_rows(run) && !lab_contends_by_row(run) ? run->scenario->agents.count : 1;
    if (run->idgen == NULL && timeouts_are_short(run, lab_times(contenders, contended_ns(run))))
        lab_condition_set(run, LAB_CONDITION_SHORT_TIMEOUTS);
    excuses_begin(run);
    const struct lab_agents *agents = &run->scenario->agents;
    /* If rows are routed by key, each key has one agent, until that agent is down. */
    if (agents->count > 1 && !agents->by_key)
        lab_condition_set(run, LAB_CONDITION_MANY_AGENTS);
    note_levels(run);
    for (uint32_t i = 0; i < run->strategy->settings.change_count; i++) {
        if (lab_change_is_deployed(&run->strategy->settings.changes[i]))
            lab_condition_set(run, LAB_CONDITION_UNEVEN_SETTINGS);
    }
    if (agents->retry == LAB_RETRY_ROUTE_AGAIN)
        lab_condition_set(run, LAB_CONDITION_ROUTE_AGAIN);
    const struct wl_workload *workload = &run->scenario->workload;
    if (wl_has_late(workload) || workload->resolution_ns > 0)
        lab_condition_set(run, LAB_CONDITION_LATE_ROWS);
    if (workload->early_share > 0)
        lab_condition_set(run, LAB_CONDITION_EARLY_ROWS);
    /* A lock may expire while a node pauses; late writes of a lead's date are a condition of their own. */
    enum bk_coordination coordination = run->config.coordination;
    int64_t answer_ns = coordination == BK_THREE_STATE ? 0
                        : coordination == BK_LOCKED
                            ? lab_until(lab_longest_pause_ns(run->scenario), contended_ns(run))
                            : contended_ns(run);
    uint32_t warnings = bk_agent_warnings(&run->config, answer_ns);
    if (warnings & (1u << BK_WARNING_LEAD | 1u << BK_WARNING_LEAD_AGE))
        lab_condition_set(run, LAB_CONDITION_SHORT_LEAD);
    if (warnings & 1u << BK_WARNING_LOCK)
        lab_condition_set(run, LAB_CONDITION_SHORT_LEASE);
    if (warnings & (1u << BK_WARNING_GRANT | 1u << BK_WARNING_GRANT_AGE))
        lab_condition_set(run, LAB_CONDITION_SHORT_GRANT);
    const struct bk_idgen_config *idgen = &run->strategy->settings.idgen;
    if (run->idgen != NULL && idgen->lock_lasts_ns - idgen->lease_ns < 2 * agents->clock_bound_ns)
        lab_condition_set(run, LAB_CONDITION_SHORT_LEASE);
}

/* Returns the mean one-way latency of the slowest path. */
int64_t lab_longest_trip_ns(const struct lab_scenario *scenario)
{
    const struct cass_cluster_config *network = &scenario->network;
    double near_ns = sim_size_mean(&network->latency_ns),
           far_ns = sim_size_mean(&network->latency_between_ns);
    return (int64_t)(network->datacenter_count > 1 && far_ns > near_ns ? far_ns : near_ns);
}

/* Returns whether the key, even without bursts, fills its partitions faster than the cluster can agree on the
 * next one. */
static bool outruns_updates(const struct lab_cluster_run *run, uint32_t key)
{
    const struct bk_strategy *strategy = &run->config.strategy;
    double weight = lab_mean_weight(strategy, run->keys[key].rows, run->keys[key].bytes);
    double closed = weight / (double)bk_threshold(strategy);
    return closed * (double)contended_ns(run) > (double)(run->end_ns - run->start_ns);
}

static void watch_nodes(struct lab_cluster_run *run)
{
    uint64_t *probes = run->oracles.verdict.probes;
    for (uint32_t node = 0; node < run->node_count; node++) {
        struct cass_node_stats stats;
        cass_node_stats(run->cluster, node, &stats);
        probes[LAB_PROBE_HINT_DELIVERED] += stats.hints_sent;
        probes[LAB_PROBE_READ_REPAIRED] += stats.read_repairs;
        probes[LAB_PROBE_LATE_PAXOS] += stats.paxos_finished;
    }
}

static void end_conditions(struct lab_cluster_run *run)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    for (uint32_t key = 0; run->config.coordination == BK_GUARDED && key < run->key_count; key++) {
        if (outruns_updates(run, key))
            lab_condition_of_key(run, LAB_CONDITION_SHORT_GRANT, key, INT64_MIN, LAB_OPEN_ENDED);
    }
    if (run->refused + run->unresolved > 0)
        verdict->conditions |= 1u << LAB_CONDITION_REFUSED_ROWS; /* counts.c: of which keys */
    int64_t ttl_ns = run->scenario->row_ttl_ns;
    if (ttl_ns > 0 && ttl_ns < sim_queue_now(&run->queue) - run->start_ns)
        lab_condition_set(run, LAB_CONDITION_REMOVED_ROWS);
    verdict->probes[LAB_PROBE_EXPIRED] += ttl_ns > 0 && ttl_ns < sim_queue_now(&run->queue) - run->start_ns;
    for (uint32_t key = 0; run->config.strategy.kind == BK_KIND_COUNT && key < run->key_count; key++) {
        if (run->keys[key].deletes_asked > 0)
            lab_condition_of_key(run, LAB_CONDITION_REMOVED_ROWS, key, INT64_MIN, LAB_OPEN_ENDED);
    }
}

/* --- Excuses: which violations a guarantee does not cover. A condition is recorded with its key and the span
 * of time in which it may have an effect. A violation has a key and a span, too: from the earliest time of
 * its cause until it was detected. It is excused by those conditions on its guarantee's list that were
 * recorded for the same key, or for all keys, and whose spans overlap its own.
 *
 * Some conditions become known only after their effect. For example, a write may have an effect long before
 * its client times out, and only then is its outcome recorded as unknown. So a violation without an excuse
 * remains in doubt and is judged again at the end.
 *
 * Memory is bounded per key. A key has a few spans of each condition. Further spans are merged with their
 * neighbours, which may excuse more but never less. The number of doubts is bounded, too, and violations
 * beyond that number are not judged again. This hides a broken guarantee only if all recorded doubts are
 * excused in the end; otherwise the run has broken a guarantee in any case. */

#define SPANS_MAX  8u /* of a key, before two spans of one condition are merged */
#define DOUBTS_MAX 1024u

static uint32_t *first_of(struct lab_oracles *oracles, uint32_t key)
{
    return key == LAB_NO_KEY ? &oracles->spans_of_all : &oracles->keys[key].spans;
}

void lab_condition_set(struct lab_cluster_run *run, enum lab_condition condition)
{
    run->oracles.verdict.conditions |= 1u << condition;
    run->oracles.whole_run |= 1u << condition;
}

void lab_condition_of_key(struct lab_cluster_run *run, enum lab_condition condition, uint32_t key,
                          int64_t from_ns, int64_t until_ns)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_spans *spans = &oracles->spans;
    uint32_t *first = first_of(oracles, key), count = 0;
    int64_t now_ns = sim_queue_now(&run->queue);
    struct lab_span *same = NULL;
    oracles->verdict.conditions |= 1u << condition;
    for (uint32_t i = *first; i != 0; i = spans->items[i - 1].next, count++) {
        if (same == NULL && spans->items[i - 1].condition == condition)
            same = &spans->items[i - 1];
    }
    bool overlaps = same != NULL && from_ns <= same->until_ns && until_ns >= same->from_ns;
    if (same != NULL && (count >= SPANS_MAX || overlaps)) {
        same->from_ns = from_ns < same->from_ns ? from_ns : same->from_ns;
        same->until_ns = until_ns > same->until_ns ? until_ns : same->until_ns;
        same->noted_ns = now_ns;
        return;
    }
    if (!sim_grow(&spans->items, &spans->capacity, (size_t)spans->count + 1, sizeof *spans->items)) {
        run->out_of_memory = true;
        return;
    }
    spans->items[spans->count] = (struct lab_span){condition, *first, from_ns, until_ns, now_ns};
    *first = ++spans->count;
}

void lab_condition_closes(struct lab_cluster_run *run, enum lab_condition condition, uint32_t key,
                          int64_t asked_ns, int64_t until_ns)
{
    struct lab_oracles *oracles = &run->oracles;
    for (uint32_t i = *first_of(oracles, key); i != 0; i = oracles->spans.items[i - 1].next) {
        struct lab_span *span = &oracles->spans.items[i - 1];
        if (span->condition == condition && span->until_ns == LAB_OPEN_ENDED && span->noted_ns <= asked_ns)
            span->until_ns = until_ns;
    }
}

/* Returns the conditions of a list's spans that overlap the given span. */
static uint32_t overlapping(const struct lab_spans *spans, uint32_t first, int64_t from_ns, int64_t to_ns)
{
    uint32_t mask = 0;
    for (uint32_t i = first; i != 0; i = spans->items[i - 1].next) {
        const struct lab_span *span = &spans->items[i - 1];
        if (span->from_ns <= to_ns && span->until_ns >= from_ns)
            mask |= 1u << span->condition;
    }
    return mask;
}

uint32_t lab_conditions_at(const struct lab_cluster_run *run, uint32_t key, int64_t from_ns, int64_t to_ns)
{
    const struct lab_oracles *oracles = &run->oracles;
    uint32_t mask = oracles->whole_run | overlapping(&oracles->spans, oracles->spans_of_all, from_ns, to_ns);
    if (key < oracles->key_count)
        mask |= overlapping(&oracles->spans, oracles->keys[key].spans, from_ns, to_ns);
    return mask;
}

uint32_t lab_conditions_met(const struct lab_cluster_run *run, uint32_t key)
{
    return lab_conditions_at(run, key, INT64_MIN, sim_queue_now(&run->queue));
}

/* If one set of excuses contains another, only the smaller one is kept, because it is the stronger
 * statement. */
static void add_set(struct lab_violation *violation, uint32_t set)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < violation->excuse_count; i++) {
        uint32_t other = violation->excuses[i];
        if ((other & set) == other)
            return;
        if ((other & set) != set)
            violation->excuses[kept++] = other;
    }
    violation->excuse_count = kept;
    if (kept < LAB_EXCUSES_MAX)
        violation->excuses[violation->excuse_count++] = set;
}

uint32_t lab_excuses_of(const struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key,
                        int64_t from_ns, int64_t to_ns)
{
    return run->oracles.except[oracle] & lab_conditions_at(run, key, from_ns, to_ns);
}

/* Adds a violation's excuses to the verdict, and returns them. Without any, the violation is stored as a
 * doubt, since an excuse may become known later. */
static uint32_t excuse(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, int64_t from_ns,
                       int64_t to_ns)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_doubts *doubts = &oracles->doubts;
    uint32_t excuses = lab_excuses_of(run, oracle, key, from_ns, to_ns);
    struct lab_doubt doubt = {oracle, key, from_ns, to_ns};
    if (excuses != 0) {
        add_set(&oracles->verdict.violations[oracle], excuses);
        return excuses;
    }
    const struct lab_doubt *last = doubts->count > 0 ? &doubts->items[doubts->count - 1] : NULL;
    bool is_same = last != NULL && last->oracle == doubt.oracle && last->key == key &&
                   last->from_ns == from_ns && last->to_ns == to_ns;
    if (is_same || !oracles->is_guaranteed[oracle])
        return 0;
    if (doubts->count == DOUBTS_MAX)
        lab_excuses_settle(run, false);
    if (doubts->count == DOUBTS_MAX) {
        oracles->verdict.probes[LAB_PROBE_DOUBTS_FULL]++;
        return 0;
    }
    if (!sim_grow(&doubts->items, &doubts->capacity, (size_t)doubts->count + 1, sizeof *doubts->items)) {
        run->out_of_memory = true;
        return 0;
    }
    doubts->items[doubts->count++] = doubt;
    return 0;
}

void lab_excuses_settle(struct lab_cluster_run *run, bool is_end)
{
    struct lab_doubts *doubts = &run->oracles.doubts;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < doubts->count; i++) {
        struct lab_doubt doubt = doubts->items[i];
        enum lab_oracle oracle = (enum lab_oracle)doubt.oracle;
        uint32_t excuses = lab_excuses_of(run, oracle, doubt.key, doubt.from_ns, doubt.to_ns);
        if (is_end || excuses != 0)
            add_set(&run->oracles.verdict.violations[oracle], excuses);
        else
            doubts->items[kept++] = doubt;
    }
    doubts->count = kept;
}

static void violate(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, uint64_t count,
                    bool is_excused, const char *format, va_list arguments)
{
    struct lab_violation *violation = &run->oracles.verdict.violations[oracle];
    bool is_first = violation->count == 0 || (violation->is_excused && !is_excused);
    violation->count += count;
    if ((run->context->stops_at >> oracle & 1) != 0 && run->oracles.verdict.is_judged[oracle])
        lab_stop_early(run);
    if (!is_first && run->heard_by[CLUSTER_VIOLATED] == 0)
        return;
    char text[sizeof violation->text];
    vsnprintf(text, sizeof text, format, arguments);
    if (is_first) {
        violation->key = key;
        violation->time_ns = sim_queue_now(&run->queue);
        violation->is_excused = is_excused;
        memcpy(violation->text, text, sizeof text);
    }
    cluster_emit(run, VIOLATED, .key = key, .number = oracle, .text = text);
}

void lab_violate_within(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, uint64_t count,
                        int64_t from_ns, int64_t to_ns, const char *format, ...)
{
    va_list arguments;
    if (count == 0)
        return;
    va_start(arguments, format);
    violate(run, oracle, key, count, excuse(run, oracle, key, from_ns, to_ns) != 0, format, arguments);
    va_end(arguments);
}

void lab_violate_bare(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, const char *format,
                      ...)
{
    va_list arguments;
    add_set(&run->oracles.verdict.violations[oracle], 0);
    va_start(arguments, format);
    violate(run, oracle, key, 1, false, format, arguments);
    va_end(arguments);
}

/* --- Tracks when something fails, and when everything has been healthy for long enough. A fault is over when
 * the messages that it delayed have arrived and the operations that it delayed have ended, too; the patience
 * of clients bounds the latter. */

static void begin_health(struct lab_cluster_run *run)
{
    run->oracles.health.settle_ns = run->scenario->agents.timeout_ns;
    run->oracles.health.until_ns = run->start_ns;
    /* A network that loses messages without faults is never healthy. */
    if (run->scenario->network.loss > 0)
        lab_health_fault(run, true);
}

static void mark_unhealthy(struct lab_health *health, int64_t now_ns, int64_t until_ns)
{
    if (health->is_unhealthy && now_ns >= health->until_ns) {
        health->total_ns += health->until_ns - health->since_ns;
        health->is_unhealthy = false;
    }
    if (!health->is_unhealthy) {
        health->is_unhealthy = true;
        health->since_ns = now_ns;
        health->stretch++;
    }
    health->until_ns = until_ns; /* never decreases: an earlier end has settled earlier, too */
}

void lab_health_fault(struct lab_cluster_run *run, bool begins)
{
    struct lab_health *health = &run->oracles.health;
    int64_t now_ns = sim_queue_now(&run->queue);
    lab_condition_set(run, LAB_CONDITION_FAULTS);
    if (begins) {
        health->active++;
        mark_unhealthy(health, now_ns, INT64_MAX);
    } else if (--health->active == 0) {
        int64_t settled_ns = lab_until(now_ns, health->settle_ns);
        health->until_ns = settled_ns > health->pulse_until_ns ? settled_ns : health->pulse_until_ns;
    }
}

void lab_health_pulse(struct lab_cluster_run *run, int64_t until_ns)
{
    struct lab_health *health = &run->oracles.health;
    int64_t settled_ns = lab_until(until_ns, health->settle_ns);
    lab_condition_set(run, LAB_CONDITION_FAULTS);
    if (settled_ns > health->pulse_until_ns)
        health->pulse_until_ns = settled_ns;
    mark_unhealthy(health, sim_queue_now(&run->queue),
                   health->active > 0 ? INT64_MAX : health->pulse_until_ns);
}

int64_t lab_health_well_ns(const struct lab_cluster_run *run)
{
    const struct lab_health *health = &run->oracles.health;
    int64_t now_ns = sim_queue_now(&run->queue);
    return now_ns < health->until_ns ? -1 : now_ns - health->until_ns;
}

/* --- Observes the requests and outcomes of agents: which rare paths a run has taken, and which events
 * occurred that a guarantee may exclude. Nothing here affects the agents. */

_Static_assert((int)LAB_PROBE_ROLL_NODE_DOWN == (int)LAB_FAULT_NODE_DOWN &&
                   (int)LAB_PROBE_ROLL_PAXOS_LOSS == (int)LAB_FAULT_PAXOS_LOSS,
               "the first probes are the faults during a roll, in their order");

/* Records which faults are active while a roll is requested. */
static void watch_roll(struct lab_cluster_run *run)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    for (size_t i = 0; i < run->active_count; i++) {
        if (run->active[i].is_used)
            verdict->probes[LAB_PROBE_ROLL_NODE_DOWN + run->active[i].kind]++;
    }
    for (uint32_t i = 0; i < run->agent_count; i++) {
        if (!run->agents[i].is_up) {
            verdict->probes[LAB_PROBE_ROLL_AGENT_CRASH]++;
            break;
        }
    }
}

/* Observes a write of the state that is more than an increment. Two concurrent plain writes do not know of
 * each other: another one was pending when this one was requested, or changed the state after it was read for
 * this one. */
static void watch_state_write(struct lab_cluster_run *run, struct lab_host_operation *operation,
                              const struct bk_action *action)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    const struct lab_cluster_key *key = &run->keys[operation->key];
    bool is_plain = action->kind == BK_ACT_WRITE_STATE;
    uint32_t bucket = 1u << BK_COLUMN_BUCKET, next_change = 1u << BK_COLUMN_NEXT_CHANGE;
    if (is_plain && run->config.coordination == BK_THREE_STATE &&
        (action->mask & (bucket | next_change)) == next_change && key->state[BK_COLUMN_NEXT_CHANGE] == 0)
        verdict->probes[LAB_PROBE_LATE_RESET]++;
    if (!lab_writes_state(action))
        return;
    if (is_plain && (ledger->writes_open > 0 || operation->state_seen != ledger->state_version)) {
        verdict->probes[LAB_PROBE_CHANGES_AT_ONCE]++;
        lab_condition_of_key(run, LAB_CONDITION_CHANGES_AT_ONCE, operation->key, operation->state_read_ns,
                             LAB_OPEN_ENDED);
    }
    ledger->writes_open++;
    operation->changes_state = true;
    /* The condition of an update replaces a fresh read: if the state has changed since it was read, the
     * update is not applied. */
    if (!is_plain)
        operation->state_read_ns = sim_queue_now(&run->queue);
    int64_t before = is_plain || action->if_mask == 0 ? 0 : action->expected[BK_COLUMN_BUCKET];
    if ((action->mask & bucket) == 0 || action->columns[BK_COLUMN_BUCKET] <= before)
        return;
    run->oracles.rolls_open++;
    operation->raises = true;
    watch_roll(run);
}

/* Returns the highest bucket of the key that has rows; INT64_MIN: none has. */
static int64_t highest_bucket(const struct lab_cluster_run *run, uint32_t key)
{
    uint32_t top = run->oracles.keys[key].top;
    return top == LAB_NO_PARTITION ? INT64_MIN : run->oracles.partitions[top].bucket;
}

static void watch_asked(struct lab_cluster_run *run, struct lab_host_operation *operation,
                        const struct bk_action *action)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    switch (action->kind) {
    case BK_ACT_READ_STATE:
        operation->state_seen = run->oracles.keys[operation->key].state_version;
        operation->state_read_ns = sim_queue_now(&run->queue);
        operation->bucket_due = highest_bucket(run, operation->key);
        break;
    case BK_ACT_WRITE_STATE:
    case BK_ACT_CAS_STATE:
        watch_state_write(run, operation, action);
        break;
    case BK_ACT_ADD_COUNTER:
        operation->has_counted = true;
        break;
    case BK_ACT_READ_START:
        verdict->probes[LAB_PROBE_OLD_START]++;
        break;
    case BK_ACT_CAS_LOCK:
        operation->is_taking_over = action->if_mask != 0 && action->expected[BK_LOCK_OWNER] != 0 &&
                                    action->columns[BK_LOCK_OWNER] != 0;
        break;
    default:
        break;
    }
}

/* Returns whether a write of unknown outcome has lowered the state below the bucket of some rows. Readers do
 * not begin high enough for these rows until the state names their bucket again. */
static bool is_below_rows(const struct lab_cluster_run *run, uint32_t key)
{
    return highest_bucket(run, key) > run->oracles.keys[key].state_bucket;
}

/* The operation's write of the state, if it had one, is no longer under way. */
static void state_write_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                              enum bk_outcome_kind outcome)
{
    run->oracles.rolls_open -= operation->raises;
    operation->raises = false;
    if (!operation->changes_state)
        return;
    operation->changes_state = false;
    uint32_t key = operation->key;
    int64_t now_ns = sim_queue_now(&run->queue), over_ns = lab_until(now_ns, lab_aftermath_ns(run));
    int64_t asked_ns = operation->asked_ns, read_ns = operation->state_read_ns;
    /* Two concurrent writes may disagree until both have ended and the cached states have expired. */
    if (--run->oracles.keys[key].writes_open == 0)
        lab_condition_closes(run, LAB_CONDITION_CHANGES_AT_ONCE, key, INT64_MAX, over_ns);
    /* A write of unknown outcome may take effect until the next write that is known to be applied. */
    if (outcome == BK_OUTCOME_APPLIED) {
        if (!is_below_rows(run, key))
            lab_condition_closes(run, LAB_CONDITION_UNKNOWN_WRITE, key, asked_ns, over_ns);
        lab_condition_closes(run, LAB_CONDITION_LATE_STATE_WRITE, key, asked_ns, over_ns);
    }
    if (outcome == BK_OUTCOME_UNKNOWN) {
        lab_condition_of_key(run, LAB_CONDITION_UNKNOWN_WRITE, key, asked_ns, LAB_OPEN_ENDED);
        run->oracles.keys[key].numbers_lost += lab_numbers_at_once(run);
    }
    if (run->config.coordination != BK_THREE_STATE || outcome == BK_OUTCOME_REFUSED)
        return;
    /* The time from the read on which the write is based until the write is known to be applied. */
    int64_t left_ns = run->config.lead_ns - run->config.cache_ttl_ns - run->oracles.tolerance_ns;
    if (outcome == BK_OUTCOME_UNKNOWN || now_ns - read_ns > left_ns)
        lab_condition_of_key(run, LAB_CONDITION_LATE_STATE_WRITE, key, read_ns,
                             outcome == BK_OUTCOME_UNKNOWN ? LAB_OPEN_ENDED : over_ns);
}

/* If there was a write of unknown outcome, it has taken effect late. Its coordinator may have been paused
 * meanwhile, so its timestamp may be later than those of all others. If a write under way has an even later
 * timestamp, only reads of replicas that lack that write show the effect. */
void lab_watch_late_effect(struct lab_cluster_run *run, uint32_t key)
{
    uint32_t met = lab_conditions_at(run, key, INT64_MIN, INT64_MAX);
    int64_t now_ns = sim_queue_now(&run->queue);
    if ((met >> LAB_CONDITION_UNKNOWN_WRITE & 1) == 0)
        return;
    lab_condition_of_key(run, LAB_CONDITION_UNKNOWN_WRITE, key, now_ns, LAB_OPEN_ENDED);
    if (run->config.coordination == BK_THREE_STATE)
        lab_condition_of_key(run, LAB_CONDITION_LATE_STATE_WRITE, key, now_ns, LAB_OPEN_ENDED);
}

static void watch_outcome(struct lab_cluster_run *run, struct lab_host_operation *operation)
{
    const enum bk_outcome_kind outcome = operation->outcome.kind;
    struct lab_verdict *verdict = &run->oracles.verdict;
    bool is_unknown = outcome == BK_OUTCOME_UNKNOWN;
    switch (operation->action) {
    case BK_ACT_PUT_ROW:
        operation->was_unknown = operation->was_unknown || is_unknown;
        break;
    case BK_ACT_READ_STATE:
        /* The state named the bucket of each row before the row was put there, so a write has lowered it. */
        if (outcome == BK_OUTCOME_APPLIED &&
            operation->outcome.columns[BK_COLUMN_BUCKET] < operation->bucket_due)
            lab_watch_late_effect(run, operation->key);
        break;
    case BK_ACT_WRITE_STATE:
    case BK_ACT_CAS_STATE:
        verdict->probes[LAB_PROBE_UNKNOWN_ROLL] += operation->raises && is_unknown;
        run->conditions_lost += outcome == BK_OUTCOME_NOT_APPLIED;
        verdict->probes[LAB_PROBE_LOST_RACE] += operation->raises && outcome == BK_OUTCOME_NOT_APPLIED;
        state_write_ended(run, operation, outcome);
        break;
    case BK_ACT_ADD_COUNTER:
        verdict->probes[LAB_PROBE_COUNTER_UNKNOWN] += is_unknown;
        break;
    case BK_ACT_CAS_LOCK:
        verdict->probes[LAB_PROBE_LOCK_TAKEN_OVER] +=
            operation->is_taking_over && outcome == BK_OUTCOME_APPLIED;
        if (outcome == BK_OUTCOME_NOT_APPLIED && operation->outcome.mask != 0 &&
            operation->outcome.columns[BK_LOCK_OWNER] != 0 &&
            operation->outcome.columns[BK_LOCK_OWNER] != operation->columns[BK_LOCK_OWNER])
            operation->is_locked_out = true;
        break;
    default:
        break;
    }
}

static void watch_fault(struct lab_cluster_run *run, enum lab_fault_kind kind)
{
    if (run->oracles.rolls_open > 0 || sim_queue_now(&run->queue) < run->oracles.rolls_until_ns)
        run->oracles.verdict.probes[LAB_PROBE_ROLL_NODE_DOWN + kind]++;
}

/* A fault that begins: how long something is unhealthy, and what a guarantee may except. One with an end has
 * its own event for it. */
static void fault_begins(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue), left_ns = lab_until(run->end_ns, LAB_DRAIN_NS) - now_ns;
    watch_fault(run, fault->kind);
    if (fault->kind == LAB_FAULT_NODE_DOWN || fault->kind == LAB_FAULT_HINT_LOSS)
        run->oracles.hints_may_be_lost = true;
    switch (fault->kind) {
    case LAB_FAULT_AGENT_CRASH: /* the agent stops, unless it is down */
        break;
    case LAB_FAULT_CLOCK_JUMP:
    case LAB_FAULT_HINT_LOSS:
    case LAB_FAULT_PAXOS_LOSS:
        lab_health_pulse(run, now_ns);
        break;
    case LAB_FAULT_GC_STORM:
        lab_health_pulse(run, lab_until(now_ns, lasts_ns < left_ns ? lasts_ns : left_ns));
        break;
    case LAB_FAULT_STATE_LOST:
    case LAB_FAULT_STATE_RESTORED:
        if (!lab_keeps_state(run))
            break;
        lab_condition_of_key(run, LAB_CONDITION_STATE_LOST, fault->target, INT64_MIN, LAB_OPEN_ENDED);
        lab_health_pulse(run, now_ns);
        break;
    default:
        lab_health_fault(run, true);
    }
}

/* The last delayed message is still in flight. It may be a write for which no agent waits any more, and which
 * sets a key's state back. */
static void fault_ends(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    lab_health_fault(run, false);
    if (fault->kind == LAB_FAULT_LATE_MESSAGE || fault->kind == LAB_FAULT_DELAY)
        lab_health_pulse(run, lab_until(sim_queue_now(&run->queue), fault->by_ns));
}

/* A clock that jumped is wrong until another jump sets it back, and its effects last until the times that it
 * wrote have passed. Each jump ends a span in which the clock was wrong, so the latest end over all jumps
 * counts. */
static void clock_jumped(struct lab_cluster_run *run, int64_t before_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    uint64_t was_off = before_ns < 0 ? 0 - (uint64_t)before_ns : (uint64_t)before_ns;
    int64_t over_ns = was_off < INT64_MAX ? lab_until(now_ns, (int64_t)was_off) : LAB_OPEN_ENDED;
    if (over_ns > run->oracles.jumps_until_ns)
        run->oracles.jumps_until_ns = over_ns;
    lab_condition_of_key(run, LAB_CONDITION_CLOCK_JUMP, LAB_NO_KEY, now_ns, LAB_OPEN_ENDED);
    for (uint32_t i = 0; i < run->agent_count; i++) {
        if (run->agents[i].jump_ns != 0)
            return;
    }
    if (run->oracles.jumps_until_ns != LAB_OPEN_ENDED)
        lab_condition_closes(run, LAB_CONDITION_CLOCK_JUMP, LAB_NO_KEY, INT64_MAX,
                             lab_until(run->oracles.jumps_until_ns, lab_aftermath_ns(run)));
}

static void agent_started(struct lab_cluster_run *run, const struct cluster_event *event)
{
    if (event->number > 0)
        lab_health_fault(run, false);
    if (!event->flag)
        return;
    lab_condition_set(run, LAB_CONDITION_OLD_CHECKPOINT);
    run->oracles.verdict.probes[LAB_PROBE_CHECKPOINT]++;
}

static void agent_stopped(struct lab_cluster_run *run, bool is_end)
{
    if (is_end)
        return;
    if (run->agent_count > 1)
        lab_condition_of_key(run, LAB_CONDITION_MANY_AGENTS, LAB_NO_KEY, sim_queue_now(&run->queue),
                             LAB_OPEN_ENDED);
    lab_health_fault(run, true);
    run->oracles.crashes++;
}

static void operation_lost(struct lab_cluster_run *run, struct lab_host_operation *operation)
{
    if (operation->is_read)
        return;
    run->oracles.verdict.probes[LAB_PROBE_CRASH_UNCOUNTED] += operation->is_acknowledged && operation->fires;
    state_write_ended(run, operation, BK_OUTCOME_UNKNOWN);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    switch (event->kind) {
    case CLUSTER_REQUEST_SENT:
        watch_asked(run, event->operation, event->action);
        break;
    case CLUSTER_HEARD:
        watch_outcome(run, event->operation);
        break;
    case CLUSTER_LOST:
        operation_lost(run, event->operation);
        break;
    case CLUSTER_FAULT_BEGINS:
        fault_begins(run, event->fault, event->time_ns);
        break;
    case CLUSTER_FAULT_ENDS:
        fault_ends(run, event->fault);
        break;
    case CLUSTER_CLOCK_JUMPED:
        clock_jumped(run, event->time_ns);
        break;
    case CLUSTER_PAXOS_LOST:
        if (event->key == LAB_NO_KEY)
            lab_condition_set(run, LAB_CONDITION_PAXOS_LOST);
        else
            lab_condition_of_key(run, LAB_CONDITION_PAXOS_LOST, event->key, INT64_MIN, LAB_OPEN_ENDED);
        break;
    case CLUSTER_AGENT_STARTED:
        agent_started(run, event);
        break;
    case CLUSTER_AGENT_STOPPED:
        agent_stopped(run, event->flag);
        break;
    case CLUSTER_AGENT_RESUMED:
        run->oracles.verdict.probes[LAB_PROBE_PAUSED_ACT] += event->flag;
        break;
    default: /* CLUSTER_AGENT_PAUSED */
        if (run->agent_count > 1)
            lab_condition_set(run, LAB_CONDITION_MANY_AGENTS);
    }
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    uint64_t faults = CLUSTER_WANTS(AGENT_STARTED) | CLUSTER_WANTS(AGENT_STOPPED) |
                      CLUSTER_WANTS(AGENT_PAUSED) | CLUSTER_WANTS(AGENT_RESUMED) |
                      CLUSTER_WANTS(FAULT_BEGINS) | CLUSTER_WANTS(FAULT_ENDS) | CLUSTER_WANTS(CLOCK_JUMPED) |
                      CLUSTER_WANTS(PAXOS_LOST);
    return run->idgen != NULL
               ? faults
               : faults | CLUSTER_WANTS(REQUEST_SENT) | CLUSTER_WANTS(HEARD) | CLUSTER_WANTS(LOST);
}

static bool begin(struct lab_cluster_run *run, void **state)
{
    *state = run;
    begin_health(run);
    begin_conditions(run);
    return true;
}

static void destroy(void *state)
{
    const struct lab_oracles *oracles = &((struct lab_cluster_run *)state)->oracles;
    free(oracles->spans.items);
    free(oracles->doubts.items);
}

const struct cluster_observer cluster_conditions = {
    .name = "conditions", .wants = wants, .begin = begin, .on_event = hear, .destroy = destroy};

static uint64_t wants_end(const struct lab_cluster_run *run)
{
    (void)run;
    return CLUSTER_WANTS_END;
}

static void finish(struct lab_cluster_run *run, void *state)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    (void)state;
    if (run->idgen == NULL)
        end_conditions(run);
    watch_nodes(run);
    lab_excuses_settle(run, true);
    for (int i = 0; run->idgen == NULL && i < LAB_ORACLE_COUNT; i++)
        verdict->lapsed[i] = run->oracles.except[i] & verdict->conditions;
}

const struct cluster_observer cluster_verdict = {.name = "verdict", .wants = wants_end, .finish = finish};
