/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fuzz target over files: every named file, and every file below a named folder, in the order of their
 * names; and over each file truncated at 64 places, or everywhere if it is shorter. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../share.h"
#include "fuzzing.h"

#define CUTS 64

static size_t run_folder(const char *path);

static size_t run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    uint8_t *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (data == NULL || fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "replay: %s: cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    size_t ran = 0;
    for (size_t i = 0, last = SIZE_MAX; i <= CUTS; i += test_share()) {
        size_t cut = (size_t)size * (CUTS - i) / CUTS;
        if (cut == last)
            continue;
        last = cut;
        ran++;
        /* A separate copy, so that a sanitizer detects every read past its end. */
        uint8_t *copy = malloc(cut + (cut == 0));
        if (copy == NULL)
            exit(3);
        memcpy(copy, data, cut);
        LLVMFuzzerTestOneInput(copy, cut);
        free(copy);
    }
    free(data);
    return ran;
}

static size_t run(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        fprintf(stderr, "replay: %s: cannot be read\n", path);
        exit(2);
    }
    return S_ISDIR(status.st_mode) ? run_folder(path) : run_file(path);
}

static size_t run_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    size_t ran = 0;
    for (int i = 0; i < count; i++) {
        char name[4096];
        int size = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && size < (int)sizeof name)
            ran += run(name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return ran;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++)
        count += run(argv[i]);
    printf("%zu inputs\n", count);
    return count > 0 ? 0 : 2;
}
