/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the table of guarantees for docs/oracles.md. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "fuzz_report.h"
#include "lab/fuzz.h"

static void print_row(const struct lab_promise *promise);

void cli_promises_print(void)
{
    printf("| strategy | promises | unless |\n|---|---|---|\n");
    for (size_t i = 0; i < lab_promise_count; i++)
        print_row(&lab_promises[i]);
}

static void print_row(const struct lab_promise *promise)
{
    printf("| `%s` | `%s` | ", lab_protocol_name(promise->kind, promise->way),
           lab_oracle_name(promise->oracle));
    const char *comma = "";
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
        if (promise->except >> i & 1) {
            printf("%s`%s`", comma, lab_condition_name((enum lab_condition)i));
            comma = ", ";
        }
    }
    printf("%s|\n", promise->except == 0 ? "" : " ");
}
