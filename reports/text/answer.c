/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the answer: judgments and figures in, one sentence that can be acted on and a few labelled lines out.
 * Which strategy is chosen is not decided here (lab/judgment.h). */
#include "reports/answer.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lab/metric.h"
#include "reports/format.h"

/* A line names this many strategies, and counts the others. */
enum { NAMED_MAX = 4 };

/* With fewer closed partitions, sizes are those of the distribution, where it is known. */
#define CLOSED_FEW 100

/* More than this makes repair, bootstrap and the replacement of a node take days (docs/scenario.md). */
#define NODE_BYTES_MOST 4e12

/* The data of all texts. */
struct telling {
    const struct report_option *options;
    size_t count, chosen;
    const struct report_terms *terms;
    struct report_arena *arena;
    struct report_answer *out;
};

/* A whole number of rows, reads or partitions. */
static const char *whole(struct report_arena *arena, double count)
{
    return report_grouped(arena, (uint64_t)round(count));
}

/* A list of which only the first NAMED_MAX items are in the text. */
static const char *and_more(struct report_arena *arena, const char *text, size_t count)
{
    return count <= NAMED_MAX ? text : report_text(arena, "%s; and %zu more", text, count - NAMED_MAX);
}

/* --- the sentence of a judgment */

/* An upper bound of a probability: "0.32%", "1 in 48,211", "1 in 10^130"; 10^300 stands for all beyond. */
static const char *chance(struct report_arena *arena, double most)
{
    return most >= 0.001  ? report_percent(arena, most)
           : most >= 1e-6 ? report_text(arena, "1 in %s", report_grouped(arena, (uint64_t)(1 / most)))
           : most > 0     ? report_text(arena, "1 in 10^%d", (int)fmin(300, -log10(most)))
                          : "0%";
}

/* "48 of 10,000 partitions (0.48%) are above 100,000 rows (allowed: 0.1%)" */
static const char *counted(const struct lab_judgment *judgment, const char *limit, struct report_arena *arena)
{
    const char *all = report_grouped(arena, judgment->partitions),
               *end = judgment->partitions == 1 ? "" : "s";
    if (judgment->over == 0 && judgment->partitions == 1)
        return report_text(arena, "the only partition is not above %s", limit);
    if (judgment->over == 0)
        return report_text(arena, "none of %s partitions is above %s", all, limit);
    return report_text(arena, "%s of %s partition%s (%s) %s above %s", report_grouped(arena, judgment->over),
                       all, end, report_percent(arena, (double)judgment->over / (double)judgment->partitions),
                       judgment->over == 1 ? "is" : "are", limit);
}

/* "none of 56 partitions is above 100,000 rows, but 2.49 are to be expected in 365 days" */
static const char *judged_by_distribution(const struct lab_judgment *judgment,
                                          const struct lab_limits *limits, const char *limit,
                                          struct report_arena *arena)
{
    const bool is_number = limits->over_limit_share == 0 && judgment->expected > 1 - limits->confidence,
               is_run = judgment->partitions > 0;
    const char *what =
        is_run ? "" : report_text(arena, is_number ? " partitions above %s" : " above %s", limit);
    const char *text =
        is_number
            ? report_text(arena, "%s%s are to be expected in %s", report_number(arena, judgment->expected),
                          what, report_days(arena, judgment->expected_days))
            : report_text(arena, "a whole one is%s with a probability of %s, by its distribution", what,
                          chance(arena, judgment->share_most));
    return is_run ? report_text(arena, "%s, but %s", counted(judgment, limit, arena), text) : text;
}

static const char *judged_over(const struct lab_judgment *judgment, const char *limit,
                               struct report_arena *arena)
{
    if (judgment->by == LAB_BY_PERCENTILES || judgment->partitions == 0)
        return judgment->share >= 1 ? report_text(arena, "all partitions in sstables are above %s", limit)
               : judgment->share > DBL_MIN
                   ? report_text(arena, "at least %s of the partitions in sstables are above %s",
                                 report_percent(arena, judgment->share), limit)
                   : report_text(arena, "the largest partition is above %s", limit);
    return counted(judgment, limit, arena);
}

static const char *judged_within(const struct lab_judgment *judgment, const struct lab_limits *limits,
                                 const char *limit, struct report_arena *arena)
{
    const char *seen = counted(judgment, limit, arena);
    const char *most = isnan(judgment->share_most) ? "" : chance(arena, judgment->share_most);
    if (judgment->by == LAB_BY_PERCENTILES)
        return judgment->share_most > 0
                   ? report_text(arena, "at most %s of the partitions in sstables are above %s", most, limit)
                   : report_text(arena, "no partition in an sstable is above %s", limit);
    if (judgment->by == LAB_BY_DISTRIBUTION)
        return report_text(arena, "%s; at these rates %s %s, by its distribution", seen,
                           judgment->share_most < 1e-300 ? "less than" : "at most", most);
    if (judgment->by == LAB_BY_SAMPLE && limits->confidence > 0)
        return report_text(arena, "%s; in other seeds at most %s, with %s confidence", seen, most,
                           report_percent(arena, limits->confidence));
    if (judgment->by == LAB_BY_CERTAINTY && !isnan(judgment->share_most))
        return report_text(arena, "no partition can be above %s, in any seed", limit);
    return seen;
}

