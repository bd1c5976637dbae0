/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab-curves INPUT CHART: draws the curves of a text file; docs/charts.md describes its format. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/error.h"
#include "kernel/text.h"
#include "reports/reports.h"

enum { FIELDS_MAX = 5, INPUT_SIZE_MAX = 64 << 20 };

static const char *const scale_names[] = {[REPORT_LINEAR] = "linear", [REPORT_LOG] = "log"};
static const char *const unit_names[REPORT_UNIT_COUNT] = {
    [REPORT_UNIT_PLAIN] = "plain", [REPORT_UNIT_ROWS] = "rows",   [REPORT_UNIT_SECONDS] = "seconds",
    [REPORT_UNIT_SHARE] = "share", [REPORT_UNIT_BYTES] = "bytes",
};
static const char *const columns[FIELDS_MAX] = {"series", "x", "y", "low", "high"};

/* The texts of curves and rules point into the input, which is modified in place. */
struct reader {
    const char *name;
    size_t line;
    size_t column_count; /* of the table; 0 before its header */
    struct report_curves curves;
    struct report_curve series[REPORT_CURVES_MAX];
    struct report_curves_point *points[REPORT_CURVES_MAX];
    size_t capacities[REPORT_CURVES_MAX];
    struct report_rule rules[REPORT_RULES_MAX];
    size_t rule_lines[REPORT_RULES_MAX];
    struct sim_error *error;
};

static bool format_of(const char *chart, enum report_format *out, struct sim_error *error)
{
    const char *dot = strrchr(chart, '.');
    if (dot == NULL || !report_format_parse(dot + 1, out)) {
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: the name tells no format; let it end in .png, .svg or .pdf", chart);
    }
    return true;
}

static char *load(const char *name, struct sim_error *error)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    if (file == NULL) {
        sim_fail(error, SIM_ERROR_INPUT, "%s: cannot be opened: %s; give a file that can be read", name,
                 strerror(errno));
        return NULL;
    }
    size_t capacity = 65536;
    size_t size = 0;
    char *text = malloc(capacity);
    while (text != NULL) {
        size += fread(text + size, 1, capacity - size - 1, file);
        if (size < capacity - 1 || size >= INPUT_SIZE_MAX) {
            break;
        }
        char *grown = realloc(text, capacity *= 2);
        if (grown == NULL) {
            free(text);
        }
        text = grown;
    }
    const bool was_lost = ferror(file) != 0;
    if (file != stdin) {
        fclose(file);
    }
    if (text == NULL) {
        sim_fail_memory(error);
        return NULL;
    }
    text[size] = 0;
    if (was_lost) {
        sim_fail(error, SIM_ERROR_INPUT, "%s: cannot be read; give a file and no folder", name);
    } else if (size >= INPUT_SIZE_MAX) {
        sim_fail(error, SIM_ERROR_INPUT, "%s: is larger than 64 MiB; leave out some of the points", name);
    } else if (strlen(text) < size) {
        sim_fail(error, SIM_ERROR_INPUT, "%s: holds a NUL byte; give a text file", name);
    } else {
        return text;
    }
    free(text);
    return NULL;
}

static bool one_of(const char *const *names, size_t count, const char *name, size_t *out)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static char *trim(char *text)
{
    static const char blanks[] = " \t\r";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL) {
        text[--length] = 0;
    }
    return text;
}

static bool fail(struct reader *reader, const char *text, const char *part, const char *cure)
{
    return sim_fail(reader->error, SIM_ERROR_INPUT, "%s:%zu: %s%s; %s", reader->name, reader->line, text,
                    part, cure);
}

