/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab fuzz: many seeds with random faults come in, and are checked against the table of guarantees; out
 * go the counts of each guarantee, condition and rare path, as tables or JSON, or the first failure, shrunk
 * and written to a file, with the event trace of its key and the command that replays it. Seeds are started
 * and added up in order, so the result does not depend on the number of threads or ranks. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "cli/run.h"
#include "kernel/archive.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/fuzz.h"
#include "lab/quantity.h"
#include "lab/run.h"
#include "lab/team.h"
#include "reports/reports.h"

/* A guarantee that a seed broke. */
struct breach {
    uint64_t seed;
    char label[LAB_LABEL_SIZE_MAX + 1]; /* of the strategy */
    enum lab_oracle oracle;
    struct lab_violation violation;
    int64_t since_ns;            /* time of the first violation, since the start of the run */
    char key[LAB_KEY_NAME_SIZE]; /* "": the violation is not of a single key */
};

struct campaign {
    /* Set by the caller. */
    const struct lab_fuzz_base *base;
    uint32_t held;        /* of base, for other ranks */
    uint64_t first, last; /* at most INT64_MAX */
    int64_t for_ms; /* time limit: the first seed that ends after it is the last one counted; 0: no limit */
    uint32_t jobs;
    struct lab_team team;
    bool keeps_going; /* continue after the first broken guarantee */
    /* The results, up to the first broken guarantee or to the end. */
    struct lab_fuzz_tally tally;
    GArray *breaches; /* struct breach, in the order of seeds */
    int64_t begin_ms, elapsed_ms;
    bool is_out_of_time;
};

/* The outcome of a seed, kept until all smaller seeds have been summed up. */
struct outcome {
    bool has_breach;
    struct lab_fuzz_outcome of_run;
    struct breach breach;
};

/* False when out of memory, or when the trace of its keys cannot be read. */
static bool describe_breach(const struct lab_scenario *scenario, const struct lab_result *result,
                            const struct lab_breach *breach, struct breach *out, struct sim_error *error)
{
    const struct lab_strategy_result *strategy = &result->strategies[breach->strategy];
    *out = (struct breach){.seed = result->seed,
                           .oracle = breach->oracle,
                           .violation = strategy->verdict.violations[breach->oracle]};
    out->since_ns = out->violation.time_ns - result->start_ns;
    snprintf(out->label, sizeof out->label, "%s", strategy->label);
    return lab_fuzz_key_name(scenario, out->violation.key, out->key, error);
}

static bool judge_seed(const struct lab_fuzz_base *base, uint64_t seed, struct lab_progress *progress,
                       struct outcome *outcome, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    struct lab_result *result = NULL;
    struct lab_breach breach;
    const struct lab_run_context context = {.progress = progress, .only_judges = true};
    bool is_fine = lab_fuzz_scenario(base, seed, false, &scenario, error) &&
                   lab_run_in(scenario, 1, &context, &result, error);
    if (is_fine) {
        lab_fuzz_hold(result, base->held);
        lab_fuzz_outcome_of(result, &outcome->of_run);
        outcome->has_breach = lab_breach_find(result, &breach);
        is_fine = !outcome->has_breach || describe_breach(scenario, result, &breach, &outcome->breach, error);
    }
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return is_fine;
}

static bool run_seed(void *context, uint64_t job, struct lab_progress *progress, void **made,
                     struct sim_error *error)
{
    const struct campaign *campaign = context;
    *made = g_new0(struct outcome, 1);
    return judge_seed(campaign->base, campaign->first + job, progress, *made, error);
}

/* What another rank needs to run the seeds, in addition to the order's path, text and overrides. */
static void archive_campaign(void *context, struct sim_archive *archive)
{
    struct campaign *campaign = context;
    sim_archive_u64(archive, &campaign->first);
    sim_archive_u64(archive, &campaign->last);
    sim_archive_u32(archive, &campaign->held);
}

static void archive_outcome(void *context, void **made, struct sim_archive *archive)
{
    (void)context;
    if (archive->is_loading)
        *made = sim_archive_allocate(archive, 1, sizeof(struct outcome), 1);
    if (*made != NULL)
        sim_archive_bytes(archive, *made, sizeof(struct outcome));
}

