/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep: one scenario under many settings, each over many seeds, as numbered jobs.
 *
 * A point is one set of settings, written as --set arguments. The points of `grid` come first, with its last
 * path varying fastest, then those of `list`. A job is a point and a seed. Jobs are numbered from 0, with all
 * seeds of the first point first, so a job's number depends only on the scenario's text, its overrides and
 * its seed. The scenarios of all points are checked before the sweep begins. */
#ifndef LAB_SWEEP_H
#define LAB_SWEEP_H

#include "kernel/archive.h"
#include "lab/fields.h"
#include "lab/scenario.h"

struct lab_sweep_point {
    char *settings; /* PATH=VALUE, one per line, each with its line break; "": the scenario without changes */
    uint64_t first_job; /* number of its first job; the others follow */
    uint64_t seed_count;
    bool has_own_seed; /* a point of `list` with `seed`, which has only this seed */
    uint64_t own_seed;
};

struct lab_sweep {
    char *path, *text; /* the scenario's path as given, and its text */
    size_t text_size;
    char *overrides; /* the user's --set arguments, one per line, without those of a point */
    char *name;      /* name of the first point's scenario */
    /* A digest of everything that determines the jobs: the scenario with its overrides, without comments and
     * layout, the contents of its trace and observed files, and the seeds. Two sweeps with the same identity
     * have the same jobs. */
    uint64_t identity;
    struct lab_sweep_seeds seeds;
    size_t point_count;
    struct lab_sweep_point *points;
    uint64_t job_count;
    char *files; /* that the points' runs read: traces, observed files; one per line */
};

/* Makes a sweep from the text of a scenario with `sweep`. overrides, seed and errors: as in
 * lab_scenario_parse(); the seed replaces the scenario's, which is the first seed of `seeds: N`. An error in
 * a point names the point and its place. Reads the files of all points. On failure *out is NULL. */
bool lab_sweep_parse(const char *path, const char *text, size_t size, const struct lab_override *overrides,
                     size_t override_count, const uint64_t *seed, struct lab_sweep **out,
                     struct sim_error *error);
void lab_sweep_destroy(struct lab_sweep *sweep); /* sweep may be NULL */
/* What the scenarios of the jobs need. Loading fills a zeroed sweep. */
void lab_sweep_archive(struct lab_sweep *sweep, struct sim_archive *archive);

/* Sets the point (its index) and the seed of a job; job < job_count. */
void lab_sweep_job(const struct lab_sweep *sweep, uint64_t job, size_t *point, uint64_t *seed);
/* Makes the scenario of a job. Its overrides are the user's and the point's, so that the run can be
 * repeated. */
bool lab_sweep_scenario(const struct lab_sweep *sweep, uint64_t job, struct lab_scenario **out,
                        struct sim_error *error);
/* Describes settings for a message or a heading: "bits=9, rate=100/s" if is_short, which has only the last
 * name of each path; "as it stands" when there are none. Truncated to size with "...". Returns buffer. */
char *lab_sweep_describe(const char *settings, bool is_short, char *buffer, size_t size);
/* Adds a run to the digest of a sweep: start with 0, and add the runs in the order of their jobs, here
 * numbered from 1. */
uint64_t lab_sweep_digest_add(uint64_t digest, uint64_t job, uint64_t run_digest);

#endif
