/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a mapping as a table: one row per field has its name, the function that reads it, where its
 * value is stored, and which values are allowed. A field that only a later version supports has a row without
 * a reader, so that the error says so, and not that the field is unknown. */
#ifndef LAB_SCENARIO_FIELD_H
#define LAB_SCENARIO_FIELD_H

#include "lab/scenario.h"
#include "lab/scenario_tree.h"
#include "lab/setting.h"

struct lab_reader {
    struct lab_tree tree;
    struct lab_scenario *scenario;
    bool is_kept; /* the text was accepted before, possibly by an earlier version of the program */
    const char *const *folders; /* files must be in one of these; NULL: in any */
};

struct lab_field;
/* Reads the node's value into the object at `out`; false when the error is set. */
typedef bool lab_field_reader(struct lab_reader *reader, const struct lab_field *field,
                              const struct lab_node *node, void *out);

enum lab_presence { LAB_OPTIONAL, LAB_REQUIRED };

struct lab_field {
    const char *name;
    lab_field_reader *read; /* NULL: the field is refused, and `range` says why */
    size_t offset;          /* offset of the value in the table's target */
    enum lab_presence presence;
    double least, most; /* both 0: any value that the reader takes */
    const char *
        range; /* the allowed values, for a message after "give "; without a reader, the fault and the cure */
    const void *detail; /* lab_read_choice: struct lab_choice[]; lab_read_mapping: struct lab_table */
};

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

/* Returns the table's fields. `made` is room for LAB_FIELDS_MAX fields, which is used when they are rows of
 * lab_setting_table. */
#define LAB_FIELDS_MAX 32
const struct lab_field *lab_table_fields(const struct lab_table *table, struct lab_field *made);
/* scenario_setting.c: makes the fields of a table of settings. */
void lab_setting_fields(const struct lab_table *table, struct lab_field *made);
/* Reads a mapping into `target` by its table; false when the error is set. */
bool lab_table_read(struct lab_reader *reader, const struct lab_table *table, const struct lab_node *mapping,
                    void *target);

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
lab_field_reader lab_read_mapping;         /* the target of the table in `detail` */

/* The text of a scalar; NULL, with the error set, for a list or a mapping. */
const char *lab_scalar(struct lab_reader *reader, const struct lab_node *node);
/* Sets the error "PLACE: 'NAME: VALUE': TEXT"; returns false. */
bool lab_fail_value(struct lab_reader *reader, const struct lab_node *node, const char *text);
/* The only field of the mapping that is neither null nor named `except`; NULL, with the error "WHAT takes
 * exactly one of CHOICES", when there is none or more than one. */
const struct lab_node *lab_only_field(struct lab_reader *reader, const struct lab_node *mapping,
                                      const char *except, const char *what, const char *choices);

#endif
