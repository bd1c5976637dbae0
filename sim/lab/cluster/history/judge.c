/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges histories. In: their files, whose lines are merged by time, and perhaps the tables that were read
 * back. Kept: a buffer of each file, and the tables. Out: the result of the strategies that were found in
 * them, each of which is replayed (history.c). */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "history.h"
#include "kernel/file.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "lab/cluster_engine.h"
#include "oracles.h"

#define LINE_MOST  65536 /* bytes */
#define WAIT_MS    100
#define NOT_OPENED (-1)

/* A file may be a stream that is silent for long, or that never ends: one buffer is kept of each, and a
 * request to stop is heard while nothing comes. */
struct file {
    int descriptor;
    char *text; /* LINE_MOST bytes, of which those from `begin` to `end` were read and not taken */
    size_t begin, end;
    bool is_over; /* nothing follows */
    struct lab_history_line line;
    uint64_t torn; /* number of an incomplete line, after which an agent must be back; 0 if there is none */
    bool has_line;
};

struct lab_history {
    const struct lab_progress *progress;
    size_t count;
    struct file *taken; /* the file whose line was returned last, and from which the next line must be read;
                           NULL if none */
    struct file files[];
};

bool lab_history_fail(const struct lab_history_line *line, struct sim_error *error, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s", line->path, line->number, text);
}

bool lab_history_word(const char **at, const char *word)
{
    size_t size = strlen(word);
    if (strncmp(*at, word, size) != 0 || ((*at)[size] != ' ' && (*at)[size] != '\0'))
        return false;
    *at += size + ((*at)[size] == ' ');
    return true;
}

bool lab_history_number(const char **at, int64_t *out)
{
    const char *digits = *at + (**at == '-');
    char *end;
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    int64_t value = strtoll(*at, &end, 10);
    if (errno != 0 || (*end != ' ' && *end != '\0'))
        return false;
    *out = value;
    *at = end + (*end == ' ');
    return true;
}

/* Parses " 12.000000345 s ". */
static bool read_time(const char **at, int64_t *out_ns)
{
    const char *next = *at + strspn(*at, " ");
    size_t whole = strspn(next, "0123456789");
    if (whole == 0 || whole > 10 || next[whole] != '.' || strspn(next + whole + 1, "0123456789") != 9 ||
        strncmp(next + whole + 10, " s  ", 4) != 0)
        return false;
    int64_t seconds = strtoll(next, NULL, 10);
    if (seconds >= SIM_QUEUE_TIME_MAX / SIM_SECOND)
        return false;
    *out_ns = seconds * SIM_SECOND + strtoll(next + whole + 1, NULL, 10);
    *at = next + whole + 14;
    return true;
}

/* Parses "key-12: ". */
static bool read_key(const char **at, struct lab_history_line *line)
{
    const char *next = *at;
    line->has_key = strncmp(next, "key-", 4) == 0;
    if (!line->has_key)
        return true;
    size_t size = strspn(next + 4, "0123456789");
    if (size == 0 || size > 9 || strncmp(next + 4 + size, ": ", 2) != 0)
        return false;
    line->key = (uint32_t)strtoul(next + 4, NULL, 10);
    *at = next + size + 6;
    return true;
}

static bool is_of_agent_back(const char *text)
{
    int64_t agent;
    return lab_history_word(&text, "agent") && lab_history_number(&text, &agent) &&
           strncmp(text, "is back", 7) == 0;
}

