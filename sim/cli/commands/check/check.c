/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab check: reads everything, runs all scenarios in parallel, judges them and compares them with the
 * baseline (judge.c), and stores them; then updates the baseline if requested and allowed, writes the report,
 * and prints everything. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cli/base.h"
#include "kernel/text.h"
#include "lab/run.h"
#include "reports/format.h"
#include "store/store.h"
#include "tune/contest.h"

/* The number of checks in this state; state: NULL for any. item: NULL for all. */
static size_t count_of(const struct cli_gate *gate, const struct cli_checked *item, const char *state)
{
    size_t count = 0, index;
    json_t *check;
    for (size_t i = 0; i < gate->count; i++) {
        if (item != NULL && item != &gate->items[i])
            continue;
        json_array_foreach(gate->items[i].checks, index, check)
        {
            count += state == NULL || strcmp(json_string_value(json_object_get(check, "state")), state) == 0;
        }
    }
    return count;
}

static json_t *last_check(const struct cli_checked *item)
{
    return json_array_get(item->checks, json_array_size(item->checks) - 1);
}

void cli_check_begin(struct cli_checked *item, const char *kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *name = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    item->checks =
        cli_json_append(item->checks, CLI_OBJECT({"kind", json_string(kind)}, {"name", cli_json_words(name)},
                                                 {"state", json_string("holds")}, {"excuse", json_null()},
                                                 {"findings", json_integer(0)}));
}

void cli_check_excuse(struct cli_checked *item, const char *excuse)
{
    json_object_set_new(last_check(item), "state", json_string("excused"));
    json_object_set_new(last_check(item), "excuse", json_string(excuse));
}

void cli_check_fail(struct cli_checked *item, const struct cli_about *about, const char *format, ...)
{
    va_list arguments;
    json_t *check = last_check(item);
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    json_object_set_new(check, "state", json_string("fails"));
    json_object_set_new(check, "findings",
                        json_integer(json_integer_value(json_object_get(check, "findings")) + 1));
    item->findings = cli_json_append(
        item->findings,
        CLI_OBJECT({"kind", json_incref(json_object_get(check, "kind"))},
                   {"strategy", cli_json_words(about->label)}, {"name", cli_json_words(about->name)},
                   {"value", cli_json_number(about->value)}, {"low", cli_json_number(about->low)},
                   {"high", cli_json_number(about->high)}, {"key", cli_json_words(about->key)},
                   {"text", cli_json_words(text)}));
}

void cli_check_note(struct cli_checked *item, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *note = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    item->notes = cli_json_append(item->notes, cli_json_words(note));
}

static void clear(struct cli_checked *item)
{
    json_decref(item->checks);
    json_decref(item->findings);
    json_decref(item->notes);
    store_baseline_clear(&item->held);
    g_free(item->suspects);
    g_free(item->path);
    g_free(item->again);
    lab_scenario_destroy(item->scenario);
    lab_result_destroy(item->result);
}

struct crew {
    struct cli_gate *gate;
    uint64_t first, number;
    cli_check_wanted *wanted;
    cli_check_take *take;
    void *context;
};

static bool make_run(void *context, uint64_t job, struct lab_scenario **out, struct sim_error *error)
{
    const struct crew *crew = context;
    const struct cli_checked *item = &crew->gate->items[job / crew->number];
    const struct lab_scenario *base = item->scenario;
    /* Seeds wrap around: the last seed is followed by 0. */
    return (crew->wanted != NULL && !crew->wanted(item)) ||
           lab_scenario_again(base->path, base->text, base->overrides, NULL, 0,
                              base->seed + crew->first + job % crew->number, out, error);
}

static bool take_run(void *context, uint64_t job, struct lab_result *result, int64_t elapsed_ms,
                     struct sim_error *error)
{
    const struct crew *crew = context;
    return crew->take(crew->context, job / crew->number, result, elapsed_ms, error);
}

