/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the shortest lead with which three-state violates no guarantee. */
#include "tune/lead.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/crew.h"

/* The search ends when the safe and the unsafe lead differ by less than this fraction of the lead according
 * to the formula. */
#define RESOLUTION 50
#define NS_PER_MS  INT64_C(1000000)
/* Violations end at 0.8 to 1 times that lead (0.82 to 0.93 in the shipped scenarios). A safe lead needs the
 * whole runs of all seeds, while an unsafe one ends at the first violation. So from here on, leads are tried
 * from the shortest up. */
#define LIKELY 0.8

static const enum lab_oracle asked[] = {LAB_ORACLE_FINDABLE, LAB_ORACLE_NEWEST, LAB_ORACLE_AGREEMENT,
                                        LAB_ORACLE_MONOTONE, LAB_ORACLE_NO_GAPS};

struct search {
    const struct lab_scenario *scenario;
    size_t strategy;
    uint32_t seeds, threads;
    const struct tune_memory *memory;
    struct lab_progress *progress;
    struct tune_lead *out;
    uint32_t first; /* the seed to begin with, relative to that of the scenario */
    /* This many seeds, the last ones from there on, violated nothing with a shorter lead. */
    uint32_t safe;
    bool measures; /* runs are made to the end, for the latency of writes */
    /* The results for the lead that is being tried. */
    struct tune_lead_step step;
    int64_t write_p999_ns;
};

bool tune_has_lead(const struct lab_scenario *scenario, size_t strategy)
{
    return scenario->agents.present && scenario->strategies[strategy].settings.coordination == BK_THREE_STATE;
}

static void note_step(struct search *search)
{
    struct tune_lead *out = search->out;
    const struct tune_lead_step *step = &search->step;
    uint32_t i = 0;
    while (i < out->step_count && out->steps[i].lead_ns < step->lead_ns)
        i++;
    if (i == out->step_count || out->steps[i].lead_ns > step->lead_ns) {
        memmove(&out->steps[i + 1], &out->steps[i], (out->step_count - i) * sizeof *step);
        out->step_count++;
    }
    out->steps[i] = *step;
}

/* The factor 0 distinguishes these runs from those of the race and of margins. */
uint64_t tune_lead_job(const struct lab_strategy *strategy, int64_t lead_ns, uint64_t seed)
{
    struct lab_strategy setting = *strategy;
    setting.settings.lead_ns = lead_ns;
    return tune_memory_job(&setting, seed, 0);
}

void tune_lead_see(const struct lab_result *result, struct tune_lead_finding *out)
{
    const struct lab_strategy_result *strategy = &result->strategies[0];
    *out = (struct tune_lead_finding){.violations = 0};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        if (strategy->verdict.is_judged[asked[i]])
            out->violations += strategy->verdict.violations[asked[i]].count;
    }
    out->rolls = strategy->verdict.rolls;
    const struct lab_metric *write = lab_metrics_find(&strategy->metrics, "latency.write.p999");
    out->write_p999_ns = write == NULL ? 0 : (int64_t)(write->value * (double)NS_PER_MS);
}

/* Runs only this strategy, which need not be in the scenario's file, with a different lead. The expectations
 * of the scenario are not checked. A run that measures the latency of writes is made to the end; the others
 * end at the first violation. */
static bool run_alone(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                      int64_t lead_ns, bool measures, struct lab_progress *progress,
                      struct tune_lead_finding *out, struct sim_error *error)
{
    struct lab_run_context context = {.progress = progress};
    struct lab_scenario alone = *scenario;
    struct lab_strategy setting = *strategy;
    struct lab_result *result;
    setting.settings.lead_ns = lead_ns;
    alone.strategies = &setting;
    alone.strategy_count = 1;
    alone.expect_count = 0;
    context.no_latencies = !measures;
    for (size_t i = 0; !measures && i < sizeof asked / sizeof asked[0]; i++)
        context.stops_at |= UINT32_C(1) << asked[i];
    if (!lab_run_in(&alone, 1, &context, &result, error))
        return false;
    tune_lead_see(result, out);
    lab_result_destroy(result);
    return true;
}

