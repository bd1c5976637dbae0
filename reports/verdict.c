/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "reports/reports.h"

char *report_verdict(const struct lab_result *result)
{
    struct report_arena arena;
    struct report_answer answer;
    report_arena_init(&arena);
    report_answer(result, &arena, &answer);
    char *verdict = strdup(report_text(&arena, "%s %s", answer.verdict, answer.beware));
    if (arena.out_of_memory) {
        free(verdict);
        verdict = NULL;
    }
    report_arena_free(&arena);
    return verdict;
}
