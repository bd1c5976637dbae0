/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tune SCENARIO: a race of settings. The settings that the table lists are then run once more, stored and
 * drawn. As in `run`, everything is checked before anything is run, and everything is run before the answer
 * is stored. The outcomes of runs are stored meanwhile, in case tune is interrupted. */
#define _XOPEN_SOURCE 700
#include "tune_scenario.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bucketing/setting.h"
#include "cli/base.h"
#include "cli/contest_answer.h"
#include "cli/result.h"
#include "cli/run.h"
#include "kernel/digest.h"
#include "lab/context.h"
#include "lab/quantity.h"
#include "lab/setting.h"
#include "store/store.h"
#include "tune/contest.h"
#include "tune/expected.h"

#define COMMENTS_SIZE 2048

/* --- the outcomes of finished runs, kept in the database so that the same command continues where it was
 * stopped or killed. Runs finish on several threads; their outcomes are stored every half second, in one
 * transaction. A batch that cannot be stored waits for the next: the tune itself needs none of them */

struct outcomes {
    struct tune_memory memory; /* for the contest */
    const char *database;
    struct store_work work;
    struct store *store;
    struct store_outcome *known; /* outcomes that were stored when it began */
    size_t known_count;
    pthread_mutex_t lock; /* guards the members below, and the store */
    GArray *batch;        /* outcomes that are not stored yet */
    size_t kept_count;
    int64_t batch_ms; /* when storing the last batch succeeded or failed */
};

#define BATCH_MS 500

static bool identify(struct store_work *work, const struct lab_scenario *scenario, const char *path,
                     const struct lab_tune *terms, struct sim_error *error)
{
    /* Outcomes are stored in the machine's representation, so outcomes of another kind of machine must not be
     * used. */
    const struct {
        double order;
        uint64_t size;
    } layout = {1, sizeof(struct tune_seen)};
    uint64_t sources;
    if (!lab_sources(scenario, &sources, error))
        return false;
    uint64_t options = sim_digest_chain(terms->seeds, 0);
    options = cli_add_bytes(options, &terms->risk, sizeof terms->risk);
    options = cli_add_bytes(options, &terms->share, sizeof terms->share);
    *work = cli_work_of(scenario, path, options);
    work->identity = cli_add_bytes(work->identity, &layout, sizeof layout);
    work->identity = sim_digest_chain(work->identity, sources);
    return true;
}

static const struct store_outcome *find(const struct outcomes *memory, uint64_t job)
{
    for (size_t i = 0; i < memory->known_count; i++) {
        if (memory->known[i].job == job)
            return &memory->known[i];
    }
    return NULL;
}

static bool recall(void *context, uint64_t job, void *out, size_t size)
{
    const struct store_outcome *known = find(context, job);
    if (known == NULL || known->size != size)
        return false;
    memcpy(out, known->bytes, size);
    return true;
}

static bool keep_batch(struct outcomes *memory, struct sim_error *error)
{
    const guint count = memory->batch->len;
    bool is_fine =
        count == 0 || store_outcomes_keep(memory->store, &memory->work,
                                          (struct store_outcome *)(void *)memory->batch->data, count, error);
    if (is_fine) {
        memory->kept_count += count;
        g_array_set_size(memory->batch, 0);
    }
    memory->batch_ms = cli_now_ms();
    return is_fine;
}

/* An outcome may be stored already, if it was run together with others that were not. */
static void keep(void *context, uint64_t job, const void *bytes, size_t size)
{
    struct outcomes *memory = context;
    struct sim_error ignored;
    if (find(memory, job) != NULL)
        return;
    const struct store_outcome outcome = {job, size, g_memdup2(bytes, size)};
    pthread_mutex_lock(&memory->lock);
    g_array_append_val(memory->batch, outcome);
    if (cli_now_ms() - memory->batch_ms >= BATCH_MS)
        keep_batch(memory, &ignored);
    pthread_mutex_unlock(&memory->lock);
}

