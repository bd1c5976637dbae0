/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fuzzer of answers: a seed is a small scenario, a limit, prices and a tolerance. What the program says
 * of it is checked against the naive engine (naive.h), a twin of the answers (answers_twin.h) and properties
 * of verdicts: more threads, a strategy alone, a longer run, a higher rate, higher limits, and an import of
 * the run's own partitions.
 *
 *     lab_answers_fuzz [--seeds A..B] [--jobs N] [--keep-going]
 *     lab_answers_fuzz --print SEED     the scenario; its trace, if it has one, is left behind
 *     lab_answers_fuzz --engine ...     only compares the stream engine with the naive one, and with
 * statistics lab_answers_fuzz --engine --shrink SEED     a smaller scenario that differs from the naive
 * engine as well
 *
 * Of every fourth seed the trace has weeks: rows on the edges of weeks and of `duration`, and rates that
 * grow. Of every eighth, all times are on one grid: rows, windows, TTL, deletes, changes of settings and the
 * end. Some seeds are also checked by the statistics of stream_distribution.h. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h> /* for same.h */
#include <zlib.h>
#include <zstd.h>

#include "../../share.h"
#include "answers_twin.h"
#include "kernel/time.h"
#include "lab/fuzz.h"
#include "lab/metric.h"
#include "lab/run.h"
#include "same.h"
#include "stream_distribution.h"
#include "stream_draw.h"
#include "tune/expected.h"
#include "workload/trace.h"
#include "workload/workload.h"

#define MESSAGE_SIZE  1280u
#define SEEDS_DEFAULT 220u
#define UNLIKELY      1e-9 /* a partition above a limit that no seed meets */

struct fuzz {
    struct sim_random random;
    struct lab_scenario *scenario;
    struct lab_result *result;
    char trace[64], sizes[64];
    char message[MESSAGE_SIZE];
};

static uint64_t draw(struct fuzz *fuzz, uint64_t n)
{
    return sim_random_below(&fuzz->random, n);
}

static bool broken(struct fuzz *fuzz, const char *what)
{
    snprintf(fuzz->message, sizeof fuzz->message, "%s", what);
    return false;
}

/* --- scenarios */

/* A trace of several weeks whose rate grows, shrinks or jumps from day to day. */
static char *draw_weeks(struct fuzz *fuzz, char *text)
{
    uint64_t days = 25 + draw(fuzz, 46), base = 1 + draw(fuzz, 6), used = 0, size = 400000,
             kind = draw(fuzz, 4);
    bool has_counts = draw(fuzz, 2) == 0, is_noisy = draw(fuzz, 2) == 0;
    double rate = kind == 0 ? 0 : kind == 1 ? -0.02 : 0.01 * (double)(1 + draw(fuzz, 5));
    char *csv = naive_must(malloc(size));
    used += (uint64_t)snprintf(csv, size, "timestamp_ms,key,%s\n", has_counts ? "count" : "bytes");
    for (uint64_t day = 0; day <= days && used + 4096 < size; day++) {
        uint64_t rows =
            1 + (uint64_t)((double)base * exp(rate * (double)day)) + (is_noisy ? draw(fuzz, 4) : 0);
        rows = day == days ? 1 : rows > 40 ? 40 : rows; /* the last row ends a whole number of days */
        for (uint64_t i = 0; i < rows; i++) {
            uint64_t ms = 1767225600000 + day * 86400000 + i * (86400000 / rows);
            used += (uint64_t)snprintf(csv + used, size - used, "%" PRIu64 ",k%" PRIu64 ",%" PRIu64 "\n", ms,
                                       draw(fuzz, 3), 1 + draw(fuzz, has_counts ? 3 : 900));
        }
    }
    int at = snprintf(text, STREAM_TEXT_SIZE, "seed: 1\ntrace: {file: %s}\n%s", fuzz->trace,
                      has_counts ? "row: {bytes: 300}\n" : "");
    if (draw(fuzz, 2) == 0) /* cut exactly at a row, or a nanosecond after it */
        at += snprintf(text + at, STREAM_TEXT_SIZE - (size_t)at, "duration: %" PRIu64 "ns\n",
                       (14 + draw(fuzz, days - 13)) * (uint64_t)SIM_DAY + draw(fuzz, 2));
    snprintf(text + at, STREAM_TEXT_SIZE - (size_t)at,
             "limits: {partition_rows: %" PRIu64 "}\nstrategies:\n  - time: {window: %" PRIu64
             "d}\n  - time: {calendar: week, label: weeks}\n  - unbucketed: {}\n  - hash: {buckets: %" PRIu64
             "}\n  - count: {rows: %" PRIu64
             ", counter: external}\n  - probabilistic: {bits: 2, threshold: 5}\n",
             10 + draw(fuzz, 3000), 1 + draw(fuzz, 9), 1 + draw(fuzz, 4), 5 + draw(fuzz, 60));
    return csv;
}

__attribute__((format(printf, 3, 4))) static void say(char *text, int *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *at += vsnprintf(text + *at, STREAM_TEXT_SIZE - (size_t)*at, format, arguments);
    va_end(arguments);
}

/* A trace whose rows, and all that ends, begins or expires, come at multiples of one unit of time. */
static char *draw_grid(struct fuzz *fuzz, char *text)
{
    const uint64_t unit_s = draw(fuzz, 2) == 0 ? 60 : 21600, rows = 20 + draw(fuzz, 200), size = 16000;
    const uint64_t ttl = (1 + draw(fuzz, 30)) * unit_s, kind = draw(fuzz, 4);
    uint64_t used = 0, units = 0, end;
    char *csv = naive_must(malloc(size));
    int at = 0;
    used += (uint64_t)snprintf(csv, size, "timestamp_ms,key,bytes\n");
    for (uint64_t i = 0; i < rows; i++, units += draw(fuzz, 3))
        used += (uint64_t)snprintf(csv + used, size - used, "%" PRIu64 ",k%" PRIu64 ",%" PRIu64 "\n",
                                   1767225600000 + units * unit_s * 1000, draw(fuzz, 3), 1 + draw(fuzz, 400));
    say(text, &at, "seed: %" PRIu64 "\ntrace: {file: %s}\n", 1 + draw(fuzz, 9), fuzz->trace);
    if (kind == 0)
        say(text, &at, "row: {ttl: %" PRIu64 "s}\n", ttl);
    if (kind == 1)
        say(text, &at, "deletes: {share: 40%%, after: %" PRIu64 "s}\n", ttl);
    if (kind == 2)
        say(text, &at, "reads: {range: {span: %" PRIu64 "s, age: %" PRIu64 "s, rate: %.6f/d}}\n", ttl,
            draw(fuzz, 4) * unit_s, 86400.0 / (double)unit_s);
    end = units < 3 ? 3 : units;
    if (draw(fuzz, 2) == 0) {
        end = 3 + draw(fuzz, end - 2);
        say(text, &at, "duration: %" PRIu64 "ns\n", end * unit_s * 1000000000 + draw(fuzz, 2));
    }
    say(text, &at,
        "limits: {partition_rows: %" PRIu64 ", partition_bytes: %" PRIu64
        "B, tiny_rows: 4}\nstrategies:\n  - time: {window: %" PRIu64 "s}\n  - unbucketed: {}\n",
        1 + draw(fuzz, 60), 100 + draw(fuzz, 20000), (1 + draw(fuzz, 12)) * unit_s);
    say(text, &at, "  - {label: aged, probabilistic: {bits: 1, threshold: 4, max_age: %" PRIu64 "s}}\n",
        (1 + draw(fuzz, 12)) * unit_s);
    if (kind == 3)
        say(text, &at,
            "  - {label: then, time: {window: %" PRIu64 "s, then: [{at: %" PRIu64 "s, window: %" PRIu64
            "s}]}}\n",
            (1 + draw(fuzz, 6)) * unit_s, (1 + draw(fuzz, end - 2)) * unit_s, (1 + draw(fuzz, 12)) * unit_s);
    else
        say(text, &at, "  - count: {rows: %" PRIu64 ", counter: external}\n", 1 + draw(fuzz, 30));
    return csv;
}

