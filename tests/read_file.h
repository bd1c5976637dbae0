/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole file, with a NUL behind its last byte; the caller frees it. */
#ifndef TESTS_READ_FILE_H
#define TESTS_READ_FILE_H

#include <stdio.h>
#include <stdlib.h>

static inline char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: cannot be read", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = calloc(1, *size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

#endif
