/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the scenario of a seed. In: the seed, and the user's tree. Kept: nothing. Out: YAML of all sections.
 *
 * First a plan is made of the values on which several fields depend, from the user's tree or else drawn. Then
 * the tables of fields are walked: the row of a field says in which share of the seeds it is drawn, from
 * which random stream, and from what (struct lab_drawn). What depends on several fields is a variable there,
 * and a function here. Each value has its own random stream, so a seed without it is the same as before.
 * tests/mutants/draws.py counts what is drawn.
 *
 * The text of a row is written as it is, except for what is in angle brackets:
 *
 *     <nb|da|payload>      one of the words; <50%nb|da>: the first in this share of the seeds
 *     <2..12>              a whole number; <5..20:1> the same in tenths
 *     <~5..1000>           with a uniform logarithm; <~.1:0.1..10> to one decimal; <~.3t:0.1..5> cut to
 * thousandths <100ms..run/5>       a span with a uniform logarithm within the range of the field;
 * <#100ms..run/5> a multiple of the clocks' resolution. A bound is a multiple of a unit or of a variable,
 * perhaps divided by a number; the smaller of two: <1s..run/20&1m> <keys>               a variable
 *
 * A text "30%:..." is drawn in this share of the seeds that come so far. The text "{}" stands for the fields
 * of the table, and "{|}" for the first of them that is drawn. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/agent.h"
#include "cassandra/cluster.h"
#include "draw.h"
#include "kernel/number.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "lab/quantity.h"

/* The longest run: adding this span to a time does not overflow. */
#define SPAN_MAX     (100 * 365 * SIM_DAY)
#define ELEMENT_SIZE 64
/* The default in docs/scenario.md. */
#define NODES_DEFAULT 6u
/* Shares of the seeds, where a row of a table cannot say them. */
#define IDENTIFIERS     0.05
#define THEN            0.08
#define EVICTION        0.3
#define COUNT_EVICTION  0.6
#define ONE_WRITER      0.4 /* of the seeds that count rows */
#define TOPOLOGY        0.15
#define ANY_LEVELS      0.1
#define LONG            0.1
#define CLOCK_STEP      0.25
#define DRIFT           0.1
#define REMEMBERS       0.8 /* of the seeds with time windows */
#define SHARDS          0.2 /* of them */
#define LATE_REMEMBERED 0.8 /* of the seeds whose readers remember empty windows */
#define TTL             0.08
#define KEYS_MANY       16u
/* The number of keys if readers remember empty windows, so few that each reader reads each key often. */
#define KEYS_READ   2u
#define AGENTS_READ 3u
#define CACHE_SET   4u /* the smallest number of entries of a cache */
/* With bursts, the rate is still below the limit of scenarios. */
#define RATE_MAX 1e6

enum kind { GUARDED, THREE_STATE, LOCKED, SINGLE, COUNT, HASH, TIME, UNBUCKETED };

/* The size of a seed's run. If partitions are small enough, a short run rolls as often as a long one. */
struct length {
    double rows[2];
    uint64_t keys; /* at most */
    int64_t duration_ns[2];
    double partition_rows[2]; /* range of the mean */
    uint64_t operations;      /* smallest number of an agent's concurrent operations */
    int64_t caches[2];        /* longest and shortest time to live of caches, as fractions 1/N of the run */
    int64_t windows;          /* shortest window, as a fraction 1/N of the run */
    int64_t faults;           /* longest fault, as a fraction 1/N of the run */
    uint64_t latest_rows[2];
    double latest, ranges;       /* largest number of reads per row */
    uint64_t identifiers, batch; /* identifiers of all clients, and the most identifiers of a batch */
};

/* Most seeds are short, since more seeds find more in the same time. More hints than fit into a page, and
 * large partitions, need many rows. */
static const struct length short_seed = {.rows = {60, 250},
                                         .keys = 3,
                                         .duration_ns = {12 * SIM_SECOND, 6 * SIM_MINUTE},
                                         .partition_rows = {3, 20},
                                         .operations = 8,
                                         .caches = {15, 1000},
                                         .windows = 30,
                                         .latest_rows = {3, 20},
                                         .latest = 0.4,
                                         .ranges = 0.3,
                                         .faults = 3,
                                         .identifiers = 500,
                                         .batch = 15};
static const struct length long_seed = {.rows = {300, 1500},
                                        .keys = 4,
                                        .duration_ns = {40 * SIM_SECOND, 20 * SIM_MINUTE},
                                        .partition_rows = {8, 200},
                                        .operations = 32,
                                        .caches = {30, 2000},
                                        .windows = 50,
                                        .latest_rows = {5, 60},
                                        .latest = 0.2,
                                        .ranges = 0.1,
                                        .faults = 6,
                                        .identifiers = 3000,
                                        .batch = 40};

struct plan {
    uint64_t seed;
    const struct length *length;
    enum kind kind;
    bool has_duration; /* false: a trace that is run completely */
    bool is_timed;     /* the run has a duration that is drawn */
    bool is_long;      /* it takes at least a second */
    int64_t duration_ns;
    double rate_per_s; /* rate of all keys together */
    uint64_t keys, keys_last;
    uint32_t agents, nodes, replicas, datacenters, racks;
    char datacenter_names[CASS_DATACENTERS_MAX][32];
    bool has_plain_ring, has_datacenters; /* which form of the ring is drawn, if any */
    int64_t cache_ttl_ns, clock_bound_ns;
    int64_t early_ns;              /* what rows are early by */
    int64_t mean_ns, far_ns;       /* the mean latencies within a datacenter and between two */
    int64_t timeout_ns, client_ns; /* the shortest timeout, and that of the client */
    int64_t offset_ns;             /* of clocks */
    uint64_t drift_ppm;
    bool has_offset, has_steps, has_timeouts, has_keys;
    int64_t clock_step_ns;        /* resolution of clocks; 0: nanoseconds */
    uint32_t cache_entries;       /* if below the number of keys, states are evicted */
    bool has_rows, has_synthetic; /* rows at all, and rows that are not of a trace */
    bool has_identifiers;         /* the scenario has identifiers and no rows */
    bool has_strategies;          /* the user's tree has strategies */
    bool has_then;                /* settings change, as drawn or in the user's strategies */
    bool counts, remembers;       /* the drawn strategy counts rows; its readers remember empty windows */
    bool has_far;                 /* several datacenters */
    bool may_expire, may_delete;  /* the user's tree does not exclude it */
    /* The fault that is drawn. */
    int64_t at_ns, lasts_ns, by_ns;
    uint64_t factor;
    uint32_t node, agent;
    bool is_back;
};

/* --- draws */

static struct sim_random begin(const struct plan *plan, unsigned stream)
{
    struct sim_random random;
    sim_random_init(&random, plan->seed, SIM_FUZZ, stream);
    return random;
}

static bool chance(struct sim_random *random, double share)
{
    return sim_random_unit(random) < share;
}

static bool happens(const struct plan *plan, unsigned stream, double share)
{
    struct sim_random random = begin(plan, stream);
    return chance(&random, share);
}

static uint64_t whole(struct sim_random *random, uint64_t least, uint64_t most)
{
    return least + sim_random_below(random, most - least + 1);
}

static double logarithmic(struct sim_random *random, double least, double most)
{
    return least * sim_exp(sim_random_unit(random) * sim_log(most / least));
}

int64_t lab_draw_rounded(double span_ns)
{
    int64_t span = span_ns < 1e3 ? SIM_US : span_ns < (double)SPAN_MAX ? (int64_t)span_ns : SPAN_MAX;
    int64_t unit = 1;
    while (span / unit >= 100)
        unit *= 10;
    return span / unit * unit;
}

static int64_t span(struct sim_random *random, int64_t least_ns, int64_t most_ns)
{
    least_ns = least_ns < 1 ? 1 : least_ns; /* in a run of a few nanoseconds, the fraction may be 0 */
    if (most_ns <= least_ns)
        return lab_draw_rounded((double)least_ns);
    return lab_draw_rounded(logarithmic(random, (double)least_ns, (double)most_ns));
}

/* Rounds a span up to a multiple of the clocks' resolution, so that a row's time can be exactly at its end.
 */
static int64_t on_grid(const struct plan *plan, int64_t span_ns)
{
    int64_t step_ns = plan->clock_step_ns;
    return step_ns == 0 || span_ns % step_ns == 0 ? span_ns : span_ns - span_ns % step_ns + step_ns;
}

static void add_span(struct lab_writer *writer, const char *before, int64_t span_ns)
{
    char text[LAB_SETTING_TEXT_SIZE];
    lab_quantity_duration_text(span_ns, text, sizeof text);
    lab_writer_add(writer, "%s%s", before, text);
}

/* A fraction of the run, so that short runs have as many events as long ones; but at most most_ns, for runs
 * of days. */
