/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: every malformed scenario ends with one line that names the place and the remedy, class
 * SIM_ERROR_INPUT, and creates nothing. Method: the corpora scenario_bad.txt and cluster_bad.txt with the
 * expected line of each case; files that cannot be read; sizes and depths that only a program writes; and a
 * sound scenario that is cut and altered at every byte, which must be parsed or refused and never crash (the
 * tests run under the sanitizers). */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../share.h"
#include "kernel/random.h"
#include "lab/scenario.h"

#define CORPUS        BUCKETLAB_SOURCE_DIR "/tests/lab/scenario/"
#define TEXT_SIZE     65536
#define OVERRIDES_MAX 4

#define REST "keys: {count: 10}\narrivals: {rate: 1/s}\n"
#define HEAD "duration: 1d\n" REST
#define TAIL "strategies: [unbucketed: {}]\n"

struct corpus_case {
    char text[TEXT_SIZE];
    size_t size;
    char overrides[OVERRIDES_MAX][512];
    size_t override_count;
};

static bool parse(const char *text, size_t size, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    bool ok = lab_scenario_parse("x.yaml", text, size, NULL, 0, NULL, &scenario, error);
    assert_true(ok == (scenario != NULL));
    lab_scenario_destroy(scenario);
    return ok;
}

static void assert_one_line(const struct sim_error *error)
{
    assert_int_equal(error->class, SIM_ERROR_INPUT);
    assert_non_null(strpbrk(error->text, ";?"));
    assert_null(strchr(error->text, '\n'));
}

/* Appends the text of a line of the corpus, in which <hh> is a byte. */
static size_t unescape(const char *line, char *out)
{
    size_t size = 0;
    while (*line != '\0') {
        unsigned byte;
        int length = 0;
        if (line[0] == '<' && sscanf(line, "<%2x>%n", &byte, &length) == 1 && length == 4) {
            out[size++] = (char)byte;
            line += 4;
        } else {
            out[size++] = *line++;
        }
    }
    out[size] = '\0';
    return size;
}

static void append(struct corpus_case *one, const char *text, size_t size)
{
    assert_true(one->size + size < sizeof one->text);
    memcpy(one->text + one->size, text, size);
    one->size += size;
}

static void check_case(const struct corpus_case *one, const char *wanted, bool is_piece, const char *corpus,
                       int line)
{
    struct lab_override overrides[OVERRIDES_MAX];
    for (size_t i = 0; i < one->override_count; i++)
        overrides[i].text = one->overrides[i];
    struct lab_scenario *scenario = NULL;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    if (lab_scenario_parse("x.yaml", one->text, one->size, overrides, one->override_count, NULL, &scenario,
                           &error)) {
        lab_scenario_destroy(scenario);
        fail_msg("%s:%d: was accepted instead of '%s'", corpus, line, wanted);
    }
    assert_null(scenario);
    assert_one_line(&error);
    bool is_right = is_piece ? strstr(error.text, wanted) != NULL : strcmp(error.text, wanted) == 0;
    if (!is_right)
        fail_msg("%s:%d: '%s' instead of '%s'", corpus, line, error.text, wanted);
}

/* cases_min: the least number of cases, so that a reader that skips cases is detected. */
static void check_corpus(const char *path, int cases_min)
{
    static struct corpus_case one;
    static char line[4096], bytes[4096];
    int number = 0, cases = 0;
    memset(&one, 0, sizeof one); /* a corpus that failed leaves its case here */
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        const char *rest = line[0] != '\0' && line[1] == ' ' ? line + 2 : "";
        if (line[0] == '|') {
            append(&one, bytes, unescape(rest, bytes));
            append(&one, "\n", 1);
        } else if (line[0] == '@') {
            const char *text = line[1] == 'h' ? HEAD : line[1] == 'r' ? REST : TAIL;
            append(&one, text, strlen(text));
        } else if (line[0] == '$') {
            assert_true(one.override_count < OVERRIDES_MAX && strlen(rest) < 512);
            unescape(rest, one.overrides[one.override_count++]);
        } else if (line[0] == '=' || line[0] == '~') {
            check_case(&one, rest, line[0] == '~', path, number);
            memset(&one, 0, sizeof one);
            cases++;
        }
    }
    fclose(file);
    assert_true(cases >= cases_min);
}

static void test_corpus_each_case_gives_its_error_line(void **state)
{
    (void)state;
    check_corpus(CORPUS "scenario_bad.txt", 290);
}

static void test_corpus_of_clusters_each_case_gives_its_error_line(void **state)
{
    (void)state;
    check_corpus(CORPUS "cluster_bad.txt", 220);
}

static void test_path_without_a_readable_file_is_refused(void **state)
{
    char folder[] = "scenario_XXXXXX", loop[64], absent[64], large[64];
    struct sim_error error;
    struct lab_scenario *scenario;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(loop, sizeof loop, "%s/loop.yaml", folder);
    snprintf(absent, sizeof absent, "%s/absent.yaml", folder);
    snprintf(large, sizeof large, "%s/large.yaml", folder);
    /* Even root cannot read a link to itself. */
    assert_int_equal(symlink("loop.yaml", loop), 0);
    FILE *file = fopen(large, "w");
    assert_non_null(file);
    for (int i = 0; i < (1 << 20) + 1; i++)
        fputc('#', file);
    assert_int_equal(fclose(file), 0);
    const struct {
        const char *path, *wanted;
    } cases[] = {{folder, "is a directory; name a file in it"},
                 {loop, "cannot be opened: "},
                 {absent, "cannot be opened: No such file or directory; check the name and its permissions"},
                 {large, "more than 1 MiB; "}};
    for (size_t i = 0; i < 4; i++) {
        scenario = (struct lab_scenario *)&error;
        assert_false(lab_scenario_load(cases[i].path, NULL, 0, NULL, &scenario, &error));
        assert_null(scenario);
        assert_one_line(&error);
        assert_memory_equal(error.text, cases[i].path, strlen(cases[i].path));
        assert_memory_equal(error.text + strlen(cases[i].path), ":1:1: ", 6);
        if (strncmp(error.text + strlen(cases[i].path) + 6, cases[i].wanted, strlen(cases[i].wanted)) != 0)
            fail_msg("%s", error.text);
    }
    unlink(loop);
    unlink(large);
    rmdir(folder);
}

