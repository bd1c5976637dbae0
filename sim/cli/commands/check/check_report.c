/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the findings of a check, as lines or as JSON. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli/json.h"
#include "cli/text.h"

#define FIGURES_SHOWN 3u /* the most drifted metrics shown per scenario */

static void print_table(const struct cli_gate *gate)
{
    printf("%-28s %6s %6s %8s %8s  %s\n", "scenario", "checks", "failed", "excused", "seconds", "digest");
    size_t all_excused = 0;
    for (size_t i = 0; i < gate->count; i++) {
        const struct cli_checked *item = &gate->items[i];
        size_t excused = 0, width = cli_text_width(item->scenario->name);
        for (size_t j = 0; j < item->check_count; j++)
            excused += item->checks[j].state == CLI_CHECK_EXCUSED;
        cli_print_text(stdout, item->scenario->name);
        printf("%*s %6zu %6zu %8zu %8.1f  %016" PRIx64 "\n", width < 28 ? (int)(28 - width) : 0, "",
               item->check_count, item->failed_count, excused, (double)item->elapsed_ms / 1000,
               item->result->digest);
        all_excused += excused;
    }
    if (all_excused > 0)
        printf("\n"
               "excused: the guarantee does not cover what happened in the run, for example a clock\n"
               "that jumped; --json and --junit say why\n");
}

static void print_line(const struct cli_checked *item, const char *text)
{
    cli_print_text(stdout, item->scenario->path);
    printf(": ");
    cli_print_text(stdout, text);
    putchar('\n');
}

static bool is_figure(const struct cli_finding_line *finding)
{
    return finding->kind == CLI_CHECK_BASELINE && finding->excess > 0;
}

static int larger_first(const void *one, const void *other)
{
    const double *a = one, *b = other;
    return *a > *b ? -1 : *a < *b;
}

/* The smallest excess of the findings that are shown; *more: the number of those that are not. */
static double excess_shown(const struct cli_checked *item, size_t *more)
{
    double *excesses = calloc(item->finding_count + 1, sizeof *excesses), least = 0;
    size_t count = 0;
    *more = 0;
    for (size_t i = 0; excesses != NULL && i < item->finding_count; i++) {
        if (is_figure(&item->findings[i]))
            excesses[count++] = item->findings[i].excess;
    }
    if (count > FIGURES_SHOWN) {
        qsort(excesses, count, sizeof *excesses, larger_first);
        least = excesses[FIGURES_SHOWN - 1];
        *more = count - FIGURES_SHOWN;
    }
    free(excesses);
    return least;
}

static void print_findings(const struct cli_checked *item)
{
    size_t more;
    double least = excess_shown(item, &more);
    size_t shown = 0;
    for (size_t i = 0; i < item->finding_count; i++) {
        const struct cli_finding_line *finding = &item->findings[i];
        if (is_figure(finding) && (finding->excess < least || shown++ >= FIGURES_SHOWN))
            continue;
        print_line(item, finding->text);
    }
    if (more > 0) {
        char text[96];
        snprintf(text, sizeof text, "and %zu more figures, by less; --json and --junit list all", more);
        print_line(item, text);
    }
    if (item->finding_count > 0) {
        printf("again: ");
        cli_print_text(stdout, item->again);
        putchar('\n');
    }
}

void cli_check_print(const struct cli_gate *gate)
{
    print_table(gate);
    if (cli_gate_failed(gate) > 0)
        putchar('\n');
    for (size_t i = 0; i < gate->count; i++)
        print_findings(&gate->items[i]);
    bool has_note = false;
    for (size_t i = 0; i < gate->count; i++) {
        const struct cli_checked *item = &gate->items[i];
        for (size_t j = 0; j < item->note_count; j++) {
            fputs(has_note ? "" : "\n", stdout);
            cli_print_text(stdout, item->scenario->path);
            printf(": note: ");
            cli_print_text(stdout, item->notes[j]);
            putchar('\n');
            has_note = true;
        }
    }
    if (gate->is_updated) {
        printf("\nbaseline of %zu scenario%s over %" PRIu64 " seeds written to ", gate->count,
               gate->count == 1 ? "" : "s", gate->seeds + 1);
        cli_print_text(stdout, gate->baseline);
        putchar('\n');
    }
    if (cli_gate_checks(gate) == 0)
        printf("\n0 checks in %zu scenario%s: nothing was checked\n", gate->count,
               gate->count == 1 ? "" : "s");
    else if (cli_gate_failed(gate) == 0)
        printf("\n%zu check%s in %zu scenario%s: all pass\n", cli_gate_checks(gate),
               cli_gate_checks(gate) == 1 ? "" : "s", gate->count, gate->count == 1 ? "" : "s");
}

