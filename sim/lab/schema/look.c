/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lints a scenario before it is run: what it asks for that will not end well. */
#include "lab/look.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/partition.h"
#include "kernel/sampler.h"
#include "kernel/time.h"

/* Where a scenario names no limit in bytes: Cassandra's own warning, cassandra.yaml
 * compaction_large_partition_warning_threshold. */
#define BYTES_LIMIT_DEFAULT 104857600.0
/* Nodes that take this many times what is theirs are worth a word. */
#define OVERLOAD 1.5
/* A count of random rows stays below its mean by this many standard deviations. */
#define SIGMAS      4.0
#define YEAR_S      31536000.0
#define WALL_YEARS  10.0
#define SHOWN_SIZE  24
#define FIGURE_SIZE 64

/* What is expected of one strategy with the table. */
struct outlook {
    const struct lab_scenario *scenario;
    const struct lab_design *design;
    const struct lab_strategy *strategy;
    size_t number;
    bool has_rates;  /* not a trace's */
    bool has_key;    /* in the partition key */
    bool is_endless; /* nothing ends a partition */
    double duration_s;
    double top_share;        /* of all writes, at one time, to the busiest partition */
    double top_rate;         /* rows/s to it */
    double top_rows;         /* written to the largest partition */
    double usual_rows;       /* written to a usual one of the same key */
    double mean_rows;        /* the same of a key that writes as much as the mean of all */
    double mean_rate;        /* rows/s of that key to it */
    double distinct;         /* different primary keys that a partition can have; INFINITY: no end */
    double row_bytes, cells; /* of a row */
    double limit_rows, limit_bytes;
    struct lab_warnings *out;
    bool out_of_memory;
};

static void prepare(struct outlook *outlook, const struct lab_scenario *scenario, size_t number);
static double partition_share(const struct lab_design *design);
static double rows_in(const struct outlook *outlook, double rate, double sigmas);
static double counters_of_key(const struct outlook *outlook);
static double rows_of_increment(const struct outlook *outlook);
static double window_s(const struct bk_strategy *strategy);
static double distinct_keys(const struct lab_scenario *scenario);
static void look_unbounded(struct outlook *outlook);
static void look_uncounted(struct outlook *outlook);
static void look_sizes(struct outlook *outlook);
static void look_load(struct outlook *outlook);
static void look_wall(struct outlook *outlook);
static void look_overwritten(struct outlook *outlook);
static void look_tombstones(struct outlook *outlook);
static bool is_over(const struct outlook *outlook, double rows);
static double kept(const struct outlook *outlook, double rows);
static const char *cure_of_size(const struct outlook *outlook);
static const char *first_column(const struct outlook *outlook);
static void show_rows(const struct outlook *outlook, double rows, char *buffer);
static void show(double value, const char *unit, char *buffer);
static void warn(struct outlook *outlook, enum lab_risk risk, bool is_certain, const char *column,
                 const char *cure, const char *format, ...) __attribute__((format(printf, 6, 7)));

#define ENDLESS (1.0 / 0.0)

const char *lab_risk_name(enum lab_risk risk)
{
    static const char *const names[LAB_RISK_COUNT] = {"unbounded", "hot_spot",    "skew",      "large",
                                                      "cell_wall", "overwritten", "tombstones"};
    return (unsigned)risk < LAB_RISK_COUNT ? names[risk] : "unknown";
}

bool lab_look(const struct lab_scenario *scenario, struct lab_warnings *out)
{
    memset(out, 0, sizeof *out);
    if (scenario->identifiers.present)
        return true; /* there will be no partitions */
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        struct outlook outlook = {.out = out};
        prepare(&outlook, scenario, i);
        look_unbounded(&outlook);
        look_uncounted(&outlook);
        look_load(&outlook);
        look_sizes(&outlook);
        look_wall(&outlook);
        look_overwritten(&outlook);
        look_tombstones(&outlook);
        if (outlook.out_of_memory) {
            lab_warnings_clear(out);
            return false;
        }
    }
    return true;
}

