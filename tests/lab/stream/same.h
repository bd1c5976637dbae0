/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether two results are equal, and the runs that are compared. */
#ifndef TESTS_LAB_SAME_H
#define TESTS_LAB_SAME_H

#include "lab/run.h"

/* NULL if the complete results are equal, else the name of the difference. */
const char *same_difference(const struct lab_result *one, const struct lab_result *other);

struct lab_scenario *same_scenario(const char *text);
struct lab_result *same_undisturbed(const struct lab_scenario *scenario);

#endif
