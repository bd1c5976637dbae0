/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `deletes`, and checks what a time to live requires of the rest of the scenario. */
#include "kernel/time.h"
#include "lab/gone.h"
#include "lab/scenario_part.h"
#include "workload/rows.h"

#define SCENARIO(member) offsetof(struct lab_scenario, member)

const struct lab_table lab_deletes_table = {
    .fields = (const struct lab_field[]){
        {"share", lab_read_share, SCENARIO(deletes.share), LAB_REQUIRED, 1e-12, 1,
         "a share above 0% and at most 100%", NULL},
        {"after", lab_read_duration, SCENARIO(deletes.after_ns), LAB_REQUIRED, 1, 365.0 * (double)SIM_DAY,
         "a mean duration above 0s and at most 365d", NULL},
        {.name = NULL},
    }};

/* The stream engine computes what a reader finds only if rows expire in the order in which they arrived,
 * which is the order of a partition's rows. The mock does not store in which second a row expires, so a row
 * that is deleted too would be removed twice. */
static bool check_stream(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *reads = lab_node_find(root, "reads");
    if (scenario->deletes.share > 0)
        return lab_fail_at(
            &reader->tree, &reads->name_place,
            "'reads' with 'deletes' needs agents; add 'agents: {count: N}', or remove 'reads'");
    if (scenario->row_ttl_ns > 0 && wl_has_own_times(&scenario->workload))
        return lab_fail_at(
            &reader->tree, &reads->name_place,
            "'reads' with 'ttl' and rows that come late or have rounded times needs agents; add "
            "'agents: {count: N}', or remove one of the three");
    for (size_t i = 0; scenario->row_ttl_ns > 0 && i < scenario->strategy_count; i++) {
        if (scenario->strategies[i].settings.change_count > 0)
            return lab_fail_at(
                &reader->tree, &reads->name_place,
                "'reads' with 'ttl' needs settings that stay; remove 'then' of '%s', or 'reads'",
                scenario->strategies[i].label);
    }
    return true;
}

bool lab_gone_complete(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *deletes = lab_node_find(root, "deletes");
    const struct lab_node *ttl = lab_node_find(lab_node_find(root, "row"), "ttl");
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    if (scenario->reads.present && !is_cluster && !check_stream(reader, root))
        return false;
    if (deletes != NULL && ttl != NULL && is_cluster)
        return lab_fail_at(&reader->tree, &deletes->name_place,
                           "'deletes' conflicts with 'row.ttl' with agents; remove one of the three");
    return true;
}
