/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole program: its start, sweeps, charts; the cluster engine with another queue; and the share of a
 * run's time that the database takes. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "kernel/random.h"
#include "lab/run.h"
#include "store/store.h"
#include "tune/contest.h"

enum { PATH_SIZE_MAX = 1024, WORDS_MAX = 24 };

extern char **environ;

/* Runs a program and discards its output. Another exit code than this one is a failure; if it is not 0,
 * errors are discarded, too. */
static bool call_program(struct bench_result *result, const char *const *words, int code)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (code != 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child;
    int status = -1;
    const bool is_started =
        posix_spawnp(&child, words[0], &actions, NULL, (char *const *)(uintptr_t)words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!is_started || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != code)
        return bench_fail(result, "%s %s: status %d", words[0], words[1], status);
    return true;
}

static bool call(const struct bench_context *context, struct bench_result *result,
                 const char *const *arguments)
{
    const char *words[WORDS_MAX] = {context->program};
    for (size_t i = 0; arguments[i] != NULL; i++)
        words[i + 1] = arguments[i];
    return call_program(result, words, 0);
}

static void note_children(struct bench_result *result)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    result->peak_kib = (uint64_t)usage.ru_maxrss;
}

/* The name of a database that does not exist yet. */
static void name_file(const struct bench_context *context, uint32_t number, char path[PATH_SIZE_MAX])
{
    snprintf(path, PATH_SIZE_MAX, "%s/%ld-%u.db", context->folder, (long)getpid(), number);
}

static void name_scenario(const struct bench_case *bench, const struct bench_context *context,
                          char path[PATH_SIZE_MAX])
{
    snprintf(path, PATH_SIZE_MAX, "%s/scenarios/%s", context->source,
             context->is_quick ? "small-trace.yaml" : bench->scenario);
}

/* Wall time in ms from the start of the program to its end, with its results printed and stored. */
bool bench_start(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result)
{
    char scenario[PATH_SIZE_MAX], database[PATH_SIZE_MAX];
    name_scenario(bench, context, scenario);
    for (uint32_t i = 0; i < result->run_count; i++) {
        name_file(context, i, database);
        const double from = bench_wall_s();
        if (!call(context, result,
                  (const char *const[]){"run", scenario, "--quiet", "--no-charts", "--db", database, NULL}))
            return false;
        result->runs[i].value = (bench_wall_s() - from) * 1e3;
    }
    note_children(result);
    return true;
}

static bool write_sweep(const struct bench_case *bench, const struct bench_context *context, const char *path,
                        struct bench_result *result)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return bench_fail(result, "%s cannot be written", path);
    fprintf(out,
            "name: sweep\nduration: 1000s\nengine: exact\nkeys: {count: %.0f}\narrivals: {rate: %.0f/s}\n"
            "strategies:\n  - probabilistic: {bits: 9, threshold: 40}\n"
            "sweep:\n  seeds: 8\n  grid:\n    strategies.probabilistic.bits: [8, 9]\n",
            bench_size(context, bench->keys, 10), bench_size(context, bench->rows, 1e4) / 1e3);
    return fclose(out) == 0 ? true : bench_fail(result, "%s cannot be written", path);
}

/* Measures the speedup of a sweep by the command line that begins with `two`. */
static bool time_sweeps(const struct bench_case *bench, const struct bench_context *context,
                        const char *const *two, struct bench_result *result)
{
    char scenario[PATH_SIZE_MAX], database[PATH_SIZE_MAX];
    snprintf(scenario, sizeof scenario, "%s/sweep.yaml", context->folder);
    if (!write_sweep(bench, context, scenario, result))
        return false;
    const char *const one[] = {context->program, NULL};
    for (uint32_t i = 0; i < result->run_count; i++) {
        double spent[2];
        for (uint32_t which = 0; which < 2; which++) {
            const char *const *begin = which == 0 ? one : two;
            const char *words[WORDS_MAX];
            size_t count = 0;
            for (; begin[count] != NULL; count++)
                words[count] = begin[count];
            name_file(context, 2 * i + which, database);
            const bool has_threads = which == 1 && count == 1;
            const char *const rest[] = {
                "sweep", scenario, "--quiet", "--db", database, "--jobs", has_threads ? "2" : "1", NULL};
            memcpy(words + count, rest, sizeof rest);
            const double from = bench_wall_s();
            if (!call_program(result, words, 0))
                return false;
            spent[which] = bench_wall_s() - from;
        }
        result->runs[i] = (struct bench_sample){spent[1], spent[0], spent[0] / spent[1]};
    }
    note_children(result);
    return true;
}

/* The speedup of a sweep of 16 runs with two threads instead of one. */
bool bench_sweep(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result)
{
    return time_sweeps(bench, context, (const char *const[]){context->program, NULL}, result);
}

/* The same with two single-threaded processes, started by mpirun. */
bool bench_ranks(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result)
{
    const char *const words[] = {"mpirun", "-q", "--allow-run-as-root", "--oversubscribe",
                                 "-n",     "2",  context->program,      NULL};
    return time_sweeps(bench, context, words, result);
}

