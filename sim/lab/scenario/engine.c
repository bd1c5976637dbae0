/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the engine of a scenario, and checks what the engines require of it. In: a scenario whose sections
 * were read. Out: the engine, or an error. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lab/fields.h"
#include "lab/scenario.h"
#include "workload/rows.h"

_Static_assert((size_t)CASS_CLUSTER_NODES_MAX *(CASS_CLUSTER_NODES_MAX + LAB_AGENTS_MAX) <=
                   CASS_CLUSTER_PAIRS_MAX,
               "nodes and agents within their own bounds are few enough together");

/* Whether an expectation is about peaks, which are known only when rows are drawn. */
static bool expects_peaks(const struct lab_scenario *scenario)
{
    for (size_t i = 0; i < scenario->expect_count; i++) {
        if (strstr(scenario->expects[i].metric, ".peak.") != NULL)
            return true;
    }
    return false;
}

static bool choose(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *engine = lab_node_find(root, "engine");
    bool has_agents = scenario->agents.present, has_faults = scenario->fault_count > 0;
    bool is_stream = scenario->engine == LAB_ENGINE_EXACT || scenario->engine == LAB_ENGINE_THINNED;
    if (is_stream && (has_agents || has_faults)) {
        char problem[96];
        const char *name = has_agents ? "agents" : "faults";
        snprintf(problem, sizeof problem, "'%s' needs engine: cluster; use that, or remove '%s'", name, name);
        return lab_fail_value(reader, engine, problem);
    }
    if (has_faults && !has_agents)
        return lab_fail_at(&reader->tree, &lab_node_find(root, "faults")->name_place,
                           "'faults' needs agents; add 'agents: {count: N}'");
    if (scenario->engine == LAB_ENGINE_CLUSTER && !has_agents)
        return lab_fail_value(reader, engine, "no agents to run; add 'agents: {count: N}'");
    const struct lab_node *arrivals = lab_node_find(root, "arrivals");
    if (scenario->workload.early_share > 0 && !has_agents)
        return lab_fail_at(
            &reader->tree, &lab_node_find(arrivals, "early")->name_place,
            "'early' needs agents, since it is relative to their clocks; add 'agents: {count: N}'");
    if (has_agents)
        scenario->engine = LAB_ENGINE_CLUSTER;
    return true;
}

bool lab_thin_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const char *refusal = lab_thin_refusal(scenario);
    if (scenario->engine == LAB_ENGINE_THINNED && refusal != NULL) {
        char problem[160];
        snprintf(problem, sizeof problem, "cannot run this exactly: %s; use exact or auto", refusal);
        return lab_fail_value(reader, lab_node_find(root, "engine"), problem);
    }
    double rows = scenario->workload.rate_per_s * 1e-9 * (double)scenario->workload.duration_ns;
    if (scenario->engine == LAB_ENGINE_AUTO && refusal == NULL && rows >= LAB_THINNED_ROWS &&
        lab_thin_is_faster(scenario, rows) && !expects_peaks(scenario))
        scenario->engine = LAB_ENGINE_THINNED;
    return true;
}

static bool counts_rows_again(const struct lab_strategy *strategy)
{
    return strategy->settings.source == BK_SOURCE_SCAN || strategy->settings.source == BK_SOURCE_INCREMENTAL;
}

static bool fail_needs_agents(struct lab_reader *reader, const struct lab_node *node)
{
    return lab_fail_at(&reader->tree, &node->place, "'%s: %s' needs agents; add 'agents: {count: N}'",
                       node->name, node->text);
}

