/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One value, printed in every form.
 *
 * A command makes its result once, as a JSON value under the names that the manual documents. --json prints
 * the value itself. A table on the terminal, and a CSV file, are views of the value: a list of columns, each
 * of which names the member of a row that it shows, its heading, and the form of its numbers.
 *
 * Each function takes ownership of the values that it is given, and returns NULL, without leaks, when one of
 * them is NULL. Memory does not run out here (main.c). */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kernel/error.h"

/* A whole number up to 2^53 becomes an integer, any other number a real; null when it is not finite. */
json_t *cli_json_number(double value);
/* A whole number; a string of its digits when it is too large for an integer of JSON. */
json_t *cli_json_whole(uint64_t value);
/* A digest: 16 hexadecimal digits. */
json_t *cli_json_digest(uint64_t value);
/* A text, in which U+FFFD stands for what is not UTF-8; null for NULL. */
json_t *cli_json_words(const char *text);

struct cli_member {
    const char *name;
    json_t *value;
};
/* An object of members: CLI_OBJECT({"seed", cli_json_whole(seed)}, {"label", json_string(label)}). */
#define CLI_OBJECT(...)                                                                                      \
    cli_json_object((const struct cli_member[]){__VA_ARGS__},                                                \
                    sizeof((const struct cli_member[]){__VA_ARGS__}) / sizeof(struct cli_member))
json_t *cli_json_object(const struct cli_member *members, size_t count);
/* Adds a member to an object, or an item to a list, and returns it. */
json_t *cli_json_with(json_t *object, const char *name, json_t *value);
json_t *cli_json_append(json_t *list, json_t *item);

/* Formats a value as one line, with 17 significant digits. The caller must free it. */
char *cli_json_text(const json_t *value);
/* A text in double quotes, as in JSON, in YAML, and in Prometheus' format. The caller must free it. */
char *cli_json_quoted(const char *text);
/* Prints a value as one line, with 17 significant digits, and frees it. A NULL value is reported as out of
 * memory. */
bool cli_json_print(json_t *value, struct sim_error *error);

/* How a value is written. Texts are aligned to the left, numbers to the right; null is "-". */
enum cli_form {
    CLI_LABEL,    /* a text; one that is wider than the table allows has its own line */
    CLI_WORDS,    /* a text */
    CLI_NUMBER,   /* three significant digits in five columns: cli_compact() */
    CLI_SHORT,    /* ... in four columns */
    CLI_BYTES,    /* cli_compact_bytes() */
    CLI_EXACT,    /* all digits */
    CLI_TENTHS,   /* one decimal */
    CLI_PER_1000, /* 1000 times the value */
    CLI_SHARE,    /* in per cent */
    CLI_PART,     /* in per cent, 0% and 100% only if they are exact */
    CLI_MEAN,     /* an object with a mean and its interval, low to high: "12.3k +- 480" */
};

/* A column shows a member of each row, or of the row's member `metrics`. One that no row has is left out. */
struct cli_column {
    const char *title;  /* heading */
    const char *name;   /* of the member */
    enum cli_form form; /* of the value */
    const char *group;  /* heading above this column and its neighbours of the same group; NULL: none */
    const char *per;    /* the value is divided by this member; NULL: by nothing */
    const char *other;  /* the member that is shown where a row does not have `name` */
    const char *legend; /* explains the column; NULL: nothing to explain */
    bool is_rare;       /* left out unless a value is above 0 */
};

/* What a table adds to a cell, or to a row, for which the column is NULL. */
enum cli_mark { CLI_STAR = 1, CLI_BANG = 2, CLI_ALARM = 4, CLI_CHOICE = 8 };

struct cli_table {
    const json_t *rows; /* a list */
    const struct cli_column *columns;
    size_t count;
    const char *lead;               /* text before each line; NULL: none */
    size_t gap;                     /* spaces between columns; 0: one */
    size_t label_least, label_most; /* width of the labels; label_most 0: no limit */
    bool has_choice;                /* two columns before each row are for the mark of the choice */
    /* enum cli_mark, or-ed; NULL: no cell has a mark. */
    unsigned (*marks)(const void *context, const json_t *row, const struct cli_column *column);
    /* Printed below a row; NULL: nothing. */
    void (*below)(const void *context, const json_t *row);
    const void *context;
};

/* Prints the columns in as many blocks as the width of lines requires. */
void cli_table_print(FILE *stream, const struct cli_table *table);
/* Explains the columns that are shown, in one paragraph; false when there is nothing to explain. */
bool cli_table_legend(const struct cli_table *table);
bool cli_table_shows(const struct cli_table *table, const struct cli_column *column);
/* The value of a cell; NaN when it is not a number. */
double cli_table_figure(const json_t *row, const struct cli_column *column);

/* Writes a field of CSV (RFC 4180): nothing for null. Line breaks become "; ", so that a row is one line. A
 * spreadsheet interprets text that begins with = + - @, tab, CR or LF as a formula, even if it is quoted, so
 * the prefix of such a text is an apostrophe, as OWASP recommends ("CSV Injection"); plain numbers such as -5
 * or +1.5e3 have none. */
void cli_csv_value(FILE *stream, const json_t *value);
void cli_csv_text(FILE *stream, const char *text);

#define CLI_RED   "\033[31m"
#define CLI_GREEN "\033[32m"
#define CLI_BOLD  "\033[1;32m" /* bold and green */
#define CLI_PLAIN "\033[0m"
/* Whether to print colours: stdout is a terminal, and neither NO_COLOR nor TERM=dumb is set. */
bool cli_has_colour(void);

#endif
