/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands for a cluster: `cql` prints the tables and statements of strategies in CQL, or a profile for
 * cassandra-stress, `token` the Murmur3 token of a partition key, and `bucket-of` the bucket of
 * consistent hashing. */
#define _POSIX_C_SOURCE 200809L
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "bucketing/strategy.h"
#include "cassandra/token.h"
#include "cli/base.h"
#include "cli/result.h"
#include "kernel/text.h"
#include "lab/scenario.h"
#include "lab/schema.h"
#include "stress.h"
#include "tune/odds.h"

static const struct cli_option token_options[] = {{"type", "T,...",
                                                   "the type of each value (default text): text,\n"
                                                   "blob, int, bigint, uuid, timeuuid, boolean,\n"
                                                   "tinyint, smallint, timestamp, float, double,\n"
                                                   "date, time, inet, varint, decimal"},
                                                  {NULL, NULL, NULL}};

/* Removes the first name from a comma-separated list. */
static bool next_type(const char **list, enum cass_type *out, struct sim_error *error)
{
    char name[32];
    size_t length = strcspn(*list, ",");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), *list);
    *list += length + ((*list)[length] == ',');
    if (cass_type_parse(name, out) && *out != CASS_COUNTER)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --type: no type '%s'; the types are " CASS_TYPES,
                    name);
}

static bool read_components(const struct cli_args *args, struct cass_component *components, uint8_t **data,
                            struct sim_error *error)
{
    size_t count = args->count, types = 1;
    const char *list = cli_value(args, "type", NULL);
    for (const char *c = list; c != NULL && *c != '\0'; c++)
        types += *c == ',';
    if (list != NULL && types != count)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --type %s: names %zu type%s for %zu value%s; give one type per value, "
                        "separated by commas",
                        list, types, types == 1 ? "" : "s", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        enum cass_type type = CASS_TEXT;
        if (list != NULL && !next_type(&list, &type, error))
            return false;
        struct sim_error why;
        if (!cass_value_parse(type, cli_argument(args, i), &data[i], &components[i].size, &why)) {
            if (why.class == SIM_ERROR_INPUT)
                return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: value %zu: %s", i + 1, why.text);
            *error = why;
            return false;
        }
        if (components[i].size > CASS_COMPONENT_SIZE_MAX)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: value %zu: %zu bytes; a partition key's part has at most %u", i + 1,
                            components[i].size, CASS_COMPONENT_SIZE_MAX);
        components[i].data = data[i];
    }
    return true;
}

static void print_token(const struct cli_args *args, const struct cass_component *components)
{
    const size_t size = cass_key_size(components, args->count);
    g_autofree uint8_t *key = g_malloc(size + 1);
    GString *hex = g_string_new("");
    cass_key_serialise(components, args->count, key);
    const int64_t value = cass_token(key, size);
    for (size_t i = 0; i < size; i++)
        g_string_append_printf(hex, "%02x", key[i]);
    if (args->is_json)
        cli_json_print(CLI_OBJECT({"token", json_integer(value)}, {"key_hex", json_string(hex->str)}));
    else
        printf("%" PRId64 "\n", value);
    g_string_free(hex, TRUE);
}

static bool token(const struct cli_args *args, struct sim_error *error)
{
    struct cass_component *components = g_new0(struct cass_component, args->count);
    uint8_t **data = g_new0(uint8_t *, args->count);
    bool is_fine = read_components(args, components, data, error);
    if (is_fine)
        print_token(args, components);
    for (size_t i = 0; i < args->count; i++)
        free(data[i]);
    g_free(data);
    g_free(components);
    return is_fine;
}

const struct cli_command cli_token = {
    .name = "token",
    .arguments = "VALUE...",
    .summary = "print Cassandra's token of a partition key",
    .example = "  bucketlab token channel-17\n"
               "  bucketlab token --type text,bigint channel-17 42\n"
               "  bucketlab token --type blob 0xcafe --json\n",
    .options = token_options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = token,
};

static const struct cli_option bucket_options[] = {
    {"buckets", "N", "number of buckets: 1 to 2147483647 (required)"}, {NULL, NULL, NULL}};

/* Guava's HashCode.toString(): the bytes of h1, then of h2, each in little-endian order. */
#define HASH_TEXT_SIZE 33
static void hash_text(struct bk_hash128 hash, char *buffer)
{
    for (int i = 0; i < 16; i++) {
        uint64_t word = i < 8 ? hash.h1 : hash.h2;
        snprintf(buffer + 2 * i, 3, "%02x", (unsigned)(word >> (8 * (i % 8)) & 0xff));
    }
}