static int64_t part_of(const struct plan *plan, int64_t parts, int64_t most_ns)
{
    return plan->duration_ns / parts < most_ns ? plan->duration_ns / parts : most_ns;
}

/* --- the texts of rows */

typedef void drawer(const struct plan *plan, struct sim_random *random, struct lab_writer *writer);
static drawer draw_rate, draw_history, draw_spikes, draw_bytes, draw_reads, draw_think, draw_datacenters,
    draw_tokens, draw_levels, draw_uniform, draw_cores, draw_operations, draw_faults, draw_between,
    draw_checkpoint, draw_strategies;

enum type { SPAN, U64, U32, FLAG };
#define PLAN(member, kind_of_number) .place = offsetof(struct plan, member), .type = (kind_of_number)
static const struct variable {
    const char *name;
    size_t place;
    enum type type;
    drawer *draw; /* or its text is drawn */
} variables[] = {{"run", PLAN(duration_ns, SPAN)},
                 {"cache", PLAN(cache_ttl_ns, SPAN)},
                 {"early", PLAN(early_ns, SPAN)},
                 {"far", PLAN(far_ns, SPAN)},
                 {"timeout", PLAN(timeout_ns, SPAN)},
                 {"client", PLAN(client_ns, SPAN)},
                 {"offset", PLAN(offset_ns, SPAN)},
                 {"drift", PLAN(drift_ppm, U64)},
                 {"bound", PLAN(clock_bound_ns, SPAN)},
                 {"step", PLAN(clock_step_ns, SPAN)},
                 {"has_offset", PLAN(has_offset, FLAG)},
                 {"has_steps", PLAN(has_steps, FLAG)},
                 {"has_timeouts", PLAN(has_timeouts, FLAG)},
                 {"has_keys", PLAN(has_keys, FLAG)},
                 {"keys", PLAN(keys, U64)},
                 {"keys_last", PLAN(keys_last, U64)},
                 {"entries", PLAN(cache_entries, U32)},
                 {"agents", PLAN(agents, U32)},
                 {"nodes", PLAN(nodes, U32)},
                 {"replicas", PLAN(replicas, U32)},
                 {"at", PLAN(at_ns, SPAN)},
                 {"lasts", PLAN(lasts_ns, SPAN)},
                 {"by", PLAN(by_ns, SPAN)},
                 {"factor", PLAN(factor, U64)},
                 {"node", PLAN(node, U32)},
                 {"agent", PLAN(agent, U32)},
                 {"has_rows", PLAN(has_rows, FLAG)},
                 {"has_synthetic", PLAN(has_synthetic, FLAG)},
                 {"has_identifiers", PLAN(has_identifiers, FLAG)},
                 {"is_timed", PLAN(is_timed, FLAG)},
                 {"is_long", PLAN(is_long, FLAG)},
                 {"is_back", PLAN(is_back, FLAG)},
                 {"may_expire", PLAN(may_expire, FLAG)},
                 {"may_delete", PLAN(may_delete, FLAG)},
                 {"has_plain_ring", PLAN(has_plain_ring, FLAG)},
                 {"has_datacenters", PLAN(has_datacenters, FLAG)},
                 {"has_far", PLAN(has_far, FLAG)},
                 {"rate", .draw = draw_rate},
                 {"history", .draw = draw_history},
                 {"spikes", .draw = draw_spikes},
                 {"bytes", .draw = draw_bytes},
                 {"reads", .draw = draw_reads},
                 {"think", .draw = draw_think},
                 {"datacenters", .draw = draw_datacenters},
                 {"tokens", .draw = draw_tokens},
                 {"levels", .draw = draw_levels},
                 {"uniform", .draw = draw_uniform},
                 {"cores", .draw = draw_cores},
                 {"operations", .draw = draw_operations},
                 {"faults", .draw = draw_faults},
                 {"between", .draw = draw_between},
                 {"checkpoint", .draw = draw_checkpoint},
                 {"strategies", .draw = draw_strategies}};

static const struct variable *find_variable(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (strncmp(variables[i].name, name, size) == 0 && variables[i].name[size] == '\0')
            return &variables[i];
    }
    abort(); /* a row of a table has a wrong name */
}

static int64_t number_of(const struct plan *plan, const struct variable *variable)
{
    const unsigned char *place = (const unsigned char *)plan + variable->place;
    return variable->type == FLAG  ? *(const bool *)place
           : variable->type == U32 ? (int64_t) * (const uint32_t *)place
                                   : *(const int64_t *)place;
}

/* A bound of a range: "12", "100ms", "run/5", "9run/10", or the smaller of two: "run/20&1m". */
static int64_t bound_of(const struct plan *plan, const char *text, bool *is_span)
{
    static const struct {
        const char *name;
        int64_t span_ns;
    } units[] = {{"us", SIM_US}, {"ms", SIM_MS}, {"s", SIM_SECOND}, {"m", SIM_MINUTE}};
    const char *at = text;
    char *end;
    int64_t value = 1;
    if (*at >= '0' && *at <= '9') {
        value = strtoll(at, &end, 10);
        at = end;
    }
    size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz_"), unit = 0;
    while (unit < 4 && (strncmp(units[unit].name, at, size) != 0 || units[unit].name[size] != '\0'))
        unit++;
    if (size > 0 && unit == 4) {
        const struct variable *variable = find_variable(at, size);
        value *= number_of(plan, variable);
        *is_span = *is_span || variable->type == SPAN;
    } else if (size > 0) {
        value *= units[unit].span_ns;
        *is_span = true;
    }
    at += size;
    if (*at == '/') {
        value /= strtoll(at + 1, &end, 10);
        at = end;
    }
    int64_t other = *at == '&' ? bound_of(plan, at + 1, is_span) : value;
    return other < value ? other : value;
}

/* "a|b|c", or "50%a|b". */
static void draw_word(struct sim_random *random, char *words, struct lab_writer *writer)
{
    char *percent = strchr(words, '%'), *word = percent != NULL ? percent + 1 : words;
    uint64_t count = 1, chosen;
    for (const char *c = words; *c != '\0'; c++)
        count += *c == '|';
    chosen = percent != NULL ? !chance(random, strtod(words, NULL) / 100) : whole(random, 0, count - 1);
    for (; chosen > 0; chosen--)
        word = strchr(word, '|') + 1;
    lab_writer_add(writer, "%.*s", (int)strcspn(word, "|"), word);
}

/* "5..1000", ".1:0.1..10", ".3t:0.1..5". */
static void draw_logarithm(struct sim_random *random, const char *text, struct lab_writer *writer)
{
    int digits = text[0] == '.' ? text[1] - '0' : 0;
    bool is_cut = text[0] == '.' && text[2] == 't';
    double least = strtod(text[0] == '.' ? strchr(text, ':') + 1 : text, NULL);
    double most = strtod(strstr(text, "..") + 2, NULL);
    double value = logarithmic(random, least, most);
    if (text[0] != '.' || is_cut)
        value = (double)(int64_t)(value * (is_cut ? 1000 : 1)) / (is_cut ? 1000 : 1);
    lab_writer_add(writer, "%.*f", digits, value);
}

/* "2..12", "5..20:1", "100ms..run/5", "#100ms..run/5". */
static void draw_range(const struct plan *plan, struct sim_random *random, const struct lab_field *field,
                       char *text, uint64_t *last, struct lab_writer *writer)
{
    bool is_span = false, is_on_grid = text[0] == '#';
    char *points = strstr(text, "..");
    *points = '\0';
    int64_t least = bound_of(plan, text + is_on_grid, &is_span), most = bound_of(plan, points + 2, &is_span);
    if (!is_span) {
        uint64_t value = whole(random, (uint64_t)least, points[2] == '$' ? *last : (uint64_t)most);
        *last = value;
        if (strchr(points + 2, ':') != NULL)
            lab_writer_add(writer, "%" PRIu64 ".%" PRIu64, value / 10, value % 10);
        else
            lab_writer_add(writer, "%" PRIu64, value);
        return;
    }
    if (field != NULL && field->most > 0) {
        least = (double)least < field->least ? (int64_t)field->least : least;
        least = (double)least > field->most ? (int64_t)field->most : least;
        most = (double)most > field->most ? (int64_t)field->most : most;
    }
    int64_t span_ns = span(random, least, most);
    add_span(writer, "", is_on_grid ? on_grid(plan, span_ns) : span_ns);
}

static void draw_variable(const struct plan *plan, struct sim_random *random, const char *name,
                          struct lab_writer *writer)
{
    const struct variable *variable = find_variable(name, strlen(name));
    if (variable->draw != NULL)
        variable->draw(plan, random, writer);
    else if (variable->type == SPAN)
        add_span(writer, "", number_of(plan, variable));
    else if (variable->type == FLAG) /* of a jump: forwards or backwards */
        lab_writer_add(writer, "%s", number_of(plan, variable) != 0 ? "-" : "");
    else
        lab_writer_add(writer, "%" PRId64, number_of(plan, variable));
}

