/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the scenarios of a check, each on its seeds. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"
#include "lab/crew.h"

#define WORK_LEAST 1000 /* of a run without rows */
/* A cluster run takes about this many times as long as a run of the stream engine with the same rows. */
#define CLUSTER_WEIGHT   20
#define TRACE_LINE_BYTES 30

struct order {
    size_t index; /* of the item */
    double work;  /* estimated duration, in units of placed rows */
};

/* A run, as far as it is done. */
struct part {
    struct lab_progress progress;
    _Atomic bool is_over;
};

struct crew {
    struct cli_gate *gate;
    struct part *parts;  /* one for each job */
    struct order *order; /* longest first, so that no long run starts last */
    uint64_t first, number;
    uint32_t threads; /* threads per run */
    cli_check_wanted *wanted;
    cli_check_take *take;
    void *context;
};

struct made {
    struct lab_result *result;
    int64_t elapsed_ms;
};

static bool run_one(void *context, uint64_t job, struct lab_progress *progress, void **out,
                    struct sim_error *error)
{
    const struct crew *crew = context;
    size_t index = crew->order[job / crew->number].index;
    uint64_t offset = crew->first + job % crew->number;
    const struct lab_scenario *base = crew->gate->items[index].scenario;
    struct lab_scenario *scenario = NULL;
    struct made *made = calloc(1, sizeof *made);
    int64_t begin_ms = cli_now_ms();
    struct part *part = &crew->parts[job];
    part->progress.parent = progress;
    if (made == NULL)
        return sim_fail_memory(error);
    *out = made;
    if (crew->wanted != NULL && !crew->wanted(crew->context, index, offset)) {
        part->is_over = true;
        return true;
    }
    /* Seeds wrap around: the last seed is followed by 0. */
    bool is_fine = lab_scenario_again(base->path, base->text, base->overrides, NULL, 0, base->seed + offset,
                                      &scenario, error) &&
                   lab_run(scenario, crew->threads, &part->progress, &made->result, error);
    part->is_over = true;
    lab_scenario_destroy(scenario);
    made->elapsed_ms = cli_passed_ms(begin_ms);
    return is_fine;
}

static bool take_one(void *context, uint64_t job, void *out, bool *is_enough, struct sim_error *error)
{
    const struct crew *crew = context;
    struct made *made = out;
    struct lab_result *result = made->result;
    int64_t elapsed_ms = made->elapsed_ms;
    (void)is_enough;
    free(made);
    return crew->take(crew->context, crew->order[job / crew->number].index, crew->first + job % crew->number,
                      result, elapsed_ms, error);
}

static void drop_one(void *out)
{
    struct made *made = out;
    if (made != NULL)
        lab_result_destroy(made->result);
    free(made);
}

static bool run_crew(void *context, struct lab_progress *progress, struct sim_error *error)
{
    const struct crew *crew = context;
    const struct lab_crew jobs = {.context = context,
                                  .count = crew->gate->count * crew->number,
                                  .work = run_one,
                                  .take = take_one,
                                  .drop = drop_one};
    struct lab_progress inner = {.parent = progress};
    uint64_t taken;
    return lab_crew_run(&jobs, crew->gate->workers, &inner, &taken, error);
}

static double rows_of(const struct lab_scenario *scenario)
{
    struct stat status;
    double rows = scenario->workload.rate_per_s * ((double)scenario->workload.duration_ns / 1e9);
    if (scenario->trace_path != NULL && stat(scenario->trace_path, &status) == 0)
        rows = (double)status.st_size / TRACE_LINE_BYTES;
    return rows * (double)scenario->strategy_count;
}

static double work_of(const struct lab_scenario *scenario)
{
    return WORK_LEAST + rows_of(scenario) * (scenario->engine == LAB_ENGINE_CLUSTER ? CLUSTER_WEIGHT : 1);
}

/* The share of a run that is done. The cluster engine has no total; its rows are those of all strategies. */
static double share_of(const struct lab_scenario *scenario, const struct lab_progress *progress)
{
    double done = (double)progress->done, total = (double)progress->total;
    if (scenario->engine == LAB_ENGINE_CLUSTER) {
        done = (double)progress->rows;
        total = rows_of(scenario);
    }
    return total <= 0 ? 0 : done < total ? done / total : 1;
}

static void sum_up(void *context, struct lab_progress *progress)
{
    const struct crew *crew = context;
    double done = 0, total = 0;
    uint64_t rows = 0;
    for (size_t i = 0; i < crew->gate->count; i++) {
        const struct lab_scenario *scenario = crew->gate->items[crew->order[i].index].scenario;
        for (uint64_t j = 0; j < crew->number; j++) {
            const struct part *part = &crew->parts[i * crew->number + j];
            done += crew->order[i].work * (part->is_over ? 1 : share_of(scenario, &part->progress));
            rows += part->progress.rows;
            total += crew->order[i].work;
        }
    }
    progress->done = (uint64_t)done;
    progress->total = (uint64_t)total;
    progress->rows = rows;
}

static int longest_first(const void *one, const void *other)
{
    const struct order *a = one, *b = other;
    if (a->work > b->work || a->work < b->work)
        return a->work > b->work ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

bool cli_check_run(struct cli_gate *gate, uint64_t first, uint64_t number, cli_check_wanted *wanted,
                   cli_check_take *take, void *context, struct sim_error *error)
{
    uint64_t jobs = gate->count * number, threads = jobs < gate->workers ? gate->workers / jobs : 1;
    struct crew crew = {.gate = gate,
                        .parts = calloc(jobs, sizeof *crew.parts),
                        .order = calloc(gate->count, sizeof *crew.order),
                        .first = first,
                        .number = number,
                        .threads = (uint32_t)threads,
                        .wanted = wanted,
                        .take = take,
                        .context = context};
    if (crew.order == NULL || crew.parts == NULL) {
        free(crew.parts);
        free(crew.order);
        return sim_fail_memory(error);
    }
    for (size_t i = 0; i < gate->count; i++)
        crew.order[i] = (struct order){i, work_of(gate->items[i].scenario)};
    qsort(crew.order, gate->count, sizeof *crew.order, longest_first);
    const struct cli_task task = {.name = first == 0 ? "check" : "seeds",
                                  .unit = "rows/s",
                                  .is_quiet = gate->is_quiet,
                                  .run = run_crew,
                                  .sum_up = sum_up,
                                  .context = &crew};
    int64_t elapsed_ms;
    bool is_fine = cli_attend(&task, &gate->signals, &elapsed_ms, error);
    free(crew.parts);
    free(crew.order);
    if (gate->signals.caught != 0)
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored%s",
                        gate->is_update ? "; the baseline is unchanged" : "");
    return is_fine;
}
