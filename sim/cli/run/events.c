/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Listens to the events of a cluster run: writes --trace-events, as lines, as a Chrome trace or as a history,
 * and finds the first event in which two runs differ.
 *
 * The Chrome trace is the Trace Event Format ("JSON array format", async events "b" and "e", instants "i",
 * metadata "M"). Open events are recorded, so that each end matches its beginning. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "cli/run.h"

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

static void put_text(FILE *stream, const char *text)
{
    g_autofree char *quoted = cli_json_quoted(text);
    fputs(quoted, stream);
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
    for (guint i = 0; i < trace->named->len; i++) {
        if (g_array_index(trace->named, uint32_t, i) == process)
            return;
    }
    g_array_append_val(trace->named, process);
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
    for (guint i = trace->open->len; i-- > 0;) {
        const struct cli_chrome_open item = g_array_index(trace->open, struct cli_chrome_open, i);
        if (!is_same(&item, wanted) || (wanted->is_request && !item.is_request))
            continue;
        g_array_remove_index(trace->open, i);
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
    g_array_append_val(trace->open, *item);
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
    while (trace->open->len > 0) {
        const struct cli_chrome_open last =
            g_array_index(trace->open, struct cli_chrome_open, trace->open->len - 1);
        end_item(trace, &last, &end);
    }
}

static void begin_strategy(struct cli_chrome_trace *trace, const struct lab_told_event *event)
{
    close_all(trace);
    trace->strategy++;
    g_array_set_size(trace->named, 0);
    name_process(trace, 0, event->text);
}

/* Writes an event. Write errors stay in the stream's error indicator. */
static void cli_chrome_trace_add(struct cli_chrome_trace *trace, const struct lab_told_event *event)
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

/* Ends all open events and the array, so that the output is valid JSON wherever the run ended. */
static void cli_chrome_trace_end(struct cli_chrome_trace *trace)
{
    close_all(trace);
    fputs(trace->is_begun ? "\n]\n" : "[]\n", trace->stream);
}

static bool check_options(const struct cli_args *args, const struct lab_scenario *scenario,
                          size_t scenario_count, struct sim_error *error)
{
    const char *path = cli_value(args, "trace-events", NULL);
    if (path == NULL)
        return true;
    if (strcmp(path, "-") == 0 && args->is_json)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --trace-events - and --json both want stdout; name a file for the events");
    if (scenario_count > 1)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --trace-events takes one scenario, and %zu are named; run them one by one",
            scenario_count);
    return scenario->engine == LAB_ENGINE_CLUSTER ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "%s: --trace-events needs agents: without agents there are no events; add, for "
                    "example, 'agents: {count: 8}'",
                    scenario->path);
}

static bool read_filters(const struct cli_args *args, const struct lab_scenario *scenario,
                         struct lab_event_trace *out, struct sim_error *error)
{
#define KIND_NAME(name, text) text,
    static const char *const names[] = {LAB_EVENT_MAP(KIND_NAME)};
#undef KIND_NAME
    uint64_t agent = 0;
    out->key = cli_value(args, "key", NULL);
    out->is_of_agent = cli_has(args, "agent");
    for (unsigned kind = 0; kind < LAB_EVENT_KIND_COUNT; kind++)
        out->kinds |= (uint32_t)cli_chooses(args, "kinds", names[kind]) << kind;
    if (!cli_duration(args, "from", 0, &out->from_ns, error) ||
        !cli_duration(args, "until", 0, &out->until_ns, error) ||
        !cli_whole(args, "agent", 0, scenario->agents.count - 1, &agent, error))
        return false;
    out->agent = (uint32_t)agent;
    return !cli_has(args, "until") || out->until_ns > out->from_ns ||
           sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --until %s: not after --from; name a later time",
                    cli_value(args, "until", NULL));
}

/* A file name that ends in .json means the JSON format, unless the format is given. */
static bool read_format(const struct cli_args *args, struct cli_event_trace *trace, struct sim_error *error)
{
    static const char *const filters[] = {"key", "agent", "kinds", "from", "until"};
    struct lab_event_trace *listener = &trace->listener.event_trace;
    trace->is_chrome = cli_has(args, "trace-format") ? cli_chooses(args, "trace-format", "chrome")
                                                     : g_str_has_suffix(trace->path, ".json");
    listener->is_record = cli_chooses(args, "trace-format", "record");
    for (size_t i = 0; listener->is_record && i < sizeof filters / sizeof *filters; i++) {
        if (cli_has(args, filters[i]))
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: --trace-format record writes every event, since `judge` needs all; remove --%s",
                filters[i]);
    }
    return true;
}

static void note_failure(struct cli_event_trace *trace)
{
    if (ferror(trace->stream)) {
        trace->code = errno != 0 ? errno : EIO;
        trace->listener.is_over = true;
    }
}

/* A key's name may come from a trace: control characters could break lines or control a terminal. */
static void write_line(void *context, const char *text)
{
    struct cli_event_trace *trace = context;
    if (trace->code != 0)
        return;
    errno = 0;
    cli_print_line(trace->stream, "", text);
    note_failure(trace);
}

static void write_event(void *context, const struct lab_told_event *event)
{
    struct cli_event_trace *trace = context;
    if (trace->code != 0)
        return;
    errno = 0;
    trace->chrome.stream = trace->stream;
    cli_chrome_trace_add(&trace->chrome, event);
    note_failure(trace);
}

