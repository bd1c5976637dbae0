/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the table of guarantees for docs/oracles.md. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "fuzz_report.h"
#include "lab/fuzz.h"

static void print_row(const struct lab_guarantee *guarantee)
{
    printf("| `%s` | `%s` | ", lab_protocol_name(guarantee->kind, guarantee->protocol),
           lab_oracle_name(guarantee->oracle));
    const char *comma = "";
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
        if (guarantee->except >> i & 1) {
            printf("%s`%s`", comma, lab_condition_name((enum lab_condition)i));
            comma = ", ";
        }
    }
    printf("%s|\n", guarantee->except == 0 ? "" : " ");
}

void cli_guarantees_print(void)
{
    printf("| strategy | guarantees | unless |\n|---|---|---|\n");
    for (size_t i = 0; i < lab_guarantee_count; i++)
        print_row(&lab_guarantees[i]);
}
