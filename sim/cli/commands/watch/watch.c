/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab watch: reads a table's sizes periodically, stores each look as a run of one observed strategy,
 * and says whether they still fit what a run predicts. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands/watch.h"
#include "cli/observed.h"
#include "cli/outputs.h"
#include "cli/text.h"
#include "cli/text_file.h"
#include "kernel/file.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"
#include "store/store.h"
#include "watch.h"

static const struct cli_option options[] = {
    {"strategy", "L", "the strategy of RUN that the table uses\n(default: the only one)"},
    {"command", "C", "a shell command that prints the sizes, instead of FILE"},
    {"every", "DURATION", "look at this interval, as in 1h (default: once)"},
    {"looks", "N", "with --every: end after N looks"},
    {"check", NULL, "end with exit code 1 at the first look that finds drift"},
    {"by", "UNIT", "bytes or rows (default bytes)"},
    {"tolerance", "SHARE", "sizes that differ by less are equal (default 10%)"},
    {"false-alarms", "SHARE", "chance that any look reports drift when there is none\n(default 1%)"},
    {"partitions", "N",
     "partitions of the table; needed with tablehistograms,\n"
     "which does not print them (nodetool tablestats "
     "does)"},
    {"prometheus", "FILE", "write the figures of each look to FILE, for Prometheus"},
    {"table", "KS.TABLE", "which table, if the file has several (default: the only\none)"},
    {"format", "F",
     "sstablepartitions, tablehistograms or large_partitions\n"
     "(default: detected)"},
    CLI_OPTION_DB,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

static bool read_share(const struct cli_args *args, const char *name, const char *fallback, double *out,
                       struct sim_error *error)
{
    const char *fault = lab_quantity_share(cli_value(args, name, fallback), out);
    return fault == NULL || sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s: %s", name, fault);
}

static bool read_every(const struct cli_args *args, struct watch *watch, struct sim_error *error)
{
    int64_t every_ns = 0;
    const char *text = cli_value(args, "every", NULL);
    const char *fault = text == NULL ? NULL : lab_quantity_duration(text, &every_ns);
    if (fault != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --every: %s", fault);
    if (text != NULL && every_ns < SIM_MS)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --every %s: write 1ms or more", text);
    if (text == NULL && cli_has(args, "looks"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --looks applies only with --every; add --every 1h");
    watch->every_ms = every_ns / SIM_MS;
    return cli_whole(args, "looks", 1, INT64_MAX, &watch->looks, error);
}

static bool read_options(const struct cli_args *args, struct watch *watch, struct sim_error *error)
{
    const char *by = cli_value(args, "by", "bytes");
    bool is_rows = strcmp(by, "rows") == 0;
    if (!is_rows && strcmp(by, "bytes") != 0)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --by: no unit '%s'; choose bytes or rows", by);
    watch->question.unit = is_rows ? LAB_IN_ROWS : LAB_IN_BYTES;
    watch->path = cli_argument_count(args) == 2 ? cli_argument(args, 1) : NULL;
    if (watch->path != NULL && strcmp(watch->path, SIM_STANDARD_INPUT) == 0)
        watch->path = "/dev/stdin";
    watch->command = cli_value(args, "command", NULL);
    if ((watch->path == NULL) == (watch->command == NULL))
        return sim_fail(
            error, SIM_ERROR_INPUT, "bucketlab: %s; name a FILE, or a --command that prints the sizes",
            watch->path == NULL ? "nothing to look at" : "a file and a --command exclude each other");
    if (!cli_observed_check(args, error) || !read_every(args, watch, error) ||
        !read_share(args, "tolerance", "10%", &watch->question.tolerance, error) ||
        !read_share(args, "false-alarms", "1%", &watch->question.false_alarm, error) ||
        !cli_whole(args, "partitions", 1, INT64_MAX, &watch->question.partitions, error))
        return false;
    if (!(watch->question.false_alarm > 0 && watch->question.false_alarm < 1))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --false-alarms: write more than 0%% and less than 100%%");
    if (watch->path != NULL && watch->every_ms > 0 && sim_input_is_descriptor(watch->path))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: standard input can be read only once; leave out --every, or name a file");
    return watch->prometheus == NULL || cli_text_file_check("prometheus", watch->prometheus, error);
}

/* The labels that --strategy may name, as a text. */
static void list_labels(const struct lab_result *result, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < result->strategy_count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i == 0 ? "" : ", ",
                                 result->strategies[i].label);
}

static bool choose_strategy(const struct cli_args *args, struct watch *watch, struct sim_error *error)
{
    const char *label = cli_value(args, "strategy", NULL);
    char labels[512];
    for (size_t i = 0; i < watch->result->strategy_count; i++) {
        const struct lab_strategy_result *one = &watch->result->strategies[i];
        if (label == NULL ? watch->result->strategy_count == 1 : strcmp(one->label, label) == 0)
            watch->predicted = one;
    }
    list_labels(watch->result, labels, sizeof labels);
    if (watch->predicted == NULL && label == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: run %" PRId64 " has several strategies; add --strategy, one of: %s",
                        watch->run, labels);
    if (watch->predicted == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --strategy: run %" PRId64 " has no '%s'; choose one of: %s", watch->run,
                        label, labels);
    if (watch->predicted->settings.observed != WL_OBSERVED_AUTO)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%s' of run %" PRId64
                        " was observed, and predicts nothing; name a run of a scenario",
                        watch->predicted->label, watch->run);
    return watch->predicted->open_rows.count + watch->predicted->closed_rows.count > 0 ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: '%s' of run %" PRId64 " has no partitions; name another run",
                    watch->predicted->label, watch->run);
}

static bool load_prediction(const struct cli_args *args, struct watch *watch, struct sim_error *error)
{
    struct store *store;
    struct store_run_info info;
    struct cli_outputs outputs = {0};
    if (!cli_run_number(args, &watch->run, error))
        return false;
    cli_outputs_database(&outputs, "db", watch->database, true);
    cli_outputs_input(&outputs, "the input", watch->path);
    cli_outputs_file(&outputs, "prometheus", watch->prometheus);
    if (!cli_outputs_check(&outputs, error) || !store_open(watch->database, STORE_READ, &store, error))
        return false;
    bool is_fine = store_load_run(store, watch->run, &info, &watch->result, error);
    watch->run = is_fine ? info.run : 0;
    store_close(store);
    if (!is_fine || !choose_strategy(args, watch, error))
        return false;
    const struct lab_limits *limits = &watch->result->limits;
    watch->question.predicted = watch->predicted;
    watch->question.limit =
        watch->question.unit == LAB_IN_ROWS ? limits->partition_rows : limits->partition_bytes;
    return true;
}

/* Reads the sizes as a run of one strategy, observed, with the prediction's label and limits. */
static bool observe(const struct cli_args *args, const char *path, struct watch *watch,
                    struct store_run_info *info, struct lab_scenario **scenario, struct watch_look *look,
                    struct sim_error *error)
{
    char *text = cli_observed_scenario(args, watch->result->scenario_name, &watch->result->limits,
                                       watch->predicted->label, path);
    if (text == NULL)
        return sim_fail_memory(error);
    bool is_fine = lab_scenario_parse(path, text, strlen(text), NULL, 0, NULL, scenario, error);
    free(text);
    if (!is_fine || !cli_execute(*scenario, 1, NULL, watch->is_quiet, NULL, NULL, &watch->signals,
                                 &look->result, &info->elapsed_ms, error))
        return false;
    struct lab_strategy_result *observed = &look->result->strategies[0];
    look->observed = observed;
    if (watch->command != NULL) {
        free(observed->settings.observed_file);
        observed->settings.observed_file = sim_text_copy(watch->command);
    }
    return observed->settings.observed_file != NULL || sim_fail_memory(error);
}

static bool judge(struct watch *watch, struct store *store, struct watch_look *look, struct sim_error *error)
{
    struct lab_drift_question *question = &watch->question;
    bool is_percentiles = look->observed->settings.observed == WL_OBSERVED_PERCENTILES;
    if (is_percentiles && question->partitions == 0)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: tablehistograms does not say how many partitions there are; add --partitions N, "
            "which nodetool tablestats prints");
    if (question->unit == LAB_IN_ROWS && look->observed->open_rows.count == 0)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: the file has no row counts; leave out --by rows");
    question->observed = look->observed;
    if (!store_count_looks(store, watch->run, watch->predicted->label, &look->number, error))
        return false;
    question->look = ++look->number;
    if (!lab_drift_judge(question, &look->drift) ||
        !lab_drift_metrics(&look->drift, watch->run, look->number, &look->result->strategies[0].metrics))
        return sim_fail_memory(error);
    return true;
}

