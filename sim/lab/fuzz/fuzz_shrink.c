/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shrinks a scenario: each step is one cut, together with everything that becomes meaningless by it (such as
 * a fault of an agent that does not exist any more). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_plan.h"
#include "lab/fuzz.h"
#include "lab/quantity.h"
#include "lab/scenario_part.h"

#define VALUE_SIZE 40

/* The possible cuts of a tree are enumerated in a fixed order; the cut with the number `left` is made. */
struct cutter {
    struct lab_tree tree;
    struct lab_node *root;
    size_t left;
    bool is_made;
};

/* Counts one cut, and returns whether it is the one to make. */
static bool is_due(struct cutter *cutter)
{
    if (cutter->is_made || cutter->left-- > 0)
        return false;
    cutter->is_made = true;
    return true;
}

static void remove_child(struct lab_node *parent, const struct lab_node *child)
{
    struct lab_node *item = parent->first;
    parent->first = parent->last = NULL;
    parent->count = 0;
    for (struct lab_node *next; item != NULL; item = next) {
        next = item->next;
        if (item != child)
            lab_node_append(parent, item);
    }
}

/* Keeps only the elements [begin, end) of a list or, if is_kept is false, removes these elements. */
static void keep_range(struct lab_node *list, size_t begin, size_t end, bool is_kept)
{
    size_t index = 0;
    for (struct lab_node *item = list->first, *next; item != NULL; item = next, index++) {
        next = item->next;
        if ((index >= begin && index < end) != is_kept)
            remove_child(list, item);
    }
}

/* The first element of a list; NULL when there is no list. */
static struct lab_node *first_of(const struct lab_node *list)
{
    return list != NULL && list->kind == LAB_NODE_LIST ? list->first : NULL;
}

static size_t count_of(const struct lab_node *list)
{
    return first_of(list) == NULL ? 0 : list->count;
}

static void cut_strategies(struct cutter *cutter, struct lab_node *list)
{
    size_t count = count_of(list);
    for (size_t i = 0; count > 1 && i < count; i++) {
        if (is_due(cutter)) {
            keep_range(list, i, i + 1, true);
            return;
        }
    }
}

/* Removes all faults, then halves and quarters of them, then single ones. */
static void cut_faults(struct cutter *cutter, struct lab_node *list)
{
    size_t count = count_of(list);
    for (size_t size = count; size > 0; size = size > 4 ? size / 2 : size > 1 ? 1 : 0) {
        for (size_t begin = 0; begin < count; begin += size) {
            if (is_due(cutter)) {
                keep_range(list, begin, begin + size, false);
                return;
            }
        }
    }
}

static void set(struct cutter *cutter, struct lab_node *node, const char *value)
{
    const char *text = lab_tree_text(&cutter->tree, value, strlen(value));
    if (text != NULL)
        node->text = text;
}

static bool is_scalar(const struct lab_node *node)
{
    return node != NULL && node->kind == LAB_NODE_SCALAR;
}

/* Returns false, and leaves *out unchanged, when the node is not a whole number. */
static bool whole_of(const struct lab_node *node, uint64_t *out)
{
    uint64_t value;
    bool is_whole = is_scalar(node) && lab_quantity_whole(node->text, &value) == NULL;
    if (is_whole)
        *out = value;
    return is_whole;
}

static void lower_whole(struct cutter *cutter, struct lab_node *node, uint64_t least)
{
    uint64_t value;
    char text[VALUE_SIZE];
    if (!whole_of(node, &value))
        return;
    const uint64_t lower[] = {least, value / 2, value - 1};
    for (size_t i = 0; i < sizeof lower / sizeof *lower; i++) {
        bool is_lower = value > least && lower[i] >= least && (i == 0 || lower[i] > lower[i - 1]);
        if (is_lower && is_due(cutter)) {
            snprintf(text, sizeof text, "%" PRIu64, lower[i]);
            set(cutter, node, text);
        }
    }
}

static void lower_rate(struct cutter *cutter, struct lab_node *node)
{
    double rate;
    char text[VALUE_SIZE];
    if (!is_scalar(node) || lab_quantity_rate(node->text, &rate) != NULL)
        return;
    if (rate > 1e-3 && is_due(cutter)) {
        snprintf(text, sizeof text, "%.4g/s", rate / 2);
        set(cutter, node, text);
    }
}

