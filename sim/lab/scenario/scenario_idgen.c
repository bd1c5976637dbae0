/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `identifiers`, and the strategy idgen: what its clients lease, under which lock, and how they wait
 * for the lock. */
#include <stdio.h>

#include "kernel/time.h"
#include "lab/scenario_part.h"

#define SPAN_MAX     (365.0 * (double)SIM_DAY)
#define BASE_DEFAULT (5 * SIM_MS)

const struct lab_table lab_identifiers_table = {
    .fields =
        (const struct lab_field[]){
            {"think", lab_read_duration, offsetof(struct lab_scenario, identifiers.think_ns), LAB_OPTIONAL, 0,
             SPAN_MAX, "a duration from 0s to 365d", NULL},
            {"each", lab_read_whole, offsetof(struct lab_scenario, identifiers.each), LAB_OPTIONAL, 1, 1e15,
             "a whole number of at least 1, or leave it out for as many as a client gets", NULL},
            {.name = NULL},
        },
    .may_be_empty = true};

static bool stands_alone(struct lab_reader *reader, const struct lab_node *root)
{
    static const char *const others[] = {"keys",    "arrivals", "trace",  "row",
                                         "deletes", "reads",    "limits", "table"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct lab_node *node = lab_node_find(root, others[i]);
        if (node != NULL)
            return lab_fail_at(&reader->tree, &node->name_place,
                               "'%s' is about rows, and a run of identifiers has none; remove it", others[i]);
    }
    if (lab_node_find(root, "duration") == NULL)
        return lab_fail_at(&reader->tree, &root->place, "'duration' is missing; add it, as in duration: 10s");
    if (!reader->scenario->agents.present)
        return lab_fail_at(&reader->tree, &root->place,
                           "'identifiers' needs agents, which are its clients; add 'agents: {count: N}'");
    return true;
}

/* Checks that taking identifiers takes time; otherwise the closed loop would never advance the clock. */
static bool takes_time(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct cass_cluster_config *network = &scenario->network;
    bool has_latency = network->latency_ns.kind != SIM_SIZE_CONSTANT || network->latency_ns.a >= 1;
    if (scenario->identifiers.think_ns > 0 || has_latency || network->coordinate_ns > 0 ||
        network->write_ns > 0 || network->read_ns > 0)
        return true;
    return lab_fail_at(&reader->tree, &root->place,
                       "identifiers would take no time at all; give 'identifiers' a think above 0s, or the "
                       "network a latency");
}

/* A scenario has either rows or identifiers. */
bool lab_identifiers_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *section = lab_node_find(root, "identifiers");
    scenario->identifiers.present = section != NULL;
    const struct lab_node *item = lab_placing(lab_node_find(root, "strategies")->first);
    for (size_t i = 0; i < scenario->strategy_count; i++, item = lab_placing(item->next)) {
        if (scenario->strategies[i].settings.is_idgen && section == NULL)
            return lab_fail_at(&reader->tree, &item->place,
                               "'idgen' needs clients that take identifiers; add 'identifiers: {}'");
        if (!scenario->strategies[i].settings.is_idgen && section != NULL)
            return lab_fail_at(
                &reader->tree, &item->place,
                "it places rows, and with 'identifiers' there are none; use idgen, or remove 'identifiers'");
    }
    return section == NULL || (stands_alone(reader, root) && takes_time(reader, root));
}

static bool check_stripe(struct lab_reader *reader, const struct lab_node *node,
                         struct bk_idgen_config *config)
{
    const struct lab_node *stripe = lab_node_find(node, "stripe"), *choice = lab_node_find(node, "choice");
    char problem[96];
    if (stripe != NULL && config->stripe > config->stripes) {
        snprintf(problem, sizeof problem, "there %s %u stripe%s; lower it, or raise 'stripes'",
                 config->stripes == 1 ? "is" : "are", config->stripes, config->stripes == 1 ? "" : "s");
        return lab_fail_value(reader, stripe, problem);
    }
    if (choice == NULL)
        config->choice = stripe != NULL ? BK_IDGEN_FIXED : BK_IDGEN_RANDOM;
    if (stripe != NULL && config->choice == BK_IDGEN_RANDOM)
        return lab_fail_at(
            &reader->tree, &stripe->name_place,
            "'stripe' has no effect when stripes are drawn at random; remove it, or write choice: fixed");
    if (stripe == NULL && choice != NULL && config->choice == BK_IDGEN_FIXED)
        return lab_fail_value(reader, choice,
                              "it needs the number of the stripe; add 'stripe', as in stripe: 1");
    return true;
}

static bool check_lease(struct lab_reader *reader, const struct lab_node *node,
                        struct bk_idgen_config *config)
{
    const struct lab_node *lease = lab_node_find(node, "lease");
    if (lease == NULL)
        config->lease_ns = config->lock_lasts_ns / 2;
    return config->lease_ns < config->lock_lasts_ns ||
           lab_fail_value(reader, lease, "as long as the lock, or longer; make it shorter than 'lock_lasts'");
}

bool lab_check_idgen(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct lab_settings *settings = &((struct lab_strategy *)target)->settings;
    struct bk_idgen_config *config = &settings->idgen;
    settings->is_idgen = true;
    config->client_id = 1;
    if (!lab_settings_complete(reader, node, settings) || !check_stripe(reader, node, config) ||
        !check_lease(reader, node, config))
        return false;
    if (config->backoff_base_ns == 0) {
        config->backoff = BK_IDGEN_RANDOM_TIMES;
        config->backoff_base_ns = BASE_DEFAULT;
    }
    enum bk_status status = bk_idgen_check(config);
    return status == BK_OK || lab_fail_at(&reader->tree, &node->place, "'%s': %s; change it", node->name,
                                          bk_status_text(status));
}

bool lab_check_backoff(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct bk_idgen_config *config = &((struct lab_strategy *)target)->settings.idgen;
    const struct lab_node *cap = lab_node_find(node, "cap"), *limit = lab_node_find(node, "limit");
    int given = (lab_node_find(node, "constant") != NULL) + (lab_node_find(node, "exponential") != NULL) +
                (lab_node_find(node, "random") != NULL);
    if (given != 1)
        return lab_fail_at(&reader->tree, &node->place,
                           "'backoff' takes exactly one of constant, exponential or random; write it as "
                           "{random: 5ms}");
    if (cap != NULL && config->backoff != BK_IDGEN_EXPONENTIAL)
        return lab_fail_at(&reader->tree, &cap->name_place, "'cap' applies only to exponential; remove it");
    if (cap != NULL && config->backoff_cap_ns < config->backoff_base_ns)
        return lab_fail_value(reader, cap, "less than the first wait; raise it");
    return limit == NULL || config->backoff_limit_ns >= config->backoff_base_ns ||
           lab_fail_value(
               reader, limit,
               "less than the first wait may be, so a lease might have only one attempt; raise it");
}
