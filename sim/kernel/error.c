/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_one_line(char *text, bool is_cut);

bool sim_fail(struct sim_error *error, enum sim_error_class class, const char *format, ...)
{
    if (error == NULL)
        return false;
    /* Formatted beside, so that an error may quote the one it replaces. */
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_one_line(text, length >= (int)sizeof text);
    error->class = class;
    memcpy(error->text, text, sizeof text);
    return false;
}

bool sim_fail_memory(struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT, "out of memory; free some, or use fewer keys or jobs");
}

static void make_one_line(char *text, bool is_cut)
{
    size_t length = strlen(text);
    if (is_cut) {
        /* A character of UTF-8 that was cut in two goes whole. */
        size_t begin = length;
        while (begin > 0 && ((unsigned char)text[begin - 1] & 0xc0) == 0x80)
            begin--;
        if (begin > 0 && (unsigned char)text[begin - 1] >= 0xc0)
            length = begin - 1;
        if (length > 3)
            memcpy(text + length - 3, "...", 3);
        text[length] = '\0';
        while (length > 3 && ((unsigned char)text[length - 4] & 0x80) != 0) {
            memmove(text + length - 4, text + length - 3, 4);
            length--;
        }
    }
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    }
}
