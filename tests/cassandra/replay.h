/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a recorded file, as statements of the mock. A problem is one phrase with its cure. */
#ifndef TESTS_CASSANDRA_REPLAY_H
#define TESTS_CASSANDRA_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/cluster.h"

/* The names of all rows of `nam` in a file, in rising order: the mock numbers its named columns. */
struct replay_names {
    int64_t *items;
    uint32_t count, capacity;
};

#define REPLAY_NAMED_MAX 256u

struct replay_operation {
    int64_t offset_us;
    bool is_invalid;                 /* Cassandra refuses it while it parses it */
    struct cass_statement statement; /* times as offsets from the base */
    uint32_t named_count;            /* of NW and ND, in place of the statement's */
    struct cass_named named[REPLAY_NAMED_MAX];
};

bool replay_number(const char *text, int64_t *out);
/* Adds the names that a line has. */
bool replay_names_add(struct replay_names *names, const char *line, size_t length, const char **problem);
void replay_names_clear(struct replay_names *names);
/* "S 17 lwt base=1795389979"; false without a problem for a line of another kind. */
bool replay_sequence(const char *line, int64_t *base_s, const char **problem);
/* An operation without its answer; the text is cut up. */
bool replay_parse(char *text, const struct replay_names *names, struct replay_operation *out,
                  const char **problem);

#endif
