/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep: one scenario under many settings, each over many seeds, as numbered jobs.
 *
 * A point is one set of settings, written as --set arguments; points are those of `grid`, its last path
 * turning fastest, then those of `list`. A job is a point and a seed. Jobs are numbered from 0, all seeds of
 * the first point first, so that a job's number depends on nothing but the scenario's text, its overrides and
 * its seed. Every point's scenario is checked before there is a sweep at all. */
#ifndef LAB_SWEEP_H
#define LAB_SWEEP_H

#include "lab/scenario.h"
#include "lab/scenario_sweep.h"

struct lab_sweep_point {
    char *settings;     /* PATH=VALUE, one a line, each ended by a line break; "": as the scenario stands */
    uint64_t first_job; /* the number of its first job; the others follow */
    uint64_t seed_count;
    bool has_own_seed; /* a point of `list` with `seed`: this one alone */
    uint64_t own_seed;
};

struct lab_sweep {
    char *path, *text; /* of the scenario: as it was named, and as it was read */
    size_t text_size;
    char *overrides; /* the user's --set arguments, one a line, without those of a point */
    char *name;      /* of the first point's scenario */
    /* Over what each job runs: the scenario as it stands with its overrides, comments and layout aside,
     * the bytes of its trace and observed files, and seeds. Two sweeps of one identity have the same jobs. */
    uint64_t identity;
    struct lab_sweep_seeds seeds;
    size_t point_count;
    struct lab_sweep_point *points;
    uint64_t job_count;
    char **files; /* that the points' runs read: traces, observed files */
    size_t file_count;
};

/* Of the text of a scenario with `sweep`. overrides, seed and errors as in lab_scenario_parse(); the seed
 * stands in place of the scenario's, from which `seeds: N` counts. An error of a point names it, and where it
 * stands. Reads these files. On failure *out is NULL. */
bool lab_sweep_parse(const char *path, const char *text, size_t size, const struct lab_override *overrides,
                     size_t override_count, const uint64_t *seed, struct lab_sweep **out,
                     struct sim_error *error);
void lab_sweep_destroy(struct lab_sweep *sweep); /* NULL is fine */

/* job < job_count. *point is an index. */
void lab_sweep_job(const struct lab_sweep *sweep, uint64_t job, size_t *point, uint64_t *seed);
/* What the job runs; its overrides are the user's and the point's, so that the run can be run again. */
bool lab_sweep_scenario(const struct lab_sweep *sweep, uint64_t job, struct lab_scenario **out,
                        struct sim_error *error);
/* The overrides of that, one a line, malloc'ed; NULL when out of memory. */
char *lab_sweep_overrides(const struct lab_sweep *sweep, uint64_t job);
/* "bits=9, rate=100/s" for a message or a heading: the settings with the last name of each path alone where
 * `is_short`; "as it stands" when there are none. Cut to size with "...". Returns buffer. */
char *lab_sweep_describe(const char *settings, bool is_short, char *buffer, size_t size);
/* One digest over all runs: start with 0, and add them in the order of their jobs, here
 * numbered from 1. */
uint64_t lab_sweep_digest_add(uint64_t digest, uint64_t job, uint64_t run_digest);

#endif
