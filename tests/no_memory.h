/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation that fails on demand. If a test is registered with bucketlab_memory_test(), its code under test
 * calls the functions below instead of malloc and its kin. Shared libraries, such as cmocka, are not
 * affected. Allocation number allocations_left, from 0, fails, and those that follow it succeed again; the
 * count is then negative, as it is when none is to fail.
 */
#ifndef TESTS_NO_MEMORY_H
#define TESTS_NO_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define ALLOCATIONS_WITHOUT_END (-1)

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t unit, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t unit, size_t size);
char *__wrap_strdup(const char *text);

static _Atomic long allocations_left = ALLOCATIONS_WITHOUT_END;

static bool is_refused(void)
{
    return atomic_load(&allocations_left) >= 0 && atomic_fetch_sub(&allocations_left, 1) == 0;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return is_refused() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t unit, size_t size)
{
    return is_refused() ? NULL : __real_aligned_alloc(unit, size);
}

char *__wrap_strdup(const char *text)
{
    return is_refused() ? NULL : __real_strdup(text);
}

#endif
