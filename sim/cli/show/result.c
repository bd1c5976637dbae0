/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run in words: a result comes in, and goes out as the JSON of `run`, `show`, `import` and `judge`, and as
 * the text that these commands print, whose tables are views of the same JSON (cli/base.h). */
#define _POSIX_C_SOURCE 200809L
#include "cli/result.h"

#include <assert.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/estimated_histogram.h"
#include "cli/base.h"
#include "cli/contest_answer.h"
#include "kernel/time.h"
#include "lab/judgment.h"
#include "lab/metric.h"
#include "lab/quantity.h"
#include "lab/setting.h"
#include "reports/answer.h"
#include "reports/page.h"

#define LABEL_COLUMNS 13
#define COLUMNS_MOST  24
#define COUNT(list)   (sizeof(list) / sizeof *(list))

double cli_figure(const struct lab_metrics *metrics, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(metrics, name);
    assert(metric != NULL || lab_metric_row_of(name) != NULL);
    return metric == NULL ? (double)NAN : metric->value;
}

/* --- JSON */

json_t *cli_json_why(const struct report_answer *answer)
{
    json_t *list = cli_json_append(json_array(), json_string(answer->headline));
    for (size_t i = 0; i < answer->line_count; i++)
        list = cli_json_append(list, json_sprintf("%s: %s", answer->lines[i].label, answer->lines[i].text));
    return list;
}

/* How option `index` is judged. */
static json_t *cli_json_verdict(const struct report_answer *answer, size_t index, double first_over_days)
{
    const struct lab_judgment *judgment = &answer->scores[index].judgment;
    return CLI_OBJECT(
        {"within",
         judgment->within == LAB_NOT_JUDGED ? json_null() : json_boolean(judgment->within == LAB_WITHIN)},
        {"by", json_string(lab_judged_by_name(judgment->by))}, {"share", cli_json_number(judgment->share)},
        {"share_most", cli_json_number(judgment->share_most)}, {"why", json_string(answer->verdicts[index])},
        {"first_over_days", cli_json_number(first_over_days)});
}

/* The strategies with all of their figures. answer: NULL when the run is not judged. */
static json_t *strategies_of(const struct lab_result *result, const struct report_answer *answer)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *one = &result->strategies[i];
        /* Per 1000 rows, in inserts. */
        const struct lab_cost cost = lab_cost_of(&result->prices, one);
        json_t *metrics = json_object(), *verdict = json_null();
        for (size_t j = 0; j < one->metrics.count; j++)
            metrics = cli_json_with(metrics, one->metrics.items[j].name,
                                    cli_json_number(one->metrics.items[j].value));
        if (answer != NULL)
            verdict = cli_json_verdict(answer, i, cli_figure(&one->metrics, "horizon.days"));
        list = cli_json_append(list, CLI_OBJECT({"label", json_string(one->label)},
                                                {"kind", json_string(lab_result_kind(one))},
                                                {"placement_digest", cli_json_digest(one->placement_digest)},
                                                {"verdict", verdict},
                                                {"cost", CLI_OBJECT({"write", cli_json_number(cost.write)},
                                                                    {"read", cli_json_number(cost.read)})},
                                                {"metrics", metrics}));
    }
    return list;
}

static json_t *expects_of(const struct lab_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->expect_count; i++) {
        const struct lab_expect_result *expect = &result->expects[i];
        list = cli_json_append(list, CLI_OBJECT({"text", json_string(expect->text)},
                                                {"actual", cli_json_number(expect->actual)},
                                                {"ok", json_boolean(expect->ok)}));
    }
    return list;
}

json_t *cli_json_run(int64_t run, const struct lab_result *result, json_t *warnings)
{
    struct report_arena arena = {NULL};
    struct report_answer answer;
    report_answer_run(result, &arena, &answer);
    const double days = result->strategy_count == 0 ? (double)NAN : report_horizon_of(result).days_left;
    json_t *object = CLI_OBJECT(
        {"run", run == 0 ? json_null() : json_integer(run)}, {"scenario", json_string(result->scenario_name)},
        {"seed", cli_json_whole(result->seed)}, {"digest", cli_json_digest(result->digest)},
        {"rows", cli_json_whole(result->rows)},
        {"recommended",
         cli_json_words(answer.chosen == SIZE_MAX ? NULL : result->strategies[answer.chosen].label)},
        {"why", cli_json_why(&answer)}, {"strategies", strategies_of(result, &answer)},
        {"expect", expects_of(result)}, {"needs_buckets", json_boolean(!(days >= REPORT_ENOUGH_DAYS))},
        {"unbucketed_days_left", cli_json_number(days < 0 ? 0 : days)}, {"warnings", warnings});
    report_arena_free(&arena);
    return object;
}

