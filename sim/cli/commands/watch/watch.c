/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab watch: compares a live table with a prediction. Sizes come in from a file, or from a shell
 * command of the user, periodically; each look is stored as a run of one observed strategy, and goes out as a
 * line of text or of JSON, and as a file for Prometheus (text exposition format 0.0.4). */
/* The command runs in its own process group, so that all of its processes can be ended. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base.h"
#include "cli/run.h"
#include "kernel/file.h"
#include "kernel/time.h"
#include "lab/drift.h"
#include "lab/quantity.h"
#include "store/store.h"

/* The request, according to the command line and the database. */
struct watch {
    const struct cli_args *args;
    char *path;          /* the file to read; NULL: the output of `command` is read */
    const char *command; /* NULL: the file is read */
    const char *prometheus;
    int64_t every_ms;         /* 0: one look */
    uint64_t looks;           /* 0: until a signal comes */
    struct cli_stored stored; /* the run that predicts the sizes */
    const struct lab_strategy_result *predicted;
    struct lab_drift_question question; /* without the fields that each look fills */
    uint64_t looked, failed;            /* by this process */
};

/* A look: what was observed, stored under the number `run`. */
struct watch_look {
    int64_t run, time_s;
    uint64_t number; /* of this look among all looks for this prediction, from 1 */
    struct lab_result *result;
    const struct lab_strategy_result *observed; /* of result */
    struct lab_drift drift;
};

/* In the command's process: signals that are blocked in this program are not blocked there. */
static void set_up(gpointer before)
{
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, before, NULL);
}

static bool fail_store(struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "the command's output cannot be stored (%s); free space in /tmp", strerror(errno));
}

/* Copies the output until it ends. Returns false, with an error, when the command must be killed. */
static bool copy(const struct watch *watch, int from, FILE *out, struct sim_error *error)
{
    struct pollfd output = {.fd = from, .events = POLLIN};
    int64_t begin_ms = cli_now_ms();
    char buffer[65536];
    for (;;) {
        const int signal = cli_wait(watch->args, 0);
        if (signal != 0) {
            watch->args->signals->caught = signal;
            return sim_fail(error, SIM_ERROR_CHECK, "interrupted; this look was not stored");
        }
        if (watch->every_ms > 0 && cli_passed_ms(begin_ms) >= watch->every_ms)
            return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                            "the command still ran when the next look was due, and was killed; make it "
                            "faster, or --every longer");
        if (poll(&output, 1, CLI_FRAME_MS) <= 0)
            continue;
        ssize_t size = read(from, buffer, sizeof buffer);
        if (size == 0)
            return true;
        if (size > 0 && fwrite(buffer, 1, (size_t)size, out) != (size_t)size)
            return fail_store(error);
    }
}

/* Runs the command by a shell and writes what it prints to `out`. A command that still runs when the next
 * look is due is killed. A signal kills it too, and is caught. */
static bool run_command(const struct watch *watch, FILE *out, struct sim_error *error)
{
    char shell[] = "/bin/sh", option[] = "-c";
    g_autofree char *command = g_strdup(watch->command);
    char *words[] = {shell, option, command, NULL};
    g_autoptr(GError) fault = NULL;
    int from, status = 0;
    GPid process;
    if (!g_spawn_async_with_pipes(NULL, words, NULL, G_SPAWN_DO_NOT_REAP_CHILD, set_up,
                                  &watch->args->signals->before, &process, NULL, &from, NULL, &fault))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "/bin/sh could not be started (%s); end other programs first", fault->message);
    const bool is_fine = copy(watch, from, out, error);
    close(from);
    if (!is_fine)
        kill(-process, SIGKILL);
    while (waitpid(process, &status, 0) == -1 && errno == EINTR)
        ;
    if (!is_fine)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "'%s' ended with %s %d; run it by hand to see why",
                        watch->command, WIFEXITED(status) ? "exit code" : "signal",
                        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return fflush(out) == 0 || fail_store(error);
}

/* Formats a size in its unit for display. */
static void tell_size(const struct watch *watch, uint64_t size, char *buffer)
{
    if (watch->question.unit == LAB_IN_BYTES)
        cli_compact_bytes((double)size, buffer);
    else
        cli_grouped(size, buffer);
}