/* Whether no limit of a size is exceeded, but one of a rate. */
static bool is_rate_alone(const struct lab_judgment *judgment)
{
    return judgment->exceeded != 0 && (judgment->exceeded & ((1u << LAB_SIZE_UNITS) - 1)) == 0;
}

/* "the busiest partition gets up to 1,734 writes and 3,100 reads in a second"; only of the rates that
 * `which` has as bits, and that have a limit. */
static const char *peaks(const struct lab_judgment *judgment, const struct lab_limits *limits, unsigned which,
                         struct report_arena *arena)
{
    const char *text = "";
    for (int i = 0; i < LAB_RATES; i++) {
        if ((which >> i & 1) != 0 && limits->rate[i] > 0)
            report_append(arena, &text, " and ", "%s %s", whole(arena, judgment->peak[i]),
                          lab_rate_name((enum lab_rate)i));
    }
    return text[0] == 0 ? "" : report_text(arena, "the busiest partition gets up to %s in a second", text);
}

const char *report_judged(const struct lab_judgment *judgment, const struct lab_limits *limits,
                          struct report_arena *arena)
{
    if (judgment->within == LAB_NOT_JUDGED)
        return report_text(arena, "not judged: %s", judgment->missing == NULL ? "" : judgment->missing);
    struct lab_limits told = *limits;
    const char *rate = "";
    if (judgment->within == LAB_EXCEEDS && judgment->exceeded != 0) {
        told.partition_rows *= judgment->exceeded >> LAB_IN_ROWS & 1;
        told.partition_bytes *= judgment->exceeded >> LAB_IN_BYTES & 1;
        rate = peaks(judgment, limits, judgment->exceeded >> LAB_SIZE_UNITS, arena);
        for (int i = 0; i < LAB_RATES; i++)
            told.rate[i] *= judgment->exceeded >> (LAB_SIZE_UNITS + i) & 1;
    } else if (judgment->within == LAB_WITHIN) {
        rate = peaks(judgment, limits, ~0u, arena);
    }
    if (rate[0] != 0 &&
        (judgment->within == LAB_EXCEEDS ? is_rate_alone(judgment) : !lab_limits_sizes(limits)))
        return report_text(arena, "%s, %s %s", rate, judgment->within == LAB_WITHIN ? "not above" : "above",
                           report_limits(&told, arena));
    told.rate[LAB_RATE_WRITES] = told.rate[LAB_RATE_READS] = 0;
    const char *limit = report_limits(&told, arena);
    if (limits->over_limit_share > 0)
        report_append(arena, &limit, " ", "(allowed: %s)", report_percent(arena, limits->over_limit_share));
    const char *text = judgment->within == LAB_WITHIN ? judged_within(judgment, limits, limit, arena)
                       : judgment->by == LAB_BY_DISTRIBUTION
                           ? judged_by_distribution(judgment, limits, limit, arena)
                           : judged_over(judgment, limit, arena);
    return rate[0] == 0                      ? text
           : judgment->within == LAB_EXCEEDS ? report_text(arena, "%s; %s", rate, text)
                                             : report_text(arena, "%s; %s", text, rate);
}

/* What is against an option; "" if nothing is. */
static const char *against(const struct report_option *option, const struct report_terms *terms,
                           struct report_arena *arena)
{
    const struct lab_judgment *judgment = &option->score.judgment;
    const bool has_end = isfinite(option->first_over_days);
    const char *text = "", *end = has_end ? report_days(arena, option->first_over_days) : "";
    if (option->settings->is_idgen)
        return "";
    if (judgment->within != LAB_WITHIN && lab_limits_any(terms->limits))
        text = report_judged(judgment, terms->limits, arena);
    if (judgment->within == LAB_EXCEEDS && has_end && !is_rate_alone(judgment))
        report_append(arena, &text, ", ",
                      judgment->by == LAB_BY_DISTRIBUTION ? "in half of all runs the first within %s"
                                                          : "the first after %s",
                      end);
    for (unsigned bit = 1; bit < 1u << LAB_DISQUALIFIER_COUNT; bit <<= 1)
        switch (option->score.disqualifiers & bit) {
        case LAB_DISQUALIFIER_HIDDEN:
            report_append(arena, &text, ", ", "readers miss rows");
            break;
        case LAB_DISQUALIFIER_REFUSED:
            report_append(arena, &text, ", ", "%s of the rows are refused",
                          report_percent(arena, option->refused_share));
            break;
        case LAB_DISQUALIFIER_FAILED:
            report_append(arena, &text, ", ", "%s of %s reads fail", whole(arena, option->reads_failed),
                          whole(arena, option->reads));
            break;
        case LAB_DISQUALIFIER_MISROUTED:
            report_append(arena, &text, ", ", "%s rows are in a wrong bucket",
                          whole(arena, option->misrouted));
            break;
        case LAB_DISQUALIFIER_BROKEN:
            report_append(arena, &text, ", ", "a guarantee is broken");
            break;
        case LAB_DISQUALIFIER_ENDLESS:
            if (judgment->within == LAB_WITHIN)
                report_append(arena, &text, ", ", "%s%s%s",
                              option->settings->strategy.kind == BK_KIND_TIME ? "the run has no whole window"
                                                                              : "its partitions never end",
                              has_end ? ", the first exceeds a limit after " : "", end);
            break;
        default:
            break;
        }
    return text;
}

