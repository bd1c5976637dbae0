/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library to preload (LD_PRELOAD), which makes time pass HASTY_FACTOR times as fast for a program: the
 * monotonic clock runs faster, and a wait for a signal ends sooner. So a test sees what is shown after a
 * second although the work takes only milliseconds, on fast and on slow machines. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000L

static long factor = 1;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("HASTY_FACTOR");
    if (text != NULL && atol(text) > 0)
        factor = atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    static struct timespec first; /* of the clock; the process is still alone when it is set */
    int code = (int)syscall(SYS_clock_gettime, clock, out);
    if (code != 0 || clock != CLOCK_MONOTONIC)
        return code;
    if (first.tv_sec == 0)
        first = *out;
    long passed_ns = (out->tv_sec - first.tv_sec) * SECOND_NS + out->tv_nsec - first.tv_nsec;
    out->tv_sec = first.tv_sec + passed_ns * factor / SECOND_NS;
    out->tv_nsec = passed_ns * factor % SECOND_NS;
    return code;
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict wait)
{
    long wait_ns = (wait->tv_sec * SECOND_NS + wait->tv_nsec) / factor;
    const struct timespec shorter = {wait_ns / SECOND_NS, wait_ns % SECOND_NS};
    return (int)syscall(SYS_rt_sigtimedwait, set, info, &shorter, _NSIG / 8);
}
