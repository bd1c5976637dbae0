/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lints a scenario before it is run: estimates sizes and rates, and warns of problems. */
#include "lab/schema.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/partition.h"
#include "kernel/grow.h"
#include "kernel/number.h"
#include "kernel/sampler.h"
#include "kernel/time.h"

/* The default when a scenario has no limit in bytes: Cassandra's own warning, cassandra.yaml
 * compaction_large_partition_warning_threshold. */
#define BYTES_LIMIT_DEFAULT 104857600.0
/* A node with this many times its fair share of writes is reported. */
#define OVERLOAD 1.5
/* A random number of rows is assumed to be within this many standard deviations of its mean. */
#define SIGMAS 4.0
/* The most keys among which one is sought that a spike strikes. */
#define KEYS_SEARCHED 1000000u
/* Segments of keys for one estimate, which take some milliseconds. */
#define SEGMENTS_EXAMINED 2e5
/* Rows/s of one partition, below which its nodes are not hot whatever its share is. */
#define HOT_RATE 100.0
/* A largest partition with this many times the rows of a typical one is named too. */
#define UNEVEN 1.5
#define YEAR_S 31536000.0
/* Windows of TimeWindowCompactionStrategy in a time to live; 20 to 30 are recommended. */
#define WINDOWS_MOST 50.0
/* A partition in more sstables than this is named. */
#define SSTABLES_MOST 8.0
#define WALL_YEARS    10.0
#define SHOWN_SIZE    24
#define FIGURE_SIZE   64

/* Estimates for one strategy with the table. */
struct lint {
    const struct lab_scenario *scenario;
    const struct lab_design *design;
    const struct lab_strategy *strategy;
    size_t number;
    bool has_rates;  /* rates are known: not a trace */
    bool has_key;    /* the key is in the partition key */
    bool is_endless; /* partitions have no end */
    double duration_s;
    double top_share;  /* share of all writes at a time that go to the busiest partition */
    double top_rate;   /* rows/s of the busiest partition, on average */
    double top_rows;   /* rows written to the largest partition: with bursts, spikes, at the daily peak */
    double usual_rows; /* rows written to a typical partition of the busiest key */
    double mean_rows;  /* rows written to a typical partition of a key with the mean rate */
    double mean_rate;  /* rows/s of a typical partition of a key with the mean rate */
    double distinct;   /* distinct primary keys that a partition can have; INFINITY: unlimited */
    double row_bytes, cells; /* of a row */
    double limit_rows, limit_bytes;
    struct lab_warnings *out;
    bool out_of_memory;
};

#define ENDLESS ((double)INFINITY)

const char *lab_risk_name(enum lab_risk risk)
{
    static const char *const names[LAB_RISK_COUNT] = {"unbounded",  "hot_spot",  "skew",
                                                      "large",      "cell_wall", "overwritten",
                                                      "tombstones", "expiry",    "windows"};
    return (unsigned)risk < LAB_RISK_COUNT ? names[risk] : "unknown";
}

/* The size of a row with the mean payload, which differs from the mean size of rows by less than a byte. */
static double weight_of_mean(const struct lab_scenario *scenario)
{
    double mean = sim_size_mean(&scenario->workload.row_bytes);
    if (!(mean < 1e12))
        return mean;
    return (double)lab_row_bytes(&scenario->row_cost, (uint64_t)mean, LAB_STAMP_USUAL);
}

/* The share of the rows (of a key, or of all keys) that have the most frequent values of the partition key's
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

/* Each writer of a key fills a bucket by its local count. */
static double counters_of_key(const struct lint *lint)
{
    const struct lab_agents *agents = &lint->scenario->agents;
    bool is_own = lint->strategy->settings.source == BK_SOURCE_MEMORY && agents->present && !agents->by_key;
    return is_own ? (double)agents->count : 1;
}

static double rows_of_increment(const struct lint *lint)
{
    const struct bk_strategy *strategy = &lint->strategy->settings.strategy;
    if (strategy->kind == BK_KIND_WEIGHTED)
        return (double)strategy->of.weighted.bytes / sim_size_mean(&lint->scenario->workload.row_bytes);
    return 1 / lab_chance(strategy);
}

