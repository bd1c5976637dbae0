/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that the sections of a scenario go together, chooses its engine, and checks what the engines require
 * of it. In: a scenario whose sections were read. Out: the engine, or an error. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/fields.h"
#include "lab/scenario.h"
#include "workload/workload.h"

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

/* What a scenario has, as bits. */
enum fact {
    AGENTS = 1 << 0,
    NO_AGENTS = 1 << 1,
    NO_ROWS = 1 << 2, /* all strategies are `observed` */
    OBSERVED = 1 << 3,
    IDENTIFIERS = 1 << 4,
    TRACE = 1 << 5,
    NO_SNOWFLAKES = 1 << 6,
    ARRIVED = 1 << 7,   /* the trace has this column */
    OWN_TIMES = 1 << 8, /* rows come late, or have rounded times */
    CHANGES = 1 << 9,   /* a strategy has `then` */
    TTL = 1 << 10,
    DELETES = 1 << 11,
    ODD_TABLE = 1 << 12, /* it overwrites rows, or its partitions are not (key, bucket) */
    DATACENTERS = 1 << 13,
    STREAM_ENGINE = 1 << 14, /* given */
    CLUSTER_ENGINE = 1 << 15,
    NO_READS = 1 << 16,
    NO_TINY = 1 << 17,
    NAMED_TIMES = 1 << 18, /* `time` says how the trace's times are written */
    NO_TTL = 1 << 19,
    LONG_TTL = 1 << 20, /* rows expire after 2038-01-19 */
};

/* What does not go together. The first rule that applies is the error. */
static const struct rule {
    const char *paths; /* fields, one of which is given and no empty list, */
    uint32_t facts;    /* in a scenario with all of these facts */
    const char *text;  /* %s: the name of the field */
} rules[] = {
    {"identifiers", OBSERVED, "'%s' make no partitions to compare 'observed' with; remove one of them"},
    {"keys arrivals trace row deletes reads table start duration engine cluster agents faults", NO_ROWS,
     "'%s' is about rows, and 'observed' places none; add a strategy that places rows, or remove this"},
    {"keys arrivals trace row deletes reads limits table", IDENTIFIERS,
     "'%s' is about rows, and a run of identifiers has none; remove it"},
    {"identifiers", NO_AGENTS, "'%s' needs agents, which are its clients; add 'agents: {count: N}'"},
    {"keys arrivals", TRACE, "'%s' conflicts with 'trace'; remove one of them"},
    {"trace.epoch", NO_SNOWFLAKES, "'%s' applies only to Snowflakes; add time: snowflake, or remove it"},
    {"trace.time_format", NAMED_TIMES, "'%s' conflicts with 'time'; remove one of them"},
    {"agents faults", STREAM_ENGINE, "'%s' needs engine: cluster; use that, or remove this"},
    {"faults", NO_AGENTS, "'%s' needs agents; add 'agents: {count: N}'"},
    {"engine", CLUSTER_ENGINE | NO_AGENTS, "'%s: cluster' needs agents; add 'agents: {count: N}'"},
    {"arrivals.early", NO_AGENTS,
     "'%s' needs agents, since it is relative to their clocks; add 'agents: {count: N}'"},
    {"trace", ARRIVED | AGENTS,
     "with agents, a trace cannot have a column 'arrived'; remove it from 'columns', or remove 'agents'"},
    {"cluster.nodes cluster.replication_factor", DATACENTERS,
     "'%s' conflicts with 'datacenters', which have their own; remove one of them"},
    {"reads.range", ARRIVED,
     "'%s' conflicts with the column 'arrived' of the trace, as it needs rows in the order of their times; "
     "remove 'arrived' from 'columns', or remove this"},
    {"reads.range", OWN_TIMES | NO_AGENTS,
     "'%s' needs agents when rows do not arrive in the order of their times; add 'agents: {count: N}', or "
     "remove this"},
    /* The stream engine computes what a reader finds only if rows expire in the order in which they arrived,
     * which is the order of a partition's rows. */
    {"reads", DELETES | NO_AGENTS,
     "'%s' with 'deletes' needs agents; add 'agents: {count: N}', or remove 'reads'"},
    {"reads", TTL | OWN_TIMES | NO_AGENTS,
     "'%s' with 'ttl' and rows that come late or have rounded times needs agents; add 'agents: {count: N}', "
     "or remove one of the three"},
    {"reads", TTL | CHANGES | NO_AGENTS,
     "'%s' with 'ttl' needs settings that stay; remove 'then' of the strategies, or 'reads'"},
    /* The mock does not store in which second a row expires, so a row that is deleted too would be removed
     * twice. */
    {"deletes", TTL | AGENTS, "'%s' conflicts with 'row.ttl' with agents; remove one of the three"},
    {"row.ttl", LONG_TTL | AGENTS,
     "rows expire after 2038-01-19T03:14:06Z, and Cassandra's default configuration refuses to insert them; "
     "shorten '%s'"},
    /* Buckets of different eras are not comparable. */
    {"table row.schema", CHANGES, "'%s' conflicts with 'then' of a strategy; remove one of them"},
    {"table.partition_key row.schema", ODD_TABLE | AGENTS,
     "with agents partitions are (key, bucket) and no row replaces another; use these two columns here and "
     "an id in 'clustering', or remove 'agents'"},
    {"deletes row.ttl", ODD_TABLE,
     "'%s' is for rows that are never overwritten, and this table overwrites or partitions them "
     "differently; use (key, bucket) and an id in 'table', or remove this"},
    {"reads", ODD_TABLE,
     "'%s' query the newest rows of a key, which this table overwrites or partitions differently; use "
     "(key, bucket) and an id in 'table', or remove 'reads'"},
    {"row.compaction", NO_TTL, "'%s' is about windows in which rows expire; add 'row.ttl', or remove this"},
    {"tune.tiny", NO_TINY, "'%s' needs tiny_rows; add it under 'limits', or remove this"},
    {"tune.partitions_per_read", NO_READS, "'%s' needs reads; add 'reads', or remove this"},
};

