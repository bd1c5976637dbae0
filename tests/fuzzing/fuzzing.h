/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the fuzz targets. A target is a file with LLVMFuzzerTestOneInput(): libFuzzer calls it under the
 * preset `fuzz` (fuzz.py); in every other build replay.c calls it for the inputs in corpus/. */
#ifndef TESTS_FUZZING_H
#define TESTS_FUZZING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts with a message unless `holds`: the failure of a fuzz target. */
void fuzzing_require(bool holds, const char *what);
/* Requires that the error of a failed call has a class and is one line. */
void fuzzing_require_error(const struct sim_error *error);
/* Writes the bytes into an unnamed file; its path is valid until the next call. */
const char *fuzzing_file(const uint8_t *data, size_t size);

#endif
