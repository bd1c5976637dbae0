/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command's result comes in as a JSON value, and goes out as JSON, as a table or as CSV. All numbers are
 * formatted here, so that they are alike in all commands. Widths are computed from the cells, in terminal
 * columns; marks have the same meaning as colours, so that no information is lost without colours. */
#define _POSIX_C_SOURCE 200809L
#include "cli/base.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS_MOST 24
#define CELL_SIZE    (3 * CLI_NUMBER_SIZE)

/* --- JSON */

json_t *cli_json_number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (fabs(value) <= 0x1p53 && value == (double)(json_int_t)value)
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *cli_json_whole(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_sprintf("%" PRIu64, value);
}

json_t *cli_json_digest(uint64_t value)
{
    return json_sprintf("%016" PRIx64, value);
}

json_t *cli_json_words(const char *text)
{
    g_autofree char *valid = text == NULL ? NULL : g_utf8_make_valid(text, -1);
    return text == NULL ? json_null() : json_string(valid);
}

json_t *cli_json_object(const struct cli_member *members, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, members[i].name, members[i].value);
    return object;
}

json_t *cli_json_with(json_t *object, const char *name, json_t *value)
{
    json_object_set_new(object, name, value);
    return object;
}

json_t *cli_json_append(json_t *list, json_t *item)
{
    json_array_append_new(list, item);
    return list;
}