/* Writes a text with its elements drawn; field may be NULL. */
static void expand(const struct plan *plan, struct sim_random *random, const struct lab_field *field,
                   const char *text, struct lab_writer *writer)
{
    uint64_t last = 0;
    const char *colon = strstr(text, "%:");
    if (colon != NULL && colon < text + 3) {
        if (!chance(random, strtod(text, NULL) / 100))
            return;
        text = colon + 2;
    }
    for (;;) {
        size_t plain = strcspn(text, "<");
        lab_writer_add(writer, "%.*s", (int)plain, text);
        if (text[plain] == '\0')
            return;
        char element[ELEMENT_SIZE];
        size_t size = strcspn(text + plain, ">");
        snprintf(element, sizeof element, "%.*s", (int)size - 1, text + plain + 1);
        text += plain + size + 1;
        if (strchr(element, '|') != NULL)
            draw_word(random, element, writer);
        else if (element[0] == '~')
            draw_logarithm(random, element + 1, writer);
        else if (strstr(element, "..") != NULL)
            draw_range(plan, random, field, element, &last, writer);
        else
            draw_variable(plan, random, element, writer);
    }
}

/* The share of the seeds in which a row is drawn. */
static double share_of(const struct plan *plan, const struct lab_drawn *draw)
{
    return draw->stream == LAB_DRAW_LATE && plan->remembers ? LATE_REMEMBERED : draw->share;
}

/* Draws the fields of a table, or only the first that is drawn; random: the stream of the mapping, or NULL.
 */
static void draw_fields(const struct plan *plan, struct sim_random *random, const struct lab_table *table,
                        bool is_one, struct lab_writer *writer)
{
    const char *before = "";
    for (const struct lab_field *field = table->fields; field->name != NULL; field++) {
        const struct lab_drawn *draw = &field->draw;
        bool is_mapping = draw->text == NULL
                              ? field->read == lab_read_mapping
                              : draw->text[0] == '{' && draw->text[2 + (draw->text[1] == '|')] == '\0';
        const struct lab_table *inner = is_mapping ? field->detail : NULL;
        if ((!is_mapping && draw->text == NULL) || (is_mapping && inner->fields == NULL) ||
            (draw->when != NULL && number_of(plan, find_variable(draw->when, strlen(draw->when))) == 0))
            continue;
        struct sim_random own, *from = random;
        if (draw->share > 0) {
            own = begin(plan, draw->stream);
            from = &own;
            if (draw->share < 1 && !chance(from, share_of(plan, draw)))
                continue;
            for (uint32_t i = 0; i < draw->skip; i++)
                sim_random_unit(from);
        }
        size_t size = writer->size;
        lab_writer_add(writer, "%s%s: ", before, field->name);
        size_t begin_of_value = writer->size;
        if (is_mapping) {
            lab_writer_add(writer, "{");
            draw_fields(plan, from, inner, draw->text != NULL && draw->text[1] == '|', writer);
        } else {
            expand(plan, from, field, draw->text, writer);
        }
        if (writer->size == begin_of_value + is_mapping && !writer->out_of_memory) {
            writer->size = size; /* nothing in it */
            writer->text[size] = '\0';
            continue;
        }
        lab_writer_add(writer, "%s", is_mapping ? "}" : "");
        before = ", ";
        if (is_one)
            return;
    }
}

/* --- rows */

static void draw_rate(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    (void)random;
    lab_writer_add(writer, plan->rate_per_s < 1e-2 ? "%.3g" : "%.3f", plan->rate_per_s);
}

/* The rate of a history that is loaded. */
static void draw_history(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    lab_writer_add(writer, "%.4g", plan->rate_per_s * logarithmic(random, 0.2, 2));
}

static void draw_spikes(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    add_span(writer, "[{at: ", lab_draw_rounded((double)plan->duration_ns * 0.7 * sim_random_unit(random)));
    expand(plan, random, NULL, ", lasts: <run/50..run/4>, factor: <2..15>, keys: ", writer);
    uint64_t share = whole(random, 10, 100);
    bool is_share = chance(random, 0.5);
    lab_writer_add(writer, "%" PRIu64 "%s}]", is_share ? share : whole(random, 1, plan->keys),
                   is_share ? "%" : "");
}

static void draw_bytes(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    uint64_t bytes = (uint64_t)logarithmic(random, 1, 5000), form = whole(random, 0, 3);
    if (form == 0)
        lab_writer_add(writer, "%" PRIu64 "B", bytes);
    else if (form == 1)
        lab_writer_add(writer, "{uniform: [%" PRIu64 "B, %" PRIu64 "B]}", bytes,
                       bytes + whole(random, 1, 8000));
    else
        lab_writer_add(writer, form == 2 ? "{lognormal: {mean: %" PRIu64 "B" : "{pareto: {min: %" PRIu64 "B",
                       bytes);
    if (form > 1)
        expand(plan, random, NULL, form == 2 ? ", sigma: <1..20:1>}}" : ", alpha: <12..40:1>}}", writer);
}

/* A plan that goes with every strategy. */
static void draw_read_plan(const struct plan *plan, unsigned kind, struct lab_writer *writer)
{
    static const char *const plans[] = {"walk", "pair", "parallel"};
    struct sim_random random = begin(plan, LAB_DRAW_READ_PLANS + kind);
    if (!chance(&random, 0.25))
        return;
    uint64_t choice = whole(&random, 0, 2);
    lab_writer_add(writer, ", plan: %s", plans[choice]);
    if (choice == 2)
        expand(plan, &random, NULL, ", at_once: <1..12>", writer);
}

/* If readers remember empty windows, they read often enough to read a window before and after a late row. */
static double rate_of_reads(const struct plan *plan, struct sim_random *random, double most)
{
    most *= plan->remembers ? 5 : 1;
    double rate = plan->rate_per_s * logarithmic(random, most / 10, most);
    return rate < 1e-3 ? 1e-3 : rate;
}

static void draw_reads(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    const struct length *length = plan->length;
    struct sim_random latest = begin(plan, LAB_DRAW_READS), range = begin(plan, LAB_DRAW_RANGE),
                      all = begin(plan, LAB_DRAW_ALL), limit = begin(plan, LAB_DRAW_LIMIT);
    bool has_latest = chance(&latest, 0.8), has_range = chance(&range, 0.15), has_all = chance(&all, 0.08);
    (void)random;
    if (!has_latest && !has_range && !has_all)
        return;
    lab_writer_add(writer, "{");
    if (has_latest) {
        uint64_t rows = whole(&latest, length->latest_rows[0], length->latest_rows[1]);
        lab_writer_add(writer, "latest: {rows: %" PRIu64 ", rate: %.4f/s", rows,
                       rate_of_reads(plan, &latest, length->latest));
        if (chance(&latest, 0.3))
            lab_writer_add(writer, ", plan: pair");
        else
            draw_read_plan(plan, LAB_READ_LATEST, writer);
        lab_writer_add(writer, "}, ");
    }
    if (has_range) {
        expand(plan, &range, NULL, "range: {span: <run/200..run/8>, age: ", writer);
        expand(plan, &range, NULL, chance(&range, 0.5) ? "0s" : "<run/500..run/8>", writer);
        lab_writer_add(writer, ", rate: %.4f/s", rate_of_reads(plan, &range, length->ranges));
        draw_read_plan(plan, LAB_READ_RANGE, writer);
        lab_writer_add(writer, "}, ");
    }
    if (has_all) {
        lab_writer_add(writer, "all: {rate: %.4f/s", rate_of_reads(plan, &all, 0.03));
        draw_read_plan(plan, LAB_READ_ALL, writer);
        lab_writer_add(writer, "}, ");
    }
    if (chance(&limit, 0.08))
        expand(plan, &limit, NULL, "limit: <1..30>, ", writer);
    writer->size -= writer->out_of_memory ? 0 : 2;
    lab_writer_add(writer, "}");
}

static void draw_think(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    double mean_ns = (double)plan->duration_ns * plan->agents / (double)plan->length->identifiers;
    add_span(writer, "", lab_draw_rounded(mean_ns * logarithmic(random, 0.5, 2)));
}

/* --- the cluster and the agents */

static void draw_datacenters(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    uint32_t left = plan->nodes;
    (void)random;
    for (uint32_t i = 0; i < plan->datacenters; i++) {
        uint32_t nodes = (left + plan->datacenters - i - 1) / (plan->datacenters - i);
        left -= nodes;
        lab_writer_add(writer, "%sdc%u: {nodes: %u, replication_factor: %u", i == 0 ? "{" : ", ", i + 1,
                       nodes, plan->replicas < nodes ? plan->replicas : nodes);
        if (plan->racks > 1)
            lab_writer_add(writer, ", racks: %u", plan->racks < nodes ? plan->racks : nodes);
        lab_writer_add(writer, "}");
    }
    lab_writer_add(writer, "}");
}

