/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A two-way archive: state as bytes, and back. One function for each struct serves both directions, so that
 * saving and loading cannot drift apart:
 *
 *     void thing_archive(struct thing *thing, struct sim_archive *archive)
 *     {
 *         sim_archive_mark(archive, 0x7468696e);
 *         sim_archive_u64(archive, &thing->rows);
 *         thing->items = sim_archive_array(archive, thing->items, sizeof *thing->items, &thing->count, MAX);
 *     }
 *
 * Saving reads the fields, loading writes them. The first error is remembered in the archive and reported by
 * sim_archive_finish_save() or sim_archive_finish_load(). After an error, saving writes nothing more, and
 * loading yields zeros and empty arrays. Loading trusts no input: it verifies a checksum over all bytes
 * before it reads the first field, and refuses a count that exceeds what the remaining bytes can hold. Bytes
 * that were forged can have a valid checksum, so a field that is used as an array index or as the value of a
 * switch must be loaded by a call that takes a limit.
 *
 * Numbers are saved in the machine's own representation; loading refuses an archive of a machine with
 * another byte order or other word sizes. */
#ifndef KERNEL_ARCHIVE_H
#define KERNEL_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

/* A static assertion on the size of a struct, placed next to the function that archives the struct: it fails
 * when a field is added to the struct but not to the function. Sizes are those of x86-64, so it is checked
 * only there. */
#ifdef __x86_64__
#define SIM_ARCHIVE_KNOWS(condition, text) _Static_assert(condition, text)
#else
#define SIM_ARCHIVE_KNOWS(condition, text) _Static_assert(1, text)
#endif

enum sim_archive_trouble { SIM_ARCHIVE_FINE, SIM_ARCHIVE_NO_MEMORY, SIM_ARCHIVE_DAMAGED };

struct sim_archive {
    bool is_loading;
    enum sim_archive_trouble trouble; /* the first error; later ones do not replace it */
    unsigned char *data;              /* saving: owned by the archive; loading: the caller's, only read */
    size_t size; /* saving: bytes written so far; loading: the offset of the end of the last field */
    size_t capacity;
    size_t position; /* loading: the offset of the next field */
};

/* Begins to save. Loading must pass the same `kind`: a hash of what the state belongs to, and of the layout
 * that the caller uses. */
void sim_archive_begin_save(struct sim_archive *archive, uint64_t kind);
/* Ends saving. Sets *data to the bytes, which the caller must free(), and *size to their number. Returns
 * false when out of memory; *data is then NULL and *size 0. */
bool sim_archive_finish_save(struct sim_archive *archive, unsigned char **data, size_t *size,
                             struct sim_error *error);
/* Begins to load from `data`, which is never written to and must not change until sim_archive_finish_load().
 * Returns false with SIM_ERROR_ENVIRONMENT when the bytes are truncated or altered, and with SIM_ERROR_INPUT
 * when they come from an incompatible machine, from another version, or have another `kind`;
 * sim_archive_finish_load() need not be called then. */
bool sim_archive_begin_load(struct sim_archive *archive, const unsigned char *data, size_t size,
                            uint64_t kind, struct sim_error *error);
/* Ends loading. Returns false with SIM_ERROR_INPUT when a field was invalid or bytes are left over, and with
 * SIM_ERROR_ENVIRONMENT when out of memory. In every case the caller must free what was loaded. */
bool sim_archive_finish_load(struct sim_archive *archive, struct sim_error *error);
/* Whether no error has occurred so far. A loop over loaded items must stop after an error. */
static inline bool sim_archive_is_fine(const struct sim_archive *archive)
{
    return archive->trouble == SIM_ARCHIVE_FINE;
}
/* Checks a condition on the state. When it does not hold, loading fails; when saving, it is a programming
 * error, which asserts. */
void sim_archive_check(struct sim_archive *archive, bool holds);
/* Records that the caller ran out of memory. */
void sim_archive_fail_memory(struct sim_archive *archive);
/* Saves a constant between two parts, which loading checks, so that a field that only one direction handles
 * is found immediately. */
void sim_archive_mark(struct sim_archive *archive, uint32_t mark);

/* Archives `size` bytes of plain data in place. They must not contain pointers. Loading does not check the
 * values, so a bool or an enum is better archived as a separate field. data may be NULL when size is 0. */
void sim_archive_bytes(struct sim_archive *archive, void *data, size_t size);
void sim_archive_bool(struct sim_archive *archive, bool *value);
/* sim_archive_u32(archive, &value) and its like; a double bit for bit, including NaNs. For loading of a field
 * with a limit, sim_archive_u32_below(archive, &value, limit) fails unless the value is below `limit`. */
#define SIM_ARCHIVE_NUMBER(name, type)                                                                       \
    static inline void sim_archive_##name(struct sim_archive *archive, type *value)                          \
    {                                                                                                        \
        sim_archive_bytes(archive, value, sizeof *value);                                                    \
    }
#define SIM_ARCHIVE_BELOW(name, type)                                                                        \
    static inline void sim_archive_##name##_below(struct sim_archive *archive, type *value, uint64_t limit)  \
    {                                                                                                        \
        sim_archive_##name(archive, value);                                                                  \
        sim_archive_check(archive, *value < limit);                                                          \
        *value = *value < limit ? *value : 0;                                                                \
    }
SIM_ARCHIVE_NUMBER(u8, uint8_t)
SIM_ARCHIVE_NUMBER(u32, uint32_t)
SIM_ARCHIVE_NUMBER(u64, uint64_t)
SIM_ARCHIVE_NUMBER(i64, int64_t)
SIM_ARCHIVE_NUMBER(size, size_t)
SIM_ARCHIVE_NUMBER(double, double)
SIM_ARCHIVE_BELOW(u32, uint32_t)
SIM_ARCHIVE_BELOW(size, size_t)
/* Seven bits in each byte, and as many bytes as the value needs (LEB128). */
void sim_archive_packed(struct sim_archive *archive, uint64_t *value);

/* Archives an array of plain data on the heap. Saving returns `items`. Loading frees `items` (NULL or
 * malloc'ed), sets *count and returns a new malloc'ed array, or NULL when it is empty; it fails when there
 * are more than `most` items, or items of another size. */
void *sim_archive_array(struct sim_archive *archive, void *items, size_t item_size, size_t *count,
                        size_t most);
/* Archives a text on the heap, which may be NULL. Loading frees the old text and allocates the new one. */
void sim_archive_text(struct sim_archive *archive, char **text);
/* Allocates zeroed memory for `count` items whose fields the caller will load. bytes_each: the fewest bytes
 * of the archive that one item takes, above 0. Returns NULL when count is 0 and after an error; it is an
 * error when the remaining bytes are too few for `count` items. Only for loading. */
void *sim_archive_allocate(struct sim_archive *archive, size_t count, size_t item_size, size_t bytes_each);

#endif
