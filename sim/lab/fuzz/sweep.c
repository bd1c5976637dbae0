/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the section of a sweep, and makes the scenario of each of its jobs. */
#include "lab/sweep.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "kernel/digest.h"
#include "kernel/text.h"
#include "lab/context.h"
#include "lab/fields.h"
#include "lab/quantity.h"
#include "lab/result.h"
#include "lab/run.h"

#define SHOWN_SIZE 200 /* size of a point's settings in a message */

/* State while a sweep is made from the tree of its section. */
struct build {
    struct lab_reader reader;
    const struct lab_override *overrides;
    size_t override_count;
    const uint64_t *seed;
    const struct lab_node *node; /* node of the section */
    struct lab_sweep_section section;
    struct lab_sweep *sweep;
    size_t grid_points;
    char *files;      /* the names of the files of the last point, */
    uint64_t sources; /* and their digest */
    struct lab_writer all_files;
};

/* Fails when there is no section `sweep`. Other errors, such as a misspelt 'sweep', which is an unknown
 * field, are reported first. */
static bool fail_without_section(struct build *build)
{
    const struct lab_sweep *sweep = build->sweep;
    struct sim_error *error = build->reader.tree.error;
    struct lab_scenario *scenario = NULL;
    bool ok = lab_scenario_parse(sweep->path, sweep->text, sweep->text_size, build->overrides,
                                 build->override_count, build->seed, &scenario, error);
    lab_scenario_destroy(scenario);
    return ok && sim_fail(error, SIM_ERROR_INPUT,
                          "%s:1:1: no 'sweep' in it; add one, as in sweep: {seeds: 20, grid: "
                          "{arrivals.rate: [100/s, 200/s]}}",
                          sweep->path);
}

static bool read_section(struct build *build, struct lab_node **root)
{
    struct lab_tree *tree = &build->reader.tree;
    if (!lab_overrides_join(tree, build->overrides, build->override_count, &build->sweep->overrides))
        return false;
    if (!lab_root_read(tree, build->sweep->text, build->sweep->text_size, build->overrides,
                       build->override_count, root))
        return false;
    build->node = lab_node_find(*root, "sweep");
    if (build->node == NULL)
        return fail_without_section(build);
    if (build->node->is_empty)
        return lab_fail_at(tree, &build->node->name_place, "'sweep' has no value; give it one, or remove it");
    if (!lab_sweep_section_read(&build->reader, build->node, &build->section))
        return false;
    build->sweep->seeds = build->section.seeds;
    return true;
}

static bool count_points(struct build *build)
{
    const struct lab_sweep_section *section = &build->section;
    const struct lab_tree *tree = &build->reader.tree;
    uint64_t points = section->grid != NULL || section->list == NULL;
    for (const struct lab_node *axis = section->grid != NULL ? section->grid->first : NULL; axis != NULL;
         axis = axis->next) {
        points *= axis->count;
        if (points > LAB_SWEEP_POINTS_MAX)
            return lab_fail_at(tree, &section->grid->place,
                               "more than %u combinations; leave out values, or sweep one path after the "
                               "other",
                               LAB_SWEEP_POINTS_MAX);
    }
    build->grid_points = points;
    build->sweep->point_count = points + (section->list != NULL ? section->list->count : 0);
    if (build->sweep->point_count > LAB_SWEEP_POINTS_MAX)
        return lab_fail_at(tree, &section->list->place, "more than %u points in all; leave out some",
                           LAB_SWEEP_POINTS_MAX);
    return true;
}

/* The point's index-th value, whose name is its path; NULL when there are fewer. */
static const struct lab_node *setting_at(const struct build *build, size_t point, size_t index)
{
    const struct lab_node *grid = build->section.grid, *list = build->section.list, *node;
    if (point >= build->grid_points) {
        node = list->first;
        for (size_t i = build->grid_points; i < point; i++)
            node = node->next;
        for (node = node->first; node != NULL && index > 0; index--)
            node = node->next;
        return node;
    }
    if (grid == NULL || index >= grid->count)
        return NULL;
    size_t below = 1, nth = 0; /* below: number of points per value of the axis */
    const struct lab_node *axis = grid->first, *found = NULL;
    for (; axis != NULL; axis = axis->next, nth++) {
        found = nth == index ? axis : found;
        below *= nth > index ? axis->count : 1;
    }
    assert(found != NULL);
    node = found->first;
    for (size_t i = point / below % found->count; i > 0; i--)
        node = node->next;
    return node;
}