/* --- the texts of one option */

/* "probabilistic with 9 bits and threshold 40"; "chat (count with 20,480 rows)" */
static const char *named(const struct telling *telling, size_t index)
{
    struct report_arena *arena = telling->arena;
    const struct lab_settings *settings = telling->options[index].settings;
    const char *label = report_clean(arena, telling->options[index].label);
    const char *kind = lab_kind_name(lab_settings_kind(settings)), *last = NULL;
    const bool has_settings =
        !telling->terms->is_observed && lab_settings_kind(settings) != BK_KIND_UNBUCKETED;
    const char *text = has_settings ? report_settings(arena, settings) : "";
    for (const char *comma = strstr(text, ", "); comma != NULL; comma = strstr(comma + 2, ", "))
        last = comma;
    if (last != NULL)
        text = report_text(arena, "%.*s and %s", (int)(last - text), text, last + 2);
    text = report_text(arena, "%s%s%s", kind, has_settings ? " with " : "", text);
    return telling->terms->is_observed ? label
           : strcmp(label, kind) == 0  ? text
                                       : report_text(arena, "%s (%s)", label, text);
}

static const char *brief(const struct telling *telling, size_t index)
{
    return report_clean(telling->arena, telling->options[index].label);
}

/* "20,480 rows and 8.3 MB on average, CV 16%"; of few partitions, what the distribution says of full ones. */
static const char *sizes(const struct report_option *option, struct report_arena *arena)
{
    const struct lab_full full = lab_full_of(option->settings);
    const bool is_full = option->closed < CLOSED_FEW && !isnan(full.cv);
    const double cv = option->score.candidate.cv, rows = is_full ? full.rows : option->rows_mean,
                 bytes = !is_full            ? option->bytes_mean
                         : isnan(full.bytes) ? full.rows * option->bytes_mean / option->rows_mean
                                             : full.bytes;
    const char *text = "";
    if (!isnan(rows))
        report_append(arena, &text, "", "%s row%s",
                      rows >= 999.5 ? whole(arena, rows) : report_number(arena, rows), rows == 1 ? "" : "s");
    if (!isnan(bytes))
        report_append(arena, &text, " and ", "%s%s", report_size(arena, bytes, REPORT_BYTES),
                      is_full && !isnan(full.bytes) ? " of payload" : "");
    if (text[0] == 0)
        return "";
    return report_text(arena, "%s%s%s%s%s%s", text, is_full && cv == 0 ? "" : " on average",
                       is_full ? " when full" : "", isnan(cv) ? "" : ", CV ",
                       isnan(cv) ? "" : report_percent(arena, cv),
                       option->closed == 0 && !is_full ? ", in partitions that have not ended" : "");
}

/* "4.5 extra operations per 1000 rows; 1.02 partitions per read; together as much as 91 inserts per 1000
 * rows" */
static const char *costs(const struct telling *telling, const struct report_option *option)
{
    struct report_arena *arena = telling->arena;
    const bool has_reads = !isnan(option->per_read);
    const char *text = "", *cost = report_number(arena, option->score.cost),
               *per_read = report_number(arena, option->per_read);
    if (isnan(option->score.cost))
        return "";
    if (!isnan(option->ops))
        report_append(arena, &text, "", "%s extra operations per 1000 rows",
                      report_number(arena, option->ops));
    if (has_reads)
        report_append(arena, &text, "; ",
                      "%s partition%s per read; together as much as %s inserts per 1000 rows", per_read,
                      strcmp(per_read, "1") == 0 ? "" : "s", cost);
    else if (!lab_prices_are_equal(telling->terms->prices) && option->score.cost > 0)
        report_append(arena, &text, ", ", "as much as %s inserts", cost);
    return text;
}

