/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine output: numbers, and the object of a run. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

#include "kernel/error.h"
#include "lab/result.h"

/* A whole number up to 2^53 as an integer, another one as a real; null when it is not finite. */
json_t *cli_json_number(double value);
/* A whole number; as its digits in a string when JSON's integers do not reach that far. */
json_t *cli_json_whole(uint64_t value);
/* The object of `run` and `show`; takes `warnings` over. NULL when out of memory, or when that is NULL. */
json_t *cli_json_run(int64_t run, const struct lab_result *result, json_t *warnings);
/* Sets a field and takes `value` over; false when value is NULL or could not be set. */
bool cli_json_set(json_t *object, const char *name, json_t *value);
/* The object that was filled; when out of memory for all of it, NULL, and the object is freed. */
json_t *cli_json_complete(json_t *object, bool is_complete);
/* Takes `item` over and returns the list; NULL, and the list is freed, when either is NULL or memory is out.
 */
json_t *cli_json_append(json_t *list, json_t *item);
/* The value as one line, malloc'ed; numbers with 17 significant digits. NULL when out of memory. */
char *cli_json_text(const json_t *value);
/* Prints and frees; numbers with 17 significant digits, one line. NULL is out of memory. */
bool cli_json_print(json_t *value, struct sim_error *error);

#endif
