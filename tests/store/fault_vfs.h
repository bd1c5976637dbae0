/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file system for SQLite whose reads, writes or syncs fail from a chosen one on. It forwards everything
 * else to the real one. */
#ifndef TESTS_STORE_FAULT_VFS_H
#define TESTS_STORE_FAULT_VFS_H

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

enum fault_kind { FAULT_NONE, FAULT_READ, FAULT_WRITE, FAULT_SYNC };

/* Instead of an error code: the process dies in the middle of the write. */
#define FAULT_KILL (-1)

static struct {
    enum fault_kind kind;
    bool is_lasting; /* all later calls fail as well */
    int code;        /* the error that SQLite gets */
    int number;      /* the errno that the system appears to have returned, or 0 */
    long left;       /* calls that still succeed */
    bool has_struck;
} fault;

struct fault_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static inline sqlite3_file *fault_real(sqlite3_file *file)
{
    return ((struct fault_file *)(void *)file)->real;
}

static inline bool fault_strikes(enum fault_kind kind)
{
    if (fault.kind != kind || (fault.has_struck && !fault.is_lasting))
        return false;
    if (!fault.has_struck && fault.left-- > 0)
        return false;
    return fault.has_struck = true;
}

static int fault_close(sqlite3_file *file)
{
    return fault_real(file)->pMethods->xClose(fault_real(file));
}

static int fault_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    if (fault_strikes(FAULT_READ))
        return fault.code;
    return fault_real(file)->pMethods->xRead(fault_real(file), bytes, size, offset);
}

/* Half of the bytes are written, since a disk does not fill up exactly at a page boundary. */
static int fault_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    sqlite3_file *real = fault_real(file);
    if (!fault_strikes(FAULT_WRITE))
        return real->pMethods->xWrite(real, bytes, size, offset);
    if (size > 1)
        real->pMethods->xWrite(real, bytes, size / 2, offset);
    if (fault.code == FAULT_KILL)
        kill(getpid(), SIGKILL);
    return fault.code;
}

/* A disk that has failed permanently, unlike a full one, rejects a rollback too. */
static int fault_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    if (fault.has_struck && fault.is_lasting && fault.code == SQLITE_IOERR_WRITE)
        return SQLITE_IOERR_TRUNCATE;
    return fault_real(file)->pMethods->xTruncate(fault_real(file), size);
}

/* The machine does not lose power during a test, so a sync need not wait for the disk. */
static int fault_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return fault_strikes(FAULT_SYNC) ? fault.code : SQLITE_OK;
}

static int fault_file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return fault_real(file)->pMethods->xFileSize(fault_real(file), size);
}

static int fault_lock(sqlite3_file *file, int level)
{
    return fault_real(file)->pMethods->xLock(fault_real(file), level);
}

static int fault_unlock(sqlite3_file *file, int level)
{
    return fault_real(file)->pMethods->xUnlock(fault_real(file), level);
}

static int fault_check_reserved_lock(sqlite3_file *file, int *out)
{
    return fault_real(file)->pMethods->xCheckReservedLock(fault_real(file), out);
}

static int fault_file_control(sqlite3_file *file, int operation, void *argument)
{
    return fault_real(file)->pMethods->xFileControl(fault_real(file), operation, argument);
}

static int fault_sector_size(sqlite3_file *file)
{
    return fault_real(file)->pMethods->xSectorSize(fault_real(file));
}

static int fault_characteristics(sqlite3_file *file)
{
    return fault_real(file)->pMethods->xDeviceCharacteristics(fault_real(file));
}

static int fault_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    return fault_real(file)->pMethods->xShmMap(fault_real(file), page, size, extend, out);
}

static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return fault_real(file)->pMethods->xShmLock(fault_real(file), offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *file)
{
    fault_real(file)->pMethods->xShmBarrier(fault_real(file));
}

static int fault_shm_unmap(sqlite3_file *file, int deletes)
{
    return fault_real(file)->pMethods->xShmUnmap(fault_real(file), deletes);
}

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 2,
        .xClose = fault_close,
        .xRead = fault_read,
        .xWrite = fault_write,
        .xTruncate = fault_truncate,
        .xSync = fault_sync,
        .xFileSize = fault_file_size,
        .xLock = fault_lock,
        .xUnlock = fault_unlock,
        .xCheckReservedLock = fault_check_reserved_lock,
        .xFileControl = fault_file_control,
        .xSectorSize = fault_sector_size,
        .xDeviceCharacteristics = fault_characteristics,
        .xShmMap = fault_shm_map,
        .xShmLock = fault_shm_lock,
        .xShmBarrier = fault_shm_barrier,
        .xShmUnmap = fault_shm_unmap,
    };
    sqlite3_vfs *real = vfs->pAppData;
    struct fault_file *made = (struct fault_file *)(void *)file;
    made->real = (sqlite3_file *)(void *)(made + 1);
    made->real->pMethods = NULL;
    int code = real->xOpen(real, name, made->real, flags, out_flags);
    made->base.pMethods = code == SQLITE_OK ? &methods : NULL;
    return code;
}

static int fault_last_error(sqlite3_vfs *vfs, int size, char *text)
{
    sqlite3_vfs *real = vfs->pAppData;
    return fault.has_struck ? fault.number : real->xGetLastError(real, size, text);
}

/* Makes this file system the default of the process. */
static inline void fault_vfs_register(void)
{
    static sqlite3_vfs vfs;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    vfs = *real;
    vfs.pNext = NULL;
    vfs.zName = "fault";
    vfs.szOsFile = (int)sizeof(struct fault_file) + real->szOsFile;
    vfs.pAppData = real;
    vfs.xOpen = fault_open;
    vfs.xGetLastError = fault_last_error;
    sqlite3_vfs_register(&vfs, 1);
}

static inline void fault_set(enum fault_kind kind, bool is_lasting, int code, long left)
{
    fault.kind = kind;
    fault.is_lasting = is_lasting;
    fault.code = code;
    fault.number = 0;
    fault.left = left;
    fault.has_struck = false;
}

#endif