bool cli_check_run(struct cli_gate *gate, uint64_t first, uint64_t number, cli_check_wanted *wanted,
                   cli_check_take *take, void *context, struct sim_error *error)
{
    struct crew crew = {gate, first, number, wanted, take, context};
    const struct cli_runs runs = {.name = first == 0 ? "check" : "seeds",
                                  .lost = gate->is_update ? "nothing was stored; the baseline is unchanged"
                                                          : "nothing was stored",
                                  .count = gate->count * number,
                                  .context = &crew,
                                  .make = make_run,
                                  .take = take_run};
    return cli_run_all(gate->args, &runs, error);
}

#define SEEDS_DEFAULT 5u
#define SEEDS_LEAST   3u
#define SEEDS_MOST    1000u

static const struct cli_option options[] = {
    {"junit", "FILE", "write the checks as JUnit XML"},
    {"baseline", "FILE", "compare with this baseline, a run database"},
    {"update-baseline", NULL,
     "with --baseline: make it again, from runs whose\n"
     "expectations and guarantees hold"},
    {"seeds", "K",
     "with --update-baseline: further seeds, which show how\n"
     "much a figure varies: 3 to 1000 (default 5)"},
    {"digest", "exact|ignore",
     "with --baseline: ignore: rows may go to other buckets as\n"
     "long as no figure drifts (default exact)"},
    {"seed", "N", "use this seed instead of the scenarios'"},
    {"set", "PATH=VALUE", "change one field of each scenario; repeatable"},
    {CLI_OPTION_SAMPLE},
    {CLI_OPTION_DB},
    {"no-store", NULL, "do not keep the runs in the run database"},
    {CLI_OPTION_JOBS},
    {NULL, NULL, NULL}};

static bool load_scenario(const struct cli_args *args, const char *path, struct cli_checked *item,
                          struct sim_error *error)
{
    if (!cli_scenario_load(args, path, &item->scenario, error) || !lab_expects_check(item->scenario, error))
        return false;
    item->path = cli_absolute(path);
    item->again = cli_run_line(path, item->scenario->seed, item->scenario->overrides);
    return true;
}

static bool check_outputs(const struct cli_gate *gate, struct sim_error *error)
{
    struct cli_outputs outputs = {NULL};
    cli_outputs_file(&outputs, "junit", gate->junit);
    cli_outputs_database(&outputs, "db", gate->database, true);
    cli_outputs_database(&outputs, "baseline", gate->baseline, gate->is_update);
    for (size_t i = 0; i < gate->count; i++)
        cli_outputs_scenario(&outputs, gate->items[i].scenario);
    return cli_outputs_check(&outputs, error);
}

/* A missing folder is created. */
static bool check_junit_name(const char *path, struct sim_error *error)
{
    struct stat status;
    size_t size = strlen(path);
    bool is_there = stat(path, &status) == 0;
    if (size == 0 || path[size - 1] == '/' || (is_there && S_ISDIR(status.st_mode)))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --junit %s: not a file's name; write --junit junit.xml", path);
    if (is_there && !S_ISREG(status.st_mode))
        return true;
    g_autofree char *folder = g_path_get_dirname(path);
    return cli_folder_check(folder, error);
}

/* Messages of the store mention --db, which is another file here. */
static void name_option(struct sim_error *error)
{
    g_auto(GStrv) parts = g_strsplit(error->text, "--db", 2);
    if (parts[1] != NULL)
        sim_fail(error, error->class, "%s--baseline%s", parts[0], parts[1]);
}

