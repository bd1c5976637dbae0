/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the tables that were read back after the run, with one line for each row, state and counter:
 *
 *     row,KEY,BUCKET,NUMBER,TIME
 *     state,KEY,C0,C1,C2,C3
 *     counter,KEY,BUCKET,TOTAL
 *
 * KEY is key-0, key-1 and so on; NUMBER is the row's number within its key, and TIME its time. BUCKET of a
 * counter is 0 if a key has one counter. The tables decide what is stored: rows and increments of unknown
 * outcome that they have took effect, and rows that are stored according to the history and are not in the
 * tables are lost. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_view.h"
#include "evidence.h"
#include "history.h"
#include "kernel/file.h"

/* The rows found in a partition of the ledger. */
struct found {
    uint64_t rows, sum;
};

struct tables {
    struct lab_cluster_run *run;
    struct lab_open_row *open; /* rows of unknown outcome, sorted */
    size_t open_count;
    struct found *found;
    uint32_t found_count;
    bool *has_state; /* whether each key has a state */
};

static bool begin(struct tables *tables)
{
    const struct lab_oracles *oracles = &tables->run->oracles;
    const struct lab_open_rows *lists[] = {&oracles->open, &oracles->moved};
    tables->found_count = oracles->partition_count;
    tables->found = calloc((size_t)tables->found_count + 1, sizeof *tables->found);
    tables->has_state = calloc(tables->run->key_count, sizeof *tables->has_state);
    tables->open = calloc(lists[0]->count + lists[1]->count + 1, sizeof *tables->open);
    if (tables->found == NULL || tables->has_state == NULL || tables->open == NULL)
        return false;
    for (int i = 0; i < 2; i++) {
        for (size_t j = 0; j < lists[i]->count; j++)
            tables->open[tables->open_count++] = lists[i]->items[j];
    }
    qsort(tables->open, tables->open_count, sizeof *tables->open, lab_open_compare);
    return true;
}

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

static void find_row(struct tables *tables, uint32_t key, int64_t bucket, uint64_t row, int64_t time_ns)
{
    struct lab_cluster_run *run = tables->run;
    const struct lab_open_row wanted = {.key = key, .row = row, .bucket = bucket};
    uint32_t index = lab_partition_find(&run->oracles, key, bucket);
    bool is_known = index < tables->found_count;
    bool is_open =
        bsearch(&wanted, tables->open, tables->open_count, sizeof wanted, lab_open_compare) != NULL;
    if (!is_known || (is_open && !cass_row_is_open(run->cluster, key, bucket, row)))
        lab_replay_store(run, key, bucket, row, time_ns, 0, CASS_EVERY_REPLICA);
    if (!is_known)
        return;
    tables->found[index].rows++;
    tables->found[index].sum += sim_mix64(row + 1);
}

static void find_state(struct tables *tables, uint32_t key, const int64_t *columns)
{
    struct lab_cluster_run *run = tables->run;
    int64_t known[CASS_COLUMNS] = {0}, told[CASS_COLUMNS] = {columns[0], columns[1], columns[2], columns[3]};
    uint32_t mask, all = (1u << BK_COLUMN_COUNT) - 1;
    bool is_there = cass_peek_merged(run->cluster, lab_state_register(key), known, &mask);
    tables->has_state[key] = true;
    if (!is_there || memcmp(known, told, BK_COLUMN_COUNT * sizeof *known) != 0)
        cass_record_columns(run->cluster, lab_state_register(key), told, all);
}

/* Increments of unknown outcome took effect as far as the counter exceeds the sum of the others. */
static void find_counter(struct tables *tables, uint32_t key, int64_t bucket, int64_t total)
{
    uint64_t counter = lab_counter_key(tables->run, key, bucket);
    int64_t missing = lab_untold_increments(tables->run, counter, total);
    if (missing != 0)
        cass_record_addition(tables->run->cluster, counter, UINT64_MAX, missing);
}

