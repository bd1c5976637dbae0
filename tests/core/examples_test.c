/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the example in each public header compiles and does what it says. Method: each example is in this
 * file, word for word, in a function that is run; the header's lines below "Example" are looked for in this
 * file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bucketing/bucketing.h"
#include "bucketing/idgen.h"

#define TEXT_SIZE 65536
#define HERE      BUCKETLAB_SOURCE_DIR "/tests/core/examples_test.c"
#define HEADERS   BUCKETLAB_SOURCE_DIR "/core/include/bucketing/"

static int32_t example_of_hash(uint64_t id)
{
    struct bk_hash128 hash = bk_murmur3_128_u64(id);
    int32_t bucket = bk_consistent_hash(hash.h1, 64);
    return bucket;
}

static bool example_of_id(const unsigned char *timeuuid, struct bk_row *made)
{
    struct bk_row row = {0};
    if (bk_id_bits(BK_ID_TIMEUUID, timeuuid, 16, &row.id) != BK_OK)
        return false;
    *made = row;
    return true;
}

static void example_of_status(FILE *out)
{
    struct bk_strategy strategy;
    enum bk_status status = bk_strategy_hash(0, &strategy);
    if (status != BK_OK)
        fprintf(out, "%s", bk_status_text(status));
}

static bool example_of_strategy(struct bk_strategy *made)
{
    struct bk_strategy strategy;
    if (bk_strategy_probabilistic(9, 40, &strategy) != BK_OK)
        return false;
    *made = strategy;
    return true;
}

static void example_of_setting(const char *text, size_t size, FILE *out)
{
    struct bk_setting setting;
    struct bk_setting_error error;
    if (bk_strategy_parse(text, size, &setting, &error) != BK_OK)
        fprintf(out, "setting.bk:%u: %s\n", (unsigned)error.line, error.text);
}

static int64_t put_bucket;

static void put(uint64_t key, int64_t bucket, const struct bk_row *row)
{
    (void)key, (void)row;
    put_bucket = bucket;
}

static struct bk_key_state state;

static bool example_of_route(struct bk_strategy strategy, uint64_t key, struct bk_row row)
{
    struct bk_placement route;
    if (bk_route(&strategy, &state, &row, &route) != BK_OK)
        return false;
    put(key, route.bucket, &row);
    if (bk_fires(&strategy, &row))
        bk_advance(&strategy, &state, &row, NULL);
    return true;
}

static uint64_t ask(int64_t low, int64_t high, uint64_t rows)
{
    return high == low && rows > 20 ? 20 : rows;
}

static uint64_t example_of_read(struct bk_strategy strategy, int64_t now_ns, int64_t birth_ns)
{
    struct bk_reader reader;
    struct bk_read_step step;
    bk_read_latest(&strategy, &state, now_ns, birth_ns, 50, BK_PLAN_DEFAULT, &reader);
    while (bk_read_next(&reader, &step))
        bk_read_found(&reader, ask(step.bucket_low, step.bucket_high, step.rows));
    return reader.rows_found;
}

static bool example_of_history(struct bk_strategy strategy, struct bk_strategy smaller, int64_t date_ns,
                               struct bk_row row)
{
    struct bk_placement route;
    struct bk_history history;
    struct bk_history_state key;
    memset(&key, 0, sizeof key);
    bk_history_begin(&strategy, &history);
    if (bk_history_change(&history, date_ns, &smaller) != BK_OK)
        return false;
    bk_history_route(&history, &key, &row, &route);
    return route.bucket == 0 && bk_history_era_at(&history, row.time_ns) == 1;
}

static uint32_t rows_put;

static struct bk_outcome ask_database(const struct bk_action *action)
{
    rows_put += action->kind == BK_ACT_PUT_ROW;
    return (struct bk_outcome){.kind = BK_OUTCOME_APPLIED};
}

static bool example_of_agent(struct bk_strategy strategy, int64_t now_ns, uint64_t key, struct bk_row row)
{
    bk_strategy_probabilistic(9, 40, &strategy);
    struct bk_agent_config config = bk_agent_config_default(&strategy);
    size_t size = bk_agent_size(&config);
    void *memory = malloc(size);
    struct bk_agent *agent;
    struct bk_action action;
    uint32_t operation;
    if (memory == NULL || bk_agent_init(memory, size, &config, &agent) != BK_OK)
        return false;
    bk_agent_write(agent, now_ns, key, &row, &operation);
    while (bk_agent_next(agent, &action)) {
        if (action.kind == BK_ACT_ACK || action.kind == BK_ACT_DONE)
            continue;
        struct bk_outcome outcome = ask_database(&action);
        bk_agent_report(agent, now_ns, action.ticket, &outcome);
    }
    free(memory);
    return true;
}

static struct bk_idgen_outcome ask_idgen(const struct bk_idgen_action *action)
{
    static struct bk_idgen_column own;
    struct bk_idgen_outcome outcome = {.kind = BK_IDGEN_APPLIED};
    if (action->kind == BK_IDGEN_WRITE_COLUMN)
        own = action->columns[0];
    if (action->kind == BK_IDGEN_READ_COLUMNS) {
        outcome.columns = &own;
        outcome.column_count = 1;
    }
    return outcome;
}

static int64_t example_of_idgen(struct bk_idgen idgen, int64_t now_ns)
{
#define ask_database ask_idgen
    struct bk_idgen_action action;
    int64_t id;
    while (bk_idgen_take(&idgen, now_ns, &id) == BK_ERROR_EMPTY) {
        while (bk_idgen_next(&idgen, &action)) {
            if (action.kind == BK_IDGEN_READY || action.kind == BK_IDGEN_FAILED)
                continue;
            struct bk_idgen_outcome outcome = ask_database(&action);
            bk_idgen_report(&idgen, now_ns, action.ticket, &outcome);
        }
    }
#undef ask_database
    return id;
}