/* --- the tables */

#define LABEL                                                                                                \
    {                                                                                                        \
        "strategy", "label", CLI_LABEL, .group = NULL                                                        \
    }
/* A size of closed partitions; where none has closed, that of all, which are then open. */
#define CLOSED(title, figure, form, head)                                                                    \
    {                                                                                                        \
        title, "partitions.closed." figure, form, .group = head, .other = "partitions.all." figure           \
    }
#define PER_1000(title, name, explained)                                                                     \
    {                                                                                                        \
        title, name, CLI_PER_1000, .group = "operations per 1000 rows", .per = "writes.rows",                \
                                   .is_rare = true, .legend = explained                                      \
    }
#define WRONG(title, name, head, explained)                                                                  \
    {                                                                                                        \
        title, name, CLI_NUMBER, .group = head, .is_rare = true, .legend = explained                         \
    }

static const char
    over_limit[] = "partitions.over_limit",
    tiny_share[] = "partitions.tiny", peak_writes[] = "rates.writes.peak", peak_reads[] = "rates.reads.peak",
    all_reads[] = "reads.partitions_per_read.mean", twice[] = "oracle.unique.violations",
    per_read[] =
        "per read: partitions that a read queries, on average, without ranges that begin before the stream";

static const struct cli_column sizes[] = {
    LABEL,
    {"all", "partitions.total", CLI_NUMBER, .group = "partitions"},
    {"closed", "partitions.closed", CLI_NUMBER, .group = "partitions"},
    {"tiny", tiny_share, CLI_PART, .group = "partitions", .per = "partitions.closed", .is_rare = true},
    {"over", over_limit, CLI_NUMBER, .group = "partitions", .legend = "over: above a limit"},
    CLOSED("p50", "rows.p50", CLI_NUMBER, "rows, closed"),
    CLOSED("p99", "rows.p99", CLI_NUMBER, "rows, closed"),
    CLOSED("max", "rows.max", CLI_NUMBER, "rows, closed"),
    CLOSED("p99", "bytes.p99", CLI_BYTES, "bytes, closed"),
    CLOSED("max", "bytes.max", CLI_BYTES, "bytes, closed"),
    {"writes", peak_writes, CLI_NUMBER, .group = "per s",
     .legend = "per s: operations of the busiest partition in its busiest second"},
    {"reads", peak_reads, CLI_NUMBER, .group = "per s"},
    {"1000", "writes.extra_ops_per_1000_rows", CLI_SHORT, .group = "ops/",
     .legend = "ops/1000: operations in addition to the inserts, per 1000 rows"},
    {"read", all_reads, CLI_SHORT, .group = "per", .legend = per_read},
    {"latest", "reads.latest.partitions_per_read.mean", CLI_SHORT, .group = "per read", .legend = per_read},
    {"range", "reads.range.partitions_per_read.mean", CLI_SHORT, .group = "per read"},
    {"all", "reads.all.partitions_per_read.mean", CLI_SHORT, .group = "per read"},
    /* What went wrong, for each engine. */
    WRONG("failed", "reads.failed", "reads", "failed: reads that failed"),
    WRONG("short", "reads.incomplete", "reads", "short: reads with fewer rows than there were"),
    WRONG("refused", "writes.refused", "rows", "refused: rows that no agent stored"),
    WRONG("unknown", "writes.unresolved", "rows", "unknown: rows without an answer"),
    WRONG("wrong", "writes.misrouted", "rows", "wrong: rows in another bucket than the stored changes say"),
    WRONG("twice", "writes.duplicated", "rows", "twice: rows in two buckets"),
    WRONG("replaced", "rows.overwritten", "rows",
          "replaced: rows replaced by later ones with the same primary key"),
    WRONG("broken", "guarantees.broken", "guarantees", NULL),
};