static double window_s(const struct bk_strategy *strategy)
{
    static const double units[] = {[BK_CALENDAR_HOUR] = 3600,
                                   [BK_CALENDAR_DAY] = 86400,
                                   [BK_CALENDAR_WEEK] = 7 * 86400.0,
                                   [BK_CALENDAR_MONTH] = 31 * 86400.0};
    if (strategy->kind != BK_KIND_TIME)
        return 0;
    return strategy->of.time.calendar == BK_CALENDAR_NONE ? (double)strategy->of.time.window_ns / 1e9
                                                          : units[strategy->of.time.calendar];
}

/* The expected rows of a key: `all` in the run, `most` in a window of time. */
struct load {
    double all, most, now;
    int64_t until_ns; /* the end of the current window, which has `now` rows so far */
};

/* The end of the window of this time; a greatest age has its lines at multiples since 1970. */
static int64_t window_end(const struct bk_strategy *strategy, int64_t time_ns)
{
    const struct bk_row row = {.time_ns = time_ns};
    struct bk_placement route;
    if (strategy->kind == BK_KIND_TIME && bk_route(strategy, NULL, &row, &route) == BK_OK)
        return route.until_ns;
    const int64_t age_ns = strategy->max_age_ns;
    return age_ns == 0 || time_ns > INT64_MAX - age_ns ? INT64_MAX : time_ns - time_ns % age_ns + age_ns;
}

/* Of many windows within the stretch, which has a constant rate, one is like the other. */
static void add_stretch(struct load *load, const struct bk_strategy *strategy,
                        const struct wl_stretch *stretch)
{
    int64_t from_ns = stretch->begin_ns;
    load->all += stretch->rate_per_ns * (double)(stretch->end_ns - from_ns);
    while (from_ns < stretch->end_ns) {
        if (from_ns >= load->until_ns) {
            load->now = 0;
            load->until_ns = window_end(strategy, from_ns);
        }
        const int64_t end_ns = stretch->end_ns < load->until_ns ? stretch->end_ns : load->until_ns;
        const int64_t length_ns = end_ns - from_ns;
        load->now += stretch->rate_per_ns * (double)length_ns;
        load->most = load->now > load->most ? load->now : load->most;
        from_ns = end_ns;
        if ((stretch->end_ns - from_ns) / length_ns > 2) {
            load->now = 0;
            load->until_ns = window_end(strategy, from_ns);
            const int64_t window_ns = load->until_ns - from_ns;
            const int64_t skipped = (stretch->end_ns - from_ns) / window_ns - 1;
            load->most = skipped > 0 && stretch->rate_per_ns * (double)window_ns > load->most
                             ? stretch->rate_per_ns * (double)window_ns
                             : load->most;
            from_ns += skipped > 0 ? skipped * window_ns : 0;
        }
    }
}

static struct load load_of(const struct wl_workload *workload, const struct bk_strategy *strategy,
                           uint64_t key_index)
{
    struct load load = {.until_ns = INT64_MIN};
    struct wl_key key;
    struct wl_stretch stretch = {workload->start_ns, workload->start_ns, 0};
    wl_key_init(&key, workload, key_index);
    while (wl_key_stretch(&key, &stretch))
        add_stretch(&load, strategy, &stretch);
    return load;
}

/* The most popular key that the spike strikes, or key_count. */
static uint64_t struck(const struct wl_workload *workload, size_t spike)
{
    uint64_t key = 0;
    while (key < workload->key_count && key < KEYS_SEARCHED && !wl_spike_strikes(workload, spike, key))
        key++;
    return key < KEYS_SEARCHED ? key : workload->key_count;
}

static void take_most(struct load *top, const struct load *load)
{
    top->all = load->all > top->all ? load->all : top->all;
    top->most = load->most > top->most ? load->most : top->most;
}

/* The load of the busiest key, or of the most popular one that a spike strikes. With bursts, which each key
 * has at other times, some of the most popular keys are examined. */
