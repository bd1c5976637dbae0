/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON output: numbers, and the object of a run. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

#include "kernel/error.h"
#include "lab/result.h"
#include "reports/option.h"

/* A whole number up to 2^53 becomes an integer, any other number a real; null when it is not finite. */
json_t *cli_json_number(double value);
/* A whole number; a string of its digits when it is too large for an integer of JSON. */
json_t *cli_json_whole(uint64_t value);
/* The object of `run` and `show`; takes ownership of `warnings`. NULL when out of memory, or when warnings is
 * NULL. */
json_t *cli_json_run(int64_t run, const struct lab_result *result, json_t *warnings);
/* The headline and the lines of an answer, as a list of sentences; NULL when out of memory. */
json_t *cli_json_why(const struct report_answer *answer);
/* How option `index` is judged. NULL when out of memory. */
json_t *cli_json_verdict(const struct report_answer *answer, size_t index, double first_over_days);
/* Sets a field and takes ownership of `value`; false when value is NULL or could not be set. */
bool cli_json_set(json_t *object, const char *name, json_t *value);
/* Returns the object if `is_complete`; otherwise frees it and returns NULL, since memory ran out while it was
 * filled. */
json_t *cli_json_complete(json_t *object, bool is_complete);
/* Appends `item`, takes ownership of it and returns the list. When either is NULL, or when out of memory,
 * frees both and returns NULL. */
json_t *cli_json_append(json_t *list, json_t *item);
/* Formats a value as one line, malloc'ed, with 17 significant digits. NULL when out of memory. */
char *cli_json_text(const json_t *value);
/* Prints a value as one line, with 17 significant digits, and frees it. A NULL value is reported as out of
 * memory. */
bool cli_json_print(json_t *value, struct sim_error *error);

#endif
