/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An error: a class, which determines the program's exit code, and one line of text, which says where the
 * error is and how to fix it.
 *
 * A function that can fail for a reason outside the code returns bool, and fills the error when it returns
 * false. The text has no line break and does not begin with the program's name: "scenarios/x.yaml:14:9:
 * unknown field 'treshold'; did you mean 'threshold'?". */
#ifndef KERNEL_ERROR_H
#define KERNEL_ERROR_H

#include <stdbool.h>

enum sim_error_class {
    SIM_ERROR_NONE = 0,
    SIM_ERROR_CHECK = 1,       /* an expectation, a baseline, an oracle or a digest did not hold */
    SIM_ERROR_INPUT = 2,       /* bad usage or bad input */
    SIM_ERROR_ENVIRONMENT = 3, /* disk full, database locked or corrupt, no memory */
};

struct sim_error {
    enum sim_error_class class;
    char text[1024];
};

/* Fills *error (which may be NULL) and returns false, so that a function can end in `return sim_fail(...)`. A
 * text that is too long is truncated between two characters; control characters are replaced by '?'. */
bool sim_fail(struct sim_error *error, enum sim_error_class class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fills *error with SIM_ERROR_ENVIRONMENT and a text that says that memory ran out. Returns false. */
bool sim_fail_memory(struct sim_error *error);

#endif