static bool split(struct file *file, const char *at, struct sim_error *error)
{
    struct lab_history_line *line = &file->line;
    int64_t before_ns = line->since_ns;
    if (!read_time(&at, &line->since_ns) || !read_key(&at, line))
        return lab_history_fail(line, error,
                                "not a line of a history; each is a time, perhaps a key, and an event, as in "
                                "'12.000000345 s  key-3: agent 2 wakes.' (docs/judge.md)");
    line->text = at;
    if (line->since_ns < before_ns && strncmp(at, "strategy ", 9) != 0)
        return lab_history_fail(line, error, "%.9f s comes after %.9f s; a file's lines are in order of time",
                                (double)line->since_ns / 1e9, (double)before_ns / 1e9);
    if (file->torn != 0 && !is_of_agent_back(at)) {
        line->number = file->torn;
        return lab_history_fail(line, error,
                                "the line does not end with a full stop; only one that was cut off when its "
                                "process was killed may, and then 'agent N is back' follows");
    }
    file->torn = 0;
    return true;
}

/* Reads more of the file. */
static bool fill(const struct lab_history *history, struct file *file, struct sim_error *error)
{
    struct pollfd wish = {.fd = file->descriptor, .events = POLLIN};
    file->end -= file->begin;
    memmove(file->text, file->text + file->begin, file->end);
    file->begin = 0;
    if (file->end == LINE_MOST) {
        file->line.number++;
        return lab_history_fail(&file->line, error,
                                "line is longer than %d bytes; a history has one event per line", LINE_MOST);
    }
    while (!lab_is_stopped(history->progress)) {
        const int ready = poll(&wish, 1, WAIT_MS);
        const ssize_t size =
            ready > 0 ? read(file->descriptor, file->text + file->end, LINE_MOST - file->end) : -1;
        if (ready == 0 || (size < 0 && errno == EINTR))
            continue;
        if (size < 0)
            return sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s: cannot be read", file->line.path);
        file->end += (size_t)size;
        file->is_over = size == 0;
        return true;
    }
    return lab_fail_stopped(error);
}

/* Reads the next complete line of the file. */
static bool advance(const struct lab_history *history, struct file *file, struct sim_error *error)
{
    file->has_line = false;
    for (;;) {
        char *text = file->text + file->begin, *end = memchr(text, '\n', file->end - file->begin);
        const size_t left = file->end - file->begin, size = end == NULL ? left : (size_t)(end - text);
        if (end == NULL && !file->is_over) {
            if (!fill(history, file, error))
                return false;
            continue;
        }
        if (left == 0)
            return true;
        file->begin += size + (end != NULL);
        file->line.number++;
        if (size > 0 && text[size - 1] != '.')
            file->torn = file->line.number;
        if (size == 0 || text[size - 1] != '.')
            continue;
        text[size - 1] = '\0';
        file->has_line = true;
        return split(file, text, error);
    }
}

static bool open_file(const struct lab_history *history, const char *path, struct file *file,
                      struct sim_error *error)
{
    int reason;
    char buffer[SIM_REASON_SIZE];
    file->line.path = path;
    file->line.since_ns = INT64_MIN;
    file->text = malloc(LINE_MOST);
    file->descriptor = sim_input_open(path, &reason);
    if (file->descriptor == NOT_OPENED)
        return sim_fail(error, SIM_ERROR_INPUT, "%s: %s; name a history", path,
                        sim_input_reason(reason, buffer, sizeof buffer));
    return file->text == NULL ? sim_fail_memory(error) : advance(history, file, error);
}

static bool lab_history_open(const char *const *paths, size_t count, const struct lab_progress *progress,
                             struct lab_history **out, struct sim_error *error)
{
    struct lab_history *history = calloc(1, sizeof *history + count * sizeof *history->files);
    *out = history;
    if (history == NULL)
        return sim_fail_memory(error);
    history->progress = progress;
    for (size_t i = 0; i < count; i++) {
        history->count++;
        if (!open_file(history, paths[i], &history->files[i], error))
            return false;
    }
    return true;
}

/* history may be NULL */
static void close_history(struct lab_history *history)
{
    for (size_t i = 0; history != NULL && i < history->count; i++) {
        if (history->files[i].descriptor != NOT_OPENED)
            close(history->files[i].descriptor);
        free(history->files[i].text);
    }
    free(history);
}

