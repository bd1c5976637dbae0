/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a scenario: the tree is read, the --set arguments are applied to it, and the tables of fields turn
 * it into a checked struct. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/scenario_part.h"

#define NAME_MAX_SIZE 128
/* The defaults of fields; docs/scenario.md lists them. */
#define SEED_DEFAULT      1
#define ROW_BYTES_DEFAULT 1000

#define SCENARIO(member) offsetof(struct lab_scenario, member)

static const struct lab_choice engines[] = {{"auto", LAB_ENGINE_AUTO},
                                            {"exact", LAB_ENGINE_EXACT},
                                            {"thinned", LAB_ENGINE_THINNED},
                                            {"cluster", LAB_ENGINE_CLUSTER},
                                            {NULL, 0}};
static const struct lab_table limits_table = {
    .fields = (const struct lab_field[]){
        {"partition_rows", lab_read_whole, SCENARIO(limits.partition_rows), LAB_OPTIONAL, 1, 1e18,
         "a whole number of at least 1, or leave it out for no limit", NULL},
        {"partition_bytes", lab_read_bytes, SCENARIO(limits.partition_bytes), LAB_OPTIONAL, 1, 1e18,
         "a size of at least 1B, or leave it out for no limit", NULL},
        {"tiny_rows", lab_read_whole, SCENARIO(limits.tiny_rows), LAB_OPTIONAL, 1, 1e18,
         "a whole number of at least 1, or leave it out", NULL},
        {"over_limit_share", lab_read_share, SCENARIO(limits.over_limit_share), LAB_OPTIONAL, 0, 0.5,
         "a share from 0% to 50%", NULL},
        {.name = NULL},
    }};

static bool read_expect(struct lab_reader *reader, const struct lab_node *item)
{
    struct lab_scenario *scenario = reader->scenario;
    const char *text = lab_scalar(reader, item);
    if (text == NULL)
        return false;
    bool is_of_tune = lab_expect_is_of_tune(text);
    struct lab_expect *expect = &scenario->expects[scenario->expect_count];
    const char *problem =
        is_of_tune ? lab_tune_expect_parse(text, &scenario->tune_expects[scenario->tune_expect_count])
                   : lab_expect_parse(text, expect);
    if (problem == LAB_EXPECT_NO_MEMORY)
        return sim_fail_memory(reader->tree.error);
    if (problem != NULL)
        return lab_fail_value(reader, item, problem);
    if (is_of_tune) {
        scenario->tune_expect_count++;
        return true;
    }
    scenario->expect_count++;
    if (item->place.argument == NULL) {
        expect->line = item->place.line;
        expect->column = item->place.column;
    }
    return true;
}

static bool read_expects(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    struct lab_scenario *scenario = out;
    (void)field;
    if (node->kind != LAB_NODE_LIST)
        return lab_fail_at(&reader->tree, &node->place,
                           "'expect' takes a list; begin each with a dash, as in '- "
                           "hash.partitions.over_limit == 0'");
    if (node->count == 0)
        return true;
    scenario->expects = calloc(node->count, sizeof *scenario->expects);
    scenario->tune_expects = calloc(node->count, sizeof *scenario->tune_expects);
    if (scenario->expects == NULL || scenario->tune_expects == NULL)
        return sim_fail_memory(reader->tree.error);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        if (!read_expect(reader, item))
            return false;
    }
    return true;
}

