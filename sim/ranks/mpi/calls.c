/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls on rank 0, and the tasks that serve them on the other ranks. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/thread.h"
#include "ranks.h"

/* How often a waiting call checks whether it is stopped, and how long a stopped call then waits for the
 * service to end. */
#define PATIENCE_NS INT64_C(50000000)
#define FAREWELL_NS INT64_C(400000000)

static void close_call(struct ranks *ranks, struct open_call *open)
{
    struct open_call **place = &ranks->calls;
    while (*place != open)
        place = &(*place)->next;
    *place = open->next;
    ranks->call_count--;
    pthread_cond_destroy(&open->answered);
    free(open);
}

static struct ranks_bytes copy_bytes(const struct ranks_bytes *bytes)
{
    struct ranks_bytes copy = {malloc(bytes->size + 1), bytes->size};
    if (copy.data != NULL && bytes->size > 0)
        memcpy(copy.data, bytes->data, bytes->size);
    return copy;
}

/* Queues a message, with the lock held. A lost message would leave the other side waiting without end, so the
 * program ends when out of memory; but a message is sent without its text if there is no memory for that. */
static void send_message(struct ranks *ranks, uint32_t rank, const struct ranks_message_head *head,
                         unsigned char *body)
{
    struct ranks_message *message = calloc(1, sizeof *message);
    if (message == NULL) {
        fputs("out of memory; end other programs first\n", stderr);
        _exit(SIM_ERROR_ENVIRONMENT); /* not exit(), since an atexit() handler may take the lock */
    }
    message->rank = rank;
    message->head = *head;
    if (body == NULL)
        message->head.size = 0;
    message->body = body;
    if (ranks->last != NULL)
        ranks->last->next = message;
    else
        ranks->first = message;
    ranks->last = message;
    pthread_cond_signal(&ranks->queued);
}

/* Returns NULL when no answer will arrive. A stopped call still waits for a short time, so that usually the
 * service has ended when it returns. */
static struct ranks_message *wait_for_answer(struct ranks *ranks, struct open_call *open)
{
    const struct ranks_call *call = open->call;
    int64_t leave_ns = 0;
    while (open->answer == NULL && !ranks->is_broken && (leave_ns == 0 || ranks_now_ns() < leave_ns)) {
        ranks_wait(ranks, &open->answered, PATIENCE_NS);
        if (leave_ns == 0 && open->answer == NULL && call->is_stopped != NULL &&
            call->is_stopped(call->context)) {
            const struct ranks_message_head head = {.kind = RANKS_MESSAGE_CANCEL, .call = open->number};
            send_message(ranks, call->rank, &head, NULL);
            leave_ns = ranks_now_ns() + FAREWELL_NS;
        }
    }
    return open->answer;
}

static bool take_answer(struct ranks *ranks, struct ranks_message *message, struct ranks_bytes *answer,
                        struct sim_error *error)
{
    enum sim_error_class class = (enum sim_error_class)message->head.a;
    if (class == SIM_ERROR_NONE) {
        *answer = (struct ranks_bytes){message->body, message->head.size};
        message->body = NULL;
    } else {
        message->body[message->head.size] = '\0';
        sim_fail(error, class, "%s (on rank %u, %s)", (const char *)message->body, (unsigned)message->rank,
                 ranks->about[message->rank].host);
    }
    ranks_free_message(message);
    return class == SIM_ERROR_NONE;
}

bool ranks_call(struct ranks *ranks, const struct ranks_call *call, struct ranks_bytes *answer,
                struct sim_error *error)
{
    *answer = (struct ranks_bytes){0};
    assert(call->rank > 0 && call->rank < ranks->count);
    struct ranks_bytes request = copy_bytes(call->request);
    struct open_call *open = calloc(1, sizeof *open);
    if (request.data == NULL || open == NULL) {
        free(request.data);
        free(open);
        return sim_fail_memory(error);
    }
    open->call = call;
    ranks_condition(&open->answered);
    pthread_mutex_lock(&ranks->lock);
    open->number = ++ranks->last_call;
    open->next = ranks->calls;
    ranks->calls = open;
    ranks->call_count++;
    const struct ranks_message_head head = {.kind = RANKS_MESSAGE_CALL,
                                            .call = open->number,
                                            .a = call->service,
                                            .b = call->at_once,
                                            .size = request.size};
    send_message(ranks, call->rank, &head, request.data);
    struct ranks_message *message = wait_for_answer(ranks, open);
    close_call(ranks, open);
    bool is_broken = ranks->is_broken;
    pthread_mutex_unlock(&ranks->lock);
    if (message != NULL)
        return take_answer(ranks, message, answer, error);
    return is_broken ? sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s", ranks->broken_text)
                     : sim_fail(error, SIM_ERROR_ENVIRONMENT, "stopped before the end; nothing was stored");
}

