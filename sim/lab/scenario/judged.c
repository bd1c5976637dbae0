/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what a result is judged by: expectations, prices, and the requirements of `tune`. In: nodes, or the
 * text of an expectation. Kept: nothing. Out: the members of the scenario, and answers whether an expectation
 * holds. None of it affects an event of a run. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/fields.h"
#include "lab/quantity.h"
#include "lab/scenario.h"

#define VALUE_SIZE 64

const char LAB_EXPECT_NO_MEMORY[] = "out of memory; free some";

struct piece {
    const char *at;
    size_t size;
};

/* The text without blanks at both ends. */
static struct piece trimmed(const char *text, size_t size)
{
    for (; size > 0 && (*text == ' ' || *text == '\t'); text++)
        size--;
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
        size--;
    return (struct piece){text, size};
}

/* Parses a number without its unit, or with k, M or G: "20_000", "20k". */
static bool parse_count(const char *value, struct lab_expect *out)
{
    uint64_t count;
    if (lab_quantity_number(value, &out->value) == NULL)
        return true;
    if (lab_quantity_whole(value, &count) != NULL)
        return false;
    out->value = (double)count;
    if (strpbrk(value, "kKMG") != NULL)
        out->unit = LAB_EXPECT_THOUSANDS;
    return true;
}

/* Parses a number, a size in bytes, a share, or a duration, which becomes milliseconds, the unit of the
 * metrics. */
static const char *parse_value(struct piece text, struct lab_expect *out)
{
    char value[VALUE_SIZE];
    if (text.size == 0)
        return "nothing to compare with; end in a number, as in <= 32000";
    if (text.size >= sizeof value)
        return "the number is too long; write at most 18 digits";
    memcpy(value, text.at, text.size);
    value[text.size] = '\0';
    uint64_t bytes;
    int64_t duration_ns;
    out->unit = LAB_EXPECT_PLAIN;
    if (parse_count(value, out))
        return NULL;
    if (lab_quantity_bytes(value, &bytes) == NULL) {
        out->value = (double)bytes;
        out->unit = LAB_EXPECT_BYTES;
        return NULL;
    }
    if (lab_quantity_duration(value, &duration_ns) == NULL) {
        out->value = (double)duration_ns / 1e6;
        out->unit = LAB_EXPECT_DURATION;
        return NULL;
    }
    if (lab_quantity_share(value, &out->value) == NULL) {
        out->unit = LAB_EXPECT_SHARE;
        return NULL;
    }
    return "no number to compare with; end in a number, a size, a duration or a share, as in <= 32000, <= "
           "10MB, <= 5ms or <= 1%";
}

static char *copy(struct piece piece)
{
    char *made = malloc(piece.size + 1);
    if (made != NULL) {
        memcpy(made, piece.at, piece.size);
        made[piece.size] = '\0';
    }
    return made;
}

void lab_expect_clear(struct lab_expect *expect)
{
    free(expect->text);
    free(expect->metric);
    *expect = (struct lab_expect){0};
}

/* Splits a text at its comparison, which is sought from the right, since a number contains none, while a
 * label may contain anything. */
static const char *split(const char *text, struct piece *left, enum lab_compare *compare, struct piece *right)
{
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!="};
    size_t size = strlen(text), after = size;
    while (after > 0 && strchr("<>=!", text[after - 1]) == NULL)
        after--;
    if (after == 0)
        return "no comparison; write LABEL.METRIC, one of < <= > >= == != and a number";
    size_t before = after, found = 0;
    while (before > 0 && strchr("<>=!", text[before - 1]) != NULL)
        before--;
    while (found < 6 && (strlen(operators[found]) != after - before ||
                         memcmp(operators[found], text + before, after - before) != 0))
        found++;
    if (found == 6)
        return "no such comparison; use one of < <= > >= == !=";
    *left = trimmed(text, before);
    *compare = (enum lab_compare)found;
    *right = trimmed(text + after, size - after);
    return NULL;
}

