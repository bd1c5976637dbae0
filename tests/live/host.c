/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process of a service that writes rows in bursts and reads them, and logs its agent's events as a history
 * (docs/live.md). It may be killed, stopped and started again at any time.
 *
 *     host FILE LOG NUMBERS SETTING BEGAN START OFFSET AGENT KEYS ROWS BURST PAUSE_US [NAME=VALUE...]
 *
 * NUMBERS is a file that the processes share: the number of rows that were written, in all and for each key.
 * BEGAN is the time of the run's start by the monotonic clock, and START its wall-clock time. All times are
 * nanoseconds. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

#define SECOND      INT64_C(1000000000)
#define QUEUE       256
#define READ_ROWS   20
#define READ_BURSTS 8 /* bursts per read */

static const char *const actions[] = {"put_row",     "read_state",   "write_state", "cas_state",
                                      "add_counter", "read_counter", "read_start",  "write_start",
                                      "cas_lock",    "count_rows",   "read_rows"};
static const char *const outcomes[] = {"unknown", "applied", "not_applied", "refused"};

struct host {
    struct live_store store;
    struct bk_agent *agent;
    struct bk_strategy strategy;
    int log;
    int64_t began_ns, world_ns, offset_ns; /* began_ns: by the monotonic clock */
    uint64_t number, keys, rows, burst, pause_us, under_way, bursts;
    uint64_t draws;
    _Atomic uint64_t *numbers;
    struct bk_action queue[QUEUE]; /* a ring buffer of actions taken from the agent */
    unsigned queue_begin, queue_count;
};

static void fail(const char *what)
{
    fprintf(stderr, "host: %s\n", what);
    exit(1);
}