static double children_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Processor time in s for all charts, or the page, of a stored run; the unit names the format. */
bool bench_charts(const struct bench_case *bench, const struct bench_context *context,
                  struct bench_result *result)
{
    char scenario[PATH_SIZE_MAX], database[PATH_SIZE_MAX];
    name_scenario(bench, context, scenario);
    name_file(context, 0, database);
    if (!call(context, result,
              (const char *const[]){"run", scenario, "--quiet", "--no-charts", "--db", database, NULL}))
        return false;
    const char *format = strrchr(bench->name, '-') + 1;
    for (uint32_t i = 0; i < result->run_count; i++) {
        const double from = children_s();
        if (!call(context, result,
                  (const char *const[]){"report", "last", "--quiet", "--db", database, "--format", format,
                                        "--out", context->folder, NULL}))
            return false;
        result->runs[i].value = children_s() - from;
    }
    note_children(result);
    return true;
}

static bool write_trace(const struct bench_case *bench, const struct bench_context *context, const char *path,
                        struct bench_result *result)
{
    const double rows = bench_size(context, bench->rows, 1e4), keys = bench_size(context, bench->keys, 1e3);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_FUZZ, 0);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return bench_fail(result, "%s cannot be written", path);
    fputs("timestamp_ms,key,bytes\n", out);
    for (double row = 0; row < rows; row++)
        fprintf(out, "%.0f,channel-%d,%d\n", 1767225600000 + row * 100,
                (int)sim_random_below(&random, (uint64_t)keys), 20 + (int)sim_random_below(&random, 380));
    return fclose(out) == 0 ? true : bench_fail(result, "%s cannot be written", path);
}

/* Processor time in s of a run with a trace, or its memory in MiB. */
bool bench_trace(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result)
{
    char trace[PATH_SIZE_MAX], scenario[PATH_SIZE_MAX], database[PATH_SIZE_MAX];
    snprintf(trace, sizeof trace, "%s/rows.csv", context->folder);
    snprintf(scenario, sizeof scenario, "%s/trace.yaml", context->folder);
    FILE *out = fopen(scenario, "w");
    if (out == NULL)
        return bench_fail(result, "%s cannot be written", scenario);
    fputs("trace: {file: rows.csv}\nstrategies:\n  - probabilistic: {bits: 4, threshold: 4}\n", out);
    if (fclose(out) != 0 || !write_trace(bench, context, trace, result))
        return false;
    for (uint32_t i = 0; i < result->run_count; i++) {
        name_file(context, i, database);
        const double from = children_s();
        if (!call(context, result,
                  (const char *const[]){"run", scenario, "--quiet", "--no-charts", "--db", database, NULL}))
            return false;
        note_children(result);
        result->runs[i].value =
            strcmp(bench->unit, "s") == 0 ? children_s() - from : (double)result->peak_kib / 1024;
    }
    return true;
}

static bool call_fuzz(const struct bench_context *context, struct bench_result *result, double count,
                      const char *jobs)
{
    char seeds[32];
    snprintf(seeds, sizeof seeds, "1..%.0f", count);
    return call(context, result,
                (const char *const[]){"fuzz", "--seeds", seeds, "--jobs", jobs, "--quiet", "--out",
                                      context->folder, NULL});
}

/* Processor time in ms per seed of `fuzz`. */
bool bench_fuzz(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result)
{
    const double count = bench_size(context, bench->rows, 20);
    for (uint32_t i = 0; i < result->run_count; i++) {
        const double from = children_s();
        if (!call_fuzz(context, result, count, "1"))
            return false;
        result->runs[i].value = 1e3 * (children_s() - from) / count;
    }
    note_children(result);
    return true;
}

/* Seeds per second of `fuzz` on two threads, if both cores were idle, by its processor time; compared with
 * wall time. */
bool bench_fuzz_two(const struct bench_case *bench, const struct bench_context *context,
                    struct bench_result *result)
{
    const double count = bench_size(context, bench->rows, 20);
    for (uint32_t i = 0; i < result->run_count; i++) {
        const double from = bench_wall_s(), spent_s = children_s();
        if (!call_fuzz(context, result, count, "2"))
            return false;
        const double idle = 2 * count / (children_s() - spent_s), by_clock = count / (bench_wall_s() - from);
        result->runs[i] = (struct bench_sample){idle, by_clock, by_clock / idle};
    }
    note_children(result);
    return true;
}

/* Processor time in s of `tune`, compared with that of one run; possibly with more keys, rows or reads than
 * the scenario has. */
