/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab check: reads everything, runs all scenarios in parallel, judges them (check_judge.c), compares
 * them with the baseline (check_baseline.c), and stores them; then updates the baseline if requested and
 * allowed, writes the report, and prints everything (check_report.c). */
/* Checks, findings and notes are lists, which own their texts. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "check.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/scenario.h"
#include "cli/table.h"
#include "cli/text.h"
#include "kernel/grow.h"
#include "lab/crew.h"
#include "lab/run.h"
#include "reports/reports.h"
#include "store/store.h"
#include "tune/expected.h"

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

static void cli_checked_clear(struct cli_checked *item)
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

#define WORK_LEAST 1000 /* of a run without rows */
/* A cluster run takes about this many times as long as a run of the stream engine with the same rows. */
#define CLUSTER_WEIGHT   20
#define TRACE_LINE_BYTES 30

struct order {
    size_t index; /* of the item */
    double work;  /* estimated duration, in units of placed rows */
};

/* A run, as far as it is done. */
struct part {
    struct lab_progress progress;
    _Atomic bool is_over;
};

struct crew {
    struct cli_gate *gate;
    struct part *parts;  /* one for each job */
    struct order *order; /* longest first, so that no long run starts last */
    uint64_t first, number;
    uint32_t threads; /* threads per run */
    cli_check_wanted *wanted;
    cli_check_take *take;
    void *context;
};

struct made {
    struct lab_result *result;
    int64_t elapsed_ms;
};

static bool run_one(void *context, uint64_t job, struct lab_progress *progress, void **out,
                    struct sim_error *error)
{
    const struct crew *crew = context;
    size_t index = crew->order[job / crew->number].index;
    uint64_t offset = crew->first + job % crew->number;
    const struct lab_scenario *base = crew->gate->items[index].scenario;
    struct lab_scenario *scenario = NULL;
    struct made *made = calloc(1, sizeof *made);
    int64_t begin_ms = cli_now_ms();
    struct part *part = &crew->parts[job];
    part->progress.parent = progress;
    if (made == NULL)
        return sim_fail_memory(error);
    *out = made;
    if (crew->wanted != NULL && !crew->wanted(crew->context, index, offset)) {
        part->is_over = true;
        return true;
    }
    /* Seeds wrap around: the last seed is followed by 0. */
    bool is_fine = lab_scenario_again(base->path, base->text, base->overrides, NULL, 0, base->seed + offset,
                                      &scenario, error) &&
                   lab_run(scenario, crew->threads, &part->progress, &made->result, error);
    part->is_over = true;
    lab_scenario_destroy(scenario);
    made->elapsed_ms = cli_passed_ms(begin_ms);
    return is_fine;
}

static bool take_one(void *context, uint64_t job, void *out, bool *is_enough, struct sim_error *error)
{
    const struct crew *crew = context;
    struct made *made = out;
    struct lab_result *result = made->result;
    int64_t elapsed_ms = made->elapsed_ms;
    (void)is_enough;
    free(made);
    return crew->take(crew->context, crew->order[job / crew->number].index, crew->first + job % crew->number,
                      result, elapsed_ms, error);
}

static void drop_one(void *out)
{
    struct made *made = out;
    if (made != NULL)
        lab_result_destroy(made->result);
    free(made);
}

static bool run_crew(void *context, struct lab_progress *progress, struct sim_error *error)
{
    const struct crew *crew = context;
    const struct lab_crew jobs = {.context = context,
                                  .count = crew->gate->count * crew->number,
                                  .work = run_one,
                                  .take = take_one,
                                  .drop = drop_one};
    struct lab_progress inner = {.parent = progress};
    uint64_t taken;
    return lab_crew_run(&jobs, crew->gate->workers, &inner, &taken, error);
}

static double rows_of(const struct lab_scenario *scenario)
{
    struct stat status;
    double rows = scenario->workload.rate_per_s * ((double)scenario->workload.duration_ns / 1e9);
    if (scenario->trace_path != NULL && stat(scenario->trace_path, &status) == 0)
        rows = (double)status.st_size / TRACE_LINE_BYTES;
    return rows * (double)scenario->strategy_count;
}

static double work_of(const struct lab_scenario *scenario)
{
    return WORK_LEAST + rows_of(scenario) * (scenario->engine == LAB_ENGINE_CLUSTER ? CLUSTER_WEIGHT : 1);
}

/* The share of a run that is done. The cluster engine has no total; its rows are those of all strategies. */
static double share_of(const struct lab_scenario *scenario, const struct lab_progress *progress)
{
    double done = (double)progress->done, total = (double)progress->total;
    if (scenario->engine == LAB_ENGINE_CLUSTER) {
        done = (double)progress->rows;
        total = rows_of(scenario);
    }
    return total <= 0 ? 0 : done < total ? done / total : 1;
}

