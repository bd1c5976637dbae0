/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zsh: the arguments of _arguments, one per option. */
#include <string.h>

#include "manual.h"

/* Writes text within single quotes, with a backslash before characters that are special to _arguments. */
static void write_quoted(const char *text, const char *special, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
            continue;
        }
        if (strchr(special, *text) != NULL)
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void write_commands(const struct cli_command *command, FILE *out)
{
    (void)command;
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        fprintf(out, "    '%s:", cli_commands[i]->name);
        write_quoted(cli_commands[i]->summary, ":\\", out);
        fprintf(out, "'\n");
    }
}

static void write_action(enum manual_offer offer, const char *words, FILE *out)
{
    switch (offer) {
    case MANUAL_NOTHING:
        fputc(' ', out);
        break;
    case MANUAL_WORDS:
        fprintf(out, "(%s)", words);
        break;
    case MANUAL_LIST:
        fprintf(out, "_values -s , value %s", words);
        break;
    case MANUAL_FIELDS:
        fprintf(out, "{compadd -S \"\" -- %s}", words);
        break;
    case MANUAL_FILES:
        fprintf(out, "_files");
        break;
    case MANUAL_FOLDERS:
        fprintf(out, "_files -/");
        break;
    case MANUAL_SCENARIOS:
        fprintf(out, "_files -g \"*.(yaml|yml)(-.)\"");
        break;
    case MANUAL_DATABASES:
        fprintf(out, "_files -g \"*.db(-.)\"");
        break;
    case MANUAL_RUNS:
        fprintf(out, "_bucketlab_runs");
        break;
    }
}

static void write_option(const struct cli_command *command, const struct cli_option *option, FILE *out)
{
    char words[MANUAL_WORDS_SIZE], line[MANUAL_TEXT_SIZE];
    enum manual_offer offer = manual_offer_of(command, option, words);
    manual_help_line(option, line);
    fprintf(out, "            '%s--%s%s[", manual_is_repeatable(option) ? "*" : "", option->name,
            option->argument == NULL ? "" : "=");
    write_quoted(line, "[]:\\", out);
    fputc(']', out);
    if (option->argument != NULL) {
        fputc(':', out);
        write_quoted(option->argument, "[]:\\", out);
        fputc(':', out);
        write_action(offer, words, out);
    }
    fprintf(out, "'\n");
}

static void write_specs(const struct cli_command *command, FILE *out)
{
    (void)command;
    static const struct cli_option help = {"help", NULL, "print the command's options, and examples"};
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        enum manual_offer offer = manual_offer_of_arguments(cli_commands[i]);
        fprintf(out, "    %s)\n        specs=(\n", cli_commands[i]->name);
        for (const struct cli_option *option = cli_commands[i]->options; option->name != NULL; option++)
            write_option(cli_commands[i], option, out);
        write_option(cli_commands[i], &help, out);
        fprintf(out, "            '*:");
        write_quoted(cli_commands[i]->arguments, "[]:\\", out);
        fputc(':', out);
        write_action(offer, "", out);
        fprintf(out, "'\n        )\n        ;;\n");
    }
}

const struct manual_directive manual_zsh[] = {
    {"commands", false, write_commands},
    {"options", false, write_specs},
    {NULL, false, NULL},
};