/* An answer for which no call waits any more is dropped. */
static void deliver_to_call(struct ranks *ranks, struct ranks_message *message)
{
    struct open_call *open = ranks->calls;
    ranks->left_count += message->head.kind == RANKS_MESSAGE_LEAVE;
    while (open != NULL && open->number != message->head.call)
        open = open->next;
    if (open == NULL) {
        ranks_free_message(message);
        return;
    }
    const struct ranks_call *call = open->call;
    if (message->head.kind == RANKS_MESSAGE_ANSWER) {
        open->answer = message;
        pthread_cond_signal(&open->answered);
        return;
    }
    if (message->head.kind == RANKS_MESSAGE_NOTE && call->note != NULL)
        call->note(call->context, message->head.a, message->head.b);
    ranks_free_message(message);
}

/* With the lock held: calls the task's watch function, and reports its progress to rank 0. */
static void tell(struct ranks_task *task)
{
    uint64_t done = 0, rows = 0;
    if (task->watch == NULL)
        return;
    task->watch(task->watch_context, task->is_stopped || task->ranks->is_over, &done, &rows);
    if (done == task->told_done && rows == task->told_rows)
        return;
    task->told_done = done;
    task->told_rows = rows;
    const struct ranks_message_head head = {
        .kind = RANKS_MESSAGE_NOTE, .call = task->call, .a = done, .b = rows};
    send_message(task->ranks, 0, &head, NULL);
}

static void deliver_to_task(struct ranks *ranks, struct ranks_message *message)
{
    struct ranks_task *task = ranks->tasks;
    if (message->head.kind == RANKS_MESSAGE_END) {
        ranks->is_over = true;
        pthread_cond_broadcast(&ranks->changed);
    }
    while (task != NULL && task->call != message->head.call)
        task = task->next;
    if (task != NULL && message->head.kind == RANKS_MESSAGE_CANCEL) {
        task->is_stopped = true;
        tell(task);
    }
    if (task != NULL)
        pthread_cond_signal(&task->may_run);
    ranks_free_message(message);
}

/* With the lock held. */
static void remove_task(struct ranks_task *task)
{
    struct ranks *ranks = task->ranks;
    struct ranks_task **place = &ranks->tasks;
    while (*place != task)
        place = &(*place)->next;
    *place = task->next;
    for (struct ranks_task *other = ranks->tasks; other != NULL; other = other->next)
        pthread_cond_signal(&other->may_run);
    pthread_cond_broadcast(&ranks->changed);
    pthread_cond_destroy(&task->may_run);
    free(task->request.data);
    free(task);
}

static uint64_t running_count(const struct ranks *ranks)
{
    uint64_t count = 0;
    for (const struct ranks_task *task = ranks->tasks; task != NULL; task = task->next)
        count += task->is_running;
    return count;
}

/* Waits until fewer other tasks run, in any order. Returns false if the call was stopped before. */
static bool begin_running(struct ranks_task *task, struct sim_error *error)
{
    struct ranks *ranks = task->ranks;
    pthread_mutex_lock(&ranks->lock);
    while (task->at_once > 0 && running_count(ranks) >= task->at_once && !task->is_stopped && !ranks->is_over)
        pthread_cond_wait(&task->may_run, &ranks->lock);
    task->is_running = !task->is_stopped && !ranks->is_over;
    pthread_mutex_unlock(&ranks->lock);
    return task->is_running ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT, "stopped before the end; nothing was stored");
}

static void *serve(void *argument)
{
    struct ranks_task *task = argument;
    struct ranks *ranks = task->ranks;
    struct ranks_bytes answer = {0};
    struct sim_error error = {0};
    struct ranks_message_head head = {.kind = RANKS_MESSAGE_ANSWER, .call = task->call};
    if (begin_running(task, &error) && task->service->serve(task, &task->request, &answer, &error)) {
        head.size = answer.size;
    } else {
        free(answer.data);
        answer = copy_bytes(&(struct ranks_bytes){(unsigned char *)error.text, strlen(error.text)});
        head.size = answer.size;
        head.a = error.class == SIM_ERROR_NONE ? SIM_ERROR_ENVIRONMENT : (uint64_t)error.class;
    }
    pthread_mutex_lock(&ranks->lock);
    send_message(ranks, 0, &head, answer.data);
    remove_task(task);
    pthread_mutex_unlock(&ranks->lock);
    return NULL;
}

