/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: docs/scenario.md describes each setting as the table of settings does, and the written settings of a
 * strategy parse to the same settings. Method: the rows of the reference are generated from the table and
 * looked for under the heading of their kind; settings are written and parsed again. With UPDATE_DOCS set the
 * rows replace those in the reference. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../reference.h"
#include "bucketing/agent.h"
#include "lab/fields.h"
#include "lab/scenario.h"
#include "lab/setting.h"

#define ROW_SIZE 2048

struct section {
    const char *heading;
    enum bk_kind kind;
    const char *group; /* NULL: the settings in no group */
    uint32_t scope;
};

static const struct section sections[] = {
    {"unbucketed", BK_KIND_UNBUCKETED, NULL, LAB_OF_STRATEGY},
    {"time", BK_KIND_TIME, NULL, LAB_OF_STRATEGY},
    {"count", BK_KIND_COUNT, NULL, LAB_OF_STRATEGY},
    {"probabilistic", BK_KIND_PROBABILISTIC, NULL, LAB_OF_STRATEGY},
    {"lock", BK_KIND_PROBABILISTIC, "lock", LAB_OF_STRATEGY},
    {"hash", BK_KIND_HASH, NULL, LAB_OF_STRATEGY},
    {"weighted", BK_KIND_WEIGHTED, NULL, LAB_OF_STRATEGY},
    {"then", BK_KIND_UNBUCKETED, NULL, LAB_OF_CHANGE},
    {"read", BK_KIND_TIME, "read", LAB_OF_STRATEGY},
    {"idgen", LAB_KIND_IDGEN, NULL, LAB_OF_STRATEGY},
    {"backoff", LAB_KIND_IDGEN, "backoff", LAB_OF_STRATEGY},
    {"observed", LAB_KIND_OBSERVED, NULL, LAB_OF_STRATEGY},
};
#define SECTION_COUNT (sizeof sections / sizeof *sections)

/* The accepted values: the words of a choice, or the range without its article. */
static void takes(const struct section *section, const struct lab_setting *setting, const char *name,
                  char *out, size_t size)
{
    const struct lab_table table = {
        .kinds = 1u << section->kind, .group = section->group, .scope = section->scope};
    struct lab_field made[LAB_FIELDS_MAX];
    char range[LAB_RANGE_SIZE];
    size_t used = 0;
    out[0] = '\0';
    if (setting->type == LAB_SETTING_GROUP)
        snprintf(out, size, "mapping");
    else if (setting->type == LAB_SETTING_CHANGES)
        snprintf(out, size, "list of 1 to %u changes", (unsigned)LAB_CHANGES_MAX);
    else if (setting->type == LAB_SETTING_CHANCE)
        snprintf(out, size, "`m/n`");
    else if (setting->type == LAB_SETTING_TIME)
        snprintf(out, size, "time");
    const struct lab_choice *word = setting->type == LAB_SETTING_WAIT ? NULL : setting->words;
    for (; word != NULL && word->name != NULL; word++)
        used += (size_t)snprintf(out + used, size - used, "%s`%s`", used == 0 ? "" : ", ", word->name);
    if (out[0] != '\0')
        return;
    const struct lab_field *field = lab_table_fields(&table, made);
    while (strcmp(field->name, name) != 0)
        field++;
    lab_field_range(field, range);
    snprintf(out, size, "%s", range + (strncmp(range, "a ", 2) == 0 ? 2 : 0));
}

static void standard(const struct lab_setting *setting, uint32_t scope, char *out)
{
    uint32_t small = (uint32_t)setting->standard;
    if (setting->standard_text != NULL)
        snprintf(out, LAB_SETTING_TEXT_SIZE, "%s", setting->standard_text);
    else if ((setting->required & scope) != 0)
        snprintf(out, LAB_SETTING_TEXT_SIZE, "required");
    else if (setting->standard != 0)
        lab_setting_text(setting,
                         setting->type == LAB_SETTING_U32 ? (const void *)&small : &setting->standard, out);
    else
        snprintf(out, LAB_SETTING_TEXT_SIZE, "none");
}

