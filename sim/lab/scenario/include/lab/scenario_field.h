/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a mapping as a table: one line per field says its name, how it is read, where it goes, and
 * which values it takes. A field that only a later version reads is a line as well, without a reader, so that
 * it is refused as such and not as unknown. */
#ifndef LAB_SCENARIO_FIELD_H
#define LAB_SCENARIO_FIELD_H

#include "lab/scenario.h"
#include "lab/scenario_tree.h"
#include "lab/setting.h"

struct lab_reader {
    struct lab_tree tree;
    struct lab_scenario *scenario;
    bool is_kept; /* what was accepted before, perhaps by an earlier program */
};

struct lab_field;
/* Reads the node's value into the object at `out`; false when the error is set. */
typedef bool lab_field_reader(struct lab_reader *reader, const struct lab_field *field,
                              const struct lab_node *node, void *out);

enum lab_presence { LAB_OPTIONAL, LAB_REQUIRED };

struct lab_field {
    const char *name;
    lab_field_reader *read; /* NULL: not in this version */
    size_t offset;          /* of what is read, in the table's target */
    enum lab_presence presence;
    double least, most; /* both 0: any value that the reader takes */
    const char *range; /* what fits, behind "give "; without a reader: in place of "is not in this version" */
    const void *detail; /* lab_read_choice: struct lab_choice[]; lab_read_mapping: struct lab_table */
};

struct lab_table {
    /* Until one whose name is NULL; or NULL, and the fields are the rows of lab_setting_table of these kinds,
     * in this group (NULL: in none). Those of a strategy fill a struct lab_strategy, those of a change a
     * struct lab_change. */
    const struct lab_field *fields;
    uint32_t kinds;
    const char *group;
    uint32_t scope; /* LAB_OF_* */
    /* Called after the fields, for what concerns several of them; may be NULL. */
    bool (*check)(struct lab_reader *reader, const struct lab_node *mapping, void *target);
    bool may_be_empty; /* "unbucketed:" is as good as "unbucketed: {}" */
};

/* The table's fields; `made` is room for those that are rows of settings. */
#define LAB_FIELDS_MAX 32
const struct lab_field *lab_table_fields(const struct lab_table *table, struct lab_field *made);
/* scenario_setting.c: the same of a table of settings. */
void lab_setting_fields(const struct lab_table *table, struct lab_field *made);
bool lab_table_read(struct lab_reader *reader, const struct lab_table *table, const struct lab_node *mapping,
                    void *target);

/* Readers; `out` points at what is named next to each. */
lab_field_reader lab_read_text;            /* char *, malloc'ed; `most` bytes at most; one line */
lab_field_reader lab_read_prose;           /* the same, with line breaks */
lab_field_reader lab_read_whole;           /* uint64_t */
lab_field_reader lab_read_whole32;         /* uint32_t; least and most must be set */
lab_field_reader lab_read_number;          /* double */
lab_field_reader lab_read_duration;        /* int64_t; least and most in ns */
lab_field_reader lab_read_signed_duration; /* the same; least below 0 */
lab_field_reader lab_read_bytes;           /* uint64_t, with a unit */
lab_field_reader lab_read_size;            /* double: whole bytes, with or without a unit */
lab_field_reader lab_read_rate;            /* double, per second */
lab_field_reader lab_read_share;           /* double */
lab_field_reader lab_read_drift;           /* double, a share */
lab_field_reader lab_read_time;            /* int64_t, ns since 1970 */
lab_field_reader lab_read_choice;          /* int */
lab_field_reader lab_read_mapping;         /* whatever the table in `detail` fills */

/* The value's text when it is a single one; NULL, and the error set, when it is a list or a mapping. */
const char *lab_scalar(struct lab_reader *reader, const struct lab_node *node);
/* "PLACE: 'NAME: VALUE': TEXT"; returns false. */
bool lab_fail_value(struct lab_reader *reader, const struct lab_node *node, const char *text);
/* The one field of the mapping that is not null and not `except`; or NULL and the error "WHAT takes exactly
 * one of CHOICES". */
const struct lab_node *lab_only_field(struct lab_reader *reader, const struct lab_node *mapping,
                                      const char *except, const char *what, const char *choices);

#endif