static bool settings_of(struct build *build, size_t point)
{
    struct lab_sweep_point *out = &build->sweep->points[point];
    struct lab_writer writer = {0};
    const struct lab_node *value;
    for (size_t i = 0; (value = setting_at(build, point, i)) != NULL; i++) {
        /* The grid has no seeds. */
        if (strcmp(value->name, "seed") == 0) {
            out->has_own_seed = true;
            lab_quantity_whole(value->text, &out->own_seed);
            continue;
        }
        lab_writer_add(&writer, "%s=", value->name);
        lab_writer_add_flow(&writer, value);
        lab_writer_add(&writer, "\n");
    }
    out->settings = lab_writer_take(&writer);
    return out->settings != NULL || sim_fail_memory(build->reader.tree.error);
}

static bool make_points(struct build *build)
{
    struct lab_sweep *sweep = build->sweep;
    sweep->points = calloc(sweep->point_count, sizeof *sweep->points);
    if (sweep->points == NULL) {
        sweep->point_count = 0;
        return sim_fail_memory(build->reader.tree.error);
    }
    for (size_t i = 0; i < sweep->point_count; i++) {
        if (!settings_of(build, i))
            return false;
    }
    return true;
}

static bool number_jobs(struct build *build)
{
    struct lab_sweep *sweep = build->sweep;
    if (sweep->seeds.count == 0)
        sweep->seeds = (struct lab_sweep_seeds){.count = 1};
    for (size_t i = 0; i < sweep->point_count; i++) {
        struct lab_sweep_point *point = &sweep->points[i];
        point->first_job = sweep->job_count;
        point->seed_count = point->has_own_seed ? 1 : sweep->seeds.count;
        sweep->job_count += point->seed_count;
        if (sweep->job_count > LAB_SWEEP_JOBS_MAX)
            return lab_fail_at(&build->reader.tree, &build->node->place,
                               "more than %u jobs, %zu points with %" PRIu64
                               " seeds; leave out points or seeds",
                               LAB_SWEEP_JOBS_MAX, sweep->point_count, sweep->seeds.count);
    }
    return true;
}

static void digest_add(struct lab_sweep *sweep, uint64_t part)
{
    sweep->identity = sim_digest_chain(sweep->identity, part);
}

/* Adds the digest of the files that the point's runs read; often they are those of the point before. */
static bool digest_files(struct build *build, const struct lab_scenario *scenario)
{
    struct lab_writer names = {0};
    if (scenario->trace_path != NULL)
        lab_writer_add(&names, "%s\n", scenario->trace_path);
    if (scenario->like_path != NULL)
        lab_writer_add(&names, "%s\n", scenario->like_path);
    for (size_t i = 0; i < scenario->observed_count; i++)
        lab_writer_add(&names, "%s\n", scenario->observed[i].settings.observed_file);
    char *files = lab_writer_take(&names);
    if (files == NULL)
        return sim_fail_memory(build->reader.tree.error);
    const bool is_same = build->files != NULL && strcmp(files, build->files) == 0;
    free(build->files);
    build->files = files;
    if (!is_same) {
        lab_writer_add(&build->all_files, "%s", files);
        if (!lab_sources(scenario, &build->sources, build->reader.tree.error))
            return false;
    }
    if (files[0] != '\0')
        digest_add(build->sweep, build->sources);
    return true;
}

static void digest_add_bytes(struct lab_sweep *sweep, const char *bytes, size_t size)
{
    struct bk_hash128 hash = bk_murmur3_128(bytes, size, 0);
    digest_add(sweep, size);
    digest_add(sweep, hash.h1);
    digest_add(sweep, hash.h2);
}

/* Computes a digest of everything on which the point's runs depend. */
static bool digest_point(struct build *build, struct lab_node *root, const struct lab_scenario *scenario)
{
    struct lab_node *before = NULL;
    for (struct lab_node *node = root->first; node != NULL; node = node->next) {
        bool is_of_runs = strcmp(node->name, "sweep") != 0 && strcmp(node->name, "tune") != 0;
        if (is_of_runs)
            before = node;
        else if (before == NULL)
            root->first = node->next;
        else
            before->next = node->next;
    }
    char *text = lab_tree_write(root);
    if (text == NULL)
        return sim_fail_memory(build->reader.tree.error);
    digest_add_bytes(build->sweep, text, strlen(text));
    free(text);
    digest_add_bytes(build->sweep, scenario->name, strlen(scenario->name));
    return digest_files(build, scenario);
}

/* Reports a point's error as an error of the section: "x.yaml:9:12: point 3: 'bits: 99': ..." if one of its
 * settings is the cause; otherwise with the original place, followed by the point. */
