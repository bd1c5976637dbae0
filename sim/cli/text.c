/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/time.h"

#define LINE_COLUMNS 80

static void print_part(FILE *stream, const char *text, size_t length);
static size_t part_width(const char *text, size_t length);
static int scaled(double value, const char *const *units, size_t width, char *buffer);

void cli_print_text(FILE *stream, const char *text)
{
    print_part(stream, text, strlen(text));
}

size_t cli_quote(const char *text, char *buffer)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+%@";
    char *end = buffer;
    if (text[0] != '\0' && strspn(text, safe) == strlen(text)) {
        size_t size = strlen(text);
        memcpy(buffer, text, size + 1);
        return size;
    }
    *end++ = '\'';
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            memcpy(end, "'\\''", 4);
            end += 4;
        } else {
            *end++ = *text;
        }
    }
    *end++ = '\'';
    *end = '\0';
    return (size_t)(end - buffer);
}

size_t cli_text_width(const char *text)
{
    return part_width(text, strlen(text));
}

size_t cli_print_wrapped(const char *text, size_t column)
{
    for (;; text++) {
        size_t length = strcspn(text, " "), width = part_width(text, length);
        bool fits = column + 1 + width <= LINE_COLUMNS;
        putchar(fits ? ' ' : '\n');
        print_part(stdout, text, length);
        column = fits ? column + 1 + width : width;
        text += length;
        if (*text == '\0')
            return column;
    }
}

void cli_compact(double value, size_t width, char *buffer)
{
    static const char *const units[] = {"k", "M", "G", "T", "P", "E", NULL};
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
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    else
        scaled(value, units, width, buffer);
}

void cli_compact_bytes(double value, char *buffer)
{
    static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB", NULL};
    if (!(value >= 0) || value >= 9.99e20)
        snprintf(buffer, CLI_NUMBER_SIZE, "%s", value >= 0 ? "huge" : "-");
    else if (value < 999.5)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.0fB", value);
    else
        scaled(value, units, 6, buffer);
}

void cli_duration(int64_t duration_ns, char *buffer)
{
    static const struct {
        int64_t ns;
        const char *unit;
    } units[] = {{SIM_DAY, "d"}, {SIM_HOUR, "h"}, {SIM_MINUTE, "m"}, {SIM_SECOND, "s"},
                 {SIM_MS, "ms"}, {SIM_US, "us"},  {1, "ns"}};
    size_t i = 0;
    while (duration_ns % units[i].ns != 0)
        i++;
    snprintf(buffer, CLI_NUMBER_SIZE, "%" PRId64 "%s", duration_ns / units[i].ns,
             duration_ns == 0 ? "s" : units[i].unit);
}

void cli_size(uint64_t bytes, char *buffer)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    for (; bytes != 0 && bytes % 1000 == 0; unit++)
        bytes /= 1000;
    snprintf(buffer, CLI_NUMBER_SIZE, "%" PRIu64 "%s", bytes, units[unit]);
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

static void print_part(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        fputc(c < 0x20 || c == 0x7f ? '?' : c, stream);
    }
}

static size_t part_width(const char *text, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static int scaled(double value, const char *const *units, size_t width, char *buffer)
{
    size_t unit = 0;
    for (value /= 1000; value >= 999.5 && units[unit + 1] != NULL; unit++)
        value /= 1000;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    if (width < 5 && decimals > 0)
        decimals = value < 9.95 ? 1 : 0;
    return snprintf(buffer, CLI_NUMBER_SIZE, "%.*f%s", decimals, value, units[unit]);
}
