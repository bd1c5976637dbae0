/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what a result is judged by: expectations, prices, and the requirements of `tune`. In: nodes, or the
 * text of an expectation. Kept: nothing. Out: the members of the scenario, and answers whether an expectation
 * holds. None of it affects an event of a run. */
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

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_operator(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '!';
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
static const char *parse_value(const char *text, struct lab_expect *out)
{
    char value[VALUE_SIZE];
    while (is_blank(*text))
        text++;
    size_t size = strlen(text);
    while (size > 0 && is_blank(text[size - 1]))
        size--;
    if (size == 0)
        return "nothing to compare with; end in a number, as in <= 32000";
    if (size >= sizeof value)
        return "the number is too long; write at most 18 digits";
    memcpy(value, text, size);
    value[size] = '\0';

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

static char *copy(const char *text, size_t size)
{
    char *made = malloc(size + 1);
    if (made != NULL) {
        memcpy(made, text, size);
        made[size] = '\0';
    }
    return made;
}

const char *lab_expect_parse(const char *text, struct lab_expect *out)
{
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!="};
    *out = (struct lab_expect){0};
    /* Searches for the operator from the right, since a number contains none, while a label may contain
     * anything. */
    size_t size = strlen(text), after = size;
    while (after > 0 && !is_operator(text[after - 1]))
        after--;
    if (after == 0)
        return "no comparison; write LABEL.METRIC, one of < <= > >= == != and a number";
    size_t before = after;
    while (before > 0 && is_operator(text[before - 1]))
        before--;
    size_t compare = 0;
    while (compare < 6 && (strlen(operators[compare]) != after - before ||
                           memcmp(operators[compare], text + before, after - before) != 0))
        compare++;
    if (compare == 6)
        return "no such comparison; use one of < <= > >= == !=";

    size_t begin = 0, end = before;
    while (begin < end && is_blank(text[begin]))
        begin++;
    while (end > begin && is_blank(text[end - 1]))
        end--;
    const char *point = memchr(text + begin, '.', end - begin);
    if (point == NULL || point == text + begin || text[end - 1] == '.')
        return "not a metric of a strategy; write LABEL.METRIC, as in hash.partitions.over_limit";
    struct lab_expect read = {.unit = LAB_EXPECT_PLAIN};
    const char *problem = parse_value(text + after, &read);
    if (problem != NULL)
        return problem;

    char *whole = copy(text, size), *metric = copy(text + begin, end - begin);
    if (whole == NULL || metric == NULL) {
        free(whole);
        free(metric);
        return LAB_EXPECT_NO_MEMORY;
    }
    *out = (struct lab_expect){.text = whole,
                               .metric = metric,
                               .compare = (enum lab_compare)compare,
                               .value = read.value,
                               .unit = read.unit};
    return NULL;
}

void lab_expect_clear(struct lab_expect *expect)
{
    free(expect->text);
    free(expect->metric);
    *expect = (struct lab_expect){0};
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

#define OF_TUNE     "tune."
#define RECOMMENDED "tune.recommended"
#define BEST        "tune.best."

/* Whether the text is an expectation about tune's answer. */
static bool lab_expect_is_of_tune(const char *text)
{
    while (is_blank(*text))
        text++;
    return strncmp(text, RECOMMENDED, strlen(RECOMMENDED)) == 0 || strncmp(text, BEST, strlen(BEST)) == 0;
}

/* The kind whose name follows "tune.best."; BK_KIND_COUNT: no kind has this name. */
static enum bk_kind kind_of(const char *name, size_t size)
{
    int kind = 0;
    while (kind < BK_KIND_COUNT && (strlen(bk_kind_name((enum bk_kind)kind)) != size ||
                                    memcmp(bk_kind_name((enum bk_kind)kind), name, size) != 0))
        kind++;
    return (enum bk_kind)kind;
}

/* As lab_expect_parse(), for an expectation about tune's answer; free it with lab_tune_expect_clear(). */
static const char *lab_tune_expect_parse(const char *text, struct lab_tune_expect *out)
{
    *out = (struct lab_tune_expect){.kind = BK_KIND_COUNT};
    const char *begin = text;
    while (is_blank(*begin))
        begin++;
    size_t size = strcspn(begin, " \t=!<>");
    const char *comparison = begin + size;
    while (is_blank(*comparison))
        comparison++;
    bool is_unequal = strncmp(comparison, "!=", 2) == 0;
    if (!is_unequal && (strncmp(comparison, "==", 2) != 0))
        return "a setting is the same or another one; compare by == or !=, as in tune.recommended == time-1h";
    if (begin[strlen(OF_TUNE)] == BEST[strlen(OF_TUNE)]) {
        out->kind = kind_of(begin + strlen(BEST), size - strlen(BEST));
        if (out->kind == BK_KIND_COUNT)
            return "no kind of strategy; write tune.best.unbucketed, time, count, probabilistic, hash or "
                   "weighted";
    } else if (size != strlen(RECOMMENDED)) {
        return "no such part of tune's answer; write tune.recommended or tune.best.KIND";
    }
    const char *label = comparison + 2;
    while (is_blank(*label))
        label++;
    size_t length = strlen(label);
    while (length > 0 && is_blank(label[length - 1]))
        length--;
    if (length == 0)
        return "nothing to compare with; end in a label of tune's table, as in tune.recommended == time-1h";
    out->text = copy(text, strlen(text));
    out->label = copy(label, length);
    out->is_unequal = is_unequal;
    if (out->text != NULL && out->label != NULL)
        return NULL;
    lab_tune_expect_clear(out);
    return LAB_EXPECT_NO_MEMORY;
}

void lab_tune_expect_clear(struct lab_tune_expect *expect)
{
    free(expect->text);
    free(expect->label);
    *expect = (struct lab_tune_expect){0};
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

static bool is_given(const struct lab_prices *prices)
{
    static const struct lab_prices none = {0};
    return memcmp(prices, &none, sizeof none) != 0;
}

double lab_price_of(const struct lab_prices *prices, const struct lab_price *price)
{
    double value;
    if (!is_given(prices))
        return price->place == PLACE(row_scanned) ? 0 : 1;
    memcpy(&value, (const unsigned char *)prices + price->place, sizeof value);
    return value;
}

static void set(struct lab_prices *prices, const struct lab_price *price, double value)
{
    memcpy((unsigned char *)prices + price->place, &value, sizeof value);
}

void lab_prices_default(struct lab_prices *prices)
{
    for (size_t i = 0; i < lab_price_count; i++)
        set(prices, &lab_price_table[i], lab_price_table[i].measured);
}

bool lab_prices_are_equal(const struct lab_prices *prices)
{
    for (size_t i = 0; i < lab_price_count; i++) {
        if (lab_price_table[i].place != PLACE(row_scanned) && lab_price_of(prices, &lab_price_table[i]) != 1)
            return false;
    }
    return true;
}

const struct lab_table lab_prices_table = {
    .fields = (const struct lab_field[]){
        {"insert", lab_read_number, LAB_IN(price_of_insert), LAB_FROM(1e-12, MOST),
         .range = ", or leave it out for 1"},
        {"counter_increment", lab_read_number, LAB_IN(prices.counter_increment), LAB_FROM(0, MOST)},
        {"state_read", lab_read_number, LAB_IN(prices.state_read), LAB_FROM(0, MOST)},
        {"state_write", lab_read_number, LAB_IN(prices.state_write), LAB_FROM(0, MOST)},
        {"lwt", lab_read_number, LAB_IN(prices.lwt), LAB_FROM(0, MOST)},
        {"lock", lab_read_number, LAB_IN(prices.lock), LAB_FROM(0, MOST)},
        {"row_scanned", lab_read_number, LAB_IN(prices.row_scanned), LAB_FROM(0, MOST)},
        {"partition_read", lab_read_number, LAB_IN(prices.partition_read), LAB_FROM(0, MOST)},
        {.name = NULL},
    }};

/* Prices in money are divided by the price of an insert. */
static void complete_prices(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *prices = lab_node_find(root, "prices");
    for (size_t i = 0; i < lab_price_count; i++) {
        const struct lab_price *price = &lab_price_table[i];
        if (lab_node_find(prices, price->name) != NULL)
            set(&scenario->prices, price, lab_price_of(&scenario->prices, price) / scenario->price_of_insert);
    }
}

#define SEEDS_DEFAULT 8

static bool read_kind(struct lab_reader *reader, const struct lab_node *item, uint32_t *kinds)
{
    const char *text = lab_scalar(reader, item), *names[BK_KIND_COUNT];
    if (text == NULL)
        return false;
    for (unsigned kind = 0; kind < BK_KIND_COUNT; kind++) {
        names[kind] = bk_kind_name((enum bk_kind)kind);
        if (strcmp(names[kind], text) == 0) {
            *kinds |= UINT32_C(1) << kind;
            return true;
        }
    }
    const char *nearest = sim_nearest(text, names, BK_KIND_COUNT);
    if (nearest != NULL)
        return lab_fail_at(&reader->tree, &item->place, "no kind '%s'; did you mean '%s'?", text, nearest);
    return lab_fail_at(&reader->tree, &item->place,
                       "no kind '%s'; give unbucketed, time, count, probabilistic, hash or weighted", text);
}

static bool read_kinds(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    uint32_t kinds = 0;
    (void)field;
    if (!lab_check_list(reader, node, 1, SIZE_MAX, "[count, probabilistic]"))
        return false;
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        if (!read_kind(reader, item, &kinds))
            return false;
    }
    *(uint32_t *)out = kinds;
    return true;
}

const struct lab_table lab_tune_table = {
    .fields = (const struct lab_field[]){
        {"risk", lab_read_share, LAB_IN(tune.risk), LAB_FROM(0, 0.5)},
        {"tiny", lab_read_share, LAB_IN(tune.tiny), LAB_FROM(0, 1), .range = ", or leave it out"},
        {"partitions_per_read", lab_read_number, LAB_IN(tune.partitions_per_read), LAB_FROM(1, 1e9),
         .range = ", or leave it out"},
        {"confidence", lab_read_share, LAB_IN(tune.confidence), LAB_FROM(0.5, 0.9999)},
        {"tolerance", lab_read_share, LAB_IN(tune.tolerance), LAB_FROM(0, 0.5)},
        {"seeds", lab_read_whole32, LAB_IN(tune.seeds), LAB_FROM(2, LAB_TUNE_SEEDS_MAX)},
        {"strategies", read_kinds, LAB_IN(tune.kinds)},
        {.name = NULL},
    }};

void lab_tune_default(struct lab_tune *tune)
{
    *tune = (struct lab_tune){.tiny = -1,
                              .confidence = LAB_TUNE_CONFIDENCE,
                              .tolerance = LAB_TUNE_TOLERANCE,
                              .seeds = SEEDS_DEFAULT,
                              .kinds = (UINT32_C(1) << BK_KIND_COUNT) - 1};
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

const struct lab_table lab_limits_table = {
    .fields = (const struct lab_field[]){
        {"partition_rows", lab_read_whole, LAB_IN(limits.partition_rows), LAB_FROM(1, 1e18),
         .range = ", or leave it out for no limit"},
        {"partition_bytes", lab_read_bytes, LAB_IN(limits.partition_bytes), LAB_FROM(1, 1e18),
         .range = ", or leave it out for no limit"},
        {"tiny_rows", lab_read_whole, LAB_IN(limits.tiny_rows), LAB_FROM(1, 1e18),
         .range = ", or leave it out"},
        {"over_limit_share", lab_read_share, LAB_IN(limits.over_limit_share), LAB_FROM(0, 0.5)},
        {.name = NULL},
    }};

static bool read_expect(struct lab_reader *reader, const struct lab_node *item)
{
    struct lab_scenario *scenario = reader->scenario;
    const char *text = lab_scalar(reader, item);
    if (text == NULL)
        return false;
    bool is_of_tune = lab_expect_is_of_tune(text);
    struct lab_expect *expect = &scenario->expects[scenario->expect_count];
    const char *problem =
        is_of_tune ? lab_tune_expect_parse(text, &scenario->tune_expects[scenario->tune_expect_count])
                   : lab_expect_parse(text, expect);
    if (problem == LAB_EXPECT_NO_MEMORY)
        return sim_fail_memory(reader->tree.error);
    if (problem != NULL)
        return lab_fail_value(reader, item, "%s", problem);
    if (is_of_tune) {
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
    bool has_limit = scenario->limits.partition_rows != 0 || scenario->limits.partition_bytes != 0;
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
        while (lab_expect_is_of_tune(lab_scalar(reader, item)))
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
    return check_tune_expects(reader, root) &&
           (reader->scenario->strategy_count == 0 || complete_share(reader, root)) &&
           check_expects(reader, root);
}
