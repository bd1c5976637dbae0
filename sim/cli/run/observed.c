/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a scenario that reads observed sizes and runs nothing. */
#define _POSIX_C_SOURCE 200809L
#include "cli/observed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"

/* Checks values that the scenario would otherwise refuse at a place that the user did not write. */
bool cli_observed_check(const struct cli_args *args, struct sim_error *error)
{
    const char *label = cli_value(args, "label", "observed"), *table = cli_value(args, "table", "a.b");
    const char *format = cli_value(args, "format", "auto");
    size_t size = strlen(label);
    bool is_label = size >= 1 && size <= LAB_LABEL_SIZE_MAX && sim_utf8_valid(label, size) == size;
    for (const char *c = label; *c != '\0'; c++)
        is_label = is_label && (unsigned char)*c >= 0x20 && *c != 0x7f;
    if (!is_label)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --label '%s': give a label of 1 to 64 bytes on one line", label);
    const char *point = strchr(table, '.');
    if (point == NULL || point == table || point[1] == '\0' || strpbrk(table, " \t\r\n/\"'") != NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --table '%s': not KEYSPACE.TABLE; write it as chat.messages", table);
    for (int known = WL_OBSERVED_AUTO; known <= WL_OBSERVED_LARGEST; known++) {
        if (strcmp(format, wl_observed_format_name((enum wl_observed_format)known)) == 0)
            return true;
    }
    return sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --format: no format '%s'; choose sstablepartitions, tablehistograms or "
                    "large_partitions",
                    format);
}

static void write_field(FILE *stream, const char *name, const char *value)
{
    fprintf(stream, "%s: \"", name);
    for (const char *c = value; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            fprintf(stream, "\\x%02x", (unsigned)(unsigned char)*c);
            continue;
        }
        if (*c == '"' || *c == '\\')
            fputc('\\', stream);
        fputc(*c, stream);
    }
    fputc('"', stream);
}

static void write_limit(FILE *stream, const char *name, uint64_t limit)
{
    if (limit > 0)
        fprintf(stream, "  %s: %" PRIu64 "%s\n", name, limit,
                strcmp(name, "partition_bytes") == 0 ? "B" : "");
}

static void write_scenario(const struct cli_args *args, const char *name, const struct lab_limits *limits,
                           const char *label, const char *path, FILE *stream)
{
    static const char *const fields[] = {"format", "table"};
    if (name != NULL) {
        write_field(stream, "name", name);
        fputc('\n', stream);
    }
    if (limits != NULL && (limits->partition_rows > 0 || limits->partition_bytes > 0)) {
        fputs("limits:\n", stream);
        write_limit(stream, "partition_rows", limits->partition_rows);
        write_limit(stream, "partition_bytes", limits->partition_bytes);
    }
    fputs("strategies:\n  - observed: {", stream);
    write_field(stream, "label", label);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!cli_has(args, fields[i]))
            continue;
        fputs(", ", stream);
        write_field(stream, fields[i], cli_value(args, fields[i], NULL));
    }
    fputs(", ", stream);
    write_field(stream, "file", path);
    fputs("}\n", stream);
}

char *cli_observed_scenario(const struct cli_args *args, const char *name, const struct lab_limits *limits,
                            const char *label, const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    write_scenario(args, name, limits, label, path, stream);
    bool is_lost = ferror(stream) != 0;
    if (fclose(stream) != 0 || is_lost) {
        free(text);
        return NULL;
    }
    return text;
}