/* kind: the seed, or 0 for scenarios of the engine alone. */
static void draw_text(struct fuzz *fuzz, uint64_t kind, uint64_t seed, char *text, char **csv)
{
    sim_random_init(&fuzz->random, seed, SIM_FUZZ, 77);
    snprintf(fuzz->trace, sizeof fuzz->trace, "answers-%ld.csv", (long)getpid());
    snprintf(fuzz->sizes, sizeof fuzz->sizes, "answers-%ld-sizes.csv", (long)getpid());
    if (kind % 4 == 1)
        *csv = draw_weeks(fuzz, text);
    else if (kind % 8 == 3)
        *csv = draw_grid(fuzz, text);
    else
        stream_draw(seed, fuzz->trace, text, csv);
}

/* Limits near the sizes of partitions or far from them, shares, prices and tolerances. */
static void draw_terms(struct fuzz *fuzz)
{
    static const double shares[] = {0, 0, 0, 0.01, 0.2}, confidences[] = {0.95, 0.6, 0.99},
                        tolerances[] = {0, 0.005, 0.1, 1};
    struct lab_scenario *scenario = fuzz->scenario;
    struct lab_limits *limits = &scenario->limits;
    uint64_t scale = UINT64_C(1) << draw(fuzz, 6), unit = draw(fuzz, 4);
    limits->partition_rows *= unit == 0 && limits->partition_bytes > 0 ? 0 : scale;
    limits->partition_bytes *= unit == 1 && limits->partition_rows > 0 ? 0 : scale;
    limits->over_limit_share = scenario->tune.share = shares[draw(fuzz, 5)];
    limits->confidence = scenario->tune.confidence = confidences[draw(fuzz, 3)];
    limits->tolerance = scenario->tune.tolerance = tolerances[draw(fuzz, 4)];
    for (int i = 0; i < LAB_RATES; i++)
        limits->rate[i] = draw(fuzz, 4) == 0 ? (double)(UINT64_C(1) << draw(fuzz, 10)) : 0;
    for (size_t i = 0; i < scenario->workload.spike_count; i++) {
        if (draw(fuzz, 2) == 0) /* a number of keys instead of a share */
            scenario->workload.spikes[i].keys_count = 1 + draw(fuzz, scenario->workload.key_count);
    }
    if (scenario->workload.backfill_before_ns > 0 && draw(fuzz, 4) == 0) { /* of a few nanoseconds */
        scenario->workload.backfill_before_ns = 1 + (int64_t)draw(fuzz, 3);
        scenario->workload.backfill_rate_per_s = 4e9;
    }
    if (draw(fuzz, 2) == 0)
        scenario->prices = (struct lab_prices){2.3, 0.5 + (double)draw(fuzz, 8), 0.69, 4.8, 5.5, 0.051, 1.7};
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool is_written = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && is_written;
}

static bool parse(struct fuzz *fuzz, const char *text, struct lab_scenario **out)
{
    struct sim_error error;
    if (!lab_scenario_parse("answers.yaml", text, strlen(text), NULL, 0, NULL, out, &error))
        return broken(fuzz, error.text);
    (*out)->reads.are_expected = false; /* the naive engine draws them */
    return true;
}

static struct lab_result *run(struct fuzz *fuzz, const struct lab_scenario *scenario, uint32_t threads)
{
    struct lab_result *result = NULL;
    struct sim_error error;
    if (!lab_run(scenario, threads, NULL, &result, &error) || !tune_horizons_add(scenario, result, &error)) {
        broken(fuzz, error.text);
        lab_result_destroy(result);
        return NULL;
    }
    return result;
}

static struct lab_judgment judged(const struct lab_result *result, size_t index)
{
    struct lab_facts facts = lab_facts_of(result, &result->strategies[index]);
    return lab_judgment_of(&result->limits, &facts);
}

/* --- properties */

/* Compares the verdict of each strategy with that of another run. `may`: whether the other one may be better,
 * given that this one exceeds a limit. */
typedef bool may_improve(const struct lab_scenario *scenario, size_t index,
                         const struct lab_judgment *judgment);

static bool never_better(struct fuzz *fuzz, const struct lab_scenario *other, may_improve *may,
                         const char *what)
{
    struct lab_result *result = run(fuzz, other, 1);
    bool is_fine = result != NULL;
    for (size_t i = 0; is_fine && i < result->strategy_count; i++) {
        struct lab_judgment before = judged(fuzz->result, i), after = judged(result, i);
        /* What lasts longer has none above a limit where there is "never" one; once in 292 years is "never"
         * too, and may happen. */
        const struct lab_strategy_result *strategy = &fuzz->result->strategies[i];
        const bool was_never = other->workload.duration_ns > fuzz->scenario->workload.duration_ns &&
                               twin_metric(strategy, "horizon.days") >= LAB_DAYS_MOST &&
                               !(twin_metric(strategy, "expected.over_limit") > UNLIKELY);
        if (was_never && after.over > 0)
            is_fine = broken(fuzz, "a partition exceeds a limit, and the horizon was \"never\"");
        if (before.within != LAB_EXCEEDS || after.within == LAB_EXCEEDS || may(fuzz->scenario, i, &before))
            continue;
        snprintf(fuzz->message, sizeof fuzz->message, "%s: exceeds a limit, and not with %s",
                 result->strategies[i].label, what);
        is_fine = false;
    }
    lab_result_destroy(result);
    return is_fine;
}

