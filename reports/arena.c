/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

struct report_block {
    struct report_block *next;
    max_align_t data[];
};

void report_arena_init(struct report_arena *arena)
{
    *arena = (struct report_arena){.allowance = SIZE_MAX};
}

void report_arena_free(struct report_arena *arena)
{
    struct report_block *block = arena->blocks;
    while (block != NULL) {
        struct report_block *next = block->next;
        free(block);
        block = next;
    }
    report_arena_init(arena);
}

void *report_take(struct report_arena *arena, size_t count, size_t size)
{
    if (count == 0) {
        count = 1;
    }
    struct report_block *block = NULL;
    if (!arena->out_of_memory && arena->allowance > 0 && count <= (SIZE_MAX / 2 - sizeof *block) / size) {
        block = calloc(1, sizeof *block + count * size);
    }
    if (block == NULL) {
        arena->out_of_memory = true;
        return NULL;
    }
    arena->allowance--;
    block->next = arena->blocks;
    arena->blocks = block;
    return block->data;
}

const char *report_text(struct report_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : report_take(arena, (size_t)length + 1, 1);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text != NULL ? text : "";
}

const char *report_clean(struct report_arena *arena, const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    if (text == NULL) {
        return "";
    }
    size_t size = strlen(text);
    char *out = report_take(arena, size + 1, sizeof replacement);
    if (out == NULL) {
        return "";
    }
    char *at = out;
    for (const char *end = text + size; text < end;) {
        gunichar character = g_utf8_get_char_validated(text, end - text);
        if (character == (gunichar)-1 || character == (gunichar)-2 || character == 0xFFFE ||
            character == 0xFFFF) {
            memcpy(at, replacement, sizeof replacement - 1);
            at += sizeof replacement - 1;
            text++;
        } else if (g_unichar_iscntrl(character) || character == 0x2028 || character == 0x2029) {
            *at++ = ' ';
            text += g_utf8_skip[(unsigned char)*text];
        } else {
            at += g_unichar_to_utf8(character, at);
            text += g_utf8_skip[(unsigned char)*text];
        }
    }
    return out;
}