/* Opens the baseline without changing it. */
static bool check_baseline(const struct cli_gate *gate, struct sim_error *error)
{
    struct stat status;
    struct store *store = NULL;
    if (gate->baseline[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --baseline: no file named; write --baseline baseline.db");
    bool is_missing = stat(gate->baseline, &status) != 0 && errno == ENOENT;
    if (is_missing && !gate->is_update)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: no such baseline; make it by the same command with --update-baseline",
                        gate->baseline);
    bool is_fine = store_open(gate->baseline, is_missing ? STORE_WRITE : STORE_READ, &store, error);
    store_close(store);
    if (!is_fine)
        name_option(error);
    return is_fine;
}

/* Errors that would occur at the end are reported before the work. */
static bool check_files(const struct cli_gate *gate, struct sim_error *error)
{
    return check_outputs(gate, error) && (gate->junit == NULL || check_junit_name(gate->junit, error)) &&
           (gate->database == NULL || cli_database_check(gate->database, error)) &&
           (gate->baseline == NULL || check_baseline(gate, error));
}

static bool read_gate(struct cli_gate *gate, struct sim_error *error)
{
    const struct cli_args *args = gate->args;
    gate->count = args->count;
    gate->items = g_new0(struct cli_checked, gate->count);
    gate->database = cli_has(args, "no-store") ? NULL : args->database;
    gate->baseline = cli_value(args, "baseline", NULL);
    gate->junit = cli_value(args, "junit", NULL);
    gate->is_update = cli_has(args, "update-baseline");
    gate->digest_counts = !cli_chooses(args, "digest", "ignore");
    gate->seeds = SEEDS_DEFAULT;
    if (!cli_whole(args, "seeds", SEEDS_LEAST, SEEDS_MOST, &gate->seeds, error))
        return false;
    for (size_t i = 0; i < gate->count; i++) {
        struct cli_checked *item = &gate->items[i];
        item->checks = json_array();
        item->findings = json_array();
        item->notes = json_array();
        if (!load_scenario(args, cli_argument(args, i), item, error))
            return false;
        /* Baselines and reports identify scenarios by name. */
        for (size_t j = 0; j < i; j++) {
            if (!cli_names_differ(gate->items[j].scenario, item->scenario,
                                  "a baseline is looked up by name; give it another 'name'", error))
                return false;
        }
    }
    if (!check_files(gate, error))
        return false;
    for (size_t i = 0; i < gate->count && !args->is_quiet; i++) {
        cli_warnings_print(stderr, gate->items[i].scenario);
        cli_warnings_files(stderr, gate->items[i].scenario);
    }
    return true;
}

static bool take_first(void *context, size_t index, struct lab_result *result, int64_t elapsed_ms,
                       struct sim_error *error)
{
    struct cli_checked *item = &((struct cli_gate *)context)->items[index];
    item->result = result;
    item->info = cli_info_of(item->scenario, item->path, elapsed_ms);
    if (!tune_horizons_add(item->scenario, result, error))
        return false;
    if (result->strategy_count == 0)
        return true;
    const struct report_horizon horizon = report_horizon_of(result);
    struct report_arena arena = {NULL};
    const char *text = report_no_buckets(&horizon, &arena);
    if (text[0] != '\0')
        cli_check_note(item, "%s Run tune again when the largest partition has %s.", text,
                       report_half_limit(&horizon, &arena));
    report_arena_free(&arena);
    return true;
}

static bool compare(struct cli_gate *gate, struct sim_error *error)
{
    struct store *store;
    bool is_fine = store_open(gate->baseline, STORE_READ, &store, error);
    for (size_t i = 0; is_fine && i < gate->count; i++) {
        is_fine = cli_check_digest(&gate->items[i], gate, store, error);
        if (is_fine)
            cli_check_suspect(&gate->items[i]);
    }
    if (!is_fine)
        name_option(error);
    store_close(store);
    is_fine = is_fine && cli_check_confirm(gate, error);
    for (size_t i = 0; is_fine && i < gate->count; i++)
        cli_check_figures(&gate->items[i], gate);
    return is_fine;
}

/* --- the report: as lines, as JSON, and as JUnit XML for build servers (a <testsuite> per scenario, a
 * <testcase> per check). The formats of Ant and Jenkins differ; the report is valid for both
 * (tests/cli/junit.xsd) */

#define FIGURES_SHOWN 3u /* the most drifted metrics shown per scenario */

static void print_table(const struct cli_gate *gate)
{
    static const struct cli_column columns[] = {
        {"scenario", "scenario", CLI_LABEL, .group = NULL}, {"checks", "count", CLI_EXACT, .group = NULL},
        {"failed", "failed", CLI_EXACT, .group = NULL},     {"excused", "excused", CLI_EXACT, .group = NULL},
        {"seconds", "seconds", CLI_TENTHS, .group = NULL},  {"digest", "digest", CLI_WORDS, .group = NULL}};
    json_t *rows = json_array();
    for (size_t i = 0; i < gate->count; i++) {
        const struct cli_checked *item = &gate->items[i];
        rows = cli_json_append(rows,
                               CLI_OBJECT({"scenario", json_string(item->scenario->name)},
                                          {"count", cli_json_whole(count_of(gate, item, NULL))},
                                          {"failed", cli_json_whole(count_of(gate, item, "fails"))},
                                          {"excused", cli_json_whole(count_of(gate, item, "excused"))},
                                          {"seconds", cli_json_number((double)item->info.elapsed_ms / 1000)},
                                          {"digest", cli_json_digest(item->result->digest)}));
    }
    cli_table_print(
        stdout,
        &(struct cli_table){
            .rows = rows, .columns = columns, .count = 6, .gap = 2, .label_least = 28, .label_most = 28});
    if (count_of(gate, NULL, "excused") > 0)
        printf("\n"
               "excused: the guarantee does not cover what happened in the run, for example a clock\n"
               "that jumped; --json and --junit say why\n");
    json_decref(rows);
}

static void print_line(const struct cli_checked *item, const char *before, const char *text)
{
    cli_print_text(stdout, item->scenario->path);
    cli_print_line(stdout, before, text);
}

/* The text of a member; "" when it is null. */
static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

/* How far a figure is from its baseline, in half widths of the interval; below 0: the finding is not about a
 * figure. */
static double excess_of(const json_t *finding)
{
    const json_t *value = json_object_get(finding, "value");
    const double now = json_number_value(value), low = json_number_value(json_object_get(finding, "low")),
                 high = json_number_value(json_object_get(finding, "high"));
    if (strcmp(text_of(finding, "kind"), "baseline") != 0 || text_of(finding, "strategy")[0] == '\0' ||
        json_is_null(json_object_get(finding, "low")))
        return -1;
    const double half = high > low ? (high - low) / 2 : fabs(low) * DBL_EPSILON + DBL_MIN;
    return json_is_null(value) ? HUGE_VAL : fmax(low - now, now - high) / half;
}

/* The smallest excess of the findings that are shown; *more: the number of those that are not. */
static double excess_shown(const struct cli_checked *item, size_t *more)
{
    double most[FIGURES_SHOWN] = {0}; /* the largest first */
    size_t index, count = 0;
    json_t *finding;
    json_array_foreach(item->findings, index, finding)
    {
        double excess = excess_of(finding);
        count += excess >= 0;
        for (size_t i = 0; i < FIGURES_SHOWN; i++) {
            const double before = most[i];
            most[i] = fmax(before, excess);
            excess = fmin(before, excess);
        }
    }
    *more = count > FIGURES_SHOWN ? count - FIGURES_SHOWN : 0;
    return *more > 0 ? most[FIGURES_SHOWN - 1] : 0;
}

static void print_findings(const struct cli_checked *item)
{
    size_t more, shown = 0, index;
    const double least = excess_shown(item, &more);
    char text[96];
    json_t *finding;
    json_array_foreach(item->findings, index, finding)
    {
        const double excess = excess_of(finding);
        if (excess < 0 || (excess >= least && shown++ < FIGURES_SHOWN))
            print_line(item, ": ", text_of(finding, "text"));
    }
    snprintf(text, sizeof text, "and %zu more figures, by less; --json and --junit list all", more);
    if (more > 0)
        print_line(item, ": ", text);
    if (index > 0)
        cli_print_line(stdout, "again: ", item->again);
}

static void print_gate(const struct cli_gate *gate)
{
    const size_t all = count_of(gate, NULL, NULL), failed = count_of(gate, NULL, "fails");
    const char *s = gate->count == 1 ? "" : "s";
    bool has_note = false;
    print_table(gate);
    fputs(failed > 0 ? "\n" : "", stdout);
    for (size_t i = 0; i < gate->count; i++)
        print_findings(&gate->items[i]);
    for (size_t i = 0; i < gate->count; i++) {
        size_t index;
        json_t *note;
        json_array_foreach(gate->items[i].notes, index, note)
        {
            fputs(has_note ? "" : "\n", stdout);
            print_line(&gate->items[i], ": note: ", json_string_value(note));
            has_note = true;
        }
    }
    if (gate->is_updated) {
        printf("\nbaseline of %zu scenario%s over %" PRIu64 " seeds", gate->count, s, gate->seeds + 1);
        cli_print_line(stdout, " written to ", gate->baseline);
    }
    if (all == 0)
        printf("\n0 checks in %zu scenario%s: nothing was checked\n", gate->count, s);
    else if (failed == 0)
        printf("\n%zu check%s in %zu scenario%s: all pass\n", all, all == 1 ? "" : "s", gate->count, s);
}

static void warn(const struct cli_gate *gate)
{
    for (size_t i = 0; i < gate->count && !gate->is_update && !gate->args->is_quiet; i++) {
        const struct cli_checked *item = &gate->items[i];
        if (json_array_size(item->checks) > 0)
            continue;
        fputs("warning: ", stderr);
        cli_print_text(stderr, item->scenario->path);
        fputs(": nothing was checked, because it has no expectation and no guarantee; add 'expect:', or "
              "compare it with --baseline FILE\n",
              stderr);
    }
}

static json_t *items_json(const struct cli_gate *gate)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gate->count; i++) {
        const struct cli_checked *item = &gate->items[i];
        const struct lab_result *result = item->result;
        list = cli_json_append(
            list,
            CLI_OBJECT({"scenario", json_string(result->scenario_name)},
                       {"path", cli_json_words(item->scenario->path)},
                       {"run", item->info.run == 0 ? json_null() : json_integer(item->info.run)},
                       {"seed", cli_json_whole(result->seed)}, {"digest", cli_json_digest(result->digest)},
                       {"rows", cli_json_whole(result->rows)},
                       {"seconds", cli_json_number((double)item->info.elapsed_ms / 1000)},
                       {"checks", json_incref(item->checks)},
                       {"failed", cli_json_whole(count_of(gate, item, "fails"))},
                       {"findings", json_incref(item->findings)}, {"notes", json_incref(item->notes)},
                       {"replay", cli_json_words(item->again)}));
    }
    return list;
}