static const struct cli_column latencies[] = {
    LABEL,
    {"p50", "latency.write.p50", CLI_NUMBER, .group = "write, ms"},
    {"p99", "latency.write.p99", CLI_NUMBER, .group = "write, ms"},
    {"p999", "latency.write.p999", CLI_NUMBER, .group = "write, ms"},
    {"p99", "latency.read.p99", CLI_NUMBER, .group = "read"},
    WRONG("p99", "latency.lwt.p99", "lwt", "lwt: conditional updates, in ms as well"),
    WRONG("retried", "writes.retried", "rows", NULL),
    {"max", "nodes.load_share_max", CLI_SHARE, .group = "node load",
     .legend = "node load: of all bytes, the share of the fullest and the emptiest node"},
    {"min", "nodes.load_share_min", CLI_SHARE, .group = "node load"},
};

static const struct cli_column operations[] = {
    LABEL,
    PER_1000("counter", "writes.counter_increments", "counter: additions to it"),
    PER_1000("reads", "writes.state_reads", "reads, writes: of the state"),
    PER_1000("writes", "writes.state_writes", NULL),
    PER_1000("lwt", "writes.lwt", NULL),
    PER_1000("lock", "writes.lock_ops", NULL),
    PER_1000("scanned", "writes.rows_scanned", "scanned: rows that were read to be counted"),
    {"p99, ms", "latency.write.p99", CLI_NUMBER, .group = "write"},
    {"read", all_reads, CLI_SHORT, .group = "per"},
    {"CV", "partitions.closed.rows.stddev", CLI_SHARE, .group = "closed",
     .per = "partitions.closed.rows.mean",
     .legend = "CV: coefficient of variation of closed partitions' rows"},
};

static const struct cli_column identifiers[] = {
    LABEL,
    {"per s", "ids.per_second", CLI_NUMBER, .group = "identifiers"},
    {"given", "ids.given", CLI_NUMBER, .group = "identifiers"},
    {"lost", "ids.lost", CLI_NUMBER, .group = "identifiers",
     .legend = "lost: leased by clients that died, or learned of it too late"},
    {"failed", "ids.failed", CLI_NUMBER, .group = "identifiers",
     .legend = "failed: leases that were given up"},
    {"tried", "locks.tried", CLI_NUMBER, .group = "locks"},
    {"had", "locks.acquired", CLI_NUMBER, .group = "locks"},
    {"stale", "locks.stale", CLI_NUMBER, .group = "locks", .legend = "stale: expired locks of other clients"},
    {"p50", "latency.lock.p50", CLI_NUMBER, .group = "for a lock, ms",
     .legend = "for a lock: from the request for a batch until its lock is held"},
    {"p99", "latency.lock.p99", CLI_NUMBER, .group = "for a lock, ms"},
    {"twice", twice, CLI_NUMBER, .group = "ids"},
};

/* What the marks of a table follow from. */
struct judged {
    const struct lab_limits *limits;
    const char *chosen; /* label; NULL: none */
};

static bool is_open(const json_t *row)
{
    static const struct cli_column closed = {"", "partitions.closed", CLI_NUMBER, .group = NULL};
    return !(cli_table_figure(row, &closed) > 0) &&
           strcmp(json_string_value(json_object_get(row, "kind")), "observed") != 0;
}

/* Whether the number above a limit is marked. Not a 0, where the distribution tells: the answer says so. */
static bool is_marked(const json_t *row)
{
    const json_t *over = json_object_get(json_object_get(row, "metrics"), over_limit);
    return json_is_false(json_object_get(json_object_get(row, "verdict"), "within")) &&
           (over == NULL || json_number_value(over) > 0);
}

