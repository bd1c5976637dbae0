/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `cluster.node`: how fast a node works, from the scenario or from a file of measurements. Such a file
 * is written by tests/cassandra5/latency.py; only its mapping `node` is read, which has the same fields as
 * the scenario. The file is JSON, which is YAML. Fields in the scenario take precedence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"
#include "kernel/time.h"
#include "lab/scenario_part.h"

#define NETWORK(member) offsetof(struct lab_scenario, network.member)
#define SPAN_MAX        ((double)SIM_HOUR)
#define SPAN_RANGE      "a duration from 0s to 1h"
#define FILE_SIZE_MAX   ((size_t)1 << 20)

#define SPAN_FIELD(name, member)                                                                             \
    {                                                                                                        \
        name, lab_read_duration, NETWORK(member), LAB_OPTIONAL, 0, SPAN_MAX, SPAN_RANGE, NULL                \
    }

/* This field is read before all others, below. */
static bool pass_over(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    (void)reader, (void)field, (void)node, (void)out;
    return true;
}

static const struct lab_table gc_table = {
    .fields = (const struct lab_field[]){
        {"every", lab_read_duration, NETWORK(gc_every_ns), LAB_OPTIONAL, 0, 366.0 * (double)SIM_DAY,
         "a duration from 0s to 366d", NULL},
        SPAN_FIELD("lasts", gc_lasts_ns),
        {.name = NULL},
    }};

static const struct lab_field fields[] = {
    {"like", pass_over, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
    {"concurrency", lab_read_whole32, NETWORK(concurrency), LAB_OPTIONAL, 1, 4096,
     "a whole number from 1 to 4096", NULL},
    SPAN_FIELD("coordinate", coordinate_ns),
    SPAN_FIELD("write", write_ns),
    SPAN_FIELD("read", read_ns),
    SPAN_FIELD("scan_row", scan_row_ns),
    SPAN_FIELD("scan_tombstone", scan_tombstone_ns),
    {"tombstone_warn", lab_read_whole32, NETWORK(tombstone_warn), LAB_OPTIONAL, 1, 1e9,
     "a whole number from 1 to 1000000000", NULL},
    {"tombstone_fail", lab_read_whole32, NETWORK(tombstone_fail), LAB_OPTIONAL, 1, 1e9,
     "a whole number from 1 to 1000000000", NULL},
    {"gc", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &gc_table},
    {.name = NULL},
};
static const struct lab_table node_table = {.fields = fields}, measured_table = {.fields = fields + 1};

static bool read_text(const char *path, char **text, size_t *size, struct sim_error *error)
{
    int reason;
    char why[SIM_REASON_SIZE];
    FILE *file = sim_input_stream(path, &reason);
    if (file == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: the measured node cannot be opened: %s; tests/cassandra5/latency.py writes one",
                        path, sim_input_reason(reason, why, sizeof why));
    *text = malloc(FILE_SIZE_MAX + 1);
    *size = *text == NULL ? 0 : fread(*text, 1, FILE_SIZE_MAX + 1, file);
    bool is_broken = ferror(file) != 0;
    fclose(file);
    if (*text == NULL)
        return sim_fail_memory(error);
    if (!is_broken && *size <= FILE_SIZE_MAX)
        return true;
    free(*text);
    *text = NULL;
    return sim_fail(error, SIM_ERROR_INPUT,
                    is_broken ? "%s: the measured node cannot be read; check the file"
                              : "%s: more than 1 MiB; check that this is what latency.py wrote",
                    path);
}

static bool read_measured(struct lab_reader *reader, const char *path)
{
    struct lab_reader inner = {.tree = {.path = path, .error = reader->tree.error},
                               .scenario = reader->scenario};
    char *text = NULL;
    size_t size = 0;
    struct lab_node *root;
    bool ok = read_text(path, &text, &size, reader->tree.error) &&
              lab_tree_read(&inner.tree, NULL, text, size, "", &root);
    if (ok) {
        const struct lab_node *node = root->kind == LAB_NODE_MAPPING ? lab_node_find(root, "node") : NULL;
        ok = node != NULL
                 ? lab_table_read(&inner, &measured_table, node, reader->scenario)
                 : lab_fail_at(&inner.tree, &root->place,
                               "no field 'node' in it; write the file with tests/cassandra5/latency.py");
    }
    lab_tree_clear(&inner.tree);
    free(text);
    return ok;
}

bool lab_read_node(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                   void *out)
{
    static const struct lab_field like_field = {
        "like", lab_read_text, 0, LAB_OPTIONAL, 0, 4096, "the name of a file that latency.py wrote", NULL};
    char **path = &reader->scenario->like_path;
    const struct lab_node *like = node->kind == LAB_NODE_MAPPING ? lab_node_find(node, "like") : NULL;
    (void)field;
    if (like != NULL && (!lab_read_text(reader, &like_field, like, path) || !lab_resolve(reader, path) ||
                         !read_measured(reader, *path)))
        return false;
    return lab_table_read(reader, &node_table, node, out);
}