static struct lab_node *find(const struct lab_node *mapping, const char *name)
{
    return mapping == NULL ? NULL : lab_node_find(mapping, name);
}

static void cut_numbers(struct cutter *cutter)
{
    struct lab_node *root = cutter->root, *cluster = find(root, "cluster");
    lower_whole(cutter, find(find(root, "agents"), "count"), 1);
    lower_whole(cutter, find(find(root, "keys"), "count"), 1);
    lower_whole(cutter, find(cluster, "nodes"), 1);
    lower_whole(cutter, find(cluster, "replication_factor"), 1);
    lower_rate(cutter, find(find(root, "arrivals"), "rate"));
    lower_rate(cutter, find(find(find(root, "reads"), "latest"), "rate"));
    lower_rate(cutter, find(find(find(root, "reads"), "range"), "rate"));
    lower_rate(cutter, find(find(find(root, "reads"), "all"), "rate"));
}

/* Removes a field, which then has its default. If the field was required, the scenario is not valid any more,
 * and the caller's lab_shrink_test rejects it. */
static void cut_fields(struct cutter *cutter, struct lab_node *mapping)
{
    static const char *const kept[] = {"seed", "name", "label", "nodes", "replication_factor", "num_tokens"};
    if (mapping == NULL || mapping->kind != LAB_NODE_MAPPING)
        return;
    for (struct lab_node *field = mapping->first; field != NULL && !cutter->is_made; field = field->next) {
        bool is_kept = false;
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            is_kept = is_kept || strcmp(field->name, kept[i]) == 0;
        if (is_kept || !is_due(cutter))
            continue;
        remove_child(mapping, field);
        return;
    }
}

static bool span_of(const struct lab_node *node, int64_t *out)
{
    int64_t value;
    bool is_span = is_scalar(node) && lab_quantity_duration(node->text, &value) == NULL;
    if (is_span)
        *out = value;
    return is_span;
}

static void lower_span(struct cutter *cutter, struct lab_node *node)
{
    static const double shares[] = {0.5, 0.8};
    int64_t span_ns;
    char text[LAB_SPAN_SIZE];
    if (!span_of(node, &span_ns))
        return;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        int64_t lower_ns = lab_draw_rounded((double)span_ns * shares[i]);
        if (lower_ns < span_ns && is_due(cutter))
            set(cutter, node, lab_span_text(lower_ns, text));
    }
}

/* The settings in {kind: {...}}, which may have a label next to the kind. */
static struct lab_node *settings_of(const struct lab_node *item)
{
    struct lab_node *field = item->kind == LAB_NODE_MAPPING ? item->first : NULL;
    while (field != NULL && strcmp(field->name, "label") == 0)
        field = field->next;
    return field != NULL && field->kind == LAB_NODE_MAPPING ? field : NULL;
}

static void cut_lengths(struct cutter *cutter, const struct lab_node *faults)
{
    static const char *const lengths[] = {"lasts", "by", "age", "last", "checkpoint"};
    for (const struct lab_node *item = first_of(faults); item != NULL; item = item->next) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            lower_span(cutter, find(settings_of(item), lengths[i]));
        cut_fields(cutter, settings_of(item));
    }
}

static void cut_something(struct cutter *cutter)
{
    static const char *const sections[] = {"arrivals", "reads", "keys", "cluster", "agents", "identifiers"};
    static const char *const parts[] = {"consistency", "network", "node", "timeouts", "clock",   "latest",
                                        "range",       "all",     "late", "early",    "backfill"};
    struct lab_node *root = cutter->root;
    cut_strategies(cutter, find(root, "strategies"));
    /* Early, since all later tests then take less time. */
    lower_span(cutter, find(root, "duration"));
    cut_faults(cutter, find(root, "faults"));
    cut_numbers(cutter);
    cut_fields(cutter, root);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct lab_node *section = find(root, sections[i]);
        cut_fields(cutter, section);
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++)
            cut_fields(cutter, find(section, parts[j]));
    }
    for (const struct lab_node *item = first_of(find(root, "strategies")); item != NULL; item = item->next) {
        struct lab_node *settings = settings_of(item);
        cut_fields(cutter, settings);
        /* Smaller partitions roll after fewer rows. */
        lower_whole(cutter, find(settings, "threshold"), 1);
        lower_whole(cutter, find(settings, "bits"), 0);
    }
    cut_lengths(cutter, find(root, "faults"));
}

