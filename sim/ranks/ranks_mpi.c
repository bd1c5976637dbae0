/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The implementation over MPI. In: the processes that mpirun started. It keeps a window of rank 0 with the
 * counter. Out: orders by broadcast, numbers by fetch-and-add, and what each rank has done, in parts.
 *
 * MPI's own waits would keep a processor busy, so each collective is begun without waiting and then polled,
 * with sleeps in between. Several threads call MPI, one at a time, under a lock. Over a network, other ranks
 * reach the counter only while rank 0 is within MPI, so rank 0 polls while its threads work. */
#define _GNU_SOURCE
#include "ranks/ranks.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TAG        1
#define PART_BYTES ((uint64_t)1 << 26)
#define LEAVING    UINT64_MAX /* the size of the order with which rank 0 leaves */
/* Time between two polls, and between two looks whether mpirun lives; how long a stopped rank 0 still waits
 * for the others. */
#define POLL_LEAST   INT64_C(20000)
#define POLL_MOST    INT64_C(1000000)
#define REST_MOST    INT64_C(2000000)
#define IDLE_MOST    INT64_C(8000000)
#define PARENT_EVERY INT64_C(500000000)
#define FAREWELL_NS  INT64_C(400000000)
/* How long the threads work before the first gathering, and how many times as long as rank 0 waited for one.
 */
#define ROUND_FIRST_NS INT64_C(250000000)
#define ROUND_PER_WAIT 32

struct about {
    char program[64], host[64];
    uint32_t threads;
};

struct ranks {
    uint32_t count, own;
    struct about *about; /* of each rank */
    uint64_t *sizes;     /* of each rank: the bytes that it sends, on rank 0 */
    MPI_Win window;
    uint64_t *counter; /* on rank 0 */
    pid_t parent;      /* the process that launched this one */
    int64_t parent_ns, shared_ns, round_ns;
    pthread_mutex_t lock; /* of MPI */
    bool is_joined;
    _Atomic bool is_lost;
    char why[MPI_MAX_ERROR_STRING];
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A rank other than 0 cannot report the failure, and leaves. */
static bool lose(struct ranks *ranks, const char *why)
{
    if (ranks->own != 0)
        _exit(SIM_ERROR_ENVIRONMENT);
    if (!ranks->is_lost)
        snprintf(ranks->why, sizeof ranks->why, "%s", why);
    ranks->is_lost = true;
    return false;
}

static bool check(struct ranks *ranks, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int size = 0;
    if (code == MPI_SUCCESS)
        return true;
    if (MPI_Error_string(code, text, &size) != MPI_SUCCESS)
        size = 0;
    text[size] = '\0';
    return lose(ranks, text);
}

static bool fail_lost(const struct ranks *ranks, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT, "MPI lost a rank (%.*s); start the same command again", 100,
                    ranks->why);
}

/* Sleeps for an eighth of the time that has passed since since_ns. When mpirun has gone, ends the process by
 * the signal with which mpirun ends a job. */
static void doze(struct ranks *ranks, int64_t since_ns, int64_t most_ns)
{
    int64_t now = now_ns(), wait_ns = (now - since_ns) / 8;
    wait_ns = wait_ns < POLL_LEAST ? POLL_LEAST : wait_ns < most_ns ? wait_ns : most_ns;
    if (now - ranks->parent_ns >= PARENT_EVERY) {
        ranks->parent_ns = now;
        if (getppid() != ranks->parent) {
            lose(ranks, "mpirun has gone");
            kill(getpid(), SIGTERM);
        }
    }
    nanosleep(&(struct timespec){.tv_nsec = (long)wait_ns}, NULL);
}

/* Waits for a request whose begin returned `code`. is_stopped may be NULL. */
static bool finish(struct ranks *ranks, int code, MPI_Request *request, int64_t most_ns,
                   bool (*is_stopped)(const void *context), const void *context)
{
    const int64_t begin_ns = now_ns();
    int64_t leave_ns = INT64_MAX;
    if (!check(ranks, code))
        return false;
    for (;;) {
        int is_done = 0;
        pthread_mutex_lock(&ranks->lock);
        bool is_fine = check(ranks, MPI_Test(request, &is_done, MPI_STATUS_IGNORE));
        pthread_mutex_unlock(&ranks->lock);
        if (!is_fine || is_done)
            return is_fine;
        if (ranks->is_lost || now_ns() > leave_ns)
            return lose(ranks, "it does not answer");
        if (ranks->own == 0 && leave_ns == INT64_MAX && is_stopped != NULL && is_stopped(context))
            leave_ns = now_ns() + FAREWELL_NS;
        doze(ranks, begin_ns, most_ns);
    }
}