static const struct lab_table scenario_table = {
    .fields = (const struct lab_field[]){
        {"name", lab_read_text, SCENARIO(name), LAB_OPTIONAL, 0, NAME_MAX_SIZE, "a name of 1 to 128 bytes",
         NULL},
        {"about", lab_read_prose, SCENARIO(about), LAB_OPTIONAL, 0, 4096, "a text of 1 to 4096 bytes", NULL},
        {"seed", lab_read_whole, SCENARIO(seed), LAB_OPTIONAL, 0, 0, NULL, NULL},
        {"start", lab_read_time, SCENARIO(workload.start_ns), LAB_OPTIONAL, 0, 0x1p63,
         "a time from 1970 to 2261", NULL},
        {"duration", lab_read_duration, SCENARIO(workload.duration_ns), LAB_OPTIONAL, 1, 0x1p63,
         "a duration above 0s", NULL},
        {"engine", lab_read_choice, SCENARIO(engine), LAB_OPTIONAL, 0, 0, "auto, exact, thinned or cluster",
         engines},
        {"keys", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_keys_table},
        {"arrivals", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_arrivals_table},
        {"trace", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_trace_table},
        {"row", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_row_table},
        {"deletes", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_deletes_table},
        {"table", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_design_table},
        {"identifiers", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_identifiers_table},
        {"reads", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_reads_table},
        {"limits", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &limits_table},
        {"prices", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_prices_table},
        {"cluster", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_cluster_table},
        {"agents", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_agents_table},
        {"faults", lab_read_faults, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
        {"strategies", lab_read_strategies, 0, LAB_REQUIRED, 0, 0, NULL, NULL},
        {"expect", read_expects, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
        {"tune", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lab_tune_table},
        {"sweep", lab_read_sweep, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
        {.name = NULL},
    }};

bool lab_scenario_load(const char *path, const struct lab_override *overrides, size_t override_count,
                       const uint64_t *seed, struct lab_scenario **out, struct sim_error *error)
{
    char *text = NULL;
    size_t size = 0;
    *out = NULL;
    if (!lab_scenario_text(path, &text, &size, error))
        return false;
    bool ok = lab_scenario_parse(path, text, size, overrides, override_count, seed, out, error);
    free(text);
    return ok;
}

static bool read_tree(struct lab_reader *reader, const struct lab_override *overrides, size_t override_count,
                      struct lab_node **root)
{
    const struct lab_scenario *scenario = reader->scenario;
    if (!lab_tree_read(&reader->tree, NULL, scenario->text, scenario->text_size, "", root) ||
        !lab_check_root(&reader->tree, *root))
        return false;
    for (size_t i = 0; i < override_count; i++) {
        if (!lab_override_apply(&reader->tree, *root, overrides[i].text))
            return false;
    }
    return true;
}

/* The file's name without folder and extension; characters that a name must not contain are replaced by
 * '?'. */
static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    const char *point = strrchr(base, '.');
    size_t size = point == NULL || point == base ? strlen(base) : (size_t)(point - base);
    if (size == 0 || size > NAME_MAX_SIZE) {
        base = "scenario";
        size = strlen(base);
    }
    char *stem = malloc(size + 1);
    if (stem == NULL)
        return NULL;
    memcpy(stem, base, size);
    stem[size] = '\0';
    for (size_t i = 0; i < size;) {
        unsigned code = 0;
        size_t length = sim_utf8(stem + i, size - i, &code);
        if (length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) {
            memset(stem + i, '?', length == 0 ? 1 : length);
        }
        i += length == 0 ? 1 : length;
    }
    return stem;
}

static bool resolve_paths(struct lab_reader *reader)
{
    struct lab_scenario *scenario = reader->scenario;
    bool ok = lab_resolve(reader, &scenario->trace_path);
    for (size_t i = 0; ok && i < scenario->observed_count; i++)
        ok = lab_resolve(reader, &scenario->observed[i].path);
    return ok;
}

/* Expectations about tune's answer need rows and a limit. */
static bool check_tune_expects(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool has_limit = scenario->limits.partition_rows != 0 || scenario->limits.partition_bytes != 0;
    bool has_rows = scenario->strategy_count > 0 && !scenario->identifiers.present;
    return scenario->tune_expect_count == 0 || (has_limit && has_rows) ||
           lab_fail_at(
               &reader->tree, &lab_node_find(root, "expect")->place,
               "'%s' refers to tune's answer, and there is %s to tune; add %s, or remove the expectation",
               scenario->tune_expects[0].text, has_rows ? "no limit" : "nothing",
               has_rows ? "limits: {partition_bytes: 100MB}" : "a strategy that places rows");
}

/* Checks that each expectation begins with the label of a strategy; its metric is looked up after the run. */
static bool check_expects(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *list = lab_node_find(root, "expect"), *item = list == NULL ? NULL : list->first;
    const char *labels[LAB_STRATEGIES_MAX];
    size_t label_count = 0;
    for (size_t i = 0; i < scenario->strategy_count; i++)
        labels[label_count++] = scenario->strategies[i].label;
    for (size_t i = 0; i < scenario->observed_count; i++)
        labels[label_count++] = scenario->observed[i].label;
    for (size_t i = 0; i < scenario->expect_count; i++, item = item->next) {
        while (lab_expect_is_of_tune(lab_scalar(reader, item)))
            item = item->next;
        const char *metric = scenario->expects[i].metric;
        bool is_known = false;
        for (size_t j = 0; j < label_count && !is_known; j++) {
            size_t size = strlen(labels[j]);
            is_known = strncmp(metric, labels[j], size) == 0 && metric[size] == '.';
        }
        if (is_known)
            continue;
        char label[LAB_LABEL_SIZE_MAX + 1];
        snprintf(label, sizeof label, "%.*s", (int)strcspn(metric, "."), metric);
        const char *nearest = sim_nearest(label, labels, label_count);
        if (nearest != NULL)
            return lab_fail_at(&reader->tree, &item->place,
                               "no strategy has the label '%s'; did you mean '%s'?", label, nearest);
        return lab_fail_at(&reader->tree, &item->place,
                           "no strategy has the label '%s'; begin with one of the strategies' labels", label);
    }
    return true;
}

static bool complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    if (scenario->name == NULL)
        scenario->name = stem_of(scenario->path);
    if (scenario->about == NULL)
        scenario->about = calloc(1, 1);
    if (scenario->name == NULL || scenario->about == NULL)
        return sim_fail_memory(reader->tree.error);
    if (!lab_observed_complete(reader, root) || !resolve_paths(reader))
        return false;
    if (!check_tune_expects(reader, root))
        return false;
    if (scenario->strategy_count == 0)
        return check_expects(reader, root);
    return lab_workload_complete(reader, root) && lab_reads_complete(reader, root) &&
           lab_cluster_complete(reader, root) && lab_agents_complete(reader, root) &&
           lab_identifiers_complete(reader, root) && lab_engine_complete(reader, root) &&
           lab_gone_complete(reader, root) && lab_faults_complete(reader, root) &&
           lab_table_complete(reader, root) && lab_row_complete(reader, root) &&
           lab_thin_complete(reader, root) && lab_tune_complete(reader, root) &&
           lab_prices_complete(reader, root) && check_expects(reader, root);
}

static bool build(struct lab_reader *reader, const struct lab_node *root)
{
    return lab_table_read(reader, &scenario_table, root, reader->scenario) && complete(reader, root);
}

static void set_seed(struct lab_scenario *scenario, const uint64_t *seed)
{
    if (seed != NULL)
        scenario->seed = *seed;
    scenario->workload.seed = scenario->seed;
    scenario->network.seed = scenario->seed;
}

static bool set_defaults(struct lab_reader *reader, const char *path, const char *text, size_t size)
{
    struct lab_scenario *scenario = reader->scenario;
    scenario->seed = SEED_DEFAULT;
    scenario->engine = LAB_ENGINE_AUTO;
    scenario->workload.start_ns = LAB_START_DEFAULT;
    scenario->workload.row_bytes = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = ROW_BYTES_DEFAULT};
    scenario->workload.row_cells = 1;
    lab_cluster_default(scenario);
    lab_agents_default(&scenario->agents);
    lab_tune_default(&scenario->tune);
    lab_prices_default(&scenario->prices);
    scenario->price_of_insert = 1;
    scenario->text_size = size;
    size_t path_size = strlen(path) + 1;
    scenario->path = malloc(path_size);
    scenario->text = malloc(size + 1);
    if (scenario->path == NULL || scenario->text == NULL)
        return sim_fail_memory(reader->tree.error);
    memcpy(scenario->path, path, path_size);
    if (size > 0)
        memcpy(scenario->text, text, size);
    scenario->text[size] = '\0';
    return true;
}