static bool may_never(const struct lab_scenario *scenario, size_t index, const struct lab_judgment *judgment)
{
    (void)scenario;
    (void)index;
    (void)judgment;
    return false;
}

/* The rows of a window are others at another rate; where a row's number decides, they are only more. */
static bool may_by_rate(const struct lab_scenario *scenario, size_t index,
                        const struct lab_judgment *judgment)
{
    const struct lab_settings *settings = &scenario->strategies[index].settings;
    return judgment->by != LAB_BY_DISTRIBUTION &&
           (settings->strategy.kind == BK_KIND_TIME || settings->strategy.max_age_ns > 0 ||
            settings->change_count > 0 || judgment->over_of[LAB_IN_ROWS] == 0);
}

static bool check_more(struct fuzz *fuzz)
{
    struct lab_scenario other = *fuzz->scenario;
    if (other.trace_path != NULL || other.limits.over_limit_share > 0 || other.design.is_given)
        return true;
    if (other.workload.duration_ns < INT64_C(1) << 60) {
        other.workload.duration_ns *= 2;
        if (!never_better(fuzz, &other, may_never, "twice the duration"))
            return false;
    }
    other = *fuzz->scenario;
    other.workload.rate_per_s *= 2;
    return wl_has_own_times(&other.workload) || other.row_ttl_ns > 0 ||
           never_better(fuzz, &other, may_by_rate, "twice the rate");
}

static bool check_limits(struct fuzz *fuzz)
{
    struct lab_scenario other = *fuzz->scenario;
    other.limits.partition_rows = (other.limits.partition_rows + 1) / 2;
    other.limits.partition_bytes = (other.limits.partition_bytes + 1) / 2;
    return never_better(fuzz, &other, may_never, "half the limits");
}

/* Runs with limits that are the size of a partition, or one less. */
static bool check_edges(struct fuzz *fuzz)
{
    const struct lab_strategy_result *strategy =
        &fuzz->result->strategies[draw(fuzz, fuzz->result->strategy_count)];
    struct lab_scenario other = *fuzz->scenario;
    struct lab_result *result = NULL;
    struct sim_error error;
    const double rows = twin_metric(strategy, draw(fuzz, 2) == 0 ? "partitions.all.rows.max"
                                                                 : "partitions.all.rows.p50"),
                 bytes = twin_metric(strategy, draw(fuzz, 2) == 0 ? "partitions.all.bytes.max"
                                                                  : "partitions.all.bytes.p50");
    if (!(rows > 0) || !(bytes > 1))
        return true;
    other.limits.partition_rows = draw(fuzz, 2) == 0 ? 0 : (uint64_t)rows - draw(fuzz, rows > 1 ? 2 : 1);
    other.limits.partition_bytes = (uint64_t)bytes - draw(fuzz, 2);
    bool is_fine = lab_run(&other, 1, NULL, &result, &error) || broken(fuzz, error.text);
    is_fine = is_fine && naive_check(&other, result, fuzz->message, sizeof fuzz->message);
    lab_result_destroy(result);
    return is_fine;
}

static bool check_alone(struct fuzz *fuzz)
{
    struct lab_scenario other = *fuzz->scenario;
    size_t index = draw(fuzz, other.strategy_count);
    other.strategies += index;
    other.strategy_count = 1;
    struct lab_result *alone = run(fuzz, &other, 1);
    if (alone == NULL)
        return false;
    const struct lab_metrics *one = &alone->strategies[0].metrics,
                             *all = &fuzz->result->strategies[index].metrics;
    bool is_same = one->count == all->count &&
                   alone->strategies[0].placement_digest == fuzz->result->strategies[index].placement_digest;
    for (size_t i = 0; is_same && i < one->count; i++)
        is_same = memcmp(&one->items[i].value, &all->items[i].value, sizeof(double)) == 0;
    lab_result_destroy(alone);
    return is_same || broken(fuzz, "a strategy alone has other figures");
}

static bool check_threads(struct fuzz *fuzz)
{
    struct lab_result *other = run(fuzz, fuzz->scenario, 3);
    if (other == NULL)
        return false;
    const char *difference = same_difference(fuzz->result, other);
    if (difference == NULL &&
        (other->week_count != fuzz->result->week_count ||
         (other->week_count > 0 &&
          memcmp(other->weeks, fuzz->result->weeks, other->week_count * sizeof *other->weeks) != 0)))
        difference = "weeks";
    lab_result_destroy(other);
    return difference == NULL || broken(fuzz, difference);
}

/* Keeps the newest partial result of a run, and ends the run after some of them. */
struct keeper {
    struct lab_progress progress;
    struct lab_partial partial;
    unsigned char *kept;
    size_t size;
    uint64_t left;
};

static void keep(void *context, const unsigned char *data, size_t size)
{
    struct keeper *keeper = context;
    atomic_fetch_add(&keeper->partial.wish, 1);
    if (keeper->progress.stop)
        return;
    free(keeper->kept);
    keeper->kept = naive_must(malloc(size));
    memcpy(keeper->kept, data, size);
    keeper->size = size;
    keeper->progress.stop = --keeper->left == 0;
}

/* A run that was interrupted, and resumes from its partial result, ends as the whole run. */
static bool check_resumed(struct fuzz *fuzz, const struct lab_result *whole)
{
    struct keeper keeper = {.left = 1 + draw(fuzz, 3)};
    const struct lab_run_context context = {.progress = &keeper.progress, .partial = &keeper.partial};
    const uint32_t threads = 1 + (uint32_t)draw(fuzz, 2);
    struct lab_result *result = NULL;
    struct sim_error error;
    keeper.partial = (struct lab_partial){.put = keep, .context = &keeper, .wish = 1};
    bool is_over = lab_run_in(fuzz->scenario, threads, &context, &result, &error);
    unsigned char *kept = keeper.kept;
    if (!is_over && kept != NULL) {
        keeper.partial = (struct lab_partial){.put = keep, .context = &keeper, .kept = kept, .wish = 1};
        keeper.partial.kept_size = keeper.size;
        keeper.kept = NULL;
        keeper.left = UINT64_MAX;
        keeper.progress.stop = false;
        is_over = lab_run_in(fuzz->scenario, threads, &context, &result, &error);
        free(kept);
    }
    free(keeper.kept);
    const char *difference = is_over ? same_difference(whole, result) : error.text;
    lab_result_destroy(result);
    return difference == NULL || broken(fuzz, difference);
}