static json_t *as_json(const struct cli_gate *gate)
{
    const size_t failed = count_of(gate, NULL, "fails");
    return CLI_OBJECT({"scenarios", items_json(gate)}, {"checks", cli_json_whole(count_of(gate, NULL, NULL))},
                      {"failed", cli_json_whole(failed)}, {"baseline", cli_json_words(gate->baseline)},
                      {"updated", json_boolean(gate->is_updated)}, {"ok", json_boolean(failed == 0)});
}

#define HOST_SIZE 256

static void begin(xmlTextWriterPtr writer, const char *name)
{
    xmlTextWriterStartElement(writer, (const xmlChar *)name);
}

/* Replaces by '?' characters that XML does not allow, and those that could make one text look like
 * another. */
static char *clean(const char *value)
{
    char *cleaned = g_malloc(strlen(value) + 1), *to = cleaned;
    while (*value != '\0') {
        bool is_fine;
        size_t size = sim_text_step(value, SIM_UTF8_SIZE_MAX, "\n", &is_fine);
        memcpy(to, is_fine ? value : "?", is_fine ? size : 1);
        to += is_fine ? size : 1;
        value += size;
    }
    *to = '\0';
    return cleaned;
}

static __attribute__((format(printf, 3, 4))) void attribute(xmlTextWriterPtr writer, const char *name,
                                                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *value = g_strdup_vprintf(format, arguments), *cleaned = clean(value);
    va_end(arguments);
    xmlTextWriterWriteAttribute(writer, (const xmlChar *)name, (const xmlChar *)cleaned);
}

