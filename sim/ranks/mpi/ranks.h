/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the implementation over MPI share.
 *
 * Each rank has a progress thread, which alone talks to MPI: it sends the messages that others have queued,
 * and delivers those that come. MPI's own waiting turns a processor all the time, so the progress thread
 * looks for messages now and then, and sleeps in between. A message is a head, and a body in parts behind it;
 * MPI keeps the order of what goes from one rank to another. */
#ifndef RANKS_PRIVATE_H
#define RANKS_PRIVATE_H

#include <pthread.h>
#include <sys/types.h>

#include "ranks/ranks.h"

#define RANKS_HOST_SIZE 64

enum ranks_message_kind {
    RANKS_MESSAGE_CALL = 1, /* from rank 0: body, `a` is the service */
    RANKS_MESSAGE_CANCEL,   /* nobody waits for the answer */
    RANKS_MESSAGE_GIVE,     /* the share [a, b) */
    RANKS_MESSAGE_END,      /* leave */
    RANKS_MESSAGE_ANSWER, /* to rank 0: body; `a` is the class of the error, and then the body is its text */
    RANKS_MESSAGE_TAKE,   /* a share is wanted */
    RANKS_MESSAGE_NOTE,   /* done is `a`, rows are `b` */
    RANKS_MESSAGE_LEAVE   /* the rank's last */
};

struct ranks_message_head {
    uint64_t kind, call, a, b;
    uint64_t size; /* of the body */
};

struct ranks_message {
    struct ranks_message *next;
    uint32_t rank; /* to, or from */
    struct ranks_message_head head;
    unsigned char *body; /* the message's own */
};

/* Rank 0: a call under way. */
struct open_call {
    struct open_call *next;
    const struct ranks_call *call;
    uint64_t number;
    struct ranks_message *answer;
    pthread_cond_t answered;
};

/* Elsewhere: a call that is served. */
struct ranks_task {
    struct ranks_task *next;
    struct ranks *ranks;
    uint64_t call;
    const struct ranks_service *service;
    struct ranks_bytes request;
    bool is_stopped;
    ranks_watch_function *watch;
    void *watch_context;
    uint64_t told_done, told_rows;
    /* One share is asked for ahead of its use. */
    bool is_asked, is_given;
    uint64_t begin, end;
    pthread_cond_t given;
};

struct rank_about {
    char program[64];
    char host[RANKS_HOST_SIZE];
    uint32_t threads;
};

struct ranks {
    uint32_t count, own;
    struct rank_about *about; /* by rank; on rank 0 alone, elsewhere of its own */
    bool has_progress_thread;
    pthread_t progress_thread;
    pid_t parent; /* whoever launched this process */
    /* All below are guarded by the lock. */
    pthread_mutex_t lock;
    pthread_cond_t queued, changed;     /* a message was queued; a task ended, or all is over */
    struct ranks_message *first, *last; /* to be sent */
    struct ranks_message *unserved;     /* calls that came before ranks_serve() */
    struct open_call *calls;
    uint64_t last_call;
    uint32_t left_count; /* rank 0: others that have sent their last message */
    struct ranks_task *tasks;
    const struct ranks_service *services;
    size_t service_count;
    bool is_over;    /* elsewhere than on rank 0: to leave */
    bool is_closing; /* the progress thread ends when all messages are sent, and on rank 0 all have come */
    bool is_broken;  /* MPI failed: nothing more will come */
    char broken_text[256];
};

/* --- calls.c */
/* Queues a message for sending, and takes the body over; when out of memory the program ends. */
void ranks_send(struct ranks *ranks, uint32_t rank, const struct ranks_message_head *head,
                unsigned char *body);
/* Takes a message that has come. */
void ranks_deliver(struct ranks *ranks, struct ranks_message *message);
/* Looks after the tasks: tells how far they are. With the lock held. */
void ranks_look_after(struct ranks *ranks);
/* MPI has failed, or whoever launched the process is gone. */
void ranks_break(struct ranks *ranks, const char *text);
void ranks_free_message(struct ranks_message *message);

/* --- progress.c */
void *ranks_progress_thread(void *ranks);
int64_t ranks_now_ns(void);
/* Waits for the condition, at most so long, with the lock held. */
void ranks_wait(struct ranks *ranks, pthread_cond_t *condition, int64_t wait_ns);
void ranks_condition(pthread_cond_t *condition);

#endif