static bool fail_point(struct build *build, size_t point, const struct sim_error *inner)
{
    struct lab_tree *tree = &build->reader.tree;
    if (inner->class == SIM_ERROR_NONE)
        return false;
    if (inner->class != SIM_ERROR_INPUT) {
        *tree->error = *inner;
        return false;
    }
    char shown[SHOWN_SIZE];
    const struct lab_node *value, *place = build->node;
    const char *line = build->sweep->points[point].settings;
    for (size_t i = 0; (value = setting_at(build, point, i)) != NULL; i++) {
        if (strcmp(value->name, "seed") == 0)
            continue;
        size_t length = strcspn(line, "\n"), mark = strlen("--set ");
        place = place == build->node ? value : place;
        if (strncmp(inner->text, "--set ", mark) == 0 && strncmp(inner->text + mark, line, length) == 0 &&
            strncmp(inner->text + mark + length, ": ", 2) == 0)
            return lab_fail_at(tree, &value->place, "point %zu: %s", point + 1,
                               inner->text + mark + length + 2);
        line += length + 1;
    }
    char where[LAB_PLACE_SIZE];
    return sim_fail(tree->error, SIM_ERROR_INPUT, "%s (point %zu of the sweep, %s: %s)", inner->text,
                    point + 1, lab_place_text(&place->place, where),
                    lab_sweep_describe(build->sweep->points[point].settings, false, shown, sizeof shown));
}

/* The first seed is the scenario's own, which no point changes. */
static bool fill_seeds(struct build *build, const struct lab_scenario *scenario)
{
    struct lab_sweep *sweep = build->sweep;
    struct lab_sweep_seeds *seeds = &sweep->seeds;
    sweep->name = sim_text_copy(scenario->name);
    if (sweep->name == NULL)
        return sim_fail_memory(build->reader.tree.error);
    if (seeds->items == NULL && !seeds->has_first) {
        seeds->first = build->seed != NULL ? *build->seed : scenario->seed;
        seeds->has_first = true;
    }
    if (seeds->items == NULL && seeds->first > UINT64_MAX - (seeds->count - 1))
        return lab_fail_at(&build->reader.tree, &build->node->place,
                           "%" PRIu64 " seeds from %" PRIu64 " on exceed 2^64 - 1; begin lower", seeds->count,
                           seeds->first);
    return true;
}

/* Parses a separate tree for the point, since overrides cannot be undone. */
static bool check_point(struct build *build, size_t point)
{
    struct sim_error inner = {0};
    struct lab_tree tree = {.path = build->sweep->path, .error = &inner};
    struct lab_node *root;
    struct lab_scenario *scenario = NULL;
    const struct lab_sweep *sweep = build->sweep;
    char *settings = sim_text_copy(sweep->points[point].settings);
    bool ok =
        (settings != NULL || sim_fail_memory(&inner)) &&
        lab_root_read(&tree, sweep->text, sweep->text_size, build->overrides, build->override_count, &root);
    for (char *line = settings, *next; ok && *line != '\0'; line = next) {
        next = line + strcspn(line, "\n");
        *next++ = '\0';
        ok = lab_override_apply(&tree, root, line);
    }
    ok = ok && lab_scenario_of_tree(&tree, root, "", &scenario) && lab_expects_check(scenario, &inner) &&
         (point > 0 || fill_seeds(build, scenario)) && digest_point(build, root, scenario);
    /* Done before `settings` is freed, since the message may point into it. */
    bool is_told = ok || fail_point(build, point, &inner);
    lab_scenario_destroy(scenario);
    lab_tree_clear(&tree);
    free(settings);
    return is_told;
}

static bool check_points(struct build *build)
{
    struct lab_sweep *sweep = build->sweep;
    for (size_t i = 0; i < sweep->point_count; i++) {
        if (!check_point(build, i))
            return false;
    }
    for (uint64_t job = 0; job < sweep->job_count; job++) {
        size_t point;
        uint64_t seed;
        lab_sweep_job(sweep, job, &point, &seed);
        digest_add(sweep, point);
        digest_add(sweep, seed);
    }
    return true;
}

bool lab_sweep_parse(const char *path, const char *text, size_t size, const struct lab_override *overrides,
                     size_t override_count, const uint64_t *seed, struct lab_sweep **out,
                     struct sim_error *error)
{
    struct sim_error unseen = {0};
    *out = NULL;
    struct build build = {.reader.tree = {.path = path, .error = error != NULL ? error : &unseen},
                          .overrides = overrides,
                          .override_count = override_count,
                          .seed = seed,
                          .sweep = calloc(1, sizeof *build.sweep)};
    struct lab_sweep *sweep = build.sweep;
    struct lab_node *root;
    if (sweep == NULL)
        return sim_fail_memory(error);
    sweep->path = sim_text_copy(path);
    sweep->text = malloc(size + 1);
    sweep->text_size = size;
    if (sweep->text != NULL) {
        memcpy(sweep->text, text, size);
        sweep->text[size] = '\0';
    }
    bool ok = (sweep->path != NULL && sweep->text != NULL) || sim_fail_memory(error);
    ok = ok && read_section(&build, &root) && count_points(&build) && make_points(&build) &&
         number_jobs(&build) && check_points(&build);
    sweep->files = lab_writer_take(&build.all_files);
    ok = ok && (sweep->files != NULL || sim_fail_memory(build.reader.tree.error));
    lab_tree_clear(&build.reader.tree);
    free(build.files);
    if (!ok) {
        lab_sweep_destroy(sweep);
        return false;
    }
    *out = sweep;
    return true;
}

