/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cassandra_replay v1|v2 [--down N] [FILE]: replays a recorded file of operations against the mock and prints
 * the file with the mock's answers instead of the recorded ones. tests/cassandra5/README.md describes the
 * format.
 *
 * Each sequence gets a separate cluster: one node with RF 1, or three nodes with RF 3 of which node N is down
 * and known to be down. One client sends one statement at a time to one coordinator. Every latency is 0, so
 * each statement runs at the virtual time at which it was recorded. Exit code: 0 when all answers agree, 1
 * when one differs, 2 for bad input. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/cluster.h"
#include "kernel/number.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "peek.h"
#include "replay.h"

#define ANSWER_SIZE 4096
#define EVENT_WAKE  1u

struct replay {
    struct cass_cluster_config config;
    struct sim_queue queue;
    struct cass_cluster *cluster; /* NULL before the first sequence */
    uint32_t down, coordinator;   /* down: CASS_ANY_NODE when no node is down */
    int64_t base_s;
    uint64_t sequences, statements;
    struct replay_names names;
    uint64_t answers, differing;
};

static bool begin_sequence(struct replay *replay, int64_t base_s, const char **problem)
{
    struct sim_error error = {0};
    if (replay->cluster != NULL) {
        cass_cluster_destroy(replay->cluster);
        sim_queue_destroy(&replay->queue);
        replay->cluster = NULL;
    }
    replay->base_s = base_s;
    replay->sequences++;
    replay->config.named_columns = replay->names.count > 0 ? replay->names.count : 1;
    bool ok = sim_queue_create(64, base_s * SIM_SECOND, &replay->queue);
    ok = ok && cass_cluster_create(&replay->config, &replay->queue, &replay->cluster, &error);
    if (ok && replay->down != CASS_ANY_NODE)
        cass_set_down(replay->cluster, replay->down, true);
    if (!ok)
        *problem = "there is not enough memory for a cluster; free some";
    return ok;
}

/* Runs until the clock reaches a time, or until an answer arrives, whose slot is then returned. */
static bool run_until(struct replay *replay, int64_t time_ns, uint64_t *out_slot)
{
    struct sim_event event = {.kind = EVENT_WAKE};
    int64_t now;
    bool is_waking = sim_queue_now(&replay->queue) <= time_ns;
    uint64_t wake = is_waking ? sim_queue_push(&replay->queue, time_ns, &event) : 0;
    while (sim_queue_pop(&replay->queue, &now, &event)) {
        if (event.kind == EVENT_WAKE)
            return false;
        if (event.kind == CASS_EVENT_REPLY) {
            *out_slot = event.b;
            sim_queue_cancel(&replay->queue, wake);
            return true;
        }
        cass_handle(replay->cluster, &event);
    }
    return false;
}

static size_t add_columns(char *out, size_t size, size_t used, const struct cass_reply *reply)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (reply->columns_mask >> i & 1)
            used += (size_t)snprintf(out + used, size - used, " c%" PRIu32 "=%" PRId64, i, reply->columns[i]);
    }
    return used;
}

static bool names_text(const struct replay *replay, uint64_t slot, char **out)
{
    uint32_t count = cass_reply_named(replay->cluster, slot, NULL, 0);
    struct cass_named *named = calloc(count + 1, sizeof *named);
    size_t size = 64 + (size_t)count * 72, used = 0;
    char *text = malloc(size);
    *out = text;
    if (named == NULL || text == NULL) {
        free(named);
        return false;
    }
    cass_reply_named(replay->cluster, slot, named, count);
    used += (size_t)snprintf(text, size, count > 0 ? "row" : "none");
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, " n%" PRId64 "=%" PRId64 "@%" PRId64,
                                 replay->names.items[named[i].name], named[i].value,
                                 named[i].timestamp_us - replay->base_s * 1000000);
    free(named);
    return true;
}

static void result_text(const struct replay_operation *operation, const struct cass_reply *reply, char *out)
{
    if (reply->result != CASS_OK) {
        snprintf(out, ANSWER_SIZE, "%s",
                 reply->result == CASS_INVALID ? "invalid" : cass_result_name(reply->result));
        return;
    }
    switch (operation->statement.kind) {
    case CASS_READ_COLUMNS:
        snprintf(out, ANSWER_SIZE, reply->found ? "row" : "none");
        if (reply->found)
            add_columns(out, ANSWER_SIZE, strlen(out), reply);
        break;
    case CASS_CAS_COLUMNS:
        snprintf(out, ANSWER_SIZE,
                 reply->applied ? "applied"
                 : reply->found ? "refused row"
                                : "refused none");
        if (!reply->applied && reply->found)
            add_columns(out, ANSWER_SIZE, strlen(out), reply);
        break;
    case CASS_READ_COUNTER:
        if (reply->found)
            snprintf(out, ANSWER_SIZE, "n=%" PRId64, reply->counter);
        else
            snprintf(out, ANSWER_SIZE, "none");
        break;
    case CASS_READ_ROWS:
        snprintf(out, ANSWER_SIZE, "rows=%" PRIu64, reply->rows);
        break;
    case CASS_COUNT_ROWS:
        snprintf(out, ANSWER_SIZE, "count=%" PRIu64, reply->rows);
        if (reply->rows > 0)
            snprintf(out + strlen(out), ANSWER_SIZE - strlen(out), " last=%" PRId64 ":%" PRId64,
                     reply->columns[0], reply->columns[1]);
        break;
    default:
        snprintf(out, ANSWER_SIZE, "ok");
    }
    if (operation->has_dead)
        snprintf(out + strlen(out), ANSWER_SIZE - strlen(out), " dead=%" PRIu64, reply->tombstones);
}