static bool sum_up(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    (void)job;
    struct campaign *campaign = context;
    g_autofree struct outcome *outcome = made;
    if (outcome->has_breach)
        g_array_append_val(campaign->breaches, outcome->breach);
    campaign->is_out_of_time = campaign->for_ms > 0 && cli_passed_ms(campaign->begin_ms) >= campaign->for_ms;
    *is_enough = (outcome->has_breach && !campaign->keeps_going) || campaign->is_out_of_time;
    return lab_fuzz_tally_add(&campaign->tally, &outcome->of_run) || sim_fail_memory(error);
}

static bool run_seeds(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct campaign *campaign = context;
    const struct lab_fuzz_base *base = campaign->base;
    GString *lines = g_string_new("");
    for (size_t i = 0; i < base->override_count; i++)
        g_string_append_printf(lines, "%s%s", i == 0 ? "" : "\n", base->overrides[i].text);
    /* Removing const is safe: an order that is sent keeps its texts. */
    struct lab_order order = {.service = LAB_SERVICE_SEEDS,
                              .path = (char *)(uintptr_t)base->path,
                              .text = (char *)(uintptr_t)base->text,
                              .overrides = lines->str};
    const struct lab_crew crew = {.context = campaign,
                                  .count = campaign->last - campaign->first + 1,
                                  .is_open = campaign->for_ms > 0,
                                  .work = run_seed,
                                  .take = sum_up,
                                  .drop = free,
                                  .team = &campaign->team,
                                  .order = &order,
                                  .more = archive_campaign,
                                  .archive = archive_outcome};
    uint64_t taken;
    campaign->held = base->held;
    bool is_fine = lab_crew_run(&crew, campaign->jobs, progress, &taken, error);
    g_string_free(lines, TRUE);
    return is_fine;
}

bool cli_campaign_serve(const struct lab_team *team, const struct lab_order *order,
                        struct sim_archive *archive, struct sim_error *error)
{
    struct campaign campaign = {.team = *team};
    archive_campaign(&campaign, archive);
    g_auto(GStrv) lines = g_strsplit(order->overrides == NULL ? "" : order->overrides, "\n", -1);
    struct lab_fuzz_base base = {.path = order->path,
                                 .text = order->text,
                                 .size = order->text == NULL ? 0 : strlen(order->text),
                                 .override_count = g_strv_length(lines),
                                 .held = campaign.held};
    g_autofree struct lab_override *overrides = g_new0(struct lab_override, base.override_count);
    for (size_t i = 0; i < base.override_count; i++)
        overrides[i].text = lines[i];
    base.overrides = overrides;
    campaign.base = &base;
    campaign.jobs = lab_team_threads(team, ranks_own(team->ranks));
    return sim_archive_finish_load(archive, error) && run_seeds(&campaign, NULL, error);
}

/* --- The first broken guarantee, shrunk. */

struct finding {
    struct breach before, after; /* before and after shrinking */
    char *path;                  /* path of the written file */
    char *text;                  /* text of the scenario in the file */
    uint32_t tries;              /* number of tests while shrinking */
    GQueue lines;                /* the last lines of the event trace of the key */
};

/* The beginning of the file's name: "fuzz", or the name of the scenario's file without its extension. The
 * caller must free it. */