static bool check_strategies(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    const struct lab_node *item = lab_placing(lab_node_find(root, "strategies")->first);
    if (is_cluster && scenario->workload.is_late_trace)
        return lab_fail_at(&reader->tree, &lab_node_find(root, "trace")->name_place,
                           "with agents, a trace cannot have a column 'arrived'; remove it from 'columns', "
                           "or remove 'agents'");
    for (size_t i = 0; i < scenario->strategy_count; i++, item = lab_placing(item->next)) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        const struct lab_node *settings = lab_node_find(item, bk_kind_name(strategy->settings.strategy.kind));
        if (!is_cluster && strategy->settings.coordination != BK_SINGLE)
            return fail_needs_agents(reader, lab_node_find(settings, "coordination"));
        if (!is_cluster && strategy->settings.counter != BK_COUNTER_RMW)
            return fail_needs_agents(reader, lab_node_find(settings, "counter"));
        if (!is_cluster && strategy->settings.every_ns != 0)
            return fail_needs_agents(reader, lab_node_find(settings, "every_time"));
        if (!is_cluster && lab_rows_go(scenario) && counts_rows_again(strategy))
            return lab_fail_value(reader, lab_node_find(settings, "counter"),
                                  "it counts stored rows, and only agents see which rows expired or were "
                                  "deleted before a count; add 'agents: {count: N}', or use memory");
        if (is_cluster && strategy->settings.strategy.max_age_ns != 0 &&
            strategy->settings.strategy.kind == BK_COUNT)
            return lab_fail_value(
                reader, lab_node_find(settings, "max_age"),
                "'count' with agents does not store when a bucket began; use 'probabilistic', or 'time'");
        if (is_cluster && strategy->settings.strategy.kind == BK_HASH &&
            strategy->settings.strategy.of.hash.buckets > LAB_CLUSTER_BUCKETS_MAX)
            return lab_fail_value(reader, lab_node_find(settings, "buckets"),
                                  "more than the cluster engine holds; give at most 65536");
        if (!lab_then_complete(reader, settings, strategy))
            return false;
    }
    return true;
}

static bool check_level(struct lab_reader *reader, const struct lab_node *cluster, const char *name,
                        enum cass_consistency level)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct cass_cluster_config *network = &scenario->network;
    const struct lab_node *node = lab_node_find(lab_node_find(cluster, "consistency"), name);
    uint32_t replicas = scenario->cluster.replication_factor;
    char problem[192];
    if ((level == CASS_TWO && replicas < 2) || (level == CASS_THREE && replicas < 3)) {
        snprintf(problem, sizeof problem, "there %s %u replica%s; raise replication_factor, or use ONE",
                 replicas == 1 ? "is" : "are", replicas, replicas == 1 ? "" : "s");
        return lab_fail_value(reader, node, problem);
    }
    if (level != CASS_LOCAL_ONE && level != CASS_LOCAL_QUORUM && level != CASS_LOCAL_SERIAL)
        return true;
    for (uint32_t i = 0; i < network->datacenter_count && i < scenario->agents.count; i++) {
        const struct cass_datacenter *datacenter = &network->datacenters[i];
        if (datacenter->replication_factor > 0)
            continue;
        const char *instead = level == CASS_LOCAL_SERIAL ? "SERIAL"
                              : level == CASS_LOCAL_ONE  ? "ONE"
                                                         : "QUORUM";
        if (node != NULL) {
            snprintf(problem, sizeof problem,
                     "agents are in '%s', which has no replicas; use %s, or raise its replication_factor",
                     datacenter->name, instead);
            return lab_fail_value(reader, node, problem);
        }
        snprintf(problem, sizeof problem,
                 "agents are in '%s', where %s: %s finds no replica; raise it, or set %s: %s under "
                 "'consistency'",
                 datacenter->name, name, cass_consistency_name(level), name, instead);
        const struct lab_node *named = lab_node_find(lab_node_find(cluster, "datacenters"), datacenter->name);
        return lab_fail_value(reader, lab_node_find(named, "replication_factor"), problem);
    }
    return true;
}

/* Refuses a consistency level that this cluster can never meet, since every operation of the run would be
 * refused. */