static bool read_line(const struct lab_history_line *line, char *text, struct lab_tables_line *out,
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
    out->kind = (enum lab_tables_kind)kind;
    return (ok && *at == '\0') ||
           lab_history_fail(
               line, error,
               "not a line of tables; write row,KEY,BUCKET,NUMBER,TIME or state,KEY,C0,C1,C2,C3 or "
               "counter,KEY,BUCKET,TOTAL, KEY as key-0 (docs/live.md)");
}

bool lab_tables_each(const char *path, lab_tables_visit *visit, void *context, struct sim_error *error)
{
    struct lab_history_line line = {.path = path};
    struct lab_tables_line found;
    int reason;
    char buffer[SIM_REASON_SIZE], *text = NULL;
    size_t room = 0;
    ssize_t size;
    FILE *stream = sim_input_stream(path, &reason);
    if (stream == NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "%s: %s; name the tables that were read back", path,
                        sim_input_reason(reason, buffer, sizeof buffer));
    bool ok = true;
    while (ok && (size = getline(&text, &room, stream)) > 0) {
        line.number++;
        size -= text[size - 1] == '\n';
        text[size] = '\0';
        ok = size == 0 || (read_line(&line, text, &found, error) && visit(context, &line, &found, error));
    }
    ok = ok && (!ferror(stream) || sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s: cannot be read", path));
    fclose(stream);
    free(text);
    return ok;
}

static bool take_line(void *context, const struct lab_history_line *line, const struct lab_tables_line *found,
                      struct sim_error *error)
{
    struct tables *tables = context;
    const struct lab_cluster_run *run = tables->run;
    const int64_t *numbers = found->numbers;
    uint32_t key = (uint32_t)found->key;
    if (found->key < 0 || found->key >= run->key_count)
        return lab_history_fail(line, error, "key-%" PRId64 ": the scenario has %" PRIu32 " keys", found->key,
                                run->key_count);
    if (!lab_is_possible_bucket(run, numbers[0]) || (found->kind == LAB_TABLES_ROW && numbers[1] < 0))
        return lab_history_fail(line, error, "a bucket and a row's number are 0 or more");
    if (found->kind == LAB_TABLES_ROW)
        find_row(tables, key, numbers[0], (uint64_t)numbers[1], numbers[2]);
    else if (found->kind == LAB_TABLES_STATE)
        find_state(tables, key, numbers);
    else
        find_counter(tables, key, numbers[0], numbers[1]);
    return true;
}

/* Sets the rows of the ledger and of the cluster to those of the tables. */
static void settle(struct tables *tables)
{
    struct lab_cluster_run *run = tables->run;
    const struct lab_replay *replay = run->replay;
    for (uint32_t i = 0; i < tables->found_count; i++) {
        struct lab_partition *partition = &run->oracles.partitions[i];
        const struct found *found = &tables->found[i];
        partition->balance += found->sum - (i < replay->stored_capacity ? replay->stored[i] : 0);
        partition->stored = found->rows;
        cass_record_rows(run->cluster, partition->key, partition->bucket, found->rows);
    }
    int64_t none[CASS_COLUMNS] = {0}, columns[CASS_COLUMNS];
    uint32_t mask;
    for (uint32_t key = 0; lab_keeps_state(run) && key < run->key_count; key++) {
        if (!tables->has_state[key] &&
            cass_peek_merged(run->cluster, lab_state_register(key), columns, &mask))
            cass_record_columns(run->cluster, lab_state_register(key), none, 0);
    }
}

bool lab_tables_read(struct lab_cluster_run *run, const char *path, struct sim_error *error)
{
    struct tables tables = {.run = run};
    bool ok = (begin(&tables) || sim_fail_memory(error)) && lab_tables_each(path, take_line, &tables, error);
    if (ok)
        settle(&tables);
    free(tables.open);
    free(tables.found);
    free(tables.has_state);
    return ok;
}
