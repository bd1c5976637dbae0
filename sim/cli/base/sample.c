/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures a sample for the table of a scenario. */
#include "cli/sample.h"

#include <stdio.h>

#include "cli/text.h"
#include "sample/sample.h"

/* The range of ratios in a scenario; a few bytes that do not compress take more than twice as many on
 * disk. */
#define RATIO_LEAST 0.001
#define RATIO_MOST  2.0

static void tell(const char *path, const struct sample_figures *figures, double ratio)
{
    char rows[CLI_NUMBER_SIZE], partitions[CLI_NUMBER_SIZE], bytes[CLI_NUMBER_SIZE],
        compressed[CLI_NUMBER_SIZE];
    cli_grouped(figures->rows, rows);
    cli_grouped(figures->partitions, partitions);
    cli_grouped(figures->bytes, bytes);
    cli_grouped(figures->compressed_bytes, compressed);
    fprintf(stderr, "sample ");
    cli_print_text(stderr, path);
    fprintf(stderr, ": %s row%s in %s partition%s, %s bytes, compressed %s: row.compression %.4f\n", rows,
            figures->rows == 1 ? "" : "s", partitions, figures->partitions == 1 ? "" : "s", bytes, compressed,
            ratio);
}

bool cli_sample_override(const struct cli_args *args, const char *scenario_path, const uint64_t *seed,
                         struct lab_override *overrides, size_t *count, char *text, struct sim_error *error)
{
    const char *path = cli_value(args, "sample", NULL);
    struct lab_scenario *scenario;
    struct sample_figures figures;
    if (path == NULL)
        return true;
    if (!lab_scenario_load(scenario_path, overrides, *count, seed, &scenario, error))
        return false;
    bool ok = sample_measure(scenario, path, &figures, error);
    lab_scenario_destroy(scenario);
    if (!ok)
        return false;
    double ratio = (double)figures.compressed_bytes / (double)figures.bytes;
    ratio = ratio < RATIO_LEAST ? RATIO_LEAST : ratio > RATIO_MOST ? RATIO_MOST : ratio;
    if (!cli_has(args, "quiet"))
        tell(path, &figures, ratio);
    snprintf(text, CLI_SAMPLE_TEXT_SIZE, "row.compression=%.4f", ratio);
    overrides[(*count)++].text = text;
    return true;
}