static void write_list(const struct fuzz *fuzz, const struct naive_input *input,
                       const struct naive_result *naive, bool is_reverse)
{
    FILE *file = naive_must(fopen(fuzz->sizes, "w"));
    fprintf(file, "key,size,rowCount\n");
    for (size_t i = 0; i < naive->partition_count; i++) {
        const struct naive_partition *partition =
            &naive->partitions[is_reverse ? naive->partition_count - 1 - i : i];
        fprintf(file, "%s:%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", input->keys[partition->key_index].name,
                partition->bucket, partition->bytes, partition->rows);
    }
    naive_must(fclose(file) == 0 ? file : NULL);
}

/* Writes the partitions of a strategy as sstablepartitions would, and runs them as observed sizes. The order
 * of the list does not matter. */
static bool check_import(const struct answer *answer, struct fuzz *fuzz, const struct naive_input *input)
{
    size_t index = draw(fuzz, fuzz->scenario->strategy_count);
    struct lab_limits own = fuzz->scenario->limits, *limits = &own;
    own.rate[LAB_RATE_WRITES] = own.rate[LAB_RATE_READS] = 0; /* a file of sizes does not say them */
    struct naive_result *naive = naive_run(input, fuzz->scenario, &fuzz->scenario->strategies[index]);
    char text[512];
    write_list(fuzz, input, naive, false);
    bool has_any = naive->partition_count > 0;
    if (has_any && draw(fuzz, 2) == 0) /* as large as a partition */
        limits->partition_bytes = naive->partitions[draw(fuzz, naive->partition_count)].bytes;
    snprintf(text, sizeof text,
             "limits: {partition_rows: 9, over_limit_share: 0%%}\nstrategies:\n  - observed: {file: %s}\n",
             fuzz->sizes);
    struct lab_scenario *scenario = NULL;
    struct lab_result *observed = NULL;
    bool is_fine = !has_any || parse(fuzz, text, &scenario);
    if (is_fine && has_any) {
        scenario->limits = *limits;
        observed = run(fuzz, scenario, 1);
        is_fine = observed != NULL;
    }
    if (is_fine && has_any) {
        struct lab_judgment one = judged(fuzz->result, index), other = judged(observed, 0);
        bool exceeds = (double)one.over > limits->over_limit_share * (double)one.partitions;
        const bool is_same = limits->partition_bytes == fuzz->scenario->limits.partition_bytes;
        if ((is_same &&
             (one.partitions != other.partitions || one.over_of[0] != other.over_of[0] ||
              one.over_of[1] != other.over_of[1] || other.within != (exceeds ? LAB_EXCEEDS : LAB_WITHIN))) ||
            other.by != LAB_BY_CERTAINTY)
            is_fine = broken(fuzz, "an import of its own partitions is judged otherwise");
        is_fine = is_fine && twin_known(answer, &observed->strategies[0], limits, naive) &&
                  (one.partitions > 3000 ||
                   twin_drift(answer, draw(fuzz, fuzz->scenario->strategy_count), &observed->strategies[0],
                              (enum lab_size_unit)draw(fuzz, LAB_SIZE_UNITS), NULL));
    }
    if (is_fine && has_any) {
        write_list(fuzz, input, naive, true);
        struct lab_result *reverse = run(fuzz, scenario, 1);
        is_fine = reverse != NULL && (reverse->digest == observed->digest ||
                                      broken(fuzz, "the order of a list changes its digest"));
        lab_result_destroy(reverse);
    }
    naive_free(naive);
    lab_result_destroy(observed);
    lab_scenario_destroy(scenario);
    remove(fuzz->sizes);
    return is_fine;
}

/* --- a trace in other notations */

/* Writes a time of this century. */
static void say_moment(int kind, int64_t ms, char *text)
{
    const time_t seconds = (time_t)(ms / 1000);
    const uint64_t unix_ms = (uint64_t)ms, since_1582 = (unix_ms + UINT64_C(12219292800000)) * 10000;
    const unsigned rest = (unsigned)(ms % 1000);
    struct tm at;
    gmtime_r(&seconds, &at);
    switch (kind) {
    case WL_TIME_ISO:
        sprintf(text + strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &at), ".%03uZ", rest);
        break;
    case WL_TIME_S:
        sprintf(text, "%" PRIu64 ".%03u", unix_ms / 1000, rest);
        break;
    case WL_TIME_TICKS:
        sprintf(text, "%" PRIu64, (unix_ms + UINT64_C(62135596800000)) * 10000);
        break;
    case WL_TIME_FILETIME:
        sprintf(text, "%" PRIu64, (unix_ms + UINT64_C(11644473600000)) * 10000);
        break;
    case WL_TIME_WORDS:
        sprintf(text + strftime(text, 40, "%d %b %Y %I:%M:%S", &at), ".%03u %s", rest,
                at.tm_hour < 12 ? "AM" : "PM");
        break;
    case WL_TIME_DMY:
        sprintf(text + strftime(text, 40, "%d/%m/%Y %H:%M:%S", &at), ".%03u", rest);
        break;
    case WL_TIME_TIMEUUID:
        sprintf(text, "%08x-%04x-1%03x-8000-0123456789ab", (unsigned)since_1582,
                (unsigned)(since_1582 >> 32 & 0xffff), (unsigned)(since_1582 >> 48));
        break;
    case WL_TIME_UUID7:
        sprintf(text, "%08x-%04x-7123-8000-0123456789ab", (unsigned)(unix_ms >> 16),
                (unsigned)(unix_ms & 0xffff));
        break;
    case WL_TIME_ULID:
        for (int i = 0; i < 26; i++)
            text[i] = i > 9 ? 'Z' : "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[unix_ms >> 5 * (9 - i) & 31];
        text[26] = '\0';
        break;
    case WL_TIME_SNOWFLAKE:
        sprintf(text, "%" PRIu64, (unix_ms - UINT64_C(1288834974657)) << 22);
        break;
    default:
        sprintf(text, "%" PRIu64 "%s", unix_ms,
                kind == WL_TIME_US   ? "000"
                : kind == WL_TIME_NS ? "000000"
                                     : "");
    }
}

/* How a file of the same rows is written. */
struct notation {
    int time;
    char delimiter, quote[2];
    const char *end; /* of a line */
    bool is_json, is_named, has_bom, is_sorted;
    unsigned packed; /* 1: gzip, 2: zstd */
    size_t first;    /* the column of the time; key and value follow, and one that is not used */
};