/* In parts, since MPI counts in ints: broadcasts from rank 0, or sends from `from` to rank 0. */
static bool move_parts(struct ranks *ranks, const struct ranks_bytes *bytes, uint32_t from)
{
    for (uint64_t sent = 0; sent < bytes->size; sent += PART_BYTES) {
        const uint64_t left = bytes->size - sent;
        const int part = (int)(left < PART_BYTES ? left : PART_BYTES);
        MPI_Request request;
        int code;
        pthread_mutex_lock(&ranks->lock);
        if (from == 0)
            code = MPI_Ibcast(bytes->data + sent, part, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        else if (ranks->own == 0)
            code = MPI_Irecv(bytes->data + sent, part, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, &request);
        else
            code = MPI_Isend(bytes->data + sent, part, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
        pthread_mutex_unlock(&ranks->lock);
        if (!finish(ranks, code, &request, POLL_MOST, NULL, NULL))
            return false;
    }
    return true;
}

/* Sets the counter, and returns its old value. With the lock held. */
static uint64_t count_from(struct ranks *ranks, uint64_t first)
{
    uint64_t before = RANKS_CLOSED;
    MPI_Fetch_and_op(&first, &before, MPI_UINT64_T, 0, 0, MPI_REPLACE, ranks->window);
    MPI_Win_flush(0, ranks->window);
    return before;
}

bool ranks_share(struct ranks *ranks, struct ranks_bytes *order, uint64_t first)
{
    MPI_Request request;
    uint64_t size = order->size;
    if (ranks->is_lost)
        return false;
    pthread_mutex_lock(&ranks->lock);
    if (ranks->own == 0) /* the others draw no number before they have the order */
        count_from(ranks, first);
    int code = MPI_Ibcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&ranks->lock);
    if (!finish(ranks, code, &request, IDLE_MOST, NULL, NULL) || size == LEAVING)
        return false;
    if (ranks->own != 0) {
        *order = (struct ranks_bytes){malloc(size + 1), size};
        if (order->data == NULL) {
            fputs("out of memory; end other programs first\n", stderr);
            _exit(SIM_ERROR_ENVIRONMENT);
        }
    }
    ranks->shared_ns = now_ns();
    return move_parts(ranks, order, 0);
}

uint64_t ranks_draw(struct ranks *ranks)
{
    const uint64_t one = 1;
    uint64_t drawn = UINT64_MAX;
    pthread_mutex_lock(&ranks->lock);
    bool is_fine = check(ranks, MPI_Fetch_and_op(&one, &drawn, MPI_UINT64_T, 0, 0, MPI_SUM, ranks->window)) &&
                   check(ranks, MPI_Win_flush(0, ranks->window));
    pthread_mutex_unlock(&ranks->lock);
    return is_fine ? drawn : UINT64_MAX;
}

uint64_t ranks_close(struct ranks *ranks)
{
    pthread_mutex_lock(&ranks->lock);
    const uint64_t next = count_from(ranks, RANKS_CLOSED);
    pthread_mutex_unlock(&ranks->lock);
    return next;
}

bool ranks_rest(struct ranks *ranks)
{
    int is_there;
    pthread_mutex_lock(&ranks->lock);
    check(ranks, MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE));
    pthread_mutex_unlock(&ranks->lock);
    doze(ranks, ranks->shared_ns, REST_MOST);
    return now_ns() - ranks->shared_ns >= ranks->round_ns;
}

bool ranks_gather(struct ranks *ranks, const struct ranks_bytes *mine,
                  void (*take)(void *context, const struct ranks_bytes *bytes),
                  bool (*is_stopped)(const void *context), void *context, struct sim_error *error)
{
    MPI_Request request;
    const uint64_t size = mine->size;
    const int64_t begin_ns = now_ns();
    pthread_mutex_lock(&ranks->lock);
    int code =
        MPI_Igather(&size, 1, MPI_UINT64_T, ranks->sizes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&ranks->lock);
    bool is_fine = finish(ranks, code, &request, POLL_MOST, is_stopped, context);
    const int64_t wanted_ns = (now_ns() - begin_ns) * ROUND_PER_WAIT;
    ranks->round_ns = wanted_ns > ranks->round_ns ? wanted_ns : ranks->round_ns;
    if (ranks->own != 0)
        is_fine = is_fine && move_parts(ranks, mine, ranks->own);
    for (uint32_t rank = 1; is_fine && ranks->own == 0 && rank < ranks->count; rank++) {
        struct ranks_bytes bytes = {malloc(ranks->sizes[rank] + 1), ranks->sizes[rank]};
        if (bytes.data == NULL) {
            lose(ranks, "out of memory for what it has sent");
            return sim_fail_memory(error);
        }
        is_fine = move_parts(ranks, &bytes, rank);
        if (is_fine)
            take(context, &bytes);
        free(bytes.data);
    }
    return is_fine || fail_lost(ranks, error);
}

uint32_t ranks_count(const struct ranks *ranks)
{
    return ranks == NULL ? 1 : ranks->count;
}

