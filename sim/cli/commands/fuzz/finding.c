/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shrinks a scenario that breaks a guarantee, and writes it to a file. */
#define _XOPEN_SOURCE 700
#include "fuzz.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "cli/run.h"
#include "kernel/time.h"
#include "reports/reports.h"

#define TRIES_MAX   1500u
#define LINES_MAX   40u
#define LINES_AFTER 3u

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
    GQueue *lines;
    size_t after;
};

/* PATH="FILE" as an override; NULL if there is no file. */
static char *absolute(const char *path, const char *file)
{
    g_autofree char *whole = file == NULL ? NULL : realpath(file, NULL);
    g_autofree char *quoted = whole == NULL ? NULL : cli_json_quoted(whole);
    return quoted == NULL ? NULL : g_strconcat(path, "=", quoted, NULL);
}

/* Makes the text of the seed's scenario, with absolute file names. */
static bool begin_text(const struct lab_fuzz_base *base, uint64_t seed, char **out, struct sim_error *error)
{
    struct lab_scenario *scenario;
    if (!lab_fuzz_scenario(base, seed, &scenario, error))
        return false;
    g_autofree char *trace = absolute("trace.file", scenario->trace_path),
                    *like = absolute("cluster.node.like", scenario->like_path);
    struct lab_override overrides[2];
    size_t count = 0;
    if (trace != NULL)
        overrides[count++].text = trace;
    if (like != NULL)
        overrides[count++].text = like;
    bool is_fine = lab_fuzz_rewrite(scenario->text, overrides, count, out, error);
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

/* Adds a comment as one line, whatever characters a label, a key or a path has. */
static __attribute__((format(printf, 2, 3))) void add_comment(GString *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *comment = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    for (char *c = comment; *c != '\0'; c++)
        *c = g_ascii_iscntrl(*c) ? '?' : *c;
    g_string_append_printf(text, "# %s\n", comment);
}

static bool write_file(const struct lab_fuzz_base *base, const char *replay, const char *folder,
                       struct cli_finding *finding, struct sim_error *error)
{
    const struct cli_breach *breach = &finding->after;
    const char *oracle = lab_oracle_name(breach->oracle);
    g_autofree char *stem = cli_finding_stem(base),
                    *name = g_strdup_printf("%s-%" PRIu64 "-%s", stem, breach->seed, oracle),
                    *file = g_strconcat(name, ".yaml", NULL), *set_name = g_strconcat("name=", name, NULL),
                    *demand = g_strdup_printf("%s.oracle.%s.violations == 0", breach->label, oracle),
                    *quoted = cli_json_quoted(demand), *set_expect = g_strdup_printf("expect=[%s]", quoted);
    const struct lab_override overrides[] = {{set_name}, {set_expect}};
    char *text;
    if (!lab_fuzz_rewrite(finding->text, overrides, 2, &text, error))
        return false;
    free(finding->text);
    finding->text = text;
    GString *whole = g_string_new("");
    add_comment(whole, "Seed %" PRIu64 " of `%s`", breach->seed, replay);
    add_comment(whole, "breaks a guarantee of %s: %s (%s).", breach->label, oracle,
                lab_oracle_about(breach->oracle));
    add_comment(whole, "%s%s%s", breach->key, breach->key[0] == '\0' ? "" : ": ", breach->violation.text);
    add_comment(whole, "The expectation fails as long as the guarantee is broken.");
    g_string_append(whole, text);
    bool is_fine = report_write_text(folder, file, whole->str, &finding->path, error);
    g_string_free(whole, TRUE);
    return is_fine;
}

/* A line begins with seconds and nanoseconds since the start. */
static void hear(void *context, const char *text)
{
    struct hearing *hearing = context;
    char *rest;
    int64_t time_ns = strtoll(text, &rest, 10) * SIM_SECOND;
    time_ns += *rest == '.' ? strtoll(rest + 1, NULL, 10) : 0;
    if (hearing->listener.is_over)
        return;
    if (time_ns > hearing->until_ns && hearing->after++ == LINES_AFTER) {
        hearing->listener.is_over = true;
        return;
    }
    g_queue_push_tail(hearing->lines, g_strdup(text));
    if (hearing->lines->length > LINES_MAX)
        g_free(g_queue_pop_head(hearing->lines));
}

static bool hear_events(const struct cli_args *args, const char *path, struct cli_finding *finding,
                        struct sim_error *error)
{
    const struct cli_breach *breach = &finding->after;
    struct lab_scenario *scenario;
    struct hearing hearing = {.until_ns = breach->since_ns, .lines = &finding->lines};
    size_t strategy = 0;
    if (!lab_scenario_parse(path, finding->text, strlen(finding->text), NULL, 0, NULL, &scenario, error))
        return false;
    while (strcmp(scenario->strategies[strategy].label, breach->label) != 0)
        strategy++;
    hearing.listener.event_trace = (struct lab_event_trace){
        .context = &hearing, .line = hear, .key = breach->key[0] == '\0' ? NULL : breach->key};
    bool is_fine = cli_execute_alone(args, scenario, strategy, &hearing.listener, error) ||
                   hearing.listener.is_over || args->signals->caught != 0;
    if (is_fine)
        *error = (struct sim_error){SIM_ERROR_NONE, ""};
    lab_scenario_destroy(scenario);
    return is_fine;
}

bool cli_finding_make(const struct cli_args *args, const struct lab_fuzz_base *base,
                      const struct cli_breach *breach, const char *replay, const char *folder,
                      struct cli_finding *out, struct sim_error *error)
{
    *out = (struct cli_finding){.before = *breach, .after = *breach};
    struct trial trial = {.path = base->path != NULL ? base->path : "fuzz",
                          .oracle = breach->oracle,
                          .held = base->held,
                          .out = &out->text,
                          .last = &out->after};
    const struct cli_task task = {.name = "shrinking", .unit = "tries/s", .run = shrink, .context = &trial};
    char *text;
    if (!begin_text(base, breach->seed, &text, error))
        return false;
    trial.text = text;
    bool is_fine = cli_attend(args, &task, NULL, error);
    free(text);
    if (is_fine && trial.error.class != SIM_ERROR_NONE)
        is_fine = sim_fail(error, trial.error.class, "%s", trial.error.text);
    out->tries = trial.tries;
    return is_fine && write_file(base, replay, folder, out, error) &&
           (args->signals->caught != 0 || hear_events(args, trial.path, out, error));
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
    if (finding->lines.length == 0)
        return;
    printf("\nthe last events");
    if (finding->after.key[0] != '\0') {
        printf(" of ");
        cli_print_text(stdout, finding->after.key);
    }
    printf("\n");
    for (const GList *line = finding->lines.head; line != NULL; line = line->next)
        cli_print_line(stdout, "", line->data);
}

void cli_finding_clear(struct cli_finding *finding)
{
    g_queue_clear_full(&finding->lines, g_free);
    free(finding->path);
    free(finding->text);
}

char *cli_finding_stem(const struct lab_fuzz_base *base)
{
    char *stem = base->path == NULL ? g_strdup("fuzz") : g_path_get_basename(base->path);
    char *point = strrchr(stem, '.');
    if (point != NULL && point != stem)
        *point = '\0';
    return g_strcanon(stem, G_CSET_A_2_Z G_CSET_a_2_z "0123456789-_", '-');
}
