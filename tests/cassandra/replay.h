/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a recorded file, as statements of the mock. A problem is one phrase that includes its cure. */
#ifndef TESTS_CASSANDRA_REPLAY_H
#define TESTS_CASSANDRA_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/cluster.h"

/* The names of all rows of table `nam` in a file, in ascending order: the mock numbers its named columns. */
struct replay_names {
    int64_t *items;
    uint32_t count, capacity;
};

#define REPLAY_NAMED_MAX 256u

struct replay_operation {
    int64_t offset_us;
    bool is_invalid;                 /* Cassandra's parser refuses the statement */
    bool in_names;                   /* of table `nam` */
    bool has_dead;                   /* the answer says how many tombstones were read */
    struct cass_statement statement; /* its times are offsets from the base */
    uint32_t named_count;            /* of NW and ND, instead of the statement's count */
    struct cass_named named[REPLAY_NAMED_MAX];
};

bool replay_number(const char *text, int64_t *out);
/* Adds the names in a line. */
bool replay_names_add(struct replay_names *names, const char *line, size_t length, const char **problem);
void replay_names_clear(struct replay_names *names);
/* Parses "S 17 lwt base=1795389979"; false without a problem for a line of another kind. */
bool replay_sequence(const char *line, int64_t *base_s, const char **problem);
/* Parses an operation without its answer; modifies the text in place. */
bool replay_parse(char *text, const struct replay_names *names, struct replay_operation *out,
                  const char **problem);

#endif
