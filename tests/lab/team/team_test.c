/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: work that other ranks do for a run gives the same result as without helpers, to the last bit; a rank
 * that fails, a damaged answer or request, a stop, and a lack of memory on either side end the run with one
 * line, and nothing leaks. Method: the ranks are threads of this process and replace sim/ranks, so that the
 * linker's refusals of memory (tests/no_memory.h) reach both sides of a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../no_memory.h"
#include "../stream/same.h"
#include "lab/request.h"
#include "lab/team.h"

/* The outcome of a call. */
enum fate { SERVED, FAILED, CUT_REQUEST, CUT_ANSWER, LONG_ANSWER };

struct ranks {
    uint32_t count;
    enum fate fate;
    _Atomic unsigned calls;
};

struct ranks_task {
    struct ranks *ranks;
    const struct ranks_call *call;
    ranks_watch_function *watch;
    void *watched;
};

uint32_t ranks_count(const struct ranks *ranks)
{
    return ranks == NULL ? 1 : ranks->count;
}

uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank)
{
    (void)ranks;
    return rank;
}

/* Damages an archive and computes a correct checksum: a field is missing, or there is one too many. */
static void reseal(struct ranks_bytes *bytes, enum fate fate)
{
    struct sim_archive archive;
    unsigned char *data;
    size_t size, frame;
    sim_archive_begin_save(&archive, LAB_ANSWER_KIND);
    assert_true(sim_archive_finish_save(&archive, &data, &frame, NULL));
    free(data);
    sim_archive_begin_save(&archive, LAB_ANSWER_KIND);
    sim_archive_bytes(&archive, bytes->data + frame - sizeof(uint64_t), bytes->size - frame);
    if (fate == LONG_ANSWER)
        sim_archive_bool(&archive, &(bool){true});
    assert_true(sim_archive_finish_save(&archive, &data, &size, NULL));
    free(bytes->data);
    *bytes = (struct ranks_bytes){data, size};
}

bool ranks_call(struct ranks *ranks, const struct ranks_call *call, struct ranks_bytes *answer,
                struct sim_error *error)
{
    struct ranks_task task = {.ranks = ranks, .call = call};
    struct ranks_bytes request = *call->request;
    atomic_fetch_add(&ranks->calls, 1);
    if (ranks->fate == FAILED)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "the disk is full (rank %u)", call->rank);
    if (ranks->fate == CUT_REQUEST)
        request.size /= 2;
    if (!lab_services[call->service].serve(&task, &request, answer, error)) {
        free(answer->data);
        *answer = (struct ranks_bytes){0};
        return false;
    }
    if (ranks->fate == CUT_ANSWER)
        answer->size /= 2;
    if (ranks->fate == LONG_ANSWER)
        reseal(answer, ranks->fate);
    return true;
}

/* Called when the task begins, and when it ends. */
void ranks_watch(struct ranks_task *task, ranks_watch_function *watch, void *context)
{
    uint64_t done = 0, rows = 0;
    if (watch != NULL) {
        task->watch = watch;
        task->watched = context;
    }
    task->watch(task->watched, task->call->is_stopped(task->call->context), &done, &rows);
    task->call->note(task->call->context, done, rows);
}

#define STREAM                                                                                               \
    "name: team\nduration: 1h\nkeys: {count: 300, popularity: {zipf: 1.1}}\narrivals: {rate: 1/s}\n"         \
    "row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\nreads: {latest: {rows: 20, rate: 60/h}}\n"
static const char stream[] = STREAM
    "strategies:\n  - time: {window: 10m}\n  - {label: c, count: {rows: 20, counter: external, max_age: "
    "5m}}\n"
    "  - hash: {buckets: 4}\n  - probabilistic: {bits: 2, threshold: 4}\nexpect: [c.writes.rows > 0]\n";
static const char table[] =
    "name: team\nduration: 1h\nkeys: {count: 300, popularity: {zipf: 1.1}}\n"
    "arrivals: {rate: 1/s}\nstrategies: [time: {window: 1m}, hash: {buckets: 4}]\n"
    "table:\n  name: t\n  columns: {k: key, b: bucket, at: time, v: {values: 3, zipf: 1}}\n"
    "  partition_key: [b, v]\n  clustering: [at]\n";
