/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The importers of the output of Cassandra's tools; the first byte selects how the other bytes are read. */
#include "fuzzing.h"
#include "workload/observed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tables[] = {NULL, "ks.t", ""};
    if (size == 0)
        return 0;
    enum wl_observed_format format = (enum wl_observed_format)(data[0] % 4);
    struct wl_observed observed;
    struct sim_error error = {0};
    if (!wl_observed_read(fuzzing_file(data + 1, size - 1), format, tables[data[0] / 3 % 3], NULL, &observed,
                          &error)) {
        fuzzing_require_error(&error);
        return 0;
    }
    fuzzing_require(observed.format != WL_OBSERVED_AUTO, "the format is known");
    if (observed.format != WL_OBSERVED_PERCENTILES) {
        fuzzing_require(observed.partition_count >= 1, "there are partitions");
        fuzzing_require(observed.pieces >= observed.partition_count, "each has a piece");
        for (size_t i = 0; i < observed.partition_count; i++)
            fuzzing_require(observed.partitions[i].bytes >= 1, "each has bytes");
        fuzzing_require(observed.largest_bytes.size >= 1, "one is the largest");
    } else {
        for (int i = 1; i < WL_OBSERVED_POINTS; i++)
            fuzzing_require(observed.points[i] >= observed.points[i - 1], "percentiles rise");
    }
    wl_observed_clear(&observed);
    return 0;
}
