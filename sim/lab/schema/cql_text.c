/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grows a text of CQL and quotes its identifiers. */
#include "cql_text.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

#define NAME_SIZE 128

/* The reserved words of CQL, sorted. Source: apache/cassandra cql3/ReservedKeywords.java and
 * pylib/cqlshlib/cqlhandling.py. */
static const char *const reserved[] = {
    "add",    "allow",    "alter",        "and",     "apply",       "asc",      "authorize", "batch",
    "begin",  "by",       "columnfamily", "create",  "default",     "delete",   "desc",      "describe",
    "drop",   "entries",  "execute",      "from",    "full",        "grant",    "if",        "in",
    "index",  "infinity", "insert",       "into",    "is",          "keyspace", "limit",     "materialized",
    "mbean",  "mbeans",   "modify",       "nan",     "norecursive", "not",      "null",      "of",
    "on",     "or",       "order",        "primary", "rename",      "replace",  "revoke",    "schema",
    "select", "set",      "table",        "to",      "token",       "truncate", "unlogged",  "unset",
    "update", "use",      "using",        "view",    "where",       "with"};

static void add_bytes(struct lab_cql_text *text, const char *bytes, size_t size)
{
    if (text->out_of_memory)
        return;
    if (!sim_grow(&text->bytes, &text->capacity, text->size + size + 1, 1)) {
        text->out_of_memory = true;
        return;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void lab_cql_add(struct lab_cql_text *text, const char *piece)
{
    add_bytes(text, piece, strlen(piece));
}

static bool is_bare(const char *name)
{
    if (name[0] < 'a' || name[0] > 'z')
        return false;
    for (const char *c = name; *c != '\0'; c++) {
        if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_'))
            return false;
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcmp(reserved[i], name) == 0)
            return false;
    }
    return true;
}

void lab_cql_name(struct lab_cql_text *text, const char *first, const char *second)
{
    char name[NAME_SIZE];
    size_t size = strlen(first), more = strlen(second);
    if (size + more >= sizeof name)
        abort(); /* names in a scenario are never that long */
    memcpy(name, first, size);
    memcpy(name + size, second, more + 1);
    if (is_bare(name)) {
        lab_cql_add(text, name);
        return;
    }
    lab_cql_add(text, "\"");
    for (const char *c = name; *c != '\0'; c++) {
        add_bytes(text, c, 1);
        if (*c == '"')
            add_bytes(text, c, 1);
    }
    lab_cql_add(text, "\"");
}
