/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a scenario's text becomes a checked struct, for the modules that read, change or write scenarios
 * themselves: a tree of nodes, and tables of fields that say what each mapping may hold. One row is all that
 * there is to know of a field. */
#ifndef LAB_FIELDS_H
#define LAB_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/error.h"
#include "lab/scenario.h"
#include "lab/setting.h"

/* --- A scenario's YAML as a tree of scalars, lists and mappings, with the place of every value.
 *
 * Anchors, aliases, tags, merge keys and further documents are refused, so that a small file cannot make a
 * large tree; depth and number of values are limited. A value may also come from a --set argument, which is
 * then its place. The nodes live as long as the tree. */

enum lab_node_kind { LAB_NODE_SCALAR, LAB_NODE_LIST, LAB_NODE_MAPPING };

struct lab_place {
    const char *argument; /* "PATH=VALUE" of a --set; NULL: the file */
    int line, column;     /* from 1; line 0: not known */
};

struct lab_node {
    enum lab_node_kind kind;
    bool is_empty;          /* the value is missing */
    bool is_null;           /* an unquoted null or ~, which means that the field is absent */
    struct lab_place place; /* place of the value */
    struct lab_place name_place;
    const char *name; /* name of the field; for an element, that of its list; "" for the top node */
    const char *text; /* text of a scalar, in UTF-8 */
    size_t count;     /* number of children */
    struct lab_node *first, *last, *next;
};

struct lab_tree {
    const char *path; /* for messages */
    struct sim_error *error;
    struct lab_chunk *chunks;
    size_t node_count;
};

/* Reads one document. `name`: name of the top node. `argument`: as in struct lab_place. The caller must clear
 * the tree even after a failure. */
bool lab_tree_read(struct lab_tree *tree, const char *argument, const char *text, size_t size,
                   const char *name, struct lab_node **out);
void lab_tree_clear(struct lab_tree *tree);

/* The field with this name; NULL when it is absent or null. */
struct lab_node *lab_node_find(const struct lab_node *mapping, const char *name);
/* The same below several mappings: "row.ttl". */
struct lab_node *lab_node_at(const struct lab_node *mapping, const char *path);
/* Makes an empty mapping; NULL, with the error set, when out of memory. name is not copied. */
struct lab_node *lab_tree_mapping(struct lab_tree *tree, const struct lab_place *place, const char *name);
/* Copies `size` bytes of text to a string that the tree owns; NULL, with the error set, when out of
 * memory. */
const char *lab_tree_text(struct lab_tree *tree, const char *text, size_t size);
void lab_node_append(struct lab_node *parent, struct lab_node *child);

