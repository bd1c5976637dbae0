/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that apply to the scene of every chart. */
#ifndef TESTS_REPORTS_FIXTURE_SCENE_H
#define TESTS_REPORTS_FIXTURE_SCENE_H

#include "reports/scene.h"

/* Fails the test when a mark lies off the page or crosses a text. */
void fixture_check_scene(const struct report_scene *scene);

#endif
