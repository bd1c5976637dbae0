/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of checks, findings and notes, and the texts that they own. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kernel/grow.h"

const char *cli_check_kind_name(enum cli_check_kind kind)
{
    static const char *const names[CLI_CHECK_KINDS] = {"expect", "guarantee", "baseline"};
    return names[kind];
}

size_t cli_gate_checks(const struct cli_gate *gate)
{
    size_t count = 0;
    for (size_t i = 0; i < gate->count; i++)
        count += gate->items[i].check_count;
    return count;
}

size_t cli_gate_failed(const struct cli_gate *gate)
{
    size_t count = 0;
    for (size_t i = 0; i < gate->count; i++)
        count += gate->items[i].failed_count;
    return count;
}

static char *print_text(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

bool cli_check_begin(struct cli_checked *item, enum cli_check_kind kind, const char *format, ...)
{
    if (!sim_grow(&item->checks, &item->check_capacity, item->check_count + 1, sizeof *item->checks))
        return false;
    struct cli_check *check = &item->checks[item->check_count];
    va_list arguments;
    va_start(arguments, format);
    *check = (struct cli_check){.kind = kind, .first = item->finding_count};
    check->name = print_text(format, arguments);
    va_end(arguments);
    item->check_count += check->name != NULL;
    return check->name != NULL;
}

static bool copy(char **out, const char *text)
{
    *out = text == NULL ? NULL : strdup(text);
    return text == NULL || *out != NULL;
}

bool cli_check_excuse(struct cli_checked *item, const char *excuse)
{
    struct cli_check *check = &item->checks[item->check_count - 1];
    check->state = CLI_CHECK_EXCUSED;
    return copy(&check->excuse, excuse);
}

bool cli_check_fail(struct cli_checked *item, const struct cli_about *about, const char *format, ...)
{
    if (!sim_grow(&item->findings, &item->finding_capacity, item->finding_count + 1, sizeof *item->findings))
        return false;
    struct cli_check *check = &item->checks[item->check_count - 1];
    struct cli_finding_line *line = &item->findings[item->finding_count];
    va_list arguments;
    va_start(arguments, format);
    *line = (struct cli_finding_line){.kind = check->kind,
                                      .value = about->value,
                                      .low = about->low,
                                      .high = about->high,
                                      .excess = about->excess};
    line->text = print_text(format, arguments);
    va_end(arguments);
    item->finding_count++;
    item->failed_count += check->number == 0;
    check->number++;
    check->state = CLI_CHECK_FAILS;
    return line->text != NULL && copy(&line->label, about->label) && copy(&line->name, about->name) &&
           copy(&line->key, about->key);
}

bool cli_check_note(struct cli_checked *item, const char *format, ...)
{
    if (!sim_grow(&item->notes, &item->note_capacity, item->note_count + 1, sizeof *item->notes))
        return false;
    va_list arguments;
    va_start(arguments, format);
    char *note = print_text(format, arguments);
    va_end(arguments);
    if (note != NULL)
        item->notes[item->note_count++] = note;
    return note != NULL;
}

void cli_checked_clear(struct cli_checked *item)
{
    for (size_t i = 0; i < item->check_count; i++) {
        free(item->checks[i].name);
        free(item->checks[i].excuse);
    }
    for (size_t i = 0; i < item->finding_count; i++) {
        free(item->findings[i].text);
        free(item->findings[i].label);
        free(item->findings[i].name);
        free(item->findings[i].key);
    }
    for (size_t i = 0; i < item->note_count; i++)
        free(item->notes[i]);
    store_baseline_clear(&item->held);
    free(item->suspects);
    free(item->checks);
    free(item->findings);
    free(item->notes);
    free(item->path);
    free(item->again);
    lab_scenario_destroy(item->scenario);
    lab_result_destroy(item->result);
    *item = (struct cli_checked){0};
}