static bool bucket_of(const struct cli_args *args, struct sim_error *error)
{
    uint64_t buckets = 0;
    if (!cli_whole(args, "buckets", 1, BK_BUCKETS_MAX, &buckets, error))
        return false;
    if (buckets == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'bucket-of' needs --buckets; write --buckets 256");
    for (size_t i = 0; i < args->count; i++) {
        const char *key = cli_argument(args, i);
        if (sim_utf8_valid(key, strlen(key)) < strlen(key))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: key %zu is not UTF-8; give it in the encoding that it is hashed in",
                            i + 1);
    }
    json_t *list = json_array();
    for (size_t i = 0; i < args->count; i++) {
        const char *key = cli_argument(args, i);
        char text[HASH_TEXT_SIZE];
        struct bk_hash128 hash = bk_murmur3_128(key, strlen(key), 0);
        int32_t bucket = bk_consistent_hash(hash.h1, (uint32_t)buckets);
        hash_text(hash, text);
        list = cli_json_append(list, CLI_OBJECT({"key", json_string(key)}, {"bucket", json_integer(bucket)},
                                                {"hash", json_string(text)}));
        if (!args->is_json) {
            printf("%10" PRId32 "  %s", bucket, text);
            cli_print_line(stdout, "  ", key);
        }
    }
    if (args->is_json)
        cli_json_print(json_incref(list));
    json_decref(list);
    return true;
}

const struct cli_command cli_bucket_of = {
    .name = "bucket-of",
    .arguments = "KEY...",
    .summary = "print the consistent-hash bucket of a key, as Guava does",
    .example = "  bucketlab bucket-of --buckets 256 user1 user2\n",
    .options = bucket_options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = bucket_of,
};

static const struct cli_option cql_options[] = {
    {"strategy", "LABEL", "only for this strategy (default: for each)"},
    {CLI_OPTION_SET},
    {"stress", NULL, "print a profile for cassandra-stress instead of CQL"},
    {"run", "N",
     "with --stress: take the rows per partition from this\n"
     "run, a number or 'last' (default: from the exact\n"
     "distribution)"},
    {"db", "FILE", "with --run: the run database (default bucketlab.db)"},
    {NULL, NULL, NULL}};

/* Checks everything before the first line is printed. */
static bool check(const struct lab_scenario *scenario, const char *label, struct sim_error *error)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        if (strategy->settings.is_idgen)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: strategy '%s' hands out identifiers, and 'cql' is for rows; "
                            "docs/strategies.md says what it stores",
                            scenario->path, strategy->line, strategy->column, strategy->label);
        const char *problem = lab_statements_problem(scenario, i);
        if (problem != NULL && (label == NULL || strcmp(label, strategy->label) == 0))
            return sim_fail(error, SIM_ERROR_INPUT, "%s:%d:%d: strategy '%s' %s", scenario->path,
                            strategy->line, strategy->column, strategy->label, problem);
    }
    return true;
}

static bool fail_label(const struct lab_scenario *scenario, const char *label, struct sim_error *error)
{
    if (scenario->strategy_count == 0)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "%s: 'observed' is the only strategy, and it writes no rows; add a strategy that writes rows",
            scenario->path);
    const char *labels[LAB_STRATEGIES_MAX];
    for (size_t i = 0; i < scenario->strategy_count; i++)
        labels[i] = scenario->strategies[i].label;
    return cli_fail_label(scenario->path, label, labels, scenario->strategy_count, error);
}

/* Prints each line as a CQL comment. */
static void print_note(const char *note)
{
    while (note != NULL && *note != '\0') {
        int size = (int)strcspn(note, "\n");
        printf("-- %.*s\n", size, note);
        note += size + 1;
    }
}

static void print(const struct lab_strategy *strategy, const struct lab_statements *statements)
{
    printf("-- strategy '");
    cli_print_text(stdout, strategy->label);
    printf("' (%s)\n", bk_kind_name(strategy->settings.strategy.kind));
    for (size_t i = 0; i < statements->count; i++) {
        const struct lab_statement *one = &statements->items[i];
        printf("\n-- %s\n", one->when);
        print_note(one->note);
        if (one->serial != NULL)
            printf("-- at %s, commit at %s\n", one->serial, one->level);
        else if (!one->is_table)
            printf("-- at %s\n", one->level);
        printf("%s;\n", one->cql); /* safe, since names in a scenario have no control characters */
    }
}

static json_t *as_json(const struct lab_strategy *strategy, const struct lab_statements *statements)
{
    json_t *list = json_array();
    for (size_t i = 0; i < statements->count; i++) {
        const struct lab_statement *one = &statements->items[i];
        list = cli_json_append(
            list, CLI_OBJECT({"table", json_boolean(one->is_table)}, {"when", json_string(one->when)},
                             {"level", cli_json_words(one->level)}, {"serial", cli_json_words(one->serial)},
                             {"cql", json_string(one->cql)}, {"note", cli_json_words(one->note)}));
    }
    return CLI_OBJECT({"strategy", json_string(strategy->label)},
                      {"kind", json_string(bk_kind_name(strategy->settings.strategy.kind))},
                      {"statements", list});
}

