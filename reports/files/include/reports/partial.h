/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file under construction, which is renamed to its final name once it is complete. */
#ifndef REPORTS_PARTIAL_H
#define REPORTS_PARTIAL_H

/* Creates FOLDER/.NAME.PID.N.partial next to the file at path and opens it for writing. The file is always
 * new: an existing one of that name, a link too, is passed over. *name is malloc'ed. On failure returns -1
 * with errno, and *name is NULL. */
int report_partial_create(const char *path, char **name);

#endif