/* label | unit | scale; unit and scale are optional. */
static bool read_axis(struct reader *reader, char *value, struct report_curves_axis *axis)
{
    char *unit = strchr(value, '|');
    char *scale = unit != NULL ? strchr(unit + 1, '|') : NULL;
    if (unit != NULL) {
        *unit++ = 0;
    }
    if (scale != NULL) {
        *scale++ = 0;
    }
    axis->title = trim(value);
    size_t which = REPORT_UNIT_PLAIN;
    if (unit != NULL && !one_of(unit_names, REPORT_UNIT_COUNT, trim(unit), &which)) {
        return fail(reader, "no unit is called ", trim(unit),
                    "the units are: plain, rows, seconds, share, bytes");
    }
    axis->unit = (enum report_curves_unit)which;
    which = REPORT_LINEAR;
    if (scale != NULL && !one_of(scale_names, 2, trim(scale), &which)) {
        return fail(reader, "no scale is called ", trim(scale), "the scales are: linear, log");
    }
    axis->scale = (enum report_scale)which;
    return true;
}

/* Accepts the decimal numbers of CSV, but not hexadecimal or infinite ones. */
static bool parse_number(struct reader *reader, const char *what, const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    const bool is_plain = text[0] != 0 && text[strspn(text, "0123456789+-.eE")] == 0 && *end == 0;
    if (!is_plain || !(*out >= -REPORT_VALUE_MAX && *out <= REPORT_VALUE_MAX)) {
        char label[96];
        snprintf(label, sizeof label, "%s is no number: ", what);
        return fail(reader, label, text, "write one like 12, -0.5 or 3e6, up to 1e18");
    }
    return true;
}

static bool read_rule(struct reader *reader, char *value)
{
    char *label = strchr(value, '|');
    if (reader->curves.rule_count == REPORT_RULES_MAX) {
        return fail(reader, "more rules than a chart has room for", "", "keep six of them");
    }
    struct report_rule *rule = &reader->rules[reader->curves.rule_count];
    if (label != NULL) {
        *label++ = 0;
    }
    rule->label = label != NULL ? trim(label) : "";
    reader->rule_lines[reader->curves.rule_count++] = reader->line;
    return parse_number(reader, "rule", trim(value), &rule->at);
}

static bool read_heading(struct reader *reader, char *line)
{
    enum { TITLE, SUBTITLE, FOOT, X, Y, RULE, COUNT };
    static const char *const names[COUNT] = {"title", "subtitle", "foot", "x", "y", "rule"};
    char *colon = strchr(line, ':');
    if (colon == NULL) {
        return fail(reader, "neither 'name: value' nor the table's head: ", line,
                    "begin the table with 'series,x,y' or 'series,x,y,low,high'");
    }
    *colon = 0;
    char *value = trim(colon + 1);
    const char *name = trim(line);
    size_t which = COUNT;
    if (!one_of(names, COUNT, name, &which)) {
        return fail(reader, "no heading is called ", name,
                    "the headings are: title, subtitle, foot, x, y, rule");
    }
    struct report_curves *curves = &reader->curves;
    const char **const texts[] = {&curves->title, &curves->subtitle, &curves->foot};
    struct report_curves_axis *const axes[] = {&curves->x, &curves->y};
    if (which == RULE) {
        return read_rule(reader, value);
    }
    if (which <= FOOT ? *texts[which] != NULL : axes[which - X]->title != NULL) {
        return fail(reader, "a second ", name, "leave one of them out");
    }
    if (which > FOOT) {
        return read_axis(reader, value, axes[which - X]);
    }
    *texts[which] = value;
    return true;
}

/* Called at a quote: writes the field's bytes, advancing *out, and leaves *at after the closing quote. */
static bool unquote(char **at, char **out)
{
    char *from = *at + 1;
    for (; *from != 0; from++) {
        if (*from == '"' && *++from != '"') {
            *at = from;
            return *from == 0 || *from == ',';
        }
        *(*out)++ = *from;
    }
    return false;
}

