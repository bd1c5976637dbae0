/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes events as the Trace Event Format of Chrome ("JSON array format", async events "b" and "e", instants
 * "i", metadata "M"). Open events are recorded, so that each end matches its beginning. */
#define _POSIX_C_SOURCE 200809L
#include "cli/chrome_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "kernel/grow.h"
#include "kernel/text.h"

/* The most processes of a strategy: itself, its agents, its nodes. */
#define PROCESSES   2000000u
#define FIRST_AGENT 1u
#define FIRST_NODE  1000001u

#define NAME_SIZE 160

struct cli_chrome_open {
    uint32_t process, operation;
    bool is_fault, is_request;
    char name[NAME_SIZE];
};

/* Writes a text with JSON's special characters escaped; characters that must not be printed on a terminal
 * become '?', as elsewhere. */
static void put_text(FILE *stream, const char *text)
{
    size_t length = strlen(text);
    putc('"', stream);
    while (length > 0) {
        bool is_fine;
        size_t size = sim_text_step(text, length, "", &is_fine);
        if (!is_fine) {
            putc('?', stream);
        } else {
            if (*text == '"' || *text == '\\')
                putc('\\', stream);
            fwrite(text, 1, size, stream);
        }
        text += size;
        length -= size;
    }
    putc('"', stream);
}

/* Writes the object up to its arguments. */
static void begin_object(struct cli_chrome_trace *trace, char phase, uint32_t process, int64_t time_ns,
                         const char *name)
{
    fputs(trace->is_begun ? ",\n" : "[\n", trace->stream);
    trace->is_begun = true;
    fprintf(trace->stream, "{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":0,\"ts\":%" PRId64 ".%03" PRId64,
            phase, trace->strategy * PROCESSES + process, time_ns / 1000, time_ns % 1000);
    fputs(",\"name\":", trace->stream);
    put_text(trace->stream, name);
}

static void name_process(struct cli_chrome_trace *trace, uint32_t process, const char *name)
{
    for (size_t i = 0; i < trace->named_count; i++) {
        if (trace->named[i] == process)
            return;
    }
    if (!sim_grow(&trace->named, &trace->named_capacity, trace->named_count + 1, sizeof *trace->named)) {
        trace->out_of_memory = true;
        return;
    }
    trace->named[trace->named_count++] = process;
    begin_object(trace, 'M', process, 0, "process_name");
    fputs(",\"args\":{\"name\":", trace->stream);
    put_text(trace->stream, name);
    fputs("}}", trace->stream);
    begin_object(trace, 'M', process, 0, "process_sort_index");
    fprintf(trace->stream, ",\"args\":{\"sort_index\":%" PRIu32 "}}", trace->strategy * PROCESSES + process);
}

static uint32_t process_of(struct cli_chrome_trace *trace, const struct lab_told_event *event)
{
    char name[32];
    if (event->agent == LAB_EVENT_NOBODY && event->node == LAB_EVENT_NOBODY)
        return 0;
    bool is_agent = event->agent != LAB_EVENT_NOBODY;
    uint32_t number = is_agent ? event->agent : event->node;
    uint32_t process = (is_agent ? FIRST_AGENT : FIRST_NODE) + number;
    snprintf(name, sizeof name, "%s %" PRIu32, is_agent ? "agent" : "node", number);
    name_process(trace, process, name);
    return process;
}

static void put_arguments(struct cli_chrome_trace *trace, const struct lab_told_event *event)
{
    fputs(",\"args\":{\"text\":", trace->stream);
    put_text(trace->stream, event->text);
    if (event->key[0] != '\0') {
        fputs(",\"key\":", trace->stream);
        put_text(trace->stream, event->key);
    }
    fputs("}}", trace->stream);
}

/* Writes the id of an event that begins or ends: that of its operation, or the name of the fault. */
static void put_id(struct cli_chrome_trace *trace, const struct cli_chrome_open *item)
{
    char id[NAME_SIZE + 32];
    snprintf(id, sizeof id, "%" PRIu32 "-%" PRIu32 "-%" PRIu32 "%s", trace->strategy, item->process,
             item->operation, item->is_fault ? item->name : "");
    fprintf(trace->stream, ",\"cat\":\"%s\",\"id\":", item->is_fault ? "fault" : "operation");
    put_text(trace->stream, id);
}

static bool is_same(const struct cli_chrome_open *one, const struct cli_chrome_open *other)
{
    return one->process == other->process && one->is_fault == other->is_fault &&
           (one->is_fault ? strcmp(one->name, other->name) == 0 : one->operation == other->operation);
}