bool lab_history_next(struct lab_history *history, const struct lab_history_line **out,
                      struct sim_error *error)
{
    struct file *first = NULL;
    if (history->taken != NULL && !advance(history, history->taken, error))
        return false;
    for (size_t i = 0; i < history->count; i++) {
        struct file *file = &history->files[i];
        if (file->has_line && (first == NULL || file->line.since_ns < first->line.since_ns))
            first = file;
    }
    history->taken = first;
    if (first != NULL)
        *out = &first->line;
    return first != NULL;
}

void lab_history_again(struct lab_history *history)
{
    history->taken = NULL;
}

/* --- Reads the tables that were read back after the run, with one line for each row, state and counter:
 *
 *     row,KEY,BUCKET,NUMBER,TIME
 *     state,KEY,C0,C1,C2,C3
 *     counter,KEY,BUCKET,TOTAL
 *
 * KEY is key-0, key-1 and so on; NUMBER is the row's number within its key, and TIME its time. BUCKET of a
 * counter is 0 if a key has one counter. The tables decide what is stored: rows and increments of unknown
 * outcome that they have took effect, and rows that are stored according to the history and are not in the
 * tables are lost. */

enum kind { ROW, STATE, COUNTER };
struct item {
    uint64_t line;
    enum kind kind;
    int64_t key, numbers[BK_COLUMNS]; /* in the order of the line */
};

/* The tables as they were read. Some effects have no line in the history, because their author was killed
 * before it got the outcome, or never got it. For rows, the tables show them: such a row counts as stored
 * from its request on, so that it is not counted before it is stored. For counters, each read shows them, if
 * it finds more than is known. */
struct lab_tables {
    const char *path;
    struct item *items;
    size_t count, capacity;
    struct lab_open_row *rows; /* sorted; is_heard: the history has it, or it is stored by now */
    size_t row_count;
};

/* Parses the number before the next comma, and advances *at beyond it. */
static bool field(char **at, int64_t *out)
{
    char *text = *at, *comma = strchr(text, ',');
    const char *number = text;
    if (comma != NULL)
        *comma = '\0';
    *at = comma == NULL ? text + strlen(text) : comma + 1;
    return lab_history_number(&number, out) && *number == '\0';
}

static bool read_item(const struct lab_history_line *line, char *text, struct item *out,
                      struct sim_error *error)
{
    static const struct {
        const char *name;
        size_t numbers;
    } kinds[] = {{"row,key-", 3}, {"state,key-", 4}, {"counter,key-", 2}};
    size_t kind = 0;
    while (kind < 3 && strncmp(text, kinds[kind].name, strlen(kinds[kind].name)) != 0)
        kind++;
    char *at = kind == 3 ? text : text + strlen(kinds[kind].name);
    bool ok = kind < 3 && field(&at, &out->key);
    for (size_t i = 0; ok && i < kinds[kind].numbers; i++)
        ok = field(&at, &out->numbers[i]);
    out->line = line->number;
    out->kind = (enum kind)kind;
    return (ok && *at == '\0') ||
           lab_history_fail(
               line, error,
               "not a line of tables; write row,KEY,BUCKET,NUMBER,TIME or state,KEY,C0,C1,C2,C3 or "
               "counter,KEY,BUCKET,TOTAL, KEY as key-0 (docs/live.md)");
}

