/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes --trace-events: every event of a cluster run as a line of JSON. */
#define _XOPEN_SOURCE 700
#include "cli/story.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/text.h"
#include "cli/text_file.h"
#include "reports/partial.h"

static bool check_options(const struct cli_args *args, const struct lab_scenario *scenario,
                          size_t scenario_count, struct sim_error *error)
{
    const char *path = cli_value(args, "trace-events", NULL);
    if (path == NULL && cli_has(args, "key"))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --key picks a key for --trace-events; write that too, or leave --key out");
    if (path == NULL)
        return true;
    if (path[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --trace-events: no file named; write --trace-events story.txt");
    if (strcmp(path, "-") == 0 && cli_has(args, "json"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --trace-events - and --json both want stdout; name a file for the story");
    if (scenario_count > 1)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --trace-events tells of one scenario, and %zu are named; run them one by "
                        "one",
                        scenario_count);
    if (scenario->engine != LAB_ENGINE_CLUSTER)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "%s: --trace-events needs agents: without them nothing happens between rows; add, for "
            "example, 'agents: {count: 8}'",
            scenario->path);
    return true;
}

/* Absolute and without links, also of a file that is not there yet; NULL with errno. */
static char *whole_path(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole != NULL || errno != ENOENT)
        return whole;
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    char *folder = cli_folder_of(path);
    if (folder == NULL)
        return NULL;
    char *whole_folder = realpath(folder, NULL);
    free(folder);
    if (whole_folder == NULL)
        return NULL;
    size_t size = strlen(whole_folder) + strlen(name) + 2;
    whole = malloc(size);
    if (whole != NULL)
        snprintf(whole, size, "%s/%s", strcmp(whole_folder, "/") == 0 ? "" : whole_folder, name);
    free(whole_folder);
    if (whole != NULL && *name == '\0') {
        free(whole);
        errno = EISDIR;
        return NULL;
    }
    return whole;
}

static bool fail_with(int code, const char *path, struct sim_error *error)
{
    bool is_input =
        code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == EISDIR || code == ELOOP;
    return sim_fail(error, is_input ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT, "%s: %s; %s", path,
                    strerror(code),
                    is_input ? "name a file in a folder that is there"
                             : "free space there, or name a file where you may write");
}

static bool find_target(struct cli_story *story, struct sim_error *error)
{
    story->target = whole_path(story->path);
    int code = story->target == NULL ? errno : 0;
    if (code != 0)
        return code == ENOMEM ? sim_fail_memory(error) : fail_with(code, story->path, error);
    char *slash = strrchr(story->target, '/');
    *slash = '\0';
    code = access(story->target[0] == '\0' ? "/" : story->target, W_OK | X_OK) == 0 ? 0 : errno;
    *slash = '/';
    return code == 0 || fail_with(code, story->path, error);
}

static bool open_special(struct cli_story *story, struct sim_error *error)
{
    story->stream = fopen(story->path, "w");
    return story->stream != NULL || fail_with(errno, story->path, error);
}

/* A key's name comes from a trace, perhaps: control characters would break lines, or steer a terminal. */
static void write_line(void *context, const char *text)
{
    struct cli_story *story = context;
    if (story->code != 0)
        return;
    errno = 0;
    cli_print_text(story->stream, text);
    putc('\n', story->stream);
    if (ferror(story->stream)) {
        story->code = errno != 0 ? errno : EIO;
        story->listener.is_over = true;
    }
}

bool cli_story_read(const struct cli_args *args, const struct lab_scenario *scenario, size_t scenario_count,
                    struct cli_story *out, struct sim_error *error)
{
    *out = (struct cli_story){.path = cli_value(args, "trace-events", NULL)};
    if (!check_options(args, scenario, scenario_count, error))
        return false;
    if (out->path == NULL)
        return true;
    out->listener.story =
        (struct lab_story){.context = out, .line = write_line, .key = cli_value(args, "key", NULL)};
    if (strcmp(out->path, "-") == 0) {
        out->stream = stdout;
        return true;
    }
    struct stat status;
    if (stat(out->path, &status) == 0 && !S_ISREG(status.st_mode))
        return S_ISDIR(status.st_mode) ? fail_with(EISDIR, out->path, error) : open_special(out, error);
    return find_target(out, error);
}

bool cli_story_begin(struct cli_story *story, struct sim_error *error)
{
    if (story->path == NULL || story->stream != NULL)
        return true;
    char *part;
    int file = report_partial_create(story->target, &part);
    if (file == -1)
        return fail_with(errno, story->path, error);
    story->part = part;
    story->stream = fdopen(file, "w");
    if (story->stream != NULL)
        return true;
    close(file);
    return sim_fail_memory(error);
}

struct cli_listener *cli_story_listener(struct cli_story *story)
{
    return story->path == NULL ? NULL : &story->listener;
}

bool cli_story_end(struct cli_story *story, struct sim_error *error)
{
    if (story->path == NULL)
        return true;
    bool is_stdout = story->stream == stdout;
    if (story->code == 0 && fflush(story->stream) != 0)
        story->code = errno;
    /* Some file systems, and no pipe, can flush further; that is no failure of ours. */
    if (story->code == 0 && story->part != NULL && fsync(fileno(story->stream)) != 0 && errno != EINVAL)
        story->code = errno;
    if (!is_stdout && fclose(story->stream) != 0 && story->code == 0)
        story->code = errno;
    story->stream = NULL;
    return story->code == 0 || fail_with(story->code, is_stdout ? "standard output" : story->path, error);
}

bool cli_story_name(struct cli_story *story, struct sim_error *error)
{
    if (story->part == NULL)
        return true;
    if (rename(story->part, story->target) != 0)
        return fail_with(errno, story->path, error);
    free(story->part);
    story->part = NULL;
    return true;
}

void cli_story_free(struct cli_story *story)
{
    if (story->stream != NULL && story->stream != stdout)
        fclose(story->stream);
    if (story->part != NULL)
        unlink(story->part);
    free(story->part);
    free(story->target);
}
