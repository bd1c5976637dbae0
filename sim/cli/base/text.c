/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints texts and numbers on a terminal: without control characters, wrapped, in few digits. */
#define _DEFAULT_SOURCE
#include "cli/base.h"

#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kernel/number.h"
#include "kernel/text.h"
#include "kernel/time.h"

#define COLUMNS_USUAL 80
#define COLUMNS_MOST  120 /* longer lines are hard to read */
#define UNIT_COUNT    6   /* number of powers of 1000 that have a suffix */

/* kept: control characters that are printed. */
static void print_part(FILE *stream, const char *text, size_t length, const char *kept)
{
    while (length > 0) {
        bool is_fine;
        size_t size = sim_text_step(text, length, kept, &is_fine);
        if (is_fine)
            fwrite(text, 1, size, stream);
        else
            fputc('?', stream);
        text += size;
        length -= size;
    }
}

void cli_print_text(FILE *stream, const char *text)
{
    print_part(stream, text, strlen(text), "");
}

void cli_print_lines(FILE *stream, const char *text)
{
    print_part(stream, text, strlen(text), "\n");
}

void cli_print_line(FILE *stream, const char *before, const char *text)
{
    fputs(before, stream);
    cli_print_text(stream, text);
    fputc('\n', stream);
}

char *cli_quoted(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+%@";
    return text[0] != '\0' && strspn(text, safe) == strlen(text) ? g_strdup(text) : g_shell_quote(text);
}

char *cli_line_with(char *line, const char *word)
{
    g_autofree char *before = line, *quoted = cli_quoted(word);
    return g_strconcat(before, " ", quoted, NULL);
}

char **cli_lines(const char *text)
{
    g_autofree char *whole = g_strndup(text, strlen(text) - g_str_has_suffix(text, "\n"));
    return g_strsplit(whole, "\n", -1);
}

/* The width on a terminal, independent of the locale: a combining mark takes no column, a character of East
 * Asian width two. */
static size_t part_width(const char *text, size_t length)
{
    size_t width = 0;
    while (length > 0) {
        unsigned code = 0;
        bool is_fine;
        size_t size = sim_text_step(text, length, "", &is_fine);
        sim_utf8(text, length, &code);
        if (!is_fine)
            width += 1;
        else if (!g_unichar_iszerowidth(code))
            width += g_unichar_iswide(code) ? 2 : 1;
        text += size;
        length -= size;
    }
    return width;
}

size_t cli_text_width(const char *text)
{
    return part_width(text, strlen(text));
}

void cli_print_label(FILE *stream, const char *label, size_t columns, size_t indent)
{
    const size_t width = cli_text_width(label);
    cli_print_text(stream, label);
    if (width > columns)
        fprintf(stream, "\n%*s", (int)(indent + columns), "");
    else
        fprintf(stream, "%*s", (int)(columns - width), "");
}

size_t cli_terminal_columns(FILE *stream)
{
    struct winsize size;
    const bool is_known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : COLUMNS_USUAL;
}

size_t cli_line_columns(FILE *stream)
{
    const size_t columns = cli_terminal_columns(stream);
    return columns < COLUMNS_USUAL ? COLUMNS_USUAL : columns > COLUMNS_MOST ? COLUMNS_MOST : columns;
}

static size_t print_words(FILE *stream, const char *text, size_t column, size_t indent)
{
    const size_t columns = cli_line_columns(stream);
    for (;; text++) {
        size_t length = strcspn(text, " "), width = part_width(text, length);
        bool fits = column + 1 + width <= columns;
        if (fits)
            fputc(' ', stream);
        else
            fprintf(stream, "\n%*s", (int)indent, "");
        print_part(stream, text, length, "");
        column = (fits ? column + 1 : indent) + width;
        text += length;
        if (*text == '\0')
            return column;
    }
}

size_t cli_print_wrapped(const char *text, size_t column)
{
    return print_words(stdout, text, column, 0);
}

size_t cli_print_indented(const char *text, size_t column, size_t indent)
{
    return print_words(stdout, text, column, indent);
}

void cli_print_notice(FILE *stream, const char *kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stream, "%s:", kind);
    if (isatty(fileno(stream)) == 1) {
        print_words(stream, text, strlen(kind) + 1, 2);
    } else {
        fputc(' ', stream);
        cli_print_text(stream, text);
    }
    fputc('\n', stream);
}

void cli_print_paragraph(const char *text)
{
    size_t length = strcspn(text, " ");
    print_part(stdout, text, length, "");
    if (text[length] != '\0')
        cli_print_wrapped(text + length + 1, part_width(text, length));
    putchar('\n');
}

/* Formats a value that is divided by 1000 at least once, with the unit of the power. */
static int scaled(double value, const char *const units[UNIT_COUNT], size_t width, char *buffer)
{
    value /= 1000;
    unsigned unit = sim_shorten(&value, UNIT_COUNT - 1);
    int decimals = sim_shortened_decimals(value);
    if (width < 5 && decimals > 0)
        decimals = value < 9.95 ? 1 : 0;
    return snprintf(buffer, CLI_NUMBER_SIZE, "%.*f%s", decimals, value, units[unit]);
}

void cli_compact(double value, size_t width, char *buffer)
{
    static const char *const units[UNIT_COUNT] = {"k", "M", "G", "T", "P", "E"};
    double most = width >= 5 ? 99999.5 : 9999.5;
    if (!(value >= 0) || value >= 9.99e20)
        snprintf(buffer, CLI_NUMBER_SIZE, "%s", value >= 0 ? "huge" : "-");
    else if (value == 0)
        snprintf(buffer, CLI_NUMBER_SIZE, "0");
    else if (value < 0.005)
        snprintf(buffer, CLI_NUMBER_SIZE, "<.01");
    else if (value < most && value == (double)(int64_t)value)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.0f", value);
    else if (value < most)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*f", sim_shortened_decimals(value), value);
    else
        scaled(value, units, width, buffer);
}

void cli_compact_bytes(double value, char *buffer)
{
    static const char *const units[UNIT_COUNT] = {"KB", "MB", "GB", "TB", "PB", "EB"};
    if (!(value >= 0) || value >= 9.99e20)
        snprintf(buffer, CLI_NUMBER_SIZE, "%s", value >= 0 ? "huge" : "-");
    else if (value < 999.5)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.0fB", value);
    else
        scaled(value, units, 6, buffer);
}

void cli_grouped(uint64_t value, char *buffer)
{
    char digits[CLI_NUMBER_SIZE];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    for (int i = 0; i < length; i++) {
        *buffer++ = digits[i];
        if (i + 1 < length && (length - 1 - i) % 3 == 0)
            *buffer++ = ',';
    }
    *buffer = '\0';
}

void cli_span(double days, char *buffer)
{
    char number[CLI_NUMBER_SIZE];
    const char *unit;
    cli_compact(sim_span_told(days, &unit), 3, number);
    snprintf(buffer, CLI_SPAN_SIZE, "%s %s%s", number, unit, strcmp(number, "1") == 0 ? "" : "s");
}
