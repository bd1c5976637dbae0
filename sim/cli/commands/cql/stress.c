/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a scenario as a profile of cassandra-stress: the distributions of sizes and popularity are
 * approximated by those of the tool, then the profile is written. */
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/result.h"
#include "cli/table.h"
#include "cli/text.h"
#include "lab/schema.h"
#include "stress.h"
#include "tune/odds.h"

#define SHAPE_LEAST 0.2
#define SHAPE_MOST  20.0
#define WIDTH_MOST  1e15
#define HALVINGS    100
#define RANKS_LEAST 20u

/* The CV of a Weibull distribution, which decreases with the shape. */
static double variation(double shape)
{
    return sqrt(expm1(lgamma(1 + 2 / shape) - 2 * lgamma(1 + 1 / shape)));
}

static double scale_of(double width, double shape)
{
    return width / pow(0.5 * log(width), 1 / shape);
}

/* Writes an extreme (Weibull) distribution; false when none has this mean and standard deviation. */
static bool extreme(const struct stress_figures *figures, char *distribution)
{
    double excess = figures->mean - (double)figures->least;
    double wanted = figures->stddev / excess, low = SHAPE_LEAST, high = SHAPE_MOST;
    if (!(excess > 0) || wanted > variation(low) || wanted < variation(high))
        return false;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        *(variation(middle) > wanted ? &low : &high) = middle;
    }
    double shape = (low + high) / 2, scale = excess / tgamma(1 + 1 / shape);
    /* The scale increases with the width only from here on. */
    low = exp(1 / shape) * 1.001;
    high = WIDTH_MOST;
    if (low >= high || scale < scale_of(low, shape) || scale > scale_of(high, shape))
        return false;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        *(scale_of(middle, shape) < scale ? &low : &high) = middle;
    }
    snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "extreme(%" PRIu64 "..%.0f,%.4f)", figures->least,
             (double)figures->least + round((low + high) / 2), shape);
    return true;
}

void stress_distribution(const struct stress_figures *figures, char distribution[STRESS_DISTRIBUTION_SIZE])
{
    double mean = figures->mean;
    if (figures->most <= figures->least || figures->stddev * 4 < 1) {
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(%.0f)", fmax(1, round(mean)));
        return;
    }
    /* Narrow distributions are nearly normal; wide ones are skewed, like a Weibull distribution. */
    if (figures->stddev * 2 > mean - (double)figures->least && extreme(figures, distribution))
        return;
    snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "gaussian(%" PRIu64 "..%" PRIu64 ",%.3f,%.3f)",
             figures->least, figures->most, mean, figures->stddev);
}

void stress_distribution_of_size(const struct sim_size *size, char distribution[STRESS_DISTRIBUTION_SIZE])
{
    struct stress_figures figures = {.mean = sim_size_mean(size), .least = 1, .most = (uint64_t)WIDTH_MOST};
    switch (size->kind) {
    case SIM_SIZE_CONSTANT:
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(%.0f)", size->a);
        return;
    case SIM_SIZE_UNIFORM:
        if (size->a < size->b)
            snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "uniform(%.0f..%.0f)", size->a, size->b);
        else
            snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(%.0f)", size->a);
        return;
    case SIM_SIZE_LOGNORMAL:
        figures.stddev = figures.mean * sqrt(expm1(size->b * size->b));
        figures.most = (uint64_t)fmin(WIDTH_MOST, figures.mean + 6 * figures.stddev);
        break;
    case SIM_SIZE_PARETO:
        if (size->b <= 2) {
            snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(%.0f)", size->a * pow(2, 1 / size->b));
            return;
        }
        figures.least = (uint64_t)fmax(1, size->a);
        figures.stddev = size->a / (size->b - 1) * sqrt(size->b / (size->b - 2));
        figures.most = (uint64_t)fmin(WIDTH_MOST, figures.mean + 6 * figures.stddev);
        break;
    }
    stress_distribution(&figures, distribution);
}