static bool changes_settings(const struct lab_scenario *scenario)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (scenario->strategies[i].settings.change_count > 0)
            return true;
    }
    return false;
}

static uint32_t facts_of(const struct lab_scenario *scenario, const struct lab_node *root)
{
    bool places = scenario->strategy_count > 0, has_agents = lab_node_find(root, "agents") != NULL;
    bool has_trace = lab_node_find(root, "trace") != NULL;
    bool is_stream = scenario->engine == LAB_ENGINE_EXACT || scenario->engine == LAB_ENGINE_THINNED;
    bool is_long = scenario->row_ttl_ns > 0 &&
                   (scenario->workload.start_ns + scenario->workload.duration_ns) / SIM_SECOND >
                       CASS_EXPIRES_MAX_S - scenario->row_ttl_ns / SIM_SECOND;
    bool is_odd = scenario->design.is_given && !lab_design_is_plain(&scenario->design);
    return (has_agents ? AGENTS : NO_AGENTS) | (places ? 0 : NO_ROWS) |
           (scenario->observed_count > 0 ? OBSERVED : 0) |
           (lab_node_find(root, "identifiers") != NULL ? IDENTIFIERS : 0) | (has_trace ? TRACE : 0) |
           (scenario->trace_format.time != WL_TIME_SNOWFLAKE ? NO_SNOWFLAKES : 0) |
           (scenario->trace_format.time != WL_TIME_AUTO ? NAMED_TIMES : 0) |
           (scenario->workload.is_late_trace ? ARRIVED : 0) |
           (wl_has_own_times(&scenario->workload) ? OWN_TIMES : 0) |
           (changes_settings(scenario) ? CHANGES : 0) | (scenario->row_ttl_ns > 0 ? TTL : NO_TTL) |
           (is_long ? LONG_TTL : 0) | (scenario->deletes.share > 0 ? DELETES : 0) | (is_odd ? ODD_TABLE : 0) |
           (lab_node_at(root, "cluster.datacenters") != NULL ? DATACENTERS : 0) |
           (is_stream ? STREAM_ENGINE : 0) | (scenario->engine == LAB_ENGINE_CLUSTER ? CLUSTER_ENGINE : 0) |
           (places && lab_node_find(root, "reads") == NULL ? NO_READS : 0) |
           (places && scenario->limits.tiny_rows == 0 ? NO_TINY : 0);
}