/* Each line is one write(), so that a kill loses no line that was logged. */
static void note(const struct host *host, int64_t now_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void note(const struct host *host, int64_t now_ns, const char *format, ...)
{
    char line[512];
    int64_t since_ns = now_ns - host->began_ns;
    int size =
        snprintf(line, sizeof line, "%6" PRId64 ".%09" PRId64 " s  ", since_ns / SECOND, since_ns % SECOND);
    va_list arguments;
    va_start(arguments, format);
    size += vsnprintf(line + size, sizeof line - (size_t)size, format, arguments);
    va_end(arguments);
    size += snprintf(line + size, sizeof line - (size_t)size, ".\n");
    if (write(host->log, line, (size_t)size) != size)
        fail("the log cannot be written");
}

/* The agent's clock at a time of the monotonic clock. */
static int64_t clock_of(const struct host *host, int64_t now_ns)
{
    return now_ns - host->began_ns + host->world_ns + host->offset_ns;
}

static uint64_t mix(uint64_t mixed)
{
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static uint64_t draw(struct host *host)
{
    host->draws += UINT64_C(0x9e3779b97f4a7c15);
    return mix(host->draws);
}

/* Takes the agent's actions immediately after each event, as the judge does. */
static void take_actions(struct host *host)
{
    struct bk_action action;
    while (bk_agent_next(host->agent, &action)) {
        host->under_way -= action.kind == BK_ACT_DONE;
        if (action.kind == BK_ACT_ACK || action.kind == BK_ACT_DONE)
            continue;
        if (host->queue_count == QUEUE)
            fail("more actions than operations");
        host->queue[(host->queue_begin + host->queue_count++) % QUEUE] = action;
    }
}

static void note_effect(const struct host *host, const struct bk_action *action,
                        const struct live_answer *answer)
{
    unsigned key = (unsigned)action->key;
    if (!answer->took_effect)
        return;
    if (action->kind == BK_ACT_PUT_ROW)
        note(host, answer->effect_ns,
             "key-%u: row %" PRIu64 " is stored in bucket %" PRId64 " time %" PRId64 " id %" PRId64, key,
             action->row.sequence, action->bucket, action->row.time_ns, (int64_t)action->row.id);
    else if (action->kind == BK_ACT_ADD_COUNTER)
        note(host, answer->effect_ns,
             "key-%u: row %" PRIu64 " is counted in bucket %" PRId64 " amount %" PRId64, key,
             action->row.sequence, host->store.is_guarded ? action->bucket : 0, action->amount);
    else if (action->kind == BK_ACT_WRITE_STATE || action->kind == BK_ACT_CAS_STATE)
        note(host, answer->effect_ns,
             "key-%u: state is stored, columns 15 %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, key,
             answer->state[0], answer->state[1], answer->state[2], answer->state[3]);
}

static void note_outcome(const struct host *host, int64_t now_ns, const struct bk_action *action,
                         const struct live_answer *answer)
{
    const struct bk_outcome *outcome = &answer->outcome;
    char more[256] = "";
    int used = 0;
#define MORE(...) used += snprintf(more + used, sizeof more - (size_t)used, __VA_ARGS__)
    if (action->kind == BK_ACT_PUT_ROW)
        MORE(" bucket %" PRId64, action->bucket);
    if (outcome->mask != 0)
        MORE(" columns %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, outcome->mask, outcome->columns[0],
             outcome->columns[1], outcome->columns[2], outcome->columns[3]);
    if (outcome->counter != 0)
        MORE(" counter %" PRId64, outcome->counter);
    if (outcome->rows != 0)
        MORE(" rows %" PRIu64, outcome->rows);
    if (action->kind == BK_ACT_READ_ROWS)
        MORE(" empty %" PRId64 " filled %" PRIu64, (int64_t)(outcome->empty & INT64_MAX), answer->filled);
#undef MORE
    note(host, now_ns, "key-%u: agent %" PRIu64 " hears %" PRIu32 " %s %s%s", (unsigned)action->key,
         host->number, action->operation, actions[action->kind], outcomes[outcome->kind], more);
}

static void carry_out(struct host *host)
{
    while (host->queue_count > 0) {
        struct bk_action action = host->queue[host->queue_begin];
        host->queue_begin = (host->queue_begin + 1) % QUEUE;
        host->queue_count--;
        struct live_answer answer = live_store_ask(&host->store, &action);
        note_effect(host, &action, &answer);
        int64_t now_ns = live_now_ns();
        note_outcome(host, now_ns, &action, &answer);
        bk_agent_report(host->agent, clock_of(host, now_ns), action.ticket, &answer.outcome);
        take_actions(host);
    }
}

/* Works until no operation is under way, or until the next deadline is after until_ns. */
static void work(struct host *host, int64_t until_ns)
{
    for (;;) {
        carry_out(host);
        int64_t now_ns = live_now_ns(), deadline_ns = bk_agent_deadline(host->agent);
        if (deadline_ns == INT64_MAX)
            return;
        int64_t wait_ns = deadline_ns - clock_of(host, now_ns);
        if (now_ns + wait_ns > until_ns && host->under_way < QUEUE / 2)
            return;
        if (wait_ns > 0)
            nanosleep(&(struct timespec){wait_ns / SECOND, wait_ns % SECOND}, NULL);
        now_ns = live_now_ns();
        if (clock_of(host, now_ns) < deadline_ns)
            continue;
        note(host, now_ns, "agent %" PRIu64 " wakes", host->number);
        bk_agent_tick(host->agent, clock_of(host, now_ns));
        take_actions(host);
    }
}

/* The lower of two random keys, so that some keys are busier than others. All processes choose the same key
 * during a period. */
static uint64_t choose_key(const struct host *host)
{
    uint64_t turn = (uint64_t)(live_now_ns() - host->began_ns) / (2000 * host->pause_us + 1);
    uint64_t one = mix((uint64_t)host->world_ns + 2 * turn) % host->keys;
    uint64_t other = mix((uint64_t)host->world_ns + 2 * turn + 1) % host->keys;
    return one < other ? one : other;
}

static bool write_row(struct host *host, uint64_t key)
{
    if (atomic_fetch_add(&host->numbers[0], 1) >= host->rows)
        return false;
    uint64_t number = atomic_fetch_add(&host->numbers[1 + key], 1);
    int64_t now_ns = live_now_ns();
    struct bk_row row = {
        .time_ns = clock_of(host, now_ns), .sequence = number, .id = draw(host), .bytes = 100};
    uint32_t operation;
    note(host, now_ns,
         "key-%u: agent %" PRIu64 " takes row %" PRIu64 " time %" PRId64 " id %" PRId64 " bytes 100",
         (unsigned)key, host->number, number, row.time_ns, (int64_t)row.id);
    if (bk_agent_write(host->agent, row.time_ns, key, &row, &operation) == BK_OK)
        host->under_way++;
    take_actions(host);
    return true;
}

static void read_rows(struct host *host, uint64_t key)
{
    int64_t now_ns = live_now_ns();
    uint64_t numbers = atomic_load(&host->numbers[1 + key]), newest = numbers > 0 ? numbers - 1 : 0;
    uint32_t operation;
    note(host, now_ns, "key-%u: agent %" PRIu64 " reads latest birth %" PRId64 " newest %" PRIu64,
         (unsigned)key, host->number, host->world_ns, newest);
    if (bk_agent_read_latest(host->agent, clock_of(host, now_ns), key, host->world_ns, newest, READ_ROWS,
                             BK_PLAN_DEFAULT, &operation) == BK_OK)
        host->under_way++;
    take_actions(host);
}

static bool burst(struct host *host)
{
    uint64_t key = choose_key(host), rows = 1 + draw(host) % host->burst;
    bool has_room = true;
    for (uint64_t i = 0; i < rows && has_room; i++)
        has_room = write_row(host, key);
    if (++host->bursts % READ_BURSTS == 0)
        read_rows(host, draw(host) % host->keys);
    return has_room;
}

static void serve(struct host *host)
{
    bool goes_on = true;
    while (goes_on) {
        goes_on = burst(host);
        int64_t until_ns = live_now_ns() + (int64_t)(draw(host) % (2 * host->pause_us + 1)) * 1000;
        work(host, until_ns);
        int64_t wait_ns = until_ns - live_now_ns();
        if (wait_ns > 0)
            nanosleep(&(struct timespec){wait_ns / SECOND, wait_ns % SECOND}, NULL);
    }
    work(host, INT64_MAX);
}

static int64_t option(int argc, char **argv, const char *name, int64_t usual)
{
    size_t size = strlen(name);
    for (int i = 13; i < argc; i++) {
        if (strncmp(argv[i], name, size) == 0 && argv[i][size] == '=')
            return strtoll(argv[i] + size + 1, NULL, 10);
    }
    return usual;
}

/* Makes the agent as the lab does, so that the lab can predict its actions. */
static void make_agent(struct host *host, const char *path, int argc, char **argv)
{
    char text[BK_SETTING_TEXT_SIZE];
    FILE *stream = fopen(path, "r");
    size_t size = stream == NULL ? 0 : fread(text, 1, sizeof text, stream);
    struct bk_setting setting;
    struct bk_setting_error error;
    if (bk_strategy_parse(text, size, &setting, &error) != BK_OK)
        fail(error.text);
    fclose(stream);
    struct bk_agent_config config = bk_setting_agent_config(&setting);
    config.agent_id = host->number + 1;
    config.cache_ttl_ns = option(argc, argv, "cache_ttl", config.cache_ttl_ns);
    config.clock_bound_ns = option(argc, argv, "clock_bound", 0);
    config.retries = (uint32_t)option(argc, argv, "retries", config.retries);
    config.operations = (uint32_t)option(argc, argv, "operations", config.operations);
    config.cache_entries = (uint32_t)option(argc, argv, "cache_entries", config.cache_entries);
    host->strategy = setting.strategy;
    host->store.is_guarded = config.coordination == BK_GUARDED;
    size_t bytes = bk_agent_size(&config);
    void *memory = malloc(bytes);
    enum bk_status status =
        memory == NULL ? BK_ERROR_MEMORY : bk_agent_init(memory, bytes, &config, &host->agent);
    if (status != BK_OK)
        fail(bk_status_text(status));
}

static void open_files(struct host *host, char **argv)
{
    if (!live_store_open(argv[1], &host->store))
        fail(sqlite3_errmsg(host->store.file));
    host->log = open(argv[2], O_RDWR | O_CREAT | O_APPEND, 0600);
    int numbers = open(argv[3], O_RDWR);
    host->numbers =
        mmap(NULL, (host->keys + 1) * sizeof *host->numbers, PROT_READ | PROT_WRITE, MAP_SHARED, numbers, 0);
    if (host->log == -1 || numbers == -1 || host->numbers == MAP_FAILED)
        fail("LOG or NUMBERS cannot be opened");
}

/* Terminates a line that a kill has truncated. */
static void begin_log(const struct host *host, int64_t start_ns)
{
    struct stat status;
    char last;
    bool is_back = fstat(host->log, &status) == 0 && status.st_size > 0;
    if (is_back && pread(host->log, &last, 1, status.st_size - 1) == 1 && last != '\n')
        (void)!write(host->log, "\n", 1);
    if (!is_back)
        note(host, host->began_ns, "strategy live is observed from %" PRId64, start_ns);
    note(host, is_back ? live_now_ns() : host->began_ns, "agent %" PRIu64 " %s, offset %" PRId64 " drift 0",
         host->number, is_back ? "is back" : "begins", host->offset_ns);
}

int main(int argc, char **argv)
{
    static struct host host;
    if (argc < 13)
        fail("usage: host FILE LOG NUMBERS SETTING BEGAN START OFFSET AGENT KEYS ROWS BURST PAUSE_US "
             "[NAME=VALUE...]");
    host.began_ns = strtoll(argv[5], NULL, 10);
    host.world_ns = strtoll(argv[6], NULL, 10);
    host.offset_ns = strtoll(argv[7], NULL, 10);
    host.number = strtoull(argv[8], NULL, 10);
    host.keys = strtoull(argv[9], NULL, 10);
    host.rows = strtoull(argv[10], NULL, 10);
    host.burst = strtoull(argv[11], NULL, 10);
    host.pause_us = strtoull(argv[12], NULL, 10);
    if (getrandom(&host.draws, sizeof host.draws, 0) != (ssize_t)sizeof host.draws)
        fail("no random bits");
    open_files(&host, argv);
    make_agent(&host, argv[4], argc, argv);
    begin_log(&host, host.world_ns);
    serve(&host);
    live_store_close(&host.store);
    return 0;
}
