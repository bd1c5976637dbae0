/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws settings that few seeds have: those of arrivals, rows, reads, the cluster, strategies and faults that
 * the other parts leave at their defaults. Each has its own random stream, so a seed without one of them is
 * the same as before. tests/mutants/draws.py counts what is drawn. */
#include <inttypes.h>

#include "fuzz_plan.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "lab/scenario.h"

/* Shares of the seeds. */
#define DAILY       0.04
#define SPIKES      0.04
#define SIZES       0.12
#define CELLS       0.05
#define FORMAT      0.06
#define COMPRESSION 0.03
#define POINTS      0.06
#define EACH        0.3 /* of the seeds of identifiers */
#define LIMIT       0.08
#define READ_PLAN   0.25 /* of the seeds with such reads */
#define LOSS        0.02
#define DUPLICATE   0.03
#define NODE        0.08
#define TOKENS      0.05
#define DETECT      0.08
#define UNIFORM     0.06
#define TRAP        0.02
#define RANDOM      0.08
#define CRASHES     0.04
#define UNTIL       0.8 /* of the random faults */

static bool begin(struct sim_random *random, const struct lab_fuzz_plan *plan, enum lab_draw draw,
                  double share)
{
    lab_draw_init(random, plan, draw);
    return lab_draw_chance(random, share);
}

/* In thousandths, which is what all drawn fractions are rounded to. */
static double draw_fraction(struct sim_random *random, double least, double most)
{
    return (double)(int64_t)(lab_draw_log(random, least, most) * 1000) / 1000;
}

bool lab_draw_points(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    if (!begin(&random, plan, LAB_DRAW_POINTS, POINTS) || plan->keys < 2)
        return false;
    uint64_t most = lab_draw_whole(&random, 1, 100);
    lab_writer_add(writer, ", popularity: {points: [[1, %" PRIu64 "], [%" PRIu64 ", %" PRIu64 "]]}", most,
                   plan->keys, lab_draw_whole(&random, 1, most));
    return true;
}

void lab_draw_each(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    if (begin(&random, plan, LAB_DRAW_EACH, EACH))
        lab_writer_add(writer, ", each: %" PRIu64, (uint64_t)lab_draw_log(&random, 5, 1000));
}

void lab_draw_rare_arrivals(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    char at[LAB_SPAN_SIZE], lasts[LAB_SPAN_SIZE];
    if (begin(&random, plan, LAB_DRAW_DAILY, DAILY))
        lab_writer_add(writer, "  daily: {amplitude: %.1f, peak: %" PRIu64 "m}\n",
                       (double)lab_draw_whole(&random, 1, 10) / 10, lab_draw_whole(&random, 0, 1439));
    if (!begin(&random, plan, LAB_DRAW_SPIKES, SPIKES) || plan->duration_ns < SIM_SECOND)
        return;
    int64_t at_ns = lab_draw_rounded((double)plan->duration_ns * 0.7 * sim_random_unit(&random));
    int64_t lasts_ns = lab_draw_span(&random, plan->duration_ns / 50, plan->duration_ns / 4);
    uint64_t factor = lab_draw_whole(&random, 2, 15), share = lab_draw_whole(&random, 10, 100);
    lab_writer_add(writer,
                   "  spikes: [{at: %s, lasts: %s, factor: %" PRIu64 ", keys: ", lab_span_text(at_ns, at),
                   lab_span_text(lasts_ns, lasts), factor);
    if (lab_draw_chance(&random, 0.5))
        lab_writer_add(writer, "%" PRIu64 "%%}]\n", share);
    else
        lab_writer_add(writer, "%" PRIu64 "}]\n", lab_draw_whole(&random, 1, plan->keys));
}

static void draw_bytes(struct sim_random *random, struct lab_writer *writer)
{
    uint64_t bytes = (uint64_t)lab_draw_log(random, 1, 5000);
    switch (lab_draw_whole(random, 0, 3)) {
    case 0:
        lab_writer_add(writer, "bytes: %" PRIu64 "B", bytes);
        break;
    case 1:
        lab_writer_add(writer, "bytes: {uniform: [%" PRIu64 "B, %" PRIu64 "B]}", bytes,
                       bytes + lab_draw_whole(random, 1, 8000));
        break;
    case 2:
        lab_writer_add(writer, "bytes: {lognormal: {mean: %" PRIu64 "B, sigma: %.1f}}", bytes,
                       (double)lab_draw_whole(random, 1, 20) / 10);
        break;
    default:
        lab_writer_add(writer, "bytes: {pareto: {min: %" PRIu64 "B, alpha: %.1f}}", bytes,
                       (double)lab_draw_whole(random, 12, 40) / 10);
    }
}