void cli_check_warn(const struct cli_gate *gate)
{
    for (size_t i = 0; i < gate->count && !gate->is_update && !gate->is_quiet; i++) {
        const struct cli_checked *item = &gate->items[i];
        if (item->check_count > 0)
            continue;
        fputs("warning: ", stderr);
        cli_print_text(stderr, item->scenario->path);
        fputs(": nothing was checked, because it has no expectation and no guarantee; add 'expect:', or "
              "compare it with --baseline FILE\n",
              stderr);
    }
}

static json_t *text_or_null(const char *text)
{
    return text == NULL ? json_null() : json_string(text);
}

static json_t *checks_json(const struct cli_checked *item)
{
    static const char *const states[] = {"holds", "fails", "excused"};
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < item->check_count; i++) {
        const struct cli_check *check = &item->checks[i];
        json_t *object = json_object();
        bool is_fine = cli_json_set(object, "kind", json_string(cli_check_kind_name(check->kind))) &&
                       cli_json_set(object, "name", json_string(check->name)) &&
                       cli_json_set(object, "state", json_string(states[check->state])) &&
                       cli_json_set(object, "excuse", text_or_null(check->excuse));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *findings_json(const struct cli_checked *item)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < item->finding_count; i++) {
        const struct cli_finding_line *finding = &item->findings[i];
        json_t *object = json_object();
        bool is_fine = cli_json_set(object, "kind", json_string(cli_check_kind_name(finding->kind))) &&
                       cli_json_set(object, "strategy", text_or_null(finding->label)) &&
                       cli_json_set(object, "name", text_or_null(finding->name)) &&
                       cli_json_set(object, "value", cli_json_number(finding->value)) &&
                       cli_json_set(object, "low", cli_json_number(finding->low)) &&
                       cli_json_set(object, "high", cli_json_number(finding->high)) &&
                       cli_json_set(object, "key", text_or_null(finding->key)) &&
                       cli_json_set(object, "text", json_string(finding->text));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *notes_json(const struct cli_checked *item)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < item->note_count; i++)
        list = cli_json_append(list, json_string(item->notes[i]));
    return list;
}

static json_t *item_json(const struct cli_checked *item)
{
    const struct lab_result *result = item->result;
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, result->digest);
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "scenario", json_string(result->scenario_name)) &&
                   cli_json_set(object, "path", json_string(item->scenario->path)) &&
                   cli_json_set(object, "run", item->run == 0 ? json_null() : json_integer(item->run)) &&
                   cli_json_set(object, "seed", cli_json_whole(result->seed)) &&
                   cli_json_set(object, "digest", json_string(digest)) &&
                   cli_json_set(object, "rows", cli_json_whole(result->rows)) &&
                   cli_json_set(object, "seconds", cli_json_number((double)item->elapsed_ms / 1000)) &&
                   cli_json_set(object, "checks", checks_json(item)) &&
                   cli_json_set(object, "failed", cli_json_whole(item->failed_count)) &&
                   cli_json_set(object, "findings", findings_json(item)) &&
                   cli_json_set(object, "notes", notes_json(item)) &&
                   cli_json_set(object, "replay", json_string(item->again));
    return cli_json_complete(object, is_fine);
}

json_t *cli_check_json(const struct cli_gate *gate)
{
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; list != NULL && i < gate->count; i++)
        list = cli_json_append(list, item_json(&gate->items[i]));
    bool is_fine = cli_json_set(object, "scenarios", list);
    is_fine = is_fine && cli_json_set(object, "checks", cli_json_whole(cli_gate_checks(gate))) &&
              cli_json_set(object, "failed", cli_json_whole(cli_gate_failed(gate))) &&
              cli_json_set(object, "baseline", text_or_null(gate->baseline)) &&
              cli_json_set(object, "updated", json_boolean(gate->is_updated)) &&
              cli_json_set(object, "ok", json_boolean(cli_gate_failed(gate) == 0));
    return cli_json_complete(object, is_fine);
}