static char *stem_of(const struct lab_fuzz_base *base)
{
    char *stem = base->path == NULL ? g_strdup("fuzz") : g_path_get_basename(base->path);
    char *point = strrchr(stem, '.');
    if (point != NULL && point != stem)
        *point = '\0';
    return g_strcanon(stem, G_CSET_A_2_Z G_CSET_a_2_z "0123456789-_", '-');
}

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
    struct breach *last; /* breach of the smallest scenario so far */
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
    if (!lab_fuzz_scenario(base, seed, true, &scenario, error))
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
                      describe_breach(scenario, result, &breach, trial->last, &error);
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
                       struct finding *finding, struct sim_error *error)
{
    const struct breach *breach = &finding->after;
    const char *oracle = lab_oracle_name(breach->oracle);
    g_autofree char *stem = stem_of(base),
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
    g_autofree char *path = g_build_filename(folder, file, NULL);
    bool is_fine = cli_file_write(path, whole->str, whole->len, error);
    if (is_fine)
        finding->path = g_steal_pointer(&path);
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

static bool hear_events(const struct cli_args *args, const char *path, struct finding *finding,
                        struct sim_error *error)
{
    const struct breach *breach = &finding->after;
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

/* Shrinks the scenario of the seed as long as the same oracle is broken, writes it into `folder`, which is
 * created if it is missing, and records its event trace. The file appears only when it is complete. A signal
 * ends the shrinking; the smallest scenario so far is still written. */
static bool make_finding(const struct cli_args *args, const struct lab_fuzz_base *base,
                         const struct breach *breach, const char *replay, const char *folder,
                         struct finding *out, struct sim_error *error)
{
    *out = (struct finding){.before = *breach, .after = *breach};
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

static void print_breach(const struct breach *breach)
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

static void print_finding(const struct finding *finding)
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

static void clear_finding(struct finding *finding)
{
    g_queue_clear_full(&finding->lines, g_free);
    free(finding->path);
    free(finding->text);
}

static void print_guarantee(const struct lab_guarantee *guarantee)
{
    printf("| `%s` | `%s` | ", lab_protocol_name(guarantee->kind, guarantee->protocol),
           lab_oracle_name(guarantee->oracle));
    const char *comma = "";
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
        if (guarantee->except >> i & 1) {
            printf("%s`%s`", comma, lab_condition_name((enum lab_condition)i));
            comma = ", ";
        }
    }
    printf("%s|\n", guarantee->except == 0 ? "" : " ");
}

/* Prints the table of guarantees and their exceptions for docs/oracles.md. */
static void print_all_guarantees(void)
{
    printf("| strategy | guarantees | unless |\n|---|---|---|\n");
    for (size_t i = 0; i < lab_guarantee_count; i++)
        print_guarantee(&lab_guarantees[i]);
}

#define LISTED_MAX 20u /* the most broken guarantees that are listed */

static char *line_of(const struct lab_fuzz_base *base, const char *seeds)
{
    char *line = g_strdup("bucketlab fuzz");
    if (base->path != NULL)
        line = cli_line_with(line, base->path);
    for (size_t i = 0; i < base->override_count; i++)
        line = cli_line_with(cli_line_with(line, "--set"), base->overrides[i].text);
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
        if (base->held >> i & 1)
            line = cli_line_with(cli_line_with(line, "--hold"), lab_condition_name((enum lab_condition)i));
    }
    return cli_line_with(cli_line_with(line, "--seeds"), seeds);
}

/* The command that replays a seed, for a shell: "bucketlab fuzz my.yaml --seeds 17..17". */
static char *replay_line(const struct lab_fuzz_base *base, uint64_t seed)
{
    g_autofree char *seeds = g_strdup_printf("%" PRIu64 "..%" PRIu64, seed, seed);
    return line_of(base, seeds);
}

/* The command for the seeds that a campaign did not run: "bucketlab fuzz my.yaml --seeds 1001.. --for 60s".
 * It leaves out options that do not change results. */
static char *rest_line(const struct campaign *campaign)
{
    char last[CLI_NUMBER_SIZE] = "", time[CLI_NUMBER_SIZE];
    if (campaign->last < INT64_MAX)
        snprintf(last, sizeof last, "%" PRIu64, campaign->last);
    g_autofree char *seeds =
        g_strdup_printf("%" PRIu64 "..%s", campaign->first + campaign->tally.seeds, last);
    char *line = line_of(campaign->base, seeds);
    lab_quantity_duration_text(campaign->for_ms * SIM_MS, time, sizeof time);
    if (campaign->for_ms > 0)
        line = cli_line_with(cli_line_with(line, "--for"), time);
    return campaign->keeps_going ? cli_line_with(line, "--keep-going") : line;
}

/* NULL: there are fewer. */
static const struct breach *breach_at(const struct campaign *campaign, guint index)
{
    return index >= campaign->breaches->len ? NULL : &g_array_index(campaign->breaches, struct breach, index);
}

static double rate_of(const struct campaign *campaign)
{
    int64_t elapsed_ms = campaign->elapsed_ms > 0 ? campaign->elapsed_ms : 1;
    return (double)campaign->tally.seeds * 1000 / (double)elapsed_ms;
}

static void print_head(const struct campaign *campaign)
{
    const struct lab_fuzz_tally *tally = &campaign->tally;
    char seeds[CLI_NUMBER_SIZE], rows[CLI_NUMBER_SIZE], rolls[CLI_NUMBER_SIZE];
    cli_grouped(tally->seeds, seeds);
    cli_grouped(lab_histogram_quantile(&tally->rows, 0.5), rows);
    cli_grouped(lab_histogram_quantile(&tally->rolls, 0.5), rolls);
    printf("%s seed%s from %" PRIu64 " on, %.0f seeds/s; the median seed has %s rows and %s rolls\n", seeds,
           tally->seeds == 1 ? "" : "s", campaign->first, rate_of(campaign), rows, rolls);
    if (campaign->breaches->len == 0)
        printf("no guarantee was broken\n");
}

static void print_breaches(const struct campaign *campaign)
{
    for (guint i = 0; i < campaign->breaches->len && i < LISTED_MAX; i++) {
        const struct breach *breach = breach_at(campaign, i);
        printf("seed %" PRIu64 ": ", breach->seed);
        cli_print_text(stdout, breach->label);
        printf(" breaks '%s'%s", lab_oracle_name(breach->oracle), breach->key[0] == '\0' ? "" : " of ");
        cli_print_text(stdout, breach->key);
        printf(": ");
        cli_print_text(stdout, breach->violation.text);
        putchar('\n');
    }
    if (campaign->breaches->len > LISTED_MAX)
        printf("and %u more\n", campaign->breaches->len - LISTED_MAX);
    putchar('\n');
}

static bool is_guaranteed(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle)
{
    return lab_guarantee_find(kind, protocol, oracle) != NULL;
}

/* Tells, per condition, the number of runs in which it suspended the guarantee for some key at some time,
 * most frequent first, and in how many of these it excused a violation. */
static json_t *lapses_of(const struct lab_fuzz_cell *cell)
{
    bool is_told[LAB_CONDITION_COUNT] = {false};
    g_autoptr(GString) text = g_string_new("");
    g_string_append_printf(text, "not in %" PRIu64 ":", cell->judged - cell->guaranteed);
    for (unsigned told = 0; told < LAB_CONDITION_COUNT; told++) {
        unsigned most = LAB_CONDITION_COUNT;
        for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
            if (!is_told[i] && cell->lapsed[i] > (most == LAB_CONDITION_COUNT ? 0 : cell->lapsed[most]))
                most = i;
        }
        if (most == LAB_CONDITION_COUNT)
            break;
        is_told[most] = true;
        g_string_append_printf(text, "%s %s %" PRIu64, told == 0 ? "" : ",",
                               lab_condition_name((enum lab_condition)most), cell->lapsed[most]);
        if (cell->excuses[most] > 0)
            g_string_append_printf(text, " (%" PRIu64 " violated)", cell->excuses[most]);
    }
    return json_string(text->str);
}