void stress_distribution_of_ranks(const struct sim_zipf *zipf, uint64_t count,
                                  char distribution[STRESS_DISTRIBUTION_SIZE])
{
    double width = (double)count - 1, tenth = ceil((double)count / 10), share;
    if (count <= 1) {
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "fixed(1)");
        return;
    }
    share = sim_zipf_ranks_share(zipf, (uint64_t)tenth);
    /* P(1 + W <= tenth) = share, solved for the shape. */
    double part = -log1p(-share) / (0.5 * log(width));
    double shape = log(part) / log((tenth - 1) / width);
    bool is_skewed = count >= RANKS_LEAST && zipf->s > 0 && share < 1 && part < 1 && shape >= SHAPE_LEAST / 4;
    if (is_skewed)
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "extreme(1..%" PRIu64 ",%.4f)", count, shape);
    else
        snprintf(distribution, STRESS_DISTRIBUTION_SIZE, "%s(1..%" PRIu64 ")",
                 zipf->s > 0 ? "exp" : "uniform", count);
}

#define LATEST_DEFAULT UINT64_C(50)
#define KEYSPACE       "bucketlab"

struct profile {
    const struct lab_scenario *scenario;
    const struct lab_strategy *strategy;
    struct stress_figures rows; /* of a partition */
    double partitions, all_rows;
    uint64_t keys;
    char row_bytes[STRESS_DISTRIBUTION_SIZE];
    char popularity[STRESS_DISTRIBUTION_SIZE];
    const char *source; /* source of the numbers of rows per partition */
};

static bool fail(const struct profile *profile, struct sim_error *error, const char *text)
{
    return sim_fail(error, SIM_ERROR_INPUT, "%s:%d:%d: strategy '%s' %s", profile->scenario->path,
                    profile->strategy->line, profile->strategy->column, profile->strategy->label, text);
}

static bool fill_from_run(struct profile *profile, const struct lab_result *result, struct sim_error *error)
{
    const struct lab_strategy_result *found = NULL;
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (strcmp(result->strategies[i].label, profile->strategy->label) == 0)
            found = &result->strategies[i];
    }
    if (found == NULL || strcmp(result->scenario_name, profile->scenario->name) != 0)
        return fail(profile, error,
                    found == NULL
                        ? "is not in the run; give the number of a run that has it"
                        : "is in the run, but the run is of another scenario; give a run of this scenario");
    bool is_closed = cli_figure(&found->metrics, "partitions.closed") > 0;
    double figures[4];
    static const char *const names[] = {"mean", "stddev", "min", "max"};
    for (size_t i = 0; i < 4; i++) {
        char name[LAB_METRIC_NAME_SIZE];
        snprintf(name, sizeof name, "partitions.%s.rows.%s", is_closed ? "closed" : "all", names[i]);
        figures[i] = cli_figure(&found->metrics, name);
        if (!isfinite(figures[i]))
            return fail(profile, error, "has no partitions in this run; give a run in which it has some");
    }
    profile->rows =
        (struct stress_figures){figures[0], figures[1], (uint64_t)figures[2], (uint64_t)figures[3]};
    profile->partitions = cli_figure(&found->metrics, "partitions.total");
    profile->all_rows = (double)result->rows;
    profile->keys = result->keys;
    profile->source = is_closed ? "its closed partitions in a run" : "all its partitions in a run";
    double bytes = cli_figure(&found->metrics, "partitions.row_weighted.bytes.mean");
    double rows = cli_figure(&found->metrics, "partitions.row_weighted.rows.mean");
    if (profile->scenario->trace_path != NULL && bytes > 0)
        snprintf(profile->row_bytes, sizeof profile->row_bytes, "fixed(%.0f)", fmax(1, round(bytes / rows)));
    return true;
}

/* Fills in partition sizes of strategies for which they follow from the settings alone. */
static bool fill_from_distribution(struct profile *profile, struct sim_error *error)
{
    const struct bk_strategy *strategy = &profile->strategy->settings.strategy;
    if (profile->scenario->trace_path != NULL)
        return fail(
            profile, error,
            "takes its rows from a trace; run the scenario first, and give the run's number with --run");
    if (strategy->kind == BK_COUNT && strategy->max_age_ns == 0) {
        uint64_t rows = strategy->of.count.rows;
        profile->rows = (struct stress_figures){(double)rows, 0, rows, rows};
    } else if (strategy->kind == BK_PROBABILISTIC && strategy->max_age_ns == 0) {
        const struct tune_distribution distribution = tune_distribution_of(strategy, 1);
        profile->rows = (struct stress_figures){
            tune_mean_rows(&distribution), tune_stddev_rows(&distribution),
            tune_quantile(&distribution, 0.0001), tune_quantile(&distribution, 0.9999)};
    } else {
        return fail(profile, error,
                    "has partitions whose sizes depend on the stream; run the scenario first, and give the "
                    "run's number with --run");
    }
    profile->source = "the strategy's own distribution";
    profile->partitions = fmax(1, ceil(profile->all_rows / profile->rows.mean));
    return true;
}