/* Fills the tree's error with "place: text" and returns false. */
bool lab_fail_at(const struct lab_tree *tree, const struct lab_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Formats a place as "line 12" or "--set a=b", for the middle of a message. buffer must have LAB_PLACE_SIZE
 * bytes. */
#define LAB_PLACE_SIZE 64
const char *lab_place_text(const struct lab_place *place, char *buffer);

/* Writes the beginning of a text for a message, truncated between two characters, with control characters
 * replaced by '?'. Returns buffer, which must have LAB_SHOWN_SIZE bytes. */
#define LAB_SHOWN_SIZE 44
const char *lab_show(const char *text, char *buffer);
/* Whether a code point may move a terminal's cursor: C0, DEL, C1, and Unicode's line and paragraph
 * separators. */
bool lab_is_control(unsigned code);

/* --- Writes a tree as YAML, and a growing text buffer for it. */

/* A growing text; zeroed at first. After running out of memory nothing more is added. */
struct lab_writer {
    char *text; /* with a final NUL; NULL if nothing was added yet */
    size_t size, capacity;
    bool out_of_memory;
};

void lab_writer_add(struct lab_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a value in flow style: on one line, with lists and mappings in brackets. */
void lab_writer_add_flow(struct lab_writer *writer, const struct lab_node *node);
/* Returns the text, which the caller must free, and empties the writer; NULL when out of memory. */
char *lab_writer_take(struct lab_writer *writer);

/* Writes the top node, a mapping, with one line per field or element of a list if it fits into the line.
 * Parsing the text gives the same tree, except for places. The caller must free the text; NULL when out of
 * memory. */
char *lab_tree_write(const struct lab_node *root);

/* --- The fields of a mapping as a table: one row per field has its name, the function that reads it, where
 * its value is stored, and which values are allowed. The prose of a range is made from its two numbers. A
 * field that is refused has a row without a reader, so that the error says why, and not that the field is
 * unknown. */

struct lab_reader {
    struct lab_tree tree;
    struct lab_scenario *scenario;
    bool is_kept; /* the text was accepted before, possibly by an earlier version of the program */
    const char *const *folders; /* files must be in one of these; NULL: in any */
    const char *user_types;     /* of row.schema, as cass_type_weigh() takes them; NULL: none */
};

/* Each value is drawn from the random stream with its own number, so a new value does not change the others.
 * Only append numbers; otherwise every seed would become another scenario. */
enum lab_draw {
    LAB_DRAW_DURATION,
    LAB_DRAW_ROWS,
    LAB_DRAW_KEYS,
    LAB_DRAW_ZIPF,
    LAB_DRAW_BURSTS,
    LAB_DRAW_READS,
    LAB_DRAW_AGENTS,
    LAB_DRAW_CACHE,
    LAB_DRAW_CLOCK,
    LAB_DRAW_OFFSET,
    LAB_DRAW_RETRIES,
    LAB_DRAW_RESTART,
    LAB_DRAW_RING,
    LAB_DRAW_LEVELS,
    LAB_DRAW_NETWORK,
    LAB_DRAW_NODE,
    LAB_DRAW_TIMEOUTS,
    LAB_DRAW_PAXOS,
    LAB_DRAW_STRATEGY,
    LAB_DRAW_SIZE,
    LAB_DRAW_COUNTER,
    LAB_DRAW_LEAD,
    LAB_DRAW_LOCK,
    LAB_DRAW_GRANT,
    LAB_DRAW_SWARM,
    LAB_DRAW_OPERATIONS,
    LAB_DRAW_WEIGHTED,
    LAB_DRAW_SOURCE,
    LAB_DRAW_LATE,
    LAB_DRAW_EARLY,
    LAB_DRAW_RESOLUTION,
    LAB_DRAW_BACKFILL,
    LAB_DRAW_TTL,
    LAB_DRAW_DELETES,
    LAB_DRAW_RANGE,
    LAB_DRAW_ALL,
    LAB_DRAW_CLOCK_STEP,
    LAB_DRAW_EVICTION,
    LAB_DRAW_ROUTING,
    LAB_DRAW_PLAN,
    LAB_DRAW_EMPTIES,
    LAB_DRAW_THEN,
    LAB_DRAW_TOPOLOGY,
    LAB_DRAW_ANY_LEVELS,
    LAB_DRAW_CHECKPOINT,
    LAB_DRAW_IDENTIFIERS,
    LAB_DRAW_IDGEN,
    LAB_DRAW_THINK,
    LAB_DRAW_COUNTS,
    LAB_DRAW_ONE_WRITER,
    LAB_DRAW_TWIN,
    LAB_DRAW_BACKOFF,
    LAB_DRAW_LENGTH,
    LAB_DRAW_MAX_AGE,
    LAB_DRAW_ALIGNED,
    LAB_DRAW_DAILY,
    LAB_DRAW_SPIKES,
    LAB_DRAW_SIZES,
    LAB_DRAW_CELLS,
    LAB_DRAW_FORMAT,
    LAB_DRAW_LIMIT,
    LAB_DRAW_READ_PLANS, /* three, by kind */
    LAB_DRAW_LOSS = LAB_DRAW_READ_PLANS + 3,
    LAB_DRAW_DUPLICATE,
    LAB_DRAW_UNIFORM,
    LAB_DRAW_NODE_TIMES,
    LAB_DRAW_TOKENS,
    LAB_DRAW_DETECT,
    LAB_DRAW_TRAP,
    LAB_DRAW_RANDOM,
    LAB_DRAW_DRIFT,
    LAB_DRAW_HISTORY,
    LAB_DRAW_WINDOWS,
    LAB_DRAW_CHANCE,
    LAB_DRAW_EVERY_TIME,
    LAB_DRAW_ONE_BUCKET,
    LAB_DRAW_STRIPES,
    LAB_DRAW_CHOICE,
    LAB_DRAW_CORES,
    LAB_DRAW_COMPRESSION,
    LAB_DRAW_POINTS,
    LAB_DRAW_EACH,
    LAB_DRAW_MIXED,
    LAB_DRAW_QUEUE,
    LAB_DRAW_FAULTS = 1000 /* from here on, a stream per kind of fault */
};

/* How `fuzz` draws the field (fuzz/draw.c). */
struct lab_drawn {
    unsigned stream; /* enum lab_draw; unless share is 0, the value's own stream begins here */
    double
        share; /* of the seeds that have the mapping; 1: always; 0: always, from the stream of the mapping */
    uint32_t skip;    /* this many draws of the stream belong to other fields */
    const char *when; /* a flag of the seed's plan; NULL: any */
    const char *text; /* what is written; NULL: not drawn, or a mapping with what its own fields say */
};
#define LAB_DRAWN(name, of_seeds, words)                                                                     \
    .draw.stream = LAB_DRAW_##name, .draw.share = (of_seeds), .draw.text = (words)
#define LAB_DRAWS(words) .draw.text = (words)

struct lab_field;
/* Reads the node's value into the object at `out`; false when the error is set. */
typedef bool lab_field_reader(struct lab_reader *reader, const struct lab_field *field,
                              const struct lab_node *node, void *out);

struct lab_field {
    const char *name;
    lab_field_reader *read; /* NULL: the field is refused, and `range` says why */
    size_t offset;          /* offset of the value in the table's target */
    bool is_required;
    double least, most; /* both 0: any value that the reader takes */
    /* What to give, for a message, where the range does not say it; a text that begins with a comma follows
     * the prose of the range. Without a reader, the fault and the cure. */
    const char *range;
    const void *detail; /* lab_read_choice: struct lab_choice[]; lab_read_mapping: struct lab_table */
    struct lab_drawn draw;
};
/* For the rows of a table: where the value is, that it must be given, and its range. */
#define LAB_AT(type, member) .offset = offsetof(type, member)
#define LAB_IN(member)       LAB_AT(struct lab_scenario, member)
#define LAB_REQUIRED         .is_required = true
#define LAB_FROM(low, high)  .least = (low), .most = (high)

struct lab_table {
    /* The fields, up to one whose name is NULL. If `fields` is NULL, the fields are the rows of
     * lab_setting_table for `kinds`, in `group` (NULL: in no group). The target is then a struct
     * lab_strategy, or a struct lab_change for a change. */
    const struct lab_field *fields;
    uint32_t kinds;
    const char *group;
    uint32_t scope; /* LAB_OF_* */
    /* Called after all fields were read, for checks that involve several of them; may be NULL. */
    bool (*check)(struct lab_reader *reader, const struct lab_node *mapping, void *target);
    bool may_be_empty; /* an empty value means an empty mapping: "unbucketed:" is "unbucketed: {}" */
};

/* The fields of a table. */
#define LAB_FIELDS(...)                                                                                      \
    .fields = (const struct lab_field[])                                                                     \
    {                                                                                                        \
        __VA_ARGS__,                                                                                         \
        {                                                                                                    \
            .name = NULL                                                                                     \
        }                                                                                                    \
    }
#define LAB_FIELDS_MAX 32
/* The table's fields. `made` has room for LAB_FIELDS_MAX fields, which is used when they are settings. */
const struct lab_field *lab_table_fields(const struct lab_table *table, struct lab_field *made);
/* Reads a mapping into `target` by its table; false when the error is set. */
bool lab_table_read(struct lab_reader *reader, const struct lab_table *table, const struct lab_node *mapping,
                    void *target);
/* What the field takes, in words: "a duration above 0s and at most 365d". buffer must have LAB_RANGE_SIZE
 * bytes; it is
 * "" when only its reader knows. */
#define LAB_RANGE_SIZE 256
void lab_field_range(const struct lab_field *field, char *buffer);

/* Readers. The comment next to each says to what type `out` points. */
lab_field_reader lab_read_text;            /* char *, malloc'ed; `most` bytes at most; one line */
lab_field_reader lab_read_prose;           /* char *, malloc'ed; may have line breaks */
lab_field_reader lab_read_whole;           /* uint64_t */
lab_field_reader lab_read_whole32;         /* uint32_t; least and most must be set */
lab_field_reader lab_read_number;          /* double */
lab_field_reader lab_read_duration;        /* int64_t; least and most in ns */
lab_field_reader lab_read_signed_duration; /* int64_t; least, in ns, may be below 0 */
lab_field_reader lab_read_bytes;           /* uint64_t, with a unit */
lab_field_reader lab_read_size;            /* double: whole bytes, with or without a unit */
lab_field_reader lab_read_rate;            /* double, per second */
lab_field_reader lab_read_share;           /* double */
lab_field_reader lab_read_drift;           /* double, a share */
lab_field_reader lab_read_time;            /* int64_t, ns since 1970 */
lab_field_reader lab_read_choice;          /* int */
lab_field_reader lab_read_flag;            /* bool, true or false */
lab_field_reader lab_read_mapping;         /* the target of the table in `detail` */
lab_field_reader lab_read_later;           /* nothing: a check of the whole mapping, or scenario, reads it */

/* The text of a scalar; NULL, with the error set, for a list or a mapping. */
const char *lab_scalar(struct lab_reader *reader, const struct lab_node *node);
/* Sets the error "PLACE: 'NAME: VALUE': TEXT"; returns false. */
bool lab_fail_value(struct lab_reader *reader, const struct lab_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether the node is a list with a number of elements within these limits; if not, the error says so, and
 * how to write it. */
bool lab_check_list(struct lab_reader *reader, const struct lab_node *node, size_t least, size_t most,
                    const char *form);
/* Reads a list of some of the names, as bits: bit i is names[i]. `what` says what they name. */
bool lab_read_names(struct lab_reader *reader, const struct lab_node *node, const char *what,
                    const char *const *names, size_t count, const char *form, uint32_t *out);
/* Reads a list of a least and a most value into a uniform distribution. */
bool lab_read_uniform(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      lab_field_reader *read, const char *form, struct sim_size *out);
/* Reads a value, which is the constant distribution, or one of the forms that the table in `detail` has. */
bool lab_read_distribution(struct lab_reader *reader, const struct lab_field *field,
                           const struct lab_node *node, lab_field_reader *read, const char *forms,
                           struct sim_size *out);
/* The only field of the mapping that is neither null nor named `except`; NULL, with the error "WHAT takes
 * exactly one of CHOICES", when there is none or more than one. */
const struct lab_node *lab_only_field(struct lab_reader *reader, const struct lab_node *mapping,
                                      const char *except, const char *what, const char *choices);

/* --- The parts of a scenario, each read by one file; the table of the top level (parse.c) combines them. The
 * target of each table is the struct lab_scenario. The functions ..._complete() make the checks and set the
 * defaults that involve several fields; parse.c calls them in an order in which each finds what it needs. */

/* workload.c */
extern const struct lab_table lab_keys_table, lab_arrivals_table, lab_trace_table, lab_row_table,
    lab_deletes_table, lab_reads_table, lab_row_bytes_table;
bool lab_workload_complete(struct lab_reader *reader, const struct lab_node *root);
bool lab_reads_complete(struct lab_reader *reader, const struct lab_node *root);

/* strategies.c */
lab_field_reader lab_read_strategies;
lab_field_reader lab_read_then; /* a list of changes; `detail` is the table of one */
extern const struct lab_table lab_identifiers_table;
extern const struct lab_table
    lab_strategy_table; /* for one strategy: its kinds, and the settings of each kind */
bool lab_identifiers_complete(struct lab_reader *reader, const struct lab_node *root);
/* The first element of `strategies`, from `item` on, that places rows; NULL when there is none. */
const struct lab_node *lab_placing(const struct lab_node *item);
/* Checks that the engine supports the changes of one strategy, whose settings are the mapping. */
bool lab_then_complete(struct lab_reader *reader, const struct lab_node *settings,
                       const struct lab_strategy *strategy);

/* cluster.c and faults.c */
extern const struct lab_table lab_cluster_table, lab_agents_table;
lab_field_reader lab_read_faults;
extern const struct lab_table lab_fault_table; /* in the order of enum lab_fault_kind, followed by `random` */
void lab_cluster_default(struct lab_scenario *scenario);
bool lab_cluster_complete(struct lab_reader *reader, const struct lab_node *root);
bool lab_faults_complete(struct lab_reader *reader, const struct lab_node *root);

/* engine.c: refuses sections and fields that do not go together; chooses the engine, and checks what it
 * requires of strategies, cluster and consistency; then whether rows are thinned. */
bool lab_sections_check(struct lab_reader *reader, const struct lab_node *root);
bool lab_engine_complete(struct lab_reader *reader, const struct lab_node *root);
bool lab_thin_complete(struct lab_reader *reader, const struct lab_node *root);

/* parse.c: reads a file of at most 1 MiB, with a final NUL. *text is malloc'ed. */
bool lab_text_read(const char *path, char **text, size_t *size, struct sim_error *error);
/* ddl.c: reads the table of `row.schema`, if there is one, its time to live and the user types. */
bool lab_schema_read(struct lab_reader *reader, const struct lab_node *root);

/* table.c and row_size.c */
extern const struct lab_table lab_design_table;
bool lab_table_complete(struct lab_reader *reader, const struct lab_node *root);
bool lab_row_complete(struct lab_reader *reader, const struct lab_node *root);
void lab_row_cost_make(const struct lab_scenario *scenario, struct lab_row_cost *out);

/* judged.c */
extern const struct lab_table lab_limits_table, lab_prices_table, lab_tune_table;
lab_field_reader lab_read_expects;
void lab_tune_default(struct lab_tune *tune);
bool lab_judged_complete(struct lab_reader *reader, const struct lab_node *root);

/* sweep_section.c: checks the form of `sweep`, which single runs ignore; stores nothing. */
lab_field_reader lab_read_sweep;

/* The --set arguments as one text with a line for each; *out is malloc'ed. */
bool lab_overrides_join(struct lab_tree *tree, const struct lab_override *overrides, size_t count,
                        char **out);
/* tree_write.c: applies one --set argument to the tree. */
bool lab_override_apply(struct lab_tree *tree, struct lab_node *root, const char *argument);

extern const struct lab_table lab_scenario_table;
/* parse.c: reads the text of a scenario, and applies the overrides. */
bool lab_root_read(struct lab_tree *tree, const char *text, size_t size, const struct lab_override *overrides,
                   size_t override_count, struct lab_node **root);
/* parse.c: makes a scenario from a tree that was read, and possibly changed, before. `text` becomes
 * its text, without overrides. On failure *out is NULL, and the tree's error is set. */
bool lab_scenario_of_tree(struct lab_tree *tree, struct lab_node *root, const char *text,
                          struct lab_scenario **out);
/* Replaces a malloc'ed relative file name by one that is resolved relative to the scenario's folder, and
 * refuses one that is in none of the reader's folders. */
bool lab_resolve(struct lab_reader *reader, char **path);

/* --- The section `sweep` as nodes of the tree, before its points are made. */

#define LAB_SWEEP_JOBS_MAX   1000000u
#define LAB_SWEEP_POINTS_MAX 10000u

/* `seeds`: a list, or a number of consecutive seeds. */
struct lab_sweep_seeds {
    uint64_t count;
    bool has_first;
    uint64_t first;
    uint64_t *items; /* NULL: first, first + 1, ... */
};

struct lab_sweep_section {
    struct lab_sweep_seeds seeds; /* count 0: not given; the caller must free items */
    const struct lab_node *grid;  /* a mapping of lists that are not empty; or NULL */
    const struct lab_node *list;  /* a list of mappings; or NULL */
};

/* Reads the section. On failure there is nothing to free. */
bool lab_sweep_section_read(struct lab_reader *reader, const struct lab_node *node,
                            struct lab_sweep_section *out);

#endif
