/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts threads with a stack of a fixed size. */
#define _POSIX_C_SOURCE 200809L
#include "kernel/thread.h"

/* By default glibc gives each thread a stack of the shell's limit, which may be 16 KiB or gigabytes. */
#define THREAD_STACK_BYTES (8u << 20)

int sim_thread_start(pthread_t *thread, void *(*work)(void *), void *context)
{
    pthread_attr_t attributes;
    int reason = pthread_attr_init(&attributes);
    if (reason != 0)
        return reason;
    reason = pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    if (reason == 0)
        reason = pthread_create(thread, &attributes, work, context);
    pthread_attr_destroy(&attributes);
    return reason;
}