static bool look_at(const struct cli_args *args, const char *path, struct watch *watch,
                    struct watch_look *look, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    struct store *store = NULL;
    struct store_run_info info = {.version = BUCKETLAB_VERSION};
    look->time_s = info.created_unix_s = (int64_t)time(NULL);
    bool is_fine = observe(args, path, watch, &info, &scenario, look, error) &&
                   store_open(watch->database, STORE_WRITE, &store, error) &&
                   judge(watch, store, look, error);
    if (is_fine) {
        info.scenario_path = path;
        info.scenario_text = scenario->text;
        info.overrides = scenario->overrides;
        is_fine = store_save_run(store, &info, look->result, error);
        look->run = info.run;
    }
    store_close(store);
    lab_scenario_destroy(scenario);
    return is_fine;
}

/* Takes one look; on false *look is unchanged. */
static bool take_look(const struct cli_args *args, struct watch *watch, struct watch_look *look,
                      struct sim_error *error)
{
    struct watch_look new = {0};
    char descriptor[32];
    bool is_file = watch->path != NULL && !sim_input_is_descriptor(watch->path);
    char *path = is_file ? realpath(watch->path, NULL) : NULL;
    FILE *output = watch->command == NULL ? NULL : tmpfile();
    bool is_fine = watch->command == NULL || output != NULL ||
                   sim_fail(error, SIM_ERROR_ENVIRONMENT,
                            "cannot create a file for the command's output; free space in /tmp");
    if (is_fine && output != NULL) {
        is_fine = watch_run_command(watch->command, watch->every_ms, &watch->signals, output, error);
        snprintf(descriptor, sizeof descriptor, "/dev/fd/%d", fileno(output));
    }
    /* If the file does not exist, reading it reports the error. */
    const char *from = output != NULL ? descriptor : path != NULL ? path : watch->path;
    is_fine = is_fine && look_at(args, from, watch, &new, error);
    if (output != NULL)
        fclose(output);
    free(path);
    if (!is_fine) {
        lab_result_destroy(new.result);
        return false;
    }
    lab_result_destroy(look->result);
    *look = new;
    watch->looked++;
    return watch_print(watch, look, error);
}

