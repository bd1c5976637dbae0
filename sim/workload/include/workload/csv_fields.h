/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of one record of a file, as texts. */
#ifndef WORKLOAD_CSV_FIELDS_H
#define WORKLOAD_CSV_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#define WL_CSV_FIELDS_MAX 256u

/* A record, valid until the next is asked for. Each field ends with a NUL that is not counted. */
struct wl_csv_record {
    uint64_t line; /* on which it begins, from 1 */
    size_t count;  /* 0: the end of the file */
    const char *fields[WL_CSV_FIELDS_MAX];
    size_t sizes[WL_CSV_FIELDS_MAX];
};

#endif