bool lab_sections_check(struct lab_reader *reader, const struct lab_node *root)
{
    const uint32_t facts = facts_of(reader->scenario, root);
    char path[64];
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if ((rules[i].facts & ~facts) != 0)
            continue;
        for (const char *paths = rules[i].paths; *paths != '\0'; paths += strspn(paths, " ")) {
            size_t size = strcspn(paths, " ");
            snprintf(path, sizeof path, "%.*s", (int)size, paths);
            const struct lab_node *node = lab_node_at(root, path);
            if (node != NULL && (node->kind != LAB_NODE_LIST || node->count > 0))
                return lab_fail_at(&reader->tree, &node->name_place, rules[i].text, node->name);
            paths += size;
        }
    }
    return true;
}

bool lab_thin_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    scenario->reads.are_expected = lab_reads_can_be_expected(scenario);
    const char *refusal = lab_thin_refusal(scenario);
    if (scenario->engine == LAB_ENGINE_THINNED && refusal != NULL) {
        return lab_fail_value(reader, lab_node_find(root, "engine"),
                              "cannot run this exactly: %s; use exact or auto", refusal);
    }
    double rows = scenario->workload.rate_per_s * 1e-9 * (double)scenario->workload.duration_ns;
    if (scenario->engine == LAB_ENGINE_AUTO && refusal == NULL && rows >= LAB_THINNED_ROWS &&
        lab_thin_is_faster(scenario, rows) && !expects_peaks(scenario))
        scenario->engine = LAB_ENGINE_THINNED;
    return true;
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
    for (size_t i = 0; i < scenario->strategy_count; i++, item = lab_placing(item->next)) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        const struct lab_node *settings = lab_node_find(item, bk_kind_name(strategy->settings.strategy.kind));
        if (!is_cluster && strategy->settings.coordination != BK_SINGLE)
            return fail_needs_agents(reader, lab_node_find(settings, "coordination"));
        if (!is_cluster && strategy->settings.counter != BK_COUNTER_RMW)
            return fail_needs_agents(reader, lab_node_find(settings, "counter"));
        if (!is_cluster && strategy->settings.every_ns != 0)
            return fail_needs_agents(reader, lab_node_find(settings, "every_time"));
        if (!is_cluster && lab_rows_go(scenario) &&
            (strategy->settings.source == BK_SOURCE_SCAN ||
             strategy->settings.source == BK_SOURCE_INCREMENTAL))
            return lab_fail_value(reader, lab_node_find(settings, "counter"),
                                  "it counts stored rows, and only agents see which rows expired or were "
                                  "deleted before a count; add 'agents: {count: N}', or use memory");
        if (is_cluster && strategy->settings.strategy.max_age_ns != 0 &&
            strategy->settings.strategy.kind == BK_KIND_COUNT)
            return lab_fail_value(
                reader, lab_node_find(settings, "max_age"),
                "'count' with agents does not store when a bucket began; use 'probabilistic', or 'time'");
        if (is_cluster && strategy->settings.strategy.shards > 1)
            return lab_fail_value(reader, lab_node_find(settings, "shards"),
                                  "with agents only windows of 'time' have shards; remove it, or 'agents'");
        if (is_cluster && strategy->settings.strategy.kind == BK_KIND_HASH &&
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
    if ((level == CASS_TWO && replicas < 2) || (level == CASS_THREE && replicas < 3))
        return lab_fail_value(reader, node, "there %s %u replica%s; raise replication_factor, or use ONE",
                              replicas == 1 ? "is" : "are", replicas, replicas == 1 ? "" : "s");
    if (level != CASS_LOCAL_ONE && level != CASS_LOCAL_QUORUM && level != CASS_LOCAL_SERIAL)
        return true;
    for (uint32_t i = 0; i < network->datacenter_count && i < scenario->agents.count; i++) {
        const struct cass_datacenter *datacenter = &network->datacenters[i];
        if (datacenter->replication_factor > 0)
            continue;
        const char *instead = level == CASS_LOCAL_SERIAL ? "SERIAL"
                              : level == CASS_LOCAL_ONE  ? "ONE"
                                                         : "QUORUM";
        const struct lab_node *named = lab_node_find(lab_node_find(cluster, "datacenters"), datacenter->name);
        return lab_fail_value(reader, node != NULL ? node : lab_node_find(named, "replication_factor"),
                              "agents are in '%s', where %s: %s finds no replica; raise its "
                              "replication_factor, or set %s: %s under 'consistency'",
                              datacenter->name, name, cass_consistency_name(level), name, instead);
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
    if (reader->scenario->agents.present)
        reader->scenario->engine = LAB_ENGINE_CLUSTER;
    return check_strategies(reader, root) &&
           (reader->scenario->engine != LAB_ENGINE_CLUSTER || check_cluster(reader, root));
}

/* Each key in progress has a cell per bucket. */
#define HASH_BUCKETS_MAX (UINT32_C(1) << 20)
/* If rows arrive late, or windows have shards, each key in progress keeps all of its windows. */
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
    const struct bk_strategy *core = &strategy->settings.strategy;
    const struct bk_row row = {.time_ns = workload->start_ns};
    const int64_t shards = lab_shards(core);
    struct bk_placement route;
    if ((!wl_has_own_times(workload) && shards == 1) || scenario->trace_path != NULL ||
        bk_route(core, NULL, &row, &route) != BK_OK)
        return true; /* a key of a trace has at most one window per line */
    const int64_t window_ns = route.until_ns - route.from_ns;
    int64_t windows = (workload->duration_ns / window_ns + wl_late_most_ns(workload) / window_ns) * shards;
    /* A key has at most one window per row, and at most twice the mean number of rows, with bursts and
     * spikes. */
    double rows = workload->rate_per_s * (double)workload->duration_ns +
                  workload->backfill_rate_per_s * (double)workload->backfill_before_ns;
    rows *= 2e-9 * sim_zipf_share(&workload->popularity, 0);
    if (windows <= WINDOWS_MAX || rows <= (double)WINDOWS_MAX)
        return true;
    return sim_fail(
        error, SIM_ERROR_INPUT,
        "%s:%d:%d: with late rows or shards the lab keeps every window of a key, here up to %" PRId64
        " partitions; use a longer window, or leave out shards, late, resolution and backfill",
        scenario->path, strategy->line, strategy->column, windows);
}