/* If a later look fails, the failure is printed and counted, and watch continues, since a node may be down
 * temporarily. */
static bool look_again(const struct cli_args *args, struct watch *watch, struct watch_look *look,
                       struct sim_error *error)
{
    bool is_fine = take_look(args, watch, look, error);
    if (!is_fine && watch->signals.caught == 0 && watch->looked > 0 && watch->every_ms > 0) {
        fputs("look failed: ", stderr);
        cli_print_text(stderr, error->text);
        fputc('\n', stderr);
        watch->failed++;
        *error = (struct sim_error){0};
        is_fine = true;
    }
    is_fine = is_fine && (watch->prometheus == NULL || watch_write_prometheus(watch, look, error));
    if (is_fine && watch->is_check && look->drift.is_drift)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "the sizes no longer fit '%s' of run %" PRId64 "; see 'bucketlab diff %" PRId64
                        " %" PRId64 "'",
                        watch->predicted->label, watch->run, watch->run, look->run);
    return is_fine;
}

/* Waits until a look is due, on a monotonic clock. False when a signal arrived first. */
static bool wait_until(struct watch *watch, int64_t due_ms)
{
    for (;;) {
        int64_t left_ms = due_ms - cli_now_ms();
        if (left_ms <= 0)
            return true;
        const struct timespec left = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000L};
        int signal = sigtimedwait(&watch->signals.held, NULL, &left);
        if (signal > 0 && signal != CLI_WAKE) {
            watch->signals.caught = signal;
            return false;
        }
    }
}

static bool keep_watching(const struct cli_args *args, struct watch *watch, struct sim_error *error)
{
    struct watch_look look = {0};
    int64_t due_ms = cli_now_ms();
    bool is_fine;
    do {
        is_fine = look_again(args, watch, &look, error);
        while (watch->every_ms > 0 && due_ms <= cli_now_ms())
            due_ms += watch->every_ms;
    } while (is_fine && watch->every_ms > 0 && (watch->looks == 0 || watch->looked < watch->looks) &&
             wait_until(watch, due_ms));
    lab_result_destroy(look.result);
    return is_fine && watch->signals.caught == 0;
}

static int watch(const struct cli_args *args, struct sim_error *error)
{
    struct watch watch = {.database = cli_value(args, "db", "bucketlab.db"),
                          .prometheus = cli_value(args, "prometheus", NULL),
                          .is_json = cli_has(args, "json"),
                          .is_quiet = cli_has(args, "quiet"),
                          .is_check = cli_has(args, "check")};
    bool is_fine = read_options(args, &watch, error) && load_prediction(args, &watch, error);
    int code = (int)error->class;
    if (is_fine) {
        cli_signals_hold(&watch.signals);
        code = keep_watching(args, &watch, error) ? 0 : cli_exit_code(&watch.signals, error);
        cli_signals_release(&watch.signals);
    }
    lab_result_destroy(watch.result);
    return code;
}

const struct cli_command cli_watch = {
    .name = "watch",
    .arguments = "RUN [FILE]",
    .summary = "check whether a live table's sizes still fit a prediction",
    .example = "  bucketlab watch 3 messages.csv --strategy probabilistic --check\n"
               "  bucketlab watch 3 --strategy probabilistic --every 1h --partitions 11500 \\\n"
               "      --command 'nodetool tablehistograms chat messages' --prometheus chat.prom\n",
    .options = options,
    .least = 1,
    .most = 2,
    .run = watch,
};