const char *lab_expect_parse(const char *text, struct lab_expect *out)
{
    struct lab_expect read = {.unit = LAB_EXPECT_PLAIN};
    struct piece metric, value;
    *out = (struct lab_expect){0};
    const char *problem = split(text, &metric, &read.compare, &value);
    if (problem != NULL)
        return problem;
    const char *point = memchr(metric.at, '.', metric.size);
    if (point == NULL || point == metric.at || metric.at[metric.size - 1] == '.')
        return "not a metric of a strategy; write LABEL.METRIC, as in hash.partitions.over_limit";
    problem = parse_value(value, &read);
    if (problem != NULL)
        return problem;
    read.text = sim_text_copy(text);
    read.metric = copy(metric);
    if (read.text != NULL && read.metric != NULL) {
        *out = read;
        return NULL;
    }
    lab_expect_clear(&read);
    return LAB_EXPECT_NO_MEMORY;
}

bool lab_expect_holds(const struct lab_expect *expect, double actual)
{
    switch (expect->compare) {
    case LAB_LESS:
        return actual < expect->value;
    case LAB_LESS_EQUAL:
        return actual <= expect->value;
    case LAB_GREATER:
        return actual > expect->value;
    case LAB_GREATER_EQUAL:
        return actual >= expect->value;
    case LAB_EQUAL:
        return actual >= expect->value && actual <= expect->value;
    case LAB_NOT_EQUAL:
        return actual < expect->value || actual > expect->value;
    }
    return false;
}

#define RECOMMENDED "tune.recommended"
#define BEST        "tune.best."

/* Whether the text is an expectation about tune's answer. */
static bool is_of_tune(const char *text)
{
    text += strspn(text, " \t");
    return strncmp(text, RECOMMENDED, strlen(RECOMMENDED)) == 0 || strncmp(text, BEST, strlen(BEST)) == 0;
}

void lab_tune_expect_clear(struct lab_tune_expect *expect)
{
    free(expect->text);
    free(expect->label);
    *expect = (struct lab_tune_expect){0};
}

/* As lab_expect_parse(), for an expectation about tune's answer; free it with lab_tune_expect_clear(). */
static const char *parse_of_tune(const char *text, struct lab_tune_expect *out)
{
    enum lab_compare compare;
    struct piece answer, label;
    *out = (struct lab_tune_expect){.kind = BK_KINDS};
    if (split(text, &answer, &compare, &label) != NULL || compare < LAB_EQUAL)
        return "a setting is the same or another one; compare by == or !=, as in tune.recommended == time-1h";
    if (strncmp(answer.at, BEST, strlen(BEST)) == 0) {
        struct piece name = {answer.at + strlen(BEST), answer.size - strlen(BEST)};
        int kind = 0;
        while (kind < BK_KINDS && (strlen(bk_kind_name((enum bk_kind)kind)) != name.size ||
                                   memcmp(bk_kind_name((enum bk_kind)kind), name.at, name.size) != 0))
            kind++;
        out->kind = (enum bk_kind)kind;
        if (kind == BK_KINDS)
            return "no kind of strategy; write tune.best.unbucketed, time, count, probabilistic, hash or "
                   "weighted";
    } else if (answer.size != strlen(RECOMMENDED)) {
        return "no such part of tune's answer; write tune.recommended or tune.best.KIND";
    }
    if (label.size == 0)
        return "nothing to compare with; end in a label of tune's table, as in tune.recommended == time-1h";
    out->text = sim_text_copy(text);
    out->label = copy(label);
    out->is_unequal = compare == LAB_NOT_EQUAL;
    if (out->text != NULL && out->label != NULL)
        return NULL;
    lab_tune_expect_clear(out);
    return LAB_EXPECT_NO_MEMORY;
}

bool lab_tune_expect_holds(const struct lab_tune_expect *expect, const char *label)
{
    bool is_same = label != NULL && strcmp(label, expect->label) == 0;
    return is_same != expect->is_unequal;
}

#define PLACE(member) offsetof(struct lab_prices, member)
#define MOST          1e12

/* Each default is the inserts per second divided by the operations per second of one node with 128 operations
 * in flight; that of a scanned row is the difference between reads of a thousand and of a hundred rows.
 * docs/mock.md has the measurements, and tests/cli/prices_test.py checks these numbers against the
 * recording. */
