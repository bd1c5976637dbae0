/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a stored outcome of a tune's run is found only by a tune of the same identity and only if its bytes
 * are unchanged, and it is deleted when a tune of the same command or identity ends. Method: tunes that
 * differ in one of the two, and an edit of a byte. */
#define _DEFAULT_SOURCE
#include "sample.h"

#include "fault_vfs.h"

static void keep(struct store *store, const struct store_work *tune, uint64_t job, const char *text)
{
    const struct store_outcome outcome = {job, strlen(text), (unsigned char *)(uintptr_t)text};
    struct sim_error error;
    if (!store_outcomes_keep(store, tune, &outcome, 1, &error))
        fail_msg("%s", error.text);
}

/* "1:text 2:other" */
static void assert_kept(struct store *store, const struct store_work *tune, const char *expected)
{
    struct store_outcome *outcomes;
    struct sim_error error;
    size_t count, used = 0;
    char text[256] = "";
    assert_true(store_outcomes_load(store, tune, &outcomes, &count, &error));
    for (size_t i = 0; i < count; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%d:%.*s", i == 0 ? "" : " ",
                             (int)outcomes[i].job, (int)outcomes[i].size, (const char *)outcomes[i].bytes);
    assert_string_equal(text, expected);
    store_outcomes_free(outcomes, count);
}

static void test_outcomes_belong_to_their_identity(void **state)
{
    struct folder *folder = *state;
    const struct store_work one = {1, 10}, changed = {1, 11}, other = {2, 12};
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct sim_error error;
    assert_kept(store, &one, "");
    assert_true(store_outcomes_forget(store, &one, &error));
    assert_int_not_equal(access(folder->db, F_OK), 0);
    keep(store, &one, 1, "a");
    keep(store, &one, 2, "");
    keep(store, &one, 1, "b");
    keep(store, &changed, 1, "c");
    keep(store, &other, 1, "d");
    assert_kept(store, &one, "1:b 2:");
    assert_kept(store, &changed, "1:c");
    execute(folder->db, "UPDATE outcome SET outcome = x'65' WHERE outcome = x'62'");
    assert_kept(store, &one, "2:");
    execute(folder->db, "UPDATE outcome SET job = '0000000000000003' WHERE outcome = x''");
    assert_kept(store, &one, "");
    assert_true(store_outcomes_forget(store, &changed, &error));
    assert_query(folder->db, "SELECT command FROM outcome", "0000000000000002\n");
    assert_true(store_outcomes_forget(store, &(const struct store_work){3, 12}, &error));
    assert_query(folder->db, "SELECT count(*) FROM outcome", "0\n");
    store_close(store);
}

static void test_outcomes_are_deleted_when_the_answer_is_stored(void **state)
{
    struct folder *folder = *state;
    const struct store_work tune = {1, 10}, other = {2, 11};
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct lab_result *result = sample_make(5);
    struct store_run_info info = sample_info();
    struct sim_error error;
    keep(store, &tune, 1, "a");
    keep(store, &other, 1, "b");
    execute(folder->db, "CREATE TRIGGER t BEFORE INSERT ON tune BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_false(store_tune_save(store, &tune, &info, result, "{}", &error));
    assert_kept(store, &tune, "1:a");
    execute(folder->db, "DROP TRIGGER t");
    assert_true(store_tune_save(store, &tune, &info, result, "{}", &error));
    assert_kept(store, &tune, "");
    assert_kept(store, &other, "1:b");
    store_close(store);
    lab_result_destroy(result);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        folder_test(test_outcomes_belong_to_their_identity),
        folder_test(test_outcomes_are_deleted_when_the_answer_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