static bool fill(struct profile *profile, const struct lab_result *result, struct sim_error *error)
{
    const struct lab_scenario *scenario = profile->scenario;
    const struct wl_workload *workload = &scenario->workload;
    profile->keys = workload->key_count;
    stress_distribution_of_size(&workload->row_bytes, profile->row_bytes);
    if (scenario->trace_path == NULL)
        profile->all_rows = workload->rate_per_s * (double)workload->duration_ns / 1e9;
    if (!(result != NULL ? fill_from_run(profile, result, error) : fill_from_distribution(profile, error)))
        return false;
    /* Only the newest partition of each key is read. */
    uint64_t seeds = (uint64_t)fmax(1, fmin((double)profile->keys, profile->partitions));
    if (scenario->trace_path == NULL)
        stress_distribution_of_ranks(&workload->popularity, seeds, profile->popularity);
    else
        snprintf(profile->popularity, sizeof profile->popularity, "uniform(1..%" PRIu64 ")", seeds);
    return true;
}

static void write_head(FILE *stream, const struct profile *profile)
{
    const struct lab_scenario *scenario = profile->scenario;
    const char *write = cass_consistency_name(scenario->consistency.write);
    const char *read = cass_consistency_name(scenario->consistency.read);
    double seconds = (double)scenario->workload.duration_ns / 1e9;
    uint64_t visits =
        (uint64_t)fmax(1, round(profile->rows.mean)); /* so that an operation writes about one row */
    fputs("# Strategy '", stream);
    cli_print_text(stream, profile->strategy->label);
    fputs("' of scenario '", stream);
    cli_print_text(stream, scenario->name);
    fprintf(stream,
            "' for cassandra-stress.\n"
            "# Rows of a partition: as in %s.\n"
            "# stress knows no keys that roll: a partition is one of its seeds, filled on its own, and a "
            "read asks\n"
            "# one. Fill all, about one row per operation; then read, one partition per key:\n"
            "#   cassandra-stress user profile=THIS.yaml 'ops(insert=1)' n=%.0f cl=%s \\\n"
            "#     -pop seq=1..%.0f -insert 'visits=fixed(%" PRIu64 ")'\n"
            "#   cassandra-stress user profile=THIS.yaml 'ops(latest=1)' duration=10m cl=%s \\\n"
            "#     -pop 'dist=%s'",
            profile->source, profile->partitions * (double)visits, write, profile->partitions, visits, read,
            profile->popularity);
    double reads = scenario->reads.kinds[LAB_READ_LATEST].rate_per_s;
    if (reads > 0)
        fprintf(stream, " -rate throttle=%.0f/s", fmax(1, round(reads)));
    if (scenario->trace_path == NULL && seconds > 0)
        fprintf(stream, "\n# The scenario has %.6g rows a second.", profile->all_rows / seconds);
    fputs("\n\nkeyspace: " KEYSPACE "\n", stream);
}

static void write_keyspace(FILE *stream, const struct lab_scenario *scenario)
{
    const struct cass_cluster_config *network = &scenario->network;
    fputs("keyspace_definition: |\n  CREATE KEYSPACE " KEYSPACE " WITH replication = {", stream);
    if (network->datacenter_count <= 1) {
        fprintf(stream, "'class': 'SimpleStrategy', 'replication_factor': %u",
                scenario->cluster.replication_factor);
    } else {
        fputs("'class': 'NetworkTopologyStrategy'", stream);
        for (uint32_t i = 0; i < network->datacenter_count; i++)
            fprintf(stream, ", '%s': %u", network->datacenters[i].name,
                    network->datacenters[i].replication_factor);
    }
    fputs("};\n", stream);
}

/* Writes the size of a text or blob; other types have fixed sizes. */
static void write_size(FILE *stream, const struct lab_column *column, const char *row_bytes)
{
    if (column->bytes > 0)
        fprintf(stream, "    size: fixed(%" PRIu64 ")\n", column->bytes);
    else
        fprintf(stream, "    size: %s\n", row_bytes);
}

static void write_range(FILE *stream, const char *field, uint64_t least, uint64_t most)
{
    if (least >= most)
        fprintf(stream, "    %s: fixed(%" PRIu64 ")\n", field, least);
    else
        fprintf(stream, "    %s: uniform(%" PRIu64 "..%" PRIu64 ")\n", field, least, most);
}

