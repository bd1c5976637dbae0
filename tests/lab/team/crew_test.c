/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: for any number of threads, jobs are delivered in order and each once, nothing is lost or freed twice,
 * and the error is that of the first job that fails. Another rank has one more job than threads, until few
 * are left.
 * Method: jobs of unequal length on 1 to 8 threads; every job's product is counted when made, taken and
 * dropped. Ranks are replaced by functions that count the jobs of each. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "lab/crew.h"

#define JOBS 200

struct stand {
    _Atomic uint64_t begun, made, dropped;
    uint64_t taken, enough_at, fails_at, fails_too_at, take_fails_at, stop_at;
    struct lab_progress *progress;
};

static struct stand *dropping;

static bool work(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error)
{
    struct stand *stand = context;
    stand->begun++;
    /* Every seventh job is slow, so that others overtake it. */
    const struct timespec pause = {.tv_nsec = job % 7 == 0 ? 300000 : 1000};
    nanosleep(&pause, NULL);
    if (job == stand->stop_at)
        stand->progress->stop = true;
    if (lab_is_stopped(progress))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "stopped");
    if (job == stand->fails_at || job == stand->fails_too_at)
        return sim_fail(error, SIM_ERROR_INPUT, "job %d", (int)job);
    uint64_t *number = malloc(sizeof *number);
    assert_non_null(number);
    *number = job;
    *made = number;
    stand->made++;
    return true;
}

static bool take(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    struct stand *stand = context;
    assert_int_equal(job, stand->taken);
    assert_int_equal(*(uint64_t *)made, job);
    free(made);
    stand->taken++;
    *is_enough = job == stand->enough_at;
    return job != stand->take_fails_at || sim_fail(error, SIM_ERROR_ENVIRONMENT, "take %d", (int)job);
}

static void drop(void *made)
{
    free(made);
    dropping->dropped++;
}

static struct stand stand_new(struct lab_progress *progress)
{
    return (struct stand){.enough_at = UINT64_MAX,
                          .fails_at = UINT64_MAX,
                          .fails_too_at = UINT64_MAX,
                          .take_fails_at = UINT64_MAX,
                          .stop_at = UINT64_MAX,
                          .progress = progress};
}

static bool run(struct stand *stand, uint32_t threads, uint64_t *taken, struct sim_error *error)
{
    const struct lab_crew crew = {.context = stand, .count = JOBS, .work = work, .take = take, .drop = drop};
    dropping = stand;
    *error = (struct sim_error){0};
    bool is_fine = lab_crew_run(&crew, threads, stand->progress, taken, error);
    assert_int_equal(stand->made, stand->taken + stand->dropped);
    return is_fine;
}

static void test_jobs_are_taken_in_order(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads++) {
        struct lab_progress progress = {0};
        struct stand stand = stand_new(&progress);
        struct sim_error error;
        uint64_t taken;
        assert_true(run(&stand, threads, &taken, &error));
        assert_int_equal(taken, JOBS);
        assert_int_equal(stand.taken, JOBS);
        assert_int_equal(stand.begun, JOBS);
        assert_int_equal(progress.total, JOBS);
        assert_int_equal(progress.done, JOBS);
    }
}

#define RANKS      3u
#define THREADS    2u
#define LONGEST_MS 120000u

/* The ranks of a team, none of which is called. */
struct ranks {
    uint32_t threads[RANKS];
    uint32_t expected[RANKS];                 /* jobs wait until each rank has had this number at once */
    _Atomic uint32_t now[RANKS], most[RANKS]; /* numbers of jobs */
    _Atomic uint32_t waited_ms;               /* the sum of all jobs */
};

uint32_t ranks_count(const struct ranks *ranks)
{
    return ranks == NULL ? 1 : RANKS;
}

uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank)
{
    return ranks->threads[rank];
}

bool ranks_call(struct ranks *ranks, const struct ranks_call *call, struct ranks_bytes *answer,
                struct sim_error *error)
{
    (void)ranks;
    (void)call;
    (void)answer;
    return sim_fail(error, SIM_ERROR_CHECK, "called");
}

void ranks_watch(struct ranks_task *task, ranks_watch_function *watch, void *context)
{
    (void)task;
    (void)watch;
    (void)context;
}

static struct ranks *there;

/* Waits, however busy the machine is; after LONGEST_MS of all jobs, the test fails. */
static void wait_for_expected(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    bool is_waiting = true;
    while (is_waiting && there->waited_ms < LONGEST_MS) {
        is_waiting = false;
        for (uint32_t rank = 1; rank < RANKS; rank++)
            is_waiting = is_waiting || there->most[rank] < there->expected[rank];
        if (is_waiting) {
            nanosleep(&pause, NULL);
            there->waited_ms++;
        }
    }
}

static bool work_near(void *context, uint64_t job, struct lab_progress *progress, void **made,
                      struct sim_error *error)
{
    wait_for_expected();
    return work(context, job, progress, made, error);
}

