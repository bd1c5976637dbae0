/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what a campaign found, as lines or as JSON. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"

#define LISTED_MAX 20u /* the most broken guarantees that are listed */

static char *line_of(const struct lab_fuzz_base *base, const char *seeds)
{
    /* A quote in the text may become four characters. */
    size_t size =
        64 + strlen(seeds) + LAB_CONDITION_COUNT * 40 + (base->path == NULL ? 0 : 4 * strlen(base->path));
    for (size_t i = 0; i < base->override_count; i++)
        size += 16 + 4 * strlen(base->overrides[i].text);
    char *line = malloc(size);
    if (line == NULL)
        return NULL;
    size_t used = (size_t)snprintf(line, size, "bucketlab fuzz");
    if (base->path != NULL) {
        line[used++] = ' ';
        used += cli_quote(base->path, line + used);
    }
    for (size_t i = 0; i < base->override_count; i++) {
        used += (size_t)snprintf(line + used, size - used, " --set ");
        used += cli_quote(base->overrides[i].text, line + used);
    }
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
        if (base->held >> i & 1)
            used += (size_t)snprintf(line + used, size - used, " --hold %s",
                                     lab_condition_name((enum lab_condition)i));
    }
    snprintf(line + used, size - used, " --seeds %s", seeds);
    return line;
}

char *cli_fuzz_replay(const struct lab_fuzz_base *base, uint64_t seed)
{
    char seeds[2 * CLI_NUMBER_SIZE];
    snprintf(seeds, sizeof seeds, "%" PRIu64 "..%" PRIu64, seed, seed);
    return line_of(base, seeds);
}

char *cli_fuzz_rest(const struct cli_campaign *campaign)
{
    char seeds[4 * CLI_NUMBER_SIZE], last[CLI_NUMBER_SIZE] = "", time[CLI_NUMBER_SIZE];
    if (campaign->last < INT64_MAX)
        snprintf(last, sizeof last, "%" PRIu64, campaign->last);
    size_t used = (size_t)snprintf(seeds, sizeof seeds, "%" PRIu64 "..%s",
                                   campaign->first + campaign->tally.seeds, last);
    if (campaign->for_ms > 0) {
        lab_quantity_duration_text(campaign->for_ms * (SIM_SECOND / 1000), time, sizeof time);
        used += (size_t)snprintf(seeds + used, sizeof seeds - used, " --for %s", time);
    }
    if (campaign->keeps_going)
        snprintf(seeds + used, sizeof seeds - used, " --keep-going");
    return line_of(campaign->base, seeds);
}

static double rate_of(const struct cli_campaign *campaign)
{
    int64_t elapsed_ms = campaign->elapsed_ms > 0 ? campaign->elapsed_ms : 1;
    return (double)campaign->tally.seeds * 1000 / (double)elapsed_ms;
}

static void print_head(const struct cli_campaign *campaign)
{
    const struct lab_fuzz_tally *tally = &campaign->tally;
    char seeds[CLI_NUMBER_SIZE], rows[CLI_NUMBER_SIZE], rolls[CLI_NUMBER_SIZE];
    cli_grouped(tally->seeds, seeds);
    cli_grouped(lab_fuzz_median(&tally->rows), rows);
    cli_grouped(lab_fuzz_median(&tally->rolls), rolls);
    printf("%s seed%s from %" PRIu64 " on, %.0f seeds/s; the median seed has %s rows and %s rolls\n", seeds,
           tally->seeds == 1 ? "" : "s", campaign->first, rate_of(campaign), rows, rolls);
    if (campaign->breach_count == 0)
        printf("no guarantee was broken\n");
}

static void print_breaches(const struct cli_campaign *campaign)
{
    for (size_t i = 0; i < campaign->breach_count && i < LISTED_MAX; i++) {
        const struct cli_breach *breach = &campaign->breaches[i];
        printf("seed %" PRIu64 ": ", breach->seed);
        cli_print_text(stdout, breach->label);
        printf(" breaks '%s'%s", lab_oracle_name(breach->oracle), breach->key[0] == '\0' ? "" : " of ");
        cli_print_text(stdout, breach->key);
        printf(": ");
        cli_print_text(stdout, breach->violation.text);
        putchar('\n');
    }
    if (campaign->breach_count > LISTED_MAX)
        printf("and %zu more\n", campaign->breach_count - LISTED_MAX);
    putchar('\n');
}

static bool is_guaranteed(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle)
{
    return lab_guarantee_find(kind, protocol, oracle) != NULL;
}

/* Prints, per condition, the number of runs in which it suspended the guarantee for some key at some time,
 * most frequent first, and in how many of these it excused a violation. */
static void print_lapses(const struct lab_fuzz_cell *cell)
{
    bool is_told[LAB_CONDITION_COUNT] = {false};
    printf("  not in %" PRIu64 ":", cell->judged - cell->guaranteed);
    for (unsigned told = 0; told < LAB_CONDITION_COUNT; told++) {
        unsigned most = LAB_CONDITION_COUNT;
        for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
            if (!is_told[i] && cell->lapsed[i] > (most == LAB_CONDITION_COUNT ? 0 : cell->lapsed[most]))
                most = i;
        }
        if (most == LAB_CONDITION_COUNT)
            break;
        is_told[most] = true;
        printf("%s%s %" PRIu64, told == 0 ? " " : ", ", lab_condition_name((enum lab_condition)most),
               cell->lapsed[most]);
        if (cell->excuses[most] > 0)
            printf(" (%" PRIu64 " violated)", cell->excuses[most]);
    }
}

