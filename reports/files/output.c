/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files that appear under their name only when they are complete. In: paths and bytes. Kept: a partial
 * file next to each target, locked while this process lives. Out: the files, or none of them. */
#define _DEFAULT_SOURCE /* flock() */
#define _POSIX_C_SOURCE 200809L
#include "reports/output.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The number of temporary names to try: a name may exist already, left by a killed process or created by an
 * attacker who guesses names. */
#define PARTIAL_TRIES 1000u
#define LINKS_MAX     40 /* as Linux */
#define WAIT_MS       100
#define WRITE_MAX     65536
/* A name has at most 255 bytes, and that of a partial file at most 40 more than this. */
#define NAME_MAX_KEPT 200
#define ENDING        ".partial"

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Follows the links of the last component, one by one; a link's target need not exist. */
static int follow(const char *path, char **out)
{
    *out = g_strdup(path);
    for (int links = 0;; links++) {
        g_autofree char *target = g_file_read_link(*out, NULL), *before = *out,
                        *folder = g_path_get_dirname(before);
        if (target == NULL || links == LINKS_MAX) {
            *out = g_steal_pointer(&before);
            return target == NULL ? 0 : ELOOP;
        }
        *out = g_path_is_absolute(target) ? g_strdup(target) : g_build_filename(folder, target, NULL);
    }
}

/* Removes the partial files of processes that no longer live. */
static void sweep(const char *folder)
{
    GDir *listing = g_dir_open(folder, 0, NULL);
    for (const char *name; listing != NULL && (name = g_dir_read_name(listing)) != NULL;) {
        struct stat status;
        if (!g_regex_match_simple("^\\..*\\.[0-9]+\\.[0-9]+\\" ENDING "$", name, 0, 0))
            continue;
        g_autofree char *path = g_build_filename(folder, name, NULL);
        int file = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file == -1)
            continue;
        if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
            flock(file, LOCK_EX | LOCK_NB) == 0)
            unlink(path);
        close(file);
    }
    if (listing != NULL)
        g_dir_close(listing);
}

/* Locks a new partial file. Returns false when another process has just taken it for that of a killed one. */
static bool claim(int file)
{
    struct stat status;
    bool is_locked = flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    return is_locked && fstat(file, &status) == 0 && status.st_nlink > 0;
}

static int create(struct report_partial *out, const char *folder)
{
    const char *name = name_of(out->target);
    size_t kept = strlen(name);
    while (kept > NAME_MAX_KEPT || (kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80))
        kept--;
    for (unsigned i = 0; i < PARTIAL_TRIES; i++) {
        g_free(out->part);
        out->part = g_strdup_printf("%s/.%.*s.%ld.%u" ENDING, folder, (int)kept, name, (long)getpid(), i);
        out->file = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (out->file != -1 && claim(out->file))
            return 0;
        if (out->file == -1 && errno != EEXIST)
            return errno;
        if (out->file != -1)
            close(out->file);
        out->file = -1;
    }
    return EEXIST;
}