/* In how many runs the oracle was guaranteed and broken, and why it was not guaranteed in the others. */
static json_t *row_of(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle,
                      const struct lab_fuzz_cell *cell)
{
    const bool has_guarantee = is_guaranteed(kind, protocol, oracle);
    return CLI_OBJECT({"name", json_sprintf("  %s", lab_oracle_name(oracle))},
                      {"judged", cli_json_whole(cell->judged)},
                      {"guaranteed", has_guarantee ? cli_json_whole(cell->guaranteed) : json_string("-")},
                      {"broken", has_guarantee ? cli_json_whole(cell->broken) : json_string("-")},
                      {"violated", cli_json_whole(cell->violated)},
                      {"why", !has_guarantee                    ? json_string("never guaranteed")
                              : cell->guaranteed < cell->judged ? lapses_of(cell)
                                                                : json_string("")});
}

/* Returns the conditions that suspended an oracle. */
static uint32_t print_guarantees(const struct lab_fuzz_tally *tally)
{
    static const struct cli_column columns[] = {{"in numbers of runs", "name", CLI_LABEL, .group = NULL},
                                                {"judged", "judged", CLI_EXACT, .group = NULL},
                                                {"guaranteed", "guaranteed", CLI_EXACT, .group = NULL},
                                                {"broken", "broken", CLI_EXACT, .group = NULL},
                                                {"violated", "violated", CLI_EXACT, .group = NULL},
                                                {"", "why", CLI_WORDS, .group = NULL}};
    uint64_t not_live = 0;
    uint32_t named = 0;
    bool has_unbroken = false;
    json_t *rows = json_array();
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            const uint64_t runs = tally->runs[kind][protocol];
            const struct lab_fuzz_cell *cells = tally->cells[kind][protocol];
            if (runs > 0)
                rows = cli_json_append(
                    rows, CLI_OBJECT({"name", json_sprintf("%s, %" PRIu64 " run%s",
                                                           lab_protocol_name((enum bk_kind)kind, protocol),
                                                           runs, runs == 1 ? "" : "s")},
                                     {"judged", json_string("")}, {"guaranteed", json_string("")},
                                     {"broken", json_string("")}, {"violated", json_string("")}));
            for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
                if (cells[oracle].judged > 0)
                    rows = cli_json_append(
                        rows, row_of((enum bk_kind)kind, protocol, (enum lab_oracle)oracle, &cells[oracle]));
                for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++)
                    named |= (uint32_t)(cells[oracle].lapsed[i] > 0) << i;
                has_unbroken = has_unbroken || cells[oracle].violated > cells[oracle].broken;
            }
            if (bk_kind_fires((enum bk_kind)kind))
                not_live += runs - cells[LAB_ORACLE_LIVE].judged;
        }
    }
    putchar('\n');
    cli_table_print(stdout, &(struct cli_table){.rows = rows, .columns = columns, .count = 6, .gap = 2});
    if (has_unbroken)
        printf("violated but not broken: the strategy does not guarantee this, or a condition excused it\n");
    if (not_live > 0)
        printf("live was not judged in %" PRIu64 " run%s: too little time was left after the faults\n",
               not_live, not_live == 1 ? "" : "s");
    json_decref(rows);
    return named;
}

