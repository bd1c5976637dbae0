/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a run, as lists of columns. A column is printed if a strategy has its metric, and a rare one
 * only if a value is not zero. Columns that do not fit the terminal follow in a further block. Marks have the
 * same meaning as colours, so that no information is lost without colours. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cli/table.h"
#include "cli/text.h"
#include "lab/metric.h"

#define LABEL_COLUMNS 13
#define COLUMNS_MOST  16
#define GROUP         NULL /* the group of the column before */

enum form { NUMBER, SHORT, BYTES, SHARE, PER_1000, TINY, OVER, CV };
enum rare { ALWAYS, RARE };

struct column {
    const char *group, *name, *metric; /* "closed": "all" where no partition has closed */
    enum form form;
    enum rare rare;
    const char *legend;
};

static const struct column sizes[] = {
    {"partitions", "all", "partitions.total", NUMBER, ALWAYS, NULL},
    {GROUP, "closed", "partitions.closed", NUMBER, ALWAYS, NULL},
    {GROUP, "tiny", "partitions.tiny", TINY, RARE, NULL},
    {GROUP, "over", "partitions.over_limit", OVER, ALWAYS, "over: above a limit"},
    {"rows, closed", "p50", "partitions.closed.rows.p50", NUMBER, ALWAYS, NULL},
    {GROUP, "p99", "partitions.closed.rows.p99", NUMBER, ALWAYS, NULL},
    {GROUP, "max", "partitions.closed.rows.max", NUMBER, ALWAYS, NULL},
    {"bytes, closed", "p99", "partitions.closed.bytes.p99", BYTES, ALWAYS, NULL},
    {GROUP, "max", "partitions.closed.bytes.max", BYTES, ALWAYS, NULL},
    {"ops/", "1000", "writes.extra_ops_per_1000_rows", SHORT, ALWAYS,
     "ops/1000: operations in addition to the inserts, per 1000 rows"},
    {"per", "read", "reads.partitions_per_read.mean", SHORT, ALWAYS,
     "per read: partitions that a read queries, on average"},
    {"per read", "latest", "reads.latest.partitions_per_read.mean", SHORT, ALWAYS,
     "per read: partitions that a read queries, on average"},
    {GROUP, "range", "reads.range.partitions_per_read.mean", SHORT, ALWAYS, NULL},
    {GROUP, "all", "reads.all.partitions_per_read.mean", SHORT, ALWAYS, NULL},
};

/* What went wrong, for each engine. */
static const struct column wrong[] = {
    {"reads", "failed", "reads.failed", NUMBER, RARE, "failed: reads that failed"},
    {GROUP, "short", "reads.incomplete", NUMBER, RARE, "short: reads with fewer rows than there were"},
    {"rows", "refused", "writes.refused", NUMBER, RARE, "refused: rows that no agent stored"},
    {GROUP, "unknown", "writes.unresolved", NUMBER, RARE, "unknown: rows without an answer"},
    {GROUP, "wrong", "writes.misrouted", NUMBER, RARE,
     "wrong: rows in another bucket than the stored changes say"},
    {GROUP, "twice", "writes.duplicated", NUMBER, RARE, "twice: rows in two buckets"},
    {GROUP, "replaced", "rows.overwritten", NUMBER, RARE,
     "replaced: rows replaced by later ones with the same primary key"},
    {"guarantees", "broken", "guarantees.broken", NUMBER, RARE, NULL},
};

static const struct column latencies[] = {
    {"write, ms", "p50", "latency.write.p50", NUMBER, ALWAYS, NULL},
    {GROUP, "p99", "latency.write.p99", NUMBER, ALWAYS, NULL},
    {GROUP, "p999", "latency.write.p999", NUMBER, ALWAYS, NULL},
    {"read", "p99", "latency.read.p99", NUMBER, ALWAYS, NULL},
    {"lwt", "p99", "latency.lwt.p99", NUMBER, RARE, "lwt: conditional updates, in ms as well"},
    {"rows", "retried", "writes.retried", NUMBER, RARE, NULL},
    {"node load", "max", "nodes.load_share_max", SHARE, ALWAYS,
     "node load: of all bytes, the share of the fullest and the emptiest node"},
    {GROUP, "min", "nodes.load_share_min", SHARE, ALWAYS, NULL},
};

