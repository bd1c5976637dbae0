/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges histories: finds the strategies in them, replays each one, and makes a result of it. */
#include <stdlib.h>
#include <string.h>

#include "cluster_loop.h"
#include "cluster_result.h"
#include "history.h"
#include "lab/judge.h"

bool lab_replay_head(const struct lab_history_line *line, struct lab_replay_head *out)
{
    static const char *const kinds[] = {" begins at ", " is observed from "};
    *out = (struct lab_replay_head){0};
    if (strncmp(line->text, "strategy ", 9) != 0)
        return false;
    const char *label = line->text + 9;
    for (int i = 0; i < 2; i++) {
        const char *kind = strstr(label, kinds[i]);
        size_t size = kind == NULL ? sizeof out->label : (size_t)(kind - label);
        const char *at = kind == NULL ? "" : kind + strlen(kinds[i]);
        if (size >= sizeof out->label || !lab_history_number(&at, &out->start_ns) || *at != '\0')
            continue;
        memcpy(out->label, label, size);
        out->label[size] = '\0';
        out->is_observed = i == 1;
        return true;
    }
    return false;
}

static bool check_scenario(const struct lab_scenario *scenario, struct sim_error *error)
{
    const char *why = scenario->engine != LAB_ENGINE_CLUSTER ? "no agents; a history is of agents"
                      : scenario->identifiers.present        ? "identifiers, which have no histories"
                      : scenario->trace_path != NULL
                          ? "a trace; a history names synthetic keys, from key-0 on"
                      : scenario->deletes.share > 0 ? "deletes, which histories do not record"
                      : scenario->row_ttl_ns > 0    ? "rows that expire, which histories do not record"
                                                    : NULL;
    for (size_t i = 0; i < scenario->fault_count && why == NULL; i++) {
        if (scenario->faults[i].age_ns > 0 && scenario->faults[i].kinds == UINT32_C(1)
                                                                               << LAB_FAULT_AGENT_CRASH)
            why = "agents that restart from a checkpoint, which histories do not hold";
    }
    return why == NULL || sim_fail(error, SIM_ERROR_INPUT, "%s: this scenario has %s", scenario->path, why);
}

static bool find_strategy(const struct lab_scenario *scenario, const struct lab_history_line *line,
                          struct lab_cluster_run **runs, struct lab_replay *replay, size_t *out,
                          struct sim_error *error)
{
    struct lab_replay_head head;
    if (!lab_replay_head(line, &head))
        return lab_history_fail(
            line, error,
            "a history begins with 'strategy LABEL begins at NANOSECONDS.', or 'is observed "
            "from'; write one by --trace-format record (docs/live.md)");
    for (*out = 0; *out < scenario->strategy_count; ++*out) {
        if (strcmp(scenario->strategies[*out].label, head.label) == 0)
            break;
    }
    if (*out == scenario->strategy_count)
        return lab_history_fail(line, error, "%s has no strategy '%s'", scenario->path, head.label);
    if (runs[*out] != NULL)
        return lab_history_fail(line, error, "strategy '%s' begins a second time", head.label);
    if (head.start_ns < -SIM_QUEUE_TIME_MAX / 2 || head.start_ns > SIM_QUEUE_TIME_MAX / 2)
        return lab_history_fail(line, error, "a run begins between the years 1897 and 2043");
    if (head.is_observed && scenario->strategies[*out].settings.change_count > 0)
        return lab_history_fail(line, error, "'then' has dates of the scenario's own; judge one setting");
    replay->start_ns = head.start_ns;
    replay->is_observed = head.is_observed;
    replay->is_exhausted = replay->has_ended = false;
    return true;
}

static bool replay_all(const struct lab_scenario *scenario, const struct lab_rows *rows,
                       const struct lab_run_context *context, struct lab_replay *replay,
                       struct lab_cluster_run **runs, struct sim_error *error)
{
    const struct lab_history_line *line;
    size_t count = 0, index = 0;
    while (lab_history_next(replay->history, &line, error)) {
        if (!find_strategy(scenario, line, runs, replay, &index, error))
            return false;
        runs[index] = lab_cluster_run_replay(scenario, index, rows, context, replay, error);
        free(replay->stored);
        replay->stored = NULL;
        replay->stored_capacity = 0;
        if (error->class != SIM_ERROR_NONE)
            return false;
        count++;
    }
    return error->class == SIM_ERROR_NONE &&
           (count > 0 || sim_fail(error, SIM_ERROR_INPUT, "the history is empty; nothing can be judged"));
}

bool lab_judge(const struct lab_scenario *scenario, const char *const *paths, size_t count,
               const char *tables, struct lab_progress *progress, struct lab_result **out,
               struct sim_error *error)
{
    const struct lab_run_context context = {.progress = progress};
    struct lab_replay replay = {.tables = tables};
    struct lab_rows *rows = NULL;
    struct lab_cluster_run **runs = calloc(scenario->strategy_count + 1, sizeof *runs);
    *out = NULL;
    bool ok = (runs != NULL || sim_fail_memory(error)) && check_scenario(scenario, error) &&
              lab_cluster_rows(scenario, &context, &rows, error) &&
              (tables == NULL || lab_untold_find(paths, count, tables, &replay.untold, error)) &&
              lab_history_open(paths, count, &replay.history, error) &&
              replay_all(scenario, rows, &context, &replay, runs, error) &&
              (lab_cluster_result_some(scenario, runs, out) || sim_fail_memory(error));
    for (size_t i = 0; runs != NULL && i < scenario->strategy_count; i++)
        lab_cluster_run_destroy(runs[i]);
    free(runs);
    lab_history_close(replay.history);
    lab_untold_destroy(replay.untold);
    lab_rows_destroy(rows);
    return ok;
}
