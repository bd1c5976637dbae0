/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is made of the commands' tables at build time: the manual page, and what shells complete.
 *
 * A template is copied line by line; a line "@NAME" or "@NAME COMMAND" stands for what a directive writes. So
 * no option can be missing where `--help` has it, or be there where it has gone.
 */
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

/* What a shell offers where a value or an argument is to come. */
enum manual_offer {
    MANUAL_NOTHING,
    MANUAL_WORDS,
    MANUAL_LIST,   /* words, parted by commas */
    MANUAL_FIELDS, /* words with a value behind them: no blank follows */
    MANUAL_FILES,
    MANUAL_FOLDERS,
    MANUAL_SCENARIOS,
    MANUAL_DATABASES,
    MANUAL_RUNS,
};

#define MANUAL_WORDS_SIZE 16384
#define MANUAL_TEXT_SIZE  1024
/* The words parted by spaces; empty unless words, a list or fields are offered. */
enum manual_offer manual_offer_of(const struct cli_command *command, const struct cli_option *option,
                                  char words[MANUAL_WORDS_SIZE]);
enum manual_offer manual_offer_of_arguments(const struct cli_command *command);
/* "files", "runs": the name that the templates have for it. */
const char *manual_offer_name(enum manual_offer offer);
/* Whether each rule is of an option that is there, and its words stand in that option's help. */
bool manual_offers_check(void);
bool manual_is_repeatable(const struct cli_option *option);
/* The option's help as one line. */
void manual_help_line(const struct cli_option *option, char buffer[MANUAL_TEXT_SIZE]);
/* Text in which each of `special` has a backslash in front. */
void manual_escape(const char *text, const char *special, FILE *out);

#endif
