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
 * Saving reads the fields, loading writes them. Trouble is remembered, and told once, by the call that ends
 * it: until then saving does nothing more, and what is loaded is zeros and empty arrays. Loading trusts
 * nothing: a checksum over all is held before the first field is read, and no count is believed beyond what
 * the bytes hold; but what was made on purpose passes a checksum, so a field that will index an array, or
 * choose a case, is loaded by one of the calls that take a limit.
 *
 * Bytes are those of the machine; an archive of another byte order, of other word sizes or of another layout
 * is refused. */
#ifndef KERNEL_ARCHIVE_H
#define KERNEL_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

/* Next to each function that archives a struct: a condition on the struct's size, which a new field breaks,
 * so that it is not forgotten there. Sizes are those of x86-64, and held there alone. */
#ifdef __x86_64__
#define SIM_ARCHIVE_KNOWS(condition, text) _Static_assert(condition, text)
#else
#define SIM_ARCHIVE_KNOWS(condition, text) _Static_assert(1, text)
#endif

enum sim_archive_trouble { SIM_ARCHIVE_FINE, SIM_ARCHIVE_NO_MEMORY, SIM_ARCHIVE_DAMAGED };

struct sim_archive {
    bool is_loading;
    enum sim_archive_trouble trouble; /* sticky: the first */
    unsigned char *data;              /* saving: the archive's own; loading: the caller's */
    size_t size;                      /* bytes written so far; loading: the end of the last field */
    size_t capacity;
    size_t position; /* loading: of the next field */
};

/* Begins to save. `kind` is a number that loading must name too: a hash of what the state belongs to, and of
 * the layout that the caller has given it. */
void sim_archive_begin_save(struct sim_archive *archive, uint64_t kind);
/* Ends it: the bytes are malloc'ed and the caller's. When out of memory false, *data is NULL and *size 0. */
bool sim_archive_finish_save(struct sim_archive *archive, unsigned char **data, size_t *size,
                             struct sim_error *error);
/* Begins to load from bytes that stay as they are until the end, and are never written to. False with
 * SIM_ERROR_ENVIRONMENT where they were cut short or altered, with SIM_ERROR_INPUT where they come from a
 * machine of another sort, from another version, or are of another `kind`; loading then need not be ended. */
bool sim_archive_begin_load(struct sim_archive *archive, const unsigned char *data, size_t size,
                            uint64_t kind, struct sim_error *error);
/* Ends it: false with SIM_ERROR_INPUT where a field was not as it should be, or not all was loaded; with
 * SIM_ERROR_ENVIRONMENT when out of memory. What was loaded until then is the caller's to free in any case.
 */
bool sim_archive_finish_load(struct sim_archive *archive, struct sim_error *error);
/* Says that a field was not as it should be: for what shows only when the loaded state is worked with. Gives
 * false. */
bool sim_archive_fail_field(struct sim_error *error);

/* Whether no trouble has come so far; a loop over what was loaded stops when it has. */
static inline bool sim_archive_is_fine(const struct sim_archive *archive)
{
    return archive->trouble == SIM_ARCHIVE_FINE;
}
/* What must hold of the state: where it does not, loading is in trouble. An error of programming when saving.
 */
void sim_archive_check(struct sim_archive *archive, bool holds);
/* Memory that the caller could not have. */
void sim_archive_fail_memory(struct sim_archive *archive);
/* A number that stands between parts, and finds at once a field that only one direction knows. */
void sim_archive_mark(struct sim_archive *archive, uint32_t mark);

void sim_archive_bool(struct sim_archive *archive, bool *value);
void sim_archive_u8(struct sim_archive *archive, uint8_t *value);
void sim_archive_u16(struct sim_archive *archive, uint16_t *value);
void sim_archive_u32(struct sim_archive *archive, uint32_t *value);
void sim_archive_u64(struct sim_archive *archive, uint64_t *value);
void sim_archive_i32(struct sim_archive *archive, int32_t *value);
void sim_archive_i64(struct sim_archive *archive, int64_t *value);
void sim_archive_size(struct sim_archive *archive, size_t *value);
void sim_archive_double(struct sim_archive *archive, double *value); /* all its bits, also those of a NaN */

/* The same where loading must not give more than limit - 1, nor, of the last one, less than `least`. */
void sim_archive_u8_below(struct sim_archive *archive, uint8_t *value, uint32_t limit);
void sim_archive_u32_below(struct sim_archive *archive, uint32_t *value, uint64_t limit);
void sim_archive_u64_below(struct sim_archive *archive, uint64_t *value, uint64_t limit);
void sim_archive_size_below(struct sim_archive *archive, size_t *value, size_t limit);
void sim_archive_i64_within(struct sim_archive *archive, int64_t *value, int64_t least, int64_t limit);
/* An enum of `limit` values from 0. */
#define SIM_ARCHIVE_ENUM(archive, field, limit)                                                              \
    do {                                                                                                     \
        uint32_t enum_value = (uint32_t)(field);                                                             \
        sim_archive_u32_below((archive), &enum_value, (limit));                                              \
        (field) = enum_value;                                                                                \
    } while (0)

/* `size` bytes of plain data that stand where they are; nothing in them may be a pointer, and loading takes
 * any bits there are: a bool or an enum among them would have to be checked, and is better a field of its
 * own. data may be NULL when size is 0. */
void sim_archive_bytes(struct sim_archive *archive, void *data, size_t size);
/* An array of plain data on the heap, as one piece; gives the array that is there then. Saving gives `items`
 * again. Loading frees `items`, which is NULL or malloc'ed, and gives a malloc'ed one in its place (NULL when
 * it is empty), and *count; more than `most` items, or items of another size, are trouble. */
void *sim_archive_array(struct sim_archive *archive, void *items, size_t item_size, size_t *count,
                        size_t most);
/* A text on the heap, which may be NULL, likewise. */
void sim_archive_text(struct sim_archive *archive, char **text);
/* Zeroed memory for `count` items that fields will fill, which take at least `bytes_each` bytes of the
 * archive; NULL when count is 0 and in trouble: also where the rest is too short for so many. Only when
 * loading. */
void *sim_archive_allocate(struct sim_archive *archive, size_t count, size_t item_size, size_t bytes_each);

#endif
