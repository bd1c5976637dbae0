/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scenarios and the counts of a fuzzing campaign. In: the user's scenario and a seed. Kept: nothing. Out:
 * the seed's scenario, which is the user's with everything drawn that it does not say (draw.c); smaller
 * scenarios with the same failure, where each step is one cut; which guarantee a run broke; and sums over
 * seeds. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "lab/cluster_engine.h"
#include "lab/fields.h"
#include "lab/fuzz.h"
#include "lab/quantity.h"

/* The file name in messages when there is no file. */
#define DRAWN_PATH "fuzz"

static bool read_base(struct lab_tree *tree, const struct lab_fuzz_base *base, struct lab_node **root)
{
    static const char nothing[] = "{}";
    return lab_root_read(tree, base->path == NULL ? nothing : base->text,
                         base->path == NULL ? strlen(nothing) : base->size, base->overrides,
                         base->override_count, root);
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

bool lab_fuzz_scenario(const struct lab_fuzz_base *base, uint64_t seed, bool has_text,
                       struct lab_scenario **out, struct sim_error *error)
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

bool lab_fuzz_rewrite(const char *text, const struct lab_override *overrides, size_t override_count,
                      char **out, struct sim_error *error)
{
    struct sim_error unseen = {0};
    struct lab_tree tree = {.path = DRAWN_PATH, .error = error != NULL ? error : &unseen};
    struct lab_node *root;
    *out = NULL;
    bool ok = lab_root_read(&tree, text, strlen(text), overrides, override_count, &root);
    if (ok)
        ok = (*out = lab_tree_write(root)) != NULL || sim_fail_memory(tree.error);
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

/* The first element of a list; NULL when there is no list. */
static struct lab_node *first_of(const struct lab_node *list)
{
    return list != NULL && list->kind == LAB_NODE_LIST ? list->first : NULL;
}

/* Removes all elements, then halves and quarters of them, then single ones. */
static void cut_list(struct cutter *cutter, struct lab_node *list)
{
    size_t count = first_of(list) == NULL ? 0 : list->count;
    for (size_t size = count; size > 0; size = size > 4 ? size / 2 : size > 1 ? 1 : 0) {
        for (size_t begin = 0; begin < count; begin += size) {
            if (!is_due(cutter))
                continue;
            struct lab_node *item = list->first;
            for (size_t i = 0; i < begin; i++)
                item = item->next;
            for (size_t i = begin; i < begin + size && item != NULL; i++) {
                struct lab_node *next = item->next;
                remove_child(list, item);
                item = next;
            }
            return;
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

bool lab_whole_of(const struct lab_node *node, uint64_t *out)
{
    uint64_t value;
    bool is_whole = is_scalar(node) && lab_quantity_whole(node->text, &value) == NULL;
    if (is_whole)
        *out = value;
    return is_whole;
}

bool lab_span_of(const struct lab_node *node, int64_t *out)
{
    int64_t value;
    bool is_span = is_scalar(node) && lab_quantity_duration(node->text, &value) == NULL;
    if (is_span)
        *out = value;
    return is_span;
}

static void lower_whole(struct cutter *cutter, struct lab_node *node, uint64_t least)
{
    uint64_t value;
    char text[VALUE_SIZE];
    if (!lab_whole_of(node, &value))
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

static void lower_rate(struct cutter *cutter, struct lab_node *node, uint64_t no_least)
{
    double rate;
    char text[VALUE_SIZE];
    (void)no_least;
    if (is_scalar(node) && lab_quantity_rate(node->text, &rate) == NULL && rate > 1e-3 && is_due(cutter)) {
        snprintf(text, sizeof text, "%.4g/s", rate / 2);
        set(cutter, node, text);
    }
}

static void lower_span(struct cutter *cutter, struct lab_node *node, uint64_t no_least)
{
    static const double shares[] = {0.5, 0.8};
    int64_t span_ns;
    char text[LAB_SETTING_TEXT_SIZE];
    (void)no_least;
    for (size_t i = 0; i < sizeof shares / sizeof *shares && lab_span_of(node, &span_ns); i++) {
        int64_t lower_ns = lab_draw_rounded((double)span_ns * shares[i]);
        if (lower_ns < span_ns && is_due(cutter)) {
            lab_quantity_duration_text(lower_ns, text, sizeof text);
            set(cutter, node, text);
        }
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

/* Makes the numbers of a mapping smaller, wherever these names occur, and removes its fields, which then have
 * their defaults; and so on within it. If a field was required, the scenario is not valid any more, and the
 * caller's lab_shrink_test rejects it. Smaller partitions roll after fewer rows. */
static void cut_mapping(struct cutter *cutter, struct lab_node *mapping)
{
    static const struct {
        const char *name;
        void (*lower)(struct cutter *cutter, struct lab_node *node, uint64_t least);
        uint64_t least;
    } lowered[] = {
        {"count", lower_whole, 1},     {"nodes", lower_whole, 1},    {"replication_factor", lower_whole, 1},
        {"threshold", lower_whole, 1}, {"bits", lower_whole, 0},     {"rate", lower_rate, 0},
        {"lasts", lower_span, 0},      {"by", lower_span, 0},        {"age", lower_span, 0},
        {"last", lower_span, 0},       {"checkpoint", lower_span, 0}};
    static const char *const kept[] = {"seed", "name", "label", "nodes", "replication_factor", "num_tokens"};
    for (struct lab_node *field = mapping->first; field != NULL && !cutter->is_made; field = field->next) {
        bool is_kept = false;
        for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++) {
            if (strcmp(field->name, lowered[i].name) == 0)
                lowered[i].lower(cutter, field, lowered[i].least);
        }
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            is_kept = is_kept || strcmp(field->name, kept[i]) == 0;
        if (!is_kept && is_due(cutter)) {
            remove_child(mapping, field);
            return;
        }
        if (field->kind == LAB_NODE_MAPPING)
            cut_mapping(cutter, field);
        for (const struct lab_node *item = first_of(field); item != NULL; item = item->next) {
            if (settings_of(item) != NULL)
                cut_mapping(cutter, settings_of(item));
        }
    }
}

static void cut_something(struct cutter *cutter)
{
    struct lab_node *root = cutter->root;
    /* What takes time goes early. A fault may refer to an agent, a node or a time that would be cut later. */
    cut_list(cutter, lab_node_find(root, "strategies"));
    cut_list(cutter, lab_node_find(root, "faults"));
    if (lab_node_find(root, "duration") != NULL)
        lower_span(cutter, lab_node_find(root, "duration"), 0);
    cut_mapping(cutter, root);
}

/* Makes the cut with this number; *out is NULL when there are fewer cuts. */
static bool cut(const char *text, size_t number, char **out, struct sim_error *error)
{
    struct sim_error found = {SIM_ERROR_NONE, ""};
    struct cutter cutter = {.tree = {.path = "fuzz", .error = &found}, .left = number};
    *out = NULL;
    bool ok = lab_root_read(&cutter.tree, text, strlen(text), NULL, 0, &cutter.root);
    if (ok) {
        cut_something(&cutter);
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

_Static_assert((unsigned)LAB_FUZZ_SHARES <= 32 && LAB_PROBE_COUNT <= 64,
               "a mask holds all shares, and all probes");

const char *lab_fuzz_share_name(unsigned share)
{
    static const char *const kept[] = {"kept_below_99", "kept_below_90", "kept_below_50"};
    return share < LAB_ORACLE_COUNT ? lab_oracle_name((enum lab_oracle)share)
                                    : kept[share - LAB_ORACLE_COUNT];
}

/* Whether a strategy is the observed sizes of a real table, to which oracles do not apply. */
static bool is_observed(const struct lab_strategy_result *strategy)
{
    return lab_settings_kind(&strategy->settings) == LAB_KIND_OBSERVED;
}

/* For runs with agents: computes the share of rows that were acknowledged, that is, neither refused nor of
 * unknown outcome. */
static void judge_kept(const struct lab_strategy_result *strategy, uint64_t rows, struct lab_fuzz_run *out)
{
    static const double least[] = {0.99, 0.9, 0.5};
    const struct lab_metric *refused = lab_metrics_find(&strategy->metrics, "writes.refused");
    const struct lab_metric *unresolved = lab_metrics_find(&strategy->metrics, "writes.unresolved");
    if (refused == NULL || unresolved == NULL || rows == 0)
        return;
    double kept = 1 - (refused->value + unresolved->value) / (double)rows;
    for (unsigned i = 0; i < sizeof least / sizeof *least; i++) {
        out->judged |= 1u << (LAB_FUZZ_KEPT_BELOW_99 + i);
        out->violated |= (uint32_t)(kept < least[i]) << (LAB_FUZZ_KEPT_BELOW_99 + i);
    }
}

static void judge(const struct lab_strategy_result *strategy, struct lab_fuzz_run *out)
{
    const struct lab_verdict *verdict = &strategy->verdict;
    enum bk_kind kind = lab_settings_kind(&strategy->settings);
    *out = (struct lab_fuzz_run){
        .kind = kind, .protocol = lab_settings_protocol(&strategy->settings), .rolls = verdict->rolls};
    for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
        bool is_broken = lab_guarantee_is_broken(kind, out->protocol, (enum lab_oracle)oracle, verdict);
        out->judged |= (uint32_t)verdict->is_judged[oracle] << oracle;
        out->violated |= (uint32_t)(verdict->violations[oracle].count > 0) << oracle;
        out->broken |= (uint32_t)is_broken << oracle;
        for (uint32_t set = 0; set < verdict->violations[oracle].excuse_count; set++)
            out->excuses[oracle] |= verdict->violations[oracle].excuses[set];
        out->lapsed[oracle] = verdict->lapsed[oracle];
    }
}

bool lab_breach_find(const struct lab_result *result, struct lab_breach *out)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_fuzz_run run = {0};
        if (!is_observed(&result->strategies[i]))
            judge(&result->strategies[i], &run);
        for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
            if ((run.broken >> oracle & 1) == 0)
                continue;
            *out = (struct lab_breach){i, (enum lab_oracle)oracle};
            return true;
        }
    }
    return false;
}

void lab_fuzz_hold(struct lab_result *result, uint32_t held)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_verdict *verdict = &result->strategies[i].verdict;
        verdict->conditions &= ~held;
        for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
            for (uint32_t set = 0; set < verdict->violations[oracle].excuse_count; set++)
                verdict->violations[oracle].excuses[set] &= ~held;
            verdict->lapsed[oracle] &= ~held;
        }
    }
}

void lab_fuzz_outcome_of(const struct lab_result *result, struct lab_fuzz_outcome *out)
{
    *out = (struct lab_fuzz_outcome){.rows = result->rows};
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_verdict *verdict = &result->strategies[i].verdict;
        if (is_observed(&result->strategies[i]))
            continue;
        judge(&result->strategies[i], &out->runs[out->run_count]);
        judge_kept(&result->strategies[i], result->rows, &out->runs[out->run_count++]);
        for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++)
            out->probes |= (uint64_t)(verdict->probes[probe] > 0) << probe;
    }
}