void lab_warnings_clear(struct lab_warnings *warnings)
{
    free(warnings->items);
    memset(warnings, 0, sizeof *warnings);
}

/* What a row of mean size weighs; the mean of what rows weigh is that but for a byte. */
static double weight_of_mean(const struct lab_scenario *scenario)
{
    double mean = sim_size_mean(&scenario->workload.row_bytes);
    if (!(mean < 1e12))
        return mean;
    return (double)lab_row_bytes(&scenario->row_cost, (uint64_t)mean, LAB_STAMP_USUAL);
}

static void prepare(struct outlook *outlook, const struct lab_scenario *scenario, size_t number)
{
    const struct lab_design *design = &scenario->design;
    const struct lab_strategy *strategy = &scenario->strategies[number];
    const struct wl_workload *workload = &scenario->workload;
    enum bk_kind kind = strategy->settings.strategy.kind;
    outlook->scenario = scenario;
    outlook->design = design;
    outlook->strategy = strategy;
    outlook->number = number;
    outlook->has_rates = scenario->trace_path == NULL;
    outlook->has_key = lab_design_partitions_by(design, LAB_FEED_KEY);
    outlook->is_endless =
        kind == BK_UNBUCKETED || kind == BK_HASH || lab_design_column(design, LAB_FEED_BUCKET) == NULL;
    outlook->distinct = distinct_keys(scenario);
    outlook->row_bytes = weight_of_mean(scenario);
    outlook->cells = (double)workload->row_cells;
    outlook->limit_rows =
        scenario->limits.partition_rows == 0 ? ENDLESS : (double)scenario->limits.partition_rows;
    outlook->limit_bytes = scenario->limits.partition_bytes == 0 ? BYTES_LIMIT_DEFAULT
                                                                 : (double)scenario->limits.partition_bytes;
    double buckets = kind == BK_HASH ? (double)strategy->settings.strategy.of.hash.buckets : 1;
    double of_columns = partition_share(design) / buckets;
    outlook->top_share = of_columns;
    if (!outlook->has_rates)
        return;
    outlook->duration_s = (double)workload->duration_ns / 1e9;
    double of_key = outlook->has_key ? sim_zipf_share(&workload->popularity, 0) : 1;
    double of_mean_key = outlook->has_key ? 1 / (double)workload->key_count : 1;
    outlook->top_share = of_key * of_columns;
    outlook->top_rate = workload->rate_per_s * outlook->top_share;
    outlook->top_rows = rows_in(outlook, outlook->top_rate, SIGMAS);
    outlook->usual_rows = rows_in(outlook, outlook->top_rate, 0);
    outlook->mean_rate = workload->rate_per_s * of_mean_key * of_columns;
    outlook->mean_rows = rows_in(outlook, outlook->mean_rate, 0);
}

/* Of the rows of a key, or of all of them, those that meet in the most frequent values of the partition key's
 * columns. */
static double partition_share(const struct lab_design *design)
{
    double share = 1;
    for (size_t i = 0; i < design->partition_count; i++) {
        const struct lab_column *column = &design->columns[design->partition[i]];
        struct sim_zipf zipf;
        if (column->feed != LAB_FEED_VALUES)
            continue;
        sim_zipf_init(&zipf, column->zipf, column->values);
        share *= sim_zipf_share(&zipf, 0);
    }
    return share;
}

/* Written to a partition that gets so many a second for as long as it is written to; where chance decides, so
 * many standard deviations above the mean. */
