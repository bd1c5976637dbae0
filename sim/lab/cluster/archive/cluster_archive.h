/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives the cluster run of a strategy. */
#ifndef LAB_CLUSTER_ARCHIVE_H
#define LAB_CLUSTER_ARCHIVE_H

#include "cluster_run.h"
#include "kernel/archive.h"

/* Saves or loads a run, between two events. Loading needs a run of the same scenario and strategy that has
 * begun; its state is replaced by the saved one, and is_resumed is set. After an error the run may only be
 * destroyed. */
void lab_cluster_archive(struct lab_cluster_run *run, struct sim_archive *archive);

/* From here on: shared by the files of this folder. */

/* The largest distance of a time from now, and the longest span, that loading accepts: 36 years. A sum of a
 * few such spans does not overflow. */
#define LAB_FAR_NS (INT64_C(1) << 60)

static inline void lab_archive_random(struct sim_archive *archive, struct sim_random *random)
{
    sim_archive_bytes(archive, random->s, sizeof random->s);
    /* A state of all zeros would stay so permanently. */
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive, (random->s[0] | random->s[1] | random->s[2] | random->s[3]) != 0);
}

/* Archives a time that a run can reach, or 0 or INT64_MAX, which mean "not yet" or "never". */
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
/* Archives an agent's clock and faults; used also for clients of identifiers, which have nothing else of an
 * agent. */
void lab_archive_agent_clock(struct sim_archive *archive, struct lab_host_agent *agent);
/* cluster_archive_keys.c */
void lab_archive_keys(struct lab_cluster_run *run, struct sim_archive *archive);
/* cluster_archive_oracles.c */
void lab_archive_oracles(struct lab_cluster_run *run, struct sim_archive *archive);
void lab_archive_verdict(struct sim_archive *archive, struct lab_verdict *verdict);
/* cluster_archive_idgen.c */
void lab_archive_idgen(struct lab_cluster_run *run, struct sim_archive *archive);
/* cluster_archive_check.c: checks that the loaded events are consistent with the rest of the state. */
bool lab_archive_fits(const struct lab_cluster_run *run, bool *has_memory);
bool lab_is_possible_tag(const struct lab_cluster_run *run, uint64_t tag);

#endif
