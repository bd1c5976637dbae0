/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads number_reference.txt, one line at a time: a name and its numbers. */
#ifndef TESTS_KERNEL_REFERENCE_H
#define TESTS_KERNEL_REFERENCE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct reference {
    char name[16];
    double x, y;      /* y: for pow and zipf only */
    double high, low; /* the true value is their sum */
};

static inline FILE *reference_open(void)
{
    FILE *file = fopen(BUCKETLAB_SOURCE_DIR "/tests/kernel/number_reference.txt", "r");
    if (file == NULL)
        fail_msg("tests/kernel/number_reference.txt cannot be read");
    return file;
}

/* The next line with that name; false at the end of the file. */
static inline bool reference_next(FILE *file, const char *name, struct reference *out)
{
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        double numbers[4];
        int count = sscanf(line, "%15s %la %la %la %la", out->name, &numbers[0], &numbers[1], &numbers[2],
                           &numbers[3]);
        assert_true(count >= 4);
        if (strcmp(out->name, name) != 0)
            continue;
        out->x = numbers[0];
        out->y = count == 5 ? numbers[1] : 0;
        out->high = numbers[count - 3];
        out->low = numbers[count - 2];
        return true;
    }
    return false;
}

#endif