static struct load top_load(const struct wl_workload *workload, const struct bk_strategy *strategy)
{
    struct load top = load_of(workload, strategy, 0);
    const double each = wl_segments(workload) / (double)workload->key_count;
    for (uint64_t key = 1; workload->has_bursts && key < workload->key_count; key++) {
        if ((double)key * each > SEGMENTS_EXAMINED)
            break;
        const struct load load = load_of(workload, strategy, key);
        take_most(&top, &load);
    }
    for (size_t i = 0; i < workload->spike_count; i++) {
        const uint64_t key = struck(workload, i);
        const struct load load =
            key < workload->key_count ? load_of(workload, strategy, key) : (struct load){0};
        take_most(&top, &load);
    }
    return top;
}

/* The load of all keys together: their bursts make up for each other, and a spike strikes a share of them. */
static struct load whole_load(const struct wl_workload *workload, const struct bk_strategy *strategy)
{
    struct wl_workload whole = *workload;
    whole.key_count = 1;
    whole.has_bursts = false;
    sim_zipf_init(&whole.popularity, 0, 1);
    whole.spikes = calloc(workload->spike_count + 1, sizeof *whole.spikes);
    whole.spike_count = whole.spikes == NULL ? 0 : workload->spike_count;
    for (size_t i = 0; i < whole.spike_count; i++) {
        struct wl_spike *spike = &whole.spikes[i];
        *spike = workload->spikes[i];
        const double share = spike->keys_count > 0 ? (double)spike->keys_count / (double)workload->key_count
                                                   : spike->keys_share;
        spike->factor = 1 + share * (spike->factor - 1);
        spike->keys_share = 1;
        spike->keys_count = 0;
    }
    const struct load load = load_of(&whole, strategy, 0);
    free(whole.spikes);
    return load;
}

/* The rows of a partition to which `all` rows are written, or in_window in the time in which it is written
 * to; if its size is random, this many standard deviations above the mean. */
static double rows_in(const struct lint *lint, double all, double in_window, double sigmas)
{
    const struct bk_strategy *strategy = &lint->strategy->settings.strategy;
    double most = ENDLESS, writers = lint->has_key ? 1 : (double)lint->scenario->workload.key_count;
    if (lint->is_endless)
        return all;
    if (strategy->kind == BK_KIND_COUNT) {
        most = (double)strategy->of.count.rows * counters_of_key(lint);
    } else if (bk_kind_fires(strategy->kind)) {
        double increments = (double)bk_threshold(strategy);
        most = rows_of_increment(lint) * (increments + sigmas * sqrt(increments));
    }
    most *= writers / (double)lab_shards(strategy);
    most = in_window < most ? in_window : most;
    return most < all ? most : all;
}