static double rows_in(const struct outlook *outlook, double rate, double sigmas)
{
    const struct bk_strategy *strategy = &outlook->strategy->settings.strategy;
    double all = rate * outlook->duration_s, window = window_s(strategy), most = ENDLESS;
    double writers = outlook->has_key ? 1 : (double)outlook->scenario->workload.key_count;
    if (outlook->is_endless)
        return all;
    if (strategy->kind == BK_TIME)
        return window < outlook->duration_s ? rate * window : all;
    if (strategy->kind == BK_COUNT) {
        most = (double)strategy->of.count.rows * counters_of_key(outlook);
    } else if (bk_kind_fires(strategy->kind)) {
        double increments = (double)bk_threshold(strategy), root = increments;
        for (int i = 0; i < 64; i++) /* Newton, from above */
            root = (root + increments / root) / 2;
        most = rows_of_increment(outlook) * (increments + sigmas * root);
    }
    most *= writers;
    double by_age = rate * (double)strategy->max_age_ns / 1e9;
    if (strategy->max_age_ns > 0 && by_age < most)
        most = by_age;
    return most < all ? most : all;
}

/* Each of a key's writers fills a bucket by its own count. */
static double counters_of_key(const struct outlook *outlook)
{
    const struct lab_agents *agents = &outlook->scenario->agents;
    bool is_own =
        outlook->strategy->settings.source == BK_SOURCE_MEMORY && agents->present && !agents->by_key;
    return is_own ? (double)agents->count : 1;
}

static double rows_of_increment(const struct outlook *outlook)
{
    const struct bk_strategy *strategy = &outlook->strategy->settings.strategy;
    if (strategy->kind == BK_WEIGHTED)
        return (double)strategy->of.weighted.bytes / sim_size_mean(&outlook->scenario->workload.row_bytes);
    double n = (double)strategy->of.probabilistic.chance_denominator;
    return n > 0 ? n / (double)strategy->of.probabilistic.chance_numerator
                 : (double)(UINT64_C(1) << strategy->of.probabilistic.bits);
}

static double window_s(const struct bk_strategy *strategy)
{
    static const double units[] = {[BK_CALENDAR_HOUR] = 3600,
                                   [BK_CALENDAR_DAY] = 86400,
                                   [BK_CALENDAR_WEEK] = 7 * 86400.0,
                                   [BK_CALENDAR_MONTH] = 31 * 86400.0};
    if (strategy->kind != BK_TIME)
        return 0;
    return strategy->of.time.calendar == BK_CALENDAR_NONE ? (double)strategy->of.time.window_ns / 1e9
                                                          : units[strategy->of.time.calendar];
}

static double distinct_keys(const struct lab_scenario *scenario)
{
    const struct lab_design *design = &scenario->design;
    if (lab_design_is_unique(design) || lab_design_clusters_by(design, LAB_FEED_TIME))
        return ENDLESS;
    double distinct = (double)(lab_design_values(design, false) / lab_design_values(design, true));
    if (!lab_design_clusters_by(design, LAB_FEED_KEY))
        return distinct;
    return scenario->trace_path != NULL ? ENDLESS : distinct * (double)scenario->workload.key_count;
}

static void look_unbounded(struct outlook *outlook)
{
    const struct lab_column *bucket = lab_design_column(outlook->design, LAB_FEED_BUCKET);
    bool is_hash = outlook->strategy->settings.strategy.kind == BK_HASH;
    char figure[2 * FIGURE_SIZE] = "", rows[FIGURE_SIZE], reason[FIGURE_SIZE];
    if (!outlook->is_endless || outlook->distinct < ENDLESS)
        return;
    if (outlook->has_rates) {
        show_rows(outlook, outlook->top_rows, rows);
        snprintf(figure, sizeof figure, ": the largest has about %s when the run ends", rows);
    }
    if (bucket == NULL)
        snprintf(reason, sizeof reason, "nothing in the partition key moves on");
    else if (is_hash)
        snprintf(reason, sizeof reason, "one of %u values for ever",
                 outlook->strategy->settings.strategy.of.hash.buckets);
    else
        snprintf(reason, sizeof reason, "the same value for ever");
    warn(outlook, LAB_RISK_UNBOUNDED, outlook->has_rates && is_over(outlook, outlook->top_rows),
         bucket != NULL ? bucket->name : first_column(outlook), cure_of_size(outlook),
         "%s, so a partition grows without end%s", reason, figure);
}