/* "the largest partition has 35,097 rows, 35% of the limit; within the limits at 10 times this rate" */
static const char *margin(const struct telling *telling, const struct report_option *option)
{
    struct report_arena *arena = telling->arena;
    const struct lab_limits *limits = telling->terms->limits;
    const double rows = limits->partition_rows == 0 ? (double)NAN
                                                    : option->rows_max / (double)limits->partition_rows,
                 bytes = limits->partition_bytes == 0 ? (double)NAN
                                                      : option->bytes_max / (double)limits->partition_bytes,
                 share = isnan(rows) || bytes > rows ? bytes : rows;
    const char *text = "";
    if (!isnan(share))
        report_append(arena, &text, "", "the largest partition%s has %s%s, %s%s the limit",
                      option->seeds > 1 ? report_text(arena, " of %u seeds", (unsigned)option->seeds) : "",
                      share == rows ? whole(arena, option->rows_max)
                                    : report_size(arena, option->bytes_max, REPORT_BYTES),
                      share == rows ? " rows" : "",
                      share >= 2 ? report_number(arena, share) : report_percent(arena, share),
                      share >= 2 ? " times" : " of");
    const char *seed = option->seeds > 1 ? "with the first seed " : "";
    if (option->holds_at > 0)
        report_append(arena, &text, "; ", "%swithin the limits at %s times this rate", seed,
                      report_number(arena, option->holds_at));
    if (option->fails_at > 0)
        report_append(arena, &text, "; ", "%sexceeds %s at %s times this rate",
                      option->holds_at > 0 ? "" : seed, option->holds_at > 0 ? "them" : "the limits",
                      report_number(arena, option->fails_at));
    if (isfinite(option->first_over_days))
        report_append(arena, &text, "; ", "the first partition exceeds a limit after %s",
                      report_days(arena, option->first_over_days));
    return text;
}

/* "64 GB after 1 year, with room for compaction 128 GB; 25 writes/s and 3.2 reads/s" */
static const char *capacity(const struct report_option *option, struct report_arena *arena)
{
    const char *text = "";
    if (!(option->node_bytes > 0))
        return text;
    report_append(arena, &text, "", "%s after %s, with room for compaction %s; %s writes/s and %s reads/s",
                  report_size(arena, option->node_bytes, REPORT_BYTES), report_days(arena, option->node_days),
                  report_size(arena, option->node_disk, REPORT_BYTES),
                  report_number(arena, option->node_writes), report_number(arena, option->node_reads));
    if (option->node_bytes > NODE_BYTES_MOST)
        report_append(arena, &text, "; ", "a node should hold at most %s, so take %s times as many nodes",
                      report_size(arena, NODE_BYTES_MOST, REPORT_BYTES),
                      report_number(arena, ceil(option->node_bytes / NODE_BYTES_MOST)));
    return text;
}

static const char *requirements(uint32_t set, struct report_arena *arena)
{
    const char *text = "";
    for (int i = 0; i < LAB_REQUIREMENT_COUNT; i++)
        report_append(arena, &text, "; ", "%s",
                      (set >> i & 1) != 0 ? lab_requirement_text((enum lab_requirement)i) : "");
    return text;
}

/* "ids with 9 random bits; one writer per key, or a protocol for several" */
static const char *needs(const struct report_option *option, struct report_arena *arena)
{
    const struct bk_strategy *strategy = &option->settings->strategy;
    const char *text = bk_kind_fires(strategy->kind) ? "ids with random bits" : "";
    if (strategy->kind == BK_KIND_PROBABILISTIC && strategy->of.probabilistic.chance_denominator == 0)
        text = report_text(arena, "ids with %u random bits", (unsigned)strategy->of.probabilistic.bits);
    report_append(arena, &text, "; ", "%s", requirements(option->score.candidate.requirements, arena));
    return text;
}

/* Rows that the chosen strategy lost, although they do not disqualify it. */
static const char *lost(const struct report_option *option, struct report_arena *arena)
{
    const char *text = "";
    if (option->refused > 0)
        report_append(arena, &text, "", "%s of %s rows were refused", whole(arena, option->refused),
                      whole(arena, option->rows));
    if (option->replaced > 0)
        report_append(arena, &text, "; ",
                      "%s of %s rows were replaced by later ones with the same primary key",
                      whole(arena, option->replaced), whole(arena, option->rows));
    return text;
}

/* --- the lines */

/* Appends a line, unless the text is empty or there are REPORT_ANSWER_LINES_MAX already. */
static void add_line(struct report_answer *answer, const char *label, const char *text)
{
    if (text[0] != 0 && answer->line_count < REPORT_ANSWER_LINES_MAX)
        answer->lines[answer->line_count++] = (struct report_answer_line){label, text};
}

static void add(struct telling *telling, const char *label, const char *text)
{
    add_line(telling->out, label, text);
}

/* "time with windows of 1 d: +44 inserts per 1000 rows, exceeds a limit at 1.5 times this rate" */
static const char *alternative(const struct telling *telling, size_t index)
{
    struct report_arena *arena = telling->arena;
    const struct lab_score *mine = &telling->options[telling->chosen].score;
    const struct report_option *option = &telling->options[index];
    const struct lab_candidate *other = &option->score.candidate;
    const double more = option->score.cost - mine->cost;
    const char *text = named(telling, index), *join = ": ";
    /* What is more even and not chosen is within the tolerance of the choice, but not of the cheapest. */
    const bool is_passed = more > 0 && other->cv < mine->candidate.cv &&
                           (other->requirements & 1) == (mine->candidate.requirements & 1);
    if (is_passed || fabs(more) > telling->terms->limits->tolerance * mine->candidate.load)
        report_append(arena, &text, join, "%s%s inserts per 1000 rows", more > 0 ? "+" : "−",
                      report_number(arena, fabs(more)));
    else
        report_append(arena, &text, join, "as cheap%s%s", isnan(other->cv) ? "" : ", CV ",
                      isnan(other->cv) ? "" : report_percent(arena, other->cv));
    if (option->fails_at > 0)
        report_append(arena, &text, ", ", "exceeds a limit at %s times this rate",
                      report_number(arena, option->fails_at));
    const char *extra = requirements(other->requirements & ~mine->candidate.requirements, arena);
    if (extra[0] != 0)
        report_append(arena, &text, ", ", "needs %s", extra);
    return text;
}