static bool check_levels(struct lab_reader *reader, const struct lab_node *cluster)
{
    const struct lab_consistency *consistency = &reader->scenario->consistency;
    return check_level(reader, cluster, "write", consistency->write) &&
           check_level(reader, cluster, "read", consistency->read) &&
           check_level(reader, cluster, "state", consistency->state) &&
           check_level(reader, cluster, "serial", consistency->serial);
}

static bool check_cluster(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_cluster *figures = &reader->scenario->cluster;
    const struct lab_node *cluster = lab_node_find(root, "cluster");
    /* Numbers out of range can only have been given by the user. */
    if (figures->nodes > CASS_CLUSTER_NODES_MAX)
        return lab_fail_at(&reader->tree, &cluster->place,
                           "%u nodes are more than the cluster engine runs; give at most %u", figures->nodes,
                           CASS_CLUSTER_NODES_MAX);
    if (figures->replication_factor > CASS_CLUSTER_REPLICAS_MAX)
        return lab_fail_at(&reader->tree, &cluster->place,
                           "%u replicas are more than the cluster engine keeps; give at most %u in all",
                           figures->replication_factor, CASS_CLUSTER_REPLICAS_MAX);
    if (reader->scenario->workload.key_count > LAB_CLUSTER_KEYS_MAX)
        return lab_fail_value(reader, lab_node_find(lab_node_find(root, "keys"), "count"),
                              "more keys than the cluster engine holds; give at most 4194304");
    return check_levels(reader, cluster);
}

bool lab_engine_complete(struct lab_reader *reader, const struct lab_node *root)
{
    return choose(reader, root) && check_strategies(reader, root) &&
           (reader->scenario->engine != LAB_ENGINE_CLUSTER || check_cluster(reader, root));
}

/* Each key in progress has a cell per bucket. */
#define HASH_BUCKETS_MAX (UINT32_C(1) << 20)
/* If rows arrive late, each key in progress keeps all of its windows. */
#define WINDOWS_MAX (INT64_C(1) << 22)

/* Readers of a regime may read up to its end, or longer if agents get the next one late. */
static bool can_walk(const struct lab_regimes *regimes, int64_t birth_ns, int64_t end_ns)
{
    struct bk_history_reader reader;
    for (uint32_t i = 0; i < regimes->count; i++) {
        if (bk_history_read_latest(&regimes->items[i].history, NULL, end_ns, birth_ns, 1, BK_PLAN_DEFAULT,
                                   &reader) != BK_OK)
            return false;
    }
    return true;
}

/* A late row may open any window of the run, and of the time before it up to the largest lateness. */
static bool check_windows(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                          struct sim_error *error)
{
    const struct wl_workload *workload = &scenario->workload;
    int64_t window_ns = strategy->settings.strategy.of.time.window_ns;
    if (!wl_has_own_times(workload) || window_ns == 0 || workload->is_late_trace)
        return true; /* a key of a trace has at most one window per line */
    int64_t windows = workload->duration_ns / window_ns + wl_late_most_ns(workload) / window_ns;
    /* A key has at most one window per row, and at most twice the mean number of rows, with bursts and
     * spikes. */
    double rows = workload->rate_per_s * (double)workload->duration_ns +
                  workload->backfill_rate_per_s * (double)workload->backfill_before_ns;
    rows *= 2e-9 * sim_zipf_share(&workload->popularity, 0);
    if (windows <= WINDOWS_MAX || rows <= (double)WINDOWS_MAX)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%d:%d: with late rows the lab keeps every window of a key, here up to %" PRId64
                    "; use a longer window, or leave out late, resolution and backfill",
                    scenario->path, strategy->line, strategy->column, windows);
}