static void sum_up(void *context, struct lab_progress *progress)
{
    const struct crew *crew = context;
    double done = 0, total = 0;
    uint64_t rows = 0;
    for (size_t i = 0; i < crew->gate->count; i++) {
        const struct lab_scenario *scenario = crew->gate->items[crew->order[i].index].scenario;
        for (uint64_t j = 0; j < crew->number; j++) {
            const struct part *part = &crew->parts[i * crew->number + j];
            done += crew->order[i].work * (part->is_over ? 1 : share_of(scenario, &part->progress));
            rows += part->progress.rows;
            total += crew->order[i].work;
        }
    }
    progress->done = (uint64_t)done;
    progress->total = (uint64_t)total;
    progress->rows = rows;
}

static int longest_first(const void *one, const void *other)
{
    const struct order *a = one, *b = other;
    if (a->work > b->work || a->work < b->work)
        return a->work > b->work ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

bool cli_check_run(struct cli_gate *gate, uint64_t first, uint64_t number, cli_check_wanted *wanted,
                   cli_check_take *take, void *context, struct sim_error *error)
{
    uint64_t jobs = gate->count * number, threads = jobs < gate->workers ? gate->workers / jobs : 1;
    struct crew crew = {.gate = gate,
                        .parts = calloc(jobs, sizeof *crew.parts),
                        .order = calloc(gate->count, sizeof *crew.order),
                        .first = first,
                        .number = number,
                        .threads = (uint32_t)threads,
                        .wanted = wanted,
                        .take = take,
                        .context = context};
    if (crew.order == NULL || crew.parts == NULL) {
        free(crew.parts);
        free(crew.order);
        return sim_fail_memory(error);
    }
    for (size_t i = 0; i < gate->count; i++)
        crew.order[i] = (struct order){i, work_of(gate->items[i].scenario)};
    qsort(crew.order, gate->count, sizeof *crew.order, longest_first);
    const struct cli_task task = {.name = first == 0 ? "check" : "seeds",
                                  .unit = "rows/s",
                                  .is_quiet = gate->is_quiet,
                                  .run = run_crew,
                                  .sum_up = sum_up,
                                  .context = &crew};
    int64_t elapsed_ms;
    bool is_fine = cli_attend(&task, &gate->signals, &elapsed_ms, error);
    free(crew.parts);
    free(crew.order);
    if (gate->signals.caught != 0)
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored%s",
                        gate->is_update ? "; the baseline is unchanged" : "");
    return is_fine;
}

#define SEEDS_DEFAULT 5u
#define SEEDS_LEAST   3u
#define SEEDS_MOST    1000u
#define NAMES_SIZE    160

