/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document of docs/ whose tables are the rows of a table in the code: reference_begin() reads the document,
 * reference_table() compares the table under a heading with the rows that it should have, and reference_end()
 * finishes. With UPDATE_DOCS in the environment a table that differs is written again. */
#ifndef TESTS_LAB_REFERENCE_H
#define TESTS_LAB_REFERENCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REFERENCE_SIZE 262144

struct reference {
    const char *name;    /* below docs/ */
    const char *table;   /* in the code */
    const char *program; /* that writes the document */
    char path[512], text[REFERENCE_SIZE];
    bool is_to_write;
};

static inline void reference_begin(struct reference *reference)
{
    snprintf(reference->path, sizeof reference->path, "%s/docs/%s", BUCKETLAB_SOURCE_DIR, reference->name);
    FILE *file = fopen(reference->path, "r");
    assert_non_null(file);
    size_t size = fread(reference->text, 1, sizeof reference->text / 2, file);
    assert_true(size < sizeof reference->text / 2);
    reference->text[size] = '\0';
    fclose(file);
    reference->is_to_write = getenv("UPDATE_DOCS") != NULL;
}

/* heading: its whole line; head: the end of the text before the first row. */
static inline void reference_table(struct reference *reference, const char *heading, const char *head,
                                   const char *rows)
{
    char title[80];
    snprintf(title, sizeof title, "\n%s\n", heading);
    char *table = strstr(reference->text, title);
    if (table == NULL)
        fail_msg("docs/%s has no '%s'", reference->name, heading);
    table = strstr(table, head);
    assert_non_null(table);
    table += strlen(head);
    const char *end = *table == '\n' ? table : strstr(table, "\n\n");
    size_t length = end == table ? 0 : end == NULL ? strlen(table) : (size_t)(end - table) + 1;
    size_t wanted = strlen(rows);
    if (wanted == length && memcmp(table, rows, length) == 0)
        return;
    if (!reference->is_to_write)
        fail_msg("docs/%s, '%s': not the rows of %s; write them with UPDATE_DOCS=1 %s", reference->name,
                 heading, reference->table, reference->program);
    assert_true(strlen(reference->text) + wanted < sizeof reference->text);
    memmove(table + wanted, table + length, strlen(table + length) + 1);
    memcpy(table, rows, wanted);
}

static inline void reference_end(const struct reference *reference)
{
    if (!reference->is_to_write)
        return;
    FILE *file = fopen(reference->path, "w");
    assert_non_null(file);
    fputs(reference->text, file);
    assert_int_equal(fclose(file), 0);
}

#endif