static void clear_outcome(gpointer outcome)
{
    free(((struct store_outcome *)outcome)->bytes);
}

/* Opens the database and reads the outcomes of a tune with this scenario and these terms. path: the
 * scenario's. close_outcomes() must be called even when it fails. */
static bool open_outcomes(struct outcomes *memory, const char *database, const struct lab_scenario *scenario,
                          const char *path, const struct lab_tune *terms, struct sim_error *error)
{
    *memory = (struct outcomes){.memory = {memory, recall, keep},
                                .database = database,
                                .lock = PTHREAD_MUTEX_INITIALIZER,
                                .batch = g_array_new(FALSE, FALSE, sizeof(struct store_outcome)),
                                .batch_ms = cli_now_ms()};
    g_array_set_clear_func(memory->batch, clear_outcome);
    return identify(&memory->work, scenario, path, terms, error) &&
           store_open(database, STORE_WRITE, &memory->store, error) &&
           store_outcomes_load(memory->store, &memory->work, &memory->known, &memory->known_count, error);
}

static void close_outcomes(struct outcomes *memory)
{
    if (memory->batch != NULL)
        g_array_free(g_steal_pointer(&memory->batch), TRUE);
    store_outcomes_free(memory->known, memory->known_count);
    store_close(memory->store);
    memory->known = NULL;
    memory->known_count = 0;
    memory->store = NULL;
}

/* Called when the tune was interrupted: stores the remaining outcomes. Returns false, with an error that says
 * how to continue. */
static bool stop_outcomes(struct outcomes *memory, struct sim_error *error)
{
    struct sim_error why = {0};
    char kept[CLI_NUMBER_SIZE], lost[CLI_NUMBER_SIZE];
    bool is_fine = keep_batch(memory, &why);
    size_t count = memory->known_count + memory->kept_count;
    cli_grouped(count, kept);
    cli_grouped(memory->batch->len, lost);
    if (!is_fine)
        return sim_fail(error, why.class, "interrupted; the last %s runs could not be kept: %s", lost,
                        why.text);
    if (count == 0)
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    return sim_fail(error, SIM_ERROR_CHECK,
                    "interrupted; %s runs are in %s, and the same command resumes with the others", kept,
                    memory->database);
}

/* Called when the tune ended without an answer: removes its outcomes. */
static void forget_outcomes(struct outcomes *memory)
{
    struct sim_error ignored;
    g_array_set_size(memory->batch, 0);
    store_outcomes_free(memory->known, memory->known_count);
    memory->known = NULL;
    memory->known_count = memory->kept_count = 0;
    store_outcomes_forget(memory->store, &memory->work, &ignored);
}

struct job {
    struct lab_scenario *scenario;
    struct lab_tune terms;
    const char *database, *emitted; /* emitted: the file of the recommended setting, or NULL */
    uint64_t scenario_digest;       /* set if `emitted` is */
    bool has_emitted;
    uint32_t threads;
    bool is_quiet, is_json, has_charts;
    struct cli_charts charts;
    const struct cli_args *args;
    struct outcomes memory;
    struct tune_contest contest;
    struct lab_scenario *finalists; /* the scenario with the settings on the front as its strategies, */
    struct lab_result *known[LAB_STRATEGIES_MAX]; /* and their results, as far as the race has kept them */
    struct lab_result *result;
    json_t *answer;
    char *path; /* absolute path of the scenario */
    struct store_run_info info;
    int64_t run, elapsed_ms;
};

/* --- the file of --emit: a setting for a service to load. Comments after the first line say with what it was
 * tested, and the digest by which a `run` of it can be recognised. */

/* A digest of everything that determines a scenario's results: its text, --set, its seed, and the files that
 * it reads. */