void lab_fuzz_tally_init(struct lab_fuzz_tally *tally)
{
    *tally = (struct lab_fuzz_tally){0};
    lab_histogram_init(&tally->rows);
    lab_histogram_init(&tally->rolls);
}

void lab_fuzz_tally_clear(struct lab_fuzz_tally *tally)
{
    lab_histogram_clear(&tally->rows);
    lab_histogram_clear(&tally->rolls);
}

static void add_run(struct lab_fuzz_tally *tally, const struct lab_fuzz_run *run)
{
    assert((unsigned)run->kind < LAB_FUZZ_KINDS && run->protocol < LAB_PROTOCOL_COUNT);
    tally->runs[run->kind][run->protocol]++;
    lab_histogram_add(&tally->rolls, run->rolls, 1, 1);
    for (unsigned oracle = 0; oracle < LAB_FUZZ_SHARES; oracle++) {
        if ((run->judged >> oracle & 1) == 0)
            continue;
        struct lab_fuzz_cell *cell = &tally->cells[run->kind][run->protocol][oracle];
        const struct lab_guarantee *guarantee =
            lab_guarantee_find(run->kind, run->protocol, (enum lab_oracle)oracle);
        bool is_violated = run->violated >> oracle & 1, is_broken = run->broken >> oracle & 1;
        cell->judged++;
        cell->violated += is_violated;
        if (oracle >= LAB_ORACLE_COUNT)
            continue;
        uint32_t excuses = is_broken ? 0 : run->excuses[oracle];
        cell->broken += is_broken;
        cell->excused += guarantee != NULL && is_violated && !is_broken;
        cell->guaranteed += guarantee != NULL && run->lapsed[oracle] == 0;
        for (unsigned condition = 0; condition < LAB_CONDITION_COUNT; condition++) {
            cell->excuses[condition] += excuses >> condition & 1;
            cell->lapsed[condition] += run->lapsed[oracle] >> condition & 1;
        }
    }
}

bool lab_fuzz_tally_add(struct lab_fuzz_tally *tally, const struct lab_fuzz_outcome *outcome)
{
    tally->seeds++;
    for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++)
        tally->probes[probe] += outcome->probes >> probe & 1;
    lab_histogram_add(&tally->rows, outcome->rows, 1, 1);
    for (size_t i = 0; i < outcome->run_count; i++)
        add_run(tally, &outcome->runs[i]);
    return !tally->rows.out_of_memory && !tally->rolls.out_of_memory;
}