/* The meaning of each condition that the table names. */
static void print_conditions(uint32_t named)
{
    if (named != 0)
        printf("\nconditions that suspend a guarantee, for a key and a time\n");
    for (unsigned condition = 0; condition < LAB_CONDITION_COUNT; condition++) {
        if (named >> condition & 1)
            printf("  %-22s %s\n", lab_condition_name((enum lab_condition)condition),
                   lab_condition_about((enum lab_condition)condition));
    }
}

static void print_probes(const struct lab_fuzz_tally *tally)
{
    static const struct cli_column columns[] = {{"rare paths", "name", CLI_LABEL, .group = NULL},
                                                {"seeds", "seeds", CLI_EXACT, .group = NULL},
                                                {"share", "seeds", CLI_SHARE, .per = "all"}};
    json_t *rows = json_array();
    for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++)
        rows = cli_json_append(rows, CLI_OBJECT({"name", json_string(lab_probe_name((enum lab_probe)probe))},
                                                {"seeds", cli_json_whole(tally->probes[probe])},
                                                {"all", cli_json_whole(tally->seeds)}));
    putchar('\n');
    cli_table_print(stdout, &(struct cli_table){.rows = rows, .columns = columns, .count = 3, .gap = 2});
    json_decref(rows);
}

/* rest: NULL when there is none. */
static void print(const struct campaign *campaign, const char *replay, const char *rest,
                  const struct finding *finding)
{
    if (finding->path != NULL) {
        print_finding(finding);
        char *line = cli_line_with(g_strdup("bucketlab run"), finding->path);
        line = cli_line_with(cli_line_with(cli_line_with(line, "--no-charts"), "--trace-events"), "-");
        if (finding->after.key[0] != '\0')
            line = cli_line_with(cli_line_with(line, "--key"), finding->after.key);
        cli_print_line(stdout, "\nagain:  ", replay);
        cli_print_line(stdout, "shrunk: ", line);
        putchar('\n');
        g_free(line);
    } else if (campaign->breaches->len > 0) {
        print_breaches(campaign);
    }
    print_head(campaign);
    if (campaign->breaches->len == 0 || campaign->keeps_going) {
        print_conditions(print_guarantees(&campaign->tally));
        print_probes(&campaign->tally);
    }
    if (rest != NULL)
        cli_print_line(stdout, "\nnext seeds: ", rest);
}

static json_t *probes_of(const struct lab_fuzz_tally *tally)
{
    json_t *object = json_object();
    for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++)
        object = cli_json_with(object, lab_probe_name((enum lab_probe)probe),
                               cli_json_whole(tally->probes[probe]));
    return object;
}

static json_t *failures_of(const struct campaign *campaign, const struct lab_fuzz_base *base,
                           const struct finding *finding)
{
    json_t *list = json_array();
    for (guint i = 0; i < campaign->breaches->len; i++) {
        const struct breach *breach = breach_at(campaign, i);
        g_autofree char *replay = replay_line(base, breach->seed);
        list = cli_json_append(
            list,
            CLI_OBJECT({"seed", cli_json_whole(breach->seed)}, {"strategy", json_string(breach->label)},
                       {"oracle", json_string(lab_oracle_name(breach->oracle))},
                       {"key", cli_json_words(breach->key[0] == '\0' ? NULL : breach->key)},
                       {"seconds", cli_json_number((double)breach->since_ns / 1e9)},
                       {"violations", cli_json_whole(breach->violation.count)},
                       {"text", json_string(breach->violation.text)}, {"replay", cli_json_words(replay)},
                       {"scenario", cli_json_words(i == 0 ? finding->path : NULL)}));
    }
    return list;
}

