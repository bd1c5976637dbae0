/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library to preload (LD_PRELOAD) that injects faults into a program's allocations, files and clocks.
 * Environment variables configure it; N counts from 1, and without its variable a kind of fault is off:
 *
 *   FAULTY_CALLERS  the objects whose calls count, by the beginnings of their file names; "program" is the
 *                   program itself (default "program libsqlite3"). This exempts libraries that are
 *                   designed to end the process when out of memory.
 *   FAULTY_MEMORY   N: the Nth allocation returns NULL
 *   FAULTY_FILE     N: the Nth call that changes a regular file or a folder fails: opening for writing,
 *                   writing, flushing, truncating, renaming, linking, making a folder; for stdio when its
 *                   buffer is written
 *   FAULTY_ERROR    how FAULTY_FILE fails: ENOSPC (default), EIO, or SHORT, which writes half of the
 *                   bytes and makes the next call fail with ENOSPC
 *   FAULTY_LASTING  1: not only the Nth call fails, but all later ones too
 *   FAULTY_CLOCK    N: at every Nth reading all clocks jump, alternately away from the right time and back
 *   FAULTY_SECONDS  the distance of the jump
 *   FAULTY_REPORT   a file that gets, when the process ends, the number of calls of each kind, the number of
 *                   failed calls, the address of the first failed call, and the number of allocations by the
 *                   program and two libraries, whether their calls count or not
 *   FAULTY_SITES    a file that gets the call site of each allocation, in order, as words of 8 bytes: the
 *                   number of words that follow, the site itself, and the program's calls that led to it
 *   FAULTY_FILE_SITES  the same for calls that change a file or a folder
 *
 * Needs glibc, whose allocator also exports the functions replaced here under other names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define RANGES_MAX  64
#define STREAMS_MAX 32
#define CALLS_MAX   62
#define CALLER      ((uintptr_t)__builtin_return_address(0))

typedef int main_function(int argc, char **argv, char **environment);

/* The calls of a kind that fail: number `first`, and with FAULTY_LASTING all later ones. */
struct fault {
    long first; /* 0: none */
    atomic_long count;
    int sites; /* a file descriptor; -1: sites are not recorded */
};

/* The objects whose allocations are counted separately. */
static const char *const tellers[] = {"program", "libsqlite3", "libjansson"};
enum { TELLERS = sizeof tellers / sizeof tellers[0] };

/* The code of an object whose calls count, or whose allocations are counted separately. */
struct range {
    uintptr_t begin, end, base;
    bool is_program, counts;
    size_t teller; /* TELLERS: none */
};

/* A stream that is written through the functions here, and its file descriptor. */
struct stream {
    FILE *stream;
    int file;
};

static struct fault memory = {.sites = -1}, files = {.sites = -1}, clocks = {.sites = -1};
static bool is_lasting, is_short, is_ready;
static main_function *real_main;
static int error_number = ENOSPC;
static long clock_seconds;
static atomic_long failed, first_failed_at, allocations[TELLERS];
static atomic_bool first_failed_in_program;
static struct range ranges[RANGES_MAX], program;
static size_t range_count;
static struct stream streams[STREAMS_MAX];
static _Atomic size_t stream_count;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
int __libc_start_main(main_function *main, int argc, char **argv, void (*prepare)(void), void (*finish)(void),
                      void (*unload)(void), void *stack);

static int add_ranges(struct dl_phdr_info *info, size_t size, void *names)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/'), *at = names;
    const char *name = info->dlpi_name[0] == '\0' ? "program" : slash != NULL ? slash + 1 : info->dlpi_name;
    bool counts = false;
    size_t teller = 0;
    while (teller < TELLERS && strncmp(name, tellers[teller], strlen(tellers[teller])) != 0)
        teller++;
    for (size_t length; *at != '\0'; at += length + (at[length] == ' ')) {
        length = strcspn(at, " ");
        counts = counts || (length > 0 && strncmp(name, at, length) == 0);
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begins = info->dlpi_addr + part->p_vaddr;
        struct range range = {
            begins, begins + part->p_memsz, info->dlpi_addr, info->dlpi_name[0] == '\0', counts, teller};
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
            continue;
        if (range.is_program)
            program = range;
        if ((counts || teller < TELLERS) && range_count < RANGES_MAX)
            ranges[range_count++] = range;
    }
    return 0;
}

