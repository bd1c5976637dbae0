/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a scenario from a file, a text or a tree. The text becomes a tree, the --set arguments are applied to
 * it, and the tables of fields turn it into a checked struct: first each section by itself, then what
 * involves several sections. In: a path, or a text. Kept: the scenario, until it is destroyed. Out: the
 * scenario, or an error with its place. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/fields.h"
#include "lab/scenario.h"

#define NAME_MAX_SIZE 128
/* The defaults of fields; docs/scenario.md lists them. */
#define SEED_DEFAULT      1
#define ROW_BYTES_DEFAULT 1000

static const struct lab_choice engines[] = {{"auto", LAB_ENGINE_AUTO},
                                            {"exact", LAB_ENGINE_EXACT},
                                            {"thinned", LAB_ENGINE_THINNED},
                                            {"cluster", LAB_ENGINE_CLUSTER},
                                            {NULL, 0}};
const struct lab_table lab_scenario_table = {LAB_FIELDS(
    {"name", lab_read_text, LAB_IN(name), LAB_FROM(0, NAME_MAX_SIZE)},
    {"about", lab_read_prose, LAB_IN(about), LAB_FROM(0, 4096)}, {"seed", lab_read_whole, LAB_IN(seed)},
    {"start", lab_read_time, LAB_IN(workload.start_ns), LAB_FROM(0, 0x1p63),
     .range = "a time from 1970 to 2261"},
    {"duration", lab_read_duration, LAB_IN(workload.duration_ns), LAB_FROM(1, 0x1p63), LAB_DRAWS("<run>"),
     .draw.when = "is_timed"},
    {"engine", lab_read_choice, LAB_IN(engine), .detail = engines},
    {"keys", lab_read_mapping, .detail = &lab_keys_table, .draw.when = "has_synthetic"},
    {"arrivals", lab_read_mapping, .detail = &lab_arrivals_table, .draw.when = "has_synthetic"},
    {"trace", lab_read_mapping, .detail = &lab_trace_table},
    {"row", lab_read_mapping, .detail = &lab_row_table, .draw.when = "has_rows"},
    {"deletes", lab_read_mapping, .detail = &lab_deletes_table, LAB_DRAWN(DELETES, 0.08, NULL),
     .draw.when = "may_delete"},
    {"table", lab_read_mapping, .detail = &lab_design_table},
    {"identifiers", lab_read_mapping, .detail = &lab_identifiers_table, .draw.when = "has_identifiers"},
    {"reads", lab_read_mapping, .detail = &lab_reads_table, LAB_DRAWS("<reads>"), .draw.when = "has_rows"},
    {"limits", lab_read_mapping, .detail = &lab_limits_table},
    {"prices", lab_read_mapping, .detail = &lab_prices_table},
    {"cluster", lab_read_mapping, .detail = &lab_cluster_table},
    {"agents", lab_read_mapping, .detail = &lab_agents_table},
    {.name = "faults", .read = lab_read_faults, LAB_DRAWS("<faults>")},
    {"strategies", lab_read_strategies, LAB_REQUIRED, LAB_DRAWS("<strategies>")},
    {.name = "expect", .read = lab_read_expects}, {"tune", lab_read_mapping, .detail = &lab_tune_table},
    {.name = "sweep", .read = lab_read_sweep})};

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

bool lab_root_read(struct lab_tree *tree, const char *text, size_t size, const struct lab_override *overrides,
                   size_t override_count, struct lab_node **root)
{
    if (!lab_tree_read(tree, NULL, text, size, "", root))
        return false;
    if ((*root)->kind != LAB_NODE_MAPPING)
        return lab_fail_at(
            tree, &(*root)->place,
            "no fields here; a scenario is 'field: value' lines, and 'bucketlab init' writes one");
    for (size_t i = 0; i < override_count; i++) {
        if (!lab_override_apply(tree, *root, overrides[i].text))
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
        ok = lab_resolve(reader, &scenario->observed[i].settings.observed_file);
    return ok;
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
    if (!lab_sections_check(reader, root) || !resolve_paths(reader))
        return false;
    if (scenario->strategy_count == 0)
        return lab_judged_complete(reader, root);
    return lab_workload_complete(reader, root) && lab_reads_complete(reader, root) &&
           lab_cluster_complete(reader, root) && lab_identifiers_complete(reader, root) &&
           lab_engine_complete(reader, root) && lab_faults_complete(reader, root) &&
           lab_table_complete(reader, root) && lab_row_complete(reader, root) &&
           lab_thin_complete(reader, root) && lab_judged_complete(reader, root);
}

static bool set_defaults(struct lab_reader *reader, const char *path, const char *text, size_t size)
{
    struct lab_scenario *scenario = reader->scenario;
    scenario->seed = SEED_DEFAULT;
    scenario->engine = LAB_ENGINE_AUTO;
    scenario->workload.start_ns = LAB_START_DEFAULT;
    scenario->workload.row_bytes = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = ROW_BYTES_DEFAULT};
    scenario->workload.row_cells = 1;
    scenario->gc_grace_ns = LAB_GC_GRACE_NS;
    lab_cluster_default(scenario);
    lab_tune_default(&scenario->tune);
    lab_prices_default(&scenario->prices);
    scenario->price_of_insert = 1;
    scenario->text_size = size;
    scenario->path = sim_text_copy(path);
    scenario->text = malloc(size + 1);
    if (scenario->path == NULL || scenario->text == NULL)
        return sim_fail_memory(reader->tree.error);
    if (size > 0)
        memcpy(scenario->text, text, size);
    scenario->text[size] = '\0';
    return true;
}