static const char thinned[] = "name: team\nengine: thinned\nduration: 1d\nkeys: {count: 40}\n"
                              "arrivals: {rate: 10/s}\nstrategies:\n  - time: {window: 1h}\n"
                              "  - probabilistic: {bits: 5, threshold: 8}\n";
#define RING "cluster: {nodes: 3, replication_factor: 3}\nagents: {count: 2, cache_entries: 8}\n"
static const char cluster[] = "name: team\nduration: 5s\nkeys: {count: 3}\narrivals: {rate: 20/s}\n" RING
                              "reads: {latest: {rows: 5, rate: 5/s}}\n"
                              "faults: [node_down: {node: 0, at: 1s, lasts: 2s}]\n"
                              "strategies:\n  - hash: {buckets: 4}\n  - time: {window: 1s}\n"
                              "  - probabilistic: {bits: 2, threshold: 4, coordination: locked}\n"
                              "  - count: {rows: 9, counter: lwt}\nexpect: [count.writes.rows > 0]\n";
static const char identifiers[] = "name: team\nduration: 1s\nidentifiers: {each: 50}\n" RING
                                  "strategies:\n  - {label: a, idgen: {batch: 5}}\n"
                                  "  - {label: b, idgen: {batch: 5, stripes: 2}}\n";
static const char *const texts[] = {stream, table, thinned, cluster, identifiers};
#define TEXTS (sizeof texts / sizeof *texts)

static bool run(const struct lab_scenario *scenario, struct ranks *ranks, uint32_t jobs, bool is_stopped,
                struct lab_result **out, struct sim_error *error)
{
    const struct lab_team team = {.ranks = ranks, .threads = jobs - 1};
    struct lab_progress progress = {0};
    const struct lab_run_context context = {.progress = &progress, .team = &team};
    atomic_store(&progress.stop, is_stopped);
    *error = (struct sim_error){SIM_ERROR_NONE, ""};
    return lab_run_in(scenario, jobs, &context, out, error);
}

static void check_same(const struct lab_result *one, const struct lab_result *other)
{
    const char *difference = same_difference(one, other);
    if (difference != NULL)
        fail_msg("%s differ", difference);
}

static void test_other_ranks_do_not_change_the_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct lab_scenario *scenario = same_scenario(texts[i]);
        struct lab_result *expected = same_undisturbed(scenario), *result;
        struct sim_error error;
        for (uint32_t count = 1; count < 5; count++) {
            struct ranks ranks = {.count = count};
            if (!run(scenario, &ranks, 1 + count % 2, false, &result, &error))
                fail_msg("%s", error.text);
            check_same(expected, result);
            assert_true(count > 1 || ranks.calls == 0);
            lab_result_destroy(result);
        }
        lab_result_destroy(expected);
        lab_scenario_destroy(scenario);
    }
}

static void test_whole_run_and_single_strategy_are_restored_unchanged(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct lab_scenario *scenario = same_scenario(texts[i]);
        struct lab_result *expected = same_undisturbed(scenario), *result;
        struct ranks ranks = {.count = 2};
        const struct lab_team team = {.ranks = &ranks};
        const struct lab_order order = lab_order_of(scenario);
        struct lab_progress progress = {0};
        struct sim_error error;
        char *overrides;
        assert_true(lab_team_run(&team, 1, &order, &progress, &result, &overrides, &error));
        check_same(expected, result);
        assert_string_equal(overrides, scenario->overrides);
        lab_result_destroy(result);
        free(overrides);
        for (size_t part = 0; scenario->agents.count > 0 && part < scenario->strategy_count; part++) {
            struct lab_team_call call = {.rank = 1, .service = LAB_SERVICE_STRATEGY};
            assert_true(lab_team_result(&team, &call, &order, part, NULL, &result, &overrides, &error));
            assert_int_equal(result->strategies[part].events.digest,
                             expected->strategies[part].events.digest);
            assert_int_equal(result->strategies[part].metrics.count,
                             expected->strategies[part].metrics.count);
            lab_result_destroy(result);
            free(overrides);
        }
        lab_result_destroy(expected);
        lab_scenario_destroy(scenario);
    }
}

