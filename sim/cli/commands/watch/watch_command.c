/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command of the user in its own process group, so that all of its processes can be ended. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/clock.h"
#include "watch.h"

/* Returns the process id, or -1 with errno. Signals that are blocked in this process are not blocked in the
 * command. */
static pid_t start(const char *command, const struct cli_signals *signals, const int pipe[2])
{
    char shell[] = "sh", option[] = "-c";
    char *words[] = {shell, option, strdup(command), NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    pid_t process = -1;
    if (words[2] == NULL)
        return -1;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&how, &signals->before);
    int code = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    code = code != 0 ? code : posix_spawn_file_actions_adddup2(&files, pipe[1], STDOUT_FILENO);
    code = code != 0 ? code : posix_spawn(&process, "/bin/sh", &files, &how, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    free(words[2]);
    errno = code;
    return code == 0 ? process : -1;
}

/* Copies the output until it ends. Returns false, with an error, when the command must be killed. */
static bool copy(int from, int64_t limit_ms, struct cli_signals *signals, FILE *out, struct sim_error *error)
{
    static const struct timespec at_once;
    struct pollfd output = {.fd = from, .events = POLLIN};
    int64_t begin_ms = cli_now_ms();
    char buffer[65536];
    for (;;) {
        int signal = sigtimedwait(&signals->held, NULL, &at_once);
        if (signal > 0 && signal != CLI_WAKE) {
            signals->caught = signal;
            return sim_fail(error, SIM_ERROR_CHECK, "interrupted; this look was not stored");
        }
        if (limit_ms > 0 && cli_passed_ms(begin_ms) >= limit_ms)
            return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                            "the command still ran when the next look was due, and was killed; make it "
                            "faster, or --every longer");
        if (poll(&output, 1, CLI_FRAME_MS) <= 0)
            continue;
        ssize_t size = read(from, buffer, sizeof buffer);
        if (size == 0)
            return true;
        if (size > 0 && fwrite(buffer, 1, (size_t)size, out) != (size_t)size)
            return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                            "the command's output cannot be stored (%s); free space in /tmp",
                            strerror(errno));
    }
}

bool watch_run_command(const char *command, int64_t limit_ms, struct cli_signals *signals, FILE *out,
                       struct sim_error *error)
{
    int pipe[2], status = 0;
    if (pipe2(pipe, O_CLOEXEC) != 0)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "cannot create a pipe (%s); end other programs first",
                        strerror(errno));
    pid_t process = start(command, signals, pipe);
    int code = errno;
    close(pipe[1]);
    bool is_fine = process != -1 ||
                   sim_fail(error, SIM_ERROR_ENVIRONMENT,
                            "/bin/sh could not be started (%s); end other programs first", strerror(code));
    is_fine = is_fine && copy(pipe[0], limit_ms, signals, out, error);
    close(pipe[0]);
    if (process == -1)
        return false;
    if (!is_fine)
        kill(-process, SIGKILL);
    while (waitpid(process, &status, 0) == -1 && errno == EINTR)
        ;
    if (!is_fine)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "'%s' ended with %s %d; run it by hand to see why",
                        command, WIFEXITED(status) ? "exit code" : "signal",
                        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return fflush(out) == 0 ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "the command's output cannot be stored (%s); free space in /tmp", strerror(errno));
}
