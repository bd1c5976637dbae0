/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: no setting of a strategy is lost between the scenario and a stored run. Method: each setting of each
 * kind gets two values. The stored runs differ, and each is the same again after a rank's archive and after
 * the database. The parser's own tables list the settings, so a new setting without a line here fails. */
#define _DEFAULT_SOURCE
#include "sample.h"

#include "lab/fields.h"
#include "lab/result.h"

#define TEXT_SIZE 2048

struct pair {
    const char *setting; /* KIND.NAME; every field of a nested setting has its line */
    const char *one, *other;
};

#define TIME    "window: 1h"
#define DICE    "bits: 3, threshold: 4"
#define BYTES   "bytes: 1KB, threshold: 4"
#define THEN(x) "then: [{at: 1h, " x "}]"

static const struct pair pairs[] = {
    {"unbucketed.read.plan", "", "read: {plan: walk}"},
    {"unbucketed.read.at_once", "read: {plan: parallel, at_once: 2}", "read: {plan: parallel, at_once: 3}"},
    {"time.window", TIME, "window: 2h"},
    {"time.epoch", TIME, TIME ", epoch: 2015-01-01T00:00:00Z"},
    {"time.shards", TIME, TIME ", shards: 3"},
    {"time.then.shards", TIME ", " THEN("window: 2h, shards: 2"), TIME ", " THEN("window: 2h, shards: 3")},
    {"time.calendar", "calendar: day", "calendar: week"},
    {"time.then", TIME, TIME ", " THEN("window: 2h")},
    {"time.then.at", TIME ", then: [{at: 1h, window: 2h}]", TIME ", then: [{at: 2h, window: 2h}]"},
    {"time.then.rollout", TIME ", " THEN("window: 2h"), TIME ", " THEN("window: 2h, rollout: 1m")},
    {"time.then.keep_old", TIME ", " THEN("window: 2h"), TIME ", " THEN("window: 2h, keep_old: false")},
    {"time.then.window", TIME ", " THEN("window: 2h"), TIME ", " THEN("window: 3h")},
    {"time.then.epoch", TIME ", " THEN("window: 2h"),
     TIME ", " THEN("window: 2h, epoch: 2015-01-01T00:00:00Z")},
    {"time.then.calendar", TIME ", " THEN("calendar: day"), TIME ", " THEN("calendar: week")},
    {"time.read.plan", TIME, TIME ", read: {plan: pair}"},
    {"time.read.at_once", TIME ", read: {plan: parallel}", TIME ", read: {plan: parallel, at_once: 3}"},
    {"time.read.remember_empty", TIME, TIME ", read: {remember_empty: true}"},
    {"time.read.late", TIME ", read: {remember_empty: true}",
     TIME ", read: {remember_empty: true, late: 2m}"},
    {"count.rows", "rows: 10, counter: external", "rows: 11, counter: external"},
    {"count.counter", "rows: 10, counter: external", "rows: 10, counter: lwt"},
    {"count.shards", "rows: 10, counter: external", "rows: 10, counter: external, shards: 2"},
    {"count.batch", "rows: 10, counter: lease", "rows: 10, counter: lease, batch: 3"},
    {"count.every_rows", "rows: 10, counter: scan, every_rows: 2", "rows: 10, counter: scan, every_rows: 3"},
    {"count.every_time", "rows: 10, counter: scan, every_time: 2s",
     "rows: 10, counter: scan, every_time: 3s"},
    {"count.max_age", "rows: 10, counter: external", "rows: 10, counter: external, max_age: 1h"},
    {"count.then", "rows: 10, counter: external", "rows: 10, counter: external, " THEN("rows: 11")},
    {"count.then.at", "rows: 10, counter: external, then: [{at: 1h, rows: 11}]",
     "rows: 10, counter: external, then: [{at: 2h, rows: 11}]"},
    {"count.then.rows", "rows: 10, counter: external, " THEN("rows: 11"),
     "rows: 10, counter: external, " THEN("rows: 12")},
    {"count.then.keep_old", "rows: 10, counter: external, " THEN("rows: 11"),
     "rows: 10, counter: external, " THEN("rows: 11, keep_old: false")},
    {"count.read.plan", "rows: 10, counter: external", "rows: 10, counter: external, read: {plan: pair}"},
    {"probabilistic.shards", DICE, DICE ", shards: 2"},
    {"probabilistic.bits", DICE, "bits: 0, threshold: 4"},
    {"probabilistic.chance", "chance: 1/7, threshold: 4", "chance: 2/7, threshold: 4"},
    {"probabilistic.chance", "chance: 1/7, threshold: 4", "chance: 1/8, threshold: 4"},
    {"probabilistic.threshold", DICE, "bits: 3, threshold: 5"},
    {"probabilistic.coordination", DICE, DICE ", coordination: guarded"},
    {"probabilistic.coordination", DICE, DICE ", coordination: locked"},
    {"probabilistic.counter", DICE, DICE ", counter: lwt"},
    {"probabilistic.lead", DICE ", coordination: three-state, lead: 1s",
     DICE ", coordination: three-state, lead: 2s"},
    {"probabilistic.grant", DICE ", coordination: guarded", DICE ", coordination: guarded, grant: 2s"},
    {"probabilistic.lock.lasts", DICE ", coordination: locked",
     DICE ", coordination: locked, lock: {lasts: 2s}"},
    {"probabilistic.lock.backoff", DICE ", coordination: locked",
     DICE ", coordination: locked, lock: {backoff: 2s}"},
    {"probabilistic.max_age", DICE, DICE ", max_age: 1h"},
    {"probabilistic.then.bits", DICE ", " THEN("bits: 2, threshold: 4"),
     DICE ", " THEN("bits: 0, threshold: 4")},
    {"probabilistic.then.threshold", DICE ", " THEN("bits: 2, threshold: 4"),
     DICE ", " THEN("bits: 2, threshold: 5")},
    {"hash.buckets", "buckets: 3", "buckets: 4"},
    {"hash.then.buckets", "buckets: 3, " THEN("buckets: 4"), "buckets: 3, " THEN("buckets: 5")},
    {"hash.read.plan", "buckets: 3", "buckets: 3, read: {plan: lazy}"},
    {"weighted.shards", BYTES, BYTES ", shards: 2"},
    {"weighted.bytes", BYTES, "bytes: 2KB, threshold: 4"},
    {"weighted.threshold", BYTES, "bytes: 1KB, threshold: 5"},
    {"weighted.coordination", BYTES, BYTES ", coordination: guarded"},
    {"weighted.counter", BYTES, BYTES ", counter: lwt"},
    {"weighted.lead", BYTES ", coordination: three-state, lead: 1s",
     BYTES ", coordination: three-state, lead: 2s"},
    {"weighted.grant", BYTES ", coordination: guarded", BYTES ", coordination: guarded, grant: 2s"},
    {"weighted.lock.lasts", BYTES ", coordination: locked",
     BYTES ", coordination: locked, lock: {lasts: 2s}"},
    {"weighted.lock.backoff", BYTES ", coordination: locked",
     BYTES ", coordination: locked, lock: {backoff: 2s}"},
    {"weighted.max_age", BYTES, BYTES ", max_age: 1h"},
    {"weighted.then.bytes", BYTES ", " THEN("bytes: 2KB, threshold: 4"),
     BYTES ", " THEN("bytes: 3KB, threshold: 4")},
    {"weighted.then.threshold", BYTES ", " THEN("bytes: 2KB, threshold: 4"),
     BYTES ", " THEN("bytes: 2KB, threshold: 5")},
    {"idgen.batch", "", "batch: 7"},
    {"idgen.stripes", "", "stripes: 2"},
    {"idgen.stripe", "stripes: 2, stripe: 1, choice: fixed", "stripes: 2, stripe: 2, choice: fixed"},
    {"idgen.choice", "stripes: 2, choice: rotate", "stripes: 2, choice: random"},
    {"idgen.lock", "", "lock: lwt"},
    {"idgen.lock_lasts", "lease: 1s", "lock_lasts: 7s, lease: 1s"},
    {"idgen.lease", "", "lease: 1s"},
    {"idgen.backoff.constant", "backoff: {constant: 1s}", "backoff: {constant: 2s}"},
    {"idgen.backoff.exponential", "backoff: {exponential: 1s, cap: 9s}",
     "backoff: {exponential: 2s, cap: 9s}"},
    {"idgen.backoff.random", "backoff: {random: 1s}", "backoff: {random: 2s}"},
    {"idgen.backoff.cap", "backoff: {exponential: 1s, cap: 8s}", "backoff: {exponential: 1s, cap: 9s}"},
    {"idgen.backoff.limit", "backoff: {random: 1s}", "backoff: {random: 1s, limit: 9s}"},
    {"idgen.backoff.attempts", "backoff: {random: 1s}", "backoff: {random: 1s, attempts: 9}"},
};
#define PAIR_COUNT (sizeof pairs / sizeof *pairs)