static void line(xmlTextWriterPtr writer, const char *before, const char *value)
{
    g_autofree char *cleaned = clean(value), *whole = g_strconcat(before, cleaned, "\n", NULL);
    xmlTextWriterWriteString(writer, (const xmlChar *)whole);
}

static void write_properties(xmlTextWriterPtr writer, const struct cli_checked *item)
{
    const struct lab_result *result = item->result;
    const struct {
        const char *name;
        char *value;
    } properties[] = {{"scenario", g_strdup(item->scenario->path)},
                      {"seed", g_strdup_printf("%" PRIu64, result->seed)},
                      {"digest", g_strdup_printf("%016" PRIx64, result->digest)},
                      {"version", g_strdup(BUCKETLAB_VERSION)},
                      {"rows", g_strdup_printf("%" PRIu64, result->rows)},
                      {"run", g_strdup_printf("%" PRId64, item->info.run)},
                      {"replay", g_strdup(item->again)}};
    begin(writer, "properties");
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        if (item->info.run != 0 || strcmp(properties[i].name, "run") != 0) {
            begin(writer, "property");
            attribute(writer, "name", "%s", properties[i].name);
            attribute(writer, "value", "%s", properties[i].value);
            xmlTextWriterEndElement(writer);
        }
        g_free(properties[i].value);
    }
    xmlTextWriterEndElement(writer);
}

