/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab fuzz: many seeds with random faults come in, and are checked against the table of guarantees; out
 * go the counts of each guarantee, condition and rare path, as tables or JSON, or the first failure, shrunk
 * (finding.c), and a comparison with a stored campaign (baseline.c). */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "fuzz.h"
#include "kernel/archive.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/crew.h"
#include "lab/fuzz.h"
#include "lab/quantity.h"
#include "lab/run.h"

/* The outcome of a seed, kept until all smaller seeds have been summed up. */
struct outcome {
    bool has_breach;
    struct lab_fuzz_outcome of_run;
    struct cli_breach breach;
};

static bool judge_seed(const struct lab_fuzz_base *base, uint64_t seed, struct lab_progress *progress,
                       struct outcome *outcome, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    struct lab_result *result = NULL;
    struct lab_breach breach;
    const struct lab_run_context context = {.progress = progress, .only_judges = true};
    bool is_fine =
        lab_fuzz_case(base, seed, &scenario, error) && lab_run_in(scenario, 1, &context, &result, error);
    if (is_fine) {
        lab_fuzz_hold(result, base->held);
        lab_fuzz_outcome_of(result, &outcome->of_run);
        outcome->has_breach = lab_breach_find(result, &breach);
        is_fine =
            !outcome->has_breach || cli_breach_describe(scenario, result, &breach, &outcome->breach, error);
    }
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return is_fine;
}

static bool run_seed(void *context, uint64_t job, struct lab_progress *progress, void **made,
                     struct sim_error *error)
{
    const struct cli_campaign *campaign = context;
    *made = g_new0(struct outcome, 1);
    return judge_seed(campaign->base, campaign->first + job, progress, *made, error);
}

/* What another rank needs to run the seeds, in addition to the order's path, text and overrides. */
static void archive_campaign(void *context, struct sim_archive *archive)
{
    struct cli_campaign *campaign = context;
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
    struct cli_campaign *campaign = context;
    g_autofree struct outcome *outcome = made;
    if (outcome->has_breach)
        g_array_append_val(campaign->breaches, outcome->breach);
    campaign->is_out_of_time = campaign->for_ms > 0 && cli_passed_ms(campaign->begin_ms) >= campaign->for_ms;
    *is_enough = (outcome->has_breach && !campaign->keeps_going) || campaign->is_out_of_time;
    return lab_fuzz_tally_add(&campaign->tally, &outcome->of_run) || sim_fail_memory(error);
}