/* All rows of a section. */
static void rows_of(const struct section *section, char *out, size_t size)
{
    size_t used = 0, length = section->group == NULL ? 0 : strlen(section->group);
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        const char *point = setting->path == NULL ? NULL : strchr(setting->path, '.');
        bool is_in = setting->path != NULL &&
                     (length == 0 ? point == NULL
                                  : point != NULL && strncmp(setting->path, section->group, length) == 0);
        /* Only the change's own settings: the others are those of its strategy. */
        bool is_of_scope = section->scope == LAB_OF_CHANGE ? setting->scopes == LAB_OF_CHANGE
                                                           : setting->scopes != LAB_OF_CHANGE;
        if (!is_in || !is_of_scope || (setting->kinds >> section->kind & 1) == 0)
            continue;
        char taken[ROW_SIZE], given[LAB_SETTING_TEXT_SIZE];
        const char *name = length == 0 ? setting->path : point + 1;
        takes(section, setting, name, taken, sizeof taken);
        standard(setting, section->scope, given);
        used += (size_t)snprintf(out + used, size - used, "| `%s` | %s | %s%s| %s |\n", name, taken, given,
                                 given[0] == '\0' ? "" : " ", setting->meaning);
        assert_true(used < size);
    }
}

static void test_the_reference_has_the_rows_of_the_table(void **state)
{
    static struct reference reference = {
        .name = "scenario.md", .table = "lab_setting_table", .program = "tests/lab_setting_test"};
    static char rows[16 * ROW_SIZE];
    (void)state;
    reference_begin(&reference);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        char heading[64];
        snprintf(heading, sizeof heading, "### `%s`", sections[i].heading);
        rows_of(&sections[i], rows, sizeof rows);
        reference_table(&reference, heading, "\n|---|---|---|---|\n", rows);
    }
    reference_end(&reference);
}

static const char *const written[] = {
    "time: {window: 36h, epoch: 2015-01-01T00:00:00Z, read: {plan: parallel, at_once: 3}}",
    "time: {calendar: week, read: {remember_empty: true, late: 0s}}",
    "time: {window: 1h, then: [{window: 2h, at: 1h, rollout: 1m, keep_old: false}, {calendar: day, at: 2h}]}",
    "count: {rows: 10, counter: lease, batch: 7}",
    "count: {rows: 10, counter: scan, every_rows: 2, every_time: 3s}",
    "count: {rows: 10, counter: external, max_age: 7d}",
    "probabilistic: {bits: 0, threshold: 4, coordination: three-state, counter: lwt, lead: 0s}",
    "probabilistic: {chance: 2/7, threshold: 4, coordination: locked, lock: {lasts: 2s, backoff: 30ms}}",
    "weighted: {bytes: 512KB, threshold: 40, coordination: guarded, counter: counter, grant: 90s}",
    "hash: {buckets: 8, then: [{buckets: 4, at: 1h}]}",
    "hash: {buckets: 8, read: {plan: lazy}}",
};

static void test_written_text_equals_the_parsed_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        char text[ROW_SIZE], told[ROW_SIZE], wanted[2 * ROW_SIZE];
        struct lab_scenario *scenario;
        struct sim_error error;
        /* A rollout, a guarded roll and counts by time need agents. */
        bool has_agents = strstr(written[i], "rollout") != NULL || strstr(written[i], "coord") != NULL ||
                          strstr(written[i], "every_time") != NULL;
        snprintf(text, sizeof text,
                 "duration: 1d\nkeys: {count: 1}\narrivals: {rate: 1/s}\n%sstrategies: [{%s}]\n",
                 has_agents ? "agents: {count: 2}\n" : "", written[i]);
        if (!lab_scenario_parse("t.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
            fail_msg("%s: %s", written[i], error.text);
        lab_settings_text(&scenario->strategies[0].settings, told, sizeof told);
        snprintf(wanted, sizeof wanted, "%s: {%s}", scenario->strategies[0].label, told);
        assert_string_equal(wanted, written[i]);
        lab_scenario_destroy(scenario);
    }
}

/* Checks that the core's text has each setting as a scenario has it. */
static void check_core_text(const struct lab_settings *settings, const char *text)
{
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        size_t place = lab_setting_place(setting, settings->strategy.kind, 0);
        char value[LAB_SETTING_TEXT_SIZE], line[ROW_SIZE];
        if (setting->path == NULL || place == SIZE_MAX || setting->type > LAB_SETTING_CHANCE ||
            !lab_setting_is_said(setting, settings, 0, LAB_ZERO_WRITTEN) ||
            !lab_setting_rule_holds(&setting->when, settings, 0))
            continue;
        lab_setting_text(setting, (const char *)settings + place, value);
        snprintf(line, sizeof line, "\n%s = %s\n", setting->path, value);
        if (strstr(text, line) == NULL)
            fail_msg("no '%s' in\n%s", line, text);
    }
}