static bool digest_of(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error)
{
    uint64_t sources, digest = sim_digest_chain(0, scenario->seed);
    if (!lab_sources(scenario, &sources, error))
        return false;
    digest = cli_add_bytes(digest, scenario->text, scenario->text_size);
    digest = cli_add_bytes(digest, scenario->overrides, strlen(scenario->overrides));
    *out = sim_digest_chain(digest, sources);
    return true;
}

/* "# needs one writer per key, or a protocol for several"; "" when any service can meet it. */
static void say_needs(uint32_t requirements, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < LAB_REQUIREMENT_COUNT; i++) {
        if ((requirements >> i & 1) != 0)
            used += (size_t)snprintf(out + used, size - used, "# needs %s\n",
                                     lab_requirement_text((enum lab_requirement)i));
    }
}

/* Writes the setting of the result's first strategy, which is the recommended one. */
static bool emit_setting(const char *path, const struct lab_result *result, uint64_t scenario_digest,
                         struct sim_error *error)
{
    const struct lab_strategy_result *best = &result->strategies[0];
    struct bk_setting setting;
    char text[BK_SETTING_TEXT_SIZE], told[COMMENTS_SIZE / 2], needs[COMMENTS_SIZE / 4],
        whole[COMMENTS_SIZE + BK_SETTING_TEXT_SIZE];
    lab_settings_core(&best->settings, scenario_digest, &setting);
    enum bk_status status = bk_strategy_print(&setting, text, sizeof text, NULL);
    if (status != BK_OK)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "bucketlab: --emit: the recommended setting cannot be written: %s; leave --emit out",
                        bk_status_text(status));
    const char *rest = strchr(text, '\n') + 1;
    lab_settings_text(&best->settings, told, sizeof told);
    say_needs(lab_requirements(&best->settings), needs, sizeof needs);
    int size = snprintf(whole, sizeof whole,
                        "%.*s# by bucketlab %s: seed %" PRIu64 ", placement digest %016" PRIx64 "\n"
                        "# in a scenario: %s: {%s}\n%s%s",
                        (int)(rest - text), text, BUCKETLAB_VERSION, result->seed, best->placement_digest,
                        lab_kind_name(lab_settings_kind(&best->settings)), told, needs, rest);
    return cli_file_write(path, whole, (size_t)size, error);
}

/* --- before the work */

/* Called when there is no answer. After a failure, such as a full disk, tune can be continued too. */
static bool stop(struct job *job, struct sim_error *error)
{
    struct sim_error ignored;
    return stop_outcomes(&job->memory, job->args->signals->caught != 0 ? error : &ignored);
}

bool cli_tune_risk(const struct cli_args *args, double most, double *out, struct sim_error *error)
{
    const char *risk = cli_value(args, "risk", "");
    const char *why =
        strpbrk(risk, "%/") != NULL ? lab_quantity_share(risk, out) : lab_quantity_number(risk, out);
    if (why != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --risk %s: %s", risk, why);
    return (*out >= 0 && !signbit(*out) && (*out < most || (most < 1 && *out == most))) ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --risk %s: out of range; give a share from 0 to %s, for example 0.003, 0.3%% "
                    "or 1/300",
                    risk, most < 1 ? "0.5" : "below 1");
}

static bool load(const struct cli_args *args, struct job *job, struct sim_error *error)
{
    double risk = 0;
    char of_risk[64];
    struct cli_changes changes = {.count = 0};
    const char *path = cli_argument(args, 0);
    bool is_fine = (!cli_has(args, "risk") || cli_tune_risk(args, 0.5, &risk, error)) &&
                   cli_changes_read(args, path, &changes, error);
    if (is_fine && cli_has(args, "risk")) { /* for this command, and for the run that it stores */
        snprintf(of_risk, sizeof of_risk, "limits.over_limit_share=%.15g%%", 100 * risk);
        changes.overrides[changes.count++].text = of_risk;
        changes.overrides[changes.count++].text = "tune.risk=null";
    }
    is_fine = is_fine &&
              lab_scenario_load(path, changes.overrides, changes.count, changes.seed, &job->scenario, error);
    g_free(changes.overrides);
    return is_fine;
}

