/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures the cases of cases.c, prints them as one table and writes them as JSON. The exit code is 1 when a
 * case could not be measured, and 0 even when a budget is missed. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char usage[] = "usage: bucketlab_bench [OPTIONS]\n"
                            "  --set usual|long|growth|all  which cases (default usual)\n"
                            "  --only TEXT                  those alone whose name begins so\n"
                            "  --runs N                     of each, in place of its own number\n"
                            "  --quick                      everything small and once\n"
                            "  --list                       their names, and measure nothing\n"
                            "  --json FILE                  all figures (default bench.json)\n"
                            "  --program FILE, --source DIR bucketlab, and the folder with its scenarios\n";

struct options {
    bool sets[BENCH_SETS];
    const char *only, *json;
    bool is_list;
    struct bench_context context;
};

static bool read_set(const char *name, struct options *options)
{
    static const char *const names[BENCH_SETS] = {"usual", "long", "growth"};
    bool is_known = false;
    for (int set = 0; set < BENCH_SETS; set++) {
        if (strcmp(name, names[set]) == 0 || strcmp(name, "all") == 0)
            is_known = options->sets[set] = true;
    }
    return is_known;
}

static bool read_options(char **arguments, struct options *options)
{
    bool has_set = false;
    for (char **at = arguments; *at != NULL; at++) {
        const char *name = *at;
        if (strcmp(name, "--quick") == 0) {
            options->context.is_quick = true;
            continue;
        }
        if (strcmp(name, "--list") == 0) {
            options->is_list = true;
            continue;
        }
        const char *value = *++at;
        if (value == NULL)
            return false;
        if (strcmp(name, "--set") == 0)
            has_set = read_set(value, options);
        if (strcmp(name, "--only") == 0)
            options->only = value;
        else if (strcmp(name, "--json") == 0)
            options->json = value;
        else if (strcmp(name, "--program") == 0)
            options->context.program = value;
        else if (strcmp(name, "--source") == 0)
            options->context.source = value;
        else if (strcmp(name, "--runs") == 0)
            options->context.runs = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--set") != 0 || !has_set)
            return false;
    }
    return has_set || read_set("usual", options);
}

static bool is_chosen(const struct bench_case *bench, const struct options *options)
{
    return options->sets[bench->set] && strncmp(bench->name, options->only, strlen(options->only)) == 0;
}

static void print_end(const struct options *options, const struct bench_result *results, const bool *is_done)
{
    unsigned kept = 0, budgets = 0;
    for (size_t i = 0; i < bench_case_count; i++) {
        if (is_done[i] && bench_cases[i].bound != BENCH_NO_BUDGET) {
            budgets++;
            kept += bench_is_kept(&bench_cases[i], &results[i]);
        }
    }
    printf("\n%u of %u budgets kept; the figures in full: %s\n", kept, budgets, options->json);
}

static int run_all(const struct options *options)
{
    struct bench_result *results = calloc(bench_case_count, sizeof *results);
    bool *is_done = calloc(bench_case_count, sizeof *is_done);
    if (results == NULL || is_done == NULL)
        return 3;
    const double begin = bench_wall_s();
    const char *group = "";
    bool has_failed = false;
    for (size_t i = 0; i < bench_case_count; i++) {
        const struct bench_case *bench = &bench_cases[i];
        if (!is_chosen(bench, options))
            continue;
        bench_run(bench, &options->context, &results[i]);
        bench_print(bench, &results[i], strcmp(group, bench->group) != 0);
        group = bench->group;
        is_done[i] = true;
        has_failed |= results[i].failure[0] != 0;
    }
    print_end(options, results, is_done);
    printf("measured in %.0f s\n", bench_wall_s() - begin);
    const bool is_written = bench_write_json(options->json, &options->context, results, is_done);
    if (!is_written)
        fprintf(stderr, "bench: %s cannot be written\n", options->json);
    free(results);
    free(is_done);
    return !is_written ? 3 : has_failed ? 1 : 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

int main(int argc, char **argv)
{
    (void)argc;
    struct options options = {.json = "bench.json",
                              .only = "",
                              .context = {.program = BENCH_PROGRAM, .source = BUCKETLAB_SOURCE_DIR}};
    if (!read_options(argv + 1, &options)) {
        fputs(usage, stderr);
        return 2;
    }
    for (size_t i = 0; options.is_list && i < bench_case_count; i++) {
        if (is_chosen(&bench_cases[i], &options))
            puts(bench_cases[i].name);
    }
    if (options.is_list)
        return 0;
    char folder[] = "/tmp/bucketlab-bench-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "bench: no folder can be made under /tmp\n");
        return 3;
    }
    options.context.folder = folder;
    const int code = run_all(&options);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return code;
}