/* Splits a line in place; a quoted field may contain commas and doubled quotes. */
static bool split_csv(struct reader *reader, char *line, char **fields, size_t *count)
{
    *count = 0;
    for (char *at = line;;) {
        if (*count == FIELDS_MAX) {
            return fail(reader, "more than five fields", "",
                        "put a series' name that has commas into quotes");
        }
        char *out = at;
        fields[(*count)++] = at;
        if (*at != '"') {
            at = out = at + strcspn(at, ",");
        } else if (!unquote(&at, &out)) {
            return fail(reader, "a quoted field does not end with its quote", "",
                        "close it with \", and write a quote inside as two");
        }
        const bool is_last = *at == 0;
        *out = 0;
        fields[*count - 1] = trim(fields[*count - 1]);
        if (is_last) {
            return true;
        }
        at++;
    }
}

static bool read_columns(struct reader *reader, char *line)
{
    char *fields[FIELDS_MAX];
    size_t count;
    if (!split_csv(reader, line, fields, &count)) {
        return false;
    }
    bool is_known = count == 3 || count == FIELDS_MAX;
    for (size_t i = 0; is_known && i < count; i++) {
        is_known = strcmp(fields[i], columns[i]) == 0;
    }
    reader->column_count = count;
    return is_known ? true
                    : fail(reader, "the table's head has other columns", "",
                           "write 'series,x,y' or 'series,x,y,low,high'");
}

static bool check_scale(struct reader *reader, const char *what, enum report_scale scale, double value)
{
    if (scale == REPORT_LOG && value < 0) {
        return fail(reader, what, " is below 0 on a log scale", "make the scale linear");
    }
    return true;
}

static bool read_point(struct reader *reader, char *const *fields, struct report_curves_point *point)
{
    double *const values[FIELDS_MAX] = {NULL, &point->x, &point->y, &point->low, &point->high};
    for (size_t i = 1; i < FIELDS_MAX; i++) {
        const bool is_given = i < reader->column_count && (i < 3 || fields[i][0] != 0);
        *values[i] = point->y; /* the default of the bounds */
        if (is_given && !parse_number(reader, columns[i], fields[i], values[i])) {
            return false;
        }
        const enum report_scale scale = i == 1 ? reader->curves.x.scale : reader->curves.y.scale;
        if (!check_scale(reader, columns[i], scale, *values[i])) {
            return false;
        }
    }
    if (point->low > point->y || point->high < point->y) {
        return fail(reader, "y does not lie between low and high", "", "correct one of the three");
    }
    return true;
}

static bool add_point(struct reader *reader, const char *label, const struct report_curves_point *point)
{
    struct report_curves *curves = &reader->curves;
    size_t i = 0;
    while (i < curves->curve_count && strcmp(reader->series[i].label, label) != 0) {
        i++;
    }
    if (i == REPORT_CURVES_MAX) {
        return fail(reader, "a tenth series: ", label, "a chart has room for nine; draw two");
    }
    struct report_curve *series = &reader->series[i];
    if (series->count == reader->capacities[i]) {
        const size_t capacity = series->count == 0 ? 64 : 2 * series->count;
        struct report_curves_point *grown = realloc(reader->points[i], capacity * sizeof *grown);
        if (grown == NULL) {
            return sim_fail_memory(reader->error);
        }
        reader->points[i] = grown;
        reader->capacities[i] = capacity;
        series->points = grown;
    }
    reader->points[i][series->count++] = *point;
    series->label = label;
    curves->curve_count += i == curves->curve_count;
    return true;
}

static bool read_row(struct reader *reader, char *line)
{
    char *fields[FIELDS_MAX];
    size_t count;
    struct report_curves_point point;
    if (!split_csv(reader, line, fields, &count)) {
        return false;
    }
    if (count != reader->column_count) {
        return fail(reader, "the row has not as many fields as the table's head", "",
                    reader->column_count == 3 ? "write series, x, y" : "write series, x, y, low, high");
    }
    return read_point(reader, fields, &point) && add_point(reader, fields[0], &point);
}