/* Numbers of runs per condition, without zeros. */
static json_t *conditions_of(const uint64_t runs[LAB_CONDITION_COUNT])
{
    json_t *object = json_object();
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
        if (runs[i] > 0)
            object =
                cli_json_with(object, lab_condition_name((enum lab_condition)i), cli_json_whole(runs[i]));
    }
    return object;
}

static json_t *cell_of(enum bk_kind kind, unsigned protocol, unsigned share, const struct lab_fuzz_cell *cell)
{
    bool has_guarantee = is_guaranteed(kind, protocol, (enum lab_oracle)share);
    return CLI_OBJECT({"excused", conditions_of(cell->excuses)},
                      {"not_guaranteed", conditions_of(cell->lapsed)},
                      {"guaranteed", has_guarantee ? cli_json_whole(cell->guaranteed) : json_null()},
                      {"strategy", json_string(lab_protocol_name(kind, protocol))},
                      {"oracle", json_string(lab_fuzz_share_name(share))},
                      {"judged", cli_json_whole(cell->judged)}, {"violated", cli_json_whole(cell->violated)},
                      {"excused_runs", has_guarantee ? cli_json_whole(cell->excused) : json_null()},
                      {"broken", cli_json_whole(cell->broken)});
}

static json_t *guarantees_of(const struct lab_fuzz_tally *tally)
{
    json_t *list = json_array();
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            for (unsigned share = 0; share < LAB_FUZZ_SHARES; share++) {
                const struct lab_fuzz_cell *cell = &tally->cells[kind][protocol][share];
                if (cell->judged > 0)
                    list = cli_json_append(list, cell_of((enum bk_kind)kind, protocol, share, cell));
            }
        }
    }
    return list;
}

static json_t *as_json(const struct campaign *campaign, const struct lab_fuzz_base *base,
                       const struct finding *finding)
{
    const struct lab_fuzz_tally *tally = &campaign->tally;
    return CLI_OBJECT({"seeds", cli_json_whole(tally->seeds)},
                      {"seeds_per_second", cli_json_number(rate_of(campaign))},
                      {"first", cli_json_whole(campaign->first)}, {"last", cli_json_whole(campaign->last)},
                      {"next", cli_json_whole(campaign->first + tally->seeds)},
                      {"rows_median", cli_json_whole(lab_histogram_quantile(&tally->rows, 0.5))},
                      {"rolls_median", cli_json_whole(lab_histogram_quantile(&tally->rolls, 0.5))},
                      {"guarantees", guarantees_of(tally)}, {"probes", probes_of(tally)},
                      {"failures", failures_of(campaign, base, finding)});
}

static const struct cli_option options[] = {
    {"seeds", "A..B", "which seeds (default 1..1000); A.. with --for"},
    {"for", "DURATION", "run seeds for this real time, as in 60s; from seed\n1, or from A with --seeds A.."},
    {"set", "PATH=VALUE",
     "fix one field of every seed's scenario, as in\n"
     "agents.count=4; repeatable"},
    {"hold", "CONDITION",
     "do not accept this condition as an excuse, as in\n"
     "changes_at_once; repeatable (docs/oracles.md)"},
    {"keep-going", NULL, "do not stop at the first failure; shrink none"},
    {"print", NULL, "print the scenarios of the seeds, run nothing"},
    {"guarantees", NULL, "print the table of guarantees, run nothing"},
    {CLI_OPTION_JOBS},
    {"out", "DIR",
     "folder of the shrunk scenario (default\n"
     "bucketlab-out)"},
    {NULL, NULL, NULL}};

struct job {
    const struct cli_args *args;
    struct lab_fuzz_base base;
    char *text;
    struct lab_override *overrides;
    struct campaign campaign;
    struct finding finding;
    const char *folder;
    char *replay; /* command that replays the first failed seed */
    char *rest;   /* command for the seeds that were not run; NULL: none */
};

/* The number of seeds from which a campaign without a user's scenario must reach every probe. */
#define PROBED_SEEDS 1000u

