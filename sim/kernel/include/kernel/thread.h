/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts threads with a stack of a fixed size, independent of the shell's limit (`ulimit -s`). */
#ifndef KERNEL_THREAD_H
#define KERNEL_THREAD_H

#include <pthread.h>

/* As pthread_create() with default attributes. */
int sim_thread_start(pthread_t *thread, void *(*work)(void *), void *context);
#endif