static void draw_tokens(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    expand(plan, random, NULL, chance(random, 0.05) ? "<1..16>" : "4", writer);
}

/* Draws from all consistency levels that the replicas support; levels such as TWO need that many replicas. */
static void draw_any_levels(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    static const char *const names[] = {"ONE",          "LOCAL_ONE",   "QUORUM", "ALL",
                                        "LOCAL_QUORUM", "EACH_QUORUM", "TWO",    "THREE"};
    uint64_t most = plan->replicas < 2 ? 5 : plan->replicas < 3 ? 6 : 7;
    const char *write = chance(random, 0.1) ? "ANY" : names[whole(random, 0, most)];
    const char *read = names[whole(random, 0, most)], *state = names[whole(random, 0, most)];
    bool is_local = chance(random, 0.3), is_alone = chance(random, 0.5);
    /* A read at ONE shows whether a write waited for all replicas. */
    if (is_alone && strcmp(write, "THREE") == 0)
        read = "ONE";
    lab_writer_add(writer, "{write: %s, read: %s, state: %s, serial: %s}", write, read, state,
                   is_local ? "LOCAL_SERIAL" : "SERIAL");
}

/* Usually such that reads see all acknowledged writes; sometimes not. */
static void draw_levels(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    struct sim_random any = begin(plan, LAB_DRAW_ANY_LEVELS);
    if (chance(&any, ANY_LEVELS)) {
        draw_any_levels(plan, &any, writer);
        return;
    }
    static const struct {
        double below;
        const char *levels[3], *serial;
    } sets[] = {{0.06, {"ONE", "ONE", "ONE"}, "SERIAL"},
                {0.09, {"QUORUM", "ONE", "QUORUM"}, "SERIAL"},
                {0.12, {"ALL", "ONE", "QUORUM"}, "SERIAL"},
                {0.6, {"QUORUM", "QUORUM", "QUORUM"}, "SERIAL"},
                {1, {"LOCAL_QUORUM", "LOCAL_QUORUM", "LOCAL_QUORUM"}, "LOCAL_SERIAL"}};
    double kind = sim_random_unit(random);
    size_t i = 0;
    while (kind >= (i == 3 && plan->datacenters > 1 ? 0.9 : sets[i].below))
        i++;
    lab_writer_add(writer, "{write: %s, read: %s, state: %s, serial: %s}", sets[i].levels[0],
                   sets[i].levels[1], sets[i].levels[2], sets[i].serial);
}

static void draw_uniform(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    int64_t least_ns = lab_draw_rounded((double)plan->mean_ns * sim_random_unit(random));
    add_span(writer, "[", least_ns);
    add_span(writer, ", ", 2 * plan->mean_ns > least_ns ? 2 * plan->mean_ns : least_ns + 1);
    lab_writer_add(writer, "]");
}

static void draw_cores(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    struct sim_random rare = begin(plan, LAB_DRAW_CORES);
    const char *usual = chance(random, 0.2) ? "1" : "32";
    expand(plan, &rare, NULL, chance(&rare, 0.1) ? "<2..16>" : usual, writer);
}

static void draw_operations(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    lab_writer_add(writer, "%" PRIu64, plan->length->operations << whole(random, 0, 3));
}

/* --- strategies, usually one with a coordination */

/* Shares of the seeds, in percent; COUNTS more have COUNT. */
static const struct {
    enum kind kind;
    uint32_t percent;
} kinds[] = {{GUARDED, 33}, {THREE_STATE, 33}, {SINGLE, 11}, {LOCKED, 9},
             {COUNT, 4},    {HASH, 3},         {TIME, 5},    {UNBUCKETED, 2}};
#define COUNTS 0.08
/* The shortest run with changes of settings, so that two changes can be at different times. */
#define THEN_LEAST_NS (10 * SIM_SECOND)

static enum kind kind_of(const struct plan *plan)
{
    struct sim_random random = begin(plan, LAB_DRAW_STRATEGY), counts = begin(plan, LAB_DRAW_COUNTS);
    uint64_t percent = whole(&random, 0, 99);
    size_t i = 0;
    if (chance(&counts, COUNTS))
        return COUNT;
    while (percent >= kinds[i].percent)
        percent -= kinds[i++].percent;
    return kinds[i].kind;
}

/* If readers remember empty windows, windows are so short that many are empty. */
static void draw_window(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    int64_t parts = plan->remembers ? 12 : 1;
    int64_t least_ns = plan->duration_ns / plan->length->windows / parts,
            most_ns = plan->duration_ns / 4 / parts;
    add_span(writer, "window: ", on_grid(plan, span(random, least_ns, most_ns)));
}

/* Some windows begin at an odd time, some are those of the calendar, and some have shards. */
static void draw_windows(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    static const char *const calendars[] = {"hour", "day", "week", "month"};
    struct sim_random rare = begin(plan, LAB_DRAW_WINDOWS);
    bool has_calendar = chance(&rare, 0.4) && !plan->remembers && !plan->has_then,
         has_epoch = chance(&rare, 0.2);
    uint64_t calendar = whole(&rare, 0, 3), second = whole(&rare, 0, 59);
    bool has_shards = chance(&rare, SHARDS);
    uint64_t shards = whole(&rare, 2, 5);
    if (has_calendar)
        lab_writer_add(writer, "calendar: %s", calendars[calendar]);
    else
        draw_window(plan, random, writer);
    if (has_epoch && !has_calendar)
        lab_writer_add(writer, ", epoch: 2025-12-31T23:59:%02" PRIu64 "Z", second);
    if (has_shards)
        lab_writer_add(writer, ", shards: %" PRIu64, shards);
}

/* In a few seeds, draws how rows are read. */
static void draw_reading(const struct plan *plan, struct lab_writer *writer)
{
    static const char *const of_hash[] = {"all", "lazy", "parallel"}, *const others[] = {"walk", "pair",
                                                                                         "parallel"};
    struct sim_random random = begin(plan, LAB_DRAW_PLAN), empties = begin(plan, LAB_DRAW_EMPTIES);
    bool remembers = plan->remembers, has_plan = chance(&random, plan->kind == HASH ? 0.6 : 0.15);
    uint64_t choice = whole(&random, 0, 2), at_once = whole(&random, 1, 12);
    sim_random_unit(&empties); /* takes the draw of whether they are remembered */
    if (!has_plan && !remembers)
        return;
    lab_writer_add(writer, ", read: {");
    if (has_plan)
        lab_writer_add(writer, "plan: %s%s", plan->kind == HASH ? of_hash[choice] : others[choice],
                       remembers || choice == 2 ? ", " : "");
    if (has_plan && choice == 2)
        lab_writer_add(writer, "at_once: %" PRIu64 "%s", at_once, remembers ? ", " : "");
    if (remembers)
        expand(plan, &empties, NULL, "remember_empty: true, late: <100ms..run/4>", writer);
    lab_writer_add(writer, "}");
}

static bool is_weighted(const struct plan *plan)
{
    return happens(plan, LAB_DRAW_WEIGHTED, 0.1);
}

static enum bk_source draw_source(const struct plan *plan, struct sim_random *random)
{
    *random = begin(plan, LAB_DRAW_SOURCE);
    return (enum bk_source)whole(random, 0, BK_SOURCE_MEMORY);
}

static bool may_change(const struct plan *plan)
{
    struct sim_random random;
    if (plan->kind == COUNT && draw_source(plan, &random) < BK_SOURCE_LWT)
        return false;
    return plan->kind != UNBUCKETED && plan->has_duration && plan->duration_ns >= THEN_LEAST_NS;
}

/* In some seeds, a greatest age whose lines a run crosses a few times, or sometimes many times. 0: none. */
static int64_t draw_max_age(const struct plan *plan)
{
    struct sim_random random = begin(plan, LAB_DRAW_MAX_AGE);
    if (plan->kind > SINGLE || !plan->has_duration || !chance(&random, 0.15))
        return 0;
    return on_grid(plan, span(&random, plan->duration_ns / 60, plan->duration_ns / 2));
}

/* Moves some dates of changes to the previous line, since users often choose round dates; only if that line
 * is after after_ns. */
static int64_t draw_aligned(const struct plan *plan, int64_t at_ns, int64_t after_ns)
{
    struct sim_random random = begin(plan, LAB_DRAW_ALIGNED);
    int64_t age_ns = draw_max_age(plan);
    if (age_ns == 0 || !chance(&random, 0.5))
        return at_ns;
    int64_t line_ns = at_ns - (LAB_START_DEFAULT + at_ns) % age_ns;
    return line_ns > after_ns ? line_ns : at_ns;
}