/* Prints in how many runs the oracle was guaranteed and broken, and why it was not guaranteed in the
 * others. */
static void print_cell(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle,
                       const struct lab_fuzz_cell *cell)
{
    if (cell->judged == 0)
        return;
    printf("  %-22s %8" PRIu64, lab_oracle_name(oracle), cell->judged);
    if (!is_guaranteed(kind, protocol, oracle)) {
        printf(" %10s %8s %8" PRIu64 "  never guaranteed\n", "-", "-", cell->violated);
        return;
    }
    printf(" %10" PRIu64 " %8" PRIu64 " %8" PRIu64, cell->guaranteed, cell->broken, cell->violated);
    if (cell->guaranteed < cell->judged)
        print_lapses(cell);
    putchar('\n');
}

static void print_guarantees(const struct lab_fuzz_tally *tally)
{
    uint64_t not_live = 0;
    bool has_unbroken = false;
    printf("\n%-24s %8s %10s %8s %8s\n", "in numbers of runs", "judged", "guaranteed", "broken", "violated");
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            uint64_t runs = tally->runs[kind][protocol];
            const struct lab_fuzz_cell *cells = tally->cells[kind][protocol];
            if (runs > 0)
                printf("%s, %" PRIu64 " run%s\n", lab_protocol_name((enum bk_kind)kind, protocol), runs,
                       runs == 1 ? "" : "s");
            for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
                print_cell((enum bk_kind)kind, protocol, (enum lab_oracle)oracle, &cells[oracle]);
                has_unbroken = has_unbroken || cells[oracle].violated > cells[oracle].broken;
            }
            if (bk_kind_fires((enum bk_kind)kind))
                not_live += runs - cells[LAB_ORACLE_LIVE].judged;
        }
    }
    if (has_unbroken)
        printf("violated but not broken: the strategy does not guarantee this, or a condition excused it\n");
    if (not_live > 0)
        printf("live was not judged in %" PRIu64 " run%s: too little time was left after the faults\n",
               not_live, not_live == 1 ? "" : "s");
}

static bool lapses_anywhere(const struct lab_fuzz_tally *tally, unsigned condition)
{
    for (unsigned kind = 0; kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; protocol < LAB_PROTOCOL_COUNT; protocol++) {
            for (unsigned oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
                if (tally->cells[kind][protocol][oracle].lapsed[condition] > 0)
                    return true;
            }
        }
    }
    return false;
}

/* The meaning of each condition that the table names. */
static void print_conditions(const struct lab_fuzz_tally *tally)
{
    bool has_head = false;
    for (unsigned condition = 0; condition < LAB_CONDITION_COUNT; condition++) {
        if (!lapses_anywhere(tally, condition))
            continue;
        if (!has_head)
            printf("\nconditions that suspend a guarantee, for a key and a time\n");
        has_head = true;
        printf("  %-22s %s\n", lab_condition_name((enum lab_condition)condition),
               lab_condition_about((enum lab_condition)condition));
    }
}

static void print_probes(const struct lab_fuzz_tally *tally)
{
    printf("\n%-34s %8s %8s\n", "rare paths", "seeds", "share");
    for (unsigned probe = 0; probe < LAB_PROBE_COUNT; probe++) {
        uint64_t hits = tally->probes[probe];
        printf("%-34s %8" PRIu64 " %6.1f %%\n", lab_probe_name((enum lab_probe)probe), hits,
               tally->seeds == 0 ? 0.0 : (double)hits * 100 / (double)tally->seeds);
    }
}

void cli_fuzz_print(const struct cli_campaign *campaign, const char *replay, const char *rest,
                    const struct cli_finding *finding)
{
    if (finding->path != NULL) {
        cli_finding_print(finding);
        printf("\nagain:  ");
        cli_print_text(stdout, replay);
        printf("\nshrunk: bucketlab run ");
        cli_print_quoted(stdout, finding->path);
        printf(" --no-charts --trace-events -");
        if (finding->after.key[0] != '\0') {
            printf(" --key ");
            cli_print_quoted(stdout, finding->after.key);
        }
        printf("\n\n");
    } else if (campaign->breach_count > 0) {
        print_breaches(campaign);
    }
    print_head(campaign);
    if (campaign->breach_count == 0 || campaign->keeps_going) {
        print_guarantees(&campaign->tally);
        print_conditions(&campaign->tally);
        print_probes(&campaign->tally);
    }
    if (rest != NULL) {
        printf("\nnext seeds: ");
        cli_print_text(stdout, rest);
        putchar('\n');
    }
}

