/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores baselines of `fuzz`, and decides when a share of seeds is worse than before. If nothing has changed,
 * both campaigns are binomial samples with the same probability; given the sum of their violations, the
 * number in the newer one is hypergeometric, so the test (Fisher's) is exact at any size. The file is JSON:
 *
 *     {"fuzz_baseline": 1, "campaign": identity, "seeds": [first, last],
 *      "protocols": {"count, lease": {"findable": [seeds, seeds with a violation], ...}, ...}} */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "kernel/file.h"
#include "tune/sample.h"

#define FORMAT    1
#define SEEDS_MAX 1000000000 /* the most seeds of a campaign, since the test's counts have 32 bits */

static bool fail_damaged(const struct cli_fuzz_baseline *baseline, const char *why, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s: not a baseline of fuzz: %s; make it by the same command with --update-baseline",
                    baseline->path, why);
}

/* --- reading */

static bool read_pair(const json_t *value, json_int_t most, uint64_t *first, uint64_t *second)
{
    const json_t *one = json_array_get(value, 0), *other = json_array_get(value, 1);
    *first = (uint64_t)json_integer_value(one);
    *second = (uint64_t)json_integer_value(other);
    return json_array_size(value) == 2 && json_is_integer(one) && json_is_integer(other) &&
           *first <= (uint64_t)most && *second <= (uint64_t)most;
}

static bool read_stored(struct cli_fuzz_baseline *baseline, struct sim_error *error)
{
    char campaign[17];
    const char *stored = json_string_value(json_object_get(baseline->stored, "campaign")), *name;
    const json_t *format = json_object_get(baseline->stored, "fuzz_baseline");
    json_t *protocols = json_object_get(baseline->stored, "protocols"), *cells, *pair;
    struct cli_fuzz_cell cell;
    if (!json_is_integer(format) || json_integer_value(format) != FORMAT)
        return fail_damaged(baseline, "no 'fuzz_baseline: 1' in it", error);
    if (stored == NULL || !json_is_object(protocols) ||
        !read_pair(json_object_get(baseline->stored, "seeds"), INT64_MAX, &baseline->first, &baseline->last))
        return fail_damaged(baseline, "'campaign', 'seeds' or 'protocols' is missing", error);
    snprintf(campaign, sizeof campaign, "%016" PRIx64, baseline->identity);
    if (strcmp(campaign, stored) != 0)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "%s: a baseline of another campaign: SCENARIO, --set or --hold differ; give those that "
            "it was made with, or repeat this with --update-baseline",
            baseline->path);
    json_object_foreach(protocols, name, cells)
    {
        json_object_foreach(cells, name, pair)
        {
            if (!read_pair(pair, SEEDS_MAX, &cell.seeds, &cell.violated) || cell.violated > cell.seeds)
                return fail_damaged(baseline, "a cell is not [seeds, seeds with a violation]", error);
        }
    }
    return true;
}

bool cli_fuzz_baseline_read(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_base *base,
                            struct sim_error *error)
{
    json_error_t ignored;
    int problem;
    char why[SIM_REASON_SIZE];
    if (baseline->path == NULL)
        return true;
    if (!lab_fuzz_identity(base, &baseline->identity, error))
        return false;
    if (baseline->is_update)
        return cli_file_check("baseline", baseline->path, error);
    FILE *file = sim_input_stream(baseline->path, &problem);
    if (file == NULL && problem == ENOENT)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no such baseline; make it by the same command with --update-baseline",
                        baseline->path);
    if (file == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: the baseline cannot be read: %s; check its name and its permissions",
                        baseline->path, sim_input_reason(problem, why, sizeof why));
    baseline->stored = json_loadf(file, JSON_REJECT_DUPLICATES, &ignored);
    fclose(file);
    return baseline->stored != NULL ? read_stored(baseline, error)
                                    : fail_damaged(baseline, "it cannot be read as JSON", error);
}

/* --- comparing */

static gint by_chance(gconstpointer a, gconstpointer b)
{
    const struct cli_fuzz_shift *one = a, *other = b;
    if (one->chance != other->chance)
        return one->chance < other->chance ? -1 : 1;
    int order = (int)one->kind - (int)other->kind;
    order = order != 0 ? order : (int)one->protocol - (int)other->protocol;
    return order != 0 ? order : (int)one->share - (int)other->share;
}

