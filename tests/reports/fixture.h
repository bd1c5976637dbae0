/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made results and charts for the tests and the gallery, without a run, and checks of scenes. All
 * functions assert on failure; the caller frees a result with lab_result_destroy(). */
#ifndef TESTS_REPORTS_FIXTURE_H
#define TESTS_REPORTS_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab/result.h"
#include "reports/chart.h"
#include "reports/front.h"
#include "reports/model.h"
#include "reports/scale.h"
#include "reports/scene.h"
#include "reports/style.h"

/* A scenario without strategies so far: limits 100K rows, 100 MB, tiny below 24. */
struct lab_result *fixture_result(const char *name, const char *source);
/* Adds an empty strategy. label NULL: the name of its kind. */
struct lab_strategy_result *fixture_add(struct lab_result *result, const char *label,
                                        const struct bk_strategy *strategy);
/* Adds a file of percentiles: Min, 50, 75, 95, 98 and 99 %, Max. */
struct lab_strategy_result *fixture_percentiles(struct lab_result *result, const double sizes[7]);
/* Adds `count` closed (or open) partitions of `rows` rows of 350 bytes. */
void fixture_put(struct lab_strategy_result *strategy, bool is_open, uint64_t rows, uint64_t count);
/* Adds partitions whose sizes are evenly spaced in the logarithm from least to most. */
void fixture_spread(struct lab_strategy_result *strategy, bool is_open, double least, double most,
                    uint64_t count);
/* Adds closed partitions with the exact distribution: the quantiles (i + 1/2) / count. */
void fixture_distribution(struct lab_strategy_result *strategy, double p, uint64_t threshold, uint64_t count);
/* Adds the metrics that follow from the histograms, and the costs; reads_mean 0: no reads. */
void fixture_metrics(const struct lab_result *result, struct lab_strategy_result *strategy, double extra_ops,
                     double reads_mean, double reads_p99);

/* The five kinds of strategy, as in the contract's scenario, and views of a change. */
struct lab_result *fixture_five(void);

/* LeakSanitizer calls these functions by name: Fontconfig 2.14 leaks a few bytes while it reads its
 * configuration. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

enum { FIXTURE_COUNT = 34 };
/* The special cases, 0 to FIXTURE_COUNT - 1. A case's name is also its scenario's name. */
struct lab_result *fixture_case(size_t index);

/* Views of a change made by a simple rule: each agent refreshes its cache once per time to live, at an
 * independent phase, learns of the change then, and follows its own clock. */
struct fixture_change {
    uint32_t agents;
    int64_t lead_ns, ttl_ns, skew_ns; /* clocks are up to skew_ns ahead or behind */
    int64_t look_ns;
    int64_t before_ns, after_ns; /* samples from change - before to change + lead + after */
    bool knows_nothing;
    bool has_trouble; /* agent 1 crashes, agent 2 believes in another bucket, agent 3 learns of a further
                         change */
};

/* The change is stored a day after the result's start, from bucket 7 to 8. */
void fixture_views(const struct lab_result *result, struct lab_strategy_result *strategy,
                   const struct fixture_change *change);
/* Adds a sample of one agent after all former ones. is_known false: the bucket is ignored. */
void fixture_look(struct lab_strategy_result *strategy, int64_t time_ns, uint32_t agent, bool is_known,
                  int64_t bucket, bool is_changing);
/* Must be called before the two functions above; key NULL omits the name. */
void fixture_views_begin(struct lab_strategy_result *strategy, const char *key, uint32_t agents,
                         int64_t change_ns, int64_t until_ns);

enum { FIXTURE_VIEWS_COUNT = 13 };
struct lab_result *fixture_views_case(size_t index);

/* Fronts of every special kind, for the tests and the gallery. */
enum { FIXTURE_FRONT_COUNT = 8, FIXTURE_LABEL_SIZE = 160 };

/* Contains pointers into itself, so it must not be copied. */
struct fixture_front {
    struct report_front front;
    struct report_front_point points[REPORT_FRONT_MAX];
    char labels[REPORT_FRONT_MAX][FIXTURE_LABEL_SIZE];
};