bool cli_event_trace_read(const struct cli_args *args, const struct lab_scenario *scenario,
                          size_t scenario_count, struct cli_event_trace *out, struct sim_error *error)
{
    *out = (struct cli_event_trace){.path = cli_value(args, "trace-events", NULL)};
    if (!check_options(args, scenario, scenario_count, error))
        return false;
    if (out->path == NULL)
        return true;
    struct lab_event_trace *listener = &out->listener.event_trace;
    if (!read_filters(args, scenario, listener, error) || !read_format(args, out, error))
        return false;
    listener->context = out;
    listener->line = out->is_chrome ? NULL : write_line;
    listener->event = out->is_chrome ? write_event : NULL;
    return cli_file_check("trace-events", out->path, error);
}

bool cli_event_trace_begin(struct cli_event_trace *trace, struct sim_error *error)
{
    if (trace->path == NULL)
        return true;
    trace->chrome.open = g_array_new(FALSE, FALSE, sizeof(struct cli_chrome_open));
    trace->chrome.named = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    trace->stream = stdout;
    if (strcmp(trace->path, "-") != 0 && !cli_file_open(&trace->file, trace->path, error))
        return false;
    trace->stream = trace->file.stream != NULL ? trace->file.stream : stdout;
    return true;
}

bool cli_event_trace_end(struct cli_event_trace *trace, struct sim_error *error)
{
    if (trace->path == NULL)
        return true;
    if (trace->is_chrome) {
        trace->chrome.stream = trace->stream;
        cli_chrome_trace_end(&trace->chrome);
    }
    if (trace->code == 0 && fflush(trace->stream) != 0)
        trace->code = errno;
    return trace->code == 0 ||
           report_file_fail(trace->code, trace->stream == stdout ? "standard output" : trace->path, error);
}

void cli_event_trace_free(struct cli_event_trace *trace)
{
    struct sim_error ignored;
    cli_file_close(&trace->file, false, &ignored);
    if (trace->chrome.open != NULL) {
        g_array_free(trace->chrome.open, TRUE);
        g_array_free(trace->chrome.named, TRUE);
    }
}

/* The text between the virtual time and the event in a line. */
#define AFTER_TIME " s  "

struct hearing {
    struct cli_listener listener;
    uint64_t number;
    char *buffer;
    size_t used;
};

bool cli_difference_find(const struct lab_event_log *one, const struct lab_event_log *other,
                         struct cli_difference *out)
{
    uint64_t most = one->events > other->events ? one->events : other->events;
    uint64_t least = one->events < other->events ? one->events : other->events;
    /* The larger of two powers of two is a multiple of the other. */
    uint64_t stride = one->stride > other->stride ? one->stride : other->stride;
    *out = (struct cli_difference){.first = 1, .last = most};
    if (one->stride == 0 || other->stride == 0)
        return one->stride != other->stride;
    uint64_t common = least / stride;
    for (uint64_t i = 1; i <= common; i++) {
        if (one->marks[i * (stride / one->stride) - 1] != other->marks[i * (stride / other->stride) - 1]) {
            *out = (struct cli_difference){(i - 1) * stride + 1, i * stride, true};
            return true;
        }
    }
    if (one->digest == other->digest && one->events == other->events)
        return false;
    if (common * stride < most)
        *out = (struct cli_difference){common * stride + 1, most, true};
    return true;
}

static void note(struct hearing *hearing, const char *separator, const char *text, size_t size)
{
    int length = snprintf(hearing->buffer + hearing->used, CLI_EVENT_SIZE - hearing->used, "%s%.*s",
                          separator, (int)size, text);
    hearing->used += (size_t)length;
    if (hearing->used >= CLI_EVENT_SIZE)
        hearing->used = CLI_EVENT_SIZE - 1;
    for (char *c = hearing->buffer; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    }
}

/* The event's own line has its numbers; the next line, if it is before the next event, has its meaning. */
static void hear(void *context, const char *text)
{
    struct hearing *hearing = context;
    const char *begin = strstr(text, AFTER_TIME), *end = NULL;
    uint64_t number = 0;
    if (begin == NULL || hearing->listener.is_over)
        return;
    begin += strlen(AFTER_TIME);
    if (strncmp(begin, "event ", 6) == 0) {
        char *rest;
        number = strtoull(begin + 6, &rest, 10);
        end = strncmp(rest, ": ", 2) == 0 ? rest + 2 : NULL;
    }
    if (hearing->used > 0) {
        if (end == NULL)
            note(hearing, "; ", begin, strlen(begin));
        hearing->listener.is_over = true;
    } else if (end != NULL && number == hearing->number) {
        text += strspn(text, " ");
        note(hearing, "", text, (size_t)(begin - text) - 2);
        note(hearing, ": ", end, strlen(end));
    }
}

bool cli_execute_alone(const struct cli_args *args, const struct lab_scenario *scenario, size_t strategy,
                       struct cli_listener *listener, struct sim_error *error)
{
    struct lab_scenario alone = *scenario;
    alone.strategies = &scenario->strategies[strategy];
    alone.strategy_count = 1;
    alone.expect_count = 0;
    struct cli_execution execution = {.scenario = &alone, .jobs = 1, .listener = listener};
    bool is_fine = cli_execute(args, &execution, error);
    lab_result_destroy(execution.result);
    return is_fine;
}

bool cli_difference_tell(const struct cli_args *args, const struct lab_scenario *scenario, size_t strategy,
                         const struct cli_difference *difference, char *buffer, struct sim_error *error)
{
    struct hearing hearing = {.number = difference->first, .buffer = buffer};
    hearing.listener.event_trace = (struct lab_event_trace){
        .context = &hearing, .line = hear, .first = difference->first, .last = difference->first + 1};
    buffer[0] = '\0';
    return cli_execute_alone(args, scenario, strategy, &hearing.listener, error) ||
           (args->signals->caught == 0 && buffer[0] != '\0');
}
