/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file under construction, which is renamed to its final name once it is complete. */
#ifndef REPORTS_PARTIAL_H
#define REPORTS_PARTIAL_H

/* Creates FOLDER/.NAME.PID.N.partial next to the file at path and returns its descriptor, open for writing.
 * The file is always new: if a file or link of that name exists, the next N is tried. *name is malloc'ed. On
 * failure returns -1 with errno set, and *name is NULL. */
int report_partial_create(const char *path, char **name);

#endif
