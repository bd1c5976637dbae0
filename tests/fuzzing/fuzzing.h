/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzz targets share. A target is a file with LLVMFuzzerTestOneInput(): under the preset `fuzz`
 * libFuzzer drives it (fuzz.py), in every other build replay.c does, over the inputs kept in corpus/. */
#ifndef TESTS_FUZZING_H
#define TESTS_FUZZING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts with a word when it does not stay within the limits: a fuzzer's way to fail. */
void fuzzing_require(bool holds, const char *what);
/* The error of a call that failed: it has a class, and is one line. */
void fuzzing_require_error(const struct sim_error *error);
/* The bytes as a file without a name; its path, good until the next call. */
const char *fuzzing_file(const uint8_t *data, size_t size);

#endif
