/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one case of the benchmark in a separate process, and measures its time and memory. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

uint32_t bench_run_count(const struct bench_case *bench, const struct bench_context *context)
{
    if (context->is_quick)
        return 1;
    const uint32_t runs = context->runs != 0 ? context->runs : bench->runs != 0 ? bench->runs : BENCH_RUNS;
    return runs < BENCH_RUNS_MAX ? runs : BENCH_RUNS_MAX;
}

double bench_size(const struct bench_context *context, double size, double quick)
{
    return context->is_quick && size > quick ? quick : size;
}

static double read_clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_processor_s(void)
{
    return read_clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_wall_s(void)
{
    return read_clock_s(CLOCK_MONOTONIC);
}

void bench_keep(uint64_t outcome)
{
    __asm__ volatile("" : : "r"(outcome));
}

void bench_note_peak(struct bench_result *result)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    result->peak_kib = (uint64_t)usage.ru_maxrss;
}

bool bench_fail(struct bench_result *result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->failure, sizeof result->failure, format, arguments);
    va_end(arguments);
    return false;
}

static bool read_all(int file, struct bench_result *result)
{
    char *bytes = (char *)result;
    size_t done = 0;
    while (done < sizeof *result) {
        const ssize_t got = read(file, bytes + done, sizeof *result - done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

void bench_run(const struct bench_case *bench, const struct bench_context *context,
               struct bench_result *result)
{
    int ends[2];
    memset(result, 0, sizeof *result);
    fflush(NULL);
    if (pipe(ends) != 0) {
        bench_fail(result, "no pipe: %s", strerror(errno));
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        result->run_count = bench_run_count(bench, context);
        for (uint32_t i = 0; i < result->run_count; i++)
            result->runs[i] = (struct bench_sample){(double)NAN, (double)NAN, (double)NAN};
        if (bench->measure(bench, context, result) && result->peak_kib == 0)
            bench_note_peak(result);
        _exit(write(ends[1], result, sizeof *result) == (ssize_t)sizeof *result ? 0 : 3);
    }
    close(ends[1]);
    int status = 0;
    bool is_told = child >= 0 && read_all(ends[0], result);
    if (child < 0)
        bench_fail(result, "no process: %s", strerror(errno));
    else if (waitpid(child, &status, 0) != child || !is_told || status != 0)
        bench_fail(result, "the process that measured ended before it was done (status %d)", status);
    close(ends[0]);
}
