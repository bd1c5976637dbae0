/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a scenario for tests: a text that does not parse fails the test with the parser's line. */
#ifndef TESTS_LAB_SCENARIO_OF_H
#define TESTS_LAB_SCENARIO_OF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab/scenario.h"

/* base: a text that precedes `text`, or "". The caller destroys the scenario. */
static inline struct lab_scenario *scenario_of(const char *base, const char *text)
{
    char whole[65536];
    struct lab_scenario *scenario;
    struct sim_error error;
    int size = snprintf(whole, sizeof whole, "%s%s", base, text);
    assert_in_range(size, 1, sizeof whole - 1);
    if (!lab_scenario_parse("x.yaml", whole, (size_t)size, NULL, 0, NULL, &scenario, &error))
        fail_msg("%s in\n%s", error.text, whole);
    return scenario;
}

#endif