void lab_sweep_destroy(struct lab_sweep *sweep)
{
    if (sweep == NULL)
        return;
    for (size_t i = 0; i < sweep->point_count; i++)
        free(sweep->points[i].settings);
    free(sweep->points);
    free(sweep->seeds.items);
    free(sweep->path);
    free(sweep->text);
    free(sweep->overrides);
    free(sweep->name);
    free(sweep->files);
    free(sweep);
}

void lab_sweep_job(const struct lab_sweep *sweep, uint64_t job, size_t *point, uint64_t *seed)
{
    size_t low = 0, high = sweep->point_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (sweep->points[middle].first_job <= job)
            low = middle;
        else
            high = middle;
    }
    const struct lab_sweep_point *found = &sweep->points[low];
    const struct lab_sweep_seeds *seeds = &sweep->seeds;
    uint64_t nth = job - found->first_job;
    *point = low;
    if (found->has_own_seed)
        *seed = found->own_seed;
    else
        *seed = seeds->items != NULL ? seeds->items[nth] : seeds->first + nth;
}

void lab_sweep_archive(struct lab_sweep *sweep, struct sim_archive *archive)
{
    struct lab_sweep_seeds *seeds = &sweep->seeds;
    size_t items = seeds->items == NULL ? 0 : (size_t)seeds->count;
    sim_archive_text(archive, &sweep->path);
    sim_archive_text(archive, &sweep->text);
    sim_archive_text(archive, &sweep->overrides);
    sim_archive_u64(archive, &seeds->count);
    sim_archive_u64(archive, &seeds->first);
    seeds->items = sim_archive_array(archive, seeds->items, sizeof *seeds->items, &items, LAB_SWEEP_JOBS_MAX);
    sim_archive_u64(archive, &sweep->job_count);
    sim_archive_size(archive, &sweep->point_count);
    if (archive->is_loading)
        sweep->points = sim_archive_allocate(archive, sweep->point_count, sizeof *sweep->points, 1);
    if (sweep->points == NULL)
        sweep->point_count = 0;
    for (size_t i = 0; i < sweep->point_count; i++) {
        struct lab_sweep_point *point = &sweep->points[i];
        sim_archive_text(archive, &point->settings);
        sim_archive_u64(archive, &point->first_job);
        sim_archive_u64(archive, &point->seed_count);
        sim_archive_bool(archive, &point->has_own_seed);
        sim_archive_u64(archive, &point->own_seed);
    }
}

bool lab_sweep_scenario(const struct lab_sweep *sweep, uint64_t job, struct lab_scenario **out,
                        struct sim_error *error)
{
    size_t point;
    uint64_t seed;
    *out = NULL;
    lab_sweep_job(sweep, job, &point, &seed);
    struct lab_writer writer = {0};
    lab_writer_add(&writer, "%s%s", sweep->overrides, sweep->points[point].settings);
    char *overrides = lab_writer_take(&writer);
    bool ok = overrides == NULL
                  ? sim_fail_memory(error)
                  : lab_scenario_again(sweep->path, sweep->text, overrides, NULL, 0, seed, out, error);
    free(overrides);
    return ok;
}

char *lab_sweep_describe(const char *settings, bool is_short, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "%s", settings[0] == '\0' ? "as it stands" : "");
    for (const char *line = settings, *next; *line != '\0' && used < size; line = next) {
        size_t length = strcspn(line, "\n"), path = strcspn(line, "=");
        next = line + length + (line[length] == '\n');
        for (size_t i = 0; is_short && i < path; i++) {
            if (line[i] == '.') {
                line += i + 1;
                length -= i + 1;
                path -= i + 1;
                i = 0;
            }
        }
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%.*s", used == 0 ? "" : ", ", (int)length, line);
    }
    if (used >= size && size > 4) {
        size_t end = size - 4;
        while (end > 0 && ((unsigned char)buffer[end] & 0xc0) == 0x80)
            end--;
        strcpy(buffer + end, "...");
    }
    return buffer;
}

uint64_t lab_sweep_digest_add(uint64_t digest, uint64_t job, uint64_t run_digest)
{
    return sim_digest_chain(sim_digest_chain(digest, job), run_digest);
}