static bool is_stopped(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

/* A FIFO is opened when it has a reader. Signals may be blocked here, so nothing waits without end. */
static int open_special(struct report_partial *out, const char *path, bool is_fifo)
{
    const struct timespec wait = {.tv_nsec = WAIT_MS * 1000000L};
    for (;;) {
        out->file = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (out->file != -1)
            return 0;
        if (errno != ENXIO || !is_fifo)
            return errno;
        if (is_stopped())
            return EINTR;
        nanosleep(&wait, NULL);
    }
}

int report_partial_open(struct report_partial *out, const char *path, bool is_new)
{
    struct stat status;
    bool is_there = (is_new ? lstat(path, &status) : stat(path, &status)) == 0;
    *out = (struct report_partial){.file = -1, .is_new = is_new};
    if (is_there && is_new)
        return EEXIST;
    if (is_there && !S_ISREG(status.st_mode))
        return S_ISDIR(status.st_mode) ? EISDIR : open_special(out, path, S_ISFIFO(status.st_mode));
    int reason = follow(path, &out->target);
    if (reason == 0 && *name_of(out->target) == '\0')
        reason = EISDIR;
    if (reason == 0) {
        g_autofree char *folder = g_path_get_dirname(out->target);
        sweep(folder);
        reason = create(out, folder);
    }
    if (reason != 0)
        report_partial_end(out, false);
    return reason;
}

int report_partial_write(struct report_partial *out, const void *bytes, size_t size)
{
    for (const char *next = bytes; size > 0;) {
        ssize_t written = write(out->file, next, size < WRITE_MAX ? size : WRITE_MAX);
        if (written >= 0) {
            next += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd ready = {.fd = out->file, .events = POLLOUT};
            poll(&ready, 1, WAIT_MS);
            if (is_stopped())
                return EINTR;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

FILE *report_partial_stream(struct report_partial *out)
{
    int copy = fcntl(out->file, F_DUPFD_CLOEXEC, 0), flags = fcntl(out->file, F_GETFL);
    FILE *stream = copy == -1 || flags == -1 || fcntl(copy, F_SETFL, flags & ~O_NONBLOCK) == -1
                       ? NULL
                       : fdopen(copy, "wb");
    if (stream == NULL && copy != -1)
        close(copy);
    return stream;
}

int report_partial_sync(struct report_partial *out)
{
    /* Some file systems do not support fsync() and report EINVAL, which is not treated as an error. */
    return out->target == NULL || fsync(out->file) == 0 || errno == EINVAL ? 0 : errno;
}

/* A hard link fails if the name exists, whereas a rename would replace the file. */
static int give_name(const struct report_partial *out)
{
    if (out->is_new && linkat(AT_FDCWD, out->part, AT_FDCWD, out->target, 0) == 0)
        return unlink(out->part) == 0 ? 0 : errno;
    /* The file system may have no hard links. */
    if (out->is_new && (errno == EEXIST || access(out->target, F_OK) == 0))
        return EEXIST;
    return rename(out->part, out->target) == 0 ? 0 : errno == ENOENT ? ESTALE : errno;
}

int report_partial_end(struct report_partial *out, bool is_complete)
{
    int reason = 0;
    if (out->target == NULL && out->file == 0)
        return 0; /* zeroed */
    if (out->target != NULL && is_complete)
        reason = give_name(out);
    if (out->part != NULL && out->file != -1 && (!is_complete || reason != 0))
        unlink(out->part);
    if (out->file != -1 && close(out->file) != 0 && reason == 0)
        reason = errno;
    g_free(out->target);
    g_free(out->part);
    *out = (struct report_partial){.file = -1};
    return reason;
}

/* A file name has at most 255 bytes, some of which the chart's name, the extension and the temporary name
 * need. */
enum { STEM_SIZE_MAX = 160 };

bool report_file_fail(int code, const char *path, struct sim_error *error)
{
    const bool is_name =
        code == EISDIR || code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP;
    if (code == EEXIST)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: already exists, and was not changed; choose another name, or remove it first",
                        path);
    return sim_fail(error, is_name ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT, "%s: %s; %s", path,
                    strerror(code),
                    code == EISDIR ? "name a file in it"
                    : is_name      ? "make the folder first, or name another file"
                                   : "free space there, check its permissions, or name another file");
}

/* The first folder of the path that does not exist; NULL when all do. */
static char *first_missing(const char *folder)
{
    char *missing = NULL;
    for (char *at = g_strdup(folder);; at = g_path_get_dirname(missing)) {
        if (g_file_test(at, G_FILE_TEST_EXISTS)) {
            g_free(at);
            return missing;
        }
        g_free(missing);
        missing = at;
    }
}

/* Removes the folders of the path down to the first that was missing, unless they are not empty. */
static void remove_folders(const char *folder, const char *first)
{
    for (char *at = g_strdup(folder), *next;; at = next) {
        const bool is_last = strcmp(at, first) == 0;
        rmdir(at);
        next = is_last ? NULL : g_path_get_dirname(at);
        g_free(at);
        if (is_last)
            return;
    }
}

static int write_whole(const char *path, bool is_new, struct report_partial *output,
                       const struct report_bytes *content)
{
    int reason = report_partial_open(output, path, is_new);
    reason = reason != 0 ? reason : report_partial_write(output, content->data, content->size);
    return reason != 0 ? reason : report_partial_sync(output);
}

bool report_output(const char *const *paths, const struct report_bytes *contents, size_t count, bool is_new,
                   struct sim_error *error)
{
    g_autofree char *folder = g_path_get_dirname(paths[0]), *missing = first_missing(folder);
    g_autofree struct report_partial *outputs = g_new0(struct report_partial, count);
    bool ok = g_mkdir_with_parents(folder, 0777) == 0 || report_file_fail(errno, paths[0], error);
    for (size_t i = 0; ok && i < count; i++) {
        const int reason = write_whole(paths[i], is_new, &outputs[i], &contents[i]);
        ok = reason == 0 || report_file_fail(reason, paths[i], error);
    }
    for (size_t i = 0; i < count; i++) {
        const int reason = report_partial_end(&outputs[i], ok);
        ok = ok && (reason == 0 || report_file_fail(reason, paths[i], error));
    }
    if (!ok && missing != NULL)
        remove_folders(folder, missing);
    return ok;
}

/* Each character that is not an ASCII letter, an ASCII digit, '-' or '_' becomes one '-'. */
char *report_output_path(const char *folder, const char *scenario, bool is_tuned, const char *chart,
                         const char *extension)
{
    char stem[STEM_SIZE_MAX + 1];
    size_t used = 0;
    for (const char *at = scenario != NULL ? scenario : ""; *at != 0 && used < STEM_SIZE_MAX; at++) {
        if (g_ascii_isalnum(*at) || *at == '-' || *at == '_')
            stem[used++] = *at;
        else if (((unsigned char)*at & 0xC0) != 0x80) /* the first byte of a character */
            stem[used++] = '-';
    }
    stem[used] = 0;
    return g_strdup_printf("%s%s%s%s%s%s.%s", folder,
                           folder[0] == 0 || g_str_has_suffix(folder, "/") ? "" : "/",
                           used > 0 ? stem : "scenario", is_tuned ? "-tune" : "", chart != NULL ? "-" : "",
                           chart != NULL ? chart : "", extension);
}

void report_bytes_free(struct report_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct report_bytes){0};
}
