/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the scenario of a seed: the base file, with everything drawn that it does not specify. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "fuzz_plan.h"
#include "kernel/digest.h"
#include "lab/cluster_rows.h"
#include "lab/fuzz.h"
#include "lab/scenario_part.h"
#include "lab/scenario_write.h"

/* The file name in messages when there is no file. */
#define DRAWN_PATH "fuzz"

static bool read_base(struct lab_tree *tree, const struct lab_fuzz_base *base, struct lab_node **root)
{
    const struct lab_place nowhere = {NULL, 0, 0};
    if (base->path == NULL) {
        *root = lab_tree_mapping(tree, &nowhere, "");
        if (*root == NULL)
            return false;
    } else if (!lab_tree_read(tree, NULL, base->text, base->size, "", root) || !lab_check_root(tree, *root)) {
        return false;
    }
    for (size_t i = 0; i < base->override_count; i++) {
        if (!lab_override_apply(tree, *root, base->overrides[i].text))
            return false;
    }
    return true;
}

/* Whether a scenario specifies everything, so that only the seed is added. */
static bool is_complete(const struct lab_node *root)
{
    static const char *const sections[] = {"cluster", "agents", "faults", "strategies"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (lab_node_find(root, sections[i]) == NULL)
            return false;
    }
    return lab_node_find(root, "trace") != NULL ||
           (lab_node_find(root, "identifiers") != NULL && lab_node_find(root, "duration") != NULL) ||
           (lab_node_find(root, "keys") != NULL && lab_node_find(root, "arrivals") != NULL &&
            lab_node_find(root, "duration") != NULL);
}

/* Adds the sections that are missing in the user's scenario from the drawn one; for agents and cluster,
 * single fields too. */
static void adopt(struct lab_node *root, struct lab_node *drawn, bool is_deep)
{
    for (struct lab_node *field = drawn->first, *next; field != NULL; field = next) {
        next = field->next;
        struct lab_node *own = root->first;
        while (own != NULL && strcmp(own->name, field->name) != 0)
            own = own->next;
        bool is_open = strcmp(field->name, "agents") == 0 || strcmp(field->name, "cluster") == 0;
        if (own == NULL)
            lab_node_append(root, field);
        else if (is_deep && is_open && own->kind == LAB_NODE_MAPPING)
            adopt(own, field, false);
    }
}

/* Removes line numbers, since the drawn text is not a file that a user can read. */
static void forget_places(struct lab_node *node)
{
    node->place = node->name_place = (struct lab_place){NULL, 0, 0};
    for (struct lab_node *child = node->first; child != NULL; child = child->next)
        forget_places(child);
}

/* Always sets `seed`, and removes expectations, which are meant for `run`. */
static bool draw_rest(struct lab_tree *tree, struct lab_node *root, uint64_t seed, bool is_named)
{
    struct lab_node *drawn;
    char *text = lab_fuzz_draw(root, seed, is_named);
    if (text == NULL)
        return sim_fail_memory(tree->error);
    bool ok = lab_tree_read(tree, NULL, text, strlen(text), "", &drawn);
    free(text);
    if (!ok)
        return false;
    forget_places(drawn);
    if (!is_complete(root))
        adopt(root, drawn, true);
    char override[40];
    snprintf(override, sizeof override, "seed=%" PRIu64, seed);
    return lab_override_apply(tree, root, override) &&
           (lab_node_find(root, "expect") == NULL || lab_override_apply(tree, root, "expect=null"));
}

static bool make(const struct lab_fuzz_base *base, uint64_t seed, bool has_text, struct lab_scenario **out,
                 struct sim_error *error)
{
    struct sim_error unseen = {0};
    struct lab_tree tree = {.path = base->path != NULL ? base->path : DRAWN_PATH,
                            .error = error != NULL ? error : &unseen};
    struct lab_node *root;
    *out = NULL;
    bool ok = read_base(&tree, base, &root) && draw_rest(&tree, root, seed, base->path != NULL);
    if (ok) {
        char *text = has_text ? lab_tree_write(root) : NULL;
        ok = text != NULL || !has_text ? lab_scenario_of_tree(&tree, root, text != NULL ? text : "", out)
                                       : sim_fail_memory(tree.error);
        free(text);
    }
    lab_tree_clear(&tree);
    return ok;
}

bool lab_fuzz_scenario(const struct lab_fuzz_base *base, uint64_t seed, struct lab_scenario **out,
                       struct sim_error *error)
{
    return make(base, seed, true, out, error);
}

bool lab_fuzz_case(const struct lab_fuzz_base *base, uint64_t seed, struct lab_scenario **out,
                   struct sim_error *error)
{
    return make(base, seed, false, out, error);
}

bool lab_fuzz_rewrite(const char *text, const struct lab_override *overrides, size_t override_count,
                      char **out, struct sim_error *error)
{
    const struct lab_fuzz_base base = {.path = DRAWN_PATH,
                                       .text = text,
                                       .size = strlen(text),
                                       .overrides = overrides,
                                       .override_count = override_count};
    struct sim_error unseen = {0};
    struct lab_tree tree = {.path = base.path, .error = error != NULL ? error : &unseen};
    struct lab_node *root;
    *out = NULL;
    bool ok = read_base(&tree, &base, &root);
    if (ok)
        ok = (*out = lab_tree_write(root)) != NULL || sim_fail_memory(tree.error);
    lab_tree_clear(&tree);
    return ok;
}

bool lab_fuzz_identity(const struct lab_fuzz_base *base, uint64_t *out, struct sim_error *error)
{
    struct sim_error unseen = {0};
    struct lab_tree tree = {.path = base->path != NULL ? base->path : DRAWN_PATH,
                            .error = error != NULL ? error : &unseen};
    struct lab_node *root;
    *out = 0;
    bool ok = read_base(&tree, base, &root);
    char *text = ok ? lab_tree_write(root) : NULL;
    if (text != NULL)
        *out = sim_digest_chain(bk_murmur3_128(text, strlen(text), 0).h1, base->held);
    else if (ok)
        ok = sim_fail_memory(tree.error);
    free(text);
    lab_tree_clear(&tree);
    return ok;
}

bool lab_fuzz_key_name(const struct lab_scenario *scenario, uint32_t key, char *buffer,
                       struct sim_error *error)
{
    struct lab_rows *rows;
    buffer[0] = '\0';
    if (key == UINT32_MAX)
        return true;
    if (!lab_rows_create(scenario, NULL, &rows, error))
        return false;
    lab_rows_key_name(rows, key, buffer, LAB_KEY_NAME_SIZE);
    lab_rows_destroy(rows);
    return true;
}
