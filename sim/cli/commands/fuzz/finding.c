/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shrinks a scenario that breaks a guarantee, and writes it to a file. */
#define _XOPEN_SOURCE 700
#include "fuzz.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "kernel/time.h"
#include "reports/reports.h"

#define TRIES_MAX   1500u
#define LINES_MAX   40u
#define LINES_AFTER 3u
#define NAME_SIZE   160

/* The state of shrinking: the breach to keep, and the smallest scenario so far. */
struct trial {
    const char *path; /* path of the user's scenario, for relative file names */
    enum lab_oracle oracle;
    uint32_t held;
    const char *text; /* text of the seed's scenario */
    char **out;       /* text of the smallest scenario */
    struct lab_progress *progress;
    struct cli_breach *last; /* breach of the smallest scenario so far */
    uint32_t tries;
    struct sim_error error; /* of the machine, not of the scenario */
};

/* The last lines of an event trace, up to the violation and a little beyond. */
struct hearing {
    struct cli_listener listener;
    int64_t until_ns;
    char **lines;
    size_t begin, count, after;
    bool out_of_memory;
};

/* Writes text for use between YAML's double quotes, since a label or a path may have characters that are
 * special in YAML. Writes at most two bytes per byte, and returns the end. */
static char *add_quoted(char *end, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\' || *text == '\n')
            *end++ = '\\';
        *end++ = *text == '\n' ? 'n' : *text;
    }
    *end = '\0';
    return end;
}

/* Makes PATH="FILE", malloc'ed; NULL if there is no file, or when out of memory. */
static char *absolute(const char *path, const char *file)
{
    char *whole = file == NULL ? NULL : realpath(file, NULL);
    char *override = whole == NULL ? NULL : malloc(2 * strlen(whole) + 32);
    if (override != NULL)
        strcpy(add_quoted(override + sprintf(override, "%s=\"", path), whole), "\"");
    free(whole);
    return override;
}

/* Makes the text of the seed's scenario, with absolute file names. */
static bool begin_text(const struct lab_fuzz_base *base, uint64_t seed, char **out, struct sim_error *error)
{
    struct lab_scenario *scenario;
    if (!lab_fuzz_scenario(base, seed, &scenario, error))
        return false;
    char *trace = absolute("trace.file", scenario->trace_path);
    char *like = absolute("cluster.node.like", scenario->like_path);
    struct lab_override overrides[2];
    size_t count = 0;
    if (trace != NULL)
        overrides[count++].text = trace;
    if (like != NULL)
        overrides[count++].text = like;
    bool is_fine = lab_fuzz_rewrite(scenario->text, overrides, count, out, error);
    free(trace);
    free(like);
    lab_scenario_destroy(scenario);
    return is_fine;
}

static bool still_breaks(void *context, const char *text)
{
    struct trial *trial = context;
    struct lab_scenario *scenario = NULL;
    struct lab_result *result = NULL;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    struct lab_progress inner = {.parent = trial->progress};
    if (lab_is_stopped(trial->progress) || trial->error.class != SIM_ERROR_NONE)
        return false;
    trial->tries++;
    trial->progress->rows = trial->tries;
    bool is_kept = false;
    if (lab_scenario_parse(trial->path, text, strlen(text), NULL, 0, NULL, &scenario, &error) &&
        lab_run(scenario, 1, &inner, &result, &error)) {
        lab_fuzz_hold(result, trial->held);
        for (size_t i = 0; !is_kept && i < result->strategy_count; i++) {
            const struct lab_strategy_result *one = &result->strategies[i];
            const struct lab_breach breach = {i, trial->oracle};
            is_kept = lab_guarantee_is_broken(lab_settings_kind(&one->settings),
                                              lab_settings_protocol(&one->settings), trial->oracle,
                                              &one->verdict) &&
                      cli_breach_describe(scenario, result, &breach, trial->last, &error);
        }
    }
    if (error.class == SIM_ERROR_ENVIRONMENT)
        trial->error = error;
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return is_kept;
}

/* The number of tries is not known in advance, so the progress has no total. */
static bool shrink(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct trial *trial = context;
    trial->progress = progress;
    return lab_shrink(trial->text, TRIES_MAX, still_breaks, trial, trial->out, error);
}

/* Adds a comment as one line, whatever characters a label, a key or a path has. Returns its end; the buffer
 * has room for all comments. */
static __attribute__((format(printf, 3, 4))) char *add_comment(char *begin, const char *limit,
                                                               const char *format, ...)
{
    va_list arguments;
    char *end = begin + snprintf(begin, (size_t)(limit - begin), "# ");
    va_start(arguments, format);
    vsnprintf(end, (size_t)(limit - end), format, arguments);
    va_end(arguments);
    for (; *end != '\0'; end++) {
        if ((unsigned char)*end < 0x20 || *end == 0x7f)
            *end = '?';
    }
    *end++ = '\n';
    return end;
}

