/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress thread of MPI: sends and receives the messages of all ranks. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ranks.h"

#define TAG        1
#define PART_BYTES ((uint64_t)1 << 26)
/* The cost of a poll, most of which is two switches of threads, and the shortest and the longest time between
 * two polls. */
#define LOOK_NS    20000
#define WAIT_LEAST INT64_C(50000)
#define WAIT_MOST  INT64_C(8000000)
/* A message of more bytes may be sent piece by piece, one piece for each poll. */
#define LARGE_BYTES  65536
#define GAP_MOST     INT64_C(1000000000)
#define LOOK_AFTER   INT64_C(200000000)
#define PARENT_EVERY INT64_C(500000000)

struct progress {
    struct ranks *ranks;
    /* One part of one message is being sent at a time. */
    struct ranks_message *sending;
    bool has_request, is_head_sent;
    MPI_Request request;
    uint64_t sent;
    /* For each rank, the message whose body has not arrived completely. */
    struct ranks_message **coming;
    uint64_t *received;
    int64_t message_ns, gap_ns; /* when the last message arrived, and the typical time between two messages */
    int64_t busy_ns;            /* when a message was last sent or received */
    int64_t after_ns, parent_ns;
};

static bool check(struct progress *progress, int code)
{
    char text[MPI_MAX_ERROR_STRING + 128], what[MPI_MAX_ERROR_STRING];
    int size = 0;
    if (code == MPI_SUCCESS)
        return true;
    if (MPI_Error_string(code, what, &size) != MPI_SUCCESS)
        size = 0;
    snprintf(text, sizeof text, "MPI lost a rank (%.*s); start the same command again", size, what);
    ranks_break(progress->ranks, text);
    return false;
}

static bool send_part(struct progress *progress)
{
    struct ranks_message *message = progress->sending;
    const void *data = &message->head;
    uint64_t size = sizeof message->head;
    if (progress->is_head_sent) {
        data = message->body + progress->sent;
        size = message->head.size - progress->sent;
        size = size < PART_BYTES ? size : PART_BYTES;
        progress->sent += size;
    }
    progress->is_head_sent = progress->has_request = true;
    return check(progress, MPI_Isend(data, (int)size, MPI_BYTE, (int)message->rank, TAG, MPI_COMM_WORLD,
                                     &progress->request));
}

static bool send_some(struct progress *progress, bool *is_busy)
{
    struct ranks *ranks = progress->ranks;
    if (progress->has_request) {
        int is_done = 0;
        if (!check(progress, MPI_Test(&progress->request, &is_done, MPI_STATUS_IGNORE)))
            return false;
        if (!is_done)
            return true;
        progress->has_request = false;
        *is_busy = true;
    }
    struct ranks_message *message = progress->sending;
    if (message != NULL && progress->sent == message->head.size) {
        ranks_free_message(message);
        progress->sending = NULL;
    }
    if (progress->sending == NULL) {
        pthread_mutex_lock(&ranks->lock);
        progress->sending = ranks->first;
        if (ranks->first != NULL)
            ranks->first = ranks->first->next;
        if (ranks->first == NULL)
            ranks->last = NULL;
        pthread_mutex_unlock(&ranks->lock);
        progress->is_head_sent = false;
        progress->sent = 0;
    }
    if (progress->sending == NULL)
        return true;
    *is_busy = true;
    return send_part(progress);
}

static bool receive_part(struct progress *progress, int rank, int size)
{
    struct ranks_message *message = progress->coming[rank];
    bool is_head = message == NULL;
    void *data;
    if (is_head) {
        message = progress->coming[rank] = calloc(1, sizeof *message);
        data = message == NULL ? NULL : &message->head;
        progress->received[rank] = 0;
    } else {
        data = message->body + progress->received[rank];
    }
    if (data != NULL &&
        !check(progress, MPI_Recv(data, size, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)))
        return false;
    if (data != NULL && is_head) {
        message->rank = (uint32_t)rank;
        message->body = malloc(message->head.size + 1);
    } else {
        progress->received[rank] += (uint64_t)size;
    }
    if (data == NULL || message->body == NULL) {
        ranks_break(progress->ranks, "out of memory; end other programs first, or use fewer threads");
        return false;
    }
    if (progress->received[rank] < message->head.size)
        return true;
    int64_t now_ns = ranks_now_ns();
    progress->gap_ns += (now_ns - progress->message_ns - progress->gap_ns) / 4;
    progress->message_ns = now_ns;
    progress->coming[rank] = NULL;
    ranks_deliver(progress->ranks, message);
    return true;
}

/* Open MPI looks for a message first, and then takes in those that have arrived, so a second look finds what
 * the first has taken in. */
static bool receive_one(struct progress *progress, bool *is_busy)
{
    MPI_Status status;
    int is_there = 0, size = 0;
    for (int look = 0; look < 2 && !is_there; look++) {
        if (!check(progress, MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &status)))
            return false;
    }
    if (!is_there)
        return true;
    *is_busy = true;
    return check(progress, MPI_Get_count(&status, MPI_BYTE, &size)) &&
           receive_part(progress, status.MPI_SOURCE, size);
}

