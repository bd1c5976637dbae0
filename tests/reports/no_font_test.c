/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: on a machine without any font the program reports one line of error, where Pango would end the
 * process. Method: Fontconfig gets a configuration without folders, in a separate program since it reads its
 * configuration only once. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include <unistd.h>

#include "reports/reports.h"

static void test_charts_without_a_font_say_which_package_is_missing(void **state)
{
    (void)state;
    char path[] = "report_fonts_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    static const char text[] = "<?xml version=\"1.0\"?>\n<fontconfig></fontconfig>\n";
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    char *full = realpath(path, NULL);
    assert_non_null(full);
    assert_int_equal(setenv("FONTCONFIG_FILE", full, 1), 0);
    struct lab_result *result = fixture_five();
    struct report_files files;
    struct sim_error error = {0};
    bool ok = report_write(result, NULL, REPORT_PNG, "report_fonts_out", &files, &error);
    unlink(path);
    free(full);
    lab_result_destroy(result);
    assert_false(ok);
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_non_null(strstr(error.text, "install fonts-dejavu-core"));
    assert_int_not_equal(access("report_fonts_out", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charts_without_a_font_say_which_package_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
