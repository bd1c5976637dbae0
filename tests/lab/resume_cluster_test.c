/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run of the cluster engine that is stopped between any two events, destroyed, and resumed from its
 * snapshots ends exactly like an undisturbed run; and a snapshot that is taken right after loading equals the
 * loaded bytes.
 * Method: the shipped scenarios of the cluster engine at the size of CI, and scenarios that the fuzzer
 * draws, run in attempts that end after a drawn number of events. The complete results are compared with
 * those of the undisturbed run: digests, metrics, histograms, marks of events, views and verdicts. A field
 * that the archive forgets makes them differ. Without arguments the test takes the short ones of these;
 * with arguments all shipped scenarios, and `first count` seeds; with `first count n` it takes n altered
 * states of each of these seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/digest.h"
#include "lab/cluster.h"
#include "lab/fuzz.h"

/* Attempts of a run: enough to cover all of its parts, and few enough that none takes too long. */
#define ATTEMPTS_MOST 12u
/* The number of events between two states; the first attempts are short. */
#define EVENTS_MOST    20000u
#define OVERRIDES_MOST 16

static const struct lab_fuzz_base nothing = {0};
static uint64_t first_seed = 1, seed_count = 60, alterations = 4;

/* What one attempt keeps: the newest state of each part, and whether the part's first state equalled the
 * state that it was loaded from. */
struct keeper {
    struct lab_progress progress;
    struct lab_snapshots snapshots;
    struct lab_kept kept[RESUME_PARTS_MAX], loaded[RESUME_PARTS_MAX];
    size_t loaded_count, size_most;
    bool was_put[RESUME_PARTS_MAX];
    uint64_t puts, puts_left;
};

static void put(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size)
{
    struct keeper *keeper = context;
    assert_non_null(data);
    assert_true(part < parts && parts <= RESUME_PARTS_MAX);
    for (size_t i = 0; i < keeper->loaded_count && !keeper->was_put[part]; i++) {
        if (keeper->loaded[i].part != part)
            continue;
        assert_int_equal(size, keeper->loaded[i].size);
        assert_memory_equal(data, keeper->loaded[i].data, size);
    }
    keeper->was_put[part] = true;
    free((void *)(uintptr_t)keeper->kept[part].data);
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, data, size);
    keeper->kept[part] = (struct lab_kept){part, copy, size};
    keeper->size_most = size > keeper->size_most ? size : keeper->size_most;
    keeper->puts++;
    if (keeper->puts_left > 0 && --keeper->puts_left == 0)
        atomic_store(&keeper->progress.stop, true);
    atomic_fetch_add(&keeper->snapshots.wish, 1);
}

static void take_over(struct keeper *keeper)
{
    for (size_t i = 0; i < keeper->loaded_count; i++)
        free((void *)(uintptr_t)keeper->loaded[i].data);
    keeper->loaded_count = 0;
    for (uint32_t i = 0; i < RESUME_PARTS_MAX; i++) {
        if (keeper->kept[i].data == NULL)
            continue;
        struct lab_kept *copy = &keeper->loaded[keeper->loaded_count++];
        *copy = keeper->kept[i];
        unsigned char *data = malloc(copy->size);
        assert_non_null(data);
        copy->data = memcpy(data, keeper->kept[i].data, copy->size);
    }
    memset(keeper->was_put, 0, sizeof keeper->was_put);
}

/* Stops at the latest after the given number of states, with this many events between two states. */
static bool attempt(struct keeper *keeper, const struct lab_scenario *scenario, uint64_t events_each,
                    uint64_t puts, struct lab_result **out)
{
    struct sim_error error = {SIM_ERROR_NONE, ""};
    take_over(keeper);
    keeper->snapshots.put = put;
    keeper->snapshots.context = keeper;
    keeper->snapshots.kept = keeper->loaded;
    keeper->snapshots.kept_count = keeper->loaded_count;
    keeper->snapshots.events_each = events_each;
    const struct lab_run_context context = {.progress = &keeper->progress, .snapshots = &keeper->snapshots};
    keeper->puts_left = puts;
    atomic_store(&keeper->snapshots.wish, 1);
    atomic_store(&keeper->progress.stop, false);
    bool ok = lab_run_in(scenario, 1, &context, out, &error);
    if (!ok && strstr(error.text, "stopped before the end") == NULL)
        fail_msg("%s: %s", scenario->name, error.text);
    return ok;
}