static const struct column operations[] = {
    {"operations per 1000 rows", "counter", "writes.counter_increments", PER_1000, RARE,
     "counter: additions to it"},
    {GROUP, "reads", "writes.state_reads", PER_1000, RARE, "reads, writes: of the state"},
    {GROUP, "writes", "writes.state_writes", PER_1000, RARE, NULL},
    {GROUP, "lwt", "writes.lwt", PER_1000, RARE, NULL},
    {GROUP, "lock", "writes.lock_ops", PER_1000, RARE, NULL},
    {GROUP, "scanned", "writes.rows_scanned", PER_1000, RARE, "scanned: rows that were read to be counted"},
    {"write", "p99, ms", "latency.write.p99", NUMBER, ALWAYS, NULL},
    {"per", "read", "reads.partitions_per_read.mean", SHORT, ALWAYS, NULL},
    {"closed", "CV", "partitions.closed.rows.stddev", CV, ALWAYS,
     "CV: coefficient of variation of closed partitions' rows"},
};

static const struct column identifiers[] = {
    {"identifiers", "per s", "ids.per_second", NUMBER, ALWAYS, NULL},
    {GROUP, "given", "ids.given", NUMBER, ALWAYS, NULL},
    {GROUP, "lost", "ids.lost", NUMBER, ALWAYS,
     "lost: leased by clients that died, or learned of it too late"},
    {GROUP, "failed", "ids.failed", NUMBER, ALWAYS, "failed: leases that were given up"},
    {"locks", "tried", "locks.tried", NUMBER, ALWAYS, NULL},
    {GROUP, "had", "locks.acquired", NUMBER, ALWAYS, NULL},
    {GROUP, "stale", "locks.stale", NUMBER, ALWAYS, "stale: expired locks of other clients"},
    {"for a lock, ms", "p50", "latency.lock.p50", NUMBER, ALWAYS,
     "for a lock: from the request for a batch until its lock is held"},
    {GROUP, "p99", "latency.lock.p99", NUMBER, ALWAYS, NULL},
    {"ids", "twice", "oracle.unique.violations", OVER, ALWAYS, NULL},
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* One table, or one block of it. */
struct table {
    const struct lab_result *result;
    const struct report_answer *answer; /* for marks; NULL: the table has none */
    const struct column *columns[COLUMNS_MOST];
    size_t widths[COLUMNS_MOST], count;
    bool has_open; /* sizes of open partitions are marked */
};

double cli_figure(const struct lab_metrics *metrics, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(metrics, name);
    assert(metric != NULL || lab_metric_row_of(name) != NULL);
    return metric == NULL ? (double)NAN : metric->value;
}

static bool is_closed_size(const struct column *column)
{
    return strncmp(column->metric, "partitions.closed.", strlen("partitions.closed.")) == 0 &&
           column->form != CV;
}

static bool is_open(const struct lab_strategy_result *strategy)
{
    return !(cli_figure(&strategy->metrics, "partitions.closed") > 0);
}

/* The value of a cell: of all partitions, which are then open, where none has closed. */
static double value_of(const struct lab_strategy_result *strategy, const struct column *column)
{
    const struct lab_metrics *metrics = &strategy->metrics;
    char name[LAB_METRIC_NAME_SIZE];
    snprintf(name, sizeof name, "%s", column->metric);
    if (is_closed_size(column) && is_open(strategy))
        snprintf(name, sizeof name, "partitions.all.%s", column->metric + strlen("partitions.closed."));
    const double value = cli_figure(metrics, name);
    switch (column->form) {
    case SHARE:
        return 100 * value;
    case PER_1000:
        return 1000 * value / cli_figure(metrics, "writes.rows");
    case TINY:
        return value / cli_figure(metrics, "partitions.closed");
    case CV: {
        const double mean = cli_figure(metrics, "partitions.closed.rows.mean");
        return mean > 0 ? 100 * value / mean : (double)NAN;
    }
    default:
        return value;
    }
}

/* The share of tiny partitions; 0% and 100% only if they are exact. */
static void tiny_text(double share, char *buffer)
{
    if (isnan(share))
        snprintf(buffer, CLI_NUMBER_SIZE, "-");
    else if (share == 0)
        snprintf(buffer, CLI_NUMBER_SIZE, "0");
    else if (share < 0.001)
        snprintf(buffer, CLI_NUMBER_SIZE, "<.1%%");
    else if (share < 0.0995)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.1f%%", 100 * share);
    else
        snprintf(buffer, CLI_NUMBER_SIZE, "%.0f%%", share > 0.99 ? floor(100 * share) : 100 * share);
}

static bool is_exceeded(const struct table *table, size_t index)
{
    return table->answer != NULL && table->answer->scores[index].judgment.within == LAB_EXCEEDS;
}

static void cell_text(const struct table *table, size_t index, const struct column *column, char *buffer)
{
    const struct lab_strategy_result *strategy = &table->result->strategies[index];
    const double value = value_of(strategy, column);
    char number[CLI_NUMBER_SIZE - 4];
    const char *before = "", *after = "";
    if (column->form == TINY) {
        tiny_text(value, buffer);
        return;
    }
    if (column->form == BYTES)
        cli_compact_bytes(value, number);
    else
        cli_compact(value, column->form == SHORT || column->form == SHARE || column->form == CV ? 4 : 5,
                    number);
    if ((column->form == SHARE || column->form == CV) && value >= 0)
        after = "%";
    if (column->form == OVER && is_exceeded(table, index)) {
        before = "!";
        number[isnan(value) ? 0 : strlen(number)] = '\0';
    }
    if (strcmp(column->metric, "partitions.closed.rows.p50") == 0 && table->has_open && is_open(strategy) &&
        strategy->settings.observed == WL_OBSERVED_AUTO)
        before = "*";
    snprintf(buffer, CLI_NUMBER_SIZE, "%s%s%s", before, number, after);
}

static bool is_red(const struct table *table, size_t index, const struct column *column)
{
    const struct lab_limits *limits = &table->result->limits;
    const uint64_t limit = !is_closed_size(column) ? 0
                           : column->form == BYTES ? limits->partition_bytes
                                                   : limits->partition_rows;
    const double value = value_of(&table->result->strategies[index], column);
    return column->form == OVER ? is_exceeded(table, index) || (table->answer == NULL && value > 0)
                                : limit != 0 && value > (double)limit;
}

static bool is_shown(const struct lab_result *result, const struct column *column)
{
    bool has_value = false, has_rare = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const double value = value_of(&result->strategies[i], column);
        has_value |= !isnan(value);
        has_rare |= value > 0;
    }
    return column->rare == RARE ? has_rare : has_value;
}