static bool run_seed(void *context, uint64_t job, struct lab_progress *progress, void **made,
                     struct sim_error *error)
{
    const struct search *search = context;
    const struct tune_memory *memory = search->memory;
    const struct lab_scenario *base = search->scenario;
    struct lab_scenario *scenario;
    struct tune_lead_finding *finding = calloc(1, sizeof *finding);
    *made = finding;
    if (finding == NULL)
        return sim_fail_memory(error);
    const struct lab_strategy *strategy = &base->strategies[search->strategy];
    const uint64_t seed = base->seed + (search->first + job) % search->seeds;
    const uint64_t number = tune_lead_job(strategy, search->step.lead_ns, seed);
    if (memory != NULL && memory->recall(memory->context, number, finding, sizeof *finding))
        return true;
    if (!lab_scenario_again(base->path, base->text, base->overrides, NULL, 0, seed, &scenario, error))
        return false;
    bool is_fine =
        run_alone(scenario, strategy, search->step.lead_ns, search->measures, progress, finding, error);
    lab_scenario_destroy(scenario);
    if (is_fine && memory != NULL)
        memory->keep(memory->context, number, finding, sizeof *finding);
    return is_fine;
}

static bool take_seed(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    (void)job;
    (void)error;
    struct search *search = context;
    const struct tune_lead_finding *finding = made;
    search->step.runs++;
    search->step.rolls += finding->rolls;
    search->step.violations = finding->violations;
    if (finding->write_p999_ns > search->write_p999_ns)
        search->write_p999_ns = finding->write_p999_ns;
    *is_enough = finding->violations > 0;
    if (search->progress != NULL) {
        search->progress->done++;
        search->progress->rows++;
    }
    free(made);
    return true;
}

/* Tries a lead with this many seeds. */
static bool try_with(struct search *search, int64_t lead_ns, uint32_t seeds, bool *is_safe,
                     struct sim_error *error)
{
    const struct lab_crew crew = {
        .context = search, .count = seeds, .work = run_seed, .take = take_seed, .drop = free};
    uint64_t taken;
    search->step = (struct tune_lead_step){.lead_ns = lead_ns};
    struct lab_progress inner = {.parent = search->progress};
    if (!lab_crew_run(&crew, search->threads, &inner, &taken, error))
        return false;
    if (lab_is_stopped(search->progress))
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    note_step(search);
    *is_safe = search->step.violations == 0;
    if (!*is_safe) {
        search->first = (search->first + search->step.runs - 1) % search->seeds;
        search->safe += search->step.runs - 1;
        if (search->safe >= search->seeds)
            search->safe = search->seeds - 1;
    }
    return true;
}

static bool try_lead(struct search *search, int64_t lead_ns, bool *is_safe, struct sim_error *error)
{
    return try_with(search, lead_ns, search->seeds, is_safe, error);
}

/* Sets the total of the progress bar, assuming that all of these tries are needed. */
static void reckon(struct search *search, uint64_t tries)
{
    if (search->progress != NULL)
        search->progress->total = search->progress->done + tries * search->seeds;
}

static uint64_t halvings(int64_t span_ns, int64_t width_ns)
{
    uint64_t count = 0;
    for (; span_ns > width_ns; span_ns = (span_ns + 1) / 2)
        count++;
    return count;
}

/* Bisects between an unsafe and a safe lead; shorter_ns: a lead that is expected to be safe as well. Apart
 * from chance, a longer lead is never worse: seeds that were safe with a shorter one are tried with a lead
 * only once the next shorter one is unsafe. Once the formula's lead is unsafe, none is expected to be safe.
 */