const struct lab_price lab_price_table[] = {
    {"counter_increment", "writes.counter_increments", PLACE(counter_increment), 2.3},
    {"state_read", "writes.state_reads", PLACE(state_read), 0.87},
    {"state_write", "writes.state_writes", PLACE(state_write), 0.69},
    {"lwt", "writes.lwt", PLACE(lwt), 4.8},
    {"lock", "writes.lock_ops", PLACE(lock), 4.8},
    {"row_scanned", "writes.rows_scanned", PLACE(row_scanned), 0.051},
    {"partition_read", NULL, PLACE(partition_read), 1.0},
};
const size_t lab_price_count = sizeof lab_price_table / sizeof *lab_price_table;

static double *at(struct lab_prices *prices, const struct lab_price *price)
{
    return (double *)(void *)((char *)prices + price->place);
}

double lab_price_of(const struct lab_prices *prices, const struct lab_price *price)
{
    static const struct lab_prices none = {0};
    struct lab_prices given = *prices;
    if (memcmp(prices, &none, sizeof none) == 0)
        return price->place == PLACE(row_scanned) ? 0 : 1;
    return *at(&given, price);
}

void lab_prices_default(struct lab_prices *prices)
{
    for (size_t i = 0; i < lab_price_count; i++)
        *at(prices, &lab_price_table[i]) = lab_price_table[i].measured;
}

bool lab_prices_are_equal(const struct lab_prices *prices)
{
    for (size_t i = 0; i < lab_price_count; i++) {
        if (lab_price_table[i].place != PLACE(row_scanned) && lab_price_of(prices, &lab_price_table[i]) != 1)
            return false;
    }
    return true;
}

#define PRICE(name)                                                                                          \
    {                                                                                                        \
#name, lab_read_number, LAB_IN(prices.name), LAB_FROM(0, MOST)                                       \
    }
const struct lab_table lab_prices_table = {
    LAB_FIELDS({"insert", lab_read_number, LAB_IN(price_of_insert), LAB_FROM(1e-12, MOST),
                .range = ", or leave it out for 1"},
               PRICE(counter_increment), PRICE(state_read), PRICE(state_write), PRICE(lwt), PRICE(lock),
               PRICE(row_scanned), PRICE(partition_read))};

/* Prices in money are divided by the price of an insert. */
static void complete_prices(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *prices = lab_node_find(root, "prices");
    for (size_t i = 0; i < lab_price_count; i++) {
        const struct lab_price *price = &lab_price_table[i];
        if (lab_node_find(prices, price->name) != NULL)
            *at(&scenario->prices, price) /= scenario->price_of_insert;
    }
}

#define SEEDS_DEFAULT 8

static bool read_kinds(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    const char *names[BK_KINDS];
    (void)field;
    for (unsigned kind = 0; kind < BK_KINDS; kind++)
        names[kind] = bk_kind_name((enum bk_kind)kind);
    return lab_read_names(reader, node, "kind of strategy", names, BK_KINDS, "[count, probabilistic]", out);
}

const struct lab_table lab_tune_table = {
    LAB_FIELDS({"risk", lab_read_share, LAB_IN(tune.risk), LAB_FROM(0, 0.5)},
               {"tiny", lab_read_share, LAB_IN(tune.tiny), LAB_FROM(0, 1), .range = ", or leave it out"},
               {"partitions_per_read", lab_read_number, LAB_IN(tune.partitions_per_read), LAB_FROM(1, 1e9),
                .range = ", or leave it out"},
               {"confidence", lab_read_share, LAB_IN(tune.confidence), LAB_FROM(0.5, 0.9999)},
               {"tolerance", lab_read_share, LAB_IN(tune.tolerance), LAB_FROM(0, 0.5)},
               {"seeds", lab_read_whole32, LAB_IN(tune.seeds), LAB_FROM(2, LAB_TUNE_SEEDS_MAX)},
               {"strategies", read_kinds, LAB_IN(tune.kinds)})};

void lab_tune_default(struct lab_tune *tune)
{
    *tune = (struct lab_tune){.tiny = -1,
                              .confidence = LAB_TUNE_CONFIDENCE,
                              .tolerance = LAB_TUNE_TOLERANCE,
                              .seeds = SEEDS_DEFAULT,
                              .kinds = (UINT32_C(1) << BK_KINDS) - 1};
}