static unsigned marks_of(const void *context, const json_t *row, const struct cli_column *column)
{
    const struct judged *judged = context;
    if (column == NULL)
        return judged->chosen != NULL &&
                       strcmp(judged->chosen, json_string_value(json_object_get(row, "label"))) == 0
                   ? CLI_CHOICE
                   : 0;
    if (column->name == over_limit)
        return is_marked(row) ? CLI_BANG | CLI_ALARM : 0;
    if (column->name == twice)
        return cli_table_figure(row, column) > 0 ? CLI_ALARM : 0;
    if (column->name == peak_writes || column->name == peak_reads)
        return cli_table_figure(row, column) >
                       judged->limits->rate[column->name == peak_writes ? LAB_RATE_WRITES : LAB_RATE_READS]
                   ? CLI_ALARM
                   : 0;
    if (column->other == NULL)
        return 0;
    const uint64_t limit =
        column->form == CLI_BYTES ? judged->limits->partition_bytes : judged->limits->partition_rows;
    return (limit != 0 && cli_table_figure(row, column) > (double)limit ? CLI_ALARM : 0) |
           (strcmp(column->title, "p50") == 0 && is_open(row) ? CLI_STAR : 0);
}

static void print_table(const json_t *rows, const struct cli_column *columns, size_t count, bool is_first)
{
    struct cli_column own[COLUMNS_MOST];
    const struct judged nothing = {NULL, NULL};
    const struct cli_table table = {.rows = rows,
                                    .columns = own,
                                    .count = count,
                                    .label_least = LABEL_COLUMNS,
                                    .label_most = LABEL_COLUMNS,
                                    .marks = marks_of,
                                    .context = &nothing};
    bool is_shown = false;
    memcpy(own, columns, count * sizeof *own);
    for (size_t i = 1; i < count; i++) {
        assert(lab_metric_row_of(own[i].name) != NULL);
        is_shown = is_shown || cli_table_shows(&table, &own[i]);
    }
    if (!is_shown)
        return;
    if (!is_first) {
        own[0].title = "";
        putchar('\n');
    }
    cli_table_print(stdout, &table);
    cli_table_legend(&table);
}

/* Explains only the marks that occur. */
static void print_marks(const json_t *rows, bool has_choice)
{
    bool has_open = false, has_over = false;
    const char *join = "";
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        has_open = has_open || is_open(row);
        has_over = has_over || is_marked(row);
    }
    const char *const marks[] = {has_choice ? "> the choice" : "", has_over ? "! exceeds a limit" : "",
                                 has_open ? "* none has closed; sizes of the open ones" : ""};
    for (size_t i = 0; i < COUNT(marks); i++) {
        if (marks[i][0] != '\0')
            printf("%s%s", join, marks[i]);
        join = marks[i][0] != '\0' ? ", " : join;
    }
    fputs(join[0] == '\0' ? "" : "\n", stdout);
}

/* The first table: sizes, costs, and whatever went wrong, with the meaning of its columns and marks. */
static void print_sizes(const struct lab_result *result, const struct report_answer *answer,
                        const json_t *rows)
{
    const bool has_choice = answer->chosen != SIZE_MAX;
    const struct judged judged = {&result->limits,
                                  has_choice ? result->strategies[answer->chosen].label : NULL};
    char count[CLI_NUMBER_SIZE], legend[96];
    struct cli_column columns[COUNT(sizes)];
    struct cli_table table = {.rows = rows,
                              .columns = columns,
                              .label_least = LABEL_COLUMNS,
                              .label_most = LABEL_COLUMNS,
                              .has_choice = true,
                              .marks = marks_of,
                              .context = &judged};
    size_t kinds = 0;
    cli_grouped(result->limits.tiny_rows, count);
    snprintf(legend, sizeof legend, "tiny: of the closed ones, those with fewer than %s rows", count);
    for (size_t i = 0; i < COUNT(sizes); i++)
        kinds += sizes[i].group != NULL && strncmp(sizes[i].name, "reads.", 6) == 0 &&
                 strncmp(sizes[i].group, "per", 3) == 0 && cli_table_shows(&table, &sizes[i]);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        /* The column `read` is that of the only kind of reads; with several kinds each has a column. */
        if (sizes[i].name == all_reads && kinds > 1)
            continue;
        columns[table.count] = sizes[i];
        if (sizes[i].name == tiny_share)
            columns[table.count].legend = legend;
        table.count++;
    }
    cli_table_print(stdout, &table);
    cli_table_legend(&table);
    print_marks(rows, has_choice);
}

/* Whether a strategy has the metric. */
static bool has(const struct lab_result *result, const char *metric)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (lab_metrics_find(&result->strategies[i].metrics, metric) != NULL)
            return true;
    }
    return false;
}