/* Writes a name in double quotes, as YAML has them. */
static void write_name(FILE *stream, const char *name)
{
    g_autofree char *quoted = cli_json_quoted(name);
    fputs(quoted, stream);
}

static void write_columns(FILE *stream, const struct profile *profile)
{
    const struct lab_design *design = &profile->scenario->design;
    double buckets = profile->keys == 0 ? 1 : ceil(profile->partitions / (double)profile->keys);
    char distribution[STRESS_DISTRIBUTION_SIZE];
    bool has_rows = false;
    stress_distribution(&profile->rows, distribution);
    fputs("\ncolumnspec:\n", stream);
    for (size_t i = 0; i < design->column_count; i++) {
        const struct lab_column *column = &design->columns[i];
        bool is_clustering = false;
        for (size_t j = 0; j < design->clustering_count; j++)
            is_clustering = is_clustering || design->clustering[j] == i;
        fputs("  - name: ", stream);
        write_name(stream, column->name);
        fputc('\n', stream);
        if (column->feed == LAB_FEED_KEY) {
            /* The range is so large that two seeds hardly ever write to the same partition. */
            fputs("    size: fixed(12)\n    population: uniform(1..100B)\n", stream);
        } else if (column->feed == LAB_FEED_BUCKET) {
            write_range(stream, "population", 0, (uint64_t)fmax(buckets, 1) - 1);
        } else if (column->feed == LAB_FEED_VALUES) {
            write_range(stream, "population", 1, column->values);
        } else if (column->feed == LAB_FEED_DATA && column->type <= CASS_BLOB) {
            write_size(stream, column, profile->row_bytes);
        }
        bool is_unique = column->feed == LAB_FEED_TIME || column->feed == LAB_FEED_ID;
        if (is_clustering) {
            fprintf(stream, "    cluster: %s\n", is_unique && !has_rows ? distribution : "fixed(1)");
            has_rows = has_rows || is_unique;
        }
    }
}

/* cassandra-stress binds only columns, so the limit is a literal. */
static void write_latest(FILE *stream, const struct profile *profile, const char *cql)
{
    const struct lab_read *latest = &profile->scenario->reads.kinds[LAB_READ_LATEST];
    uint64_t rows = latest->rate_per_s > 0 ? latest->rows : LATEST_DEFAULT;
    size_t size = strlen(cql);
    if (size > 0 && cql[size - 1] == '?')
        size--;
    fprintf(stream, "\nqueries:\n  latest:\n    cql: |\n      %.*s%" PRIu64 "\n    fields: samerow\n",
            (int)size, cql, rows);
}

bool cli_stress_write(FILE *stream, const struct lab_scenario *scenario, size_t strategy,
                      const struct lab_result *result, struct sim_error *error)
{
    struct profile profile = {.scenario = scenario, .strategy = &scenario->strategies[strategy]};
    struct lab_statements statements;
    if (!lab_design_is_plain(&scenario->design))
        return fail(&profile, error,
                    "shares its partitions or overwrites rows by this table, which cassandra-stress cannot "
                    "express; use (key, bucket) and an id in 'table'");
    if (!fill(&profile, result, error))
        return false;
    if (!lab_statements_make(scenario, strategy, &statements))
        return sim_fail_memory(error);
    const char *select = "";
    for (size_t i = 0; i < statements.count; i++) {
        const char *cql = statements.items[i].cql, *limit = strstr(cql, " LIMIT ?");
        if (strncmp(cql, "SELECT ", 7) == 0 && limit != NULL && limit[8] == '\0')
            select = cql;
    }
    write_head(stream, &profile);
    write_keyspace(stream, scenario);
    fputs("\ntable: ", stream);
    write_name(stream, scenario->design.name);
    g_auto(GStrv) lines = g_strsplit(statements.items[0].cql, "\n", -1);
    g_autofree char *definition = g_strjoinv("\n  ", lines);
    fprintf(stream, "\ntable_definition: |\n  %s\n", definition);
    write_columns(stream, &profile);
    fputs("\ninsert:\n  partitions: fixed(1)\n  batchtype: UNLOGGED\n  select: fixed(1)/1\n", stream);
    write_latest(stream, &profile, select);
    lab_statements_clear(&statements);
    return true;
}
