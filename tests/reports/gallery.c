/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the charts of every special case into a folder, for inspection: report_gallery FOLDER. */
#include "fixture.h"

#include "reports/reports.h"

/* Frees the result. */
static int write_result(const char *folder, struct lab_result *result, const struct report_front *front)
{
    struct sim_error error = {0};
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++) {
        struct report_files files;
        if (!report_write(result, front, (enum report_format)format, folder, &files, &error)) {
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

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "gallery";
    static struct fixture_front front;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        fixture_front(i % FIXTURE_FRONT_COUNT, &front);
        int code = write_result(folder, fixture_case(i), i < FIXTURE_FRONT_COUNT ? &front.front : NULL);
        if (code != 0) {
            return code;
        }
    }
    for (size_t i = 0; i < FIXTURE_READS_COUNT + FIXTURE_LATENCY_COUNT; i++) {
        int code = write_result(folder,
                                i < FIXTURE_READS_COUNT ? fixture_reads_case(i)
                                                        : fixture_latency_case(i - FIXTURE_READS_COUNT),
                                NULL);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}
