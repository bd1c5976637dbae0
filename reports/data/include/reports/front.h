/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What callers draw: the settings that `tune` tried, by two figures of which less is better, and a sequence
 * diagram; and the file formats of charts. */
#ifndef REPORTS_FRONT_H
#define REPORTS_FRONT_H

#include <stdbool.h>
#include <stddef.h>

/* All values must be from 0 to REPORT_VALUE_MAX. */
struct report_front_point {
    const char *label;
    double cost, bytes; /* in inserts per 1000 rows; the 99th percentile of closed partitions */
    double low, high;   /* confidence interval of bytes, low <= bytes <= high; both equal to it for none */
    bool is_on_front;   /* on the Pareto front; other points are pale */
    bool is_best;       /* the best of its kind, which is named like those on the front */
};

enum { REPORT_FRONT_MAX = 1000 };
#define REPORT_VALUE_MAX 1e18

struct report_front {
    const char *scenario;                    /* its name */
    const struct report_front_point *points; /* earlier ones are named first */
    size_t count;                            /* 1 to REPORT_FRONT_MAX */
    bool has_recommended;                    /* the first point */
};

/* A sequence diagram: a column per party, and time downwards. All other parties talk to the hub. */
enum report_message_kind {
    REPORT_MESSAGE_NONE,    /* something happens to the party */
    REPORT_MESSAGE_CALL,    /* from the party to the hub */
    REPORT_MESSAGE_ANSWER,  /* from the hub to the party */
    REPORT_MESSAGE_UNHEARD, /* an answer that the party does not hear */
    REPORT_MESSAGE_TIME     /* time passes */
};

struct report_message {
    const char *time, *text;
    enum report_message_kind kind;
    size_t party;
    bool is_alarm;
};

struct report_sequence {
    const char *title, *subtitle, *foot; /* foot: what is wrong at the end */
    const char *const *parties;          /* from left to right; at least two */
    size_t party_count, hub;
    const struct report_message *messages;
    size_t message_count;
};

enum report_format { REPORT_PNG, REPORT_SVG, REPORT_PDF, REPORT_FORMAT_COUNT };
/* "png", "svg", "pdf" */
const char *report_format_extension(enum report_format format);

#endif