void fixture_front(size_t index, struct fixture_front *out);
/* Begins without points. */
void fixture_front_begin(struct fixture_front *out);
void fixture_front_add(struct fixture_front *fixture, const char *label, double cost, double bytes,
                       bool is_on_front);

/* Hand-made results with reads of all sorts. */
/* Adds `count` reads that queried `partitions` partitions each. */
void fixture_read(struct lab_strategy_result *strategy, uint64_t partitions, uint64_t count);
/* Adds the metrics of the reads so far; `empties`: partitions without a row per read. */
void fixture_read_metrics(struct lab_strategy_result *strategy, double empties);

enum { FIXTURE_READS_COUNT = 6 };
/* The cases: from a single value to 1 to 10^9 and 0, with alarms, and with strategies without reads. */
struct lab_result *fixture_reads_case(size_t index);

/* Hand-made results with latencies of all sorts. */
/* Adds operations whose latencies have this median and a tail that grows by half with each nine, and their
 * metrics. */
void fixture_spend(struct lab_strategy_result *strategy, enum lab_latency latency, double median_ns,
                   uint64_t count);
/* Adds `count` operations that took `ns` each. Call it before fixture_spent(). */
void fixture_spend_each(struct lab_strategy_result *strategy, enum lab_latency latency, uint64_t ns,
                        uint64_t count);
/* Adds the metrics of all these operations, and leaves the histogram as a result has it. */
void fixture_spent(struct lab_strategy_result *strategy, enum lab_latency latency);

enum { FIXTURE_LATENCY_COUNT = 8 };
/* The cases: one operation, all alike, 0 ns, 1 ns to 10^9 s, nine and twelve strategies, failures, locks. */
struct lab_result *fixture_latency_case(size_t index);

/* A chart as text, and assertions on it. For cmocka tests only: a failure fails the test. */
/* The chart is allocated in the arena, which this function initialises and the caller frees. */
struct report_chart *fixture_chart(const struct lab_result *result, enum report_kind kind,
                                   struct report_arena *arena);
/* The output of report_chart_dump() or report_chart_dump_hints(); the caller frees it. */
char *fixture_text(const struct report_chart *chart,
                   void (*write)(const struct report_chart *chart, FILE *out));
/* The dump of a result's chart; the caller frees it. */
char *fixture_dump(const struct lab_result *result, enum report_kind kind);
/* Asserts that the text contains the part, or does not. */
void fixture_says(const char *text, const char *part, bool says);

/* A group's state is the typesetter of its tests. Meanwhile a warning of GLib is fatal. */
int fixture_typesetter_begin(void **state);
int fixture_typesetter_end(void **state);

/* The charts of all cases: all kinds of charts of the results, views and fronts. */
size_t fixture_pages_count(void);
/* Allocates only in the arena. Asserts on failure. */
struct report_chart *fixture_pages_chart(size_t index, struct report_arena *arena);

/* Checks that apply to the scene of every chart. */
/* Fails the test when a mark lies off the page or crosses a text. */
void fixture_check_scene(const struct report_scene *scene);

/* A chart of a page as a separate file, for the tests and the gallery. */
/* The style sheet of a page's charts; the caller frees it. */
char *fixture_svg_style(void);
/* The value of a variable ("--ink-axis") in the style sheet's n-th block of variables: 0 light, 1 and 2 dark.
 * Returns whether it exists. */
bool fixture_svg_variable(const char *style, size_t block, const char *name, char *out, size_t size);
/* The output of report_page_svg() and report_page_svg_patterns(); the caller frees it. */
char *fixture_svg_chart(const struct report_chart *chart, const struct report_scene *scene, const char *id);
char *fixture_svg_patterns(void);
/* An SVG file that needs no style sheet and no variables; the caller frees it. */
char *fixture_svg_file(const struct report_chart *chart, const struct report_scene *scene, bool is_dark);

/* A chart as text, one element per line, for tests and for people; its hints are a separate text. */
void report_chart_dump(const struct report_chart *chart, FILE *out);
void report_chart_dump_hints(const struct report_chart *chart, FILE *out);

/* Lays out a chart of the result, and fails the test when a mark lies off the page or crosses a text. */
void fixture_lay_out(const struct lab_result *result, enum report_kind kind, double width,
                     struct report_typesetter *typesetter);
#endif