/* Whether a place such as "agent 3" does not exist, because there are fewer agents. */
static bool is_place_beyond(const struct lab_node *place, const char *kind, uint64_t count)
{
    uint64_t index;
    size_t length = strlen(kind);
    return is_scalar(place) && strncmp(place->text, kind, length) == 0 &&
           lab_quantity_whole(place->text + length, &index) == NULL && index >= count;
}

static bool has_meaning(const struct lab_node *fault, uint64_t agents, uint64_t nodes, uint64_t keys,
                        int64_t duration_ns)
{
    const struct lab_node *settings = settings_of(fault);
    const struct lab_node *between = find(settings, "between");
    uint64_t index;
    int64_t at_ns;
    if (span_of(find(settings, "at"), &at_ns) && at_ns >= duration_ns)
        return false;
    if (whole_of(find(settings, "agent"), &index) && index >= agents)
        return false;
    if (whole_of(find(settings, "node"), &index) && index >= nodes)
        return false;
    if (whole_of(find(settings, "key"), &index) && index >= keys)
        return false;
    for (const struct lab_node *place = first_of(between); place != NULL; place = place->next) {
        if (is_place_beyond(place, "agent ", agents) || is_place_beyond(place, "node ", nodes))
            return false;
    }
    return true;
}

static void drop_meaningless(struct lab_node *root)
{
    struct lab_node *faults = find(root, "faults");
    uint64_t agent_count = UINT64_MAX, node_count = UINT64_MAX, key_count = UINT64_MAX;
    int64_t duration_ns = INT64_MAX;
    whole_of(find(find(root, "agents"), "count"), &agent_count);
    whole_of(find(find(root, "keys"), "count"), &key_count);
    whole_of(find(find(root, "cluster"), "nodes"), &node_count);
    span_of(find(root, "duration"), &duration_ns);
    for (struct lab_node *item = first_of(faults), *next; item != NULL; item = next) {
        next = item->next;
        if (!has_meaning(item, agent_count, node_count, key_count, duration_ns))
            remove_child(faults, item);
    }
}

/* Makes the cut with this number; *out is NULL when there are fewer cuts. */
static bool cut(const char *text, size_t number, char **out, struct sim_error *error)
{
    struct sim_error found = {SIM_ERROR_NONE, ""};
    struct cutter cutter = {.tree = {.path = "fuzz", .error = &found}, .left = number};
    *out = NULL;
    bool ok = lab_tree_read(&cutter.tree, NULL, text, strlen(text), "", &cutter.root) &&
              lab_check_root(&cutter.tree, cutter.root);
    if (ok) {
        cut_something(&cutter);
        if (cutter.is_made)
            drop_meaningless(cutter.root);
        ok = found.class == SIM_ERROR_NONE;
        if (ok && cutter.is_made)
            ok = (*out = lab_tree_write(cutter.root)) != NULL || sim_fail_memory(&found);
    }
    lab_tree_clear(&cutter.tree);
    return ok || sim_fail(error, found.class, "%s", found.text);
}

bool lab_shrink(const char *text, uint32_t tries, lab_shrink_test *test, void *context, char **out,
                struct sim_error *error)
{
    char *best = malloc(strlen(text) + 1);
    *out = NULL;
    if (best == NULL)
        return sim_fail_memory(error);
    strcpy(best, text);
    bool is_smaller = false;
    for (size_t number = 0; tries > 0;) {
        char *smaller;
        if (!cut(best, number, &smaller, error)) {
            free(best);
            return false;
        }
        if (smaller == NULL) {
            /* All cuts were tried. A cut that was made may allow an earlier one that failed before. */
            if (!is_smaller)
                break;
            is_smaller = false;
            number = 0;
            continue;
        }
        tries--;
        if (test(context, smaller)) {
            free(best);
            best = smaller;
            is_smaller = true;
        } else {
            free(smaller);
            number++;
        }
    }
    *out = best;
    return true;
}
