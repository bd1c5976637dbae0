/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores baselines of `fuzz`, and decides when a share of seeds is worse than before. If nothing has changed,
 * both campaigns are binomial samples with the same probability; given the sum of their violations, the
 * number in the newer one is hypergeometric, so the test (Fisher's) is exact at any size. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/table.h"
#include "cli/text.h"
#include "kernel/file.h"
#include "lab/fields.h"
#include "tune/sample.h"

#define FORMAT    1
#define SEEDS_MAX 1000000000 /* the most seeds of a campaign, since the test's counts have 32 bits */
#define TEXT_MAX  (1u << 20)

static struct cli_fuzz_cell *cell_at(const struct cli_fuzz_baseline *baseline, unsigned kind,
                                     unsigned protocol, unsigned share)
{
    return &baseline->cells[(kind * LAB_PROTOCOL_COUNT + protocol) * LAB_FUZZ_SHARES + share];
}

/* Whether the kind has this protocol. Kinds without different protocols have protocol 0. */
static bool has_protocol(unsigned kind, unsigned protocol)
{
    unsigned count = 1;
    if (kind == BK_COUNT)
        count = LAB_PROTOCOL_COUNT;
    else if (bk_kind_fires((enum bk_kind)kind))
        count = BK_GUARDED + 1;
    else if (kind == (unsigned)LAB_KIND_IDGEN)
        count = 2;
    return protocol < count;
}

static bool fail_damaged(const struct cli_fuzz_baseline *baseline, const char *why, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s: not a baseline of fuzz: %s; make it by the same command with --update-baseline",
                    baseline->path, why);
}

/* --- reading */

static bool read_whole(const json_t *value, uint64_t most, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static bool read_pair(const json_t *value, uint64_t most, uint64_t *first, uint64_t *second)
{
    return json_array_size(value) == 2 && read_whole(json_array_get(value, 0), most, first) &&
           read_whole(json_array_get(value, 1), most, second);
}

static bool read_cells(struct cli_fuzz_baseline *baseline, const json_t *protocols, struct sim_error *error)
{
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            const json_t *cells =
                has_protocol(kind, protocol)
                    ? json_object_get(protocols, lab_protocol_name((enum bk_kind)kind, protocol))
                    : NULL;
            for (unsigned share = 0; cells != NULL && share < LAB_FUZZ_SHARES; share++) {
                const json_t *pair = json_object_get(cells, lab_fuzz_share_name(share));
                struct cli_fuzz_cell *cell = cell_at(baseline, kind, protocol, share);
                if (pair != NULL && (!read_pair(pair, SEEDS_MAX, &cell->seeds, &cell->violated) ||
                                     cell->violated > cell->seeds))
                    return fail_damaged(baseline, "a cell is not [seeds, seeds with a violation]", error);
            }
        }
    }
    return true;
}

static bool read_object(struct cli_fuzz_baseline *baseline, const json_t *root, struct sim_error *error)
{
    uint64_t format;
    char campaign[17];
    const char *stored = json_string_value(json_object_get(root, "campaign"));
    const json_t *protocols = json_object_get(root, "protocols");
    if (!read_whole(json_object_get(root, "fuzz_baseline"), INT64_MAX, &format) || format != FORMAT)
        return fail_damaged(baseline, "no 'fuzz_baseline: 1' in it", error);
    if (stored == NULL || !json_is_object(protocols) ||
        !read_pair(json_object_get(root, "seeds"), INT64_MAX, &baseline->first, &baseline->last))
        return fail_damaged(baseline, "'campaign', 'seeds' or 'protocols' is missing", error);
    snprintf(campaign, sizeof campaign, "%016" PRIx64, baseline->identity);
    if (strcmp(campaign, stored) != 0)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "%s: a baseline of another campaign: SCENARIO, --set or --hold differ; give those that "
            "it was made with, or repeat this with --update-baseline",
            baseline->path);
    return read_cells(baseline, protocols, error);
}

static bool read_text(const struct cli_fuzz_baseline *baseline, char *text, size_t *size,
                      struct sim_error *error)
{
    int problem;
    FILE *file = sim_input_stream(baseline->path, &problem);
    char why[SIM_REASON_SIZE];
    if (file == NULL && problem == ENOENT)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no such baseline; make it by the same command with --update-baseline",
                        baseline->path);
    *size = file == NULL ? 0 : fread(text, 1, TEXT_MAX, file);
    bool is_read = file != NULL && !ferror(file);
    problem = file != NULL ? EIO : problem;
    if (file != NULL)
        fclose(file);
    return is_read || sim_fail(error, SIM_ERROR_INPUT,
                               "%s: the baseline cannot be read: %s; check its name and its permissions",
                               baseline->path, sim_input_reason(problem, why, sizeof why));
}