/* The same at a constant rate. */
static double usual_rows_in(const struct lint *lint, double rate)
{
    const struct bk_strategy *strategy = &lint->strategy->settings.strategy;
    const double window =
        strategy->kind == BK_KIND_TIME ? window_s(strategy) : (double)strategy->max_age_ns / 1e9;
    return rows_in(lint, rate * lint->duration_s, window > 0 ? rate * window : ENDLESS, 0);
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

static void prepare(struct lint *lint, const struct lab_scenario *scenario, size_t number)
{
    const struct lab_design *design = &scenario->design;
    const struct lab_strategy *strategy = &scenario->strategies[number];
    const struct wl_workload *workload = &scenario->workload;
    enum bk_kind kind = strategy->settings.strategy.kind;
    lint->scenario = scenario;
    lint->design = design;
    lint->strategy = strategy;
    lint->number = number;
    lint->has_rates = scenario->trace_path == NULL;
    lint->has_key = lab_design_partitions_by(design, LAB_FEED_KEY);
    lint->is_endless = !lab_kind_ends(kind) || lab_design_column(design, LAB_FEED_BUCKET) == NULL;
    lint->distinct = distinct_keys(scenario);
    lint->row_bytes = weight_of_mean(scenario);
    lint->cells = (double)workload->row_cells;
    lint->limit_rows =
        scenario->limits.partition_rows == 0 ? ENDLESS : (double)scenario->limits.partition_rows;
    lint->limit_bytes = scenario->limits.partition_bytes == 0 ? BYTES_LIMIT_DEFAULT
                                                              : (double)scenario->limits.partition_bytes;
    double buckets = kind == BK_KIND_HASH ? (double)strategy->settings.strategy.of.hash.buckets
                                          : (double)lab_shards(&strategy->settings.strategy);
    double of_columns = partition_share(design) / buckets;
    lint->top_share = of_columns;
    if (!lint->has_rates)
        return;
    lint->duration_s = (double)workload->duration_ns / 1e9;
    double of_key = lint->has_key ? sim_zipf_share(&workload->popularity, 0) : 1;
    double of_mean_key = lint->has_key ? 1 / (double)workload->key_count : 1;
    lint->top_share = of_key * of_columns;
    lint->top_rate = workload->rate_per_s * lint->top_share;
    lint->usual_rows = usual_rows_in(lint, lint->top_rate);
    const struct bk_strategy *core = &strategy->settings.strategy;
    const struct load load = lint->has_key ? top_load(workload, core) : whole_load(workload, core);
    lint->top_rows = rows_in(lint, load.all * of_columns, load.most * of_columns, SIGMAS);
    lint->mean_rate = workload->rate_per_s * of_mean_key * of_columns;
    lint->mean_rows = usual_rows_in(lint, lint->mean_rate);
}

static double kept(const struct lint *lint, double rows)
{
    return rows < lint->distinct ? rows : lint->distinct;
}

static bool is_over(const struct lint *lint, double rows)
{
    return kept(lint, rows) > lint->limit_rows || kept(lint, rows) * lint->row_bytes > lint->limit_bytes;
}

static const char *cure_of_size(const struct lint *lint)
{
    if (lab_design_column(lint->design, LAB_FEED_BUCKET) == NULL)
        return "feed a column by bucket, and put it into the partition key";
    switch (lint->strategy->settings.strategy.kind) {
    case BK_KIND_UNBUCKETED:
        return "use time, count or probabilistic";
    case BK_KIND_TIME:
        return "use a shorter window, or count or probabilistic, which count rows";
    case BK_KIND_COUNT:
        return "give fewer 'rows'";
    case BK_KIND_PROBABILISTIC:
        return "lower 'bits' or 'threshold', or raise 'chance'";
    case BK_KIND_WEIGHTED:
        return "lower 'bytes' or 'threshold'";
    case BK_KIND_HASH:
        return "use time, count or probabilistic, or more buckets for the time being";
    default:
        return "give it a smaller bound";
    }
}

static const char *first_column(const struct lint *lint)
{
    const struct lab_column *bucket = lab_design_column(lint->design, LAB_FEED_BUCKET);
    return bucket != NULL ? bucket->name : lint->design->columns[lint->design->partition[0]].name;
}

/* Formats whole numbers below 10,000 unchanged, and others with three digits and a power of 1000; 1 KB is
 * 1000 B. */
static void show(double value, const char *unit, char *buffer)
{
    static const char *const powers[] = {"", "k", "M", "G", "T", "P", "E"};
    bool is_bytes = unit[0] != '\0';
    bool is_scaled = is_bytes || value >= 9999.5;
    unsigned power = is_scaled ? sim_shorten(&value, sizeof powers / sizeof *powers - 1) : 0;
    if (!(value < 1e6)) {
        snprintf(buffer, SHOWN_SIZE, is_bytes ? "countless bytes" : "countless");
        return;
    }
    int digits = sim_shortened_decimals(value);
    if (power == 0)
        digits = value < 9.95 && value != (double)(int)value;
    snprintf(buffer, SHOWN_SIZE, "%.*f%s%s", digits, value, is_bytes && power == 1 ? "K" : powers[power],
             unit);
}

static void show_rows(const struct lint *lint, double rows, char *buffer)
{
    char count[SHOWN_SIZE], bytes[SHOWN_SIZE];
    show(kept(lint, rows), "", count);
    show(kept(lint, rows) * lint->row_bytes, "B", bytes);
    snprintf(buffer, FIGURE_SIZE, "%s rows, %s", count, bytes);
}

/* A warning that follows from the table alone is given once, without a strategy. */
static __attribute__((format(printf, 6, 7))) void warn(struct lint *lint, enum lab_risk risk, bool is_certain,
                                                       const char *column, const char *cure,
                                                       const char *format, ...)
{
    struct lab_warnings *out = lint->out;
    bool is_hash = lint->strategy->settings.strategy.kind == BK_KIND_HASH;
    bool is_common = (risk == LAB_RISK_HOT_SPOT && !is_hash) || risk == LAB_RISK_EXPIRY ||
                     (risk == LAB_RISK_WINDOWS && is_certain) ||
                     (risk == LAB_RISK_OVERWRITTEN && lint->distinct == ENDLESS);
    struct lab_warning one = {.risk = risk,
                              .is_certain = is_certain,
                              .strategy = is_common ? SIZE_MAX : lint->number,
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
    if (!sim_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items)) {
        lint->out_of_memory = true;
        return;
    }
    out->items[out->count++] = one;
}

static void lint_unbounded(struct lint *lint)
{
    const struct lab_column *bucket = lab_design_column(lint->design, LAB_FEED_BUCKET);
    bool is_hash = lint->strategy->settings.strategy.kind == BK_KIND_HASH;
    char figure[2 * FIGURE_SIZE] = "", rows[FIGURE_SIZE], reason[FIGURE_SIZE];
    if (!lint->is_endless || lint->distinct < ENDLESS)
        return;
    if (lint->has_rates) {
        show_rows(lint, lint->top_rows, rows);
        snprintf(figure, sizeof figure, ": the largest has about %s when the run ends", rows);
    }
    if (bucket == NULL)
        snprintf(reason, sizeof reason, "no column of the partition key changes over time");
    else if (is_hash)
        snprintf(reason, sizeof reason, "one of %u constant values",
                 lint->strategy->settings.strategy.of.hash.buckets);
    else
        snprintf(reason, sizeof reason, "always the same value");
    warn(lint, LAB_RISK_UNBOUNDED, lint->has_rates && is_over(lint, lint->top_rows),
         bucket != NULL ? bucket->name : first_column(lint), cure_of_size(lint),
         "%s, so a partition grows without end%s", reason, figure);
}

/* The replicas of the busiest partition get its writes, and their share of all other writes. */
static void lint_load(struct lint *lint)
{
    const struct lab_cluster *cluster = &lint->scenario->cluster;
    double fair = (double)cluster->replication_factor / (double)cluster->nodes, share = lint->top_share;
    const struct lab_column *key = lab_design_column(lint->design, LAB_FEED_KEY);
    char rate[SHOWN_SIZE] = "", figure[FIGURE_SIZE] = "";
    if (share + (1 - share) * fair < OVERLOAD * fair)
        return;
    if (lint->has_rates) {
        show(lint->top_rate, "", rate);
        snprintf(figure, sizeof figure, ", about %s rows/s on average", rate);
    }
    if (!lint->has_key) {
        char cure[128];
        snprintf(cure, sizeof cure, "put '%s' into the partition key", key != NULL ? key->name : "the key");
        warn(
            lint, LAB_RISK_HOT_SPOT, true, first_column(lint),
            key != NULL ? cure : "add a column fed by key, and put it into the partition key",
            "the writes of all keys meet in one partition at a time: %.0f %% of them%s, go to %u of %u nodes",
            share * 100, figure, cluster->replication_factor, cluster->nodes);
    } else if (lint->has_rates && lint->top_rate >= HOT_RATE) {
        warn(lint, LAB_RISK_SKEW, true, key->name,
             "add a column of a few values to the partition key, or use hash, so that partitions share its "
             "rows",
             "its busiest value takes %.0f %% of all writes%s, and %u of %u nodes take them", share * 100,
             figure, cluster->replication_factor, cluster->nodes);
    }
}

/* A scan counts only rows that have not expired. If these never reach the threshold, no bucket ends. */
static void lint_uncounted(struct lint *lint)
{
    const struct lab_strategy *strategy = lint->strategy;
    if (strategy->settings.strategy.kind != BK_KIND_COUNT || strategy->settings.source != BK_SOURCE_SCAN)
        return;
    double ttl_s = (double)lint->scenario->row_ttl_ns / 1e9,
           rows = (double)strategy->settings.strategy.of.count.rows;
    char shown[SHOWN_SIZE];
    if (ttl_s <= 0 || lint->is_endless || !lint->has_rates || lint->mean_rate * ttl_s >= rows)
        return;
    show(lint->mean_rate * ttl_s, "", shown);
    warn(lint, LAB_RISK_UNBOUNDED, lint->top_rate * ttl_s < rows, first_column(lint),
         "use 'counter: incremental', fewer 'rows', or a time window of at most the time to live",
         "scan does not count expired rows, and a key of average rate has %s live rows at a time: its "
         "partition never ends",
         shown);
}

static void lint_sizes(struct lint *lint)
{
    const struct lab_column *bucket = lab_design_column(lint->design, LAB_FEED_BUCKET);
    char most[FIGURE_SIZE], mean[FIGURE_SIZE];
    if (!lint->has_rates || lint->is_endless || !is_over(lint, lint->top_rows))
        return;
    show_rows(lint, lint->top_rows, most);
    show_rows(lint, lint->mean_rows, mean);
    const bool is_uneven = lint->top_rows > UNEVEN * lint->mean_rows;
    if (!is_over(lint, lint->usual_rows))
        warn(lint, LAB_RISK_LARGE, false, bucket->name, cure_of_size(lint),
             "few partitions, if any, reach about %s, which is over the limit", most);
    else if (is_over(lint, lint->mean_rows))
        warn(lint, LAB_RISK_LARGE, true, bucket->name, cure_of_size(lint),
             "a partition gets about %s, which is over the limit%s%s", mean,
             is_uneven ? "; the largest gets about " : "", is_uneven ? most : "");
    else
        warn(lint, LAB_RISK_SKEW, true, lab_design_column(lint->design, LAB_FEED_KEY)->name,
             cure_of_size(lint),
             "its busiest value has about %s in a partition, which is over the limit; the average has %s",
             most, mean);
}

static void lint_wall(struct lint *lint)
{
    double wall = (double)CASS_PARTITION_CELLS_MAX, cells = kept(lint, lint->top_rows) * lint->cells;
    char shown[SHOWN_SIZE];
    if (!lint->has_rates)
        return;
    if (cells >= wall / 2) {
        show(cells, "", shown);
        warn(lint, LAB_RISK_CELL_WALL, cells >= wall, first_column(lint), cure_of_size(lint),
             "the largest partition gets about %s cells, and Cassandra holds 2 billion", shown);
    } else if (lint->is_endless && lint->distinct == ENDLESS) {
        double years = wall / (lint->top_rate * lint->cells) / YEAR_S;
        if (years < WALL_YEARS)
            warn(lint, LAB_RISK_CELL_WALL, false, first_column(lint), cure_of_size(lint),
                 "at this rate the largest partition has Cassandra's 2 billion cells after %.1f years",
                 years);
    }
}

static void lint_overwritten(struct lint *lint)
{
    static const char cure[] = "add a column fed by id at the end of 'clustering'";
    const struct lab_design *design = lint->design;
    if (lab_design_is_unique(design))
        return;
    size_t last = design->clustering_count > 0 ? design->clustering[design->clustering_count - 1]
                                               : design->partition[design->partition_count - 1];
    const char *column = design->columns[last].name;
    char keys[SHOWN_SIZE], rows[SHOWN_SIZE];
    show(lint->distinct, "", keys);
    show(lint->top_rows, "", rows);
    if (lint->distinct == ENDLESS)
        warn(lint, LAB_RISK_OVERWRITTEN, false, column, cure,
             "it makes no row unique: rows of one millisecond replace each other");
    else if (!lint->has_rates)
        warn(lint, LAB_RISK_OVERWRITTEN, false, column, cure,
             "it makes no row unique: a partition keeps at most %s, each replacing an earlier one", keys);
    else
        warn(lint, LAB_RISK_OVERWRITTEN, lint->top_rows > lint->distinct, column, cure,
             "it makes no row unique: of about %s rows the largest partition keeps at most %s", rows, keys);
}

/* Counts the deleted share of the rows, and the rows that expire while their partition still gets rows; a
 * partition that has expired completely is not read again. */
static void lint_tombstones(struct lint *lint)
{
    const struct lab_scenario *scenario = lint->scenario;
    double written_s = lint->top_rate > 0 ? lint->usual_rows / lint->top_rate : 0;
    double ttl_s = (double)scenario->row_ttl_ns / 1e9, share = scenario->deletes.share;
    bool expires = ttl_s > 0 && written_s > ttl_s && 1 - ttl_s / written_s > share;
    if (expires)
        share = 1 - ttl_s / written_s;
    double tombstones = share * kept(lint, lint->top_rows) * (expires ? lint->cells : 1);
    char shown[SHOWN_SIZE];
    if (!lint->has_rates || tombstones <= (double)scenario->network.tombstone_warn)
        return;
    show(tombstones, "", shown);
    warn(lint, LAB_RISK_TOMBSTONES, tombstones > (double)scenario->network.tombstone_fail, first_column(lint),
         expires ? "use a time window of at most the time to live" : cure_of_size(lint),
         "a read of all of the largest partition meets about %s tombstones; Cassandra warns of %u and fails "
         "at "
         "%u",
         shown, scenario->network.tombstone_warn, scenario->network.tombstone_fail);
}

/* A null that a driver binds is a tombstone, which an unset value is not. */
static void lint_nulls(struct lint *lint)
{
    char shown[SHOWN_SIZE];
    if (!lint->scenario->row_cost.has_nulls)
        return;
    show(lint->scenario->row_cost.nulls, "", shown);
    warn(lint, LAB_RISK_TOMBSTONES, true, first_column(lint),
         "leave values unset instead of binding null, and remove 'row.absent'",
         "each row writes %s tombstones on average, for the columns that it lacks, and reads scan them",
         shown);
}

/* A node keeps the second in which a row expires in 31 bits, unless it is configured otherwise. */
static void lint_expiry(struct lint *lint)
{
    const int64_t most_s = CASS_EXPIRES_MAX_S, start_s = lint->scenario->workload.start_ns / SIM_SECOND;
    double first_s = (double)start_s + (double)lint->scenario->row_ttl_ns / 1e9;
    if (!lint->has_rates || lint->scenario->row_ttl_ns == 0 || first_s + lint->duration_s <= (double)most_s)
        return;
    warn(lint, LAB_RISK_EXPIRY, true, first_column(lint),
         "shorten 'row.ttl', or use Cassandra 5 with storage_compatibility_mode: NONE, for which the end is "
         "2106",
         "%s expire after 2038-01-19T03:14:06Z, and Cassandra's default configuration refuses to insert them",
         first_s > (double)most_s ? "rows" : "the run's last rows");
}

/* With the table's own windows of compaction: how many of them are on disk, and in how many of them the rows
 * of a partition lie, each of which is one sstable for a read of the partition. */
static void lint_windows(struct lint *lint)
{
    const struct lab_scenario *scenario = lint->scenario;
    const double window = (double)scenario->compaction_window_ns / 1e9,
                 ttl = (double)scenario->row_ttl_ns / 1e9, grace = (double)scenario->gc_grace_ns / 1e9,
                 count = ttl / window,
                 written = fmin(lint->mean_rate > 0 ? lint->mean_rows / lint->mean_rate : 0, ttl + grace);
    if (!(window > 0))
        return;
    if (count > WINDOWS_MOST)
        warn(lint, LAB_RISK_WINDOWS, true, first_column(lint),
             "use windows of a 20th to a 30th of the time to live",
             "%.0f windows of compaction are in use, and 20 to 30 are recommended", (ttl + grace) / window);
    if (lint->has_rates && written / window > SSTABLES_MOST)
        warn(
            lint, LAB_RISK_WINDOWS, false, first_column(lint), cure_of_size(lint),
            "the rows of a partition lie in about %.0f windows of compaction, so a read of all of it queries "
            "as many sstables",
            ceil(written / window));
}

bool lab_lint(const struct lab_scenario *scenario, struct lab_warnings *out)
{
    memset(out, 0, sizeof *out);
    if (scenario->identifiers.present)
        return true; /* identifiers have no partitions */
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        struct lint lint = {.out = out};
        prepare(&lint, scenario, i);
        lint_unbounded(&lint);
        lint_uncounted(&lint);
        lint_load(&lint);
        lint_sizes(&lint);
        lint_wall(&lint);
        lint_overwritten(&lint);
        lint_tombstones(&lint);
        lint_nulls(&lint);
        lint_expiry(&lint);
        lint_windows(&lint);
        if (lint.out_of_memory) {
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