static size_t write_row(const struct notation *notation, const char *const fields[4], char *out)
{
    static const char *const names[] = {"time", "key", "value", "other"};
    size_t used = (size_t)sprintf(out, notation->is_json ? "{" : "%s", "");
    for (size_t i = 0; i < 4; i++) {
        const size_t field = (i + 4 - notation->first) % 4;
        if (i > 0)
            out[used++] = notation->is_json ? ',' : notation->delimiter;
        if (notation->is_json)
            used +=
                (size_t)sprintf(out + used, field == 2 ? "\"%s\": %s" : "\"%s\": \"%s\"",
                                field == 2 && !notation->is_named ? "bytes" : names[field], fields[field]);
        else
            used += (size_t)sprintf(out + used, "%s%s%s", notation->quote, fields[field], notation->quote);
    }
    return used + (size_t)sprintf(out + used, "%s%s", notation->is_json ? "}" : "", notation->end);
}

/* Writes the lines of a plain trace in the notation. */
static void write_notation(const struct fuzz *fuzz, const struct notation *notation, const char *csv,
                           bool has_counts)
{
    size_t lines = 0, size = strlen(csv), used = 0, from = 0;
    for (const char *at = csv; *at != '\0'; at++)
        lines += *at == '\n';
    const char **begin = naive_must(calloc(lines + 1, sizeof *begin));
    char *out = naive_must(malloc(size + lines * 200 + 400)), *packed = naive_must(malloc(size * 9 + 9000));
    lines = 0;
    for (const char *at = strchr(csv, '\n') + 1; *at != '\0'; at = strchr(at, '\n') + 1)
        begin[lines++] = at;
    /* Where the rows are to be sorted, the file begins in the middle, not within lines of one time. */
    while (notation->is_sorted && from < lines &&
           (from < lines / 2 ||
            (from > 0 && strtoll(begin[from], NULL, 10) == strtoll(begin[from - 1], NULL, 10))))
        from++;
    used += (size_t)sprintf(out, "%s", notation->has_bom ? "\xef\xbb\xbf" : "");
    const char *const names[] = {"time", "key",
                                 notation->is_named ? "value"
                                 : has_counts       ? "count"
                                                    : "bytes",
                                 "other"};
    if (!notation->is_json)
        used += write_row(notation, names, out + used);
    for (size_t i = 0; i < lines; i++) {
        char time[64], key[32], value[32];
        long long ms;
        sscanf(begin[(from + i) % lines], "%lld,%31[^,],%31[0-9]", &ms, key, value);
        say_moment(notation->time, ms, time);
        used += write_row(notation, (const char *const[]){time, key, value, "a b"}, out + used);
    }
    FILE *file = naive_must(fopen(fuzz->sizes, "wb"));
    for (size_t part = 0, half = used / 2; part < 2; part++) { /* two members, or frames */
        const char *bytes = out + part * half;
        size_t count = part == 0 ? half : used - half;
        if (notation->packed == 1) {
            z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes,
                               .avail_in = (uInt)count,
                               .next_out = (Bytef *)packed,
                               .avail_out = (uInt)(size * 9 + 9000)};
            deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
            deflate(&stream, Z_FINISH);
            count = stream.total_out;
            deflateEnd(&stream);
        } else if (notation->packed == 2) {
            count = ZSTD_compress(packed, size * 9 + 9000, bytes, count, 1);
        }
        fwrite(notation->packed > 0 ? packed : bytes, 1, count, file);
    }
    naive_must(fclose(file) == 0 ? file : NULL);
    free(out);
    free(packed);
    free(begin);
}

/* A trace in another notation has the same rows. */
static bool check_notation(struct fuzz *fuzz, const char *csv)
{
    static const int times[] = {WL_TIME_ISO,      WL_TIME_S,        WL_TIME_MS,       WL_TIME_US,
                                WL_TIME_NS,       WL_TIME_TICKS,    WL_TIME_FILETIME, WL_TIME_WORDS,
                                WL_TIME_DMY,      WL_TIME_TIMEUUID, WL_TIME_UUID7,    WL_TIME_ULID,
                                WL_TIME_SNOWFLAKE};
    const bool has_counts = strstr(csv, ",count\n") != NULL;
    struct notation notation = {.time = times[draw(fuzz, 13)],
                                .delimiter = ",;\t|"[draw(fuzz, 4)],
                                .quote = {draw(fuzz, 2) == 0 ? '"' : '\0'},
                                .end = draw(fuzz, 3) == 0 ? "\r\n" : "\n",
                                .is_json = draw(fuzz, 4) == 0,
                                .is_named = draw(fuzz, 2) == 0 || has_counts,
                                .has_bom = draw(fuzz, 4) == 0,
                                .is_sorted = draw(fuzz, 2) == 0,
                                .packed = (unsigned)draw(fuzz, 3),
                                .first = draw(fuzz, 4)};
    struct wl_trace_format format = {.sort = notation.is_sorted, .time = notation.time};
    struct wl_trace *traces[2] = {NULL, NULL};
    struct wl_trace_batch batch[2];
    struct sim_error error = {.text = ""};
    char value[] = "value", time[] = "time", key[] = "key";
    if (strtoll(strchr(csv, '\n') + 1, NULL, 10) < INT64_C(1000000000000)) /* near 1970 */
        return true;
    if (notation.is_named) {
        format.columns = (struct wl_trace_columns){.time = time, .key = {key}, .key_count = 1};
        *(has_counts ? &format.columns.count : &format.columns.bytes) = value;
    } else if (notation.time == WL_TIME_ISO || notation.time == WL_TIME_MS ||
               notation.time == WL_TIME_UUID7 || notation.time == WL_TIME_TIMEUUID ||
               notation.time == WL_TIME_ULID) { /* by the values */
        format.time = WL_TIME_AUTO;
    }
    write_notation(fuzz, &notation, csv, has_counts);
    bool is_same = wl_trace_open_as(fuzz->trace, NULL, &traces[0], &error) &&
                   wl_trace_open_as(fuzz->sizes, &format, &traces[1], &error);
    is_same = is_same && wl_trace_has_sizes(traces[0]) == wl_trace_has_sizes(traces[1]) &&
              wl_trace_has_counts(traces[0]) == wl_trace_has_counts(traces[1]);
    for (bool more = is_same, other = true; more;) {
        size_t sizes[2];
        is_same = wl_trace_next(traces[0], &batch[0], &more, &error) &&
                  wl_trace_next(traces[1], &batch[1], &other, &error) && more == other;
        more = more && is_same;
        const char *keys[2] = {more ? wl_trace_key(traces[0], batch[0].key_index, &sizes[0]) : NULL,
                               more ? wl_trace_key(traces[1], batch[1].key_index, &sizes[1]) : NULL};
        is_same =
            is_same &&
            (!more || (sizes[0] == sizes[1] && memcmp(keys[0], keys[1], sizes[0]) == 0 &&
                       batch[0].time_ns == batch[1].time_ns && batch[0].step_ms == batch[1].step_ms &&
                       batch[0].rows == batch[1].rows && (has_counts || batch[0].bytes == batch[1].bytes)));
        more = more && is_same;
    }
    for (int i = 0; i < 2; i++)
        wl_trace_close(traces[i]);
    remove(fuzz->sizes);
    if (!is_same)
        snprintf(fuzz->message, sizeof fuzz->message,
                 "a trace in another notation (times as %s) differs %.900s",
                 wl_trace_time_name((enum wl_trace_time)notation.time), error.text);
    return is_same;
}