/* The replicas of the busiest partition take its writes, and their part of the others'. */
static void look_load(struct outlook *outlook)
{
    const struct lab_cluster *cluster = &outlook->scenario->cluster;
    double fair = (double)cluster->replication_factor / (double)cluster->nodes, share = outlook->top_share;
    const struct lab_column *key = lab_design_column(outlook->design, LAB_FEED_KEY);
    char rate[SHOWN_SIZE] = "", figure[FIGURE_SIZE] = "";
    if (share + (1 - share) * fair < OVERLOAD * fair)
        return;
    if (outlook->has_rates) {
        show(outlook->top_rate, "", rate);
        snprintf(figure, sizeof figure, ", about %s rows/s", rate);
    }
    if (!outlook->has_key) {
        char cure[128];
        snprintf(cure, sizeof cure, "put '%s' into the partition key", key != NULL ? key->name : "the key");
        warn(
            outlook, LAB_RISK_HOT_SPOT, true, first_column(outlook),
            key != NULL ? cure : "add a column fed by key, and put it into the partition key",
            "the writes of all keys meet in one partition at a time: %.0f %% of them%s, go to %u of %u nodes",
            share * 100, figure, cluster->replication_factor, cluster->nodes);
    } else if (outlook->has_rates) {
        warn(outlook, LAB_RISK_SKEW, true, key->name,
             "add a column of a few values to the partition key, or use hash, so that partitions share its "
             "rows",
             "its busiest value takes %.0f %% of all writes%s, and %u of %u nodes take them", share * 100,
             figure, cluster->replication_factor, cluster->nodes);
    }
}

/* A scan counts the rows that have not expired. Where they never are enough, no bucket ends. */
static void look_uncounted(struct outlook *outlook)
{
    const struct lab_strategy *strategy = outlook->strategy;
    if (strategy->settings.strategy.kind != BK_COUNT || strategy->settings.source != BK_SOURCE_SCAN)
        return;
    double ttl_s = (double)outlook->scenario->row_ttl_ns / 1e9,
           rows = (double)strategy->settings.strategy.of.count.rows;
    char shown[SHOWN_SIZE];
    if (ttl_s <= 0 || outlook->is_endless || !outlook->has_rates || outlook->mean_rate * ttl_s >= rows)
        return;
    show(outlook->mean_rate * ttl_s, "", shown);
    warn(outlook, LAB_RISK_UNBOUNDED, outlook->top_rate * ttl_s < rows, first_column(outlook),
         "use 'counter: incremental', fewer 'rows', or a time window of at most the time to live",
         "scan does not count expired rows, and a key of average rate has %s live rows at a time: its "
         "partition never ends",
         shown);
}

static void look_sizes(struct outlook *outlook)
{
    const struct lab_column *bucket = lab_design_column(outlook->design, LAB_FEED_BUCKET);
    char most[FIGURE_SIZE], mean[FIGURE_SIZE];
    if (!outlook->has_rates || outlook->is_endless || !is_over(outlook, outlook->top_rows))
        return;
    show_rows(outlook, outlook->top_rows, most);
    show_rows(outlook, outlook->mean_rows, mean);
    if (!is_over(outlook, outlook->usual_rows))
        warn(outlook, LAB_RISK_LARGE, false, bucket->name, cure_of_size(outlook),
             "few partitions, if any, reach about %s, which is over the limit", most);
    else if (is_over(outlook, outlook->mean_rows))
        warn(outlook, LAB_RISK_LARGE, true, bucket->name, cure_of_size(outlook),
             "a partition gets about %s, which is over the limit", mean);
    else
        warn(outlook, LAB_RISK_SKEW, true, lab_design_column(outlook->design, LAB_FEED_KEY)->name,
             cure_of_size(outlook),
             "its busiest value has about %s in a partition, which is over the limit; the average has %s",
             most, mean);
}

