/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads with a stack of a fixed size, whatever the limit of the shell (`ulimit -s`) is. */
#ifndef KERNEL_THREAD_H
#define KERNEL_THREAD_H

#include <pthread.h>

/* As pthread_create() with default attributes. */
int sim_thread_start(pthread_t *thread, void *(*work)(void *), void *context);
#endif