/* The eligible option with the least cost above that of option `last`, or with the same cost after it;
 * SIZE_MAX: none. */
static size_t next_of(const struct telling *telling, size_t last)
{
    const struct report_option *options = telling->options;
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < telling->count; i++) {
        const bool is_after = last == SIZE_MAX || options[i].score.cost > options[last].score.cost ||
                              (options[i].score.cost == options[last].score.cost && i > last);
        if (options[i].score.candidate.is_eligible && is_after &&
            (next == SIZE_MAX || options[i].score.cost < options[next].score.cost))
            next = i;
    }
    return next;
}

/* The other eligible options, the cheapest first. */
static const char *alternatives(const struct telling *telling)
{
    const char *text = "";
    size_t told = 0;
    for (size_t i = next_of(telling, SIZE_MAX); i != SIZE_MAX; i = next_of(telling, i))
        if (i != telling->chosen && told++ < NAMED_MAX)
            report_append(telling->arena, &text, "; ", "%s", alternative(telling, i));
    return and_more(telling->arena, text, told);
}

/* What is against the options that cannot be chosen, in their order; without option `without`. */
static const char *disqualified(const struct telling *telling, size_t without)
{
    const char *text = "";
    size_t told = 0;
    for (size_t i = 0; i < telling->count; i++) {
        const char *why = against(&telling->options[i], telling->terms, telling->arena);
        if (i != without && why[0] != 0 && told++ < NAMED_MAX)
            report_append(telling->arena, &text, "; ", "%s: %s", brief(telling, i), why);
    }
    return and_more(telling->arena, text, told);
}

static void add_option(struct telling *telling, size_t index)
{
    const struct report_option *option = &telling->options[index];
    const struct lab_limits *limits = telling->terms->limits;
    const char *size = sizes(option, telling->arena);
    if (lab_limits_any(limits))
        report_append(telling->arena, &size, "; ", "%s",
                      report_judged(&option->score.judgment, limits, telling->arena));
    add(telling, "size", size);
    add(telling, "cost", costs(telling, option));
    add(telling, "margin", margin(telling, option));
    add(telling, "node", capacity(option, telling->arena));
    add(telling, "lost", lost(option, telling->arena));
}

/* Where buckets are not needed for a year, that is the headline, and `then` is for later. */
static void tell_no_buckets(struct telling *telling, const char *then)
{
    const char *text = report_no_buckets(&telling->terms->horizon, telling->arena);
    if (text[0] == 0)
        return;
    telling->out->headline = text;
    add(telling, "later",
        report_text(telling->arena, "when the largest partition without buckets has %s: %s",
                    report_half_limit(&telling->terms->horizon, telling->arena), then));
}

static void tell_chosen(struct telling *telling)
{
    const struct report_option *option = &telling->options[telling->chosen];
    telling->out->headline = report_text(telling->arena, "Use %s.", named(telling, telling->chosen));
    tell_no_buckets(telling, named(telling, telling->chosen));
    add_option(telling, telling->chosen);
    add(telling, "needs", needs(option, telling->arena));
    add(telling, "else", alternatives(telling));
    add(telling, "not", disqualified(telling, SIZE_MAX));
}

/* What would make an option eligible, by the first thing that is against it. */
static const char *remedy(const struct report_option *option)
{
    const unsigned disqualifiers = option->score.disqualifiers;
    if ((disqualifiers & LAB_DISQUALIFIER_ENDLESS) != 0)
        return option->settings->strategy.kind == BK_KIND_TIME
                   ? "a longer run, or shorter windows"
                   : "a strategy whose partitions end: time, count, probabilistic or weighted";
    if (option->score.judgment.exceeded >> (LAB_SIZE_UNITS + LAB_RATE_WRITES) & 1)
        return "a strategy whose partitions take a key's rows at the same time: hash with more buckets, or "
               "time with shards";
    if (option->score.judgment.exceeded >> (LAB_SIZE_UNITS + LAB_RATE_READS) & 1)
        return "fewer reads of one key, such as a cache before them: all readers of a key query its newest "
               "partition";
    if (option->score.judgment.within == LAB_EXCEEDS)
        return "smaller partitions; 'bucketlab tune' searches for settings within the limits";
    if ((disqualifiers & LAB_DISQUALIFIER_REFUSED) != 0)
        return "fewer rows per key, or a protocol with fewer conditional updates";
    if ((disqualifiers & LAB_DISQUALIFIER_FAILED) != 0)
        return "smaller partitions, in which reads pass fewer tombstones";
    return (disqualifiers & LAB_DISQUALIFIED_BY_LOSS) != 0
               ? "one writer per key, or a protocol for several (coordination: guarded)"
               : ""; /* a text about what was not judged names the remedy */
}