/* The file's name: "fuzz-17-findable", or with the name of the scenario's file instead of "fuzz". */
static void name_of(const struct lab_fuzz_base *base, const struct cli_breach *breach, char *buffer)
{
    char stem[CLI_FINDING_NAME_SIZE];
    cli_finding_stem(base, stem);
    snprintf(buffer, NAME_SIZE, "%s-%" PRIu64 "-%s", stem, breach->seed, lab_oracle_name(breach->oracle));
}

static bool write_file(const struct lab_fuzz_base *base, const char *replay, const char *folder,
                       struct cli_finding *finding, struct sim_error *error)
{
    const struct cli_breach *breach = &finding->after;
    char name[NAME_SIZE], stem[NAME_SIZE + 8], set_name[NAME_SIZE + 16], set_expect[256];
    name_of(base, breach, name);
    snprintf(stem, sizeof stem, "%s.yaml", name);
    snprintf(set_name, sizeof set_name, "name=%s", name);
    char *end = add_quoted(set_expect + sprintf(set_expect, "expect=[\""), breach->label);
    snprintf(end, (size_t)(set_expect + sizeof set_expect - end), ".oracle.%s.violations == 0\"]",
             lab_oracle_name(breach->oracle));
    const struct lab_override overrides[] = {{set_name}, {set_expect}};
    char *text;
    if (!lab_fuzz_rewrite(finding->text, overrides, 2, &text, error))
        return false;
    free(finding->text);
    finding->text = text;

    size_t size = strlen(text) + strlen(replay) + 1024;
    char *whole = malloc(size);
    if (whole == NULL)
        return sim_fail_memory(error);
    end = add_comment(whole, whole + size, "Seed %" PRIu64 " of `%s`", breach->seed, replay);
    end = add_comment(end, whole + size, "breaks a guarantee of %s: %s (%s).", breach->label,
                      lab_oracle_name(breach->oracle), lab_oracle_about(breach->oracle));
    end = add_comment(end, whole + size, "%s%s%s", breach->key, breach->key[0] == '\0' ? "" : ": ",
                      breach->violation.text);
    end = add_comment(end, whole + size, "The expectation fails as long as the guarantee is broken.");
    snprintf(end, (size_t)(whole + size - end), "%s", text);
    bool is_fine = report_write_text(folder, stem, whole, &finding->path, error);
    free(whole);
    return is_fine;
}

/* Strategies do not interact, so a strategy that is run alone has the same events. */
static void only_strategy(struct lab_scenario *scenario, const char *label, struct lab_scenario *out)
{
    *out = *scenario;
    out->strategy_count = 1;
    out->expect_count = 0;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (strcmp(scenario->strategies[i].label, label) == 0)
            out->strategies = &scenario->strategies[i];
    }
}

/* A line begins with seconds and nanoseconds since the start. */
static void hear(void *context, const char *text)
{
    struct hearing *hearing = context;
    char *rest;
    int64_t time_ns = strtoll(text, &rest, 10) * SIM_SECOND;
    time_ns += *rest == '.' ? strtoll(rest + 1, NULL, 10) : 0;
    if (hearing->listener.is_over || hearing->out_of_memory)
        return;
    if (time_ns > hearing->until_ns && hearing->after++ == LINES_AFTER) {
        hearing->listener.is_over = true;
        return;
    }
    char *copy = strdup(text);
    if (copy == NULL) {
        hearing->out_of_memory = true;
        return;
    }
    size_t place = (hearing->begin + hearing->count) % LINES_MAX;
    if (hearing->count == LINES_MAX) {
        free(hearing->lines[place]);
        hearing->begin = (hearing->begin + 1) % LINES_MAX;
    } else {
        hearing->count++;
    }
    hearing->lines[place] = copy;
}