static const char *verdict_difference(const struct lab_result *one, const struct lab_result *other)
{
    for (size_t i = 0; i < one->strategy_count; i++) {
        const struct lab_verdict *a = &one->strategies[i].verdict, *b = &other->strategies[i].verdict;
        for (int j = 0; j < LAB_ORACLE_COUNT; j++) {
            const struct lab_violation *c = &a->violations[j], *d = &b->violations[j];
            if (a->is_judged[j] != b->is_judged[j] || c->count != d->count || c->key != d->key ||
                c->time_ns != d->time_ns || strcmp(c->text, d->text) != 0)
                return "violations";
        }
        if (a->conditions != b->conditions || memcmp(a->probes, b->probes, sizeof a->probes) != 0)
            return "conditions or probes";
        if (a->increments_lost != b->increments_lost || a->increments_doubled != b->increments_doubled ||
            a->rolls != b->rolls)
            return "increments or rolls";
    }
    return NULL;
}

/* Prints where the events of two runs diverge, as a hint to the forgotten field. */
static void tell_parting(const struct lab_result *one, const struct lab_result *other)
{
    for (size_t i = 0; i < one->strategy_count; i++) {
        const struct lab_event_log *a = &one->strategies[i].events, *b = &other->strategies[i].events;
        size_t mark = 0;
        while (mark < a->mark_count && mark < b->mark_count && a->marks[mark] == b->marks[mark])
            mark++;
        print_message("%s: %llu and %llu events, equal up to %llu\n", one->strategies[i].label,
                      (unsigned long long)a->events, (unsigned long long)b->events,
                      (unsigned long long)(mark * a->stride));
    }
}

static void destroy(struct keeper *keeper)
{
    for (int i = 0; i < RESUME_PARTS_MAX; i++)
        free((void *)(uintptr_t)keeper->kept[i].data);
    for (size_t i = 0; i < keeper->loaded_count; i++)
        free((void *)(uintptr_t)keeper->loaded[i].data);
    free(keeper);
}

/* Runs in attempts of drawn lengths; the last attempt reaches the end. */
static void compare(const char *name, const struct lab_scenario *scenario, uint64_t seed)
{
    struct sim_random random;
    struct keeper *keeper = calloc(1, sizeof *keeper);
    struct lab_result *result = NULL;
    assert_non_null(keeper);
    sim_random_init(&random, seed, SIM_FUZZ, 1);
    bool ok = false;
    for (uint64_t left = ATTEMPTS_MOST; !ok; left -= left > 0) {
        uint64_t each = 1 + sim_random_below(&random, EVENTS_MOST / (left > 4 ? 20 : 1));
        uint64_t puts = left == 0 ? 0 : 2 + sim_random_below(&random, 2 * scenario->strategy_count);
        ok = attempt(keeper, scenario, each, puts, &result);
    }
    destroy(keeper);
    struct lab_result *expected = resume_undisturbed(scenario);
    const char *what = resume_difference(expected, result);
    what = what != NULL ? what : verdict_difference(expected, result);
    if (what != NULL)
        tell_parting(expected, result);
    if (what != NULL)
        fail_msg("%s, seed %llu: %s", name, (unsigned long long)seed, what);
    lab_result_destroy(expected);
    lab_result_destroy(result);
}

