/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of one chart: a list of blocks that are freed together. Texts are formatted and sanitized in
 * it. */
#include "reports/arena.h"

#include <glib.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kernel/text.h"

struct report_block {
    struct report_block *next;
    max_align_t data[];
};

void report_arena_free(struct report_arena *arena)
{
    struct report_block *block = arena->blocks;
    while (block != NULL) {
        struct report_block *next = block->next;
        g_free(block);
        block = next;
    }
    arena->blocks = NULL;
}

void *report_take(struct report_arena *arena, size_t count, size_t size)
{
    struct report_block *block = g_malloc0(sizeof *block + (count == 0 ? 1 : count) * size);
    block->next = arena->blocks;
    arena->blocks = block;
    return block->data;
}

static const char *text_of(struct report_arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const size_t size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    char *text = report_take(arena, size, 1);
    vsnprintf(text, size, format, arguments);
    return text;
}

const char *report_text(struct report_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = text_of(arena, format, arguments);
    va_end(arguments);
    return text;
}

void report_append(struct report_arena *arena, const char **list, const char *join, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = text_of(arena, format, arguments);
    va_end(arguments);
    if (text[0] != 0)
        *list = (*list)[0] == 0 ? text : report_text(arena, "%s%s%s", *list, join, text);
}

/* is_one_line: breaks become spaces, and a valid text is copied as well, so that it outlives the original. */
static const char *clean(struct report_arena *arena, const char *text, const char *kept, bool is_one_line)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    const size_t size = strlen(text);
    bool is_fine = !is_one_line;
    for (size_t at = 0; is_fine && at < size;)
        at += sim_text_step(text + at, size - at, kept, &is_fine);
    if (is_fine)
        return text;
    char *out = report_take(arena, size + 1, sizeof replacement), *to = out;
    for (const char *end = text + size; text < end;) {
        unsigned code = 0;
        const size_t length = sim_text_step(text, (size_t)(end - text), kept, &is_fine);
        const bool is_utf8 = sim_utf8(text, (size_t)(end - text), &code) != 0;
        const bool is_break = is_one_line && is_utf8 && (code < 0xa0 || code == 0x2028 || code == 0x2029);
        const char *from = is_fine ? text : is_break ? " " : replacement;
        const size_t count = is_fine ? length : strlen(from);
        memcpy(to, from, count);
        to += count;
        text += length;
    }
    return out;
}

const char *report_clean(struct report_arena *arena, const char *text)
{
    return text == NULL ? "" : clean(arena, text, "", true);
}

const char *report_clean_lines(struct report_arena *arena, const char *text)
{
    return clean(arena, text, "\n\t", false);
}