/* The same code handles these for each kind: one parser table, and the same lines that copy them. */
static const char *const same_for_each_kind[] = {"read.", "then."};

/* Adds agents, unless agents refuse the setting. */
static bool parse(const char *setting, const char *settings, bool has_agents, struct lab_scenario **out,
                  struct sim_error *error)
{
    bool is_idgen = strncmp(setting, "idgen", 5) == 0;
    char text[TEXT_SIZE];
    int kind = (int)strcspn(setting, ".");
    snprintf(text, sizeof text, "name: t\nseed: 1\nduration: 1d\n%s%sstrategies: [{%.*s: {%s}}]\n",
             is_idgen ? "identifiers: {}\n" : "keys: {count: 1}\narrivals: {rate: 1/s}\nrow: {bytes: 9}\n",
             has_agents ? "agents: {count: 2}\n" : "", kind, setting, settings);
    return lab_scenario_parse("t.yaml", text, strlen(text), NULL, 0, NULL, out, error);
}

static struct lab_result *result_of(const char *setting, const char *settings)
{
    struct lab_scenario *scenario;
    struct sim_error error = {0};
    if (!parse(setting, settings, true, &scenario, &error) &&
        !parse(setting, settings, false, &scenario, &error))
        fail_msg("%s: {%s}: %s", setting, settings, error.text);
    struct lab_tally tally;
    assert_true(lab_tally_init(&tally, scenario->cluster.nodes));
    struct lab_result *result = lab_result_begin(scenario, 1, 1, 0, 1);
    assert_non_null(result);
    assert_non_null(lab_result_add(result, scenario, 0, &tally));
    lab_tally_clear(&tally);
    lab_scenario_destroy(scenario);
    return result;
}

