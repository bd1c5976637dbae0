/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads states field by field, with a checksum. The same code walks the fields in both
 * directions. */
#include "kernel/archive.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/digest.h"
#include "kernel/grow.h"

/* Version of the format. Raise it with each change of the format. */
#define FORMAT 3u

/* The header of an archive; the fields follow it, and then a checksum over both. */
struct header {
    unsigned char magic[8];
    unsigned char layout[8]; /* the format, and the sizes and alignments that layouts depend on */
    uint64_t kind;
};

static struct header make_header(uint64_t kind)
{
    return (struct header){{'b', 'k', 'l', ' ', 's', 'n', 'a', 'p'},
                           {FORMAT, sizeof(void *), sizeof(size_t), sizeof(long), sizeof(int),
                            sizeof(enum sim_archive_trouble), alignof(int64_t), alignof(double)},
                           kind};
}

static void trouble(struct sim_archive *archive, enum sim_archive_trouble kind)
{
    if (sim_archive_is_fine(archive))
        archive->trouble = kind;
}

static void put(struct sim_archive *archive, const void *data, size_t size)
{
    if (!sim_archive_is_fine(archive))
        return;
    if (size > SIZE_MAX - archive->size ||
        !sim_grow(&archive->data, &archive->capacity, archive->size + size, sizeof *archive->data)) {
        trouble(archive, SIM_ARCHIVE_NO_MEMORY);
        return;
    }
    memcpy(archive->data + archive->size, data, size);
    archive->size += size;
}

void sim_archive_begin_save(struct sim_archive *archive, uint64_t kind)
{
    const struct header header = make_header(kind);
    *archive = (struct sim_archive){.is_loading = false};
    put(archive, &header, sizeof header);
}

/* Each step is a bijection of the sum so far and of the word, so a change within a single word is always
 * detected. */
static uint64_t checksum(const unsigned char *data, size_t size)
{
    uint64_t sum = sim_digest_chain(0, size), word;
    size_t i = 0;
    for (; size - i >= sizeof word; i += sizeof word) {
        memcpy(&word, data + i, sizeof word);
        sum = sim_digest_chain(sum, word);
    }
    word = 0;
    if (i < size)
        memcpy(&word, data + i, size - i);
    return sim_digest_chain(sum, word);
}

bool sim_archive_finish_save(struct sim_archive *archive, unsigned char **data, size_t *size,
                             struct sim_error *error)
{
    assert(!archive->is_loading);
    *data = NULL;
    *size = 0;
    uint64_t sum = checksum(archive->data, archive->size);
    put(archive, &sum, sizeof sum);
    if (!sim_archive_is_fine(archive)) {
        free(archive->data);
        *archive = (struct sim_archive){.trouble = archive->trouble};
        return sim_fail_memory(error);
    }
    *data = archive->data;
    *size = archive->size;
    *archive = (struct sim_archive){.is_loading = false};
    return true;
}

bool sim_archive_begin_load(struct sim_archive *archive, const unsigned char *data, size_t size,
                            uint64_t kind, struct sim_error *error)
{
    /* Removing const is safe: when loading, only get() accesses the bytes, and it reads them. */
    *archive = (struct sim_archive){.is_loading = true, .data = (unsigned char *)(uintptr_t)data};
    const struct header own = make_header(kind);
    struct header header;
    uint64_t sum;
    if (size < sizeof header + sizeof sum)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "the saved state was cut short");
    memcpy(&header, data, sizeof header);
    memcpy(&sum, data + size - sizeof sum, sizeof sum);
    /* The bytes of a machine of another byte order have another checksum. */
    if (sum != checksum(data, size - sizeof sum))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "the saved state was cut short or altered");
    if (memcmp(&header, &own, offsetof(struct header, kind)) != 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "the saved state is not of this version of bucketlab, or of another kind of machine; "
                        "resume it where it was saved, or run again");
    if (header.kind != kind)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "the saved state is of another run, or of another version of bucketlab; run again");
    archive->position = sizeof header;
    archive->size = size - sizeof sum;
    return true;
}

static size_t bytes_left(const struct sim_archive *archive)
{
    return archive->size - archive->position;
}

bool sim_archive_finish_load(struct sim_archive *archive, struct sim_error *error)
{
    assert(archive->is_loading);
    if (archive->trouble == SIM_ARCHIVE_NO_MEMORY)
        return sim_fail_memory(error);
    return (archive->trouble == SIM_ARCHIVE_FINE && bytes_left(archive) == 0) ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "the saved state does not hold what it should; run the scenario again");
}

