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
/* A look costs about so much, and so much time passes at least, and at most, until the next one. */
#define LOOK_NS      4000
#define WAIT_LEAST   INT64_C(50000)
#define WAIT_MOST    INT64_C(2000000)
#define GAP_MOST     INT64_C(1000000000)
#define LOOK_AFTER   INT64_C(200000000)
#define PARENT_EVERY INT64_C(500000000)

struct office {
    struct ranks *ranks;
    /* One part is on its way at a time. */
    struct letter *sending;
    bool has_request, is_head_sent;
    MPI_Request request;
    uint64_t sent;
    /* By rank: a letter whose body has not come as a whole. */
    struct letter **coming;
    uint64_t *received;
    int64_t letter_ns, gap_ns; /* when the last letter came, and how long it is to the next, as a rule */
    int64_t after_ns, parent_ns;
};

static bool work(struct office *office);
static bool send_some(struct office *office, bool *is_busy);
static bool send_part(struct office *office);
static bool receive_one(struct office *office, bool *is_busy);
static bool receive_part(struct office *office, int rank, int size);
static bool is_all_done(struct office *office);
static void look_around(struct office *office, int64_t now_ns);
static int64_t wait_of(int64_t gap_ns);
static bool check(struct office *office, int code);

void *ranks_office(void *argument)
{
    struct office office = {.ranks = argument, .gap_ns = WAIT_LEAST};
    struct ranks *ranks = argument;
    office.coming = calloc(ranks->count, sizeof *office.coming);
    office.received = calloc(ranks->count, sizeof *office.received);
    office.letter_ns = office.after_ns = office.parent_ns = ranks_now_ns();
    if (office.coming == NULL || office.received == NULL)
        ranks_break(ranks, "out of memory; end other programs first");
    else
        while (work(&office))
            continue;
    for (uint32_t i = 0; office.coming != NULL && i < ranks->count; i++)
        ranks_free_letter(office.coming[i]);
    free(office.coming);
    free(office.received);
    ranks_free_letter(office.sending);
    return NULL;
}

/* Sends and receives what there is, or sleeps. False when the office closes. */
static bool work(struct office *office)
{
    struct ranks *ranks = office->ranks;
    bool is_busy = false;
    if (!send_some(office, &is_busy) || !receive_one(office, &is_busy))
        return false;
    if (is_all_done(office))
        return false;
    int64_t now_ns = ranks_now_ns();
    look_around(office, now_ns);
    if (is_busy)
        return true;
    int64_t since_ns = now_ns - office->letter_ns;
    pthread_mutex_lock(&ranks->lock);
    if (office->sending != NULL || ranks->first == NULL)
        ranks_wait(ranks, &ranks->posted,
                   office->sending != NULL ? WAIT_LEAST
                                           : wait_of(since_ns > office->gap_ns ? since_ns : office->gap_ns));
    pthread_mutex_unlock(&ranks->lock);
    return true;
}

static bool send_some(struct office *office, bool *is_busy)
{
    struct ranks *ranks = office->ranks;
    if (office->has_request) {
        int is_done = 0;
        if (!check(office, MPI_Test(&office->request, &is_done, MPI_STATUS_IGNORE)))
            return false;
        if (!is_done)
            return true;
        office->has_request = false;
        *is_busy = true;
    }
    struct letter *letter = office->sending;
    if (letter != NULL && office->sent == letter->head.size) {
        ranks_free_letter(letter);
        office->sending = NULL;
    }
    if (office->sending == NULL) {
        pthread_mutex_lock(&ranks->lock);
        office->sending = ranks->first;
        if (ranks->first != NULL)
            ranks->first = ranks->first->next;
        if (ranks->first == NULL)
            ranks->last = NULL;
        pthread_mutex_unlock(&ranks->lock);
        office->is_head_sent = false;
        office->sent = 0;
    }
    if (office->sending == NULL)
        return true;
    *is_busy = true;
    return send_part(office);
}

