/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums up metrics over seeds. Runs have nearly the same metrics in the same order, so a metric is nearly
 * always the one after the last one. A metric that earlier runs did not have is added to those of its
 * strategy. */
#define _POSIX_C_SOURCE 200809L
#include "cli/run.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct cli_sampled *figure_of(struct cli_figures *figures, const char *label, const char *name)
{
    for (size_t i = 0; i < figures->count; i++) {
        struct cli_sampled *figure = &figures->items[(figures->next + i) % figures->count];
        if (strcmp(figure->name, name) == 0 && strcmp(figure->label, label) == 0) {
            figures->next = (size_t)(figure - figures->items) + 1;
            return figure;
        }
    }
    if (figures->count == figures->capacity) {
        figures->capacity = 2 * figures->capacity + 64;
        figures->items = g_renew(struct cli_sampled, figures->items, figures->capacity);
    }
    size_t at = figures->count;
    while (at > 0 && strcmp(figures->items[at - 1].label, label) != 0)
        at--;
    at = at > 0 ? at : figures->count;
    struct cli_sampled *figure = &figures->items[at];
    memmove(figure + 1, figure, (figures->count - at) * sizeof *figure);
    *figure = (struct cli_sampled){.label = g_strdup(label)};
    snprintf(figure->name, sizeof figure->name, "%s", name);
    figures->count++;
    figures->next = at + 1;
    return figure;
}

void cli_figures_add(struct cli_figures *figures, const char *label, const char *name, double value)
{
    struct cli_sampled *figure = figure_of(figures, label, name);
    if (isfinite(value))
        tune_sample_add(&figure->sample, value);
}

void cli_figures_clear(struct cli_figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        g_free(figures->items[i].label);
    g_free(figures->items);
    *figures = (struct cli_figures){.items = NULL};
}
