/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: one line of flow collections is read as libfyaml reads it, down to each position. Method: each text is
 * read once as it is, and once followed by a comment, so that the library reads all of it; the trees must be
 * equal. The texts are the shipped scenarios and those of drawn seeds in flow style, values of --set, and
 * texts at the edges of the subset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fields.h"
#include "lab/fuzz.h"
#include "lab/scenario.h"

#define NOT_PLAIN "\n#\t\n"
#define SEEDS     300

static void assert_same(const struct lab_node *one, const struct lab_node *other, const char *text)
{
    bool is_same =
        one->kind == other->kind && one->is_empty == other->is_empty && one->is_null == other->is_null &&
        one->place.line == other->place.line && one->place.column == other->place.column &&
        one->name_place.line == other->name_place.line &&
        one->name_place.column == other->name_place.column && strcmp(one->name, other->name) == 0 &&
        strcmp(one->text, other->text) == 0 && one->count == other->count;
    if (!is_same)
        fail_msg("'%s: %s' (%d:%d) is read as '%s: %s' (%d:%d) of\n%s", other->name, other->text,
                 other->place.line, other->place.column, one->name, one->text, one->place.line,
                 one->place.column, text);
    const struct lab_node *right = other->first;
    for (const struct lab_node *left = one->first; left != NULL; left = left->next, right = right->next)
        assert_same(left, right, text);
}

static bool read_tree(struct lab_tree *tree, const char *argument, const char *text, struct lab_node **out)
{
    return lab_tree_read(tree, argument, text, strlen(text), "", out);
}

static void assert_alike(const char *argument, const char *text)
{
    struct sim_error errors[2] = {{0}, {0}};
    struct lab_tree trees[2] = {{.path = "x", .error = &errors[0]}, {.path = "x", .error = &errors[1]}};
    struct lab_node *roots[2];
    char *longer = malloc(strlen(text) + sizeof NOT_PLAIN);
    assert_non_null(longer);
    strcat(strcpy(longer, text), NOT_PLAIN);
    bool is_read = read_tree(&trees[0], argument, text, &roots[0]);
    if (is_read != read_tree(&trees[1], argument, longer, &roots[1]))
        fail_msg("%s is accepted by only one reader: %s%s", text, errors[0].text, errors[1].text);
    if (is_read)
        assert_same(roots[0], roots[1], text);
    assert_string_equal(errors[0].text, errors[1].text);
    assert_int_equal(trees[0].node_count, trees[1].node_count);
    lab_tree_clear(&trees[0]);
    lab_tree_clear(&trees[1]);
    free(longer);
}

/* Writes a scenario on one line. */
static void assert_line_alike(const char *text)
{
    struct sim_error error = {0};
    struct lab_tree tree = {.path = "x", .error = &error};
    struct lab_writer line = {0};
    struct lab_node *root;
    assert_true(read_tree(&tree, NULL, text, &root));
    lab_writer_add_flow(&line, root);
    assert_alike(NULL, line.text);
    free(line.text);
    lab_tree_clear(&tree);
}

static void test_plain_of_scenarios_is_read_as_by_the_library(void **state)
{
    (void)state;
    const struct lab_fuzz_base base = {.path = NULL};
    glob_t files;
    assert_int_equal(glob(BUCKETLAB_SOURCE_DIR "/scenarios/*.yaml", 0, NULL, &files), 0);
    assert_int_equal(glob(BUCKETLAB_SOURCE_DIR "/scenarios/*/*.yaml", GLOB_APPEND, NULL, &files), 0);
    assert_true(files.gl_pathc > 50);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *text;
        size_t size;
        assert_true(lab_scenario_text(files.gl_pathv[i], &text, &size, NULL));
        text[size] = '\0'; /* it is shorter than its memory */
        assert_line_alike(text);
        free(text);
    }
    globfree(&files);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_scenario *scenario;
        assert_true(lab_fuzz_scenario(&base, seed, true, &scenario, NULL));
        assert_line_alike(scenario->text);
        lab_scenario_destroy(scenario);
    }
}

static void test_plain_of_arguments_is_read_as_by_the_library(void **state)
{
    (void)state;
    static const char *const values[] = {
        "4",
        "2s",
        "-12ms",
        "+5",
        ".5",
        "1.5/s",
        "null",
        "50%",
        "a b",
        "a  b",
        "a, b",
        "{a: 1}",
        "{a: {b: [c]}}",
        "[a, b]",
        "[a, b c]",
        "[]",
        "{}",
        "[a,]",
        "{a: }",
        "{a}",
        "{a:1}",
        "[a: 1]",
        "a: b",
        "- a",
        "a:",
        "",
        " ",
        " 4 ",
        "~",
        "'4'",
        "\"4\"",
        "a:b",
        "a#b",
        "a #b",
        "{a: 1, a: 2}",
        "[a, ]",
        "{a: 1",
        "a]",
        "[a]]",
        "---",
        "-",
        "--",
        "!x",
        "&x",
        "*x",
        "<<: 1",
        "[[a]]",
        "[{a: 1}]",
        "\xc3\xa9",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_alike("path=value", values[i]);
}

static void test_plain_edges_are_read_as_by_the_library(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{a: 1, b: {c: 2}}",
        "{a: 1, b: {c: 2}}\n",
        "{}",
        "a\n",
        "a: 1\nb: 2\n",
        "{a: b: c}",
        "{a: 1} # one",
        "{a: 1}\nb: 2",
        "[a,\n  b]",
        "{a: {b: 1, b: 2}}",
        "{a:\t1}",
        "{a : 1}",
        "{a b: 1}",
        "{a: 'b'}",
        "{null: 1}",
        "{a: null}",
        "{12: 1}",
        "{a: -}",
        "{a: -b}",
        "{a: - b}",
        "{a: b-}",
        "{a: b -c}",
        "{a: b - c}",
        "{a: c d, e: f}",
        "{a: c:d}",
        "{ a: 1 , c: [ d , e ] }",
        "{a: 1} ",
        "{a: 1} c",
        " {a: 1}",
        "# nothing",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_alike(NULL, texts[i]);
}

/* Nested collections, and too many fields. */
static void test_plain_limits_are_those_of_the_library(void **state)
{
    (void)state;
    enum { MOST = 600 };
    static char text[MOST * 8];
    for (size_t depth = 28; depth <= 36; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '\0';
        assert_alike(NULL, text);
    }
    for (int fields = 498; fields <= 503; fields++) {
        size_t used = 0;
        for (int i = 0; i < fields; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%cf%d: 1", i == 0 ? '{' : ',', i);
        snprintf(text + used, sizeof text - used, "}");
        assert_alike(NULL, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_of_scenarios_is_read_as_by_the_library),
        cmocka_unit_test(test_plain_of_arguments_is_read_as_by_the_library),
        cmocka_unit_test(test_plain_edges_are_read_as_by_the_library),
        cmocka_unit_test(test_plain_limits_are_those_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