static bool check_scenario(const struct lab_scenario *scenario, struct sim_error *error)
{
    if (scenario->identifiers.present)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: 'identifiers' have no partitions to tune; name a scenario with rows",
                        scenario->path);
    if (scenario->strategy_count == 0)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "%s: partitions of 'observed' are fixed, and there are no rows to tune for; add keys, "
            "arrivals and a strategy",
            scenario->path);
    if (!lab_limits_sizes(&scenario->limits))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no limit to tune for; add limits: {partition_bytes: 100MB}, or --set "
                        "limits.partition_rows=100000",
                        scenario->path);
    return true;
}

/* Done early, so that an invalid database is found before the work. */
static bool open_memory(struct job *job, struct sim_error *error)
{
    const struct lab_scenario *scenario = job->scenario;
    job->path = cli_absolute(scenario->path);
    if (!open_outcomes(&job->memory, job->database, scenario, job->path, &job->terms, error))
        return false;
    if (job->memory.known_count > 0 && !job->is_quiet) {
        char done[CLI_NUMBER_SIZE];
        cli_grouped(job->memory.known_count, done);
        fprintf(stderr, "tune: %s runs were done\n", done);
    }
    return true;
}

static bool read_job(const struct cli_args *args, struct job *job, struct sim_error *error)
{
    job->database = args->database;
    job->threads = args->jobs;
    if (!cli_charts_read(args, &job->charts, error) || !load(args, job, error))
        return false;
    job->terms = job->scenario->tune;
    uint64_t seeds = job->terms.seeds;
    struct cli_outputs outputs = {NULL};
    cli_outputs_scenario(&outputs, job->scenario);
    cli_outputs_database(&outputs, "db", job->database, true);
    cli_outputs_input(&outputs, "the sample", cli_value(args, "sample", NULL));
    cli_outputs_file(&outputs, "emit", job->emitted);
    if (job->has_charts)
        cli_outputs_charts(&outputs, &job->charts, job->scenario->name);
    if (!cli_outputs_check(&outputs, error) ||
        (job->emitted != NULL && (!cli_file_check("emit", job->emitted, error) ||
                                  !digest_of(job->scenario, &job->scenario_digest, error))) ||
        !cli_whole(args, "seeds", 2, LAB_TUNE_SEEDS_MAX, &seeds, error) ||
        !check_scenario(job->scenario, error))
        return false;
    job->terms.seeds = (uint32_t)seeds;
    if (!job->is_quiet)
        cli_warnings_files(stderr, job->scenario);
    return open_memory(job, error);
}

static bool attend(struct job *job, bool (*run)(void *, struct lab_progress *, struct sim_error *),
                   const char *unit, struct sim_error *error)
{
    const struct cli_task task = {.name = job->scenario->name, .unit = unit, .run = run, .context = job};
    int64_t elapsed_ms;
    bool is_fine = cli_attend(job->args, &task, &elapsed_ms, error);
    job->elapsed_ms += elapsed_ms;
    return is_fine && job->args->signals->caught == 0;
}

static bool fly(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct job *job = context;
    return tune_contest_begin(&job->contest, job->scenario, &job->terms, job->threads, progress, error);
}

static bool race(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct job *job = context;
    struct tune_contest *contest = &job->contest;
    contest->memory = &job->memory.memory;
    if (!tune_contest_run(contest, job->threads, progress, error))
        return false;
    if (contest->recommended != SIZE_MAX)
        return true;
    forget_outcomes(&job->memory);
    return cli_contest_refuse(contest, error);
}

/* Chooses the settings that are stored and drawn: the recommended one, the best of each other kind and the
 * scenario's own, in the order of the table. Moves their results, and returns the override that makes them a
 * scenario's strategies, which the caller must free. */