/* Of changing numbers of buckets, one in some era is 1. */
static void draw_buckets(const struct plan *plan, struct sim_random *random, uint64_t era,
                         struct lab_writer *writer)
{
    struct sim_random rare = begin(plan, LAB_DRAW_ONE_BUCKET);
    uint64_t drawn = whole(random, 1, 8);
    bool has_one = chance(&rare, 0.3) && plan->has_then;
    lab_writer_add(writer, "buckets: %" PRIu64, has_one && whole(&rare, 0, 1) == era ? 1 : drawn);
}

/* The settings of one change. */
static void draw_change(const struct plan *plan, struct sim_random *random, double mean_rows, uint64_t era,
                        struct lab_writer *writer)
{
    if (plan->kind == HASH)
        draw_buckets(plan, random, era, writer);
    else if (plan->kind == COUNT)
        lab_writer_add(writer, "rows: %" PRIu64, 1 + (uint64_t)logarithmic(random, 2, 2 * mean_rows));
    else if (plan->kind == TIME)
        draw_window(plan, random, writer);
    else if (is_weighted(plan))
        expand(plan, random, NULL, "threshold: <4..60>, bytes: <250..4000>B", writer);
    else {
        lab_writer_add(writer, "threshold: %" PRIu64,
                       1 + (uint64_t)(mean_rows / (double)whole(random, 1, 8)));
        expand(plan, random, NULL, ", bits: <0..2>", writer);
    }
}

/* Draws one or two changes to other settings of the same kind; some of them without a date that is known in
 * advance. */
static void draw_then(const struct plan *plan, double mean_rows, struct lab_writer *writer)
{
    if (!may_change(plan))
        return;
    struct sim_random random = begin(plan, LAB_DRAW_THEN), mixed = begin(plan, LAB_DRAW_MIXED);
    sim_random_unit(&random); /* takes the draw of whether there are changes */
    uint64_t count = whole(&random, 1, 2);
    bool is_rolled_out = chance(&random, 0.3), forgets = chance(&random, 0.2);
    /* Of two changes, often only one is deployed; the date of the other is known. */
    uint64_t only = chance(&mixed, 0.5) ? whole(&mixed, 0, 1) : count;
    int64_t after_ns = 0;
    for (uint64_t i = 0; i < count; i++) {
        double share = (0.1 + 0.5 * (double)i) + 0.3 * sim_random_unit(&random);
        int64_t at_ns = on_grid(plan, lab_draw_rounded((double)plan->duration_ns * share));
        at_ns = draw_aligned(plan, at_ns, after_ns);
        add_span(writer, i == 0 ? ", then: [{at: " : ", {at: ", at_ns);
        lab_writer_add(writer, ", ");
        draw_change(plan, &random, mean_rows, i + 1, writer);
        bool is_deployed = only == count || only == i;
        if (is_rolled_out && is_deployed)
            expand(plan, &random, NULL, ", rollout: <10ms..run/10>", writer);
        after_ns = at_ns + plan->duration_ns / 10; /* the longest rollout */
        lab_writer_add(writer, "%s}", forgets && is_deployed ? ", keep_old: false" : "");
    }
    lab_writer_add(writer, "]");
}

/* Counts come after a number of rows, and some by time too. */
static void draw_count(const struct plan *plan, uint64_t rows, struct lab_writer *writer)
{
    struct sim_random random, by_time = begin(plan, LAB_DRAW_EVERY_TIME);
    enum bk_source source = draw_source(plan, &random);
    uint64_t batch = whole(&random, 1, 2 * rows), every_rows = whole(&random, 1, rows);
    /* If keys are evicted from caches between two counts, small partitions show whether they are still
     * counted. */
    if (plan->keys > plan->cache_entries && chance(&random, 0.6)) {
        rows = whole(&random, 3, 10);
        every_rows = whole(&random, 1, 4);
    }
    lab_writer_add(writer, "rows: %" PRIu64 ", counter: %s", rows,
                   lab_setting_name(BK_KIND_COUNT, "counter", (int)source));
    if (source == BK_SOURCE_LEASE)
        lab_writer_add(writer, ", batch: %" PRIu64, batch);
    if (source != BK_SOURCE_INCREMENTAL && source != BK_SOURCE_SCAN)
        return;
    lab_writer_add(writer, ", every_rows: %" PRIu64, every_rows);
    int64_t shortest_ns = part_of(plan, 200, SIM_DAY);
    if (!chance(&by_time, 0.3) || shortest_ns == 0)
        return;
    add_span(writer, ", every_time: ", span(&by_time, shortest_ns, shortest_ns * 50));
}

/* Draws the number of rows of a partition. For weighted it applies to rows of 1KB, which is the default; some
 * rows add more than 1. */
static void draw_size(const struct plan *plan, double mean_rows, struct lab_writer *writer)
{
    struct sim_random weighted = begin(plan, LAB_DRAW_WEIGHTED), random = begin(plan, LAB_DRAW_SIZE),
                      by_chance = begin(plan, LAB_DRAW_CHANCE);
    sim_random_unit(&weighted); /* takes the draw of is_weighted() */
    if (is_weighted(plan)) {
        double unit_bytes = logarithmic(&weighted, 250, 16000), threshold = mean_rows * 1000 / unit_bytes;
        lab_writer_add(writer, "bytes: %" PRIu64 "B, threshold: %" PRIu64, (uint64_t)unit_bytes,
                       threshold < 1 ? 1 : (uint64_t)(threshold + 0.5));
        return;
    }
    sim_random_unit(&random); /* takes the draw of mean_rows */
    uint64_t bits = whole(&random, 0, 5);
    while (bits > 0 && (double)(UINT64_C(1) << bits) > mean_rows)
        bits--;
    if (!chance(&by_chance, 0.15) || plan->has_then) {
        lab_writer_add(writer, "bits: %" PRIu64 ", threshold: %" PRIu64, bits,
                       (uint64_t)(mean_rows / (double)(UINT64_C(1) << bits) + 0.5));
        return;
    }
    uint64_t rows = whole(&by_chance, 1, (uint64_t)mean_rows + 1), of = rows - whole(&by_chance, 0, rows - 1);
    uint64_t fired = (uint64_t)(mean_rows * (double)of / (double)rows + 0.5);
    lab_writer_add(writer, "chance: %" PRIu64 "/%" PRIu64 ", threshold: %" PRIu64, of, rows,
                   fired > 0 ? fired : 1);
}

/* About half of the leads are longer than the time to live of caches plus clock differences, with a margin
 * for a slow request. */
static int64_t draw_lead(const struct plan *plan)
{
    struct sim_random random = begin(plan, LAB_DRAW_LEAD);
    bool is_safe = chance(&random, 0.75);
    double least_ns = (double)plan->cache_ttl_ns + 2 * (double)plan->clock_bound_ns;
    if (!is_safe)
        return lab_draw_rounded(least_ns * sim_random_unit(&random));
    double spare_ns = logarithmic(&random, 0.01, 0.1) * (double)plan->duration_ns;
    return lab_draw_rounded((least_ns + (spare_ns > 10e9 ? 10e9 : spare_ns)) * 1.02);
}

static void draw_probabilistic(const struct plan *plan, double mean_rows, struct lab_writer *writer)
{
    static const char *const coordinations[] = {
        [GUARDED] = "guarded", [THREE_STATE] = "three-state", [LOCKED] = "locked", [SINGLE] = "single"};
    struct sim_random counter = begin(plan, LAB_DRAW_COUNTER), grant = begin(plan, LAB_DRAW_GRANT),
                      lock = begin(plan, LAB_DRAW_LOCK);
    const char *coordination = coordinations[plan->kind];
    draw_size(plan, mean_rows, writer);
    lab_writer_add(writer, ", coordination: %s, label: %s", coordination, coordination);
    if (plan->kind == GUARDED)
        expand(plan, &grant, NULL, ", grant: <#200ms..run/8&20s>", writer);
    else /* With conditional rolls, two rolls cannot be stored concurrently, and more is guaranteed. */
        expand(plan, &counter, NULL, ", counter: <rmw|lwt|lwt|counter>", writer);
    if (plan->kind == THREE_STATE) {
        add_span(writer, ", lead: ", on_grid(plan, draw_lead(plan)));
    }
    if (plan->kind == LOCKED)
        expand(plan, &lock, NULL, ", lock: {lasts: <100ms..10s>, backoff: <10ms..1s>}", writer);
}

/* Usually the time from the end of a lease to the end of its lock is longer than the difference between
 * clocks. */
static int64_t draw_lease(const struct plan *plan, struct sim_random *random, int64_t lasts_ns)
{
    double spare_ns = (double)lasts_ns - 2 * (double)plan->clock_bound_ns;
    bool is_safe = chance(random, 0.8);
    double share = 0.3 + 0.65 * sim_random_unit(random);
    int64_t lease_ns = lab_draw_rounded((is_safe ? spare_ns : (double)lasts_ns) * share);
    return lease_ns < lasts_ns ? lease_ns : lasts_ns / 2;
}