bool cli_fuzz_baseline_read(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_base *base,
                            struct sim_error *error)
{
    size_t size = 0;
    json_error_t problem;
    if (baseline->path == NULL)
        return true;
    if (!lab_fuzz_identity(base, &baseline->identity, error))
        return false;
    if (baseline->is_update)
        return cli_text_file_check("baseline", baseline->path, error);
    baseline->cells = calloc(CLI_FUZZ_CELLS, sizeof *baseline->cells);
    char *text = malloc(TEXT_MAX);
    bool is_fine = (baseline->cells != NULL && text != NULL) || sim_fail_memory(error);
    is_fine = is_fine && read_text(baseline, text, &size, error);
    if (is_fine) {
        json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
        is_fine = root != NULL ? read_object(baseline, root, error)
                               : fail_damaged(baseline, "it cannot be read as JSON", error);
        json_decref(root);
    }
    free(text);
    return is_fine;
}

/* --- comparing */

static int by_chance(const void *a, const void *b)
{
    const struct cli_fuzz_shift *one = a, *other = b;
    if (one->chance != other->chance)
        return one->chance < other->chance ? -1 : 1;
    int order = (int)one->kind - (int)other->kind;
    order = order != 0 ? order : (int)one->protocol - (int)other->protocol;
    return order != 0 ? order : (int)one->share - (int)other->share;
}

static bool has_seeds(const struct cli_fuzz_baseline *baseline, unsigned kind, unsigned protocol)
{
    for (unsigned share = 0; share < LAB_FUZZ_SHARES; share++) {
        if (cell_at(baseline, kind, protocol, share)->seeds > 0)
            return true;
    }
    return false;
}

/* Collects both directions of all cells that both campaigns have judged; `shifts` has two entries for each,
 * worse and better. */
static bool collect(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_tally *tally,
                    struct sim_error *error)
{
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            if (tally->runs[kind][protocol] > 0 && !has_seeds(baseline, kind, protocol))
                return sim_fail(error, SIM_ERROR_INPUT,
                                "%s: has no shares of %s; repeat this with --update-baseline", baseline->path,
                                lab_protocol_name((enum bk_kind)kind, protocol));
            for (unsigned share = 0; share < LAB_FUZZ_SHARES; share++) {
                const struct lab_fuzz_cell *cell = &tally->cells[kind][protocol][share];
                const struct cli_fuzz_cell *before = cell_at(baseline, kind, protocol, share);
                if (cell->seeds_judged == 0 || before->seeds == 0)
                    continue;
                struct cli_fuzz_shift shift = {.kind = (enum bk_kind)kind,
                                               .protocol = protocol,
                                               .share = share,
                                               .before = *before,
                                               .now = {cell->seeds_judged, cell->seeds_uncovered}};
                shift.chance =
                    tune_share_above(shift.now.violated, shift.now.seeds, before->violated, before->seeds);
                baseline->worse[baseline->compared] = shift;
                shift.chance =
                    tune_share_above(before->violated, before->seeds, shift.now.violated, shift.now.seeds);
                baseline->better[baseline->compared++] = shift;
            }
        }
    }
    return true;
}

/* Sorts the shifts, and returns the number of significant ones, which come first. */
static size_t count_rare(struct cli_fuzz_shift *shifts, size_t count)
{
    size_t rare = 0;
    qsort(shifts, count, sizeof *shifts, by_chance);
    while (rare < count && shifts[rare].chance < CLI_FUZZ_FALSE_ALARM / (double)count)
        rare++;
    return rare;
}

bool cli_fuzz_baseline_compare(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_tally *tally,
                               struct sim_error *error)
{
    if (tally->seeds > SEEDS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --baseline: more than %d seeds cannot be compared; give fewer",
                        SEEDS_MAX);
    baseline->worse = calloc(CLI_FUZZ_CELLS, sizeof *baseline->worse);
    baseline->better = calloc(CLI_FUZZ_CELLS, sizeof *baseline->better);
    if (baseline->worse == NULL || baseline->better == NULL)
        return sim_fail_memory(error);
    if (!collect(baseline, tally, error))
        return false;
    baseline->worse_count = count_rare(baseline->worse, baseline->compared);
    baseline->better_count = count_rare(baseline->better, baseline->compared);
    return true;
}

/* --- writing */

