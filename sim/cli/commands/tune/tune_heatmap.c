/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws tune's heat map of bits and thresholds. */
#include "tune_heatmap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/reports.h"

/* Columns in addition to that of the recommended chance: rarer chances fail, more frequent chances are within
 * the limits in more tiles. */
enum {
    RARER = 2,
    COMMONER = 4,
    COLUMNS = RARER + 1 + COMMONER,
    EVEN_ROWS = 21,
    ROWS = EVEN_ROWS + COLUMNS,
    NAME_SIZE = 24
};
/* Relative to the requested risk: smaller risks have the same colour. */
static const double least_share = 1e-6;

struct chart {
    const struct cli_tune_answer *answer;
    uint64_t chances[COLUMNS], thresholds[ROWS]; /* ascending */
    size_t column_count, row_count;
    char names[2][ROWS][NAME_SIZE];
    const char *labels[2][ROWS];
    struct report_heatmap_cell cells[COLUMNS * ROWS];
};

/* The recommended chance is the rarest one within the limits. The columns are chances that differ from it by
 * about a power of the square root of 2. */
static void choose_chances(struct chart *chart)
{
    const struct tune_chances *chances = &chart->answer->chances;
    uint64_t best = chart->answer->found.recommended.one_in;
    for (int step = -COMMONER; step <= RARER; step++) {
        double wanted = (double)best * exp2(chances->powers ? step : step / 2.0);
        if (wanted < (double)chances->least || wanted > (double)chances->most)
            continue;
        uint64_t chance = step == 0 ? best : (uint64_t)wanted;
        if (chart->column_count == 0 || chance > chart->chances[chart->column_count - 1])
            chart->chances[chart->column_count++] = chance;
    }
}

/* Inserts a threshold in order, unless it is there already. */
static void add_threshold(struct chart *chart, uint64_t threshold)
{
    size_t place = chart->row_count;
    while (place > 0 && chart->thresholds[place - 1] >= threshold)
        place--;
    if (threshold < 1 || (place < chart->row_count && chart->thresholds[place] == threshold))
        return;
    memmove(&chart->thresholds[place + 1], &chart->thresholds[place],
            (chart->row_count - place) * sizeof chart->thresholds[0]);
    chart->thresholds[place] = threshold;
    chart->row_count++;
}

/* Thresholds from the best one of the rarest chance, or the first within the limits, to the last within the
 * limits of the most frequent chance, and slightly beyond: in equal ratios from the recommended one, and the
 * best threshold of each chance. */
static void choose_thresholds(struct chart *chart)
{
    static const double beyond = 1.2;
    const struct tune_goal *goal = &chart->answer->goal;
    const struct tune_fit rarest = tune_fit_thresholds(goal, chart->chances[chart->column_count - 1]);
    const struct tune_fit commonest = tune_fit_thresholds(goal, chart->chances[0]);
    double best = (double)chart->answer->found.recommended.distribution.threshold;
    double low = fmin(best, (double)(rarest.first > 0 ? rarest.first : rarest.best)) / beyond;
    double high = fmin(fmax(best, (double)commonest.last) * beyond, (double)TUNE_ROWS_MAX / 2);
    low = fmax(low, 1);
    double step = log(high / low) / (EVEN_ROWS - 1);
    int below = step > 0 ? (int)(log(best / low) / step) : 0;
    for (int i = 0; i < EVEN_ROWS; i++) {
        double wanted = best * exp((i - below) * step) + 0.5;
        if (wanted < (double)INT64_MAX)
            add_threshold(chart, (uint64_t)wanted);
    }
    for (size_t i = 0; i < chart->column_count; i++)
        add_threshold(chart, tune_fit_thresholds(goal, chart->chances[i]).best);
}

static size_t place_of(const uint64_t *values, size_t count, uint64_t value)
{
    size_t i = 0;
    while (i + 1 < count && values[i] != value)
        i++;
    return i;
}

