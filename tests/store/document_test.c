/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: docs/database.md is correct. Method: every SQL block in it is executed on a stored run, and a query
 * must return a row; every column of a view, and every table, must occur in the page. */
#define _DEFAULT_SOURCE
#include "sample.h"

#define PAGE BUCKETLAB_SOURCE_DIR "/docs/database.md"

/* Executes all statements of `sql`; returns the number of statements that returned a row. */
static int run_statements(sqlite3 *db, const char *sql)
{
    int answers = 0;
    while (*sql != '\0') {
        sqlite3_stmt *statement;
        const char *rest;
        if (sqlite3_prepare_v2(db, sql, -1, &statement, &rest) != SQLITE_OK)
            fail_msg("%s: %s", sql, sqlite3_errmsg(db));
        bool is_query = sqlite3_column_count(statement) > 0;
        int code = statement == NULL ? SQLITE_DONE : sqlite3_step(statement);
        if (code != SQLITE_DONE && code != SQLITE_ROW)
            fail_msg("%s: %s", sql, sqlite3_errmsg(db));
        if (is_query && code != SQLITE_ROW)
            fail_msg("no answer to %s", sql);
        answers += is_query ? 1 : 0;
        sqlite3_finalize(statement);
        sql = rest;
    }
    return answers;
}

static void test_queries_of_the_page_answer(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 8000);
    size_t size;
    char *page = file_read(PAGE, &size);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(folder->db, &db), SQLITE_OK);
    int answers = 0;
    for (char *block = page; (block = strstr(block, "```sql\n")) != NULL;) {
        block += strlen("```sql\n");
        char *end = strstr(block, "```");
        assert_non_null(end);
        *end = '\0';
        answers += run_statements(db, block);
        block = end + 1;
    }
    assert_int_equal(answers, 4);
    sqlite3_close(db);
    /* The last SQL block in the page deletes the run. */
    assert_query(folder->db, "SELECT count(*) FROM bin", "0\n");
    free(page);
}

static void test_page_names_every_table_and_column_of_a_view(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 1);
    size_t size;
    char *page = file_read(PAGE, &size), names[4096], word[128];
    query(folder->db,
          "SELECT printf('| `%s` |', name) FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT "
          "LIKE 'sqlite%' UNION ALL SELECT c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c "
          "WHERE s.type = 'view'",
          names, sizeof names);
    int count = 0;
    for (char *name = names, *end; (end = strchr(name, '\n')) != NULL; name = end + 1, count++) {
        snprintf(word, sizeof word, "%.*s", (int)(end - name), name);
        if (strstr(page, word) == NULL)
            fail_msg("%s lacks %s", PAGE, word);
    }
    assert_true(count > 40);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test(test_queries_of_the_page_answer),
        folder_test(test_page_names_every_table_and_column_of_a_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