/* Writes a check with its findings, of which *next is the first: one <failure> for all, since Ant's format
 * allows only one. */
static void write_check(xmlTextWriterPtr writer, const struct cli_checked *item, const json_t *check,
                        size_t *next)
{
    const char *state = text_of(check, "state"), *kind = text_of(check, "kind");
    const size_t end = *next + (size_t)json_integer_value(json_object_get(check, "findings"));
    begin(writer, "testcase");
    attribute(writer, "name", "%s: %s", kind, text_of(check, "name"));
    attribute(writer, "classname", "%s", item->scenario->name);
    attribute(writer, "time", "0.000");
    if (strcmp(state, "fails") == 0) {
        begin(writer, "failure");
        attribute(writer, "message", "%s", text_of(json_array_get(item->findings, *next), "text"));
        attribute(writer, "type", "%s", kind);
        for (; *next < end; ++*next)
            line(writer, "", text_of(json_array_get(item->findings, *next), "text"));
        line(writer, "again: ", item->again);
        xmlTextWriterEndElement(writer);
    } else if (strcmp(state, "excused") == 0) {
        begin(writer, "skipped");
        attribute(writer, "message", "%s", text_of(check, "excuse"));
        xmlTextWriterEndElement(writer);
    }
    xmlTextWriterEndElement(writer);
}

static void write_suite(xmlTextWriterPtr writer, const struct cli_gate *gate, size_t number, const char *host)
{
    const struct cli_checked *item = &gate->items[number];
    char stamp[32] = "1970-01-01T00:00:00";
    time_t created = (time_t)item->info.created_unix_s;
    size_t index, next = 0;
    json_t *value;
    struct tm utc;
    if (gmtime_r(&created, &utc) != NULL)
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    begin(writer, "testsuite");
    attribute(writer, "id", "%zu", number);
    attribute(writer, "name", "%s", item->scenario->name);
    attribute(writer, "package", "bucketlab");
    attribute(writer, "timestamp", "%s", stamp);
    attribute(writer, "hostname", "%s", host);
    attribute(writer, "tests", "%zu", json_array_size(item->checks));
    attribute(writer, "failures", "%zu", count_of(gate, item, "fails"));
    attribute(writer, "errors", "0");
    attribute(writer, "skipped", "%zu", count_of(gate, item, "excused"));
    attribute(writer, "time", "%.3f", (double)item->info.elapsed_ms / 1000);
    write_properties(writer, item);
    json_array_foreach(item->checks, index, value)
    {
        write_check(writer, item, value, &next);
    }
    begin(writer, "system-out");
    json_array_foreach(item->notes, index, value)
    {
        line(writer, "", json_string_value(value));
    }
    xmlTextWriterEndElement(writer);
    begin(writer, "system-err");
    xmlTextWriterEndElement(writer);
    xmlTextWriterEndElement(writer);
}

static void write_gate(xmlTextWriterPtr writer, const struct cli_gate *gate)
{
    char host[HOST_SIZE] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        snprintf(host, sizeof host, "localhost");
    xmlTextWriterSetIndent(writer, 1);
    xmlTextWriterStartDocument(writer, "1.0", "UTF-8", NULL);
    begin(writer, "testsuites");
    for (size_t i = 0; i < gate->count; i++)
        write_suite(writer, gate, i, host);
    xmlTextWriterEndElement(writer);
    xmlTextWriterEndDocument(writer);
}