/* The core knows each setting of its kinds, and each word of a choice. */
static void test_the_core_knows_every_name_and_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        for (int kind = 0; kind < BK_KINDS; kind++) {
            bool is_of_time = setting->path != NULL && (strcmp(setting->path, "read.remember_empty") == 0 ||
                                                        strcmp(setting->path, "read.late") == 0);
            if (setting->path == NULL || setting->type > LAB_SETTING_CHANCE ||
                setting->scopes == LAB_OF_CHANGE || (setting->kinds >> kind & 1) == 0 ||
                (is_of_time && kind != BK_KIND_TIME))
                continue;
            const struct lab_choice none[] = {{"", 0}, {NULL, 0}};
            for (const struct lab_choice *word = setting->words != NULL ? setting->words : none;
                 word->name != NULL; word++) {
                char text[ROW_SIZE];
                struct bk_setting read;
                struct bk_setting_error error;
                int size =
                    snprintf(text, sizeof text,
                             "bucketing-setting 1\nscenario_digest = 0123456789abcdef\nkind = %s\n%s = %s\n",
                             bk_kind_name((enum bk_kind)kind), setting->path, word->name);
                assert_int_equal(bk_strategy_parse(text, (size_t)size, &read, &error), BK_ERROR_SETTING);
                if (strstr(error.text, "no such") != NULL || strstr(error.text, "words") != NULL)
                    fail_msg("%s\n%s", text, error.text);
            }
        }
    }
}

static void test_setting_written_by_the_core_is_valid_in_a_scenario(void **state)
{
    unsigned compared = 0;
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        char text[ROW_SIZE], told[BK_SETTING_TEXT_SIZE];
        struct lab_scenario *scenario;
        struct sim_error error;
        struct bk_setting setting;
        bool has_agents = strstr(written[i], "coord") != NULL || strstr(written[i], "every_time") != NULL;
        snprintf(text, sizeof text,
                 "duration: 1d\nkeys: {count: 1}\narrivals: {rate: 1/s}\n%sstrategies: [{%s}]\n",
                 has_agents ? "agents: {count: 2}\n" : "", written[i]);
        if (strstr(written[i], "then") != NULL || strstr(written[i], "idgen") != NULL ||
            !lab_scenario_parse("t.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
            continue;
        lab_settings_core(&scenario->strategies[0].settings, 7, &setting);
        assert_int_equal(bk_strategy_print(&setting, told, sizeof told, NULL), BK_OK);
        check_core_text(&scenario->strategies[0].settings, told);
        lab_scenario_destroy(scenario);
        compared++;
    }
    assert_true(compared >= 8);
}

static int64_t standard_of(enum bk_kind kind, const char *path)
{
    return lab_setting_find(kind, path)->standard;
}

static void test_agent_has_the_defaults_of_a_scenario(void **state)
{
    (void)state;
    const struct bk_agent_config config = bk_agent_config_default(NULL);
    static struct lab_scenario scenario;
    lab_cluster_default(&scenario);
    const struct lab_agents agents = scenario.agents;
    assert_int_equal(config.cache_ttl_ns, agents.cache_ttl_ns);
    assert_int_equal(config.cache_entries, agents.cache_entries);
    assert_int_equal(config.retries, agents.retries);
    assert_int_equal(config.counter_retries, agents.counter_retries);
    assert_int_equal(config.grant_ns, standard_of(BK_KIND_PROBABILISTIC, "grant"));
    assert_int_equal(config.lock_lasts_ns, standard_of(BK_KIND_PROBABILISTIC, "lock.lasts"));
    assert_int_equal(config.lock_backoff_ns, standard_of(BK_KIND_PROBABILISTIC, "lock.backoff"));
    assert_int_equal(config.lease_rows, standard_of(BK_KIND_COUNT, "batch"));
    assert_int_equal(config.late_ns, standard_of(BK_KIND_TIME, "read.late"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_has_the_defaults_of_a_scenario),
        cmocka_unit_test(test_the_reference_has_the_rows_of_the_table),
        cmocka_unit_test(test_written_text_equals_the_parsed_text),
        cmocka_unit_test(test_the_core_knows_every_name_and_word),
        cmocka_unit_test(test_setting_written_by_the_core_is_valid_in_a_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