/* Takes ownership of the message. */
static void begin_task(struct ranks *ranks, struct ranks_message *message)
{
    pthread_t thread;
    if (ranks->services == NULL) {
        message->next = ranks->unserved;
        ranks->unserved = message;
        return;
    }
    struct ranks_task *task = calloc(1, sizeof *task);
    bool is_made = false;
    if (task != NULL) {
        assert(message->head.a < ranks->service_count);
        task->ranks = ranks;
        task->call = message->head.call;
        task->service = &ranks->services[message->head.a];
        task->at_once = message->head.b;
        task->request = (struct ranks_bytes){message->body, message->head.size};
        ranks_condition(&task->may_run);
        task->next = ranks->tasks;
        ranks->tasks = task;
        is_made = sim_thread_start(&thread, serve, task) == 0;
        if (is_made)
            pthread_detach(thread);
        message->body = NULL;
    }
    if (!is_made) {
        static const char text[] = "cannot start a thread; end other programs first";
        const struct ranks_message_head head = {.kind = RANKS_MESSAGE_ANSWER,
                                                .call = message->head.call,
                                                .a = SIM_ERROR_ENVIRONMENT,
                                                .size = sizeof text - 1};
        struct ranks_bytes body =
            copy_bytes(&(struct ranks_bytes){(unsigned char *)(uintptr_t)text, sizeof text - 1});
        send_message(ranks, 0, &head, body.data);
        if (task != NULL)
            remove_task(task);
    }
    ranks_free_message(message);
}

void ranks_deliver(struct ranks *ranks, struct ranks_message *message)
{
    pthread_mutex_lock(&ranks->lock);
    if (ranks->own == 0)
        deliver_to_call(ranks, message);
    else if (message->head.kind == RANKS_MESSAGE_CALL)
        begin_task(ranks, message);
    else
        deliver_to_task(ranks, message);
    pthread_mutex_unlock(&ranks->lock);
}

void ranks_serve(struct ranks *ranks, const struct ranks_service *services, size_t count)
{
    pthread_mutex_lock(&ranks->lock);
    ranks->services = services;
    ranks->service_count = count;
    for (struct ranks_message *message = ranks->unserved, *next; message != NULL; message = next) {
        next = message->next;
        begin_task(ranks, message);
    }
    ranks->unserved = NULL;
    while (!ranks->is_over)
        pthread_cond_wait(&ranks->changed, &ranks->lock);
    for (struct ranks_task *task = ranks->tasks; task != NULL; task = task->next) {
        task->is_stopped = true;
        tell(task);
        pthread_cond_signal(&task->may_run);
    }
    while (ranks->tasks != NULL)
        pthread_cond_wait(&ranks->changed, &ranks->lock);
    pthread_mutex_unlock(&ranks->lock);
}

void ranks_watch(struct ranks_task *task, ranks_watch_function *watch, void *context)
{
    pthread_mutex_lock(&task->ranks->lock);
    if (watch == NULL)
        tell(task);
    task->watch = watch;
    task->watch_context = context;
    if (watch != NULL)
        tell(task);
    pthread_mutex_unlock(&task->ranks->lock);
}

void ranks_look_after(struct ranks *ranks)
{
    for (struct ranks_task *task = ranks->tasks; task != NULL; task = task->next)
        tell(task);
}

void ranks_send(struct ranks *ranks, uint32_t rank, const struct ranks_message_head *head,
                unsigned char *body)
{
    pthread_mutex_lock(&ranks->lock);
    send_message(ranks, rank, head, body);
    pthread_mutex_unlock(&ranks->lock);
}

/* A rank other than 0 cannot report the failure, and leaves. */
void ranks_break(struct ranks *ranks, const char *text)
{
    if (ranks->own != 0)
        _exit(SIM_ERROR_ENVIRONMENT);
    pthread_mutex_lock(&ranks->lock);
    if (!ranks->is_broken)
        snprintf(ranks->broken_text, sizeof ranks->broken_text, "%s", text);
    ranks->is_broken = true;
    for (struct open_call *open = ranks->calls; open != NULL; open = open->next)
        pthread_cond_signal(&open->answered);
    pthread_mutex_unlock(&ranks->lock);
}

void ranks_free_message(struct ranks_message *message)
{
    if (message != NULL)
        free(message->body);
    free(message);
}