bool lab_overrides_join(struct lab_tree *tree, const struct lab_override *overrides, size_t count, char **out)
{
    struct lab_writer joined = {0};
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct lab_place place = {overrides[i].text, 0, 0};
        if (strpbrk(overrides[i].text, "\r\n") != NULL) {
            free(joined.text);
            return lab_fail_at(tree, &place, "a line break in it; write lists and mappings in brackets");
        }
        lab_writer_add(&joined, "%s\n", overrides[i].text);
    }
    *out = lab_writer_take(&joined);
    return *out != NULL || sim_fail_memory(tree->error);
}

/* root: NULL, or the text as a tree, which may have been changed. */
static bool make(struct lab_reader *reader, const char *path, const char *text, size_t size,
                 const struct lab_override *overrides, size_t override_count, struct lab_node *root,
                 const uint64_t *seed, struct lab_scenario **out)
{
    *out = NULL;
    struct lab_scenario *scenario = reader->scenario = calloc(1, sizeof *scenario);
    if (scenario == NULL)
        return sim_fail_memory(reader->tree.error);
    bool ok = set_defaults(reader, path, text, size) &&
              (root != NULL || lab_root_read(&reader->tree, text, size, overrides, override_count, &root)) &&
              lab_overrides_join(&reader->tree, overrides, override_count, &scenario->overrides) &&
              lab_table_read(reader, &lab_scenario_table, root, scenario) && lab_schema_read(reader, root) &&
              complete(reader, root);
    if (!ok) {
        lab_scenario_destroy(scenario);
        return false;
    }
    if (seed != NULL)
        scenario->seed = *seed;
    scenario->workload.seed = scenario->network.seed = scenario->seed;
    scenario->is_kept = reader->is_kept;
    *out = scenario;
    return true;
}

static bool parse(const char *path, const char *text, size_t size, bool is_kept, const char *const *folders,
                  const struct lab_override *overrides, size_t override_count, const uint64_t *seed,
                  struct lab_scenario **out, struct sim_error *error)
{
    struct sim_error unseen = {0};
    struct lab_reader reader = {.tree = {.path = path, .error = error != NULL ? error : &unseen},
                                .is_kept = is_kept,
                                .folders = folders};
    bool ok = make(&reader, path, text, size, overrides, override_count, NULL, seed, out);
    lab_tree_clear(&reader.tree);
    return ok;
}

bool lab_scenario_parse(const char *path, const char *text, size_t size, const struct lab_override *overrides,
                        size_t override_count, const uint64_t *seed, struct lab_scenario **out,
                        struct sim_error *error)
{
    return parse(path, text, size, false, NULL, overrides, override_count, seed, out, error);
}

