/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a comparison as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/json.h"
#include "diff.h"

static json_t *side_json(const struct cli_diff_side *side)
{
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, side->result->digest);
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "run", json_integer(side->run)) &&
                   cli_json_set(object, "scenario", json_string(side->result->scenario_name)) &&
                   cli_json_set(object, "seed", cli_json_whole(side->result->seed)) &&
                   cli_json_set(object, "digest", json_string(digest)) &&
                   cli_json_set(object, "version", json_string(side->version)) &&
                   cli_json_set(object, "overrides", json_string(side->overrides)) &&
                   cli_json_set(object, "seeds", json_integer((json_int_t)side->seed_count));
    return cli_json_complete(object, is_fine);
}

static json_t *pairs_json(const struct cli_diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < diff->pair_count; i++)
        list = cli_json_append(list, cli_json_whole(diff->pairs[i].seed));
    return list;
}

static json_t *figure_json(const struct cli_diff_figure *figure)
{
    bool is_tested = figure->is_tested;
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "a", cli_json_number(figure->a)) &&
        cli_json_set(object, "b", cli_json_number(figure->b)) &&
        cli_json_set(object, "difference", cli_json_number(figure->difference)) &&
        cli_json_set(object, "low", is_tested ? cli_json_number(figure->interval.low) : json_null()) &&
        cli_json_set(object, "high", is_tested ? cli_json_number(figure->interval.high) : json_null()) &&
        cli_json_set(object, "p", is_tested ? cli_json_number(figure->p) : json_null()) &&
        cli_json_set(object, "significant", json_boolean(cli_diff_is_significant(figure)));
    return cli_json_complete(object, is_fine);
}

static json_t *metrics_json(const struct cli_diff_strategy *strategy)
{
    json_t *object = json_object();
    bool is_fine = object != NULL;
    for (size_t i = 0; is_fine && i < strategy->count; i++) {
        const struct cli_diff_figure *figure = &strategy->figures[i];
        if (figure->is_in_a && figure->is_in_b)
            is_fine = cli_json_set(object, figure->name, figure_json(figure));
    }
    return cli_json_complete(object, is_fine);
}

static json_t *names_json(const struct cli_diff_strategy *strategy, bool is_of_a)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < strategy->count; i++) {
        const struct cli_diff_figure *figure = &strategy->figures[i];
        if (figure->is_in_a == is_of_a && figure->is_in_b != is_of_a)
            list = cli_json_append(list, json_string(figure->name));
    }
    return list;
}

static json_t *gap_json(const struct cli_diff_strategy *strategy)
{
    const struct lab_gap *gap = &strategy->gap;
    if (!strategy->has_gap)
        return json_null();
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "of", json_string(strategy->is_gap_of_closed ? "closed" : "all")) &&
                   cli_json_set(object, "distance", cli_json_number(gap->distance)) &&
                   cli_json_set(object, "rows", cli_json_whole(gap->size)) &&
                   cli_json_set(object, "share_a", cli_json_number(gap->one)) &&
                   cli_json_set(object, "share_b", cli_json_number(gap->other));
    return cli_json_complete(object, is_fine);
}

static json_t *strategies_json(const struct cli_diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < diff->strategy_count; i++) {
        const struct cli_diff_strategy *strategy = &diff->strategies[i];
        json_t *object = json_object();
        bool is_fine = cli_json_set(object, "label_a", json_string(strategy->a->label)) &&
                       cli_json_set(object, "label_b", json_string(strategy->b->label)) &&
                       cli_json_set(object, "metrics", metrics_json(strategy)) &&
                       cli_json_set(object, "only_in_a", names_json(strategy, true)) &&
                       cli_json_set(object, "only_in_b", names_json(strategy, false)) &&
                       cli_json_set(object, "sizes", gap_json(strategy));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *alone_json(const struct cli_diff *diff, const struct cli_diff_side *side)
{
    const struct cli_diff_side *other = side == &diff->a ? &diff->b : &diff->a;
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < side->result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &side->result->strategies[i];
        if (side->label == NULL && other->label == NULL && !cli_diff_is_matched(diff, strategy))
            list = cli_json_append(list, json_string(strategy->label));
    }
    return list;
}

json_t *cli_diff_json(const struct cli_diff *diff)
{
    static const char *const tests[] = {NULL, "paired", "welch"};
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "a", side_json(&diff->a)) && cli_json_set(object, "b", side_json(&diff->b)) &&
        cli_json_set(object, "same", json_boolean(diff->is_same_digest && !cli_diff_is_any(diff))) &&
        cli_json_set(object, "test",
                     tests[diff->test] == NULL ? json_null() : json_string(tests[diff->test])) &&
        cli_json_set(object, "pairs", pairs_json(diff)) &&
        cli_json_set(object, "strategies", strategies_json(diff)) &&
        cli_json_set(object, "only_in_a", alone_json(diff, &diff->a)) &&
        cli_json_set(object, "only_in_b", alone_json(diff, &diff->b));
    return cli_json_complete(object, is_fine);
}