bool lab_check_walks(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                     struct sim_error *error)
{
    int64_t birth_ns = start_ns - wl_late_most_ns(&scenario->workload);
    for (size_t i = 0; scenario->reads.present && i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        struct lab_regimes regimes;
        if (strategy->settings.strategy.kind == BK_KIND_TIME &&
            lab_regimes_make(strategy, start_ns, &regimes) && !can_walk(&regimes, birth_ns, end_ns))
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
        if (strategy->settings.strategy.kind == BK_KIND_HASH &&
            strategy->settings.strategy.of.hash.buckets > HASH_BUCKETS_MAX)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: %u hash buckets are more than a run can hold; use at most %u",
                            scenario->path, strategy->line, strategy->column,
                            strategy->settings.strategy.of.hash.buckets, HASH_BUCKETS_MAX);
        if (strategy->settings.strategy.kind == BK_KIND_TIME && !check_windows(scenario, strategy, error))
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
    if (scenario->workload.every_ns > 0)
        return "rows are equally far apart";
    const struct sim_size *size = &scenario->workload.row_bytes;
    if ((size->kind == SIM_SIZE_LOGNORMAL || size->kind == SIM_SIZE_PARETO) &&
        scenario->workload.sizes == NULL)
        return "row.bytes are too widely distributed";
    if (wl_has_own_times(&scenario->workload))
        return "rows are late, or have their own times";
    if (scenario->deletes.share > 0)
        return "rows are deleted one by one";
    if (scenario->design.is_given &&
        (!lab_design_is_plain(&scenario->design) || lab_design_clusters_by(&scenario->design, LAB_FEED_KEY)))
        return "the table's partitions need each row's columns";
    if (scenario->reads.kinds[LAB_READ_RANGE].rate_per_s > 0 && !lab_reads_can_be_expected(scenario))
        return "reads of a range need the time of each row";
    if (scenario->reads.present && scenario->row_ttl_ns > 0)
        return "reads of rows that expire need the time of each row";
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct bk_strategy *strategy = &scenario->strategies[i].settings.strategy;
        if (strategy->kind == BK_KIND_WEIGHTED && size->kind != SIM_SIZE_CONSTANT)
            return "weighted needs the bytes of each row";
        if (lab_shards(strategy) > 1)
            return "shards need each row's id";
    }
    return changes_settings(scenario) ? "a strategy's settings change" : NULL;
}