/* In Cassandra each table has a separate key space. In the mock counters have one too, but registers and rows
 * of named columns share one, so this function separates their keys. A second write of the same row is a
 * separate statement. */
static void place(struct replay *replay, const struct replay_operation *operation,
                  struct cass_statement *statement)
{
    statement->key = sim_mix64(statement->key ^ (operation->in_names ? UINT64_C(0x9e3779b97f4a7c15) : 0));
    statement->row_id = replay->statements++;
    if (statement->timestamp_us != INT64_MIN)
        statement->timestamp_us += replay->base_s * 1000000;
}

/* Takes the next rows of a batch. The whole batch is sent at one instant and has one timestamp, so the mock
 * may execute it in parts. */
static uint32_t take_named(const struct replay *replay, const struct replay_operation *operation,
                           uint32_t done, struct cass_statement *statement)
{
    uint32_t left = operation->named_count - done;
    statement->named_count = left < CASS_NAMED_MAX ? left : CASS_NAMED_MAX;
    statement->named_count -= left == CASS_NAMED_MAX + 1; /* one alone would not be a batch */
    for (uint32_t i = 0; i < statement->named_count; i++) {
        struct cass_named *named = &statement->named[i];
        *named = operation->named[done + i];
        if (named->timestamp_us == INT64_MIN)
            named->timestamp_us = operation->offset_us;
        named->timestamp_us += replay->base_s * 1000000;
    }
    return done + statement->named_count;
}

static char *copy_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy != NULL ? strcpy(copy, text) : NULL;
}

/* The answer's text, which the caller frees; NULL when out of memory. */
static char *answer(struct replay *replay, const struct replay_operation *operation)
{
    struct cass_statement statement = operation->statement;
    struct cass_reply reply;
    uint64_t slot;
    int64_t at_ns = replay->base_s * SIM_SECOND + operation->offset_us * SIM_US;
    while (at_ns > sim_queue_now(&replay->queue) && run_until(replay, at_ns, &slot))
        cass_reply_discard(replay->cluster, slot);
    if (operation->is_invalid)
        return copy_of("invalid");
    place(replay, operation, &statement);
    if (operation->in_names && operation->named_count == 0 && statement.kind != CASS_READ_NAMED) {
        /* Columns are static once the partition is known to have rows, which this read tells the mock. */
        const struct cass_statement rows = {
            .kind = CASS_READ_NAMED, .consistency = CASS_ONE, .key = statement.key};
        cass_request(replay->cluster, 0, replay->coordinator, 0, &rows);
        if (run_until(replay, sim_queue_now(&replay->queue) + SIM_MINUTE, &slot))
            cass_reply_discard(replay->cluster, slot);
    }
    uint32_t done = 0;
    char *names = NULL;
    do {
        done = take_named(replay, operation, done, &statement);
        cass_request(replay->cluster, 0, replay->coordinator, 0, &statement);
        if (!run_until(replay, sim_queue_now(&replay->queue) + SIM_MINUTE, &slot))
            return copy_of("no answer");
        if (statement.kind == CASS_READ_NAMED && !names_text(replay, slot, &names)) {
            free(names);
            return NULL;
        }
        cass_reply_take(replay->cluster, slot, &reply);
    } while (done < operation->named_count && reply.result == CASS_OK);
    if (names != NULL && reply.result == CASS_OK)
        return names;
    free(names);
    char *text = calloc(1, ANSWER_SIZE);
    if (text != NULL)
        result_text(operation, &reply, text);
    return text;
}

static bool replay_line(struct replay *replay, const char *line, size_t length, const char **problem)
{
    char *copy = calloc(1, length + 1);
    if (copy == NULL) {
        *problem = "there is not enough memory for a line; free some";
        return false;
    }
    memcpy(copy, line, length);
    size_t ending = length > 0 && line[length - 1] == '\r';
    copy[length - ending] = '\0';
    int64_t base_s;
    bool ok = true;
    char *arrow = strstr(copy, " => ");
    if (copy[strspn(copy, " \t")] == '\0' || copy[0] == '#') {
        fwrite(line, 1, length, stdout);
    } else if (replay_sequence(copy, &base_s, problem)) {
        ok = begin_sequence(replay, base_s, problem);
        fwrite(line, 1, length, stdout);
    } else if (*problem != NULL) {
        ok = false;
    } else if (arrow == NULL) {
        *problem = "an operation has no answer; write ' => ' and the answer after it";
        ok = false;
    } else if (replay->cluster == NULL) {
        *problem = "an operation stands before the first sequence; begin with 'S 1 plain base=SECONDS'";
        ok = false;
    } else {
        *arrow = '\0';
        struct replay_operation operation;
        ok = replay_parse(copy, &replay->names, &operation, problem);
        char *text = ok ? answer(replay, &operation) : NULL;
        if (ok && text == NULL) {
            *problem = "there is not enough memory for an answer; free some";
            ok = false;
        } else if (ok) {
            replay->answers++;
            replay->differing += strcmp(text, arrow + 4) != 0;
            fwrite(line, 1, (size_t)(arrow - copy), stdout);
            printf(" => %s%s", text, ending ? "\r" : "");
        }
        free(text);
    }
    free(copy);
    return ok;
}