/* Usually random, since clients with equal waits collide again. */
static void draw_backoff(const struct plan *plan, int64_t wait_ns, struct lab_writer *writer)
{
    struct sim_random random = begin(plan, LAB_DRAW_BACKOFF), rare = begin(plan, LAB_DRAW_STRIPES);
    bool is_random = chance(&random, 0.7), is_constant = chance(&random, 0.3),
         gives_up = chance(&random, 0.3);
    lab_writer_add(writer, ", backoff: {%s: ",
                   is_random     ? "random"
                   : is_constant ? "constant"
                                 : "exponential");
    add_span(writer, "", wait_ns);
    if (!is_random && !is_constant) {
        add_span(writer, ", cap: ", wait_ns * (int64_t)whole(&random, 1, 20));
    }
    if (chance(&rare, 0.2)) {
        add_span(writer, ", limit: ", wait_ns * (int64_t)whole(&rare, 1, 30));
    }
    if (gives_up)
        expand(plan, &random, NULL, ", attempts: <1..8>", writer);
    lab_writer_add(writer, "}, label: idgen");
}

static uint64_t draw_stripes(const struct plan *plan)
{
    struct sim_random random = begin(plan, LAB_DRAW_STRIPES);
    sim_random_unit(&random); /* takes the draws of a limit */
    sim_random_unit(&random);
    return chance(&random, 0.6) ? 2 : whole(&random, 3, 6);
}

static void draw_idgen(const struct plan *plan, struct lab_writer *writer)
{
    static const char *const locks[] = {"columns", "lwt"}, *const choices[] = {"fixed", "rotate", "random"};
    struct sim_random random = begin(plan, LAB_DRAW_IDGEN), rare = begin(plan, LAB_DRAW_CHOICE);
    const char *lock = locks[whole(&random, 0, 1)];
    uint64_t batch = whole(&random, 1, plan->length->batch),
             stripes = chance(&random, 0.3) ? draw_stripes(plan) : 1;
    int64_t least_ns = 4 * plan->clock_bound_ns > 200 * SIM_MS ? 4 * plan->clock_bound_ns : 200 * SIM_MS;
    int64_t lasts_ns = span(&random, least_ns, 4 * least_ns), lease_ns = draw_lease(plan, &random, lasts_ns);
    int64_t wait_ns = span(&random, SIM_MS, 50 * SIM_MS);
    lab_writer_add(writer,
                   "[{idgen: {batch: %" PRIu64 ", stripes: %" PRIu64 ", lock: %s, lock_lasts: ", batch,
                   stripes, lock);
    add_span(writer, "", lasts_ns);
    add_span(writer, ", lease: ", lease_ns);
    if (stripes > 1 && chance(&rare, 0.5)) {
        uint64_t choice = whole(&rare, 0, 2);
        lab_writer_add(writer, ", choice: %s", choices[choice]);
        if (choice < 2)
            lab_writer_add(writer, ", stripe: %" PRIu64, whole(&rare, 1, stripes));
    }
    draw_backoff(plan, wait_ns, writer);
    lab_writer_add(writer, "}}]");
}

static void draw_strategies(const struct plan *plan, struct sim_random *no_stream, struct lab_writer *writer)
{
    static const char *const names[] = {
        [COUNT] = "count", [HASH] = "hash", [TIME] = "time", [UNBUCKETED] = "unbucketed"};
    struct sim_random random = begin(plan, LAB_DRAW_SIZE);
    double mean_rows = logarithmic(&random, plan->length->partition_rows[0], plan->length->partition_rows[1]);
    int64_t age_ns = draw_max_age(plan);
    (void)no_stream;
    if (plan->has_identifiers) {
        draw_idgen(plan, writer);
        return;
    }
    lab_writer_add(writer, "[{%s: {",
                   plan->kind > SINGLE ? names[plan->kind]
                   : is_weighted(plan) ? "weighted"
                                       : "probabilistic");
    if (plan->kind <= SINGLE)
        draw_probabilistic(plan, mean_rows, writer);
    else if (plan->kind == COUNT)
        draw_count(plan, (uint64_t)mean_rows, writer);
    else if (plan->kind == HASH)
        draw_buckets(plan, &random, 0, writer);
    else if (plan->kind == TIME)
        draw_windows(plan, &random, writer);
    else
        lab_writer_add(writer, "label: unbucketed");
    if (age_ns > 0) {
        add_span(writer, ", max_age: ", age_ns);
    }
    if (plan->has_then)
        draw_then(plan, mean_rows, writer);
    else
        draw_reading(plan, writer);
    lab_writer_add(writer, "}}]");
}

/* --- faults. First it is drawn which kinds are enabled (swarm testing), so that seeds differ in character;
 * then each kind occurs a few times in the first part of the run. The rest of the run has no faults, so that
 * recovery can be checked. */

#define CHAOS_SHARE 0.6
#define STRIKES_MAX 4u
/* The share of seeds of each character. In a usual seed, a kind has the share of its row. Kinds with a
 * smaller one excuse many violations, or rarely have an effect: their share is the same in all seeds with
 * faults. */
#define QUIET_SEEDS  0.08 /* no faults */
#define MILD_SEEDS   0.28
#define STORMY_SEEDS 0.12 /* all kinds */
#define MILD_SHARE   0.1
/* Shares of the seeds with faults at random times. */
#define RANDOM_SHARE  0.08
#define CRASHES_SHARE 0.04

static uint32_t draw_struck(const struct plan *plan)
{
    struct sim_random random = begin(plan, LAB_DRAW_SWARM);
    double character = sim_random_unit(&random),
           usual = lab_fault_table.fields[LAB_FAULT_NODE_DOWN].draw.share;
    uint32_t struck = 0;
    for (unsigned kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
        double share = lab_fault_table.fields[kind].draw.share, drawn = sim_random_unit(&random);
        bool is_of_key = kind == LAB_FAULT_STATE_LOST || kind == LAB_FAULT_STATE_RESTORED;
        if (share < usual                          ? drawn >= share
            : character < QUIET_SEEDS + MILD_SEEDS ? drawn >= MILD_SHARE
                                                   : character < 1 - STORMY_SEEDS && drawn >= share)
            continue;
        if (!is_of_key || (!plan->has_identifiers && plan->keys > 0))
            struck |= 1u << kind;
    }
    return plan->has_duration && character >= QUIET_SEEDS ? struck : 0;
}

static int64_t longest_of(const struct plan *plan)
{
    return part_of(plan, plan->length->faults, 10 * SIM_MINUTE);
}

/* All crashes of a seed that happen at the same time have the same checkpoint. */
static void draw_checkpoint(const struct plan *plan, struct sim_random *no_stream, struct lab_writer *writer)
{
    struct sim_random random;
    (void)no_stream;
    sim_random_init(&random, plan->seed ^ (uint64_t)plan->at_ns, SIM_FUZZ, LAB_DRAW_CHECKPOINT);
    if ((!chance(&random, 0.4) && !plan->has_then) || plan->has_identifiers)
        return;
    /* With changing settings, a checkpoint from before the change. */
    int64_t age_ns =
        plan->has_then ? span(&random, part_of(plan, 20, 10 * SIM_MINUTE), part_of(plan, 2, 10 * SIM_MINUTE))
                       : span(&random, 10 * SIM_MS, longest_of(plan));
    add_span(writer, ", checkpoint: ", age_ns);
}

static void draw_between(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    uint64_t node = whole(random, 0, plan->nodes - 1);
    uint64_t other = plan->nodes == 1 ? node : (node + whole(random, 1, plan->nodes - 1)) % plan->nodes;
    uint64_t agent = whole(random, 0, plan->agents - 1), kind = whole(random, 0, 3);
    if (kind == 0 && plan->datacenters > 1)
        lab_writer_add(writer, "[%s, %s]", plan->datacenter_names[0], plan->datacenter_names[1]);
    else if (kind == 1 || other == node)
        lab_writer_add(writer, "[agents, node %" PRIu64 "]", node);
    else if (kind == 2)
        lab_writer_add(writer, "[agent %" PRIu64 ", node %" PRIu64 "]", agent, node);
    else
        lab_writer_add(writer, "[node %" PRIu64 ", node %" PRIu64 "]", node, other);
}

static void draw_fault(const struct plan *plan, const struct lab_field *row, struct sim_random *random,
                       struct lab_writer *writer)
{
    struct plan fault = *plan;
    double until_ns = (double)plan->duration_ns * CHAOS_SHARE;
    fault.at_ns = (int64_t)(until_ns * sim_random_unit(random)) / SIM_MS * SIM_MS;
    fault.lasts_ns = span(random, 200 * SIM_MS, longest_of(plan));
    if ((double)fault.lasts_ns > until_ns - (double)fault.at_ns)
        fault.lasts_ns = lab_draw_rounded(until_ns - (double)fault.at_ns);
    fault.node = (uint32_t)whole(random, 0, plan->nodes - 1);
    fault.agent = (uint32_t)whole(random, 0, plan->agents - 1);
    fault.factor = (uint64_t)logarithmic(random, 2, 300);
    fault.is_back = chance(random, 0.5);
    fault.by_ns = span(random, 10 * SIM_MS, longest_of(plan));
    lab_writer_add(writer, "{%s: ", row->name);
    expand(&fault, random, NULL, row->draw.text, writer);
    lab_writer_add(writer, "}, ");
}

