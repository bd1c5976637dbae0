/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a stored scenario again with the overrides that it was run with. */
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/scenario_part.h"

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text != '\n' && (text[1] == '\n' || text[1] == '\0');
    return count;
}

/* Terminates each line of the text in place, and points at it; there are no empty lines. */
static void split_lines(char *text, struct lab_override *lines)
{
    while (*text != '\0') {
        (lines++)->text = text;
        text += strcspn(text, "\n");
        while (*text == '\n')
            *text++ = '\0';
    }
}

bool lab_scenario_again(const char *path, const char *text, const char *overrides,
                        const struct lab_override *more, size_t more_count, uint64_t seed,
                        struct lab_scenario **out, struct sim_error *error)
{
    return lab_scenario_again_within(NULL, path, text, overrides, more, more_count, seed, out, error);
}

bool lab_scenario_again_within(const char *const *folders, const char *path, const char *text,
                               const char *overrides, const struct lab_override *more, size_t more_count,
                               uint64_t seed, struct lab_scenario **out, struct sim_error *error)
{
    *out = NULL;
    size_t count = count_lines(overrides);
    char *copy = sim_text_copy(overrides);
    struct lab_override *all = calloc(count + more_count + 1, sizeof *all);
    bool is_fine = (copy != NULL && all != NULL) || sim_fail_memory(error);
    if (is_fine) {
        split_lines(copy, all);
        if (more_count > 0)
            memcpy(all + count, more, more_count * sizeof *more);
        is_fine = lab_scenario_parse_kept(path, text, folders, all, count + more_count, seed, out, error);
    }
    free(all);
    free(copy);
    return is_fine;
}