/* Cassandra's histogram: a bucket ends 20 % above the one before. The last bucket's lower end is in *above.
 */
static uint64_t bucket_end(uint64_t size, uint64_t *above)
{
    uint64_t end = 1;
    *above = 0;
    while (end < size) {
        uint64_t next = (uint64_t)((double)end * 1.2 + 0.5);
        *above = end;
        end = next > end ? next : end + 1;
    }
    return end;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Whether bounds by percentiles contain the share of these sizes above the limit, and decide where they can.
 */
static bool check_bounds(struct fuzz *fuzz, const struct lab_limits *limits, const struct lab_judgment *told,
                         const uint64_t *sorted, size_t count)
{
    static const double shares[] = {0.5, 0.75, 0.95, 0.98, 0.99, 1};
    const double may = limits->over_limit_share;
    double over = 0;
    bool is_within = false, is_over = false;
    for (size_t i = 0; i < count; i++)
        over += (double)(sorted[i] > limits->partition_bytes) / (double)count;
    for (size_t i = 0; i < 6; i++) {
        uint64_t above, end = bucket_end(sorted[(size_t)ceil(shares[i] * (double)count) - 1], &above);
        is_within |= end <= limits->partition_bytes && 1 - shares[i] <= may;
        is_over |= above >= limits->partition_bytes && (i == 5 ? may == 0 : 1 - shares[i] > may + 1e-9);
    }
    bool is_fine =
        told->by != LAB_BY_PERCENTILES || (told->share <= over + 1e-9 && told->share_most >= over - 1e-9);
    is_fine =
        is_fine && (!is_within || told->within == LAB_WITHIN) && (!is_over || told->within == LAB_EXCEEDS);
    is_fine = is_fine && (told->within != LAB_WITHIN || over <= may + 1e-9) &&
              (told->within != LAB_EXCEEDS || over > may - 1e-9);
    if (!is_fine)
        snprintf(fuzz->message, sizeof fuzz->message,
                 "percentiles: judged %d with %.6g to %.6g above the limit, which are %.6g (%d, %d)",
                 told->within, told->share, told->share_most, over, is_within, is_over);
    return is_fine;
}

/* Writes the sizes of a strategy's partitions as tablehistograms would, and runs them as observed sizes. */
static bool check_percentiles(const struct answer *answer, struct fuzz *fuzz, const struct naive_input *input)
{
    static const char *const names[] = {"50%", "75%", "95%", "98%", "99%", "Max"};
    static const double shares[] = {0.5, 0.75, 0.95, 0.98, 0.99, 1};
    const struct lab_strategy *strategy =
        &fuzz->scenario->strategies[draw(fuzz, fuzz->scenario->strategy_count)];
    struct naive_result *naive = naive_run(input, fuzz->scenario, strategy);
    size_t count = naive->partition_count;
    uint64_t *sizes = naive_must(calloc(count + 1, sizeof *sizes)), above;
    struct twin_points points = {.count = count};
    FILE *file = naive_must(fopen(fuzz->sizes, "w"));
    char text[512];
    for (size_t i = 0; i < count; i++)
        sizes[i] = naive->partitions[i].bytes;
    naive_free(naive);
    qsort(sizes, count, sizeof *sizes, by_number);
    fprintf(file,
            "a/b histograms\nPercentile  Read Latency  Write Latency  SSTables  Partition Size  Cell Count\n"
            "            (micros)      (micros)                 (bytes)\n");
    bucket_end(sizes[0], &points.above[0]);
    points.size[0] = points.above[0] + 1;
    for (size_t i = 0; i < 6 && count > 0; i++) {
        if (i == 5)
            fprintf(file, "Min 0.00 0.00 0.00 %" PRIu64 " 1\n", points.size[0]);
        points.size[i + 1] =
            bucket_end(sizes[(size_t)ceil(shares[i] * (double)count) - 1], &points.above[i + 1]);
        fprintf(file, "%s 0.00 0.00 0.00 %" PRIu64 " 1\n", names[i], points.size[i + 1]);
    }
    bool has_any = fclose(file) == 0 && count > 0 && fuzz->scenario->limits.partition_bytes > 0;
    snprintf(text, sizeof text, "limits: {partition_bytes: 9B}\nstrategies:\n  - observed: {file: %s}\n",
             fuzz->sizes);
    struct lab_scenario *scenario = NULL;
    struct lab_result *observed = NULL;
    bool is_fine = !has_any || parse(fuzz, text, &scenario);
    if (is_fine && has_any) {
        scenario->limits = fuzz->scenario->limits;
        scenario->limits.rate[LAB_RATE_WRITES] = scenario->limits.rate[LAB_RATE_READS] = 0;
        scenario->limits.partition_rows = 0;
        if (draw(fuzz, 2) == 0) /* the end of a bucket */
            scenario->limits.partition_bytes = bucket_end(sizes[draw(fuzz, count)], &above);
        observed = run(fuzz, scenario, 1);
        is_fine = observed != NULL;
    }
    if (is_fine && has_any) {
        struct lab_judgment told = judged(observed, 0);
        is_fine = check_bounds(fuzz, &scenario->limits, &told, sizes, count) &&
                  (count > 3000 || twin_drift(answer, draw(fuzz, fuzz->scenario->strategy_count),
                                              &observed->strategies[0], LAB_IN_BYTES, &points));
    }
    free(sizes);
    lab_result_destroy(observed);
    lab_scenario_destroy(scenario);
    remove(fuzz->sizes);
    return is_fine;
}

/* --- */

static bool check_twin(struct fuzz *fuzz, bool may_tune)
{
    struct naive_input *input = naive_input_make(fuzz->scenario);
    const struct answer answer = {.scenario = fuzz->scenario,
                                  .input = input,
                                  .result = fuzz->result,
                                  .random = &fuzz->random,
                                  .message = fuzz->message,
                                  .size = sizeof fuzz->message};
    bool is_fine = twin_verdicts(&answer) && twin_judgments(&answer) && twin_choice(&answer) &&
                   twin_rule(&answer) && twin_horizons(&answer) && twin_expected(&answer) &&
                   twin_shares(&answer) && twin_spikes(&answer) && twin_rates(&answer) &&
                   twin_windows(&answer) && twin_eras(&answer) && twin_values(&answer);
    is_fine = is_fine && (fuzz->scenario->design.is_given || fuzz->scenario->deletes.share > 0 ||
                          (check_import(&answer, fuzz, input) && check_percentiles(&answer, fuzz, input)));
    if (is_fine && fuzz->result->rows > 0 && fuzz->result->rows < 4000)
        is_fine = twin_agree(&answer);
    if (is_fine && may_tune)
        is_fine = twin_tune(&answer);
    naive_input_free(input);
    return is_fine;
}

static bool check(struct fuzz *fuzz, uint64_t seed)
{
    const uint64_t tuned_rows = seed % 4 == 2 ? 1500 : 0;
    fuzz->result = run(fuzz, fuzz->scenario, 1);
    if (fuzz->result == NULL || fuzz->result->rows > LAB_HISTOGRAM_EXACT)
        return fuzz->result != NULL;
    /* The naive engine knows the metrics of the engine alone. */
    struct lab_result *plain = NULL;
    struct sim_error error;
    bool is_fine = lab_run(fuzz->scenario, 1, NULL, &plain, &error) || broken(fuzz, error.text);
    is_fine = is_fine && naive_check(fuzz->scenario, plain, fuzz->message, sizeof fuzz->message) &&
              check_resumed(fuzz, plain);
    lab_result_destroy(plain);
    return is_fine && check_twin(fuzz, fuzz->result->rows > 0 && fuzz->result->rows < tuned_rows) &&
           check_threads(fuzz) && check_alone(fuzz) && check_edges(fuzz) && check_limits(fuzz) &&
           check_more(fuzz);
}

/* A small scenario with agents. Strategies whose buckets follow from the row have the same partitions as
 * without agents, and the answer follows from what the run shows. */
static bool check_agents(struct fuzz *fuzz)
{
    enum { ALIKE = 4 };
    static const char *const protocols[] = {"single", "locked", "three-state", "guarded"},
                             *const sources[] = {"counter", "lwt", "lease", "memory"};
    char text[2][STREAM_TEXT_SIZE];
    struct lab_scenario *scenarios[2] = {NULL, NULL};
    struct lab_result *results[2] = {NULL, NULL};
    const uint64_t limit = 2 + draw(fuzz, 30);
    int at = 0;
    say(text[0], &at,
        "seed: %" PRIu64 "\nstart: 2026-01-01T00:00:00Z\nduration: %" PRIu64 "s\nkeys: {count: %" PRIu64
        "}\narrivals: {rate: %" PRIu64 "/s}\nrow: {bytes: 100B}\nlimits: {partition_rows: %" PRIu64
        ", tiny_rows: 3}\ncluster: {nodes: 3, replication_factor: 3}\nstrategies:\n  - unbucketed: {}\n"
        "  - time: {window: %" PRIu64 "s}\n  - hash: {buckets: %" PRIu64 "}\n  - count: {rows: %" PRIu64
        ", counter: external}\n",
        1 + draw(fuzz, 99), 30 + draw(fuzz, 60), 1 + draw(fuzz, 4), 1 + draw(fuzz, 6), limit,
        2 + draw(fuzz, 40), 1 + draw(fuzz, 9), 1 + draw(fuzz, limit + 4));
    memcpy(text[1], text[0], sizeof text[0]);
    say(text[1], &at,
        "  - {label: p, probabilistic: {bits: 1, threshold: %" PRIu64 ", coordination: %s%s}}\n"
        "  - {label: c, count: {rows: %" PRIu64 ", counter: %s%s}}\nagents: {count: %" PRIu64
        ", cache_ttl: 1s}\n",
        1 + draw(fuzz, 8), protocols[limit % 4], limit % 4 == 2 ? ", lead: 3s" : "", limit,
        sources[limit / 4 % 4], limit / 4 % 4 == 2 ? ", batch: 5" : "", 1 + draw(fuzz, 4));
    bool is_fine = true;
    for (int i = 0; is_fine && i < 2; i++) {
        is_fine = parse(fuzz, text[i], &scenarios[i]);
        results[i] = is_fine ? run(fuzz, scenarios[i], 1) : NULL;
        is_fine = results[i] != NULL;
    }
    for (size_t s = 0; is_fine && s < ALIKE; s++) {
        const struct lab_metrics *metrics = &results[0]->strategies[s].metrics;
        for (size_t i = 0; is_fine && i < metrics->count; i++) {
            const struct lab_metric *one = &metrics->items[i];
            const double other = twin_metric(&results[1]->strategies[s], one->name);
            if (strncmp(one->name, "partitions.", 11) != 0 || one->value == other ||
                strcmp(one->name, "partitions.first_over_days") == 0) /* a row takes some time */
                continue;
            snprintf(fuzz->message, sizeof fuzz->message, "%s: %s is %.9g, and %.9g with agents",
                     results[0]->strategies[s].label, one->name, one->value, other);
            is_fine = false;
        }
    }
    if (is_fine && results[1]->rows > 0) {
        struct naive_input *input = naive_input_make(scenarios[1]);
        const struct answer answer = {.scenario = scenarios[1],
                                      .input = input,
                                      .result = results[1],
                                      .random = &fuzz->random,
                                      .message = fuzz->message,
                                      .size = sizeof fuzz->message};
        is_fine = twin_verdicts(&answer) && twin_choice(&answer) && twin_agree(&answer) && twin_tune(&answer);
        naive_input_free(input);
    }
    for (int i = 0; i < 2; i++) {
        lab_result_destroy(results[i]);
        lab_scenario_destroy(scenarios[i]);
    }
    return is_fine;
}

/* Statistics of other scenarios, of some seeds; of fewer if they are rare. */
static bool check_streams(struct fuzz *fuzz, uint64_t seed, uint64_t rare)
{
    char *message = fuzz->message;
    return (seed % (16 * rare) != 0 || stream_check_distribution(seed, message, MESSAGE_SIZE)) &&
           (seed % 16 != 8 || stream_check_sizes(seed, message, MESSAGE_SIZE)) &&
           (seed % (16 * rare) != 4 || stream_check_threads(seed, message, MESSAGE_SIZE)) &&
           (seed % 16 != 12 || stream_check_histogram(seed, message, MESSAGE_SIZE)) &&
           (seed % (4 * rare) != 2 || stream_check_expected(seed, message, MESSAGE_SIZE));
}

/* The engine alone: its run must equal the naive engine's in every metric and digest, to the last bit. A rare
 * scenario has more distinct sizes than its histograms store exactly, and is only run. */
static bool check_engine(struct fuzz *fuzz, uint32_t threads)
{
    struct sim_error error;
    if (!lab_run(fuzz->scenario, threads, NULL, &fuzz->result, &error))
        return broken(fuzz, error.text);
    return fuzz->result->rows > LAB_HISTOGRAM_EXACT ||
           naive_check(fuzz->scenario, fuzz->result, fuzz->message, sizeof fuzz->message);
}

static bool still_differs(void *context, const char *text)
{
    struct fuzz fuzz = {.scenario = NULL};
    (void)context;
    const bool differs = parse(&fuzz, text, &fuzz.scenario) && !check_engine(&fuzz, 1);
    lab_result_destroy(fuzz.result);
    lab_scenario_destroy(fuzz.scenario);
    return differs;
}

/* A seed that takes too long is a failure; most take a tenth of a second. */
#ifdef __clang__ /* with sanitizers */
#define SECONDS_MOST 300
#else
#define SECONDS_MOST 60
#endif

static volatile sig_atomic_t running;

static void give_up(int signal)
{
    (void)signal;
    char text[] = "seed 00000000000: takes too long\n";
    for (size_t i = 15, left = (size_t)running; i >= 5; i--, left /= 10)
        text[i] = (char)('0' + left % 10);
    _exit(write(STDOUT_FILENO, text, sizeof text - 1) > 0 ? 1 : 3);
}

struct campaign {
    uint64_t first, last;
    unsigned jobs;
    bool keeps_going, is_engine, prints, shrinks;
};

/* Common to the processes of a campaign. */
static struct {
    _Atomic uint64_t failures, seeds;
} * shared;

static bool check_seed(const struct campaign *campaign, uint64_t seed)
{
    const struct itimerval limit = {.it_value = {.tv_sec = SECONDS_MOST}};
    running = (sig_atomic_t)seed;
    signal(SIGPROF, give_up);
    setitimer(ITIMER_PROF, &limit, NULL); /* processor time */
    struct fuzz fuzz = {.scenario = NULL};
    char text[STREAM_TEXT_SIZE], *csv = NULL;
    draw_text(&fuzz, campaign->is_engine ? 0 : seed, seed, text, &csv);
    bool is_fine = csv == NULL || write_text(fuzz.trace, csv);
    is_fine = is_fine && parse(&fuzz, text, &fuzz.scenario);
    if (is_fine && campaign->is_engine) {
        is_fine = check_engine(&fuzz, (uint32_t)(1 + seed % 3)) && check_streams(&fuzz, seed, 1);
    } else if (is_fine) {
        draw_terms(&fuzz);
        is_fine = check(&fuzz, seed) && check_streams(&fuzz, seed, 4) &&
                  (seed % 16 != 6 || check_agents(&fuzz)) && (csv == NULL || check_notation(&fuzz, csv));
    }
    if (!is_fine)
        printf("seed %" PRIu64 ": %s\n  again: lab_answers_fuzz %s--seeds %" PRIu64 "\n", seed, fuzz.message,
               campaign->is_engine ? "--engine " : "", seed);
    lab_result_destroy(fuzz.result);
    lab_scenario_destroy(fuzz.scenario);
    if (csv != NULL)
        remove(fuzz.trace);
    free(csv);
    return is_fine;
}

/* Prints a seed's scenario, or a smaller one that differs from the naive engine as well. */
static int print_seed(const struct campaign *campaign)
{
    struct fuzz fuzz = {.scenario = NULL};
    struct sim_error error = {.text = ""};
    char text[STREAM_TEXT_SIZE], *csv = NULL, *smaller = NULL;
    draw_text(&fuzz, campaign->is_engine ? 0 : campaign->first, campaign->first, text, &csv);
    bool is_fine = csv == NULL || write_text(fuzz.trace, csv);
    if (is_fine && campaign->shrinks)
        is_fine = still_differs(NULL, text) && lab_shrink(text, 2000, still_differs, NULL, &smaller, &error);
    if (is_fine)
        printf("%s", smaller != NULL ? smaller : text);
    else
        fprintf(stderr, "answers_fuzz: cannot write a trace, or the engines do not differ\n");
    free(smaller);
    free(csv);
    return !is_fine;
}

/* Each process has the seeds of one remainder. */
static int run_campaign(const struct campaign *campaign)
{
    struct timespec begin, end;
    unsigned job = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 1; job == 0 && i < campaign->jobs; i++)
        job = fork() == 0 ? i : 0;
    for (uint64_t seed = campaign->first + job;
         seed <= campaign->last && (campaign->keeps_going || shared->failures == 0); seed += campaign->jobs) {
        shared->failures += !check_seed(campaign, seed);
        shared->seeds++;
        fflush(stdout);
    }
    if (job > 0)
        return 0;
    for (int status; wait(&status) > 0;)
        shared->failures += status != 0; /* it ended early */
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%" PRIu64 " seeds, %" PRIu64 " failures, %.1f s\n", shared->seeds, shared->failures, seconds);
    return shared->failures > 0;
}

