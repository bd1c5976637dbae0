/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives a mock cluster: everything that its nodes store, and everything that is in flight between them. */
#ifndef CASSANDRA_ARCHIVE_H
#define CASSANDRA_ARCHIVE_H

#include "cassandra/cluster.h"
#include "kernel/archive.h"

/* Saves or loads a cluster, between two events. The queue must be archived before. Loading needs a cluster
 * that was created with the config of the saved one, over the loaded queue; its state is replaced by the
 * saved one, and its observer is kept. Loading checks that the cluster can handle its events in the queue,
 * and its replies; the host must check all other events, and the tags of replies. After an error the cluster
 * may only be destroyed. */
void cass_cluster_archive(struct cass_cluster *cluster, struct sim_archive *archive);

#endif