/* The fields of `row`; ttl_ns: its time to live; 0: none. */
void lab_draw_row(const struct lab_fuzz_plan *plan, int64_t ttl_ns, struct lab_writer *writer)
{
    static const char *const formats[] = {"nb", "da", "payload"};
    struct sim_random sizes, cells, format, ratio;
    char span[LAB_SPAN_SIZE];
    bool has_sizes = begin(&sizes, plan, LAB_DRAW_SIZES, SIZES),
         has_cells = begin(&cells, plan, LAB_DRAW_CELLS, CELLS),
         has_format = begin(&format, plan, LAB_DRAW_FORMAT, FORMAT),
         is_compressed = begin(&ratio, plan, LAB_DRAW_COMPRESSION, COMPRESSION);
    const char *comma = "";
    if (!plan->may_expire && !plan->may_delete)
        return;
    if (!has_sizes && !has_cells && !has_format && !is_compressed && ttl_ns == 0)
        return;
    lab_writer_add(writer, "row: {");
    if (ttl_ns > 0) {
        lab_writer_add(writer, "ttl: %s", lab_span_text(ttl_ns, span));
        comma = ", ";
    }
    if (has_sizes) {
        lab_writer_add(writer, "%s", comma);
        draw_bytes(&sizes, writer);
        comma = ", ";
    }
    if (has_cells) {
        lab_writer_add(writer, "%scells: %" PRIu64, comma, lab_draw_whole(&cells, 2, 12));
        comma = ", ";
    }
    if (is_compressed) {
        lab_writer_add(writer, "%scompression: %.2f", comma, draw_fraction(&ratio, 0.05, 1.5));
        comma = ", ";
    }
    if (has_format)
        lab_writer_add(writer, "%sformat: %s", comma, formats[lab_draw_whole(&format, 0, 2)]);
    lab_writer_add(writer, "}\n");
}

void lab_draw_read_limit(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    if (begin(&random, plan, LAB_DRAW_LIMIT, LIMIT))
        lab_writer_add(writer, "  limit: %" PRIu64 "\n", lab_draw_whole(&random, 1, 30));
}

/* A plan that goes with every strategy. */
void lab_draw_read_plan(const struct lab_fuzz_plan *plan, unsigned kind, struct lab_writer *writer)
{
    static const char *const plans[] = {"walk", "pair", "parallel"};
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_READ_PLANS + kind);
    if (!lab_draw_chance(&random, READ_PLAN))
        return;
    uint64_t choice = lab_draw_whole(&random, 0, 2);
    lab_writer_add(writer, ", plan: %s", plans[choice]);
    if (choice == 2)
        lab_writer_add(writer, ", at_once: %" PRIu64, lab_draw_whole(&random, 1, 12));
}

void lab_draw_rare_network(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    if (begin(&random, plan, LAB_DRAW_LOSS, LOSS))
        lab_writer_add(writer, ", loss: %.3f%%", draw_fraction(&random, 0.1, 5));
    if (begin(&random, plan, LAB_DRAW_DUPLICATE, DUPLICATE))
        lab_writer_add(writer, ", duplicate: %.3f%%", draw_fraction(&random, 0.1, 10));
}

bool lab_draw_uniform_latency(const struct lab_fuzz_plan *plan, int64_t mean_ns, struct lab_writer *writer)
{
    struct sim_random random;
    char least[LAB_SPAN_SIZE], most[LAB_SPAN_SIZE];
    if (!begin(&random, plan, LAB_DRAW_UNIFORM, UNIFORM))
        return false;
    int64_t least_ns = lab_draw_rounded((double)mean_ns * sim_random_unit(&random));
    lab_writer_add(writer, "{uniform: [%s, %s]}", lab_span_text(least_ns, least),
                   lab_span_text(2 * mean_ns > least_ns ? 2 * mean_ns : least_ns + 1, most));
    return true;
}