/* The group of a column: that of the nearest one before it that has one. */
static const char *group_of(const struct column *column)
{
    while (column->group == GROUP)
        column--;
    return column->group;
}

/* Whether column `index` begins a group in its block. */
static bool begins(const struct table *table, size_t index)
{
    return index == 0 || strcmp(group_of(table->columns[index]), group_of(table->columns[index - 1])) != 0;
}

static void set_widths(struct table *table)
{
    char text[CLI_NUMBER_SIZE];
    for (size_t i = 0; i < table->count; i++) {
        table->widths[i] = strlen(table->columns[i]->name);
        for (size_t j = 0; j < table->result->strategy_count; j++) {
            cell_text(table, j, table->columns[i], text);
            table->widths[i] = strlen(text) > table->widths[i] ? strlen(text) : table->widths[i];
        }
        table->widths[i] += 1;
    }
    /* A heading over several columns may need more room than they do. */
    for (size_t i = 0, first = 0, sum = 0; i < table->count; i++) {
        first = begins(table, i) ? i : first;
        sum = begins(table, i) ? table->widths[i] : sum + table->widths[i];
        const size_t needed = strlen(group_of(table->columns[first])) + 1;
        if ((i + 1 == table->count || begins(table, i + 1)) && sum < needed)
            table->widths[first] += needed - sum;
    }
}

