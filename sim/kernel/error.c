/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fills in an error: its class and one line of text. */
#include "kernel/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_one_line(char *text, bool is_cut)
{
    if (is_cut) {
        /* The dots replace whole UTF-8 characters; a text that is not UTF-8 may be cut anywhere. */
        size_t end = strlen(text) - 3;
        for (int i = 0; i < 3 && ((unsigned char)text[end] & 0xc0) == 0x80; i++)
            end--;
        memcpy(text + end, "...", sizeof "...");
    }
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    }
}

bool sim_fail(struct sim_error *error, enum sim_error_class class, const char *format, ...)
{
    if (error == NULL)
        return false;
    /* Formatted in a local buffer first, since the arguments may point into *error. */
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
