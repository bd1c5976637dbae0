/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define FIRST_BAR_MS 400
#define LINE_MS      10000
#define BAR_CELLS    24
#define NAME_CELLS   20

static void print_line(struct cli_progress *display, uint64_t done, uint64_t total, uint64_t rows,
                       int64_t elapsed_ms);
static void print_bar(double share);
static void print_name(const char *name);

void cli_progress_init(struct cli_progress *display, const char *name, bool is_quiet)
{
    const bool is_terminal = isatty(STDERR_FILENO) == 1;
    *display = (struct cli_progress){.name = name,
                                     .unit = "rows/s",
                                     .is_quiet = is_quiet,
                                     .is_terminal = is_terminal,
                                     .next_ms = is_terminal ? FIRST_BAR_MS : LINE_MS};
}

void cli_progress_show(struct cli_progress *display, struct lab_progress *progress, int64_t elapsed_ms)
{
    if (display->is_quiet || elapsed_ms < display->next_ms)
        return;
    print_line(display, atomic_load_explicit(&progress->done, memory_order_relaxed),
               atomic_load_explicit(&progress->total, memory_order_relaxed),
               atomic_load_explicit(&progress->rows, memory_order_relaxed), elapsed_ms);
    display->is_shown = true;
    if (!display->is_terminal)
        display->next_ms += LINE_MS;
}

void cli_progress_end(struct cli_progress *display)
{
    if (display->is_terminal && display->is_shown)
        fputs("\r\033[K", stderr);
}

static void print_line(struct cli_progress *display, uint64_t done, uint64_t total, uint64_t rows,
                       int64_t elapsed_ms)
{
    char rate[CLI_NUMBER_SIZE];
    cli_compact((double)rows * 1000 / (double)elapsed_ms, 5, rate);
    if (display->is_terminal)
        fputs("\r", stderr);
    print_name(display->name);
    if (total > 0) {
        double share = done < total ? (double)done / (double)total : 1;
        if (display->is_terminal)
            print_bar(share);
        fprintf(stderr, " %3d %%", (int)(share * 100));
        if (done > 0 && (double)elapsed_ms / share < 1e12) {
            int64_t left_s = (int64_t)((double)elapsed_ms * (1 - share) / share / 1000 + 0.5);
            fprintf(stderr, ", %" PRId64 ":%02d left", left_s / 60, (int)(left_s % 60));
        }
    }
    fprintf(stderr, ", %s %s", rate, display->unit);
    fputs(display->is_terminal ? "\033[K" : "\n", stderr);
    fflush(stderr);
}

static void print_bar(double share)
{
    int full = (int)(share * BAR_CELLS);
    fputs(" [", stderr);
    for (int i = 0; i < BAR_CELLS; i++)
        fputc(i < full ? '#' : '.', stderr);
    fputs("]", stderr);
}

/* The first NAME_CELLS characters, so that the line stays one line. */
static void print_name(const char *name)
{
    char cut[4 * NAME_CELLS + 1];
    size_t used = 0, cells = 0;
    for (; used < sizeof cut - 1 && name[used] != '\0'; used++) {
        cells += ((unsigned char)name[used] & 0xc0) != 0x80;
        if (cells > NAME_CELLS)
            break;
        cut[used] = name[used];
    }
    cut[used] = '\0';
    cli_print_text(stderr, cut);
}