static char *choose_finalists(struct job *job)
{
    size_t listed_count, count = 0;
    g_autofree const struct tune_entrant **listed = cli_contest_listed(&job->contest, &listed_count);
    GString *strategies = g_string_new("strategies=[");
    for (size_t i = 0; i < listed_count; i++) {
        struct tune_entrant *entrant = &job->contest.entrants[listed[i] - job->contest.entrants];
        char text[TUNE_STRATEGY_TEXT_SIZE];
        if (count == LAB_STRATEGIES_MAX || entrant->seeds == 0 ||
            (entrant->margin == NULL && !entrant->is_own))
            continue;
        tune_strategy_text(&entrant->strategy, text);
        g_string_append_printf(strategies, "%s{%s}", count == 0 ? "" : ", ", text);
        job->known[count++] = entrant->result;
        entrant->result = NULL;
    }
    return g_string_free(g_string_append_c(strategies, ']'), FALSE);
}

/* The scenario with its strategies replaced by an override, so that the stored run can be replayed. */
static bool make_finalists(struct job *job, struct sim_error *error)
{
    g_autofree char *strategies = choose_finalists(job);
    const struct lab_override more[] = {{strategies}, {"expect=null"}, {"engine=exact"}};
    const struct lab_scenario *scenario = job->scenario;
    bool is_fine = lab_scenario_again(scenario->path, scenario->text, scenario->overrides, more, 2,
                                      scenario->seed, &job->finalists, error);
    /* The expectation or strategy because of which the race drew its rows may be missing here; rows are still
     * drawn. */
    if (is_fine && job->finalists->engine == LAB_ENGINE_THINNED && scenario->engine != LAB_ENGINE_THINNED) {
        lab_scenario_destroy(job->finalists);
        is_fine = lab_scenario_again(scenario->path, scenario->text, scenario->overrides, more, 3,
                                     scenario->seed, &job->finalists, error);
    }
    return is_fine;
}

static bool run_finalists(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct job *job = context;
    const struct lab_run_context run = {.progress = progress, .known = job->known};
    return lab_run_in(job->finalists, job->threads, &run, &job->result, error) &&
           tune_horizons_add(job->finalists, job->result, error);
}

static bool work(struct job *job, struct sim_error *error)
{
    return attend(job, fly, "rows/s", error) && attend(job, race, "runs/s", error) &&
           make_finalists(job, error) && attend(job, run_finalists, "rows/s", error);
}

static bool store(struct job *job, struct sim_error *error)
{
    struct store *opened;
    job->answer = cli_contest_json(&job->contest);
    g_autofree char *answer = cli_json_text(job->answer);
    job->info = cli_info_of(job->finalists, job->path, job->elapsed_ms);
    bool is_fine = store_open(job->database, STORE_WRITE, &opened, error);
    if (is_fine) {
        is_fine = store_tune_save(opened, &job->memory.work, &job->info, job->result, answer, error);
        store_close(opened);
    }
    job->run = job->info.run;
    return is_fine;
}

static bool draw(struct job *job, struct sim_error *error)
{
    if (!job->has_charts)
        return true;
    job->result->is_tuned = true;
    const struct cli_page page = {job->result, &job->info, job->database, job->answer};
    return cli_charts_write(&job->charts, &page, error) ||
           cli_charts_fail(job->run, job->run, job->database, error);
}

static bool judge(const struct job *job, bool is_told, struct sim_error *error)
{
    const struct lab_scenario *scenario = job->scenario;
    size_t failed = 0;
    for (size_t i = 0; i < scenario->tune_expect_count; i++) {
        const struct lab_tune_expect *expect = &scenario->tune_expects[i];
        const char *label = tune_contest_best(&job->contest, expect->kind);
        bool is_fine = lab_tune_expect_holds(expect, label);
        failed += !is_fine;
        if (!is_told)
            continue;
        printf("%s  %s ", i == 0 ? "\nexpectations\n" : "", is_fine ? "ok    " : "FAILED");
        cli_print_text(stdout, expect->text);
        printf("   (actual ");
        cli_print_text(stdout, label == NULL ? "none" : label);
        printf(")\n");
    }
    return failed == 0 ||
           sim_fail(error, SIM_ERROR_CHECK,
                    "%s: %zu of %zu expectations of tune failed; the table shows what else stays "
                    "within the limits",
                    scenario->path, failed, scenario->tune_expect_count);
}