/* The text repeats one piece. */
static void expect_refused(const char *before, const char *piece, size_t count, const char *after,
                           const char *wanted)
{
    size_t length = strlen(piece), size = strlen(before);
    char *text = malloc(size + count * length + strlen(after) + 1);
    assert_non_null(text);
    memcpy(text, before, size);
    for (size_t i = 0; i < count; i++, size += length)
        memcpy(text + size, piece, length);
    memcpy(text + size, after, strlen(after) + 1);
    struct sim_error error;
    assert_false(parse(text, size + strlen(after), &error));
    assert_one_line(&error);
    if (strstr(error.text, wanted) == NULL)
        fail_msg("'%s' instead of '%s'", error.text, wanted);
    free(text);
}

static void test_text_beyond_all_bounds_is_refused(void **state)
{
    (void)state;
    expect_refused("", "[", 40, "", "nested more than 32 deep; ");
    expect_refused("", "[", 100000, "", "nested more than 32 deep; ");
    expect_refused("", "{a: ", 100000, "", "nested more than 32 deep; ");
    expect_refused("", "- ", 100000, "", "nested more than 32 deep; ");
    expect_refused("a: [", "1,", 100000, "1]", "more than 20000 values; ");
    expect_refused("", "? x\n", 2, "", "appears twice");
    expect_refused(HEAD "strategies:\n", "  - unbucketed: {}\n", 65, "",
                   "'strategies' takes a list of 1 to 64 elements");
    expect_refused("duration: 1d\n" TAIL "keys: {count: 1}\narrivals:\n  rate: 1/s\n  spikes:\n",
                   "    - {at: 1h, lasts: 1s, factor: 2, keys: 1%}\n", 501, "",
                   "takes a list of 0 to 500 elements");
    expect_refused(HEAD TAIL "agents: {count: 1}\nfaults:\n", "  - agent_crash: {rate: 1/h}\n", 2001, "",
                   "takes a list of 0 to 2000 elements");
    expect_refused(HEAD TAIL "about: \"", "x", 4097, "\"\n", "too long; ");
}

/* 9 lists of 9 aliases each would be 9^9 values. */
static void test_anchor_bomb_is_refused_at_its_first_anchor(void **state)
{
    static const char bomb[] = "a: &a [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n"
                               "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
                               "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n";
    struct sim_error error;
    (void)state;
    assert_false(parse(bomb, sizeof bomb - 1, &error));
    assert_string_equal(error.text, "x.yaml:1:4: anchors (&name), aliases (*name) and tags (!name) are not "
                                    "supported; write the value out");
}

static char *read_example(const char *name, size_t *size)
{
    static char text[TEXT_SIZE];
    char path[1024];
    snprintf(path, sizeof path, "%s/scenarios/%s.yaml", BUCKETLAB_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    *size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(*size > 500);
    return text;
}

static void check_any(const char *text, size_t size)
{
    /* The text has its own block of memory, so that a read beyond its end is detected. */
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    struct sim_error error = {SIM_ERROR_NONE, ""};
    if (!parse(copy, size, &error)) {
        if (error.class != SIM_ERROR_INPUT || strncmp(error.text, "x.yaml:", 7) != 0)
            fail_msg("'%s'", error.text);
        assert_one_line(&error);
    }
    free(copy);
}

static const char *const examples[] = {"chat-channels", "faults"};

static void test_example_cut_anywhere_is_read_or_refused(void **state)
{
    (void)state;
    for (size_t example = 0; example < 2; example++) {
        size_t size;
        const char *text = read_example(examples[example], &size);
        for (size_t i = 0; i <= size; i += test_share())
            check_any(text, i);
    }
}

static void alter_anywhere(const char *name)
{
    static const char signs[] = "\n :-[]{},&*!|>'\"%@`#?<~\t\r\\0a9.\xff";
    size_t size;
    char *text = read_example(name, &size);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    for (size_t i = 0; i < test_part(4000); i++) {
        size_t at[3];
        char before[3];
        for (size_t j = 0; j < 3; j++) {
            at[j] = sim_random_below(&random, size);
            before[j] = text[at[j]];
            text[at[j]] = signs[sim_random_below(&random, sizeof signs)];
        }
        check_any(text, size);
        for (size_t j = 3; j-- > 0;)
            text[at[j]] = before[j];
    }
}

static void test_example_altered_anywhere_is_read_or_refused(void **state)
{
    (void)state;
    alter_anywhere(examples[0]);
    alter_anywhere(examples[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus_each_case_gives_its_error_line),
        cmocka_unit_test(test_corpus_of_clusters_each_case_gives_its_error_line),
        cmocka_unit_test(test_path_without_a_readable_file_is_refused),
        cmocka_unit_test(test_text_beyond_all_bounds_is_refused),
        cmocka_unit_test(test_anchor_bomb_is_refused_at_its_first_anchor),
        cmocka_unit_test(test_example_cut_anywhere_is_read_or_refused),
        cmocka_unit_test(test_example_altered_anywhere_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