static void print_line(const struct watch *watch, const struct watch_look *look)
{
    const struct lab_drift *drift = &look->drift;
    char at[SIM_TIME_TEXT_SIZE], size[CLI_NUMBER_SIZE], limit[CLI_NUMBER_SIZE], seen[CLI_NUMBER_SIZE],
        predicted[CLI_NUMBER_SIZE], beyond[CLI_NUMBER_SIZE], largest[CLI_NUMBER_SIZE];
    const char *rows = watch->question.unit == LAB_IN_ROWS ? " rows" : "";
    sim_time_format(look->time_s * SIM_SECOND, at);
    tell_size(watch, drift->size, size);
    tell_size(watch, drift->beyond_size, beyond);
    tell_size(watch, drift->largest_predicted, largest);
    tell_size(watch, watch->question.limit, limit);
    cli_grouped(drift->observed_count, seen);
    cli_grouped(drift->predicted_count, predicted);
    printf("%s run %" PRId64 ", look %" PRIu64 ": %s ", at, look->run, look->number,
           drift->is_drift ? "DRIFT from" : "fits");
    cli_print_text(stdout, watch->predicted->label);
    printf(" of run %" PRId64 "; distance %.3f, by chance at most %.3f (%s partitions, %s predicted)",
           watch->stored.info.run, drift->distance, drift->allowed, seen, predicted);
    if (drift->is_far)
        printf("; %.1f%% of the partitions are up to %s%s, %.1f%% were predicted to be",
               100 * drift->observed, size, rows, 100 * drift->predicted);
    if (drift->beyond > 0)
        printf("; %" PRIu64 " partition%s %s or more%s, but the largest predicted one has %s%s",
               drift->beyond, drift->beyond == 1 ? " has" : "s have", beyond, rows, largest, rows);
    if (drift->is_over)
        printf("; at least %.2g%% of the partitions exceed %s%s, at most %.2g%% were predicted to",
               100 * drift->over_least, limit, rows, 100 * drift->over_most);
    putchar('\n');
}

static json_t *object_of(const struct watch *watch, const struct watch_look *look)
{
    const struct lab_drift *drift = &look->drift;
    json_t *object = CLI_OBJECT(
        {"run", json_integer(look->run)}, {"look", cli_json_whole(look->number)},
        {"predicted_run", json_integer(watch->stored.info.run)},
        {"strategy", json_string(watch->predicted->label)},
        {"unit", json_string(watch->question.unit == LAB_IN_ROWS ? "rows" : "bytes")},
        {"partitions", cli_json_whole(drift->observed_count)}, {"distance", cli_json_number(drift->distance)},
        {"allowed", cli_json_number(drift->allowed)}, {"size", cli_json_whole(drift->size)},
        {"observed_share", cli_json_number(drift->observed)},
        {"predicted_share", cli_json_number(drift->predicted)}, {"beyond", cli_json_whole(drift->beyond)},
        {"beyond_size", cli_json_whole(drift->beyond_size)},
        {"largest_predicted", cli_json_whole(drift->largest_predicted)},
        {"drift", json_boolean(drift->is_drift)});
    if (drift->has_limit) {
        object = cli_json_with(object, "over_limit_share", cli_json_number(drift->over));
        object = cli_json_with(object, "over_limit_least", cli_json_number(drift->over_least));
        object = cli_json_with(object, "over_limit_most_predicted", cli_json_number(drift->over_most));
    }
    return object;
}

static void print_look(const struct watch *watch, const struct watch_look *look)
{
    if (watch->args->is_json)
        cli_json_print(object_of(watch, look));
    else
        print_line(watch, look);
    fflush(stdout);
}

static void write_head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Writes NAME{scenario="..",strategy="..",more} value. */
static void write_value(FILE *out, const struct watch *watch, const char *name, const char *more,
                        double value)
{
    g_autofree char *scenario = cli_json_quoted(watch->stored.result->scenario_name),
                    *strategy = cli_json_quoted(watch->predicted->label);
    fprintf(out, "%s{scenario=%s,strategy=%s%s%s} %.17g\n", name, scenario, strategy,
            *more == '\0' ? "" : ",", more, value);
}

