/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab-manual page|bash|zsh|fish TEMPLATE OUTPUT: fills in a template. It is only run by the build. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "manual.h"

#define DIRECTIVES_MAX 8

struct sheet {
    const struct manual_directive *directives;
    const char *name; /* file name of the template */
    FILE *in, *out;
    int line;
    int used[DIRECTIVES_MAX]
            [CLI_COMMAND_COUNT + 1]; /* the last index is for directives that are not per command */
};

static const struct manual_directive *find_sheet(const char *name)
{
    static const struct {
        const char *name;
        const struct manual_directive *directives;
    } sheets[] = {{"page", manual_page}, {"bash", manual_bash}, {"zsh", manual_zsh}, {"fish", manual_fish}};
    for (size_t i = 0; i < sizeof sheets / sizeof sheets[0]; i++) {
        if (strcmp(sheets[i].name, name) == 0)
            return sheets[i].directives;
    }
    return NULL;
}

static size_t find_command(const char *name)
{
    size_t nth = 0;
    while (nth < CLI_COMMAND_COUNT && strcmp(cli_commands[nth]->name, name) != 0)
        nth++;
    return nth;
}

static bool obey(struct sheet *sheet, const char *text)
{
    size_t length = strcspn(text, " "), nth = 0;
    while (sheet->directives[nth].name != NULL && (strlen(sheet->directives[nth].name) != length ||
                                                   strncmp(sheet->directives[nth].name, text, length) != 0))
        nth++;
    const struct manual_directive *directive = &sheet->directives[nth];
    const bool has_command = text[length] == ' ';
    if (directive->name == NULL || nth >= DIRECTIVES_MAX || has_command != directive->is_per_command)
        return false;
    size_t command = has_command ? find_command(text + length + 1) : CLI_COMMAND_COUNT;
    if (has_command && command == CLI_COMMAND_COUNT)
        return false;
    sheet->used[nth][command]++;
    directive->write(has_command ? cli_commands[command] : NULL, sheet->out);
    return true;
}

static bool fill(struct sheet *sheet)
{
    char text[MANUAL_TEXT_SIZE];
    for (sheet->line = 1; fgets(text, sizeof text, sheet->in) != NULL; sheet->line++) {
        if (text[0] != '@') {
            fputs(text, sheet->out);
            continue;
        }
        text[strcspn(text, "\n")] = '\0';
        if (!obey(sheet, text + 1)) {
            fprintf(stderr, "%s:%d: '%s' is not a directive here, or not a command's\n", sheet->name,
                    sheet->line, text);
            return false;
        }
    }
    return ferror(sheet->in) == 0;
}

/* Fails the build when a new command has no section in the template. */
static bool check_used(const struct sheet *sheet)
{
    bool is_fine = true;
    for (size_t nth = 0; sheet->directives[nth].name != NULL; nth++) {
        const struct manual_directive *directive = &sheet->directives[nth];
        size_t first = directive->is_per_command ? 0 : CLI_COMMAND_COUNT;
        size_t end = directive->is_per_command ? CLI_COMMAND_COUNT : CLI_COMMAND_COUNT + 1;
        for (size_t i = first; i < end; i++) {
            if (sheet->used[nth][i] == 1)
                continue;
            fprintf(stderr, "%s: '@%s%s%s' appears %d times in it; write it once\n", sheet->name,
                    directive->name, directive->is_per_command ? " " : "",
                    directive->is_per_command ? cli_commands[i]->name : "", sheet->used[nth][i]);
            is_fine = false;
        }
    }
    return is_fine;
}

int main(int argc, char **argv)
{
    char *text = NULL;
    size_t size = 0;
    struct sheet sheet = {.directives = argc == 4 ? find_sheet(argv[1]) : NULL};
    if (sheet.directives == NULL) {
        fprintf(stderr, "usage: bucketlab-manual page|bash|zsh|fish TEMPLATE OUTPUT\n");
        return 2;
    }
    sheet.name = argv[2];
    sheet.in = fopen(sheet.name, "r");
    sheet.out = open_memstream(&text, &size);
    bool is_fine = manual_offers_check() && sheet.in != NULL && sheet.out != NULL && fill(&sheet);
    is_fine = is_fine && check_used(&sheet);
    if (sheet.out != NULL && fclose(sheet.out) != 0)
        is_fine = false;
    FILE *file = is_fine ? fopen(argv[3], "w") : NULL;
    is_fine = file != NULL && fwrite(text, 1, size, file) == size;
    if (file != NULL && fclose(file) != 0)
        is_fine = false;
    if (!is_fine) {
        fprintf(stderr, "%s: could not be made into %s\n", sheet.name, argv[3]);
        if (file != NULL)
            remove(argv[3]);
    }
    free(text);
    if (sheet.in != NULL)
        fclose(sheet.in);
    return is_fine ? 0 : 1;
}
