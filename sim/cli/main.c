/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab COMMAND [OPTIONS] [ARGS]: finds the command, runs it, prints its error, returns its exit code. */
#define _POSIX_C_SOURCE 200809L
#include "cli/base.h"
#include "cli/run.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "kernel/text.h"

/* If a standard stream is closed, a database could be opened with its descriptor, and be overwritten by
 * output. */
static void guard_standard_streams(void)
{
    /* Opened for the wrong direction on purpose, so that using it is an error, as with a closed
     * descriptor. */
    if (fcntl(STDIN_FILENO, F_GETFD) == -1)
        (void)!open("/dev/null", O_WRONLY);
    if (fcntl(STDOUT_FILENO, F_GETFD) == -1)
        (void)!open("/dev/null", O_RDONLY);
    if (fcntl(STDERR_FILENO, F_GETFD) == -1)
        (void)!open("/dev/null", O_RDONLY);
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    }
    return NULL;
}

static int unknown_command(const char *name, struct sim_error *error)
{
    const char *names[CLI_COMMAND_COUNT + 4] = {NULL};
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++)
        names[i] = cli_commands[i]->name;
    g_autofree char *list = g_strjoinv(", ", (char **)(uintptr_t)names);
    names[CLI_COMMAND_COUNT] = "help";
    names[CLI_COMMAND_COUNT + 1] = "--help";
    names[CLI_COMMAND_COUNT + 2] = "--version";
    const char *near = sim_nearest(name, names, CLI_COMMAND_COUNT + 3);
    if (near != NULL && (near[0] == '-' || name[0] != '-'))
        sim_fail(error, SIM_ERROR_INPUT, "bucketlab: no command '%s'; did you mean '%s'?", name, near);
    else if (name[0] == '-')
        sim_fail(error, SIM_ERROR_INPUT,
                 "bucketlab: '%s' comes before the command; write 'bucketlab COMMAND %s'", name, name);
    else
        sim_fail(error, SIM_ERROR_INPUT, "bucketlab: no command '%s'; the commands are: %s", name, list);
    return SIM_ERROR_INPUT;
}

static void print_help(FILE *stream)
{
    fprintf(stream, "bucketlab: try out ways to split a stream of rows into Cassandra partitions\n\n"
                    "usage: bucketlab COMMAND [OPTIONS] [ARGS]\n\ncommands:\n");
    for (size_t i = 0; i < CLI_COMMAND_COUNT; i++)
        fprintf(stream, "  %-10s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fprintf(stream, "\n"
                    "'bucketlab help COMMAND' prints its options, 'man bucketlab' is the manual,\n"
                    "'bucketlab --version' prints the version.\n\n"
                    "exit codes: 0 fine, 1 check failed, 2 bad usage or input, 3 environment failed\n\n"
                    "example:\n  bucketlab init\n  bucketlab run scenario.yaml\n");
}

static int help_command(int argc, char **argv, struct sim_error *error)
{
    if (argc == 2 || strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    const struct cli_command *command = find_command(argv[2]);
    if (command == NULL)
        return unknown_command(argv[2], error);
    cli_help(command, stdout);
    return 0;
}

static int run_command(const struct cli_command *command, int argc, char **argv, struct ranks *ranks,
                       struct sim_error *error)
{
    struct cli_signals signals = {.caught = 0};
    struct cli_args args;
    bool is_fine = cli_args_parse(command, argc, argv, ranks, &args, error);
    args.signals = &signals;
    if (is_fine && cli_has(&args, "help"))
        cli_help(command, stdout);
    else
        is_fine = is_fine && command->run(&args, error);
    cli_release(&args);
    cli_args_free(&args);
    return is_fine ? 0 : signals.caught != 0 ? 128 + signals.caught : (int)error->class;
}

static int dispatch(int argc, char **argv, struct ranks *ranks, struct sim_error *error)
{
    if (argc < 2) {
        print_help(stderr);
        return SIM_ERROR_INPUT;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0 || strcmp(name, "-v") == 0) {
        printf("bucketlab %s\n", BUCKETLAB_VERSION);
        return 0;
    }
    if (strcmp(name, "help") == 0)
        return help_command(argc, argv, error);
    if (strcmp(name, "complete") == 0 && argc > 3 && strcmp(argv[2], "--") == 0) {
        cli_complete(argc - 3, argv + 3);
        return 0;
    }
    const struct cli_command *command = find_command(name);
    return command == NULL ? unknown_command(name, error)
                           : run_command(command, argc - 1, argv + 1, ranks, error);
}

/* GLib, which makes the program's own texts and lists, reports here that memory ran out. */
static void end_without_memory(const char *domain, GLogLevelFlags level, const char *text, void *context)
{
    struct sim_error error;
    if ((level & G_LOG_LEVEL_ERROR) == 0) {
        g_log_default_handler(domain, level, text, context);
        return;
    }
    sim_fail_memory(&error);
    cli_print_line(stderr, "", error.text);
    _exit(SIM_ERROR_ENVIRONMENT);
}

int main(int argc, char **argv)
{
    struct sim_error error = {.class = SIM_ERROR_NONE};
    guard_standard_streams();
    g_log_set_default_handler(end_without_memory, NULL);
    json_set_alloc_funcs(g_malloc, g_free);
    /* Exceeding the shell's limit of file sizes then fails the write, as on a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    struct ranks *ranks;
    int code = 0;
    if (!ranks_begin("bucketlab " BUCKETLAB_VERSION, &ranks, &error))
        code = (int)error.class;
    else if (ranks_own(ranks) > 0)
        lab_team_serve(ranks, cli_services);
    else
        code = dispatch(argc, argv, ranks, &error);
    errno = 0;
    bool was_lost = ferror(stdout) != 0;
    if (fclose(stdout) != 0)
        was_lost = true;
    /* If the output could not be written, only that is reported, and not a failed check: one error, one
     * line. */
    if (was_lost && code <= (int)SIM_ERROR_CHECK)
        code = SIM_ERROR_ENVIRONMENT;
    else
        was_lost = false;
    if (was_lost)
        fprintf(stderr, "standard output: %s; free space there, or send the output elsewhere\n",
                errno == 0 ? "could not be written" : strerror(errno));
    else if (error.class != SIM_ERROR_NONE && error.text[0] != '\0')
        cli_print_line(stderr, "", error.text);
    ranks_end(ranks, code);
    return code;
}