/* Fails when no seed has reached a probe, since that path is then not tested. */
static bool fail_probes(const struct job *job, struct sim_error *error)
{
    const struct lab_fuzz_tally *tally = &job->campaign.tally;
    g_autoptr(GString) names = g_string_new("");
    if (job->base.path != NULL || job->base.override_count > 0 || tally->seeds < PROBED_SEEDS)
        return true;
    for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++) {
        if (tally->probes[probe] == 0 && probe != LAB_PROBE_OPTIONAL)
            g_string_append_printf(names, "%s%s", names->len == 0 ? "" : ", ",
                                   lab_probe_name((enum lab_probe)probe));
    }
    return names->len == 0 ||
           sim_fail(error, SIM_ERROR_CHECK,
                    "none of %" PRIu64 " seeds reached these paths, so they are untested: %s; run "
                    "more seeds, or find out why they cannot be reached",
                    tally->seeds, names->str);
}

/* Whether all is well; otherwise the error says what is not. */
static bool conclude(const struct job *job, struct sim_error *error)
{
    const struct campaign *campaign = &job->campaign;
    const struct breach *first = breach_at(campaign, 0);
    if (campaign->breaches->len > 1)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "%u of %" PRIu64 " seeds break a guarantee, the first of them: %s",
                        campaign->breaches->len, campaign->tally.seeds, job->replay);
    if (campaign->breaches->len > 0)
        return sim_fail(error, SIM_ERROR_CHECK, "seed %" PRIu64 ": %s breaks its guarantee '%s'; again: %s",
                        first->seed, first->label, lab_oracle_name(first->oracle), job->replay);
    if (job->args->signals->caught != 0)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "interrupted after %" PRIu64 " seeds; what they found is above",
                        campaign->tally.seeds);
    return fail_probes(job, error);
}

/* A campaign that was ended by the time limit or a signal has fewer seeds, and prints how to continue. */
static void end_early(struct job *job)
{
    struct campaign *campaign = &job->campaign;
    uint64_t tried = campaign->tally.seeds;
    if ((!campaign->is_out_of_time && job->args->signals->caught == 0) ||
        (campaign->breaches->len > 0 && !campaign->keeps_going) || tried > campaign->last - campaign->first)
        return;
    job->rest = rest_line(campaign);
    if (campaign->is_out_of_time)
        campaign->last = campaign->first + tried - 1;
}

static bool fuzz(struct job *job, struct sim_error *error)
{
    const struct cli_args *args = job->args;
    struct campaign *campaign = &job->campaign;
    const struct cli_task task = {.name = "fuzz", .unit = "seeds/s", .run = run_seeds, .context = campaign};
    lab_fuzz_tally_init(&campaign->tally);
    campaign->begin_ms = cli_now_ms();
    bool is_fine = cli_attend(args, &task, &campaign->elapsed_ms, error);
    if (is_fine && campaign->breaches->len > 0) {
        job->replay = replay_line(&job->base, breach_at(campaign, 0)->seed);
        if (!campaign->keeps_going && args->signals->caught == 0)
            is_fine = make_finding(args, &job->base, breach_at(campaign, 0), job->replay, job->folder,
                                   &job->finding, error);
    }
    if (!is_fine)
        return false;
    end_early(job);
    if (args->is_json)
        cli_json_print(as_json(campaign, &job->base, &job->finding));
    else
        print(campaign, job->replay, job->rest, &job->finding);
    return conclude(job, error);
}

static bool read_held(const struct cli_args *args, uint32_t *held, struct sim_error *error)
{
    const char *names[LAB_CONDITION_COUNT], *name;
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++)
        names[i] = lab_condition_name((enum lab_condition)i);
    for (size_t nth = 0; (name = cli_value_at(args, "hold", nth)) != NULL; nth++) {
        unsigned condition = 0;
        while (condition < LAB_CONDITION_COUNT && strcmp(names[condition], name) != 0)
            condition++;
        if (condition == LAB_CONDITION_COUNT) {
            const char *nearest = sim_nearest(name, names, LAB_CONDITION_COUNT);
            return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --hold %s: no such condition; %s%s%s", name,
                            nearest == NULL ? "docs/oracles.md lists them" : "did you mean '",
                            nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
        }
        *held |= 1u << condition;
    }
    return true;
}

static bool read_base(const struct cli_args *args, struct job *job, struct sim_error *error)
{
    job->base.path = cli_argument(args, 0);
    if (!cli_overrides(args, &job->overrides, &job->base.override_count, error) ||
        !read_held(args, &job->base.held, error) ||
        (job->base.path != NULL && !lab_scenario_text(job->base.path, &job->text, &job->base.size, error)))
        return false;
    job->base.overrides = job->overrides;
    job->base.text = job->text;
    return true;
}