/* Nothing is written if an expectation failed, so that only a setting that passed is deployed. */
static bool emit(struct job *job, struct sim_error *error)
{
    struct sim_error ignored;
    if (job->emitted == NULL || !judge(job, false, &ignored))
        return true;
    job->has_emitted = emit_setting(job->emitted, job->result, job->scenario_digest, error);
    return job->has_emitted;
}

static bool print_text(const struct job *job, struct sim_error *error)
{
    const struct tune_contest *contest = &job->contest;
    const struct tune_entrant *best = &contest->entrants[contest->recommended];
    g_autoptr(GString) notes = g_string_new("");
    char yaml[TUNE_STRATEGY_TEXT_SIZE];
    struct report_arena arena = {NULL};
    struct report_answer answer;
    cli_contest_answer(contest, &arena, &answer);
    cli_print_answer(&answer);
    putchar('\n');
    report_arena_free(&arena);
    cli_contest_table(contest);
    cli_contest_notes(contest, notes);
    if (notes->len > 0) {
        cli_print_wrapped(notes->str, CLI_ANY_NUMBER / 2);
        putchar('\n');
    }
    tune_strategy_text(&best->strategy, yaml);
    printf("\nstrategies:\n  - ");
    cli_print_text(stdout, yaml);
    putchar('\n');
    if (job->has_charts) {
        printf("\ncharts\n");
        cli_charts_print(&job->charts, "  ");
    }
    if (job->has_emitted) {
        printf("\nsetting  ");
        cli_print_text(stdout, job->emitted);
        printf(", scenario digest %016" PRIx64 "\n", job->scenario_digest);
    }
    printf("\nrun %" PRId64 " in ", job->run);
    cli_print_text(stdout, job->database);
    printf(", seed %" PRIu64 ", digest %016" PRIx64 ", %.1f s\n", job->result->seed, job->result->digest,
           (double)job->elapsed_ms / 1000);
    return judge(job, true, error);
}

static bool print_answer(const struct job *job, struct sim_error *error)
{
    if (!job->is_json)
        return print_text(job, error);
    json_t *object = cli_json_with(json_incref(job->answer), "run", json_integer(job->run));
    if (job->has_emitted)
        object = cli_json_with(object, "scenario_digest", cli_json_digest(job->scenario_digest));
    cli_json_print(object);
    return judge(job, false, error);
}

static void free_job(struct job *job)
{
    tune_contest_clear(&job->contest);
    close_outcomes(&job->memory);
    lab_result_destroy(job->result);
    for (size_t i = 0; i < LAB_STRATEGIES_MAX; i++)
        lab_result_destroy(job->known[i]);
    lab_scenario_destroy(job->finalists);
    lab_scenario_destroy(job->scenario);
    cli_charts_free(&job->charts);
    json_decref(job->answer);
    free(job->path);
}

bool cli_tune_scenario(const struct cli_args *args, struct sim_error *error)
{
    struct job job = {.args = args,
                      .emitted = cli_value(args, "emit", NULL),
                      .is_quiet = args->is_quiet,
                      .is_json = args->is_json,
                      .has_charts = !cli_has(args, "no-charts")};
    bool is_fine = read_job(args, &job, error) && (work(&job, error) || stop(&job, error)) &&
                   store(&job, error) && draw(&job, error) && emit(&job, error);
    cli_release(args);
    is_fine = is_fine && print_answer(&job, error);
    free_job(&job);
    return is_fine;
}