int main(int argc, char **argv)
{
    struct campaign campaign = {.first = 1, .last = test_part(SEEDS_DEFAULT), .jobs = 1};
    bool is_fine = true;
    for (int i = 1; is_fine && i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        campaign.keeps_going |= strcmp(name, "--keep-going") == 0;
        campaign.is_engine |= strcmp(name, "--engine") == 0;
        campaign.prints |= strcmp(name, "--print") == 0;
        campaign.shrinks |= strcmp(name, "--shrink") == 0;
        if (strcmp(name, "--keep-going") == 0 || strcmp(name, "--engine") == 0)
            continue;
        i++;
        if (strcmp(name, "--jobs") == 0) {
            campaign.jobs = (unsigned)strtoul(value, NULL, 10);
            is_fine = campaign.jobs >= 1 && campaign.jobs <= 64;
            continue;
        }
        const int count = sscanf(value, "%" SCNu64 "..%" SCNu64, &campaign.first, &campaign.last);
        campaign.last = count == 1 ? campaign.first : campaign.last;
        is_fine = count >= 1 && campaign.first <= campaign.last &&
                  (strcmp(name, "--seeds") == 0 || campaign.prints || campaign.shrinks);
    }
    if (!is_fine) {
        fprintf(stderr, "answers_fuzz: use [--engine] [--seeds A..B] [--jobs N] [--keep-going], "
                        "[--engine] --print SEED, or --engine --shrink SEED\n");
        return 2;
    }
    return campaign.prints || campaign.shrinks ? print_seed(&campaign) : run_campaign(&campaign);
}