/* Some kinds, each with the same chance, but at least one. A clock beyond its bound, and a state that was
 * lost, excuse too much to be common. */
static void draw_kinds(const struct plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    unsigned first = (unsigned)whole(random, 0, LAB_FAULT_AGENT_CRASH), listed = 0;
    lab_writer_add(writer, "kinds: [");
    for (unsigned kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
        bool is_rare = kind == LAB_FAULT_CLOCK_JUMP || kind >= LAB_FAULT_STATE_LOST;
        bool is_of_key = kind == LAB_FAULT_STATE_LOST || kind == LAB_FAULT_STATE_RESTORED;
        bool is_chosen = chance(random, is_rare ? 0.05 : 0.3) || kind == first;
        if (!is_chosen || kind == LAB_FAULT_STATE_RESTORED ||
            (is_of_key && (plan->has_identifiers || plan->keys == 0)))
            continue;
        lab_writer_add(writer, "%s%s", listed++ > 0 ? ", " : "",
                       lab_fault_kind_name((enum lab_fault_kind)kind));
    }
    lab_writer_add(writer, "], ");
}

/* A few faults at random times. In most seeds they end, so that recovery can be checked. */
static void draw_random_faults(const struct plan *plan, struct lab_writer *writer)
{
    struct sim_random random = begin(plan, LAB_DRAW_RANDOM);
    if (!plan->has_duration || !plan->is_long || !chance(&random, RANDOM_SHARE + CRASHES_SHARE))
        return;
    double rate = logarithmic(&random, 2, 12) / ((double)plan->duration_ns / 1e9 * CHAOS_SHARE);
    rate = rate < 0.001 ? 0.001 : rate > 100 ? 100 : rate;
    if (chance(&random, CRASHES_SHARE / (RANDOM_SHARE + CRASHES_SHARE))) {
        lab_writer_add(writer, "{agent_crash: {rate: %.4f/s}}, ", rate);
        return;
    }
    lab_writer_add(writer, "{random: {rate: %.4f/s, ", rate);
    if (chance(&random, 0.7))
        draw_kinds(plan, &random, writer);
    if (chance(&random, 0.8)) {
        int64_t latest_ns = (int64_t)((double)plan->duration_ns * CHAOS_SHARE);
        add_span(writer, "until: ", span(&random, plan->duration_ns / 10, latest_ns));
        lab_writer_add(writer, ", ");
    }
    expand(plan, &random, NULL, "lasts: <100ms..run/8>}}, ", writer);
}

static void draw_faults(const struct plan *plan, struct sim_random *no_stream, struct lab_writer *writer)
{
    uint32_t struck = draw_struck(plan);
    (void)no_stream;
    lab_writer_add(writer, "[");
    size_t size = writer->size;
    for (unsigned kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
        struct sim_random random = begin(plan, LAB_DRAW_FAULTS + kind);
        if ((struck >> kind & 1) == 0)
            continue;
        uint64_t strikes = whole(&random, 1, STRIKES_MAX);
        for (uint64_t i = 0; i < strikes; i++)
            draw_fault(plan, &lab_fault_table.fields[kind], &random, writer);
    }
    draw_random_faults(plan, writer);
    writer->size -= writer->out_of_memory || writer->size == size ? 0 : 2;
    lab_writer_add(writer, "]");
}

/* --- the plan: values on which others depend, in the user's tree (invalid ones are found by later checks) or
 * else drawn */

/* Whether any strategy of the list has 'then'. */
static bool changes_settings(const struct lab_node *strategies)
{
    for (const struct lab_node *item = strategies->first; item != NULL; item = item->next) {
        for (const struct lab_node *kind = item->first; kind != NULL; kind = kind->next) {
            if (kind->kind == LAB_NODE_MAPPING && lab_node_find(kind, "then") != NULL)
                return true;
        }
    }
    return false;
}

/* Draws rare features that the user's tree does not specify. A tree that does not describe rows may get
 * identifiers instead of rows. */
static void plan_character(struct plan *plan, const struct lab_node *root)
{
    static const char *const of_rows[] = {"keys",  "arrivals", "trace", "row",   "deletes",
                                          "reads", "limits",   "table", "start", "strategies"};
    bool has_rows = false;
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++)
        has_rows = has_rows || lab_node_find(root, of_rows[i]) != NULL;
    plan->has_identifiers = (happens(plan, LAB_DRAW_IDENTIFIERS, IDENTIFIERS) && !has_rows) ||
                            lab_node_find(root, "identifiers") != NULL;
    const struct lab_node *strategies = lab_node_find(root, "strategies");
    plan->has_strategies = strategies != NULL;
    plan->has_then = strategies == NULL ? happens(plan, LAB_DRAW_THEN, THEN) : changes_settings(strategies);
    plan->length = happens(plan, LAB_DRAW_LENGTH, LONG) ? &long_seed : &short_seed;
    plan->may_expire = lab_node_find(root, "deletes") == NULL;
    plan->may_delete = lab_node_find(root, "row") == NULL;
}

/* The text of a field of the user's tree; NULL when it has none. */
static const char *fact(const struct lab_node *mapping, const char *name)
{
    const struct lab_node *node = lab_node_find(mapping, name);
    return node == NULL || node->kind != LAB_NODE_SCALAR ? NULL : node->text;
}

/* Leaves *out unchanged when the field is absent or invalid. */
static void fact_whole(const struct lab_node *mapping, const char *name, uint32_t *out)
{
    uint64_t value;
    if (lab_whole_of(lab_node_find(mapping, name), &value) && value > 0 && value <= UINT32_MAX)
        *out = (uint32_t)value;
}

/* The number of rows determines the cost of a seed, so it is drawn, and the rate follows from it. */
static void plan_workload(struct plan *plan, const struct lab_node *root)
{
    const struct length *length = plan->length;
    struct sim_random random;
    uint32_t keys = 0;
    random = begin(plan, LAB_DRAW_ROWS);
    double rows = logarithmic(&random, length->rows[0], length->rows[1]);
    random = begin(plan, LAB_DRAW_KEYS);
    plan->keys = whole(&random, 1, plan->remembers ? KEYS_READ : length->keys);
    /* With more keys than entries of a small cache, states are evicted. */
    plan->cache_entries = 16;
    random = begin(plan, LAB_DRAW_EVICTION);
    if (chance(&random, plan->counts ? COUNT_EVICTION : EVICTION)) {
        plan->cache_entries = (uint32_t)whole(&random, 1, CACHE_SET);
        plan->keys = whole(&random, CACHE_SET + 1, KEYS_MANY);
    }
    fact_whole(lab_node_find(root, "keys"), "count", &keys);
    plan->keys = keys > 0 ? keys : plan->keys;

    bool is_trace = lab_node_find(root, "trace") != NULL;
    if (is_trace)
        plan->keys = 0; /* not known before the run */
    const char *rate = is_trace ? NULL : fact(lab_node_find(root, "arrivals"), "rate");
    bool has_rate =
        rate != NULL && lab_quantity_rate(rate, &plan->rate_per_s) == NULL && plan->rate_per_s > 0;
    random = begin(plan, LAB_DRAW_DURATION);
    plan->duration_ns = span(&random, length->duration_ns[0], length->duration_ns[1]);
    plan->has_duration = lab_span_of(lab_node_find(root, "duration"), &plan->duration_ns) || !is_trace;
    if (has_rate && lab_node_find(root, "duration") == NULL)
        plan->duration_ns = lab_draw_rounded(rows / plan->rate_per_s * 1e9);
    if (has_rate)
        return;
    plan->rate_per_s = rows * 1e9 / (double)plan->duration_ns;
    if (plan->rate_per_s > RATE_MAX)
        plan->rate_per_s = RATE_MAX;
}

static bool has_ring(const struct lab_node *cluster)
{
    return lab_node_find(cluster, "nodes") != NULL || lab_node_find(cluster, "replication_factor") != NULL ||
           lab_node_find(cluster, "datacenters") != NULL;
}

