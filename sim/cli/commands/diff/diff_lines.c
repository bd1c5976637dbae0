/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the lines that differ, by the longest common subsequence. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "diff.h"

/* The largest table for the lines between the first and the last difference; if it would be larger, all of
 * these lines count as changed. */
#define CELLS_MOST (4u << 20)

struct lines {
    char *text; /* the text with its line breaks replaced by NUL */
    char **items;
    size_t count;
};

static bool split(const char *text, struct lines *out)
{
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++)
        most += *c == '\n';
    out->text = strdup(text);
    out->items = calloc(most, sizeof *out->items);
    if (out->text == NULL || out->items == NULL)
        return false;
    for (char *at = out->text; *at != '\0';) {
        out->items[out->count++] = at;
        at += strcspn(at, "\n");
        if (*at == '\n')
            *at++ = '\0';
    }
    return true;
}

static bool walk(char *const *a, size_t a_count, char *const *b, size_t b_count,
                 void (*line)(void *context, char sign, const char *text), void *context)
{
    size_t i = 0, j = 0, width = b_count + 1;
    bool is_small = a_count < CELLS_MOST / width;
    /* common[i * width + j]: number of common lines of a from line i on and b from line j on. */
    uint32_t *common = is_small ? calloc((a_count + 1) * width, sizeof *common) : NULL;
    if (is_small && common == NULL)
        return false;
    for (size_t row = a_count; is_small && row-- > 0;) {
        for (size_t column = b_count; column-- > 0;) {
            uint32_t down = common[(row + 1) * width + column], right = common[row * width + column + 1];
            common[row * width + column] = strcmp(a[row], b[column]) == 0
                                               ? common[(row + 1) * width + column + 1] + 1
                                           : down > right ? down
                                                          : right;
        }
    }
    while (i < a_count || j < b_count) {
        if (is_small && i < a_count && j < b_count && strcmp(a[i], b[j]) == 0) {
            i++;
            j++;
        } else if (j == b_count ||
                   (i < a_count && (!is_small || common[(i + 1) * width + j] >= common[i * width + j + 1]))) {
            line(context, '-', a[i++]);
        } else {
            line(context, '+', b[j++]);
        }
    }
    free(common);
    return true;
}

bool cli_diff_lines(const char *a, const char *b, void (*line)(void *context, char sign, const char *text),
                    void *context)
{
    struct lines one = {.count = 0}, other = {.count = 0};
    bool is_fine = split(a, &one) && split(b, &other);
    if (is_fine) {
        size_t first = 0, rest = 0;
        while (first < one.count && first < other.count && strcmp(one.items[first], other.items[first]) == 0)
            first++;
        while (rest < one.count - first && rest < other.count - first &&
               strcmp(one.items[one.count - 1 - rest], other.items[other.count - 1 - rest]) == 0)
            rest++;
        is_fine = walk(one.items + first, one.count - first - rest, other.items + first,
                       other.count - first - rest, line, context);
    }
    free(one.text);
    free(one.items);
    free(other.text);
    free(other.items);
    return is_fine;
}