static void look_wall(struct outlook *outlook)
{
    double wall = (double)CASS_PARTITION_CELLS_MAX, cells = kept(outlook, outlook->top_rows) * outlook->cells;
    char shown[SHOWN_SIZE];
    if (!outlook->has_rates)
        return;
    if (cells >= wall / 2) {
        show(cells, "", shown);
        warn(outlook, LAB_RISK_CELL_WALL, cells >= wall, first_column(outlook), cure_of_size(outlook),
             "the largest partition gets about %s cells, and Cassandra holds 2 billion", shown);
    } else if (outlook->is_endless && outlook->distinct == ENDLESS) {
        double years = wall / (outlook->top_rate * outlook->cells) / YEAR_S;
        if (years < WALL_YEARS)
            warn(outlook, LAB_RISK_CELL_WALL, false, first_column(outlook), cure_of_size(outlook),
                 "at this rate the largest partition has Cassandra's 2 billion cells after %.1f years",
                 years);
    }
}

static void look_overwritten(struct outlook *outlook)
{
    static const char cure[] = "add a column fed by id at the end of 'clustering'";
    const struct lab_design *design = outlook->design;
    if (lab_design_is_unique(design))
        return;
    size_t last = design->clustering_count > 0 ? design->clustering[design->clustering_count - 1]
                                               : design->partition[design->partition_count - 1];
    const char *column = design->columns[last].name;
    char keys[SHOWN_SIZE], rows[SHOWN_SIZE];
    show(outlook->distinct, "", keys);
    show(outlook->top_rows, "", rows);
    if (outlook->distinct == ENDLESS)
        warn(outlook, LAB_RISK_OVERWRITTEN, false, column, cure,
             "it makes no row unique: rows of one millisecond replace each other");
    else if (!outlook->has_rates)
        warn(outlook, LAB_RISK_OVERWRITTEN, false, column, cure,
             "it makes no row unique: a partition keeps at most %s, each replacing an earlier one", keys);
    else
        warn(outlook, LAB_RISK_OVERWRITTEN, outlook->top_rows > outlook->distinct, column, cure,
             "it makes no row unique: of about %s rows the largest partition keeps at most %s", rows, keys);
}

/* Of rows deleted, their share. Of rows that expire, those that do so while their partition still gets rows:
 * what expires as a whole is not read again. */
static void look_tombstones(struct outlook *outlook)
{
    const struct lab_scenario *scenario = outlook->scenario;
    double written_s = outlook->top_rate > 0 ? outlook->top_rows / outlook->top_rate : 0;
    double ttl_s = (double)scenario->row_ttl_ns / 1e9, share = scenario->deletes.share;
    bool expires = ttl_s > 0 && written_s > ttl_s && 1 - ttl_s / written_s > share;
    if (expires)
        share = 1 - ttl_s / written_s;
    double tombstones = share * kept(outlook, outlook->top_rows) * (expires ? outlook->cells : 1);
    char shown[SHOWN_SIZE];
    if (!outlook->has_rates || tombstones <= (double)scenario->network.tombstone_warn)
        return;
    show(tombstones, "", shown);
    warn(outlook, LAB_RISK_TOMBSTONES, tombstones > (double)scenario->network.tombstone_fail,
         first_column(outlook),
         expires ? "use a time window of at most the time to live" : cure_of_size(outlook),
         "a read of all of the largest partition meets about %s tombstones; Cassandra warns of %u and fails "
         "at "
         "%u",
         shown, scenario->network.tombstone_warn, scenario->network.tombstone_fail);
}

static bool is_over(const struct outlook *outlook, double rows)
{
    return kept(outlook, rows) > outlook->limit_rows ||
           kept(outlook, rows) * outlook->row_bytes > outlook->limit_bytes;
}