static bool run_seeds(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct cli_campaign *campaign = context;
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

bool cli_breach_describe(const struct lab_scenario *scenario, const struct lab_result *result,
                         const struct lab_breach *breach, struct cli_breach *out, struct sim_error *error)
{
    const struct lab_strategy_result *strategy = &result->strategies[breach->strategy];
    *out = (struct cli_breach){.seed = result->seed,
                               .oracle = breach->oracle,
                               .violation = strategy->verdict.violations[breach->oracle]};
    out->since_ns = out->violation.time_ns - result->start_ns;
    snprintf(out->label, sizeof out->label, "%s", strategy->label);
    return lab_fuzz_key_name(scenario, out->violation.key, out->key, error);
}

bool cli_campaign_serve(const struct lab_team *team, const struct lab_order *order,
                        struct sim_archive *archive, struct sim_error *error)
{
    struct cli_campaign campaign = {.team = *team};
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
static char *rest_line(const struct cli_campaign *campaign)
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
static const struct cli_breach *breach_at(const struct cli_campaign *campaign, guint index)
{
    return index >= campaign->breaches->len ? NULL
                                            : &g_array_index(campaign->breaches, struct cli_breach, index);
}

static double rate_of(const struct cli_campaign *campaign)
{
    int64_t elapsed_ms = campaign->elapsed_ms > 0 ? campaign->elapsed_ms : 1;
    return (double)campaign->tally.seeds * 1000 / (double)elapsed_ms;
}

static void print_head(const struct cli_campaign *campaign)
{
    const struct lab_fuzz_tally *tally = &campaign->tally;
    char seeds[CLI_NUMBER_SIZE], rows[CLI_NUMBER_SIZE], rolls[CLI_NUMBER_SIZE];
    cli_grouped(tally->seeds, seeds);
    cli_grouped(lab_fuzz_median(&tally->rows), rows);
    cli_grouped(lab_fuzz_median(&tally->rolls), rolls);
    printf("%s seed%s from %" PRIu64 " on, %.0f seeds/s; the median seed has %s rows and %s rolls\n", seeds,
           tally->seeds == 1 ? "" : "s", campaign->first, rate_of(campaign), rows, rolls);
    if (campaign->breaches->len == 0)
        printf("no guarantee was broken\n");
}

static void print_breaches(const struct cli_campaign *campaign)
{
    for (guint i = 0; i < campaign->breaches->len && i < LISTED_MAX; i++) {
        const struct cli_breach *breach = breach_at(campaign, i);
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
    json_t *text = json_sprintf("not in %" PRIu64 ":", cell->judged - cell->guaranteed);
    for (unsigned told = 0; told < LAB_CONDITION_COUNT; told++) {
        unsigned most = LAB_CONDITION_COUNT;
        char excused[CLI_NUMBER_SIZE + 16] = "";
        for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
            if (!is_told[i] && cell->lapsed[i] > (most == LAB_CONDITION_COUNT ? 0 : cell->lapsed[most]))
                most = i;
        }
        if (most == LAB_CONDITION_COUNT)
            break;
        is_told[most] = true;
        if (cell->excuses[most] > 0)
            snprintf(excused, sizeof excused, " (%" PRIu64 " violated)", cell->excuses[most]);
        json_t *longer =
            json_sprintf("%s%s %s %" PRIu64 "%s", json_string_value(text), told == 0 ? "" : ",",
                         lab_condition_name((enum lab_condition)most), cell->lapsed[most], excused);
        json_decref(text);
        text = longer;
    }
    return text;
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
static void print(const struct cli_campaign *campaign, const char *replay, const char *rest,
                  const struct cli_finding *finding)
{
    if (finding->path != NULL) {
        cli_finding_print(finding);
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

static json_t *failures_of(const struct cli_campaign *campaign, const struct lab_fuzz_base *base,
                           const struct cli_finding *finding)
{
    json_t *list = json_array();
    for (guint i = 0; i < campaign->breaches->len; i++) {
        const struct cli_breach *breach = breach_at(campaign, i);
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

static json_t *cell_of(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle,
                       const struct lab_fuzz_cell *cell)
{
    bool has_guarantee = is_guaranteed(kind, protocol, oracle);
    return CLI_OBJECT({"excused", conditions_of(cell->excuses)},
                      {"not_guaranteed", conditions_of(cell->lapsed)},
                      {"guaranteed", has_guarantee ? cli_json_whole(cell->guaranteed) : json_null()},
                      {"strategy", json_string(lab_protocol_name(kind, protocol))},
                      {"oracle", json_string(lab_oracle_name(oracle))},
                      {"judged", cli_json_whole(cell->judged)}, {"violated", cli_json_whole(cell->violated)},
                      {"excused_runs", has_guarantee ? cli_json_whole(cell->excused) : json_null()},
                      {"broken", cli_json_whole(cell->broken)});
}

static json_t *guarantees_of(const struct lab_fuzz_tally *tally)
{
    json_t *list = json_array();
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
                const struct lab_fuzz_cell *cell = &tally->cells[kind][protocol][oracle];
                if (cell->judged > 0)
                    list = cli_json_append(
                        list, cell_of((enum bk_kind)kind, protocol, (enum lab_oracle)oracle, cell));
            }
        }
    }
    return list;
}

/* Takes ownership of `baseline`. */
static json_t *as_json(const struct cli_campaign *campaign, const struct lab_fuzz_base *base,
                       const struct cli_finding *finding, json_t *baseline)
{
    const struct lab_fuzz_tally *tally = &campaign->tally;
    return CLI_OBJECT({"baseline", baseline}, {"seeds", cli_json_whole(tally->seeds)},
                      {"seeds_per_second", cli_json_number(rate_of(campaign))},
                      {"first", cli_json_whole(campaign->first)}, {"last", cli_json_whole(campaign->last)},
                      {"next", cli_json_whole(campaign->first + tally->seeds)},
                      {"rows_median", cli_json_whole(lab_fuzz_median(&tally->rows))},
                      {"rolls_median", cli_json_whole(lab_fuzz_median(&tally->rolls))},
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
    {"baseline", "FILE",
     "compare the shares of seeds with a violation that\n"
     "no guarantee covers with those of this file"},
    {"update-baseline", NULL, "with --baseline: make it again, if no guarantee is broken"},
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
    struct cli_campaign campaign;
    struct cli_finding finding;
    struct cli_fuzz_baseline baseline;
    const char *folder;
    char *replay; /* command that replays the first failed seed */
    char *rest;   /* command for the seeds that were not run; NULL: none */
};

/* A campaign that ended early is not compared, and a campaign that broke a guarantee does not become a
 * baseline. */
static bool use_baseline(struct job *job, struct sim_error *error)
{
    const struct cli_campaign *campaign = &job->campaign;
    bool is_whole =
        job->args->signals->caught == 0 && (campaign->breaches->len == 0 || campaign->keeps_going);
    if (job->baseline.path == NULL || !is_whole)
        return true;
    if (!job->baseline.is_update)
        return cli_fuzz_baseline_compare(&job->baseline, &campaign->tally, error);
    return campaign->breaches->len > 0 || cli_fuzz_baseline_write(&job->baseline, campaign, error);
}

/* The number of seeds from which a campaign without a user's scenario must reach every probe. */
#define PROBED_SEEDS 1000u

/* Fails when no seed has reached a probe, since that path is then not tested. */
static bool fail_probes(const struct job *job, struct sim_error *error)
{
    const struct lab_fuzz_tally *tally = &job->campaign.tally;
    char names[640] = "";
    size_t used = 0;
    if (job->base.path != NULL || job->base.override_count > 0 || tally->seeds < PROBED_SEEDS)
        return true;
    for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++) {
        if (tally->probes[probe] == 0 && probe != LAB_PROBE_OPTIONAL && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : ", ",
                                     lab_probe_name((enum lab_probe)probe));
    }
    return used == 0 ||
           sim_fail(error, SIM_ERROR_CHECK,
                    "none of %" PRIu64 " seeds reached these paths, so they are untested: %s; run "
                    "more seeds, or find out why they cannot be reached",
                    tally->seeds, names);
}

/* Whether all is well; otherwise the error says what is not. */
static bool conclude(const struct job *job, struct sim_error *error)
{
    const struct cli_campaign *campaign = &job->campaign;
    const struct cli_breach *first = breach_at(campaign, 0);
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
    return cli_fuzz_baseline_judge(&job->baseline, error) && fail_probes(job, error);
}

/* A campaign that was ended by the time limit or a signal has fewer seeds, and prints how to continue. */
static void end_early(struct job *job)
{
    struct cli_campaign *campaign = &job->campaign;
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
    struct cli_campaign *campaign = &job->campaign;
    const struct cli_task task = {.name = "fuzz", .unit = "seeds/s", .run = run_seeds, .context = campaign};
    lab_fuzz_tally_init(&campaign->tally);
    campaign->begin_ms = cli_now_ms();
    bool is_fine = cli_attend(args, &task, &campaign->elapsed_ms, error);
    if (is_fine && campaign->breaches->len > 0) {
        job->replay = replay_line(&job->base, breach_at(campaign, 0)->seed);
        if (!campaign->keeps_going && args->signals->caught == 0)
            is_fine = cli_finding_make(args, &job->base, breach_at(campaign, 0), job->replay, job->folder,
                                       &job->finding, error);
    }
    if (!is_fine)
        return false;
    end_early(job);
    if (!use_baseline(job, error))
        return false;
    if (args->is_json) {
        cli_json_print(as_json(campaign, &job->base, &job->finding, cli_fuzz_baseline_json(&job->baseline)));
        return conclude(job, error);
    }
    print(campaign, job->replay, job->rest, &job->finding);
    if (job->baseline.worse != NULL)
        cli_fuzz_baseline_print(&job->baseline);
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

static bool read_seeds(const struct cli_args *args, struct cli_campaign *campaign, struct sim_error *error)
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
    struct cli_campaign *campaign = &job->campaign;
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
    job->baseline.path = cli_value(args, "baseline", NULL);
    job->baseline.is_update = cli_has(args, "update-baseline");
    /* Errors in the user's file are found before any thread is started. */
    struct lab_scenario *scenario;
    if (!lab_fuzz_scenario(&job->base, campaign->first, &scenario, error))
        return false;
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    struct cli_outputs outputs = {NULL};
    if (job->base.path != NULL)
        cli_outputs_scenario(&outputs, scenario);
    g_autofree char *name = cli_finding_stem(&job->base);
    cli_outputs_finding(&outputs, job->folder, name);
    if (job->baseline.is_update)
        cli_outputs_file(&outputs, "baseline", job->baseline.path);
    else
        cli_outputs_input(&outputs, "the baseline", job->baseline.path);
    bool is_apart = cli_outputs_check(&outputs, error);
    if (is_apart && !args->is_quiet)
        cli_warnings_files(stderr, scenario);
    lab_scenario_destroy(scenario);
    if (!is_apart || !cli_fuzz_baseline_read(&job->baseline, &job->base, error))
        return false;
    return is_cluster || sim_fail(error, SIM_ERROR_INPUT,
                                  "%s: no agents, and without them nothing can go wrong; leave 'agents' out "
                                  "to have them drawn",
                                  job->base.path);
}

static bool print_scenarios(const struct job *job, struct sim_error *error)
{
    for (uint64_t seed = job->campaign.first; seed <= job->campaign.last; seed++) {
        struct lab_scenario *scenario;
        if (!lab_fuzz_scenario(&job->base, seed, &scenario, error))
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
    job.campaign.breaches = g_array_new(FALSE, TRUE, sizeof(struct cli_breach));
    bool is_fine =
        read_job(&job, error) && (cli_has(args, "print") ? print_scenarios(&job, error) : fuzz(&job, error));
    lab_fuzz_tally_clear(&job.campaign.tally);
    g_array_free(job.campaign.breaches, TRUE);
    cli_finding_clear(&job.finding);
    cli_fuzz_baseline_clear(&job.baseline);
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
               "  bucketlab fuzz my.yaml --seeds 1..500 --baseline shares.json\n"
               "  bucketlab fuzz --for 60s\n"
               "  bucketlab fuzz --seeds 17..17 --print\n",
    .options = options,
    .least = 0,
    .most = 1,
    .run = run,
};
