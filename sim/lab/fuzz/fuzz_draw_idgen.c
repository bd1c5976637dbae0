/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a seed of identifiers instead of rows: clients that lease batches, under either kind of lock. */
#include <inttypes.h>

#include "fuzz_plan.h"
#include "kernel/random.h"
#include "kernel/time.h"

#define SAFE_SHARE   0.8
#define LIMIT_SHARE  0.2
#define CHOICE_SHARE 0.5 /* of the seeds with several stripes */

/* Usually the time from the end of a lease to the end of its lock is longer than the difference between
 * clocks. */
static int64_t draw_lease(const struct lab_fuzz_plan *plan, struct sim_random *random, int64_t lasts_ns)
{
    double spare_ns = (double)lasts_ns - 2 * (double)plan->clock_bound_ns;
    bool is_safe = lab_draw_chance(random, SAFE_SHARE);
    double share = 0.3 + 0.65 * sim_random_unit(random);
    int64_t lease_ns = lab_draw_rounded((is_safe ? spare_ns : (double)lasts_ns) * share);
    return lease_ns < lasts_ns ? lease_ns : lasts_ns / 2;
}

void lab_fuzz_draw_identifiers(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    lab_draw_init(&random, plan, LAB_DRAW_THINK);
    double mean_ns = (double)plan->duration_ns * plan->agents / (double)plan->length->identifiers;
    int64_t think_ns = lab_draw_rounded(mean_ns * lab_draw_log(&random, 0.5, 2));
    lab_writer_add(writer, "duration: %s\n", lab_span_text(plan->duration_ns, span));
    lab_writer_add(writer, "identifiers: {think: %s", lab_span_text(think_ns, span));
    lab_draw_each(plan, writer);
    lab_writer_add(writer, "}\n");
}

/* Usually random, since clients with equal waits collide again. */
static void draw_backoff(const struct lab_fuzz_plan *plan, int64_t wait_ns, struct lab_writer *writer)
{
    struct sim_random random, rare;
    char wait[LAB_SPAN_SIZE], cap[LAB_SPAN_SIZE];
    lab_draw_init(&random, plan, LAB_DRAW_BACKOFF);
    bool is_random = lab_draw_chance(&random, 0.7), is_constant = lab_draw_chance(&random, 0.3);
    bool gives_up = lab_draw_chance(&random, 0.3);
    lab_writer_add(writer, "      backoff: {%s: %s",
                   is_random     ? "random"
                   : is_constant ? "constant"
                                 : "exponential",
                   lab_span_text(wait_ns, wait));
    if (!is_random && !is_constant)
        lab_writer_add(writer, ", cap: %s",
                       lab_span_text(wait_ns * (int64_t)lab_draw_whole(&random, 1, 20), cap));
    lab_draw_init(&rare, plan, LAB_DRAW_STRIPES);
    if (lab_draw_chance(&rare, LIMIT_SHARE))
        lab_writer_add(writer, ", limit: %s",
                       lab_span_text(wait_ns * (int64_t)lab_draw_whole(&rare, 1, 30), cap));
    if (gives_up)
        lab_writer_add(writer, ", attempts: %" PRIu64, lab_draw_whole(&random, 1, 8));
    lab_writer_add(writer, "}\n      label: idgen\n");
}

static uint64_t draw_stripes(const struct lab_fuzz_plan *plan)
{
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_STRIPES);
    sim_random_unit(&random); /* takes the draws of a limit */
    sim_random_unit(&random);
    return lab_draw_chance(&random, 0.6) ? 2 : lab_draw_whole(&random, 3, 6);
}

static void draw_choice(const struct lab_fuzz_plan *plan, uint64_t stripes, struct lab_writer *writer)
{
    static const char *const choices[] = {"fixed", "rotate", "random"};
    struct sim_random random;
    lab_draw_init(&random, plan, LAB_DRAW_CHOICE);
    if (!lab_draw_chance(&random, CHOICE_SHARE))
        return;
    uint64_t choice = lab_draw_whole(&random, 0, 2);
    lab_writer_add(writer, "      choice: %s\n", choices[choice]);
    if (choice < 2)
        lab_writer_add(writer, "      stripe: %" PRIu64 "\n", lab_draw_whole(&random, 1, stripes));
}

void lab_fuzz_draw_idgen(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    static const char *const locks[] = {"columns", "lwt"};
    struct sim_random random;
    char lasts[LAB_SPAN_SIZE], lease[LAB_SPAN_SIZE];
    lab_draw_init(&random, plan, LAB_DRAW_IDGEN);
    const char *lock = locks[lab_draw_whole(&random, 0, 1)];
    uint64_t batch = lab_draw_whole(&random, 1, plan->length->batch),
             stripes = lab_draw_chance(&random, 0.3) ? draw_stripes(plan) : 1;
    int64_t least_ns = 4 * plan->clock_bound_ns > 200 * SIM_MS ? 4 * plan->clock_bound_ns : 200 * SIM_MS;
    int64_t lasts_ns = lab_draw_span(&random, least_ns, 4 * least_ns);
    int64_t lease_ns = draw_lease(plan, &random, lasts_ns);
    int64_t wait_ns = lab_draw_span(&random, SIM_MS, 50 * SIM_MS);
    lab_writer_add(writer, "strategies:\n  - idgen:\n      batch: %" PRIu64 "\n      stripes: %" PRIu64 "\n",
                   batch, stripes);
    lab_writer_add(writer, "      lock: %s\n      lock_lasts: %s\n      lease: %s\n", lock,
                   lab_span_text(lasts_ns, lasts), lab_span_text(lease_ns, lease));
    if (stripes > 1)
        draw_choice(plan, stripes, writer);
    draw_backoff(plan, wait_ns, writer);
}
