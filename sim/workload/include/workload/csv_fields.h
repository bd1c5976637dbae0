/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One record of a file: its fields as texts. */
#ifndef WORKLOAD_CSV_FIELDS_H
#define WORKLOAD_CSV_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#define WL_CSV_FIELDS_MAX 256u

/* A record, valid until the next one is read. Each field has a final NUL that its size does not include. */
struct wl_csv_record {
    uint64_t line; /* number of the line on which the record begins, from 1 */
    size_t count;  /* 0: the end of the file */
    const char *fields[WL_CSV_FIELDS_MAX];
    size_t sizes[WL_CSV_FIELDS_MAX];
};

#endif