static void print_head(const struct table *table, size_t from, size_t to, int indent, const char *title)
{
    printf("%*s", indent + LABEL_COLUMNS, "");
    for (size_t i = from, sum = 0; i < to; i++) {
        sum = i == from || begins(table, i) ? table->widths[i] : sum + table->widths[i];
        if (i + 1 == to || begins(table, i + 1))
            printf("%*s", (int)sum, group_of(table->columns[i]));
    }
    printf("\n%*s%-*s", indent, "", LABEL_COLUMNS, title);
    for (size_t i = from; i < to; i++)
        printf("%*s", (int)table->widths[i], table->columns[i]->name);
    putchar('\n');
}

static void print_row(const struct table *table, size_t index, size_t from, size_t to)
{
    const bool has_colour = cli_has_colour(), has_marks = table->answer != NULL;
    const bool is_chosen = has_marks && index == table->answer->chosen;
    char text[CLI_NUMBER_SIZE];
    fputs(is_chosen && has_colour ? CLI_BOLD : "", stdout);
    fputs(!has_marks ? "" : is_chosen ? "> " : "  ", stdout);
    cli_print_label_after(table->result->strategies[index].label, has_marks ? 2 : 0);
    fputs(is_chosen && has_colour ? CLI_PLAIN : "", stdout);
    for (size_t i = from; i < to; i++) {
        const bool is_alarm = has_colour && is_red(table, index, table->columns[i]);
        cell_text(table, index, table->columns[i], text);
        printf("%s%*s%s", is_alarm ? CLI_RED : "", (int)table->widths[i], text, is_alarm ? CLI_PLAIN : "");
    }
    putchar('\n');
}

static void add(struct table *table, const struct column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (table->count < COLUMNS_MOST && is_shown(table->result, &columns[i]))
            table->columns[table->count++] = &columns[i];
    }
}

/* Prints the columns in as many blocks as the width of lines requires. */
static void print_table(struct table *table, const char *title)
{
    const int indent = table->answer != NULL ? 2 : 0;
    set_widths(table);
    for (size_t from = 0, to; from < table->count; from = to) {
        size_t width = (size_t)indent + LABEL_COLUMNS;
        for (to = from; to < table->count; to++) {
            width += table->widths[to];
            if (to > from && width > cli_line_columns(stdout))
                break;
        }
        if (from > 0)
            putchar('\n');
        print_head(table, from, to, indent, title);
        for (size_t i = 0; i < table->result->strategy_count; i++)
            print_row(table, i, from, to);
    }
}

/* Explains only the columns that occur. */
static void print_legend(const struct table *table)
{
    const uint64_t tiny = table->result->limits.tiny_rows;
    char told[1024] = "", rows[CLI_NUMBER_SIZE];
    size_t used = 0;
    for (size_t i = 0; i < table->count; i++) {
        const char *join = used == 0 ? "" : "; ";
        if (table->columns[i]->form == TINY) {
            cli_grouped(tiny, rows);
            used += (size_t)snprintf(told + used, sizeof told - used,
                                     "%stiny: of the closed ones, those with fewer than %s rows", join, rows);
        } else if (table->columns[i]->legend != NULL) {
            used +=
                (size_t)snprintf(told + used, sizeof told - used, "%s%s", join, table->columns[i]->legend);
        }
    }
    if (used > 0) {
        putchar('\n');
        cli_print_paragraph(told);
    }
}

