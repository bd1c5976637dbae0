/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses an expectation such as "partitions.max.rows < 1000" or "tune.recommended == time-1h", and evaluates
 * it. */
#include "lab/expect.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lab/quantity.h"

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

bool lab_expect_is_of_tune(const char *text)
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

const char *lab_tune_expect_parse(const char *text, struct lab_tune_expect *out)
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