void sim_archive_check(struct sim_archive *archive, bool holds)
{
    assert(holds || archive->is_loading);
    if (!holds)
        trouble(archive, SIM_ARCHIVE_DAMAGED);
}

void sim_archive_fail_memory(struct sim_archive *archive)
{
    trouble(archive, SIM_ARCHIVE_NO_MEMORY);
}

void sim_archive_mark(struct sim_archive *archive, uint32_t mark)
{
    uint32_t found = mark;
    sim_archive_u32(archive, &found);
    if (found != mark)
        trouble(archive, SIM_ARCHIVE_DAMAGED);
}

static void get(struct sim_archive *archive, void *data, size_t size)
{
    if (sim_archive_is_fine(archive) && size > bytes_left(archive))
        trouble(archive, SIM_ARCHIVE_DAMAGED);
    if (!sim_archive_is_fine(archive)) {
        memset(data, 0, size);
        return;
    }
    memcpy(data, archive->data + archive->position, size);
    archive->position += size;
}

void sim_archive_bytes(struct sim_archive *archive, void *data, size_t size)
{
    if (size == 0)
        return;
    if (archive->is_loading)
        get(archive, data, size);
    else
        put(archive, data, size);
}

void sim_archive_bool(struct sim_archive *archive, bool *value)
{
    uint8_t byte = *value;
    sim_archive_u8(archive, &byte);
    sim_archive_check(archive, byte < 2);
    *value = byte == 1;
}

void sim_archive_packed(struct sim_archive *archive, uint64_t *value)
{
    unsigned char bytes[10];
    uint64_t rest = *value;
    size_t size = 0;
    if (!archive->is_loading) {
        for (; rest > 127; rest >>= 7)
            bytes[size++] = (unsigned char)(rest | 128);
        bytes[size++] = (unsigned char)rest;
        put(archive, bytes, size);
        return;
    }
    *value = 0;
    unsigned char byte;
    do {
        get(archive, &byte, 1);
        *value |= (uint64_t)(byte & 127) << (7 * size);
    } while (byte > 127 && ++size < sizeof bytes);
    if (sim_archive_is_fine(archive)) /* the last bit of 64 is the lowest of the tenth byte */
        sim_archive_check(archive, size + 1 < sizeof bytes || (size + 1 == sizeof bytes && byte <= 1));
}

void *sim_archive_array(struct sim_archive *archive, void *items, size_t item_size, size_t *count,
                        size_t most)
{
    uint64_t stored_size = item_size;
    if (!archive->is_loading) {
        assert(*count <= most);
        sim_archive_u64(archive, &stored_size);
        sim_archive_size(archive, count);
        sim_archive_bytes(archive, items, *count * item_size);
        return items;
    }
    free(items);
    sim_archive_u64(archive, &stored_size);
    sim_archive_size(archive, count);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, stored_size == item_size && *count <= most);
    void *loaded = sim_archive_allocate(archive, *count, item_size, item_size);
    if (loaded == NULL)
        *count = 0;
    sim_archive_bytes(archive, loaded, *count * item_size);
    return loaded;
}

void sim_archive_text(struct sim_archive *archive, char **text)
{
    bool is_there = *text != NULL;
    size_t size = archive->is_loading || !is_there ? 0 : strlen(*text) + 1;
    sim_archive_bool(archive, &is_there);
    *text = sim_archive_array(archive, *text, 1, &size, SIZE_MAX);
    bool is_text = size > 0 && memchr(*text, '\0', size) == *text + size - 1;
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, is_there ? is_text : size == 0);
    if (!sim_archive_is_fine(archive) && archive->is_loading) {
        free(*text);
        *text = NULL;
    }
}

void *sim_archive_allocate(struct sim_archive *archive, size_t count, size_t item_size, size_t bytes_each)
{
    assert(archive->is_loading && item_size > 0 && bytes_each > 0);
    if (sim_archive_is_fine(archive) && count > bytes_left(archive) / bytes_each)
        trouble(archive, SIM_ARCHIVE_DAMAGED);
    if (count == 0 || !sim_archive_is_fine(archive))
        return NULL;
    void *memory = calloc(count, item_size);
    if (memory == NULL)
        trouble(archive, SIM_ARCHIVE_NO_MEMORY);
    return memory;
}
