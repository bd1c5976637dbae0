/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab ids: tests whether a user's ids have random bits where a strategy takes them. */
#include "ids/ids.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/base.h"

#define BITS_DEFAULT 9

/* The names of each enum bk_id_kind in --kind and in the core. */
static const struct {
    const char *option, *symbol;
} kinds[BK_ID_KINDS] = {{"timeuuid", "BK_ID_TIMEUUID"},   {"uuid4", "BK_ID_UUID4"},
                        {"uuid7", "BK_ID_UUID7"},         {"ulid", "BK_ID_ULID"},
                        {"snowflake", "BK_ID_SNOWFLAKE"}, {"bytes", "BK_ID_BYTES"}};

static const struct cli_option options[] = {
    {"bits", "N", "bits that the strategy takes, 1 to 32 (default 9)"},
    {"column", "NAME", "the column of the ids, in a file with a header\n(default: that with the most ids)"},
    {"kind", "timeuuid|uuid4|uuid7|ulid|snowflake|bytes", "(default: that of most ids)"},
    {NULL, NULL, NULL}};

static json_t *describe_worst(const struct ids_bits *bits)
{
    const char *of = bits->is_of_process ? " of one process" : "";
    const double percent = 100 * bits->share;
    switch (bits->test) {
    case IDS_TEST_BIT:
        return json_sprintf("bit %" PRIu32 " is 1 in %.3g%% of ids%s", bits->bit, percent, of);
    case IDS_TEST_PAIR:
        return json_sprintf("bits %" PRIu32 " and %" PRIu32 " are equal in %.3g%% of ids%s", bits->other,
                            bits->bit, percent, of);
    case IDS_TEST_SERIAL:
        return json_sprintf("bit %" PRIu32 " equals that of the previous id in %.3g%% of ids%s", bits->bit,
                            percent, of);
    case IDS_TEST_FIRE:
        return json_sprintf("all bits are 1 in %.3g%% of ids%s", percent, of);
    case IDS_TEST_COUNT:
        break;
    }
    return json_string("");
}

static json_t *as_json(const struct ids_bits *bits)
{
    return CLI_OBJECT({"random", json_boolean(bits->is_random)},
                      {"constant_bits", json_integer(bits->constant)},
                      {"all_ones_share", cli_json_number(bits->fires)}, {"furthest", describe_worst(bits)},
                      {"chance", cli_json_number(bits->chance)});
}

static void print_table(const struct ids_verdict *verdict, uint32_t bits)
{
    char title[CLI_NUMBER_SIZE];
    const struct cli_column columns[] = {{title, "name", CLI_LABEL, .group = NULL},
                                         {"verdict", "verdict", CLI_WORDS, .group = NULL},
                                         {"constant", "constant_bits", CLI_EXACT, .group = NULL},
                                         {"all are 1", "all", CLI_EXACT, .group = NULL},
                                         {"furthest from random", "furthest", CLI_WORDS, .group = NULL}};
    json_t *rows = json_array();
    for (int i = 0; i < 2; i++) {
        const struct ids_bits *one = i == 0 ? &verdict->lowest : &verdict->taken;
        json_t *row = cli_json_with(as_json(one), "name", json_string(i == 0 ? "lowest" : "bk_id_bits()"));
        row = cli_json_with(row, "verdict", json_string(one->is_random ? "random" : "biased"));
        rows = cli_json_append(rows, cli_json_with(row, "all", json_sprintf("%.3f%%", 100 * one->fires)));
    }
    snprintf(title, sizeof title, "%" PRIu32 " bits", bits);
    cli_table_print(
        stdout, &(struct cli_table){.rows = rows, .columns = columns, .count = 5, .lead = "  ", .gap = 2});
    json_decref(rows);
}

static void print_text(const struct ids_sample *sample, const struct ids_verdict *verdict, uint32_t bits)
{
    char count[CLI_NUMBER_SIZE], text[512];
    cli_grouped(verdict->count, count);
    printf("%s ids: %s", count, bk_id_kind_name(sample->kind));
    if (sample->form != NULL)
        printf(" (%s)", sample->form);
    if (verdict->processes > 0) {
        cli_grouped(verdict->processes, count);
        printf(", of %s process%s", count, verdict->processes == 1 ? "" : "es");
    }
    if (verdict->repeated > 0) {
        cli_grouped(verdict->repeated, count);
        printf("; %s repeated", count);
    }
    printf("\n\n");
    print_table(verdict, bits);
    printf("\nRandom bits are all 1 in %.3f%% of ids.\n", 100 * ldexp(1, -(int)bits));
    const char *trap = ids_trap(sample->kind);
    if (trap != NULL && !verdict->lowest.is_random)
        cli_print_paragraph(trap);
    snprintf(
        text, sizeof text,
        verdict->taken.is_random
            ? "Take the bits with bk_id_bits(%s, ...) of bucketing/id.h, in all agents alike."
            : "Not even bk_id_bits(%s, ...) gives random bits: too many ids are equal, or they are not ids "
              "of rows. Add a column of random bits, or use another strategy than probabilistic, weighted "
              "and hash.",
        kinds[sample->kind].symbol);
    cli_print_paragraph(text);
}

static void print_json(const struct ids_sample *sample, const struct ids_verdict *verdict, uint32_t bits)
{
    cli_json_print(
        CLI_OBJECT({"kind", json_string(kinds[sample->kind].option)},
                   {"form", sample->form == NULL ? json_null() : json_string(sample->form)},
                   {"bits", json_integer(bits)}, {"ids", cli_json_whole(verdict->count)},
                   {"repeated", cli_json_whole(verdict->repeated)},
                   {"processes", verdict->processes > 0 ? cli_json_whole(verdict->processes) : json_null()},
                   {"lowest", as_json(&verdict->lowest)}, {"taken", as_json(&verdict->taken)}));
}

static bool ids(const struct cli_args *args, struct sim_error *error)
{
    uint64_t bits = BITS_DEFAULT;
    enum bk_id_kind kind = BK_ID_KINDS;
    struct ids_sample sample;
    struct ids_verdict verdict;
    for (int i = 0; i < BK_ID_KINDS; i++)
        kind = cli_chooses(args, "kind", kinds[i].option) ? (enum bk_id_kind)i : kind;
    if (!cli_whole(args, "bits", 1, IDS_BITS_MAX, &bits, error) ||
        !ids_read(cli_argument(args, 0), cli_value(args, "column", NULL), kind, &sample, error))
        return false;
    bool is_fine = ids_judge(&sample, (uint32_t)bits, &verdict, error);
    if (is_fine && args->is_json)
        print_json(&sample, &verdict, (uint32_t)bits);
    else if (is_fine)
        print_text(&sample, &verdict, (uint32_t)bits);
    ids_free(&sample);
    if (is_fine && !verdict.taken.is_random)
        error->class = SIM_ERROR_CHECK;
    return is_fine && verdict.taken.is_random;
}

const struct cli_command cli_ids = {
    .name = "ids",
    .arguments = "FILE",
    .summary = "test whether ids have the random bits that strategies need",
    .example = "  bucketlab ids ids.csv\n"
               "  bucketlab ids messages.csv.gz --column message_id --bits 12\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = ids,
};