static void fill_cells(struct chart *chart)
{
    const struct tune_goal *goal = &chart->answer->goal;
    for (size_t row = 0; row < chart->row_count; row++) {
        for (size_t column = 0; column < chart->column_count; column++) {
            const struct tune_distribution distribution = {1.0 / (double)chart->chances[column],
                                                           chart->thresholds[row]};
            chart->cells[row * chart->column_count + column] =
                (struct report_heatmap_cell){tune_risk(&distribution, goal), tune_holds(&distribution, goal)};
        }
    }
}

static void name_all(struct chart *chart)
{
    bool powers = chart->answer->chances.powers;
    for (size_t i = 0; i < chart->column_count; i++) {
        uint64_t chance = chart->chances[i];
        snprintf(chart->names[0][i], NAME_SIZE, "%" PRIu64,
                 powers ? (uint64_t)cli_tune_bits(chance) : chance);
        chart->labels[0][i] = chart->names[0][i];
    }
    for (size_t i = 0; i < chart->row_count; i++) {
        snprintf(chart->names[1][i], NAME_SIZE, "%" PRIu64, chart->thresholds[i]);
        chart->labels[1][i] = chart->names[1][i];
    }
}

static bool write_all(const struct report_heatmap *heatmap, struct cli_charts *charts,
                      struct sim_error *error)
{
    static const char *const endings[REPORT_FORMAT_COUNT] = {"png", "svg", "pdf"};
    size_t size = strlen(charts->folder) + sizeof "/tune-risk.png";
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++) {
        struct report_files *files = &charts->files[format];
        if (!charts->wanted[format])
            continue;
        files->paths = calloc(1, sizeof *files->paths);
        if (files->paths == NULL || (files->paths[0] = malloc(size)) == NULL)
            return sim_fail_memory(error);
        files->count = 1;
        bool has_slash = charts->folder[0] != '\0' && charts->folder[strlen(charts->folder) - 1] == '/';
        snprintf(files->paths[0], size, "%s%stune-risk.%s", charts->folder, has_slash ? "" : "/",
                 endings[format]);
        if (!report_heatmap_write(heatmap, (enum report_format)format, files->paths[0], error))
            return false;
    }
    return true;
}

bool cli_tune_draw(const struct cli_tune_answer *answer, struct cli_charts *charts, struct sim_error *error)
{
    struct chart *chart = calloc(1, sizeof *chart);
    if (chart == NULL)
        return sim_fail_memory(error);
    const struct tune_candidate *best = &answer->found.recommended;
    chart->answer = answer;
    choose_chances(chart);
    choose_thresholds(chart);
    fill_cells(chart);
    name_all(chart);
    char subtitle[128], chance[64], name[128];
    snprintf(subtitle, sizeof subtitle, "rows %" PRIu64 "..%" PRIu64 " at a risk of %.6g %% or less",
             answer->goal.rows_min, answer->goal.rows_max, 100 * answer->goal.risk);
    cli_tune_chance(&answer->chances, best->one_in, chance, sizeof chance);
    snprintf(name, sizeof name, "%s, threshold %" PRIu64, chance, best->distribution.threshold);
    double risk = answer->goal.risk;
    const struct report_heatmap heatmap = {
        .title = "Which settings keep partitions within limits",
        .subtitle = subtitle,
        .foot = "by the exact distribution of a key whose increments count at once",
        .x = {answer->chances.powers ? "bits" : "one row in N counts", chart->labels[0], chart->column_count},
        .y = {"threshold", chart->labels[1], chart->row_count},
        .value = {"P(rows < MIN) + P(rows > MAX)", REPORT_UNIT_SHARE, REPORT_LOG},
        .least = least_share * (risk > REPORT_VALUE_LEAST ? risk : least_share),
        .cells = chart->cells,
        .recommended = name,
        .recommended_x = place_of(chart->chances, chart->column_count, best->one_in),
        .recommended_y = place_of(chart->thresholds, chart->row_count, best->distribution.threshold),
    };
    bool is_fine = write_all(&heatmap, charts, error);
    free(chart);
    return is_fine;
}