static void write_protocol(struct lab_writer *writer, const struct cli_campaign *campaign, unsigned kind,
                           unsigned protocol, bool *is_first)
{
    bool has_cell = false;
    for (unsigned share = 0; share < LAB_FUZZ_SHARES; share++) {
        const struct lab_fuzz_cell *cell = &campaign->tally.cells[kind][protocol][share];
        if (cell->seeds_judged == 0)
            continue;
        if (!has_cell)
            lab_writer_add(writer, "%s\n    \"%s\": {", *is_first ? "" : ",",
                           lab_protocol_name((enum bk_kind)kind, protocol));
        lab_writer_add(writer, "%s\n      \"%s\": [%" PRIu64 ", %" PRIu64 "]", has_cell ? "," : "",
                       lab_fuzz_share_name(share), cell->seeds_judged, cell->seeds_uncovered);
        has_cell = true;
        *is_first = false;
    }
    if (has_cell)
        lab_writer_add(writer, "\n    }");
}

bool cli_fuzz_baseline_write(const struct cli_fuzz_baseline *baseline, const struct cli_campaign *campaign,
                             struct sim_error *error)
{
    struct lab_writer writer = {0};
    bool is_first = true;
    lab_writer_add(&writer,
                   "{\n  \"fuzz_baseline\": %d,\n  \"campaign\": \"%016" PRIx64 "\",\n"
                   "  \"seeds\": [%" PRIu64 ", %" PRIu64 "],\n  \"protocols\": {",
                   FORMAT, baseline->identity, campaign->first, campaign->last);
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            if (campaign->tally.runs[kind][protocol] > 0)
                write_protocol(&writer, campaign, kind, protocol, &is_first);
        }
    }
    lab_writer_add(&writer, "\n  }\n}\n");
    char *text = lab_writer_take(&writer);
    if (text == NULL)
        return sim_fail_memory(error);
    bool is_fine = cli_text_file_write(baseline->path, text, strlen(text), error);
    free(text);
    return is_fine;
}

/* --- printing */

static double percent(const struct cli_fuzz_cell *cell)
{
    return (double)cell->violated * 100 / (double)cell->seeds;
}

static void print_shift(const char *word, const struct cli_fuzz_shift *shift)
{
    printf("%s: %s, '%s': %.2f %% of %" PRIu64 " seeds, before %.2f %% of %" PRIu64 " (chance %.1g)\n", word,
           lab_protocol_name(shift->kind, shift->protocol), lab_fuzz_share_name(shift->share),
           percent(&shift->now), shift->now.seeds, percent(&shift->before), shift->before.seeds,
           shift->chance);
}

void cli_fuzz_baseline_print(const struct cli_fuzz_baseline *baseline)
{
    printf("\ncompared with ");
    cli_print_text(stdout, baseline->path);
    printf(" (seeds %" PRIu64 "..%" PRIu64 "): %zu shares compared, %zu worse, %zu better\n", baseline->first,
           baseline->last, baseline->compared, baseline->worse_count, baseline->better_count);
    for (size_t i = 0; i < baseline->worse_count; i++)
        print_shift("worse", &baseline->worse[i]);
    for (size_t i = 0; i < baseline->better_count; i++)
        print_shift("better", &baseline->better[i]);
}

bool cli_fuzz_baseline_judge(const struct cli_fuzz_baseline *baseline, struct sim_error *error)
{
    if (baseline->worse_count == 0)
        return true;
    const struct cli_fuzz_shift *worst = &baseline->worse[0];
    char more[48] = "";
    if (baseline->worse_count > 1)
        snprintf(more, sizeof more, ", and %zu more shares", baseline->worse_count - 1);
    return sim_fail(
        error, SIM_ERROR_CHECK,
        "%s: '%s' of %s is worse: violated in %.2f %% of %" PRIu64 " seeds, %.2f %% of %" PRIu64
        " before%s; find out why, or, if the change is intended, repeat this with --update-baseline",
        baseline->path, lab_fuzz_share_name(worst->share), lab_protocol_name(worst->kind, worst->protocol),
        percent(&worst->now), worst->now.seeds, percent(&worst->before), worst->before.seeds, more);
}

static json_t *shifts_of(const struct cli_fuzz_shift *shifts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct cli_fuzz_shift *shift = &shifts[i];
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
    return CLI_OBJECT({"file", json_string(baseline->path)}, {"compared", cli_json_whole(baseline->compared)},
                      {"worse", shifts_of(baseline->worse, baseline->worse_count)},
                      {"better", shifts_of(baseline->better, baseline->better_count)});
}

void cli_fuzz_baseline_clear(struct cli_fuzz_baseline *baseline)
{
    free(baseline->cells);
    free(baseline->worse);
    free(baseline->better);
}
