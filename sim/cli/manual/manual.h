/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generates the manual page and the shell completions at build time from the tables of commands.
 *
 * A template is copied line by line; a line "@NAME" or "@NAME COMMAND" is replaced by the output of a
 * directive. So the manual and the completions always have the same options as `--help`. */
#ifndef CLI_MANUAL_MANUAL_H
#define CLI_MANUAL_MANUAL_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/commands.h"

struct manual_directive {
    const char *name; /* without '@'; NULL ends a table */
    bool is_per_command;
    void (*write)(const struct cli_command *command, FILE *out); /* command: NULL unless per command */
};

extern const struct manual_directive manual_page[], manual_bash[], manual_zsh[], manual_fish[];

/* What a shell offers to complete a value or an argument. */
enum manual_offer {
    MANUAL_NOTHING,
    MANUAL_WORDS,
    MANUAL_LIST,   /* words separated by commas */
    MANUAL_FIELDS, /* words that are followed by a value, so no space is added */
    MANUAL_FILES,
    MANUAL_FOLDERS,
    MANUAL_SCENARIOS,
    MANUAL_DATABASES,
    MANUAL_RUNS,
};

#define MANUAL_WORDS_SIZE 16384
#define MANUAL_TEXT_SIZE  1024
/* Sets `words` to the words separated by spaces; empty unless words, a list or fields are offered. */
enum manual_offer manual_offer_of(const struct cli_command *command, const struct cli_option *option,
                                  char words[MANUAL_WORDS_SIZE]);
enum manual_offer manual_offer_of_arguments(const struct cli_command *command);
/* The name of an offer in the templates: "files", "runs". */
const char *manual_offer_name(enum manual_offer offer);
/* Checks that each rule is for an existing option, and that its words occur in the option's help. */
bool manual_offers_check(void);
bool manual_is_repeatable(const struct cli_option *option);
/* The option's help as one line. */
void manual_help_line(const struct cli_option *option, char buffer[MANUAL_TEXT_SIZE]);
/* Writes text with a backslash before each character of `special`. */
void manual_escape(const char *text, const char *special, FILE *out);

#endif
