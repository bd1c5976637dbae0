/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: for any number of threads, jobs are delivered in order and each once, nothing is lost or freed twice,
 * and the error is that of the first job that fails; so it is on several ranks.
 * Method: jobs of unequal length on 1 to 8 threads; every job's product is counted when made, taken and
 * dropped. Ranks are threads of this process (thread_ranks.h). */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "lab/team.h"
#include "thread_ranks.h"

#define JOBS 200

struct stand {
    _Atomic uint64_t begun, made, dropped;
    uint64_t taken, enough_at, fails_at, fails_too_at, take_fails_at, stop_at;
    bool is_elsewhere,
        waits_for_others; /* on another rank; until one there has begun a job, on a busy machine */
    struct lab_progress *progress;
};

static _Atomic uint64_t begun_elsewhere;

static struct stand *dropping;

static bool work(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error)
{
    struct stand *stand = context;
    stand->begun++;
    begun_elsewhere += stand->is_elsewhere;
    for (int tries = 0; stand->waits_for_others && begun_elsewhere == 0 && tries < 10000; tries++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
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

static void archive(void *context, void **made, struct sim_archive *archive)
{
    (void)context;
    if (archive->is_loading)
        *made = malloc(sizeof(uint64_t));
    sim_archive_u64(archive, *made);
}

static bool run_on_ranks(struct stand *stand, const struct lab_team *team, uint64_t *taken,
                         struct sim_error *error)
{
    struct lab_order order = {.service = LAB_SERVICE_JOBS};
    const struct lab_crew crew = {.context = stand,
                                  .count = JOBS,
                                  .work = work,
                                  .take = take,
                                  .drop = drop,
                                  .team = team,
                                  .order = &order,
                                  .archive = archive};
    return lab_crew_run(&crew, lab_team_threads(team, ranks_own(team->ranks)), stand->progress, taken, error);
}

static bool serve(const struct lab_team *team, const struct lab_order *order,
                  struct sim_archive *order_archive, struct sim_error *error)
{
    struct stand stand = stand_new(NULL);
    uint64_t taken;
    (void)order;
    assert_true(sim_archive_finish_load(order_archive, error));
    stand.fails_at = 84;
    stand.is_elsewhere = true;
    return run_on_ranks(&stand, team, &taken, error);
}

static void test_ranks_do_each_job_once_and_the_first_error_counts(void **state)
{
    static lab_team_service *const services[LAB_SERVICES] = {[LAB_SERVICE_JOBS] = serve};
    (void)state;
    for (uint32_t count = 2; count <= THREAD_RANKS_MAX; count++) {
        struct thread_world world;
        const struct lab_team team = {.ranks = world_begin(&world, count, DELIVERED, services)};
        struct lab_progress progress = {0};
        struct stand stand = stand_new(&progress);
        struct sim_error error = {0};
        uint64_t taken;
        dropping = &stand;
        begun_elsewhere = 0;
        stand.waits_for_others = true;
        stand.fails_at = 84;
        stand.fails_too_at = 85;
        assert_false(run_on_ranks(&stand, &team, &taken, &error));
        world_end(&world);
        assert_int_equal(strncmp(error.text, "job 84", 6), 0);
        assert_int_equal(taken, 84);
        assert_int_equal(stand.taken, 84);
        assert_true(begun_elsewhere > 0 && stand.begun + begun_elsewhere <= JOBS);
    }
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
        cmocka_unit_test(test_ranks_do_each_job_once_and_the_first_error_counts),
        cmocka_unit_test(test_crew_without_jobs_succeeds),
        cmocka_unit_test(test_the_first_error_in_order_is_reported),
        cmocka_unit_test(test_error_in_take_ends_the_crew),
        cmocka_unit_test(test_crew_stops_when_enough_jobs_are_taken),
        cmocka_unit_test(test_external_stop_is_not_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
