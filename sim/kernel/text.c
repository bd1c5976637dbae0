/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Validates UTF-8, finds characters that must not be displayed, and finds the closest known name to a
 * misspelled one. */
#include "kernel/text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 48
#define BEGINNING 5 /* so long a beginning of a longer name is near to it */

size_t sim_utf8(const char *text, size_t size, unsigned *code)
{
    const unsigned char *c = (const unsigned char *)text;
    if (size == 0)
        return 0;
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    if (length > 1 && (c[0] < 0xc2 || c[0] > 0xf4 || size < length))
        return 0;
    unsigned value = length == 1 ? c[0] : c[0] & (0x7fu >> length);
    /* The second byte shows whether the character is overlong, a surrogate, or above U+10FFFF. */
    unsigned lowest = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
    unsigned highest = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < length; i++) {
        if (c[i] < lowest || c[i] > highest)
            return 0;
        value = value << 6 | (c[i] & 0x3f);
        lowest = 0x80;
        highest = 0xbf;
    }
    if (code != NULL)
        *code = value;
    return length;
}

size_t sim_utf8_valid(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t length = (unsigned char)text[at] < 0x80 ? 1 : sim_utf8(text + at, size - at, NULL);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}

static bool is_visible(unsigned code)
{
    bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool is_line = code == 0x2028 || code == 0x2029;
    bool is_bidi = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x206f);
    return !is_control && !is_line && !is_bidi && code != 0xfffe && code != 0xffff;
}

size_t sim_text_step(const char *text, size_t size, const char *kept, bool *is_fine)
{
    unsigned code = 0;
    size_t length = sim_utf8(text, size, &code);
    *is_fine =
        length > 0 && (is_visible(code) || (code != 0 && code < 0x80 && strchr(kept, (int)code) != NULL));
    return length == 0 ? 1 : length;
}

/* Damerau-Levenshtein distance in bytes, where a swap of two neighbours counts 1; b has at most 2 * NAME_SIZE
 * bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][2 * NAME_SIZE + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    assert(b_length <= 2 * NAME_SIZE);
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *twice_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                twice_above[j - 2] + 1 < best)
                best = twice_above[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *sim_nearest(const char *name, const char *const *names, size_t count)
{
    size_t length = strlen(name), least = 2 + length / 4;
    const char *nearest = NULL;
    bool is_cut = false; /* `name` is the beginning of `nearest`, which wins over equally close names */
    if (length > NAME_SIZE)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) > 2 * NAME_SIZE)
            continue;
        size_t found = distance(name, names[i]);
        bool goes_on = strncmp(name, names[i], length) == 0;
        /* All letters except the last one, which may be a plural s, begin the longer name. */
        if (length >= BEGINNING && found > 1 && strncmp(name, names[i], length - 1) == 0)
            found = 1;
        bool is_nearer = found < least || (found == least && nearest != NULL && goes_on && !is_cut);
        if (is_nearer && found < strlen(names[i])) {
            least = found;
            nearest = names[i];
            is_cut = goes_on;
        }
    }
    return nearest;
}

char *sim_text_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}
