/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes --trace-events: the event trace of a cluster run, as lines, as a Chrome trace or as a history. */
#define _XOPEN_SOURCE 700
#include "cli/event_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/text.h"
#include "cli/text_file.h"
#include "lab/quantity.h"

static bool check_options(const struct cli_args *args, const struct lab_scenario *scenario,
                          size_t scenario_count, struct sim_error *error)
{
    const char *path = cli_value(args, "trace-events", NULL);
    static const char *const of_trace[] = {"key", "agent", "kinds", "from", "until", "trace-format"};
    for (size_t i = 0; path == NULL && i < sizeof of_trace / sizeof *of_trace; i++) {
        if (cli_has(args, of_trace[i]))
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: --%s applies only with --trace-events; add --trace-events, or remove --%s",
                of_trace[i], of_trace[i]);
    }
    if (path == NULL)
        return true;
    if (path[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --trace-events: no file named; write --trace-events events.txt");
    if (strcmp(path, "-") == 0 && cli_has(args, "json"))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --trace-events - and --json both want stdout; name a file for the events");
    if (scenario_count > 1)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --trace-events takes one scenario, and %zu are named; run them one by one",
            scenario_count);
    if (scenario->engine != LAB_ENGINE_CLUSTER)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: --trace-events needs agents: without agents there are no events; add, for "
                        "example, 'agents: {count: 8}'",
                        scenario->path);
    return true;
}

static bool read_kinds(const char *text, uint32_t *kinds, struct sim_error *error)
{
#define KIND_NAME(name, text) text,
    static const char *const names[] = {LAB_EVENT_MAP(KIND_NAME)};
#undef KIND_NAME
    for (const char *next = text; next != NULL && *next != '\0';) {
        size_t length = strcspn(next, ","), kind = 0;
        while (kind < LAB_EVENT_KIND_COUNT &&
               (strlen(names[kind]) != length || strncmp(names[kind], next, length) != 0))
            kind++;
        if (kind == LAB_EVENT_KIND_COUNT)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: --kinds %s: '%.*s' is not a kind of event; give rows, reads, "
                            "requests, state, faults or violations, separated by commas",
                            text, (int)length, next);
        *kinds |= UINT32_C(1) << kind;
        next += length + (next[length] == ',');
    }
    return true;
}

/* Reads a time since the start of the run; "0s" is allowed. */
static bool read_moment(const struct cli_args *args, const char *name, int64_t *out_ns,
                        struct sim_error *error)
{
    const char *text = cli_value(args, name, NULL);
    const char *why = text == NULL ? NULL : lab_quantity_duration(text, out_ns);
    return why == NULL || sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: %s", name, text, why);
}

static bool read_filters(const struct cli_args *args, const struct lab_scenario *scenario,
                         struct lab_event_trace *out, struct sim_error *error)
{
    uint64_t agent = 0;
    out->key = cli_value(args, "key", NULL);
    out->is_of_agent = cli_has(args, "agent");
    if (!read_kinds(cli_value(args, "kinds", NULL), &out->kinds, error) ||
        !read_moment(args, "from", &out->from_ns, error) ||
        !read_moment(args, "until", &out->until_ns, error) ||
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
    const char *format = cli_value(args, "trace-format", NULL);
    size_t length = strlen(trace->path);
    struct lab_event_trace *listener = &trace->listener.event_trace;
    trace->is_chrome = format == NULL ? length > 5 && strcmp(trace->path + length - 5, ".json") == 0
                                      : strcmp(format, "chrome") == 0;
    listener->is_record = format != NULL && strcmp(format, "record") == 0;
    if (format != NULL && !trace->is_chrome && !listener->is_record && strcmp(format, "lines") != 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --trace-format %s: no such format; choose lines, chrome or record",
                        format);
    static const char *const filters[] = {"key", "agent", "kinds", "from", "until"};
    for (size_t i = 0; listener->is_record && i < sizeof filters / sizeof *filters; i++) {
        if (cli_has(args, filters[i]))
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: --trace-format record writes every event, since `judge` needs all; remove --%s",
                filters[i]);
    }
    return true;
}

static bool fail_with(int code, const char *path, struct sim_error *error)
{
    bool is_input =
        code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == EISDIR || code == ELOOP;
    return sim_fail(error, is_input ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT, "%s: %s; %s", path,
                    strerror(code),
                    is_input ? "name a file in a folder that exists"
                             : "free space there, or name a file where you may write");
}

/* Whether FILE can be made, as far as can be seen without making it. */
static bool check_file(const char *path, struct sim_error *error)
{
    struct stat status;
    size_t size = strlen(path);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return !S_ISDIR(status.st_mode) || fail_with(EISDIR, path, error);
    if (path[size - 1] == '/')
        return fail_with(EISDIR, path, error);
    char *folder = cli_folder_of(path);
    if (folder == NULL)
        return sim_fail_memory(error);
    int code = access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    return code == 0 || fail_with(code, path, error);
}

static void note_failure(struct cli_event_trace *trace)
{
    if (ferror(trace->stream) || trace->chrome.out_of_memory) {
        trace->code = trace->chrome.out_of_memory ? ENOMEM : errno != 0 ? errno : EIO;
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
    cli_print_text(trace->stream, text);
    putc('\n', trace->stream);
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
    if (strcmp(out->path, "-") == 0) {
        out->stream = stdout;
        return true;
    }
    return check_file(out->path, error);
}

bool cli_event_trace_begin(struct cli_event_trace *trace, struct sim_error *error)
{
    if (trace->path == NULL || trace->stream != NULL)
        return true;
    int code = report_partial_open(&trace->output, trace->path, false);
    trace->stream = code == 0 ? report_partial_stream(&trace->output) : NULL;
    return trace->stream != NULL || fail_with(code == 0 ? errno : code, trace->path, error);
}

struct cli_listener *cli_event_trace_listener(struct cli_event_trace *trace)
{
    return trace->path == NULL ? NULL : &trace->listener;
}

bool cli_event_trace_end(struct cli_event_trace *trace, struct sim_error *error)
{
    if (trace->path == NULL)
        return true;
    bool is_stdout = trace->stream == stdout;
    if (trace->is_chrome) {
        trace->chrome.stream = trace->stream;
        cli_chrome_trace_end(&trace->chrome);
    }
    if (trace->code == 0 && fflush(trace->stream) != 0)
        trace->code = errno;
    if (!is_stdout && fclose(trace->stream) != 0 && trace->code == 0)
        trace->code = errno;
    trace->stream = NULL;
    if (trace->code == 0 && !is_stdout)
        trace->code = report_partial_sync(&trace->output);
    return trace->code == 0 || fail_with(trace->code, is_stdout ? "standard output" : trace->path, error);
}

bool cli_event_trace_name(struct cli_event_trace *trace, struct sim_error *error)
{
    int code = report_partial_end(&trace->output, true);
    return code == 0 || fail_with(code, trace->path, error);
}

void cli_event_trace_free(struct cli_event_trace *trace)
{
    if (trace->stream != NULL && trace->stream != stdout)
        fclose(trace->stream);
    report_partial_end(&trace->output, false);
    free(trace->chrome.open);
    free(trace->chrome.named);
}
