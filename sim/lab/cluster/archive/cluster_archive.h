/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy's cluster run under way as bytes, and back. */
#ifndef LAB_CLUSTER_ARCHIVE_H
#define LAB_CLUSTER_ARCHIVE_H

#include "cluster_run.h"
#include "kernel/archive.h"

/* Between two events. Loading takes a run that has begun, of the same scenario and strategy, and puts the
 * saved state in the place of its own; from then on it is_resumed. In trouble the run is fit to be destroyed
 * only. */
void lab_cluster_archive(struct lab_cluster_run *run, struct sim_archive *archive);

/* From here on: what its files share. */

/* Times and spans further than 36 years from now are none that a run comes to; sums of a few of them fit. */
#define LAB_FAR_NS (INT64_C(1) << 60)

static inline void lab_archive_random(struct sim_archive *archive, struct sim_random *random)
{
    sim_archive_bytes(archive, random->s, sizeof random->s);
    /* A stream of zeros never leaves them. */
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive, (random->s[0] | random->s[1] | random->s[2] | random->s[3]) != 0);
}

/* A time that a run can come to, or one of those that stand for "never" and "not yet". */
static inline void lab_archive_time(struct sim_archive *archive, const struct lab_cluster_run *run,
                                    int64_t *time_ns)
{
    sim_archive_i64(archive, time_ns);
    int64_t now_ns = sim_queue_now(&run->queue);
    bool is_near = now_ns < 0 ? *time_ns<now_ns + LAB_FAR_NS && * time_ns - now_ns> - LAB_FAR_NS
                              : *time_ns > now_ns - LAB_FAR_NS && *time_ns - now_ns < LAB_FAR_NS;
    if (archive->is_loading)
        sim_archive_check(archive, is_near || *time_ns == 0 || *time_ns == INT64_MAX);
}

static inline void lab_archive_span(struct sim_archive *archive, int64_t *span_ns)
{
    sim_archive_i64(archive, span_ns);
    if (archive->is_loading)
        sim_archive_check(archive, *span_ns > -LAB_FAR_NS && *span_ns < LAB_FAR_NS);
}

/* cluster_archive_agents.c */
void lab_archive_agents(struct lab_cluster_run *run, struct sim_archive *archive);
/* Also of a client of identifiers, who has no more than that of an agent. */
void lab_archive_agent_clock(struct sim_archive *archive, struct lab_host_agent *agent);
/* cluster_archive_keys.c */
void lab_archive_keys(struct lab_cluster_run *run, struct sim_archive *archive);
/* cluster_archive_oracles.c */
void lab_archive_oracles(struct lab_cluster_run *run, struct sim_archive *archive);
void lab_archive_verdict(struct sim_archive *archive, struct lab_verdict *verdict);
/* cluster_archive_idgen.c */
void lab_archive_idgen(struct lab_cluster_run *run, struct sim_archive *archive);
/* cluster_archive_check.c: whether the events and what they are for fit together. */
bool lab_archive_fits(const struct lab_cluster_run *run, bool *has_memory);
bool lab_is_possible_tag(const struct lab_cluster_run *run, uint64_t tag);

#endif
