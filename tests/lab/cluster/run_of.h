/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of whole runs: runs a text and finds its figures. A test's results are freed after it. */
#ifndef TESTS_LAB_RUN_OF_H
#define TESTS_LAB_RUN_OF_H

#include "../scenario_of.h"
#include "lab/run.h"

static struct lab_result *results[64];
static size_t result_count;

static inline int free_results(void **state)
{
    (void)state;
    while (result_count > 0)
        lab_result_destroy(results[--result_count]);
    return 0;
}

#define runs_test(test) cmocka_unit_test_teardown(test, free_results)

static inline struct lab_result *run_in(const struct lab_scenario *scenario, uint32_t jobs,
                                        const struct lab_event_trace *event_trace)
{
    const struct lab_run_context context = {.event_trace = event_trace};
    struct lab_result *result = NULL;
    struct sim_error error;
    if (!lab_run_in(scenario, jobs, &context, &result, &error))
        fail_msg("%s", error.text);
    assert_true(result_count < sizeof results / sizeof *results);
    return results[result_count++] = result;
}

static inline struct lab_result *run(const char *text)
{
    struct lab_scenario *scenario = scenario_of("", text);
    struct lab_result *result = run_in(scenario, 2, NULL);
    lab_scenario_destroy(scenario);
    return result;
}

__attribute__((format(printf, 1, 2))) static inline struct lab_result *run_filled(const char *format, ...)
{
    char text[8192];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return run(text);
}

/* Of the run, or of the first strategy, if the run has none of that name. */
__attribute__((format(printf, 2, 3))) static inline double metric(const struct lab_result *result,
                                                                  const char *name, ...)
{
    char whole[128];
    va_list list;
    va_start(list, name);
    vsnprintf(whole, sizeof whole, name, list);
    va_end(list);
    const struct lab_metric *found = lab_result_find(result, whole);
    if (found == NULL)
        found = lab_metrics_find(&result->strategies[0].metrics, whole);
    if (found == NULL)
        fail_msg("no metric %s", whole);
    return found->value;
}

#define COUNT(items) (sizeof(items) / sizeof *(items))

/* Each of these metrics of a strategy is equal in both results. */
static inline void assert_same_metrics(const struct lab_result *one, const struct lab_result *other,
                                       const char *label, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (metric(one, "%s.%s", label, names[i]) != metric(other, "%s.%s", label, names[i]))
            fail_msg("%s.%s: %g, not %g", label, names[i], metric(one, "%s.%s", label, names[i]),
                     metric(other, "%s.%s", label, names[i]));
    }
}

static inline void assert_none(const struct lab_result *result, const char *label, const char *const *names,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (metric(result, "%s.%s", label, names[i]) != 0)
            fail_msg("%s.%s: %g", label, names[i], metric(result, "%s.%s", label, names[i]));
    }
}

#endif