/* This rank may take a strategy before another rank requests one, so these calls are made by hand. */
static void test_error_on_another_rank_gives_its_message(void **state)
{
    static const struct {
        enum fate fate;
        const char *wanted;
    } cases[] = {{FAILED, "the disk is full (rank 1)"},
                 {CUT_REQUEST, "a request came damaged; start the same command again"},
                 {CUT_ANSWER, "an answer came damaged from another rank; start the same command again"},
                 {LONG_ANSWER, "an answer came damaged from another rank; start the same command again"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ranks ranks = {.count = 2, .fate = cases[i].fate};
        const struct lab_team team = {.ranks = &ranks};
        struct lab_scenario *made = same_scenario(stream), *agents = same_scenario(cluster);
        const struct lab_order order = lab_order_of(agents);
        struct lab_team_call call = {.rank = 1, .service = LAB_SERVICE_STRATEGY};
        struct lab_result *result;
        struct sim_error error;
        char *overrides;
        /* If this process takes all keys before the other rank gets its first block, nothing fails. */
        int tries = 0;
        while (run(made, &ranks, 1, false, &result, &error)) {
            lab_result_destroy(result);
            assert_true(++tries < 1000);
        }
        assert_null(result);
        assert_string_equal(error.text, cases[i].wanted);
        assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
        assert_false(lab_team_result(&team, &call, &order, 1, NULL, &result, &overrides, &error));
        assert_null(result);
        assert_null(overrides);
        assert_string_equal(error.text, cases[i].wanted);
        assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
        lab_scenario_destroy(made);
        lab_scenario_destroy(agents);
    }
}

static void test_stop_reaches_other_ranks(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct lab_scenario *scenario = same_scenario(texts[i]);
        struct ranks ranks = {.count = 3};
        struct lab_result *result;
        struct sim_error error;
        assert_false(run(scenario, &ranks, 1, true, &result, &error));
        assert_null(result);
        assert_non_null(strstr(error.text, "stopped before the end"));
        lab_scenario_destroy(scenario);
    }
}

/* A helper that gets no request for lack of memory does not help; the run may still succeed. */
static void test_ranks_without_memory_fail_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct lab_scenario *scenario = same_scenario(texts[i]);
        struct lab_result *expected = same_undisturbed(scenario), *result;
        struct sim_error error;
        unsigned failed = 0;
        bool is_spent = true;
        for (long nth = 0; is_spent; nth += nth < 100 ? 1 : 37) {
            struct ranks ranks = {.count = 3};
            allocations_left = nth;
            bool ok = run(scenario, &ranks, 1, false, &result, &error);
            is_spent = allocations_left < 0;
            allocations_left = ALLOCATIONS_WITHOUT_END;
            assert_true(ok || is_spent);
            failed += !ok;
            if (ok)
                assert_int_equal(result->digest, expected->digest);
            else
                assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
            if (ok)
                lab_result_destroy(result);
        }
        assert_true(failed > 20);
        lab_result_destroy(expected);
        lab_scenario_destroy(scenario);
    }
}

static void test_calls_without_memory_fail_cleanly(void **state)
{
    (void)state;
    struct lab_scenario *scenario = same_scenario(cluster);
    const struct lab_order order = lab_order_of(scenario);
    /* The calendar of the event queue, four arrays, and larger rings for its timeouts are optional. */
    unsigned failed = 0, borne = 0;
    bool is_spent = true;
    for (long nth = 0; is_spent; nth++) {
        struct ranks ranks = {.count = 2};
        const struct lab_team team = {.ranks = &ranks};
        struct lab_team_call call = {.rank = 1, .service = LAB_SERVICE_STRATEGY};
        struct sim_error error = {SIM_ERROR_NONE, ""};
        struct lab_result *result;
        char *overrides;
        allocations_left = nth;
        bool ok = lab_team_result(&team, &call, &order, 2, NULL, &result, &overrides, &error);
        is_spent = allocations_left < 0;
        allocations_left = ALLOCATIONS_WITHOUT_END;
        assert_true(ok || is_spent);
        assert_int_equal(error.class, ok ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        assert_true(ok == (result != NULL) && ok == (overrides != NULL));
        failed += !ok;
        borne += ok && is_spent;
        lab_result_destroy(result);
        free(overrides);
    }
    assert_true(failed > 50 && borne <= 6);
    lab_scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_ranks_do_not_change_the_result),
        cmocka_unit_test(test_whole_run_and_single_strategy_are_restored_unchanged),
        cmocka_unit_test(test_error_on_another_rank_gives_its_message),
        cmocka_unit_test(test_stop_reaches_other_ranks),
        cmocka_unit_test(test_ranks_without_memory_fail_clean),
        cmocka_unit_test(test_calls_without_memory_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