/* Adds both directions of the cells of a protocol that both campaigns have judged. Returns false when the
 * baseline has none of the protocol. */
static bool collect(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_tally *tally, unsigned kind,
                    unsigned protocol)
{
    const json_t *cells = json_object_get(json_object_get(baseline->stored, "protocols"),
                                          lab_protocol_name((enum bk_kind)kind, protocol));
    bool has_seeds = false;
    for (unsigned share = 0; share < LAB_FUZZ_SHARES; share++) {
        const struct lab_fuzz_cell *cell = &tally->cells[kind][protocol][share];
        struct cli_fuzz_shift shift = {.kind = (enum bk_kind)kind,
                                       .protocol = protocol,
                                       .share = share,
                                       .now = {cell->seeds_judged, cell->seeds_uncovered}};
        read_pair(json_object_get(cells, lab_fuzz_share_name(share)), SEEDS_MAX, &shift.before.seeds,
                  &shift.before.violated);
        has_seeds = has_seeds || shift.before.seeds > 0;
        if (cell->seeds_judged == 0 || shift.before.seeds == 0)
            continue;
        shift.chance =
            tune_share_above(shift.now.violated, shift.now.seeds, shift.before.violated, shift.before.seeds);
        g_array_append_val(baseline->worse, shift);
        shift.chance =
            tune_share_above(shift.before.violated, shift.before.seeds, shift.now.violated, shift.now.seeds);
        g_array_append_val(baseline->better, shift);
    }
    return has_seeds;
}

/* Keeps the significant shifts, by their chance. */
static void keep_rare(GArray *shifts)
{
    const double most = CLI_FUZZ_FALSE_ALARM / shifts->len;
    guint rare = 0;
    g_array_sort(shifts, by_chance);
    while (rare < shifts->len && g_array_index(shifts, struct cli_fuzz_shift, rare).chance < most)
        rare++;
    g_array_set_size(shifts, rare);
}

bool cli_fuzz_baseline_compare(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_tally *tally,
                               struct sim_error *error)
{
    if (tally->seeds > SEEDS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --baseline: more than %d seeds cannot be compared; give fewer",
                        SEEDS_MAX);
    baseline->worse = g_array_new(FALSE, FALSE, sizeof(struct cli_fuzz_shift));
    baseline->better = g_array_new(FALSE, FALSE, sizeof(struct cli_fuzz_shift));
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            if (tally->runs[kind][protocol] > 0 && !collect(baseline, tally, kind, protocol))
                return sim_fail(error, SIM_ERROR_INPUT,
                                "%s: has no shares of %s; repeat this with --update-baseline", baseline->path,
                                lab_protocol_name((enum bk_kind)kind, protocol));
        }
    }
    baseline->compared = baseline->worse->len;
    keep_rare(baseline->worse);
    keep_rare(baseline->better);
    return true;
}

/* --- writing */

static json_t *pair_of(uint64_t first, uint64_t second)
{
    return cli_json_append(cli_json_append(json_array(), cli_json_whole(first)), cli_json_whole(second));
}

bool cli_fuzz_baseline_write(const struct cli_fuzz_baseline *baseline, const struct cli_campaign *campaign,
                             struct sim_error *error)
{
    json_t *protocols = json_object();
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            json_t *cells = json_object();
            for (unsigned share = 0; share < LAB_FUZZ_SHARES; share++) {
                const struct lab_fuzz_cell *cell = &campaign->tally.cells[kind][protocol][share];
                if (campaign->tally.runs[kind][protocol] > 0 && cell->seeds_judged > 0)
                    cells = cli_json_with(cells, lab_fuzz_share_name(share),
                                          pair_of(cell->seeds_judged, cell->seeds_uncovered));
            }
            if (json_object_size(cells) > 0)
                json_object_set_new(protocols, lab_protocol_name((enum bk_kind)kind, protocol),
                                    json_incref(cells));
            json_decref(cells);
        }
    }
    json_t *whole =
        CLI_OBJECT({"fuzz_baseline", json_integer(FORMAT)}, {"campaign", cli_json_digest(baseline->identity)},
                   {"seeds", pair_of(campaign->first, campaign->last)}, {"protocols", protocols});
    g_autofree char *text = json_dumps(whole, JSON_INDENT(2));
    g_autofree char *lines = g_strconcat(text, "\n", NULL);
    json_decref(whole);
    return cli_file_write(baseline->path, lines, strlen(lines), error);
}