static json_t *probes_of(const struct lab_fuzz_tally *tally)
{
    json_t *object = json_object();
    bool is_fine = true;
    for (unsigned probe = 0; is_fine && probe < LAB_PROBE_COUNT; probe++)
        is_fine =
            cli_json_set(object, lab_probe_name((enum lab_probe)probe), cli_json_whole(tally->probes[probe]));
    return cli_json_complete(object, is_fine);
}

static json_t *failures_of(const struct cli_campaign *campaign, const struct lab_fuzz_base *base,
                           const struct cli_finding *finding)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < campaign->breach_count; i++) {
        const struct cli_breach *breach = &campaign->breaches[i];
        bool is_shrunk = i == 0 && finding->path != NULL;
        char *replay = cli_fuzz_replay(base, breach->seed);
        json_t *object = json_object();
        bool is_fine =
            replay != NULL && cli_json_set(object, "seed", cli_json_whole(breach->seed)) &&
            cli_json_set(object, "strategy", json_string(breach->label)) &&
            cli_json_set(object, "oracle", json_string(lab_oracle_name(breach->oracle))) &&
            cli_json_set(object, "key", breach->key[0] == '\0' ? json_null() : json_string(breach->key)) &&
            cli_json_set(object, "seconds", cli_json_number((double)breach->since_ns / 1e9)) &&
            cli_json_set(object, "violations", cli_json_whole(breach->violation.count)) &&
            cli_json_set(object, "text", json_string(breach->violation.text)) &&
            cli_json_set(object, "replay", json_string(replay)) &&
            cli_json_set(object, "scenario", is_shrunk ? json_string(finding->path) : json_null());
        free(replay);
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

/* Numbers of runs per condition, without zeros. */
static json_t *conditions_of(const uint64_t runs[LAB_CONDITION_COUNT])
{
    json_t *object = json_object();
    bool is_fine = true;
    for (unsigned i = 0; is_fine && i < LAB_CONDITION_COUNT; i++) {
        if (runs[i] > 0)
            is_fine =
                cli_json_set(object, lab_condition_name((enum lab_condition)i), cli_json_whole(runs[i]));
    }
    return cli_json_complete(object, is_fine);
}

static json_t *cell_of(enum bk_kind kind, unsigned protocol, enum lab_oracle oracle,
                       const struct lab_fuzz_cell *cell)
{
    bool has_guarantee = is_guaranteed(kind, protocol, oracle);
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "excused", conditions_of(cell->excuses)) &&
        cli_json_set(object, "not_guaranteed", conditions_of(cell->lapsed)) &&
        cli_json_set(object, "guaranteed", has_guarantee ? cli_json_whole(cell->guaranteed) : json_null()) &&
        cli_json_set(object, "strategy", json_string(lab_protocol_name(kind, protocol))) &&
        cli_json_set(object, "oracle", json_string(lab_oracle_name(oracle))) &&
        cli_json_set(object, "judged", cli_json_whole(cell->judged)) &&
        cli_json_set(object, "violated", cli_json_whole(cell->violated)) &&
        cli_json_set(object, "excused_runs", has_guarantee ? cli_json_whole(cell->excused) : json_null()) &&
        cli_json_set(object, "broken", cli_json_whole(cell->broken));
    return cli_json_complete(object, is_fine);
}

static json_t *guarantees_of(const struct lab_fuzz_tally *tally)
{
    json_t *list = json_array();
    for (unsigned kind = 0; list != NULL && kind < LAB_FUZZ_KINDS; kind++) {
        for (unsigned protocol = 0; list != NULL && protocol < LAB_PROTOCOL_COUNT; protocol++) {
            for (unsigned oracle = 0; list != NULL && oracle < LAB_ORACLE_COUNT; oracle++) {
                const struct lab_fuzz_cell *cell = &tally->cells[kind][protocol][oracle];
                if (cell->judged > 0)
                    list = cli_json_append(
                        list, cell_of((enum bk_kind)kind, protocol, (enum lab_oracle)oracle, cell));
            }
        }
    }
    return list;
}

json_t *cli_fuzz_json(const struct cli_campaign *campaign, const struct lab_fuzz_base *base,
                      const struct cli_finding *finding, json_t *baseline)
{
    const struct lab_fuzz_tally *tally = &campaign->tally;
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "baseline", baseline) &&
                   cli_json_set(object, "seeds", cli_json_whole(tally->seeds)) &&
                   cli_json_set(object, "seeds_per_second", cli_json_number(rate_of(campaign))) &&
                   cli_json_set(object, "first", cli_json_whole(campaign->first)) &&
                   cli_json_set(object, "last", cli_json_whole(campaign->last)) &&
                   cli_json_set(object, "next", cli_json_whole(campaign->first + tally->seeds)) &&
                   cli_json_set(object, "rows_median", cli_json_whole(lab_fuzz_median(&tally->rows))) &&
                   cli_json_set(object, "rolls_median", cli_json_whole(lab_fuzz_median(&tally->rolls))) &&
                   cli_json_set(object, "guarantees", guarantees_of(tally)) &&
                   cli_json_set(object, "probes", probes_of(tally)) &&
                   cli_json_set(object, "failures", failures_of(campaign, base, finding));
    return cli_json_complete(object, is_fine);
}