uint32_t ranks_own(const struct ranks *ranks)
{
    return ranks == NULL ? 0 : ranks->own;
}

static uint32_t online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > (long)RANKS_THREADS_MAX ? RANKS_THREADS_MAX : (uint32_t)count;
}

uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank)
{
    return ranks == NULL ? online() : ranks->about[rank].threads;
}

const char *ranks_host(const struct ranks *ranks, uint32_t rank)
{
    return ranks->about[rank].host;
}

/* The rank's share of the host's processors, or the processors to which mpirun has bound it if these are
 * fewer. */
static uint32_t own_threads(void)
{
    MPI_Comm host;
    int there = 1;
    cpu_set_t set;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) == MPI_SUCCESS) {
        MPI_Comm_size(host, &there);
        MPI_Comm_free(&host);
    }
    uint32_t threads = online() / (uint32_t)there;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && (uint32_t)CPU_COUNT(&set) < threads)
        threads = (uint32_t)CPU_COUNT(&set);
    return threads < 1 ? 1 : threads;
}

static bool join(struct ranks *ranks, const char *program, struct sim_error *error)
{
    int level, count, own, size = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "MPI does not start; see its message above");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    ranks->count = (uint32_t)count;
    ranks->own = (uint32_t)own;
    if (level < MPI_THREAD_SERIALIZED)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s",
                        own == 0 ? "this MPI does not support threads; use an Open MPI that does" : "");
    ranks->about = calloc(ranks->count, sizeof *ranks->about);
    ranks->sizes = calloc(ranks->count, sizeof *ranks->sizes);
    if (ranks->about == NULL || ranks->sizes == NULL)
        return sim_fail_memory(error);
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    struct about mine = {.threads = own_threads()};
    MPI_Get_processor_name(host, &size);
    snprintf(mine.program, sizeof mine.program, "%s", program);
    snprintf(mine.host, sizeof mine.host, "%.*s", (int)sizeof mine.host - 1, host);
    bool is_fine = MPI_Allgather(&mine, sizeof mine, MPI_BYTE, ranks->about, sizeof mine, MPI_BYTE,
                                 MPI_COMM_WORLD) == MPI_SUCCESS &&
                   MPI_Win_allocate(own == 0 ? sizeof(uint64_t) : 0, sizeof(uint64_t), MPI_INFO_NULL,
                                    MPI_COMM_WORLD, &ranks->counter, &ranks->window) == MPI_SUCCESS &&
                   MPI_Win_lock_all(MPI_MODE_NOCHECK, ranks->window) == MPI_SUCCESS;
    if (!is_fine)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s",
                        own == 0 ? "MPI lost a rank at the start; start the same command again" : "");
    MPI_Win_set_errhandler(ranks->window, MPI_ERRORS_RETURN);
    return ranks->is_joined = true;
}

static bool compare(const struct ranks *ranks, struct sim_error *error)
{
    const struct about *mine = &ranks->about[0];
    for (uint32_t i = 1; i < ranks->count; i++) {
        const struct about *other = &ranks->about[i];
        if (strncmp(mine->program, other->program, sizeof mine->program) != 0)
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: rank %u on %s runs %s, and rank 0 on %s %s; install the same everywhere",
                (unsigned)i, other->host, other->program, mine->host, mine->program);
    }
    return true;
}

bool ranks_begin(const char *program, struct ranks **out, struct sim_error *error)
{
    *out = NULL;
    /* Without mpirun, MPI is not initialised, since that takes long. */
    if (getenv("OMPI_COMM_WORLD_SIZE") == NULL && getenv("PMIX_RANK") == NULL && getenv("PMI_RANK") == NULL)
        return true;
    struct ranks *ranks = *out = calloc(1, sizeof *ranks);
    if (ranks == NULL)
        return sim_fail_memory(error);
    ranks->parent = getppid();
    ranks->round_ns = ROUND_FIRST_NS;
    pthread_mutex_init(&ranks->lock, NULL);
    /* Signals must be handled by the program's own threads, so they are blocked in those that MPI creates. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_fine = join(ranks, program, error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_fine && (ranks->own != 0 || compare(ranks, error));
}

/* A rank that was interrupted, or has lost another, does not wait for ranks that may have ended: MPI ends the
 * job when a rank exits like this. */
void ranks_end(struct ranks *ranks, int code)
{
    if (ranks == NULL)
        return;
    if (!ranks->is_joined || code > 128 ||
        (ranks->own == 0 && !ranks_share(ranks, &(struct ranks_bytes){NULL, LEAVING}, 0) && ranks->is_lost)) {
        fflush(NULL);
        _exit(code);
    }
    MPI_Win_unlock_all(ranks->window);
    MPI_Win_free(&ranks->window);
    MPI_Finalize();
    pthread_mutex_destroy(&ranks->lock);
    free(ranks->about);
    free(ranks->sizes);
    free(ranks);
}
