/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the runs of a check with the stored baseline. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "cli/difference.h"

/* The explanation of a changed digest; each part is "" or begins with "; ". */
struct moved {
    char where[512];  /* the first strategy that differs */
    char change[256]; /* the change of the scenario */
    char version[96];
};

static void tell_strategy(const struct lab_strategy_result *one, const struct lab_strategy_result *now,
                          char *buffer, size_t size)
{
    struct cli_difference difference;
    int used = snprintf(buffer, size, "; first to differ: strategy %s", one->label);
    buffer += used;
    size -= (size_t)used;
    if (!cli_difference_find(&one->events, &now->events, &difference))
        snprintf(buffer, size, ", placement %016" PRIx64 ", baseline %016" PRIx64, now->placement_digest,
                 one->placement_digest);
    else if (difference.is_placed && difference.first < difference.last)
        snprintf(buffer, size, " between events %" PRIu64 " and %" PRIu64, difference.first, difference.last);
    else if (difference.is_placed)
        snprintf(buffer, size, " at event %" PRIu64, difference.first);
    else
        snprintf(buffer, size, ", %" PRIu64 " events, baseline %" PRIu64, now->events.events,
                 one->events.events);
}

static bool is_same_strategy(const struct lab_strategy_result *one, const struct lab_strategy_result *other)
{
    return one->placement_digest == other->placement_digest && one->events.digest == other->events.digest;
}

static void tell_where(const struct lab_result *one, const struct lab_result *now, struct moved *out)
{
    size_t differ = 0;
    for (size_t i = 0; i < one->strategy_count; i++) {
        const struct lab_strategy_result *old = &one->strategies[i];
        const struct lab_strategy_result *other = cli_check_strategy(now, old->label);
        if (other == NULL || is_same_strategy(old, other))
            continue;
        if (differ++ == 0)
            tell_strategy(old, other, out->where, sizeof out->where);
    }
    size_t used = strlen(out->where);
    if (differ > 1)
        snprintf(out->where + used, sizeof out->where - used, ", and %zu more of %zu", differ - 1,
                 one->strategy_count);
    else if (differ == 0 && (one->rows != now->rows || one->keys != now->keys))
        snprintf(out->where, sizeof out->where,
                 "; the rows themselves differ: %" PRIu64 " of %" PRIu64 " keys, baseline %" PRIu64
                 " of %" PRIu64,
                 now->rows, now->keys, one->rows, one->keys);
    else if (differ == 0)
        snprintf(out->where, sizeof out->where, "; each strategy that both have puts every row where it did");
}

static bool begins_line(const char *text, size_t at)
{
    return at == 0 || text[at - 1] == '\n';
}

/* The number of lines, including an unterminated one. */
static uint64_t lines_of(const char *begin, const char *end)
{
    uint64_t count = 0;
    for (const char *c = begin; c < end; c++)
        count += *c == '\n';
    return count + (end > begin && end[-1] != '\n');
}

/* Formats "lines 3 to 5": from the first to the last changed line, as numbered now. */
static void tell_lines(const char *old, const char *now, char *buffer, size_t size)
{
    size_t head = 0, tail = 0, old_size = strlen(old), now_size = strlen(now);
    if (strcmp(old, now) == 0)
        return;
    while (head < old_size && head < now_size && old[head] == now[head])
        head++;
    while (!begins_line(old, head))
        head--;
    while (tail < old_size - head && tail < now_size - head &&
           old[old_size - 1 - tail] == now[now_size - 1 - tail])
        tail++;
    while (tail > 0 && !(begins_line(old, old_size - tail) && begins_line(now, now_size - tail)))
        tail--;
    uint64_t first = lines_of(now, now + head) + 1;
    uint64_t gone = lines_of(old + head, old + old_size - tail);
    uint64_t come = lines_of(now + head, now + now_size - tail);
    if (come == 0)
        snprintf(buffer, size, "%" PRIu64 " line%s gone before line %" PRIu64, gone, gone == 1 ? "" : "s",
                 first);
    else if (come == 1)
        snprintf(buffer, size, "line %" PRIu64, first);
    else
        snprintf(buffer, size, "lines %" PRIu64 " to %" PRIu64, first, first + come - 1);
}

static void tell_change(const struct lab_scenario *scenario, const struct store_run_info *info, char *buffer,
                        size_t size)
{
    char lines[128] = "";
    tell_lines(info->scenario_text == NULL ? "" : info->scenario_text, scenario->text, lines, sizeof lines);
    const char *overrides = info->overrides == NULL ? "" : info->overrides;
    bool is_overridden = strcmp(overrides, scenario->overrides) != 0;
    snprintf(buffer, size, "%s%s%s", lines[0] == '\0' ? "" : "; the scenario changed since: ", lines,
             is_overridden ? "; --set differs from the baseline's" : "");
}

static bool compare_digest(struct cli_checked *item, const struct cli_gate *gate,
                           const struct store_run_info *info, struct sim_error *error)
{
    const struct lab_result *one = item->held.result, *now = item->result;
    struct moved moved = {"", "", ""};
    tell_change(item->scenario, info, moved.change, sizeof moved.change);
    bool is_same = one->digest == now->digest && one->seed == now->seed;
    bool is_same_version = strcmp(info->version == NULL ? "" : info->version, BUCKETLAB_VERSION) == 0;
    item->is_exact = is_same && moved.change[0] == '\0' && (is_same_version || gate->digest_counts);
    item->cause =
        is_same_version
            ? "the same program gave two results, which is a defect; please report it"
            : "another version of bucketlab made the baseline, and computed this figure differently";
    if (!is_same_version)
        snprintf(moved.version, sizeof moved.version, " by bucketlab %.32s, and this is %.32s", info->version,
                 BUCKETLAB_VERSION);
    if (is_same)
        return moved.change[0] == '\0' ||
               cli_check_note(item, "all rows go to the same partitions as before%s", moved.change) ||
               sim_fail_memory(error);
    char seed[64] = "";
    if (one->seed != now->seed)
        snprintf(seed, sizeof seed, " at seed %" PRIu64 ", and this is %" PRIu64, one->seed, now->seed);
    tell_where(one, now, &moved);
    struct cli_about about = {.name = "digest", CLI_NO_FIGURE};
    const char *format = "digest changed: %016" PRIx64 ", baseline %016" PRIx64 "%s%s%s%s";
    bool is_fine = gate->digest_counts ? cli_check_fail(item, &about, format, now->digest, one->digest, seed,
                                                        moved.version, moved.where, moved.change)
                                       : cli_check_note(item, format, now->digest, one->digest, seed,
                                                        moved.version, moved.where, moved.change);
    return is_fine || sim_fail_memory(error);
}

bool cli_check_digest(struct cli_checked *item, const struct cli_gate *gate, struct store *store,
                      struct sim_error *error)
{
    const struct cli_about about = {.name = "baseline", CLI_NO_FIGURE};
    if (!store_baseline_load(store, item->scenario->name, &item->held, &item->has_baseline, error))
        return false;
    if (item->has_baseline && !cli_check_terms(item, error))
        return false;
    if (!cli_check_begin(item, CLI_CHECK_BASELINE, "digest"))
        return sim_fail_memory(error);
    if (item->has_baseline)
        return compare_digest(item, gate, &item->held.info, error);
    return cli_check_fail(item, &about,
                          "%s does not have '%s'; add it with --update-baseline once its figures are right",
                          gate->baseline, item->scenario->name) ||
           sim_fail_memory(error);
}