/* Late messages of other ranks must still be received: a large message that is not received prevents its
 * sender from leaving, and MPI then blocks this rank too. A rank that was never called sends nothing. */
static bool is_all_done(struct progress *progress)
{
    struct ranks *ranks = progress->ranks;
    pthread_mutex_lock(&ranks->lock);
    bool is_last = ranks->own != 0 || ranks->last_call == 0 || ranks->left_count == ranks->count - 1;
    bool is_all = ranks->is_closing && is_last && ranks->first == NULL && progress->sending == NULL;
    pthread_mutex_unlock(&ranks->lock);
    return is_all;
}

static void look_around(struct progress *progress, int64_t now_ns)
{
    struct ranks *ranks = progress->ranks;
    if (now_ns - progress->after_ns >= LOOK_AFTER) {
        progress->after_ns = now_ns;
        pthread_mutex_lock(&ranks->lock);
        ranks_look_after(ranks);
        pthread_mutex_unlock(&ranks->lock);
    }
    if (now_ns - progress->parent_ns >= PARENT_EVERY) {
        progress->parent_ns = now_ns;
        if (getppid() != ranks->parent) {
            ranks_break(ranks, "mpirun has gone; start the same command again");
            kill(getpid(), SIGTERM); /* the signal with which mpirun ends a job */
        }
    }
}

/* The time to wait between polls. A rank has its next call before it ends one, so while all work, messages
 * can wait for a part of the time between two of them. A rank other than 0 that has no work gets some soon
 * after its last message. Ranks that have sent an answer wait for rank 0: frequent polls cost time, and so
 * does an answer that waits for the next poll, on average half the interval. The sum of both is smallest when
 * they are equal. Called with the lock held. */
static int64_t wait_of(const struct progress *progress, int64_t now_ns)
{
    const struct ranks *ranks = progress->ranks;
    int64_t gap_ns = now_ns - progress->message_ns, since_ns = now_ns - progress->busy_ns,
            wait_ns = WAIT_LEAST;
    gap_ns = gap_ns > progress->gap_ns ? gap_ns : progress->gap_ns;
    gap_ns = gap_ns < GAP_MOST ? gap_ns : GAP_MOST; /* so that the product does not overflow */
    if ((ranks->own != 0 && ranks->tasks == NULL) || ranks->is_closing)
        wait_ns = since_ns / 8;
    else if (ranks->own != 0 || ranks->call_count == 0)
        wait_ns = gap_ns / 8;
    else
        while (wait_ns * wait_ns < 2 * LOOK_NS * gap_ns)
            wait_ns += wait_ns / 4;
    if (progress->sending != NULL) {
        int64_t send_ns = progress->sending->head.size > LARGE_BYTES ? WAIT_LEAST : since_ns / 2;
        wait_ns = send_ns < wait_ns ? send_ns : wait_ns;
    }
    return wait_ns < WAIT_LEAST ? WAIT_LEAST : wait_ns < WAIT_MOST ? wait_ns : WAIT_MOST;
}

/* Sends and receives pending messages, or sleeps. Returns false when the thread must end. */
static bool work(struct progress *progress)
{
    struct ranks *ranks = progress->ranks;
    bool is_busy = false;
    if (!send_some(progress, &is_busy) || !receive_one(progress, &is_busy))
        return false;
    if (is_all_done(progress))
        return false;
    int64_t now_ns = ranks_now_ns();
    look_around(progress, now_ns);
    if (is_busy) {
        progress->busy_ns = now_ns;
        return true;
    }
    pthread_mutex_lock(&ranks->lock);
    if (progress->sending != NULL || ranks->first == NULL)
        ranks_wait(ranks, &ranks->queued, wait_of(progress, now_ns));
    pthread_mutex_unlock(&ranks->lock);
    return true;
}

void *ranks_progress_thread(void *argument)
{
    struct progress progress = {.ranks = argument, .gap_ns = WAIT_LEAST};
    struct ranks *ranks = argument;
    progress.coming = calloc(ranks->count, sizeof *progress.coming);
    progress.received = calloc(ranks->count, sizeof *progress.received);
    progress.message_ns = progress.busy_ns = progress.after_ns = progress.parent_ns = ranks_now_ns();
    if (progress.coming == NULL || progress.received == NULL)
        ranks_break(ranks, "out of memory; end other programs first");
    else
        while (work(&progress))
            continue;
    for (uint32_t i = 0; progress.coming != NULL && i < ranks->count; i++)
        ranks_free_message(progress.coming[i]);
    free(progress.coming);
    free(progress.received);
    ranks_free_message(progress.sending);
    return NULL;
}

int64_t ranks_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void ranks_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void ranks_wait(struct ranks *ranks, pthread_cond_t *condition, int64_t wait_ns)
{
    int64_t until_ns = ranks_now_ns() + wait_ns;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                                   .tv_nsec = (long)(until_ns % 1000000000)};
    pthread_cond_timedwait(condition, &ranks->lock, &until);
}
