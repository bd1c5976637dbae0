/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the implementation over MPI.
 *
 * Each rank has a progress thread, the only one that calls MPI: it sends the messages that other threads have
 * queued, and delivers the messages that arrive. Waiting within MPI would keep a processor busy, so the
 * progress thread polls for messages and sleeps in between. A message is a head, followed by a body in parts;
 * MPI preserves the order of messages from one rank to another. */
#ifndef RANKS_PRIVATE_H
#define RANKS_PRIVATE_H

#include <pthread.h>
#include <sys/types.h>

#include "ranks/ranks.h"

#define RANKS_HOST_SIZE 64

enum ranks_message_kind {
    RANKS_MESSAGE_CALL = 1, /* from rank 0: call service `a`, at most `b` at once; the body is the request */
    RANKS_MESSAGE_CANCEL,   /* from rank 0: no thread waits for the answer any more */
    RANKS_MESSAGE_END,      /* from rank 0: the rank must leave */
    RANKS_MESSAGE_ANSWER, /* to rank 0: the body is the answer; if `a`, the class of the error, is not 0, the
                             body is the error's text */
    RANKS_MESSAGE_NOTE,   /* to rank 0: progress; `a` is done, `b` is rows */
    RANKS_MESSAGE_LEAVE   /* to rank 0: the last message of the rank */
};

struct ranks_message_head {
    uint64_t kind, call, a, b;
    uint64_t size; /* size of the body */
};

struct ranks_message {
    struct ranks_message *next;
    uint32_t rank; /* receiver, or sender */
    struct ranks_message_head head;
    unsigned char *body; /* owned by the message */
};

/* On rank 0: a call under way. */
struct open_call {
    struct open_call *next;
    const struct ranks_call *call;
    uint64_t number;
    struct ranks_message *answer;
    pthread_cond_t answered;
};

/* On other ranks: a call that is being served. */
struct ranks_task {
    struct ranks_task *next;
    struct ranks *ranks;
    uint64_t call;
    const struct ranks_service *service;
    struct ranks_bytes request;
    uint64_t at_once;
    bool is_running;
    bool is_stopped;
    ranks_watch_function *watch;
    void *watch_context;
    uint64_t told_done, told_rows;
    pthread_cond_t may_run; /* or is stopped */
};

struct rank_about {
    char program[64];
    char host[RANKS_HOST_SIZE];
    uint32_t threads;
};

struct ranks {
    uint32_t count, own;
    struct rank_about *about; /* on rank 0, an entry for each rank; elsewhere only the rank's own */
    bool has_progress_thread;
    pthread_t progress_thread;
    pid_t parent; /* the process that launched this one */
    /* All below are guarded by the lock. */
    pthread_mutex_t lock;
    pthread_cond_t queued, changed;     /* queued: a message was queued;
                                           changed: a task ended, or is_over or is_broken was set */
    struct ranks_message *first, *last; /* queue of messages to send */
    struct ranks_message *unserved;     /* calls that arrived before ranks_serve() */
    struct open_call *calls;
    uint64_t last_call;
    uint32_t call_count; /* rank 0: number of calls under way */
    uint32_t left_count; /* rank 0: number of other ranks that have sent their last message */
    struct ranks_task *tasks;
    const struct ranks_service *services;
    size_t service_count;
    bool is_over;    /* not on rank 0: the rank must leave */
    bool is_closing; /* the progress thread ends when all messages were sent and, on rank 0, all ranks have
                        sent their last message */
    bool is_broken;  /* MPI failed: no more messages will arrive */
    char broken_text[256];
};

/* --- calls.c */
/* Queues a message for sending, and takes ownership of the body. Ends the program when out of memory. */
void ranks_send(struct ranks *ranks, uint32_t rank, const struct ranks_message_head *head,
                unsigned char *body);
/* Handles a message that has arrived, and takes ownership of it. */
void ranks_deliver(struct ranks *ranks, struct ranks_message *message);
/* Calls the watch functions of the tasks and reports their progress to rank 0. The lock must be held. */
void ranks_look_after(struct ranks *ranks);
/* Called when MPI has failed, or when the process that launched this one has ended. */
void ranks_break(struct ranks *ranks, const char *text);
void ranks_free_message(struct ranks_message *message);

/* --- progress.c */
void *ranks_progress_thread(void *ranks);
int64_t ranks_now_ns(void);
/* Waits for the condition, at most wait_ns. The lock must be held. */
void ranks_wait(struct ranks *ranks, pthread_cond_t *condition, int64_t wait_ns);
void ranks_condition(pthread_cond_t *condition);

#endif