/* --- printing */

static double percent(const struct cli_fuzz_cell *cell)
{
    return (double)cell->violated * 100 / (double)cell->seeds;
}

static void print_shifts(const char *word, const GArray *shifts)
{
    for (guint i = 0; i < shifts->len; i++) {
        const struct cli_fuzz_shift *shift = &g_array_index(shifts, struct cli_fuzz_shift, i);
        printf("%s: %s, '%s': %.2f %% of %" PRIu64 " seeds, before %.2f %% of %" PRIu64 " (chance %.1g)\n",
               word, lab_protocol_name(shift->kind, shift->protocol), lab_fuzz_share_name(shift->share),
               percent(&shift->now), shift->now.seeds, percent(&shift->before), shift->before.seeds,
               shift->chance);
    }
}

void cli_fuzz_baseline_print(const struct cli_fuzz_baseline *baseline)
{
    printf("\ncompared with ");
    cli_print_text(stdout, baseline->path);
    printf(" (seeds %" PRIu64 "..%" PRIu64 "): %zu shares compared, %u worse, %u better\n", baseline->first,
           baseline->last, baseline->compared, baseline->worse->len, baseline->better->len);
    print_shifts("worse", baseline->worse);
    print_shifts("better", baseline->better);
}

bool cli_fuzz_baseline_judge(const struct cli_fuzz_baseline *baseline, struct sim_error *error)
{
    if (baseline->worse == NULL || baseline->worse->len == 0)
        return true;
    const struct cli_fuzz_shift *worst = &g_array_index(baseline->worse, struct cli_fuzz_shift, 0);
    char more[48] = "";
    if (baseline->worse->len > 1)
        snprintf(more, sizeof more, ", and %u more shares", baseline->worse->len - 1);
    return sim_fail(
        error, SIM_ERROR_CHECK,
        "%s: '%s' of %s is worse: violated in %.2f %% of %" PRIu64 " seeds, %.2f %% of %" PRIu64
        " before%s; find out why, or, if the change is intended, repeat this with --update-baseline",
        baseline->path, lab_fuzz_share_name(worst->share), lab_protocol_name(worst->kind, worst->protocol),
        percent(&worst->now), worst->now.seeds, percent(&worst->before), worst->before.seeds, more);
}

static json_t *shifts_of(const GArray *shifts)
{
    json_t *list = json_array();
    for (guint i = 0; i < shifts->len; i++) {
        const struct cli_fuzz_shift *shift = &g_array_index(shifts, struct cli_fuzz_shift, i);
        list = cli_json_append(
            list, CLI_OBJECT({"strategy", json_string(lab_protocol_name(shift->kind, shift->protocol))},
                             {"oracle", json_string(lab_fuzz_share_name(shift->share))},
                             {"seeds", cli_json_whole(shift->now.seeds)},
                             {"violated", cli_json_whole(shift->now.violated)},
                             {"seeds_before", cli_json_whole(shift->before.seeds)},
                             {"violated_before", cli_json_whole(shift->before.violated)},
                             {"chance", cli_json_number(shift->chance)}));
    }
    return list;
}

json_t *cli_fuzz_baseline_json(const struct cli_fuzz_baseline *baseline)
{
    if (baseline->worse == NULL)
        return json_null();
    return CLI_OBJECT({"file", cli_json_words(baseline->path)},
                      {"compared", cli_json_whole(baseline->compared)}, {"worse", shifts_of(baseline->worse)},
                      {"better", shifts_of(baseline->better)});
}

void cli_fuzz_baseline_clear(struct cli_fuzz_baseline *baseline)
{
    json_decref(baseline->stored);
    if (baseline->worse != NULL) {
        g_array_free(baseline->worse, TRUE);
        g_array_free(baseline->better, TRUE);
    }
}