static void open_sites(struct fault *fault, const char *path)
{
    void *calls[1];
    if (path == NULL)
        return;
    backtrace(calls, 1); /* the first call of backtrace() allocates */
    fault->sites = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/* NULL: calls from that code neither count nor are recorded. */
static const struct range *find_range(uintptr_t address)
{
    for (size_t i = 0; is_ready && i < range_count; i++) {
        if (address >= ranges[i].begin && address < ranges[i].end)
            return &ranges[i];
    }
    return NULL;
}

static void tell_site(int sites, uint64_t site)
{
    void *calls[CALLS_MAX];
    uint64_t words[CALLS_MAX + 2] = {1, site};
    int count = backtrace(calls, CALLS_MAX);
    for (int i = 0; i < count; i++) {
        uintptr_t call = (uintptr_t)calls[i];
        if (call >= program.begin && call < program.end)
            words[++words[0]] = call - program.base;
    }
    syscall(SYS_write, sites, words, (words[0] + 1) * sizeof words[0]);
}

static bool does_fail(struct fault *fault, uintptr_t caller, long *number)
{
    const struct range *range = find_range(caller);
    if (range != NULL && fault == &memory && range->teller < TELLERS)
        allocations[range->teller]++;
    if (range == NULL || !range->counts)
        return false;
    *number = atomic_fetch_add(&fault->count, 1) + 1;
    bool is_first = *number == fault->first;
    uint64_t site = caller - range->base;
    if (fault->sites != -1)
        tell_site(fault->sites, site);
    bool fails = is_first || (fault->first > 0 && *number > fault->first && is_lasting) ||
                 (fault == &files && is_short && fault->first > 0 && *number == fault->first + 1);
    if (is_first) {
        first_failed_at = (long)(caller - range->base);
        first_failed_in_program = range->is_program;
    }
    if (fails)
        failed++;
    return fails;
}

/* 0: the call may proceed. */
static int file_error(int file, uintptr_t caller, long *number)
{
    struct stat status;
    long own;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return does_fail(&files, caller, number != NULL ? number : &own) ? error_number : 0;
}

static ssize_t write_somewhere(int file, const void *bytes, size_t size, bool is_at, off_t offset,
                               uintptr_t caller)
{
    long number = 0;
    int code = file_error(file, caller, &number);
    bool is_cut = code != 0 && is_short && number == files.first && size > 1;
    if (code != 0 && !is_cut) {
        errno = code;
        return -1;
    }
    size = is_cut ? size / 2 : size;
    return is_at ? syscall(SYS_pwrite64, file, bytes, size, offset) : syscall(SYS_write, file, bytes, size);
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        /* A stream's writes count as the program's calls. */
        ssize_t written = write_somewhere((int)(intptr_t)cookie, bytes + done, size - done, false, 0,
                                          range_count > 0 ? ranges[0].begin : 0);
        if (written < 0)
            break;
        done += (size_t)written;
    }
    return (ssize_t)done;
}