static unsigned compare_file(const char *path, const struct lab_override *overrides, size_t count,
                             unsigned number)
{
    struct lab_scenario *scenario;
    struct sim_error error;
    char full[512];
    snprintf(full, sizeof full, "%s/%s", BUCKETLAB_SOURCE_DIR, path);
    if (!lab_scenario_load(full, overrides, count, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    bool has_agents = scenario->agents.count > 0;
    if (has_agents)
        compare(path, scenario, number);
    lab_scenario_destroy(scenario);
    return has_agents;
}

/* The shipped scenarios, shortened as far as they remain useful. */
static void test_shipped_scenarios_in_short(void **state)
{
    (void)state;
    static const struct {
        const char *path, *first, *second;
    } files[] = {
        {"scenarios/three-state.yaml", "duration=3s", "expect=[]"},
        {"scenarios/faults.yaml", "arrivals.rate=3/s", "expect=[]"},
        {"scenarios/late-rows.yaml", "arrivals.rate=2/s", "expect=[]"},
        {"scenarios/deletes.yaml", "duration=20s", "expect=[]"},
        {"scenarios/settings-rollout.yaml", "arrivals.rate=2/s", "expect=[]"},
        {"scenarios/idgen-stripes.yaml", "duration=1s", "expect=[]"},
        {"scenarios/idgen-backoff.yaml", "duration=1s", "expect=[]"},
    };
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        const struct lab_override overrides[] = {{files[i].first}, {files[i].second}};
        assert_int_equal(compare_file(files[i].path, overrides, 2, i), 1);
    }
}

/* Rows of a trace, of which the run keeps the read position; rows that expire; and events of equal times in a
 * drawn order. */
static void test_traces_and_shuffled_ties(void **state)
{
    (void)state;
    static const char traced[] =
        "name: traced\nduration: 6h\ntrace: {file: " BUCKETLAB_SOURCE_DIR
        "/scenarios/traces/small.csv}\nrow: {ttl: 1h}\n"
        "reads: {latest: {rows: 5, rate: 0.01/s}}\n"
        "cluster: {nodes: 3, replication_factor: 3, network: {latency: 1ms}}\n"
        "agents: {count: 3}\nstrategies:\n  - unbucketed: {}\n  - hash: {buckets: 3}\n"
        "  - probabilistic: {bits: 1, threshold: 3}\n";
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct lab_scenario *scenario = resume_scenario(traced);
        scenario->tie_seed = seed;
        compare("traced", scenario, seed);
        lab_scenario_destroy(scenario);
    }
}

/* Parses a line of tests/golden/digests.txt: a digest, then the arguments of `run`. Returns false if there
 * are arguments other than --set. */
static bool read_line(char *line, const char **path, struct lab_override *overrides, size_t *count)
{
    *count = 0;
    strtok(line, " \n");
    *path = strtok(NULL, " \n");
    for (const char *word; (word = strtok(NULL, " \n")) != NULL;) {
        const char *text = strcmp(word, "--set") == 0 ? strtok(NULL, " \n") : NULL;
        if (text == NULL || *count == OVERRIDES_MOST)
            return false;
        overrides[(*count)++] = (struct lab_override){text};
    }
    return *path != NULL;
}

static void test_all_shipped_scenarios(void **state)
{
    (void)state;
    FILE *file = fopen(BUCKETLAB_SOURCE_DIR "/tests/golden/digests.txt", "r");
    char line[1024];
    unsigned tried = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        struct lab_override overrides[OVERRIDES_MOST];
        const char *path;
        size_t count;
        if (line[0] != '#' && read_line(line, &path, overrides, &count))
            tried += compare_file(path, overrides, count, tried);
    }
    fclose(file);
    assert_true(tried >= 20);
}

static void compare_drawn(uint64_t seed)
{
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_fuzz_scenario(&nothing, seed, &scenario, &error))
        fail_msg("%s", error.text);
    char name[32];
    snprintf(name, sizeof name, "drawn %llu", (unsigned long long)seed);
    compare(name, scenario, seed);
    lab_scenario_destroy(scenario);
}

static void test_drawn_scenarios(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++)
        compare_drawn(seed);
}

/* In this seed a reader misses rows that have not expired, after the run has been resumed. */
static void test_reads_are_judged_by_the_rows_left_after_a_resume(void **state)
{
    (void)state;
    compare_drawn(2207);
}

/* The sizes of the header before an archive's fields and of the checksum after them. */
enum { ARCHIVE_HEAD = 40, ARCHIVE_TAIL = 8 };

/* The same checksum as in kernel/archive.c: an attacker who alters a state can compute it too. */
static void sign(unsigned char *data, size_t size)
{
    uint64_t sum = sim_digest_chain(0, size - ARCHIVE_TAIL), word;
    size_t i = 0;
    for (; size - ARCHIVE_TAIL - i >= sizeof word; i += sizeof word) {
        memcpy(&word, data + i, sizeof word);
        sum = sim_digest_chain(sum, word);
    }
    word = 0;
    memcpy(&word, data + i, size - ARCHIVE_TAIL - i);
    sum = sim_digest_chain(sum, word);
    memcpy(data + size - ARCHIVE_TAIL, &sum, sizeof sum);
}