static const struct cli_option options[] = {
    {"junit", "FILE", "write the checks as JUnit XML"},
    {"baseline", "FILE", "compare with this baseline, a run database"},
    {"update-baseline", NULL,
     "make the baseline again, from runs whose expectations\n"
     "and guarantees hold"},
    {"seeds", "K",
     "further seeds of a new baseline, which show how much\n"
     "a figure varies: 3 to 1000 (default 5)"},
    {"digest", "exact|ignore",
     "ignore: rows may go to other buckets as long as no\n"
     "figure drifts (default exact)"},
    {"seed", "N", "use this seed instead of the scenarios'"},
    {"set", "PATH=VALUE", "change one field of each scenario; repeatable"},
    CLI_OPTION_SAMPLE,
    CLI_OPTION_DB,
    {"no-store", NULL, "do not keep the runs in the run database"},
    CLI_OPTION_JOBS,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

static bool read_options(const struct cli_args *args, struct cli_gate *gate, struct sim_error *error)
{
    const char *digest = cli_value(args, "digest", "exact");
    gate->database = cli_has(args, "no-store") ? NULL : cli_value(args, "db", "bucketlab.db");
    gate->baseline = cli_value(args, "baseline", NULL);
    gate->junit = cli_value(args, "junit", NULL);
    gate->is_update = cli_has(args, "update-baseline");
    gate->is_quiet = cli_has(args, "quiet");
    gate->is_json = cli_has(args, "json");
    gate->digest_counts = strcmp(digest, "exact") == 0;
    gate->seeds = SEEDS_DEFAULT;
    if (!cli_jobs(args, &gate->workers, error) ||
        !cli_whole(args, "seeds", SEEDS_LEAST, SEEDS_MOST, &gate->seeds, error))
        return false;
    if (!gate->digest_counts && strcmp(digest, "ignore") != 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --digest %s: write --digest exact or --digest ignore", digest);
    if (gate->baseline == NULL && gate->is_update)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --update-baseline needs a file; add --baseline FILE, as in --baseline baseline.db");
    if (gate->baseline == NULL && cli_has(args, "digest"))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --digest applies only with --baseline; add --baseline FILE, or leave --digest out");
    if (!gate->is_update && cli_has(args, "seeds"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds applies only with --update-baseline; add --update-baseline, or "
                        "leave --seeds out");
    return true;
}

/* Checked before the first run, so that no run is wasted. */
static bool check_trace(const struct lab_scenario *scenario, struct sim_error *error)
{
    struct stat status;
    if (scenario->trace_path == NULL || stat(scenario->trace_path, &status) == 0)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT, "%s: its trace %s cannot be opened (%s); check 'trace.file'",
                    scenario->path, scenario->trace_path, strerror(errno));
}

static bool load_scenario(const struct cli_args *args, const char *path, struct cli_checked *item,
                          struct sim_error *error)
{
    if (!cli_scenario_load(args, path, &item->scenario, error) || !lab_expects_check(item->scenario, error) ||
        !check_trace(item->scenario, error))
        return false;
    item->path = cli_absolute(path);
    item->again = cli_run_line(path, item->scenario->seed, item->scenario->overrides);
    return (item->path != NULL && item->again != NULL) || sim_fail_memory(error);
}

/* Baselines and reports identify scenarios by name. */
static bool check_names(const struct cli_gate *gate, struct sim_error *error)
{
    for (size_t i = 0; i < gate->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct lab_scenario *one = gate->items[j].scenario, *other = gate->items[i].scenario;
            if (strcmp(one->name, other->name) == 0)
                return sim_fail(error, SIM_ERROR_INPUT,
                                "%s: the name '%s' is also that of %s, and a baseline is looked up by name; "
                                "give it another 'name'",
                                other->path, other->name, one->path);
        }
    }
    return true;
}

static bool check_outputs(const struct cli_gate *gate, struct sim_error *error)
{
    struct cli_outputs outputs = {0};
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
    char *folder = cli_folder_of(path);
    if (folder == NULL)
        return sim_fail_memory(error);
    bool is_fine = cli_folder_check(folder, error);
    free(folder);
    return is_fine;
}

/* Messages of the store mention --db, which is another file here. */
static void name_option(struct sim_error *error)
{
    char *option = strstr(error->text, "--db");
    size_t size = strlen(error->text);
    if (option == NULL || size + 7 > sizeof error->text)
        return;
    memmove(option + strlen("--baseline"), option + strlen("--db"), strlen(option + strlen("--db")) + 1);
    memcpy(option, "--baseline", strlen("--baseline"));
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
    struct store *store = NULL;
    if (!check_outputs(gate, error))
        return false;
    if (gate->junit != NULL && !check_junit_name(gate->junit, error))
        return false;
    if (gate->database != NULL && gate->database[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --db: no file named; write --db bucketlab.db");
    if (gate->database != NULL && !store_open(gate->database, STORE_WRITE, &store, error))
        return false;
    store_close(store);
    return gate->baseline == NULL || check_baseline(gate, error);
}

static bool read_gate(const struct cli_args *args, struct cli_gate *gate, struct sim_error *error)
{
    gate->items = calloc(gate->count, sizeof *gate->items);
    if (gate->items == NULL)
        return sim_fail_memory(error);
    if (!read_options(args, gate, error))
        return false;
    for (size_t i = 0; i < gate->count; i++) {
        if (!load_scenario(args, cli_argument(args, i), &gate->items[i], error))
            return false;
    }
    if (!check_names(gate, error) || !check_files(gate, error))
        return false;
    for (size_t i = 0; i < gate->count && !gate->is_quiet; i++) {
        if (!cli_warnings_print(stderr, gate->items[i].scenario, error))
            return false;
        cli_warnings_files(stderr, gate->items[i].scenario);
    }
    return true;
}

static bool take_run(void *context, size_t index, uint64_t offset, struct lab_result *result,
                     int64_t elapsed_ms, struct sim_error *error)
{
    struct cli_gate *gate = context;
    struct cli_checked *item = &gate->items[index];
    (void)offset;
    item->result = result;
    item->elapsed_ms = elapsed_ms;
    item->created_unix_s = (int64_t)time(NULL);
    if (!tune_horizons_add(item->scenario, result, error))
        return false;
    if (result->strategy_count == 0)
        return true;
    const struct report_horizon horizon = report_horizon_of(result);
    char *text = report_no_buckets_told(&horizon);
    bool is_fine = text != NULL && (text[0] == '\0' || cli_check_note(item, "%s", text));
    free(text);
    return is_fine || sim_fail_memory(error);
}

static bool compare(struct cli_gate *gate, struct sim_error *error)
{
    struct store *store;
    bool is_fine = store_open(gate->baseline, STORE_READ, &store, error);
    for (size_t i = 0; is_fine && i < gate->count; i++)
        is_fine = cli_check_digest(&gate->items[i], gate, store, error) &&
                  cli_check_suspect(&gate->items[i], error);
    if (!is_fine)
        name_option(error);
    store_close(store);
    is_fine = is_fine && cli_check_confirm(gate, error);
    for (size_t i = 0; is_fine && i < gate->count; i++)
        is_fine = cli_check_figures(&gate->items[i], gate, error);
    return is_fine;
}

static bool store_all(struct cli_gate *gate, struct sim_error *error)
{
    struct store *store;
    if (!store_open(gate->database, STORE_WRITE, &store, error))
        return false;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < gate->count; i++) {
        struct cli_checked *item = &gate->items[i];
        struct store_run_info info = {.scenario_path = item->path,
                                      .scenario_text = item->scenario->text,
                                      .overrides = item->scenario->overrides,
                                      .version = BUCKETLAB_VERSION,
                                      .created_unix_s = item->created_unix_s,
                                      .elapsed_ms = item->elapsed_ms};
        is_fine = store_save_run(store, &info, item->result, error);
        item->run = info.run;
    }
    store_close(store);
    return is_fine;
}

static bool work(struct cli_gate *gate, struct sim_error *error)
{
    if (!cli_check_run(gate, 0, 1, NULL, take_run, gate, error))
        return false;
    for (size_t i = 0; i < gate->count; i++) {
        if (!cli_check_judge(&gate->items[i], error) || !cli_check_tune(gate, &gate->items[i], error))
            return false;
    }
    if (gate->baseline != NULL && !gate->is_update && !compare(gate, error))
        return false;
    if (gate->is_update && cli_gate_failed(gate) == 0 && !cli_check_update(gate, error)) {
        name_option(error);
        return false;
    }
    return (gate->database == NULL || store_all(gate, error)) &&
           (gate->junit == NULL || cli_check_junit(gate, error));
}

/* "chat, faults and 3 more" */
static void names_of(const struct cli_gate *gate, char *buffer)
{
    size_t used = 0, told = 0, total = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < gate->count; i++)
        total += gate->items[i].failed_count > 0;
    for (size_t i = 0; i < gate->count; i++) {
        const char *name = gate->items[i].scenario->name;
        if (gate->items[i].failed_count == 0 || used + strlen(name) + 24 > NAMES_SIZE)
            continue;
        used += (size_t)snprintf(buffer + used, NAMES_SIZE - used, "%s%s", told++ == 0 ? "" : ", ", name);
    }
    if (told == 0)
        snprintf(buffer, NAMES_SIZE, "%zu scenario%s", total, total == 1 ? "" : "s");
    else if (told < total)
        snprintf(buffer + used, NAMES_SIZE - used, " and %zu more", total - told);
}

/* The last line of the log: what failed, and what to do. */
static bool conclude(const struct cli_gate *gate, struct sim_error *error)
{
    size_t failed = cli_gate_failed(gate), of_baseline = 0;
    char names[NAMES_SIZE];
    if (failed == 0)
        return true;
    for (size_t i = 0; i < gate->count; i++) {
        for (size_t j = 0; j < gate->items[i].check_count; j++) {
            const struct cli_check *check = &gate->items[i].checks[j];
            of_baseline += check->state == CLI_CHECK_FAILS && check->kind == CLI_CHECK_BASELINE;
        }
    }
    names_of(gate, names);
    if (gate->is_update)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "%zu of %zu checks failed, in %s; %s is unchanged, because only runs that pass make "
                        "a baseline; fix the failures first",
                        failed, cli_gate_checks(gate), names, gate->baseline);
    return sim_fail(error, SIM_ERROR_CHECK, "%zu of %zu checks failed, in %s; %s", failed,
                    cli_gate_checks(gate), names,
                    of_baseline == failed ? "if the change is intended, repeat this with --update-baseline"
                                          : "the command after 'again:' above reproduces each failure");
}

static int run(const struct cli_args *args, struct sim_error *error)
{
    struct cli_gate gate = {.count = cli_argument_count(args)};
    bool is_fine = read_gate(args, &gate, error);
    int code = (int)error->class;
    if (is_fine) {
        cli_signals_hold(&gate.signals);
        is_fine = work(&gate, error);
        code = is_fine ? 0 : cli_exit_code(&gate.signals, error);
        cli_signals_release(&gate.signals);
    }
    if (is_fine && gate.is_json)
        is_fine = cli_json_print(cli_check_json(&gate), error);
    else if (is_fine)
        is_fine = cli_check_print(&gate, error);
    if (is_fine)
        cli_check_warn(&gate);
    if (is_fine && conclude(&gate, error))
        code = 0;
    else if (is_fine || code == 0)
        code = (int)error->class;
    for (size_t i = 0; gate.items != NULL && i < gate.count; i++)
        cli_checked_clear(&gate.items[i]);
    free(gate.items);
    return code;
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