static bool send_part(struct office *office)
{
    struct letter *letter = office->sending;
    const void *data = &letter->head;
    uint64_t size = sizeof letter->head;
    if (office->is_head_sent) {
        data = letter->body + office->sent;
        size = letter->head.size - office->sent;
        size = size < PART_BYTES ? size : PART_BYTES;
        office->sent += size;
    }
    office->is_head_sent = office->has_request = true;
    return check(office, MPI_Isend(data, (int)size, MPI_BYTE, (int)letter->rank, TAG, MPI_COMM_WORLD,
                                   &office->request));
}

static bool receive_one(struct office *office, bool *is_busy)
{
    MPI_Status status;
    int is_there = 0, size = 0;
    if (!check(office, MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &status)))
        return false;
    if (!is_there)
        return true;
    *is_busy = true;
    return check(office, MPI_Get_count(&status, MPI_BYTE, &size)) &&
           receive_part(office, status.MPI_SOURCE, size);
}

static bool receive_part(struct office *office, int rank, int size)
{
    struct letter *letter = office->coming[rank];
    bool is_head = letter == NULL;
    void *data;
    if (is_head) {
        letter = office->coming[rank] = calloc(1, sizeof *letter);
        data = letter == NULL ? NULL : &letter->head;
        office->received[rank] = 0;
    } else {
        data = letter->body + office->received[rank];
    }
    if (data != NULL &&
        !check(office, MPI_Recv(data, size, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)))
        return false;
    if (data != NULL && is_head) {
        letter->rank = (uint32_t)rank;
        letter->body = malloc(letter->head.size + 1);
    } else {
        office->received[rank] += (uint64_t)size;
    }
    if (data == NULL || letter->body == NULL) {
        ranks_break(office->ranks, "out of memory; end other programs first, or use fewer threads");
        return false;
    }
    if (office->received[rank] < letter->head.size)
        return true;
    int64_t now_ns = ranks_now_ns();
    office->gap_ns += (now_ns - office->letter_ns - office->gap_ns) / 4;
    office->letter_ns = now_ns;
    office->coming[rank] = NULL;
    ranks_deliver(office->ranks, letter);
    return true;
}

/* What another rank sends late must still be taken in: a large letter that nobody takes keeps its sender from
 * leaving, and MPI then keeps us. Who was never called has nothing to send. */
static bool is_all_done(struct office *office)
{
    struct ranks *ranks = office->ranks;
    pthread_mutex_lock(&ranks->lock);
    bool is_last = ranks->own != 0 || ranks->last_call == 0 || ranks->left_count == ranks->count - 1;
    bool is_all = ranks->is_closing && is_last && ranks->first == NULL && office->sending == NULL;
    pthread_mutex_unlock(&ranks->lock);
    return is_all;
}

static void look_around(struct office *office, int64_t now_ns)
{
    struct ranks *ranks = office->ranks;
    if (now_ns - office->after_ns >= LOOK_AFTER) {
        office->after_ns = now_ns;
        pthread_mutex_lock(&ranks->lock);
        ranks_look_after(ranks);
        pthread_mutex_unlock(&ranks->lock);
    }
    if (now_ns - office->parent_ns >= PARENT_EVERY) {
        office->parent_ns = now_ns;
        if (getppid() != ranks->parent) {
            ranks_break(ranks, "mpirun has gone; start the same command again");
            kill(getpid(), SIGTERM); /* as mpirun itself ends a job */
        }
    }
}

/* Looking too often costs time, and so does a letter that lies about: half the wait, as a rule. The sum is
 * least where both are equal. */
static int64_t wait_of(int64_t gap_ns)
{
    int64_t wait_ns = WAIT_LEAST;
    gap_ns = gap_ns < GAP_MOST ? gap_ns : GAP_MOST; /* so that the product fits */
    while (wait_ns < WAIT_MOST && wait_ns * wait_ns < 2 * LOOK_NS * gap_ns)
        wait_ns += wait_ns / 4;
    return wait_ns;
}

static bool check(struct office *office, int code)
{
    char text[MPI_MAX_ERROR_STRING + 128], what[MPI_MAX_ERROR_STRING];
    int size = 0;
    if (code == MPI_SUCCESS)
        return true;
    if (MPI_Error_string(code, what, &size) != MPI_SUCCESS)
        size = 0;
    snprintf(text, sizeof text, "MPI lost a rank (%.*s); start the same command again", size, what);
    ranks_break(office->ranks, text);
    return false;
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