bool lab_check_walks(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                     struct sim_error *error)
{
    int64_t birth_ns = start_ns - wl_late_most_ns(&scenario->workload);
    for (size_t i = 0; scenario->reads.present && i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        struct lab_regimes regimes;
        if (strategy->settings.strategy.kind == BK_TIME && lab_regimes_make(strategy, start_ns, &regimes) &&
            !can_walk(&regimes, birth_ns, end_ns))
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "%s:%d:%d: a read may have to walk over more than %d windows back to the key's birth; "
                "use a longer window or leave reads out",
                scenario->path, strategy->line, strategy->column, BK_WALK_WINDOWS_MAX);
    }
    return true;
}

bool lab_check_trace_bytes(const struct lab_scenario *scenario, bool has_counts, struct sim_error *error)
{
    if (has_counts || !scenario->has_row_bytes)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:%d:%d: 'bytes' conflicts with a trace whose lines have their own; remove it",
                    scenario->path, scenario->row_bytes_line, scenario->row_bytes_column);
}

bool lab_run_check(const struct lab_scenario *scenario, struct sim_error *error)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        if (strategy->settings.strategy.kind == BK_HASH &&
            strategy->settings.strategy.of.hash.buckets > HASH_BUCKETS_MAX)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: %u hash buckets are more than a run can hold; use at most %u",
                            scenario->path, strategy->line, strategy->column,
                            strategy->settings.strategy.of.hash.buckets, HASH_BUCKETS_MAX);
        if (strategy->settings.strategy.kind == BK_TIME && !check_windows(scenario, strategy, error))
            return false;
    }
    const struct wl_workload *workload = &scenario->workload;
    return scenario->trace_path != NULL ||
           lab_check_walks(scenario, workload->start_ns, workload->start_ns + workload->duration_ns, error);
}

const char *lab_thin_refusal(const struct lab_scenario *scenario)
{
    if (scenario->trace_path != NULL)
        return "a trace has its own rows";
    if (scenario->workload.row_bytes.kind != SIM_SIZE_CONSTANT)
        return "row.bytes differ from row to row";
    if (wl_has_own_times(&scenario->workload))
        return "rows are late, or have their own times";
    if (scenario->deletes.share > 0)
        return "rows are deleted one by one";
    if (scenario->design.is_given &&
        (!lab_design_is_plain(&scenario->design) || lab_design_clusters_by(&scenario->design, LAB_FEED_KEY)))
        return "the table's partitions need each row's columns";
    if (scenario->reads.kinds[LAB_READ_RANGE].rate_per_s > 0)
        return "reads of a range need the time of each row";
    if (scenario->reads.present && scenario->row_ttl_ns > 0)
        return "reads of rows that expire need the time of each row";
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (scenario->strategies[i].settings.change_count > 0)
            return "a strategy's settings change";
    }
    return NULL;
}

/* Measured: the mean number of rows in a segment at which `time` and `probabilistic` take as long. */
#define THINNED_SEGMENT_ROWS 32

bool lab_thin_is_faster(const struct lab_scenario *scenario, double rows)
{
    return rows >= THINNED_SEGMENT_ROWS * wl_segments(&scenario->workload);
}

bool lab_reads_can_be_expected(const struct lab_scenario *scenario)
{
    const struct lab_reads *reads = &scenario->reads;
    bool is_plain = scenario->engine != LAB_ENGINE_CLUSTER && reads->kinds[LAB_READ_LATEST].rate_per_s > 0 &&
                    reads->kinds[LAB_READ_RANGE].rate_per_s <= 0 &&
                    reads->kinds[LAB_READ_ALL].rate_per_s <= 0 && scenario->row_ttl_ns == 0 &&
                    !wl_has_own_times(&scenario->workload);
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_settings *settings = &scenario->strategies[i].settings;
        enum bk_plan plan = settings->reading.plan != BK_PLAN_DEFAULT ? settings->reading.plan
                                                                      : reads->kinds[LAB_READ_LATEST].plan;
        is_plain = is_plain && settings->change_count == 0 && !settings->reading.remembers_empty &&
                   plan != BK_PLAN_LAZY;
    }
    return is_plain;
}