static struct lab_result *through_archive(struct lab_result *result)
{
    struct sim_archive archive;
    unsigned char *data;
    size_t size;
    struct lab_result *again = calloc(1, sizeof *again);
    struct sim_error error = {0};
    assert_non_null(again);
    sim_archive_begin_save(&archive, 1);
    lab_result_archive(result, &archive);
    assert_true(sim_archive_finish_save(&archive, &data, &size, &error));
    assert_true(sim_archive_begin_load(&archive, data, size, 1, &error));
    lab_result_archive(again, &archive);
    assert_true(sim_archive_finish_load(&archive, &error));
    free(data);
    return again;
}

static struct lab_result *through_database(const char *path, int64_t run)
{
    struct lab_result *loaded;
    struct sim_error error = {0};
    struct store *store = store_must_open(path, STORE_READ);
    if (!store_load_run(store, run, NULL, &loaded, &error))
        fail_msg("%s", error.text);
    store_close(store);
    return loaded;
}

static int64_t save(struct store *store, const struct lab_result *result)
{
    struct store_run_info info = sample_info();
    struct sim_error error = {0};
    if (!store_save_run(store, &info, result, &error))
        fail_msg("%s", error.text);
    return info.run;
}

static void test_each_setting_is_stored_and_is_restored(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        struct lab_result *one = result_of(pairs[i].setting, pairs[i].one);
        struct lab_result *other = result_of(pairs[i].setting, pairs[i].other);
        struct lab_result *archived = through_archive(other);
        int64_t first = save(store, one), run = save(store, other);
        struct lab_result *loaded = through_database(folder->db, run);
        save(store, archived);
        save(store, loaded);
        char sql[TEXT_SIZE], figures[64];
        snprintf(
            sql, sizeof sql,
            "SELECT count(DISTINCT settings), (SELECT count(DISTINCT settings) FROM strategies WHERE run "
            "> %lld) FROM strategies WHERE run >= %lld",
            (long long)first, (long long)first);
        query(folder->db, sql, figures, sizeof figures);
        if (strcmp(figures, "2|1\n") != 0)
            fail_msg("%s: '%s' and '%s' are stored as: %s", pairs[i].setting, pairs[i].one, pairs[i].other,
                     figures);
        lab_result_destroy(one);
        lab_result_destroy(other);
        lab_result_destroy(archived);
        lab_result_destroy(loaded);
    }
    store_close(store);
}

static bool is_tried(const char *setting)
{
    const char *rest = strchr(setting, '.') + 1;
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        bool is_same = strcmp(pairs[i].setting, setting) == 0;
        for (size_t j = 0; j < sizeof same_for_each_kind / sizeof *same_for_each_kind; j++) {
            if (strncmp(rest, same_for_each_kind[j], strlen(same_for_each_kind[j])) == 0)
                is_same = is_same || strcmp(strchr(pairs[i].setting, '.') + 1, rest) == 0;
        }
        if (is_same)
            return true;
    }
    return false;
}

static void walk(const struct lab_table *table, const char *path)
{
    struct lab_field made[LAB_FIELDS_MAX];
    for (const struct lab_field *field = lab_table_fields(table, made); field->name != NULL; field++) {
        char name[TEXT_SIZE];
        snprintf(name, sizeof name, "%s%s%s", path, *path == '\0' ? "" : ".", field->name);
        if (strcmp(field->name, "label") == 0 || strcmp(name, "observed") == 0) /* kinds_test.c tests it */
            continue;
        if (field->read == lab_read_mapping || field->read == lab_read_then)
            walk(field->detail, name);
        else if (!is_tried(name))
            fail_msg("no pair of values for %s", name);
    }
}

static void test_each_setting_of_the_parser_is_tried(void **state)
{
    (void)state;
    walk(&lab_strategy_table, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test(test_each_setting_is_stored_and_is_restored),
        cmocka_unit_test(test_each_setting_of_the_parser_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