static bool join_overrides(struct lab_reader *reader, const struct lab_override *overrides,
                           size_t override_count)
{
    size_t size = 1;
    for (size_t i = 0; i < override_count; i++) {
        const struct lab_place place = {overrides[i].text, 0, 0};
        if (strpbrk(overrides[i].text, "\r\n") != NULL)
            return lab_fail_at(&reader->tree, &place,
                               "a line break in it; write lists and mappings in brackets");
        size += strlen(overrides[i].text) + 1;
    }
    char *joined = malloc(size), *end = joined;
    if (joined == NULL)
        return sim_fail_memory(reader->tree.error);
    for (size_t i = 0; i < override_count; i++) {
        size_t length = strlen(overrides[i].text);
        memcpy(end, overrides[i].text, length);
        end[length] = '\n';
        end += length + 1;
    }
    *end = '\0';
    reader->scenario->overrides = joined;
    return true;
}

static bool parse(const char *path, const char *text, size_t size, bool is_kept, const char *const *folders,
                  const struct lab_override *overrides, size_t override_count, const uint64_t *seed,
                  struct lab_scenario **out, struct sim_error *error)
{
    struct sim_error unseen = {0};
    *out = NULL;
    struct lab_reader reader = {.tree = {.path = path, .error = error != NULL ? error : &unseen},
                                .scenario = calloc(1, sizeof *reader.scenario),
                                .is_kept = is_kept,
                                .folders = folders};
    if (reader.scenario == NULL)
        return sim_fail_memory(error);
    struct lab_node *root;
    bool ok = set_defaults(&reader, path, text, size) &&
              read_tree(&reader, overrides, override_count, &root) &&
              join_overrides(&reader, overrides, override_count) && build(&reader, root);
    lab_tree_clear(&reader.tree);
    if (!ok) {
        lab_scenario_destroy(reader.scenario);
        return false;
    }
    set_seed(reader.scenario, seed);
    reader.scenario->is_kept = is_kept;
    *out = reader.scenario;
    return true;
}