/* The violations of oracles; a column for each oracle that found some. */
static void print_oracles(const struct lab_result *result, const json_t *rows)
{
    char names[LAB_ORACLE_COUNT][LAB_METRIC_NAME_SIZE];
    struct cli_column columns[LAB_ORACLE_COUNT + 1] = {LABEL};
    const struct cli_table table = {.rows = rows, .columns = columns, .count = LAB_ORACLE_COUNT + 1};
    bool lacks_live = false, has_some = false;
    if (!has(result, "oracle.conserved.violations"))
        return;
    for (int i = 0; i < LAB_ORACLE_COUNT; i++) {
        const char *name = lab_oracle_name((enum lab_oracle)i);
        snprintf(names[i], sizeof names[i], "oracle.%s.violations", name);
        columns[i + 1] = (struct cli_column)WRONG(name, names[i], "violations", NULL);
        has_some = has_some || cli_table_shows(&table, &columns[i + 1]);
    }
    print_table(rows, columns, LAB_ORACLE_COUNT + 1, false);
    printf("\n%s by the oracles of docs/oracles.md\n", has_some ? "violations" : "no violations");
    for (size_t i = 0; i < result->strategy_count; i++)
        lacks_live |= bk_kind_fires(result->strategies[i].settings.strategy.kind) &&
                      lab_metrics_find(&result->strategies[i].metrics, names[LAB_ORACLE_LIVE]) == NULL;
    if (lacks_live)
        printf("live is not judged: settings change, or the run ends too soon after the last fault\n");
}

static void print_agents(const struct lab_result *result, const json_t *rows)
{
    if (has(result, "latency.write.p99")) {
        print_table(rows, latencies, COUNT(latencies), false);
        print_table(rows, operations, COUNT(operations), false);
    }
    print_oracles(result, rows);
}

void cli_print_agents(const struct lab_result *result)
{
    json_t *rows = strategies_of(result, NULL);
    print_agents(result, rows);
    json_decref(rows);
}

/* --- the settings of a strategy */

static void observed_settings(const struct lab_strategy_result *result, char *buffer)
{
    bool has_table = result->settings.observed_table[0] != '\0';
    snprintf(buffer, CLI_SETTINGS_SIZE, "%s of %.64s%s%.80s",
             wl_observed_format_name(result->settings.observed), result->settings.observed_table,
             has_table ? " in " : "", result->settings.observed_file);
}

void cli_print_settings(const struct lab_result *result, const struct lab_scenario *scenario)
{
    printf("\nsettings\n");
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const struct lab_settings *settings = &strategy->settings;
        char text[CLI_SETTINGS_SIZE];
        const size_t column = LABEL_COLUMNS + 4;
        for (size_t j = 0; scenario != NULL && j < scenario->strategy_count; j++) {
            if (strcmp(scenario->strategies[j].label, strategy->label) == 0)
                settings = &scenario->strategies[j].settings;
        }
        lab_settings_text(settings, text, sizeof text);
        g_autofree char *told = g_strconcat("{", text, "}", NULL);
        printf("  ");
        cli_print_label(stdout, strategy->label, LABEL_COLUMNS, 2);
        int used = printf("  %s:", lab_result_kind(strategy));
        cli_print_indented(told, column + (size_t)used - 2, column);
        putchar('\n');
    }
}

/* --- the text of a run */

/* Prints the ranges of the true sizes. */
static void print_buckets(const struct lab_metrics *metrics, size_t column)
{
    static const char *const names[] = {"p50", "p99", "max"};
    column = cli_print_wrapped("(of all partitions in sstables; sizes are the ends of Cassandra's buckets",
                               column);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[LAB_METRIC_NAME_SIZE], from[CLI_NUMBER_SIZE], to[CLI_NUMBER_SIZE], told[96];
        snprintf(name, sizeof name, "partitions.all.bytes.%s", names[i]);
        double size = cli_figure(metrics, name);
        uint64_t above = cass_histogram_above((uint64_t)size);
        if (above == 0)
            continue;
        cli_compact_bytes((double)above, from);
        cli_compact_bytes(size, to);
        column += (size_t)printf(";");
        snprintf(told, sizeof told, "%s is above %s, at most %s", names[i], from, to);
        column = cli_print_wrapped(told, column);
    }
    printf(")");
}