void lab_draw_rare_node(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    static const char *const names[] = {"coordinate", "write", "read", "scan_row", "scan_tombstone"};
    static const int64_t most_ns[] = {SIM_MS, SIM_MS, 2 * SIM_MS, 20 * SIM_US, 20 * SIM_US};
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    if (!begin(&random, plan, LAB_DRAW_NODE_TIMES, NODE))
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        lab_writer_add(writer, ", %s: %s", names[i],
                       lab_span_text(lab_draw_span(&random, most_ns[i] / 20, most_ns[i]), span));
    lab_writer_add(writer, ", tombstone_warn: %" PRIu64, (uint64_t)lab_draw_log(&random, 1, 1000));
    if (lab_draw_chance(&random, 0.3))
        lab_writer_add(writer, ", tombstone_fail: %" PRIu64, (uint64_t)lab_draw_log(&random, 2, 2000));
}

uint64_t lab_draw_tokens(const struct lab_fuzz_plan *plan)
{
    struct sim_random random;
    return begin(&random, plan, LAB_DRAW_TOKENS, TOKENS) ? lab_draw_whole(&random, 1, 16) : 4;
}

/* How long it takes to learn that a node is gone, as a field of timeouts or, if is_alone, as all of them. */
void lab_draw_detect(const struct lab_fuzz_plan *plan, bool is_alone, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    if (!begin(&random, plan, LAB_DRAW_DETECT, DETECT))
        return;
    int64_t span_ns = lab_draw_span(&random, 20 * SIM_MS, SIM_MINUTE);
    lab_writer_add(writer, is_alone ? "  timeouts: {detect: %s}\n" : "detect: %s, ",
                   lab_span_text(span_ns, span));
}

void lab_draw_trap(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    if (begin(&random, plan, LAB_DRAW_TRAP, TRAP))
        lab_writer_add(writer, "  retry: route-again\n");
}

/* Some kinds, each with the same chance, but at least one. A clock beyond its bound, and a state that was
 * lost, excuse too much to be common. */
static void draw_kinds(const struct lab_fuzz_plan *plan, struct sim_random *random, struct lab_writer *writer)
{
    unsigned first = (unsigned)lab_draw_whole(random, 0, LAB_FAULT_AGENT_CRASH), listed = 0;
    lab_writer_add(writer, "kinds: [");
    for (unsigned kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
        bool is_rare = kind == LAB_FAULT_CLOCK_JUMP || kind >= LAB_FAULT_STATE_LOST;
        bool is_of_key = kind == LAB_FAULT_STATE_LOST || kind == LAB_FAULT_STATE_RESTORED;
        bool is_chosen = lab_draw_chance(random, is_rare ? 0.05 : 0.3) || kind == first;
        if (!is_chosen || kind == LAB_FAULT_STATE_RESTORED ||
            (is_of_key && (plan->has_identifiers || plan->keys == 0)))
            continue;
        lab_writer_add(writer, "%s%s", listed++ > 0 ? ", " : "",
                       lab_fault_kind_name((enum lab_fault_kind)kind));
    }
    lab_writer_add(writer, "], ");
}

static bool has_random(const struct lab_fuzz_plan *plan, struct sim_random *random)
{
    return plan->has_duration && plan->duration_ns >= SIM_SECOND &&
           begin(random, plan, LAB_DRAW_RANDOM, RANDOM + CRASHES);
}

bool lab_draw_has_random(const struct lab_fuzz_plan *plan)
{
    struct sim_random random;
    return has_random(plan, &random);
}

/* A few faults at random times. In most seeds they end, so that recovery can be checked. */
void lab_draw_random_faults(const struct lab_fuzz_plan *plan, double until, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    double seconds = (double)plan->duration_ns / 1e9;
    if (!has_random(plan, &random))
        return;
    double rate = lab_draw_log(&random, 2, 12) / (seconds * until);
    rate = rate < 0.001 ? 0.001 : rate > 100 ? 100 : rate;
    if (lab_draw_chance(&random, CRASHES / (RANDOM + CRASHES))) {
        lab_writer_add(writer, "  - agent_crash: {rate: %.4f/s}\n", rate);
        return;
    }
    lab_writer_add(writer, "  - random: {rate: %.4f/s, ", rate);
    if (lab_draw_chance(&random, 0.7))
        draw_kinds(plan, &random, writer);
    if (lab_draw_chance(&random, UNTIL))
        lab_writer_add(writer, "until: %s, ",
                       lab_span_text(lab_draw_span(&random, plan->duration_ns / 10,
                                                   (int64_t)((double)plan->duration_ns * until)),
                                     span));
    lab_writer_add(writer, "lasts: %s}\n",
                   lab_span_text(lab_draw_span(&random, 100 * SIM_MS, plan->duration_ns / 8), span));
}
