/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the section `trace`, and a scenario with it. */
#define _XOPEN_SOURCE 700
#include "trace_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text_file.h"
#include "kernel/grow.h"

#define READS_OF_ROWS 10
#define TRACE_PREFIX  "trace."

struct text {
    char *bytes;
    size_t size, capacity;
};

static bool put(struct text *text, const char *bytes, size_t size)
{
    if (!sim_grow(&text->bytes, &text->capacity, text->size + size + 1, 1))
        return false;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
    return true;
}

/* Writes a text in single quotes for YAML. */
static bool put_quoted(struct text *text, const char *bytes, size_t size)
{
    bool ok = put(text, "'", 1);
    for (size_t i = 0; ok && i < size; i++)
        ok = put(text, bytes[i] == '\'' ? "''" : bytes + i, bytes[i] == '\'' ? 2 : 1);
    return ok && put(text, "'", 1);
}

/* Converts "key=guild+channel" to "key: ['guild', 'channel']". */
static bool put_column(struct text *text, const char *spec, size_t size)
{
    const char *equals = memchr(spec, '=', size), *at = equals + 1, *end = spec + size;
    bool is_list = memchr(at, '+', (size_t)(end - at)) != NULL;
    bool ok =
        put(text, spec, (size_t)(equals - spec)) && put(text, ": ", 2) && (!is_list || put(text, "[", 1));
    while (ok && at <= end) {
        const char *plus = memchr(at, '+', (size_t)(end - at)), *until = plus == NULL ? end : plus;
        ok = put_quoted(text, at, (size_t)(until - at)) && (plus == NULL || put(text, ", ", 2));
        at = until + 1;
    }
    return ok && (!is_list || put(text, "]", 1));
}

/* Converts "trace.time=ms" to "time: ms". */
static bool put_sets(struct text *text, const struct cli_args *args, struct sim_error *error)
{
    const char *set, *prefix = TRACE_PREFIX;
    bool ok = true;
    for (size_t i = 0; ok && (set = cli_value_at(args, "set", i)) != NULL; i++) {
        size_t size = strcspn(set, "=");
        const char *name = set + strlen(prefix);
        if (strncmp(set, prefix, strlen(prefix)) != 0 || set[size] == '\0' ||
            memchr(name, '.', (size_t)(set + size - name)) != NULL)
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: --set %s: --scenario takes fields of trace, as in trace.time=ms; write "
                "others into the file",
                set);
        ok = put(text, ", ", 2) && put(text, name, (size_t)(set + size - name)) && put(text, ": ", 2) &&
             put(text, set + size + 1, strlen(set + size + 1));
    }
    return ok || sim_fail_memory(error);
}

static bool put_columns(struct text *text, const char *spec, struct sim_error *error)
{
    bool ok = put(text, ", columns: {", 12);
    for (const char *at = spec; ok && *at != '\0';) {
        size_t size = strcspn(at, ",");
        const char *equals = memchr(at, '=', size);
        if (equals == NULL || equals == at || equals + 1 == at + size)
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: --columns %s: '%.*s' is not a column; write time=created_at,key=guild+channel",
                spec, (int)size, at);
        ok = put_column(text, at, size);
        at += size + (at[size] == ',');
        ok = ok && (*at == '\0' || put(text, ", ", 2));
    }
    return (ok && put(text, "}", 1)) || sim_fail_memory(error);
}

char *trace_yaml(const struct cli_args *args, const char *file, bool has_sets, struct sim_error *error)
{
    const char *columns = cli_value(args, "columns", NULL),
               *sort = cli_has(args, "sort") ? ", sort: true" : "";
    struct text text = {0};
    bool ok =
        (put(&text, "trace: {file: ", 14) && put_quoted(&text, file, strlen(file))) || sim_fail_memory(error);
    ok = ok && (columns == NULL || put_columns(&text, columns, error));
    ok = ok && (!has_sets || put_sets(&text, args, error));
    ok = ok && ((put(&text, sort, strlen(sort)) && put(&text, "}\n", 2)) || sim_fail_memory(error));
    if (ok)
        return text.bytes;
    free(text.bytes);
    return NULL;
}

/* A scenario's paths are relative to its folder. */
static char *path_from(const char *scenario, const char *file, struct sim_error *error)
{
    char *path = strchr(scenario, '/') == NULL ? strdup(file) : realpath(file, NULL);
    if (path == NULL)
        sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s: %s", file, strerror(errno));
    return path;
}

bool trace_yaml_write(const struct cli_args *args, const struct trace_summary *summary, const char *path,
                      struct sim_error *error)
{
    static const char form[] =
        "# Every strategy below gets the rows of this trace.\n"
        "#   bucketlab tune THIS-FILE   which strategy, and with which numbers\n"
        "#   bucketlab run THIS-FILE    the strategies below side by side\n"
        "#   docs/scenario.md           every field, and what it takes\n"
        "%s%s"
        "reads:\n"
        "  latest: {rows: 50, rate: %.3f/h} # a guess: the newest 50 rows of a key, once for %d rows\n"
        "limits: # what is too much, and too little, in your view\n"
        "  partition_rows: 100000\n"
        "  partition_bytes: 100MB\n"
        "  tiny_rows: 24\n"
        "strategies: # tune tries other numbers too\n"
        "  - unbucketed: {}\n"
        "  - time: {window: 10d}\n"
        "  - count: {rows: 20480, counter: counter} # external, if rows already carry a gapless number\n"
        "  - probabilistic: {bits: 9, threshold: 40}\n"
        "  - hash: {buckets: 16}\n";
    const char *row =
        summary->has_sizes ? "" : "row: {bytes: 350, cells: 6} # a guess, as the trace has no sizes\n";
    char *file = path_from(path, cli_argument(args, 0), error);
    char *yaml = file == NULL ? NULL : trace_yaml(args, file, true, error);
    char *text = yaml == NULL ? NULL : malloc(sizeof form + strlen(yaml) + strlen(row) + 64);
    double hours = ((double)summary->last_ns - (double)summary->first_ns) / 3.6e12;
    double reads = hours > 0 ? (double)summary->rows / hours / READS_OF_ROWS : 1;
    bool ok = text != NULL || (yaml != NULL && sim_fail_memory(error));
    if (ok) {
        int size = sprintf(text, form, yaml, row, reads < 0.001 ? 0.001 : reads, READS_OF_ROWS);
        ok = cli_text_file_write(path, text, (size_t)size, error);
    }
    free(text);
    free(yaml);
    free(file);
    return ok;
}