static bool print_all(const struct cli_args *args, const struct lab_scenario *scenario, const char *label,
                      struct sim_error *error)
{
    if (!check(scenario, label, error))
        return false;
    json_t *list = json_array();
    bool is_fine = true, is_first = true;
    for (size_t i = 0; is_fine && i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        struct lab_statements statements;
        if (label != NULL && strcmp(label, strategy->label) != 0)
            continue;
        is_fine = lab_statements_make(scenario, i, &statements);
        if (is_fine)
            list = cli_json_append(list, as_json(strategy, &statements));
        if (is_fine && !args->is_json) {
            fputs(is_first ? "" : "\n", stdout);
            print(strategy, &statements);
        }
        is_first = false;
        lab_statements_clear(&statements);
    }
    if (is_fine && !is_first && args->is_json)
        cli_json_print(json_incref(list));
    json_decref(list);
    return is_fine ? !is_first || fail_label(scenario, label, error) : sim_fail_memory(error);
}

/* --- a profile for cassandra-stress (stress.h says how its distributions are approximated) */

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
    const bool is_whole = strategy->max_age_ns == 0 && lab_shards(strategy) == 1;
    if (strategy->kind == BK_KIND_COUNT && is_whole) {
        uint64_t rows = strategy->of.count.rows;
        profile->rows = (struct stress_figures){(double)rows, 0, rows, rows};
    } else if (strategy->kind == BK_KIND_PROBABILISTIC && is_whole) {
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
        } else if (column->feed == LAB_FEED_DATA && cass_type_is_any_length(column->type)) {
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

static bool write_stress(FILE *stream, const struct lab_scenario *scenario, size_t strategy,
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
    g_auto(GStrv) lines = g_strsplit(statements.items[scenario->schema_types != NULL].cql, "\n", -1);
    g_autofree char *definition = g_strjoinv("\n  ", lines);
    fprintf(stream, "\ntable_definition: |\n  %s\n", definition);
    write_columns(stream, &profile);
    fputs("\ninsert:\n  partitions: fixed(1)\n  batchtype: UNLOGGED\n  select: fixed(1)/1\n", stream);
    write_latest(stream, &profile, select);
    lab_statements_clear(&statements);
    return true;
}

static bool stress_text(const struct cli_args *args, const struct lab_scenario *scenario, size_t strategy,
                        char **text, struct sim_error *error)
{
    struct cli_stored stored = {.store = NULL};
    size_t size;
    bool is_fine = !cli_has(args, "run") || cli_stored_open(args, cli_value(args, "run", ""), &stored, error);
    FILE *stream = cli_memory_open(text, &size);
    is_fine = is_fine && write_stress(stream, scenario, strategy, stored.result, error);
    cli_memory_close(stream);
    cli_stored_close(&stored);
    return is_fine;
}

static bool print_stress(const struct cli_args *args, const struct lab_scenario *scenario, const char *label,
                         struct sim_error *error)
{
    size_t index = 0;
    while (label != NULL && index < scenario->strategy_count &&
           strcmp(label, scenario->strategies[index].label) != 0)
        index++;
    if (scenario->strategy_count == 0 || index == scenario->strategy_count)
        return fail_label(scenario, label, error);
    if (label == NULL && scenario->strategy_count > 1)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --stress takes one strategy, and %s has %zu; choose one, as in --strategy '%s'",
            scenario->path, scenario->strategy_count, scenario->strategies[0].label);
    char *text = NULL;
    bool is_fine = check(scenario, scenario->strategies[index].label, error) &&
                   stress_text(args, scenario, index, &text, error);
    if (is_fine && args->is_json)
        cli_json_print(CLI_OBJECT({"strategy", json_string(scenario->strategies[index].label)},
                                  {"profile", json_string(text)}));
    else if (is_fine)
        fputs(text, stdout);
    free(text);
    return is_fine;
}

static bool cql(const struct cli_args *args, struct sim_error *error)
{
    struct lab_scenario *scenario;
    if (!cli_scenario_load(args, cli_argument(args, 0), &scenario, error))
        return false;
    const char *label = cli_value(args, "strategy", NULL);
    bool is_fine = cli_has(args, "stress") ? print_stress(args, scenario, label, error)
                                           : print_all(args, scenario, label, error);
    lab_scenario_destroy(scenario);
    return is_fine;
}

const struct cli_command cli_cql = {
    .name = "cql",
    .arguments = "SCENARIO",
    .summary = "print the tables and statements of each strategy, as CQL",
    .example = "  bucketlab cql chat.yaml --strategy probabilistic\n"
               "  bucketlab cql chat.yaml --strategy hash --stress --run last > stress.yaml\n",
    .options = cql_options,
    .least = 1,
    .most = 1,
    .run = cql,
};