size_t lab_thin_intervals(const struct lab_scenario *scenario)
{
    const struct wl_workload *workload = &scenario->workload;
    const bool has_many = workload->has_daily || workload->has_bursts || wl_has_days(workload);
    return has_many && scenario->reads.kinds[LAB_READ_RANGE].rate_per_s <= 0 ? WL_PACE_PIECES : 1;
}

/* Measured: the mean number of rows in a segment at which `time` and `probabilistic` take as long; and where
 * a stretch of rows has many segments. */
#define THINNED_SEGMENT_ROWS  32
#define THINNED_INTERVAL_ROWS 8

bool lab_thin_is_faster(const struct lab_scenario *scenario, double rows)
{
    const double least = lab_thin_intervals(scenario) > 1 ? THINNED_INTERVAL_ROWS : THINNED_SEGMENT_ROWS;
    return rows >= least * wl_segments(&scenario->workload);
}

/* Measured: nanoseconds of a row that is drawn, also under one more strategy, of one whose id is hashed, of a
 * partition, an increment, and a read that is drawn. */
#define ROW_NS       4.0
#define HASHED_NS    11.0
#define PARTITION_NS 200.0
#define INCREMENT_NS 20.0
#define READ_NS      200.0

static double strategy_ns(const struct lab_scenario *scenario, const struct bk_strategy *strategy,
                          double rows)
{
    const struct wl_workload *workload = &scenario->workload;
    const struct bk_row row = {.time_ns = workload->start_ns};
    struct bk_placement route;
    if (strategy->kind == BK_KIND_HASH)
        return scenario->engine == LAB_ENGINE_THINNED ? 0 : rows * HASHED_NS;
    if (strategy->kind == BK_KIND_COUNT)
        return rows / (double)strategy->of.count.rows * PARTITION_NS;
    if (strategy->kind == BK_KIND_PROBABILISTIC && strategy->of.probabilistic.chance_denominator == 0)
        return rows / (double)(UINT64_C(1) << strategy->of.probabilistic.bits) * INCREMENT_NS;
    if (strategy->kind == BK_KIND_WEIGHTED)
        return rows * fmin(1, sim_size_mean(&workload->row_bytes) / (double)strategy->of.weighted.bytes) *
               INCREMENT_NS;
    if (strategy->kind != BK_KIND_TIME || bk_route(strategy, NULL, &row, &route) != BK_OK)
        return 0;
    const double windows = (double)workload->duration_ns / ((double)route.until_ns - (double)route.from_ns);
    return fmin(windows * (double)workload->key_count, rows) * PARTITION_NS;
}

