/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the charts of every special case into a folder, for inspection: report_gallery FOLDER. */
#include "fixture.h"

#include "reports/reports.h"

/* Frees the result. */
static int write_result(const char *folder, struct lab_result *result)
{
    struct sim_error error = {0};
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++) {
        struct report_files files;
        if (!report_write(result, (enum report_format)format, folder, &files, &error)) {
            fprintf(stderr, "%s\n", error.text);
            break;
        }
        for (size_t k = 0; k < files.count; k++) {
            puts(files.paths[k]);
        }
        report_files_free(&files);
    }
    lab_result_destroy(result);
    return (int)error.class;
}

static int write_tune(const char *folder)
{
    static const char *const extensions[REPORT_FORMAT_COUNT] = {"png", "svg", "pdf"};
    static struct fixture_front front;
    for (size_t i = 0; i < FIXTURE_FRONT_COUNT * REPORT_FORMAT_COUNT; i++) {
        const size_t format = i % REPORT_FORMAT_COUNT, index = i / REPORT_FORMAT_COUNT;
        char path[512];
        struct sim_error error;
        snprintf(path, sizeof path, "%s/front-%zu.%s", folder, index, extensions[format]);
        fixture_front(index, &front);
        if (!report_front_write(&front.front, (enum report_format)format, path, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return (int)error.class;
        }
        puts(path);
    }
    return 0;
}

static int write_curves(const char *folder)
{
    for (size_t i = 0; i < FIXTURE_CURVES_COUNT; i++) {
        struct fixture_curves fixture;
        fixture_curves(i, &fixture);
        static const char *const extensions[REPORT_FORMAT_COUNT] = {"png", "svg", "pdf"};
        for (int format = 0; format < REPORT_FORMAT_COUNT; format++) {
            char path[512];
            struct sim_error error;
            snprintf(path, sizeof path, "%s/curves-%zu.%s", folder, i, extensions[format]);
            if (!report_curves_write(&fixture.curves, (enum report_format)format, path, &error)) {
                fprintf(stderr, "%s\n", error.text);
                return (int)error.class;
            }
            puts(path);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "gallery";
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        int code = write_result(folder, fixture_case(i));
        if (code != 0) {
            return code;
        }
    }
    for (size_t i = 0; i < FIXTURE_READS_COUNT + FIXTURE_LATENCY_COUNT; i++) {
        int code =
            write_result(folder, i < FIXTURE_READS_COUNT ? fixture_reads_case(i)
                                                         : fixture_latency_case(i - FIXTURE_READS_COUNT));
        if (code != 0) {
            return code;
        }
    }
    int code = write_curves(folder);
    return code != 0 ? code : write_tune(folder);
}