static bool read_line(struct reader *reader, char *line)
{
    if (sim_utf8_valid(line, strlen(line)) != strlen(line)) {
        return fail(reader, "is not UTF-8", "", "save the file as UTF-8");
    }
    line = trim(line);
    if (line[0] == 0 || line[0] == '#') {
        return true;
    }
    if (reader->column_count > 0) {
        return read_row(reader, line);
    }
    static const char table[] = "series,";
    return strncmp(line, table, strlen(table)) == 0 ? read_columns(reader, line) : read_heading(reader, line);
}

static bool check_whole(struct reader *reader)
{
    const char *const missing = reader->curves.title == NULL     ? "title"
                                : reader->curves.x.title == NULL ? "x"
                                : reader->curves.y.title == NULL ? "y"
                                                                 : NULL;
    if (missing != NULL) {
        return fail(reader, "the file ends without the heading ", missing,
                    "add it above the table, as 'bucketlab-curves --help' shows");
    }
    if (reader->curves.curve_count == 0) {
        return fail(reader, "the file ends without a point", "", "add 'series,x,y' and rows below it");
    }
    for (size_t i = 0; i < reader->curves.rule_count; i++) {
        reader->line = reader->rule_lines[i];
        if (!check_scale(reader, "rule", reader->curves.x.scale, reader->rules[i].at)) {
            return false;
        }
    }
    return true;
}

static bool read_all(struct reader *reader, char *text)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (strncmp(text, byte_order_mark, strlen(byte_order_mark)) == 0) {
        text += strlen(byte_order_mark);
    }
    while (text != NULL && *text != 0) {
        char *end = strchr(text, '\n');
        if (end != NULL) {
            *end = 0;
        }
        reader->line++;
        if (!read_line(reader, text)) {
            return false;
        }
        text = end != NULL ? end + 1 : NULL;
    }
    return check_whole(reader);
}

static int draw(const char *input, const char *chart, struct sim_error *error)
{
    enum report_format format;
    char *text = format_of(chart, &format, error) ? load(input, error) : NULL;
    if (text == NULL) {
        return (int)error->class;
    }
    struct reader reader = {.name = strcmp(input, "-") == 0 ? "standard input" : input, .error = error};
    reader.curves.curves = reader.series;
    reader.curves.rules = reader.rules;
    if (read_all(&reader, text)) {
        report_curves_write(&reader.curves, format, chart, error);
    }
    for (size_t i = 0; i < REPORT_CURVES_MAX; i++) {
        free(reader.points[i]);
    }
    free(text);
    return (int)error->class;
}

int main(int argc, char **argv)
{
    struct sim_error error = {.class = SIM_ERROR_NONE};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        puts("bucketlab-curves INPUT CHART: draws the curves of a text file\n\n"
             "INPUT is a file, or - for the standard input; CHART ends in .png, .svg or .pdf.\n\n"
             "example of an INPUT:\n"
             "  title: Violations over lead\n"
             "  x: lead | seconds | linear\n"
             "  y: violations per million rows | plain | log\n"
             "  rule: 6.2 | safe lead by the formula: 6.2 s\n"
             "  series,x,y,low,high\n"
             "  findable,0,310,290,330\n"
             "  findable,7,0,0,3.7\n\n"
             "units: plain, rows, seconds, share, bytes; scales: linear, log");
        return fclose(stdout) == 0 ? 0 : SIM_ERROR_ENVIRONMENT;
    }
    if (argc != 3) {
        sim_fail(&error, SIM_ERROR_INPUT,
                 "bucketlab-curves: an input and a chart are needed; write 'bucketlab-curves INPUT CHART'");
    } else {
        draw(argv[1], argv[2], &error);
    }
    if (error.class != SIM_ERROR_NONE) {
        fprintf(stderr, "%s\n", error.text);
    }
    return (int)error.class;
}