static bool write_junit(const struct cli_gate *gate, struct sim_error *error)
{
    xmlMemSetup(g_free, g_malloc, g_realloc, g_strdup); /* so that no call fails for lack of memory */
    xmlBufferPtr buffer = xmlBufferCreate();
    xmlTextWriterPtr writer = xmlNewTextWriterMemory(buffer, 0);
    write_gate(writer, gate);
    xmlFreeTextWriter(writer);
    const char *text = (const char *)xmlBufferContent(buffer);
    bool is_fine = cli_file_write(gate->junit, text, strlen(text), error);
    xmlBufferFree(buffer);
    return is_fine;
}

static bool store_all(struct cli_gate *gate, struct sim_error *error)
{
    struct store *store;
    if (!store_open(gate->database, STORE_WRITE, &store, error))
        return false;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < gate->count; i++)
        is_fine = store_save_run(store, &gate->items[i].info, gate->items[i].result, error);
    store_close(store);
    return is_fine;
}

static bool work(struct cli_gate *gate, struct sim_error *error)
{
    if (!cli_check_run(gate, 0, 1, NULL, take_first, gate, error))
        return false;
    for (size_t i = 0; i < gate->count; i++) {
        if (!cli_check_judge(&gate->items[i], error) || !cli_check_tune(gate, &gate->items[i], error))
            return false;
    }
    if (gate->baseline != NULL && !gate->is_update && !compare(gate, error))
        return false;
    if (gate->is_update && count_of(gate, NULL, "fails") == 0 && !cli_check_update(gate, error)) {
        name_option(error);
        return false;
    }
    return (gate->database == NULL || store_all(gate, error)) &&
           (gate->junit == NULL || write_junit(gate, error));
}

/* Whether no check but those of the baseline fails. */
static bool is_drift(const struct cli_gate *gate)
{
    size_t index;
    json_t *finding;
    for (size_t i = 0; i < gate->count; i++) {
        json_array_foreach(gate->items[i].findings, index, finding)
        {
            if (strcmp(json_string_value(json_object_get(finding, "kind")), "baseline") != 0)
                return false;
        }
    }
    return true;
}

/* The last line of the log: what failed, and what to do. */
static bool conclude(const struct cli_gate *gate, struct sim_error *error)
{
    const size_t failed = count_of(gate, NULL, "fails"), all = count_of(gate, NULL, NULL);
    g_autoptr(GString) names = g_string_new("");
    if (failed == 0)
        return true;
    for (size_t i = 0; i < gate->count; i++) {
        if (count_of(gate, &gate->items[i], "fails") > 0)
            g_string_append_printf(names, "%s%s", names->len == 0 ? "" : ", ", gate->items[i].scenario->name);
    }
    if (gate->is_update)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "%zu of %zu checks failed, in %s; %s is unchanged, because only runs that pass make "
                        "a baseline; fix the failures first",
                        failed, all, names->str, gate->baseline);
    return sim_fail(error, SIM_ERROR_CHECK, "%zu of %zu checks failed, in %s; %s", failed, all, names->str,
                    is_drift(gate) ? "if the change is intended, repeat this with --update-baseline"
                                   : "the command after 'again:' above reproduces each failure");
}

static bool run(const struct cli_args *args, struct sim_error *error)
{
    struct cli_gate gate = {.args = args};
    bool is_fine = read_gate(&gate, error) && work(&gate, error);
    cli_release(args);
    if (is_fine && args->is_json)
        cli_json_print(as_json(&gate));
    else if (is_fine)
        print_gate(&gate);
    if (is_fine)
        warn(&gate);
    is_fine = is_fine && conclude(&gate, error);
    for (size_t i = 0; i < gate.count; i++)
        clear(&gate.items[i]);
    g_free(gate.items);
    return is_fine;
}

const struct cli_command cli_check = {
    .name = "check",
    .arguments = "SCENARIO...",
    .summary = "a gate for CI: check expectations, guarantees and a baseline",
    .example = "  bucketlab check scenarios/*.yaml --baseline baseline.db --update-baseline\n"
               "  bucketlab check scenarios/*.yaml --baseline baseline.db --junit out.xml\n",
    .options = options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = run,
};