/* How far an option is from being eligible: one that loses rows is farther than one that is not judged, and
 * that is farther than one with partitions above a limit. */
static double distance(const struct report_option *option)
{
    return 4 * ((option->score.disqualifiers & LAB_DISQUALIFIED_BY_LOSS) != 0) +
           2 * (option->score.judgment.within == LAB_NOT_JUDGED) +
           (isnan(option->score.judgment.share) ? 0 : option->score.judgment.share);
}

/* Nothing can be chosen: which option is nearest, and what to change. */
static void tell_none(struct telling *telling)
{
    struct report_arena *arena = telling->arena;
    size_t nearest = 0;
    for (size_t i = 1; i < telling->count; i++) {
        const struct report_option *one = &telling->options[i], *best = &telling->options[nearest];
        if (distance(one) < distance(best) ||
            (distance(one) == distance(best) &&
             one->score.candidate.fullness < best->score.candidate.fullness))
            nearest = i;
    }
    const char *why = against(&telling->options[nearest], telling->terms, arena);
    telling->out->headline =
        telling->count == 1
            ? report_text(arena, "Do not use %s%s%s.", named(telling, 0), why[0] == 0 ? "" : ": ", why)
            : report_text(arena, "Use none of these %zu strategies; nearest is %s.", telling->count,
                          named(telling, nearest));
    tell_no_buckets(telling, "run 'bucketlab tune'");
    if (telling->count > 1)
        add(telling, "nearest", report_text(arena, "%s: %s", brief(telling, nearest), why));
    add(telling, "change", remedy(&telling->options[nearest]));
    add_option(telling, nearest);
    if (telling->count > 1)
        add(telling, "not", disqualified(telling, nearest));
}

enum which { CHEAPEST, EVENEST, SMALLEST };

/* The option with the least figure among those that lose nothing, and the figure; SIZE_MAX: none. */
static size_t least_of(const struct telling *telling, enum which which, double *least)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < telling->count; i++) {
        const struct report_option *option = &telling->options[i];
        const double figure = which == CHEAPEST  ? option->score.cost
                              : which == EVENEST ? option->score.candidate.cv
                                                 : option->rows_max;
        if ((option->score.disqualifiers & LAB_DISQUALIFIED_BY_LOSS) == 0 && !isnan(figure) &&
            (best == SIZE_MAX || figure < *least)) {
            best = i;
            *least = figure;
        }
    }
    return best;
}

/* Without limits: what is cheapest, most even and smallest. */
static void tell_without_limits(struct telling *telling)
{
    struct report_arena *arena = telling->arena;
    double cost = 0, cv = 0, rows = 0;
    const size_t cheapest = least_of(telling, CHEAPEST, &cost), evenest = least_of(telling, EVENEST, &cv),
                 smallest = least_of(telling, SMALLEST, &rows);
    telling->out->headline = "Set limits to get a recommendation, such as limits: {partition_bytes: 100MB}.";
    if (telling->count == 1)
        add_option(telling, 0);
    if (telling->count > 1 && cheapest != SIZE_MAX)
        add(telling, "cheapest",
            report_text(arena, "%s: %s", named(telling, cheapest),
                        costs(telling, &telling->options[cheapest])));
    if (telling->count > 1 && evenest != SIZE_MAX)
        add(telling, "most even",
            report_text(arena, "%s: CV %s", named(telling, evenest), report_percent(arena, cv)));
    if (telling->count > 1 && smallest != SIZE_MAX)
        add(telling, "smallest",
            report_text(arena, "%s: no partition has more than %s rows", named(telling, smallest),
                        whole(arena, rows)));
    add(telling, "not", disqualified(telling, SIZE_MAX));
}

/* Of each observed file, either how it is judged or the largest partition. */
static const char *observed(const struct telling *telling, bool is_judged)
{
    struct report_arena *arena = telling->arena;
    const char *text = "";
    for (size_t i = 0; i < telling->count && i < NAMED_MAX; i++) {
        const struct report_option *option = &telling->options[i];
        const char *item = "";
        if (is_judged)
            item = report_judged(&option->score.judgment, telling->terms->limits, arena);
        if (!is_judged && option->bytes_max > 0)
            report_append(arena, &item, "", "at most %s",
                          report_size(arena, option->bytes_max, REPORT_BYTES));
        if (!is_judged && option->rows_max > 0)
            report_append(arena, &item, " and ", "at most %s rows", whole(arena, option->rows_max));
        report_append(arena, &text, "; ", "%s%s%s", telling->count == 1 ? "" : brief(telling, i),
                      telling->count == 1 || item[0] == 0 ? "" : ": ", item);
    }
    return and_more(arena, text, telling->count);
}

