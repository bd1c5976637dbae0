/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the JUnit report for build servers: a <testsuite> per scenario, a <testcase> per check. The formats
 * of Ant and Jenkins differ; the report is valid for both (tests/cli/junit.xsd). */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cli/text.h"
#include "cli/text_file.h"
#include "kernel/text.h"
#include "reports/reports.h"

#define HOST_SIZE 256

/* A writer that does nothing after its first failure. */
struct junit {
    xmlTextWriterPtr writer;
    bool is_fine;
};

static void note(struct junit *junit, int code)
{
    junit->is_fine = junit->is_fine && code >= 0;
}

static void begin(struct junit *junit, const char *name)
{
    note(junit, xmlTextWriterStartElement(junit->writer, (const xmlChar *)name));
}

static void end(struct junit *junit)
{
    note(junit, xmlTextWriterEndElement(junit->writer));
}

/* Replaces by '?' characters that XML does not allow, and those that could make one text look like
 * another. */
static char *clean(const char *value)
{
    char *cleaned = malloc(strlen(value) + 1), *to = cleaned;
    while (cleaned != NULL && *value != '\0') {
        bool is_fine;
        size_t size = sim_text_step(value, SIM_UTF8_SIZE_MAX, "\n", &is_fine);
        if (is_fine)
            memcpy(to, value, size);
        else
            *to = '?';
        to += is_fine ? size : 1;
        value += size;
    }
    if (cleaned != NULL)
        *to = '\0';
    return cleaned;
}

static void attribute(struct junit *junit, const char *name, const char *value)
{
    char *cleaned = clean(value);
    if (cleaned == NULL)
        junit->is_fine = false;
    else
        note(junit,
             xmlTextWriterWriteAttribute(junit->writer, (const xmlChar *)name, (const xmlChar *)cleaned));
    free(cleaned);
}

static void write_property(struct junit *junit, const char *name, const char *value)
{
    begin(junit, "property");
    attribute(junit, "name", name);
    attribute(junit, "value", value);
    end(junit);
}

static void write_properties(struct junit *junit, const struct cli_checked *item)
{
    const struct lab_result *result = item->result;
    char number[CLI_NUMBER_SIZE];
    begin(junit, "properties");
    write_property(junit, "scenario", item->scenario->path);
    snprintf(number, sizeof number, "%" PRIu64, result->seed);
    write_property(junit, "seed", number);
    snprintf(number, sizeof number, "%016" PRIx64, result->digest);
    write_property(junit, "digest", number);
    write_property(junit, "version", BUCKETLAB_VERSION);
    snprintf(number, sizeof number, "%" PRIu64, result->rows);
    write_property(junit, "rows", number);
    snprintf(number, sizeof number, "%" PRId64, item->run);
    if (item->run != 0)
        write_property(junit, "run", number);
    write_property(junit, "replay", item->again);
    end(junit);
}

static void text(struct junit *junit, const char *value)
{
    char *cleaned = clean(value);
    if (cleaned == NULL)
        junit->is_fine = false;
    else
        note(junit, xmlTextWriterWriteString(junit->writer, (const xmlChar *)cleaned));
    free(cleaned);
}

/* Writes one <failure> for all findings, since Ant's format allows only one. */
static void write_failure(struct junit *junit, const struct cli_checked *item, const struct cli_check *check)
{
    begin(junit, "failure");
    attribute(junit, "message", item->findings[check->first].text);
    attribute(junit, "type", cli_check_kind_name(check->kind));
    for (size_t i = 0; i < check->number; i++) {
        text(junit, item->findings[check->first + i].text);
        text(junit, "\n");
    }
    text(junit, "again: ");
    text(junit, item->again);
    text(junit, "\n");
    end(junit);
}

static void write_check(struct junit *junit, const struct cli_checked *item, const struct cli_check *check)
{
    begin(junit, "testcase");
    char *name = malloc(strlen(check->name) + 32);
    if (name == NULL) {
        junit->is_fine = false;
        return;
    }
    sprintf(name, "%s: %s", cli_check_kind_name(check->kind), check->name);
    attribute(junit, "name", name);
    free(name);
    attribute(junit, "classname", item->scenario->name);
    attribute(junit, "time", "0.000");
    if (check->state == CLI_CHECK_FAILS) {
        write_failure(junit, item, check);
    } else if (check->state == CLI_CHECK_EXCUSED) {
        begin(junit, "skipped");
        attribute(junit, "message", check->excuse);
        end(junit);
    }
    end(junit);
}