char *cli_json_text(const json_t *value)
{
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

char *cli_json_quoted(const char *text)
{
    json_t *value = cli_json_words(text);
    char *quoted = cli_json_text(value);
    json_decref(value);
    return quoted;
}

void cli_json_print(json_t *value)
{
    g_autofree char *line = cli_json_text(value);
    json_decref(value);
    /* A failed write sets the stream's error indicator, which main() checks. On a terminal, characters that
     * turn the direction of text are printed as in all other output. */
    if (isatty(STDOUT_FILENO) == 1)
        cli_print_text(stdout, line);
    else
        fputs(line, stdout);
    putchar('\n');
}

/* --- tables */

static const json_t *member(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    return value != NULL ? value : json_object_get(json_object_get(row, "metrics"), name);
}

static const json_t *value_of(const json_t *row, const struct cli_column *column)
{
    const json_t *value = member(row, column->name);
    return (value == NULL || json_is_null(value)) && column->other != NULL ? member(row, column->other)
                                                                           : value;
}

static double number_of(const json_t *value)
{
    return json_is_object(value)   ? number_of(json_object_get(value, "mean"))
           : json_is_number(value) ? json_number_value(value)
                                   : (double)NAN;
}

double cli_table_figure(const json_t *row, const struct cli_column *column)
{
    const double value = number_of(value_of(row, column));
    if (column->per == NULL)
        return value;
    const double whole = number_of(member(row, column->per));
    return whole > 0 ? value / whole : (double)NAN;
}

bool cli_table_shows(const struct cli_table *table, const struct cli_column *column)
{
    size_t index;
    json_t *row;
    json_array_foreach(table->rows, index, row)
    {
        const json_t *value = value_of(row, column);
        const double figure = cli_table_figure(row, column);
        if (json_string_length(value) > 0 || (column->is_rare ? figure > 0 : !isnan(figure)))
            return true;
    }
    return json_array_size(table->rows) == 0;
}

/* The share of a part of a whole; 0% and 100% only if they are exact. */
static void part_text(double share, char *buffer)
{
    if (isnan(share))
        strcpy(buffer, "-");
    else if (share == 0)
        strcpy(buffer, "0");
    else if (share < 0.001)
        strcpy(buffer, "<.1%");
    else if (share < 0.0995)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.1f%%", 100 * share);
    else
        snprintf(buffer, CLI_NUMBER_SIZE, "%.0f%%", share > 0.99 ? floor(100 * share) : 100 * share);
}

static void mean_text(const json_t *value, char *buffer)
{
    char half[CLI_NUMBER_SIZE];
    const json_t *high = json_object_get(value, "high");
    cli_compact(number_of(value), 5, buffer);
    if (!json_is_number(high))
        return;
    cli_compact(json_number_value(high) - number_of(value), 5, half);
    snprintf(buffer + strlen(buffer), CLI_NUMBER_SIZE + 4, " +- %s", half);
}

static void exact_text(const json_t *value, double figure, char *buffer)
{
    if (json_is_integer(value))
        snprintf(buffer, CLI_NUMBER_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(buffer, CLI_NUMBER_SIZE, isnan(figure) ? "-" : "%.10g", figure);
}

static void figure_text(const json_t *row, const struct cli_column *column, char *buffer)
{
    const double value = cli_table_figure(row, column);
    switch (column->form) {
    case CLI_SHORT:
        cli_compact(value, 4, buffer);
        break;
    case CLI_BYTES:
        cli_compact_bytes(value, buffer);
        break;
    case CLI_EXACT:
        exact_text(value_of(row, column), value, buffer);
        break;
    case CLI_TENTHS:
        snprintf(buffer, CLI_NUMBER_SIZE, isnan(value) ? "-" : "%.1f", value);
        break;
    case CLI_PER_1000:
        cli_compact(1000 * value, 5, buffer);
        break;
    case CLI_SHARE:
        cli_compact(100 * value, 4, buffer);
        strcat(buffer, value >= 0 ? "%" : "");
        break;
    case CLI_PART:
        part_text(value, buffer);
        break;
    case CLI_MEAN:
        mean_text(value_of(row, column), buffer);
        break;
    default:
        cli_compact(value, 5, buffer);
    }
}

static unsigned marks_of(const struct cli_table *table, const json_t *row, const struct cli_column *column)
{
    return table->marks == NULL ? 0 : table->marks(table->context, row, column);
}

static bool is_text(const struct cli_column *column)
{
    return column->form == CLI_LABEL || column->form == CLI_WORDS;
}

/* The text of a cell: the row's own, or one in the buffer. */
static const char *cell_text(const struct cli_table *table, const json_t *row,
                             const struct cli_column *column, char buffer[CELL_SIZE])
{
    const json_t *value = value_of(row, column);
    const unsigned marks = marks_of(table, row, column);
    if (json_is_string(value))
        return json_string_value(value);
    if (value == NULL && is_text(column))
        return "";
    buffer[0] = marks & CLI_BANG ? '!' : '*';
    buffer[1] = '\0';
    char *figure = buffer + ((marks & (CLI_BANG | CLI_STAR)) != 0);
    if ((marks & CLI_BANG) == 0 || !isnan(cli_table_figure(row, column)))
        figure_text(row, column, figure);
    return buffer;
}

/* The shown columns of a table, and their widths without the gaps. */
struct layout {
    const struct cli_table *table;
    const struct cli_column *columns[COLUMNS_MOST];
    size_t widths[COLUMNS_MOST], count, gap;
};

/* Whether column `index` begins a group in its block. */
static bool begins(const struct layout *layout, size_t from, size_t index)
{
    const char *group = layout->columns[index]->group,
               *before = index == from ? NULL : layout->columns[index - 1]->group;
    return group == NULL || before == NULL || strcmp(group, before) != 0;
}

static size_t width_of(const struct layout *layout, const struct cli_column *column)
{
    const struct cli_table *table = layout->table;
    const bool is_label = column->form == CLI_LABEL;
    size_t most = cli_text_width(column->title), index;
    json_t *row;
    if (is_label && most < table->label_least)
        most = table->label_least;
    /* The last text of a line needs no width, and may go beyond the end of the line. */
    if (column->form == CLI_WORDS && column == &table->columns[table->count - 1])
        return most;
    json_array_foreach(table->rows, index, row)
    {
        char buffer[CELL_SIZE];
        const size_t width = cli_text_width(cell_text(table, row, column, buffer));
        if (width > most && (!is_label || table->label_most == 0 || width <= table->label_most))
            most = width;
    }
    return most;
}

static void lay_out(const struct cli_table *table, struct layout *layout)
{
    *layout = (struct layout){.table = table, .gap = table->gap == 0 ? 1 : table->gap};
    for (size_t i = 0; i < table->count && layout->count < COLUMNS_MOST; i++) {
        if (!cli_table_shows(table, &table->columns[i]) && table->columns[i].form != CLI_LABEL)
            continue;
        layout->widths[layout->count] = width_of(layout, &table->columns[i]);
        layout->columns[layout->count++] = &table->columns[i];
    }
    /* A heading over several columns may need more room than they do. */
    for (size_t i = 0, first = 0, sum = 0; i < layout->count; i++) {
        first = begins(layout, 0, i) ? i : first;
        sum = (begins(layout, 0, i) ? 0 : sum) + layout->widths[i] + layout->gap;
        const char *group = layout->columns[first]->group;
        const size_t needed = group == NULL ? 0 : cli_text_width(group) + layout->gap;
        if ((i + 1 == layout->count || begins(layout, 0, i + 1)) && sum < needed)
            layout->widths[first] += needed - sum;
    }
}

static void pad(FILE *stream, size_t width)
{
    fprintf(stream, "%*s", (int)width, "");
}

/* Prints a cell that begins at `at`, and returns its end; the last text of a line is not padded. */
static size_t print_cell(FILE *stream, const struct layout *layout, size_t index, size_t at, bool is_last,
                         const char *text)
{
    const size_t gap = index == 0 ? 0 : layout->gap, width = layout->widths[index];
    if (is_last && text[0] == '\0') /* a column without a heading */
        return at;
    pad(stream, gap + (is_text(layout->columns[index]) ? 0 : width - cli_text_width(text)));
    if (is_text(layout->columns[index]) && !is_last)
        cli_print_label(stream, text, width, at + gap);
    else
        cli_print_text(stream, text);
    return at + gap + width;
}

static size_t lead_width(const struct cli_table *table)
{
    return (table->lead == NULL ? 0 : strlen(table->lead)) + (table->has_choice ? 2 : 0);
}

static void print_lead(FILE *stream, const struct cli_table *table, const char *mark)
{
    fprintf(stream, "%s%s", table->lead == NULL ? "" : table->lead, table->has_choice ? mark : "");
}

static void print_head(FILE *stream, const struct layout *layout, size_t from, size_t to)
{
    bool has_groups = false;
    for (size_t i = 0; i < layout->count; i++)
        has_groups |= layout->columns[i]->group != NULL;
    if (has_groups)
        print_lead(stream, layout->table, "  ");
    for (size_t i = 0, sum = 0; has_groups && i < to; i = i + 1 < from ? from : i + 1) {
        const char *group = layout->columns[i]->group;
        sum += layout->widths[i] + (i == 0 ? 0 : layout->gap);
        if (group != NULL && (i + 1 == to || begins(layout, from, i + 1))) {
            fprintf(stream, "%*s", (int)sum, group);
            sum = 0;
        }
    }
    fputs(has_groups ? "\n" : "", stream);
    print_lead(stream, layout->table, "  ");
    for (size_t i = 0, at = lead_width(layout->table); i < to; i = i + 1 < from ? from : i + 1)
        at = print_cell(stream, layout, i, at, i + 1 == to, layout->columns[i]->title);
    fputc('\n', stream);
}

static void print_row(FILE *stream, const struct layout *layout, const json_t *row, size_t from, size_t to)
{
    const struct cli_table *table = layout->table;
    const bool has_colour = stream == stdout && cli_has_colour();
    const bool is_choice = (marks_of(table, row, NULL) & CLI_CHOICE) != 0;
    char buffer[CELL_SIZE];
    while (to > 1 && cell_text(table, row, layout->columns[to - 1], buffer)[0] == '\0')
        to--;
    fputs(is_choice && has_colour ? CLI_BOLD : "", stream);
    print_lead(stream, table, is_choice ? "> " : "  ");
    for (size_t i = 0, at = lead_width(table); i < to; i = i + 1 < from ? from : i + 1) {
        const char *text = cell_text(table, row, layout->columns[i], buffer);
        const bool is_alarm = has_colour && (marks_of(table, row, layout->columns[i]) & CLI_ALARM) != 0;
        fputs(is_alarm ? CLI_RED : "", stream);
        at = print_cell(stream, layout, i, at, i + 1 == to, text);
        fputs(is_alarm || (i == 0 && is_choice && has_colour) ? CLI_PLAIN : "", stream);
    }
    fputc('\n', stream);
    if (table->below != NULL)
        table->below(table->context, row);
}

void cli_table_print(FILE *stream, const struct cli_table *table)
{
    struct layout layout;
    lay_out(table, &layout);
    /* The first column is repeated in each block. */
    for (size_t from = 1, to; from == 1 || from < layout.count; from = to) {
        size_t width = lead_width(table) + layout.widths[0], index;
        json_t *row;
        for (to = from; to < layout.count; to++) {
            width += layout.gap + layout.widths[to];
            if (to > from && width > cli_line_columns(stream))
                break;
        }
        fputs(from > 1 ? "\n" : "", stream);
        print_head(stream, &layout, from, to);
        json_array_foreach(table->rows, index, row)
        {
            print_row(stream, &layout, row, from, to);
        }
    }
}

bool cli_table_legend(const struct cli_table *table)
{
    g_autoptr(GString) told = g_string_new("");
    for (size_t i = 0; i < table->count; i++) {
        const struct cli_column *column = &table->columns[i];
        if (column->legend != NULL && cli_table_shows(table, column))
            g_string_append_printf(told, "%s%s", told->len == 0 ? "" : "; ", column->legend);
    }
    if (told->len > 0) {
        putchar('\n');
        cli_print_paragraph(told->str);
    }
    return told->len > 0;
}

bool cli_has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (no_colour == NULL || no_colour[0] == '\0') && isatty(STDOUT_FILENO) == 1 &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* --- CSV */

static bool is_number(const char *text)
{
    char *end;
    g_ascii_strtod(text, &end);
    return end != text && *end == '\0';
}

void cli_csv_text(FILE *stream, const char *text)
{
    const bool is_formula = text[0] != '\0' && strchr("=+-@\t\r\n", text[0]) != NULL && !is_number(text);
    const bool is_quoted = strpbrk(text, ",\"\r\n") != NULL;
    fprintf(stream, "%s%s", is_quoted ? "\"" : "", is_formula ? "'" : "");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n')
            fputs(c[1] == '\0' ? "" : "; ", stream);
        else
            fprintf(stream, *c == '"' ? "\"\"" : "%c", *c);
    }
    fputs(is_quoted ? "\"" : "", stream);
}

void cli_csv_value(FILE *stream, const json_t *value)
{
    if (json_is_string(value))
        cli_csv_text(stream, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(stream, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_number(value))
        fprintf(stream, "%.17g", json_number_value(value));
}