/* Writes the metrics with this name of either side. */
static void write_both(FILE *out, const struct watch *watch, const struct watch_look *look, const char *name,
                       const char *metric, const char *labels)
{
    const struct lab_strategy_result *const sides[] = {look->observed, watch->predicted};
    static const char *const names[] = {"observed", "predicted"};
    for (size_t i = 0; i < 2; i++) {
        const struct lab_metric *figure = lab_metrics_find(&sides[i]->metrics, metric);
        char more[128];
        snprintf(more, sizeof more, "source=\"%s\"%s", names[i], labels);
        if (figure != NULL)
            write_value(out, watch, name, more, figure->value);
    }
}

static void write_sizes(FILE *out, const struct watch *watch, const struct watch_look *look)
{
    static const char *const points[] = {"min", "p50", "p75", "p90", "p95", "p98", "p99", "p999", "max"};
    bool is_bytes = watch->question.unit == LAB_IN_BYTES;
    const char *name = is_bytes ? "bucketlab_partition_size_bytes" : "bucketlab_partition_size_rows";
    write_head(out, "bucketlab_partitions", "gauge",
               "Partitions of the table, and of the run that predicts it.");
    write_both(out, watch, look, "bucketlab_partitions", "partitions.total", "");
    write_head(out, name, "gauge", "Percentiles of the sizes of partitions.");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char metric[LAB_METRIC_NAME_SIZE], labels[64];
        snprintf(metric, sizeof metric, "partitions.all.%s.%s", is_bytes ? "bytes" : "rows", points[i]);
        snprintf(labels, sizeof labels, ",percentile=\"%s\"", points[i]);
        write_both(out, watch, look, name, metric, labels);
    }
    write_head(out, "bucketlab_partitions_over_limit", "gauge", "Partitions above a limit of the scenario.");
    write_both(out, watch, look, "bucketlab_partitions_over_limit", "partitions.over_limit", "");
}

/* Writes the file that Prometheus reads; the look is the last one that was stored. */
static bool write_prometheus(const struct watch *watch, const struct watch_look *look,
                             struct sim_error *error)
{
    char *text = NULL;
    size_t size;
    FILE *out = cli_memory_open(&text, &size);
    write_sizes(out, watch, look);
    const struct {
        const char *name, *type, *help;
        double value;
    } singles[] = {
        {"bucketlab_drift_distance", "gauge",
         "Difference between observed and predicted shares of partitions.", look->drift.distance},
        {"bucketlab_drift_allowed", "gauge", "Difference that chance explains.", look->drift.allowed},
        {"bucketlab_partitions_beyond", "gauge", "Largest partitions that are too large for the prediction.",
         (double)look->drift.beyond},
        {"bucketlab_drift", "gauge", "1 where the sizes no longer fit the prediction, else 0.",
         look->drift.is_drift},
        {"bucketlab_watch_last_look_timestamp_seconds", "gauge", "Time of the last look that succeeded.",
         (double)look->time_s},
        {"bucketlab_watch_looks_total", "counter", "Looks by this process that succeeded.",
         (double)watch->looked},
        {"bucketlab_watch_failures_total", "counter", "Looks by this process that failed.",
         (double)watch->failed}};
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) {
        write_head(out, singles[i].name, singles[i].type, singles[i].help);
        write_value(out, watch, singles[i].name, "", singles[i].value);
    }
    cli_memory_close(out);
    bool is_fine = cli_file_write(watch->prometheus, text, size, error);
    free(text);
    return is_fine;
}

static const struct cli_option options[] = {
    {"strategy", "L", "the strategy of RUN that the table uses\n(default: the only one)"},
    {"command", "C", "a shell command that prints the sizes, instead of FILE"},
    {"every", "DURATION", "look at this interval, as in 1h (default: once)"},
    {"looks", "N", "with --every: end after N looks"},
    {"check", NULL, "end with exit code 1 at the first look that finds drift"},
    {"by", "bytes|rows", "the unit of sizes (default bytes)"},
    {"tolerance", "SHARE", "sizes that differ by less are equal (default 10%)"},
    {"false-alarms", "SHARE", "chance that any look reports drift when there is none\n(default 1%)"},
    {"partitions", "N",
     "partitions of the table; needed with tablehistograms,\n"
     "which does not print them (nodetool tablestats "
     "does)"},
    {"prometheus", "FILE", "write the figures of each look to FILE, for Prometheus"},
    {"table", "KS.TABLE", "which table, if the file has several (default: the only\none)"},
    {"format", "sstablepartitions|tablehistograms|large_partitions", "(default: detected)"},
    {CLI_OPTION_DB},
    {NULL, NULL, NULL}};