static bool each_line(struct replay *replay, const char *name, const char *text, size_t size, bool names_only)
{
    uint64_t number = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        const char *problem = NULL;
        number++;
        bool ok = names_only ? replay_names_add(&replay->names, text + at, length, &problem)
                             : replay_line(replay, text + at, length, &problem);
        if (!ok) {
            fflush(stdout);
            fprintf(stderr, "cassandra_replay: %s:%" PRIu64 ": %s\n", name, number, problem);
            return false;
        }
        if (end != NULL && !names_only)
            putchar('\n');
        at += length + (end != NULL);
    }
    return true;
}

static char *read_all(FILE *file, size_t *out_size)
{
    size_t size = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    while (text != NULL) {
        size += fread(text + size, 1, capacity - size, file);
        if (size < capacity)
            break;
        capacity *= 2;
        char *more = realloc(text, capacity);
        if (more == NULL)
            free(text);
        text = more;
    }
    *out_size = size;
    return text;
}

static void configure(struct replay *replay, bool is_v2, bool is_ring)
{
    struct cass_cluster_config *config = &replay->config;
    cass_cluster_config_default(config);
    config->seed = 1;
    config->datacenters[0].nodes = config->datacenters[0].replication_factor = is_ring ? 3 : 1;
    config->datacenters[0].racks = 1;
    config->latency_ns = config->latency_between_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = 0};
    config->write_ns = config->read_ns = config->scan_row_ns = config->scan_tombstone_ns = 0;
    config->gc_every_ns = config->detect_ns = 0;
    config->paxos = is_v2 ? CASS_PAXOS_V2 : CASS_PAXOS_V1;
    config->keeps_lifetimes = true;
}

static int usage(const char *problem)
{
    fprintf(stderr, "cassandra_replay: %s; usage: cassandra_replay v1|v2 [--down N] [FILE]\n", problem);
    return 2;
}

int main(int count, char **words)
{
    const char *name = NULL, *variant = NULL;
    int64_t down = -1;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--down") == 0) {
            /* The nodes are alike, so 0 means the third node. */
            if (++i == count || !replay_number(words[i], &down) || down < 0 || down > 3)
                return usage("--down takes the number of the node that is down, 1 to 3");
        } else if (variant == NULL) {
            variant = words[i];
        } else if (name == NULL) {
            name = words[i];
        } else {
            return usage("there is more than one file; give one");
        }
    }
    if (variant == NULL || (strcmp(variant, "v1") != 0 && strcmp(variant, "v2") != 0))
        return usage("the first argument is the Paxos variant, v1 or v2");
    struct replay replay = {.down = down < 0 ? CASS_ANY_NODE : (uint32_t)(down + 2) % 3};
    replay.coordinator = down < 0 ? 0 : (replay.down + 1) % 3;
    configure(&replay, variant[1] == '2', down >= 0);
    bool is_stdin = name == NULL || strcmp(name, "-") == 0;
    name = is_stdin ? "stdin" : name;
    FILE *file = is_stdin ? stdin : fopen(name, "rb");
    if (file == NULL) {
        fprintf(stderr, "cassandra_replay: %s: %s; give a file that can be read\n", name, strerror(errno));
        return 2;
    }
    size_t size;
    char *text = read_all(file, &size);
    bool ok = text != NULL && !ferror(file);
    if (!ok)
        fprintf(stderr, "cassandra_replay: %s: cannot be read to its end; give a file\n", name);
    /* A cluster declares its named columns when it is created, so a first pass collects their names. */
    ok = ok && each_line(&replay, name, text, size, true) && each_line(&replay, name, text, size, false);
    if (!is_stdin)
        fclose(file);
    free(text);
    replay_names_clear(&replay.names);
    if (replay.cluster != NULL) {
        cass_cluster_destroy(replay.cluster);
        sim_queue_destroy(&replay.queue);
    }
    if (fflush(stdout) != 0 || !ok)
        return 2;
    if (replay.differing > 0)
        fprintf(stderr, "cassandra_replay: %s: %" PRIu64 " of %" PRIu64 " answers differ\n", name,
                replay.differing, replay.answers);
    return replay.differing > 0 ? 1 : 0;
}