static void test_examples_do_what_they_say(void **unused)
{
    (void)unused;
    struct bk_strategy strategy, smaller;
    const struct bk_row row = {.time_ns = 2000, .id = UINT64_MAX};
    assert_in_range(example_of_hash(7), 0, 63);
    FILE *out = tmpfile();
    assert_non_null(out);
    example_of_status(out);
    assert_int_equal(ftell(out), strlen(bk_status_text(BK_ERROR_BUCKETS)));
    example_of_setting("?", 1, out);
    assert_true(ftell(out) > (long)strlen(bk_status_text(BK_ERROR_BUCKETS)));
    fclose(out);
    struct bk_row made;
    assert_true(example_of_id((const unsigned char[16]){[6] = 0x10, [8] = 0x80}, &made));
    assert_true(made.id != 0);
    assert_true(example_of_strategy(&strategy));
    assert_true(example_of_route(strategy, 1, row));
    assert_int_equal(put_bucket, 0);
    assert_int_equal(state.counter, 1);
    assert_int_equal(example_of_read(strategy, 2000, 0), 20);
    assert_int_equal(bk_strategy_probabilistic(9, 20, &smaller), BK_OK);
    assert_true(example_of_history(strategy, smaller, 1000, row));
    assert_true(example_of_agent(strategy, 2000, 1, row));
    assert_int_equal(rows_put, 1);
    struct bk_idgen idgen;
    const struct bk_idgen_config config = {.client_id = 1,
                                           .batch = 10,
                                           .stripes = 1,
                                           .stripe = 1,
                                           .lock_lasts_ns = 1000,
                                           .lease_ns = 500,
                                           .backoff_base_ns = 10};
    assert_int_equal(bk_idgen_init(&config, &idgen), BK_OK);
    assert_int_equal(example_of_idgen(idgen, 0), 1);
}

static void test_defaults_are_good_for_every_strategy(void **unused)
{
    (void)unused;
    struct bk_strategy strategy;
    struct bk_agent_config config = bk_agent_config_default(NULL);
    assert_int_equal(bk_agent_check(&config), BK_OK);
    assert_int_equal(bk_strategy_count(10, &strategy), BK_OK);
    config = bk_agent_config_default(&strategy);
    for (int source = BK_SOURCE_EXTERNAL; source <= BK_SOURCE_MEMORY; source++) {
        config.source = (enum bk_source)source;
        assert_int_equal(bk_agent_check(&config), BK_OK);
    }
    assert_int_equal(bk_strategy_probabilistic(1, 2, &strategy), BK_OK);
    for (int coordination = BK_SINGLE; coordination <= BK_GUARDED; coordination++) {
        config = bk_agent_config_default(&strategy);
        config.coordination = (enum bk_coordination)coordination;
        config.agent_id = 1;
        config.counter = coordination == BK_GUARDED ? BK_COUNTER_NATIVE : BK_COUNTER_LWT;
        assert_int_equal(bk_agent_check(&config), BK_OK);
    }
}

static void read_text(const char *path, char *text)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be read", path);
    size_t size = fread(text, 1, TEXT_SIZE - 1, file);
    fclose(file);
    assert_true(size < TEXT_SIZE - 1);
    text[size] = '\0';
}

static const char *without_indent(const char *line)
{
    return line + strspn(line, " ");
}

static bool is_same_line(const char *one, const char *other)
{
    size_t length = strcspn(one, "\n");
    return length == strcspn(other, "\n") && memcmp(one, other, length) == 0;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\0' ? line : line + 1;
}

/* The code in a comment's line " *     code"; NULL if the line has none. */
static const char *code_of(const char *line)
{
    return strncmp(line, " *     ", 7) == 0 ? without_indent(line + 2) : NULL;
}

/* The number of lines of the example, from its first line on, that are in the text one below another. */
static unsigned found_lines(const char *example, const char *text)
{
    unsigned found = 0;
    for (; code_of(example) != NULL && is_same_line(code_of(example), without_indent(text)); found++) {
        example = next_line(example);
        text = next_line(text);
    }
    return found;
}

static void test_headers_show_the_examples_compiled_here(void **unused)
{
    static char here[TEXT_SIZE], header[TEXT_SIZE];
    static const char *const names[] = {"hash.h", "status.h",  "strategy.h", "setting.h", "route.h",
                                        "read.h", "history.h", "agent.h",    "idgen.h"};
    (void)unused;
    read_text(HERE, here);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", HEADERS, names[i]);
        read_text(path, header);
        const char *line = strstr(header, "\n * Example");
        if (line == NULL)
            fail_msg("%s has no example", names[i]);
        for (line = next_line(line + 1); code_of(line) == NULL;)
            line = next_line(line);
        unsigned lines = 0, most = 0;
        for (const char *code = line; code_of(code) != NULL; code = next_line(code))
            lines++;
        for (const char *at = here; *at != '\0'; at = next_line(at)) {
            unsigned found = found_lines(line, at);
            most = found > most ? found : most;
        }
        if (most < lines)
            fail_msg("%s: line %u of its example is not compiled in %s", names[i], most + 1, HERE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_do_what_they_say),
        cmocka_unit_test(test_defaults_are_good_for_every_strategy),
        cmocka_unit_test(test_headers_show_the_examples_compiled_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