static void write_notes(struct junit *junit, const struct cli_checked *item)
{
    for (size_t i = 0; i < item->note_count; i++) {
        text(junit, item->notes[i]);
        text(junit, "\n");
    }
}

static void write_suite(struct junit *junit, const struct cli_checked *item, size_t number, const char *host)
{
    char figure[CLI_NUMBER_SIZE], stamp[32] = "1970-01-01T00:00:00";
    size_t excused = 0;
    time_t created = (time_t)item->created_unix_s;
    struct tm utc;
    for (size_t i = 0; i < item->check_count; i++)
        excused += item->checks[i].state == CLI_CHECK_EXCUSED;
    if (gmtime_r(&created, &utc) != NULL)
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    begin(junit, "testsuite");
    snprintf(figure, sizeof figure, "%zu", number);
    attribute(junit, "id", figure);
    attribute(junit, "name", item->scenario->name);
    attribute(junit, "package", "bucketlab");
    attribute(junit, "timestamp", stamp);
    attribute(junit, "hostname", host);
    snprintf(figure, sizeof figure, "%zu", item->check_count);
    attribute(junit, "tests", figure);
    snprintf(figure, sizeof figure, "%zu", item->failed_count);
    attribute(junit, "failures", figure);
    attribute(junit, "errors", "0");
    snprintf(figure, sizeof figure, "%zu", excused);
    attribute(junit, "skipped", figure);
    snprintf(figure, sizeof figure, "%" PRId64 ".%03d", item->elapsed_ms / 1000,
             (int)(item->elapsed_ms % 1000));
    attribute(junit, "time", figure);
    write_properties(junit, item);
    for (size_t i = 0; i < item->check_count; i++)
        write_check(junit, item, &item->checks[i]);
    begin(junit, "system-out");
    write_notes(junit, item);
    end(junit);
    begin(junit, "system-err");
    end(junit);
    end(junit);
}

static void write_gate(struct junit *junit, const struct cli_gate *gate)
{
    char host[HOST_SIZE] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        snprintf(host, sizeof host, "localhost");
    note(junit, xmlTextWriterSetIndent(junit->writer, 1));
    note(junit, xmlTextWriterStartDocument(junit->writer, "1.0", "UTF-8", NULL));
    begin(junit, "testsuites");
    for (size_t i = 0; i < gate->count; i++)
        write_suite(junit, &gate->items[i], i, host);
    end(junit);
    note(junit, xmlTextWriterEndDocument(junit->writer));
}

bool cli_check_junit(const struct cli_gate *gate, struct sim_error *error)
{
    struct stat status;
    xmlBufferPtr buffer = xmlBufferCreate();
    struct junit junit = {buffer == NULL ? NULL : xmlNewTextWriterMemory(buffer, 0), true};
    if (junit.writer == NULL) {
        xmlBufferFree(buffer);
        return sim_fail_memory(error);
    }
    write_gate(&junit, gate);
    xmlFreeTextWriter(junit.writer);
    char *path = NULL, *folder = cli_folder_of(gate->junit);
    bool is_fine = junit.is_fine && folder != NULL;
    /* Something that is not a regular file, such as /dev/stdout, is written directly, and must not be
     * replaced by a file. */
    if (is_fine && stat(gate->junit, &status) == 0 && !S_ISREG(status.st_mode)) {
        is_fine = cli_text_file_write(gate->junit, (const char *)xmlBufferContent(buffer),
                                      (size_t)xmlBufferLength(buffer), error);
    } else if (is_fine) {
        const char *name = strrchr(gate->junit, '/');
        is_fine = report_write_text(folder, name == NULL ? gate->junit : name + 1,
                                    (const char *)xmlBufferContent(buffer), &path, error);
    } else {
        sim_fail_memory(error);
    }
    free(folder);
    free(path);
    xmlBufferFree(buffer);
    return is_fine;
}
