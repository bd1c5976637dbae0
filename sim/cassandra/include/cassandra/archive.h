/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mock cluster as bytes, and back: all that its nodes hold and all that is under way between them. */
#ifndef CASSANDRA_ARCHIVE_H
#define CASSANDRA_ARCHIVE_H

#include "cassandra/cluster.h"
#include "kernel/archive.h"

/* Between two events. The queue is archived before. Loading takes a cluster that was created with the config
 * of the saved one, over the loaded queue, and puts the saved state in the place of its own; the observer
 * stays. The queue's events of the cluster, and its replies, are then such as the cluster can handle; other
 * events, and the tags of replies, are the host's to check. In trouble the cluster is fit to be destroyed
 * only. */
void cass_cluster_archive(struct cass_cluster *cluster, struct sim_archive *archive);

#endif