void lab_slow_part(const struct lab_scenario *scenario, struct lab_slow_part *out)
{
    static const char *const parts[BK_KINDS] = {[BK_KIND_COUNT] = "partitions",
                                                [BK_KIND_PROBABILISTIC] = "increments",
                                                [BK_KIND_WEIGHTED] = "increments",
                                                [BK_KIND_TIME] = "windows",
                                                [BK_KIND_HASH] = "hashed ids"};
    static const char *const advice[BK_KINDS] = {
        [BK_KIND_COUNT] = "a higher number of rows makes fewer and larger ones",
        [BK_KIND_PROBABILISTIC] = "more bits make fewer, and partitions that vary more",
        [BK_KIND_WEIGHTED] = "a larger unit makes fewer, and partitions that vary more",
        [BK_KIND_TIME] = "longer windows are fewer and larger",
        [BK_KIND_HASH] = "a shorter duration has fewer, and smaller partitions of this strategy"};
    const double seconds = (double)scenario->workload.duration_ns * 1e-9,
                 rows = scenario->workload.rate_per_s * seconds;
    double most = scenario->engine == LAB_ENGINE_THINNED ? 0 : ROW_NS * rows, reads = 0;
    *out = (struct lab_slow_part){"", "a shorter duration has fewer, and fewer partitions of the same sizes"};
    if (scenario->trace_path != NULL || scenario->engine == LAB_ENGINE_CLUSTER)
        return;
    if (most > 0)
        snprintf(out->name, sizeof out->name, "rows");
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct bk_strategy *strategy = &scenario->strategies[i].settings.strategy;
        const double ns = strategy_ns(scenario, strategy, rows);
        if (ns <= most)
            continue;
        most = ns;
        snprintf(out->name, sizeof out->name, "%s of %.60s", parts[strategy->kind],
                 scenario->strategies[i].label);
        out->advice = advice[strategy->kind];
    }
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        reads +=
            scenario->reads.kinds[kind].rate_per_s * seconds * READ_NS * (double)scenario->strategy_count;
    if (!scenario->reads.are_expected && reads > most)
        *out = (struct lab_slow_part){"reads", "with a lower rate of reads, their figures vary more"};
}

/* Whether what these reads query follows from a key's partitions, without its rows. */
static bool can_be_expected(const struct lab_read *read, enum lab_read_kind kind,
                            const struct lab_settings *settings)
{
    const enum bk_plan plan = settings->reading.plan != BK_PLAN_DEFAULT ? settings->reading.plan : read->plan;
    if (settings->strategy.kind == BK_KIND_HASH)
        return plan != BK_PLAN_LAZY;
    return kind != LAB_READ_RANGE || settings->strategy.kind == BK_KIND_TIME ||
           (plan != BK_PLAN_PAIR && plan != BK_PLAN_PARALLEL);
}

bool lab_reads_can_be_expected(const struct lab_scenario *scenario)
{
    const struct lab_reads *reads = &scenario->reads;
    bool is_plain = scenario->engine != LAB_ENGINE_CLUSTER && reads->present && reads->limit == 0 &&
                    scenario->row_ttl_ns == 0 && !wl_has_own_times(&scenario->workload);
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_settings *settings = &scenario->strategies[i].settings;
        is_plain = is_plain && settings->change_count == 0 && !settings->reading.remembers_empty &&
                   lab_shards(&settings->strategy) == 1;
        for (int kind = 0; kind < LAB_READ_KINDS; kind++)
            is_plain = is_plain && (reads->kinds[kind].rate_per_s <= 0 ||
                                    can_be_expected(&reads->kinds[kind], (enum lab_read_kind)kind, settings));
    }
    return is_plain;
}
