/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bash and fish: the tables that the functions of the templates use. */
#include <string.h>

#include "manual.h"

static void write_bash_names(const struct cli_command *command, FILE *out)
{
    (void)command;
    fprintf(out, "    names='");
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", cli_commands[i]->name);
    fprintf(out, "'\n");
}

/* Writes one case per command: its options, and the kind of its arguments. */
static void write_bash_commands(const struct cli_command *command, FILE *out)
{
    (void)command;
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        fprintf(out, "    %s)\n        options='", cli_commands[i]->name);
        for (const struct cli_option *option = cli_commands[i]->options; option->name != NULL; option++)
            fprintf(out, "--%s ", option->name);
        fprintf(out, "--help'\n        arguments=%s\n        ;;\n",
                manual_offer_name(manual_offer_of_arguments(cli_commands[i])));
    }
}

/* Writes one case per option with a value. */
static void write_bash_values(const struct cli_command *command, FILE *out)
{
    (void)command;
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        for (const struct cli_option *option = cli_commands[i]->options; option->name != NULL; option++) {
            char words[MANUAL_WORDS_SIZE];
            if (option->argument == NULL)
                continue;
            fprintf(out, "    '%s --%s') offer=%s", cli_commands[i]->name, option->name,
                    manual_offer_name(manual_offer_of(cli_commands[i], option, words)));
            if (words[0] != '\0')
                fprintf(out, " values='%s'", words);
            fprintf(out, " ;;\n");
        }
    }
}

static void write_fish_commands(const struct cli_command *command, FILE *out)
{
    (void)command;
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        fprintf(out, "complete -c bucketlab -n __bucketlab_wants_command -f -a %s -d '",
                cli_commands[i]->name);
        manual_escape(cli_commands[i]->summary, "\\'", out);
        fprintf(out, "'\n");
    }
}

static void write_fish_arguments(const struct cli_command *command, FILE *out)
{
    (void)command;
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        enum manual_offer offer = manual_offer_of_arguments(cli_commands[i]);
        fprintf(out, "complete -c bucketlab -n '__bucketlab_is %s' ", cli_commands[i]->name);
        if (offer == MANUAL_NOTHING)
            fprintf(out, "-f\n");
        else if (offer == MANUAL_FILES)
            fprintf(out, "-F\n");
        else
            fprintf(out, "-k -f -a '(__bucketlab_%s)'\n", manual_offer_name(offer));
    }
}

static void write_fish_option(const struct cli_command *command, const struct cli_option *option, FILE *out)
{
    char words[MANUAL_WORDS_SIZE], line[MANUAL_TEXT_SIZE];
    enum manual_offer offer = manual_offer_of(command, option, words);
    fprintf(out, "complete -c bucketlab -n '__bucketlab_is %s' -l %s", command->name, option->name);
    if (offer == MANUAL_FILES)
        fprintf(out, " -r -F");
    else if (option->argument != NULL)
        fprintf(out, " -x");
    if (offer == MANUAL_WORDS || offer == MANUAL_FIELDS)
        fprintf(out, " -a '%s'", words);
    else if (offer == MANUAL_LIST)
        fprintf(out, " -a '(__fish_append , %s)'", words);
    else if (offer != MANUAL_NOTHING && offer != MANUAL_FILES)
        fprintf(out, " -k -a '(__bucketlab_%s)'", manual_offer_name(offer));
    manual_help_line(option, line);
    fprintf(out, " -d '");
    manual_escape(line, "\\'", out);
    fprintf(out, "'\n");
}

static void write_fish_options(const struct cli_command *command, FILE *out)
{
    (void)command;
    static const struct cli_option help = {"help", NULL, "print the command's options, and examples"};
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        for (const struct cli_option *option = cli_commands[i]->options; option->name != NULL; option++)
            write_fish_option(cli_commands[i], option, out);
        write_fish_option(cli_commands[i], &help, out);
    }
}

const struct manual_directive manual_bash[] = {
    {"names", false, write_bash_names},
    {"commands", false, write_bash_commands},
    {"values", false, write_bash_values},
    {NULL, false, NULL},
};
const struct manual_directive manual_fish[] = {
    {"commands", false, write_fish_commands},
    {"arguments", false, write_fish_arguments},
    {"options", false, write_fish_options},
    {NULL, false, NULL},
};
