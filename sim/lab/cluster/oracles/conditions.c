/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The conditions under which guarantees need not hold, as far as they follow from the scenario or from the
 * whole run. Conditions that occur at one moment are recorded where they occur. */
#include "cluster_run.h"
#include "cluster_view.h"
#include "evidence.h"
#include "kernel/time.h"
#include "oracles.h"

/* Paxos sleeps up to 99 ms between the rounds of a contended update, each of which takes eight trips. */
#define UPDATE_LEAST_NS SIM_SECOND
#define UPDATE_TRIPS    64
#define PAUSES_LONGEST  28

static uint32_t replicas_of(const struct lab_scenario *scenario, enum cass_consistency level)
{
    uint32_t factor = scenario->cluster.replication_factor;
    switch (level) {
    case CASS_ANY:
        return 0;
    case CASS_ONE:
    case CASS_LOCAL_ONE:
        return 1;
    case CASS_TWO:
        return 2;
    case CASS_THREE:
        return 3;
    case CASS_ALL:
        return factor;
    default:
        return factor / 2 + 1;
    }
}

/* Returns the number of replicas that a read queries; 0 if there are several datacenters, because the queried
 * replicas then depend on the place of the reader. */
uint32_t lab_read_replicas(const struct lab_scenario *scenario)
{
    if (scenario->network.datacenter_count > 1)
        return 0;
    return replicas_of(scenario, scenario->consistency.read);
}

/* With several datacenters, levels that count the replicas of only one of them may have no replica in
 * common. */
static bool is_of_one_of_several(const struct lab_scenario *scenario, enum cass_consistency level)
{
    uint32_t with_replicas = 0;
    for (uint32_t i = 0; i < scenario->network.datacenter_count; i++)
        with_replicas += scenario->network.datacenters[i].replication_factor > 0;
    return with_replicas > 1 &&
           (level == CASS_LOCAL_ONE || level == CASS_LOCAL_QUORUM || level == CASS_LOCAL_SERIAL);
}

/* Those of rows; identifiers have none. */
static bool row_levels_are_weak(const struct lab_cluster_run *run)
{
    const struct lab_scenario *scenario = run->scenario;
    const struct lab_consistency *levels = &scenario->consistency;
    bool is_weak = is_of_one_of_several(scenario, levels->write) ||
                   is_of_one_of_several(scenario, levels->read) ||
                   replicas_of(scenario, levels->write) + replicas_of(scenario, levels->read) <=
                       scenario->cluster.replication_factor;
    return run->idgen == NULL && is_weak;
}

bool lab_plain_state_is_weak(const struct lab_cluster_run *run)
{
    enum cass_consistency level = run->scenario->consistency.state;
    return is_of_one_of_several(run->scenario, level) ||
           2 * replicas_of(run->scenario, level) <= run->scenario->cluster.replication_factor;
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
static int64_t longest_pause_ns(const struct lab_cluster_run *run)
{
    const struct cass_cluster_config *network = &run->scenario->network;
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
    return lab_times((int64_t)agents->retries + 1, least_ns) <= lab_until(longest_pause_ns(run), takes_ns);
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

void lab_conditions_begin(struct lab_cluster_run *run)
{
    /* If agents contend for an update that a row needs, each of the others may be first. */
    int64_t contenders =
        lab_contends_for_rows(run) && !lab_contends_by_row(run) ? run->scenario->agents.count : 1;
    if (run->idgen == NULL && timeouts_are_short(run, lab_times(contenders, contended_ns(run))))
        lab_condition_set(run, LAB_CONDITION_SHORT_TIMEOUTS);
    lab_excuses_begin(run);
    struct lab_verdict *verdict = &run->oracles.verdict;
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
    int64_t age_ns = run->config.strategy.max_age_ns, bounds_ns = 2 * agents->clock_bound_ns;
    if (run->config.coordination == BK_THREE_STATE &&
        (run->config.lead_ns < agents->cache_ttl_ns + bounds_ns ||
         (age_ns != 0 && age_ns < run->config.lead_ns + bounds_ns)))
        lab_condition_set(run, LAB_CONDITION_SHORT_LEAD);
    const struct bk_idgen_config *idgen = &run->strategy->settings.idgen;
    if (run->idgen != NULL && idgen->lock_lasts_ns - idgen->lease_ns < 2 * agents->clock_bound_ns)
        lab_condition_set(run, LAB_CONDITION_SHORT_LEASE);
    if (run->idgen != NULL) {
        verdict->is_judged[LAB_ORACLE_UNIQUE] = verdict->is_judged[LAB_ORACLE_AVAILABLE] = true;
        verdict->is_judged[LAB_ORACLE_RESTORED] = agents->twin_share > 0;
    }
    /* The lock may expire before the roll is written. */
    if (run->config.coordination == BK_LOCKED &&
        run->config.lock_lasts_ns <= lab_until(longest_pause_ns(run), contended_ns(run)))
        lab_condition_set(run, LAB_CONDITION_SHORT_LEASE);
    if (run->config.coordination == BK_GUARDED &&
        (run->config.grant_ns < contended_ns(run) || (age_ns != 0 && age_ns < contended_ns(run))))
        lab_condition_set(run, LAB_CONDITION_SHORT_GRANT);
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

void lab_conditions_watch_nodes(struct lab_cluster_run *run)
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

void lab_conditions_end(struct lab_cluster_run *run)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    for (uint32_t key = 0; run->config.coordination == BK_GUARDED && key < run->key_count; key++) {
        if (outruns_updates(run, key))
            lab_condition_of_key(run, LAB_CONDITION_SHORT_GRANT, key, INT64_MIN, LAB_OPEN_ENDED);
    }
    if (run->refused + run->unresolved > 0)
        verdict->conditions |= 1u << LAB_CONDITION_REFUSED_ROWS; /* oracle_no_gaps.c: of which keys */
    int64_t ttl_ns = run->scenario->row_ttl_ns;
    if (ttl_ns > 0 && ttl_ns < sim_queue_now(&run->queue) - run->start_ns)
        lab_condition_set(run, LAB_CONDITION_REMOVED_ROWS);
    verdict->probes[LAB_PROBE_EXPIRED] += ttl_ns > 0 && ttl_ns < sim_queue_now(&run->queue) - run->start_ns;
    for (uint32_t key = 0; run->config.strategy.kind == BK_COUNT && key < run->key_count; key++) {
        if (run->keys[key].deletes_asked > 0)
            lab_condition_of_key(run, LAB_CONDITION_REMOVED_ROWS, key, INT64_MIN, LAB_OPEN_ENDED);
    }
    lab_conditions_watch_nodes(run);
}
