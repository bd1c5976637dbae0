/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab ids: tests whether a user's ids have random bits where a strategy takes them. */
#include "ids/ids.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/table.h"
#include "cli/text.h"

#define BITS_DEFAULT 9
#define TEXT_SIZE    160

/* The names of each enum bk_id_kind in --kind and in the core. */
static const struct {
    const char *option, *symbol;
} kinds[BK_ID_KIND_COUNT] = {{"timeuuid", "BK_ID_TIMEUUID"},   {"uuid4", "BK_ID_UUID4"},
                             {"uuid7", "BK_ID_UUID7"},         {"ulid", "BK_ID_ULID"},
                             {"snowflake", "BK_ID_SNOWFLAKE"}, {"bytes", "BK_ID_BYTES"}};

static const struct cli_option options[] = {
    {"bits", "N", "bits that the strategy takes, 1 to 32 (default 9)"},
    {"column", "NAME", "the column of the ids, in a file with a header\n(default: the first)"},
    {"kind", "KIND",
     "timeuuid, uuid4, uuid7, ulid, snowflake or bytes\n"
     "(default: that of most ids)"},
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

static bool read_kind(const struct cli_args *args, enum bk_id_kind *out, struct sim_error *error)
{
    const char *name = cli_value(args, "kind", NULL);
    *out = BK_ID_KIND_COUNT;
    for (int kind = 0; name != NULL && kind < BK_ID_KIND_COUNT; kind++) {
        if (strcmp(name, kinds[kind].option) == 0)
            *out = (enum bk_id_kind)kind;
    }
    if (name == NULL || *out != BK_ID_KIND_COUNT)
        return true;
    return sim_fail(
        error, SIM_ERROR_INPUT,
        "bucketlab: --kind: no kind '%s'; the kinds are timeuuid, uuid4, uuid7, ulid, snowflake, bytes",
        name);
}

static void describe_worst(const struct ids_bits *bits, char *out)
{
    const char *of = bits->is_of_process ? " of one process" : "";
    switch (bits->test) {
    case IDS_TEST_BIT:
        snprintf(out, TEXT_SIZE, "bit %" PRIu32 " is 1 in %.3g%% of ids%s", bits->bit, 100 * bits->share, of);
        return;
    case IDS_TEST_PAIR:
        snprintf(out, TEXT_SIZE, "bits %" PRIu32 " and %" PRIu32 " are equal in %.3g%% of ids%s", bits->other,
                 bits->bit, 100 * bits->share, of);
        return;
    case IDS_TEST_SERIAL:
        snprintf(out, TEXT_SIZE, "bit %" PRIu32 " equals that of the previous id in %.3g%% of ids%s",
                 bits->bit, 100 * bits->share, of);
        return;
    case IDS_TEST_FIRE:
        snprintf(out, TEXT_SIZE, "all bits are 1 in %.3g%% of ids%s", 100 * bits->share, of);
        return;
    case IDS_TEST_COUNT:
        break;
    }
    out[0] = '\0';
}

static json_t *as_json(const struct ids_bits *bits)
{
    char worst[TEXT_SIZE];
    describe_worst(bits, worst);
    return CLI_OBJECT({"random", json_boolean(bits->is_random)},
                      {"constant_bits", json_integer(bits->constant)},
                      {"all_ones_share", cli_json_number(bits->fires)}, {"furthest", json_string(worst)},
                      {"chance", cli_json_number(bits->chance)});
}

static json_t *rows_of(const struct ids_verdict *verdict)
{
    const struct {
        const char *name;
        const struct ids_bits *bits;
    } of[] = {{"lowest", &verdict->lowest}, {"bk_id_bits()", &verdict->taken}};
    json_t *rows = json_array();
    for (size_t i = 0; i < 2; i++) {
        json_t *row = cli_json_with(as_json(of[i].bits), "name", json_string(of[i].name));
        row = cli_json_with(row, "verdict", json_string(of[i].bits->is_random ? "random" : "biased"));
        row = cli_json_with(row, "all", json_sprintf("%.3f%%", 100 * of[i].bits->fires));
        rows = cli_json_append(rows, row);
    }
    return rows;
}

static void print_table(const json_t *rows, uint32_t bits)
{
    char title[CLI_NUMBER_SIZE];
    const struct cli_column columns[] = {{title, "name", CLI_LABEL, .group = NULL},
                                         {"verdict", "verdict", CLI_WORDS, .group = NULL},
                                         {"constant", "constant_bits", CLI_EXACT, .group = NULL},
                                         {"all are 1", "all", CLI_EXACT, .group = NULL},
                                         {"furthest from random", "furthest", CLI_WORDS, .group = NULL}};
    snprintf(title, sizeof title, "%" PRIu32 " bits", bits);
    cli_table_print(
        stdout, &(struct cli_table){.rows = rows, .columns = columns, .count = 5, .lead = "  ", .gap = 2});
}

static bool print_text(const struct ids_sample *sample, const struct ids_verdict *verdict, uint32_t bits,
                       struct sim_error *error)
{
    char count[CLI_NUMBER_SIZE], text[512];
    json_t *rows = rows_of(verdict);
    if (rows == NULL)
        return sim_fail_memory(error);
    cli_grouped(verdict->count, count);
    printf("%s ids: %s", count, bk_id_kind_name(sample->kind));
    if (verdict->processes > 0) {
        cli_grouped(verdict->processes, count);
        printf(", of %s process%s", count, verdict->processes == 1 ? "" : "es");
    }
    if (verdict->repeated > 0) {
        cli_grouped(verdict->repeated, count);
        printf("; %s repeated", count);
    }
    printf("\n\n");
    print_table(rows, bits);
    json_decref(rows);
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
    return true;
}

static bool print_json(const struct ids_sample *sample, const struct ids_verdict *verdict, uint32_t bits,
                       struct sim_error *error)
{
    return cli_json_print(
        CLI_OBJECT({"kind", json_string(kinds[sample->kind].option)}, {"bits", json_integer(bits)},
                   {"ids", cli_json_whole(verdict->count)}, {"repeated", cli_json_whole(verdict->repeated)},
                   {"processes", verdict->processes > 0 ? cli_json_whole(verdict->processes) : json_null()},
                   {"lowest", as_json(&verdict->lowest)}, {"taken", as_json(&verdict->taken)}),
        error);
}

static int ids(const struct cli_args *args, struct sim_error *error)
{
    uint64_t bits = BITS_DEFAULT;
    enum bk_id_kind kind;
    struct ids_sample sample;
    struct ids_verdict verdict;
    if (!cli_whole(args, "bits", 1, IDS_BITS_MAX, &bits, error) || !read_kind(args, &kind, error) ||
        !ids_read(cli_argument(args, 0), cli_value(args, "column", NULL), kind, &sample, error))
        return (int)error->class;
    bool is_fine = ids_judge(&sample, (uint32_t)bits, &verdict, error);
    if (is_fine && cli_has(args, "json"))
        is_fine = print_json(&sample, &verdict, (uint32_t)bits, error);
    else if (is_fine)
        is_fine = print_text(&sample, &verdict, (uint32_t)bits, error);
    ids_free(&sample);
    if (!is_fine)
        return (int)error->class;
    return verdict.taken.is_random ? 0 : SIM_ERROR_CHECK;
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