static bool read_seeds(const struct cli_args *args, struct campaign *campaign, struct sim_error *error)
{
    const char *text = cli_value(args, "seeds", campaign->for_ms > 0 ? "1.." : "1..1000");
    const bool is_open = campaign->for_ms > 0 && g_str_has_suffix(text, "..");
    g_autofree char *whole = is_open ? g_strdup_printf("%s%" PRId64, text, INT64_MAX) : g_strdup(text);
    if (!cli_pair(whole, "..", &campaign->first, &campaign->last))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds %s: not a range; give two whole numbers, as in --seeds 1..1000",
                        text);
    if (campaign->last < campaign->first && !is_open)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds %s: ends before it begins; write the smaller number first", text);
    if (campaign->last > INT64_MAX || campaign->first > INT64_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds %s: out of range; seeds are 0 to %" PRId64, text, INT64_MAX);
    return true;
}

static bool read_job(struct job *job, struct sim_error *error)
{
    const struct cli_args *args = job->args;
    struct campaign *campaign = &job->campaign;
    int64_t for_ns = 0;
    campaign->base = &job->base;
    campaign->keeps_going = cli_has(args, "keep-going");
    campaign->jobs = args->jobs;
    campaign->team = args->team;
    job->folder = cli_value(args, "out", "bucketlab-out");
    if (!cli_exclude(args, "for", "print", error) || !cli_duration(args, "for", SIM_MS, &for_ns, error))
        return false;
    campaign->for_ms = for_ns / SIM_MS;
    if (!read_seeds(args, campaign, error) || !read_base(args, job, error) ||
        !cli_folder_check(job->folder, error))
        return false;
    /* Errors in the user's file are found before any thread is started. */
    struct lab_scenario *scenario;
    if (!lab_fuzz_scenario(&job->base, campaign->first, true, &scenario, error))
        return false;
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    struct cli_outputs outputs = {NULL};
    if (job->base.path != NULL)
        cli_outputs_scenario(&outputs, scenario);
    g_autofree char *name = stem_of(&job->base);
    cli_outputs_finding(&outputs, job->folder, name);
    bool is_apart = cli_outputs_check(&outputs, error);
    if (is_apart && !args->is_quiet)
        cli_warnings_files(stderr, scenario);
    lab_scenario_destroy(scenario);
    return is_apart && (is_cluster || sim_fail(error, SIM_ERROR_INPUT,
                                               "%s: no agents, and without them nothing can go wrong; leave "
                                               "'agents' out to have them drawn",
                                               job->base.path));
}

static bool print_scenarios(const struct job *job, struct sim_error *error)
{
    for (uint64_t seed = job->campaign.first; seed <= job->campaign.last; seed++) {
        struct lab_scenario *scenario;
        if (!lab_fuzz_scenario(&job->base, seed, true, &scenario, error))
            return false;
        if (seed > job->campaign.first)
            puts("---");
        fputs(scenario->text, stdout);
        lab_scenario_destroy(scenario);
        if (ferror(stdout))
            break;
    }
    return true;
}

static bool run(const struct cli_args *args, struct sim_error *error)
{
    struct job job = {.args = args};
    if (cli_has(args, "guarantees")) {
        print_all_guarantees();
        return true;
    }
    job.campaign.breaches = g_array_new(FALSE, TRUE, sizeof(struct breach));
    bool is_fine =
        read_job(&job, error) && (cli_has(args, "print") ? print_scenarios(&job, error) : fuzz(&job, error));
    lab_fuzz_tally_clear(&job.campaign.tally);
    g_array_free(job.campaign.breaches, TRUE);
    clear_finding(&job.finding);
    g_free(job.replay);
    g_free(job.rest);
    g_free(job.overrides);
    free(job.text);
    return is_fine;
}

const struct cli_command cli_fuzz = {
    .name = "fuzz",
    .arguments = "[SCENARIO]",
    .summary = "try many seeds with random faults; shrink the first that fails",
    .example = "  bucketlab fuzz --seeds 1..10000\n"
               "  bucketlab fuzz my.yaml --seeds 1..500 --jobs 2\n"
               "  bucketlab fuzz --for 60s\n"
               "  bucketlab fuzz --seeds 17..17 --print\n",
    .options = options,
    .least = 0,
    .most = 1,
    .run = run,
};