bool lab_scenario_parse(const char *path, const char *text, size_t size, const struct lab_override *overrides,
                        size_t override_count, const uint64_t *seed, struct lab_scenario **out,
                        struct sim_error *error)
{
    return parse(path, text, size, false, NULL, overrides, override_count, seed, out, error);
}

bool lab_scenario_parse_kept(const char *path, const char *text, const char *const *folders,
                             const struct lab_override *overrides, size_t override_count, uint64_t seed,
                             struct lab_scenario **out, struct sim_error *error)
{
    return parse(path, text, strlen(text), true, folders, overrides, override_count, &seed, out, error);
}

bool lab_scenario_of_tree(struct lab_tree *tree, const struct lab_node *root, const char *text,
                          struct lab_scenario **out)
{
    *out = NULL;
    struct lab_reader reader = {.tree = *tree, .scenario = calloc(1, sizeof *reader.scenario)};
    if (reader.scenario == NULL)
        return sim_fail_memory(tree->error);
    bool ok = set_defaults(&reader, tree->path, text, strlen(text)) && join_overrides(&reader, NULL, 0) &&
              build(&reader, root);
    *tree = reader.tree;
    if (!ok) {
        lab_scenario_destroy(reader.scenario);
        return false;
    }
    set_seed(reader.scenario, NULL);
    *out = reader.scenario;
    return true;
}

bool lab_check_root(const struct lab_tree *tree, const struct lab_node *root)
{
    return root->kind == LAB_NODE_MAPPING ||
           lab_fail_at(tree, &root->place,
                       "no fields here; a scenario is 'field: value' lines, and 'bucketlab init' writes one");
}

/* Whether the file, links followed, is in one of the reader's folders, or below one. A file that does not
 * exist is: it cannot be read. */
static bool check_folder(const struct lab_reader *reader, const char *path)
{
    char file[PATH_MAX], folder[PATH_MAX];
    bool is_inside = reader->folders == NULL || realpath(path, file) == NULL;
    for (size_t i = 0; !is_inside && reader->folders[i] != NULL; i++) {
        size_t size = realpath(reader->folders[i], folder) == NULL ? 0 : strlen(folder);
        size -= size == 1; /* "/" */
        is_inside = realpath(reader->folders[i], folder) != NULL && strncmp(file, folder, size) == 0 &&
                    file[size] == '/';
    }
    return is_inside ||
           sim_fail(reader->tree.error, SIM_ERROR_INPUT,
                    "%s: a stored run names this file, which is neither in the folder of the database nor in "
                    "that of its scenario as it was stored; if it may be read, name its folder with --files",
                    path);
}

bool lab_resolve(struct lab_reader *reader, char **path)
{
    const char *slash = strrchr(reader->scenario->path, '/');
    if (*path == NULL)
        return true;
    if ((*path)[0] == '/' || slash == NULL)
        return check_folder(reader, *path);
    size_t folder = (size_t)(slash - reader->scenario->path) + 1, name = strlen(*path);
    char *resolved = malloc(folder + name + 1);
    if (resolved == NULL)
        return sim_fail_memory(reader->tree.error);
    memcpy(resolved, reader->scenario->path, folder);
    memcpy(resolved + folder, *path, name + 1);
    free(*path);
    *path = resolved;
    return check_folder(reader, *path);
}
