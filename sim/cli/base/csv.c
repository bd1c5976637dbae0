/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the prefix that keeps a CSV field from being interpreted as a formula. */
#include "cli/csv.h"

#include <stdbool.h>
#include <string.h>

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

/* [+-]digits[.digits][e[+-]digits] */
static bool is_number(const char *text)
{
    const char *digits = text + strspn(text, "+-"), *end = skip_digits(digits);
    if (digits - text > 1 || end == digits)
        return false;
    if (*end == '.' && skip_digits(end + 1) > end + 1)
        end = skip_digits(end + 1);
    if (*end == 'e' || *end == 'E') {
        const char *power = end + 1 + (end[1] == '+' || end[1] == '-');
        end = skip_digits(power) > power ? skip_digits(power) : end;
    }
    return *end == '\0';
}

const char *cli_csv_guard(const char *text)
{
    return text[0] != '\0' && strchr("=+-@\t\r\n", text[0]) != NULL && !is_number(text) ? "'" : "";
}