static bool read_items(struct lab_tables *tables, FILE *stream, struct sim_error *error)
{
    struct lab_history_line line = {.path = tables->path};
    char *text = NULL;
    size_t room = 0;
    ssize_t size;
    bool ok = true;
    while (ok && (size = getline(&text, &room, stream)) > 0) {
        line.number++;
        size -= text[size - 1] == '\n';
        text[size] = '\0';
        if (size == 0)
            continue;
        ok = sim_grow(&tables->items, &tables->capacity, tables->count + 1, sizeof *tables->items)
                 ? read_item(&line, text, &tables->items[tables->count++], error)
                 : sim_fail_memory(error);
    }
    free(text);
    return ok &&
           (!ferror(stream) || sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s: cannot be read", tables->path));
}

static struct lab_open_row *find_told(const struct lab_tables *tables, uint64_t key, int64_t bucket,
                                      int64_t row)
{
    const struct lab_open_row wanted = {.key = (uint32_t)key, .bucket = bucket, .row = (uint64_t)row};
    return bsearch(&wanted, tables->rows, tables->row_count, sizeof wanted, lab_open_compare);
}

/* Handles "row N is stored in bucket B ...". */
static void mark_told(struct lab_tables *tables, const struct lab_history_line *line)
{
    const char *at = line->text;
    int64_t row, bucket;
    if (!line->has_key || !lab_history_word(&at, "row") || !lab_history_number(&at, &row) ||
        strncmp(at, "is stored in bucket ", 20) != 0)
        return;
    at += 20;
    struct lab_open_row *found =
        lab_history_number(&at, &bucket) ? find_told(tables, line->key, bucket, row) : NULL;
    if (found != NULL)
        found->is_heard = true;
}

/* Reads the tables, and marks their rows that the history has. */
static bool open_tables(const char *const *paths, size_t count, const char *path,
                        const struct lab_progress *progress, struct lab_tables *tables,
                        struct sim_error *error)
{
    struct lab_history *history = NULL;
    const struct lab_history_line *line;
    int reason;
    char buffer[SIM_REASON_SIZE];
    FILE *stream = sim_input_stream(path, &reason);
    *tables = (struct lab_tables){.path = path};
    if (stream == NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "%s: %s; name the tables that were read back", path,
                        sim_input_reason(reason, buffer, sizeof buffer));
    bool ok = read_items(tables, stream, error);
    fclose(stream);
    tables->rows = calloc(tables->count + 1, sizeof *tables->rows);
    ok = ok && (tables->rows != NULL || sim_fail_memory(error));
    for (size_t i = 0; ok && i < tables->count; i++) {
        const struct item *item = &tables->items[i];
        if (item->kind == ROW)
            tables->rows[tables->row_count++] = (struct lab_open_row){
                .key = (uint32_t)item->key, .bucket = item->numbers[0], .row = (uint64_t)item->numbers[1]};
    }
    if (ok)
        qsort(tables->rows, tables->row_count, sizeof *tables->rows, lab_open_compare);
    ok = ok && lab_history_open(paths, count, progress, &history, error);
    while (ok && lab_history_next(history, &line, error))
        mark_told(tables, line);
    close_history(history);
    return ok && error->class == SIM_ERROR_NONE;
}

void lab_untold_asked(struct lab_cluster_run *run, const struct bk_action *action)
{
    const struct lab_replay *replay = run->replay;
    if (action->kind != BK_ACT_PUT_ROW || !replay->is_observed || replay->tables == NULL)
        return;
    int64_t number = (int64_t)action->row.sequence;
    struct lab_open_row *found = find_told(replay->tables, action->key, action->bucket, number);
    if (found == NULL || found->is_heard)
        return;
    found->is_heard = true;
    lab_replay_store(run, (uint32_t)action->key, action->bucket, action->row.sequence, action->row.time_ns,
                     (int64_t)action->row.id, CASS_EVERY_REPLICA);
}

/* Returns whether an agent that is up may still get the outcome. */
static bool is_under_way(const struct lab_cluster_run *run, const struct lab_increment *increment)
{
    for (uint32_t i = 0; i < run->agent_count; i++) {
        const struct lab_host_agent *agent = &run->agents[i];
        for (uint32_t j = 0; agent->is_up && j < agent->operations_met; j++) {
            const struct lab_host_operation *operation = &agent->operations[j];
            if (operation->is_active && operation->outstanding > 0 &&
                operation->action == BK_ACT_ADD_COUNTER && operation->row == increment->row &&
                operation->counter == increment->counter)
                return true;
        }
    }
    return false;
}

int64_t lab_untold_increments(struct lab_cluster_run *run, uint64_t counter, int64_t total)
{
    int64_t missing = total - cass_counter_total(run->cluster, counter);
    for (int pass = 0; pass < 2 && missing > 0; pass++) {
        for (size_t i = 0; i < run->oracles.increments.count && missing > 0; i++) {
            const struct lab_increment *increment = &run->oracles.increments.items[i];
            int64_t amount = (int64_t)increment->amount;
            if (!increment->is_used || increment->counter != counter || increment->applied > 0 ||
                amount > missing || (pass == 0 && is_under_way(run, increment)))
                continue;
            cass_record_addition(run->cluster, counter, increment->row, amount);
            missing -= amount;
        }
    }
    return missing;
}

/* --- After the run: what the tables have takes effect. */

static bool is_listed(const struct lab_open_rows *rows, const struct lab_open_row *wanted)
{
    return rows->count > 0 &&
           bsearch(wanted, rows->items, rows->count, sizeof *wanted, lab_open_compare) != NULL;
}

/* Stores a row that the run does not know, or whose outcome it did not learn. */
static void find_row(struct lab_cluster_run *run, uint32_t key, int64_t bucket, uint64_t row, int64_t time_ns)
{
    const struct lab_oracles *oracles = &run->oracles;
    const struct lab_open_row wanted = {.key = key, .row = row, .bucket = bucket};
    bool is_open = is_listed(&oracles->open, &wanted) || is_listed(&oracles->moved, &wanted);
    if (lab_partition_find(oracles, key, bucket) == LAB_NO_PARTITION ||
        (is_open && !cass_row_is_open(run->cluster, key, bucket, row)))
        lab_replay_store(run, key, bucket, row, time_ns, 0, CASS_EVERY_REPLICA);
}

static void find_state(struct lab_cluster_run *run, uint32_t key, const int64_t *columns)
{
    int64_t known[CASS_COLUMNS] = {0}, told[CASS_COLUMNS] = {columns[0], columns[1], columns[2], columns[3]};
    uint32_t mask, all = (1u << BK_COLUMNS) - 1;
    bool is_there = cass_peek_merged(run->cluster, lab_state_register(key), known, &mask);
    if (!is_there || memcmp(known, told, BK_COLUMNS * sizeof *known) != 0)
        cass_record_columns(run->cluster, lab_state_register(key), told, all);
}

/* Increments of unknown outcome took effect as far as the counter exceeds the sum of the others. */
static void find_counter(struct lab_cluster_run *run, uint32_t key, int64_t bucket, int64_t total)
{
    uint64_t counter = lab_counter_key(run, key, bucket);
    int64_t missing = lab_untold_increments(run, counter, total);
    if (missing != 0)
        cass_record_addition(run->cluster, counter, UINT64_MAX, missing);
}

static bool find_item(struct lab_cluster_run *run, bool *has_state, const char *path, const struct item *item,
                      struct sim_error *error)
{
    const struct lab_history_line line = {.path = path, .number = item->line};
    const int64_t *numbers = item->numbers;
    uint32_t key = (uint32_t)item->key;
    if (item->key < 0 || item->key >= run->key_count)
        return lab_history_fail(&line, error, "key-%" PRId64 ": the scenario has %" PRIu32 " keys", item->key,
                                run->key_count);
    if (!lab_is_possible_bucket(run, numbers[0]) || (item->kind == ROW && numbers[1] < 0))
        return lab_history_fail(&line, error, "a bucket and a row's number are 0 or more");
    has_state[key] = has_state[key] || item->kind == STATE;
    if (item->kind == ROW)
        find_row(run, key, numbers[0], (uint64_t)numbers[1], numbers[2]);
    else if (item->kind == STATE)
        find_state(run, key, numbers);
    else
        find_counter(run, key, numbers[0], numbers[1]);
    return true;
}

/* Sets the rows of the ledger and of the cluster to those of the tables. */
static void settle(struct lab_cluster_run *run, const struct lab_tables *tables, const bool *has_state)
{
    struct lab_oracles *oracles = &run->oracles;
    for (uint32_t i = 0; i < oracles->partition_count; i++)
        oracles->partitions[i].stored = oracles->partitions[i].stored_sum = 0;
    for (size_t i = 0; i < tables->row_count; i++) {
        const struct lab_open_row *row = &tables->rows[i];
        struct lab_partition *partition =
            &oracles->partitions[lab_partition_find(oracles, row->key, row->bucket)];
        partition->stored++;
        partition->stored_sum += sim_mix64(row->row + 1);
    }
    for (uint32_t i = 0; i < oracles->partition_count; i++)
        cass_record_rows(run->cluster, oracles->partitions[i].key, oracles->partitions[i].bucket,
                         oracles->partitions[i].stored);
    int64_t none[CASS_COLUMNS] = {0}, columns[CASS_COLUMNS];
    uint32_t mask;
    for (uint32_t key = 0; lab_keeps_state(run) && key < run->key_count; key++) {
        if (!has_state[key] && cass_peek_merged(run->cluster, lab_state_register(key), columns, &mask))
            cass_record_columns(run->cluster, lab_state_register(key), none, 0);
    }
}

bool lab_tables_settle(struct lab_cluster_run *run, struct sim_error *error)
{
    const struct lab_tables *tables = run->replay->tables;
    struct lab_open_rows *lists[] = {&run->oracles.open, &run->oracles.moved};
    bool *has_state = calloc(run->key_count, sizeof *has_state);
    bool ok = has_state != NULL || sim_fail_memory(error);
    for (int i = 0; i < 2; i++) {
        if (lists[i]->count > 0)
            qsort(lists[i]->items, lists[i]->count, sizeof *lists[i]->items, lab_open_compare);
    }
    for (size_t i = 0; ok && i < tables->count; i++)
        ok = find_item(run, has_state, tables->path, &tables->items[i], error);
    ok = ok && (!run->out_of_memory || sim_fail_memory(error));
    if (ok)
        settle(run, tables, has_state);
    free(has_state);
    return ok;
}

/* --- Judges histories: finds the strategies in them, replays each one, and makes a result of it. */

bool lab_replay_head(const struct lab_history_line *line, struct lab_replay_head *out)
{
    static const char *const kinds[] = {" begins at ", " is observed from "};
    *out = (struct lab_replay_head){0};
    if (strncmp(line->text, "strategy ", 9) != 0)
        return false;
    const char *label = line->text + 9;
    for (int i = 0; i < 2; i++) {
        const char *kind = strstr(label, kinds[i]);
        size_t size = kind == NULL ? sizeof out->label : (size_t)(kind - label);
        const char *at = kind == NULL ? "" : kind + strlen(kinds[i]);
        if (size >= sizeof out->label || !lab_history_number(&at, &out->start_ns) || *at != '\0')
            continue;
        memcpy(out->label, label, size);
        out->label[size] = '\0';
        out->is_observed = i == 1;
        return true;
    }
    return false;
}

static bool check_scenario(const struct lab_scenario *scenario, struct sim_error *error)
{
    const char *why = scenario->engine != LAB_ENGINE_CLUSTER ? "no agents; a history is of agents"
                      : scenario->identifiers.present        ? "identifiers, which have no histories"
                      : scenario->trace_path != NULL
                          ? "a trace; a history names synthetic keys, from key-0 on"
                      : scenario->deletes.share > 0 ? "deletes, which histories do not record"
                      : scenario->row_ttl_ns > 0    ? "rows that expire, which histories do not record"
                                                    : NULL;
    for (size_t i = 0; i < scenario->fault_count && why == NULL; i++) {
        if (scenario->faults[i].age_ns > 0 && scenario->faults[i].kinds == UINT32_C(1)
                                                                               << LAB_FAULT_AGENT_CRASH)
            why = "agents that restart from a checkpoint, which histories do not hold";
    }
    return why == NULL || sim_fail(error, SIM_ERROR_INPUT, "%s: this scenario has %s", scenario->path, why);
}

static bool find_strategy(const struct lab_scenario *scenario, const struct lab_history_line *line,
                          struct lab_result **results, struct lab_replay *replay, size_t *out,
                          struct sim_error *error)
{
    struct lab_replay_head head;
    if (!lab_replay_head(line, &head))
        return lab_history_fail(
            line, error,
            "a history begins with 'strategy LABEL begins at NANOSECONDS.', or 'is observed "
            "from'; write one by --trace-format record (docs/live.md)");
    for (*out = 0; *out < scenario->strategy_count; ++*out) {
        if (strcmp(scenario->strategies[*out].label, head.label) == 0)
            break;
    }
    if (*out == scenario->strategy_count)
        return lab_history_fail(line, error, "%s has no strategy '%s'", scenario->path, head.label);
    if (results[*out] != NULL)
        return lab_history_fail(line, error, "strategy '%s' begins a second time", head.label);
    if (head.start_ns < -SIM_QUEUE_TIME_MAX / 2 || head.start_ns > SIM_QUEUE_TIME_MAX / 2)
        return lab_history_fail(line, error, "a run begins between the years 1897 and 2043");
    if (head.is_observed && scenario->strategies[*out].settings.change_count > 0)
        return lab_history_fail(line, error, "'then' has dates of the scenario's own; judge one setting");
    replay->start_ns = head.start_ns;
    replay->is_observed = head.is_observed;
    replay->is_exhausted = replay->has_ended = false;
    return true;
}

static bool replay_all(const struct lab_scenario *scenario, const struct lab_rows *rows,
                       const struct lab_run_context *context, struct lab_replay *replay,
                       struct lab_result **results, struct sim_error *error)
{
    const struct lab_history_line *line;
    size_t count = 0, index = 0;
    while (lab_history_next(replay->history, &line, error)) {
        if (!find_strategy(scenario, line, results, replay, &index, error))
            return false;
        if (!lab_cluster_play(scenario, index, rows, context, replay, &results[index], error))
            return false;
        count++;
    }
    return error->class == SIM_ERROR_NONE &&
           (count > 0 || sim_fail(error, SIM_ERROR_INPUT, "the history is empty; nothing can be judged"));
}

bool lab_judge(const struct lab_scenario *scenario, const char *const *paths, size_t count,
               const char *tables, struct lab_progress *progress, struct lab_result **out,
               struct sim_error *error)
{
    const struct lab_run_context context = {.progress = progress};
    struct lab_tables read = {0};
    struct lab_replay replay = {.tables = tables == NULL ? NULL : &read};
    struct lab_rows *rows = NULL;
    struct lab_result **results = calloc(scenario->strategy_count + 1, sizeof *results);
    *out = NULL;
    bool ok = (results != NULL || sim_fail_memory(error)) && check_scenario(scenario, error) &&
              lab_cluster_rows(scenario, &context, &rows, error) &&
              (tables == NULL || open_tables(paths, count, tables, progress, &read, error)) &&
              lab_history_open(paths, count, progress, &replay.history, error) &&
              replay_all(scenario, rows, &context, &replay, results, error) &&
              (lab_cluster_result(scenario, results, out) || sim_fail_memory(error));
    for (size_t i = 0; results != NULL && i < scenario->strategy_count; i++)
        lab_result_destroy(results[i]);
    free(results);
    close_history(replay.history);
    free(read.items);
    free(read.rows);
    lab_rows_destroy(rows);
    return ok;
}
