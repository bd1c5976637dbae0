/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `tune`: the requirements of `bucketlab tune` on a setting. Runs ignore it. */
#include <string.h>

#include "kernel/text.h"
#include "lab/scenario_part.h"

#define TUNE(member)  (offsetof(struct lab_scenario, tune) + offsetof(struct lab_tune, member))
#define SEEDS_DEFAULT 8

static bool read_kind(struct lab_reader *reader, const struct lab_node *item, uint32_t *kinds)
{
    const char *text = lab_scalar(reader, item), *names[BK_KIND_COUNT];
    if (text == NULL)
        return false;
    for (unsigned kind = 0; kind < BK_KIND_COUNT; kind++) {
        names[kind] = bk_kind_name((enum bk_kind)kind);
        if (strcmp(names[kind], text) == 0) {
            *kinds |= UINT32_C(1) << kind;
            return true;
        }
    }
    const char *nearest = sim_nearest(text, names, BK_KIND_COUNT);
    if (nearest != NULL)
        return lab_fail_at(&reader->tree, &item->place, "no kind '%s'; did you mean '%s'?", text, nearest);
    return lab_fail_at(&reader->tree, &item->place,
                       "no kind '%s'; give unbucketed, time, count, probabilistic, hash or weighted", text);
}

static bool read_kinds(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    uint32_t kinds = 0;
    if (node->kind != LAB_NODE_LIST || node->count == 0)
        return lab_fail_at(&reader->tree, &node->place,
                           "'%s' takes a list of kinds; write it as [count, probabilistic]", field->name);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        if (!read_kind(reader, item, &kinds))
            return false;
    }
    *(uint32_t *)out = kinds;
    return true;
}

const struct lab_table lab_tune_table = {
    .fields = (const struct lab_field[]){
        {"risk", lab_read_share, TUNE(risk), LAB_OPTIONAL, 0, 0.5, "a share from 0% to 50%", NULL},
        {"tiny", lab_read_share, TUNE(tiny), LAB_OPTIONAL, 0, 1, "a share from 0% to 100%, or leave it out",
         NULL},
        {"partitions_per_read", lab_read_number, TUNE(partitions_per_read), LAB_OPTIONAL, 1, 1e9,
         "a number of at least 1, or leave it out", NULL},
        {"confidence", lab_read_share, TUNE(confidence), LAB_OPTIONAL, 0.5, 0.9999,
         "a share from 50% to 99.99%", NULL},
        {"tolerance", lab_read_share, TUNE(tolerance), LAB_OPTIONAL, 0, 0.5, "a share from 0% to 50%", NULL},
        {"seeds", lab_read_whole32, TUNE(seeds), LAB_OPTIONAL, 2, LAB_TUNE_SEEDS_MAX,
         "a whole number from 2 to 1000", NULL},
        {"strategies", read_kinds, TUNE(kinds), LAB_OPTIONAL, 0, 0, NULL, NULL},
        {.name = NULL},
    }};

void lab_tune_default(struct lab_tune *tune)
{
    *tune = (struct lab_tune){.tiny = -1,
                              .confidence = LAB_TUNE_CONFIDENCE,
                              .tolerance = LAB_TUNE_TOLERANCE,
                              .seeds = SEEDS_DEFAULT,
                              .kinds = (UINT32_C(1) << BK_KIND_COUNT) - 1};
}

/* `risk` is another name of limits.over_limit_share. */
static bool complete_share(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *risk = lab_node_find(lab_node_find(root, "tune"), "risk"),
                          *share = lab_node_find(lab_node_find(root, "limits"), "over_limit_share");
    if (risk != NULL && share != NULL && scenario->tune.risk != scenario->limits.over_limit_share)
        return lab_fail_at(&reader->tree, &risk->name_place,
                           "'risk' is another name of limits.over_limit_share, which differs; remove one of "
                           "the two");
    if (risk != NULL)
        scenario->limits.over_limit_share = scenario->tune.risk;
    scenario->tune.share = scenario->limits.over_limit_share;
    scenario->limits.confidence = scenario->tune.confidence;
    scenario->limits.tolerance = scenario->tune.tolerance;
    return true;
}

bool lab_tune_complete(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *tune = lab_node_find(root, "tune"), *tiny = lab_node_find(tune, "tiny"),
                          *per_read = lab_node_find(tune, "partitions_per_read");
    if (!complete_share(reader, root))
        return false;
    if (tiny != NULL && scenario->limits.tiny_rows == 0)
        return lab_fail_at(&reader->tree, &tiny->name_place,
                           "'tiny' needs tiny_rows; add it under 'limits', or remove this");
    if (per_read != NULL && !scenario->reads.present)
        return lab_fail_at(&reader->tree, &per_read->name_place,
                           "'partitions_per_read' needs reads; add 'reads', or remove this");
    return true;
}