/* Explains only the marks that occur. */
static void print_marks(const struct table *table)
{
    const struct lab_result *result = table->result;
    bool has_open = false, has_over = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        has_open |=
            is_open(&result->strategies[i]) && result->strategies[i].settings.observed == WL_OBSERVED_AUTO;
        has_over |= is_exceeded(table, i);
    }
    const char *const marks[] = {table->answer->chosen != SIZE_MAX ? "> the choice" : "",
                                 has_over ? "! exceeds a limit" : "",
                                 has_open ? "* none has closed; sizes of the open ones" : ""};
    const char *join = "";
    for (size_t i = 0; i < COUNT(marks); i++) {
        if (marks[i][0] != '\0') {
            printf("%s%s", join, marks[i]);
            join = ", ";
        }
    }
    fputs(join[0] == '\0' ? "" : "\n", stdout);
}

/* The column `read` is that of the only kind of reads; with several kinds each has a column. */
static void drop_mixed_reads(struct table *table)
{
    size_t kinds = 0, kept = 0;
    for (size_t i = 0; i < table->count; i++)
        kinds += strncmp(group_of(table->columns[i]), "per", 3) == 0;
    for (size_t i = 0; i < table->count; i++) {
        if (kinds < 2 || strcmp(table->columns[i]->metric, "reads.partitions_per_read.mean") != 0)
            table->columns[kept++] = table->columns[i];
    }
    table->count = kept;
}

void cli_print_sizes(const struct lab_result *result, const struct report_answer *answer)
{
    struct table table = {.result = result, .answer = answer, .has_open = true};
    add(&table, sizes, COUNT(sizes));
    drop_mixed_reads(&table);
    add(&table, wrong, COUNT(wrong));
    print_table(&table, "strategy");
    print_legend(&table);
    print_marks(&table);
}

static void print_plain(const struct lab_result *result, const struct column *columns, size_t count,
                        const char *title)
{
    struct table table = {.result = result};
    add(&table, columns, count);
    if (table.count == 0)
        return;
    putchar('\n');
    print_table(&table, title);
    print_legend(&table);
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
static void print_oracles(const struct lab_result *result)
{
    char names[LAB_ORACLE_COUNT][LAB_METRIC_NAME_SIZE];
    struct column columns[LAB_ORACLE_COUNT];
    bool lacks_live = false, has_some = false;
    if (!has(result, "oracle.conserved.violations"))
        return;
    for (int i = 0; i < LAB_ORACLE_COUNT; i++) {
        snprintf(names[i], sizeof names[i], "oracle.%s.violations", lab_oracle_name((enum lab_oracle)i));
        columns[i] = (struct column){
            i == 0 ? "violations" : GROUP, lab_oracle_name((enum lab_oracle)i), names[i], NUMBER, RARE, NULL};
        has_some |= is_shown(result, &columns[i]);
    }
    if (has_some)
        print_plain(result, columns, LAB_ORACLE_COUNT, "");
    printf("\n%s by the oracles of docs/oracles.md\n", has_some ? "violations" : "no violations");
    for (size_t i = 0; i < result->strategy_count; i++)
        lacks_live |= bk_kind_fires(result->strategies[i].settings.strategy.kind) &&
                      lab_metrics_find(&result->strategies[i].metrics, names[LAB_ORACLE_LIVE]) == NULL;
    if (lacks_live)
        printf("live is not judged: settings change, or the run ends too soon after the last fault\n");
}

void cli_print_agents(const struct lab_result *result)
{
    if (has(result, "latency.write.p99")) {
        print_plain(result, latencies, COUNT(latencies), "");
        print_plain(result, operations, COUNT(operations), "");
    }
    print_oracles(result);
}

void cli_print_identifiers(const struct lab_result *result)
{
    struct table table = {.result = result};
    add(&table, identifiers, COUNT(identifiers));
    print_table(&table, "strategy");
    print_legend(&table);
}