static void tell_observed(struct telling *telling)
{
    static const struct {
        enum lab_within within;
        const char *one, *several;
    } words[] = {{LAB_EXCEEDS, "exceeds the limits", "exceed the limits"},
                 {LAB_NOT_JUDGED, "is not judged", "are not judged"},
                 {LAB_WITHIN, "stays within the limits", "stay within the limits"}};
    struct report_arena *arena = telling->arena;
    const char *text = "";
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        const char *list = "";
        size_t count = 0;
        for (size_t i = 0; i < telling->count; i++)
            if (telling->options[i].score.judgment.within == words[k].within && count++ < NAMED_MAX)
                report_append(arena, &list, ", ", "%s", brief(telling, i));
        if (count > NAMED_MAX)
            report_append(arena, &list, " ", "and %zu more", count - NAMED_MAX);
        if (count > 0)
            report_append(arena, &text, "; ", "%s %s", list, count == 1 ? words[k].one : words[k].several);
    }
    telling->out->headline =
        lab_limits_any(telling->terms->limits)
            ? report_text(arena, "%s.", text)
            : "Set limits to have these sizes judged, such as limits: {partition_bytes: 100MB}.";
    add(telling, "size", observed(telling, false));
    if (lab_limits_any(telling->terms->limits))
        add(telling, "limits", observed(telling, true));
}

void report_answer_of(const struct report_option *options, size_t count, size_t chosen,
                      const struct report_terms *terms, struct report_arena *arena, struct report_answer *out)
{
    struct telling telling = {options, count, chosen, terms, arena, out};
    struct lab_score *scores = report_take(arena, count, sizeof *scores);
    const char **verdicts = report_take(arena, count, sizeof *verdicts);
    *out = (struct report_answer){.asked = "", .headline = "", .chosen = chosen};
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        scores[i] = options[i].score;
        verdicts[i] = against(&options[i], terms, arena);
        if (verdicts[i][0] == 0 && !options[i].settings->is_idgen)
            verdicts[i] = report_judged(&options[i].score.judgment, terms->limits, arena);
    }
    out->scores = scores;
    out->verdicts = verdicts;
    if (terms->is_observed)
        tell_observed(&telling);
    else if (chosen != SIZE_MAX)
        tell_chosen(&telling);
    else if (lab_limits_any(terms->limits))
        tell_none(&telling);
    else
        tell_without_limits(&telling);
}

/* --- the answer of a run */

static double figure(const struct lab_strategy_result *strategy, const char *name, double missing)
{
    double value;
    return report_metric(strategy, name, &value) ? value : missing;
}

void report_option_of(const struct lab_result *result, size_t index, struct report_option *out)
{
    const struct lab_strategy_result *one = &result->strategies[index];
    const double closed = figure(one, "partitions.closed", 0);
    const bool is_open = !(closed > 0);
    const double nan = (double)NAN, days = figure(one, "horizon.days", nan);
    *out = (struct report_option){
        .label = one->label,
        .settings = &one->settings,
        .score = lab_score_of(result, one),
        .closed = closed,
        .rows_mean = figure(one, is_open ? "partitions.all.rows.mean" : "partitions.closed.rows.mean", nan),
        .bytes_mean =
            figure(one, is_open ? "partitions.all.bytes.mean" : "partitions.closed.bytes.mean", nan),
        .rows_max = figure(one, "partitions.all.rows.max", nan),
        .bytes_max = figure(one, "partitions.all.bytes.max", nan),
        .ops = figure(one, "writes.extra_ops_per_1000_rows", nan),
        .per_read = figure(one, "reads.partitions_per_read.mean", nan),
        .first_over_days = days >= LAB_DAYS_MOST ? (double)INFINITY : days,
        .holds_at = nan,
        .fails_at = nan,
        .node_days = figure(one, "capacity.days", nan),
        .node_bytes = figure(one, "capacity.bytes_per_node", nan),
        .node_disk = figure(one, "capacity.disk_per_node", nan),
        .node_writes = figure(one, "capacity.writes_per_node", nan),
        .node_reads = figure(one, "capacity.reads_per_node", nan),
        .rows = (double)result->rows,
        .refused = figure(one, "writes.refused", 0),
        .refused_share = lab_refused_share(one),
        .replaced = figure(one, "rows.overwritten", 0),
        .misrouted = figure(one, "writes.misrouted", 0),
        .reads = figure(one, "reads.count", 0) + figure(one, "reads.failed", 0),
        .reads_failed = figure(one, "reads.failed", 0)};
}

/* "chat tries 5 strategies, each on 46,422,562 rows of 10,000 keys, over 90 d; a partition may grow to
 * 100,000 rows." */