/* Ends the newest open item with this id, and the request within an operation. */
static void end_item(struct cli_chrome_trace *trace, const struct cli_chrome_open *wanted,
                     const struct lab_told_event *event)
{
    for (size_t i = trace->open_count; i-- > 0;) {
        const struct cli_chrome_open item = trace->open[i];
        if (!is_same(&item, wanted) || (wanted->is_request && !item.is_request))
            continue;
        memmove(&trace->open[i], &trace->open[i + 1], (trace->open_count - i - 1) * sizeof *trace->open);
        trace->open_count--;
        begin_object(trace, 'e', item.process, event->since_ns, item.name);
        put_id(trace, &item);
        put_arguments(trace, event);
        if (wanted->is_request || wanted->is_fault)
            return;
    }
}

static void begin_item(struct cli_chrome_trace *trace, const struct cli_chrome_open *item,
                       const struct lab_told_event *event)
{
    if (!sim_grow(&trace->open, &trace->open_capacity, trace->open_count + 1, sizeof *trace->open)) {
        trace->out_of_memory = true;
        return;
    }
    trace->open[trace->open_count++] = *item;
    begin_object(trace, 'b', item->process, event->since_ns, item->name);
    put_id(trace, item);
    put_arguments(trace, event);
}

/* The name of an event: "puts row 7 into bucket 2" of "agent 3 puts row 7 into bucket 2"; for a fault,
 * without the words for its beginning or end. */
static void name_of(const struct lab_told_event *event, char name[NAME_SIZE])
{
    const char *text = event->text;
    if (event->agent != LAB_EVENT_NOBODY && strncmp(text, "fault: ", 7) != 0) {
        const char *space = strchr(text, ' ');
        size_t digits = space == NULL ? 0 : strspn(space + 1, "0123456789");
        if (digits > 0)
            text = space + 1 + digits + strspn(space + 1 + digits, ": ");
    }
    snprintf(name, NAME_SIZE, "%s", text);
    size_t length = strlen(name);
    static const char *const ends[] = {"", " begins", " ends"};
    size_t end = strlen(ends[event->phase]);
    if (event->kind == LAB_EVENT_OF_FAULTS && length > end &&
        strcmp(name + length - end, ends[event->phase]) == 0)
        name[length - end] = '\0';
}

static void close_all(struct cli_chrome_trace *trace)
{
    const struct lab_told_event end = {.since_ns = trace->last_ns, .key = "", .text = ""};
    while (trace->open_count > 0) {
        struct cli_chrome_open last = trace->open[trace->open_count - 1];
        end_item(trace, &last, &end);
    }
}

static void begin_strategy(struct cli_chrome_trace *trace, const struct lab_told_event *event)
{
    close_all(trace);
    trace->strategy++;
    trace->named_count = 0;
    name_process(trace, 0, event->text);
}

void cli_chrome_trace_add(struct cli_chrome_trace *trace, const struct lab_told_event *event)
{
    struct cli_chrome_open item = {.operation = event->operation,
                                   .is_fault = event->kind == LAB_EVENT_OF_FAULTS,
                                   .is_request = event->kind == LAB_EVENT_OF_REQUESTS};
    if (event->kind == LAB_EVENT_OF_RUN) {
        begin_strategy(trace, event);
        trace->last_ns = event->since_ns;
        return;
    }
    trace->last_ns = event->since_ns;
    item.process = process_of(trace, event);
    name_of(event, item.name);
    if (event->phase == LAB_EVENT_MOMENT) {
        begin_object(trace, 'i', item.process, event->since_ns, item.name);
        fputs(",\"s\":\"p\"", trace->stream);
        put_arguments(trace, event);
        return;
    }
    bool is_operation = !item.is_fault && !item.is_request;
    if (is_operation)
        snprintf(item.name, NAME_SIZE, "%s", event->kind == LAB_EVENT_OF_READS ? "read" : "row");
    if (event->phase == LAB_EVENT_ENDS || item.is_request)
        end_item(trace, &item, event);
    if (event->phase == LAB_EVENT_BEGINS)
        begin_item(trace, &item, event);
}

void cli_chrome_trace_end(struct cli_chrome_trace *trace)
{
    close_all(trace);
    fputs(trace->is_begun ? "\n]\n" : "[]\n", trace->stream);
    free(trace->open);
    free(trace->named);
    trace->open = NULL;
    trace->named = NULL;
    trace->open_capacity = trace->named_capacity = trace->named_count = 0;
}