bool lab_scenario_of_tree(struct lab_tree *tree, struct lab_node *root, const char *text,
                          struct lab_scenario **out)
{
    struct lab_reader reader = {.tree = *tree};
    bool ok = make(&reader, tree->path, text, strlen(text), NULL, 0, root, NULL, out);
    *tree = reader.tree;
    return ok;
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

/* Terminates each line of the text in place, and points at it; returns their number. There are no empty
 * lines. */
static size_t split_lines(char *text, struct lab_override *lines)
{
    size_t count = 0;
    while (*text != '\0') {
        lines[count++].text = text;
        text += strcspn(text, "\n");
        while (*text == '\n')
            *text++ = '\0';
    }
    return count;
}

bool lab_scenario_again_within(const char *const *folders, const char *path, const char *text,
                               const char *overrides, const struct lab_override *more, size_t more_count,
                               uint64_t seed, struct lab_scenario **out, struct sim_error *error)
{
    size_t most = more_count + 1;
    for (const char *c = overrides; *c != '\0'; c++)
        most += *c == '\n';
    *out = NULL;
    char *copy = sim_text_copy(overrides);
    struct lab_override *all = calloc(most, sizeof *all);
    bool ok = (copy != NULL && all != NULL) || sim_fail_memory(error);
    if (ok) {
        size_t count = split_lines(copy, all);
        if (more_count > 0)
            memcpy(all + count, more, more_count * sizeof *more);
        ok = parse(path, text, strlen(text), true, folders, all, count + more_count, &seed, out, error);
    }
    free(all);
    free(copy);
    return ok;
}

bool lab_scenario_again(const char *path, const char *text, const char *overrides,
                        const struct lab_override *more, size_t more_count, uint64_t seed,
                        struct lab_scenario **out, struct sim_error *error)
{
    return lab_scenario_again_within(NULL, path, text, overrides, more, more_count, seed, out, error);
}

#define FILE_SIZE_MAX ((size_t)1 << 20)

/* Whether a line consists of fields between delimiters, and is not a field of a scenario. */
static bool is_row(const char *line, size_t size, char delimiter)
{
    for (size_t i = 0; i < size; i++) {
        if (line[i] == ':' && (i + 1 == size || line[i + 1] == ' ' || line[i + 1] == '\r'))
            return false;
    }
    return size > 0 && memchr(line, delimiter, size) != NULL && strchr("#{[-%", line[0]) == NULL;
}

/* Whether the text is a trace: two lines of CSV or of JSON objects, or compressed data. */
static bool is_rows(const char *text, size_t size)
{
    static const char delimiters[] = ",;\t|";
    if (size >= 4 && (memcmp(text, "\x1f\x8b", 2) == 0 || memcmp(text, "\x28\xb5\x2f\xfd", 4) == 0))
        return true;
    const char *end = memchr(text, '\n', size);
    if (end == NULL)
        return false;
    const char *second = end + 1;
    size_t left = size - (size_t)(second - text);
    const char *second_end = left == 0 ? NULL : memchr(second, '\n', left);
    size_t second_size = second_end == NULL ? left : (size_t)(second_end - second);
    if (text[0] == '{' && second_size > 0 && second[0] == '{')
        return true;
    for (const char *c = delimiters; *c != '\0'; c++) {
        if (is_row(text, (size_t)(end - text), *c) && is_row(second, second_size, *c))
            return true;
    }
    return false;
}

static bool read_text(const char *path, bool is_scenario, char **text, size_t *size, struct sim_error *error)
{
    *text = NULL;
    *size = 0;
    int reason;
    char why[SIM_REASON_SIZE];
    FILE *file = sim_input_stream(path, &reason);
    if (file == NULL && reason == SIM_NOT_REGULAR)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:1:1: not a regular file; name a scenario file, or '-' for standard input", path);
    if (file == NULL && reason == EISDIR)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:1:1: is a directory; name a file in it", path);
    if (file == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:1:1: cannot be opened: %s; check the name and its permissions", path,
                        sim_input_reason(reason, why, sizeof why));
    errno = 0;
    char *bytes = malloc(FILE_SIZE_MAX + 1);
    if (bytes == NULL) {
        fclose(file);
        return sim_fail_memory(error);
    }
    *size = fread(bytes, 1, FILE_SIZE_MAX + 1, file);
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (problem == 0 && is_scenario && is_rows(bytes, *size)) {
        free(bytes);
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:1:1: this is a trace, not a scenario; 'bucketlab trace %s --scenario FILE' "
                        "describes it, and writes a scenario for it",
                        path, path);
    }
    if (problem == 0 && *size <= FILE_SIZE_MAX) {
        *text = bytes;
        bytes[*size] = '\0';
        return true;
    }
    free(bytes);
    if (problem != 0)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:1:1: cannot be read: %s; check the file", path,
                        strerror(problem));
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:1:1: more than 1 MiB; it should be a short text, check that this is the file", path);
}

bool lab_scenario_text(const char *path, char **text, size_t *size, struct sim_error *error)
{
    return read_text(path, true, text, size, error);
}

bool lab_text_read(const char *path, char **text, size_t *size, struct sim_error *error)
{
    return read_text(path, false, text, size, error);
}

void lab_scenario_destroy(struct lab_scenario *scenario)
{
    if (scenario == NULL)
        return;
    free(scenario->path);
    free(scenario->text);
    free(scenario->overrides);
    free(scenario->name);
    free(scenario->about);
    free(scenario->trace_path);
    wl_trace_format_clear(&scenario->trace_format);
    free(scenario->like_path);
    free(scenario->schema_types);
    free(scenario->schema_table);
    free(scenario->workload.spikes);
    sim_sizes_destroy(scenario->workload.sizes);
    free(scenario->faults);
    for (size_t i = 0; i < scenario->strategy_count; i++)
        free(scenario->strategies[i].label);
    free(scenario->strategies);
    for (size_t i = 0; i < scenario->observed_count; i++) {
        free(scenario->observed[i].label);
        free(scenario->observed[i].settings.observed_file);
        free(scenario->observed[i].settings.observed_table);
    }
    free(scenario->observed);
    for (size_t i = 0; i < scenario->expect_count; i++)
        lab_expect_clear(&scenario->expects[i]);
    free(scenario->expects);
    for (size_t i = 0; i < scenario->tune_expect_count; i++)
        lab_tune_expect_clear(&scenario->tune_expects[i]);
    free(scenario->tune_expects);
    free(scenario);
}