static bool halve(struct search *search, int64_t unsafe_ns, int64_t safe_ns, int64_t shorter_ns,
                  struct sim_error *error)
{
    /* expected[0]: the shortest lead that was safe when tried; then shorter ones that are expected to be. */
    int64_t expected_ns[64] = {safe_ns, shorter_ns}, width_ns = search->out->formula_ns / RESOLUTION;
    const int64_t likely_ns = (int64_t)(LIKELY * (double)search->out->formula_ns);
    unsigned depth = shorter_ns < safe_ns;
    if (width_ns < NS_PER_MS)
        width_ns = NS_PER_MS;
    for (;;) {
        int64_t middle_ns = (unsafe_ns + (expected_ns[depth] - unsafe_ns) / 2) / NS_PER_MS * NS_PER_MS;
        const bool is_narrow = expected_ns[depth] - unsafe_ns <= width_ns || middle_ns <= unsafe_ns;
        bool is_safe;
        if (search->out->step_count == TUNE_LEAD_STEPS_MAX || (is_narrow && depth == 0))
            break;
        if (!is_narrow && middle_ns >= likely_ns && unsafe_ns < search->out->formula_ns) {
            expected_ns[++depth] = middle_ns;
            continue;
        }
        if (is_narrow)
            middle_ns = expected_ns[depth];
        reckon(search, 1 + halvings(expected_ns[depth] - unsafe_ns, width_ns));
        const uint32_t seeds = is_narrow ? search->seeds : search->seeds - search->safe;
        if (!try_with(search, middle_ns, seeds, &is_safe, error))
            return false;
        if (is_safe) {
            depth = seeds == search->seeds ? 0 : depth + 1;
            expected_ns[depth] = middle_ns;
        } else {
            unsafe_ns = middle_ns;
            depth = unsafe_ns < search->out->formula_ns ? depth - is_narrow : 0;
        }
    }
    search->out->safe_ns = expected_ns[0];
    search->out->unsafe_ns = unsafe_ns;
    return true;
}

static void measure(struct search *search, int64_t known_ns)
{
    search->out->write_p999_ns = search->write_p999_ns;
    search->out->formula_ns = known_ns + search->write_p999_ns;
}

bool tune_lead_find(const struct lab_scenario *scenario, size_t strategy, uint32_t seeds, uint32_t threads,
                    const struct tune_memory *memory, struct lab_progress *progress, struct tune_lead *out,
                    struct sim_error *error)
{
    assert(tune_has_lead(scenario, strategy) && seeds >= 1);
    *out = (struct tune_lead){.unsafe_ns = -1, .safe_ns = -1};
    struct search search = {.scenario = scenario,
                            .strategy = strategy,
                            .seeds = seeds,
                            .threads = threads,
                            .memory = memory,
                            .progress = progress,
                            .out = out,
                            .measures = true};
    const struct lab_agents *agents = &scenario->agents;
    const int64_t known_ns = agents->cache_ttl_ns + 2 * agents->clock_bound_ns;
    const int64_t own_ns = scenario->strategies[strategy].settings.lead_ns;
    /* The latency of writes is not known yet. The bounds of caches and clocks plus one second are sufficient
     * for most scenarios. */
    int64_t enough_ns = 2 * known_ns + 1000 * NS_PER_MS;
    /* A race may have run the strategy with its own lead. */
    int64_t longest_ns = own_ns >= known_ns ? own_ns : enough_ns;
    bool is_safe;
    reckon(&search, 2 + halvings(2 * RESOLUTION, 1));
    if (!try_lead(&search, longest_ns, &is_safe, error))
        return false;
    measure(&search, known_ns);
    search.measures = !is_safe; /* only some of the seeds were run */
    if (2 * out->formula_ns > enough_ns)
        enough_ns = 2 * out->formula_ns;
    int64_t unsafe_ns = -1;
    if (enough_ns > longest_ns && (!is_safe || longest_ns < out->formula_ns)) {
        unsafe_ns = is_safe ? -1 : longest_ns;
        longest_ns = enough_ns;
        reckon(&search, 2 + halvings(2 * RESOLUTION, 1));
        if (!try_lead(&search, longest_ns, &is_safe, error))
            return false;
        measure(&search, known_ns);
    }
    search.measures = false;
    if (!is_safe) {
        out->unsafe_ns = longest_ns;
        return true;
    }
    out->safe_ns = longest_ns;
    if (unsafe_ns < 0) {
        unsafe_ns = 0;
        if (!try_lead(&search, unsafe_ns, &is_safe, error))
            return false;
        if (is_safe) {
            out->safe_ns = 0;
            return true;
        }
    }
    return halve(&search, unsafe_ns, longest_ns, enough_ns, error);
}