/* `risk` is another name of limits.over_limit_share. */
static bool complete_share(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *risk = lab_node_find(lab_node_find(root, "tune"), "risk"),
                          *share = lab_node_find(lab_node_find(root, "limits"), "over_limit_share");
    if (risk != NULL && share != NULL && scenario->tune.risk != scenario->limits.over_limit_share)
        return lab_fail_at(&reader->tree, &risk->name_place,
                           "'risk' is another name of limits.over_limit_share, which differs; remove one of "
                           "the two");
    if (risk != NULL)
        scenario->limits.over_limit_share = scenario->tune.risk;
    scenario->tune.share = scenario->limits.over_limit_share;
    scenario->limits.confidence = scenario->tune.confidence;
    scenario->limits.tolerance = scenario->tune.tolerance;
    return true;
}

/* Limits that a service or its defaults set; docs/scenario.md names the sources. Rates are in units, so that
 * a row of several units counts as several. */
enum { LIKE_CASSANDRA = 1, LIKE_SCYLLA, LIKE_KEYSPACES, LIKE_DYNAMODB };
static const struct lab_choice likes[] = {{"cassandra", LIKE_CASSANDRA},
                                          {"scylla", LIKE_SCYLLA},
                                          {"keyspaces", LIKE_KEYSPACES},
                                          {"dynamodb", LIKE_DYNAMODB},
                                          {NULL, 0}};
static const struct preset {
    uint64_t rows, bytes;
    double units[LAB_RATES], unit_bytes[LAB_RATES], row_bytes; /* row_bytes: the largest row; 0: any */
} presets[] = {[LIKE_CASSANDRA] = {100000, 100000000, {0, 0}, {1, 1}, 0},
               [LIKE_SCYLLA] = {100000, 1000000000, {0, 0}, {1, 1}, 0},
               [LIKE_KEYSPACES] = {0, 0, {1000, 3000}, {1024, 4096}, 1048576},
               [LIKE_DYNAMODB] = {0, 10000000000, {1000, 3000}, {1024, 4096}, 409600}};

/* Sets the limits that `like` names and the scenario does not. A read of the newest rows takes its rows from
 * one partition; any other read counts as one unit. */
static bool complete_limits(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    struct lab_limits *limits = &scenario->limits;
    const struct lab_node *like = lab_node_find(lab_node_find(root, "limits"), "like");
    if (like == NULL)
        return true;
    const struct preset *preset = &presets[scenario->limits_like];
    const double row = sim_size_mean(&scenario->workload.row_bytes);
    const double bytes[LAB_RATES] = {row, row * (double)scenario->reads.kinds[LAB_READ_LATEST].rows};
    if (preset->row_bytes > 0 && row > preset->row_bytes)
        return lab_fail_value(reader, like,
                              "rows have %.0f bytes, and it takes at most %.0f in a row; make rows smaller",
                              row, preset->row_bytes);
    limits->partition_rows = limits->partition_rows == 0 ? preset->rows : limits->partition_rows;
    limits->partition_bytes = limits->partition_bytes == 0 ? preset->bytes : limits->partition_bytes;
    for (int i = 0; i < LAB_RATES; i++) {
        if (limits->rate[i] == 0)
            limits->rate[i] = preset->units[i] / fmax(1, ceil(bytes[i] / preset->unit_bytes[i]));
    }
    return true;
}

const char *lab_rate_name(enum lab_rate rate)
{
    static const char *const names[LAB_RATES] = {"writes", "reads"};
    return names[rate];
}

const struct lab_table lab_limits_table = {LAB_FIELDS(
    {"like", lab_read_choice, LAB_IN(limits_like), .detail = likes},
    {"partition_rows", lab_read_whole, LAB_IN(limits.partition_rows), LAB_FROM(1, 1e18),
     .range = ", or leave it out for no limit"},
    {"partition_bytes", lab_read_bytes, LAB_IN(limits.partition_bytes), LAB_FROM(1, 1e18),
     .range = ", or leave it out for no limit"},
    {"partition_writes", lab_read_rate, LAB_IN(limits.rate[LAB_RATE_WRITES]), LAB_FROM(1, 1e9),
     .range = ", or leave it out for no limit"},
    {"partition_reads", lab_read_rate, LAB_IN(limits.rate[LAB_RATE_READS]), LAB_FROM(1, 1e9),
     .range = ", or leave it out for no limit"},
    {"tiny_rows", lab_read_whole, LAB_IN(limits.tiny_rows), LAB_FROM(1, 1e18), .range = ", or leave it out"},
    {"over_limit_share", lab_read_share, LAB_IN(limits.over_limit_share), LAB_FROM(0, 0.5)})};

