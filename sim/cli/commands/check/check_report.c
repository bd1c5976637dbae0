/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells the findings of a check: as lines, as JSON, and as JUnit XML for build servers (a <testsuite> per
 * scenario, a <testcase> per check). The formats of Ant and Jenkins differ; the report is valid for both
 * (tests/cli/junit.xsd). */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cli/files.h"
#include "cli/table.h"
#include "cli/text.h"
#include "kernel/text.h"
#include "reports/reports.h"

#define FIGURES_SHOWN 3u /* the most drifted metrics shown per scenario */

static bool print_table(const struct cli_gate *gate)
{
    static const struct cli_column columns[] = {
        {"scenario", "scenario", CLI_LABEL, .group = NULL}, {"checks", "count", CLI_EXACT, .group = NULL},
        {"failed", "failed", CLI_EXACT, .group = NULL},     {"excused", "excused", CLI_EXACT, .group = NULL},
        {"seconds", "seconds", CLI_TENTHS, .group = NULL},  {"digest", "digest", CLI_WORDS, .group = NULL}};
    json_t *rows = json_array();
    size_t all_excused = 0;
    for (size_t i = 0; i < gate->count; i++) {
        const struct cli_checked *item = &gate->items[i];
        size_t excused = 0;
        for (size_t j = 0; j < item->check_count; j++)
            excused += item->checks[j].state == CLI_CHECK_EXCUSED;
        rows = cli_json_append(rows, CLI_OBJECT({"scenario", json_string(item->scenario->name)},
                                                {"count", cli_json_whole(item->check_count)},
                                                {"failed", cli_json_whole(item->failed_count)},
                                                {"excused", cli_json_whole(excused)},
                                                {"seconds", cli_json_number((double)item->elapsed_ms / 1000)},
                                                {"digest", cli_json_digest(item->result->digest)}));
        all_excused += excused;
    }
    cli_table_print(
        stdout,
        &(struct cli_table){
            .rows = rows, .columns = columns, .count = 6, .gap = 2, .label_least = 28, .label_most = 28});
    if (all_excused > 0)
        printf("\n"
               "excused: the guarantee does not cover what happened in the run, for example a clock\n"
               "that jumped; --json and --junit say why\n");
    json_decref(rows);
    return rows != NULL;
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

bool cli_check_print(const struct cli_gate *gate, struct sim_error *error)
{
    if (!print_table(gate))
        return sim_fail_memory(error);
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
    return true;
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

static json_t *checks_json(const struct cli_checked *item)
{
    static const char *const states[] = {"holds", "fails", "excused"};
    json_t *list = json_array();
    for (size_t i = 0; i < item->check_count; i++) {
        const struct cli_check *check = &item->checks[i];
        list = cli_json_append(list, CLI_OBJECT({"kind", json_string(cli_check_kind_name(check->kind))},
                                                {"name", json_string(check->name)},
                                                {"state", json_string(states[check->state])},
                                                {"excuse", cli_json_words(check->excuse)}));
    }
    return list;
}

static json_t *findings_json(const struct cli_checked *item)
{
    json_t *list = json_array();
    for (size_t i = 0; i < item->finding_count; i++) {
        const struct cli_finding_line *finding = &item->findings[i];
        list = cli_json_append(
            list,
            CLI_OBJECT({"kind", json_string(cli_check_kind_name(finding->kind))},
                       {"strategy", cli_json_words(finding->label)}, {"name", cli_json_words(finding->name)},
                       {"value", cli_json_number(finding->value)}, {"low", cli_json_number(finding->low)},
                       {"high", cli_json_number(finding->high)}, {"key", cli_json_words(finding->key)},
                       {"text", json_string(finding->text)}));
    }
    return list;
}

static json_t *items_json(const struct cli_gate *gate)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gate->count; i++) {
        const struct cli_checked *item = &gate->items[i];
        const struct lab_result *result = item->result;
        json_t *notes = json_array();
        for (size_t j = 0; j < item->note_count; j++)
            notes = cli_json_append(notes, json_string(item->notes[j]));
        list = cli_json_append(
            list,
            CLI_OBJECT(
                {"scenario", json_string(result->scenario_name)}, {"path", json_string(item->scenario->path)},
                {"run", item->run == 0 ? json_null() : json_integer(item->run)},
                {"seed", cli_json_whole(result->seed)}, {"digest", cli_json_digest(result->digest)},
                {"rows", cli_json_whole(result->rows)},
                {"seconds", cli_json_number((double)item->elapsed_ms / 1000)}, {"checks", checks_json(item)},
                {"failed", cli_json_whole(item->failed_count)}, {"findings", findings_json(item)},
                {"notes", notes}, {"replay", json_string(item->again)}));
    }
    return list;
}

json_t *cli_check_json(const struct cli_gate *gate)
{
    return CLI_OBJECT(
        {"scenarios", items_json(gate)}, {"checks", cli_json_whole(cli_gate_checks(gate))},
        {"failed", cli_json_whole(cli_gate_failed(gate))}, {"baseline", cli_json_words(gate->baseline)},
        {"updated", json_boolean(gate->is_updated)}, {"ok", json_boolean(cli_gate_failed(gate) == 0)});
}

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