static bool hear_events(const char *path, bool is_quiet, struct cli_signals *signals,
                        struct cli_finding *finding, struct sim_error *error)
{
    const struct cli_breach *breach = &finding->after;
    struct lab_scenario *scenario, alone;
    struct lab_result *result = NULL;
    int64_t elapsed_ms;
    if (!lab_scenario_parse(path, finding->text, strlen(finding->text), NULL, 0, NULL, &scenario, error))
        return false;
    struct hearing hearing = {.until_ns = breach->since_ns, .lines = calloc(LINES_MAX, sizeof(char *))};
    finding->lines = calloc(LINES_MAX, sizeof(char *));
    bool is_fine = (hearing.lines != NULL && finding->lines != NULL) || sim_fail_memory(error);
    if (is_fine) {
        only_strategy(scenario, breach->label, &alone);
        hearing.listener.event_trace = (struct lab_event_trace){
            .context = &hearing, .line = hear, .key = breach->key[0] == '\0' ? NULL : breach->key};
        is_fine = cli_execute(&alone, 1, NULL, is_quiet, &hearing.listener, NULL, signals, &result,
                              &elapsed_ms, error) ||
                  hearing.listener.is_over || signals->caught != 0;
        is_fine = is_fine && (!hearing.out_of_memory || sim_fail_memory(error));
    }
    if (is_fine)
        *error = (struct sim_error){SIM_ERROR_NONE, ""};
    for (size_t i = 0; i < hearing.count; i++) {
        size_t place = (hearing.begin + i) % LINES_MAX;
        finding->lines[finding->line_count++] = hearing.lines[place];
        hearing.lines[place] = NULL;
    }
    for (size_t i = 0; hearing.lines != NULL && i < LINES_MAX; i++)
        free(hearing.lines[i]);
    free(hearing.lines);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return is_fine;
}

bool cli_finding_make(const struct lab_fuzz_base *base, const struct cli_breach *breach, const char *replay,
                      const char *folder, bool is_quiet, struct cli_signals *signals, struct cli_finding *out,
                      struct sim_error *error)
{
    *out = (struct cli_finding){.before = *breach, .after = *breach};
    struct trial trial = {.path = base->path != NULL ? base->path : "fuzz",
                          .oracle = breach->oracle,
                          .held = base->held,
                          .out = &out->text,
                          .last = &out->after};
    const struct cli_task task = {
        .name = "shrinking", .unit = "tries/s", .is_quiet = is_quiet, .run = shrink, .context = &trial};
    char *text;
    int64_t elapsed_ms;
    if (!begin_text(base, breach->seed, &text, error))
        return false;
    trial.text = text;
    bool is_fine = cli_attend(&task, signals, &elapsed_ms, error);
    free(text);
    if (is_fine && trial.error.class != SIM_ERROR_NONE)
        is_fine = sim_fail(error, trial.error.class, "%s", trial.error.text);
    out->tries = trial.tries;
    return is_fine && write_file(base, replay, folder, out, error) &&
           (signals->caught != 0 || hear_events(trial.path, is_quiet, signals, out, error));
}

static void print_breach(const struct cli_breach *breach)
{
    printf("seed %" PRIu64 ": ", breach->seed);
    cli_print_text(stdout, breach->label);
    printf(" breaks its guarantee '%s': %s\n  ", lab_oracle_name(breach->oracle),
           lab_oracle_about(breach->oracle));
    if (breach->key[0] != '\0') {
        cli_print_text(stdout, breach->key);
        printf(" at %.6f s: ", (double)breach->since_ns / 1e9);
    }
    cli_print_text(stdout, breach->violation.text);
    printf(" (%" PRIu64 " in all)\n", breach->violation.count);
}

void cli_finding_print(const struct cli_finding *finding)
{
    print_breach(&finding->before);
    printf("\nshrunk in %u tries to ", finding->tries);
    cli_print_text(stdout, finding->path);
    printf(", where\n");
    print_breach(&finding->after);
    putchar('\n');
    cli_print_lines(stdout, finding->text);
    if (finding->line_count == 0)
        return;
    printf("\nthe last events");
    if (finding->after.key[0] != '\0') {
        printf(" of ");
        cli_print_text(stdout, finding->after.key);
    }
    printf("\n");
    for (size_t i = 0; i < finding->line_count; i++) {
        cli_print_text(stdout, finding->lines[i]);
        putchar('\n');
    }
}

void cli_finding_clear(struct cli_finding *finding)
{
    for (size_t i = 0; i < finding->line_count; i++)
        free(finding->lines[i]);
    free(finding->lines);
    free(finding->path);
    free(finding->text);
}

void cli_finding_stem(const struct lab_fuzz_base *base, char *buffer)
{
    const char *path = base->path == NULL ? "fuzz" : base->path, *slash = strrchr(path, '/');
    const char *begin = slash == NULL ? path : slash + 1, *point = strrchr(begin, '.');
    size_t size = point == NULL || point == begin ? strlen(begin) : (size_t)(point - begin);
    snprintf(buffer, CLI_FINDING_NAME_SIZE, "%.*s", (int)size, begin);
    for (char *c = buffer; *c != '\0'; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                        *c == '-' || *c == '_';
        *c = is_plain ? *c : '-';
    }
}
