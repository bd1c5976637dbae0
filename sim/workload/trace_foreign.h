/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells files that are no trace at all, by their first bytes. */
#ifndef WORKLOAD_TRACE_FOREIGN_H
#define WORKLOAD_TRACE_FOREIGN_H

#include <stddef.h>

/* "what it is; cure" as a constant, or NULL when it may be a trace. */
const char *trace_foreign(const char *bytes, size_t size);

#endif
