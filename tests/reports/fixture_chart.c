/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as text, and the typesetter that a group of tests shares. */
#define _POSIX_C_SOURCE 200809L
#include "fixture_chart.h"
#include "chart_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "reports/style.h"

struct report_chart *fixture_chart(const struct lab_result *result, enum report_kind kind,
                                   struct report_arena *arena)
{
    struct report_chart *chart;
    report_arena_init(arena);
    assert_true(report_chart_make(result, kind, arena, &chart, NULL));
    return chart;
}

char *fixture_text(const struct report_chart *chart,
                   void (*write)(const struct report_chart *chart, FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    write(chart, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

char *fixture_dump(const struct lab_result *result, enum report_kind kind)
{
    struct report_arena arena;
    char *text = fixture_text(fixture_chart(result, kind, &arena), report_chart_dump);
    report_arena_free(&arena);
    return text;
}

void fixture_says(const char *text, const char *part, bool says)
{
    if ((strstr(text, part) != NULL) != says) {
        print_error("%s '%s' in:\n%.6000s\n", says ? "no" : "a", part, text);
        fail();
    }
}

int fixture_typesetter_begin(void **state)
{
    g_log_set_always_fatal(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
    *state = report_typesetter_create(NULL);
    return *state != NULL ? 0 : -1;
}

int fixture_typesetter_end(void **state)
{
    report_typesetter_destroy(*state);
    return 0;
}