static int stream_close(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

/* glibc's own streams write by internal calls, which cannot be intercepted. */
static FILE *make_stream(int file)
{
    const cookie_io_functions_t functions = {.write = stream_write, .close = stream_close};
    FILE *stream = fopencookie((void *)(intptr_t)file, "w", functions);
    size_t index = stream == NULL ? STREAMS_MAX : atomic_fetch_add(&stream_count, 1);
    if (index < STREAMS_MAX)
        streams[index] = (struct stream){stream, file};
    return stream;
}

__attribute__((constructor)) static void begin(void)
{
    char usual[] = "program libsqlite3", *names = getenv("FAULTY_CALLERS");
    const char *how = getenv("FAULTY_ERROR"), *text;
    dl_iterate_phdr(add_ranges, names != NULL ? names : usual);
    memory.first = (text = getenv("FAULTY_MEMORY")) != NULL ? atol(text) : 0;
    files.first = (text = getenv("FAULTY_FILE")) != NULL ? atol(text) : 0;
    clocks.first = (text = getenv("FAULTY_CLOCK")) != NULL ? atol(text) : 0;
    clock_seconds = (text = getenv("FAULTY_SECONDS")) != NULL ? atol(text) : 0;
    open_sites(&memory, getenv("FAULTY_SITES"));
    open_sites(&files, getenv("FAULTY_FILE_SITES"));
    is_lasting = getenv("FAULTY_LASTING") != NULL;
    is_short = how != NULL && strcmp(how, "SHORT") == 0;
    error_number = how != NULL && strcmp(how, "EIO") == 0 ? EIO : ENOSPC;
    struct stat status;
    if (fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode))
        stdout = make_stream(STDOUT_FILENO);
    is_ready = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULTY_REPORT");
    char text[512];
    int size = snprintf(text, sizeof text, "memory %ld\nfiles %ld\nclocks %ld\nfailed %ld\nat %s+%#lx\n",
                        memory.count, files.count, clocks.count, failed,
                        first_failed_in_program ? "program" : "library", (unsigned long)first_failed_at);
    for (size_t i = 0; i < TELLERS; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, "%s %ld\n", tellers[i], allocations[i]);
    int file =
        path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file != -1) {
        syscall(SYS_write, file, text, size);
        syscall(SYS_close, file);
    }
}

/* The program ends by this call when GLib finds no memory; destructors do not run. */
void _exit(int status)
{
    end();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

/* After main(), code of the compiler may run: with branch coverage it writes the counters to files, and these
 * writes must not fail. */
static int run_main(int argc, char **argv, char **environment)
{
    int code = real_main(argc, argv, environment);
    is_ready = false;
    return code;
}

/* ISO C has no conversion from dlsym()'s result to a function pointer. */
static void find_real(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*prepare)(void), void (*finish)(void),
                      void (*unload)(void), void *stack)
{
    int (*real)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    find_real("__libc_start_main", &real);
    real_main = main;
    return real(run_main, argc, argv, prepare, finish, unload, stack);
}

static bool refuses_memory(uintptr_t caller)
{
    long number;
    bool is_refused = does_fail(&memory, caller, &number);
    if (is_refused)
        errno = ENOMEM;
    return is_refused;
}