static void print_observed(const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *one = &result->strategies[i];
        char settings[CLI_SETTINGS_SIZE];
        if (one->settings.observed == WL_OBSERVED_AUTO)
            continue;
        observed_settings(one, settings);
        cli_print_text(stdout, one->label);
        putchar(':');
        size_t column = cli_print_wrapped(settings, cli_text_width(one->label) + 1);
        if (one->settings.observed == WL_OBSERVED_PARTITIONS)
            cli_print_wrapped("(of all partitions, since a file does not say which are closed)", column);
        else if (one->settings.observed == WL_OBSERVED_LARGEST)
            cli_print_wrapped("(of the largest partitions; the file has no others)", column);
        else
            print_buckets(&one->metrics, column);
        putchar('\n');
    }
}

/* "disk, all replicas: day 474MB, about 246MB compressed; count 471MB, about 245MB compressed" */
static void print_disk(const struct lab_result *result)
{
    size_t column = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_metrics *metrics = &result->strategies[i].metrics;
        double bytes = cli_figure(metrics, "disk.bytes");
        char plain[CLI_NUMBER_SIZE], compressed[CLI_NUMBER_SIZE],
            told[LAB_LABEL_SIZE_MAX + 2 * CLI_NUMBER_SIZE + 32];
        if (!(bytes > 0))
            continue;
        cli_compact_bytes(bytes, plain);
        cli_compact_bytes(cli_figure(metrics, "disk.compressed_bytes"), compressed);
        column = column == 0 ? (size_t)printf("disk, all replicas:") : column + (size_t)printf(";");
        snprintf(told, sizeof told, "%s %s, about %s compressed", result->strategies[i].label, plain,
                 compressed);
        column = cli_print_indented(told, column, 2);
    }
    if (column > 0)
        putchar('\n');
}

static void print_title(const struct lab_result *result)
{
    cli_print_text(stdout, result->scenario_name);
    if (result->about != NULL && result->about[0] != '\0') {
        putchar(':');
        cli_print_wrapped(result->about, cli_text_width(result->scenario_name) + 1);
    }
}

static void print_heading(const struct lab_result *result)
{
    char rows[CLI_NUMBER_SIZE], keys[CLI_NUMBER_SIZE];
    char start[SIM_TIME_TEXT_SIZE], end[SIM_TIME_TEXT_SIZE];
    if (result->strategy_count > 0 && result->strategies[0].settings.is_idgen) {
        print_title(result);
        printf("\nidentifiers, within %.10g s\n\n",
               (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns) / 1e9);
        return;
    }
    if (lab_result_is_observed(result)) {
        print_title(result);
        printf("\nobserved; no rows were generated\n\n");
        return;
    }
    cli_grouped(result->rows, rows);
    cli_grouped(result->keys, keys);
    sim_time_format(result->start_ns, start);
    sim_time_format(result->end_ns, end);
    print_title(result);
    putchar('\n');
    int column = printf("%s row%s of %s key%s, %s to %s", rows, result->rows == 1 ? "" : "s", keys,
                        result->keys == 1 ? "" : "s", start, end);
    if (result->source != NULL && strcmp(result->source, "synthetic") != 0) {
        putchar(',');
        cli_print_wrapped(result->source, cli_print_wrapped("from", (size_t)column + 1));
    }
    fputs("\n\n", stdout);
}

static void print_expects(const struct lab_result *result, bool has_colour)
{
    for (size_t i = 0; i < result->expect_count; i++) {
        const struct lab_expect_result *expect = &result->expects[i];
        printf("%s%s%s%s ", i == 0 ? "\nexpectations\n  " : "  ",
               !has_colour  ? ""
               : expect->ok ? CLI_GREEN
                            : CLI_RED,
               expect->ok ? "ok    " : "FAILED", has_colour ? CLI_PLAIN : "");
        cli_print_text(stdout, expect->text);
        printf(isnan(expect->actual) ? "\n" : "   (actual %.10g)\n", expect->actual);
    }
}