static bool work_far(void *context, uint64_t job, uint32_t rank, struct lab_progress *progress, void **made,
                     struct sim_error *error)
{
    const uint32_t now = ++there->now[rank];
    uint32_t most = there->most[rank];
    while (now > most && !atomic_compare_exchange_weak(&there->most[rank], &most, now))
        continue;
    wait_for_expected();
    const bool is_fine = work(context, job, progress, made, error);
    there->now[rank]--;
    return is_fine;
}

static void run_on_ranks(uint64_t jobs, struct ranks *ranks)
{
    const struct lab_team team = {.ranks = ranks};
    struct lab_progress progress = {0};
    struct stand stand = stand_new(&progress);
    const struct lab_crew crew = {.context = &stand,
                                  .count = jobs,
                                  .work = work_near,
                                  .take = take,
                                  .drop = drop,
                                  .team = &team,
                                  .work_far = work_far};
    struct sim_error error;
    uint64_t taken;
    there = ranks;
    dropping = &stand;
    assert_true(lab_crew_run(&crew, THREADS, &progress, &taken, &error));
    assert_int_equal(taken, jobs);
}

/* If there are few jobs, no rank has one that another rank could begin at once. */
static void test_other_ranks_have_one_job_more_than_threads_if_there_are_many(void **state)
{
    (void)state;
    struct ranks many = {.threads = {THREADS, 1, 4}, .expected = {0, 2, 5}};
    struct ranks few = {.threads = {THREADS, 1, 4}, .expected = {0, 1, 4}};
    run_on_ranks(JOBS, &many);
    run_on_ranks(THREADS + 2 + 5, &few);
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        assert_int_equal(many.most[rank], many.expected[rank]);
        assert_true(few.most[rank] <= few.threads[rank]);
    }
}

/* With as many jobs as threads of all ranks, all of them run at the same time. */
static void test_each_thread_of_a_rank_has_one_of_few_jobs(void **state)
{
    (void)state;
    struct ranks ranks = {.threads = {THREADS, 1, 4}, .expected = {0, 1, 4}};
    run_on_ranks(THREADS + 1 + 4, &ranks);
    for (uint32_t rank = 1; rank < RANKS; rank++)
        assert_int_equal(ranks.most[rank], ranks.threads[rank]);
}

static void test_crew_without_jobs_succeeds(void **state)
{
    (void)state;
    struct stand stand = stand_new(NULL);
    const struct lab_crew crew = {.context = &stand, .work = work, .take = take, .drop = drop};
    struct sim_error error = {0};
    uint64_t taken = 1;
    assert_true(lab_crew_run(&crew, 4, NULL, &taken, &error));
    assert_int_equal(taken, 0);
}

static void test_the_first_error_in_order_is_reported(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads++) {
        struct stand stand = stand_new(NULL);
        stand.fails_at = 84; /* a slow job */
        stand.fails_too_at = 85;
        struct sim_error error;
        uint64_t taken;
        assert_false(run(&stand, threads, &taken, &error));
        assert_string_equal(error.text, "job 84");
        assert_int_equal(error.class, SIM_ERROR_INPUT);
        assert_int_equal(taken, 84);
        assert_true(stand.begun < JOBS);
    }
}

static void test_error_in_take_ends_the_crew(void **state)
{
    (void)state;
    struct stand stand = stand_new(NULL);
    stand.take_fails_at = 50;
    struct sim_error error;
    uint64_t taken;
    assert_false(run(&stand, 3, &taken, &error));
    assert_string_equal(error.text, "take 50");
    assert_int_equal(taken, 50);
    assert_int_equal(stand.taken, 51);
}

static void test_crew_stops_when_enough_jobs_are_taken(void **state)
{
    (void)state;
    struct stand stand = stand_new(NULL);
    stand.enough_at = 63;
    stand.fails_at = 64;
    struct sim_error error;
    uint64_t taken;
    assert_true(run(&stand, 4, &taken, &error));
    assert_int_equal(taken, 64);
    assert_true(stand.begun < JOBS);
}

static void test_external_stop_is_not_an_error(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct lab_progress progress = {0};
        struct stand stand = stand_new(&progress);
        stand.stop_at = 100;
        struct sim_error error;
        uint64_t taken;
        assert_true(run(&stand, threads, &taken, &error));
        assert_int_equal(taken, stand.taken);
        assert_true(taken <= 100 + threads);
        assert_true(stand.begun < JOBS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_are_taken_in_order),
        cmocka_unit_test(test_other_ranks_have_one_job_more_than_threads_if_there_are_many),
        cmocka_unit_test(test_each_thread_of_a_rank_has_one_of_few_jobs),
        cmocka_unit_test(test_crew_without_jobs_succeeds),
        cmocka_unit_test(test_the_first_error_in_order_is_reported),
        cmocka_unit_test(test_error_in_take_ends_the_crew),
        cmocka_unit_test(test_crew_stops_when_enough_jobs_are_taken),
        cmocka_unit_test(test_external_stop_is_not_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
