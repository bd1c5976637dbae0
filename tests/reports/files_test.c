/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the files are the same when they are made twice, are complete or absent, and carry the run's date.
 * Method: charts into fresh folders, read back; every step of writing fails in turn; a real limit on the size
 * of files. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../no_disk.h"
#include "../read_file.h"
#include "../share.h"
#include "reports/reports.h"

struct place {
    char folder[64];
    char inner[96]; /* does not exist yet */
};

static void open_place(struct place *place)
{
    strcpy(place->folder, "report_files_XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->inner, sizeof place->inner, "%s/made/by/us", place->folder);
}

/* The number of entries in a folder; removes each of them when `clear` is set. */
static size_t entries(const char *folder, bool clear)
{
    DIR *directory = opendir(folder);
    size_t count = 0;
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count++;
            char path[512];
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            if (clear) {
                remove(path);
            }
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return count;
}

/* Removes everything in the folder, but not the folder. */
static void clear_place(const struct place *place)
{
    char inner[sizeof place->inner];
    strcpy(inner, place->inner);
    entries(inner, true);
    for (char *end; strlen(inner) > strlen(place->folder); *end = 0) {
        rmdir(inner);
        end = strrchr(inner, '/');
    }
    entries(place->folder, true);
}

static void close_place(struct place *place)
{
    clear_place(place);
    assert_int_equal(rmdir(place->folder), 0);
}

static bool holds(const char *data, size_t size, const char *text)
{
    for (size_t i = 0; i + strlen(text) <= size; i++) {
        if (memcmp(data + i, text, strlen(text)) == 0) {
            return true;
        }
    }
    return false;
}

static void test_files_written_twice_have_the_same_bytes(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    /* Only PNG, or every format. */
    const int formats = test_share() > 1 ? 1 : REPORT_FORMAT_COUNT;
    for (int format = 0; format < formats; format++) {
        struct lab_result *result = fixture_five();
        char *data[2][REPORT_KIND_COUNT];
        size_t sizes[2][REPORT_KIND_COUNT];
        for (size_t turn = 0; turn < 2; turn++) {
            struct report_files files;
            struct sim_error error;
            assert_true(report_write(result, NULL, (enum report_format)format, place.inner, &files, &error));
            assert_int_equal(files.count, REPORT_KIND_COUNT);
            assert_int_equal(entries(place.inner, false), REPORT_KIND_COUNT);
            for (size_t i = 0; i < files.count; i++) {
                data[turn][i] = read_file(files.paths[i], &sizes[turn][i]);
                assert_int_equal(remove(files.paths[i]), 0);
            }
            report_files_free(&files);
        }
        for (size_t i = 0; i < REPORT_KIND_COUNT; i++) {
            assert_int_equal(sizes[0][i], sizes[1][i]);
            assert_memory_equal(data[0][i], data[1][i], sizes[0][i]);
            free(data[0][i]);
            free(data[1][i]);
        }
        lab_result_destroy(result);
    }
    close_place(&place);
}

static void test_file_of_each_format_carries_size_and_date_of_the_run(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    struct lab_result *result = fixture_case(5);
    result->start_ns = -1; /* a nanosecond before 1970: the date is rounded down */
    struct report_files files;
    assert_true(report_write(result, NULL, REPORT_PDF, place.inner, &files, NULL));
    size_t size;
    char *data = read_file(files.paths[0], &size);
    assert_true(holds(data, size, "%PDF-1."));
    /* Cairo 1.16 forgets the "D:" in front. */
    assert_true(holds(data, size, "/CreationDate (19691231235959Z)") ||
                holds(data, size, "/CreationDate (D:19691231235959Z)"));
    assert_true(holds(data, size, "/ModDate (19691231235959Z)") ||
                holds(data, size, "/ModDate (D:19691231235959Z)"));
    assert_true(holds(data, size, "/Creator (bucketlab)"));
    assert_true(holds(data, size, "/Title (Rows per partition: one-partition-of-one-row)"));
    free(data);
    report_files_free(&files);
    assert_true(report_write(result, NULL, REPORT_PNG, place.inner, &files, NULL));
    data = read_file(files.paths[0], &size);
    assert_memory_equal(data, "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x06\x40", 20); /* 1600 pixels wide */
    free(data);
    report_files_free(&files);
    assert_true(report_write(result, NULL, REPORT_SVG, place.inner, &files, NULL));
    data = read_file(files.paths[0], &size);
    assert_true(holds(data, size, "<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert_false(holds(data, size, "href=\"#surface"));
    free(data);
    report_files_free(&files);
    lab_result_destroy(result);
    close_place(&place);
}

static void test_name_of_a_scenario_becomes_a_plain_file_name(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    const struct {
        const char *name, *file;
    } cases[] = {{"../a b.чат_1", "---a-b----_1-partitions-rows.svg"}, {"", "scenario-partitions-rows.svg"}};
    for (size_t i = 0; i < 2; i++) {
        struct lab_result *result = fixture_result(cases[i].name, "synthetic");
        struct bk_strategy strategy;
        assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
        fixture_put(fixture_add(result, NULL, &strategy), true, 3, 1);
        char expected[256];
        snprintf(expected, sizeof expected, "%s/%s", place.inner, cases[i].file);
        struct report_files files;
        assert_true(report_write(result, NULL, REPORT_SVG, place.inner, &files, NULL));
        assert_int_equal(files.count, 6);
        assert_string_equal(files.paths[0], expected);
        report_files_free(&files);
        lab_result_destroy(result);
    }
    close_place(&place);
}

static void test_result_with_nothing_to_show_writes_nothing(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    struct lab_result *result = fixture_case(7);
    struct report_files files;
    assert_true(report_write(result, NULL, REPORT_PNG, place.inner, &files, NULL));
    assert_int_equal(files.count, 0);
    assert_int_equal(entries(place.folder, false), 0);
    report_files_free(&files);
    lab_result_destroy(result);
    close_place(&place);
}

static void assert_error(const struct sim_error *error, enum sim_error_class class, const char *part)
{
    assert_int_equal(error->class, class);
    assert_null(strchr(error->text, '\n'));
    if (strstr(error->text, part) == NULL) {
        fail_msg("no '%s' in '%s'", part, error->text);
    }
}

static void test_disk_full_at_any_step_leaves_no_half_file(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    struct lab_result *result = fixture_case(5);
    bool met[DISK_KIND_COUNT] = {false};
    for (long n = 0;; n = test_next_fault(n)) {
        struct report_files files;
        struct sim_error error = {0};
        disk_calls_left = n;
        const bool ok = report_write(result, NULL, REPORT_SVG, place.inner, &files, &error);
        const bool is_met = disk_calls_left < 0;
        disk_calls_left = -1;
        if (ok) {
            report_files_free(&files);
            assert_false(is_met);
            break;
        }
        met[disk_failed] = true;
        assert_error(&error, SIM_ERROR_ENVIRONMENT, "No space left on device; free space there");
        assert_int_equal(files.count, 0);
        assert_null(files.paths);
        if (disk_failed == DISK_RENAME) {
            /* Files that were already renamed are complete; the others are absent. */
            assert_true(entries(place.inner, true) < REPORT_KIND_COUNT);
            rmdir(place.inner);
        } else {
            assert_int_equal(entries(place.folder, false), 0);
        }
    }
    for (size_t i = 0; i < DISK_KIND_COUNT; i++) {
        assert_true(met[i]);
    }
    lab_result_destroy(result);
    close_place(&place);
}

static void test_file_that_cannot_grow_leaves_the_old_one(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    struct lab_result *result = fixture_case(5);
    struct report_files files;
    assert_true(report_write(result, NULL, REPORT_PNG, place.folder, &files, NULL));
    size_t size;
    char *before = read_file(files.paths[0], &size);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit kept;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    const struct rlimit small = {.rlim_cur = 1000, .rlim_max = kept.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct report_files none;
    struct sim_error error = {0};
    bool ok = report_write(result, NULL, REPORT_PNG, place.folder, &none, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    assert_false(ok);
    assert_error(&error, SIM_ERROR_ENVIRONMENT, "File too large");
    assert_int_equal(entries(place.folder, false), files.count);
    size_t size_after;
    char *after = read_file(files.paths[0], &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    report_files_free(&files);
    lab_result_destroy(result);
    close_place(&place);
}

static void test_folder_that_cannot_be_created_is_an_input_error(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    struct lab_result *result = fixture_case(5);
    char path[256];
    snprintf(path, sizeof path, "%s/a-file", place.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    struct report_files files;
    struct sim_error error = {0};
    assert_false(report_write(result, NULL, REPORT_SVG, path, &files, &error));
    assert_error(&error, SIM_ERROR_INPUT, "Not a directory; make the folder first, or name another file");
    snprintf(path, sizeof path, "%s/a-file/below", place.folder);
    assert_false(report_write(result, NULL, REPORT_SVG, path, &files, &error));
    assert_error(&error, SIM_ERROR_INPUT, "Not a directory");
    assert_false(report_write(result, NULL, REPORT_SVG, "/proc/nothing/here", &files, &error));
    assert_error(&error, SIM_ERROR_INPUT, "/proc/nothing/here/");
    assert_int_equal(entries(place.folder, false), 1);
    /* A folder has the name that a chart should get. */
    snprintf(path, sizeof path, "%s/one-partition-of-one-row-partitions-rows.svg", place.folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_false(report_write(result, NULL, REPORT_SVG, place.folder, &files, &error));
    assert_error(&error, SIM_ERROR_INPUT, "rows.svg: Is a directory; name a file in it");
    assert_int_equal(entries(place.folder, false), 2);
    lab_result_destroy(result);
    close_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_written_twice_have_the_same_bytes),
        cmocka_unit_test(test_file_of_each_format_carries_size_and_date_of_the_run),
        cmocka_unit_test(test_name_of_a_scenario_becomes_a_plain_file_name),
        cmocka_unit_test(test_result_with_nothing_to_show_writes_nothing),
        cmocka_unit_test(test_disk_full_at_any_step_leaves_no_half_file),
        cmocka_unit_test(test_file_that_cannot_grow_leaves_the_old_one),
        cmocka_unit_test(test_folder_that_cannot_be_created_is_an_input_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
