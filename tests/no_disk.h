/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A disk that fails on demand. If a test is registered with bucketlab_wrap_disk(), its code under test calls
 * the functions below instead of those that write files. All calls of
 * disk_kind_failing fail with ENOSPC, and call number disk_calls_left, from 0, of any kind; disk_failed then
 * says what it was. */
#ifndef TESTS_NO_DISK_H
#define TESTS_NO_DISK_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum disk_kind { DISK_FOLDER, DISK_OPEN, DISK_WRITE, DISK_FLUSH, DISK_RENAME, DISK_KIND_COUNT };

int __real_g_mkdir_with_parents(const char *path, int mode);
int __real_open(const char *path, int flags, ...);
ssize_t __real_write(int file, const void *data, size_t size);
int __real_fsync(int file);
int __real_rename(const char *from, const char *to);
int __wrap_g_mkdir_with_parents(const char *path, int mode);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_write(int file, const void *data, size_t size);
int __wrap_fsync(int file);
int __wrap_rename(const char *from, const char *to);

static enum disk_kind disk_kind_failing = DISK_KIND_COUNT;
static long disk_calls_left = -1; /* negative: none is to fail, or it has */
static enum disk_kind disk_failed = DISK_KIND_COUNT;

static bool disk_is_full(enum disk_kind kind)
{
    bool fails = kind == disk_kind_failing;
    if (disk_calls_left >= 0 && disk_calls_left-- == 0) {
        disk_failed = kind;
        fails = true;
    }
    errno = fails ? ENOSPC : errno;
    return fails;
}

int __wrap_g_mkdir_with_parents(const char *path, int mode)
{
    return disk_is_full(DISK_FOLDER) ? -1 : __real_g_mkdir_with_parents(path, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    bool fails = (flags & O_CREAT) != 0 && disk_is_full(DISK_OPEN);
    return fails ? -1 : __real_open(path, flags, mode);
}

ssize_t __wrap_write(int file, const void *data, size_t size)
{
    return disk_is_full(DISK_WRITE) ? -1 : __real_write(file, data, size);
}

int __wrap_fsync(int file)
{
    return disk_is_full(DISK_FLUSH) ? -1 : __real_fsync(file);
}

int __wrap_rename(const char *from, const char *to)
{
    return disk_is_full(DISK_RENAME) ? -1 : __real_rename(from, to);
}

#endif