bool bench_tune(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result)
{
    char scenario[PATH_SIZE_MAX], database[PATH_SIZE_MAX];
    const char *set = context->is_quick || bench->scenario_set == NULL ? "seed=1" : bench->scenario_set;
    const char *engine = !context->is_quick && bench->is_exact ? "engine=exact" : set;
    name_scenario(bench, context, scenario);
    for (uint32_t i = 0; i < result->run_count; i++) {
        double spent[2];
        for (uint32_t which = 0; which < 2; which++) {
            name_file(context, 2 * i + which, database);
            const char *const words[] = {context->program,
                                         which == 0 ? "run" : "tune",
                                         scenario,
                                         "--quiet",
                                         "--no-charts",
                                         "--jobs",
                                         "1",
                                         "--db",
                                         database,
                                         "--set",
                                         set,
                                         "--set",
                                         engine,
                                         "--set",
                                         "expect=[]",
                                         NULL};
            const double from = children_s();
            if (!call_program(result, words, which == 1 && bench->is_refused && !context->is_quick ? 1 : 0))
                return false;
            spent[which] = children_s() - from;
        }
        result->runs[i] = (struct bench_sample){spent[1], spent[0], spent[1] / spent[0]};
    }
    note_children(result);
    return true;
}

/* A race that ends when it has named the cheapest setting that is within the limits so far. */
struct first_answer {
    struct tune_contest contest;
    struct lab_progress progress;
};

/* Asked before each run: nothing is remembered, and no run follows the answer. */
static bool stop_when_named(void *context, uint64_t job, void *out, size_t size)
{
    struct first_answer *first = context;
    (void)job;
    (void)out;
    (void)size;
    if (atomic_load(&first->progress.best) != NULL)
        atomic_store(&first->progress.stop, true);
    return false;
}

static void keep_nothing(void *context, uint64_t job, const void *bytes, size_t size)
{
    (void)context;
    (void)job;
    (void)bytes;
    (void)size;
}

/* Processor time in s from the scenario's text to the first setting that the progress line of `tune` names.
 */
bool bench_tune_first(const struct bench_case *bench, const struct bench_context *context,
                      struct bench_result *result)
{
    char path[PATH_SIZE_MAX];
    const struct lab_override overrides[] = {
        {context->is_quick || bench->scenario_set == NULL ? "seed=1" : bench->scenario_set},
        {!context->is_quick && bench->is_exact ? "engine=exact" : "seed=1"}};
    name_scenario(bench, context, path);
    for (uint32_t i = 0; i < result->run_count; i++) {
        const double from = bench_processor_s();
        struct first_answer first = {.contest = {.led = SIZE_MAX}};
        struct lab_scenario *scenario;
        struct sim_error error;
        if (!lab_scenario_load(path, overrides, 2, NULL, &scenario, &error))
            return bench_fail(result, "%s", error.text);
        bool is_fine = tune_contest_begin(&first.contest, scenario, &scenario->tune, 1, NULL, &error);
        const struct tune_memory memory = {&first, stop_when_named, keep_nothing};
        first.contest.memory = &memory;
        is_fine = is_fine && (tune_race(&first.contest, 1, &first.progress, &error) ||
                              atomic_load(&first.progress.stop));
        result->runs[i] = (struct bench_sample){bench_processor_s() - from, (double)NAN, (double)NAN};
        const bool has_answer = atomic_load(&first.progress.best) != NULL;
        tune_contest_clear(&first.contest);
        lab_scenario_destroy(scenario);
        if (!is_fine || !has_answer)
            return bench_fail(result, "%s", is_fine ? "no setting is within the limits" : error.text);
    }
    bench_note_peak(result);
    return true;
}

static bool time_store(const struct lab_scenario *scenario, const char *database, double *run_s,
                       double *store_s, struct bench_result *result)
{
    struct lab_result *made;
    struct sim_error error;
    double from = bench_wall_s();
    if (!lab_run(scenario, 1, NULL, &made, &error))
        return bench_fail(result, "%.250s", error.text);
    *run_s = bench_wall_s() - from;
    struct store_run_info info = {.scenario_path = scenario->path,
                                  .scenario_text = scenario->text,
                                  .overrides = "",
                                  .version = "bench"};
    struct store *store = NULL;
    from = bench_wall_s();
    const bool is_stored =
        store_open(database, STORE_WRITE, &store, &error) && store_save_run(store, &info, made, &error);
    store_close(store);
    *store_s = bench_wall_s() - from;
    lab_result_destroy(made);
    return is_stored ? true : bench_fail(result, "%.250s", error.text);
}

/* The percentage of a run's time that storing it takes; both in wall time, since storing waits for a disk. */
bool bench_store(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result)
{
    char path[PATH_SIZE_MAX], database[PATH_SIZE_MAX];
    name_scenario(bench, context, path);
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_scenario_load(path, NULL, 0, NULL, &scenario, &error))
        return bench_fail(result, "%.250s", error.text);
    for (uint32_t i = 0; i < result->run_count && result->failure[0] == 0; i++) {
        double run_s = 0, store_s = 0;
        name_file(context, i, database);
        time_store(scenario, database, &run_s, &store_s, result);
        result->runs[i].value = 100 * store_s / (run_s + store_s);
    }
    lab_scenario_destroy(scenario);
    return result->failure[0] == 0;
}
