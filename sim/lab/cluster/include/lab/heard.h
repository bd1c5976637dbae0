/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line of a history that says what an agent heard of a request: written by runs and by the explorer. */
#ifndef LAB_HEARD_H
#define LAB_HEARD_H

#include <stddef.h>
#include <stdint.h>

#include "bucketing/agent.h"

/* What an agent heard of a request. */
struct lab_heard {
    uint32_t agent, operation; /* operation: its number */
    enum bk_action_kind action;
    int64_t bucket; /* of PUT_ROW */
    const struct bk_outcome *outcome;
    uint64_t filled, scanned; /* of READ_ROWS: partitions that had rows, and rows that were read */
};
/* Writes the event of a history: "agent 2 hears 0 put_row applied bucket 4" (docs/live.md). */
void lab_heard_text(const struct lab_heard *heard, char *text, size_t size);

#endif