static void alter(unsigned char *data, size_t size, struct sim_random *random)
{
    for (uint64_t left = 1 + sim_random_below(random, 3); left > 0; left--) {
        size_t at = ARCHIVE_HEAD + sim_random_below(random, size - ARCHIVE_HEAD - ARCHIVE_TAIL);
        const unsigned char values[] = {(unsigned char)sim_random_next(random),
                                        (unsigned char)(data[at] ^ 1u << sim_random_below(random, 8)), 255,
                                        (unsigned char)(data[at] + 1)};
        data[at] = values[sim_random_below(random, sizeof values)];
    }
    sign(data, size);
}

static void put_nothing(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size)
{
    (void)context, (void)part, (void)parts, (void)data, (void)size;
}

/* Resumes a run from an altered state, and returns whether the state was accepted. */
static bool go_on_altered(const struct lab_scenario *scenario, const struct lab_kept *kept,
                          struct sim_random *random)
{
    unsigned char *data = malloc(kept->size);
    assert_non_null(data);
    alter(memcpy(data, kept->data, kept->size), kept->size, random);
    struct lab_kept altered = {kept->part, data, kept->size};
    struct lab_snapshots snapshots = {.put = put_nothing, .kept = &altered, .kept_count = 1};
    const struct lab_run_context context = {.snapshots = &snapshots};
    struct sim_error error = {SIM_ERROR_NONE, ""};
    struct lab_result *result = NULL;
    bool ok = lab_run_in(scenario, 1, &context, &result, &error);
    assert_true(ok || strlen(error.text) > 0);
    if (ok)
        lab_result_destroy(result);
    free(data);
    return ok;
}

/* Altered states from the middle of runs: each is refused, or the run resumes and ends in some way. The
 * result of such a run means nothing. */
static void test_altered_states_do_no_harm(void **state)
{
    (void)state;
    unsigned refused = 0, ended = 0;
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        struct sim_random random;
        struct lab_scenario *scenario;
        struct sim_error error;
        struct lab_result *result = NULL;
        struct keeper *keeper = calloc(1, sizeof *keeper);
        assert_non_null(keeper);
        sim_random_init(&random, seed, SIM_FUZZ, 2);
        if (!lab_fuzz_scenario(&nothing, seed, &scenario, &error))
            fail_msg("%s", error.text);
        bool is_over = attempt(keeper, scenario, 1 + sim_random_below(&random, 3000), 2, &result);
        for (uint64_t i = 0; !is_over && i < alterations; i++) {
            if (go_on_altered(scenario, &keeper->kept[0], &random))
                ended++;
            else
                refused++;
        }
        if (is_over)
            lab_result_destroy(result);
        destroy(keeper);
        lab_scenario_destroy(scenario);
    }
    print_message("%u were refused, %u ended\n", refused, ended);
    assert_true(refused > 0 && ended > 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest brief[] = {
        cmocka_unit_test(test_shipped_scenarios_in_short),
        cmocka_unit_test(test_traces_and_shuffled_ties),
        cmocka_unit_test(test_drawn_scenarios),
        cmocka_unit_test(test_reads_are_judged_by_the_rows_left_after_a_resume),
        cmocka_unit_test(test_altered_states_do_no_harm),
    };
    const struct CMUnitTest altered[] = {cmocka_unit_test(test_altered_states_do_no_harm)};
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_all_shipped_scenarios),
        cmocka_unit_test(test_drawn_scenarios),
    };
    if (count < 3)
        return cmocka_run_group_tests_name("brief", brief, NULL, NULL);
    first_seed = strtoull(arguments[1], NULL, 10);
    seed_count = strtoull(arguments[2], NULL, 10);
    if (count > 3) {
        alterations = strtoull(arguments[3], NULL, 10);
        return cmocka_run_group_tests_name("altered", altered, NULL, NULL);
    }
    return cmocka_run_group_tests_name("all", all, NULL, NULL);
}