void cli_print_result(const struct lab_result *result)
{
    struct report_arena arena = {NULL};
    struct report_answer answer;
    report_answer_run(result, &arena, &answer);
    json_t *rows = strategies_of(result, &answer);
    cli_print_answer(&answer);
    putchar('\n');
    print_heading(result);
    if (result->strategy_count > 0 && result->strategies[0].settings.is_idgen) {
        print_table(rows, identifiers, COUNT(identifiers), true);
    } else {
        print_sizes(result, &answer, rows);
        print_observed(result);
        print_disk(result);
        print_agents(result, rows);
    }
    print_expects(result, cli_has_colour());
    report_arena_free(&arena);
    json_decref(rows);
}

void cli_print_answer(const struct report_answer *answer)
{
    size_t width = 0;
    for (size_t i = 0; i < answer->line_count; i++) {
        const size_t length = strlen(answer->lines[i].label);
        width = length > width ? length : width;
    }
    cli_print_paragraph(answer->headline);
    for (size_t i = 0; i < answer->line_count; i++) {
        const size_t column = 2 + width + 1;
        printf("%s  %-*s", i == 0 ? "\n" : "", (int)width + 1, answer->lines[i].label);
        cli_print_indented(answer->lines[i].text, column, column + 1);
        putchar('\n');
    }
}

bool cli_expects_hold(const struct lab_result *result, struct sim_error *error)
{
    size_t failed = 0;
    for (size_t i = 0; i < result->expect_count; i++)
        failed += !result->expects[i].ok;
    if (failed == 0)
        return true;
    return sim_fail(error, SIM_ERROR_CHECK, "%s: %zu of %zu expectation%s failed", result->scenario_name,
                    failed, result->expect_count, result->expect_count == 1 ? "" : "s");
}

/* --- the page */

/* The sentences of a stored answer. */
struct why {
    const char *texts[1 + REPORT_ANSWER_LINES_MAX];
    size_t count;
};

static struct why why_of(const json_t *answer)
{
    const json_t *why = json_object_get(answer, "why");
    struct why out = {.count = 0};
    for (size_t i = 0; i < json_array_size(why) && out.count < 1 + REPORT_ANSWER_LINES_MAX; i++) {
        const char *text = json_string_value(json_array_get(why, i));
        if (text != NULL)
            out.texts[out.count++] = text;
    }
    return out;
}

/* NULL where there is none. */
static const char *text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* front: NULL when there is none. */
static bool write_page(struct cli_charts *charts, const struct cli_page *page,
                       const struct report_front *front, struct sim_error *error)
{
    const struct why why = why_of(page->answer);
    bool is_stored = page->info->run != 0;
    /* The commands that repeat the run, as in `show`, but without folders, which are specific to this
     * machine. */
    g_autofree char *file = g_path_get_basename(page->info->scenario_path),
                    *database = g_path_get_basename(page->database),
                    *replay = g_strdup_printf("bucketlab replay %" PRId64 " --db", page->info->run);
    char *again[] = {cli_line_with(g_steal_pointer(&replay), database),
                     cli_run_line(file, page->result->seed, page->info->overrides)};
    const struct report_page out = {
        .result = page->result,
        .scenario_text = page->info->scenario_text,
        .scenario_file = page->info->scenario_path,
        .overrides = page->info->overrides,
        .version = page->info->version,
        .again = (const char *const *)again + (is_stored ? 0 : 1),
        .again_count = is_stored ? 2 : 1,
        .recommended = text(json_object_get(page->answer, "recommended"), "label"),
        .why = why.texts,
        .why_count = why.count,
        .front = front,
    };
    free(charts->page);
    bool is_fine = report_page_write(&out, charts->folder, &charts->page, error);
    g_free(again[0]);
    g_free(again[1]);
    return is_fine;
}

bool cli_charts_write(struct cli_charts *charts, const struct cli_page *page, struct sim_error *error)
{
    struct cli_contest_front made = {.front.count = 0};
    if (page->answer != NULL)
        cli_contest_front_make(page->answer, &made);
    const struct report_front *front = made.front.count > 0 ? &made.front : NULL;
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++) {
        if (charts->wanted[format] && !report_write(page->result, front, (enum report_format)format,
                                                    charts->folder, &charts->files[format], error))
            return false;
    }
    return !charts->has_page || write_page(charts, page, front, error);
}
