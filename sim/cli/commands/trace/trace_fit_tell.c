/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a fitted scenario: its file, a table, JSON, and the verdict. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "cli/json.h"
#include "cli/text_file.h"
#include "trace_fit.h"

static const char *const labels[TRACE_FIT_STRATEGIES] = {"unbucketed", "time", "count", "probabilistic",
                                                         "hash"};
static const char *const figures[TRACE_FIT_FIGURES] = {"rows p50", "rows p99", "bytes p50", "bytes p99"};
static const char *const members[TRACE_FIT_FIGURES] = {"rows_p50", "rows_p99", "bytes_p50", "bytes_p99"};

static void print_table(FILE *file, const struct trace_fit *fit, const char *indent)
{
    fprintf(file, "%s%-14s %-10s %14s %14s %8s\n", indent, "strategy", "partition", "trace", "fit", "off");
    for (size_t i = 0; i < TRACE_FIT_STRATEGIES; i++) {
        for (size_t j = 0; j < fit->of_each; j++) {
            double off = trace_fit_off(fit->found[i][j], fit->wanted[i][j]);
            fprintf(file, "%s%-14s %-10s %14.10g %14.10g %6.1f %%%s\n", indent, j == 0 ? labels[i] : "",
                    figures[j], fit->wanted[i][j], fit->found[i][j], 100 * off,
                    off > TRACE_FIT_WITHIN ? " !" : "");
        }
    }
}

/* What the scenario has of the trace's late rows; NULL when the trace has none. */
static const char *late_text(const struct trace_fit *fit)
{
    if (fit->summary->late_rows == 0)
        return NULL;
    return trace_fit_has_late(fit->summary)
               ? "late rows have the share and the mean delay of the trace's; their delays are exponential, "
                 "and "
                 "not compared"
               : "the scenario has no late rows, as those of the trace are too late: 365 days, or 100 times "
                 "the span, is the most on average";
}

bool trace_fit_write(const struct trace_fit *fit, const char *path, struct sim_error *error)
{
    char *whole = NULL;
    size_t size;
    FILE *stream = open_memstream(&whole, &size);
    if (stream == NULL)
        return sim_fail_memory(error);
    fprintf(stream,
            "# Fitted to a trace by bucketlab trace, on another seed than this one. Its partitions:\n");
    print_table(stream, fit, "#   ");
    if (late_text(fit) != NULL)
        fprintf(stream, "# %s\n", late_text(fit));
    if (fit->off > TRACE_FIT_WITHIN)
        fprintf(stream, "# The fit failed: figures are more than %.0f %% off. Run the trace itself.\n",
                100 * TRACE_FIT_WITHIN);
    fputs(fit->text, stream);
    bool is_fine = fclose(stream) == 0 || sim_fail_memory(error);
    is_fine = is_fine && cli_text_file_write(path, whole, size, error);
    free(whole);
    return is_fine;
}

void trace_fit_print(const struct trace_fit *fit, const char *path)
{
    printf("\n%s: a scenario fitted to the trace, judged on a seed that it was not fitted on\n\n", path);
    print_table(stdout, fit, "  ");
    if (fit->off <= TRACE_FIT_WITHIN)
        printf("\n  the fit holds: every figure is within %.0f %% of the trace's\n", 100 * TRACE_FIT_WITHIN);
    if (late_text(fit) != NULL)
        printf("  %s\n", late_text(fit));
    fflush(stdout);
}

json_t *trace_fit_json(const struct trace_fit *fit, const char *path)
{
    json_t *object = json_object(), *strategies = json_object();
    bool is_fine = cli_json_set(object, "file", json_string(path)) &&
                   cli_json_set(object, "holds", json_boolean(fit->off <= TRACE_FIT_WITHIN)) &&
                   cli_json_set(object, "off", cli_json_number(fit->off)) &&
                   cli_json_set(object, "within", cli_json_number(TRACE_FIT_WITHIN)) &&
                   cli_json_set(object, "strategies", strategies);
    for (size_t i = 0; is_fine && i < TRACE_FIT_STRATEGIES; i++) {
        json_t *one = json_object();
        is_fine = cli_json_set(strategies, labels[i], one);
        for (size_t j = 0; is_fine && j < fit->of_each; j++) {
            json_t *pair = json_object();
            is_fine = cli_json_set(one, members[j], pair) &&
                      cli_json_set(pair, "trace", cli_json_number(fit->wanted[i][j])) &&
                      cli_json_set(pair, "fit", cli_json_number(fit->found[i][j]));
        }
    }
    return cli_json_complete(object, is_fine);
}

bool trace_fit_judge(const struct trace_fit *fit, const char *path, struct sim_error *error)
{
    size_t strategy = fit->worst_strategy, figure = fit->worst_figure;
    return fit->off <= TRACE_FIT_WITHIN ||
           sim_fail(
               error, SIM_ERROR_CHECK,
               "%s: the fit failed: %s of %s is %.10g, and %.10g in the trace, %.0f %% off where %.0f %% is "
               "allowed; run the trace itself, or change the scenario by hand",
               path, figures[figure], labels[strategy], fit->found[strategy][figure],
               fit->wanted[strategy][figure], 100 * fit->off, 100 * TRACE_FIT_WITHIN);
}