static double kept(const struct outlook *outlook, double rows)
{
    return rows < outlook->distinct ? rows : outlook->distinct;
}

static const char *cure_of_size(const struct outlook *outlook)
{
    if (lab_design_column(outlook->design, LAB_FEED_BUCKET) == NULL)
        return "feed a column by bucket, and put it into the partition key";
    switch (outlook->strategy->settings.strategy.kind) {
    case BK_UNBUCKETED:
        return "use time, count or probabilistic";
    case BK_TIME:
        return "use a shorter window, or count or probabilistic, which go by the rows";
    case BK_COUNT:
        return "give fewer 'rows'";
    case BK_PROBABILISTIC:
        return "lower 'bits' or 'threshold', or raise 'chance'";
    case BK_WEIGHTED:
        return "lower 'bytes' or 'threshold'";
    case BK_HASH:
        return "use time, count or probabilistic, or more buckets for the time being";
    default:
        return "give it a smaller bound";
    }
}

static const char *first_column(const struct outlook *outlook)
{
    const struct lab_column *bucket = lab_design_column(outlook->design, LAB_FEED_BUCKET);
    return bucket != NULL ? bucket->name : outlook->design->columns[outlook->design->partition[0]].name;
}

static void show_rows(const struct outlook *outlook, double rows, char *buffer)
{
    char count[SHOWN_SIZE], bytes[SHOWN_SIZE];
    show(kept(outlook, rows), "", count);
    show(kept(outlook, rows) * outlook->row_bytes, "B", bytes);
    snprintf(buffer, FIGURE_SIZE, "%s rows, %s", count, bytes);
}

/* Whole numbers below 10,000 as they are; else three digits and a power of 1000; 1 KB is 1000 B. */
static void show(double value, const char *unit, char *buffer)
{
    static const char *const powers[] = {"", "k", "M", "G", "T", "P", "E"};
    bool is_bytes = unit[0] != '\0';
    size_t power = 0;
    bool is_scaled = is_bytes || value >= 9999.5;
    while (is_scaled && value >= 999.5 && power < sizeof powers / sizeof *powers - 1) {
        value /= 1000;
        power++;
    }
    if (!(value < 1e6)) {
        snprintf(buffer, SHOWN_SIZE, is_bytes ? "countless bytes" : "countless");
        return;
    }
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    if (power == 0)
        digits = value < 9.95 && value != (double)(int)value;
    snprintf(buffer, SHOWN_SIZE, "%.*f%s%s", digits, value, is_bytes && power == 1 ? "K" : powers[power],
             unit);
}

/* What follows from the table alone is told once, and of no strategy. */
static void warn(struct outlook *outlook, enum lab_risk risk, bool is_certain, const char *column,
                 const char *cure, const char *format, ...)
{
    struct lab_warnings *out = outlook->out;
    bool is_hash = outlook->strategy->settings.strategy.kind == BK_HASH;
    bool is_common = (risk == LAB_RISK_HOT_SPOT && !is_hash) ||
                     (risk == LAB_RISK_OVERWRITTEN && outlook->distinct == ENDLESS);
    struct lab_warning one = {.risk = risk,
                              .is_certain = is_certain,
                              .strategy = is_common ? SIZE_MAX : outlook->number,
                              .column = column};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(one.text, sizeof one.text, format, arguments);
    va_end(arguments);
    snprintf(one.cure, sizeof one.cure, "%s", cure);
    for (size_t i = 0; is_common && i < out->count; i++) {
        if (out->items[i].risk == risk && out->items[i].strategy == SIZE_MAX)
            return;
    }
    if (out->count == out->capacity) {
        size_t capacity = out->capacity == 0 ? 8 : out->capacity * 2;
        struct lab_warning *items = realloc(out->items, capacity * sizeof *items);
        if (items == NULL) {
            outlook->out_of_memory = true;
            return;
        }
        out->items = items;
        out->capacity = capacity;
    }
    out->items[out->count++] = one;
}