void *malloc(size_t size)
{
    return refuses_memory(CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refuses_memory(CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return refuses_memory(CALLER) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refuses_memory(CALLER) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *made = refuses_memory(CALLER) ? NULL : __libc_memalign(alignment, size);
    if (made == NULL)
        return ENOMEM;
    *out = made;
    return 0;
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = refuses_memory(CALLER) ? NULL : __libc_malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

char *strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = refuses_memory(CALLER) ? NULL : __libc_malloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static int path_error(int folder, const char *path, int flags, uintptr_t caller)
{
    struct stat status;
    long number;
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
    if (!writes || (fstatat(folder, path, &status, 0) == 0 && !S_ISREG(status.st_mode)))
        return 0;
    return does_fail(&files, caller, &number) ? error_number : 0;
}

/* The mode of a new file is the argument after `flags`, which is read only when a file may be created. */
#define OPEN(folder)                                                                                         \
    do {                                                                                                     \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, int) : 0;                             \
        va_end(more);                                                                                        \
        int code = path_error(folder, path, flags, CALLER);                                                  \
        if (code != 0) {                                                                                     \
            errno = code;                                                                                    \
            return -1;                                                                                       \
        }                                                                                                    \
        return (int)syscall(SYS_openat, folder, path, flags, mode);                                          \
    } while (0)

int open(const char *path, int flags, ...)
{
    OPEN(AT_FDCWD);
}

int open64(const char *path, int flags, ...)
{
    OPEN(AT_FDCWD);
}

int openat(int folder, const char *path, int flags, ...)
{
    OPEN(folder);
}

int openat64(int folder, const char *path, int flags, ...)
{
    OPEN(folder);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    return write_somewhere(file, bytes, size, false, 0, CALLER);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    return write_somewhere(file, bytes, size, true, offset, CALLER);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t offset)
{
    return write_somewhere(file, bytes, size, true, offset, CALLER);
}

/* A call that changes a file or a folder as a whole: it either fails here or is passed to the kernel. */
#define WHOLE(code_expression, ...)                                                                          \
    do {                                                                                                     \
        int code = (code_expression);                                                                        \
        if (code != 0) {                                                                                     \
            errno = code;                                                                                    \
            return -1;                                                                                       \
        }                                                                                                    \
        return (int)syscall(__VA_ARGS__);                                                                    \
    } while (0)

int fsync(int file)
{
    WHOLE(file_error(file, CALLER, NULL), SYS_fsync, file);
}

int fdatasync(int file)
{
    WHOLE(file_error(file, CALLER, NULL), SYS_fdatasync, file);
}

int ftruncate(int file, off_t size)
{
    WHOLE(file_error(file, CALLER, NULL), SYS_ftruncate, file, size);
}

int ftruncate64(int file, off_t size)
{
    WHOLE(file_error(file, CALLER, NULL), SYS_ftruncate, file, size);
}

int rename(const char *from, const char *to)
{
    WHOLE(path_error(AT_FDCWD, from, O_WRONLY, CALLER), SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    WHOLE(path_error(from_folder, from, O_WRONLY, CALLER), SYS_renameat2, from_folder, from, to_folder, to,
          0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    WHOLE(path_error(from_folder, from, O_WRONLY, CALLER), SYS_linkat, from_folder, from, to_folder, to,
          flags);
}

int mkdir(const char *path, mode_t mode)
{
    WHOLE(path_error(AT_FDCWD, path, O_WRONLY, CALLER), SYS_mkdirat, AT_FDCWD, path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    find_real("fopen", &real);
    if (mode[0] != 'w' || find_range(CALLER) == NULL)
        return real(path, mode);
    int code = path_error(AT_FDCWD, path, O_WRONLY | O_CREAT, CALLER);
    int file = code != 0 ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (code != 0)
        errno = code;
    return file == -1 ? NULL : make_stream(file);
}

FILE *fdopen(int file, const char *mode)
{
    FILE *(*real)(int, const char *);
    find_real("fdopen", &real);
    return mode[0] != 'w' || find_range(CALLER) == NULL ? real(file, mode) : make_stream(file);
}

int fileno(FILE *stream)
{
    int (*real)(FILE *);
    find_real("fileno", &real);
    for (size_t i = 0; i < stream_count; i++) {
        if (streams[i].stream == stream)
            return streams[i].file;
    }
    return real(stream);
}

static long clock_offset_s(void)
{
    long reading = atomic_fetch_add(&clocks.count, 1) + 1;
    if (clocks.first <= 0 || reading < clocks.first)
        return 0;
    failed++;
    return reading / clocks.first % 2 == 1 ? clock_seconds : -clock_seconds;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int code = (int)syscall(SYS_clock_gettime, clock, out);
    if (code == 0 && find_range(CALLER) != NULL)
        out->tv_sec += clock_offset_s();
    return code;
}

time_t time(time_t *out)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    if (find_range(CALLER) != NULL)
        now.tv_sec += clock_offset_s();
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    if (find_range(CALLER) != NULL)
        now.tv_sec += clock_offset_s();
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
