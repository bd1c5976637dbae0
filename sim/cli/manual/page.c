/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manual page, in mdoc(7). */
#include <string.h>

#include "manual.h"

static void write_version(const struct cli_command *command, FILE *out)
{
    (void)command;
    fprintf(out, ".Os bucketlab %s\n", BUCKETLAB_VERSION);
}

/* Writes one line, with hyphens escaped so that they can be copied as minus signs. */
static void write_text(const char *text, FILE *out)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
}

static void write_commands(const struct cli_command *command, FILE *out)
{
    (void)command;
    fprintf(out, ".Bl -tag -width bucket-ofXX -compact\n");
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        fprintf(out, ".It Cm %s\n", cli_commands[i]->name);
        write_text(cli_commands[i]->summary, out);
        fputc('\n', out);
    }
    fprintf(out, ".El\n");
}

static void write_usage(const struct cli_command *command, FILE *out)
{
    fprintf(out, ".Ss %s\n.Nm\n.Cm %s\n.Op Ar options\n", command->name, command->name);
    if (command->arguments[0] != '\0') {
        fprintf(out, ".Ar ");
        write_text(command->arguments, out);
        fputc('\n', out);
    }
    fprintf(out, ".Pp\n");
}

/* Writes each line without its leading spaces and with a line break. */
static void write_lines(const char *text, FILE *out)
{
    while (*text != '\0') {
        char line[MANUAL_TEXT_SIZE];
        text += strspn(text, " ");
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        write_text(line, out);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

static void write_options(const struct cli_command *command, FILE *out)
{
    static const struct cli_option help = {"help", NULL, "print the command's options, and examples"};
    fprintf(out, ".Pp\n.Bl -tag -width \"\\-\\-trace\\-events FILE\" -compact\n");
    bool is_last = false;
    for (const struct cli_option *option = command->options; !is_last; option++) {
        is_last = option->name == NULL;
        if (is_last)
            option = &help;
        fprintf(out, ".It Fl \\-%s", option->name);
        if (option->argument != NULL) {
            fprintf(out, " Ar ");
            write_text(option->argument, out);
        }
        fputc('\n', out);
        write_lines(option->help, out);
    }
    fprintf(out, ".El\n.Pp\n.Bd -literal -compact\n");
    write_lines(command->example, out);
    fprintf(out, ".Ed\n");
}

const struct manual_directive manual_page[] = {
    {"version", false, write_version},
    {"commands", false, write_commands},
    {"usage", true, write_usage},
    {"options", true, write_options},
    {NULL, false, NULL},
};