static const char *tell_asked(const struct lab_result *result, struct report_arena *arena)
{
    const size_t count = result->strategy_count;
    const bool is_trace = result->source != NULL && strcmp(result->source, "synthetic") != 0;
    const char *name = report_clean(arena, result->scenario_name), *end = count == 1 ? "" : "s";
    const char *lasts = report_time(arena, (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns));
    const char *limits = lab_limits_any(&result->limits) ? report_text(arena, "a partition may grow to %s",
                                                                       report_limits(&result->limits, arena))
                                                         : "no limit is set for a partition";
    if (lab_result_is_observed(result))
        return report_text(arena, "%s reads partition sizes from %zu file%s; %s.", name, count, end, limits);
    if (count > 0 && result->strategies[0].settings.is_idgen)
        return report_text(arena, "%s tries %zu design%s of identifiers for %s.", name, count, end, lasts);
    /* Not "on the same rows": with the thinned engine only their number is the same. */
    return report_text(arena, "%s tries %zu strateg%s on %s rows of %s keys%s, over %s; %s.", name, count,
                       count == 1 ? "y" : "ies, each", report_grouped(arena, result->rows),
                       report_grouped(arena, result->keys), is_trace ? " of a trace" : "", lasts, limits);
}

/* --- a run of identifier generators */

/* The fastest strategy among those that gave no identifier twice; NULL: none. */
static const struct lab_strategy_result *fastest_of(const struct lab_result *result)
{
    const struct lab_strategy_result *fastest = NULL;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const double rate = figure(strategy, "ids.per_second", 0);
        if (figure(strategy, "oracle.unique.violations", 0) == 0 && rate > 0 &&
            (fastest == NULL || rate > figure(fastest, "ids.per_second", 0)))
            fastest = strategy;
    }
    return fastest;
}

/* Joins a text of each strategy, of the first few by name. */
static const char *each(const struct lab_result *result, struct report_arena *arena,
                        const char *(*tell)(const struct lab_strategy_result *, struct report_arena *))
{
    const char *text = "";
    size_t told = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const char *item = tell(&result->strategies[i], arena);
        if (item[0] != 0 && told++ < NAMED_MAX)
            report_append(arena, &text, "; ", "%s: %s", report_clean(arena, result->strategies[i].label),
                          item);
    }
    return and_more(arena, text, told);
}

static const char *tell_rate(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    return report_text(arena, "%s identifiers per second",
                       report_number(arena, figure(strategy, "ids.per_second", 0)));
}

static const char *tell_lost(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    const double lost = figure(strategy, "ids.lost", 0);
    return lost > 0 ? report_grouped(arena, (uint64_t)lost) : "";
}

static const char *tell_wait(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    double wait_ms;
    return report_metric(strategy, "latency.lock.p99", &wait_ms)
               ? report_text(arena, "99%% of its locks within %s", report_time(arena, 1e6 * wait_ms))
               : "no lock";
}

static const char *tell_twice(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    const double twice = figure(strategy, "oracle.unique.violations", 0);
    return twice > 0 ? report_text(arena, "%s identifier%s given twice",
                                   report_grouped(arena, (uint64_t)twice), twice == 1 ? "" : "s")
                     : "";
}

/* Makes the headline and the lines of a run with identifiers, which has no partitions. */
static void answer_identifiers(const struct lab_result *result, struct report_arena *arena,
                               struct report_answer *out)
{
    const struct lab_strategy_result *fastest = fastest_of(result);
    out->headline =
        fastest != NULL
            ? report_text(arena, "Use %s: it hands out %s%s identifiers per second, and none of them twice.",
                          report_clean(arena, fastest->label), result->strategy_count > 1 ? "the most, " : "",
                          report_number(arena, figure(fastest, "ids.per_second", 0)))
        : each(result, arena, tell_twice)[0] != 0 ? "Use none of these: each gave identifiers twice, or none."
                                                  : "No identifier was handed out.";
    add_line(out, "rate", each(result, arena, tell_rate));
    add_line(out, "wait", each(result, arena, tell_wait));
    add_line(out, "lost", each(result, arena, tell_lost));
    add_line(out, "not", each(result, arena, tell_twice));
}

void report_answer_run(const struct lab_result *result, struct report_arena *arena, struct report_answer *out)
{
    const size_t count = result->strategy_count;
    struct report_option *options = report_take(arena, count, sizeof *options);
    struct lab_score *scores = report_take(arena, count, sizeof *scores);
    const char *asked = tell_asked(result, arena);
    *out = (struct report_answer){.asked = asked, .headline = "No strategy was run.", .chosen = SIZE_MAX};
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        report_option_of(result, i, &options[i]);
    const struct report_terms terms = {.limits = &result->limits,
                                       .prices = &result->prices,
                                       .horizon = report_horizon_of(result),
                                       .is_observed = lab_result_is_observed(result)};
    report_answer_of(options, count, lab_choose(result, scores), &terms, arena, out);
    out->asked = asked;
    if (!result->strategies[0].settings.is_idgen && !result->is_tuned)
        return;
    out->line_count = 0;
    if (result->is_tuned) {
        out->headline = "These are the settings that tune ran with the most seeds, each with one seed.";
        add_line(out, "choice", "'bucketlab report RUN --format html' shows the choice by all seeds");
        return;
    }
    answer_identifiers(result, arena, out);
}