static void plan_ring(struct plan *plan, const struct lab_node *cluster)
{
    struct sim_random random = begin(plan, LAB_DRAW_RING);
    plan->datacenters = chance(&random, 0.2) ? 2 : 1;
    plan->nodes = (uint32_t)whole(&random, 3, 6);
    double usual = sim_random_unit(&random);
    plan->replicas = usual < 0.8 ? 3 : usual < 0.9 ? 2 : 1;
    if (plan->datacenters == 2) {
        plan->nodes = (uint32_t)whole(&random, 4, 6);
        plan->replicas = usual < 0.5 ? 2 : usual < 0.9 ? 3 : 1;
    }
    if (plan->datacenters == 2 && plan->replicas > plan->nodes / 2)
        plan->replicas = plan->nodes / 2;
    plan->racks = 1;
    random = begin(plan, LAB_DRAW_TOPOLOGY);
    if (chance(&random, TOPOLOGY)) {
        plan->racks = (uint32_t)whole(&random, 1, 3);
        bool has_third = plan->datacenters == 2 && chance(&random, 0.5);
        plan->datacenters += has_third;
        plan->nodes += 2 * has_third;
    }
    for (uint32_t i = 0; i < plan->datacenters; i++)
        snprintf(plan->datacenter_names[i], sizeof plan->datacenter_names[i], "dc%u", i + 1);
    if (!has_ring(cluster))
        return;
    const struct lab_node *list = lab_node_find(cluster, "datacenters");
    plan->datacenters = 0;
    plan->nodes = NODES_DEFAULT;
    if (list == NULL) {
        fact_whole(cluster, "nodes", &plan->nodes);
        return;
    }
    plan->nodes = 0;
    for (const struct lab_node *one = list->first; one != NULL; one = one->next) {
        uint32_t nodes = 0;
        fact_whole(one, "nodes", &nodes);
        plan->nodes += nodes;
        if (plan->datacenters < CASS_DATACENTERS_MAX)
            snprintf(plan->datacenter_names[plan->datacenters++], sizeof plan->datacenter_names[0], "%s",
                     one->name);
    }
    if (plan->nodes == 0) /* invalid, which is reported by later checks */
        plan->nodes = 1;
}

static void plan_agents(struct plan *plan, const struct lab_node *agents)
{
    struct sim_random random = begin(plan, LAB_DRAW_AGENTS);
    plan->agents = chance(&random, 0.1) ? 1 : (uint32_t)whole(&random, 2, plan->remembers ? AGENTS_READ : 8);
    if (happens(plan, LAB_DRAW_ONE_WRITER, ONE_WRITER) && plan->counts)
        plan->agents = 1;
    fact_whole(agents, "count", &plan->agents);

    random = begin(plan, LAB_DRAW_CACHE);
    bool is_cached = !chance(&random, 0.1);
    plan->cache_ttl_ns = span(&random, part_of(plan, plan->length->caches[1], SIM_SECOND),
                              part_of(plan, plan->length->caches[0], SIM_MINUTE)) *
                         is_cached;
    lab_span_of(lab_node_find(agents, "cache_ttl"), &plan->cache_ttl_ns);

    random = begin(plan, LAB_DRAW_CLOCK);
    bool is_right = chance(&random, 0.3);
    plan->clock_bound_ns = is_right ? 0 : span(&random, SIM_MS, part_of(plan, 40, 5 * SIM_SECOND));
    static const int64_t steps_ns[] = {SIM_MS, 10 * SIM_MS, 100 * SIM_MS, SIM_SECOND};
    random = begin(plan, LAB_DRAW_CLOCK_STEP);
    bool has_steps = chance(&random, CLOCK_STEP);
    plan->clock_step_ns = has_steps ? steps_ns[whole(&random, 0, 3)] : 0;
    plan->clock_bound_ns += plan->clock_step_ns;
    const struct lab_node *clock = lab_node_find(agents, "clock");
    if (clock != NULL) {
        plan->clock_bound_ns = plan->clock_step_ns = 0;
        lab_span_of(lab_node_find(clock, "resolution"), &plan->clock_step_ns);
        lab_span_of(lab_node_find(clock, "offset"), &plan->clock_bound_ns);
        plan->clock_bound_ns += plan->clock_step_ns;
        lab_span_of(lab_node_find(clock, "bound"), &plan->clock_bound_ns);
    }
}

/* Short timeouts make outcomes unknown. But an LWT takes eight trips, and a run in which no LWT can succeed
 * tests nothing. */
static void plan_network(struct plan *plan)
{
    struct sim_random random = begin(plan, LAB_DRAW_NETWORK), timeouts = begin(plan, LAB_DRAW_TIMEOUTS);
    int64_t longest_ns = 0;
    plan->mean_ns = span(&random, 200 * SIM_US, 20 * SIM_MS);
    sim_random_unit(&random); /* takes the draw of sigma */
    plan->far_ns = span(&random, 2 * plan->mean_ns, 100 * SIM_MS);
    plan->timeout_ns = 16 * (plan->datacenters > 1 ? plan->far_ns : plan->mean_ns);
    plan->timeout_ns = plan->timeout_ns > 30 * SIM_MS ? plan->timeout_ns : 30 * SIM_MS;
    plan->has_timeouts = !chance(&timeouts, 0.5);
    for (int i = 0; i < 4; i++) { /* write, read, counter, cas */
        int64_t span_ns = span(&timeouts, plan->timeout_ns, 2 * SIM_SECOND);
        longest_ns = span_ns > longest_ns ? span_ns : longest_ns;
    }
    plan->client_ns = span(&timeouts, longest_ns, 4 * longest_ns);
}

static void plan_clocks(struct plan *plan)
{
    struct sim_random offset = begin(plan, LAB_DRAW_OFFSET), drift = begin(plan, LAB_DRAW_DRIFT);
    int64_t most_ns = plan->clock_bound_ns - plan->clock_step_ns;
    plan->has_steps = plan->clock_step_ns > 0;
    plan->has_offset = most_ns > 0;
    plan->offset_ns = lab_draw_rounded((double)most_ns * (chance(&offset, 0.5) ? 1 : 0.5));
    plan->drift_ppm = chance(&drift, DRIFT) ? whole(&drift, 1, 2000) : 100;
    plan->drift_ppm *= whole(&offset, 0, 1);
}

/* Whether rows with the longest time to live that is drawn, a third of the run, expire by the last second
 * that Cassandra stores; scenarios with later ones are refused. */
static bool expires_in_time(const struct plan *plan, const struct lab_node *root)
{
    const char *text = fact(root, "start");
    int64_t start_ns;
    if (text == NULL || sim_time_parse(text, &start_ns) != 0)
        start_ns = LAB_START_DEFAULT;
    return start_ns / SIM_SECOND + plan->duration_ns / SIM_SECOND + plan->duration_ns / (3 * SIM_SECOND) +
               2 <=
           CASS_EXPIRES_MAX_S;
}

static struct plan plan_of(const struct lab_node *root, uint64_t seed)
{
    struct plan plan = {.seed = seed};
    bool is_trace = lab_node_find(root, "trace") != NULL;
    plan_character(&plan, root);
    plan.kind = kind_of(&plan);
    plan.counts = !plan.has_strategies && plan.kind == COUNT;
    plan.remembers = !plan.has_strategies && !plan.has_then && plan.kind == TIME &&
                     happens(&plan, LAB_DRAW_EMPTIES, REMEMBERS);
    plan_workload(&plan, root);
    plan.may_expire = plan.may_expire && expires_in_time(&plan, root);
    plan_ring(&plan, lab_node_find(root, "cluster"));
    plan_agents(&plan, lab_node_find(root, "agents"));
    plan_network(&plan);
    plan_clocks(&plan);
    /* Rows expire or are deleted, but not both. */
    plan.may_delete = plan.may_delete && !(plan.may_expire && happens(&plan, LAB_DRAW_TTL, TTL));
    plan.may_delete = plan.may_delete && !plan.has_identifiers;
    plan.has_rows = !plan.has_identifiers;
    plan.has_synthetic = plan.has_rows && !is_trace;
    plan.is_timed = plan.has_identifiers || !is_trace;
    plan.is_long = plan.duration_ns >= SIM_SECOND;
    plan.has_keys = plan.keys >= 2;
    plan.keys_last = plan.keys > 0 ? plan.keys - 1 : 0;
    plan.early_ns = plan.clock_bound_ns > 0 ? plan.clock_bound_ns : SIM_SECOND;
    bool is_given = has_ring(lab_node_find(root, "cluster"));
    plan.has_far = plan.datacenters > 1;
    plan.has_datacenters = !is_given && (plan.has_far || plan.racks > 1);
    plan.has_plain_ring = !is_given && !plan.has_datacenters;
    return plan;
}

char *lab_fuzz_draw(const struct lab_node *root, uint64_t seed, bool is_named)
{
    const struct plan plan = plan_of(root, seed);
    struct lab_writer writer = {0};
    lab_writer_add(&writer, "{");
    if (!is_named)
        lab_writer_add(&writer, "name: fuzz-%" PRIu64 ", ", seed);
    draw_fields(&plan, NULL, &lab_scenario_table, false, &writer);
    lab_writer_add(&writer, "}");
    return lab_writer_take(&writer);
}
