/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the system gives or refuses: errors with their class and one line of text, arrays that grow, aligned
 * memory, input files, and threads. */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/error.h"
#include "kernel/file.h"
#include "kernel/grow.h"

static void make_one_line(char *text, bool is_cut)
{
    if (is_cut) {
        /* The dots replace whole UTF-8 characters; a text that is not UTF-8 may be cut anywhere. */
        size_t end = strlen(text) - 3;
        for (int i = 0; i < 3 && ((unsigned char)text[end] & 0xc0) == 0x80; i++)
            end--;
        memcpy(text + end, "...", sizeof "...");
    }
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    }
}

bool sim_fail(struct sim_error *error, enum sim_error_class class, const char *format, ...)
{
    if (error == NULL)
        return false;
    /* Formatted in a local buffer first, since the arguments may point into *error. */
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_one_line(text, length >= (int)sizeof text);
    error->class = class;
    memcpy(error->text, text, sizeof text);
    return false;
}

bool sim_fail_memory(struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT, "out of memory; free some, or use fewer keys or jobs");
}

/* Arrays that grow by doubling. */

/* The first capacity in bytes; most arrays stay small. */
#define BYTES_MIN 64

bool sim_grow_more(void *array, size_t *capacity, size_t count, size_t item_bytes)
{
    assert(item_bytes > 0 && count > *capacity);
    size_t wanted = *capacity > SIZE_MAX / 2 ? count : *capacity * 2;
    if (wanted < BYTES_MIN / item_bytes)
        wanted = BYTES_MIN / item_bytes;
    if (wanted < count)
        wanted = count;
    if (wanted > SIZE_MAX / item_bytes)
        return false;
    /* A pointer to any type has the same representation as a pointer to void, as POSIX requires. */
    void *items;
    memcpy(&items, array, sizeof items);
    void *grown = realloc(items, wanted * item_bytes);
    if (grown == NULL)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    /* cppcheck-suppress memleak ; `array` has it */
    return true;
}

/* madvise() */

#ifdef __linux__
#include <sys/mman.h>
#endif

#define HUGE_BYTES ((size_t)2 << 20)

void *sim_memory_take(size_t bytes)
{
    assert(bytes > 0);
    size_t unit = bytes < HUGE_BYTES ? SIM_LINE_BYTES : HUGE_BYTES;
    if (bytes > SIZE_MAX - unit)
        return NULL;
    size_t whole = (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, whole);
#ifdef MADV_HUGEPAGE
    if (memory != NULL && unit == HUGE_BYTES)
        madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return memory;
}

void *sim_memory_zeroed(size_t bytes)
{
    void *memory = sim_memory_take(bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

void *sim_memory_grow(void *memory, size_t kept, size_t bytes)
{
    assert(kept <= bytes);
    void *grown = sim_memory_zeroed(bytes);
    if (grown == NULL)
        return NULL;
    if (kept > 0)
        memcpy(grown, memory, kept);
    free(memory);
    return grown;
}

/* Opens inputs: a regular file, or an open descriptor by its name. Anything else is refused. */

bool sim_input_is_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, SIM_STANDARD_INPUT) == 0 || strcmp(path, "/dev/stdin") == 0)
        return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t size = strlen(folders[i]);
        if (strncmp(path, folders[i], size) == 0 && path[size] != '\0' &&
            strspn(path + size, "0123456789") == strlen(path + size))
            return true;
    }
    return false;
}

int sim_input_open(const char *path, int *reason)
{
    bool is_any = sim_input_is_descriptor(path);
    /* With O_NONBLOCK, opening a FIFO returns immediately, so that its type can be checked. */
    int file = strcmp(path, SIM_STANDARD_INPUT) == 0
                   ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                   : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_any ? 0 : O_NONBLOCK));
    struct stat status;
    *reason = 0;
    if (file == -1 || fstat(file, &status) != 0)
        *reason = errno;
    else if (S_ISDIR(status.st_mode))
        *reason = EISDIR;
    else if (!is_any && !S_ISREG(status.st_mode))
        *reason = SIM_NOT_REGULAR;
    else if (!is_any && fcntl(file, F_SETFL, 0) == -1)
        *reason = errno;
    if (*reason != 0 && file != -1) {
        close(file);
        file = -1;
    }
    /* open() fails with ENXIO for the name of a socket. */
    if (!is_any && *reason == ENXIO)
        *reason = SIM_NOT_REGULAR;
    return file;
}

FILE *sim_input_stream(const char *path, int *reason)
{
    int file = sim_input_open(path, reason);
    FILE *stream = file == -1 ? NULL : fdopen(file, "rb");
    if (file != -1 && stream == NULL) {
        *reason = errno;
        close(file);
    }
    return stream;
}

const char *sim_input_reason(int reason, char *buffer, size_t size)
{
    if (reason == SIM_NOT_REGULAR)
        return "not a regular file";
    return strerror_r(reason, buffer, size) == 0 ? buffer : "unknown reason";
}

/* Starts threads with a stack of a fixed size. */

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
