/* SPDX-License-Identifier: GPL-3.0-or-later */
/* identifiers, and the strategy idgen: what its clients lease, under which lock, and how they wait for it. */
#include <stdio.h>

#include "kernel/time.h"
#include "lab/scenario_part.h"

#define DRAFT(member)      offsetof(struct lab_idgen_draft, member)
#define IDGEN(member)      DRAFT(config.member)
#define SPAN_MAX           (365.0 * (double)SIM_DAY)
#define ABOVE_RANGE        "a duration above 0s and at most 365d"
#define LOCK_LASTS_DEFAULT (5 * SIM_SECOND)
#define BASE_DEFAULT       (5 * SIM_MS)

static bool make(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool check_stripe(struct lab_reader *reader, const struct lab_node *node,
                         struct lab_idgen_draft *draft);
static bool check_lease(struct lab_reader *reader, const struct lab_node *node,
                        struct bk_idgen_config *config);
static bool check_backoff(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool stands_alone(struct lab_reader *reader, const struct lab_node *root);
static bool takes_time(struct lab_reader *reader, const struct lab_node *root);

static const struct lab_choice choices[] = {
    {"fixed", BK_IDGEN_FIXED}, {"rotate", BK_IDGEN_ROTATE}, {"random", BK_IDGEN_RANDOM}, {NULL, 0}};
static const struct lab_choice locks[] = {
    {"columns", BK_IDGEN_LOCK_COLUMNS}, {"lwt", BK_IDGEN_LOCK_LWT}, {NULL, 0}};

static const struct lab_table backoff_table = {
    .fields =
        (const struct lab_field[]){
            {"constant", lab_read_duration, DRAFT(constant_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE, NULL},
            {"exponential", lab_read_duration, DRAFT(exponential_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE,
             NULL},
            {"random", lab_read_duration, DRAFT(random_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE, NULL},
            {"cap", lab_read_duration, IDGEN(backoff_cap_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE, NULL},
            {"limit", lab_read_duration, IDGEN(backoff_limit_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE,
             NULL},
            {"attempts", lab_read_whole32, IDGEN(attempts), LAB_OPTIONAL, 1, 1e9,
             "a whole number from 1 to 1000000000, or leave it out for any number", NULL},
            {.name = NULL},
        },
    .check = check_backoff};

const struct lab_table lab_idgen_table = {
    .fields =
        (const struct lab_field[]){
            {"batch", lab_read_whole32, IDGEN(batch), LAB_OPTIONAL, 1, 1e9,
             "a whole number from 1 to 1000000000", NULL},
            {"stripes", lab_read_whole32, IDGEN(stripes), LAB_OPTIONAL, 1, BK_IDGEN_STRIPES_MAX,
             "a whole number from 1 to 65536", NULL},
            {"stripe", lab_read_whole32, IDGEN(stripe), LAB_OPTIONAL, 1, BK_IDGEN_STRIPES_MAX,
             "a whole number from 1 to the number of stripes", NULL},
            {"choice", lab_read_choice, DRAFT(choice), LAB_OPTIONAL, 0, 0, NULL, choices},
            {"lock", lab_read_choice, DRAFT(lock), LAB_OPTIONAL, 0, 0, NULL, locks},
            {"lock_lasts", lab_read_duration, IDGEN(lock_lasts_ns), LAB_OPTIONAL, 2, SPAN_MAX, ABOVE_RANGE,
             NULL},
            {"lease", lab_read_duration, IDGEN(lease_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE, NULL},
            /* Its fields are the draft's as well. */
            {"backoff", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &backoff_table},
            {"label", lab_read_text, DRAFT(label), LAB_OPTIONAL, 0, LAB_LABEL_SIZE_MAX,
             "a label of 1 to 64 bytes", NULL},
            {.name = NULL},
        },
    .check = make,
    .may_be_empty = true};

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

/* Either rows or identifiers. */
bool lab_identifiers_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *section = lab_node_find(root, "identifiers");
    scenario->identifiers.present = section != NULL;
    const struct lab_node *item = lab_placing(lab_node_find(root, "strategies")->first);
    for (size_t i = 0; i < scenario->strategy_count; i++, item = lab_placing(item->next)) {
        if (scenario->strategies[i].settings.is_idgen && section == NULL)
            return lab_fail_at(&reader->tree, &item->place,
                               "'idgen' hands out identifiers, and nobody wants any; add 'identifiers: {}'");
        if (!scenario->strategies[i].settings.is_idgen && section != NULL)
            return lab_fail_at(
                &reader->tree, &item->place,
                "it places rows, and 'identifiers' are wanted; use idgen, or remove 'identifiers'");
    }
    return section == NULL || (stands_alone(reader, root) && takes_time(reader, root));
}

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

/* Else a closed loop would go round for ever within one moment. */
static bool takes_time(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct cass_cluster_config *network = &scenario->network;
    bool has_latency = network->latency_ns.kind != SIM_SIZE_CONSTANT || network->latency_ns.a >= 1;
    if (scenario->identifiers.think_ns > 0 || has_latency || network->write_ns > 0 || network->read_ns > 0)
        return true;
    return lab_fail_at(&reader->tree, &root->place,
                       "identifiers would take no time at all; give 'identifiers' a think above 0s, or the "
                       "network a latency");
}

static bool make(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct lab_idgen_draft *draft = target;
    struct bk_idgen_config *config = &draft->config;
    draft->is_present = true;
    config->client_id = 1;
    config->batch = config->batch == 0 ? 100 : config->batch;
    config->stripes = config->stripes == 0 ? 1 : config->stripes;
    config->lock = (enum bk_idgen_lock)draft->lock;
    if (!check_stripe(reader, node, draft) || !check_lease(reader, node, config))
        return false;
    if (config->backoff_base_ns == 0) {
        config->backoff = BK_IDGEN_RANDOM_TIMES;
        config->backoff_base_ns = BASE_DEFAULT;
    }
    enum bk_status status = bk_idgen_check(config);
    return status == BK_OK || lab_fail_at(&reader->tree, &node->place, "'%s': %s; change it", node->name,
                                          bk_status_text(status));
}

static bool check_stripe(struct lab_reader *reader, const struct lab_node *node,
                         struct lab_idgen_draft *draft)
{
    struct bk_idgen_config *config = &draft->config;
    const struct lab_node *stripe = lab_node_find(node, "stripe"), *choice = lab_node_find(node, "choice");
    char problem[96];
    if (stripe != NULL && config->stripe > config->stripes) {
        snprintf(problem, sizeof problem, "there %s %u stripe%s; lower it, or raise 'stripes'",
                 config->stripes == 1 ? "is" : "are", config->stripes, config->stripes == 1 ? "" : "s");
        return lab_fail_value(reader, stripe, problem);
    }
    config->choice = choice != NULL   ? (enum bk_idgen_choice)draft->choice
                     : stripe != NULL ? BK_IDGEN_FIXED
                                      : BK_IDGEN_RANDOM;
    if (stripe != NULL && config->choice == BK_IDGEN_RANDOM)
        return lab_fail_at(
            &reader->tree, &stripe->name_place,
            "'stripe' says nothing where stripes are drawn; remove it, or write choice: fixed");
    if (stripe == NULL && choice != NULL && config->choice == BK_IDGEN_FIXED)
        return lab_fail_value(reader, choice, "which one is missing; add 'stripe', as in stripe: 1");
    config->stripe = config->stripe == 0 ? 1 : config->stripe;
    return true;
}

static bool check_lease(struct lab_reader *reader, const struct lab_node *node,
                        struct bk_idgen_config *config)
{
    const struct lab_node *lease = lab_node_find(node, "lease"), *lasts = lab_node_find(node, "lock_lasts");
    if (lasts == NULL)
        config->lock_lasts_ns = LOCK_LASTS_DEFAULT;
    if (lease == NULL)
        config->lease_ns = config->lock_lasts_ns / 2;
    return config->lease_ns < config->lock_lasts_ns ||
           lab_fail_value(reader, lease, "as long as the lock, or longer; make it shorter than 'lock_lasts'");
}

static bool check_backoff(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct lab_idgen_draft *draft = target;
    struct bk_idgen_config *config = &draft->config;
    const int64_t bases[] = {draft->constant_ns, draft->exponential_ns, draft->random_ns};
    const struct lab_node *cap = lab_node_find(node, "cap"), *limit = lab_node_find(node, "limit");
    int given = 0;
    for (int i = 0; i < 3; i++) {
        if (bases[i] == 0)
            continue;
        config->backoff = (enum bk_idgen_backoff)i;
        config->backoff_base_ns = bases[i];
        given++;
    }
    if (given != 1)
        return lab_fail_at(&reader->tree, &node->place,
                           "'backoff' takes exactly one of constant, exponential or random; write it as "
                           "{random: 5ms}");
    if (cap != NULL && config->backoff != BK_IDGEN_EXPONENTIAL)
        return lab_fail_at(&reader->tree, &cap->name_place, "'cap' is of exponential alone; remove it");
    if (cap != NULL && config->backoff_cap_ns < config->backoff_base_ns)
        return lab_fail_value(reader, cap, "less than the first wait; raise it");
    return limit == NULL || config->backoff_limit_ns >= config->backoff_base_ns ||
           lab_fail_value(reader, limit,
                          "less than the first wait may be, so that no attempt would have a second; "
                          "raise it");
}