static bool read_share(const struct cli_args *args, const char *name, const char *fallback, double *out,
                       struct sim_error *error)
{
    const char *fault = lab_quantity_share(cli_value(args, name, fallback), out);
    return fault == NULL || sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s: %s", name, fault);
}

static bool read_options(struct watch *watch, struct sim_error *error)
{
    const struct cli_args *args = watch->args;
    int64_t every_ns = 0;
    watch->question.unit = cli_chooses(args, "by", "rows") ? LAB_IN_ROWS : LAB_IN_BYTES;
    watch->command = cli_value(args, "command", NULL);
    watch->prometheus = cli_value(args, "prometheus", NULL);
    if ((args->count < 2) == (watch->command == NULL))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: %s; name a FILE, or a --command that prints the sizes",
                        args->count < 2 ? "nothing to look at" : "a file and a --command exclude each other");
    watch->path = args->count < 2 ? NULL : cli_input_path(cli_argument(args, 1));
    if (!cli_duration(args, "every", SIM_MS, &every_ns, error) ||
        !cli_whole(args, "looks", 1, INT64_MAX, &watch->looks, error) ||
        !read_share(args, "tolerance", "10%", &watch->question.tolerance, error) ||
        !read_share(args, "false-alarms", "1%", &watch->question.false_alarm, error) ||
        !cli_whole(args, "partitions", 1, INT64_MAX, &watch->question.partitions, error))
        return false;
    watch->every_ms = every_ns / SIM_MS;
    if (!(watch->question.false_alarm > 0 && watch->question.false_alarm < 1))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --false-alarms: write more than 0%% and less than 100%%");
    if (watch->path != NULL && watch->every_ms > 0 && sim_input_is_descriptor(watch->path))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: standard input can be read only once; leave out --every, or name a file");
    return cli_file_check("prometheus", watch->prometheus, error);
}

static bool load_prediction(struct watch *watch, struct sim_error *error)
{
    const struct cli_args *args = watch->args;
    struct cli_outputs outputs = {NULL};
    cli_outputs_database(&outputs, "db", args->database, true);
    cli_outputs_input(&outputs, "the input", cli_argument(args, 1));
    cli_outputs_file(&outputs, "prometheus", watch->prometheus);
    if (!cli_outputs_check(&outputs, error) ||
        !cli_stored_open(args, cli_argument(args, 0), &watch->stored, error) ||
        !cli_stored_find(&watch->stored, cli_value(args, "strategy", NULL), &watch->predicted, error))
        return false;
    if (watch->predicted->settings.observed != WL_OBSERVED_AUTO)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%s' of run %" PRId64
                        " was observed, and predicts nothing; name a run of a scenario",
                        watch->predicted->label, watch->stored.info.run);
    const struct lab_limits *limits = &watch->stored.result->limits;
    watch->question.predicted = watch->predicted;
    watch->question.limit =
        watch->question.unit == LAB_IN_ROWS ? limits->partition_rows : limits->partition_bytes;
    return watch->predicted->open_rows.count + watch->predicted->closed_rows.count > 0 ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: '%s' of run %" PRId64 " has no partitions; name another run",
                    watch->predicted->label, watch->stored.info.run);
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
    if (!store_count_looks(store, watch->stored.info.run, watch->predicted->label, &look->number, error))
        return false;
    question->look = ++look->number;
    if (!lab_drift_judge(question, &look->drift) ||
        !lab_drift_metrics(&look->drift, watch->stored.info.run, look->number,
                           &look->result->strategies[0].metrics))
        return sim_fail_memory(error);
    return true;
}