static bool read_expect(struct lab_reader *reader, const struct lab_node *item)
{
    struct lab_scenario *scenario = reader->scenario;
    const char *text = lab_scalar(reader, item);
    if (text == NULL)
        return false;
    bool is_answer = is_of_tune(text);
    struct lab_expect *expect = &scenario->expects[scenario->expect_count];
    const char *problem = is_answer
                              ? parse_of_tune(text, &scenario->tune_expects[scenario->tune_expect_count])
                              : lab_expect_parse(text, expect);
    if (problem == LAB_EXPECT_NO_MEMORY)
        return sim_fail_memory(reader->tree.error);
    if (problem != NULL)
        return lab_fail_value(reader, item, "%s", problem);
    if (is_answer) {
        scenario->tune_expect_count++;
        return true;
    }
    scenario->expect_count++;
    if (item->place.argument == NULL) {
        expect->line = item->place.line;
        expect->column = item->place.column;
    }
    return true;
}

bool lab_read_expects(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    struct lab_scenario *scenario = out;
    (void)field;
    if (!lab_check_list(reader, node, 0, SIZE_MAX, "'- hash.partitions.over_limit == 0' lines"))
        return false;
    if (node->count == 0)
        return true;
    scenario->expects = calloc(node->count, sizeof *scenario->expects);
    scenario->tune_expects = calloc(node->count, sizeof *scenario->tune_expects);
    if (scenario->expects == NULL || scenario->tune_expects == NULL)
        return sim_fail_memory(reader->tree.error);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        if (!read_expect(reader, item))
            return false;
    }
    return true;
}

/* Expectations about tune's answer need rows and a limit. */
static bool check_tune_expects(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool has_limit = lab_limits_sizes(&scenario->limits);
    bool has_rows = scenario->strategy_count > 0 && !scenario->identifiers.present;
    return scenario->tune_expect_count == 0 || (has_limit && has_rows) ||
           lab_fail_at(
               &reader->tree, &lab_node_find(root, "expect")->place,
               "'%s' refers to tune's answer, and there is %s to tune; add %s, or remove the expectation",
               scenario->tune_expects[0].text, has_rows ? "no limit" : "nothing",
               has_rows ? "limits: {partition_bytes: 100MB}" : "a strategy that places rows");
}

/* Checks that each expectation begins with the label of a strategy; its metric is looked up after the run. */
static bool check_expects(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *list = lab_node_find(root, "expect"), *item = list == NULL ? NULL : list->first;
    const char *labels[LAB_STRATEGIES_MAX];
    size_t label_count = 0;
    for (size_t i = 0; i < scenario->strategy_count; i++)
        labels[label_count++] = scenario->strategies[i].label;
    for (size_t i = 0; i < scenario->observed_count; i++)
        labels[label_count++] = scenario->observed[i].label;
    for (size_t i = 0; i < scenario->expect_count; i++, item = item->next) {
        while (is_of_tune(lab_scalar(reader, item)))
            item = item->next;
        const char *metric = scenario->expects[i].metric;
        bool is_known = false;
        for (size_t j = 0; j < label_count && !is_known; j++) {
            size_t size = strlen(labels[j]);
            is_known = strncmp(metric, labels[j], size) == 0 && metric[size] == '.';
        }
        if (is_known)
            continue;
        char label[LAB_LABEL_SIZE_MAX + 1];
        snprintf(label, sizeof label, "%.*s", (int)strcspn(metric, "."), metric);
        const char *nearest = sim_nearest(label, labels, label_count);
        if (nearest != NULL)
            return lab_fail_at(&reader->tree, &item->place,
                               "no strategy has the label '%s'; did you mean '%s'?", label, nearest);
        return lab_fail_at(&reader->tree, &item->place,
                           "no strategy has the label '%s'; begin with one of the strategies' labels", label);
    }
    return true;
}

bool lab_judged_complete(struct lab_reader *reader, const struct lab_node *root)
{
    complete_prices(reader, root);
    return complete_limits(reader, root) && check_tune_expects(reader, root) &&
           (reader->scenario->strategy_count == 0 || complete_share(reader, root)) &&
           check_expects(reader, root);
}
