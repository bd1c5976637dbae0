/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the HTML page of a run. */
#define _POSIX_C_SOURCE 200809L
#include "cli/page.h"
#include "cli/scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/contest_answer.h"
#include "cli/text.h"
#include "reports/option.h"
#include "reports/page.h"

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The command that repeats the run, as in `show`, but without the folder of the database, which is specific
 * to this machine. */
static char *replay_line(const struct cli_page *page)
{
    char number[CLI_NUMBER_SIZE];
    snprintf(number, sizeof number, "%" PRId64, page->info->run);
    char *line = cli_line_with(strdup("bucketlab replay"), number);
    return cli_line_with(cli_line_with(line, "--db"), file_name(page->database));
}

/* The sentences of a stored answer. Answers of older versions have one text. */
struct why {
    const char *texts[1 + REPORT_ANSWER_LINES_MAX];
    size_t count;
};

static struct why why_of(const json_t *answer)
{
    const json_t *why = json_object_get(answer, "why");
    struct why out = {.count = 0};
    if (json_is_string(why))
        out.texts[out.count++] = json_string_value(why);
    for (size_t i = 0; i < json_array_size(why) && out.count < 1 + REPORT_ANSWER_LINES_MAX; i++) {
        const char *text = json_string_value(json_array_get(why, i));
        if (text != NULL)
            out.texts[out.count++] = text;
    }
    return out;
}

/* NULL where there is none. */
static const char *text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

bool cli_page_write(struct cli_charts *charts, const struct cli_page *page, struct sim_error *error)
{
    if (!charts->has_page)
        return true;
    struct cli_contest_front made;
    const struct why why = why_of(page->answer);
    bool is_stored = page->info->run != 0;
    char *again[] = {replay_line(page), cli_run_line(file_name(page->info->scenario_path), page->result->seed,
                                                     page->info->overrides)};
    bool is_fine = again[0] != NULL && again[1] != NULL ? true : sim_fail_memory(error);
    if (page->answer != NULL)
        cli_contest_front_make(page->answer, &made);
    if (is_fine) {
        const struct report_page out = {
            .result = page->result,
            .scenario_text = page->info->scenario_text,
            .scenario_file = page->info->scenario_path,
            .overrides = page->info->overrides,
            .version = page->info->version,
            .again = (const char *const *)again + (is_stored ? 0 : 1),
            .again_count = is_stored ? 2 : 1,
            .recommended = text(json_object_get(page->answer, "recommended"), "label"),
            .why = why.texts,
            .why_count = why.count,
            .front = page->answer != NULL && made.front.count > 0 ? &made.front : NULL,
        };
        free(charts->page);
        is_fine = report_page_write(&out, charts->folder, &charts->page, error);
    }
    free(again[0]);
    free(again[1]);
    return is_fine;
}