/* Reads the sizes as a run of one strategy, observed, with the prediction's label and limits. */
static bool look_at(const char *path, struct watch *watch, struct watch_look *look, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    struct store *store = NULL;
    bool is_fine =
        cli_observed_load(watch->args, watch->stored.result->scenario_name, &watch->stored.result->limits,
                          watch->predicted->label, path, &scenario, error);
    struct cli_execution execution = {.scenario = scenario, .jobs = 1};
    is_fine = is_fine && cli_execute(watch->args, &execution, error);
    look->result = execution.result;
    if (is_fine) {
        struct lab_strategy_result *observed = &look->result->strategies[0];
        struct store_run_info info = cli_info_of(scenario, path, execution.elapsed_ms);
        look->observed = observed;
        look->time_s = info.created_unix_s;
        if (watch->command != NULL) {
            free(observed->settings.observed_file);
            observed->settings.observed_file = g_strdup(watch->command);
        }
        is_fine = store_open(watch->args->database, STORE_WRITE, &store, error) &&
                  judge(watch, store, look, error) && store_save_run(store, &info, look->result, error);
        look->run = info.run;
    }
    store_close(store);
    lab_scenario_destroy(scenario);
    return is_fine;
}

/* Takes one look; on false *look is unchanged. */
static bool take_look(struct watch *watch, struct watch_look *look, struct sim_error *error)
{
    struct watch_look new = {0};
    char descriptor[32];
    FILE *output = watch->command == NULL ? NULL : tmpfile();
    bool is_fine = watch->command == NULL || output != NULL ||
                   sim_fail(error, SIM_ERROR_ENVIRONMENT,
                            "cannot create a file for the command's output; free space in /tmp");
    if (is_fine && output != NULL) {
        is_fine = run_command(watch, output, error);
        snprintf(descriptor, sizeof descriptor, "/dev/fd/%d", fileno(output));
    }
    is_fine = is_fine && look_at(output != NULL ? descriptor : watch->path, watch, &new, error);
    if (output != NULL)
        fclose(output);
    if (!is_fine) {
        lab_result_destroy(new.result);
        return false;
    }
    lab_result_destroy(look->result);
    *look = new;
    watch->looked++;
    print_look(watch, look);
    return true;
}

/* If a later look fails, the failure is printed and counted, and watch continues, since a node may be down
 * temporarily. */
static bool look_again(struct watch *watch, struct watch_look *look, struct sim_error *error)
{
    bool is_fine = take_look(watch, look, error);
    if (!is_fine && watch->args->signals->caught == 0 && watch->looked > 0 && watch->every_ms > 0) {
        cli_print_line(stderr, "look failed: ", error->text);
        watch->failed++;
        *error = (struct sim_error){0};
        is_fine = true;
    }
    is_fine = is_fine && (watch->prometheus == NULL || write_prometheus(watch, look, error));
    if (is_fine && cli_has(watch->args, "check") && look->drift.is_drift)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "the sizes no longer fit '%s' of run %" PRId64 "; see 'bucketlab diff %" PRId64
                        " %" PRId64 "'",
                        watch->predicted->label, watch->stored.info.run, watch->stored.info.run, look->run);
    return is_fine;
}

/* Waits until a look is due, on a monotonic clock. False when a signal arrived first. */
static bool wait_until(const struct watch *watch, int64_t due_ms)
{
    int *caught = &watch->args->signals->caught;
    for (int64_t left_ms; *caught == 0 && (left_ms = due_ms - cli_now_ms()) > 0;)
        *caught = cli_wait(watch->args, left_ms);
    return *caught == 0;
}

static bool keep_watching(struct watch *watch, struct sim_error *error)
{
    struct watch_look look = {0};
    int64_t due_ms = cli_now_ms();
    bool is_fine;
    cli_hold(watch->args);
    do {
        is_fine = look_again(watch, &look, error);
        while (watch->every_ms > 0 && due_ms <= cli_now_ms())
            due_ms += watch->every_ms;
    } while (is_fine && ferror(stdout) == 0 && watch->every_ms > 0 &&
             (watch->looks == 0 || watch->looked < watch->looks) && wait_until(watch, due_ms));
    lab_result_destroy(look.result);
    return is_fine && watch->args->signals->caught == 0;
}

static bool watch(const struct cli_args *args, struct sim_error *error)
{
    struct watch watch = {.args = args};
    bool is_fine =
        read_options(&watch, error) && load_prediction(&watch, error) && keep_watching(&watch, error);
    cli_stored_close(&watch.stored);
    g_free(watch.path);
    return is_fine;
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
