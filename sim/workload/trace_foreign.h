/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recognises files that are not traces, by their first bytes. */
#ifndef WORKLOAD_TRACE_FOREIGN_H
#define WORKLOAD_TRACE_FOREIGN_H

#include <stddef.h>

/* Returns "what the file is; what to do" as a constant, or NULL when the file may be a trace. */
const char *trace_foreign(const char *bytes, size_t size);

#endif
